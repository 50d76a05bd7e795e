# A process that is written to by one thread and read by another, more than its pipes hold.
IO.popen("cat", "r+") { |io| Thread.new { io.write "x" * 300_000; io.close_write }; p io.read.size }
p(IO.popen("cat", "r+") do |io|
  t = Thread.new { 300.times { |i| io.puts "#{i} " + "y" * 1000 }; io.close_write }
  n = 0
  n += 1 while io.gets
  t.join
  n
end)
IO.popen("cat", "r+") do |io|
  t = Thread.new { n = 0; n += io.readpartial(4096).size while true rescue p $!.class, n }
  io.write "z" * 300_000
  io.close_write
  t.join
end
