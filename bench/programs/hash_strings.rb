words = Array.new(5000) { |i| "key#{i % 1000}" }
h = Hash.new(0)
800.times { words.each { |w| h[w] += 1 } }
puts h["key7"], h.size
