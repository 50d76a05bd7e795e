# Runs another program of this folder and then tells on standard error, as one line of JSON, what it took and what GC.stat says.
# usage: measure.rb PROGRAM.rb [ARGUMENTS...]
require_relative "gcstat"

program = ARGV.shift or abort "usage: measure.rb PROGRAM.rb [ARGUMENTS...]"
before = GcStat.now
load File.expand_path(program, __dir__)
after = GcStat.now
$stdout.flush
$stderr.puts GcStat.json("gc" => GcStat.between(before, after), "seconds" => after["wall_s"] - before["wall_s"],
                         "cpu" => after["cpu_s"] - before["cpu_s"], "end" => after)
