# Arrays of a site that went out of the window are born whole outside it: what they hold leaves it with them.
def tree(d) = d == 0 ? [nil, "x#{d}"] : [tree(d - 1), tree(d - 1), [d, d, d, d, [d]]]
def count(t) = t[0] ? 1 + count(t[0]) + count(t[1]) : (t[1] == "x0" ? 1 : raise("lost"))
n = 0
8.times { n += count(tree(9)) }
puts n
