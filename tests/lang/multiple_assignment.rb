a, b = 1, 2
a, b = b, a
p [a, b]
a, *b = 1, 2, 3
p b
*a, b = [1, 2, 3]
p a, b
a, (b, *c), d = 1, [2, 3, 4], 5
p [a, b, c, d]
a, b, c = 1, 2
p c
a = *1..3, 4
p a
a, = [9, 8]
p a
h = {}
h[:x], h[:y] = 1, 2
p h.to_a
o = Struct.new(:l, :r).new
o.l, o.r = :a, :b
p o.to_a
def two = return 1, [2, 3]
x, (y, z) = two
p x + y + z
a = b = c = 5
p a + b + c
i = 0
arr = [10, 20]
i, arr[i] = 1, 99
p i, arr
(a, b), c = [1, 2], 3
p a, b, c
*, last = [1, 2, 3]
p last
a, b = nil
p a, b
a, b = *[1], 2
p [a, b]
p((a, b = 3, 4))
first, (second, (third, *)) = 1, [2, [3, 4, 5]]
p first, second, third
a = [1, 2, 3]
a[0], a[1], *a[2] = 7, 8, 9, 10
p a
@iv, $gv, C1 = 1, 2, 3
p @iv, $gv, C1
