# Lengths of Collatz sequences, with one Array of results and one Hash of records for all threads: each sequence ends with
# a look into the shared Array for a length that is known already, each length goes into the Array and is looked up in the
# Hash. Each of THREADS threads computes the lengths of 1 to SIZE and writes them to places of its own, which alternate with
# the other threads' places: exactly the same work per thread for any number of threads. (Numbers shared out by turns are
# not: odd ones have longer sequences than even ones, and higher ones than lower ones. Two threads then had 8.7 % more to
# do than two processes, and the thread with the odd ones 16 % more.)
# usage: cpu_shared.rb THREADS SIZE
threads = Integer(ARGV[0] || 1)
size = Integer(ARGV[1] || 10_000)
LENGTHS = Array.new((size + 1) * threads)
RECORDS = {}
KNOWN = 64
(1..KNOWN).each do |n|
  length = 0
  m = n
  while m != 1
    m = m.even? ? m / 2 : 3 * m + 1
    length += 1
  end
  threads.times { |t| LENGTHS[n * threads + t] = length }
end

def collatz(n, threads)
  m = n
  length = 0
  until m <= KNOWN
    m = m.even? ? m / 2 : 3 * m + 1
    length += 1
  end
  length + LENGTHS[m * threads]
end

sums = Array.new(threads) do |t|
  Thread.new do
    n = 1
    size.times do
      length = collatz(n, threads)
      LENGTHS[n * threads + t] = length
      best = RECORDS[length]
      RECORDS[length] = n if !best || n < best
      n += 1
    end
    (1..size).sum { |k| LENGTHS[k * threads + t] or raise "a length was lost" }
  end
end.map(&:value)
abort "threads disagree: #{sums}" unless sums.uniq.size == 1
RECORDS.each { |length, n| abort "the record of #{length} is torn" unless LENGTHS[n * threads] == length }
puts sums[0]
