//! What a cell refers to, how large it is, and what it owns outside itself: the one
//! place that knows every layout. Marking, publishing, nursery collections and the
//! verifier are all visitors of this walk.
//!
//! Invariant: a new kind or field is added here and nowhere else, or it is lost at
//! the next collection.

use crate::cells::header::GRANULE;
use crate::cells::header::{Gc, Header, Kind};
use crate::cells::layout::*;
use crate::{ClassObj, HashObj, RecordObj, ShapeId, Sym, Value};
use std::mem::size_of;

/// Is shown every value that something refers to.
pub trait Visitor {
    /// Is shown one value, immediates among them.
    fn visit(&mut self, v: Value);
    /// Is shown several.
    fn visit_all(&mut self, vs: &[Value]) {
        for v in vs {
            self.visit(*v);
        }
    }
    /// Finding what is shown took a walk over so many frames.
    fn walked(&mut self, _frames: usize) {}
    /// Does it want to be told of rows of the runtime's tables? (See `rows`.)
    fn rows(&self) -> bool {
        false
    }
    /// A symbol that is held as a name, not as a value.
    fn sym(&mut self, _s: Sym) {}
    /// The shape of an object.
    fn shape(&mut self, _s: ShapeId) {}
    /// A method, by number; `u32::MAX` stands for none.
    fn method(&mut self, _n: u32) {}
    /// Compiled code, by address; 0 stands for none.
    fn code(&mut self, _at: u64) {}
    /// Part of a cell's own memory, which stays as it is until the world goes on: may be looked at later.
    fn visit_fields(&mut self, vs: &[Value]) {
        self.visit_all(vs);
    }
    /// The elements of the Array `owner`, in the same way.
    fn visit_list(&mut self, _owner: Value, vs: &[Value]) {
        self.visit_fields(vs);
    }
    /// What a payload holds.
    fn visit_payload(&mut self, p: &dyn Payload)
    where
        Self: Sized,
    {
        p.trace(&mut Marker(self));
    }
    /// The entries of the Hash `owner`, in the same way.
    fn visit_entries(&mut self, _owner: Value, h: &crate::HashData) {
        for e in h.iter() {
            self.visit(e.key);
            self.visit(e.val);
        }
    }
}

/// A visitor as payloads and root tables see it.
pub struct Marker<'a>(&'a mut dyn Visitor);

impl<'a> Marker<'a> {
    /// Shows everything to `v`.
    pub fn new(v: &'a mut dyn Visitor) -> Marker<'a> {
        Marker(v)
    }
    /// Shows a value.
    #[inline]
    pub fn mark(&mut self, v: Value) {
        if v.is_heap() || v.is_sym() {
            self.0.visit(v);
        }
    }
    /// Are rows of the runtime's tables looked for?
    pub fn rows(&self) -> bool {
        self.0.rows()
    }
    /// Shows a name.
    #[inline]
    pub fn sym(&mut self, s: Sym) {
        self.0.sym(s);
    }
    /// Shows several names.
    pub fn syms<'s>(&mut self, all: impl IntoIterator<Item = &'s Sym>) {
        all.into_iter().for_each(|s| self.0.sym(*s));
    }
    /// Shows a method's number.
    #[inline]
    pub fn method(&mut self, n: u32) {
        self.0.method(n);
    }
    /// Shows the address of compiled code.
    #[inline]
    pub fn code(&mut self, at: u64) {
        self.0.code(at);
    }
    /// Shows several values.
    pub fn mark_all(&mut self, vs: &[Value]) {
        self.0.visit_all(vs);
    }
    /// Shows many, which several threads then look at; some of them may be nothing of the heap.
    ///
    /// # Safety
    /// Nobody changes or frees them before the marking ends.
    pub unsafe fn mark_kept(&mut self, vs: &[Value]) {
        self.0.visit_fields(vs);
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
    to.visit(h.class());
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
                to.shape(h.aux.get());
                to.visit_all(o.inline());
                to.visit_fields(o.ext.unraced());
            }
            Kind::Array => to.visit_list(v, v.cell_unchecked::<ArrayObj>().unraced()),
            Kind::Hash => v.cell_unchecked::<HashObj>().h.trace(v, to),
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
            Kind::Struct => to.visit_fields(v.cell_unchecked::<StructObj>().unraced()),
            Kind::Record => to.visit_fields(v.cell_unchecked::<RecordObj>().slots()),
            Kind::Proc => {
                let p = v.cell_unchecked::<ProcObj>();
                to.visit_all(&[p.self_val, p.env, p.cref, p.block, p.home]);
                to.code(p.iseq);
            }
            Kind::Env => {
                let e = v.cell_unchecked::<EnvObj>();
                to.visit(e.parent);
                to.visit_fields(e.unraced());
            }
            Kind::Cref => {
                let c = v.cell_unchecked::<CrefObj>();
                to.visit_all(&[c.module, c.parent, c.refinements, c.definee]);
                to.method(c.hdr.aux.get());
            }
            Kind::Unwind => {
                let u = v.cell_unchecked::<UnwindObj>();
                to.visit(u.value);
                to.visit(u.target);
            }
            Kind::Data => to.visit_payload(&*v.cell_unchecked::<DataObj>().payload),
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

/// How a kind's size follows from its header: so many bytes, and so many for each of `hdr.x` and `hdr.aux`.
#[derive(Clone, Copy)]
struct Extent {
    base: u32,
    x: u32,
    aux: u32,
}

const fn extent(k: Kind) -> Extent {
    let (base, x, aux) = match k {
        Kind::Free => (0, 0, 1),
        Kind::Object => (size_of::<ObjectObj>(), 8, 0),
        Kind::Struct => (size_of::<StructObj>(), 8, 0),
        Kind::Env => (size_of::<EnvObj>(), 0, 8),
        Kind::Class => (size_of::<ClassObj>(), 0, 0),
        Kind::Float => (size_of::<FloatObj>(), 0, 0),
        Kind::Big => (size_of::<BigObj>(), 0, 0),
        Kind::Str => (size_of::<StrObj>(), 0, 0),
        Kind::Array => (size_of::<ArrayObj>(), 0, 0),
        Kind::Hash => (size_of::<HashObj>(), 0, 0),
        Kind::Range => (size_of::<RangeObj>(), 0, 0),
        Kind::Pair => (size_of::<PairObj>(), 0, 0),
        Kind::Proc => (size_of::<ProcObj>(), 0, 0),
        Kind::Cref => (size_of::<CrefObj>(), 0, 0),
        Kind::Home => (size_of::<HomeObj>(), 0, 0),
        Kind::Unwind => (size_of::<UnwindObj>(), 0, 0),
        Kind::Data => (size_of::<DataObj>(), 0, 0),
        Kind::Record => (size_of::<RecordObj>(), 8, 1),
    };
    Extent { base: base as u32, x, aux }
}

/// By kind: walks over blocks meet kinds in no order, and a table costs them no mispredicted jump.
static EXTENTS: [Extent; Kind::ALL.len()] = {
    let mut t = [extent(Kind::Free); Kind::ALL.len()];
    let mut i = 0;
    while i < t.len() {
        t[i] = extent(Kind::ALL[i]);
        i += 1;
    }
    t
};

/// Bytes of a cell in its block, a multiple of 16; for free space its length.
#[inline(always)]
pub(crate) fn cell_bytes(h: &Header) -> usize {
    let e = &EXTENTS[h.kind as usize];
    // Of a shared String others store into `x` meanwhile; there it counts nothing.
    let n = e.base as usize + h.x.get() as usize * e.x as usize + h.aux.get() as usize * e.aux as usize;
    n.next_multiple_of(16)
}

/// Granules of a cell by kind, for kinds whose cells are all of one size; 0: the header must be asked. The low bit: it owns nothing
/// outside itself only if the word after its header is odd.
static FIXED: [u8; Kind::ALL.len()] = {
    let mut t = [0; Kind::ALL.len()];
    let mut i = 0;
    while i < t.len() {
        let (k, e) = (Kind::ALL[i], EXTENTS[i]);
        let looked_at = BUFFERED >> i & 1;
        if e.x == 0 && e.aux == 0 && (looked_at != 0 || !owns(k)) {
            let granules = e.base.div_ceil(GRANULE as u32);
            assert!(granules < 128);
            t[i] = (granules << 1 | looked_at) as u8;
        }
        i += 1;
    }
    t
};

/// As [`cell_bytes`], for walks in which most cells are of kinds of one size.
#[inline(always)]
pub(crate) fn step_bytes(h: &Header) -> usize {
    match FIXED[h.kind as usize] {
        0 => cell_bytes(h),
        n => (n >> 1) as usize * GRANULE,
    }
}

/// Drops what a dead cell owns, or passes a gap. Returns its length.
///
/// # Safety
/// As for [`drop_cell`].
#[inline(always)]
pub(crate) unsafe fn clear_away(h: *mut Header) -> usize {
    // SAFETY: a cell or a gap; kinds with the bit have that word.
    unsafe {
        let n = FIXED[(*h).kind as usize];
        if n != 0 && (n & 1 == 0 || *(h.add(1) as *const usize) & 1 != 0) {
            return (n >> 1) as usize * GRANULE;
        }
        let n = cell_bytes(&*h);
        release(h);
        n
    }
}

/// Does a cell of this kind own anything that must be dropped with it?
#[inline(always)]
pub(crate) const fn owns(k: Kind) -> bool {
    matches!(k, Kind::Str | Kind::Array | Kind::Hash | Kind::Big | Kind::Object | Kind::Data | Kind::Class)
}

/// Kinds whose first word after the header is a [`crate::RaceVec`]'s, odd when nothing lies outside.
const BUFFERED: u32 = 1 << Kind::Str as u32 | 1 << Kind::Array as u32 | 1 << Kind::Object as u32;
const _: () = assert!(
    std::mem::offset_of!(StrObj, buf) == size_of::<Header>()
        && ArrayObj::BUFFER == size_of::<Header>()
        && std::mem::offset_of!(ObjectObj, ext) == size_of::<Header>()
);

/// Kinds whose first word after the header is the address of what they own, or as for [`BUFFERED`].
const POINTING: u32 = BUFFERED | 1 << Kind::Hash as u32 | 1 << Kind::Data as u32;
const _: () =
    assert!(std::mem::offset_of!(HashObj, h) == size_of::<Header>() && std::mem::offset_of!(DataObj, payload) == size_of::<Header>());

pub(crate) use crate::lockfree::racevec::fetch::prefetch;

/// What lies outside the cell and is looked at when it is traced; null: nothing.
///
/// # Safety
/// `h` is the header of a live cell.
#[inline(always)]
pub(crate) unsafe fn outside(h: &Header) -> *const u8 {
    if POINTING >> h.kind as u32 & 1 == 0 {
        // SAFETY: the kind names the layout.
        return if h.kind == Kind::Class { unsafe { (*(h as *const Header as *const ClassObj)).tables() } } else { std::ptr::null() };
    }
    if h.kind == Kind::Data && h.x.get() & DataObj::LEAF != 0 {
        return std::ptr::null();
    }
    // SAFETY: those kinds have that word.
    let word = unsafe { *((h as *const Header).add(1) as *const *const u8) };
    if word.addr() & 1 != 0 { std::ptr::null() } else { word }
}

/// Do cells of this kind refer to anything but their class?
#[inline(always)]
pub(crate) fn refers(k: Kind) -> bool {
    !matches!(k, Kind::Free | Kind::Float | Kind::Big | Kind::Str)
}

/// As [`drop_cell`], for sweeping: most cells own nothing, which one look at a word tells. Returns what was freed.
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn release(h: *mut Header) -> usize {
    // SAFETY: a cell; those kinds have that word.
    unsafe {
        let k = (*h).kind;
        if !owns(k) || (BUFFERED >> k as u32 & 1 != 0 && *(h.add(1) as *const usize) & 1 != 0) {
            return 0;
        }
        release_outside(h)
    }
}
#[inline(never)]
unsafe fn release_outside(h: *mut Header) -> usize {
    let n = outside_bytes(Value::from_bits(h as u64));
    // SAFETY: the caller's promise.
    unsafe { drop_cell(h) };
    n
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
            Kind::Array => v.cell_unchecked::<ArrayObj>().alone().dispose(),
            Kind::Hash => (*(h as *mut HashObj)).h.dispose(),
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
