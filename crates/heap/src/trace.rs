//! What a cell refers to, how large it is, and what it owns outside itself: the one
//! place that knows every layout. Marking, publishing, window collections and the
//! verifier are all visitors of this walk.
//!
//! Invariant: a new kind or field is added here and nowhere else, or it is lost at
//! the next collection.

use crate::header::{Gc, Header, Kind};
use crate::layout::*;
use crate::{ClassObj, HashObj, RecordObj, Value};
use std::mem::size_of;

/// Is shown every value that something refers to.
pub trait Visitor {
    fn visit(&mut self, v: Value);
    fn visit_all(&mut self, vs: &[Value]) {
        for v in vs {
            self.visit(*v);
        }
    }
    /// Finding what is shown took a walk over so many frames.
    fn walked(&mut self, _frames: usize) {}
    /// Part of a cell's own memory, which stays as it is until the world goes on: may be looked at later.
    fn visit_fields(&mut self, vs: &[Value]) {
        self.visit_all(vs);
    }
    /// The entries of a Hash cell, in the same way.
    fn visit_entries(&mut self, h: &crate::HashData) {
        for e in h.iter() {
            self.visit(e.key);
            self.visit(e.val);
        }
    }
}

/// A visitor as payloads and root tables see it.
pub struct Marker<'a>(&'a mut dyn Visitor);

impl<'a> Marker<'a> {
    pub fn new(v: &'a mut dyn Visitor) -> Marker<'a> {
        Marker(v)
    }
    /// Shows a value.
    #[inline]
    pub fn mark(&mut self, v: Value) {
        if v.is_heap() {
            self.0.visit(v);
        }
    }
    pub fn mark_all(&mut self, vs: &[Value]) {
        self.0.visit_all(vs);
    }
    /// Finding what is shown took a walk over so many frames.
    pub fn walked(&mut self, frames: usize) {
        self.0.walked(frames);
    }
}

/// Shows `to` everything the cell `v` refers to, its class first. Side-table variables are not seen.
#[inline]
pub(crate) fn trace_cell<V: Visitor>(v: Value, to: &mut V) {
    let Some(h) = v.header() else { return };
    to.visit(h.class);
    trace_fields(v, to);
}

/// As [`trace_cell`], without the class.
#[inline(always)]
pub(crate) fn trace_fields<V: Visitor>(v: Value, to: &mut V) {
    let Some(h) = v.header() else { return };
    // SAFETY: the kind byte names the layout.
    unsafe {
        match h.kind {
            Kind::Free | Kind::Float | Kind::Big | Kind::Str => {}
            Kind::Home => to.visit(v.cell_unchecked::<HomeObj>().outer),
            Kind::Object => {
                let o = v.cell_unchecked::<ObjectObj>();
                to.visit_all(o.inline());
                to.visit_fields(o.ext.as_slice());
            }
            Kind::Array => to.visit_fields(v.cell_unchecked::<ArrayObj>().as_slice()),
            Kind::Hash => v.cell_unchecked::<HashObj>().h.trace(to),
            Kind::Range => {
                let r = v.cell_unchecked::<RangeObj>();
                to.visit(r.lo);
                to.visit(r.hi);
            }
            Kind::Pair => {
                let r = v.cell_unchecked::<PairObj>();
                to.visit(r.a);
                to.visit(r.b);
            }
            Kind::Struct => to.visit_fields(v.cell_unchecked::<StructObj>().slots()),
            Kind::Record => to.visit_fields(v.cell_unchecked::<RecordObj>().slots()),
            Kind::Proc => {
                let p = v.cell_unchecked::<ProcObj>();
                to.visit_all(&[p.self_val, p.env, p.cref, p.block, p.home]);
            }
            Kind::Env => {
                let e = v.cell_unchecked::<EnvObj>();
                to.visit(e.parent);
                to.visit_fields(e.slots());
            }
            Kind::Cref => {
                let c = v.cell_unchecked::<CrefObj>();
                to.visit_all(&[c.module, c.parent, c.refinements, c.definee]);
            }
            Kind::Unwind => {
                let u = v.cell_unchecked::<UnwindObj>();
                to.visit(u.value);
                to.visit(u.target);
            }
            Kind::Data => v.cell_unchecked::<DataObj>().payload.trace(&mut Marker(to)),
            Kind::Class => v.cell_unchecked::<ClassObj>().data.trace(&mut Marker(to)),
        }
    }
}

/// Bytes that a cell of small size owns outside itself.
#[inline]
pub(crate) fn outside_bytes(v: Value) -> usize {
    let Some(h) = v.header() else { return 0 };
    // SAFETY: the kind byte names the layout.
    unsafe {
        match h.kind {
            Kind::Big => v.cell_unchecked::<BigObj>().n.heap_size(),
            Kind::Str => {
                let s = v.cell_unchecked::<StrObj>();
                if s.buf.spilled() { s.buf.capacity() } else { 0 }
            }
            Kind::Object => v.cell_unchecked::<ObjectObj>().ext.capacity() * 8,
            Kind::Array => v.cell_unchecked::<ArrayObj>().capacity() * 8,
            Kind::Hash => v.cell_unchecked::<HashObj>().h.bytes(),
            Kind::Data => v.cell_unchecked::<DataObj>().payload.bytes(),
            Kind::Class => 512,
            _ => 0,
        }
    }
}

/// Bytes of a cell in its block, a multiple of 16; for free space its length.
#[inline]
pub(crate) fn cell_bytes(h: &Header) -> usize {
    let n = match h.kind {
        Kind::Free => return h.aux as usize,
        Kind::Object => size_of::<ObjectObj>() + h.x as usize * 8,
        Kind::Struct => size_of::<StructObj>() + h.x as usize * 8,
        Kind::Env => size_of::<EnvObj>() + h.aux as usize * 8,
        Kind::Class => size_of::<ClassObj>(),
        Kind::Float => size_of::<FloatObj>(),
        Kind::Big => size_of::<BigObj>(),
        Kind::Str => size_of::<StrObj>(),
        Kind::Array => size_of::<ArrayObj>(),
        Kind::Hash => size_of::<HashObj>(),
        Kind::Range => size_of::<RangeObj>(),
        Kind::Pair => size_of::<PairObj>(),
        Kind::Proc => size_of::<ProcObj>(),
        Kind::Cref => size_of::<CrefObj>(),
        Kind::Home => size_of::<HomeObj>(),
        Kind::Unwind => size_of::<UnwindObj>(),
        Kind::Data => size_of::<DataObj>(),
        Kind::Record => RecordObj::size(h),
    };
    n.next_multiple_of(16)
}

/// Does a cell of this kind own anything that must be dropped with it?
#[inline(always)]
pub(crate) fn owns(k: Kind) -> bool {
    matches!(k, Kind::Str | Kind::Array | Kind::Hash | Kind::Big | Kind::Object | Kind::Data | Kind::Class)
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
