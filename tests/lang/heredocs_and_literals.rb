a = 5
puts <<~A + <<-B + <<'C'
  squiggly #{a}
    keep
  #{"nested #{<<~X.strip}"}
    inner
  X
A
    dash #{a * 2}
    B
raw #{a} \n
C
p %w[a#{a} b], %W[a#{a} b], %i[x y], %q(it's), %Q(#{a}"), %(p(a)r), ?a, :"s#{a}", "a\tb\x41\u{1F600 41}\101\e".bytes.size, 'a\'b\\', "con" "cat" 'ed'
p 1_000, 0x1F, 0b11, 0o17, 017, 1e3, 1.5e-3, 3r, 2i, 1.5r, 10.0.to_s
p [1, 2,
   3], { a: 1,
         "b": 2, **{ c: 3 } }.to_a, (1..), (..3), 1...2
p __LINE__, __method__.inspect, (begin; 1; 2; end), (), [(), nil].size
p "a#{1}b#{"c#{2}"}", "#{}", "#$0".class, "\#{x}", "%d%%" % 5, /a#{a}b/o.source, `echo hi`, "\s\0".bytes
p(<<~E1, <<~E2)
  one
E1
  two
E2
def m(*a, **k) = [a, k]
p m(<<~T, k: 1)
  text
T
p "line1
line2", 'a
b'.size, "a\
b"
# comment with __END__ inside
=begin
block comment
=end
p :done
__END__
not code
