//! Shapes of a cluster: who is whose neighbour, and by what name.
//!
//! A shape is a pure function of the members' names and one's own. Nobody has to be asked, and nodes that see the same members see the
//! same shape. When a member leaves or comes, the links are computed anew, and [`Links::diff`] says what changed.
//!
//! **Invariant.** Links depend on the set of names and not on their order. In every shape but a given one, a link has its counterpart:
//! if `b` is the right of `a`, `a` is the left of `b`.

mod given;

pub use given::{BadTopology, Given};

use crate::member::Name;
use std::collections::BTreeSet;

/// A shape.
#[derive(Debug, Clone, PartialEq)]
pub enum Topology {
    /// By name, in a circle: `right` is the next one and `left` the one before. Who is alone is its own neighbour.
    Ring,
    /// By name, in a row: the last has no `right` and the first no `left`.
    Line,
    /// One in the middle, whose links are `leaf`; every other one's link is `center`. Without a name, or when the one named is not
    /// there, the first by name is in the middle.
    Star(Option<Name>),
    /// By name, level by level, so many children each (at least one): `parent`, and `left` and `right` where there are two, else
    /// `child.0`, `child.1`, ….
    Tree(u16),
    /// Everybody's link to everybody is `peer`.
    Mesh,
    /// As the program says.
    Given(Given),
}

/// A link from a node to a neighbour.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// What the neighbour is called: `right`, `parent`, ….
    pub label: Name,
    /// The neighbour's name.
    pub to: Name,
}

/// One node's links.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links(Vec<Link>);

/// What became of a node's links.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change {
    /// Links that are no more.
    pub gone: Vec<Link>,
    /// Links that are new.
    pub come: Vec<Link>,
}

impl Links {
    /// The neighbour with that label, the first of several.
    pub fn get(&self, label: &str) -> Option<&Name> {
        self.all(label).next()
    }

    /// All neighbours with that label.
    pub fn all(&self, label: &str) -> impl Iterator<Item = &Name> {
        self.0.iter().filter(move |l| &*l.label == label).map(|l| &l.to)
    }

    /// All links.
    pub fn iter(&self) -> impl Iterator<Item = &Link> {
        self.0.iter()
    }

    /// All neighbours, each once, by name.
    pub fn neighbours(&self) -> BTreeSet<&Name> {
        self.0.iter().map(|l| &l.to).collect()
    }

    /// What changed since `before`.
    pub fn diff(&self, before: &Links) -> Change {
        let (new, old): (BTreeSet<_>, BTreeSet<_>) = (self.0.iter().collect(), before.0.iter().collect());
        Change { gone: old.difference(&new).map(|l| (*l).clone()).collect(), come: new.difference(&old).map(|l| (*l).clone()).collect() }
    }
}

impl Topology {
    /// The links of `me`. `members` are the names of all that are there, in any order; who is not among them has no links.
    pub fn links(&self, members: &[Name], me: &str) -> Links {
        let set: BTreeSet<&Name> = members.iter().collect();
        let all: Vec<&Name> = set.iter().copied().collect();
        let Ok(at) = all.binary_search_by(|n| (***n).cmp(me)) else { return Links::default() };
        let link = |label: &str, i: usize| Link { label: label.into(), to: all[i].clone() };
        let n = all.len();
        let mut out = Vec::new();
        match self {
            Topology::Ring => out.extend([link("right", (at + 1) % n), link("left", (at + n - 1) % n)]),
            Topology::Line => {
                out.extend((at + 1 < n).then(|| link("right", at + 1)));
                out.extend((at > 0).then(|| link("left", at - 1)));
            }
            Topology::Star(center) => {
                let center = center.as_ref().and_then(|c| all.binary_search(&c).ok()).unwrap_or(0);
                if at == center {
                    out.extend((0..n).filter(|i| *i != center).map(|i| link("leaf", i)));
                } else {
                    out.push(link("center", center));
                }
            }
            Topology::Tree(arity) => {
                let arity = usize::from(*arity).max(1);
                out.extend((at > 0).then(|| link("parent", (at - 1) / arity)));
                for k in (0..arity).take_while(|k| at * arity + 1 + k < n) {
                    let label = match (arity, k) {
                        (2, 0) => "left".to_owned(),
                        (2, _) => "right".to_owned(),
                        _ => format!("child.{k}"),
                    };
                    out.push(link(&label, at * arity + 1 + k));
                }
            }
            Topology::Mesh => out.extend((0..n).filter(|i| *i != at).map(|i| link("peer", i))),
            Topology::Given(given) => out.extend(given.of(me).filter(|l| set.contains(&l.to))),
        }
        Links(out)
    }
}

#[cfg(test)]
mod tests;
