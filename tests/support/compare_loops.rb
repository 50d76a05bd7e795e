# Loops whose jump back compares two values: each gives way to the other threads there, calls blocks, and all of them end.
Pair = Struct.new(:a)
OPERANDS = {
  integers: [1, 2], mixed: [1, 2.5], floats: [1.5, 2.5], bignums: [2**70, 2**71], bignum_float: [2**70, 1e30], rationals: [1r, 2r],
  strings: ["a", "b"], long_strings: ["a" * 40, "a" * 39 + "b"], encodings: ["\u00e9", "\u00fc".encode("UTF-16LE")], symbols: [:a, :b],
  arrays: [[1], [2]], hashes: [{a: 1}, {a: 2}], structs: [Pair.new(1), Pair.new(2)], ranges: [1..2, 1..3], objects: [Object.new, Object.new],
  nil: [nil, true], times: [Time.at(1), Time.at(2)], classes: [Integer, Comparable]
}
STEPS = 2_000

def loops(op, holds)
  eval("->(l, r) { n = 0; begin; 1.times { n += 1 }; break if n >= STEPS; end #{holds ? "while" : "until"} l #{op} r; n }")
end

LOOPS = %w[== != < <= > >= ===].to_h { |op| [op, [loops(op, true), loops(op, false)]] }

def compare_loops(kinds)
  kinds.each do |kind|
    x, y = OPERANDS.fetch(kind)
    taken = LOOPS.keys.select do |op|
      holds = [[x, x], [x, y], [y, x]].to_h { |l, r| [[l, r], l.public_send(op, r) ? 0 : 1] }
      holds.each do |(l, r), which|
        counts = 3.times.map { Thread.new { LOOPS[op][which].(l, r) } }.map(&:value)
        puts "#{kind}: #{op}: #{counts}" unless counts == [STEPS] * 3
      end
    rescue ArgumentError, NoMethodError
      false
    end
    puts "#{kind}: #{taken.join(" ")}"
  end
end
