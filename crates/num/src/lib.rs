//! Numbers without Ruby: big integers, decimal conversion of floats, parsing and formatting.
//!
//! Everything here is a pure function of its arguments (but for [`random::os_bytes`]); nothing
//! knows about objects, exceptions or encodings. A result that could be larger than memory is
//! announced before it is computed ([`big::pow_bits`], `Err(TooLarge)`), so that callers raise
//! instead of aborting.

pub mod big;
mod big_bits;
pub mod cost;
pub mod float;
pub mod format;
pub mod int;
pub mod math;
mod near_tie;
pub mod parse;
pub mod random;
pub mod round;

pub use big::BigInt;

/// The result would need more than [`big::MAX_BITS`] bits, or more than 2^31-1 bytes of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("number too big")
    }
}

impl std::error::Error for TooLarge {}
