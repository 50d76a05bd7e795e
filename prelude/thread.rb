# Threads and thread groups over the scheduler's tasks.
class Thread
  def self.start(*args, **, &block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    t = __thread_alloc(self)
    KumiSys.thread_begin(t, block, args, **)
    t
  end

  class << self
    alias fork start
    attr_accessor :__report, :__abort
  end

  def initialize(*args, **, &block)
    Kernel.raise ThreadError, "must be called with a block" unless block
    KumiSys.thread_begin(self, block, args, **)
  end

  def self.current = __thread_current
  def self.main = __thread_main
  def self.list = KumiSys.ractors? ? KumiSys.ractor_threads(__current_ractor) : __threads

  def self.stop
    Kernel.raise ThreadError, "stopping only thread\n\tnote: use sleep to stop forever" if list.size < 2
    KumiSys.sleep_for(nil)
    nil
  end

  def self.exit = __thread_current.kill

  def self.kill(thread) = thread.kill

  def self.handle_interrupt(mask)
    raise ArgumentError, "block is needed." unless block_given?
    mask = KumiSys.to_hash(mask)
    outer = __thread_masks
    list = [outer]
    mask.each_pair do |klass, how|
      level = { immediate: 0, on_blocking: 1, never: 2 }[how]
      raise ArgumentError, "unknown mask signature" unless level
      list << klass << level
    end
    __thread_set_masks(list)
    begin
      (sent = __thread_check) && KumiSys.raise_sent(sent) if __thread_due
      yield
    ensure
      __thread_set_masks(outer)
      (sent = __thread_check) && KumiSys.raise_sent(sent) if __thread_due
    end
  end

  def self.pending_interrupt?(error = nil) = current.pending_interrupt?(error)

  def pending_interrupt?(error = nil)
    list = __thread_pending(self)
    return !list.empty? if error.nil?
    raise TypeError, "class or module required for rescue clause" unless __is_a(error, Module)
    list.any? { |e| __is_a(e, Array) ? e[0] <= error : error === e }
  end

  def self.report_on_exception = @__report.nil? ? true : @__report
  def self.report_on_exception=(v)
    @__report = v ? true : false
  end
  def self.ignore_deadlock = __ignore_deadlock(nil)
  def self.ignore_deadlock=(v)
    __ignore_deadlock(v ? true : false)
  end
  def self.abort_on_exception = @__abort ? true : false
  def self.abort_on_exception=(v)
    @__abort = v ? true : false
  end

  def report_on_exception = @__report_me.nil? ? Thread.report_on_exception : @__report_me
  def report_on_exception=(v)
    @__report_me = v ? true : false
  end
  def abort_on_exception = @__abort_me ? true : false
  def abort_on_exception=(v)
    @__abort_me = v ? true : false
  end

  # The native takes Integers and Floats; this is for the rest.
  def join(limit = nil)
    now = __now_ns
    deadline = KumiSys.deadline(limit)
    deadline ? join((deadline - now) / 1_000_000_000.0) : join
  end

  def value
    join
    __thread_result(self)
  end

  def alive? = !__same(__thread_state(self), :done)

  def stop?
    s = __thread_state(self)
    __same(s, :done) || __same(s, :sleep)
  end

  def status
    s = __thread_state(self)
    return __thread_failed(self) ? nil : false if __same(s, :done)
    return "sleep" if __same(s, :sleep)
    __thread_killed(self) ? "aborting" : "run"
  end

  def raise(*args, cause: (no_cause = true; nil), **opts)
    return nil unless alive?
    __thread_interrupt(self, KumiSys.exception_to_send(args, opts, cause, no_cause))
    nil
  end

  def kill
    return self if __thread_killed(self) || !alive?
    if __same(self, __thread_main)
      Kernel.exit if __same(self, __thread_current)
      __thread_interrupt(self, SystemExit.new(0))
    else
      __thread_kill_mark(self)
      __thread_interrupt(self, true)
    end
    self
  end
  alias exit kill
  alias terminate kill

  def wakeup
    Kernel.raise ThreadError, "killed thread" unless alive?
    __wake(self)
    self
  end

  def run
    wakeup
    Thread.pass
    self
  end

  def [](key)
    __task_locals(self)[KumiSys.to_name(key)]
  end

  def []=(key, value)
    Kernel.raise FrozenError.new("can't modify frozen thread locals", receiver: self) if frozen?
    l = __task_locals(self)
    key = KumiSys.to_name(key)
    value.nil? ? l.delete(key) : l[key] = value
    value
  end

  def key?(key) = __task_locals(self).key?(KumiSys.to_name(key))
  def keys = __task_locals(self).keys

  def fetch(key, default = __undef)
    key = KumiSys.to_name(key)
    l = __task_locals(self)
    if block_given?
      KumiSys.warning("block supersedes default value argument") unless __undef?(default)
      return l[key] if l.key?(key)
      return yield(key)
    end
    return l[key] if l.key?(key)
    return default unless __undef?(default)
    Kernel.raise KeyError.new("key not found: #{key.inspect}", receiver: self, key: key)
  end

  def thread_variable_get(key) = (@__vars || {})[KumiSys.to_name(key)]
  def thread_variable_set(key, value)
    Kernel.raise FrozenError.new("can't modify frozen thread locals", receiver: self) if frozen?
    vars = __ivar_init(self, :@__vars, {})
    key = KumiSys.to_name(key)
    value.nil? ? vars.delete(key) : vars[key] = value
    value
  end
  def thread_variable?(key) = (@__vars || {}).key?(KumiSys.to_name(key))
  def thread_variables = (@__vars || {}).keys

  def name = @__name
  def name=(n)
    unless n.nil?
      n = KumiSys.to_str(n)
      Kernel.raise ArgumentError, "ASCII-incompatible encoding (#{n.encoding})" unless n.encoding.ascii_compatible?
      Kernel.raise ArgumentError, "string contains null byte" if n.include?("\0")
    end
    @__name = n && n.dup.freeze
  end

  def priority = @__priority || 0
  def priority=(n)
    n = KumiSys.to_cint(n)
    __thread_speculative(self, n < 0)
    @__priority = n > 3 ? 3 : (n < -3 ? -3 : n)
  end

  def group
    __thread_group(self) || ThreadGroup::Default
  end

  # Threads run on any worker, so that only the main thread has an id that says something.
  def native_thread_id
    __same(self, __thread_main) ? Process.pid : nil
  end

  def backtrace(start = 0, length = nil)
    # Nil when it has ended, which it may do at any moment.
    rows = __thread_rows(self) or return nil
    rows = KumiSys.cut_rows(rows, start, length)
    rows && rows.map { |r| KumiSys.row_text(r) }
  end

  def backtrace_locations(start = 0, length = nil)
    # Nil when it has ended, which it may do at any moment.
    rows = __thread_rows(self) or return nil
    rows = KumiSys.cut_rows(rows, start, length)
    rows && rows.map { |r| KumiSys.location(r) }
  end

  def self.each_caller_location(start = 1, length = nil, **nil)
    raise LocalJumpError, "no block given" unless block_given?
    rows = KumiSys.caller_rows(start, length)
    rows.each { |r| yield KumiSys.location(r) } if rows
    nil
  end

  def set_trace_func(callable)
    raise TypeError, "trace_func needs to be Proc" unless __same(callable, nil) || __is_a(callable, Proc)
    @__trace_funcs&.each(&:disable)
    @__trace_funcs = nil
    add_trace_func(callable) unless __same(callable, nil)
    callable
  end

  def add_trace_func(callable)
    (@__trace_funcs ||= []) << KumiSys.trace_func(callable, self)
    callable
  end

  def inspect
    at = __thread_source(self)
    s = "#<#{__class(self)}:#{__address(self)}"
    s.force_encoding(Encoding::BINARY) unless @__name
    s << "@#{@__name}" if @__name
    s << " #{at[0]}:#{at[1]}" if at
    st = status
    s << " " << (st == false || st.nil? ? "dead" : st == "sleep" && __thread_waits_forever(self) ? "sleep_forever" : st) << ">"
  end
  alias to_s inspect
end

module KumiSys
  # Thread.new of a class with an initialize of its own, or without a block.
  def self.thread_new(klass, *args, **opts, &block)
    t = __thread_alloc(klass)
    t.__send__(:initialize, *args, **opts, &block)
    raise ThreadError, "uninitialized thread - check '#{klass}#initialize'" if __same(__thread_state(t), :new)
    t
  end

  def self.thread_begin(t, block, args, **opts)
    r = __current_ractor
    ractor_adopt(r, t) if r
    __thread_start(t, block, args, opts)
  end

  # A thread of the whole program, whoever happens to begin it: it ends with no Ractor.
  def self.thread_apart(name, &block)
    t = __thread_alloc(Thread)
    __thread_start(t, -> { __stand_alone; block.call }, [], {})
    t.name = name
    t
  end

  # A thread ends with an exception: said on standard error, and passed to the main thread if it asks for that.
  def self.thread_died(t, e)
    if __is_a(e, SystemExit)
      __thread_fatal(t)
    else
      __thread_fatal(t) if __ivar_get(t, :@__abort_me) || Thread.abort_on_exception || $DEBUG
      report_thread(t, e)
    end
  end

  def self.report_thread(t, e)
    return unless t.report_on_exception
    KumiSys.complain("#{t.inspect} terminated with exception (report_on_exception is true):\n#{e.full_message(highlight: false)}")
  end

  # The end of the program: the other threads are killed and run their ensure clauses.
  def self.end_threads
    me = __thread_current
    others = __threads
    return if others.size < 2
    others.each do |t|
      next if __same(t, me)
      __thread_kill_mark(t)
      __thread_interrupt(t, true)
    end
    others.each { |t| end_thread(t) unless __same(t, me) }
  end

  # What a thread that was killed at the end of the program failed with was reported already.
  def self.end_thread(t)
    t.join
  rescue SignalException
    raise if t.alive?
  rescue Exception
    nil
  end

  # All threads wait and nothing can end it: raised in the main thread. `list`: threads and the frames they are in.
  def self.deadlock(list)
    here = __address(__thread_current)
    text = "No live threads left. Deadlock?\n#{list.size} threads, #{list.size} sleeps " \
           "current:#{here} main thread:#{__address(__thread_main)}\n"
    list.each do |t, rows|
      at = __address(t)
      text << "* #{t.inspect.sub(/run>\z/, "sleep_forever>")}\n   rb_thread_t:#{at} native:#{at} int:0\n   "
      text << rows.map { |r| row_text(r) }.join("\n   ") << "\n"
    end
    e = Fatal.new(text)
    main = list.find { |t, _| __same(t, __thread_main) }
    e.set_backtrace(main[1].map { |r| row_text(r) }) if main
    __raise(e)
  end

  # A time limit in seconds as an absolute monotonic time, or nil.
  def self.deadline(limit)
    return nil if __same(limit, nil)
    unless __is_a(limit, Numeric)
      word = __describe_type(limit)
      raise TypeError, "no implicit conversion of #{word} into Float" if %w[String true false].include?(word)
      raise TypeError, "can't convert #{word} into Float"
    end
    limit = limit.to_f unless __is_a(limit, Integer) || __is_a(limit, Float)
    limit = 0 if limit < 0
    ns = limit * 1_000_000_000
    return nil if ns > 4_000_000_000_000_000_000
    __now_ns + ns.to_i
  end

  # The same for sleeping, where a negative time is an error.
  def self.sleep_deadline(limit)
    return nil if __same(limit, nil)
    deadline(time_interval(limit))
  end

  # Sleeps until the time is over or somebody wakes the thread.
  def self.sleep_for(limit)
    deadline = limit && deadline(limit)
    loop do
      woken = __park(deadline)
      return if woken
      return if deadline && __now_ns >= deadline
    end
  ensure
    __park_clear
  end
end

class ThreadGroup
  def add(thread)
    raise ThreadError, "can't move to the frozen thread group" if frozen?
    raise ThreadError, "can't move to the enclosed thread group" if @__enclosed
    old = thread.group
    return nil unless old
    raise ThreadError, "can't move from the frozen thread group" if old.frozen?
    raise ThreadError, "can't move from the enclosed thread group" if old.enclosed?
    __thread_set_group(thread, self)
    self
  end

  def list = Thread.list.select { |t| __same(t.group, self) }

  def enclose
    @__enclosed = true
    self
  end

  def enclosed? = @__enclosed ? true : false

  Default = new
end
