//! Runs bytecode: stack, interpreter, methods, caches, exceptions.
//!
//! - [`Cx`] is one runtime with its worker: what natives receive.
//! - `interp`: the loop, calls, unwinding.
//! - `world`: classes, method lookup, constants, globals.
//! - `plain`: equality, hashing, order and inspection of plain values.
//! - `native`: how leaf natives are called and how they answer; `natives`: those that need the loop itself.
//! - `stack`: the memory of a task's stack, growing and shrinking.
//! - `task`: fibers, threads; `sched`: which of them runs, waits and wakes; `worker`: on which OS threads.
//! - `prelude`: built-in classes in Ruby, compiled when first called.
#![allow(clippy::new_without_default)]

mod alloc;
mod aside;
mod boot;
mod cx;
mod detach;
pub mod fault;
mod fiber;
mod finalize;
mod fstring;
mod gc;
mod give_back;
mod guard;
pub mod hash_key;
pub mod interp;
mod interrupt;
pub mod library;
mod limit;
mod lock_book;
pub mod memory;
pub mod method;
pub mod method_obj;
pub mod native;
mod natives;
mod outside;
mod patience;
pub mod plain;
pub mod prelude;
pub mod profile;
pub mod ractor;
mod reader;
mod room;
pub mod runtime;
mod sched;
mod sites;
mod stable;
pub mod stack;
mod symbols;
mod tables;
pub mod task;
pub mod thread;
pub(crate) mod trace;
mod verify;
mod waker;
pub mod worker;
mod world;

pub use cx::{Cx, Options};
pub use detach::{Pace, VERY_LONG};
pub use interp::real_path;
pub use kumi_bytecode::{HELPERS, HELPERS_KEY, ISeq};
pub use kumi_heap::*;
pub use kumi_room::Grow;
pub use kumi_sched::Watch;
pub use kumi_text::encoding::EncIndex;
pub use lock_book::{FreeLock, LockBook, WaitList};
pub use method_obj::{MethodObj, Param};
pub use native::*;
pub use outside::OutsideWatch;
pub use patience::Patience;
pub use runtime::StateRef;
pub use sched::now_ns;
pub use symbols::sym;
pub use task::Ticket;
pub use waker::{Spawner, Waker};
pub use world::{Known, NO_METHOD};
