# A node with many keys and steady work, for those who look at it.
# usage: kumi node NAME --listen ADDR --web ADDR --web-token TOKEN page.rb KEYS OPERATIONS
# Puts a segment under each of so many keys, says "ready", and does so many operations a second, half of them puts and half takes.
require "kumihimo/segments"

KEYS, RATE = ARGV.map { |w| Integer(w) }
DS = Kumihimo::Segments.local
KEYS.times { |i| DS.put("key.#{i}", i) }
puts "ready"
$stdout.flush
used = Array.new(100) { |i| DS.key("key.#{i * (KEYS / 100)}") }
at = Process.clock_gettime(Process::CLOCK_MONOTONIC)
n = 0
loop do
  (RATE / 200).times do
    key = used[(n += 1) % used.size]
    key.put(n)
    key.take
  end
  at += 0.01
  pause = at - Process.clock_gettime(Process::CLOCK_MONOTONIC)
  pause.positive? ? sleep(pause) : at -= pause
end
