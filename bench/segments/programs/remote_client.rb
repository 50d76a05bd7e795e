# A client of another node's segments. Says "ready" and obeys lines on standard input, each answered by a line of figures: nanoseconds,
# the median, the 99th percentile and the mean of one operation in a closed loop:
# put BYTES N, take BYTES N (fill BYTES N before, empty BYTES N after a put), peek BYTES N, peeks PREFIX N (each key once), beside MODE BYTES N (64 bytes beside transfers of BYTES: up, down).
# flood BYTES N THREADS: N puts by so many threads; nanoseconds of one, as a whole. pipeline BYTES N: by one put_all. drown KEY THREADS: so many threads peek from now on.
# usage: kumi node NAME --listen ADDR --join ADDR remote_client.rb OWNER
require "kumihimo/segments"
require_relative "../../lib/obey"

OTHER = Kumihimo::Segments[ARGV[0]]
QUEUE = OTHER.key("q")

def payload(bytes) = ("x" * bytes).freeze

def fill(bytes, n)
  data = payload(bytes)
  n.times { QUEUE.put(data) }
  [n]
end

def empty(_, n)
  n.times { QUEUE.take }
  [n]
end

def put(bytes, n)
  data = payload(bytes)
  timed(n) { QUEUE.put(data) }
end

def peek(bytes, n)
  QUEUE.put(payload(bytes))
  timed(n) { QUEUE.peek }.tap { QUEUE.take }
end

FLOODS = Hash.new { |all, bytes| all[bytes] = Array.new(8) { |i| ((97 + i).chr * bytes).freeze } }

def flood(bytes, n, threads)
  data = FLOODS[bytes]
  each = n / threads
  whole(each * threads) { Array.new(threads) { Thread.new { each.times { |i| QUEUE.put(data[i & 7]) } } }.each(&:join) }
end

def pipeline(bytes, n)
  data = FLOODS[bytes]
  values = Array.new(n) { |i| data[i & 7] }
  whole(n) { OTHER.put_all("q", values) }
end

TRANSFERS = 10

# The transfer goes on all the while.
def beside(mode, bytes, n)
  big = OTHER.key("big")
  data = payload(bytes)
  big.update(data)
  QUEUE.put(payload(64))
  stop = false
  count = 0
  moving = Thread.new do
    until stop
      mode == "up" ? big.update(data) : big.peek
      count += 1
    end
  end
  sleep 0.05
  # At least n peeks, and so many that whole transfers go by.
  first, from = count, now
  times = []
  until times.size >= n && count - first >= TRANSFERS
    at = now
    QUEUE.peek
    times << now - at
  end
  taken = now - from
  moved = count - first
  stop = true
  moving.join
  QUEUE.take
  [*figures_of(times), moved * bytes * 1000.0 / taken]
end

# Threads that peek again and again, for a client that is to be stopped meanwhile.
def drown(key, threads)
  return [0] if @drowning
  @drowning = Array.new(threads) do
    Thread.new do
      loop do
        OTHER.peek(key)
      rescue Kumihimo::Segments::Error
        sleep 0.1
      end
    end
  end
  [threads]
end

obey do |word, *rest|
  case word
  when "fill", "empty", "put", "peek", "flood", "pipeline" then __send__(word, *rest.map { |w| Integer(w) })
  when "take" then timed(Integer(rest[1])) { QUEUE.take }
  when "peeks" then timed(Integer(rest[1])) { |i| OTHER.peek("#{rest[0]}.#{i}") }
  when "drown" then drown(rest[0], Integer(rest[1]))
  when "beside" then beside(rest[0], Integer(rest[1]), Integer(rest[2]))
  else raise "no #{word}"
  end
end
