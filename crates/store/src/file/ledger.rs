//! What a group of calls has changed: the manager's journal.
//!
//! **Invariant.** It has, for each place that changed since it was last emptied, how it stands now.

use super::value::Value;
use kumi_segments::{Journal, KeyId, New, Segment, Time};
use std::collections::{BTreeMap, BTreeSet};

/// How a place stands now.
pub enum Change {
    Stands(Segment<Value>, Option<Time>),
    Later(New<Value>),
    Gone,
}

impl Change {
    /// The value that stands there.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Change::Stands(s, _) => Some(&s.value),
            Change::Later(n) => Some(&n.value),
            Change::Gone => None,
        }
    }
}

#[derive(Default)]
pub struct Ledger {
    pub places: BTreeMap<(KeyId, u64), Change>,
    /// Keys with another limit.
    pub keys: BTreeSet<KeyId>,
    pub forgotten: Vec<KeyId>,
    pub floor: Option<u64>,
}

impl Ledger {
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.keys.is_empty() && self.forgotten.is_empty() && self.floor.is_none()
    }
}

impl Journal<Value> for Ledger {
    fn stands(&mut self, key: KeyId, place: u64, s: &Segment<Value>, ends: Option<Time>) {
        self.places.insert((key, place), Change::Stands(s.clone(), ends));
    }
    fn later(&mut self, key: KeyId, place: u64, new: &New<Value>) {
        self.places.insert((key, place), Change::Later(new.clone()));
    }
    fn gone(&mut self, key: KeyId, place: u64) {
        self.places.insert((key, place), Change::Gone);
    }
    fn limited(&mut self, key: KeyId) {
        self.keys.insert(key);
    }
    fn forgotten(&mut self, key: KeyId, floor: u64) {
        self.forgotten.push(key);
        self.floor = Some(floor);
    }
}
