//! Roots: everything the heap must keep, told exactly.

use crate::Cx;
use crate::method::Body;
use crate::native::{Call, Target};
use kumi_heap::Marker;

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
    /// A node collection now. Only at safepoints: natives ask with `heap.request_gc()`.
    /// `top`: live slots of the running task's stack.
    pub(crate) fn collect_garbage(&mut self, top: usize) {
        let mut heap = std::mem::take(&mut self.heap);
        heap.collect(&mut |m| self.mark_roots(m, top));
        self.heap = heap;
        if !self.heap.pending_finalizers.is_empty() {
            self.heap.poll.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }

    fn mark_roots(&self, m: &mut Marker, top: usize) {
        self.k.trace(m);
        for x in &self.methods {
            m.mark(x.cref);
            m.mark(x.owner.val());
            if let Body::Proc(p) = x.body {
                m.mark(p);
            }
        }
        for g in &self.globals {
            m.mark(g.value);
        }
        for c in &self.codes {
            // SAFETY: written only by the loop, which does not run now.
            unsafe {
                m.mark_all(&*c.values.get());
                for e in (*c.const_cache.get()).iter() {
                    m.mark(e.value);
                }
            }
            for o in c.once.iter() {
                m.mark(o.get());
            }
        }
        m.mark(self.pending.exc);
        if let Some(c) = &self.pending.call {
            trace_call(c, m);
        }
        m.mark_all(&self.roots);
        self.lock_book.trace(m);
        m.mark_all(&self.tasks.threads);
        m.mark(self.tasks.main_thread);
        m.mark(self.main_object);
        m.mark(self.top_cref);
        m.mark_all(self.task.stack.slots(top));
        self.task.trace(m);
        for t in self.tasks.all.values() {
            m.mark_all(t.stack.slots(self.task_top(t)));
            t.trace(m);
        }
        for f in &self.tracers {
            f(self, m);
        }
    }
}
