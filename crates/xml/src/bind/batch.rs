//! What a binder delivers: items in document order, and the bytes they refer to.

use super::BindError;
use crate::schema::ClassId;
use crate::schema::row::RowView;

/// A packed row in [`Batch::bytes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRef {
    /// Where it begins.
    pub start: u32,
    /// Its length in bytes.
    pub len: u32,
}

/// Bytes in [`Batch::bytes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// Where they begin.
    pub start: u32,
    /// How many they are.
    pub len: u32,
}

/// One thing bound. `slot` is the field of the enclosing node that it belongs to; 0 at the top, where it is the
/// document's element or a row of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// The start tag of a streaming element. Its row holds what is known by then: attributes and outer values, the
    /// position and the ordinal. Its fields, lists and nested elements follow, up to its [`Item::Close`].
    Open {
        /// The class of the element.
        class: ClassId,
        /// The field of the enclosing node that it belongs to; 0 at the top.
        slot: u16,
        /// Its packed row.
        row: RowRef,
    },
    /// A whole element; in a list or, when the slot's field is no list, as that field of the enclosing node.
    Row {
        /// The class of the element.
        class: ClassId,
        /// The field of the enclosing node that it belongs to; 0 at the top.
        slot: u16,
        /// Its packed row.
        row: RowRef,
    },
    /// The text of a field of the innermost open node, or one of a list of texts.
    Field {
        /// The field of the enclosing node that it belongs to; 0 at the top.
        slot: u16,
        /// Its bytes.
        text: ByteRange,
    },
    /// The end tag of the innermost open node.
    Close,
}

/// Items with their bytes; cleared and used again.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// What was bound, in document order.
    pub items: Vec<Item>,
    /// What the items refer to: packed rows and texts.
    pub bytes: Vec<u8>,
}

impl Batch {
    /// An empty one.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// Forgets all items and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.bytes.clear();
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The row's bytes; none for a reference that isn't into this batch.
    pub fn row_bytes(&self, row: RowRef) -> &[u8] {
        self.text(ByteRange { start: row.start, len: row.len })
    }

    /// The row, to read fields from; one without fields for a reference that isn't into this batch.
    pub fn row(&self, row: RowRef) -> RowView<'_> {
        const EMPTY: &[u8] = &[0; crate::schema::row::HEADER];
        match RowView::new(self.row_bytes(row)) {
            Some(view) => view,
            None => RowView::empty(EMPTY),
        }
    }

    /// Appends the text of an [`Item::Field`], behind the line and column of its start tag (zeros: not known).
    pub fn append_text(&mut self, (line, column): (u32, u32), text: &[u8]) -> ByteRange {
        self.bytes.extend_from_slice(&line.to_le_bytes());
        self.bytes.extend_from_slice(&column.to_le_bytes());
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        ByteRange { start, len: text.len() as u32 }
    }

    /// The text of an [`Item::Field`] with its place before it, for [`placed`].
    pub fn placed_text(&self, text: ByteRange) -> &[u8] {
        let start = (text.start as usize).saturating_sub(PLACE);
        self.bytes.get(start..text.start as usize + text.len as usize).unwrap_or(b"")
    }

    /// UTF-8, when the range is one that the binder gave.
    pub fn text(&self, range: ByteRange) -> &[u8] {
        self.bytes.get(range.start as usize..range.start as usize + range.len as usize).unwrap_or(b"")
    }
}

/// Bytes of the place before a text.
const PLACE: usize = 8;

/// A text, and the line and column of its element's start tag, of which a batch has kept both together. The
/// binder places the elements of lists of texts only; others have zeros.
pub fn placed(bytes: &[u8]) -> ((u32, u32), &[u8]) {
    match bytes.split_at_checked(PLACE) {
        Some((&[a, b, c, d, e, f, g, h], text)) => ((u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])), text),
        _ => ((0, 0), b""),
    }
}

/// When [`Binder::bind`](super::Binder::bind) is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// So many items.
    pub rows: usize,
    /// So many bytes of output, exceeded by at most one item.
    pub bytes: usize,
}

impl Default for Limit {
    fn default() -> Limit {
        Limit { rows: usize::MAX, bytes: 256 << 10 }
    }
}

/// Why [`Binder::bind`](super::Binder::bind) stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Everything fed is bound: feed more or finish.
    NeedInput,
    /// The batch has reached the limit: call again with room.
    Full,
    /// The document is complete.
    End,
}

/// What `bind` gives.
pub type Bound = Result<Progress, BindError>;
