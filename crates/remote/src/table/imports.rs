//! The import table: objects of other nodes that this one holds.
//!
//! **Invariant.** One entry for each [`Ref`], as long as the host has a proxy for it, a parcel lends it, or something here forwards to it.
//! The table holds nothing of the host's: the host says when its proxy died.

use super::{Map, map};
use crate::name::{Error, Ref};

slotmap::new_key_type! {
    /// An object of another node that this node holds. Void once it is held no more.
    pub struct Import;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Its owner knows that this node holds it.
    Live,
    /// Its owner is being told, by the claim of this number.
    Claiming(u64),
    /// It is of no use any more.
    Dead(Error),
    /// It has moved: this one is it now.
    Moved(Import),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub r: Ref,
    pub state: State,
    /// The newest proxy's number.
    pub version: u32,
    /// Does the host have a proxy?
    pub given: bool,
    /// Parcels that lend it, exports and imports that forward to it.
    pub pins: u32,
    /// It has moved, and its owner is to be told that it is held no more: once no parcel lends it, and its claim is answered.
    pub owed: Option<State>,
    /// The last turn in which its owner was told that it is reachable.
    pub told: u32,
}

pub(crate) struct Imports {
    all: slotmap::SlotMap<Import, Entry>,
    by_ref: Map<Ref, Import>,
}

impl Imports {
    pub fn new(seed: u64) -> Imports {
        Imports { all: slotmap::SlotMap::with_key(), by_ref: map(seed) }
    }
    pub fn len(&self) -> usize {
        self.all.len()
    }
    pub fn find(&self, r: &Ref) -> Option<Import> {
        self.by_ref.get(r).copied()
    }
    pub fn get(&self, i: Import) -> Option<&Entry> {
        self.all.get(i)
    }
    pub fn get_mut(&mut self, i: Import) -> Option<&mut Entry> {
        self.all.get_mut(i)
    }
    pub fn add(&mut self, r: Ref, state: State, told: u32) -> Import {
        let i = self.all.insert(Entry { r, state, version: 0, given: false, pins: 0, owed: None, told });
        self.by_ref.insert(r, i);
        i
    }
    /// The next arrival of this reference makes another entry.
    pub fn forget(&mut self, i: Import) {
        if let Some(e) = self.all.get(i)
            && self.by_ref.get(&e.r) == Some(&i)
        {
            self.by_ref.remove(&e.r);
        }
    }
    pub fn remove(&mut self, i: Import) -> Option<Entry> {
        self.forget(i);
        self.all.remove(i)
    }
    /// The last of those that it was moved to.
    pub fn follow(&self, mut i: Import) -> Import {
        while let Some(State::Moved(to)) = self.all.get(i).map(|e| e.state) {
            i = to;
        }
        i
    }
    pub fn each(&self) -> impl Iterator<Item = (Import, &Entry)> {
        self.all.iter()
    }
}
