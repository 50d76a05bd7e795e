# A process that forks while it reads: parent and child read on, each for itself, whoever was parsing just then.
require "kumihimo/xml"
require "tempfile"
require "timeout"

class Row < Kumihimo::XTree
  field :k, Integer
end

ROWS = 20_000
file = Tempfile.new("rows")
file << "<t>" << (1..ROWS).map { |i| "<r><k>#{i}</k></r>" }.join << "</t>"
file.close

def rest(reader)
  sum = 0
  loop { sum += reader.next.k }
  sum
end

good = (1..5).count do |n|
  opened = n.odd? ? file.path : File.open(file.path)
  reader = Kumihimo::XML.list(opened, "/t/r", Row).reader(remove: true)
  first = (n * 500).times.sum { reader.next.k }
  from, to = IO.pipe
  pid = fork do
    from.close
    to << (first + rest(reader))
    to.close
    exit!(0)
  end
  to.close
  sums = [first + rest(reader), Timeout.timeout(60) { from.read.to_i }]
  Process.wait(pid)
  p sums unless right = sums == [ROWS * (ROWS + 1) / 2] * 2
  right
end
p good
