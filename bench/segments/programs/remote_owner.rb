# A node whose segments others use. Says "ready" and obeys lines on standard input, each answered by a line:
# clear KEY: the queue is emptied. put KEY BYTES: a frozen value of so many bytes. frozen PREFIX N BYTES: N frozen values under keys of their own.
# collect MB: full collections back to back beside MB megabytes that live, until rest, which gives how many there were.
# usage: kumi node NAME --listen ADDR remote_owner.rb
require "kumihimo/segments"

DS = Kumihimo::Segments.local

# A value that only Ruby knows so far.
def value(bytes, i) = { id: i, text: ("x" * bytes).freeze }

collecting = nil
count = 0
puts "ready"
$stdout.flush
while (line = $stdin.gets)
  word, *rest = line.split
  answer =
    case word
    when "clear"
      n = 0
      n += 1 until DS.take?(rest[0]).nil?
      n
    when "put" then DS.put(rest[0], "x" * Integer(rest[1]))
    when "frozen"
      Integer(rest[1]).times { |i| DS.put("#{rest[0]}.#{i}", value(Integer(rest[2]), i)) }
      rest[1]
    when "collect"
      stop = false
      alive = Array.new(Integer(rest[0]) * 12_500) { |i| [i, "s#{i}"] }
      count = 0
      collecting = Thread.new do
        until stop
          GC.start
          count += 1
        end
        alive.clear
      end
      collecting[:stop] = -> { stop = true }
      1
    when "rest"
      collecting[:stop].call
      collecting.join
      count
    else "error: no #{word}"
    end
  puts answer
  $stdout.flush
end
exit!(0)
