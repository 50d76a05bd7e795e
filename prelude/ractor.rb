# Ractors: threads that share nothing but what can never change. Other objects are copied, or moved
# away from their sender. What is shareable is decided in crates/vm/src/tasks/share.rs, what a Ractor's code
# may not touch in ractor.rs beside it.
class Ractor
  class Error < StandardError
  end

  # Code of a Ractor touched what only the main one may.
  class IsolationError < Error
  end

  # The Ractor ended with an exception, which is the cause of this one.
  class RemoteError < Error
    attr_reader :ractor

    def initialize(message = nil, ractor: nil)
      super(message)
      @ractor = ractor
    end
  end

  class MovedError < Error
  end

  class UnsafeError < Error
  end

  class ClosedError < StopIteration
  end

  # What an object becomes when it is moved to another Ractor.
  class MovedObject < BasicObject
    def method_missing(*)
      ::Kernel.raise(MovedError, "can not send any methods to a moved object")
    end

    def ==(*) = method_missing
    def !(*) = method_missing
    def !=(*) = method_missing
    def __send__(*) = method_missing
    def __id__(*) = method_missing
    def instance_eval(*) = method_missing
    def instance_exec(*) = method_missing
    def equal?(*) = method_missing
  end

  # Where messages arrive. Everybody may send; only the Ractor that made it receives.
  class Port
    def initialize
      @__owner = Ractor.current
      @__id = KumiSys.next_port_id
      @__items = KumiSys.port_items
      @__closed = false
    end

    def send(message, move: false)
      KumiSys.port_send(self, message, move)
      self
    end
    alias << send

    def receive
      KumiSys.port_owner(self)
      message = __port_take(@__items)
      raise ClosedError, "The port was already closed" if __undef?(message)
      message
    end

    def close
      unless __same(@__owner, Ractor.current)
        raise Ractor::Error, "closing port by other ractors is not allowed"
      end
      KumiSys.port_close(self)
    end

    def closed?
      @__closed || __same(__ivar_get(@__owner, :@__status), :terminated)
    end

    def initialize_copy(other)
      raise TypeError, "can't copy #{__describe_class(other)}"
    end

    def inspect = "#<Ractor::Port to:\##{__ivar_get(@__owner, :@__id)} id:#{@__id}>"
    alias to_s inspect
  end

  def self.new(*args, name: nil, &block)
    raise ArgumentError, "must be called with a block" unless block
    unless __same(name, nil)
      name = KumiSys.to_str(name)
      unless name.encoding.ascii_compatible?
        raise ArgumentError, "ASCII incompatible encoding (#{name.encoding})"
      end
      name = name.dup.freeze
    end
    KumiSys.isolate_block(block)
    if __ractors_begin
      KumiSys.warning("Ractor API is experimental and may change in future versions of Ruby.", :experimental)
    end
    args = args.map { |a| KumiSys.ractor_message(a, false) }
    KumiSys.ractor_start(__allocate(self), args, name, block)
  end

  def self.current = __current_ractor || KumiSys.main_ractor
  def self.main = KumiSys.main_ractor
  def self.main? = __same(__current_ractor, nil)
  def self.count = KumiSys::RACTOR_LOCK.synchronize { KumiSys::RACTOR_COUNTS[2] } + 1

  def self.receive = current.default_port.receive

  # The first of several ports that has a message, with it; a Ractor counts when it ends, with its value.
  def self.select(*ports)
    raise ArgumentError, "specify at least one Ractor::Port or Ractor" if ports.empty?
    ends = {}.compare_by_identity
    list = ports.map do |x|
      if __is_a(x, Port)
        KumiSys.port_owner(x)
        x
      elsif __is_a(x, Ractor)
        port = Port.new
        ends[port] = x
        x.monitor(port)
        port
      else
        raise ArgumentError, "should be Ractor::Port or Ractor"
      end
    end
    begin
      port, message = KumiSys.port_wait(list)
      ends.key?(port) ? [ends[port], ends[port].value] : [port, message]
    ensure
      ends.each do |p, r|
        r.unmonitor(p)
        KumiSys.port_close(p)
      end
    end
  end

  def self.[](key) = current[key]
  def self.[]=(key, value)
    current[key] = value
  end

  def self.store_if_absent(key)
    KumiSys.ractor_key(key)
    KumiSys.ractor_sync(current) do |r|
      locals = __ivar_get(r, :@__locals)
      key = key.to_sym
      locals.key?(key) ? locals[key] : locals[key] = yield(nil)
    end
  end

  def self.shareable?(object) = __shareable(object)

  def self.make_shareable(object, copy: false)
    return object if __shareable(object)
    object = KumiSys.ractor_copy(object, {}.compare_by_identity, false) if copy
    KumiSys.make_shareable(object)
  end

  def self.shareable_proc(**options, &block)
    raise ArgumentError, "must be called with a block" unless block
    KumiSys.shareable_block(block, KumiSys.option_self(options), false)
  end

  def self.shareable_lambda(**options, &block)
    raise ArgumentError, "must be called with a block" unless block
    KumiSys.shareable_block(block, KumiSys.option_self(options), true)
  end

  def default_port = @__port
  def name = @__name

  def send(message, move: false)
    KumiSys.port_send(@__port, message, move)
    self
  end
  alias << send

  def close = default_port.close

  def join
    port = Port.new
    monitor(port)
    begin
      KumiSys.ractor_value(self) if __same(port.receive, :aborted)
    ensure
      unmonitor(port)
      KumiSys.port_close(port)
    end
    self
  end

  def value
    join
    KumiSys.ractor_value(self)
  end

  # Has `:exited` or `:aborted` sent to a port when the Ractor ends. False when it has ended already.
  def monitor(port)
    ended = KumiSys.ractor_sync(self) do
      @__monitors << port unless @__how
      @__how
    end
    return true unless ended
    KumiSys.port_put(port, ended)
    false
  end

  def unmonitor(port)
    KumiSys.ractor_sync(self) { @__monitors.reject! { |p| __same(p, port) } }
    self
  end

  def [](key)
    KumiSys.own_ractor(self)
    KumiSys.ractor_key(key)
    @__locals[key.to_sym]
  end

  def []=(key, value)
    KumiSys.own_ractor(self)
    KumiSys.ractor_key(key)
    @__locals[key.to_sym] = value
  end

  def inspect
    "#<Ractor:##{@__id}#{@__place && " #{@__place}"}#{@__name && " #{@__name}"} #{KumiSys.ractor_status(self)}>"
  end
  alias to_s inspect

  private

  def receive = default_port.receive
  alias recv receive

  class << self
    alias recv receive
    undef_method :allocate
  end
end

module KumiSys
  RACTOR_LOCK = Thread::Mutex.new
  # The last Ractor's number, the last port's, and how many Ractors run, the main one not among them.
  RACTOR_COUNTS = [1, 0, 0]
  MAIN_RACTOR = []
  MAIN_LOCK = Thread::Mutex.new

  def self.main_ractor
    @__main_ractor || __ivar_init(self, :@__main_ractor, ractor_setup(__allocate(Ractor), 1, nil, nil))
  end

  def self.next_port_id = RACTOR_LOCK.synchronize { RACTOR_COUNTS[1] += 1 }

  def self.ractor_setup(r, id, name, place)
    __ivar_set(r, :@__id, id)
    __ivar_set(r, :@__name, name)
    __ivar_set(r, :@__place, place)
    __ivar_set(r, :@__status, :running)
    __ivar_set(r, :@__locals, {})
    __ivar_set(r, :@__monitors, [])
    __ivar_set(r, :@__lock, Monitor.new)
    __ivar_set(r, :@__selecting, 0)
    __ivar_set(r, :@__arrived, Thread::ConditionVariable.new)
    port = __allocate(Ractor::Port)
    __ivar_set(port, :@__owner, r)
    __ivar_set(port, :@__id, next_port_id)
    __ivar_set(port, :@__items, port_items)
    __ivar_set(port, :@__closed, false)
    __ivar_set(r, :@__port, port)
    r
  end

  def self.ractor_start(r, args, name, block)
    at = __proc_source(block)
    id = RACTOR_LOCK.synchronize { RACTOR_COUNTS[0] += 1 }
    ractor_setup(r, id, name, at && "#{at[0]}:#{at[1]}")
    thread = __thread_alloc(Thread)
    __ivar_set(thread, :@__ractor, r)
    __ivar_set(r, :@__thread, thread)
    RACTOR_LOCK.synchronize { RACTOR_COUNTS[2] += 1 }
    begin
      __thread_start(thread, ->(*given) { KumiSys.ractor_main(*given) }, [r, args, block], {})
    rescue ThreadError, NoMemoryError
      RACTOR_LOCK.synchronize { RACTOR_COUNTS[2] -= 1 }
      raise
    end
    __ivar_set(thread, :@__source, at)
    r
  end

  # What the first thread of a Ractor runs.
  def self.ractor_main(r, args, block)
    __isolate
    how = :exited
    begin
      __ivar_set(r, :@__value, r.instance_exec(*args, &block))
    rescue Exception => e
      how = :aborted
      __ivar_set(r, :@__error, e)
      report_thread(__thread_current, e)
    ensure
      ractor_end(r, how)
    end
    nil
  end

  # Have there been any?
  def self.ractors? = RACTOR_COUNTS[0] > 1

  # Threads of a Ractor, nil: of the main one.
  def self.ractor_threads(r) = __threads.select { |t| __same(__ivar_get(t, :@__ractor), r) }

  # A thread that begins is one of the Ractor `r`, and ends with it. Those that have ended are forgotten when the list has doubled.
  def self.ractor_adopt(r, t)
    __ivar_set(t, :@__ractor, r)
    ractor_sync(r) do
      list = __ivar_get(r, :@__threads)
      if list.nil? || __ary_len(list) >= __ivar_get(r, :@__sift_at)
        list = (list || []).select { |x| x.alive? }
        __ivar_set(r, :@__threads, list)
        __ivar_set(r, :@__sift_at, __ary_len(list) * 2 + 8)
      end
      __ary_push(list, t)
    end
  end

  def self.ractor_end(r, how)
    ractor_sync(r) { __ivar_get(r, :@__threads) }&.each { |t| t.kill }
    ports = ractor_sync(r) do
      __ivar_set(r, :@__how, how)
      __ivar_set(r, :@__status, :terminated)
      __ivar_get(r, :@__monitors).dup
    end
    RACTOR_LOCK.synchronize { RACTOR_COUNTS[2] -= 1 }
    ports.each { |p| port_put(p, how) }
  end

  def self.ractor_sync(r)
    lock = __ivar_get(r, :@__lock)
    __mon_enter(lock)
    begin
      yield r
    ensure
      __mon_exit(lock)
    end
  end

  def self.ractor_value(r)
    me = Ractor.current
    owner = ractor_sync(r) { __ivar_get(r, :@__successor) || __ivar_set(r, :@__successor, me) }
    raise Ractor::Error, "Only the successor ractor can take a value" unless __same(owner, me)
    error = __ivar_get(r, :@__error)
    return __ivar_get(r, :@__value) unless error
    e = Ractor::RemoteError.new("thrown by remote Ractor.", ractor: r)
    __ivar_set(e, :@__cause, error)
    __raise(e)
  end

  def self.ractor_status(r)
    status = __ivar_get(r, :@__status)
    return status.to_s unless __same(status, :running)
    t = __ivar_get(r, :@__thread)
    t && __same(__thread_state(t), :sleep) ? "blocking" : "running"
  end

  def self.own_ractor(r)
    return if __same(r, Ractor.current)
    raise "Cannot get ractor local storage for non-current ractor"
  end

  def self.ractor_key(key)
    return if __is_a(key, Symbol) || __is_a(key, String)
    raise TypeError, "#{inspect(key)} is not a symbol nor a string"
  end

  # --- ports ---------------------------------------------------------------------------

  def self.port_owner(port)
    return if __same(__ivar_get(port, :@__owner), Ractor.current)
    raise Ractor::Error, "only allowed from the creator Ractor of this port"
  end

  # A port's messages: a Queue of its own, which is closed with it. Who waits for one port waits in its queue; who waits for several says
  # so (`@__selecting`) before it looks at them, and is told by whoever has put a message after that.
  def self.port_items
    items = __allocate(Thread::Queue)
    __queue_fill(items, nil)
    items
  end

  def self.port_send(port, message, move)
    raise Ractor::ClosedError, "The port was already closed" if port.closed?
    message = ractor_message(message, move) unless __shareable(message)
    raise Ractor::ClosedError, "The port was already closed" unless port_put(port, message)
  end

  # False when the port is closed.
  def self.port_put(port, message)
    r = __ivar_get(port, :@__owner)
    return false if __same(__ivar_get(r, :@__status), :terminated) || !__port_put(__ivar_get(port, :@__items), message)
    ractor_arrived(r) unless __same(__ivar_get(r, :@__selecting), 0)
    true
  end

  def self.ractor_arrived(r) = ractor_sync(r) { __ivar_get(r, :@__arrived).broadcast }

  def self.port_close(port)
    r = __ivar_get(port, :@__owner)
    ractor_sync(r) do
      was = __ivar_get(port, :@__closed)
      __ivar_set(port, :@__closed, true)
      __port_close(__ivar_get(port, :@__items))
      __ivar_get(r, :@__arrived).broadcast
      was
    end
  end

  # The first port of several, all of the running Ractor, that has a message: [port, message].
  def self.port_wait(ports)
    r = Ractor.current
    lock = __ivar_get(r, :@__lock)
    arrived = __ivar_get(r, :@__arrived)
    ractor_sync(r) do
      __ivar_set(r, :@__selecting, __ivar_get(r, :@__selecting) + 1)
      begin
        # No `loop`: it would end with the error, which is a StopIteration.
        while true
          ports.each do |p|
            message = __port_poll(__ivar_get(p, :@__items))
            return [p, message] unless __undef?(message)
          end
          if ports.all? { |p| p.closed? }
            raise Ractor::ClosedError, "The port was already closed"
          end
          lock.wait_for_cond(arrived, nil)
        end
      ensure
        __ivar_set(r, :@__selecting, __ivar_get(r, :@__selecting) - 1)
      end
    end
  end

  # --- messages -------------------------------------------------------------------------

  def self.ractor_message(object, move)
    return object if __shareable(object)
    ractor_copy(object, {}.compare_by_identity, move)
  end

  # A copy down to what is shareable. Moving leaves objects behind that answer nothing.
  def self.ractor_copy(object, done, move)
    new = ractor_copied(object, done, move)
    done.each { |old, _| __become_moved(old) } if move
    new
  end

  def self.ractor_copied(x, done, move)
    return x if __shareable(x)
    return done[x] if done.key?(x)
    if __is_a(x, Proc) || __is_a(x, Thread) || __is_a(x, Method) || __is_a(x, UnboundMethod) || __is_a(x, Binding) ||
       __is_a(x, Fiber) || __is_a(x, Thread::Mutex) || __is_a(x, Thread::Queue) || __is_a(x, Thread::ConditionVariable) ||
       __is_a(x, Monitor)
      raise Ractor::Error, "can not move #{__class(x)} object." if move
      raise TypeError, "allocator undefined for #{__class(x)}"
    end
    return done[x] = __move_root(x) if move && __is_a(x, IO)
    frozen = __frozen(x)
    new = __copy(x)
    if __undef?(new)
      new = x.clone(freeze: false)
    else
      __copy_singleton(x, new)
    end
    done[x] = new
    ractor_copy_parts(new, done, move)
    new.freeze if frozen
    new
  end

  def self.ractor_copy_parts(new, done, move)
    if __is_a(new, Array)
      i = 0
      while i < new.size
        new[i] = ractor_copied(new[i], done, move)
        i += 1
      end
    elsif __is_a(new, Hash)
      pairs = new.to_a
      new.clear
      pairs.each { |k, v| new[ractor_copied(k, done, move)] = ractor_copied(v, done, move) }
    elsif __is_a(new, Struct)
      i = 0
      while i < new.size
        new[i] = ractor_copied(new[i], done, move)
        i += 1
      end
    end
    __ivars_hidden(new).each do |name|
      v = __ivar_raw(new, name)
      __ivar_set(new, name, ractor_copied(v, done, move)) unless __undef?(v) || __shareable(v)
    end
  end

  # Classes of the library whose objects stay open to change though they are frozen.
  UNSHAREABLE = [Argf]

  # Freezes an object and all it refers to, or raises and has frozen nothing. What is for Ruby to make shareable (Procs, and
  # objects with a `freeze` of their own) comes first, then all is looked at anew.
  def self.make_shareable(x)
    while (own = __share(x))
      own.each do |y|
        next shareable_proc_in_place(y) if __is_a(y, Proc)
        y.freeze
        raise Ractor::Error, "#freeze does not freeze object correctly" unless __frozen(y)
      end
    end
    x
  end

  def self.raise_not_shareable(part)
    raise Ractor::Error, "can not make shareable object for #{inspect(part)}"
  end

  # `self:` cannot be a parameter's name.
  def self.option_self(options)
    unknown = options.keys - [:self]
    raise ArgumentError, "unknown keyword: #{inspect(unknown[0])}" unless unknown.empty?
    options[:self]
  end

  # --- blocks ---------------------------------------------------------------------------

  # Refuses a block that takes variables from around it.
  def self.isolate_block(block)
    outer = __proc_outer(block)
    return unless outer
    names = outer[0] | outer[1]
    return if names.empty? && !outer[2]
    if names.empty?
      raise ArgumentError, "can not isolate a Proc because it uses 'yield'."
    end
    raise ArgumentError, "can not isolate a Proc because it accesses outer variables (#{names.join(", ")})#{outer[2] ? " and uses 'yield'" : ""}."
  end

  def self.shareable_block(block, me, as_lambda)
    unless __shareable(me)
      raise Ractor::IsolationError, "self should be shareable: #{inspect(me)}"
    end
    check_shareable_block(block)
    __proc_detach(block, me, as_lambda)
  end

  def self.shareable_proc_in_place(block)
    # Of a native, or of a method: what it holds cannot be looked into.
    raise Ractor::Error, "can not make shareable object for #{inspect(block)}" unless __proc_outer(block)
    me = block.binding.receiver
    unless __shareable(me)
      raise Ractor::IsolationError, "Proc's self is not shareable: #{inspect(block)}"
    end
    check_shareable_block(block)
    __proc_share(block)
  end

  def self.check_shareable_block(block)
    outer = __proc_outer(block)
    return unless outer
    unless outer[1].empty?
      raise Ractor::IsolationError, "cannot make a shareable Proc because the outer variable '#{outer[1][0]}' may be reassigned."
    end
    raise Ractor::IsolationError, "can not make a Proc shareable because it uses 'yield'." if outer[2]
    outer[0].each do |name|
      v = __proc_outer_value(block, name)
      next if __undef?(v) || __shareable(v)
      raise Ractor::IsolationError, "cannot make a shareable Proc because it can refer unshareable object #{inspect(v)} from variable '#{name}'"
    end
  end
end
