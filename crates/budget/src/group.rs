//! The control group's limit: what goes beyond it is not refused but killed, so the pages that the process has are looked at.
//!
//! **Invariant.** Where no group bounds the process, nothing is read and nobody watches. What is looked at is the process's own: of
//! other processes in the group nothing is known.

use crate::reserve::press;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Bytes; 0: none.
static GROUP: AtomicUsize = AtomicUsize::new(0);
/// The process whose thread watches. A forked child has none.
static WATCHED: AtomicU32 = AtomicU32::new(0);
/// Less than this is not looked after: reading the process's state takes longer than to fill it.
const PIECE: usize = 1 << 20;
/// Bytes that a process may fill in a millisecond.
const PER_MS: usize = 4 << 20;

/// Tells the group's limit in bytes; 0: there is none.
pub fn set_group(bytes: usize) {
    GROUP.store(bytes, Relaxed);
}
/// Where it becomes tight: what a collection takes must still fit in.
fn near(most: usize) -> usize {
    most - most / 16 * 3
}
/// Is less than three sixteenths of the group's limit left?
#[inline]
pub(crate) fn is_crowded() -> bool {
    let most = GROUP.load(Relaxed);
    most != 0 && resident() > near(most)
}
/// Does the group have `bytes` more?
#[inline]
pub(crate) fn has(bytes: usize) -> bool {
    let most = GROUP.load(Relaxed);
    most == 0 || bytes < PIECE || resident().saturating_add(bytes) <= most - most / 16
}
/// Sees to it that somebody looks at the group's limit once a quarter of it is used: what libraries and tables take is counted
/// nowhere else. For collections.
#[inline]
pub fn watch() {
    let most = GROUP.load(Relaxed);
    if most != 0 && WATCHED.load(Relaxed) != std::process::id() && resident() > most / 4 {
        begin(most);
    }
}
#[cold]
fn begin(most: usize) {
    let own = std::process::id();
    if WATCHED.swap(own, Relaxed) == own {
        return;
    }
    let look = move || {
        loop {
            let left = near(most).saturating_sub(resident());
            if left == 0 {
                press();
            }
            std::thread::sleep(Duration::from_millis((left / PER_MS).clamp(2, 500) as u64));
        }
    };
    // Without it the collections look.
    let _ = std::thread::Builder::new().name("memory".into()).stack_size(64 << 10).spawn(look);
}
/// Bytes of the process's pages that are in memory; 0 where the system does not tell.
#[cold]
pub fn resident() -> usize {
    let Ok(text) = std::fs::read_to_string("/proc/self/statm") else { return 0 };
    let pages = text.split_whitespace().nth(1).and_then(|n| n.parse::<usize>().ok());
    // SAFETY: the call takes and gives numbers; no memory is involved.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    pages.unwrap_or(0).saturating_mul(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_where_a_group_bounds_them() {
        let _alone = crate::ALONE.lock().unwrap_or_else(|e| e.into_inner());
        assert!(!is_crowded() && has(usize::MAX));
        set_group(4096);
        assert_eq!(is_crowded(), cfg!(target_os = "linux"));
        assert!(has(1));
        assert_eq!(has(PIECE), !cfg!(target_os = "linux"));
        set_group(0);
    }
}
