# What only waiting threads and fibers hold, while others give them more: it is all there when they go on.

# Each holds a text that nobody else has, on its stack and in a local variable of a block.
go = Queue.new
told = Queue.new
threads = Array.new(60) do |i|
  Thread.new do
    own = "own #{i}"
    kept = ->(more) { "#{own}, #{more}" }
    told << i
    kept[go.pop.to_s.size] + " and #{Thread.current[:given]} and #{Thread.current.thread_variable_get(:late)}"
  end
end
threads.size.times { told.pop }

# Thread-locals of a thread that sleeps are made by another one.
threads.each_with_index do |t, i|
  t[:given] = "given #{i}"
  t.thread_variable_set(:late, "late #{i}")
  Array.new(20) { |k| "litter #{k}" } if i % 7 == 0
end

# Exceptions that a sleeping thread holds back are held for it.
ready = Queue.new
masked = Array.new(10) do |i|
  Thread.new do
    Thread.handle_interrupt(RuntimeError => :never) do
      ready << i
      sleep 0.001 until Thread.current.pending_interrupt?
      200.times { |k| "litter #{k}" }
      Thread.pass
    end
  rescue RuntimeError => e
    e.message
  end
end
masked.size.times { ready.pop }
masked.each_with_index { |t, i| t.raise(RuntimeError, "held back #{i}") }
p masked.map(&:value) == Array.new(10) { |i| "held back #{i}" }

# Fibers that wait hold what they were given last; some are resumed now and then, others only at the end.
fibers = Array.new(40) do |i|
  Fiber.new do |given|
    all = []
    loop do
      all << "#{given} of #{i}"
      given = Fiber.yield(all.size)
      break if given.nil?
    end
    all
  end
end
50.times do |round|
  fibers.each_with_index { |f, i| f.resume("gift #{round}") if round == 0 || i.odd? && round % (i % 5 + 1) == 0 }
  Array.new(30) { |k| [k.to_s] }
end
p fibers.each_with_index.all? { |f, i| (all = f.resume(nil)).all? { |text| text.end_with?(" of #{i}") } && all[0] == "gift 0 of #{i}" }

# Threads that come and go meanwhile, and fibers of threads that wait.
p 40.times.map { |i| Thread.new { f = Fiber.new { |x| "in #{Fiber.yield(x + i)}" }; f.resume(1); sleep 0.001; f.resume("fiber #{i}") } }
    .each_with_index.all? { |t, i| t.value == "in fiber #{i}" }

threads.size.times { |i| go << "x" * (i % 3) }
texts = threads.map(&:value)
p texts.each_with_index.all? { |text, i| text.match?(/\Aown #{i}, [012] and given #{i} and late #{i}\z/) }
