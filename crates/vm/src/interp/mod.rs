//! Running bytecode.
//!
//! `run` is the loop. Beside it stand what it needs to go on by itself (`hot`, `entry`, `elements`, frames), the general
//! path of calls (`call` with the `binder`), what instructions do that is no call (`ops`, `consts`, `define`, `procs`,
//! `eval`), and how frames are left (`unwind`).
//!
//! **Invariant.** A slow path is a function of [`Cx`](crate::Cx) that finds the running frame and the next instruction in
//! `cx.fp` and `cx.pc`, leaves there where the loop goes on, and returns a [`Flow`]. None of them runs the loop again.

mod binder;
mod call;
mod code;
mod consts;
mod dead;
mod define;
mod discard;
mod elements;
mod entry;
mod eval;
pub(crate) mod frame;
#[cfg(not(feature = "linked-frames"))]
mod header;
#[cfg(feature = "linked-frames")]
#[path = "header_linked.rs"]
mod header;
mod hot;
mod ops;
mod procs;
mod run;
mod unwind;

use crate::Cx;
use crate::native::Call;
pub use call::Missing;
pub(crate) use call::Ready;
pub use eval::{EvalScope, real_path};
pub(crate) use hot::{Hot, HotKind, decoded, hit};
pub(crate) use procs::{NEWS, NewEntry};
pub(crate) use unwind::{BREAKS, KILL};
pub use unwind::{Backtrace, TraceEntry};

use kumi_heap::Value;

/// How a slow path ended.
#[must_use]
pub(crate) enum Flow {
    /// Load `pc` and `fp` and go on.
    Go,
    /// The outermost frame of the task was left.
    Done,
    /// The loop is left for the other one, traced or plain, which goes on.
    Swap,
    /// What stands in `cx.onward` comes first. It is done by the loop, not by whoever found it out: tasks that end, fibers
    /// that fail and natives that call natives lead to each other any number of times, and none of it may lie on the native stack.
    Next,
}

/// What a worker does before its loop goes on.
#[derive(Default)]
pub(crate) enum Onward {
    /// Looks for a task that may run.
    #[default]
    Run,
    /// Goes on with the current task, which was woken before it slept.
    Resume,
    /// Goes on with the current task, which was made so just now, by a value or an exception.
    Continue(Result<Value, Value>),
    /// Makes a call; the value goes to the register, as the flags say.
    Call(Box<(Call, usize, u64)>),
    /// Calls a method.
    Dispatch(u32, Box<Ready>),
}

impl Cx {
    /// Leaves something to the loop.
    #[inline]
    pub(crate) fn then(&mut self, next: Onward) -> Flow {
        self.onward = next;
        Flow::Next
    }
    /// Does what was left to the loop. False: the outermost frame of the main task was left.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle(&mut self, mut f: Flow) -> bool {
        loop {
            f = match f {
                // Another task may go on here, in the loop that the worker ran the last one in.
                Flow::Go if self.trace.on != self.hooks.are_on() => Flow::Swap,
                Flow::Go => return true,
                Flow::Done => return false,
                Flow::Swap => {
                    self.trace.swap = true;
                    return false;
                }
                Flow::Next => match std::mem::take(&mut self.onward) {
                    Onward::Run => self.run_next(),
                    Onward::Resume => self.resume_again(),
                    Onward::Continue(v) => self.continue_current(v),
                    Onward::Call(c) => self.do_call(c.0, c.1, c.2),
                    Onward::Dispatch(m, r) => self.dispatch(m, *r),
                },
            }
        }
    }
}
