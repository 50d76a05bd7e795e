# The examples of docs/SEGMENTS.md about Redis give what stands beside them.
require "kumihimo/segments"
guide = File.read(File.expand_path("../../docs/SEGMENTS.md", __dir__))[/^### With Redis or Valkey$.*?(?=^##)/m]
context = TOPLEVEL_BINDING.dup
count = 0
guide.scan(/^```ruby\n(.*?)^```/m) do |(code)|
  code.gsub(%r{"redis://127\.0\.0\.1:6379"}, ARGV[0].inspect).lines.slice_after { |l| l.include?("# =>") }.each do |lines|
    text = lines.join
    expected = text[/# => (.*)$/, 1]
    value = context.eval(text)
    next unless expected
    count += 1
    puts "#{text.strip}\n  gave #{value.inspect}" unless value.inspect == expected
  end
end
puts "#{count} examples"
