//! Objects that move from one node to another, and what is found where they were.
//!
//! **Invariant.** While an object is being moved nobody begins a call of it: calls that come wait here, and are looked at again when it has
//! moved or stayed. It has moved once the tables have it down; before, what another node has made of it is known to nobody.

use crate::host::arrivals::Arrivals;
use crate::host::{After, Doing, Host, Incoming, Inner, Peer};
use crate::talk::message::{Carried, Message};
use kumi_remote::{Arrived, Error, Import, Item, Ref, Time};
use kumi_vm::*;
use kumi_wire::Bytes;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A caller is told again where an object went after so long.
const TOLD: Time = 1_000_000_000;
/// So many are known to have been told.
const TELLS: usize = 1 << 12;

/// See the module.
#[derive(Default)]
pub struct Moves {
    /// By the bits of their cells.
    under_way: FxHashMap<u64, Moving>,
    /// Threads that move an object, or want to: each returns from its methods when it has moved, and is in the way of no other one.
    movers: Vec<(u64, Value)>,
    /// Objects whose calls are about to begin.
    beginning: Vec<u64>,
    /// Objects of this node that other nodes' references still name, because they were there once.
    home: FxHashMap<Import, u64>,
    /// What stands here for objects that went from here, by the bits of their cells: where they are.
    left: FxHashMap<u64, Import>,
    /// And by their seals.
    by_seal: FxHashMap<u64, Value>,
    told: FxHashMap<(Arc<str>, Ref), Time>,
}

// SAFETY: what stands for objects is handed out by workers only.
unsafe impl Send for Moves {}

#[derive(Default)]
struct Moving {
    calls: Vec<Incoming>,
    /// Who moves it, and waits until calls are over; who wants to move it as well.
    wakers: Vec<Waker>,
}

/// What a reference in a call names.
pub enum Callee {
    /// An object of this node, by the bits of its cell; the reference is an old one.
    Here(u64, bool),
    /// One that has moved: this import is it now.
    Away(Import),
    /// One that is being moved.
    Moving(u64),
}

/// An object whose call is about to begin: it does not move before this is gone.
pub struct Beginning<'a> {
    host: &'a Arc<Host>,
    bits: u64,
}

impl Beginning<'_> {
    pub fn of(host: &Arc<Host>, bits: u64) -> Beginning<'_> {
        Beginning { host, bits }
    }
    /// It has begun: who does it stands in the table of threads.
    pub fn has_begun(self, inner: &mut Inner) -> u64 {
        let bits = self.bits;
        inner.moves.begun(bits);
        std::mem::forget(self);
        bits
    }
}

impl Drop for Beginning<'_> {
    fn drop(&mut self) {
        let bits = self.bits;
        self.host.act(|inner, _, after| {
            inner.moves.begun(bits);
            inner.moves.call_over(after);
        });
    }
}

impl Moves {
    fn begun(&mut self, bits: u64) {
        if let Some(i) = self.beginning.iter().rposition(|b| *b == bits) {
            self.beginning.swap_remove(i);
        }
    }
    /// A call is over: who waits for that looks again.
    pub fn call_over(&mut self, after: &mut After) {
        for m in self.under_way.values_mut() {
            m.wakers.drain(..).for_each(|w| after.wake(Some(w)));
        }
    }
    /// What stands here for an object that went from here, where that is this import now.
    pub fn left(&self, tables: &kumi_remote::Remote, import: Import) -> Option<Value> {
        if self.left.is_empty() {
            return None;
        }
        let v = self.by_seal.get(&tables.target(import).ok()?.seal)?;
        let to = self.left.get(&v.bits())?;
        (tables.current(*to) == tables.current(import)).then_some(*v)
    }
    /// Objects that references of other nodes name are kept as those are.
    pub fn each_root(&self, tables: &kumi_remote::Remote, mut f: impl FnMut(u64)) {
        self.home.iter().filter(|(i, _)| is_there(tables, **i)).for_each(|(_, bits)| f(*bits));
    }
    /// Forgets what is not there any more.
    pub fn sift(&mut self, tables: &kumi_remote::Remote, alive: &dyn Fn(Value) -> bool) {
        self.home.retain(|i, _| is_there(tables, *i));
        self.left.retain(|bits, _| alive(Value::from_bits(*bits)));
        self.by_seal.retain(|_, v| alive(*v));
    }
}

fn is_there(tables: &kumi_remote::Remote, i: Import) -> bool {
    !matches!(tables.target(i), Err(Error::Collected))
}

impl Inner {
    /// The object of this node that this import is now.
    pub fn home_of(&self, i: Import) -> Option<u64> {
        if self.moves.home.is_empty() {
            return None;
        }
        let home = &self.moves.home;
        home.get(&i).or_else(|| home.get(&self.seen.current(i))).copied()
    }
    /// What a call is to meet.
    pub fn callee(&mut self, r: &Ref) -> Result<Callee, Error> {
        let (bits, old) = match self.seen.resolve(r) {
            Ok(bits) => (bits, false),
            Err(Error::Moved) => {
                let to = self.seen.moved_to(r).ok_or(Error::Collected)?;
                match self.home_of(to) {
                    Some(bits) => {
                        self.tables().called(bits);
                        (bits, true)
                    }
                    None => return Ok(Callee::Away(self.seen.current(to))),
                }
            }
            Err(e) => return Err(e),
        };
        if self.moves.under_way.contains_key(&bits) {
            return Ok(Callee::Moving(bits));
        }
        self.moves.beginning.push(bits);
        Ok(Callee::Here(bits, old))
    }
    /// A call of an object that was just being moved.
    pub fn wait_for_move(&mut self, bits: u64, call: Incoming, after: &mut After) {
        match self.moves.under_way.get_mut(&bits) {
            Some(m) => m.calls.push(call),
            None => {
                self.servers.queue.push_back(call);
                after.wake(self.servers.call_one());
            }
        }
    }

    /// This object is to move, says this thread. False: it is being moved; the waker is called when that is over.
    pub fn begin_move(&mut self, bits: u64, thread: Value, waker: Waker, after: &mut After) -> bool {
        if !self.moves.movers.contains(&(bits, thread)) {
            self.moves.movers.push((bits, thread));
            // One that waited for this thread does so no more.
            self.moves.call_over(after);
        }
        match self.moves.under_way.get_mut(&bits) {
            Some(m) => {
                m.wakers.push(waker);
                false
            }
            None => {
                self.moves.under_way.insert(bits, Moving::default());
                true
            }
        }
    }
    /// Is no call of it under way but those of this thread? Otherwise the waker is called when one is over.
    pub fn may_move(&mut self, bits: u64, thread: Value, waker: Option<Waker>) -> bool {
        let movers = &self.moves.movers;
        let in_the_way = |d: &Doing| d.object == bits && d.thread != thread && !movers.contains(&(bits, d.thread));
        let called = self.moves.beginning.contains(&bits) || self.threads.values().any(in_the_way);
        if called && let Some(m) = self.moves.under_way.get_mut(&bits) {
            m.wakers.extend(waker);
        }
        !called
    }
    /// Threads that want to move it.
    pub fn movers(&self, bits: u64) -> Vec<Value> {
        self.moves.movers.iter().filter(|m| m.0 == bits).map(|m| m.1).collect()
    }
    /// This thread does not any more.
    pub fn is_no_mover(&mut self, bits: u64, thread: Value) {
        self.moves.movers.retain(|m| *m != (bits, thread));
    }
    /// Is it being moved? Then the waker is called when that is over.
    pub fn wait_for_end(&mut self, bits: u64, waker: Waker) -> bool {
        self.moves.under_way.get_mut(&bits).map(|m| m.wakers.push(waker)).is_some()
    }
    /// It has moved to where this import names it.
    pub fn has_moved(&mut self, now: Time, bits: u64, to: Import, (left, seal): (Value, u64), after: &mut After) -> Result<(), Error> {
        let (holders, reference) = (self.seen.holders(bits), self.seen.reference_to(bits));
        self.tables().moved(now, bits, to)?;
        // References from before it came here name it where it is now.
        let before: Vec<Import> = self.moves.home.iter().filter(|(_, b)| **b == bits).map(|(i, _)| *i).collect();
        for i in before {
            self.moves.home.remove(&i);
            self.tables().redirect(now, i, to);
        }
        self.moves.left.insert(bits, to);
        self.moves.by_seal.insert(seal, left);
        for life in holders {
            if let (Some(r), Some(name)) = (reference, self.name_of(life.node).cloned()) {
                self.tell_moved(now, &name, &r, after);
            }
        }
        Ok(())
    }
    /// What is to be handed over for objects of which some may have moved since they were looked at.
    pub fn items(&self, items: &mut [Item]) {
        if self.moves.left.is_empty() {
            return;
        }
        for item in items {
            if let Item::Own(handle) | Item::Came { handle, .. } = *item
                && let Some(to) = self.moves.left.get(&handle)
            {
                *item = Item::Import(*to);
            }
        }
    }
    /// It has moved or stays: calls go on.
    pub fn end_move(&mut self, bits: u64, after: &mut After) {
        let Some(m) = self.moves.under_way.remove(&bits) else { return };
        m.wakers.into_iter().for_each(|w| after.wake(Some(w)));
        for call in m.calls {
            self.servers.queue.push_back(call);
            after.wake(self.servers.call_one());
        }
    }

    /// Whoever called this reference hears where its object is now.
    pub fn tell_moved(&mut self, now: Time, peer: &Arc<str>, r: &Ref, after: &mut After) {
        let key = (peer.clone(), *r);
        if self.moves.told.get(&key).is_some_and(|t| now < *t + TOLD) {
            return;
        }
        let Some(to) = self.seen.moved_to(r) else { return };
        let item = match self.home_of(to) {
            Some(bits) => Item::Own(bits),
            None => Item::Import(to),
        };
        let Some(node) = self.peers.get(peer).map(|p| p.node) else { return };
        // Whoever can't be told calls here again.
        let Ok((parcel, refs)) = self.tables().send(now, node, &[item]) else { return };
        if self.moves.told.len() >= TELLS {
            self.moves.told.clear();
        }
        self.moves.told.insert(key, now);
        let carried = Carried { parcel: Some((parcel, refs)), value: Bytes::new() };
        after.send(&self.peers[peer], &Message::Moved(*r, carried));
        self.tables().done(now, node, parcel);
    }
    /// The owner of a reference says where its object is now.
    pub fn is_told(&mut self, host: &Arc<Host>, now: Time, name: &str, old: &Ref, carried: &Carried, after: &mut After) {
        let Some(&Peer { node, incarnation, .. }) = self.peers.get(name) else { return };
        let Ok(arrivals) = Arrivals::of(host, self, now, node, carried) else { return };
        if old.life.node == node
            && old.life.incarnation == incarnation
            && let Some(old) = self.seen.import_of(old)
            && let Some(new) = arrivals.all().first()
        {
            self.follow(now, old, new);
        }
        after.drop(arrivals);
    }
    /// An import is this now.
    pub fn follow(&mut self, now: Time, old: Import, new: &Arrived) {
        match *new {
            Arrived::Import { import, .. } => self.tables().redirect(now, old, import),
            Arrived::Home(bits) => match self.moves.left.get(&bits).copied() {
                // It has gone again.
                Some(to) => self.tables().redirect(now, old, to),
                None => drop(self.moves.home.insert(old, bits)),
            },
            Arrived::Dead(_) => {}
        }
    }
}

impl Arrivals {
    /// An import for which a proxy is to be made, though nothing came.
    pub fn again(host: &Arc<Host>, inner: &mut Inner, now: Time, import: Import) -> Arrivals {
        let all: Vec<Arrived> = inner.tables().again(now, import).map(|version| Arrived::Import { import, version }).into_iter().collect();
        inner.arrived(&all);
        Arrivals::new(host, all)
    }
}
