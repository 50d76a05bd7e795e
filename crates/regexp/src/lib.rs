//! Regular expressions without Ruby: Oniguruma with Ruby's syntax, bounded.
//!
//! - [`source`]: from pattern text to what CRuby hands its engine (escapes, encoding)
//! - [`adapt`]: what Onigmo reads differently from Oniguruma, rewritten
//! - [`complaints`]: what is said with `-w` of a pattern
//! - [`engine`]: the safe door to the C library
//! - `memo`: a matcher in linear time, for where the engine would take exponential time
//! - [`regex`]: [`Regex`], compiled once per encoding it is asked to search
//! - [`show`]: `escape`, `to_s`, `inspect`, `union`, and questions about the pattern text

pub mod adapt;
pub mod complaints;
pub mod engine;
mod memo;
pub mod regex;
pub mod show;
pub mod source;

pub use engine::{Limits, SearchError};
pub use regex::{Options, Regex, RegexError, Region, Subject};
pub use show::{escape, inspect, to_s};
