//! Rows of the runtime's tables that cells name by number or address: symbols, shapes, methods, compiled code.
//!
//! A young collection keeps them all. A full one is told of each that something living names, and the runtime frees the
//! others before the world goes on. Marks are set by several threads at once.

use crate::{Sym, Value, Visitor};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What a full collection is told of the runtime's tables.
pub trait Rows: Sync {
    /// Where symbols are marked; `None`: none of them can die.
    fn syms(&self) -> Option<&SymMarks>;
    /// Where shapes are marked; `None`: it is not their turn.
    fn shapes(&self) -> Option<&Bits>;
    /// Something living names that method. The first time, shows what its row holds.
    fn method(&self, n: u32, to: &mut dyn Visitor);
    /// Something living runs the code at that address. The first time, shows what it holds.
    fn code(&self, at: u64, to: &mut dyn Visitor);
}

/// Bits that several threads set.
pub struct Bits(Box<[AtomicU64]>);

impl Bits {
    /// `n` bits, none of which is set.
    pub fn new(n: usize) -> Bits {
        Bits((0..n.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }
    /// Sets bit `i`, if there is one: true when it was clear.
    #[inline]
    pub fn set(&self, i: u32) -> bool {
        let Some(w) = self.0.get(i as usize / 64) else { return false };
        let bit = 1 << (i % 64);
        w.load(Relaxed) & bit == 0 && w.fetch_or(bit, Relaxed) & bit == 0
    }
    /// `None`: there is no such bit.
    #[inline]
    pub fn get(&self, i: u32) -> Option<bool> {
        Some(self.0.get(i as usize / 64)?.load(Relaxed) & 1 << (i % 64) != 0)
    }
}

/// A mark for each symbol from `first` on. Those before never die.
pub struct SymMarks {
    first: u32,
    bits: Bits,
}

impl SymMarks {
    /// For the symbols `first..end`, none of which is marked.
    pub fn new(first: u32, end: u32) -> SymMarks {
        SymMarks { first, bits: Bits::new(end.saturating_sub(first) as usize) }
    }
    /// Marks a symbol; nothing for those that never die.
    #[inline]
    pub fn mark(&self, s: Sym) {
        if let Some(i) = s.0.checked_sub(self.first) {
            self.bits.set(i);
        }
    }
    /// Was it marked, or can it not die?
    #[inline]
    pub fn is_marked(&self, s: Sym) -> bool {
        s.0.checked_sub(self.first).and_then(|i| self.bits.get(i)).unwrap_or(true)
    }
    /// Marks those of the values that are symbols.
    #[inline(never)]
    pub(crate) fn mark_all(&self, vs: &[Value]) {
        for v in vs {
            if let Some(s) = v.as_sym() {
                self.mark(s);
            }
        }
    }
}
