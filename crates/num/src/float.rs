//! Floats as numbers: shortest decimal text, parts, neighbours, division, exact fractions.
//!
//! Invariant: whatever is not a float operation by definition is computed exactly and rounded
//! once. Rounding to digits is in [`crate::round`].

use crate::big::{BigInt, decode};

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

/// The shortest digits that read back as a finite float.
pub struct Digits {
    buf: [u8; 20],
    len: usize,
    /// The point stands before digit 0 moved right by this: `0.DDD * 10**point`.
    pub point: i32,
}

impl Digits {
    /// ASCII digits without leading or trailing zeros; `0` for zero.
    pub fn as_bytes(&self) -> &[u8] {
        &self.buf[..self.len]
    }
}

/// Shortest digits of `|x|`; zero for what is not finite.
pub fn shortest(x: f64) -> Digits {
    let mut d = Digits { buf: [b'0'; 20], len: 1, point: 1 };
    if x == 0.0 || !x.is_finite() {
        return d;
    }
    let mut text = zmij::Buffer::new();
    let text = text.format_finite(x.abs()).as_bytes();
    let (mantissa, exp) = match text.iter().position(|&c| c == b'e') {
        Some(i) => (&text[..i], parse_exp(&text[i + 1..])),
        None => (text, 0),
    };
    let (mut n, mut point, mut seen_point) = (0, 0, false);
    for &c in mantissa {
        if c == b'.' {
            seen_point = true;
            continue;
        }
        if n == 0 && c == b'0' {
            point -= seen_point as i32;
            continue;
        }
        // Only zeros follow when more digits come than a float can need.
        if n < d.buf.len() {
            d.buf[n] = c;
            n += 1;
        }
        point += !seen_point as i32;
    }
    while n > 1 && d.buf[n - 1] == b'0' {
        n -= 1;
    }
    d.len = n.max(1);
    d.point = point + exp;
    d
}

fn parse_exp(text: &[u8]) -> i32 {
    std::str::from_utf8(text).ok().and_then(|t| t.trim_start_matches('+').parse().ok()).unwrap_or(0)
}

/// Appends `Float#to_s`.
pub fn write_to_s(out: &mut Vec<u8>, x: f64) {
    if x.is_nan() {
        out.extend_from_slice(b"NaN");
        return;
    }
    if x.is_sign_negative() {
        out.push(b'-');
    }
    if x.is_infinite() {
        out.extend_from_slice(b"Infinity");
        return;
    }
    if x == 0.0 {
        out.extend_from_slice(b"0.0");
        return;
    }
    let d = shortest(x);
    let (digits, point) = (d.as_bytes(), d.point);
    // Sixteen digits before the point only when there is one after it.
    if (1..=15).contains(&point) || (point == 16 && digits.len() > 16) {
        let whole = point as usize;
        out.extend_from_slice(&digits[..digits.len().min(whole)]);
        out.resize(out.len() + whole.saturating_sub(digits.len()), b'0');
        out.push(b'.');
        out.extend_from_slice(if digits.len() > whole { &digits[whole..] } else { b"0" });
    } else if (-3..=0).contains(&point) {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + -point as usize, b'0');
        out.extend_from_slice(digits);
    } else {
        out.push(digits[0]);
        out.push(b'.');
        out.extend_from_slice(if digits.len() > 1 { &digits[1..] } else { b"0" });
        let exp = point - 1;
        out.extend_from_slice(if exp < 0 { b"e-" } else { b"e+" });
        let exp = exp.unsigned_abs();
        if exp < 10 {
            out.push(b'0');
        }
        out.extend_from_slice(exp.to_string().as_bytes());
    }
}

/// `Float#to_s`.
pub fn to_s(x: f64) -> String {
    let mut out = Vec::with_capacity(24);
    write_to_s(&mut out, x);
    // Only ASCII was written.
    String::from_utf8(out).unwrap_or_default()
}

/// The next float towards positive infinity.
pub fn next_float(x: f64) -> f64 {
    x.next_up()
}

/// The next float towards negative infinity.
pub fn prev_float(x: f64) -> f64 {
    x.next_down()
}

/// The exact value as a reduced fraction (`Float#to_r`); `None` for NaN and infinities.
pub fn to_rational(x: f64) -> Option<(BigInt, BigInt)> {
    if !x.is_finite() {
        return None;
    }
    let (m, e, neg) = decode(x);
    if m == 0 {
        return Some((BigInt::ZERO, BigInt::ONE));
    }
    let zeros = m.trailing_zeros() as i32;
    let (m, e) = if e < 0 {
        let k = zeros.min(-e);
        (m >> k, e + k)
    } else {
        (m, e)
    };
    let n = BigInt::from_i64(if neg { -(m as i64) } else { m as i64 });
    // The exponent lies within ±1100, far from the limit.
    let power = BigInt::ONE.shl(e.unsigned_abs() as u64).unwrap_or(BigInt::ONE);
    Some(if e >= 0 { (n.mul(&power), BigInt::ONE) } else { (n, power) })
}

/// `Float#rationalize` without an argument: the simplest fraction that reads back as `x`.
pub fn rationalize(x: f64) -> Option<(BigInt, BigInt)> {
    if !x.is_finite() {
        return None;
    }
    let (m, e, neg) = decode(x);
    if m == 0 || e >= 0 {
        return to_rational(x);
    }
    // A subnormal is taken as if it had 53 bits too, as CRuby does.
    let lead = m.leading_zeros() as i32 - 11;
    let (m, e) = (m << lead, e - lead);
    // Half a unit in the last place on either side: (2m ± 1) / 2**(1 - e).
    let den = BigInt::ONE.shl((1 - e) as u64).unwrap_or(BigInt::ONE);
    let lo = BigInt::from_i64(2 * m as i64 - 1);
    let hi = BigInt::from_i64(2 * m as i64 + 1);
    let (p, q) = simplest_between((&lo, &den), (&hi, &den));
    Some((if neg { p.neg() } else { p }, q))
}

/// The fraction with the smallest denominator in `[a, b]` for fractions `0 <= a <= b` with
/// positive denominators (`rationalize(eps)` passes `x - eps` and `x + eps`).
pub fn simplest_between(a: (&BigInt, &BigInt), b: (&BigInt, &BigInt)) -> (BigInt, BigInt) {
    let (mut a, mut b) = ((a.0.clone(), a.1.clone()), (b.0.clone(), b.1.clone()));
    let (mut p0, mut p1, mut q0, mut q1) = (BigInt::ZERO, BigInt::ONE, BigInt::ONE, BigInt::ZERO);
    loop {
        let floor = a.0.div_floor(&a.1).unwrap_or(BigInt::ZERO);
        let whole = floor.mul(&a.1);
        let ceil = if whole == a.0 { floor.clone() } else { floor.add_i64(1) };
        // An integer in the interval ends the continued fraction.
        if ceil.mul(&b.1) <= b.0 {
            return (ceil.mul(&p1).add(&p0), ceil.mul(&q1).add(&q0));
        }
        let step = |x: &BigInt, y: &BigInt| floor.mul(y).add(x);
        let (p2, q2) = (step(&p0, &p1), step(&q0, &q1));
        (p0, p1, q0, q1) = (p1, p2, q1, q2);
        // Both ends minus the whole part, turned upside down, change places.
        let rest = |x: &(BigInt, BigInt)| (x.1.clone(), x.0.sub(&floor.mul(&x.1)));
        (a, b) = (rest(&b), rest(&a));
    }
}

/// `Float#%`: a remainder with the divisor's sign.
pub fn modulo(x: f64, y: f64) -> f64 {
    if y.is_nan() || y == 0.0 {
        return f64::NAN;
    }
    let m = if x == 0.0 || (y.is_infinite() && !x.is_infinite()) { x } else { x % y };
    if y * m < 0.0 { m + y } else { m }
}

/// `Float#divmod`: the floored quotient (still a float) and the modulo; `None` for a zero divisor.
pub fn div_mod(x: f64, y: f64) -> Option<(f64, f64)> {
    if y == 0.0 {
        return None;
    }
    if y.is_nan() {
        return Some((y, y));
    }
    let m = if x == 0.0 || (y.is_infinite() && !x.is_infinite()) { x } else { x % y };
    let q = if x.is_infinite() && !y.is_infinite() { x } else { ((x - m) / y).round() };
    Some(if y * m < 0.0 { (q - 1.0, m + y) } else { (q, m) })
}

/// `x * 2**n`, rounded once.
pub fn ldexp(x: f64, n: i64) -> f64 {
    libm::ldexp(x, n.clamp(-10_000, 10_000) as i32)
}

/// A significand in `0.5...1.0` and an exponent.
pub fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() { (x, 0) } else { libm::frexp(x) }
}
