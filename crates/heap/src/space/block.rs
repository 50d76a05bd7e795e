//! Blocks: 32 KB aligned pieces of memory in which cells of any size lie one after
//! another.
//!
//! A block's head holds two bitmaps, one bit for 16 bytes of the block: `marks`
//! (what node collections reached: sticky, so a marked cell is an old one) and
//! `logged` (old cells that were stored into since the last node collection).
//! The address of a block is any of its cells' addresses with the low 15 bits
//! cleared; a large cell has a block of its own, of as many 32 KB as it needs,
//! whose only cell starts in the first of them.
//!
//! Invariant: a block can be walked from its first cell to its end, cell by cell,
//! whenever no cursor is open in it ([`crate::space::Cursor::seal`]): what is free carries
//! a header of kind `Free` that says how long it is and where the next gap is.

pub use crate::cells::header::{GRANULE, MAX_CELL};
use crate::cells::header::{Header, Kind};
use crate::cells::trace::cell_bytes;
use std::alloc::{Layout, alloc, dealloc};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub const BLOCK: usize = 32 * 1024;
/// Words of a bitmap with a bit for each granule of a block.
pub const WORDS: usize = BLOCK / GRANULE / 64;

#[repr(C, align(64))]
pub struct Block {
    marks: [AtomicU64; WORDS],
    logged: [AtomicU64; WORDS],
    /// Cells that a nursery collection reached. Clear outside of one.
    live: [u64; WORDS],
    /// Bytes of the whole block.
    bytes: usize,
    pub state: State,
    /// Address of the first gap, 0 for none. Good while the block is swept and no cursor is in it.
    pub gap: u64,
    /// Bytes of all gaps, as of the last sweep.
    pub free_bytes: u32,
    /// The interruptible collection that cleared its marks last (`cycle`).
    pub cleared: u32,
}

/// What a block is to its heap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// Holds cells outside nurseries.
    Common,
    /// Private cells are born here.
    Nursery,
    /// A large cell's own block.
    Large,
}

/// Offset of the first cell.
pub const FIRST: usize = std::mem::size_of::<Block>().next_multiple_of(64);

/// A gap: free space between cells.
#[repr(C)]
pub struct Gap {
    /// Address of the next gap in the block, 0 for none. Stands where a cell's class does.
    pub next: u64,
    kind: Kind,
    _flags: u8,
    _x: u16,
    /// Length, a multiple of a granule.
    pub bytes: u32,
}
const _: () = assert!(std::mem::size_of::<Gap>() == std::mem::size_of::<Header>() && std::mem::size_of::<Gap>() == GRANULE);
const _: () = assert!(std::mem::offset_of!(Gap, kind) == std::mem::offset_of!(Header, kind));
const _: () = assert!(std::mem::offset_of!(Gap, bytes) == std::mem::offset_of!(Header, aux));

impl Gap {
    /// Makes `bytes` at `at` a gap.
    ///
    /// # Safety
    /// The space lies in a block, holds no cell, and is at least a granule.
    #[inline]
    pub unsafe fn write(at: u64, bytes: usize, next: u64) {
        debug_assert!(bytes >= GRANULE && bytes.is_multiple_of(GRANULE));
        // SAFETY: the caller's promise.
        unsafe { (at as *mut Gap).write(Gap { next, kind: Kind::Free, _flags: 0, _x: 0, bytes: bytes as u32 }) }
    }
}

fn bit(cell: u64) -> (usize, u64) {
    let i = (cell as usize & (BLOCK - 1)) / GRANULE;
    (i / 64, 1 << (i % 64))
}

impl Block {
    fn make(bytes: usize, state: State) -> Option<*mut Block> {
        let layout = Layout::from_size_align(bytes, BLOCK).ok()?;
        // SAFETY: the size is not zero.
        let take = || unsafe { alloc(layout) };
        let p = if bytes < kumi_budget::LARGE { take() } else { kumi_budget::asking(take) } as *mut Block;
        if p.is_null() {
            return None;
        }
        if bytes < kumi_budget::LARGE {
            kumi_budget::block_came(bytes);
        }
        // SAFETY: fresh memory of at least a Block's size.
        unsafe {
            p.write(Block {
                marks: [const { AtomicU64::new(0) }; WORDS],
                logged: [const { AtomicU64::new(0) }; WORDS],
                live: [0; WORDS],
                bytes,
                state,
                gap: 0,
                free_bytes: (BLOCK - FIRST) as u32,
                cleared: 0,
            });
            if state != State::Large {
                (*p).gap = p as u64 + FIRST as u64;
                Gap::write((*p).gap, BLOCK - FIRST, 0);
            }
        }
        Some(p)
    }
    /// An empty block: one gap.
    pub fn new() -> Option<*mut Block> {
        Block::make(BLOCK, State::Common)
    }
    /// A block for one cell of `cell` bytes.
    pub fn large(cell: usize) -> Option<*mut Block> {
        Block::make(FIRST.checked_add(cell)?.checked_next_multiple_of(BLOCK)?, State::Large)
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// No cell of the block may be used afterwards.
    pub unsafe fn free(p: *mut Block) {
        // SAFETY: made by `make` with the same layout.
        unsafe {
            let bytes = (*p).bytes;
            if bytes < kumi_budget::LARGE {
                kumi_budget::block_went(bytes);
            }
            dealloc(p as *mut u8, Layout::from_size_align_unchecked(bytes, BLOCK));
        }
    }

    /// The block a cell belongs to.
    #[inline(always)]
    pub fn of(cell: u64) -> *mut Block {
        (cell & !(BLOCK as u64 - 1)) as *mut Block
    }
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    /// Address of the first cell.
    pub fn first(&self) -> u64 {
        self as *const Block as u64 + FIRST as u64
    }
    /// Where the mark of the cell at this address stands: the word and the bit in it.
    #[inline(always)]
    pub fn mark_word(cell: u64) -> (*mut u64, u64) {
        let (w, m) = bit(cell);
        ((Self::of(cell) as *mut u64).wrapping_add(w), m)
    }
    #[inline(always)]
    pub fn marked(&self, cell: u64) -> bool {
        let (w, m) = bit(cell);
        self.marks[w].load(Relaxed) & m != 0
    }
    /// Address of the first mark that stands where no cell starts.
    pub fn marked_beside(&self, starts: &[u64; WORDS]) -> Option<u64> {
        (0..WORDS).find_map(|w| {
            let beside = self.marks[w].load(Relaxed) & !starts[w];
            (beside != 0).then(|| self as *const Block as u64 + ((w * 64 + beside.trailing_zeros() as usize) * GRANULE) as u64)
        })
    }
    /// Address of the first marked cell from `cell` on; the block's end when there is none.
    #[inline]
    pub fn next_marked(&self, cell: u64) -> u64 {
        let (mut w, m) = bit(cell);
        let mut word = self.marks[w].load(Relaxed) & m.wrapping_neg();
        while word == 0 {
            w += 1;
            if w == WORDS {
                return self as *const Block as u64 + BLOCK as u64;
            }
            word = self.marks[w].load(Relaxed);
        }
        self as *const Block as u64 + ((w * 64 + word.trailing_zeros() as usize) * GRANULE) as u64
    }
    pub fn clear_marks(&self) {
        for w in &self.marks {
            w.store(0, Relaxed);
        }
        for w in &self.logged {
            w.store(0, Relaxed);
        }
    }
    /// Notes that an old cell was stored into; true the first time. Any worker may be here.
    #[inline]
    pub fn log(&self, cell: u64) -> bool {
        let (w, m) = bit(cell);
        self.logged[w].load(Relaxed) & m == 0 && self.logged[w].fetch_or(m, Relaxed) & m == 0
    }
    pub fn logged(&self, cell: u64) -> bool {
        let (w, m) = bit(cell);
        self.logged[w].load(Relaxed) & m != 0
    }
    pub fn unlog(&self, cell: u64) {
        let (w, m) = bit(cell);
        self.logged[w].fetch_and(!m, Relaxed);
    }
    /// A nursery collection reached the cell; true the first time.
    #[inline(always)]
    pub fn set_live(&mut self, cell: u64) -> bool {
        let (w, m) = bit(cell);
        let fresh = self.live[w] & m == 0;
        self.live[w] |= m;
        fresh
    }
    #[inline(always)]
    pub fn is_live(&self, cell: u64) -> bool {
        let (w, m) = bit(cell);
        self.live[w] & m != 0
    }
    /// Did the last nursery collection reach any cell of the block?
    pub fn has_live(&self) -> bool {
        self.live.iter().any(|w| *w != 0)
    }
    pub fn clear_live(&mut self) {
        self.live = [0; WORDS];
    }

    /// Calls `f` with every cell. The block can be walked (see the module); `f` may make the cell free,
    /// as its size is read before.
    pub fn each(&self, mut f: impl FnMut(*mut Header, usize)) {
        let mut at = self.first();
        if self.state == State::Large {
            let h = at as *mut Header;
            // SAFETY: a large block's cell is written when the block is made.
            if unsafe { (*h).kind } != Kind::Free {
                f(h, self.bytes - FIRST);
            }
            return;
        }
        let end = self as *const Block as u64 + BLOCK as u64;
        while at < end {
            let h = at as *mut Header;
            // SAFETY: a cell or a gap starts here: the walk's invariant.
            let (n, k) = unsafe { (cell_bytes(&*h), (*h).kind) };
            debug_assert!(n >= GRANULE && n.is_multiple_of(GRANULE), "block cannot be walked at {at:x}: {k:?} of {n} bytes");
            if k != Kind::Free {
                f(h, n);
            }
            at += n as u64;
        }
    }
}
