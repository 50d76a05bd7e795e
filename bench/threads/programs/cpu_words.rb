# Makes text, splits it and counts its words: strings, hashes and much garbage, nothing shared. Each of THREADS threads does
# it TIMES times over.
# usage: cpu_words.rb THREADS TIMES
threads = Integer(ARGV[0] || 1)
times = Integer(ARGV[1] || 5)

def words(seed)
  state = seed
  text = +""
  4000.times do
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    text << "word" << (state >> 8).modulo(400).to_s << " "
  end
  counts = Hash.new(0)
  text.split(" ").each { |w| counts[w] += 1 }
  counts.sort_by { |w, n| [-n, w] }.first(10).sum { |w, n| n * w.size }
end

sums = Array.new(threads) { Thread.new { (1..times).sum { |i| words(i) } } }.map(&:value)
abort "threads disagree: #{sums}" unless sums.uniq.size == 1
puts sums[0]
