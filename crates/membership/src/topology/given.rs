//! A topology that the program gives.
//!
//! **Invariant.** Every link leads from one of the map's nodes to another.

use super::Link;
use crate::member::{MAX_NAME, Name};
use std::collections::BTreeMap;
use std::fmt;

/// Each node's links by label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given(BTreeMap<Name, BTreeMap<Name, Name>>);

/// What is wrong with a map of links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadTopology {
    /// A link leads to a node that is not in the map.
    Unknown {
        /// Whose link it is.
        from: Name,
        /// Its label.
        label: Name,
        /// The node that is not there.
        to: Name,
    },
    /// A link leads from a node to itself.
    Own {
        /// The node.
        node: Name,
        /// The link's label.
        label: Name,
    },
    /// A node or a link without a name, or with one over 64 bytes.
    Label(Name),
}

impl fmt::Display for BadTopology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadTopology::Unknown { from, label, to } => {
                write!(f, "the link {label} of node {from} leads to {to}, which is no node of the topology")
            }
            BadTopology::Own { node, label } => write!(f, "the link {label} of node {node} leads to itself"),
            BadTopology::Label(l) => write!(f, "{l:?} is no name of a node or a link: it takes 1 to {MAX_NAME} bytes"),
        }
    }
}

impl std::error::Error for BadTopology {}

impl Given {
    /// A map from each node's name to its links: label to name. A node without links has an empty map. Members that are not there yet
    /// may be in it; the links to them appear when they come.
    pub fn new(links: BTreeMap<Name, BTreeMap<Name, Name>>) -> Result<Given, BadTopology> {
        let labels = links.keys().chain(links.values().flat_map(BTreeMap::keys));
        if let Some(bad) = labels.into_iter().find(|l| l.is_empty() || l.len() > MAX_NAME) {
            return Err(BadTopology::Label(bad.clone()));
        }
        for (from, to) in &links {
            for (label, to) in to {
                if to == from {
                    return Err(BadTopology::Own { node: from.clone(), label: label.clone() });
                }
                if !links.contains_key(to) {
                    return Err(BadTopology::Unknown { from: from.clone(), label: label.clone(), to: to.clone() });
                }
            }
        }
        Ok(Given(links))
    }

    pub(super) fn of(&self, me: &str) -> impl Iterator<Item = Link> {
        self.0.get(me).into_iter().flatten().map(|(label, to)| Link { label: label.clone(), to: to.clone() })
    }
}
