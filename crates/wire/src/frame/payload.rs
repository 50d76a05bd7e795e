//! What a message carries, while it is sent.

use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes in one piece or several, counted and not copied. Cloning one costs no more than a few counts.
#[derive(Clone, Debug)]
pub struct Payload {
    len: usize,
    first: Bytes,
    /// The pieces after the first; none is empty.
    rest: VecDeque<Bytes>,
}

impl Payload {
    /// Several pieces, one after another.
    pub fn pieces(pieces: impl IntoIterator<Item = Bytes>) -> Payload {
        let mut rest: VecDeque<Bytes> = pieces.into_iter().filter(|p| !p.is_empty()).collect();
        Payload { len: rest.iter().map(Bytes::len).sum(), first: rest.pop_front().unwrap_or_default(), rest }
    }

    /// Bytes that others hold as well: a value that is encoded once and sent to many.
    pub fn shared(bytes: Arc<[u8]>) -> Payload {
        Bytes::from_owner(bytes).into()
    }

    /// Bytes in all.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Takes up to `n` bytes off the beginning: all of one piece.
    pub(super) fn take(&mut self, n: usize) -> Bytes {
        let n = n.min(self.first.len());
        let taken = self.first.split_to(n);
        self.len -= n;
        if !self.first.has_remaining() {
            self.first = self.rest.pop_front().unwrap_or_default();
        }
        taken
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Payload { len: bytes.len(), first: bytes, rest: VecDeque::new() }
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<&'static [u8]> for Payload {
    fn from(bytes: &'static [u8]) -> Self {
        Bytes::from_static(bytes).into()
    }
}

impl From<Arc<[u8]>> for Payload {
    fn from(bytes: Arc<[u8]>) -> Self {
        Payload::shared(bytes)
    }
}
