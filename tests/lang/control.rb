i = 0
while i < 10
  i += 1
  next if i.odd?
  break if i > 6
  print i, " "
end
puts
i = 10
i -= 1 until i < 5
p i
begin
  i += 1
end while i < 8
p i
for a, b in [[1, 2], [3, 4]]
  print a + b, " "
end
puts
p a, (1..3).each { |x| x }, 3.times.to_a, loop { break :out }
p (if false then 1 end), (unless true then 1 else 2 end), (1 if true), (true and false), (nil || :d), (not true), (1 && 2)
def kind(x)
  case x
  when Integer, Float then "num"
  when /^a/ then "a-string"
  when ->(v) { v.respond_to?(:each) } then "enumerable"
  when nil then "nil"
  else "other"
  end
end
p [1, 2.0, "abc", [1], nil, :s].map { |x| kind(x) }
p (case when 1 > 2 then :a else :b end), case 5 when 1, *[4, 5] then :splat end
x = nil
x ||= 5
x &&= x + 1
x += 1
h = Hash.new(0)
h[:a] += 1
h[:b] ||= 7
p x, h.to_a
p x > 5 ? "big" : "small", (x <=> 7), x.between?(1, 10), !!x
p (1..20).select { |v| true if (v % 5 == 0)..(v % 7 == 0) }
p [1, 2, 3].sum { |v| v.then { _1 * 2 } }, __LINE__, __FILE__.end_with?("control.rb"), __dir__.class
redo_count = 0
[1].each do |v|
  redo_count += 1
  redo if redo_count < 3
end
p redo_count
s = %q(single 'q') + %Q(double "#{1}") + <<~A + <<-'B'
  heredoc #{1 + 1}
    indented
A
  raw #{x}
  B
puts s
BEGIN { puts "BEGIN block" }
p [*"a".."c", *nil, *[nil]], defined?(foo), defined?(p), defined?(String), defined?(x = 1), defined?(@a), defined?(yield)
puts [1, [2, [nil, 3]]].to_s, "#{nil}|#{:a}|#{1.0}", "a" "b" 'c'
a, b = b, a
p [a, b]
p((1..Float::INFINITY).lazy.map { |v| v * 2 }.select { |v| v % 3 == 0 }.first(3))
puts "%s and %p" % ["str", "str"], 5.then { |v| v + 1 }, [[1, 2], [3]].sum([]).inspect
$glob = 1
def chg = $glob += 1
chg
p $glob, [$0.class, $;.inspect, $,.inspect]
