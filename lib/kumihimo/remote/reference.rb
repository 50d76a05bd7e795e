# frozen_string_literal: true

module Kumihimo
  module Remote
    # An object of another node. Every method but those below is called there: arguments that stay on this node travel as references,
    # all others as copies. A reference that comes to the node of its object is the object.
    class Reference < BasicObject
      undef_method :instance_eval, :instance_exec

      # The methods of a reference itself, and conversions that the language asks for: no object has them for others.
      OWN = %i[
        == != ! eql? equal? hash __id__ inspect to_s class is_a? kind_of? instance_of? nil? frozen? freeze respond_to? async
        node within move_to dup clone itself
      ].freeze
      CONVERSIONS = %i[
        to_ary to_str to_hash to_proc to_io to_path to_int to_a to_h to_sym to_i to_f to_r to_c to_open to_regexp coerce marshal_dump
        _dump begin_with
      ].freeze
      private_constant :OWN, :CONVERSIONS

      # The name of the object's node.
      def node = ::Kumihimo::Remote.__node_of(self)

      # Moves the object to another node. Gives the object where that is this one, else the reference.
      def move_to(node) = ::Kumihimo::Remote.move(self, to: node)

      # Calls of it that are not waited for: each gives a Future at once.
      def async = RemoteParts::Later.new(self)

      # Calls of it that end within so many seconds.
      def within(seconds) = RemoteParts::Within.new(self, seconds)

      def ==(other) = ::Kumihimo::Remote.__same?(self, other)
      alias eql? ==
      def hash = ::Kumihimo::Remote.__hash(self)
      def itself = self
      def dup = self
      def clone(freeze: nil) = self
      def freeze = self
      def frozen? = true
      def nil? = false
      def class = Reference
      def is_a?(type) = type == Reference || type == ::BasicObject
      alias kind_of? is_a?
      def instance_of?(type) = type == Reference
      def inspect = ::Kumihimo::Remote.__inspect(self)
      alias to_s inspect

      # Conversions are not asked for elsewhere.
      def respond_to?(name, all = false)
        name = name.to_sym
        return true if OWN.include?(name)
        return false if CONVERSIONS.include?(name)
        ::Kumihimo::Remote.__call(self, :respond_to?, [name], nil, nil)
      end

      def method_missing(name, *arguments, **keywords, &block)
        ::Kumihimo::Remote.__refuse(self, name) if CONVERSIONS.include?(name)
        ::Kumihimo::Remote.__call(self, name, arguments, keywords, block)
      end
    end

    # Calls without waiting.
    class RemoteParts::Later < BasicObject
      def initialize(reference, seconds = nil)
        @reference = reference
        @seconds = seconds
      end

      def method_missing(name, *arguments, **keywords, &block)
        ::Kumihimo::Remote.__async(@reference, name, arguments, keywords, block, @seconds)
      end

      def respond_to_missing?(name, all) = true
      def inspect = "#<Kumihimo::Remote::Later>"
    end

    # Calls with a time.
    class RemoteParts::Within < BasicObject
      def initialize(reference, seconds)
        @reference = reference
        @seconds = seconds
      end

      def async = RemoteParts::Later.new(@reference, @seconds)

      def method_missing(name, *arguments, **keywords, &block)
        reference = @reference
        ::Kumihimo::Remote.within(@seconds) { ::Kumihimo::Remote.__call(reference, name, arguments, keywords, block) }
      end

      def respond_to_missing?(name, all) = true
      def inspect = "#<Kumihimo::Remote::Within>"
    end
  end
end
