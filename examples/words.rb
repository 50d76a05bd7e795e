# Counts the words of a file (or of standard input) and shows the most frequent ones.
#
#   kumi examples/words.rb [FILE [COUNT]]
USAGE = "usage: kumi examples/words.rb [FILE [COUNT]]"
path, count = ARGV
limit = Integer(count || 10, exception: false)
abort USAGE if limit.nil? || ARGV.size > 2 || path&.start_with?("-")
begin
  text = path ? File.read(path) : $stdin.read
rescue SystemCallError => error
  abort "#{error.message}\n#{USAGE}"
end

counts = text.downcase.scan(/[[:alpha:]]+/).tally
width = counts.keys.map(&:size).max || 0
counts.sort_by { |word, n| [-n, word] }.first(limit).each do |word, n|
  puts "#{word.ljust(width)} #{n}"
end
