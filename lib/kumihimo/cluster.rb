# frozen_string_literal: true

require "kumihimo/remote"
require "kumihimo/cluster/door"
require "kumihimo/cluster/hall"
require "kumihimo/cluster/share"

module Kumihimo
  # One program on all nodes. Each node makes the same calls of these in the same order; who comes first waits for the others.
  # They meet along a tree, whose root is the first node by name.
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
        from = (from || nodes.map(&:to_s).min).to_s
        meet(:broadcast, nodes, offer(from) { value }, timeout)
      end

      # The values of all nodes in the order of their names, put together by the block; on all nodes. Neighbours are put together first,
      # each few on one of them: so it must not matter to the block where they are bracketed, as it does not with sums of Integers.
      def reduce(value, nodes: self.nodes, timeout: nil, &block)
        raise ArgumentError, "reduce needs a block" unless block
        meet(:reduce, nodes, value, timeout, &block)
      end

      # This node's part of a list that the node `from:` gives: parts are of equal length, but for one, in the order of the names.
      def scatter(list = nil, from: nil, nodes: self.nodes, timeout: nil)
        from = (from || nodes.map(&:to_s).min).to_s
        meet(:scatter, nodes, offer(from) { list.to_a }, timeout)
      end

      # A call of these nodes: the block's, with their place here, and the number of the call.
      def __meeting(nodes)
        place, turn = enter(nodes)
        # Whoever waits here waits for other nodes, though it be for a thread that serves them.
        __gc_awaits(awaits = true)
        value, others = yield place, turn
        Door.here.met(place.nodes, turn, others)
        value
      ensure
        __gc_awaits(false) if awaits
        if turn
          place.hall.pass(turn)
          Door.here.left(place.nodes, turn)
        end
      end

      private

      # The place of these nodes, and the number of the next call of them.
      def enter(nodes)
        nodes = nodes.map(&:to_s).uniq.sort
        raise ArgumentError, "#{self.self} is none of the nodes #{nodes.join(", ")}" unless nodes.include?(self.self)
        @lock.synchronize do
          Door.here
          place = (@places[nodes] ||= Place.new(nodes))
          [place, place.turn += 1]
        end
      end

      # [who gives, what: of who does].
      def offer(from) = [[from], from == self.self ? [yield] : []]

      def meet(what, nodes, value, timeout, &block)
        __meeting(nodes) do |place, turn|
          come = -> { place.hall.come(turn, what, value, &block) }
          [timeout ? Remote.within(timeout, &come) : come.call, place.hall.tree.below]
        end
      end
    end
    @lock = Thread::Mutex.new
    @places = {}

    # What this node has for those that it meets: their names, its hall, the first one's workshop, and the number of their last call.
    class Place
      attr_reader :nodes, :hall
      attr_accessor :turn

      def initialize(nodes)
        @nodes = nodes
        @hall = Hall.new(nodes)
        @name = "kumihimo workshop #{nodes.join(" ")}"
        @turn = 0
        @workshop = Remote.register(@name, Workshop.new(nodes)) if first?
        see_out unless @hall.tree.below.empty?
      end

      def first? = @nodes[0] == Segments.node
      def workshop = @workshop ||= Remote.find(@name, on: @nodes[0])

      # This node does no more of a list: because of this error, which all are to hear, or why it may.
      def gives_up(turn, error)
        told = Thread.new { workshop.give_up(turn, Cluster.self, error && Failure.new(error)) rescue nil }
        told.join if error
      end

      private

      # What this node keeps is kept, when its program ends, until the others know what the last meeting gave.
      def see_out
        process = Process.pid
        at_exit { Door.see_out(@nodes) if Segments.cluster? && Process.pid == process }
      end
    end
    private_constant :Place
  end

  class << self
    # Calls the block with each element of a list, on all of these nodes at once, and gives the results in their order, on each of them.
    # All make this call with equal lists. Who has done its part takes from others'. An element may be done twice where a node is lost, or
    # leaves this call by `break` and the like. What a block raises is raised on all nodes.
    def pmap(list, nodes: Cluster.nodes, &block)
      raise ArgumentError, "pmap needs a block" unless block
      list = list.to_a
      Cluster.__meeting(nodes) do |place, turn|
        done = results = error = nil
        begin
          until results
            begin
              from, length, results = place.workshop.work(turn, Cluster.self, list.size, done)
            rescue Segments::NotTransferable => error
              raise
            end
            next unless from
            begin
              done = [from, list[from, length].map(&block)]
            rescue StandardError, ScriptError => error
              raise
            end
          end
          [results, place.first? ? place.nodes - [Cluster.self] : []]
        ensure
          place.gives_up(turn, error) unless results
        end
      end
    end
  end
end
