//! What is handed over: parcels.
//!
//! **Invariant.** What is in a parcel is held here from before its message leaves until the receiver's word that it has it, or that
//! it will never take it. So nothing is held by nobody on its way, whoever drops it meanwhile.

use super::peer::{Pinned, Sent};
use super::{Remote, State};
use crate::Time;
use crate::message::{Op, RoundId};
use crate::name::{Error, NodeId, Ref};
use crate::planted::{Bug, planted};
use crate::table::Import;
use kumi_wire::{Decoder, Encoder, WireError};

/// An object that is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// One of this node, by the host's handle.
    Own(u64),
    /// The same where it came from another node ([`Remote::moved`] there): references to it keep the seal by which others know it.
    Came {
        /// The host's.
        handle: u64,
        /// Of the reference that it had.
        seal: u64,
    },
    /// One of another node.
    Import(Import),
}

/// References that travel in one message of the host's. The message carries it, before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parcel {
    pub(super) incarnation: u64,
    /// The receiver's.
    pub(super) to: u64,
    pub(super) epoch: u64,
    pub(super) to_epoch: u64,
    pub(super) number: u64,
    /// All below are settled.
    pub(super) settled: u64,
    /// Everything in it is marked in this round.
    pub(super) round: RoundId,
}

impl Parcel {
    /// Appends it: some 25 bytes.
    pub fn write(&self, out: &mut Encoder) {
        out.number(self.incarnation).number(self.to).number(self.epoch).number(self.to_epoch);
        out.number(self.number).number(self.number - self.settled);
        out.number(self.round.number);
        if self.round.number > 0 {
            out.fixed(self.round.leader);
        }
    }
    /// Reads what [`Parcel::write`] wrote.
    pub fn read(from: &mut Decoder) -> Result<Parcel, WireError> {
        let (incarnation, to) = (from.number()?, from.number()?);
        let (epoch, to_epoch, number) = (from.number_to(1 << 62)?, from.number()?, from.number_to(1 << 62)?);
        let settled = number - from.number_to(number)?;
        let round = match from.number()? {
            0 => RoundId::default(),
            number => RoundId { number, leader: from.fixed()? },
        };
        Ok(Parcel { incarnation, to, epoch, to_epoch, number, settled, round })
    }
}

impl Remote {
    /// References for a message to that node, before it leaves. They are held from now on until the receiver has them, whatever
    /// becomes of this node's own.
    ///
    /// # Errors
    /// [`Error::Quota`] where the node has, or has on its way, as much as it may; what makes an import useless; [`Error::Unknown`]
    /// where the node is not there, or not met yet ([`Action::Met`](super::Action::Met)). Nothing has changed then.
    pub fn send(&mut self, now: Time, to: NodeId, items: &[Item]) -> Result<(Parcel, Vec<Ref>), Error> {
        let p = self.peers.get(&to).filter(|p| p.up && p.theirs != 0).ok_or(Error::Unknown)?;
        let most = self.o.parcels as u64;
        if items.len() > self.o.refs || p.parcels.len() as u64 >= most || p.next_parcel - p.settled_parcels() >= 2 * most {
            return Err(Error::Quota);
        }
        let mut new = 0;
        for item in items {
            match item {
                Item::Own(h) | Item::Came { handle: h, .. } => {
                    new += usize::from(self.exports.slot_of(*h).is_none_or(|s| !p.holdings.contains_key(&s)))
                }
                Item::Import(i) => drop(self.target(*i)?),
            }
        }
        if new > 0 && p.holdings.len() + new > self.o.exports || p.pinned + items.len() > self.o.exports.max(self.o.refs) {
            return Err(Error::Quota);
        }
        let (mut refs, mut pinned) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        for item in items {
            match *item {
                Item::Own(handle) | Item::Came { handle, .. } => {
                    let slot = self.exports.enter(handle, self.turn)?;
                    if let Item::Came { seal, .. } = *item {
                        self.exports.bring(slot, seal);
                    }
                    let p = self.peers.get_mut(&to).expect("seen above");
                    p.relate(now);
                    let held = p.holdings.entry(slot).or_insert_with(|| {
                        self.exports.hold(slot);
                        0
                    });
                    *held += 2;
                    // Whoever runs here reaches it, so what it reaches is accounted for: it need not be traced.
                    if let Some(e) = self.exports.at(slot).filter(|_| !planted(Bug::SentUnmarked)) {
                        e.marked = self.turn;
                    }
                    refs.push(self.exports.reference(self.me, slot));
                    pinned.push(Pinned::Own(slot));
                }
                Item::Import(i) => {
                    let i = self.imports.follow(i);
                    if !planted(Bug::SentUnmarked) {
                        self.tell(now, i);
                    }
                    let e = self.imports.get_mut(i).expect("it has a target");
                    refs.push(e.r);
                    if !planted(Bug::NoPin) {
                        e.pins += 1;
                        pinned.push(Pinned::Lent(i));
                    }
                }
            }
        }
        self.stats.lent += refs.len() as u64;
        let round = self.round.as_ref().map_or(RoundId::default(), |r| r.id);
        let p = self.peers.get_mut(&to).expect("seen above");
        p.relate(now);
        let number = p.next_parcel;
        p.next_parcel += 1;
        p.pinned += pinned.len();
        p.parcels.insert(number, Sent { pinned: pinned.into(), revoked: false });
        let parcel = Parcel {
            incarnation: self.me.incarnation,
            to: p.life.incarnation,
            epoch: p.epoch,
            to_epoch: p.theirs,
            number,
            settled: p.settled_parcels(),
            round,
        };
        Ok((parcel, refs))
    }
    /// The message of this parcel was answered, or will not be: its connection broke, its call is over. If it has not arrived by the time
    /// the receiver hears of this, it is refused.
    pub fn done(&mut self, now: Time, to: NodeId, parcel: Parcel) {
        let Some(p) = self.peers.get_mut(&to).filter(|p| p.epoch == parcel.epoch) else { return };
        let Some(sent) = p.parcels.get_mut(&parcel.number) else { return };
        if !std::mem::replace(&mut sent.revoked, true) {
            p.push(now, &self.o, Op::Revoke(parcel.number));
        }
    }

    /// Is it not known yet whether the receiver has this parcel?
    pub fn is_under_way(&self, to: NodeId, parcel: &Parcel) -> bool {
        self.peers.get(&to).is_some_and(|p| p.epoch == parcel.epoch && p.parcels.contains_key(&parcel.number))
    }

    /// The receiver has what a parcel brought, or will never take it.
    pub(super) fn settled(&mut self, now: Time, from: NodeId, number: u64, held: bool) {
        let Some(p) = self.peers.get_mut(&from) else { return };
        let Some(sent) = p.parcels.remove(&number) else {
            return self.nonsense(now, from, Error::Forged);
        };
        p.pinned -= sent.pinned.len();
        for pinned in sent.pinned {
            match pinned {
                Pinned::Lent(i) => self.unpin(now, i),
                Pinned::Own(slot) => {
                    let p = self.peers.get_mut(&from).expect("it was there");
                    let Some(n) = p.holdings.get_mut(&slot) else { continue };
                    *n = n.saturating_sub(2) | u32::from(held);
                    if *n == 0 {
                        p.holdings.remove(&slot);
                        self.let_go(now, slot);
                    }
                }
            }
        }
    }
    /// Is this import of use, or about to be?
    pub(super) fn lives(state: State) -> bool {
        matches!(state, State::Live | State::Claiming(_))
    }
}
