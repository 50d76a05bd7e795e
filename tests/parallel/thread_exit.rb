# exit in a thread ends the program once, whoever joins it.
def status
  pid = fork do
    at_exit { puts "at exit" }
    yield
  end
  Process.wait(pid)
  p $?.exitstatus
end
status { Thread.new { exit 5 }.join; puts "not here" }
status { Thread.new { exit 6 }; sleep; puts "not here" }
status { Thread.new { abort }.value }
status do
  begin
    Thread.new { exit 8 }.join
  rescue SystemExit => e
    p e.status
  end
  sleep 0.05
  puts "goes on"
end
status do
  t = Thread.new { exit 9 }
  begin
    sleep
  rescue SystemExit => e
    p e.status
  end
  begin
    t.join
  rescue SystemExit => e
    p [:again, e.status]
  end
end
status do
  Thread.report_on_exception = false
  Thread.abort_on_exception = true
  begin
    Thread.new { raise IOError, "once" }.join
  rescue IOError => e
    p e.message
  end
  sleep 0.05
  puts "goes on"
end
20.times do |i|
  pid = fork { Thread.new { i.even? ? Thread.pass : nil; exit 30 + i }.join }
  Process.wait(pid)
  puts "status #{$?.exitstatus}" unless $?.exitstatus == 30 + i
end
