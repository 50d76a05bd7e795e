//! What two nodes say to each other about calls: bytes of messages that the link carries for this crate.
//!
//! | first byte | what | fields |
//! |---|---|---|
//! | 1 | a packet of `kumi-remote` | all that is left |
//! | 2 | a call | number, [`Call`] |
//! | 3 | an answer | number, [`How`], what it carries |
//! | 4 | the call of this number is not wanted any more | number |
//! | 5 | these calls had no answer when a connection ended | the numbers |
//! | 6 | a call of this number never came: it is to be sent again | number |
//! | 7 | from now on this node answers calls | |
//! | 8 | all calls below are over | number |
//! | 9 | the object of this reference is elsewhere now | the old reference, what it carries: the new one |
//!
//! **Invariant.** Bytes that come are hostile: a message is taken whole or refused, and makes no more be held than its own length.

use kumi_remote::{Error, Parcel, Ref};
use kumi_wire::{Bytes, Decoder, Encoder, WireError};

/// The longest name of a method.
pub const NAME: usize = 1024;
/// References in one message.
const REFERENCES: u64 = 1 << 16;
/// Numbers in one message.
pub const NUMBERS: u64 = 1 << 10;

/// See the module.
pub enum Message {
    Tables(Bytes),
    Call(u64, Call),
    Answer(u64, How, Carried),
    Cancel(u64),
    InDoubt(Vec<u64>),
    Never(u64),
    Here,
    Over(u64),
    Moved(Ref, Carried),
}

/// What is to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An object of the receiver's.
    Object(Ref),
    /// The receiver itself: it knows objects by names.
    Desk,
    /// The block that the receiver gave to its call of this number.
    Block(u64),
}

/// A call.
pub struct Call {
    /// All calls of the sender's below are over.
    pub over: u64,
    /// The last argument is a Hash of keywords.
    pub keywords: bool,
    /// The caller has a block.
    pub block: bool,
    /// It may have been done before: it is done again only if that does no harm.
    pub again: bool,
    /// Nanoseconds until nobody wants it any more.
    pub left: Option<u64>,
    pub target: Target,
    pub name: Bytes,
    /// An Array of arguments.
    pub arguments: Carried,
}

/// What a call has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It returned this.
    Value,
    /// It raised: class, message, backtrace.
    Raised,
    /// It was not done, for this reason, a text.
    Refused,
    /// The same: there is no such object any more.
    NoObject,
    /// The same: there is no such method, or not for others.
    NoMethod,
    /// It was done. What it returned is not kept.
    Done,
    /// It may have been done.
    Unknown,
}

impl How {
    const ALL: [How; 7] = [How::Value, How::Raised, How::Refused, How::NoObject, How::NoMethod, How::Done, How::Unknown];
}

/// A value with the references in it.
#[derive(Clone, Default)]
pub struct Carried {
    /// None: it has no references.
    pub parcel: Option<(Parcel, Vec<Ref>)>,
    pub value: Bytes,
}

impl Carried {
    /// Bytes that it takes.
    pub fn len(&self) -> usize {
        self.value.len() + self.parcel.as_ref().map_or(0, |p| size_of::<Ref>() * p.1.len())
    }
    /// A value without references.
    pub fn plain(value: impl Into<Bytes>) -> Carried {
        Carried { parcel: None, value: value.into() }
    }
    fn write(&self, out: &mut Encoder) {
        out.number(self.parcel.as_ref().map_or(0, |p| p.1.len() as u64));
        if let Some((parcel, refs)) = &self.parcel {
            parcel.write(out);
            refs.iter().for_each(|r| r.write(out));
        }
        out.rest(&self.value);
    }
    fn read(from: &mut Decoder, whole: &Bytes) -> Result<Carried, WireError> {
        let parcel = match from.number_to(REFERENCES)? {
            0 => None,
            n => {
                let parcel = Parcel::read(from)?;
                let mut refs = Vec::new();
                for _ in 0..n {
                    refs.push(Ref::read(from)?);
                }
                Some((parcel, refs))
            }
        };
        Ok(Carried { parcel, value: whole.slice(from.at()..) })
    }
}

/// References in a value of a segment, in their order.
#[derive(Default)]
pub struct Packed {
    /// Those that are of no use, by their places: why.
    pub dead: Vec<(usize, Error)>,
    /// All others; its value is empty.
    pub carried: Carried,
}

/// By the numbers that stand for them.
const REASONS: [Error; 8] =
    [Error::NodeLost, Error::OtherIncarnation, Error::Collected, Error::Forged, Error::Moved, Error::Quota, Error::Revoked, Error::Unknown];

impl Packed {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64);
        let mut out = Encoder::new(&mut bytes);
        out.number(self.dead.len() as u64);
        for (place, why) in &self.dead {
            let reason = REASONS.iter().position(|r| r == why).unwrap_or(0);
            out.number(*place as u64).byte(reason as u8);
        }
        self.carried.write(&mut out);
        bytes
    }
    /// What [`encode`](Self::encode) made.
    ///
    /// # Errors
    /// It is nothing of the kind.
    pub fn decode(bytes: &Bytes) -> Result<Packed, WireError> {
        let mut from = Decoder::new(bytes);
        let mut dead = Vec::new();
        for _ in 0..from.number_to(REFERENCES)? {
            let place = from.number_to(REFERENCES)? as usize;
            let why = REASONS.get(usize::from(from.byte()?));
            dead.push((place, *why.ok_or(WireError::Malformed { what: "a reference of no use for no reason", at: from.at() })?));
        }
        let carried = Carried::read(&mut from, bytes)?;
        if !carried.value.is_empty() {
            return Err(WireError::Malformed { what: "more than references", at: bytes.len() - carried.value.len() });
        }
        Ok(Packed { dead, carried })
    }
}

impl Message {
    /// Its bytes.
    pub fn encode(&self) -> Bytes {
        let mut bytes = Vec::with_capacity(64);
        let mut out = Encoder::new(&mut bytes);
        match self {
            Message::Tables(packet) => {
                out.byte(1).rest(packet);
            }
            Message::Call(number, c) => c.write(*number, &mut out),
            Message::Answer(number, how, carried) => {
                out.byte(3).number(*number).byte(*how as u8);
                carried.write(&mut out);
            }
            Message::Cancel(number) => {
                out.byte(4).number(*number);
            }
            Message::InDoubt(numbers) => {
                out.byte(5).number(numbers.len() as u64);
                for n in numbers {
                    out.number(*n);
                }
            }
            Message::Never(number) => {
                out.byte(6).number(*number);
            }
            Message::Here => {
                out.byte(7);
            }
            Message::Over(number) => {
                out.byte(8).number(*number);
            }
            Message::Moved(old, carried) => {
                out.byte(9);
                old.write(&mut out);
                carried.write(&mut out);
            }
        }
        Bytes::from(bytes)
    }
    /// The message of these bytes.
    ///
    /// # Errors
    /// They are none.
    pub fn decode(bytes: &Bytes) -> Result<Message, WireError> {
        let mut from = Decoder::new(bytes);
        Ok(match from.byte()? {
            1 => Message::Tables(bytes.slice(1..)),
            2 => Message::Call(from.number()?, Call::read(&mut from, bytes)?),
            3 => {
                let number = from.number()?;
                let at = from.at();
                let how =
                    How::ALL.get(usize::from(from.byte()?)).copied().ok_or(WireError::Malformed { what: "an answer of no kind", at })?;
                Message::Answer(number, how, Carried::read(&mut from, bytes)?)
            }
            4 => Message::Cancel(from.number()?),
            5 => {
                let n = from.number_to(NUMBERS)?;
                let mut numbers = Vec::new();
                for _ in 0..n {
                    numbers.push(from.number()?);
                }
                // Each is answered, and answers may be long.
                numbers.sort_unstable();
                numbers.dedup();
                Message::InDoubt(numbers)
            }
            6 => Message::Never(from.number()?),
            7 => Message::Here,
            8 => Message::Over(from.number()?),
            9 => Message::Moved(Ref::read(&mut from)?, Carried::read(&mut from, bytes)?),
            _ => return Err(WireError::Malformed { what: "a message about calls of no kind", at: 0 }),
        })
    }
}

const KEYWORDS: u8 = 1;
const BLOCK: u8 = 2;
const AGAIN: u8 = 4;
const LIMITED: u8 = 8;

impl Call {
    /// Bytes that it takes until somebody does it.
    pub fn len(&self) -> usize {
        size_of::<Call>() + self.name.len() + self.arguments.len()
    }
    fn write(&self, number: u64, out: &mut Encoder) {
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        let flags = flag(self.keywords, KEYWORDS) | flag(self.block, BLOCK) | flag(self.again, AGAIN) | flag(self.left.is_some(), LIMITED);
        out.byte(2).number(number).number(number - self.over.min(number)).byte(flags);
        if let Some(left) = self.left {
            out.number(left);
        }
        match &self.target {
            Target::Object(r) => {
                out.byte(0);
                r.write(out);
            }
            Target::Desk => {
                out.byte(1);
            }
            Target::Block(n) => {
                out.byte(2).number(*n);
            }
        }
        out.bytes(&self.name);
        self.arguments.write(out);
    }
    fn read(from: &mut Decoder, whole: &Bytes) -> Result<Call, WireError> {
        // The number stands before.
        let number = Decoder::new(&whole[1..]).number()?;
        let over = number - from.number_to(number)?;
        let at = from.at();
        let flags = from.byte()?;
        if flags > 15 {
            return Err(WireError::Malformed { what: "flags that mean nothing", at });
        }
        let left = if flags & LIMITED != 0 { Some(from.number()?) } else { None };
        let target = match from.byte()? {
            0 => Target::Object(Ref::read(from)?),
            1 => Target::Desk,
            2 => Target::Block(from.number()?),
            _ => return Err(WireError::Malformed { what: "a call of nothing", at }),
        };
        let name = from.bytes(NAME)?.len();
        let name = whole.slice(from.at() - name..from.at());
        let arguments = Carried::read(from, whole)?;
        Ok(Call {
            over,
            keywords: flags & KEYWORDS != 0,
            block: flags & BLOCK != 0,
            again: flags & AGAIN != 0,
            left,
            target,
            name,
            arguments,
        })
    }
    /// The same bytes, as one that may have been done before.
    pub fn said_again(bytes: &Bytes) -> Bytes {
        let mut fields = Decoder::new(bytes);
        let ok = fields.byte().and_then(|_| fields.number()).and_then(|_| fields.number());
        let mut bytes = bytes.to_vec();
        if let (Ok(_), Some(flags)) = (ok, bytes.get_mut(fields.at())) {
            *flags |= AGAIN;
        }
        Bytes::from(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumi_remote::{Life, NodeId};

    fn reference() -> Ref {
        Ref { life: Life { node: NodeId(3), incarnation: 9 }, slot: 1, generation: 2, seal: 3 }
    }

    #[test]
    fn calls_travel() {
        let parcel = Parcel::read(&mut Decoder::new(&[1, 2, 3, 4, 9, 2, 0])).unwrap();
        for parcel in [None, Some((parcel, vec![reference(), reference()]))] {
            for (target, left) in [(Target::Object(reference()), None), (Target::Desk, Some(7)), (Target::Block(300), Some(1 << 40))] {
                let arguments = Carried { parcel: parcel.clone(), value: Bytes::from_static(&[1, 2, 3]) };
                let call = Call {
                    over: 5,
                    keywords: true,
                    block: false,
                    again: false,
                    left,
                    target,
                    name: Bytes::from_static(b"work"),
                    arguments,
                };
                let bytes = Message::Call(600, call).encode();
                for again in [false, true] {
                    let bytes = if again { Call::said_again(&bytes) } else { bytes.clone() };
                    let Ok(Message::Call(600, c)) = Message::decode(&bytes) else { panic!() };
                    assert_eq!((c.over, c.keywords, c.block, c.again, c.left), (5, true, false, again, left));
                    assert_eq!((c.target, &*c.name, &*c.arguments.value), (target, &b"work"[..], &[1, 2, 3][..]));
                    assert_eq!(c.arguments.parcel, parcel);
                }
            }
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for n in 0..=255u8 {
            for m in [0u8, 1, 7, 255] {
                for long in 0..12 {
                    let mut bytes = vec![n];
                    bytes.resize(long, m);
                    // It may be one; it must not panic.
                    let _ = Message::decode(&Bytes::from(bytes));
                }
            }
        }
        let many = [&[5u8, 0xff, 0xff, 0x0f][..], &[1; 4]].concat();
        assert!(Message::decode(&Bytes::from(many)).is_err());
        let refs = [&[3u8, 1, 0, 0xff, 0xff, 0x03][..], &[0; 20]].concat();
        assert!(Message::decode(&Bytes::from(refs)).is_err());
    }
}
