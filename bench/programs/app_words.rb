words = ("lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor " * 60_000).split
t = words.group_by(&:size).transform_values { |v| v.tally.max_by { |w, n| [n, w] } }
puts t.sort.inspect, words.each_slice(7).map { |a| a.join("-").capitalize }.uniq.size
