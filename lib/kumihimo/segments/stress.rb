# frozen_string_literal: true

module Kumihimo
  module Segments
    # KUMI_SEGMENT_STRESS: what is handed over is copied by its giver and by its taker, so that a program that relies on identity,
    # or goes on to use what it gave away, is found out.
    module Stress
      FREEZE = ::Kernel.instance_method(:freeze)
      # What has instance variables of its own now and then, and more that no copy would have.
      OTHERS = [Module, Proc, IO, Thread, Fiber, Exception, Thread::Queue, Thread::Mutex, Enumerator, CodeSegment, Manager, Key].freeze
      private_constant :FREEZE, :OTHERS

      class << self
        # What is given away is copied; what is shared is frozen as it is, and copied for whoever takes it.
        def given(value, options)
          return value unless options[:move]
          copied = copy(value)
          moved = Value.owned(value)
          __same(copied, value) ? moved : copied
        end

        # The same of a put that may be in vain, by the block: then it is its giver's still.
        def giving(value, options)
          copied = options[:move] ? copy(value) : value
          put = yield copied
          Value.owned(value) unless __same(copied, value) || __same(put, false)
          put
        end

        # A copy of what consists of Strings, Arrays, Hashes, Structs and plain objects; whatever else it refers to is the same.
        def copy(value) = copied(value, {}.compare_by_identity)

        private

        def copied(x, done)
          return x unless __is_a(x, String) || __is_a(x, Array) || __is_a(x, Hash) || __is_a(x, Struct) || plain?(x)
          return done[x] if done.key?(x)
          new = done[x] = x.clone(freeze: false)
          case new
          when Array, Struct then new.size.times { |i| new[i] = copied(new[i], done) }
          when Hash
            pairs = new.to_a
            new.clear
            pairs.each { |key, value| new[copied(key, done)] = copied(value, done) }
          end
          new.instance_variables.each { |name| new.instance_variable_set(name, copied(new.instance_variable_get(name), done)) }
          FREEZE.bind_call(new) if __frozen(x)
          new
        end

        # An object with instance variables whose class says nothing of how it is copied.
        def plain?(x)
          __is_a(x, Object) && !OTHERS.any? { |c| __is_a(x, c) } && !x.instance_variables.empty? &&
            %i[initialize_copy initialize_clone].all? { |name| __class(x).instance_method(name).owner == ::Kernel }
        end
      end

      # Before a Manager's methods.
      module OfManager
        def put(key, value, **options) = Stress.giving(value, options) { |given| super(key, given, **options) }
        def put?(key, value, **options) = Stress.giving(value, options) { |given| super(key, given, **options) }
        def update(key, value, **options) = Stress.giving(value, options) { |given| super(key, given, **options) }
        def peek(...) = Stress.copy(super)
        def take(...) = Stress.copy(super)
        def peek?(key, default = nil, **options) = Stress.taken(super(key, NONE, **options), default)
        def take?(key, default = nil, **options) = Stress.taken(super(key, NONE, **options), default)
      end

      # Before a Key's.
      module OfKey
        def put(value, **options) = Stress.giving(value, options) { |given| super(given, **options) }
        def put?(value, **options) = Stress.giving(value, options) { |given| super(given, **options) }
        def update(value, **options) = Stress.giving(value, options) { |given| super(given, **options) }
        def peek(...) = Stress.copy(super)
        def take(...) = Stress.copy(super)
        def __take_item = Stress.copy(super)
      end

      # Before a CodeSegment's.
      module OfCodeSegment
        def put(key, value, **options) = super(key, __copied(value, options), **options)
        def update(key, value, **options) = super(key, __copied(value, options), **options)

        # An input that is put by move: true is its copy from then on.
        def __copied(value, options)
          copied = Stress.given(value, options)
          at = __same(copied, value) ? nil : __hand_on(value, copied)
          __give(at, value) if at
          copied
        end

        def __perform(...)
          (@__own_inputs || self.class.__inputs).each_with_index do |input, i|
            _, _, given, = __seg_input(self, i)
            value = Stress.copy(given)
            __seg_hand_on(self, given, value)
            __ivar_set(self, :"@#{input.name}", value)
          rescue NotShared
            # Nobody sees it.
          end
          super
        end
      end

      # What stands for nothing among the values that are taken.
      NONE = Object.new.freeze

      def self.taken(found, default) = __same(found, NONE) ? default : copy(found)

      Manager.prepend(OfManager)
      Key.prepend(OfKey)
      CodeSegment.prepend(OfCodeSegment)
      Segment.prepend(Module.new { def initialize(key, index, value, *rest) = super(key, index, Stress.copy(value), *rest) })
      Watch::Event.prepend(Module.new { def initialize(value:, **rest) = super(value: Stress.copy(value), **rest) })
    end
    private_constant :Stress
  end
end
