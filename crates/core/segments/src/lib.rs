//! Leaf natives of data segments and code segments, for lib/kumihimo/segments.rb.
//!
//! A node's manager (crate kumi-segments) stands outside the Ruby heap, behind one lock. On one node a segment is a pointer: a put
//! stores the cell, a take hands it on.
//!
//! **Invariant.** Values are published, and the key's cell has seen them by the write barrier, before the manager's lock is taken.
//! No cell is made while it is held: making one may sweep, and sweeping may drop what asks for the lock. Whoever is woken is woken
//! after it was let go.
//!
//! What a key's queue holds is marked by the key's cell, so that a collection of young cells looks at changed keys only. Leased
//! segments, answers on their way and code segments are roots; so is what stands under keys where others' calls may move it meanwhile.
//!
//! All natives are [`Guard::None`].
#![deny(missing_docs)]

mod about;
mod cell;
mod clock;
pub mod encode;
mod hand;
mod keys;
mod luggage;
mod notify;
mod plan;
mod put;
mod quick;
mod remote;
mod run;
mod runs;
mod state;
mod wait;
mod watch;

pub use luggage::{Luggage, Porter, carry};
pub use remote::calls::remote as node;
pub use remote::{FORKED, Guest, REFERENCES, Remote as Node, Traffic};
pub use state::{lease, lock_soon};

use kumi_vm::*;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    state::boot(cx);
    for table in [
        about::TABLE,
        clock::TABLE,
        encode::TABLE,
        keys::TABLE,
        luggage::TABLE,
        notify::TABLE,
        plan::TABLE,
        put::TABLE,
        remote::calls::TABLE,
        remote::redis::TABLE,
        remote::stores::TABLE,
        remote::watch::TABLE,
        remote::leaving::TABLE,
        run::TABLE,
        state::TABLE,
        wait::TABLE,
        watch::TABLE,
    ] {
        cx.natives(table);
    }
}

/// The elements of a list that the library hands over.
fn list(v: Value) -> Vec<Value> {
    v.as_array().map_or(Vec::new(), |l| l.seen().to_vec())
}

/// A row of a table: an intrinsic that locks nothing.
const fn leaf(name: &'static str, args: u8, f: NativeFn) -> NativeDef {
    intrinsic(name, args, args as i8, f).guard(Guard::None)
}
