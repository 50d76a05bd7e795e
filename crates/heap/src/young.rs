//! The young space's size: how much may be allocated outside windows between two node collections.
//!
//! Where it begins below its largest size it doubles for as long as collections take more than a certain share of the time: a
//! program that allocates quickly, or keeps much, soon has the largest. By default it begins there.

use std::sync::atomic::{AtomicIsize, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Where it begins, in bytes.
pub(crate) const FIRST: usize = MOST;
/// What it may grow to, in bytes.
pub(crate) const MOST: usize = 24 << 20;
/// It grows when marking took more than one part in so many of the time since the collection before.
const PARTS: u64 = 64;

/// See the module.
pub(crate) struct Young {
    bytes: AtomicIsize,
    most: isize,
    began: Instant,
    /// When the last collection ended, in nanoseconds since `began`.
    last: AtomicU64,
}

impl Young {
    pub fn new(first: usize, most: usize) -> Young {
        let most = most.clamp(1 << 20, 1 << 30);
        let first = first.clamp(1 << 20, most);
        Young { bytes: AtomicIsize::new(first as isize), most: most as isize, began: Instant::now(), last: AtomicU64::new(0) }
    }
    pub fn bytes(&self) -> isize {
        self.bytes.load(Relaxed)
    }
    pub fn most(&self) -> isize {
        self.most
    }
    /// A collection that took `ns` is over.
    pub fn collected(&self, ns: u64) {
        let now = self.began.elapsed().as_nanos() as u64;
        self.note(ns, now);
    }
    fn note(&self, ns: u64, now: u64) {
        let since = now.saturating_sub(self.last.swap(now, Relaxed));
        if ns.saturating_mul(PARTS) > since {
            self.bytes.store(self.bytes().saturating_mul(2).min(self.most), Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_while_collections_take_much_of_the_time() {
        let y = Young::new(4 << 20, 24 << 20);
        y.note(1_000_000, 100_000_000);
        assert_eq!(y.bytes(), 4 << 20);
        y.note(1_000_000, 110_000_000);
        assert_eq!(y.bytes(), 8 << 20);
        y.note(1_000_000, 111_000_000);
        y.note(1_000_000, 112_000_000);
        assert_eq!(y.bytes(), 24 << 20);
        y.note(1_000_000, 900_000_000);
        assert_eq!(y.bytes(), 24 << 20, "what has grown stays");
    }
    #[test]
    fn a_fixed_size_stays() {
        let y = Young::new(1 << 40, 2 << 20);
        assert_eq!((y.bytes(), y.most()), (2 << 20, 2 << 20));
        y.note(5, 6);
        assert_eq!(y.bytes(), 2 << 20);
    }
}
