//! [`Manager`] against a model: everything in plain lists, every rule as it is told to users, nothing quick.
//!
//! The model does not say who is to be answered. It is told who was, in order, and checks that each could be, that nobody went
//! first who should not, that each got what the rules say, and that in the end nobody waits who could be answered.

use kumi_chance::Chance;
use kumi_segments::{
    Answers, Asked, Back, Claimed, Hold, Input, KeyId, Kind, LeaseId, Manager, New, Output, RequestId, Segment, Stored, Time, WatchId, What,
};
#[cfg(debug_assertions)]
use kumi_segments::{Bug, plant};
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum W {
    Request(usize),
    Watch(usize),
}

#[derive(Clone, Debug)]
struct Seg {
    /// Its turn among those of its key.
    turn: u64,
    s: Segment<u64>,
    ends: Option<Time>,
}

#[derive(Clone, Debug)]
struct Lease {
    id: Option<LeaseId>,
    key: usize,
    seg: Seg,
    lapses: Option<Time>,
}

#[derive(Clone, Debug)]
enum Wish {
    Get(Vec<(usize, Kind, Option<u64>)>, Hold),
    Put(usize, Option<(u64, Option<Time>)>),
}

#[derive(Clone, Debug)]
enum Got {
    Peeked(usize, Segment<u64>),
    /// The lease's number in the model, and what was taken.
    Taken(usize, usize, Segment<u64>),
}

struct Request {
    id: Option<RequestId>,
    wish: Wish,
    answer: Option<Vec<Got>>,
    stored: Option<Option<u64>>,
    over: bool,
}

#[derive(Default)]
struct Key {
    queue: Vec<Seg>,
    /// When, value, ttl.
    delayed: Vec<(Time, u64, Option<Time>)>,
    limit: Option<usize>,
    last: u64,
}

struct Watch {
    key: usize,
    id: WatchId,
    events: VecDeque<(What, u64, Option<u64>)>,
    most: usize,
    missed: u64,
    waits: bool,
    /// It is to be woken.
    due: bool,
    over: bool,
}

#[derive(Default)]
struct Model {
    keys: Vec<Key>,
    leases: BTreeMap<usize, Lease>,
    next_lease: usize,
    requests: Vec<Request>,
    watches: Vec<Watch>,
    turns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Lapse(usize),
    Enter(usize, usize),
    End(usize, u64),
}

impl Model {
    fn tell(&mut self, key: usize, what: What, s: &Segment<u64>) {
        for w in self.watches.iter_mut().filter(|w| w.key == key && !w.over) {
            if w.events.len() == w.most {
                w.events.pop_front();
                w.missed += 1;
            }
            let value = matches!(what, What::Put | What::Update).then_some(s.value);
            w.events.push_back((what, s.index, value));
            w.due |= std::mem::take(&mut w.waits);
        }
    }
    fn enter(&mut self, now: Time, key: usize, value: u64, ttl: Option<Time>) -> u64 {
        self.turns += 1;
        let k = &mut self.keys[key];
        k.last += 1;
        let s = Segment { index: k.last, value, owned: false, changed: false, deliveries: 0 };
        k.queue.push(Seg { turn: self.turns, s: s.clone(), ends: ttl.map(|t| now + t) });
        self.tell(key, What::Put, &s);
        s.index
    }
    fn update(&mut self, now: Time, key: usize, value: u64, ttl: Option<Time>) -> u64 {
        let k = &mut self.keys[key];
        if k.queue.is_empty() {
            return self.enter(now, key, value, ttl);
        }
        k.last += 1;
        let index = k.last;
        let s = Segment { index, value, owned: false, changed: false, deliveries: 0 };
        k.queue[0].s = s.clone();
        k.queue[0].ends = ttl.map(|t| now + t);
        self.tell(key, What::Update, &s);
        index
    }
    fn back(&mut self, now: Time, lease: usize) {
        let l = self.leases.remove(&lease).unwrap();
        if l.seg.ends.is_some_and(|e| e <= now) {
            return self.tell(l.key, What::Ended, &l.seg.s);
        }
        self.tell(l.key, What::Back, &l.seg.s);
        let q = &mut self.keys[l.key].queue;
        q.push(l.seg);
        q.sort_by_key(|s| s.turn);
    }
    /// What is due next, by itself.
    fn due(&self) -> Vec<(Time, Due)> {
        let mut all: Vec<(Time, Due)> = self.leases.iter().filter_map(|(n, l)| Some((l.lapses?, Due::Lapse(*n)))).collect();
        for (i, k) in self.keys.iter().enumerate() {
            all.extend(k.delayed.iter().enumerate().map(|(n, d)| (d.0, Due::Enter(i, n))));
            all.extend(k.queue.iter().filter_map(|s| Some((s.ends?, Due::End(i, s.turn)))));
        }
        all.sort();
        all
    }
    fn is_full(&self, key: usize) -> bool {
        let k = &self.keys[key];
        self.is_kept(key) || k.limit.is_some_and(|l| k.queue.len() + k.delayed.len() >= l)
    }
    /// One has room there, and has not put yet.
    fn is_kept(&self, key: usize) -> bool {
        let has = |r: &Request| !r.over && r.stored == Some(None) && matches!(r.wish, Wish::Put(k, _) if k == key);
        self.requests.iter().any(has)
    }
    /// Which segments an asker gets.
    fn choose(&self, inputs: &[(usize, Kind, Option<u64>)]) -> Option<Vec<u64>> {
        let mut chosen: Vec<u64> = Vec::new();
        for (n, (key, kind, after)) in inputs.iter().enumerate() {
            let others: Vec<u64> = (0..n).filter(|o| inputs[*o].1 == Kind::Take).map(|o| chosen[o]).collect();
            let free = self.keys[*key].queue.iter().filter(|s| *kind == Kind::Peek || !others.contains(&s.turn));
            let one = match after {
                None => free.min_by_key(|s| s.turn),
                Some(a) => free.filter(|s| s.s.index > *a).min_by_key(|s| s.s.index),
            };
            chosen.push(one?.turn);
        }
        Some(chosen)
    }
    fn take(&mut self, now: Time, inputs: &[(usize, Kind, Option<u64>)], hold: Hold) -> Option<Vec<Got>> {
        let chosen = self.choose(inputs)?;
        let mut got = Vec::new();
        for ((key, kind, _), turn) in inputs.iter().zip(&chosen) {
            if *kind == Kind::Peek {
                let s = self.keys[*key].queue.iter().find(|s| s.turn == *turn).unwrap();
                got.push(Got::Peeked(*key, s.s.clone()));
            } else {
                got.push(Got::Peeked(*key, Segment { index: 0, value: 0, owned: false, changed: false, deliveries: 0 }));
            }
        }
        for (n, ((key, kind, _), turn)) in inputs.iter().zip(&chosen).enumerate() {
            if *kind == Kind::Take {
                let at = self.keys[*key].queue.iter().position(|s| s.turn == *turn).unwrap();
                let mut seg = self.keys[*key].queue.remove(at);
                seg.s.deliveries += 1;
                self.tell(*key, What::Taken, &seg.s.clone());
                let lapses = if let Hold::For(l) = hold { Some(now + l) } else { None };
                self.next_lease += 1;
                got[n] = Got::Taken(self.next_lease, *key, seg.s.clone());
                self.leases.insert(self.next_lease, Lease { id: None, key: *key, seg, lapses });
            }
        }
        Some(got)
    }
    fn waits(&self, n: usize) -> bool {
        let r = &self.requests[n];
        !r.over && r.answer.is_none() && r.stored.is_none()
    }
    /// Those who could be answered.
    fn ready(&self) -> Vec<usize> {
        let ready = |n: &usize| {
            self.waits(*n)
                && match &self.requests[*n].wish {
                    Wish::Get(inputs, _) => self.choose(inputs).is_some(),
                    Wish::Put(key, _) => !self.is_full(*key),
                }
        };
        (0..self.requests.len()).filter(ready).collect()
    }
    /// Somebody was answered.
    fn answered(&mut self, now: Time, n: usize) {
        let ready = self.ready();
        assert!(ready.contains(&n), "request {n} was answered, which could not be");
        let only_key = |wish: &Wish| match wish {
            Wish::Get(i, _) if i.iter().all(|x| x.0 == i[0].0) => Some((i[0].0, i.iter().any(|x| x.1 == Kind::Take))),
            _ => None,
        };
        let mine = only_key(&self.requests[n].wish);
        for other in ready.into_iter().filter(|o| *o != n) {
            match (&self.requests[n].wish, &self.requests[other].wish) {
                (Wish::Get(..), Wish::Get(..)) => {
                    if let (Some((a, takes)), Some((b, other_takes))) = (mine, only_key(&self.requests[other].wish)) {
                        let first = if takes == other_takes { other < n } else { takes };
                        assert!(a != b || !first, "request {other} goes before {n}");
                    }
                }
                (Wish::Put(a, _), Wish::Put(b, _)) => assert!(a != b || n < other, "put {other} goes before {n}"),
                (Wish::Put(a, _), Wish::Get(i, _)) => assert!(i.iter().any(|x| x.0 != *a), "{other} is answered before {n} enters"),
                _ => {}
            }
        }
        match self.requests[n].wish.clone() {
            Wish::Get(inputs, hold) => {
                let got = self.take(now, &inputs, hold);
                self.requests[n].answer = got;
            }
            Wish::Put(key, new) => {
                let stored = new.map(|(value, ttl)| self.enter(now, key, value, ttl));
                self.requests[n].stored = Some(stored);
            }
        }
    }
}

struct Run {
    m: Manager<u64, W>,
    ids: Vec<KeyId>,
    model: Model,
    now: Time,
    c: Chance,
    value: u64,
    woken: Vec<W>,
    /// Claimed leases, which a holder knows: in the model, and in the manager. Those that are over are tried too.
    held: Vec<(usize, LeaseId)>,
}

type Inputs = Vec<(usize, Kind, Option<u64>)>;

impl Run {
    fn new(seed: u64) -> Run {
        let mut m = Manager::new(seed);
        let ids: Vec<KeyId> = (0..4).map(|k| m.key(format!("key{k}").as_bytes())).collect();
        let model = Model { keys: (0..4).map(|_| Key::default()).collect(), ..Model::default() };
        Run { m, ids, model, now: 1000, c: Chance::new(seed), value: 0, woken: Vec::new(), held: Vec::new() }
    }
    /// A request that has room puts there, full or not. False: as [`Run::step`].
    fn fill(&mut self, n: usize, id: RequestId) -> bool {
        let (now, value) = (self.now, self.value());
        let mut woken = std::mem::take(&mut self.woken);
        let stored = self.m.fill(now, id, New::shared(value), &mut |w: &W| woken.push(*w));
        self.woken = woken;
        if !self.catch_up() {
            return false;
        }
        let Wish::Put(key, _) = self.model.requests[n].wish else { panic!("it puts") };
        self.model.requests[n].over = true;
        let index = self.model.enter(now, key, value, None);
        assert_eq!(stored.ok(), Some(Stored::At(index)));
        self.settle();
        self.compare();
        true
    }
    fn value(&mut self) -> u64 {
        self.value += 1;
        self.value
    }
    /// The model hears who was woken, until nobody could be answered.
    fn settle(&mut self) {
        while !self.model.ready().is_empty() {
            let at = self.woken.iter().position(|w| matches!(w, W::Request(_)));
            let Some(at) = at else {
                let wishes: Vec<&Wish> = self.model.ready().iter().map(|n| &self.model.requests[*n].wish).collect();
                panic!("{:?} could be answered, and wait: {wishes:?}", self.model.ready())
            };
            let W::Request(n) = self.woken.remove(at) else { unreachable!() };
            self.model.answered(self.now, n);
        }
    }
    /// What was due until now has happened. False: two things were due at one time, in an order that is nobody's affair.
    fn catch_up(&mut self) -> bool {
        loop {
            let due = self.model.due();
            let Some((at, what)) = due.first().copied().filter(|d| d.0 <= self.now) else { return true };
            if due.get(1).is_some_and(|d| d.0 == at) {
                return false;
            }
            match what {
                Due::Lapse(l) => self.model.back(self.now, l),
                Due::Enter(k, n) => {
                    let (_, value, ttl) = self.model.keys[k].delayed.remove(n);
                    self.model.enter(at, k, value, ttl);
                }
                Due::End(k, turn) => {
                    let q = &mut self.model.keys[k].queue;
                    let at = q.iter().position(|s| s.turn == turn).unwrap();
                    let s = q.remove(at).s;
                    self.model.tell(k, What::Ended, &s);
                }
            }
            self.settle();
        }
    }
    fn check_got(&mut self, answers: Answers<u64>, got: Vec<Got>, hold: Hold) {
        assert_eq!(answers.len(), got.len());
        for (a, g) in answers.into_iter().zip(got) {
            match g {
                Got::Peeked(k, s) => assert_eq!((a.key, a.segment, a.lease), (self.ids[k], s, None)),
                Got::Taken(l, k, s) => {
                    assert_eq!((a.key, &a.segment), (self.ids[k], &s));
                    if hold == Hold::Never {
                        assert_eq!(a.lease, None);
                        self.model.leases.remove(&l);
                    } else {
                        let id = a.lease.expect("it is held");
                        if let Some(x) = self.model.leases.get_mut(&l) {
                            x.id = Some(id);
                        }
                        self.held.push((l, id));
                    }
                }
            }
        }
    }
    fn some_inputs(&mut self) -> Inputs {
        let n = [1, 1, 1, 1, 2, 2, 3][self.c.below(7) as usize];
        let takes = self.c.percent(70);
        (0..n)
            .map(|_| {
                let key = self.c.below(4) as usize;
                let kind = if takes && self.c.percent(80) { Kind::Take } else { Kind::Peek };
                let last = self.model.keys[key].last;
                let after = match self.c.below(6) {
                    0 => Some(self.c.below(last + 1)),
                    1 => Some(last),
                    _ => None,
                };
                (key, kind, after)
            })
            .collect()
    }
    fn lease(&mut self) -> Option<(usize, LeaseId)> {
        if self.held.is_empty() {
            return None;
        }
        let at = self.c.below(self.held.len() as u64) as usize;
        Some(if self.c.percent(80) { self.held.swap_remove(at) } else { self.held[at] })
    }
    fn long(&mut self) -> Time {
        1 + self.c.below(5_000)
    }

    /// One call. False: the run is over.
    fn step(&mut self) -> bool {
        // To the very moment of what is due, one before it, or on.
        let next = self.m.next_deadline();
        self.now = match (self.c.below(8), next) {
            (0, Some(d)) => self.now.max(d),
            (1, Some(d)) => self.now.max(d.saturating_sub(1)),
            (2, _) => self.now + self.c.below(2000),
            _ => self.now + self.c.below(50),
        };
        let now = self.now;
        let key = self.c.below(4) as usize;
        let id = self.ids[key];
        let mut woken = std::mem::take(&mut self.woken);
        let wake = &mut |w: &W| woken.push(*w);
        match self.c.below(25) {
            0 => {
                // The quick ways, where they are open.
                self.woken = woken;
                let value = self.value();
                if self.c.percent(40) {
                    if let Some(index) = self.m.quick_put(id, value, false) {
                        assert_eq!((index, self.model.due().len()), (self.model.enter(now, key, value, None), 0));
                    }
                } else {
                    let due = self.model.due().is_empty();
                    let peeked = self.m.quick_peek(id).cloned();
                    let head = self.model.keys[key].queue.first().map(|s| s.s.clone());
                    assert!(peeked.is_none() || (due && peeked == head));
                    if let Some(s) = self.m.quick_take(id) {
                        let Some(got) = self.model.take(now, &[(key, Kind::Take, None)], Hold::Never) else { panic!() };
                        let Got::Taken(l, _, taken) = &got[0] else { panic!() };
                        assert_eq!((&s, due), (taken, true));
                        self.model.leases.remove(l);
                    }
                }
            }
            1..=5 => {
                let value = self.value();
                let ttl = self.c.percent(15).then(|| self.long());
                let not_before = self.c.percent(15).then(|| (now + self.long()).saturating_sub(1000));
                let full = {
                    let stored = self.m.put(now, id, New { value, owned: false, not_before, ttl }, wake);
                    self.woken = woken;
                    if !self.catch_up() {
                        return false;
                    }
                    stored
                };
                match full {
                    Err(new) => {
                        assert!(self.model.is_full(key) && new.value == value);
                        if self.c.percent(70) && not_before.is_none() {
                            let n = self.model.requests.len();
                            let just_room = self.c.percent(20);
                            let new = (!just_room).then_some(new);
                            let woken = &mut self.woken;
                            let r = match self.c.percent(50) {
                                true => self.m.wait_for_room(id, new, W::Request(n)),
                                false => self.m.stand_for_room(now, id, new, W::Request(n), &mut |w: &W| woken.push(*w)),
                            };
                            let wish = Wish::Put(key, (!just_room).then_some((value, ttl)));
                            self.model.requests.push(Request { id: Some(r), wish, answer: None, stored: None, over: false });
                        }
                    }
                    Ok(stored) => {
                        assert!(!self.model.is_full(key));
                        if let Some(at) = not_before.filter(|at| *at > now) {
                            assert_eq!(stored, Stored::Later);
                            self.model.keys[key].delayed.push((at, value, ttl));
                        } else {
                            let index = self.model.enter(now, key, value, ttl);
                            assert_eq!(stored, Stored::At(index));
                        }
                    }
                }
            }
            6 => {
                let value = self.value();
                let ttl = self.c.percent(20).then(|| self.long());
                let index = self.m.update(now, id, New { ttl, ..New::shared(value) }, wake);
                self.woken = woken;
                if !self.catch_up() {
                    return false;
                }
                assert_eq!(index, Some(self.model.update(now, key, value, ttl)));
            }
            7..=10 => {
                let inputs = self.some_inputs();
                let asked: Vec<Input> =
                    inputs.iter().map(|(k, kind, after)| Input { key: self.ids[*k], kind: *kind, after: *after }).collect();
                let hold = [Hold::Never, Hold::Open, Hold::For(self.long())][self.c.below(3) as usize];
                let n = self.model.requests.len();
                if self.c.percent(30) {
                    // One that stands until it is claimed, answered or not.
                    let id = self.m.stand(now, &asked, hold, W::Request(n), wake).expect("indexes were given out");
                    self.woken = woken;
                    if !self.catch_up() {
                        return false;
                    }
                    let answer = self.model.take(now, &inputs, hold);
                    if answer.is_some() {
                        let at = self.woken.iter().position(|w| *w == W::Request(n)).expect("it is told");
                        self.woken.remove(at);
                    }
                    let wish = Wish::Get(inputs, hold);
                    self.model.requests.push(Request { id: Some(id), wish, answer, stored: None, over: false });
                    self.settle();
                    self.compare();
                    return true;
                }
                let waiter = self.c.percent(70).then_some(W::Request(n));
                let result = self.m.get(now, &asked, hold, waiter, wake);
                self.woken = woken;
                if !self.catch_up() {
                    return false;
                }
                let got = self.model.take(now, &inputs, hold);
                match (result.expect("indexes were given out"), got) {
                    (Asked::Here(answers), Some(got)) => self.check_got(answers, got, hold),
                    (Asked::Nothing, None) => assert!(waiter.is_none()),
                    (Asked::Waits(id), None) => {
                        assert!(waiter.is_some());
                        let wish = Wish::Get(inputs, hold);
                        self.model.requests.push(Request { id: Some(id), wish, answer: None, stored: None, over: false });
                    }
                    (a, b) => panic!("{a:?} where the model has {b:?}"),
                }
            }
            11 | 12 => {
                // Whoever was answered claims, or finds nothing yet.
                self.woken = woken;
                if self.model.requests.is_empty() {
                    return true;
                }
                let n = self.c.below(self.model.requests.len() as u64) as usize;
                let id = self.model.requests[n].id.unwrap();
                if self.c.percent(50) && !self.model.requests[n].over && self.model.requests[n].stored == Some(None) {
                    return self.fill(n, id);
                }
                let claimed = self.m.claim(id);
                let r = &mut self.model.requests[n];
                match claimed {
                    None => assert!(r.over || (r.answer.is_none() && matches!(r.stored, None | Some(None)))),
                    Some(Claimed::Answers(a)) => {
                        let (got, Wish::Get(_, hold)) = (r.answer.take().unwrap(), r.wish.clone()) else { panic!() };
                        r.over = true;
                        self.check_got(a, got, hold);
                    }
                    Some(Claimed::Stored(s)) => {
                        r.over = true;
                        assert_eq!(r.stored.take().flatten().map(Stored::At), Some(s));
                    }
                }
            }
            13 => {
                if self.model.requests.is_empty() {
                    self.woken = woken;
                    return true;
                }
                let n = self.c.below(self.model.requests.len() as u64) as usize;
                let stored = self.m.leave(now, self.model.requests[n].id.unwrap(), wake);
                self.woken = woken;
                if !self.catch_up() {
                    return false;
                }
                let r = &mut self.model.requests[n];
                let was_over = std::mem::replace(&mut r.over, true);
                assert_eq!(stored, r.stored.take().flatten().map(Stored::At));
                for g in r.answer.take().into_iter().flatten() {
                    if let (Got::Taken(l, ..), false) = (g, was_over) {
                        if let Some(x) = self.model.leases.get_mut(&l) {
                            x.seg.s.deliveries -= 1;
                            self.model.back(now, l);
                        }
                    }
                }
            }
            14 | 15 => {
                let mut leases: Vec<(usize, LeaseId)> = (0..self.c.below(3)).filter_map(|_| self.lease()).collect();
                leases.dedup();
                let outputs: Vec<(usize, bool, u64)> =
                    (0..self.c.below(3)).map(|_| (self.c.below(4) as usize, self.c.percent(20), self.value())).collect();
                let puts: Vec<Output<u64>> =
                    outputs.iter().map(|(k, update, v)| Output { key: self.ids[*k], update: *update, new: New::shared(*v) }).collect();
                let ids: Vec<LeaseId> = leases.iter().map(|l| l.1).collect();
                let done = self.m.commit(now, &ids, puts, wake);
                self.woken = woken;
                if !self.catch_up() {
                    return false;
                }
                let all = leases.iter().all(|l| self.model.leases.contains_key(&l.0));
                assert_eq!(done.is_ok(), all);
                if all {
                    self.model.leases.retain(|n, _| !leases.iter().any(|l| l.0 == *n));
                    for (k, update, v) in outputs {
                        if update {
                            self.model.update(now, k, v, None)
                        } else {
                            self.model.enter(now, k, v, None)
                        };
                    }
                }
            }
            16 => {
                let Some((l, id)) = self.lease() else {
                    self.woken = woken;
                    return true;
                };
                let left = self.c.percent(30).then(|| self.value());
                let done = self.m.give_back(now, id, left.map_or(Back::Same, Back::Changed), wake);
                self.woken = woken;
                if !self.catch_up() {
                    return false;
                }
                assert_eq!(done.is_ok(), self.model.leases.contains_key(&l));
                if let Some(x) = self.model.leases.get_mut(&l) {
                    if let Some(v) = left {
                        (x.seg.s.value, x.seg.s.changed) = (v, true);
                    }
                    self.model.back(now, l);
                }
            }
            17 => {
                self.woken = woken;
                let Some(&(l, id)) = self.held.last() else { return true };
                let long = self.long();
                let done = self.m.extend(now, id, long);
                let on = self.model.leases.get(&l).is_some_and(|x| x.lapses.is_none_or(|t| t > now));
                assert_eq!(done.is_ok(), on);
                if on {
                    self.model.leases.get_mut(&l).unwrap().lapses = Some(now + long);
                }
            }
            18 => {
                let limit = NonZeroUsize::new(self.c.below(4) as usize);
                self.m.set_limit(now, id, limit, wake);
                self.woken = woken;
                if !self.catch_up() {
                    return false;
                }
                self.model.keys[key].limit = limit.map(NonZeroUsize::get);
            }
            19..=23 => {
                self.woken = woken;
                let n = self.model.watches.len();
                if self.c.percent(10) && n < 5 {
                    let most = 1 + self.c.below(4) as usize;
                    let id = self.m.watch(id, most).unwrap();
                    let (events, missed) = (VecDeque::new(), 0);
                    self.model.watches.push(Watch { key, id, events, most, missed, waits: false, due: false, over: false });
                } else if n > 0 {
                    let n = self.c.below(n as u64) as usize;
                    let w = &mut self.model.watches[n];
                    if self.c.percent(1) {
                        self.m.unwatch(w.id);
                        (w.over, w.waits) = (true, false);
                    } else {
                        let e = self.m.next_event(w.id, Some(W::Watch(n)));
                        let expected = w.events.pop_front().filter(|_| !w.over);
                        assert_eq!(e.as_ref().map(|e| (e.what, e.index, e.value)), expected);
                        if let Some(e) = e {
                            assert_eq!(e.missed, std::mem::take(&mut w.missed));
                            w.waits = false;
                        } else {
                            w.waits = !w.over;
                        }
                    }
                }
            }
            _ => {
                self.m.tick(now, wake);
                self.woken = woken;
                if !self.catch_up() {
                    return false;
                }
            }
        }
        self.settle();
        self.compare();
        true
    }
    fn compare(&mut self) {
        for w in std::mem::take(&mut self.woken) {
            let W::Watch(n) = w else { panic!("{w:?} was woken for nothing") };
            assert!(std::mem::take(&mut self.model.watches[n].due), "watch {n} was woken for nothing");
        }
        assert!(self.model.watches.iter().all(|w| !w.due || w.over), "a watch has news and sleeps");
        let (mut waiting, mut waiting_puts) = (0, 0);
        for (k, id) in self.model.keys.iter().zip(&self.ids) {
            let s = self.m.stats(*id);
            assert_eq!((s.segments, s.delayed, s.last_index), (k.queue.len(), k.delayed.len(), k.last));
            assert_eq!(s.limit.map(NonZeroUsize::get), k.limit);
            waiting += s.waiting;
            waiting_puts += s.waiting_puts;
            let mut values = Vec::new();
            self.m.each_value_under(*id, |v| values.push(*v));
            values.truncate(k.queue.len());
            assert_eq!(values, k.queue.iter().map(|s| s.s.value).collect::<Vec<_>>());
        }
        let puts = (0..self.model.requests.len()).filter(|n| self.model.waits(*n) && matches!(self.model.requests[*n].wish, Wish::Put(..)));
        let gets = (0..self.model.requests.len()).filter(|n| self.model.waits(*n) && matches!(self.model.requests[*n].wish, Wish::Get(..)));
        assert_eq!((waiting, waiting_puts), (gets.count(), puts.count()));
        let open = self.model.requests.iter().filter(|r| !r.over).count();
        assert_eq!((self.m.requests(), self.m.leases()), (open, self.model.leases.len()));
        assert_eq!(self.m.next_deadline(), self.model.due().first().map(|d| d.0));
    }
}

fn run(seed: u64) {
    let mut r = Run::new(seed);
    for _ in 0..200 {
        if !r.step() {
            return;
        }
    }
    // Nothing is left where everybody leaves.
    let wake = &mut |_: &W| {};
    for q in &r.model.requests {
        r.m.leave(r.now, q.id.unwrap(), wake);
    }
    r.m.tick(r.now + 1_000_000, wake);
    // What entered then may end later.
    r.m.tick(r.now + 2_000_000, wake);
    assert_eq!((r.m.requests(), r.m.next_deadline()), (0, None));
    assert!(r.m.bytes() < 1 << 20);
}

#[test]
fn the_manager_does_what_the_model_does() {
    let seeds = std::env::var("KUMI_SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2000);
    for seed in 0..seeds {
        if catch_unwind(AssertUnwindSafe(|| run(seed))).is_err() {
            panic!("seed {seed}");
        }
    }
}

/// Faults of the manager alone; those between nodes are for the simulator.
#[test]
#[cfg(debug_assertions)]
fn planted_bugs_are_found() {
    const BUGS: [Bug; 10] = [
        Bug::PlaceLost,
        Bug::RoomUnnoticed,
        Bug::LeaseByOne,
        Bug::AfterByOne,
        Bug::OutputsLost,
        Bug::LimitByOne,
        Bug::YoungestFirst,
        Bug::UpdateKeepsIndex,
        Bug::EndForgotten,
        Bug::NewsUntold,
    ];
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let hidden: Vec<Bug> = BUGS
        .into_iter()
        .filter(|b| {
            plant(Some(*b));
            let found = (0..2000).any(|seed| catch_unwind(AssertUnwindSafe(|| run(seed))).is_err());
            plant(None);
            !found
        })
        .collect();
    std::panic::set_hook(hook);
    assert!(hidden.is_empty(), "never found: {hidden:?}");
}

#[test]
fn idle_keys_are_forgotten_and_indexes_do_not_come_again() {
    let mut m: Manager<u64, W> = Manager::new(1);
    let wake = &mut |_: &W| {};
    let first = m.key(b"first");
    for _ in 0..5 {
        m.put(0, first, New::shared(0), wake).unwrap();
        let take = Input { key: first, kind: Kind::Take, after: None };
        assert!(matches!(m.get(0, &[take], Hold::Never, None, wake), Ok(Asked::Here(_))));
    }
    let busy = m.key(b"busy");
    m.put(0, busy, New::shared(0), wake).unwrap();
    for i in 0..200_000u64 {
        m.key(&i.to_le_bytes());
    }
    assert!(m.known_keys() < 140_000 && m.bytes() < 64 << 20, "{} {}", m.known_keys(), m.bytes());
    assert!(!m.knows(first) && m.knows(busy));
    let take = Input { key: first, kind: Kind::Take, after: None };
    assert!(m.get(0, &[take], Hold::Never, Some(W::Request(0)), wake).is_err());
    let first = m.key(b"first");
    assert_eq!(m.put(0, first, New::shared(0), wake).unwrap(), Stored::At(6));
}

#[test]
fn an_answer_that_lapsed_before_it_was_claimed_has_all_its_parts() {
    let mut m: Manager<u64, W> = Manager::new(1);
    let wake = &mut |_: &W| {};
    let (a, b) = (m.key(b"a"), m.key(b"b"));
    let take = |key| Input { key, kind: Kind::Take, after: None };
    let Ok(Asked::Waits(id)) = m.get(0, &[take(a), take(b)], Hold::For(10), Some(W::Request(0)), wake) else { panic!() };
    m.put(0, a, New::shared(1), wake).unwrap();
    m.put(0, b, New::shared(2), wake).unwrap();
    m.tick(10, wake);
    assert_eq!((m.len(a), m.len(b)), (1, 1));
    let Some(Claimed::Answers(got)) = m.claim(id) else { panic!() };
    assert_eq!(got.iter().map(|g| g.segment.value).collect::<Vec<_>>(), [1, 2]);
    let leases: Vec<LeaseId> = got.iter().filter_map(|g| g.lease).collect();
    assert!(leases.len() == 2 && m.commit(11, &leases, [], wake).is_err());
}
