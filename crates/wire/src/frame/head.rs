//! The head of a frame.

use crate::error::WireError;

/// Bytes of a head.
pub const SIZE: usize = 10;

/// What a message costs of a window beside its bytes: what the receiver needs to keep one.
pub const COST: usize = 64;

/// Kinds of the connection's own frames.
pub const HELLO: u8 = 1;
pub const GRANT: u8 = 2;
pub const GOODBYE: u8 = 3;

pub const LANE: u8 = 0b11;
pub const FIRST: u8 = 1 << 2;
pub const LAST: u8 = 1 << 3;
pub const TRACE: u8 = 1 << 4;
pub const OWN: u8 = 1 << 7;

/// Who goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// What keeps the nodes going: heartbeats, renewals, acknowledgements. One frame each.
    Control,
    /// Requests and answers. One frame each.
    Small,
    /// Whatever is larger, in pieces.
    Bulk,
}

impl Lane {
    /// All of them, the first to go first.
    pub const ALL: [Lane; 3] = [Lane::Control, Lane::Small, Lane::Bulk];
}

/// A stream: its lane, its number.
pub type Key = (Lane, u32);

/// The head of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl Head {
    pub fn encode(&self) -> [u8; SIZE] {
        let mut out = [0; SIZE];
        out[..4].copy_from_slice(&(self.length as u32).to_be_bytes());
        out[4] = self.kind;
        out[5] = self.flags;
        out[6..].copy_from_slice(&self.stream.to_be_bytes());
        out
    }

    pub fn decode(bytes: &[u8; SIZE]) -> Head {
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Head { length: word(0) as usize, kind: bytes[4], flags: bytes[5], stream: word(6) }
    }

    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// A message's lane; bits that mean nothing are refused.
    pub fn key(&self) -> Result<Key, WireError> {
        let known = self.flags & !(LANE | FIRST | LAST | TRACE) == 0;
        let lane = Lane::ALL.get(usize::from(self.flags & LANE)).filter(|_| known);
        lane.map(|&lane| (lane, self.stream)).ok_or_else(|| self.wrong("flags that mean nothing"))
    }

    pub fn wrong(&self, what: &'static str) -> WireError {
        WireError::BadFrame { what, kind: self.kind, stream: self.stream }
    }
}
