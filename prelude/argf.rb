# ARGF: the files named in ARGV as one stream, standard input when there are none.
#
# @__i is the open stream (nil between files), @__state is nil before the first
# file, :files while ARGV is walked, :stdin for standard input, :done at the end.
class KumiSys::Argf
  include Enumerable

  def initialize(*argv)
    @__argv = argv unless argv.empty?
    @__lineno = 0
  end

  def argv = @__argv || ARGV

  def to_s = "ARGF"
  alias inspect to_s

  # Opens the next file when none is open: false when there is nothing more.
  def __next
    return true if @__i
    if __same(@__state, nil)
      @__state = argv.empty? ? :stdin : :files
      if __same(@__state, :stdin)
        @__i = $stdin
        @__name = "-"
        return true
      end
    end
    if argv.empty?
      __end_inplace
      return false
    end
    return false unless __same(@__state, :files) || !argv.empty?
    @__state = :files
    __end_inplace
    name = argv.shift
    @__name = name = KumiSys.to_path(name)
    if name == "-"
      @__i = $stdin
    else
      @__i = File.open(name, @__binmode ? "rb" : "r")
      __begin_inplace(name) if @__inplace
    end
    @__i.set_encoding(@__ext, @__int) if @__ext
    true
  end

  def __begin_inplace(name)
    stat = @__i.stat
    if @__inplace.empty?
      File.unlink(name)
    else
      File.rename(name, name + @__inplace)
    end
    @__out = File.open(name, "w", stat.mode & 0o7777)
    $stdout = @__out
  end

  def __end_inplace
    return unless @__out
    $stdout = STDOUT
    @__out.close
    @__out = nil
  end

  # The current stream is at its end: closes it.
  def __advance
    i = @__i
    @__last_file = i
    @__i = nil
    i.close unless __same(i, $stdin) || i.closed?
    if __same(i, $stdin)
      @__state = :done if argv.empty? && __same(@__state, :stdin)
    end
    __end_inplace
  end

  def __get(sep, limit, chomp)
    return nil if __same(@__state, :done) && argv.empty?
    while __next
      line = chomp ? @__i.gets(sep, limit, chomp: true) : @__i.gets(sep, limit)
      unless __same(line, nil)
        @__lineno += 1
        @__last = @__lineno
        $. = @__lineno
        return line
      end
      __advance
    end
    nil
  end

  def gets(*args, chomp: false)
    sep, limit = KumiSys.line_args(args)
    $_ = __get(sep, limit, chomp)
  end

  def readline(*args, chomp: false) = KumiSys.read_more(gets(*args, chomp: chomp))

  def readlines(*args, chomp: false)
    sep, limit = KumiSys.line_args(args)
    raise ArgumentError, "invalid limit: 0 for readlines" if limit == 0
    out = []
    while (line = __get(sep, limit, chomp))
      out << line
    end
    out
  end

  alias to_a readlines

  def each_line(*args, chomp: false)
    return to_enum(__called, *args) unless block_given?
    sep, limit = KumiSys.line_args(args)
    raise ArgumentError, "invalid limit: 0 for each_line" if limit == 0
    while (line = __get(sep, limit, chomp))
      yield line
    end
    self
  end

  alias each each_line

  # The next piece that the block reads from one stream after the other.
  def __piece
    while __next
      x = yield @__i
      return x unless __same(x, nil)
      __advance
    end
    nil
  end

  def getc = __piece { |i| i.getc }
  def getbyte = __piece { |i| i.getbyte }

  def readchar = KumiSys.read_more(getc)
  def readbyte = KumiSys.read_more(getbyte)
  def each_byte(&) = KumiSys.each_byte(self, &)
  def each_char(&) = KumiSys.each_char(self, &)
  def each_codepoint(&) = KumiSys.each_codepoint(self, &)

  def read(length = nil, buffer = nil)
    length = KumiSys.to_long(length) unless __same(length, nil)
    out = nil
    while __next
      s = length ? @__i.read(length - (out ? out.bytesize : 0)) : @__i.read
      out = out ? out << s : s if s
      break if length && out && out.bytesize >= length
      __advance
    end
    out = "" if __same(out, nil) && __same(length, nil)
    return out if __same(buffer, nil)
    buffer = KumiSys.to_str(buffer)
    KumiSys.fill_buffer(buffer, out, __same(length, nil))
  end

  def readpartial(length, buffer = nil)
    __partial(buffer) { |i| i.readpartial(length) }
  end

  def read_nonblock(length, buffer = nil, exception: true)
    __partial(buffer) { |i| i.read_nonblock(length, exception: exception) }
  end

  # At the end of each file an empty string, at the end of all EOFError.
  def __partial(buffer)
    buffer = KumiSys.to_str(buffer) unless __same(buffer, nil)
    unless __next
      buffer&.clear
      KumiSys.eof
    end
    begin
      s = yield @__i
    rescue EOFError
      __advance
      if argv.empty?
        buffer&.clear
        raise
      end
      s = ""
    end
    buffer && __is_a(s, String) ? buffer.replace(s) : s
  end

  def __current
    raise ArgumentError, "no stream" unless __next
    @__i
  end

  def eof?
    raise IOError, "ARGF is not opened for reading" if __same(@__i, nil)
    @__i.eof?
  end

  alias eof eof?

  def file
    __next
    @__i || @__last_file
  end

  def to_io
    __current.to_io
  end

  def to_write_io
    raise IOError, "not opened for writing" unless @__out
    @__out
  end

  def write(*args) = to_write_io.write(*args)
  def print(*args) = to_write_io.print(*args)
  def puts(*args) = to_write_io.puts(*args)
  def putc(x) = to_write_io.putc(x)
  def printf(*args) = to_write_io.printf(*args)

  def filename
    __next
    @__name || "-"
  end

  alias path filename

  def fileno = __current.fileno
  alias to_i fileno

  def pos
    raise ArgumentError, "no stream to tell" unless __next
    @__i.pos
  end

  alias tell pos

  def pos=(n)
    raise ArgumentError, "no stream to set position" unless __next
    @__i.pos = n
  end

  def seek(offset, whence = 0)
    raise ArgumentError, "no stream to seek" unless __next
    @__i.seek(offset, whence)
  end

  def rewind
    raise ArgumentError, "no stream to rewind" unless __next
    old = @__i.lineno
    r = @__i.rewind
    @__lineno -= old
    @__lineno = 0 if @__lineno < 0
    r
  end

  def lineno = @__lineno

  def lineno=(n)
    @__lineno = KumiSys.to_cint(n)
    $. = @__lineno
  end

  def skip
    if @__i && !__same(@__state, :stdin)
      __advance
    end
    self
  end

  def close
    __next
    if @__i
      __advance
    end
    @__lineno = 0 if argv.empty?
    self
  end

  def closed?
    __next
    __same(@__i, nil) ? true : @__i.closed?
  end

  def binmode
    @__binmode = true
    @__i&.binmode
    self
  end

  def binmode? = @__binmode ? true : false

  def external_encoding
    return @__ext || Encoding.default_external unless __next
    @__i.external_encoding
  end

  def internal_encoding
    return Encoding.default_internal unless __next
    @__i.internal_encoding
  end

  def set_encoding(ext, int = nil, **opts)
    __current.set_encoding(ext, int, **opts)
    @__ext = ext
    @__int = int
    self
  end

  def inplace_mode = @__inplace

  def inplace_mode=(ext)
    @__inplace = __same(ext, nil) || __same(ext, false) ? nil : KumiSys.to_str(ext).dup
  end
end

__class_called(KumiSys::Argf, "ARGF.class")
ARGF = KumiSys::Argf.new
$< = ARGF
