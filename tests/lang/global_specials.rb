"hello world" =~ /o (w)/
p $~[0], $1, $`, $', $+, $&, $2
p $0.class, $$.class, $*.class, $;.inspect, $,.inspect, $/, $\.inspect, $stdout.class, $stderr.fileno, $PROGRAM_NAME == $0, __FILE__ == $0
begin
  raise "err"
rescue
  p $!.message
end
p $!.inspect
def m = "x" =~ /(x)/
m
p $1
[1].each { "in" =~ /(in)/ }
p $1
$stdout.sync = true
p $stdout.sync, defined?($nope).inspect, defined?($stdout), global_variables.include?(:$stdout), $nope.inspect
$stdout.puts "out"
old = $stdout
require "stringio"
$stdout = StringIO.new
puts "captured"
cap = $stdout.string
$stdout = old
p cap, `true`, $?.success?, $?.class, `exit 3`, $?.exitstatus
