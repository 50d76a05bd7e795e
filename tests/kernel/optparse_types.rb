# Types of options' arguments that have files of their own.
require "optparse"
require "optparse/date"
require "optparse/uri"
require "optparse/shellwords"
require "optparse/time"
o = OptionParser.new
got = {}
o.on("--day DATE", Date) { |v| got[:day] = v }
o.on("--at TIME", DateTime) { |v| got[:at] = v }
o.on("--uri [URI]", URI) { |v| got[:uri] = v }
o.on("--words TEXT", Shellwords) { |v| got[:words] = v }
p o.parse("--day", "2020-02-03", "--at=2020-02-03T04:05:06+01:00", "--uri", "http://h/x?y", "--words", "a 'b c' d\\ e", "rest")
p got.transform_values(&:to_s), got.transform_values(&:class)
[%w[--day soon], %w[--at x], ["--uri"], ["--uri", "http://[x"], ["--words", "'a"]].each do |args|
  p o.parse(args), got[:uri]
rescue OptionParser::ParseError, ArgumentError, URI::Error => e
  p e.class
end
require "csv"
require "csv/core_ext/array"
require "csv/core_ext/string"
p ["a", "b,c"].to_csv, "1,2".parse_csv
require "psych"
require "psych/y"
y 1, [2]
p Kernel.private_method_defined?(:y)
