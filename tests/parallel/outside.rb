# Descriptors, processes and files in many threads.
require "tmpdir"
require "open3"
def together(n)
  go = false
  ts = n.times.map { |i| Thread.new { Thread.pass until go; yield i } }
  go = true
  ts.map(&:value)
end
T = 5

r, w = IO.pipe
ts = T.times.map { |t| Thread.new { 60.times { |i| w.write("#{t}:#{i}\n") } } }
rd = Thread.new { r.each_line.to_a }
ts.each(&:join)
w.close
lines = rd.value
p [:pipe, lines.size, lines.uniq.size, lines.all?(/\A\d:\d+\n\z/)]

pairs = 20.times.map { IO.pipe }
ts = pairs.map { |a, b| Thread.new { a.gets.to_i * 2 } }
pairs.each_with_index { |(a, b), i| b.puts(i); b.close }
p [:waiting, ts.sum(&:value)]

Dir.mktmpdir do |d|
  File.open("#{d}/log", "w") { |f| f.sync = true; together(T) { |t| 50.times { |i| f.puts("#{t} #{i}") } } }
  l = File.readlines("#{d}/log")
  p [:log, l.size, l.uniq.size, l.all?(/\A\d \d+\n\z/)]
  together(T) { |t| 10.times { |i| File.write("#{d}/f#{t}_#{i}", "#{t}#{i}" * 10) } }
  p [:files, Dir.children(d).size, together(T) { |t| 10.times.all? { |i| File.read("#{d}/f#{t}_#{i}") == "#{t}#{i}" * 10 } }.uniq]
  r = together(T) { |t| File.open("#{d}/lock", File::RDWR | File::CREAT) { |f| 6.times { f.flock(File::LOCK_EX); n = f.tap(&:rewind).read.to_i; f.rewind; f.write((n + 1).to_s); f.flush; f.flock(File::LOCK_UN) } } }
  p [:flock, File.read("#{d}/lock").to_i]
  p [:stat, together(T) { |t| 20.times.count { File.exist?("#{d}/log") && File.size("#{d}/log") > 0 && File.stat("#{d}/log").file? } }.uniq]
  p [:glob, together(T) { Dir.glob("#{d}/f*").size }.uniq]
end

r = together(T) { |t| 3.times.map { |i| `echo #{t} #{i}`.chomp == "#{t} #{i}" && $?.success? }.uniq }
p [:backticks, r.uniq]
r = together(T) { |t| 3.times.map { |i| system("exit #{t}"); $?.exitstatus }.uniq }
p [:system, r]
r = together(T) { |t| pid = Process.spawn("exit #{t + 1}"); _, s = Process.wait2(pid); [s.pid == pid, s.exitstatus] }
p [:wait, r]
r = together(3) { |t| pid = fork { Thread.new { exit!(t + 10) }.join }; Process.wait(pid); $?.exitstatus }
p [:fork, r]
a, b = IO.pipe
r = together(3) do |t|
  pid = fork do
    a.close
    x = 4.times.map { |i| Thread.new { sum = 0; 200.times { |k| sum += k }; sum } }.sum(&:value)
    m = Mutex.new
    m.synchronize { x += 1 }
    b.write("#{x}\n")
    b.close
    exit!(0)
  end
  Process.wait2(pid)[1].success?
end
b.close
p [:fork_threads, r, a.read.lines.tally]
out = together(3) { |t| Open3.capture2("cat", stdin_data: "data#{t}" * 500)[0] == "data#{t}" * 500 }
p [:open3, out]
r = together(3) { |t| IO.popen(["cat"], "r+") { |io| io.write("x#{t}"); io.close_write; io.read } }
p [:popen, r]

# A reader whose pipe is closed under it.
rs = 6.times.map do
  a, b = IO.pipe
  t = Thread.new { begin; a.read(1); rescue IOError => e; e.class; end }
  Thread.pass until t.stop?
  a.close
  x = t.value
  b.close
  x
end
p [:closed, rs.uniq]

# select in many threads.
r = together(T) { |t| x, y = IO.pipe; z = Thread.new { sleep 0.002; y << "." }; s = IO.select([x], nil, nil, 60); z.join; [s[0] == [x], IO.select([x], nil, nil, 0)&.first&.size, x.close, y.close] }
p [:select, r.uniq]

# Lines of $stdout stay whole.
a, b = IO.pipe
old = $stdout.dup
$stdout.flush
$stdout.reopen(b)
together(T) { |t| 40.times { |i| puts "thread #{t} line #{i}"; $stdout.print("p#{t}\n"); print "q", t, "\n" if false } }
$stdout.flush
$stdout.reopen(old)
b.close
l = a.read.lines
p [:stdout, l.size, l.grep(/\Athread \d line \d+\n\z/).size, l.grep(/\Ap\d\n\z/).size]
p [:env, together(T) { |t| 30.times { |i| ENV["KP_#{t}"] = i.to_s; ENV["KP_#{t}"]; ENV.to_h.size }; ENV["KP_#{t}"] }]
p [:signal, begin; n = 0; old = trap("USR1") { n += 1 }; together(3) { 5.times { Process.kill("USR1", Process.pid); sleep 0.001 } }; sleep 0.02; trap("USR1", old || "DEFAULT"); n.between?(1, 15); end]
