# Threads that put into a file of segments, or take from it, each in a closed loop. Prints operations a second, waits for the disk,
# operations a wait, the median and the 99th percentile of an operation in nanoseconds, and processor nanoseconds of one.
# usage: store.rb FILE MODE THREADS BYTES SECONDS      MODE: put, take, code
require "kumihimo/segments"
require "fileutils"

path, mode, threads, bytes, seconds = ARGV[0], ARGV[1], Integer(ARGV[2]), Integer(ARGV[3]), Float(ARGV[4])
FileUtils.rm_f(path)
STORE = Kumihimo::Segments.open(path)
value = ("x" * bytes).freeze
keys = Array.new(8) { |i| STORE.key("key.#{i}") }

class Work < Kumihimo::CodeSegment
  input :job, take: "jobs", from: STORE
  def run = put("done", job, on: STORE)
end

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

case mode
when "take" then keys.each { |key| key.from(Array.new((seconds * 10_000).to_i, value)) }
end
before, cpu, start = STORE.counts, Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond), now
stop = start + (seconds * 1e9).to_i
times = Array.new(threads) do |t|
  Thread.new do
    key = keys[t % 8]
    took = []
    while (from = now) < stop
      case mode
      when "put" then key.put(value)
      when "take" then break unless key.take?
      when "code"
        STORE.put("jobs", value)
        Work.start.join
      end
      took << now - from
    end
    took
  end
end.flat_map(&:value)
long = now - start
cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) - cpu
after = STORE.counts
STORE.close
n, syncs = times.size, after[:syncs] - before[:syncs]
times.sort!
puts [n * 1e9 / long, syncs, n.fdiv(syncs), times[n / 2], times[n * 99 / 100], cpu.fdiv(n)].join(" ")
FileUtils.rm_f(path)
