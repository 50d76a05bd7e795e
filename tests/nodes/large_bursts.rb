# nodes: 2
# Many large values at once are many large values, whoever asks for them.
require_relative "../support/texts"
many, size = 15, 20 << 20
at_once = ->(count, &does) { count.times.map { |i| Thread.new { does.(i) } }.sum(&:value) }

text = "x" * size
at_once.(many) { TWO.put("put", text).clamp(0, 1) }
p TWO.size("put"), at_once.(many) { TWO.take("put").size } == many * size
TWO.put("peek", text)
p at_once.(60) { TWO.peek("peek").size } == 60 * size
p at_once.(many) { TEXTS.write(text) } == many * size
p at_once.(70) { TEXTS.read(size).size } == 70 * size
TWO.put("end", 1)
