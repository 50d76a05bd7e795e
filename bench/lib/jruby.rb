# What programs of the benches use and JRuby does not have: the processor time of the process.
unless Process.const_defined?(:CLOCK_PROCESS_CPUTIME_ID)
  module Process
    CLOCK_PROCESS_CPUTIME_ID = :kumi_bench_processor_time

    class << self
      alias clock_of_the_system clock_gettime

      def clock_gettime(clock, unit = :float_second)
        return clock_of_the_system(clock, unit) unless clock == CLOCK_PROCESS_CPUTIME_ID
        all = times
        seconds = all.utime + all.stime
        case unit
        when :float_second then seconds
        when :nanosecond then (seconds * 1_000_000_000).to_i
        else raise ArgumentError, "no processor time in #{unit}"
        end
      end
    end
  end
end
