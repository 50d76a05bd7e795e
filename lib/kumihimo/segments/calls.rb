# frozen_string_literal: true

module Kumihimo
  module Segments
    # What a manager does for a key. `key` is a name, or what the manager made of it (`Manager#key`).
    module Calls
      OWNED = 1
      UPDATE = 2
      private_constant :OWNED, :UPDATE

      class << self
        def put(key, value, move, timeout, not_before, ttl)
          bits = 0
          if move
            value = Value.owned(value)
            bits = OWNED unless __shareable(value)
          else
            value = Value.shared(value)
          end
          if __same(not_before, nil) && __same(ttl, nil)
            index = __seg_put(key, value, bits)
            return index unless __same(index, nil)
          else
            Clock.start
            delay = delay_of(not_before)
            ttl = nanoseconds(ttl, "ttl")
            index = __seg_put_timed(key, value, bits, delay, ttl)
            return index == true ? nil : index unless __same(index, nil)
          end
          return false if __same(timeout, false)
          wait_for_room(key, value, bits, timeout, delay, ttl)
        end

        def update(key, value, move, ttl)
          bits = UPDATE
          if move
            value = Value.owned(value)
            bits |= OWNED unless __shareable(value)
          else
            value = Value.shared(value)
          end
          return __seg_put(key, value, bits) if __same(ttl, nil)
          Clock.start
          __seg_put_timed(key, value, bits, nil, nanoseconds(ttl, "ttl"))
        end

        def wait_for(key, take, after, timeout, whole)
          request = __seg_ask(key, take, after, whole)
          deadline = KumiSys.deadline(timeout)
          begin
            found = __seg_wait(request, deadline)
          ensure
            __seg_leave(request)
          end
          return found unless __same(found, NOTHING)
          raise TimeoutError, "no segment under #{Segments.name_of(key).inspect} within #{timeout} s"
        end

        def segment(key, parts) = Segment.new(Segments.name_of(key), *parts)

        def wait_for_room(key, value, bits, timeout, delay, ttl)
          request = __seg_room(key, value, bits, delay, ttl)
          found = NOTHING
          begin
            found = __seg_wait(request, KumiSys.deadline(timeout))
          ensure
            stored = __seg_leave(request)
            found = stored unless __same(stored, nil)
          end
          return found == true ? nil : found unless __same(found, NOTHING)
          raise TimeoutError, "no room under #{Segments.name_of(key).inspect} within #{timeout} s"
        end

        # Nanoseconds of a number of seconds.
        def nanoseconds(seconds, what)
          return nil if __same(seconds, nil)
          ns = (Float(seconds) * 1_000_000_000).round
          raise ArgumentError, "#{what}: must not be negative" if ns.negative?
          ns
        end

        # `not_before:` is a Time, or seconds from now.
        def delay_of(not_before)
          return nanoseconds(not_before, "not_before") unless not_before.is_a?(Time)
          [((not_before - Time.now) * 1_000_000_000).round, 0].max
        end
      end
    end

    # The task that does what is due.
    module Clock
      LOCK = Mutex.new
      private_constant :LOCK

      def self.start
        return if @thread&.alive?
        LOCK.synchronize do
          next if @thread&.alive?
          @thread = Thread.new { __seg_clock }
          @thread.name = "segments' clock"
        end
      end
    end

    def self.name_of(key) = key.is_a?(Key) ? key.name : key
  end
end
