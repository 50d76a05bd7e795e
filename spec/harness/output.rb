# Matchers that look at what code writes. `$stdout` and `$stderr` are put back whatever the code does.

# Collects what is written to `$stdout` and `$stderr`.
class IOStub
  def initialize
    @text = +""
  end

  def write(*parts)
    n = 0
    parts.each do |x|
      x = x.to_s
      n += x.size
      @text << x
    end
    n
  end

  def <<(x)
    @text << x.to_s
    self
  end

  def print(*parts)
    parts.each { |x| write(x) }
    @text << $\ if $\
    nil
  end

  def puts(*parts)
    return write("\n") if parts.empty?
    parts.flatten.each do |x|
      s = x.to_s
      write(s)
      write("\n") unless s.end_with?("\n")
    end
    nil
  end

  def printf(format, *args)
    write(sprintf(format, *args))
  end

  def flush
    self
  end

  def to_s
    @text
  end
  alias_method :to_str, :to_s

  def ==(other)
    @text == other
  end

  def =~(other)
    @text =~ other
  end

  def inspect
    @text.inspect
  end

  def method_missing(name, *args, &block)
    @text.send(name, *args, &block)
  end

  def respond_to_missing?(name, all = false)
    @text.respond_to?(name)
  end
end

# `-> { }.should complain(/text/)`
class SpecComplain
  attr_writer :block

  def initialize(wanted, options)
    if wanted.is_a?(Hash)
      options = wanted
      wanted = nil
    end
    @wanted = wanted
    @options = options || {}
  end

  def matches?(code)
    err, verbose = $stderr, $VERBOSE
    stub = IOStub.new
    $stderr = stub
    $VERBOSE = @options.key?(:verbose) ? @options[:verbose] : false
    begin
      code.call
    ensure
      $VERBOSE = verbose
      $stderr = err
    end
    @warning = stub.to_s
    case @wanted
    when nil then !@warning.empty?
    when Regexp then (@warning =~ @wanted) ? true : false
    else @warning == @wanted
    end
  end

  def failure_message
    ["Expected a warning #{@wanted.inspect}", "but got #{@warning.inspect}"]
  end

  def negative_failure_message
    ["Expected no warning #{@wanted.inspect}", "but got #{@warning.inspect}"]
  end
end

# `-> { }.should output("out", "err")`
class SpecOutput
  attr_writer :block

  def initialize(out, err)
    @out = out
    @err = err
  end

  def matches?(code)
    saved_out, saved_err = $stdout, $stderr
    @got_out = $stdout = IOStub.new
    @got_err = $stderr = IOStub.new
    begin
      code.call
    ensure
      $stdout = saved_out
      $stderr = saved_err
    end
    same?(@out, @got_out.to_s) && same?(@err, @got_err.to_s)
  end

  def same?(wanted, got)
    wanted.nil? || (wanted.is_a?(Regexp) ? !(got =~ wanted).nil? : got == wanted)
  end

  def failure_message
    ["Expected output #{@out.inspect}, #{@err.inspect}", "got #{@got_out.to_s.inspect}, #{@got_err.to_s.inspect}"]
  end

  def negative_failure_message
    ["Expected output other than", "#{@got_out.to_s.inspect}, #{@got_err.to_s.inspect}"]
  end
end

# `-> { }.should output_to_fd("text", STDERR)`
class SpecOutputToFd
  attr_writer :block

  def initialize(wanted, to)
    @wanted = wanted
    @to = to
  end

  def matches?(code)
    path = tmp("output_to_fd")
    old = @to.dup
    File.open(path, "w+") do |f|
      @to.reopen(f)
      begin
        code.call
      ensure
        @to.flush
        @to.reopen(old)
        old.close
      end
      f.rewind
      @got = f.read
    end
    @wanted.is_a?(Regexp) ? !(@got =~ @wanted).nil? : @got == @wanted
  ensure
    File.delete(path) if path && File.exist?(path)
  end

  def failure_message
    ["Expected output #{@wanted.inspect}", "got #{@got.inspect}"]
  end

  def negative_failure_message
    ["Expected output other than", @got.inspect]
  end
end
