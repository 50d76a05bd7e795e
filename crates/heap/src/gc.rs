//! Marking and dropping: the node collection, whole-heap and stop-the-world.
//!
//! Invariant after the marking: a cell of any worker's heap is marked exactly when
//! a root reaches it. Blocks are swept lazily by the allocator; a block whose
//! `unswept` is set may hold unmarked cells that are dead but not yet dropped, and
//! nothing but its worker's sweeper looks at those.

use crate::block::Block;
use crate::header::{Gc, Header, Kind};
use crate::layout::*;
use crate::{ClassObj, HashObj, Value};

/// The grey set of a collection.
#[derive(Default)]
pub struct Marker {
    stack: Vec<Value>,
    /// Cells marked.
    pub cells: usize,
    /// Bytes of marked cells and their buffers.
    pub bytes: usize,
}

impl Marker {
    /// Marks a value: immediates are ignored.
    #[inline(always)]
    pub fn mark(&mut self, v: Value) {
        if v.is_heap() {
            let b = Block::of(v.bits());
            // SAFETY: a heap value lies in a live block.
            if unsafe { (*b).mark(v.bits()) } {
                self.cells += 1;
                self.stack.push(v);
            }
        }
    }

    pub fn mark_all(&mut self, vs: &[Value]) {
        for v in vs {
            self.mark(*v);
        }
    }

    /// Is it marked (immediates always are)?
    pub fn is_marked(v: Value) -> bool {
        // SAFETY: as in `mark`.
        !v.is_heap() || unsafe { (*Block::of(v.bits())).marked(v.bits()) }
    }

    pub(crate) fn drain(&mut self, ivars: &dyn Fn(Value, &mut Marker)) {
        while let Some(v) = self.stack.pop() {
            self.trace(v, ivars);
        }
    }

    fn trace(&mut self, v: Value, ivars: &dyn Fn(Value, &mut Marker)) {
        let Some(h) = v.header() else { return };
        self.mark(h.class);
        // SAFETY: as in `mark`.
        self.bytes += unsafe { (*Block::of(v.bits())).cell };
        if h.has(crate::flag::IVARS) {
            ivars(v, self);
        }
        // SAFETY: the kind byte names the layout.
        unsafe {
            match h.kind {
                Kind::Free | Kind::Float => {}
                Kind::Home => self.mark(v.cell_unchecked::<HomeObj>().outer),
                Kind::Big => self.bytes += v.cell_unchecked::<BigObj>().n.heap_size(),
                Kind::Str => {
                    let s = v.cell_unchecked::<StrObj>();
                    if s.buf.spilled() {
                        self.bytes += s.buf.capacity();
                    }
                }
                Kind::Object => {
                    let o = v.cell_unchecked::<ObjectObj>();
                    for s in o.inline() {
                        self.mark(*s);
                    }
                    self.bytes += o.ext.capacity() * 8;
                    for s in o.ext.iter() {
                        self.mark(*s);
                    }
                }
                Kind::Array => {
                    let a = v.cell_unchecked::<ArrayObj>();
                    self.bytes += a.capacity() * 8;
                    for s in a.as_slice() {
                        self.mark(*s);
                    }
                }
                Kind::Hash => {
                    let t = v.cell_unchecked::<HashObj>();
                    self.bytes += t.h.bytes();
                    t.h.trace(self);
                }
                Kind::Range => {
                    let r = v.cell_unchecked::<RangeObj>();
                    self.mark(r.lo);
                    self.mark(r.hi);
                }
                Kind::Pair => {
                    let r = v.cell_unchecked::<PairObj>();
                    self.mark(r.a);
                    self.mark(r.b);
                }
                Kind::Struct => {
                    for s in v.cell_unchecked::<StructObj>().slots() {
                        self.mark(*s);
                    }
                }
                Kind::Proc => {
                    let p = v.cell_unchecked::<ProcObj>();
                    for s in [p.self_val, p.env, p.cref, p.block, p.home] {
                        self.mark(s);
                    }
                }
                Kind::Env => {
                    let e = v.cell_unchecked::<EnvObj>();
                    self.mark(e.parent);
                    for s in e.slots() {
                        self.mark(*s);
                    }
                }
                Kind::Cref => {
                    let c = v.cell_unchecked::<CrefObj>();
                    for s in [c.module, c.parent, c.refinements, c.definee] {
                        self.mark(s);
                    }
                }
                Kind::Unwind => {
                    let u = v.cell_unchecked::<UnwindObj>();
                    self.mark(u.value);
                    self.mark(u.target);
                }
                Kind::Data => {
                    let d = v.cell_unchecked::<DataObj>();
                    self.bytes += d.payload.bytes();
                    d.payload.trace(self);
                }
                Kind::Class => {
                    let c = v.cell_unchecked::<ClassObj>();
                    self.bytes += 512;
                    c.data.trace(self);
                }
            }
        }
    }
}

/// Drops what a dead cell owns outside itself.
///
/// # Safety
/// `h` is a cell that nothing reaches.
pub(crate) unsafe fn drop_cell(h: *mut Header) {
    let v = Value::from_bits(h as u64);
    // SAFETY: the kind byte names the layout; the cell is dead, so nobody sees the moved-out fields.
    unsafe {
        match (*h).kind {
            // No racing reader can be at a dead cell: its buffers go at once, not to the retired ones.
            Kind::Str => (*(h as *mut StrObj)).buf.dispose(),
            Kind::Array => v.cell_unchecked::<ArrayObj>().vec().dispose(),
            Kind::Hash => {
                let t = &mut (*(h as *mut HashObj)).h;
                t.dispose();
                std::ptr::drop_in_place(t);
            }
            Kind::Big => std::ptr::drop_in_place(&mut (*(h as *mut BigObj)).n),
            Kind::Object => (*(h as *mut ObjectObj)).ext.dispose(),
            Kind::Data => std::ptr::drop_in_place(&mut (*(h as *mut DataObj)).payload),
            Kind::Class => std::ptr::drop_in_place(&mut (*(h as *mut ClassObj)).data),
            _ => {}
        }
        (*h).kind = Kind::Free;
    }
}

/// A typed view for callers that walk the heap.
pub(crate) fn as_value(h: *mut Header) -> Value {
    Gc::from_ptr(h).val()
}
