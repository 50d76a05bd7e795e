//! Allocation sites in the code: which instruction allocates just now, and instructions rewritten so
//! that what they make is born outside the nursery.
//!
//! An instruction whose site went out is replaced, by one atomic store at a safepoint, by one of four
//! general forms (`Op::Out`, `OutOp`, `SendOut`, `IntrinsicOut`) that name the original, or by `ArrayOut`, which the loop
//! itself runs; the others pay nothing. Code of the library (`system`) serves many callers: there the rewritten form *asks*
//! whether the pair of instruction and user's call went out, in a copy of the book that each worker has. A series
//! ([`kumi_heap::Series`]) asks so too, whose user's call is found through all of the runtime's own files.
//! Births of which the compiler was certain are rewritten when code is registered.
//!
//! Invariant: cells are born elsewhere only between [`Heap::begin_place`](kumi_heap::Heap) and
//! `end_place`, and no safepoint lies between them: whatever may reach one ends it first.

use super::entry::{Entry, enter_method};
use super::make::{make, make_env};
use crate::Cx;
use crate::doors::{NO_METHOD, R};
use crate::tasks::frame::{Fp, ff};
use crate::tasks::outcome::Outcome;
use crate::world::hot::HotKind;
use kumi_bytecode::{HEADER, ISeq, Insn, Op, Stored};
use kumi_heap::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

/// What stands for the program counter, in builds that check it, while an instruction runs that has not saved it.
pub(crate) const UNSAVED: *const AtomicU64 = std::ptr::without_provenance(8);

/// Frames of the library that are passed by in search of the user's call.
const DEEP: usize = 24;

/// Where the loop of `cx` is.
///
/// # Safety
/// `cx` is a live worker's context, asked by its own thread; its `fp` and `pc` are those of the running frame
/// whenever they lie inside the running task's stack.
unsafe fn probe(cx: *const (), by: CalledBy) -> AllocSiteKey {
    let cx = cx as *const Cx;
    // SAFETY: plain reads of fields that only this thread writes.
    let (fp, pc, task) = unsafe { ((&raw const (*cx).fp).read(), (&raw const (*cx).pc).read(), (&raw const (*cx).task).read()) };
    debug_assert!(pc != UNSAVED, "an instruction charges the heap and has not saved where it is");
    if fp <= task.stack.start_ptr() || fp >= task.stack.end_ptr() {
        return AllocSiteKey::default();
    }
    match by {
        CalledBy::Nobody => AllocSiteKey::default(),
        CalledBy::Anyone => key_at(Fp(fp), pc as u64, |q| q.system),
        CalledBy::User => {
            // SAFETY: as above; of this field nobody has more than a reference.
            let rt = unsafe { &(*cx).rt };
            key_at(Fp(fp), pc as u64, |q| q.system || rt.options.is_own(&q.path))
        }
    }
}

/// The site of the instruction that `fp` runs, which ends at `pc` or one word later. Frames of code that is `passed` are
/// those of whoever called it.
#[inline(always)]
fn key_at(fp: Fp, pc: u64, passed: impl Fn(&ISeq) -> bool) -> AllocSiteKey {
    let mut key = AllocSiteKey { at: pc, caller: 0, of: 0 };
    let mut f = fp;
    for _ in 0..DEEP {
        if !passed(f.iseq()) {
            break;
        }
        if f.flags() & ff::FINISH != 0 {
            break;
        }
        key.caller = f.ret() as u64;
        f = f.prev();
    }
    key
}

impl Cx {
    /// The heap asks this worker where its loop is.
    pub(crate) fn tell_heap_where(&mut self) {
        let me = &raw const *self as *const ();
        // SAFETY: a worker's context is boxed, has its heap inside, and is used by one thread at a time.
        let p = unsafe { AllocSiteProbe::new(probe, me) };
        self.heap.set_probe(p);
    }

    /// What is known of sites after a collection, which counts `ticks`: instructions are rewritten. At a safepoint.
    pub(crate) fn settle_sites(&mut self, ticks: u64) {
        self.heap.site_book().tick(ticks);
        let news = self.heap.settle_sites();
        if !news.out.is_empty() || !news.back.is_empty() {
            self.rewrite(&news);
        }
    }
    #[cold]
    #[inline(never)]
    fn rewrite(&mut self, news: &AllocSiteNews) {
        let redefined = self.ops_redefined.load(Relaxed);
        for k in &news.out {
            if let Some((q, at)) = self.code_around(k.at) {
                q.replace(at, |i| q.out_form(at, i));
            }
        }
        for k in &news.back {
            // Code of the library goes on asking: other callers may be out.
            let Some((q, at)) = self.code_around(k.at).filter(|c| !c.0.system) else { continue };
            q.replace(at, |i| {
                let was = i.original();
                match i.op() {
                    Op::OutOp if redefined && !matches!(was.op(), Op::Super | Op::ToS) => {
                        Some(Insn::new(Op::Generic, i.x(), i.a() as u16, i.b() as u16, i.c() as u16))
                    }
                    Op::Out | Op::OutOp | Op::ArrayOut | Op::SendOut | Op::IntrinsicOut => Some(was),
                    _ => None,
                }
            });
        }
    }
    /// The code that a saved program counter lies in, and the start of the instruction before it.
    fn code_around(&self, pc: u64) -> Option<(Arc<ISeq>, usize)> {
        crate::cx::runtime::lock(&self.codes).iter().find_map(|q| q.start_of(pc).map(|at| (q.clone(), at)))
    }

    /// Makes cells that `holder` is to hold as soon as they are made: they are born where it is. `f` comes to no safepoint.
    #[inline(always)]
    pub fn beside<T>(&mut self, holder: Value, f: impl FnOnce(&mut Cx) -> T) -> T {
        let was = self.heap.begin_beside(holder);
        let made = f(self);
        self.heap.end_placed(was);
        made
    }

    /// Where the running rewritten instruction's cells are to be born.
    fn place_here(&mut self, fp: Fp) -> BirthPlace {
        let q = fp.iseq();
        if q.system {
            let key = key_at(fp, self.pc as u64, |q| q.system);
            let dice = self.heap.site_book().policy.stress != 0 && key.at & 0x100 != 0;
            return if dice || self.heap.site_is_out(&key) { BirthPlace::Out } else { BirthPlace::Nursery };
        }
        match q.birth(self.pc as u64, self.heap.site_book().policy.fields) {
            Some(Stored::Shared) => BirthPlace::Shared,
            _ => BirthPlace::Out,
        }
    }

    /// An instruction that makes a value, its cells born elsewhere.
    #[cold]
    #[inline(never)]
    pub(crate) fn out_insn(&mut self, i: Insn) -> Outcome {
        let fp = self.fp();
        let p = self.place_here(fp);
        let was = i.original();
        // The commonest, in one step.
        if was.op() == Op::Array
            && p == BirthPlace::Out
            && let Some(a) = self.heap.array_out(self.k.array.val(), fp.slice(was.b(), was.c()))
        {
            fp.set_r(was.a(), a.val());
            return Outcome::Go;
        }
        self.heap.begin_place(p);
        let f = self.make_value(was);
        self.heap.end_place();
        f
    }
    fn make_value(&mut self, i: Insn) -> Outcome {
        let fp = self.fp();
        match i.op() {
            Op::EnvNew => make_env(self, fp, i),
            Op::Splat => return self.splat(i.a(), fp.r(i.b()), i.x() != 0),
            op => match make(self, fp, op, i) {
                Ok(v) => fp.set_r(i.a(), v),
                Err(x) => return self.leaf_exit(x, i.a()),
            },
        }
        Outcome::Go
    }
    /// Such an instruction with a cache word: an operator, interpolation, `super`.
    #[cold]
    #[inline(never)]
    pub(crate) fn out_op(&mut self, i: Insn, cache: &AtomicU64) -> Outcome {
        let fp = self.fp();
        let p = self.place_here(fp);
        self.heap.begin_place(p);
        let was = i.original();
        let f = match was.op() {
            Op::Super => self.super_slow(was, cache),
            Op::ToS if fp.r(was.b()).is_kind(Kind::Str) => {
                fp.set_r(was.a(), fp.r(was.b()));
                Outcome::Go
            }
            Op::ToS => self.to_s_op(was.a(), fp.r(was.b()), cache),
            _ => self.generic_op(i, cache),
        };
        self.heap.end_place();
        f
    }
    /// A call whose own cells (of a native, of `new`, of its arguments) are born elsewhere.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_out(&mut self, i: Insn, cache: &AtomicU64) -> Outcome {
        // Whatever the call's value is, the store's barrier shares it: its own cells only are born outside.
        let p = match self.place_here(self.fp()) {
            BirthPlace::Shared => BirthPlace::Out,
            p => p,
        };
        self.heap.begin_place(p);
        let f = self.send_placed(i, cache);
        self.heap.end_place();
        f
    }
    fn send_placed(&mut self, i: Insn, cache: &AtomicU64) -> Outcome {
        let fp = self.fp();
        let b = i.b();
        let recv = fp.r(b);
        let class = self.class_of(recv);
        let w = cache.load(Acquire);
        if crate::world::hot::hit(w, class) && i.x() < 0x80 {
            let m = w as u32;
            let argc = i.x() as usize;
            let h = &self.hot[m as usize];
            match (h.kind, h.native) {
                (HotKind::Native, Some(f)) if h.takes(argc) => {
                    let guard = h.guard;
                    let r = self.run_native(f, guard, recv, fp.slice(b + 1, argc));
                    return self.native_end(r, i, m);
                }
                (HotKind::Indexed, _) if argc == 0 => {
                    if let Some(f) = h.indexed {
                        let r = f(self, recv, h.arg);
                        return self.native_end(r, i, m);
                    }
                }
                // Entered as from any other call: how large a frame is, and so how deep a program goes, is not the site's affair.
                (HotKind::Simple | HotKind::Optional, _) if h.start(argc).is_some() => {
                    self.heap.end_place();
                    return self.enter_placed(i, m, argc, 0);
                }
                (HotKind::New, _) if recv == self.k.array.val() => {
                    if let Some(a) = self.array_new_fast(fp.slice(b + 1, argc)) {
                        fp.set_r(i.a(), a);
                        return Outcome::Go;
                    }
                }
                // When the result register lies in the window, the frame must not own it.
                (HotKind::New, _) if i.a() < b - HEADER as usize => {
                    if let Some((obj, init)) = self.new_fast(recv, argc) {
                        self.heap.end_place_empty();
                        fp.set_r(i.a(), obj);
                        if init == NO_METHOD {
                            return Outcome::Go;
                        }
                        fp.set_r(b, obj);
                        return self.enter_placed(i, init, argc, ff::DISCARD);
                    }
                }
                _ => {}
            }
        }
        self.send_slow(i, cache)
    }
    fn native_end(&mut self, r: R, i: Insn, m: u32) -> Outcome {
        match r {
            Ok(v) => {
                self.fp().set_r(i.a(), v);
                Outcome::Go
            }
            Err(x) => self.native_exit(x, i, m, Value::NIL),
        }
    }
    /// Enters a method of the object in `R[b]`, whose arguments stand in the window: for `new` its `initialize`.
    fn enter_placed(&mut self, i: Insn, m: u32, argc: usize, flags: u64) -> Outcome {
        let (mut fp, mut pc) = (self.fp(), self.pc);
        // SAFETY: the row of a method that an inline cache names; both tables only grow.
        let h = unsafe { &*self.hot.as_ptr().add(m as usize) };
        let at = Entry { block: Value::NIL, flags, argc, start: h.start(argc).unwrap_or(h.code) };
        if !enter_method(self, &mut fp, &mut pc, i, h, at) {
            return self.stack_overflow();
        }
        (self.fp, self.pc) = (fp.0, pc);
        if self.heap.poll.load(Relaxed) { self.safepoint() } else { Outcome::Go }
    }
    /// An intrinsic of the library for a caller whose site may be out.
    #[cold]
    #[inline(never)]
    pub(crate) fn intrinsic_out(&mut self, i: Insn) -> Outcome {
        let fp = self.fp();
        let (_, f, guard) = self.intrinsics[i.c()];
        let p = self.place_here(fp);
        self.heap.begin_place(p);
        let r = self.run_native(f, guard, Value::NIL, fp.slice(i.b(), i.x() as usize));
        self.heap.end_place();
        match r {
            Ok(v) => {
                fp.set_r(i.a(), v);
                Outcome::Go
            }
            Err(x) => self.leaf_exit(x, i.a()),
        }
    }
    /// `R[b][from .. -1 - after]` as an Array.
    pub(crate) fn array_rest(&mut self, v: Value, from: usize, after: usize) -> Value {
        let Some(a) = v.as_array() else { return self.array(&[]) };
        let s = a.seen();
        self.array_seen(s.part(from..s.len().saturating_sub(after)))
    }
}
