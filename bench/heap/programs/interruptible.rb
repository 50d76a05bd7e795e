# Full collections with LIVE MB alive: how long they stop everybody, what they cost, how much memory they need.
#
# asked=0: each thread makes WORK entries, and full collections come by themselves. asked=N: threads make entries until N full
# collections were asked for one after the other, by `GC.start(immediate_mark: false)`, which begins one in slices where such there
# are, and else is one.
# Prints one line of JSON: what came in between by GC.stat, seconds, the highest resident memory.
# usage: interruptible.rb [live=200] [threads=2] [work=2000000] [asked=0] [keep=2] [limit=SECONDS]
require_relative "gcstat"
require_relative "lists"

# Makes `work` entries, or goes on until told to stop. One in `keep` goes to a ring, one in 64 to an old entry; the rest is dropped at once.
def worker(lists, ring, seed, stop, keep, work)
  state = seed
  made = 0
  until stop[0] || made >= work
    1000.times do |i|
      state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
      entry = Entry.new(state, "made #{i}", nil)
      words = entry.text.split(" ")
      ring[(state >> 8) % ring.size] = entry if i % keep == 0
      if i % 64 == 0
        old = lists[(state >> 8) % lists.size]
        old.extra = [entry, words] if old.is_a?(Entry)
      end
    end
    made += 1000
  end
  made
end

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

words = ARGV.to_h { |a| a.split("=", 2) }
threads = Integer(words["threads"] || 2)
asked = Integer(words["asked"] || 0)
work = asked > 0 ? Float::INFINITY : Integer(words["work"] || 2_000_000)
limit = Float(words["limit"] || 300)
keep = Integer(words["keep"] || 2)
lists = build(Integer(words["live"] || 200))
alive = live_bytes
stop = [false]
before = GcStat.now
all = Array.new(threads) do |k|
  ring = Array.new(20_000)
  Thread.new { worker(lists, ring, k + 1, stop, keep, work) }
end
ends = now + limit
asked.times do |n|
  break if now >= ends
  GC.start(immediate_mark: false)
  sleep 0.002 while GC.stat[:full_count] - before["full_count"] <= n && now < ends
end
stop[0] = true if asked > 0
made = all.sum(&:value)
after = GcStat.now
puts GcStat.json("live_bytes" => alive, "made" => made, "seconds" => after["wall_s"] - before["wall_s"], "memory" => GcStat.memory,
                 "gc" => GcStat.between(before, after))
