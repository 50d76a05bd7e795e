//! Marking for node collections.
//!
//! Invariant after the marking: a cell of any worker's heap is marked exactly when
//! a root reaches it. Blocks are swept lazily by the allocator; a block whose
//! `unswept` is set may hold unmarked cells that are dead but not yet dropped, and
//! nothing but its worker's sweeper looks at those.

use crate::Value;
use crate::block::Block;
use crate::trace::{Visitor, outside_bytes, trace_cell};

/// The grey set of a collection.
#[derive(Default)]
pub(crate) struct Marking {
    stack: Vec<Value>,
    /// Cells marked.
    pub cells: usize,
    /// Bytes of marked cells and their buffers.
    pub bytes: usize,
}

impl Visitor for Marking {
    #[inline(always)]
    fn visit(&mut self, v: Value) {
        if v.is_heap() {
            let b = Block::of(v.bits());
            // SAFETY: a heap value lies in a live block.
            if unsafe { (*b).mark(v.bits()) } {
                self.cells += 1;
                self.stack.push(v);
            }
        }
    }
}

/// Is it marked (immediates always are)?
pub(crate) fn is_marked(v: Value) -> bool {
    // SAFETY: as in `visit`.
    !v.is_heap() || unsafe { (*Block::of(v.bits())).marked(v.bits()) }
}

impl Marking {
    /// Marks all that the grey cells reach. `ivars` shows variables in side tables.
    pub(crate) fn drain(&mut self, ivars: &dyn Fn(Value, &mut Marking)) {
        while let Some(v) = self.stack.pop() {
            let Some(h) = v.header() else { continue };
            // SAFETY: as in `visit`.
            self.bytes += unsafe { (*Block::of(v.bits())).cell } + outside_bytes(v);
            if h.has(crate::flag::IVARS) {
                ivars(v, self);
            }
            trace_cell(v, self);
        }
    }
}
