# What `p` prints is there at once, also in a pipe or file; `puts` and `print` wait in the buffer.
require "tempfile"

def read_from(code, out)
  child = spawn(RbConfig.ruby, "-e", "#{code}; sleep", out: out)
  yield
ensure
  Process.kill(:KILL, child)
  Process.wait(child)
end
["p 1", "p 1, [2]", "Kernel.p(:a)", "print 'a'; p 2", "def $stdout.write(*a) = super; p 3", "$stdout = $stdout.dup; p 4"].each do |code|
  r, w = IO.pipe
  read_from(code, w) do
    w.close
    p [code, r.wait_readable(60) && r.readpartial(100)]
  end
end
file = Tempfile.new("p")
read_from("p :file", file) do
  sleep 0.01 while File.size(file.path) == 0
  p File.read(file.path)
end
r, w = IO.pipe
read_from("puts 1; print 2", w) do
  w.close
  p r.wait_readable(1)
end
