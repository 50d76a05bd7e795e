//! Text without Ruby: pure functions over bytes and the encoding they carry.
//!
//! - [`encoding`]: the encoding table, characters, code ranges; single-byte code charts
//! - [`case`]: upper, lower, title case, folding
//! - [`transcode`]: conversion between encodings, scrub
//! - [`escape`]: inspect, dump, undump, symbols
//! - [`trset`]: the character sets of `tr` and its like
//! - [`succ`]: the next string
//! - [`strsearch`]: find, sum, normalise, graphemes
//! - [`hash`]: of bytes, under a seed
//! - [`pack`]: templates and values of `pack` and `unpack`
//! - [`civil`], [`strftime`], [`timezone`]: dates, their text, the local zone

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod case;
pub mod civil;
pub mod encoding;
pub mod escape;
pub mod hash;
pub mod pack;
pub mod strftime;
pub mod strsearch;
pub mod succ;
pub mod timezone;
pub mod transcode;
pub mod trset;

pub use encoding::{CharLen, CodeRange, Ctype, EncIndex};
pub use hash::hash_bytes;
