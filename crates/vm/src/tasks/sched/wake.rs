//! The far end of a wait: whoever ends it, by its number.
//!
//! **Invariant.** A wait ends once: its number is raised under the task table's lock by the first who names it, and all
//! others are told that they came too late. Whoever ended it queues the task, outside the lock.

use crate::Cx;
use crate::tasks::task::{State, TaskPtr, Ticket};
use kumi_heap::*;

impl Cx {
    /// Ends the wait that `t` names. False when that wait is over already.
    pub fn wake(&mut self, t: Ticket) -> bool {
        self.end_wait(t, true)
    }
    /// Ends a wait; `woken`: by what it waits for, not by the clock.
    pub(super) fn end_wait(&mut self, w: Ticket, woken: bool) -> bool {
        let ready = {
            let order = self.tasks.lock();
            let Some(t) = self.tasks.get(w.task).filter(|t| t.beside.seq() == w.seq) else { return false };
            if !woken && t.state() != State::Waiting {
                return false;
            }
            let waited = self.tasks.end_wait(t, woken, &order);
            (waited.then_some((t.id, t.pinned)), woken && t.is_timed())
        };
        self.record_ended(w.task, w.seq);
        if let (Some((id, pinned)), timed) = ready {
            self.enqueue(id, pinned);
            if timed {
                self.timer_over();
            }
        }
        true
    }
    /// A timer of the scheduler is good for nothing any more.
    pub(crate) fn timer_over(&self) {
        let s = self.sched();
        if s.timer_cancelled() {
            s.compact_timers(|task, seq| self.timer_lives(task, seq));
        }
    }
    /// Is that very wait still on? A list of waiters drops those whose wait ended otherwise: their tasks may have been killed,
    /// and never come to take themselves out.
    pub fn waits(&self, t: Ticket) -> bool {
        self.tasks.get(t.task).is_some_and(|w| w.beside.seq() == t.seq)
    }
    /// Ends the wait a task is in, or with `next` the next one it begins. True when it was waiting.
    pub fn wake_any(&mut self, task: u64, next: bool) -> bool {
        let seq = {
            let table = self.shared_tasks();
            let _order = table.lock();
            match table.get(task) {
                Some(t) if t.state() == State::Waiting => t.beside.seq(),
                Some(t) if next && t.state() != State::Done => {
                    t.beside.leave_token();
                    return false;
                }
                _ => return false,
            }
        };
        self.end_wait(Ticket { task, seq }, true)
    }
    /// A task that may run joins a queue: this worker's, or that of the only worker that may run it.
    pub(crate) fn enqueue(&mut self, id: u64, pinned: bool) {
        let w = self.worker;
        let elsewhere = pinned && w != 0;
        // Whoever hands work over mostly waits for the answer: it is there before the other fresh tasks, whose slice it is too.
        let front = self.slice.front == 0 && self.task.id != 0 && !elsewhere;
        if front {
            self.slice.front = id;
        }
        let sched = self.sched();
        if elsewhere {
            sched.push(0, id, true);
            sched.wake_worker(0);
            self.poll_worker(0);
            return;
        }
        let crowd = sched.has_ready(w);
        if front {
            sched.push_front(w, id, pinned);
        } else {
            sched.push(w, id, pinned);
        }
        if !pinned && self.slice.computes() {
            sched.call();
        } else if crowd {
            sched.nudge(w);
        }
    }
    /// Sends an exception (or `true`: kill) to a thread.
    pub fn send_interrupt(&mut self, root: TaskPtr, v: Value) {
        self.heap.publish(v);
        if let Some(f) = root.first() {
            self.tasks.get_changing(root.id);
            f.interrupts.send(v);
        }
        self.tell_interrupt(root);
    }
    /// Something was sent to a thread: it is woken, or looks.
    pub(crate) fn tell_interrupt(&mut self, root: TaskPtr) {
        let t = self.active_of(root);
        let number = t.beside.seq();
        let ready = {
            let table = self.shared_tasks();
            let order = table.lock();
            t.state() == State::Waiting && self.due_interrupt(root, true).is_some() && table.end_wait(t, false, &order)
        };
        if ready {
            self.record_ended(t.id, number);
            let timed = t.is_timed();
            self.enqueue(t.id, t.pinned);
            if timed {
                self.timer_over();
            }
        } else {
            self.poll_all();
        }
    }
    /// The task of a thread that runs or waits now: its first one, or one of its fibers.
    pub fn active_of(&self, root: TaskPtr) -> TaskPtr {
        root.first().and_then(|f| self.tasks.get(f.active())).unwrap_or(root)
    }
    /// Any task by number.
    pub fn task_mut(&self, id: u64) -> Option<TaskPtr> {
        self.tasks.get_changing(id)
    }
}
