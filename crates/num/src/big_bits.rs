//! Bits and bytes of [`BigInt`]: shifts, logic, tests and the two's complement encoding.
//!
//! Invariant: negatives behave as an infinite two's complement, sign bits reaching up for ever.

use dashu_int::{IBig, Sign as DSign, UBig};
use kumi_budget::Grow;

use crate::TooLarge;
use crate::big::{BigInt, MAX_BITS};

impl BigInt {
    /// `self << n`.
    ///
    /// # Errors
    /// [`TooLarge`] if the result had more than [`MAX_BITS`] bits.
    pub fn shl(&self, n: u64) -> Result<BigInt, TooLarge> {
        if self.is_zero() {
            return Ok(BigInt::ZERO);
        }
        match self.magnitude_bits().checked_add(n) {
            Some(b) if b <= MAX_BITS => {
                let bytes = (b / 8) as usize;
                kumi_budget::ask(bytes);
                let shifted = || BigInt(&self.0 << n as usize);
                Ok(if bytes < kumi_budget::LARGE { shifted() } else { kumi_budget::asking(shifted) })
            }
            _ => Err(TooLarge),
        }
    }

    /// `self >> n`, rounding towards negative infinity.
    pub fn shr(&self, n: u64) -> BigInt {
        if n >= self.magnitude_bits() {
            return BigInt::from_i64(if self.is_negative() { -1 } else { 0 });
        }
        if !self.is_negative() {
            return BigInt(&self.0 >> n as usize);
        }
        // floor(x / 2**n) = !(!x >> n) for negative x.
        self.not().shr(n).not()
    }

    /// `self & other`.
    pub fn and(&self, other: &BigInt) -> BigInt {
        BigInt(&self.0 & &other.0)
    }

    /// `self | other`.
    pub fn or(&self, other: &BigInt) -> BigInt {
        BigInt(&self.0 | &other.0)
    }

    /// `self ^ other`.
    pub fn xor(&self, other: &BigInt) -> BigInt {
        BigInt(&self.0 ^ &other.0)
    }

    /// `~self`.
    pub fn not(&self) -> BigInt {
        BigInt(-&self.0 - 1)
    }

    /// Bit `i` of the two's complement (`Integer#[]`).
    pub fn bit(&self, i: u64) -> bool {
        if i >= self.magnitude_bits() {
            return self.is_negative();
        }
        if !self.is_negative() {
            return self.magnitude_bit(i);
        }
        // Negation keeps the bits up to the lowest set one and inverts those above it.
        let (_, words) = self.0.as_sign_words();
        let (w, b) = ((i / 64) as usize, i % 64);
        let raw = words.get(w).copied().unwrap_or(0);
        let borrow = words[..w.min(words.len())].iter().all(|&x| x == 0);
        let word = if borrow { raw.wrapping_neg() } else { !raw };
        word >> b & 1 == 1
    }

    /// Bits needed without the sign bit (`Integer#bit_length`).
    pub fn bit_length(&self) -> u64 {
        let bits = self.magnitude_bits();
        if !self.is_negative() {
            return bits;
        }
        // -2**k needs one bit less than its magnitude.
        let (_, words) = self.0.as_sign_words();
        let power_of_two = match words.split_last() {
            Some((hi, rest)) => hi.is_power_of_two() && rest.iter().all(|&w| w == 0),
            None => false,
        };
        bits - power_of_two as u64
    }

    /// Zero bits below the lowest set bit; `None` for zero.
    pub fn trailing_zeros(&self) -> Option<u64> {
        let (_, words) = self.0.as_sign_words();
        let i = words.iter().position(|&w| w != 0)?;
        Some(i as u64 * 64 + words[i].trailing_zeros() as u64)
    }

    /// The low `len` bytes of the two's complement, little-endian.
    pub(crate) fn to_le_bytes_len(&self, len: usize) -> Vec<u8> {
        let (sign, words) = self.0.as_sign_words();
        let neg = sign == DSign::Negative;
        let mut out = Vec::room(len + 8);
        let mut carry = true;
        for &w in words {
            if out.len() >= len {
                break;
            }
            let v = if neg {
                let (v, c) = (!w).overflowing_add(carry as u64);
                carry = c;
                v
            } else {
                w
            };
            out.extend_from_slice(&v.to_le_bytes());
        }
        out.resize(len, if neg { 0xff } else { 0 });
        out
    }

    /// The shortest two's complement with a sign bit, little-endian; empty for zero.
    pub fn to_le_bytes(&self) -> Vec<u8> {
        if self.is_zero() {
            return Vec::new();
        }
        self.to_le_bytes_len((self.bit_length() / 8) as usize + 1)
    }

    /// From a little-endian two's complement (`signed`) or magnitude.
    pub fn from_le_bytes(bytes: &[u8], signed: bool) -> BigInt {
        let u = UBig::from_le_bytes(bytes);
        let neg = signed && bytes.last().is_some_and(|b| b & 0x80 != 0);
        if neg {
            return BigInt(IBig::from(u) - (IBig::ONE << (bytes.len() * 8)));
        }
        BigInt(IBig::from(u))
    }

    /// The magnitude as 32-bit words, least significant first (what seeds a generator).
    pub(crate) fn magnitude_u32s(&self) -> Vec<u32> {
        let (_, words) = self.0.as_sign_words();
        let mut out: Vec<u32> = words.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]).collect();
        while out.last() == Some(&0) {
            out.pop();
        }
        out
    }

    /// From a sign and 32-bit words, least significant first.
    pub fn from_u32s(negative: bool, words: &[u32]) -> BigInt {
        let join = |p: &[u32]| p[0] as u64 | (p.get(1).copied().unwrap_or(0) as u64) << 32;
        let words: Vec<u64> = words.chunks(2).map(join).collect();
        let sign = if negative { DSign::Negative } else { DSign::Positive };
        BigInt(IBig::from_parts(sign, UBig::from_words(&words)))
    }
}
