//! The process's allocator: mimalloc, through the doors that find a block of just the right size.
//!
//! Invariant: blocks of mimalloc's plain calls lie at multiples of a word, and of two words when they are that large
//! (`MI_MAX_ALIGN_SIZE`), so what asks for no more goes there. Its calls with an alignment take a plain block only of
//! sizes that are powers of two; all others they round up by the alignment first (48 bytes lie in a block of 64, 1,500 in one
//! of 1,792), by a longer way.

use libmimalloc_sys as mi;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// See the module.
pub struct Allocator;

/// Pieces of this size and above are counted when they are freed.
const LARGE: usize = 64 << 10;
static FREED: AtomicUsize = AtomicUsize::new(0);

/// Bytes that were freed so far in large pieces, or are about to be.
pub fn freed_in_large() -> usize {
    FREED.load(Relaxed)
}
#[inline(always)]
fn count(bytes: usize) {
    if bytes >= LARGE {
        FREED.fetch_add(bytes, Relaxed);
    }
}

/// Alignment of every block, however small.
const WORD: usize = size_of::<usize>();

// SAFETY: mimalloc's own promises; the plain calls are used where their alignment does.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        // SAFETY: any size and alignment of a layout will do.
        unsafe { if l.align() <= WORD { mi::mi_malloc(l.size()) } else { mi::mi_malloc_aligned(l.size(), l.align()) }.cast() }
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, l: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { if l.align() <= WORD { mi::mi_zalloc(l.size()) } else { mi::mi_zalloc_aligned(l.size(), l.align()) }.cast() }
    }
    #[inline]
    unsafe fn dealloc(&self, p: *mut u8, l: Layout) {
        count(l.size());
        // SAFETY: a block of this allocator's, by the caller's promise.
        unsafe { mi::mi_free(p.cast()) }
    }
    #[inline]
    unsafe fn realloc(&self, p: *mut u8, l: Layout, size: usize) -> *mut u8 {
        count(l.size());
        // SAFETY: as above.
        unsafe {
            let p = p.cast();
            if l.align() <= WORD { mi::mi_realloc(p, size) } else { mi::mi_realloc_aligned(p, size, l.align()) }.cast()
        }
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
