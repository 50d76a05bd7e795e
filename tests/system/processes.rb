# Processes and signals: children, redirections, traps on the main thread.
p `echo hi`, $?.exitstatus, system("exit 3"), $?.exitstatus, system("no-such-command-here")
p IO.popen("tr a-z A-Z", "r+") { |io| io.write("abc"); io.close_write; io.read }
r, w = IO.pipe
pid = spawn({ "V" => "1" }, "echo $V; echo err >&2", out: w, err: [:child, :out])
w.close
Process.wait(pid)
p r.read, $?.success?
$stdout.flush
pid = fork do
  at_exit { puts "child at_exit" }
  puts "child"
  exit 4
end
Process.wait(pid)
p $?.exitstatus
begin
  spawn("/no/such/program")
rescue SystemCallError => e
  p e
end
p trap(:USR1) { |n| puts "USR1 on main: #{Thread.current == Thread.main}, #{n == Signal.list["USR1"]}" }
Thread.new { Process.kill(:USR1, $$) }.join
p trap(:USR1, "DEFAULT").class
begin
  Process.kill(:TERM, $$)
  sleep 1
rescue SignalException => e
  p e, e.signo
end
r, w = IO.pipe
trap(:USR2) { w.puts "from the handler" }
Thread.new { sleep 0.05; Process.kill(:USR2, $$) }
p r.gets
pid = fork { sleep 10 }
Process.kill(:KILL, pid)
Process.wait(pid)
p $?.signaled?, $?.termsig
th = Process.detach(fork { exit! 7 })
p th.value.exitstatus
p Process.clock_gettime(Process::CLOCK_MONOTONIC).class, Process.pid == $$
trap(:EXIT) { puts "exit trap" }
at_exit { puts "at_exit" }
