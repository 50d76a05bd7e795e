# Children's limits, groups and descriptors; what a Dir and a File::Stat are before and beside their use.
r, w = IO.pipe
Process.wait spawn("ulimit -n; true", out: w, rlimit_nofile: 55)
p r.gets
begin
  Process.setpgid(-1, 0)
rescue SystemCallError => e
  p e.class
end
before = Dir.children("/proc/self/fd").size
3.times { exec("/nope", 15 => w) rescue 0 }
p Dir.children("/proc/self/fd").size - before <= 1
s = File.stat(__FILE__)
p File::Stat.allocate, File::Stat.allocate.dup.class
[-> { s <=> File::Stat.allocate }, -> { File::Stat.allocate == File::Stat.allocate }, -> { File::Stat.allocate.size }].each do |f|
  f.call
  p :none
rescue TypeError
  p :refused
end
p s <=> 1, s == s.dup
require "tmpdir"
Dir.mktmpdir do |dir|
  300.times { |i| File.write("#{dir}/f#{i}", "") }
  d = Dir.open(dir)
  p 10.times.count { d.rewind; d.children.size == 300 }
  d.close
end
old = Process.getrlimit(:NOFILE)
pid = fork do
  list = []
  Process.setrlimit(:NOFILE, 40, old[1])
  begin
    loop { list << File.open("/dev/null") }
  rescue Errno::EMFILE
  end
  begin
    Thread.new { Thread.new { 1 }.value }.value
  rescue ThreadError
  end
  list.each(&:close)
  exit! Thread.new { 7 }.value
end
Process.wait(pid)
p $?.exitstatus
