//! The replay.
//!
//! **Invariant.** Events happen in the order of their times, those of one time in the order in which they were foreseen. Nothing else
//! decides anything: no map is walked, no clock is read.

mod collect;
mod control;
mod cores;
mod event;
mod machine;
mod work;

use crate::Time;
use crate::outcome::{Drawing, Outcome};
use crate::setting::Setting;
use crate::trace::{Invalid, Program, Trace};
use kumi_schedule::Policy;
use std::fmt;

/// How a program is replayed.
#[derive(Clone, Debug)]
pub struct Options {
    /// When nodes collect.
    pub policy: Policy,
    /// How patient they are, and the paper's numbers.
    pub nodes: kumi_schedule::Options,
    /// How much of the timeline is kept.
    pub drawing: Drawing,
    /// What goes wrong. The node's tasks go on: it is its part in what is said about collections that fails.
    pub faults: Vec<Fault>,
    /// How long members need to see that one is gone, or there again.
    pub detect: Time,
    /// What is chance follows from it. `None`: nothing is. *Chance* is how much garbage each heap has at the beginning, up to the third of
    /// it with which a node collects, so that nodes begin at different places between two collections; and by how much the way of each message is
    /// longer or shorter, up to a twentieth.
    pub seed: Option<u64>,
}

impl Options {
    /// This policy, and nothing goes wrong.
    pub fn new(policy: Policy) -> Options {
        Options {
            policy,
            nodes: kumi_schedule::Options::default(),
            drawing: Drawing::default(),
            faults: Vec::new(),
            detect: 2_000_000_000,
            seed: None,
        }
    }
}

/// Something that goes wrong with what a node says and hears about collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// It begins with this message about collections, of all nodes'; the first is 0.
    pub message: u64,
    /// The node.
    pub node: u32,
    /// How long it lasts; [`Time::MAX`]: for good.
    pub lasts: Time,
    /// Is what is said to it meanwhile heard afterwards (it was stopped), or never (it was cut off)?
    pub stopped: bool,
}

/// Events that may be foreseen at once: two gigabytes or so.
pub const MOST_EVENTS: usize = 1 << 25;

/// Why there is no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The trace can't be replayed.
    Invalid(Invalid),
    /// Tasks wait for each other; this is the first.
    Stuck {
        /// Its node.
        node: u32,
        /// Its place in the trace.
        task: usize,
    },
    /// A heap may not grow, and a collection did not help.
    OutOfMemory {
        /// Whose.
        node: u32,
        /// When.
        at: Time,
    },
    /// It takes longer than [`Setting::longest`], which is this.
    TooLong(Time),
    /// More is foreseen at once than [`MOST_EVENTS`].
    TooMuch,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Failure::Invalid(why) => write!(f, "{why}"),
            Failure::Stuck { node, task } => write!(f, "task {task} on node {node} waits for what does not come"),
            Failure::OutOfMemory { node, at } => write!(f, "node {node} has no memory left after {} ms", at / 1_000_000),
            Failure::TooLong(longest) => {
                write!(f, "the replay takes longer than {} s of the cluster's time: --longest allows no more", *longest as f64 / 1e9)
            }
            Failure::TooMuch => write!(f, "more than {MOST_EVENTS} messages are under way at once"),
        }
    }
}

impl std::error::Error for Failure {}

/// Replays a program.
pub fn replay(trace: &Trace, setting: &Setting, options: &Options) -> Result<Outcome, Failure> {
    let program = Program::new(trace).map_err(Failure::Invalid)?;
    machine::Machine::new(&program, setting, options).run()
}
