# The calls of a file's manager.
require "kumihimo/segments"
require "tmpdir"
require_relative "../support/calls"
S = Kumihimo::Segments
Dir.mktmpdir do |folder|
  Dir.chdir(folder) do
    there = S.open("/proc/self/cwd/jobs.db")
    show("names") { [there, there.key("k")] }
    calls(there, there) { |key| Thread.new { sleep 0.05; there.put(key, "answer to #{key}") } }
    there.close
  end
end
