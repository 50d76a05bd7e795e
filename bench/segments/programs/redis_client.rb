# A client of a store on Redis. Says "ready" and obeys lines on standard input, each answered by a line of figures: nanoseconds, the
# median, the 99th percentile and the mean of one operation in a closed loop: put BYTES N, take BYTES N (fill BYTES N before, empty
# BYTES N after a put). waiters BYTES N: so many threads that wait, each under a key of its own; how many connections that takes, and the
# milliseconds until all have got what is put for them.
# usage: redis_client.rb ADDRESS
require "kumihimo/segments"
require_relative "../../lib/obey"

STORE = Kumihimo::Segments.connect(ARGV[0])
QUEUE = STORE.key("q")

def fill(bytes, n)
  QUEUE.from(Array.new(n) { "x" * bytes })
  [n]
end

def empty(_, n)
  n.times { QUEUE.take }
  [n]
end

def put(bytes, n)
  data = ("x" * bytes).freeze
  timed(n) { QUEUE.put(data) }
end

def take(_, n) = timed(n) { QUEUE.take }

def waiters(_, n)
  threads = Array.new(n) { |i| Thread.new { STORE.take("w#{i}") } }
  sleep 0.01 until (n - 100...n).all? { |i| STORE.stat("w#{i}")[:waiting] == 1 }
  # Descriptors of this process that are sockets.
  sockets = Dir.children("/proc/self/fd").count { |fd| (File.readlink("/proc/self/fd/#{fd}") rescue "").start_with?("socket:") }
  from = now
  Kumihimo::Segments.connect(ARGV[0]).tap { |other| n.times.each_slice(500) { |some| some.map { |i| Thread.new { other.put("w#{i}", i) } }.each(&:join) } }
  threads.each(&:join)
  [sockets, (now - from) / 1e6]
end

obey { |op, bytes, n| __send__(op, bytes.to_i, n.to_i) }
