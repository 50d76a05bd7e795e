//! Lists: chains of elements that arrive over time (the paper's XList, section 4.1).
//!
//! Invariant: a cell is reachable exactly when the list is uncut or unread (`head`), or a cursor stands before it.
//! A list is *cut* when it was removed from its tree or read by a removing cursor; the first element that any
//! cursor passes then takes the head away, and from there on elements live only as long as cursors stand before
//! them. The `tail` is kept only while somebody can walk to it. When neither head nor cursor is left, nobody can
//! reach what is still to come, and the producer drops it unread.
//!
//! Locks: a document's lock is taken before a list's, a list's before one further down in the tree, never the other
//! way round.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::cell::Cell;
use crate::cursor::Cursor;
use crate::failure::ReadError;
use crate::producer::Token;

pub(crate) enum Head {
    /// New cursors begin here (`None`: no element has arrived).
    Start(Option<Cell>),
    /// The first element was passed in a cut list, or the last handle on the list is gone.
    Gone,
}

/// Where a cursor stands, as the list sees it.
pub(crate) enum Place {
    /// Somewhere in the chain; the cursor itself holds the cell.
    Walking,
    /// Behind the last element.
    AtEnd,
    /// It was at the end, and this element has arrived since.
    Arrived(Cell),
}

pub(crate) struct ListState {
    pub head: Head,
    tail: Option<Cell>,
    pub cut: bool,
    /// No more elements come.
    pub complete: bool,
    cursors: Vec<(u32, Place)>,
    next_cursor: u32,
}

impl ListState {
    /// Whether anybody can still read what has arrived or is to come.
    pub fn reachable(&self) -> bool {
        !self.cursors.is_empty() || !matches!(self.head, Head::Gone)
    }

    /// Whether the next element may be handed to `cursor` without being kept: it is the only one, and at the end.
    pub fn direct(&self, cursor: u32) -> bool {
        let free = match &self.head {
            Head::Gone => true,
            Head::Start(first) => self.cut && first.is_none(),
        };
        free && matches!(&self.cursors[..], [(id, Place::AtEnd)] if *id == cursor)
    }

    pub fn place(&mut self, cursor: u32) -> Option<&mut Place> {
        self.cursors.iter_mut().find(|(id, _)| *id == cursor).map(|(_, place)| place)
    }

    /// Puts an element at the end.
    pub fn append(&mut self, cell: Cell) {
        if let Some(tail) = &self.tail {
            tail.link(cell.clone());
        }
        if let Head::Start(first @ None) = &mut self.head {
            *first = Some(cell.clone());
        }
        for (_, place) in &mut self.cursors {
            if matches!(place, Place::AtEnd) {
                *place = Place::Arrived(cell.clone());
            }
        }
        self.tail = Some(cell);
    }

    /// Lets go of the tail when nobody can walk to it. The caller drops what comes back.
    #[must_use]
    pub fn trim(&mut self) -> Option<Cell> {
        let walked = matches!(self.head, Head::Start(Some(_))) || self.cursors.iter().any(|(_, place)| !matches!(place, Place::AtEnd));
        if walked && !self.complete { None } else { self.tail.take() }
    }

    /// No more elements come.
    #[must_use]
    pub fn finish(&mut self) -> Option<Cell> {
        self.complete = true;
        self.tail.take()
    }
}

/// What handles, cursors and the producer share of a list.
pub(crate) struct ListCore {
    pub token: Arc<Token>,
    pub state: Mutex<ListState>,
    handles: AtomicUsize,
}

impl ListCore {
    /// The element of `cursor` was passed for the first time: in a cut list this takes the head away.
    pub fn passed(&self, cell: &Cell) -> Option<Cell> {
        let mut state = self.state.lock();
        if state.cut && matches!(&state.head, Head::Start(Some(first)) if first.same(cell)) {
            if let Head::Start(first) = std::mem::replace(&mut state.head, Head::Gone) {
                return first;
            }
        }
        None
    }

    pub fn leave(&self, cursor: u32) {
        let (garbage, open) = {
            let mut state = self.state.lock();
            let at = state.cursors.iter().position(|(id, _)| *id == cursor);
            let place = at.map(|at| state.cursors.swap_remove(at));
            let tail = state.trim();
            ((place, tail), !state.complete && !state.reachable())
        };
        drop(garbage);
        if open {
            self.token.producer.poke();
        }
    }
}

/// A handle on a list. Clones are the same list. The elements stay readable from the beginning while a handle (or the
/// tree it was got from) is there, unless the list was cut.
pub struct List {
    pub(crate) core: Arc<ListCore>,
}

impl List {
    pub(crate) fn new(token: Arc<Token>, complete: bool) -> List {
        let state = ListState { head: Head::Start(None), tail: None, cut: false, complete, cursors: Vec::new(), next_cursor: 0 };
        List { core: Arc::new(ListCore { token, state: Mutex::new(state), handles: AtomicUsize::new(1) }) }
    }

    /// A reader that begins at the first element. `removing` cuts the list (the paper's `removeIterator`): elements
    /// are let go of as they are passed, by whichever cursor.
    ///
    /// # Errors
    /// [`ReadError::Removed`] when the list is cut and its first element was passed.
    pub fn cursor(&self, removing: bool) -> Result<Cursor, ReadError> {
        let mut state = self.core.state.lock();
        let Head::Start(first) = &state.head else { return Err(ReadError::Removed) };
        let at = first.clone();
        if removing {
            state.cut = true;
        }
        let id = state.next_cursor;
        state.next_cursor = state.next_cursor.wrapping_add(1);
        let place = if at.is_some() { Place::Walking } else { Place::AtEnd };
        state.cursors.push((id, place));
        drop(state);
        Ok(Cursor::new(self.core.clone(), id, at))
    }

    /// Cuts the list: what any cursor passes from now on is let go of.
    pub fn cut(&self) {
        self.core.state.lock().cut = true;
    }

    /// Whether it was cut.
    pub fn is_cut(&self) -> bool {
        self.core.state.lock().cut
    }

    /// Whether its first element was passed after it was cut, so that it can't be read from the beginning.
    pub fn is_removed(&self) -> bool {
        matches!(self.core.state.lock().head, Head::Gone)
    }

    /// Whether all its elements have arrived.
    pub fn is_complete(&self) -> bool {
        self.core.state.lock().complete
    }

    /// Whether both are handles on the same list.
    pub fn same(&self, other: &List) -> bool {
        Arc::ptr_eq(&self.core, &other.core)
    }

    /// A number that no other list has while this one lives.
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.core).addr()
    }

    /// The producer of its document.
    pub fn producer(&self) -> &Arc<crate::producer::Producer> {
        &self.core.token.producer
    }
}

impl Clone for List {
    fn clone(&self) -> List {
        self.core.handles.fetch_add(1, Ordering::Relaxed);
        List { core: self.core.clone() }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        if self.core.handles.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        let (garbage, open) = {
            let mut state = self.core.state.lock();
            let head = std::mem::replace(&mut state.head, Head::Gone);
            let tail = state.trim();
            ((head, tail), !state.complete && !state.reachable())
        };
        drop(garbage);
        if open {
            self.core.token.producer.poke();
        }
    }
}

impl std::fmt::Debug for List {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "List({:p})", Arc::as_ptr(&self.core))
    }
}
