# A node with an object that others call. usage: kumi node NAME --listen ADDR owner.rb
require "kumihimo/remote"

class Counter
  include Kumihimo::Remote
  def initialize = @gate = Thread::Queue.new
  def next(n) = n + 1
  def pass(n) = (@gate.pop; n)
  def open(n) = n.times { @gate << true }
  def waiting = @gate.num_waiting
  def make(n) = Array.new(n) { Counter.new }
  def exports = GC.stat(:cluster)[:exports]
  def said = GC.stat(:cluster).values_at(:packets, :bytes)
  def megabytes = File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i / 1024.0
end

Kumihimo::Remote.register("counter", Counter.new)
puts "ready"
$stdout.flush
$stdin.read
exit!(0)
