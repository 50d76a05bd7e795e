//! Calls: the general path. What the loop's fast paths do not cover ends here.
//!
//! An instruction's slow half (`sends`, `operators`, `blocks`) finds what to call and makes a [`ResolvedCall`] of the call site's
//! window (`arguments`, with `refinements` in force there); `dispatch` runs a method's body with it; `exits` does what a
//! native asks for instead of returning a value; `missing` is where nothing was found, `unused` where a block will be ignored.
//!
//! **Invariant.** A `ResolvedCall` holds the whole call: whoever has one looks at the window no more, so that a frame may be
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

pub use missing::Missing;
pub(super) use operators::method_of;
