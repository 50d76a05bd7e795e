//! Buffers that were replaced while other workers may still read them.
//!
//! Invariant: memory given to [`free_later`] by a thread that is bound to a
//! [`Retired`] list stays readable until the list's owner calls
//! [`Retired::free_all`], which happens only while the world is stopped; no
//! reader keeps a borrow of a buffer across a safepoint, so nobody reads it then.
//! A thread that is bound to no list runs alone (or owns what it frees): there
//! the memory goes back at once.

use std::alloc::{Layout, dealloc};
use std::cell::{Cell, RefCell};
use std::ptr::null;

/// What one worker has replaced since the last collection.
#[derive(Default)]
pub struct Retired {
    list: RefCell<Vec<(*mut u8, Layout)>>,
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
            LIST.set(self.0);
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
    /// Frees everything.
    ///
    /// # Safety
    /// Every thread that may read cells of this heap is stopped at a safepoint.
    pub unsafe fn free_all(&self) {
        for (p, l) in self.list.borrow_mut().drain(..) {
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
