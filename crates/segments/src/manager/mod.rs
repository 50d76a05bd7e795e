//! A node's data segment manager: a queue of segments under each key, and who waits for them (the paper's *Local DSM*, section 2.1).
//!
//! **Invariant.** A segment is in exactly one place: in its key's queue, among the key's delayed ones, under one lease, or gone. A
//! request waits at one key only, one of whose segments it lacks; it is answered, with all its inputs in one step, by whatever
//! brings the last of them. After each call nothing that waits could be answered.
//!
//! Nothing here blocks, reads a clock or knows what a value is. Time is an argument, in nanoseconds of any clock that does not
//! go back. Who is answered is told to a [`Wake`].

mod journal;
mod keys;
mod lease;
mod moving;
mod queue;
mod request;
mod standing;
mod survey;
mod timers;
mod watch;

pub use journal::{Journal, KeyCounts, Place};
pub use keys::KeyStats;
pub use lease::{Back, Fenced, Output};
pub use request::{Answer, Answers, Asked, Claimed, Hold, Input, Kind, Stale};
pub use survey::{Counts, Sum};
pub use watch::{Event, What};

use crate::planted::{Bug, planted};
use keys::{Key, Names};
use lease::Lease;
use queue::Entry;
use request::{Request, Want};
use slotmap::SlotMap;
use timers::{Due, Timers};
use watch::Watch;

/// Nanoseconds of a clock that does not go back.
pub type Time = u64;

slotmap::new_key_type! {
    /// A key that a manager knows. It is void when the manager forgets the key, which it does only where nothing stands or waits
    /// under it and too many such keys are known; [`Manager::key`] gives another then.
    pub struct KeyId;
    /// A request that waits, or was answered and not claimed yet.
    pub struct RequestId;
    /// A segment that somebody took and has neither committed nor given back.
    pub struct LeaseId;
    /// Somebody who watches a key.
    pub struct WatchId;
}

/// A value under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment<V> {
    /// Rises with each `put` and `update` under its key, never repeats.
    pub index: u64,
    /// What was put.
    pub value: V,
    /// Its taker alone may change it; nobody may peek at it.
    pub owned: bool,
    /// It came back from a run that may have changed it.
    pub changed: bool,
    /// How often it was taken.
    pub deliveries: u32,
}

impl<V> Segment<V> {
    /// It was taken, and nobody has seen it.
    fn unsee(&mut self) {
        self.deliveries = self.deliveries.saturating_sub(1);
    }
}

/// What is put.
#[derive(Clone, Debug)]
pub struct New<V> {
    /// The value itself.
    pub value: V,
    /// See [`Segment::owned`].
    pub owned: bool,
    /// It enters its queue then, and gets its index then.
    pub not_before: Option<Time>,
    /// So long after it entered it ends by itself.
    pub ttl: Option<Time>,
}

impl<V> New<V> {
    /// A shared value that stands until it is taken.
    pub fn shared(value: V) -> New<V> {
        New { value, owned: false, not_before: None, ttl: None }
    }
    /// A value for its taker alone.
    pub fn owned(value: V) -> New<V> {
        New { owned: true, ..New::shared(value) }
    }
}

/// Where a put went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// It entered, with this index.
    At(u64),
    /// It enters later.
    Later,
}

/// Hears who is answered. It is called in the midst of a change: it must not call the manager.
pub trait Wake<W> {
    /// The request of this waiter is answered ([`Manager::claim`]), or its watch has an event.
    fn wake(&mut self, waiter: &W);
}

impl<W, F: FnMut(&W)> Wake<W> for F {
    fn wake(&mut self, waiter: &W) {
        self(waiter);
    }
}

/// See the module. `V`: values, cheap to clone. `W`: what names a waiter to whoever wakes it. `J`: what is told of each change that is
/// to outlive the manager; nothing, unless it is made by [`Manager::with_journal`].
pub struct Manager<V, W, J = ()> {
    names: Names,
    keys: SlotMap<KeyId, Key<V>>,
    requests: SlotMap<RequestId, Request<V, W>>,
    leases: SlotMap<LeaseId, Lease<V>>,
    watches: SlotMap<WatchId, Watch<V, W>>,
    timers: Timers,
    /// Answered requests that were not claimed.
    answered: Vec<RequestId>,
    /// The age of the next request: the older of two takers is served first.
    next_age: u64,
    /// Keys where something came or went that may answer somebody.
    unsettled: Vec<KeyId>,
    counts: Counts,
    journal: J,
}

impl<V: Clone, W> Manager<V, W> {
    /// An empty manager. `seed`: a secret that the places of keys in tables start from, so that nobody can make them collide.
    pub fn new(seed: u64) -> Manager<V, W> {
        Manager::with_journal(seed, ())
    }
}

impl<V: Clone, W, J: Journal<V>> Manager<V, W, J> {
    /// As [`new`](Manager::new), with a journal that is told of each change.
    pub fn with_journal(seed: u64, journal: J) -> Manager<V, W, J> {
        Manager {
            names: Names::new(seed),
            keys: SlotMap::with_key(),
            requests: SlotMap::with_key(),
            leases: SlotMap::with_key(),
            watches: SlotMap::with_key(),
            timers: Timers::default(),
            answered: Vec::new(),
            next_age: 0,
            unsettled: Vec::new(),
            counts: Counts::default(),
            journal,
        }
    }

    /// Puts a segment behind the others of its key. Waiting peeks that it matches are answered first, then the oldest take.
    ///
    /// # Errors
    /// The key's queue is full ([`set_limit`](Self::set_limit)), or the key is forgotten; the segment comes back.
    #[inline]
    pub fn put(&mut self, now: Time, key: KeyId, new: New<V>, wake: &mut impl Wake<W>) -> Result<Stored, New<V>> {
        self.catch_up(now, wake);
        match self.keys.get(key) {
            Some(k) if !k.is_full() => {}
            _ => return Err(new),
        }
        let stored = self.enter(now, key, new);
        self.settle(now, wake);
        Ok(stored)
    }
    /// Puts, room or not, as outputs are put.
    pub fn put_anyway(&mut self, now: Time, key: KeyId, new: New<V>, wake: &mut impl Wake<W>) -> Stored {
        self.catch_up(now, wake);
        let stored = self.enter(now, key, new);
        self.settle(now, wake);
        stored
    }
    /// Replaces the head's value, which gets a fresh highest index; puts the segment where there is none. Leased segments are not
    /// there. Who peeked before keeps the old value. Its `not_before` is of no account; `None`: the key is forgotten.
    #[inline]
    pub fn update(&mut self, now: Time, key: KeyId, new: New<V>, wake: &mut impl Wake<W>) -> Option<u64> {
        self.catch_up(now, wake);
        let index = self.replace(now, key, new)?;
        self.settle(now, wake);
        Some(index)
    }

    /// Puts without settling, room or not.
    fn enter(&mut self, now: Time, key: KeyId, new: New<V>) -> Stored {
        let Some(k) = self.keys.get_mut(key) else { return Stored::Later };
        if let Some(at) = new.not_before.filter(|at| *at > now) {
            let place = k.place();
            let timer = self.timers.set(at, Due::Enters(key, place));
            self.journal.later(key, place, &new);
            k.beside().delayed.insert(place, (timer, new));
            return Stored::Later;
        }
        self.enter_at(now, key, new)
    }
    /// The same of one that enters, or was due to enter, at that time.
    fn enter_at(&mut self, from: Time, key: KeyId, new: New<V>) -> Stored {
        let Some(k) = self.keys.get_mut(key) else { return Stored::Later };
        self.counts.entered += 1;
        let (place, index) = (k.place(), k.index());
        let ends = new.ttl.map(|ttl| Box::new(self.timers.set(from.saturating_add(ttl), Due::Ends(key, place))));
        let segment = Segment { index, value: new.value, owned: new.owned, changed: false, deliveries: 0 };
        if k.is_watched() {
            watch::tell(&mut self.watches, k, What::Put, &segment);
        }
        self.journal.stands(key, place, &segment, ends.as_ref().map(|t| t.at()));
        k.queue.push(Entry { place, ends, segment });
        k.arrives();
        if k.is_waited_for() || k.is_watched() {
            self.unsettled.push(key);
        }
        Stored::At(index)
    }
    fn replace(&mut self, now: Time, key: KeyId, new: New<V>) -> Option<u64> {
        let k = self.keys.get_mut(key)?;
        if k.queue.is_empty() {
            return match self.enter(now, key, New { not_before: None, ..new }) {
                Stored::At(index) => Some(index),
                Stored::Later => None,
            };
        }
        self.counts.replaced += 1;
        let index = if planted(Bug::UpdateKeepsIndex) { k.queue.head()?.segment.index } else { k.index() };
        let e = k.queue.head_mut()?;
        if let Some(t) = e.ends.take() {
            self.timers.cancel(*t);
        }
        e.ends = new.ttl.map(|ttl| Box::new(self.timers.set(now.saturating_add(ttl), Due::Ends(key, e.place))));
        e.segment = Segment { index, value: new.value, owned: new.owned, changed: false, deliveries: 0 };
        self.journal.stands(key, e.place, &e.segment, e.ends.as_ref().map(|t| t.at()));
        k.arrives();
        if k.is_watched() {
            if let Some(s) = k.queue.head().map(|e| e.segment.clone()) {
                watch::tell(&mut self.watches, k, What::Update, &s);
            }
        }
        if k.is_waited_for() || k.is_watched() {
            self.unsettled.push(key);
        }
        Some(index)
    }

    /// When [`tick`](Self::tick) has something to do next.
    #[inline]
    pub fn next_deadline(&self) -> Option<Time> {
        self.timers.next()
    }
    /// Does what is due: leases lapse, delayed segments enter, segments end. Every other call that takes the time and a
    /// [`Wake`] does so too.
    pub fn tick(&mut self, now: Time, wake: &mut impl Wake<W>) {
        self.catch_up(now, wake);
    }
    #[inline]
    fn catch_up(&mut self, now: Time, wake: &mut impl Wake<W>) {
        if self.timers.next().is_some_and(|at| at <= now) {
            self.do_due(now, wake);
        }
    }
    #[cold]
    fn do_due(&mut self, now: Time, wake: &mut impl Wake<W>) {
        while let Some(due) = self.timers.pop(now) {
            match due {
                Due::Lapses(lease) => self.lapse(now, lease),
                Due::Enters(key, place) => {
                    let new = self.keys.get_mut(key).and_then(|k| k.beside.as_mut()?.delayed.remove(&place));
                    if let Some((_, new)) = new {
                        self.journal.gone(key, place);
                        let due = new.not_before.map_or(now, |at| at.min(now));
                        self.enter_at(due, key, new);
                    }
                }
                Due::Ends(key, place) => {
                    let Some(k) = self.keys.get_mut(key) else { continue };
                    if let Some(e) = k.queue.remove(place) {
                        self.counts.ended += 1;
                        self.journal.gone(key, place);
                        watch::tell(&mut self.watches, k, What::Ended, &e.segment);
                        self.unsettled.push(key);
                    }
                }
            }
            self.settle(now, wake);
        }
    }

    /// Answers whoever can be answered, and lets in who waits for room.
    #[inline]
    fn settle(&mut self, now: Time, wake: &mut impl Wake<W>) {
        while let Some(key) = self.unsettled.pop() {
            self.settle_key(now, key, wake);
        }
    }
    #[inline(never)]
    fn settle_key(&mut self, now: Time, key: KeyId, wake: &mut impl Wake<W>) {
        self.answer_waiting(now, key, wake);
        while let Some(id) = self.keys.get_mut(key).and_then(Key::next_with_room) {
            let Some(r) = self.requests.get_mut(id) else { continue };
            let Want::Room(new) = &mut r.want else { continue };
            let has = match new.take() {
                Some(new) => Want::Stored(self.enter(now, key, new)),
                None => {
                    if let Some(k) = self.keys.get_mut(key) {
                        k.beside().kept = true;
                    }
                    Want::HasRoom
                }
            };
            self.answer(id, has, wake);
            self.answer_waiting(now, key, wake);
        }
        self.wake_watchers(key, wake);
    }

    /// Every value under a key but leased ones: those in its queue, delayed ones, those that wait for room, those that its
    /// watchers have not read.
    pub fn each_value_under(&self, key: KeyId, mut f: impl FnMut(&V)) {
        let Some(k) = self.keys.get(key) else { return };
        k.queue.iter().for_each(|e| f(&e.segment.value));
        let Some(b) = &k.beside else { return };
        b.delayed.values().for_each(|(_, n)| f(&n.value));
        for id in b.putters.iter() {
            if let Some(Request { want: Want::Room(Some(n)), .. }) = self.requests.get(id) {
                f(&n.value);
            }
        }
        for w in b.watches.iter().filter_map(|w| self.watches.get(*w)) {
            w.each_value(&mut f);
        }
    }
    /// Every value that stands under any key.
    pub fn each_standing_value(&self, mut f: impl FnMut(&V)) {
        self.keys.keys().for_each(|key| self.each_value_under(key, &mut f));
    }
    /// Every value that stands under no key: leased ones, and answers that were not claimed.
    pub fn each_loose_value(&self, mut f: impl FnMut(&V)) {
        self.leases.values().for_each(|l| f(&l.entry.segment.value));
        for id in &self.answered {
            if let Some(r) = self.requests.get(*id) {
                r.each_value(&mut f);
            }
        }
    }
}
