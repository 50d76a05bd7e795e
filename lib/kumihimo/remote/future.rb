# frozen_string_literal: true

module Kumihimo
  module Remote
    # What a call will have come to. Nobody needs to ask: a call goes on without. One whose future is dropped before it has ended is
    # called off.
    #
    # Invariant: one thread at a time asks the call itself (`:asked`); the others wait until it has found out, or has given up.
    class Future
      LOCK = Thread::Mutex.new
      FOUND = Thread::ConditionVariable.new
      private_constant :LOCK, :FOUND

      def initialize(call, name, over)
        @call = call
        @name = name
        @over = over
        @state = :open
        @value = nil
      end

      # What the call returned; waits until it has. What it raised is raised, as often as it is asked for. With a time, TimeoutError is
      # raised when that is over, and the call goes on.
      def value(timeout: nil)
        ends = timeout && KumiSys.deadline(timeout)
        until @state == :value
          raise @value if @state == :raised
          mine = LOCK.synchronize do
            case @state
            when :open then @state = :asked
            when :asked
              left = ends && (ends - KumiSys.deadline(0)) / 1e9
              late(timeout) if left && left <= 0
              FOUND.wait(LOCK, left)
              nil
            end
          end
          ask(ends) if mine
          late(timeout) if mine && @state == :open
        end
        @value
      end

      # Has it ended?
      def done?
        case @state
        when :open, :asked then __rem_ended(@call)
        else true
        end
      end

      # It is not wanted any more: what runs for it is interrupted.
      def cancel
        __rem_leave(@call)
        found(:raised, RemoteError.new("#{@name} was called off")) if LOCK.synchronize { @state == :open && @state = :asked }
        self
      end

      def inspect = "#<#{self.class} #{@name} #{done? ? "done" : "open"}>"

      private

      def late(timeout) = raise(TimeoutError, "#{@name} did not answer within #{timeout} s")

      def ask(ends)
        state = :open
        over = ends && @over ? [ends, @over].min : ends || @over
        begin
          value = __rem_wait(@call, over)
          if !__same(value, NOTHING)
            state = :value
          elsif @over && @over <= KumiSys.deadline(0) || __rem_ended(@call)
            # It was called off meanwhile, or its own time is over.
            __rem_leave(@call)
            state = :raised
            value = TimeoutError.new("#{@name} did not answer in time")
          end
        rescue StandardError, ScriptError => error
          state = :raised
          value = error
        ensure
          found(state, state == :open ? nil : value)
        end
      end

      def found(state, value)
        LOCK.synchronize do
          @value = value
          @state = state
          FOUND.broadcast
        end
      end
    end
  end

  class << self
    # The values of all these futures, in their order. What one of them raised is raised.
    def all(futures, timeout: nil)
      return futures.map(&:value) unless timeout
      over = KumiSys.deadline(timeout)
      futures.map { |future| future.value(timeout: [(over - KumiSys.deadline(0)) / 1e9, 0].max) }
    end
  end
end
