# IO: opening, closing and configuring streams. Bytes are moved by natives; what
# stands here sorts out arguments and calls back into Ruby.
class IO
  include File::Constants
  include Enumerable

  SEEK_SET = 0
  SEEK_CUR = 1
  SEEK_END = 2
  SEEK_DATA = 3
  SEEK_HOLE = 4
  READABLE = 1
  PRIORITY = 2
  WRITABLE = 4

  module WaitReadable
  end
  module WaitWritable
  end
  class EAGAINWaitReadable < Errno::EAGAIN
    include IO::WaitReadable
  end
  class EAGAINWaitWritable < Errno::EAGAIN
    include IO::WaitWritable
  end
  class EINPROGRESSWaitReadable < Errno::EINPROGRESS
    include IO::WaitReadable
  end
  class EINPROGRESSWaitWritable < Errno::EINPROGRESS
    include IO::WaitWritable
  end
  EWOULDBLOCKWaitReadable = EAGAINWaitReadable
  EWOULDBLOCKWaitWritable = EAGAINWaitWritable
  class TimeoutError < IOError
  end

  def self.new(*args, **opts)
    KumiSys.warning "#{self}::new() does not take block; use #{self}::open() instead" if block_given?
    io = allocate
    io.__send__(:initialize, *args, **opts)
    io
  end

  def self.for_fd(fd, mode = nil, **opts)
    io = allocate
    io.__send__(:initialize, fd, mode, **opts)
    io
  end

  def self.open(*args, **opts)
    io = new(*args, **opts)
    return io unless block_given?
    begin
      yield io
    ensure
      KumiSys.close_after_block(io)
    end
  end

  def self.sysopen(path, mode = nil, perm = nil)
    path = KumiSys.to_path(path)
    flags = KumiSys.io_mode(mode, nil)[0]
    __io_sysopen(path, flags, __same(perm, nil) ? 438 : KumiSys.to_long(perm))
  end

  def self.try_convert(x)
    KumiSys.try_io(x)
  end

  def self.pipe(ext = nil, int = nil, **opts)
    r = allocate
    w = allocate
    __io_pipe(r, w)
    if __same(ext, nil)
      KumiSys.io_set_encodings(r, nil, nil, opts)
    else
      r.set_encoding(ext, int, **opts)
    end
    return [r, w] unless block_given?
    begin
      yield [r, w]
    ensure
      r.close unless r.closed?
      w.close unless w.closed?
    end
  end

  def initialize(fd, mode = nil, autoclose: true, path: nil, **opts)
    KumiSys.warning "#{self.class}::new() does not take block; use #{self.class}::open() instead" if block_given?
    fd = KumiSys.to_cint(fd)
    have = __io_fd_flags(fd)
    m = KumiSys.io_mode(mode, opts, nil)
    flags = m[0]
    flags = have if __same(flags, nil)
    want = flags & 3
    if (have & 3) != 2 && want != (have & 3)
      KumiSys.raise_errno(Errno::EINVAL::Errno, nil)
    end
    __io_init(self, fd, flags, m[1])
    KumiSys.io_finish(self, m, opts)
    self.autoclose = false unless autoclose
    __io_set_path(self, KumiSys.to_str(path)) if path
    self
  end
  private :initialize

  def initialize_copy(other)
    __io_dup(self, KumiSys.to_io(other))
    self
  end
  private :initialize_copy

  def close
    return nil unless __io_close(self)
    pid = __io_pid(self)
    KumiSys.reap(pid) if pid
    nil
  end

  def close_read
    close if __io_close_half(self, false)
    nil
  end

  def close_write
    close if __io_close_half(self, true)
    nil
  end

  def reopen(other, mode = nil, **opts)
    if __is_a(other, IO) || !(io = KumiSys.try_io(other)).nil?
      io ||= other
      __io_take_over(self, io)
      return self
    end
    path = KumiSys.to_path(other)
    if __same(mode, nil) && __hash_len(opts) == 0
      have = __io_flags(self) || 0
      flags = have & (3 | File::APPEND)
      flags |= File::CREAT if (have & 3) != 0
      flags |= File::TRUNC if (have & 3) == 1 && (have & File::APPEND) == 0
      m = [flags, 0, nil, nil]
    else
      m = KumiSys.io_mode(mode, opts)
    end
    __io_reopen_fd(self, __io_sysopen(path, m[0], 438))
    __io_set_path(self, path)
    KumiSys.io_finish(self, m, opts) unless __same(mode, nil)
    self
  end

  def set_encoding(ext, int = __undef, **opts)
    __io_check_open(self)
    int = nil if __undef?(int)
    KumiSys.check_newline_opts(self, opts)
    if __same(ext, nil)
      raise TypeError, "no implicit conversion of nil into String" unless __same(int, nil)
      __io_encodings(self, nil, nil)
      KumiSys.io_replace_opts(self, opts)
      return self
    end
    unless __is_a(ext, Encoding)
      ext = KumiSys.to_str(ext)
      unless ext.encoding.ascii_compatible?
        raise ArgumentError, "ASCII incompatible encoding name: #{ext.encoding}"
      end
      raise ArgumentError, "string contains null byte" if ext.include?("\0")
      if __same(int, nil) && ext.include?(":")
        ext, int = ext.split(":", 2)
      end
      ext = ext[4..] if ext[0, 4].casecmp?("bom|") && ext.size > 4
    end
    int = KumiSys.to_str(int) unless __same(int, nil) || __is_a(int, Encoding)
    raise ArgumentError, "string contains null byte" if __is_a(int, String) && int.include?("\0")
    KumiSys.io_set_encodings(self, ext, int, opts)
    if __io_readable(self) && !binmode? && __same(internal_encoding, nil) && !external_encoding.ascii_compatible?
      raise ArgumentError, "ASCII incompatible encoding needs binmode"
    end
    self
  end

  def set_encoding_by_bom
    __io_check_open(self)
    raise ArgumentError, "ASCII incompatible encoding needs binmode" unless binmode?
    return nil unless __io_readable(self)
    raise ArgumentError, "encoding conversion is set" if internal_encoding
    if (e = external_encoding) && e != Encoding::BINARY
      raise ArgumentError, "encoding is set to #{e} already"
    end
    __io_bom(self)
  end

  def timeout=(t)
    raise ArgumentError, "time interval must not be negative" if t && t < 0
    __io_set_timeout(self, t, t && (t * 1_000_000_000).to_i)
  end

  def seek(offset, whence = 0)
    __io_seek(self, KumiSys.to_long(offset), KumiSys.whence(whence))
    0
  end

  def sysseek(offset, whence = 0)
    __io_sysseek(self, KumiSys.to_long(offset), KumiSys.whence(whence))
  end

  def pos=(offset)
    __io_seek(self, KumiSys.to_long(offset), 0)
  end

  def rewind
    __io_seek(self, 0, 0)
    self.lineno = 0 if __io_readable(self)
    0
  end

  def fcntl(command, arg = 0)
    arg = 0 if __same(arg, nil) || __same(arg, false)
    arg = 1 if __same(arg, true)
    __io_fcntl(self, KumiSys.to_cint(command), KumiSys.to_long(arg))
  end

  def ioctl(request, arg = 0)
    arg = 0 if __same(arg, nil) || __same(arg, false)
    arg = 1 if __same(arg, true)
    __io_ioctl(self, KumiSys.to_long(request), __is_a(arg, String) ? arg : KumiSys.to_long(arg))
  end

  def advise(advice, offset = 0, length = 0)
    raise TypeError, "not a symbol (given #{advice.class})" unless __is_a(advice, Symbol)
    n = { normal: 0, random: 1, sequential: 2, willneed: 3, dontneed: 4, noreuse: 5 }[advice]
    offset = KumiSys.to_long(offset)
    length = KumiSys.to_long(length)
    raise NotImplementedError, "Unsupported advice: #{advice.inspect}" unless n
    [offset, length].each do |x|
      raise RangeError, "bignum too big to convert into 'long'" unless x.bit_length < 64
    end
    __fadvise(self, offset, length, n)
  end

  def stat
    __io_stat(self)
  end

  def inspect
    label = __io_label(self)
    return __any_to_s(self) unless label
    "#<#{__class(self)}:#{label}>"
  end

  def nread
    __io_pending(self)
  end

  def nonblock?
    __io_check_open(self)
    ((__io_flags(self) || 0) & File::NONBLOCK) != 0
  end

  def nonblock=(on)
    __io_nonblock(self, on)
    on
  end

  def nonblock(on = true)
    old = nonblock?
    __io_nonblock(self, on)
    yield self
  ensure
    __io_nonblock(self, old)
  end

  def ready?
    wait_readable(0) ? true : false
  end

  def wait_readable(timeout = nil)
    __io_check_readable(self)
    return self if __io_pending(self) > 0
    return Fiber.scheduler.io_wait(self, 1, timeout) && self if __hooked
    IO.select([self], nil, nil, timeout) && self
  end

  def wait_writable(timeout = nil)
    __io_check_writable(self)
    return Fiber.scheduler.io_wait(self, 4, timeout) && self if __hooked
    IO.select(nil, [self], nil, timeout) && self
  end

  def wait_priority(timeout = nil)
    IO.select(nil, nil, [self], timeout) && self
  end

  def wait(*args)
    if __ary_len(args) == 2 && !__is_a(args[0], Symbol) && !__is_a(args[1], Symbol)
      events, timeout = args
      events = KumiSys.to_cint(events)
      raise ArgumentError, "Events must be positive integer!" if events <= 0
      r = IO.select((events & 1) != 0 ? [self] : nil, (events & 4) != 0 ? [self] : nil,
                    (events & 2) != 0 ? [self] : nil, timeout)
      return nil unless r
      n = (r[0].empty? ? 0 : 1) | (r[1].empty? ? 0 : 4) | (r[2].empty? ? 0 : 2)
      return n
    end
    timeout = nil
    read = false
    write = false
    args.each do |a|
      if __is_a(a, Symbol)
        case a
        when :r, :read, :readable then read = true
        when :w, :write, :writable then write = true
        when :rw, :read_write, :readable_writable then read = write = true
        else raise ArgumentError, "unsupported mode: #{a}"
        end
      else
        raise ArgumentError, "timeout given more than once" unless __same(timeout, nil)
        timeout = a
      end
    end
    read = true unless read || write
    IO.select(read ? [self] : nil, write ? [self] : nil, nil, timeout) && self
  end

  # Waiting for one of several streams.
  def self.select(reads, writes = nil, errors = nil, timeout = nil)
    unless __same(timeout, nil)
      unless __is_a(timeout, Integer) || __is_a(timeout, Float) || __is_a(timeout, Rational)
        raise TypeError, "can't convert #{__describe_type(timeout)} into time interval" unless timeout.respond_to?(:divmod)
      end
      raise ArgumentError, "time interval must not be negative" if timeout < 0
      raise RangeError, "NaN out of Time range" if __is_a(timeout, Float) && timeout.nan?
      deadline = __now_ns + (timeout * 1_000_000_000).to_i if timeout < 4_000_000_000
    end
    lists = [reads, writes, errors].map { |l| __same(l, nil) ? [] : KumiSys.to_ary(l) }
    ios = lists.map { |l| l.map { |x| KumiSys.to_io(x) } }
    ios.each { |l| l.each { |io| __io_check_open(io) } }
    ready = []
    ios[0].each_with_index { |io, i| ready << lists[0][i] if __io_pending(io) > 0 }
    deadline = __now_ns unless ready.empty?
    hit = __select(ios[0], ios[1], ios[2], deadline)
    if __same(hit, nil)
      return nil if ready.empty?
      return [ready, [], []]
    end
    r = hit[0].map { |i| lists[0][i] }
    r = lists[0].select { |x| r.any? { |y| __same(x, y) } || ready.any? { |y| __same(x, y) } } unless ready.empty?
    [r, hit[1].map { |i| lists[1][i] }, hit[2].map { |i| lists[2][i] }]
  end
end

module KumiSys
  # Mode (String, Integer or nil) and keywords of open and its kin:
  # [open flags, bits, external encoding, internal encoding].
  def self.io_mode(mode, opts, default = "r")
    if opts && opts.key?(:mode)
      raise ArgumentError, "mode specified twice" unless __same(mode, nil) || __same(opts[:mode], nil)
      mode = opts[:mode] if __same(mode, nil)
    end
    mode = default if __same(mode, nil)
    bits = 0
    ext = int = nil
    if __same(mode, nil)
      flags = nil
    elsif __is_a(mode, Integer)
      flags = to_cint(mode)
    elsif !__is_a(mode, String) && (n = try_int(mode))
      flags = to_cint(n)
    else
      flags, bits, ext, int = __io_mode(to_str(mode))
    end
    return [flags, bits, ext, int] unless opts && __hash_len(opts) != 0
    flags = (flags || 0) | to_cint(opts[:flags]) if opts[:flags]
    if opts.key?(:textmode)
      raise ArgumentError, "textmode specified twice" if (bits & 2) != 0
      raise ArgumentError, "both textmode and binmode specified" if (bits & 1) != 0
      bits |= 2 if opts[:textmode]
    end
    if opts.key?(:binmode)
      raise ArgumentError, "binmode specified twice" if (bits & 1) != 0
      raise ArgumentError, "both textmode and binmode specified" if (bits & 2) != 0
      bits |= 1 if opts[:binmode]
    end
    if (bits & 1) != 0 && (opts[:newline] || opts[:universal_newline] || opts[:crlf_newline] || opts[:cr_newline])
      raise ArgumentError, "newline decorator with binary mode"
    end
    enc = opts[:encoding]
    if opts[:external_encoding] || opts.key?(:internal_encoding) && opts[:internal_encoding]
      raise ArgumentError, "encoding specified twice" if ext
      ext = opts[:external_encoding]
      int = opts[:internal_encoding]
      KumiSys.warning "Ignoring encoding parameter '#{enc}': #{ext ? "external" : "internal"}_encoding is used" if enc
    elsif enc
      raise ArgumentError, "encoding specified twice" if ext
      if __is_a(enc, Encoding)
        ext = enc
      else
        ext = to_str(enc)
        if ext[0, 4].casecmp?("bom|")
          ext = ext[4..]
          bits |= 4
        end
        ext, int = ext.split(":", 2) if ext.include?(":")
      end
    elsif opts.key?(:external_encoding) || opts.key?(:internal_encoding)
      int = "-" if opts.key?(:internal_encoding)
    end
    [flags, bits, ext, int]
  end

  # Encodings and conversion options of a stream that was just opened.
  def self.io_finish(io, m, opts)
    ext = m[2]
    ext = Encoding::BINARY if __same(ext, nil) && (m[1] & 1) != 0 && (__same(m[3], nil) || m[3] == "-")
    io_set_encodings(io, ext, m[3], opts)
    # A stream that is only written has no mark to look at.
    __io_bom(io) if (m[1] & 4) != 0 && (m[0] & 3) != 1
    io
  end

  def self.io_set_encodings(io, ext, int, opts)
    e = io_encoding(ext)
    i = __same(int, nil) ? nil : int == "-" ? false : io_encoding(int)
    __io_encodings(io, e, i)
    io_replace_opts(io, opts)
  end

  def self.io_replace_opts(io, opts)
    return __io_replace_opts(io, nil, nil, nil, nil) unless opts && __hash_len(opts) != 0
    conv = nil
    opts.each do |k, v|
      case k
      when :invalid, :undef, :replace, :fallback, :xml, :cr_newline, :crlf_newline, :universal_newline, :newline
        conv ||= {}
        conv[k] = v
      end
    end
    return __io_replace_opts(io, nil, nil, nil, nil) unless conv
    __io_replace_opts(io, conv, conv[:invalid] == :replace, conv[:undef] == :replace, conv[:replace])
  end

  def self.check_newline_opts(io, opts)
    return if __hash_len(opts) == 0
    if opts.key?(:newline)
      v = opts[:newline]
      unless [:universal, :crlf, :cr, :lf, nil].include?(v)
        raise ArgumentError, "unexpected value for newline option#{__is_a(v, Symbol) ? ": #{v}" : ""}"
      end
      raise ArgumentError, "newline decorator with binary mode" if v && io.binmode?
    end
    if (opts[:universal_newline] || opts[:crlf_newline] || opts[:cr_newline]) && io.binmode?
      raise ArgumentError, "newline decorator with binary mode"
    end
  end

  # An encoding by object or name; an unknown name is ignored with a warning.
  def self.io_encoding(x)
    return nil if __same(x, nil)
    return x if __is_a(x, Encoding)
    x = to_str(x)
    return nil if x.empty? || x == "-"
    begin
      Encoding.find(x)
    rescue ArgumentError
      KumiSys.warning "Unsupported encoding #{x} ignored"
      nil
    end
  end

  def self.whence(x)
    return x if __is_a(x, Integer)
    if __is_a(x, Symbol)
      n = { SET: 0, CUR: 1, END: 2, DATA: 3, HOLE: 4 }[x]
      raise ArgumentError, "unknown whence: #{x}" unless n
      return n
    end
    to_long(x)
  end

  # The end of open with a block: closing what the block did not close.
  def self.close_after_block(io)
    io.close unless io.__send__(:closed?)
  rescue IOError => e
    raise unless e.message == "closed stream"
  end

  # A wait took longer than IO#timeout.
  def self.io_timeout
    raise IO::TimeoutError, "Blocking operation timed out!"
  end

  def self.raise_sigpipe
    raise SignalException, "SIGPIPE"
  end

  # Errors of system calls on paths: "No such file or directory @ rb_sysopen - x".
  def self.raise_errno_at(errno, path, function)
    raise SystemCallError.new(path, errno, function)
  end

  def self.eof
    raise EOFError, "end of file reached"
  end
end

class IO
  alias isatty tty?
  alias eof eof?
  alias tell pos
  alias to_i fileno
  alias to_path path
end
