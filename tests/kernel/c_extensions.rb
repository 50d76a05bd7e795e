# A C extension is said to be one, however it is named.
require "tmpdir"
Dir.mktmpdir do |dir|
  dir = File.realpath(dir)
  File.binwrite("#{dir}/cext.so", "\x7FELF\x02\x01\x01")
  Dir.chdir(dir) do
    ["./cext", "./cext.so", "#{dir}/cext", "../#{File.basename(dir)}/cext.so", "cext", "./none"].each do |path|
      $LOAD_PATH << dir if path == "cext"
      require path
    rescue LoadError => e
      puts e.message.gsub(dir, "DIR").gsub(File.basename(dir), "DIR"), e.path == path
    end
  end
end
begin
  require "continuation"
rescue LoadError => e
  p e.path
end
