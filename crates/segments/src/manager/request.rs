//! Requests for segments, and those who wait.
//!
//! **Invariant.** A request that waits stands in one line of one key, where it lacks a segment. What it takes it takes in one
//! step, with everything else that it wants. An answer that nobody has claimed keeps what was taken under leases, so that it
//! comes back when its waiter leaves.

use super::journal::Journal;
use super::queue::Entry;
use super::{KeyId, LeaseId, Manager, New, RequestId, Segment, Stored, Time, Wake, What, watch};
use crate::planted::{Bug, planted};
use smallvec::SmallVec;

/// Read or remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The segment stays. One that is owned is answered too: it is for the caller to refuse it.
    Peek,
    /// The segment leaves its queue.
    Take,
}

/// One thing that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Under which key.
    pub key: KeyId,
    /// Peek or take.
    pub kind: Kind,
    /// The segment with the lowest index above this one, wherever it stands; `None`: the head.
    pub after: Option<u64>,
}

/// What becomes of a segment that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// It is the taker's.
    Never,
    /// It is under a lease until the taker commits or gives it back.
    Open,
    /// As `Open`, and after so many nanoseconds it comes back by itself.
    For(Time),
}

/// A segment that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<V> {
    /// The key under which it stood.
    pub key: KeyId,
    /// The segment.
    pub segment: Segment<V>,
    /// Of a segment that was taken to be held.
    pub lease: Option<LeaseId>,
}

/// One for each input, in their order.
pub type Answers<V> = SmallVec<[Answer<V>; 1]>;

/// What comes of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked<V> {
    /// Everything was there.
    Here(Answers<V>),
    /// Something is not there: the waiter hears when it is answered.
    Waits(RequestId),
    /// Something is not there, and nobody waits.
    Nothing,
}

/// What a request that waited has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed<V> {
    /// What was asked for.
    Answers(Answers<V>),
    /// A put found room.
    Stored(Stored),
}

/// An index that this manager has not given out yet: it is of an earlier incarnation, or made up. Or a key that it has forgotten
/// ([`Manager::knows`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The input's number.
    pub input: usize,
    /// The last index of its key.
    pub last: u64,
}

pub(super) struct Request<V, W> {
    pub waiter: W,
    age: u64,
    hold: Hold,
    pub want: Want<V>,
    /// Where it waits.
    pub at: KeyId,
    /// Where it stands in the list of the answered; `u32::MAX`: it waits.
    answered: u32,
}

pub(super) enum Want<V> {
    /// Segments; does it take any?
    Inputs(SmallVec<[Input; 1]>, bool),
    /// Room for a segment, or just room.
    Room(Option<New<V>>),
    /// It was answered.
    Answers(SmallVec<[Got<V>; 1]>),
    Stored(Stored),
    /// There is room, which is kept for it.
    HasRoom,
}

/// An answer that nobody has claimed.
pub(super) enum Got<V> {
    Peeked(KeyId, Segment<V>),
    Taken(LeaseId),
    /// The lease was over before anybody claimed it: whoever does is late, and is told so when it commits.
    Lapsed(KeyId, Segment<V>, LeaseId),
}

impl<V, W> Request<V, W> {
    fn only_takes(&self, key: KeyId) -> bool {
        let Want::Inputs(inputs, _) = &self.want else { return false };
        inputs.iter().all(|i| i.kind == Kind::Take || i.key != key)
    }
    pub fn each_value(&self, f: &mut impl FnMut(&V)) {
        if let Want::Answers(got) = &self.want {
            for g in got {
                if let Got::Peeked(_, s) | Got::Lapsed(_, s, _) = g {
                    f(&s.value);
                }
            }
        }
    }
}

/// Places of segments in the queues of their keys.
type Places = SmallVec<[u64; 1]>;

impl<V: Clone, W, J: Journal<V>> Manager<V, W, J> {
    /// Asks for segments, of which there must be one at least: all of them at once, or none. With a waiter the request waits for
    /// what is not there.
    ///
    /// # Errors
    /// An index to look behind that was not given out yet, or a key that is forgotten.
    #[inline]
    pub fn get(&mut self, now: Time, inputs: &[Input], hold: Hold, waiter: Option<W>, wake: &mut impl Wake<W>) -> Result<Asked<V>, Stale> {
        self.catch_up(now, wake);
        self.check(inputs)?;
        let missing = match self.choose(inputs) {
            Ok(at) => {
                let answers = self.collect(now, inputs, &at, hold);
                self.settle(now, wake);
                return Ok(Asked::Here(answers));
            }
            Err(missing) => missing,
        };
        let Some(waiter) = waiter else { return Ok(Asked::Nothing) };
        let takes = inputs.iter().any(|i| i.kind == Kind::Take);
        Ok(Asked::Waits(self.wait(waiter, hold, Want::Inputs(inputs.into(), takes), missing)))
    }
    /// A put that waits for room; `None`: it only waits for room, and puts by [`fill`](Self::fill). The key is to be known and full: who
    /// finds room at once is not to call it.
    pub fn wait_for_room(&mut self, key: KeyId, new: Option<New<V>>, waiter: W) -> RequestId {
        self.wait(waiter, Hold::Never, Want::Room(new), key)
    }
    pub(super) fn check(&self, inputs: &[Input]) -> Result<(), Stale> {
        for (input, i) in inputs.iter().enumerate() {
            let Some(k) = self.keys.get(i.key) else { return Err(Stale { input, last: 0 }) };
            if i.after.is_some_and(|after| after > k.last) {
                return Err(Stale { input, last: k.last });
            }
        }
        Ok(())
    }
    /// Where each input's segment stands, or the key of one that is not there.
    #[inline]
    pub(super) fn choose(&self, inputs: &[Input]) -> Result<Places, KeyId> {
        if let [i] = inputs {
            return self.find(i, &[]).map(|at| SmallVec::from_buf([at])).ok_or(i.key);
        }
        let mut chosen = Places::new();
        for (n, i) in inputs.iter().enumerate() {
            // Two takes under one key get two segments.
            let others = inputs[..n].iter().zip(&chosen).filter(|(o, _)| o.key == i.key && o.kind == Kind::Take && i.kind == Kind::Take);
            let but: Places = others.map(|x| *x.1).collect();
            chosen.push(self.find(i, &but).ok_or(i.key)?);
        }
        Ok(chosen)
    }
    #[inline]
    fn find(&self, i: &Input, but: &[u64]) -> Option<u64> {
        let q = &self.keys.get(i.key)?.queue;
        match i.after {
            Some(after) => q.find_after(after, but),
            None if but.is_empty() => q.head().map(|e| e.place),
            None => q.iter().map(|e| e.place).find(|at| !but.contains(at)),
        }
    }
    /// Answers an immediate request.
    #[inline]
    fn collect(&mut self, now: Time, inputs: &[Input], at: &[u64], hold: Hold) -> Answers<V> {
        if let ([Input { key, kind: Kind::Take, .. }], [at], Hold::Never) = (inputs, at, hold) {
            return self.remove(*key, *at).map(|segment| Answer { key: *key, segment, lease: None }).into_iter().collect();
        }
        let got = self.grab(now, inputs, at, hold);
        self.answers(got, hold)
    }
    /// Takes a segment away for good.
    #[inline]
    fn remove(&mut self, key: KeyId, at: u64) -> Option<Segment<V>> {
        let e = self.pull(key, at)?;
        self.journal.gone(key, at);
        Some(e.segment)
    }
    /// Takes an entry out of its queue; its time to end stands still.
    #[inline]
    fn pull(&mut self, key: KeyId, at: u64) -> Option<Entry<V>> {
        let k = self.keys.get_mut(key)?;
        let mut e = k.queue.remove(at)?;
        self.counts.taken += 1;
        if let Some(t) = &e.ends {
            self.timers.cancel(**t);
        }
        e.segment.deliveries = e.segment.deliveries.saturating_add(1);
        if k.beside.is_some() {
            self.unsettled.push(key);
            watch::tell(&mut self.watches, k, What::Taken, &e.segment);
        }
        Some(e)
    }
    pub(super) fn grab(&mut self, now: Time, inputs: &[Input], at: &[u64], hold: Hold) -> SmallVec<[Got<V>; 1]> {
        // What is only read is read before anything is taken.
        let peeked = |(i, at): (&Input, &u64)| match i.kind {
            Kind::Peek => Some(self.keys.get(i.key)?.queue.at(*at)?.segment.clone()),
            Kind::Take => None,
        };
        let peeked: SmallVec<[Option<Segment<V>>; 1]> = inputs.iter().zip(at).map(peeked).collect();
        let mut got = SmallVec::new();
        for ((i, at), peeked) in inputs.iter().zip(at).zip(peeked) {
            match peeked {
                Some(s) => got.push(Got::Peeked(i.key, s)),
                None => {
                    if let Some(e) = self.pull(i.key, *at) {
                        got.push(Got::Taken(self.lease(now, i.key, e, hold)));
                    }
                }
            }
        }
        got
    }
    fn answers(&mut self, got: SmallVec<[Got<V>; 1]>, hold: Hold) -> Answers<V> {
        let mut answers = Answers::new();
        for g in got {
            answers.extend(match g {
                Got::Peeked(key, segment) => Some(Answer { key, segment, lease: None }),
                Got::Lapsed(key, segment, lease) => Some(Answer { key, segment, lease: Some(lease) }),
                Got::Taken(lease) if hold == Hold::Never => {
                    self.bury(lease).map(|l| Answer { key: l.key, segment: l.entry.segment, lease: None })
                }
                Got::Taken(lease) => self.leases.get(lease).map(|l| {
                    let segment = l.entry.segment.clone();
                    Answer { key: l.key, segment, lease: Some(lease) }
                }),
            });
        }
        answers
    }

    pub(super) fn wait(&mut self, waiter: W, hold: Hold, want: Want<V>, at: KeyId) -> RequestId {
        self.next_age += 1;
        let age = self.next_age;
        let id = self.requests.insert(Request { waiter, age, hold, want, at, answered: u32::MAX });
        self.join(id, at);
        id
    }
    fn join(&mut self, id: RequestId, at: KeyId) {
        let (Some(r), Some(k)) = (self.requests.get_mut(id), self.keys.get_mut(at)) else { return };
        r.at = at;
        match &r.want {
            Want::Room(_) => k.beside().putters.join(r.age, id),
            Want::Inputs(_, false) => k.peekers.join(r.age, id),
            Want::Inputs(_, true) => k.takers.join(r.age, id),
            Want::Answers(_) | Want::Stored(_) | Want::HasRoom => {}
        }
    }
    /// Answers those who wait under a key, peeks first, then takes from the oldest on.
    ///
    /// Whoever waits here could not be answered with what stood here before. So one that is answered and only takes here takes one
    /// at least of the fresh segments, and without any nobody needs to be asked.
    pub(super) fn answer_waiting(&mut self, now: Time, key: KeyId, wake: &mut impl Wake<W>) {
        let mut fresh = self.keys.get_mut(key).map_or(0, |k| std::mem::take(&mut k.fresh));
        for takes in [false, true] {
            let mut at = 0;
            while let Some(k) = self.keys.get(key).filter(|_| fresh > 0) {
                let line = if takes { &k.takers } else { &k.peekers };
                let from = if planted(Bug::YoungestFirst) { line.len().wrapping_sub(1 + at) } else { at };
                let Some(id) = line.get(from) else { break };
                if k.queue.is_empty() {
                    return;
                }
                let only_takes = takes && self.requests.get(id).is_some_and(|r| r.only_takes(key));
                match self.try_answer(now, id, wake) {
                    Some(missing) if missing == key => at += 1,
                    moved => {
                        if let Some(k) = self.keys.get_mut(key) {
                            (if takes { &mut k.takers } else { &mut k.peekers }).remove(from);
                        }
                        match moved {
                            Some(missing) => self.join(id, missing),
                            None if only_takes => fresh -= 1,
                            None => {}
                        }
                    }
                }
            }
        }
    }
    /// Answers a waiting request if everything is there; else says under which key something is not.
    fn try_answer(&mut self, now: Time, id: RequestId, wake: &mut impl Wake<W>) -> Option<KeyId> {
        let r = self.requests.get(id)?;
        let Want::Inputs(inputs, _) = &r.want else { return None };
        let at = match self.choose(inputs) {
            Ok(at) => at,
            Err(missing) => return Some(missing),
        };
        let (inputs, hold) = (inputs.clone(), r.hold);
        let got = self.grab(now, &inputs, &at, hold);
        self.note_asker(id, &got, hold);
        self.answer(id, Want::Answers(got), wake);
        None
    }
    /// Leases that may lapse before their request is claimed know it.
    pub(super) fn note_asker(&mut self, id: RequestId, got: &[Got<V>], hold: Hold) {
        for g in got {
            if let (Got::Taken(l), Hold::For(_)) = (g, hold) {
                self.leases.get_mut(*l).into_iter().for_each(|l| l.asker = id);
            }
        }
    }
    /// A lease lapses: an answer that nobody has claimed keeps what it was.
    pub(super) fn note_lapse(&mut self, lease: LeaseId) {
        let Some(l) = self.leases.get(lease) else { return };
        if let Some(Request { want: Want::Answers(got), .. }) = self.requests.get_mut(l.asker) {
            let lapsed = |g: &&mut Got<V>| matches!(g, Got::Taken(x) if *x == lease);
            if let Some(g) = got.iter_mut().find(lapsed) {
                *g = Got::Lapsed(l.key, l.entry.segment.clone(), lease);
            }
        }
    }
    pub(super) fn answer(&mut self, id: RequestId, with: Want<V>, wake: &mut impl Wake<W>) {
        if let Some(r) = self.requests.get_mut(id) {
            r.want = with;
            r.answered = u32::try_from(self.answered.len()).unwrap_or(u32::MAX - 1);
            self.answered.push(id);
            wake.wake(&r.waiter);
        }
    }
    /// Has a request that only waits for room got it?
    pub fn has_room(&self, id: RequestId) -> bool {
        self.requests.get(id).is_some_and(|r| matches!(r.want, Want::HasRoom))
    }
    /// Puts into the room that a request has got, which is over then.
    ///
    /// # Errors
    /// It has none; the segment comes back. Or the key was forgotten since, which it is not before its limit is taken away.
    pub fn fill(&mut self, now: Time, id: RequestId, new: New<V>, wake: &mut impl Wake<W>) -> Result<Stored, New<V>> {
        self.catch_up(now, wake);
        if !self.has_room(id) {
            return Err(new);
        }
        let Some(key) = self.drop_request(id).map(|r| r.at).filter(|key| self.keys.contains_key(*key)) else { return Err(new) };
        let stored = self.enter(now, key, new);
        self.unsettled.push(key);
        self.settle(now, wake);
        Ok(stored)
    }
    /// What an answered request has come to. `None`: it waits still, has room only, or was claimed.
    pub fn claim(&mut self, id: RequestId) -> Option<Claimed<V>> {
        let r = self.requests.get(id)?;
        if r.answered == u32::MAX || matches!(r.want, Want::HasRoom) {
            return None;
        }
        let r = self.drop_request(id)?;
        Some(match r.want {
            Want::Answers(got) => Claimed::Answers(self.answers(got, r.hold)),
            Want::Stored(s) => Claimed::Stored(s),
            Want::Inputs(..) | Want::Room(_) | Want::HasRoom => return None,
        })
    }
    /// The waiter leaves. What was taken for it and not claimed comes back. A put that has found room meanwhile stays; the
    /// result says so.
    pub fn leave(&mut self, now: Time, id: RequestId, wake: &mut impl Wake<W>) -> Option<Stored> {
        self.catch_up(now, wake);
        let r = self.drop_request(id)?;
        let mut stored = None;
        match r.want {
            Want::Answers(got) => {
                for g in got {
                    if let Got::Taken(lease) = g {
                        self.put_back_unseen(now, lease);
                    }
                }
                self.settle(now, wake);
            }
            Want::Stored(s) => stored = Some(s),
            Want::HasRoom => {
                self.unsettled.push(r.at);
                self.settle(now, wake);
            }
            Want::Inputs(..) | Want::Room(_) => {}
        }
        stored
    }
    /// Takes a request out of the line or list in which it stands.
    fn drop_request(&mut self, id: RequestId) -> Option<Request<V, W>> {
        let r = self.requests.remove(id)?;
        if r.answered != u32::MAX {
            let at = r.answered as usize;
            if at < self.answered.len() {
                self.answered.swap_remove(at);
            }
            if let Some(moved) = self.answered.get(at).and_then(|id| self.requests.get_mut(*id)) {
                moved.answered = r.answered;
            }
            if let (Want::HasRoom, Some(k)) = (&r.want, self.keys.get_mut(r.at)) {
                k.beside().kept = false;
            }
        } else if let Some(k) = self.keys.get_mut(r.at) {
            match &r.want {
                Want::Inputs(_, true) => k.takers.leave(r.age),
                Want::Inputs(_, false) => k.peekers.leave(r.age),
                Want::Room(_) => k.beside().putters.leave(r.age),
                Want::Answers(_) | Want::Stored(_) | Want::HasRoom => {}
            }
        }
        Some(r)
    }
    /// How many requests wait or were not claimed.
    pub fn requests(&self) -> usize {
        self.requests.len()
    }
}
