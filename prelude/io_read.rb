# IO: reading lines, characters, bytes and blocks, and whole files at once.
class IO
  def gets(*args, chomp: false)
    sep, limit = KumiSys.line_args(args)
    $_ = __io_gets(self, sep, limit, chomp)
  end

  def readline(*args, chomp: false)
    sep, limit = KumiSys.line_args(args)
    line = __io_gets(self, sep, limit, chomp)
    $_ = line
    KumiSys.eof if __same(line, nil)
    line
  end

  def readlines(*args, chomp: false, **)
    sep, limit = KumiSys.line_args(args)
    raise ArgumentError, "invalid limit: 0 for readlines" if limit == 0
    out = []
    while (line = __io_gets(self, sep, limit, chomp))
      out << line
    end
    out
  end

  def to_a(*args, chomp: false)
    readlines(*args, chomp: chomp)
  end

  def each_line(*args, chomp: false)
    return to_enum(__called, *args, **(chomp ? { chomp: chomp } : {})) unless block_given?
    sep, limit = KumiSys.line_args(args)
    raise ArgumentError, "invalid limit: 0 for each_line" if limit == 0
    while (line = __io_gets(self, sep, limit, chomp))
      yield line
    end
    self
  end

  alias each each_line

  def each_byte(&) = KumiSys.each_byte(self, &)
  def each_char(&) = KumiSys.each_char(self, &)
  def each_codepoint(&) = KumiSys.each_codepoint(self, &)
  def readchar = KumiSys.read_more(getc)
  def readbyte = KumiSys.read_more(getbyte)

  def read(length = nil, buffer = nil)
    buffer = KumiSys.read_buffer(buffer) unless __same(buffer, nil)
    if __same(length, nil)
      s = __io_read_all(self)
    else
      s = __io_read(self, KumiSys.to_long(length))
    end
    return s if __same(buffer, nil)
    KumiSys.fill_buffer(buffer, s, __same(length, nil))
  end

  def readpartial(length, buffer = nil)
    length = KumiSys.to_long(length)
    buffer = KumiSys.read_buffer(buffer) unless __same(buffer, nil)
    KumiSys.piece_read(buffer, __io_readpartial(self, length, false))
  end

  def read_nonblock(length, buffer = nil, exception: true)
    unless __same(exception, true) || __same(exception, false)
      raise ArgumentError, "expected true or false as exception: #{KumiSys.inspect(exception)}"
    end
    length = KumiSys.to_long(length)
    buffer = KumiSys.read_buffer(buffer) unless __same(buffer, nil)
    s = __io_readpartial(self, length, true)
    if __same(s, nil)
      buffer.clear if buffer
      return nil unless exception
      KumiSys.eof
    elsif __same(s, false)
      return :wait_readable unless exception
      raise EAGAINWaitReadable, "read would block"
    end
    buffer ? KumiSys.fill_buffer(buffer, s, false) : s
  end

  def sysread(length, buffer = nil)
    length = KumiSys.to_long(length)
    buffer = KumiSys.read_buffer(buffer) unless __same(buffer, nil)
    return buffer || "" if length == 0
    KumiSys.piece_read(buffer, __io_sysread(self, length))
  end

  def pread(length, offset, buffer = nil)
    length = KumiSys.to_long(length)
    offset = KumiSys.to_long(offset)
    buffer = KumiSys.read_buffer(buffer) unless __same(buffer, nil)
    return buffer || "" if length == 0
    s = __io_pread(self, length, offset)
    KumiSys.eof if __same(s, nil)
    buffer ? KumiSys.fill_buffer(buffer, s, false) : s
  end

  def self.read(name, length = nil, offset = nil, **opts)
    name = KumiSys.to_path(name)
    offset = KumiSys.count_to_read(offset, "offset")
    length = KumiSys.count_to_read(length, "length")
    if opts[:open_args]
      args = opts[:open_args].dup
      more = __is_a(args[-1], Hash) ? args.pop : {}
      io = File.new(name, *args, **more)
    else
      io = File.new(name, **opts)
    end
    KumiSys.closing(io) do
      io.seek(offset) if offset
      io.read(length)
    end
  end

  def self.binread(name, length = nil, offset = nil)
    name = KumiSys.to_path(name)
    length = KumiSys.count_to_read(length, "length")
    io = File.new(name, "rb:ASCII-8BIT")
    KumiSys.closing(io) do
      io.seek(KumiSys.to_long(offset)) unless __same(offset, nil)
      io.read(length)
    end
  end

  def self.readlines(name, *args, chomp: false, **opts)
    name = KumiSys.to_path(name)
    sep, limit = KumiSys.line_args(args)
    raise ArgumentError, "invalid limit: 0 for readlines" if limit == 0
    io = File.new(name, **opts)
    KumiSys.closing(io) { io.readlines(sep, limit, chomp: chomp) }
  end

  def self.foreach(name, *args, chomp: false, **opts)
    unless block_given?
      opts[:chomp] = chomp if chomp
      return to_enum(:foreach, name, *args, **opts)
    end
    name = KumiSys.to_path(name)
    sep, limit = KumiSys.line_args(args)
    raise ArgumentError, "invalid limit: 0 for foreach" if limit == 0
    io = File.new(name, **opts)
    begin
      while (line = __io_gets(io, sep, limit, chomp))
        yield line
      end
    ensure
      io.close
    end
    $_ = nil
    nil
  end
end

# What all have that read piece by piece: IO, ARGF, StringIO, Zlib::GzipReader.
module KumiSys
  def self.each_byte(io)
    return io.to_enum(:each_byte) unless block_given?
    __io_check_readable(io) if __is_a(io, IO)
    while (b = io.getbyte)
      yield b
    end
    io
  end

  def self.each_char(io)
    return io.to_enum(:each_char) unless block_given?
    __io_check_readable(io) if __is_a(io, IO)
    while (c = io.getc)
      yield c
    end
    io
  end

  def self.each_codepoint(io)
    return io.to_enum(:each_codepoint) unless block_given?
    __io_check_readable(io) if __is_a(io, IO)
    while (c = io.getc)
      yield c.ord
    end
    io
  end

  def self.closing(io)
    yield
  ensure
    io.close
  end

  # How much to read, or from where, if that is given.
  def self.count_to_read(n, what)
    return nil if __same(n, nil)
    n = to_long(n)
    raise ArgumentError, "negative #{what} #{n} given" if n < 0
    n
  end

  # What was read, which at the end of the file is an error.
  def self.read_more(piece) = __same(piece, nil) ? eof : piece

  # Arguments of gets and its kin: [separator or nil, limit or nil].
  def self.line_args(args)
    n = __ary_len(args)
    return [$/, nil] if n == 0
    if n == 1
      x = args[0]
      return [nil, nil] if __same(x, nil)
      return [x, nil] if __is_a(x, String)
      return [$/, line_limit(x)] if __is_a(x, Integer)
      s = try_str(x)
      return [s, nil] if s
      return [$/, line_limit(to_long(x))]
    end
    arity_error(n, 0, 2) if n > 2
    sep = args[0]
    sep = to_str(sep) unless __same(sep, nil)
    limit = args[1]
    [sep, __same(limit, nil) ? nil : line_limit(to_long(limit))]
  end

  def self.line_limit(n)
    raise RangeError, "bignum too big to convert into 'long'" if n.bit_length > 63
    n < 0 ? nil : n
  end

  def self.read_buffer(buffer)
    buffer = to_str(buffer)
    __check_frozen(buffer)
    buffer
  end

  # The same of some bytes; nil is the end of the file.
  def self.piece_read(buffer, s)
    if __same(s, nil)
      buffer.clear if buffer
      eof
    end
    buffer ? fill_buffer(buffer, s, false) : s
  end

  # What was read goes into the caller's buffer; a text read brings its encoding along.
  def self.fill_buffer(buffer, s, text)
    if __same(s, nil)
      buffer.clear
      return nil
    end
    enc = buffer.encoding
    buffer.replace(s)
    buffer.force_encoding(enc) unless text
    buffer
  end
end
