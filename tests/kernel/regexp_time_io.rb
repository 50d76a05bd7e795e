p "the year 1999 and 2024".scan(/\b(\d)(\d+)\b/), "a.b.c".gsub(".") { |m| "[#{m}]" }, "foo bar baz".match(/(?<a>\w+) (?<b>\w+)/).named_captures, "aXbXc".split(/X/).map(&:upcase), "test" =~ /s/, $~.pre_match, $~.post_match, "xyz".tr("x-z", "a-c"), "abc" !~ /z/, /(?<q>x)/.names, "k=v; k2=v2".scan(/(\w+)=(\w+)/).to_h, "ab\nc".each_line.grep(/b/), %w[ab cd].grep_v(/a/), "foo.bar".sub(/\.(\w+)/) { ".#{$1.upcase}" }
t = Time.utc(2024, 2, 29, 12, 30, 45.5)
p t.year, t.month, t.yday, t.wday, t.strftime("%Y-%m-%d %H:%M:%S.%L %j %a %b"), (t + 86400).day, t.to_a.size, (Time.utc(2024, 3, 1) - t).class, t <=> t + 1, t.usec, t.to_i, t.utc?, t.monday?, Time.at(0).utc.to_s, t.round.sec
r, wr = IO.pipe
wr.puts "piped line", 42
wr.close
p r.read.lines.map(&:chomp), r.closed?, r.close.inspect
path = File.join(ENV.fetch("TMPDIR", "/tmp"), "kumi-kernel-#{$$}.txt")
File.write(path, "one\ntwo\nthree\n")
p File.read(path).size, File.foreach(path).map(&:chomp), File.open(path) { |f| [f.gets, f.pos, f.readline, f.eof?, f.read, f.eof?] }, File.size(path), File.basename(path, ".txt").start_with?("kumi"), File.extname(path), File.exist?(path), File.open(path, "a") { |f| f << "four" << 4; f.tell }, File.readlines(path, chomp: true).last, File.delete(path), File.exist?(path)
$stdout.puts [1, [2, nil]].inspect, :sym
$stdout.write("w", 1, nil, "\n")
$stdout.print("a", "b\n")
printf("%d %s\n", 1, "x")
p ENV.key?("PATH"), ENV.fetch("KUMI_NOT_SET", "dflt"), __method__.inspect, [1, 2, 3].to_enum.size, Process.clock_gettime(Process::CLOCK_MONOTONIC).class, rand(1), Random.new(42).rand(100), [1, 2, 3].shuffle(random: Random.new(1)).size, Kernel.format("%08.3f", 3.14159), Integer("0b101", 2) rescue p $!
