//! `Float#round`, `floor`, `ceil`, `truncate` to digits, as CRuby defines them.
//!
//! Invariant: up to 14 digits the scaled product is a float, and is then corrected by looking at
//! the candidates' quotients (so that `5.015.round(2)` is 5.02, though the float lies below the
//! tie); beyond that powers of ten are not exact floats and the value is rounded as a fraction.

use crate::TooLarge;
use crate::big::{BigInt, ratio_to_f64};
use crate::float::{Rounding, frexp, to_rational};
use crate::int::{pow10, round_to_power, round_up};

/// Rounds to an integral float. NaN and infinities come back unchanged.
pub fn whole(x: f64, mode: Rounding) -> f64 {
    match mode {
        Rounding::Floor => x.floor(),
        Rounding::Ceil => x.ceil(),
        Rounding::Truncate => x.trunc(),
        _ => scaled(x, 1.0, mode),
    }
}

/// Rounds to `places > 0` decimal places (with `places <= 0` it is [`whole`]).
pub fn to_places(x: f64, places: i64, mode: Rounding) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    if places <= 0 {
        return whole(x, mode);
    }
    let mode = match mode {
        Rounding::Truncate if x > 0.0 => Rounding::Floor,
        Rounding::Truncate => Rounding::Ceil,
        m => m,
    };
    let (_, exp) = frexp(x);
    let exp = exp as i64;
    // At most 17 digits tell floats apart: beyond them nothing is left to round.
    if places >= 17 - if exp > 0 { exp / 4 } else { exp / 3 - 1 } {
        return x;
    }
    let tiny = places < -(if exp > 0 { exp / 3 + 1 } else { exp / 4 });
    let to_zero = match mode {
        Rounding::Floor => x > 0.0,
        Rounding::Ceil => x < 0.0,
        _ => true,
    };
    if tiny && to_zero {
        return 0.0;
    }
    if places > 14 {
        return by_fraction(x, places as u64, mode);
    }
    let s = libm::pow(10.0, places as f64);
    match mode {
        Rounding::Floor => {
            let f = (x * s).floor();
            let next = (f + 1.0) / s;
            if next > x { f / s } else { next }
        }
        Rounding::Ceil => {
            let f = (x * s).ceil();
            let next = (f - 1.0) / s;
            if next < x { f / s } else { next }
        }
        _ => scaled(x, s, mode) / s,
    }
}

/// Rounds to an integer multiple of `10 ** places`, `places >= 0` (a negative digit count).
/// `None` for NaN and infinities, which callers refuse as CRuby does.
pub fn to_power(x: f64, places: u64, mode: Rounding) -> Option<Result<BigInt, TooLarge>> {
    // The fraction is settled first, ties included, as CRuby does.
    let n = BigInt::from_f64(match mode {
        Rounding::Floor => x.floor(),
        Rounding::Ceil => x.ceil(),
        _ if places == 0 => whole(x, mode),
        _ => x.trunc(),
    })?;
    Some(if places == 0 { Ok(n) } else { round_to_power(&n, places, mode) })
}

/// `x * s` rounded to an integer; the caller divides by `s`.
fn scaled(x: f64, s: f64, mode: Rounding) -> f64 {
    let (neg, x) = (x.is_sign_negative(), x.abs());
    let xs = x * s;
    let f = match mode {
        Rounding::HalfDown => {
            let f = xs.round();
            if (f - 0.5) / s >= x { f - 1.0 } else { f }
        }
        Rounding::HalfEven => {
            let f = xs.floor();
            let d = xs - f;
            if d > 0.5 {
                f + 1.0
            } else if (f + 0.5) / s < x {
                f + 1.0
            } else if d == 0.5 || (f + 0.5) / s == x {
                f + f % 2.0
            } else {
                f
            }
        }
        _ => {
            let f = xs.round();
            if s != 1.0 && (f + 0.5) / s <= x { f + 1.0 } else { f }
        }
    };
    if neg { -f } else { f }
}

fn by_fraction(x: f64, places: u64, mode: Rounding) -> f64 {
    let Some((n, d)) = to_rational(x) else {
        return x;
    };
    // Bounded by the check for overflow in `to_places`: at most a few hundred digits.
    let Ok(s) = pow10(places) else { return x };
    let Some((q, r)) = n.mul(&s).div_mod(&d) else {
        return x;
    };
    let up = round_up(&q, &r, &d, n.is_negative(), mode);
    ratio_to_f64(&if up { q.add_i64(1) } else { q }, &s)
}
