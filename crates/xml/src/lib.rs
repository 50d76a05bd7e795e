//! XML 1.0 (5th edition) with namespaces, pushed in pieces of any size.

pub mod bind;
pub mod error;
pub mod event;
pub mod limits;
pub mod row;
pub mod schema;
pub mod tokenizer;
pub mod value;

pub use bind::{Batch, BindError, BindErrorKind, BindLimits, BindOptions, Binder, ByteRange, Item, Limit, Progress, RowRef};
pub use error::{Error, ErrorKind, LimitKind, Position};
pub use event::{Attribute, Event, Name, Start};
pub use limits::Limits;
pub use row::RowView;
pub use schema::{Card, Class, ClassId, Field, Kind, NameTest, OuterWhat, Place, Root, Schema, SchemaBuilder, SchemaError, Step};
pub use tokenizer::{Lookahead, Options, Tokenizer};
