//! Bodies of the instructions that make a value: the loop runs them as they stand, and `alloc_sites` where what they make is to be
//! born elsewhere.
//!
//! **Invariant.** `cx.pc` and `cx.fp` are saved, for making a cell charges the heap. None of them comes to a safepoint.

use crate::Cx;
use crate::doors::R;
use crate::tasks::frame::Fp;
use kumi_bytecode::{Insn, Op};
use kumi_heap::Value;

/// The value of such an instruction, which goes to `R[a]`; undef: it is none of them. The loop names the operation by a constant,
/// of which only that one arm is left.
#[inline(always)]
pub(super) fn make(cx: &mut Cx, fp: Fp, op: Op, i: Insn) -> R {
    let (b, c) = (i.b(), i.c());
    match op {
        Op::Str => Ok(cx.fresh_string(fp.iseq(), i.bc() as usize)),
        Op::Array => Ok(cx.heap.array(cx.k.array.val(), fp.slice(b, c)).val()),
        Op::Hash => cx.hash_literal(fp.slice(b, c)),
        Op::Range => cx.range_literal(fp.r(b), fp.r(c), i.x() != 0),
        Op::Concat => cx.concat_strings(fp.slice(b, c), i.x() != 0),
        Op::Closure => Ok(cx.make_closure(fp, b as u16, i.x() != 0)),
        Op::BlockProc => Ok(cx.block_proc(fp)),
        Op::ArrRest => Ok(cx.array_rest(fp.r(b), c, i.x() as usize)),
        Op::NthRef => cx.nth_ref(i.bc()),
        Op::BackRef => cx.back_ref(i.x()),
        _ => Ok(Value::UNDEF),
    }
}

/// The frame's environment, of so many slots.
#[inline(always)]
pub(super) fn make_env(cx: &mut Cx, fp: Fp, i: Insn) {
    let e = cx.heap.env(fp.env(), i.a() as u32);
    fp.set_env(e.val());
}
