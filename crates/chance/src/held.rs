//! What a thread holds.
//!
//! **Invariant.** Each thread counts for itself, and nothing that is counted is touched.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts. A test has it as its `#[global_allocator]`.
pub struct Counting;

thread_local! {
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(n: isize) {
    let _ = HELD.try_with(|held| {
        let now = held.get().0 + n;
        held.set((now, held.get().1.max(now)));
    });
}

// SAFETY: every call goes to the system's allocator as it came; counting touches no memory that is allocated.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(p, layout) }
    }
}

/// The most that this thread held during the call, beyond what it held before, in bytes: nothing is known unless [`Counting`] is the
/// allocator.
pub fn peak<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.with(|held| {
        held.set((held.get().0, held.get().0));
        held.get().0
    });
    let result = f();
    (result, (HELD.with(Cell::get).1 - before) as usize)
}
