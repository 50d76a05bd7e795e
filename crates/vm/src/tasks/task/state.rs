//! What a task does, as all workers may see it, and what they change of it.

use super::table::Order;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::*};

/// What a task is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// Made, not begun: `Stage::NotBegun`.
    New,
    /// Runs, or is queued to run.
    Ready,
    /// Fiber that was left by `Fiber.yield`: it runs when it is resumed.
    Yielded,
    /// Task that was left by `Fiber#transfer`: it runs when control is transferred to it, or its thread has no other way to go on.
    Transferred,
    /// Resumed a fiber and waits for it: `Resumed`.
    Resuming,
    /// Waits for a time, a descriptor or a wake-up: [`Wait`](super::Wait) says which native does.
    Waiting,
    /// Over: `Stage::Left`.
    Done,
}

impl State {
    /// Is it a fiber's that its object alone keeps?
    pub fn is_suspended(self) -> bool {
        matches!(self, State::Yielded | State::Transferred)
    }
}

/// A state that other workers may look at.
struct StateCell(AtomicU8);

impl StateCell {
    #[inline]
    fn get(&self) -> State {
        match self.0.load(Acquire) {
            0 => State::New,
            1 => State::Ready,
            2 => State::Yielded,
            3 => State::Transferred,
            4 => State::Resuming,
            5 => State::Waiting,
            _ => State::Done,
        }
    }
    #[inline]
    fn set(&self, s: State) {
        self.0.store(s as u8, Release)
    }
}

/// Names one wait of one task, for the wait lists of locks and queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    /// The task's number.
    pub task: u64,
    /// The wait's, counted by the task.
    pub seq: u64,
}

/// What others read or change of a task while its worker runs it, or while it waits.
///
/// - Its worker stores the state (release), which all may load (acquire). Only [`begin_wait`](Self::begin_wait) makes it `Waiting`, and only
///   [`end_wait`](Self::end_wait), by whomever, makes a waiting one `Ready`; both under the table's lock, which `Order` proves.
/// - What belongs to the present wait changes under that lock, or by the task's worker before the wait is known. So loads of
///   it are relaxed: who acts on them has the lock, or is the task's worker. One without it may find a wait over that was on a
///   moment ago, which is no mistake: it might have come later.
/// - `wake_token` and `finalizing` stand alone: nothing else is read by what they say.
pub(crate) struct Beside {
    state: StateCell,
    /// Number of the present wait: a [`Ticket`] is good for the wait it was made for.
    seq: AtomicU64,
    /// The last wait was ended by whoever it waited for.
    woken: AtomicBool,
    /// The present wait has a timer.
    timed: AtomicBool,
    /// It is for something outside (a signal): no deadlock.
    forever: AtomicBool,
    /// A wake-up that came before the wait.
    wake_token: AtomicBool,
    pub finalizing: Finalizing,
}

impl Beside {
    pub fn new() -> Beside {
        Beside {
            state: StateCell(AtomicU8::new(State::New as u8)),
            seq: AtomicU64::new(0),
            woken: AtomicBool::new(false),
            timed: AtomicBool::new(false),
            forever: AtomicBool::new(false),
            wake_token: AtomicBool::new(false),
            finalizing: Finalizing::default(),
        }
    }
    #[inline]
    pub fn state(&self) -> State {
        self.state.get()
    }
    /// The task's worker only, or at a stop.
    #[inline]
    pub fn set_state(&self, s: State) {
        self.state.set(s)
    }
    /// The present wait's number.
    #[inline]
    pub fn seq(&self) -> u64 {
        self.seq.load(Relaxed)
    }
    pub fn is_woken(&self) -> bool {
        self.woken.load(Relaxed)
    }
    pub fn is_timed(&self) -> bool {
        self.timed.load(Relaxed)
    }
    pub fn is_forever(&self) -> bool {
        self.forever.load(Relaxed)
    }
    /// Its worker: it goes on without a wait.
    pub fn not_woken(&self) {
        self.woken.store(false, Relaxed)
    }
    /// Its worker names a wait that is to come.
    pub fn name_wait(&self, _: &Order) -> u64 {
        self.woken.store(false, Relaxed);
        self.seq.fetch_add(1, Relaxed) + 1
    }
    /// Its worker says what kind of wait is about to begin.
    pub fn describe_wait(&self, timed: bool, forever: bool) {
        self.timed.store(timed, Relaxed);
        self.forever.store(forever, Relaxed);
    }
    /// Its worker: the wait begins.
    pub(super) fn begin_wait(&self, _: &Order) {
        self.state.set(State::Waiting)
    }
    /// The named wait is over, `woken` by what it was for. True when the task waited: it is ready now.
    pub(super) fn end_wait(&self, woken: bool, _: &Order) -> bool {
        self.seq.fetch_add(1, Relaxed);
        self.woken.store(woken, Relaxed);
        let waited = self.state.get() == State::Waiting;
        if waited {
            self.state.set(State::Ready);
        }
        waited
    }
    /// A wake-up comes before the wait it is for.
    pub fn leave_token(&self) {
        self.wake_token.store(true, Relaxed)
    }
    /// Was one left? It is gone then.
    pub fn take_token(&self) -> bool {
        self.wake_token.swap(false, Relaxed)
    }
}

/// Of a task: does it run finalizers? Other workers may read it.
#[derive(Default)]
pub(crate) struct Finalizing(AtomicU8);

impl Finalizing {
    pub(crate) const NO: u8 = 0;
    pub(crate) const ENTERING: u8 = 1;
    pub(crate) const RUNNING: u8 = 2;

    /// Interrupts wait; no second run begins.
    pub(crate) fn is_on(&self) -> bool {
        self.0.load(Relaxed) != Self::NO
    }
    /// The helper has not come to its first instruction.
    pub(crate) fn is_entering(&self) -> bool {
        self.0.load(Relaxed) == Self::ENTERING
    }
    pub(crate) fn set(&self, state: u8) {
        self.0.store(state, Relaxed)
    }
}
