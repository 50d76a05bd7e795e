//! Tasks: a stack and the little a suspended computation needs besides.
//!
//! **Invariant.** Frames, registers, blocks and handlers of a task live in its
//! stack and nowhere else. Every slot below the top of the running frame is a valid
//! `Value`: frame-header words that are addresses or offsets carry the fixnum tag.
//! So the roots of a task are one slice. Nothing outside the stack holds an address
//! into it: frames, blocks and Home cells use slot numbers.
//!
//! Who may touch a task: the worker that runs it (or, for a suspended fiber, its
//! thread's worker); others only what stands in `Beside` and in `First`, as told there,
//! and what changes under the table's lock while it waits. At a stop, everybody.
//!
//! What means something only at times stands in an enum that says when:
//!
//! | question | type |
//! |---|---|
//! | what is it? | `Role`: a thread's first task or a fiber, with what only such a one has |
//! | what does it do? | `State`, which all workers may look at |
//! | has it begun, has it ended? | `Stage`, with what it starts with, or what it came to |
//! | what does it wait for? | `Wait`, with what the waiting native must know |
//! | what comes first when it runs again? | `Next`; a value that it is resumed with goes where `Takes` says |
//! | which fiber did it resume? | `Resumed` |
//!
//! A new kind of wait is a variant of `Wait`, a new kind of task one of `Role`; the compiler names the places that care.

mod role;
mod state;
mod table;
mod wait;

pub(crate) use role::{Fiber, First, Role};
pub(crate) use state::{Beside, Finalizing};
pub use state::{State, Ticket};
pub use table::{TaskPtr, TaskRef, TaskTable};
pub use wait::Wait;
pub(crate) use wait::{Again, Interrupted, Next, Takes, Watched};

use crate::doors::Call;
use crate::tasks::stack::Stack;
use kumi_heap::{Gc, HomeObj, Marker, Value};
use thin_vec::ThinVec;

/// How far a task has come.
pub(crate) enum Stage {
    /// It runs this first; `None`: a runtime's first task, and where no task stands.
    NotBegun(Option<Box<Call>>),
    Begun,
    /// Its first frame was left, by a value, or by the exception or Unwind cell that ended it. Its thread may have it begin once
    /// more, to report its death.
    Left(Result<Value, Value>),
}

/// A fiber that a task resumed and waits for, while it is [`State::Resuming`].
#[derive(Clone, Copy)]
pub(crate) struct Resumed {
    pub fiber: u64,
    /// The task is to be ended when control comes back to it.
    pub killed: bool,
}

/// One Thread or Fiber.
pub struct Task {
    pub(crate) id: u64,
    pub(crate) stack: Stack,
    /// Slot of the running frame's base.
    pub(crate) base: usize,
    /// Address of the next instruction word.
    pub(crate) pc: usize,
    /// Of a task that does not run: where a value goes that it is resumed with.
    pub(crate) takes: Takes,
    /// What others look at, or change.
    pub(crate) beside: Beside,
    pub(crate) role: Role,
    pub(crate) stage: Stage,
    pub(crate) resumed: Option<Resumed>,
    /// What its native waits for, and what comes first when it runs again.
    pub(crate) wait: Wait,
    pub(crate) next: Next,
    /// It gave its worker up though it need not wait.
    pub(crate) gave_way: bool,
    /// It parked to wait for a message, and is counted among those that do.
    pub(crate) awaits: bool,
    /// Runs on worker 0 only.
    pub(crate) pinned: bool,
    /// Belongs to a Ractor that is not the main one.
    pub(crate) isolated: bool,
    /// A frame of it may have `ff::SHOWN` or `ff::AGED`: who writes into frames below the running one publishes.
    pub(crate) marked: bool,
    /// Its place among the roots of nursery collections: bits of [`recent`].
    pub(crate) recent: u8,
    /// Times that the native to be called again was called away (`patience.rs`).
    pub(crate) attempts: u8,
    /// The Thread it belongs to and the Fiber it is (values of their objects; nil: none made yet).
    pub(crate) thread: Value,
    pub(crate) fiber: Value,
    /// `$!`
    pub(crate) err: Value,
    /// Fiber storage (inherited), and fiber-locals (`Thread#[]`).
    pub(crate) storage: Value,
    pub(crate) locals: Value,
    /// Running `catch` calls, outermost first: tag, the frame it returns from, `$!` when it began.
    pub(crate) catches: ThinVec<(Value, usize, Value)>,
    /// Objects that `inspect`, `==` and the like are at work on, so that recursive structures end (bits of
    /// values that running frames hold).
    pub(crate) guards: ThinVec<(u64, u64, u64)>,
    /// Home cells of frames whose closures escaped, by frame, outermost first.
    pub(crate) homes: ThinVec<(usize, Gc<HomeObj>)>,
    /// Waits that go on when the signal handler above them is done, innermost last.
    pub(crate) after_signal: ThinVec<Interrupted>,
    /// Descriptors that may still be watched when its wait is over.
    pub(crate) watched: Option<Box<Watched>>,
    /// Events it is being told of.
    pub(crate) tracing: Option<Box<crate::trace::Tracing>>,
}

/// Bits of [`Task::recent`].
pub(crate) mod recent {
    /// It stands in its worker's list.
    pub const LISTED: u8 = 1;
    /// It ran since the last nursery collection.
    pub const RAN: u8 = 2;
    /// It ran since the last node collection: a young one looks at it whoever holds its object.
    pub const TOUCHED: u8 = 4;
}

impl Task {
    /// A task that has not begun, and stands in no table yet.
    pub(crate) fn new(role: Role, start: Option<Box<Call>>) -> Task {
        Task {
            id: 0,
            stack: Stack::new(),
            base: 0,
            pc: 0,
            takes: Takes::Nothing,
            beside: Beside::new(),
            role,
            stage: Stage::NotBegun(start),
            resumed: None,
            wait: Wait::Nothing,
            next: Next::Here,
            gave_way: false,
            awaits: false,
            pinned: false,
            isolated: false,
            marked: false,
            recent: 0,
            attempts: 0,
            thread: Value::NIL,
            fiber: Value::NIL,
            err: Value::NIL,
            storage: Value::NIL,
            locals: Value::NIL,
            catches: ThinVec::new(),
            guards: ThinVec::new(),
            homes: ThinVec::new(),
            after_signal: ThinVec::new(),
            watched: None,
            tracing: None,
        }
    }

    // --- what it is ----------------------------------------------------------------

    /// Its number in the table: never that of another task; 0: it stands in none.
    #[inline(always)]
    pub fn id(&self) -> u64 {
        self.id
    }
    /// Is it a thread's first task (not a fiber)?
    #[inline]
    pub fn is_root(&self) -> bool {
        matches!(self.role, Role::First(_))
    }
    /// The first task of its thread: its own number when it is that.
    #[inline]
    pub(crate) fn root(&self) -> u64 {
        match &self.role {
            Role::First(_) => self.id,
            Role::Fiber(f) => f.first,
        }
    }
    #[inline]
    pub(crate) fn first(&self) -> Option<&First> {
        match &self.role {
            Role::First(f) => Some(f),
            Role::Fiber(_) => None,
        }
    }
    #[inline]
    pub(crate) fn first_mut(&mut self) -> Option<&mut First> {
        match &mut self.role {
            Role::First(f) => Some(f),
            Role::Fiber(_) => None,
        }
    }
    #[inline]
    pub(crate) fn as_fiber(&self) -> Option<&Fiber> {
        match &self.role {
            Role::Fiber(f) => Some(f),
            Role::First(_) => None,
        }
    }
    #[inline]
    pub(crate) fn as_fiber_mut(&mut self) -> Option<&mut Fiber> {
        match &mut self.role {
            Role::Fiber(f) => Some(f),
            Role::First(_) => None,
        }
    }
    /// The Thread it belongs to; nil: none was made yet.
    #[inline]
    pub fn thread(&self) -> Value {
        self.thread
    }

    // --- what it does --------------------------------------------------------------

    /// What it is doing. Of a task of another worker: a moment ago.
    #[inline]
    pub fn state(&self) -> State {
        self.beside.state()
    }
    /// It begins with its first frame.
    pub(crate) fn begin(&mut self) {
        self.stage = Stage::Begun;
        self.beside.set_state(State::Ready);
    }
    /// Its first frame was left: with this.
    pub(crate) fn left(&self) -> Result<Value, Value> {
        match self.stage {
            Stage::Left(r) => r,
            _ => Ok(Value::NIL),
        }
    }
    /// What its native waits for is forgotten, and given: for a native that is called again.
    #[inline]
    pub fn take_wait(&mut self) -> Wait {
        std::mem::take(&mut self.wait)
    }
    /// What its native waits for, if it is called again.
    #[inline]
    pub fn wait(&self) -> &Wait {
        &self.wait
    }
    /// The running native is about to park, and finds this when it is called again.
    #[inline]
    pub fn set_wait(&mut self, w: Wait) {
        let old = std::mem::replace(&mut self.wait, w);
        // Most own nothing: a thread that passes comes by here twice each time.
        if matches!(old, Wait::Job(_) | Wait::Aside(_)) { drop(old) } else { std::mem::forget(old) }
    }
    /// Was the last wait ended by whoever it was for (not by the clock)?
    #[inline]
    pub fn is_woken(&self) -> bool {
        self.beside.is_woken()
    }
    /// Has its present wait a time limit?
    pub fn is_timed(&self) -> bool {
        self.beside.is_timed()
    }
    /// Did a wake-up come before the wait? It is forgotten.
    pub fn take_wake_token(&self) -> bool {
        self.beside.take_token()
    }

    // --- what it holds -------------------------------------------------------------

    /// `$!`
    pub fn err(&self) -> Value {
        self.err
    }
    /// Operations that are under way on objects, as `inspect`: see `KumiSys.recursing`.
    pub fn guards(&mut self) -> &mut ThinVec<(u64, u64, u64)> {
        &mut self.guards
    }
    /// It has nothing of the task that made it: neither its fiber storage nor its Ractor.
    pub fn stands_alone(&mut self) {
        (self.isolated, self.storage) = (false, Value::NIL);
    }
    /// Belongs it to a Ractor that is not the main one?
    pub fn is_isolated(&self) -> bool {
        self.isolated
    }
    /// From now on it belongs to such a one.
    pub fn isolate(&mut self) {
        self.isolated = true;
    }
    /// Its fiber's storage; nil: none.
    pub fn storage(&self) -> Value {
        self.storage
    }
    /// `v` is published where the task is not the running one.
    pub fn set_storage(&mut self, v: Value) {
        self.storage = v;
    }
    /// Its fiber's locals (`Thread#[]`); nil: none. Under the lock of the Thread.
    pub fn locals(&self) -> Value {
        self.locals
    }
    /// `v` is published.
    pub fn set_locals(&mut self, v: Value) {
        self.locals = v;
    }
    /// A task that is over holds no values any more: nobody asks for them, and nobody keeps them alive.
    pub(crate) fn forget_values(&mut self) {
        for v in [&mut self.err, &mut self.storage, &mut self.locals] {
            *v = Value::NIL;
        }
        if let Role::First(f) = &mut self.role {
            (f.around, f.matched, f.interrupts.masks) = (Value::NIL, Value::NIL, Value::NIL);
        }
        self.stage = Stage::Left(Ok(Value::NIL));
        self.catches.clear();
        self.guards.clear();
        self.homes.clear();
        self.after_signal.clear();
        self.tracing = None;
        self.next = Next::Here;
    }
    /// Marks the stack and all else it holds.
    pub(crate) fn trace(&self, m: &mut Marker) {
        self.mark_parked_stack(m);
        m.mark_all(&[self.thread, self.fiber, self.locals]);
        if let Role::First(f) = &self.role {
            m.mark(f.interrupts.masks);
            f.interrupts.look(|list| m.mark_all(list));
        }
        self.show_values(m);
    }
    /// What it holds besides its stack that may be private.
    pub(crate) fn show_values(&self, m: &mut Marker) {
        m.mark_all(&[self.err, self.storage]);
        if let Role::First(f) = &self.role {
            m.mark_all(&[f.around, f.matched]);
        }
        match &self.stage {
            Stage::NotBegun(Some(c)) => crate::doors::trace_call(c, m),
            Stage::Left(Ok(v) | Err(v)) => m.mark(*v),
            Stage::NotBegun(None) | Stage::Begun => {}
        }
        for (t, _, e) in &self.catches {
            m.mark(*t);
            m.mark(*e);
        }
        for (_, h) in &self.homes {
            m.mark(h.val());
        }
        self.next.trace(m);
        for c in self.after_signal.iter().filter_map(|i| i.call.as_ref()) {
            crate::doors::trace_call(c, m);
        }
        if let Some(t) = &self.tracing {
            t.show(m);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_stays_small() {
        // A field more is 0.8 MB more for 100,000 sleeping threads.
        assert!(size_of::<Task>() <= 312, "{}", size_of::<Task>());
    }
}
