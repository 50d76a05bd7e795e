//! The storage of a Hash: entries in insertion order and, beyond eight, an
//! open-addressing index behind them, in one piece of memory.
//!
//! Invariant: an entry is written before an index slot names it, the slot before
//! `len` covers the entry, each with Release. A position is never given to a
//! second entry while a racing reader may hold the table: removal only makes the
//! key undef, and what would move entries makes another table. The index has
//! twice as many slots as there can be entries and a removed entry's slot stays,
//! so a probe always ends at an empty slot (and is bounded all the same). Hence a
//! reader without the object's lock finds an entry that was there, or does not
//! find one that came or went meanwhile; it never reads outside the table.
//!
//! What the collector has seen of it: the entries below `seen` hold only what is marked, and need not be looked at in
//! a young collection. Every change below `seen` lowers it; what makes another table begins anew, or keeps
//! positions and says so.

use crate::Value;
use crate::cells::hash::Entry;
use crate::lockfree::{deferred, halves};
use kumi_budget::{ask, asking, refuse};
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::mem::size_of;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::*};

/// Entries that are searched one by one.
const SMALL: u32 = 8;
/// What there is room for at least: literals of two are common.
const LEAST: u32 = 2;
const MAX: u32 = 1 << 30;

/// Head of the memory; `cap` slots and then the index follow.
#[repr(C)]
pub(crate) struct Table {
    cap: u32,
    /// Binary logarithm of the index's size; 0: no index.
    bits: u32,
    /// Positions in use, holes included.
    len: AtomicU32,
    /// Positions below are holes.
    first: AtomicU32,
    /// Entries that are no holes.
    live: AtomicU32,
    /// See the module.
    seen: AtomicU32,
}

#[repr(C)]
struct Slot {
    hash: AtomicU64,
    key: AtomicU64,
    val: AtomicU64,
}

/// What an empty Hash has: no room. Never written to.
static EMPTY: Table =
    Table { cap: 0, bits: 0, len: AtomicU32::new(0), first: AtomicU32::new(0), live: AtomicU32::new(0), seen: AtomicU32::new(0) };

#[inline(always)]
fn mix(hash: u64) -> u64 {
    hash.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Table {
    fn layout(cap: u32) -> Layout {
        let bytes = size_of::<Table>() + cap as usize * size_of::<Slot>() + (4usize << Self::bits_for(cap));
        match Layout::from_size_align(bytes, 8) {
            Ok(l) => l,
            Err(_) => refuse(),
        }
    }
    /// Bits of the index of a table of `cap` (a power of two) entries.
    fn bits_for(cap: u32) -> u32 {
        if cap <= SMALL { 0 } else { cap.trailing_zeros() + 1 }
    }
    /// A table with room for at least `cap` entries.
    fn make(cap: usize) -> *mut Table {
        if cap > MAX as usize {
            // Beyond any machine.
            refuse();
        }
        let cap = (cap as u32).max(LEAST).next_power_of_two();
        let l = Self::layout(cap);
        let bits = Self::bits_for(cap);
        // SAFETY: the size is not zero. Zeroes are empty index slots; what is above `len` is never read.
        let take = || unsafe { if bits == 0 { alloc(l) } else { alloc_zeroed(l) } } as *mut Table;
        ask(l.size());
        let p = if l.size() < kumi_budget::LARGE { take() } else { asking(take) };
        if p.is_null() {
            refuse();
        }
        let zero = || AtomicU32::new(0);
        // SAFETY: fresh memory of at least a Table's size.
        unsafe { p.write(Table { cap, bits, len: zero(), first: zero(), live: zero(), seen: zero() }) };
        p
    }
    pub(crate) fn bytes(&self) -> usize {
        if self.cap == 0 { 0 } else { Self::layout(self.cap).size() }
    }
    pub(crate) fn cap(&self) -> usize {
        self.cap as usize
    }
    /// Positions in use.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len.load(Acquire) as usize
    }
    #[inline(always)]
    pub(crate) fn live(&self) -> usize {
        self.live.load(Relaxed) as usize
    }
    #[inline(always)]
    pub(crate) fn first(&self) -> usize {
        self.first.load(Relaxed) as usize
    }
    #[inline(always)]
    fn slot(&self, i: usize) -> &Slot {
        debug_assert!(i < self.cap as usize);
        // SAFETY: callers stay below `len`, which never exceeds `cap`; the slots follow the head.
        unsafe { &*((self as *const Table).add(1) as *const Slot).add(i) }
    }
    #[inline(always)]
    fn index(&self) -> &[AtomicU32] {
        // SAFETY: the index of `1 << bits` words follows `cap` slots.
        unsafe {
            let at = ((self as *const Table).add(1) as *const Slot).add(self.cap as usize) as *const AtomicU32;
            std::slice::from_raw_parts(at, 1 << self.bits)
        }
    }
    /// The live entry at `i`.
    #[inline(always)]
    pub(crate) fn at(&self, i: usize) -> Option<Entry> {
        if i >= self.len() {
            return None;
        }
        let s = self.slot(i);
        let key = Value::from_bits(s.key.load(Acquire));
        if key.is_undef() {
            return None;
        }
        Some(Entry { hash: s.hash.load(Relaxed), key, val: Value::from_bits(s.val.load(Acquire)) })
    }
    /// Positions from `from` on whose entries have this hash, in order, until `ok` takes one's key.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u64, from: usize, mut ok: impl FnMut(Value) -> bool) -> Option<usize> {
        let len = self.len();
        let mut test = |i: usize| {
            let s = self.slot(i);
            if s.hash.load(Relaxed) != hash {
                return false;
            }
            let k = Value::from_bits(s.key.load(Acquire));
            !k.is_undef() && ok(k)
        };
        if self.bits == 0 {
            return (from.max(self.first())..len).find(|&i| test(i));
        }
        let index = self.index();
        let mask = index.len() - 1;
        let m = mix(hash);
        let low = mask as u32;
        let home = (m >> (64 - self.bits)) as usize;
        for at in home..home + index.len() {
            let w = index[at & mask].load(Acquire);
            if w == 0 {
                return None;
            }
            if (w ^ m as u32) & !low == 0 {
                let i = (w & low) as usize - 1;
                if i >= from && i < len && test(i) {
                    return Some(i);
                }
            }
        }
        None
    }
    /// Writes an index slot for position `i`.
    #[inline(always)]
    fn link(&self, hash: u64, i: usize) {
        let index = self.index();
        let mask = index.len() - 1;
        let m = mix(hash);
        let home = (m >> (64 - self.bits)) as usize;
        for at in home..home + index.len() {
            let w = &index[at & mask];
            if w.load(Relaxed) == 0 {
                return w.store((m as u32 & !(mask as u32)) | (i as u32 + 1), Release);
            }
        }
    }
    /// Appends an entry; false when there is no room. For the only writer.
    #[inline(always)]
    pub(crate) fn push(&self, e: Entry) -> bool {
        let n = self.len.load(Relaxed);
        if n >= self.cap {
            return false;
        }
        let s = self.slot(n as usize);
        s.hash.store(e.hash, Relaxed);
        s.val.store(e.val.bits(), Relaxed);
        s.key.store(e.key.bits(), Release);
        if self.bits != 0 {
            self.link(e.hash, n as usize);
        }
        self.live.store(self.live.load(Relaxed) + 1, Relaxed);
        self.len.store(n + 1, Release);
        true
    }
    /// Makes the live entry at `i` a hole.
    pub(crate) fn kill(&self, i: usize) {
        self.slot(i).key.store(Value::UNDEF.bits(), Release);
        self.live.store(self.live.load(Relaxed).saturating_sub(1), Relaxed);
        let len = self.len();
        let mut f = self.first();
        while f < len && self.slot(f).key.load(Relaxed) == Value::UNDEF.bits() {
            f += 1;
        }
        self.first.store(f as u32, Relaxed);
    }
    #[inline]
    pub(crate) fn set_val(&self, i: usize, v: Value) {
        if i < self.len() {
            self.slot(i).val.store(v.bits(), Release);
            if i < self.seen() {
                self.seen.store(i as u32, Relaxed);
            }
        }
    }
    #[inline(always)]
    pub(crate) fn seen(&self) -> usize {
        self.seen.load(Relaxed) as usize
    }
    /// All there is now has been seen by the collection that goes on, at a stop.
    #[inline]
    pub(crate) fn set_seen(&self) {
        let n = self.len.load(Relaxed);
        if self.seen.load(Relaxed) != n {
            self.seen.store(n, Relaxed);
        }
    }
    /// No entry was seen, at a stop.
    pub(crate) fn unsee(&self) {
        if self.seen() > 0 {
            self.seen.store(0, Relaxed);
        }
    }
    /// Forgets the entries of a small table. Only where nobody else reads.
    pub(crate) fn reset(&self) {
        self.first.store(0, Relaxed);
        self.live.store(0, Relaxed);
        self.seen.store(0, Relaxed);
        self.len.store(0, Release);
    }
    pub(crate) fn is_small(&self) -> bool {
        self.bits == 0
    }
    /// Live entries from the first on.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Entry> + '_ {
        let len = self.len();
        (self.first().min(len)..len).filter_map(|i| self.at(i))
    }
}

/// The word of a Hash that names its table.
pub(crate) struct TableRef(AtomicPtr<Table>);

impl Default for TableRef {
    fn default() -> Self {
        TableRef(AtomicPtr::new(&raw const EMPTY as *mut Table))
    }
}

impl TableRef {
    /// The table as it is now. Good until the next safepoint.
    #[inline(always)]
    pub(crate) fn get(&self) -> &Table {
        // SAFETY: never null; a table that is replaced lives until the next stop, or the only thread replaces it.
        unsafe { &*self.0.load(Acquire) }
    }
    fn release(&self, t: *mut Table) {
        let old = self.0.swap(t, AcqRel);
        // SAFETY: made by `make` with that layout, and named by this word only.
        unsafe {
            if (*old).cap != 0 {
                halves::moved(old.addr(), (*old).cap as usize);
                deferred::free_later(old as *mut u8, Table::layout((*old).cap));
            }
        }
    }
    /// No entries.
    pub(crate) fn empty(&self) {
        self.release(&raw const EMPTY as *mut Table);
    }
    /// Entries as given.
    pub(crate) fn fill(&self, cap: usize, es: impl Iterator<Item = Entry>) {
        let t = Table::make(cap);
        for e in es {
            // SAFETY: just made; the callers count what they give.
            unsafe { (*t).push(e) };
        }
        self.release(t);
    }
    /// Room for `cap` entries. Holes stay, when positions must.
    pub(crate) fn resize(&self, cap: usize, keep_positions: bool) {
        let old = self.get();
        if old.cap == 0 {
            // Nothing to keep, and nothing to give back.
            return self.0.store(Table::make(cap), Release);
        }
        if !keep_positions && old.live() < old.len() {
            return self.fill(cap.max(old.live()), old.iter());
        }
        let t = Table::make(cap.max(old.len()));
        // SAFETY: just made, with room for all positions.
        let new = unsafe { &*t };
        if old.live() == old.len() {
            let n = old.len();
            if n > 0 {
                // SAFETY: both have `n` slots; the caller is the only writer.
                unsafe { std::ptr::copy_nonoverlapping(old.slot(0), new.slot(0) as *const Slot as *mut Slot, n) };
            }
            if new.bits != 0 {
                (0..n).for_each(|i| new.link(new.slot(i).hash.load(Relaxed), i));
            }
            new.live.store(n as u32, Relaxed);
            new.len.store(n as u32, Relaxed);
            new.seen.store(old.seen() as u32, Relaxed);
            return self.release(t);
        }
        for i in 0..old.len() {
            match old.at(i) {
                Some(e) => new.push(e),
                None => new.push(Entry { hash: 0, key: Value::UNDEF, val: Value::NIL }),
            };
        }
        new.live.store(old.live.load(Relaxed), Relaxed);
        new.first.store(old.first.load(Relaxed), Relaxed);
        self.release(t);
    }
    /// Takes over another's table.
    pub(crate) fn replace(&self, other: TableRef) {
        self.replace_by(&other);
    }
    /// The same; the other one is left empty.
    pub(crate) fn replace_by(&self, other: &TableRef) {
        self.release(other.0.swap(&raw const EMPTY as *mut Table, AcqRel));
    }
    /// Gives the memory back at once, whatever the mode.
    ///
    /// # Safety
    /// Nobody can reach this word any more.
    pub(crate) unsafe fn dispose(&mut self) {
        let t = std::mem::replace(self.0.get_mut(), &raw const EMPTY as *mut Table);
        // SAFETY: made by `make` with that layout; no reader by the caller's promise.
        unsafe {
            if (*t).cap != 0 {
                dealloc(t as *mut u8, Table::layout((*t).cap));
            }
        }
    }
}

impl Drop for TableRef {
    fn drop(&mut self) {
        self.empty();
    }
}

impl Clone for TableRef {
    /// The live entries. A racing writer's changes are in or not, one by one.
    fn clone(&self) -> Self {
        let old = self.get();
        let r = TableRef::default();
        let n = old.len();
        if n == 0 || old.live() == 0 {
            return r;
        }
        if old.live() < n || old.cap as usize / 4 > n {
            let es: Vec<Entry> = old.iter().collect();
            r.fill(es.len(), es.into_iter());
            return r;
        }
        // No holes: the same positions, and the index as it stands without what came meanwhile.
        let t = Table::make(old.cap());
        // SAFETY: just made, of the same capacity.
        let new = unsafe { &*t };
        let (mut live, mut first) = (0, n);
        for i in 0..n {
            let (a, b) = (old.slot(i), new.slot(i));
            let key = a.key.load(Acquire);
            b.hash.store(a.hash.load(Relaxed), Relaxed);
            b.key.store(key, Relaxed);
            b.val.store(a.val.load(Acquire), Relaxed);
            if key != Value::UNDEF.bits() {
                live += 1;
                first = first.min(i);
            }
        }
        if old.bits != 0 {
            let low = new.index().len() as u32 - 1;
            for (a, b) in old.index().iter().zip(new.index()) {
                let w = a.load(Acquire);
                if w & low != 0 && (w & low) as usize <= n {
                    b.store(w, Relaxed);
                }
            }
        }
        new.live.store(live, Relaxed);
        new.first.store(first as u32, Relaxed);
        new.len.store(n as u32, Release);
        r.release(t);
        r
    }
}
