# Ctrl-C: ensure clauses run wherever the main thread is, and the process ends as by SIGINT (130 for a shell).
def interrupted(code)
  r, w = IO.pipe
  child = spawn(RbConfig.ruby, "-W0", "-e", "$stdout.sync = true\n#{code}", out: w, err: File::NULL)
  w.close
  r.gets
  sleep 0.05
  Process.kill(:INT, child)
  text = r.read
  _, st = Process.wait2(child)
  [text, st.signaled? ? 128 + st.termsig : st.exitstatus]
end
waits = {
  sleep: "sleep", timed: "sleep 100", loop: "loop { x = 1 }", pop: "Queue.new.tap { |q| Thread.new { sleep }; q.pop }",
  lock: "m = Mutex.new; q = Queue.new; Thread.new { m.lock; q << 1; sleep }; q.pop; m.lock", join: "Thread.new { sleep }.join",
  read: "r, w = IO.pipe; r.read", select: "r, w = IO.pipe; IO.select([r])", fiber: "Fiber.new { sleep }.resume",
  timeout: "require 'timeout'; Timeout.timeout(50) { sleep }", value: "Thread.new { loop {} }.value"
}
waits.each do |name, code|
  p [name, *interrupted("begin; puts :up; #{code}; ensure; puts :ensured; end")]
end
# rescued, it is an exception as any other
p interrupted("begin; puts :up; sleep; rescue Interrupt => e; puts e.class; end; puts :on")
# a handler takes its place, and the wait goes on
p interrupted("trap(:INT) { puts :handled; $done = true }; puts :up; sleep 0.01 until $done; puts :end")
p interrupted("q = Queue.new; Thread.new { sleep 20 }; trap(:INT) { Thread.new { q << :sent } }; puts :up; puts q.pop")
# other threads' ensure clauses do not keep it from ending
p interrupted("q = Queue.new; Thread.new { begin; q << 1; sleep; ensure; puts :other; end }; begin; q.pop; puts :up; sleep; ensure; puts :main; end").then { |t, s| [t.lines.sort, s] }
