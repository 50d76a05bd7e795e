//! The collection of all heaps of a runtime, and walks over them.
//!
//! One thread does it while every other is stopped at a safepoint, with the heaps
//! of all of them in hand: a heap left out would keep unmarked cells that others
//! refer to.

use crate::block::Block;
use crate::gclog::Collected;
use crate::header::Kind;
use crate::heap::{FIRST_BUDGET, Heap};
use crate::mark::{Marking, is_marked};
use crate::shared::{HeapShared, lock};
use crate::trace::{Marker, Visitor, as_value, drop_cell};
use crate::{ClassObj, DataObj, Value};
use std::sync::PoisonError;
use std::sync::atomic::Ordering::*;
use std::time::Instant;

impl Heap {
    fn blocks(&self) -> impl Iterator<Item = *mut Block> + '_ {
        self.classes.iter().flat_map(|c| &c.blocks).chain(&self.large).copied()
    }

    /// Takes over what workers that are gone have left. The world is stopped.
    fn adopt(&mut self) {
        let orphans = std::mem::take(&mut *lock(&self.shared.orphans));
        for o in orphans {
            for (c, bs) in o.blocks {
                // Their free cells are found again when they are swept: the sweep of a block that is
                // swept already finds nothing, so they wait for the collection that follows.
                self.classes[c].blocks.extend(bs);
            }
            self.large.extend(o.large);
        }
    }

    /// Calls `f` with every live cell of this heap. Sweeps first. For a runtime of one worker.
    pub fn each_cell(&mut self, f: impl FnMut(Value)) {
        Heap::each_cell_all(&mut [self], f)
    }
    /// Calls `f` with every live cell of all heaps of a runtime. The world is stopped. Sweeps first.
    pub fn each_cell_all(heaps: &mut [&mut Heap], mut f: impl FnMut(Value)) {
        if let Some(h) = heaps.first_mut() {
            h.adopt();
        }
        for h in heaps.iter_mut() {
            h.sweep_all();
            for b in h.blocks() {
                // SAFETY: blocks in the lists are live; swept, so what is not free is live.
                unsafe { (*b).each_live(|h| f(as_value(h))) };
            }
        }
    }

    /// A whole collection for a runtime of one worker. `roots` marks everything the caller holds.
    pub fn collect(&mut self, roots: &mut dyn FnMut(&mut Marker)) {
        Heap::collect_all(&mut [self], roots)
    }

    /// A whole collection over all heaps of a runtime, by one thread while all others are stopped.
    /// `roots` marks everything that any worker holds.
    pub fn collect_all(heaps: &mut [&mut Heap], roots: &mut dyn FnMut(&mut Marker)) {
        let t0 = Instant::now();
        let Some(first) = heaps.first_mut() else { return };
        first.adopt();
        let shared = first.shared.clone();
        for h in heaps.iter_mut() {
            h.sweep_all();
            for b in h.blocks() {
                // SAFETY: live blocks.
                unsafe { (*b).clear_marks() };
            }
        }
        let mut m = Marking::new(&shared);
        roots(&mut Marker::new(&mut m));
        for (procs, _) in lock(&shared.pending).iter() {
            m.visit_all(procs);
        }
        for procs in lock(&shared.finalizers).values() {
            m.visit_all(procs);
        }
        m.drain(&|v, to| shared.side_ivars_of(v, to));
        forget_dead(&shared);
        for h in heaps.iter_mut() {
            h.after_mark();
            // SAFETY: the world is stopped.
            unsafe { h.retired.free_all() };
        }
        shared.live_cells.store(m.cells, Relaxed);
        shared.live_bytes.store(m.bytes, Relaxed);
        let mut budget = FIRST_BUDGET.max(m.bytes as isize);
        let max = shared.max();
        if max < usize::MAX / 8 {
            budget = budget.min((max as isize - m.bytes as isize).max(1 << 20));
        }
        shared.budget.store(budget, Relaxed);
        shared.wants.store(false, Release);
        shared.wants_full.store(false, Relaxed);
        shared.stats.marked(Collected::Full, t0.elapsed().as_nanos() as u64, m.bytes as u64, m.cells as u64);
    }

    /// Prepares lazy sweeping and drops dead large cells.
    fn after_mark(&mut self) {
        for sc in &mut self.classes {
            sc.restart();
            for b in &sc.blocks {
                // SAFETY: live block; the world is stopped.
                unsafe {
                    (**b).unswept = true;
                    (**b).each_live(|h| {
                        // Class tables hold weak lists of dependents.
                        if (*h).kind == Kind::Class && is_marked(as_value(h)) {
                            (*(h as *mut ClassObj)).data.dependents.retain(|d| is_marked(d.val()));
                        }
                    });
                }
            }
        }
        let mut kept = Vec::with_capacity(self.large.len());
        for b in std::mem::take(&mut self.large) {
            // SAFETY: live block with one cell; dropped and freed only when unmarked.
            unsafe {
                let h = (*b).at(0);
                if (*b).marked(h as u64) {
                    kept.push(b);
                } else {
                    drop_cell(h);
                    self.shared.heap_bytes.fetch_sub((*b).bytes(), Relaxed);
                    self.shared.stats.released_bytes.fetch_add((*b).bytes() as u64, Relaxed);
                    Block::free(b);
                }
            }
        }
        self.large = kept;
    }
}

/// What the tables beside the cells say of dead cells: weak payloads are told, finalizers become pending.
fn forget_dead(shared: &HeapShared) {
    let alive = |v: Value| is_marked(v);
    let mut weak = std::mem::take(&mut *lock(&shared.weak));
    weak.retain(|v| alive(*v));
    for v in &weak {
        if let Some(mut d) = v.cell::<DataObj>() {
            d.payload.weak(&alive);
        }
    }
    lock(&shared.weak).append(&mut weak);
    let dead: Vec<(u64, Vec<Value>)> = lock(&shared.finalizers).extract_if(|b, _| !alive(Value::from_bits(*b))).collect();
    for (b, p) in dead {
        let id = shared.id_of(Value::from_bits(b)).0;
        lock(&shared.pending).push((p, id));
        shared.has_pending.store(true, Relaxed);
    }
    shared.ivars.write().unwrap_or_else(PoisonError::into_inner).retain(|b, _| alive(Value::from_bits(*b)));
    shared.forget_ids(alive);
}
