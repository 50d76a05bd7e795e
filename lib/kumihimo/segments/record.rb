# frozen_string_literal: true

module Kumihimo
  module Segments
    # A Struct, Data or record of a stream from another node whose class is not known here. It says of itself what its class is
    # called and what its members are, can be read like one, and goes out again as what it was. It never changes; `with` makes
    # another.
    #
    #   order.name         # => "Shop::Order", of a member `name` that one
    #   order[:id], order.id, order.to_h
    class Record
      private_class_method :new, :allocate
      undef_method :dup, :clone

      # What its class is called, unless it has a member of that name; `class_name` in any case.
      def name = @__members.fetch(:name) { @__class }
      def class_name = @__class

      # The members' names.
      def members = @__members.keys
      def to_h(&) = block_given? ? @__members.to_h(&) : @__members.dup

      # A member by its name.
      def [](name)
        @__members.fetch(name.to_sym) { raise NameError.new("no member '#{name}' in #{@__class}", name.to_sym, receiver: self) }
      end

      # Another one with other values of some members.
      def with(**changes)
        unknown = changes.keys - members
        raise ArgumentError, "unknown keyword#{"s" if unknown.size > 1}: #{unknown.map(&:inspect).join(", ")}" unless unknown.empty?
        return self if changes.empty?
        other = Record.__send__(:allocate)
        other.__send__(:__fill, @__kind, @__class, @__members.merge(changes).freeze)
        other.freeze
      end

      def deconstruct_keys(names) = names ? @__members.slice(*names) : @__members.dup

      def ==(other) = other.is_a?(Record) && @__class == other.class_name && @__members == other.to_h
      def eql?(other) = other.is_a?(Record) && @__class == other.class_name && @__members.eql?(other.to_h)
      def hash = [Record, @__class, @__members].hash

      def inspect = "#<record #{[@__class, @__members.map { |name, value| "#{name}=#{value.inspect}" }.join(", ")].reject(&:empty?).join(" ")}>"
      alias to_s inspect

      def pretty_print(q)
        q.group(1, "#<record #{@__class}", ">") do
          q.seplist(@__members, -> { q.text "," }) do |name, value|
            q.breakable
            q.text "#{name}="
            q.pp value
          end
        end
      end

      private

      def respond_to_missing?(name, all) = @__members.key?(name) || super

      def method_missing(name, *args)
        return super unless @__members.key?(name)
        raise ArgumentError, "wrong number of arguments (given #{args.size}, expected 0)" unless args.empty?
        @__members[name]
      end

      def __fill(kind, name, members)
        @__kind = kind
        @__class = name
        @__members = members
      end
    end
  end
end
