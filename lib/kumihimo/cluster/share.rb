# frozen_string_literal: true

module Kumihimo
  module Cluster
    # A list that several nodes work off. Each has a part of its own, and takes half of the longest part when that is done. A node that is
    # about to collect has as little as can be under way then: it takes single elements, and none of others' parts, and its own part is the
    # first that others take from.
    class Share
      attr_reader :size
      # Of a block, which all are to hear.
      attr_accessor :error

      def initialize(nodes, size)
        @size = size
        @nodes = nodes
        # By their first index: nobody makes this node keep more than it has sent.
        @found = {}
        @open = size
        each, more = size.divmod(nodes.size)
        at = 0
        @parts = nodes.each_with_index.to_h do |node, i|
          from = at
          at += each + (i < more ? 1 : 0)
          [node, [from, at]]
        end
        @taken = Hash.new { |hash, node| hash[node] = [] }
        @told = []
      end

      def done? = @open.zero?
      def results = @results ||= @found.sort_by(&:first).flat_map(&:last)

      # The next few elements for a node, of which `away` are about to collect. nil: there is nothing for it now.
      def next(node, away = [])
        # Who was taken for gone has nothing left.
        part = (@parts[node] ||= [0, 0])
        away = [] if (@parts.keys - away).none?(String)
        goes = away.include?(node)
        steal(part, away) if part[0] == part[1] && !goes
        return if part[0] == part[1]
        length = goes ? 1 : [(part[1] - part[0]) / 4, 1].max
        from = part[0]
        part[0] += length
        @taken[node] << [from, length]
        [from, length]
      end

      def finish(node, from, values)
        return unless @taken[node].delete([from, values.size])
        @found[from] = values
        @open -= values.size
      end

      # What nodes had that are gone is others'.
      def without(gone)
        gone.each do |node|
          next unless @parts[node]
          parts = @taken.delete(node) || []
          parts << [@parts[node][0], @parts[node][1] - @parts[node][0]]
          @parts.delete(node)
          parts.each { |from, length| @parts[:"#{node} #{from}"] = [from, from + length] if length.positive? }
        end
      end

      # Do all that are there know the results?
      def all_told?(node)
        @told |= [node]
        (@parts.keys.grep(String) - @told).empty?
      end

      private

      def steal(part, away)
        from = @parts.values_at(*away).compact.max_by { |a, b| b - a }
        from = @parts.values.max_by { |a, b| b - a } if from.nil? || from[0] == from[1]
        return if from[0] == from[1]
        half = (from[1] - from[0] + 1) / 2
        part[0] = from[1] - half
        part[1] = from[1]
        from[1] -= half
      end
    end
    private_constant :Share

    # Where nodes get parts of a list; it stands on the first of them.
    class Workshop
      include Remote
      remote_methods :work, :give_up

      # How long between two looks whether all are still there, in seconds.
      LOOK = 0.5 * __seg_patience
      # How long a node that is about to collect waits before it asks again, in seconds.
      AWAY = 0.02
      # Calls of pmap of which not all have the results, at most.
      TURNS = 1000
      private_constant :LOOK, :AWAY, :TURNS

      def initialize(nodes)
        @nodes = nodes
        @lock = Thread::Mutex.new
        @change = Thread::ConditionVariable.new
        @turns = {}
      end

      # The next part of a list for a node, and what has become of its last one: [index, length], or [nil, nil, all results] once they are there.
      def work(turn, node, size, done)
        raise ArgumentError, "#{node.inspect} is none of the nodes" unless @nodes.include?(node)
        raise ArgumentError, "#{size.inspect} is no size of a list" unless Integer === size && size >= 0
        @lock.synchronize do
          raise ArgumentError, "#{TURNS} calls of pmap wait for others" if @turns.size >= TURNS && !@turns.key?(turn)
          share = (@turns[turn] ||= Share.new(@nodes, size))
          share.error ||= ArgumentError.new("#{node} has a list of #{size}, others one of #{share.size}") unless share.size == size
          share.finish(node, *done) if done
          @change.broadcast
          until share.error
            share.without(@nodes - Segments.nodes)
            away = @nodes.select { |name| Segments.collecting?(name) }
            part = share.next(node, away)
            return part if part
            break if share.done?
            @change.wait(@lock, away.include?(node) ? AWAY : LOOK)
          end
          @turns.delete(turn) if share.all_told?(node)
          raise share.error if share.error
          [nil, nil, share.results]
        end
      end

      # A node does no more of it: others get what it had, or hear what its block has raised.
      def give_up(turn, node, failure)
        error = failure && begin
          failure.again
        rescue StandardError, ScriptError => error
          error
        end
        @lock.synchronize do
          share = @turns[turn] or return
          share.error ||= error
          share.without([node])
          @turns.delete(turn) if share.all_told?(node)
          @change.broadcast
        end
        nil
      end
    end
    private_constant :Workshop
  end
end
