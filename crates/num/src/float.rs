//! Floats.

/// How to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Towards negative infinity.
    Floor,
    /// Towards positive infinity.
    Ceil,
    /// Towards zero.
    Truncate,
    /// Ties away from zero (`half: :up`, the default of `round`).
    HalfUp,
    /// Ties towards zero.
    HalfDown,
    /// Ties to even.
    HalfEven,
}
