# Threads sort large arrays, some of numbers and some of Strings, while others make garbage of large buffers and collect: what a sort makes
# beside a stop is not what the stop frees.
N = 12_000
numbers = Array.new(N) { |i| i * 7919 % N }
strings = numbers.map { |i| "%06d" % i }
ordered = {numbers => numbers.sort, strings => strings.sort}
sorters = [numbers, strings, numbers].map do |list|
  want = ordered[list]
  Thread.new { Array.new(12) { |i| (i.even? ? list.sort : list.dup.sort!) == want }.all? }
end
makers = Array.new(2) do |k|
  Thread.new do
    held = numbers.dup
    30.times do |i|
      held.replace(i.even? ? strings : numbers)
      held.slice!(N / 4, N)
      GC.start(full_mark: i % 10 == k) if i % 5 == k
    end
    held.size
  end
end
p sorters.map(&:value), makers.map(&:value)
