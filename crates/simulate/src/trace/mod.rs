//! What a program does.
//!
//! **Invariant.** A [`Program`] is sound: each message is sent once and awaited at most once, on the node that it is sent to.

mod check;
mod text;

pub use check::{Invalid, MAX_NODES};
pub(crate) use check::{Job, Op, Program};
pub use text::Wrong;

use crate::Time;

/// How urgent a task is. One that is more so interrupts what runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Answers messages.
    Handler = 0,
    /// The program.
    Normal = 1,
    /// Runs when nothing else can, and need not end.
    Speculative = 2,
}

/// A step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Uses the processor for so long.
    Compute(Time),
    /// Allocates so many bytes that the next collection frees.
    Allocate(u64),
    /// Allocates so many that it does not free.
    Keep(u64),
    /// Lets go of so many that were kept; the next collection frees them.
    Release(u64),
    /// Sends a message.
    Send {
        /// Its number: that of no other message of the trace.
        message: u64,
        /// The node that it is for; one's own, too.
        to: u32,
        /// Its length.
        bytes: u32,
    },
    /// Waits for a message.
    Await(u64),
    /// Waits for a time. A task that begins so is a request, whose latency is told.
    At(Time),
    /// Asks for a collection (`GC.start`).
    Collect,
}

/// A task: begins with the program, and goes on as it can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The node that it runs on.
    pub node: u32,
    /// How urgent it is.
    pub class: Class,
    /// What it does.
    pub steps: Vec<Step>,
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// How many nodes there are.
    pub nodes: u32,
    /// Tasks; those of a node that are equally urgent begin in this order.
    pub tasks: Vec<Task>,
}
