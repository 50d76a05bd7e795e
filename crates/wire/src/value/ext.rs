//! Extension types: their numbers, and what is in their bytes.

use crate::error::WireError;
use crate::message::Decoder;

pub const SYMBOL: i8 = 1;
pub const SYMBOL_IN: i8 = 2;
pub const BIG: i8 = 3;
pub const STRING_IN: i8 = 4;
pub const TIME: i8 = 5;
/// The type of a reference, which only its message's receiver understands: [`Writer::unknown`](super::Writer::unknown) writes it.
pub const REFERENCE: i8 = 6;
pub const TAG: i8 = 16;
pub const RECORD: i8 = 17;
pub const NAMES: i8 = 18;

pub const TAG_RANGE: u8 = 1;
pub const TAG_RANGE_EXCLUSIVE: u8 = 2;
pub const TAG_SET: u8 = 3;
pub const TAG_RATIONAL: u8 = 4;
pub const TAG_COMPLEX: u8 = 5;
pub const TAG_DEFAULT: u8 = 6;
pub const TAG_IDENTITY: u8 = 7;
pub const TAG_FINE_TIME: u8 = 8;

/// An integer beyond 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Big<'a> {
    /// Whether it is below zero.
    pub negative: bool,
    /// Its magnitude, highest byte first; the first is not 0.
    pub magnitude: &'a [u8],
}

/// A point in time, and how it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time<'a> {
    /// Since the beginning of 1970 in UTC.
    pub seconds: i64,
    /// Below 10⁹.
    pub nanoseconds: u32,
    /// Where.
    pub zone: Zone<'a>,
}

/// Where a time is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone<'a> {
    /// UTC.
    Utc,
    /// So many seconds east of Greenwich.
    Offset(i32),
    /// A zone by its name, and the seconds east of Greenwich at that time, for who does not know the name.
    Named {
        /// As `Europe/Berlin`.
        name: &'a str,
        /// Seconds east of Greenwich.
        offset: i32,
    },
}

impl<'a> Big<'a> {
    pub(super) fn decode(bytes: &'a [u8], at: usize) -> Result<Self, WireError> {
        match bytes {
            [sign @ (0 | 1), magnitude @ ..] if magnitude.first().is_some_and(|&b| b != 0) => Ok(Big { negative: *sign == 1, magnitude }),
            _ => Err(WireError::malformed("a big integer that is none", at)),
        }
    }
}

impl<'a> Time<'a> {
    pub(super) fn decode(bytes: &'a [u8], at: usize) -> Result<Self, WireError> {
        let wrong = |_| WireError::malformed("a time that is none", at);
        let mut fields = Decoder::new(bytes);
        let seconds = fields.fixed().map_err(wrong)? as i64;
        let nanoseconds = u32_of(&mut fields).map_err(wrong)?;
        let zone = match fields.byte().map_err(wrong)? {
            0 => Zone::Utc,
            1 => Zone::Offset(u32_of(&mut fields).map_err(wrong)? as i32),
            2 => {
                let offset = u32_of(&mut fields).map_err(wrong)? as i32;
                let name = std::str::from_utf8(fields.rest()).map_err(|_| WireError::malformed("a zone's name that is no UTF-8", at))?;
                Zone::Named { name, offset }
            }
            _ => return Err(WireError::malformed("a time that is none", at)),
        };
        // A day and more is no offset, and Ruby refuses it as well.
        let offset = match zone {
            Zone::Utc => 0,
            Zone::Offset(offset) | Zone::Named { offset, .. } => offset,
        };
        if nanoseconds >= 1_000_000_000 || offset.unsigned_abs() >= 86_400 || !fields.is_empty() {
            return Err(WireError::malformed("a time that is none", at));
        }
        Ok(Time { seconds, nanoseconds, zone })
    }
}

fn u32_of(fields: &mut Decoder) -> Result<u32, WireError> {
    Ok(fields.take(4)?.iter().fold(0, |n, &b| n << 8 | u32::from(b)))
}

/// An encoding's name, and the bytes.
pub(super) fn decode_encoded(bytes: &[u8], at: usize) -> Result<(&str, &[u8]), WireError> {
    let wrong = WireError::malformed("a string whose encoding has no name", at);
    let Some((&n, rest)) = bytes.split_first() else { return Err(wrong) };
    let n = usize::from(n);
    if n == 0 || rest.len() < n || !rest[..n].is_ascii() {
        return Err(wrong);
    }
    let name = std::str::from_utf8(&rest[..n]).map_err(|_| wrong)?;
    Ok((name, &rest[n..]))
}
