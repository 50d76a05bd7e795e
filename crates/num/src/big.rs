//! `BigInt`: integers of any size with Ruby's semantics.
//!
//! Invariant: a `BigInt` is an exact integer, of any magnitude (small ones too: deciding when a
//! result goes back to a fixnum is the caller's business, see [`BigInt::to_i64`]). Division
//! floors and bit operations see an infinite two's complement, as in Ruby.
//!
//! The arithmetic is `dashu-int`'s. It was chosen by measurement, in microseconds on one core
//! (operands of the given size, dividend twice as long, GMP as linked into Debian's CRuby 3.1
//! and called from Ruby, which adds about 0.15 to each call):
//!
//! | bits      | library    | mul    | square | div    | to decimal | from decimal | 3**n  |
//! |-----------|------------|-------:|-------:|-------:|-----------:|-------------:|------:|
//! | 128       | dashu-int  | 0.06   | 0.05   | 0.09   | 0.2        | 0.1          | 0.1   |
//! |           | num-bigint | 0.06   | 0.06   | 0.09   | 0.1        | 0.2          | 0.1   |
//! |           | GMP        | 0.21   | 0.21   | 0.27   | 0.4        | 0.8          | 0.3   |
//! | 1000      | dashu-int  | 0.24   | 0.18   | 0.63   | 1.7        | 0.9          | 0.2   |
//! |           | num-bigint | 0.32   | 0.32   | 0.62   | 1.1        | 1.4          | 0.4   |
//! |           | GMP        | 0.89   | 0.70   | 1.34   | 1.1        | 3.0          | 1.0   |
//! | 100 000   | dashu-int  | 415    | 304    | 879    | 1031       | 1637         | 149   |
//! |           | num-bigint | 449    | 439    | 1185   | 1270       | 4177         | 347   |
//! |           | GMP        | 265    | 210    | 633    | 498        | 953          | 134   |
//! | 1 000 000 | dashu-int  | 10 119 | 6530   | 29 167 | 36 080     | 17 570       | 4870  |
//! |           | num-bigint | 14 381 | 15 247 | 35 220 | 38 237     | 85 191       | 11 700|
//! |           | GMP        | 3172   | 2202   | 8707   | 13 873     | 7526         | 2006  |

use std::cmp::Ordering;

use dashu_int::fast_div::ConstDivisor;
use dashu_int::ops::{BitTest, DivRem, Gcd, SquareRoot};
use dashu_int::{IBig, Sign as DSign, UBig};

use crate::TooLarge;

/// Results of more bits than this (4 GiB of digits) are refused with [`TooLarge`].
pub const MAX_BITS: u64 = 1 << 35;
/// Powers of more bits than this (32 MiB, as CRuby has it) are refused.
const MAX_POWER_BITS: u64 = 32 * 1024 * 1024 * 8;

/// An integer of any size.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BigInt(pub(crate) IBig);

impl std::fmt::Display for BigInt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.0, f)
    }
}

impl std::fmt::Debug for BigInt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.0, f)
    }
}

impl From<i64> for BigInt {
    fn from(n: i64) -> Self {
        BigInt(IBig::from(n))
    }
}

impl From<u64> for BigInt {
    fn from(n: u64) -> Self {
        BigInt(IBig::from(n))
    }
}

impl From<i128> for BigInt {
    fn from(n: i128) -> Self {
        BigInt(IBig::from(n))
    }
}

/// An estimate, never too small, of the bits in `base ** exp` for a base of `base_bits` bits
/// (its [`BigInt::bit_length`]). `None` when even the estimate overflows.
pub fn pow_bits(base_bits: u64, exp: u64) -> Option<u64> {
    base_bits.checked_mul(exp)
}
/// Is such a power refused? Those of 0, 1 and -1 never are.
pub fn is_refused_power(base_bits: u64, exp: u64) -> bool {
    pow_bits(base_bits, exp).is_none_or(|b| b > MAX_POWER_BITS)
}

/// `m * 2**e` correctly rounded (ties to even) for a non-zero `m` whose top bit is bit 63;
/// `sticky` says that bits below `m` are set.
pub(crate) fn round_to_f64(m: u64, e: i64, sticky: bool) -> f64 {
    // Value lies in [2^(e+63), 2^(e+64)).
    let top = e.saturating_add(63);
    if top > 1023 {
        return f64::INFINITY;
    }
    // Bits to drop: 11 for a normal result, more for a subnormal one.
    let drop = if top >= -1022 { 11 } else { 11 + (-1022 - top) };
    if drop > 64 {
        return 0.0;
    }
    let (keep, rest, half) = if drop == 64 { (0, m, 1u64 << 63) } else { (m >> drop, m & ((1u64 << drop) - 1), 1u64 << (drop - 1)) };
    let up = rest > half || (rest == half && (sticky || keep & 1 == 1));
    let keep = keep + up as u64;
    // A carry out of the mantissa increments the exponent field by itself.
    let bits = if top >= -1022 { (((top + 1022) as u64) << 52) + keep } else { keep };
    f64::from_bits(bits)
}

/// Bytes that a long operation takes for each byte of its result, at most. (The square of 14 MB took 214 MB beside it.)
const SCRATCH: usize = 8;

/// Words of numbers that are looked at no closer.
const FEW: usize = kumi_budget::LARGE / 64;

/// Goes on if there is room for `times` what these take.
#[inline]
fn room_for(of: &[&BigInt], times: usize) {
    let words: usize = of.iter().map(|n| n.0.as_sign_words().1.len()).sum();
    if words >= FEW {
        kumi_budget::ask(words * 8 * times);
    }
}
/// The same for `f`, which makes such numbers: null is an answer that the library can take from the allocator.
#[inline]
fn with_room<T>(of: &[&BigInt], times: usize, f: impl FnOnce() -> T) -> T {
    let words: usize = of.iter().map(|n| n.0.as_sign_words().1.len()).sum();
    if words < FEW {
        return f();
    }
    kumi_budget::ask(words * 8 * times);
    kumi_budget::asking(f)
}

impl BigInt {
    /// Zero.
    pub const ZERO: BigInt = BigInt(IBig::ZERO);
    /// One.
    pub const ONE: BigInt = BigInt(IBig::ONE);

    /// From a machine word.
    pub fn from_i64(n: i64) -> Self {
        BigInt(IBig::from(n))
    }

    /// From two machine words.
    pub fn from_i128(n: i128) -> Self {
        BigInt(IBig::from(n))
    }

    /// From an unsigned machine word.
    pub fn from_u64(n: u64) -> Self {
        BigInt(IBig::from(n))
    }

    /// The float's integer part, exactly; `None` for NaN and infinities.
    pub fn from_f64(x: f64) -> Option<Self> {
        if !x.is_finite() {
            return None;
        }
        let (m, e, neg) = decode(x);
        let u = if e >= 0 {
            UBig::from(m) << e as usize
        } else if e > -64 {
            UBig::from(m >> -e)
        } else {
            UBig::ZERO
        };
        Some(BigInt(IBig::from_parts(if neg { DSign::Negative } else { DSign::Positive }, u)))
    }

    /// From plain digits in `radix` (2..=36, either case) with an optional sign; no underscores,
    /// prefixes or blanks (see [`crate::parse`] for those). `None` for anything else.
    pub fn from_str_radix(digits: &[u8], radix: u32) -> Option<Self> {
        let (neg, body) = match digits.first()? {
            b'-' => (true, &digits[1..]),
            b'+' => (false, &digits[1..]),
            _ => (false, digits),
        };
        if body.is_empty() || !(2..=36).contains(&radix) || !body.iter().all(|&c| (c as char).is_digit(radix)) {
            return None;
        }
        kumi_budget::ask(body.len() * 2);
        let text = std::str::from_utf8(body).ok()?;
        let u = UBig::from_str_radix(text, radix).ok()?;
        Some(BigInt(IBig::from_parts(if neg { DSign::Negative } else { DSign::Positive }, u)))
    }

    /// The value, if it fits.
    pub fn to_i64(&self) -> Option<i64> {
        i64::try_from(&self.0).ok()
    }

    /// The value, if it fits.
    pub fn to_u64(&self) -> Option<u64> {
        u64::try_from(&self.0).ok()
    }

    /// The value, if it fits.
    pub fn to_i128(&self) -> Option<i128> {
        i128::try_from(&self.0).ok()
    }

    /// The low 64 bits of the two's complement (what `pack("Q")` takes).
    pub fn low_u64(&self) -> u64 {
        let (sign, words) = self.0.as_sign_words();
        let low = words.first().copied().unwrap_or(0);
        if sign == DSign::Negative { low.wrapping_neg() } else { low }
    }

    /// The nearest float, ties to even; infinite beyond the range.
    pub fn to_f64(&self) -> f64 {
        let (m, e, sticky) = self.top64();
        if m == 0 {
            return 0.0;
        }
        let x = round_to_f64(m, e, sticky);
        if self.is_negative() { -x } else { x }
    }

    /// The magnitude as `m * 2**e` with bit 63 of `m` set (or zero), and whether bits were lost.
    pub(crate) fn top64(&self) -> (u64, i64, bool) {
        let (_, words) = self.0.as_sign_words();
        let Some((&hi, rest)) = words.split_last() else {
            return (0, 0, false);
        };
        if hi == 0 {
            return (0, 0, false);
        }
        let lead = hi.leading_zeros();
        let next = rest.last().copied().unwrap_or(0);
        let m = if lead == 0 { hi } else { hi << lead | next >> (64 - lead) };
        let lost = if lead == 0 { next } else { next << lead };
        let lower = rest.len().saturating_sub(1);
        let sticky = lost != 0 || rest[..lower].iter().any(|&w| w != 0);
        (m, rest.len() as i64 * 64 - lead as i64, sticky)
    }

    /// Digits in `radix` (2..=36; others are taken as 10), lower case, `-` first when negative.
    pub fn to_string_radix(&self, radix: u32) -> String {
        // Bytes of text, at most eight for one of the number, and what the division takes.
        room_for(&[self], 12 / (radix.max(2).ilog2() as usize).max(1) + SCRATCH);
        match radix {
            2..=9 | 11..=36 => self.0.in_radix(radix as u8).to_string(),
            _ => self.0.to_string(),
        }
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        if self.is_zero() {
            0
        } else if self.is_negative() {
            -1
        } else {
            1
        }
    }

    /// Whether the value is 0.
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// Whether the value is below 0.
    pub fn is_negative(&self) -> bool {
        self.0.sign() == DSign::Negative
    }

    /// Whether the value is divisible by two.
    pub fn is_even(&self) -> bool {
        let (_, words) = self.0.as_sign_words();
        words.first().is_none_or(|w| w & 1 == 0)
    }

    /// The negated value.
    pub fn neg(&self) -> BigInt {
        BigInt(-&self.0)
    }

    /// The magnitude.
    pub fn abs(&self) -> BigInt {
        BigInt(IBig::from(self.magnitude()))
    }

    pub(crate) fn magnitude(&self) -> UBig {
        self.0.clone().into_parts().1
    }

    /// `self + other`.
    pub fn add(&self, other: &BigInt) -> BigInt {
        with_room(&[self, other], 1, || BigInt(&self.0 + &other.0))
    }

    /// `self - other`.
    pub fn sub(&self, other: &BigInt) -> BigInt {
        with_room(&[self, other], 1, || BigInt(&self.0 - &other.0))
    }

    /// `self * other`.
    pub fn mul(&self, other: &BigInt) -> BigInt {
        with_room(&[self, other], SCRATCH, || match std::ptr::eq(self, other) {
            true => BigInt(IBig::from(self.0.sqr())),
            false => BigInt(&self.0 * &other.0),
        })
    }

    /// `self + other`, sparing the conversion of a word.
    pub fn add_i64(&self, other: i64) -> BigInt {
        with_room(&[self], 1, || BigInt(&self.0 + other))
    }

    /// `self * other`, sparing the conversion of a word.
    pub fn mul_i64(&self, other: i64) -> BigInt {
        with_room(&[self], 1, || BigInt(&self.0 * other))
    }

    /// Quotient rounded towards negative infinity and a remainder with the divisor's sign
    /// (Ruby's `divmod`). `None` when dividing by zero.
    pub fn div_mod(&self, d: &BigInt) -> Option<(BigInt, BigInt)> {
        let (q, r) = self.div_rem(d)?;
        if !r.is_zero() && r.is_negative() != d.is_negative() {
            return Some((BigInt(q.0 - 1), BigInt(r.0 + &d.0)));
        }
        Some((q, r))
    }

    /// Floor division alone.
    pub fn div_floor(&self, d: &BigInt) -> Option<BigInt> {
        self.div_mod(d).map(|(q, _)| q)
    }

    /// Floor modulo alone.
    pub fn modulo(&self, d: &BigInt) -> Option<BigInt> {
        if d.is_zero() {
            return None;
        }
        let r = &self.0 % &d.0;
        let r = BigInt(r);
        if !r.is_zero() && r.is_negative() != d.is_negative() {
            return Some(BigInt(r.0 + &d.0));
        }
        Some(r)
    }

    /// Quotient rounded towards zero and a remainder with the dividend's sign (`remainder`).
    pub fn div_rem(&self, d: &BigInt) -> Option<(BigInt, BigInt)> {
        if d.is_zero() {
            return None;
        }
        let (q, r) = (&self.0).div_rem(&d.0);
        Some((BigInt(q), BigInt(r)))
    }

    /// The quotient as a float, correctly rounded (`Integer#fdiv`). Division by zero gives
    /// what floats give.
    pub fn fdiv(&self, d: &BigInt) -> f64 {
        if d.is_zero() {
            return match self.sign() {
                0 => f64::NAN,
                1 => f64::INFINITY,
                _ => f64::NEG_INFINITY,
            };
        }
        ratio_to_f64(self, d)
    }

    /// `self ** exp`.
    ///
    /// # Errors
    /// [`TooLarge`] where [`is_refused_power`] says so.
    pub fn pow(&self, exp: u64) -> Result<BigInt, TooLarge> {
        if exp == 0 {
            return Ok(BigInt::ONE);
        }
        if self.is_zero() || self.0.is_one() {
            return Ok(self.clone());
        }
        if self.to_i64() == Some(-1) {
            return Ok(BigInt::from_i64(if exp & 1 == 0 { 1 } else { -1 }));
        }
        let bits = pow_bits(self.magnitude_bits(), exp).filter(|b| *b <= MAX_POWER_BITS).ok_or(TooLarge)?;
        let bytes = (bits / 8) as usize * SCRATCH;
        kumi_budget::ask(bytes);
        let power = || BigInt(self.0.pow(exp as usize));
        Ok(if bytes < kumi_budget::LARGE { power() } else { kumi_budget::asking(power) })
    }

    /// `self ** exp mod m` for `exp >= 0`, with the modulus' sign. `None` when `m` is zero or
    /// `exp` negative.
    pub fn modpow(&self, exp: &BigInt, m: &BigInt) -> Option<BigInt> {
        if m.is_zero() || exp.is_negative() {
            return None;
        }
        let mag = m.magnitude();
        if mag.is_one() {
            return Some(BigInt::ZERO);
        }
        let base = self.modulo(&BigInt(IBig::from(mag.clone())))?;
        let ring = ConstDivisor::new(mag);
        let r = ring.reduce(base.magnitude()).pow(&exp.magnitude()).residue();
        let r = BigInt(IBig::from(r));
        // The residue is non-negative; a negative modulus wants (m, 0].
        Some(if m.is_negative() && !r.is_zero() { r.add(m) } else { r })
    }

    /// Greatest common divisor, never negative; `gcd(0, 0)` is 0.
    pub fn gcd(&self, other: &BigInt) -> BigInt {
        if self.is_zero() {
            return other.abs();
        }
        if other.is_zero() {
            return self.abs();
        }
        BigInt(IBig::from(self.magnitude().gcd(other.magnitude())))
    }

    /// Least common multiple, never negative.
    pub fn lcm(&self, other: &BigInt) -> BigInt {
        if self.is_zero() || other.is_zero() {
            return BigInt::ZERO;
        }
        let g = self.gcd(other);
        BigInt(IBig::from((&self.0 / &g.0 * &other.0).into_parts().1))
    }

    /// Integer square root, rounded down; `None` for negatives.
    pub fn isqrt(&self) -> Option<BigInt> {
        if self.is_negative() {
            return None;
        }
        Some(BigInt(IBig::from(self.magnitude().sqrt())))
    }

    /// Bits of the magnitude.
    pub fn magnitude_bits(&self) -> u64 {
        let (_, words) = self.0.as_sign_words();
        match words.last() {
            Some(&hi) => words.len() as u64 * 64 - hi.leading_zeros() as u64,
            None => 0,
        }
    }

    /// Ordering against a float, exactly; `None` for NaN.
    pub fn cmp_f64(&self, x: f64) -> Option<Ordering> {
        if x.is_nan() {
            return None;
        }
        if x.is_infinite() {
            return Some(if x > 0.0 { Ordering::Less } else { Ordering::Greater });
        }
        let whole = BigInt::from_f64(x)?;
        // Truncation moved towards zero: equal integers are decided by the fraction's sign.
        Some(self.0.cmp(&whole.0).then_with(|| {
            let frac = x - x.trunc();
            0.0f64.partial_cmp(&frac).unwrap_or(Ordering::Equal)
        }))
    }

    /// A hash of the value under `seed`; equal values hash equally.
    pub fn hash_with(&self, seed: u64) -> u64 {
        let (sign, words) = self.0.as_sign_words();
        let mut h = seed ^ if sign == DSign::Negative { 0x9e37_79b9_7f4a_7c15 } else { 0 };
        for &w in words {
            let p = (h ^ w) as u128 * 0xd6e8_feb8_6659_fd93_u128;
            h = (p as u64) ^ ((p >> 64) as u64) ^ h.rotate_left(29);
        }
        h ^ (h >> 32)
    }

    /// Digits in a base of at least 2, the lowest first, of a magnitude.
    pub fn small_digits(&self, base: u64) -> Vec<i64> {
        if let 2..=36 = base {
            // The library's radix conversion divides and conquers.
            let text = self.abs().to_string_radix(base as u32).into_bytes();
            return text.iter().rev().map(|&c| (c as char).to_digit(36).unwrap_or(0) as i64).collect();
        }
        let base = BigInt::from_u64(base);
        self.abs().digits(&base).unwrap_or_default().iter().map(|d| d.to_i64().unwrap_or(0)).collect()
    }

    /// The digits in `base`, least significant first (`Integer#digits`). `None` for negatives
    /// and for a base below two.
    pub fn digits(&self, base: &BigInt) -> Option<Vec<BigInt>> {
        if self.is_negative() || base.0 < IBig::from(2) {
            return None;
        }
        if self.is_zero() {
            return Some(vec![BigInt::ZERO]);
        }
        if let (Some(r @ 2..=36), Some(_)) = (base.to_u64(), self.0.as_ubig()) {
            kumi_budget::ask((self.magnitude_bits() / u64::from(r.ilog2())) as usize * 32);
            // The library's radix conversion divides and conquers.
            let text = self.to_string_radix(r as u32).into_bytes();
            let value = |c: u8| (c as char).to_digit(36).unwrap_or(0) as u64;
            return Some(text.iter().rev().map(|&c| BigInt::from_u64(value(c))).collect());
        }
        // An Integer for each digit.
        kumi_budget::ask((self.magnitude_bits() / base.magnitude_bits().max(1)) as usize * 48);
        let mut out = Vec::new();
        split_digits(self.clone(), base, &mut out);
        while out.last().is_some_and(BigInt::is_zero) {
            out.pop();
        }
        Some(out)
    }

    /// The magnitude's bytes, highest first, without leading zeros.
    pub fn magnitude_bytes(&self) -> Vec<u8> {
        kumi_budget::ask(self.byte_len());
        self.0.clone().into_parts().1.to_be_bytes().into()
    }

    /// The number of that magnitude, highest byte first, below zero or not.
    pub fn from_magnitude(negative: bool, bytes: &[u8]) -> BigInt {
        kumi_budget::ask(bytes.len());
        BigInt(IBig::from_parts(if negative { DSign::Negative } else { DSign::Positive }, UBig::from_be_bytes(bytes)))
    }

    /// Bytes of the magnitude (`Integer#size` of a bignum).
    pub fn byte_len(&self) -> usize {
        self.magnitude_bits().div_ceil(8) as usize
    }

    /// Bytes of memory outside the value itself.
    pub fn heap_size(&self) -> usize {
        let n = self.0.as_sign_words().1.len();
        // Two words are stored inline.
        if n <= 2 { 0 } else { n * 8 }
    }

    /// Whether bit `i` of the magnitude is set.
    pub(crate) fn magnitude_bit(&self, i: u64) -> bool {
        match self.0.as_ubig() {
            Some(u) => u.bit(i as usize),
            None => self.magnitude().bit(i as usize),
        }
    }
}

/// A finite float as `mantissa * 2**exponent`, with its sign.
pub(crate) fn decode(x: f64) -> (u64, i32, bool) {
    let bits = x.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let frac = bits & ((1 << 52) - 1);
    let neg = bits >> 63 == 1;
    if field == 0 { (frac, -1074, neg) } else { (frac | 1 << 52, field - 1075, neg) }
}

/// `n / d` correctly rounded, for a non-zero `d`.
pub(crate) fn ratio_to_f64(n: &BigInt, d: &BigInt) -> f64 {
    if n.is_zero() {
        return 0.0;
    }
    let neg = n.is_negative() != d.is_negative();
    let (n, d) = (n.magnitude(), d.magnitude());
    // Shift so that the quotient has 65 or 66 bits, enough for a sticky rounding.
    let shift = 65 - (n.bit_len() as i64 - d.bit_len() as i64);
    let (n, d) = if shift >= 0 { (n << shift as usize, d) } else { (n, d << -shift as usize) };
    let (q, r) = n.div_rem(d);
    let (m, e, lost) = BigInt(IBig::from(q)).top64();
    let x = round_to_f64(m, e - shift, lost || !r.is_zero());
    if neg { -x } else { x }
}

/// Digits by halving: divides by the largest `base ** 2**k` first, so that long numbers cost
/// what the library's division costs rather than its square.
fn split_digits(n: BigInt, base: &BigInt, out: &mut Vec<BigInt>) {
    let mut powers = vec![base.clone()];
    while let Some(p) = powers.last().filter(|p| p.magnitude_bits() * 2 <= n.magnitude_bits() + 1) {
        let square = BigInt(IBig::from(p.0.sqr()));
        powers.push(square);
    }
    emit_digits(n, &powers, out);
}

/// Appends the digits of `n < powers.last()**2`, exactly `2**powers.len()` of them.
fn emit_digits(n: BigInt, powers: &[BigInt], out: &mut Vec<BigInt>) {
    let Some((p, lower)) = powers.split_last() else {
        out.push(n);
        return;
    };
    let (hi, lo) = if n < *p { (BigInt::ZERO, n) } else { n.div_rem(p).unwrap_or_default() };
    emit_digits(lo, lower, out);
    emit_digits(hi, lower, out);
}
