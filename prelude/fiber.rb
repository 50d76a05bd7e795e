# Fibers over the scheduler's tasks: see crates/vm/src/fiber.rs for how they hand over to each other.
class Fiber
  def self.new(blocking: false, storage: true, &block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    f = __fiber_new(self, block)
    __fiber_blocking(f, true) if blocking
    unless __same(storage, true)
      KumiSys.check_storage(storage)
      __fiber_set_storage(f, storage && storage.dup)
    end
    f.__send__(:initialize, blocking: blocking, storage: storage, &block)
    f
  end

  def initialize(blocking: false, storage: true)
  end

  def self.current = __fiber_current

  def raise(*args, cause: (no_cause = true; nil), **opts)
    __fiber_raise(self, KumiSys.exception_to_send(args, opts, cause, no_cause))
  end

  def kill
    __fiber_kill(self)
    self
  end

  def alive? = !__same(__fiber_state(self), :terminated)

  # A thread's first fiber blocks its thread; others only when they were made so.
  def blocking? = __fiber_blocking(self, nil)

  def self.blocking?
    __fiber_blocking(__fiber_current, nil) ? 1 : false
  end

  def self.blocking
    f = __fiber_current
    return yield(f) if __fiber_blocking(f, nil)
    __fiber_blocking(f, true)
    begin
      yield f
    ensure
      __fiber_blocking(f, false)
    end
  end

  # The storage Hash is never changed in place: fibers and threads made later share it.
  def storage
    KumiSys.own_storage(self)
    s = __task_storage
    s && s.dup
  end

  def storage=(hash)
    KumiSys.own_storage(self)
    KumiSys.check_storage(hash)
    __task_set_storage(hash && hash.dup)
  end

  def self.[](key)
    s = __task_storage
    key = KumiSys.storage_key(key)
    s && s[key]
  end

  def self.[]=(key, value)
    key = KumiSys.storage_key(key)
    s = __task_storage
    s = s ? s.dup : {}
    __same(value, nil) ? s.delete(key) : s[key] = value
    __task_set_storage(s)
    value
  end

  def inspect
    at = __fiber_source(self)
    "#<#{__class(self)}:#{__address(self)}#{at && " #{at[0]}:#{at[1]}"} (#{__fiber_state(self)})>"
  end
  alias to_s inspect

  def backtrace(start = 0, length = nil)
    rows = __fiber_rows(self)
    rows &&= KumiSys.cut_rows(rows, start, length)
    rows && rows.map { |r| KumiSys.row_text(r) }
  end

  def backtrace_locations(start = 0, length = nil)
    rows = __fiber_rows(self)
    rows &&= KumiSys.cut_rows(rows, start, length)
    rows && rows.map { |r| KumiSys.location(r) }
  end
end

module KumiSys
  def self.own_storage(fiber)
    return if __same(fiber, __fiber_current)
    raise ArgumentError, "Fiber storage can only be accessed from the Fiber it belongs to"
  end

  def self.storage_key(key)
    return key if __is_a(key, Symbol)
    name = try_str(key)
    raise TypeError, "wrong argument type #{__describe_class(key)} (expected Symbol)" unless name
    name.to_sym
  end

  def self.check_storage(s)
    return if __same(s, nil)
    raise TypeError, "wrong argument type #{__describe_class(s)} (expected Hash)" unless __is_a(s, Hash)
    raise FrozenError, "storage must not be frozen" if s.frozen?
    s.each_key do |k|
      raise TypeError, "wrong argument type #{__describe_class(k)} (expected Symbol)" unless __is_a(k, Symbol)
    end
  end
end
