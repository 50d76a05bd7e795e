# frozen_string_literal: true

module Kumihimo
  module Cluster
    # Which meeting a node has left last. A node's program does not end before those that have its answers have left the last one: what that
    # gave them would be lost on the way.
    class Door
      include Remote
      remote_methods :wait

      # How long it waits for them, in seconds.
      PATIENCE = 5 * __seg_patience
      NAME = "kumihimo cluster door"
      private_constant :PATIENCE, :NAME

      class << self
        # This node's own.
        def here = @here ||= Remote.register(NAME, new)

        # Waits until the others have left the last meeting that they all came to. Who is gone has left.
        def see_out(nodes)
          turn, others = here.last(nodes)
          return unless turn
          (others & Segments.nodes).map { |node| Thread.new { Remote.within(PATIENCE) { Remote.find(NAME, on: node).wait(nodes, turn) } rescue nil } }.each(&:join)
        end
      end

      def initialize
        @lock = Thread::Mutex.new
        @change = Thread::ConditionVariable.new
        @left = Hash.new(0)
        @met = {}
      end

      # All have come to a meeting of these nodes; the others have their answers from this one.
      def met(nodes, turn, others) = @lock.synchronize { @met[nodes] = [turn, others] if turn > (@met[nodes]&.first || 0) }

      # This node has left it, whatever it brought.
      def left(nodes, turn)
        @lock.synchronize do
          # Threads may leave theirs in another order.
          @left[nodes] = turn if turn > @left[nodes]
          @change.broadcast
        end
      end

      # The last one that all came to, and who the others are.
      def last(nodes) = @lock.synchronize { @met[nodes] }

      # Waits until this node has left it.
      def wait(nodes, turn)
        @lock.synchronize { @change.wait(@lock) until @left[nodes] >= turn }
        nil
      end
    end
    private_constant :Door
  end
end
