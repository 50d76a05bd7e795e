# frozen_string_literal: true

# Objects of one node that are used from others. docs/REMOTE.md is the guide.
require "kumihimo/segments"

module Kumihimo
  # What Remote is made of stands here: a class that includes Remote has its constants, and would find these where it means its own.
  module RemoteParts
    # What natives answer when nothing is there.
    NOTHING = Object.new.freeze
  end
  private_constant :RemoteParts
end

require "kumihimo/remote/errors"
require "kumihimo/remote/reference"
require "kumihimo/remote/call"
require "kumihimo/remote/future"
require "kumihimo/remote/serve"
require "kumihimo/remote/names"
require "kumihimo/remote/move"
require "kumihimo/remote/look"

module Kumihimo
  # Objects of a class that includes this module stay on their node: they travel as references. So do those that were exported one by one.
  module Remote
    # What classes and modules say of their methods.
    module Methods
      # Names that other nodes may call: of a class these alone; of a module, none else.
      def remote_methods(*names)
        __rem_names(self, Remote.__names(names), false)
        self
      end

      # Methods that it does no harm to do twice: a call of which nobody knows whether it was done is made again.
      def remote_idempotent(*names)
        __rem_names(self, Remote.__names(names), true)
        names.size == 1 ? names[0] : names
      end
    end

    class << self
      # The object stays on its node from now on, and travels as a reference. Gives the object.
      def export(object) = __rem_export(object)

      # Is this a reference to an object of another node?
      def reference?(object) = Reference === object

      # The calls in the block, and what they cause elsewhere, end within so many seconds: then TimeoutError is raised here, and what runs
      # elsewhere for them is interrupted. nil: as long as those around it.
      def within(seconds)
        before = __end
        Thread.current[:__kumihimo_end] = [before, KumiSys.deadline(seconds)].compact.min
        begin
          yield
        ensure
          Thread.current[:__kumihimo_end] = before
        end
      end

      # When the calls that this thread makes end: nanoseconds of the clock, or nil.
      def __end = __rem_locals ? Thread.current[:__kumihimo_end] : nil

      def __names(names)
        names.flatten.map do |name|
          name.to_sym
        rescue NoMethodError
          raise TypeError, "#{name.inspect} is no name of a method"
        end
      end

      private

      def included(base)
        super
        base.extend(Methods)
      end

      # Natives raise by these.
      def __lost(text, outcome) = raise(NodeLostError.new(text, outcome))
      def __no_method(text, name) = raise(NoMethodError.new(text, name, [], receiver: nil))
    end

    __rem_setup(self, Reference, RemoteParts::NOTHING)
    RemoteParts::Service.start
  end
end
