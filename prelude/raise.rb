# Kernel#raise.
module KumiSys
  # The exception that raise with these arguments means.
  def self.make_exception(args, opts)
    raise_arity(args) if __ary_len(args) > 3
    what = args[0]
    if __is_a(what, String)
      raise TypeError, "exception class/object expected" if __ary_len(args) > 1
      return RuntimeError.new(what)
    end
    e = if __is_a(what, Exception) && __ary_len(args) == 1 && __hash_len(opts) == 0 && __builtin(what, :exception)
      what
    else
      unless __is_a(what, Exception) || __is_a(what, Class) || __responds(what, :exception)
        raise TypeError, "exception class/object expected"
      end
      raise TypeError, "exception class/object expected" unless what.respond_to?(:exception)
      if __ary_len(args) > 1
        __hash_len(opts) == 0 ? what.exception(args[1]) : what.exception(args[1], **opts)
      else
        __hash_len(opts) == 0 ? what.exception : what.exception(**opts)
      end
    end
    raise TypeError, "exception object expected" unless __is_a(e, Exception)
    e.set_backtrace(args[2]) if __ary_len(args) > 2 && !__same(args[2], nil)
    e
  end

  # The exception that Thread#raise and Fiber#raise with these arguments mean, with the caller's `$!` as its cause.
  def self.exception_to_send(args, opts, cause, no_cause)
    if __ary_len(args) == 0 && __hash_len(opts) == 0
      only_cause unless no_cause
      args = [""]
    end
    e = make_exception(args, opts)
    if no_cause
      # What the other one is just rescuing is no cause.
      now = __errinfo
      now = nil if now && (__same(now, e) || caused_by(now, e))
      __ivar_set(e, :@__cause, now) unless __ivar_get(e, :@__cause) || __frozen(e)
    else
      set_cause(e, cause)
    end
    e
  end

  def self.caused_by(e, what)
    e = e.cause while e && !__same(e, what)
    e ? true : false
  end

  # A thread got an exception whose class has an `exception` of its own.
  # A time limit sends a class and a message.
  def self.raise_sent(e)
    e = __is_a(e, Array) ? e[0].exception(e[1]) : e.exception
    raise TypeError, "exception object expected" unless __is_a(e, Exception)
    __raise(e)
  end

  def self.raise_arity(args)
    raise ArgumentError, "wrong number of arguments (given #{__ary_len(args)}, expected 0..3)"
  end

  def self.set_cause(e, cause)
    unless __same(cause, nil) || __is_a(cause, Exception)
      raise TypeError, "exception object expected"
    end
    return if __same(cause, e)
    # cause: nil does not take away what an exception that was raised before has.
    return if __same(cause, nil) && __ivar_get(e, :@__cause)
    c = cause
    while c
      raise ArgumentError, "circular causes" if __same(c, e)
      c = c.cause
    end
    __ivar_set(e, :@__cause, cause) unless __frozen(e)
  end
end

module Kernel
  def raise(*args, cause: (no_cause = true; nil), **opts)
    if __ary_len(args) == 0
      KumiSys.only_cause unless no_cause
      e = __errinfo
      __raise(e) if e && __hash_len(opts) == 0
      args = [""] if __hash_len(opts) == 0
    end
    e = KumiSys.make_exception(args, opts)
    KumiSys.set_cause(e, cause) unless no_cause
    __raise(e)
  end
  private :raise
  alias fail raise
end

module KumiSys
  def self.only_cause
    raise ArgumentError, "only cause is given with no arguments"
  end

  # Pattern matching that found nothing. why: a text whose %p stand for the values behind it, when there was only one pattern.
  def self.no_pattern(value, why)
    text = value.inspect
    if why
      shown = 0
      text = "#{text}: #{why[0].gsub("%p") { why[shown += 1].inspect }}"
    end
    raise NoMatchingPatternError, text
  end

  def self.no_pattern_key(value, key)
    raise NoMatchingPatternKeyError.new("#{value.inspect}: key not found: #{key.inspect}", matchee: value, key: key)
  end
end
