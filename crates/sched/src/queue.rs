//! Ready queues: one per worker, taken from the front by its owner, robbed of half by others.
//!
//! An entry is in exactly one queue, or in the hands of the thief that carries it to its own. The counters beside a
//! queue are written under its lock and read without it: they are hints. Who must know looks under the lock.
//!
//! **Rank.** A queue is two lists: *fresh* tasks, which were started or woken, and *spent* ones, which had the worker for
//! as long as they may, or gave it up without a wait (a feedback queue of two levels). The first fresh one comes first,
//! unless the owner says that the fresh ones have had their turn: then the first spent one does.
//!
//! **Age.** Two tasks that hand work to and fro on one worker leave each entry queued for some hundred nanoseconds;
//! a thief that took one would only tear them apart. So thieves take what has waited for about 20 µs. Entries carry no
//! time (reading a clock costs more than the push): thieves tick a counter at most every 20 µs, entries note its value,
//! and an entry two ticks behind has seen a whole period.
//!
//! Locks: each queue's `entries`; one at a time, innermost.

use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, Mutex, Ordering::Relaxed, kept, lock};
use std::collections::VecDeque;

/// Names a task. The scheduler knows nothing else of it.
pub type TaskId = u64;

/// How long an entry must have waited before another worker takes it.
pub const STEAL_AGE_NS: u64 = 20_000;
/// A queue with so many entries that others may take is robbed whatever their age, if nothing else is found.
pub const CROWD: usize = 4;
/// The most that one theft carries.
const HANDFUL: usize = 256;

/// Which of a queue's lists a task stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rank {
    /// It was started or woken.
    Fresh,
    /// It had its turn, or gave it up.
    Spent,
}

/// Where a task joins a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// In which of the lists.
    pub rank: Rank,
    /// Before the others of its rank, not behind them.
    pub first: bool,
}

#[derive(Clone, Copy)]
struct Entry {
    task: TaskId,
    age: u32,
    pinned: bool,
    rank: Rank,
}

#[derive(Default)]
struct Entries {
    fresh: VecDeque<Entry>,
    spent: VecDeque<Entry>,
    /// How many of both are not pinned.
    open: usize,
}

impl Entries {
    fn list(&mut self, rank: Rank) -> &mut VecDeque<Entry> {
        match rank {
            Rank::Fresh => &mut self.fresh,
            Rank::Spent => &mut self.spent,
        }
    }
    fn len(&self) -> usize {
        self.fresh.len() + self.spent.len()
    }
    fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.fresh.iter().chain(&self.spent)
    }
    /// Takes out the entry at a place among all, the fresh ones first.
    fn remove(&mut self, at: usize) -> Option<Entry> {
        match at.checked_sub(self.fresh.len()) {
            None => self.fresh.remove(at),
            Some(at) => self.spent.remove(at),
        }
    }
}

/// Alone on its cache lines: the owner writes here at every switch.
#[repr(align(128))]
struct Queue {
    entries: Mutex<Entries>,
    len: AtomicUsize,
    fresh: AtomicUsize,
    open: AtomicUsize,
}

/// What a thief may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Steal {
    /// Entries that have waited.
    Aged,
    /// Those first, then any entry of a crowded queue.
    Crowd,
    /// Any entry.
    Any,
}

/// What a look at all queues found for a worker, the best first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Its own queue has an entry, or another has one that has waited.
    Work,
    /// Another's queue is crowded with young entries.
    Crowd,
    /// Others have a few young entries.
    Young,
    /// Nothing.
    Nothing,
}

/// The queues of all workers.
pub struct Queues {
    list: Box<[Queue]>,
    age: AtomicU32,
    ticked_ns: AtomicU64,
    random: Option<AtomicU64>,
}

impl Queues {
    /// One queue for each worker; with a seed, order and theft are random.
    pub fn new(workers: usize, seed: Option<u64>) -> Queues {
        let queue = |_| Queue {
            entries: Mutex::new(Entries::default()),
            len: AtomicUsize::new(0),
            fresh: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        };
        Queues {
            list: (0..workers.max(1)).map(queue).collect(),
            age: AtomicU32::new(0),
            ticked_ns: AtomicU64::new(0),
            random: seed.map(AtomicU64::new),
        }
    }

    /// Whether order and theft are random.
    pub fn stressed(&self) -> bool {
        self.random.is_some()
    }

    /// A random number below `n`; 0 without a seed.
    pub fn random(&self, n: usize) -> usize {
        let Some(r) = &self.random else { return 0 };
        // splitmix64: any state is a good one, so threads may share it without a lock.
        let mut z = r.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }

    /// Lets entries grow older if it is time. Thieves call it.
    pub fn tick(&self, now_ns: u64) {
        let last = self.ticked_ns.load(Relaxed);
        if now_ns.saturating_sub(last) >= STEAL_AGE_NS && self.ticked_ns.compare_exchange(last, now_ns, Relaxed, Relaxed).is_ok() {
            self.age.fetch_add(1, Relaxed);
        }
    }

    /// Adds an entry.
    pub fn push(&self, worker: usize, task: TaskId, pinned: bool, place: Position) {
        let Some(q) = self.list.get(worker) else { return };
        let entry = Entry { task, age: self.age.load(Relaxed), pinned, rank: place.rank };
        let mut e = lock(&q.entries);
        let list = e.list(place.rank);
        if place.first {
            list.push_front(entry);
        } else {
            list.push_back(entry);
        }
        e.open += usize::from(!pinned);
        q.note(&e);
    }

    /// Takes the first entry of the worker's own queue, of rank `first` if there is any; with a seed, one of the first four.
    pub fn take(&self, worker: usize, first: Rank) -> Option<(TaskId, Rank)> {
        let q = self.list.get(worker)?;
        if q.len.load(Relaxed) == 0 {
            // An owner that has just pushed sees its own store; another's push comes with a wake.
            return None;
        }
        let mut e = lock(&q.entries);
        let entry = if self.stressed() {
            let n = e.len().min(4);
            e.remove(self.random(n))
        } else {
            let other = if first == Rank::Fresh { Rank::Spent } else { Rank::Fresh };
            let rank = if e.list(first).is_empty() { other } else { first };
            let list = e.list(rank);
            let (n, room) = (list.len(), list.capacity());
            if room > 4096 && n < room / 4 {
                // A million threads that were once ready at a time are no reason to hold room for them.
                list.shrink_to(room / 2);
            }
            list.pop_front()
        }?;
        e.open -= usize::from(!entry.pinned);
        q.note(&e);
        Some((entry.task, entry.rank))
    }

    /// Takes half of what another worker's queue has to give: the first of it is the answer, the rest goes to the
    /// thief's own queue. Also says whether anything is left for others to take.
    pub fn steal(&self, thief: usize, how: Steal) -> Option<(TaskId, Rank, bool)> {
        let n = self.list.len();
        let start = if self.stressed() { self.random(n) } else { thief + 1 };
        for crowd in [false, true] {
            if crowd && how != Steal::Crowd {
                break;
            }
            for i in 0..n {
                let victim = (start + i) % n;
                if victim == thief {
                    continue;
                }
                let q = &self.list[victim];
                let open = q.open.load(Relaxed);
                if open == 0 || (crowd && open < CROWD) {
                    continue;
                }
                let taken = self.rob(q, crowd || how == Steal::Any);
                let Some((&first, rest)) = taken.split_first() else { continue };
                if let Some(own) = self.list.get(thief).filter(|_| !rest.is_empty()) {
                    let mut e = lock(&own.entries);
                    for x in rest {
                        e.list(x.rank).push_back(*x);
                    }
                    e.open += rest.len();
                    own.note(&e);
                }
                return Some((first.task, first.rank, !rest.is_empty() || q.open.load(Relaxed) > 0));
            }
        }
        None
    }

    /// Half (rounded up) of the entries that may go: fresh ones first, the older of a rank first.
    fn rob(&self, q: &Queue, any_age: bool) -> Vec<Entry> {
        let age = self.age.load(Relaxed);
        let mut e = lock(&q.entries);
        let may_go = |x: &Entry| !x.pinned && (any_age || x.aged(age));
        let want = if e.open == 0 { 0 } else { e.iter().filter(|x| may_go(x)).count().div_ceil(2).min(HANDFUL) };
        let mut taken = Vec::with_capacity(want);
        for rank in [Rank::Fresh, Rank::Spent] {
            let (list, mut i) = (e.list(rank), 0);
            while taken.len() < want {
                match list.get(i) {
                    // The entries passed over are few and at the front, so taking out the i-th moves few.
                    Some(x) if may_go(x) => taken.extend(list.remove(i)),
                    Some(_) => i += 1,
                    None => break,
                }
            }
        }
        e.open -= taken.len();
        if kept("who robs notes what is left") {
            q.note(&e);
        }
        taken
    }

    /// Looks under the locks. After a worker has announced that it sleeps, this look and a pusher's later look at the
    /// announcement can't both miss: whichever takes the queue's lock second sees what the first did.
    pub fn look(&self, worker: usize) -> Look {
        let age = self.age.load(Relaxed);
        if !kept("a look is under the locks") {
            return if self.total() > 0 { Look::Work } else { Look::Nothing };
        }
        let mut best = Look::Nothing;
        for (i, q) in self.list.iter().enumerate() {
            let e = lock(&q.entries);
            if i == worker {
                if e.len() > 0 {
                    return Look::Work;
                }
            } else if e.open > 0 {
                if self.stressed() || e.iter().take(HANDFUL).any(|x| !x.pinned && x.aged(age)) {
                    return Look::Work;
                }
                if e.open >= CROWD {
                    best = Look::Crowd;
                } else if best == Look::Nothing {
                    best = Look::Young;
                }
            }
        }
        best
    }

    /// Whether any queue but the worker's own has something to take, under the locks.
    pub fn any_open(&self) -> bool {
        self.list.iter().any(|q| lock(&q.entries).open > 0)
    }

    /// A hint of the same: whether another's queue has something, and whether it is worth a closer look.
    pub fn hint(&self, worker: usize) -> bool {
        self.list.iter().enumerate().any(|(i, q)| i != worker && q.open.load(Relaxed) > 0)
    }

    /// How many entries wait in a worker's queue. A hint.
    pub fn len(&self, worker: usize) -> usize {
        self.list.get(worker).map_or(0, |q| q.len.load(Relaxed))
    }

    /// How many of them are of a rank. A hint.
    pub fn len_of(&self, worker: usize, rank: Rank) -> usize {
        self.list.get(worker).map_or(0, |q| {
            let fresh = q.fresh.load(Relaxed);
            if rank == Rank::Fresh { fresh } else { q.len.load(Relaxed).saturating_sub(fresh) }
        })
    }

    /// How many of them others may take. A hint.
    pub fn open(&self, worker: usize) -> usize {
        self.list.get(worker).map_or(0, |q| q.open.load(Relaxed))
    }

    /// How many entries wait in all queues. A hint.
    pub fn total(&self) -> usize {
        self.list.iter().map(|q| q.len.load(Relaxed)).sum()
    }

    /// The same, under the locks.
    pub fn all_empty(&self) -> bool {
        self.list.iter().all(|q| lock(&q.entries).len() == 0)
    }

    /// Drops every entry of a task. One that a thief carries at this moment is missed.
    pub fn remove(&self, task: TaskId) {
        for q in &self.list {
            let mut e = lock(&q.entries);
            e.fresh.retain(|x| x.task != task);
            e.spent.retain(|x| x.task != task);
            e.open = e.iter().filter(|x| !x.pinned).count();
            q.note(&e);
        }
    }
}

impl Queue {
    /// Publishes the counters; the lock is held.
    fn note(&self, e: &Entries) {
        self.len.store(e.len(), Relaxed);
        self.fresh.store(e.fresh.len(), Relaxed);
        self.open.store(e.open, Relaxed);
    }
}

impl Entry {
    fn aged(&self, age: u32) -> bool {
        // Wrapping: after 2^32 ticks (a day of thieves that never rest) a young entry may pass for an old one.
        age.wrapping_sub(self.age) >= 2
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Rank::*;
    use super::*;

    const BACK: Position = Position { rank: Fresh, first: false };
    const FRONT: Position = Position { rank: Fresh, first: true };
    const SPENT: Position = Position { rank: Spent, first: false };
    const SPENT_FIRST: Position = Position { rank: Spent, first: true };

    /// Queues of so many workers, with entries (pinned or not) in the first one's.
    fn filled(workers: usize, entries: &[(TaskId, bool, Position)]) -> Queues {
        let q = Queues::new(workers, None);
        entries.iter().for_each(|&(task, pinned, place)| q.push(0, task, pinned, place));
        q
    }

    fn take(q: &Queues, worker: usize) -> Option<TaskId> {
        q.take(worker, Fresh).map(|x| x.0)
    }

    #[test]
    fn own_queue_is_first_in_first_out_and_front_goes_first() {
        let q = filled(1, &[(1, false, BACK), (2, true, BACK), (3, false, FRONT)]);
        assert_eq!((q.len(0), q.open(0)), (3, 2));
        assert_eq!([take(&q, 0), take(&q, 0), take(&q, 0), take(&q, 0)], [Some(3), Some(1), Some(2), None]);
        assert_eq!((q.len(0), q.open(0)), (0, 0));
    }

    #[test]
    fn fresh_entries_come_before_spent_ones_unless_they_have_had_their_turn() {
        let q = filled(1, &[(1, false, SPENT), (2, false, SPENT), (3, true, BACK), (4, false, BACK), (5, false, SPENT_FIRST)]);
        assert_eq!((q.len(0), q.len_of(0, Fresh), q.len_of(0, Spent), q.open(0)), (5, 2, 3, 4));
        assert_eq!(q.take(0, Fresh), Some((3, Fresh)));
        assert_eq!(q.take(0, Spent), Some((5, Spent)));
        assert_eq!([q.take(0, Fresh), q.take(0, Fresh)], [Some((4, Fresh)), Some((1, Spent))]);
        q.push(0, 6, false, BACK);
        assert_eq!([q.take(0, Spent), q.take(0, Spent), q.take(0, Spent)], [Some((2, Spent)), Some((6, Fresh)), None]);
    }

    #[test]
    fn a_thief_takes_fresh_entries_first_and_they_keep_their_rank() {
        let q = filled(2, &[(1, false, SPENT), (2, false, SPENT), (3, false, BACK), (4, false, SPENT)]);
        assert_eq!(q.steal(1, Steal::Any), Some((3, Fresh, true)));
        assert_eq!([q.take(1, Fresh), q.take(0, Fresh)], [Some((1, Spent)), Some((2, Spent))]);
        q.remove(4);
        assert!(q.all_empty());
    }

    #[test]
    fn a_thief_takes_the_older_half_and_no_pinned_entry() {
        let q = Queues::new(2, None);
        for t in 0..10 {
            q.push(0, t, t % 5 == 0, BACK);
        }
        assert_eq!(q.steal(1, Steal::Aged), None, "all are young");
        q.tick(STEAL_AGE_NS);
        q.tick(STEAL_AGE_NS + 1);
        assert_eq!(q.look(1), Look::Crowd, "one tick is not a whole period");
        q.tick(2 * STEAL_AGE_NS);
        assert_eq!(q.look(1), Look::Work);
        assert_eq!(q.steal(1, Steal::Aged), Some((1, Fresh, true)));
        assert_eq!([take(&q, 1), take(&q, 1), take(&q, 1), take(&q, 1)], [Some(2), Some(3), Some(4), None]);
        let rest: Vec<_> = std::iter::from_fn(|| take(&q, 0)).collect();
        assert_eq!(rest, [0, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn young_entries_go_only_from_a_crowd() {
        let q = Queues::new(2, None);
        q.push(0, 1, false, BACK);
        assert_eq!(q.look(1), Look::Young);
        assert_eq!(q.steal(1, Steal::Crowd), None);
        assert_eq!(q.steal(1, Steal::Any), Some((1, Fresh, false)));
        (0..CROWD as u64).for_each(|t| q.push(0, t, false, BACK));
        assert_eq!(q.steal(1, Steal::Crowd), Some((0, Fresh, true)));
    }

    #[test]
    fn removed_entries_are_gone_and_a_missing_worker_is_harmless() {
        let q = Queues::new(2, Some(7));
        q.push(0, 1, false, BACK);
        q.push(1, 1, true, BACK);
        q.push(9, 1, true, BACK);
        q.remove(1);
        assert!(q.all_empty() && q.total() == 0 && take(&q, 0).is_none() && take(&q, 9).is_none());
        assert_eq!(q.look(0), Look::Nothing);
    }
}
