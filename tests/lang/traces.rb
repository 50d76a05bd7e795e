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
