//! A node: its manager, and the clients that it serves.
//!
//! **Invariant.** A call of a client's session is in one of three states: unknown, waiting or answered, or done with. It is done
//! once; a call that is done with is never done again. What an answer has taken for the client stands under a lease until the
//! client has the answer, or until it was held on purpose. A lease that is over before that ends the call with it, as refused:
//! one number never stands for two takes, of which the client might confirm the one that it has not seen.
//!
//! A session is one incarnation's, and ends when the client begins another; messages of an earlier one change nothing.
//!
//! Memory is bounded for each client by [`NodeOptions`]; what is above is refused, and nobody else is disturbed. What stands in queues is
//! bounded by their limits alone.

use super::message::{Ask, Body, Call, Done, FromClient, FromOwner, INPUTS, OUTPUTS, Put, Refusal, RemoteSegment, Reply, Store, Watch};
use super::rules::{Act, Rules};
use super::spans::Spans;
use crate::manager::{
    Answer, Answers, Asked, Back, Claimed, Event, Hold, Input, KeyId, LeaseId, Manager, New, Output, RequestId, Stored, Time, Wake, WatchId,
};
use crate::planted::{Bug, planted};
use slotmap::{Key, KeyData};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// How a node serves.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// How long a segment that was taken for a client stands under a lease until the client has it, in nanoseconds.
    pub lease: Time,
    /// So long after a client was last heard its session ends: its calls no longer wait, and what it had not received comes back.
    pub session: Time,
    /// The longest lease that a client gets.
    pub longest_lease: Time,
    /// Clients that are served at a time; more hear nothing.
    pub clients: usize,
    /// Calls of one client that wait or whose answers it has not confirmed. More are refused, and from twice as many on not heard.
    pub calls: usize,
    /// What the values of one client may weigh that wait for room ([`Node::weigh`]).
    pub bytes: usize,
    /// Keys of which there may be so many before clients are refused new ones.
    pub keys: usize,
    /// The longest name of a key, in bytes.
    pub key_bytes: usize,
    /// Inputs or leases in one call.
    pub inputs: usize,
    /// Outputs in one call.
    pub outputs: usize,
    /// Watches of one client.
    pub watches: usize,
    /// Events that are kept for one of them.
    pub events: usize,
}

impl Default for NodeOptions {
    fn default() -> NodeOptions {
        const SECOND: Time = 1_000_000_000;
        NodeOptions {
            lease: 10 * SECOND,
            session: 30 * SECOND,
            longest_lease: 3600 * SECOND,
            clients: 4096,
            calls: 1 << 16,
            bytes: 256 << 20,
            keys: 1 << 20,
            key_bytes: 1024,
            inputs: INPUTS,
            outputs: OUTPUTS,
            watches: 256,
            events: 10_000,
        }
    }
}

/// Of so many clients without a session it is known which incarnation was the last.
const FENCES: usize = 1 << 16;

/// So many events of a watch go in one answer, or what weighs so much.
const BATCH: usize = 128;
const BATCH_BYTES: usize = 64 << 10;

/// Who waits at a node's manager.
#[derive(Clone, Debug)]
pub enum Waiter<W> {
    /// Somebody of the node itself.
    Local(W),
    /// A call of a client: session, number.
    Remote(u32, u64),
}

/// A node's manager and its clients. `W`: its own waiters.
pub struct Node<V, W> {
    pub(super) manager: Manager<V, Waiter<W>>,
    pub(super) incarnation: u64,
    options: NodeOptions,
    /// What tells the numbers of this incarnation's leases from those of others.
    mask: u64,
    /// By the client's name.
    pub(super) sessions: BTreeMap<Box<[u8]>, Session<V>>,
    /// Clients by the numbers of their sessions, which begin with 1.
    names: BTreeMap<u32, Box<[u8]>>,
    last_session: u32,
    /// No session ends before.
    session_ends: Time,
    /// The last incarnations of clients that have no session.
    fences: BTreeMap<Box<[u8]>, u64>,
    /// Calls that were answered in the course of a change.
    pub(super) answered: Vec<(u32, u64)>,
    /// How often a key was refused.
    refused_keys: usize,
    /// It is about to go ([`drain`](Self::drain)).
    pub(super) draining: bool,
    rules: Rules,
    weight: fn(&V) -> usize,
}

pub(super) struct Session<V> {
    number: u32,
    incarnation: u64,
    heard: Time,
    /// The number of its last `Sync`.
    sync: u64,
    pub(super) calls: BTreeMap<u64, State<V>>,
    /// What its values that wait for room weigh.
    bytes: usize,
    /// Calls that are done with.
    over: Spans,
    /// By their clients' numbers.
    watches: BTreeMap<u64, Watched>,
}

/// A client's watch.
struct Watched {
    id: WatchId,
    /// The last call that asked for its events.
    asker: u64,
}

pub(super) enum State<V> {
    Waiting(RequestId, Terms),
    /// It waits for events of this watch.
    Watching(u64),
    /// The answer, kept until the client has it. The leases end then, unless it holds them.
    Answered(Result<Done<V>, Refusal>, SmallVec<[LeaseId; 1]>, Terms),
}

/// On which terms a client takes, or waits to put.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    /// Does it hold what it takes under a lease of its own?
    holds: bool,
    /// The leases' length.
    long: Time,
    /// What the value weighs that waits for room.
    bytes: usize,
}

const NO_TERMS: Terms = Terms { holds: false, long: 0, bytes: 0 };

impl<V> Session<V> {
    pub(super) fn set(&mut self, call: u64, state: State<V>) -> Option<State<V>> {
        if let State::Waiting(_, terms) = &state {
            self.bytes += terms.bytes;
        }
        let before = self.calls.insert(call, state);
        self.note_end(before.as_ref());
        before
    }
    pub(super) fn end(&mut self, call: &u64) -> Option<State<V>> {
        let state = self.calls.remove(call);
        self.note_end(state.as_ref());
        state
    }
    fn note_end(&mut self, state: Option<&State<V>>) {
        if let Some(State::Waiting(_, terms)) = state {
            self.bytes = self.bytes.saturating_sub(terms.bytes);
        }
    }
}

/// Hears who of a node's own waiters is answered.
pub(super) type Woken<'a, W> = &'a mut dyn FnMut(&W);

/// Wakes a node's own waiters, and keeps in mind the clients' calls.
pub struct Both<'a, F>(pub(super) F, pub(super) &'a mut Vec<(u32, u64)>);

impl<W, F: FnMut(&W)> Wake<Waiter<W>> for Both<'_, F> {
    fn wake(&mut self, waiter: &Waiter<W>) {
        match waiter {
            Waiter::Local(w) => (self.0)(w),
            Waiter::Remote(_, call) if planted(Bug::LostWake) && call % 4 == 3 => {}
            Waiter::Remote(session, call) => self.1.push((*session, *call)),
        }
    }
}

/// Where a node's messages go: the client's name, the message.
pub type Send<'a, V> = &'a mut dyn FnMut(&[u8], FromOwner<V>);

impl<V: Clone, W> Node<V, W> {
    /// `seed`: see [`Manager::new`]. `incarnation`: greater than that of any node of this name before, and not 0.
    pub fn new(seed: u64, incarnation: u64, options: NodeOptions) -> Node<V, W> {
        Node {
            manager: Manager::new(seed),
            incarnation,
            options,
            mask: if planted(Bug::LeaseNumbersAgain) { 0 } else { incarnation.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) },
            sessions: BTreeMap::new(),
            names: BTreeMap::new(),
            last_session: 0,
            session_ends: Time::MAX,
            fences: BTreeMap::new(),
            answered: Vec::new(),
            refused_keys: 0,
            draining: false,
            rules: Rules::default(),
            weight: |_| size_of::<V>(),
        }
    }
    /// Values weigh so many bytes; without it, what the type itself takes.
    pub fn weigh(&mut self, weight: fn(&V) -> usize) {
        self.weight = weight;
    }
    /// Who may do what. Calls that wait already are done.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }
    /// The node's incarnation.
    pub fn incarnation(&self) -> u64 {
        self.incarnation
    }
    /// The manager, to look at.
    pub fn manager(&self) -> &Manager<V, Waiter<W>> {
        &self.manager
    }
    /// Changes the manager; `wake` hears of the node's own waiters. Clients that were answered by it are answered by
    /// [`flush`](Self::flush), which is to follow where [`has_answers`](Self::has_answers) says so.
    #[inline]
    pub fn with<T, F: FnMut(&W)>(&mut self, wake: F, f: impl FnOnce(&mut Manager<V, Waiter<W>>, &mut Both<'_, F>) -> T) -> T {
        f(&mut self.manager, &mut Both(wake, &mut self.answered))
    }
    /// Are clients answered whose answers were not sent yet?
    #[inline]
    pub fn has_answers(&self) -> bool {
        !self.answered.is_empty()
    }
    /// Sends the answers of calls that waited.
    pub fn flush(&mut self, now: Time, send: Send<V>) {
        for (number, call) in self.answered.drain(..) {
            let Some(name) = self.names.get(&number) else { continue };
            let Some(s) = self.sessions.get_mut(name) else { continue };
            let state = match s.calls.get(&call) {
                Some(State::Waiting(id, terms)) => {
                    let terms = *terms;
                    let Some(claimed) = self.manager.claim(*id) else { continue };
                    match claimed {
                        Claimed::Answers(answers) => answer(&mut self.manager, number, answers, terms, self.mask),
                        Claimed::Stored(s) => answered(Done::Stored(index(s))),
                    }
                }
                Some(State::Watching(watch)) => match s.watches.get(watch) {
                    Some(w) => match events(&mut self.manager, w.id, Waiter::Remote(number, call), self.weight) {
                        Some(events) => answered(Done::Events(events)),
                        None => continue,
                    },
                    None => answered(Done::Events(Vec::new())),
                },
                _ => continue,
            };
            reply(self.incarnation, now, name, s, call, &state, send);
            s.set(call, state);
        }
    }
    /// When [`tick`](Self::tick) has something to do next.
    pub fn next_deadline(&self) -> Option<Time> {
        let sessions = (!self.sessions.is_empty()).then_some(self.session_ends);
        self.manager.next_deadline().into_iter().chain(sessions).min()
    }
    /// Does what is due.
    pub fn tick(&mut self, now: Time, mut wake: impl FnMut(&W), send: Send<V>) {
        self.with(&mut wake, |m, w| m.tick(now, w));
        if self.session_ends <= now {
            let long = self.options.session;
            let over: Vec<Box<[u8]>> =
                self.sessions.iter().filter(|(_, s)| s.heard.saturating_add(long) <= now).map(|(n, _)| n.clone()).collect();
            for name in over {
                self.end_session(now, &name, &mut wake);
            }
            self.session_ends = self.sessions.values().map(|s| s.heard.saturating_add(long)).min().unwrap_or(Time::MAX);
        }
        self.flush(now, send);
    }
    /// The client is gone for good: what it waits for and has not received comes back at once.
    pub fn gone(&mut self, now: Time, client: &[u8], mut wake: impl FnMut(&W), send: Send<V>) {
        self.end_session(now, client, &mut wake);
        self.flush(now, send);
    }
    fn end_session(&mut self, now: Time, client: &[u8], wake: Woken<W>) {
        let Some((name, s)) = self.sessions.remove_entry(client) else { return };
        self.names.remove(&s.number);
        if self.fences.len() < FENCES {
            self.fences.insert(name, s.incarnation);
        }
        s.watches.values().for_each(|w| self.manager.unwatch(w.id));
        let wake = &mut Both(wake, &mut self.answered);
        for state in s.calls.into_values().filter(|_| !planted(Bug::SessionNeverEnds)) {
            drop_call(&mut self.manager, now, state, wake);
        }
    }

    /// A message of the client of this name. `wake` hears of the node's own waiters.
    pub fn receive(&mut self, now: Time, client: &[u8], m: FromClient<V>, mut wake: impl FnMut(&W), send: Send<V>) {
        if self.admit(now, client, &m, &mut wake, send) {
            self.receipts(now, client, &m.got, &mut wake);
            match m.body {
                Body::Receipts => {}
                Body::Sync { number, upto, outstanding } => {
                    self.sync(now, client, upto, outstanding, &mut wake);
                    self.welcome(now, client, number, send);
                }
                Body::Call(number, call) => self.call(now, client, number, call, &mut wake, send),
            }
        }
        self.flush(now, send);
    }
    /// Is the message of the client's session? A `Sync` begins one.
    fn admit(&mut self, now: Time, client: &[u8], m: &FromClient<V>, wake: Woken<W>, send: Send<V>) -> bool {
        let to = |body| FromOwner { incarnation: self.incarnation, client: m.incarnation, sent: now, body };
        let session = self.sessions.get(client);
        let last = session.map(|s| s.incarnation).or_else(|| self.fences.get(client).copied());
        if last.is_some_and(|i| m.incarnation < i) && !planted(Bug::NoIncarnation) {
            send(client, to(Reply::Fenced));
            return false;
        }
        let session = session.filter(|s| s.incarnation == m.incarnation);
        let knows = |s: &Session<V>| m.owner == self.incarnation && m.session == u64::from(s.number);
        let here = session.is_some_and(knows) || planted(Bug::AnySession) && session.is_some() && m.owner == self.incarnation;
        match &m.body {
            Body::Sync { outstanding, .. } if outstanding.len() > self.options.calls.saturating_mul(2) => return false,
            Body::Sync { number, .. } => match session {
                // It is late, or comes again.
                Some(s) if *number < s.sync => return false,
                Some(s) if *number == s.sync => {
                    self.welcome(now, client, *number, send);
                    return false;
                }
                _ if here => {}
                _ => {
                    self.end_session(now, client, wake);
                    if !self.begin_session(client, m.incarnation) {
                        return false;
                    }
                }
            },
            _ if here => {}
            _ => {
                let session = session.map_or(0, |s| u64::from(s.number));
                send(client, to(Reply::Welcome { sync: None, session }));
                return false;
            }
        }
        if let Some(s) = self.sessions.get_mut(client) {
            s.heard = now;
            self.session_ends = self.session_ends.min(now.saturating_add(self.options.session));
            if let Body::Sync { number, .. } = m.body {
                s.sync = number;
            }
        }
        true
    }
    fn begin_session(&mut self, client: &[u8], incarnation: u64) -> bool {
        if self.sessions.len() >= self.options.clients {
            return false;
        }
        let mut number = self.last_session.wrapping_add(1);
        while number == 0 || self.names.contains_key(&number) {
            number = number.wrapping_add(1);
        }
        self.last_session = number;
        self.fences.remove(client);
        self.names.insert(number, client.into());
        let s = Session {
            number,
            incarnation,
            heard: 0,
            sync: 0,
            calls: BTreeMap::new(),
            bytes: 0,
            over: Spans::default(),
            watches: BTreeMap::new(),
        };
        self.sessions.insert(client.into(), s);
        true
    }
    fn welcome(&self, now: Time, client: &[u8], sync: u64, send: Send<V>) {
        let Some(s) = self.sessions.get(client) else { return };
        let body = Reply::Welcome { sync: Some(sync), session: u64::from(s.number) };
        send(client, FromOwner { incarnation: self.incarnation, client: s.incarnation, sent: now, body });
    }
    /// The client has these answers. Numbers of calls that are not known are made up, or were heard of before.
    fn receipts(&mut self, now: Time, client: &[u8], got: &[u64], wake: Woken<W>) {
        let Some(s) = self.sessions.get_mut(client) else { return };
        for call in got {
            if let Some(state) = s.end(call) {
                s.over.add(*call, call.saturating_add(1));
                received(&mut self.manager, now, state, &mut Both(&mut *wake, &mut self.answered));
            }
        }
    }
    /// All calls up to `upto` are done with but the outstanding ones.
    fn sync(&mut self, now: Time, client: &[u8], upto: u64, mut outstanding: Vec<u64>, wake: Woken<W>) {
        let Some(s) = self.sessions.get_mut(client) else { return };
        outstanding.sort_unstable();
        let mut from = 0;
        for call in outstanding.into_iter().filter(|c| *c <= upto) {
            s.over.add(from, call);
            from = call.saturating_add(1);
        }
        s.over.add(from, upto.saturating_add(1));
        let done: Vec<u64> = s.calls.keys().copied().filter(|c| s.over.has(*c)).collect();
        for call in done {
            if let Some(state) = s.end(&call) {
                received(&mut self.manager, now, state, &mut Both(&mut *wake, &mut self.answered));
            }
        }
    }
    fn call(&mut self, now: Time, client: &[u8], number: u64, call: Call<V>, wake: Woken<W>, send: Send<V>) {
        let Some(s) = self.sessions.get_mut(client) else { return };
        let again = planted(Bug::NoDeduplication);
        if s.over.has(number) && !again {
            return;
        }
        match s.calls.get(&number) {
            Some(State::Waiting(..) | State::Watching(_)) if !again => return,
            Some(State::Answered(_, leases, terms)) if !again => {
                // The time that the client has to receive it begins anew.
                let held = |m: &mut Manager<V, Waiter<W>>, l: &LeaseId| m.extend(now, *l, terms.long).is_ok();
                if !leases.iter().all(|l| held(&mut self.manager, l)) && planted(Bug::OneNumberTwoTakes) {
                    s.end(&number);
                    return self.call(now, client, number, call, wake, send);
                }
                if !leases.iter().all(|l| held(&mut self.manager, l)) {
                    // What it had taken came back before the client heard of it.
                    if let Some(state) = s.set(number, refused(Refusal::LeaseOver)) {
                        drop_call(&mut self.manager, now, state, &mut Both(&mut *wake, &mut self.answered));
                    }
                }
                if let Some(state) = s.calls.get(&number) {
                    reply(self.incarnation, now, client, s, number, state, send);
                }
                return;
            }
            _ => {}
        }
        let (open, most) = (s.calls.len().max(s.over.len()), self.options.calls);
        if open >= most.saturating_mul(2) {
            return;
        }
        // What makes room is always done.
        let frees = matches!(call, Call::Leave(_) | Call::GiveBack { .. } | Call::Commit { .. } | Call::Watch(Watch::End(_)));
        let session = s.number;
        let state = match open < most || frees {
            true if self.turns_down(&call) => refused(Refusal::Leaving),
            true if !self.rules.allow_call(client, &call) => refused(Refusal::NotAllowed),
            true => self.perform(now, client, session, number, call, wake),
            false => refused(Refusal::Quota),
        };
        let Some(s) = self.sessions.get_mut(client) else { return };
        reply(self.incarnation, now, client, s, number, &state, send);
        if planted(Bug::AnswerForgotten) && matches!(state, State::Answered(..)) {
            return;
        }
        s.set(number, state);
    }
    /// The key of this name, if it may be used by a client.
    fn key(&mut self, name: &[u8]) -> Option<KeyId> {
        let fits = |node: &Self| name.len() <= node.options.key_bytes && node.manager.known_keys() < node.options.keys;
        if let Some(key) = self.manager.touch(name) {
            return Some(key);
        }
        if !fits(self) {
            self.refused_keys += 1;
            if self.refused_keys % 4096 == 1 {
                self.manager.forget_idle();
            }
        }
        fits(self).then(|| self.manager.key(name))
    }
    fn perform(&mut self, now: Time, client: &[u8], session: u32, number: u64, call: Call<V>, wake: Woken<W>) -> State<V> {
        match call {
            Call::Put(p) => self.put(now, session, number, p, wake),
            Call::Get(ask) => self.ask(now, session, number, ask, wake),
            Call::Commit { leases, outputs } => self.commit(now, session, &leases, outputs, wake),
            Call::GiveBack { lease, left } => {
                let (lease, mine) = self.held_by(session, lease);
                let wake = &mut Both(wake, &mut self.answered);
                match mine && self.manager.give_back(now, lease, left, wake).is_ok() {
                    true => answered(Done::Ok),
                    false => refused(Refusal::LeaseOver),
                }
            }
            Call::Extend { leases, long } => {
                if leases.len() > self.options.inputs {
                    return refused(Refusal::Bad);
                }
                let long = long.min(self.options.longest_lease);
                let mut all = true;
                for l in leases {
                    let (lease, mine) = self.held_by(session, l);
                    all &= mine && self.manager.extend(now, lease, long).is_ok();
                }
                if all { answered(Done::Ok) } else { refused(Refusal::LeaseOver) }
            }
            Call::Leave(earlier) => self.leave(now, client, earlier, wake),
            Call::Names { prefix, after, most } => {
                let most = (most as usize).min(10_000);
                // A client that gets so many asks for more.
                let looked_at = if self.rules.is_open() { most } else { usize::MAX };
                let names = self.manager.names(&prefix, after.as_deref(), looked_at).into_iter();
                let seen = names.filter(|n| self.rules.allow(client, n, Act::Stat)).take(most);
                answered(Done::Names(seen.map(<[u8]>::to_vec).collect()))
            }
            Call::Stats(name) => {
                let stats = self.manager.find_key(&name).map(|k| self.manager.stats(k)).unwrap_or_default();
                answered(Done::Stats(stats))
            }
            Call::Limit(name, limit) => {
                let Some(key) = self.key(&name) else { return refused(Refusal::Quota) };
                let limit = NonZeroUsize::new(usize::try_from(limit).unwrap_or(usize::MAX));
                self.manager.set_limit(now, key, limit, &mut Both(wake, &mut self.answered));
                answered(Done::Ok)
            }
            Call::Watch(w) => self.watch(client, session, number, w),
        }
    }
    fn watch(&mut self, client: &[u8], session: u32, number: u64, call: Watch) -> State<V> {
        match call {
            Watch::Begin { watch, key, most } => {
                let fits = |s: &Session<V>| s.watches.len() < self.options.watches && !s.watches.contains_key(&watch);
                if !self.sessions.get(client).is_some_and(fits) {
                    return refused(Refusal::Quota);
                }
                let most = usize::try_from(most).unwrap_or(usize::MAX).min(self.options.events);
                let id = self.key(&key).and_then(|k| self.manager.watch(k, most));
                match (id, self.sessions.get_mut(client)) {
                    (Some(id), Some(s)) => {
                        s.watches.insert(watch, Watched { id, asker: 0 });
                        answered(Done::Ok)
                    }
                    _ => refused(Refusal::Quota),
                }
            }
            Watch::Next(watch) => {
                let Some(Session { watches, calls, .. }) = self.sessions.get_mut(client) else { return refused(Refusal::Bad) };
                let Some(w) = watches.get_mut(&watch) else { return answered(Done::Events(Vec::new())) };
                // What is on its way is kept until it is there: that is one answer at a time.
                if calls.contains_key(&w.asker) {
                    return refused(Refusal::Quota);
                }
                w.asker = number;
                match events(&mut self.manager, w.id, Waiter::Remote(session, number), self.weight) {
                    Some(events) => answered(Done::Events(events)),
                    None => State::Watching(watch),
                }
            }
            Watch::End(watch) => {
                if let Some(w) = self.sessions.get_mut(client).and_then(|s| s.watches.remove(&watch)) {
                    self.manager.unwatch(w.id);
                    self.answered.push((session, w.asker));
                }
                answered(Done::Ok)
            }
        }
    }
    /// Every value in an answer that a client may ask for again.
    pub fn each_answer(&self, mut f: impl FnMut(&V)) {
        for state in self.sessions.values().flat_map(|s| s.calls.values()) {
            match state {
                State::Answered(Ok(Done::Segments(segments)), ..) => segments.iter().for_each(|s| f(&s.value)),
                State::Answered(Ok(Done::Events(events)), ..) => events.iter().filter_map(|e| e.value.as_ref()).for_each(&mut f),
                _ => {}
            }
        }
    }
    fn put(&mut self, now: Time, session: u32, number: u64, p: Put<V>, wake: Woken<W>) -> State<V> {
        let Some(key) = self.key(&p.store.key) else { return refused(Refusal::Quota) };
        let update = p.store.update;
        let new = new(now, p.store);
        let wake = &mut Both(wake, &mut self.answered);
        if update {
            let stored = self.manager.update(now, key, new, wake);
            return answered(Done::Stored(stored));
        }
        match self.manager.put(now, key, new, wake) {
            Ok(s) => answered(Done::Stored(index(s))),
            Err(new) if p.wait => {
                let bytes = (self.weight)(&new.value);
                let held = self.names.get(&session).and_then(|n| self.sessions.get(n)).map_or(0, |s| s.bytes);
                if held.saturating_add(bytes) > self.options.bytes {
                    return refused(Refusal::Quota);
                }
                let id = self.manager.wait_for_room(key, Some(new), Waiter::Remote(session, number));
                State::Waiting(id, Terms { bytes, ..NO_TERMS })
            }
            Err(_) => refused(Refusal::Full),
        }
    }
    fn ask(&mut self, now: Time, session: u32, number: u64, ask: Ask, wake: Woken<W>) -> State<V> {
        if ask.inputs.is_empty() || ask.inputs.len() > self.options.inputs {
            return refused(Refusal::Bad);
        }
        let mut inputs: SmallVec<[Input; 1]> = SmallVec::new();
        for (name, kind, after) in ask.inputs {
            let Some(key) = self.key(&name) else { return refused(Refusal::Quota) };
            inputs.push(Input { key, kind, after });
        }
        let long = ask.lease.unwrap_or(self.options.lease).min(self.options.longest_lease);
        let long = if planted(Bug::LeaseTooLong) { long.saturating_mul(100) } else { long };
        // What is the client's at once is under a lease until it has it.
        let hold = if planted(Bug::NoLease) && ask.lease.is_none() { Hold::Never } else { Hold::For(long) };
        let terms = Terms { holds: ask.lease.is_some(), long, bytes: 0 };
        let waiter = ask.wait.then_some(Waiter::Remote(session, number));
        let wake = &mut Both(wake, &mut self.answered);
        match self.manager.get(now, &inputs, hold, waiter, wake) {
            Ok(Asked::Here(answers)) => answer(&mut self.manager, session, answers, terms, self.mask),
            Ok(Asked::Waits(id)) => State::Waiting(id, terms),
            Ok(Asked::Nothing) => answered(Done::Nothing),
            Err(stale) => refused(Refusal::Stale { last: stale.last }),
        }
    }
    fn commit(&mut self, now: Time, session: u32, leases: &[u64], outputs: Vec<Store<V>>, wake: Woken<W>) -> State<V> {
        if leases.len() > self.options.inputs || outputs.len() > self.options.outputs {
            return refused(Refusal::Bad);
        }
        let mut held: SmallVec<[LeaseId; 4]> = SmallVec::new();
        let mut all = true;
        for l in leases {
            let (lease, mine) = self.held_by(session, *l);
            all &= mine;
            held.push(lease);
        }
        if !all && !planted(Bug::NoFence) && !planted(Bug::OutputsAnyway) {
            return refused(Refusal::LeaseOver);
        }
        if !all {
            held.clear();
        }
        let mut puts = Vec::with_capacity(outputs.len());
        for o in outputs {
            let Some(key) = self.key(&o.key) else { return refused(Refusal::Quota) };
            puts.push(Output { key, update: o.update, new: new(now, o) });
        }
        let done = self.manager.commit(now, &held, puts, &mut Both(wake, &mut self.answered));
        match done.is_ok() && (all || !planted(Bug::OutputsAnyway)) {
            true => answered(Done::Ok),
            false => refused(Refusal::LeaseOver),
        }
    }
    fn leave(&mut self, now: Time, client: &[u8], earlier: u64, wake: Woken<W>) -> State<V> {
        let mut stored = None;
        if let Some(s) = self.sessions.get_mut(client) {
            s.over.add(earlier, earlier.saturating_add(1));
            match s.end(&earlier) {
                Some(State::Answered(Ok(Done::Stored(at)), ..)) => stored = Some(at.map_or(Stored::Later, Stored::At)),
                Some(_) if planted(Bug::LeaveIgnored) => {}
                Some(state) => {
                    stored = drop_call(&mut self.manager, now, state, &mut Both(wake, &mut self.answered));
                }
                None => {}
            }
        }
        answered(Done::Left(stored))
    }
    /// What the tables take, values apart: an estimate in bytes.
    pub fn bytes(&self) -> usize {
        let session = |s: &Session<V>| s.calls.len() * (size_of::<State<V>>() + 16) + s.over.len() * 32;
        let sessions: usize = self.sessions.iter().map(|(name, s)| name.len() * 2 + size_of::<Session<V>>() + session(s)).sum();
        let fences: usize = self.fences.keys().map(|name| name.len() + 24).sum();
        self.manager.bytes() + sessions + fences + self.answered.capacity() * 16
    }
    fn held_by(&self, session: u32, lease: u64) -> (LeaseId, bool) {
        let lease = LeaseId::from(KeyData::from_ffi(lease ^ self.mask));
        (lease, self.manager.holder(lease) == Some(session))
    }
    /// An answer cannot be sent: its value can't travel. The client is refused, and what the call took comes back.
    pub fn refuse(&mut self, now: Time, client: &[u8], call: u64, mut wake: impl FnMut(&W), send: Send<V>) {
        let Some(state) = self.sessions.get_mut(client).and_then(|s| s.calls.remove(&call)) else { return };
        drop_call(&mut self.manager, now, state, &mut Both(&mut wake, &mut self.answered));
        let state = refused(Refusal::Bad);
        if let Some(s) = self.sessions.get_mut(client) {
            reply(self.incarnation, now, client, s, call, &state, send);
            s.calls.insert(call, state);
        }
        self.flush(now, send);
    }
    /// How many clients have a session.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }
    /// How many calls of clients wait, or wait for their answer to be confirmed.
    pub fn open_calls(&self) -> usize {
        self.sessions.values().map(|s| s.calls.len()).sum()
    }
}

pub(super) fn refused<V>(r: Refusal) -> State<V> {
    State::Answered(Err(r), SmallVec::new(), NO_TERMS)
}
pub(super) fn answered<V>(done: Done<V>) -> State<V> {
    State::Answered(Ok(done), SmallVec::new(), NO_TERMS)
}
pub(super) fn index(s: Stored) -> Option<u64> {
    match s {
        Stored::At(i) => Some(i),
        Stored::Later => None,
    }
}
fn new<V>(now: Time, s: Store<V>) -> New<V> {
    New { value: s.value, owned: s.owned, not_before: s.delay.map(|d| now.saturating_add(d)), ttl: s.ttl }
}
/// What was taken, for the client.
fn answer<V: Clone, W>(m: &mut Manager<V, Waiter<W>>, session: u32, answers: Answers<V>, terms: Terms, mask: u64) -> State<V> {
    let mut leases = SmallVec::new();
    let mut segments = Vec::with_capacity(answers.len());
    if answers.iter().any(|a| a.lease.is_some_and(|l| !m.holds(l))) {
        // It was not claimed in time: what is left of it comes back with its lease.
        return refused(Refusal::LeaseOver);
    }
    for Answer { segment: s, lease, .. } in answers {
        if let Some(l) = lease {
            m.set_holder(l, session);
            leases.push(l);
        }
        segments.push(RemoteSegment {
            index: s.index,
            value: s.value,
            owned: s.owned,
            changed: s.changed,
            deliveries: s.deliveries,
            lease: lease.filter(|_| terms.holds).map(|l| l.data().as_ffi() ^ mask),
        });
    }
    State::Answered(Ok(Done::Segments(segments)), leases, terms)
}
/// Some of a watch's events; without any `asker` hears of the next.
fn events<V: Clone, W>(m: &mut Manager<V, Waiter<W>>, watch: WatchId, asker: Waiter<W>, weight: fn(&V) -> usize) -> Option<Vec<Event<V>>> {
    let first = m.next_event(watch, Some(asker))?;
    let mut bytes = first.value.as_ref().map_or(0, weight);
    let mut all = vec![first];
    while all.len() < BATCH && bytes < BATCH_BYTES {
        let Some(e) = m.next_event(watch, None) else { break };
        bytes += e.value.as_ref().map_or(0, weight);
        all.push(e);
    }
    Some(all)
}
/// The client has the answer: what was taken for good is its own, what it holds on purpose it goes on holding.
fn received<V: Clone, W>(m: &mut Manager<V, Waiter<W>>, now: Time, state: State<V>, wake: &mut impl Wake<Waiter<W>>) {
    match state {
        State::Answered(_, leases, terms) => {
            for l in leases.into_iter().filter(|_| !terms.holds) {
                // One that has lapsed meanwhile is gone to somebody else.
                let _ = m.commit(now, &[l], [], wake);
            }
        }
        State::Waiting(id, _) => drop(m.leave(now, id, wake)),
        State::Watching(_) => {}
    }
}
/// The client will not have the answer: what was taken for it comes back.
pub(super) fn drop_call<V: Clone, W>(
    m: &mut Manager<V, Waiter<W>>,
    now: Time,
    state: State<V>,
    wake: &mut impl Wake<Waiter<W>>,
) -> Option<Stored> {
    match state {
        State::Waiting(id, _) => return m.leave(now, id, wake),
        State::Watching(_) => {}
        State::Answered(_, leases, _) => {
            for l in leases {
                let _ = m.give_back(now, l, Back::Same, wake);
            }
        }
    }
    None
}
pub(super) fn reply<V: Clone>(incarnation: u64, now: Time, client: &[u8], s: &Session<V>, call: u64, state: &State<V>, send: Send<V>) {
    if let State::Answered(r, ..) = state {
        let body = Reply::Answer(call, r.clone());
        send(client, FromOwner { incarnation, client: s.incarnation, sent: now, body });
    }
}
