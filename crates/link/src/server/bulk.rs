//! Large messages: they go and come by pieces, between which the small ones have their turn.
//!
//! **Invariant.** A turn of the server carries one piece in and one out, after all that is small; several where nothing small came lately, for
//! a turn costs a look at all connections. A connection for large messages stands in line as long as it may have more: the kernel's queue
//! tells of each change once.

use super::{MS, Server};
use crate::channel::{Channel, PIECE};
use kumi_segments::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// So many in a turn where nobody is kept waiting, and how long after something small somebody may be.
const PIECES: usize = 7;
const _: () = assert!(PIECES * PIECE <= super::BUFFER);
const LATELY: Time = MS;

/// Connections for large messages that may go on.
#[derive(Default)]
pub struct Bulk {
    /// When something small came last.
    small: Time,
    /// What came there is to be read; whether it has ended after that.
    reads: VecDeque<(usize, bool)>,
    writes: VecDeque<Arc<Channel>>,
}

impl Bulk {
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    /// Something small came.
    pub fn note_small(&mut self, at: Time) {
        self.small = at;
    }

    /// This connection may have something to read; `ends`: and its end behind it.
    pub fn read(&mut self, token: usize, ends: bool) {
        match self.reads.iter_mut().find(|r| r.0 == token) {
            Some(known) => known.1 |= ends,
            None => self.reads.push_back((token, ends)),
        }
    }

    /// This one may take more.
    pub fn write(&mut self, channel: Arc<Channel>) {
        if !self.writes.iter().any(|c| c.token == channel.token) {
            self.writes.push_back(channel);
        }
    }
}

impl Server {
    /// Carries a piece each way, or several.
    pub(super) fn carry(&mut self, at: Time) {
        let pieces = if at.saturating_sub(self.bulk.small) < LATELY { 1 } else { PIECES };
        if let Some((token, ends)) = self.bulk.reads.pop_front() {
            let channel = self.lines.get(&token).map(|l| l.channel.clone());
            if channel.is_some_and(|c| self.read_once(at, token, &c, pieces * PIECE, ends)) {
                self.bulk.read(token, ends);
            }
        }
        for _ in 0..pieces {
            let Some(channel) = self.bulk.writes.pop_front() else { break };
            self.write(at, &channel);
        }
    }
}
