# frozen_string_literal: true

# Random data in usual shapes, for anything with a `bytes` method.
module Random::Formatter
  ALPHANUMERIC = [*"A".."Z", *"a".."z", *"0".."9"].freeze

  def random_bytes(n = nil) = gen_random(n ? n.to_int : 16)

  def hex(n = nil) = random_bytes(n).unpack1("H*")

  def base64(n = nil) = [random_bytes(n)].pack("m0")

  def urlsafe_base64(n = nil, padding = false)
    s = [random_bytes(n)].pack("m0")
    s.tr!("+/", "-_")
    s.delete!("=") unless padding
    s
  end

  def uuid
    ary = random_bytes(16)
    ary.setbyte(6, (ary.getbyte(6) & 0x0f) | 0x40)
    ary.setbyte(8, (ary.getbyte(8) & 0x3f) | 0x80)
    ary.unpack("H8H4H4H4H12").join("-")
  end
  alias uuid_v4 uuid

  def uuid_v7(extra_timestamp_bits: 0)
    unless (0..12).cover?(extra_timestamp_bits)
      raise ArgumentError, "extra_timestamp_bits must be in 0..12"
    end
    ns = Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)
    ms, rest = ns.divmod(1_000_000)
    rand = random_bytes(10).unpack("nnNn")
    sub = rest * (1 << extra_timestamp_bits) / 1_000_000
    a = sub << (12 - extra_timestamp_bits) | rand[0] & ((1 << (12 - extra_timestamp_bits)) - 1)
    format("%08x-%04x-7%03x-%04x-%08x%04x", ms >> 16, ms & 0xffff, a, 0x8000 | rand[1] & 0x3fff, rand[2], rand[3])
  end

  def alphanumeric(n = nil, chars: ALPHANUMERIC)
    n = 16 if n.nil?
    raise ArgumentError, "size must be an Integer" unless n.is_a?(Integer)
    choose(chars, n)
  end

  private

  def gen_random(n) = bytes(n)

  def choose(source, n)
    size = source.length
    s = +""
    n.times { s << source[random_number(size)].to_s }
    s
  end
end
