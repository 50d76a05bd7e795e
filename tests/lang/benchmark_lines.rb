# The lines of Benchmark.bmbm and bm, their numbers aside.
require "benchmark"
require "stringio"

def lines
  out, $stdout = $stdout, StringIO.new
  yield
  shown = $stdout.string
  $stdout = out
  puts shown.gsub(/\d+\.\d+/, "N").gsub(/ +N/, " N")
end

lines { Benchmark.bmbm(7) { |x| x.report("a") { 1 }; x.report("longer name") { 2 } } }
lines { Benchmark.bmbm { |x| x.report("a") { 1 } } }
lines { Benchmark.bm(10) { |x| x.report("a") { 1 }; x.report("b") { 2 } } }
