//! Nodes: streaming records, whose fields arrive one after the other, and the document they belong to.
//!
//! Invariant: every field is in one [`Slot`], which changes from pending to what arrived (or absent, when the
//! element's end tag came without it) and from there at most once more, to removed. Lists are there from the
//! beginning. The producer refers to a node only weakly: when the last handle goes, its values go, and what is
//! still to come of it is passed over.

use std::cell::RefCell;
use std::sync::Arc;

use kumi_xml::{Card, ClassId, FieldPath, Kind, RowView, Schema};
use parking_lot::Mutex;

use crate::cell::{Cell, RowHandle, What, view};
use crate::failure::ReadError;
use crate::list::List;
use crate::producer::{Producer, Step, Stint, Token};
use crate::registry::Meter;
use crate::wait::Poll;

/// What a document begins with.
pub enum Root {
    /// The document's element is a record.
    Node(Arc<Node>),
    /// The rows of a path are a list.
    List(List),
}

/// An open document. Dropping it (and everything got from it) closes its source.
pub struct Document {
    /// Where reading begins.
    pub root: Root,
    /// Who parses it.
    pub producer: Arc<Producer>,
}

pub(crate) enum Slot {
    Pending,
    Absent,
    /// In the row that the start tag gave.
    InRow,
    Text(Box<[u8]>),
    Row(RowHandle),
    Node(Arc<Node>),
    List(List),
    Removed,
}

/// A value of a field.
pub enum Value<'a> {
    /// An optional field without a value.
    Absent,
    /// UTF-8 text.
    Text(&'a [u8]),
    /// A whole element.
    Row(&'a RowHandle),
    /// A streaming element.
    Node(&'a Arc<Node>),
    /// A list.
    List(&'a List),
}

/// How far a field of a node has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It may still come.
    Pending,
    /// It is there, or is known to be absent.
    Arrived,
    /// It was removed.
    Removed,
}

struct NodeState {
    /// What the start tag said; empty before it was seen.
    row: Box<[u8]>,
    slots: Box<[Slot]>,
    opened: bool,
    closed: bool,
}

/// A record that arrives over time.
pub struct Node {
    pub(crate) token: Arc<Token>,
    class: ClassId,
    state: Mutex<NodeState>,
}

impl Node {
    /// A node before its start tag, with all its lists.
    pub(crate) fn pending(token: &Arc<Token>, class: ClassId) -> Arc<Node> {
        let fields = &token.producer.schema().class(class).fields;
        let slots = fields
            .iter()
            .map(|f| match f.card {
                Card::Many => Slot::List(List::new(token.clone(), false)),
                _ => Slot::Pending,
            })
            .collect();
        let state = NodeState { row: Box::default(), slots, opened: false, closed: false };
        Arc::new(Node { token: token.clone(), class, state: Mutex::new(state) })
    }

    /// The start tag: attributes and outer values are settled by it.
    pub(crate) fn open(&self, row: &[u8]) {
        let fields = &self.token.producer.schema().class(self.class).fields;
        let mut state = self.state.lock();
        state.opened = true;
        state.row = row.into();
        let view = view(row);
        for (i, (slot, field)) in state.slots.iter_mut().zip(fields).enumerate() {
            if matches!(slot, Slot::Pending) && matches!(field.place, FieldPath::Attribute(_) | FieldPath::Outer { .. }) {
                *slot = if view.range(i).is_some() { Slot::InRow } else { Slot::Absent };
            }
        }
    }

    /// The whole element at once (a document's element without lists).
    pub(crate) fn fill(&self, row: &[u8], schema: &Schema, meter: &Arc<Meter>) {
        {
            let mut state = self.state.lock();
            let from = view(row);
            for (i, (slot, field)) in state.slots.iter_mut().zip(&schema.class(self.class).fields).enumerate() {
                let Some(bytes) = from.field(i) else { continue };
                if matches!(slot, Slot::Pending) {
                    *slot = match field.kind {
                        Kind::Class(class) => Slot::Row(Cell::new(What::Row(class), bytes, meter).handle()),
                        Kind::Text => Slot::Text(bytes.into()),
                    };
                }
            }
            // The position and ordinal alone.
            let mut head: Box<[u8]> = row.get(..kumi_xml::row::HEADER).unwrap_or(&[]).into();
            if let Some(fields) = head.get_mut(12..14) {
                fields.fill(0);
            }
            state.row = head;
            state.opened = true;
        }
        self.close();
    }

    /// A field has arrived.
    pub(crate) fn set(&self, slot: u16, value: Slot) {
        let mut state = self.state.lock();
        if let Some(slot @ Slot::Pending) = state.slots.get_mut(slot as usize) {
            *slot = value;
        }
    }

    /// The end tag: what has not come is absent.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        for slot in state.slots.iter_mut() {
            if matches!(slot, Slot::Pending) {
                *slot = Slot::Absent;
            }
        }
    }

    /// Whether a field that is no list may still come.
    pub(crate) fn expects(&self) -> bool {
        let state = self.state.lock();
        !state.closed && (!state.opened || state.slots.iter().any(|slot| matches!(slot, Slot::Pending)))
    }

    /// Calls `f` with every list that is still in the tree, and its slot.
    pub(crate) fn each_list(&self, mut f: impl FnMut(u16, &List)) {
        for (i, slot) in self.state.lock().slots.iter().enumerate() {
            if let Slot::List(list) = slot {
                f(i as u16, list);
            }
        }
    }

    /// Its class.
    pub fn class(&self) -> ClassId {
        self.class
    }

    /// Its document's producer.
    pub fn producer(&self) -> &Arc<Producer> {
        &self.token.producer
    }

    /// Whether its end tag has been seen: nothing more arrives.
    pub fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    /// Calls `f` with what the start tag said (position, ordinal, attributes), if it was seen.
    pub fn opened<T>(&self, f: impl FnOnce(RowView<'_>) -> T) -> Option<T> {
        let state = self.state.lock();
        state.opened.then(|| f(view(&state.row)))
    }

    /// How far a field has come; reads nothing.
    pub fn arrival(&self, slot: u16) -> Arrival {
        match self.state.lock().slots.get(slot as usize) {
            Some(Slot::Pending) => Arrival::Pending,
            Some(Slot::Removed) | None => Arrival::Removed,
            Some(_) => Arrival::Arrived,
        }
    }

    /// What the start tag says, waiting for it.
    ///
    /// # Errors
    /// The document failed before it.
    pub fn start<T>(&self, f: impl FnOnce(RowView<'_>) -> T) -> Result<Poll<T>, ReadError> {
        let mut stint = Stint::default();
        loop {
            if self.state.lock().opened {
                return self.opened(f).map(Poll::Ready).ok_or(ReadError::Removed);
            }
            if let Some(turn) = self.bring(&mut stint, || self.state.lock().opened)? {
                return Ok(turn);
            }
        }
    }

    /// Reads a field, waiting for it to arrive. `f` runs under the node's lock: it may copy, and must not read the
    /// document.
    ///
    /// # Errors
    /// The field was removed, or the document failed before it.
    pub fn field<T>(&self, slot: u16, f: impl FnOnce(Value<'_>) -> T) -> Result<Poll<T>, ReadError> {
        self.read(slot, |state| show(state, slot, f))
    }

    /// Removes a field, waiting for it to arrive: its value is passed to `f`, later reads give
    /// [`ReadError::Removed`]. `f` as for [`field`](Node::field).
    ///
    /// # Errors
    /// As [`field`](Node::field).
    pub fn take_field<T>(&self, slot: u16, f: impl FnOnce(Value<'_>) -> T) -> Result<Poll<T>, ReadError> {
        let done = self.read(slot, |state| {
            let value = show(state, slot, f);
            let gone = state.slots.get_mut(slot as usize).map(|slot| std::mem::replace(slot, Slot::Removed));
            if let Some(Slot::List(list)) = &gone {
                list.cut();
            }
            (value, gone)
        })?;
        // What was removed is dropped here, outside the lock.
        Ok(done.map(|(value, _)| value))
    }

    /// A list; never waits.
    ///
    /// # Errors
    /// [`ReadError::Removed`] when it was removed, or the field is no list.
    pub fn list(&self, slot: u16) -> Result<List, ReadError> {
        match self.state.lock().slots.get(slot as usize) {
            Some(Slot::List(list)) => Ok(list.clone()),
            _ => Err(ReadError::Removed),
        }
    }

    /// Removes a list from the tree: it is cut, and this is the only way to it.
    ///
    /// # Errors
    /// As for [`list`](Node::list).
    pub fn take_list(&self, slot: u16) -> Result<List, ReadError> {
        let mut state = self.state.lock();
        match state.slots.get_mut(slot as usize) {
            Some(place @ Slot::List(_)) => match std::mem::replace(place, Slot::Removed) {
                Slot::List(list) => {
                    list.cut();
                    Ok(list)
                }
                other => {
                    *place = other;
                    Err(ReadError::Removed)
                }
            },
            _ => Err(ReadError::Removed),
        }
    }

    /// Brings the document on towards what `done` asks for: what the caller is to wait for, if anything.
    fn bring<T>(&self, stint: &mut Stint, done: impl Fn() -> bool) -> Result<Option<Poll<T>>, ReadError> {
        let producer = &self.token.producer;
        Ok(match producer.bring(&done) {
            Step::Progress => stint.over(producer),
            Step::Wait(wait, ticket) => Some(Poll::Wait(wait, ticket)),
            Step::Busy(ticket) => Some(Poll::Busy(ticket)),
            Step::Over(failure) if !done() => return Err(ReadError::Failed(failure)),
            Step::Over(_) => None,
        })
    }

    fn read<T>(&self, slot: u16, f: impl FnOnce(&mut NodeState) -> T) -> Result<Poll<T>, ReadError> {
        let mut stint = Stint::default();
        loop {
            {
                let mut state = self.state.lock();
                match state.slots.get(slot as usize) {
                    Some(Slot::Pending) => {}
                    Some(Slot::Removed) | None => return Err(ReadError::Removed),
                    Some(_) => return Ok(Poll::Ready(f(&mut state))),
                }
            }
            if let Some(turn) = self.bring(&mut stint, || !self.is_pending(slot))? {
                return Ok(turn);
            }
        }
    }

    fn is_pending(&self, slot: u16) -> bool {
        matches!(self.state.lock().slots.get(slot as usize), Some(Slot::Pending))
    }
}

fn show<T>(state: &NodeState, slot: u16, f: impl FnOnce(Value<'_>) -> T) -> T {
    f(match &state.slots[slot as usize] {
        Slot::InRow => Value::Text(view(&state.row).field(slot as usize).unwrap_or(b"")),
        Slot::Text(text) => Value::Text(text),
        Slot::Row(row) => Value::Row(row),
        Slot::Node(node) => Value::Node(node),
        Slot::List(list) => Value::List(list),
        Slot::Pending | Slot::Absent | Slot::Removed => Value::Absent,
    })
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Node({:?})", self.class)
    }
}

thread_local! {
    /// Parts of dropped nodes that this thread has still to drop; `None` when it is not at it.
    static LATER: RefCell<Option<Vec<Box<[Slot]>>>> = const { RefCell::new(None) };
}

/// Drops a tree of any depth in constant native stack: what is found while another part is dropped waits for it.
fn drop_slots(slots: Box<[Slot]>) {
    let mut slots = Some(slots);
    let first = LATER.try_with(|later| {
        let mut later = later.borrow_mut();
        match &mut *later {
            Some(queue) => {
                queue.extend(slots.take());
                false
            }
            None => {
                *later = Some(Vec::new());
                true
            }
        }
    });
    drop(slots);
    if first != Ok(true) {
        return;
    }
    loop {
        let next = LATER.with(|later| {
            let mut later = later.borrow_mut();
            let next = later.as_mut().and_then(Vec::pop);
            if next.is_none() {
                *later = None;
            }
            next
        });
        match next {
            Some(next) => drop(next),
            None => return,
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        let open = !state.closed;
        let slots = std::mem::take(&mut state.slots);
        if slots.iter().any(|slot| matches!(slot, Slot::Node(_) | Slot::List(_))) {
            drop_slots(slots);
        }
        if open {
            self.token.producer.poke();
        }
    }
}
