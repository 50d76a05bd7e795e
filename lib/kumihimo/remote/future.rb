# frozen_string_literal: true

module Kumihimo
  module Remote
    # What a call will have come to. Nobody needs to ask: a call goes on without. One whose future is dropped before it has ended is
    # called off.
    #
    # Invariant: its value is found without a lock where the answer is there and easily told (`__rem_value`). Otherwise one thread at a time
    # asks the call itself, and stands in `@state` meanwhile; the others wait until it has found out, or has given up. It is interrupted
    # only while it waits, so that what has come is told to all, and none waits for one that is gone.
    class Future
      LOCK = Thread::Mutex.new
      FOUND = Thread::ConditionVariable.new
      private_constant :LOCK, :FOUND
      singleton_class.undef_method(:new, :allocate)

      # What the call returned; waits until it has. What it raised is raised, as often as it is asked for. With a time, TimeoutError is
      # raised when that is over, and the call goes on.
      def value(timeout: nil)
        value = __rem_value(self)
        return value unless __same(value, RemoteParts::NOTHING)
        ends = timeout && KumiSys.deadline(timeout)
        find_out(ends, timeout) until @state == :value || @state == :raised
        raise @value if @state == :raised
        @value
      end

      # Has it ended?
      def done?
        case @state
        when :value, :raised then true
        else __rem_ended(self)
        end
      end

      # It is not wanted any more: what runs for it is interrupted.
      def cancel
        __rem_leave(self)
        error = called_off
        LOCK.synchronize { found(:raised, error) unless @state }
        self
      end

      def inspect = "#<#{self.class} #{__rem_method(self)} #{done? ? "done" : "open"}>"

      private

      def called_off = RemoteError.new("#{__rem_method(self)} was called off")
      def late(timeout) = raise(TimeoutError, "#{__rem_method(self)} did not answer within #{timeout} s")

      # Asks, or waits for who does.
      def find_out(ends, timeout)
        masks = __thread_masks
        __thread_set_masks([masks, Object, 1])
        begin
          mine = LOCK.synchronize do
            case (asks = @state)
            when nil then @state = Thread.current
            when Thread
              # A fork's child has none of its parent's threads.
              next @state = Thread.current unless asks.alive?
              left = ends && (ends - KumiSys.deadline(0)) / 1e9
              late(timeout) if left && left <= 0
              FOUND.wait(LOCK, left)
              nil
            end
          end
          late(timeout) if mine && !ask(ends, masks)
        ensure
          __thread_set_masks(masks)
        end
      end

      # Has it ended? What it has come to is there then.
      def ask(ends, masks)
        state = nil
        own = __rem_over(self)
        __rem_event(self, ends && own ? [ends, own].min : ends || own)
        __thread_set_masks([masks, Object, 2])
        begin
          value = __rem_wait(self, 0)
          if !__same(value, RemoteParts::NOTHING)
            state = :value
          elsif own && own <= KumiSys.deadline(0)
            __rem_leave(self)
            state = :raised
            value = TimeoutError.new("#{__rem_method(self)} did not answer in time")
          elsif __rem_ended(self)
            state = :raised
            value = called_off
          end
        rescue StandardError, ScriptError => error
          state = :raised
          value = error
        end
        state
      ensure
        __thread_set_masks([masks, Object, 2])
        LOCK.synchronize { found(state, state ? value : nil) }
      end

      # Under the lock.
      def found(state, value)
        @value = value
        @state = state
        FOUND.broadcast
      end
    end
  end

  class << self
    # The values of all these futures, in their order. What one of them raised is raised.
    def all(futures, timeout: nil)
      over = timeout && KumiSys.deadline(timeout)
      return futures.map(&:value) unless over
      futures.map { |future| future.value(timeout: [(over - KumiSys.deadline(0)) / 1e9, 0].max) }
    end
  end
end
