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
    @fixed = fixed_anchor ? true : false
    @string = text(string)
    @pos = 0
    clear
  end

  def initialize_copy(other)
    super
    @match = @match.dup if @match
  end

  attr_reader :string

  def string=(s)
    @string = text(s)
    @pos = 0
    clear
    s
  end

  def concat(s)
    @string << text(s)
    self
  end
  alias << concat

  def fixed_anchor? = @fixed

  # --- position -------------------------------------------------------------------

  def pos = @pos
  alias pointer pos

  def pos=(n)
    n = n.to_int
    n += @string.bytesize if n < 0
    raise RangeError, "index out of range" if n < 0 || n > @string.bytesize
    @pos = n
  end
  alias pointer= pos=

  def charpos = @string.byteslice(0, @pos).length

  def reset
    @pos = 0
    clear
    self
  end

  def terminate
    @pos = @string.bytesize
    clear
    self
  end

  def eos? = @pos >= @string.bytesize
  def rest? = !eos?

  def rest
    eos? ? +"" : @string.byteslice(@pos..)
  end

  def rest_size
    n = @string.bytesize - @pos
    n < 0 ? 0 : n
  end

  def beginning_of_line?
    return true if @pos == 0
    return false if @pos > @string.bytesize
    @string.getbyte(@pos - 1) == 10
  end
  alias bol? beginning_of_line?

  def unscan
    raise Error, "unscan error: previous match record not exist" unless @match
    @pos = @start
    clear
    self
  end

  # --- scanning ---------------------------------------------------------------------

  def scan(pattern)
    return unless (stop = here(pattern))
    @pos = @start + stop
    @string.byteslice(@start, stop)
  end

  def skip(pattern)
    return unless (stop = here(pattern))
    @pos = @start + stop
    stop
  end

  def match?(pattern) = here(pattern)
  def check(pattern) = (stop = here(pattern)) && @string.byteslice(@start, stop)

  def scan_full(pattern, advance, return_string) = run(pattern, advance, return_string, true)
  def scan_until(pattern) = run(pattern, true, true, false)
  def exist?(pattern) = run(pattern, false, false, false)
  def skip_until(pattern) = run(pattern, true, false, false)
  def check_until(pattern) = run(pattern, false, true, false)
  def search_full(pattern, advance, return_string) = run(pattern, advance, return_string, false)

  def getch
    clear
    return nil if eos?
    c = @string.byteslice(@pos, 8)[0]
    matched_bytes(c.bytesize)
    c
  end

  def get_byte
    clear
    return nil if eos?
    matched_bytes(1)
    @string.byteslice(@start, 1)
  end

  def scan_byte
    clear
    return nil if eos?
    b = @string.getbyte(@pos)
    matched_bytes(1)
    b
  end

  def peek_byte = @string.getbyte(@pos)

  def peek(len)
    raise ArgumentError, "negative string size (or size too big)" if len < 0
    eos? ? +"" : @string.byteslice(@pos, len)
  end

  def scan_integer(base: 10)
    unless @string.encoding.ascii_compatible?
      raise Encoding::CompatibilityError, "ASCII incompatible encoding: #{@string.encoding}"
    end
    case base
    when 10 then scan(/[+-]?\d+/)&.to_i
    when 16 then scan(/[+-]?(?:0x)?[0-9a-fA-F]+/)&.to_i(16)
    else raise ArgumentError, "Unsupported integer base: #{base.inspect}, expected 10 or 16"
    end
  end

  # --- the last match -----------------------------------------------------------------

  def matched? = !@match.nil?

  def matched
    @match && group(0)
  end

  def matched_size
    (m = offsets) && m[1] - m[0]
  end

  def pre_match
    (m = offsets) && @string.byteslice(0, @start + m[0])
  end

  def post_match
    (m = offsets) && @string.byteslice(@start + m[1]..)
  end

  def [](i)
    return unless (m = offsets)
    unless i.is_a?(Integer)
      return named_group(i, m) if i.is_a?(Symbol) || i.is_a?(String)
      j = Integer.try_convert(i)
      if j.nil?
        raise TypeError, i.nil? ? "no implicit conversion from nil to integer" : "no implicit conversion of #{i.class} into Integer"
      end
      i = j
    end
    i += m.size / 2 if i < 0
    i < 0 || i >= m.size / 2 ? nil : group(i)
  end

  def size
    (m = offsets) && m.size / 2
  end

  def captures
    (m = offsets) && (1...m.size / 2).map { |i| group(i) }
  end

  def values_at(*indices)
    @match && indices.map { |i| self[i] }
  end

  def named_captures
    return {} unless @regexp.is_a?(Regexp)
    @regexp.named_captures.to_h do |name, list|
      n = (m = offsets) && list.reverse.find { |i| m[i * 2] >= 0 }
      [name, n ? group(n) : nil]
    end
  end

  def inspect
    return "#<StringScanner (uninitialized)>" if @string.nil?
    return "#<StringScanner fin>" if eos?
    after = @string.byteslice(@pos, 5).inspect
    after = "#{after[0..-2]}...\"" if @string.bytesize - @pos > 5
    return "#<StringScanner #{@pos}/#{@string.bytesize} @ #{after}>" if @pos == 0
    from = @pos > 5 ? @pos - 5 : 0
    before = @string.byteslice(from, @pos - from).inspect
    before = "\"...#{before[1..]}" if @pos > 5
    "#<StringScanner #{@pos}/#{@string.bytesize} #{before} @ #{after}>"
  end

  private

  def text(s)
    return s if s.is_a?(String)
    t = String.try_convert(s)
    raise TypeError, "no implicit conversion of #{s.nil? ? "nil" : s.class} into String" if t.nil?
    t
  end

  def clear
    @match = nil
    @regexp = nil
    @start = @pos
  end

  def offsets
    m = @match
    m.is_a?(Integer) ? [0, m] : m
  end

  def named_group(name, m)
    list = @regexp.is_a?(Regexp) ? @regexp.named_captures[name.to_s] : nil
    raise IndexError, "undefined group name reference: #{name}" if list.nil?
    list.reverse_each { |n| return group(n) if m[n * 2] >= 0 }
    nil
  end

  def group(i)
    m = offsets
    from = m[i * 2]
    from < 0 ? nil : @string.byteslice(@start + from, m[i * 2 + 1] - from)
  end

  def matched_bytes(n)
    @start = @pos
    @match = n
    @pos += n
  end

  # Where the match ends that begins here, counted from here. The position stays.
  def here(pattern)
    @match = nil
    @start = @pos
    @match = stop = __scan(pattern, @string, @start, true, @fixed)
    return run(pattern, false, false, true) if false.equal?(stop)
    @regexp = pattern
    stop && (stop.is_a?(Integer) ? stop : stop[1])
  end

  # `advance`: move behind the match. `give`: answer the text, else its length.
  def run(pattern, advance, give, anchored)
    @match = nil
    @start = @pos
    return nil if @pos > @string.bytesize
    if pattern.is_a?(Regexp)
      @match = __scan(pattern, @string, @pos, anchored, @fixed)
      @regexp = pattern
    else
      pattern = text(pattern) unless pattern.is_a?(String)
      @regexp = nil
      if anchored
        @match = pattern.bytesize if __bytes_at?(@string, @pos, pattern)
      else
        at = __bytes_find(@string, @pos, pattern)
        @match = [at - @pos, at - @pos + pattern.bytesize] if at
      end
    end
    return nil unless (stop = @match)
    stop = stop[1] unless stop.is_a?(Integer)
    @pos = @start + stop if advance
    give ? @string.byteslice(@start, stop) : stop
  end
end
