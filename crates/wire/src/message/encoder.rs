//! Fields, written one after another.

use super::KEY_MAX;

/// Appends fields to a buffer of the caller's.
///
/// ```
/// use kumi_wire::{Decoder, Encoder};
/// let mut out = Vec::new();
/// Encoder::new(&mut out).number(300).key("jobs").flag(true);
/// let mut fields = Decoder::new(&out);
/// assert_eq!((fields.number()?, fields.key()?, fields.flag()?), (300, "jobs", true));
/// fields.finish()?;
/// # Ok::<(), kumi_wire::WireError>(())
/// ```
pub struct Encoder<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Encoder<'a> {
    /// Appends to what stands in `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Encoder { out }
    }

    /// One byte.
    pub fn byte(&mut self, byte: u8) -> &mut Self {
        self.out.push(byte);
        self
    }

    /// One byte, 0 or 1.
    pub fn flag(&mut self, flag: bool) -> &mut Self {
        self.byte(flag.into())
    }

    /// A number in groups of seven bits, the lowest first: one byte below 128, ten at most.
    pub fn number(&mut self, mut n: u64) -> &mut Self {
        while n >= 0x80 {
            self.out.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.byte(n as u8)
    }

    /// A number with a sign: small ones of both signs are short.
    pub fn signed(&mut self, n: i64) -> &mut Self {
        self.number((n << 1 ^ n >> 63) as u64)
    }

    /// A number that may be missing: 0, or one more than it is.
    ///
    /// # Panics
    /// If it is `u64::MAX`, which has no successor.
    pub fn maybe(&mut self, n: Option<u64>) -> &mut Self {
        self.number(n.map_or(0, |n| n.checked_add(1).expect("a number below u64::MAX")))
    }

    /// Eight bytes, the highest first: what is random or always large.
    pub fn fixed(&mut self, n: u64) -> &mut Self {
        self.out.extend_from_slice(&n.to_be_bytes());
        self
    }

    /// A length and as many bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.rest(bytes)
    }

    /// A length and as many bytes of UTF-8.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// A key.
    ///
    /// # Panics
    /// If it is empty or longer than [`KEY_MAX`]: keys are checked where they are made.
    pub fn key(&mut self, key: &str) -> &mut Self {
        assert!(!key.is_empty() && key.len() <= KEY_MAX, "a key of 1 to {KEY_MAX} bytes, not of {}", key.len());
        self.text(key)
    }

    /// Bytes without their length, which the message's own gives: the last field.
    pub fn rest(&mut self, bytes: &[u8]) -> &mut Self {
        self.out.extend_from_slice(bytes);
        self
    }
}
