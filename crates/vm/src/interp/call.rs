//! Calls: the general path. What the loop's fast paths do not cover ends here.

use super::binder::Strict;
use super::frame::{Fp, ff, literal_block, literal_parts};
use super::{Flow, Hot, HotKind};
use crate::bytecode::{HEADER, Insn, Op};
use crate::iseq::{ISeq, Site, site};
use crate::method::Body;
use crate::native::*;
use crate::world::NO_METHOD;
use crate::{Cx, sym};
use kumi_heap::*;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, Release},
};

/// Why a call found nothing to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Missing {
    #[default]
    None,
    Private,
    Protected,
    VCall,
    Super,
}

/// A call on its way to its callee.
pub(crate) struct Ready {
    pub recv: Value,
    pub args: Args,
    pub kw: Value,
    /// Block word for the callee's frame: what `yield` in it calls.
    pub block: Value,
    /// Block given to the call of a block: its `&blk` parameter.
    pub own: Value,
    pub dst: usize,
    pub flags: u64,
}

impl Ready {
    pub fn new(recv: Value, args: Args, dst: usize, flags: u64) -> Ready {
        Ready { recv, args, kw: Value::UNDEF, block: Value::NIL, own: Value::NIL, dst, flags }
    }
}

impl Cx {
    // --- from instructions -----------------------------------------------------

    /// Arguments of a call site as they stand in the window at `b`.
    /// `Err`: a conversion has to run first (`Exit::Call` re-executes the instruction).
    fn gather(&mut self, fp: Fp, s: &Site, b: usize) -> (Args, Value, Value) {
        let mut at = b + 1;
        let mut args = Args::new();
        if s.flags & site::SPLAT != 0 {
            if let Some(a) = fp.r(at).as_array() {
                args.extend_from_slice(a.as_slice());
            }
            at += 1;
        } else {
            args.extend_from_slice(fp.slice(at, s.argc as usize));
            at += s.argc as usize;
        }
        let mut kw = Value::UNDEF;
        if !s.kw.is_empty() {
            kw = self.hash();
            for (k, name) in s.kw.iter().enumerate() {
                self.hash_put_sym(kw, *name, fp.r(at + k));
            }
            at += s.kw.len();
        }
        if s.flags & site::KWSPLAT != 0 {
            kw = fp.r(at);
            at += 1;
        }
        // ruby2_keywords: a flagged hash at the end of a splat becomes keywords.
        if s.flags & site::SPLAT != 0 && kw.is_undef() {
            if let Some(h) = args.last().and_then(|v| v.as_hash()) {
                if h.hdr.has(flag::KEYWORDS) {
                    args.pop();
                    kw = self.hash_dup(h);
                }
            }
        }
        let block = if s.flags & site::BLOCK_ARG != 0 {
            fp.r(at)
        } else if let Some(child) = s.block {
            literal_block(self.slot_of(fp), child)
        } else {
            Value::NIL
        };
        (args, kw, block)
    }

    /// Is the block argument good as it is? Else the call that converts it (to_proc) in its register.
    fn block_arg_ready(&mut self, fp: Fp, s: &Site, b: usize, insn_words: usize) -> Option<Flow> {
        if s.flags & site::BLOCK_ARG == 0 {
            return None;
        }
        let at =
            b + 1 + if s.flags & site::SPLAT != 0 { 1 } else { s.argc as usize } + s.kw.len() + (s.flags & site::KWSPLAT != 0) as usize;
        let v = fp.r(at);
        if v.is_nil() || v.is_fix() || v.is_kind(Kind::Proc) {
            return None;
        }
        let list = fp.cref().cell::<CrefObj>().and_then(|c| c.refinements.as_array());
        if v.is_sym() {
            if list.is_some() {
                // The symbol keeps the place it was written in, for its refinements.
                let mut hdr = Header::new(self.k.proc_class.val(), Kind::Proc);
                hdr.x = ProcObj::LAMBDA | ProcObj::FROM_SYMBOL;
                let nil = Value::NIL;
                let p = self.heap.proc(ProcObj { hdr, iseq: 0, self_val: v, env: nil, cref: fp.cref(), block: nil, home: nil });
                fp.set_r(at, p.val());
            }
            return None;
        }
        if let Some(list) = list {
            let class = self.class_of(v);
            if let Some(m) = self.refined_method(list, class, sym::TO_PROC).filter(|m| *m != NO_METHOD) {
                // SAFETY: back to this very instruction.
                self.pc = unsafe { self.pc.sub(insn_words) };
                return Some(self.dispatch(m, Ready::new(v, Args::new(), at, 0)));
            }
        }
        // Run the conversion with the register as its destination, then this instruction again.
        self.pc = unsafe { self.pc.sub(insn_words) };
        let name = self.intern("block_arg");
        Some(self.do_call(
            Call {
                target: Target::Helper(name),
                recv: self.k.helpers.val(),
                args: Args::from_slice(&[v]),
                kw: Value::UNDEF,
                block: Value::NIL,
                fcall: true,
                result: Value::UNDEF,
            },
            at,
            0,
        ))
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn send_slow(&mut self, i: Insn, cache: &AtomicU64) -> Flow {
        let fp = self.fp();
        let s = &fp.iseq().sites[i.c()];
        if let Some(f) = self.block_arg_ready(fp, s, i.b(), 2) {
            return f;
        }
        let recv = fp.r(i.b());
        let class = self.class_of(recv);
        let w = cache.load(Relaxed);
        if super::hit(w, class) {
            // Looked up before; only the arguments or the callee need the general path.
            if !s.kw.is_empty() {
                if let Some(f) = self.keyword_call(fp, s, i, w as u32) {
                    return f;
                }
            }
            let (args, kw, block) = self.gather(fp, s, i.b());
            return self.dispatch(w as u32, Ready { recv, args, kw, block, own: Value::NIL, dst: i.a(), flags: 0 });
        }
        // Read before the search: what changes meanwhile makes the entry stale, not wrong.
        let serial = class.serial;
        let (m, cacheable) = self.lookup_in(fp, class, s.mid);
        let (args, kw, block) = self.gather(fp, s, i.b());
        let ready = Ready { recv, args, kw, block, own: Value::NIL, dst: i.a(), flags: 0 };
        if m == NO_METHOD {
            let why = if s.flags & site::VCALL != 0 { Missing::VCall } else { Missing::None };
            return self.method_missing(s.mid, why, ready);
        }
        let vis = self.methods[m as usize].vis;
        if vis != Vis::Public && s.flags & (site::FCALL | site::SELF) == 0 {
            if vis == Vis::Private {
                return self.method_missing(s.mid, Missing::Private, ready);
            }
            let owner = self.methods[m as usize].owner;
            if !self.is_a(fp.r(0), owner) {
                return self.method_missing(s.mid, Missing::Protected, ready);
            }
            return self.dispatch(m, ready);
        }
        let m = self.real_method(class, m);
        if cacheable {
            self.heat(m);
            cache.store((serial as u64) << 32 | m as u64, Release);
        }
        self.dispatch(m, ready)
    }

    /// A call with static keywords to code that takes just those: values go straight to their registers.
    fn keyword_call(&mut self, fp: Fp, s: &Site, i: Insn, m: u32) -> Option<Flow> {
        if s.flags & (site::SPLAT | site::KWSPLAT | site::BLOCK_ARG) != 0 || s.kw.len() > 16 {
            return None;
        }
        let e = &self.methods[m as usize];
        let (Some((q, cref)), None) = (e.code(), e.native) else { return None };
        let p = &q.params;
        let req = p.req as usize;
        if req != s.argc as usize || !p.opt.is_empty() || p.rest || p.post > 0 || p.kwrest || p.kw.is_empty() || e.ruby2_keywords {
            return None;
        }
        let q: *const ISeq = &**q;
        // SAFETY: method bodies are registered and never freed.
        let q = unsafe { &*q };
        let b = i.b();
        let given = fp.slice(b + 1 + req, s.kw.len());
        let mut values = [Value::UNDEF; 32];
        let out = values.get_mut(..q.params.kw.len())?;
        let mut used = 0;
        for (slot, (name, required)) in out.iter_mut().zip(q.params.kw.iter()) {
            match s.kw.iter().position(|k| k == name) {
                Some(at) => {
                    *slot = given[at];
                    used += 1;
                }
                None if *required => return None,
                None => {}
            }
        }
        if used != s.kw.len() {
            return None;
        }
        let n = q.params.kw.len();
        let block = s.block.map_or(Value::NIL, |child| literal_block(self.slot_of(fp), child));
        if !self.has_room(fp, b + q.nregs as usize) && !self.grow_stack(b + q.nregs as usize) {
            return Some(self.stack_overflow());
        }
        let nf = self.fp().add(b);
        nf.begin(self.fp());
        nf.set_link(b, i.a(), 0);
        nf.set_iseq(q);
        nf.set_ret(self.pc);
        nf.set_cref(cref);
        nf.set_block(block);
        nf.set_env(Value::NIL);
        for (k, v) in values[..n].iter().enumerate() {
            nf.set_r(1 + req + k, *v);
        }
        nf.nil_fill(1 + req + n, q.nregs as usize);
        self.fp = nf.0;
        self.pc = q.code.as_ptr();
        Some(if self.heap.poll.load(Relaxed) { self.safepoint() } else { Flow::Go })
    }

    /// Method for a call in `fp`'s place: refinements first. The flag says whether the answer may be cached.
    pub(crate) fn lookup_in(&mut self, fp: Fp, class: Gc<ClassObj>, mid: Sym) -> (u32, bool) {
        let refs = fp.cref().cell::<CrefObj>().map_or(Value::NIL, |c| c.refinements);
        if let Some(list) = refs.as_array() {
            if let Some(m) = self.refined_method(list, class, mid) {
                return (m, false);
            }
            return (self.find_method(class, mid), false);
        }
        (self.find_method(class, mid), true)
    }

    /// Looks through active refinements (pairs refined class, module; innermost first) in resolution order.
    pub(crate) fn refined_method(&mut self, list: Gc<ArrayObj>, class: Gc<ClassObj>, mid: Sym) -> Option<u32> {
        let _classes = self.lock_classes();
        let mro = class.data.mro.clone();
        for c in mro {
            for p in list.as_slice() {
                let Some(p) = p.as_array() else { continue };
                let (Some(k), Some(r)) = (p.get(0).and_then(|v| v.as_class()), p.get(1).and_then(|v| v.as_class())) else { continue };
                if k != c {
                    continue;
                }
                for a in r.data.mro.clone() {
                    if let Some(&m) = a.data.methods.get(&mid) {
                        if !matches!(self.methods[m as usize].body, Body::Undef) {
                            return Some(m);
                        }
                    }
                }
            }
            if let Some(&m) = c.data.methods.get(&mid) {
                if matches!(self.methods[m as usize].body, Body::Undef) {
                    return Some(NO_METHOD);
                }
                return None;
            }
        }
        None
    }

    /// Fills the hot row of a method.
    pub(crate) fn heat(&mut self, m: u32) {
        let _classes = self.lock_classes();
        let i = m as usize;
        self.hot.grow_to(self.methods.len().max(i + 1), Hot::unset);
        if self.hot[i].kind != HotKind::Slow {
            return;
        }
        let e = &self.methods[i];
        let mut h = Hot::unset();
        if let Some(f) = e.native {
            h.kind = HotKind::Native;
            h.native = Some(f);
            h.guard = e.guard;
            h.min = e.min;
            h.max = e.max;
        } else {
            match &e.body {
                Body::Code(_) | Body::Lazy(_) => {
                    if let Some((q, cref)) = e.code().filter(|c| c.0.simple) {
                        h.kind = HotKind::Simple;
                        h.argc = q.params.req;
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
                Body::Special(crate::method::Special::New) => h.kind = HotKind::New,
                Body::Special(crate::method::Special::ProcCall) => h.kind = HotKind::ProcCall,
                Body::MemberGet(k) => {
                    h.kind = HotKind::MemberGet;
                    h.arg = *k as u32;
                }
                _ => {}
            }
        }
        // SAFETY: under the class lock; readers come here by a cache word stored after this.
        unsafe { *self.hot.row_mut(i) = h };
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn super_slow(&mut self, i: Insn, _cache: &AtomicU64) -> Flow {
        let fp = self.fp();
        let s = &fp.iseq().sites[i.c()];
        if let Some(f) = self.block_arg_ready(fp, s, i.b(), 2) {
            return f;
        }
        let recv = fp.r(0);
        let (args, kw, mut block) = self.gather(fp, s, i.b());
        if s.block.is_none() && s.flags & site::BLOCK_ARG == 0 {
            block = self.method_block(fp);
        }
        let ready = Ready { recv, args, kw, block, own: Value::NIL, dst: i.a(), flags: 0 };
        let Some(m) = self.current_method(fp) else {
            let e = self.runtime_error("super called outside of method");
            return self.leaf_exit(e, i.a());
        };
        let e = &self.methods[m as usize];
        let (owner, called) = (e.owner, e.called);
        if s.flags & site::ZSUPER != 0 && matches!(e.body, Body::Proc(_)) {
            let e = self.runtime_error(
                "implicit argument passing of super from method defined by define_method() is not supported. Specify all arguments explicitly.",
            );
            return self.leaf_exit(e, i.a());
        }
        let class = self.class_of(recv);
        let name = e_name(self, m);
        let next = match owner.data.refined {
            // super in a refinement: the refined class's own method.
            Some(refined) => {
                let up = self.search_from(class, refined, name);
                if up == NO_METHOD { self.find_method(class, name) } else { up }
            }
            None => {
                let n = self.next_method(class, owner, name);
                if n == NO_METHOD && !class.data.mro.contains(&owner) { self.find_method(class, name) } else { n }
            }
        };
        if next == NO_METHOD {
            return self.method_missing(called, Missing::Super, ready);
        }
        let next = self.real_method(class, next);
        self.dispatch(next, ready)
    }

    /// Method `mid` of `class` looked up from `at` on (inclusive).
    fn search_from(&mut self, class: Gc<ClassObj>, at: Gc<ClassObj>, mid: Sym) -> u32 {
        let mro = class.data.mro.clone();
        let Some(p) = mro.iter().position(|c| *c == at) else { return NO_METHOD };
        for c in &mro[p..] {
            if let Some(&m) = c.data.methods.get(&mid) {
                return if matches!(self.methods[m as usize].body, Body::Undef) { NO_METHOD } else { m };
            }
        }
        NO_METHOD
    }

    /// The method whose body (or block within) `fp` runs.
    pub(crate) fn current_method(&self, fp: Fp) -> Option<u32> {
        let mut c = fp.cref().cell::<CrefObj>();
        while let Some(x) = c {
            if x.hdr.aux != CrefObj::NO_METHOD {
                return Some(x.hdr.aux);
            }
            if x.hdr.x & CrefObj::NO_CONST == 0 {
                return None;
            }
            c = x.parent.cell::<CrefObj>();
        }
        None
    }

    /// The block word of the method that `fp` belongs to.
    pub(crate) fn method_block(&self, fp: Fp) -> Value {
        fp.block()
    }

    /// A binary operator that has no fast path for its operands.
    #[cold]
    #[inline(never)]
    pub(crate) fn binop(&mut self, dst: usize, x: Value, y: Value, mid: Sym, cache: &AtomicU64) -> Flow {
        self.op_call(dst, x, &[y], mid, cache, 0)
    }
    #[cold]
    #[inline(never)]
    pub(crate) fn unop(&mut self, dst: usize, x: Value, mid: Sym, cache: &AtomicU64) -> Flow {
        self.op_call(dst, x, &[], mid, cache, 0)
    }
    #[cold]
    #[inline(never)]
    pub(crate) fn aset_slow(&mut self, x: Value, y: Value, v: Value, cache: &AtomicU64) -> Flow {
        self.op_call(0, x, &[y, v], sym::ASET, cache, ff::DISCARD)
    }

    fn op_call(&mut self, dst: usize, x: Value, args: &[Value], mid: Sym, cache: &AtomicU64, flags: u64) -> Flow {
        let class = self.class_of(x);
        let w = cache.load(Relaxed);
        // Read before the search: what changes meanwhile makes the entry stale, not wrong.
        let serial = class.serial;
        let m = if (w >> 32) as u32 == serial {
            w as u32
        } else {
            let fp = self.fp();
            let (m, cacheable) = self.lookup_in(fp, class, mid);
            let ok = m != NO_METHOD && (self.methods[m as usize].vis == Vis::Public || fp.r(0) == x && mid != sym::NEQ || mid == sym::EQQ);
            if !ok {
                let ready = Ready::new(x, Args::from_slice(args), dst, flags);
                let why = if m == NO_METHOD { Missing::None } else { Missing::Private };
                return self.method_missing(mid, why, ready);
            }
            let m = self.real_method(class, m);
            if cacheable && self.methods[m as usize].vis == Vis::Public {
                self.heat(m);
                cache.store((serial as u64) << 32 | m as u64, Release);
            }
            m
        };
        let e = &self.methods[m as usize];
        if let Some(f) = e.native {
            let n = args.len();
            let guard = e.guard;
            if n >= e.min as usize && (e.max < 0 || n <= e.max as usize) {
                return match self.run_native(f, guard, x, args) {
                    Ok(v) => self.deliver(v, dst, flags),
                    Err(x2) => {
                        let ready = Ready::new(x, Args::from_slice(args), dst, flags);
                        self.native_exit_general(x2, m, ready)
                    }
                };
            }
        }
        self.dispatch(m, Ready::new(x, Args::from_slice(args), dst, flags))
    }

    /// A native's value where a frame's would have gone.
    pub(crate) fn deliver(&mut self, v: Value, dst: usize, flags: u64) -> Flow {
        let fp = self.fp();
        if flags & ff::JUMP != 0 {
            self.fused_jump(v);
        } else if flags & ff::DISCARD == 0 {
            fp.set_r(dst, v);
        }
        Flow::Go
    }

    /// A fused compare-and-jump whose comparison is a method.
    #[cold]
    #[inline(never)]
    pub(crate) fn cmp_jump_slow(&mut self, _i: Insn, x: Value, y: Value, mid: Sym, cache: &AtomicU64) -> Flow {
        self.op_call(0, x, &[y], mid, cache, ff::JUMP)
    }
    /// Takes or does not take the fused jump just before `pc`, whose comparison gave `v`.
    pub(crate) fn fused_jump(&mut self, v: Value) {
        // SAFETY: the JUMP flag is only set for an instruction of two words that ends at pc.
        let i = Insn(unsafe { (*self.pc.sub(2)).load(Relaxed) });
        let sense = if i.op() == Op::Generic { i.x() & 0x80 != 0 } else { i.x() != 0 };
        if v.truthy() == sense {
            self.pc = unsafe { self.pc.offset(i.sc() as isize) };
        }
    }
    /// An operator instruction after its fast path was taken back (a user redefined it).
    #[cold]
    #[inline(never)]
    pub(crate) fn generic_op(&mut self, i: Insn, cache: &AtomicU64) -> Flow {
        let fp = self.fp();
        let op = Op::ALL[(i.x() & 0x7f) as usize];
        let (a, b, c) = (i.a(), i.b(), i.c());
        let imm = || Value::fix(i.sb() as i64);
        match op {
            Op::Add => self.binop(a, fp.r(b), fp.r(c), sym::PLUS, cache),
            Op::Sub => self.binop(a, fp.r(b), fp.r(c), sym::MINUS, cache),
            Op::Mul => self.binop(a, fp.r(b), fp.r(c), sym::MUL, cache),
            Op::Div => self.binop(a, fp.r(b), fp.r(c), sym::DIV, cache),
            Op::Mod => self.binop(a, fp.r(b), fp.r(c), sym::MOD, cache),
            Op::AddI => self.binop(a, fp.r(b), Value::fix(i.sc() as i64), sym::PLUS, cache),
            Op::SubI => self.binop(a, fp.r(b), Value::fix(i.sc() as i64), sym::MINUS, cache),
            Op::Lt => self.binop(a, fp.r(b), fp.r(c), sym::LT, cache),
            Op::Le => self.binop(a, fp.r(b), fp.r(c), sym::LE, cache),
            Op::Gt => self.binop(a, fp.r(b), fp.r(c), sym::GT, cache),
            Op::Ge => self.binop(a, fp.r(b), fp.r(c), sym::GE, cache),
            Op::Eq => self.binop(a, fp.r(b), fp.r(c), sym::EQ, cache),
            Op::Neq => self.binop(a, fp.r(b), fp.r(c), sym::NEQ, cache),
            Op::Shl => self.binop(a, fp.r(b), fp.r(c), sym::SHL, cache),
            Op::Shr => self.binop(a, fp.r(b), fp.r(c), sym::SHR, cache),
            Op::And => self.binop(a, fp.r(b), fp.r(c), sym::AND, cache),
            Op::Or => self.binop(a, fp.r(b), fp.r(c), sym::OR, cache),
            Op::Xor => self.binop(a, fp.r(b), fp.r(c), sym::XOR, cache),
            Op::Neg => self.unop(a, fp.r(b), sym::UMINUS, cache),
            Op::Not => self.unop(a, fp.r(b), sym::NOT, cache),
            Op::Aref => self.binop(a, fp.r(b), fp.r(c), sym::AREF, cache),
            Op::Aset => self.aset_slow(fp.r(a), fp.r(b), fp.r(c), cache),
            Op::CaseEq => self.binop(a, fp.r(b), fp.r(c), sym::EQQ, cache),
            Op::JLt => self.cmp_jump_slow(i, fp.r(a), fp.r(b), sym::LT, cache),
            Op::JLe => self.cmp_jump_slow(i, fp.r(a), fp.r(b), sym::LE, cache),
            Op::JGt => self.cmp_jump_slow(i, fp.r(a), fp.r(b), sym::GT, cache),
            Op::JGe => self.cmp_jump_slow(i, fp.r(a), fp.r(b), sym::GE, cache),
            Op::JEq => self.cmp_jump_slow(i, fp.r(a), fp.r(b), sym::EQ, cache),
            Op::JLtI => self.cmp_jump_slow(i, fp.r(a), imm(), sym::LT, cache),
            Op::JLeI => self.cmp_jump_slow(i, fp.r(a), imm(), sym::LE, cache),
            Op::JGtI => self.cmp_jump_slow(i, fp.r(a), imm(), sym::GT, cache),
            Op::JGeI => self.cmp_jump_slow(i, fp.r(a), imm(), sym::GE, cache),
            Op::JEqI => self.cmp_jump_slow(i, fp.r(a), imm(), sym::EQ, cache),
            _ => unreachable!("only operators are made generic"),
        }
    }
    /// Rewrites the operator instructions of a piece of code to their general form.
    pub(crate) fn dequicken(q: &ISeq) {
        let mut at = 0;
        while at < q.code.len() {
            let i = q.insn(at);
            let op = i.op();
            let generic = op.is_operator()
                || matches!(
                    op,
                    Op::Aset
                        | Op::CaseEq
                        | Op::JLt
                        | Op::JLe
                        | Op::JGt
                        | Op::JGe
                        | Op::JEq
                        | Op::JLtI
                        | Op::JLeI
                        | Op::JGtI
                        | Op::JGeI
                        | Op::JEqI
                );
            if generic && !q.system {
                let x = op as u8 | if i.x() != 0 { 0x80 } else { 0 };
                let w = Insn::new(Op::Generic, x, i.a() as u16, i.b() as u16, i.c() as u16);
                q.code[at].store(w.0, Relaxed);
            }
            at += if op.cached() { 2 } else { 1 };
        }
    }

    // --- general dispatch ---------------------------------------------------------

    /// Calls method `m`.
    pub(crate) fn dispatch(&mut self, m: u32, mut r: Ready) -> Flow {
        let e = &self.methods[m as usize];
        if let Some(f) = e.native {
            // A native never sees a block: its twin does.
            if !r.block.is_nil() && !matches!(e.body, Body::Native) {
                return self.dispatch_body(m, r);
            }
            let (min, max) = (e.min as usize, e.max);
            let mut nargs = r.args.clone();
            if let Some(h) = r.kw.as_hash() {
                if h.h.len() > 0 {
                    nargs.push(r.kw);
                }
            }
            if nargs.len() < min || (max >= 0 && nargs.len() > max as usize) {
                // The twin may take what the native cannot (keywords).
                if !matches!(e.body, Body::Native) {
                    return self.dispatch_body(m, r);
                }
                let x = self.arity_error(nargs.len(), min, (max >= 0).then_some(max as usize));
                return self.native_exit_general(x, m, r);
            }
            let g = e.guard;
            return match self.run_native(f, g, r.recv, &nargs) {
                Ok(v) => self.deliver(v, r.dst, r.flags),
                Err(x) => {
                    if x != Exit::Miss {
                        r.args = nargs;
                        r.kw = Value::UNDEF;
                    }
                    self.native_exit_general(x, m, r)
                }
            };
        }
        self.dispatch_body(m, r)
    }

    /// Runs the body of `m`, whatever native stands before it.
    pub(crate) fn dispatch_body(&mut self, m: u32, r: Ready) -> Flow {
        let e = &self.methods[m as usize];
        match &e.body {
            Body::Code(_) | Body::Lazy(_) => {
                let Some((q, cref)) = e.code() else {
                    return match self.force_lazy(m) {
                        Ok(()) => self.dispatch_body(m, r),
                        Err(x) => self.leaf_exit_to(x, r.dst, r.flags),
                    };
                };
                let (q, r2k) = (q.clone(), e.ruby2_keywords);
                let mut r = r;
                if r2k {
                    self.flag_keywords(&mut r);
                }
                self.push_code(&q, r, cref, Value::NIL, Value::NIL, Strict::Yes, 0)
            }
            Body::Native => {
                let x = self.no_general_form(m);
                self.leaf_exit_to(x, r.dst, r.flags)
            }
            Body::Special(s) => {
                let s = *s;
                self.call_special(s, m, r)
            }
            Body::AttrGet(s) => {
                let s = *s;
                if !r.args.is_empty() {
                    let x = self.arity_error(r.args.len(), 0, Some(0));
                    return self.native_exit_general(x, m, r);
                }
                let v = self.attr_get(r.recv, s.0);
                self.deliver(v, r.dst, r.flags)
            }
            Body::AttrSet(s) => {
                let s = *s;
                if r.args.len() != 1 {
                    let x = self.arity_error(r.args.len(), 1, Some(1));
                    return self.native_exit_general(x, m, r);
                }
                if let Err(x) = self.check_frozen(r.recv) {
                    return self.native_exit_general(x, m, r);
                }
                let v = r.args[0];
                self.ivar_set_locked(r.recv, s, v);
                self.deliver(v, r.dst, r.flags)
            }
            Body::MemberGet(k) => {
                let k = *k as usize;
                if !r.args.is_empty() {
                    let x = self.arity_error(r.args.len(), 0, Some(0));
                    return self.native_exit_general(x, m, r);
                }
                let v = r.recv.cell::<StructObj>().and_then(|s| s.slots().get(k).copied()).unwrap_or(Value::NIL);
                self.deliver(v, r.dst, r.flags)
            }
            Body::Indexed(x) => {
                let x = *x;
                let given = r.args.len() + r.kw.as_hash().is_some_and(|h| h.h.len() > 0) as usize;
                if given > 0 {
                    let x = self.arity_error(given, 0, Some(0));
                    return self.native_exit_general(x, m, r);
                }
                let known = if x.field { super::decoded(r.recv, x.index) } else { None };
                match known.map_or_else(|| (x.f)(self, r.recv, x.index), Ok) {
                    Ok(v) => self.deliver(v, r.dst, r.flags),
                    Err(x) => self.native_exit_general(x, m, r),
                }
            }
            Body::MemberSet(k) => {
                let k = *k as usize;
                if r.args.len() != 1 {
                    let x = self.arity_error(r.args.len(), 1, Some(1));
                    return self.native_exit_general(x, m, r);
                }
                if let Err(x) = self.check_frozen(r.recv) {
                    return self.native_exit_general(x, m, r);
                }
                if let Some(mut s) = r.recv.cell::<StructObj>() {
                    self.heap.before_store(r.recv, r.args[0]);
                    if let Some(slot) = s.slots_mut().get_mut(k) {
                        *slot = r.args[0];
                    }
                }
                self.deliver(r.args[0], r.dst, r.flags)
            }
            Body::Proc(p) => {
                let (p, cref) = (*p, e.cref);
                let mut r = r;
                if e.ruby2_keywords {
                    self.flag_keywords(&mut r);
                }
                self.call_bmethod(p, cref, r)
            }
            Body::Undef | Body::Zsuper => {
                let (mid, class) = (e.called, self.class_of(r.recv));
                let real = self.real_method(class, m);
                if real == NO_METHOD || real == m {
                    return self.method_missing(mid, Missing::None, r);
                }
                self.dispatch(real, r)
            }
        }
    }

    fn no_general_form(&mut self, m: u32) -> Exit {
        let (name, owner) = (self.sym_name(self.methods[m as usize].called), self.methods[m as usize].owner);
        let on = self.class_name(owner);
        self.runtime_error(&format!("{on}#{name} has no general form for these arguments"))
    }

    /// ruby2_keywords: keywords arrive as a flagged hash in the rest array.
    fn flag_keywords(&mut self, r: &mut Ready) {
        if let Some(h) = r.kw.as_hash() {
            if h.h.len() > 0 {
                let d = self.hash_dup(h);
                if let Some(hd) = d.header() {
                    hd.set(flag::KEYWORDS);
                }
                r.args.push(d);
                r.kw = Value::UNDEF;
            }
        }
    }

    /// Compiles a lazy prelude body in place.
    pub(crate) fn force_lazy(&mut self, m: u32) -> Result<(), Exit> {
        if let (Body::Lazy(i), None) = (&self.methods[m as usize].body, self.methods[m as usize].forced.get()) {
            let i = *i;
            let q = self.compile_lazy(i)?;
            self.register_code(&q);
            // Its own place, inside the class body's: `super` finds the method there.
            let (owner, place) = (self.methods[m as usize].owner, self.methods[m as usize].cref);
            let parent = if place.is_nil() { self.top_cref } else { place };
            let c = self.new_cref(owner.val(), parent, m, 0);
            // A second worker may have been first: its code is as good.
            let _ = self.methods[m as usize].forced.set((q, c.val()));
            // Call sites that found it uncompiled have its row cached.
            self.heat(m);
        }
        Ok(())
    }

    /// Keeps a piece of code (and its children) for the runtime's life and prepares its literals.
    pub(crate) fn register_code(&mut self, q: &Arc<ISeq>) {
        let mut at = 0;
        while at < q.code.len() {
            let i = q.insn(at);
            if matches!(i.op(), Op::Send | Op::Yield) {
                let s = &q.sites[i.c()];
                let plain = s.flags & (site::SPLAT | site::KWSPLAT | site::BLOCK_ARG) == 0 && s.kw.is_empty() && s.argc < 0x7f;
                let x = if plain { s.argc as u8 | if s.block.is_some() { 0x80 } else { 0 } } else { 0xff };
                q.code[at].store((i.0 & !0xff00) | (x as u64) << 8, Relaxed);
            }
            at += if i.op().cached() { 2 } else { 1 };
        }
        let policy = self.heap.site_book().policy;
        if policy.mode != SiteMode::None {
            q.place_births(policy.fields);
            if policy.stress != 0 {
                q.place_by_chance(policy.stress);
            }
        }
        if self.ops_redefined.load(Relaxed) {
            Self::dequicken(q);
        }
        for c in q.children.iter() {
            self.register_code(c);
        }
        crate::runtime::lock(&self.codes).push(q.clone());
    }
    /// Takes back all fast operator paths.
    pub(crate) fn dequicken_all(&mut self) {
        for q in crate::runtime::lock(&self.codes).iter() {
            Self::dequicken(q);
        }
    }

    /// Pushes a frame of `q` above the running one and binds its arguments.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn push_code(&mut self, q: &ISeq, r: Ready, cref: Value, env: Value, parent: Value, strict: Strict, flags: u64) -> Flow {
        let fp = self.fp();
        let delta = fp.iseq().nregs as usize + HEADER as usize;
        let up = delta + q.nregs as usize;
        if !self.has_room(fp, up) && !self.grow_stack(up) {
            return self.stack_overflow();
        }
        let own = (flags & ff::BLOCK != 0 && q.params.block).then_some(r.own);
        let fp = self.fp();
        let nf = fp.add(delta);
        nf.begin(fp);
        let simple =
            q.simple && r.args.len() == q.params.req as usize && (r.kw.is_undef() || r.kw.as_hash().is_some_and(|h| h.h.len() == 0));
        nf.nil_fill(0, q.nregs as usize);
        nf.set_link(delta, r.dst, r.flags | flags);
        nf.set_iseq(q);
        nf.set_ret(self.pc);
        nf.set_cref(cref);
        nf.set_block(r.block);
        nf.set_env(env);
        nf.set_parent(parent);
        nf.set_r(0, r.recv);
        let start = if simple && !(strict == Strict::No && r.args.len() == 1 && q.params.excess_comma) {
            for (k, v) in r.args.iter().enumerate() {
                nf.set_r(k + 1, *v);
            }
            0
        } else {
            let (dst, rflags) = (r.dst, r.flags);
            match self.bind(q, nf, r.args, r.kw, strict) {
                Ok(s) => s,
                Err(x) => {
                    // The error belongs to the callee's frame in the backtrace.
                    if x == Exit::Raise {
                        self.fp = nf.0;
                        self.pc = q.code.as_ptr();
                        return self.leaf_exit(x, 0);
                    }
                    return self.leaf_exit_to(x, dst, rflags);
                }
            }
        };
        if let Some(b) = own {
            nf.set_r(q.params.block_register(), b);
        }
        self.fp = nf.0;
        // SAFETY: entry points come from the compiler.
        self.pc = unsafe { q.code.as_ptr().add(start) };
        if self.heap.poll.load(Relaxed) { self.safepoint() } else { Flow::Go }
    }

    /// Performs a call that a native asked for.
    pub(crate) fn do_call(&mut self, c: Call, dst: usize, flags: u64) -> Flow {
        let mut flags = flags;
        if !c.result.is_undef() {
            if flags & (ff::DISCARD | ff::JUMP) == 0 {
                self.fp().set_r(dst, c.result);
            }
            flags |= ff::DISCARD;
        }
        let r = Ready { recv: c.recv, args: c.args, kw: c.kw, block: c.block, own: Value::NIL, dst, flags };
        match c.target {
            Target::Name(mid) => {
                let class = self.class_of(r.recv);
                let m = self.find_method(class, mid);
                if m == NO_METHOD {
                    return self.method_missing(mid, Missing::None, r);
                }
                if !c.fcall && self.methods[m as usize].vis != Vis::Public {
                    let why = if self.methods[m as usize].vis == Vis::Private { Missing::Private } else { Missing::Protected };
                    return self.method_missing(mid, why, r);
                }
                let m = self.real_method(class, m);
                self.dispatch(m, r)
            }
            Target::Method(m) => {
                let class = self.class_of(r.recv);
                let m = self.real_method(class, m);
                if m == NO_METHOD {
                    return self.method_missing(sym::CALL, Missing::None, r);
                }
                self.dispatch(m, r)
            }
            Target::Proc(p) => self.call_block_word(p, None, r),
            Target::ProcPlain(p) => self.call_plain(p, r),
            Target::ProcSelf { prc, definee, eval } => self.call_proc_self(prc, definee, eval, r),
            Target::Helper(mid) => {
                let h = self.k.helpers;
                let class = self.class_of(h.val());
                let m = self.find_method(class, mid);
                if m == NO_METHOD {
                    let n = self.sym_name(mid);
                    let x = self.runtime_error(&format!("the prelude has no KumiSys.{n}"));
                    return self.leaf_exit_to(x, dst, flags);
                }
                self.dispatch(m, Ready { recv: h.val(), ..r })
            }
            Target::Code { iseq, cref, env, block } => {
                // SAFETY: code addresses come from registered code.
                let q = unsafe { &*(iseq as *const ISeq) };
                let r = Ready { block, ..r };
                self.push_code(q, r, cref, env, Value::NIL, Strict::Yes, 0)
            }
        }
    }

    /// A native called by the fast path did not return a value.
    #[cold]
    #[inline(never)]
    pub(crate) fn native_exit(&mut self, x: Exit, i: Insn, m: u32, block: Value) -> Flow {
        self.heap.end_place();
        if x == Exit::Park || x == Exit::Again && self.detour.is_waiting() {
            // The arguments still stand in their window: the instruction is executed again.
            self.pc = unsafe { self.pc.sub(2) };
            return self.suspend_here(x, 2);
        }
        if x == Exit::Switch {
            return self.switch_now(i.a(), 0);
        }
        let fp = self.fp();
        let argc = (i.x() & 0x7f) as usize;
        let args = Args::from_slice(fp.slice(i.b() + 1, argc));
        let r = Ready { block, ..Ready::new(fp.r(i.b()), args, i.a(), 0) };
        self.native_exit_general(x, m, r)
    }

    /// What a native asked for instead of returning a value.
    pub(crate) fn native_exit_general(&mut self, x: Exit, m: u32, r: Ready) -> Flow {
        self.heap.end_place();
        match x {
            Exit::Raise => {
                // The default method_missing is no frame users know of.
                let hidden = self.methods[m as usize].called == sym::METHOD_MISSING;
                self.raising_native = if hidden { NO_METHOD } else { m };
                let e = std::mem::replace(&mut self.pending.exc, Value::NIL);
                let f = self.raise_exc(e);
                self.raising_native = NO_METHOD;
                f
            }
            Exit::Miss | Exit::Convert(..) if matches!(self.methods[m as usize].body, Body::Indexed(_)) => {
                let x = self.no_general_form(m);
                self.leaf_exit_to(x, r.dst, r.flags)
            }
            Exit::Miss => self.dispatch_body(m, r),
            Exit::Convert(k, proto) => {
                let a = self.array(&r.args);
                let name = self.intern("convert_retry");
                let args = [Value::fix(m as i64), r.recv, a, Value::fix(k as i64), Value::fix(proto as i64)];
                self.do_call(
                    Call {
                        target: Target::Helper(name),
                        recv: Value::NIL,
                        args: Args::from_slice(&args),
                        kw: Value::UNDEF,
                        block: r.block,
                        fcall: true,
                        result: Value::UNDEF,
                    },
                    r.dst,
                    r.flags,
                )
            }
            Exit::Call => match self.pending.call.take() {
                Some(c) => self.do_call(c, r.dst, r.flags),
                None => Flow::Go,
            },
            Exit::Again | Exit::Park => {
                let again = Call {
                    target: Target::Method(m),
                    recv: r.recv,
                    args: r.args,
                    kw: r.kw,
                    block: r.block,
                    fcall: true,
                    result: Value::UNDEF,
                };
                self.suspend_with(x, again, r.dst, r.flags)
            }
            Exit::Switch => self.switch_now(r.dst, r.flags),
            Exit::Unwind => {
                let u = std::mem::replace(&mut self.pending.exc, Value::NIL);
                self.unwind(u)
            }
        }
    }

    /// An instruction's or intrinsic's leaf did not return a value; its result goes to `R[a]`.
    #[cold]
    #[inline(never)]
    pub(crate) fn leaf_exit(&mut self, x: Exit, a: usize) -> Flow {
        self.leaf_exit_to(x, a, 0)
    }
    #[cold]
    #[inline(never)]
    pub(crate) fn leaf_exit_drop(&mut self, x: Exit) -> Flow {
        self.leaf_exit_to(x, 0, ff::DISCARD)
    }
    pub(crate) fn leaf_exit_to(&mut self, x: Exit, a: usize, flags: u64) -> Flow {
        self.heap.end_place();
        match x {
            Exit::Raise => {
                let e = std::mem::replace(&mut self.pending.exc, Value::NIL);
                self.raise_exc(e)
            }
            Exit::Call => match self.pending.call.take() {
                Some(c) => self.do_call(c, a, flags),
                None => Flow::Go,
            },
            Exit::Switch => self.switch_now(a, flags),
            Exit::Unwind => {
                let u = std::mem::replace(&mut self.pending.exc, Value::NIL);
                self.unwind(u)
            }
            Exit::Miss => {
                let e = self.type_error("wrong argument for an internal operation");
                self.leaf_exit_to(e, a, flags)
            }
            Exit::Convert(k, proto) => {
                // Only intrinsics convert: their arguments are registers. Convert in place, then again.
                let i = Insn(unsafe { (*self.pc.sub(1)).load(Relaxed) });
                if i.original().op() != Op::Intrinsic {
                    let e = self.type_error("wrong argument for an internal operation");
                    return self.leaf_exit_to(e, a, flags);
                }
                let reg = i.b() + k as usize;
                let v = self.fp().r(reg);
                self.pc = unsafe { self.pc.sub(1) };
                let name = self.intern("convert_arg");
                self.do_call(
                    Call {
                        target: Target::Helper(name),
                        recv: Value::NIL,
                        args: Args::from_slice(&[v, Value::fix(proto as i64)]),
                        kw: Value::UNDEF,
                        block: Value::NIL,
                        fcall: true,
                        result: Value::UNDEF,
                    },
                    reg,
                    0,
                )
            }
            Exit::Again | Exit::Park => {
                self.pc = unsafe { self.pc.sub(1) };
                self.suspend_here(x, 1)
            }
        }
    }

    /// Nothing to run: method_missing, the user's or the default one.
    pub(crate) fn method_missing(&mut self, mid: Sym, why: Missing, r: Ready) -> Flow {
        let class = self.class_of(r.recv);
        let m = self.find_method(class, sym::METHOD_MISSING);
        self.missing = why;
        let mut args = Args::with_capacity(r.args.len() + 1);
        args.push(Value::sym(mid));
        args.extend_from_slice(&r.args);
        let r = Ready { args, ..r };
        if m == NO_METHOD || mid == sym::METHOD_MISSING {
            let x = self.missing_error(r.recv, mid, &r.args[1..]);
            return self.leaf_exit_to(x, r.dst, r.flags);
        }
        self.dispatch(m, r)
    }

    /// The NoMethodError or NameError of the default method_missing.
    pub fn missing_error(&mut self, recv: Value, mid: Sym, args: &[Value]) -> Exit {
        let why = std::mem::take(&mut self.missing);
        let named = match recv.as_class() {
            Some(_) => recv,
            None => self.real_class(recv).val(),
        };
        if !self.builtin(named, sym::NAME) && self.has_method(named, sym::NAME) {
            // The class has a name of its own making: the prelude asks for it.
            let kind = Value::fix(match why {
                Missing::VCall => 1,
                Missing::Private => 2,
                Missing::Protected => 3,
                Missing::Super => 4,
                Missing::None => 0,
            });
            let a = self.array(args);
            return self.call_helper("raise_missing", &[recv, Value::sym(mid), a, kind]);
        }
        let on = self.describe(recv);
        let name = self.sym_name(mid);
        let (class, msg) = match why {
            Missing::VCall => (self.k.name_error, format!("undefined local variable or method '{name}' for {on}")),
            Missing::Private => (self.k.no_method_error, format!("private method '{name}' called for {on}")),
            Missing::Protected => (self.k.no_method_error, format!("protected method '{name}' called for {on}")),
            Missing::Super => (self.k.no_method_error, format!("super: no superclass method '{name}' for {on}")),
            Missing::None => (self.k.no_method_error, format!("undefined method '{name}' for {on}")),
        };
        let e = self.make_exc(class, &msg);
        self.ivar_set(e, sym::IV_NAME, Value::sym(mid));
        self.ivar_set(e, sym::IV_RECEIVER, recv);
        let a = self.array(args);
        self.ivar_set(e, sym::IV_ARGS, a);
        self.raise(e)
    }

    // --- blocks ----------------------------------------------------------------------

    #[cold]
    #[inline(never)]
    pub(crate) fn yield_slow(&mut self, i: Insn) -> Flow {
        let fp = self.fp();
        let s = &fp.iseq().sites[i.c()];
        let blk = fp.block();
        let (args, kw, _) = self.gather(fp, s, i.b());
        let r = Ready { recv: Value::NIL, args, kw, block: Value::NIL, own: Value::NIL, dst: i.a(), flags: 0 };
        if blk.is_nil() {
            let e = self.make_exc(self.k.local_jump_error, "no block given (yield)");
            let reason = self.sym("noreason");
            self.ivar_set(e, sym::IV_REASON, reason);
            let x = self.raise(e);
            return self.leaf_exit(x, i.a());
        }
        self.call_block_word(blk, None, r)
    }

    /// Calls a block word. `self_val`: another self (instance_exec).
    pub(crate) fn call_block_word(&mut self, blk: Value, self_val: Option<Value>, r: Ready) -> Flow {
        if blk.is_fix() {
            let (off, child) = literal_parts(blk);
            let home = self.frame_at(off);
            let q: *const ISeq = &*home.iseq().children[child];
            let (cref, env, outer) = (home.cref(), home.env(), home.block());
            let r = Ready { recv: self_val.unwrap_or(home.r(0)), block: outer, ..r };
            // SAFETY: children live as long as their parent.
            let q = unsafe { &*q };
            return self.auto_splat(q, r, cref, env, Value::fix(off as i64), ff::BLOCK);
        }
        if let Some(p) = blk.as_proc() {
            if p.iseq == 0 {
                return self.call_foreign(p, r);
            }
            // SAFETY: a Proc's code is registered.
            let q = unsafe { &*(p.iseq as *const ISeq) };
            let lambda = p.is_lambda();
            let flags = ff::BLOCK | if lambda { ff::LAMBDA } else { 0 };
            // A block given to a block's call is its own `&blk`; yields in it mean the home method's block.
            let own = r.block;
            let mut r = Ready { recv: self_val.unwrap_or(p.self_val), block: p.block, ..r };
            r.own = self.block_value(own);
            if p.hdr.x & ProcObj::RUBY2_KEYWORDS != 0 {
                self.flag_keywords(&mut r);
            }
            let home = p.home;
            if lambda {
                // yield [a, b] to a lambda block with several parameters still takes the array apart only for lambda(&blk) made of blocks.
                return self.push_code(q, r, p.cref, p.env, home, Strict::Yes, flags);
            }
            return self.auto_splat(q, r, p.cref, p.env, home, flags);
        }
        if let Some(mid) = blk.as_sym() {
            if r.args.is_empty() {
                let x = self.arg_error("no receiver given");
                return self.leaf_exit_to(x, r.dst, r.flags);
            }
            let mut r = r;
            r.recv = r.args.remove(0);
            let class = self.class_of(r.recv);
            let m = self.find_method(class, mid);
            if m == NO_METHOD || self.methods[m as usize].vis != Vis::Public {
                let why = match m {
                    NO_METHOD => Missing::None,
                    _ if self.methods[m as usize].vis == Vis::Private => Missing::Private,
                    _ => Missing::Protected,
                };
                return self.method_missing(mid, why, r);
            }
            let m = self.real_method(class, m);
            return self.dispatch(m, r);
        }
        // A Method object or anything else callable.
        let block = r.block;
        self.do_call(
            Call { target: Target::Name(sym::CALL), recv: blk, args: r.args, kw: r.kw, block, fcall: false, result: Value::UNDEF },
            r.dst,
            r.flags,
        )
    }

    /// Enters a block that takes apart a single array-like argument.
    fn auto_splat(&mut self, q: &ISeq, r: Ready, cref: Value, env: Value, parent: Value, flags: u64) -> Flow {
        let p = &q.params;
        let min = (p.req + p.post) as usize;
        let max = min + p.opt_count() as usize;
        let several = p.excess_comma || (min > 0 && (max > 1 || p.rest)) || p.opt_count() > 1;
        if r.args.len() == 1 && r.args[0].is_heap() && !r.args[0].is_kind(Kind::Array) && several {
            let v = r.args[0];
            if self.has_method(v, sym::TO_ARY) || !self.builtin(v, sym::RESPOND_TO) || !self.builtin(v, sym::METHOD_MISSING) {
                if !matches!(v.kind(), Some(Kind::Str | Kind::Hash | Kind::Struct | Kind::Range | Kind::Class))
                    || self.has_method(v, sym::TO_ARY)
                {
                    let prc = Proto4 { q, cref, env, parent, flags };
                    return self.auto_splat_helper(prc, r);
                }
            }
        }
        self.push_code(q, r, cref, env, parent, Strict::No, flags)
    }

    /// to_ary of a user's object comes first: a helper converts and calls the block with the array.
    fn auto_splat_helper(&mut self, b: Proto4<'_>, r: Ready) -> Flow {
        let mut hdr = Header::new(self.k.proc_class.val(), Kind::Proc);
        hdr.x = if b.flags & ff::LAMBDA != 0 { ProcObj::LAMBDA } else { 0 };
        let home = if b.parent.is_fix() { self.home_for(b.parent.fix_val() as usize, u32::MAX) } else { b.parent };
        let block = self.block_value(r.block);
        let p = self.heap.proc(ProcObj { hdr, iseq: b.q as *const ISeq as u64, self_val: r.recv, env: b.env, cref: b.cref, block, home });
        let name = self.intern("splat_call");
        self.do_call(
            Call {
                target: Target::Helper(name),
                recv: Value::NIL,
                args: Args::from_slice(&[p.val(), r.args[0]]),
                kw: Value::UNDEF,
                block: Value::NIL,
                fcall: true,
                result: Value::UNDEF,
            },
            r.dst,
            r.flags,
        )
    }

    /// Calls a closure whose one argument stays whole.
    fn call_plain(&mut self, prc: Value, r: Ready) -> Flow {
        let Some(p) = prc.as_proc().filter(|p| p.iseq != 0) else { return self.call_block_word(prc, None, r) };
        // SAFETY: a Proc's code is registered.
        let q = unsafe { &*(p.iseq as *const ISeq) };
        let r = Ready { recv: p.self_val, block: p.block, ..r };
        self.push_code(q, r, p.cref, p.env, p.home, Strict::No, ff::BLOCK)
    }

    /// A Proc without code: made from a Symbol or a Method.
    /// What is in force inside `refine`: all refinements of the same module, also those that
    /// come later, so the list is one object that grows.
    fn refinements_inside(&mut self, refined: Gc<ClassObj>, r: Gc<ClassObj>, old: Value) -> Value {
        let pair = self.array(&[refined.val(), r.val()]);
        let name = self.intern("@__refinement_pairs");
        let owner = r.data.attached;
        let kept = if owner.as_class().is_some() { self.ivar_get(owner, name) } else { Value::UNDEF };
        let shared = match kept.as_array() {
            Some(a) => a,
            None => {
                let v = self.array(&[]);
                if owner.as_class().is_some() {
                    self.ivar_set(owner, name, v);
                }
                let Some(a) = v.as_array() else { return v };
                a
            }
        };
        let there = shared.as_slice().iter().any(|p| p.as_array().and_then(|p| p.get(1)) == Some(r.val()));
        if !there {
            self.push(shared, pair);
        }
        match old.as_array().filter(|o| !o.is_empty() && *o != shared) {
            Some(o) => {
                let mut all = shared.as_slice().to_vec();
                all.extend(o.as_slice().iter().filter(|p| !shared.as_slice().contains(p)));
                self.array(&all)
            }
            None => shared.val(),
        }
    }
    /// The refined method that a call in the nearest user frame would find, when there is one.
    pub fn refined_for_caller(&mut self, class: Gc<ClassObj>, mid: Sym) -> Option<u32> {
        let f = self.user_frame()?;
        let list = f.cref().cell::<CrefObj>()?.refinements.as_array()?;
        self.refined_method(list, class, mid).filter(|m| *m != NO_METHOD)
    }

    fn call_foreign(&mut self, p: Gc<ProcObj>, r: Ready) -> Flow {
        if let Some(mid) = p.self_val.as_sym() {
            // `&:name` where refinements are in force: they go first.
            let list = p.cref.cell::<CrefObj>().and_then(|c| c.refinements.as_array());
            if let (Some(list), Some(recv)) = (list, r.args.first().copied()) {
                let class = self.class_of(recv);
                if let Some(m) = self.refined_method(list, class, mid).filter(|m| *m != NO_METHOD) {
                    let mut r = r;
                    r.recv = r.args.remove(0);
                    return self.dispatch(m, r);
                }
            }
            return self.call_block_word(p.self_val, None, r);
        }
        let block = r.block;
        self.do_call(
            Call { target: Target::Name(sym::CALL), recv: p.self_val, args: r.args, kw: r.kw, block, fcall: true, result: Value::UNDEF },
            r.dst,
            r.flags,
        )
    }

    /// Calls a block with another self and place for definitions (instance_eval and friends).
    fn call_proc_self(&mut self, prc: Value, definee: Value, eval: bool, r: Ready) -> Flow {
        let p = match prc.as_proc() {
            Some(p) => p,
            None => return self.call_block_word(prc, Some(r.recv), r),
        };
        if p.iseq == 0 {
            let mut r = r;
            if r.args.is_empty() {
                let recv = r.recv;
                r.args.push(recv);
            }
            return self.call_foreign(p, r);
        }
        // SAFETY: a Proc's code is registered.
        let q = unsafe { &*(p.iseq as *const ISeq) };
        let mut cref = self.new_cref(Value::NIL, p.cref, CrefObj::NO_METHOD, CrefObj::NO_CONST | CrefObj::PUBLIC);
        let outer = p.cref.cell::<CrefObj>();
        match definee.as_class() {
            Some(c) if eval => {
                self.heap.before_store(cref.val(), c.val());
                cref.module = c.val();
                if let Some(refined) = c.data.refined {
                    // Inside `refine` the refinement is active already.
                    let list = self.refinements_inside(refined, c, cref.refinements);
                    self.heap.before_store(cref.val(), list);
                    cref.refinements = list;
                }
            }
            _ => {
                let module = outer.map_or(Value::NIL, |o| o.module);
                self.heap.before_store(cref.val(), module);
                self.heap.before_store(cref.val(), definee);
                cref.module = module;
                cref.definee = definee;
            }
        }
        let lambda = p.is_lambda() && p.hdr.x & ProcObj::FROM_METHOD == 0;
        let own = self.block_value(r.block);
        let r = Ready { block: p.block, own, ..r };
        let flags = ff::BLOCK | if lambda { ff::LAMBDA } else { 0 };
        if lambda {
            return self.push_code(q, r, cref.val(), p.env, p.home, Strict::Yes, flags);
        }
        self.auto_splat(q, r, cref.val(), p.env, p.home, flags)
    }

    /// Body of a define_method method.
    fn call_bmethod(&mut self, prc: Value, cref: Value, r: Ready) -> Flow {
        let Some(p) = prc.as_proc() else { return self.call_block_word(prc, Some(r.recv), r) };
        if p.iseq == 0 {
            let mut r = r;
            if p.self_val.is_sym() {
                let recv = r.recv;
                r.args.insert(0, recv);
            }
            return self.call_foreign(p, r);
        }
        // SAFETY: a Proc's code is registered.
        let q = unsafe { &*(p.iseq as *const ISeq) };
        let own = self.block_value(r.block);
        let r = Ready { block: p.block, own, ..r };
        self.push_code(q, r, cref, p.env, p.home, Strict::Yes, ff::BLOCK | ff::LAMBDA | ff::BMETHOD)
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
            if let Some(i) = self.heap.shapes.slot(o.hdr.aux, name) {
                self.hot[m as usize].seen.store((o.hdr.aux as u64) << 32 | (i + 1) as u64, Relaxed);
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

/// A block about to be entered.
struct Proto4<'a> {
    q: &'a ISeq,
    cref: Value,
    env: Value,
    parent: Value,
    flags: u64,
}

/// Name under which `super` goes on: the one the method was defined with.
fn e_name(cx: &Cx, m: u32) -> Sym {
    cx.methods[m as usize].called
}
