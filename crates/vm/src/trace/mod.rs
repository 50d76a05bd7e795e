//! Tracing: what `TracePoint` hears of.
//!
//! Code is not changed for it. The loop exists twice over the same code (`interp/run.rs`): a plain one that knows nothing
//! of events, and a traced one that looks, before each instruction, into a second stream of the same layout, one byte an
//! instruction word (`ISeq::marks`), made when code is first run there. Workers change loops at safepoints; without an
//! enabled TracePoint all run the plain one, so that tracing costs nothing then.
//!
//! An event calls its blocks by a helper's frame above the running one (`ff::TRACE`). What was about to happen waits in
//! the task ([`Entry::after`]) and is done when that frame is left (`fire`).
//!
//! **Invariant.** For each `ff::TRACE` frame of a task there is one [`Entry`], in the same order; whoever leaves such a frame,
//! by a value or by unwinding, takes the entry. While the last entry is not open for re-entry, its task sends no events.

use crate::doors::Call;
use crate::doors::ResolvedCall;
use kumi_bytecode::ISeq;
use kumi_heap::{Marker, Value};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::sync::{Arc, Mutex};

/// Kinds of events, one bit each, in the order of [`NAMES`].
pub(crate) mod ev {
    pub const LINE: u32 = 1 << 0;
    pub const CLASS: u32 = 1 << 1;
    pub const END: u32 = 1 << 2;
    pub const CALL: u32 = 1 << 3;
    pub const RETURN: u32 = 1 << 4;
    pub const C_CALL: u32 = 1 << 5;
    pub const C_RETURN: u32 = 1 << 6;
    pub const RAISE: u32 = 1 << 7;
    pub const B_CALL: u32 = 1 << 8;
    pub const B_RETURN: u32 = 1 << 9;
    pub const THREAD_BEGIN: u32 = 1 << 10;
    pub const THREAD_END: u32 = 1 << 11;
    pub const FIBER_SWITCH: u32 = 1 << 12;
    pub const SCRIPT_COMPILED: u32 = 1 << 13;
    pub const RESCUE: u32 = 1 << 14;
    /// Those that have a value.
    pub const RETURNS: u32 = RETURN | C_RETURN | B_RETURN;
    /// Those that a piece of code has by itself: the ones that a target can have.
    pub const OF_CODE: u32 = LINE | CLASS | END | CALL | RETURN | B_CALL | B_RETURN | RESCUE;
}

/// Names of the events, by bit.
pub(crate) const NAMES: [&str; 15] = [
    "line",
    "class",
    "end",
    "call",
    "return",
    "c_call",
    "c_return",
    "raise",
    "b_call",
    "b_return",
    "thread_begin",
    "thread_end",
    "fiber_switch",
    "script_compiled",
    "rescue",
];

/// An enabled TracePoint.
pub(crate) struct Hook {
    /// The TracePoint and its block: published.
    pub point: Value,
    pub block: Value,
    /// Events it wants.
    pub mask: u32,
    /// The first task of the one thread it listens to.
    pub thread: Option<u64>,
    /// The code it listens to.
    pub target: Option<Aim>,
}

// SAFETY: its values are published, the list that it stands in shows them to the collector, and it never changes.
unsafe impl Send for Hook {}
// SAFETY: the same.
unsafe impl Sync for Hook {}

/// Code that a hook is limited to.
pub(crate) struct Aim {
    /// Addresses of a piece of code and of all code inside it, ascending.
    pub(crate) codes: Vec<u64>,
    /// Line events: of that line only; 0: of all.
    pub(crate) line: u32,
    pub(crate) _kept: Arc<ISeq>,
}

/// The enabled hooks of a runtime.
pub(crate) struct Hooks {
    /// Is there one? Then workers run the traced loop.
    on: AtomicBool,
    /// Changes with the list.
    pub(crate) epoch: AtomicU32,
    list: Mutex<Arc<Vec<Arc<Hook>>>>,
}

impl Default for Hooks {
    fn default() -> Self {
        Hooks { on: AtomicBool::new(false), epoch: AtomicU32::new(1), list: Mutex::default() }
    }
}

impl Hooks {
    #[inline]
    pub fn are_on(&self) -> bool {
        self.on.load(Relaxed)
    }
    pub fn mark(&self, m: &mut Marker) {
        for h in crate::cx::runtime::lock(&self.list).iter() {
            m.mark_all(&[h.point, h.block]);
        }
    }
    pub(crate) fn snapshot(&self) -> (u32, Arc<Vec<Arc<Hook>>>) {
        let list = crate::cx::runtime::lock(&self.list);
        (self.epoch.load(Relaxed), list.clone())
    }
    /// Replaces the list.
    pub(crate) fn change(&self, f: impl FnOnce(&mut Vec<Arc<Hook>>)) {
        let mut list = crate::cx::runtime::lock(&self.list);
        let mut new = (**list).clone();
        f(&mut new);
        self.on.store(!new.is_empty(), Relaxed);
        *list = Arc::new(new);
        // Zero stands for "never".
        let next = self.epoch.load(Relaxed).wrapping_add(1).max(1);
        self.epoch.store(next, Release);
    }
}

/// What a worker knows of the hooks.
#[derive(Default)]
pub(crate) struct View {
    /// The loop that runs is the traced one.
    pub on: bool,
    /// The loop is to be left for the other one.
    pub swap: bool,
    /// `ff::ENTERED` in the traced loop: frames that begin there.
    pub entry: u64,
    /// The call that comes next has told of itself.
    pub told: bool,
    /// Built-in methods whose value, which comes next, is to be told of; innermost last.
    pub due: Due,
    /// A text was compiled (its String, nil for a file): the call that comes next runs it.
    pub script: Option<Value>,
    pub(crate) epoch: u32,
    pub(crate) mask: u32,
    pub(crate) marks: u8,
    pub(crate) hooks: Arc<Vec<Arc<Hook>>>,
}

/// Methods by number.
pub(crate) type Due = SmallVec<[u32; 2]>;

/// Of a task that sent events.
#[derive(Default)]
pub struct Tracing {
    pub(crate) entries: Vec<Entry>,
    /// Frames whose leaving ends a call of a built-in method: slot, method, epoch of the hooks.
    pub(crate) returns: Vec<(usize, u32, u32)>,
    /// The next instruction has told of itself.
    pub(crate) skip: bool,
    /// The frame at that slot has told of its leaving.
    pub(crate) left: Option<usize>,
    /// Its thread's end has been told of.
    pub(crate) over: bool,
}

/// One call of blocks.
pub(crate) struct Entry {
    pub(crate) hooks: Arc<Vec<Arc<Hook>>>,
    pub(crate) events: Events,
    /// The next event and the next hook for it.
    pub(crate) event: usize,
    pub(crate) hook: usize,
    /// The event that is being told.
    pub(crate) current: usize,
    pub(crate) after: After,
    pub(crate) due: Due,
    /// `$!` meanwhile.
    pub(crate) err: Value,
    /// `TracePoint.allow_reentry` runs.
    pub(crate) open: bool,
}

pub(crate) type Events = SmallVec<[Happened; 2]>;

/// An event.
#[derive(Clone, Copy)]
pub(crate) struct Happened {
    pub(crate) kind: u32,
    /// Value or exception; the text of a script.
    pub(crate) value: Value,
    /// The method it is about.
    pub(crate) method: u32,
    /// Slot of the user's frame it happened in; 0: none.
    pub(crate) frame: usize,
    pub(crate) line: u32,
    /// Receiver.
    pub(crate) me: Value,
}

/// What comes when the blocks were called.
pub(crate) enum After {
    /// The instruction before which the event came.
    Instruction,
    /// The call of a method.
    Dispatch(u32, Box<ResolvedCall>),
    /// Another call: call, register, flags.
    Call(Box<(Call, usize, u64)>),
    /// The delivery of a value.
    Value(Value, usize, u64),
    /// The unwinding with that; slot of a frame that has told of its leaving.
    Unwind(Value, Option<usize>),
    /// The end of a thread, whose result and exception these are.
    Finish(Result<Value, Value>),
    /// What follows.
    Nothing,
}

impl Tracing {
    /// Is a block being called that keeps events away?
    pub(crate) fn is_deaf(&self) -> bool {
        self.entries.last().is_some_and(|e| !e.open)
    }
    /// Shows the values it holds.
    pub(crate) fn show(&self, m: &mut Marker) {
        for e in &self.entries {
            for h in e.hooks.iter() {
                m.mark_all(&[h.point, h.block]);
            }
            for x in &e.events {
                m.mark_all(&[x.value, x.me]);
                method(m, x.method);
            }
            e.due.iter().for_each(|n| method(m, *n));
            m.mark(e.err);
            match &e.after {
                After::Dispatch(n, r) => {
                    method(m, *n);
                    m.mark_all(&[r.recv, r.kw, r.block, r.own]);
                    m.mark_all(&r.args);
                }
                After::Call(c) => crate::doors::trace_call(&c.0, m),
                After::Value(v, ..) | After::Unwind(v, _) => m.mark(*v),
                After::Finish(Ok(v) | Err(v)) => m.mark(*v),
                After::Instruction | After::Nothing => {}
            }
        }
        self.returns.iter().for_each(|r| method(m, r.1));
    }
}

fn method(m: &mut Marker, n: u32) {
    if n != crate::doors::NO_METHOD {
        m.method(n);
    }
}

impl Hook {
    /// Does it hear of an event of the thread whose first task is `root`, in code at address `code`?
    pub(crate) fn hears(&self, kind: u32, root: u64, code: u64, line: u32) -> bool {
        if self.mask & kind == 0 || self.thread.is_some_and(|t| t != root) {
            return false;
        }
        match &self.target {
            None => true,
            Some(a) => {
                kind & ev::OF_CODE != 0 && a.codes.binary_search(&code).is_ok() && (a.line == 0 || kind == ev::LINE && line == a.line)
            }
        }
    }
}
