//! What there is and what has happened, for whoever looks on: counts since the start, and the keys in pieces.

use super::keys::Key;
use super::{KeyStats, Manager};
use std::sync::Arc;

/// What has happened since a manager was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments that have entered a queue.
    pub entered: u64,
    /// Heads that were replaced.
    pub replaced: u64,
    /// Segments that were taken out of their queue, under a lease or for good.
    pub taken: u64,
    /// Segments that came back.
    pub back: u64,
    /// Segments whose time was over.
    pub ended: u64,
}

/// What the keys of a piece have together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Keys under which something stands, waits or is leased.
    pub keys: usize,
    /// See [`KeyStats`].
    pub segments: usize,
    /// See [`KeyStats`].
    pub delayed: usize,
    /// See [`KeyStats`].
    pub leased: usize,
    /// See [`KeyStats`].
    pub waiting: usize,
    /// See [`KeyStats`].
    pub waiting_puts: usize,
}

impl Sum {
    /// Adds a key.
    pub fn add(&mut self, s: &KeyStats) {
        self.keys += 1;
        self.segments += s.segments;
        self.delayed += s.delayed;
        self.leased += s.leased;
        self.waiting += s.waiting;
        self.waiting_puts += s.waiting_puts;
    }
}

impl<V: Clone, W> Manager<V, W> {
    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }
    /// How keys stand that are not idle, of `most` known keys from the `from`th on; false: there are no more. Keys that come and go
    /// between two pieces may be left out or come twice.
    pub fn survey(&self, from: usize, most: usize, mut f: impl FnMut(&Arc<[u8]>, KeyStats)) -> bool {
        let piece = self.keys.values().skip(from).take(most);
        piece.filter(|k| !Key::is_idle(k)).for_each(|k| f(&k.name, k.stats()));
        from.saturating_add(most) < self.keys.len()
    }
}
