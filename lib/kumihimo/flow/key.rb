# frozen_string_literal: true

module Kumihimo
  module Operators
    # What an element is joined, grouped or sorted by, as a lambda of one argument.
    module Key
      ITSELF = ->(element) { element }
      METHOD_NAME = /\A[A-Za-z_]\w*[?!]?\z/
      @accessors = {}

      # A Hash that lacks the key, and has no default, raises KeyError, and an Array that is too short IndexError: a misspelt key
      # would else be equal to nothing, silently.
      #
      # nil: the element itself. A Symbol: that method of the element, or that key of a Hash. An Integer or String: `element[it]`.
      # An Array of these: all of them; with `nils: false` nil when one of them is. Anything with `call`: what it returns.
      def self.of(spec, nils: true)
        case spec
        when nil then ITSELF
        when Symbol then @accessors[spec] ||= accessor(spec)
        when Integer, String then index(spec)
        when Array then composite(spec.map { |part| of(part) }, nils)
        else
          raise ArgumentError, "a key is a Symbol, an Integer, a String, an Array of these or a proc, not #{spec.inspect}" unless spec.respond_to?(:call)
          spec.is_a?(Proc) ? spec : spec.method(:call).to_proc
        end
      end

      # The two keys of an operator over two inputs, which are its argument `name`: `[left, right]` or one for both.
      def self.pair(spec, name: :on, nils: false)
        return [of(spec, nils: nils)] * 2 unless spec.is_a?(Array)
        unless spec.size == 2
          raise ArgumentError, "#{name}: takes one key for both sides or [left, right], not #{spec.inspect}; several fields: [[:a, :b], [:a, :b]]"
        end
        left, right = spec
        if left.is_a?(Array) && right.is_a?(Array) && left.size != right.size
          raise ArgumentError, "#{name}: #{left.inspect} and #{right.inspect} can never be equal: give as many fields on both sides"
        end
        spec.map { |side| of(side, nils: nils) }
      end

      # `element[key]`, which must be there.
      def self.index(key)
        ->(element) do
          next element.fetch(key) { missing(element, key) } if ::Hash === element
          value = element[key]
          value.nil? ? absent(element, key) : value
        end
      end

      # Compiled, so that a field costs a call of its reader and not a `public_send`.
      def self.accessor(name)
        if METHOD_NAME.match?(name)
          eval("->(element) { ::Hash === element ? element.fetch(:#{name}) { ::Kumihimo::Operators::Key.missing(element, :#{name}) } : element.#{name} }", TOPLEVEL_BINDING.dup, __FILE__, __LINE__)
        else
          ->(element) { Hash === element ? element.fetch(name) { missing(element, name) } : element.public_send(name) }
        end
      end

      # The value of a key that a Hash doesn't have.
      def self.missing(hash, key)
        return hash[key] if hash.default_proc || !hash.default.nil?
        known = hash.keys.first(8).map(&:inspect).join(", ")
        raise KeyError.new("key not found: #{key.inspect} (the element has #{hash.empty? ? "none" : known}; for a key that may be missing give a proc)", receiver: hash, key: key)
      end

      # What `element[key]` is when it is nil: nil, if the element has such a place.
      def self.absent(element, key)
        case element
        when ::Array, ::MatchData
          return nil if key.is_a?(String) || key.between?(-element.size, element.size - 1)
          raise IndexError, "no element [#{key}] in #{element.class} of size #{element.size} (for one that may be missing give a proc)"
        when ::String
          text = element.size > 40 ? "#{element[0, 40]}..." : element
          raise IndexError, "no [#{key.inspect}] in the String #{text.inspect} (for what may be missing give a proc)"
        else
          return nil if !element.respond_to?(:key?) || element.key?(key)
          raise KeyError.new("key not found: #{key.inspect} (in a #{element.class}; for a key that may be missing give a proc)", receiver: element, key: key)
        end
      end

      def self.composite(parts, nils)
        return ->(element) { parts.map { |part| part.call(element) } } if nils
        ->(element) do
          key = parts.map { |part| part.call(element) }
          key unless key.include?(nil)
        end
      end
      private_class_method :accessor, :index, :absent, :composite
    end
  end
end
