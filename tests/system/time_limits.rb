# Time limits: in loops, waits, threads and forked children; none comes late.
require 'timeout'
begin; Timeout.timeout(0.1) { loop {} }; rescue Timeout::Error => e; p e.class; end
pid = fork { begin; Timeout.timeout(0.1) { Process.wait rescue nil; loop {} }; rescue Timeout::Error; exit! 7; end }
Process.wait pid; p $?.exitstatus
begin
  Timeout.timeout(0.3) { pid = fork { begin; loop {}; rescue Exception; sleep; end; exit! 9 }; Process.wait pid; p $?.exitstatus; sleep }
rescue Timeout::Error
  p :parent
  Process.kill(:KILL, pid)
  Process.wait(pid)
end
# late ones never come
1000.times { begin; Timeout.timeout(0.0002) { x = 0; 200.times { x += 1 } }; rescue Timeout::Error; end }
sleep 0.01
begin; Timeout.timeout(0.05, IOError, "m") { Queue.new.pop }; rescue IOError => e; p e.message; end
t = Thread.new { Timeout.timeout(60) { sleep 0.01; :in_time } }
p t.value
begin; Timeout.timeout(60) { Timeout.timeout(0.05) { (t = Thread.new { sleep }).join } }; rescue Timeout::Error; p :join; t.kill; end
# a limit that was left in time keeps no deadlock from being seen
begin
  Timeout.timeout(100) { 1 }
  t.join
  Queue.new.pop
rescue Exception => e
  p e.class
end
