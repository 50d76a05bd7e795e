//! What nodes say to each other about collections.
//!
//! A message is a version, a letter and numbers in LEB128; parts of a whole are millionths. Messages may be lost, late or repeated.

use crate::policy::Mode;
use crate::rule::Report;
use crate::{Kind, Time};
use std::fmt;

/// The first byte of each message.
pub const VERSION: u8 = 1;
/// No message is longer.
pub const MAX_MESSAGE: usize = 64;
/// What parts are counted in.
const MILLION: f64 = 1e6;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message {
    /// To all: collect.
    Order(Kind),
    /// To all: begin to mark in slices.
    Slices,
    /// To the coordinator: what the sender saw before a collection.
    Report {
        /// Of which kind that is.
        kind: Kind,
        /// What it saw.
        report: Report,
    },
    /// To the coordinator, while collections are independent: the sender was idle for more than half of the time before a collection.
    Notice {
        /// Of which kind that is.
        kind: Kind,
        /// How long this is to count.
        counts: Time,
    },
    /// To the coordinator: the sender's heap has this size.
    Heap(u64),
    /// From the coordinator to all, regularly and whenever it changes: what is in force.
    Force {
        /// The coordinator's incarnation.
        life: u64,
        /// Grows with each.
        number: u64,
        /// For young and for full collections.
        modes: [Mode; 2],
        /// `H_max`.
        largest: u64,
    },
    /// To the next node: the sender has collected, and it is the receiver's turn.
    Turn(Kind),
    /// To all: the sender will not answer, from so long on, for so long.
    Away {
        /// When that begins.
        after: Time,
        /// How long it lasts.
        lasts: Time,
    },
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nonsense {
    /// They are of another version.
    Version(u8),
    /// There is no message with this letter.
    Letter(u8),
    /// There are too few.
    Short,
    /// There are too many.
    Long,
    /// A number is not what it could be.
    Number,
}

impl fmt::Display for Nonsense {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Nonsense::Version(v) => write!(f, "a message about collections of version {v}, this node speaks {VERSION}"),
            Nonsense::Letter(l) => write!(f, "no message about collections begins with {l:#04x}"),
            Nonsense::Short => write!(f, "a message about collections ends too early"),
            Nonsense::Long => write!(f, "a message about collections has bytes left over"),
            Nonsense::Number => write!(f, "a message about collections has a number that can't be"),
        }
    }
}

impl std::error::Error for Nonsense {}

/// In millionths, as many as fit.
fn millionths(part: f64) -> u64 {
    (part.max(0.0) * MILLION).round().min(u32::MAX as f64) as u64
}

impl Message {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let (letter, numbers): (u8, &[u64]) = match *self {
            Message::Order(kind) => (b'O', &[kind as u64]),
            Message::Slices => (b'M', &[]),
            Message::Report { kind, report: Report { degradation, utilisation } } => {
                (b'R', &[kind as u64, degradation.map_or(0, |d| 1 + millionths(d)), millionths(utilisation)])
            }
            Message::Notice { kind, counts } => (b'N', &[kind as u64, counts]),
            Message::Heap(size) => (b'H', &[size]),
            Message::Force { life, number, modes, largest } => (b'F', &[life, number, modes[0] as u64, modes[1] as u64, largest]),
            Message::Turn(kind) => (b'T', &[kind as u64]),
            Message::Away { after, lasts } => (b'A', &[after, lasts]),
        };
        let mut out = vec![VERSION, letter];
        for &n in numbers {
            let mut n = n;
            while n >= 0x80 {
                out.push(n as u8 | 0x80);
                n >>= 7;
            }
            out.push(n as u8);
        }
        out
    }
    /// What the bytes say.
    pub fn decode(bytes: &[u8]) -> Result<Message, Nonsense> {
        let (&version, rest) = bytes.split_first().ok_or(Nonsense::Short)?;
        if version != VERSION {
            return Err(Nonsense::Version(version));
        }
        let (&letter, rest) = rest.split_first().ok_or(Nonsense::Short)?;
        let mut r = Numbers(rest);
        let message = match letter {
            b'O' => Message::Order(r.kind()?),
            b'M' => Message::Slices,
            b'R' => {
                let (kind, d) = (r.kind()?, r.next()?);
                let degradation = d.checked_sub(1).map(|d| d as f64 / MILLION);
                Message::Report { kind, report: Report { degradation, utilisation: r.next()?.min(MILLION as u64) as f64 / MILLION } }
            }
            b'N' => Message::Notice { kind: r.kind()?, counts: r.next()? },
            b'H' => Message::Heap(r.next()?),
            b'F' => Message::Force { life: r.next()?, number: r.next()?, modes: [r.mode()?, r.mode()?], largest: r.next()? },
            b'T' => Message::Turn(r.kind()?),
            b'A' => Message::Away { after: r.next()?, lasts: r.next()? },
            other => return Err(Nonsense::Letter(other)),
        };
        if r.0.is_empty() { Ok(message) } else { Err(Nonsense::Long) }
    }
    /// What it is after it was sent: parts lose what millionths do not have.
    pub fn sent(&self) -> Message {
        Message::decode(&self.encode()).unwrap_or(*self)
    }
}

struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next(&mut self) -> Result<u64, Nonsense> {
        let mut n = 0u64;
        for i in 0.. {
            let (&byte, rest) = self.0.split_first().ok_or(Nonsense::Short)?;
            self.0 = rest;
            if i == 9 && byte > 1 {
                return Err(Nonsense::Number);
            }
            n |= ((byte & 0x7F) as u64) << (7 * i);
            if byte < 0x80 {
                break;
            }
        }
        Ok(n)
    }
    fn kind(&mut self) -> Result<Kind, Nonsense> {
        match self.next()? {
            0 => Ok(Kind::Young),
            1 => Ok(Kind::Full),
            _ => Err(Nonsense::Number),
        }
    }
    fn mode(&mut self) -> Result<Mode, Nonsense> {
        match self.next()? {
            0 => Ok(Mode::Independent),
            1 => Ok(Mode::Synchronised),
            _ => Err(Nonsense::Number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<Message> {
        let report = |d, u| Message::Report { kind: Kind::Full, report: Report { degradation: d, utilisation: u } };
        vec![
            Message::Order(Kind::Full),
            Message::Order(Kind::Young),
            Message::Slices,
            report(None, 1.0),
            report(Some(0.0), 0.0),
            report(Some(0.25), 0.5),
            Message::Notice { kind: Kind::Full, counts: u64::MAX },
            Message::Heap(u64::MAX),
            Message::Force { life: u64::MAX, number: 0, modes: [Mode::Independent, Mode::Synchronised], largest: 300 },
            Message::Turn(Kind::Full),
            Message::Away { after: 127, lasts: 128 },
        ]
    }

    #[test]
    fn there_and_back() {
        for m in some() {
            assert_eq!(m.sent(), m);
            assert!(m.encode().len() <= MAX_MESSAGE);
        }
        let huge = Message::Report { kind: Kind::Full, report: Report { degradation: Some(f64::INFINITY), utilisation: f64::NAN } }.sent();
        assert!(matches!(huge, Message::Report { report: Report { degradation: Some(d), .. }, .. } if d > 4000.0));
    }
    #[test]
    fn bytes_that_are_nonsense() {
        for m in some() {
            let bytes = m.encode();
            for n in 0..bytes.len() {
                assert_eq!(Message::decode(&bytes[..n]), Err(Nonsense::Short));
            }
            assert_eq!(Message::decode(&[&bytes[..], &[0]].concat()), Err(Nonsense::Long));
        }
        assert_eq!(Message::decode(&[2, b'O', 0]), Err(Nonsense::Version(2)));
        assert_eq!(Message::decode(&[1, b'X', 0]), Err(Nonsense::Letter(b'X')));
        assert_eq!(Message::decode(&[1, b'O', 2]), Err(Nonsense::Number));
        assert_eq!(Message::decode(&[1, b'H', 255, 255, 255, 255, 255, 255, 255, 255, 255, 2]), Err(Nonsense::Number));
        let mut chance = kumi_chance::Chance::new(1);
        for _ in 0..100_000 {
            let bytes: Vec<u8> = (0..chance.below(20)).map(|i| if i == 0 { 1 } else { chance.next() as u8 }).collect();
            if let Ok(m) = Message::decode(&bytes) {
                m.encode();
            }
        }
    }
}
