//! Memory kept back where the process's address space is bounded (`ulimit -v`): what lets small requests go on, an exception be
//! raised and a collection run when the system has nothing left.
//!
//! **Invariant.** The parts are mapped and never touched. Each is given back to the system once, when a small request found
//! nothing, and taken again after a collection has freed enough. Whoever gives one back presses for a collection.

use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

const PARTS: usize = 6;

/// Addresses of the parts that are there; 0 for those that are not.
static KEPT: Mutex<[usize; PARTS]> = Mutex::new([0; PARTS]);
/// Bytes of each; 0: the address space has no bound. Set once.
static SIZE: AtomicUsize = AtomicUsize::new(0);
/// A part was given back, or the control group's limit is near, and no safepoint has seen it.
static PRESSED: AtomicBool = AtomicBool::new(false);

/// The address of a fresh mapping that nobody may touch. `None`: the system has no such piece.
fn map(bytes: usize) -> Option<usize> {
    // SAFETY: no address is asked for, so that what is mapped already stays as it is.
    let p = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1, 0) };
    (p != libc::MAP_FAILED).then(|| p.addr())
}
/// Gives a mapping back to the system.
///
/// # Safety
/// `map(bytes)` answered `at`, and this is the last use of it.
unsafe fn unmap(at: usize, bytes: usize) {
    // SAFETY: by the caller's promise all that is unmapped is a mapping of `map`'s, into which nothing points.
    unsafe { libc::munmap(std::ptr::without_provenance_mut(at), bytes) };
}

/// Keeps memory back from now on, in a process whose address space is bounded at `bytes`. The first call decides.
pub fn hold(bytes: usize) {
    // Never another size: the parts that are there have this one.
    let _ = SIZE.compare_exchange(0, (bytes / 64).clamp(4 << 20, 32 << 20), Relaxed, Relaxed);
    restore();
}
/// Has all threads share one arena of the C library's allocator, of which each would else have its own: 64 MB of addresses. For a process whose
/// address space is bounded, before it has threads; our own memory comes from elsewhere.
pub fn share_arena() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets a parameter of `malloc`; it takes a number and keeps it.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
/// Gives one part back to the system. False: there is none.
pub fn release() -> bool {
    let bytes = SIZE.load(Relaxed);
    let mut parts = KEPT.lock().unwrap_or_else(|e| e.into_inner());
    let Some(at) = parts.iter_mut().find(|p| **p != 0) else { return false };
    // SAFETY: parts are mapped with this size, which never changes, and the list has lost this one.
    unsafe { unmap(std::mem::take(at), bytes) };
    press();
    true
}
/// Asks the next safepoint to look for memory.
pub fn press() {
    PRESSED.store(true, Relaxed);
}
/// Takes back what was given away. False: the system does not have it.
pub fn restore() -> bool {
    let bytes = SIZE.load(Relaxed);
    if bytes == 0 {
        return true;
    }
    let mut parts = KEPT.lock().unwrap_or_else(|e| e.into_inner());
    parts.iter_mut().filter(|p| **p == 0).all(|p| map(bytes).map(|at| *p = at).is_some())
}
/// Was a part given back, or has the group little left, and no safepoint has seen it yet?
#[inline]
pub fn is_pressed() -> bool {
    PRESSED.load(Relaxed)
}
/// The same, or the system could hardly give more: what allocates by other means than the process's allocator (parsers, the
/// engine of regular expressions) cannot have a part of the reserve.
pub fn is_tight() -> bool {
    is_pressed() || has_little()
}
/// Could the system hardly give more as it is now, whatever was said before? Who has just freed all that it can asks this: a thread that
/// looked at the group's limit before may press after.
pub fn has_little() -> bool {
    !system_has(SIZE.load(Relaxed)) || crate::is_crowded()
}
/// For what is about to allocate by such means: where the system has little left, it gets a part of the reserve.
pub fn make_way() {
    while !system_has(SIZE.load(Relaxed)) && release() {}
}
/// Was a part given back? It is seen now.
pub fn take_pressed() -> bool {
    PRESSED.load(Relaxed) && PRESSED.swap(false, Relaxed)
}
/// Would the system give `bytes` in one piece? Where nothing bounds the address space it is not asked.
pub(crate) fn system_has(bytes: usize) -> bool {
    let part = SIZE.load(Relaxed);
    if part == 0 {
        return true;
    }
    let all = bytes.saturating_add(bytes / 16).saturating_add(part);
    // SAFETY: just mapped with this size, and nobody else has seen it.
    all < isize::MAX as usize && map(all).map(|at| unsafe { unmap(at, all) }).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_go_one_by_one_and_come_back() {
        let _alone = crate::ALONE.lock().unwrap_or_else(|e| e.into_inner());
        assert!(!release() && restore() && system_has(1 << 40));
        // Who pressed may have looked a while ago.
        press();
        assert!(is_tight() && !has_little() && take_pressed() && !is_tight());
        hold(1 << 30);
        for _ in 0..PARTS {
            assert!(release() && take_pressed() && !take_pressed());
        }
        assert!(!release() && restore() && release());
        // Parts are given back with the size they were taken with, whatever is said later.
        let size = SIZE.load(Relaxed);
        hold(1 << 40);
        assert_eq!(SIZE.load(Relaxed), size);
        assert!(system_has(1 << 20) && !system_has(usize::MAX));
    }
}
