//! Hash storage: entries in insertion order, an index beside them once there are
//! more than eight.
//!
//! The table compares keys only by a hash and a test that the caller gives, so
//! that keys whose `eql?` is Ruby code can be probed step by step from the
//! prelude. A removed entry leaves a hole (`key` undef) that iteration skips and
//! a rebuild closes; positions of live entries are stable while `iterating > 0`.
//! `version` changes whenever an entry moves, comes or goes.

use crate::header::{Header, Kind, Layout};
use crate::{Marker, Value};
use hashbrown::HashTable;
use std::hash::Hasher;

/// The hash of a string's bytes: what `String#hash` and hash tables with string keys use.
#[inline]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut h = rustc_hash::FxHasher::default();
    h.write(bytes);
    h.write_usize(bytes.len());
    h.finish()
}

/// One association; a hole has an undef key.
#[derive(Clone, Copy)]
pub struct Entry {
    pub hash: u64,
    pub key: Value,
    pub val: Value,
}

/// The cell.
#[repr(C)]
pub struct HashObj {
    pub hdr: Header,
    pub h: Box<HashData>,
}
// SAFETY: repr(C), header first, kind used here only.
unsafe impl Layout for HashObj {
    const KIND: Kind = Kind::Hash;
}

/// Entries, index, and what else a Hash has.
#[derive(Clone)]
pub struct HashData {
    entries: Vec<Entry>,
    index: Option<HashTable<u32>>,
    live: usize,
    /// Entries before this one are holes.
    first: usize,
    pub version: u32,
    /// Iterations under way: no new keys then.
    pub iterating: u32,
    pub by_identity: bool,
    /// Default value, or the default proc when `default_is_proc`.
    pub default: Value,
    pub default_is_proc: bool,
}

const SMALL: usize = 8;

impl Default for HashData {
    fn default() -> Self {
        HashData {
            entries: Vec::new(),
            index: None,
            live: 0,
            first: 0,
            version: 0,
            iterating: 0,
            by_identity: false,
            default: Value::NIL,
            default_is_proc: false,
        }
    }
}

impl HashData {
    /// An empty table that compares keys by identity when `by_identity`.
    pub fn comparing(by_identity: bool) -> HashData {
        HashData { by_identity, ..Default::default() }
    }
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.live
    }
    /// Entries and holes: positions are below this.
    pub fn slots(&self) -> usize {
        self.entries.len()
    }
    /// Bytes outside the cell.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * 24 + self.index.as_ref().map_or(0, |t| t.capacity() * 5) + 96
    }
    /// The live entry at position `i`.
    pub fn at(&self, i: usize) -> Option<Entry> {
        self.entries.get(i).copied().filter(|e| !e.key.is_undef())
    }
    /// The first live position at or after `i`.
    pub fn next_live(&self, i: usize) -> Option<usize> {
        (i.max(self.first)..self.entries.len()).find(|&k| !self.entries[k].key.is_undef())
    }
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Entry> + '_ {
        self.entries[self.first.min(self.entries.len())..].iter().copied().filter(|e| !e.key.is_undef())
    }
    /// Position of the entry with this hash for which `eq(key)` holds.
    #[inline]
    pub fn find(&self, hash: u64, mut eq: impl FnMut(Value) -> bool) -> Option<usize> {
        match &self.index {
            None => (self.first..self.entries.len()).find(|&i| {
                let e = &self.entries[i];
                e.hash == hash && !e.key.is_undef() && eq(e.key)
            }),
            Some(t) => t
                .find(hash, |&i| {
                    let e = &self.entries[i as usize];
                    e.hash == hash && eq(e.key)
                })
                .map(|&i| i as usize),
        }
    }
    /// The next position after `from` (from the start: `None`) with this hash: candidates for a user-defined `eql?`.
    pub fn candidate(&self, hash: u64, from: Option<usize>) -> Option<usize> {
        let start = from.map_or(self.first, |f| f + 1);
        match &self.index {
            None => (start..self.entries.len()).find(|&i| self.entries[i].hash == hash && !self.entries[i].key.is_undef()),
            Some(t) => t.iter_hash(hash).map(|&i| i as usize).filter(|&i| i >= start && self.entries[i].hash == hash).min(),
        }
    }
    pub fn set_val(&mut self, i: usize, v: Value) {
        self.entries[i].val = v;
    }
    /// Appends an entry whose key is known to be absent.
    pub fn push(&mut self, hash: u64, key: Value, val: Value) {
        if self.entries.len() == self.entries.capacity() && self.live < self.entries.len() / 2 && self.iterating == 0 {
            self.compact();
        }
        let i = self.entries.len() as u32;
        self.entries.push(Entry { hash, key, val });
        self.live += 1;
        self.version = self.version.wrapping_add(1);
        if let Some(t) = &mut self.index {
            let es = &self.entries;
            t.insert_unique(hash, i, |&k| es[k as usize].hash);
        } else if self.entries.len() > SMALL {
            self.reindex();
        }
    }
    /// Removes the entry at `i`.
    pub fn remove_at(&mut self, i: usize) -> Entry {
        let e = self.entries[i];
        if let Some(t) = &mut self.index {
            if let Ok(o) = t.find_entry(e.hash, |&k| k as usize == i) {
                o.remove();
            }
        }
        self.entries[i] = Entry { hash: 0, key: Value::UNDEF, val: Value::NIL };
        self.live -= 1;
        self.version = self.version.wrapping_add(1);
        if self.live == 0 && self.iterating == 0 {
            self.entries.clear();
            self.first = 0;
            if let Some(t) = &mut self.index {
                t.clear();
            }
        } else {
            while self.first < self.entries.len() && self.entries[self.first].key.is_undef() {
                self.first += 1;
            }
        }
        e
    }
    pub fn clear(&mut self) {
        if self.iterating > 0 {
            for e in &mut self.entries {
                *e = Entry { hash: 0, key: Value::UNDEF, val: Value::NIL };
            }
            self.first = self.entries.len();
        } else {
            self.entries = Vec::new();
            self.first = 0;
        }
        self.index = None;
        self.live = 0;
        self.version = self.version.wrapping_add(1);
    }
    pub fn reserve(&mut self, n: usize) {
        self.entries.reserve(n);
    }
    /// Replaces all entries (rehash, compare_by_identity): pairs with fresh hashes, keys distinct.
    pub fn replace_entries(&mut self, es: Vec<Entry>) {
        self.live = es.len();
        self.entries = es;
        self.first = 0;
        self.index = None;
        self.version = self.version.wrapping_add(1);
        if self.entries.len() > SMALL {
            self.reindex();
        }
    }
    fn compact(&mut self) {
        self.entries.retain(|e| !e.key.is_undef());
        self.first = 0;
        if self.index.is_some() {
            self.reindex();
        }
    }
    fn reindex(&mut self) {
        let mut t = HashTable::with_capacity(self.entries.capacity().max(16));
        for (i, e) in self.entries.iter().enumerate() {
            if !e.key.is_undef() {
                t.insert_unique(e.hash, i as u32, |&k: &u32| self.entries[k as usize].hash);
            }
        }
        self.index = Some(t);
    }
    pub(crate) fn trace(&self, m: &mut Marker) {
        m.mark(self.default);
        for e in &self.entries {
            m.mark(e.key);
            m.mark(e.val);
        }
    }
}
