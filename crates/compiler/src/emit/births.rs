//! Births of which the compiler is certain: what a basic block makes and then stores into a place
//! that lies outside any nursery, on every way through the block.
//!
//! One walk over the finished code. Invariant: `holds` names the registers that hold what an
//! instruction of this block made and nothing else since; whatever the walk does not know ends the block.
//! A raise between making and storing leaves garbage for a node collection, no wrong answer.

use kumi_bytecode::{Birth, HEADER, Handler, Insn, Op, Stored};
use kumi_heap::Sym;
use rustc_hash::{FxHashMap, FxHashSet};

/// What jumps and handlers lead to.
fn leaders(code: &[u64], handlers: &[Handler], opt: &[u32]) -> FxHashSet<u32> {
    let mut all: FxHashSet<u32> = opt.iter().copied().collect();
    for h in handlers {
        all.extend([h.from, h.to, h.target]);
    }
    let mut pc = 0;
    while let Some(&w) = code.get(pc) {
        let i = Insn(w);
        pc += 1 + i.op().cached() as usize;
        if let Some(off) = jump(i) {
            all.insert((pc as i64 + off) as u32);
        }
    }
    all
}

/// Where an instruction may jump, from the next one on.
fn jump(i: Insn) -> Option<i64> {
    Some(match i.op() {
        Op::Jmp | Op::JmpIf | Op::JmpUnless | Op::JmpNil | Op::JmpSet => i.bc() as i64,
        Op::JLt | Op::JLe | Op::JGt | Op::JGe | Op::JEq | Op::JLtI | Op::JLeI | Op::JGtI | Op::JGeI | Op::JEqI | Op::JNeI | Op::OnceGet => {
            i.sc() as i64
        }
        _ => return None,
    })
}

/// Does the code store what it makes at all? Most bodies do not, and need no walk.
pub(crate) fn worth_it(code: &[u64]) -> bool {
    let (mut makes, mut stores) = (false, false);
    let mut pc = 0;
    while let Some(&w) = code.get(pc) {
        let op = Insn(w).op();
        pc += 1 + op.cached() as usize;
        let made = matches!(op, Op::Str | Op::Closure | Op::Concat | Op::Range | Op::Array | Op::Hash | Op::Send);
        stores |= makes
            && matches!(
                op,
                Op::IvarSet
                    | Op::EnvSet
                    | Op::GlobalSet
                    | Op::CvarSet
                    | Op::ConstSet
                    | Op::ArrPush
                    | Op::HashPut
                    | Op::Array
                    | Op::Hash
                    | Op::Range
            );
        makes |= made;
    }
    stores
}

/// The certain births of a body. `names`: of its call sites; `new`: the name of `Class#new`.
pub(crate) fn certain(code: &[u64], handlers: &[Handler], opt: &[u32], names: &[Sym], new: Sym) -> Vec<Birth> {
    let ends = leaders(code, handlers, opt);
    let mut holds: FxHashMap<usize, u32> = FxHashMap::default();
    let mut births: Vec<Birth> = Vec::new();
    // Where in `births` what was made at an instruction stands.
    let mut known: FxHashMap<u32, usize> = FxHashMap::default();
    let mut pc = 0usize;
    while let Some(&w) = code.get(pc) {
        let i = Insn(w);
        let at = pc as u32;
        pc += 1 + i.op().cached() as usize;
        if ends.contains(&at) {
            holds.clear();
        }
        let (a, b, c) = (i.a(), i.b(), i.c());
        let mut store = |holds: &FxHashMap<usize, u32>, reg: usize, place: Stored| {
            let Some(&made) = holds.get(&reg) else { return };
            match known.get(&made).map(|&i| &mut births[i]) {
                Some(x) if x.place == Stored::Field && place == Stored::Shared => (x.stored, x.place) = (at, place),
                Some(_) => {}
                None => {
                    known.insert(made, births.len());
                    births.push(Birth { made, stored: at, place });
                }
            }
        };
        match i.op() {
            Op::Nop => {}
            Op::Str | Op::Closure => {
                holds.insert(a, at);
            }
            Op::Concat | Op::Range => {
                // A Range keeps its ends; a joined string copies its parts.
                if i.op() == Op::Range {
                    store(&holds, b, Stored::Field);
                    store(&holds, c, Stored::Field);
                }
                holds.insert(a, at);
            }
            Op::Array | Op::Hash => {
                for r in b..b + c {
                    store(&holds, r, Stored::Field);
                }
                holds.insert(a, at);
            }
            Op::Move => match holds.get(&b).copied() {
                Some(m) => {
                    holds.insert(a, m);
                }
                None => {
                    holds.remove(&a);
                }
            },
            Op::IvarSet | Op::EnvSet => store(&holds, a, Stored::Field),
            Op::GlobalSet | Op::CvarSet | Op::ConstSet => store(&holds, a, Stored::Shared),
            Op::ArrPush => store(&holds, b, Stored::Field),
            Op::HashPut => {
                // A string key is copied.
                store(&holds, c, Stored::Field);
            }
            Op::Send => {
                holds.retain(|r, _| *r + (HEADER as usize) < b);
                if names.get(c) == Some(&new) {
                    holds.insert(a, at);
                } else {
                    holds.remove(&a);
                }
            }
            Op::Super | Op::Yield => {
                holds.retain(|r, _| *r + (HEADER as usize) < b);
                holds.remove(&a);
            }
            Op::Nil
            | Op::True
            | Op::False
            | Op::Int
            | Op::Lit
            | Op::EnvGet
            | Op::IvarGet
            | Op::CvarGet
            | Op::GlobalGet
            | Op::ConstGet
            | Op::ConstAt
            | Op::ConstTop
            | Op::ToS
            | Op::Intern
            | Op::Intrinsic => {
                holds.remove(&a);
            }
            o if o.is_operator() => {
                holds.remove(&a);
            }
            Op::Aset => {}
            _ => holds.clear(),
        }
    }
    births.sort_unstable_by_key(|x| x.made);
    births
}
