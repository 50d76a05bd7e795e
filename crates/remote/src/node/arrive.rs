//! What is handed to this node.

use super::peer::{Arrival, Claim};
use super::{Remote, State};
use crate::Time;
use crate::message::{Op, RoundId};
use crate::name::{Error, Life, NodeId, Ref};
use crate::planted::{Bug, planted};
use crate::table::Import;

use super::Parcel;

/// What a reference is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// This node's own object, by the host's handle.
    Home(u64),
    /// An object of another node.
    Import {
        /// Which.
        import: Import,
        /// The number of the proxy from now on: of the host's one if it has one, else of a new one. The host says
        /// [`Remote::dropped`] when it is gone.
        version: u32,
    },
    /// It is of no use.
    Dead(Error),
}

impl Remote {
    /// A message with these references has come from that node. The answer has as many.
    ///
    /// # Errors
    /// The whole message is to be refused: it was given up or came before ([`Error::Revoked`]), is of another life
    /// ([`Error::OtherIncarnation`]), or brings more than the sender may hand over ([`Error::Quota`]).
    pub fn arrive(&mut self, now: Time, from: NodeId, parcel: Parcel, refs: &[Ref]) -> Result<Vec<Arrived>, Error> {
        let p = self.peers.get(&from).ok_or(Error::Unknown)?;
        if parcel.to != self.me.incarnation {
            return Err(Error::OtherIncarnation);
        }
        if parcel.incarnation != p.life.incarnation {
            if parcel.incarnation < p.life.incarnation {
                return Err(Error::OtherIncarnation);
            }
            self.up(now, Life { node: from, incarnation: parcel.incarnation })?;
        }
        let p = self.peers.get(&from).expect("seen above");
        let running = p.up && parcel.to_epoch == p.epoch && self.adopt(now, from, parcel.epoch);
        if !running && !planted(Bug::OldParcel) {
            return Err(Error::Revoked);
        }
        let p = self.peers.get_mut(&from).expect("seen above");
        p.settle(parcel.settled).into_iter().for_each(|i| self.unpin(now, i));
        let p = self.peers.get_mut(&from).expect("seen above");
        let known = parcel.number < p.settled || p.arrived.contains_key(&parcel.number);
        if known && !planted(Bug::NoFence) {
            return Err(Error::Revoked);
        }
        if parcel.number - p.settled.min(parcel.number) >= 2 * self.o.parcels as u64 {
            return Err(Error::Quota);
        }
        if self.too_many(from, refs) {
            let p = self.peers.get_mut(&from).expect("seen above");
            p.arrived.insert(parcel.number, Arrival::default());
            p.push(now, &self.o, Op::Fenced(parcel.number));
            return Err(Error::Quota);
        }
        let marked = self.round.as_ref().is_some_and(|r| r.id == parcel.round) && parcel.round != RoundId::default();
        let mut waits = 0;
        let waiting = (from, parcel.epoch, parcel.number);
        let arrived: Vec<Arrived> = refs.iter().map(|r| self.arrive_one(now, from, r, marked, waiting, &mut waits)).collect();
        let waits = if planted(Bug::SettledBeforeGranted) { 0 } else { waits };
        let mut arrival = Arrival { left: waits, ..Arrival::default() };
        if waits > 0 {
            arrival.refs = refs.len();
            for r in refs.iter().filter(|r| r.life.node == from) {
                if let Some(import) = self.imports.find(r) {
                    self.pin(import);
                    arrival.pinned.push(import);
                }
            }
        }
        let p = self.peers.get_mut(&from).expect("seen above");
        p.relate(now);
        p.waits += arrival.refs;
        p.arrived.insert(parcel.number, arrival);
        if waits == 0 {
            p.push(now, &self.o, Op::Settled(parcel.number));
        }
        Ok(arrived)
    }
    /// Would these be more imports of some node than it may have?
    fn too_many(&self, from: NodeId, refs: &[Ref]) -> bool {
        if refs.len() > self.o.refs {
            return true;
        }
        // Those of the same node are counted twice where a message repeats them: a message near the quota may be refused for that.
        let new = |r: &&Ref| self.imports.find(r).is_none() && r.life.node != self.me.node;
        let mut more: std::collections::BTreeMap<NodeId, usize> = std::collections::BTreeMap::new();
        for r in refs.iter().filter(new) {
            *more.entry(r.life.node).or_default() += 1;
        }
        let beyond = |(n, more): (&NodeId, &usize)| self.peers.get(n).is_some_and(|p| p.imports + p.claims.len() + more > self.o.imports);
        let waits = |p: &super::Peer| p.arrived.len() >= 4 * self.o.parcels || p.waits + refs.len() > self.o.imports.max(self.o.refs);
        more.iter().any(beyond) || self.peers.get(&from).is_some_and(waits)
    }
    fn arrive_one(&mut self, now: Time, from: NodeId, r: &Ref, marked: bool, waiting: (NodeId, u64, u64), waits: &mut u32) -> Arrived {
        if r.life.node == self.me.node {
            return match self.resolve(r) {
                Ok(handle) => Arrived::Home(handle),
                // It has moved: whoever is handed the old reference has the new one at once. The sender has marked the old one, which
                // this node may not have heard yet: the new one's owner is told now.
                Err(Error::Moved) => match self.moved_to(r) {
                    Some(to) => self.give(now, self.imports.follow(to), false),
                    None => Arrived::Dead(Error::Collected),
                },
                Err(e) => Arrived::Dead(e),
            };
        }
        let known = self.imports.find(r);
        let Some(p) = self.peers.get_mut(&r.life.node) else { return Arrived::Dead(Error::Unknown) };
        if p.life != r.life {
            let lost = r.life.incarnation < p.life.incarnation;
            return Arrived::Dead(if lost { Error::OtherIncarnation } else { Error::Unknown });
        }
        if !p.up {
            return Arrived::Dead(Error::NodeLost);
        }
        let state = known.and_then(|i| self.imports.get(i)).map(|e| e.state);
        let import = match (known, state) {
            (Some(i), Some(State::Live)) => i,
            // It has moved, and is about to be given back.
            (Some(i), Some(State::Moved(_))) => self.imports.follow(i),
            // Its owner hands it over itself: it knows that this node holds it. An earlier claim's answer changes nothing.
            (Some(i), Some(State::Claiming(n))) => {
                if let Some(claim) = p.claim(n) {
                    if from == r.life.node {
                        claim.import = Import::default();
                    } else {
                        claim.waiting.push(waiting);
                        *waits += 1;
                    }
                }
                if from == r.life.node {
                    self.imports.get_mut(i).expect("found above").state = State::Live;
                }
                i
            }
            _ => {
                p.relate(now);
                p.imports += 1;
                let told = if marked { self.turn } else { self.turn.wrapping_sub(1) };
                if from == r.life.node {
                    self.imports.add(*r, State::Live, told)
                } else {
                    let number = p.first_claim + p.claims.len() as u64;
                    p.push(now, &self.o, Op::Claim { slot: r.slot, generation: r.generation, seal: r.seal });
                    let import = self.imports.add(*r, State::Claiming(number), told);
                    p.claims.push_back(Claim { import, waiting: vec![waiting] });
                    *waits += 1;
                    import
                }
            }
        };
        self.give(now, import, marked)
    }
    /// The host gets an import once more. Where the sender has marked it in this round, its owner need not be told.
    pub(super) fn give(&mut self, now: Time, import: Import, marked: bool) -> Arrived {
        if !marked && !planted(Bug::SentUnmarked) {
            self.tell(now, import);
        }
        let Some(e) = self.imports.get_mut(import) else { return Arrived::Dead(Error::Collected) };
        if marked {
            e.told = self.turn;
        }
        e.given = true;
        e.version = e.version.wrapping_add(1);
        Arrived::Import { import, version: e.version }
    }
}
