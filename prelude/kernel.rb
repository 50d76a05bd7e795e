# Object and Kernel: what every object can do beyond the leaves in
# crates/core/kernel, and the functions callable from anywhere.
module KumiSys
  # A shallow copy before initialize_copy: the layout's own copy, or an empty
  # instance with the instance variables of x.
  def self.copy(x)
    c = __copy(x)
    return c unless __undef?(c)
    c = __allocate(__class(x))
    __copy_ivars(x, c)
    c
  end

  # NameError of method and public_method.
  def self.undefined_method(x, name)
    raise NameError.new("undefined method '#{name}' for class '#{__class_name(__class_of(x))}'", name, receiver: x)
  end

  # #<Foo a=1>: instance variables and their values.
  def self.inspect_ivars(x, names)
    head = __any_to_s(x)
    recursing(:inspect, x) do
      s = +"#{head[0, head.size - 1]}"
      first = true
      names.each do |name|
        value = __ivar_raw(x, name)
        next if __undef?(value)
        s << (first ? " " : ", ") << name.to_s << "=" << inspect(value)
        first = false
      end
      s << ">"
    end || "#{head[0, head.size - 1]} ...>"
  end

  # Blocks of at_exit, oldest first.
  AT_EXIT = []
  def self.at_exit(block)
    AT_EXIT.push(block)
    block
  end

  # Runs what at_exit registered, youngest first, also what those blocks register.
  # `exc` is the exception that ends the program so far, or nil; the one that ends it now comes back.
  def self.run_at_exit(exc)
    begin
      run_exit_trap
    rescue Exception => e
      report_end(exc)
      exc = e
    end
    while block = AT_EXIT.pop
      begin
        exc ? call_under(exc, block) : block.call
      rescue SystemExit => e
        exc = e
      rescue Exception => e
        report_end(e)
        @__reported = e unless __is_a(e, SignalException)
        exc = e
      end
    end
    exc
  end

  # Calls the block while $! is exc.
  def self.call_under(exc, block)
    begin
      __raise(exc)
    rescue Exception
      block.call
    end
  end

  # Writes the report of an exception that ends the program, unless it is a plain exit or a signal.
  def self.report_end(exc)
    return if __same(exc, nil) || __is_a(exc, SystemExit) || __is_a(exc, SignalException)
    # What a switch asked for has no line that could be named.
    $stderr.write("kumi: ") if __ivar_get(exc, :@__by_switch) && exc.backtrace == []
    $stderr.write(report(exc))
  end

  # Says where an Interrupt came, if somebody reads: the program has been told to end, and waits for no reader.
  def self.report_interrupt(exc)
    return unless __is_a(exc, Interrupt)
    return if __is_a($stderr, IO) && !IO.select(nil, [$stderr], nil, 0.5)
    $stderr.write(report(exc))
  end

  # The end of the program: exit status, or minus the number of the signal it dies by.
  def self.finish(exc)
    begin
      __signal_poll
    rescue Exception => e
      # It came with the last instruction.
      exc = e
    end
    main = exc
    exc = end_scheduler(exc) if __responds(KumiSys, :end_scheduler)
    exc = run_at_exit(exc)
    begin
      end_threads
      finish_finalizers
      flush_streams
    rescue SignalException => e
      exc = e
    rescue Exception
      nil
    end
    return 0 if __same(exc, nil)
    return exc.status & 255 if __is_a(exc, SystemExit)
    if __is_a(exc, SignalException)
      report_interrupt(exc)
      return -exc.signo
    end
    report_end(main)
    report_end(exc) unless __same(exc, main) || __same(exc, @__reported)
    1
  end

  # What streams still hold goes out, however long others take to read it; a signal ends that. Writes that were
  # interrupted are not taken up again.
  def self.flush_streams
    begin
      $stdout.flush unless __is_a($stdout, IO)
    rescue SignalException
      raise
    rescue Exception
      nil
    end
    __unflushed.each do |io|
      io.__send__(:flush)
    rescue SignalException
      raise
    rescue Exception
      nil
    end
  end

  def self.exit_status(status)
    return 0 if __same(status, true)
    return 1 if __same(status, false)
    to_cint(status)
  end
end

class BasicObject
  def !=(other)
    !self.==(other)
  end
end

module Kernel
  def ===(other)
    __same(self, other) || (self == other) ? true : false
  end

  def !~(other)
    !(self =~ other)
  end

  def <=>(other)
    __same(self, other) || (self == other) ? 0 : nil
  end

  def inspect
    if !__builtin(self, :instance_variables_to_inspect) && __responds(self, :instance_variables_to_inspect)
      names = __send__(:instance_variables_to_inspect)
      if __same(names, nil)
        names = __ivar_names(self)
      elsif __is_a(names, Array)
        wanted = names
        names = __ivar_names(self).select { |n| wanted.include?(n) }
      else
        raise TypeError, "Expected #instance_variables_to_inspect to return an Array or nil, but it returned #{__describe_class(names)}"
      end
      return __any_to_s(self) if names.empty?
    else
      names = __ivar_names(self)
    end
    KumiSys.inspect_ivars(self, names)
  end

  def respond_to?(name, include_all = false)
    r = __method_vis(__class_of(self), KumiSys.to_name(name), true)
    return true if r == 1 || (r && include_all)
    r = __refined_vis(self, KumiSys.to_name(name))
    return true if r == 1 || (r && include_all)
    return false unless __responds(self, :respond_to_missing?)
    __send__(:respond_to_missing?, KumiSys.to_name(name), include_all ? true : false) ? true : false
  end

  def dup
    return self if __special?(self)
    c = KumiSys.copy(self)
    c.__send__(:initialize_dup, self)
    c
  end

  def clone(freeze: nil)
    unless __same(freeze, nil) || __same(freeze, true) || __same(freeze, false)
      raise ArgumentError, "unexpected value for freeze: #{__describe_class(freeze)}"
    end
    if __special?(self)
      raise ArgumentError, "can't unfreeze #{__describe_class(self)}" if __same(freeze, false)
      return self
    end
    c = KumiSys.copy(self)
    __copy_singleton(self, c)
    if __same(freeze, nil)
      c.__send__(:initialize_clone, self)
      __freeze(c) if __frozen(self)
    else
      c.__send__(:initialize_clone, self, freeze: freeze)
      __freeze(c) if freeze
    end
    c
  end

  def tap
    yield self
    self
  end

  def then
    return to_enum(__called) { 1 } unless block_given?
    yield self
  end

  alias yield_self then

  def display(port = $stdout)
    port.write(self)
    nil
  end

  def extend(*modules)
    KumiSys.arity_error(0, 1, nil) if modules.empty?
    modules.each do |m|
      unless __is_a(m, Module) && !__is_a(m, Class)
        raise TypeError, "wrong argument type #{__describe_class(m)} (expected Module)"
      end
      raise TypeError, "wrong argument type refinement (expected Module)" if __refined(m)
    end
    modules.reverse_each do |m|
      m.__send__(:extend_object, self)
      m.__send__(:extended, self)
    end
    self
  end

  def methods(regular = true)
    return singleton_methods(false) unless regular
    __method_list(__class_of(self), 5, 1)
  end

  def public_methods(all = true)
    __method_list(__class_of(self), 1, all ? 1 : 2)
  end

  def private_methods(all = true)
    __method_list(__class_of(self), 2, all ? 1 : 2)
  end

  def protected_methods(all = true)
    __method_list(__class_of(self), 4, all ? 1 : 2)
  end

  def singleton_methods(all = true)
    __singleton_list(self, all)
  end

  def method(name)
    name = KumiSys.to_name(name)
    m = __method_of(self, name, false)
    return m unless __same(m, nil)
    if !__builtin(self, :respond_to_missing?) && __responds(self, :respond_to_missing?) &&
       __send__(:respond_to_missing?, name, true)
      return __method_missing_of(self, name)
    end
    KumiSys.undefined_method(self, name)
  end

  def public_method(name)
    name = KumiSys.to_name(name)
    m = __method_of(self, name, true)
    return m unless __same(m, nil)
    if !__builtin(self, :respond_to_missing?) && __responds(self, :respond_to_missing?) &&
       __send__(:respond_to_missing?, name, false)
      return __method_missing_of(self, name)
    end
    KumiSys.undefined_method(self, name)
  end

  def singleton_method(name)
    name = KumiSys.to_name(name)
    m = __singleton_method_of(self, name)
    return m unless __same(m, nil)
    raise NameError.new("undefined singleton method '#{name}' for #{__describe(self)}", name, receiver: self)
  end

  def define_singleton_method(name, body = __undef, &block)
    c = singleton_class
    __undef?(body) ? c.__send__(:define_method, name, &block) : c.__send__(:define_method, name, body)
  end

  private

  def initialize_copy(orig)
    return self if __same(self, orig)
    __check_frozen(self)
    unless __same(__class(self), __class(orig))
      raise TypeError, "initialize_copy should take same class object"
    end
    self
  end

  def initialize_dup(orig)
    initialize_copy(orig)
  end

  def initialize_clone(orig, freeze: nil)
    unless __same(freeze, nil) || __same(freeze, true) || __same(freeze, false)
      raise ArgumentError, "unexpected value for freeze: #{__describe_class(freeze)}"
    end
    initialize_copy(orig)
  end
end

module Kernel
  module_function

  def loop
    return to_enum(:loop) { Float::INFINITY } unless block_given?
    begin
      while true
        yield
      end
    rescue StopIteration => e
      e.result
    end
  end

  def String(value)
    s = KumiSys.try_str(value)
    return s unless __same(s, nil)
    r = KumiSys.check_call(value, :to_s)
    raise TypeError, "can't convert #{__describe_type(value)} into String" if __undef?(r)
    return r if __is_a(r, String)
    KumiSys.bad_conversion(value, :String, :to_s, r)
  end

  def Array(value)
    a = KumiSys.try_ary(value)
    return a unless __same(a, nil)
    r = KumiSys.check_call(value, :to_a)
    return [value] if __undef?(r) || __same(r, nil)
    return r if __is_a(r, Array)
    KumiSys.bad_conversion(value, :Array, :to_a, r)
  end

  def Hash(value)
    return {} if __same(value, nil) || (__is_a(value, Array) && value.empty?)
    h = KumiSys.try_hash(value)
    return h unless __same(h, nil)
    raise TypeError, "can't convert #{__describe_type(value)} into Hash"
  end

  def global_variables
    __global_names
  end

  def trace_var(name, command = __undef, &block) = KumiSys.trace_var(name, command, block)
  def untrace_var(name, command = __undef) = KumiSys.untrace_var(name, command)

  def pp(*objects)
    require "pp"
    pp(*objects)
  end
  private :pp

  def set_trace_func(callable) = KumiSys.set_trace_func(callable)

  def syscall(*)
    raise NotImplementedError, "syscall() function is unimplemented on this machine"
  end

  def exit(status = true)
    unless __same(status, true) || __same(status, false)
      status = KumiSys.to_cint(status)
    end
    raise SystemExit.new(status, "exit")
  end

  def abort(message = __undef)
    if __undef?(message)
      e = $!
      $stderr.write(KumiSys.report(e)) if e
      raise SystemExit.new(1, "exit")
    end
    message = KumiSys.to_str(message)
    $stderr.puts(message)
    raise SystemExit.new(1, message)
  end

  def exit!(status = false)
    __exit_now(KumiSys.exit_status(status))
  end

  def at_exit(&block)
    raise ArgumentError, "called without a block" unless block
    KumiSys.at_exit(block)
  end

  def warn(*messages, uplevel: nil, category: nil)
    unless __same(category, nil)
      category = KumiSys.category(category)
      KumiSys.check_category(category)
    end
    unless __same(uplevel, nil)
      level = KumiSys.to_long(uplevel)
      raise ArgumentError, "negative level (#{level})" if level < 0
    end
    return nil if __same($VERBOSE, nil) || messages.empty?
    return nil if category && !Warning[category]
    text = +""
    KumiSys.warn_lines(messages, text)
    unless __same(uplevel, nil)
      row = __caller(level + 1, 1)[0]
      text = row ? "#{row[0]}:#{row[1]}: warning: #{text}" : "warning: #{text}"
    end
    if __same(self, Warning)
      KumiSys.complain(text)
    else
      KumiSys.emit_warning(text, category)
    end
    nil
  end
end

module KumiSys
  # Writes what nobody asked for. A full disk, or a reader that has gone, is no fault of the program's.
  def self.complain(text)
    $stderr.write(text)
  rescue SystemCallError
    raise unless STDERR.equal?($stderr)
  end

  # The lines puts would write.
  def self.warn_lines(list, out)
    list.each do |m|
      if __is_a(m, Array)
        warn_lines(m, out)
      else
        s = to_s(m)
        out << s
        out << "\n" unless s.end_with?("\n")
      end
    end
  end

  # Hands the text to Warning.warn, which users may have replaced by one without keywords.
  def self.emit_warning(text, category)
    if __builtin(Warning, :warn)
      complain(text)
    elsif __method_arity(Warning, :warn) == 1
      Warning.warn(text)
    else
      Warning.warn(text, category: category)
    end
  end

  # A warning category by to_sym, to_str.
  def self.category(x)
    return x if __is_a(x, Symbol)
    return x.to_sym if __is_a(x, String)
    convert(x, Symbol, :Symbol, :to_sym)
  end

  def self.check_category(name)
    raise ArgumentError, "unknown category: #{name}" if __same(__warning_get(name), nil)
    name
  end

  # A warning of the runtime itself, placed at the caller's line.
  # A global that has lost its meaning: says so, and is `value`.
  def self.ineffective(text, value)
    warning(text)
    value
  end

  def self.warning(message, category = nil)
    return if __same($VERBOSE, nil)
    return if category && !__warning_get(category)
    path = __frame_path
    text = path ? "#{path}:#{__frame_line}: warning: #{message}\n" : "warning: #{message}\n"
    emit_warning(text, category)
  end
end

module Warning
  extend Warning

  def warn(message, category: nil)
    unless __is_a(message, String)
      raise TypeError, "wrong argument type #{__describe_class(message)} (expected String)"
    end
    unless __same(category, nil)
      category = KumiSys.category(category)
      KumiSys.check_category(category)
      return nil unless Warning[category]
    end
    KumiSys.complain(message)
    nil
  end

  def self.[](category)
    unless __is_a(category, Symbol)
      raise TypeError, "wrong argument type #{__describe_class(category)} (expected Symbol)"
    end
    KumiSys.check_category(category)
    __warning_get(category)
  end

  def self.[]=(category, flag)
    unless __is_a(category, Symbol)
      raise TypeError, "wrong argument type #{__describe_class(category)} (expected Symbol)"
    end
    KumiSys.check_category(category)
    __warning_set(category, flag ? true : false)
  end

  def self.categories
    [:deprecated, :experimental, :performance, :strict_unused_block]
  end
end

# Methods of the main object, and of its copies that are self in files loaded with a module around them.
class KumiSys::Main
  def to_s
    "main"
  end

  def inspect
    "main"
  end

  private

  def public(*names)
    KumiSys.top_module(self).__send__(:public, *names)
  end

  def private(*names)
    KumiSys.top_module(self).__send__(:private, *names)
  end

  def include(*modules)
    KumiSys.top_module(self).include(*modules)
  end

  def ruby2_keywords(*names)
    Object.__send__(:ruby2_keywords, *names)
  end

  def using(mod)
    refusal = "main.using is permitted only at toplevel"
    raise RuntimeError, refusal if __frame_nesting.size > (__same(self, __main_object) ? 0 : 1)
    KumiSys.using(mod, refusal)
    self
  end

  def define_method(name, body = __undef, &block)
    __undef?(body) ? Object.define_method(name, &block) : Object.define_method(name, body)
    Object.__send__(:public, name)
    KumiSys.to_name(name)
  end
end
