# frozen_string_literal: true

module Kumihimo
  module Segments
    # The run of a code segment some of whose inputs are on other nodes, or in stores. It has a thread from its start on.
    #
    # The inputs of one node are taken in one step, under a lease that the library renews. Nodes are asked in the order of their
    # names. Where another node's are not there within RESERVE seconds, what was taken comes back meanwhile: so a code segment of {A, B}
    # and one of {B, A} never wait for each other.
    class Apart
      # Seconds.
      RESERVE = 1.0
      LEASE = __seg_lease

      # What it was given. error: it can't be read, or is owned and only peeked at.
      Held = Struct.new(:node, :key, :index, :value, :owned, :changed, :deliveries, :trace, :lease, :error) do
        # As a dead letter shows it.
        def told = error && __same(value, nil) ? raise(error) : value
      end

      def initialize(segment, inputs)
        @segment = segment
        @inputs = inputs
        @outputs = []
        @by_node = inputs.each_with_index.group_by { |(input, _)| input.from || HERE }.sort_by { |node, _| node.is_a?(Proxy) ? node.where : node.to_s }
        @lock = Mutex.new
      end

      HERE = nil
      # Who is ended between an owner's answer and its note would keep what was handed over, until the lease is over.
      AS_IT_WAITS = { Object => :on_blocking }.freeze
      private_constant :AS_IT_WAITS

      @running = 0
      @counting = Mutex.new
      @ended = ConditionVariable.new

      class << self
        # How many runs there are now.
        attr_reader :running

        def count(by)
          @counting.synchronize do
            @running += by
            @ended.broadcast if @running == 0
          end
        end

        # A fork's child has none of them.
        def __forked
          @running = 0
          @counting = Mutex.new
          @ended = ConditionVariable.new
        end

        # Waits until there is none. Was there one?
        def settle
          @counting.synchronize do
            return false if @running == 0
            @ended.wait(@counting) until @running == 0
            true
          end
        end

        # Outputs by owners, ready to be sent: what can't travel, or not in one step with the end of what is held under keys of that owner,
        # raises before anything is done.
        def ready(puts, held = {})
          puts.to_h { |node, outputs| [node, __same(node, HERE) ? outputs : Segments.manager_of(node).__ready(outputs, held[node] || [])] }
        end
      end

      def start
        @lock.synchronize do
          @thread = KumiSys.thread_apart("segments' run") { work }
          @thread.report_on_exception = false
        end
        self
      end

      # Not before it has been started.
      def lives? = !!@thread&.alive?

      # False when it was not started, runs already, or has ended.
      def cancel
        @lock.synchronize do
          return false if @runs || @cancelled || !lives?
          @cancelled = true
        end
        @thread.kill
        @thread.join
        true
      end

      # Its inputs come back.
      def kill
        @thread&.kill&.join(1)
      end

      def join(timeout) = timeout ? @thread.join(timeout) : @thread.join

      def held(at) = @held && @held[at]

      def output(node, key, value, bits, delay, ttl) = @outputs << [node, key, value, bits, delay, ttl]

      # An owned input's value goes on under a new root; what comes back if the run fails is that one. Which input that is, if any.
      def hand_on(moved, value)
        at = @held.index { |h| h.owned && h.lease && __same(h.value, moved) }
        @held[at].value = value if at
        at
      end

      private

      def work
        __seg_alone
        @segment.__perform_apart(self)
      ensure
        Apart.count(-1) if @counted
        # Also of one that was cancelled or killed.
        give_back unless @done
      end

      public

      # Waits for the inputs. From then on it can't be cancelled.
      def acquire
        Thread.handle_interrupt(AS_IT_WAITS) do
          reserve
          if Leaving.begun?
            # The node is about to go: nothing begins.
            give_back_held(@held, false)
            sleep
          end
          Thread.exit unless @lock.synchronize { @runs = !@cancelled }
          # Who is killed while he waits to be counted is not.
          Thread.handle_interrupt(Object => :never) do
            Apart.count(1)
            @counted = true
          end
        end
        @began = true
        broken = @held.find(&:error)
        raise broken.error if broken
      end

      # On whose behalf it runs.
      def trace = @held.find { |h| h.lease && h.trace }&.trace

      # Are all inputs there?
      def complete? = !!@held&.all?

      # Outputs to nodes that have no inputs first, then each input's node ends its leases and gets its outputs in one step. Where
      # that is more than one step it is asked before whether all leases still last: a run that was too slow puts nothing. Who gets no
      # outputs comes last: it has nothing to refuse.
      def commit
        puts = @outputs.group_by(&:first).transform_values { |outputs| outputs.map { |_, *output| output } }
        held = @held.group_by(&:node).transform_values { |all| all.select(&:lease) }
        leases = held.transform_values { |all| all.map(&:lease) }
        elsewhere = puts.keys - leases.keys
        if !elsewhere.empty? || leases.size > 1
          puts = Apart.ready(puts, held.transform_values { |all| all.map(&:key) })
          leases.each { |node, names| extend_at(node, names) }
        end
        here_first(elsewhere).each { |node| commit_at(node, [], puts[node]) }
        here_first(leases.keys).partition { |node| puts.key?(node) }.flatten(1).each { |node| commit_at(node, leases[node], puts[node] || []) }
        @done = true
      end

      # An end that came too late, or got lost, leaves no dead letter: somebody else may have the inputs, or a later try ends well.
      def late?(error)
        case error
        when LeaseOver, NodeLost, NotConnected, Moved then true
        else false
        end
      end

      # It lasts as long as what it tells of: what came from a store goes to that store.
      def dead_letter(key, letter)
        store = @held.map(&:node).find { |node| node.is_a?(StoreManager) }
        @outputs = [[store || HERE, store ? Segments.name_of(key) : key, letter, 0, nil, nil]]
        commit
      end

      # How a dead letter calls an owner.
      def name_of(node) = node.is_a?(String) ? [node] : []

      def give_back
        @done = true
        give_back_held(@held, @began)
      end

      private

      def reserve
        loop do
          @held = Array.new(@inputs.size)
          missing = @by_node.find { |node, inputs| !take(node, inputs, @held.any? ? RESERVE : nil) }
          return unless missing
          give_back_held(@held, false)
          # Nothing is held while it is waited for.
          found = Array.new(@inputs.size)
          @held, kept = found, @held
          take(*missing, nil)
          give_back_held(found, false)
          @held = kept
          sleep rand * 0.01
        end
      end

      def take(node, inputs, timeout)
        asked = inputs.map { |input, _| [input.key, input.take, input.after] }
        segments = __same(node, HERE) ? Local.lease(asked, timeout) : Segments.manager_of(node).__lease(asked, LEASE, timeout)
        return false unless segments
        inputs.zip(segments) { |(input, at), segment| @held[at] = Held.new(node, Segments.name_of(input.key), *segment) }
        true
      end

      # This node's own leases have no end.
      def extend_at(node, leases)
        Segments.manager_of(node).__extend(leases, LEASE) unless __same(node, HERE) || leases.empty?
      end

      # Others may ask for keys of this node: what can't travel to them raises there.
      def here_first(nodes) = nodes.partition { |node| __same(node, HERE) }.flatten(1)

      def commit_at(node, leases, outputs)
        __same(node, HERE) ? Local.commit(leases, outputs) : Segments.manager_of(node).__commit(leases, outputs)
      end

      # Owned values come back as the run left them. Where none began, it is as if nothing had been taken.
      def give_back_held(held, began)
        held&.each do |h|
          next unless h&.lease
          begin
            give_back_at(h, began && h.owned && !h.error ? h.value : NOTHING, began)
          rescue NotTransferable
            # What the run has made of it can't travel: it comes back as it was.
            give_back_at(h, NOTHING, began)
          end
        rescue Segments::Error
          # Then it has come back by itself, or is gone with its node.
        end
      end

      def give_back_at(held, value, began)
        return Local.give_back(held.lease, value, began) if __same(held.node, HERE)
        Segments.manager_of(held.node).__give_back(held.lease, value, began)
      end

      # The same calls of this node's own manager.
      module Local
        def self.lease(inputs, timeout)
          request = __seg_hold(inputs)
          begin
            found = __seg_wait(request, __same(timeout, nil) ? nil : KumiSys.deadline(timeout))
          ensure
            __seg_leave(request)
          end
          __same(found, NOTHING) ? nil : found
        end

        def self.commit(leases, outputs)
          Clock.start if outputs.any? { |output| output[3] || output[4] }
          begin
            done = __seg_commit_held(leases, outputs)
          rescue NotTransferable
            # See Calls.put.
            outputs.each { |output| __seg_rehearse(output[1]) }
            done = __seg_commit_held(leases, outputs)
          end
          done || raise(LeaseOver, "the lease was over: somebody else may have the segment")
        end

        def self.give_back(lease, value, seen)
          __seg_give_back_held(lease, value, seen)
        end
      end
    end
    private_constant :Apart
  end
end
