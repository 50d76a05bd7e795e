//! The proxy of another node's manager.
//!
//! **Invariant.** Every call ends once, with the owner's answer or a [`Failure`]. Until then it is repeated: at once on a new
//! connection, and now and then where [`ClientOptions::repeat`] says that messages get lost within one. A call that failed as
//! `Unknown` may have been done; one that was refused or timed out was not.
//!
//! A call keeps its number as long as the owner knows the session, and gets another in the next: a number names one doing. The
//! owner counts as received what the client no longer lists. So a call that was handed out is dropped only with its answer, with
//! the answer to the call that leaves it, or with its session.
//!
//! What was taken without a lease counts as received when its asker says that it is used ([`Client::used`]), and not when it arrives:
//! an asker that goes in between loses nothing.
//!
//! A client reaches its owner by messages that it hands to an [`Outbox`]. It renews the leases that it was given at a third of
//! their length until they are ended.

use super::message::{Ask, Body, Call, Done, FromClient, FromOwner, Put, Refusal, Reply, Watch};
use crate::manager::{Kind, Stored, Time};
use crate::planted::{Bug, planted};
use std::collections::{BTreeMap, BTreeSet};

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
    /// The owner's lease on what is on its way, see [`NodeOptions::lease`](super::NodeOptions::lease): a segment that was longer on
    /// its way than half of it is not used, but asked for again. So it is to be more than twice a round trip.
    pub lease: Time,
    /// The owner's longest lease, see [`NodeOptions::longest_lease`](super::NodeOptions::longest_lease): longer ones are renewed
    /// as if they were so long.
    pub longest_lease: Time,
    /// The owner hears of the client so often at least.
    pub hello: Time,
    /// So long after its time was over a call that may have been done is given up.
    pub grace: Time,
    /// Calls that may be open at a time; more are refused. At most the owner's [`NodeOptions::calls`](super::NodeOptions::calls).
    pub calls: usize,
}

impl Default for ClientOptions {
    fn default() -> ClientOptions {
        const MS: Time = 1_000_000;
        ClientOptions {
            repeat: None,
            confirm: 20 * MS,
            lease: 10_000 * MS,
            longest_lease: 3_600_000 * MS,
            hello: 5_000 * MS,
            grace: 1_000 * MS,
            calls: 1 << 16,
        }
    }
}

/// Clocks of two nodes drift apart by less than one part in so many.
const DRIFT: i128 = 1000;

struct Pending<V, T> {
    call: Call<V>,
    /// `None`: nobody waits for it any more.
    token: Option<T>,
    deadline: Option<Time>,
    /// It was handed out in the running session.
    sent: Option<Sent>,
    /// It is being left.
    left: bool,
    /// Its answer was given to the asker, who has not used it yet; when that answer was sent, by this clock.
    given: Option<i128>,
}

#[derive(Clone, Copy)]
struct Sent {
    number: u64,
    last: Time,
}

struct Held {
    /// As it was asked for.
    long: Time,
    renew: Time,
}

/// See the module. `T`: what names a call to whoever made it.
pub struct Client<V, T> {
    incarnation: u64,
    options: ClientOptions,
    /// The owner's incarnation; 0: unknown.
    owner: u64,
    /// 0: none.
    session: u64,
    connected: bool,
    /// The owner has welcomed this connection.
    welcomed: bool,
    fenced: bool,
    /// The number of the last `Sync`, and when it was sent.
    syncs: u64,
    sync_at: Time,
    /// The last names of a call and number in a session.
    last_call: u64,
    last_number: u64,
    calls: BTreeMap<u64, Pending<V, T>>,
    /// Calls by their numbers in the session.
    numbers: BTreeMap<u64, u64>,
    deadlines: BTreeSet<(Time, u64)>,
    got: Vec<u64>,
    /// Messages get lost: a `Sync` of this number or a later one is to be answered before the owner knows what was received.
    unconfirmed: Option<u64>,
    confirm_at: Option<Time>,
    hello_at: Time,
    repeat_at: Option<Time>,
    leases: BTreeMap<u64, Held>,
    renewals: BTreeSet<(Time, u64)>,
    /// The greatest that is known to be no more than (this clock - the owner's), and when it was found.
    apart: Option<(i128, Time)>,
}

impl<V: Clone, T> Client<V, T> {
    /// `incarnation`: of the node that this client is of.
    pub fn new(incarnation: u64, options: ClientOptions) -> Client<V, T> {
        Client {
            incarnation,
            options,
            owner: 0,
            session: 0,
            connected: false,
            welcomed: false,
            fenced: false,
            syncs: 0,
            sync_at: 0,
            last_call: 0,
            last_number: 0,
            calls: BTreeMap::new(),
            numbers: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            got: Vec::new(),
            unconfirmed: None,
            confirm_at: None,
            hello_at: 0,
            repeat_at: None,
            leases: BTreeMap::new(),
            renewals: BTreeSet::new(),
            apart: None,
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
    /// The owner is gone for good: every call ends. Should it come back, the client begins anew.
    pub fn gone(&mut self, out: &mut impl Outbox<V, T>) {
        self.disconnected();
        self.session = 0;
        self.end_all(Failure::Unknown, out);
    }
    /// This node goes: the owner hears what was received, every call ends, and nothing that comes is heard any more. What was not used
    /// comes back.
    pub fn farewell(&mut self, out: &mut impl Outbox<V, T>) {
        if self.connected && !self.got.is_empty() {
            self.send(Body::Receipts, out);
        }
        self.gone(out);
    }
    fn end_all(&mut self, why: Failure, out: &mut impl Outbox<V, T>) {
        self.forget_session();
        for (_, p) in std::mem::take(&mut self.calls) {
            if let Some(t) = p.token {
                out.ended(t, Err(why));
            }
        }
    }
    fn forget_session(&mut self) {
        self.numbers.clear();
        self.deadlines.clear();
        self.leases.clear();
        self.renewals.clear();
        self.got.clear();
        (self.unconfirmed, self.confirm_at) = (None, None);
    }
    /// Has it heard of a connection that is there?
    pub fn is_connected(&self) -> bool {
        self.connected
    }
    /// The owner's incarnation as far as it is known; 0: not yet.
    pub fn owner(&self) -> u64 {
        self.owner
    }
    /// How many calls have no answer yet.
    pub fn open_calls(&self) -> usize {
        self.calls.len()
    }
    /// How many leases are renewed.
    pub fn leases(&self) -> usize {
        self.leases.len()
    }

    /// Makes a call. `deadline`: when it ends without an answer. The result names it for [`leave`](Self::leave).
    pub fn call(&mut self, now: Time, call: Call<V>, token: T, deadline: Option<Time>, out: &mut impl Outbox<V, T>) -> u64 {
        if self.fenced {
            out.ended(token, Err(Failure::Fenced));
            return 0;
        }
        if self.calls.len() >= self.options.calls {
            out.ended(token, Err(Failure::Refused(Refusal::Quota)));
            return 0;
        }
        self.make(now, call, Some(token), deadline, out)
    }
    fn make(&mut self, now: Time, call: Call<V>, token: Option<T>, deadline: Option<Time>, out: &mut impl Outbox<V, T>) -> u64 {
        match &call {
            Call::Commit { leases, .. } => leases.iter().for_each(|l| self.end_lease(*l)),
            Call::GiveBack { lease, .. } => self.end_lease(*lease),
            _ => {}
        }
        self.last_call += 1;
        let name = self.last_call;
        self.deadlines.extend(deadline.map(|d| (d, name)));
        self.calls.insert(name, Pending { call, token, deadline, sent: None, left: false, given: None });
        if self.welcomed {
            self.hand_out(now, name, out);
        }
        self.plan_repeat(now);
        name
    }
    fn end_lease(&mut self, lease: u64) {
        if let Some(h) = self.leases.remove(&lease) {
            self.renewals.remove(&(h.renew, lease));
        }
    }
    fn remove(&mut self, name: u64) -> Option<Pending<V, T>> {
        let p = self.calls.remove(&name)?;
        if let Some(d) = p.deadline {
            self.deadlines.remove(&(d, name));
        }
        if let Some(s) = p.sent {
            self.numbers.remove(&s.number);
        }
        Some(p)
    }
    /// The asker does not want the answer any more; its token is not heard of again. What was taken for it comes back.
    pub fn leave(&mut self, now: Time, call: u64, out: &mut impl Outbox<V, T>) {
        let Some(p) = self.calls.get_mut(&call) else { return };
        p.token = None;
        if let Some(d) = p.deadline.take() {
            self.deadlines.remove(&(d, call));
        }
        if p.sent.is_none() {
            self.remove(call);
        } else {
            self.leave_call(now, call, out);
        }
    }
    /// The asker uses what it took without a lease. False: it must not, for it has come back, or may have; the call goes on under
    /// this token, and ends again.
    pub fn used(&mut self, now: Time, call: u64, token: T, out: &mut impl Outbox<V, T>) -> bool {
        let Some(p) = self.calls.get_mut(&call) else {
            if planted(Bug::ReceiptBeforeUse) {
                return true;
            }
            // It went with its owner.
            out.ended(token, Err(if self.fenced { Failure::Fenced } else { Failure::Unknown }));
            return false;
        };
        let Some(given) = p.given.take() else { return true };
        let late = i128::from(now) - given > i128::from(self.options.lease / 2) && !planted(Bug::LateAnswerUsed);
        match p.sent {
            Some(sent) if !late => {
                self.remove(call);
                self.received(now, sent.number);
                true
            }
            _ => {
                p.token = Some(token);
                if self.welcomed {
                    self.hand_out(now, call, out);
                }
                false
            }
        }
    }
    /// Leaves a call that was handed out.
    fn leave_call(&mut self, now: Time, call: u64, out: &mut impl Outbox<V, T>) {
        let Some(Pending { left: left @ false, sent: Some(s), .. }) = self.calls.get_mut(&call) else { return };
        *left = true;
        let number = s.number;
        self.make(now, Call::Leave(number), None, None, out);
    }

    fn send(&mut self, body: Body<V>, out: &mut impl Outbox<V, T>) {
        let got = std::mem::take(&mut self.got);
        self.confirm_at = None;
        out.send(FromClient { incarnation: self.incarnation, owner: self.owner, session: self.session, got, body });
    }
    fn sync(&mut self, now: Time, out: &mut impl Outbox<V, T>) {
        let outstanding = self.numbers.keys().copied().collect();
        self.hello_at = now.saturating_add(self.options.hello);
        self.syncs += 1;
        self.sync_at = now;
        self.send(Body::Sync { number: self.syncs, upto: self.last_number, outstanding }, out);
        self.plan_repeat(now);
    }
    fn plan_repeat(&mut self, now: Time) {
        if let (None, Some(r)) = (self.repeat_at, self.options.repeat) {
            self.repeat_at = Some(now.saturating_add(r));
        }
    }
    /// Sends a call, under a number of its own from the first time on.
    fn hand_out(&mut self, now: Time, name: u64, out: &mut impl Outbox<V, T>) {
        let Some(p) = self.calls.get_mut(&name) else { return };
        let number = match &mut p.sent {
            Some(s) => {
                s.last = now;
                s.number
            }
            none => {
                self.last_number += 1;
                *none = Some(Sent { number: self.last_number, last: now });
                self.numbers.insert(self.last_number, name);
                self.last_number
            }
        };
        let call = p.call.clone();
        if planted(Bug::EarlyReceipt) && matches!(call, Call::Get(_)) {
            self.got.push(number);
        }
        self.send(Body::Call(number, call), out);
    }
    /// Sends all calls that were not sent since then. One that is being left is asked about by the call that leaves it.
    fn send_all(&mut self, now: Time, before: Time, out: &mut impl Outbox<V, T>) {
        let due = |p: &Pending<V, T>| !p.left && p.given.is_none() && p.sent.is_none_or(|s| s.last <= before);
        let names: Vec<u64> = self.calls.iter().filter(|(_, p)| due(p)).map(|x| *x.0).collect();
        names.into_iter().for_each(|n| self.hand_out(now, n, out));
    }

    /// A message of the owner.
    pub fn receive(&mut self, now: Time, m: FromOwner<V>, out: &mut impl Outbox<V, T>) {
        if m.client != self.incarnation || self.fenced || !self.connected {
            return;
        }
        match m.body {
            Reply::Fenced => {
                self.fenced = true;
                self.disconnected();
                self.end_all(Failure::Fenced, out);
            }
            Reply::Welcome { sync: Some(n), session } if n == self.syncs && m.incarnation >= self.owner => {
                self.welcome(now, session, m.incarnation, m.sent, out);
            }
            // While the answer to a `Sync` is awaited, another is of no use.
            Reply::Welcome { sync: None, session } if m.incarnation >= self.owner && self.welcomed => {
                if (m.incarnation, session) != (self.owner, self.session) {
                    self.welcomed = false;
                    self.sync(now, out);
                }
            }
            Reply::Answer(n, result) if m.incarnation == self.owner && self.welcomed => {
                let on_its_way = self.apart(now).map_or(i128::MAX, |a| i128::from(now) - i128::from(m.sent) - a);
                self.answered(now, n, result, on_its_way, out);
            }
            Reply::Welcome { .. } | Reply::Answer(..) => {}
        }
    }
    fn apart(&self, now: Time) -> Option<i128> {
        self.apart.map(|(apart, at)| apart - i128::from(now.saturating_sub(at)) / DRIFT)
    }
    /// The answer to the last `Sync`.
    fn welcome(&mut self, now: Time, session: u64, owner: u64, sent: Time, out: &mut impl Outbox<V, T>) {
        if (owner, session) != (self.owner, self.session) {
            if owner != self.owner {
                self.apart = None;
            }
            if self.session != 0 {
                self.lost(out);
            }
            (self.owner, self.session, self.welcomed) = (owner, session, false);
        }
        // It was sent after the `Sync` was.
        let apart = i128::from(self.sync_at) - i128::from(sent);
        if self.apart(now).is_none_or(|a| a < apart) {
            self.apart = Some((apart, now));
        }
        if self.unconfirmed.is_some_and(|n| n <= self.syncs) {
            self.unconfirmed = None;
        }
        if !self.welcomed {
            self.welcomed = true;
            self.send_all(now, now, out);
        }
    }
    /// The session is lost: what had been sent may have been done. What changes nothing, or nothing before it is received, is
    /// asked for again.
    fn lost(&mut self, out: &mut impl Outbox<V, T>) {
        self.forget_session();
        for (name, mut p) in std::mem::take(&mut self.calls) {
            let harmless = matches!(p.call, Call::Get(_) | Call::Names { .. } | Call::Stats(_) | Call::Limit(..));
            let of_session = p.left || matches!(p.call, Call::Leave(_) | Call::Extend { .. } | Call::Watch(_));
            if !of_session && (p.sent.is_none() || harmless) {
                p.sent = None;
                self.deadlines.extend(p.deadline.map(|d| (d, name)));
                self.calls.insert(name, p);
            } else if let Some(t) = p.token {
                out.ended(t, Err(Failure::Unknown));
            }
        }
    }
    fn answered(&mut self, now: Time, n: u64, result: Result<Done<V>, Refusal>, on_its_way: i128, out: &mut impl Outbox<V, T>) {
        let Some(name) = self.numbers.get(&n).copied() else { return };
        let Some(p) = self.calls.get_mut(&name) else { return };
        if p.given.is_some() {
            return;
        }
        if p.left && !matches!(p.call, Call::Put(_)) {
            // The call that leaves it is on its way: what this one took comes back by that.
            return;
        }
        if let Call::Get(ask) = &p.call {
            let takes = ask.lease.is_none() && ask.inputs.iter().any(|i| i.1 == Kind::Take);
            let late = on_its_way > i128::from(self.options.lease / 2) && !planted(Bug::LateAnswerUsed);
            match &result {
                // What it took may have come back, or will before the owner hears that it was received.
                Ok(Done::Segments(_)) if takes && late => return self.hand_out(now, name, out),
                Ok(Done::Segments(s)) if takes && s.len() == ask.inputs.len() && !planted(Bug::ReceiptBeforeUse) => {
                    p.given = Some(i128::from(now) - on_its_way.clamp(0, i128::from(now)));
                    if let Some(d) = p.deadline.take() {
                        self.deadlines.remove(&(d, name));
                    }
                    let token = p.token.take();
                    return token.into_iter().for_each(|t| out.ended(t, result.clone().map_err(Failure::Refused)));
                }
                // What it took has come back.
                Err(Refusal::LeaseOver) => {
                    p.sent = None;
                    self.numbers.remove(&n);
                    self.received(now, n);
                    return self.hand_out(now, name, out);
                }
                _ => {}
            }
        }
        let Some(p) = self.remove(name) else { return };
        self.received(now, n);
        if result.as_ref().is_ok_and(|done| !is_answer_to(done, &p.call)) {
            // The owner makes no sense: nobody knows what it did.
            if let Some(t) = p.token {
                out.ended(t, Err(Failure::Unknown));
            }
            return;
        }
        match (&p.call, &result) {
            (Call::Get(Ask { lease: Some(long), .. }), Ok(Done::Segments(segments))) => {
                for l in segments.iter().filter_map(|s| s.lease) {
                    let renew = now.saturating_add(self.third(*long));
                    self.leases.insert(l, Held { long: *long, renew });
                    self.renewals.insert((renew, l));
                }
            }
            (Call::Extend { leases, .. }, Err(Refusal::LeaseOver)) => match leases[..] {
                [l] => self.end_lease(l),
                // Some are over, and the others go on: each is asked about by itself.
                _ => leases.iter().for_each(|l| self.renew(now, &[*l], out)),
            },
            (Call::Leave(earlier), _) => {
                let left = self.numbers.get(earlier).copied().and_then(|name| self.remove(name));
                if let Some(t) = left.and_then(|p| p.token) {
                    let result = match result {
                        Ok(Done::Left(Some(Stored::At(i)))) => Ok(Done::Stored(Some(i))),
                        Ok(Done::Left(Some(Stored::Later))) => Ok(Done::Stored(None)),
                        Ok(Done::Left(None)) => Err(Failure::TimedOut),
                        _ => Err(Failure::Unknown),
                    };
                    out.ended(t, result);
                }
                return;
            }
            _ => {}
        }
        if let Some(t) = p.token {
            out.ended(t, result.map_err(Failure::Refused));
        }
    }
    /// The owner is to hear that an answer was received.
    fn received(&mut self, now: Time, number: u64) {
        self.got.push(number);
        self.confirm_at = Some(self.confirm_at.unwrap_or(now.saturating_add(self.options.confirm)));
        if self.options.repeat.is_some() && !planted(Bug::ReceiptOnce) {
            self.unconfirmed = Some(self.syncs + 1);
        }
    }
    fn third(&self, long: Time) -> Time {
        (long.min(self.options.longest_lease) / 3).max(1)
    }
    /// Renews leases that were asked for with one length.
    fn renew(&mut self, now: Time, leases: &[u64], out: &mut impl Outbox<V, T>) {
        let Some(long) = leases.iter().find_map(|l| Some(self.leases.get(l)?.long)) else { return };
        let over = now.saturating_add(long.min(self.options.longest_lease));
        self.make(now, Call::Extend { leases: leases.to_vec(), long }, None, Some(over), out);
    }

    /// When [`tick`](Self::tick) has something to do next.
    pub fn next_deadline(&self) -> Option<Time> {
        let messages = [self.confirm_at, self.repeat_at, Some(self.hello_at)];
        let messages = messages.into_iter().flatten().filter(|_| self.connected);
        let sets = [&self.deadlines, &self.renewals].into_iter().filter_map(|s| s.first().map(|x| x.0));
        messages.chain(sets).min()
    }
    /// Does what is due: calls whose time is over end, leases are renewed, receipts sent, calls repeated.
    pub fn tick(&mut self, now: Time, out: &mut impl Outbox<V, T>) {
        while let Some((_, name)) = self.deadlines.first().copied().filter(|(at, _)| *at <= now) {
            self.deadlines.pop_first();
            self.time_over(now, name, out);
        }
        let mut due: BTreeMap<Time, Vec<u64>> = BTreeMap::new();
        while let Some((_, l)) = self.renewals.first().copied().filter(|(at, _)| *at <= now) {
            self.renewals.pop_first();
            let Some(long) = self.leases.get(&l).map(|h| h.long) else { continue };
            let renew = now.saturating_add(self.third(long));
            if let Some(h) = self.leases.get_mut(&l) {
                h.renew = renew;
            }
            self.renewals.insert((renew, l));
            due.entry(long).or_default().push(l);
        }
        for leases in due.values().filter(|_| !planted(Bug::NoRenewal)) {
            leases.chunks(128).for_each(|some| self.renew(now, some, out));
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
                self.repeat(now, out);
            }
            if !self.calls.is_empty() || !self.welcomed || self.unconfirmed.is_some() {
                self.plan_repeat(now);
            }
        }
        if self.confirm_at.is_some_and(|at| at <= now) {
            if self.unconfirmed.is_some() { self.sync(now, out) } else { self.send(Body::Receipts, out) }
        }
    }
    fn repeat(&mut self, now: Time, out: &mut impl Outbox<V, T>) {
        if !self.welcomed || self.unconfirmed.is_some() {
            self.sync(now, out);
        }
        if self.welcomed {
            let before = now.saturating_sub(self.options.repeat.unwrap_or(0));
            self.send_all(now, before, out);
        }
    }
    /// A call's deadline, which is no longer in the set, has come.
    fn time_over(&mut self, now: Time, name: u64, out: &mut impl Outbox<V, T>) {
        let Some(p) = self.calls.get_mut(&name) else { return };
        p.deadline = None;
        let Some(sent) = p.sent else {
            if let Some(t) = self.remove(name).and_then(|p| p.token) {
                out.ended(t, Err(Failure::TimedOut));
            }
            return;
        };
        match &p.call {
            // Nothing is lost when nobody takes the answer: leaving it brings back what it took.
            Call::Get(_) => {
                if let Some(t) = p.token.take() {
                    out.ended(t, Err(Failure::TimedOut));
                }
                self.leave_call(now, name, out);
            }
            // It is asked whether the put was done.
            Call::Put(Put { wait: true, .. }) if !p.left => {
                let at = now.saturating_add(self.options.grace);
                p.deadline = Some(at);
                self.deadlines.insert((at, name));
                self.leave_call(now, name, out);
            }
            call => {
                // They take nothing: whether they were done is of no account.
                let harmless = !p.left && matches!(call, Call::Extend { .. } | Call::Names { .. } | Call::Stats(_));
                if let Some(t) = p.token.take() {
                    out.ended(t, Err(Failure::Unknown));
                }
                if harmless {
                    self.remove(name);
                    self.got.push(sent.number);
                }
            }
        }
    }
}

/// Could an owner have done this call so?
fn is_answer_to<V>(done: &Done<V>, call: &Call<V>) -> bool {
    match call {
        Call::Put(_) => matches!(done, Done::Stored(_)),
        Call::Get(ask) => match done {
            Done::Segments(segments) => segments.len() == ask.inputs.len(),
            done => matches!(done, Done::Nothing),
        },
        Call::Commit { .. } | Call::GiveBack { .. } | Call::Extend { .. } | Call::Limit(..) => matches!(done, Done::Ok),
        Call::Leave(_) => true,
        Call::Names { .. } => matches!(done, Done::Names(_)),
        Call::Stats(_) => matches!(done, Done::Stats(_)),
        Call::Watch(Watch::Next(_)) => matches!(done, Done::Events(_)),
        Call::Watch(Watch::Begin { .. } | Watch::End(_)) => matches!(done, Done::Ok),
    }
}
