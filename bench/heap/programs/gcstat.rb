# What the runtime tells of its collections, as plain data: what a program reads before and after the part it measures.
# Runtimes tell different things; what one doesn't tell is absent.
module GcStat
  # kumi's histograms, { upper end in microseconds => count }, which it gives when asked for by name.
  HISTOGRAMS = %i[pause_young pause_full pause_slice pause_window time_to_safepoint].freeze

  module_function

  # GC.stat now, and processor time of the process.
  def now
    stat = GC.stat.transform_keys(&:to_s)
    HISTOGRAMS.each { |k| (h = histogram(k)) && stat[k.to_s] = h }
    stat["cpu_s"] = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    stat["wall_s"] = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    stat
  end

  # The process's highest resident memory in bytes; nil where the system doesn't tell.
  def memory
    File.read("/proc/self/status")[/^VmHWM:\s+(\d+) kB/, 1]&.then { |kb| kb.to_i * 1024 }
  rescue SystemCallError
    nil
  end

  # Other runtimes do not know the name.
  def histogram(name)
    GC.stat(name)
  rescue ArgumentError
    nil
  end

  # What came in between. Figures that are levels rather than counts come out as differences, too.
  def between(from, to)
    to.to_h { |k, v| [k, less(v, from[k])] }
  end

  def less(value, before)
    case value
    when Numeric then before.is_a?(Numeric) ? value - before : value
    when Hash then value.to_h { |k, v| [k, less(v, before.is_a?(Hash) ? before[k] : nil)] }
    else value
    end
  end

  # JSON without a library, so that loading one is no part of what is measured.
  def json(value)
    case value
    when Hash then "{#{value.map { |k, v| "#{k.to_s.inspect}:#{json(v)}" }.join(",")}}"
    when Array then "[#{value.map { |v| json(v) }.join(",")}]"
    when Float then value.finite? ? value.to_s : "null"
    when Integer, true, false then value.to_s
    when nil then "null"
    else value.to_s.inspect
    end
  end
end
