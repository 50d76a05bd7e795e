# N code segments that wait: under one key (one), each under its own (own), as blocks (block), or N threads in a take (thread).
# Prints "ready" when all do, and sleeps.
# usage: waiting.rb N MODE
require "kumihimo/segments"

class Waits < Kumihimo::CodeSegment
  input :value, take: "never"
  def run = nil
end

class WaitsFor < Kumihimo::CodeSegment
  input :value, take: nil
  def initialize(key) = set_key(:value, key)
  def run = nil
end

n = Integer(ARGV[0] || 1000)
ds = Kumihimo::Segments.local
case ARGV[1]
when "own" then n.times { |i| WaitsFor.start("never.#{i}") }
when "block" then n.times { Kumihimo::Segments.when(take: "never") { nil } }
when "thread"
  key = ds.key("never")
  n.times { Thread.new { key.take } }
  sleep 0.01 until key.stat[:waiting] == n
else n.times { Waits.start }
end
GC.start
puts "ready"
$stdout.flush
sleep
