# Round trips by DRb. Obeys lines on standard input as remote_client.rb does: call BYTES N: a method with so many bytes.
# write BYTES N, take BYTES N: Rinda's (fill BYTES N before a take, empty BYTES N after a write).
# usage: drb_client.rb URI
require "drb"
require "rinda/rinda"
require_relative "../../lib/obey"

DRb.start_service("druby://127.0.0.1:0")
FRONT = DRbObject.new_with_uri(ARGV[0])
SPACE = Rinda::TupleSpaceProxy.new(FRONT.space)

obey do |word, bytes, n|
  data = ("x" * Integer(bytes)).freeze
  n = Integer(n)
  case word
  when "call" then timed(n) { FRONT.accept(data) }
  when "write" then timed(n) { SPACE.write([:q, data]) }
  when "take" then timed(n) { SPACE.take([:q, nil]) }
  when "fill" then [n.times { SPACE.write([:q, data]) }]
  when "empty" then [n.times { SPACE.take([:q, nil]) }]
  end
end
