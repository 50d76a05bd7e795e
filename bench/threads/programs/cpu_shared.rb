# Lengths of Collatz sequences, with one Array of results and one Hash of records for all threads: each step looks
# into the shared Array for a length that is known already, each number is written to both. Thread t of THREADS
# computes SIZE numbers of its own, so that the work per thread is the same for any number of threads.
# usage: cpu_shared.rb THREADS SIZE
threads = Integer(ARGV[0] || 1)
size = Integer(ARGV[1] || 10_000)
LENGTHS = Array.new(size * threads + 1)
RECORDS = {}
KNOWN = 64
(1..KNOWN).each do |n|
  length = 0
  m = n
  while m != 1
    m = m.even? ? m / 2 : 3 * m + 1
    length += 1
  end
  LENGTHS[n] = length
end

def collatz(n)
  m = n
  length = 0
  until m <= KNOWN
    m = m.even? ? m / 2 : 3 * m + 1
    length += 1
  end
  length + LENGTHS[m]
end

Array.new(threads) do |t|
  Thread.new do
    n = t + 1
    size.times do
      length = collatz(n)
      LENGTHS[n] = length
      best = RECORDS[length]
      RECORDS[length] = n if !best || n < best
      n += threads
    end
  end
end.each(&:join)
abort "a length was lost" if LENGTHS[1..].any?(&:nil?)
RECORDS.each { |length, n| abort "the record of #{length} is torn" unless LENGTHS[n] == length }
puts LENGTHS[1..size].sum
