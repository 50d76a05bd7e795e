//! Roots: everything the heap must keep, told exactly.

use crate::Cx;
use crate::bytecode::Op;
use crate::iseq::ISeq;
use crate::method::Body;
use crate::native::{Call, Target};
use crate::runtime::Runtime;
use crate::task::State;
use kumi_heap::{Heap, Marker, Value};
use rustc_hash::FxHashSet;
use std::sync::atomic::Ordering::Relaxed;

/// Marks the values of a pending call.
pub(crate) fn trace_call(c: &Call, m: &mut Marker) {
    for v in [c.recv, c.kw, c.block, c.result] {
        m.mark(v);
    }
    m.mark_all(&c.args);
    match c.target {
        Target::Proc(p) | Target::ProcPlain(p) => m.mark(p),
        Target::ProcSelf { prc, definee, .. } => {
            m.mark(prc);
            m.mark(definee);
        }
        Target::Code { cref, env, block, .. } => {
            m.mark(cref);
            m.mark(env);
            m.mark(block);
        }
        _ => {}
    }
}

impl Cx {
    /// Calls `f` with every live cell of the runtime, while the world stands still. Not under a guard: other
    /// workers must come to their safepoints.
    pub fn each_cell(&mut self, mut f: impl FnMut(Value)) {
        let all = |cx: &mut Cx| {
            // SAFETY: the world is stopped: no other worker touches its context until this is over.
            let mut heaps: Vec<&mut Heap> = cx.workers.iter().map(|w| unsafe { &mut (*w.cx).heap }).collect();
            Heap::each_cell_all(&mut heaps, &mut f);
        };
        let mut all = all;
        while self.stop_world(&mut all).is_none() {}
    }
    /// The live cells that `want` picks, published: who asks need not be the one worker that could reach them.
    /// As [`Cx::each_cell`].
    pub fn find_cells(&mut self, want: impl Fn(Value) -> bool) -> Vec<Value> {
        let mut found = Vec::new();
        let mut all = |cx: &mut Cx| {
            // SAFETY: as in `each_cell`.
            let mut heaps: Vec<&mut Heap> = cx.workers.iter().map(|w| unsafe { &mut (*w.cx).heap }).collect();
            Heap::each_cell_all(&mut heaps, |v| {
                if want(v) {
                    found.push(v);
                }
            });
            // While their workers stand still.
            for v in &found {
                cx.heap.publish(*v);
            }
        };
        while self.stop_world(&mut all).is_none() {}
        found
    }
    /// A node collection now. Only at safepoints: natives ask with `heap.request_gc()`.
    pub(crate) fn collect_garbage(&mut self) {
        let requested = self.heap.shared().stats.now_ns();
        let stopped = self.stop_world(|cx| {
            let stopped = cx.heap.shared().stats.now_ns();
            // SAFETY: the world is stopped: no other worker touches its context until this is over.
            let mut heaps: Vec<&mut Heap> = cx.workers.iter().map(|w| unsafe { &mut (*w.cx).heap }).collect();
            let rt = cx.runtime();
            rt.tasks.bury();
            Heap::collect_all(&mut heaps, &mut |m| rt.mark_roots(m));
            stopped
        });
        if let Some(stopped) = stopped {
            let stats = &self.heap.shared().stats;
            stats.resumed(self.worker, requested, stopped, stats.now_ns());
        }
        if self.heap.shared().has_pending_finalizers() {
            self.heap.poll.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

impl Runtime {
    /// Drops constant-cache entries that no cache word names any more.
    fn drop_stale(&self, c: &ISeq) {
        let mut t = crate::runtime::lock(&c.const_cache);
        if t.len() < 2 {
            return;
        }
        let mut named = FxHashSet::default();
        let mut at = 0;
        while at < c.code.len() {
            let op = c.insn(at).op();
            if matches!(op, Op::ConstGet | Op::ConstTop) {
                named.insert(c.code[at + 1].load(Relaxed));
            }
            at += if op.cached() { 2 } else { 1 };
        }
        t.retain(|e| named.contains(&(&**e as *const _ as u64)));
    }

    fn mark_roots(&self, m: &mut Marker) {
        self.k.trace(m);
        for x in &self.methods {
            m.mark(x.cref);
            if let Some((_, c)) = x.forced.get() {
                m.mark(*c);
            }
            m.mark(x.owner.val());
            if let Body::Proc(p) = x.body {
                m.mark(p);
            }
        }
        for g in &self.globals {
            m.mark(g.value());
        }
        for c in crate::runtime::lock(&self.codes).iter() {
            for v in c.values.iter().chain(c.once.iter()) {
                m.mark(Value::from_bits(v.load(std::sync::atomic::Ordering::Relaxed)));
            }
            self.drop_stale(c);
            for e in crate::runtime::lock(&c.const_cache).iter() {
                m.mark(e.value);
            }
        }
        for w in &self.workers {
            // SAFETY: as in `collect_garbage`.
            let cx = unsafe { &*w.cx };
            m.mark(cx.pending.exc);
            if let Some(c) = &cx.pending.call {
                trace_call(c, m);
            }
            if let Some((_, v)) = cx.switch_to {
                m.mark(v.unwrap_or_else(|e| e));
            }
        }
        m.mark_all(&self.kept());
        self.lock_book.trace(m);
        self.limits.trace(m);
        m.mark(self.main_object);
        m.mark(self.top_cref);
        self.tasks.each(|t| {
            // A fiber that waits to be resumed lives as long as its object.
            let kept = t.is_root() || !matches!(t.state.get(), State::New | State::Suspended | State::Done);
            if kept && t.state.get() != State::Done {
                t.trace(m);
            }
        });
        let Some(first) = self.workers.first() else { return };
        // SAFETY: as in `collect_garbage`.
        let cx = unsafe { &*first.cx };
        for f in &self.tracers {
            f(cx, m);
        }
    }
}
