//! Integers, decimals and floating-point numbers.
//!
//! Plain numbers of up to sixteen characters are read as one or two words of eight bytes that end with the number's last,
//! without looking at one character after the other; everything else by the rules as they are written.

use super::{ValueError, refuse, trim};

/// An `xs:integer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer<'a> {
    /// One of 64 bits.
    Small(i64),
    /// Too large for 64 bits: its digits, without leading zeros.
    Big {
        /// Whether it is below 0.
        negative: bool,
        /// `0` to `9`.
        digits: &'a [u8],
    },
}

/// An `xs:decimal`: `mantissa / 10^scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimal<'a> {
    /// One whose digits fit 64 bits.
    Small {
        /// All digits, with the sign.
        mantissa: i64,
        /// How many of them stand behind the point.
        scale: u32,
    },
    /// More digits than 64 bits hold: those before and after the point.
    Big {
        /// Whether it is below 0.
        negative: bool,
        /// Digits before the point.
        whole: &'a [u8],
        /// Digits behind it.
        fraction: &'a [u8],
    },
}

impl Decimal<'_> {
    /// The mantissa at another scale (`100 * value` for 2), when it is exact and fits.
    #[inline]
    pub fn at_scale(&self, scale: u32) -> Option<i64> {
        match *self {
            Decimal::Small { mantissa, scale: from } if from == scale => Some(mantissa),
            Decimal::Small { mantissa, scale: from } if from <= scale => mantissa.checked_mul(10i64.checked_pow(scale - from)?),
            Decimal::Small { mantissa, scale: from } => {
                let by = 10i64.checked_pow(from - scale)?;
                (mantissa % by == 0).then_some(mantissa / by)
            }
            Decimal::Big { .. } => None,
        }
    }
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The number that eight digits are, the first in the lowest byte.
#[inline]
pub(super) fn eight_digits(w: u64) -> Option<u32> {
    // Every high half is 3, also after adding 6: '0' to '9'.
    if (w & 0xF0F0_F0F0_F0F0_F0F0) | ((w.wrapping_add(0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0) >> 4) != 0x3333_3333_3333_3333 {
        return None;
    }
    let w = w - ZEROS;
    let w = w.wrapping_mul(10).wrapping_add(w >> 8);
    let a = (w & 0x0000_00FF_0000_00FF).wrapping_mul(0x000F_4240_0000_0064);
    let b = ((w >> 16) & 0x0000_00FF_0000_00FF).wrapping_mul(0x0000_2710_0000_0001);
    Some((a.wrapping_add(b) >> 32) as u32)
}

#[inline]
fn word(bytes: &[u8], end: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(end.checked_sub(8)?..end)?.first_chunk()?))
}

/// The eight bytes that end at `end`, all but the last `n` (1 to 8) turned to zeros.
#[inline]
fn last(bytes: &[u8], end: usize, n: usize) -> Option<u64> {
    let keep = u64::MAX << (8 * (8 - n));
    Some((word(bytes, end)? & keep) | (ZEROS & !keep))
}

/// A plain number of one to sixteen digits.
#[inline(always)]
fn short_integer(bytes: &[u8], start: usize, end: usize) -> Option<i64> {
    let n = end.wrapping_sub(start);
    if n.wrapping_sub(1) < 8 {
        return Some(eight_digits(last(bytes, end, n)?)? as i64);
    }
    if n.wrapping_sub(9) < 8 {
        let (low, high) = (eight_digits(word(bytes, end)?)?, eight_digits(last(bytes, end - 8, n - 8)?)?);
        return Some(high as i64 * 100_000_000 + low as i64);
    }
    None
}

/// [`integer`] of `bytes[start..end]`, faster when bytes before `start` can be read.
///
/// # Errors
/// As [`integer`].
///
/// # Panics
/// When there are no such bytes.
#[inline(always)]
pub fn integer_within(bytes: &[u8], start: usize, end: usize) -> Result<Integer<'_>, ValueError> {
    match short_integer(bytes, start, end) {
        Some(value) => Ok(Integer::Small(value)),
        None => long_integer(bytes, start, end),
    }
}

#[cold]
#[inline(never)]
fn long_integer(bytes: &[u8], start: usize, end: usize) -> Result<Integer<'_>, ValueError> {
    integer(bytes.get(start..end).unwrap_or(b""))
}

/// An `xs:integer`: digits with an optional sign.
///
/// # Errors
/// The text is no such value: what is wrong with it.
pub fn integer(text: &[u8]) -> Result<Integer<'_>, ValueError> {
    let trimmed = trim(text);
    let (negative, digits) = sign(trimmed);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return refuse("an integer", text, None);
    }
    Ok(match small(negative, digits, b"") {
        Some(value) => Integer::Small(value),
        None => Integer::Big { negative, digits: without_zeros(digits) },
    })
}

/// A plain number of one to sixteen characters after the sign: mantissa and scale.
#[inline(always)]
pub(crate) fn plain_decimal(bytes: &[u8], start: usize, end: usize) -> Option<(i64, u32)> {
    let negative = bytes.get(start) == Some(&b'-');
    let from = start + negative as usize;
    let n = end.wrapping_sub(from);
    let (mantissa, scale) = if n.wrapping_sub(1) < 8 {
        short_decimal(bytes, end, n)?
    } else if n.wrapping_sub(9) < 8 {
        long_decimal(bytes, end, n)?
    } else {
        return None;
    };
    Some((if negative { -mantissa } else { mantissa }, scale))
}

/// [`decimal`] of `bytes[start..end]`, faster when bytes before `start` can be read.
///
/// # Errors
/// As [`decimal`].
///
/// # Panics
/// When there are no such bytes.
#[inline(always)]
pub fn decimal_within(bytes: &[u8], start: usize, end: usize) -> Result<Decimal<'_>, ValueError> {
    match plain_decimal(bytes, start, end) {
        Some((mantissa, scale)) => Ok(Decimal::Small { mantissa, scale }),
        None => other_decimal(bytes, start, end),
    }
}

#[cold]
#[inline(never)]
fn other_decimal(bytes: &[u8], start: usize, end: usize) -> Result<Decimal<'_>, ValueError> {
    decimal(bytes.get(start..end).unwrap_or(b""))
}

/// One to eight characters, one of them perhaps a point.
#[inline]
fn short_decimal(bytes: &[u8], end: usize, n: usize) -> Option<(i64, u32)> {
    let w = last(bytes, end, n)?;
    let x = w ^ 0x2E2E_2E2E_2E2E_2E2E;
    let points = x.wrapping_sub(0x0101_0101_0101_0101) & !x & 0x8080_8080_8080_8080;
    if points == 0 {
        return Some((eight_digits(w)? as i64, 0));
    }
    if n == 1 {
        return None;
    }
    // The digits before the point move up over it.
    let at = points.trailing_zeros() / 8;
    let before = w & !(u64::MAX << (8 * at));
    let after = w & ((u64::MAX << (8 * at)) << 8);
    Some((eight_digits(after | (before << 8) | 0x30)? as i64, 7 - at))
}

/// Nine to sixteen characters.
#[inline]
fn long_decimal(bytes: &[u8], end: usize, n: usize) -> Option<(i64, u32)> {
    let w = (word(bytes, end)? as u128) << 64 | last(bytes, end - 8, n - 8)? as u128;
    let x = w ^ (u128::MAX / 255 * 0x2E);
    let points = x.wrapping_sub(u128::MAX / 255) & !x & (u128::MAX / 255 * 0x80);
    let (w, scale) = if points == 0 {
        (w, 0)
    } else {
        let at = points.trailing_zeros() / 8;
        let before = w & !(u128::MAX << (8 * at));
        let after = w & ((u128::MAX << (8 * at)) << 8);
        (after | (before << 8) | 0x30, 15 - at)
    };
    Some((eight_digits(w as u64)? as i64 * 100_000_000 + eight_digits((w >> 64) as u64)? as i64, scale))
}

/// An `xs:decimal`: digits with an optional sign and at most one point; digits on one side of it are enough.
///
/// # Errors
/// The text is no such value: what is wrong with it.
pub fn decimal(text: &[u8]) -> Result<Decimal<'_>, ValueError> {
    let trimmed = trim(text);
    let (negative, rest) = sign(trimmed);
    let (whole, fraction) = match memchr::memchr(b'.', rest) {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, &rest[rest.len()..]),
    };
    if whole.len() + fraction.len() == 0 || !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
        return refuse("a decimal number", text, None);
    }
    Ok(match small(negative, whole, fraction) {
        Some(mantissa) => Decimal::Small { mantissa, scale: fraction.len() as u32 },
        None => Decimal::Big { negative, whole: without_zeros(whole), fraction },
    })
}

#[inline]
fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

fn without_zeros(digits: &[u8]) -> &[u8] {
    &digits[digits.iter().position(|d| *d != b'0').unwrap_or(digits.len().saturating_sub(1))..]
}

/// The digits as one number, when it fits.
fn small(negative: bool, whole: &[u8], fraction: &[u8]) -> Option<i64> {
    let mut value = 0i64;
    for digit in whole.iter().chain(fraction) {
        let digit = (digit - b'0') as i64;
        value = value.checked_mul(10)?;
        value = if negative { value.checked_sub(digit)? } else { value.checked_add(digit)? };
    }
    Some(value)
}

/// An `xs:double`: a decimal number with an optional exponent, `INF`, `-INF` or `NaN`. Correctly rounded.
///
/// # Errors
/// The text is no such value: what is wrong with it.
pub fn float(text: &[u8]) -> Result<f64, ValueError> {
    let trimmed = trim(text);
    match trimmed {
        b"NaN" => return Ok(f64::NAN),
        b"INF" | b"+INF" => return Ok(f64::INFINITY),
        b"-INF" => return Ok(f64::NEG_INFINITY),
        _ => {}
    }
    // Rust's grammar is this one and some words; its shortest forms (".", "e5") it refuses itself.
    let plain = trimmed.iter().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    match std::str::from_utf8(trimmed).ok().filter(|_| plain).and_then(|t| t.parse().ok()) {
        Some(value) => Ok(value),
        None => refuse("a number", text, None),
    }
}
