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
    /// Uses the processor for so long for messages, or for switches between tasks.
    Overhead(Time),
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
    /// Waits for so long.
    Sleep(Time),
    /// Asks for a collection (`GC.start`).
    Collect,
    /// Its node collects for so long, whatever its heap and its policy are. It frees all that was not kept.
    Pause(Time),
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
///
/// Its text form, which [`Trace::parse`] reads and [`Trace::text`] writes:
///
/// ```text
/// kumi-trace 1
/// nodes 2
/// task 0 s1>1:64 w2 c500000
/// handler 1 w1 c1000000 a4096 s2>0:64
/// ```
///
/// UTF-8, lines end with LF. The first line is the version, the second the number of nodes, from 1 to 65536. Each further one is a task:
/// `task`, `handler` or `spec` (how urgent), its node, its steps, with single spaces between. Empty lines and lines that begin with `#`
/// mean nothing. Steps are a letter and decimal numbers:
///
/// | step | |
/// |---|---|
/// | `c`*ns* | computes so many nanoseconds |
/// | `a`*bytes* | allocates what the next collection frees |
/// | `k`*bytes* | allocates what it keeps |
/// | `r`*bytes* | lets go of what was kept |
/// | `s`*message*`>`*node*`:`*bytes* | sends |
/// | `w`*message* | waits for a message |
/// | `o`*ns* | the same for messages and switches between tasks: overhead |
/// | `t`*ns* | waits for a time |
/// | `z`*ns* | waits for so long |
/// | `g` | asks for a collection |
/// | `p`*ns* | collects for so long |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// How many nodes there are.
    pub nodes: u32,
    /// Tasks; those of a node that are equally urgent begin in this order.
    pub tasks: Vec<Task>,
}

impl Trace {
    /// What messages and switches took is left out: they cost what a setting says.
    pub fn leave_out_overhead(&mut self) {
        for task in &mut self.tasks {
            task.steps.retain(|step| !matches!(step, Step::Overhead(_)));
        }
    }
    /// Computing and overhead take so many times as long.
    pub fn slow_down(&mut self, times: f64) {
        for step in self.tasks.iter_mut().flat_map(|t| &mut t.steps) {
            if let Step::Compute(t) | Step::Overhead(t) = step {
                *t = (*t as f64 * times).round() as Time;
            }
        }
    }
}
