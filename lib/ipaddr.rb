# frozen_string_literal: true

require "socket"

# An IPv4 or IPv6 address, or with a mask a range of them.
class IPAddr
  VERSION = "1.2.8"

  IN4MASK = 0xffff_ffff
  IN6MASK = (1 << 128) - 1
  IN6FORMAT = (["%.4x"] * 8).join(":").freeze

  # What looks like an address, before its numbers are checked.
  RE_IPV4ADDRLIKE = /\A\d+\.\d+\.\d+\.\d+\z/
  RE_IPV6ADDRLIKE_FULL = /\A(?:(?:[\da-f]{1,4}:){7}[\da-f]{1,4}|((?:[\da-f]{1,4}:){6})(\d+)\.(\d+)\.(\d+)\.(\d+))\z/i
  RE_IPV6ADDRLIKE_COMPRESSED =
    /\A((?:[\da-f]{1,4}(?::[\da-f]{1,4})*)?)::((?:(?:[\da-f]{1,4}:)*(?:[\da-f]{1,4}|\d+\.\d+\.\d+\.\d+))?)\z/i

  class Error < ArgumentError
  end

  class InvalidAddressError < Error
  end

  class AddressFamilyError < Error
  end

  class InvalidPrefixError < InvalidAddressError
  end

  include Comparable

  class << self
    # An address from its bytes.
    def new_ntoh(bytes) = new(ntop(bytes))

    # The text of an address's bytes.
    def ntop(bytes)
      if String === bytes && bytes.encoding != Encoding::BINARY
        raise InvalidAddressError, "invalid encoding (given #{bytes.encoding}, expected BINARY)"
      end
      case bytes.bytesize
      when 4 then bytes.unpack("C4").join(".")
      when 16 then format(IN6FORMAT, *bytes.unpack("n8"))
      else raise AddressFamilyError, "unsupported address family"
      end
    end
  end

  attr_reader :family

  def initialize(address = "::", family = Socket::AF_UNSPEC)
    @mask_addr = nil
    if !(String === address)
      case family
      when Socket::AF_INET, Socket::AF_INET6
        set(address.to_i, family)
        @mask_addr = __all
      when Socket::AF_UNSPEC
        raise AddressFamilyError, "address family must be specified"
      else
        raise AddressFamilyError, "unsupported address family: #{family}"
      end
      return
    end
    begin
      __parse(address, family)
    rescue InvalidAddressError => e
      raise e if e.message.include?(address)
      raise e.class, "#{e.message}: #{address}"
    end
  end

  def &(other) = __with(@addr & coerce_other(other).to_i)
  def |(other) = __with(@addr | coerce_other(other).to_i)
  def >>(bits) = __with(@addr >> bits)
  def <<(bits) = __with((@addr << bits) & __all)
  def ~ = __with(@addr ^ __all)

  def ==(other)
    other = coerce_other(other)
  rescue StandardError
    false
  else
    @family == other.family && @addr == other.to_i
  end

  def eql?(other) = self.class == other.class && hash == other.hash && self == other

  def <=>(other)
    other = coerce_other(other)
  rescue StandardError
    nil
  else
    @addr <=> other.to_i if other.family == @family
  end

  def hash = [@addr, @mask_addr, @zone_id, ipv4?].hash

  # The network of the address: by the length of a prefix or by a mask.
  def mask(prefix) = clone.mask!(prefix)

  def include?(other)
    other = coerce_other(other)
    return false unless other.family == @family
    first, last = __bounds
    other.__bounds.all? { |x| x.between?(first, last) }
  end
  alias === include?

  def to_i = @addr

  def to_s
    s = ipv6? ? __short : to_string
    ipv6? && @zone_id ? s + @zone_id : s
  end

  def to_string
    s = __text(@addr)
    @zone_id ? s + @zone_id : s
  end

  def to_json(*args) = as_json.to_json(*args)

  def as_json(*)
    full = ipv4? ? 32 : 128
    prefix == full ? to_s : cidr
  end

  # "192.168.1.0/24"
  def cidr = "#{self}/#{prefix}"

  def hton
    ipv4? ? [@addr].pack("N") : [@addr >> 64, @addr & 0xffff_ffff_ffff_ffff].pack("Q>2")
  end

  def ipv4? = @family == Socket::AF_INET
  def ipv6? = @family == Socket::AF_INET6

  def loopback?
    return @addr >> 24 == 127 if ipv4?
    @addr == 1 || ipv4_mapped? && (@addr & IN4MASK) >> 24 == 127
  end

  def private?
    return __private4?(@addr) if ipv4?
    @addr >> 121 == 0xfc >> 1 || ipv4_mapped? && __private4?(@addr & IN4MASK)
  end

  def link_local?
    return @addr >> 16 == 0xa9fe if ipv4?
    @addr >> 118 == 0xfe80 >> 6 || ipv4_mapped? && (@addr & IN4MASK) >> 16 == 0xa9fe
  end

  def ipv4_mapped? = ipv6? && @addr >> 32 == 0xffff
  def ipv4_compat? = ipv6? && @addr >> 32 == 0 && @addr > 1

  # As an IPv6 address.
  def ipv4_mapped
    raise InvalidAddressError, "not an IPv4 address: #{to_s}" unless ipv4?
    other = clone.set(@addr | 0xffff_0000_0000, Socket::AF_INET6)
    other.__send__(:__mask_to, @mask_addr | (IN6MASK ^ IN4MASK))
  end

  def ipv4_compat
    raise InvalidAddressError, "not an IPv4 address: #{to_s}" unless ipv4?
    clone.set(@addr, Socket::AF_INET6)
  end

  # The IPv4 address inside an IPv6 address; else itself.
  def native
    return self unless ipv4_mapped? || ipv4_compat?
    other = clone.set(@addr & IN4MASK, Socket::AF_INET)
    other.__send__(:__mask_to, @mask_addr & IN4MASK)
  end

  # The name of the address in the DNS.
  def reverse
    return @addr.digits(256).then { |d| d + [0] * (4 - d.size) }.join(".") + ".in-addr.arpa" if ipv4?
    ip6_arpa
  end

  def ip6_arpa
    raise InvalidAddressError, "not an IPv6 address: #{to_s}" unless ipv6?
    __nibbles + ".ip6.arpa"
  end

  def ip6_int
    raise InvalidAddressError, "not an IPv6 address: #{to_s}" unless ipv6?
    __nibbles + ".ip6.int"
  end

  def succ = clone.set(@addr + 1, @family)

  def to_range
    first, last = __bounds
    Range.new(self.class.new(first, @family), self.class.new(last, @family))
  end

  def prefix
    host = __all ^ @mask_addr
    (ipv4? ? 32 : 128) - host.bit_length
  end

  def prefix=(length)
    raise InvalidPrefixError, "prefix must be an integer: #{to_s}" unless Integer === length
    mask!(length)
  end

  def netmask = __text(@mask_addr)
  def wildcard_mask = __text(@mask_addr ^ __all)

  def zone_id
    raise InvalidAddressError, "not an IPv6 address" unless ipv6?
    @zone_id
  end

  def zone_id=(id)
    raise InvalidAddressError, "not an IPv6 address" unless ipv6?
    unless id.nil? || String === id && id.match?(/\A%(\w+)\z/)
      raise InvalidAddressError, "invalid zone identifier for address"
    end
    @zone_id = id
  end

  def inspect
    kind = ipv4? ? "IPv4" : "IPv6"
    "#<#{self.class}: #{kind}:#{to_string}/#{__text(@mask_addr)}>"
  end

  def initialize_copy(_other)
    @addr = @addr
  end

  protected

  # First and last address.
  def __bounds = [@addr & @mask_addr, @addr | (__all ^ @mask_addr)]

  def set(number, *family)
    family = family[0] || @family
    limit = case family
    when Socket::AF_INET then IN4MASK
    when Socket::AF_INET6 then IN6MASK
    else raise AddressFamilyError, "unsupported address family: #{family}"
    end
    unless number.between?(0, limit)
      raise InvalidAddressError, "invalid address: #{number}"
    end
    @addr = number
    @family = family
    self
  end

  def mask!(mask)
    full = ipv4? ? 32 : 128
    case mask
    when String
      if mask.match?(/\A(0|[1-9]\d*)\z/)
        length = mask.to_i
      else
        m = IPAddr.new(mask)
        raise InvalidPrefixError, "address family is not same: #{to_s}" if m.family != @family
        host = m.to_i ^ __all
        raise InvalidPrefixError, "invalid mask #{mask}: #{to_s}" unless host & (host + 1) == 0
        @mask_addr = m.to_i
        @addr &= @mask_addr
        return self
      end
    else
      length = mask
    end
    raise InvalidPrefixError, "invalid length: #{to_s}" unless Integer === length && length.between?(0, full)
    @mask_addr = __all ^ ((1 << (full - length)) - 1)
    @addr &= @mask_addr
    self
  end

  private

  def __all = ipv4? ? IN4MASK : IN6MASK
  def __with(number) = clone.set(number, @family)

  def __mask_to(mask)
    @mask_addr = mask
    self
  end

  def __private4?(n) = n >> 24 == 10 || n >> 20 == 0xac1 || n >> 16 == 0xc0a8

  def __nibbles = format("%032x", @addr).reverse.chars.join(".")

  def __text(number)
    return [number].pack("N").unpack("C4").join(".") if ipv4?
    format(IN6FORMAT, *8.times.map { |i| number >> (112 - 16 * i) & 0xffff })
  end

  # IPv6 as short as it gets: the longest run of zeros is left out (RFC 5952).
  def __short
    if @addr >> 32 == 0xffff || ipv4_compat? && @addr > 0xffff
      return "::#{"ffff:" if @addr >> 32 == 0xffff}#{[@addr & IN4MASK].pack("N").unpack("C4").join(".")}"
    end
    groups = 8.times.map { |i| @addr >> (112 - 16 * i) & 0xffff }
    at = length = 0
    i = 0
    while i < 8
      k = i
      k += 1 while k < 8 && groups[k] == 0
      at, length = i, k - i if k - i > length
      i = [k, i + 1].max
    end
    text = ->(list) { list.map { |g| g.to_s(16) }.join(":") }
    return text[groups] if length < 2
    "#{text[groups[0, at]]}::#{text[groups[at + length..]]}"
  end

  def __parse(address, family)
    text, prefix, more = address.split("/", -1)
    raise InvalidAddressError, "invalid address" if more || prefix == "" || text.nil?
    if (m = text.match(/\A\[(.*)\]\z/m))
      text = m[1]
      raise InvalidAddressError, "invalid address" if family == Socket::AF_INET || text.match?(RE_IPV4ADDRLIKE)
    end
    if (m = text.match(/\A(.*)(%\w+)\z/m))
      text = m[1]
      zone = m[2]
      raise InvalidAddressError, "invalid address" if text.match?(RE_IPV4ADDRLIKE)
    end
    number = nil
    if family == Socket::AF_UNSPEC || family == Socket::AF_INET
      number = __ipv4(text)
      kind = Socket::AF_INET
    end
    if number.nil? && (family == Socket::AF_UNSPEC || family == Socket::AF_INET6)
      number = __ipv6(text)
      kind = Socket::AF_INET6
    end
    if number.nil?
      raise AddressFamilyError, "address family mismatch" if family != Socket::AF_UNSPEC && (__ipv6(text) || family != Socket::AF_INET6)
      raise InvalidAddressError, "invalid address"
    end
    set(number, kind)
    @zone_id = zone
    @mask_addr = __all
    if prefix
      raise InvalidAddressError, "invalid address" unless prefix.match?(/\A[\da-fA-F.:]+\z/)
      mask!(prefix)
    end
  end

  def __ipv4(text)
    return nil unless text.match?(RE_IPV4ADDRLIKE)
    text.split(".").inject(0) do |n, part|
      raise InvalidAddressError, "zero-filled number in IPv4 address is ambiguous" if part.match?(/\A0./)
      byte = part.to_i
      raise InvalidAddressError, "invalid address" if byte > 255
      n << 8 | byte
    end
  end

  def __ipv6(text)
    if text.match?(RE_IPV6ADDRLIKE_FULL)
      left = __groups(text)
      right = []
    elsif (m = text.match(RE_IPV6ADDRLIKE_COMPRESSED))
      left = __groups(m[1])
      right = __groups(m[2])
      return nil if left.size + right.size > 7
    else
      return nil
    end
    (left + [0] * (8 - left.size - right.size) + right).inject(0) { |n, g| n << 16 | g }
  end

  # 16-bit groups; a last part in IPv4 form is two of them.
  def __groups(text)
    text.split(":").flat_map do |part|
      next [part.hex] unless part.include?(".")
      n = __ipv4(part) or raise InvalidAddressError, "invalid address"
      [n >> 16, n & 0xffff]
    end
  end

  def coerce_other(other)
    case other
    when IPAddr then other
    when String then self.class.new(other)
    else self.class.new(other, @family)
    end
  end
end
