//! Raising, unwinding, leaving frames that need more than a store.
//!
//! What travels is a value: an exception, or an Unwind cell that names the frame
//! to return from. Handlers are looked up by pc in each frame's table; an ensure
//! handler receives the traveller and ends with `Op::Raise`.

use super::Outcome;
use crate::doors::NO_METHOD;
use crate::tasks::frame::{Fp, ff};
use crate::tasks::outcome::BREAKS;
use crate::tasks::task::{Stage, State};
use crate::{Cx, sym};
use kumi_bytecode::{Catch, ISeq, Insn, Op};
use kumi_heap::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Kinds of Unwind cells.
pub(crate) const RETURN: u16 = 1;

/// What an exception keeps of a runaway recursion's backtrace. (CRuby ends at some 10,000 levels.)
const INNER_LEVELS: usize = 12_000;
const OUTER_LEVELS: usize = 4_000;

/// `pc` of a frame in which no instruction was executed.
const UNBEGUN: u32 = u32::MAX;

/// One line of a backtrace.
#[derive(Clone, Copy)]
pub struct TraceEntry {
    /// Address of the code; 0 for an entry that stands for a native.
    pub iseq: u64,
    pub pc: u32,
    /// Method of the frame or native, `NO_METHOD` for none.
    pub method: u32,
    pub block: bool,
}

/// A captured backtrace: turned into text or locations when asked for.
pub struct Backtrace {
    pub entries: Vec<TraceEntry>,
}
impl Payload for Backtrace {
    fn trace(&self, m: &mut Marker) {
        if m.rows() {
            for e in &self.entries {
                m.code(e.iseq & !1);
                m.method(e.method);
            }
        }
    }
    fn confined(&self) -> bool {
        true
    }
    fn bytes(&self) -> usize {
        self.entries.capacity() * 24
    }
}

impl Cx {
    /// Captures the user-visible backtrace from the running frame; prelude frames show as
    /// the method that user code called.
    pub(crate) fn capture_trace(&mut self, native: u32) -> Vec<TraceEntry> {
        self.capture_from(self.fp(), self.pc, native, false)
    }
    /// The backtrace of a task that does not run now; empty for one that has not begun or is over.
    pub fn capture_task(&mut self, id: u64) -> Vec<TraceEntry> {
        let me = self.task.id;
        let Some(t) = self.task_mut(id) else { return Vec::new() };
        let mut pc = t.pc as *const AtomicU64;
        let native = match t.next.native() {
            Some(m) => m,
            // A call that is to be executed again: its cache word names the native.
            // SAFETY: pc stands before an instruction of that many words.
            None if t.next.words() == 2 => unsafe { (*pc.add(1)).load(Ordering::Relaxed) as u32 },
            None => NO_METHOD,
        };
        let native = match t.state() {
            // It stands in the call by which it gave control away.
            State::Yielded if native == NO_METHOD => {
                let name = self.intern("yield");
                self.find_method(self.class_of(self.k.fiber.val()), name)
            }
            State::Transferred if native == NO_METHOD => {
                let name = self.intern("transfer");
                self.find_method(self.k.fiber, name)
            }
            _ => native,
        };
        pc = pc.wrapping_add(t.next.words() as usize);
        if id == me {
            return self.capture_trace(native);
        }
        if matches!(t.state(), State::New | State::Done) {
            return Vec::new();
        }
        // SAFETY: `base` is the innermost frame of a task that does not run, and its stack stays where it is.
        let f = Fp(unsafe { t.stack.start_ptr().add(t.base) });
        self.capture_from(f, pc, native, false)
    }
    /// The same for an exception: the binary's standard library is no more seen in it than the prelude.
    fn capture_error(&mut self, native: u32) -> Vec<TraceEntry> {
        let mut all = self.capture_from(self.fp(), self.pc, native, true);
        if self.pending.unbegun
            && let Some(first) = all.first_mut()
            && first.iseq == self.fp().iseq() as *const ISeq as u64
        {
            first.pc = UNBEGUN;
        }
        all
    }
    fn capture_from(&self, f: Fp, pc: *const AtomicU64, native: u32, error: bool) -> Vec<TraceEntry> {
        let mut out = Vec::new();
        let (mut f, mut pc) = (f, pc);
        // The method to name at the next user line: the outermost system callee below it.
        let mut pending = self.shown(native);
        // What system code yielded to, as `&:name` does: it has lines of its own above the caller of the block.
        let (mut yielded, mut in_block) = (Vec::new(), false);
        loop {
            let q = f.iseq();
            let at = self.pc_of(q, pc);
            if q.system && pending != NO_METHOD && !in_block && q.yields_at(at as usize) {
                yielded.push(pending);
                pending = NO_METHOD;
            }
            let m = self.current_method(f).unwrap_or(NO_METHOD);
            if q.system || error && q.path.starts_with("<internal:") {
                if f.flags() & ff::BEHALF != 0 && f.parent().is_fix() {
                    pending = self.framed(f.parent().fix_val() as u32);
                }
                if f.flags() & ff::BLOCK == 0
                    && f.flags() & ff::HIDDEN == 0
                    && m != NO_METHOD
                    && self.methods[m as usize].owner != self.k.helpers
                    && !self.is_helper_method(m)
                {
                    pending = self.shown(m);
                }
            } else {
                yielded.push(pending);
                for method in yielded.drain(..).filter(|m| *m != NO_METHOD) {
                    out.push(TraceEntry { iseq: q as *const ISeq as u64 | 1, pc: at, method, block: false });
                }
                pending = NO_METHOD;
                out.push(TraceEntry { iseq: q as *const ISeq as u64, pc: at, method: m, block: f.flags() & ff::BLOCK != 0 });
            }
            if f.flags() & ff::FINISH != 0 {
                break;
            }
            in_block = f.flags() & ff::BLOCK != 0;
            pc = f.ret();
            f = f.prev();
        }
        out
    }
    /// The native as a trace shows it: none where the instruction itself does the work in CRuby (`a << x`, `h[k] = v`,
    /// `s.member = v`), and for the default method_missing.
    pub(super) fn framed(&self, m: u32) -> u32 {
        if m == NO_METHOD {
            return m;
        }
        let e = &self.methods[m as usize];
        let k = &self.k;
        let inline = match self.syms.name(e.called) {
            b"<<" | b"[]" | b"[]=" => [k.array, k.string, k.hash].contains(&e.owner),
            _ => matches!(e.body, crate::world::method::Body::MemberSet(_) | crate::world::method::Body::AttrSet(_)),
        };
        if inline || e.called == sym::METHOD_MISSING { NO_METHOD } else { m }
    }
    /// The method as a trace shows it; none for those that raise on behalf of their caller: `raise`, the default answers
    /// to missing names. A twin has a frame where its native has one.
    fn shown(&self, m: u32) -> u32 {
        if m == NO_METHOD {
            return m;
        }
        let e = &self.methods[m as usize];
        let hides = e.builtin && matches!(e.name, sym::RAISE | sym::METHOD_MISSING | sym::CONST_MISSING);
        if hides {
            NO_METHOD
        } else if e.has_twin() {
            self.framed(m)
        } else {
            m
        }
    }
    pub(crate) fn is_helper_method(&self, m: u32) -> bool {
        let o = self.methods[m as usize].owner;
        o.is_singleton() && o.data.attached == self.k.helpers.val()
    }
    pub(crate) fn pc_of(&self, q: &ISeq, pc: *const AtomicU64) -> u32 {
        (((pc as usize).wrapping_sub(q.code.as_ptr() as usize) / 8) as u32).saturating_sub(1)
    }

    /// The name that a trace has for a method: an alias in the library is a method like any other, a program's shows the original.
    fn label_name(&mut self, m: u32) -> String {
        let e = &self.methods[m as usize];
        let name = if e.builtin { e.called } else { e.name };
        self.sym_name(name)
    }
    /// A method with its owner, where that has a name: `C#m`, `C.m`.
    pub(super) fn method_label(&mut self, owner: Gc<ClassObj>, name: String) -> String {
        if owner.is_singleton() {
            return match owner.data.attached.as_class() {
                Some(c) if c.data.name.is_some() => format!("{}.{name}", self.class_name(c)),
                _ => name,
            };
        }
        if owner.data.name.is_none() {
            return name;
        }
        let of = self.class_name(owner);
        // What the classes made by Struct and Data have of a module of the runtime's own.
        match of.strip_prefix("KumiSys::").and_then(|c| c.strip_suffix("Class")) {
            Some(made_by) => format!("{made_by}.{name}"),
            None => format!("{of}#{name}"),
        }
    }
    /// Path, line and label of an entry.
    pub(crate) fn describe_entry(&mut self, e: TraceEntry) -> (String, u32, String, String) {
        // SAFETY: a captured backtrace keeps its code (see `tables`); the low bit marks entries of natives.
        let q = unsafe { &*((e.iseq & !1) as *const ISeq) };
        let line = if e.pc == UNBEGUN { q.line } else { q.line_at(e.pc) };
        let path = q.path.to_string();
        let native = e.iseq & 1 == 1;
        let base = if native { self.label_name(e.method) } else { q.label.to_string() };
        let mut label = base.clone();
        if e.method != NO_METHOD && (native || !base.starts_with('<')) {
            let name = self.label_name(e.method);
            label = self.method_label(self.methods[e.method as usize].owner, name);
        }
        // An evaluated text runs as a block does, and is none.
        if e.block && !native && q.block_depth > 0 {
            label = if q.block_depth > 1 { format!("block ({} levels) in {label}", q.block_depth) } else { format!("block in {label}") };
        }
        (path, line, label, base)
    }

    /// Raises an exception object at the running instruction.
    #[cold]
    #[inline(never)]
    pub(crate) fn raise_exc(&mut self, e: Value) -> Outcome {
        if e.is_kind(Kind::Unwind) {
            return self.unwind(e);
        }
        self.prepare(e);
        if self.trace.on
            && let Some(f) = self.trace_raise(e)
        {
            return f;
        }
        self.unwind(e)
    }
    /// Gives an exception its backtrace and cause.
    fn prepare(&mut self, e: Value) {
        if self.ivar_get(e, sym::IV_LOCATIONS).is_undef() && self.ivar_get(e, sym::IV_BACKTRACE).is_undef() && !e.frozen() {
            let native = self.raising_native;
            let mut entries = self.capture_error(native);
            if entries.len() > INNER_LEVELS + OUTER_LEVELS {
                entries.drain(INNER_LEVELS..entries.len() - OUTER_LEVELS);
                entries.shrink_to_fit();
            }
            let c = self.k.object;
            let t = self.data(c, Backtrace { entries });
            self.ivar_set(e, sym::IV_LOCATIONS, t);
        }
        if self.ivar_get(e, sym::IV_CAUSE).is_undef() && !e.frozen() {
            let err = self.task.err;
            if err != e && !err.is_nil() && !self.in_causes(err, e) {
                self.ivar_set(e, sym::IV_CAUSE, err);
            }
        }
    }
    fn in_causes(&mut self, from: Value, e: Value) -> bool {
        let mut c = from;
        for _ in 0..1000 {
            if c == e {
                return true;
            }
            c = self.ivar_get(c, sym::IV_CAUSE);
            if !c.is_heap() {
                return false;
            }
        }
        false
    }

    /// Re-raise by `Op::Raise`.
    #[inline(never)]
    pub(crate) fn reraise(&mut self, v: Value) -> Outcome {
        if v.is_kind(Kind::Unwind) {
            return self.unwind(v);
        }
        if !self.is_a(v, self.k.exception) {
            let x = self.type_error("exception class/object expected");
            return self.leaf_exit(x, 0);
        }
        self.prepare(v);
        self.unwind(v)
    }

    /// Looks for a handler from the running frame outwards and goes there.
    pub(crate) fn unwind(&mut self, what: Value) -> Outcome {
        let cell = what.cell::<UnwindObj>();
        let target = cell.filter(|u| u.hdr.x.get() == RETURN).map(|u| u.target.fix_val() as usize);
        loop {
            let fp = self.fp();
            let q = fp.iseq();
            let at = self.pc_of(q, self.pc);
            if let Some(h) = q.handlers.iter().find(|h| h.from <= at && at < h.to && (h.catch == Catch::Ensure || cell.is_none())) {
                fp.set_r(h.reg as usize, what);
                if cell.is_none() {
                    self.task.err = what;
                }
                // SAFETY: handler targets come from the compiler.
                self.pc = unsafe { q.code.as_ptr().add(h.target as usize) };
                return Outcome::Go;
            }
            let here = Some(self.slot_of(fp)) == target;
            if self.trace.on
                && let Some(f) = self.trace_leaving(what, cell.filter(|_| here).map(|u| u.value))
            {
                return f;
            }
            if here {
                let v = cell.map_or(Value::NIL, |u| u.value);
                return self.ret_slow(v);
            }
            let flags = fp.flags();
            if flags & ff::TRACE != 0 {
                self.abandon_trace();
            }
            if flags & ff::HOMES != 0 {
                self.kill_homes(fp);
            }
            if flags & ff::FINISH != 0 {
                self.task.stage = Stage::Left(Err(what));
                return self.finish_task();
            }
            self.hand_down(fp, flags);
            self.pc = fp.ret();
            self.fp = fp.prev().0;
        }
    }

    /// The frame is left: what was known of the slots below it holds for those below its caller.
    #[inline]
    fn hand_down(&mut self, fp: Fp, flags: u64) {
        let known = flags & (ff::AGED | ff::SHOWN);
        if known != 0 {
            fp.prev().add_flags(known);
        }
    }
    /// The frame is left: its Home cells tell it.
    fn kill_homes(&mut self, fp: Fp) {
        let slot = self.slot_of(fp);
        while let Some((s, h)) = self.task.homes.last().copied() {
            if s < slot {
                break;
            }
            h.hdr.x.set(0);
            self.task.homes.pop();
        }
    }

    /// Leaves the running frame with `v`, whatever its flags ask for.
    #[cold]
    #[inline(never)]
    pub(crate) fn ret_slow(&mut self, v: Value) -> Outcome {
        let fp = self.fp();
        let flags = fp.flags();
        if flags & ff::HOMES != 0 {
            self.kill_homes(fp);
        }
        if flags & ff::FINISH != 0 {
            self.task.stage = Stage::Left(Ok(v));
            return self.finish_task();
        }
        self.hand_down(fp, flags);
        let d = fp.dst();
        self.pc = fp.ret();
        self.fp = fp.prev().0;
        if flags & ff::TRACE != 0 {
            return self.after_trace();
        }
        if flags & ff::JUMP != 0 {
            return self.fused_jump(v);
        } else if flags & ff::DISCARD == 0 {
            self.fp().set_r(d, v);
        }
        Outcome::Go
    }

    /// `break`.
    #[cold]
    #[inline(never)]
    pub(crate) fn break_op(&mut self, v: Value) -> Outcome {
        let fp = self.fp();
        if fp.flags() & ff::LAMBDA != 0 {
            return self.leave(self.slot_of(fp), v, 0);
        }
        let parent = fp.parent();
        let Some(home) = self.home_slot(parent) else {
            return self.jump_error("break from proc-closure", "break", v);
        };
        // A Proc's break is good for the call its block was given to, and for no later one.
        let call = parent.cell::<HomeObj>().map_or(u32::MAX, |h| h.hdr.aux.get());
        // The frame called from the home frame is the one that got the block.
        let mut f = fp;
        loop {
            if f.flags() & ff::FINISH != 0 {
                return self.jump_error("break from proc-closure", "break", v);
            }
            let p = f.prev();
            if self.slot_of(p) == home {
                let at = ((f.ret() as usize).wrapping_sub(p.iseq().code.as_ptr() as usize) / 8) as u32;
                if call != u32::MAX && call != at {
                    return self.jump_error("break from proc-closure", "break", v);
                }
                if f.flags() & ff::DISCARD != 0 {
                    // `initialize` runs in place of `new`: its own result is dropped, a break's is not.
                    // SAFETY: a return address lies behind the call and its cache word.
                    let i = Insn(unsafe { (*f.ret().sub(2)).load(Ordering::Relaxed) });
                    if i.original().op() == Op::Send {
                        p.set_r(i.a(), v);
                    }
                }
                return self.leave(self.slot_of(f), v, BREAKS);
            }
            f = p;
        }
    }

    /// `return` in a block.
    #[cold]
    #[inline(never)]
    pub(crate) fn ret_home(&mut self, v: Value) -> Outcome {
        let mut f = self.fp();
        loop {
            let flags = f.flags();
            if flags & ff::BLOCK == 0 || flags & ff::LAMBDA != 0 {
                if f.iseq().kind == kumi_bytecode::Kind::Class && flags & ff::FINISH == 0 {
                    // `class << x` returns from the method around it; other bodies have nothing to return from.
                    let outer = f.prev();
                    if f == self.fp() && outer.iseq().kind != kumi_bytecode::Kind::Class {
                        f = outer;
                        continue;
                    }
                    return self.jump_error("unexpected return", "return", v);
                }
                return self.leave(self.slot_of(f), v, 0);
            }
            let mut parent = f.parent();
            f = loop {
                if let Some(s) = self.home_slot(parent) {
                    break self.frame_at(s);
                }
                // The block around is gone; the method it belongs to may still run.
                match parent.cell::<HomeObj>() {
                    Some(h) if h.outer.is_heap() => parent = h.outer,
                    _ => return self.jump_error("unexpected return", "return", v),
                }
            };
        }
    }

    /// Slot of the frame a block frame was made in, when it still runs on this task.
    pub(crate) fn home_slot(&self, parent: Value) -> Option<usize> {
        if parent.is_fix() {
            return Some(parent.fix_val() as usize);
        }
        let h = parent.cell::<HomeObj>()?;
        (h.hdr.x.get() == 1 && h.task == self.task.id).then_some(h.base as usize)
    }

    /// Unwinds to the frame at `slot` and returns `v` from it. `how`: 0, or [`BREAKS`].
    fn leave(&mut self, slot: usize, v: Value, how: u32) -> Outcome {
        // Nothing to unwind and nobody to tell: the common case of a lambda's own return.
        let fp = self.fp();
        if self.slot_of(fp) == slot && fp.iseq().handlers.is_empty() && !self.trace.on {
            return self.ret_slow(v);
        }
        let u = self.heap.unwind(RETURN, v, Value::fix(slot as i64));
        u.hdr.aux.set(how);
        self.unwind(u.val())
    }
    /// Unwinding value that returns `v` from the frame at `slot` (throw).
    pub(crate) fn return_from(&mut self, slot: usize, v: Value) -> Value {
        self.heap.unwind(RETURN, v, Value::fix(slot as i64)).val()
    }

    fn jump_error(&mut self, msg: &str, reason: &'static str, v: Value) -> Outcome {
        let e = self.make_exc(self.k.local_jump_error, msg);
        let r = self.sym(reason);
        self.ivar_set(e, sym::IV_REASON, r);
        self.ivar_set(e, sym::IV_VALUE, v);
        self.raise_exc(e)
    }

    /// The stack's limit is reached: SystemStackError at the running instruction.
    #[cold]
    #[inline(never)]
    pub(crate) fn stack_overflow(&mut self) -> Outcome {
        let task = self.task.id;
        self.open_reserve();
        let e = self.make_exc(self.k.system_stack_error, "stack level too deep");
        let flow = self.raise_exc(e);
        if self.task.id == task {
            self.close_reserve();
        }
        flow
    }

    /// Does a rescue clause's class match?
    #[inline(never)]
    pub(crate) fn rescue_match(&mut self, dst: usize, exc: Value, klass: Value, cache: &AtomicU64) -> Outcome {
        match klass.as_class() {
            Some(c) => {
                if self.builtin(klass, sym::EQQ) {
                    let t = self.is_a(exc, c);
                    self.fp().set_r(dst, Value::bool(t));
                    return Outcome::Go;
                }
                self.binop(dst, klass, exc, sym::EQQ, cache)
            }
            None => {
                let x = self.type_error("class or module required for rescue clause");
                self.leaf_exit(x, dst)
            }
        }
    }
}
