# Random: generators of numbers and bytes.
class Random
  module Formatter
    def rand(limit = __undef) = KumiSys.formatter_rand(self, limit)
    def random_number(limit = __undef) = KumiSys.formatter_number(self, limit)
  end

  class Base
    def initialize(seed = __undef)
      seed = __undef?(seed) ? __random_new_seed : KumiSys.to_int(seed)
      __random_seed(self, seed)
    end

    def seed = __random_get_seed(self)
    def bytes(size) = KumiSys.in_pieces(KumiSys.to_int(size)) { |n| __random_bytes(self, n) }
    def rand(limit = __undef) = KumiSys.random_rand(self, limit)
    def initialize_copy(other) = __random_copy(self, other)

    private def marshal_dump = __random_dump(self)
    private def marshal_load(data) = __random_load(self, KumiSys.to_ary(data))
    private def left = __random_dump(self)[1]
    private def state = __random_dump(self)[0]
  end

  extend Formatter
  def random_number(limit = __undef) = KumiSys.formatter_number(self, limit)

  class << self
    def rand(limit = __undef) = KumiSys.random_rand(nil, limit)
    def bytes(size) = KumiSys.in_pieces(KumiSys.to_int(size)) { |n| __random_bytes(nil, n) }
    def seed = __random_get_seed(nil)
    def new_seed = __random_new_seed
    def urandom(size) = KumiSys.in_pieces(KumiSys.to_int(size)) { |n| __random_os_bytes(n) }
    def srand(seed = __undef) = KumiSys.srand(seed)
    def random_number(limit = __undef) = KumiSys.formatter_number(nil, limit)
  end
end

module Kernel
  def rand(limit = 0) = KumiSys.kernel_rand(limit)
  def srand(seed = __undef) = KumiSys.srand(seed)
  module_function :rand, :srand
end

module KumiSys
  # Many bytes are drawn piece by piece, so that others may come in between.
  def self.in_pieces(size)
    return yield(size) unless 16_777_216 < size && size <= 1_099_511_627_776
    out = String.new(capacity: size)
    while size > 0
      n = size < 16_777_216 ? size : 16_777_216
      __str_append_slice(out, yield(n), 0, n)
      size -= n
    end
    out
  end

  def self.srand(seed)
    __random_seed(nil, __undef?(seed) ? __random_new_seed : to_int(seed))
  end

  # Kernel#rand: a Float for 0 and nil, the magnitude of anything else as limit.
  def self.kernel_rand(limit)
    return __random_real(nil) if __same(limit, nil) || __same(limit, false)
    if __is_a(limit, Range)
      return random_range(nil, limit)
    end
    n = to_int(limit).abs
    n == 0 ? __random_real(nil) : __random_int(nil, n)
  end

  # Draws from a generator (nil: the default one), or from the bytes that any other object gives.
  def self.generator?(rng) = __same(rng, nil) || __is_a(rng, Random::Base)

  def self.draw_real(rng)
    return __random_real(rng) if generator?(rng)
    (drawn_bytes(rng, 8) >> 11) * 2.0**-53
  end

  def self.draw_int(rng, n)
    return __random_int(rng, n) if generator?(rng)
    bits = (n - 1).bit_length
    size = (bits + 7) / 8
    mask = (1 << bits) - 1
    # Numbers beyond the limit are drawn again, so that all others are equally likely.
    while true
      x = drawn_bytes(rng, size) & mask
      return x if x < n
    end
  end

  def self.draw_int_range(rng, first, last, exclusive)
    return __random_int_range(rng, first, last, exclusive) if generator?(rng)
    n = last - first + (exclusive ? 0 : 1)
    n > 0 ? first + draw_int(rng, n) : nil
  end

  def self.draw_float_range(rng, first, last, exclusive)
    return __random_float_range(rng, first, last, exclusive) if generator?(rng)
    return nil if first > last || exclusive && first == last
    first + draw_real(rng) * (last - first)
  end

  def self.drawn_bytes(rng, size)
    bytes = to_str(rng.__send__(:bytes, size))
    raise RangeError, "random data too short #{bytes.bytesize}" if bytes.bytesize < size
    n = 0
    bytes.each_byte { |b| n = n << 8 | b }
    n
  end

  # Random.rand and Random#rand.
  def self.random_rand(rng, limit)
    return draw_real(rng) if __undef?(limit)
    r = random_limited(rng, limit)
    bad_random_limit(limit) if __same(r, nil)
    r
  end

  # Random::Formatter's lenient forms: what can't be a limit means 0.0...1.0.
  def self.formatter_number(rng, limit)
    return draw_real(rng) if __undef?(limit) || __same(limit, nil)
    unless __is_a(limit, Numeric) || __is_a(limit, Range)
      n = try_int(limit)
      bad_random_limit(limit) if __same(n, nil)
      limit = n
    end
    r = random_limited(rng, limit)
    __same(r, nil) ? draw_real(rng) : r
  end

  def self.formatter_rand(rng, limit)
    return draw_real(rng) if __undef?(limit)
    r = random_limited(rng, limit)
    bad_random_limit(limit) if __same(r, nil)
    r
  end

  def self.bad_random_limit(limit)
    raise ArgumentError, "invalid argument - #{__same(limit, nil) ? "nil" : limit}"
  end

  def self.random_limited(rng, limit)
    return nil if __same(limit, nil)
    if __is_a(limit, Float)
      random_domain if limit.nan? || limit.infinite?
      return nil if limit < 0.0
      return draw_real(rng) if limit == 0.0
      return draw_float_range(rng, 0.0, limit, true)
    end
    return random_range(rng, limit) if __is_a(limit, Range)
    n = to_int(limit)
    n > 0 ? draw_int(rng, n) : nil
  end

  def self.random_domain = raise(Errno::EDOM)

  # A value between the ends of a range; nil when it is empty.
  def self.random_range(rng, range)
    first = range.begin
    last = range.end
    random_domain if __same(first, nil) || __same(last, nil)
    if __is_a(first, Integer) && __is_a(last, Integer)
      return draw_int_range(rng, first, last, range.exclude_end?)
    end
    if __is_a(first, Float) || __is_a(last, Float)
      a = to_float(first)
      b = to_float(last)
      random_domain if a.nan? || b.nan? || a.infinite? || b.infinite?
      return draw_float_range(rng, a, b, range.exclude_end?)
    end
    # Anything with + and -: a distance from the first.
    distance = last - first
    whole = __is_a(distance, Float) ? nil : try_int(distance)
    offset = if __same(whole, nil)
      draw_float_range(rng, 0.0, to_float(distance), range.exclude_end?)
    else
      draw_int_range(rng, 0, whole, range.exclude_end?)
    end
    __same(offset, nil) ? nil : first + offset
  end
end
