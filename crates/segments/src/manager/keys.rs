//! Keys: their names, their counters, what stands under them, and which are forgotten.
//!
//! **Invariant.** A key's counters never go back. A key is forgotten only when nothing stands, waits or watches there, and its
//! counters are kept in the floor from which new keys count; so an index never comes twice under one name.

use super::journal::{Journal, KeyCounts};
use super::queue::Queue;
use super::timers::Timer;
use super::{KeyId, Manager, New, RequestId, Wake, WatchId};
use crate::planted::{Bug, planted};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// So many keys without anything under them are kept before the manager looks which it can forget.
const IDLE_KEYS: usize = 1 << 16;

/// The last keys that were asked for by name are not forgotten, so many of them: who asks for several has them all.
const LATEST: u64 = 1 << 12;

pub(super) struct Key<V> {
    pub name: Arc<[u8]>,
    pub queue: Queue<V>,
    /// The last index given out.
    pub last: u64,
    next_place: u64,
    /// Requests that wait here and take nothing anywhere.
    pub peekers: Line,
    /// Requests that wait here and take something somewhere.
    pub takers: Line,
    /// How many segments are under a lease.
    pub leased: usize,
    pub beside: Option<Box<Beside<V>>>,
    /// How many segments have arrived for those who wait here, that they were not tried with. Nobody else could be answered.
    pub fresh: u32,
    /// When it was last asked for by its name.
    asked_for: u64,
}

/// Requests that wait, the oldest first.
#[derive(Default)]
pub(super) struct Line(VecDeque<(u64, RequestId)>);

impl Line {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
    pub fn get(&self, at: usize) -> Option<RequestId> {
        self.0.get(at).map(|x| x.1)
    }
    pub fn iter(&self) -> impl Iterator<Item = RequestId> {
        self.0.iter().map(|x| x.1)
    }
    pub fn pop(&mut self) -> Option<RequestId> {
        self.0.pop_front().map(|x| x.1)
    }
    pub fn join(&mut self, age: u64, id: RequestId) {
        match self.0.back() {
            Some((last, _)) if *last > age => {
                let at = self.0.partition_point(|x| x.0 < age);
                self.0.insert(at, (age, id));
            }
            _ => self.0.push_back((age, id)),
        }
    }
    pub fn remove(&mut self, at: usize) {
        self.0.remove(at);
    }
    pub fn leave(&mut self, age: u64) {
        if let Ok(at) = self.0.binary_search_by_key(&age, |x| x.0) {
            self.0.remove(at);
            if self.0.is_empty() {
                self.0.shrink_to(4);
            }
        }
    }
}

/// What few keys have.
pub(super) struct Beside<V> {
    /// By the place they will have.
    pub delayed: BTreeMap<u64, (Timer, New<V>)>,
    /// Most segments that a `put` may bring it to.
    pub limit: Option<NonZeroUsize>,
    /// Who waits for room.
    pub putters: Line,
    /// One has room and has not put yet. It is the next to put, so nobody else does.
    pub kept: bool,
    pub watches: Vec<WatchId>,
}

/// How a key stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyStats {
    /// Segments in the queue.
    pub segments: usize,
    /// Segments that enter later.
    pub delayed: usize,
    /// Segments under a lease.
    pub leased: usize,
    /// Requests that wait here for a segment. One that waits for several keys counts at one of them.
    pub waiting: usize,
    /// Puts that wait for room.
    pub waiting_puts: usize,
    /// The last index given out; 0: none yet.
    pub last_index: u64,
    /// The limit of its queue.
    pub limit: Option<NonZeroUsize>,
}

impl<V> Key<V> {
    fn new(name: Arc<[u8]>, floor: u64) -> Key<V> {
        Key {
            name,
            queue: Queue::default(),
            last: floor,
            next_place: 0,
            peekers: Line::default(),
            takers: Line::default(),
            leased: 0,
            beside: None,
            fresh: 0,
            asked_for: 0,
        }
    }
    pub fn beside(&mut self) -> &mut Beside<V> {
        let none = || Beside { delayed: BTreeMap::new(), limit: None, putters: Line::default(), kept: false, watches: Vec::new() };
        self.beside.get_or_insert_with(|| Box::new(none()))
    }
    pub fn last_place(&self) -> u64 {
        self.next_place
    }
    pub fn restore(&mut self, counts: &KeyCounts) {
        self.last = counts.last_index;
        self.next_place = counts.last_place;
        if counts.limit.is_some() {
            self.beside().limit = counts.limit;
        }
    }
    pub fn place(&mut self) -> u64 {
        self.next_place += 1;
        self.next_place
    }
    pub fn index(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
    /// A segment stands here that did not before.
    #[inline]
    pub fn arrives(&mut self) {
        if self.is_waited_for() {
            self.fresh = self.fresh.saturating_add(1);
        }
    }
    #[inline]
    pub fn is_full(&self) -> bool {
        self.beside.as_ref().is_some_and(|b| b.is_full(self.queue.len()))
    }
    /// May who puts have to wait?
    pub fn has_limit(&self) -> bool {
        self.beside.as_ref().is_some_and(|b| b.limit.is_some() || b.kept || !b.putters.is_empty())
    }
    #[inline]
    pub fn is_waited_for(&self) -> bool {
        !self.peekers.is_empty() || !self.takers.is_empty()
    }
    #[inline]
    pub fn is_watched(&self) -> bool {
        self.beside.as_ref().is_some_and(|b| !b.watches.is_empty())
    }
    /// The oldest that waits for room, if there is room.
    pub fn next_with_room(&mut self) -> Option<RequestId> {
        let b = self.beside.as_mut()?;
        if b.is_full(self.queue.len()) || planted(Bug::RoomUnnoticed) { None } else { b.putters.pop() }
    }
    pub fn stats(&self) -> KeyStats {
        let beside = self.beside.as_deref();
        KeyStats {
            segments: self.queue.len(),
            delayed: beside.map_or(0, |b| b.delayed.len()),
            leased: self.leased,
            waiting: self.peekers.len() + self.takers.len(),
            waiting_puts: beside.map_or(0, |b| b.putters.len()),
            last_index: self.last,
            limit: beside.and_then(|b| b.limit),
        }
    }
    pub fn is_idle(&self) -> bool {
        let none = |b: &Beside<V>| b.delayed.is_empty() && b.limit.is_none() && b.putters.is_empty() && !b.kept && b.watches.is_empty();
        self.queue.is_empty() && !self.is_waited_for() && self.leased == 0 && self.beside.as_deref().is_none_or(none)
    }
}

impl<V> Beside<V> {
    fn is_full(&self, standing: usize) -> bool {
        let more = usize::from(planted(Bug::LimitByOne));
        self.kept || self.limit.is_some_and(|n| standing + self.delayed.len() >= n.get() + more)
    }
}

/// Keys by their names.
pub(super) struct Names {
    map: HashMap<Arc<[u8]>, KeyId, foldhash::quality::SeedableRandomState>,
    /// Indexes of new keys begin above.
    floor: u64,
    look_at: usize,
    /// Counts how often a key was asked for.
    asked: u64,
}

impl Names {
    pub fn raise_floor(&mut self, floor: u64) {
        self.floor = self.floor.max(floor);
    }
    pub fn new(seed: u64) -> Names {
        let state = foldhash::quality::SeedableRandomState::with_seed(seed, foldhash::SharedSeed::global_fixed());
        Names { map: HashMap::with_hasher(state), floor: 0, look_at: IDLE_KEYS, asked: 0 }
    }
}

impl<V: Clone, W, J: Journal<V>> Manager<V, W, J> {
    /// The key of this name, made when it is not known.
    #[inline]
    pub fn key(&mut self, name: &[u8]) -> KeyId {
        match self.touch(name) {
            Some(k) => k,
            None => self.new_key(name),
        }
    }
    /// As [`find_key`](Self::find_key); the key is not forgotten soon.
    #[inline]
    pub(crate) fn touch(&mut self, name: &[u8]) -> Option<KeyId> {
        let id = *self.names.map.get(name)?;
        self.names.asked += 1;
        if let Some(k) = self.keys.get_mut(id) {
            k.asked_for = self.names.asked;
        }
        Some(id)
    }
    /// The key of this name, if anything was ever done with it that is not forgotten.
    pub fn find_key(&self, name: &[u8]) -> Option<KeyId> {
        self.names.map.get(name).copied()
    }
    #[cold]
    fn new_key(&mut self, name: &[u8]) -> KeyId {
        if self.keys.len() >= self.names.look_at {
            self.forget_idle();
        }
        self.names.asked += 1;
        let name: Arc<[u8]> = name.into();
        let id = self.keys.insert(Key { asked_for: self.names.asked, ..Key::new(name.clone(), self.names.floor) });
        self.names.map.insert(name, id);
        id
    }
    /// Forgets keys that are idle, but for the latest.
    pub fn forget_idle(&mut self) {
        let since = self.names.asked.saturating_sub(LATEST);
        let (names, floor) = (&mut self.names.map, &mut self.names.floor);
        let journal = &mut self.journal;
        self.keys.retain(|id, k| {
            let idle = k.is_idle() && k.asked_for <= since;
            if idle {
                names.remove(&k.name);
                *floor = (*floor).max(k.last);
                journal.forgotten(id, *floor);
            }
            !idle
        });
        self.names.look_at = IDLE_KEYS.max(self.keys.len() * 2);
    }
    /// Is the key still known?
    #[inline]
    pub fn knows(&self, key: KeyId) -> bool {
        self.keys.contains_key(key)
    }
    /// Its name; nothing when it is forgotten.
    pub fn name(&self, key: KeyId) -> Option<&Arc<[u8]>> {
        self.keys.get(key).map(|k| &k.name)
    }
    /// How many keys are known, those without anything under them too.
    pub fn known_keys(&self) -> usize {
        self.keys.len()
    }
    /// The names that begin with `prefix` and have segments, in order: at most `most` of them above `after`.
    pub fn names(&self, prefix: &[u8], after: Option<&[u8]>, most: usize) -> Vec<&[u8]> {
        let there = |k: &Key<V>| !k.queue.is_empty() && k.name.starts_with(prefix) && after.is_none_or(|a| &*k.name > a);
        let mut all: Vec<&[u8]> = self.keys.values().filter(|k| there(k)).map(|k| &*k.name).collect();
        if all.len() > most {
            all.select_nth_unstable(most);
            all.truncate(most);
        }
        all.sort_unstable();
        all
    }
    /// How the key stands.
    pub fn stats(&self, key: KeyId) -> KeyStats {
        self.keys.get(key).map_or_else(KeyStats::default, Key::stats)
    }
    /// May who puts under the key have to wait?
    pub fn has_limit(&self, key: KeyId) -> bool {
        self.keys.get(key).is_some_and(Key::has_limit)
    }
    /// How many segments stand in the key's queue.
    #[inline]
    pub fn len(&self, key: KeyId) -> usize {
        self.keys.get(key).map_or(0, |k| k.queue.len())
    }
    /// The most segments to which a `put` may bring the queue, delayed ones among them; `None`: any number. More may stand
    /// there already, and outputs of a commit go in all the same.
    pub fn set_limit(&mut self, now: super::Time, key: KeyId, limit: Option<NonZeroUsize>, wake: &mut impl Wake<W>) {
        self.catch_up(now, wake);
        if let Some(k) = self.keys.get_mut(key) {
            if limit.is_some() || k.beside.is_some() {
                k.beside().limit = limit;
                self.journal.limited(key);
            }
            self.unsettled.push(key);
            self.settle(now, wake);
        }
    }
    /// What the tables take, values apart: an estimate in bytes.
    pub fn bytes(&self) -> usize {
        let queues: usize = self.keys.values().map(|k| k.name.len() * 2 + k.queue.bytes()).sum();
        let keys = self.keys.capacity() * (size_of::<Key<V>>() + 8) + self.names.map.capacity() * 32;
        queues
            + keys
            + self.requests.capacity() * (size_of::<super::Request<V, W>>() + 8)
            + self.leases.capacity() * size_of::<super::Lease<V>>()
    }
}
