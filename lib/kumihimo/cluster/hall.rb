# frozen_string_literal: true

module Kumihimo
  module Cluster
    # Where a node stands among those that meet: the first one is the root, and each node has the next nodes by name below it, in at most
    # FAN parts of about equal size. So the values of a node and of all below it are neighbours. Up to 9 nodes all are below the first one.
    class Tree
      FAN = 8
      # This node's; the one above, nil for the first; those right below; [from, length] of each of these and what is below it, this node
      # itself before them, counted from this node; how many they are.
      attr_reader :node, :above, :below, :parts, :size

      def initialize(nodes, node)
        @node = node
        from, to = 0, nodes.size
        index = nodes.index(node)
        until from == index
          @above = nodes[from]
          from, to = Tree.split(from, to).find { |a, b| a <= index && index < b }
        end
        parts = Tree.split(from, to)
        @below = parts.map { |a, _| nodes[a] }
        @parts = [[0, 1], *parts.map { |a, b| [a - from, b - a] }]
        @size = to - from
      end

      # The parts below the first node of a part: [from, to] of each.
      def self.split(from, to)
        each, more = (to - from - 1).divmod(FAN)
        Array.new([FAN, to - from - 1].min) { |n| [from + 1 + n * each + [n, more].min, from + 1 + (n + 1) * each + [n + 1, more].min] }
      end
    end
    private_constant :Tree

    # What a block raised; other nodes may have it raised there.
    class Failure
      include Remote
      remote_methods :again
      attr_reader :error

      def initialize(error) = @error = error
      def again = raise(@error)
    end
    private_constant :Failure

    # Where a node meets those right below it in the tree. It puts together what they bring, by its own block, and brings that to the one
    # above; what comes back goes to each of them. The first node has nobody above: there it is decided.
    class Hall
      include Remote
      remote_methods :meet

      # How long between two looks whether all are still there, in seconds.
      LOOK = 0.5 * __seg_patience
      # One call of all nodes: what it is, what they brought, who has left, the block, what a block raised, the thread that asks above, and
      # what came of it: [value], or an exception. Recordings are told that it needs each that comes (`came`), each of these what came of it
      # (`decided`), and whoever goes last each that went: in a replay others may come last than came last.
      Meeting = Struct.new(:what, :values, :left, :came, :went, :block, :failure, :courier, :done, :error, :decided) do
        def over? = !done.nil? || !error.nil?
      end
      # Meetings at a time that not all have left.
      OPEN = 1000
      private_constant :LOOK, :OPEN, :Meeting

      attr_reader :tree

      def initialize(nodes)
        @nodes = nodes
        @tree = Tree.new(nodes, Cluster.self)
        @name = "kumihimo cluster #{nodes.join(" ")}"
        @members = [@tree.node, *@tree.below]
        @lock = Thread::Mutex.new
        @come = Thread::ConditionVariable.new
        @turns = {}
        # Meetings that are over: all up to this one, and these.
        @past = 0
        @later = {}
        Remote.register(@name, self) unless @tree.below.empty?
      end

      # This node comes. The block is called on this thread, unless that is called off.
      def come(turn, what, value, &block)
        meeting = @lock.synchronize { enter(turn, what, @tree.node, value).tap { |m| m.block = block } }
        begin
          settle(turn, meeting)
          @lock.synchronize { @come.wait(@lock, time_left) until meeting.over? }
        ensure
          # Whose time is over has come all the same: it keeps neither those above nor those below from meeting.
          start { settle(turn, meeting) } unless meeting.over? || meeting.courier
          @lock.synchronize { left(turn, meeting, @tree.node) }
        end
        # This node's program may end now, and with it what the others are answered: they go first, unless they have gone.
        @lock.synchronize do
          @come.wait(@lock, LOOK) until all_left?(meeting) || !(@tree.below - Segments.nodes).empty?
          meeting.went.each { |mark| __rem_needs(mark) }
        end
        given(meeting, @tree.node)
      end

      # A node right below comes; once more, where nobody knows whether it has.
      def meet(turn, what, node, value, failure)
        @lock.synchronize do
          raise ArgumentError, "#{node} is not below #{@tree.node}" unless @tree.below.include?(node)
          raise ArgumentError, "#{node} has left this meeting" if turn <= @past || @later[turn]
          raise ArgumentError, "#{OPEN} meetings wait for others" if @turns.size >= OPEN && !@turns.key?(turn)
          meeting = enter(turn, what, node, value, failure)
          begin
            wait_for_all(meeting)
            @come.wait(@lock) until meeting.over?
            given(meeting, node)
          ensure
            left(turn, meeting, node)
          end
        end
      end

      # This node will not come to this meeting, or has left it.
      def pass(turn) = @lock.synchronize { over_with(turn) unless @turns[turn] }

      private

      def enter(turn, what, node, value, failure = nil)
        meeting = (@turns[turn] ||= Meeting.new(what, {}, [], [], []))
        failure ||= Failure.new(ArgumentError.new("#{node} wants to #{what} where others #{meeting.what}")) unless meeting.what == what
        meeting.values[node] = value
        meeting.failure ||= failure
        meeting.came << __rem_mark
        # Who waits is woken when there is something to go on with, and not by each of many nodes.
        @come.broadcast if all_there?(meeting)
        meeting
      end

      def all_there?(meeting) = meeting.values.size == @members.size
      def all_left?(meeting) = meeting.left.size == @members.size

      def left(turn, meeting, node)
        meeting.left |= [node]
        meeting.went << __rem_mark
        return unless all_left?(meeting) && @turns.delete(turn)
        over_with(turn)
        @come.broadcast
      end

      # Whoever comes to this meeting comes too late.
      def over_with(turn)
        return if turn <= @past
        @later[turn] = true
        @past += 1 while @later.delete(@past + 1)
      end

      # No node that is gone comes any more, and whoever has left this meeting met all others there.
      def wait_for_all(meeting)
        until all_there?(meeting) || meeting.over?
          gone = @nodes - Segments.nodes
          raise NodeLostError.new("#{gone.join(", ")} left before all had come", :perhaps_done) unless gone.empty?
          @come.wait(@lock, time_left)
        end
      end

      # How long to wait until the next look.
      def time_left
        over = Remote.__end or return LOOK
        rest = (over - KumiSys.deadline(0)) / 1e9
        raise TimeoutError, "the others did not come in time" unless rest.positive?
        [rest, LOOK].min
      end

      # What all of this part of the tree brought becomes what is given to them. What a block raises is brought in place of a value, and
      # raised on all nodes.
      def settle(turn, meeting)
        @lock.synchronize do
          wait_for_all(meeting)
          meeting.came.each { |mark| __rem_needs(mark) }
        end
        value = put_together(meeting)
        return conclude(meeting) { result(meeting, value) } unless @tree.above
        return conclude(meeting) { bring(turn, meeting, value) } if @tree.below.empty?
        # Those below have this node's answer however long it waits for its own.
        meeting.courier = start { conclude(meeting) { bring(turn, meeting, value) } }
      rescue NodeLostError => error
        over(meeting, error: error)
      end

      # What can't travel is told to all.
      def bring(turn, meeting, value)
        above.meet(turn, meeting.what, @tree.node, value, meeting.failure)
      rescue Segments::NotTransferable => error
        raise if meeting.failure
        meeting.failure = Failure.new(error)
        above.meet(turn, meeting.what, @tree.node, nil, meeting.failure) rescue raise(error)
      end

      def conclude(meeting)
        over(meeting, done: [yield])
      rescue StandardError => error
        # The end of this node's own time is its own affair; a block may have raised the same.
        raise if TimeoutError === error && Remote.__end
        over(meeting, error: Failure === meeting.failure ? meeting.failure.error : error)
      end

      def over(meeting, done: nil, error: nil)
        @lock.synchronize do
          meeting.done, meeting.error, meeting.decided = done, error, __rem_mark unless meeting.over?
          @come.broadcast
        end
      end

      def start
        Thread.new do
          Thread.current.report_on_exception = false
          yield
        end
      end

      def above = @above ||= Remote.find(@name, on: @tree.above)

      # Of a part of the tree, as one: for a reduction the value; otherwise who gives, as all say, and what, of who does.
      def put_together(meeting)
        return if meeting.failure
        values = meeting.values.values_at(*@members)
        case meeting.what
        when :reduce then values.reduce(&meeting.block)
        when :broadcast, :scatter then [values.flat_map(&:first).uniq, values.flat_map(&:last)]
        end
      rescue StandardError, ScriptError => error
        meeting.failure = Failure.new(error)
        nil
      end

      # What is given, of what all nodes brought.
      def result(meeting, value)
        meeting.failure&.again
        case meeting.what
        when :reduce then value
        when :broadcast then the_one(value)
        when :scatter
          list = the_one(value)
          each, more = list.size.divmod(@nodes.size)
          at = 0
          Array.new(@nodes.size) do |i|
            n = each + (i < more ? 1 : 0)
            at += n
            list[at - n, n]
          end
        end
      end

      def the_one(value)
        from, values = value
        raise ArgumentError, "the nodes name different ones to give the value: #{from.join(", ")}" unless from.size == 1
        values.fetch(0) { raise ArgumentError, "#{from[0]} is none of the nodes" }
      end

      # What a node gets, for itself and those below it.
      def given(meeting, node)
        __rem_needs(meeting.decided)
        raise meeting.error if meeting.error
        value = meeting.done[0]
        return value unless meeting.what == :scatter
        part = value[*@tree.parts[@members.index(node)]]
        node == @tree.node ? part[0] : part
      end
    end
    private_constant :Hall
  end
end
