//! Where slots come from: the allocator while a stack is small, pages of its own when it is large.
//!
//! A large stack grows by `mremap`, which moves page tables and not contents, and pages that were
//! never written cost nothing; shrinking gives its pages back to the system at once.

use super::stress;
use kumi_heap::Value;
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::null_mut;

/// How a block was obtained, and so how it is given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Small,
    Mapped,
    /// Ends at an inaccessible page, and becomes one when it is left (stress mode).
    Guarded,
}

/// Slots from which a stack has pages of its own (64 KiB).
const MAP_FROM: usize = 1 << 13;
/// Slots from which a stack counts by itself (1 KiB); a smaller one counts with its task.
pub(super) const COUNT_FROM: usize = 1 << 7;
const WORD: usize = std::mem::size_of::<Value>();
pub(super) const PAGE: usize = 4096;

/// Bytes that `cap` slots occupy when mapped.
fn pages(cap: usize) -> usize {
    (cap * WORD).next_multiple_of(PAGE)
}
fn layout(cap: usize) -> Layout {
    match Layout::array::<Value>(cap) {
        Ok(l) => l,
        Err(_) => unreachable!("sizes are clamped to 32 bits"),
    }
}

/// A new block of `cap` slots, not initialised. `budget`: bytes all mapped stacks of the runtime may have. None: refused.
pub(super) fn take(cap: usize, budget: usize) -> Option<(*mut Value, Kind)> {
    if cap >= MAP_FROM {
        let len = pages(cap);
        if kumi_budget::in_stacks() + len > budget {
            return None;
        }
        if let Some(p) = map(len) {
            kumi_budget::stack_resized(0, len);
            return Some((p, Kind::Mapped));
        }
    }
    // SAFETY: the size is not zero.
    let p = unsafe { alloc(layout(cap)) };
    if !p.is_null() {
        kumi_budget::small_stack_resized(0, counted(cap));
    }
    (!p.is_null()).then_some((p as *mut Value, Kind::Small))
}
/// Bytes of a small stack of `cap` slots that count by themselves.
fn counted(cap: usize) -> usize {
    if cap < COUNT_FROM { 0 } else { cap * WORD }
}

/// Anonymous pages, or None when the system has none (or no more mappings).
pub(super) fn map(len: usize) -> Option<*mut Value> {
    let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: a fresh mapping.
    let p = unsafe { libc::mmap(null_mut(), len, prot, flags, -1, 0) };
    if p == libc::MAP_FAILED {
        return None;
    }
    #[cfg(target_os = "linux")]
    // SAFETY: our mapping; advice only. Huge pages would make a few touched slots cost 2 MB.
    unsafe {
        libc::madvise(p, len, libc::MADV_NOHUGEPAGE);
    }
    Some(p as *mut Value)
}

/// Gives a block back.
///
/// # Safety
/// `mem`, `cap` and `kind` are those of a block that `take` or `stress::take` gave, and it is used no more.
pub(super) unsafe fn give(mem: *mut Value, cap: usize, kind: Kind) {
    match kind {
        Kind::Small => {
            kumi_budget::small_stack_resized(counted(cap), 0);
            // SAFETY: as the caller says.
            unsafe { dealloc(mem as *mut u8, layout(cap)) }
        }
        Kind::Mapped => {
            let len = pages(cap);
            kumi_budget::stack_resized(len, 0);
            // SAFETY: as the caller says.
            unsafe { libc::munmap(mem as *mut _, len) };
        }
        Kind::Guarded => stress::seal(mem, cap),
    }
}

/// A block of `to` slots that holds the first `live` of `from`'s. The old one is given back. None: refused,
/// and nothing changed.
///
/// # Safety
/// As for [`give`]; `live` is at most either size.
pub(super) unsafe fn resize(mem: *mut Value, from: usize, kind: Kind, live: usize, to: usize, budget: usize) -> Option<(*mut Value, Kind)> {
    #[cfg(all(target_os = "linux", not(feature = "copied-stacks")))]
    if kind == Kind::Mapped && to >= MAP_FROM {
        let (old, new) = (pages(from), pages(to));
        if new > old && kumi_budget::in_stacks() + (new - old) > budget {
            return None;
        }
        // SAFETY: our own mapping.
        let p = unsafe { libc::mremap(mem as *mut _, old, new, libc::MREMAP_MAYMOVE) };
        if p == libc::MAP_FAILED {
            return None;
        }
        kumi_budget::stack_resized(old, new);
        return Some((p as *mut Value, Kind::Mapped));
    }
    let (new, new_kind) = take(to, budget)?;
    // SAFETY: two different blocks with room for `live` slots.
    unsafe {
        std::ptr::copy_nonoverlapping(mem, new, live);
        give(mem, from, kind);
    }
    Some((new, new_kind))
}
