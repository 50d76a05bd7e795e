# frozen_string_literal: true

# Roots, angles and constants of BigDecimals. Each takes the digits that are wanted.
require "bigdecimal"

module BigMath
  module_function

  def sqrt(x, prec) = x.sqrt(prec)

  def sin(x, prec)
    raise ArgumentError, "Zero or negative precision for sin" if prec <= 0
    return BigDecimal::NAN if x.infinite? || x.nan?
    __sine(x, prec, 0)
  end

  def cos(x, prec)
    raise ArgumentError, "Zero or negative precision for cos" if prec <= 0
    return BigDecimal::NAN if x.infinite? || x.nan?
    __sine(x, prec, 1)
  end

  def tan(x, prec) = sin(x, prec + 5).div(cos(x, prec + 5), prec)

  def atan(x, prec)
    raise ArgumentError, "Zero or negative precision for atan" if prec <= 0
    return BigDecimal::NAN if x.nan?
    n = prec + 10
    half_pi = PI(n).div(2, n)
    return x.negative? ? -half_pi : half_pi if x.infinite?
    return x if x.zero?
    turned = x.abs > 1
    y = turned ? BigDecimal(1).div(x.abs, n) : x.abs
    # Halving the angle three times makes the series short.
    one = 10**(n + 5)
    t = (y * one).round.to_i
    3.times { t = t * one / (one + Integer.sqrt(one * one + t * t)) }
    square = t * t / one
    sum = term = t
    k = 3
    until term == 0
      term = -term * square / one
      sum += term / k
      k += 2
    end
    r = BigDecimal("#{sum * 8}e-#{n + 5}")
    r = half_pi - r if turned
    r = -r if x.negative?
    r.mult(1, prec)
  end

  # The ratio of a circle's circumference to its diameter, by Machin's formula.
  def PI(prec)
    raise ArgumentError, "Zero or negative precision for PI" if prec <= 0
    digits = prec + 10
    one = 10**digits
    arc = lambda do |n|
      term = one / n
      sum = term
      k = 3
      until term == 0
        term = -term / (n * n)
        sum += term / k
        k += 2
      end
      sum
    end
    BigDecimal("#{(arc.call(5) * 4 - arc.call(239)) * 4}e-#{digits}").mult(1, prec)
  end

  def E(prec)
    raise ArgumentError, "Zero or negative precision for E" if prec <= 0
    exp(BigDecimal(1), prec)
  end

  # The series of sine (0) or cosine (1) of an angle brought between -pi and pi.
  def __sine(x, prec, shift)
    n = prec + 12 + [x.exponent, 0].max
    two_pi = PI(n) * 2
    x = x.remainder(two_pi) if x.abs > 3
    digits = prec + 12
    digits -= x.exponent if shift == 0 && x.exponent < 0
    one = 10**digits
    y = (x * one).round.to_i
    square = y * y / one
    sum = term = shift == 0 ? y : one
    k = shift == 0 ? 2 : 1
    until term == 0
      term = -term * square / (one * k * (k + 1))
      sum += term
      k += 2
    end
    BigDecimal("#{sum}e-#{digits}").mult(1, prec)
  end
  private_class_method :__sine
end
