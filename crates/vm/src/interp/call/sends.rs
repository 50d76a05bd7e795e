//! Calls by name from instructions: `Send` and `Super` when their inline caches do not answer.
//!
//! **Invariant.** A cache word is filled only with a method that any caller in this place may run with the fast path: public
//! or without a receiver, found without refinements, and with its hot row filled before.

use super::Missing;
use crate::Cx;
use crate::doors::NO_METHOD;
use crate::doors::*;
use crate::tasks::frame::{Fp, ff, literal_block, literal_parts};
use crate::tasks::outcome::Outcome;
use crate::world::hot::hit;
use crate::world::method::{Body, Special};
use kumi_bytecode::{CallSite, ISeq, Insn, site};
use kumi_heap::*;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

impl Cx {
    #[cold]
    #[inline(never)]
    pub(crate) fn send_slow(&mut self, i: Insn, cache: &AtomicU64) -> Outcome {
        let fp = self.fp();
        let s = &fp.iseq().sites[i.c()];
        if let Some(f) = self.block_arg_ready(fp, s, i.b(), 2) {
            return f;
        }
        let recv = fp.r(i.b());
        let class = self.class_of(recv);
        let w = cache.load(Acquire);
        if hit(w, class) {
            // Looked up before; only the arguments or the callee need the general path.
            if !s.kw.is_empty() {
                if let Some(f) = self.keyword_call(fp, s, i, w as u32) {
                    return f;
                }
            }
            let r = self.gather(fp, s, i.b()).ready(recv, i.a());
            return self.dispatch(w as u32, r);
        }
        // Read before the search: what changes meanwhile makes the entry stale, not wrong.
        let serial = class.serial.get();
        let (m, cacheable) = self.lookup_in(fp, class, s.mid);
        let ready = self.gather(fp, s, i.b()).ready(recv, i.a());
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
        let m = self.method_to_call(class, m);
        if !ready.block.is_nil()
            && let Some(f) = self.tell_unused_block(fp, m)
        {
            return f;
        }
        if cacheable && self.heat(m) {
            cache.store((serial as u64) << 32 | m as u64, Release);
        }
        self.dispatch(m, ready)
    }
    /// A call with static keywords to code that takes just those: values go straight to their registers.
    fn keyword_call(&mut self, fp: Fp, s: &CallSite, i: Insn, m: u32) -> Option<Outcome> {
        let e = &self.methods[m as usize];
        if e.native.is_some() || e.ruby2_keywords {
            return None;
        }
        if matches!(e.body, Body::Special(Special::ProcCall)) && s.block.is_none() {
            return self.keyword_yield(fp, s, i, fp.r(i.b()));
        }
        let (q, cref) = e.code()?;
        let q: *const ISeq = &**q;
        let block = s.block.map_or(Value::NIL, |child| literal_block(self.slot_of(fp), child));
        // SAFETY: a method keeps its code (see `tables`).
        let callee = Callee { q: unsafe { &*q }, recv: fp.r(i.b()), cref, env: Value::NIL, block, parent: Value::NIL, flags: 0 };
        self.push_keywords(fp, s, i, callee)
    }
    /// The same for the block of a `yield`, or a Proc that is called.
    pub(super) fn keyword_yield(&mut self, fp: Fp, s: &CallSite, i: Insn, blk: Value) -> Option<Outcome> {
        let (q, recv, cref, env, block, parent, flags): (*const ISeq, _, _, _, _, _, _) = if blk.is_fix() {
            let (off, child) = literal_parts(blk);
            let home = self.frame_at(off);
            let q = &*home.iseq().children[child];
            (q, home.r(0), home.cref(), home.env(), home.block(), Value::fix(off as i64), ff::BLOCK)
        } else {
            let p = blk.as_proc().filter(|p| p.iseq != 0 && p.hdr.x.get() & ProcObj::RUBY2_KEYWORDS == 0)?;
            let flags = ff::BLOCK | if p.is_lambda() { ff::LAMBDA } else { 0 };
            (p.iseq as *const ISeq, p.self_val, p.cref, p.env, p.block, p.home, flags)
        };
        // SAFETY: children live as long as their parent, and a Proc's code is registered.
        let q = unsafe { &*q };
        if q.params.excess_comma {
            return None;
        }
        self.push_keywords(fp, s, i, Callee { q, recv, cref, env, block, parent, flags })
    }
    /// Pushes the frame of such a call over its window. `None`: the parameters want more than that.
    fn push_keywords(&mut self, fp: Fp, s: &CallSite, i: Insn, c: Callee<'_>) -> Option<Outcome> {
        if s.flags & (site::SPLAT | site::KWSPLAT | site::BLOCK_ARG) != 0 || s.kw.len() > 16 {
            return None;
        }
        let (q, p) = (c.q, &c.q.params);
        if self.trace.on && q.system {
            return None;
        }
        let req = p.req as usize;
        if req != s.argc as usize || !p.opt.is_empty() || p.rest || p.post > 0 || p.kwrest || p.kw.is_empty() {
            return None;
        }
        let b = i.b();
        let given = fp.slice(b + 1 + req, s.kw.len());
        let mut values = [Value::UNDEF; 32];
        let out = values.get_mut(..p.kw.len())?;
        let mut used = 0;
        for (slot, (name, required)) in out.iter_mut().zip(p.kw.iter()) {
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
        let n = p.kw.len();
        if !self.has_room(fp, b + q.nregs as usize) && !self.grow_stack(b + q.nregs as usize) {
            return Some(self.stack_overflow());
        }
        let nf = self.fp().add(b);
        nf.set_link(b, i.a(), c.flags | self.trace.entry);
        nf.set_iseq(q);
        nf.set_ret(self.pc);
        nf.set_cref(c.cref);
        nf.set_block(c.block);
        nf.set_env(c.env);
        if c.flags & ff::BLOCK != 0 {
            nf.set_parent(c.parent);
            nf.set_r(0, c.recv);
        }
        for (k, v) in values[..n].iter().enumerate() {
            nf.set_r(1 + req + k, *v);
        }
        nf.nil_fill(1 + req + n, q.nregs as usize);
        self.fp = nf.0;
        self.pc = q.code.as_ptr();
        Some(if self.heap.poll.load(Relaxed) { self.safepoint() } else { Outcome::Go })
    }
    #[cold]
    #[inline(never)]
    pub(crate) fn super_slow(&mut self, i: Insn, _cache: &AtomicU64) -> Outcome {
        let fp = self.fp();
        let s = &fp.iseq().sites[i.c()];
        if let Some(f) = self.block_arg_ready(fp, s, i.b(), 2) {
            return f;
        }
        let recv = fp.r(0);
        let mut ready = self.gather(fp, s, i.b()).ready(recv, i.a());
        if s.block.is_none() && s.flags & site::BLOCK_ARG == 0 {
            ready.block = self.method_block(fp);
        }
        let Some(m) = self.current_method(fp) else {
            let e = self.runtime_error("super called outside of method");
            return self.leaf_exit(e, i.a());
        };
        let e = &self.methods[m as usize];
        // Under the name the method was defined with, also in an alias.
        let (owner, name) = (e.owner, e.name);
        if s.flags & site::ZSUPER != 0 && matches!(e.body, Body::Proc(_)) {
            let e = self.runtime_error(
                "implicit argument passing of super from method defined by define_method() is not supported. Specify all arguments explicitly.",
            );
            return self.leaf_exit(e, i.a());
        }
        let class = self.class_of(recv);
        let next = match owner.data.refined {
            // super in a refinement: the refined class's own method.
            Some(refined) => {
                let beyond = self.refined_beyond(fp, class, refined, name);
                let up = beyond.unwrap_or_else(|| self.refined_class_method(class, refined, name));
                if up == NO_METHOD { self.find_method(class, name) } else { up }
            }
            None if owner.is_class() && !class.data.mro.contains(&owner) => {
                let (is, expected) = (self.class_name(class), self.class_name(owner));
                let x = self.type_error(&format!("self has wrong type to call super in this context: {is} (expected {expected})"));
                return self.leaf_exit(x, i.a());
            }
            None => {
                let n = self.refined_super(fp, class, m, name).unwrap_or_else(|| self.next_method(class, m, name));
                if n == NO_METHOD && !class.data.mro.contains(&owner) { self.find_method(class, name) } else { n }
            }
        };
        if next == NO_METHOD {
            return self.method_missing(name, Missing::Super, ready);
        }
        let next = self.method_to_call(class, next);
        self.dispatch(next, ready)
    }
    /// The method whose body (or block within) `fp` runs.
    pub(crate) fn current_method(&self, fp: Fp) -> Option<u32> {
        let mut c = fp.cref().cell::<CrefObj>();
        while let Some(x) = c {
            if x.hdr.aux.get() != CrefObj::NO_METHOD {
                return Some(x.hdr.aux.get());
            }
            if x.hdr.x.get() & CrefObj::NO_CONST == 0 {
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
}

/// What is about to get a frame.
struct Callee<'a> {
    q: &'a ISeq,
    recv: Value,
    cref: Value,
    env: Value,
    block: Value,
    parent: Value,
    flags: u64,
}
