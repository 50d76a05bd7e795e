# frozen_string_literal: true

# Decimal numbers of any length. A finite one is an Integer times a power of ten; nothing is rounded but by division,
# roots, and what asks for it.
class BigDecimal < Numeric
  VERSION = "4.0.1"
  # Digits in a word, as CRuby's implementation has it; here only what programs ask for.
  BASE = 1_000_000_000

  EXCEPTION_ALL = 255
  EXCEPTION_INFINITY = 1
  EXCEPTION_OVERFLOW = 1
  EXCEPTION_NaN = 2
  EXCEPTION_UNDERFLOW = 4
  EXCEPTION_ZERODIVIDE = 16

  ROUND_MODE = 256
  ROUND_UP = 1
  ROUND_DOWN = 2
  ROUND_HALF_UP = 3
  ROUND_HALF_DOWN = 4
  ROUND_CEILING = 5
  ROUND_FLOOR = 6
  ROUND_HALF_EVEN = 7

  SIGN_NaN = 0
  SIGN_POSITIVE_ZERO = 1
  SIGN_NEGATIVE_ZERO = -1
  SIGN_POSITIVE_FINITE = 2
  SIGN_NEGATIVE_FINITE = -2
  SIGN_POSITIVE_INFINITE = 3
  SIGN_NEGATIVE_INFINITE = -3

  # Significant digits that a Float holds surely.
  DOUBLE_FIG = 16
  # A quotient has at least so many digits.
  QUOTIENT_DIGITS = 2 * DOUBLE_FIG
  # Beyond, a number is infinite or zero.
  EXPONENT_MAX = (1 << 62) - 1
  private_constant :DOUBLE_FIG, :QUOTIENT_DIGITS, :EXPONENT_MAX

  class << self
    alias __new new
    private :__new
    undef_method :new
    def allocate = raise(TypeError, "allocator undefined for BigDecimal")
  end

  # Either a finite number, `int` times ten to the `exp`, or of a kind: :nan, :inf, :ninf, :nzero (zero below zero).
  def initialize(int, exp, kind)
    @int = int
    @exp = exp
    @kind = kind
    freeze
  end
  private :initialize

  def clone = self
  alias dup clone

  # The parts, for this library's own files.
  def __int = @int
  def __exp = @exp
  def __kind = @kind

  def nan? = @kind == :nan
  def finite? = @kind.nil? || @kind == :nzero
  def zero? = @int == 0 && finite?
  def nonzero? = zero? ? nil : self
  def negative? = @kind ? @kind == :ninf : @int < 0
  def positive? = @kind ? @kind == :inf : @int > 0

  def infinite?
    case @kind
    when :inf then 1
    when :ninf then -1
    end
  end

  def sign
    case @kind
    when nil then @int == 0 ? SIGN_POSITIVE_ZERO : @int > 0 ? SIGN_POSITIVE_FINITE : SIGN_NEGATIVE_FINITE
    when :nan then SIGN_NaN
    when :nzero then SIGN_NEGATIVE_ZERO
    when :inf then SIGN_POSITIVE_INFINITE
    else SIGN_NEGATIVE_INFINITE
    end
  end

  # Where the first digit stands: 0.123e3 has 3.
  def exponent = @int == 0 ? 0 : @exp + Decimal.digits(@int)
  def n_significant_digits = @int == 0 ? 0 : Decimal.digits(@int)
  def scale = @int == 0 ? 0 : [-@exp, 0].max
  def precision = @int == 0 ? 0 : [exponent, exponent > 0 ? n_significant_digits : 0, scale, exponent > 0 ? exponent + scale : 0].max
  def precision_scale = [precision, scale]

  def hash = [BigDecimal, @int, @exp, @kind].hash

  def coerce(other)
    return [Decimal.of(other, self), self] if other.is_a?(Rational)
    [BigDecimal(other, 0), self]
  end

  # --- comparing ---------------------------------------------------------------------------

  def <=>(other)
    case other
    when BigDecimal then Decimal.compare(self, other)
    when Integer, Float then Decimal.compare(self, Decimal.of(other, self))
    when Rational then finite? ? to_r <=> other : Decimal.compare(self, Decimal::ZERO)
    else
      return nil unless other.respond_to?(:coerce)
      a, b = begin
               other.coerce(self)
             rescue StandardError
               return nil
             end
      a <=> b
    end
  end

  def ==(other)
    case other
    when BigDecimal, Integer, Float, Rational then (self <=> other) == 0
    when nil then false
    else other == self ? true : false
    end
  end
  alias === ==
  alias eql? ==

  def <(other) = Decimal.order(self, other, :<) { |c| c < 0 }
  def <=(other) = Decimal.order(self, other, :<=) { |c| c <= 0 }
  def >(other) = Decimal.order(self, other, :>) { |c| c > 0 }
  def >=(other) = Decimal.order(self, other, :>=) { |c| c >= 0 }

  # --- arithmetic --------------------------------------------------------------------------

  def +@ = self

  def -@
    case @kind
    when nil then @int == 0 ? Decimal::NEGATIVE_ZERO : Decimal.raw(-@int, @exp)
    when :nzero then Decimal::ZERO
    when :inf then Decimal::NEGATIVE_INFINITY
    when :ninf then INFINITY
    else self
    end
  end

  def abs
    return -self if negative?
    @kind == :nzero ? Decimal::ZERO : self
  end

  def +(other)
    b = Decimal.of(other, self) or return Decimal.coerced(self, :+, other)
    Decimal.limited(Decimal.sum(self, b))
  end

  def -(other)
    b = Decimal.of(other, self) or return Decimal.coerced(self, :-, other)
    Decimal.limited(Decimal.sum(self, -b))
  end

  def *(other)
    b = Decimal.of(other, self) or return Decimal.coerced(self, :*, other)
    Decimal.limited(Decimal.product(self, b))
  end

  # The quotient, with the digits of the longer number, at least 32.
  def /(other)
    b = Decimal.of(other, self) or return Decimal.coerced(self, :/, other)
    limit = BigDecimal.limit
    digits = limit > 0 ? limit : [QUOTIENT_DIGITS, n_significant_digits, b.n_significant_digits].max
    Decimal.quotient(self, b, digits)
  end

  def quo(other, digits = nil)
    return self / other if digits.nil? || (digits = Decimal.digit_count(digits)) == 0
    b = Decimal.of(other, self) or return Decimal.coerced(self, :/, other)
    Decimal.quotient(self, b, digits)
  end

  # With digits: the quotient rounded to so many; without: an Integer.
  def div(other, digits = nil)
    return quo(other, digits) unless digits.nil?
    b = Decimal.of(other, self) or return Decimal.coerced(self, :div, other)
    raise FloatDomainError, "Computation results in 'NaN' (Not a Number)" if nan? || b.nan?
    raise FloatDomainError, "Computation results in '#{self}'" if infinite? && b.infinite?.nil? && !b.zero?
    raise FloatDomainError, "Computation results in 'NaN' (Not a Number)" if infinite? && b.infinite?
    raise ZeroDivisionError, "divided by 0" if b.zero?
    return zero? || negative? == b.negative? ? 0 : -1 if b.infinite?
    Decimal.floor_divide(self, b)[0]
  end

  # [Integer, BigDecimal]
  def divmod(other)
    b = Decimal.of(other, self) or return Decimal.coerced(self, :divmod, other)
    raise ZeroDivisionError, "divided by 0" if b.zero? && !nan?
    raise FloatDomainError, "Computation results in 'NaN' (Not a Number)" if nan? || b.nan? || infinite? && b.infinite?
    raise FloatDomainError, "Computation results in '#{"-" if negative? != b.negative?}Infinity'" if infinite?
    return zero? || negative? == b.negative? ? [0, self] : [-1, b] if b.infinite?
    Decimal.floor_divide(self, b)
  end

  def %(other)
    b = Decimal.of(other, self) or return Decimal.coerced(self, :%, other)
    return Decimal.nan if nan? || b.nan? || infinite?
    divmod(b)[1]
  end
  alias modulo %

  def remainder(other)
    b = Decimal.of(other, self) or return Decimal.coerced(self, :remainder, other)
    return Decimal.nan if nan? || b.nan? || infinite?
    raise ZeroDivisionError, "divided by 0" if b.zero?
    return self if b.infinite?
    r = abs.divmod(b.abs)[1]
    negative? ? -r : r
  end

  def add(other, digits) = Decimal.rounded(Decimal.sum(self, Decimal.of!(other, self, :+)), digits)
  def sub(other, digits) = Decimal.rounded(Decimal.sum(self, -Decimal.of!(other, self, :-)), digits)
  def mult(other, digits) = Decimal.rounded(Decimal.product(self, Decimal.of!(other, self, :*)), digits)

  def **(other) = power(other)

  # To a power; with digits, rounded to so many.
  def power(other, digits = nil)
    digits = digits.nil? ? 0 : Decimal.digit_count(digits)
    Decimal.power(self, other, digits)
  end

  # The square root with at least so many digits.
  def sqrt(digits)
    digits = Decimal.digit_count(digits)
    raise FloatDomainError, "sqrt of 'NaN'(Not a Number)" if nan?
    raise FloatDomainError, "sqrt of negative value" if negative?
    return self if infinite? || zero?
    Decimal.root(self, [digits, n_significant_digits, QUOTIENT_DIGITS].max)
  end

  # --- rounding -----------------------------------------------------------------------------

  def fix = finite? ? Decimal.at(self, 0, ROUND_DOWN) : self
  def frac = finite? ? Decimal.sum(self, -fix) : self

  # An Integer; with a mode or digits behind the point a BigDecimal.
  def round(n = (none = true; 0), mode = (plain = true; nil), half: (whole = true; nil))
    n = Decimal.whole(n)
    way = plain ? (whole ? Decimal.rounding : Decimal.half(half)) : Decimal.rounding_of(mode)
    if plain && whole && n <= 0
      Decimal.check_whole(self)
      return Decimal.at(self, n, way).to_i
    end
    finite? ? Decimal.at(self, n, way) : self
  end

  def truncate(n = (none = true; 0)) = Decimal.cut(self, n, none, ROUND_DOWN)
  def floor(n = (none = true; 0)) = Decimal.cut(self, n, none, ROUND_FLOOR)
  def ceil(n = (none = true; 0)) = Decimal.cut(self, n, none, ROUND_CEILING)

  # --- conversions ---------------------------------------------------------------------------

  def to_i
    Decimal.check_whole(self)
    return @int * Decimal.ten(@exp) if @exp >= 0
    -@exp > Decimal.digits(@int) ? 0 : (@int.abs / Decimal.ten(-@exp)) * (@int < 0 ? -1 : 1)
  end
  alias to_int to_i

  def to_r
    Decimal.check_whole(self)
    @exp >= 0 ? Rational(@int * Decimal.ten(@exp), 1) : Rational(@int, Decimal.ten(-@exp))
  end

  def to_f
    case @kind
    when :nan then Float::NAN
    when :inf then Float::INFINITY
    when :ninf then -Float::INFINITY
    when :nzero then -0.0
    else
      e = exponent
      if e > 400
        Decimal.exception(EXCEPTION_OVERFLOW, "BigDecimal to Float conversion") || (@int < 0 ? -Float::INFINITY : Float::INFINITY)
      elsif e < -400
        Decimal.exception(EXCEPTION_UNDERFLOW, "BigDecimal to Float conversion") || (@int < 0 ? -0.0 : 0.0)
      else
        "#{@int}e#{@exp}".to_f
      end
    end
  end

  # "0.123e3"; "F" as 123.0, a number groups digits, "+" and " " show a sign.
  def to_s(format = nil) = Decimal.text(self, format)
  def inspect = Decimal.text(self, nil)

  # [sign, digits, 10, exponent]
  def split
    s = case @kind
        when :nan then 0
        when :ninf, :nzero then -1
        else negative? ? -1 : 1
        end
    text = finite? ? @int.abs.to_s : abs.to_s
    [s, text, 10, exponent]
  end

  def _dump(_level = 0) = "#{[(n_significant_digits + 8) / 9 + 1, 2].max * 9}:#{self}"
  def self._load(text) = BigDecimal(text[/:(.*)\z/m, 1] || raise(TypeError, "marshaled bigdecimal format differed"))

  # --- settings of the thread -------------------------------------------------------------------

  def self.double_fig = DOUBLE_FIG

  # Digits that results are rounded to; 0: no limit. Sets it when a number is given; the one before.
  def self.limit(digits = nil)
    before = Decimal.setting(:limit, 0)
    unless digits.nil?
      raise ArgumentError, "argument must be positive" if (digits = Decimal.whole(digits)) < 0
      Decimal.set(:limit, digits)
    end
    before
  end

  # The rounding mode, or which exceptions are raised; sets it when a value is given.
  def self.mode(which, value = (ask = true; nil))
    raise TypeError, "no implicit conversion of #{which.class} into Integer" unless which.respond_to?(:to_int)
    which = which.to_int
    if which & EXCEPTION_ALL != 0
      flags = Decimal.setting(:exceptions, 0)
      return flags if ask || value.nil?
      raise ArgumentError, "second argument must be true or false" unless value == true || value == false
      flags = value ? flags | which & EXCEPTION_ALL : flags & ~which
      return Decimal.set(:exceptions, flags)
    end
    raise TypeError, "first argument for BigDecimal.mode invalid" unless which == ROUND_MODE
    return Decimal.rounding if ask || value.nil?
    Decimal.set(:rounding, Decimal.rounding_of(value))
  end

  def self.save_rounding_mode(&block) = Decimal.keep(:rounding, &block)
  def self.save_exception_mode(&block) = Decimal.keep(:exceptions, &block)
  def self.save_limit(&block) = Decimal.keep(:limit, &block)

  # As `BigDecimal()`, of as much of the text as is a number.
  def self.interpret_loosely(text) = Decimal.parse(text, true)
end

require "bigdecimal/decimal"

class BigDecimal
  NAN = Decimal.special(:nan)
  INFINITY = Decimal.special(:inf)
  private_constant :Decimal
end

module Kernel
  # A BigDecimal of a number or a text, rounded to so many significant digits (0: as it is).
  def BigDecimal(value, digits = (none = true; 0), exception: true)
    BigDecimal.const_get(:Decimal, false).convert(value, digits, none, exception)
  end
  module_function :BigDecimal
end

require "bigdecimal/big_math"
