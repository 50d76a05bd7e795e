//! The two spin locks of cells: a bit among the flags of a cell's header, and a latch of its own for what keeps its lock beside its
//! data (a queue).
//!
//! Invariant: taking is an Acquire, dropping a Release, so that the next holder sees what the one before has written. A bit is set
//! and cleared by read-modify-write, since others set the flags beside it meanwhile. Either is held for the time of one leaf
//! native or one store, never across a safepoint, a park or a raise: who waits spins.
//!
//! `tests/loom_latch.rs` runs this file in every interleaving.

use super::sync::{AtomicBool, AtomicU8, Ordering::*, spin_until};

/// Takes `bit` if it is free.
#[inline(always)]
pub fn try_bit(flags: &AtomicU8, bit: u8) -> bool {
    flags.load(Relaxed) & bit == 0 && flags.fetch_or(bit, Acquire) & bit == 0
}
/// Drops `bit`, which the caller has taken.
#[inline(always)]
pub fn drop_bit(flags: &AtomicU8, bit: u8) {
    flags.fetch_and(!bit, Release);
}

/// A lock in one byte.
#[derive(Default)]
pub struct Latch(AtomicBool);

impl Latch {
    /// Takes it if it is free.
    #[inline(always)]
    pub(crate) fn try_take(&self) -> bool {
        !self.0.load(Relaxed) && !self.0.swap(true, Acquire)
    }
    /// Takes it; waits while another has it. The line is asked for once, to be written.
    #[inline(always)]
    pub fn take(&self) {
        if self.0.swap(true, Acquire) {
            spin_until(|| self.try_take());
        }
    }
    /// Drops it; the caller has taken it.
    #[inline(always)]
    pub fn let_go(&self) {
        self.0.store(false, Release);
    }
}
