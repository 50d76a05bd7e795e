//! Frames: seven words below a base, and how to walk them.
//!
//! ```text
//! base[-7]  link: slots back to the caller's base, result register, flags
//! base[-6]  code (ISeq address)          base[-5]  caller's next instruction
//! base[-4]  cref                         base[-3]  block word
//! base[-2]  environment or nil           base[-1]  block frames: the defining frame
//! base[0]   self
//! ```
//! Words that are no objects carry the fixnum tag, so that a stack is a slice of
//! valid values. A **block word** is nil, a Proc, a Symbol, a Method, or (fixnum
//! tag) a literal block: slot of the defining frame in the upper half, index of
//! the child code above the tag bit.

use crate::Cx;
use crate::bytecode::HEADER;
use crate::iseq::ISeq;
use kumi_heap::Value;
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
    /// A leave needs more than a store.
    pub const SLOW: u64 = DISCARD | HOMES | FINISH | JUMP;
}

/// Address of a frame's base inside a live stack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fp(pub *mut Value);

impl Fp {
    // SAFETY (all accessors): an Fp is the base of a frame of the current stack; the seven words
    // below it and `nregs` words from it on are inside the stack.
    #[inline(always)]
    fn word(self, i: isize) -> u64 {
        unsafe { (*self.0.offset(i)).bits() }
    }
    #[inline(always)]
    fn set(self, i: isize, b: u64) {
        unsafe { *self.0.offset(i) = Value::from_bits(b) }
    }
    #[inline(always)]
    pub fn r(self, i: usize) -> Value {
        unsafe { *self.0.add(i) }
    }
    #[inline(always)]
    pub fn set_r(self, i: usize, v: Value) {
        unsafe { *self.0.add(i) = v }
    }
    #[inline(always)]
    pub fn link(self) -> u64 {
        self.word(-7)
    }
    #[inline(always)]
    pub fn set_link(self, delta: usize, dst: usize, flags: u64) {
        self.set(-7, 1 | flags << 1 | (dst as u64) << 16 | (delta as u64) << 32)
    }
    #[inline(always)]
    pub fn flags(self) -> u64 {
        (self.link() >> 1) & 0x7fff
    }
    pub fn add_flags(self, f: u64) {
        self.set(-7, self.link() | f << 1)
    }
    #[inline(always)]
    pub fn dst(self) -> usize {
        (self.link() >> 16) as u16 as usize
    }
    #[inline(always)]
    pub fn prev(self) -> Fp {
        Fp(unsafe { self.0.sub((self.link() >> 32) as usize) })
    }
    #[inline(always)]
    pub fn iseq(self) -> &'static ISeq {
        // SAFETY: code is kept by the runtime while a frame may run it.
        unsafe { &*((self.word(-6) - 1) as *const ISeq) }
    }
    #[inline(always)]
    pub fn set_iseq(self, i: *const ISeq) {
        self.set(-6, i as u64 | 1)
    }
    #[inline(always)]
    pub fn ret(self) -> *const AtomicU64 {
        (self.word(-5) - 1) as *const AtomicU64
    }
    #[inline(always)]
    pub fn set_ret(self, pc: *const AtomicU64) {
        self.set(-5, pc as u64 | 1)
    }
    #[inline(always)]
    pub fn cref(self) -> Value {
        unsafe { *self.0.sub(4) }
    }
    #[inline(always)]
    pub fn set_cref(self, v: Value) {
        unsafe { *self.0.sub(4) = v }
    }
    #[inline(always)]
    pub fn block(self) -> Value {
        unsafe { *self.0.sub(3) }
    }
    #[inline(always)]
    pub fn set_block(self, v: Value) {
        unsafe { *self.0.sub(3) = v }
    }
    #[inline(always)]
    pub fn env(self) -> Value {
        unsafe { *self.0.sub(2) }
    }
    #[inline(always)]
    pub fn set_env(self, v: Value) {
        unsafe { *self.0.sub(2) = v }
    }
    #[inline(always)]
    pub fn parent(self) -> Value {
        unsafe { *self.0.sub(1) }
    }
    #[inline(always)]
    pub fn set_parent(self, v: Value) {
        unsafe { *self.0.sub(1) = v }
    }
    #[inline(always)]
    pub fn add(self, n: usize) -> Fp {
        Fp(unsafe { self.0.add(n) })
    }
    /// `n` registers from `i` on. Valid until the stack grows.
    #[inline(always)]
    pub fn slice(self, i: usize, n: usize) -> &'static [Value] {
        unsafe { std::slice::from_raw_parts(self.0.add(i), n) }
    }
    /// Fills registers `from..to` with nil.
    #[inline(always)]
    pub fn nil_fill(self, from: usize, to: usize) {
        let mut i = from;
        while i < to {
            self.set_r(i, Value::NIL);
            i += 1;
        }
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
        Fp(unsafe { self.task.stack.start_ptr().add(slot) })
    }
    /// The running frame (valid after the loop saved its state).
    #[inline(always)]
    pub(crate) fn fp(&self) -> Fp {
        Fp(self.fp)
    }
    /// Makes sure that `slots` slots from `fp` on exist; moves the stack when they do not.
    /// Saved `cx.fp` follows. False: the limit is reached.
    #[cold]
    #[inline(never)]
    pub(crate) fn grow_stack(&mut self, top: usize) -> bool {
        let off = self.slot_of(Fp(self.fp));
        if !self.task.stack.grow(top + HEADER as usize + 64) {
            return false;
        }
        self.fp = self.frame_at(off).0;
        self.stack_end = self.task.stack.end_ptr();
        true
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
