//! Packed rows: one bound element as plain bytes.
//!
//! A row is (all numbers little-endian, nothing aligned):
//!
//! ```text
//!  0  line      u32   of the element's start tag; from 1, u32::MAX when larger
//!  4  column    u32
//!  8  ordinal   u32   from 1: which element of its list (or of the rows of a path) it is; 1 outside lists
//! 12  fields    u16
//! 14  flags     u16   bit 0: only what the start tag says is there (a streaming element that was opened)
//! 16  ends      fields × u32: where each field ends, counted from the end of this table;
//!               the top bit says that the field is absent (and the rest where the field before it ends)
//! ..  bytes     the fields one after the other: UTF-8 text, or the row of a nested whole element
//! ```
//!
//! So a field begins where the one before it ends, and every field has at least 16 bytes of the row before it (which
//! lets [`value`] read eight bytes that end with a field's last without looking).
//!
//! A [`RowView`] checks its bytes once when it is made and then never panics, whatever they are.

use crate::schema::value::{self, Date, DateTime, Decimal, Integer, ValueError};

/// Bytes before the table of ends.
pub const HEADER: usize = 16;
/// The mark of an absent field in the table of ends.
pub(crate) const ABSENT: u32 = 1 << 31;
/// Flag: only what the start tag says is there.
pub const OPENED: u16 = 1;

/// A line or column as it stands in a row.
#[inline]
pub(crate) fn place(number: u64) -> u32 {
    number.min(u32::MAX as u64) as u32
}

/// What stands before the table of ends.
#[inline]
pub(crate) fn header(line: u32, column: u32, ordinal: u32, fields: usize, flags: u16) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[0..4].copy_from_slice(&line.to_le_bytes());
    header[4..8].copy_from_slice(&column.to_le_bytes());
    header[8..12].copy_from_slice(&ordinal.to_le_bytes());
    header[12..14].copy_from_slice(&(fields as u16).to_le_bytes());
    header[14..16].copy_from_slice(&flags.to_le_bytes());
    header
}

/// A packed row, read in place.
#[derive(Clone, Copy)]
pub struct RowView<'a> {
    bytes: &'a [u8],
    fields: usize,
}

impl<'a> RowView<'a> {
    /// The row that fills `bytes`; `None` when they are no row.
    pub fn new(bytes: &'a [u8]) -> Option<RowView<'a>> {
        let fields = u16::from_le_bytes(*bytes.get(12..14)?.first_chunk()?) as usize;
        let data = HEADER + 4 * fields;
        if bytes.len() < data {
            return None;
        }
        Some(RowView { bytes, fields })
    }

    /// A view of a row without fields.
    pub(crate) fn empty(bytes: &'a [u8]) -> RowView<'a> {
        RowView { bytes, fields: 0 }
    }

    /// The row as it is, to be kept elsewhere.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    #[inline]
    fn word(&self, at: usize) -> u32 {
        self.bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// The line of the start tag, from 1; `u32::MAX` when it is larger.
    pub fn line(&self) -> u32 {
        self.word(0)
    }

    /// The column of the start tag in characters, from 1; `u32::MAX` when it is larger.
    pub fn column(&self) -> u32 {
        self.word(4)
    }

    /// From 1: which element of its list it is.
    pub fn ordinal(&self) -> u32 {
        self.word(8)
    }

    /// How many fields its class has.
    pub fn fields(&self) -> usize {
        self.fields
    }

    /// Flags: [`OPENED`] or none.
    pub fn flags(&self) -> u16 {
        (self.word(12) >> 16) as u16
    }

    /// Where in [`bytes`](RowView::bytes) a field stands; `None` when it is absent or no such field is there.
    #[inline(always)]
    pub fn range(&self, field: usize) -> Option<(usize, usize)> {
        if field >= self.fields {
            return None;
        }
        // The word before the first end isn't an end: the fields and flags.
        let at = HEADER - 4 + 4 * field;
        let words = self.bytes.get(at..)?.first_chunk::<8>()?;
        let start = u32::from_le_bytes([words[0], words[1], words[2], words[3]]) & !ABSENT;
        let end = u32::from_le_bytes([words[4], words[5], words[6], words[7]]);
        if end & ABSENT != 0 {
            return None;
        }
        let data = HEADER + 4 * self.fields;
        let start = if field == 0 { data } else { data + start as usize };
        let end = data + end as usize;
        if start > end || end > self.bytes.len() { None } else { Some((start, end)) }
    }

    /// The bytes of a field; `None` when it is absent.
    #[inline(always)]
    pub fn field(&self, field: usize) -> Option<&'a [u8]> {
        let (start, end) = self.range(field)?;
        self.bytes.get(start..end)
    }

    /// The text of a field; `None` when it is absent (or not text, which no binder makes).
    pub fn text(&self, field: usize) -> Option<&'a str> {
        std::str::from_utf8(self.field(field)?).ok()
    }

    /// The nested element in a field of a class.
    pub fn nested(&self, field: usize) -> Option<RowView<'a>> {
        RowView::new(self.field(field)?)
    }

    /// The field as mantissa and scale when it is a plain decimal number of up to 16 characters. `None` says nothing:
    /// ask [`decimal`](RowView::decimal).
    #[inline(always)]
    pub fn plain_decimal(&self, field: usize) -> Option<(i64, u32)> {
        let (start, end) = self.range(field)?;
        value::plain_decimal(self.bytes, start, end)
    }

    /// The field as an integer, faster than by [`value::integer`] on its text; `None` when it is absent.
    #[inline(always)]
    pub fn integer(&self, field: usize) -> Option<Result<Integer<'a>, ValueError>> {
        let (start, end) = self.range(field)?;
        Some(value::integer_within(self.bytes, start, end))
    }

    /// The field as a decimal number, as [`value::decimal`] reads it; `None` when it is absent.
    #[inline(always)]
    pub fn decimal(&self, field: usize) -> Option<Result<Decimal<'a>, ValueError>> {
        let (start, end) = self.range(field)?;
        Some(value::decimal_within(self.bytes, start, end))
    }

    /// The field as a date, as [`value::date`] reads it; `None` when it is absent.
    #[inline(always)]
    pub fn date(&self, field: usize) -> Option<Result<Date, ValueError>> {
        self.field(field).map(value::date)
    }

    /// The field as a date with a time, as [`value::date_time`] reads it; `None` when it is absent.
    #[inline]
    pub fn date_time(&self, field: usize) -> Option<Result<DateTime, ValueError>> {
        self.field(field).map(value::date_time)
    }
}

impl std::fmt::Debug for RowView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Row(#{} at {}:{}", self.ordinal(), self.line(), self.column())?;
        for i in 0..self.fields {
            match self.field(i) {
                None => write!(f, ", -")?,
                Some(bytes) => write!(f, ", {:?}", String::from_utf8_lossy(bytes))?,
            }
        }
        f.write_str(")")
    }
}
