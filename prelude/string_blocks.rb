# String: iteration and substitution with blocks. Loops run over a snapshot, so
# that a block may change the string.
class String
  def each_byte
    return to_enum(:each_byte) { bytesize } unless block_given?
    i = 0
    while i < bytesize
      yield getbyte(i)
      i += 1
    end
    self
  end

  def bytes
    return __str_bytes(self) unless block_given?
    each_byte { |b| yield b }
  end

  def each_char
    return KumiSys.enum(self, :each_char, :size) unless block_given?
    list = __str_chars(self)
    i = 0
    while i < __ary_len(list)
      yield __ary_at(list, i)
      i += 1
    end
    self
  end

  def chars
    return __str_chars(self) unless block_given?
    each_char { |c| yield c }
  end

  def each_codepoint
    return KumiSys.enum(self, :each_codepoint, :size) unless block_given?
    text = __str_frozen(self)
    i = 0
    while i < text.bytesize
      yield __str_code_at(text, i)
      i += __str_char_step(text, i)
    end
    self
  end

  def codepoints
    return __str_codepoints(self) unless block_given?
    each_codepoint { |c| yield c }
  end

  def each_grapheme_cluster
    return to_enum(:each_grapheme_cluster) { __ary_len(__str_graphemes(self)) } unless block_given?
    list = __str_graphemes(self)
    i = 0
    while i < __ary_len(list)
      yield __ary_at(list, i)
      i += 1
    end
    self
  end

  def grapheme_clusters
    return __str_graphemes(self) unless block_given?
    each_grapheme_cluster { |c| yield c }
  end

  def each_line(separator = __undef, chomp: __undef)
    unless block_given?
      return to_enum(:each_line, *(__undef?(separator) ? [] : [separator]), **(__undef?(chomp) ? {} : { chomp: chomp }))
    end
    separator = $/ if __undef?(separator)
    chomp = false if __undef?(chomp)
    separator = KumiSys.to_str(separator) unless __same(separator, nil)
    list = __str_lines(self, separator, chomp)
    i = 0
    while i < __ary_len(list)
      yield __ary_at(list, i)
      i += 1
    end
    self
  end

  def lines(separator = $/, chomp: false)
    separator = KumiSys.to_str(separator) unless __same(separator, nil)
    list = __str_lines(self, separator, chomp)
    return list unless block_given?
    list.each { |l| yield l }
    self
  end

  def split(pattern = nil, limit = 0)
    limit = KumiSys.to_long(limit)
    if __same(pattern, nil) && !__same($;, nil)
      pattern = $;
      KumiSys.warning("$; is set to non-nil value", :deprecated)
    end
    pattern = KumiSys.pattern(pattern) unless __same(pattern, nil)
    list = __str_split(self, pattern, limit)
    return list unless block_given?
    list.each { |part| yield part }
    self
  end

  def scan(pattern)
    pattern = KumiSys.pattern(pattern)
    return __str_scan(self, pattern) unless block_given?
    text = __str_frozen(self)
    at = 0
    last = nil
    while m = __str_find_match(text, pattern, at)
      at = __match_end0(m)
      if at == __match_begin0(m)
        step = __str_char_step(text, at)
        at += step == 0 ? 1 : step
      end
      last = m
      __set_last_match(m)
      yield(m.size > 1 ? m.captures : __nth_match(m, 0))
      raise RuntimeError, "string modified" if bytesize != text.bytesize
    end
    __set_last_match(last)
    self
  end

  def sub(pattern, replacement = __undef, &)
    r = KumiSys.sub(self, pattern, replacement, false, &)
    __same(r, nil) ? __str_copy(self) : r
  end

  def gsub(pattern, replacement = __undef, &)
    return to_enum(:gsub, pattern) if __undef?(replacement) && !block_given?
    r = KumiSys.sub(self, pattern, replacement, true, &)
    __same(r, nil) ? __str_copy(self) : r
  end

  def sub!(pattern, replacement = __undef, &) = KumiSys.sub!(self, pattern, replacement, false, &)

  def gsub!(pattern, replacement = __undef, &)
    return to_enum(:gsub!, pattern) if __undef?(replacement) && !block_given?
    KumiSys.sub!(self, pattern, replacement, true, &)
  end

  def upto(last, exclusive = __undef)
    return to_enum(:upto, last, *(__undef?(exclusive) ? [] : [exclusive])) unless block_given?
    exclusive = false if __undef?(exclusive)
    last = KumiSys.to_str(last)
    if bytesize == 1 && last.bytesize == 1 && ascii_only? && last.ascii_only?
      c = getbyte(0)
      stop = last.getbyte(0)
      return self if c > stop || (exclusive && c == stop)
      while true
        yield c.chr
        break if !exclusive && c == stop
        c += 1
        break if exclusive && c == stop
      end
      return self
    end
    if KumiSys.all_digits?(self) && KumiSys.all_digits?(last)
      width = bytesize
      a = to_i
      b = last.to_i
      b -= 1 if exclusive
      while a <= b
        yield a.to_s.rjust(width, "0")
        a += 1
      end
      return self
    end
    __str_check_compat(self, last)
    order = self <=> last
    return self if order > 0 || (exclusive && order == 0)
    after = last.succ
    current = self
    until current == after
      break if exclusive && current == last
      following = current.succ
      yield current
      break if !exclusive && current == last
      current = following
      break if current.size > last.size || current.size == 0
    end
    self
  end
end

module KumiSys
  def self.all_digits?(text)
    return false unless text.ascii_only? && text.bytesize > 0
    i = 0
    while i < text.bytesize
      b = text.getbyte(i)
      return false if b < 48 || b > 57
      i += 1
    end
    true
  end

  # The general case of sub and gsub: the new string, or nil when nothing matched.
  def self.sub(string, pattern, replacement, all, &)
    if __undef?(replacement)
      raise ArgumentError, "wrong number of arguments (given 1, expected 2)" unless block_given?
      pattern = pattern(pattern)
      return sub_each(string, pattern, all, nil, &)
    end
    pattern = pattern(pattern)
    hash = __is_a(replacement, String) ? nil : try_hash(replacement)
    return sub_each(string, pattern, all, hash) unless __same(hash, nil)
    replacement = to_str(replacement)
    sub_each(string, pattern, all, replacement)
  end

  # The same in place: the string itself, or nil.
  def self.sub!(string, pattern, replacement, all, &)
    __check_frozen(string)
    before = __str_copy(string) if block_given?
    r = sub(string, pattern, replacement, all, &)
    return nil if __same(r, nil)
    raise RuntimeError, "string modified" if block_given? && before != string
    __str_set(string, r)
    string
  end

  # `by`: a Hash, a replacement String, or nil for the block.
  def self.sub_each(string, pattern, all, by)
    text = __str_frozen(string)
    m = __str_find_match(text, pattern, 0)
    if __same(m, nil)
      __set_last_match(nil)
      return nil
    end
    out = __str_copy(text.byteslice(0, 0))
    at = 0
    last = m
    while m
      from = __match_begin0(m)
      __str_append_slice(out, text, at, from)
      at = __match_end0(m)
      __set_last_match(m)
      part = __nth_match(m, 0)
      if __same(by, nil)
        v = yield(part)
        raise RuntimeError, "string modified" if all && string.bytesize != text.bytesize
        out << (__is_a(v, String) ? v : to_s(v))
      elsif __is_a(by, String)
        out << __str_expand(by, m)
      else
        out << to_s(by[part])
      end
      last = m
      break unless all
      if at == from
        step = __str_char_step(text, at)
        break if step == 0
        __str_append_slice(out, text, at, at + step)
        at += step
      end
      m = __str_find_match(text, pattern, at)
    end
    __str_append_slice(out, text, at, text.bytesize)
    __set_last_match(last)
    out
  end
end

module KumiSys
  # The functions on $_ that Kernel has under -n and -p.
  def self.line_functions
    Kernel.module_eval do
      def chomp(*args)
        $_ = $_.chomp(*args)
      end

      def chop
        $_ = $_.chop
      end

      def sub(*args, &block)
        $_ = $_.sub(*args, &block)
      end

      def gsub(*args, &block)
        $_ = $_.gsub(*args, &block)
      end

      module_function :chomp, :chop, :sub, :gsub
    end
  end
end
