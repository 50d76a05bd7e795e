# Church numerals and booleans: nothing but closures calling closures.
times = (4000 * (ARGV[0] || 1).to_f).ceil
ZERO = ->(_f) { ->(x) { x } }
SUCC = ->(n) { ->(f) { ->(x) { f.(n.(f).(x)) } } }
PLUS = ->(m) { ->(n) { n.(SUCC).(m) } }
TIMES = ->(m) { ->(n) { n.(PLUS.(m)).(ZERO) } }
two = SUCC.(SUCC.(ZERO))
four = TIMES.(two).(two)
sixteen = TIMES.(four).(four)
sum = 0
times.times { sum += PLUS.(TIMES.(sixteen).(four)).(sixteen).(->(x) { x + 1 }).(0) }
puts sum
