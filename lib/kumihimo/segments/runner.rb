# frozen_string_literal: true

module Kumihimo
  module Segments
    # Threads that run code segments. While one has a run another is idle or on its way, so that a run may block.
    module Runner
      def self.start
        thread = Thread.new { Runner.work }
        thread.name = "segments' runner"
        thread.report_on_exception = false
      rescue ThreadError
        __seg_runner_gone
        raise
      end

      def self.work
        while (segment = __seg_next)
          if __same(segment, true)
            begin
              start
            rescue ThreadError
              # There is none to be had now: those there are go on.
              sleep 0.01
            end
          elsif Array === segment
            # An input that came from elsewhere can't be read.
            segment[0].__perform(segment[1])
          elsif __same(segment.__perform, false)
            return
          end
        end
      ensure
        start if !__same(segment, nil) && __seg_runner_gone
      end
    end
    private_constant :Runner
  end
end
