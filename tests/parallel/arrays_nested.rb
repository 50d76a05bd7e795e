# What looks into nested Arrays and arguments, while another thread changes these: what comes out was in them.
TURNS = ENV.keys.any? { |k| k.end_with?("STRESS") } ? 6 : 80

inner = Array.new(12) { |i| Array.new(20) { i } }
pairs = Array.new(12) { |i| [i, i] }
rows = Array.new(4) { |i| [i] * 6 }
Point = Struct.new(:x, :y)
points = Array.new(6) { |i| Point.new(i, [i]) }
hashes = Array.new(4) { |i| { a: i, b: [i] } }
arg = [1, 2, 3]
done = false
writers = 2.times.map do |t|
  Thread.new do
    r = Random.new(t)
    until done
      i = r.rand(12)
      x = inner[i]
      case r.rand(10)
      when 0 then x.clear
      when 1 then x.replace([i] * r.rand(40))
      when 2 then x.pop(r.rand(9))
      when 3 then x.shift(3)
      when 4 then x.push(*[i] * 30)
      when 5 then x.reverse!
      when 6 then pairs[i].replace(r.rand(2) == 0 ? [i, i] : [i])
      when 7 then rows[i % 4].replace([i] * (r.rand(2) == 0 ? 6 : 2))
      when 8 then arg.replace([1, 2, 3] * r.rand(8))
      when 9
        points[i % 6].y = [i] * r.rand(4)
        hashes[i % 4][:b] = [i]
      end
    end
  end
end

bad = Hash.new(0)
note = ->(name, &b) {
  begin
    bad[name] += 1 unless b.()
  rescue IndexError, TypeError, ArgumentError, NoMethodError
    # Rows of different length, a pair of one: the state it was found in does not fit.
  end
}
small = ->(v) { v.is_a?(Integer) && v.between?(0, 11) }
TURNS.times do
  note.(:flatten) { inner.flatten.all?(&small) }
  note.(:flatten_1) { inner.flatten(1).all?(&small) && inner.dup.flatten!.all?(&small) }
  note.(:transpose) { rows.transpose.flatten.all?(&small) }
  note.(:zip) { inner[0].zip(inner[1], inner[2]).flatten.all? { |v| v.nil? || small.(v) } }
  note.(:product) { rows[0].product(rows[1]).all? { |p| p.size == 2 && p.all?(&small) } }
  note.(:to_h) { pairs.to_h.all? { |k, v| k == v } }
  note.(:hash_of) { Hash[pairs].all? { |k, v| v.nil? || k == v } }
  note.(:assoc) { (pairs.assoc(3) || [3])[0] == 3 && [nil, 3].include?((pairs.rassoc(3) || [3, 3])[1]) }
  note.(:join) { inner.join(",").split(",").all? { |s| s.empty? || small.(s.to_i) } }
  note.(:inspect) { inner.inspect.end_with?("]]") && inner.to_s.start_with?("[[") }
  note.(:compare) { [true, false].include?(inner == inner.map(&:dup)) && [-1, 0, 1].include?(inner <=> rows) }
  note.(:hash) { inner.hash.is_a?(Integer) && [true, false].include?(inner.eql?(inner.dup)) }
  note.(:sort) { inner.sort.size == 12 && inner.min.is_a?(Array) && inner.max.is_a?(Array) && inner.uniq.size.between?(1, 12) }
  note.(:sum) { inner.sum([]).all?(&small) }
  note.(:dig) { v = inner.dig(3, 2); v.nil? || v == 3 }
  note.(:sets) { (inner | rows).size <= 16 && (inner & inner).size <= 12 && (inner - rows).size <= 12 }
  note.(:pack) { arg.pack("C*").bytes.all? { |b| b.between?(1, 3) } }
  note.(:args) { [9].concat(arg, arg).all?(Integer) && ([9] + arg).first == 9 && [9, 9].replace(arg).all?(Integer) }
  note.(:splice) { a = [0] * 5; a[1, 2] = arg; a.insert(1, *arg); a.first == 0 }
  note.(:splat) { [*arg, *arg].all?(Integer) && [9, *arg].max == 9 && ->(*x) { x.all?(Integer) }.(*arg) }
  note.(:set_ops) { ([1, 2, 3] - arg).size <= 3 && ([1, 2] & arg).size <= 2 && ([4] | arg).include?(4) && arg.include?(4) == false }
  note.(:format) { format("%d" * 30, *(arg * 30).first(30)).size == 30 }
  note.(:values_at) { arg.values_at(0, 1, -1, 5).all? { |v| v.nil? || v.between?(1, 3) } }
  note.(:slices) { [arg[0, 2], arg[-2..], arg.first(2), arg.last(2), arg.take(2), arg.drop(1)].flatten.compact.all? { |v| v.between?(1, 3) } }
  note.(:structs) { points.map(&:to_a).flatten.all?(&small) && points == points.dup && points.hash.is_a?(Integer) && points.inspect.size > 9 }
  note.(:hashes) { hashes.inspect.size > 9 && hashes.hash.is_a?(Integer) && hashes.map { |h| h.dig(:b, 0) }.all?(&small) }
  note.(:marshal) { Marshal.load(Marshal.dump(inner)).flatten.all?(&small) }
  note.(:steps) { inner.each_slice(5).to_a.size == 3 && inner.each_cons(2).count == 11 && arg.combination(2).all? { |c| c.compact.size <= 2 } }
  note.(:case) do
    # Several steps, each of which may find it longer or shorter.
    case inner[4]
    in [x, *] then x.nil? || x == 4
    else true
    end
  end
  note.(:bulk) { inner.flat_map(&:itself).all?(&small) && inner.sum(&:size) >= 0 && inner.map(&:first).compact.all?(&small) }
end
done = true
writers.each(&:join)
p bad
