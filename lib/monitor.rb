# frozen_string_literal: true

# A lock that its owner may take again.
class Monitor
  def initialize
    @__mutex = Thread::Mutex.new
    @__owner = nil
    @__count = 0
  end

  def try_enter
    unless mon_owned?
      return false unless @__mutex.try_lock
      @__owner = Fiber.current
    end
    @__count += 1
    true
  end
  alias mon_try_enter try_enter
  alias try_mon_enter try_enter

  def enter
    unless mon_owned?
      @__mutex.lock
      @__owner = Fiber.current
      @__count = 0
    end
    @__count += 1
    nil
  end
  alias mon_enter enter

  def exit
    mon_check_owner
    @__count -= 1
    if @__count == 0
      @__owner = nil
      @__mutex.unlock
    end
    nil
  end
  alias mon_exit exit

  def synchronize
    enter
    begin
      yield
    ensure
      self.exit
    end
  end
  alias mon_synchronize synchronize

  def mon_locked? = @__mutex.locked?
  def mon_owned? = @__mutex.locked? && Fiber.current.equal?(@__owner)

  def mon_check_owner
    raise ThreadError, "current thread not owner" unless mon_owned?
    nil
  end

  def new_cond = MonitorMixin::ConditionVariable.new(self)

  # Gives the lock up while waiting on `cond`, then takes it back as often as it was held.
  def wait_for_cond(cond, timeout)
    count = @__count
    @__owner = nil
    @__count = 0
    begin
      cond.wait(@__mutex, timeout)
    ensure
      @__owner = Fiber.current
      @__count = count
    end
    true
  end
end

# Makes any object a monitor.
module MonitorMixin
  # A condition tied to a monitor.
  class ConditionVariable
    def initialize(monitor)
      @monitor = monitor
      @cond = Thread::ConditionVariable.new
    end

    def wait(timeout = nil)
      @monitor.mon_check_owner
      @monitor.wait_for_cond(@cond, timeout)
    end

    def wait_while
      wait while yield
    end

    def wait_until
      wait until yield
    end

    def signal
      @monitor.mon_check_owner
      @cond.signal
    end

    def broadcast
      @monitor.mon_check_owner
      @cond.broadcast
    end
  end

  def self.extend_object(obj)
    super(obj)
    obj.__send__(:mon_initialize)
  end

  def mon_try_enter = @mon_data.try_enter
  alias try_mon_enter mon_try_enter
  def mon_enter = @mon_data.enter
  def mon_exit = @mon_data.exit
  def mon_locked? = @mon_data.mon_locked?
  def mon_owned? = @mon_data.mon_owned?
  def mon_synchronize(&block) = @mon_data.synchronize(&block)
  alias synchronize mon_synchronize
  def new_cond = ::MonitorMixin::ConditionVariable.new(@mon_data)

  def initialize(...)
    super
    mon_initialize
  end

  def mon_initialize
    if defined?(@mon_data) && @mon_data_owner_object_id == object_id
      raise ThreadError, "already initialized"
    end
    @mon_data = ::Monitor.new
    @mon_data_owner_object_id = object_id
  end
end
