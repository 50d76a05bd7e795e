# Counts the words of a file (or of standard input) and shows the most frequent ones.
#
#   kumi examples/words.rb FILE [COUNT]
path = ARGV.shift
limit = Integer(ARGV.shift || 10, exception: false) || abort("usage: kumi examples/words.rb FILE [COUNT]")
text = path ? File.read(path) : $stdin.read

counts = text.downcase.scan(/[[:alpha:]]+/).tally
width = counts.keys.map(&:size).max || 0
counts.sort_by { |word, n| [-n, word] }.first(limit).each do |word, n|
  puts "#{word.ljust(width)} #{n}"
end
