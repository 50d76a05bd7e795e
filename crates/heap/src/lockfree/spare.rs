//! Large buffers that nobody looks at any more, kept by their worker for its next ones.
//!
//! A worker that replaces buffers all the time gets back those that it has written lately: they are mapped, and lie in its own
//! core's cache. Through the allocator they would go round among all cores, and each write would fetch a line from another one.
//!
//! Invariant: what is here is free memory. Nothing names it, nobody reads it, and it was allocated with the layout that stands beside
//! it; it goes to whoever asks for just that layout. There are at most [`MOST`] bytes. What was not wanted from one node
//! collection to the next goes to the allocator, and all of it with a full one.
//!
//! Its worker has the list, or at a stop the worker that collects. A stop does not wait for a detached worker: that one closes its list
//! before, and neither takes nor adds until it is back.

use super::sync::{RefCell, dealloc};
use std::alloc::Layout;
use std::cell::Cell;

/// What one worker keeps at most, in bytes.
pub(super) const MOST: usize = 8 << 20;

struct Spare {
    p: *mut u8,
    layout: Layout,
    /// It was here at the last node collection.
    old: bool,
}

/// One worker's, in the order in which they came.
#[derive(Default)]
pub(super) struct Spares {
    all: RefCell<Vec<Spare>>,
    bytes: Cell<usize>,
    /// Its worker is detached. Nobody else looks at this.
    closed: Cell<bool>,
}

impl Spares {
    /// Its worker detaches, or is back.
    pub fn close(&self, closed: bool) {
        self.closed.set(closed);
    }
    pub fn is_open(&self) -> bool {
        !self.closed.get()
    }
    pub fn bytes(&self) -> usize {
        self.bytes.get()
    }
    /// Keeps `p`, or frees it. Those that have been here longest make room for it.
    ///
    /// # Safety
    /// `p` was allocated with `layout`, nobody reads it, and nobody else frees it.
    pub unsafe fn put(&self, p: *mut u8, layout: Layout) {
        if self.closed.get() || layout.size() > MOST {
            // SAFETY: the caller's promise.
            return unsafe { dealloc(p, layout) };
        }
        let most = MOST.saturating_sub(layout.size());
        self.free_where(|bytes, _| bytes > most);
        self.bytes.set(self.bytes.get() + layout.size());
        self.all.borrow_mut().push(Spare { p, layout, old: false });
    }
    /// The one of that layout that came last, to be written anew.
    pub fn take(&self, layout: Layout) -> Option<*mut u8> {
        if self.closed.get() {
            return None;
        }
        let mut all = self.all.borrow_mut();
        let at = all.iter().rposition(|s| s.layout == layout)?;
        self.bytes.set(self.bytes.get() - layout.size());
        Some(all.remove(at).p)
    }
    /// After a node collection: what was here at the one before goes, after a full one all.
    pub fn grow_old(&self, full: bool) {
        self.free_where(|_, old| old || full);
        self.all.borrow_mut().iter_mut().for_each(|s| s.old = true);
    }
    /// All go.
    pub fn clear(&self) {
        self.free_where(|_, _| true);
    }
    /// Frees those of which `f` says so, which is told how many bytes there are and whether it is old.
    fn free_where(&self, f: impl Fn(usize, bool) -> bool) {
        self.all.borrow_mut().retain(|s| {
            let goes = f(self.bytes.get(), s.old);
            if goes {
                self.bytes.set(self.bytes.get() - s.layout.size());
                // SAFETY: the module's invariant; it is kept no longer.
                unsafe { dealloc(s.p, s.layout) };
            }
            !goes
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn layout(bytes: usize) -> Layout {
        Layout::array::<u8>(bytes).expect("a layout")
    }
    fn put(s: &Spares, bytes: usize) -> *mut u8 {
        let l = layout(bytes);
        // SAFETY: a size that is not zero, of the layout it is freed with.
        unsafe {
            let p = std::alloc::alloc(l);
            s.put(p, l);
            p
        }
    }
    fn take(s: &Spares, bytes: usize) -> Option<*mut u8> {
        s.take(layout(bytes))
    }

    #[test]
    fn the_last_of_just_that_size_comes_first() {
        let s = Spares::default();
        let (first, _, last) = (put(&s, 1000), put(&s, 1001), put(&s, 1000));
        assert_eq!(s.bytes(), 3001);
        assert_eq!([take(&s, 1000), take(&s, 1000), take(&s, 1000), take(&s, 999)], [Some(last), Some(first), None, None]);
        assert_eq!(s.bytes(), 1001);
        [first, last].into_iter().for_each(|p| {
            // SAFETY: as in `put`.
            unsafe { std::alloc::dealloc(p, layout(1000)) }
        });
        s.clear();
        assert!(s.bytes() == 0 && take(&s, 1001).is_none());
    }

    #[test]
    fn what_a_stop_may_look_at_is_left_alone() {
        let s = Spares::default();
        put(&s, 1000);
        s.close(true);
        put(&s, 1000);
        assert!(s.bytes() == 1000 && take(&s, 1000).is_none());
        s.close(false);
        let kept = take(&s, 1000).expect("what was kept before");
        // SAFETY: as in `put`.
        unsafe { s.put(kept, layout(1000)) };
        s.clear();
    }

    #[test]
    fn there_is_a_bound_and_what_is_not_wanted_goes() {
        let s = Spares::default();
        for _ in 0..5 {
            put(&s, MOST / 4);
        }
        assert_eq!(s.bytes(), MOST, "the oldest made room");
        put(&s, MOST / 2);
        assert_eq!(s.bytes(), MOST);
        put(&s, MOST + 1);
        assert_eq!(s.bytes(), MOST, "too large to be kept");
        s.grow_old(false);
        assert_eq!(s.bytes(), MOST, "it may be wanted yet");
        put(&s, MOST / 4);
        s.grow_old(false);
        assert_eq!(s.bytes(), MOST / 4);
        s.grow_old(false);
        assert_eq!(s.bytes(), 0);
        put(&s, MOST / 4);
        s.grow_old(true);
        assert_eq!(s.bytes(), 0);
    }
}
