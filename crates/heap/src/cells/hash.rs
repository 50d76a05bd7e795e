//! Hash storage: entries in insertion order, an index beside them once there are
//! more than eight.
//!
//! The table compares keys only by a hash and a test that the caller gives, so
//! that keys whose `eql?` is Ruby code can be probed step by step from the
//! prelude. A removed entry leaves a hole that iteration skips and a rebuild
//! closes; positions of live entries are stable while `iterating() > 0`.
//! `version` changes whenever an entry moves, comes or goes.
//!
//! Who changes a Hash holds its lock or runs alone. Who reads it without the lock
//! sees valid memory and entries that were stored ([`crate::cells::table`] has the
//! order of stores); `find_racing` says besides when its answer may be a
//! mixture: `seq` is odd while entries are moved or exchanged as a whole. Settings
//! are single words, stored with Release.

use crate::cells::header::{Header, Kind, Layout};
use crate::cells::table::TableRef;
use crate::{Value, Visitor, lockfree::deferred};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::*, fence};

/// One association; a hole has an undef key.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The key's hash, as the caller of [`HashData::push`] computed it.
    pub hash: u64,
    /// The key.
    pub key: Value,
    /// The value.
    pub val: Value,
}

/// A writer was at work: take the lock and look again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Busy;

/// The cell.
#[repr(C)]
pub struct HashObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// What is in it. Who replaces all of it calls [`HashData::assign`].
    pub h: HashData,
}
// SAFETY: repr(C), header first, kind used here only.
unsafe impl Layout for HashObj {
    const KIND: Kind = Kind::Hash;
}

impl HashObj {
    /// In `hdr.x`: it was made from keywords (ruby2_keywords).
    const KEYWORDS: u16 = 1;
    /// Was it made from keywords, so that they are keywords again where it is the last value of a splat?
    #[inline]
    pub fn is_keywords(&self) -> bool {
        self.hdr.x.get() == Self::KEYWORDS
    }
    /// Says that it was.
    pub fn set_keywords(&self) {
        self.hdr.x.set(Self::KEYWORDS);
    }
}

/// What a Hash gives for a key that it does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// This value.
    Value(Value),
    /// What this Proc answers, called with the Hash and the key.
    Proc(Value),
}

impl Missing {
    /// What a Hash without a default gives.
    pub const NIL: Missing = Missing::Value(Value::NIL);
    /// The value or the Proc.
    #[inline]
    pub fn either(self) -> Value {
        match self {
            Missing::Value(v) | Missing::Proc(v) => v,
        }
    }
    /// The value; nil: it is a Proc's affair.
    pub fn value(self) -> Value {
        match self {
            Missing::Value(v) => v,
            Missing::Proc(_) => Value::NIL,
        }
    }
}

/// [`Missing`] in one word: an address with its highest bit set is a Proc's, which no other value looks like.
struct MissingWord(AtomicU64);

impl MissingWord {
    const PROC: u64 = 1 << 63;
    #[inline(always)]
    fn get(&self) -> Missing {
        let w = self.0.load(Acquire);
        if w & Self::PROC != 0 && w & 7 == 0 {
            Missing::Proc(Value::from_bits(w & !Self::PROC))
        } else {
            Missing::Value(Value::from_bits(w))
        }
    }
    fn set(&self, m: Missing) {
        let w = match m {
            Missing::Proc(p) if p.is_heap() => p.bits() | Self::PROC,
            m => m.either().bits(),
        };
        self.0.store(w, Release);
    }
}

impl Default for MissingWord {
    fn default() -> Self {
        MissingWord(AtomicU64::new(Value::NIL.bits()))
    }
}

/// Entries, index, and what else a Hash has.
#[derive(Default)]
#[repr(C)]
pub struct HashData {
    /// First: whoever walks over cells asks for the memory that it names before looking at it (`cells/trace.rs`).
    table: TableRef,
    seq: AtomicU32,
    iterating: AtomicU32,
    version: AtomicU32,
    by_identity: AtomicBool,
    missing: MissingWord,
}
const _: () = assert!(std::mem::offset_of!(HashData, table) == 0);

impl Clone for HashData {
    /// The same entries and settings; nobody iterates over the copy, so its version begins anew.
    fn clone(&self) -> Self {
        HashData {
            table: self.table.clone(),
            seq: AtomicU32::new(0),
            iterating: AtomicU32::new(0),
            version: AtomicU32::new(0),
            by_identity: AtomicBool::new(self.by_identity()),
            missing: MissingWord(AtomicU64::new(self.missing.0.load(Acquire))),
        }
    }
}

impl HashData {
    /// An empty table that compares keys by identity when `by_identity`.
    pub fn comparing(by_identity: bool) -> HashData {
        HashData { by_identity: AtomicBool::new(by_identity), ..Default::default() }
    }
    /// Are keys the same when they are the same object?
    #[inline(always)]
    pub fn by_identity(&self) -> bool {
        self.by_identity.load(Acquire)
    }
    /// Sets how keys are compared. Hashes and entries are the caller's affair ([`replace_entries`](Self::replace_entries)).
    pub fn set_by_identity(&mut self, on: bool) {
        self.by_identity.store(on, Release);
    }
    /// What it gives for a key that it does not have.
    #[inline(always)]
    pub fn missing(&self) -> Missing {
        self.missing.get()
    }
    /// Sets that. The caller runs the barrier.
    pub fn set_missing(&mut self, m: Missing) {
        self.missing.set(m);
    }
    /// Changes whenever an entry moves, comes or goes; wraps around.
    #[inline(always)]
    pub fn version(&self) -> u32 {
        self.version.load(Relaxed)
    }
    #[inline(always)]
    fn changed(&self) {
        self.version.store(self.version().wrapping_add(1), Relaxed);
    }
    /// Number of live entries.
    #[allow(clippy::len_without_is_empty)]
    #[inline]
    pub fn len(&self) -> usize {
        self.table.get().live()
    }
    /// Entries and holes: positions are below this.
    pub fn slots(&self) -> usize {
        self.table.get().len()
    }
    /// Bytes outside the cell.
    pub fn bytes(&self) -> usize {
        self.table.get().bytes()
    }
    /// Where its entries are.
    #[inline(always)]
    pub(crate) fn memory(&self) -> *const u8 {
        self.table.get() as *const _ as *const u8
    }
    /// The live entry at position `i`.
    #[inline]
    pub fn at(&self, i: usize) -> Option<Entry> {
        self.table.get().at(i)
    }
    /// The first live position at or after `i`.
    #[inline]
    pub fn next_live(&self, i: usize) -> Option<usize> {
        let t = self.table.get();
        (i.max(t.first())..t.len()).find(|&k| t.at(k).is_some())
    }
    /// The live entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Entry> + '_ {
        self.table.get().iter()
    }
    /// Position of the entry with this hash for which `eq(key)` holds.
    #[inline]
    pub fn find(&self, hash: u64, eq: impl FnMut(Value) -> bool) -> Option<usize> {
        self.table.get().find(hash, 0, eq)
    }
    /// The entry with this hash for which `eq(key)` holds, looked up without the lock.
    #[inline]
    pub fn find_racing(&self, hash: u64, eq: impl FnMut(Value) -> bool) -> Result<Option<Entry>, Busy> {
        let seq = self.seq.load(Acquire);
        if seq & 1 != 0 {
            return Err(Busy);
        }
        let t = self.table.get();
        let r = t.find(hash, 0, eq).and_then(|i| t.at(i));
        fence(Acquire);
        if self.seq.load(Relaxed) == seq { Ok(r) } else { Err(Busy) }
    }
    /// The next position after `from` (from the start: `None`) with this hash: candidates for a user-defined `eql?`.
    pub fn candidate(&self, hash: u64, from: Option<usize>) -> Option<usize> {
        self.table.get().find(hash, from.map_or(0, |f| f.saturating_add(1)), |_| true)
    }

    // --- iteration level ----------------------------------------------------------

    /// Iterations under way: no new keys then.
    #[inline]
    pub fn iterating(&self) -> u32 {
        self.iterating.load(Relaxed)
    }
    /// An iteration starts.
    pub fn enter(&self) {
        let _ = self.iterating.fetch_update(AcqRel, Relaxed, |n| n.checked_add(1));
    }
    /// An iteration ends.
    pub fn leave(&self) {
        let _ = self.iterating.fetch_update(AcqRel, Relaxed, |n| n.checked_sub(1));
    }

    // --- changing -------------------------------------------------------------------

    /// Runs a change that moves entries, for `find_racing` to notice.
    fn moving<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let s = self.seq.load(Relaxed);
        self.seq.store(s.wrapping_add(1), Relaxed);
        fence(Release);
        let r = f(self);
        self.seq.store(s.wrapping_add(2), Release);
        r
    }
    /// Sets the value of the entry at position `i`, which lives. The caller runs the barrier.
    pub fn set_val(&mut self, i: usize, v: Value) {
        self.table.get().set_val(i, v);
    }
    /// Appends an entry whose key is known to be absent.
    #[inline]
    pub fn push(&mut self, hash: u64, key: Value, val: Value) {
        let e = Entry { hash, key, val };
        if !self.table.get().push(e) {
            self.grow();
            self.table.get().push(e);
        }
        self.changed();
    }
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let t = self.table.get();
        let keep = self.iterating() > 0;
        let cap = t.cap();
        let want = if keep || t.live() > cap / 2 { cap * 2 } else { cap };
        self.table.resize(want.max(4), keep);
    }
    /// Removes the entry at `i`; a hole gives an undef key.
    pub fn remove_at(&mut self, i: usize) -> Entry {
        let t = self.table.get();
        let Some(e) = t.at(i) else { return Entry { hash: 0, key: Value::UNDEF, val: Value::NIL } };
        t.kill(i);
        self.changed();
        if t.live() == 0 && self.iterating() == 0 {
            if t.is_small() && !deferred::parallel() {
                self.moving(|h| h.table.get().reset());
            } else {
                self.table.empty();
            }
        }
        e
    }
    /// Removes all entries. While somebody iterates, positions stay and become holes.
    pub fn clear(&mut self) {
        if self.iterating() > 0 {
            let t = self.table.get();
            for i in 0..t.len() {
                if t.at(i).is_some() {
                    t.kill(i);
                }
            }
        } else {
            self.table.empty();
        }
        self.changed();
    }
    /// Room for `n` entries more.
    pub fn reserve(&mut self, n: usize) {
        let t = self.table.get();
        let want = t.len().saturating_add(n).min(1 << 26);
        if want > t.cap() {
            self.table.resize(want, self.iterating() > 0);
        }
    }
    /// Replaces all entries (rehash, compare_by_identity): pairs with fresh hashes, keys distinct.
    pub fn replace_entries(&mut self, es: Vec<Entry>) {
        self.moving(|h| if es.is_empty() { h.table.empty() } else { h.table.fill(es.len(), es.into_iter()) });
        self.changed();
    }
    /// Takes over another's entries, comparison and default.
    pub fn assign(&mut self, other: HashData) {
        self.moving(|h| {
            h.set_by_identity(other.by_identity());
            h.set_missing(other.missing());
            h.table.replace(other.table);
        });
        self.changed();
    }
    /// Takes everything away, the table as it is: who has looked still sees it, who looks now sees no entry.
    pub(crate) fn steal(&mut self) -> HashData {
        let all = HashData::comparing(self.by_identity());
        all.missing.set(self.missing());
        self.moving(|h| {
            all.table.replace_by(&h.table);
            h.set_missing(Missing::NIL);
        });
        self.changed();
        all
    }
    /// Positions from here on may hold what the last collection has not seen.
    pub(crate) fn unseen(&self) -> usize {
        let t = self.table.get();
        t.seen().max(t.first())
    }
    /// The collection that goes on sees all entries.
    pub(crate) fn set_seen(&self) {
        self.table.get().set_seen();
    }
    /// None was seen after all.
    pub(crate) fn unsee(&self) {
        self.table.get().unsee();
    }
    pub(crate) fn trace(&self, owner: Value, to: &mut impl Visitor) {
        to.visit(self.missing().either());
        to.visit_entries(owner, self);
    }
    /// Gives the memory back at once, whatever the mode.
    ///
    /// # Safety
    /// Nobody can reach this Hash any more.
    pub(crate) unsafe fn dispose(&mut self) {
        // SAFETY: the caller's promise.
        unsafe { self.table.dispose() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn h(i: u64) -> u64 {
        i.wrapping_mul(0x517c_c1b7_2722_0a95)
    }
    fn key(i: u64) -> Value {
        Value::fix(i as i64)
    }

    #[test]
    fn keeps_order_through_growth_removal_and_copies() {
        let mut d = HashData::default();
        let mut model: Vec<u64> = Vec::new();
        let mut r = 88172645463325252u64;
        for step in 0..5_000u64 {
            r ^= r << 13;
            r ^= r >> 7;
            r ^= r << 17;
            let k = r % 300;
            // A few equal hashes, to walk the chains.
            let hash = h(k % 97);
            match (d.find(hash, |x| x == key(k)), r >> 32 & 1 == 0) {
                (Some(i), true) => {
                    assert_eq!(d.remove_at(i).key, key(k));
                    model.retain(|m| *m != k);
                }
                (Some(i), false) => d.set_val(i, key(step)),
                (None, _) => {
                    assert!(!model.contains(&k));
                    d.push(hash, key(k), key(step));
                    model.push(k);
                }
            }
            assert_eq!(d.len(), model.len());
            if step % 50 == 0 {
                let c = if step % 100 == 0 { d.clone() } else { std::mem::take(&mut d) };
                let got: Vec<_> = c.iter().map(|e| e.key).collect();
                assert_eq!(got, model.iter().map(|k| key(*k)).collect::<Vec<_>>());
                for k in &model {
                    let i = c.find(h(k % 97), |x| x == key(*k)).expect("found");
                    assert_eq!(c.find_racing(h(k % 97), |x| x == key(*k)).map(|e| e.map(|e| e.key)), Ok(c.at(i).map(|e| e.key)));
                }
                if step % 100 != 0 {
                    d.assign(c);
                }
            }
            if step % 900 == 899 {
                d.clear();
                model.clear();
            }
        }
    }

    #[test]
    fn candidates_come_in_order_and_positions_stay_while_iterating() {
        let mut d = HashData::default();
        for i in 0..40 {
            d.push(h(i % 4), key(i), Value::NIL);
        }
        let mut at = d.candidate(h(1), None);
        let mut seen = Vec::new();
        while let Some(i) = at {
            seen.push(d.at(i).expect("live").key.fix_val());
            at = d.candidate(h(1), Some(i));
        }
        assert_eq!(seen, [1, 5, 9, 13, 17, 21, 25, 29, 33, 37]);
        d.enter();
        for i in 0..30 {
            d.remove_at(i);
        }
        d.reserve(1000);
        assert_eq!((d.next_live(0), d.at(30).map(|e| e.key)), (Some(30), Some(key(30))));
        d.leave();
        d.reserve(10_000);
        assert_eq!(d.next_live(0), Some(0));
    }
}
