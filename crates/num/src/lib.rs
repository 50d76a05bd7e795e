//! Numbers without Ruby: big integers, decimal conversion of floats, parsing and formatting, as Ruby defines them to the last bit.
//!
//! Numeric classes, `sprintf`, `Random` and the compiler's literals of the Kumihimo runtime are made of this; a program that wants
//! floor division, integers of any size or Ruby's rounding in Rust may use it alone.
//!
//! ```
//! use kumi_num::{BigInt, TooLarge, float, float::Rounding, format, int::Int, parse, random::Mt, round};
//!
//! // Reading: lenient as `to_i` is, or strict as `Integer()`.
//! assert_eq!(parse::integer(b"1_000 apples", 10, false), Some(Int::Small(1000)));
//! assert_eq!(parse::integer(b"1_000 apples", 10, true), None);
//! let n = parse::integer(b"0x1_0000_0000_0000_0000", 16, true).map(|n| n.to_big()).unwrap_or_default();
//!
//! // Calculating: division floors, and what would not fit into memory is refused before it is begun.
//! let (quotient, rest) = n.neg().div_mod(&BigInt::from_i64(1000)).expect("no zero");
//! assert_eq!((quotient.to_string().as_str(), rest.to_i64()), ("-18446744073709552", Some(384)));
//! assert_eq!(n.pow(1 << 40), Err(TooLarge));
//!
//! // Writing: the shortest decimal that reads back, rounding that looks at the digits, `sprintf`.
//! assert_eq!(float::to_s(0.1 + 0.2), "0.30000000000000004");
//! assert_eq!(round::to_places(5.015, 2, Rounding::HalfUp), 5.02);
//! let spec = format::Spec { width: 12, precision: Some(2), ..format::Spec::default() };
//! assert_eq!(format::float(&spec, b'f', 2.5)?, "        2.50");
//!
//! // The numbers that `Random.new(42)` gives in CRuby.
//! assert_eq!(Mt::new(&BigInt::from_i64(42)).below(&Int::Small(100)), Some(Int::Small(51)));
//! # Ok::<(), TooLarge>(())
//! ```
//!
//! Everything here is a pure function of its arguments (but for [`random::os_bytes`] and [`random::new_seed`]); nothing
//! knows about objects, exceptions or encodings. A result that could be larger than memory is
//! announced before it is computed ([`big::pow_bits`], `Err(TooLarge)`), so that callers raise
//! instead of aborting. Where the process's memory is bounded ([`kumi_budget`]) a large result may be refused by unwinding.
//!
//! # What is where
//! - [`big`]: [`BigInt`]; [`cost`]: how long its operations take
//! - [`int`]: the same operations on words, and [`int::Int`], one or the other
//! - [`float`], [`round`], [`math`]: floats in decimal, rounding to digits, special functions
//! - [`parse`], [`mod@format`]: from text and to text
//! - [`random`]: the Mersenne Twister

#![forbid(unsafe_code)]
#![deny(missing_docs)]

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
