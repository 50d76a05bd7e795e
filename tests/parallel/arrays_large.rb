# Large arrays are changed as a whole while other threads look at them: a look sees one of the lists that an array has been, though
# buffers are freed, and used again, long before a collection.
N = 20_000
MORE = (0...N / 2).map { |i| i * 3 }
SUM = N * (N - 1) / 2
SUMS = [SUM, SUM + MORE.sum]

ordered = (0...N).to_a
lists = [ordered.reverse, ordered, ordered.select(&:even?) + ordered.select(&:odd?), ordered.shuffle(random: Random.new(3))]
arrays = Array.new(2) { ordered.dup }
running = true
wrong = Queue.new

readers = Array.new(2) do |r|
  Thread.new do
    i = r
    looks = 0
    while running
      a = arrays[i % 2]
      i += 1
      looks += 1
      sum = a.sum
      wrong << sum unless SUMS.include?(sum)
      copy = a.dup
      wrong << copy.size unless SUMS.include?(copy.sum)
      Thread.pass
    end
    looks
  end
end

writers = arrays.map do |a|
  Thread.new do
    40.times do |i|
      a.replace(lists[i % lists.size])
      a.sort!
      wrong << :order unless a == ordered
      a.concat(MORE)
      a.slice!(N..)
      a.concat(MORE).sort!
      a.replace(ordered)
      wrong << :last unless a.last == N - 1
    end
  end
end
writers.each(&:join)
running = false
puts "looked: #{readers.map(&:value).all?(&:positive?)}"
puts "wrong: #{wrong.size}"
p arrays.map { |a| [a.size, a == ordered] }
