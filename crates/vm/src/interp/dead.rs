//! Registers that are certainly dead, emptied before a collection, so that what a finished call left there is not kept.
//!
//! A stack is marked by whole frames. Most of what is dead in them lies where calls have been: a call window and all above
//! it belong to the callee (`bytecode`: *call window*), so nothing there but the call's own result is read afterwards. That
//! tells what is dead at an instruction, however it is come to:
//! - before it stands a call with its window at `R[b]` and its result in `R[a]`: all from `b` on, and its frame header below, but `a`;
//! - it is a call itself: all above its arguments.
//!
//! Invariant: only at a stop, on stacks whose frames have been shown (`task.base`, `task.pc`). What is not known to be
//! dead stays.

use super::frame::{Fp, extent, ff};
use crate::bytecode::{HEADER, Op};
use crate::iseq::ISeq;
use crate::task::Task;
use kumi_heap::Value;

/// Frames of a task that are looked at, from the innermost on.
const FRAMES: usize = 64;

/// Where dead registers begin at `pc`, and one beyond that lives all the same.
fn dead_from(q: &ISeq, pc: u64) -> (usize, usize) {
    let (mut from, mut but) = (q.nregs as usize, usize::MAX);
    if let Some(at) = q.start_of(pc) {
        let i = q.insn(at).original();
        if matches!(i.op(), Op::Send | Op::Super | Op::Yield) && at + 1 + i.op().cached() as usize == q.index_of(pc) {
            (from, but) = (i.b().saturating_sub(HEADER as usize), i.a());
        }
    }
    let mut at = q.index_of(pc);
    for _ in 0..4 {
        let Some(w) = q.code.get(at) else { break };
        let i = crate::bytecode::Insn(w.load(std::sync::atomic::Ordering::Relaxed)).original();
        match i.op() {
            Op::Jmp => match (at as i64 + 1).checked_add(i.bc() as i64).and_then(|to| usize::try_from(to).ok()) {
                Some(to) => at = to,
                None => break,
            },
            Op::Send if i.x() != 0xff => {
                from = from.min(i.b() + 1 + (i.x() & 0x7f) as usize);
                break;
            }
            _ => break,
        }
    }
    (from, but)
}

impl ISeq {
    fn index_of(&self, pc: u64) -> usize {
        (pc.wrapping_sub(self.code.as_ptr() as u64) / 8) as usize
    }
}

impl Task {
    /// See the module.
    pub(crate) fn empty_dead_registers(&mut self) {
        let Some(top) = self.parked_frame() else { return };
        let end = extent(&self.stack, top);
        let start = self.stack.start_ptr() as usize;
        let slot = |f: Fp| (f.0 as usize - start) / 8;
        // Above the innermost frame lies what its callers had in windows that it was built in.
        let (mut f, mut pc, mut limit) = (top, self.pc as u64, end);
        let own = slot(f) + f.iseq().nregs as usize;
        for i in own..end {
            f.set_r(i - slot(f), Value::NIL);
        }
        for _ in 0..FRAMES {
            let q = f.iseq();
            let regs = (q.nregs as usize).min(limit.saturating_sub(slot(f)));
            let (from, but) = dead_from(q, pc);
            for r in from.max(1)..regs {
                if r != but {
                    f.set_r(r, Value::NIL);
                }
            }
            if f.flags() & ff::FINISH != 0 {
                return;
            }
            limit = slot(f).saturating_sub(HEADER as usize);
            pc = f.ret() as u64;
            f = f.prev();
        }
    }
}
