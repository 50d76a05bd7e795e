//! When a node of a cluster collects, for lib/kumihimo/segments/schedule.rb.
//!
//! What is decided is decided by the crate `kumi-schedule`. This one brings it together with a runtime: the heap's numbers and what
//! workers do go in, collections come out, and messages go over the connections of `kumi-core-segments`
//! ([`Guest`](kumi_core_segments::Guest)).
//!
//! **Invariant.** A runtime that was given no policy has nothing of this but natives that say so. No worker waits for another node here.
//!
//! All natives are [`Guard::None`].
#![deny(missing_docs)]

mod delay;
mod look;
mod part;
mod start;
mod talk;
mod timeline;

use kumi_vm::*;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    start::boot(cx);
    for table in [start::TABLE, look::TABLE] {
        cx.natives(table);
    }
}

/// A row of a table: an intrinsic that locks nothing.
const fn leaf(name: &'static str, args: u8, f: NativeFn) -> NativeDef {
    intrinsic(name, args, args as i8, f).guard(Guard::None)
}
