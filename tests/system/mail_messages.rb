# Messages as mail is sent: lines, dots, ends.
require "net/protocol"
require "socket"
a, b = UNIXSocket.pair
io = Net::InternetMessageIO.new(a)
n = [io.write_message("Subject: x\n\n.dot\r\n..two\nend"), io.write_message(["a\r", "\nb\n", ".\n"]), io.write_message_by_block { |m| m.puts "hi"; m.print ".x"; m << "y\n"; m.printf("%d", 3) }, io.write_message("")]
p n
a.close_write
got = b.read
p got
c, d = UNIXSocket.pair
d.write("one\r\n..two\r\n.\r\nx 1\r\ny 2\r\n.\r\n"); d.close
io = Net::InternetMessageIO.new(c)
r = []; io.each_message_chunk { |l| r << l }; p r
r = []; io.each_list_item { |l| r << l }; p r
