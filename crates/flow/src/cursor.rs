//! Cursors: readers of a list (the paper's XIterator), each at its own pace, from any thread.
//!
//! Invariant: a cursor stands before an element that it holds (`at`), or at the end, where the list knows it and
//! hands it the next element that arrives. What it has passed it holds no more.
//!
//! Direct mode: the only cursor of a cut list, at its end, gets rows straight out of the batch that the binder
//! filled; nothing is allocated for them.

use std::sync::Arc;

use kumi_xml::{ClassId, Item, RowView};

use crate::cell::{Cell, RowHandle, What, view};
use crate::failure::ReadError;
use crate::list::{Head, ListCore, Place};
use crate::producer::{Producer, State, Step, Stint};
use crate::tree::Node;
use crate::wait::Poll;

/// A whole element, as a cursor passes it.
#[derive(Clone, Copy)]
pub struct RowEntry<'a> {
    /// Its class.
    pub class: ClassId,
    bytes: &'a [u8],
    cell: Option<&'a Cell>,
}

impl<'a> RowEntry<'a> {
    /// The packed row.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The packed row, to read fields from.
    pub fn view(&self) -> RowView<'a> {
        view(self.bytes)
    }

    /// The row as part of the tree; `None` when nobody else can ever see it (direct mode).
    pub fn handle(&self) -> Option<RowHandle> {
        self.cell.map(Cell::handle)
    }
}

/// An element of a list.
pub enum Entry<'a> {
    /// A whole element.
    Row(RowEntry<'a>),
    /// An element of a list of texts, as UTF-8, and the line and column of its start tag (zeros: not known).
    Text(&'a [u8], (u32, u32)),
    /// A streaming element.
    Node(&'a Arc<Node>),
}

impl<'a> Entry<'a> {
    fn text(placed: &'a [u8]) -> Entry<'a> {
        let (place, text) = kumi_xml::placed(placed);
        Entry::Text(text, place)
    }

    fn of(cell: &'a Cell) -> Entry<'a> {
        match cell.what() {
            What::Row(class) => Entry::Row(RowEntry { class: *class, bytes: cell.bytes(), cell: Some(cell) }),
            What::Text => Entry::text(cell.bytes()),
            What::Node(node) => Entry::Node(node),
        }
    }
}

/// A reader of a list.
pub struct Cursor {
    core: Arc<ListCore>,
    stand: Stand,
}

/// Where a cursor stands.
struct Stand {
    id: u32,
    at: Option<Cell>,
    /// The first element was passed.
    started: bool,
}

/// How it looks at the end of the chain.
enum Look {
    Arrived,
    Complete,
    Nothing,
}

/// What the batches at hand held for a cursor.
enum Found {
    /// The chain has something, or the list is complete: look again.
    Look,
    /// So many were handed over; `stop` when the caller wants no more.
    Handed { count: usize, stop: bool },
    /// Nothing.
    Nothing,
}

impl Cursor {
    pub(crate) fn new(core: Arc<ListCore>, id: u32, at: Option<Cell>) -> Cursor {
        Cursor { core, stand: Stand { id, at, started: false } }
    }

    /// The producer of the list's document.
    pub fn producer(&self) -> &Arc<Producer> {
        &self.core.token.producer
    }

    /// Passes the next element and gives what `f` makes of it; `None` at the end. `f` may run under the document's
    /// lock: it may copy, and must neither read nor drop parts of the document.
    ///
    /// # Errors
    /// The document's failure, after all elements before it, every time.
    pub fn next<T>(&mut self, f: impl FnOnce(Entry<'_>) -> T) -> Result<Poll<Option<T>>, ReadError> {
        let (mut f, mut got) = (Some(f), None);
        let poll = self.next_batch(1, |entry| {
            got = f.take().map(|f| f(entry));
            false
        })?;
        Ok(poll.map(|_| got))
    }

    /// Passes up to `max` elements that are there, or that parsing what has arrived brings, calling `f` with each; it
    /// says whether it wants more. Gives the number passed, at least one; 0 at the end. As for [`next`](Cursor::next).
    ///
    /// # Errors
    /// As [`next`](Cursor::next): all elements before it have been passed.
    pub fn next_batch(&mut self, max: usize, mut f: impl FnMut(Entry<'_>) -> bool) -> Result<Poll<usize>, ReadError> {
        let max = max.max(1);
        let (mut taken, mut stint) = (0, Stint::default());
        let Cursor { core, stand } = self;
        loop {
            while let Some(cell) = &stand.at {
                if taken == max {
                    return Ok(Poll::Ready(taken));
                }
                let more = f(Entry::of(cell));
                stand.pass(core);
                taken += 1;
                if !more {
                    return Ok(Poll::Ready(taken));
                }
            }
            if taken == max {
                return Ok(Poll::Ready(taken));
            }
            let producer = &core.token.producer;
            let mut lock = producer.lock();
            match stand.look(core) {
                Look::Arrived => continue,
                Look::Complete => return Ok(Poll::Ready(taken)),
                Look::Nothing => {}
            }
            match stand.find(core, &mut lock, max - taken, &mut f) {
                Found::Look => continue,
                Found::Handed { count, stop } => {
                    taken += count;
                    if stop || taken == max {
                        return Ok(Poll::Ready(taken));
                    }
                    continue;
                }
                Found::Nothing => {}
            }
            if taken > 0 {
                return Ok(Poll::Ready(taken));
            }
            let seen = lock.generation();
            drop(lock);
            match producer.advance(seen) {
                Step::Progress => {
                    if let Some(turn) = stint.over(producer) {
                        return Ok(turn);
                    }
                }
                Step::Wait(wait, ticket) => return Ok(Poll::Wait(wait, ticket)),
                Step::Busy(ticket) => return Ok(Poll::Busy(ticket)),
                Step::Over(failure) => {
                    if matches!(stand.look(core), Look::Nothing) {
                        return Err(ReadError::Failed(failure));
                    }
                }
            }
        }
    }
}

impl Stand {
    /// Takes up the element that has arrived since the cursor came to the end.
    fn look(&mut self, core: &ListCore) -> Look {
        let mut state = core.state.lock();
        if let Some(place) = state.place(self.id) {
            if matches!(place, Place::Arrived(_)) {
                if let Place::Arrived(cell) = std::mem::replace(place, Place::Walking) {
                    self.at = Some(cell);
                }
                return Look::Arrived;
            }
        }
        if self.at.is_some() {
            Look::Arrived
        } else if state.complete {
            Look::Complete
        } else {
            Look::Nothing
        }
    }

    /// Goes on from the element it stands before.
    fn pass(&mut self, core: &ListCore) {
        let Some(cell) = self.at.take() else { return };
        if !self.started {
            self.started = true;
            drop(core.passed(&cell));
        }
        self.at = cell.next();
        if self.at.is_none() {
            let mut state = core.state.lock();
            // Elements are linked under this lock: what isn't here now will find the cursor at the end.
            self.at = cell.next();
            if self.at.is_none() {
                if let Some(place) = state.place(self.id) {
                    *place = Place::AtEnd;
                }
                let tail = state.trim();
                drop(state);
                drop(tail);
            }
        }
    }

    /// Looks through the batches at hand.
    fn find(&mut self, core: &Arc<ListCore>, state: &mut State, want: usize, f: &mut impl FnMut(Entry<'_>) -> bool) -> Found {
        let this = Arc::as_ptr(core);
        let (mut kept, mut routed) = (0, false);
        while let Some((batch, router, context)) = state.front() {
            let mut list = core.state.lock();
            if list.direct(self.id) {
                let (mut count, mut stop) = (0, false);
                while let Some(item) = batch.peek() {
                    let target = match item {
                        Item::Row { slot, .. } | Item::Field { slot, .. } | Item::Open { slot, .. } => router.target(slot),
                        Item::Close => break,
                    };
                    if target != this {
                        break;
                    }
                    batch.at += 1;
                    list.head = Head::Gone;
                    self.started = true;
                    let more = match item {
                        Item::Row { class, row, .. } => f(Entry::Row(RowEntry { class, bytes: batch.batch.row_bytes(row), cell: None })),
                        Item::Field { text, .. } => f(Entry::text(batch.batch.placed_text(text))),
                        Item::Open { class, row, .. } => {
                            let node = router.open(&core.token, class, batch.batch.row_bytes(row));
                            f(Entry::Node(&node))
                        }
                        Item::Close => false,
                    };
                    count += 1;
                    if !more || count == want {
                        stop = true;
                        break;
                    }
                }
                drop(list);
                if count > 0 {
                    state.handed(count);
                    if routed {
                        state.change();
                    }
                    return Found::Handed { count, stop };
                }
            } else {
                drop(list);
            }
            if let Some(item) = batch.peek() {
                batch.at += 1;
                routed = true;
                if router.step(item, &batch.batch, context) == this {
                    kept += 1;
                }
                if kept == want || matches!(item, Item::Close) && core.state.lock().complete {
                    state.change();
                    return Found::Look;
                }
            }
        }
        if routed {
            // Others may have waited for what went by.
            state.change();
        }
        if kept > 0 { Found::Look } else { Found::Nothing }
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        drop(self.stand.at.take());
        self.core.leave(self.stand.id);
    }
}

impl std::fmt::Debug for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cursor({} of {:p})", self.stand.id, Arc::as_ptr(&self.core))
    }
}
