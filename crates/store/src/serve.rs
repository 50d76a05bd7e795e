//! Calls, as the manager does them.
//!
//! **Invariant.** A call is answered once, or waits; what an answer took is under a lease of the manager until the caller has it.

use crate::file::base::Waiter;
use crate::file::value::Value;
use crate::handle::End;
use crate::server::{Given, Open, Otherwise, Pending, Reply, Server};
use kumi_segments::{
    Answers, Ask, Asked, Back, Call, Claimed, Done, Failure, Hold, Input, Kind, LeaseId, New, Output, Put, Refusal, RemoteSegment, Store,
    Stored, Time, Trouble,
};
use std::num::NonZeroUsize;

/// The longest value, and the longest name of a key.
const VALUE_BYTES: usize = 1 << 30;
const KEY_BYTES: usize = 1 << 16;

impl Server {
    pub fn perform(&mut self, number: u64, mut p: Pending) {
        if !fits(&p.call) {
            return self.reply(number, p, Err(refused(Refusal::Bad)));
        }
        match &mut p.call {
            Call::Put(_) => self.put(number, p),
            Call::Get(_) => self.get(number, p),
            Call::Commit { leases, outputs } => {
                let (leases, outputs) = (std::mem::take(leases), std::mem::take(outputs));
                let result = self.commit(leases, outputs);
                self.reply(number, p, result);
            }
            Call::GiveBack { lease, left } => {
                let (lease, left) = (*lease, std::mem::replace(left, Back::Same));
                let result = match self.leases.contains_key(&lease) {
                    true if self.rests() => {
                        self.give_back_later(lease, left);
                        Ok(Done::Ok)
                    }
                    true => self.give_back(lease, left),
                    false => Err(refused(Refusal::LeaseOver)),
                };
                // It comes back whatever becomes of this group.
                self.give(number, p.end, result, Given::default(), Otherwise::Stays);
            }
            Call::Extend { leases, .. } => {
                // They last as long as this process.
                let all = leases.iter().all(|l| self.leases.contains_key(l));
                self.reply(number, p, if all { Ok(Done::Ok) } else { Err(refused(Refusal::LeaseOver)) });
            }
            // Watches of a store are no calls.
            Call::Leave(_) | Call::Watch(_) => self.reply(number, p, Err(refused(Refusal::Bad))),
            Call::Names { prefix, after, most } => {
                let most = (*most as usize).min(10_000);
                let names = self.machine.names(prefix, after.as_deref(), most).into_iter().map(<[u8]>::to_vec).collect();
                self.reply(number, p, Ok(Done::Names(names)));
            }
            Call::Stats(key) => {
                let stats = self.machine.find_key(key).map(|k| self.machine.stats(k)).unwrap_or_default();
                self.reply(number, p, Ok(Done::Stats(stats)));
            }
            Call::Limit(key, limit) => {
                let key = self.machine.key(key);
                let limit = NonZeroUsize::new(usize::try_from(*limit).unwrap_or(usize::MAX));
                let (now, woken) = (self.time(), &mut self.woken);
                self.machine.set_limit(now, key, limit, &mut |w: &Waiter| woken.push(*w));
                self.reply(number, p, Ok(Done::Ok));
            }
        }
    }
    fn reply(&mut self, number: u64, p: Pending, result: Result<Done<Value>, Trouble>) {
        let reads = match &p.call {
            Call::Get(ask) => ask.inputs.iter().all(|i| i.1 == Kind::Peek),
            Call::Names { .. } | Call::Stats(_) => true,
            _ => false,
        };
        let otherwise = if reads { Otherwise::Again(p.call, p.until) } else { Otherwise::Fails };
        self.give(number, p.end, result, Given::default(), otherwise);
    }
    fn give(&mut self, number: u64, end: End, result: Result<Done<Value>, Trouble>, given: Given, otherwise: Otherwise) {
        self.group.replies.push(Reply { number, end, result, ready: None, given, otherwise });
    }
    fn put(&mut self, number: u64, p: Pending) {
        let Call::Put(Put { store, wait }) = &p.call else { return };
        let (key, update, wait) = (self.machine.key(&store.key), store.update, *wait);
        let (now, woken) = (self.time(), &mut self.woken);
        let wake = &mut |w: &Waiter| woken.push(*w);
        let new = new(now, store);
        if update {
            let stored = self.machine.update(now, key, new, wake);
            return self.reply(number, p, Ok(Done::Stored(stored)));
        }
        match self.machine.put(now, key, new, wake) {
            Ok(s) => self.reply(number, p, Ok(Done::Stored(index(s)))),
            Err(new) if wait => {
                let request = self.machine.stand_for_room(now, key, Some(new), Waiter::Call(number), wake);
                self.wait(number, p, request);
            }
            Err(_) => self.reply(number, p, Err(refused(Refusal::Full))),
        }
    }
    fn get(&mut self, number: u64, p: Pending) {
        let Call::Get(Ask { inputs, lease, wait }) = &p.call else { return };
        let (holds, wait) = (lease.is_some(), *wait);
        let inputs: Vec<Input> =
            inputs.iter().map(|(name, kind, after)| Input { key: self.machine.key(name), kind: *kind, after: *after }).collect();
        let (now, woken) = (self.time(), &mut self.woken);
        let wake = &mut |w: &Waiter| woken.push(*w);
        match self.machine.get(now, &inputs, Hold::Open, wait.then_some(Waiter::Call(number)), wake) {
            Ok(Asked::Here(answers)) => self.hand_out(number, p, answers, holds, false),
            Ok(Asked::Waits(request)) => self.wait(number, p, request),
            Ok(Asked::Nothing) => self.reply(number, p, Ok(Done::Nothing)),
            Err(stale) => self.reply(number, p, Err(refused(Refusal::Stale { last: stale.last }))),
        }
    }
    /// Segments for a caller: to hold, or for good.
    fn hand_out(&mut self, number: u64, p: Pending, answers: Answers<Value>, holds: bool, waited: bool) {
        let mut given = Given::default();
        let mut segments = Vec::with_capacity(answers.len());
        for a in answers {
            let lease = a.lease.filter(|_| holds).map(|l| self.hold(number, l));
            given.held.extend(lease);
            if let Some(l) = a.lease.filter(|_| !holds) {
                self.machine.count_as_gone(l);
                given.taken.push(l);
            }
            let s = a.segment;
            let (owned, changed) = (s.owned, s.changed);
            segments.push(RemoteSegment { index: s.index, value: s.value, owned, changed, deliveries: s.deliveries, lease });
        }
        let reads = matches!(&p.call, Call::Get(ask) if ask.inputs.iter().all(|i| i.1 == Kind::Peek));
        let otherwise = if waited || reads { Otherwise::Again(p.call, p.until) } else { Otherwise::Fails };
        self.give(number, p.end, Ok(Done::Segments(segments)), given, otherwise);
    }
    fn commit(&mut self, leases: Vec<u64>, outputs: Vec<Store<Value>>) -> Result<Done<Value>, Trouble> {
        let held: Option<Vec<LeaseId>> = leases.iter().map(|l| self.leases.get(l).map(|h| h.id)).collect();
        let Some(held) = held else { return Err(refused(Refusal::LeaseOver)) };
        let (now, woken) = (self.time(), &mut self.woken);
        let mut puts = Vec::with_capacity(outputs.len());
        for o in &outputs {
            puts.push(Output { key: self.machine.key(&o.key), update: o.update, new: new(now, o) });
        }
        match self.machine.commit(now, &held, puts, &mut |w: &Waiter| woken.push(*w)) {
            Ok(()) => {
                self.end_leases(&leases);
                Ok(Done::Ok)
            }
            Err(_) => Err(refused(Refusal::LeaseOver)),
        }
    }
    fn end_leases(&mut self, leases: &[u64]) {
        let ended = leases.iter().filter_map(|l| Some((*l, self.leases.remove(l)?)));
        let ended: Vec<_> = ended.collect();
        for (_, held) in &ended {
            if matches!(self.calls.get(&held.call), Some(Open::Given(_))) {
                self.calls.remove(&held.call);
            }
        }
        self.group.ended.extend(ended);
    }
    pub fn give_back(&mut self, lease: u64, left: Back<Value>) -> Result<Done<Value>, Trouble> {
        let Some(held) = self.leases.get(&lease) else { return Err(refused(Refusal::LeaseOver)) };
        let (id, now, woken) = (held.id, self.time(), &mut self.woken);
        let done = self.machine.give_back(now, id, left.clone(), &mut |w: &Waiter| woken.push(*w));
        self.end_leases(&[lease]);
        self.group.back.push((lease, left));
        match done {
            Ok(()) => Ok(Done::Ok),
            Err(_) => Err(refused(Refusal::LeaseOver)),
        }
    }
    /// Nobody wants this call's answer.
    pub fn leave(&mut self, number: u64) {
        match self.calls.remove(&number) {
            Some(Open::Waits(p, request)) => {
                let (now, woken) = (self.time(), &mut self.woken);
                self.machine.leave(now, request, &mut |w: &Waiter| woken.push(*w));
                (p.end)(Err(Trouble::Failure(Failure::TimedOut)));
            }
            Some(Open::Given(g)) => {
                self.take_back(&g);
                self.group.left.push((number, g));
            }
            None => {
                // Its group is not written yet.
                if let Some(r) = self.group.replies.iter_mut().find(|r| r.number == number) {
                    let g = std::mem::take(&mut r.given);
                    r.result = Err(Trouble::Failure(Failure::TimedOut));
                    self.take_back(&g);
                }
            }
        }
    }
    pub fn take_back(&mut self, g: &Given) {
        let held: Vec<LeaseId> = g.held.iter().filter_map(|l| self.leases.get(l)).map(|h| h.id).collect();
        for l in held.into_iter().chain(g.taken.iter().copied()) {
            let (now, woken) = (self.time(), &mut self.woken);
            let _ = self.machine.undo(now, l, &mut |w: &Waiter| woken.push(*w));
        }
        self.end_leases(&g.held);
    }
    /// Answers whoever the last change has answered.
    pub fn answer_woken(&mut self) {
        let mut woken = std::collections::VecDeque::new();
        loop {
            woken.extend(self.woken.drain(..));
            let Some(w) = woken.pop_front() else { return };
            let number = match w {
                Waiter::Call(n) => n,
                Waiter::Watch(n) => {
                    self.group.told.insert(n);
                    continue;
                }
            };
            let Some(Open::Waits(p, request)) = self.calls.remove(&number) else { continue };
            let Some(claimed) = self.machine.claim(request) else {
                self.calls.insert(number, Open::Waits(p, request));
                continue;
            };
            // One that began to wait in this group has no earlier group to return to.
            let new = self.group.waiting.contains(&number);
            match claimed {
                Claimed::Answers(answers) => {
                    let holds = matches!(&p.call, Call::Get(ask) if ask.lease.is_some());
                    self.hand_out(number, p, answers, holds, !new);
                }
                Claimed::Stored(s) => {
                    let done = Done::Stored(index(s));
                    let otherwise = if new { Otherwise::Fails } else { Otherwise::Again(p.call, p.until) };
                    self.give(number, p.end, Ok(done), Given::default(), otherwise);
                }
            }
        }
    }
}

fn refused(r: Refusal) -> Trouble {
    Trouble::Failure(Failure::Refused(r))
}
fn fits(call: &Call<Value>) -> bool {
    let key = |k: &[u8]| k.len() <= KEY_BYTES;
    let store = |s: &Store<Value>| {
        let len = match &s.value {
            Value::Small(b) => b.len(),
            Value::Large(l) => l.len,
        };
        key(&s.key) && len <= VALUE_BYTES
    };
    match call {
        Call::Put(p) => store(&p.store),
        Call::Get(ask) => !ask.inputs.is_empty() && ask.inputs.iter().all(|i| key(&i.0)),
        Call::Commit { outputs, .. } => outputs.iter().all(store),
        Call::Limit(k, _) => key(k),
        _ => true,
    }
}
fn index(s: Stored) -> Option<u64> {
    match s {
        Stored::At(i) => Some(i),
        Stored::Later => None,
    }
}
fn new(now: Time, s: &Store<Value>) -> New<Value> {
    New { value: s.value.clone(), owned: s.owned, not_before: s.delay.map(|d| now.saturating_add(d)), ttl: s.ttl }
}
