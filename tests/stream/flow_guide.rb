# The examples of docs/FLOW.md give what stands beside them.
require "kumihimo/flow"

guide = File.read(File.expand_path("../../docs/FLOW.md", __dir__))
place = TOPLEVEL_BINDING.dup
count = 0
guide.scan(/^```ruby\n(.*?)^```/m) do |(code)|
  lines = code.lines
  pending = +""
  lines.each do |line|
    example, expected = line.split("# => ")
    unless expected
      pending << line
      next
    end
    eval(pending, place)
    pending = +""
    got = eval(example, place).inspect
    puts "#{example.strip}\n  gives #{got}" unless got == expected.strip
    count += 1
  end
  eval(pending, place)
end
puts "#{count} examples"
