//! Running bytecode.
//!
//! `run` is the loop. Beside it stand what it needs to go on by itself (`hot`, `entry`, `elements`, frames), bodies that it shares (`make`), the general
//! path of calls (`call` with the `binder`), what instructions do that is no call (`ops`, `consts`, `define`, `procs`,
//! `eval`), and how frames are left (`unwind`).
//!
//! **Invariant.** A slow path is a function of [`Cx`](crate::Cx) that finds the running frame and the next instruction in
//! `cx.fp` and `cx.pc`, leaves there where the loop goes on, and returns a [`Outcome`]. None of them runs the loop again.

mod alloc_sites;
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
pub(crate) mod events;
mod make;
mod ops;
mod procs;
mod reader;
mod run;
mod unwind;

use crate::Cx;
use crate::tasks::outcome::{Onward, Outcome};
pub use call::Missing;
pub use eval::{EvalScope, real_path};
pub(crate) use procs::{NEWS, NewEntry};
pub use unwind::{Backtrace, TraceEntry};

impl Cx {
    /// Leaves something to the loop.
    #[inline]
    pub(crate) fn then(&mut self, next: Onward) -> Outcome {
        self.onward = next;
        Outcome::Next
    }
    /// Does what was left to the loop. False: the outermost frame of the main task was left.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle(&mut self, mut f: Outcome) -> bool {
        loop {
            f = match f {
                // Another task may go on here, in the loop that the worker ran the last one in.
                Outcome::Go if self.trace.on != self.hooks.are_on() => Outcome::Swap,
                Outcome::Go => return true,
                Outcome::Done => return false,
                Outcome::Swap => {
                    self.trace.swap = true;
                    return false;
                }
                Outcome::Next => match std::mem::take(&mut self.onward) {
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
