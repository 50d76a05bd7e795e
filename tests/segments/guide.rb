# The examples of docs/SEGMENTS.md and docs/JOBS.md give what stands beside them.
$stderr = File.open(File::NULL, "w")
require "tmpdir"
folder = Dir.mktmpdir
Dir.chdir(folder)
%w[SEGMENTS JOBS].each do |page|
  guide = File.read(File.expand_path("../../docs/#{page}.md", __dir__))
  # That chapter's are run by two nodes (tests/nodes).
  guide = guide.sub(/^## Between nodes$.*?(?=^## )/m, "")
  # And that one's with a server (tests/redis).
  guide = guide.sub(/^### With Redis or Valkey$.*?(?=^##)/m, "")
  context = TOPLEVEL_BINDING.dup
  count = 0
  guide.scan(/^```ruby\n(.*?)^```/m) do |(code)|
    code.lines.slice_after { |l| l.include?("# =>") }.each do |lines|
      text = lines.join
      expected = text[/# => (.*)$/, 1]
      value = context.eval(text)
      next unless expected
      count += 1
      puts "#{text.strip}\n  gave #{value.inspect}" unless value.inspect == expected
    end
  end
  puts "#{page}: #{count} examples"
end
Dir.chdir("/")
FileUtils.remove_entry(folder)
