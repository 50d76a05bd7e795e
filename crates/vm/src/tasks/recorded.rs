//! What a recording is told of tasks ([`kumi_record`]).
//!
//! **Invariant.** Where nothing is recorded each of these is one branch, on ways that lead to the scheduler or the collector anyway.

use crate::Cx;
use crate::tasks::task::TaskPtr;
use kumi_heap::Collected as What;
use kumi_record::{Allocated, By, Collected, Recorder};
use std::sync::Arc;

impl Cx {
    /// Where this runtime is recorded.
    #[inline]
    pub fn recorder(&self) -> Option<&Arc<Recorder>> {
        self.options.recorder.as_ref()
    }
    fn allocated(&self) -> Allocated {
        let workers = self.heap.shared().stats.workers();
        workers.iter().fold(Allocated::default(), |a, w| Allocated {
            bytes: a.bytes.saturating_add(w.allocated_bytes),
            freed: a.freed.saturating_add(w.nursery_freed_bytes),
        })
    }
    /// The program begins. What lives then is counted by a collection.
    pub(crate) fn record_begin(&mut self) {
        if let Some(r) = self.recorder().cloned() {
            r.begin(self.root.id, self.allocated());
            self.collect_for_record();
        }
    }
    /// It ends, after another one.
    pub(crate) fn record_end(&mut self) {
        if let Some(r) = self.recorder().cloned() {
            self.collect_for_record();
            r.end(self.allocated());
        }
    }
    /// In a fork's child nothing is recorded.
    pub(crate) fn record_forked(&self) {
        if let Some(r) = self.recorder() {
            r.forked();
        }
    }
    fn collect_for_record(&mut self) {
        self.heap.shared().request_full();
        self.collect_garbage();
    }
    #[inline]
    pub(super) fn record_takes_up(&self) {
        if let Some(r) = self.recorder() {
            r.takes_up(self.root.id, self.allocated());
        }
    }
    #[inline]
    pub(super) fn record_leaves(&self) {
        if let Some(r) = self.recorder() {
            r.leaves(self.allocated());
        }
    }
    #[inline]
    pub(super) fn record_looks(&self) {
        if let Some(r) = self.recorder() {
            r.looks(self.allocated());
        }
    }
    #[inline]
    pub(super) fn record_waits(&self, task: TaskPtr, number: u64, named: bool) {
        if let Some(r) = self.recorder() {
            r.waits(self.root.id, task.id, number, named);
        }
    }
    /// The wait of the running task was ended before it began.
    #[inline]
    pub(super) fn record_needs_no_wait(&self, task: TaskPtr) {
        if let Some(r) = self.recorder().filter(|_| task.beside.is_woken()) {
            r.need_not_wait(task.id, task.beside.seq().saturating_sub(1));
        }
    }
    #[inline]
    pub(super) fn record_ended(&self, task: u64, number: u64) {
        if let Some(r) = self.recorder() {
            r.ended(task, number);
        }
    }
    #[inline]
    pub(super) fn record_ends_by(&self, by: By) {
        if let Some(r) = self.recorder() {
            r.ends_by(by);
        }
    }
    #[inline]
    pub(super) fn record_born(&self, child: u64) {
        if let Some(r) = self.recorder() {
            r.born(child);
        }
    }
    /// The running thread ends.
    #[inline]
    pub(super) fn record_over(&self) {
        if let Some(r) = self.recorder() {
            r.over(self.root.id);
        }
    }
    pub(crate) fn record_idle(&self, lasted: u64) {
        if let Some(r) = self.recorder() {
            r.was_idle(lasted);
        }
    }
    #[inline]
    pub(crate) fn record_collection(&self) {
        if let Some(r) = self.recorder() {
            r.collection(self.allocated());
        }
    }
    #[inline]
    pub(crate) fn record_collected(&self) {
        if let Some(r) = self.recorder()
            && let Some(last) = self.heap.shared().stats.last()
        {
            let what = if last.what == What::Full { Collected::Full } else { Collected::Young };
            r.collected(what, last.before_bytes, last.after_bytes, self.allocated());
        }
    }
}
