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

pub use call::Missing;
pub(crate) use call::Ready;
pub use eval::EvalScope;
pub(crate) use hot::{Hot, HotKind, decoded, hit};
pub(crate) use unwind::KILL;
pub use unwind::{Backtrace, TraceEntry};

/// How a slow path ended.
pub(crate) enum Flow {
    /// Load `pc` and `fp` and go on.
    Go,
    /// The outermost frame of the task was left.
    Done,
}
