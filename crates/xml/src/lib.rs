//! XML 1.0 (5th edition) with namespaces, pushed in pieces of any size.
//!
//! Readers of XML in the Kumihimo runtime are made of this: the stream classes by way of `kumi_flow`, and `kumi xml`. A program that has
//! large documents, hostile ones, or ones that come slowly may use it alone.
//!
//! Bytes are pushed in as they come ([`Tokenizer::feed`]), events are pulled out as far as they go
//! ([`Tokenizer::next`]); nothing waits, nothing is read from outside, and how the document was cut never shows: the same
//! bytes give the same events and the same error at the same place, in time linear in their number.
//!
//! ```
//! use kumi_xml::{Event, Options, Tokenizer};
//!
//! let mut tokenizer = Tokenizer::new(Options::default());
//! let mut prices = Vec::new();
//! let mut price = None;
//! for piece in ["<houses><house id='1'><pri", "ce>90&#48;</price></ho", "use></houses>"] {
//!     tokenizer.feed(piece.as_bytes())?;
//!     while let Some(event) = tokenizer.next()? {
//!         match event {
//!             Event::Start(start) if start.name().local() == "price" => price = Some(String::new()),
//!             Event::Text(text) => {
//!                 if let Some(price) = &mut price {
//!                     price.push_str(text); // a long text comes in pieces
//!                 }
//!             }
//!             Event::End(_) => prices.extend(price.take()),
//!             _ => {}
//!         }
//!     }
//! }
//! tokenizer.finish();
//! assert!(tokenizer.next()?.is_none()); // complete and well-formed
//! assert_eq!(prices, ["900"]);
//!
//! let mut tokenizer = Tokenizer::new(Options::default());
//! tokenizer.feed(b"<a>\n  <b></a>")?;
//! let error = loop {
//!     match tokenizer.next() {
//!         Ok(_) => {}
//!         Err(error) => break error,
//!     }
//! };
//! assert_eq!(error.to_string(), "the end tag </a> where </b> was expected (line 2, column 6)");
//! # Ok::<(), kumi_xml::Error>(())
//! ```
//!
//! # What it does
//!
//! - All of well-formedness, and Namespaces in XML 1.0 (which can be turned off). Of the W3C conformance suite the documents that
//!   need nothing outside themselves are read or refused as they should be, 767 and 951 of them (`tests/conformance.rs`).
//! - The internal subset of a document type: entities, attribute types and defaults count; everything else is checked for
//!   syntax. No validation.
//! - UTF-8, UTF-16 with and without a mark, and the encodings of `encoding_rs` as the declaration or the transport names
//!   them; malformed bytes and contradictions are errors.
//! - An element can be passed over ([`Tokenizer::skip`]) at the same price and with the same checks.
//! - Names, values and texts are borrowed from the buffer where they stand there as they are.
//!
//! # What it never does
//!
//! - It reads nothing outside the document: an external subset is passed over, a reference to an external entity is an error.
//! - It repairs nothing.
//!
//! # Limits
//!
//! Everything that an author could make grow has a limit in [`Limits`], and reaching one is an error that names it.
//!
//! | field | what | default |
//! |---|---|---|
//! | `depth` | open elements | 4096 |
//! | `name` | bytes of a name or reference | 64 KB |
//! | `attributes` | of one element | 10,000 |
//! | `tag_bytes` | one tag; its values expanded; names of all open elements; namespace declarations in scope | 16 MB |
//! | `markup_bytes` | a comment or instruction | 16 MB |
//! | `doctype_bytes` | the document type declaration | 1 MB |
//! | `declarations` | in the internal subset | 10,000 |
//! | `entity_expansion` | replacement text and defaults, beyond 16 times the document so far | 8 MB |
//! | `entity_depth` | entities in one another | 64 |
//! | `namespaces` | declarations in scope | 10,000 |
//! | `text_piece` | the size of pieces of text (no limit of the document) | 64 KB |
//!
//! Text may be of any length: memory is bounded by the longest token, at most the largest of these, whatever the document's size,
//! and by what is fed at once.
//!
//! # How it is fast
//!
//! Every byte is looked at once as it is fed, 16 to 64 at a time with what the processor has (AVX-512, AVX2, SSE2, NEON, or none:
//! found out at run time), which leaves bit masks of the bytes that matter ([`scan`]). Tags and text are then cut out
//! by counting zeros in the masks, without looking at their bytes.
//!
//! # From text to rows
//!
//! A [`Schema`] says which elements and attributes are wanted; a [`Binder`] makes packed rows of them, passes over the rest, and
//! predicts what comes next from the rows before it. See [`bind`] and [`schema`]; [`value`] decodes numbers, dates and times.

#![deny(missing_docs)]

pub mod bind;
pub mod error;
mod input;
pub mod limits;
pub mod schema;
pub mod tokenizer;

#[doc(hidden)]
pub use input::scan;
pub use schema::{row, value};
pub use tokenizer::event;

pub use bind::{Batch, BindError, BindErrorKind, BindLimits, BindOptions, Binder, ByteRange, Item, Limit, Progress, RowRef, placed};
pub use error::{Error, ErrorKind, LimitKind, Position};
pub use limits::Limits;
pub use schema::row::RowView;
pub use schema::{Card, Class, ClassId, Field, FieldPath, Kind, NameTest, OuterWhat, Root, Schema, SchemaBuilder, SchemaError, Step};
pub use tokenizer::event::{Attribute, Event, Name, Start};
pub use tokenizer::lookahead::Lookahead;
pub use tokenizer::{Options, Tokenizer};
