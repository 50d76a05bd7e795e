//! How large cells are, for those who count what lives.

use crate::Value;
use crate::heap::SIZES;
use crate::trace::{Visitor, cell_bytes, outside_bytes, trace_cell};

/// The sizes of slots in bytes; a larger cell has a block of its own.
pub const SLOT_SIZES: [usize; SIZES.len()] = SIZES;

/// Bytes of the slot a cell lies in; 0 for values that are no cells.
pub fn slot_size(v: Value) -> usize {
    let Some(h) = v.header() else { return 0 };
    let n = cell_bytes(h);
    SIZES.iter().copied().find(|s| *s >= n).unwrap_or(n)
}

/// Bytes a cell takes: its slot, and the buffers that are its alone.
pub fn memory_of(v: Value) -> usize {
    slot_size(v) + outside_bytes(v)
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
