//! A worker's nursery: where its private cells are born, and how they die there.
//!
//! Invariants (the paper's speculation, section 2 of "Speculative Allocation"):
//! - A cell without `OUT` lies in a block of its worker's current nursery, and only the tasks of the thread that
//!   this worker runs can reach it.
//! - Along every reference the flags `OUT` and `SHARED` only grow: what a cell outside the nursery refers to is
//!   outside, what a shared cell refers to is shared. [`Heap::before_store`] keeps it, for each store; under the
//!   paper's rule a stored cell is shared whatever it is stored into, so that no closure is ever walked.
//! - So a nursery collection, marking from the running thread's stacks through private cells, sees every reference
//!   to a private cell there is.
//!
//! A cell that leaves (is *published*) stays where it is; so does a nursery in which too little comes free: it
//! *retires*, what lives in it leaves, and a fresh nursery is taken. Nothing moves and nobody else is stopped.

use crate::alloc_site::Fate;
use crate::cells::header::{Header, Kind, flag};
use crate::cells::trace::{Marker, Visitor, cell_bytes, outside_bytes, prefetch, release, trace_cell};
use crate::cycle::{self, is_long};
use crate::heap::share::Sharing;
use crate::heap::{Heap, Rule};
use crate::space::IN;
use crate::space::block::{BLOCK, Block, FIRST, GRANULE, Gap, State};
use crate::watch::stat::{Counters, NurseryDone};
use crate::{Plain, Value};
use std::sync::atomic::Ordering::*;
use std::time::Instant;

/// Bytes of nursery that pay for the look at one root: deep stacks get larger nurseries, so that
/// looking at them stays a small part of the work.
const BYTES_PER_ROOT: usize = 16;
/// The walk over a frame costs as much as the look at so many roots.
const ROOTS_PER_FRAME: usize = 4;
/// Outside bytes (buffers of private cells) that may gather for each byte of nursery.
const OUTSIDE: usize = 16;

/// See the module.
pub(crate) struct Nursery {
    /// Blocks in which private cells lie, or may be born.
    pub blocks: Vec<*mut Block>,
    /// The next of them to be filled.
    next: usize,
    /// Configured bytes of a nursery.
    size: usize,
    /// Filled since the last nursery collection.
    filled: usize,
    /// What `filled` may reach.
    limit: usize,
    /// A nursery collection waits for the next safepoint.
    wanted: bool,
    /// Outside bytes of private cells that the last nursery collection kept.
    kept_outside: usize,
    /// Outside bytes of cells published since, counted when that happened.
    published_outside: usize,
    /// The sites of the cells born now are recorded.
    recording: bool,
    /// Cells whose fate is not known yet, and their sites.
    births: Vec<(u64, u32)>,
    /// `KUMI_TLH_STRESS`: state of the random choices; 0: off.
    stress: u64,
    /// Counts collections, and births of confined cells.
    epoch: u64,
    /// The births after which the running thread last published all it held.
    shown: (u64, u64),
}

// SAFETY: its blocks are its heap's.
unsafe impl Send for Nursery {}

impl Nursery {
    pub fn new(size: usize, stress: u64) -> Nursery {
        Nursery {
            blocks: Vec::new(),
            next: 0,
            size,
            filled: 0,
            limit: size,
            wanted: false,
            kept_outside: 0,
            published_outside: 0,
            recording: false,
            births: Vec::new(),
            stress,
            epoch: 0,
            shown: (0, 0),
        }
    }
    pub fn size(&self) -> usize {
        self.size
    }
    pub fn stress(&self) -> u64 {
        self.stress
    }
    pub fn filled(&mut self, bytes: usize) {
        self.filled += bytes;
    }
    pub fn records(&self) -> bool {
        self.recording
    }
    pub fn outside_limit(&self) -> usize {
        self.outside_share() + self.kept_outside
    }
    fn outside_share(&self) -> usize {
        (self.size * OUTSIDE).max(256 << 10)
    }
    /// A random number below `n`.
    fn random(&mut self, n: u64) -> u64 {
        self.stress = self.stress.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.stress >> 33) % n.max(1)
    }
    /// Nothing is private any more, or nothing is left.
    fn reset(&mut self) {
        (self.next, self.filled, self.wanted) = (0, 0, false);
        (self.kept_outside, self.published_outside) = (0, 0);
        self.epoch += 1;
    }
}

/// Marks private cells.
struct Reach {
    grey: Vec<Value>,
    seen: usize,
}

impl Visitor for Reach {
    fn walked(&mut self, frames: usize) {
        self.seen += frames * ROOTS_PER_FRAME;
    }
    #[inline]
    fn visit(&mut self, v: Value) {
        self.seen += 1;
        if let Some(h) = v.header()
            && h.flags.load(Relaxed) & flag::OUT == 0
        {
            // SAFETY: a private cell lies in a block of this worker's nursery.
            if unsafe { (*Block::of(v.bits())).set_live(v.bits()) } {
                self.grey.push(v);
            }
        }
    }
}

/// Of a graph of so many cells the rest is walked by [`Sharing`]: they do not lie in the cache, so that their lines are asked for while others are
/// looked at.
const MANY: usize = 4096;

/// Gives flags to a closure.
struct Raise<'a> {
    heap: &'a mut Heap,
    need: u8,
    grey: Vec<Value>,
    /// Cells that it gave flags.
    raised: usize,
}

impl Visitor for Raise<'_> {
    #[inline(always)]
    fn visit(&mut self, v: Value) {
        if let Some(h) = v.header() {
            let f = h.flags.load(Relaxed);
            if f & self.need != self.need {
                self.raise(v, h, f);
            }
        }
    }
    #[inline(always)]
    fn visit_all(&mut self, vs: &[Value]) {
        self.visit_slots::<false>(vs);
    }
    /// What a cell holds may lie anywhere, what a stack does was used just now.
    #[inline(always)]
    fn visit_fields(&mut self, vs: &[Value]) {
        self.visit_slots::<true>(vs);
    }
}

pub(crate) const LEAVE: u8 = flag::OUT | flag::SHARED;

impl Heap {
    /// Is there a nursery at all (`KUMI_TLH` is not `off`)?
    #[inline]
    pub fn nurseries(&self) -> bool {
        self.rule != Rule::Off
    }
    /// Bytes of cells after which a nursery is collected, as configured.
    pub fn nursery_bytes(&self) -> usize {
        self.nursery.size()
    }
    /// May the running thread reach cells that are not shared? Not when nothing was born here since it, or the one
    /// before it, published what it held ([`Heap::all_shown`]): fibers that ran since are the caller's affair.
    #[inline]
    pub fn has_private(&self) -> bool {
        self.nurseries() && self.births() != self.nursery.shown
    }
    /// The running thread has published all that it can reach.
    #[inline]
    pub fn all_shown(&mut self) {
        self.nursery.shown = self.births();
    }
    /// Names the births of private and confined cells so far: the nursery's cursor only goes on until a new epoch begins.
    #[inline]
    pub(crate) fn births(&self) -> (u64, u64) {
        (self.nursery.epoch, self.cursors[IN].at)
    }
    /// Cells were born that are neither private nor shared.
    pub(crate) fn confined_born(&mut self) {
        self.nursery.epoch += 1;
    }
    /// Is a nursery collection due at the next safepoint?
    #[inline(always)]
    pub fn wants_nursery(&self) -> bool {
        self.nursery.wanted
    }
    pub(crate) fn wish_nursery(&mut self) {
        self.nursery.wanted = true;
        self.poll.store(true, Relaxed);
    }

    // --- the barrier ----------------------------------------------------------------

    /// The write barrier: `v` is about to be stored into a field of `holder`.
    ///
    /// Called before every store into a cell that was not just allocated.
    #[inline(always)]
    pub fn before_store(&mut self, holder: Value, v: Value) {
        #[cfg(feature = "barrier-twice")]
        self.barrier(std::hint::black_box(holder), std::hint::black_box(v));
        self.barrier(holder, v);
    }
    #[inline(always)]
    fn barrier(&mut self, holder: Value, v: Value) {
        if v.is_heap()
            && let Some(h) = holder.header()
        {
            let f = h.flags.load(Relaxed) | self.always;
            if f & flag::OUT != 0 {
                self.barrier_out(holder, f & LEAVE, v);
            }
        }
    }
    /// The holder is outside the nursery (or the rule does not ask where it is).
    #[inline(never)]
    fn barrier_out(&mut self, holder: Value, need: u8, v: Value) {
        if let Some(h) = v.header()
            && h.flags.load(Relaxed) & need != need
        {
            self.raise(v, need);
        }
        let b = Block::of(holder.bits());
        // SAFETY: a heap value lies in a live block.
        if unsafe { (*b).marked(holder.bits()) && !(*b).logged(holder.bits()) } {
            self.remember_store(holder, v);
        }
    }
    /// The holder is marked, and not remembered.
    #[cold]
    fn remember_store(&mut self, holder: Value, v: Value) {
        if self.shared.cycle_is_open() && is_long(holder) {
            // It would be looked at as a whole.
            self.remembered.push(cycle::stored(v));
        } else {
            self.remember(holder);
        }
    }
    /// Notes that a cell outside the nursery is stored into: an old one is looked at by the next young collection.
    #[inline]
    pub(crate) fn remember(&mut self, holder: Value) {
        let b = Block::of(holder.bits());
        // SAFETY: a heap value lies in a live block.
        unsafe {
            if (*b).marked(holder.bits()) && (*b).log(holder.bits()) {
                self.remembered.push(holder);
            }
        }
    }
    /// [`Heap::before_store`] for each of the values.
    #[inline]
    pub fn before_store_all(&mut self, holder: Value, vs: &[Value]) {
        for &v in vs {
            self.before_store(holder, v);
        }
    }
    /// `v` is about to go where another worker may find it: a structure outside the heap.
    #[inline]
    pub fn publish(&mut self, v: Value) {
        if let Some(h) = v.header()
            && h.flags.load(Relaxed) & LEAVE != LEAVE
        {
            self.raise(v, LEAVE);
        }
    }
    /// Publishes everything that `roots` shows: the running thread stops running.
    pub fn publish_roots(&mut self, roots: impl FnOnce(&mut Marker)) {
        self.raise_roots(LEAVE, roots);
    }
    /// As [`publish_roots`](Self::publish_roots), but the cells stay this thread's: they only leave the nursery.
    pub fn retire_roots(&mut self, roots: impl FnOnce(&mut Marker)) {
        self.raise_roots(flag::OUT, roots);
    }
    fn raise_roots(&mut self, need: u8, roots: impl FnOnce(&mut Marker)) {
        if !self.nurseries() {
            return;
        }
        let grey = std::mem::take(&mut self.grey);
        let mut r = Raise { heap: self, need, grey, raised: 0 };
        roots(&mut Marker::new(&mut r));
        r.close();
    }
    /// Gives `v` and all it reaches the flags `need`.
    #[cold]
    #[inline(never)]
    pub(crate) fn raise(&mut self, v: Value, need: u8) {
        let grey = std::mem::take(&mut self.grey);
        let mut r = Raise { heap: self, need, grey, raised: 0 };
        r.visit(v);
        r.close();
    }
    /// Gives what new cells outside the nursery hold their flags, and those themselves when they are to be shared.
    /// They are young: no young collection has to be told.
    pub(crate) fn raise_held(&mut self, cells: &[Value], shared: bool) {
        let need = if shared { LEAVE } else { flag::OUT | self.always };
        let grey = std::mem::take(&mut self.grey);
        let mut r = Raise { heap: self, need, grey, raised: 0 };
        for &c in cells {
            if shared {
                r.visit(c);
            }
            // One that was published in the meantime may have been filled after that.
            r.need = need | c.header().map_or(0, |h| h.flags.load(Relaxed) & LEAVE);
            trace_cell(c, &mut r);
            r.drain();
        }
        r.close();
    }
    /// Gives one cell flags, and accounts for its leaving the nursery.
    #[inline]
    fn raise_one(&mut self, v: Value, h: &Header, old: u8, need: u8) {
        // Until now only this worker could reach the cell: nobody else changes its flags.
        h.flags.store(old | need, Release);
        if old & flag::OUT == 0 {
            self.left(1, cell_bytes(h), outside_bytes(v));
        }
    }

    /// Accounts for so many private cells that left the nursery, their bytes, and those outside of them.
    #[inline]
    pub(crate) fn left(&mut self, cells: u64, bytes: usize, outside: usize) {
        Counters::add(&self.counters.published_cells, cells);
        Counters::add(&self.counters.allocated_cells, cells);
        Counters::add(&self.counters.published_bytes, bytes as u64);
        self.nursery.published_outside += outside;
        self.spend(bytes + outside);
    }

    // --- filling --------------------------------------------------------------------

    /// Finds room for `n` bytes in the nursery; asks for a nursery collection when it is full, and goes on
    /// beyond it until the safepoint comes.
    pub(crate) fn nursery_refill(&mut self, n: usize) {
        self.settle(IN);
        loop {
            let room = self.nursery.limit.saturating_sub(self.nursery.filled);
            if room == 0 && !self.nursery.wanted {
                self.wish_nursery();
            }
            let most = self.piece_for(n, room.max(self.nursery.size).max(n));
            if self.cursors[IN].advance(n, most) {
                return;
            }
            // The block stays in the nursery's list.
            self.cursors[IN].leave();
            if let Some(&b) = self.nursery.blocks.get(self.nursery.next) {
                self.nursery.next += 1;
                self.cursors[IN].enter(b);
                continue;
            }
            // Blocks that wait to be swept may turn out empty, or at least half so: what lives in them stays what it
            // is, outside the nursery.
            for _ in 0..4 {
                if self.spare_blocks() || !self.lists.roomy.is_empty() || !self.sweep_one() {
                    break;
                }
            }
            let b = if self.spare_blocks() { None } else { self.lists.roomy.pop() };
            let b = b.unwrap_or_else(|| self.take_block());
            // SAFETY: a swept block of this heap that no list and no cursor holds.
            unsafe { (*b).state = State::Nursery };
            self.nursery.blocks.push(b);
            self.nursery.next = self.nursery.blocks.len();
            self.cursors[IN].enter(b);
        }
    }

    /// As the quick path, while sites are recorded.
    pub(crate) fn raw_recorded(&mut self, n: usize) -> *mut u8 {
        self.cursors[IN].show();
        if self.cursors[IN].end - self.cursors[IN].at < n as u64 {
            self.nursery_refill(n);
        }
        let c = &mut self.cursors[IN];
        let p = c.at;
        c.at += n as u64;
        c.hide();
        let site = self.site_now();
        if site != 0 {
            self.nursery.births.push((p, site));
        }
        p as *mut u8
    }
    /// Tells the sites what became of their cells. `lives`: is a private cell still reached? `retire`: and what is,
    /// leaves the nursery now.
    fn tell_fates(&mut self, lives: impl Fn(u64) -> bool, retire: bool) {
        let mut births = std::mem::take(&mut self.nursery.births);
        births.retain(|&(at, site)| {
            // SAFETY: a cell of the nursery, or freed space that was a cell: told before its block is swept.
            let h = unsafe { &*(at as *const Header) };
            let out = h.flags.load(Relaxed) & flag::OUT != 0;
            let fate = match (out, lives(at)) {
                (true, _) => Fate::Published,
                (false, false) => Fate::Freed,
                (false, true) if retire => Fate::Retired,
                (false, true) => return true,
            };
            let bytes = cell_bytes(h) + outside_bytes(Value::from_bits(at));
            self.sites.table.fate(site, fate, bytes.min(u32::MAX as usize) as u32);
            false
        });
        self.nursery.births = births;
    }
    /// A nursery begins, or begins anew: are sites recorded?
    pub(crate) fn begin_recording(&mut self) {
        self.nursery.recording = self.sites.table.begin_nursery();
    }

    // --- the nursery collection --------------------------------------------------------

    /// A nursery collection: frees this worker's private cells that `roots` does not reach. `roots` shows what the
    /// running thread holds: its stacks, and what else of this worker refers to cells between two bytecodes.
    pub fn collect_nursery(&mut self, mut roots: impl FnMut(&mut Marker)) {
        if !self.nurseries() {
            return;
        }
        let t0 = Instant::now();
        self.seal_born();
        self.settle(IN);
        self.cursors[IN].leave();
        let mut r = Reach { grey: std::mem::take(&mut self.grey), seen: 0 };
        roots(&mut Marker::new(&mut r));
        let roots_seen = r.seen;
        while let Some(v) = r.grey.pop() {
            trace_cell(v, &mut r);
        }
        self.grey = r.grey;
        if !self.nursery.births.is_empty() {
            // SAFETY: cells of this nursery's blocks.
            self.tell_fates(|c| unsafe { (*Block::of(c)).is_live(c) }, false);
        }
        self.sift_private();

        let mut done = NurseryDone::default();
        let (mut kept, mut kept_outside, mut freed_outside, mut free) = (0, 0, 0, 0);
        for i in 0..self.nursery.blocks.len() {
            // SAFETY: a block of this nursery, walkable, since its cursor has left.
            let s = unsafe { sweep_nursery(self.nursery.blocks[i], self.nursery.stress != 0) };
            kept += s.kept;
            kept_outside += s.kept_outside;
            freed_outside += s.freed_outside;
            free += s.free;
            done.freed_cells += s.freed_cells;
            done.freed_bytes += s.freed as u64;
        }
        done.before_bytes = done.freed_bytes + (kept + kept_outside) as u64;
        let normal = self.nursery.size.div_ceil(BLOCK).max(1);
        let whole = self.nursery.blocks.len().max(1) * (BLOCK - FIRST);
        // Too little came free: what survives is taken to live on. So are large buffers that are there a second
        // time: they count towards the heap's limit only when their cells have left.
        let large = kept_outside.min(self.nursery.kept_outside) * 2 > self.nursery.outside_share();
        // A nursery spread over many blocks that others' cells fill ends too.
        let crowded = self.nursery.blocks.len() > 2 * normal && free * 2 < whole;
        let mut retire = kept > 0 && (large || crowded || kept as u64 > done.freed_bytes || kept * 2 > self.nursery.size);
        if self.nursery.stress != 0 {
            retire |= kept > 0 && self.nursery.random(4) == 0;
        }
        // What the buffers of shared cells grew by counts towards the next node collection.
        let grown = (std::mem::take(&mut self.outside) + self.nursery.kept_outside)
            .saturating_sub(freed_outside + kept_outside + self.nursery.published_outside);
        self.nursery.reset();
        Counters::add(&self.counters.allocated_cells, done.freed_cells);
        if retire {
            self.tell_fates(|_| true, true);
            let (cells, bytes) = self.retire_nursery(|_| true);
            (done.retired, done.retired_cells, done.retired_bytes) = (true, cells, bytes);
        } else {
            self.nursery.kept_outside = kept_outside;
        }
        let mut stay = Vec::with_capacity(normal);
        let mut gone = std::mem::take(&mut self.nursery.blocks);
        // Emptier blocks first: the nursery is to stay in as few, and as near, as it can.
        gone.retain(|&b| {
            // SAFETY: as above.
            let (private, f) = unsafe { (!retire && (*b).has_live(), (*b).free_bytes as usize) };
            let keep = private || (stay.len() < normal && f * 2 > BLOCK);
            if keep {
                stay.push(b);
            }
            !keep
        });
        for b in gone {
            // SAFETY: as above: swept, nothing private in it.
            unsafe {
                (*b).clear_live();
                (*b).state = State::Common;
                if (*b).free_bytes as usize == BLOCK - FIRST {
                    self.give_block(b);
                } else {
                    self.lists.young(b);
                }
            }
        }
        for &b in &stay {
            // SAFETY: as above.
            unsafe { (*b).clear_live() };
        }
        self.nursery.blocks = stay;
        self.nursery.limit = self.nursery.size.max(roots_seen * BYTES_PER_ROOT);
        if self.nursery.stress != 0 {
            let n = self.nursery.size as u64 / 64;
            self.nursery.limit = 64 + self.nursery.random(n) as usize * 64;
        }
        self.limit_outside(self.nursery.outside_limit());
        self.begin_recording();
        self.spend(grown);
        done.ns = t0.elapsed().as_nanos() as u64;
        let shared = self.shared.clone();
        self.counters.nursery(&shared.stats, done);
    }

    /// Private cells of the nursery's blocks that `alive` names leave the nursery. Returns their number and bytes. The others
    /// were allocated too, and whoever counts what is dead now finds them.
    pub(crate) fn retire_nursery(&mut self, alive: impl Fn(u64) -> bool) -> (u64, u64) {
        let (mut cells, mut dead, mut bytes, mut outside) = (0, 0, 0, 0);
        for &b in &self.nursery.blocks {
            // SAFETY: a block of this nursery, walkable; its private cells are this worker's, which stands here.
            unsafe {
                (*b).each(|h, n| {
                    let f = (*h).flags.load(Relaxed);
                    if f & flag::OUT == 0 {
                        if alive(h as u64) {
                            (*h).flags.store(f | flag::OUT, Relaxed);
                            cells += 1;
                            bytes += n as u64;
                            outside += outside_bytes(Value::from_bits(h as u64));
                        } else {
                            dead += 1;
                        }
                    }
                });
            }
        }
        Counters::add(&self.counters.allocated_cells, cells + dead);
        self.spend(bytes as usize + outside);
        (cells, bytes)
    }
    /// At a node collection, after marking: what lives in the nursery leaves it, and its blocks wait to be swept.
    pub(crate) fn give_up_nursery(&mut self) {
        // SAFETY: cells of live blocks.
        let marked = |c: u64| unsafe { (*Block::of(c)).marked(c) };
        self.tell_fates(marked, true);
        let (cells, bytes) = self.retire_nursery(marked);
        if cells > 0 {
            self.counters.retire(cells, bytes);
        }
        for b in std::mem::take(&mut self.nursery.blocks) {
            self.lists.unswept.push(b);
        }
        self.nursery.reset();
        self.nursery.limit = self.nursery.size;
        self.outside = 0;
        self.limit_outside(self.nursery.outside_limit());
        self.begin_recording();
    }
    /// `KUMI_TLH_STRESS`: now and then a cell is published for no reason.
    pub(crate) fn stress_publish(&mut self, v: Value) {
        if self.nursery.stress != 0 && self.nursery.random(16) == 0 {
            self.publish(v);
        }
    }
}

impl Raise<'_> {
    /// `FETCH`: the cells of up to eight are brought into the cache at a time. What was published meanwhile, others may be storing into.
    #[inline(always)]
    fn visit_slots<const FETCH: bool>(&mut self, vs: &[Value]) {
        // SAFETY: a live slot; what is visited is looked at once.
        let load = |v: &Value| unsafe { Value::load(v) };
        let fetch = |v: Value| {
            if FETCH && v.is_heap() {
                prefetch(v.bits() as *const u8);
            }
        };
        let (eights, rest) = vs.as_chunks::<8>();
        for e in eights {
            let e = e.each_ref().map(load);
            // Long lists of numbers are common, and one look at eight of them is enough.
            if !e.iter().fold(true, |all, v| all & v.is_fix()) {
                e.iter().for_each(|v| fetch(*v));
                e.iter().for_each(|v| self.visit(*v));
            }
        }
        if rest.len() > 1 {
            rest.iter().for_each(|v| fetch(load(v)));
        }
        rest.iter().for_each(|v| self.visit(load(v)));
    }
    /// Away from `visit`: most of what stands on stacks has its flags, and the loop over the slots stays a short one.
    #[inline(never)]
    fn raise(&mut self, v: Value, h: &Header, old: u8) {
        self.heap.raise_one(v, h, old, self.need);
        self.raised += 1;
        self.grey.push(v);
    }
    fn drain(&mut self) {
        while let Some(v) = self.grey.pop() {
            if self.raised >= MANY || v.as_array().is_some_and(|a| a.len() >= MANY) {
                self.grey.push(v);
                self.grey = Sharing::raise(self.heap, self.need, std::mem::take(&mut self.grey));
                self.raised = 0;
            } else {
                trace_cell(v, self);
            }
        }
    }
    fn close(mut self) {
        self.drain();
        self.heap.grey = self.grey;
    }
}

/// What a sweep of one of the nursery's blocks found.
#[derive(Default)]
struct Swept {
    free: usize,
    freed: usize,
    freed_cells: u64,
    freed_outside: usize,
    kept: usize,
    kept_outside: usize,
}

/// Frees private cells that are not live, lists the gaps.
///
/// # Safety
/// The block is of this worker's nursery and can be walked; its `live` bits are those of a finished marking.
unsafe fn sweep_nursery(b: *mut Block, poison: bool) -> Swept {
    let mut s = Swept::default();
    // SAFETY: the caller's promise; what is private and not live is reached by nothing.
    unsafe {
        let end = b as u64 + BLOCK as u64;
        let mut at = (*b).first();
        let (mut first, mut last): (u64, u64) = (0, 0);
        let mut run: u64 = 0;
        loop {
            let stop = at >= end;
            if !stop {
                let h = at as *mut Header;
                let k = (*h).kind;
                let n = cell_bytes(&*h);
                if k == Kind::Free || ((*h).flags.load(Relaxed) & flag::OUT == 0 && !(*b).is_live(at)) {
                    if k != Kind::Free {
                        s.freed += n;
                        s.freed_cells += 1;
                        s.freed_outside += release(h);
                    }
                    if run == 0 {
                        run = at;
                    }
                    at += n as u64;
                    continue;
                }
                if run == 0 {
                    if (*h).flags.load(Relaxed) & flag::OUT == 0 {
                        s.kept += n;
                        s.kept_outside += outside_bytes(Value::from_bits(at));
                    }
                    at += n as u64;
                    continue;
                }
            }
            if run != 0 {
                let n = (at - run) as usize;
                s.free += n;
                if poison && n > GRANULE {
                    std::ptr::write_bytes((run + GRANULE as u64) as *mut u8, 0xd7, n - GRANULE);
                }
                Gap::write(run, n, 0);
                if last == 0 {
                    first = run;
                } else {
                    (*(last as *mut Gap)).next = run;
                }
                last = run;
                run = 0;
            }
            if stop {
                break;
            }
        }
        (*b).gap = first;
        (*b).free_bytes = s.free as u32;
    }
    s
}
