//! Chain cells: one element of a list that is kept because somebody may still read it.
//!
//! Invariant: a cell is one allocation (header and packed row) with two counts. `chain` counts what can still
//! *walk* from it: the list's head, its tail, cursors that stand before it, and the cell before it. When it
//! falls to zero the cell lets go of the next one. `body` counts what can still *see* it: all of `chain`
//! together as one, and every [`RowHandle`]. When it falls to zero the memory goes. So a record that a program
//! holds keeps its own bytes and never the rows behind it. `next` is written once, under the list's lock.
//! Dropping a chain of any length uses constant native stack.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::collections::HashSet;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use kumi_xml::{ClassId, RowView};
use parking_lot::Mutex;

use crate::registry::Meter;
use crate::tree::Node;

/// Fields that were removed from a kept row: the offset of the (nested) row in the outermost one, and the field.
type Removed = Mutex<HashSet<(u32, u16)>>;

struct Header {
    chain: AtomicUsize,
    body: AtomicUsize,
    /// The next cell, owned (one `chain` count of it); null while this is the last.
    next: AtomicPtr<Header>,
    what: What,
    removed: OnceLock<Box<Removed>>,
    meter: Arc<Meter>,
    len: usize,
}

/// What an element of a list is.
pub(crate) enum What {
    /// A whole element; the bytes are its packed row.
    Row(ClassId),
    /// The bytes are a text behind its place, as [`kumi_xml::placed`] takes them.
    Text,
    /// A streaming element; there are no bytes.
    Node(Arc<Node>),
}

fn layout(len: usize) -> Layout {
    let (layout, _) =
        Layout::new::<Header>().extend(Layout::array::<u8>(len).expect("a row fits an allocation")).expect("a row fits an allocation");
    layout.pad_to_align()
}

/// Packed bytes as a row; without fields when they are none, which no binder makes.
pub(crate) fn view(bytes: &[u8]) -> RowView<'_> {
    const EMPTY: &[u8] = &[0; kumi_xml::row::HEADER];
    RowView::new(bytes).or_else(|| RowView::new(EMPTY)).expect("a header without fields is a row")
}

/// The bytes behind a header.
///
/// # Safety
/// `'a` is no longer than somebody owns a body count, or a chain count, of the cell.
unsafe fn bytes<'a>(header: NonNull<Header>) -> &'a [u8] {
    // SAFETY: the cell is alive by the caller's promise; `Cell::new` allocated it with `len` initialised bytes behind its header,
    // and they never change.
    unsafe { std::slice::from_raw_parts(header.as_ptr().add(1).cast::<u8>(), header.as_ref().len) }
}

/// Gives one of `count` back. True for the last one: what others did before they gave theirs back has happened.
fn last(count: &AtomicUsize) -> bool {
    // A load, not a fence, for thread sanitizer knows no fences.
    count.fetch_sub(1, Ordering::Release) == 1 && count.load(Ordering::Acquire) == 0
}

/// Gives a body count back; the last one frees the cell.
///
/// # Safety
/// The caller owns one body count, and has it no more afterwards.
unsafe fn release_body(cell: NonNull<Header>) {
    // SAFETY: by the caller's promise one body count keeps the header alive until the subtraction.
    if !last(unsafe { &cell.as_ref().body }) {
        return;
    }
    // SAFETY: the last count is gone, so nobody else has the pointer; the header is dropped once and the
    // allocation freed with the layout it was made with.
    unsafe {
        let header = cell.as_ref();
        let (len, meter) = (header.len, header.meter.clone());
        std::ptr::drop_in_place(cell.as_ptr());
        dealloc(cell.as_ptr().cast(), layout(len));
        meter.freed(len);
    }
}

/// A place in a chain: the right to read this element and all that come after it.
pub(crate) struct Cell(NonNull<Header>);

// SAFETY: a `Cell` is a shared, counted reference to a `Header`, as an `Arc` would be, and that is `Send` and `Sync` (asserted
// below). The bytes behind it never change, and `next` is published with release and acquire.
unsafe impl Send for Cell {}
// SAFETY: as for `Send`.
unsafe impl Sync for Cell {}

const _: () = {
    const fn any_thread<T: Send + Sync>() {}
    any_thread::<Header>()
};

impl Cell {
    /// A cell that holds an element.
    pub fn new(what: What, row: &[u8], meter: &Arc<Meter>) -> Cell {
        let layout = layout(row.len());
        meter.made(row.len());
        // SAFETY: the layout has the size of a header, which is not 0, and of the bytes behind it; both are written before the
        // address is given to anybody.
        unsafe {
            let Some(cell) = NonNull::new(alloc(layout).cast::<Header>()) else { handle_alloc_error(layout) };
            cell.as_ptr().write(Header {
                chain: AtomicUsize::new(1),
                body: AtomicUsize::new(1),
                next: AtomicPtr::new(std::ptr::null_mut()),
                what,
                removed: OnceLock::new(),
                meter: meter.clone(),
                len: row.len(),
            });
            std::ptr::copy_nonoverlapping(row.as_ptr(), cell.as_ptr().add(1).cast::<u8>(), row.len());
            Cell(cell)
        }
    }

    fn header(&self) -> &Header {
        // SAFETY: this handle owns a chain count, and all chain counts together own a body count, so that the header is alive.
        unsafe { self.0.as_ref() }
    }

    /// What the element is.
    pub fn what(&self) -> &What {
        &self.header().what
    }

    /// The packed row, or the text behind its place (empty for a streaming element).
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: this handle, which is borrowed for as long, owns a chain count.
        unsafe { bytes(self.0) }
    }

    /// The element that follows, if it has arrived.
    pub fn next(&self) -> Option<Cell> {
        let next = NonNull::new(self.header().next.load(Ordering::Acquire))?;
        // SAFETY: this cell owns a chain count of `next`, and gives it back only when nobody has a chain count of itself.
        unsafe { next.as_ref() }.chain.fetch_add(1, Ordering::Relaxed);
        Some(Cell(next))
    }

    /// Puts `next` behind this cell. Called once a cell, under the list's lock.
    pub fn link(&self, next: Cell) {
        let next = std::mem::ManuallyDrop::new(next);
        let before = self.header().next.swap(next.0.as_ptr(), Ordering::Release);
        debug_assert!(before.is_null(), "a cell is linked once");
    }

    /// Whether both are the same cell.
    pub fn same(&self, other: &Cell) -> bool {
        self.0 == other.0
    }

    /// A handle on the row alone, which keeps nothing behind it.
    pub fn handle(&self) -> RowHandle {
        self.header().body.fetch_add(1, Ordering::Relaxed);
        RowHandle(self.0)
    }
}

impl Clone for Cell {
    fn clone(&self) -> Cell {
        self.header().chain.fetch_add(1, Ordering::Relaxed);
        Cell(self.0)
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        let mut cell = self.0;
        loop {
            // SAFETY: one chain count of `cell` is ours to give back: the handle's own, then the one that the cell before it owned.
            let header = unsafe { cell.as_ref() };
            if !last(&header.chain) {
                return;
            }
            let next = header.next.swap(std::ptr::null_mut(), Ordering::Relaxed);
            // SAFETY: the last chain count has gone, and with it goes the body count that all of them owned.
            unsafe { release_body(cell) };
            match NonNull::new(next) {
                Some(next) => cell = next,
                None => return,
            }
        }
    }
}

/// A kept row, seen from outside its list: keeps its bytes and remembers which of its fields were removed.
/// Two handles are [`same`](RowHandle::same) when they show the same element of the tree.
pub struct RowHandle(NonNull<Header>);

// SAFETY: as for `Cell`: a shared, counted reference to what is `Send` and `Sync`.
unsafe impl Send for RowHandle {}
// SAFETY: as for `Send`.
unsafe impl Sync for RowHandle {}

impl RowHandle {
    fn header(&self) -> &Header {
        // SAFETY: this handle owns a body count, so that the header is alive.
        unsafe { self.0.as_ref() }
    }

    /// The class of the element; `None` for a text.
    pub fn class(&self) -> Option<ClassId> {
        match self.header().what {
            What::Row(class) => Some(class),
            _ => None,
        }
    }

    /// The packed row, or the text behind its place.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: this handle, which is borrowed for as long, owns a body count.
        unsafe { bytes(self.0) }
    }

    /// The packed row, to read fields from.
    pub fn view(&self) -> RowView<'_> {
        view(self.bytes())
    }

    /// Whether both show the same element.
    pub fn same(&self, other: &RowHandle) -> bool {
        self.0 == other.0
    }

    /// A number that no other kept row has while this one lives (for hashing by identity).
    pub fn identity(&self) -> usize {
        self.0.as_ptr().addr()
    }

    /// Whether `field` of the row that starts at `offset` (0: the row itself; else one nested in it) was removed.
    pub fn is_removed(&self, offset: u32, field: u16) -> bool {
        self.header().removed.get().is_some_and(|set| set.lock().contains(&(offset, field)))
    }

    /// Removes a field; false when it had been removed before.
    pub fn remove(&self, offset: u32, field: u16) -> bool {
        self.header().removed.get_or_init(Default::default).lock().insert((offset, field))
    }
}

impl Clone for RowHandle {
    fn clone(&self) -> RowHandle {
        self.header().body.fetch_add(1, Ordering::Relaxed);
        RowHandle(self.0)
    }
}

impl Drop for RowHandle {
    fn drop(&mut self) {
        // SAFETY: this handle's own count, which nobody gives back but here.
        unsafe { release_body(self.0) };
    }
}

impl std::fmt::Debug for RowHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RowHandle({} bytes)", self.bytes().len())
    }
}
