//! What nodes say to each other, as bytes.
//!
//! A packet is `version kind incarnation:u16 from to …`, numbers in network order. A member is
//! `length:u8 name length:u16 address incarnation:u64 length:u16 extras`. The incarnation of two bytes is SWIM's, by which a member
//! refutes a suspicion; the eight bytes say which life of the node it is. After the head of SWIM's packets come `count:u16` and as many
//! news: `state:u8 incarnation:u16 member`.
//!
//! **Invariant.** [`Packet::decode`] takes a whole packet or nothing, and makes no more than its bytes say. No part of a packet that it
//! refused has reached anything else.

use crate::member::{BadMember, MAX_ADDRESS, MAX_EXTRAS, Member};
use bytes::{Buf, BufMut};
use foca::{Header, Message, State};
use std::fmt;

/// The longest packet, in bytes: sent or received.
pub const MAX_PACKET: usize = 8192;

/// The version of the format.
pub const VERSION: u8 = 1;

/// News of a member, as SWIM has them.
pub(crate) type News = foca::Member<Member>;

const REFUSED: u8 = 32;

/// SWIM's incarnation of a member that said itself that it goes: no refutation can follow.
pub(crate) const LEFT: u16 = u16::MAX;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Packet {
    Swim {
        header: Header<Member>,
        news: Vec<News>,
    },
    /// `to` can't be what it says it is, in this life.
    Refused {
        from: Member,
        to: Member,
        why: Refusal,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Refusal {
    /// Another node has the name. `heard`: it answered just now, so that there is no hope.
    Taken { holder: Member, heard: bool },
    /// A life of the node is known that is no earlier than this one.
    Stale { known: u64 },
    /// There are as many members as one may have.
    Full,
}

/// Why bytes are no packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// It ends too early.
    Short,
    /// It goes on after its end.
    Long,
    /// The packet is of a version that this node does not speak.
    Version(u8),
    /// A kind, a state or a mark that does not exist.
    Unknown,
    /// A name or an address that is no UTF-8.
    Text,
    /// A member that can't be.
    Member(BadMember),
    /// There is no room for it in a packet. Only when one is written.
    Room,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Short => f.write_str("the packet ends too early"),
            Malformed::Long => f.write_str("the packet goes on after its end"),
            Malformed::Version(v) => write!(f, "the packet has version {v}, and this node speaks {VERSION}"),
            Malformed::Unknown => f.write_str("the packet has an unknown kind or state"),
            Malformed::Text => f.write_str("a name or an address is no UTF-8"),
            Malformed::Member(bad) => write!(f, "a member can't be: {bad}"),
            Malformed::Room => f.write_str("a packet has no room for it"),
        }
    }
}

impl std::error::Error for Malformed {}

type R<T> = Result<T, Malformed>;

impl Packet {
    pub(crate) fn decode(mut bytes: &[u8]) -> R<Packet> {
        let of = &mut bytes;
        if of.get(1) == Some(&REFUSED) {
            head(of)?;
            let (from, to) = (member(of)?, member(of)?);
            let why = match u8_of(of)? {
                0 => Refusal::Taken { heard: u8_of(of)? != 0, holder: member(of)? },
                1 => Refusal::Stale { known: u64_of(of)? },
                2 => Refusal::Full,
                _ => return Err(Malformed::Unknown),
            };
            return if of.is_empty() { Ok(Packet::Refused { from, to, why }) } else { Err(Malformed::Long) };
        }
        let header = header(of)?;
        let mut news = Vec::new();
        if !of.is_empty() {
            for _ in 0..u16_of(of)? {
                news.push(one_of_the_news(of)?);
            }
        }
        if of.is_empty() { Ok(Packet::Swim { header, news }) } else { Err(Malformed::Long) }
    }

    pub(crate) fn encode(&self) -> R<Vec<u8>> {
        let mut out = Vec::with_capacity(256);
        let mut room = (&mut out).limit(MAX_PACKET);
        match self {
            Packet::Swim { header, news } => {
                put_header(header, &mut room)?;
                if !news.is_empty() {
                    need(&room, 2)?;
                    room.put_u16(news.len() as u16);
                    news.iter().try_for_each(|n| put_news(n, &mut room))?;
                }
            }
            Packet::Refused { from, to, why } => {
                room.put_slice(&[VERSION, REFUSED, 0, 0]);
                put_member(from, &mut room)?;
                put_member(to, &mut room)?;
                need(&room, 9)?;
                match why {
                    Refusal::Taken { holder, heard } => {
                        room.put_slice(&[0, u8::from(*heard)]);
                        put_member(holder, &mut room)?;
                    }
                    Refusal::Stale { known } => {
                        room.put_u8(1);
                        room.put_u64(*known);
                    }
                    Refusal::Full => room.put_u8(2),
                }
            }
        }
        Ok(out)
    }
}

fn take<'a>(of: &mut &'a [u8], n: usize) -> R<&'a [u8]> {
    let (head, rest) = of.split_at_checked(n).ok_or(Malformed::Short)?;
    *of = rest;
    Ok(head)
}

fn u8_of(of: &mut &[u8]) -> R<u8> {
    take(of, 1).map(|b| b[0])
}

fn u16_of(of: &mut &[u8]) -> R<u16> {
    take(of, 2).map(|mut b| b.get_u16())
}

fn u64_of(of: &mut &[u8]) -> R<u64> {
    take(of, 8).map(|mut b| b.get_u64())
}

fn text<'a>(of: &mut &'a [u8], n: usize) -> R<&'a str> {
    std::str::from_utf8(take(of, n)?).map_err(|_| Malformed::Text)
}

/// A member, or whoever listens at an address.
fn member_or_anyone(of: &mut &[u8]) -> R<Member> {
    let n = u8_of(of)?;
    let name = text(of, n.into())?;
    let n = u16_of(of)?;
    if n as usize > MAX_ADDRESS {
        return Err(Malformed::Member(BadMember::Address));
    }
    let address = text(of, n.into())?;
    let incarnation = u64_of(of)?;
    let n = u16_of(of)?;
    if n as usize > MAX_EXTRAS {
        return Err(Malformed::Member(BadMember::Extras));
    }
    let extras = take(of, n.into())?;
    if name.is_empty() && incarnation == 0 && extras.is_empty() {
        return Member::anyone(address).map_err(Malformed::Member);
    }
    Member::with_extras(name, address, incarnation, extras).map_err(Malformed::Member)
}

fn member(of: &mut &[u8]) -> R<Member> {
    member_or_anyone(of).and_then(|m| if m.is_anyone() { Err(Malformed::Member(BadMember::Name)) } else { Ok(m) })
}

fn one_of_the_news(of: &mut &[u8]) -> R<News> {
    let state = match u8_of(of)? {
        0 => State::Alive,
        1 => State::Suspect,
        2 => State::Down,
        _ => return Err(Malformed::Unknown),
    };
    let incarnation = u16_of(of)?;
    Ok(News::new(member(of)?, incarnation, state))
}

/// The kind and SWIM's incarnation.
fn head(of: &mut &[u8]) -> R<(u8, u16)> {
    match u8_of(of)? {
        VERSION => Ok((u8_of(of)?, u16_of(of)?)),
        v => Err(Malformed::Version(v)),
    }
}

fn header(of: &mut &[u8]) -> R<Header<Member>> {
    let (kind, src_incarnation) = head(of)?;
    let (src, dst) = (member(of)?, member_or_anyone(of)?);
    let probe_number = if kind < 6 { u8_of(of)? } else { 0 };
    let message = match kind {
        0 => Message::Ping(probe_number),
        1 => Message::Ack(probe_number),
        2 => Message::PingReq { target: member(of)?, probe_number },
        3 => Message::IndirectPing { origin: member(of)?, probe_number },
        4 => Message::IndirectAck { target: member(of)?, probe_number },
        5 => Message::ForwardedAck { origin: member(of)?, probe_number },
        6 => Message::Announce,
        7 => Message::Feed,
        8 => Message::Gossip,
        9 => Message::TurnUndead,
        _ => return Err(Malformed::Unknown),
    };
    if dst.is_anyone() && message != Message::Announce {
        return Err(Malformed::Member(BadMember::Name));
    }
    Ok(Header { src, src_incarnation, dst, message })
}

fn need(buf: &impl BufMut, n: usize) -> R<()> {
    if buf.remaining_mut() >= n { Ok(()) } else { Err(Malformed::Room) }
}

fn put_member(m: &Member, buf: &mut impl BufMut) -> R<()> {
    need(buf, 1 + m.name().len() + 2 + m.address().len() + 8 + 2 + m.extras().len())?;
    buf.put_u8(m.name().len() as u8);
    buf.put_slice(m.name().as_bytes());
    buf.put_u16(m.address().len() as u16);
    buf.put_slice(m.address().as_bytes());
    buf.put_u64(m.incarnation());
    buf.put_u16(m.extras().len() as u16);
    buf.put_slice(m.extras());
    Ok(())
}

fn put_news(news: &News, buf: &mut impl BufMut) -> R<()> {
    // As a whole or not at all: SWIM goes on with what there is room for.
    let m = news.id();
    need(buf, 3 + 1 + m.name().len() + 2 + m.address().len() + 8 + 2 + m.extras().len())?;
    buf.put_u8(match news.state() {
        State::Alive => 0,
        State::Suspect => 1,
        State::Down => 2,
    });
    buf.put_u16(news.incarnation());
    put_member(m, buf)
}

fn put_header(header: &Header<Member>, buf: &mut impl BufMut) -> R<()> {
    let (kind, number, other) = match &header.message {
        Message::Ping(n) => (0, *n, None),
        Message::Ack(n) => (1, *n, None),
        Message::PingReq { target, probe_number } => (2, *probe_number, Some(target)),
        Message::IndirectPing { origin, probe_number } => (3, *probe_number, Some(origin)),
        Message::IndirectAck { target, probe_number } => (4, *probe_number, Some(target)),
        Message::ForwardedAck { origin, probe_number } => (5, *probe_number, Some(origin)),
        Message::Announce => (6, 0, None),
        Message::Feed => (7, 0, None),
        Message::Gossip => (8, 0, None),
        Message::TurnUndead => (9, 0, None),
        Message::Broadcast => return Err(Malformed::Unknown),
    };
    need(buf, 4)?;
    buf.put_slice(&[VERSION, kind]);
    buf.put_u16(header.src_incarnation);
    put_member(&header.src, buf)?;
    put_member(&header.dst, buf)?;
    if kind < 6 {
        need(buf, 1)?;
        buf.put_u8(number);
    }
    other.map_or(Ok(()), |m| put_member(m, buf))
}

/// SWIM's incarnation of who sent a packet that this node wrote.
pub(crate) fn own_incarnation(bytes: &[u8]) -> u16 {
    bytes.get(2..4).map_or(0, |mut b| b.get_u16())
}

/// `foca`'s view of the format.
pub(crate) struct Codec;

impl Codec {
    /// Reads one thing from the buffer's front; it is in one piece.
    fn read<T>(mut buf: impl Buf, one: fn(&mut &[u8]) -> R<T>) -> R<T> {
        let mut rest = buf.chunk();
        let before = rest.len();
        let got = one(&mut rest)?;
        let used = before - rest.len();
        buf.advance(used);
        Ok(got)
    }
}

impl foca::Codec<Member> for Codec {
    type Error = Malformed;

    fn encode_header(&mut self, header: &Header<Member>, mut buf: impl BufMut) -> R<()> {
        put_header(header, &mut buf)
    }

    fn decode_header(&mut self, buf: impl Buf) -> R<Header<Member>> {
        Codec::read(buf, header)
    }

    fn encode_member(&mut self, member: &News, mut buf: impl BufMut) -> R<()> {
        put_news(member, &mut buf)
    }

    fn decode_member(&mut self, buf: impl Buf) -> R<News> {
        Codec::read(buf, one_of_the_news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn m(name: &str) -> Member {
        Member::new(name, "h:1", 7).unwrap()
    }

    #[test]
    fn packets_come_back() {
        let header = |message| Header { src: m("a").with_cores(2).unwrap(), src_incarnation: 3, dst: m("b"), message };
        let (target, origin, probe_number) = (m("c"), m("d"), 9);
        let messages = [
            Message::Ping(1),
            Message::Ack(2),
            Message::PingReq { target: target.clone(), probe_number },
            Message::IndirectPing { origin: origin.clone(), probe_number },
            Message::IndirectAck { target, probe_number },
            Message::ForwardedAck { origin, probe_number },
            Message::Announce,
            Message::Feed,
            Message::Gossip,
            Message::TurnUndead,
        ];
        let news = vec![News::new(m("x"), 0, State::Alive), News::new(m("y"), 1, State::Suspect), News::new(m("z"), LEFT, State::Down)];
        let mut all: Vec<Packet> = messages.map(|m| Packet::Swim { header: header(m), news: news.clone() }).into();
        for why in [Refusal::Full, Refusal::Stale { known: 8 }, Refusal::Taken { holder: m("b"), heard: true }] {
            all.push(Packet::Refused { from: m("a"), to: m("b"), why });
        }
        for packet in all {
            let bytes = packet.encode().unwrap();
            assert_eq!(Packet::decode(&bytes).unwrap(), packet);
            for cut in 0..bytes.len() {
                // Where the news begin, a packet may end.
                assert!(
                    Packet::decode(&bytes[..cut]).map_or(true, |p| matches!(p, Packet::Swim { news, .. } if news.is_empty())),
                    "{packet:?} {cut}"
                );
            }
            assert_eq!(Packet::decode(&[&bytes[..], &[0]].concat()).unwrap_err(), Malformed::Long);
        }
    }

    /// Bytes of version 1. They must be read for as long as there are nodes of that version.
    #[test]
    fn recorded_bytes_are_read() {
        let hex = "0108000301610003683a3100000000000000070005020002000201620003683a310000000000000007000000010100040178000\
3683a3100000000000000070000";
        let bytes: Vec<u8> = (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
        let header = Header { src: m("a").with_cores(2).unwrap(), src_incarnation: 3, dst: m("b"), message: Message::Gossip };
        let packet = Packet::Swim { header, news: vec![News::new(m("x"), 4, State::Suspect)] };
        assert_eq!(Packet::decode(&bytes).unwrap(), packet);
        assert_eq!(packet.encode().unwrap(), bytes);
        assert_eq!(Packet::decode(&[&[2], &bytes[1..]].concat()).unwrap_err(), Malformed::Version(2));
    }

    #[test]
    fn the_largest_members_fit() {
        let (name, address) = ("n".repeat(64), format!("/{}", "p".repeat(255)));
        let m = Member::new(&name, &address, u64::MAX).unwrap().with_web(&"w".repeat(500)).unwrap();
        let header =
            Header { src: m.clone(), src_incarnation: 0, dst: m.clone(), message: Message::PingReq { target: m.clone(), probe_number: 0 } };
        let news = vec![News::new(m.clone(), 0, State::Alive); 5];
        assert!(Packet::Swim { header, news }.encode().unwrap().len() < MAX_PACKET);
    }
}
