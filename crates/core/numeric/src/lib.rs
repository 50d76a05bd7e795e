//! Leaf natives: Integer, Float, Rational, Complex, Math, Random.
