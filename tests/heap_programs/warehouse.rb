# bench/heap's warehouse.rb at a small size: four threads, the same checksum under every rule and stress.
require "stringio"
ARGV.replace(%w[warehouses=4 transactions=60 scale=0.01])
out = $stdout
$stdout = StringIO.new
load File.expand_path("../../bench/heap/programs/warehouse.rb", __dir__)
text = $stdout.string
$stdout = out
puts text[/"checksum":\d+/]
