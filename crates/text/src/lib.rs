//! Text without Ruby: pure functions over bytes and the encoding they carry.
//!
//! - [`encoding`]: the encoding table, characters, code ranges
//! - [`single`]: single-byte code charts
//! - [`case`]: upper, lower, title case, folding
//! - [`transcode`]: conversion between encodings, scrub

pub mod case;
pub mod encoding;
pub mod single;
pub mod transcode;

pub use encoding::{CharLen, CodeRange, Ctype, EncIndex};
