//! Registers that are certainly dead, emptied before a collection, so that what a finished call left there is not kept.
//!
//! A stack is marked by whole frames. Most of what is dead in them lies where calls have been: a register window and all above
//! it belong to the callee (`bytecode`: *register window*), so nothing there but the call's own result is read afterwards. That
//! tells what is dead at an instruction, however it is come to:
//! - before it stands a call with its window at `R[b]` and its result in `R[a]`: all from `b` on, and its frame header below, but `a`;
//! - what runs next reads certain registers before it comes to a call: for the innermost frame the code is followed.
//!
//! Invariant: only at a stop, on stacks whose frames have been shown (`task.base`, `task.pc`). What is not known to be
//! dead stays.

use crate::tasks::frame::{Fp, extent, ff};
use crate::tasks::task::Task;
use kumi_bytecode::{HEADER, ISeq, Insn, MatchSlot, Op};
use kumi_heap::Value;
use rustc_hash::FxHashMap;
use std::sync::atomic::Ordering::Relaxed;

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
    (from, but)
}

/// Registers that programs know by name, and some: they keep what they hold, read again or not.
fn named(q: &ISeq) -> usize {
    let matched = match q.match_slot {
        Some(MatchSlot::Reg(r)) => r as usize + 1,
        _ => 0,
    };
    (q.local_names.len() + 6).max(matched)
}

/// Ways through the code are followed for so many instructions.
const STEPS: usize = 400;

/// One beyond the last register that code from `pc` on may read before a call overwrites it; `None`: not found out.
fn read_below(q: &ISeq, pc: u64) -> Option<usize> {
    use Op::*;
    // Where to go on, and from which register on all is overwritten.
    let mut todo = vec![(q.index_of(pc), usize::MAX)];
    // A handler is come to from anywhere.
    todo.extend(q.handlers.iter().map(|h| (h.target as usize, usize::MAX)));
    let mut seen: FxHashMap<usize, usize> = FxHashMap::default();
    let (mut most, mut steps) = (0, 0);
    while let Some((mut at, mut cap)) = todo.pop() {
        loop {
            if seen.get(&at).is_some_and(|c| *c >= cap) {
                break;
            }
            seen.insert(at, cap);
            steps += 1;
            if steps > STEPS {
                return None;
            }
            let i = Insn(q.code.get(at)?.load(Relaxed)).original();
            let (a, b, c) = (i.a(), i.b(), i.c());
            let next = at + 1 + i.op().cached() as usize;
            let mut read = |r: usize| {
                if r < cap {
                    most = most.max(r + 1);
                }
            };
            let jump = |off: i64| usize::try_from(next as i64 + off).ok();
            let mut over = false;
            match i.op() {
                Nop | Nil | True | False | Undef | Int | Lit | Str | EnvNew | EnvGet | IvarGet | CvarGet | GlobalGet | ConstGet
                | ConstTop | BlockGiven | ErrGet | NthRef | BackRef | Closure => {}
                IvarSet | EnvSet | CvarSet | GlobalSet | ErrSet | MatchSet => read(a),
                Move | AddI | SubI | Neg | Not | ConstAt | Splat | ToS => read(b),
                Add | Sub | Mul | Div | Mod | Lt | Le | Gt | Ge | Eq | Neq | Shl | Shr | And | Or | Xor | Aref | Range => {
                    read(b);
                    read(c);
                }
                Aset | HashPut => [a, b, c].into_iter().for_each(&mut read),
                ArrPush | ArrCat => [a, b].into_iter().for_each(&mut read),
                Array | Hash | Concat => (b..b + c).for_each(&mut read),
                Intrinsic => (b..b + i.x() as usize).for_each(&mut read),
                Send | Yield if i.x() != 0xff => {
                    (b..=b + (i.x() & 0x7f) as usize).for_each(&mut read);
                    cap = cap.min(b.saturating_sub(HEADER as usize));
                }
                Ret | Break | RetHome | Raise => {
                    read(a);
                    over = true;
                }
                Jmp => {
                    at = jump(i.bc() as i64)?;
                    continue;
                }
                JmpIf | JmpUnless | JmpNil | JmpSet => {
                    read(a);
                    todo.push((jump(i.bc() as i64)?, cap));
                }
                JLt | JLe | JGt | JGe | JEq => {
                    read(a);
                    read(b);
                    todo.push((jump(i.sc() as i64)?, cap));
                }
                JLtI | JLeI | JGtI | JGeI | JEqI | JNeI => {
                    read(a);
                    todo.push((jump(i.sc() as i64)?, cap));
                }
                _ => return None,
            }
            if over {
                break;
            }
            at = next;
        }
    }
    Some(most)
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
            let (mut from, but) = dead_from(q, pc);
            if f == top {
                from = from.min(read_below(q, pc).map_or(from, |n| n.max(named(q))));
            }
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
