//! Making cells: one method for each kind.
//!
//! Invariant: a cell is whole when it is given out, with a header and valid fields, and what it holds outside of
//! itself was charged before. Classes, lexical scopes and data that is not confined to a worker are born shared, all
//! others at the present place of birth (`birth.rs`).

use super::Heap;
use crate::cells::class::Tables;
use crate::cells::header::Layout;
use crate::cells::header::{Gc, Half, Header, Kind, Word, flag};
use crate::cells::layout::*;
use crate::shared::lock;
use crate::space::OUTSIDE;
use crate::{ClassData, ClassObj, HashData, HashObj, Instance, RaceVec, Role, Seen, Value};
use kumi_num::BigInt;

/// What holds so many bytes is made before its cell is: memory may be refused, and a cell must not be left half made.
const MUCH: usize = kumi_budget::LARGE / 4;

impl Heap {
    /// A plain object with `slots` inline variables.
    #[inline(always)]
    pub fn object(&mut self, class: Gc<ClassObj>) -> Value {
        let n = class.slots.get();
        let mut hdr = Header::new(class.val(), Kind::Object);
        hdr.x.put(n);
        #[repr(C)]
        struct Head {
            hdr: Header,
            ext: RaceVec<Value, 0>,
        }
        self.put_slots(Head { hdr, ext: RaceVec::new() }, n as usize, Value::UNDEF).val()
    }
    /// A Float, flonum where it fits. `class`: Float.
    #[inline(always)]
    pub fn float(&mut self, class: Value, f: f64) -> Value {
        match Value::try_flo(f) {
            Some(v) => v,
            None => {
                let f = self.put(FloatObj { hdr: Header::with(class, Kind::Float, flag::FROZEN), f }).val();
                self.born(f)
            }
        }
    }
    /// An Integer from a big one: a fixnum where it fits. `class`: Integer.
    pub fn big(&mut self, class: Value, n: BigInt) -> Value {
        if let Some(v) = n.to_i64().and_then(Value::try_fix) {
            return v;
        }
        self.charge(n.heap_size());
        let b = self.put(BigObj { hdr: Header::with(class, Kind::Big, flag::FROZEN), n }).val();
        self.born(b)
    }
    /// A string from bytes; `enc` is the encoding index.
    #[inline]
    pub fn str(&mut self, class: Value, bytes: &[u8], enc: u8) -> Gc<StrObj> {
        if bytes.len() > 24 {
            if bytes.len() >= MUCH {
                return self.large_str(class, bytes, enc);
            }
            self.charge(bytes.len());
        }
        let p = self.raw(std::mem::size_of::<StrObj>(), self.place) as *mut StrObj;
        let mut hdr = Header::new(class, Kind::Str);
        hdr.x.put(enc as u16);
        // SAFETY: a fresh cell of that size.
        unsafe {
            *hdr.flags.get_mut() |= self.birth;
            (&raw mut (*p).hdr).write(hdr);
            RaceVec::write(&raw mut (*p).buf, bytes);
        }
        self.born(Value::from_bits(p as u64));
        Gc::from_ptr(p)
    }
    /// See [`MUCH`].
    #[cold]
    #[inline(never)]
    fn large_str(&mut self, class: Value, bytes: &[u8], enc: u8) -> Gc<StrObj> {
        self.str_buf(class, StrBuf::from_slice(bytes), enc)
    }
    /// See [`MUCH`].
    #[cold]
    #[inline(never)]
    fn large_array(&mut self, class: Value, elems: &[Value], x: u16) -> Gc<ArrayObj> {
        let a = self.array_buf(class, ArrayBuf::from_slice(elems));
        a.hdr.x.set(x);
        a
    }
    /// The same, born outside the nursery in one step: one of more strings than a nursery holds, which a native makes before
    /// the nursery can be collected. None where more than the cell is asked for.
    #[inline]
    pub fn str_out(&mut self, class: Value, bytes: &[u8], enc: u8) -> Option<Gc<StrObj>> {
        if !self.plain_outside() || bytes.len() >= MUCH {
            return None;
        }
        if bytes.len() > 24 {
            self.charge(bytes.len());
        }
        let p = self.raw(std::mem::size_of::<StrObj>(), OUTSIDE) as *mut StrObj;
        let mut hdr = Header::new(class, Kind::Str);
        hdr.x.put(enc as u16);
        // SAFETY: a fresh cell of that size.
        unsafe {
            *hdr.flags.get_mut() |= flag::OUT;
            (&raw mut (*p).hdr).write(hdr);
            RaceVec::write(&raw mut (*p).buf, bytes);
        }
        self.confined_born();
        Some(Gc::from_ptr(p))
    }
    /// A string that takes over a buffer.
    #[inline]
    pub fn str_buf(&mut self, class: Value, buf: StrBuf, enc: u8) -> Gc<StrObj> {
        if buf.spilled() {
            self.charge(buf.capacity());
        }
        let mut hdr = Header::new(class, Kind::Str);
        hdr.x.put(enc as u16);
        let s = self.put(StrObj { hdr, buf });
        self.born(s.val());
        s
    }
    /// An array of copies of `elems`.
    #[inline]
    pub fn array(&mut self, class: Value, elems: &[Value]) -> Gc<ArrayObj> {
        self.array_marked(class, elems, 0)
    }
    /// The values of a rest parameter that is only passed on.
    pub fn list(&mut self, class: Value, elems: &[Value]) -> Gc<ArrayObj> {
        self.array_marked(class, elems, ArrayObj::LIST)
    }
    #[inline(always)]
    fn array_marked(&mut self, class: Value, elems: &[Value], x: u16) -> Gc<ArrayObj> {
        if elems.len() > 3 {
            if elems.len() >= MUCH / 8 {
                return self.large_array(class, elems, x);
            }
            self.charge(elems.len() * 8);
        }
        let p = self.raw(std::mem::size_of::<ArrayObj>(), self.place) as *mut ArrayObj;
        // SAFETY: a fresh cell of that size.
        unsafe {
            ArrayObj::write(p, class, elems, self.birth, x);
        }
        self.born(Value::from_bits(p as u64));
        Gc::from_ptr(p)
    }
    /// As [`begin_place`](Self::begin_place) outside the nursery, [`array`](Self::array) and
    /// [`end_place`](Self::end_place) in one: the array is whole at once, so nothing has to be noted of it. `None`: the heap
    /// has more to do for a birth outside.
    #[inline(always)]
    pub fn array_out(&mut self, class: Value, elems: &[Value]) -> Option<Gc<ArrayObj>> {
        if !self.plain_outside() || elems.len() >= MUCH / 8 {
            return None;
        }
        if elems.len() > 3 {
            self.charge(elems.len() * 8);
        }
        let p = self.raw(std::mem::size_of::<ArrayObj>(), OUTSIDE) as *mut ArrayObj;
        // SAFETY: a fresh cell of that size.
        unsafe {
            ArrayObj::write(p, class, elems, flag::OUT, 0);
        }
        for v in elems {
            self.raise_out(*v);
        }
        self.confined_born();
        Some(Gc::from_ptr(p))
    }
    /// An array of elements that others may be storing into.
    #[inline]
    pub fn array_seen(&mut self, class: Value, elems: Seen<'_, Value>) -> Gc<ArrayObj> {
        if elems.len() > 3 {
            if elems.len() >= MUCH / 8 {
                return self.array_buf(class, ArrayBuf::from_seen(elems));
            }
            self.charge(elems.len() * 8);
        }
        let p = self.raw(std::mem::size_of::<ArrayObj>(), self.place) as *mut ArrayObj;
        // SAFETY: a fresh cell of that size.
        unsafe {
            ArrayObj::write_seen(p, class, elems);
            *(*p).hdr.flags.get_mut() |= self.birth;
        }
        self.born(Value::from_bits(p as u64));
        Gc::from_ptr(p)
    }
    /// An array that takes over a buffer.
    #[inline]
    pub fn array_buf(&mut self, class: Value, buf: ArrayBuf) -> Gc<ArrayObj> {
        if buf.spilled() {
            self.charge(buf.capacity() * 8);
        }
        let a = self.put(ArrayObj::new(class, buf));
        self.born(a.val());
        a
    }
    /// A hash that takes over `h`.
    pub fn hash(&mut self, class: Value, h: HashData) -> Gc<HashObj> {
        self.charge(32);
        let h = self.put(HashObj { hdr: Header::new(class, Kind::Hash), h });
        self.born(h.val());
        h
    }
    /// A range, frozen. The ends were checked by the caller.
    pub fn range(&mut self, class: Value, lo: Value, hi: Value, exclusive: bool) -> Value {
        let mut hdr = Header::with(class, Kind::Range, flag::FROZEN);
        hdr.x.put(exclusive as u16);
        let r = self.put(RangeObj { hdr, lo, hi }).val();
        self.born(r)
    }
    /// A Rational or Complex (by class).
    pub fn pair(&mut self, class: Value, a: Value, b: Value) -> Value {
        let p = self.put(PairObj { hdr: Header::with(class, Kind::Pair, flag::FROZEN), a, b }).val();
        self.born(p)
    }
    /// A Struct or Data instance of `n` nil members.
    pub fn structure(&mut self, class: Value, n: u16) -> Gc<StructObj> {
        let mut hdr = Header::new(class, Kind::Struct);
        hdr.x.put(n);
        #[repr(C)]
        struct Head(Header);
        let g = self.put_slots(Head(hdr), n as usize, Value::NIL);
        // SAFETY: Head is StructObj without its empty tail.
        unsafe { g.val().cell_unchecked() }
    }
    /// A Proc, as its layout says.
    pub fn proc(&mut self, p: ProcObj) -> Gc<ProcObj> {
        let p = self.put(p);
        self.born(p.val());
        p
    }
    /// An environment of `n` nil slots below `parent` (an environment or nil).
    #[inline(always)]
    pub fn env(&mut self, parent: Value, n: u32) -> Gc<EnvObj> {
        let mut hdr = Header::new(Value::FALSE, Kind::Env);
        hdr.aux.put(n);
        #[repr(C)]
        struct Head {
            hdr: Header,
            parent: Value,
        }
        let g = self.put_slots(Head { hdr, parent }, n as usize, Value::NIL);
        // SAFETY: Head is EnvObj without its empty tail.
        unsafe { g.val().cell_unchecked() }
    }
    /// A cref, shared from the start.
    pub fn cref(&mut self, c: CrefObj) -> Gc<CrefObj> {
        self.put_shared(c)
    }
    /// The Home cell of a running frame; `at` goes to `hdr.aux` (see [`HomeObj`]).
    pub fn home(&mut self, base: u64, task: u64, at: u32, outer: Value) -> Gc<HomeObj> {
        let mut hdr = Header::new(Value::FALSE, Kind::Home);
        hdr.x.put(1);
        hdr.aux.put(at);
        let h = self.put(HomeObj { hdr, base, task, outer });
        self.born(h.val());
        h
    }
    /// A non-local exit of kind `what`, a number of the loop's.
    pub fn unwind(&mut self, what: u16, value: Value, target: Value) -> Gc<UnwindObj> {
        let mut hdr = Header::new(Value::FALSE, Kind::Unwind);
        hdr.x.put(what);
        let u = self.put(UnwindObj { hdr, value, target });
        self.born(u.val());
        u
    }

    // --- changing -------------------------------------------------------------------

    /// The cell, to be changed. One such reference at a time: it borrows the worker's heap, of which there is one. Another
    /// worker's changes are kept away by the cell's lock (the class tables' for a Class), which is held, or others cannot reach the cell.
    #[inline(always)]
    pub fn edit<T: Layout>(&mut self, c: Gc<T>) -> &mut T {
        // SAFETY: the borrow of `self` excludes this thread's other changes, the lock those of others.
        unsafe { c.alone() }
    }
    /// The payload of a Data cell when it is a `T`, to be changed. As for [`Heap::edit`].
    #[inline]
    pub fn edit_data<T: Payload>(&mut self, v: Value) -> Option<&mut T> {
        let d = v.cell::<DataObj>()?;
        self.edit(d).get_mut::<T>()
    }
    /// A Rust payload with a class.
    pub fn data<T: Payload>(&mut self, class: Value, payload: T) -> Value {
        self.charge(payload.bytes());
        let mut hdr = Header::new(class, Kind::Data);
        hdr.x.put((DataObj::SHARES * u16::from(payload.shares())) | (DataObj::LEAF * u16::from(payload.leaf())));
        let confined = payload.confined();
        let cell = DataObj { hdr, payload: Box::new(payload) };
        if confined {
            let d = self.put(cell).val();
            self.born(d)
        } else {
            self.put_shared(cell).val()
        }
    }
    /// A class or module of class `meta`, shared from the start. Its serial is 0 and it stands in no table but the heap's own.
    pub fn class(&mut self, meta: Value, role: Role, data: ClassData) -> Gc<ClassObj> {
        self.charge(512);
        let c = self.put_shared(ClassObj {
            hdr: Header::new(meta, Kind::Class),
            serial: Word::new(0),
            role,
            slots: Half::new(1),
            data: Tables::new(data),
        });
        lock(&self.shared.classes).all.push(c);
        c
    }
    /// An instance that is empty in the way of `class`; `None` for `Instance::None` and `Data`.
    pub fn instance(&mut self, class: Gc<ClassObj>) -> Option<Value> {
        let cv = class.val();
        Some(match class.data.instance {
            Instance::Object => self.object(class),
            Instance::Str => self.str(cv, b"", 0).val(),
            Instance::Array => self.array(cv, &[]).val(),
            Instance::Hash => self.hash(cv, HashData::default()).val(),
            Instance::Struct(n) => self.structure(cv, n).val(),
            _ => return None,
        })
    }
}
