a = Array.new(1000) { |i| "str#{i}" * 3 }
h = a.each_with_index.to_h
GC.start
p a.size, h["str5str5str5"], a.last
def churn(n) = n.times.map { |i| { k: i, v: [i.to_s, i.to_f] } }.last
p churn(2000).to_a
x = Object.new
id = x.object_id
GC.start
p x.object_id == id, id.class, nil.object_id, true.object_id, 1.object_id, GC.count.class, GC.stat.class
s = "shared"
arr = [s] * 3
arr[0] << "!"
p arr, arr.map(&:object_id).uniq.size
deep = nil
1000.times { deep = [deep] }
n = 0
while deep
  deep = deep[0]
  n += 1
end
p n
rec = [1]
rec << rec
p rec, rec.inspect, rec == rec, rec.hash == rec.hash
rh = { a: 1 }
rh[:self] = rh
p rh.size, rh[:self][:self][:a]
o = Object.new
o.instance_variable_set(:@a, [o])
p o.instance_variable_get(:@a).first.equal?(o), o.instance_variables, o.remove_instance_variable(:@a).size, o.instance_variables
str = +""
10_000.times { |i| str << i.to_s }
p str.size, str.hash == str.dup.hash
p ObjectSpace.respond_to?(:each_object), [nil, 1, :a, 1.5, "s", [1]].map { |v| v.dup.class }, [1, :a, nil, true, 1.5].all?(&:frozen?)
