class Cell
  attr_accessor :value
end
c = Cell.new
c.value = 0
5_000_000.times { c.value = c.value + 1 }
puts c.value
