# One watch that several threads look at, and what is taken by threads that are killed: nobody waits for what is there, nothing is lost.
require "kumihimo/segments"
require "tmpdir"
S = Kumihimo::Segments
DS = S.local

def asleep(threads) = threads.each { |t| Thread.pass until t.stop? }
def ended(threads) = threads.map { |t| t.join(60) ? t.value : :waits }

def watched(what, ds)
  puts "-- #{what}"
  watch = ds.watch("a")
  threads = 5.times.map { Thread.new { watch.next.value } }
  asleep(threads)
  5.times { |i| ds.put("a", i) }
  p ended(threads).sort
  # Who is woken is killed before it has the event, and another one has it.
  wrong = 50.times.reject do |i|
    seen = Thread::Queue.new
    threads = 2.times.map { Thread.new { Thread.handle_interrupt(Object => :on_blocking) { seen << watch.next.value } } }
    asleep(threads)
    ds.put("a", i)
    threads[i % 2].kill
    ds.put("a", -i)
    ended(threads)
    seen << watch.next(timeout: 60).value while seen.size < 2
    [seen.pop, seen.pop].sort == [-i, i].sort
  end
  p wrong
  threads = 3.times.map { Thread.new { watch.next } }
  late = Thread.new { watch.next(timeout: 0.02) rescue $!.class }
  asleep(threads)
  p ended([late])
  watch.close
  p ended(threads), watch.next
end

watched("this node's", DS)
Dir.mktmpdir { |folder| S.open("#{folder}/segments").then { |store| watched("a file's", store); store.close } }

puts "-- killed as they take"
# What it has taken it keeps at once. Where values are copied as they are handed over, that is Ruby's, which may be interrupted.
HELD = { Object => ENV["KUMI_SEGMENT_STRESS"] ? :on_blocking : :immediate }
def taker(take)
  list = nil
  [Thread.new { Thread.handle_interrupt(HELD) { list = [list, take.call(DS)] while true } }, -> { [list].flatten.compact }]
end

{ take: ->(ds) { ds.take("k") }, take_segment: ->(ds) { ds.take_segment("k").value }, "of a key": ->(ds) { ds.key("k").take_segment.value } }.each do |how, take|
  all = []
  takers = 4.times.map { taker(take) }
  400.times do |i|
    DS.put("k", i)
    next if i % 5 > 0
    takers[i % 4][0].kill.join
    all.concat(takers[i % 4][1].call)
    takers[i % 4] = taker(take)
  end
  Thread.pass until DS.size("k").zero?
  takers.each { |t, list| t.kill.join; all.concat(list.call) }
  while (left = DS.take?("k"))
    all << left
  end
  puts "#{how}: #{all.size} #{all.uniq.size}"
end
