# Values leave a queue in the order they came, however many it holds meanwhile.
q = Queue.new
put = taken = 0
right = true
[1, 3, 4, 5, 2, 9, 40, 0, 6, 3000, 7].each do |high|
  until q.length >= high
    q << put
    put += 1
  end
  low = high / 2
  until q.length <= low
    right &&= q.pop == taken
    taken += 1
  end
  right &&= q.size == put - taken && q.empty? == (put == taken)
end
p right, q.length
until q.empty?
  right &&= q.pop(true) == taken
  taken += 1
end
p right, put == taken
begin
  q.pop(true)
rescue ThreadError => e
  p e.message
end
# cleared with few and with many
[2, 4, 7].each do |n|
  n.times { |i| q << i }
  q.clear
  q << :a << :b
  p [q.length, q.pop, q.pop, q.empty?]
end
p Queue.new([1, 2, 3, 4, 5, 6]).then { |l| l << 7; Array.new(7) { l.pop } }
s = SizedQueue.new(5)
5.times { |i| s << i }
begin
  s.push(5, true)
rescue ThreadError => e
  p e.message
end
p s.pop, s.push(5).length, Array.new(5) { s.pop }
s.max = 7
7.times { |i| s << "v#{i}" }
s.close
p Array.new(8) { s.pop }, s.closed?, s.empty?
# values that only the queue holds
q = Queue.new
12.times { |i| q << "kept #{i}" }
GC.start
p Array.new(12) { q.shift }.last(3)
begin
  Queue.allocate.empty?
rescue TypeError => e
  puts e.message
end
%i[push pop].each do |m|
  Queue.allocate.send(m, *(m == :push ? [1] : []))
rescue TypeError => e
  puts e.message
end
