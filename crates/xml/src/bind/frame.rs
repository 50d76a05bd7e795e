//! What is known of an element that was entered: one frame each, from the root to the innermost.
//!
//! Values of whole elements are gathered in the [`Store`]: one slot per field of every open instance, and one arena
//! with their bytes in document order, used like a stack. It is empty whenever no whole element (and no field of a
//! streaming one) is open.

use super::batch::{Batch, RowRef};
use super::error::BindErrorKind;
use crate::error::Position;
use crate::schema::row;

/// What an entered element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// On the way to the rows of a path.
    Path,
    /// An instance of a streaming class.
    Node,
    /// An instance of a whole class.
    Whole,
    /// A field's text.
    Leaf,
    /// Entered for its text only: below a leaf, in content that is wanted, or on the way to an outer value.
    Inner,
}

pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub role: Role,
    /// Nobody wants what comes of it any more.
    pub pruned: bool,
    /// The field of the parent's instance that it is a value of.
    pub slot: u16,
    /// The field whose element is expected next: the one after the last that was found.
    pub hint: u16,
    /// Of a node or whole instance.
    pub class: u32,
    /// Its first value in the store, and what the arena held before it.
    pub values: u32,
    pub arena: u32,
    /// Its buffers for text that comes in parts ([`Texts`]), or `NONE`.
    pub text: u32,
    pub content: u32,
    pub line: u32,
    pub column: u32,
    /// From 1 in a list, 0 elsewhere.
    pub ordinal: u32,
    /// The namespace declarations in scope, numbered: by 64 bits, for two must never have one number.
    pub scope: u64,
    /// The predictor for its rows, when it has been looked for.
    pub predictor: u32,
    /// Of a path frame: which steps its children may be (bit i: step i).
    pub steps: u64,
}

impl Frame {
    pub fn new(role: Role, slot: u16) -> Frame {
        Frame {
            role,
            pruned: false,
            slot,
            hint: 0,
            class: 0,
            values: 0,
            arena: 0,
            text: NONE,
            content: NONE,
            line: 0,
            column: 0,
            ordinal: 0,
            scope: 0,
            predictor: NONE,
            steps: 0,
        }
    }

    pub fn locate(&mut self, position: Position) {
        self.line = row::place(position.line);
        self.column = row::place(position.column);
    }
}

/// A field's value in the arena; `start` is `NONE` while it is absent. In a list's slot: how many there were.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub start: u32,
    pub end: u32,
}

impl Value {
    pub const ABSENT: Value = Value { start: NONE, end: 0 };

    pub fn is_absent(&self) -> bool {
        self.start == NONE
    }
}

#[derive(Debug, Default)]
pub(super) struct Store {
    pub values: Vec<Value>,
    pub arena: Vec<u8>,
    /// Where nested rows are packed before they replace their parts in the arena.
    scratch: Vec<u8>,
}

impl Store {
    pub fn instance(&mut self, fields: usize) -> u32 {
        let base = self.values.len();
        self.values.resize(base + fields, Value::ABSENT);
        base as u32
    }

    /// Sets a field that is known at once.
    pub fn set(&mut self, at: usize, bytes: &[u8]) {
        let start = self.arena.len() as u32;
        self.arena.extend_from_slice(bytes);
        self.values[at] = Value { start, end: self.arena.len() as u32 };
    }

    /// Packs the instance's row onto `out`.
    pub fn pack(&self, frame: &Frame, fields: usize, flags: u16, out: &mut Vec<u8>) {
        let values = &self.values[frame.values as usize..frame.values as usize + fields];
        out.extend_from_slice(&row::header(frame.line, frame.column, frame.ordinal.max(1), fields, flags));
        let table = out.len();
        out.resize(table + 4 * fields, 0);
        let mut end = 0u32;
        for (i, value) in values.iter().enumerate() {
            let mut word = end | row::ABSENT;
            if !value.is_absent() {
                out.extend_from_slice(&self.arena[value.start as usize..value.end as usize]);
                end += value.end - value.start;
                word = end;
            }
            out[table + 4 * i..table + 4 * i + 4].copy_from_slice(&word.to_le_bytes());
        }
    }

    /// Packs the instance's row onto the batch.
    pub fn pack_out(&self, frame: &Frame, fields: usize, flags: u16, out: &mut Batch) -> RowRef {
        let start = out.bytes.len();
        self.pack(frame, fields, flags, &mut out.bytes);
        RowRef { start: start as u32, len: (out.bytes.len() - start) as u32 }
    }

    /// Puts the instance's row in the place of its parts.
    pub fn pack_nested(&mut self, frame: &Frame, fields: usize) -> Value {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        self.pack(frame, fields, 0, &mut scratch);
        self.arena.truncate(frame.arena as usize);
        let start = self.arena.len() as u32;
        self.arena.extend_from_slice(&scratch);
        self.scratch = scratch;
        Value { start, end: self.arena.len() as u32 }
    }

    /// Forgets the arena's bytes from `to` on. What a large row needed is given back.
    pub fn release(&mut self, to: usize) {
        self.arena.truncate(to);
        if self.arena.capacity() > 1 << 20 {
            self.arena.shrink_to(64 << 10);
            self.scratch = Vec::new();
        }
    }

    /// Forgets an instance.
    pub fn drop_instance(&mut self, frame: &Frame) {
        self.values.truncate(frame.values as usize);
    }
}

/// Buffers for text that comes in parts with elements between them: an element's own text, or all its content.
#[derive(Debug, Default)]
pub(super) struct Texts {
    buffers: Vec<Vec<u8>>,
    free: Vec<u32>,
    /// Those that collect all content, outermost first.
    contents: Vec<u32>,
    /// Bytes in all of them.
    held: usize,
}

impl Texts {
    pub fn open(&mut self, content: bool) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.buffers.push(Vec::new());
            self.buffers.len() as u32 - 1
        });
        if content {
            self.contents.push(id);
        }
        id
    }

    pub fn content_wanted(&self) -> bool {
        !self.contents.is_empty()
    }

    pub fn contents(&self) -> usize {
        self.contents.len()
    }

    pub fn add(&mut self, id: u32, text: &[u8], field: usize, all: usize) -> Result<(), BindErrorKind> {
        let buffer = &mut self.buffers[id as usize];
        if buffer.len() + text.len() > field {
            return Err(BindErrorKind::FieldSize);
        }
        self.held += text.len();
        if self.held > all {
            return Err(BindErrorKind::RowSize);
        }
        buffer.extend_from_slice(text);
        Ok(())
    }

    pub fn add_content(&mut self, text: &[u8], field: usize, all: usize) -> Result<(), BindErrorKind> {
        for i in 0..self.contents.len() {
            self.add(self.contents[i], text, field, all)?;
        }
        Ok(())
    }

    pub fn get(&self, id: u32) -> &[u8] {
        &self.buffers[id as usize]
    }

    /// Ends a buffer; those that collect content end in the order opposite to that of their opening.
    pub fn close(&mut self, id: u32) {
        let buffer = &mut self.buffers[id as usize];
        self.held -= buffer.len();
        buffer.clear();
        buffer.shrink_to(64 << 10);
        if self.contents.last() == Some(&id) {
            self.contents.pop();
        }
        self.free.push(id);
    }
}
