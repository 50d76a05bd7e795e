//! Where cells are born: cursors that bump through the gaps of a worker's blocks,
//! lazy sweeping, and the accounts that say when to collect.
//!
//! Invariant: a block is in exactly one of its heap's [`Lists`], in its nursery, or held
//! by a cursor outside it; only its heap's worker allocates in it and sweeps it, and
//! the collector touches it while that worker is stopped. Blocks that were allocated
//! in since the last node collection are in the nursery or a `young` list: only they
//! can hold cells that died since.

pub(crate) mod block;
pub(crate) mod young;

use crate::cells::header::{Header, Kind};
use crate::cells::trace::{cell_bytes, clear_away, step_bytes};
use crate::heap::Heap;
use crate::shared::lock;
use crate::space::block::{BLOCK, Block, FIRST, GRANULE, Gap, MAX_CELL, State};
use crate::watch::gclog::Cause;
use crate::watch::stat::Counters;
use std::sync::atomic::Ordering::*;

/// How much of the common budget a worker takes at a time.
pub(crate) const PIECE: isize = 256 << 10;
/// Empty blocks a runtime keeps for reuse; more go back to the system.
const SPARE: usize = 64;
/// A gap with more left than this is kept for smaller cells when a large one does not fit.
const KEEP_GAP: usize = 512;
/// Blocks that are swept or looked through in one go, though others wait: some 50 microseconds.
pub(crate) const STEPS: usize = 8;
/// Free bytes that make a block worth entering.
const WORTH: usize = 1024;
/// Free bytes with which a block may become a nursery's: fewer would make a nursery of many small gaps.
const ROOMY: usize = BLOCK / 2;

/// The cursor in the worker's nursery, where cells are born private.
pub(crate) const IN: usize = 0;
/// The cursor outside: what is born there lives until a node collection.
pub(crate) const OUTSIDE: usize = 1;

/// A gap that is being filled.
pub(crate) struct Cursor {
    pub at: u64,
    pub end: u64,
    /// Where the filling of this gap began.
    start: u64,
    /// Where it ends, while `end` hides it from the quick path: each birth is recorded. Else 0.
    hidden: u64,
    /// The gap after it in the block.
    next: u64,
    /// Null: none.
    pub block: *mut Block,
}

impl Default for Cursor {
    fn default() -> Self {
        Cursor { at: 0, end: 0, start: 0, hidden: 0, next: 0, block: std::ptr::null_mut() }
    }
}

impl Cursor {
    /// Every birth takes the slow path from now on.
    pub fn hide(&mut self) {
        (self.hidden, self.end) = (self.end, self.at);
    }
    /// Undoes `hide`.
    pub fn show(&mut self) {
        self.end = self.end.max(std::mem::take(&mut self.hidden));
    }
    /// Makes the block walkable. The cursor stays where it is.
    pub fn seal(&self) {
        let end = self.end.max(self.hidden);
        if self.at < end {
            // SAFETY: what is left of the gap holds no cell.
            unsafe { Gap::write(self.at, (end - self.at) as usize, self.next) };
        }
    }
    /// Enters the gaps of a block.
    pub fn enter(&mut self, b: *mut Block) {
        // SAFETY: a live block of this heap, its gaps listed.
        let gap = unsafe { std::mem::take(&mut (*b).gap) };
        *self = Cursor { next: gap, block: b, ..Cursor::default() };
    }
    /// Goes on to the next gap of the block with room for `bytes`; false: there is none.
    /// At most `most` of a gap are taken at once; the rest stays a gap.
    pub fn advance(&mut self, bytes: usize, most: usize) -> bool {
        // What is left of this gap is lost until the block is swept again.
        self.seal();
        while self.next != 0 {
            let g = self.next as *const Gap;
            // SAFETY: a gap of the block this cursor holds.
            let (mut n, mut next) = unsafe { ((*g).bytes as usize, (*g).next) };
            if n > most.saturating_add(GRANULE) {
                let rest = g as u64 + most.next_multiple_of(GRANULE) as u64;
                let end = g as u64 + n as u64;
                if rest < end {
                    // SAFETY: the end of the gap, at least a granule.
                    unsafe { Gap::write(rest, (end - rest) as usize, next) };
                    (n, next) = ((rest - g as u64) as usize, rest);
                }
            }
            (self.at, self.start, self.end, self.next) = (g as u64, g as u64, g as u64 + n as u64, next);
            if n >= bytes {
                return true;
            }
            // Lost likewise.
            self.at = self.end;
            self.start = self.end;
        }
        false
    }
    /// Gives back what is left of the gap: the next cell is born on a slow path.
    pub fn cut(&mut self) {
        if self.at < self.end {
            self.seal();
            (self.next, self.end) = (self.at, self.at);
        }
    }
    /// Leaves the block; what was left of its gaps is listed again.
    pub fn leave(&mut self) -> *mut Block {
        self.show();
        self.seal();
        let b = self.block;
        if !b.is_null() {
            // SAFETY: this cursor holds the block.
            unsafe { (*b).gap = if self.at < self.end { self.at } else { self.next } };
        }
        *self = Cursor::default();
        b
    }
}

/// The blocks of one heap that hold cells outside its nursery.
#[derive(Default)]
pub(crate) struct Lists {
    /// To be swept before use.
    pub unswept: Vec<*mut Block>,
    /// Swept, with gaps.
    pub recycled: Vec<*mut Block>,
    /// Swept, at least half free: for nurseries first.
    pub roomy: Vec<*mut Block>,
    /// Swept, without gaps worth a look.
    pub full: Vec<*mut Block>,
    /// As the two above, but allocated in since the last node collection.
    pub young_recycled: Vec<*mut Block>,
    pub young_full: Vec<*mut Block>,
    pub large: Vec<*mut Block>,
    /// Large cells since the last node collection.
    pub young_large: Vec<*mut Block>,
    /// Blocks to sweep, or batches of buffers to free, with each piece of budget that is spent, so that all are before the next
    /// collection.
    pub pace: usize,
    /// What of that was put off, since others waited for this worker.
    owed: usize,
}

impl Lists {
    pub fn each(&self) -> impl Iterator<Item = *mut Block> + '_ {
        self.unswept
            .iter()
            .chain(&self.recycled)
            .chain(&self.roomy)
            .chain(&self.full)
            .chain(&self.young_recycled)
            .chain(&self.young_full)
            .copied()
    }
    pub fn each_large(&self) -> impl Iterator<Item = *mut Block> + '_ {
        self.large.iter().chain(&self.young_large).copied()
    }
    /// Takes a block that was allocated in since the last node collection; its gaps are listed.
    pub fn young(&mut self, b: *mut Block) {
        // SAFETY: a live block of this heap.
        if unsafe { (*b).gap != 0 && (*b).free_bytes as usize >= WORTH } {
            self.young_recycled.push(b);
        } else {
            self.young_full.push(b);
        }
    }
    /// Takes over the blocks of a heap that ends, its nursery's among them. The next node collection looks at all of
    /// them as at young ones; what waited to be swept still does.
    pub fn take_over(&mut self, mut other: Lists, nursery: Vec<*mut Block>) {
        self.unswept.append(&mut other.unswept);
        for mut list in [other.recycled, other.roomy, other.full, other.young_recycled, other.young_full, nursery] {
            self.young_full.append(&mut list);
        }
        self.young_large.append(&mut other.large);
        self.young_large.append(&mut other.young_large);
    }
    /// A node collection is over: blocks that may hold dead cells wait to be swept.
    pub fn restart(&mut self, full: bool) {
        self.unswept.append(&mut self.young_recycled);
        self.unswept.append(&mut self.young_full);
        self.owed = 0;
        if full {
            self.unswept.append(&mut self.recycled);
            self.unswept.append(&mut self.roomy);
            self.unswept.append(&mut self.full);
        }
    }
}

/// Sweeps a block by its marks: drops the dead, lists the gaps. Returns free bytes.
///
/// # Safety
/// The block can be walked, is this worker's (or the world is stopped), and what is not marked is dead.
pub(crate) unsafe fn sweep(b: *mut Block) -> usize {
    let mut free = 0;
    // SAFETY: the caller's promise.
    unsafe {
        let end = b as u64 + BLOCK as u64;
        let mut at = (*b).first();
        let (mut first, mut last): (u64, u64) = (0, 0);
        while at < end {
            let (run, live) = (at, (*b).next_marked(at));
            while at < live {
                at += clear_away(at as *mut Header) as u64;
            }
            if at > run {
                free += (at - run) as usize;
                Gap::write(run, (at - run) as usize, 0);
                if last == 0 {
                    first = run;
                } else {
                    (*(last as *mut Gap)).next = run;
                }
                last = run;
            }
            while at < end && (*b).marked(at) {
                debug_assert!((*(at as *mut Header)).kind != Kind::Free, "a gap is marked");
                at += cell_bytes(&*(at as *mut Header)) as u64;
            }
        }
        (*b).gap = first;
        (*b).free_bytes = free as u32;
        (*b).state = State::Common;
    }
    free
}

impl Heap {
    /// Counts bytes outside cells (string and array buffers) towards the next collection.
    #[inline]
    pub fn charge(&mut self, bytes: usize) {
        if self.charge_quick(bytes) {
            self.charged();
        }
    }
    /// [`charge`](Self::charge) for who has not said yet where it is: true when it has to, and then to call
    /// [`charged`](Self::charged).
    #[inline(always)]
    #[must_use]
    pub fn charge_quick(&mut self, bytes: usize) -> bool {
        self.outside = self.outside.wrapping_add(bytes);
        cfg!(debug_assertions) || self.outside > self.outside_limit
    }
    /// After a quick charge that asked for it.
    #[inline]
    pub fn charged(&mut self) {
        self.sites.probe.check();
        if self.outside > self.outside_limit {
            self.outside_full();
        }
    }
    /// Private cells hold much outside the nursery: it is time to look which are dead.
    #[cold]
    #[inline(never)]
    fn outside_full(&mut self) {
        if self.sampler.is_some() && self.outside_sampled() {
            return;
        }
        if self.nurseries() && !self.nursery.blocks.is_empty() {
            self.wish_nursery();
            // Until the safepoint, and in case it frees nothing, count on.
            self.limit_outside(self.outside_limit.max(self.outside).saturating_mul(2));
        } else {
            let n = std::mem::take(&mut self.outside);
            self.limit_outside(self.nursery.outside_limit());
            self.spend(n);
        }
    }
    /// `outside` may grow to `n` from now on.
    pub(crate) fn limit_outside(&mut self, n: usize) {
        self.outside_limit = match &mut self.sampler {
            None => n,
            Some(s) => s.outside(n, self.outside),
        };
    }
    /// Takes bytes from the budget between two node collections.
    #[inline]
    pub fn spend(&mut self, bytes: usize) {
        // The budget is not negative here, so that no request of a possible size overflows.
        self.budget = self.budget.wrapping_sub_unsigned(bytes);
        if self.budget < 0 {
            self.more_budget();
        }
    }
    /// Takes a piece of the common budget; asks for a collection when there is none left.
    #[cold]
    #[inline(never)]
    fn more_budget(&mut self) {
        let used = self.piece.saturating_sub(self.budget);
        Counters::add(&self.counters.allocated_bytes, used as u64);
        let need = used.saturating_add_unsigned(self.retired.take_fresh()).min(isize::MAX / 4);
        let had = self.shared.budget.fetch_update(Relaxed, Relaxed, |b| Some(b.saturating_sub(need)));
        self.piece = PIECE;
        self.budget = self.piece;
        if had.is_ok_and(|b| b < need) {
            self.shared.request_gc();
            self.poll.store(true, Relaxed);
        }
        self.mind_replaced();
        if kumi_budget::is_pressed() {
            self.shared.stats.because(Cause::Limit);
            self.request_full();
        }
        let due = self.lists.pace.saturating_mul((need / PIECE).max(1) as usize);
        self.lists.owed = self.lists.owed.saturating_add(due);
        let mut steps = 0;
        while self.lists.owed > 0 && !self.is_enough(steps) {
            steps += 1;
            self.lists.owed -= 1;
            if !self.tidy_one() {
                self.lists.owed = 0;
            }
        }
    }
    /// Has this worker looked at so many blocks in one go that others, who wait for it, should not wait longer?
    fn is_enough(&self, steps: usize) -> bool {
        steps >= STEPS && self.shared.hurry.load(Relaxed)
    }
    /// Frees some of the buffers that wait for it, or sweeps one block; false: none waits.
    fn tidy_one(&mut self) -> bool {
        let some = self.retired.free_some() || self.sweep_one();
        if !some {
            self.lists.pace = 0;
        }
        some
    }
    /// How often [`sweep_some`](Self::sweep_some) of one would find something.
    pub fn to_sweep(&self) -> usize {
        self.lists.unswept.len() + self.retired.batches()
    }
    /// Sweeps one block that waits for it; false: none does.
    pub(crate) fn sweep_one(&mut self) -> bool {
        let Some(b) = self.lists.unswept.pop() else { return false };
        self.sweep_block(b);
        true
    }
    /// Frees buffers and sweeps blocks that wait for it, a few: for a worker that has nothing else to do. False: none waits.
    #[inline]
    pub fn sweep_some(&mut self, most: usize) -> bool {
        (0..most).all(|_| self.tidy_one())
    }
    /// Finishes all lazy sweeping and freeing: no buffer is kept for later.
    pub fn sweep_all(&mut self) {
        while self.tidy_one() {}
        self.free_spares();
    }
    fn sweep_block(&mut self, b: *mut Block) {
        debug_assert!(!self.shared.is_marking(), "a block is swept by marks that are not complete");
        // SAFETY: a block of this heap that waits to be swept: no cursor is in it, what is unmarked is dead.
        let free = unsafe { sweep(b) };
        if free == BLOCK - FIRST {
            self.give_block(b);
        } else if free >= ROOMY {
            self.lists.roomy.push(b);
        } else if free >= WORTH {
            self.lists.recycled.push(b);
        } else {
            self.lists.full.push(b);
        }
        if self.lists.unswept.len().is_multiple_of(STEPS) {
            self.shared.helpers.give_way();
        }
    }
    /// Takes back an empty block.
    pub(crate) fn give_block(&mut self, b: *mut Block) {
        let mut spare = lock(&self.shared.spare);
        if spare.len() < SPARE {
            // SAFETY: an empty block of this heap.
            unsafe { (*b).clear_marks() };
            spare.push(b);
            return;
        }
        drop(spare);
        self.shared.heap_bytes.fetch_sub(BLOCK, Relaxed);
        self.shared.stats.released_bytes.fetch_add(BLOCK as u64, Relaxed);
        // SAFETY: it is empty.
        unsafe { Block::free(b) };
    }
    /// Are there empty blocks to take?
    pub(crate) fn spare_blocks(&self) -> bool {
        !lock(&self.shared.spare).is_empty()
    }
    /// An empty block.
    pub(crate) fn take_block(&mut self) -> *mut Block {
        let b = lock(&self.shared.spare).pop();
        let b = b.unwrap_or_else(|| {
            let Some(b) = Block::new() else { kumi_budget::last_words() };
            self.shared.heap_bytes.fetch_add(BLOCK, Relaxed);
            b
        });
        // SAFETY: nobody else's.
        unsafe { (*b).state = State::Common };
        b
    }

    /// Memory for a cell of `bytes` where `place` says.
    #[inline(always)]
    pub(crate) fn raw(&mut self, bytes: usize, place: usize) -> *mut u8 {
        let n = bytes.next_multiple_of(GRANULE) as u64;
        let c = &mut self.cursors[place & 1];
        let p = c.at;
        if n <= c.end.wrapping_sub(p) {
            c.at = p + n;
            return p as *mut u8;
        }
        self.raw_slow(bytes, place)
    }
    #[cold]
    #[inline(never)]
    fn raw_slow(&mut self, bytes: usize, place: usize) -> *mut u8 {
        self.sites.probe.check();
        let n = bytes.next_multiple_of(GRANULE);
        let p = self.find_room(bytes, n, place);
        if self.sampler.is_some() {
            self.sample_cell(p as u64, n);
        }
        p
    }
    /// How much of a gap is taken for cells of which the first has `n` bytes, `most` at most.
    pub(crate) fn piece_for(&mut self, n: usize, most: usize) -> usize {
        self.sampler.as_mut().map_or(most, |s| s.piece(n).min(most))
    }
    fn find_room(&mut self, bytes: usize, n: usize, place: usize) -> *mut u8 {
        if n > MAX_CELL {
            return self.raw_large(bytes);
        }
        if place & 1 == IN {
            if self.nursery.records() {
                return self.raw_recorded(n);
            }
            self.nursery_refill(n);
        } else if n > KEEP_GAP && self.cursors[1].end - self.cursors[1].at > KEEP_GAP as u64 {
            // A cell for which the gap is too short, though it is a good one for others.
            return self.raw_medium(n);
        } else {
            self.out_refill(n);
        }
        let c = &mut self.cursors[place & 1];
        let p = c.at;
        c.at += n as u64;
        p as *mut u8
    }
    /// Accounts for what the cursor has filled since this was last done.
    pub(crate) fn settle(&mut self, place: usize) {
        let c = &mut self.cursors[place & 1];
        let (from, to) = (c.start, c.at);
        c.start = to;
        if to <= from {
            return;
        }
        let bytes = (to - from) as usize;
        if let Some(s) = &mut self.sampler {
            s.filled(bytes);
        }
        if place & 1 == OUTSIDE {
            let mut n = 0;
            let mut at = from;
            while at < to {
                // SAFETY: cells written one after another by this worker.
                at += unsafe { step_bytes(&*(at as *const Header)) } as u64;
                n += 1;
            }
            Counters::add(&self.counters.allocated_cells, n);
            Counters::add(&self.counters.shared_bytes, bytes as u64);
            self.spend(bytes);
        } else {
            Counters::add(&self.counters.private_bytes, bytes as u64);
            self.nursery.filled(bytes);
        }
    }
    /// Finds a gap for `n` bytes outside the nursery. There may be thousands of blocks with none: while others wait, an empty
    /// block will do.
    fn out_refill(&mut self, n: usize) {
        self.settle(OUTSIDE);
        let mut steps = 0;
        loop {
            let most = self.piece_for(n, usize::MAX);
            if self.cursors[1].advance(n, most) {
                return;
            }
            let b = self.cursors[1].leave();
            if !b.is_null() {
                self.lists.young_full.push(b);
            }
            steps += 1;
            let found = match self.is_enough(steps) {
                true => self.lists.roomy.pop(),
                false => match self.lists.young_recycled.pop().or_else(|| self.lists.recycled.pop()) {
                    None if self.sweep_one() => continue,
                    None => self.lists.roomy.pop(),
                    some => some,
                },
            };
            let b = found.unwrap_or_else(|| self.take_block());
            self.cursors[1].enter(b);
        }
    }
    /// A cell of middling size outside the current gap: from a block of such cells.
    fn raw_medium(&mut self, n: usize) -> *mut u8 {
        std::mem::swap(&mut self.cursors[1], &mut self.medium);
        // What was taken before is written by now.
        self.settle(OUTSIDE);
        let c = &self.cursors[1];
        if (c.end - c.at) < n as u64 {
            if !self.cursors[1].advance(n, usize::MAX) {
                let b = self.cursors[1].leave();
                if !b.is_null() {
                    self.lists.young(b);
                }
                let b = self.take_block();
                self.cursors[1].enter(b);
                self.cursors[1].advance(n, usize::MAX);
            }
        }
        let c = &mut self.cursors[1];
        let p = c.at;
        c.at += n as u64;
        std::mem::swap(&mut self.cursors[1], &mut self.medium);
        p as *mut u8
    }
    fn raw_large(&mut self, bytes: usize) -> *mut u8 {
        let Some(b) = Block::large(bytes) else { kumi_budget::refuse() };
        self.lists.young_large.push(b);
        // SAFETY: just made, one cell.
        unsafe {
            let n = (*b).bytes();
            self.shared.heap_bytes.fetch_add(n, Relaxed);
            Counters::add(&self.counters.allocated_cells, 1);
            Counters::add(&self.counters.shared_bytes, n as u64);
            if let Some(s) = &mut self.sampler {
                s.filled(n);
            }
            self.spend(n);
            // A walk may come before the cell is written.
            Gap::write((*b).first(), GRANULE, 0);
            (*b).first() as *mut u8
        }
    }
    /// Makes all blocks of this heap walkable.
    pub(crate) fn seal(&mut self) {
        for p in 0..2 {
            self.settle(p);
            self.cursors[p].seal();
        }
        self.medium.seal();
    }
    /// Every block of this heap, large ones included.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = *mut Block> + '_ {
        let held = [self.cursors[1].block, self.medium.block];
        self.lists
            .each()
            .chain(self.lists.each_large())
            .chain(held.into_iter().filter(|b| !b.is_null()))
            .chain(self.nursery.blocks.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HeapConfig, Rule, Value};

    /// A worker that finds no block to sweep still frees what its collection released, while it spends its budget.
    #[test]
    fn what_was_replaced_is_freed_as_the_budget_is_spent() {
        let mut h = Heap::configured(HeapConfig { young: (4 << 20, 4 << 20), ..HeapConfig::default() });
        h.set_parallel(true);
        let a = h.array(Value::FALSE, &[]);
        for i in 0..200_000 {
            h.edit(a).push(Value::fix(i));
            if i % 1000 == 0 {
                *crate::Held::new(a).vec() = crate::ArrayBuf::from_slice(&[Value::NIL; 100]);
            }
        }
        assert!(h.retired.bytes() > 100_000);
        h.collect(&mut |m| m.mark(a.val()));
        assert!(h.retired.bytes() > 100_000, "the stop does not wait for it");
        while h.sweep_one() {}
        assert!(!h.sweep_one());
        for _ in 0..15 {
            h.spend(PIECE as usize + 1);
        }
        assert_eq!(h.retired.bytes(), 0, "the next budget is nearly spent");
        h.set_parallel(false);
    }

    /// Cells of every size and gaps between them: what is listed as free is what is not marked, to the byte.
    #[test]
    fn a_sweep_lists_what_is_not_marked() {
        let mut h = Heap::configured(HeapConfig { rule: Rule::Off, young: (64 << 20, 64 << 20), ..HeapConfig::default() });
        let mut kept = Vec::new();
        let mut dice = 7u64;
        for i in 0..40_000i64 {
            dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let v = match dice >> 61 {
                0 | 1 => h.array(Value::FALSE, &[Value::fix(i)]).val(),
                2 => h.array(Value::FALSE, &[Value::fix(i); 9]).val(),
                3 => h.str(Value::FALSE, &[b'x'; 40], 0).val(),
                4 => h.range(Value::FALSE, Value::fix(i), Value::NIL, false),
                5 => h.structure(Value::FALSE, (i % 30) as u16).val(),
                6 => h.env(Value::NIL, (i % 12) as u32).val(),
                _ => h.float(Value::FALSE, f64::MIN_POSITIVE / (i + 2) as f64),
            };
            if (dice >> 40) % 5 < i as u64 / 10_000 {
                kept.push(v);
            }
        }
        for _ in 0..3 {
            let keep = kept.split_off(kept.len() / 2);
            h.request_full();
            h.collect(&mut |m| m.mark_all(&keep));
            kept = keep;
            h.sweep_all();
            h.seal();
            for b in h.lists.each() {
                // SAFETY: blocks of this heap, swept.
                let (b, mut listed, mut gap) = unsafe { (&*b, 0, (*b).gap) };
                let mut live = 0;
                b.each(|c, n| {
                    assert!(b.marked(c as u64));
                    live += n;
                });
                while gap != 0 {
                    // SAFETY: gaps of that block.
                    let g = unsafe { &*(gap as *const Gap) };
                    (listed, gap) = (listed + g.bytes as usize, g.next);
                }
                assert_eq!((listed, live), (b.free_bytes as usize, BLOCK - FIRST - listed));
            }
        }
    }

    /// A worker for which others wait does not look through all of the heap for a gap; what it puts off is done later.
    #[test]
    fn while_others_wait_few_blocks_are_swept_in_one_go() {
        let mut h = Heap::configured(HeapConfig { rule: Rule::Off, young: (64 << 20, 64 << 20), ..HeapConfig::default() });
        let all: Vec<Value> = (0..100_000).map(|i| h.array(Value::FALSE, &[Value::fix(i)]).val()).collect();
        h.collect(&mut |m| m.mark_all(&all));
        let waiting = h.lists.unswept.len();
        assert!(waiting > 10 * STEPS && h.lists.pace > 0);
        h.shared.set_hurry(true);
        h.out_refill(64);
        assert!(h.lists.unswept.len() >= waiting - STEPS);
        for _ in 0..10 {
            h.spend(PIECE as usize + 1);
        }
        assert!(h.lists.unswept.len() >= waiting - 11 * STEPS);
        h.shared.set_hurry(false);
        h.lists.pace = 0;
        h.lists.owed = h.lists.unswept.len() / 2;
        let (left, owed) = (h.lists.unswept.len(), h.lists.owed);
        h.spend(PIECE as usize + 1);
        assert_eq!((h.lists.unswept.len(), h.lists.owed), (left - owed, 0));
        h.out_refill(64);
        assert_eq!(h.lists.unswept.len(), 0, "they are full, so it looks at all of them");
    }
}
