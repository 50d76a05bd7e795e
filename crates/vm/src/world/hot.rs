//! Hot rows: what the loop needs of a method, of a receiver's class and of a record's field to go on by itself.
//!
//! **Invariant.** A row is filled once, under the class lock, before any cache word names its method, and stays: a changed
//! method gets another number. So the loop reads rows without a lock. The one part that changes later is the shape that an
//! attribute was last seen in, with its slot: one atomic word.

use crate::Cx;
use crate::doors::Guard;
use crate::world::method::{Body, Special};
use kumi_heap::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What the loop needs of a method, in one cache line.
pub(crate) struct Hot {
    pub kind: HotKind,
    pub argc: u16,
    pub nregs: u16,
    pub min: u8,
    pub max: i8,
    pub code: *const AtomicU64,
    pub iseq: *const crate::ISeq,
    pub cref: Value,
    pub native: Option<crate::NativeFn>,
    pub indexed: Option<crate::doors::IndexedFn>,
    /// Attribute's name, member index, number; the most arguments.
    pub arg: u32,
    /// Attribute: shape it was last seen in (upper half) and its slot plus one.
    pub seen: AtomicU64,
    /// What is locked around the native.
    pub guard: Guard,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum HotKind {
    /// Take the general path.
    Slow,
    /// Bytecode with required parameters only.
    Simple,
    /// Bytecode with required parameters (`argc`) and then optional ones, `arg` in all.
    Optional,
    Native,
    AttrGet,
    AttrSet,
    MemberGet,
    /// A native that is told its number; a record's field.
    Indexed,
    Field,
    /// Class#new
    New,
    /// Proc#call and its other names
    ProcCall,
}

impl Hot {
    pub fn unset() -> Hot {
        Hot {
            kind: HotKind::Slow,
            argc: 0,
            nregs: 0,
            min: 0,
            max: 0,
            code: std::ptr::null(),
            iseq: std::ptr::null(),
            cref: Value::NIL,
            native: None,
            indexed: None,
            arg: 0,
            seen: AtomicU64::new(0),
            guard: Guard::None,
        }
    }
}

impl Hot {
    /// Does the native take so many arguments?
    #[inline(always)]
    pub fn takes(&self, argc: usize) -> bool {
        argc >= self.min as usize && (self.max < 0 || argc <= self.max as usize)
    }
    /// Where bytecode begins that takes so many arguments as they stand in the caller's window; None: the general path binds them.
    #[inline(always)]
    pub fn start(&self, argc: usize) -> Option<*const AtomicU64> {
        match self.kind {
            HotKind::Simple if argc == self.argc as usize => Some(self.code),
            HotKind::Optional if argc >= self.argc as usize && argc <= self.arg as usize => {
                // SAFETY: the code lives as long as its row; it has an entry for each number of arguments.
                Some(unsafe { self.code.add((&(*self.iseq).params.opt)[argc - self.argc as usize] as usize) })
            }
            _ => None,
        }
    }
}

/// Slot plus one of an attribute in an object of the shape it was last seen in; 0: another shape.
#[inline(always)]
pub(crate) fn seen_in(hot: &Hot, o: &ObjectObj) -> u32 {
    let w = hot.seen.load(Relaxed);
    if (w >> 32) as u32 == o.shape() { w as u32 } else { 0 }
}

/// Marks an inline cache hit: the serial in the upper half, the method below.
#[inline(always)]
pub(crate) fn hit(cache: u64, class: Gc<ClassObj>) -> bool {
    (cache >> 32) as u32 == class.serial.get()
}

/// The value of a record's field that was decoded before.
#[inline(always)]
pub(crate) fn decoded(recv: Value, field: u32) -> Option<Value> {
    let v = recv.as_record()?.slot(field as usize);
    (!v.is_undef() && v != Value::REMOVED).then_some(v)
}

impl Cx {
    /// Fills the hot row of a method. False: it is not compiled yet, and no cache may name it before it is.
    pub(crate) fn heat(&mut self, m: u32) -> bool {
        let _classes = self.lock_classes();
        let i = m as usize;
        self.hot.grow_to(self.methods.len().max(i + 1), Hot::unset);
        if self.hot[i].kind != HotKind::Slow {
            return true;
        }
        let e = &self.methods[i];
        if e.native.is_none() && matches!(e.body, Body::Lazy(_)) && e.code().is_none() {
            return false;
        }
        let mut h = Hot::unset();
        if e.native.is_some() && self.twins && e.has_twin() {
            return true;
        } else if let Some(f) = e.native {
            h.kind = HotKind::Native;
            h.native = Some(f);
            h.guard = e.guard;
            h.min = e.min;
            h.max = e.max;
        } else {
            match &e.body {
                Body::Code(_) | Body::Lazy(_) => {
                    if let Some((q, cref)) = e.code().filter(|c| c.0.simple || c.0.params.is_optional()) {
                        h.kind = if q.simple { HotKind::Simple } else { HotKind::Optional };
                        h.argc = q.params.req;
                        h.arg = (q.params.req + q.params.opt_count()) as u32;
                        h.nregs = q.nregs;
                        h.code = q.code.as_ptr();
                        h.iseq = &**q;
                        h.cref = cref;
                    }
                }
                Body::AttrGet(s) => {
                    h.kind = HotKind::AttrGet;
                    h.arg = s.0;
                }
                Body::AttrSet(s) => {
                    h.kind = HotKind::AttrSet;
                    h.arg = s.0;
                }
                Body::Indexed(x) => {
                    h.kind = if x.field { HotKind::Field } else { HotKind::Indexed };
                    h.indexed = Some(x.f);
                    h.arg = x.index;
                }
                Body::Special(Special::New) => h.kind = HotKind::New,
                Body::Special(Special::ProcCall) => h.kind = HotKind::ProcCall,
                Body::MemberGet(k) => {
                    h.kind = HotKind::MemberGet;
                    h.arg = *k as u32;
                }
                _ => {}
            }
        }
        if h.kind != HotKind::Slow {
            // SAFETY: under the class lock, and once; readers come here by a cache word stored after this.
            unsafe { *self.hot.row_mut(i) = h };
        }
        true
    }
    /// Reader and writer of method `m` for a shape its row has not seen last.
    #[cold]
    #[inline(never)]
    pub(crate) fn attr_get_slow(&mut self, recv: Value, m: u32) -> Value {
        let name = self.hot[m as usize].arg;
        self.attr_seen(recv, m);
        self.attr_get(recv, name)
    }
    #[cold]
    #[inline(never)]
    pub(crate) fn attr_set_slow(&mut self, recv: Value, v: Value, m: u32) {
        let name = self.hot[m as usize].arg;
        self.ivar_set_locked(recv, Sym(name), v);
        self.attr_seen(recv, m);
    }
    fn attr_seen(&mut self, recv: Value, m: u32) {
        if let Some(o) = recv.cell::<ObjectObj>() {
            let name = Sym(self.hot[m as usize].arg);
            if let Some(i) = self.heap.shapes.slot(o.shape(), name) {
                self.hot[m as usize].seen.store((o.shape() as u64) << 32 | (i + 1) as u64, Relaxed);
            }
        }
    }
    /// An attribute reader's value.
    #[inline]
    pub(crate) fn attr_get(&mut self, recv: Value, name: u32) -> Value {
        let v = self.ivar_get(recv, Sym(name));
        if v.is_undef() { Value::NIL } else { v }
    }
}
