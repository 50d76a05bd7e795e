# frozen_string_literal: true

# Scans a string step by step. Positions are bytes; a match is kept as the byte
# offsets of its groups relative to where the scan began, or as its length where
# it began there and has no groups: most have none, and need no Array.
class StringScanner
  KumiSys::UNSHAREABLE << self

  class Error < StandardError; end

  Version = "3.1.6"
  Id = "$Id$"

  def self.must_C_version = self

  def initialize(string, _dup = nil, fixed_anchor: false)
    @__fixed = fixed_anchor ? true : false
    @__string = __text(string)
    @__pos = 0
    __clear
  end

  def initialize_copy(other)
    super
    @__match = @__match.dup if @__match
  end

  def string = @__string

  def string=(s)
    @__string = __text(s)
    @__pos = 0
    __clear
    s
  end

  def concat(s)
    @__string << __text(s)
    self
  end
  alias << concat

  def fixed_anchor? = @__fixed

  # --- position -------------------------------------------------------------------

  def pos = @__pos
  alias pointer pos

  def pos=(n)
    n = n.to_int
    n += @__string.bytesize if n < 0
    raise RangeError, "index out of range" if n < 0 || n > @__string.bytesize
    @__pos = n
  end
  alias pointer= pos=

  def charpos = @__string.byteslice(0, @__pos).length

  def reset
    @__pos = 0
    __clear
    self
  end

  def terminate
    @__pos = @__string.bytesize
    __clear
    self
  end

  def eos? = @__pos >= @__string.bytesize
  def rest? = !eos?

  def rest
    eos? ? +"" : @__string.byteslice(@__pos..)
  end

  def rest_size
    n = @__string.bytesize - @__pos
    n < 0 ? 0 : n
  end

  def beginning_of_line?
    return true if @__pos == 0
    return false if @__pos > @__string.bytesize
    @__string.getbyte(@__pos - 1) == 10
  end
  alias bol? beginning_of_line?

  def unscan
    raise Error, "unscan error: previous match record not exist" unless @__match
    @__pos = @__start
    __clear
    self
  end

  # --- scanning ---------------------------------------------------------------------

  def scan(pattern)
    return unless (stop = __here(pattern))
    @__pos = @__start + stop
    @__string.byteslice(@__start, stop)
  end

  def skip(pattern)
    return unless (stop = __here(pattern))
    @__pos = @__start + stop
    stop
  end

  def match?(pattern) = __here(pattern)
  def check(pattern) = (stop = __here(pattern)) && @__string.byteslice(@__start, stop)

  def scan_full(pattern, advance, return_string) = __run(pattern, advance, return_string, true)
  def scan_until(pattern) = __run(pattern, true, true, false)
  def exist?(pattern) = __run(pattern, false, false, false)
  def skip_until(pattern) = __run(pattern, true, false, false)
  def check_until(pattern) = __run(pattern, false, true, false)
  def search_full(pattern, advance, return_string) = __run(pattern, advance, return_string, false)

  def getch
    __clear
    return nil if eos?
    c = @__string.byteslice(@__pos, 8)[0]
    __matched_bytes(c.bytesize)
    c
  end

  def get_byte
    __clear
    return nil if eos?
    __matched_bytes(1)
    @__string.byteslice(@__start, 1)
  end

  def scan_byte
    __clear
    return nil if eos?
    b = @__string.getbyte(@__pos)
    __matched_bytes(1)
    b
  end

  def peek_byte = @__string.getbyte(@__pos)

  def peek(len)
    raise ArgumentError, "negative string size (or size too big)" if len < 0
    eos? ? +"" : @__string.byteslice(@__pos, len)
  end

  def scan_integer(base: 10)
    unless @__string.encoding.ascii_compatible?
      raise Encoding::CompatibilityError, "ASCII incompatible encoding: #{@__string.encoding}"
    end
    case base
    when 10 then scan(/[+-]?\d+/)&.to_i
    when 16 then scan(/[+-]?(?:0x)?[0-9a-fA-F]+/)&.to_i(16)
    else raise ArgumentError, "Unsupported integer base: #{base.inspect}, expected 10 or 16"
    end
  end

  # --- the last match -----------------------------------------------------------------

  def matched? = !@__match.nil?

  def matched
    @__match && __group(0)
  end

  def matched_size
    (m = __offsets) && m[1] - m[0]
  end

  def pre_match
    (m = __offsets) && @__string.byteslice(0, @__start + m[0])
  end

  def post_match
    (m = __offsets) && @__string.byteslice(@__start + m[1]..)
  end

  def [](i)
    return unless (m = __offsets)
    unless i.is_a?(Integer)
      return __named_group(i, m) if i.is_a?(Symbol) || i.is_a?(String)
      j = Integer.try_convert(i)
      if j.nil?
        raise TypeError, i.nil? ? "no implicit conversion from nil to integer" : "no implicit conversion of #{i.class} into Integer"
      end
      i = j
    end
    i += m.size / 2 if i < 0
    i < 0 || i >= m.size / 2 ? nil : __group(i)
  end

  def size
    (m = __offsets) && m.size / 2
  end

  def captures
    (m = __offsets) && (1...m.size / 2).map { |i| __group(i) }
  end

  def values_at(*indices)
    @__match && indices.map { |i| self[i] }
  end

  def named_captures
    return {} unless @__regexp.is_a?(Regexp)
    @__regexp.named_captures.to_h do |name, list|
      n = (m = __offsets) && list.reverse.find { |i| m[i * 2] >= 0 }
      [name, n ? __group(n) : nil]
    end
  end

  def inspect
    return "#<StringScanner (uninitialized)>" if @__string.nil?
    return "#<StringScanner fin>" if eos?
    after = @__string.byteslice(@__pos, 5).inspect
    after = "#{after[0..-2]}...\"" if @__string.bytesize - @__pos > 5
    return "#<StringScanner #{@__pos}/#{@__string.bytesize} @ #{after}>" if @__pos == 0
    from = @__pos > 5 ? @__pos - 5 : 0
    before = @__string.byteslice(from, @__pos - from).inspect
    before = "\"...#{before[1..]}" if @__pos > 5
    "#<StringScanner #{@__pos}/#{@__string.bytesize} #{before} @ #{after}>"
  end

  private

  def __text(s)
    return s if s.is_a?(String)
    t = String.try_convert(s)
    raise TypeError, "no implicit conversion of #{s.nil? ? "nil" : s.class} into String" if t.nil?
    t
  end

  def __clear
    @__match = nil
    @__regexp = nil
    @__start = @__pos
  end

  def __offsets
    m = @__match
    m.is_a?(Integer) ? [0, m] : m
  end

  def __named_group(name, m)
    list = @__regexp.is_a?(Regexp) ? @__regexp.named_captures[name.to_s] : nil
    raise IndexError, "undefined group name reference: #{name}" if list.nil?
    list.reverse_each { |n| return __group(n) if m[n * 2] >= 0 }
    nil
  end

  def __group(i)
    m = __offsets
    from = m[i * 2]
    from < 0 ? nil : @__string.byteslice(@__start + from, m[i * 2 + 1] - from)
  end

  def __matched_bytes(n)
    @__start = @__pos
    @__match = n
    @__pos += n
  end

  # Where the match ends that begins here, counted from here. The position stays.
  def __here(pattern)
    @__match = nil
    @__start = @__pos
    @__match = stop = __scan(pattern, @__string, @__start, true, @__fixed)
    return __run(pattern, false, false, true) if false.equal?(stop)
    @__regexp = pattern
    stop && (stop.is_a?(Integer) ? stop : stop[1])
  end

  # `advance`: move behind the match. `give`: answer the text, else its length.
  def __run(pattern, advance, give, anchored)
    @__match = nil
    @__start = @__pos
    return nil if @__pos > @__string.bytesize
    if pattern.is_a?(Regexp)
      @__match = __scan(pattern, @__string, @__pos, anchored, @__fixed)
      @__regexp = pattern
    else
      pattern = __text(pattern) unless pattern.is_a?(String)
      @__regexp = nil
      if anchored
        @__match = pattern.bytesize if __bytes_at?(@__string, @__pos, pattern)
      else
        at = __bytes_find(@__string, @__pos, pattern)
        @__match = [at - @__pos, at - @__pos + pattern.bytesize] if at
      end
    end
    return nil unless (stop = @__match)
    stop = stop[1] unless stop.is_a?(Integer)
    @__pos = @__start + stop if advance
    give ? @__string.byteslice(@__start, stop) : stop
  end
end
