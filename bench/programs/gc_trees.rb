def tree(d) = d == 0 ? [nil, nil] : [tree(d - 1), tree(d - 1)]
def count(t) = t[0] ? 1 + count(t[0]) + count(t[1]) : 1
n = 0
400.times { n += count(tree(13)) }
puts n
