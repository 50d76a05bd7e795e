//! Text without Ruby: pure functions over bytes and the encoding they carry.
//!
//! - [`encoding`]: the encoding table, characters, code ranges
//! - [`single`]: single-byte code charts

pub mod encoding;
pub mod single;

pub use encoding::{CharLen, CodeRange, Ctype, EncIndex};
