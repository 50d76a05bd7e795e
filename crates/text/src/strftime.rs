//! `strftime`: a time's fields as text.
//!
//! Invariant: every directive either consumes its whole spelling or is copied as it
//! stands; output length is bounded ([`MAX_WIDTH`] per directive).

use crate::civil;

/// The fields of a time in its own zone.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    /// Year, any.
    pub year: i64,
    /// 1 to 12
    pub month: u32,
    /// 1 to 31
    pub day: u32,
    /// 0 to 24
    pub hour: u32,
    /// 0 to 59
    pub min: u32,
    /// 0 to 60
    pub sec: u32,
    /// 0 to 999 999 999
    pub nsec: u32,
    /// Decimal digits behind the nanoseconds.
    pub beyond: &'a [u8],
    /// Seconds east of UTC.
    pub offset: i32,
    /// Zone name; empty if it has none.
    pub zone: &'a [u8],
    /// Seconds since 1970.
    pub epoch: i128,
    /// `Date` and `DateTime` know `%+` and `%Q`, and write `%Z` as an offset.
    pub date: bool,
}

impl Fields<'_> {
    fn wday(&self) -> u32 {
        civil::wday(civil::days_from_civil(self.year, self.month, self.day))
    }

    fn yday(&self) -> u32 {
        civil::yday(self.year, self.month, self.day)
    }
}

/// Why a format is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FormatError {
    /// `ArgumentError` "invalid format: ..."
    Invalid(Vec<u8>),
    /// `Errno::ERANGE` with the format
    Range(Vec<u8>),
}

/// The widest field that is written.
pub const MAX_WIDTH: usize = 1 << 26;

/// Full names of the months.
pub(crate) const MONTHS: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
/// Full names of the days.
pub(crate) const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

#[derive(Clone, Copy, Default)]
struct Flags {
    /// `Some(b'0')`, `Some(b' ')`.
    pad: Option<u8>,
    /// `-`: no padding.
    bare: bool,
    upper: bool,
    swap: bool,
    colons: u8,
    width: Option<usize>,
}

/// Formats `t` by `format`, whose ASCII bytes are directives.
///
/// # Errors
/// [`FormatError`].
pub fn strftime(format: &[u8], t: &Fields<'_>) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::with_capacity(format.len() * 3);
    run(format, t, &mut out)?;
    Ok(out)
}

fn run(format: &[u8], t: &Fields<'_>, out: &mut Vec<u8>) -> Result<(), FormatError> {
    let mut i = 0;
    while i < format.len() {
        let Some(at) = memchr::memchr(b'%', &format[i..]) else {
            out.extend_from_slice(&format[i..]);
            break;
        };
        out.extend_from_slice(&format[i..i + at]);
        let start = i + at;
        i = start + 1;
        let mut flags = Flags::default();
        let directive = loop {
            let Some(&c) = format.get(i) else {
                if flags.colons > 0 {
                    break None;
                }
                return Err(FormatError::Invalid(format.to_vec()));
            };
            i += 1;
            match c {
                b'-' => flags.bare = true,
                b'^' => flags.upper = true,
                b'#' => flags.swap = true,
                b'_' => flags.pad = Some(b' '),
                b'0' => flags.pad = Some(b'0'),
                b'1'..=b'9' => {
                    let mut width = (c - b'0') as usize;
                    while let Some(d @ b'0'..=b'9') = format.get(i) {
                        width = width.saturating_mul(10).saturating_add((d - b'0') as usize);
                        i += 1;
                    }
                    if width > MAX_WIDTH {
                        return Err(FormatError::Range(format.to_vec()));
                    }
                    flags.width = Some(width);
                }
                b':' => {
                    let n = format[i - 1..].iter().take_while(|&&b| b == b':').count();
                    if n > 3 || format.get(i - 1 + n) != Some(&b'z') {
                        break None;
                    }
                    flags.colons = n as u8;
                    i += n - 1;
                }
                b'E' => match format.get(i) {
                    Some(b'c' | b'C' | b'x' | b'X' | b'y' | b'Y') => {}
                    _ => break None,
                },
                b'O' => match format.get(i) {
                    Some(b'd' | b'e' | b'H' | b'k' | b'I' | b'l' | b'm' | b'M' | b'S' | b'u' | b'U' | b'V' | b'w' | b'W' | b'y') => {}
                    _ => break None,
                },
                _ => break Some(c),
            }
        };
        let known = match directive {
            Some(c) => one(c, flags, t, out)?,
            None => false,
        };
        if !known {
            out.extend_from_slice(&format[start..i]);
        }
    }
    Ok(())
}

/// Pads a number.
fn number(out: &mut Vec<u8>, value: i128, width: usize, pad: u8, flags: Flags) {
    let digits = value.unsigned_abs().to_string();
    let negative = value < 0;
    let width = flags.width.unwrap_or(width);
    let length = digits.len() + usize::from(negative);
    let missing = width.saturating_sub(length);
    match if flags.bare { 0 } else { flags.pad.unwrap_or(pad) } {
        0 => {
            if negative {
                out.push(b'-');
            }
        }
        b' ' => {
            out.resize(out.len() + missing, b' ');
            if negative {
                out.push(b'-');
            }
        }
        _ => {
            if negative {
                out.push(b'-');
            }
            out.resize(out.len() + missing, b'0');
        }
    }
    out.extend_from_slice(digits.as_bytes());
}

/// Pads and cases a text; `swapped` is what `#` makes of it.
fn text(out: &mut Vec<u8>, s: &[u8], swapped: fn(&u8) -> u8, flags: Flags) {
    if let Some(width) = flags.width
        && !flags.bare
        && width > s.len()
    {
        out.resize(out.len() + width - s.len(), flags.pad.unwrap_or(b' '));
    }
    if flags.swap {
        out.extend(s.iter().map(swapped));
    } else if flags.upper {
        out.extend(s.iter().map(u8::to_ascii_uppercase));
    } else {
        out.extend_from_slice(s);
    }
}

fn one(c: u8, flags: Flags, t: &Fields<'_>, out: &mut Vec<u8>) -> Result<bool, FormatError> {
    let mut num = |value: i128, width, pad| number(out, value, width, pad, flags);
    let hour12 = match t.hour % 12 {
        0 => 12,
        h => h,
    };
    let year_width = |y: i64| if y < 0 { 5 } else { 4 };
    match c {
        b'Y' => num(t.year as i128, year_width(t.year), b'0'),
        b'C' => num(t.year.div_euclid(100) as i128, 2, b'0'),
        b'y' => num(t.year.rem_euclid(100) as i128, 2, b'0'),
        b'm' => num(t.month as i128, 2, b'0'),
        b'd' => num(t.day as i128, 2, b'0'),
        b'e' => num(t.day as i128, 2, b' '),
        b'j' => num(t.yday() as i128, 3, b'0'),
        b'H' => num(t.hour as i128, 2, b'0'),
        b'k' => num(t.hour as i128, 2, b' '),
        b'I' => num(hour12 as i128, 2, b'0'),
        b'l' => num(hour12 as i128, 2, b' '),
        b'M' => num(t.min as i128, 2, b'0'),
        b'S' => num(t.sec as i128, 2, b'0'),
        b'u' => num(if t.wday() == 0 { 7 } else { t.wday() as i128 }, 1, b'0'),
        b'w' => num(t.wday() as i128, 1, b'0'),
        b's' => num(t.epoch, 1, b'0'),
        b'Q' if t.date => num(t.epoch * 1000 + (t.nsec / 1_000_000) as i128, 1, b'0'),
        b'G' => {
            let year = civil::iso_week(t.year, t.wday(), t.yday()).0;
            num(year as i128, year_width(year), b'0');
        }
        b'g' => num(civil::iso_week(t.year, t.wday(), t.yday()).0.rem_euclid(100) as i128, 2, b'0'),
        b'V' => num(civil::iso_week(t.year, t.wday(), t.yday()).1 as i128, 2, b'0'),
        b'U' => num(((t.yday() + 6 - t.wday()) / 7) as i128, 2, b'0'),
        b'W' => num(((t.yday() + 6 - (t.wday() + 6) % 7) / 7) as i128, 2, b'0'),
        b'L' | b'N' => {
            let width = flags.width.unwrap_or(if c == b'L' { 3 } else { 9 });
            let mut digits = format!("{:09}", t.nsec).into_bytes();
            digits.extend_from_slice(t.beyond);
            digits.resize(width, b'0');
            out.extend_from_slice(&digits);
        }
        b'B' => text(out, month(t).as_bytes(), u8::to_ascii_uppercase, flags),
        b'b' | b'h' => text(out, &month(t).as_bytes()[..3], u8::to_ascii_uppercase, flags),
        b'A' => text(out, DAYS[t.wday() as usize].as_bytes(), u8::to_ascii_uppercase, flags),
        b'a' => text(out, &DAYS[t.wday() as usize].as_bytes()[..3], u8::to_ascii_uppercase, flags),
        b'p' => text(out, if t.hour < 12 { b"AM" } else { b"PM" }, u8::to_ascii_lowercase, flags),
        b'P' => text(out, if t.hour < 12 { b"am" } else { b"pm" }, u8::to_ascii_lowercase, flags),
        b'Z' if t.date => zone(out, t, Flags { colons: 1, ..flags }),
        b'Z' => text(out, t.zone, u8::to_ascii_lowercase, flags),
        b'z' => zone(out, t, flags),
        b'n' => text(out, b"\n", u8::to_ascii_uppercase, flags),
        b't' => text(out, b"\t", u8::to_ascii_uppercase, flags),
        b'%' => text(out, b"%", u8::to_ascii_uppercase, flags),
        _ => {
            let format: &[u8] = match c {
                b'c' => b"%a %b %e %H:%M:%S %Y",
                b'D' | b'x' => b"%m/%d/%y",
                b'F' => b"%Y-%m-%d",
                b'v' => b"%e-%^b-%4Y",
                b'X' | b'T' => b"%H:%M:%S",
                b'r' => b"%I:%M:%S %p",
                b'R' => b"%H:%M",
                b'+' if t.date => b"%a %b %e %H:%M:%S %Z %Y",
                _ => return Ok(false),
            };
            let mut part = Vec::new();
            run(format, t, &mut part)?;
            text(out, &part, u8::to_ascii_uppercase, flags);
        }
    }
    Ok(true)
}

fn month(t: &Fields<'_>) -> &'static str {
    MONTHS[(t.month.clamp(1, 12) - 1) as usize]
}

/// `%z` and its forms with colons.
fn zone(out: &mut Vec<u8>, t: &Fields<'_>, flags: Flags) {
    let offset = t.offset;
    // RFC 3339 has -0000 for UTC where the local time is unknown.
    let unknown = flags.bare && offset == 0 && t.zone == b"UTC" && !t.date;
    let sign = if offset < 0 || unknown { '-' } else { '+' };
    let off = offset.unsigned_abs();
    let (h, m, s) = (off / 3600, off / 60 % 60, off % 60);
    let tail = match flags.colons {
        0 => format!("{m:02}"),
        1 => format!(":{m:02}"),
        2 => format!(":{m:02}:{s:02}"),
        _ if s != 0 => format!(":{m:02}:{s:02}"),
        _ if m != 0 => format!(":{m:02}"),
        _ => String::new(),
    };
    let width = flags.width.unwrap_or(0).max(3 + tail.len()) - tail.len();
    let head = if flags.pad == Some(b' ') {
        format!("{:>width$}", format!("{sign}{h}"))
    } else {
        format!("{sign}{h:0>digits$}", digits = width - 1)
    };
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(tail.as_bytes());
}
