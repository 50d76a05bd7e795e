# Where the elements of two inputs are born: those that a join keeps may leave their window, those that it looks up and drops stay
# the reader's own, though one instruction makes both. What an element holds lies where the element does.
require "kumihimo/xml"

class Piece < Kumihimo::XTree
  field :id, Integer
  field :name
  field :price, Rational
end

class Pieces < Kumihimo::XTree
  list :pieces, Piece, element: "p"
end

class Part < Kumihimo::XTree
  field :id, Integer
  field :piece, Piece, element: "of"
end

class Parts < Kumihimo::XTree
  list :parts, Part, element: "p"
end

# Collectors that are told to behave otherwise, or run all the time, say nothing of histories; nor do stacks that move at every step: a
# thread has its turn for a few elements then, and leaving a worker publishes what it holds. Then less is read, too.
USUAL = %w[KUMI_TLH KUMI_TLH_SITES KUMI_TLH_STRESS KUMI_GC_STRESS KUMI_STACK_STRESS].none? { |name| ENV[name] }
MANY = USUAL ? 12_000 : 600

def piece(id) = "<id>#{id}</id><name>the piece of number #{id}</name><price>#{id}.50</price>"
def pieces(count, from = 0) = "<t>#{(from...from + count).map { |id| "<p>#{piece(id)}</p>" }.join}</t>"
def parts(count) = "<t>#{(0...count).map { |id| "<p><id>#{id}</id><of>#{piece(id + 1)}</of></p>" }.join}</t>"

def open(text, klass = Pieces) = Kumihimo::XML.parse(text, klass, buffer: 50).remove_pieces

# Whether the block gives what is expected, and bears at least so many per cent of its bytes privately.
def check(name, least, expected)
  before = [GC.stat(:private_bytes), GC.stat(:shared_bytes)]
  result = yield
  own, others = [GC.stat(:private_bytes), GC.stat(:shared_bytes)].zip(before).map { |now, was| now - was }
  share = own * 100 / [own + others, 1].max
  puts "#{name}: #{result == expected ? "as expected" : "#{result}, not #{expected}"}"
  puts "#{name}: only #{share} % of the bytes were born private" if USUAL && share < least
end

# A small input that is kept, and a large one that is only looked up once the small one has ended.
KEPT = MANY / 10
small = pieces(KEPT)
ids = Array.new(MANY) { |at| at % KEPT }
large = "<t>#{ids.map { |id| "<p>#{piece(id)}</p>" }.join}</t>"
expected = ids.sum { |id| id + "the piece of number #{id}".size }
check("join", 60, expected) { open(small).join(open(large), on: :id).sum { |l, r| l.id + r.name.bytesize } }
# The same with the sides changed, and by a key that is a text.
check("join by text", 60, expected) { open(large).join(open(small), on: :name).sum { |l, r| l.id + r.name.bytesize } }
# One reader keeps all, others of the same class don't.
kept = open(large).to_a
check("each", 80, expected) do
  sum = 0
  open(large).each { |l| sum += l.id + l.name.bytesize }
  sum
end
# Many documents, one after the other, have the history of one.
before = GC.stat(:sites_window) + GC.stat(:sites_shared)
check("documents", 75, 40 * 41 / 2 * (KEPT / 12)) { (1..KEPT / 12).sum { open(pieces(40, 1)).sum(&:id) } }
sites = GC.stat(:sites_window) + GC.stat(:sites_shared) - before
puts "#{sites} sites of documents" if sites > KEPT / 12

# What was kept and what it holds is whole, whatever was collected meanwhile.
nested = Kumihimo::XML.parse(parts(KEPT), Parts).remove_parts.to_a
names = nested.map { |part| part.piece.name }
GC.start
puts nested.each_with_index.all? { |part, at| part.piece.name.equal?(names[at]) && part.piece.id == at + 1 && part.piece.price == at + 1.5r }
puts kept.each_with_index.all? { |l, at| l.id == ids[at] && l.name == "the piece of number #{ids[at]}" && l.price == ids[at] + 0.5r }
