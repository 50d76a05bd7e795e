//! Segments that somebody took and has not committed.
//!
//! **Invariant.** A leased segment keeps its place, its index and the time of its end, and is in no queue. A commit does all of
//! its parts or, where one of its leases is over, none: what is late changes nothing.

use super::journal::Journal;
use super::queue::Entry;
use super::timers::{Due, Timer};
use super::{KeyId, LeaseId, Manager, New, RequestId, Time, Wake, What, watch};
use crate::planted::{Bug, planted};

pub(super) struct Lease<V> {
    pub key: KeyId,
    pub entry: Entry<V>,
    lapses: Option<Timer>,
    pub holder: u32,
    /// The request that it answered; nobody may have claimed it yet.
    pub asker: RequestId,
    /// The journal was told that it is gone.
    gone: bool,
}

/// A segment that a commit puts.
#[derive(Clone, Debug)]
pub struct Output<V> {
    /// Under which key.
    pub key: KeyId,
    /// Does it replace the head, as `update` does?
    pub update: bool,
    /// The segment.
    pub new: New<V>,
}

/// A lease was over when its holder came back: somebody else may have its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fenced {
    /// The first of the leases that are over.
    pub lease: LeaseId,
}

/// How a segment comes back to its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Back<V> {
    /// As it was.
    Same,
    /// With the value as its taker left it, which it may have changed.
    Changed(V),
    /// Nobody has seen it: it is as if it had not been taken.
    Unseen,
}

impl<V> Back<V> {
    /// The value, if it may have changed.
    pub fn value(&self) -> Option<&V> {
        match self {
            Back::Changed(v) => Some(v),
            _ => None,
        }
    }
    /// The same with the value made another.
    ///
    /// # Errors
    /// That of `f`.
    pub fn try_map<U, E>(self, f: impl FnOnce(V) -> Result<U, E>) -> Result<Back<U>, E> {
        Ok(match self {
            Back::Same => Back::Same,
            Back::Changed(v) => Back::Changed(f(v)?),
            Back::Unseen => Back::Unseen,
        })
    }
}

impl<V: Clone, W, J: Journal<V>> Manager<V, W, J> {
    pub(super) fn lease(&mut self, now: Time, key: KeyId, entry: Entry<V>, hold: super::Hold) -> LeaseId {
        self.journal.stands(key, entry.place, &entry.segment, entry.ends.as_ref().map(|t| t.at()));
        let id = self.leases.insert(Lease { key, entry, lapses: None, holder: 0, asker: RequestId::default(), gone: false });
        if let (super::Hold::For(long), Some(l)) = (hold, self.leases.get_mut(id)) {
            l.lapses = Some(self.timers.set(now.saturating_add(long).saturating_add(planted(Bug::LeaseByOne).into()), Due::Lapses(id)));
        }
        if let Some(k) = self.keys.get_mut(key) {
            k.leased += 1;
        }
        id
    }
    pub(super) fn end_lease(&mut self, id: LeaseId) -> Option<Lease<V>> {
        let l = self.leases.remove(id)?;
        if let Some(t) = l.lapses {
            self.timers.cancel(t);
        }
        if let Some(k) = self.keys.get_mut(l.key) {
            k.leased = k.leased.saturating_sub(1);
        }
        Some(l)
    }
    /// Ends a lease whose segment is gone for good.
    pub(super) fn bury(&mut self, id: LeaseId) -> Option<Lease<V>> {
        let l = self.end_lease(id)?;
        if !l.gone {
            self.journal.gone(l.key, l.entry.place);
        }
        Some(l)
    }
    /// The journal is told that a leased segment is gone, for its taker has it as good as for ever. The lease goes on, so that the segment
    /// can come back; [`commit`](Self::commit) then says nothing more.
    pub fn count_as_gone(&mut self, id: LeaseId) {
        if let Some(l) = self.leases.get_mut(id).filter(|l| !l.gone) {
            l.gone = true;
            self.journal.gone(l.key, l.entry.place);
        }
    }
    /// Takes the segment at this place of a key, as one that was leased before: it counts no further delivery.
    pub fn lease_again(&mut self, now: Time, key: KeyId, place: super::Place) -> Option<LeaseId> {
        let e = self.keys.get_mut(key)?.queue.remove(place.0)?;
        if let Some(t) = &e.ends {
            self.timers.cancel(**t);
        }
        Some(self.lease(now, key, e, super::Hold::Open))
    }
    /// A leased segment, and when its time is over.
    pub fn leased(&self, lease: LeaseId) -> Option<(&super::Segment<V>, Option<Time>)> {
        let e = &self.leases.get(lease)?.entry;
        Some((&e.segment, e.ends.as_ref().map(|t| t.at())))
    }
    /// Where a leased segment has its place.
    pub fn place_of(&self, lease: LeaseId) -> Option<super::Place> {
        self.leases.get(lease).map(|l| super::Place(l.entry.place))
    }
    /// Ends the leases, whose segments are gone for good, and puts the outputs, all in one step. Limits of queues do not hold
    /// them up.
    ///
    /// # Errors
    /// One of the leases is over: nothing was changed.
    pub fn commit(
        &mut self,
        now: Time,
        leases: &[LeaseId],
        outputs: impl IntoIterator<Item = Output<V>>,
        wake: &mut impl Wake<W>,
    ) -> Result<(), Fenced> {
        self.catch_up(now, wake);
        if let Some(lease) = leases.iter().find(|l| !self.leases.contains_key(**l)) {
            return Err(Fenced { lease: *lease });
        }
        for l in leases {
            self.bury(*l);
        }
        let most = if planted(Bug::OutputsLost) { 1 } else { usize::MAX };
        for o in outputs.into_iter().take(most) {
            if o.update {
                self.replace(now, o.key, o.new);
            } else {
                self.enter(now, o.key, o.new);
            }
        }
        self.settle(now, wake);
        Ok(())
    }
    /// A segment comes back to its place.
    ///
    /// # Errors
    /// The lease is over.
    pub fn give_back(&mut self, now: Time, lease: LeaseId, left: Back<V>, wake: &mut impl Wake<W>) -> Result<(), Fenced> {
        self.catch_up(now, wake);
        let Some(l) = self.leases.get_mut(lease) else { return Err(Fenced { lease }) };
        match left {
            Back::Same => {}
            Back::Unseen => l.entry.segment.unsee(),
            Back::Changed(v) => {
                l.entry.segment.value = v;
                l.entry.segment.changed = true;
            }
        }
        self.put_back(now, lease);
        self.settle(now, wake);
        Ok(())
    }
    /// A segment comes back to its place, and nobody has seen it.
    ///
    /// # Errors
    /// The lease is over.
    pub fn undo(&mut self, now: Time, lease: LeaseId, wake: &mut impl Wake<W>) -> Result<(), Fenced> {
        self.give_back(now, lease, Back::Unseen, wake)
    }
    /// Everybody is gone who waits or holds a segment: what they had comes back, an owned segment as one that may have changed.
    pub fn abandon(&mut self, now: Time, wake: &mut impl Wake<W>) {
        let requests: Vec<RequestId> = self.requests.keys().collect();
        for id in requests {
            self.leave(now, id, wake);
        }
        let leases: Vec<LeaseId> = self.leases.keys().collect();
        for id in leases {
            if let Some(l) = self.leases.get_mut(id) {
                l.entry.segment.changed |= l.entry.segment.owned;
            }
            self.put_back(now, id);
        }
        self.settle(now, wake);
    }
    /// The lease lapses so long after now, and not when it would have.
    ///
    /// # Errors
    /// It is over already.
    pub fn extend(&mut self, now: Time, lease: LeaseId, long: Time) -> Result<(), Fenced> {
        let Some(l) = self.leases.get_mut(lease) else { return Err(Fenced { lease }) };
        if l.lapses.is_some_and(|t| t.at() <= now) {
            return Err(Fenced { lease });
        }
        if let Some(t) = l.lapses.take() {
            self.timers.cancel(t);
        }
        l.lapses = Some(self.timers.set(now.saturating_add(long), Due::Lapses(lease)));
        Ok(())
    }
    /// Is the lease on? One that is due lapses at the next [`tick`](Manager::tick).
    pub fn holds(&self, lease: LeaseId) -> bool {
        self.leases.contains_key(lease)
    }
    /// Names who holds a lease, for [`holder`](Self::holder).
    pub fn set_holder(&mut self, lease: LeaseId, holder: u32) {
        if let Some(l) = self.leases.get_mut(lease) {
            l.holder = holder;
        }
    }
    /// Who holds a lease that is on; 0: it was never said.
    pub fn holder(&self, lease: LeaseId) -> Option<u32> {
        self.leases.get(lease).map(|l| l.holder)
    }
    /// How many segments are under a lease.
    pub fn leases(&self) -> usize {
        self.leases.len()
    }
    pub(super) fn lapse(&mut self, now: Time, lease: LeaseId) {
        self.note_lapse(lease);
        self.put_back(now, lease);
    }
    /// Without settling.
    pub(super) fn put_back_unseen(&mut self, now: Time, lease: LeaseId) {
        if let Some(l) = self.leases.get_mut(lease) {
            l.entry.segment.unsee();
        }
        self.put_back(now, lease);
    }
    /// Without settling.
    pub(super) fn put_back(&mut self, now: Time, lease: LeaseId) {
        let Some(Lease { key, mut entry, .. }) = self.end_lease(lease) else { return };
        let Some(k) = self.keys.get_mut(key) else { return };
        match entry.ends.as_ref().map(|t| t.at()) {
            Some(at) if at <= now => {
                self.counts.ended += 1;
                watch::tell(&mut self.watches, k, What::Ended, &entry.segment);
                self.journal.gone(key, entry.place);
                if !planted(Bug::NewsUntold) {
                    self.unsettled.push(key);
                }
                return;
            }
            Some(_) if planted(Bug::EndForgotten) => entry.ends = None,
            Some(at) => entry.ends = Some(Box::new(self.timers.set(at, Due::Ends(key, entry.place)))),
            None => {}
        }
        if planted(Bug::PlaceLost) {
            entry.place = k.place();
        }
        watch::tell(&mut self.watches, k, What::Back, &entry.segment);
        self.counts.back += 1;
        self.journal.stands(key, entry.place, &entry.segment, entry.ends.as_ref().map(|t| t.at()));
        k.queue.restore(entry);
        k.arrives();
        self.unsettled.push(key);
    }
}
