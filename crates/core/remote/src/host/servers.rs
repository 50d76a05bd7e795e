//! Calls that nobody has begun, and threads that begin them.
//!
//! **Invariant.** While a call waits here one thread *comes*: it was woken, or is being started, and will look. Whoever takes a call sees
//! to it that another one comes where more wait, and that one is idle or coming where none does. So a call that blocks keeps nobody
//! waiting, and one that does not costs no wake: the thread that did it takes the next one, before the other has come, as a rule.

use super::Incoming;
use kumi_remote::Time;
use kumi_vm::Waker;
use std::collections::VecDeque;

/// Calls that take less are done one after the other: to hand them to another worker takes as long.
const BRIEF: Time = 50_000;

/// See the module.
#[derive(Default)]
pub struct Servers {
    pub queue: VecDeque<Incoming>,
    /// Threads that wait for calls, by their tasks.
    idle: Vec<(u64, Waker)>,
    coming: Coming,
    /// The last call that ended took long, so that those behind it are better done by another worker.
    long: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Coming {
    #[default]
    Nobody,
    /// A thread that is being started.
    New,
    /// This task was woken.
    Task(u64),
}

/// What a thread that asks for a call is told.
pub enum Turn {
    /// Nothing waits.
    None,
    /// It is to start another thread first.
    Start,
    /// To do this, and to wake that one; true: for another worker.
    Call(Box<Incoming>, Option<Waker>, bool),
}

impl Servers {
    /// A call has come: who is to be woken for it.
    #[must_use]
    pub fn call_one(&mut self) -> Option<Waker> {
        if self.queue.is_empty() { None } else { self.stir() }
    }
    /// This thread looks for a call. `alone`: no other can be started.
    pub fn turn(&mut self, task: u64, alone: bool) -> Turn {
        self.has_come(task);
        if self.queue.is_empty() {
            return Turn::None;
        }
        if !alone && self.idle.is_empty() && self.coming == Coming::Nobody {
            self.coming = Coming::New;
            return Turn::Start;
        }
        match self.queue.pop_front() {
            Some(call) => Turn::Call(Box::new(call), self.call_one(), self.long),
            None => Turn::None,
        }
    }
    fn has_come(&mut self, task: u64) {
        if self.coming == Coming::Task(task) {
            self.coming = Coming::Nobody;
        }
        // It may have been woken by others.
        self.idle.retain(|(other, _)| *other != task);
    }
    /// The thread that was to be started is there, or will not be.
    pub fn has_started(&mut self) {
        if self.coming == Coming::New {
            self.coming = Coming::Nobody;
        }
    }
    /// A call has taken so many nanoseconds.
    pub fn took(&mut self, long: Time) {
        self.long = long > BRIEF;
    }
    /// Something has changed that no Ruby code was told: a thread that waits is woken for nothing, so that the runtime takes note.
    #[must_use]
    pub fn stir(&mut self) -> Option<Waker> {
        if self.coming != Coming::Nobody {
            return None;
        }
        let (task, waker) = self.idle.pop()?;
        self.coming = Coming::Task(task);
        Some(waker)
    }
    /// How many wait for calls.
    pub fn idle(&self) -> usize {
        self.idle.len()
    }
    /// This thread waits for calls.
    pub fn is_idle(&mut self, w: Waker) {
        let task = w.ticket().task;
        self.has_come(task);
        self.idle.push((task, w));
    }
    /// This thread asks for calls no more: who is to come in its place.
    #[must_use]
    pub fn ends(&mut self, task: u64) -> Option<Waker> {
        self.has_come(task);
        self.call_one()
    }
    /// Nothing is done any more: who is to hear it.
    pub fn end(&mut self) -> impl Iterator<Item = Waker> + '_ {
        self.idle.drain(..).map(|(_, w)| w)
    }
}
