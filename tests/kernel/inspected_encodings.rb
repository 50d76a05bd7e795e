# What an inspect gives in another encoding is escaped where it stands among others'.
class Shown
  def <=>(other) = 0
  def initialize(text) = @text = text
  def inspect = @text
end
wide = Shown.new("\"a\\b \#{x} \u3042\n\"".encode("UTF-16BE"))
latin = Shown.new("\xe9\t".dup.force_encoding("ISO-8859-1"))
bytes = Shown.new("z\xff".b)
plain = Shown.new("q\"\\é")
[wide, latin, bytes, plain].each do |o|
  puts [o].inspect, Struct.new(:a).new(o).inspect, (o..o).inspect
  p o
  puts [o].inspect, Struct.new(:a).new(o).inspect, (o..o).inspect
end

# zip of nothing gives a block the elements.
{ a: 1 }.zip { |x| p x }
{ a: 1 }.zip { |k, v| p [k, v] }
(1..2).zip { |x| p x }
[1].zip { |x| p x }
{ a: 1 }.zip([2]) { |x, y| p [x, y] }
