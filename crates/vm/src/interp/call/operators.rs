//! Operators whose operands have no fast path, and the fused jumps that wait for a comparison's answer.
//!
//! **Invariant.** Once somebody redefined an operator, all of them are `Op::Generic` in users' code (`code`), and
//! `generic_op` does by a call what the original would have done, jump included.

use super::Missing as NotFound;
use crate::doors::NO_METHOD;
use crate::doors::ResolvedCall;
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

/// Where the operands of an operator's instruction stand.
#[derive(Clone, Copy)]
enum Form {
    /// `R[a] = R[b] op R[c]`
    Binary,
    /// `R[a] = R[b] op sc`
    Small,
    /// `R[a] = op R[b]`
    Unary,
    /// `R[a] = R[b][R[c]]`, where the key may be a literal.
    Index,
    /// `R[a][R[b]] = R[c]`
    Store,
    /// A jump by `R[a] op R[b]`.
    Jump,
    /// A jump by `R[a] op sb`.
    SmallJump,
}

/// The method that an operator's instruction stands for, and where its operands are; `None`: it is no operator.
const fn operator(op: Op) -> Option<(Sym, Form)> {
    use Form::*;
    Some(match op {
        Op::Add => (sym::PLUS, Binary),
        Op::AddI => (sym::PLUS, Small),
        Op::Sub => (sym::MINUS, Binary),
        Op::SubI => (sym::MINUS, Small),
        Op::Mul => (sym::MUL, Binary),
        Op::Div => (sym::DIV, Binary),
        Op::Mod => (sym::MOD, Binary),
        Op::Shl => (sym::SHL, Binary),
        Op::Shr => (sym::SHR, Binary),
        Op::And => (sym::AND, Binary),
        Op::Or => (sym::OR, Binary),
        Op::Xor => (sym::XOR, Binary),
        Op::Neg => (sym::UMINUS, Unary),
        Op::Not => (sym::NOT, Unary),
        Op::Aref => (sym::AREF, Index),
        Op::Aset => (sym::ASET, Store),
        Op::CaseEq => (sym::EQQ, Binary),
        Op::Lt => (sym::LT, Binary),
        Op::Le => (sym::LE, Binary),
        Op::Gt => (sym::GT, Binary),
        Op::Ge => (sym::GE, Binary),
        Op::Eq => (sym::EQ, Binary),
        Op::Neq => (sym::NEQ, Binary),
        Op::JLt => (sym::LT, Jump),
        Op::JLe => (sym::LE, Jump),
        Op::JGt => (sym::GT, Jump),
        Op::JGe => (sym::GE, Jump),
        Op::JEq => (sym::EQ, Jump),
        Op::JLtI => (sym::LT, SmallJump),
        Op::JLeI => (sym::LE, SmallJump),
        Op::JGtI => (sym::GT, SmallJump),
        Op::JGeI => (sym::GE, SmallJump),
        Op::JEqI => (sym::EQ, SmallJump),
        Op::JNeI => (sym::NEQ, SmallJump),
        _ => return None,
    })
}

/// The method that an operator's instruction stands for.
pub(in crate::interp) const fn method_of(op: Op) -> Sym {
    match operator(op) {
        Some((mid, _)) => mid,
        None => panic!("it is no operator"),
    }
}

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
        if mid != sym::EQ && mid != sym::NEQ || self.is_parallel() {
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
                let ready = ResolvedCall::new(x, Args::from_slice(args), dst, flags);
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
            return self.dispatch_body(m, ResolvedCall::new(x, Args::from_slice(args), dst, flags));
        }
        let e = &self.methods[m as usize];
        if let Some(f) = e.native.filter(|_| !self.trace.on) {
            let n = args.len();
            let guard = e.guard;
            if n >= e.min as usize && (e.max < 0 || n <= e.max as usize) {
                return match self.run_native(f, guard, x, args) {
                    Ok(v) => self.deliver(v, dst, flags),
                    Err(x2) => {
                        let ready = ResolvedCall::new(x, Args::from_slice(args), dst, flags);
                        self.native_exit_general(x2, m, ready)
                    }
                };
            }
        }
        self.dispatch(m, ResolvedCall::new(x, Args::from_slice(args), dst, flags))
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
        let Some((mid, form)) = operator(op) else { unreachable!("only operators are made generic") };
        // By a call in any case: not by a short cut of the instruction that was taken back.
        let (x, y, flags) = match form {
            Form::Binary => (fp.r(b), fp.r(c), 0),
            Form::Small => (fp.r(b), Value::fix(i.sc() as i64), 0),
            Form::Unary => return self.unop(a, fp.r(b), mid, cache),
            Form::Index if i.x() < 0x80 => (fp.r(b), fp.r(c), 0),
            Form::Index => (fp.r(b), self.literal_key(fp.r(b), fp.r(c)), 0),
            Form::Store => return self.aset_slow(fp.r(a), fp.r(b), fp.r(c), cache),
            Form::Jump => (fp.r(a), fp.r(b), ff::JUMP),
            Form::SmallJump => (fp.r(a), Value::fix(i.sb() as i64), ff::JUMP),
        };
        self.op_call(if flags == 0 { a } else { 0 }, x, &[y], mid, cache, flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quick_instruction_has_a_method_and_no_other_does() {
        for op in Op::ALL {
            assert_eq!(op.is_quick(), operator(*op).is_some(), "{op:?}");
        }
    }
}
