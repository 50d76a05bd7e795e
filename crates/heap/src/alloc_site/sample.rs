//! A sampling profile of allocation: where the loop is when another few kilobytes have been allocated, and what
//! became of the cell that was allocated then.
//!
//! Invariants:
//! - Nothing of it is on an allocation's fast path. While a profile is made a worker's cursors get small pieces of
//!   free space of random length (8 KB on average) in place of whole gaps; the cell that no longer fits stands for all
//!   that was allocated since the one before. A site's bytes are therefore right on average, and to about
//!   `1 / sqrt(samples)` of their value. Pieces of the length of one cell make every cell a sample.
//! - A sample is dropped before its cell's memory is used anew: by the collection that frees the cell.

use crate::alloc_site::AllocSiteKey;
use crate::cells::header::flag;
use crate::cells::trace::cell_bytes;
use crate::heap::Heap;
use crate::shared::{HeapShared, lock};
use crate::space::block::Block;
use crate::{Header, Value};
use rustc_hash::FxHashMap;
use std::sync::atomic::Ordering::Relaxed;

/// Shortest piece, and by how much at most a piece is longer: odd, so that no loop's period fits.
const SHORT: u64 = 4099;
const SPREAD: u64 = 8191;

/// What was sampled at a site.
#[derive(Clone, Copy, Default, Debug)]
pub struct Sampled {
    /// Bytes that the samples stand for.
    pub bytes: u64,
    /// Number of samples.
    pub samples: u64,
}

/// Where a sampled cell comes from.
#[derive(Clone, Copy, Debug)]
pub struct Birth {
    /// The site that made it.
    pub site: AllocSiteKey,
    /// Bytes of cells that it stands for.
    pub weight: u64,
    /// Node collections there had been.
    pub generation: u64,
}

/// How much is sampled.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum Mode {
    #[default]
    Nothing,
    /// By pieces.
    Pieces,
    /// Every cell.
    All,
}

/// One worker's samples.
#[derive(Default)]
pub(crate) struct Sampler {
    mode: Mode,
    /// The mode to go back to when tracing ends.
    before: Mode,
    sites: FxHashMap<AllocSiteKey, Sampled>,
    /// Cells that were private when last looked at, by address.
    private: FxHashMap<u64, Birth>,
    dice: u64,
    /// Bytes of cells since the last sample.
    since: u64,
    /// Outside bytes of the heap when they were last counted for a site, and what they may really grow to.
    outside_seen: usize,
    outside_limit: usize,
}

impl Sampler {
    /// Length of the next piece, into which a cell of `n` bytes must fit.
    pub(crate) fn piece(&mut self, n: usize) -> usize {
        self.dice = self.dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        match self.mode {
            Mode::Nothing => usize::MAX,
            Mode::Pieces => n + (SHORT + (self.dice >> 33) % SPREAD) as usize,
            Mode::All => n,
        }
    }
    /// So many bytes of cells were allocated.
    pub(crate) fn filled(&mut self, bytes: usize) {
        self.since += bytes as u64;
    }
    /// Outside bytes are `now`, and may grow to `limit`: when to look at them again.
    pub(crate) fn outside(&mut self, limit: usize, now: usize) -> usize {
        (self.outside_limit, self.outside_seen) = (limit, now);
        limit.min(now.saturating_add(self.piece(0)))
    }
    fn count(&mut self, site: AllocSiteKey, bytes: u64) {
        let e = self.sites.entry(site).or_default();
        e.bytes += bytes;
        e.samples += 1;
    }
}

impl Heap {
    /// Makes a profile of allocation from now on: samples, and the fates of all cells that are born in nurseries.
    /// Heaps made from this one later do the same.
    pub fn start_profile(&mut self) {
        self.sampler.get_or_insert_default().mode = Mode::Pieces;
        self.profile_sites();
        self.cut_cursors();
    }
    fn profile_sites(&mut self) {
        self.plain = false;
        self.site_table().set_profile(true);
        self.begin_recording();
    }
    /// Samples as `other` does.
    pub(crate) fn sample_like(&mut self, other: &Heap) {
        let Some(o) = &other.sampler else { return };
        **self.sampler.get_or_insert_default() = Sampler { mode: o.mode, before: o.before, ..Sampler::default() };
        if o.mode == Mode::Pieces || o.before == Mode::Pieces {
            self.profile_sites();
        }
        self.cut_cursors();
    }
    /// From now on every cell's site is known, or no longer. What is known stays so.
    pub fn trace_births(&mut self, on: bool) {
        let s = self.sampler.get_or_insert_default();
        if on && s.mode != Mode::All {
            s.before = std::mem::replace(&mut s.mode, Mode::All);
        } else if !on && s.mode == Mode::All {
            s.mode = s.before;
        }
        self.cut_cursors();
    }
    /// The next cells are born on slow paths, buffers are counted.
    fn cut_cursors(&mut self) {
        for c in &mut self.cursors {
            c.cut();
        }
        let real = self.sampler.as_ref().map_or(0, |s| s.outside_limit);
        self.limit_outside(if real == 0 { self.outside_limit } else { real });
    }
    /// Memory of `n` bytes for a cell was found on a slow path: a sample, if a profile is made.
    #[cold]
    pub(crate) fn sample_cell(&mut self, cell: u64, n: usize) {
        let site = self.running_site();
        let generation = self.shared.stats.number();
        let Some(s) = &mut self.sampler else { return };
        if s.mode == Mode::Nothing {
            return;
        }
        // The cell itself is in the next sample's bytes, or in this one's when it is large or each is one.
        let weight = std::mem::take(&mut s.since).max(if s.mode == Mode::All { n as u64 } else { 0 });
        if weight > 0 {
            s.count(site, weight);
            s.private.insert(cell, Birth { site, weight, generation });
        }
    }
    /// Outside bytes have grown: their growth counts for the running site, and for no cell. True when they
    /// were looked at for that only.
    #[cold]
    pub(crate) fn outside_sampled(&mut self) -> bool {
        let (site, now) = (self.running_site(), self.outside);
        let Some(s) = &mut self.sampler else { return false };
        let grown = now.saturating_sub(s.outside_seen);
        if s.mode == Mode::Pieces {
            s.count(site, grown as u64);
        }
        let limit = s.outside_limit;
        self.limit_outside(limit);
        now <= limit
    }
    /// In a nursery collection, after marking: private cells that it frees are no samples any more, those that left
    /// the nursery are for node collections to judge.
    pub(crate) fn sift_private(&mut self) {
        let Some(s) = self.sampler.as_mut().filter(|s| !s.private.is_empty()) else { return };
        let mut left = lock(&self.shared.births);
        s.private.retain(|&cell, birth| {
            // SAFETY: cells in this list were not freed yet, and their blocks live.
            let (h, b) = unsafe { (&*(cell as *const Header), &*Block::of(cell)) };
            if h.flags.load(Relaxed) & flag::OUT != 0 {
                left.insert(cell, *birth);
                return false;
            }
            b.is_live(cell)
        });
    }
    /// In a node collection, after marking.
    pub(crate) fn sift_marked(&mut self) {
        if let Some(s) = &mut self.sampler {
            // SAFETY: as above.
            s.private.retain(|&cell, _| unsafe { (*Block::of(cell)).marked(cell) });
        }
    }

    /// The samples by site so far, at a stop.
    pub fn take_samples(&mut self) -> Vec<(AllocSiteKey, Sampled)> {
        self.sampler.as_mut().map_or_else(Vec::new, |s| s.sites.drain().collect())
    }
    /// Where a cell comes from, if this worker or nobody has it to itself and it is known.
    pub fn birth_of(&self, v: Value) -> Option<Birth> {
        let own = self.sampler.as_ref().and_then(|s| s.private.get(&v.bits()).copied());
        own.or_else(|| lock(&self.shared.births).get(&v.bits()).copied())
    }
    /// Calls `f` with this worker's samples that live: cell, its bytes, where it comes from. At a stop, after
    /// a full collection; [`HeapShared::each_birth`] has the others.
    pub fn each_birth(&self, f: &mut dyn FnMut(Value, usize, &Birth)) {
        if let Some(s) = &self.sampler {
            each(&s.private, f);
        }
    }
    /// Forgets where cells come from.
    pub fn forget_births(&mut self) {
        if let Some(s) = &mut self.sampler {
            s.private.clear();
        }
        lock(&self.shared.births).clear();
    }
}

fn each(births: &FxHashMap<u64, Birth>, f: &mut dyn FnMut(Value, usize, &Birth)) {
    for (cell, b) in births {
        // SAFETY: a sample's cell was not freed.
        let n = unsafe { cell_bytes(&*(*cell as *const Header)) };
        f(Value::from_bits(*cell), n, b);
    }
}

impl HeapShared {
    /// In a node collection, after marking.
    pub(crate) fn sift_births(&self, alive: impl Fn(Value) -> bool) {
        lock(&self.births).retain(|cell, _| alive(Value::from_bits(*cell)));
    }
    /// As [`Heap::each_birth`] for cells outside nurseries.
    pub fn each_birth(&self, f: &mut dyn FnMut(Value, usize, &Birth)) {
        each(&lock(&self.births), f);
    }
}
