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
    attr_reader :total_in, :total_out

    def finished? = @finished
    alias stream_end? finished?
    def closed? = @closed
    alias ended? closed?
    def avail_in = @pending ? @pending.bytesize : 0
    def avail_out = 0
    def avail_out=(n)
      n
    end
    def data_type = BINARY
    def adler = @adler

    def close
      raise Zlib::Error, "stream is not ready" if @closed
      @closed = true
      nil
    end
    alias end close

    def flush_next_in
      s = @pending || +""
      @pending = nil
      s
    end

    def flush_next_out
      out = @out
      @out = +"".b
      out
    end

    private

    def ready
      raise Zlib::Error, "stream is not ready" if @closed
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
        @out = out.byteslice(at..) + @out
      end
    end
  end

  class Deflate < ZStream
    def self.deflate(s, level = DEFAULT_COMPRESSION)
      new(level).deflate(s, FINISH)
    end

    def initialize(level = nil, wbits = nil, _mem = nil, _strategy = nil)
      @level = level || DEFAULT_COMPRESSION
      wbits ||= MAX_WBITS
      raise StreamError, "stream error" unless @level.between?(-1, 9)
      @gzip = wbits > MAX_WBITS
      @zlib = wbits > 0 && !@gzip
      reset
    end

    def reset
      @state = __deflate_new(@level, @zlib)
      @total_in = @total_out = 0
      @finished = @closed = false
      @adler = 1
      @out = +"".b
      @crc = 0
      nil
    end

    def initialize_copy(_other)
      raise Zlib::Error, "a stream cannot be copied"
    end

    def deflate(s, flush = NO_FLUSH)
      run(s, flush)
      out = @out
      @out = +"".b
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
      out = @out
      @out = +"".b
      block_given? ? (yield out; nil) : out
    end

    def finish
      run("", FINISH) unless @finished
      out = @out
      @out = +"".b
      block_given? ? (yield out; nil) : out
    end

    def params(level, _strategy)
      run("", SYNC_FLUSH)
      @level = level
      nil
    end

    def set_dictionary(_dict)
      raise StreamError, "stream error"
    end

    private

    def run(s, flush)
      ready
      s = s.nil? ? "" : s.to_str
      @adler = Zlib.adler32(s, @adler)
      if @gzip && @total_in == 0 && @total_out == 0 && !@head
        @out << [0x1f, 0x8b, 8, 0, 0, 0, OS_CODE].pack("C4VCC")
        @head = true
      end
      @crc = Zlib.crc32(s, @crc) if @gzip
      part, from = __deflate_run(@state, s, flush, 0)
      while from
        more, from = __deflate_run(@state, s, flush, from)
        part << more
      end
      @total_in += s.bytesize
      @total_out += part.bytesize
      @out << part
      if flush == FINISH
        @out << [@crc, @total_in & 0xffff_ffff].pack("VV") if @gzip && !@finished
        @finished = true
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
      @wbits = wbits
      reset
    end

    def reset
      @state = __inflate_new(@wbits > 0)
      @gzip = @wbits > MAX_WBITS
      @header = +"".b
      @raw = !@gzip
      @total_in = @total_out = 0
      @finished = @closed = false
      @adler = 1
      @pending = nil
      @out = +"".b
      nil
    end

    def inflate(s, buffer: nil)
      run(s)
      raise BufError, "buffer error" if s.nil? && !@finished
      out = @out
      @out = +"".b
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
      raise BufError, "buffer error" unless @finished
      out = @out
      @out = +"".b
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
      if @finished
        # Once the stream has ended, bytes pass through.
        @total_in += s.bytesize
        @gzip ? @pending = (@pending || +"".b) << s : @out << s
        return
      end
      unless @raw
        @header << s
        if @header.bytesize >= 2 && @header.getbyte(0) == 0x1f && @header.getbyte(1) == 0x8b
          _, at = GzipFile.__header(@header)
          @state = __inflate_new(false)
          s = @header.byteslice(at..)
        elsif @wbits >= 32
          @state = __inflate_new(true)
          s = @header
        else
          raise DataError, "incorrect header check"
        end
        @raw = true
      end
      part, used, done, more = __inflate_run(@state, s, 0)
      while more && !done
        piece, n, done, more = __inflate_run(@state, s, used)
        part << piece
        used += n
      end
      @out << part
      @total_in += used
      @total_out += part.bytesize
      @adler = Zlib.adler32(part, @adler)
      if done
        @finished = true
        rest = s.byteslice(used..)
        rest = rest.byteslice(8..) || "" if @gzip
        @pending = rest.dup unless rest.empty?
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
        raise GzipFile::Error, "closed gzip stream" if @closed
        instance_variable_get(:"@#{name}")
      end
    end

    def os_code = @os || OS_CODE
    def closed? = @closed
    def to_io = @io
    def sync = false
    def sync=(v)
      v
    end
    def mtime = Time.at(@mtime || 0)
  end

  class GzipWriter < GzipFile
    def self.open(name, level = nil, strategy = nil, **opts, &block)
      wrap(File.open(name, "wb"), level, strategy, **opts, &block)
    end

    def initialize(io, level = nil, _strategy = nil, **_opts)
      @io = io
      @level = level || DEFAULT_COMPRESSION
      @z = Deflate.new(@level, -MAX_WBITS)
      @crc = 0
      @size = 0
      @closed = false
      @started = false
    end

    def mtime=(t)
      raise GzipFile::Error, "header is already written" if @started
      @mtime = t.to_i
    end

    def orig_name=(s)
      raise GzipFile::Error, "header is already written" if @started
      @orig_name = s.dup
    end

    def comment=(s)
      raise GzipFile::Error, "header is already written" if @started
      @comment = s.dup
    end

    def pos = @size
    alias tell pos

    def write(*strings)
      strings.sum do |s|
        s = s.to_s
        start
        @crc = Zlib.crc32(s, @crc)
        @size += s.bytesize
        put @z.deflate(s.b)
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
      put @z.flush(flush)
      @io.flush if @io.respond_to?(:flush)
      self
    end

    def finish
      start
      put @z.finish
      put [@crc, @size & 0xffff_ffff].pack("VV")
      @closed = true
      @io
    end

    def close
      raise GzipFile::Error, "closed gzip stream" if @closed
      finish
      @io.close if @io.respond_to?(:close)
      @io
    end

    private

    # The header goes before the first bytes of content, when those are in the stream already: an error of the
    # writer then loses nothing of them.
    def put(s)
      head = @head
      @head = nil
      s = head + s if head
      s.empty? ? nil : @io.write(s)
    end

    def start
      raise GzipFile::Error, "closed gzip stream" if @closed
      return if @started
      @started = true
      flags = (@orig_name ? 8 : 0) | (@comment ? 16 : 0)
      xfl = @level == BEST_SPEED ? 4 : @level == BEST_COMPRESSION ? 2 : 0
      head = [0x1f, 0x8b, 8, flags, @mtime || 0, xfl, OS_CODE].pack("C4VCC")
      head << @orig_name.b << "\0" if @orig_name
      head << @comment.b << "\0" if @comment
      @head = head
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

    attr_accessor :lineno

    def initialize(io, external_encoding: nil, **_opts)
      @io = io
      @enc = external_encoding || Encoding.default_external
      @enc = Encoding.find(@enc) unless @enc.is_a?(Encoding)
      @closed = false
      @lineno = 0
      open_member
    end

    def external_encoding = @enc
    def unused = @unused

    def rewind
      @io.seek(@from)
      @lineno = 0
      open_member
      0
    end

    def pos = @pos
    alias tell pos

    def eof?
      fill(1)
      @buf.bytesize <= @at
    end
    alias eof eof?

    def read(len = nil, buf = nil)
      check
      raise ArgumentError, "negative length #{len} given" if len && len < 0
      if len.nil?
        fill(nil)
        s = take(@buf.bytesize - @at).force_encoding(@enc)
      else
        fill(len)
        return len == 0 ? +"" : nil if @buf.bytesize <= @at && len > 0
        s = take([len, @buf.bytesize - @at].min)
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
      return nil if @buf.bytesize <= @at
      c = @buf.byteslice(@at, 8).force_encoding(@enc)[0]
      take(c.bytesize)
      c
    end

    def readchar = KumiSys.read_more(getc)
    def each_byte = KumiSys.each_byte(self, &__block_proc)
    def each_char = KumiSys.each_char(self, &__block_proc)

    def ungetc(c)
      c = c.chr if c.is_a?(Integer)
      @buf = c.b + @buf.byteslice(@at..)
      @at = 0
      @pos -= c.bytesize
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
               s.nil? || s.empty? ? nil : s.force_encoding(@enc)
             else
               line_until(sep, limit)
             end
      if line
        @lineno += 1
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
      @closed = true
      @io
    end

    def close
      finish
      @io.close if @io.respond_to?(:close)
      @io
    end

    private

    def check
      raise GzipFile::Error, "closed gzip stream" if @closed
    end

    def open_member
      @from = @io.respond_to?(:pos) ? @io.pos : 0
      data = @io.read(1024) || "".b
      begin
        head, at = GzipFile.__header(data.b)
      rescue GzipFile::Error
        raise GzipFile::Error, "not in gzip format"
      end
      @mtime, @os, @orig_name, @comment = head[:mtime], head[:os], head[:name], head[:comment]
      @level = head[:xfl] == 4 ? BEST_SPEED : head[:xfl] == 2 ? BEST_COMPRESSION : DEFAULT_COMPRESSION
      @z = Inflate.new(-MAX_WBITS)
      @buf = +"".b
      @at = 0
      @pos = 0
      @crc = 0
      @size = 0
      @unused = nil
      @ended = false
      feed(data.byteslice(at..))
    end

    def feed(data)
      out = @z.inflate(data)
      @crc = Zlib.crc32(out, @crc)
      @size += out.bytesize
      @buf << out
      finish_member if @z.finished?
    end

    def finish_member
      return if @ended
      @ended = true
      tail = @z.flush_next_in
      tail << (@io.read(8 - tail.bytesize) || "") if tail.bytesize < 8
      raise GzipFile::NoFooter, "footer is not found" if tail.bytesize < 8
      crc, len = tail.unpack("VV")
      raise GzipFile::CRCError, "invalid compressed data -- crc error" unless crc == @crc
      raise GzipFile::LengthError, "invalid compressed data -- length error" unless len == @size & 0xffff_ffff
      rest = tail.byteslice(8..)
      @unused = rest unless rest.empty?
    end

    # Decompresses until `n` bytes are at hand (nil: to the end).
    def fill(n)
      until @ended || (n && @buf.bytesize - @at >= n)
        data = @io.read(8192)
        raise GzipFile::Error, "unexpected end of file" if data.nil? || data.empty?
        feed(data)
      end
    end

    def take(n)
      s = @buf.byteslice(@at, n)
      @at += n
      @pos += n
      if @at > 65_536
        @buf = @buf.byteslice(@at..)
        @at = 0
      end
      s
    end

    def line_until(sep, limit)
      paragraph = sep.empty?
      if paragraph
        sep = "\n\n"
        while (fill(1); @buf.getbyte(@at) == 10)
          take(1)
        end
      end
      from = @at
      while true
        i = @buf.index(sep.b, from)
        have = (i ? i + sep.bytesize : @buf.bytesize) - @at
        if limit && have >= limit
          return take(limit).force_encoding(@enc)
        end
        break if i || @ended
        fill(@buf.bytesize - @at + 1)
      end
      return nil if have == 0
      line = take(have).force_encoding(@enc)
      if paragraph
        while (fill(1); @buf.getbyte(@at) == 10)
          take(1)
        end
      end
      line
    end
  end
end
