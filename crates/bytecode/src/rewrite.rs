//! Instructions rewritten where they stand: a quick operator to its general form, an instruction that makes a value to one
//! whose cells are born outside the nursery.
//!
//! **Invariant.** Rewriting is one atomic store of an instruction word, whose general form is right for every state of the
//! program; so it may happen while other workers run it. [`Insn::original`] undoes it.

use crate::{ISeq, Insn, Op, Stored};
use std::sync::atomic::Ordering::Relaxed;

impl Op {
    /// Does it work on core classes without a call?
    pub fn is_quick(self) -> bool {
        use Op::*;
        self.is_operator() || self.is_fused() || matches!(self, Aset | CaseEq)
    }
    /// Is it a comparison and a jump by its answer?
    fn is_fused(self) -> bool {
        use Op::*;
        matches!(self, JLt | JLe | JGt | JGe | JEq | JLtI | JLeI | JGtI | JGeI | JEqI | JNeI)
    }
}
impl Insn {
    /// The general form of a quick operator.
    pub fn generic(self) -> Insn {
        let x = self.op() as u8 | if self.x() != 0 { 0x80 } else { 0 };
        Insn::new(Op::Generic, x, self.a() as u16, self.b() as u16, self.c() as u16)
    }
}

/// Can the instruction be given an `Out` form, and which? `None` also for those that have one.
fn out_form(i: Insn) -> Option<Insn> {
    let op = i.op();
    let (a, b, c) = (i.a() as u16, i.b() as u16, i.c() as u16);
    let packed = |to: Op| (i.x() <= 1).then(|| Insn::new(to, op as u8 | i.x() << 7, a, b, c));
    match op {
        Op::Send => Some(Insn::new(Op::SendOut, i.x(), a, b, c)),
        Op::Intrinsic => Some(Insn::new(Op::IntrinsicOut, i.x(), a, b, c)),
        // An operator taken back earlier keeps its number and runs its general form there too.
        Op::Generic => {
            let was = Op::ALL[(i.x() & 0x7f) as usize];
            (!was.is_fused()).then(|| Insn::new(Op::OutOp, i.x(), a, b, c))
        }
        Op::Super | Op::ToS | Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Mod | Op::Shl | Op::Shr | Op::Aref | Op::Neg => packed(Op::OutOp),
        Op::Str
        | Op::EnvNew
        | Op::Array
        | Op::Hash
        | Op::Range
        | Op::Concat
        | Op::Closure
        | Op::BlockProc
        | Op::Splat
        | Op::ArrRest
        | Op::NthRef
        | Op::BackRef => packed(Op::Out),
        _ => None,
    }
}

impl Insn {
    /// What a rewritten instruction was before.
    pub fn original(self) -> Insn {
        let (a, b, c) = (self.a() as u16, self.b() as u16, self.c() as u16);
        match self.op() {
            Op::SendOut => Insn::new(Op::Send, self.x(), a, b, c),
            Op::IntrinsicOut => Insn::new(Op::Intrinsic, self.x(), a, b, c),
            Op::Out | Op::OutOp => Insn::new(Op::ALL[(self.x() & 0x7f) as usize], self.x() >> 7, a, b, c),
            Op::ArrayOut => Insn::new(Op::Array, self.x(), a, b, c),
            _ => self,
        }
    }
}

impl ISeq {
    /// Index of the instruction that ends at byte address `pc` or has its cache word there.
    pub fn start_of(&self, pc: u64) -> Option<usize> {
        let from = self.code.as_ptr() as u64;
        let n = (pc.checked_sub(from)? / 8) as usize;
        if n == 0 || n > self.code.len() {
            return None;
        }
        let mut at = 0;
        while at < self.code.len() {
            let next = at + 1 + self.insn(at).op().cached() as usize;
            if n <= next {
                return Some(at);
            }
            at = next;
        }
        None
    }
    /// As the function of that name, for the instruction at `at`. The operators of the runtime's own code keep their short
    /// cuts, for those are what hides a program's redefinitions from it. Who must be asked where a cell goes has the general form.
    pub fn out_form(&self, at: usize, i: Insn) -> Option<Insn> {
        match i.op() {
            op if self.system && op.is_quick() => None,
            Op::Array if !self.system && !self.born_shared(at) => {
                Some(Insn::new(Op::ArrayOut, i.x(), i.a() as u16, i.b() as u16, i.c() as u16))
            }
            _ => out_form(i),
        }
    }
    fn born_shared(&self, at: usize) -> bool {
        self.births.binary_search_by_key(&(at as u32), |b| b.made).is_ok_and(|k| self.births[k].place == Stored::Shared)
    }
    /// Replaces the instruction at word `at` by what `by` makes of it, in one atomic store; true when `by` gave one.
    ///
    /// # Panics
    /// When `at` is beyond the code.
    pub fn replace(&self, at: usize, by: impl Fn(Insn) -> Option<Insn>) -> bool {
        self.code[at].fetch_update(Relaxed, Relaxed, |w| by(Insn(w)).map(|i| i.0)).is_ok()
    }
    /// Makes the certain births what the runtime's rule calls for: they are born outside, and the store into a
    /// global loses its barrier. (A store into a cell keeps it: it also tells the collector of old holders.)
    /// `fields`: what is stored into any field counts.
    pub fn place_births(&self, fields: bool) {
        for b in self.births.iter().filter(|b| fields || b.place == Stored::Shared) {
            // What a call gives need not be what it made; a Hash or Range may come out of the library.
            let own = matches!(self.insn(b.made as usize).op(), Op::Str | Op::Array | Op::Concat | Op::Closure);
            let made = b.made as usize;
            if self.replace(made, |i| self.out_form(made, i)) && own && self.insn(b.stored as usize).op() == Op::GlobalSet {
                self.replace(b.stored as usize, |i| Some(Insn(i.0 | 1 << 8)));
            }
        }
    }
    /// `KUMI_TLH_STRESS`: one in four instructions that may be rewritten is, by chance.
    pub fn place_by_chance(&self, seed: u64) {
        let mut dice = seed ^ (self.code.len() as u64) << 32 ^ self.line as u64;
        let mut at = 0;
        while at < self.code.len() {
            let step = 1 + self.insn(at).op().cached() as usize;
            dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            if dice >> 62 == 0 {
                self.replace(at, |i| self.out_form(at, i));
            }
            at += step;
        }
    }
    /// Where what the instruction before address `pc` makes is certainly stored; `None`: that is not known, or (unless `fields`)
    /// it is a field. For an instruction with a cache word, `pc` may be the address of that word too.
    pub fn birth(&self, pc: u64, fields: bool) -> Option<Stored> {
        if self.births.is_empty() {
            return None;
        }
        let n = (pc.checked_sub(self.code.as_ptr() as u64)? / 8) as u32;
        let i = self.births.partition_point(|b| b.made < n);
        let b = self.births[..i].last()?;
        let next = b.made + 1 + self.insn(b.made as usize).op().cached() as u32;
        (n <= next && (fields || b.place == Stored::Shared)).then_some(b.place)
    }
}
