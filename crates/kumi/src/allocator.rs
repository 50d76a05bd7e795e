//! The process's allocator: mimalloc, through the doors that find a block of just the right size.
//!
//! Invariant: blocks of mimalloc's plain calls lie at multiples of a word, and of two words when they are that large
//! (`MI_MAX_ALIGN_SIZE`), so what asks for no more goes there. Its calls with an alignment take a plain block only of
//! sizes that are powers of two; all others they round up by the alignment first (48 bytes lie in a block of 64, 1,500 in one
//! of 1,792), by a longer way.
//!
//! Large pieces are counted, and may be refused (`kumi_budget`). Where the system has nothing, a part of the reserve is given back to it
//! and it is asked again.

use libmimalloc_sys as mi;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// See the module.
pub struct Allocator;

/// Pieces of this size and above are counted.
const LARGE: usize = kumi_budget::LARGE;
static FREED: AtomicUsize = AtomicUsize::new(0);

/// Bytes that were freed so far in large pieces, or are about to be.
pub fn freed_in_large() -> usize {
    FREED.load(Relaxed)
}
#[inline(always)]
fn count(bytes: usize) {
    if bytes >= LARGE {
        FREED.fetch_add(bytes, Relaxed);
        kumi_budget::went(bytes);
    }
}
/// What `take` gives, a piece of `bytes`.
#[inline(always)]
fn got(bytes: usize, take: impl Fn() -> *mut u8) -> *mut u8 {
    if bytes >= LARGE {
        return large(bytes, take);
    }
    let p = take();
    if p.is_null() { out_of_reserve(take) } else { p }
}
#[cold]
#[inline(never)]
fn out_of_reserve(take: impl Fn() -> *mut u8) -> *mut u8 {
    loop {
        if !kumi_budget::release() {
            kumi_budget::last_words();
        }
        let p = take();
        if !p.is_null() {
            return p;
        }
    }
}
#[cold]
#[inline(never)]
fn large(bytes: usize, take: impl Fn() -> *mut u8) -> *mut u8 {
    if kumi_budget::is_beyond(bytes) {
        return std::ptr::null_mut();
    }
    kumi_budget::taken(bytes);
    let mut p = take();
    if p.is_null() {
        if kumi_budget::may_refuse() {
            return p;
        }
        p = out_of_reserve(take);
    }
    kumi_budget::came(bytes);
    p
}

/// Alignment of every block, however small.
const WORD: usize = size_of::<usize>();

// SAFETY: mimalloc's own promises; the plain calls are used where their alignment does.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        // SAFETY: any size and alignment of a layout will do.
        let take =
            || unsafe { if l.align() <= WORD { mi::mi_malloc(l.size()) } else { mi::mi_malloc_aligned(l.size(), l.align()) }.cast() };
        got(l.size(), take)
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, l: Layout) -> *mut u8 {
        // SAFETY: as above.
        let take =
            || unsafe { if l.align() <= WORD { mi::mi_zalloc(l.size()) } else { mi::mi_zalloc_aligned(l.size(), l.align()) }.cast() };
        got(l.size(), take)
    }
    #[inline]
    unsafe fn dealloc(&self, p: *mut u8, l: Layout) {
        count(l.size());
        // SAFETY: a block of this allocator's, by the caller's promise.
        unsafe { mi::mi_free(p.cast()) }
    }
    #[inline]
    unsafe fn realloc(&self, p: *mut u8, l: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; what could not be moved is still there.
        let take = || unsafe {
            let p = p.cast();
            if l.align() <= WORD { mi::mi_realloc(p, size) } else { mi::mi_realloc_aligned(p, size, l.align()) }.cast()
        };
        let new = got(size, take);
        if !new.is_null() {
            count(l.size());
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lie_where_their_layouts_want_them_and_keep_their_bytes() {
        let a = Allocator;
        for align in [1, 2, 4, 8, 16, 64] {
            for size in (1..600).chain((600..40_000).step_by(97)) {
                let l = Layout::from_size_align(size, align).expect("a layout");
                let more = Layout::from_size_align(size * 3, align).expect("a layout");
                // SAFETY: sizes are not zero; blocks are used within their sizes and freed once.
                unsafe {
                    let (p, z) = (a.alloc(l), a.alloc_zeroed(l));
                    assert!(!p.is_null() && !z.is_null());
                    assert_eq!((p.addr() % align, z.addr() % align), (0, 0), "{size} {align}");
                    assert!((0..size).all(|i| *z.add(i) == 0));
                    p.write_bytes(7, size);
                    z.write_bytes(9, size);
                    let q = a.realloc(p, l, more.size());
                    assert!(!q.is_null());
                    assert_eq!(q.addr() % align, 0, "{size} {align}");
                    assert!((0..size).all(|i| *q.add(i) == 7 && *z.add(i) == 9));
                    a.dealloc(q, more);
                    a.dealloc(z, l);
                }
            }
        }
    }
    #[test]
    fn a_block_is_no_larger_than_it_must_be() {
        // 48 bytes have a class of their own; with an alignment given they would lie in blocks of 64.
        let l = Layout::from_size_align(48, 8).expect("a layout");
        // SAFETY: as above.
        unsafe {
            let p = Allocator.alloc(l);
            assert_eq!(mi::mi_usable_size(p.cast()), 48);
            Allocator.dealloc(p, l);
        }
    }
}
