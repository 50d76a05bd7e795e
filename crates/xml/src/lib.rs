//! XML 1.0 (5th edition) with namespaces, pushed in pieces of any size.

pub mod error;
pub mod event;
pub mod limits;
pub mod tokenizer;

pub use error::{Error, ErrorKind, LimitKind, Position};
pub use event::{Attribute, Event, Name, Start};
pub use limits::Limits;
pub use tokenizer::{Lookahead, Options, Tokenizer};
