//! The end of a runtime: its threads are gone, its memory and descriptors given back.
//!
//! **Invariant.** The ending thread owns worker 0. It asks all workers to leave, becomes idle, so that a stop under way goes on
//! without it, and touches nothing of the runtime until their threads are joined, then those of work aside, the ticker's and the pool's.
//! Nothing is collected from the asking on: the main thread is over, and what it alone held may still be asked for. Whoever has left is idle for good, and
//! leaves its context behind (`Left`), so that its heap and its tasks' frames are there for those that are still on their way. What lives
//! is dropped afterwards, by one thread, cells first: payloads find the tables that they know still there.
//!
//! What a program had under way is given up: a task that waits or is preempted is dropped without its `ensure`, as in a process that
//! exits.

use crate::Cx;
use crate::cx::runtime::lock;
use crate::tasks::task::State;
use std::sync::Mutex;

/// A worker whose thread is over, to be dropped by the ending one.
struct Left(#[expect(dead_code)] Box<Cx>);
// SAFETY: its thread has left it behind idle, and is not bound to its heap any more.
unsafe impl Send for Left {}

/// Workers that have left for good.
#[derive(Default)]
pub(crate) struct Leavers(Mutex<Vec<Left>>);

impl Cx {
    /// The end of the runtime: what dropping its first context does.
    ///
    /// - Its other threads are waited for: workers, the ticker, those that mark, the pool's, work aside. A worker leaves at its next
    ///   safepoint, which may be as far off as the end of a native that nobody calls away (`others_wait`), or of its detached or aside
    ///   work that does not look whether it is wanted. A call of the pool that still blocks after a second is left to itself: its thread has
    ///   nothing of the runtime, and ends with the call.
    /// - No Ruby is run. Threads and fibers are dropped where they stand, without `ensure`; `at_exit` blocks and finalizers have run
    ///   before or never (`finish` of the command runs them).
    /// - Streams write what the other end takes at once, and descriptors that streams own are closed, but for the standard ones.
    /// - Signals do again what they did before it had them; those that were not taken yet are forgotten.
    /// - All memory is given back. Wakers and spawners that others hold do nothing any more.
    ///
    /// It may be called on the thread that runs worker 0 (the one that made the runtime), outside of any program. Other runtimes of the
    /// process are not disturbed.
    pub fn end(self: Box<Cx>) {}

    /// What workers' threads do, between the making of their context and its end.
    pub(crate) fn work(mut self: Box<Cx>) {
        while !self.stop.is_ending() {
            // What comes first is another task to run.
            self.run_from(crate::tasks::outcome::Outcome::Next);
        }
        self.become_idle();
        let rt = self.runtime();
        lock(&rt.leavers.0).push(Left(self));
    }
    /// Is this worker to leave for good? At a safepoint: its loop is left then, wherever it stands.
    #[inline]
    pub(crate) fn is_called_off(&self) -> bool {
        self.worker != 0 && self.stop.is_ending()
    }
    fn end_runtime(&mut self) {
        let rt = self.runtime();
        // What the last program has left on the main thread's stack is no frame any more.
        if self.task.id != 0 {
            self.task.beside.set_state(State::Done);
        }
        for hook in rt.end_hooks.clone() {
            hook(self);
        }
        rt.aside.call_off();
        self.ask_to_leave();
        let sched = rt.sched.get();
        if let Some(s) = sched {
            (1..s.workers()).for_each(|w| s.wake_worker(w));
        }
        self.become_idle();
        rt.threads.join();
        // Those that were begun meanwhile.
        rt.aside.call_off();
        rt.aside.join();
        if let Some(s) = sched {
            s.end();
        }
        self.give_up_signals();
        drop(std::mem::take(&mut *lock(&rt.leavers.0)));
    }
}

impl Drop for Cx {
    fn drop(&mut self) {
        if self.worker == 0 {
            self.end_runtime();
        }
    }
}
