# What is known of a string goes on being known while others are appended, of other encodings too.
u = (1..300).map { |i| "#{i},name \u00e9 text #{i}\n" }.join
v = u.gsub(/\d+/) { |m| m.to_i.to_s(16) }
p v.valid_encoding?, v.encoding, v == u.gsub(/\d+/) { |m| m.to_i.to_s(16).encode("UTF-8") }, v.hash == v.dup.force_encoding("BINARY").force_encoding("UTF-8").hash
s = +"\u00e9"
300.times { |i| s << 233 << i.to_s }
p s.size, s.valid_encoding?, s.ascii_only?
s = +""
300.times { |i| s.append_as_bytes("\u00e9"); s << i.to_s }
p s.size, s.valid_encoding?
s = +"a"
s.append_as_bytes("\xC3")
p s.valid_encoding?, s.size
s.append_as_bytes("\xA9")
p s.valid_encoding?, s.size, s
s << "b"
p s.valid_encoding?, s.inspect
s = "a".encode("US-ASCII")
s << 233
p s.encoding, s.valid_encoding?
s = "\u3042".encode("EUC-JP")
s << 0xa4a4 << "x"
p s.size, s.valid_encoding?
s = "".encode("UTF-16LE")
s << 0x3042 << 0x1f600
p s.size, s.valid_encoding?, s.encode("UTF-8")
# A match that is near is found in a text that is long, with others beside.
q = Thread::Queue.new
t = Thread.new { q.pop }
long = "ab1" * 30_000 + "\u00e9" + "cd2" * 10_000
p long.gsub(/\d/) { |d| d.to_i + 1 }.count("23"), long.scan(/\u00e9c/), long =~ /2\z/, long.index(/d2c/), long.index(/nothing/), long.gsub(/\u00e9./) { |m| m.upcase }.size
q << 1
t.join
