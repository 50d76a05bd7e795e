//! How many messages go to and fro, for who looks on.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Messages of this node since it began, of all uses of its connections. What the connections themselves say, and gossip, does not count.
#[derive(Default)]
pub struct Traffic {
    sent: AtomicU64,
    heard: AtomicU64,
}

impl Traffic {
    /// So many go to other nodes.
    #[inline]
    pub fn sends(&self, n: u64) {
        self.sent.fetch_add(n, Relaxed);
    }
    /// One has come.
    #[inline]
    pub fn hears(&self) {
        self.heard.fetch_add(1, Relaxed);
    }
    /// How many were sent, and how many have come.
    pub fn seen(&self) -> [u64; 2] {
        [self.sent.load(Relaxed), self.heard.load(Relaxed)]
    }
}
