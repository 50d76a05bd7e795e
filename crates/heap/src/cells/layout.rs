//! The layouts of all cells but classes and hashes.

pub use crate::cells::array::{ArrayBuf, ArrayObj, Held};
use crate::cells::header::{Gc, Header, Kind, Layout, flag};
use crate::{Marker, Plain, RaceVec, Seen, Value};
use kumi_num::BigInt;
use std::any::Any;
use std::sync::atomic::{AtomicU16, Ordering::*};

/// The buffer of a string.
pub type StrBuf = RaceVec<u8, 24>;

macro_rules! layouts {
    ($($t:ident $k:ident),*) => { $(
        // SAFETY: repr(C), header first, one layout a kind.
        unsafe impl Layout for $t { const KIND: Kind = Kind::$k; }
    )* };
}
layouts!(
    ObjectObj Object, FloatObj Float, BigObj Big, StrObj Str, RangeObj Range, PairObj Pair,
    StructObj Struct, ProcObj Proc, EnvObj Env, CrefObj Cref, HomeObj Home, UnwindObj Unwind, DataObj Data
);

/// An ordinary object. `hdr.aux` is its shape, `hdr.x` the number of inline slots;
/// variables beyond them live in `ext`.
#[repr(C)]
pub struct ObjectObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// Variables beyond the inline slots.
    pub ext: RaceVec<Value, 0>,
    slots: [Value; 0],
}

impl ObjectObj {
    pub(crate) fn empty(hdr: Header) -> ObjectObj {
        ObjectObj { hdr, ext: RaceVec::new(), slots: [] }
    }
    /// Variable in slot `i` of the shape; undef when never set.
    #[inline(always)]
    pub fn slot(&self, i: u32) -> Value {
        if i < self.hdr.x.get() as u32 {
            // SAFETY: the cell was allocated with `hdr.x` slots behind it.
            unsafe { Value::load(self.slots.as_ptr().add(i as usize)) }
        } else {
            self.ext.seen().get((i - self.hdr.x.get() as u32) as usize).unwrap_or(Value::UNDEF)
        }
    }
    /// Stores into slot `i`. The caller runs the barrier ([`crate::Heap::before_store`]) first.
    #[inline(always)]
    pub fn set_slot(&mut self, i: u32, v: Value) {
        if i < self.hdr.x.get() as u32 {
            // SAFETY: as in `slot`.
            unsafe { Value::store(self.slots.as_ptr().cast_mut().add(i as usize), v) }
        } else {
            let k = (i - self.hdr.x.get() as u32) as usize;
            if self.ext.len() <= k {
                self.ext.resize(k + 1, Value::UNDEF);
            }
            self.ext.set(k, v);
        }
    }
    /// Its shape: the slots that it tells of are there.
    #[inline(always)]
    pub fn shape(&self) -> crate::ShapeId {
        self.hdr.aux.word().load(Acquire)
    }
    /// The object's shape becomes `s`: the slots that it tells of are written.
    #[inline(always)]
    pub fn set_shape(&self, s: crate::ShapeId) {
        self.hdr.aux.word().store(s, Release);
    }
    /// # Safety
    /// Nobody stores meanwhile: at a stop, or a private cell.
    pub(crate) unsafe fn inline(&self) -> &[Value] {
        // SAFETY: as in `slot`.
        unsafe { std::slice::from_raw_parts(self.slots.as_ptr(), self.hdr.x.get() as usize) }
    }
}

/// A double that is no flonum.
#[repr(C)]
pub(crate) struct FloatObj {
    /// What every cell begins with.
    pub hdr: Header,
    pub(crate) f: f64,
}

/// An integer beyond 63 bits. Always normalised: never holds what a fixnum can.
#[repr(C)]
pub struct BigObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// The number.
    pub n: BigInt,
}

/// A string: bytes, with encoding index and code range in `hdr.x`.
#[repr(C)]
pub struct StrObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// The bytes. Whoever changes them calls [`StrObj::changed`].
    pub buf: StrBuf,
}

impl StrObj {
    /// Encoding index (`kumi_text::encoding::EncIndex`).
    #[inline]
    pub fn enc(&self) -> u8 {
        self.x().load(Relaxed) as u8
    }
    /// Sets the encoding index and forgets the code range. For the writer.
    #[inline]
    pub fn set_enc(&self, e: u8) {
        self.know(e, 0);
    }
    /// Cached code range: 0 unknown, 1 seven bit, 2 valid, 3 broken.
    #[inline]
    pub fn range(&self) -> u8 {
        (self.x().load(Relaxed) >> 8) as u8 & 3
    }
    /// What is known of the bytes that were just written. For the writer; readers use [`StrObj::cache_range`].
    #[inline]
    pub fn set_range(&self, r: u8) {
        self.know(self.enc(), r);
    }
    /// Forgets what was known of the old bytes.
    #[inline]
    pub fn changed(&self) {
        self.know(self.enc(), 0);
    }
    /// Sets encoding and range, and counts the change in the six bits left over.
    #[inline]
    fn know(&self, e: u8, r: u8) {
        let count = (self.x().load(Relaxed) >> 10).wrapping_add(1) << 10;
        self.x().store(count | ((r & 3) as u16) << 8 | e as u16, Release);
    }
    #[inline]
    fn x(&self) -> &AtomicU16 {
        self.hdr.x.word()
    }
    /// Names the state of the string, for [`StrObj::cache_range`]: asked before its bytes are looked at.
    #[inline]
    pub fn state(&self) -> u16 {
        self.x().load(Acquire)
    }
    /// Keeps a code range that a reader found out, unless the string changed since `state`.
    #[inline]
    pub fn cache_range(&self, state: u16, r: u8) {
        let new = (state & !0x300) | ((r & 3) as u16) << 8;
        let _ = self.x().compare_exchange(state, new, AcqRel, Relaxed);
    }
    /// The bytes at one look. Others may replace the buffer meanwhile; what was seen is readable up to the next safepoint.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buf
    }
    /// One look at the bytes, to be kept while this native runs.
    #[inline]
    pub fn text(&self) -> Text {
        Text(&raw const *self.bytes())
    }
}

/// The bytes of a string as they were when it was looked at. Whatever others do to it, they stay; it is good until the
/// next safepoint, and for a native that does not itself change the string.
#[derive(Clone, Copy)]
pub struct Text(*const [u8]);

// SAFETY: bytes that nobody changes.
unsafe impl Send for Text {}

impl Text {
    /// The bytes that were seen.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: what was published of a string is not written again while others run, and lives until a stop
        // (`racevec.rs`); a native that runs alone keeps to the contract above.
        unsafe { &*self.0 }
    }
}

/// A range; `hdr.x` is 1 when it excludes its end.
#[repr(C)]
pub struct RangeObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// Where it begins; nil when it has no beginning.
    pub lo: Value,
    /// Where it ends; nil when it has no end.
    pub hi: Value,
}

impl RangeObj {
    /// Is the end not part of it (`...`)?
    pub fn exclusive(&self) -> bool {
        self.hdr.x.get() != 0
    }
}

/// A Rational (numerator, denominator) or a Complex (real, imaginary), told apart by class.
#[repr(C)]
pub struct PairObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// Numerator, or real part.
    pub a: Value,
    /// Denominator, or imaginary part.
    pub b: Value,
}

/// An instance of a Struct or Data class: `hdr.x` slots.
#[repr(C)]
pub struct StructObj {
    /// What every cell begins with.
    pub hdr: Header,
    slots: [Value; 0],
}

impl StructObj {
    /// One look at the members.
    #[inline(always)]
    pub fn slots(&self) -> Seen<'_, Value> {
        // SAFETY: the cell was allocated with `hdr.x` slots behind it.
        unsafe { Seen::new(self.slots.as_ptr(), self.hdr.x.get() as usize) }
    }
    /// # Safety
    /// Nobody stores meanwhile: at a stop, or a private cell.
    #[inline(always)]
    pub(crate) unsafe fn unraced(&self) -> &[Value] {
        // SAFETY: as in `slots`.
        unsafe { std::slice::from_raw_parts(self.slots.as_ptr(), self.hdr.x.get() as usize) }
    }
    /// Stores into slot `i`, when there is one. The caller runs the barrier.
    #[inline(always)]
    pub fn set(&self, i: usize, v: Value) -> bool {
        let there = i < self.hdr.x.get() as usize;
        if there {
            // SAFETY: as in `slots`.
            unsafe { Value::store(self.slots.as_ptr().cast_mut().add(i), v) }
        }
        there
    }
    /// Stores into the first slots, as many as there are values and slots.
    pub fn put(&self, vs: impl IntoIterator<Item = Value>) {
        (0..self.hdr.x.get() as usize).zip(vs).for_each(|(i, v)| {
            self.set(i, v);
        });
    }
}

/// A closure, or a method or symbol made callable.
#[repr(C)]
pub struct ProcObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// Address of the code (`kumi_vm::ISeq`, which the cell keeps); 0: `self_val` is a Symbol or Method to be called.
    pub iseq: u64,
    /// `self` in its body; what is called where there is no code.
    pub self_val: Value,
    /// The environment it was made in, or nil.
    pub env: Value,
    /// The cref it was made in, or nil.
    pub cref: Value,
    /// The block of the method the closure was made in (Proc, Symbol or nil).
    pub block: Value,
    /// The frame to `return` or `break` to (a Home cell), or nil.
    pub home: Value,
}

impl ProcObj {
    /// Bit of `hdr.x`: a lambda. It checks its arguments, and `return` ends it.
    pub const LAMBDA: u16 = 1;
    /// Made from a Method object or a Symbol.
    pub const FROM_METHOD: u16 = 2;
    /// Bit of `hdr.x`: made from a Symbol.
    pub const FROM_SYMBOL: u16 = 4;
    /// ruby2_keywords
    pub const RUBY2_KEYWORDS: u16 = 8;
    /// Bit of `hdr.x`: Ractors may share it; what it captured is its own and can never change.
    pub const SHAREABLE: u16 = 16;
    /// Is [`ProcObj::LAMBDA`] set?
    pub fn is_lambda(&self) -> bool {
        self.hdr.x.get() & Self::LAMBDA != 0
    }
}

/// Captured variables. `hdr.aux` slots.
#[repr(C)]
pub struct EnvObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// The environment one level up, or nil.
    pub parent: Value,
    slots: [Value; 0],
}

impl EnvObj {
    /// One look at the members.
    #[inline(always)]
    pub fn slots(&self) -> Seen<'_, Value> {
        // SAFETY: the cell was allocated with `hdr.aux` slots behind it.
        unsafe { Seen::new(self.slots.as_ptr(), self.hdr.aux.get() as usize) }
    }
    /// # Safety
    /// Nobody stores meanwhile: at a stop, or a private cell.
    #[inline(always)]
    pub(crate) unsafe fn unraced(&self) -> &[Value] {
        // SAFETY: as in `slots`.
        unsafe { std::slice::from_raw_parts(self.slots.as_ptr(), self.hdr.aux.get() as usize) }
    }
    /// # Safety
    /// There is such a slot.
    #[inline(always)]
    pub unsafe fn slot_unchecked(&self, i: usize) -> Value {
        debug_assert!(i < self.hdr.aux.get() as usize);
        // SAFETY: the caller's promise.
        unsafe { Value::load(self.slots.as_ptr().add(i)) }
    }
    /// # Safety
    /// There is such a slot. The caller runs the barrier.
    #[inline(always)]
    pub unsafe fn set_unchecked(&self, i: usize, v: Value) {
        debug_assert!(i < self.hdr.aux.get() as usize);
        // SAFETY: the caller's promise.
        unsafe { Value::store(self.slots.as_ptr().cast_mut().add(i), v) }
    }
    /// The address of slot `i`, for a cell that holds still.
    pub fn slot_at(&self, i: usize) -> Option<*mut Value> {
        // SAFETY: there is such a slot.
        (i < self.hdr.aux.get() as usize).then(|| unsafe { self.slots.as_ptr().cast_mut().add(i) })
    }
    /// Stores into slot `i`, when there is one. The caller runs the barrier.
    #[inline(always)]
    pub fn set(&self, i: usize, v: Value) -> bool {
        let there = i < self.hdr.aux.get() as usize;
        if there {
            // SAFETY: as in `slots`.
            unsafe { Value::store(self.slots.as_ptr().cast_mut().add(i), v) }
        }
        there
    }
    /// Stores into the first slots, as many as there are values and slots.
    pub fn put(&self, vs: impl IntoIterator<Item = Value>) {
        (0..self.hdr.aux.get() as usize).zip(vs).for_each(|(i, v)| {
            self.set(i, v);
        });
    }
}

/// The place of code: `hdr.aux` = index of the method whose body (or block) runs, `u32::MAX` for none;
/// `hdr.x` = visibility bits for `def` (see `CrefObj::*`).
#[repr(C)]
pub struct CrefObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// Module for constants, class variables and `def`.
    pub module: Value,
    /// Lexically enclosing place, or nil.
    pub parent: Value,
    /// Active refinements: nil, or an Array of [refined class, refinement module] pairs, innermost first.
    pub refinements: Value,
    /// Where `def` goes when that is not `module` (instance_eval on a plain object), else nil.
    pub definee: Value,
}

impl CrefObj {
    /// The bits of `hdr.x` that hold the visibility.
    pub const VISIBILITY: u16 = 3;
    /// `def` makes public methods.
    pub const PUBLIC: u16 = 0;
    /// `def` makes private methods.
    pub const PRIVATE: u16 = 1;
    /// `def` makes protected methods.
    pub const PROTECTED: u16 = 2;
    /// `module_function` without arguments is on.
    pub const MODULE_FUNC: u16 = 4;
    /// Pushed by class_eval or instance_eval with a block: constants are not looked up here.
    pub const NO_CONST: u16 = 8;
    /// In `hdr.aux`: the code is no method's.
    pub const NO_METHOD: u32 = u32::MAX;
}

/// Whether a frame still runs. `hdr.x` = 1 while it does; `hdr.aux` = where it was calling from when the
/// cell was made (`break` is good for that call only; `u32::MAX`: any).
#[repr(C)]
pub struct HomeObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// Base of the frame, in slots from the start of its stack.
    pub base: u64,
    /// Number of the task it runs on.
    pub task: u64,
    /// A block frame's own defining frame (a Home cell), for `return`; nil for methods and lambdas.
    pub outer: Value,
}

/// A non-local exit that an ensure handler holds while it runs. `hdr.x`: what it is, `hdr.aux`: free.
#[repr(C)]
pub struct UnwindObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// The value that is returned, thrown or broken with.
    pub value: Value,
    /// Frame base it goes to, or the catch tag.
    pub target: Value,
}

/// Rust data with a class.
pub trait Payload: Any {
    /// Marks every value it holds.
    fn trace(&self, _m: &mut Marker) {}
    /// Bytes outside the cell.
    fn bytes(&self) -> usize {
        32
    }
    /// May its cell be born private? Then what it holds changes only by natives that call
    /// [`crate::Heap::before_store`] with the cell first, and no table outside the heap knows the cell.
    fn confined(&self) -> bool {
        false
    }
    /// What it shows are roots of the worker that may change it: it may hold private values, whatever its cell is
    /// (a suspended fiber's stack).
    fn rooted(&self) -> bool {
        false
    }
    /// Nothing of it changes in steps once it is made, or it sees to that itself, so that threads use it without its cell's lock.
    fn shares(&self) -> bool {
        false
    }
    /// Does all it shows never change, as far as Ruby can see? Then Ractors may share a frozen cell of it.
    fn constant(&self) -> bool {
        false
    }
    /// It shows nothing, and `bytes` is the same for all of its type: marking need not look at it.
    fn leaf(&self) -> bool {
        false
    }
    /// Called after marking, before sweeping, for payloads registered with [`crate::Heap::add_weak`].
    fn weak(&mut self, _alive: &dyn Fn(Value) -> bool) {}
    /// Shows what a program can still get from a payload that holds it weakly ([`crate::HeapShared::show_weak`]).
    fn weakly(&self, _m: &mut Marker) {}
}

/// The cell of a payload. `hdr.x` has `SHARES` when the payload [`shares`](Payload::shares), `LEAF` when it is a
/// [`leaf`](Payload::leaf).
#[repr(C)]
pub struct DataObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// The Rust value.
    pub payload: Box<dyn Payload>,
}

impl DataObj {
    pub(crate) const SHARES: u16 = 1;
    pub(crate) const LEAF: u16 = 2;
    /// The payload, when it is a `T`.
    pub(crate) fn get<T: Payload>(&self) -> Option<&T> {
        (&*self.payload as &dyn Any).downcast_ref::<T>()
    }
    /// The payload for changing, when it is a `T`. The caller has its lock where others may be.
    pub(crate) fn get_mut<T: Payload>(&mut self) -> Option<&mut T> {
        (&mut *self.payload as &mut dyn Any).downcast_mut::<T>()
    }
}

impl Value {
    /// The cell of a String.
    #[inline(always)]
    pub fn as_str(self) -> Option<Gc<StrObj>> {
        self.cell()
    }
    /// The cell of an Array.
    #[inline(always)]
    pub fn as_array(self) -> Option<Gc<crate::ArrayObj>> {
        self.cell()
    }
    /// The cell of a Hash.
    #[inline(always)]
    pub fn as_hash(self) -> Option<Gc<crate::HashObj>> {
        self.cell()
    }
    /// The cell of a class or module.
    #[inline(always)]
    pub fn as_class(self) -> Option<Gc<crate::ClassObj>> {
        self.cell()
    }
    /// The cell of a Range.
    pub fn as_range(self) -> Option<Gc<RangeObj>> {
        self.cell()
    }
    /// The cell of a Proc.
    pub fn as_proc(self) -> Option<Gc<ProcObj>> {
        self.cell()
    }
    /// The cell of an Integer that is no fixnum.
    pub fn as_big(self) -> Option<Gc<BigObj>> {
        self.cell()
    }
    /// The double of a Float, flonum or cell.
    #[inline(always)]
    pub fn as_float(self) -> Option<f64> {
        if self.is_flo() { Some(self.flo_val()) } else { self.cell::<FloatObj>().map(|f| f.f) }
    }
    /// The payload of a Data cell when it is a `T`. To change it: [`crate::Heap::edit_data`].
    #[inline]
    pub fn as_data<T: Payload>(&self) -> Option<&T> {
        let d = self.cell::<DataObj>()?;
        // SAFETY: the cell is live while its value is held between safepoints, and cells do not move.
        unsafe { (*(self.bits() as *const DataObj)).get::<T>().filter(|_| d.hdr.kind == Kind::Data) }
    }
    /// The payload of a Data cell when it is a `T`, to be changed while the context is used. Where that is not so:
    /// [`crate::Heap::edit_data`].
    ///
    /// # Safety
    /// The cell's lock is held, or others cannot reach it; and nobody makes another such reference while this one is used.
    #[inline]
    pub unsafe fn payload_mut<'a, T: Payload>(self) -> Option<&'a mut T> {
        // SAFETY: the caller's promise.
        unsafe { self.cell::<DataObj>()?.alone() }.get_mut::<T>()
    }
    /// May Ruby code not change it? True for immediates.
    #[inline(always)]
    pub fn frozen(self) -> bool {
        self.header().is_none_or(|h| h.has(flag::FROZEN))
    }
}
