//! How large cells are, for those who count what lives.

use crate::Value;
use crate::cells::header::flag;
use crate::cells::trace::{Visitor, as_value, cell_bytes, outside_bytes, trace_cell};
use crate::heap::Heap;
use std::sync::atomic::Ordering::Relaxed;

/// Sizes in bytes by which cells are counted; a larger one than the last has a block of its own.
pub const SLOT_SIZES: [usize; 12] = [32, 48, 64, 80, 96, 128, 192, 256, 384, 512, 1024, 2048];

/// Bytes of a cell; 0 for values that are no cells.
pub fn slot_size(v: Value) -> usize {
    v.header().map_or(0, cell_bytes)
}

/// Bytes a cell takes: its slot, and the buffers that are its alone.
pub fn memory_of(v: Value) -> usize {
    slot_size(v) + outside_bytes(v)
}

impl Heap {
    /// Number and bytes of this worker's private cells, which the counters know only when they leave their nursery
    /// or are freed. Between two bytecodes.
    pub fn private_now(&mut self) -> (u64, u64) {
        self.seal();
        let (mut cells, mut bytes) = (0, 0);
        for &b in &self.nursery.blocks {
            // SAFETY: a block of this worker's nursery, walkable now.
            unsafe {
                (*b).each(|h, n| {
                    if (*h).flags.load(Relaxed) & flag::OUT == 0 {
                        cells += 1;
                        bytes += (n + outside_bytes(as_value(h))) as u64;
                    }
                });
            }
        }
        (cells, bytes)
    }
}

/// Calls `f` with each cell that `v`'s cell refers to, its class among them; none for values that are no cells.
pub fn each_child(v: Value, f: &mut dyn FnMut(Value)) {
    struct Each<'a>(&'a mut dyn FnMut(Value));
    impl Visitor for Each<'_> {
        fn visit(&mut self, v: Value) {
            if v.is_heap() {
                (self.0)(v);
            }
        }
    }
    trace_cell(v, &mut Each(f));
}
