//! Calls of blocks, in all their kinds: block words, Procs with and without code, bodies of `define_method`, and with
//! another self.
//!
//! **Invariant.** A block given to a block's call is its own `&blk` parameter; `yield` in it means the block of the method
//! that it was written in.

use super::Missing;
use crate::doors::NO_METHOD;
use crate::doors::ResolvedCall;
use crate::doors::*;
use crate::interp::binder::Strict;
use crate::tasks::frame::{ff, literal_parts};
use crate::tasks::outcome::Outcome;
use crate::{Cx, sym};
use kumi_bytecode::{ISeq, Insn};
use kumi_heap::*;

impl Cx {
    #[inline(never)]
    pub(crate) fn yield_slow(&mut self, i: Insn) -> Outcome {
        let fp = self.fp();
        let s = &fp.iseq().sites[i.c()];
        let blk = fp.block();
        if i.x() < 0x80
            && let Some(mid) = blk.as_sym()
            && let Some(f) = self.yield_to_native(mid, i, s.argc as usize)
        {
            return f;
        }
        if !s.kw.is_empty()
            && (blk.is_fix() || blk.as_proc().is_some())
            && let Some(f) = self.keyword_yield(fp, s, i, blk)
        {
            return f;
        }
        let r = ResolvedCall { block: Value::NIL, ..self.gather(fp, s, i.b()).ready(Value::NIL, i.a()) };
        if blk.is_nil() {
            let e = self.make_exc(self.k.local_jump_error, "no block given (yield)");
            let reason = self.sym("noreason");
            self.ivar_set(e, sym::IV_REASON, reason);
            let x = self.raise(e);
            return self.leaf_exit(x, i.a());
        }
        self.call_block_word(blk, None, r)
    }
    /// `yield` to the block `&:name` where a native answers to the name: it reads its arguments where they stand. `None`: it is
    /// a call like any other.
    fn yield_to_native(&mut self, mid: Sym, i: Insn, argc: usize) -> Option<Outcome> {
        if argc == 0 || self.trace.on || self.twins {
            return None;
        }
        let fp = self.fp();
        let recv = fp.r(i.b() + 1);
        let class = self.class_of(recv);
        let m = self.find_method(class, mid);
        if m == NO_METHOD {
            return None;
        }
        let e = &self.methods[m as usize];
        let (f, guard) = (e.native?, e.guard);
        let given = argc - 1;
        if e.vis != Vis::Public || given < e.min as usize || (e.max >= 0 && given > e.max as usize) {
            return None;
        }
        Some(match self.run_native(f, guard, recv, fp.slice(i.b() + 2, given)) {
            Ok(v) => self.deliver(v, i.a(), 0),
            Err(x) => {
                let args = Args::from_slice(self.fp().slice(i.b() + 2, given));
                let r = ResolvedCall::new(recv, args, i.a(), 0);
                self.native_exit_general(x, m, r)
            }
        })
    }
    /// Calls a block word. `self_val`: another self (instance_exec).
    pub(crate) fn call_block_word(&mut self, blk: Value, self_val: Option<Value>, r: ResolvedCall) -> Outcome {
        if blk.is_fix() {
            let (off, child) = literal_parts(blk);
            let home = self.frame_at(off);
            let q: *const ISeq = &*home.iseq().children[child];
            let (cref, env, outer) = (home.cref(), home.env(), home.block());
            let r = ResolvedCall { recv: self_val.unwrap_or(home.r(0)), block: outer, ..r };
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
            let mut r = ResolvedCall { recv: self_val.unwrap_or(p.self_val), block: p.block, ..r };
            r.own = self.block_value(own);
            if p.hdr.x.get() & ProcObj::RUBY2_KEYWORDS != 0 {
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
                    _ => Missing::hidden(self.methods[m as usize].vis),
                };
                return self.method_missing(mid, why, r);
            }
            let m = self.method_to_call(class, m);
            return self.dispatch(m, r);
        }
        // A Method object or anything else callable.
        let block = r.block;
        self.do_call(
            Call { kw: r.kw, kw_own: r.kw_own, block, fcall: false, ..Call::new(Target::Name(sym::CALL), blk, r.args) },
            r.dst,
            r.flags,
        )
    }
    /// Enters a block that takes apart a single array-like argument.
    fn auto_splat(&mut self, q: &ISeq, r: ResolvedCall, cref: Value, env: Value, parent: Value, flags: u64) -> Outcome {
        let p = &q.params;
        let min = (p.req + p.post) as usize;
        let max = min + p.opt_count() as usize;
        let several = p.excess_comma || (min > 0 && (max > 1 || p.rest)) || p.opt_count() > 1;
        if r.args.len() == 1
            && (r.kw.is_undef() || r.kw.as_hash().is_some_and(|h| h.h.len() == 0))
            && r.args[0].is_heap()
            && !r.args[0].is_kind(Kind::Array)
            && several
        {
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
    fn auto_splat_helper(&mut self, b: Proto4<'_>, r: ResolvedCall) -> Outcome {
        let mut hdr = Header::new(self.k.proc_class.val(), Kind::Proc);
        hdr.x.put(if b.flags & ff::LAMBDA != 0 { ProcObj::LAMBDA } else { 0 });
        let home = if b.parent.is_fix() { self.home_for(b.parent.fix_val() as usize, u32::MAX) } else { b.parent };
        let block = self.block_value(r.block);
        let p = self.heap.proc(ProcObj { hdr, iseq: b.q as *const ISeq as u64, self_val: r.recv, env: b.env, cref: b.cref, block, home });
        let name = self.intern("splat_call");
        self.do_call(Call::new(Target::Helper(name), Value::NIL, Args::from_slice(&[p.val(), r.args[0]])), r.dst, r.flags)
    }
    /// Calls a closure whose one argument stays whole.
    pub(super) fn call_plain(&mut self, prc: Value, r: ResolvedCall) -> Outcome {
        let Some(p) = prc.as_proc().filter(|p| p.iseq != 0) else { return self.call_block_word(prc, None, r) };
        // SAFETY: a Proc's code is registered.
        let q = unsafe { &*(p.iseq as *const ISeq) };
        let r = ResolvedCall { recv: p.self_val, block: p.block, ..r };
        self.push_code(q, r, p.cref, p.env, p.home, Strict::No, ff::BLOCK)
    }
    /// A Proc without code: made from a Symbol or a Method.
    fn call_foreign(&mut self, p: Gc<ProcObj>, r: ResolvedCall) -> Outcome {
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
        self.do_call(Call { kw: r.kw, kw_own: r.kw_own, block, ..Call::new(Target::Name(sym::CALL), p.self_val, r.args) }, r.dst, r.flags)
    }
    /// Calls a block with another self and place for definitions (instance_eval and friends).
    pub(super) fn call_proc_self(&mut self, prc: Value, definee: Value, eval: bool, r: ResolvedCall) -> Outcome {
        let (q, place, env, outer_block, home, lambda): (*const ISeq, _, _, _, _, _) = if prc.is_fix() {
            let (off, child) = literal_parts(prc);
            let f = self.frame_at(off);
            (&*f.iseq().children[child], f.cref(), f.env(), f.block(), Value::fix(off as i64), false)
        } else if let Some(p) = prc.as_proc() {
            if p.iseq == 0 {
                let mut r = r;
                if r.args.is_empty() {
                    let recv = r.recv;
                    r.args.push(recv);
                }
                return self.call_foreign(p, r);
            }
            let lambda = p.is_lambda() && p.hdr.x.get() & ProcObj::FROM_METHOD == 0;
            (p.iseq as *const ISeq, p.cref, p.env, p.block, p.home, lambda)
        } else {
            return self.call_block_word(prc, Some(r.recv), r);
        };
        // SAFETY: children live as long as their parent, and a Proc's code is registered.
        let q = unsafe { &*q };
        let cref = self.new_cref(Value::NIL, place, CrefObj::NO_METHOD, CrefObj::NO_CONST | CrefObj::PUBLIC);
        let outer = place.cell::<CrefObj>();
        match definee.as_class() {
            Some(c) if eval => {
                self.heap.before_store(cref.val(), c.val());
                self.heap.edit(cref).module = c.val();
                if let Some(refined) = c.data.refined {
                    // Inside `refine` the refinement is active already.
                    let list = self.refinements_inside(refined, c, cref.refinements);
                    self.heap.before_store(cref.val(), list);
                    self.heap.edit(cref).refinements = list;
                }
            }
            _ => {
                let module = outer.map_or(Value::NIL, |o| o.module);
                self.heap.before_store(cref.val(), module);
                self.heap.before_store(cref.val(), definee);
                self.heap.edit(cref).module = module;
                self.heap.edit(cref).definee = definee;
            }
        }
        let own = self.block_value(r.block);
        let r = ResolvedCall { block: outer_block, own, ..r };
        let flags = ff::BLOCK | if lambda { ff::LAMBDA } else { 0 };
        if lambda {
            return self.push_code(q, r, cref.val(), env, home, Strict::Yes, flags);
        }
        self.auto_splat(q, r, cref.val(), env, home, flags)
    }
    /// Body of a define_method method.
    pub(super) fn call_bmethod(&mut self, prc: Value, cref: Value, r: ResolvedCall) -> Outcome {
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
        let r = ResolvedCall { block: p.block, own, ..r };
        self.push_code(q, r, cref, p.env, p.home, Strict::Yes, ff::BLOCK | ff::LAMBDA | ff::BMETHOD)
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
