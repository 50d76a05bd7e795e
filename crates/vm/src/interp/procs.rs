//! Closures, blocks made into Procs, `new`.

use crate::doors::NO_METHOD;
use crate::tasks::frame::{Fp, ff, literal_parts};
use crate::{Cx, sym};
use kumi_bytecode::ISeq;
use kumi_heap::*;

/// What `new` enters, by class: serials name both classes as they are, so that any change makes an entry stale.
#[derive(Clone, Copy, Default)]
pub(crate) struct NewEntry {
    class: u32,
    meta: u32,
    init: u32,
    argc: u32,
}

/// Entries a worker keeps.
pub(crate) const NEWS: usize = 64;

impl Cx {
    /// A Home cell of the frame at a slot, made when missing. `pc`: where the frame is calling from
    /// (`u32::MAX` when that does not matter).
    pub(crate) fn home_for(&mut self, slot: usize, pc: u32) -> Value {
        let mut at = self.task.homes.partition_point(|h| h.0 < slot);
        while let Some(h) = self.task.homes.get(at).filter(|h| h.0 == slot) {
            if h.1.hdr.aux.get() == pc {
                return h.1.val();
            }
            at += 1;
        }
        let f = self.frame_at(slot);
        let outer = match f.parent() {
            _ if f.flags() & ff::BLOCK == 0 || f.flags() & ff::LAMBDA != 0 => Value::NIL,
            p if p.is_fix() => self.home_for(p.fix_val() as usize, u32::MAX),
            p => p,
        };
        let h = self.heap.home(slot as u64, self.task.id, pc, outer);
        let at = self.task.homes.partition_point(|h| h.0 <= slot);
        self.task.homes.insert(at, (slot, h));
        self.frame_at(slot).add_flags(ff::HOMES);
        h.val()
    }

    /// A Proc of child code `child` of frame `fp`.
    #[inline(never)]
    pub(crate) fn make_closure(&mut self, fp: Fp, child: u16, lambda: bool) -> Value {
        let q: *const ISeq = &*fp.iseq().children[child as usize];
        let slot = self.slot_of(fp);
        let pc = self.pc_index(fp);
        let home = self.home_for(slot, pc);
        let block = fp.block();
        let block = self.block_value(block);
        let mut hdr = Header::new(self.k.proc_class.val(), Kind::Proc);
        hdr.x.put(if lambda { ProcObj::LAMBDA } else { 0 });
        hdr.aux.put(pc);
        self.heap.proc(ProcObj { hdr, iseq: q as u64, self_val: fp.r(0), env: fp.env(), cref: fp.cref(), block, home }).val()
    }
    /// Where `fp` is calling from: index of its next instruction.
    fn pc_index(&self, fp: Fp) -> u32 {
        // The call in progress in `fp` is the one whose frame comes next above it, or the running instruction.
        let mut f = self.fp();
        let mut ret = self.pc;
        while f != fp && f.flags() & ff::FINISH == 0 {
            ret = f.ret();
            f = f.prev();
        }
        ((ret as usize).wrapping_sub(fp.iseq().code.as_ptr() as usize) / 8) as u32
    }

    /// A block word as a value: literal blocks become Procs (the same one for the same frame and block).
    pub(crate) fn block_value(&mut self, w: Value) -> Value {
        if !w.is_fix() {
            return w;
        }
        let (off, child) = literal_parts(w);
        let home = self.frame_at(off);
        let p = self.make_closure(home, child as u16, false);
        // Every frame that holds this word from here up gets the Proc, so that identity is kept.
        let mut f = self.fp();
        let mut below = false;
        loop {
            if f.block() == w {
                f.set_block(p);
                below |= f != self.fp();
            }
            if self.slot_of(f) <= off || f.flags() & ff::FINISH != 0 {
                break;
            }
            f = f.prev();
        }
        if below && self.task.marked {
            // Frames below may be known to hold nothing private.
            self.heap.publish(p);
        }
        p
    }

    /// The frame's `&blk` as a value.
    #[inline(never)]
    pub(crate) fn block_proc(&mut self, fp: Fp) -> Value {
        let q = fp.iseq();
        let w = if fp.flags() & ff::BLOCK != 0 && q.params.block { fp.r(q.params.block_register()) } else { fp.block() };
        match w.as_sym() {
            Some(s) => self.symbol_proc(s),
            None => self.block_value(w),
        }
    }

    /// `:sym.to_proc`
    pub fn symbol_proc(&mut self, s: Sym) -> Value {
        let mut hdr = Header::new(self.k.proc_class.val(), Kind::Proc);
        hdr.x.put(ProcObj::LAMBDA | ProcObj::FROM_SYMBOL);
        let nil = Value::NIL;
        self.heap.proc(ProcObj { hdr, iseq: 0, self_val: Value::sym(s), env: nil, cref: nil, block: nil, home: nil }).val()
    }
    /// A lambda that calls a Method object.
    pub(crate) fn method_proc(&mut self, method: Value) -> Value {
        let mut hdr = Header::new(self.k.proc_class.val(), Kind::Proc);
        hdr.x.put(ProcObj::LAMBDA | ProcObj::FROM_METHOD);
        let nil = Value::NIL;
        self.heap.proc(ProcObj { hdr, iseq: 0, self_val: method, env: nil, cref: nil, block: nil, home: nil }).val()
    }

    /// Does prelude code run?
    pub(crate) fn in_system(&self) -> bool {
        self.fp().iseq().system
    }

    /// Block word of the frame a native was called from.
    pub(crate) fn own_block(&self) -> Value {
        self.fp().block()
    }
    /// Is `Proc#call` the runtime's own?
    #[inline(always)]
    pub(crate) fn calls_procs(&mut self) -> bool {
        self.k.proc_class.serial.get() == self.proc_serial || self.find_proc_call()
    }
    #[cold]
    #[inline(never)]
    fn find_proc_call(&mut self) -> bool {
        // Read before the search: what changes meanwhile makes the number stale.
        let c = self.k.proc_class;
        let serial = c.serial.get();
        let ours = self.builtin_in(c, sym::CALL);
        if ours {
            self.proc_serial = serial;
        }
        ours
    }
    /// Is that block a literal one with plain parameters, two or more?
    pub(crate) fn own_block_pairs(&self) -> bool {
        let w = self.own_block();
        if !w.is_fix() {
            return false;
        }
        let (off, child) = literal_parts(w);
        let q = &self.frame_at(off).iseq().children[child];
        q.simple && q.params.req >= 2
    }
    /// ... as a Proc.
    pub(crate) fn own_block_proc(&mut self) -> Value {
        let f = self.fp();
        self.block_proc(f)
    }
    /// Slot of the running frame.
    pub(crate) fn running_slot(&self) -> usize {
        let f = self.fp();
        self.slot_of(f)
    }

    /// `Class#new` of a plain class whose `initialize` is bytecode or the default one:
    /// the object and the method (`NO_METHOD`: nothing to call).
    #[inline]
    pub(crate) fn new_fast(&mut self, class: Value, argc: usize) -> Option<(Value, u32)> {
        let c = class.as_class()?;
        if c.data.instance != Instance::Object || c.is_singleton() {
            return None;
        }
        let meta = self.class_of(class);
        // Read once and before the search: what changes meanwhile makes the entry stale, not wrong.
        let (of_class, of_meta) = (c.serial.get(), meta.serial.get());
        let e = self.news[of_class as usize % NEWS];
        if e.class == of_class && e.meta == of_meta && e.argc as usize == argc {
            return Some((self.heap.object(c), e.init));
        }
        let init = self.find_init(c, meta, argc)?;
        self.news[of_class as usize % NEWS] = NewEntry { class: of_class, meta: of_meta, init, argc: argc as u32 };
        Some((self.heap.object(c), init))
    }
    /// An object of a class whose `new` without arguments calls no Ruby code. `None`: it does, or is not the built-in one.
    pub fn new_plain(&mut self, class: Value) -> Option<Value> {
        let meta = self.class_of(class);
        let new = self.find_method(meta, sym::NEW);
        if new == NO_METHOD || !self.methods[new as usize].builtin {
            return None;
        }
        match self.new_fast(class, 0)? {
            (v, NO_METHOD) => Some(v),
            _ => None,
        }
    }
    /// The `initialize` that `new` of `c` enters by itself with so many arguments (`NO_METHOD`: none is called).
    fn find_init(&mut self, c: Gc<ClassObj>, meta: Gc<ClassObj>, argc: usize) -> Option<u32> {
        let init = self.find_method(c, sym::INITIALIZE);
        // A class may have its own `allocate`.
        let alloc = self.find_method(meta, sym::ALLOCATE);
        if init == NO_METHOD || alloc == NO_METHOD || !self.methods[alloc as usize].builtin {
            return None;
        }
        let e = &self.methods[init as usize];
        if e.native.is_some() {
            return (e.owner == self.k.basic_object && argc == 0).then_some(NO_METHOD);
        }
        // What is not compiled yet has no row: it is looked for again.
        if !self.heat(init) {
            return None;
        }
        let h = &self.hot[init as usize];
        h.start(argc).map(|_| init)
    }
}
