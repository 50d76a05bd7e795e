# A DRb server with an object. Prints "ready URI".
require "drb"

class Counter
  def next(n) = n + 1
end

DRb.start_service("druby://127.0.0.1:0", Counter.new)
puts "ready #{DRb.uri}"
$stdout.flush
$stdin.read
exit!(0)
