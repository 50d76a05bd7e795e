//! The binder: pushed bytes in, packed rows out.
//!
//! A [`Binder`] is a [`Tokenizer`] with a [`Schema`]. What the schema wants becomes [`Item`]s of a [`Batch`]; everything
//! else is checked for well-formedness and passed over. Elements without lists are bound as one [packed row](crate::schema::row)
//! at their end tag; others are opened at their start tag, and what is in them follows as it comes, so that a list may be
//! longer than memory.
//!
//! ```
//! use kumi_xml::{Batch, Binder, Field, Item, Limit, Options, FieldPath, Progress, Schema, schema::parse_path};
//!
//! let mut schema = Schema::builder();
//! let room = schema.class("Room");
//! schema.field(room, Field::new("area"));
//! schema.field(room, Field::new("name").attribute("name").optional());
//! schema.field(room, Field::new("city").at(FieldPath::outer("houses/@city", &[])?));
//! schema.root_path(parse_path("/houses/house/room", &[])?, room);
//!
//! let mut binder = Binder::new(schema.build()?, Options::default());
//! binder.feed(b"<houses city='Kyoto'><house><owner>A</owner><room name='hall'><area>12.5</area></ro")?;
//! binder.feed(b"om></house></houses>")?;
//! binder.finish();
//!
//! let mut batch = Batch::new();
//! assert_eq!(binder.bind(&mut batch, Limit::default())?, Progress::End);
//! let [Item::Row { row, .. }] = batch.items[..] else { panic!("one room") };
//! let room = batch.row(row);
//! assert_eq!(room.plain_decimal(0), Some((125, 1)));
//! assert_eq!((room.text(1), room.text(2)), (Some("hall"), Some("Kyoto")));
//! assert_eq!((room.line(), room.column(), room.ordinal()), (1, 45, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The order of work: [`feed`](Binder::feed), then [`bind`](Binder::bind) until it asks for input, and so on; after the last
//! byte [`finish`](Binder::finish), then `bind` until [`Progress::End`]. However a document is cut into pieces and batches,
//! it gives the same items, and the same error after the same items.
//!
//! What a binder is made of: `state` keeps a frame for every entered element (`enter` makes it) and turns events into items;
//! `predict` reads rows that look like rows before them without the tokeniser, which is up to twice
//! as fast and changes nothing else.

mod automaton;
mod batch;
mod block;
mod count;
mod enter;
mod error;
mod frame;
mod learn;
mod outer;
mod predict;
mod predictors;
mod reference;
mod span;
mod state;

pub use batch::{Batch, Bound, ByteRange, Item, Limit, Progress, RowRef, placed};
pub use error::{BindError, BindErrorKind};

use crate::error::{Error, Position};
use crate::schema::Schema;
use crate::tokenizer::event::Event;
use crate::tokenizer::{Options, Tokenizer};
use predict::Stop;
use predictors::Predictors;
use state::{Fault, Next, State};
use std::borrow::Cow;
use std::sync::Arc;

/// How a document is to be bound.
#[derive(Clone, Debug)]
pub struct BindOptions {
    /// How it is to be read.
    pub xml: Options,
    /// Whether a missing field of cardinality one is left absent instead of being an error.
    pub lenient: bool,
    /// What bound values may cost.
    pub limits: BindLimits,
    /// Whether rows that look like rows before them are read by a shorter way. The result is the same; only tests
    /// and measurements turn it off.
    pub predict: bool,
}

impl Default for BindOptions {
    fn default() -> BindOptions {
        BindOptions { xml: Options::default(), lenient: false, limits: BindLimits::default(), predict: true }
    }
}

impl From<Options> for BindOptions {
    fn from(xml: Options) -> BindOptions {
        BindOptions { xml, ..BindOptions::default() }
    }
}

/// What bound values may cost. Sizes are in bytes of UTF-8; exceeding one is a [`BindError`].
#[derive(Clone, Debug)]
pub struct BindLimits {
    /// The text of one field.
    pub field: usize,
    /// One packed row; also all that enclosing elements say beside the rows. At most 1 GB whatever is given.
    pub row: usize,
    /// Whole elements within one another.
    pub nesting: usize,
}

impl Default for BindLimits {
    fn default() -> BindLimits {
        BindLimits { field: 16 << 20, row: 64 << 20, nesting: 64 }
    }
}

/// A tokeniser that knows what is wanted. Any chunking of a document gives the same items and the same error.
#[derive(Debug)]
pub struct Binder {
    schema: Arc<Schema>,
    tokenizer: Tokenizer,
    state: State,
    /// Everything after an error is that error.
    failed: Option<BindError>,
    finished: bool,
    /// The tokeniser is passing over an element.
    skipping: bool,
    predictors: Predictors,
    depth: usize,
}

impl Binder {
    /// A binder for one document.
    pub fn new(schema: Arc<Schema>, options: impl Into<BindOptions>) -> Binder {
        let options = options.into();
        Binder {
            depth: options.xml.limits.depth,
            predictors: Predictors::new(options.predict, &options.xml.limits),
            tokenizer: Tokenizer::new(options.xml),
            state: State::new(options.lenient, options.limits),
            schema,
            failed: None,
            finished: false,
            skipping: false,
        }
    }

    /// What is wanted of the document.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Takes the next bytes of the document, cut anywhere.
    ///
    /// # Errors
    /// One that was told already; what is wrong with these bytes is told by [`bind`](Binder::bind) when it gets there.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), BindError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let fed = self.tokenizer.feed(bytes);
        fed.map_err(|error| self.refused(error))
    }

    /// No more bytes come.
    pub fn finish(&mut self) {
        self.finished = true;
        self.tokenizer.finish();
    }

    /// Appends what can be bound to `out`, until that holds as much as `limit` says.
    ///
    /// # Errors
    /// The document is not well-formed, does not fit the schema, or is over a limit. An error comes after everything before it
    /// was put into `out`, and again at every later call.
    pub fn bind(&mut self, out: &mut Batch, limit: Limit) -> Bound {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        // References into the batch have 32 bits; one row may pass the limit.
        let limit = Limit { bytes: limit.bytes.min(1 << 30), ..limit };
        let bound = self.advance(out, limit);
        if let Err(error) = &bound {
            self.failed = Some(error.clone());
        }
        bound
    }

    fn advance(&mut self, out: &mut Batch, limit: Limit) -> Bound {
        loop {
            if out.items.len() >= limit.rows || out.bytes.len() >= limit.bytes {
                return Ok(Progress::Full);
            }
            if self.skipping {
                match self.tokenizer.skip() {
                    Ok(true) => self.passed(),
                    Ok(false) => return Ok(Progress::NeedInput),
                    Err(error) => return Err(self.refused(error)),
                }
            }
            if self.predictors.ready() {
                match self.predict(out, limit) {
                    Some(Progress::NeedInput) if self.tokenizer.next_piece() => continue,
                    Some(progress) => return Ok(progress),
                    None => {}
                }
            }
            let done = match self.tokenizer.next() {
                Ok(None) if self.finished => return Ok(Progress::End),
                Ok(None) => return Ok(Progress::NeedInput),
                Ok(Some(Event::Start(start))) => match self.state.start(&self.schema, &start) {
                    Ok(next) => {
                        if self.state.learning.as_ref().is_some_and(|l| !l.begun()) {
                            self.state.learning = None;
                        }
                        match next {
                            Next::Skip => {
                                self.skipping = true;
                                Ok(())
                            }
                            Next::Entered => {
                                self.predictors.wake();
                                Ok(())
                            }
                            Next::Located => {
                                self.predictors.wake();
                                self.state.located(&self.schema, self.tokenizer.position(), out)
                            }
                        }
                    }
                    Err(fault) => Err(fault),
                },
                Ok(Some(Event::End(name))) => {
                    let ended = self.state.frames.last().map_or(0, |f| f.ordinal);
                    match self.state.end(&self.schema, out) {
                        Ok(()) => {
                            self.passed();
                            Ok(())
                        }
                        Err(fault) => {
                            let mut element = String::new();
                            step(&mut element, name.raw(), ended);
                            Err(Fault { below: element + &fault.below, ..fault })
                        }
                    }
                }
                Ok(Some(Event::Text(text))) => match self.state.wants_text() {
                    true => self.state.text(text),
                    false => Ok(()),
                },
                Ok(Some(_)) => Ok(()),
                Err(error) => return Err(self.refused(error)),
            };
            if let Err(fault) = done {
                return Err(self.fault(fault));
            }
        }
    }

    /// An element has ended: what was learnt of it, if it was a row, is kept.
    fn passed(&mut self) {
        self.skipping = false;
        self.predictors.wake();
        let depth = self.state.frames.len();
        if let Some(learning) = self.state.learning.take_if(|l| l.depth >= depth && l.begun()) {
            if learning.depth == depth {
                if let Some(context) = self.state.context(&self.schema) {
                    self.predictors.learn(learning, &context, &self.schema);
                }
            }
        }
    }

    /// Reads rows ahead of the tokeniser. `None`: the tokeniser goes on.
    fn predict(&mut self, out: &mut Batch, limit: Limit) -> Option<Progress> {
        self.predictors.rest();
        let context = self.state.context(&self.schema)?;
        if self.tokenizer.depth() + 2 + learn::DEEPEST > self.depth {
            return None;
        }
        let look = self.tokenizer.lookahead();
        if look.pos == look.end || look.end > u32::MAX as usize {
            return None;
        }
        let position = self.tokenizer.position_ahead(0);
        let (read, stop, (line, column)) = self.predictors.run(&context, look, position, &self.schema, &mut self.state, out, limit);
        self.tokenizer.accept_at(read, line, column);
        match stop {
            Stop::Full => {
                self.predictors.wake();
                Some(Progress::Full)
            }
            Stop::Cut if !self.tokenizer.has_all() && self.predictors.waits() => Some(Progress::NeedInput),
            _ => None,
        }
    }

    /// Nobody wants the rest of the node at this depth any more (0: the first that was opened), as things stand after
    /// what was bound last: what is left of it, and of those opened in it, is passed over. Their closes are still
    /// delivered, and nothing in them is missed.
    pub fn prune(&mut self, depth: usize) {
        self.state.prune(depth);
    }

    /// Bytes of the document bound so far, as [`Position::offset`](crate::Position::offset) counts them.
    pub fn consumed(&self) -> u64 {
        self.tokenizer.covered()
    }

    /// What the root element is called as it stands in the document, shortened as in a path, once its start tag was bound; `None`
    /// for the rows of a path.
    pub fn root(&self) -> Option<&str> {
        self.state.root.as_deref()
    }

    /// Whether the document's element has ended, so that only comments and white space may follow and nothing more is bound.
    pub fn root_ended(&self) -> bool {
        self.tokenizer.root_ended()
    }

    /// Rows so far that were like rows before them, and read by the shorter way.
    pub fn predicted(&self) -> u64 {
        self.predictors.rows
    }

    fn refused(&mut self, error: Error) -> BindError {
        let error = BindError::xml(error, self.path());
        self.failed = Some(error.clone());
        error
    }

    fn fault(&self, fault: Fault) -> BindError {
        BindError {
            message: fault.kind.message(&self.state.limits),
            kind: fault.kind,
            position: self.tokenizer.position(),
            path: self.path() + &fault.below,
        }
    }

    /// How far the document has come: the position behind what was tokenised, and the elements open there, as in
    /// [`BindError::path`].
    pub fn place(&self) -> (Position, String) {
        (self.tokenizer.place(self.tokenizer.covered()), self.path())
    }

    /// The elements open now, with their ordinals where they stand in a list.
    fn path(&self) -> String {
        /// Steps shown of a long path, at its beginning and at its end.
        const SHOWN: (usize, usize) = (10, 4);
        let mut path = String::new();
        let depth = self.tokenizer.depth();
        let left_out = if depth > SHOWN.0 + SHOWN.1 + 1 { SHOWN.0..depth - SHOWN.1 } else { depth..depth };
        for i in 0..depth {
            if i == left_out.start {
                path.push_str("/...");
            }
            if left_out.contains(&i) {
                continue;
            }
            let Some(name) = self.tokenizer.open_name(i) else { break };
            step(&mut path, name, self.state.frames.get(i).map_or(0, |f| f.ordinal));
        }
        path
    }
}

fn step(path: &mut String, name: &str, ordinal: u32) {
    path.push('/');
    path.push_str(&shown(name));
    if ordinal > 0 {
        path.push_str(&format!("[{ordinal}]"));
    }
}

/// A name in a path: the beginning of a long one.
fn shown(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &name[..at]).into(),
        None => name.into(),
    }
}
