# Kernel#trace_var: blocks that are called after a global variable was set.
module KumiSys
  # A global that has no value yet was read, with -w.
  def self.global_unset(name)
    warning("global variable '#{name}' not initialized")
    nil
  end

  # Traces by variable, newest first.
  TRACES = {}
  TRACE_LOCK = Thread::Mutex.new

  def self.trace_var(name, command, block)
    name = to_name(name)
    raise ArgumentError, "tried to create Proc object without a block" if __undef?(command) && !block
    command = block if __undef?(command)
    return untrace_var(name, __undef) if __same(command, nil)
    TRACE_LOCK.synchronize do
      (TRACES[name] ||= []).unshift(command)
      __global_trace(name, true)
    end
    nil
  end

  def self.untrace_var(name, command)
    name = to_name(name)
    raise NameError.new("undefined global variable #{name}", name) unless __global_known(name)
    TRACE_LOCK.synchronize do
      list = TRACES[name] || []
      if __undef?(command)
        TRACES.delete(name)
        __global_trace(name, false)
        next list
      end
      gone = list.delete(command)
      if list.empty?
        TRACES.delete(name)
        __global_trace(name, false)
      end
      gone ? [gone] : nil
    end
  end

  # The loop has set the variable. A trace that sets it again is not called for that.
  def self.traced_global(name, value)
    running = (Thread.current.__send__(:[], :__traced_globals) || [])
    return value if running.include?(name)
    list = TRACE_LOCK.synchronize { TRACES[name].dup }
    return value unless list
    Thread.current[:__traced_globals] = running + [name]
    begin
      list.each { |t| __is_a(t, String) ? TOPLEVEL_BINDING.eval(t) : t.call(value) }
    ensure
      Thread.current[:__traced_globals] = running
    end
    value
  end
end
