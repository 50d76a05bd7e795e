//! Which task is next, and its time slice: ready tasks, then what events make ready.
//!
//! A worker's tasks are *fresh*, started or woken, or *spent*: they had a whole slice, or gave way without a wait. The fresh
//! ones come first and share one slice, so that threads that hand work to and fro, of which each runs for a moment only, need
//! not wait for those that compute. When that slice is over, whoever runs then is spent, and a spent task has a slice of its own.
//! A fresh task that comes meanwhile cuts a spent one's slice short, which goes on with the rest of it afterwards; but not
//! when the fresh ones had a whole slice just before. So neither can keep the other from running.
//!
//! **Invariant.** A worker in `run_next` runs no task, so it may stop, collect, steal and sleep. It sleeps only when nothing
//! is ready, no event has come and nothing is left to sweep. While a spent task waits, no more than one slice of fresh ones
//! passes before it.

use super::{TICK_NS, now_ns};
use crate::Cx;
use crate::tasks::outcome::Outcome;
use crate::tasks::task::{Ticket, Wait};
use kumi_record::By;
use kumi_sched::{Event, Rank};
use std::sync::atomic::Ordering::*;

/// Slice length of a thread while others are ready.
const SLICE_NS: u64 = 10_000_000;

/// The slice that a worker's tasks have now.
pub(crate) struct Slice {
    /// When it is over; 0: it has just begun, the next safepoint that looks around says.
    ends: u64,
    /// How long it is from its beginning.
    length: u64,
    /// What the running task was when it was taken from the queue.
    rank: Rank,
    /// The fresh tasks had their slice while a spent one waited, which comes next.
    owed: bool,
    /// The running spent task was owed its slice, and nobody cuts it short.
    assured: bool,
    /// The spent task whose slice was cut short, and what is left of it.
    cut: (u64, u64),
    /// The task that the running one woke first: it is queued at the front. 0: none.
    pub(super) front: u64,
    /// Looks at the clock since the running task was taken up.
    looks: u32,
    /// Calls of `Thread.pass`.
    passes: u32,
}

/// Calls of `Thread.pass` between two looks at what has come from outside: a microsecond or so of a thread that does
/// nothing else. The clock's ticks look too.
const PASSES_PER_LOOK: u32 = 16;
/// As many in vain until the processor is offered to other processes, some ten microseconds.
const PASSES_PER_YIELD: u32 = 512;

impl Default for Slice {
    fn default() -> Self {
        Slice { ends: 0, length: SLICE_NS, rank: Rank::Fresh, owed: false, assured: false, cut: (0, 0), front: 0, looks: 0, passes: 0 }
    }
}

/// What a look at the clock says of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Look {
    GoesOn,
    /// It lasts long enough by now that a fresh task may cut it short.
    MayCut,
    Over,
}

impl Slice {
    /// A task of that rank is taken up.
    pub(super) fn begin(&mut self, task: u64, rank: Rank) {
        self.front = 0;
        self.looks = 0;
        let goes_on = rank == Rank::Fresh && self.rank == Rank::Fresh && !self.owed;
        self.assured = std::mem::take(&mut self.owed) && rank == Rank::Spent;
        self.rank = rank;
        if !goes_on {
            self.ends = 0;
            self.length = SLICE_NS;
        }
        if rank == Rank::Spent {
            let (whose, left) = std::mem::take(&mut self.cut);
            if whose == task {
                self.length = left;
            }
        }
    }
    /// Looks at the clock. The first look comes a tick after the beginning at most.
    pub(super) fn look(&mut self, now: u64) -> Look {
        self.looks = self.looks.saturating_add(1);
        if self.ends == 0 {
            self.ends = now + self.length.saturating_sub(TICK_NS);
            return Look::GoesOn;
        }
        if now >= self.ends {
            return Look::Over;
        }
        let looked_first = self.ends.saturating_sub(self.length.saturating_sub(TICK_NS));
        let cuttable = self.rank == Rank::Spent && !self.assured && now >= looked_first + TICK_NS / 2;
        if cuttable { Look::MayCut } else { Look::GoesOn }
    }
    /// It is over. `spent_waits`: a spent task is queued.
    pub(super) fn end(&mut self, now: u64, spent_waits: bool) {
        self.owed = self.rank == Rank::Fresh && spent_waits;
        self.assured = false;
        self.ends = now + SLICE_NS;
        self.length = SLICE_NS + TICK_NS;
    }
    /// The running task goes on alone after its slice: it is spent from now on.
    pub(super) fn go_on(&mut self) {
        self.rank = Rank::Spent;
    }
    /// Has the running task computed for a tick? Then it does not wait for what it makes ready, as a rule.
    pub(super) fn computes(&self) -> bool {
        self.looks >= 2
    }
    /// A fresh task cuts the running one's slice short.
    pub(super) fn cut(&mut self, now: u64, task: u64) {
        self.cut = (task, self.ends.saturating_sub(now));
    }
    /// The worker has nothing to run: what comes next has a slice of its own.
    fn rest(&mut self) {
        self.ends = 0;
        self.length = SLICE_NS;
        self.owed = false;
    }
}

/// Blocks that a worker sweeps before it looks again whether there is something to run: a tenth of a millisecond or so.
const IDLE_SWEEP: usize = 16;

impl Cx {
    /// The running task would give its slice away: is anybody ready for it? Threads pass while they look whether something
    /// has come: the clock and the system are asked now and then.
    pub fn may_pass(&mut self) -> bool {
        self.slice.passes = self.slice.passes.wrapping_add(1);
        if self.slice.passes.is_multiple_of(PASSES_PER_LOOK) {
            self.take_events();
        }
        let ready = self.sched().has_ready(self.worker);
        if !ready && self.slice.passes.is_multiple_of(PASSES_PER_YIELD) {
            // Whom it waits for may be a worker to whom the system gives no processor.
            std::thread::yield_now();
        }
        ready
    }
    /// Finds a task that may run and goes on with it; sleeps while there is none.
    pub(crate) fn run_next(&mut self) -> Outcome {
        let mut swept = false;
        loop {
            if self.stop.is_asked() {
                self.stop_here();
                if self.is_called_off() {
                    return Outcome::Done;
                }
            }
            let first = self.whose_turn();
            if let Some((id, rank)) = self.sched().pop_ranked(self.worker, first) {
                if let Some(f) = self.run_task(id, rank) {
                    return f;
                }
                continue;
            }
            if self.take_events() {
                continue;
            }
            if self.worker == 0 {
                if let Some(c) = self.signal_hook.and_then(|h| h(self)) {
                    self.signal_wakes_main(c);
                    continue;
                }
            }
            if self.is_stuck() {
                self.deadlock();
                continue;
            }
            if self.heap.wants_gc() || self.heap.shared().slice_is_due() {
                self.collect_garbage();
                continue;
            }
            // What waits to be swept would stay until this worker allocates again.
            if self.heap.sweep_some(IDLE_SWEEP) {
                swept = true;
                continue;
            }
            if std::mem::take(&mut swept) {
                let bytes = self.heap.shared().stats.take_released();
                self.freed_idle(bytes as usize);
            }
            if self.give_back_idle() {
                continue;
            }
            self.wake_for_slice();
            self.slice.rest();
            self.go_idle();
        }
    }
    /// Which rank comes next.
    fn whose_turn(&mut self) -> Rank {
        // Fresh tasks that run for a moment each may pass no safepoint that looks at the clock.
        if self.slice.rank == Rank::Fresh && !self.slice.owed && self.heap.poll.load(Relaxed) {
            let now = now_ns();
            if self.slice.look(now) == Look::Over {
                let waits = self.sched().has_ready_of(self.worker, Rank::Spent);
                self.slice.end(now, waits);
            }
        }
        if self.slice.owed { Rank::Spent } else { Rank::Fresh }
    }
    /// Makes tasks ready whose events have come. True when there was any.
    pub(crate) fn take_events(&mut self) -> bool {
        // Counting the runtime's references is a write that all workers make to the same place: only when there is a reason.
        let Some(sched) = self.sched_cell().get().filter(|s| s.events_pending(now_ns()) || s.watching() > 0).cloned() else {
            return false;
        };
        let mut list = std::mem::take(&mut self.events);
        sched.poll_events(now_ns(), &mut list);
        let some = !list.is_empty();
        for e in list.drain(..) {
            self.record_ends_by(match e {
                Event::Timer(..) => By::Time,
                Event::Wake(..) => By::Bell,
                Event::Io { .. } | Event::Job(..) => By::Outside,
            });
            match e {
                Event::Timer(0, 0) => self.trim_all(),
                Event::Timer(0, crate::tasks::outside::TIMER) => self.look_outside(),
                Event::Timer(0, crate::tasks::outside::BELL) => self.hear_bell(),
                Event::Timer(0, crate::tasks::outside::SLICE) => self.hear_slice(),
                Event::Timer(0, _) => self.look_armed.swap(false, Relaxed),
                Event::Timer(crate::tasks::limit::LIMIT, id) => self.limit_due(id),
                Event::Timer(task, seq) => self.end_wait(Ticket { task, seq }, false),
                Event::Wake(task, seq) => self.end_wait(Ticket { task, seq }, true),
                Event::Io { task, seq, .. } => self.end_wait(Ticket { task, seq }, true),
                Event::Job(task, seq, v) => self.job_done(Ticket { task, seq }, v),
            };
        }
        self.record_ends_by(By::Actor);
        self.events = list;
        some
    }
    fn job_done(&mut self, w: Ticket, v: Box<dyn std::any::Any + Send>) -> bool {
        {
            let table = self.shared_tasks();
            let _order = table.lock();
            let Some(mut t) = table.get(w.task).filter(|t| t.beside.seq() == w.seq) else { return false };
            if let Wait::Job(gave) = &mut t.wait {
                *gave = Some(v);
            }
        }
        self.end_wait(w, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 1_000_000_000;

    /// A slice of task 1 at whose beginning the clock was looked at.
    fn begun(rank: Rank) -> Slice {
        let mut t = Slice { rank: Rank::Spent, ..Slice::default() };
        t.begin(1, rank);
        assert_eq!(t.look(T), Look::GoesOn);
        t
    }

    #[test]
    fn a_task_computes_that_was_seen_twice_since_it_was_taken_up() {
        let mut t = begun(Rank::Fresh);
        assert!(!t.computes());
        t.look(T + TICK_NS);
        assert!(t.computes());
        t.begin(2, Rank::Fresh);
        assert!(!t.computes());
    }

    #[test]
    fn fresh_tasks_share_one_turn_and_then_owe_one_to_a_spent_task() {
        let mut t = begun(Rank::Fresh);
        for i in 1..8 {
            t.begin(1 + i % 2, Rank::Fresh);
            assert_eq!(t.look(T + i * 1_000_000), Look::GoesOn);
        }
        assert_eq!(t.look(T + SLICE_NS), Look::Over);
        t.end(T + SLICE_NS, true);
        assert!(t.owed);
        t.begin(7, Rank::Spent);
        assert!(!t.owed);
        // The spent task has its whole slice.
        assert_eq!(t.look(T + SLICE_NS), Look::GoesOn);
        assert_eq!(t.look(T + SLICE_NS + 7_900_000), Look::GoesOn);
        assert_eq!(t.look(T + 2 * SLICE_NS), Look::Over);
        t.end(T + 2 * SLICE_NS, true);
        assert!(!t.owed, "fresh tasks are next after a spent one");
    }

    #[test]
    fn a_turn_that_is_cut_short_goes_on_with_what_is_left() {
        let mut t = begun(Rank::Spent);
        assert_eq!(t.look(T + 10_000), Look::GoesOn, "it has hardly begun");
        let mut now = T + TICK_NS;
        let mut cuts = 0;
        while t.look(now) == Look::MayCut {
            t.cut(now, 1);
            cuts += 1;
            t.begin(2, Rank::Fresh);
            assert_eq!(t.look(now + 5_000), Look::GoesOn);
            t.begin(1, Rank::Spent);
            assert_eq!(t.look(now + TICK_NS), Look::GoesOn);
            now += 2 * TICK_NS;
        }
        assert_eq!(t.look(now), Look::Over);
        assert!((1..=5).contains(&cuts), "{cuts}");
        // Another spent task has a whole slice.
        t.begin(3, Rank::Spent);
        assert_eq!((t.look(now), t.look(now + SLICE_NS - 2 * TICK_NS)), (Look::GoesOn, Look::MayCut));
    }

    #[test]
    fn when_nobody_waits_nothing_is_owed() {
        let mut t = begun(Rank::Fresh);
        t.end(T + SLICE_NS, false);
        t.go_on();
        assert!(!t.owed);
        assert_eq!(t.look(T + SLICE_NS + 3 * TICK_NS), Look::MayCut, "who went on alone gives way to the next who is woken");
        t.rest();
        t.begin(2, Rank::Fresh);
        assert_eq!(t.look(T + 9 * SLICE_NS), Look::GoesOn);
    }
}
