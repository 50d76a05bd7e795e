//! Binding without demand: whoever has the bytes pushes them and is called back for every row, as in a program
//! written as event handlers (the paper's ED, section 2.3). The same schema, binder and packed rows; no buffers
//! between, no tasks, nothing kept.

use std::sync::Arc;

use kumi_xml::{Batch, BindError, BindOptions, Binder, ClassId, Item, Limit, Progress, RowView, Schema};

/// What a handler is called with, in document order.
pub enum Event<'a> {
    /// A streaming element begins; its row holds what the start tag said.
    Open {
        /// Its class.
        class: ClassId,
        /// The field of the enclosing element.
        slot: u16,
        /// Position, ordinal, attributes.
        row: RowView<'a>,
    },
    /// A whole element.
    Row {
        /// Its class.
        class: ClassId,
        /// The field of the enclosing element.
        slot: u16,
        /// The packed row.
        row: RowView<'a>,
    },
    /// The text of a field of the innermost open element, or one of a list of texts.
    Field {
        /// The field.
        slot: u16,
        /// UTF-8.
        text: &'a [u8],
    },
    /// The innermost open element ends.
    Close,
}

/// Packed bytes that are bound before handlers are called: one call's worth stays in the first-level cache.
const PIECE: usize = 16 << 10;

/// A binder with a handler.
pub struct Push {
    binder: Binder,
    batch: Batch,
}

impl Push {
    /// Nothing was pushed yet.
    pub fn new(schema: Arc<Schema>, options: impl Into<BindOptions>) -> Push {
        Push { binder: Binder::new(schema, options), batch: Batch::new() }
    }

    /// Binds `bytes` and calls `handler` with everything that they complete.
    ///
    /// # Errors
    /// What is wrong with the document; everything before it was handled.
    pub fn feed(&mut self, bytes: &[u8], handler: impl FnMut(Event<'_>)) -> Result<(), BindError> {
        self.binder.feed(bytes)?;
        self.bind(handler)
    }

    /// No more bytes come: handles the rest.
    ///
    /// # Errors
    /// As for [`feed`](Push::feed); also that the document is incomplete.
    pub fn finish(&mut self, handler: impl FnMut(Event<'_>)) -> Result<(), BindError> {
        self.binder.finish();
        self.bind(handler)
    }

    fn bind(&mut self, mut handler: impl FnMut(Event<'_>)) -> Result<(), BindError> {
        loop {
            self.batch.clear();
            let bound = self.binder.bind(&mut self.batch, Limit { bytes: PIECE, ..Limit::default() });
            let batch = &self.batch;
            for item in &batch.items {
                handler(match *item {
                    Item::Open { class, slot, row } => Event::Open { class, slot, row: batch.row(row) },
                    Item::Row { class, slot, row } => Event::Row { class, slot, row: batch.row(row) },
                    Item::Field { slot, text } => Event::Field { slot, text: batch.text(text) },
                    Item::Close => Event::Close,
                });
            }
            match bound? {
                Progress::Full => {}
                Progress::NeedInput | Progress::End => return Ok(()),
            }
        }
    }
}
