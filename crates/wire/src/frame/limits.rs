//! How much a connection holds.

use super::head;
use crate::error::WireError;

/// Bounds of one connection, for what is sent and for what is received. The peer is told those of what it sends.
///
/// In each direction a connection holds `buffered_max` bytes of payloads at most. Beside them come its own structures, some 300 bytes a stream in use and
/// some 100 a message, and about a megabyte of buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Payload of the longest frame: the size of the pieces of long messages.
    pub frame_max: usize,
    /// The longest message.
    pub message_max: usize,
    /// Streams in use at once.
    pub streams_max: usize,
    /// What a stream may send before anything of it is taken.
    pub window: usize,
    /// All windows, and the pool for messages of several frames.
    pub buffered_max: usize,
}

impl Default for Limits {
    /// 64 KB, 64 MB, 256 streams of 256 KB, 256 MB.
    fn default() -> Self {
        Limits { frame_max: 64 << 10, message_max: 64 << 20, streams_max: 256, window: 256 << 10, buffered_max: 256 << 20 }
    }
}

impl Limits {
    /// What messages of several frames share.
    pub(super) fn pool(&self) -> usize {
        self.buffered_max.saturating_sub(self.streams_max.saturating_mul(self.window))
    }

    /// Whether they fit together.
    pub fn check(&self) -> Result<(), WireError> {
        let wrong = if self.frame_max < 1024 || self.frame_max > 16 << 20 {
            "frame_max is 1 KB to 16 MB"
        } else if self.window < 2 * (self.frame_max + head::COST) || self.window > 1 << 30 {
            "window holds two of the longest frames, 64 bytes more for each, and is 1 GB at most"
        } else if self.message_max < self.frame_max || self.message_max > 1 << 31 {
            "message_max is frame_max to 2 GB"
        } else if self.streams_max == 0 || self.streams_max > 1 << 20 {
            "streams_max is 1 to 1,048,576"
        } else if self.pool() < self.message_max + self.frame_max {
            "buffered_max holds all windows, and the longest message beside them"
        } else {
            return Ok(());
        };
        Err(WireError::BadSetup(wrong))
    }
}
