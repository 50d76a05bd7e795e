# An IO that the program closes while a document is read from it: the document goes on with what was the IO's, and never
# with what got the number of its descriptor.
require "kumihimo/xml"

class Row < Kumihimo::XTree
  field :k, Integer
end

def rows(io) = Kumihimo::XML.list(io, "/t/r", Row).reader

input, output = IO.pipe
reader = rows(input)
output << "<t><r><k>1</k></r>"
p reader.next.k
input.close
others = Array.new(4) { IO.pipe }
others.each { |_, other| other << "<r><k>666</k></r>" }
waiting = Thread.new { reader.next.k }
output << "<r><k>2</k></r>"
p waiting.value
output << "</t>"
output.close
begin
  reader.next
rescue StopIteration => e
  puts e.message
end

# Closed by another thread while one waits.
input, output = IO.pipe
reader = rows(input)
waiting = Thread.new { reader.next.k }
sleep 0.01 until waiting.stop?
input.close
output << "<t><r><k>3</k></r>"
p waiting.value
reader.close

begin
  rows(input)
rescue IOError => e
  puts e.message
end
