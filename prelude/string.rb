# String: what needs conversions, keywords or a user's methods. The plain cases
# are natives; a method of the same name here runs when its native hands over.
class String
  include Comparable

  def self.try_convert(object)
    KumiSys.try_str(object)
  end

  def initialize(string = __undef, encoding: nil, capacity: nil)
    unless __undef?(string)
      __check_frozen(self)
      __str_set(self, KumiSys.to_str(string))
    end
    force_encoding(encoding) unless __same(encoding, nil)
    __str_reserve(self, KumiSys.to_long(capacity)) unless __same(capacity, nil)
    self
  end

  def dup
    c = KumiSys.copy(self)
    c.__send__(:initialize_dup, self)
    c
  end

  def ==(other)
    return eql?(other) if __is_a(other, String)
    return false unless other.respond_to?(:to_str)
    other == self ? true : false
  end

  alias === ==

  def <=>(other)
    text = KumiSys.try_str(other)
    return self <=> text unless __same(text, nil)
    r = KumiSys.recursing_pair(:string_compare, self, other) { [other <=> self] }
    return nil if __same(r, nil)
    c = __ary_at(r, 0)
    return nil if __same(c, nil)
    -KumiSys.cmp_int(c, self, other)
  end

  def casecmp(other)
    text = KumiSys.try_str(other)
    __same(text, nil) ? nil : casecmp(text)
  end

  def casecmp?(other)
    text = KumiSys.try_str(other)
    __same(text, nil) ? nil : casecmp?(text)
  end

  def %(arg)
    list = KumiSys.try_ary(arg)
    KumiSys.format(self, __same(list, nil) ? [arg] : list)
  end

  def [](index, length = __undef)
    return self[index, length] unless __undef?(length)
    return self[KumiSys.int_range(index)] if __is_a(index, Range)
    return self[index] if __is_a(index, String) || __is_a(index, Regexp)
    self[KumiSys.to_long(index)]
  end

  alias slice []

  def []=(index, value, third = __undef)
    return self[index, value] = third unless __undef?(third)
    index = KumiSys.int_range(index) if __is_a(index, Range)
    self[index] = value
  end

  def slice!(index, length = __undef)
    return slice!(index, length) unless __undef?(length)
    slice!(__is_a(index, Range) ? KumiSys.int_range(index) : index)
  end

  def byteslice(index, length = __undef)
    return byteslice(index, length) unless __undef?(length)
    byteslice(__is_a(index, Range) ? KumiSys.int_range(index) : index)
  end

  def bytesplice(*args)
    n = __ary_len(args)
    raise ArgumentError, "wrong number of arguments (given #{n}, expected 2..5)" if n < 2 || n > 5
    bytesplice(*args.map { |x| __is_a(x, Range) ? KumiSys.int_range(x) : x })
  end

  def match(pattern, *pos, &block)
    pattern = Regexp.new(KumiSys.pattern(pattern)) unless __is_a(pattern, Regexp)
    pattern.match(self, *pos, &block)
  end

  def match?(pattern, pos = 0)
    pattern = Regexp.new(KumiSys.pattern(pattern)) unless __is_a(pattern, Regexp)
    pattern.match?(self, pos)
  end

  def unpack(template, offset: 0)
    list = __unpack(self, KumiSys.to_str(template), KumiSys.to_long(offset), false)
    return list unless block_given?
    list.each { |x| yield x }
    nil
  end

  def unpack1(template, offset: 0)
    __unpack(self, KumiSys.to_str(template), KumiSys.to_long(offset), true)
  end

  def scrub(replacement = nil)
    if block_given? && __same(replacement, nil)
      r = KumiSys.scrub(self) { |bad| yield bad }
    else
      replacement = KumiSys.to_str(replacement) unless __same(replacement, nil)
      r = __str_scrub(self, replacement)
    end
    __same(r, nil) ? __str_copy(self) : r
  end

  def scrub!(replacement = nil)
    if block_given? && __same(replacement, nil)
      r = KumiSys.scrub(self) { |bad| yield bad }
    else
      replacement = KumiSys.to_str(replacement) unless __same(replacement, nil)
      r = __str_scrub(self, replacement)
    end
    replace(r) unless __same(r, nil)
    self
  end

  def encode(*names, **options)
    KumiSys.encode(self, names, options)
  end

  def encode!(*names, **options)
    __check_frozen(self)
    replace(KumiSys.encode(self, names, options))
  end

  def unicode_normalize(form = :nfc)
    KumiSys.unicode_normalize(self, form)
  end

  def unicode_normalize!(form = :nfc)
    replace(KumiSys.unicode_normalize(self, form))
  end

  def unicode_normalized?(form = :nfc)
    text = KumiSys.unicode_text(self)
    __str_is_normalized(text, KumiSys.normalization_form(form))
  end

end

module KumiSys
  # A Range with Integer (or nil) ends.
  def self.int_range(range)
    raise TypeError, "no implicit conversion of #{__describe_type(range)} into Integer" unless __is_a(range, Range)
    lo = range.begin
    hi = range.end
    lo = to_long(lo) unless __same(lo, nil)
    hi = to_long(hi) unless __same(hi, nil)
    Range.new(lo, hi, range.exclude_end?)
  end

  # What sub, scan and their like search for: a Regexp or a String.
  def self.pattern(x)
    return x if __is_a(x, Regexp) || __is_a(x, String)
    s = try_str(x)
    raise TypeError, "wrong argument type #{__describe_type(x)} (expected Regexp)" if __same(s, nil)
    s
  end

  # Kernel#format.
  def self.format_all(args)
    raise ArgumentError, "too few arguments" if __ary_len(args) == 0
    text = args.shift
    format(to_str(text), args)
  end

  # Formats, asking the objects for what the native can't know.
  def self.format(text, args)
    met = []
    while true
      r = __format(text, args, met)
      return r if __is_a(r, String)
      return format_surplus(__ary_at(r, 0)) if __ary_len(r) == 1
      # What is asked may change both.
      if __ary_len(met) == 0
        text = __str_frozen(text)
        args = __ary_copy(args)
      end
      i = 0
      while i < __ary_len(r)
        met[__ary_at(r, i)] = format_need(__ary_at(r, i + 1), __ary_at(r, i + 2))
        i += 3
      end
    end
  end

  # More arguments than directives.
  def self.format_surplus(text)
    raise ArgumentError, "too many arguments for format string" if $DEBUG
    KumiSys.warning "too many arguments for format string" if $VERBOSE
    text
  end

  def self.format_need(kind, value)
    case kind
    when 0 then to_s(value)
    when 1 then inspect(value)
    when 2 then Integer(value)
    when 3 then Float(value)
    when 4 then format_key(value)
    when 5
      s = try_str(value)
      return s unless __same(s, nil)
      to_long(value)
    when 7 then format_digits(__ary_at(value, 0), __ary_at(value, 1), __ary_at(value, 2))
    when 8 then __rat_decimals(__ary_at(value, 0), __ary_at(value, 1))
    else to_int(value)
    end
  end

  # Digits of a huge Integer: those of its magnitude, or of its two's complement with one leading digit for the sign.
  def self.format_digits(value, radix, complement)
    negative = value < 0
    return [negative, (negative ? -value : value).to_s(radix)] unless complement
    sign = radix == 2 ? "1" : radix == 8 ? "7" : "f"
    bits = radix == 2 ? 1 : radix == 8 ? 3 : 4
    text = (value + (1 << (value.bit_length / bits + 1) * bits)).to_s(radix)
    text = text.byteslice(1..) while text.start_with?(sign)
    [true, sign + text]
  end

  # The value of a key that a hash has no entry for: its default, wrapped.
  def self.format_key(parts)
    hash = __ary_at(parts, 0)
    key = __ary_at(parts, 1)
    value = hash.default(key)
    if __same(value, nil)
      shown = __ary_at(parts, 2)
      raise KeyError.new("key#{shown} not found", receiver: hash, key: key)
    end
    [value]
  end

  def self.scrub(text)
    from = 0
    bad = __str_next_bad(text, 0)
    return nil if __same(bad, nil)
    out = text.byteslice(0, 0)
    until __same(bad, nil)
      first = __ary_at(bad, 0)
      past = __ary_at(bad, 1)
      out << text.byteslice(from, first - from)
      part = to_str(yield(text.byteslice(first, past - first)))
      unless part.valid_encoding?
        raise ArgumentError, "replacement must be valid byte sequence '#{part}'"
      end
      out << part
      from = past
      bad = __str_next_bad(text, from)
    end
    out << text.byteslice(from, text.bytesize - from)
  end

  def self.unicode_text(text)
    case text.encoding
    when Encoding::UTF_8 then text
    when Encoding::US_ASCII then text
    when Encoding::UTF_16BE, Encoding::UTF_16LE, Encoding::UTF_32BE, Encoding::UTF_32LE, Encoding::GB18030,
         Encoding::UCS_2BE, Encoding::UCS_4LE
      text.encode(Encoding::UTF_8)
    else
      raise Encoding::CompatibilityError, "Unicode Normalization not appropriate for #{text.encoding}"
    end
  end

  def self.normalization_form(form)
    return form if __same(form, :nfc) || __same(form, :nfd) || __same(form, :nfkc) || __same(form, :nfkd)
    raise ArgumentError, "Invalid normalization form #{form}."
  end

  def self.unicode_normalize(text, form)
    utf8 = unicode_text(text)
    r = __str_normalize(utf8, normalization_form(form))
    return r.force_encoding(text.encoding) if text.encoding == Encoding::US_ASCII
    text.encoding == Encoding::UTF_8 ? r : r.encode(text.encoding)
  end

  # An encoding by object or name; nil when there is none of that name.
  def self.find_encoding(x)
    return x if __is_a(x, Encoding)
    __enc_find(to_str(x))
  end

  def self.encoding_name(x)
    __is_a(x, Encoding) ? x.name : to_str(x)
  end

  # The option bits of Encoding::Converter for encode's keywords.
  def self.encode_flags(options)
    flags = 0
    case options[:invalid]
    when nil
    when :replace then flags |= 0x02
    else raise ArgumentError, "unknown value for invalid character option"
    end
    case options[:undef]
    when nil
    when :replace then flags |= 0x20
    else raise ArgumentError, "unknown value for undefined character option"
    end
    flags |= 0x20 if !__same(options[:replace], nil) && (flags & 0x02) == 0 && __same(options[:fallback], nil) && flags != 0
    case xml = options[:xml]
    when nil
    when :text then flags |= 0x4000
    when :attr then flags |= 0x8000 | 0x100000
    else
      raise ArgumentError, "unexpected value for xml option: #{__is_a(xml, Symbol) ? xml : inspect(xml)}"
    end
    case newline = options[:newline]
    when nil
    when :universal then flags |= 0x100
    when :crlf then flags |= 0x1000
    when :cr then flags |= 0x2000
    when :lf then flags |= 0x200000
    else
      raise ArgumentError, "unexpected value for newline option: #{__is_a(newline, Symbol) ? newline : inspect(newline)}"
    end
    flags |= 0x100 if options[:universal_newline]
    flags |= 0x1000 if options[:crlf_newline]
    flags |= 0x2000 if options[:cr_newline]
    flags |= 0x200000 if options[:lf_newline]
    flags
  end

  def self.encode(text, names, options)
    arity_error(names.size, 0, 2) if names.size > 2
    if __is_a(names[-1], Hash) || (names.size > 0 && !__is_a(names[-1], String) && !__is_a(names[-1], Encoding) && !__same(h = try_hash(names[-1]), nil))
      options = (h || names[-1]).merge(options)
      names = names[0, names.size - 1]
    end
    flags = encode_flags(options)
    if names.empty?
      to = Encoding.default_internal
      return __str_copy(text) if __same(to, nil) && flags & ~0x22 == 0 && flags & 0x02 == 0
      to = text.encoding if __same(to, nil)
    else
      to = find_encoding(names[0])
    end
    from = names.size > 1 ? find_encoding(names[1]) : text.encoding
    if __same(to, nil) || __same(from, nil)
      raise Encoding::ConverterNotFoundError, "code converter not found (#{names.size > 1 ? encoding_name(names[1]) : text.encoding.name} to #{encoding_name(names[0])})"
    end
    replacement = options[:replace]
    replacement = to_str(replacement) unless __same(replacement, nil)
    fallback = options[:fallback]
    if __same(fallback, nil)
      return __str_encode(text, to, from, flags, replacement, names.size > 1 || names.size == 1)
    end
    return __str_encode(text, to, from, flags, replacement, true) if to == from || text.ascii_only?
    encode_with_fallback(text, to, from, flags, replacement, fallback)
  end

  def self.encode_with_fallback(text, to, from, flags, replacement, fallback)
    converter = Encoding::Converter.allocate
    __conv_init(converter, from, to, flags, replacement)
    out = "".dup.force_encoding(Encoding::BINARY)
    at = 0
    while true
      r = __conv_step(converter, text, at, out, nil, false)
      at = __ary_at(r, 1)
      status = __ary_at(r, 0)
      return out.force_encoding(to) if __same(status, :finished)
      error = converter.last_error
      raise error unless __same(status, :undefined_conversion)
      char = error.error_char
      char = char.encode(from) unless char.encoding == from
      given = if __is_a(fallback, Proc) || __is_a(fallback, Method)
        fallback.call(char)
      elsif __responds(fallback, :[])
        fallback[char]
      end
      raise error if __same(given, nil)
      given = to_str(given)
      utf8 = given.encoding == to ? given : nil
      if utf8
        raise ArgumentError, "too big fallback string" unless given.valid_encoding?
        out << given.b
      else
        begin
          out << given.encode(to).b
        rescue EncodingError
          raise ArgumentError, "too big fallback string"
        end
      end
    end
  end
end

module Kernel
  def format(*args)
    KumiSys.format_all(args)
  end

  def sprintf(*args)
    KumiSys.format_all(args)
  end

  module_function :format, :sprintf
end

class Array
  def pack(template, buffer: nil)
    template = KumiSys.to_str(template)
    if __same(buffer, nil)
      out = "".dup
    else
      unless __is_a(buffer, String)
        raise TypeError, "buffer must be String, not #{__describe_type(buffer)}"
      end
      __check_frozen(buffer)
      out = buffer
    end
    list = self
    while true
      need = __ary_pack(list, template, out, !__same(buffer, nil))
      return out if __same(need, nil)
      i = __ary_at(need, 0)
      list = list.dup if __same(list, self)
      list[i] = KumiSys.pack_need(__ary_at(need, 1), list[i])
    end
  end
end

module KumiSys
  def self.pack_need(kind, x)
    case kind
    when 0 then to_int(x)
    when 1
      raise TypeError, "can't convert #{__describe_type(x)} into Float" unless __is_a(x, Numeric)
      to_float(x)
    when 2 then to_str(x)
    else to_s(x)
    end
  end
end
