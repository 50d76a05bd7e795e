//! The other nodes, and when one of them is next to be looked at.
//!
//! **Invariant.** No peer's [`Peer::deadline`] is before [`Peers::soonest`]. Whoever changes a peer has it looked at again: messages change one,
//! and there may be hundreds.

use super::options::Options;
use super::peer::Peer;
use crate::Time;
use crate::name::NodeId;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::{Iter, IterMut, Values, ValuesMut};

/// So many may have changed before all are looked at.
const CHANGED: usize = 32;

#[derive(Default)]
pub(crate) struct Peers {
    all: BTreeMap<NodeId, Peer>,
    seen: RefCell<Seen>,
}

/// What is known of deadlines.
#[derive(Default)]
struct Seen {
    /// The first one, or a time before it, of all but those that may have changed since.
    soonest: Option<Time>,
    changed: Vec<NodeId>,
    /// Any may have changed.
    all: bool,
}

impl Peers {
    pub fn get(&self, node: &NodeId) -> Option<&Peer> {
        self.all.get(node)
    }
    pub fn get_mut(&mut self, node: &NodeId) -> Option<&mut Peer> {
        let seen = self.seen.get_mut();
        if !seen.all && seen.changed.last() != Some(node) {
            seen.changed.push(*node);
            seen.all = seen.changed.len() > CHANGED;
        }
        self.all.get_mut(node)
    }
    pub fn insert(&mut self, node: NodeId, peer: Peer) {
        self.all.insert(node, peer);
        self.get_mut(&node);
    }
    pub fn remove(&mut self, node: &NodeId) {
        self.all.remove(node);
    }
    pub fn contains_key(&self, node: &NodeId) -> bool {
        self.all.contains_key(node)
    }
    pub fn len(&self) -> usize {
        self.all.len()
    }
    pub fn iter(&self) -> Iter<'_, NodeId, Peer> {
        self.all.iter()
    }
    pub fn iter_mut(&mut self) -> IterMut<'_, NodeId, Peer> {
        self.seen.get_mut().all = true;
        self.all.iter_mut()
    }
    pub fn values(&self) -> Values<'_, NodeId, Peer> {
        self.all.values()
    }
    pub fn values_mut(&mut self) -> ValuesMut<'_, NodeId, Peer> {
        self.seen.get_mut().all = true;
        self.all.values_mut()
    }
    /// A time that no deadline is before. It may be one that has been put off since: after each [`iter_mut`](Self::iter_mut) it is none.
    pub fn soonest(&self, o: &Options) -> Option<Time> {
        let seen = &mut *self.seen.borrow_mut();
        if std::mem::take(&mut seen.all) {
            seen.changed.clear();
            seen.soonest = self.all.values().filter_map(|p| p.deadline(o)).min();
        }
        let changed = seen.changed.drain(..).filter_map(|n| self.all.get(&n)?.deadline(o));
        seen.soonest = seen.soonest.into_iter().chain(changed).min();
        seen.soonest
    }
}
