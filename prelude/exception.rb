# Exceptions: what they carry, and how they are shown. An exception's parts are
# hidden instance variables (@__message, @__backtrace, @__cause, ...).
module KumiSys
  # The text an uncaught exception ends the program with.
  def self.report(exc)
    s = begin
      exc.full_message(highlight: Exception.to_tty?)
    rescue Exception
      full_message(exc, false, :top, {})
    end
    s = to_s(s)
    s.end_with?("\n") ? s : s + "\n"
  end

  # Exception#full_message: the place, the message, the calls that led there, then the causes.
  def self.full_message(exc, highlight, order, opts)
    out = +""
    seen = []
    if order == :bottom
      out << (highlight ? "\e[1mTraceback\e[m" : "Traceback") << " (most recent call last):\n"
      chain = []
      e = exc
      while e && chain.none? { |x| __same(x, e) }
        chain.unshift(e)
        e = e.cause
      end
      chain.each { |x| report_one(x, highlight, true, opts, out) }
    else
      e = exc
      while e && seen.none? { |x| __same(x, e) }
        out << "\n" unless out.empty? || out.end_with?("\n")
        report_one(e, highlight, false, opts, out)
        seen << e
        e = e.cause
      end
    end
    out
  end

  def self.report_one(exc, highlight, reverse, opts, out)
    trace = exc.backtrace
    trace = nil unless __is_a(trace, Array)
    message = detailed_text(exc, highlight, opts)
    if reverse
      if trace && trace.size > 1
        width = (trace.size - 1).to_s.size
        i = trace.size - 1
        while i > 0
          out << "\t" << i.to_s.rjust(width) << ": from " << to_s(trace[i]) << "\n"
          i -= 1
        end
      end
    end
    if trace && !trace.empty?
      out << to_s(trace[0]) << ": "
    elsif trace.nil?
      row = __caller(0, 1)[0]
      out << row_text(row) << ": " if row
    end
    out << message
    out << "\n" unless out.end_with?("\n")
    return if reverse
    if trace && trace.size > 1
      i = 1
      # An endless recursion is shown by its head and its tail.
      long = __is_a(exc, SystemStackError) && trace.size > 18
      # --backtrace-limit
      limit = @__backtrace_limit
      limit = nil if limit && trace.size <= limit + 2
      while i < trace.size
        if limit && i > limit
          out << "\t ... #{trace.size - limit - 1} levels...\n"
          break
        end
        out << "\tfrom " << to_s(trace[i]) << "\n"
        if long && i == 8
          out << "\t ... #{trace.size - 13} levels...\n"
          i = trace.size - 5
        end
        i += 1
      end
    end
  end

  def self.detailed_text(exc, highlight, opts)
    s = nil
    if __builtin(exc, :detailed_message)
      s = exc.detailed_message(highlight: highlight)
    elsif __responds(exc, :detailed_message)
      s = try_str(exc.detailed_message(highlight: highlight, **opts))
    end
    return s unless __same(s, nil)
    decorate("", __class_name(__class(exc)), highlight, false)
  end

  # A message with its class behind the first line.
  def self.decorate(message, klass, highlight, unhandled)
    if message.empty?
      text = unhandled ? "unhandled exception" : klass
      return highlight ? "\e[1;4m#{text}\e[m" : text
    end
    return message if klass.start_with?("#<")
    nl = message.index("\n")
    first = nl ? message[0, nl] : message
    rest = nl ? message[nl + 1, message.size] : nil
    unless highlight
      return rest ? "#{first} (#{klass})\n#{rest}" : "#{first} (#{klass})"
    end
    s = +"\e[1m#{first} (\e[1;4m#{klass}\e[m\e[1m)\e[m"
    if rest
      lines = rest.split("\n", -1)
      lines.each { |line| s << "\n" << (line.empty? ? "" : "\e[1m#{line}\e[m") }
    end
    s
  end

  # One line for each suggestion.
  def self.did_you_mean(names)
    return nil if names.empty?
    "Did you mean?  #{names.join("\n               ")}"
  end

  def self.check_highlight(h)
    return h ? true : false if __same(h, nil) || __same(h, true) || __same(h, false)
    raise ArgumentError, "expected true or false as highlight: #{inspect(h)}"
  end

  def self.check_backtrace(bt)
    return nil if __same(bt, nil)
    return [bt] if __is_a(bt, String)
    if __is_a(bt, Array)
      return bt if bt.all? { |x| __is_a(x, String) }
      return bt if bt.all? { |x| __is_a(x, Thread::Backtrace::Location) }
    end
    raise TypeError, "backtrace must be an Array of String or an Array of Thread::Backtrace::Location"
  end
end

class Exception
  def self.exception(*args, **opts, &block)
    __hash_len(opts) == 0 ? new(*args, &block) : new(*args, **opts, &block)
  end

  def self.to_tty?
    $stderr.tty? ? true : false
  end

  def to_s
    text = KumiSys.try_str(@__message)
    __same(text, nil) ? KumiSys.to_s(@__message) : text
  end

  def message
    s = to_s
    __is_a(s, String) ? s : KumiSys.to_s(s)
  end

  def exception(message = __undef)
    return self if __undef?(message) || __same(message, self)
    e = clone
    __ivar_set(e, :@__message, message)
    e
  end

  def inspect
    name = __class_name(__class(self))
    s = KumiSys.to_s(self)
    return name if s.empty?
    return "#<#{name}: #{s.inspect}>" if s.include?("\n")
    "#<#{name}: #{s}>"
  end

  def ==(other)
    return true if __same(self, other)
    return false unless __same(__class(self), __class(other))
    message == other.message && backtrace == other.backtrace
  end

  def detailed_message(highlight: false, **opts)
    highlight = KumiSys.check_highlight(highlight)
    s = message
    s = __is_a(s, String) ? s : KumiSys.to_s(s)
    hint = KumiSys.suggestion(self)
    text = KumiSys.decorate(s, __class_name(__class(self)), highlight, __same(__class(self), RuntimeError))
    return text unless hint
    text.end_with?("\n") ? text + hint : "#{text}\n#{hint}"
  end

  def full_message(highlight: nil, order: :top, **opts)
    highlight = __same(highlight, nil) ? Exception.to_tty? : KumiSys.check_highlight(highlight)
    unless __same(order, nil) || order == :top || order == :bottom
      raise ArgumentError, "expected :top or :bottom as order: #{KumiSys.inspect(order)}"
    end
    KumiSys.full_message(self, highlight, order || :top, opts)
  end
end

module KumiSys
  # NoMethodError of an object whose class overrides `name`.
  def self.raise_missing(recv, mid, args, kind)
    klass = __is_a(recv, Module) ? recv : __class(recv)
    shown = klass.name || __class_name(klass)
    whom = if __is_a(recv, Class) then "class #{shown}"
           elsif __is_a(recv, Module) then "module #{shown}"
           elsif __singleton?(recv) then __describe(recv)
           else "an instance of #{shown}"
           end
    if kind == 1
      raise NameError.new("undefined local variable or method '#{mid}' for #{whom}", mid, receiver: recv)
    end
    message = case kind
              when 2 then "private method '#{mid}' called for #{whom}"
              when 3 then "protected method '#{mid}' called for #{whom}"
              when 4 then "super: no superclass method '#{mid}' for #{whom}"
              else "undefined method '#{mid}' for #{whom}"
              end
    raise NoMethodError.new(message, mid, args, receiver: recv)
  end

  # Suggestions for an exception that names something unknown; nil when there is nothing to say.
  def self.suggestion(exc)
    return nil unless __is_a(exc, NameError) || __is_a(exc, KeyError) || __is_a(exc, NoMatchingPatternKeyError)
    begin
      did_you_mean(corrections(exc))
    rescue StandardError
      nil
    end
  end

  def self.corrections(exc)
    if __is_a(exc, KeyError) || __is_a(exc, NoMatchingPatternKeyError)
      key = __ivar_raw(exc, :@__key)
      holder = __ivar_raw(exc, :@__receiver)
      return [] if __undef?(key) || __undef?(holder) || !__responds(holder, :keys)
      keys = holder.keys.select { |k| __is_a(k, Symbol) || __is_a(k, String) }
      return __spell(to_s(key), keys).map { |k| k.inspect }
    end
    name = exc.name
    return [] if __same(name, nil)
    receiver = __ivar_raw(exc, :@__receiver)
    return [] if __undef?(receiver)
    text = name.to_s
    if __is_a(exc, NoMethodError)
      return [] if __same(receiver, nil) && __spell(text, __method_list(NilClass, 5, 1)).empty?
      candidates = __method_list(__class_of(receiver), 5, 1)
      candidates += __method_list(__class_of(receiver), 2, 1) if __same(__ivar_get(exc, :@__private_call), true)
      return __spell(text, candidates).uniq
    end
    if text.start_with?("@@")
      mod = __is_a(receiver, Module) ? receiver : __class(receiver)
      return __spell(text, mod.class_variables)
    end
    return __spell(text, receiver.instance_variables) if text.start_with?("@")
    if text =~ /\A[A-Z]/
      mod = __is_a(receiver, Module) ? receiver : __class(receiver)
      near = __spell(text, mod.constants)
      outer = __spell(text, Object.constants)
      prefix = __same(mod, Object) ? "" : "#{__class_name(mod)}::"
      return (near.map { |n| "#{prefix}#{n}" } + outer.map { |n| n.to_s }).uniq
    end
    locals = __ivar_get(exc, :@__locals)
    candidates = __is_a(locals, Array) ? locals : []
    candidates += __method_list(__class_of(receiver), 7, 1)
    candidates += [:nil, :true, :false, :self, :__FILE__, :__LINE__, :__method__, :yield]
    found = __spell(text, candidates)
    ivars = __spell(text, receiver.instance_variables)
    (found + ivars).uniq
  end
end

module KumiSys
  # What an exception was given to carry along.
  def self.carried(exc, name, what)
    v = __ivar_raw(exc, name)
    raise ArgumentError, "no #{what} is available" if __undef?(v)
    v
  end
end

class NameError
  def initialize(message = nil, name = nil, receiver: __undef)
    super(message)
    @__name = name
    __ivar_set(self, :@__receiver, receiver) unless __undef?(receiver)
  end

  def name
    @__name
  end

  def receiver = KumiSys.carried(self, :@__receiver, "receiver")

  def local_variables
    @__locals || []
  end
end

class NoMethodError
  def initialize(message = nil, name = nil, args = [], priv = false, receiver: __undef)
    if __undef?(receiver)
      super(message, name)
    else
      super(message, name, receiver: receiver)
    end
    @__args = args
    @__private_call = priv ? true : false
  end

  def args
    @__args
  end

  def private_call?
    @__private_call ? true : false
  end
end

class KeyError
  def initialize(message = nil, receiver: __undef, key: __undef)
    super(message)
    __ivar_set(self, :@__receiver, receiver) unless __undef?(receiver)
    __ivar_set(self, :@__key, key) unless __undef?(key)
  end

  def receiver = KumiSys.carried(self, :@__receiver, "receiver")

  def key = KumiSys.carried(self, :@__key, "key")
end

class NoMatchingPatternKeyError
  def initialize(message = nil, matchee: __undef, key: __undef)
    super(message)
    __ivar_set(self, :@__receiver, matchee) unless __undef?(matchee)
    __ivar_set(self, :@__key, key) unless __undef?(key)
  end

  def matchee = KumiSys.carried(self, :@__receiver, "matchee")

  def key = KumiSys.carried(self, :@__key, "key")
end

class FrozenError
  def initialize(message = nil, receiver: __undef)
    super(message)
    __ivar_set(self, :@__receiver, receiver) unless __undef?(receiver)
  end

  def receiver = KumiSys.carried(self, :@__receiver, "receiver")
end

class StopIteration
  def result
    @__result
  end
end

class LocalJumpError
  def reason
    @__reason
  end

  def exit_value
    @__value
  end
end

class LoadError
  def path
    @path
  end
end

class SyntaxError
  def initialize(message = "compile error")
    super
  end

  def path
    @__path
  end
end

class UncaughtThrowError
  def initialize(tag, value = nil, message = nil, *args)
    super(message)
    @__tag = tag
    @__value = value
  end

  def tag
    @__tag
  end

  def value
    @__value
  end

  def to_s
    s = @__message
    __same(s, nil) ? "uncaught throw #{KumiSys.inspect(@__tag)}" : s % [@__tag]
  end
end

class SystemExit
  def initialize(status = __undef, message = __undef, *rest)
    KumiSys.arity_error(2 + rest.size, 0, 2) unless rest.empty?
    if __same(status, true) || __same(status, false) || __is_a(status, Integer)
      @__status = __is_a(status, Integer) ? status : (status ? 0 : 1)
      super(__undef?(message) ? nil : message)
    else
      KumiSys.arity_error(2, 0, 1) unless __undef?(message) || __undef?(status)
      @__status = 0
      super(__undef?(status) ? nil : status)
    end
  end

  def status
    @__status || 0
  end

  def success?
    status == 0
  end
end

class SignalException
  def initialize(signal = __undef, name = __undef)
    raise ArgumentError, "wrong number of arguments (given 0, expected 1..2)" if __undef?(signal)
    number = __is_a(signal, Integer) ? signal : KumiSys.try_int_of_signal(signal)
    if number
      raise ArgumentError, "invalid signal number (#{number})" if number < 0 || number > 64
      @__signo = number
      if __undef?(name)
        known = Signal.list.key(number)
        super(known ? "SIG#{known}" : "SIG#{number}")
      else
        super(KumiSys.to_str(name))
      end
    else
      KumiSys.arity_error(2, 1) unless __undef?(name)
      unless __is_a(signal, Symbol) || __is_a(signal, String)
        s = KumiSys.try_str(signal)
        raise ArgumentError, "bad signal type #{__describe_class(signal)}" if __same(s, nil)
        signal = s
      end
      short = signal.to_s
      short = short[3, short.size] if short.start_with?("SIG")
      number = Signal.list[short]
      raise ArgumentError, "unsupported signal 'SIG#{short}'" unless number
      @__signo = number
      super("SIG#{short}")
    end
  end

  def signo
    @__signo
  end

  def signm
    message
  end
end

class Interrupt
  def initialize(message = "Interrupt", *)
    super(2, message)
  end
end

module KumiSys
  def self.try_int_of_signal(x)
    return nil if __is_a(x, Symbol) || __is_a(x, String)
    try_int(x)
  end

  # Number that an Errno class stands for, nil for SystemCallError itself.
  def self.errno_of(klass)
    found = __const_find(klass, :Errno, true, false)
    found && found[1]
  end

  # "No such file or directory @ place - detail"
  def self.errno_message(number, detail, place)
    s = __same(number, nil) ? "unknown error" : __strerror(number)
    s = "#{s} @ #{to_s(place)}" unless __same(place, nil)
    s = "#{s} - #{to_str(detail)}" unless __same(detail, nil)
    s
  end
end

class SystemCallError
  def self.new(*args)
    return super unless __same(self, SystemCallError)
    KumiSys.arity_error(0, 1, 3) if __ary_len(args) == 0
    detail, number, place = args
    if __ary_len(args) == 1 && __is_a(detail, Integer)
      number = detail
      detail = nil
    end
    unless __same(number, nil)
      number = KumiSys.to_cint(number)
      c = __errno_class(number)
      if c
        e = __allocate(c)
        e.__send__(:initialize, detail, place)
        return e
      end
    end
    super(detail, number, place)
  end

  def self.===(exc)
    return true if super
    return false if __same(self, SystemCallError) || !__is_a(exc, SystemCallError)
    mine = KumiSys.errno_of(self)
    !__same(mine, nil) && exc.errno == mine
  end

  def initialize(*args)
    number = KumiSys.errno_of(__class(self))
    if number
      KumiSys.arity_error(__ary_len(args), 0, 2) if __ary_len(args) > 2
      detail, place = args
    else
      KumiSys.arity_error(__ary_len(args), 1, 3) if __ary_len(args) == 0 || __ary_len(args) > 3
      detail, number, place = args
    end
    @__errno = number
    super(KumiSys.errno_message(number, detail, place))
  end

  def errno
    @__errno
  end
end
