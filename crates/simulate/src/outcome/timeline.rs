//! What happened, as far as it is kept.

use crate::Time;
use kumi_schedule::{Mode, Observed};

/// What a node's worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// The program.
    Active,
    /// Speculative tasks.
    Speculative,
    /// Nothing.
    Idle,
    /// A collection.
    Collecting,
    /// Messages and switches between tasks.
    Overhead,
}

/// How much is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// Of the first so many nodes.
    pub nodes: u32,
    /// So many spans, messages and collections at most, of each.
    pub most: usize,
}

/// A collection, and what it was decided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collection {
    /// The node.
    pub node: u32,
    /// When it began.
    pub at: Time,
    /// How long it takes.
    pub took: Time,
    /// Another node ordered it.
    pub ordered: bool,
    /// It ordered all others.
    pub orders: bool,
    /// It goes on in slices.
    pub sliced: bool,
    /// How the node collected at the time.
    pub mode: Mode,
    /// What it saw.
    pub seen: Observed,
}

/// Spans, messages and collections, in the order in which they ended or began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Nodes that it has.
    pub nodes: u32,
    /// Nodes that there were.
    pub of: u32,
    /// When the program ended.
    pub end: Time,
    /// What nodes did: which, what, from, to.
    pub spans: Vec<(u32, Doing, Time, Time)>,
    /// Messages: from, when, to, when.
    pub messages: Vec<(u32, Time, u32, Time)>,
    /// Collections.
    pub collections: Vec<Collection>,
    /// There was more of something than is kept.
    pub cut: bool,
    most: usize,
}

impl Timeline {
    pub(crate) fn new(nodes: u32, d: &Drawing) -> Timeline {
        Timeline { nodes: nodes.min(d.nodes), of: nodes, most: d.most, ..Timeline::default() }
    }
    fn keeps(&mut self, nodes: [u32; 2], len: usize) -> bool {
        let mine = nodes.iter().all(|n| *n < self.nodes);
        self.cut |= mine && len >= self.most;
        mine && len < self.most
    }
    pub(crate) fn span(&mut self, node: u32, doing: Doing, from: Time, to: Time) {
        if from < to && self.keeps([node; 2], self.spans.len()) {
            self.spans.push((node, doing, from, to));
        }
    }
    pub(crate) fn message(&mut self, from: u32, at: Time, to: u32, arrives: Time) {
        if self.keeps([from, to], self.messages.len()) {
            self.messages.push((from, at, to, arrives));
        }
    }
    pub(crate) fn collection(&mut self, c: Collection) {
        if self.keeps([c.node; 2], self.collections.len()) {
            self.collections.push(c);
        }
    }
}
