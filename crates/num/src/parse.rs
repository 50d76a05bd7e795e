//! Text to numbers, as `String#to_i`, `Integer()`, `to_f`, `Float()`, `to_r`, `Rational()`,
//! `to_c` and literals read it.
//!
//! Invariant: a lenient reader takes the longest valid beginning and never fails; a strict one
//! takes the whole text (blanks at either end allowed) or answers `None`. An underscore is valid
//! only between two digits.

use crate::TooLarge;
use crate::big::{BigInt, round_to_f64};
use crate::int::{Int, pow10};

/// Exponents of more decimal places than this are refused where the result is exact.
const MAX_PLACES: i64 = 20_000_000;

/// The blanks that may surround a number.
pub fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t'..=b'\r')
}

/// A position in the text.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a [u8]) -> Self {
        let mut c = Cursor { text, at: 0 };
        c.skip_space();
        c
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn peek_at(&self, n: usize) -> Option<u8> {
        self.text.get(self.at + n).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn eat(&mut self, set: &[u8]) -> Option<u8> {
        let c = self.peek().filter(|c| set.contains(c))?;
        self.at += 1;
        Some(c)
    }

    /// An optional sign; true for minus.
    fn sign(&mut self) -> bool {
        self.eat(b"+-") == Some(b'-')
    }

    /// Digits with single underscores between them, appended without the underscores. False (and
    /// nothing consumed) when there is no digit.
    fn digits(&mut self, radix: u32, out: &mut Vec<u8>) -> bool {
        let is_digit = |c: Option<u8>| c.is_some_and(|c| (c as char).is_digit(radix));
        let start = self.at;
        while is_digit(self.peek()) || (self.at > start && self.peek() == Some(b'_') && is_digit(self.peek_at(1))) {
            if let Some(c) = self.peek().filter(|&c| c != b'_') {
                out.push(c);
            }
            self.at += 1;
        }
        self.at > start
    }

    /// Whether only blanks are left.
    fn at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }
}

fn apply_sign(neg: bool, n: Int) -> Int {
    if neg { n.neg() } else { n }
}

/// Whether [`integer`] knows this base: 0, 1 (as -1) and 2..=36 with either sign.
pub fn valid_base(base: i64) -> bool {
    (-36..=36).contains(&base) && base != 1
}

/// An integer. Base 0 (or -1) goes by the prefix, decimal without one; `2..=36` allows that base's
/// own prefix; a negative base `-b` goes by the prefix and takes `b` without one. An invalid base
/// reads nothing. Lenient reading answers 0 where nothing can be read.
pub fn integer(text: &[u8], base: i64, strict: bool) -> Option<Int> {
    let nothing = if strict { None } else { Some(Int::Small(0)) };
    if !valid_base(base) {
        return nothing;
    }
    let mut c = Cursor::new(text);
    let neg = c.sign();
    let prefix = match (c.peek(), c.peek_at(1)) {
        (Some(b'0'), Some(p)) => match p.to_ascii_lowercase() {
            b'b' => Some(2),
            b'o' => Some(8),
            b'd' => Some(10),
            b'x' => Some(16),
            _ => None,
        },
        _ => None,
    };
    let radix = match (base, prefix) {
        (..=0, Some(p)) => {
            c.at += 2;
            p
        }
        (..=0, None) if c.peek() == Some(b'0') && c.peek_at(1).is_some() => 8,
        (-1..=0, None) => 10,
        (..=-2, None) => -base,
        (_, Some(p)) if p == base => {
            c.at += 2;
            p
        }
        _ => base,
    } as u32;
    let mut digits = Vec::new();
    if !c.digits(radix, &mut digits) || (strict && !c.at_end()) {
        return nothing;
    }
    Int::from_digits(&digits, radix).map(|n| apply_sign(neg, n)).or(nothing)
}

/// A decimal number in parts: `digits * 10**(exp - fraction)`.
struct Decimal {
    neg: bool,
    digits: Vec<u8>,
    /// How many of `digits` stand after the point.
    fraction: usize,
    /// The exponent as written, limited to where it makes no difference any more.
    exp: i64,
    /// Written with a point or an exponent.
    is_float: bool,
}

/// Which forms of the point are allowed.
#[derive(Clone, Copy, PartialEq)]
enum Point {
    /// `1.` and `1.e5` are whole (Float since Ruby 3.4, Rational).
    Trailing,
    /// A digit must follow (literals, Complex).
    Followed,
}

/// Reads unsigned digits, fraction and exponent as far as they go.
fn decimal(c: &mut Cursor<'_>, neg: bool, point: Point) -> Option<Decimal> {
    let mut d = Decimal { neg, digits: Vec::new(), fraction: 0, exp: 0, is_float: false };
    let has_whole = c.digits(10, &mut d.digits);
    if c.peek() == Some(b'.') {
        let digit_next = c.peek_at(1).is_some_and(|c| c.is_ascii_digit());
        if digit_next {
            c.at += 1;
            let before = d.digits.len();
            c.digits(10, &mut d.digits);
            d.fraction = d.digits.len() - before;
            d.is_float = true;
        } else if has_whole && point == Point::Trailing {
            // `1._5` stops before the point.
            if c.peek_at(1) != Some(b'_') {
                c.at += 1;
                d.is_float = true;
            }
        }
    }
    if d.digits.is_empty() {
        return None;
    }
    let back = c.at;
    if c.eat(b"eE").is_some() {
        let negative = c.sign();
        let mut exp = Vec::new();
        if c.digits(10, &mut exp) {
            let n = exp.iter().fold(0i64, |n, &c| (n * 10 + (c - b'0') as i64).min(1 << 40));
            d.exp = if negative { -n } else { n };
            d.is_float = true;
        } else {
            c.at = back;
        }
    }
    Some(d)
}

impl Decimal {
    fn to_f64(&self) -> f64 {
        let mut text = String::with_capacity(self.digits.len() + 24);
        text.extend(self.digits.iter().map(|&c| c as char));
        text.push('e');
        text.push_str(&(self.exp - self.fraction as i64).to_string());
        let x: f64 = text.parse().unwrap_or(0.0);
        if self.neg { -x } else { x }
    }

    /// The exact value, numerator over denominator, unreduced.
    fn to_ratio(&self) -> Result<(BigInt, BigInt), TooLarge> {
        let n = BigInt::from_str_radix(&self.digits, 10).unwrap_or(BigInt::ZERO);
        let n = if self.neg { n.neg() } else { n };
        let exp = self.exp - self.fraction as i64;
        if n.is_zero() {
            return Ok((n, BigInt::ONE));
        }
        if self.exp.abs() > MAX_PLACES {
            return Err(TooLarge);
        }
        let p = pow10(exp.unsigned_abs())?;
        Ok(if exp >= 0 { (n.mul(&p), BigInt::ONE) } else { (n, p) })
    }
}

/// A float. Lenient reading answers 0.0 where nothing can be read, and hexadecimal only counts when
/// strict.
pub fn float(text: &[u8], strict: bool) -> Option<f64> {
    let mut c = Cursor::new(text);
    let signed = matches!(c.peek(), Some(b'+' | b'-'));
    let neg = c.sign();
    if c.peek() == Some(b'0') && matches!(c.peek_at(1), Some(b'x' | b'X')) {
        c.at += 2;
        let x = hex_float(&mut c, strict).map(|x| if neg { -x } else { x });
        return if strict {
            x.filter(|_| c.at_end())
        } else {
            // CRuby's to_f refuses hexadecimal, but a sign in front hides it from the check.
            Some(x.filter(|_| signed).unwrap_or(0.0))
        };
    }
    let Some(d) = decimal(&mut c, neg, Point::Trailing) else {
        return if strict { None } else { Some(0.0) };
    };
    if strict && !c.at_end() {
        return None;
    }
    Some(d.to_f64())
}

/// Hexadecimal digits, fraction and binary exponent after `0x`; lenient reading stops before a
/// part without digits.
fn hex_float(c: &mut Cursor<'_>, strict: bool) -> Option<f64> {
    let mut digits = Vec::new();
    if !c.digits(16, &mut digits) {
        return None;
    }
    let whole = digits.len();
    if c.peek() == Some(b'.') {
        c.at += 1;
        if !c.digits(16, &mut digits) && strict {
            return None;
        }
    }
    let mut exp = 0i64;
    if c.eat(b"pP").is_some() {
        let negative = c.sign();
        let mut text = Vec::new();
        if !c.digits(10, &mut text) && strict {
            return None;
        }
        let n = text.iter().fold(0i64, |n, &c| (n * 10 + (c - b'0') as i64).min(1 << 40));
        exp = if negative { -n } else { n };
    }
    exp -= 4 * (digits.len() - whole) as i64;
    let (mut m, mut sticky) = (0u64, false);
    for &d in &digits {
        let d = (d as char).to_digit(16).unwrap_or(0) as u64;
        if m >> 60 == 0 {
            m = m << 4 | d;
        } else {
            sticky |= d != 0;
            exp += 4;
        }
    }
    if m == 0 {
        return Some(0.0);
    }
    let lead = m.leading_zeros();
    Some(round_to_f64(m << lead, exp - lead as i64, sticky))
}

/// Reads `number [/ number]`; the sign is already taken.
fn ratio(c: &mut Cursor<'_>, neg: bool) -> Option<Result<(BigInt, BigInt), TooLarge>> {
    let d = decimal(c, neg, Point::Trailing)?;
    let back = c.at;
    let mut over = None;
    if c.eat(b"/").is_some() {
        over = decimal(c, false, Point::Trailing);
        if over.is_none() {
            c.at = back;
        }
    }
    Some(d.to_ratio().and_then(|(n, m)| {
        let Some(o) = over else {
            return Ok(reduce(n, m));
        };
        let (on, om) = o.to_ratio()?;
        Ok(reduce(n.mul(&om), m.mul(&on)))
    }))
}

/// Lowest terms; a zero denominator stays as it is, for the caller to refuse.
fn reduce(n: BigInt, d: BigInt) -> (BigInt, BigInt) {
    let g = n.gcd(&d);
    if d.is_zero() || g.is_zero() {
        return (n, d);
    }
    let part = |x: &BigInt| x.div_floor(&g).unwrap_or(BigInt::ZERO);
    (part(&n), part(&d))
}

/// A fraction in lowest terms, as `to_r` and `Rational()` read it: `Ok(None)` when a strict reader
/// refuses. A denominator of zero comes back as it is written (`ZeroDivisionError`).
///
/// # Errors
/// [`TooLarge`] when an exponent is absurd.
pub fn rational(text: &[u8], strict: bool) -> Result<Option<(BigInt, BigInt)>, TooLarge> {
    let mut c = Cursor::new(text);
    let neg = c.sign();
    match ratio(&mut c, neg) {
        None if strict => Ok(None),
        None => Ok(Some((BigInt::ZERO, BigInt::ONE))),
        Some(_) if strict && !c.at_end() => Ok(None),
        Some(r) => r.map(Some),
    }
}

/// One number of a complex one.
#[derive(Clone, Debug, PartialEq)]
pub enum Component {
    /// `3`
    Int(Int),
    /// `3.5`, `3e5`
    Float(f64),
    /// `3/4`, in lowest terms; the denominator may be zero.
    Rational(BigInt, BigInt),
}

/// A complex number as written.
#[derive(Clone, Debug, PartialEq)]
pub struct ComplexText {
    /// The real part, or the magnitude when `polar`.
    pub first: Component,
    /// The imaginary part, or the angle when `polar`; `None` if not written.
    pub second: Option<Component>,
    /// Written `first@second`.
    pub polar: bool,
}

/// One component without its sign. A denominator has digits only, unlike in [`rational`].
fn component(c: &mut Cursor<'_>, neg: bool) -> Option<Result<Component, TooLarge>> {
    let d = decimal(c, neg, Point::Followed)?;
    let back = c.at;
    let mut over = Vec::new();
    if c.eat(b"/").is_some() && c.digits(10, &mut over) {
        let over = BigInt::from_str_radix(&over, 10)?;
        return Some(d.to_ratio().map(|(n, d)| {
            let (n, d) = reduce(n, d.mul(&over));
            Component::Rational(n, d)
        }));
    }
    c.at = back;
    if d.is_float {
        return Some(Ok(Component::Float(d.to_f64())));
    }
    let n = Int::from_digits(&d.digits, 10)?;
    Some(Ok(Component::Int(apply_sign(neg, n))))
}

/// A complex number as `to_c` and `Complex()` read it: `Ok(None)` when a strict reader refuses.
///
/// # Errors
/// [`TooLarge`] when an exponent of an exact part is absurd.
pub fn complex(text: &[u8], strict: bool) -> Result<Option<ComplexText>, TooLarge> {
    let zero = || Component::Int(Int::Small(0));
    let one = |neg| Component::Int(Int::Small(if neg { -1 } else { 1 }));
    let real = |first| ComplexText { first, second: None, polar: false };
    let imaginary = |first, second| ComplexText { first, second: Some(second), polar: false };
    const UNIT: &[u8] = b"iIjJ";
    let mut c = Cursor::new(text);
    let neg = c.sign();
    let value = match component(&mut c, neg).transpose()? {
        None if c.eat(UNIT).is_some() => imaginary(zero(), one(neg)),
        None if strict => return Ok(None),
        None => real(zero()),
        Some(n) if c.eat(UNIT).is_some() => imaginary(zero(), n),
        Some(n) => {
            let back = c.at;
            match c.eat(b"@+-") {
                Some(b'@') => {
                    let neg = c.sign();
                    match component(&mut c, neg).transpose()? {
                        Some(angle) => ComplexText { first: n, second: Some(angle), polar: true },
                        None => {
                            c.at = back;
                            real(n)
                        }
                    }
                }
                Some(sign) => {
                    let neg = sign == b'-';
                    let im = component(&mut c, neg).transpose()?.unwrap_or_else(|| one(neg));
                    if c.eat(UNIT).is_some() {
                        imaginary(n, im)
                    } else {
                        c.at = back;
                        real(n)
                    }
                }
                None => real(n),
            }
        }
    };
    Ok(if strict && !c.at_end() { None } else { Some(value) })
}

/// A numeric literal of the language.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    /// The number.
    pub value: Component,
    /// With the suffix `i`.
    pub imaginary: bool,
}

/// A numeric literal as it stands in source (`0x_` and the like are refused): integer with a
/// prefix, decimal, float, with `r` and `i` suffixes and an optional sign. `Ok(None)`: it is none.
///
/// # Errors
/// [`TooLarge`] when the exponent of a rational is absurd.
pub fn literal(text: &[u8]) -> Result<Option<Literal>, TooLarge> {
    let (mut body, imaginary) = match text.split_last() {
        // Hexadecimal has no digit i, so the suffix is never ambiguous.
        Some((b'i', rest)) => (rest, true),
        _ => (text, false),
    };
    let rational_suffix = body.last() == Some(&b'r');
    if rational_suffix {
        body = &body[..body.len() - 1];
    }
    if body.iter().any(|&c| is_space(c)) {
        return Ok(None);
    }
    let wrap = |value| Ok(Some(Literal { value, imaginary }));
    if let Some(n) = integer(body, 0, true) {
        return wrap(if rational_suffix { Component::Rational(n.to_big(), BigInt::ONE) } else { Component::Int(n) });
    }
    let mut c = Cursor::new(body);
    let neg = c.sign();
    let Some(d) = decimal(&mut c, neg, Point::Followed) else {
        return Ok(None);
    };
    if c.at != body.len() {
        return Ok(None);
    }
    if rational_suffix {
        let (n, d) = d.to_ratio()?;
        let (n, d) = reduce(n, d);
        return wrap(Component::Rational(n, d));
    }
    wrap(Component::Float(d.to_f64()))
}
