//! Leaf natives of remote references, for lib/kumihimo/remote.rb: objects of one node that are used from others.
//!
//! What is exported, imported and collected is decided by the crate `kumi-remote`; what is said goes over the connections of
//! `kumi-core-segments` ([`Guest`](kumi_core_segments::Guest)). This crate brings both together with Ruby: who waits for an answer, who
//! answers, which methods others may call, which cells stand for objects of other nodes.
//!
//! **Invariant.** Nothing that comes from outside is called but a public method that a program wrote for it (`allow`). An object that
//! others hold is a root; one of theirs is held as long as a proxy of it, or a message that brings it, is here.
//!
//! All natives but one are [`Guard::None`].
#![deny(missing_docs)]

mod allow;
mod call;
mod guest;
mod host;
mod look;
mod moving;
mod proxy;
mod serve;
mod state;
mod talk;

use kumi_vm::*;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    state::boot(cx, guest::begin);
    for table in [state::TABLE, proxy::TABLE, call::TABLE, serve::TABLE, moving::TABLE, allow::TABLE, look::TABLE] {
        cx.natives(table);
    }
}

/// A row of a table: an intrinsic that locks nothing.
const fn leaf(name: &'static str, args: u8, f: NativeFn) -> NativeDef {
    intrinsic(name, args, args as i8, f).guard(Guard::None)
}

/// Raises an error of that class with the values that its `new` wants.
fn fail(cx: &mut Cx, class: &'static str, msg: &str) -> Exit {
    let c = cx.const_path(class).and_then(|v| v.as_class()).unwrap_or(cx.k.runtime_error);
    cx.raise_msg(c, msg)
}
