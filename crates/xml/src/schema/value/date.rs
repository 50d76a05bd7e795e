//! Dates and times.
//!
//! `YYYY-MM-DD`, as most dates are written, is read as one word of eight digits; years of more digits, zones and times by the
//! rules as they are written.

use super::number::eight_digits;
use super::{ValueError, refuse, trim};

/// A day of the proleptic Gregorian calendar, and the zone that was given with it. Year 0 is 1 BC, as in XML Schema 1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    /// The year.
    pub year: i32,
    /// From 1.
    pub month: u8,
    /// From 1.
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
    /// The day, and the zone.
    pub date: Date,
    /// From 0 to 23.
    pub hour: u8,
    /// From 0 to 59.
    pub minute: u8,
    /// From 0 to 59.
    pub second: u8,
    /// Nanoseconds of the second. Digits beyond the ninth are dropped.
    pub nanos: u32,
}

impl DateTime {
    /// Seconds since 1970-01-01T00:00:00Z; a time without a zone is taken to be in UTC.
    pub fn seconds(&self) -> i64 {
        let local = self.date.days() * 86_400 + self.hour as i64 * 3600 + self.minute as i64 * 60 + self.second as i64;
        local - self.date.zone.unwrap_or(0) as i64 * 60
    }
}

const NO_DAY: &str = "there is no such day";
const DATE: &str = "a date (YYYY-MM-DD)";
const DATE_TIME: &str = "a date and time (YYYY-MM-DDThh:mm:ss)";

/// An `xs:date`, with or without a zone.
///
/// # Errors
/// The text is no such value: what is wrong with it.
#[inline(always)]
pub fn date(text: &[u8]) -> Result<Date, ValueError> {
    match short_date(text) {
        Some(date) => Ok(date),
        None => long_date(text),
    }
}

/// Exactly `YYYY-MM-DD`.
#[inline(always)]
fn short_date(text: &[u8]) -> Option<Date> {
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
///
/// # Errors
/// The text is no such value: what is wrong with it.
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
