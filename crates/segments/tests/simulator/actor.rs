//! Who uses the cluster.

use crate::book::{FIFO, KEYS, LIMITED, LOG, STATE};
use crate::plan::{ACTIVE, LEASE, MS, Mix};
use crate::world::World;
use kumi_chance::Chance;
use kumi_segments::{Ask, Back, Call, Done, Failure, Kind, Put, Refusal, Store};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    Put {
        key: usize,
        wait: bool,
        mortal: bool,
        later: bool,
    },
    /// Takes; `patience` in milliseconds.
    Take {
        key: usize,
        patience: Option<u64>,
        waits: bool,
    },
    /// Takes under a lease of so many milliseconds, and commits outputs.
    Work {
        key: usize,
        long: u64,
    },
    /// Takes from two keys in one step.
    Two {
        keys: [usize; 2],
        hold: bool,
    },
    /// Looks for the next one again and again.
    Peek {
        key: usize,
    },
    Update {
        key: usize,
    },
}

impl Job {
    pub fn any(mix: Mix, c: &mut Chance) -> Job {
        if mix == Mix::Late {
            return match c.below(3) {
                0 => Job::Put { key: 0, wait: false, mortal: false, later: false },
                1 => Job::Take { key: 0, patience: None, waits: true },
                _ => Job::Work { key: 0, long: 1000 },
            };
        }
        let queue = c.pick(&[0, 0, 1, 2, 3, LIMITED]);
        match c.below(14) {
            0..=2 => Job::Put { key: queue, wait: c.percent(50), mortal: c.percent(15), later: c.percent(15) },
            3 => Job::Put { key: LIMITED, wait: true, mortal: false, later: false },
            4 => Job::Put { key: LOG, wait: false, mortal: false, later: false },
            5 | 6 => Job::Take { key: queue, patience: c.pick(&[None, Some(50), Some(400)]), waits: true },
            7 => Job::Take { key: queue, patience: None, waits: false },
            8..=10 => Job::Work { key: queue, long: c.pick(&[300, 1000, 1000]) },
            11 => Job::Two { keys: c.pick(&[[2, 3], [3, 2], [0, 0], [0, LIMITED]]), hold: c.percent(50) },
            12 => Job::Peek { key: c.pick(&[LOG, LOG, STATE]) },
            _ => Job::Update { key: STATE },
        }
    }
}

pub struct Actor {
    job: Job,
    owner: usize,
    chance: Chance,
    rounds: u64,
    op: Option<usize>,
    /// Leases and their values.
    held: Vec<(u64, u64)>,
    /// The last index that a peeker has seen.
    after: Option<u64>,
}

impl Actor {
    pub fn new(job: Job, owner: usize, mut chance: Chance) -> Actor {
        let rounds =
            if matches!(job, Job::Peek { .. }) || matches!(job, Job::Take { key: FIFO, .. }) { 100 } else { chance.between(4, 14) };
        Actor { job, owner, chance, rounds, op: None, held: Vec::new(), after: None }
    }
    pub fn peeks_at_log(&self) -> bool {
        self.job == Job::Peek { key: LOG }
    }
}

fn key(k: usize) -> Vec<u8> {
    KEYS[k].to_vec()
}

impl World {
    /// An actor goes on.
    pub fn step(&mut self, p: usize, a: usize) {
        let Some(actor) = self.procs[p].live.as_mut().and_then(|l| l.actors.get_mut(a)) else { return };
        let owner = actor.owner;
        let mut fenced = false;
        if let Some(op) = actor.op {
            let o = &self.book.ops[op];
            match &o.ended {
                None if !o.left => return,
                Some(Ok(Done::Segments(all))) => {
                    let mut late = 0;
                    for s in all {
                        actor.held.extend(s.lease.map(|l| (l, s.value)));
                        actor.after = actor.after.max(Some(s.index));
                        late = 1;
                    }
                    if !actor.held.is_empty() && late == 1 {
                        // It works.
                        actor.op = None;
                        let most = if actor.chance.percent(35) { 2 * LEASE / MS } else { 150 };
                        let long = actor.chance.below(most);
                        return self.later(p, a, long * MS);
                    }
                }
                Some(Err(Failure::Refused(Refusal::Stale { .. }))) => {
                    actor.after = None;
                }
                Some(Err(Failure::Fenced)) => fenced = true,
                _ => {}
            }
            actor.op = None;
        }
        if !actor.held.is_empty() {
            return self.finish(p, a);
        }
        if self.now >= ACTIVE || actor.rounds == 0 || fenced {
            return;
        }
        actor.rounds -= 1;
        let c = &mut actor.chance;
        let job = actor.job;
        let get = |inputs: &[(usize, Kind, Option<u64>)], lease: Option<u64>, wait: bool| {
            Call::Get(Ask { inputs: inputs.iter().map(|(k, kind, after)| (key(*k), *kind, *after)).collect(), lease, wait })
        };
        let mut impatient = None;
        let (call, patience) = match job {
            Job::Put { key: k, wait, mortal, later } => {
                let ttl = (mortal && c.percent(50)).then(|| c.between(50, 2000) * MS);
                let delay = (later && c.percent(50)).then(|| c.between(1, 1000) * MS);
                let patience = c.pick(&[None, Some(300 * MS), Some(20 * MS)]);
                impatient = (wait && c.percent(10)).then(|| c.below(200) * MS);
                let value = self.book.new_value(k, ttl.is_some(), None);
                let store = Store { key: key(k), update: false, value, owned: false, delay, ttl };
                (Call::Put(Put { store, wait }), patience)
            }
            Job::Update { key: k } => {
                let value = self.book.new_value(k, true, None);
                let store = Store { key: key(k), update: true, value, owned: false, delay: None, ttl: None };
                (Call::Put(Put { store, wait: false }), None)
            }
            Job::Take { key: k, patience, waits } => {
                impatient = (k != FIFO && c.percent(10)).then(|| c.below(300) * MS);
                (get(&[(k, Kind::Take, None)], None, waits), patience.map(|p| p * MS))
            }
            Job::Work { key: k, long } => {
                impatient = c.percent(5).then(|| c.below(300) * MS);
                let after = if c.percent(20) { actor.after } else { None };
                (get(&[(k, Kind::Take, after)], Some(long * MS), true), None)
            }
            Job::Two { keys, hold } => {
                let patience = c.pick(&[None, Some(500 * MS)]);
                (get(&[(keys[0], Kind::Take, None), (keys[1], Kind::Take, None)], hold.then_some(LEASE), true), patience)
            }
            Job::Peek { key: k } => {
                let patience = c.pick(&[None, Some(200 * MS)]);
                (get(&[(k, Kind::Peek, Some(actor.after.unwrap_or(0)))], None, true), patience)
            }
        };
        self.go(p, a, owner, call, Vec::new(), patience, impatient);
    }
    fn go(&mut self, p: usize, a: usize, owner: usize, call: Call<u64>, inputs: Vec<u64>, patience: Option<u64>, impatient: Option<u64>) {
        let op = self.issue(p, a, owner, call, inputs, patience);
        self.goes_on_after(p, a, op);
        if let Some(long) = impatient {
            self.lose_patience(op, long);
        }
    }
    fn goes_on_after(&mut self, p: usize, a: usize, op: usize) {
        if let Some(actor) = self.procs[p].live.as_mut().and_then(|l| l.actors.get_mut(a)) {
            actor.op = Some(op);
        }
    }
    /// A worker is done with what it holds.
    fn finish(&mut self, p: usize, a: usize) {
        let Some(actor) = self.procs[p].live.as_mut().and_then(|l| l.actors.get_mut(a)) else { return };
        let held = std::mem::take(&mut actor.held);
        let (owner, how) = (actor.owner, actor.chance.below(20));
        let outputs = actor.chance.between(1, 2);
        let leases: Vec<u64> = held.iter().map(|h| h.0).collect();
        let values: Vec<u64> = held.iter().map(|h| h.1).collect();
        let give_back = |l: u64| Call::GiveBack { lease: l, left: Back::Same };
        if how < 3 {
            // It gives back; now and then it commits nevertheless, which must be refused.
            for l in &leases[1..] {
                self.issue(p, a, owner, give_back(*l), Vec::new(), None);
            }
            if how == 0 {
                self.issue(p, a, owner, give_back(leases[0]), Vec::new(), None);
            } else {
                return self.go(p, a, owner, give_back(leases[0]), Vec::new(), None, None);
            }
        }
        for _ in 0..if how == 19 { 2 } else { 1 } {
            let mut stores = Vec::new();
            for _ in 0..outputs {
                let value = self.book.new_value(1, false, None);
                stores.push(Store { key: key(1), update: false, value, owned: false, delay: None, ttl: None });
            }
            let commit = Call::Commit { leases: leases.clone(), outputs: stores };
            let op = self.issue(p, a, owner, commit, values.clone(), None);
            self.book.ops[op].honest = (3..19).contains(&how);
            self.goes_on_after(p, a, op);
        }
    }
}
