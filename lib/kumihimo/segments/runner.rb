# frozen_string_literal: true

module Kumihimo
  module Segments
    # Threads that run code segments. While one has runs in hand another is idle or on its way, so that a run may block: the other one
    # takes over what has not begun.
    module Runner
      # It is counted on from the moment on in which nothing can come between.
      def self.start
        Thread.handle_interrupt(Object => :never) do
          __seg_expect
          thread = KumiSys.thread_apart("segments' runner") { Runner.work }
          thread.report_on_exception = false
        rescue ThreadError
          __seg_runner_gone(nil)
          raise
        end
      end

      def self.work
        runner = __seg_runner
        Thread.handle_interrupt(Object => :immediate) { serve(runner) }
      ensure
        start if __seg_runner_gone(runner)
      end

      def self.serve(runner)
        while (segment = __seg_next(runner))
          if __same(segment, true)
            begin
              start
            rescue ThreadError
              # There is none to be had now: those there are go on.
              sleep 0.01
            end
          elsif Array === segment
            # An input is owned, or came from elsewhere and can't be read.
            segment[0].__perform(runner, segment[1])
          elsif __same(segment.__perform(runner), false)
            return
          end
        end
      end
    end
    private_constant :Runner
  end
end
