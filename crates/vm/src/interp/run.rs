//! The loop.
//!
//! State in locals: `pc` (next word) and `fp` (base of the running frame). Slow
//! paths are functions of [`Cx`] that read and change `cx.pc` and `cx.fp`: the
//! loop saves before and loads after them. Calls stay in this one loop; a native
//! is the only Rust frame above it, and it is a leaf.
//!
//! **Invariant** (of every unsafe block that says nothing else). `pc` lies in the running code's words and behind the
//! instruction that runs: the compiler ends each body with one that leaves it, and jumps stay inside. `fp` is the base of the
//! running frame, with `nregs` registers behind it; the compiler numbers registers below that. Both are read again after
//! whatever may move the stack or push a frame.
#![allow(clippy::undocumented_unsafe_blocks, reason = "one invariant holds for all of them; it stands at the head")]

use super::Outcome;
use super::call::method_of;
use super::elements::{push_if_room, store_at};
use super::entry::{Entry, Outer, enter_block, enter_method};
use super::make::{make, make_env};
use crate::Cx;
use crate::doors::NO_METHOD;
use crate::doors::{Guard, R};
use crate::names::symbols::sym;
use crate::tasks::frame::{Fp, ff, literal_block, literal_parts};
use crate::world::hot::{Hot, HotKind, decoded, hit, seen_in};
use kumi_bytecode::{HEADER, Insn, Op};
use kumi_heap::*;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};

/// An end of an instruction that stays a block of its own: the compiler then copies the jump to the next instruction here,
/// and the processor learns what follows after each by itself. Where ends share one jump, it is foreseen badly
/// (`.cargo/rustc` lets the compiler make so many copies).
#[inline(always)]
fn own_end() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction at all.
    unsafe {
        std::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
}

impl Cx {
    /// Runs the current task until its first frame is left, or until somebody panics (`fault`). The result or the exception
    /// is in the task.
    pub(crate) fn run_loop(&mut self) {
        loop {
            self.choose_loop();
            if self.trace.on {
                self.run_traced();
            } else {
                self.run_plain();
            }
            if !std::mem::take(&mut self.trace.swap) {
                return;
            }
        }
    }
    #[inline(never)]
    fn run_plain(&mut self) {
        self.run_in::<false>();
    }
    #[cold]
    #[inline(never)]
    fn run_traced(&mut self) {
        self.run_in::<true>();
    }
    /// The loop. The traced one looks at each instruction of a user's for events before it is run, and leaves all calls to
    /// the slow paths, which know of them; what only one of the two does is decided when it is compiled.
    #[inline(always)]
    fn run_in<const TRACED: bool>(&mut self) {
        let cx = self;
        let mut pc: *const AtomicU64 = cx.pc;
        let mut fp = Fp(cx.fp);

        macro_rules! save {
            () => {
                cx.pc = pc;
                cx.fp = fp.0;
            };
        }
        macro_rules! load {
            () => {
                pc = cx.pc;
                fp = Fp(cx.fp);
            };
        }
        macro_rules! outcome {
            ($e:expr) => {{
                save!();
                match $e {
                    Outcome::Go => {}
                    f => {
                        if !cx.settle(f) {
                            return;
                        }
                    }
                }
                load!();
            }};
        }
        // Result of a leaf: stored, or the loop does what it asks for.
        macro_rules! leaf {
            ($a:expr, $e:expr) => {{
                save!();
                let r: R = $e;
                match r {
                    Ok(v) => fp.set_r($a, v),
                    Err(x) => outcome!(cx.leaf_exit(x, $a)),
                }
            }};
        }
        macro_rules! next_cache {
            () => {{
                // SAFETY: cached instructions are followed by their cache word.
                let c = unsafe { &*pc };
                pc = unsafe { pc.add(1) };
                c
            }};
        }
        macro_rules! poll {
            () => {
                if cx.heap.poll.load(Relaxed) {
                    outcome!(cx.safepoint());
                } else {
                    own_end();
                }
            };
        }
        macro_rules! jump {
            ($off:expr) => {{
                let off = $off as isize;
                // SAFETY: the compiler made the target.
                pc = unsafe { pc.offset(off) };
                if off < 0 && cx.heap.poll.load(Relaxed) {
                    outcome!(cx.safepoint());
                } else {
                    own_end();
                }
            }};
        }
        macro_rules! arith {
            ($i:ident, $op:expr, $fix:expr, $flo:expr) => {{
                let (x, y) = (fp.r($i.b()), fp.r($i.c()));
                if x.is_fix() && y.is_fix() {
                    let f: fn(i64, i64) -> Option<Value> = $fix;
                    if let Some(v) = f(x.bits() as i64, y.bits() as i64) {
                        fp.set_r($i.a(), v);
                        pc = unsafe { pc.add(1) };
                        continue;
                    }
                } else if x.is_flo() && y.is_flo() {
                    let f: fn(f64, f64) -> f64 = $flo;
                    let z = f(x.flo_val(), y.flo_val());
                    match Value::try_flo(z) {
                        Some(v) => fp.set_r($i.a(), v),
                        None => {
                            save!();
                            let v = cx.float(z);
                            fp.set_r($i.a(), v);
                        }
                    }
                    pc = unsafe { pc.add(1) };
                    continue;
                }
                let c = next_cache!();
                outcome!(cx.binop($i.a(), x, y, const { method_of($op) }, c));
            }};
        }
        // Adding to or subtracting from an Integer a number that stands in the instruction.
        macro_rules! arith_imm {
            ($i:ident, $op:expr, $checked:ident) => {{
                let x = fp.r($i.b());
                if x.is_fix() {
                    let (v, o) = (x.bits() as i64).$checked(($i.sc() as i64) << 1);
                    if !o {
                        fp.set_r($i.a(), Value::from_bits(v as u64));
                        pc = unsafe { pc.add(1) };
                        continue;
                    }
                }
                let c = next_cache!();
                outcome!(cx.binop($i.a(), x, Value::fix($i.sc() as i64), const { method_of($op) }, c));
            }};
        }
        macro_rules! compare {
            ($i:ident, $which:expr, $op:tt) => {{
                const MID: Sym = method_of($which);
                let (x, y) = (fp.r($i.b()), fp.r($i.c()));
                if x.is_fix() && y.is_fix() {
                    fp.set_r($i.a(), Value::bool((x.bits() as i64) $op (y.bits() as i64)));
                    pc = unsafe { pc.add(1) };
                } else if x.is_flo() && y.is_flo() {
                    fp.set_r($i.a(), Value::bool(x.flo_val() $op y.flo_val()));
                    pc = unsafe { pc.add(1) };
                } else if (MID == sym::EQ || MID == sym::NEQ) && x.is_sym() {
                    fp.set_r($i.a(), Value::bool(x.bits() $op y.bits()));
                    pc = unsafe { pc.add(1) };
                } else {
                    let c = next_cache!();
                    outcome!(cx.binop($i.a(), x, y, MID, c));
                }
            }};
        }
        macro_rules! cmp_jump {
            ($i:ident, $x:expr, $y:expr, $which:expr, $op:tt) => {{
                const MID: Sym = method_of($which);
                let (x, y) = ($x, $y);
                let t = if x.is_fix() && y.is_fix() {
                    (x.bits() as i64) $op (y.bits() as i64)
                } else if x.is_flo() && y.is_flo() {
                    x.flo_val() $op y.flo_val()
                } else if (MID == sym::EQ || MID == sym::NEQ) && x.is_sym() {
                    // Equal to itself alone.
                    x.bits() $op y.bits()
                } else {
                    let c = next_cache!();
                    outcome!(cx.cmp_jump_slow($i, x, y, MID, c));
                    continue;
                };
                pc = unsafe { pc.add(1) };
                if t == ($i.x() != 0) {
                    jump!($i.sc());
                } else {
                    own_end();
                }
            }};
        }
        macro_rules! cmp_jump_imm {
            ($i:ident, $which:expr, $op:tt) => {{
                let (x, y) = (fp.r($i.a()), Value::fix($i.sb() as i64));
                cmp_jump!($i, x, y, $which, $op)
            }};
        }
        // Enters bytecode whose arguments already stand in the window.
        macro_rules! enter {
            ($i:ident, $hot:expr, $at:expr) => {
                if !enter_method(cx, &mut fp, &mut pc, $i, $hot, $at) {
                    outcome!(cx.stack_overflow());
                    continue;
                }
                poll!();
            };
        }
        // A value's making, written once for the loop and for `alloc_sites`.
        macro_rules! make {
            ($i:ident, $op:expr) => {
                leaf!($i.a(), make(cx, fp, $op, $i))
            };
        }

        loop {
            // SAFETY: pc stays inside the running code: every path ends in a Ret or a jump.
            let i = Insn(unsafe { (*pc).load(Relaxed) });
            pc = unsafe { pc.add(1) };
            if cfg!(debug_assertions) {
                cx.pc = crate::interp::alloc_sites::UNSAVED;
            }
            if TRACED {
                save!();
                if cx.at_point(i)
                    && let Some(f) = cx.point(i)
                {
                    if !matches!(f, Outcome::Go) && !cx.settle(f) {
                        return;
                    }
                    load!();
                    continue;
                }
                if cx.calls_in_traced(i) {
                    let c = next_cache!();
                    outcome!(cx.traced_call(i, c));
                    continue;
                }
                if i.op() == Op::Yield {
                    outcome!(cx.yield_slow(i));
                    continue;
                }
            }
            match i.op() {
                Op::Nop => own_end(),
                Op::Move => fp.set_r(i.a(), fp.r(i.b())),
                Op::Nil => fp.set_r(i.a(), Value::NIL),
                Op::True => fp.set_r(i.a(), Value::TRUE),
                Op::False => fp.set_r(i.a(), Value::FALSE),
                Op::Undef => fp.set_r(i.a(), Value::UNDEF),
                Op::Int => fp.set_r(i.a(), Value::fix(i.bc() as i64)),
                Op::Lit => {
                    let v = fp.iseq().value(i.bc() as usize);
                    if v.is_undef() {
                        leaf!(i.a(), cx.make_literal(fp.iseq(), i.bc() as usize));
                    } else {
                        fp.set_r(i.a(), v);
                    }
                }
                Op::Str => make!(i, Op::Str),

                Op::EnvNew => {
                    save!();
                    make_env(cx, fp, i);
                }
                Op::EnvGet => {
                    let mut e = fp.env();
                    for _ in 0..i.c() {
                        // SAFETY: the compiler counted the environments of the scope chain.
                        e = unsafe { e.cell_unchecked::<EnvObj>() }.parent;
                    }
                    let v = unsafe { e.cell_unchecked::<EnvObj>().slot_unchecked(i.b()) };
                    fp.set_r(i.a(), v);
                }
                Op::EnvSet => {
                    let mut e = fp.env();
                    for _ in 0..i.c() {
                        // SAFETY: as for EnvGet.
                        e = unsafe { e.cell_unchecked::<EnvObj>() }.parent;
                    }
                    let v = fp.r(i.a());
                    cx.heap.before_store(e, v);
                    unsafe { e.cell_unchecked::<EnvObj>().set_unchecked(i.b(), v) };
                }
                Op::IvarGet => {
                    let c = next_cache!();
                    let s = fp.r(0);
                    if s.is_kind(Kind::Object) {
                        // SAFETY: kind checked.
                        let o = unsafe { s.cell_unchecked::<ObjectObj>() };
                        let w = c.load(Relaxed);
                        // An empty word names the shape without variables, and a slot that no object has: nil.
                        if (w >> 32) as u32 == o.shape() {
                            let v = o.slot((w as u32).wrapping_sub(1));
                            fp.set_r(i.a(), if v.is_undef() { Value::NIL } else { v });
                            continue;
                        }
                    }
                    leaf!(i.a(), cx.ivar_get_slow(s, fp.iseq().syms[i.bc() as usize], c));
                }
                Op::IvarSet => {
                    let c = next_cache!();
                    let s = fp.r(0);
                    if s.is_kind(Kind::Object) {
                        // SAFETY: kind checked.
                        let o = unsafe { s.cell_unchecked::<ObjectObj>() };
                        let w = c.load(Relaxed);
                        if (w >> 32) as u32 == o.shape() && (w as i32) > 0 && !o.hdr.frozen() {
                            cx.slot_set(o, w as u32 - 1, fp.r(i.a()));
                            continue;
                        }
                        if cx.slot_add(o, w, fp.r(i.a())) {
                            continue;
                        }
                    }
                    outcome!(cx.ivar_set_slow(s, fp.iseq().syms[i.bc() as usize], fp.r(i.a()), c));
                }
                Op::CvarGet => leaf!(i.a(), cx.cvar_get(fp, fp.iseq().syms[i.bc() as usize])),
                Op::CvarSet => {
                    save!();
                    if let Err(x) = cx.cvar_set(fp, fp.iseq().syms[i.bc() as usize], fp.r(i.a())) {
                        outcome!(cx.leaf_exit(x, i.a()));
                    }
                }
                Op::GlobalGet => leaf!(i.a(), cx.global_get(fp.iseq().syms[i.bc() as usize])),
                Op::GlobalSet => {
                    save!();
                    let v = fp.r(i.a());
                    let name = fp.iseq().syms[i.bc() as usize];
                    let r = if i.x() == 0 { cx.global_set(name, v) } else { cx.global_set_shared(name, v) };
                    if let Err(x) = r {
                        outcome!(cx.leaf_exit(x, i.a()));
                    }
                }
                Op::ConstGet => {
                    let c = next_cache!();
                    let name = fp.iseq().syms[i.bc() as usize];
                    if let Some(v) = cx.const_cached(fp, name, c) {
                        fp.set_r(i.a(), v);
                    } else {
                        outcome!(cx.const_get(i.a(), name, c));
                    }
                }
                Op::ConstTop => {
                    let c = next_cache!();
                    let name = fp.iseq().syms[i.bc() as usize];
                    if let Some(v) = cx.const_cached(fp, name, c) {
                        fp.set_r(i.a(), v);
                    } else {
                        let o = cx.k.object.val();
                        outcome!(cx.const_at(i.a(), o, name, Some(c)));
                    }
                }
                Op::ConstAt => {
                    let _ = next_cache!();
                    outcome!(cx.const_at(i.a(), fp.r(i.b()), fp.iseq().syms[i.c()], None));
                }
                Op::ConstSet => {
                    let scope = (i.b() != kumi_bytecode::NO_REG as usize).then(|| fp.r(i.b()));
                    outcome!(cx.const_set_op(scope, fp.iseq().syms[i.c()], fp.r(i.a())));
                }

                Op::Add => arith!(
                    i,
                    Op::Add,
                    |x, y| {
                        let (v, o) = (x - 1).overflowing_add(y);
                        (!o).then(|| Value::from_bits(v as u64))
                    },
                    |x, y| x + y
                ),
                Op::Sub => arith!(
                    i,
                    Op::Sub,
                    |x, y| {
                        let (v, o) = x.overflowing_sub(y - 1);
                        (!o).then(|| Value::from_bits(v as u64))
                    },
                    |x, y| x - y
                ),
                Op::Mul => arith!(
                    i,
                    Op::Mul,
                    |x, y| {
                        let (v, o) = (x - 1).overflowing_mul(y >> 1);
                        (!o).then(|| Value::from_bits(v as u64 | 1))
                    },
                    |x, y| x * y
                ),
                Op::Div => arith!(
                    i,
                    Op::Div,
                    |x, y| {
                        let (x, y) = (x >> 1, y >> 1);
                        if y == 0 || y == -1 {
                            return None;
                        }
                        let q = x / y;
                        Some(Value::fix(if (x % y != 0) && ((x < 0) != (y < 0)) { q - 1 } else { q }))
                    },
                    |x, y| x / y
                ),
                Op::Mod => {
                    let (x, y) = (fp.r(i.b()), fp.r(i.c()));
                    if x.is_fix() && y.is_fix() && y.fix_val() != 0 && y.fix_val() != -1 {
                        let (p, q) = (x.fix_val(), y.fix_val());
                        let m = p % q;
                        fp.set_r(i.a(), Value::fix(if m != 0 && ((m < 0) != (q < 0)) { m + q } else { m }));
                        pc = unsafe { pc.add(1) };
                    } else {
                        let c = next_cache!();
                        outcome!(cx.binop(i.a(), x, y, const { method_of(Op::Mod) }, c));
                    }
                }
                Op::AddI => arith_imm!(i, Op::AddI, overflowing_add),
                Op::SubI => arith_imm!(i, Op::SubI, overflowing_sub),
                Op::Lt => compare!(i, Op::Lt, <),
                Op::Le => compare!(i, Op::Le, <=),
                Op::Gt => compare!(i, Op::Gt, >),
                Op::Ge => compare!(i, Op::Ge, >=),
                Op::Eq => compare!(i, Op::Eq, ==),
                Op::Neq => compare!(i, Op::Neq, !=),
                Op::Shl => {
                    let (x, y) = (fp.r(i.b()), fp.r(i.c()));
                    if let Some(a) = x.as_array() {
                        if a.hdr.class() == cx.k.array.val() && !a.hdr.frozen() {
                            cx.heap.before_store(x, y);
                            // The native gets memory, or is refused it.
                            if push_if_room(cx, a, y) {
                                if cx.heap.charge_quick(8) {
                                    save!();
                                    cx.heap.charged();
                                }
                                fp.set_r(i.a(), x);
                                pc = unsafe { pc.add(1) };
                                continue;
                            }
                        }
                    } else if x.is_fix() && y.is_fix() {
                        let (p, q) = (x.fix_val(), y.fix_val());
                        if (0..62).contains(&q) && (p << q) >> q == p {
                            if let Some(v) = Value::try_fix(p << q) {
                                fp.set_r(i.a(), v);
                                pc = unsafe { pc.add(1) };
                                continue;
                            }
                        }
                    }
                    let c = next_cache!();
                    outcome!(cx.binop(i.a(), x, y, const { method_of(Op::Shl) }, c));
                }
                Op::Shr => {
                    let (x, y) = (fp.r(i.b()), fp.r(i.c()));
                    if x.is_fix() && y.is_fix() && (0..63).contains(&y.fix_val()) {
                        fp.set_r(i.a(), Value::fix(x.fix_val() >> y.fix_val()));
                        pc = unsafe { pc.add(1) };
                    } else {
                        let c = next_cache!();
                        outcome!(cx.binop(i.a(), x, y, const { method_of(Op::Shr) }, c));
                    }
                }
                Op::And => {
                    let (x, y) = (fp.r(i.b()), fp.r(i.c()));
                    if x.is_fix() && y.is_fix() {
                        fp.set_r(i.a(), Value::from_bits(x.bits() & y.bits()));
                        pc = unsafe { pc.add(1) };
                    } else {
                        let c = next_cache!();
                        outcome!(cx.binop(i.a(), x, y, const { method_of(Op::And) }, c));
                    }
                }
                Op::Or => {
                    let (x, y) = (fp.r(i.b()), fp.r(i.c()));
                    if x.is_fix() && y.is_fix() {
                        fp.set_r(i.a(), Value::from_bits(x.bits() | y.bits()));
                        pc = unsafe { pc.add(1) };
                    } else {
                        let c = next_cache!();
                        outcome!(cx.binop(i.a(), x, y, const { method_of(Op::Or) }, c));
                    }
                }
                Op::Xor => {
                    let (x, y) = (fp.r(i.b()), fp.r(i.c()));
                    if x.is_fix() && y.is_fix() {
                        fp.set_r(i.a(), Value::from_bits((x.bits() ^ y.bits()) | 1));
                        pc = unsafe { pc.add(1) };
                    } else {
                        let c = next_cache!();
                        outcome!(cx.binop(i.a(), x, y, const { method_of(Op::Xor) }, c));
                    }
                }
                Op::Neg => {
                    let x = fp.r(i.b());
                    if x.is_fix() && x.fix_val() != FIXNUM_MIN {
                        fp.set_r(i.a(), Value::fix(-x.fix_val()));
                        pc = unsafe { pc.add(1) };
                    } else if x.is_flo() {
                        save!();
                        let v = cx.float(-x.flo_val());
                        fp.set_r(i.a(), v);
                        pc = unsafe { pc.add(1) };
                    } else {
                        let c = next_cache!();
                        outcome!(cx.unop(i.a(), x, const { method_of(Op::Neg) }, c));
                    }
                }
                Op::Not => {
                    let x = fp.r(i.b());
                    if !x.is_heap() || !cx.not_redefined.load(Relaxed) {
                        fp.set_r(i.a(), Value::bool(!x.truthy()));
                        pc = unsafe { pc.add(1) };
                    } else {
                        let c = next_cache!();
                        outcome!(cx.unop(i.a(), x, const { method_of(Op::Not) }, c));
                    }
                }
                Op::Aref => {
                    let (x, y) = (fp.r(i.b()), fp.r(i.c()));
                    if y.is_fix() {
                        if let Some(a) = x.as_array() {
                            if a.hdr.class() == cx.k.array.val() {
                                let n = y.fix_val();
                                let s = a.seen();
                                let k = if n < 0 { n + s.len() as i64 } else { n };
                                fp.set_r(i.a(), if k >= 0 { s.get(k as usize).unwrap_or(Value::NIL) } else { Value::NIL });
                                pc = unsafe { pc.add(1) };
                                continue;
                            }
                        }
                    }
                    if let Some(h) = x.as_hash() {
                        if h.hdr.class() == cx.k.hash.val() && (i.x() == 0 || !h.h.by_identity()) {
                            if let Some(v) = cx.hash_get_fast(h, y) {
                                fp.set_r(i.a(), v);
                                pc = unsafe { pc.add(1) };
                                continue;
                            }
                        }
                    }
                    let c = next_cache!();
                    let y = if i.x() == 0 {
                        y
                    } else {
                        save!();
                        cx.literal_key(x, y)
                    };
                    outcome!(cx.binop(i.a(), x, y, const { method_of(Op::Aref) }, c));
                }
                Op::Aset => {
                    let (x, y, v) = (fp.r(i.a()), fp.r(i.b()), fp.r(i.c()));
                    if y.is_fix() {
                        if let Some(a) = x.as_array() {
                            let n = y.fix_val();
                            if a.hdr.class() == cx.k.array.val() && !a.hdr.frozen() && n >= 0 {
                                cx.heap.before_store(x, v);
                                if store_at(cx, a, n as usize, v) {
                                    pc = unsafe { pc.add(1) };
                                    continue;
                                }
                            }
                        }
                    }
                    let c = next_cache!();
                    outcome!(cx.aset_slow(x, y, v, c));
                }

                Op::Jmp => jump!(i.bc()),
                Op::JmpIf => {
                    if fp.r(i.a()).truthy() {
                        jump!(i.bc());
                    } else {
                        own_end();
                    }
                }
                Op::JmpUnless => {
                    if !fp.r(i.a()).truthy() {
                        jump!(i.bc());
                    } else {
                        own_end();
                    }
                }
                Op::JmpNil => {
                    if fp.r(i.a()).is_nil() {
                        jump!(i.bc());
                    } else {
                        own_end();
                    }
                }
                Op::JmpSet => {
                    if !fp.r(i.a()).is_undef() {
                        jump!(i.bc());
                    } else {
                        own_end();
                    }
                }
                Op::JLt => cmp_jump!(i, fp.r(i.a()), fp.r(i.b()), Op::JLt, <),
                Op::JLe => cmp_jump!(i, fp.r(i.a()), fp.r(i.b()), Op::JLe, <=),
                Op::JGt => cmp_jump!(i, fp.r(i.a()), fp.r(i.b()), Op::JGt, >),
                Op::JGe => cmp_jump!(i, fp.r(i.a()), fp.r(i.b()), Op::JGe, >=),
                Op::JEq => cmp_jump!(i, fp.r(i.a()), fp.r(i.b()), Op::JEq, ==),
                Op::JLtI => cmp_jump_imm!(i, Op::JLtI, <),
                Op::JLeI => cmp_jump_imm!(i, Op::JLeI, <=),
                Op::JGtI => cmp_jump_imm!(i, Op::JGtI, >),
                Op::JGeI => cmp_jump_imm!(i, Op::JGeI, >=),
                Op::JEqI => cmp_jump_imm!(i, Op::JEqI, ==),
                Op::JNeI => cmp_jump_imm!(i, Op::JNeI, !=),

                Op::Send => {
                    let c = next_cache!();
                    let w = c.load(Acquire);
                    let b = i.b();
                    let recv = fp.r(b);
                    let class = cx.class_of(recv);
                    if hit(w, class) && i.x() != 0xff {
                        // SAFETY: cached indices are in range; both tables only grow.
                        let hot = unsafe { &*cx.hot.as_ptr().add(w as u32 as usize) };
                        let argc = (i.x() & 0x7f) as usize;
                        let blk = if i.x() & 0x80 == 0 {
                            Value::NIL
                        } else {
                            let child = fp.iseq().sites[i.c()].block.unwrap_or(0);
                            literal_block(cx.slot_of(fp), child)
                        };
                        // The commonest kind by a branch of its own: it is better foreseen than the jump of a table.
                        if hot.kind == HotKind::Simple && argc == hot.argc as usize {
                            enter!(i, hot, Entry { block: blk, flags: 0, argc: hot.argc as usize, start: hot.code });
                            continue;
                        }
                        if hot.kind == HotKind::AttrGet && argc == 0 {
                            let v = match recv.cell::<ObjectObj>().map(|o| (o, seen_in(hot, &o))) {
                                Some((o, k)) if k != 0 => o.slot(k - 1),
                                _ => cx.attr_get_slow(recv, w as u32),
                            };
                            fp.set_r(i.a(), if v.is_undef() { Value::NIL } else { v });
                            continue;
                        }
                        match hot.kind {
                            HotKind::Optional => {
                                if let Some(start) = hot.start(argc) {
                                    enter!(i, hot, Entry { block: blk, flags: 0, argc, start });
                                    continue;
                                }
                            }
                            HotKind::Native if blk.is_nil() && hot.takes(argc) => {
                                if let Some(f) = hot.native {
                                    save!();
                                    match cx.run_native(f, hot.guard, recv, fp.slice(b + 1, argc)) {
                                        Ok(v) => {
                                            fp.set_r(i.a(), v);
                                        }
                                        Err(x) => {
                                            outcome!(cx.native_exit(x, i, w as u32, blk));
                                        }
                                    }
                                    continue;
                                }
                            }
                            HotKind::MemberGet if argc == 0 => {
                                if let Some(s) = recv.cell::<StructObj>() {
                                    fp.set_r(i.a(), s.slots().get(hot.arg as usize).unwrap_or(Value::NIL));
                                    continue;
                                }
                            }
                            HotKind::Indexed | HotKind::Field if argc == 0 => {
                                if let Some(f) = hot.indexed {
                                    if hot.kind == HotKind::Field
                                        && let Some(v) = decoded(recv, hot.arg)
                                    {
                                        fp.set_r(i.a(), v);
                                        continue;
                                    }
                                    save!();
                                    match f(cx, recv, hot.arg) {
                                        Ok(v) => {
                                            fp.set_r(i.a(), v);
                                        }
                                        Err(x) => {
                                            outcome!(cx.native_exit(x, i, w as u32, blk));
                                        }
                                    }
                                    continue;
                                }
                            }
                            HotKind::AttrSet if argc == 1 && !recv.frozen() => {
                                let v = fp.r(b + 1);
                                match recv.cell::<ObjectObj>().map(|o| (o, seen_in(hot, &o))) {
                                    Some((o, k)) if k != 0 => cx.slot_set(o, k - 1, v),
                                    _ => {
                                        save!();
                                        cx.attr_set_slow(recv, v, w as u32)
                                    }
                                }
                                fp.set_r(i.a(), v);
                                continue;
                            }
                            HotKind::ProcCall if i.x() < 0x80 => {
                                if let Some((hot, at)) = cx.proc_entry(recv, argc) {
                                    if !enter_block(cx, &mut fp, &mut pc, i, &hot, at) {
                                        outcome!(cx.stack_overflow());
                                        continue;
                                    }
                                    poll!();
                                    continue;
                                }
                            }
                            HotKind::New => {
                                save!();
                                if recv == cx.k.array.val()
                                    && blk.is_nil()
                                    && let Some(a) = cx.array_new_fast(fp.slice(b + 1, argc))
                                {
                                    fp.set_r(i.a(), a);
                                    continue;
                                }
                                if let Some((obj, init)) = cx.new_fast(recv, argc) {
                                    if init == NO_METHOD {
                                        fp.set_r(i.a(), obj);
                                        continue;
                                    }
                                    let h = unsafe { &*cx.hot.as_ptr().add(init as usize) };
                                    fp.set_r(b, obj);
                                    fp.set_r(i.a(), obj);
                                    // When the result register lies in the window, the frame must not own it.
                                    if i.a() < b - HEADER as usize
                                        && let Some(start) = h.start(argc)
                                    {
                                        enter!(i, h, Entry { block: blk, flags: ff::DISCARD, argc, start });
                                        continue;
                                    }
                                    fp.set_r(b, recv);
                                }
                            }
                            _ => {}
                        }
                    }
                    outcome!(cx.send_slow(i, c));
                }
                Op::Super => {
                    let c = next_cache!();
                    outcome!(cx.super_slow(i, c));
                }
                Op::Yield => {
                    let blk = fp.block();
                    let site = &fp.iseq().sites[i.c()];
                    if blk.is_fix() && i.x() < 0x80 {
                        let (off, child) = literal_parts(blk);
                        let home = cx.frame_at(off);
                        let code: *const crate::ISeq = &*home.iseq().children[child];
                        // SAFETY: children live as long as their parent, which a frame runs.
                        let q = unsafe { &*code };
                        let argc = site.argc as usize;
                        let req = q.params.req as usize;
                        if q.simple
                            && (argc == req
                                || argc > req && argc > 1
                                || argc == 1 && req == 0
                                || argc == 0
                                || argc == 1 && req > 1 && !fp.r(i.b() + 1).is_heap())
                        {
                            let hot = Hot {
                                kind: HotKind::Simple,
                                argc: argc.min(req) as u16,
                                nregs: q.nregs,
                                min: 0,
                                max: 0,
                                code: q.code.as_ptr(),
                                iseq: code,
                                cref: home.cref(),
                                native: None,
                                indexed: None,
                                arg: 0,
                                seen: AtomicU64::new(0),
                                guard: Guard::None,
                            };
                            let at = Outer {
                                self_val: home.r(0),
                                block: home.block(),
                                env: home.env(),
                                home: Value::fix(off as i64),
                                flags: ff::BLOCK,
                            };
                            if !enter_block(cx, &mut fp, &mut pc, i, &hot, at) {
                                outcome!(cx.stack_overflow());
                                continue;
                            }
                            poll!();
                            continue;
                        }
                    }
                    if i.x() < 0x80 {
                        if let Some((hot, at)) = cx.proc_entry(blk, site.argc as usize) {
                            if !enter_block(cx, &mut fp, &mut pc, i, &hot, at) {
                                outcome!(cx.stack_overflow());
                                continue;
                            }
                            poll!();
                            continue;
                        }
                    }
                    outcome!(cx.yield_slow(i));
                }
                Op::Intrinsic => {
                    let (_, f, guard) = cx.intrinsics[i.c()];
                    save!();
                    match cx.run_native(f, guard, Value::NIL, fp.slice(i.b(), i.x() as usize)) {
                        Ok(v) => fp.set_r(i.a(), v),
                        Err(x) => outcome!(cx.leaf_exit(x, i.a())),
                    }
                }
                Op::Ret => {
                    let v = fp.r(i.a());
                    if fp.flags() & ff::SLOW == 0 {
                        let (p, d) = (fp.prev(), fp.dst());
                        pc = fp.ret();
                        fp = p;
                        fp.set_r(d, v);
                    } else {
                        outcome!(cx.ret_slow(v));
                    }
                }
                Op::Break => outcome!(cx.break_op(fp.r(i.a()))),
                Op::RetHome => outcome!(cx.ret_home(fp.r(i.a()))),

                Op::DefMethod => outcome!(cx.def_method(i.a(), i.b(), fp.iseq().syms[i.c()])),
                Op::DefSingleton => outcome!(cx.def_singleton(i.a(), i.b(), fp.iseq().syms[i.c()])),
                Op::ClassDef => outcome!(cx.class_def(i)),
                Op::UndefMethod => outcome!(cx.undef_op(fp.r(i.a()))),
                Op::AliasMethod => outcome!(cx.alias_op(fp.r(i.a()), fp.r(i.b()))),
                Op::AliasGlobal => {
                    let (n, o) = (fp.iseq().syms[i.b()], fp.iseq().syms[i.c()]);
                    save!();
                    cx.alias_global(n, o);
                }

                Op::Array => make!(i, Op::Array),
                Op::ArrPush => {
                    save!();
                    if let Some(a) = fp.r(i.a()).as_array() {
                        cx.push(a, fp.r(i.b()));
                    }
                }
                Op::ArrCat => {
                    save!();
                    if let (Some(a), Some(b)) = (fp.r(i.a()).as_array(), fp.r(i.b()).as_array()) {
                        let items = b.seen().to_vec();
                        for v in &items {
                            cx.heap.before_store(a.val(), *v);
                        }
                        cx.heap.charge(items.len() * 8);
                        Held::new(a).vec().extend_from_slice(&items);
                    }
                }
                Op::Splat => {
                    let v = fp.r(i.b());
                    if v.is_kind(Kind::Array) && i.x() == 0 {
                        fp.set_r(i.a(), v);
                    } else {
                        outcome!(cx.splat(i.a(), v, i.x() != 0));
                    }
                }
                Op::Hash => make!(i, Op::Hash),
                Op::HashPut => {
                    save!();
                    match cx.hash_put_op(fp.r(i.a()), fp.r(i.b()), fp.r(i.c())) {
                        Ok(_) => {}
                        Err(x) => outcome!(cx.leaf_exit_drop(x)),
                    }
                }
                Op::HashMerge => {
                    save!();
                    if i.x() != 0 {
                        let (whole, h) = cx.splat_whole(fp.r(i.b()));
                        fp.set_r(i.a(), h);
                        if whole {
                            continue;
                        }
                    }
                    match cx.hash_merge(fp.r(i.a()), fp.r(i.b())) {
                        Ok(_) => {}
                        Err(x) => outcome!(cx.leaf_exit_drop(x)),
                    }
                }
                Op::Range => make!(i, Op::Range),
                Op::ToS => {
                    let c = next_cache!();
                    let v = fp.r(i.b());
                    if v.is_kind(Kind::Str) {
                        fp.set_r(i.a(), v);
                    } else {
                        outcome!(cx.to_s_op(i.a(), v, c));
                    }
                }
                Op::Concat => make!(i, Op::Concat),
                Op::Intern => {
                    save!();
                    leaf!(i.a(), cx.intern_op(fp.r(i.b())));
                }
                Op::Regex => leaf!(i.a(), cx.regex_literal(fp.slice(i.b(), i.c()), i.x())),
                Op::Closure => make!(i, Op::Closure),
                Op::BlockProc => make!(i, Op::BlockProc),
                Op::BlockRaw => fp.set_r(i.a(), fp.block()),
                Op::BlockGiven => {
                    let block = fp.block();
                    let yes = if i.x() == 0 { !block.is_nil() } else { block.is_fix() && cx.calls_procs() };
                    fp.set_r(i.a(), Value::bool(yes));
                }

                Op::ToAry => {
                    let v = fp.r(i.b());
                    if v.is_kind(Kind::Array) {
                        fp.set_r(i.a(), v);
                    } else {
                        outcome!(cx.to_ary_op(i.a(), v));
                    }
                }
                Op::ArrAt => {
                    let v = fp.r(i.b()).as_array().and_then(|a| a.get(i.c())).unwrap_or(Value::NIL);
                    fp.set_r(i.a(), v);
                }
                Op::ArrRest => make!(i, Op::ArrRest),
                Op::ArrPost => {
                    let (pre, post) = (i.c() >> 8, i.c() & 255);
                    let v = fp.r(i.b()).as_array().and_then(|a| {
                        let at = pre.max(a.len().saturating_sub(post)) + i.x() as usize;
                        a.get(at)
                    });
                    fp.set_r(i.a(), v.unwrap_or(Value::NIL));
                }

                Op::CaseEq => {
                    let c = next_cache!();
                    let (p, v) = (fp.r(i.b()), fp.r(i.c()));
                    if let Some(t) = cx.case_eq_fast(p, v) {
                        fp.set_r(i.a(), Value::bool(t));
                    } else {
                        outcome!(cx.binop(i.a(), p, v, const { method_of(Op::CaseEq) }, c));
                    }
                }
                Op::RescueMatch => {
                    let c = next_cache!();
                    outcome!(cx.rescue_match(i.a(), fp.r(i.b()), fp.r(i.c()), c));
                }
                Op::Raise => {
                    let v = fp.r(i.a());
                    outcome!(cx.reraise(v));
                }
                Op::ErrGet => fp.set_r(i.a(), cx.task.err),
                Op::ErrSet => cx.task.err = fp.r(i.a()),
                Op::Defined => leaf!(i.a(), cx.defined_op(fp, i)),
                Op::OnceGet => {
                    let v = fp.iseq().once(i.b());
                    if !v.is_undef() {
                        fp.set_r(i.a(), v);
                        jump!(i.sc());
                    }
                }
                Op::OnceSet => {
                    let v = fp.r(i.a());
                    cx.heap.publish(v);
                    fp.iseq().set_once(i.b(), v);
                }
                Op::NthRef => make!(i, Op::NthRef),
                Op::BackRef => make!(i, Op::BackRef),
                Op::MatchSet => {
                    let v = fp.r(i.a());
                    leaf!(i.a(), cx.match_set(v));
                }
                Op::Generic => {
                    let c = next_cache!();
                    outcome!(cx.generic_op(i, c));
                }
                Op::Out => outcome!(cx.out_insn(i)),
                Op::ArrayOut => {
                    save!();
                    match cx.heap.array_out(cx.k.array.val(), fp.slice(i.b(), i.c())) {
                        Some(v) => fp.set_r(i.a(), v.val()),
                        None => outcome!(cx.out_insn(i)),
                    }
                }
                Op::OutOp => {
                    let c = next_cache!();
                    outcome!(cx.out_op(i, c));
                }
                Op::SendOut => {
                    let c = next_cache!();
                    outcome!(cx.send_out(i, c));
                }
                Op::IntrinsicOut => outcome!(cx.intrinsic_out(i)),
            }
        }
    }
}
