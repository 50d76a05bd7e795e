text = "the quick brown fox jumps over the lazy dog 12345 " * 200
n = 0
1500.times { n += text.scan(/\w+/).size + text.split(" ").size + text.index("lazy", 5000) }
puts n
