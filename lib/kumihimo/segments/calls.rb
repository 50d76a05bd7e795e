# frozen_string_literal: true

module Kumihimo
  module Segments
    # What a manager does for a key. `key` is a name, or what the manager made of it (`Manager#key`).
    module Calls
      OWNED = 1
      UPDATE = 2
      # A thousand years of nanoseconds would not fit into 61 bits; thirty do.
      FOR_EVER = 30 * 366 * 86_400 * 1_000_000_000
      private_constant :OWNED, :UPDATE, :FOR_EVER

      class << self
        # A program that traces does so from its first trace on; others pay nothing.
        def __traces
          return if @traces
          __seg_traces
          @traces = true
        end

        # How something is put, for natives: bits, and the trace where there is one.
        def how(bits)
          return bits unless @traces && (trace = Segments.trace)
          [bits, trace.traceparent, trace.tracestate]
        end

        def put(key, value, move, timeout, not_before, ttl)
          return hand_over(key, value, timeout, not_before, ttl) if move && !__shareable(value)
          value = Value.shared(value)
          bits = 0
          bits = how(bits) if @traces
          if __same(not_before, nil) && __same(ttl, nil)
            index = __seg_put(key, value, bits)
            return index unless __same(index, nil)
          else
            delay, ttl_ns = times(not_before, ttl)
            index = __seg_put_timed(key, value, bits, delay, ttl_ns)
            return index == true ? nil : index unless __same(index, nil)
          end
          return false if __same(timeout, false)
          wait_for_room(key, value, bits, timeout, delay, ttl_ns)
        rescue NotTransferable
          # Others ask for the key, and fields of a record of a stream were not read yet, which is Ruby's affair. What can't travel raises
          # again.
          __seg_rehearse(value)
          put(key, value, move, timeout, not_before, ttl)
        end

        # As put, of what can change. It is its giver's until it is stored.
        def hand_over(key, value, timeout, not_before, ttl)
          bits = OWNED
          bits = how(bits) if @traces
          delay, ttl_ns = times(not_before, ttl)
          index = __seg_put_moved(key, value, bits, delay, ttl_ns)
          index = hand_into_room(key, value, timeout, [bits, delay, ttl_ns]) if __same(index, false)
          index == true ? nil : index
        rescue NotTransferable
          # See put.
          __seg_rehearse(value)
          hand_over(key, value, timeout, not_before, ttl)
        end

        def update(key, value, move, ttl)
          bits = UPDATE
          moves = move && !__shareable(value)
          if moves
            bits |= OWNED
          else
            value = Value.shared(value)
          end
          bits = how(bits) if @traces
          _, ttl_ns = times(nil, ttl)
          return __seg_put_moved(key, value, bits, nil, ttl_ns) if moves
          __same(ttl, nil) ? __seg_put(key, value, bits) : __seg_put_timed(key, value, bits, nil, ttl_ns)
        rescue NotTransferable
          __seg_rehearse(value)
          update(key, value, move, ttl)
        end

        # The block, if there is one, is called every so many seconds meanwhile.
        def wait_for(key, take, after, timeout, whole, every = nil)
          deadline = KumiSys.deadline(timeout)
          found = NOTHING
          begin
            request = __seg_ask(key, take, after, whole)
            while every
              look = KumiSys.deadline(every)
              break if deadline && deadline <= look
              found = __seg_wait(request, look)
              break unless __same(found, NOTHING)
              yield
            end
            found = __seg_wait(request, deadline) if __same(found, NOTHING)
          ensure
            __seg_leave(request)
          end
          return found unless __same(found, NOTHING)
          raise TimeoutError, "no segment under #{Segments.name_of(key).inspect} within #{timeout} s"
        end

        def wait_for_room(key, value, bits, timeout, delay, ttl)
          deadline = KumiSys.deadline(timeout)
          found = NOTHING
          begin
            request = __seg_room(key, value, bits, delay, ttl)
            found = __seg_wait(request, deadline)
          ensure
            stored = __seg_leave(request)
            found = stored unless __same(stored, nil)
          end
          return found == true ? nil : found unless __same(found, NOTHING)
          raise TimeoutError, "no room under #{Segments.name_of(key).inspect} within #{timeout} s"
        end

        # Where a key has a limit. `how`: bits, delay, time to live.
        def hand_into_room(key, value, timeout, how)
          deadline = KumiSys.deadline(timeout || (__same(timeout, nil) ? nil : 0))
          begin
            request = __seg_room(key, nil, nil, nil, nil)
            found = __seg_fill(request, deadline, key, value, how)
          ensure
            __seg_leave(request)
          end
          return found unless __same(found, NOTHING)
          return false if __same(timeout, false)
          raise TimeoutError, "no room under #{Segments.name_of(key).inspect} within #{timeout} s"
        end

        # Nanoseconds until it enters and for which it lasts; nil: at once, for ever.
        def times(not_before, ttl)
          return if __same(not_before, nil) && __same(ttl, nil)
          Clock.start
          [delay_of(not_before), nanoseconds(ttl, "ttl")]
        end

        # Nanoseconds of a number of seconds.
        def nanoseconds(seconds, what)
          return nil if __same(seconds, nil)
          raise TypeError, "#{what}: seconds are a number, not #{seconds.inspect}" unless seconds.is_a?(Numeric) && seconds.real?
          seconds = seconds.to_f unless seconds.is_a?(Integer)
          raise ArgumentError, "#{what}: seconds are a number from 0 on, not #{seconds}" unless seconds.finite? && seconds >= 0
          # What does not fit into the clock's numbers is as good as for ever.
          [(seconds * 1_000_000_000).round, FOR_EVER].min
        end

        # `not_before:` is a Time, or seconds from now.
        def delay_of(not_before)
          return nanoseconds(not_before, "not_before") unless not_before.is_a?(Time)
          nanoseconds([not_before - Time.now, 0].max, "not_before")
        end
      end
    end

    # The task that does what is due.
    module Clock
      LOCK = Mutex.new
      private_constant :LOCK

      # The child of a fork has no thread of its parent's.
      module OfFork
        def _fork
          pid = super
          if pid == 0
            Segments.__forked
            Clock.start if Clock.started?
          end
          pid
        end
      end
      Process.singleton_class.prepend(OfFork)
      private_constant :OfFork

      def self.started? = !!@thread

      def self.start
        return if @thread&.alive?
        LOCK.synchronize do
          next if @thread&.alive?
          @thread = KumiSys.thread_apart("segments' clock") { __seg_clock }
        end
      end
    end

    def self.name_of(key) = key.is_a?(Key) ? key.name : key
  end
end
