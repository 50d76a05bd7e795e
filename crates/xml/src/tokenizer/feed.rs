//! How bytes come in: a piece at a time, whatever is fed at once.
//!
//! A piece is copied, decoded, validated and looked at as a whole, then read; that is quick only as long as it is in the processor's
//! cache when it is read. So of what is fed at once the tokeniser takes one piece, and the rest waits in a [`Queue`] as it came.
//! Invariant: the input ends, or the tokeniser asks for more, only when the queue is empty.

use crate::error::Error;
use crate::tokenizer::Tokenizer;

/// Bytes taken in at once.
const PIECE: usize = 64 << 10;

/// What was fed and not yet taken in.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    bytes: Vec<u8>,
    taken: usize,
    /// Nothing comes after it.
    last: bool,
}

impl Queue {
    #[inline]
    fn is_empty(&self) -> bool {
        self.taken == self.bytes.len()
    }

    fn add(&mut self, bytes: &[u8]) {
        // Each byte moves at most once for one that was taken.
        if self.taken >= self.bytes.len() - self.taken {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }
}

impl Tokenizer {
    /// Takes the next bytes of the document, cut anywhere.
    ///
    /// # Errors
    /// Only one that was told already. What is wrong with these bytes is told by [`next`](Tokenizer::next) when it gets there.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.len() < 16 && self.failed.is_none() && self.queue.is_empty() && self.input.feed_few(bytes) {
            return Ok(());
        }
        self.feed_many(bytes)
    }

    fn feed_many(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Some(error) = &self.failed {
            return Err((**error).clone());
        }
        if !self.queue.is_empty() {
            self.queue.add(bytes);
            return Ok(());
        }
        // A little more than a piece isn't worth a copy.
        let (now, later) = bytes.split_at(if bytes.len() > 2 * PIECE { PIECE } else { bytes.len() });
        self.take_in(now);
        if !later.is_empty() {
            self.queue.add(later);
        }
        Ok(())
    }

    /// No more bytes come.
    pub fn finish(&mut self) {
        self.queue.last = true;
        if self.queue.is_empty() {
            self.input.finish();
        }
    }

    /// All that was taken in has been read: takes in the next piece of what was fed. False: that was all.
    #[inline(never)]
    pub(crate) fn next_piece(&mut self) -> bool {
        if self.queue.is_empty() {
            return false;
        }
        let mut queue = std::mem::take(&mut self.queue);
        let piece = &queue.bytes[queue.taken..];
        let piece = &piece[..piece.len().min(PIECE)];
        self.take_in(piece);
        queue.taken += piece.len();
        if queue.is_empty() {
            queue.bytes = Vec::new();
            queue.taken = 0;
            if queue.last {
                self.input.finish();
            }
        }
        self.queue = queue;
        true
    }

    fn take_in(&mut self, bytes: &[u8]) {
        let composing = (!self.scratch.is_empty() && !self.scratch_sent) || self.in_cdata;
        if composing && self.scratch_start != u64::MAX && self.pinned.offset != self.scratch_start {
            self.pinned = self.place(self.scratch_start);
        }
        let event = self.event.saturating_sub(self.input.base) as usize;
        let gone = self.input.compact(self.pos.min(event));
        if gone > 0 {
            self.pos -= gone;
            self.scan.shift(gone);
        }
        self.input.feed(bytes);
    }
}
