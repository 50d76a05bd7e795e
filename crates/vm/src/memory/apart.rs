//! Roots that a full collection marks apart from all others: what only somebody outside holds, as far as is known.
//!
//! **Invariant.** Between [`Stage::First`] and the last [`Stage::Later`] of a full collection the world is stopped. A young one, and whoever
//! walks over the heap, sees all such roots at once ([`Stage::All`]).

use crate::Cx;
use kumi_heap::{Marker, Value};

/// What is to be shown.
#[derive(Clone, Copy)]
pub enum Stage<'a> {
    /// All of them.
    All,
    /// All of them, and what is not marked in the end is dead: a full collection that goes in slices. It looks more than once.
    Whole,
    /// A full collection begins: those that count as any other root.
    First,
    /// All that was shown is marked, and what is tells the test.
    Later(&'a dyn Fn(Value) -> bool),
}

/// Shows roots. In a full collection it is asked with [`Stage::Later`] again as long as any of those who are asked says true.
pub type Apart = fn(&Cx, Stage, &mut Marker) -> bool;
