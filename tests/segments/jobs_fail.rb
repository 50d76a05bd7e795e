# Jobs that fail in odd ways, and what is to be made once.
require "kumihimo/jobs"
require "tmpdir"

J = Kumihimo::Jobs
$stderr = File.open(IO::NULL, "w")
$done = Queue.new

class Loads < Kumihimo::Job
  queue "odd", tries: 1
  def perform = require("no_such_library")
end
class Deep < Kumihimo::Job
  queue "odd", tries: 1
  def perform = perform
end
class Told < Kumihimo::Job
  queue "odd", tries: 2
  retry_in { raise "no time" }
  def perform = raise("\u00e9".encode("UTF-16LE"))
end
class Uses < Kumihimo::Job
  queue "odd"
  def perform = $done << Queue.new.class
end
Later = Class.new(Kumihimo::Job) { def perform = $done << :later }

[Loads, Deep, Told, Uses].each(&:later)
p J.drain, $done.pop
p J.dead.map { |d| [d.job, d.error[0, 24]] }
p J.queues["odd"].slice(:later)
Later.later
p J.drain, $done.pop
p((Class.new(Kumihimo::Job) { queue(tries: 3) } rescue $!.message))

# Slots are there once, also where the store has forgotten many keys.
70_000.times do |i|
  J.store.put("o#{i}", 1)
  J.store.take("o#{i}")
end
class Few < Kumihimo::Job
  queue "few", limit: 2
  def perform = $done << :few
end
Few.later
p J.drain, $done.pop, J.store.size("job slots.2.few")

# By many at a time.
Dir.mktmpdir do |dir|
  J.store = Kumihimo::Segments.open("#{dir}/j.db")
  line = J.const_get(:Work).new(nil, nil).__send__(:queues).find(&:limit)
  12.times.map { Thread.new { line.begin_if_new } }.each(&:join)
  p J.store.size("job slots.2.few"), J.store.stat("job slots.2.few mark").slice(:leased)
  4.times.map { Thread.new { J.cron("0 3 * * *", Few) } }.each(&:join)
  p J.store.stat(J.schedules[0].key).slice(:segments, :delayed, :leased)
  # A clock that is behind asks for no time twice.
  schedule = J.schedules[0]
  at = schedule.next_after(Time.now)
  p schedule.next_after(at) > at, schedule.next_after(at - 1) == at

  # A job that takes too long comes back.
  class Sleeps < Kumihimo::Job
    queue "sleeps"
    def perform = ($done << :begun; sleep 60)
  end
  Sleeps.later
  worker = Thread.new { J.work(queues: "sleeps", drain: 0) }
  $done.pop
  J.stop
  worker.join(10)
  sleep 0.01 until J.queues["sleeps"][:running] == 0
  p J.queues["sleeps"]
  J.store.close
end
