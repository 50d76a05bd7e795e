//! Typed values out of text, by the lexical rules of XML Schema 1.1 part 2: white space around a value is allowed,
//! everything else must be exactly as the type says (no underscores, no `0x`, no local number formats).
//!
//! Nothing is rounded silently: integers and decimals that don't fit 64 bits come as their digits.

use std::fmt;

/// Text that is no value of the type asked for. One word, so that results are small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError(Box<Refusal>);

impl std::ops::Deref for ValueError {
    type Target = Refusal;

    fn deref(&self) -> &Refusal {
        &self.0
    }
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// With its article: "an integer".
    pub expected: &'static str,
    /// The text, shortened when it is long.
    pub found: String,
    /// What in particular is wrong with it, when that isn't plain.
    pub why: Option<&'static str>,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {:?}", self.expected, self.found)?;
        match self.why {
            Some(why) => write!(f, ": {why}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ValueError {}

/// Characters of the text that an error quotes.
const QUOTED: usize = 40;

#[cold]
#[inline(never)]
fn refuse<T>(expected: &'static str, text: &[u8], why: Option<&'static str>) -> Result<T, ValueError> {
    // A character is at most four bytes: this much always holds the characters that are quoted.
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * QUOTED + 4)]).into_owned();
    let found = match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    };
    Err(ValueError(Box::new(Refusal { expected, found, why })))
}

/// Without the white space around it (space, tab, line feed, carriage return).
#[inline]
pub fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t' | b'\n' | b'\r'] = text {
        text = rest;
    }
    text
}

/// An `xs:integer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer<'a> {
    Small(i64),
    /// Too large for 64 bits: its digits, without leading zeros.
    Big {
        negative: bool,
        digits: &'a [u8],
    },
}

/// An `xs:decimal`: `mantissa / 10^scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimal<'a> {
    Small {
        mantissa: i64,
        scale: u32,
    },
    /// More digits than 64 bits hold: those before and after the point.
    Big {
        negative: bool,
        whole: &'a [u8],
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

/// A day of the proleptic Gregorian calendar, and the zone that was given with it. Year 0 is 1 BC, as in XML Schema 1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    pub year: i32,
    pub month: u8,
    pub day: u8,
    /// Minutes east of UTC.
    pub zone: Option<i16>,
}

impl Date {
    /// Days since 1970-01-01.
    #[inline]
    pub fn days(&self) -> i64 {
        // Howard Hinnant's days_from_civil: years that begin in March, in eras of 400.
        let year = self.year as i64 - (self.month <= 2) as i64;
        let era = year.div_euclid(400);
        let of_era = year - era * 400;
        let month = (self.month as i64 + 9) % 12;
        let of_year = (153 * month + 2) / 5 + self.day as i64 - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
    }

    fn from_days(days: i64, zone: Option<i16>) -> Date {
        let days = days + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days - era * 146_097;
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        Date { year: (year + era * 400 + (month <= 2) as i64) as i32, month: month as u8, day: day as u8, zone }
    }
}

/// An `xs:dateTime`. `24:00:00` is given as the first moment of the next day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateTime {
    pub date: Date,
    pub hour: u8,
    pub minute: u8,
    pub second: u8,
    /// Digits beyond the ninth are dropped.
    pub nanos: u32,
}

impl DateTime {
    /// Seconds since 1970-01-01T00:00:00Z; a time without a zone is taken to be in UTC.
    pub fn seconds(&self) -> i64 {
        let local = self.date.days() * 86_400 + self.hour as i64 * 3600 + self.minute as i64 * 60 + self.second as i64;
        local - self.date.zone.unwrap_or(0) as i64 * 60
    }
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The number that eight digits are, the first in the lowest byte.
#[inline]
fn eight_digits(w: u64) -> Option<u32> {
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
pub(crate) fn short_integer(bytes: &[u8], start: usize, end: usize) -> Option<i64> {
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

/// An `xs:boolean`: `true`, `false`, `1` or `0`.
pub fn boolean(text: &[u8]) -> Result<bool, ValueError> {
    match trim(text) {
        b"true" | b"1" => Ok(true),
        b"false" | b"0" => Ok(false),
        _ => refuse("a boolean (true, false, 1 or 0)", text, None),
    }
}

const NO_DAY: &str = "there is no such day";
const DATE: &str = "a date (YYYY-MM-DD)";
const DATE_TIME: &str = "a date and time (YYYY-MM-DDThh:mm:ss)";

/// An `xs:date`, with or without a zone.
#[inline(always)]
pub fn date(text: &[u8]) -> Result<Date, ValueError> {
    match short_date(text) {
        Some(date) => Ok(date),
        None => long_date(text),
    }
}

/// Exactly `YYYY-MM-DD`.
#[inline(always)]
pub(crate) fn short_date(text: &[u8]) -> Option<Date> {
    let text: &[u8; 10] = text.try_into().ok()?;
    if text[4] != b'-' || text[7] != b'-' {
        return None;
    }
    let digits = eight_digits(u64::from_le_bytes([text[0], text[1], text[2], text[3], text[5], text[6], text[8], text[9]]))?;
    let (year, month, day) = (digits / 10_000, digits / 100 % 100, digits % 100);
    valid_day(year as i32, month, day).then_some(Date { year: year as i32, month: month as u8, day: day as u8, zone: None })
}

#[inline]
fn valid_day(year: i32, month: u32, day: u32) -> bool {
    month.wrapping_sub(1) < 12 && day.wrapping_sub(1) < 28 + (day > 28) as u32 * (days_in(year, month) - 28)
}

fn days_in(year: i32, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cold]
#[inline(never)]
fn long_date(text: &[u8]) -> Result<Date, ValueError> {
    let trimmed = trim(text);
    match date_part(trimmed) {
        Ok((mut date, rest)) => match zone(rest) {
            Some(zone) => {
                date.zone = zone;
                Ok(date)
            }
            None => refuse(DATE, text, None),
        },
        Err(why) => refuse(DATE, text, why),
    }
}

fn two(text: &[u8]) -> Option<(u32, &[u8])> {
    match text {
        [a @ b'0'..=b'9', b @ b'0'..=b'9', rest @ ..] => Some(((a - b'0') as u32 * 10 + (b - b'0') as u32, rest)),
        _ => None,
    }
}

/// The date at the beginning, and what follows it.
fn date_part(text: &[u8]) -> Result<(Date, &[u8]), Option<&'static str>> {
    let (negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    if length < 4 || (length > 4 && rest[0] == b'0') {
        return Err(None);
    }
    if length > 7 {
        return Err(Some("its year is beyond 9999999"));
    }
    let year = rest[..length].iter().fold(0, |y, d| y * 10 + (d - b'0') as i32);
    let year = if negative { -year } else { year };
    let parts = || {
        let (month, rest) = two(rest[length..].strip_prefix(b"-")?)?;
        let (day, rest) = two(rest.strip_prefix(b"-")?)?;
        Some((month, day, rest))
    };
    let (month, day, rest) = parts().ok_or(None)?;
    if !valid_day(year, month, day) {
        return Err(Some(NO_DAY));
    }
    Ok((Date { year, month: month as u8, day: day as u8, zone: None }, rest))
}

/// Nothing, `Z`, or `+hh:mm`.
fn zone(text: &[u8]) -> Option<Option<i16>> {
    match text {
        [] => Some(None),
        b"Z" => Some(Some(0)),
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let (hours, rest) = two(rest)?;
            let (minutes, rest) = two(rest.strip_prefix(b":")?)?;
            let total = (hours * 60 + minutes) as i16;
            if !rest.is_empty() || minutes > 59 || total > 14 * 60 {
                return None;
            }
            Some(Some(if *sign == b'-' { -total } else { total }))
        }
        _ => None,
    }
}

/// An `xs:dateTime`, with or without a zone.
pub fn date_time(text: &[u8]) -> Result<DateTime, ValueError> {
    let (date, rest) = match date_part(trim(text)) {
        Ok(found) => found,
        Err(why) => return refuse(DATE_TIME, text, why),
    };
    match time_part(date, rest) {
        Some(found) => Ok(found),
        None => refuse(DATE_TIME, text, None),
    }
}

fn time_part(mut date: Date, text: &[u8]) -> Option<DateTime> {
    let (hour, rest) = two(text.strip_prefix(b"T")?)?;
    let (minute, rest) = two(rest.strip_prefix(b":")?)?;
    let (second, mut rest) = two(rest.strip_prefix(b":")?)?;
    let mut nanos = 0;
    let mut beyond = false;
    if let Some(fraction) = rest.strip_prefix(b".") {
        let length = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
        if length == 0 {
            return None;
        }
        beyond = fraction[..length].iter().any(|d| *d != b'0');
        for place in 0..9 {
            nanos = nanos * 10 + fraction[..length].get(place).map_or(0, |d| (d - b'0') as u32);
        }
        rest = &fraction[length..];
    }
    date.zone = zone(rest)?;
    if minute > 59 || second > 59 || hour > 24 {
        return None;
    }
    if hour == 24 {
        if minute != 0 || second != 0 || beyond {
            return None;
        }
        return Some(DateTime { date: Date::from_days(date.days() + 1, date.zone), hour: 0, minute: 0, second: 0, nanos: 0 });
    }
    Some(DateTime { date, hour: hour as u8, minute: minute as u8, second: second as u8, nanos })
}
