def sum3(a, b, c) = a + b + c
def pass(*args) = sum3(*args)
s = 0
4_000_000.times { |i| s += pass(i, 1, 2) }
puts s
