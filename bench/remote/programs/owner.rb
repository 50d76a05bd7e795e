# A node with an object that others call. usage: kumi node NAME --listen ADDR owner.rb
require "kumihimo/remote"

class Counter
  include Kumihimo::Remote
  def next(n) = n + 1
end

Kumihimo::Remote.register("counter", Counter.new)
puts "ready"
$stdout.flush
$stdin.read
exit!(0)
