//! Timers: a binary heap of (deadline, task, seq), 24 bytes each.
//!
//! A timer names a wait and is never taken back: the owner of the waits ignores one that came too late, and counts it
//! as cancelled when the wait ends early. When more than half are known to be stale, `compact` drops them.
//!
//! Invariant: `next` is the earliest deadline whenever the lock is free. While the sleeper's `waits_until` is not 0,
//! a timer earlier than it has been answered with "ring". Of the timers in the heap no more than `cancelled` less `settled` are
//! stale; it may be fewer, for one that is cancelled when it is due counts too.
//!
//! Locks: `heap`, innermost.

use crate::queue::TaskId;
use crate::sync::{AtomicU64, AtomicUsize, Mutex, Ordering::Relaxed, lock};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

type Entry = Reverse<(u64, TaskId, u64)>;

struct Heap {
    list: BinaryHeap<Entry>,
    /// Until when the worker in the kernel's queue sleeps; 0 when none does.
    waits_until: u64,
    /// So many of those cancelled are not in the heap any more.
    settled: usize,
}

/// All timers of a scheduler.
pub struct Timers {
    heap: Mutex<Heap>,
    next: AtomicU64,
    /// How many were cancelled since the beginning.
    cancelled: AtomicUsize,
}

/// Below this, stale timers are left alone.
const COMPACT_FROM: usize = 256;

impl Timers {
    pub fn new() -> Timers {
        Timers {
            heap: Mutex::new(Heap { list: BinaryHeap::new(), waits_until: 0, settled: 0 }),
            next: AtomicU64::new(u64::MAX),
            cancelled: AtomicUsize::new(0),
        }
    }

    /// Adds a timer. True: a worker sleeps past the deadline and must be woken.
    pub fn insert(&self, deadline: u64, task: TaskId, seq: u64) -> bool {
        let mut h = lock(&self.heap);
        h.list.push(Reverse((deadline, task, seq)));
        self.note(&h);
        let ring = deadline < h.waits_until;
        if ring {
            h.waits_until = deadline;
        }
        ring
    }

    /// Hands at most `limit` due timers to `f`, the earliest first.
    pub fn due(&self, now_ns: u64, limit: usize, mut f: impl FnMut(TaskId, u64)) {
        if self.next.load(Relaxed) > now_ns {
            return;
        }
        let mut h = lock(&self.heap);
        for _ in 0..limit {
            match h.list.peek() {
                Some(&Reverse((deadline, task, seq))) if deadline <= now_ns => {
                    h.list.pop();
                    f(task, seq);
                }
                _ => break,
            }
        }
        if h.list.is_empty() {
            h.settled = self.cancelled.load(Relaxed);
        }
        // A million sleepers that have woken should not hold their heap for ever.
        if h.list.capacity() > 4096 && h.list.len() < h.list.capacity() / 4 {
            let half = h.list.capacity() / 2;
            h.list.shrink_to(half);
        }
        self.note(&h);
    }

    /// The earliest deadline, stale ones included.
    pub fn next(&self) -> Option<u64> {
        Some(self.next.load(Relaxed)).filter(|&d| d != u64::MAX)
    }

    /// The earliest deadline, for one who now sleeps until then: a timer before it will ring.
    pub fn sleep(&self) -> u64 {
        let mut h = lock(&self.heap);
        h.waits_until = h.list.peek().map_or(u64::MAX, |e| e.0.0);
        h.waits_until
    }

    /// The sleeper is awake.
    pub fn awake(&self) {
        lock(&self.heap).waits_until = 0;
    }

    /// One timer more is stale. True: more than half are, and `compact` is worth its time.
    pub fn cancelled(&self) -> bool {
        let n = self.cancelled.fetch_add(1, Relaxed) + 1;
        // Asked rarely enough that the lock does not matter.
        n.is_multiple_of(64) && {
            let h = lock(&self.heap);
            let stale = n.saturating_sub(h.settled);
            stale >= COMPACT_FROM && stale > h.list.len() / 2
        }
    }

    /// Drops the timers whose wait is not on any more.
    pub fn compact(&self, mut live: impl FnMut(TaskId, u64) -> bool) {
        // The owner's look at a wait may take locks of its own, so it works on a copy. A wait that is over stays over.
        // What is cancelled meanwhile may be of a timer that is not in the copy, and is counted on.
        let (copy, counted): (Vec<Entry>, usize) = {
            let h = lock(&self.heap);
            (h.list.iter().copied().collect(), self.cancelled.load(Relaxed))
        };
        let dead: FxHashSet<Entry> = copy.into_iter().filter(|e| !live(e.0.1, e.0.2)).collect();
        let mut h = lock(&self.heap);
        h.list.retain(|e| !dead.contains(e));
        let room = h.list.len() * 2;
        h.list.shrink_to(room);
        h.settled = h.settled.max(counted);
        self.note(&h);
    }

    /// Could all entries but `own` of them be stale?
    pub fn may_be_stale(&self, own: usize) -> bool {
        let h = lock(&self.heap);
        let n = h.list.len();
        n > own && self.cancelled.load(Relaxed).saturating_sub(h.settled) >= n - own
    }

    /// How many entries, stale ones included.
    pub fn len(&self) -> usize {
        lock(&self.heap).list.len()
    }

    fn note(&self, h: &Heap) {
        self.next.store(h.list.peek().map_or(u64::MAX, |e| e.0.0), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_timers_come_in_order() {
        let t = Timers::new();
        for i in 0..10_000u64 {
            let deadline = i.wrapping_mul(7919) % 10_007;
            t.insert(deadline, deadline, i);
        }
        let mut seen = Vec::new();
        for now in (0..=11_000).step_by(100) {
            let from = seen.len();
            t.due(now, usize::MAX, |task, _| seen.push(task));
            assert!(seen[from..].iter().all(|&d| d <= now && d + 100 > now));
            assert!(t.next().is_none_or(|d| d > now));
        }
        assert_eq!(seen.len(), 10_000);
        assert!(seen.is_sorted());
        assert!(t.next().is_none() && t.len() == 0);
    }

    /// A timer that is set and cancelled while others are dropped would keep a deadlock from being seen until it is due.
    #[test]
    fn what_is_cancelled_while_others_are_dropped_is_counted() {
        let t = Timers::new();
        t.insert(50, 1, 1);
        t.cancelled();
        assert!(t.may_be_stale(0));
        t.compact(|task, _| {
            t.insert(100, 2, 1);
            t.cancelled();
            task != 1
        });
        assert_eq!(t.len(), 1);
        assert!(t.may_be_stale(0), "the second one is stale");
        t.compact(|_, _| false);
        assert_eq!((t.len(), t.may_be_stale(0)), (0, false));
        // One too many (its timer was due just then) does no harm.
        t.cancelled();
        t.insert(100, 3, 1);
        assert!(t.may_be_stale(0));
        t.compact(|_, _| true);
        assert!(t.len() == 1 && !t.may_be_stale(0));
        // Nor does it when all others are due meanwhile, or two drop at a time.
        t.cancelled();
        t.compact(|_, _| {
            t.due(200, usize::MAX, |_, _| ());
            t.insert(300, 4, 1);
            t.cancelled();
            t.compact(|task, _| task != 4);
            t.insert(300, 5, 1);
            t.cancelled();
            true
        });
        assert!(t.len() == 1 && t.may_be_stale(0));
    }

    #[test]
    fn a_timer_before_the_sleepers_rings_once() {
        let t = Timers::new();
        assert!(!t.insert(50, 1, 1), "nobody sleeps");
        assert_eq!(t.sleep(), 50);
        assert!(!t.insert(60, 2, 1));
        assert!(t.insert(40, 3, 1));
        assert!(!t.insert(45, 4, 1), "already rung for an earlier one");
        t.awake();
        assert!(!t.insert(1, 5, 1));
        assert_eq!(t.next(), Some(1));
    }

    #[test]
    fn stale_timers_do_not_pile_up() {
        let t = Timers::new();
        let mut most = 0;
        for i in 0..100_000u64 {
            t.insert(1_000_000 + i, 1, i);
            if t.cancelled() {
                t.compact(|_, seq| seq % 1000 == 0);
            }
            most = most.max(t.len());
        }
        assert!(most < 2000, "{most}");
        let mut seen = Vec::new();
        t.due(u64::MAX, usize::MAX, |_, seq| seen.push(seq));
        assert!((0..100).all(|i| seen.contains(&(i * 1000))));
    }

    #[test]
    fn a_batch_is_limited_and_the_rest_stays_due() {
        let t = Timers::new();
        (0..10).for_each(|i| assert!(!t.insert(i, i, 0)));
        let mut n = 0;
        t.due(100, 4, |_, _| n += 1);
        assert_eq!((n, t.next()), (4, Some(4)));
    }
}
