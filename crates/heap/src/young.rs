//! The young space's size: how much may be allocated outside windows between two node collections.
//!
//! It is as large as what lives, between two bounds: a small program stays small, and a young collection, which costs what it
//! finds alive, stays short in a large one. Where collections take more than their share of the time all the same, it
//! doubles, beyond the upper bound too, and halves again when they take much less.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// The smallest, in bytes.
pub(crate) const LEAST: usize = 4 << 20;
/// The largest, in bytes, while collections take no more than their share of the time.
pub(crate) const MOST: usize = 12 << 20;
/// The share: one part in so many of the time since the collection before.
const PARTS: u64 = 16;
/// Doublings at most.
const DOUBLINGS: usize = 3;

/// See the module.
pub(crate) struct Young {
    least: usize,
    most: usize,
    bytes: AtomicUsize,
    doublings: AtomicUsize,
    began: Instant,
    /// When the last collection ended, in nanoseconds since `began`.
    last: AtomicU64,
}

impl Young {
    /// Between `least` and `most` bytes; of that size whatever happens when they are the same.
    pub fn new(least: usize, most: usize) -> Young {
        let most = most.clamp(1 << 20, 1 << 30);
        let least = least.clamp(1 << 20, most);
        Young {
            least,
            most,
            bytes: AtomicUsize::new(least),
            doublings: AtomicUsize::new(0),
            began: Instant::now(),
            last: AtomicU64::new(0),
        }
    }
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }
    /// What must have grown old before a full collection is worth its time, however little was live after the last one.
    pub fn least_promoted(&self) -> usize {
        (self.least * 2).min(self.most)
    }
    /// A collection that took `ns` is over; `live` bytes are alive.
    pub fn collected(&self, ns: u64, live: usize) {
        let now = self.began.elapsed().as_nanos() as u64;
        self.note(ns, live, now);
    }
    fn note(&self, ns: u64, live: usize, now: u64) {
        let since = now.saturating_sub(self.last.swap(now, Relaxed));
        if self.least == self.most {
            return;
        }
        let mut doublings = self.doublings.load(Relaxed);
        if ns.saturating_mul(PARTS) > since {
            doublings = (doublings + 1).min(DOUBLINGS);
        } else if ns.saturating_mul(PARTS * 4) < since {
            doublings = doublings.saturating_sub(1);
        }
        self.doublings.store(doublings, Relaxed);
        self.bytes.store(live.clamp(self.least, self.most) << doublings, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: usize = 1 << 20;
    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn is_as_large_as_what_lives() {
        let y = Young::new(4 * MB, 12 * MB);
        assert_eq!(y.bytes(), 4 * MB);
        for (i, (live, want)) in [(MB, 4), (7 * MB, 7), (400 * MB, 12), (5 * MB, 5)].into_iter().enumerate() {
            y.note(1_000_000, live, (i as u64 + 1) * SECOND);
            assert_eq!(y.bytes(), want * MB);
        }
    }
    #[test]
    fn doubles_while_collections_take_much_of_the_time() {
        let y = Young::new(4 * MB, 12 * MB);
        y.note(1_000_000, MB, SECOND);
        y.note(1_000_000, MB, SECOND + 10_000_000);
        assert_eq!(y.bytes(), 8 * MB);
        for i in 2..9 {
            y.note(1_000_000, 100 * MB, SECOND + i * 10_000_000);
        }
        assert_eq!(y.bytes(), 96 * MB, "three times at most");
        y.note(1_000_000, 100 * MB, SECOND + 130_000_000);
        assert_eq!(y.bytes(), 96 * MB, "it stays while they take their share");
        y.note(1_000_000, 100 * MB, 2 * SECOND);
        y.note(1_000_000, 100 * MB, 3 * SECOND);
        assert_eq!(y.bytes(), 24 * MB);
    }
    #[test]
    fn a_fixed_size_stays() {
        let y = Young::new(1 << 40, 2 * MB);
        y.note(5, 1 << 30, 6);
        y.note(SECOND, 1 << 30, 100 * SECOND);
        assert_eq!((y.bytes(), y.least_promoted()), (2 * MB, 2 * MB));
    }
}
