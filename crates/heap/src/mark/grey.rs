//! The grey cells of one marking thread: what it still has to look at.
//!
//! Entries are addresses of cells, or of marked cells that are to be looked at once more (`AGAIN`). They need not be
//! unmarked, and may stand here twice: whoever takes one out tests and sets its mark. A stack of chunks, so that
//! giving away the oldest half moves pointers only; large arrays and tables stand as ranges, cut as they are read.
//!
//! What is left of a range when a slice of marking ends names no memory of the cell. Of an Array or a Hash it is a number of slots, with a
//! watch on whether the elements still stand in them (`lockfree/halves.rs`); if not, the list is looked at once more. Of anything else a
//! copy is made, and of lists that are moved about again and again.

use super::Fresh;
use crate::lockfree::halves::{self, Half};
use crate::{ArrayObj, HashData, HashObj, Value};

/// In an entry: trace it although it is marked.
pub(crate) const AGAIN: u64 = 1;
/// Entries of a chunk.
const CHUNK: usize = 512;
/// Values that are read from a range at once.
const STEP: usize = 128;
const _: () = assert!(LONG < CHUNK && STEP <= LONG);
/// Ranges shorter than that are entered value by value.
pub(crate) const LONG: usize = 256;
/// What is left of longer ones stays for the next slice of marking.
const KEPT: usize = halves::LEAST;
/// Lists that were looked at once more, since their elements had moved, before others are copied.
const MOVES: u32 = 16;

/// A part of a cell's own memory, which nobody changes before the marking ends.
#[derive(Clone, Copy)]
pub(crate) enum Range {
    /// Of the Array that is named, or of another cell: nil.
    Fields(*const Value, usize, Value),
    /// Of the Hash that is named.
    Entries(*const HashData, usize, usize, Value),
    /// Of a copy, which stays between slices ([`Grey::leave_memory`]).
    Copied(*const Value, usize),
}

/// Slots of an Array's buffer, or of a Hash's table, that are to be looked at yet.
struct Slots {
    owner: Value,
    buffer: Half,
    from: usize,
    to: usize,
}

/// Work that changes hands.
#[derive(Default)]
pub(crate) struct Packet {
    chunks: Vec<Vec<u64>>,
    ranges: Vec<Range>,
}

// SAFETY: addresses of cells that live until the marking ends.
unsafe impl Send for Packet {}

/// See the module.
#[derive(Default)]
pub(crate) struct Grey {
    top: Vec<u64>,
    /// Chunks that had no room for what came next, or came in a packet, oldest first.
    full: std::collections::VecDeque<Vec<u64>>,
    spare: Vec<Vec<u64>>,
    ranges: Vec<Range>,
    /// What is left of long lists between two slices.
    slots: Vec<Slots>,
    /// How often elements had moved meanwhile.
    moves: u32,
    /// Memory of copies. They go when nothing is grey any more.
    copies: Vec<Vec<Value>>,
}

// SAFETY: as for a packet.
unsafe impl Send for Grey {}

impl Grey {
    #[inline(always)]
    pub fn push(&mut self, entry: u64) {
        if self.top.len() == self.top.capacity() {
            self.new_top();
        }
        self.top.push(entry);
    }
    /// Enters those of the values that are cells and may be unmarked.
    #[inline(always)]
    pub fn push_all(&mut self, vs: &[Value], fresh: &Fresh) {
        if vs.len() <= LONG { self.push_few(vs, fresh) } else { vs.chunks(LONG).for_each(|c| self.push_few(c, fresh)) }
    }
    #[inline(always)]
    fn push_few(&mut self, vs: &[Value], fresh: &Fresh) {
        if let Some(m) = fresh.syms {
            m.mark_all(vs);
        }
        if self.top.capacity() - self.top.len() < vs.len() {
            self.new_top();
        }
        let mut n = self.top.len();
        debug_assert!(self.top.capacity() - n >= vs.len());
        // SAFETY: room for all of them: no more than `LONG`, and a chunk has more. Which are wanted follows no order: each is
        // written, and the next over those that are not.
        unsafe {
            let to = self.top.as_mut_ptr();
            for v in vs {
                *to.add(n) = v.bits();
                n += (v.is_heap() & fresh.may_hold(v.bits())) as usize;
            }
            self.top.set_len(n);
        }
    }
    #[cold]
    #[inline(never)]
    fn new_top(&mut self) {
        let fresh = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK));
        let old = std::mem::replace(&mut self.top, fresh);
        if old.capacity() > 0 {
            self.full.push_back(old);
        }
    }
    #[inline(always)]
    pub fn pop(&mut self) -> Option<u64> {
        match self.top.pop() {
            Some(e) => Some(e),
            None => self.old_top(),
        }
    }
    #[cold]
    #[inline(never)]
    fn old_top(&mut self) -> Option<u64> {
        let old = std::mem::replace(&mut self.top, self.full.pop_back()?);
        // A packet's chunk may have less room, and `push_few` counts on a whole one's.
        if self.spare.len() < 8 && old.capacity() >= CHUNK {
            self.spare.push(old);
        }
        self.top.pop()
    }
    /// So many entries there are, with those of ranges, about.
    pub fn least(&self) -> usize {
        self.top.len() + CHUNK * self.full.len() + self.ranges.iter().map(Range::len).sum::<usize>()
    }
    pub fn is_empty(&self) -> bool {
        self.top.is_empty() && self.full.iter().all(Vec::is_empty) && self.ranges.is_empty() && self.slots.is_empty()
    }
    /// Calls `f` with every entry, after [`leave_memory`](Self::leave_memory).
    pub fn each(&self, mut f: impl FnMut(u64)) {
        self.full.iter().flatten().chain(&self.top).for_each(|e| f(*e));
        self.slots.iter().for_each(|s| f(s.owner.bits() | AGAIN));
        for r in &self.ranges {
            if let Range::Copied(p, n) = *r {
                // SAFETY: a part of a copy.
                let vs = unsafe { std::slice::from_raw_parts(p, n) };
                vs.iter().filter(|v| v.is_heap()).for_each(|v| f(v.bits()));
            }
        }
    }
    /// Takes over what another has.
    pub fn append(&mut self, mut other: Grey) {
        self.full.append(&mut other.full);
        if !other.top.is_empty() {
            self.full.push_back(other.top);
        }
        self.ranges.append(&mut other.ranges);
        self.slots.append(&mut other.slots);
        self.moves += other.moves;
        self.copies.append(&mut other.copies);
    }
    /// The memory of its copies, which is to outlast whoever takes parts of them.
    pub fn take_copies(&mut self) -> Vec<Vec<Value>> {
        std::mem::take(&mut self.copies)
    }
    /// They are this one's, as long as anything is grey.
    pub fn keep_copies(&mut self, mut copies: Vec<Vec<Value>>) {
        if !self.is_empty() {
            self.copies.append(&mut copies);
        } else {
            self.copies.clear();
        }
    }
    /// A slice begins: what the last one left of lists are ranges again.
    pub fn take_up(&mut self) {
        for s in std::mem::take(&mut self.slots) {
            match s.range() {
                // It is shorter than that by now.
                Some(r) if r.len() == 0 => {}
                Some(r) => self.ranges.push(r),
                None => {
                    self.moves += 1;
                    if let Some(h) = s.owner.cell::<HashObj>() {
                        h.h.unsee();
                    }
                    self.push(s.owner.bits() | AGAIN);
                }
            }
        }
    }
    /// What ranges stand for is noted without their memory, entered or copied: that may change, or go, when the world goes on.
    pub fn leave_memory(&mut self, fresh: &Fresh) {
        let all = std::mem::take(&mut self.ranges);
        for r in all {
            let copy = match r {
                Range::Copied(..) => {
                    self.ranges.push(r);
                    continue;
                }
                _ if r.len() < KEPT => {
                    let at = self.ranges.len();
                    self.ranges.push(r);
                    while self.ranges.len() > at {
                        self.read_range(fresh);
                    }
                    continue;
                }
                _ if self.moves < MOVES
                    && let Some(slots) = r.slots() =>
                {
                    self.slots.push(slots);
                    continue;
                }
                // SAFETY: values of the range (see `Range`).
                Range::Fields(p, n, _) => unsafe { std::slice::from_raw_parts(p, n) }.to_vec(),
                Range::Entries(h, from, to, _) => {
                    // SAFETY: the hash lives (see `Range`).
                    let h = unsafe { &*h };
                    let mut all = Vec::with_capacity((to - from) * 2);
                    all.extend((from..to).filter_map(|i| h.at(i)).flat_map(|e| [e.key, e.val]).filter(|v| v.is_heap()));
                    all
                }
            };
            self.ranges.push(Range::Copied(copy.as_ptr(), copy.len()));
            self.copies.push(copy);
        }
    }
    pub fn push_range(&mut self, r: Range) {
        self.ranges.push(r);
    }
    #[inline(always)]
    pub fn has_ranges(&self) -> bool {
        !self.ranges.is_empty()
    }
    /// Enters the next few values of the youngest range.
    pub fn read_range(&mut self, fresh: &Fresh) {
        match self.ranges.pop() {
            Some(r @ (Range::Fields(p, n, _) | Range::Copied(p, n))) => {
                let now = n.min(STEP);
                // SAFETY: `now` values at `p`, and the rest behind them (see `Range`).
                let vs = unsafe {
                    if now < n {
                        self.ranges.push(r.part(now, n - now));
                    }
                    std::slice::from_raw_parts(p, now)
                };
                if !are_numbers(vs) {
                    self.push_all(vs, fresh);
                }
            }
            Some(Range::Entries(h, from, to, owner)) => {
                let mid = to.min(from + STEP / 2);
                if mid < to {
                    self.ranges.push(Range::Entries(h, mid, to, owner));
                }
                // SAFETY: the hash lives (see `Range`).
                let h = unsafe { &*h };
                for e in (from..mid).filter_map(|i| h.at(i)) {
                    for v in [e.key, e.val] {
                        if v.is_heap() && fresh.may_hold(v.bits()) {
                            self.push(v.bits());
                        } else if let Some(s) = v.as_sym() {
                            fresh.sym(s);
                        }
                    }
                }
            }
            None => {}
        }
    }
    /// About half of it, oldest first; `None` when there is too little to share.
    pub fn split(&mut self) -> Option<Packet> {
        let mut p = Packet::default();
        if !self.full.is_empty() {
            p.chunks.extend(self.full.drain(..self.full.len().div_ceil(2)));
        } else if self.ranges.len() > 1 {
            p.ranges.extend(self.ranges.drain(..self.ranges.len() / 2));
        } else if let Some(r) = self.ranges.last_mut().filter(|r| r.len() > LONG) {
            p.ranges.push(r.halve());
        } else if self.top.len() > 1 {
            let n = self.top.len() / 2;
            p.chunks.push(self.top.drain(..n).collect());
        } else {
            return None;
        }
        Some(p)
    }
    /// One entry as work for another.
    pub fn packet(entry: u64) -> Packet {
        Packet { chunks: vec![vec![entry]], ranges: Vec::new() }
    }
    pub fn accept(&mut self, p: Packet) {
        self.full.extend(p.chunks);
        self.ranges.extend(p.ranges);
    }
}

/// Do all of the values stand in their words, and none is a symbol? Long lists of numbers are common, and this is a quarter of
/// the time of looking at each; a list that begins otherwise costs nothing.
#[inline(always)]
fn are_numbers(vs: &[Value]) -> bool {
    let number = |v: &Value| (v.bits() | v.bits() >> 1) & 1;
    vs.first().is_none_or(|v| number(v) == 1) && vs.iter().fold(1, |all, v| all & number(v)) == 1
}

impl Slots {
    /// Where they are; `None`: the elements may have moved.
    fn range(&self) -> Option<Range> {
        let place = self.buffer.place()?;
        if let Some(h) = self.owner.cell::<HashObj>() {
            let to = self.to.min(h.h.slots());
            return (h.h.memory().addr() == place).then(|| Range::Entries(&h.h, self.from.min(to), to, self.owner));
        }
        let (now, first, used) = self.owner.cell::<ArrayObj>()?.slots()?;
        // What has gone meanwhile need not be looked at; what has come was told to the barrier.
        let (from, to) = (self.from.max(used.start), self.to.min(used.end));
        (now == place).then(|| Range::Fields(first.wrapping_add(from), to.saturating_sub(from), self.owner))
    }
}

impl Range {
    /// The slots that part of an Array or a Hash stands in, to be watched; `None`: it is of something else.
    fn slots(&self) -> Option<Slots> {
        let (owner, place, from, n) = match *self {
            Range::Entries(h, from, to, owner) => {
                // SAFETY: the hash lives (see `Range`).
                (owner, unsafe { &*h }.memory().addr(), from, to - from)
            }
            Range::Fields(p, n, owner) => {
                let (place, first, used) = owner.cell::<ArrayObj>()?.slots()?;
                let from = p.addr().checked_sub(first.addr())? / size_of::<Value>();
                debug_assert!(used.start <= from && from + n <= used.end);
                (owner, place, from, n)
            }
            Range::Copied(..) => return None,
        };
        Some(Slots { owner, buffer: Half::of(place), from, to: from + n })
    }
    fn len(&self) -> usize {
        match *self {
            Range::Fields(_, n, _) | Range::Copied(_, n) => n,
            Range::Entries(_, a, b, _) => b - a,
        }
    }
    /// `n` from the one at `from` on.
    ///
    /// # Safety
    /// They lie inside the range.
    #[inline(always)]
    unsafe fn part(&self, from: usize, n: usize) -> Range {
        // SAFETY: the caller's promise.
        unsafe {
            match *self {
                Range::Fields(p, _, owner) => Range::Fields(p.add(from), n, owner),
                Range::Copied(p, _) => Range::Copied(p.add(from), n),
                Range::Entries(h, a, _, owner) => Range::Entries(h, a + from, a + from + n, owner),
            }
        }
    }
    /// Cuts off the second half.
    fn halve(&mut self) -> Range {
        let (n, keep) = (self.len(), self.len() / 2);
        // SAFETY: both halves lie inside.
        unsafe {
            let rest = self.part(keep, n - keep);
            *self = self.part(0, keep);
            rest
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_list_no_cell_is_passed_over_for_the_numbers_around_it() {
        for at in [0, 1, STEP - 1, STEP, 2 * STEP + 7, 999] {
            let mut vs = vec![Value::fix(-3); 1000];
            vs.iter_mut().step_by(3).for_each(|v| *v = Value::try_flo(1.5).expect("a flonum"));
            vs[at] = Value::from_bits(0x1230);
            let mut g = Grey::default();
            g.push_range(Range::Fields(vs.as_ptr(), vs.len(), Value::NIL));
            while g.has_ranges() {
                g.read_range(&Fresh::all(None));
            }
            assert_eq!((g.pop(), g.pop()), (Some(0x1230), None), "{at}");
        }
    }

    /// Half of a short top changes hands as a chunk that has room for no more than its entries.
    #[test]
    fn a_packets_chunk_does_not_come_back_as_an_empty_one() {
        let mut giver = Grey::default();
        (1..8).for_each(|i| giver.push(i * 16));
        let mut g = Grey::default();
        g.accept(giver.split().expect("half of it"));
        let mut taken = 0;
        while g.pop().is_some() {
            taken += 1;
        }
        assert_eq!(taken, 3);
        let many: Vec<Value> = (1..2000).map(|i| Value::from_bits(i * 16)).collect();
        let sizes = [1, 200, LONG, LONG + 1, 1998];
        for n in sizes {
            g.push_all(&many[..n], &Fresh::all(None));
        }
        let mut sum = 0;
        while let Some(e) = g.pop() {
            sum += e as usize / 16;
        }
        assert_eq!(sum, sizes.map(|n| n * (n + 1) / 2).iter().sum::<usize>());
    }
}
