//! Fields, read one after another.

use super::KEY_MAX;
use crate::error::WireError;

/// Reads what [`Encoder`](super::Encoder) wrote. What it gives is borrowed from the bytes; it allocates nothing.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Decoder<'a> {
    /// Reads from the first of `bytes` on.
    pub fn new(bytes: &'a [u8]) -> Self {
        Decoder { bytes, at: 0 }
    }

    /// The offset of the next field.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Whether all was read.
    pub fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// As many bytes as that.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], WireError> {
        let end = self.at.checked_add(n).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or(WireError::malformed("the bytes end before their field", self.at))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8, WireError> {
        Ok(self.take(1)?[0])
    }

    /// One byte, 0 or 1.
    pub fn flag(&mut self) -> Result<bool, WireError> {
        let at = self.at;
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(WireError::malformed("a flag that is neither 0 nor 1", at)),
        }
    }

    /// A number.
    pub fn number(&mut self) -> Result<u64, WireError> {
        let at = self.at;
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            n |= bits << shift;
            if byte < 0x80 {
                if byte == 0 && shift > 0 || bits << shift >> shift != bits {
                    break;
                }
                return Ok(n);
            }
        }
        Err(WireError::malformed("a number that is longer than it need be", at))
    }

    /// A number that must not be larger than `most`, such as a count.
    pub fn number_to(&mut self, most: u64) -> Result<u64, WireError> {
        let at = self.at;
        self.number().and_then(|n| if n <= most { Ok(n) } else { Err(WireError::malformed("a number that is too large", at)) })
    }

    /// A number with a sign.
    pub fn signed(&mut self) -> Result<i64, WireError> {
        self.number().map(|n| (n >> 1) as i64 ^ -((n & 1) as i64))
    }

    /// A number that may be missing.
    pub fn maybe(&mut self) -> Result<Option<u64>, WireError> {
        self.number().map(|n| n.checked_sub(1))
    }

    /// Eight bytes.
    pub fn fixed(&mut self) -> Result<u64, WireError> {
        let bytes = self.take(8)?;
        Ok(bytes.iter().fold(0, |n, &b| n << 8 | u64::from(b)))
    }

    /// A length and as many bytes, `most` at most.
    pub fn bytes(&mut self, most: usize) -> Result<&'a [u8], WireError> {
        let at = self.at;
        let n = self.number()?;
        if n > most as u64 {
            return Err(WireError::malformed("a byte string that is too long", at));
        }
        self.take(n as usize)
    }

    /// A length and as many bytes of UTF-8, `most` at most.
    pub fn text(&mut self, most: usize) -> Result<&'a str, WireError> {
        let at = self.at;
        std::str::from_utf8(self.bytes(most)?).map_err(|_| WireError::malformed("a text that is no UTF-8", at))
    }

    /// A key: 1 to [`KEY_MAX`] bytes of UTF-8.
    pub fn key(&mut self) -> Result<&'a str, WireError> {
        let at = self.at;
        let key = self.text(KEY_MAX)?;
        if key.is_empty() { Err(WireError::malformed("an empty key", at)) } else { Ok(key) }
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }

    /// Nothing must be left. Who lets newer peers append fields does not call this.
    pub fn finish(&self) -> Result<(), WireError> {
        if self.is_empty() { Ok(()) } else { Err(WireError::malformed("bytes after the last field", self.at)) }
    }
}
