//! What the paper computes: whether a heap grows, what independent collections would cost, and when that is little.
//!
//! **Invariant.** Functions of their arguments; nothing is remembered. Numbers of the paper's are constants with their place in it (Taura
//! and Yonezawa, "On Local Garbage Collection Scheduling Schemes for Distributed Memory Parallel Computers", 2000); what it leaves open
//! is marked *ours*.

mod growth;
mod latency;

pub use growth::{GROWTH_STEP, Growth, Heap, overflow, threshold};
pub use latency::{
    CLEARLY, COUNTER, Counter, Hold, NOTICE_LIVES, Report, alarmed, clearly_favours, degradation, expected, favours_independent, hit,
};

/// `c` (3.2): a heap of at most this part of the largest one's size grows to that size, and does not collect.
pub const C: f64 = 0.8;
/// `f` (3.2, in its example; it is adjustable): the node collects where it has allocated more than this part of its heap.
pub const F: f64 = 3.0;
/// 3.3, condition 1: a node that reports a greater `D` is harmed by independent collections.
pub const HARMED: f64 = 0.3;
/// 3.3, condition 1: independent collections are favoured where less than this part of all nodes is harmed.
pub const HARMED_SHARE: f64 = 1.0 / 8.0;
/// 3.3, condition 2, and for notices: a node that is used less than this is idle.
pub const IDLE: f64 = 0.5;
/// 3.3, condition 2: independent collections are favoured where less than this part of all nodes is idle.
pub const IDLE_SHARE: f64 = 0.5;
/// 3.3: notices from more than this part of all nodes end independent collections.
pub const NOTICE_SHARE: f64 = 1.0 / 16.0;

/// The paper's numbers, for whoever wants to see what others do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// See [`C`].
    pub c: f64,
    /// See [`F`]. Above 1.
    pub f: f64,
    /// See [`HARMED`].
    pub harmed: f64,
    /// See [`HARMED_SHARE`].
    pub harmed_share: f64,
    /// See [`IDLE`].
    pub idle: f64,
    /// See [`IDLE_SHARE`].
    pub idle_share: f64,
    /// See [`NOTICE_SHARE`].
    pub notice_share: f64,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            c: C,
            f: F,
            harmed: HARMED,
            harmed_share: HARMED_SHARE,
            idle: IDLE,
            idle_share: IDLE_SHARE,
            notice_share: NOTICE_SHARE,
        }
    }
}
