# IO: what calls back into Ruby around the natives that move bytes.
class IO
  include Enumerable

  def write(*args)
    n = 0
    args.each do |x|
      s = KumiSys.to_s(x)
      enc = __io_recode(self, s)
      s = s.encode(enc, **(__io_enc_opts(self) || {})) if enc
      n += __io_write(self, s)
    end
    n
  end

  def <<(x)
    write(x)
    self
  end

  def print(*args)
    args = [$_] if args.empty?
    ofs = $,
    i = 0
    while i < args.size
      write(ofs) if ofs && i > 0
      write(args[i])
      i += 1
    end
    ors = $\
    write(ors) if ors
    nil
  end

  def puts(*args)
    return write("\n") && nil if args.empty?
    args.each { |x| KumiSys.puts_one(self, x) }
    nil
  end
end

module KumiSys
  # One argument of puts: arrays line by line, a newline unless there is one.
  def self.puts_one(io, x)
    unless __is_a(x, String)
      if (list = try_ary(x))
        done = guard(:puts, list) do
          list.each { |e| puts_one(io, e) }
          true
        end
        io.write("[...]\n") unless done
        return
      end
      x = to_s(x)
    end
    x.end_with?("\n") ? io.write(x) : io.write(x, "\n")
  end
end
