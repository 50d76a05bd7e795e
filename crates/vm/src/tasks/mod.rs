//! Tasks: threads and fibers, their stacks and frames, which of them runs, waits and wakes, and on which worker.
//!
//! - `task` is a thread's or fiber's computation; `thread`, `fiber`, `ractor` what the program's object knows of it.
//! - `stack` is its memory; `frame` and `header` what lies in it; `outcome` how a slow path ends.
//! - `sched`: which task runs; `worker`: on which OS threads; `end`: when they are over; `signals`: who hears of them; `waker`: waking from outside; `fault`: what ends
//!   by a panic.
//! - `share`, `hand_over`: what threads give each other.
//! - `interrupt`, `limit`, `lock_book`: what one task does to another.
//! - `detach`, `aside`, `patience`: long natives. `outside`: what hangs on cells and is to end soon after them.

pub(crate) mod aside;
pub(crate) mod detach;
mod end;
pub mod fault;
pub(crate) mod fiber;
pub(crate) mod frame;
mod hand_over;
mod header;
pub(crate) mod interrupt;
pub(crate) mod limit;
pub(crate) mod lock_book;
pub(crate) mod outcome;
pub(crate) mod outside;
pub(crate) mod patience;
mod quiescence;
mod ractor;
mod recorded;
pub(crate) mod sched;
pub mod share;
pub mod signals;
pub mod stack;
pub mod task;
pub mod thread;
pub(crate) mod waker;
pub mod worker;

pub(crate) use end::Leavers;
