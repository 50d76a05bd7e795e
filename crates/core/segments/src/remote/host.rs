//! What comes from other nodes, on the link's thread.
//!
//! **Invariant.** No cell is made or read here but for its address. Bytes are checked before they are stored.

use super::member::Change;
use super::{REFERENCES, Remote};
use crate::cell::Cell;
use crate::clock;
use crate::luggage;
use crate::state::{Clients, Replies};
use kumi_link::{Host, Link, Options, Peer, Tls, Why};
use kumi_membership::{Member, Why as Gone};
use kumi_segments::{Body, FromClient, FromOwner, Time};
use kumi_wire::{Bytes, Trace};
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};

/// The node as the link knows it.
pub struct Serving(pub Weak<Remote>);

/// Larger values are looked through by whoever takes them: this thread serves everybody.
const CHECKED: usize = 64 << 10;

/// Bytes of another node as a value: they are one whole value of ours.
fn checked(remote: &Remote, from: &Peer, b: Bytes, peer: &super::Peer) -> Result<Cell, String> {
    let (b, packed) = match luggage::split(&b)? {
        Some((packed, value)) => (value, Some(packed)),
        None => (b, None),
    };
    if b.len() <= CHECKED {
        kumi_wire::validate(&b, &Default::default()).map_err(|e| e.to_string())?;
    }
    let luggage = match packed {
        Some(packed) => Some(remote.guests().find_map(|g| g.unpack(from, &packed)).ok_or("references that are none")?),
        None => None,
    };
    Ok(Cell::encoded(b, Some(peer.symbols.clone())).with_luggage(luggage))
}

impl Host for Serving {
    fn started(&self, link: &Link) {
        if let Some(remote) = self.0.upgrade() {
            let _ = remote.link.set(link.clone());
        }
    }
    fn sleeps(&self, on: bool) {
        // A node that computes, or collects, answers no later.
        kumi_vm::run_promptly(on);
    }
    fn from_client(&self, peer: &Peer, m: FromClient<Bytes>) {
        self.from_client_traced(peer, m, None);
    }
    fn from_owner(&self, peer: &Peer, m: FromOwner<Bytes>) {
        self.from_owner_traced(peer, m, None);
    }
    fn from_client_traced(&self, peer: &Peer, m: FromClient<Bytes>, trace: Option<Trace>) {
        let Some(remote) = self.0.upgrade() else { return };
        remote.traffic.hears();
        let (p, trace) = (remote.peer(peer.name()), trace.map(Arc::new));
        let Ok(m) = m.try_map(|b| checked(&remote, peer, b, &p).map(|c| c.traced(trace.clone()))) else { return };
        let mut replies = Replies::default();
        let woken = {
            let mut inner = remote.shared.lock();
            if let Body::Call(_, call) = &m.body {
                call.keys(|k| {
                    if inner.export(k) {
                        remote.encoder.add_key(k);
                    }
                });
            }
            let now = clock::now();
            inner.act_remote(|node, ring| {
                node.receive(now, peer.name().as_bytes(), m, ring, &mut |to, m| remote.add(&mut replies, to, m));
            })
        };
        remote.tell(replies, woken);
    }
    fn from_owner_traced(&self, peer: &Peer, m: FromOwner<Bytes>, trace: Option<Trace>) {
        let Some(remote) = self.0.upgrade() else { return };
        remote.traffic.hears();
        let (p, trace) = (remote.peer(peer.name()), trace.map(Arc::new));
        let Ok(m) = m.try_map(|b| checked(&remote, peer, b, &p).map(|c| c.traced(trace.clone()))) else { return };
        remote.with(&p, |c, out| c.receive(clock::now(), m, out));
    }
    fn other(&self, peer: &Peer, bytes: Bytes) {
        if let Some(remote) = self.0.upgrade().filter(|r| r.over.get().is_none()) {
            remote.traffic.hears();
            let kind = bytes.first().copied().unwrap_or(0);
            match remote.guests().find(|g| g.takes(kind)) {
                Some(g) => g.message(peer, bytes),
                // Nobody here has named what it is for: that is loaded, and tells the other to say it again.
                None if REFERENCES.contains(&kind) => remote.encoder.call_guest(),
                None => {}
            }
        }
    }
    fn connected(&self, peer: &Peer) {
        let Some(remote) = self.0.upgrade() else { return };
        remote.guests().for_each(|g| g.connected(peer));
        let p = remote.peer(peer.name());
        remote.with(&p, |c, out| {
            // Who has left hears nothing any more.
            if remote.over.get().is_none() {
                c.connected(clock::now(), out);
            }
        });
    }
    fn disconnected(&self, peer: &Peer, _: &Why) {
        if let Some(remote) = self.0.upgrade() {
            remote.disconnected(peer.name());
        }
    }
    fn drained(&self, peer: &Peer) {
        if let Some(remote) = self.0.upgrade() {
            remote.guests().for_each(|g| g.drained(peer));
        }
    }
    fn refused(&self, with: &str, why: &Why) {
        if let Some(remote) = self.0.upgrade().filter(|_| !why.is_orderly()) {
            remote.refuse(with, &why.to_string());
        }
    }
    fn member_up(&self, member: &Member) {
        if let Some(remote) = self.0.upgrade() {
            remote.came(member);
            remote.guests().for_each(|g| g.came(member.name()));
            remote.news.add(Change::Join, member.name());
        }
    }
    fn member_down(&self, member: &Member, why: Gone) {
        let Some(remote) = self.0.upgrade() else { return };
        // What it said before it went may be on its way still: then the end of its connection is the end. A later life's connection begins
        // anew, with both sides.
        let connection = remote.link().and_then(|l| l.peer(member.name())).filter(Peer::is_connected);
        let later = connection.as_ref().is_some_and(|p| p.incarnation() > member.incarnation());
        if !later && (why != Gone::Left || connection.is_none()) {
            remote.lost(member.name());
        }
        remote.guests().for_each(|g| g.lost(member.name(), member.incarnation(), why == Gone::Left));
        remote.news.add(Change::Leave, member.name());
    }
    fn conflict(&self, holder: &Member) {
        if let Some(remote) = self.0.upgrade() {
            remote.end(format!("another node is called {}: this one is out of the cluster", remote.name));
            remote.news.add(Change::Conflict, holder.name());
        }
    }
    fn deadline(&self) -> Option<Time> {
        let remote = self.0.upgrade()?;
        let node = remote.shared.lock().node.next_deadline();
        let peers = Some(remote.planned.load(Relaxed)).filter(|at| *at != Time::MAX);
        let guests = remote.guests().filter_map(|g| g.deadline()).min();
        node.into_iter().chain(peers).chain(guests).min()
    }
    fn tick(&self, now: Time) {
        let Some(remote) = self.0.upgrade() else { return };
        if remote.planned.load(Relaxed) <= now {
            remote.planned.store(Time::MAX, Relaxed);
            for p in remote.all() {
                remote.with(&p, |c, out| c.tick(now, out));
            }
        }
        let mut replies = Replies::default();
        let woken = {
            let mut inner = remote.shared.lock();
            inner.act_remote(|node, ring| node.tick(now, ring, &mut |to, m| remote.add(&mut replies, to, m)))
        };
        remote.tell(replies, woken);
        remote.guests().for_each(|g| g.tick(now));
    }
}

/// What the library said, for the link.
pub fn options(
    name: String,
    incarnation: u64,
    listen: Vec<String>,
    join: Vec<String>,
    insecure: bool,
    tls: Option<(PathBuf, PathBuf, PathBuf)>,
    advertise: Option<String>,
) -> Result<Options, String> {
    let tls = match tls {
        Some((certificate, key, authority)) => Some(Tls::from_files(&certificate, &key, &authority).map_err(|e| e.to_string())?),
        None => None,
    };
    Ok(Options { incarnation, listen, join, insecure, tls, advertise, ..Options::new(name) })
}
