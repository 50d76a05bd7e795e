//! Numbers in `sprintf`'s forms.
//!
//! Invariant: the caller has parsed the directive into a [`Spec`]; every width and precision is at
//! most [`MAX_WIDTH`], anything larger is [`TooLarge`] before memory is asked for.

use crate::TooLarge;
use crate::big::{BigInt, decode};
use crate::int::{Int, pow10, to_string_radix};
use crate::near_tie;

/// The largest width or precision.
pub const MAX_WIDTH: usize = i32::MAX as usize;

/// Flags, width and precision of one directive.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spec {
    /// `-`: pad on the right.
    pub minus: bool,
    /// `+`: a sign always.
    pub plus: bool,
    /// Space: a space for a missing plus.
    pub space: bool,
    /// `0`: pad with zeros.
    pub zero: bool,
    /// `#`: prefixes, points and zeros that would be left out.
    pub alt: bool,
    /// Least number of characters.
    pub width: usize,
    /// Digits.
    pub precision: Option<usize>,
}

/// Appends `n` times the character, many at a time.
fn repeat(out: &mut String, c: char, n: usize) {
    const PIECE: usize = 4096;
    let piece: String = std::iter::repeat_n(c, n.min(PIECE)).collect();
    out.reserve(n);
    for _ in 0..n / PIECE {
        out.push_str(&piece);
    }
    out.push_str(&piece[..n % PIECE]);
}

impl Spec {
    fn check(&self) -> Result<(), TooLarge> {
        if self.width > MAX_WIDTH || self.precision.is_some_and(|p| p > MAX_WIDTH) { Err(TooLarge) } else { Ok(()) }
    }

    fn sign(&self, negative: bool) -> &'static str {
        if negative {
            "-"
        } else if self.plus {
            "+"
        } else if self.space {
            " "
        } else {
            ""
        }
    }

    /// Sign, prefix and body in the width; zeros go between prefix and body.
    fn pad(&self, head: &str, body: &str, zeros: bool) -> String {
        let fill = self.width.saturating_sub(head.len() + body.len());
        let mut out = String::with_capacity(head.len() + body.len() + fill);
        let blanks = |out: &mut String, c: char| repeat(out, c, fill);
        if zeros && self.zero && !self.minus {
            out.push_str(head);
            blanks(&mut out, '0');
            out.push_str(body);
            return out;
        }
        if !self.minus {
            blanks(&mut out, ' ');
        }
        out.push_str(head);
        out.push_str(body);
        if self.minus {
            blanks(&mut out, ' ');
        }
        out
    }
}

/// The radix of `d i u o x X b B` (other letters are taken as `d`).
pub fn radix(conversion: u8) -> u32 {
    match conversion {
        b'b' | b'B' => 2,
        b'o' => 8,
        b'x' | b'X' => 16,
        _ => 10,
    }
}

/// An integer by such a letter.
///
/// # Errors
/// [`TooLarge`] if width or precision are above [`MAX_WIDTH`].
pub fn integer(spec: &Spec, conversion: u8, n: &Int) -> Result<String, TooLarge> {
    let negative = match n {
        Int::Small(i) => *i < 0,
        Int::Big(b) => b.is_negative(),
    };
    let radix = radix(conversion);
    let dots = shows_complement(spec, conversion, negative);
    let digits = if dots { complement_digits(n, radix) } else { magnitude_digits(n, radix) };
    integer_of_digits(spec, conversion, negative, digits)
}

/// Without a sign flag a negative shows its two's complement, after two dots.
pub fn shows_complement(spec: &Spec, conversion: u8, negative: bool) -> bool {
    negative && radix(conversion) != 10 && !spec.plus && !spec.space
}

/// The same of an integer's digits: those of its magnitude, or of its complement where that is shown.
///
/// # Errors
/// [`TooLarge`] if width or precision are above [`MAX_WIDTH`].
pub fn integer_of_digits(spec: &Spec, conversion: u8, negative: bool, mut digits: String) -> Result<String, TooLarge> {
    spec.check()?;
    let dots = shows_complement(spec, conversion, negative);
    if conversion == b'X' {
        digits.make_ascii_uppercase();
    }
    let mut prefix = match (spec.alt, conversion) {
        (true, b'b') => "0b",
        (true, b'B') => "0B",
        (true, b'o') => "0",
        (true, b'x') => "0x",
        (true, b'X') => "0X",
        _ => "",
    };
    let is_zero = digits == "0";
    let mut precision = spec.precision;
    if prefix == "0" {
        if dots || precision.is_some_and(|p| p > digits.len()) {
            prefix = "";
        } else if is_zero {
            // The prefix is the digit.
            digits.clear();
            precision = precision.map(|p| p.saturating_sub(1));
        }
    } else if is_zero {
        prefix = "";
    }
    if is_zero && precision == Some(0) && prefix.is_empty() {
        digits.clear();
    }
    let head = format!("{}{prefix}{}", spec.sign(negative && !dots), if dots { ".." } else { "" });
    // The dots stand for digits and count as such.
    let room = if dots { 2 } else { 0 };
    let wanted = match precision {
        Some(p) => p.saturating_sub(room),
        None if spec.zero && !spec.minus => spec.width.saturating_sub(head.len()),
        None => 0,
    };
    let fill = match (dots, conversion) {
        (false, _) => '0',
        (true, b'o') => '7',
        (true, b'x') => 'f',
        (true, b'X') => 'F',
        _ => '1',
    };
    if wanted > digits.len() {
        let mut long = String::with_capacity(wanted);
        repeat(&mut long, fill, wanted - digits.len());
        long.push_str(&digits);
        digits = long;
    }
    Ok(spec.pad(&head, &digits, false))
}

fn magnitude_digits(n: &Int, radix: u32) -> String {
    let mut s = match n {
        Int::Small(i) => to_string_radix(*i, radix),
        Int::Big(b) => b.to_string_radix(radix),
    };
    if s.starts_with('-') {
        s.remove(0);
    }
    s
}

/// The two's complement of a negative with exactly one leading sign digit.
pub(crate) fn complement_digits(n: &Int, radix: u32) -> String {
    let per_digit = radix.trailing_zeros() as u64;
    let n = n.to_big();
    let count = n.bit_length() / per_digit + 1;
    let Ok(whole) = BigInt::ONE.shl(count * per_digit) else {
        return String::new();
    };
    let text = n.add(&whole).to_string_radix(radix);
    let sign_digit = match radix {
        2 => '1',
        8 => '7',
        _ => 'f',
    };
    format!("{sign_digit}{}", text.trim_start_matches(sign_digit))
}

/// A float by `f e E g G a A` (other letters are taken as `f`).
///
/// # Errors
/// [`TooLarge`] if width or precision are above [`MAX_WIDTH`].
pub fn float(spec: &Spec, conversion: u8, x: f64) -> Result<String, TooLarge> {
    spec.check()?;
    let negative = x.is_sign_negative() && !x.is_nan();
    let sign = spec.sign(negative);
    if !x.is_finite() {
        return Ok(spec.pad(sign, if x.is_nan() { "NaN" } else { "Inf" }, false));
    }
    let x = x.abs();
    let upper = conversion.is_ascii_uppercase();
    let mut body = match conversion.to_ascii_lowercase() {
        b'e' => exponential(x, spec.precision.unwrap_or(6), spec.alt),
        b'g' => general(x, spec.precision.unwrap_or(6), spec.alt),
        b'a' => hexadecimal(x, spec.precision, spec.alt),
        _ => fixed(x, spec.precision.unwrap_or(6), spec.alt),
    };
    if upper {
        body.make_ascii_uppercase();
    }
    if conversion.eq_ignore_ascii_case(&b'a') {
        let head = format!("{sign}0{}", if upper { 'X' } else { 'x' });
        return Ok(spec.pad(&head, &body, true));
    }
    Ok(spec.pad(sign, &body, true))
}

/// No float has more decimal places than this; the rest are zeros.
const MAX_PLACES: usize = 1080;

/// The exact expansion of `x >= 0` rounded to `places`, ties and what is near one to even.
pub fn fixed(x: f64, places: usize, alt: bool) -> String {
    let mut s = match near_tie::digits(x, near_tie::Wanted::Places(places)) {
        Some((n, ..)) => {
            let mut s = format!("{n:00$}", places + 1);
            if places > 0 {
                s.insert(s.len() - places, '.');
            }
            s
        }
        None => format!("{x:.*}", places.min(MAX_PLACES)),
    };
    repeat(&mut s, '0', places.saturating_sub(MAX_PLACES));
    if alt && places == 0 {
        s.push('.');
    }
    s
}

/// `d.dddde-X` with that many places.
fn scientific(x: f64, places: usize) -> String {
    let Some((n, k, _)) = near_tie::digits(x, near_tie::Wanted::Digits(places + 1)) else { return format!("{x:.places$e}") };
    let mut s = n.to_string();
    // 9.95 became 10.0.
    let k = if s.len() > places + 1 { k + 1 } else { k };
    s.truncate(places + 1);
    if places > 0 {
        s.insert(1, '.');
    }
    format!("{s}e{k}")
}

/// `d.dddde+XX`.
fn exponential(x: f64, places: usize, alt: bool) -> String {
    let s = scientific(x, places.min(MAX_PLACES));
    let (mantissa, exp) = s.split_once('e').unwrap_or((&s, "0"));
    let exp: i32 = exp.parse().unwrap_or(0);
    let mut out = String::from(mantissa);
    repeat(&mut out, '0', places.saturating_sub(MAX_PLACES));
    if alt && places == 0 {
        out.push('.');
    }
    out.push_str(&format!("e{}{:02}", if exp < 0 { '-' } else { '+' }, exp.abs()));
    out
}

/// The shorter of both, without trailing zeros unless `alt`.
fn general(x: f64, precision: usize, alt: bool) -> String {
    let p = precision.max(1);
    let probe = scientific(x, (p - 1).min(MAX_PLACES));
    let exp: i64 = probe.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    // Without `#` the zeros beyond the last real digit would only be taken away again.
    let shown = |places: usize| if alt { places } else { places.min(MAX_PLACES) };
    // CRuby keeps the zeros of what it rounded down to even, though a little more than a half was left.
    let kept = probe != format!("{x:.*e}", (p - 1).min(MAX_PLACES)) && probe.split('e').next().is_some_and(|m| m.ends_with('0')) && {
        matches!(near_tie::digits(x, near_tie::Wanted::Digits(p)), Some((_, _, false)))
    };
    let trim = |s: &str| -> String {
        if alt || kept || !s.contains('.') {
            return s.to_string();
        }
        s.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    if (-4..p as i64).contains(&exp) {
        let places = (p as i64 - 1 - exp) as usize;
        return trim(&fixed(x, shown(places), alt));
    }
    let s = exponential(x, shown(p - 1), alt);
    let (mantissa, exp) = s.split_once('e').unwrap_or((&s, "+00"));
    format!("{}e{exp}", trim(mantissa))
}

/// `h.hhhp+d`, without `0x`; the first digit is 1, or 0 for zero.
fn hexadecimal(x: f64, precision: Option<usize>, alt: bool) -> String {
    let (mut m, mut e, _) = decode(x);
    if m == 0 {
        e = 0;
    } else {
        // One bit before the point, 52 after it.
        let lead = m.leading_zeros() as i32 - 11;
        m <<= lead;
        e = e - lead + 52;
    }
    let mut places = 13;
    if let Some(p) = precision.filter(|&p| p < 13) {
        let drop = 4 * (13 - p) as u32;
        let (rest, half) = (m & ((1 << drop) - 1), 1u64 << (drop - 1));
        m >>= drop;
        m += (rest > half || (rest == half && m & 1 == 1)) as u64;
        // A carry into the second bit before the point.
        if m >> (4 * p) > 1 {
            m >>= 1;
            e += 1;
        }
        places = p;
    } else if precision.is_none() {
        while places > 0 && m & 15 == 0 {
            m >>= 4;
            places -= 1;
        }
    }
    let mut out = String::new();
    out.push(if m >> (4 * places) == 0 { '0' } else { '1' });
    if places > 0 || alt || precision.is_some_and(|p| p > 0) {
        out.push('.');
    }
    if places > 0 {
        let fraction = m & ((1u64 << (4 * places)) - 1);
        out.push_str(&format!("{fraction:0places$x}"));
    }
    repeat(&mut out, '0', precision.unwrap_or(0).saturating_sub(places));
    out.push_str(&format!("p{e:+}"));
    out
}

/// `%f` of an exact fraction with a positive denominator (Integer and Rational arguments), ties
/// away from zero.
///
/// # Errors
/// [`TooLarge`] if width or precision are above [`MAX_WIDTH`], or as [`ratio_digits`].
pub fn ratio(spec: &Spec, n: &BigInt, d: &BigInt) -> Result<String, TooLarge> {
    spec.check()?;
    let digits = ratio_digits(n, d, spec.precision.unwrap_or(6))?;
    ratio_of_digits(spec, n.is_negative(), digits)
}

/// The digits of such a fraction's magnitude, the decimal places included.
///
/// # Errors
/// [`TooLarge`] if `10 ** places` is refused, or the denominator is 0.
pub fn ratio_digits(n: &BigInt, d: &BigInt, places: usize) -> Result<String, TooLarge> {
    let scaled = n.abs().mul(&pow10(places as u64)?);
    let (q, r) = scaled.div_mod(d).ok_or(TooLarge)?;
    let q = if r.mul_i64(2) >= *d { q.add_i64(1) } else { q };
    Ok(q.to_string())
}

/// `%f` of those digits.
///
/// # Errors
/// [`TooLarge`] if width or precision are above [`MAX_WIDTH`].
pub fn ratio_of_digits(spec: &Spec, negative: bool, mut body: String) -> Result<String, TooLarge> {
    spec.check()?;
    let places = spec.precision.unwrap_or(6);
    if places > 0 {
        if body.len() <= places {
            body.insert_str(0, &"0".repeat(places + 1 - body.len()));
        }
        body.insert(body.len() - places, '.');
    }
    // CRuby ignores `#` here.
    Ok(spec.pad(spec.sign(negative), &body, true))
}
