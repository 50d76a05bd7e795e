# frozen_string_literal: true

module Kumihimo
  module Segments
    class << self
      # This node goes, without loss as far as that can be. No code segment begins here any more, calls of other nodes are refused, and those
      # that wait here end with NotConnected. Code segments that run, here or elsewhere with inputs of this node, have `timeout` seconds to
      # end; then their inputs come back. Where keys follow a group (`listen(hand_over:)`), what stands here goes to its next node. Then
      # the node leaves. Gives what became of the segments: { handed_over:, came_back:, keys_left: }.
      def drain(timeout: 5) = Leaving.drain(timeout)
    end

    # A node that goes, and keys that follow their group: a key stands on the node that the group's placement names, so when that node
    # goes or another one comes its segments move.
    module Leaving
      # Puts that are under way at a time.
      WINDOW = 256
      # When misplaced keys are looked for after members have changed: who sees the change late puts to the old place. In seconds.
      LOOKS = [0.0, 0.2, 0.8, 2.0, 5.0].freeze
      # So long at least it is said to others that nothing begins here: their calls may be on their way. In seconds.
      LINGER = 0.2
      # So long after that the last answers may take.
      ANSWERED = 3
      private_constant :WINDOW, :LOOKS, :LINGER, :ANSWERED

      @moves = Mutex.new
      @begun = false
      # What could not be handed over, and was said so.
      @told = {}

      class << self
        # Keys stand on the members whose names match; a `*` in it stands for anything.
        def follow(pattern)
          @pattern = Regexp.new("\\A#{Regexp.escape(pattern).gsub("\\*", ".*")}\\z", Regexp::MULTILINE)
          news = Thread::Queue.new
          change = ->(_) { news << true }
          Segments.on_join(&change)
          Segments.on_leave(&change)
          KumiSys.thread_apart("segments' places") { loop { keep_after(news) } }
        end

        # Does nothing begin here any more?
        def begun? = @begun

        def drain(timeout)
          return unless Segments.cluster?
          raise ArgumentError, "timeout: is a number of seconds, from 0 on" unless timeout.is_a?(Numeric) && timeout >= 0
          @begun = true
          ends = clock + timeout
          told = clock + LINGER
          Log.info("drain", seconds: timeout)
          __seg_drain
          moved = hand_over(ends)
          until quiet? || clock >= ends
            sleep 0.01
            moved += hand_over(ends)
          end
          back = __seg_end_leases
          moved += hand_over(clock + [timeout, 1].max)
          left = Segments.local.keys.size
          sleep [told - clock, 0].max
          # Answers that were not read when a connection ends may be lost.
          sleep 0.01 until __seg_open_calls.zero? || clock > told + ANSWERED
          keys_left(left)
          Log.info("drained", handed_over: moved, came_back: back, keys_left: left)
          Segments.leave
          { handed_over: moved, came_back: back, keys_left: left }
        end

        # Looks until nothing more has changed for a while.
        def keep_after(news)
          news.pop
          LOOKS.each do |pause|
            return news << true if news.pop(timeout: pause)
            keep
          end
        rescue Error
          # It is asked again at the next change.
        end

        # Gives keys that are others' to them, and sends away who waits for them here.
        def keep
          return if @begun || !Segments.cluster?
          nodes = members
          return unless nodes.include?(Segments.node)
          move(nodes, clock + 5)
          __seg_turn_away(nodes, Segments.node)
        end

        private

        def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

        def members = Segments.nodes.select { |node| @pattern.match?(node) }.sort

        # Nothing runs that has inputs of this node, and none of its code segments.
        def quiet?
          stat = Segments.stat
          stat[:running].zero? && stat[:leases].zero? && Apart.running.zero?
        end

        def hand_over(ends)
          return 0 unless @pattern
          nodes = members - [Segments.node]
          nodes.empty? ? 0 : move(nodes, ends)
        end

        # How many segments arrived.
        def move(nodes, ends)
          @moves.synchronize do
            under_way = []
            failed = {}
            arrived = 0
            __seg_misplaced(nodes, Segments.node).each do |key, node|
              next if failed[node]
              peer = Segments[node].peer
              while !failed[key] && !failed[node] && clock < ends && (pair = __seg_hand_over(peer, key))
                under_way << [key, node, *pair]
                arrived += settle(under_way.shift, failed, ends) if under_way.size >= WINDOW
              end
            rescue NotConnected => error
              tell(failed, node, node, error)
            rescue Error => error
              tell(failed, key, node, error)
            end
            arrived += settle(under_way.shift, failed, ends) until under_way.empty?
            arrived
          end
        end

        # 1: it has arrived. One of which that is not known comes back.
        def settle(sent, failed, ends)
          key, node, call, segment = sent
          arrived = !__same(__seg_call_wait(call, KumiSys.deadline([ends - clock, 0].max), false), NOTHING)
          __seg_handed(segment, arrived)
          arrived ? 1 : 0
        rescue Error => error
          __seg_handed(segment, false)
          tell(failed, error.is_a?(NotConnected) ? node : key, node, error)
          0
        ensure
          __seg_call_leave(call)
        end

        def keys_left(keys)
          return if keys.zero?
          return Log.error("segments end with this node", keys:) if Log.set?
          warn "kumi: segments under #{keys} #{keys == 1 ? "key" : "keys"} end with this node"
        end

        def tell(failed, what, node, error)
          failed[what] = true
          return if @told[what]
          @told[what] = true
          return Log.error("not handed over", what:, to: node, why: error.message) if Log.set?
          warn "kumi: #{what.inspect} could not be handed over to #{node}: #{error.message}"
        end
      end
    end
    private_constant :Leaving
  end
end
