# Fibers of one thread under a fiber scheduler: one waits for its document, the others go on.
require "kumihimo/xml"
require_relative "../support/fiber_scheduler"

class Row < Kumihimo::XTree
  field :k, Integer
end
class Table < Kumihimo::XTree
  field :head
  list :rows, Row, element: "r"
end

log = Queue.new
Thread.new do
  Fiber.set_scheduler(Scheduler.new)
  a, wa = IO.pipe
  b, wb = IO.pipe
  Fiber.schedule { Kumihimo::XML.each(a, "/t/r", Row) { |r| log << [:a, r.k] } }
  Fiber.schedule do
    table = Kumihimo::XML.open(b, Table)
    log << [:head, table.head]
    log << [:b, table.rows.sum(&:k)]
  end
  Fiber.schedule do
    wa << "<t><r><k>1</k></r>"
    sleep 0.01
    wb << "<t><head>h</head><r><k>5</k></r>"
    sleep 0.01
    wa << "<r><k>2</k></r></t>"
    wa.close
    wb << "<r><k>6</k></r></t>"
    wb.close
    log << :written
  end
end.join
all = Array.new(log.size) { log.pop }
p all.sort_by(&:inspect)
p all.index([:a, 1]) < all.index([:head, "h"]), all.index([:head, "h"]) < all.index([:a, 2])
