# frozen_string_literal: true

# Conversions of other classes' objects to BigDecimal.
require "bigdecimal"

class Integer
  def to_d = BigDecimal(self)
end

class Float
  def to_d(precision = 0) = BigDecimal(self, precision)
end

class String
  def to_d = BigDecimal.interpret_loosely(self)
end

class BigDecimal < Numeric
  def to_digits = nan? || infinite? || zero? ? to_s : to_s("F")
  def to_d = self
end

class Rational < Numeric
  def to_d(precision)
    raise ArgumentError, "negative precision" if precision < 0
    BigDecimal(self, precision)
  end
end

class Complex < Numeric
  def to_d(*args)
    BigDecimal(self) unless imaginary == 0
    args.empty? && !(real.is_a?(Integer) || real.is_a?(BigDecimal)) ? BigDecimal(self) : BigDecimal(real, *args)
  end
end

class NilClass
  def to_d = BigDecimal(0)
end
