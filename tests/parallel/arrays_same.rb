# Threads that sort, replace, cut, clear and lengthen one and the same large array, or String: whatever a look sees was put there, and
# what is done last is what stands there, though buffers of one size go from one list to the next.
N = 10_000
KINDS = {
  integers: (0...N).to_a,
  strings: Array.new(N) { |i| "s%05d" % i },
}
wrong = Queue.new

KINDS.each do |kind, ordered|
  known = ordered.to_h { |v| [v, true] }
  mixed = ordered.shuffle(random: Random.new(5))
  array = mixed.dup
  whole = ->(list) { wrong << [kind, list.size] unless list.all? { |v| known[v] } }
  running = true

  readers = Array.new(2) do
    Thread.new do
      while running
        whole.(array.dup)
        whole.([array.first, array[N / 2], array.last].compact)
        Thread.pass
      end
    end
  end
  changes = [
    -> { array.sort! },
    -> { array.replace(mixed) },
    -> { whole.(array.slice!(N / 2, N) || []) },
    -> { 50.times { |i| array.push(ordered[i]) } },
    -> { array.concat(ordered) },
    -> { array.clear },
    -> { array.sort! },
    -> { array.replace(ordered) },
  ]
  writers = Array.new(3) do |w|
    Thread.new do
      12.times do |i|
        changes[(i * 3 + w * 5) % changes.size].call
        array.slice!(N..) if array.size > 4 * N
        # Every writer sorts beside the others.
        array.sort! if i % 4 == w
      end
    end
  end
  writers.each(&:join)
  running = false
  readers.each(&:join)
  array.replace(mixed).sort!
  puts "#{kind}: #{array.size}, #{array == ordered ? "in order" : "NOT in order"}"
end

# Bytes, too: a look at a String sees one that it was.
texts = [("a".."h"), ("p".."w")].map { |letters| letters.map { |c| c * N }.join }
text = texts[0].dup
running = true
reader = Thread.new do
  while running
    look = text.dup
    wrong << [:text, look.size] unless texts.include?(look)
    Thread.pass
  end
end
writers = Array.new(2) do |w|
  Thread.new do
    30.times { |i| text.replace((i + w).even? ? texts[0] : texts[1].reverse.reverse) }
  end
end
writers.each(&:join)
running = false
reader.join
puts "text: #{texts.include?(text)}"
puts "wrong: #{wrong.size}"
