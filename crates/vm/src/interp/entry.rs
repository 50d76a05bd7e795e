//! Methods and blocks that the loop enters by itself.
//!
//! **Invariant.** The arguments stand in the window where the parameters are going to be, so that entering writes the frame's
//! header, and nil into the registers behind them.

use crate::Cx;
use crate::tasks::frame::{Fp, ff};
use crate::world::hot::{Hot, HotKind};
use kumi_bytecode::{ISeq, Insn};
use kumi_heap::*;
use std::sync::atomic::AtomicU64;

/// How a method is entered.
pub(super) struct Entry {
    pub block: Value,
    pub flags: u64,
    /// How many arguments stand in the window.
    pub argc: usize,
    /// The first instruction for so many.
    pub start: *const AtomicU64,
}

/// What a block's frame takes from where the block was made.
pub(super) struct Outer {
    pub self_val: Value,
    pub block: Value,
    pub env: Value,
    /// The defining frame: its slot, or a Home cell.
    pub home: Value,
    pub flags: u64,
}

/// The frame of what instruction `i` calls, linked to the running one. `None`: the stack's limit is reached.
#[inline(always)]
fn frame_above(cx: &mut Cx, fp: &mut Fp, pc: *const AtomicU64, i: Insn, h: &Hot, flags: u64) -> Option<Fp> {
    let b = i.b();
    let mut nf = fp.add(b);
    if !cx.has_room(nf, h.nregs as usize) {
        cx.pc = pc;
        cx.fp = fp.0;
        if !cx.grow_stack(b + h.nregs as usize) {
            return None;
        }
        *fp = Fp(cx.fp);
        nf = fp.add(b);
    }
    nf.set_link(b, i.a(), flags);
    nf.set_iseq(h.iseq);
    nf.set_ret(pc);
    nf.set_cref(h.cref);
    Some(nf)
}

/// Enters a method, whose receiver stands before its arguments. False: the stack's limit is reached.
#[inline(always)]
pub(super) fn enter_method(cx: &mut Cx, fp: &mut Fp, pc: &mut *const AtomicU64, i: Insn, h: &Hot, at: Entry) -> bool {
    let Some(nf) = frame_above(cx, fp, *pc, i, h, at.flags) else { return false };
    nf.set_block(at.block);
    nf.set_env(Value::NIL);
    nf.nil_fill(at.argc + 1, h.nregs as usize);
    *fp = nf;
    *pc = at.start;
    true
}

/// Enters a block. False: the stack's limit is reached.
#[inline(always)]
pub(super) fn enter_block(cx: &mut Cx, fp: &mut Fp, pc: &mut *const AtomicU64, i: Insn, h: &Hot, at: Outer) -> bool {
    let Some(nf) = frame_above(cx, fp, *pc, i, h, at.flags) else { return false };
    nf.set_block(at.block);
    nf.set_env(at.env);
    nf.set_parent(at.home);
    nf.set_r(0, at.self_val);
    nf.nil_fill(h.argc as usize + 1, h.nregs as usize);
    *fp = nf;
    *pc = h.code;
    true
}

impl Cx {
    /// How to enter a Proc of code whose arguments fit as they are; `None`: the general way.
    #[inline]
    pub(super) fn proc_entry(&self, blk: Value, argc: usize) -> Option<(Hot, Outer)> {
        let p = blk.as_proc()?;
        if p.iseq == 0 || p.hdr.x.get() & ProcObj::RUBY2_KEYWORDS != 0 {
            return None;
        }
        // SAFETY: a Proc keeps its code (see `tables`).
        let q = unsafe { &*(p.iseq as *const ISeq) };
        if !q.simple || q.params.block || argc != q.params.req as usize || argc == 1 && q.params.excess_comma {
            return None;
        }
        let hot =
            Hot { kind: HotKind::Simple, argc: argc as u16, nregs: q.nregs, code: q.code.as_ptr(), iseq: q, cref: p.cref, ..Hot::unset() };
        let flags = ff::BLOCK | if p.is_lambda() { ff::LAMBDA } else { 0 };
        Some((hot, Outer { self_val: p.self_val, block: p.block, env: p.env, home: p.home, flags }))
    }
}
