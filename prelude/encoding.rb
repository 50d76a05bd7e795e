# Converters between encodings, and what conversion errors tell.
class Encoding
  def self._load(name)
    find(name)
  end

  def _dump(limit = 0)
    name
  end

  class UndefinedConversionError
    def source_encoding = __ivar_get(self, :@__source)
    def destination_encoding = __ivar_get(self, :@__destination)
    def source_encoding_name = __ivar_get(self, :@__source).name
    def destination_encoding_name = __ivar_get(self, :@__destination).name
    def error_char = __ivar_get(self, :@__bytes)
  end

  class InvalidByteSequenceError
    def source_encoding = __ivar_get(self, :@__source)
    def destination_encoding = __ivar_get(self, :@__destination)
    def source_encoding_name = __ivar_get(self, :@__source).name
    def destination_encoding_name = __ivar_get(self, :@__destination).name
    def error_bytes = __ivar_get(self, :@__bytes)
    def readagain_bytes = __ivar_get(self, :@__readagain)
    def incomplete_input? = __ivar_get(self, :@__incomplete)
  end

  class Converter
    def self.asciicompat_encoding(name)
      if __is_a(name, Encoding)
        name = name.name
      else
        name = KumiSys.try_str(name)
        return nil if __same(name, nil)
      end
      case name.upcase
      when "ISO-2022-JP" then Encoding::Stateless_ISO_2022_JP
      when "UTF-16BE", "UTF-16LE", "UTF-32BE", "UTF-32LE", "UTF-16", "UTF-32" then Encoding::UTF_8
      end
    end

    def self.search_convpath(source, destination, **options)
      a = KumiSys.find_encoding(source)
      b = KumiSys.find_encoding(destination)
      path = __same(a, nil) || __same(b, nil) ? nil : __conv_path(a, b)
      if __same(path, nil)
        raise ConverterNotFoundError, "code converter not found (#{KumiSys.encoding_name(source)} to #{KumiSys.encoding_name(destination)})"
      end
      KumiSys.convpath(path, KumiSys.encode_flags(options))
    end

    def initialize(source, destination = __undef, flags = __undef, **options)
      if __undef?(destination)
        path = KumiSys.to_ary(source)
        return KumiSys.converter_by_path(self, path)
      end
      unless __undef?(flags) || __is_a(flags, Integer)
        h = KumiSys.try_hash(flags)
        if __same(h, nil)
          flags = KumiSys.to_long(flags)
        else
          options = h
          flags = __undef
        end
      end
      bits = __undef?(flags) ? KumiSys.encode_flags(options) : flags
      replacement = options[:replace]
      replacement = KumiSys.to_str(replacement) unless __same(replacement, nil)
      source = KumiSys.to_str(source) unless __is_a(source, Encoding)
      destination = KumiSys.to_str(destination) unless __is_a(destination, Encoding)
      if source == "" && destination == ""
        return __conv_init(self, nil, nil, bits, replacement)
      end
      a = KumiSys.find_encoding(source)
      b = KumiSys.find_encoding(destination)
      if __same(a, nil) || __same(b, nil)
        raise ConverterNotFoundError, "code converter not found (#{KumiSys.encoding_name(source)} to #{KumiSys.encoding_name(destination)})"
      end
      __conv_init(self, a, b, bits, replacement)
    end

    def convpath
      KumiSys.convpath(__conv_path_of(self), __conv_flags(self))
    end

    def convert(source)
      source = KumiSys.to_str(source)
      out = "".dup.force_encoding(BINARY)
      status = __ary_at(__conv_step(self, source, 0, out, nil, true), 0)
      KumiSys.converter_result(self, status, out)
    end

    def finish
      out = "".dup.force_encoding(BINARY)
      status = __ary_at(__conv_step(self, nil, 0, out, nil, false), 0)
      KumiSys.converter_result(self, status, out)
    end

    def primitive_convert(source, target, offset = nil, size = nil, flags = nil, **options)
      source = KumiSys.to_str(source) unless __same(source, nil)
      target = KumiSys.to_str(target)
      offset = KumiSys.to_long(offset) unless __same(offset, nil)
      size = KumiSys.to_long(size) unless __same(size, nil)
      unless __same(flags, nil) || __is_a(flags, Integer)
        options = KumiSys.to_hash(flags)
        flags = nil
      end
      partial = __same(flags, nil) ? options[:partial_input] : flags & PARTIAL_INPUT != 0
      after = __same(flags, nil) ? options[:after_output] : flags & AFTER_OUTPUT != 0
      __check_frozen(target)
      __check_frozen(source) unless __same(source, nil)
      raise ArgumentError, "negative output_byteoffset" if !__same(offset, nil) && offset < 0
      raise ArgumentError, "negative output_bytesize" if !__same(size, nil) && size < 0
      raise ArgumentError, "output_byteoffset too big" if !__same(offset, nil) && offset > target.bytesize
      label = destination_encoding
      kept = __same(offset, nil) ? target.b : target.byteslice(0, offset).b
      limit = size
      limit = 1 if after && (__same(limit, nil) || limit > 1)
      r = __conv_step(self, source, 0, kept, limit, partial ? true : false)
      status = __ary_at(r, 0)
      status = :after_output if after && __same(status, :destination_buffer_full)
      used = __ary_at(r, 1)
      source.replace(source.byteslice(used, source.bytesize - used)) unless __same(source, nil)
      target.replace(kept)
      target.force_encoding(label) unless __same(label, nil)
      status
    end

    def insert_output(text)
      text = KumiSys.to_str(text)
      utf8 = text.encode(UTF_8)
      pending = __ivar_get(self, :@__inserted)
      ok = __conv_insert(self, utf8, "".dup)
      raise UndefinedConversionError, "too big insert" unless ok
      nil
    end

    def ==(other)
      return false unless __is_a(other, Converter)
      convpath == other.convpath && replacement == other.replacement && __conv_flags(self) == __conv_flags(other)
    end

    def inspect
      a = source_encoding
      b = destination_encoding
      __same(a, nil) ? "#<Encoding::Converter>" : "#<Encoding::Converter: #{a.name} to #{b.name}>"
    end
  end
end

module KumiSys
  def self.convpath(encodings, flags)
    out = []
    i = 0
    while i + 1 < encodings.size
      out << [encodings[i], encodings[i + 1]]
      i += 1
    end
    out << "universal_newline" if flags & 0x100 != 0
    out << "crlf_newline" if flags & 0x1000 != 0
    out << "cr_newline" if flags & 0x2000 != 0
    out << "lf_newline" if flags & 0x200000 != 0
    out << "xml_text_escape" if flags & 0x4000 != 0
    out << "xml_attr_content_escape" if flags & 0x8000 != 0
    out << "xml_attr_quote" if flags & 0x100000 != 0
    out
  end

  def self.converter_by_path(converter, path)
    raise ArgumentError, "empty conversion path" if path.empty?
    flags = 0
    from = nil
    to = nil
    path.each do |step|
      pair = try_ary(step)
      if __same(pair, nil)
        case to_str(step)
        when "universal_newline" then flags |= 0x100
        when "crlf_newline" then flags |= 0x1000
        when "cr_newline" then flags |= 0x2000
        when "lf_newline" then flags |= 0x200000
        when "xml_text_escape" then flags |= 0x4000
        when "xml_attr_content_escape" then flags |= 0x8000
        when "xml_attr_quote" then flags |= 0x100000
        else raise Encoding::ConverterNotFoundError, "code converter not found (#{step})"
        end
      else
        raise ArgumentError, "not a 2-element array in convpath" unless pair.size == 2
        a = find_encoding(pair[0])
        b = find_encoding(pair[1])
        if __same(a, nil) || __same(b, nil)
          raise Encoding::ConverterNotFoundError, "code converter not found (#{encoding_name(pair[0])} to #{encoding_name(pair[1])})"
        end
        from = a if __same(from, nil)
        to = b
      end
    end
    __conv_init(converter, from, to, flags, nil)
  end

  def self.converter_result(converter, status, out)
    if __same(status, :invalid_byte_sequence) || __same(status, :undefined_conversion) || __same(status, :incomplete_input)
      error = converter.last_error
      raise error
    end
    label = converter.destination_encoding
    out.force_encoding(label) unless __same(label, nil)
    out
  end
end
