//! Calls: the general path. What the loop's fast paths do not cover ends here.
//!
//! An instruction's slow half (`sends`, `operators`, `blocks`) finds what to call and makes a [`Ready`] of the call site's
//! window (`arguments`, with `refinements` in force there); `dispatch` runs a method's body with it; `exits` does what a
//! native asks for instead of returning a value; `missing` is where nothing was found, `unused` where a block will be ignored.
//!
//! **Invariant.** A `Ready` holds the whole call: whoever has one looks at the window no more, so that a frame may be
//! pushed over it. Every path ends with the value in its place, a frame pushed, or an exception on its way.

mod arguments;
mod blocks;
mod dispatch;
mod exits;
mod missing;
mod operators;
mod refinements;
mod sends;
mod unused;

use crate::native::Args;
use kumi_heap::Value;
pub use missing::Missing;

/// A call on its way to its callee.
pub(crate) struct Ready {
    pub recv: Value,
    pub args: Args,
    pub kw: Value,
    /// Nobody else has that Hash: whoever keeps it takes it as it is, else a copy.
    pub kw_own: bool,
    /// Block word for the callee's frame: what `yield` in it calls.
    pub block: Value,
    /// Block given to the call of a block: its `&blk` parameter.
    pub own: Value,
    pub dst: usize,
    pub flags: u64,
}

impl Ready {
    pub fn new(recv: Value, args: Args, dst: usize, flags: u64) -> Ready {
        Ready { recv, args, kw: Value::UNDEF, kw_own: false, block: Value::NIL, own: Value::NIL, dst, flags }
    }
}
