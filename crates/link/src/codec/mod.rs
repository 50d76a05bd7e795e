//! Messages of `kumi-segments` as payloads of frames, and back.
//!
//! A payload is the version of this form, and fields in a fixed order ([`kumi_wire::message`]). A value of [`CUT`] bytes and more is not
//! copied when it is sent, but goes from where it is; one that comes in a buffer of others is copied out when it is short, so that it does
//! not keep the buffer, and else is a slice.
//!
//! What newer peers append to a message is left unread.
//!
//! **Invariant.** Bytes that come are hostile. What is decoded takes memory in proportion to the message: no count is believed beyond the
//! bytes that are there and the bound of its list.

mod client;
pub mod features;
mod owner;

pub use client::{decode_client, encode_client};
pub use owner::{decode_owner, encode_owner};

use bytes::Bytes;
use kumi_segments::Store;
use kumi_wire::{Decoder, Encoder, Payload, WireError};

/// The version of this form.
const VERSION: u8 = 1;
/// Values from here on are sent from where they are.
const CUT: usize = 2048;
/// Values below this are copied out of the buffer that they came in.
const KEEP: usize = 8192;
/// The longest name of a key. The owner's bound is lower, and refuses a call; what is above this ends the connection.
const KEY: usize = 64 << 10;
/// Inputs, leases or segments in one message.
const PARTS: u64 = 4096;
/// Numbers of calls in one message.
const CALLS: u64 = 1 << 18;
/// Names of keys in one message.
const NAMES: u64 = 1 << 16;

/// A payload under construction; it is used again for the next one.
#[derive(Default)]
pub struct Out {
    buffer: Vec<u8>,
    /// Values that stand in front of these bytes of the buffer.
    cuts: Vec<(usize, Bytes)>,
}

impl Out {
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.cuts.clear();
        self.buffer.push(VERSION);
    }

    pub fn len(&self) -> usize {
        self.buffer.len() + self.cuts.iter().map(|c| c.1.len()).sum::<usize>()
    }

    /// Those of them that were copied for it.
    pub fn copied(&self) -> usize {
        self.buffer.len()
    }

    /// All of it, if nothing is to be sent from where it is.
    pub fn whole(&self) -> Option<&[u8]> {
        self.cuts.is_empty().then_some(&self.buffer)
    }

    pub fn payload(&mut self) -> Payload {
        let mut rest = Bytes::copy_from_slice(&self.buffer);
        let mut at = 0;
        let mut pieces = Vec::with_capacity(2 * self.cuts.len() + 1);
        for (end, value) in self.cuts.drain(..) {
            pieces.push(rest.split_to(end - at));
            pieces.push(value);
            at = end;
        }
        pieces.push(rest);
        Payload::pieces(pieces)
    }

    fn fields(&mut self) -> Encoder<'_> {
        Encoder::new(&mut self.buffer)
    }

    fn value(&mut self, value: &Bytes) {
        if value.len() < CUT {
            self.fields().bytes(value);
        } else {
            self.fields().number(value.len() as u64);
            self.cuts.push((self.buffer.len(), value.clone()));
        }
    }

    /// All of a message that is the host's own.
    pub fn other(&mut self, bytes: &Bytes) {
        if bytes.len() < CUT {
            self.fields().rest(bytes);
        } else {
            self.cuts.push((self.buffer.len(), bytes.clone()));
        }
    }

    fn numbers(&mut self, numbers: &[u64]) {
        let mut fields = self.fields();
        fields.number(numbers.len() as u64);
        for n in numbers {
            fields.number(*n);
        }
    }

    fn store(&mut self, s: &Store<Bytes>) {
        let flags = u8::from(s.update) | u8::from(s.owned) << 1 | u8::from(s.delay.is_some()) << 2 | u8::from(s.ttl.is_some()) << 3;
        self.fields().byte(flags).bytes(&s.key);
        for time in [s.delay, s.ttl].into_iter().flatten() {
            self.fields().number(time);
        }
        self.value(&s.value);
    }
}

/// The bytes of a message that is the host's own.
pub fn decode_other(payload: &Bytes) -> Result<Bytes, WireError> {
    match payload.first() {
        Some(&VERSION) if payload.len() < KEEP => Ok(Bytes::copy_from_slice(&payload[1..])),
        Some(&VERSION) => Ok(payload.slice(1..)),
        _ => Err(WireError::Malformed { what: "a request of another version", at: 0 }),
    }
}

/// A payload that is read.
struct In<'a> {
    fields: Decoder<'a>,
    payload: &'a Bytes,
}

impl<'a> In<'a> {
    fn new(payload: &'a Bytes) -> Result<Self, WireError> {
        let mut fields = Decoder::new(payload);
        match fields.byte()? {
            VERSION => Ok(In { fields, payload }),
            _ => Err(WireError::Malformed { what: "a request of another version", at: 0 }),
        }
    }

    fn wrong<T>(&self, what: &'static str) -> Result<T, WireError> {
        Err(WireError::Malformed { what, at: self.fields.at().saturating_sub(1) })
    }

    fn value(&mut self) -> Result<Bytes, WireError> {
        let n = self.fields.bytes(usize::MAX)?.len();
        let end = self.fields.at();
        Ok(if n < KEEP && self.payload.len() < 8 * KEEP {
            Bytes::copy_from_slice(&self.payload[end - n..end])
        } else {
            self.payload.slice(end - n..end)
        })
    }

    fn key(&mut self) -> Result<Vec<u8>, WireError> {
        Ok(self.fields.bytes(KEY)?.to_vec())
    }

    fn list<T>(&mut self, most: u64, mut one: impl FnMut(&mut Self) -> Result<T, WireError>) -> Result<Vec<T>, WireError> {
        let n = self.fields.number_to(most)?;
        // No element is shorter than a byte.
        let left = self.payload.len() - self.fields.at();
        let mut list = Vec::with_capacity((n as usize).min(left).min(256));
        for _ in 0..n {
            list.push(one(self)?);
        }
        Ok(list)
    }

    fn numbers(&mut self, most: u64) -> Result<Vec<u64>, WireError> {
        self.list(most, |i| i.fields.number())
    }

    fn store(&mut self) -> Result<Store<Bytes>, WireError> {
        let flags = self.fields.byte()?;
        if flags > 15 {
            return self.wrong("flags that mean nothing");
        }
        let key = self.key()?;
        let mut time = |flag: u8| if flags & flag != 0 { self.fields.number().map(Some) } else { Ok(None) };
        let (delay, ttl) = (time(4)?, time(8)?);
        let value = self.value()?;
        Ok(Store { key, update: flags & 1 != 0, value, owned: flags & 2 != 0, delay, ttl })
    }
}

#[cfg(test)]
mod tests;
