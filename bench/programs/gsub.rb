text = "hello world, this is a test of substitution " * 200
n = 0
1000.times { n += text.gsub(/o(\w)/) { $1.upcase }.size + text.gsub("is", "IS").size + text.tr("a-y", "b-z").size }
puts n
