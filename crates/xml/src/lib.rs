//! XML 1.0 (5th edition) with namespaces, pushed in pieces of any size.

pub mod bind;
mod chars;
mod content;
mod cursor;
mod doctype;
mod dtd;
mod encoding;
pub mod error;
pub mod event;
mod input;
pub mod limits;
mod lines;
mod namespaces;
mod open;
mod prolog;
pub mod row;
#[doc(hidden)]
pub mod scan;
pub mod schema;
mod tag;
pub mod tokenizer;
pub mod value;

pub use bind::{Batch, BindError, BindErrorKind, BindLimits, BindOptions, Binder, ByteRange, Item, Limit, Progress, RowRef};
pub use error::{Error, ErrorKind, LimitKind, Position};
pub use event::{Attribute, Event, Name, Start};
pub use limits::Limits;
pub use row::RowView;
pub use schema::{Card, Class, ClassId, Field, Kind, NameTest, OuterWhat, Place, Root, Schema, SchemaBuilder, SchemaError, Step};
pub use tokenizer::{Lookahead, Options, Tokenizer};
