# Background jobs that last: thumbnails are asked for here and made by workers, of this process or of others.
#
#   STORE=jobs.db kumi examples/jobs.rb ask 20    asks for twenty
#   STORE=jobs.db kumi examples/jobs.rb work      works until Ctrl-C; several may be started where the store is one that many share
#   kumi examples/jobs.rb                         both, until all is done
#
# STORE says where jobs are: a file ("jobs.db", which one process has open at a time), or a server for many processes
# ("redis://127.0.0.1:6379"). Without it they are in memory, and one process does both.
require "kumihimo/jobs"

Jobs = Kumihimo::Jobs
case store = ENV["STORE"]
when nil then nil
when %r{://} then Jobs.store = Kumihimo::Segments.connect(store)
else Jobs.store = Kumihimo::Segments.open(store)
end

class Thumbnail < Kumihimo::Job
  queue "pictures", parallel: 4, limit: 8, tries: 3
  retry_in { |tries, _error| 0.1 * tries }

  def perform(name, width: 100)
    raise "#{name} is no picture" if name.end_with?(".txt")
    raise "the disk is busy" if rand < 0.2
    sleep 0.02
    puts "#{name} is #{width} wide now"
    Mail.later("#{name} is there") if name.end_with?("0.png")
  end
end

class Mail < Kumihimo::Job
  queue "mail"
  def perform(text) = puts("mail: #{text}")
end

class Report < Kumihimo::Job
  queue "mail"
  def perform = puts("report: #{Jobs.dead.size} jobs have failed for good")
end
Jobs.cron "*/5 * * * *", Report

def ask(count)
  count.times { |i| Thumbnail.later("picture#{i}.png", width: 50 + i) }
  Thumbnail.in(0.5, "late.png")
  Thumbnail.later("notes.txt")
end

USAGE = "usage: STORE=FILE kumi examples/jobs.rb [ask [COUNT] | work]"
if %w[ask work].include?(ARGV[0]) && !ENV["STORE"]
  abort "#{USAGE}\nWithout STORE jobs are in memory: gone with the process that asks, and no other one can ask one that works."
end
case ARGV[0]
when "ask"
  ask(Integer(ARGV[1] || 20, exception: false) || abort(USAGE))
when "work"
  puts "the page: #{Jobs.page("127.0.0.1:0")}"
  Jobs.work
when nil
  ask(20)
  Thread.new { sleep 0.05 until Jobs.queues.values.sum { |queue| queue.values.sum } == 0; Jobs.stop }
  Jobs.work
  Jobs.dead.each { |job| puts "failed: #{job.job}(#{job.arguments.join(", ")}): #{job.error}" }
else
  abort USAGE
end
