# The child of a fork has one worker; what the others' threads made is collected there too.
$made = Array.new(4)
4.times.map do |n|
  Thread.new { $made[n] = (1..500).map { |i| ["thread #{n} item #{i}", { i => i.to_s }] } }
end.each(&:join)

pid = fork do
  3.times do |round|
    $made.each { |list| list.each { |item| item[2] = ["round #{round}", item[0] + " again"] } }
    GC.start
    2000.times { |i| ["filler #{i}"] }
  end
  wrong = $made.each_with_index.sum do |list, n|
    list.each_with_index.count do |item, i|
      text = "thread #{n} item #{i + 1}"
      item != [text, { i + 1 => (i + 1).to_s }, ["round 2", text + " again"]]
    end
  end
  puts "child: #{wrong} of #{$made.sum(&:size)} are wrong"
  $made = nil
  GC.start
  $stdout.flush
  exit!(wrong.zero? ? 0 : 1)
end
Process.wait(pid)
p $?.exitstatus
GC.start
p $made.sum(&:size), $made.all? { |list| list.all? { |item| item.size == 2 } }
