//! How slow paths of the loop end, and what they leave to it.

use crate::doors::{Call, ResolvedCall};
use kumi_heap::Value;

/// How a slow path ended.
#[must_use]
pub(crate) enum Outcome {
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
    Dispatch(u32, Box<ResolvedCall>),
}

pub(crate) const KILL: u16 = 2;
/// In `hdr.aux` of a RETURN cell: it comes of `break`.
pub(crate) const BREAKS: u32 = 1;
