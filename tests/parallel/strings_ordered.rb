# Strings are compared, hashed and joined while another thread gives them other bytes: everything ends, with all the
# elements and no others.
TURNS = ENV.keys.any? { |k| k.end_with?("STRESS") } ? 3 : 20

strings = Array.new(300) { |i| +"s#{i * 7919 % 1000}" }
ids = strings.map(&:object_id).sort
inner = Array.new(40) { |i| [i, "k#{i}"] }
done = false
writers = 2.times.map do |t|
  Thread.new do
    r = Random.new(t)
    until done
      s = strings[r.rand(300)]
      case r.rand(6)
      when 0 then s.replace("s#{r.rand(1000)}")
      when 1 then s.replace("a long one that leaves its cell #{r.rand(1000)}")
      when 2 then s.clear
      when 3 then s << "more"
      # Emptied by the other one: an IndexError.
      when 4 then begin s.setbyte(0, 65 + r.rand(26)) rescue nil end
      when 5 then s.upcase!
      end
    end
  end
end

same = ->(a) { a.map(&:object_id).sort == ids }
bad = Hash.new(0)
note = ->(name, ok) { bad[name] += 1 unless ok }
TURNS.times do
  note.(:sort, same.(strings.sort))
  note.(:sort!, same.(strings.dup.sort!))
  note.(:sort_by, same.(strings.sort_by { |s| s }))
  note.(:sort_by!, same.(strings.dup.sort_by!(&:itself)))
  note.(:sort_block, same.(strings.sort { |x, y| x <=> y }))
  note.(:pairs, strings.map { |s| [s, 1] }.sort.size == 300)
  note.(:min, [strings.min, strings.max, *strings.minmax, *strings.min(3), *strings.max(3)].all?(String))
  note.(:min_by, [strings.min_by { |s| s }, strings.max_by { |s| s }, *strings.minmax_by { |s| s }].all?(String))
  note.(:uniq, strings.uniq.size.between?(1, 300) && strings.uniq { |s| s }.size.between?(1, 300))
  note.(:tally, strings.tally.values.sum == 300)
  note.(:group, strings.group_by { |s| s }.values.sum(&:size) == 300)
  note.(:set, (strings | strings).size.between?(1, 600) && (strings & strings).size <= 300 && (strings - strings).size <= 300)
  note.(:hash, strings.hash.is_a?(Integer) && strings.to_h { |s| [s, s] }.size.between?(1, 300))
  note.(:join, strings.join(",").count(",") >= 299)
  note.(:sum, strings.sum("").is_a?(String))
  note.(:inspect, strings.inspect.end_with?("]"))
  note.(:pack, strings.pack("a4" * 300).bytesize == 1200)
  note.(:format, format("%s %5s %-5s" * 20, *strings.first(60)).is_a?(String))
  note.(:include, [true, false].include?(strings.include?("s5")) && (strings.index("s7") || 0) < 300)
  note.(:compare, [-1, 0, 1].include?(strings <=> strings.dup) && [true, false].include?(strings == strings.reverse))
  note.(:bsearch, strings.sort.bsearch { |s| s >= "s5" }.then { |s| s.nil? || s.is_a?(String) })
  note.(:sorted_set, strings.each_slice(7).to_a.sort.flatten.size == 300)
end
done = true
writers.each(&:join)
p bad, same.(strings)

# A long array is sorted beside the stops.
strings = Array.new(20_000) { |i| +"t#{i * 7919 % 20_011}" }
ids = strings.map(&:object_id).sort
done = false
writer = Thread.new { r = Random.new(3); strings[r.rand(20_000)].replace("t#{r.rand(9)}") until done }
(TURNS / 10).times do
  note.(:long_sort, same.(strings.sort) && same.(strings.dup.sort!) && same.(strings.sort_by(&:itself)))
  note.(:long_min, strings.min.is_a?(String) && strings.uniq.size > 1)
end
done = true
writer.join
p bad
