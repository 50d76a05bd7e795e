//! Of what a crate above makes its requests: variable-length numbers, byte strings, keys.
//!
//! A request is fields in a fixed order, without names: who changes the order changes the protocol's version. What grows later is
//! appended, and a [`Decoder`] that knows less leaves the rest unread.
//!
//! **Invariant.** A number has one encoding only, its shortest. So equal requests are equal bytes, and may be compared and recorded.

mod decoder;
mod encoder;

pub use decoder::Decoder;
pub use encoder::Encoder;

/// The longest key, in bytes.
pub const KEY_MAX: usize = 1024;
