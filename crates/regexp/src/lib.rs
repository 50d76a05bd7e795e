//! Regular expressions without Ruby: Oniguruma with Ruby's syntax, bounded.
//!
//! A [`Regex`] reads a pattern as CRuby 4.0 does, with its options, encodings and messages, and searches bytes in any encoding of
//! [`kumi_text`]. A search can be given a time and a number of steps ([`Limits`]). Patterns that allow it are searched in linear time
//! where the engine would take exponential time. The classes Regexp and StringScanner of the Kumihimo runtime are made of this;
//! a program that wants Ruby's dialect from Rust may use it alone.
//!
//! ```
//! use kumi_regexp::{Limits, Options, Regex, Region, SearchError, Subject};
//! use kumi_text::EncIndex;
//! use std::time::{Duration, Instant};
//!
//! let date = Regex::new(br"(?<year>\d{4})-(?<month>\d\d)", Options::default(), EncIndex::UTF_8)?;
//! let text = Subject::new("erschienen 2026-11, Kyōto".as_bytes(), EncIndex::UTF_8);
//! let mut groups = Region::new();
//! assert_eq!(date.search(&text, 0, Limits::default(), &mut groups)?, Some(11)); // bytes, not characters
//! let year = date.name_to_backref(b"year", &groups).and_then(|group| groups.get(group));
//! assert_eq!(year, Some(11..15));
//!
//! // No text makes it run on for ever.
//! let nested = Regex::new(br"\A(a|a)*\1\z", Options::default(), EncIndex::UTF_8)?;
//! let hostile = Subject::new(b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", EncIndex::UTF_8);
//! let soon = Limits { deadline: Some(Instant::now() + Duration::from_millis(20)), ..Limits::default() };
//! assert_eq!(nested.search(&hostile, 0, soon, &mut groups), Err(SearchError::Timeout));
//!
//! let error = Regex::new(b"a)", Options::default(), EncIndex::UTF_8).unwrap_err();
//! assert_eq!(error.to_string(), "unmatched close parenthesis: /a)/");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is where
//! - [`regex`]: [`Regex`], compiled once per encoding it is asked to search
//! - [`show`]: `escape`, `to_s`, `inspect`, `union`, and questions about the pattern text
//! - [`complaints`]: what is said with `-w` of a pattern
//! - `source`: from pattern text to what CRuby hands its engine (escapes, encoding)
//! - `adapt`: what Onigmo reads differently from Oniguruma, rewritten
//! - `engine`: the door to the C library
//! - `memo`: a matcher in linear time, for where the engine would take exponential time
//! - `memo::first`: what a match may begin with

#![deny(missing_docs)]

mod adapt;
pub mod complaints;
mod engine;
mod memo;
pub mod regex;
pub mod show;
mod source;

pub use engine::{Limits, SearchError};
pub use regex::{Options, Regex, RegexError, Region, Subject};
pub use show::{escape, inspect, to_s};
