//! RESP, the protocol of Redis: what a server says, piece by piece, and commands as it hears them.
//!
//! **Invariant.** A decoder never keeps more than one reply, holds no more than [`Limits`] allow, and takes no stack by what is nested.
//!
//! It is of our own: `redis-protocol` reads a reply from its start at each piece, and nests as deep as the server says.

mod decode;

pub use decode::{Decoder, Limits, Malformed};

use bytes::Bytes;

/// A reply, or something that the server says by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A line.
    Line(Bytes),
    /// An error.
    Error(Bytes),
    /// A number.
    Number(i64),
    /// A string of any bytes.
    Text(Bytes),
    /// Nothing.
    Null,
    /// Several, in a row. Maps are rows of names and values.
    List(Vec<Reply>),
    /// What was not asked for.
    Push(Vec<Reply>),
}

impl Reply {
    /// Its bytes, where it has some.
    pub fn bytes(&self) -> Option<&Bytes> {
        match self {
            Reply::Line(b) | Reply::Text(b) => Some(b),
            _ => None,
        }
    }
    /// Its number.
    pub fn number(&self) -> Option<i64> {
        match self {
            Reply::Number(n) => Some(*n),
            _ => None,
        }
    }
    /// Its parts.
    pub fn list(&self) -> &[Reply] {
        match self {
            Reply::List(l) | Reply::Push(l) => l,
            _ => &[],
        }
    }
    /// The value beside a name, in a map.
    pub fn field(&self, name: &str) -> Option<&Reply> {
        let pair = self.list().chunks_exact(2).find(|p| p[0].bytes().is_some_and(|b| **b == *name.as_bytes()))?;
        pair.get(1)
    }
}

/// Writes one command.
pub struct Command<'a>(&'a mut Vec<u8>);

impl<'a> Command<'a> {
    /// Of so many parts, its name among them. They are to follow.
    pub fn new(out: &'a mut Vec<u8>, parts: usize) -> Command<'a> {
        let mut c = Command(out);
        c.head(b'*', parts);
        c
    }
    fn head(&mut self, kind: u8, n: usize) {
        let mut room = [0; 20];
        let digits = digits(n as u64, &mut room);
        self.0.push(kind);
        self.0.extend_from_slice(digits);
        self.0.extend_from_slice(b"\r\n");
    }
    /// One part.
    pub fn part(&mut self, bytes: &[u8]) -> &mut Self {
        self.head(b'$', bytes.len());
        self.0.extend_from_slice(bytes);
        self.0.extend_from_slice(b"\r\n");
        self
    }
    /// One part of several pieces.
    pub fn joined(&mut self, pieces: &[&[u8]]) -> &mut Self {
        self.head(b'$', pieces.iter().map(|p| p.len()).sum());
        pieces.iter().for_each(|p| self.0.extend_from_slice(p));
        self.0.extend_from_slice(b"\r\n");
        self
    }
    /// A number as a part.
    pub fn number(&mut self, n: u64) -> &mut Self {
        let mut room = [0; 20];
        self.part(digits(n, &mut room))
    }
}

fn digits(mut left: u64, room: &mut [u8; 20]) -> &[u8] {
    let mut at = room.len();
    loop {
        at -= 1;
        room[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            return &room[at..];
        }
    }
}

/// A command of these parts.
pub fn command(out: &mut Vec<u8>, parts: &[&[u8]]) {
    let mut c = Command::new(out, parts.len());
    for p in parts {
        c.part(p);
    }
}
