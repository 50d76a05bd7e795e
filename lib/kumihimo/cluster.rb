# frozen_string_literal: true

require "kumihimo/remote"

module Kumihimo
  # One program on all nodes. Each node makes the same calls of these in the same order; who comes first waits for the others.
  # The first node by name keeps what they meet for.
  module Cluster
    class << self
      # The names of all nodes, in order.
      def nodes = Segments.nodes.sort

      # This node's name.
      def self = Segments.node

      # Waits until all nodes have come here.
      def barrier(nodes: self.nodes, timeout: nil)
        meet(:barrier, nodes, nil, timeout)
        nil
      end

      # The value that the node `from:` gives, on all nodes; without, the first node's.
      def broadcast(value = nil, from: nil, nodes: self.nodes, timeout: nil)
        from = (from || nodes.min).to_s
        meet(:broadcast, nodes, [from, from == self.self ? value : nil], timeout)
      end

      # The values of all nodes in the order of their names, put together by the first node's block; on all nodes.
      def reduce(value, nodes: self.nodes, timeout: nil, &block)
        raise ArgumentError, "reduce needs a block" unless block
        meet(:reduce, nodes, value, timeout, &block)
      end

      # This node's part of a list that the node `from:` gives: parts are of equal length, but for one, in the order of the names.
      def scatter(list = nil, from: nil, nodes: self.nodes, timeout: nil)
        from = (from || nodes.min).to_s
        meet(:scatter, nodes, [from, from == self.self ? list.to_a : nil], timeout)
      end

      # The hall of these nodes, and the number of the next call of them.
      def __hall(nodes)
        nodes = nodes.map(&:to_s).sort
        raise ArgumentError, "#{self.self} is none of the nodes #{nodes.join(", ")}" unless nodes.include?(self.self)
        @lock.synchronize do
          Door.here
          name = "kumihimo cluster #{nodes.join(" ")}"
          @turns[name] = turn = (@turns[name] || 0) + 1
          @halls[name] ||= nodes[0] == self.self ? hold(name, nodes) : Remote.find(name, on: nodes[0])
          [@halls[name], turn, nodes]
        end
      end

      # A call of these nodes: the block's.
      def __meeting(nodes)
        hall, turn, nodes = __hall(nodes)
        # Whoever waits here waits for other nodes, though it be for a thread that serves them.
        __gc_awaits(awaits = true)
        value = yield hall, turn
        Door.here.met(nodes, turn)
        value
      ensure
        __gc_awaits(false) if awaits
        Door.here.left(nodes, turn) if turn
      end

      private

      def meet(what, nodes, value, timeout, &block)
        __meeting(nodes) do |hall, turn|
          next hall.meet(turn, what, self.self, value, &block) unless timeout
          Remote.within(timeout) { hall.meet(turn, what, self.self, value, &block) }
        end
      end

      # This node is the first one: the hall is here. It is kept, when the program ends, until the others know what the last meeting gave.
      def hold(name, nodes)
        process = Process.pid
        at_exit { Door.see_out(nodes) if Segments.cluster? && Process.pid == process }
        Remote.register(name, Hall.new(nodes))
      end
    end
    @lock = Thread::Mutex.new
    @halls = {}
    @turns = {}

    # Which meeting a node has left last. The first node's program does not end before the others have left its last one: what that
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
          turn = here.last(nodes) or return
          others = (nodes & Segments.nodes) - [Segments.node]
          others.map { |node| Thread.new { Remote.within(PATIENCE) { Remote.find(NAME, on: node).wait(nodes, turn) } rescue nil } }.each(&:join)
        end
      end

      def initialize
        @lock = Thread::Mutex.new
        @change = Thread::ConditionVariable.new
        @left = Hash.new(0)
        @met = {}
      end

      # All have come to a meeting of these nodes.
      def met(nodes, turn) = @lock.synchronize { @met[nodes] = turn }

      # This node has left it, whatever it brought.
      def left(nodes, turn)
        @lock.synchronize do
          @left[nodes] = turn
          @change.broadcast
        end
      end

      # The last one that all came to.
      def last(nodes) = @lock.synchronize { @met[nodes] }

      # Waits until this node has left it.
      def wait(nodes, turn)
        @lock.synchronize { @change.wait(@lock) until @left[nodes] >= turn }
        nil
      end
    end
    private_constant :Door

    # Where nodes meet; it stands on the first of them.
    class Hall
      include Remote
      remote_methods :meet, :work

      # How long between two looks whether all are still there, in seconds.
      LOOK = 0.5 * __seg_patience
      # How long a node that is about to collect waits before it asks again for a part of a list, in seconds.
      AWAY = 0.02
      private_constant :LOOK, :AWAY

      def initialize(nodes)
        @nodes = nodes
        @lock = Thread::Mutex.new
        @come = Thread::ConditionVariable.new
        @turns = {}
      end

      # What the nodes meet for, once all have come. Whoever's value decides, or whose block, is the first node's, or the one that is named.
      def meet(turn, what, node, value, &block)
        @lock.synchronize do
          meeting = (@turns[turn] ||= { what:, values: {}, left: @nodes.size })
          raise ArgumentError, "#{node} wants to #{what} where others #{meeting[:what]}" unless meeting[:what] == what
          meeting[:values][node] = value
          # Who waits is woken when there is something to go on with, and not by each of many nodes.
          @come.broadcast if meeting[:values].size == @nodes.size
          wait_until { meeting[:values].size == @nodes.size }
          if !meeting[:done] && (what != :reduce || node == @nodes[0])
            meeting[:done] = [result(what, meeting[:values], &block)]
            @come.broadcast
          end
          wait_until { meeting[:done] }
          if (meeting[:left] -= 1).zero?
            @turns.delete(turn)
            @come.broadcast
          end
          last_of(meeting) if node == @nodes[0]
          what == :scatter ? meeting[:done][0][@nodes.index(node)] : meeting[:done][0]
        end
      end

      # The next part of a list for a node, and what has become of its last one: [index, length], or [nil, nil, all results] once they are there.
      def work(turn, node, size, done)
        @lock.synchronize do
          share = (@turns[turn] ||= Share.new(@nodes, size))
          raise ArgumentError, "#{node} has a list of #{size}, others one of #{share.size}" unless share.size == size
          share.finish(node, *done) if done
          @come.broadcast
          loop do
            share.without(@nodes - Segments.nodes)
            away = @nodes.select { |name| Segments.collecting?(name) }
            part = share.next(node, away)
            return part if part
            break if share.done?
            @come.wait(@lock, away.include?(node) ? AWAY : LOOK)
          end
          @turns.delete(turn) if share.all_told?(node)
          [nil, nil, share.results]
        end
      end

      private

      def wait_until
        until yield
          gone = @nodes - Segments.nodes
          raise NodeLostError.new("#{gone.join(", ")} left before all had come", :perhaps_done) unless gone.empty?
          @come.wait(@lock, LOOK)
        end
      end

      # This node's program may end now, and with it what the others are answered: they go first, unless they have gone.
      def last_of(meeting)
        @come.wait(@lock, LOOK) until meeting[:left].zero? || !(@nodes - Segments.nodes).empty?
      end

      def result(what, values, &block)
        case what
        when :broadcast then given(values)
        when :reduce then values.values_at(*@nodes).reduce(&block)
        when :scatter
          list = given(values)
          each, more = list.size.divmod(@nodes.size)
          at = 0
          @nodes.each_index.map do |i|
            n = each + (i < more ? 1 : 0)
            at += n
            list[at - n, n]
          end
        end
      end

      def given(values)
        from = values.values.map(&:first).uniq
        raise ArgumentError, "the nodes name different ones to give the value: #{from.join(", ")}" unless from.size == 1
        values.fetch(from[0]) { raise ArgumentError, "#{from[0]} is none of the nodes" }[1]
      end
    end
    private_constant :Hall

    # A list that several nodes work off. Each has a part of its own, and takes half of the longest part when that is done. A node that is
    # about to collect has as little as can be under way then: it takes single elements, and none of others' parts, and its own part is the
    # first that others take from.
    class Share
      attr_reader :size, :results

      def initialize(nodes, size)
        @size = size
        @nodes = nodes
        @results = Array.new(size)
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

      # The next few elements for a node, of which `away` are about to collect. nil: there is nothing for it now.
      def next(node, away = [])
        part = @parts[node]
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
        @results[from, values.size] = values
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
  end

  class << self
    # Calls the block with each element of a list, on all of these nodes at once, and gives the results in their order, on each of them.
    # All make this call with equal lists. Who has done its part takes from others'. An element may be done twice where a node is lost.
    def pmap(list, nodes: Cluster.nodes, &block)
      raise ArgumentError, "pmap needs a block" unless block
      list = list.to_a
      Cluster.__meeting(nodes) do |hall, turn|
        done = nil
        loop do
          from, length, results = hall.work(turn, Cluster.self, list.size, done)
          break results unless from
          done = [from, list[from, length].map(&block)]
        end
      end
    end
  end
end
