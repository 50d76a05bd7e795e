# A fiber scheduler as a program would write one, for tests of what goes through its hooks: sleep, queues, locks, pipes, joins.
class Scheduler
  def initialize
    @ready = [] # fibers that were unblocked, also by other threads
    @waiting = {} # the time at which each fiber is to go on
    @io = {} # the fiber that waits for each descriptor
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
