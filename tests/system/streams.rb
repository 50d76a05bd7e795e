# Streams: lines, encodings, positions, pipes, copies.
require "tmpdir"
Dir.mktmpdir do |dir|
  f = File.join(dir, "t.txt")
  File.write(f, "one\ntwo\r\n\n\nthree")
  p File.readlines(f), File.readlines(f, chomp: true), File.readlines(f, ""), File.readlines(f, 4)
  File.open(f) do |io|
    p io.gets, io.lineno, io.pos, io.getc, io.ungetc("X"), io.read(3), io.readbyte, io.eof?
    io.rewind
    p io.lineno, io.each_line.with_index.map { |l, i| [i, l.size] }
    p io.gets, io.read, io.read(1)
    begin
      io.readline
    rescue EOFError => e
      p e
    end
    begin
      io.write "x"
    rescue IOError => e
      p e
    end
  end
  File.open(f, "r+") do |io|
    io.seek(4)
    io.write("TWO")
    io.pos = 0
    p io.read
    p io.pread(3, 4)
  end
  File.open(f, "w", encoding: "UTF-16LE") { |io| io.print "äß" }
  p File.binread(f), File.read(f, mode: "rb", encoding: "UTF-16LE:UTF-8")
  File.open(f, "rt") { |io| p io.external_encoding }
  begin
    File.open(File.join(dir, "none"))
  rescue SystemCallError => e
    puts e.message.sub(dir, "DIR")
  end
  g = File.join(dir, "g")
  p IO.copy_stream(f, g), File.identical?(f, g), File.size(g)
  r, w = IO.pipe
  t = Thread.new { r.read.size }
  w.write("y" * 200_000)
  w.close
  p t.value
  p IO.select([r], nil, nil, 0)&.first&.size
  r.close
  begin
    r.read
  rescue IOError => e
    p e
  end
  Dir.chdir(dir) do
    Dir.mkdir("sub")
    File.write("sub/a.rb", "")
    File.write("sub/.h", "")
    p Dir["**/*"].sort, Dir.glob("sub/*", File::FNM_DOTMATCH).sort, Dir.children("sub").sort, Dir.glob("{t,g}*")
    p File.stat("sub").directory?, File.file?("g"), File.extname("sub/a.rb"), File.basename("sub/a.rb", ".*")
    p File.expand_path("../x", "/a/b"), File.join("a", "/b/", ["c"]), File.fnmatch("**/*.rb", "x/y.rb", File::FNM_PATHNAME)
  end
end
$stdout.printf("%05.1f|%s\n", 3.14159, :done)
$stderr.sync
puts [1, [2, [nil, "x\n"]]], 3
print "a", "b\n"
p
p 1, "two"
