//! Runs bytecode: stack, interpreter, methods, caches, exceptions.
//!
//! [`Cx`] is one runtime with its worker: what natives receive, and what every room extends. From the bottom:
//!
//! - `names`: interned names. `doors`: how natives are called and answer.
//! - `world`: classes, methods, constants, globals, and the tables that programs fill.
//! - `trace`: what `TracePoint` hears of.
//! - `tasks`: threads and fibers, stacks and frames, who runs, waits and wakes.
//! - `memory`: roots, shortage, giving back, finalizers, the verifier.
//! - `interp`: the loop, calls, unwinding. `natives`: those that need the loop itself.
//! - `cx`: the context and what workers share; `boot` makes a runtime.
#![allow(clippy::new_without_default)]
#![deny(missing_docs)]

mod boot;
mod cx;
mod doors;
mod interp;
mod memory;
mod names;
mod natives;
// The tasks' own items are still to be described.
#[allow(missing_docs)]
mod tasks;
mod trace;
mod world;

pub use cx::runtime::StateRef;
pub use cx::{Cx, Options};
pub use doors::*;
pub use interp::real_path;
pub use kumi_budget::{Grow, ask};
pub use kumi_bytecode::{HELPERS, HELPERS_KEY, ISeq};
pub use kumi_heap::*;
pub use kumi_sched::{Service, Watch, run_promptly};
pub use kumi_text::encoding::EncIndex;
pub use memory::apart::{Apart, Stage};
pub use memory::{machine as memory_limits, profile, schedule};
pub use names::outside::Names;
pub use names::symbols::sym;
pub use tasks::detach::{Pace, VERY_LONG};
pub use tasks::lock_book::{FreeLock, LockBook, WaitList};
pub use tasks::outside::{Asks, OutsideBell, OutsideWatch};
pub use tasks::patience::Patience;
pub use tasks::sched::now_ns;
pub use tasks::task::Ticket;
pub use tasks::waker::{Spawner, Waker};
pub use tasks::worker::Fork;
pub use tasks::{fault, share, signals, task, thread, worker};
pub use world::method_obj::{MethodObj, Param};
pub use world::{Known, library, method};
