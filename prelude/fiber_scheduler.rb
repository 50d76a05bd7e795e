# Fiber schedulers: what a thread's non-blocking fibers wait for goes through the hooks of an object
# of the user's making. A native that would park asks `cx.hooked()` and calls one of the helpers here.
class Fiber
  # The running thread's scheduler; nil or another one closes the one before.
  def self.set_scheduler(scheduler)
    unless __same(scheduler, nil)
      %i[block unblock kernel_sleep io_wait].each do |name|
        raise ArgumentError, "Scheduler must implement ##{name}" unless scheduler.respond_to?(name)
      end
      unless scheduler.respond_to?(:fiber_interrupt)
        KumiSys.warning("Scheduler should implement #fiber_interrupt")
      end
    end
    KumiSys.close_scheduler
    __ivar_set(__thread_current, :@__scheduler, scheduler)
    __set_scheduled(__same(scheduler, nil) ? false : true)
    scheduler
  end

  def self.scheduler = __ivar_get(__thread_current, :@__scheduler)

  def self.current_scheduler
    s = scheduler
    s && !__fiber_current.blocking? ? s : nil
  end

  def self.schedule(...)
    s = scheduler
    raise RuntimeError, "No scheduler is available!" unless s
    s.fiber(...)
  end
end

module KumiSys
  # Runs what the thread's scheduler still has to do, and takes it away.
  def self.close_scheduler
    me = __thread_current
    s = __ivar_get(me, :@__scheduler)
    return if __same(s, nil)
    begin
      if s.respond_to?(:scheduler_close)
        s.scheduler_close
      elsif s.respond_to?(:close)
        s.close
      end
    ensure
      __ivar_set(me, :@__scheduler, nil)
      __set_scheduled(false)
    end
  end

  # The same at the end of the program: the exception that ends it now comes back.
  def self.end_scheduler(exc)
    close_scheduler
    exc
  rescue Exception => e
    report_end(exc)
    e
  end

  # A helper thread waits in the fiber's place and has it unblocked: the result of its block, or the
  # exception that ended it. `release` is called when the helper waits.
  def self.hooked_wait(blocker, timeout = nil, release = nil)
    s = Fiber.scheduler
    fiber = __fiber_current
    box = []
    thread = Thread.new do
      begin
        box << yield
      rescue Exception => e
        box << e
      end
      s.unblock(blocker, fiber)
    end
    begin
      if release
        Thread.pass until thread.stop?
        release.call
      end
      if timeout
        s.block(blocker, timeout) if box.empty?
      else
        s.block(blocker, nil) while box.empty? && thread.alive?
      end
    ensure
      __thread_interrupt(thread, true)
      Fiber.blocking { thread.join }
    end
    box[0]
  end

  def self.seconds_left(deadline)
    return nil if __same(deadline, nil)
    left = deadline - __now_ns
    left < 0 ? 0.0 : left / 1e9
  end

  def self.hooked_result(r)
    __is_a(r, ClosedQueueError) ? __raise(r) : r
  end

  def self.hooked_sleep(duration)
    t0 = __now_ns
    __same(duration, nil) ? Fiber.scheduler.kernel_sleep : Fiber.scheduler.kernel_sleep(duration)
    ((__now_ns - t0) / 1_000_000_000.0).round
  end

  def self.hooked_lock(mutex)
    hooked_wait(mutex) do
      __mutex_lock(mutex)
      __mutex_unlock(mutex)
    end
    __mutex_lock(mutex)
    mutex
  end

  def self.hooked_enter(monitor)
    hooked_wait(monitor) do
      __mon_enter(monitor)
      __mon_exit(monitor)
    end
    __mon_enter(monitor)
    nil
  end

  def self.hooked_relock(lock, count)
    hooked_wait(lock) do
      if __is_a(lock, Monitor)
        __mon_enter(lock)
        __mon_exit(lock)
      else
        __mutex_lock(lock)
        __mutex_unlock(lock)
      end
    end
    __mutex_relock(lock, count)
  end

  def self.hooked_pop(queue, deadline)
    hooked_result(hooked_wait(queue, seconds_left(deadline)) { __queue_pop(queue, deadline) })
  end

  def self.hooked_take(items)
    box = hooked_wait(items) do
      message = __port_take(items)
      __undef?(message) ? nil : [message]
    end
    raise Ractor::ClosedError, "The port was already closed" unless box
    __is_a(box, Exception) ? __raise(box) : box[0]
  end

  def self.hooked_push(queue, value, deadline)
    hooked_result(hooked_wait(queue, seconds_left(deadline)) { __queue_push(queue, value, deadline) })
  end

  def self.hooked_join(thread, limit)
    hooked_wait(thread, limit) { thread.join(limit) }
    return nil if limit && thread.alive?
    Fiber.blocking { thread.join }
  end

  # Frees a lock and waits for a signal of `cv` (nil: to be woken), or for the time to be over.
  def self.hooked_release(cv, lock, deadline)
    release = lambda do
      if __is_a(lock, Monitor)
        __mon_count(lock).times { __mon_exit(lock) }
      else
        __mutex_unlock(lock)
      end
    end
    unless cv
      release.call
      return Fiber.scheduler.block(lock, seconds_left(deadline)) ? true : false
    end
    hooked_wait(cv, seconds_left(deadline), release) do
      mine = Thread::Mutex.new
      mine.lock
      __cv_wait(cv, mine, deadline)
    end
  end

  # A native would wait for a descriptor: the scheduler does, then it is called again.
  def self.hooked_io(fd, events, timeout, method, recv, args, block)
    hooked_io_wait(fd, events, timeout, recv)
    __call_native(method, recv, args, nil, block)
  end

  # Of several descriptors: those to read from, those to write to, and when the time is over. No hook waits for those.
  def self.hooked_io_wait(fd, events, timeout, recv = nil)
    if __is_a(fd, Array)
      hooked_wait(fd) { __select(fd, events, [], timeout) }
      return nil
    end
    io = __is_a(recv, IO) && recv.fileno == fd ? recv : IO.for_fd(fd, autoclose: false)
    Fiber.scheduler.io_wait(io, events, timeout)
    nil
  end
end
