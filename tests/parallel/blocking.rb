# What can only block parks its thread: files loaded once, children, disks, full pipes, forks.
require "tmpdir"
Dir.mktmpdir do |d|
  File.write("#{d}/once.rb", "$n = ($n || 0) + 1\nsleep 0.02\nclass Once; DONE = 1; end\n")
  File.write("#{d}/auto.rb", "class Auto\n  sleep 0.02\n  def x = 42\nend\n")
  File.write("#{d}/bad.rb", "$b = ($b || 0) + 1\nsleep 0.01\nraise 'bad' if $b < 3\n")
  $LOAD_PATH.unshift d
  p 6.times.map { Thread.new { [require("once"), Once::DONE] } }.map(&:value).count([true, 1]), $n
  autoload :Auto, "auto"
  p 6.times.map { Thread.new { Auto.new.x } }.map(&:value)
  p 4.times.map { Thread.new { require("bad") rescue $!.message } }.map(&:value).map(&:to_s).sort, $b

  File.write("#{d}/big", "z" * 3_000_000)
  p 3.times.map { Thread.new { File.read("#{d}/big").size } }.map(&:value)
  p Thread.new { Dir.glob("*", base: d).sort }.value
  f = File.open("#{d}/big", "a")
  p Thread.new { f << "!"; f.fsync }.value, f.size
  f.close
end

children = 4.times.map do |i|
  Thread.new do
    3.times.all? do
      pid = fork { exit!(i) }
      Process.wait(pid)
      $?.exitstatus == i && `echo #{i}`.to_i == i && system("exit #{i}") == i.zero?
    end
  end
end
sum = Thread.new { (1..50_000).sum { |x| x % 7 } }
p children.map(&:value), sum.value

r, w = IO.pipe
writers = 3.times.map { Thread.new { w.syswrite("a" * 100_000) } }
reader = Thread.new { n = 0; n += r.readpartial(30_000).size while n < 300_000; n }
p writers.map(&:value), reader.value
p IO.select([r], nil, nil, 0.01)
t = Thread.new { r.read(1) }
p IO.select([r], [w], nil, 1).map(&:size)
t.kill.join

lines = IO.popen("-") do |child|
  if child
    child.read.lines
  else
    $stdout.sync = true
    3.times.map { |i| Thread.new { 20.times { $stdout.puts "line #{i}", "of #{i}" } } }.each(&:join)
    nil
  end
end
p lines.size, lines.each_slice(2).all? { |a, b| a.delete_prefix("line ") == b.delete_prefix("of ") }
