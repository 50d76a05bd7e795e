//! From a method and a call to what runs: natives at once, code in a frame of its own.
//!
//! **Invariant.** A native runs with no block and with as many arguments as its row allows; everything else goes to its
//! body, the twin. A frame is pushed above the registers of the frame that calls, so that a window keeps its values.

use super::Missing;
use crate::doors::NO_METHOD;
use crate::doors::ResolvedCall;
use crate::doors::*;
use crate::interp::binder::Strict;
use crate::tasks::frame::ff;
use crate::tasks::outcome::Onward;
use crate::tasks::outcome::Outcome;
use crate::trace::After;
use crate::world::hot::decoded;
use crate::world::method::Body;
use crate::{Cx, sym};
use kumi_bytecode::{HEADER, ISeq};
use kumi_heap::*;
use std::sync::atomic::Ordering::Relaxed;

/// How many natives may call natives on the native stack; what comes deeper is left to the loop.
const NESTED: u32 = 32;

impl Cx {
    /// Calls method `m`.
    pub(crate) fn dispatch(&mut self, m: u32, r: ResolvedCall) -> Outcome {
        if self.nested >= NESTED {
            return self.then(Onward::Dispatch(m, Box::new(r)));
        }
        self.nested += 1;
        let f = self.dispatch_now(m, r);
        self.nested -= 1;
        f
    }
    #[inline]
    fn dispatch_now(&mut self, m: u32, r: ResolvedCall) -> Outcome {
        if self.trace.on {
            return match self.trace_dispatch(m, r) {
                Ok(f) => f,
                Err(r) => self.dispatch_untraced(m, r),
            };
        }
        self.dispatch_untraced(m, r)
    }
    /// The same without events.
    #[inline]
    pub(crate) fn dispatch_untraced(&mut self, m: u32, mut r: ResolvedCall) -> Outcome {
        let e = &self.methods[m as usize];
        if self.twins && e.native.is_some() && self.prefers_twin(m) {
            return self.dispatch_body(m, r);
        }
        let e = &self.methods[m as usize];
        if let Some(f) = e.native {
            // A native never sees a block: its twin does.
            if !r.block.is_nil() && !matches!(e.body, Body::Native) {
                return self.dispatch_body(m, r);
            }
            let (min, max, g, twin) = (e.min as usize, e.max, e.guard, !matches!(e.body, Body::Native));
            kumi_budget::ask(r.args.len() * size_of::<Value>());
            let mut nargs = r.args.clone();
            let mut keywords = false;
            if let Some(h) = r.kw.as_hash().filter(|h| h.h.len() > 0) {
                let own = if r.kw_own { r.kw } else { self.hash_dup(h) };
                nargs.push(own);
                keywords = true;
            }
            if nargs.len() < min || (max >= 0 && nargs.len() > max as usize) {
                // The twin may take what the native cannot (keywords).
                if twin {
                    return self.dispatch_body(m, r);
                }
                let x = self.arity_error(nargs.len(), min, (max >= 0).then_some(max as usize));
                return self.native_exit_general(x, m, r);
            }
            self.native_keywords = keywords;
            let done = self.run_native(f, g, r.recv, &nargs);
            self.native_keywords = false;
            return match done {
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
    /// `KUMI_TWIN_STRESS`: does a call from here go to the twin of native `m`?
    #[cold]
    #[inline(never)]
    pub(crate) fn prefers_twin(&self, m: u32) -> bool {
        self.methods[m as usize].has_twin() && !self.in_system()
    }
    /// The same call with its keywords as the last value, for what takes none.
    fn keywords_last(&mut self, mut r: ResolvedCall) -> ResolvedCall {
        if let Some(h) = r.kw.as_hash().filter(|h| h.h.len() > 0) {
            let own = if r.kw_own { r.kw } else { self.hash_dup(h) };
            r.args.push(own);
            r.kw = Value::UNDEF;
        }
        r
    }
    /// Runs the body of `m`, whatever native stands before it.
    pub(crate) fn dispatch_body(&mut self, m: u32, r: ResolvedCall) -> Outcome {
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
                let behalf = if r.flags & ff::BEHALF != 0 { Value::fix(self.behalf as i64) } else { Value::NIL };
                self.push_code(&q, r, cref, Value::NIL, behalf, Strict::Yes, 0)
            }
            Body::Native => {
                let x = self.no_general_form(m);
                self.leaf_exit_to(x, r.dst, r.flags)
            }
            Body::Special(s) => {
                let s = *s;
                self.call_special(s, m, r)
            }
            Body::AttrGet(_) | Body::MemberGet(_) => {
                let r = self.keywords_last(r);
                if !r.args.is_empty() {
                    let x = self.arity_error(r.args.len(), 0, Some(0));
                    return self.native_exit_general(x, m, r);
                }
                let v = match self.methods[m as usize].body {
                    Body::AttrGet(s) => self.attr_get(r.recv, s.0),
                    Body::MemberGet(k) => r.recv.cell::<StructObj>().and_then(|s| s.slots().get(k as usize)).unwrap_or(Value::NIL),
                    _ => Value::NIL,
                };
                self.deliver(v, r.dst, r.flags)
            }
            Body::AttrSet(_) | Body::MemberSet(_) => {
                let r = self.keywords_last(r);
                if r.args.len() != 1 {
                    let x = self.arity_error(r.args.len(), 1, Some(1));
                    return self.native_exit_general(x, m, r);
                }
                if let Err(x) = self.check_frozen(r.recv) {
                    return self.native_exit_general(x, m, r);
                }
                let v = r.args[0];
                match self.methods[m as usize].body {
                    Body::AttrSet(s) => self.ivar_set_locked(r.recv, s, v),
                    Body::MemberSet(k) => {
                        if let Some(s) = r.recv.cell::<StructObj>() {
                            self.heap.before_store(r.recv, v);
                            s.set(k as usize, v);
                        }
                    }
                    _ => {}
                }
                self.deliver(v, r.dst, r.flags)
            }
            Body::Indexed(x) => {
                let x = *x;
                let given = r.args.len() + r.kw.as_hash().is_some_and(|h| h.h.len() > 0) as usize;
                if given > 0 {
                    let x = self.arity_error(given, 0, Some(0));
                    return self.native_exit_general(x, m, r);
                }
                let known = if x.field { decoded(r.recv, x.index) } else { None };
                match known.map_or_else(|| (x.f)(self, r.recv, x.index), Ok) {
                    Ok(v) => self.deliver(v, r.dst, r.flags),
                    Err(x) => self.native_exit_general(x, m, r),
                }
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
    pub(super) fn no_general_form(&mut self, m: u32) -> Exit {
        let (name, owner) = (self.sym_name(self.methods[m as usize].called), self.methods[m as usize].owner);
        let on = self.class_name(owner);
        self.runtime_error(&format!("{on}#{name} has no general form for these arguments"))
    }
    /// A native's value where a frame's would have gone.
    pub(crate) fn deliver(&mut self, v: Value, dst: usize, flags: u64) -> Outcome {
        if !self.trace.due.is_empty()
            && let Some(f) = self.trace_value(v, dst, flags)
        {
            return f;
        }
        let fp = self.fp();
        if flags & ff::JUMP != 0 {
            return self.fused_jump(v);
        } else if flags & ff::DISCARD == 0 {
            fp.set_r(dst, v);
        }
        Outcome::Go
    }
    /// Pushes a frame of `q` above the running one and binds its arguments.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn push_code(
        &mut self,
        q: &ISeq,
        r: ResolvedCall,
        cref: Value,
        env: Value,
        parent: Value,
        strict: Strict,
        flags: u64,
    ) -> Outcome {
        let fp = self.fp();
        let delta = fp.iseq().nregs as usize + HEADER as usize;
        let up = delta + q.nregs as usize;
        if !self.has_room(fp, up) && !self.grow_stack(up) {
            return self.stack_overflow();
        }
        let own = (flags & ff::BLOCK != 0 && q.params.block).then_some(r.own);
        let fp = self.fp();
        let nf = fp.add(delta);
        let simple =
            q.simple && r.args.len() == q.params.req as usize && (r.kw.is_undef() || r.kw.as_hash().is_some_and(|h| h.h.len() == 0));
        nf.nil_fill(0, q.nregs as usize);
        nf.set_link(delta, r.dst, r.flags | flags | self.trace.entry);
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
            match self.bind(q, nf, r.args, r.kw, r.kw_own, strict) {
                Ok(s) => s,
                Err(x) => {
                    // The error belongs to the callee's frame in the backtrace.
                    if x == Exit::Raise {
                        self.fp = nf.0;
                        self.pc = q.code.as_ptr();
                        self.pending.unbegun = true;
                        let o = self.leaf_exit(x, 0);
                        self.pending.unbegun = false;
                        return o;
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
        if self.heap.poll.load(Relaxed) { self.safepoint() } else { Outcome::Go }
    }
    /// Performs a call that a native asked for.
    pub(crate) fn do_call(&mut self, c: Call, dst: usize, flags: u64) -> Outcome {
        if let Some(text) = self.trace.script.take() {
            let after = After::Call(Box::new((c, dst, flags)));
            return match self.trace_script(text, after) {
                Ok(f) => f,
                Err(After::Call(c)) => self.do_call(c.0, c.1, c.2),
                Err(_) => Outcome::Go,
            };
        }
        let mut flags = flags;
        if !c.result.is_undef() {
            if flags & (ff::DISCARD | ff::JUMP) == 0 {
                self.fp().set_r(dst, c.result);
            }
            flags |= ff::DISCARD;
        }
        let r = ResolvedCall { recv: c.recv, args: c.args, kw: c.kw, kw_own: c.kw_own, block: c.block, own: Value::NIL, dst, flags };
        match c.target {
            Target::Name(mid) => {
                let class = self.class_of(r.recv);
                let m = self.find_method(class, mid);
                if m == NO_METHOD {
                    return self.method_missing(mid, Missing::None, r);
                }
                let vis = self.methods[m as usize].vis;
                if !c.fcall && vis != Vis::Public {
                    return self.method_missing(mid, Missing::hidden(vis), r);
                }
                let m = self.method_to_call(class, m);
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
                self.dispatch(m, ResolvedCall { recv: h.val(), ..r })
            }
            Target::Code { iseq, cref, env, block } => {
                // SAFETY: code addresses come from registered code.
                let q = unsafe { &*(iseq as *const ISeq) };
                let r = ResolvedCall { block, ..r };
                self.push_code(q, r, cref, env, Value::NIL, Strict::Yes, 0)
            }
        }
    }
}
