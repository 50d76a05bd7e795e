# Fibers of one thread under a fiber scheduler: one waits for its document, the others go on.
require "kumihimo/xml"

class Sched
  def initialize
    @ready = []
    @waiting = {}
    @io = {}
    @lock = Mutex.new
    @blocked = 0
    @urgent = IO.pipe
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def run
    until @ready.empty? && @waiting.empty? && @io.empty? && @blocked == 0
      t = @waiting.values.min
      timeout = @ready.empty? ? (t ? [t - now, 0].max : nil) : 0
      r, = IO.select(@io.keys + [@urgent[0]], nil, nil, timeout)
      if r&.include?(@urgent[0])
        @urgent[0].read_nonblock(100)
        r.delete(@urgent[0])
      end
      r&.each { |io| @io.delete(io).resume }
      list = @lock.synchronize { @ready.tap { @ready = [] } }
      list.each { |f| @waiting.delete(f); f.resume if f.alive? }
      n = now
      @waiting.select { |_, x| x <= n }.each { |f, _| @waiting.delete(f); f.resume }
    end
  end

  def close = run

  def block(_blocker, timeout = nil)
    f = Fiber.current
    timeout ? @waiting[f] = now + timeout : @blocked += 1
    Fiber.yield
    @blocked -= 1 unless timeout
    true
  end

  def unblock(_blocker, fiber)
    @lock.synchronize { @ready << fiber }
    @urgent[1].write(".")
  end

  def kernel_sleep(seconds = nil)
    @waiting[Fiber.current] = now + seconds
    Fiber.yield
  end

  def io_wait(io, events, _timeout)
    @io[io] = Fiber.current
    Fiber.yield
    events
  end

  def fiber(&) = Fiber.new(blocking: false, &).tap(&:resume)
  def fiber_interrupt(*) = nil
end

class Row < Kumihimo::XTree
  field :k, Integer
end
class Table < Kumihimo::XTree
  field :head
  list :rows, Row, element: "r"
end

log = Queue.new
Thread.new do
  Fiber.set_scheduler(Sched.new)
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
