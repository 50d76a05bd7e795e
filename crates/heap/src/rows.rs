//! Rows of the runtime's tables that cells name by number or address: symbols, methods, compiled code.
//!
//! A young collection keeps them all. A full one is told of each that something living names, and the runtime frees the
//! others before the world goes on. Marks are set by several threads at once.

use crate::{Sym, Value, Visitor};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What a full collection is told of the runtime's tables.
pub trait Rows: Sync {
    /// Where symbols are marked; `None`: none of them can die.
    fn syms(&self) -> Option<&SymMarks>;
    /// Something living names that method. The first time, shows what its row holds.
    fn method(&self, n: u32, to: &mut dyn Visitor);
    /// Something living runs the code at that address. The first time, shows what it holds.
    fn code(&self, at: u64, to: &mut dyn Visitor);
}

/// A bit for each symbol from `first` on. Those before never die.
pub struct SymMarks {
    first: u32,
    bits: Box<[AtomicU64]>,
}

impl SymMarks {
    /// For the symbols `first..end`, none of which is marked.
    pub fn new(first: u32, end: u32) -> SymMarks {
        let n = (end.saturating_sub(first) as usize).div_ceil(64);
        SymMarks { first, bits: (0..n).map(|_| AtomicU64::new(0)).collect() }
    }
    fn place(&self, s: Sym) -> Option<(&AtomicU64, u64)> {
        let i = s.0.checked_sub(self.first)?;
        Some((self.bits.get(i as usize / 64)?, 1 << (i % 64)))
    }
    #[inline]
    pub fn mark(&self, s: Sym) {
        if let Some((w, bit)) = self.place(s)
            && w.load(Relaxed) & bit == 0
        {
            w.fetch_or(bit, Relaxed);
        }
    }
    /// Was it marked, or can it not die?
    #[inline]
    pub fn is_marked(&self, s: Sym) -> bool {
        self.place(s).is_none_or(|(w, bit)| w.load(Relaxed) & bit != 0)
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
