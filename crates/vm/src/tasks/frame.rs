//! Frames: a header below a base, registers from it on, and how to walk them.
//!
//! The header's words are the business of `header`. Words that are no objects carry the fixnum tag, so
//! that a stack is a slice of valid values. A **block word** is nil, a Proc, a Symbol, a Method, or
//! (fixnum tag) a literal block: slot of the defining frame in the upper half, index of the child code
//! above the tag bit.

use crate::Cx;
use crate::tasks::stack::{Stack, StackSizes};
use crate::tasks::task::State;
use crate::tasks::task::Task;
use kumi_bytecode::{HEADER, ISeq};
use kumi_heap::{Marker, Value};
use std::sync::atomic::AtomicU64;

/// Frame flags (15 bits).
pub mod ff {
    /// Body of a block: `break`, `next`, `return` and `self` are the defining frame's.
    pub const BLOCK: u64 = 1;
    /// ... called as a lambda: `return` and `break` end it.
    pub const LAMBDA: u64 = 2;
    /// The result is dropped.
    pub const DISCARD: u64 = 4;
    /// Home cells point here.
    pub const HOMES: u64 = 8;
    /// First frame of a task.
    pub const FINISH: u64 = 16;
    /// The result decides the fused jump before the return address.
    pub const JUMP: u64 = 32;
    /// Body of a define_method method.
    pub const BMETHOD: u64 = 64;
    /// Called by a retried native: hidden from everything.
    pub const HIDDEN: u64 = 128;
    /// What lies below this frame is in nobody's nursery any more ...
    pub const AGED: u64 = 256;
    /// ... and even published: its slots need not be looked at again. A frame that is left hands both to its caller.
    pub const SHOWN: u64 = 512;
    /// A helper that a native asked for: the native's number stands where a block's home would.
    pub const BEHALF: u64 = 1024;
    /// Pushed by the traced loop, and its body has not begun: see `trace`.
    pub const ENTERED: u64 = 2048;
    /// The helper that calls blocks for events: something waits for its end.
    pub const TRACE: u64 = 4096;
    /// A leave needs more than a store.
    pub const SLOW: u64 = DISCARD | HOMES | FINISH | JUMP | AGED | SHOWN | TRACE;
}

/// Address of a frame's base inside a live stack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fp(pub *mut Value);

impl Cx {
    /// Is another thread than this one, and than those, in a method or block of the object? While the world is stopped.
    pub fn others_are_in(&self, object: Value, but: &[Value]) -> bool {
        let (thread, mut found) = (self.task.thread(), false);
        self.tasks.each(|t| found |= t.thread() != thread && !but.contains(&t.thread()) && t.is_in(object));
        found
    }
}

impl Fp {
    // SAFETY (all accessors): an Fp is the base of a frame of the current stack; its header and `nregs`
    // words from it on are inside the stack.
    #[inline(always)]
    pub fn r(self, i: usize) -> Value {
        // SAFETY: above.
        unsafe { *self.0.add(i) }
    }
    #[inline(always)]
    pub fn set_r(self, i: usize, v: Value) {
        // SAFETY: above.
        unsafe { *self.0.add(i) = v }
    }
    #[inline(always)]
    pub fn set_link(self, delta: usize, dst: usize, flags: u64) {
        self.set_link_word(1 | flags << 1 | (dst as u64) << 16 | (delta as u64) << 32)
    }
    #[inline(always)]
    pub fn flags(self) -> u64 {
        (self.link_word() >> 1) & 0x7fff
    }
    pub fn add_flags(self, f: u64) {
        self.set_link_word(self.link_word() | f << 1)
    }
    pub fn drop_flags(self, f: u64) {
        self.set_link_word(self.link_word() & !(f << 1))
    }
    #[inline(always)]
    pub fn dst(self) -> usize {
        (self.link_word() >> 16) as u16 as usize
    }
    #[inline(always)]
    pub fn prev(self) -> Fp {
        // SAFETY: the word is the way to the caller's base.
        Fp(unsafe { self.0.sub((self.link_word() >> 32) as usize) })
    }
    #[inline(always)]
    pub fn iseq(self) -> &'static ISeq {
        // SAFETY: code is kept by the runtime while a frame may run it.
        unsafe { &*((self.code_word() - 1) as *const ISeq) }
    }
    #[inline(always)]
    pub fn set_iseq(self, i: *const ISeq) {
        self.set_code_word(i as u64 | 1)
    }
    #[inline(always)]
    pub fn ret(self) -> *const AtomicU64 {
        (self.ret_word() - 1) as *const AtomicU64
    }
    #[inline(always)]
    pub fn set_ret(self, pc: *const AtomicU64) {
        self.set_ret_word(pc as u64 | 1)
    }
    #[inline(always)]
    pub fn add(self, n: usize) -> Fp {
        // SAFETY: a register's, of this frame.
        Fp(unsafe { self.0.add(n) })
    }
    /// `n` registers from `i` on. Valid until the stack grows.
    #[inline(always)]
    pub fn slice(self, i: usize, n: usize) -> &'static [Value] {
        // SAFETY: registers of this frame.
        unsafe { std::slice::from_raw_parts(self.0.add(i), n) }
    }
    /// Fills registers `from..to` with nil.
    #[inline(always)]
    pub fn nil_fill(self, from: usize, to: usize) {
        let mut i = from;
        let n = to.saturating_sub(from);
        // SAFETY: registers of this frame.
        unsafe {
            if n & 1 != 0 {
                self.set_r(i, Value::NIL);
                i += 1;
            }
            if n & 2 != 0 {
                self.0.add(i).cast::<[Value; 2]>().write([Value::NIL; 2]);
                i += 2;
            }
            // Four at a time, not more: frames are small, and a wider loop costs more before and after than it saves.
            while i < to {
                self.0.add(i).cast::<[Value; 4]>().write([Value::NIL; 4]);
                i += 4;
                as_it_is();
            }
        }
    }
}

/// Keeps the compiler from unrolling the loop around it.
#[inline(always)]
fn as_it_is() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction at all.
    unsafe {
        std::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
}

/// A literal block of the frame at slot `off`.
#[inline(always)]
pub fn literal_block(off: usize, child: u16) -> Value {
    Value::from_bits((off as u64) << 32 | (child as u64) << 1 | 1)
}
/// Slot and child index of a literal block word.
#[inline(always)]
pub fn literal_parts(w: Value) -> (usize, usize) {
    ((w.bits() >> 32) as usize, (w.bits() as u32 >> 1) as usize)
}

impl Cx {
    /// Slot of a frame's base.
    #[inline(always)]
    pub(crate) fn slot_of(&self, fp: Fp) -> usize {
        (fp.0 as usize - self.task.stack.start_ptr() as usize) / 8
    }
    /// Frame whose base is at that slot.
    #[inline(always)]
    pub(crate) fn frame_at(&self, slot: usize) -> Fp {
        // SAFETY: the slot lies in the stack.
        Fp(unsafe { self.task.stack.start_ptr().add(slot) })
    }
    /// The running frame (valid after the loop saved its state).
    #[inline(always)]
    pub(crate) fn fp(&self) -> Fp {
        Fp(self.fp)
    }
    /// Are there `up` slots from `fp` on? The one check of each call; always true in the fixed build.
    #[inline(always)]
    pub(crate) fn has_room(&self, fp: Fp, up: usize) -> bool {
        cfg!(feature = "fixed-stack") || fp.0.wrapping_add(up) <= self.stack_end
    }
    /// Makes sure that `up` slots from the running frame's base on exist; the stack may move, and
    /// `cx.fp` follows. False: the limit is reached.
    #[cold]
    #[inline(never)]
    pub(crate) fn grow_stack(&mut self, up: usize) -> bool {
        let off = self.slot_of(self.fp());
        let max = self.stack_sizes.max(!self.task.is_root());
        let room = if self.stack_sizes.stress > 0 {
            // xorshift: the rhythm of stress mode, which the seed replays.
            let mut d = self.stack_sizes.seed;
            d ^= d << 13;
            d ^= d >> 17;
            d ^= d << 5;
            self.stack_sizes.seed = d;
            let extent = if self.task.stack.capacity() > STRESS_WALK { self.task.stack.capacity() } else { self.extent() };
            self.task.stack.grow_stressed(off + up, extent, max, &self.stack_sizes, d)
        } else {
            let before = self.task.stack.small_bytes();
            let room = self.task.stack.grow(off + up, max, &self.stack_sizes);
            // Thousands of tasks that grow are looked at before all of them have.
            self.heap.spend(self.task.stack.small_bytes().saturating_sub(before));
            room
        };
        self.stack_moved(off);
        room
    }
    /// Finds the running frame, at slot `off`, again.
    fn stack_moved(&mut self, off: usize) {
        self.fp = self.frame_at(off).0;
        self.stack_end = self.task.stack.end_ptr();
    }
    /// Slots that the running task's frames reach up to.
    pub(crate) fn extent(&self) -> usize {
        extent(&self.task.stack, self.fp())
    }
    /// At a safepoint: a stack that has been mostly empty for a while gives memory back.
    pub(crate) fn shrink_stack(&mut self) {
        let off = self.slot_of(self.fp());
        if self.task.stack.should_shrink(off, crate::tasks::sched::now_ns) {
            let extent = self.extent();
            self.task.stack.shrink(extent, &self.stack_sizes);
            self.stack_moved(off);
        }
    }
    /// The stack's limit is reached: what handles it may use the reserve.
    pub(crate) fn open_reserve(&mut self) {
        let off = self.slot_of(self.fp());
        self.task.stack.open_reserve(&self.stack_sizes);
        self.stack_moved(off);
    }
    /// A handler was reached: does it still need the reserve?
    pub(crate) fn close_reserve(&mut self) {
        let off = self.slot_of(self.fp());
        let extent = off + self.fp().iseq().nregs as usize;
        self.task.stack.close_reserve(extent, &self.stack_sizes);
        self.stack_moved(off);
    }
    /// A pass over parked tasks, about once a second: stacks of those that have not run since the last
    /// pass give back what they do not use. False: there is nothing for the next pass, unless somebody
    /// parks anew.
    pub(crate) fn trim_pass<'t>(&self, parked: impl Iterator<Item = &'t mut Task>) -> bool {
        let (mut bytes, mut more) = (0, false);
        for t in parked {
            match t.stack.look() {
                Some(true) => bytes += self.trim_parked(t),
                Some(false) => more = true,
                None => {}
            }
        }
        self.freed(bytes);
        more
    }
    /// Gives back what a parked task's stack does not use, now; bytes that became free.
    pub fn trim_parked(&self, task: &mut Task) -> usize {
        task.trim_stack(&self.stack_sizes)
    }
    /// The nearest frame of user code, from the running one on (prelude frames are invisible).
    pub(crate) fn user_frame(&self) -> Option<Fp> {
        let mut f = self.fp();
        loop {
            if !f.iseq().system {
                return Some(f);
            }
            if f.flags() & ff::FINISH != 0 {
                return None;
            }
            f = f.prev();
        }
    }
}

/// Stacks above this many slots are not walked at each point of stress mode.
const STRESS_WALK: usize = 4096;

/// Slots that the frames from `fp` outwards reach up to. An inner frame may end below its caller's registers.
pub(crate) fn extent(stack: &Stack, fp: Fp) -> usize {
    let start = stack.start_ptr() as usize;
    let (mut f, mut top) = (fp, 0);
    loop {
        top = top.max((f.0 as usize - start) / 8 + f.iseq().nregs as usize);
        if f.flags() & ff::FINISH != 0 {
            return top;
        }
        f = f.prev();
    }
}

/// Marks a stack's live slots.
pub(crate) fn mark_stack(stack: &Stack, fp: Fp, m: &mut Marker) {
    m.mark_all(stack.slots(extent(stack, fp)));
    if m.rows() {
        let mut f = fp;
        loop {
            m.code(f.iseq() as *const ISeq as u64);
            if f.flags() & ff::FINISH != 0 {
                break;
            }
            f = f.prev();
        }
    }
}

/// Stacks with fewer slots to look at are not marked with `ff::AGED`: returns stay quick.
const SHORT: usize = 256;
/// The same for `ff::SHOWN`: threads that wait often wait at the same depth.
const FEW: usize = 64;

/// The slots of a stack that may hold values that no mark vouches for.
#[derive(Clone, Copy)]
pub(crate) struct Fresh {
    from: usize,
    /// An inner frame may end below its caller's registers: all frames count for the end.
    to: usize,
    frames: usize,
    /// Has any frame a mark?
    marked: bool,
}

/// The slots above the innermost frame with a flag of `mark`.
fn fresh_slots(stack: &Stack, fp: Fp, mark: u64) -> Fresh {
    let start = stack.start_ptr() as usize;
    let (mut f, mut from, mut to, mut marks, mut frames) = (fp, None, 0, 0, 0);
    loop {
        frames += 1;
        let at = (f.0 as usize - start) / 8;
        to = to.max(at + f.iseq().nregs as usize);
        let flags = f.flags();
        marks |= flags & (ff::SHOWN | ff::AGED);
        if flags & mark != 0 && from.is_none() {
            from = Some(at.saturating_sub(HEADER as usize));
        }
        if flags & ff::FINISH != 0 {
            return Fresh { from: from.unwrap_or(0), to, frames, marked: marks != 0 };
        }
        f = f.prev();
    }
}

impl Task {
    /// Shows the values of a task that does not run, or whose frame stands in `base`, to whoever publishes them or
    /// looks for private ones. `shared`: all are published afterwards. What is published wherever it is set (class
    /// cells, interrupts, masks, locals) is left out, and so are slots that are known to be published, or for the
    /// nursery's roots to be in no nursery. `known`: what `show_aged` has found just now.
    pub(crate) fn show(&mut self, shared: bool, known: Option<Fresh>, m: &mut Marker) {
        if let Some(fp) = self.parked_frame() {
            let mark = if shared { ff::SHOWN } else { ff::SHOWN | ff::AGED };
            let Fresh { from, to, frames, marked } = known.unwrap_or_else(|| fresh_slots(&self.stack, fp, mark));
            self.marked = marked;
            m.walked(frames);
            let slots = self.stack.slots(to);
            m.mark_all(slots.get(from..).unwrap_or_default());
            if shared && to - from > FEW {
                fp.add_flags(ff::SHOWN);
                self.marked = true;
            }
        }
        self.show_values(m);
    }
    /// The slots of a long stack that its running frame did not lie in since the last look leave the nursery: shows
    /// them, and notes it. What is left to be shown.
    pub(crate) fn show_aged(&mut self, m: &mut Marker) -> Option<Fresh> {
        let fp = self.parked_frame()?;
        let fresh = fresh_slots(&self.stack, fp, ff::SHOWN | ff::AGED);
        let Fresh { from, to, .. } = fresh;
        if to - from <= 4 * SHORT {
            return Some(fresh);
        }
        // The innermost frames stay: they change soon.
        let start = self.stack.start_ptr() as usize;
        let mut f = fp;
        let at = loop {
            let at = ((f.0 as usize - start) / 8).saturating_sub(HEADER as usize);
            if at + SHORT <= to || f.flags() & ff::FINISH != 0 {
                break at;
            }
            f = f.prev();
        };
        if at <= from {
            return Some(fresh);
        }
        m.mark_all(self.stack.slots(at).get(from..).unwrap_or_default());
        f.add_flags(ff::AGED);
        Some(Fresh { from: at, marked: true, ..fresh })
    }
    /// Frame it goes on with, while it does not run. None: it has no frames (not started, or ended).
    pub(crate) fn parked_frame(&self) -> Option<Fp> {
        if matches!(self.state(), State::New | State::Done) || self.stack.capacity() == 0 {
            return None;
        }
        // SAFETY: base is a frame of the task's stack.
        Some(Fp(unsafe { self.stack.start_ptr().add(self.base) }))
    }
    /// The code of all frames of a task that does not run.
    pub(crate) fn each_code(&self, mut f: impl FnMut(&crate::ISeq)) {
        let Some(mut at) = self.parked_frame() else { return };
        loop {
            f(at.iseq());
            if at.flags() & ff::FINISH != 0 {
                return;
            }
            at = at.prev();
        }
    }
    /// Is one of its frames that of a method or block of this object? It does not run.
    fn is_in(&self, object: Value) -> bool {
        let Some(mut at) = self.parked_frame() else { return false };
        loop {
            if at.r(0) == object {
                return true;
            }
            if at.flags() & ff::FINISH != 0 {
                return false;
            }
            at = at.prev();
        }
    }
    /// Marks the stack of a task that does not run.
    pub(crate) fn mark_parked_stack(&self, m: &mut Marker) {
        if let Some(fp) = self.parked_frame() {
            mark_stack(&self.stack, fp, m);
        }
    }
    /// Gives back what the stack of a task that does not run has above its frames; bytes that became free.
    pub fn trim_stack(&mut self, sizes: &StackSizes) -> usize {
        let Some(fp) = self.parked_frame() else {
            let n = self.stack.bytes();
            if self.state() == State::Done {
                self.stack.release();
                return n;
            }
            return 0;
        };
        if self.stack.capacity() <= sizes.first {
            return 0;
        }
        self.stack.trim(extent(&self.stack, fp), sizes)
    }
}
