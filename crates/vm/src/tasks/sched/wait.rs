//! The near end of a wait: a native that parks, and what its task is left with.
//!
//! **Invariant.** The order is: name the wait, publish, make it known under the table's lock, then arm timers, descriptors
//! and jobs, which may end it at once. After it is known the task is another worker's to run.

use super::now_ns;
use crate::Cx;
use crate::doors::*;
use crate::tasks::frame::ff;
use crate::tasks::outcome::Onward;
use crate::tasks::outcome::Outcome;
use crate::tasks::task::{Next, Ticket, Wait, Watched};
use kumi_heap::*;
use kumi_sched::{Position, Rank, Watch};

impl Cx {
    /// Names the wait that the running native is about to begin.
    pub fn ticket(&mut self) -> Ticket {
        self.pending.ticketed = true;
        let order = self.tasks.lock();
        Ticket { task: self.task.id, seq: self.task.beside.name_wait(&order) }
    }
    /// Parks the running native until woken by its ticket or until a monotonic time (`u64::MAX`: none);
    /// it is then called again from its start.
    pub fn park(&mut self, deadline: u64) -> Exit {
        self.pending.deadline = deadline;
        Exit::Park
    }
    /// A native waits: it is called again when the task is woken.
    pub(crate) fn suspend_with(&mut self, x: Exit, again: Call, dst: usize, flags: u64) -> Outcome {
        if x == Exit::Again && self.detour.is_waiting() {
            self.pending.call = Some(again);
            let goes_on = self.work_detached();
            return match self.pending.call.take() {
                Some(again) if goes_on && self.is_called_away_between() => {
                    self.take_events();
                    self.pending.deadline = 0;
                    self.park_state(dst, flags);
                    self.task.next = Next::call(again, dst, flags);
                    self.wait_and_run()
                }
                Some(again) if goes_on => self.then(Onward::Call(Box::new((again, dst, flags)))),
                _ => self.take_interrupt(false),
            };
        }
        if x == Exit::Again {
            // Whoever is ready comes first, whose time has come too, and signal handlers run.
            self.take_events();
            self.pending.deadline = 0;
        }
        if let Some((fd, events, timeout)) = self.hooked_io() {
            let Target::Method(m) = again.target else { return self.do_call(again, dst, flags) };
            let args = self.array(&again.args);
            let x = self.call_helper("hooked_io", &[fd, events, timeout, Value::fix(m as i64), again.recv, args, again.block]);
            debug_assert!(x == Exit::Call);
            return match self.pending.call.take() {
                Some(c) => self.do_call(c, dst, flags),
                None => Outcome::Go,
            };
        }
        self.park_state(dst, flags);
        self.task.next = Next::call(again, dst, flags);
        self.wait_and_run()
    }
    /// As above for an instruction of `words` words that is executed again: `pc` stands before it.
    pub(crate) fn suspend_here(&mut self, x: Exit, words: u8) -> Outcome {
        if x == Exit::Again && self.detour.is_waiting() {
            if self.work_detached() {
                return if self.is_called_away_between() { self.safepoint() } else { Outcome::Go };
            }
            // It is raised by the instruction that was at work.
            self.pc = self.pc.wrapping_add(words as usize);
            return self.take_interrupt(false);
        }
        if x == Exit::Again {
            return self.safepoint();
        }
        if let Some((fd, events, timeout)) = self.hooked_io() {
            let x = self.call_helper("hooked_io_wait", &[fd, events, timeout]);
            return self.leaf_exit_drop(x);
        }
        self.park_state(0, ff::DISCARD);
        self.task.next = Next::Instruction(words);
        self.wait_and_run()
    }
    /// A wait for descriptors that goes to a fiber scheduler: descriptor, events, seconds; of several lists of them to
    /// read from, to write to, and when the time is over.
    fn hooked_io(&mut self) -> Option<(Value, Value, Value)> {
        if !self.hooked() || self.pending.io.is_empty() {
            return None;
        }
        let io = std::mem::take(&mut self.pending.io);
        self.pending.ticketed = false;
        let deadline = std::mem::replace(&mut self.pending.deadline, u64::MAX);
        let &[Watch { fd, read, write, .. }] = &io[..] else {
            let of = |which: fn(&&Watch) -> bool| io.iter().filter(which).map(|w| Value::fix(w.fd as i64)).collect::<Vec<_>>();
            let (reads, writes) = (self.array_vec(of(|w| w.read)), self.array_vec(of(|w| w.write)));
            let deadline = if deadline == u64::MAX { Value::NIL } else { self.uint(deadline) };
            self.task.wait = Wait::Nothing;
            return Some((reads, writes, deadline));
        };
        let timeout = match deadline {
            u64::MAX => Value::NIL,
            d => self.float(d.saturating_sub(now_ns()) as f64 / 1e9),
        };
        self.task.wait = Wait::Nothing;
        Some((Value::fix(fd as i64), Value::fix(read as i64 | (write as i64) << 2), timeout))
    }
    /// The running task parks with what `pending` says; something else runs.
    fn wait_and_run(&mut self) -> Outcome {
        if let Some(work) = self.pending.aside.take() {
            self.start_aside(work);
        }
        let named = std::mem::take(&mut self.pending.ticketed);
        if !named {
            self.ticket();
            self.pending.ticketed = false;
        }
        let deadline = std::mem::replace(&mut self.pending.deadline, u64::MAX);
        let io = std::mem::take(&mut self.pending.io);
        let job = self.pending.job.take();
        let forever = std::mem::take(&mut self.pending.forever);
        self.note_awaits();
        self.publish_stacks();
        let t = self.task;
        let (id, pinned) = (t.id, t.pinned);
        let seq = t.beside.seq();
        t.beside.describe_wait(deadline != u64::MAX, forever);
        if !io.is_empty() && (named || io.len() > 1 || deadline != u64::MAX) {
            // The wait may end while a descriptor is still watched.
            self.task.watched = Some(Box::new(Watched { seq, fds: io.iter().map(|w| w.fd).collect() }));
        }
        if deadline == 0 && io.is_empty() && job.is_none() {
            // Only gives way, to all that are ready; or it has to move to worker 0.
            self.task.gave_way = true;
            let dropped = self.task.attempts > 0;
            self.leave_task();
            if pinned && self.worker != 0 {
                self.enqueue(id, pinned);
            } else {
                let (sched, w) = (self.sched(), self.worker);
                let crowd = sched.has_ready(w);
                sched.push_at(w, id, pinned, Position { rank: Rank::Spent, first: false });
                if crowd {
                    sched.nudge(w);
                }
            }
            if dropped && self.heap.wants_gc() {
                // What an attempt made goes before the next one begins: no safepoint lies between them.
                self.collect_garbage();
            }
            return self.then(Onward::Run);
        }
        {
            let order = self.tasks.lock();
            let interrupted = self.has_due_interrupt(true);
            if interrupted && !t.beside.is_woken() {
                // It does not wait: who has its ticket finds that wait over, and wakes another.
                self.tasks.end_wait(t, false, &order);
            }
            if interrupted || !self.tasks.begin_wait(t, &order) {
                // What it wants to wait for has come already.
                drop(order);
                self.record_needs_no_wait(t);
                return self.then(Onward::Resume);
            }
        }
        self.record_waits(t, seq, named);
        // From here on another worker may run it.
        self.leave_task();
        let sched = self.sched();
        if deadline != u64::MAX {
            sched.timer(deadline, id, seq);
        }
        if !io.is_empty() {
            let wait = Ticket { task: id, seq };
            if io.iter().any(|&w| self.sched().watch(w, id, seq).is_err()) {
                // The native finds out by itself what is wrong with the descriptor.
                self.wake(wait);
            }
            if !self.waits(wait) {
                // It was over before all were watched: whoever ran the task may have looked before the last of them.
                io.iter().for_each(|w| self.sched().unwatch(w.fd, id, seq));
            }
        }
        if let Some(job) = job {
            self.sched().submit(id, seq, job);
        }
        self.then(Onward::Run)
    }
}
