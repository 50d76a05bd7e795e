//! The young space's size: how much may be allocated outside nurseries between two node collections.
//!
//! It is as large as what lives, between two bounds: a small program stays small, and a young collection, which costs what it
//! finds alive, stays short in a large one. Where collections take more than their share of the processor's time all the
//! same, it doubles, beyond the upper bound too, and halves again when they take much less. (By the clock a busy machine
//! would make every program's young space large.)

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The smallest, in bytes.
pub(crate) const LEAST: usize = 4 << 20;
/// The largest, in bytes, while collections take no more than their share of the time.
pub(crate) const MOST: usize = 8 << 20;
/// The share: one part in so many of the process's time since the collection before.
const PARTS: u64 = 16;
/// It doubles when collections took so many nanoseconds more than their share: a single long one is no reason.
const EXCESS: u64 = 10_000_000;
/// Doublings at most.
const DOUBLINGS: usize = 3;

/// See the module.
pub(crate) struct Young {
    least: usize,
    most: usize,
    bytes: AtomicUsize,
    doublings: AtomicUsize,
    /// What collections took more than their share since it last doubled, in nanoseconds.
    excess: AtomicU64,
    /// What the process had used when the last collection ended.
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
            excess: AtomicU64::new(0),
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
    /// A collection that began at `begun` of the [`process_ns`] is over; `live` bytes are alive.
    pub fn collected(&self, begun: u64, live: usize) {
        let now = process_ns();
        self.note(now.saturating_sub(begun), live, now);
    }
    fn note(&self, ns: u64, live: usize, now: u64) {
        let since = now.saturating_sub(self.last.swap(now, Relaxed));
        if self.least == self.most {
            return;
        }
        let mut doublings = self.doublings.load(Relaxed);
        let mut excess = (self.excess.load(Relaxed) + ns.min(EXCESS - 1)).saturating_sub(since / PARTS);
        if excess >= EXCESS {
            doublings = (doublings + 1).min(DOUBLINGS);
            excess = 0;
        } else if ns.saturating_mul(PARTS * 4) < since {
            doublings = doublings.saturating_sub(1);
        }
        self.excess.store(excess, Relaxed);
        self.doublings.store(doublings, Relaxed);
        self.bytes.store(live.clamp(self.least, self.most) << doublings, Relaxed);
    }
}

/// Nanoseconds of the processors' time that this process has used.
pub fn process_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid place for a timespec. Where the clock does not exist it stays 0.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
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
        y.note(90_000_000, MB, SECOND + 10_000_000);
        assert_eq!(y.bytes(), 4 * MB, "one long collection is no reason");
        y.note(8_000_000, MB, SECOND + 20_000_000);
        assert_eq!(y.bytes(), 8 * MB);
        for i in 3..50 {
            y.note(2_000_000, 100 * MB, SECOND + i * 10_000_000);
        }
        assert_eq!(y.bytes(), 96 * MB, "three times at most");
        y.note(1_000_000, 100 * MB, SECOND + 540_000_000);
        assert_eq!(y.bytes(), 96 * MB, "it stays while they take less, but not much less");
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
