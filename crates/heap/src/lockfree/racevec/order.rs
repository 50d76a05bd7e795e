//! The two orderings that a vector's readers and writers meet by.
//!
//! Invariant: whatever makes something reachable without a lock (a word, a span, a slot) is stored with [`PUBLISH`], and whoever
//! goes on from what he read there loads it with [`LOOK`]. `tests/loom_arrays.rs` has models over both, and shows that neither
//! can be weaker.

use std::sync::atomic::Ordering;

/// Of a store that others follow.
pub const PUBLISH: Ordering = Ordering::Release;
/// Of a load that is followed.
pub const LOOK: Ordering = Ordering::Acquire;
