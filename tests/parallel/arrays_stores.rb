# Every native that changes an Array as a whole, beside another thread's a[i] = v: what was stored is there until it is
# taken out, and it is there once.
SIZE = 12

fresh = 0
filler = -> { fresh -= 1 }

# Each changes the Array, leaves at least SIZE elements, and answers what it took out.
CHANGES = {
  reverse!: ->(a) { a.reverse!; nil },
  rotate!: ->(a) { a.rotate!(5); nil },
  shuffle!: ->(a) { a.shuffle!; nil },
  sort!: ->(a) { a.sort!; nil },
  uniq!: ->(a) { a.uniq!; nil },
  compact!: ->(a) { a.unshift(nil); a.compact!; nil },
  flatten!: ->(a) { a.push([]); a.flatten!; nil },
  delete: ->(a) { a.unshift(filler.(), fresh); a.delete(fresh) },
  pop: ->(a) { a.unshift(filler.()); a.pop },
  pop_many: ->(a) { a.unshift(filler.(), filler.()); a.pop(2) },
  shift: ->(a) { a.push(filler.()); a.shift },
  shift_many: ->(a) { a.push(filler.(), filler.(), filler.()); a.shift(3) },
  delete_at: ->(a) { a.insert(7, filler.()); a.delete_at(-9) },
  slice!: ->(a) { a.concat([filler.(), filler.()]); a.slice!(4, 2) },
  first_out: ->(a) { a[0, 0] = [filler.()]; a.slice!(0..0) },
  grow: ->(a) { n = a.size; a.push(*Array.new(n) { filler.() }); a.pop(n) },
  shrink: ->(a) { a.concat([filler.()] * 40).uniq!; a.pop },
}

def check(name, change, stores)
  a = Array.new(SIZE) { |i| -100 - i }
  gone = Hash.new(0)
  turns = 0
  done = false
  mover = Thread.new do
    until done
      Array(change.(a)).each { |x| gone[x] += 1 }
      a.pop(a.size - SIZE).each { |x| gone[x] += 1 } if a.size > SIZE
      turns += 1
    end
  end
  Thread.pass until turns > 0
  lost = 0
  r = Random.new(7)
  stores.times do |k|
    v = 1_000_000 + k
    a[r.rand(SIZE + 1)] = v
    next if a.include?(v)
    now = turns
    Thread.pass until turns > now + 1
    lost += 1 unless gone.key?(v)
  end
  done = true
  mover.join
  a.each { |x| gone[x] += 1 }
  p [name, lost, gone.count { |x, n| x && x > 0 && n > 1 }]
end

stores = ENV.keys.any? { |k| k.end_with?("STRESS") } ? 150 : 8000
CHANGES.each { |name, change| check(name, change, stores) }
