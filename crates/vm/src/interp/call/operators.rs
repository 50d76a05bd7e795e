//! Operators whose operands have no fast path, and the fused jumps that wait for a comparison's answer.
//!
//! **Invariant.** Once somebody redefined an operator, all of them are `Op::Generic` in users' code (`code`), and
//! `generic_op` does by a call what the original would have done, jump included.

use super::Missing as NotFound;
use crate::doors::NO_METHOD;
use crate::doors::Ready;
use crate::doors::*;
use crate::tasks::frame::ff;
use crate::tasks::outcome::Outcome;
use crate::{Cx, sym};
use kumi_bytecode::{Insn, Op};
use kumi_heap::*;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

impl Cx {
    /// A binary operator that has no fast path for its operands.
    #[cold]
    #[inline(never)]
    pub(crate) fn binop(&mut self, dst: usize, x: Value, y: Value, mid: Sym, cache: &AtomicU64) -> Outcome {
        if let Some(v) = self.strings_equal(x, y, mid) {
            self.fp().set_r(dst, Value::bool(v));
            return Outcome::Go;
        }
        self.op_call(dst, x, &[y], mid, cache, 0)
    }
    /// `x == y` and `x != y` of two Strings that nobody else can change meanwhile. A redefinition takes back the
    /// instructions that ask here.
    #[inline(always)]
    fn strings_equal(&self, x: Value, y: Value, mid: Sym) -> Option<bool> {
        if mid != sym::EQ && mid != sym::NEQ || self.parallel {
            return None;
        }
        let (a, b) = (x.as_str()?, y.as_str()?);
        (a.hdr.class() == self.k.string.val()).then(|| self.str_eq(a, b) == (mid == sym::EQ))
    }
    /// What stands for the String literal `key` in `x[key]`: itself where `x` only looks for its equal, else a copy.
    #[cold]
    #[inline(never)]
    pub(crate) fn literal_key(&mut self, x: Value, key: Value) -> Value {
        if let Some(h) = x.as_hash()
            && h.hdr.class() == self.k.hash.val()
            && !h.h.by_identity()
            && matches!(h.h.missing(), Missing::Value(_))
            && self.builtin(x, sym::AREF)
            && self.builtin(x, sym::DEFAULT)
        {
            return key;
        }
        let Some(s) = key.as_str() else { return key };
        let (bytes, enc) = (s.bytes().to_vec(), kumi_text::EncIndex::from_u8(s.enc()));
        self.str_enc(&bytes, enc)
    }
    #[cold]
    #[inline(never)]
    pub(crate) fn unop(&mut self, dst: usize, x: Value, mid: Sym, cache: &AtomicU64) -> Outcome {
        self.op_call(dst, x, &[], mid, cache, 0)
    }
    #[cold]
    #[inline(never)]
    pub(crate) fn aset_slow(&mut self, x: Value, y: Value, v: Value, cache: &AtomicU64) -> Outcome {
        self.op_call(0, x, &[y, v], sym::ASET, cache, ff::DISCARD)
    }
    fn op_call(&mut self, dst: usize, x: Value, args: &[Value], mid: Sym, cache: &AtomicU64, flags: u64) -> Outcome {
        let class = self.class_of(x);
        let w = cache.load(Acquire);
        // Read before the search: what changes meanwhile makes the entry stale, not wrong.
        let serial = class.serial.get();
        let m = if (w >> 32) as u32 == serial {
            w as u32
        } else {
            let fp = self.fp();
            let (m, cacheable) = self.lookup_in(fp, class, mid);
            let ok = m != NO_METHOD && (self.methods[m as usize].vis == Vis::Public || fp.r(0) == x && mid != sym::NEQ || mid == sym::EQQ);
            if !ok {
                let ready = Ready::new(x, Args::from_slice(args), dst, flags);
                let why = if m == NO_METHOD { NotFound::None } else { NotFound::Private };
                return self.method_missing(mid, why, ready);
            }
            let m = self.method_to_call(class, m);
            if cacheable && self.methods[m as usize].vis == Vis::Public && self.heat(m) {
                cache.store((serial as u64) << 32 | m as u64, Release);
            }
            m
        };
        let e = &self.methods[m as usize];
        if self.twins && !self.trace.on && e.native.is_some() && self.prefers_twin(m) {
            return self.dispatch_body(m, Ready::new(x, Args::from_slice(args), dst, flags));
        }
        let e = &self.methods[m as usize];
        if let Some(f) = e.native.filter(|_| !self.trace.on) {
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
    /// A fused compare-and-jump whose comparison is a method.
    #[cold]
    #[inline(never)]
    pub(crate) fn cmp_jump_slow(&mut self, _i: Insn, x: Value, y: Value, mid: Sym, cache: &AtomicU64) -> Outcome {
        if let Some(v) = self.strings_equal(x, y, mid) {
            return self.fused_jump(Value::bool(v));
        }
        self.op_call(0, x, &[y], mid, cache, ff::JUMP)
    }
    /// Takes or does not take the fused jump just before `pc`, whose comparison gave `v`. Backwards it polls, as every jump.
    pub(crate) fn fused_jump(&mut self, v: Value) -> Outcome {
        // SAFETY: the JUMP flag is only set for an instruction of two words that ends at pc.
        let i = Insn(unsafe { (*self.pc.sub(2)).load(Relaxed) });
        let sense = if i.op() == Op::Generic { i.x() & 0x80 != 0 } else { i.x() != 0 };
        if v.truthy() == sense {
            // SAFETY: the compiler's jumps stay in the code.
            self.pc = unsafe { self.pc.offset(i.sc() as isize) };
            if i.sc() < 0 && self.heap.poll.load(Relaxed) {
                return self.safepoint();
            }
        }
        Outcome::Go
    }
    /// An operator instruction after its fast path was taken back (a user redefined it).
    #[cold]
    #[inline(never)]
    pub(crate) fn generic_op(&mut self, i: Insn, cache: &AtomicU64) -> Outcome {
        let fp = self.fp();
        let op = Op::ALL[(i.x() & 0x7f) as usize];
        let (a, b, c) = (i.a(), i.b(), i.c());
        // By a call in any case: not by a short cut of the instruction that was taken back.
        let called = |cx: &mut Cx, dst, x, y, mid, cache| cx.op_call(dst, x, &[y], mid, cache, 0);
        let jumps = |cx: &mut Cx, x, y, mid, cache| cx.op_call(0, x, &[y], mid, cache, ff::JUMP);
        let imm = || Value::fix(i.sb() as i64);
        match op {
            Op::Add => called(self, a, fp.r(b), fp.r(c), sym::PLUS, cache),
            Op::Sub => called(self, a, fp.r(b), fp.r(c), sym::MINUS, cache),
            Op::Mul => called(self, a, fp.r(b), fp.r(c), sym::MUL, cache),
            Op::Div => called(self, a, fp.r(b), fp.r(c), sym::DIV, cache),
            Op::Mod => called(self, a, fp.r(b), fp.r(c), sym::MOD, cache),
            Op::AddI => called(self, a, fp.r(b), Value::fix(i.sc() as i64), sym::PLUS, cache),
            Op::SubI => called(self, a, fp.r(b), Value::fix(i.sc() as i64), sym::MINUS, cache),
            Op::Lt => called(self, a, fp.r(b), fp.r(c), sym::LT, cache),
            Op::Le => called(self, a, fp.r(b), fp.r(c), sym::LE, cache),
            Op::Gt => called(self, a, fp.r(b), fp.r(c), sym::GT, cache),
            Op::Ge => called(self, a, fp.r(b), fp.r(c), sym::GE, cache),
            Op::Eq => called(self, a, fp.r(b), fp.r(c), sym::EQ, cache),
            Op::Neq => called(self, a, fp.r(b), fp.r(c), sym::NEQ, cache),
            Op::Shl => called(self, a, fp.r(b), fp.r(c), sym::SHL, cache),
            Op::Shr => called(self, a, fp.r(b), fp.r(c), sym::SHR, cache),
            Op::And => called(self, a, fp.r(b), fp.r(c), sym::AND, cache),
            Op::Or => called(self, a, fp.r(b), fp.r(c), sym::OR, cache),
            Op::Xor => called(self, a, fp.r(b), fp.r(c), sym::XOR, cache),
            Op::Neg => self.unop(a, fp.r(b), sym::UMINUS, cache),
            Op::Not => self.unop(a, fp.r(b), sym::NOT, cache),
            Op::Aref => {
                let key = if i.x() < 0x80 { fp.r(c) } else { self.literal_key(fp.r(b), fp.r(c)) };
                called(self, a, fp.r(b), key, sym::AREF, cache)
            }
            Op::Aset => self.aset_slow(fp.r(a), fp.r(b), fp.r(c), cache),
            Op::CaseEq => called(self, a, fp.r(b), fp.r(c), sym::EQQ, cache),
            Op::JLt => jumps(self, fp.r(a), fp.r(b), sym::LT, cache),
            Op::JLe => jumps(self, fp.r(a), fp.r(b), sym::LE, cache),
            Op::JGt => jumps(self, fp.r(a), fp.r(b), sym::GT, cache),
            Op::JGe => jumps(self, fp.r(a), fp.r(b), sym::GE, cache),
            Op::JEq => jumps(self, fp.r(a), fp.r(b), sym::EQ, cache),
            Op::JLtI => jumps(self, fp.r(a), imm(), sym::LT, cache),
            Op::JLeI => jumps(self, fp.r(a), imm(), sym::LE, cache),
            Op::JGtI => jumps(self, fp.r(a), imm(), sym::GT, cache),
            Op::JGeI => jumps(self, fp.r(a), imm(), sym::GE, cache),
            Op::JEqI => jumps(self, fp.r(a), imm(), sym::EQ, cache),
            Op::JNeI => jumps(self, fp.r(a), imm(), sym::NEQ, cache),
            _ => unreachable!("only operators are made generic"),
        }
    }
}
