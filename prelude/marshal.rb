# Marshal: CRuby's format 4.8. The writer (marshal_writer.rb) and the reader
# (marshal_reader.rb) are Ruby, because any object may bring its own hooks;
# numbers and class facts come from intrinsics.
module Marshal
  MAJOR_VERSION = 4
  MINOR_VERSION = 8

  def self.dump(obj, io = __undef, limit = __undef)
    if __undef?(limit) && __is_a(io, Integer) && io.abs <= 0x3fffffffffffffff
      limit = io
      io = __undef
    end
    raise TypeError, "instance of IO needed" if __same(io, nil)
    io = nil if __undef?(io)
    limit = -1 if __undef?(limit) || limit.nil?
    limit = KumiSys.to_cint(limit)
    unless io.nil?
      raise TypeError, "instance of IO needed" unless KumiSys.answers?(io, :write)
      io.binmode if KumiSys.answers?(io, :binmode)
    end
    s = limit < 0 && __marshal_dump_plain(obj)
    unless s
      w = KumiSys::MarshalWriter.new
      w.object(obj, limit)
      s = w.out
    end
    return s if io.nil?
    io.write(s)
    io
  end

  def self.load(source, proc = nil, freeze: false)
    str = KumiSys.try_str(source)
    if str
      if proc.nil? && !freeze
        x = __marshal_load_plain(str)
        return x unless __undef?(x)
      end
      r = KumiSys::MarshalReader.new(str, nil, proc, freeze)
    elsif KumiSys.answers?(source, :getbyte) && KumiSys.answers?(source, :read)
      source.binmode if KumiSys.answers?(source, :binmode)
      r = KumiSys::MarshalReader.new(nil, source, proc, freeze)
    else
      raise TypeError, "instance of IO needed"
    end
    r.start
    r.object
  end

  class << self
    alias_method :restore, :load
  end
end
