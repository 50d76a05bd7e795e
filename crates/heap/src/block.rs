//! Blocks: 32 KB aligned pieces of memory cut into cells of one size.
//!
//! A block's header holds its mark bitmap, one bit for 16 bytes of the block.
//! The address of a block is any of its cells' addresses with the low 15 bits
//! cleared; a large object is a block of its own, of as many 32 KB as it needs,
//! whose only cell starts in the first of them.

use crate::header::{Header, Kind};
use std::alloc::{Layout, alloc_zeroed, dealloc};

pub const BLOCK: usize = 32 * 1024;
const WORDS: usize = BLOCK / 16 / 64;

#[repr(C, align(64))]
pub struct Block {
    marks: [u64; WORDS],
    /// Bytes of a cell.
    pub cell: usize,
    /// Number of cells.
    pub count: usize,
    /// Bytes of the whole block.
    bytes: usize,
    /// Not swept since the last marking.
    pub unswept: bool,
}

const FIRST: usize = std::mem::size_of::<Block>().next_multiple_of(64);

impl Block {
    /// A zeroed block of cells of `cell` bytes (one cell when that is more than a block holds).
    pub fn new(cell: usize) -> Option<*mut Block> {
        let (count, bytes) =
            if FIRST + cell > BLOCK { (1, (FIRST + cell).next_multiple_of(BLOCK)) } else { ((BLOCK - FIRST) / cell, BLOCK) };
        let layout = Layout::from_size_align(bytes, BLOCK).ok()?;
        // SAFETY: the size is not zero.
        let p = unsafe { alloc_zeroed(layout) } as *mut Block;
        if p.is_null() {
            return None;
        }
        // SAFETY: fresh memory of at least a Block's size; zero is a valid Block.
        unsafe {
            (*p).cell = cell;
            (*p).count = count;
            (*p).bytes = bytes;
        }
        Some(p)
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// No cell of the block may be used afterwards.
    pub unsafe fn free(p: *mut Block) {
        // SAFETY: made by `new` with the same layout.
        unsafe { dealloc(p as *mut u8, Layout::from_size_align_unchecked((*p).bytes, BLOCK)) }
    }

    /// The block a cell belongs to.
    #[inline(always)]
    pub fn of(cell: u64) -> *mut Block {
        (cell & !(BLOCK as u64 - 1)) as *mut Block
    }
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    /// Address of cell `i`.
    #[inline]
    pub fn at(&self, i: usize) -> *mut Header {
        debug_assert!(i < self.count);
        (self as *const Block as usize + FIRST + i * self.cell) as *mut Header
    }
    /// Where the mark of the cell at this address stands: the word and the bit in it.
    #[inline(always)]
    pub fn mark_word(cell: u64) -> (*mut u64, u64) {
        let bit = (cell as usize & (BLOCK - 1)) / 16;
        ((Self::of(cell) as *mut u64).wrapping_add(bit / 64), 1 << (bit % 64))
    }
    #[inline(always)]
    pub fn marked(&self, cell: u64) -> bool {
        let bit = (cell as usize & (BLOCK - 1)) / 16;
        self.marks[bit / 64] & (1 << (bit % 64)) != 0
    }
    pub fn clear_marks(&mut self) {
        self.marks = [0; WORDS];
    }
    /// Calls `f` for each cell that is not free.
    pub fn each_live(&self, mut f: impl FnMut(*mut Header)) {
        for i in 0..self.count {
            let h = self.at(i);
            // SAFETY: `at` is inside the block, and every cell starts with a header or zeroes.
            if unsafe { (*h).kind } != Kind::Free {
                f(h);
            }
        }
    }
}
