//! Who is there, and which of two connections is kept.
//!
//! **Invariant.** A peer has one connection in use. Of two with the same life of it the one is kept that the node with the lower name made; both
//! sides know that. Of two lives the later one waits aside, its gossip heard, until the earlier one's connection has ended or the
//! cluster has it that the later one is the member: so a node that takes another's name gets nothing of it.
//!
//! A node that has large messages for a peer makes a second connection for these, which ends with the first one, as that does with it.

use super::line::Phase;
use super::{MS, Server};
use crate::channel::{Peer, kind};
use crate::codec::features;
use crate::error::{Why, code};
use kumi_membership::{Member, Name};
use kumi_segments::Time;
use kumi_wire::{Hello, Message, Reason};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Incarnations that are kept in mind.
const SEEN: usize = 8192;
/// Bytes of messages that are kept for a peer that stands aside.
const HELD: usize = 1 << 20;
/// How long a connection has to show that it is there, where another one would take its place.
const PROOF: Time = 1000 * MS;

impl Server {
    /// The peer may have said who it is.
    pub(super) fn greet(&mut self, at: Time, token: usize) {
        let Some(line) = self.lines.get_mut(&token).filter(|l| l.phase == Phase::Shaking) else { return };
        let channel = line.channel.clone();
        let Some(hello) = channel.hello() else { return };
        line.hello = Some(hello.clone());
        if channel.ended().is_some() {
            return;
        }
        if let Err(reason) = self.admit(at, token, &hello) {
            return self.refuse(at, token, reason);
        }
        let Some(line) = self.lines.get(&token) else { return };
        let (source, dialed) = (line.source, line.dialed.clone());
        self.sources.left(source);
        if line.phase == Phase::Bulk {
            if let (Some(peer), channel) = (line.second_of.clone(), line.channel.clone()) {
                self.settle_second(&peer, Some(channel));
            }
            return;
        }
        let address = self.membership.me().address().clone();
        self.say(token, kind::ADDRESS, address.as_bytes());
        if let Some(address) = dialed {
            self.dial_done(at, token, &address);
        }
        if self.lines.get(&token).is_some_and(|l| l.phase == Phase::Open) {
            self.begin_use(at, token);
        }
    }

    /// Whether it may come in; its phase says how far.
    fn admit(&mut self, at: Time, token: usize, hello: &Hello) -> Result<(), Reason> {
        let refused = |code, text| Err(Reason { code, text });
        let name = &*hello.name;
        let Some(line) = self.lines.get_mut(&token) else { return Ok(()) };
        if let Err(e) = Member::new(name, "/", hello.incarnation) {
            return refused(kumi_wire::code::HELLO, e.to_string());
        }
        if let Err(text) = line.channel.check_name(name) {
            return refused(code::CERTIFICATE, text);
        }
        if name == self.hello.name {
            if hello.incarnation == self.hello.incarnation {
                return refused(code::ITSELF, format!("node {name} called itself"));
            }
            // The cluster says which of the two keeps the name.
            line.phase = Phase::Aside;
            return Ok(());
        }
        if let Some(last) = self.seen.get(name).filter(|&&last| hello.incarnation < last) {
            return refused(code::STALE, format!("a later life of node {name} is known: {last}, not {}", hello.incarnation));
        }
        let own = self.lines.get(&token).and_then(|l| l.second_of.clone());
        if own.is_some() || hello.features & features::SECOND != 0 {
            return self.admit_second(at, token, own, hello);
        }
        let other = self.lines.iter().find(|(_, l)| l.phase == Phase::Open && l.name() == name).map(|(t, l)| (*t, l.incarnation()));
        let own_call = self.lines.get(&token).is_some_and(|l| l.dialed.is_some());
        let phase = match other {
            None => Phase::Open,
            Some((other, incarnation)) if incarnation == hello.incarnation => {
                let before = self.lines.get(&other).is_some_and(|l| l.dialed.is_some());
                let lower_calls = |own: bool| own == (*self.hello.name < *name);
                // Whoever calls twice knows that its first call is over.
                if own_call != before && !lower_calls(own_call) {
                    self.prove(at, other);
                    return refused(code::DUPLICATE, "another connection between these nodes is kept".to_owned());
                }
                self.replace(at, other);
                if self.seen.get(name).is_some_and(|&last| hello.incarnation < last) {
                    // A later life stood aside, and has its place now.
                    return refused(code::STALE, format!("a later life of node {name} is there"));
                }
                Phase::Open
            }
            Some((other, _)) => {
                self.prove(at, other);
                let earlier: Vec<usize> =
                    self.lines.iter().filter(|(_, l)| l.phase == Phase::Aside && l.name() == name).map(|x| *x.0).collect();
                for t in earlier {
                    let text = format!("another node that calls itself {name} has come");
                    self.refuse(at, t, Reason { code: code::STALE, text });
                }
                Phase::Aside
            }
        };
        if let Some(line) = self.lines.get_mut(&token) {
            line.phase = phase;
        }
        Ok(())
    }

    /// A second connection: `own`, or the peer's. There must be a first one.
    fn admit_second(&mut self, at: Time, token: usize, own: Option<Peer>, hello: &Hello) -> Result<(), Reason> {
        let first = |l: &super::Line| l.phase == Phase::Open && l.name() == hello.name && l.incarnation() == hello.incarnation;
        let peer = self.lines.values().find(|l| first(l)).and_then(|l| l.peer.clone());
        let Some(peer) = peer.filter(|p| own.as_ref().is_none_or(|o| o == p)) else {
            return Err(Reason { code: code::DUPLICATE, text: "a second connection without a first one".to_owned() });
        };
        let before = |l: &super::Line| l.phase == Phase::Bulk && l.name() == hello.name && l.second_of.is_some() == own.is_some();
        let before: Vec<usize> = self.lines.iter().filter(|(_, l)| before(l)).map(|x| *x.0).collect();
        for token in before {
            self.close(at, token, Why::Replaced);
        }
        if let Some(line) = self.lines.get_mut(&token) {
            line.phase = Phase::Bulk;
            line.peer = Some(peer);
            line.channel.bulk.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Another connection takes this one's place.
    fn replace(&mut self, at: Time, token: usize) {
        if let Some(line) = self.lines.get_mut(&token) {
            line.channel.goodbye(&Reason { code: code::DUPLICATE, text: "another connection between these nodes is kept".to_owned() });
            // Nobody makes it again meanwhile.
            let peer = line.peer.clone();
            let wanted = peer.as_ref().is_some_and(|p| p.is_wanted() && p.want(false));
            self.close(at, token, Why::Replaced);
            if let Some(peer) = peer.filter(|_| wanted) {
                peer.want(true);
            }
        }
    }

    /// It is to show that it is there.
    fn prove(&mut self, at: Time, token: usize) {
        self.say(token, kind::PING, &[]);
        let until = at.saturating_add(self.shared.patient(PROOF));
        if let Some(line) = self.lines.get_mut(&token) {
            line.deadline.get_or_insert(until);
        }
    }

    /// The connection is the peer's from now on.
    fn begin_use(&mut self, at: Time, token: usize) {
        let Some(line) = self.lines.get_mut(&token) else { return };
        line.phase = Phase::Open;
        let (name, incarnation): (Name, u64) = (line.name().into(), line.incarnation());
        let peer = self.shared.peer(&name);
        peer.set_channel(line.channel.clone(), incarnation, line.hello.as_ref().map_or(0, |h| h.features));
        line.peer = Some(peer.clone());
        let held = std::mem::take(&mut line.held);
        if self.seen.len() >= SEEN && !self.seen.contains_key(&name) {
            let known = |n: &Name| self.shared.peers.read().contains_key(n);
            let old = self.seen.keys().find(|n| !known(n)).or(self.seen.keys().next()).cloned();
            old.map(|old| self.seen.remove(&old));
        }
        self.seen.insert(name, incarnation);
        self.host.connected(&peer);
        for message in held {
            self.take(at, token, message);
        }
    }

    /// The connection of a peer has ended: one that stands aside takes its place. Whether there was one.
    pub(super) fn promote(&mut self, at: Time, peer: &Peer) -> bool {
        let aside = |l: &super::Line| l.phase == Phase::Aside && l.name() == &**peer.name();
        let Some(token) = self.lines.iter().find(|(_, l)| aside(l)).map(|x| *x.0) else { return false };
        self.begin_use(at, token);
        true
    }

    /// A member is there: if it is one that stands aside, the earlier life's connection is over.
    pub(super) fn confirmed(&mut self, at: Time, member: &Member) {
        let later = |l: &super::Line| {
            l.phase == Phase::Aside
                && l.name() == &**member.name()
                && l.incarnation() <= member.incarnation()
                && l.address.as_ref() == Some(member.address())
        };
        if member.name() == self.membership.me().name() || !self.lines.values().any(later) {
            return;
        }
        let earlier = self.lines.iter().find(|(_, l)| l.phase == Phase::Open && l.name() == &**member.name());
        match earlier.map(|(t, l)| (*t, l.incarnation())) {
            Some((token, _)) => {
                let text = format!("a later life of node {} is there", member.name());
                self.refuse(at, token, Reason { code: code::STALE, text });
            }
            None => drop(self.promote(at, &self.shared.peer(member.name()))),
        }
    }

    /// A message of a peer that stands aside.
    pub(super) fn hold(&mut self, at: Time, token: usize, mut message: Message) {
        let Some(line) = self.lines.get_mut(&token) else { return };
        message.compact();
        line.held.push(message);
        if line.held.iter().map(|m| m.payload.len() + size_of::<Message>()).sum::<usize>() > HELD {
            let text = "too much was sent by a node whose name another one has".to_owned();
            self.refuse(at, token, Reason { code: code::SLOW, text });
        }
    }

    /// It says where it is reached.
    pub(super) fn introduced(&mut self, at: Time, token: usize, payload: &[u8]) {
        let Some(line) = self.lines.get_mut(&token) else { return };
        let Ok(address) = std::str::from_utf8(payload) else { return };
        let name = line.name();
        if Member::new("x", address, 0).is_err() || **self.membership.me().address() == *address {
            return;
        }
        // Nobody takes another's mail.
        let members = self.shared.members.lock().clone();
        if members.iter().any(|m| &**m.address() == address && &**m.name() != name) {
            return;
        }
        let address: Arc<str> = address.into();
        let before = line.address.replace(address.clone());
        if let Some(before) = before.filter(|b| *b != address) {
            self.routes.remove(&before);
        }
        self.routes.insert(address, token);
        let name = self.lines.get(&token).map(|l| l.name().to_owned()).unwrap_or_default();
        if let Some(member) = members.iter().find(|m| **m.name() == *name) {
            self.confirmed(at, member);
        }
    }
}
