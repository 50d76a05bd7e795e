# Sources that are the program's own objects: what they raise or throw comes through as it is, and whoever reads on asks them again.
require_relative "../support/table"

DOC = "<t>#{(1..9).map { |k| "<r><k>#{k}</k></r>" }.join}</t>"

# Gives ten bytes at a time; at the fifth demand the block says what happens.
class Slow
  def initialize(text, &event)
    @text = text
    @at = @asked = 0
    @event = event
  end

  def readpartial(_most)
    return @event.call if (@asked += 1) == 5
    raise EOFError if @at >= @text.size
    @text[@at, 10].tap { @at += 10 }
  end
end

table = Kumihimo::XML.open(Slow.new(DOC) { raise IOError, "the line is dead" }, Table)
seen = []
p told { table.rows.each { |row| seen << row.k } }, seen, table.rows.map(&:k).to_a
table = Kumihimo::XML.open(Slow.new(DOC) { throw :out, :thrown }, Table)
p catch(:out) { table.rows.map(&:k).to_a }, table.rows.map(&:k).to_a
p told { Kumihimo::XML.open(Slow.new(DOC) { 5 }, Table).rows.count }

# Beside another input: what was joined before is given.
seen = []
broken = Kumihimo::XML.each(Slow.new(DOC) { raise IOError, "the line is dead" }, "//r", Row)
p told { broken.join(Kumihimo::XML.list(DOC, "//r", Row), on: :k).each { |one, _| seen << one.k } }
p seen.size.between?(1, 2), seen == (1..seen.size).to_a
