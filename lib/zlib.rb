# frozen_string_literal: true

# Compression by deflate, zlib and gzip formats.
module Zlib
  VERSION = "3.2.2"
  ZLIB_VERSION = "1.3.1"

  BINARY = 0
  ASCII = TEXT = 1
  UNKNOWN = 2
  NO_COMPRESSION = 0
  BEST_SPEED = 1
  BEST_COMPRESSION = 9
  DEFAULT_COMPRESSION = -1
  FILTERED = 1
  HUFFMAN_ONLY = 2
  RLE = 3
  FIXED = 4
  DEFAULT_STRATEGY = 0
  MAX_WBITS = 15
  DEF_MEM_LEVEL = 8
  MAX_MEM_LEVEL = 9
  NO_FLUSH = 0
  SYNC_FLUSH = 2
  FULL_FLUSH = 3
  FINISH = 4
  OS_MSDOS = 0
  OS_UNIX = 3
  OS_CODE = OS_UNIX
  OS_UNKNOWN = 255

  class Error < StandardError; end
  class StreamEnd < Error; end
  class NeedDict < Error; end
  class DataError < Error; end
  class StreamError < Error; end
  class MemError < Error; end
  class BufError < Error; end
  class VersionError < Error; end
  class InProgressError < Error; end

  def self.zlib_version = ZLIB_VERSION

  def self.crc32(s = nil, start = 0) = __sum(s, start) { |text, sum, from| __crc32(text, sum, from) }
  def self.adler32(s = nil, start = 1) = __sum(s, start) { |text, sum, from| __adler32(text, sum, from) }

  # The block goes on with a sum from a place of the text, for a while: sum and place, nil at the end.
  def self.__sum(s, start)
    return start if s.nil?
    s = s.read if s.respond_to?(:read)
    raise RangeError, "bignum too big to convert into 'unsigned long'" unless start.between?(-(1 << 63), (1 << 64) - 1)
    start &= 0xffff_ffff
    from = 0
    start, from = yield s, start, from while from
    start
  end

  def self.crc_table
    (0..255).map { |n| 8.times { n = n & 1 == 1 ? 0xedb88320 ^ n >> 1 : n >> 1 }; n }
  end

  # The sum of a text that is made of two, of their sums and the second one's length: the first times x to the power of its bits,
  # as polynomials over two elements, plus the second.
  def self.crc32_combine(first, second, length)
    length = __positive(length)
    power, square = 0x8000_0000, 0x0080_0000
    while length > 0
      power = __crc_product(power, square) if length.odd?
      square = __crc_product(square, square)
      length >>= 1
    end
    __crc_product(power, KumiSys.to_int(first) & 0xffff_ffff) ^ (KumiSys.to_int(second) & 0xffff_ffff)
  end

  def self.adler32_combine(first, second, length)
    length = __positive(length)
    first = KumiSys.to_int(first)
    second = KumiSys.to_int(second)
    low = ((first & 0xffff) + (second & 0xffff) - 1) % 65521
    high = ((first >> 16 & 0xffff) + (second >> 16 & 0xffff) + length * ((first & 0xffff) - 1)) % 65521
    high << 16 | low
  end

  # The product of two polynomials, whose highest bit is x to the power of 0, modulo the one of the sum.
  def self.__crc_product(a, b)
    product = 0
    bit = 0x8000_0000
    while bit > 0
      product ^= b if a & bit != 0
      b = b.odd? ? b >> 1 ^ 0xedb8_8320 : b >> 1
      bit >>= 1
    end
    product
  end

  def self.__positive(length)
    length = KumiSys.to_int(length)
    raise ArgumentError, "negative length" if length < 0
    length
  end
  private_class_method :__crc_product, :__positive, :__sum

  [:zlib_version, :crc32, :adler32, :crc_table, :crc32_combine, :adler32_combine].each do |name|
    define_method(name) { |*args| Zlib.__send__(name, *args) }
    private name
  end

  def self.deflate(s, level = DEFAULT_COMPRESSION) = Deflate.deflate(s, level)
  def self.inflate(s) = Inflate.inflate(s)

  def self.gzip(s, level: nil, strategy: nil)
    body = Deflate.new(level || DEFAULT_COMPRESSION, -MAX_WBITS).deflate(s, FINISH)
    xfl = level == BEST_SPEED ? 4 : level == BEST_COMPRESSION ? 2 : 0
    [0x1f, 0x8b, 8, 0, 0, xfl, OS_CODE].pack("C4VCC") + body + [crc32(s), s.bytesize & 0xffff_ffff].pack("VV")
  end

  def self.gunzip(s)
    header, at = GzipFile.__header(s)
    z = Inflate.new(-MAX_WBITS)
    out = z.inflate(s.byteslice(at..))
    raise GzipFile::Error, "unexpected end of file" unless z.finished?
    tail = s.byteslice(at + z.total_in, 8)
    raise GzipFile::NoFooter, "footer is not found" if tail.nil? || tail.bytesize < 8
    crc, len = tail.unpack("VV")
    raise GzipFile::CRCError, "invalid compressed data -- crc error" unless crc == crc32(out)
    raise GzipFile::LengthError, "invalid compressed data -- length error" unless len == out.bytesize & 0xffff_ffff
    header && out
  end

  # What both directions share.
  class ZStream
    def total_in = @__total_in
    def total_out = @__total_out

    def finished? = @__finished
    alias stream_end? finished?
    def closed? = @__closed
    alias ended? closed?
    def avail_in = @__pending ? @__pending.bytesize : 0
    def avail_out = 0
    def avail_out=(n)
      n
    end
    def data_type = BINARY
    def adler = @__adler

    def close
      raise Zlib::Error, "stream is not ready" if @__closed
      @__closed = true
      nil
    end
    alias end close

    def flush_next_in
      s = @__pending || +""
      @__pending = nil
      s
    end

    def flush_next_out
      out = @__out
      @__out = +"".b
      out
    end

    private

    def ready
      raise Zlib::Error, "stream is not ready" if @__closed
    end

    def pieces(out, all)
      at = 0
      begin
        while out.bytesize - at >= 16_384
          at += 16_384
          yield out.byteslice(at - 16_384, 16_384)
        end
        if all && at < out.bytesize
          rest = out.byteslice(at..)
          at = out.bytesize
          yield rest
        end
      ensure
        @__out = out.byteslice(at..) + @__out
      end
    end
  end

  class Deflate < ZStream
    def self.deflate(s, level = DEFAULT_COMPRESSION)
      new(level).deflate(s, FINISH)
    end

    def initialize(level = nil, wbits = nil, _mem = nil, _strategy = nil)
      @__level = level || DEFAULT_COMPRESSION
      wbits ||= MAX_WBITS
      raise StreamError, "stream error" unless @__level.between?(-1, 9)
      @__gzip = wbits > MAX_WBITS
      @__zlib = wbits > 0 && !@__gzip
      reset
    end

    def reset
      @__state = __deflate_new(@__level, @__zlib)
      @__total_in = @__total_out = 0
      @__finished = @__closed = false
      @__adler = 1
      @__out = +"".b
      @__crc = 0
      nil
    end

    def initialize_copy(_other)
      raise Zlib::Error, "a stream cannot be copied"
    end

    def deflate(s, flush = NO_FLUSH)
      run(s, flush)
      out = @__out
      @__out = +"".b
      return out unless block_given?
      # In pieces of the size zlib's own buffers have; the last waits for more.
      pieces(out, flush == FINISH) { |x| yield x }
      nil
    end

    def <<(s)
      run(s, NO_FLUSH)
      self
    end

    def flush(flush = SYNC_FLUSH)
      run("", flush) unless flush == NO_FLUSH
      out = @__out
      @__out = +"".b
      block_given? ? (yield out; nil) : out
    end

    def finish
      run("", FINISH) unless @__finished
      out = @__out
      @__out = +"".b
      block_given? ? (yield out; nil) : out
    end

    def params(level, _strategy)
      run("", SYNC_FLUSH)
      @__level = level
      nil
    end

    def set_dictionary(_dict)
      raise StreamError, "stream error"
    end

    private

    def run(s, flush)
      ready
      s = s.nil? ? "" : s.to_str
      @__adler = Zlib.adler32(s, @__adler)
      if @__gzip && @__total_in == 0 && @__total_out == 0 && !@__head
        @__out << [0x1f, 0x8b, 8, 0, 0, 0, OS_CODE].pack("C4VCC")
        @__head = true
      end
      @__crc = Zlib.crc32(s, @__crc) if @__gzip
      part, from = __deflate_run(@__state, s, flush, 0)
      while from
        more, from = __deflate_run(@__state, s, flush, from)
        part << more
      end
      @__total_in += s.bytesize
      @__total_out += part.bytesize
      @__out << part
      if flush == FINISH
        @__out << [@__crc, @__total_in & 0xffff_ffff].pack("VV") if @__gzip && !@__finished
        @__finished = true
      end
    end
  end

  class Inflate < ZStream
    def self.inflate(s)
      z = new
      out = z.inflate(s)
      z.finish
      z.close
      out
    end

    def initialize(wbits = MAX_WBITS)
      @__wbits = wbits
      reset
    end

    def reset
      @__state = __inflate_new(@__wbits > 0)
      @__gzip = @__wbits > MAX_WBITS
      @__header = +"".b
      @__raw = !@__gzip
      @__total_in = @__total_out = 0
      @__finished = @__closed = false
      @__adler = 1
      @__pending = nil
      @__out = +"".b
      nil
    end

    def inflate(s, buffer: nil)
      run(s)
      raise BufError, "buffer error" if s.nil? && !@__finished
      out = @__out
      @__out = +"".b
      out = buffer.replace(out) if buffer
      return out unless block_given?
      pieces(out, true) { |x| yield x }
      nil
    end

    def <<(s)
      run(s)
      self
    end

    def add_dictionary(_dict)
      raise StreamError, "stream error"
    end
    alias set_dictionary add_dictionary

    def finish
      raise BufError, "buffer error" unless @__finished
      out = @__out
      @__out = +"".b
      return out unless block_given?
      pieces(out, true) { |x| yield x }
      nil
    end

    def sync(_s) = false
    def sync_point? = false

    private

    def run(s)
      ready
      return if s.nil?
      s = s.to_str
      if @__finished
        # Once the stream has ended, bytes pass through.
        @__total_in += s.bytesize
        @__gzip ? @__pending = (@__pending || +"".b) << s : @__out << s
        return
      end
      unless @__raw
        @__header << s
        if @__header.bytesize >= 2 && @__header.getbyte(0) == 0x1f && @__header.getbyte(1) == 0x8b
          _, at = GzipFile.__header(@__header)
          @__state = __inflate_new(false)
          s = @__header.byteslice(at..)
        elsif @__wbits >= 32
          @__state = __inflate_new(true)
          s = @__header
        else
          raise DataError, "incorrect header check"
        end
        @__raw = true
      end
      part, used, done, more = __inflate_run(@__state, s, 0)
      while more && !done
        piece, n, done, more = __inflate_run(@__state, s, used)
        part << piece
        used += n
      end
      @__out << part
      @__total_in += used
      @__total_out += part.bytesize
      @__adler = Zlib.adler32(part, @__adler)
      if done
        @__finished = true
        rest = s.byteslice(used..)
        rest = rest.byteslice(8..) || "" if @__gzip
        @__pending = rest.dup unless rest.empty?
      end
    end
  end

  # What readers and writers of gzip files share.
  class GzipFile
    class Error < Zlib::Error
      attr_reader :input
    end

    class NoFooter < Error; end
    class CRCError < Error; end
    class LengthError < Error; end

    # [fields, length] of the header at the start of s.
    def self.__header(s)
      raise Error, "not in gzip format" if s.bytesize < 10
      m1, m2, method, flags, mtime, xfl, os = s.unpack("CCCCVCC")
      raise Error, "not in gzip format" unless m1 == 0x1f && m2 == 0x8b
      raise Error, "unsupported compression method" unless method == 8
      at = 10
      name = comment = nil
      if flags & 4 != 0
        at += 2 + s.byteslice(at, 2).unpack1("v").to_i
      end
      if flags & 8 != 0
        stop = s.b.index("\0".b, at) or raise Error, "not in gzip format"
        name = s.byteslice(at, stop - at)
        at = stop + 1
      end
      if flags & 16 != 0
        stop = s.b.index("\0".b, at) or raise Error, "not in gzip format"
        comment = s.byteslice(at, stop - at)
        at = stop + 1
      end
      at += 2 if flags & 2 != 0
      [{ mtime: mtime, xfl: xfl, os: os, name: name, comment: comment }, at]
    end

    def self.wrap(*args, **opts)
      gz = new(*args, **opts)
      return gz unless block_given?
      begin
        yield gz
      ensure
        gz.close unless gz.closed?
      end
    end

    %i[orig_name comment level crc].each do |name|
      define_method(name) do
        raise GzipFile::Error, "closed gzip stream" if @__closed
        instance_variable_get(:"@__#{name}")
      end
    end

    def os_code = @__os || OS_CODE
    def closed? = @__closed
    def to_io = @__io
    def sync = false
    def sync=(v)
      v
    end
    def mtime = Time.at(@__mtime || 0)
  end

  class GzipWriter < GzipFile
    def self.open(name, level = nil, strategy = nil, **opts, &block)
      wrap(File.open(name, "wb"), level, strategy, **opts, &block)
    end

    def initialize(io, level = nil, _strategy = nil, **_opts)
      @__io = io
      @__level = level || DEFAULT_COMPRESSION
      @__z = Deflate.new(@__level, -MAX_WBITS)
      @__crc = 0
      @__size = 0
      @__closed = false
      @__started = false
    end

    def mtime=(t)
      raise GzipFile::Error, "header is already written" if @__started
      @__mtime = t.to_i
    end

    def orig_name=(s)
      raise GzipFile::Error, "header is already written" if @__started
      @__orig_name = s.dup
    end

    def comment=(s)
      raise GzipFile::Error, "header is already written" if @__started
      @__comment = s.dup
    end

    def pos = @__size
    alias tell pos

    def write(*strings)
      strings.sum do |s|
        s = s.to_s
        start
        @__crc = Zlib.crc32(s, @__crc)
        @__size += s.bytesize
        put @__z.deflate(s.b)
        s.bytesize
      end
    end

    def <<(s)
      write(s)
      self
    end

    def print(*args)
      args.each { |x| write(x) }
      nil
    end

    def puts(*args)
      args = [""] if args.empty?
      args.flatten.each do |x|
        s = x.to_s
        write(s.end_with?("\n") ? s : s + "\n")
      end
      nil
    end

    def printf(*args)
      write(format(*args))
      nil
    end

    def putc(c)
      write(c.is_a?(Integer) ? (c & 255).chr : c[0])
      c
    end

    def flush(flush = SYNC_FLUSH)
      start
      put @__z.flush(flush)
      @__io.flush if @__io.respond_to?(:flush)
      self
    end

    def finish
      start
      put @__z.finish
      put [@__crc, @__size & 0xffff_ffff].pack("VV")
      @__closed = true
      @__io
    end

    def close
      raise GzipFile::Error, "closed gzip stream" if @__closed
      finish
      @__io.close if @__io.respond_to?(:close)
      @__io
    end

    private

    # The header goes before the first bytes of content, when those are in the stream already: an error of the
    # writer then loses nothing of them.
    def put(s)
      head = @__head
      @__head = nil
      s = head + s if head
      s.empty? ? nil : @__io.write(s)
    end

    def start
      raise GzipFile::Error, "closed gzip stream" if @__closed
      return if @__started
      @__started = true
      flags = (@__orig_name ? 8 : 0) | (@__comment ? 16 : 0)
      xfl = @__level == BEST_SPEED ? 4 : @__level == BEST_COMPRESSION ? 2 : 0
      head = [0x1f, 0x8b, 8, flags, @__mtime || 0, xfl, OS_CODE].pack("C4VCC")
      head << @__orig_name.b << "\0" if @__orig_name
      head << @__comment.b << "\0" if @__comment
      @__head = head
    end
  end

  class GzipReader < GzipFile
    include Enumerable

    def self.open(name, **opts, &block) = wrap(File.open(name, "rb"), **opts, &block)

    def self.zcat(io, **opts, &block)
      out = block ? nil : +"".b
      while true
        gz = new(io, **opts)
        block ? gz.each(&block) : out << gz.read
        unused = gz.unused
        gz.finish
        break if unused.nil? && io.eof?
        io.pos -= unused.bytesize if unused
        break if io.eof?
      end
      out
    end

    def lineno = @__lineno
    def lineno=(n)
      @__lineno = n
    end

    def initialize(io, external_encoding: nil, **_opts)
      @__io = io
      @__enc = external_encoding || Encoding.default_external
      @__enc = Encoding.find(@__enc) unless @__enc.is_a?(Encoding)
      @__closed = false
      @__lineno = 0
      open_member
    end

    def external_encoding = @__enc
    def unused = @__unused

    def rewind
      @__io.seek(@__from)
      @__lineno = 0
      open_member
      0
    end

    def pos = @__pos
    alias tell pos

    def eof?
      fill(1)
      @__buf.bytesize <= @__at
    end
    alias eof eof?

    def read(len = nil, buf = nil)
      check
      raise ArgumentError, "negative length #{len} given" if len && len < 0
      if len.nil?
        fill(nil)
        s = take(@__buf.bytesize - @__at).force_encoding(@__enc)
      else
        fill(len)
        return len == 0 ? +"" : nil if @__buf.bytesize <= @__at && len > 0
        s = take([len, @__buf.bytesize - @__at].min)
      end
      buf ? buf.replace(s) : s
    end

    def readpartial(maxlen, buf = nil) = KumiSys.read_more(read(maxlen, buf))

    def getbyte
      s = read(1)
      s && s.getbyte(0)
    end

    def readbyte = KumiSys.read_more(getbyte)

    def getc
      fill(8)
      return nil if @__buf.bytesize <= @__at
      c = @__buf.byteslice(@__at, 8).force_encoding(@__enc)[0]
      take(c.bytesize)
      c
    end

    def readchar = KumiSys.read_more(getc)
    def each_byte = KumiSys.each_byte(self, &__block_proc)
    def each_char = KumiSys.each_char(self, &__block_proc)

    def ungetc(c)
      c = c.chr if c.is_a?(Integer)
      @__buf = c.b + @__buf.byteslice(@__at..)
      @__at = 0
      @__pos -= c.bytesize
      nil
    end

    def ungetbyte(b)
      ungetc((b & 255).chr) if b
    end

    def gets(*args, chomp: false)
      check
      sep = $/
      limit = nil
      args.each { |a| a.is_a?(Integer) ? limit = a : sep = a }
      return +"" if limit == 0
      line = if sep.nil?
               s = read(limit)
               s.nil? || s.empty? ? nil : s.force_encoding(@__enc)
             else
               line_until(sep, limit)
             end
      if line
        @__lineno += 1
        line = line.chomp(sep.nil? || sep.empty? ? "\n" : sep) if chomp
      end
      $_ = line
    end

    def readline(*args, **opts) = KumiSys.read_more(gets(*args, **opts))

    def each(*args, **opts)
      return to_enum(:each, *args, **opts) unless block_given?
      while (line = gets(*args, **opts))
        yield line
      end
      self
    end
    alias each_line each

    def readlines(*args, **opts)
      lines = []
      while (line = gets(*args, **opts))
        lines << line
      end
      lines
    end

    def finish
      check
      @__closed = true
      @__io
    end

    def close
      finish
      @__io.close if @__io.respond_to?(:close)
      @__io
    end

    private

    def check
      raise GzipFile::Error, "closed gzip stream" if @__closed
    end

    def open_member
      @__from = @__io.respond_to?(:pos) ? @__io.pos : 0
      data = @__io.read(1024) || "".b
      begin
        head, at = GzipFile.__header(data.b)
      rescue GzipFile::Error
        raise GzipFile::Error, "not in gzip format"
      end
      @__mtime, @__os, @__orig_name, @__comment = head[:mtime], head[:os], head[:name], head[:comment]
      @__level = head[:xfl] == 4 ? BEST_SPEED : head[:xfl] == 2 ? BEST_COMPRESSION : DEFAULT_COMPRESSION
      @__z = Inflate.new(-MAX_WBITS)
      @__buf = +"".b
      @__at = 0
      @__pos = 0
      @__crc = 0
      @__size = 0
      @__unused = nil
      @__ended = false
      feed(data.byteslice(at..))
    end

    def feed(data)
      out = @__z.inflate(data)
      @__crc = Zlib.crc32(out, @__crc)
      @__size += out.bytesize
      @__buf << out
      finish_member if @__z.finished?
    end

    def finish_member
      return if @__ended
      @__ended = true
      tail = @__z.flush_next_in
      tail << (@__io.read(8 - tail.bytesize) || "") if tail.bytesize < 8
      raise GzipFile::NoFooter, "footer is not found" if tail.bytesize < 8
      crc, len = tail.unpack("VV")
      raise GzipFile::CRCError, "invalid compressed data -- crc error" unless crc == @__crc
      raise GzipFile::LengthError, "invalid compressed data -- length error" unless len == @__size & 0xffff_ffff
      rest = tail.byteslice(8..)
      @__unused = rest unless rest.empty?
    end

    # Decompresses until `n` bytes are at hand (nil: to the end).
    def fill(n)
      until @__ended || (n && @__buf.bytesize - @__at >= n)
        data = @__io.read(8192)
        raise GzipFile::Error, "unexpected end of file" if data.nil? || data.empty?
        feed(data)
      end
    end

    def take(n)
      s = @__buf.byteslice(@__at, n)
      @__at += n
      @__pos += n
      if @__at > 65_536
        @__buf = @__buf.byteslice(@__at..)
        @__at = 0
      end
      s
    end

    def line_until(sep, limit)
      paragraph = sep.empty?
      if paragraph
        sep = "\n\n"
        while (fill(1); @__buf.getbyte(@__at) == 10)
          take(1)
        end
      end
      from = @__at
      while true
        i = @__buf.index(sep.b, from)
        have = (i ? i + sep.bytesize : @__buf.bytesize) - @__at
        if limit && have >= limit
          return take(limit).force_encoding(@__enc)
        end
        break if i || @__ended
        fill(@__buf.bytesize - @__at + 1)
      end
      return nil if have == 0
      line = take(have).force_encoding(@__enc)
      if paragraph
        while (fill(1); @__buf.getbyte(@__at) == 10)
          take(1)
        end
      end
      line
    end
  end
end
