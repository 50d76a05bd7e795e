# Signal: names, handlers, and what happens when a signal has come.
module Signal
  def self.list
    list = __signal_list
    h = {}
    i = 0
    while i < list.size
      h[list[i]] = list[i + 1]
      i += 2
    end
    h
  end

  def self.signame(number)
    n = KumiSys.to_cint(number)
    list.key(n)
  end

  def self.trap(signal, command = __undef, &block)
    KumiSys.trap(signal, command, block)
  end
end

module Kernel
  def trap(signal, command = __undef, &block)
    KumiSys.trap(signal, command, block)
  end
  module_function :trap
end

module KumiSys
  # Number of a signal given by number or name; names may have SIG and, for kill, a minus.
  def self.signal_number(signal, minus = true)
    case signal
    when Integer
      raise ArgumentError, "invalid signal number (#{signal})" if signal.abs > 64 || (!minus && signal < 0)
      return signal
    when Symbol
      name = signal.to_s
    else
      name = try_str(signal)
      unless name
        raise ArgumentError, "bad signal type #{__describe_class(signal)}"
      end
    end
    short = name
    raise ArgumentError, "negative signal name: #{name}" if !minus && short.start_with?("-")
    negative = minus && short.start_with?("-")
    short = short[1..] if negative
    short = short[3..] if short.start_with?("SIG")
    n = Signal.list[short]
    unless n
      raise ArgumentError, "unsupported signal '#{name.start_with?("SIG", "-") ? name : "SIG#{name}"}'"
    end
    negative ? -n : n
  end

  def self.trap(signal, command, block)
    n = signal_number(signal, false)
    name = Signal.signame(n)
    if %w[SEGV BUS ILL FPE VTALRM].include?(name)
      raise ArgumentError, "can't trap reserved signal: SIG#{name}"
    end
    if __undef?(command)
      raise ArgumentError, "tried to create Proc object without a block" unless block
      command = block
    end
    what = 3
    store = command
    word = __is_a(command, Symbol) ? command.to_s : try_str(command)
    if __same(command, nil)
      what = 1
    elsif word
      case word
      when "", "SIG_IGN", "IGNORE"
        what = 1
        store = "IGNORE"
      when "SIG_DFL", "DEFAULT"
        what = 0
        store = nil
      when "SYSTEM_DEFAULT"
        what = 2
        store = "SYSTEM_DEFAULT"
      when "EXIT"
        store = "EXIT"
      else
        raise ArgumentError, "wrong trap - #{word}"
      end
    end
    before = __trap_of(n)
    action = n > 0 ? __signal_action(n) : 0
    store = false if __same(command, nil)
    __trap(n, what, store)
    return n == 0 ? nil : %w[SYSTEM_DEFAULT IGNORE DEFAULT][action] if __same(before, nil)
    return nil if __same(before, false)
    before
  end

  # Runs at a safepoint of the main thread after signal n came.
  def self.signal_came(n, command)
    return if __same(command, false)
    if __same(command, nil)
      raise Interrupt, "" if n == 2
      name = Signal.signame(n)
      raise SignalException, "SIG#{name}" if [1, 3, 14, 15, 10, 12].include?(n)
      return
    end
    return if __same(command, "IGNORE") || __same(command, "SYSTEM_DEFAULT")
    if __is_a(command, String)
      raise SystemExit.new(0, "exit") if command == "EXIT"
      return
    end
    command.call(n)
  end

  # The same above a native that waits: it runs again when the handler is done.
  def self.signal_came_again(n, command)
    done = false
    begin
      signal_came(n, command)
      done = true
    ensure
      __after_signal_drop unless done
    end
    __after_signal
  end

  # The handler of trap(:EXIT), once, before the blocks of at_exit.
  def self.run_exit_trap
    command = __trap_of(0)
    return unless command && command.respond_to?(:call)
    __trap(0, 0, nil)
    command.call(0)
  end
end
