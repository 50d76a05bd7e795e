# What JSON makes of more classes, and back.
require "json/add/core"
require "json/add/complex"
require "json/add/ostruct"
require "json/add/rational"
require "json/add/set"
require "json/add/bigdecimal"
S = Struct.new(:a, :b)
[1..3, "a"..."c", /a.b/im, Time.at(1_700_000_000, 5, :nsec), Date.new(2024, 2, 29), DateTime.new(2024, 2, 29, 1, 2, 3, "+02:00"),
 RuntimeError.new("no"), Complex(1, 2), Rational(3, 4), BigDecimal("1.25"), Set[1, 2], S.new(1, [2]), OpenStruct.new(x: 1)].each do |v|
  text = JSON.generate(v)
  back = JSON.parse(text, create_additions: true)
  puts text
  p [back.class == v.class, v.is_a?(Exception) ? back.message == v.message : back == v]
  p JSON.parse(text).class
end
p JSON.generate([1..2, { "k" => "v" }]), :sym.to_json, JSON.parse(:sym.to_json, create_additions: true)
