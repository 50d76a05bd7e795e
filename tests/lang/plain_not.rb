# `!` is a method: conditions call it like any other place does.
class N
  def ! = true
end
n = N.new
p((if !n then 1 else 2 end), (1 unless !n), (!n ? 1 : 2), (not n))
x = 0
x += 1 while !n && x < 3
p x
class M
  alias_method :original, :!
end
p((!M.new ? 1 : 2), (!(1 < 2) ? 1 : 2), (!nil ? 1 : 2))
