# IO: writing what is not plain, whole files at once, copying between streams.
class IO
  def write(*args)
    return 0 if args.all? { |x| __is_a(x, String) && x.empty? }
    out = nil
    args.each do |x|
      s = KumiSys.to_s(x)
      enc = __io_recode(self, s)
      s = s.encode(enc, **(__io_enc_opts(self) || {})) if enc
      # All of it at once, so that what other threads write does not come in between.
      out = out ? out << s.b : (__ary_len(args) > 1 ? s.b : s)
    end
    out ? __io_write(self, out) : 0
  end

  def <<(x)
    write(x)
    self
  end

  def print(*args)
    args = [$_] if __ary_len(args) == 0
    ofs = $,
    KumiSys.warning("$, is set to non-nil value", :deprecated) if ofs && __ary_len(args) > 1
    i = 0
    while i < __ary_len(args)
      write(ofs) if ofs && i > 0
      write(args[i])
      i += 1
    end
    ors = $\
    write(ors) if ors
    nil
  end

  def puts(*args)
    if __ary_len(args) == 0
      write("\n")
      return nil
    end
    args.each { |x| KumiSys.puts_one(self, x) }
    nil
  end

  def printf(format = __undef, *args)
    return nil if __undef?(format)
    write(Kernel.format(format, *args))
    nil
  end

  def putc(x)
    if __is_a(x, String)
      write(x[0])
    else
      write((KumiSys.to_cint(x) & 255).chr)
    end
    x
  end

  def syswrite(x)
    KumiSys.warning "syswrite for buffered IO" if __io_unflushed(self) > 0
    __io_syswrite(self, KumiSys.to_s(x))
  end

  def pwrite(x, offset)
    __io_pwrite(self, KumiSys.to_s(x), KumiSys.to_long(offset))
  end

  def write_nonblock(x, exception: true)
    unless __same(exception, true) || __same(exception, false)
      raise ArgumentError, "expected true or false as exception: #{KumiSys.inspect(exception)}"
    end
    n = __io_try_write(self, KumiSys.to_s(x))
    return n if n
    return :wait_writable unless exception
    raise EAGAINWaitWritable, "write would block"
  end

  def self.write(name, text, offset = nil, perm: nil, **opts)
    name = KumiSys.to_path(name)
    unless opts.key?(:mode)
      opts[:mode] = File::WRONLY | File::CREAT | (__same(offset, nil) ? File::TRUNC : 0)
    end
    if opts[:open_args]
      args = opts[:open_args].dup
      more = __is_a(args[-1], Hash) ? args.pop : {}
      io = File.new(name, *args, **more)
    else
      io = __same(perm, nil) ? File.new(name, **opts) : File.new(name, opts.delete(:mode), perm, **opts)
    end
    begin
      io.seek(KumiSys.to_long(offset)) unless __same(offset, nil)
      io.write(text)
    ensure
      io.close
    end
  end

  def self.binwrite(name, text, offset = nil, perm: nil, **opts)
    opts[:binmode] = true unless opts.key?(:mode) && __is_a(opts[:mode], String)
    opts[:external_encoding] ||= Encoding::BINARY
    write(name, text, offset, perm: perm, **opts)
  end

  def self.copy_stream(from, to, length = nil, offset = nil)
    opened = []
    length = KumiSys.to_long(length) unless __same(length, nil)
    raise ArgumentError, "negative length #{length} given" if length && length < 0
    src = __is_a(from, IO) ? from : from.respond_to?(:to_io) && KumiSys.try_io(from) || from
    to = KumiSys.try_io(to) || to if !__is_a(to, IO) && to.respond_to?(:to_io)
    unless __is_a(src, IO) || __same(src, ARGF) || src.respond_to?(:read) || src.respond_to?(:readpartial)
      src = File.new(KumiSys.to_path(from), "rb")
      opened << src
    end
    dst = to
    unless __is_a(dst, IO) || dst.respond_to?(:write)
      dst = File.new(KumiSys.to_path(to), "wb")
      opened << dst
    end
    __io_check_readable(src) if __is_a(src, IO)
    __io_check_writable(dst) if __is_a(dst, IO)
    KumiSys.copy_bytes(src, dst, length, offset)
  ensure
    opened.each(&:close) if opened
  end
end

module KumiSys
  # One argument of puts: arrays line by line, a newline unless there is one.
  def self.puts_one(io, x)
    unless __is_a(x, String)
      if (list = try_ary(x))
        done = recursing(:puts, list) do
          list.each { |e| puts_one(io, e) }
          true
        end
        puts_one(io, "[...]") unless done
        return
      end
      x = to_s(x)
    end
    if x.end_with?("\n")
      io.write(x)
    elsif __method_arity(io, :write) == 1
      io.write(x + "\n")
    else
      io.write(x, "\n")
    end
  end

  def self.copy_bytes(src, dst, length, offset)
    total = 0
    unless __same(offset, nil)
      raise ArgumentError, "cannot specify src_offset for non-IO" unless __is_a(src, IO)
      offset = to_long(offset)
      while __same(length, nil) || total < length
        want = 65536
        want = length - total if length && length - total < want
        s = __io_pread(src, want, offset)
        break if __same(s, nil) || s.empty?
        dst.write(s)
        dst.flush if __is_a(dst, IO)
        total += s.bytesize
        offset += s.bytesize
      end
      return total
    end
    partial = !__is_a(src, IO) && src.respond_to?(:readpartial)
    while __same(length, nil) || total < length
      want = 65536
      want = length - total if length && length - total < want
      if __is_a(src, IO)
        s = __io_readpartial(src, want, false)
      elsif partial
        begin
          s = src.readpartial(want, +"")
        rescue EOFError
          s = nil
        end
      else
        s = src.read(want, +"")
      end
      break if __same(s, nil) || s.empty?
      rest = s
      while true
        n = dst.write(rest)
        break if __is_a(dst, IO) || !__is_a(n, Integer) || n >= rest.bytesize
        rest = rest.byteslice(n..)
      end
      dst.flush if __is_a(dst, IO)
      total += s.bytesize
    end
    total
  end
end
