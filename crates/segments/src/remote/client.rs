//! The proxy of another node's manager.
//!
//! **Invariant.** Every call ends once, with the owner's answer or a [`Failure`]. Until then it is repeated: at once on a new
//! connection, and now and then where [`ClientOptions::repeat`] says that messages get lost within one. A call that failed as
//! `Unknown` may have been done; one that was refused was not.
//!
//! A client reaches its owner by messages that it hands to an [`Outbox`]. It renews the leases that it was given at a third of
//! their length until they are ended.

use super::message::{Ask, Body, Call, Done, FromClient, FromOwner, Put, Refusal, Reply};
use crate::manager::Time;
use crate::planted::{Bug, planted};
use std::collections::{BTreeMap, HashMap};

/// What a client hands out: a message for its owner; the end of a call.
pub trait Outbox<V, T> {
    /// To be sent to the owner.
    fn send(&mut self, m: FromClient<V>);
    /// The call with this token has ended.
    fn ended(&mut self, token: T, result: Result<Done<V>, Failure>);
}

/// Why a call has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The owner refused it: nothing was changed.
    Refused(Refusal),
    /// Its time was over. Nothing was changed.
    TimedOut,
    /// Its owner was lost, or its time was over while it was on its way: it may have been done or not.
    Unknown,
    /// The owner serves a later incarnation of this node, and this one no more.
    Fenced,
}

/// How a client behaves.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Calls without an answer are repeated after so long, in nanoseconds. `None`: only on a new connection, where messages do not
    /// get lost within one.
    pub repeat: Option<Time>,
    /// Received answers are confirmed after so long at the latest, where no other message does it.
    pub confirm: Time,
    /// The owner's lease on what is on its way, see [`NodeOptions::lease`](super::NodeOptions::lease): an answer that was longer on
    /// its way than half of it is not used, but asked for again.
    pub lease: Time,
    /// The owner hears of the client so often at least.
    pub hello: Time,
    /// So long after its time was over a call that may have been done is given up.
    pub grace: Time,
}

impl Default for ClientOptions {
    fn default() -> ClientOptions {
        const MS: Time = 1_000_000;
        ClientOptions { repeat: None, confirm: 20 * MS, lease: 10_000 * MS, hello: 5_000 * MS, grace: 1_000 * MS }
    }
}

struct Pending<V, T> {
    call: Call<V>,
    /// `None`: nobody waits for it any more.
    token: Option<T>,
    deadline: Option<Time>,
    /// It was handed out in the running session.
    sent: Option<Time>,
    /// The call by which it is being left.
    left: Option<u64>,
}

struct Held {
    long: Time,
    renew: Time,
    ends: Time,
}

/// See the module. `T`: what names a call to whoever made it.
pub struct Client<V, T> {
    incarnation: u64,
    options: ClientOptions,
    /// The owner's incarnation; 0: unknown.
    owner: u64,
    connected: bool,
    /// The owner has welcomed this connection.
    welcomed: bool,
    fenced: bool,
    /// The number of the last `Sync`.
    syncs: u64,
    next: u64,
    calls: BTreeMap<u64, Pending<V, T>>,
    got: Vec<u64>,
    confirm_at: Option<Time>,
    hello_at: Time,
    repeat_at: Option<Time>,
    leases: HashMap<u64, Held>,
    /// The least of (time of arrival - owner's clock) seen: offset of the clocks and the shortest way.
    offset: Option<i128>,
}

impl<V: Clone, T> Client<V, T> {
    /// `incarnation`: of the node that this client is of.
    pub fn new(incarnation: u64, options: ClientOptions) -> Client<V, T> {
        Client {
            incarnation,
            options,
            owner: 0,
            connected: false,
            welcomed: false,
            fenced: false,
            syncs: 0,
            next: 1,
            calls: BTreeMap::new(),
            got: Vec::new(),
            confirm_at: None,
            hello_at: 0,
            repeat_at: None,
            leases: HashMap::new(),
            offset: None,
        }
    }
    /// A connection is there.
    pub fn connected(&mut self, now: Time, out: &mut impl Outbox<V, T>) {
        self.connected = true;
        self.welcomed = false;
        self.sync(now, out);
    }
    /// The connection is gone. Calls wait for another until their time is over.
    pub fn disconnected(&mut self) {
        self.connected = false;
        self.welcomed = false;
    }
    /// The owner is gone for good: every call ends.
    pub fn gone(&mut self, out: &mut impl Outbox<V, T>) {
        self.disconnected();
        for (_, p) in std::mem::take(&mut self.calls) {
            if let Some(t) = p.token {
                out.ended(t, Err(Failure::Unknown));
            }
        }
        self.leases.clear();
        self.got.clear();
    }
    /// The owner's incarnation as far as it is known; 0: not yet.
    pub fn owner(&self) -> u64 {
        self.owner
    }
    /// How many calls have no answer yet.
    pub fn open_calls(&self) -> usize {
        self.calls.len()
    }

    /// Makes a call. `deadline`: when it ends without an answer.
    pub fn call(&mut self, now: Time, call: Call<V>, token: T, deadline: Option<Time>, out: &mut impl Outbox<V, T>) -> u64 {
        self.make(now, call, Some(token), deadline, out)
    }
    fn make(&mut self, now: Time, call: Call<V>, token: Option<T>, deadline: Option<Time>, out: &mut impl Outbox<V, T>) -> u64 {
        let n = self.next;
        if self.fenced {
            if let Some(t) = token {
                out.ended(t, Err(Failure::Fenced));
            }
            return n;
        }
        self.next += 1;
        if let Call::Commit { leases, .. } = &call {
            leases.iter().for_each(|l| {
                self.leases.remove(l);
            });
        }
        if let Call::GiveBack { lease, .. } = &call {
            self.leases.remove(lease);
        }
        let mut p = Pending { call, token, deadline, sent: None, left: None };
        if self.welcomed {
            p.sent = Some(now);
            let body = Body::Call(n, p.call.clone());
            self.send(body, out);
            if planted(Bug::EarlyReceipt) && matches!(p.call, Call::Get(_)) {
                self.got.push(n);
            }
        }
        self.calls.insert(n, p);
        self.plan_repeat(now);
        n
    }
    /// The asker does not want the answer any more; its token is not heard of again. What was taken for it comes back.
    pub fn leave(&mut self, now: Time, call: u64, out: &mut impl Outbox<V, T>) {
        let Some(p) = self.calls.get_mut(&call) else { return };
        p.token = None;
        p.deadline = None;
        if p.sent.is_none() {
            self.calls.remove(&call);
            return;
        }
        self.leave_call(now, call, None, out);
    }
    fn leave_call(&mut self, now: Time, call: u64, deadline: Option<Time>, out: &mut impl Outbox<V, T>) {
        let by = self.make(now, Call::Leave(call), None, deadline, out);
        if let Some(p) = self.calls.get_mut(&call) {
            p.left = Some(by);
        }
    }
    /// The length of the lease is kept by renewals until it is committed or given back.
    pub fn lease_ends(&self, lease: u64) -> Option<Time> {
        self.leases.get(&lease).map(|h| h.ends)
    }

    fn send(&mut self, body: Body<V>, out: &mut impl Outbox<V, T>) {
        let got = std::mem::take(&mut self.got);
        self.confirm_at = None;
        out.send(FromClient { incarnation: self.incarnation, owner: self.owner, got, body });
    }
    fn sync(&mut self, now: Time, out: &mut impl Outbox<V, T>) {
        let outstanding = self.calls.keys().copied().collect();
        self.hello_at = now.saturating_add(self.options.hello);
        self.syncs += 1;
        self.send(Body::Sync { number: self.syncs, upto: self.next - 1, outstanding }, out);
        self.plan_repeat(now);
    }
    fn plan_repeat(&mut self, now: Time) {
        if let (None, Some(r)) = (self.repeat_at, self.options.repeat) {
            self.repeat_at = Some(now.saturating_add(r));
        }
    }
    fn send_all(&mut self, now: Time, out: &mut impl Outbox<V, T>) {
        let mut bodies = Vec::new();
        for (n, p) in &mut self.calls {
            p.sent = Some(now);
            bodies.push(Body::Call(*n, p.call.clone()));
        }
        for b in bodies {
            self.send(b, out);
        }
    }

    /// A message of the owner.
    pub fn receive(&mut self, now: Time, m: FromOwner<V>, out: &mut impl Outbox<V, T>) {
        if m.client != self.incarnation || self.fenced || !self.connected {
            return;
        }
        let offset = i128::from(now) - i128::from(m.sent);
        let on_its_way = offset - self.offset.map_or(offset, |o| o.min(offset));
        match m.body {
            Reply::Fenced => {
                self.fenced = true;
                for (_, p) in std::mem::take(&mut self.calls) {
                    if let Some(t) = p.token {
                        out.ended(t, Err(Failure::Fenced));
                    }
                }
            }
            Reply::Welcome { sync, known } => self.welcome(now, sync, known, m.incarnation, offset, out),
            Reply::Answer(n, result) if m.incarnation == self.owner => {
                self.offset = Some(self.offset.map_or(offset, |o| o.min(offset)));
                self.answered(now, n, result, on_its_way, out);
            }
            Reply::Answer(..) => {}
        }
    }
    fn welcome(&mut self, now: Time, sync: Option<u64>, known: bool, owner: u64, offset: i128, out: &mut impl Outbox<V, T>) {
        if owner < self.owner || sync.is_some_and(|n| n != self.syncs) {
            return;
        }
        if owner != self.owner || !known {
            if self.owner != 0 {
                self.lost(out);
            }
            self.owner = owner;
            self.offset = Some(offset);
        }
        match sync {
            Some(_) if !self.welcomed => {
                self.welcomed = true;
                self.send_all(now, out);
            }
            Some(_) => {}
            None => {
                self.welcomed = false;
                self.sync(now, out);
            }
        }
    }
    /// The session is lost: what had been sent may have been done. Requests for segments are asked again.
    fn lost(&mut self, out: &mut impl Outbox<V, T>) {
        self.leases.clear();
        self.got.clear();
        let calls = std::mem::take(&mut self.calls);
        for (n, mut p) in calls {
            let again = p.sent.is_none() || matches!(p.call, Call::Get(_) | Call::Names { .. } | Call::Stats(_) | Call::Limit(..));
            if again && p.left.is_none() {
                p.sent = None;
                self.calls.insert(n, p);
            } else if let Some(t) = p.token {
                out.ended(t, Err(Failure::Unknown));
            }
        }
    }
    fn answered(&mut self, now: Time, n: u64, result: Result<Done<V>, Refusal>, on_its_way: i128, out: &mut impl Outbox<V, T>) {
        let Some(p) = self.calls.get(&n) else { return };
        if p.left.is_some() && !matches!(p.call, Call::Put(_)) {
            // The call that leaves it is on its way: what this one took comes back by that.
            return;
        }
        if on_its_way > i128::from(self.options.lease / 2) && matches!(result, Ok(Done::Segments(_))) {
            // Its lease may be over.
            return;
        }
        let Some(p) = self.calls.remove(&n) else { return };
        self.got.push(n);
        self.confirm_at = Some(self.confirm_at.unwrap_or(now.saturating_add(self.options.confirm)));
        match (&p.call, &result) {
            (Call::Get(Ask { lease: Some(long), .. }), Ok(Done::Segments(segments))) => {
                for l in segments.iter().filter_map(|s| s.lease) {
                    let third = now.saturating_add(*long / 3);
                    // It began when the answer was sent.
                    let ends = now.saturating_sub(u64::try_from(on_its_way).unwrap_or(0)).saturating_add(*long);
                    self.leases.insert(l, Held { long: *long, renew: third, ends });
                }
            }
            (Call::Extend { leases, long }, Ok(_)) => {
                for l in leases {
                    if let Some(h) = self.leases.get_mut(l) {
                        h.ends = p.sent.unwrap_or(now).saturating_add(*long);
                    }
                }
            }
            (Call::Extend { leases, .. }, Err(_)) => leases.iter().for_each(|l| {
                self.leases.remove(l);
            }),
            (Call::Leave(earlier), _) => {
                if let Some(left) = self.calls.remove(earlier) {
                    self.got.push(*earlier);
                    if let Some(t) = left.token {
                        let at = match result {
                            Ok(Done::Left(at)) => at,
                            _ => None,
                        };
                        out.ended(t, at.map(|i| Done::Stored(Some(i))).ok_or(Failure::TimedOut));
                    }
                }
                return;
            }
            _ => {}
        }
        if let Some(left) = p.left {
            // It was done before it was left.
            if let Some(l) = self.calls.get_mut(&left) {
                l.token = None;
            }
        }
        if let Some(t) = p.token {
            out.ended(t, result.map_err(Failure::Refused));
        }
    }

    /// When [`tick`](Self::tick) has something to do next.
    pub fn next_deadline(&self) -> Option<Time> {
        let deadlines = self.calls.values().filter_map(|p| p.deadline).min();
        let own = [self.confirm_at, self.repeat_at, self.connected.then_some(self.hello_at), deadlines];
        own.into_iter().flatten().chain(self.leases.values().map(|h| h.renew)).min()
    }
    /// Does what is due: calls whose time is over end, leases are renewed, receipts sent, calls repeated.
    pub fn tick(&mut self, now: Time, out: &mut impl Outbox<V, T>) {
        let over: Vec<u64> = self.calls.iter().filter(|(_, p)| p.deadline.is_some_and(|d| d <= now)).map(|x| *x.0).collect();
        for n in over {
            self.time_over(now, n, out);
        }
        let mut renew: HashMap<Time, Vec<u64>> = HashMap::new();
        for (l, h) in &mut self.leases {
            if h.renew <= now {
                h.renew = now.saturating_add((h.long / 3).max(1));
                renew.entry(h.long).or_default().push(*l);
            }
        }
        for (long, leases) in renew {
            for some in leases.chunks(128) {
                self.make(now, Call::Extend { leases: some.to_vec(), long }, None, Some(now.saturating_add(long)), out);
            }
        }
        if !self.connected {
            self.confirm_at = None;
            self.repeat_at = None;
            return;
        }
        if self.hello_at <= now {
            self.sync(now, out);
        }
        if self.repeat_at.is_some_and(|at| at <= now) {
            self.repeat_at = None;
            if !planted(Bug::NoRetry) {
                if self.welcomed { self.send_all(now, out) } else { self.sync(now, out) }
            }
            if !self.calls.is_empty() || !self.welcomed {
                self.plan_repeat(now);
            }
        }
        if self.confirm_at.is_some_and(|at| at <= now) {
            self.send(Body::Receipts, out);
        }
    }
    fn time_over(&mut self, now: Time, n: u64, out: &mut impl Outbox<V, T>) {
        let Some(p) = self.calls.get_mut(&n) else { return };
        p.deadline = None;
        if p.sent.is_none() {
            if let Some(t) = self.calls.remove(&n).and_then(|p| p.token) {
                out.ended(t, Err(Failure::TimedOut));
            }
            return;
        }
        match &p.call {
            // Nothing is lost when nobody takes the answer: leaving it brings back what it took.
            Call::Get(_) => {
                if let Some(t) = p.token.take() {
                    out.ended(t, Err(Failure::TimedOut));
                }
                self.leave_call(now, n, None, out);
            }
            // It is asked whether the put was done.
            Call::Put(Put { wait: true, .. }) if p.left.is_none() => {
                p.deadline = Some(now.saturating_add(self.options.grace));
                self.leave_call(now, n, None, out);
            }
            _ => {
                if let Some(t) = p.token.take() {
                    out.ended(t, Err(Failure::Unknown));
                }
                if p.left.is_none() && matches!(p.call, Call::Extend { .. } | Call::Names { .. } | Call::Stats(_)) {
                    self.calls.remove(&n);
                    self.got.push(n);
                }
            }
        }
    }
}
