//! The handshake: who is there, and what both speak.

use super::head::{self, Head};
use super::limits::Limits;
use crate::error::WireError;
use crate::message::Decoder;

/// The newest version that this crate speaks.
pub const NEWEST: u16 = 1;
/// The oldest one: that before, once there is one.
pub const OLDEST: u16 = 1;

/// What a connection begins with. The first byte is no ASCII, so that no text protocol's client gets past it, and a line's end that was
/// changed on the way shows.
pub const MAGIC: [u8; 8] = *b"\xCBkumi\r\n\0";

/// The longest `Hello`: later versions may append fields.
pub const HELLO_MAX: usize = 4096;

/// The longest name of a node.
const NAME_MAX: usize = 255;

/// Who speaks first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The node that opened the connection: it speaks first.
    Caller,
    /// The node that accepted it: it says nothing to what does not begin like a node.
    Listener,
}

/// What a node says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Its name in the cluster: 1 to 255 bytes.
    pub name: String,
    /// Which life of that name this is: higher after each start.
    pub incarnation: u64,
    /// One bit for each optional ability; the meanings are those of the crate's user. Bits that are unknown are harmless.
    pub features: u64,
    /// The oldest and the newest version it speaks.
    pub versions: (u16, u16),
}

impl Hello {
    /// A node without optional abilities, which speaks what this crate does.
    pub fn new(name: impl Into<String>, incarnation: u64) -> Hello {
        Hello { name: name.into(), incarnation, features: 0, versions: (OLDEST, NEWEST) }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.name.is_empty() || self.name.len() > NAME_MAX {
            return Err("a node's name is 1 to 255 bytes");
        }
        if self.versions.0 > self.versions.1 || self.versions.0 == 0 {
            return Err("versions begin at 1, and the oldest is not above the newest");
        }
        Ok(())
    }
}

/// The other side, once it has said `Hello`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// What it said of itself.
    pub hello: Hello,
    /// The version that is spoken.
    pub version: u16,
    /// The abilities that both have.
    pub features: u64,
}

/// The version that two nodes speak, each given as its oldest and its newest: the lower of the newest, if both speak it.
///
/// ```
/// use kumi_wire::frame::negotiate;
/// assert_eq!(negotiate((1, 2), (2, 3)), Some(2));
/// assert_eq!(negotiate((1, 1), (2, 3)), None);
/// ```
pub fn negotiate(ours: (u16, u16), theirs: (u16, u16)) -> Option<u16> {
    let version = ours.1.min(theirs.1);
    (version >= ours.0 && version >= theirs.0).then_some(version)
}

/// What a peer accepts.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub frame_max: usize,
    pub message_max: usize,
    pub streams_max: usize,
    pub window: usize,
}

pub fn encode(hello: &Hello, limits: &Limits, out: &mut Vec<u8>) {
    let mut payload = Vec::with_capacity(64);
    payload.extend_from_slice(&hello.versions.0.to_be_bytes());
    payload.extend_from_slice(&hello.versions.1.to_be_bytes());
    payload.extend_from_slice(&hello.incarnation.to_be_bytes());
    payload.extend_from_slice(&hello.features.to_be_bytes());
    for n in [limits.frame_max, limits.message_max, limits.streams_max, limits.window] {
        payload.extend_from_slice(&(n as u32).to_be_bytes());
    }
    payload.push(hello.name.len() as u8);
    payload.extend_from_slice(hello.name.as_bytes());
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&Head { length: payload.len(), kind: head::HELLO, flags: head::OWN, stream: 0 }.encode());
    out.extend_from_slice(&payload);
}

pub fn decode(payload: &[u8]) -> Result<(Hello, Terms), WireError> {
    let cut = |_| WireError::BadHello("it is cut off");
    let mut fields = Decoder::new(payload);
    let mut number = |n: usize| fields.take(n).map(|b| b.iter().fold(0, |n, &b| n << 8 | u64::from(b))).map_err(cut);
    let versions = (number(2)? as u16, number(2)? as u16);
    let (incarnation, features) = (number(8)?, number(8)?);
    let mut size = || number(4).map(|n| n as usize);
    let terms = Terms { frame_max: size()?, message_max: size()?, streams_max: size()?, window: size()? };
    let n = number(1)? as usize;
    let name = std::str::from_utf8(fields.take(n).map_err(cut)?).map_err(|_| WireError::BadHello("a name that is no UTF-8"))?;
    let hello = Hello { name: name.to_owned(), incarnation, features, versions };
    hello.check().map_err(WireError::BadHello)?;
    // As if its pool held just the longest message: what is left is what `check` asks of limits.
    let buffered_max = terms.streams_max.saturating_mul(terms.window).saturating_add(terms.message_max).saturating_add(terms.frame_max);
    let Terms { frame_max, message_max, streams_max, window } = terms;
    let limits = Limits { frame_max, message_max, streams_max, window, buffered_max };
    limits.check().map_err(|_| WireError::BadHello("limits that contradict each other"))?;
    Ok((hello, terms))
}
