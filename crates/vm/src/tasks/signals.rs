//! Who of the process's runtimes hears of signals, and how a handler tells it.
//!
//! The system has one handler of a signal for the whole process, so one runtime at a time has the signals: the first that asks
//! ([`Options::signals`](crate::Options)), until it ends. The others see none, and set none.
//!
//! **Invariant.** What a handler is led to (`POLL`, `WAKE`) is the owner's, and taken back before it goes: `RINGING` counts the handlers that
//! are under way on whatever thread, and the owner waits for them.

use crate::Cx;
use crate::cx::runtime::Runtime;
use kumi_sched::Sched;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering::*};

/// The runtime that has the signals; null: none does. A name only.
static OWNER: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// The poll flag of its worker 0.
static POLL: AtomicPtr<AtomicBool> = AtomicPtr::new(null_mut());
/// The descriptor that wakes its sleeping worker; -1: nobody sleeps yet.
static WAKE: AtomicI32 = AtomicI32::new(-1);
/// Handlers that are between the two.
static RINGING: AtomicUsize = AtomicUsize::new(0);

/// For signal handlers: the owner is to look around. `write` writes 8 bytes, not zero, to a descriptor.
pub fn ring(write: impl FnOnce(i32)) {
    RINGING.fetch_add(1, SeqCst);
    let poll = POLL.load(SeqCst);
    if !poll.is_null() {
        // SAFETY: its owner waits for this handler before the flag goes (the module's invariant).
        unsafe { (*poll).store(true, Release) };
    }
    let fd = WAKE.load(SeqCst);
    if fd >= 0 {
        write(fd);
    }
    RINGING.fetch_sub(1, SeqCst);
}

impl Cx {
    fn name(&self) -> *mut () {
        Arc::as_ptr(&self.rt).cast_mut().cast()
    }
    /// Has this runtime the process's signals?
    pub fn has_signals(&self) -> bool {
        OWNER.load(Acquire) == self.name()
    }
    /// Takes them, at boot. False: another runtime has them.
    pub fn claim_signals(&mut self) -> bool {
        if OWNER.compare_exchange(null_mut(), self.name(), AcqRel, Acquire).is_err() {
            return false;
        }
        POLL.store((&raw const self.heap.poll).cast_mut(), SeqCst);
        if let Some(s) = self.sched_cell().get() {
            self.arm_signals(s);
        }
        true
    }
    /// The owner's scheduler is this one.
    pub(crate) fn arm_signals(&self, s: &Sched) {
        arm(Arc::as_ptr(&self.rt), s);
    }
    /// The runtime ends: nobody has the signals. The system's actions were put back before.
    pub(crate) fn give_up_signals(&mut self) {
        if !self.has_signals() {
            return;
        }
        if let Some(put_back) = self.signals_back {
            put_back(self);
        }
        POLL.store(null_mut(), SeqCst);
        WAKE.store(-1, SeqCst);
        while RINGING.load(SeqCst) > 0 {
            std::thread::yield_now();
        }
        OWNER.store(null_mut(), Release);
    }
}

/// The scheduler of a runtime is this one.
pub(crate) fn arm(rt: *const Runtime, s: &Sched) {
    if OWNER.load(Acquire) == rt.cast_mut().cast() {
        WAKE.store(s.signal_fd(), SeqCst);
    }
}

/// The child of a fork has no other thread's handlers.
pub(crate) fn after_fork() {
    RINGING.store(0, SeqCst);
}
