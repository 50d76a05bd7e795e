//! Who is in the cluster.

use std::fmt;

/// A node, as the host names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u64);

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// The nodes that run, as one of them sees it; itself among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members(Vec<NodeId>);

impl Members {
    /// These nodes.
    pub fn new(nodes: impl IntoIterator<Item = NodeId>) -> Members {
        let mut all: Vec<NodeId> = nodes.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        Members(all)
    }
    /// One more.
    pub fn add(&mut self, node: NodeId) {
        if let Err(at) = self.0.binary_search(&node) {
            self.0.insert(at, node);
        }
    }
    /// One less.
    pub fn remove(&mut self, node: NodeId) {
        if let Ok(at) = self.0.binary_search(&node) {
            self.0.remove(at);
        }
    }
    /// Is it there?
    pub fn has(&self, node: NodeId) -> bool {
        self.0.binary_search(&node).is_ok()
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// The one that coordinates.
    pub fn coordinator(&self) -> Option<NodeId> {
        self.0.first().copied()
    }
    /// Who comes after a node; the first after the last.
    pub fn after(&self, node: NodeId) -> Option<NodeId> {
        let at = self.0.partition_point(|n| *n <= node);
        self.0.get(at).or(self.0.first()).copied().filter(|n| *n != node)
    }
    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.0.iter().copied()
    }
}
