//! Replays programs of a cluster under any schedule of collections.
//!
//! **Invariant.** A replay is a function of trace, setting and policy: two are equal to the byte, on any machine. Causes are kept, times are
//! not: a step begins when the one before it has ended, what it waits for has come, and the node's one worker is free.
//!
//! - A [`Trace`] is what a program does: its nodes' tasks, each a list of [`Step`]s. It has a text form ([`Trace::parse`]); anything may be
//!   in that, and what is wrong is an error. [`generate`] makes traces in the manner of the paper's four programs, and of programs that
//!   its policies fail on.
//! - A [`Setting`] is the cluster: latency, bandwidth, what a message costs, how large heaps are and how long a collection takes.
//!   [`Setting::ap1000`] is the paper's machine.
//! - [`replay`] runs it with a [`kumi_schedule::Node`] for each node: the code that decides in the runtime decides here too.
//! - An [`Outcome`] has the four parts of the paper's figure 2 for each node, and a [`Timeline`], which [`Timeline::svg`] draws.
//!
//! ```
//! use kumi_schedule::Policy;
//! use kumi_simulate::{Options, Setting, Trace, replay};
//!
//! // Node 0 asks, node 1 computes for a millisecond and answers.
//! let trace = Trace::parse("kumi-trace 1\nnodes 2\ntask 0 s1>1:64 w2 c500000\ntask 1 w1 c1000000 a4096 s2>0:64\n").unwrap();
//! let out = replay(&trace, &Setting::ap1000(), &Options::new(Policy::Independent)).unwrap();
//! assert_eq!((out.nodes[0].active, out.nodes[1].active), (500_000, 1_000_000));
//! assert!(out.end > 1_540_000);
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod generate;
mod outcome;
pub mod recording;
mod replay;
mod setting;
mod trace;

pub use outcome::{Collection, Doing, Drawing, Outcome, Parts, Timeline};
pub use replay::{Failure, Fault, MOST_EVENTS, Options, replay};
pub use setting::{Collecting, Setting, Young};
pub use trace::{Class, Invalid, MAX_NODES, Step, Task, Trace, Wrong};

/// Nanoseconds of the cluster's time, from its beginning.
pub type Time = u64;
