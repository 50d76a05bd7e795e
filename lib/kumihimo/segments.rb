# frozen_string_literal: true

# Data segments under keys, and code segments that run when their data is there. docs/SEGMENTS.md is the guide.
require "kumihimo/segments/errors"
require "kumihimo/segments/segment"
require "kumihimo/segments/trace"
require "kumihimo/segments/value"
require "kumihimo/segments/record"
require "kumihimo/segments/encoding"
require "kumihimo/segments/calls"
require "kumihimo/segments/key"
require "kumihimo/segments/manager"
require "kumihimo/segments/watch"
require "kumihimo/segments/runner"
require "kumihimo/segments/code_segment"
require "kumihimo/segments/repetition"
require "kumihimo/segments/log"
require "kumihimo/segments/remote"
require "kumihimo/segments/store"
require "kumihimo/segments/redis"
require "kumihimo/segments/apart"
require "kumihimo/segments/look"
require "kumihimo/segments/leaving"

module Kumihimo
  # Objects of other nodes (docs/REMOTE.md), for programs that use them.
  autoload :Remote, "kumihimo/remote"
  autoload :RemoteError, "kumihimo/remote"
  autoload :NodeLostError, "kumihimo/remote"
  autoload :Cluster, "kumihimo/cluster"

  # The calls of this module that come with these constants; they stand in front when they are there.
  module AtFirst
    def all(...)
      require "kumihimo/remote"
      Kumihimo.all(...)
    end

    def pmap(...)
      require "kumihimo/cluster"
      Kumihimo.pmap(...)
    end
  end
  private_constant :AtFirst
  extend AtFirst

  class << self
    # A thread that runs the block while others wait: it gives way soon to each that can run, and the time in it counts as idle where a
    # schedule of collections counts speculative work so. The same as a thread whose priority is below zero.
    def speculate(*arguments, &block)
      raise ArgumentError, "speculate needs a block" unless block
      Thread.new do
        Thread.current.priority = -1
        block.call(*arguments)
      end
    end
  end

  module Segments
    # What natives answer when nothing is there.
    NOTHING = Object.new.freeze
    private_constant :NOTHING

    # Stands at the end of a key that was closed; it travels, as every Data does.
    EndOfKey = Data.define do
      def inspect = "#<#{self.class}>"
    end
    END_OF_KEY = EndOfKey.new

    __seg_setup(Key, NOTHING, END_OF_KEY)
    require "kumihimo/segments/stress" if ENV["KUMI_SEGMENT_STRESS"].to_i.positive?
    LOCAL = Manager.__send__(:new)
    private_constant :LOCAL

    class << self
      # This node's data segment manager.
      def local = LOCAL

      # Runs the block, in a code segment, when all that it names is there; its values are the block's arguments, takes first. Inside,
      # `put`, `update` and `flip` are those of the code segment. Gives the code segment.
      #
      #   Kumihimo::Segments.when(take: "order", peek: "rates") { |order, rates| put "bill", order.bill(rates) }
      def when(take: [], peek: [], &block)
        raise ArgumentError, "Segments.when needs a block" unless block
        # A key is a list too, of all that comes under it.
        takes, peeks = [take, peek].map { |keys| keys.is_a?(Array) ? keys : [keys].compact }
        BlockSegment.new(takes, peeks, block).start
      end

      # Waits until no code segment is ready or running. Those that wait for inputs are not waited for.
      def settle
        __seg_settled
        # What ends elsewhere may have made others ready here.
        __seg_settled while Apart.settle
        self
      end

      # Counts: code segments waiting, ready and running, idle runners; keys, requests, leases, bytes of tables.
      def stat
        waiting, ready, running, idle = __seg_runs
        running += Apart.running
        keys, requests, leases, bytes, = __seg_totals
        { waiting:, ready:, running:, idle_runners: idle, keys:, requests:, leases:, bytes: }
      end
    end
  end
end
