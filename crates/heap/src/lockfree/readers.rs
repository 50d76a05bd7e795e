//! Readers that no stop waits for, and what they keep from being freed.
//!
//! Invariant: a reader begins before its first look and ends after its last. What was replaced before a stop is freed at that
//! stop or later, and not while a reader lasts that began before it: such a reader may have looked at it.
//!
//! `tests/loom_arrays.rs` runs this file in every interleaving.

use super::sync::{Mutex, lock};

/// Stops that freed buffers, and for each reader beside them how many there were when it began.
struct Known {
    stops: u64,
    seen: Vec<u64>,
}

/// See the module.
pub struct Readers(Mutex<Known>);

impl Default for Readers {
    fn default() -> Self {
        Readers(Mutex::new(Known { stops: 0, seen: Vec::new() }))
    }
}

impl Readers {
    /// A reader begins; the number goes to [`ends`](Self::ends). Not during a stop.
    pub fn begins(&self) -> u64 {
        let mut r = lock(&self.0);
        let seen = r.stops;
        r.seen.push(seen);
        seen
    }
    /// A reader has ended. Not during a stop.
    pub fn ends(&self, seen: u64) {
        let mut r = lock(&self.0);
        if let Some(i) = r.seen.iter().position(|s| *s == seen) {
            r.seen.swap_remove(i);
        }
    }
    /// A grace period begins: its number, of the same row as the stops'.
    pub fn grace(&self) -> u64 {
        self.stop().0
    }
    /// The last stop that all readers have seen, if there are any.
    pub fn oldest(&self) -> Option<u64> {
        lock(&self.0).seen.iter().copied().min()
    }
    /// A stop that frees: its number, and the last one that all readers have seen, if there are any.
    pub fn stop(&self) -> (u64, Option<u64>) {
        let mut r = lock(&self.0);
        r.stops += 1;
        (r.stops, r.seen.iter().copied().min())
    }
}

/// May what was replaced before stop `at` still be looked at, `oldest` being the last stop that every reader has seen?
pub fn looked_at(at: u64, oldest: Option<u64>) -> bool {
    oldest.is_some_and(|o| at > o)
}
