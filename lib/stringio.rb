# frozen_string_literal: true

# An IO over a String. Duplicates share the string, the position and the modes, so
# these live in one Shared object.
class StringIO
  KumiSys::UNSHAREABLE << self
  include Enumerable
  # What IO gives to all its kind.
  module IOMethods
    def <<(obj)
      write(obj)
      self
    end

    def print(*args)
      args << $_ if args.empty?
      args.each_with_index do |x, i|
        write($,) if i > 0 && $,
        write(x)
      end
      write($\) if $\
      nil
    end

    def printf(format, *args)
      write(Kernel.format(format, *args))
      nil
    end

    def puts(*args)
      if args.empty?
        write("\n")
        return nil
      end
      args.each { |x| StringIO.__puts(self, x, []) }
      nil
    end

    def sysread(*args) = KumiSys.read_more(read(*args))
    def readpartial(*args) = KumiSys.read_more(read(*args))

    def read_nonblock(len, buf = nil, exception: true)
      s = buf ? read(len, buf) : read(len)
      if s.nil?
        raise EOFError, "end of file reached" if exception
      end
      s
    end

    def syswrite(s) = write(s)
    def write_nonblock(s, exception: true) = write(s)

    def readchar = KumiSys.read_more(getc)
    def readbyte = KumiSys.read_more(getbyte)

    def readline(*args, **opts)
      line = gets(*args, **opts)
      raise EOFError, "end of file reached" if line.nil?
      $_ = line
    end
  end
  include IOMethods

  VERSION = "3.2.0"
  MAX_LENGTH = 0x7fff_ffff_ffff_ffff

  Shared = Struct.new(:string, :pos, :lineno, :append, :encoding)
  private_constant :Shared

  def self.new(*args, **opts)
    warn "#{self}::new() does not take block; use #{self}::open() instead", uplevel: 0 if block_given?
    super
  end

  def self.open(*args, **opts)
    io = new(*args, **opts)
    return io unless block_given?
    begin
      yield io
    ensure
      io.__finish
    end
  end

  def self.__puts(io, x, seen)
    if x.is_a?(String)
      s = x
    elsif (a = Array.try_convert(x))
      if seen.any? { |o| o.equal?(a) }
        s = "[...]"
      else
        seen.push(a)
        Array.instance_method(:each).bind_call(a) { |y| __puts(io, y, seen) }
        seen.pop
        return
      end
    else
      s = x.to_s
      s = Kernel.instance_method(:to_s).bind_call(x) unless s.is_a?(String)
    end
    io.write(s.end_with?("\n") ? s : s.encoding.ascii_compatible? ? s + "\n" : s + "\n".encode(s.encoding))
  end

  def initialize(string = String.new(encoding: Encoding.default_external), mode = nil, **opts)
    unless string.nil?
      string = __str(string)
    end
    mode = opts[:mode] if mode.nil? && opts.key?(:mode)
    @__s = Shared.new(string, 0, 0, false, nil)
    @__sync = true
    if mode.nil?
      @__readable = true
      @__writable = string.nil? || !string.frozen?
    else
      __mode(mode)
      if @__writable && string&.frozen?
        raise Errno::EACCES
      end
    end
    __check_opts(mode, opts)
    @__s.encoding = Encoding::BINARY if opts[:binmode]
    self
  end

  def initialize_copy(other)
    other = other.respond_to?(:to_strio) ? other.to_strio : other
    raise TypeError, "can't convert #{other.class} into StringIO" unless other.is_a?(StringIO)
    @__s = other.__shared
    @__readable = !other.closed_read?
    @__writable = !other.closed_write?
    self
  end

  def __shared = @__s

  def __finish
    @__s = Shared.new(nil, 0, 0, false, nil)
    @__readable = @__writable = false
  end

  def reopen(*args)
    if args.size == 1 && !args[0].is_a?(String)
      other = args[0]
      if other.respond_to?(:to_strio)
        other = other.to_strio
        raise TypeError, "can't convert to StringIO" unless other.is_a?(StringIO)
        initialize_copy(other)
        return self
      elsif other.is_a?(StringIO)
        initialize_copy(other)
        return self
      end
    end
    if args.empty?
      initialize(+"", "r+")
    else
      string = __str(args[0])
      if args.size == 1
        initialize(string, string.frozen? ? "r" : "r+")
      else
        initialize(string, args[1])
      end
    end
    self
  end

  # --- what it holds ---------------------------------------------------------------

  def string = @__s.string

  def string=(s)
    s = __str(s)
    @__readable = true
    @__writable = !s.frozen?
    @__s.string = s
    @__s.pos = 0
    @__s.lineno = 0
    s
  end

  def pos = @__s.pos
  alias tell pos

  def pos=(n)
    n = __int(n)
    raise Errno::EINVAL, "Invalid argument" if n < 0
    @__s.pos = n
  end

  def lineno = @__s.lineno

  def lineno=(n)
    @__s.lineno = __int(n)
  end

  def rewind
    @__s.pos = 0
    @__s.lineno = 0
    0
  end

  def seek(offset, whence = 0)
    raise IOError, "closed stream" if closed?
    offset = __int(offset)
    base = case whence
           when 0, :SET then 0
           when 1, :CUR then @__s.pos
           when 2, :END then __size
           else raise Errno::EINVAL, "Invalid argument - invalid whence"
           end
    n = base + offset
    raise Errno::EINVAL, "Invalid argument" if n < 0
    @__s.pos = n
    0
  end

  def eof?
    __check_read
    @__s.pos >= __size
  end
  alias eof eof?

  def size
    raise IOError, "not opened" if @__s.string.nil? && !@__readable && !@__writable
    __size
  end
  alias length size

  def truncate(len)
    __check_write
    len = __int(len)
    raise Errno::EINVAL, "negative length" if len < 0
    s = @__s.string
    return 0 if s.nil?
    if len < s.bytesize
      s.replace(s.byteslice(0, len))
    else
      s << ("\0" * (len - s.bytesize)).force_encoding(s.encoding)
    end
    0
  end

  def fsync = 0
  def flush = self
  def sync = true
  def sync=(v)
    v
  end
  def isatty = false
  alias tty? isatty
  def pid = nil
  def fileno = nil
  def fcntl(*)
    raise NotImplementedError, "fcntl() function is unimplemented on this machine"
  end

  def binmode
    @__s.encoding = Encoding::BINARY
    @__s.string.force_encoding(Encoding::BINARY) if @__writable && @__s.string && !@__s.string.frozen?
    self
  end

  def external_encoding
    @__s.encoding || (@__s.string ? @__s.string.encoding : Encoding.default_external)
  end

  def internal_encoding = nil

  def set_encoding(enc, _internal = nil, **_opts)
    if enc.nil?
      enc = Encoding.default_external
    elsif !enc.is_a?(Encoding)
      enc = enc.to_str.split(":", 2)[0]
      enc = enc.delete_prefix("BOM|").delete_prefix("bom|")
      enc = Encoding.find(enc)
    end
    @__s.encoding = enc
    s = @__s.string
    s.force_encoding(enc) if s && @__writable && !s.frozen?
    self
  end

  def set_encoding_by_bom
    raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
    s = @__s.string
    return nil if s.nil?
    b = s.byteslice(0, 4).b
    enc, n = if b.start_with?("\xEF\xBB\xBF".b) then [Encoding::UTF_8, 3]
             elsif b.start_with?("\xFF\xFE\0\0".b) then [Encoding::UTF_32LE, 4]
             elsif b.start_with?("\xFF\xFE".b) then [Encoding::UTF_16LE, 2]
             elsif b.start_with?("\xFE\xFF".b) then [Encoding::UTF_16BE, 2]
             elsif b == "\0\0\xFE\xFF".b then [Encoding::UTF_32BE, 4]
             end
    if enc.nil?
      @__s.pos = 0
      return nil
    end
    @__s.pos = n
    set_encoding(enc)
    enc
  end

  # --- opening and closing ------------------------------------------------------------

  def close
    @__readable = @__writable = false
    nil
  end

  def close_read
    raise IOError, "closing non-duplex IO for reading" unless @__readable || @__closed_read
    @__readable = false
    @__closed_read = true
    nil
  end

  def close_write
    raise IOError, "closing non-duplex IO for writing" unless @__writable || @__closed_write
    @__writable = false
    @__closed_write = true
    nil
  end

  def closed? = !@__readable && !@__writable
  def closed_read? = !@__readable
  def closed_write? = !@__writable

  # --- reading --------------------------------------------------------------------------

  def read(len = nil, buf = nil)
    __check_read
    buf = __str(buf) unless buf.nil?
    s = @__s.string
    n = __size
    if len.nil?
      if @__s.pos >= n
        out = "".encode(external_encoding)
      else
        out = __part(@__s.pos, n - @__s.pos)
        @__s.pos = n
      end
      out = +"" if out.frozen?
      out.force_encoding(external_encoding)
    else
      len = __int(len)
      raise ArgumentError, "negative length #{len} given" if len < 0
      if len > 0 && @__s.pos >= n
        buf&.replace("")
        return nil
      end
      out = s.nil? ? +"" : (s.byteslice(@__s.pos, len) || +"")
      out = out.b
      @__s.pos += out.bytesize
    end
    if buf
      enc = buf.encoding
      buf.replace(out)
      buf.force_encoding(enc) if len
      return buf
    end
    out
  end

  def pread(len, offset)
    len = __int(len)
    offset = __int(offset)
    raise ArgumentError, "negative string size (or size too big): #{len}" if len < 0
    raise Errno::EINVAL, "Invalid argument - pread: Invalid offset argument" if offset < 0
    __check_read
    return +"" if len == 0
    raise EOFError, "end of file reached" if offset >= __size
    @__s.string.byteslice(offset, len).b
  end

  def getc
    __check_read
    return nil if @__s.pos >= __size
    # A character is at most 4 bytes in the encodings that matter; take a few more.
    c = __part(@__s.pos, 8)[0]
    @__s.pos += c.bytesize
    c
  end

  def getbyte
    __check_read
    return nil if @__s.pos >= __size
    b = @__s.string.getbyte(@__s.pos)
    @__s.pos += 1
    b
  end

  def each_char = KumiSys.each_char(self, &__block_proc)
  def each_byte = KumiSys.each_byte(self, &__block_proc)
  def each_codepoint = KumiSys.each_codepoint(self, &__block_proc)

  def gets(*args, chomp: false)
    __check_read
    $_ = __gets(__line_args(args), chomp)
  end

  def each(*args, chomp: false)
    return to_enum(:each, *args, chomp: chomp) unless block_given?
    __check_read
    args = __line_args(args)
    raise ArgumentError, "invalid limit: 0 for each_line" if args[1] == 0
    while (line = __gets(args, chomp))
      yield line
    end
    self
  end
  alias each_line each

  def readlines(*args, chomp: false)
    __check_read
    args = __line_args(args)
    raise ArgumentError, "invalid limit: 0 for readlines" if args[1] == 0
    lines = []
    while (line = __gets(args, chomp))
      lines << line
    end
    lines
  end

  def ungetc(c)
    __check_read
    return nil if c.nil?
    if c.is_a?(Integer)
      c = c.chr(external_encoding)
    else
      c = __str(c)
      c = c.encode(external_encoding) if c.encoding != external_encoding && !c.ascii_only? && external_encoding != Encoding::BINARY
    end
    __unget(c)
  end

  def ungetbyte(c)
    __check_read
    return nil if c.nil?
    s = c.is_a?(Integer) ? (c & 0xff).chr : __str(c)
    return nil if s.empty?
    __unget(s)
  end

  # --- writing -----------------------------------------------------------------------------

  def write(*strings)
    strings.sum { |s| __write(s) }
  end

  def putc(c)
    if c.is_a?(String)
      __write(c[0])
    else
      __check_write
      __write((__int(c) & 0xff).chr)
    end
    c
  end

  def inspect = Kernel.instance_method(:to_s).bind_call(self)

  private

  def __str(s)
    return s if s.is_a?(String)
    t = String.try_convert(s)
    raise TypeError, "no implicit conversion of #{s.nil? ? "nil" : s.class} into String" if t.nil?
    t
  end

  def __int(n)
    return n if n.is_a?(Integer)
    i = Integer.try_convert(n)
    raise TypeError, "no implicit conversion of #{n.nil? ? "nil" : n.class} into Integer" if i.nil?
    i
  end

  def __size = @__s.string.nil? ? 0 : @__s.string.bytesize

  def __check_read
    raise IOError, "not opened for reading" unless @__readable
  end

  def __check_write
    raise IOError, "not opened for writing" unless @__writable
  end

  def __part(at, len)
    s = @__s.string.byteslice(at, len)
    s = s.dup.force_encoding(external_encoding) if s.encoding != external_encoding
    s
  end

  # The same thing said twice is refused, as IO does.
  def __check_opts(mode, opts)
    return if opts.empty?
    text = mode.is_a?(String) ? mode : ""
    flags = text.split(":", 2)[0].to_s
    encodings = opts.keys & [:encoding, :external_encoding, :internal_encoding]
    raise ArgumentError, "encoding specified twice" if text.include?(":") && !encodings.empty?
    if opts[:binmode] && opts[:textmode]
      raise ArgumentError, "both textmode and binmode specified"
    end
    raise ArgumentError, "binmode specified twice" if flags.include?("b") && opts.key?(:binmode)
    raise ArgumentError, "textmode specified twice" if flags.include?("t") && opts.key?(:textmode)
    if (flags.include?("b") && opts[:textmode]) || (flags.include?("t") && opts[:binmode])
      raise ArgumentError, "both textmode and binmode specified"
    end
  end

  def __mode(mode)
    if mode.is_a?(Integer)
      case mode & 3
      when 0 then @__readable, @__writable = true, false
      when 1 then @__readable, @__writable = false, true
      else @__readable = @__writable = true
      end
      @__s.append = mode & IO::APPEND != 0
      trunc = mode & IO::TRUNC != 0
    else
      mode = __str(mode)
      m, enc = mode.split(":", 2)
      plus = m.include?("+")
      case m[0]
      when "r" then @__readable, @__writable = true, plus
      when "w" then @__readable, @__writable, trunc = plus, true, true
      when "a"
        @__readable, @__writable = plus, true
        @__s.append = true
      else raise ArgumentError, "invalid access mode #{mode}"
      end
      @__s.encoding = Encoding::BINARY if m.include?("b") && !enc
      if enc
        e = enc.split(":", 2)[0].sub(/\ABOM\|/i, "")
        @__s.encoding = Encoding.find(e)
      end
    end
    if trunc
      @__s.string&.clear
    end
  end

  def __write(obj)
    __check_write
    s = obj.is_a?(String) ? obj : obj.to_s
    s = Kernel.instance_method(:to_s).bind_call(obj) unless s.is_a?(String)
    string = @__s.string
    return s.bytesize if string.nil?
    enc = external_encoding
    if s.encoding != enc && enc != Encoding::BINARY && s.encoding != Encoding::BINARY &&
       !(s.ascii_only? && enc.ascii_compatible?)
      begin
        s = s.encode(enc)
      rescue EncodingError
        # Bytes that have no place in the encoding go in as they are.
      end
    end
    n = s.bytesize
    return 0 if n == 0
    raise IOError, "not modifiable string" if string.frozen?
    size = string.bytesize
    at = @__s.append ? size : @__s.pos
    was = string.encoding
    if at == size && (was == s.encoding || s.ascii_only? && was.ascii_compatible?)
      string << s
    else
      string.force_encoding(Encoding::BINARY)
      begin
        string << "\0" * (at - size) if at > size
        if at >= size
          string << s.b
        else
          over = n > size - at ? size - at : n
          string.bytesplice(at, over, s.b)
        end
      ensure
        string.force_encoding(was)
      end
    end
    @__s.pos = at + n
    n
  end

  def __unget(c)
    string = @__s.string
    return nil if string.nil?
    raise IOError, "not modifiable string" if string.frozen?
    n = c.bytesize
    at = @__s.pos
    was = string.encoding
    string.force_encoding(Encoding::BINARY)
    begin
      size = string.bytesize
      string << "\0" * (at - size) if at > size
      if n <= at
        string.bytesplice(at - n, n, c.b)
        @__s.pos = at - n
      else
        string.bytesplice(0, at, c.b)
        @__s.pos = 0
      end
    ensure
      string.force_encoding(was)
    end
    nil
  end

  # Separator (nil: none, "": paragraphs) and limit of gets, each, readlines.
  def __line_args(args)
    raise ArgumentError, "wrong number of arguments (given #{args.size}, expected 0..2)" if args.size > 2
    sep = $/
    limit = nil
    if args.size == 1
      a = args[0]
      if a.nil?
        sep = nil
      elsif a.is_a?(Integer)
        limit = a
      elsif (s = String.try_convert(a))
        sep = s
      else
        limit = __int(a)
      end
    elsif args.size == 2
      sep = args[0].nil? ? nil : __str(args[0])
      limit = args[1].nil? ? nil : __int(args[1])
    end
    limit = nil if limit && limit < 0
    [sep, limit]
  end

  def __gets(args, chomp)
    sep, limit = args
    return "".encode(external_encoding) if limit == 0
    size = __size
    at = @__s.pos
    return nil if at >= size
    string = @__s.string
    if sep.nil?
      len = size - at
      skip = 0
    elsif sep.empty?
      at += 1 while at < size && string.getbyte(at) == 10
      return nil if at >= size
      i = __bytes_find(string, at, "\n\n")
      stop = i ? i + 2 : size
      len = stop - at
      skip = 0
      skip += 1 while stop + skip < size && string.getbyte(stop + skip) == 10
    else
      i = __bytes_find(string, at, sep)
      len = (i ? i + sep.bytesize : size) - at
      skip = 0
    end
    cut = false
    if limit && limit < len
      # The last character stays whole.
      s = __part(at, limit + 8)
      n = 0
      s.each_char do |c|
        break if n >= limit
        n += c.bytesize
      end
      cut = n < len
      len = n if n < len
      skip = 0 if cut
    end
    line = __part(at, len)
    @__s.pos = at + len + skip
    @__s.lineno += 1
    if chomp && !cut
      if sep.nil?
        # Nothing ends such a line.
      elsif sep.empty?
        line = line.chomp("\n").chomp("\n")
      else
        line = line.chomp(sep)
      end
    elsif chomp && sep && !sep.empty?
      line = line.chomp(sep)
    end
    line
  end
end
