# The top of a trace: the caller's line under the method's name, and no frame of the runtime's own.
def top
  yield
  nil
rescue Exception => e
  e.backtrace.take_while { |x| !x.include?("block in <main>") }.map { |x| x[/'(.*)'$/, 1] }
end
def kw(a: 1) = a
S = Struct.new(:x)
p top { "2" + 1 }
p top { 1 << "a" }
p top { [1].rotate("a") }
p top { [].freeze.push(1) }
p top { [].freeze << 1 }
p top { {}.freeze[1] = 2 }
p top { S.new(1).freeze.x = 2 }
p top { Object.new.freeze.instance_variable_set(:@a, 1) }
p top { 1.instance_variable_set(:@a, 1) }
p top { Math.sqrt("x") }
p top { kw(b: 1) }
p top { (1.."a") }
p top { case 1; in 2 then 1; end }
p top { case {a: 1}; in {b:} then 1; end }
p top { 1 => String }
p top { Integer("x") }
p top { [3, nil].sort }
p top { nil + 1 }
require "json"
require "yaml"
require "strscan"
p top { JSON.parse("{") }
p top { YAML.load("a: [") }
p top { StringScanner.new("a").scan(1) }
begin
  YAML.load("a: [")
rescue Psych::SyntaxError => e
  puts e.backtrace.grep(/internal|__/).size
end
# What a method yielded to is a line of its own, above that of the method.
p top { ["x"].map(&:to_i).sum(&:upto) }
p top { [1].sort_by(&:fdiv) }
p top { [[1]].each(&:fetch) }
p top { { a: 1 }.each_pair(&:fetch) }
p top { 3.times(&:fdiv) }
p top { [1].map(&2.method(:fdiv)).map(&:fdiv) }
p top { [[3, nil]].each(&:sort) }
p top { ["a"].each(&:center) }
S2 = Struct.new(:a)
p top { S2.members(1) }
require "stringio"
p top { StringIO.new("a", "r").write("x", "y") }
