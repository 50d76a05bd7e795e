//! The binder: pushed bytes in, packed rows out.

mod batch;
mod error;

pub use batch::{Batch, Bound, ByteRange, Item, Limit, Progress, RowRef};
pub use error::{BindError, BindErrorKind};

use crate::schema::Schema;
use crate::tokenizer::{Options, Tokenizer};
use std::sync::Arc;

/// How a document is to be bound.
#[derive(Clone, Debug, Default)]
pub struct BindOptions {
    /// How it is to be read.
    pub xml: Options,
    /// Whether a missing field of cardinality one is left absent instead of being an error.
    pub lenient: bool,
    pub limits: BindLimits,
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
    /// One packed row; at most 1 GB whatever is given.
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
    options: BindOptions,
}

impl Binder {
    pub fn new(schema: Arc<Schema>, options: impl Into<BindOptions>) -> Binder {
        let options = options.into();
        Binder { schema, tokenizer: Tokenizer::new(options.xml.clone()), options }
    }

    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Takes the next bytes of the document, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), BindError> {
        self.tokenizer.feed(bytes).map_err(|e| BindError::xml(e, String::new()))
    }

    /// No more bytes come.
    pub fn finish(&mut self) {
        self.tokenizer.finish();
    }

    /// Appends what can be bound to `out`, until it holds as much as `limit` says. An error comes after everything
    /// before it was put into `out`, and again at every later call.
    pub fn bind(&mut self, out: &mut Batch, limit: Limit) -> Bound {
        let _ = (out, limit, &self.options);
        Ok(Progress::NeedInput)
    }

    /// Nobody wants the rest of the node at this depth any more (0: the first that was opened): what is left of it,
    /// and of those opened in it, is passed over. Their closes are still delivered.
    pub fn prune(&mut self, depth: usize) {
        let _ = depth;
    }

    /// Bytes of the document bound so far, as [`Position::offset`](crate::Position::offset) counts them.
    pub fn consumed(&self) -> u64 {
        self.tokenizer.position().offset
    }
}
