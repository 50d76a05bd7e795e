//! What a replay showed.

mod svg;
mod timeline;

pub use timeline::{Collection, Doing, Drawing, Timeline};

use crate::Time;
use kumi_schedule::{Mode, Policy};
use std::fmt::Write;

/// Where a node's time went, the parts of the paper's figure 2. In nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The program.
    pub active: Time,
    /// Speculative tasks; the paper counts them as active.
    pub speculative: Time,
    /// Nothing.
    pub idle: Time,
    /// Collections.
    pub collecting: Time,
    /// Messages and switches between tasks.
    pub overhead: Time,
    /// How many full collections there were.
    pub collections: u64,
    /// How many young ones.
    pub young: u64,
    /// How many of them others ordered.
    pub ordered: u64,
    /// How many idle periods there were.
    pub idle_periods: u64,
    /// The most that the heap was; of all nodes together, the sum of that.
    pub peak: u64,
}

impl Parts {
    pub(crate) fn of(&mut self, doing: Doing) -> &mut Time {
        match doing {
            Doing::Active => &mut self.active,
            Doing::Speculative => &mut self.speculative,
            Doing::Idle => &mut self.idle,
            Doing::Collecting => &mut self.collecting,
            Doing::Overhead => &mut self.overhead,
        }
    }
}

/// What a replay showed. It is a simulation, and to be called so wherever it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The policy.
    pub policy: Policy,
    /// When the program's last task ended.
    pub end: Time,
    /// Each node's time; the parts' sum is `end`.
    pub nodes: Vec<Parts>,
    /// Collections that a node ordered all to.
    pub orders: u64,
    /// Messages of the program's.
    pub messages: u64,
    /// Messages about collections.
    pub control: u64,
    /// How long each request took from its time to its end, sorted.
    pub latencies: Vec<Time>,
    /// When each node went over to another way to collect.
    pub switches: Vec<(Time, u32, Mode)>,
    /// What was kept of all that happened.
    pub timeline: Timeline,
}

impl Outcome {
    /// All nodes together.
    pub fn total(&self) -> Parts {
        let mut sum = Parts::default();
        for p in &self.nodes {
            sum.active = sum.active.saturating_add(p.active);
            sum.speculative = sum.speculative.saturating_add(p.speculative);
            sum.idle = sum.idle.saturating_add(p.idle);
            sum.collecting = sum.collecting.saturating_add(p.collecting);
            sum.overhead = sum.overhead.saturating_add(p.overhead);
            sum.collections = sum.collections.saturating_add(p.collections);
            sum.young = sum.young.saturating_add(p.young);
            sum.ordered = sum.ordered.saturating_add(p.ordered);
            sum.idle_periods = sum.idle_periods.saturating_add(p.idle_periods);
            sum.peak = sum.peak.saturating_add(p.peak);
        }
        sum
    }
    /// So many thousandths of all requests took no longer. 0 where there were none.
    pub fn percentile(&self, thousandths: usize) -> Time {
        let last = self.latencies.len().saturating_sub(1);
        self.latencies.get((self.latencies.len() * thousandths).div_ceil(1000).saturating_sub(1).min(last)).copied().unwrap_or(0)
    }
    /// A line for each node, one for all, and what changed; equal outcomes have equal texts.
    pub fn text(&self) -> String {
        let mut out = format!("simulated, {}: {} ns\n", self.policy.name(), self.end);
        let mut line = |name: &str, p: &Parts| {
            let _ = writeln!(
                out,
                "{name} active {} speculative {} idle {} collecting {} overhead {} collections {} young {} ordered {} idle-periods {} peak {}",
                p.active, p.speculative, p.idle, p.collecting, p.overhead, p.collections, p.young, p.ordered, p.idle_periods, p.peak
            );
        };
        for (n, p) in self.nodes.iter().enumerate() {
            line(&format!("node {n}"), p);
        }
        line("all", &self.total());
        let _ = writeln!(out, "orders {} messages {} control {}", self.orders, self.messages, self.control);
        if !self.latencies.is_empty() {
            let _ = writeln!(
                out,
                "requests {} p50 {} p99 {} p999 {}",
                self.latencies.len(),
                self.percentile(500),
                self.percentile(990),
                self.percentile(999)
            );
        }
        for (at, node, mode) in &self.switches {
            let _ = writeln!(out, "at {at} node {node} {}", if *mode == Mode::Synchronised { "synchronised" } else { "independent" });
        }
        out
    }
}
