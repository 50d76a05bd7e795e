# The examples of docs/SEGMENTS.md and docs/JOBS.md give what stands beside them.
$stderr = File.open(File::NULL, "w")
require "tmpdir"
require_relative "../support/guide"
folder = Dir.mktmpdir
Dir.chdir(folder)
%w[SEGMENTS JOBS].each do |name|
  # That chapter's are run by two nodes (tests/nodes), that one's with a server (tests/redis).
  guide = page(name).sub(/^## Between nodes$.*?(?=^## )/m, "").sub(/^### With Redis or Valkey$.*?(?=^\#{2,3} )/m, "")
  puts "#{name}: #{check_examples(guide)} examples"
end
Dir.chdir("/")
FileUtils.remove_entry(folder)
