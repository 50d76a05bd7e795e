# Kernel: output and input through the standard streams.
module Kernel
  def puts(*args)
    $stdout.puts(*args)
  end

  def print(*args)
    args = [$_] if __ary_len(args) == 0
    first = true
    args.each do |x|
      $stdout.write($,) unless first || $,.nil?
      first = false
      $stdout.write(x)
    end
    $stdout.write($\) unless $\.nil?
    nil
  end

  def p(*args)
    args.each { |x| $stdout.write(KumiSys.inspect(x), "\n") }
    $stdout.flush if __is_a($stdout, IO)
    __ary_len(args) <= 1 ? args[0] : args
  end

  def putc(x) = $stdout.putc(x)

  def printf(*args) = KumiSys.printf(args)

  def open(path, *rest, **opts, &block) = KumiSys.open(path, rest, opts, block)

  def gets(*args, **opts)
    $_ = ARGF.gets(*args, **opts)
  end

  def readline(*args, **opts) = ARGF.readline(*args, **opts)

  def readlines(*args, **opts) = ARGF.readlines(*args, **opts)

  def select(reads, writes = nil, errors = nil, timeout = nil) = IO.select(reads, writes, errors, timeout)

  def sleep(duration = __undef) = KumiSys.sleep(duration)

  def test(command, file1, file2 = __undef) = KumiSys.test(command, file1, file2)

  private :print
  module_function :puts, :p, :putc, :printf, :open, :gets, :readline, :readlines, :select, :sleep, :test

  def self.print(*args) = $stdout.print(*args)
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
    name = :$; if __same(name, :"$-F")
    warning("'#{name}' is deprecated", :deprecated)
    v
  end

  def self.set_lineno(v)
    $. = to_cint(v)
  end

  def self.printf(args)
    return nil if __ary_len(args) == 0
    out = $stdout
    out = args.shift unless __is_a(args[0], String)
    out.write(Kernel.format(*args))
    nil
  end

  def self.open(path, rest, opts, block)
    if !__is_a(path, String) && path.respond_to?(:to_open)
      io = path.to_open(*rest, **opts)
      return block ? block.call(io) : io
    end
    File.open(to_path(path), *rest, **opts, &block)
  end

  # Durations that are no Integer or Float.
  def self.sleep(duration)
    return Kernel.sleep if __undef?(duration) || __same(duration, nil)
    Kernel.sleep(time_interval(duration).to_f)
  end

  # A number of seconds that is not negative, from anything that has whole ones and a rest.
  def self.time_interval(x)
    unless __is_a(x, Integer) || __is_a(x, Float) || __is_a(x, Rational)
      if __is_a(x, String) || !x.respond_to?(:divmod)
        raise TypeError, "can't convert #{__describe_type(x)} into time interval"
      end
      x = x.divmod(1).sum
    end
    raise ArgumentError, "time interval must not be negative" if x < 0
    x
  end

  # Kernel#test: a file question named by one character.
  def self.test(command, a, b)
    c = __is_a(command, Integer) ? command.chr : to_str(command)[0]
    two = { "=" => 1, "<" => 1, ">" => 1, "-" => 1 }.key?(c)
    arity_error(2, 3) if two && __undef?(b)
    arity_error(3, 2) if !two && !__undef?(b)
    case c
    when "e" then File.exist?(a)
    when "f" then File.file?(a)
    when "d" then File.directory?(a)
    when "r" then File.readable?(a)
    when "R" then File.readable_real?(a)
    when "w" then File.writable?(a)
    when "W" then File.writable_real?(a)
    when "x" then File.executable?(a)
    when "X" then File.executable_real?(a)
    when "s" then File.size?(a)
    when "z" then File.zero?(a)
    when "l" then File.symlink?(a)
    when "p" then File.pipe?(a)
    when "S" then File.socket?(a)
    when "b" then File.blockdev?(a)
    when "c" then File.chardev?(a)
    when "u" then File.setuid?(a)
    when "g" then File.setgid?(a)
    when "k" then File.sticky?(a)
    when "o", "O" then File.owned?(a)
    when "G" then File.grpowned?(a)
    when "M" then File.mtime(a)
    when "A" then File.atime(a)
    when "C" then File.ctime(a)
    when "-" then File.identical?(a, b)
    when "=" then File.mtime(a) == File.mtime(b)
    when "<" then File.mtime(a) < File.mtime(b)
    when ">" then File.mtime(a) > File.mtime(b)
    else raise ArgumentError, "unknown command '#{c}'"
    end
  end
end
