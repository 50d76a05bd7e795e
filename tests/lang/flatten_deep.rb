# Lists within lists, as deep as memory goes.
a=[]; 20_000.times{a=[a]}; p a.flatten
b=[1,[2,[3,[4,[5]]]]]; p b.flatten, b.flatten(1), b.flatten(2), b.flatten(0), b.dup.flatten!, [1].flatten!, [[1]].flatten!(0)
c=[1]; c << c; p((c.flatten rescue $!.message), c.flatten(1).size, c.flatten(3).size)
d = [1]; 200.times { d = [d, 1] }; p d.flatten.size; e = d; 50.times { e = [e] }; x = [e, e]; p x.flatten.size
f = [1]; g = f; 50.times { g = [g] }; f << g; p((f.flatten rescue $!.message))
o = Object.new; def o.to_ary = [7, [8]]
p [1, [o, [2]]].flatten, [[[]], []].flatten, [nil, [nil]].flatten
