//! Values that the loop has put into code: literals made once, once-slots, cached constants; and inline caches emptied.
//!
//! **Invariant.** A literal's cell goes from undef to its value once and stays. What is forgotten is forgotten while the
//! world is stopped.

use crate::{ISeq, Op};
use kumi_heap::Value;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A cached constant: valid while the name's epoch and the lexical scope are the same.
pub struct ConstEntry {
    /// The epoch of the constant's name at the look-up.
    pub epoch: u32,
    /// Bits of the cref it was looked up from.
    pub scope: u64,
    /// What was found.
    pub value: Value,
    /// The cache word that was made to point to it.
    pub word: *const AtomicU64,
}

impl ISeq {
    /// Literal `k` as a value; undef before it is made.
    #[inline(always)]
    pub fn value(&self, k: usize) -> Value {
        Value::from_bits(self.values[k].load(std::sync::atomic::Ordering::Acquire))
    }
    /// Gives literal `k` its value unless another worker was first; the value it has now.
    pub fn set_value(&self, k: usize, v: Value) -> Value {
        use std::sync::atomic::Ordering::*;
        match self.values[k].compare_exchange(Value::UNDEF.bits(), v.bits(), AcqRel, Acquire) {
            Ok(_) => v,
            Err(b) => Value::from_bits(b),
        }
    }
    /// Once-slot `k`; undef before its code ran.
    pub fn once(&self, k: usize) -> Value {
        Value::from_bits(self.once[k].load(std::sync::atomic::Ordering::Acquire))
    }
    /// Sets once-slot `k`; the last of several workers wins. The caller publishes `v` first.
    pub fn set_once(&self, k: usize, v: Value) {
        self.once[k].store(v.bits(), std::sync::atomic::Ordering::Release)
    }
    /// Cells for `n` values not yet made.
    pub fn undef_cells(n: usize) -> Box<[AtomicU64]> {
        (0..n).map(|_| AtomicU64::new(Value::UNDEF.bits())).collect()
    }
    /// Forgets cached constants: they would keep values and places that nobody uses any more. The world is stopped.
    pub fn forget_consts(&self) {
        for e in self.const_cache.lock().unwrap_or_else(|e| e.into_inner()).drain(..) {
            // SAFETY: the word is one of this code's.
            let word = unsafe { &*e.word };
            if word.load(Relaxed) == &raw const *e as u64 {
                word.store(0, Relaxed);
            }
        }
    }
    /// Inline caches hit no more: those of instance variables, if `shapes` are others now, and those of methods, if class
    /// `serials` are. (A method's number stays: it names the native that a thread waits in.) The world is stopped.
    pub fn forget_caches(&self, shapes: bool, serials: bool) {
        let mut at = 0;
        while at < self.code.len() {
            let op = self.insn(at).op();
            at += 1;
            if op.cached() {
                let word = &self.code[at];
                match op {
                    Op::IvarGet | Op::IvarSet if shapes => word.store(0, Relaxed),
                    // Emptied already.
                    Op::IvarGet | Op::IvarSet | Op::ConstGet | Op::ConstAt | Op::ConstTop => {}
                    _ if serials => word.store(word.load(Relaxed) as u32 as u64, Relaxed),
                    _ => {}
                }
                at += 1;
            }
        }
    }
    /// Bytes that it takes, its literals aside.
    pub fn size(&self) -> usize {
        let lists = self.code.len() * 8 + self.syms.len() * 4 + self.sites.len() * 32 + self.lines.len() * 8 + self.values.len() * 8;
        std::mem::size_of::<ISeq>() + lists
    }
}
