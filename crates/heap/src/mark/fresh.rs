//! The blocks in which unmarked cells can live: those that were allocated in since the last node collection.
//!
//! Most references that a young collection meets lead to old cells, in blocks where nothing was born since. Which
//! those are is told by a table that stays in the nearest cache, where their mark words, spread over the whole heap, do
//! not. One bit stands for all blocks whose numbers are alike in their last bits: a set one promises nothing.

use crate::Sym;
use crate::cells::rows::{Bits, Rows, SymMarks};
use crate::space::block::{BLOCK, Block};

/// A power of two: heaps of 2 GB have a bit for each block.
const BITS: usize = 1 << 16;

/// See the module.
pub(crate) struct Fresh<'r> {
    blocks: Box<[u64]>,
    /// What is told of the runtime's tables: in a full collection.
    pub rows: Option<&'r dyn Rows>,
    pub syms: Option<&'r SymMarks>,
    pub shapes: Option<&'r Bits>,
    /// The marking goes in slices, between which nurseries are collected: their cells are left out.
    pub sliced: bool,
}

impl<'r> Fresh<'r> {
    /// Every block.
    pub fn all(rows: Option<&'r dyn Rows>) -> Fresh<'r> {
        let (syms, shapes) = (rows.and_then(|r| r.syms()), rows.and_then(|r| r.shapes()));
        Fresh { blocks: vec![u64::MAX; BITS / 64].into(), rows, syms, shapes, sliced: false }
    }
    /// Every block, for a marking in slices.
    pub fn sliced() -> Fresh<'r> {
        Fresh { sliced: true, ..Fresh::all(None) }
    }
    pub fn of(blocks: impl Iterator<Item = *mut Block>) -> Fresh<'r> {
        let mut f = Fresh { blocks: vec![0; BITS / 64].into(), rows: None, syms: None, shapes: None, sliced: false };
        for b in blocks {
            let (w, bit) = place(b as u64);
            f.blocks[w] |= bit;
        }
        f
    }
    /// Marks a symbol.
    #[inline]
    pub fn sym(&self, s: Sym) {
        if let Some(m) = self.syms {
            m.mark(s);
        }
    }
    /// May the cell be unmarked?
    #[inline(always)]
    pub fn may_hold(&self, cell: u64) -> bool {
        let (w, bit) = place(cell);
        // SAFETY: `place` stays below the table's length.
        unsafe { *self.blocks.get_unchecked(w) & bit != 0 }
    }
}

#[inline(always)]
fn place(cell: u64) -> (usize, u64) {
    let i = (cell as usize / BLOCK) % BITS;
    (i / 64, 1 << (i % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_bit_stands_for_blocks_that_lie_a_whole_table_apart() {
        let near = (BLOCK * 7) as u64;
        let f = Fresh::of(std::iter::once(near as *mut Block));
        let apart = (BLOCK * BITS) as u64;
        for at in [near, near + BLOCK as u64 - 16, near + apart, near + 5 * apart + 64] {
            assert!(f.may_hold(at), "{at:x}");
        }
        for at in [0, near - 16, near + BLOCK as u64, apart] {
            assert!(!f.may_hold(at) && Fresh::all(None).may_hold(at), "{at:x}");
        }
    }
}
