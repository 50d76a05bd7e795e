# A file stays where it was when it was loaded, whatever folder the program changes to.
require "tmpdir"

here = __dir__
p File.absolute_path?(here)
Dir.mktmpdir do |dir|
  dir = File.realpath(dir)
  Dir.mkdir("#{dir}/sub")
  File.write("#{dir}/sub/one.rb", "ONE = -> { [__dir__, require_relative('two')] }\n")
  File.write("#{dir}/sub/two.rb", "TWO = __dir__\n")
  Dir.chdir(dir) do
    p __dir__ == here
    require "./sub/one"
    Dir.chdir("/") { p ONE.call == ["#{dir}/sub", true], TWO == "#{dir}/sub" }
    # A program that was named by a relative path.
    File.write("main.rb", "Dir.chdir('/'); puts __dir__; require_relative 'sub/two'; puts TWO; puts caller_locations(0)[0].absolute_path\n")
    puts IO.popen([RbConfig.ruby, "main.rb"], &:read).lines(chomp: true).map { |l| l.delete_prefix(dir) }
  end
end

# Text that is evaluated is where its name says, or nowhere.
p eval("__dir__"), eval("__dir__", nil, "foo/bar.rb"), eval("__dir__", binding, "/x/y.rb"), instance_eval("__dir__", "a/b/c.rb")
p eval("[-> { __dir__ }]", nil, "foo/bar.rb")[0].call
begin
  eval("require_relative 'nope'", nil, "foo/bar.rb")
rescue LoadError => e
  p e.path == "#{Dir.pwd}/foo/nope"
end
