//! The owner of a few keys: queues with leases, waiters and a table of calls that were done. Bugs can be planted.

use std::collections::{BTreeMap, VecDeque};

/// Milliseconds.
pub type Ms = u64;
pub const LEASE: Ms = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    AcknowledgedBeforeStored,
    NoFence,
    ShortTable,
    LeaseTooLong,
    TakesAgain,
    BackAtTheEnd,
    UpdateLosesPuts,
    LostWaiter,
    SleepyWaiter,
    StalePeek,
    TakeLeavesIt,
    OutputsAnyway,
    OutputsLost,
    SaysEmpty,
    LeaveIgnored,
    UpdateAgain,
    LastInFirstOut,
    IndexAgain,
}

#[derive(Clone, Debug)]
pub enum Ask {
    Put(usize, u64),
    Update(usize, u64),
    Take {
        key: usize,
        leased: bool,
        wait: bool,
    },
    Peek(usize),
    /// A lease, and what is put where it ends.
    Commit(u64, usize, u64),
    Back(u64),
    /// The answer to that call is not wanted any more.
    Leave(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Of a put, update or commit.
    Stored(u64),
    Segment {
        value: u64,
        index: u64,
        lease: Option<u64>,
    },
    Nothing,
    Done,
    LeaseOver,
}

#[derive(Clone, Copy)]
struct Segment {
    value: u64,
    index: u64,
    at: Ms,
}

#[derive(Default)]
struct Queue {
    segments: VecDeque<Segment>,
    waiters: VecDeque<(usize, u64, bool)>,
    last: u64,
    peeked: Option<Segment>,
}

#[derive(Default)]
pub struct Owner {
    pub bug: Option<Bug>,
    keys: Vec<Queue>,
    /// None: it waits.
    calls: BTreeMap<(usize, u64), Option<Reply>>,
    left: Vec<(usize, u64)>,
    leases: BTreeMap<u64, (usize, Segment, Ms)>,
    last_lease: u64,
    count: u64,
}

pub type Answers = Vec<(usize, u64, Reply)>;

impl Owner {
    pub fn new(keys: usize, bug: Option<Bug>) -> Owner {
        Owner { bug, keys: (0..keys).map(|_| Queue::default()).collect(), ..Owner::default() }
    }
    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }
    /// One of so many.
    fn at_times(&mut self, bug: Bug, n: u64) -> bool {
        self.count += 1;
        self.has(bug) && self.count.is_multiple_of(n)
    }
    pub fn receive(&mut self, now: Ms, client: usize, number: u64, ask: Ask, out: &mut Answers) {
        if self.left.contains(&(client, number)) {
            return;
        }
        let again = self.has(Bug::ShortTable) && matches!(ask, Ask::Put(..))
            || self.has(Bug::UpdateAgain) && matches!(ask, Ask::Update(..))
            || self.has(Bug::TakesAgain) && matches!(ask, Ask::Take { leased: false, .. });
        match self.calls.get(&(client, number)) {
            Some(Some(reply)) if !again => return out.push((client, number, *reply)),
            Some(None) => return,
            _ => {}
        }
        let reply = self.act(now, client, number, ask);
        self.calls.insert((client, number), reply);
        out.extend(reply.map(|r| (client, number, r)));
        self.serve(now, out);
    }
    fn act(&mut self, now: Ms, client: usize, number: u64, ask: Ask) -> Option<Reply> {
        Some(match ask {
            Ask::Put(key, value) => Reply::Stored(self.put(now, key, value)),
            Ask::Update(key, value) => {
                if self.keys[key].segments.is_empty() {
                    return Some(Reply::Stored(self.put(now, key, value)));
                }
                let clear = self.has(Bug::UpdateLosesPuts);
                let q = &mut self.keys[key];
                q.last += 1;
                if clear {
                    q.segments.truncate(1);
                }
                q.segments[0] = Segment { value, index: q.last, at: now };
                Reply::Stored(q.last)
            }
            Ask::Take { key, leased, wait } => {
                let lies = self.at_times(Bug::SaysEmpty, 5);
                match (self.keys[key].segments.is_empty() || lies && !wait, wait) {
                    (true, false) => Reply::Nothing,
                    (true, true) => {
                        self.keys[key].waiters.push_back((client, number, leased));
                        return None;
                    }
                    _ => self.give(now, key, leased),
                }
            }
            Ask::Peek(key) => {
                let old = self.at_times(Bug::StalePeek, 3);
                let q = &mut self.keys[key];
                let head = q.segments.front().copied();
                let shown = if old { q.peeked.or(head) } else { head };
                q.peeked = head.or(q.peeked);
                shown.map_or(Reply::Nothing, |s| Reply::Segment { value: s.value, index: s.index, lease: None })
            }
            Ask::Commit(lease, key, value) => match self.leases.remove(&lease) {
                Some(_) if self.at_times(Bug::OutputsLost, 3) => Reply::Stored(0),
                Some(_) => Reply::Stored(self.put(now, key, value)),
                None if self.has(Bug::NoFence) => Reply::Stored(self.put(now, key, value)),
                None => {
                    if self.has(Bug::OutputsAnyway) {
                        self.put(now, key, value);
                    }
                    Reply::LeaseOver
                }
            },
            Ask::Back(lease) => {
                let held = self.leases.remove(&lease);
                held.into_iter().for_each(|(key, s, _)| self.put_back(key, s));
                Reply::Done
            }
            Ask::Leave(earlier) => {
                if !self.has(Bug::LeaveIgnored) {
                    self.keys.iter_mut().for_each(|q| q.waiters.retain(|w| (w.0, w.1) != (client, earlier)));
                    self.left.push((client, earlier));
                }
                match self.calls.get(&(client, earlier)) {
                    Some(Some(r)) => *r,
                    _ => Reply::Nothing,
                }
            }
        })
    }
    fn put(&mut self, now: Ms, key: usize, value: u64) -> u64 {
        let again = self.has(Bug::IndexAgain);
        let q = &mut self.keys[key];
        if again && q.segments.is_empty() {
            q.last = 0;
        }
        q.last += 1;
        q.segments.push_back(Segment { value, index: q.last, at: now });
        q.last
    }
    fn put_back(&mut self, key: usize, s: Segment) {
        let last = self.has(Bug::BackAtTheEnd);
        let q = &mut self.keys[key].segments;
        let place = if last { q.len() } else { q.partition_point(|x| x.index < s.index) };
        q.insert(place, s);
    }
    fn give(&mut self, now: Ms, key: usize, leased: bool) -> Reply {
        let keeps = self.at_times(Bug::TakeLeavesIt, 7);
        let backwards = self.at_times(Bug::LastInFirstOut, 4);
        let q = &mut self.keys[key].segments;
        let at = if backwards { q.len() - 1 } else { 0 };
        let s = if keeps { q[at] } else { q.remove(at).unwrap() };
        let lease = leased.then(|| {
            self.last_lease += 1;
            let long = if self.has(Bug::LeaseTooLong) { LEASE * 10 } else { LEASE };
            self.leases.insert(self.last_lease, (key, s, now + long));
            self.last_lease
        });
        Reply::Segment { value: s.value, index: s.index, lease }
    }
    /// Gives what is there to who waits.
    fn serve(&mut self, now: Ms, out: &mut Answers) {
        for key in 0..self.keys.len() {
            while !self.keys[key].segments.is_empty() {
                let sleepy = self.has(Bug::SleepyWaiter) && self.keys[key].segments.len() < 3;
                let Some((client, number, leased)) = self.keys[key].waiters.pop_front().filter(|_| !sleepy) else { break };
                let reply = self.give(now, key, leased);
                self.calls.insert((client, number), Some(reply));
                if !self.at_times(Bug::LostWaiter, 2) {
                    out.push((client, number, reply));
                }
            }
        }
    }
    /// Leases that are over.
    pub fn tick(&mut self, now: Ms, out: &mut Answers) {
        let over: Vec<u64> = self.leases.iter().filter(|(_, l)| l.2 <= now).map(|x| *x.0).collect();
        for l in over {
            let (key, s, _) = self.leases.remove(&l).unwrap();
            self.put_back(key, s);
        }
        self.serve(now, out);
    }
    /// Its engine ends, and begins again from what was stored. Calls that waited are made anew by whoever made them.
    pub fn crash(&mut self, now: Ms) {
        self.keys.iter_mut().for_each(|q| q.waiters.clear());
        self.calls.retain(|_, r| r.is_some());
        if self.has(Bug::AcknowledgedBeforeStored) {
            self.keys.iter_mut().for_each(|q| q.segments.retain(|s| s.at + 40 < now));
        }
    }
    /// What is left, in its order.
    pub fn drain(&mut self, key: usize) -> Option<(u64, u64)> {
        self.keys[key].segments.pop_front().map(|s| (s.value, s.index))
    }
}
