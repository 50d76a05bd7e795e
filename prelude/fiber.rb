# Fibers over the loop's tasks.
class Fiber
  def self.new(blocking: false, storage: true, &block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    f = __fiber_new(self, block)
    __ivar_set(f, :@__blocking, blocking)
    if __same(storage, true)
      inherited = __fiber_storage(__fiber_current)
      __fiber_set_storage(f, inherited && inherited.dup)
    else
      KumiSys.check_storage(storage)
      __fiber_set_storage(f, storage && storage.dup)
    end
    f.__send__(:initialize, blocking: blocking, storage: storage, &block)
    f
  end

  def initialize(blocking: false, storage: true)
  end

  def self.current = __fiber_current

  def transfer(*args)
    __fiber_switch(self, args, 1)
  end

  def raise(*args, cause: (no_cause = true; nil), **opts)
    args = ["unhandled exception"] if args.empty? && opts.empty?
    e = KumiSys.make_exception(args, opts)
    KumiSys.set_cause(e, cause) unless no_cause
    return __raise(e) if __same(self, __fiber_current)
    case __fiber_state(self)
    when :created
      Kernel.raise FiberError, "cannot raise exception on unborn fiber"
    when :terminated
      Kernel.raise FiberError, "dead fiber called"
    end
    __fiber_switch(self, e, @__transferred ? 1 : 0)
  end

  def kill
    __fiber_kill(self)
    self
  end

  def alive? = !__same(__fiber_state(self), :terminated)

  def blocking? = @__blocking ? true : false

  def self.blocking?
    f = __fiber_current
    f.blocking? || __ivar_get(f, :@__blocking).nil? ? 1 : false
  end

  def self.blocking
    yield __fiber_current
  end

  def storage
    raise ArgumentError, "Fiber storage can only be accessed from the Fiber it belongs to" unless __same(self, __fiber_current)
    s = __fiber_storage(self)
    s && s.dup
  end

  def storage=(hash)
    Kernel.raise ArgumentError, "Fiber storage can only be accessed from the Fiber it belongs to" unless __same(self, __fiber_current)
    KumiSys.check_storage(hash)
    __fiber_set_storage(self, hash && hash.dup)
  end

  def self.[](key)
    raise TypeError, "wrong argument type #{__describe_class(key)} (expected Symbol)" unless __is_a(key, Symbol)
    s = __fiber_storage(__fiber_current)
    s && s[key]
  end

  def self.[]=(key, value)
    raise TypeError, "wrong argument type #{__describe_class(key)} (expected Symbol)" unless __is_a(key, Symbol)
    f = __fiber_current
    s = __fiber_storage(f)
    __fiber_set_storage(f, s = {}) unless s
    value.nil? ? s.delete(key) : s[key] = value
    value
  end

  def inspect
    "#<#{__class(self)}:#{__address(self)} (#{__fiber_state(self)})>"
  end
  alias to_s inspect

  def backtrace(*) = []
  def backtrace_locations(*) = []
end

module KumiSys
  def self.check_storage(s)
    return if s.nil?
    raise TypeError, "wrong argument type #{__describe_class(s)} (expected Hash)" unless __is_a(s, Hash)
    raise FrozenError, "storage must not be frozen" if s.frozen?
    s.each_key do |k|
      raise TypeError, "wrong argument type #{__describe_class(k)} (expected Symbol)" unless __is_a(k, Symbol)
    end
  end
end
