# frozen_string_literal: true

module Kumihimo
  module Segments
    class << self
      # The manager of a node by its name: this node's own, or the proxy of another's, with the same calls.
      def [](name)
        name = name.to_s
        return local if cluster? && name == node
        (@managers ||= {})[name] ||= RemoteManager.__send__(:new, name)
      end

      # The proxy by which a group asks.
      def grouped(name) = (@grouped ||= {})[name] ||= RemoteManager.__send__(:new, name, true)

      # Makes this program a node. `listen:` and `join:` are addresses, or lists of them: "127.0.0.1:7000", "unix:/run/east.sock".
      # certificate:, key:, authority: are paths of PEM files: then nodes prove to each other who they are. Without them a node
      # listens on loopback and Unix sockets only, unless `insecure: true` says otherwise. public: the address that others are told.
      # allow: what other nodes may do here, [{ node: "west*", keys: "job.*", calls: [:put, :take] }, ..]; none: everything.
      # gc_schedule: when this node collects, such as "synchronised"; all nodes should have the same (docs/SCHEDULES.md).
      # hand_over: names of the nodes that a group's keys stand on, such as "node*": keys of this node move with their group (see `drain`).
      # A node that joins is one of the others when this returns. Where none was reached for two seconds it says so and returns; the
      # node goes on trying. wait: false returns at once.
      def listen(name, listen: [], join: [], certificate: nil, key: nil, authority: nil, insecure: false, public: nil, hand_over: nil,
                 allow: [], gc_schedule: nil, wait: true)
        given = [certificate, key, authority].compact.size
        raise ArgumentError, "certificate:, key: and authority: belong together" unless given.zero? || given == 3
        raise Error, "this program was a node and was drained: nothing begins here any more" if Leaving.begun?
        raise Error, "this program is a node already" if cluster? && !@left
        __seg_rules(allow.map { |rule| [*rule.values_at(:node, :keys).map(&:to_s), Array(rule[:calls]).join(",")] })
        __seg_link(name.to_s, Array(listen), Array(join), insecure, certificate, key, authority, public)
        @node = name.to_s.dup.freeze
        @left = false
        others = Array(join) - Array(listen) - [address]
        @joins = !others.empty?
        @certificates = given == 3 ? [certificate, key, authority].map(&:to_s) : nil
        @managers = {}
        @grouped = {}
        collect_by(gc_schedule)
        leave_at_exit
        serve("segments' encoder") { loop { __seg_encoder or Kumihimo::Remote } }
        serve("segments' members") { Members.watch }
        Leaving.follow(hand_over) if hand_over
        @on_listen&.each(&:call)
        reach(others) if wait && @joins
        self
      end

      # Seconds in which one of the addresses is to answer.
      REACHED = 2
      private_constant :REACHED

      # Waits for the first member. Whoever answers names all that it knows.
      def reach(addresses)
        ends = KumiSys.deadline(REACHED * __seg_patience)
        until nodes.size > 1
          return none_reached(addresses) if KumiSys.deadline(0) > ends
          sleep 0.005
        end
      rescue NotConnected
        # It is out of the cluster already, and has said why.
      end

      def none_reached(addresses)
        failed = __seg_refused
        return Log.always("not joined yet", tried: addresses.join(", "), why: failed.join("; "), so: "it goes on trying") if Log.set?
        failed = failed.empty? ? "" : " (#{failed.join("; ")})"
        warn "kumi: node #{node} has reached none of #{addresses.join(", ")} so far#{failed}: it goes on trying"
      end
      private :reach, :none_reached

      # A schedule's name that the environment says is named at the start where there is none of it.
      def collect_by(schedule)
        given = schedule || ENV["KUMI_GC_SCHEDULE"]
        __gc_schedule_start(given.to_s, !schedule.nil?) unless given.to_s.empty?
      rescue ArgumentError
        leave
        raise
      end
      private :collect_by

      # Something is to be done now, where this program is a node, and whenever it becomes one.
      def on_listen(&block)
        (@on_listen ||= []) << block
        block.call if cluster?
      end
      private :on_listen

      # Reads the certificate, its key and the authority again: connections that are made from now on use them. Those that stand go on.
      # Raises LinkError where they can't be used; then the old ones stay.
      def reload_certificates
        raise LinkError, "this node was started without certificates: there is nothing to read" unless @certificates
        certificate, key, authority = @certificates
        __seg_certificates(certificate, key, authority)
        self
      end

      # Says goodbye to the others.
      def leave
        @left = true if cluster?
        @node = nil
        @managers = {}
        @grouped = {}
        __gc_schedule_stop
        __seg_unlink
      end

      # A thread as long as this program is a node.
      def serve(name)
        KumiSys.thread_apart(name) do
          yield
        rescue NotConnected
          # It has left.
        end
      end
      private :serve

      # The child of a fork is no node.
      def __forked
        @node = nil
        @managers = {}
        @grouped = {}
        Apart.__forked
      end

      # A node that ends says goodbye, so that nobody has to find out. A forked child is no node.
      def leave_at_exit
        return if @leaves
        @leaves = node = Process.pid
        at_exit do
          next unless cluster? && Process.pid == node
          # Threads that wait for others end with the program, and whatever they hear now is nobody's affair.
          Thread.abort_on_exception = false
          (Thread.list - [Thread.current]).each { |thread| thread.report_on_exception = thread.abort_on_exception = false }
          leave
        end
      end
      private :leave_at_exit

      # Is this program a node?
      def cluster? = !__same(@node, nil)

      # Whose is what `from:` and `on:` name? nil: this node's own; a node's name; a store.
      def owner_of(given)
        case given
        when nil, Manager then nil
        when RemoteManager then given.node
        when StoreManager then given
        when String, Symbol then given.to_s
        when Group then raise ArgumentError, "the keys of the group #{given.name} are on several nodes: say on which, by node_of(key)"
        else raise TypeError, "an owner is a node's name or a store, not #{given.inspect}"
        end
      end

      # Is it another's? To a program that is no node every name is its own.
      def away?(owner)
        return false if __same(owner, nil)
        owner.is_a?(StoreManager) || cluster? && owner != @node
      end

      # The manager of an owner.
      def manager_of(owner) = owner.is_a?(StoreManager) ? owner : self[owner]

      # This node's name; nil where the program is no node.
      def node = @node

      # Where others reach this node.
      def address = __seg_address

      # The names of all members, this node's first.
      def nodes = __seg_nodes

      # Waits until there are so many members.
      def wait_for_nodes(count, timeout: 30)
        deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + timeout
        until (all = nodes).size >= count
          if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
            failed = __seg_refused
            failed = failed.empty? ? "" : "; connections that failed: #{failed.join("; ")}"
            raise TimeoutError, "#{all.size} of #{count} nodes within #{timeout} s: #{all.join(", ")}#{failed}"
          end
          sleep 0.01 * __seg_patience
        end
        all
      end

      # Another member was there.
      def __has_joined = @joins = false

      # The block is called with the name of each node that joins, or leaves, from now on.
      def on_join(&block) = Members.add(:join, block)
      def on_leave(&block) = Members.add(:leave, block)

      # The first of these nodes that does not collect about now, as far as they have said so (docs/SCHEDULES.md); where all do, the first.
      def prefer(nodes = self.nodes) = nodes.find { |node| node == @node || !collecting?(node) } || nodes.first

      # Is a node about to collect, or does it just now, as far as it has said so? Requests that others can answer had better wait for it.
      def collecting?(node = self.node) = __gc_avoid(node.to_s)

      # Keys spread over members: each has its node by rendezvous hashing. `nodes:` are names, or a prefix of names.
      def group(name, nodes: nil) = Group.new(name, nodes)
    end

    # What is told of members.
    module Members
      @blocks = { join: [], leave: [] }
      @lock = Mutex.new

      def self.add(change, block)
        raise ArgumentError, "a block is needed" unless block
        @lock.synchronize { @blocks[change] += [block] }
        Segments
      end

      def self.watch
        loop do
          change, name = __seg_news
          if change == :refused
            Log.info("refused", why: name)
            next
          end
          change == :conflict ? Log.error("conflict", member: name) : Log.info(change.name, member: name)
          if change == :conflict
            warn "kumi: another node is called #{name}: this one is out of the cluster. Give each node a name of its own."
            next
          end
          Segments.__has_joined if change == :join
          @blocks[change].each do |block|
            block.call(name)
          rescue StandardError, ScriptError => error
            warn "#{error.full_message(highlight: $stderr.tty?)}"
          end
        end
      end
    end
    private_constant :Members

    # The proxy of an owner that is not this node: another node, or a store. Values are encoded and travel; what is taken is a copy.
    # Every call may also raise NodeLost: then it may have been done or not. See RemoteManager and StoreManager.
    class Proxy
      private_class_method :new

      def key(name) = RemoteKey.new(self, name)
      alias [] key

      def put(key, value, move: false, timeout: nil, not_before: nil, ttl: nil)
        index = __put(key, value, __moved(value, move), timeout, not_before, ttl, true)
        raise TimeoutError, "no room under #{key.inspect} on #{where} within #{timeout} s" if __same(index, NOTHING)
        index == true ? nil : index
      end

      def put?(key, value, move: false, not_before: nil, ttl: nil)
        index = __put(key, value, __moved(value, move), nil, not_before, ttl, false)
        index == true ? nil : index
      rescue Full
        false
      end

      def update(key, value, move: false, ttl: nil) = __put(key, value, 2 | __moved(value, move), nil, nil, ttl, true)

      # Puts each element of a list, in order, and gives how many there were. Up to WINDOW of them are under way at a time, so it is
      # much quicker than a put each. Waits where the queue is full.
      def put_all(key, values)
        puts = Puts.new(self, key)
        if values.instance_of?(Array)
          # What is there already goes by several at a time.
          count = 0
          while (some = puts.add(values, count)) > 0
            count += some
          end
        else
          values.each { |value| puts.add([value], 0) }
        end
        puts.await_all
      ensure
        puts&.leave
      end

      # Puts of one caller under one key that are under way, in their order.
      class Puts
        WINDOW = 512
        BYTES = 8 << 20

        def initialize(manager, key)
          @manager = manager
          @key = key
          # Calls as natives make them: [call, how many puts, bytes, large].
          @calls = []
          @count = @puts = @bytes = 0
        end

        # Puts elements of a list from `at` on, and gives how many.
        def add(list, at)
          some = @manager.__begin_some(@key, list, at, @calls.empty? ? nil : @calls[-1][3])
          return 0 if __same(some, 0)
          if some
            @calls << some
            @puts += some[1]
            @bytes += some[2]
            @count += some[1]
            await_first while @puts >= WINDOW || @bytes >= BYTES
            return some[1]
          end
          await_all
          return add(list, at) if __same(some, false)
          list[at, 1].each { |value| @manager.__put_one(@key, value) }
          @count += 1
          1
        end

        # Waits for all, and gives how many there were.
        def await_all
          await_first until @calls.empty?
          @count
        end

        # They are waited for no more.
        def leave = @calls.each { |call, *| __seg_call_leave(call) }

        private

        def await_first
          call, puts, bytes = @calls[0]
          @manager.__await(call)
          @calls.shift
          @puts -= puts
          @bytes -= bytes
        end
      end
      private_constant :Puts

      # See Puts.
      def __begin_some(key, list, at, large)
        bits = Calls.how(0)
        __seg_call_put_some(@peer, key, list, at, bits, large)
      rescue NotTransferable
        # See __begin_put.
        __seg_rehearse(list[at])
        __seg_call_put_some(@peer, key, list, at, bits, large)
      end

      def __put_one(key, value)
        __await(__begin_put(key, value, 0, nil, nil, true))
      rescue Moved
        @grouped ? raise : retry
      end

      def __await(call) = __ended(call, nil, false)

      def peek(key, after: nil, timeout: nil) = __get(key, false, after, timeout, false)
      def take(key, after: nil, timeout: nil) = __get(key, true, after, timeout, false)

      def peek?(key, default = nil, after: nil) = __look(key, false, after, default)
      def take?(key, default = nil, after: nil) = __look(key, true, after, default)

      def peek_segment(key, after: nil, timeout: nil) = __get(key, false, after, timeout, true)
      def take_segment(key, after: nil, timeout: nil) = __get(key, true, after, timeout, true)

      # The next segment's value. The end of the key stays.
      def __take_item(key)
        __ended(__seg_call_get(@peer, [[key, true, nil]], true, true), nil, false)
      rescue Moved
        @grouped ? raise : retry
      end

      # A put of which nothing else is said.
      def __put_plainly(key, value)
        index = __ended(__begin_put(key, value, 0, nil, nil, true), nil, false)
        index == true ? nil : index
      rescue Moved
        @grouped ? raise : retry
      end

      # The first request for a key exports it.
      def export(key)
        size(key)
        self
      end

      # So many names come at a time.
      NAMES = 10_000
      private_constant :NAMES

      def keys(prefix = "")
        found = some = __about("names", [prefix, nil, NAMES])
        found += some = __about("names", [prefix, some.last, NAMES]) while some.size == NAMES
        found
      end

      def size(key) = __about("stats", key)[0]

      def limit(key, most)
        raise ArgumentError, "a limit is a positive Integer or nil" unless most.nil? || (most.is_a?(Integer) && most.positive?)
        __about("limit", [key, most || 0])
        self
      end

      def stat(key)
        segments, delayed, leased, waiting, waiting_puts, last_index, limit = __about("stats", key)
        { segments:, delayed:, leased:, waiting:, waiting_puts:, last_index:, limit: }
      end

      def inspect = "#<#{self.class} #{where}>"

      # Takes and peeks of one code segment, [[key, take, after], ..], under a lease of so many seconds. Segments in their order.
      def __lease(inputs, lease, timeout)
        found = __ended(__seg_call_get(@peer, inputs, (lease * 1_000_000_000).to_i, true), timeout, :held)
        __same(found, NOTHING) ? nil : found
      rescue Moved
        retry
      end

      # Outputs of which nothing can't travel, for __commit with leases under the keys `held`.
      def __ready(outputs, held)
        __seg_ready(@peer, outputs, held)
      rescue NotTransferable
        # See __begin_put.
        outputs.each { |output| __seg_rehearse(output[1]) }
        __seg_ready(@peer, outputs, held)
      end

      def __commit(leases, outputs)
        begin
          call = __seg_call_commit(@peer, leases, outputs)
        rescue NotTransferable
          # See __begin_put.
          outputs.each { |output| __seg_rehearse(output[1]) }
          call = __seg_call_commit(@peer, leases, outputs)
        end
        __ended(call, nil, false)
      end

      # Leases last so many seconds from now on; LeaseOver where one of them is over.
      def __extend(leases, seconds) = __ended(__seg_call_extend(@peer, leases, (seconds * 1_000_000_000).to_i), nil, false)

      # seen: false: it is as if it had not been taken.
      def __give_back(lease, value, seen)
        begin
          call = __seg_call_give_back(@peer, lease, value, seen)
        rescue NotTransferable
          __seg_rehearse(value)
          call = __seg_call_give_back(@peer, lease, value, seen)
        end
        __ended(call, nil, false)
      end

      private

      # Owned is what is moved and can change.
      def __moved(value, move) = move && !__shareable(value) ? 1 : 0

      def __put(key, value, bits, timeout, not_before, ttl, wait)
        delay = Calls.delay_of(not_before) unless __same(not_before, nil)
        ttl = Calls.nanoseconds(ttl, "ttl") unless __same(ttl, nil)
        # The call itself ends in time: then nothing was put.
        waits = !__over?(timeout)
        wait = waits && KumiSys.deadline(timeout) unless __same(timeout, nil)
        begin
          __ended(__begin_put(key, value, bits, delay, ttl, wait), nil, false)
        rescue Moved
          @grouped ? raise : retry
        rescue Full
          waits ? raise : NOTHING
        end
      end

      def __begin_put(key, value, bits, delay, ttl, wait)
        bits = Calls.how(bits)
        __seg_call_put(@peer, key, value, bits, delay, ttl, wait)
      rescue NotTransferable
        # Fields of records of streams that were not read yet: reading them is Ruby's. What can't travel raises again.
        __seg_rehearse(value)
        __seg_call_put(@peer, key, value, bits, delay, ttl, wait)
      end

      def __get(key, take, after, timeout, whole)
        name = Segments.name_of(key)
        waits = !__over?(timeout)
        found = __ended(__seg_call_get(@peer, [[key, take, after]], nil, waits), waits ? timeout : nil, whole)
        raise TimeoutError, "no segment under #{key.inspect} on #{where} within #{timeout} s" if __same(found, NOTHING)
        whole ? __seg_made(Segment, name, found[0]) : found
      rescue Moved
        @grouped ? raise : retry
      end

      # Does the caller not wait at all? Then the owner is asked what is there now: its answer takes its time.
      def __over?(timeout) = (timeout.is_a?(Numeric) && timeout.real?) && timeout <= 0

      def __look(key, take, after, default)
        found = __ended(__seg_call_get(@peer, [[key, take, after]], nil, false), nil, false)
        __same(found, NOTHING) ? default : found
      end

      def __about(what, argument) = __ended(__seg_call_about(@peer, what, argument), nil, false)

      # Waits for the end of a call; leaves it if the wait ends otherwise.
      def __ended(call, timeout, whole)
        deadline = __same(timeout, nil) ? nil : KumiSys.deadline(timeout)
        begin
          __seg_call_wait(call, deadline, whole)
        ensure
          __seg_call_leave(call)
        end
      end
    end

    # The proxy of another node's manager.
    class RemoteManager < Proxy
      attr_reader :node, :peer

      # grouped: who asks knows where to ask when a key has moved.
      def initialize(node, grouped = false)
        @node = node
        @grouped = grouped
        @peer = __seg_peer(node)
      end

      # What happens under the key from now on, as the node's own programs see it. See RemoteWatch.
      def watch(key, limit: 1000) = RemoteWatch.__open(self, @peer, key, limit)

      def where = "node #{@node}"
    end

    # The proxy of a store: segments that outlive the program.
    class StoreManager < Proxy
      def initialize(peer)
        @peer = peer
      end

      # What it was opened by, without passwords.
      def where = __seg_engine_name(@peer)

      # It serves no more; what was answered is safe. Calls that wait end with NotConnected.
      def close
        __seg_engine_close(@peer)
        self
      end
    end

    # A key of another owner's manager.
    class RemoteKey
      include ReadToEnd

      attr_reader :name

      def initialize(manager, name)
        raise TypeError, "#{name.inspect} is no key: give a String or a Symbol" unless name.is_a?(String) || name.is_a?(Symbol)
        @manager = manager
        @name = name.to_s.dup.freeze
      end

      def put(value, **options)
        options.empty? ? @manager.__put_plainly(@name, value) : @manager.put(@name, value, **options)
      end

      def put?(value, **options) = @manager.put?(@name, value, **options)
      def update(value, **options) = @manager.update(@name, value, **options)
      def peek(**options) = @manager.peek(@name, **options)
      def take(**options) = @manager.take(@name, **options)
      def peek?(default = nil, **options) = @manager.peek?(@name, default, **options)
      def take?(default = nil, **options) = @manager.take?(@name, default, **options)
      def peek_segment(**options) = @manager.peek_segment(@name, **options)
      def take_segment(**options) = @manager.take_segment(@name, **options)
      def size = @manager.size(@name)
      def stat = @manager.stat(@name)

      def limit(most)
        @manager.limit(@name, most)
        self
      end

      # See Key#from.
      def from(list) = @manager.put_all(@name, list)

      def __take_item = @manager.__take_item(@name)

      # See Manager#watch.
      def watch(limit: 1000) = @manager.watch(@name, limit:)

      alias to_s name
      def ==(other) = other.is_a?(RemoteKey) && other.name == name && __same(other.__manager, @manager)
      alias eql? ==
      def hash = [@name, @manager].hash
      def __manager = @manager

      def inspect = "#<#{self.class} #{@name.inspect} on #{@manager.where}>"
    end

    # Keys spread over nodes. The calls are a manager's; a key goes to its node's.
    class Group
      attr_reader :name

      def initialize(name, nodes)
        @name = name
        @nodes = nodes.is_a?(Array) ? nodes.map(&:to_s) : nodes&.to_s
        @lock = Mutex.new
        # Not all programs begin with the same member.
        @turn = rand(1 << 20)
      end

      # Members that keep the group's keys now.
      def members
        case @nodes
        when nil then Segments.nodes.sort
        when String then Segments.nodes.select { |node| node.start_with?(@nodes) }.sort
        else (@nodes & Segments.nodes).sort
        end
      end

      # The name of the node that has a key.
      def node_of(key)
        members = self.members
        raise NotConnected, "no member of the group #{@name} is there" if members.empty?
        __seg_place(key, members)
      end

      def manager_of(key) = Segments[node_of(key)]

      %i[put put? update peek? take? size stat].each do |call|
        define_method(call) do |key, *arguments, **options|
          __where(key) { |manager| manager.public_send(call, key, *arguments, **options) }
        end
      end

      %i[peek take peek_segment take_segment].each do |call|
        define_method(call) { |key, after: nil, timeout: nil| __wait(call, key, after, timeout) }
      end

      def limit(key, most)
        __where(key) { |manager| manager.limit(key, most) }
        self
      end

      def export(key)
        __where(key) { |manager| manager.export(key) }
        self
      end

      # As a manager's, by a put each: the key may move meanwhile.
      def put_all(key, values)
        count = 0
        values.each do |value|
          put(key, value)
          count += 1
        end
        count
      end

      # What happens under the key on the node that has it now.
      def watch(key, limit: 1000) = manager_of(key).watch(key, limit:)

      # The manager of one of the members, each in its turn, for what any of them can do. Members that collect about now are passed over,
      # as far as they have said so (docs/SCHEDULES.md), unless all do.
      def any
        members = self.members
        raise NotConnected, "no member of the group #{@name} is there" if members.empty?
        members.rotate!(@lock.synchronize { @turn += 1 })
        Segments[members.find { |node| !Segments.collecting?(node) } || members[0]]
      end

      # On the node that has it now.
      def key(name) = manager_of(name).key(name)
      alias [] key

      def keys(prefix = "") = members.flat_map { |node| Segments[node].keys(prefix) }.sort
      def inspect = "#<#{self.class} #{@name}>"

      private

      # So long it is asked anew while members change, in seconds.
      PATIENCE = 5
      # So often who waits on this node looks whether the key is still its own, in seconds.
      LOOK = 0.5
      private_constant :PATIENCE, :LOOK

      # Where the key is: it is asked again where a node is about to go, or the key has moved. Nothing was done there.
      def __where(key)
        since = nil
        begin
          node = node_of(key)
          yield node == Segments.node ? Segments.local : Segments.grouped(node)
        rescue Moved, NotConnected
          since ||= __clock
          raise if !Segments.cluster? || members.empty? || __clock - since > PATIENCE
          sleep 0.02
          retry
        end
      end

      def __wait(call, key, after, timeout)
        ends = __same(timeout, nil) ? nil : __clock + timeout
        __where(key) do |manager|
          left = ends && [ends - __clock, 0].max
          next __wait_here(call, key, after, left) if __same(manager, Segments.local)
          manager.public_send(call, key, after:, timeout: left)
        end
      rescue TimeoutError
        raise TimeoutError, "no segment under #{key.inspect} of the group #{@name} within #{timeout} s"
      end

      # Under a key of this node, as long as it is one: who waits keeps its turn meanwhile.
      def __wait_here(call, key, after, timeout)
        take = %i[take take_segment].include?(call)
        whole = %i[peek_segment take_segment].include?(call)
        found = whole ? __seg_segment(key, take, after) : __seg_get(key, take, after)
        if __same(found, NOTHING)
          found = Calls.wait_for(key, take, after, timeout, whole, LOOK) do
            raise Moved, "the key has moved to another node" unless node_of(key) == Segments.node
          end
        end
        whole ? __seg_made(Segment, Segments.name_of(key), found) : found
      end

      def __clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end

  # Named neighbours: `Kumihimo.topology.right` in a ring, which is the default; `Kumihimo.topology(:tree).parent`. kinds: :ring,
  # :line, :star, :tree, :mesh. `given:` says each node's links instead: `{ "east" => { right: "west" }, "west" => {} }`.
  def self.topology(kind = nil, nodes: nil, arity: 2, given: nil)
    return Segments::Neighbours.given(kind, given, nodes) unless given.nil?
    kind ||= :ring
    raise ArgumentError, "a topology is :ring, :line, :star, :tree or :mesh" unless %i[ring line star tree mesh].include?(kind)
    raise ArgumentError, "arity: is a positive Integer" unless arity.is_a?(Integer) && arity.positive?
    nodes = (nodes || Segments.nodes).map(&:to_s)
    Segments::Neighbours.new(__seg_topology(kind.to_s, arity.clamp(1, [nodes.size, 1].max), nodes, Segments.node || ""))
  end

  module Segments
    # This node's neighbours. `right` and the like give a node's name (nil: there is none), `neighbours` all of them.
    class Neighbours
      # Of a topology that the program gives.
      def self.given(kind, map, nodes)
        raise ArgumentError, "a topology is either of a kind or given:" unless kind.nil?
        raise TypeError, "given: is a Hash of each node's links, not #{map.inspect}" unless map.is_a?(Hash)
        map = map.map { |node, links| [text(node), links_of(node, links)] }
        twice = map.map(&:first).tally.find { |_, count| count > 1 }
        raise ArgumentError, "node #{twice[0]} is named twice in the topology" if twice
        me = Segments.node
        raise ArgumentError, "this node, #{me}, is not in the topology" unless me.nil? || map.any? { |node, _| node == me }
        labels = map.flat_map { |_, links| links.map(&:first) }.uniq
        new(__seg_topology(map, 0, (nodes || Segments.nodes).map(&:to_s), me || ""), labels)
      end

      def self.links_of(node, links)
        raise TypeError, "the links of node #{node} are a Hash of names, not #{links.inspect}" unless links.is_a?(Hash)
        links = links.map { |link, to| [text(link), text(to)] }
        twice = links.map(&:first).tally.find { |_, count| count > 1 }
        raise ArgumentError, "the link #{twice[0]} of node #{node} is named twice" if twice
        links
      end

      def self.text(x)
        raise TypeError, "the name of a node or link is a String or a Symbol, not #{x.inspect}" unless x.is_a?(String) || x.is_a?(Symbol)
        x.to_s
      end
      private_class_method :links_of, :text

      # `labels`: of a topology that was given, all that it names.
      def initialize(links, labels = nil)
        @links = links
        @labels = labels
      end

      # A node by the name of the link to it; nil: there is none, or it is no member now.
      def [](link) = all(link).first

      def all(link)
        link = link.to_s
        if @labels && !@labels.include?(link)
          raise KeyError.new("no link of the topology is called #{link}: its links are #{@labels.sort.join(", ")}", receiver: self, key: link)
        end
        @links.select { |name, _| name == link }.map(&:last)
      end

      def neighbours = @links.map(&:last).uniq
      def to_h = @links.group_by(&:first).transform_values { |pairs| pairs.map(&:last) }

      %i[right left parent center].each { |link| define_method(link) { self[link] } }

      # The links of a topology that was given, by their names.
      def method_missing(name, *arguments)
        return super unless arguments.empty? && @labels&.include?(name.to_s)
        self[name]
      end

      def respond_to_missing?(name, all = false) = !!@labels&.include?(name.to_s) || super

      def children = @links.reject { |name, _| name == "parent" }.map(&:last)
      def inspect = "#<#{self.class} #{to_h.map { |link, nodes| "#{link}: #{nodes.join(", ")}" }.join("; ")}>"
    end
  end
end
