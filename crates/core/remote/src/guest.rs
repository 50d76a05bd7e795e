//! This crate's use of a node's connections, as the segments know it; and references in segments.
//!
//! **Invariant.** What comes is handled under the host's lock, in [`Inner`](crate::host::Inner). No cell is made or read by whoever serves
//! the connections.

use crate::call::{SOON, items};
use crate::host::Host;
use crate::host::luggage::Held;
use crate::proxy::{Dead, dead, proxy};
use crate::state::{Made, host, made};
use crate::talk::message::Message;
use kumi_core_segments::encode::Staying;
use kumi_core_segments::{Guest, Luggage, Node, Porter, REFERENCES, carry};
use kumi_link::Peer;
use kumi_remote::{Arrived, Error, Time};
use kumi_vm::*;
use kumi_wire::Bytes;
use std::sync::{Arc, Weak};

/// See the module.
pub struct Listener {
    host: Weak<Host>,
    made: &'static Made,
}

/// Hears what comes for a node's part, and carries references of segments from now on.
pub fn begin(cx: &mut Cx, node: &Node, host: &Arc<Host>, made: &'static Made) {
    let listener = Arc::new(Listener { host: Arc::downgrade(host), made });
    node.invite(listener.clone());
    carry(cx, listener);
}

impl Guest for Listener {
    fn takes(&self, kind: u8) -> bool {
        REFERENCES.contains(&kind)
    }
    fn unpack(&self, peer: &Peer, packed: &Bytes) -> Option<Arc<dyn Luggage>> {
        let host = self.host.upgrade()?;
        let held = host.act(|inner, now, after| {
            inner.hears(now, peer, after);
            Held::unpack(&host, inner, now, peer, packed)
        })?;
        Some(Arc::new(held))
    }
    fn meets(&self, cx: &mut Cx, name: &str) -> Result<(), Exit> {
        let Some(host) = self.host.upgrade() else { return Ok(()) };
        cx.from_outside();
        let waker = cx.waker();
        let met = host.look(|inner| match inner.peers.get(name) {
            Some(p) if p.beyond => Err(()),
            Some(p) if inner.seen.met(p.node).is_some() => Ok(true),
            _ => {
                inner.is_stranger(waker);
                Ok(false)
            }
        });
        if met != Ok(false) {
            cx.no_wait();
            return met.map(|_| ()).map_err(|()| dead(cx, Error::Quota));
        }
        // One that nobody has called so far is not known here.
        if let Some(known) = host.node().and_then(|n| n.link()?.peer(name)) {
            host.act(|inner, _, _| inner.peer(&known).incarnation);
        }
        cx.expect_service();
        Err(cx.park(now_ns() + SOON))
    }
    fn message(&self, peer: &Peer, bytes: Bytes) {
        let Some(host) = self.host.upgrade() else { return };
        // The connection is the segments' as well: what makes no sense is passed over.
        let Ok(m) = Message::decode(&bytes) else { return };
        host.act(|inner, now, after| inner.message(&host, now, peer, m, after));
    }
    fn connected(&self, peer: &Peer) {
        if let Some(host) = self.host.upgrade() {
            host.act(|inner, now, after| inner.connected(now, peer, after));
        }
    }
    fn disconnected(&self, name: &str) {
        let Some(host) = self.host.upgrade() else { return };
        let open = host.act(|inner, _, after| {
            inner.line_ends(name, after);
            inner.peers.get(name).is_some_and(|p| p.calls.len() > 0)
        });
        if host.node().is_some_and(|node| !node.is_member(name)) {
            // What it said before it went has come.
            host.act(|inner, _, after| inner.nobody_wants(name, after));
        }
        if open && !host.node().is_some_and(|node| node.is_member(name) && node.connect(&node.peer(name))) {
            host.act(|inner, _, after| inner.none_answers(name, "is gone", after));
        }
    }
    fn drained(&self, peer: &Peer) {
        if let Some(host) = self.host.upgrade() {
            host.act(|inner, _, after| inner.go_on(peer.name(), after));
        }
    }
    fn lost(&self, name: &str, incarnation: u64, for_certain: bool) {
        let Some(host) = self.host.upgrade() else { return };
        host.act(|inner, now, after| inner.lost(now, name, incarnation, for_certain, after));
    }
    fn deadline(&self) -> Option<Time> {
        self.host.upgrade()?.deadline()
    }
    fn tick(&self, _: Time) {
        if let Some(host) = self.host.upgrade() {
            host.give_back_left();
            host.act(|inner, now, _| inner.tables().tick(now));
        }
    }
    fn over(&self) {
        if let Some(host) = self.host.upgrade() {
            host.end();
        }
    }
}

impl Porter for Listener {
    fn staying(&self) -> Option<&'static Staying> {
        self.host.upgrade().filter(|h| !h.is_over()).map(|_| &self.made.staying)
    }
    fn hold(&self, cx: &mut Cx, stays: Vec<Value>) -> Result<Arc<dyn Luggage>, Exit> {
        let (items, host) = (items(cx, stays)?, host(cx)?);
        // As a call with it would: whoever puts it hears of it, not whoever takes it.
        if let Some(why) = Held::useless(&host, &items) {
            return Err(dead(cx, why));
        }
        Ok(Arc::new(Held::of(&host, &items)))
    }
}

impl Luggage for Held {
    fn may_go(&self, to: &str) -> bool {
        self.may_go(to)
    }
    fn pack(&self, to: &str) -> Vec<u8> {
        self.pack(to)
    }
    fn most(&self) -> usize {
        self.most()
    }
    fn values(&self, cx: &mut Cx) -> Result<Vec<Value>, Exit> {
        let class = made(cx)?.reference;
        let mut values = Vec::new();
        for what in self.each() {
            values.push(match what {
                Arrived::Home(bits) => Value::from_bits(bits),
                Arrived::Dead(why) => cx.data(class, Dead { why }),
                Arrived::Import { import, .. } => proxy(cx, self.host(), class, import),
            });
        }
        Ok(values)
    }
}
