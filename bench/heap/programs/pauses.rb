# How long everybody stands still: LIVE MB of objects stay alive, two threads allocate, keep some of it for a while in rings that
# both can see, and hang some of it on old objects, until there were as many node collections of the wanted sort as asked for.
# Prints one line of JSON: what came in between by GC.stat, its histograms of pauses with it.
#
# beside: what a further thread does over and over meanwhile: none, sort (a long Array#sort), regexp (a long match), bignum (a
# long product), json (a long JSON.parse). mode=full asks for full collections with GC.start, every few milliseconds; mode=mark
# has no allocating threads and asks for 20 full ones, one after the other.
# usage: pauses.rb [mode=young|full|mark] [live=200] [pauses=500] [beside=none] [keep=2] [limit=SECONDS]
require "json"
require_relative "gcstat"
require_relative "lists"

# Allocates until told to stop. Of the entries it makes, one in `keep` goes to a ring, one in 64 to an old entry; the rest is dropped at once.
def worker(lists, ring, seed, stop, keep)
  state = seed
  made = 0
  until stop[0]
    1000.times do |i|
      state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
      entry = Entry.new(state, "made #{i}", nil)
      words = entry.text.split(" ")
      made += words.size
      ring[(state >> 8) % ring.size] = entry if i % keep == 0
      if i % 64 == 0
        old = lists[(state >> 8) % lists.size]
        old.extra = [entry, words] if old.is_a?(Entry)
      end
    end
  end
  made
end

def burden(kind)
  random = 12_345
  case kind
  when "sort"
    numbers = Array.new(400_000) { random = (random * 1_103_515_245 + 12_345) & 0x7fffffff }
    -> { numbers.sort.size }
  when "regexp"
    text = "lorem ipsum dolor " * 350
    -> { text.match?(/[a-z]+ (?:[a-z ]+ )?[A-Z]/) ? 1 : 0 }
  when "bignum"
    a = 3**300_000
    b = 7**200_000
    -> { (a * b).bit_length }
  when "json"
    text = JSON.generate(Array.new(20_000) { |i| { "id" => i, "name" => "name of #{i}", "tags" => %w[a b c], "at" => { "x" => i * 0.5, "y" => nil } } })
    -> { JSON.parse(text).size }
  when "none" then nil
  else abort "pauses.rb: beside what? #{kind}"
  end
end

# How many node collections of a sort there were. Where they aren't told apart by that name, CRuby's names serve.
def collections(mode, stat) = stat[mode == "young" ? :young_count : :full_count] || stat[mode == "young" ? :minor_gc_count : :major_gc_count]

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

words = ARGV.to_h { |a| a.split("=", 2) }
mode = words["mode"] || "young"
live = Integer(words["live"] || 200)
pauses = Integer(words["pauses"] || 500)
limit = Float(words["limit"] || 120)
keep = Integer(words["keep"] || 2)
kind = words["beside"] || "none"
lists = build(live)
alive = live_bytes
stop = [false]
rounds = 0
longest = 0.0
before = nil
if mode == "mark"
  before = GcStat.now
  20.times { GC.start }
else
  threads = Array.new(2) do |k|
    ring = Array.new(20_000)
    Thread.new { worker(lists, ring, k + 1, stop, keep) }
  end
  work = burden(kind)
  if work
    threads << Thread.new do
      until stop[0]
        from = now
        work.call
        longest = [longest, now - from].max
        rounds += 1
      end
    end
  end
  sleep 0.2
  before = GcStat.now
  from = collections(mode, GC.stat)
  ends = now + limit
  while now < ends && collections(mode, GC.stat) - from < pauses
    if mode == "full"
      GC.start
      sleep 0.002
    else
      sleep 0.02
    end
  end
end
after = GcStat.now
stop[0] = true
threads&.each(&:join)
puts GcStat.json("mode" => mode, "beside" => kind, "live_bytes" => alive, "lists" => lists.size, "rounds" => rounds,
                 "longest_round_ms" => (longest * 1000).round(2), "gc" => GcStat.between(before, after))
