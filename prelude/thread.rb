# Threads, locks and queues over the loop's tasks. Waiting is always a loop around
# __park, which the waker ends; what is waited for is looked at again each time.
class Thread
  def self.new(*args, **opts, &block)
    t = __thread_alloc(self)
    t.__send__(:initialize, *args, **opts, &block)
    raise ThreadError, "uninitialized thread - check '#{self}#initialize'" unless __ivar_get(t, :@__started)
    t
  end

  def self.start(*args, &block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    t = __thread_alloc(self)
    KumiSys.thread_begin(t, args, block)
    t
  end

  class << self
    alias fork start
    attr_accessor :__report, :__abort
  end

  def initialize(*args, &block)
    raise ThreadError, "must be called with a block" unless block
    raise ThreadError, "already initialized thread" if @__started
    KumiSys.thread_begin(self, args, block)
  end

  def self.current = __thread_current
  def self.main = __thread_main
  def self.list = __threads
  def self.pass = __thread_pass

  def self.stop
    KumiSys.sleep_for(nil)
    nil
  end

  def self.exit
    __thread_interrupt(__thread_current, true)
  end

  def self.kill(thread) = thread.kill

  def self.handle_interrupt(mask)
    raise ArgumentError, "block is needed." unless block_given?
    raise ArgumentError, "unknown mask signature" unless __is_a(mask, Hash)
    level = 0
    mask.each_pair do |k, v|
      case v
      when :immediate then l = 0
      when :on_blocking then l = 1
      when :never then l = 2
      else raise ArgumentError, "unknown mask signature"
      end
      level = l
    end
    old = __thread_mask(level)
    begin
      yield
    ensure
      __thread_mask(old)
      __thread_pass if old == 0 && !__thread_pending(__thread_current).empty?
    end
  end

  def self.pending_interrupt?(error = nil) = current.pending_interrupt?(error)

  def pending_interrupt?(error = nil)
    list = __thread_pending(self)
    return !list.empty? if error.nil?
    raise TypeError, "class or module required for rescue clause" unless __is_a(error, Module)
    list.any? { |e| error === e }
  end

  def self.report_on_exception = @__report.nil? ? true : @__report
  def self.report_on_exception=(v)
    @__report = v ? true : false
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

  def join(limit = nil)
    raise ThreadError, "Target thread must not be current thread" if __same(self, __thread_current)
    raise ThreadError, "Target thread must not be main thread" if __same(self, __thread_main)
    deadline = KumiSys.deadline(limit)
    until @__done
      return nil if deadline && __now_ns >= deadline
      __park_join(deadline, self)
    end
    __raise(@__failed) if @__failed
    self
  end

  def value
    join
    @__result
  end

  def alive? = !@__done && !__same(__thread_state(self), :done)

  def stop? = @__done || __same(__thread_state(self), :sleep)

  def status
    if @__done || __same(__thread_state(self), :done)
      return @__failed ? nil : false
    end
    return "aborting" if @__killed
    __same(__thread_state(self), :sleep) ? "sleep" : "run"
  end

  def raise(*args, cause: (no_cause = true; nil), **opts)
    return nil unless alive?
    args = ["unhandled exception"] if args.empty? && opts.empty?
    e = KumiSys.make_exception(args, opts)
    KumiSys.set_cause(e, cause) unless no_cause
    __thread_interrupt(self, e)
    nil
  end

  def kill
    return self unless alive?
    if __same(self, __thread_main)
      Kernel.exit if __same(self, __thread_current)
      __thread_interrupt(self, SystemExit.new(0))
    else
      @__killed = true
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
    return l[key] if l.key?(key)
    return yield(key) if block_given?
    return default unless __undef?(default)
    Kernel.raise KeyError.new("key not found: #{key.inspect}", receiver: self, key: key)
  end

  def thread_variable_get(key) = (@__vars || {})[KumiSys.to_name(key)]
  def thread_variable_set(key, value)
    Kernel.raise FrozenError.new("can't modify frozen thread locals", receiver: self) if frozen?
    @__vars ||= {}
    key = KumiSys.to_name(key)
    value.nil? ? @__vars.delete(key) : @__vars[key] = value
    value
  end
  def thread_variable?(key) = (@__vars || {}).key?(KumiSys.to_name(key))
  def thread_variables = (@__vars || {}).keys

  def name = @__name
  def name=(n)
    unless n.nil?
      n = KumiSys.to_str(n)
      Kernel.raise ArgumentError, "ASCII-incompatible encoding (#{n.encoding})" unless n.encoding.ascii_compatible?
    end
    @__name = n && n.dup.freeze
  end

  def priority = @__priority || 0
  def priority=(n)
    n = KumiSys.to_int(n)
    @__priority = n > 3 ? 3 : (n < -3 ? -3 : n)
  end

  def group
    return nil unless alive?
    @__group || ThreadGroup::Default
  end

  def native_thread_id = Process.pid

  def backtrace(*args)
    return nil unless alive?
    __same(self, __thread_current) ? caller(0) : []
  end

  def backtrace_locations(*args)
    return nil unless alive?
    __same(self, __thread_current) ? caller_locations(0) : []
  end

  def self.each_caller_location(...)
    Kernel.raise LocalJumpError, "no block given" unless block_given?
    caller_locations(1).each { |l| yield l }
    nil
  end

  def set_trace_func(*) = nil
  def add_trace_func(*) = nil

  def inspect
    at = @__source
    s = "#<#{__class(self)}:#{__address(self)}"
    s << "@#{@__name}" if @__name
    s << " #{at[0]}:#{at[1]}" if at
    st = status
    s << " " << (st == false || st.nil? ? "dead" : st == "sleep" && !@__sleep_limited ? "sleep_forever" : st) << ">"
  end
  alias to_s inspect
end

module KumiSys
  def self.thread_begin(t, args, block)
    __ivar_set(t, :@__started, true)
    parent = __thread_current
    __ivar_set(t, :@__source, __proc_source(block))
    __ivar_set(t, :@__group, __ivar_get(parent, :@__group))
    g = __ivar_get(parent, :@__group)
    raise ThreadError, "can't start a new thread (frozen ThreadGroup)" if g && g.frozen?
    body = ->(*a) { thread_body(t, a, block) }
    inherited = __fiber_storage(__fiber_current)
    __thread_start(t, body, args)
    t
  end

  # What a thread's first task runs: the block, then the report of its death.
  def self.thread_body(t, args, block)
    block.call(*args)
  rescue Exception => e
    if __is_a(e, SystemExit)
      __ivar_set(t, :@__on_death, true)
    elsif __ivar_get(t, :@__abort_me) || Thread.abort_on_exception || $DEBUG
      __ivar_set(t, :@__on_death, true)
      report_thread(t, e)
    else
      report_thread(t, e)
    end
    __raise(e)
  end

  def self.report_thread(t, e)
    return unless t.report_on_exception
    $stderr.write("#{t.inspect} terminated with exception (report_on_exception is true):\n#{e.full_message(highlight: false)}")
  end

  # A time limit in seconds as an absolute monotonic time, or nil.
  def self.deadline(limit)
    return nil if limit.nil?
    unless __is_a(limit, Numeric)
      raise TypeError, "can't convert #{__describe_type(limit)} into Float" if __is_a(limit, String) || !__responds(limit, :to_f)
      limit = limit.to_f
    end
    limit = 0 if limit < 0
    ns = (limit * 1_000_000_000)
    return nil if ns > 4_000_000_000_000_000_000
    __now_ns + ns.to_i
  end

  # Sleeps until the time is over or somebody wakes the thread.
  def self.sleep_for(limit)
    deadline = limit && deadline(limit)
    me = __thread_current
    __ivar_set(me, :@__sleep_limited, deadline ? true : false)
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
    __ivar_set(thread, :@__group, self)
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

class Thread::Mutex
  def initialize
    @__owner = nil
    @__waiters = []
  end

  def lock
    me = __task_id
    raise ThreadError, "deadlock; recursive locking" if @__owner == me
    while @__owner
      @__waiters.push(me)
      begin
        # Another thread may have unlocked before it could see us wait.
        __park(nil) if @__owner
      ensure
        __park_clear
        @__waiters.delete(me)
      end
    end
    @__owner = me
    @__thread = __thread_current
    self
  end

  def try_lock
    return false if @__owner
    @__owner = __task_id
    @__thread = __thread_current
    true
  end

  def unlock
    raise ThreadError, "Attempt to unlock a mutex which is not locked" unless @__owner
    raise ThreadError, "Attempt to unlock a mutex which is locked by another thread/fiber" unless @__owner == __task_id
    @__owner = nil
    @__thread = nil
    w = @__waiters.first
    __wake_task(w) if w
    self
  end

  def locked?
    if @__owner && @__thread && !@__thread.alive?
      @__owner = nil
    end
    @__owner ? true : false
  end

  def owned? = @__owner == __task_id

  def synchronize
    raise ThreadError, "must be called with a block" unless block_given?
    lock
    begin
      yield
    ensure
      unlock if owned?
    end
  end

  def sleep(timeout = nil)
    deadline = KumiSys.deadline(timeout)
    unlock
    t0 = __now_ns
    begin
      woken = __park(deadline)
    ensure
      __park_clear
      lock
    end
    return nil if deadline && !woken
    ((__now_ns - t0) / 1_000_000_000.0).round
  end
end

class Thread::ConditionVariable
  def initialize
    @__waiters = []
  end

  def wait(mutex, timeout = nil)
    me = __task_id
    @__waiters.push(me)
    begin
      r = mutex.sleep(timeout)
    ensure
      @__waiters.delete(me)
    end
    timeout && r.nil? ? nil : self
  end

  def signal
    w = @__waiters.shift
    __wake_task(w) if w
    self
  end

  def broadcast
    all = @__waiters
    @__waiters = []
    all.each { |w| __wake_task(w) }
    self
  end

  def marshal_dump
    raise TypeError, "can't dump #{__class(self)}"
  end
end

class Thread::Queue
  def initialize(items = nil)
    @__items = []
    @__waiters = []
    @__closed = false
    unless items.nil?
      unless __is_a(items, Array)
        raise TypeError, "can't convert #{__describe_type(items)} into Array" unless __responds(items, :to_a)
        r = items.to_a
        unless __is_a(r, Array)
          raise TypeError, "can't convert #{__describe_type(items)} to Array (#{__describe_type(items)}#to_a gives #{__describe_class(r)})"
        end
        items = r
      end
      @__items.concat(items)
    end
  end

  def push(v)
    raise ClosedQueueError, "queue closed" if @__closed
    @__items.push(v)
    w = @__waiters.shift
    __wake_task(w) if w
    self
  end
  alias << push
  alias enq push

  def pop(non_block = false, timeout: nil)
    if non_block
      raise ArgumentError, "can't set a timeout if non_block is enabled" unless timeout.nil?
      raise ThreadError, "queue empty" if @__items.empty?
      return __taken(@__items.shift)
    end
    return __taken(@__items.shift) unless @__items.empty?
    deadline = KumiSys.deadline(timeout)
    me = __task_id
    while @__items.empty?
      return nil if @__closed
      return nil if deadline && __now_ns >= deadline
      @__waiters.push(me)
      begin
        __park(deadline) if @__items.empty? && !@__closed
      ensure
        __park_clear
        @__waiters.delete(me)
      end
    end
    __taken(@__items.shift)
  end
  alias shift pop
  alias deq pop

  def __taken(v) = v
  private :__taken

  def close
    unless @__closed
      @__closed = true
      @__waiters.each { |w| __wake_task(w) }
      @__waiters.clear
    end
    self
  end

  def closed? = @__closed
  def empty? = @__items.empty?
  def length = @__items.length
  alias size length
  def num_waiting = @__waiters.length

  def clear
    @__items.clear
    self
  end

  def freeze
    raise TypeError, "cannot freeze #{inspect}"
  end

  def marshal_dump
    raise TypeError, "can't dump #{__class(self)}"
  end
end

class Thread::SizedQueue
  def initialize(max)
    max = KumiSys.to_int(max)
    raise ArgumentError, "queue size must be positive" unless max > 0
    @__items = []
    @__waiters = []
    @__pushers = []
    @__closed = false
    @__max = max
  end

  def max = @__max

  def max=(n)
    n = KumiSys.to_int(n)
    raise ArgumentError, "queue size must be positive" unless n > 0
    @__max = n
    @__pushers.each { |w| __wake_task(w) }
  end

  def push(v, non_block = false, timeout: nil)
    raise ClosedQueueError, "queue closed" if @__closed
    if non_block
      raise ArgumentError, "can't set a timeout if non_block is enabled" unless timeout.nil?
      raise ThreadError, "queue full" if @__items.length >= @__max
    end
    deadline = KumiSys.deadline(timeout)
    me = __task_id
    while @__items.length >= @__max
      return nil if deadline && __now_ns >= deadline
      @__pushers.push(me)
      begin
        __park(deadline) if @__items.length >= @__max && !@__closed
      ensure
        __park_clear
        @__pushers.delete(me)
      end
      raise ClosedQueueError, "queue closed" if @__closed
    end
    @__items.push(v)
    w = @__waiters.shift
    __wake_task(w) if w
    self
  end
  alias << push
  alias enq push

  def __taken(v)
    w = @__pushers.shift
    __wake_task(w) if w
    v
  end
  private :__taken

  def close
    super
    @__pushers.each { |w| __wake_task(w) }
    self
  end

  def clear
    @__items.clear
    @__pushers.each { |w| __wake_task(w) }
    self
  end

  def num_waiting = @__waiters.length + @__pushers.length
end

Mutex = Thread::Mutex
Queue = Thread::Queue
SizedQueue = Thread::SizedQueue
ConditionVariable = Thread::ConditionVariable
