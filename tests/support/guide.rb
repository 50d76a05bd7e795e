# Runs the examples of a page: what stands in its ```ruby blocks. Where a line says `# => value`, that is what it gives.

# One of the pages in docs.
def page(name) = File.read(File.expand_path("../../docs/#{name}.md", __dir__))

# Prints what gave something else; how many values there were.
def check_examples(page, context = TOPLEVEL_BINDING.dup)
  count = 0
  page.scan(/^```ruby\n(.*?)^```/m) do |(code)|
    code.lines.slice_after { |l| l.include?("# =>") }.each do |lines|
      text = lines.join
      expected = text[/# => (.*)$/, 1]
      value = context.eval(text)
      next unless expected
      count += 1
      puts "#{text.strip}\n  gave #{value.inspect}" unless value.inspect == expected
    end
  end
  count
end
