//! Where events come from: instructions, calls of built-in methods, raising, leaving frames.
//!
//! **Invariant.** Whoever asks here has saved `pc` and `fp`, as for any slow path, and does what it was about to do only
//! when the answer is none: else that is done later.

use crate::Cx;
use crate::doors::NO_METHOD;
use crate::doors::ResolvedCall;
use crate::tasks::frame::{Fp, ff};
use crate::tasks::outcome::BREAKS;
use crate::tasks::outcome::Outcome;
use crate::trace::{After, Events, Happened, Tracing, ev};
use crate::world::method::Body;
use kumi_bytecode::{ISeq, Insn, Kind, Op, START_RESCUE, mark};
use kumi_heap::{UnwindObj, Value};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Events that it and the code inside it have, line events of one line if `line` is not 0.
pub(super) fn events_of(q: &ISeq, line: u32) -> u32 {
    let own = match q.kind {
        Kind::Method => ev::CALL | ev::RETURN,
        Kind::Block | Kind::Lambda => ev::B_CALL | ev::B_RETURN,
        Kind::Class => ev::CLASS | ev::END,
        Kind::Top | Kind::Eval => 0,
    };
    let starts = |rescue: bool| q.starts.iter().filter(move |s| (*s & START_RESCUE != 0) == rescue);
    let lines = starts(false).any(|s| line == 0 || q.line_at(*s) == line);
    let rescues = starts(true).next().is_some();
    let inner = q.children.iter().fold(0, |all, c| all | events_of(c, line));
    own | inner | if lines { ev::LINE } else { 0 } | if rescues { ev::RESCUE } else { 0 }
}

/// The event of a body's beginning; of its end.
fn entry_of(fp: Fp) -> u32 {
    match fp.iseq().kind {
        Kind::Method => ev::CALL,
        Kind::Block | Kind::Lambda if fp.flags() & ff::BMETHOD != 0 => ev::CALL | ev::B_CALL,
        Kind::Block | Kind::Lambda => ev::B_CALL,
        Kind::Class => ev::CLASS,
        Kind::Top | Kind::Eval => 0,
    }
}
fn leave_of(fp: Fp) -> u32 {
    match entry_of(fp) {
        ev::CALL => ev::RETURN,
        ev::B_CALL => ev::B_RETURN,
        ev::CLASS => ev::END,
        0 => 0,
        _ => ev::B_RETURN | ev::RETURN,
    }
}

impl Cx {
    /// In the traced loop: may something happen before the instruction that was just fetched?
    #[inline]
    pub(crate) fn at_point(&mut self, i: Insn) -> bool {
        self.see_hooks();
        let mut stands_for = false;
        if let Some(t) = self.task.tracing.as_mut() {
            if std::mem::take(&mut t.skip) || t.is_deaf() {
                return false;
            }
            stands_for = !t.returns.is_empty();
        }
        let fp = self.fp();
        let q = fp.iseq();
        if q.system {
            return i.op() == Op::Ret && stands_for;
        }
        q.marks()[self.fetched(q)] & self.trace.marks != 0
    }
    /// Is it a call, or an operator that is one where somebody wants to hear of built-in methods?
    #[inline]
    pub(crate) fn calls_in_traced(&self, i: Insn) -> bool {
        let op = i.original().op();
        op == Op::Send || self.trace.mask & (ev::C_CALL | ev::C_RETURN) != 0 && op.is_quick() && !self.in_system()
    }
    /// Such an instruction, with its cache word.
    #[cold]
    #[inline(never)]
    pub(crate) fn traced_call(&mut self, i: Insn, cache: &AtomicU64) -> Outcome {
        let was = i.original();
        if was.op() == Op::Send { self.send_slow(was, cache) } else { self.generic_op(was.generic(), cache) }
    }
    /// Index of the instruction that was just fetched.
    fn fetched(&self, q: &ISeq) -> usize {
        (self.pc as usize - q.code.as_ptr() as usize) / 8 - 1
    }
    /// Does this worker run the traced loop, so that somebody may hear of each call?
    pub fn is_traced(&self) -> bool {
        self.trace.on
    }
    /// The loop that is to run now, the traced one or the plain one.
    pub(crate) fn choose_loop(&mut self) {
        self.trace.on = self.hooks.are_on();
        self.trace.entry = if self.trace.on { ff::ENTERED } else { 0 };
        self.trace.due.clear();
    }
    /// Takes note of hooks that came or went.
    #[inline]
    fn see_hooks(&mut self) {
        if self.trace.epoch != self.hooks.epoch.load(Relaxed) {
            self.look_at_hooks();
        }
    }
    #[cold]
    #[inline(never)]
    fn look_at_hooks(&mut self) {
        let (epoch, hooks) = self.hooks.snapshot();
        let mask = hooks.iter().fold(0, |m, h| m | h.mask);
        let mut marks = 0;
        for (bits, mark) in [
            (ev::LINE, mark::LINE),
            (ev::CALL | ev::B_CALL | ev::CLASS, mark::ENTRY),
            (ev::RETURN | ev::B_RETURN | ev::END | ev::C_RETURN, mark::LEAVE),
            (ev::RESCUE, mark::RESCUE),
        ] {
            if mask & bits != 0 {
                marks |= mark;
            }
        }
        (self.trace.epoch, self.trace.mask, self.trace.marks, self.trace.hooks) = (epoch, mask, marks, hooks);
    }
    /// Does the task keep events away?
    pub(crate) fn is_deaf(&self) -> bool {
        self.task.tracing.as_ref().is_some_and(|t| t.is_deaf())
    }
    /// Does anybody hear of such an event in the code of `f`?
    fn heard(&self, kind: u32, f: Option<Fp>, line: u32) -> bool {
        let code = f.map_or(0, |f| f.iseq() as *const ISeq as u64);
        self.trace.mask & kind != 0 && self.trace.hooks.iter().any(|h| h.hears(kind, self.root.id, code, line))
    }
    /// Adds the events among `kinds` that somebody hears, in order.
    fn note(&self, all: &mut Events, kinds: u32, f: Option<Fp>, line: u32, method: u32, value: Value) {
        for bit in 0..crate::trace::NAMES.len() {
            let kind = kinds & 1 << bit;
            if kind != 0 && self.heard(kind, f, line) {
                let frame = f.map_or(0, |f| self.slot_of(f));
                let me = f.map_or(self.main_object, |f| f.r(0));
                all.push(Happened { kind, value, method, frame, line, me });
            }
        }
    }
    fn method_of(&self, f: Fp) -> u32 {
        self.current_method(f).unwrap_or(NO_METHOD)
    }
    /// The user's frame that is nearest, and its line.
    fn user_place(&self) -> (Option<Fp>, u32) {
        let f = self.user_frame();
        (f, f.map_or(0, |f| f.iseq().line_at(self.user_pc(f))))
    }

    /// What happens before the instruction that was just fetched. `None`: nothing that anybody hears.
    #[cold]
    #[inline(never)]
    pub(crate) fn point(&mut self, i: Insn) -> Option<Outcome> {
        let fp = self.fp();
        let q = fp.iseq();
        let mut all = Events::new();
        if !q.system {
            let at = self.fetched(q);
            let marks = q.marks()[at];
            let line = q.line_at(at as u32);
            let m = self.method_of(fp);
            if marks & mark::ENTRY != 0 && fp.flags() & ff::ENTERED != 0 {
                fp.drop_flags(ff::ENTERED);
                // `call` before `b_call`, and both on the line of the definition.
                self.note(&mut all, entry_of(fp), Some(fp), q.line, m, Value::NIL);
            }
            if marks & mark::RESCUE != 0 {
                self.note(&mut all, ev::RESCUE, Some(fp), line, m, self.task.err);
            }
            if marks & mark::LINE != 0 {
                self.note(&mut all, ev::LINE, Some(fp), line, m, Value::NIL);
            }
        }
        if i.op() == Op::Ret {
            let end = if i.x() != 0 { q.line_at(self.fetched(q) as u32) } else { q.end_line };
            let v = fp.r(i.a());
            self.leaving(fp, v, v, end, &mut all);
        }
        (!all.is_empty()).then(|| self.fire(all, After::Instruction))
    }
    /// The events of a frame's leaving with `v`, at a line; `c`: the value of a built-in method that it stood for.
    fn leaving(&mut self, fp: Fp, v: Value, c: Value, line: u32, all: &mut Events) {
        if !fp.iseq().system {
            let (kinds, m) = (leave_of(fp), self.method_of(fp));
            for kind in [ev::B_RETURN, ev::RETURN, ev::END] {
                self.note(all, kinds & kind, Some(fp), line, m, v);
            }
        }
        // It may have stood for a built-in method.
        let (slot, epoch) = (self.slot_of(fp), self.trace.epoch);
        while let Some((s, m, e)) = self.task.tracing.as_mut().and_then(|t| t.returns.pop_if(|r| r.0 >= slot)) {
            if s == slot && e == epoch {
                // `new` gives the object, whatever `initialize` gave.
                let discards = fp.flags() & ff::DISCARD != 0;
                let c = if discards { fp.prev().r(fp.dst()) } else { c };
                let f = self.user_below(fp);
                let line = f.map_or(0, |f| f.iseq().line_at(self.user_pc(f)));
                self.note(all, ev::C_RETURN, f, line, m, c);
            }
        }
    }
    /// The nearest user's frame below `fp`.
    fn user_below(&self, fp: Fp) -> Option<Fp> {
        let mut f = fp;
        while f.flags() & ff::FINISH == 0 {
            f = f.prev();
            if !f.iseq().system {
                return Some(f);
            }
        }
        None
    }

    /// Unwinding is about to leave the running frame; `v`: with that value.
    #[cold]
    #[inline(never)]
    pub(crate) fn trace_leaving(&mut self, what: Value, v: Option<Value>) -> Option<Outcome> {
        self.see_hooks();
        let fp = self.fp();
        let slot = self.slot_of(fp);
        if let Some(t) = self.task.tracing.as_mut() {
            if t.left.take() == Some(slot) || t.is_deaf() {
                return None;
            }
        }
        // What is broken out with is the value of all frames on the way, but not of a built-in method; a `throw`'s is `catch`'s.
        let broke = what.cell::<UnwindObj>().filter(|u| u.hdr.aux.get() == BREAKS).map(|u| u.value);
        let c = v.filter(|_| broke.is_none()).unwrap_or(Value::NIL);
        let v = v.or(broke).unwrap_or(Value::NIL);
        let q = fp.iseq();
        // A frame may be left before its first instruction.
        let at = self.pc_of(q, self.pc);
        let mut all = Events::new();
        if q.system || fp.flags() & ff::ENTERED == 0 || at >= q.entry {
            self.leaving(fp, v, c, q.line_at(at), &mut all);
        }
        (!all.is_empty()).then(|| self.fire(all, After::Unwind(what, Some(slot))))
    }
    /// An exception is raised.
    #[cold]
    #[inline(never)]
    pub(crate) fn trace_raise(&mut self, e: Value) -> Option<Outcome> {
        self.see_hooks();
        let due = std::mem::take(&mut self.trace.due);
        if self.is_deaf() || self.is_inner_raise() {
            return None;
        }
        let (f, line) = self.user_place();
        let m = f.map_or(NO_METHOD, |f| self.method_of(f));
        let mut all = Events::new();
        self.note(&mut all, ev::RAISE, f, line, m, e);
        for m in due.iter().rev() {
            self.note(&mut all, ev::C_RETURN, f, line, *m, Value::NIL);
        }
        (!all.is_empty()).then(|| self.fire(all, After::Unwind(e, None)))
    }
    /// Is it the library's own affair: raised and rescued in there?
    fn is_inner_raise(&self) -> bool {
        let (mut f, mut pc) = (self.fp(), self.pc);
        while f.iseq().system && f.flags() & ff::FINISH == 0 {
            let q = f.iseq();
            let at = ((pc as usize - q.code.as_ptr() as usize) / 8).saturating_sub(1) as u32;
            if q.handlers.iter().any(|h| h.catch == kumi_bytecode::Catch::Rescue && h.from <= at && at < h.to) {
                return true;
            }
            pc = f.ret();
            f = f.prev();
        }
        false
    }

    /// Method `m` is about to be called from the running frame. `None`: by the plain way, which is none of this module's.
    #[cold]
    #[inline(never)]
    pub(crate) fn trace_dispatch(&mut self, m: u32, r: ResolvedCall) -> Result<Outcome, ResolvedCall> {
        self.see_hooks();
        let told = std::mem::take(&mut self.trace.told);
        if self.in_system() || self.is_deaf() || !self.counts_as_built_in(m) {
            return Err(r);
        }
        let (f, line) = self.user_place();
        if !told && self.heard(ev::C_CALL, f, line) {
            let mut all = Events::new();
            self.note(&mut all, ev::C_CALL, f, line, m, Value::NIL);
            if let Some(h) = all.first_mut() {
                h.me = r.recv;
            }
            return Ok(self.fire(all, After::Dispatch(m, Box::new(r))));
        }
        if !self.heard(ev::C_RETURN, f, line) {
            return Err(r);
        }
        let (task, base) = (self.task.id, self.slot_of(self.fp()));
        self.trace.due.push(m);
        let flow = self.dispatch_untraced(m, r);
        // Its value was not there at once: what it called has a frame, whose leaving ends it.
        let due = std::mem::take(&mut self.trace.due);
        let slot = if self.task.id == task { self.slot_of(self.fp()) } else { 0 };
        if slot > base && !due.is_empty() {
            let epoch = self.trace.epoch;
            let t = self.task.tracing.get_or_insert_default();
            while t.returns.pop_if(|r| r.0 > slot).is_some() {}
            t.returns.extend(due.iter().map(|m| (slot, *m, epoch)));
        }
        Ok(flow)
    }
    /// Is it a method that CRuby has in C? Calls that are part of the language are not.
    fn counts_as_built_in(&self, m: u32) -> bool {
        let e = &self.methods[m as usize];
        let code = match &e.body {
            Body::Code(q) => !q.system,
            Body::Proc(_) | Body::Undef | Body::Zsuper => true,
            _ => false,
        };
        if code && e.native.is_none() || self.is_helper_method(m) {
            return false;
        }
        !matches!(e.body, Body::Special(crate::world::method::Special::Send | crate::world::method::Special::ProcCall))
    }
    /// The value of a built-in method is about to be delivered.
    #[cold]
    #[inline(never)]
    pub(crate) fn trace_value(&mut self, v: Value, dst: usize, flags: u64) -> Option<Outcome> {
        self.see_hooks();
        let due = std::mem::take(&mut self.trace.due);
        let (f, line) = self.user_place();
        let mut all = Events::new();
        for (i, m) in due.iter().rev().enumerate() {
            // `new` gives the object, whatever `initialize` gave.
            let dropped = i > 0 && flags & ff::DISCARD != 0;
            let v = if dropped { self.fp().r(dst) } else { v };
            self.note(&mut all, ev::C_RETURN, f, line, *m, v);
        }
        (!all.is_empty()).then(|| self.fire(all, After::Value(v, dst, flags)))
    }

    /// A thread begins with that call, or control came to a fiber.
    pub(crate) fn trace_task(&mut self, kind: u32, after: After) -> Result<Outcome, After> {
        // The worker may not have come to the traced loop yet.
        if !self.hooks.are_on() || self.is_deaf() {
            return Err(after);
        }
        self.see_hooks();
        let (f, line) = self.user_place();
        let m = f.map_or(NO_METHOD, |f| self.method_of(f));
        let mut all = Events::new();
        self.note(&mut all, kind, f, line, m, Value::NIL);
        if all.is_empty() { Err(after) } else { Ok(self.fire(all, after)) }
    }
    /// The running thread is about to end. `None`: nobody hears of it, or it has been told.
    #[cold]
    #[inline(never)]
    pub(crate) fn trace_thread_end(&mut self) -> Option<Outcome> {
        self.see_hooks();
        if self.task.tracing.as_ref().is_some_and(|t| t.over) || !self.heard(ev::THREAD_END, None, 0) {
            return None;
        }
        let t = self.task.tracing.get_or_insert_default();
        **t = Tracing { over: true, ..Tracing::default() };
        let left = self.task.left();
        let q = self.bottom_code();
        let (me, cref) = (self.main_object, self.top_cref);
        self.enter_bottom(&q, me, cref);
        self.trace_task(ev::THREAD_END, After::Finish(left)).ok()
    }
    /// A text was compiled and is about to be run by the call that a native returns.
    pub(crate) fn script_compiled(&mut self, text: Value) {
        if self.trace.on && !self.is_deaf() {
            self.trace.script = Some(text);
        }
    }
    /// The call that comes next runs a text that was just compiled.
    #[cold]
    #[inline(never)]
    pub(crate) fn trace_script(&mut self, text: Value, after: After) -> Result<Outcome, After> {
        self.see_hooks();
        let (f, line) = self.user_place();
        let m = f.map_or(NO_METHOD, |f| self.method_of(f));
        let mut all = Events::new();
        self.note(&mut all, ev::SCRIPT_COMPILED, f, line, m, text);
        if all.is_empty() { Err(after) } else { Ok(self.fire(all, after)) }
    }
}
