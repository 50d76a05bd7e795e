//! Word-sized integers: the fixnum half of Integer.
//!
//! Invariant: every function is exact or says `None`, which tells the caller to go on with
//! [`BigInt`]. Nothing here panics, not even on `i64::MIN` and -1.

use crate::big::BigInt;
use crate::{TooLarge, float::Rounding};

/// An integer in the smaller of its two forms. `Small` holds whatever fits a word; a fixnum has
/// one bit less, which the caller checks when it makes a value of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Int {
    /// Fits a word.
    Small(i64),
    /// Does not.
    Big(BigInt),
}

impl From<BigInt> for Int {
    fn from(n: BigInt) -> Self {
        match n.to_i64() {
            Some(i) => Int::Small(i),
            None => Int::Big(n),
        }
    }
}

impl From<i64> for Int {
    fn from(n: i64) -> Self {
        Int::Small(n)
    }
}

impl Int {
    /// The value as a `BigInt`.
    pub fn to_big(&self) -> BigInt {
        match self {
            Int::Small(i) => BigInt::from_i64(*i),
            Int::Big(b) => b.clone(),
        }
    }

    /// Plain digits (no sign, underscores or blanks) in `radix`; `None` if there are others or
    /// none at all.
    pub fn from_digits(digits: &[u8], radix: u32) -> Option<Int> {
        if digits.is_empty() || !(2..=36).contains(&radix) {
            return None;
        }
        let mut n: i64 = 0;
        for &c in digits {
            let d = (c as char).to_digit(radix)? as i64;
            match n.checked_mul(radix as i64).and_then(|n| n.checked_add(d)) {
                Some(m) => n = m,
                None => return BigInt::from_str_radix(digits, radix).map(Int::Big),
            }
        }
        Some(Int::Small(n))
    }

    /// The negated value.
    #[allow(clippy::should_implement_trait)] // named as its siblings in BigInt are
    pub fn neg(self) -> Int {
        match self {
            Int::Small(i) => i.checked_neg().map_or_else(|| BigInt::from_i64(i).neg().into(), Int::Small),
            Int::Big(b) => b.neg().into(),
        }
    }
}

/// Floor division; `None` for a zero divisor or an overflow (`i64::MIN / -1`).
pub fn div_floor(a: i64, b: i64) -> Option<i64> {
    let q = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q })
}

/// Modulo with the divisor's sign; `None` for a zero divisor.
pub fn modulo(a: i64, b: i64) -> Option<i64> {
    if b == 0 {
        return None;
    }
    let r = a.wrapping_rem(b);
    Some(if r != 0 && (r < 0) != (b < 0) { r + b } else { r })
}

/// Both at once.
pub fn div_mod(a: i64, b: i64) -> Option<(i64, i64)> {
    Some((div_floor(a, b)?, modulo(a, b)?))
}

/// `base ** exp`; `None` on overflow.
pub fn pow(base: i64, exp: u64) -> Option<i64> {
    match base {
        0 => Some((exp == 0) as i64),
        1 => Some(1),
        -1 => Some(if exp & 1 == 0 { 1 } else { -1 }),
        _ => base.checked_pow(u32::try_from(exp).ok()?),
    }
}

/// `base ** exp mod m` with the modulus' sign; `None` for a zero modulus.
pub fn modpow(base: i64, exp: u64, m: i64) -> Option<i64> {
    let mag = m.unsigned_abs() as u128;
    if mag == 0 {
        return None;
    }
    let mut b = (base as i128).rem_euclid(mag as i128) as u128;
    let (mut r, mut e) = (1 % mag, exp);
    while e > 0 {
        if e & 1 == 1 {
            r = r * b % mag;
        }
        b = b * b % mag;
        e >>= 1;
    }
    // Below 2^63 in magnitude, so both casts hold.
    Some(if m < 0 && r != 0 { (r as i128 + m as i128) as i64 } else { r as i64 })
}

/// Greatest common divisor.
pub fn gcd(a: i64, b: i64) -> u64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    if a == 0 || b == 0 {
        return a | b;
    }
    let shift = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    while b != 0 {
        b >>= b.trailing_zeros();
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        b -= a;
    }
    a << shift
}

/// Least common multiple; `None` beyond 64 bits.
pub fn lcm(a: i64, b: i64) -> Option<u64> {
    if a == 0 || b == 0 {
        return Some(0);
    }
    (a.unsigned_abs() / gcd(a, b)).checked_mul(b.unsigned_abs())
}

/// `Integer#fdiv` of two words: reduced, then divided as floats, as CRuby does.
pub fn fdiv(a: i64, b: i64) -> f64 {
    let g = gcd(a, b);
    // The gcd reaches 2^63 only for `i64::MIN` with itself or zero.
    match i64::try_from(g) {
        Ok(g) if g > 1 => (a / g) as f64 / (b / g) as f64,
        _ => a as f64 / b as f64,
    }
}

/// Square root rounded down; `None` for negatives.
pub fn isqrt(n: i64) -> Option<i64> {
    n.checked_isqrt()
}

/// `Integer#bit_length`.
pub fn bit_length(n: i64) -> u32 {
    64 - (if n < 0 { !n } else { n }).leading_zeros()
}

/// `n << shift`; `None` on overflow.
pub fn shl(n: i64, shift: u64) -> Option<i64> {
    if n == 0 {
        return Some(0);
    }
    if shift >= 64 {
        return None;
    }
    let r = n << shift;
    (r >> shift == n).then_some(r)
}

/// `n >> shift`, rounding down, for any shift.
pub fn shr(n: i64, shift: u64) -> i64 {
    n >> shift.min(63)
}

/// Digits in `base`, least significant first; `None` for negatives or a base below two.
pub fn digits(n: i64, base: i64) -> Option<Vec<i64>> {
    if n < 0 || base < 2 {
        return None;
    }
    let (mut n, mut out) = (n, Vec::new());
    loop {
        out.push(n % base);
        n /= base;
        if n == 0 {
            return Some(out);
        }
    }
}

/// Text in `radix` (2..=36; others are taken as 10).
pub fn to_string_radix(n: i64, radix: u32) -> String {
    if !(2..=36).contains(&radix) || radix == 10 {
        return n.to_string();
    }
    let (mut buf, mut at, mut m) = ([0u8; 65], 65, n.unsigned_abs());
    loop {
        at -= 1;
        buf[at] = b"0123456789abcdefghijklmnopqrstuvwxyz"[(m % radix as u64) as usize];
        m /= radix as u64;
        if m == 0 {
            break;
        }
    }
    if n < 0 {
        at -= 1;
        buf[at] = b'-';
    }
    String::from_utf8_lossy(&buf[at..]).into_owned()
}

/// Exact comparison with a float; `None` for NaN.
pub fn cmp_f64(n: i64, x: f64) -> Option<std::cmp::Ordering> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if x.is_nan() {
        return None;
    }
    // 2^63 is exact in a float, i64::MAX is not.
    if x >= 9_223_372_036_854_775_808.0 {
        return Some(Less);
    }
    if x < -9_223_372_036_854_775_808.0 {
        return Some(Greater);
    }
    let t = x.trunc();
    Some(match n.cmp(&(t as i64)) {
        Equal if x > t => Less,
        Equal if x < t => Greater,
        o => o,
    })
}

/// `10 ** n`.
///
/// # Errors
/// As [`BigInt::pow`].
pub fn pow10(n: u64) -> Result<BigInt, TooLarge> {
    BigInt::from_i64(10).pow(n)
}

/// `Integer#round`, `floor`, `ceil`, `truncate` with a negative digit count: rounds to a multiple
/// of `10 ** places`.
///
/// # Errors
/// [`TooLarge`] when that power itself is refused and the answer needs it.
pub fn round_to_power(n: &BigInt, places: u64, mode: Rounding) -> Result<BigInt, TooLarge> {
    // One decimal digit is more than 3 bits: beyond this the magnitude is below half a unit.
    let far = places > n.magnitude_bits() / 3 + 2;
    if far {
        let away = match mode {
            Rounding::Floor => n.is_negative(),
            Rounding::Ceil => n.sign() > 0,
            _ => false,
        };
        if !away {
            return Ok(BigInt::ZERO);
        }
    }
    let unit = pow10(places)?;
    let Some((q, r)) = n.div_mod(&unit) else {
        return Ok(BigInt::ZERO);
    };
    let up = round_up(&q, &r, &unit, n.is_negative(), mode);
    let q = if up { q.add_i64(1) } else { q };
    Ok(q.mul(&unit))
}

/// Whether `floor = q`, rest `r` of `unit` rounds to `q + 1`.
pub(crate) fn round_up(q: &BigInt, r: &BigInt, unit: &BigInt, negative: bool, mode: Rounding) -> bool {
    use std::cmp::Ordering;
    if r.is_zero() {
        return false;
    }
    let tie = |up: bool| match r.mul_i64(2).cmp(unit) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => up,
    };
    match mode {
        Rounding::Floor => false,
        Rounding::Ceil => true,
        Rounding::Truncate => negative,
        Rounding::HalfUp => tie(!negative),
        Rounding::HalfDown => tie(negative),
        Rounding::HalfEven => tie(!q.is_even()),
    }
}
