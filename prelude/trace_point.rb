# TracePoint, and what came before it. What happens, and to whom it is told, is the loop's affair (`trace` in the runtime);
# here stand the objects and what their blocks may ask.

module KumiSys
  # The loop calls this when something happens that an enabled TracePoint listens to.
  def self.trace
    while (pair = __trace_next)
      block, point = pair
      block.call(point)
    end
    nil
  end

  # The loop changes to its traced form, or back, where a method begins.
  def self.change_loop = nil

  TRACE_FUNC_EVENTS = {
    line: "line", c_call: "c-call", c_return: "c-return", call: "call", return: "return", class: "class", end: "end", raise: "raise"
  }.freeze

  # A TracePoint that tells an old trace function of what happens, enabled for one thread or for all (nil).
  def self.trace_func(f, thread)
    raise TypeError, "trace_func needs to be Proc" unless __is_a(f, Proc)
    point = TracePoint.new(*TRACE_FUNC_EVENTS.keys) do |t|
      method, _, owner = __trace_method
      path, line = __trace_place
      f.call(TRACE_FUNC_EVENTS[__trace_event], path, line, method, __trace_binding, owner || false)
    end
    point.enable(target_thread: thread)
    point
  end

  # `set_trace_func`: instead of the one before; nil: none.
  def self.set_trace_func(f)
    raise TypeError, "trace_func needs to be Proc" unless __same(f, nil) || __is_a(f, Proc)
    @trace_func.disable if @trace_func
    @trace_func = nil
    @trace_func = trace_func(f, nil) unless __same(f, nil)
    f
  end
end

class TracePoint
  def self.trace(*events, &block)
    point = new(*events, &block)
    point.enable
    point
  end

  def self.stat
    all, aimed = __trace_stat
    { enabled: all, targeted: aimed }
  end

  def self.allow_reentry
    raise ArgumentError, "no block given" unless block_given?
    raise RuntimeError, "No need to allow reentrance." unless __trace_told
    __trace_open(true)
    KumiSys.change_loop
    begin
      yield
    ensure
      __trace_open(false)
    end
  end

  def initialize(*events, &block)
    mask = 0
    events.each do |e|
      name = e.respond_to?(:to_sym) ? e.to_sym : nil
      raise TypeError, "wrong argument type #{__class(e)} (expected symbol)" unless ::Symbol === name
      bits = __trace_mask(name)
      raise ArgumentError, "unknown event: #{name}" if __same(bits, nil)
      mask |= bits
    end
    raise ArgumentError, "must be called with a block" unless block
    @__mask = events.empty? ? 0x7fff : mask
    @__block = block
  end

  def enable(target: nil, target_line: nil, target_thread: (no_thread = true; nil), &block)
    was = __trace_state(self)
    target_line = KumiSys.to_long(target_line) unless __same(target_line, nil)
    if !__same(target_line, nil)
      raise ArgumentError, "only target_line is specified" if __same(target, nil)
      raise ArgumentError, "target_line is specified, but line event is not specified" if @__mask & 1 == 0
    end
    unless __same(target_thread, nil) || ::Thread === target_thread
      raise TypeError, "wrong argument type #{__class(target_thread)} (expected VM/thread)"
    end
    if was && (!__same(target, nil) || was[1])
      raise ArgumentError, "can't nest-enable a targeting TracePoint"
    end
    if no_thread && block && __same(target, nil)
      target_thread = ::Thread.current
    end
    before = was ? @__with : nil
    unless was && __same(target, nil) && !block
      with = [target_thread, target, target_line]
      case __trace_enable(self, @__block, @__mask, with[0], with[1], with[2])
      when :unsupported then raise ArgumentError, "specified target is not supported"
      when :nothing then raise ArgumentError, "can not enable any hooks"
      end
      @__with = with
    end
    KumiSys.change_loop
    return was ? true : false unless block
    begin
      block.call
    ensure
      if before
        @__with = before
        __trace_enable(self, @__block, @__mask, before[0], before[1], before[2])
      else
        __trace_disable(self)
      end
      KumiSys.change_loop
    end
  end

  def disable(&block)
    was = __trace_state(self)
    unless block
      __trace_disable(self)
      KumiSys.change_loop
      return was ? true : false
    end
    raise ArgumentError, "can't disable a targeting TracePoint in a block" if was && was[1]
    __trace_disable(self)
    KumiSys.change_loop
    begin
      block.call
    ensure
      __trace_enable(self, @__block, @__mask, @__with[0], @__with[1], @__with[2]) if was
      KumiSys.change_loop
    end
  end

  def enabled? = __trace_state(self) ? true : false

  def event = __trace_event
  def path = __trace_place[0]
  def lineno = __trace_place[1]
  def method_id = __trace_method[0]
  def callee_id = __trace_method[1]
  def defined_class = __trace_method[2]
  def self = __trace_self
  def binding = __trace_binding
  def return_value = __trace_value(0)
  def raised_exception = __trace_value(1)
  def eval_script = __trace_value(2)
  def parameters = __trace_parameters

  def inspect
    return enabled? ? "#<TracePoint:enabled>" : "#<TracePoint:disabled>" unless __trace_told
    event = __trace_event
    path, line = __trace_place
    case event
    when :line then "#<TracePoint:line #{path}:#{line}>"
    when :call, :c_call, :return, :c_return then "#<TracePoint:#{event} '#{__trace_method[0]}' #{path}:#{line}>"
    when :thread_begin, :thread_end then "#<TracePoint:#{event} #{::Thread.current.inspect}>"
    else "#<TracePoint:#{event} #{path}:#{line}>"
    end
  end
end
