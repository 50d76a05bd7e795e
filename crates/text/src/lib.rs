//! Text without Ruby: pure functions over bytes and the encoding they carry.
//!
//! String, Symbol, Time and the encodings of the Kumihimo runtime are made of this. A program that must treat text as Ruby does (broken
//! bytes kept, some hundred encodings, Ruby's case mapping, `tr` and `pack`) may use it alone.
//!
//! ```
//! use kumi_text::case::{self, CaseOp, CaseOptions};
//! use kumi_text::{CodeRange, EncIndex, escape, pack, succ, transcode, trset};
//!
//! // Characters are counted in the text's own encoding, and broken bytes are characters too.
//! let text = "stra\u{df}e".as_bytes();
//! assert_eq!(EncIndex::UTF_8.char_count(text, CodeRange::Unknown), 6);
//! assert_eq!(EncIndex::UTF_8.scan(b"a\xFF"), CodeRange::Broken);
//! assert_eq!(escape::inspect(b"a\xFF\n", EncIndex::UTF_8, EncIndex::UTF_8), br#""a\xFF\n""#);
//!
//! let upper = case::map(text, EncIndex::UTF_8, CaseOp::Upcase, CaseOptions::default());
//! assert_eq!(upper.ok().flatten().as_deref(), Some(&b"STRASSE"[..]));
//! let latin = transcode::encode(text, EncIndex::UTF_8, EncIndex::ISO_8859_1, transcode::Options::default());
//! assert_eq!(latin.ok().as_deref(), Some(&b"stra\xDFe"[..]));
//!
//! // `tr`, `succ` and `unpack`.
//! assert_eq!(trset::tr(b"hello", EncIndex::UTF_8, b"a-y", b"b-z", false), Ok(Some(b"ifmmp".to_vec())));
//! assert_eq!(succ::succ(b"az9", EncIndex::UTF_8), b"ba0");
//! assert_eq!(pack::get_base64(b"S3lvdG8=", true).as_deref(), Ok(&b"Kyoto"[..]));
//! ```
//!
//! # What is where
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
