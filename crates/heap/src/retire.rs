//! Buffers that were replaced while other workers may still read them.
//!
//! Invariant: memory given to [`free_later`] by a thread that is bound to a
//! [`Retired`] list stays readable until a collection frees it
//! ([`Retired::free_old`]), which happens only while the world is stopped; no
//! reader keeps a borrow of a buffer across a safepoint, so nobody reads it then,
//! but for readers that a stop does not wait for: what was replaced before the last
//! stop that such a reader has seen is nothing to it, later things stay.
//! A thread that is bound to no list runs alone (or owns what it frees): there
//! the memory goes back at once.

use std::alloc::{Layout, dealloc};
use std::cell::{Cell, RefCell};
use std::ptr::null;

/// What one worker has replaced since the last collection.
#[derive(Default)]
pub struct Retired {
    list: RefCell<Vec<(*mut u8, Layout)>>,
    /// What was replaced before a stop, by the stop's number, that a reader may still look at.
    old: RefCell<Vec<(u64, Vec<(*mut u8, Layout)>)>>,
    bytes: Cell<usize>,
    /// Bytes not yet counted towards the next collection.
    fresh: Cell<usize>,
}

// SAFETY: the list owns its memory, and is used by the thread it is bound to, or by the collecting one while that is stopped.
unsafe impl Send for Retired {}

thread_local! {
    static LIST: Cell<*const Retired> = const { Cell::new(null()) };
}

/// Does this thread run beside others (is it bound to a list)?
#[inline(always)]
pub fn parallel() -> bool {
    !LIST.get().is_null()
}

/// Frees `p` when no racing reader can look at it any more: at once when this thread runs alone.
///
/// # Safety
/// `p` was allocated with `layout`, new readers can't reach it, and nobody frees it again.
#[inline]
pub unsafe fn free_later(p: *mut u8, layout: Layout) {
    let list = LIST.get();
    if list.is_null() {
        // SAFETY: the caller's promise; nobody else runs.
        unsafe { dealloc(p, layout) };
    } else {
        // SAFETY: a bound list outlives its binding (`bind`'s contract).
        unsafe { (*list).put(p, layout) };
    }
}

/// Binds this thread to `list`: it runs in parallel mode. `None`: it runs alone again.
///
/// # Safety
/// The list must stay where it is, and be used by this thread only, until the thread is bound otherwise.
pub unsafe fn bind(list: Option<&Retired>) {
    LIST.set(list.map_or(null(), |l| l as *const Retired));
}

/// Runs `f` as if this thread ran alone: what it replaces is freed at once. For changes of cells that no other
/// thread can reach, while others run.
///
/// What `f` changes must be such cells only.
#[inline]
pub fn alone<T>(f: impl FnOnce() -> T) -> T {
    /// Binds the list again, whatever way `f` ends.
    struct Back(*const Retired);
    impl Drop for Back {
        #[inline]
        fn drop(&mut self) {
            // `LocalKey::set` is no inlined one.
            LIST.with(|l| l.set(self.0));
        }
    }
    let _back = Back(LIST.replace(null()));
    f()
}

impl Retired {
    fn put(&self, p: *mut u8, layout: Layout) {
        self.list.borrow_mut().push((p, layout));
        self.bytes.set(self.bytes.get() + layout.size());
        self.fresh.set(self.fresh.get() + layout.size());
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes.get()
    }
    /// Bytes that came since this was last asked.
    #[inline]
    pub fn take_fresh(&self) -> usize {
        self.fresh.replace(0)
    }
    /// Is this the list the calling thread is bound to?
    pub fn is_bound(&self) -> bool {
        std::ptr::eq(LIST.get(), self)
    }
    /// At stop number `stop`: frees what nobody reads, `oldest` being the last stop that every reader beside the stops has
    /// seen (`None`: there is none).
    ///
    /// # Safety
    /// Every other thread that may read cells of this heap is stopped at a safepoint.
    pub unsafe fn free_old(&self, stop: u64, oldest: Option<u64>) {
        let Some(oldest) = oldest else {
            // SAFETY: the caller's promise.
            return unsafe { self.free_all() };
        };
        let mut old = self.old.borrow_mut();
        let fresh = std::mem::take(&mut *self.list.borrow_mut());
        if !fresh.is_empty() {
            old.push((stop, fresh));
        }
        old.retain(|(at, list)| {
            if *at > oldest {
                return true;
            }
            for &(p, l) in list {
                // SAFETY: `free_later`'s promise; whoever could have found it before that stop has seen the stop.
                unsafe { dealloc(p, l) };
                self.bytes.set(self.bytes.get().saturating_sub(l.size()));
            }
            false
        });
        self.fresh.set(0);
    }
    /// Frees everything.
    ///
    /// # Safety
    /// Every thread that may read cells of this heap is stopped at a safepoint.
    pub unsafe fn free_all(&self) {
        let old = std::mem::take(&mut *self.old.borrow_mut());
        for (p, l) in self.list.borrow_mut().drain(..).chain(old.into_iter().flat_map(|o| o.1)) {
            // SAFETY: `free_later`'s promise; no reader by this function's.
            unsafe { dealloc(p, l) };
        }
        self.bytes.set(0);
        self.fresh.set(0);
    }
}

impl Drop for Retired {
    fn drop(&mut self) {
        // SAFETY: whoever drops the list has seen to it that nobody reads (a heap hands its list on instead).
        unsafe { self.free_all() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_may_have_seen_outlasts_stops() {
        let list = Retired::default();
        let l = Layout::new::<[u64; 4]>();
        // SAFETY: a size that is not zero, of the layout it is freed with.
        let more = || list.put(unsafe { std::alloc::alloc(l) }, l);
        more();
        // SAFETY: nobody reads.
        unsafe { list.free_old(6, Some(5)) };
        assert_eq!(list.bytes(), l.size());
        more();
        // SAFETY: as above.
        unsafe { list.free_old(7, Some(6)) };
        assert_eq!(list.bytes(), l.size());
        more();
        // SAFETY: as above.
        unsafe { list.free_old(8, None) };
        assert_eq!(list.bytes(), 0);
    }

    #[test]
    fn alone_frees_at_once_and_binds_again_after_a_panic() {
        let list = Retired::default();
        // SAFETY: the list outlives its binding.
        unsafe { bind(Some(&list)) };
        assert!(parallel());
        assert_eq!(alone(|| parallel() as u8 + 1), 1);
        let caught = std::panic::catch_unwind(|| alone(|| panic!("on purpose")));
        assert!(caught.is_err() && list.is_bound());
        // SAFETY: as above.
        unsafe { bind(None) };
    }
}
