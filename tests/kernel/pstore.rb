# Objects kept in a file, changed by transactions.
require "pstore"
require "yaml/store"
require "tmpdir"
def try = yield.inspect rescue "#{$!.class}: #{$!.message}"
Dir.mktmpdir do |dir|
  path = File.join(dir, "a.pstore")
  s = PStore.new(path)
  puts try { s[:a] }, try { s[:a] = 1 }, try { s.roots }, try { s.commit }, try { s.abort }, try { s.delete(:a) }
  p File.exist?(path), s.path == path, s.ultra_safe
  p s.transaction { s[:a] = [1, { b: 2 }]; s["k"] = Time.at(0).utc; :value }
  p s.transaction(true) { |x| [x.equal?(s), x[:a], x["k"], x[:none], x.roots, x.root?(:a), x.root?(:z), x.fetch(:a), x.fetch(:z, 5)] }
  puts try { s.transaction { s.fetch(:z) } }, try { s.transaction(true) { s[:a] = 1 } }, try { s.transaction(true) { s.delete(:a) } }
  puts try { s.transaction { s.transaction { } } }
  p s.transaction { s[:x] = 1; s.commit; s[:y] = 2 }
  p s.transaction { s[:w] = 1; s.abort; 3 }
  puts try { s.transaction { s[:v] = 1; raise "no" } }
  p s.transaction { s.roots }, s.transaction { s.delete(:x) }, s.transaction { s.delete(:x) }, s.transaction(true) { s.roots }
  puts try { s.transaction { s[:p] = proc { } } }, s.transaction(true) { s.roots }.inspect
  before = File.stat(path).mtime
  s.transaction { s[:a] }
  p File.stat(path).mtime == before, Marshal.load(File.binread(path)).keys
  s.ultra_safe = true
  s.transaction { s[:u] = "x" * 10 }
  p PStore.new(path).transaction(true) { |t| t[:u] }, Dir.children(dir)
  s.transaction { s[:u] = "y" }
  p s.transaction(true) { s[:u] }
  puts try { PStore.new(File.join(dir, "no", "b")) }.sub(dir, "DIR")
  File.write(File.join(dir, "bad"), "garbage")
  puts try { PStore.new(File.join(dir, "bad")).transaction { } }
  File.binwrite(File.join(dir, "list"), Marshal.dump([1]))
  puts try { PStore.new(File.join(dir, "list")).transaction { } }
  p PStore.new(File.join(dir, "none")).transaction(true) { |t| t.roots }, File.exist?(File.join(dir, "none"))
  t = PStore.new(File.join(dir, "t"), true)
  10.times.map { Thread.new { 20.times { t.transaction { t[:n] = (t[:n] || 0) + 1 } } } }.each(&:join)
  p t.transaction(true) { t[:n] }
  puts try { t.transaction { t.transaction { } } }
  p s.transaction { |x| next 9 }, [1].each { |i| s.transaction { s[:broke] = 1; break } }, s.transaction(true) { s[:broke] }
  catch(:out) { s.transaction { s[:thrown] = 1; throw :out } }
  p s.transaction(true) { s[:thrown] }
  y = YAML::Store.new(File.join(dir, "y.yml"))
  y.transaction { y["a"] = { "b" => [1, nil, :sym, 2.5] }; y[:s] = "t" }
  puts File.read(File.join(dir, "y.yml"))
  p YAML::Store.new(File.join(dir, "y.yml")).transaction(true) { |v| [v["a"], v[:s], v.roots] }
  y = YAML::Store.new(File.join(dir, "z.yml"), line_width: -1)
  y.transaction { y["long"] = "word " * 40 }
  p File.read(File.join(dir, "z.yml")).lines.size, YAML::Store.ancestors.include?(PStore)
end
# Names that are newer than the recorded answers' Ruby, other processes, and what a reader sees of a writer that puts a file in place.
Dir.mktmpdir do |dir|
  s = PStore.new(File.join(dir, "a"))
  p s.transaction { s[:n] = 0; [s.keys, s.key?(:n), s.key?(:m)] }
  code = 's = PStore.new(ARGV[0]); s.ultra_safe = ARGV[1] == "1"; 50.times { s.transaction { s[:n] += 1 } }'
  pids = 4.times.map { |i| spawn(RbConfig.ruby, "-W0", "-rpstore", "-e", code, File.join(dir, "a"), (i % 2).to_s) }
  pids.each { |pid| Process.wait(pid) }
  p s.transaction(true) { s[:n] }, Dir.children(dir)
end
