# Kernel: output and input through the standard streams.
module Kernel
  def puts(*args)
    $stdout.puts(*args)
  end
  private :puts

  def print(*args)
    args = [$_] if args.empty?
    $stdout.print(*args)
  end
  private :print

  def p(*args)
    args.each { |x| $stdout.write(KumiSys.inspect(x), "\n") }
    args.size <= 1 ? args[0] : args
  end
  private :p

  def self.puts(*args)
    $stdout.puts(*args)
  end

  def self.print(*args)
    $stdout.print(*args)
  end

  def self.p(*args)
    args.each { |x| $stdout.write(KumiSys.inspect(x), "\n") }
    args.size <= 1 ? args[0] : args
  end
end

# What the globals of input and output need when a value is not plain.
module KumiSys
  def self.set_output(name, v)
    unless v.respond_to?(:write)
      raise TypeError, "#{name} must have write method, #{__describe_class(v)} given"
    end
    __same(name, :$stderr) ? __stderr_set(v) : __stdout_set(v)
  end

  def self.deprecated_global(name, v)
    warn "warning: '#{name}' is deprecated", category: :deprecated
    v
  end

  def self.set_lineno(v)
    $. = to_int(v)
  end
end
