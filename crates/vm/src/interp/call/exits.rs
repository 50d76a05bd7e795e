//! What a native asked for instead of returning a value.
//!
//! **Invariant.** An [`Exit`]'s details stand in `pending`, and are taken exactly once. A call that is to be made again keeps
//! its arguments: in their window when the instruction is executed again, in the task otherwise.

use crate::Cx;
use crate::doors::NO_METHOD;
use crate::doors::ResolvedCall;
use crate::doors::*;
use crate::tasks::frame::ff;
use crate::tasks::outcome::Outcome;
use crate::world::method::Body;
use kumi_bytecode::{Insn, Op};
use kumi_heap::*;
use std::sync::atomic::Ordering::Relaxed;

impl Cx {
    /// A native called by the fast path did not return a value.
    #[cold]
    #[inline(never)]
    pub(crate) fn native_exit(&mut self, x: Exit, i: Insn, m: u32, block: Value) -> Outcome {
        self.heap.end_place();
        if x == Exit::Park || x == Exit::Again && self.detour.is_waiting() {
            // The arguments still stand in their window: the instruction is executed again.
            // SAFETY: a call has two words, and the last one was read.
            self.pc = unsafe { self.pc.sub(2) };
            return self.suspend_here(x, 2);
        }
        if x == Exit::Switch {
            return self.switch_now(i.a(), 0);
        }
        let fp = self.fp();
        let argc = (i.x() & 0x7f) as usize;
        let args = Args::from_slice(fp.slice(i.b() + 1, argc));
        let r = ResolvedCall { block, ..ResolvedCall::new(fp.r(i.b()), args, i.a(), 0) };
        self.native_exit_general(x, m, r)
    }
    /// What a native asked for instead of returning a value.
    pub(crate) fn native_exit_general(&mut self, x: Exit, m: u32, r: ResolvedCall) -> Outcome {
        self.heap.end_place();
        match x {
            Exit::Raise => {
                self.raising_native = self.framed(m);
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
                self.behalf = m;
                self.do_call(
                    Call { block: r.block, ..Call::new(Target::Helper(name), Value::NIL, Args::from_slice(&args)) },
                    r.dst,
                    r.flags | ff::BEHALF,
                )
            }
            Exit::Call => match self.pending.call.take() {
                Some(c) => {
                    self.behalf = m;
                    let behalf = if matches!(c.target, Target::Helper(_)) { ff::BEHALF } else { 0 };
                    self.do_call(c, r.dst, r.flags | behalf)
                }
                None => Outcome::Go,
            },
            Exit::Again | Exit::Park => {
                let again = Call { kw: r.kw, block: r.block, ..Call::new(Target::Method(m), r.recv, r.args) };
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
    pub(crate) fn leaf_exit(&mut self, x: Exit, a: usize) -> Outcome {
        self.leaf_exit_to(x, a, 0)
    }
    #[cold]
    #[inline(never)]
    pub(crate) fn leaf_exit_drop(&mut self, x: Exit) -> Outcome {
        self.leaf_exit_to(x, 0, ff::DISCARD)
    }
    pub(crate) fn leaf_exit_to(&mut self, x: Exit, a: usize, flags: u64) -> Outcome {
        self.heap.end_place();
        match x {
            Exit::Raise => {
                let e = std::mem::replace(&mut self.pending.exc, Value::NIL);
                self.raise_exc(e)
            }
            Exit::Call => match self.pending.call.take() {
                Some(c) => self.do_call(c, a, flags),
                None => Outcome::Go,
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
                // SAFETY: the instruction that runs ends before pc.
                let i = Insn(unsafe { (*self.pc.sub(1)).load(Relaxed) });
                if i.original().op() != Op::Intrinsic {
                    let e = self.type_error("wrong argument for an internal operation");
                    return self.leaf_exit_to(e, a, flags);
                }
                let reg = i.b() + k as usize;
                let v = self.fp().r(reg);
                // SAFETY: as above; it has one word.
                self.pc = unsafe { self.pc.sub(1) };
                let name = self.intern("convert_arg");
                self.do_call(Call::new(Target::Helper(name), Value::NIL, Args::from_slice(&[v, Value::fix(proto as i64)])), reg, 0)
            }
            Exit::Again | Exit::Park => {
                // SAFETY: the instruction that runs ends before pc and has one word.
                self.pc = unsafe { self.pc.sub(1) };
                self.suspend_here(x, 1)
            }
        }
    }
}
