# A Hash by identity keeps the very String that it was given, whoever else may change it meanwhile.
keys = Array.new(50) { |i| "x" * (i % 3) }
h = {}.compare_by_identity
4.times.map { |t| Thread.new { keys.each { |k| h[k] = t; h.store(k, t); h.update({}.compare_by_identity.tap { |g| g[k] = t }) } } }.each(&:join)
p h.size, h.keys.all? { |k| keys.any? { |x| x.equal?(k) } }, keys.all? { |k| h.key?(k) }
s = Set.new.compare_by_identity
4.times.map { Thread.new { keys.each { |k| s << k; s.add?(k) } } }.each(&:join)
p s.size, s.all? { |k| keys.any? { |x| x.equal?(k) } }
p keys.uniq.size, keys.tally.size, keys.group_by { |k| k }.size
