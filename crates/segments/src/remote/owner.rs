//! A node: its manager, and the clients that it serves.
//!
//! **Invariant.** A call of a client's session is in one of three states: unknown, waiting or answered, or done with. It is done
//! once; a call that is done with is never done again. What an answer has taken for the client stands under a lease until the
//! client has the answer, or until it was held on purpose.
//!
//! Memory is bounded for each client by [`NodeOptions`]; what is above is refused, and nobody else is disturbed.

use super::message::{Ask, Body, Call, Done, FromClient, FromOwner, Put, Refusal, RemoteSegment, Reply, Store};
use super::spans::Spans;
use crate::manager::{Answer, Asked, Claimed, Hold, Input, KeyId, LeaseId, Manager, New, Output, RequestId, Stored, Time, Wake};
use crate::planted::{Bug, planted};
use slotmap::{Key, KeyData};
use smallvec::SmallVec;
use std::collections::HashMap;
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
    /// Calls of one client that wait or whose answers it has not confirmed.
    pub calls: usize,
    /// Keys of which there may be so many before clients are refused new ones.
    pub keys: usize,
    /// The longest name of a key, in bytes.
    pub key_bytes: usize,
    /// Inputs, leases or outputs in one call.
    pub parts: usize,
}

impl Default for NodeOptions {
    fn default() -> NodeOptions {
        const SECOND: Time = 1_000_000_000;
        NodeOptions {
            lease: 10 * SECOND,
            session: 30 * SECOND,
            longest_lease: 3600 * SECOND,
            calls: 1 << 16,
            keys: 1 << 20,
            key_bytes: 1024,
            parts: 256,
        }
    }
}

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
    manager: Manager<V, Waiter<W>>,
    incarnation: u64,
    options: NodeOptions,
    /// By the client's name. Their numbers begin with 1 and are not used again.
    sessions: HashMap<Box<[u8]>, Session<V>>,
    names: HashMap<u32, Box<[u8]>>,
    last_session: u32,
    /// Calls that were answered in the course of a change.
    answered: Vec<(u32, u64)>,
}

struct Session<V> {
    number: u32,
    incarnation: u64,
    heard: Time,
    /// It began anew, so the client's earlier calls are not known.
    calls: HashMap<u64, State<V>>,
    over: Spans,
}

enum State<V> {
    /// Does it hold what it takes under a lease of its own?
    Waiting(RequestId, bool),
    /// The answer, kept until the client has it. The leases end then.
    Answered(Result<Done<V>, Refusal>, SmallVec<[LeaseId; 1]>),
}

/// Wakes a node's own waiters, and keeps in mind the clients' calls.
pub struct Both<'a, F>(F, &'a mut Vec<(u32, u64)>);

impl<W, F: FnMut(&W)> Wake<Waiter<W>> for Both<'_, F> {
    fn wake(&mut self, waiter: &Waiter<W>) {
        if planted(Bug::LostWake) && self.1.len() % 3 == 2 {
            return;
        }
        match waiter {
            Waiter::Local(w) => (self.0)(w),
            Waiter::Remote(session, call) => self.1.push((*session, *call)),
        }
    }
}

/// Where a node's messages go: the client's name, the message.
pub type Send<'a, V> = &'a mut dyn FnMut(&[u8], FromOwner<V>);

impl<V: Clone, W> Node<V, W> {
    /// `seed`: see [`Manager::new`]. `incarnation`: greater than that of any node of this name before, and not 0.
    pub fn new(seed: u64, incarnation: u64, options: NodeOptions) -> Node<V, W> {
        let (sessions, names) = (HashMap::new(), HashMap::new());
        Node { manager: Manager::new(seed), incarnation, options, sessions, names, last_session: 0, answered: Vec::new() }
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
        while let Some((number, call)) = self.answered.pop() {
            let Some(name) = self.names.get(&number) else { continue };
            let Some(s) = self.sessions.get_mut(name) else { continue };
            let Some(State::Waiting(id, holds)) = s.calls.get(&call) else { continue };
            let holds = *holds;
            let Some(claimed) = self.manager.claim(*id) else { continue };
            let state = match claimed {
                Claimed::Answers(answers) => answer(&mut self.manager, number, answers, holds),
                Claimed::Stored(s) => State::Answered(Ok(Done::Stored(index(s.unwrap_or(Stored::Later)))), SmallVec::new()),
            };
            reply(self.incarnation, now, name, s, call, &state, send);
            s.calls.insert(call, state);
        }
    }
    /// When [`tick`](Self::tick) has something to do next.
    pub fn next_deadline(&self) -> Option<Time> {
        let sessions = self.sessions.values().map(|s| s.heard.saturating_add(self.options.session)).min();
        self.manager.next_deadline().into_iter().chain(sessions).min()
    }
    /// Does what is due.
    pub fn tick(&mut self, now: Time, wake: impl FnMut(&W), send: Send<V>) {
        self.with(wake, |m, w| m.tick(now, w));
        let long = self.options.session;
        let over: Vec<Box<[u8]>> =
            self.sessions.iter().filter(|(_, s)| s.heard.saturating_add(long) <= now).map(|(n, _)| n.clone()).collect();
        for name in over {
            self.end_session(now, &name);
        }
        self.flush(now, send);
    }
    /// The client is gone for good: what it waits for and has not received comes back at once.
    pub fn gone(&mut self, now: Time, client: &[u8], send: Send<V>) {
        self.end_session(now, client);
        self.flush(now, send);
    }
    fn end_session(&mut self, now: Time, client: &[u8]) {
        let Some(s) = self.sessions.remove(client) else { return };
        self.names.remove(&s.number);
        let wake = &mut Both(|_: &W| {}, &mut self.answered);
        for state in s.calls.into_values() {
            drop_call(&mut self.manager, now, state, wake);
        }
    }

    /// A message of the client of this name.
    pub fn receive(&mut self, now: Time, client: &[u8], m: FromClient<V>, send: Send<V>) {
        let to = |body| FromOwner { incarnation: self.incarnation, client: m.incarnation, sent: now, body };
        let (mut known, mut earlier) = (false, false);
        if let Some(s) = self.sessions.get(client) {
            if m.incarnation < s.incarnation && !planted(Bug::NoIncarnation) {
                return send(client, to(Reply::Fenced));
            }
            known = m.incarnation <= s.incarnation;
            earlier = !known;
        }
        let knows_us = m.owner == self.incarnation;
        let sync = if let Body::Sync { number, .. } = m.body { Some(number) } else { None };
        if sync.is_none() && !(known && knows_us) {
            return send(client, to(Reply::Welcome { sync, known: false }));
        }
        let welcome = to(Reply::Welcome { sync, known: known && knows_us });
        if earlier {
            self.end_session(now, client);
        }
        if !self.sessions.contains_key(client) {
            self.last_session += 1;
            let number = self.last_session;
            self.names.insert(number, client.into());
            let s = Session { number, incarnation: m.incarnation, heard: now, calls: HashMap::new(), over: Spans::default() };
            self.sessions.insert(client.into(), s);
        }
        let Some(s) = self.sessions.get_mut(client) else { return };
        s.heard = now;
        let wake = &mut Both(|_: &W| {}, &mut self.answered);
        for call in m.got {
            s.over.add(call, call.saturating_add(1));
            if let Some(state) = s.calls.remove(&call) {
                received(&mut self.manager, now, state, wake);
            }
        }
        match m.body {
            Body::Receipts => {}
            Body::Sync { upto, mut outstanding, .. } => {
                outstanding.sort_unstable();
                let mut from = 0;
                for call in outstanding.iter().copied().filter(|c| *c <= upto) {
                    s.over.add(from, call);
                    from = call.saturating_add(1);
                }
                s.over.add(from, upto.saturating_add(1));
                let done: Vec<u64> = s.calls.keys().copied().filter(|c| s.over.has(*c)).collect();
                for call in done {
                    if let Some(state) = s.calls.remove(&call) {
                        received(&mut self.manager, now, state, wake);
                    }
                }
                send(client, welcome);
            }
            Body::Call(number, call) => self.call(now, client, number, call, send),
        }
        self.flush(now, send);
    }
    fn call(&mut self, now: Time, client: &[u8], number: u64, call: Call<V>, send: Send<V>) {
        let Some(s) = self.sessions.get_mut(client) else { return };
        if s.over.has(number) && !planted(Bug::NoDeduplication) {
            return;
        }
        match s.calls.get(&number) {
            Some(State::Waiting(..)) if !planted(Bug::NoDeduplication) => return,
            Some(State::Answered(_, leases)) if !planted(Bug::NoDeduplication) => {
                if leases.iter().all(|l| self.manager.holds(*l)) {
                    if let Some(state) = s.calls.get(&number) {
                        reply(self.incarnation, now, client, s, number, state, send);
                    }
                    return;
                }
                // What it had taken came back before the client heard of it: the call is done once more.
                if let Some(state) = s.calls.remove(&number) {
                    drop_call(&mut self.manager, now, state, &mut Both(|_: &W| {}, &mut self.answered));
                }
            }
            _ => {}
        }
        let Some(s) = self.sessions.get_mut(client) else { return };
        let room = s.calls.len() < self.options.calls && s.over.len() < self.options.calls;
        let session = s.number;
        let state = match room {
            true => self.perform(now, client, session, number, call),
            false => refused(Refusal::Quota),
        };
        let Some(s) = self.sessions.get_mut(client) else { return };
        reply(self.incarnation, now, client, s, number, &state, send);
        if planted(Bug::AnswerForgotten) && matches!(state, State::Answered(..)) {
            return;
        }
        s.calls.insert(number, state);
    }
    /// The key of this name, if it may be used by a client.
    fn key(&mut self, name: &[u8]) -> Option<KeyId> {
        let known = self.manager.find_key(name);
        known.or_else(|| {
            let room = name.len() <= self.options.key_bytes && self.manager.known_keys() < self.options.keys;
            room.then(|| self.manager.key(name))
        })
    }
    fn perform(&mut self, now: Time, client: &[u8], session: u32, number: u64, call: Call<V>) -> State<V> {
        match call {
            Call::Put(p) => self.put(now, session, number, p),
            Call::Get(ask) => self.ask(now, session, number, ask),
            Call::Commit { leases, outputs } => self.commit(now, session, &leases, outputs),
            Call::GiveBack { lease, left } => {
                let (lease, mine) = self.held_by(session, lease);
                let wake = &mut Both(|_: &W| {}, &mut self.answered);
                match mine && self.manager.give_back(now, lease, left, wake).is_ok() {
                    true => State::Answered(Ok(Done::Ok), SmallVec::new()),
                    false => refused(Refusal::LeaseOver),
                }
            }
            Call::Extend { leases, long } => {
                let long = long.min(self.options.longest_lease);
                let mut all = true;
                for l in leases.into_iter().take(self.options.parts) {
                    let (lease, mine) = self.held_by(session, l);
                    all &= mine && self.manager.extend(now, lease, long).is_ok();
                }
                if all { State::Answered(Ok(Done::Ok), SmallVec::new()) } else { refused(Refusal::LeaseOver) }
            }
            Call::Leave(earlier) => self.leave(now, client, earlier),
            Call::Names { prefix, after, most } => {
                let most = (most as usize).min(10_000);
                let names = self.manager.names(&prefix, after.as_deref(), most).into_iter().map(<[u8]>::to_vec).collect();
                State::Answered(Ok(Done::Names(names)), SmallVec::new())
            }
            Call::Stats(name) => {
                let stats = self.manager.find_key(&name).map(|k| self.manager.stats(k)).unwrap_or_default();
                State::Answered(Ok(Done::Stats(stats)), SmallVec::new())
            }
            Call::Limit(name, limit) => {
                let Some(key) = self.key(&name) else { return refused(Refusal::Quota) };
                let limit = NonZeroUsize::new(usize::try_from(limit).unwrap_or(usize::MAX));
                self.manager.set_limit(now, key, limit, &mut Both(|_: &W| {}, &mut self.answered));
                State::Answered(Ok(Done::Ok), SmallVec::new())
            }
        }
    }
    fn put(&mut self, now: Time, session: u32, number: u64, p: Put<V>) -> State<V> {
        let Some(key) = self.key(&p.store.key) else { return refused(Refusal::Quota) };
        let update = p.store.update;
        let new = new(now, p.store);
        let wake = &mut Both(|_: &W| {}, &mut self.answered);
        if update {
            let stored = self.manager.update(now, key, new, wake);
            return State::Answered(Ok(Done::Stored(stored)), SmallVec::new());
        }
        match self.manager.put(now, key, new, wake) {
            Ok(s) => State::Answered(Ok(Done::Stored(index(s))), SmallVec::new()),
            Err(new) if p.wait => State::Waiting(self.manager.wait_for_room(key, Some(new), Waiter::Remote(session, number)), false),
            Err(_) => refused(Refusal::Full),
        }
    }
    fn ask(&mut self, now: Time, session: u32, number: u64, ask: Ask) -> State<V> {
        if ask.inputs.is_empty() || ask.inputs.len() > self.options.parts {
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
        let waiter = ask.wait.then_some(Waiter::Remote(session, number));
        let wake = &mut Both(|_: &W| {}, &mut self.answered);
        match self.manager.get(now, &inputs, hold, waiter, wake) {
            Ok(Asked::Here(answers)) => answer(&mut self.manager, session, answers, ask.lease.is_some()),
            Ok(Asked::Waits(id)) => State::Waiting(id, ask.lease.is_some()),
            Ok(Asked::Nothing) => State::Answered(Ok(Done::Nothing), SmallVec::new()),
            Err(stale) => refused(Refusal::Stale { last: stale.last }),
        }
    }
    fn commit(&mut self, now: Time, session: u32, leases: &[u64], outputs: Vec<Store<V>>) -> State<V> {
        if leases.len() > self.options.parts || outputs.len() > self.options.parts {
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
        let done = self.manager.commit(now, &held, puts, &mut Both(|_: &W| {}, &mut self.answered));
        match done.is_ok() && (all || !planted(Bug::OutputsAnyway)) {
            true => State::Answered(Ok(Done::Ok), SmallVec::new()),
            false => refused(Refusal::LeaseOver),
        }
    }
    fn leave(&mut self, now: Time, client: &[u8], earlier: u64) -> State<V> {
        let mut stored = None;
        if let Some(s) = self.sessions.get_mut(client) {
            s.over.add(earlier, earlier.saturating_add(1));
            match s.calls.remove(&earlier) {
                Some(State::Answered(Ok(Done::Stored(at)), _)) => stored = at,
                Some(_) if planted(Bug::LeaveIgnored) => {}
                Some(state) => {
                    stored = drop_call(&mut self.manager, now, state, &mut Both(|_: &W| {}, &mut self.answered)).and_then(index);
                }
                None => {}
            }
        }
        State::Answered(Ok(Done::Left(stored)), SmallVec::new())
    }
    fn held_by(&self, session: u32, lease: u64) -> (LeaseId, bool) {
        let lease = LeaseId::from(KeyData::from_ffi(lease));
        (lease, self.manager.holder(lease) == Some(session))
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

fn refused<V>(r: Refusal) -> State<V> {
    State::Answered(Err(r), SmallVec::new())
}
fn index(s: Stored) -> Option<u64> {
    match s {
        Stored::At(i) => Some(i),
        Stored::Later => None,
    }
}
fn new<V>(now: Time, s: Store<V>) -> New<V> {
    New { value: s.value, owned: s.owned, not_before: s.delay.map(|d| now.saturating_add(d)), ttl: s.ttl }
}
/// What was taken, for the client; does it hold it under a lease of its own?
fn answer<V: Clone, W>(m: &mut Manager<V, Waiter<W>>, session: u32, answers: crate::manager::Answers<V>, holds: bool) -> State<V> {
    let mut leases = SmallVec::new();
    let mut segments = Vec::with_capacity(answers.len());
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
            lease: lease.filter(|_| holds).map(|l| l.data().as_ffi()),
        });
    }
    State::Answered(Ok(Done::Segments(segments)), leases)
}
/// The client has the answer: what was taken for good is its own, what it holds on purpose it goes on holding.
fn received<V: Clone, W>(m: &mut Manager<V, Waiter<W>>, now: Time, state: State<V>, wake: &mut impl Wake<Waiter<W>>) {
    match state {
        State::Answered(Ok(Done::Segments(segments)), leases) => {
            if segments.iter().all(|s| s.lease.is_none()) {
                for l in leases {
                    // One that has lapsed meanwhile is gone to somebody else.
                    let _ = m.commit(now, &[l], [], wake);
                }
            }
        }
        State::Waiting(id, _) => drop(m.leave(now, id, wake)),
        State::Answered(..) => {}
    }
}
/// The client will not have the answer: what was taken for it comes back.
fn drop_call<V: Clone, W>(m: &mut Manager<V, Waiter<W>>, now: Time, state: State<V>, wake: &mut impl Wake<Waiter<W>>) -> Option<Stored> {
    match state {
        State::Waiting(id, _) => return m.leave(now, id, wake),
        State::Answered(_, leases) => {
            for l in leases {
                let _ = m.give_back(now, l, None, wake);
            }
        }
    }
    None
}
fn reply<V: Clone>(incarnation: u64, now: Time, client: &[u8], s: &Session<V>, call: u64, state: &State<V>, send: Send<V>) {
    if let State::Answered(r, _) = state {
        let body = Reply::Answer(call, r.clone());
        send(client, FromOwner { incarnation, client: s.incarnation, sent: now, body });
    }
}
