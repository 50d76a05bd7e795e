# Background jobs: tries, dead ones, limits, cron lines.
require "kumihimo/jobs"
Jobs = Kumihimo::Jobs
$stdout.sync = true

def tell(label)
  puts "#{label}: #{yield.inspect}"
rescue StandardError, NotImplementedError => error
  puts "#{label}: #{error.class}: #{error.message}"
end

class Hello < Kumihimo::Job
  queue "hello"
  def perform(name, greeting: "hello") = puts("#{greeting} #{name}")
end

class Fails < Kumihimo::Job
  queue "fails", tries: 3
  retry_in { |tries, error| puts("tried #{tries}: #{error.message}") || 0 }
  def perform(what) = raise(what)
end

class Default < Kumihimo::Job
  def perform(*all, **options) = p(all, options)
end

class Kind < Hello
end

puts "-- asking"
tell("an id") { Hello.later("ada").match?(/\A\h{16}\z/) }
Hello.later("bob", greeting: "good day")
Hello.in(3600, "late")
Hello.at(Time.now - 5, "due")
Kind.later("kind")
Default.later(1, [2], a: nil)
tell("what can't travel") { Hello.later($stdout) }
tell("no name") { Class.new(Kumihimo::Job).later }
tell("queues") { Jobs.queues }
tell("done") { Jobs.drain }
tell("queues") { Jobs.queues }

puts "-- failing"
# What is put back for at once enters by the clock.
def until_dead = 6000.times { Jobs.drain; break if Jobs.dead.any?; sleep 0.01 }
Fails.later("broken")
until_dead
tell("dead") { Jobs.dead.map { |job| [job.job, job.queue, job.arguments, job.error, job.tries] } }
id = Jobs.dead[0].id
tell("put back") { Jobs.retry(id) }
tell("queues") { [Jobs.dead.size, Jobs.queues["fails"]] }
until_dead
tell("forgotten") { [Jobs.forget(id), Jobs.forget(id), Jobs.retry("x"), Jobs.dead] }
Kumihimo::Segments.local.put("jobs.hello", { id: "1", job: "Unknown", arguments: [], options: {}, tries: 0, at: Time.now })
Jobs.drain
tell("an unknown class") { Jobs.dead.map(&:error) }
Jobs.forget("1")

puts "-- at most two at a time"
class Few < Kumihimo::Job
  queue "few", parallel: 4, limit: 2
  LOCK = Mutex.new
  @running = @most = @count = 0
  class << self
    attr_reader :most, :count

    def note(by)
      LOCK.synchronize do
        @most = [@most, @running += by].max
        @count += 1 if by > 0
      end
    end
  end

  def perform
    Few.note(1)
    sleep 0.002
    Few.note(-1)
  end
end
30.times { Few.later }
worker = Thread.new { Jobs.work(queues: "few") }
Thread.pass until Few.count == 30
Thread.pass until Jobs.queues["few"].values.sum == 0
Jobs.stop
worker.join
tell("most, count") { [Few.most, Few.count] }
tell("no queue") { Jobs.work(queues: "nothing") }

puts "-- cron lines"
$stderr = File.open(File::NULL, "w")
class Often < Kumihimo::Job
  queue "often"
  def perform(what) = nil
end
2.times { Jobs.cron("0 0 29 2 *", Often, "each leap day") }
tell("waits") { Jobs.schedules.map { |s| stat = Jobs.store.stat(s.key); [s.to_s, stat[:segments], stat[:delayed]] } }
%w[a b].each { |last| Jobs.cron("0 0 29 2 *", Often, "x" * 600 + last) }
tell("long ones") { Jobs.schedules.map { |s| Jobs.store.stat(s.key)[:delayed] } }
tell("no line") { Jobs.cron("* *", Often) }
tell("no job") { Jobs.cron("* * * * *", String) }
tell("no store") { Jobs.store = "jobs.db" }
tell("no count") { Class.new(Kumihimo::Job) { queue "x", parallel: 0 } }
tell("no perform") { Kumihimo::Job.new.perform }
