# Slop: options of every type, help, errors, commands by hand.
require "slop"

opts = Slop::Options.new
opts.banner = "usage: prog [options] ..."
opts.separator ""
opts.separator "Connection:"
opts.string "-h", "--host", "a hostname", default: "0.0.0.0"
opts.integer "--port", "port (default: 80)", default: 80
opts.separator "Other:"
opts.array "-l", "--list", "some items", delimiter: ","
opts.float "-r", "--rate", "a rate"
opts.symbol "--mode", "a mode"
opts.regexp "--match", "a pattern"
opts.bool "-q", "--quiet", "suppress output", default: true
opts.bool "-v", "--verbose", "enable verbose mode"
opts.on("--version", "print the version") { puts "1.2.3" }
opts.int "-c", "--count", "needed", required: false
opts.null "--ignored", "takes nothing"
puts opts

parser = Slop::Parser.new(opts)
r = parser.parse(%w[--host example.org -l a,b --list c --rate 2.5 --mode fast --match ^a.c$ --no-quiet -v --version one two --count=7 -- --not])
p r[:host], r[:port], r[:list], r[:rate], r[:mode], r[:match], r[:quiet], r[:verbose], r[:count], r.arguments
p r.to_hash.map { |k, v| [k, v] }
p r.verbose?, r.used_options.map(&:key), r.unused_options.size, r.fetch(:port)
begin
  r.fetch(:none)
rescue Slop::UnknownOption => e
  puts e.message
end

[%w[--nope], %w[--port], %w[-x]].each do |args|
  parser.parse(args)
rescue Slop::Error => e
  puts "#{e.class}: #{e.message}"
end
s = Slop.parse(%w[-abc --name=x rest], suppress_errors: true) do |o|
  o.bool "-a", "one"
  o.bool "-b", "two"
  o.bool "-c", "three"
  o.string "-n", "--name", "name"
  o.string "--req", "needed", required: true
end
p s.to_hash.to_a, s.args
begin
  Slop.parse([]) { |o| o.string "--req", "needed", required: true }
rescue Slop::MissingRequiredOption => e
  puts e.message
end
begin
  Slop.parse(%w[--n x], validate_types: true) { |o| o.integer "--n" }
rescue Slop::Error => e
  puts e.class
end
module Slop
  class PathOption < Option
    def call(value) = value.split("/").reject(&:empty?)
    def finish(opts) = (self.value = value&.map(&:upcase))
  end
end
p Slop.parse(%w[--path /a/b/c]) { |o| o.path "--path" }[:path]
