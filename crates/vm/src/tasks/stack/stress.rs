//! Stress mode (`KUMI_STACK_STRESS`): blocks that end at an inaccessible page and become inaccessible
//! when a stack leaves them, so that an address kept across a point where the stack could have grown
//! faults at its first use.
//!
//! Left blocks stay mapped in a ring of bounded length (the kernel allows some 65,000 mappings), so that
//! their addresses are not soon given to others. The ring is the process's, as addresses are.
//!
//! A move is two calls of `mprotect`, 4 to 7 us, nearly all of it the kernel's: it splits and joins mappings and tells the
//! other processors. Blocks of one mapping, blocks taken downwards (one call each, a guard being the block left before) and
//! guard regions (`MADV_GUARD_INSTALL`) came to the same within a fifth. So a program that calls 10^8 times takes minutes
//! with `KUMI_STACK_STRESS=2` where it takes seconds without: give those a larger period.

use super::memory::{PAGE, map};
use kumi_heap::Value;
use std::collections::VecDeque;
use std::sync::Mutex;

/// Mappings kept inaccessible.
const RING: usize = 4096;
/// Bytes from which an inaccessible block does not keep its pages.
const LARGE: usize = 16 << 10;

static LEFT: Mutex<VecDeque<(usize, usize)>> = Mutex::new(VecDeque::new());

/// Bytes of the mapping of `cap` slots, its guard page included.
fn length(cap: usize) -> usize {
    (cap * 8).next_multiple_of(PAGE) + PAGE
}

/// `cap` slots of fresh memory whose end is the end of what may be touched. None: no more mappings.
pub(super) fn take(cap: usize) -> Option<*mut Value> {
    let len = length(cap);
    let mut ring = LEFT.lock().unwrap_or_else(|e| e.into_inner());
    let mut base = None;
    if ring.len() >= RING {
        if let Some((p, n)) = ring.pop_front() {
            if n == len {
                // SAFETY: a mapping that nobody uses any more; all but its guard is opened again.
                let r = unsafe { libc::mprotect(p as *mut _, len - PAGE, libc::PROT_READ | libc::PROT_WRITE) };
                base = (r == 0).then_some(p);
            }
            if base.is_none() {
                // SAFETY: as above.
                unsafe { libc::munmap(p as *mut _, n) };
            }
        }
    }
    let base = match base {
        Some(b) => b,
        None => {
            let b = map(len)? as usize;
            // SAFETY: the last page of a mapping just made.
            unsafe { libc::mprotect((b + len - PAGE) as *mut _, PAGE, libc::PROT_NONE) };
            b
        }
    };
    Some((base + len - PAGE - cap * 8) as *mut Value)
}

/// Makes a left block inaccessible.
pub(super) fn seal(mem: *mut Value, cap: usize) {
    let len = length(cap);
    let base = mem as usize + cap * 8 + PAGE - len;
    if cfg!(feature = "fixed-stack") {
        // SAFETY: a mapping of `take`, which its stack has left; that build only borrows the guard page.
        unsafe { libc::munmap(base as *mut _, len) };
        return;
    }
    let mut ring = LEFT.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: a mapping of `take`, which its stack has left.
    unsafe {
        if len > LARGE {
            libc::madvise(base as *mut _, len, libc::MADV_DONTNEED);
        }
        libc::mprotect(base as *mut _, len, libc::PROT_NONE);
    }
    ring.push_back((base, len));
    while ring.len() > RING + 64 {
        if let Some((p, n)) = ring.pop_front() {
            // SAFETY: nobody uses it any more.
            unsafe { libc::munmap(p as *mut _, n) };
        }
    }
}
