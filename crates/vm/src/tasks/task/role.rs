//! What a task is: the first of a thread, or a fiber.

use kumi_heap::Value;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use thin_vec::ThinVec;

/// What a task is, and what only such a task has.
pub(crate) enum Role {
    /// A thread's first task: all that belongs to the thread and not to one of its fibers stands here.
    First(First),
    Fiber(Fiber),
}

/// What a thread has once.
pub(crate) struct First {
    /// Its task that runs or waits now: this one, or one of its fibers. Stored by the thread's worker, loaded by all.
    active: AtomicU64,
    pub interrupts: Interrupts,
    /// The environment of the thread's block; nil: none.
    pub around: Value,
    /// `$~` of the scopes around that block, which each thread has for itself.
    pub matched: Value,
    /// It has a fiber scheduler.
    pub scheduled: bool,
    /// It is run only because no other thread can be.
    speculative: AtomicBool,
}

impl First {
    pub fn new() -> First {
        First {
            active: AtomicU64::new(0),
            interrupts: Interrupts { list: Mutex::new(ThinVec::new()), mail: AtomicBool::new(false), held: false, masks: Value::NIL },
            around: Value::NIL,
            matched: Value::NIL,
            scheduled: false,
            speculative: AtomicBool::new(false),
        }
    }
    pub fn is_speculative(&self) -> bool {
        self.speculative.load(Relaxed)
    }
    pub fn set_speculative(&self, on: bool) {
        self.speculative.store(on, Relaxed)
    }
    pub fn active(&self) -> u64 {
        self.active.load(Acquire)
    }
    /// The thread goes on with that task of its own.
    #[inline]
    pub fn set_active(&self, id: u64) {
        self.active.store(id, Release)
    }
}

/// What others send to a thread, and what it holds back.
///
/// Others send; the thread takes. They read `held` and `masks` only while it waits, under the table's lock, under which it
/// made its wait known. Who finds that no thread can ever run lets all through.
pub(crate) struct Interrupts {
    /// Exceptions, oldest first; `true` stands for kill.
    list: Mutex<ThinVec<Value>>,
    /// Is there one? Changes under the list's lock, and is looked at without.
    mail: AtomicBool,
    /// They wait until a lock is taken back.
    pub held: bool,
    /// What `Thread.handle_interrupt` holds back, innermost first: `[outer, class, how, class, how, ...]`, where
    /// how is 0 at once, 1 at a wait, 2 never; nil: nothing. Published.
    pub masks: Value,
}

impl Interrupts {
    /// Is there one, due or not?
    #[inline(always)]
    pub fn has_mail(&self) -> bool {
        self.mail.load(Relaxed)
    }
    /// A published value is sent.
    pub fn send(&self, v: Value) {
        let mut list = self.list.lock();
        list.push(v);
        self.mail.store(true, Release);
    }
    /// `f` of the list; it may take some out.
    pub fn with<T>(&self, f: impl FnOnce(&mut ThinVec<Value>) -> T) -> T {
        let mut list = self.list.lock();
        let v = f(&mut list);
        self.mail.store(!list.is_empty(), Relaxed);
        v
    }
    /// `f` of the list as it is.
    pub fn look<T>(&self, f: impl FnOnce(&[Value]) -> T) -> T {
        f(&self.list.lock())
    }
    /// Nothing is held back any more.
    pub fn let_through(&mut self) {
        self.masks = Value::NIL;
        self.held = false;
    }
}

/// What only a fiber has.
pub(crate) struct Fiber {
    /// The first task of its thread.
    pub first: u64,
    /// The task that resumed it, until it is left by `Fiber.yield` or for good.
    pub resumer: Option<u64>,
    /// How many resumed each other down to it when it was last resumed.
    pub depth: u32,
    /// Its waits go to the thread's fiber scheduler, if there is one.
    pub nonblocking: bool,
}
