//! Roots: everything the heap must keep, told exactly.
//!
//! **Invariant.** Private cells of a worker are reachable from: the task it runs, the tasks in `Cx::recent` (fibers of
//! the running thread and its first task, suspended now, that ran since their last look), what is `pending`, and other
//! private cells; from nowhere else. A thread that leaves its worker publishes what its tasks hold and empties the
//! list, so the tasks in it are always of the running thread. A node collection leaves no private cells, and empties
//! the lists of all workers: so no list names a fiber that has died.

use crate::Cx;
use crate::cx::runtime::Runtime;
use crate::doors::{Call, Pending, trace_call};
use crate::memory::apart::Stage;
use crate::tasks::fault::Whole;
use crate::tasks::frame::Fresh;
use crate::tasks::task::State;
use crate::tasks::task::TaskPtr;
use crate::tasks::task::TaskTable;
use crate::tasks::task::recent;
use crate::world::tables::Met;
use kumi_heap::{Cause, Heap, Marker, Moment, NODE_TICKS, Showing, Value, Visitor, process_ns};
use std::sync::atomic::Ordering::Relaxed;

impl Cx {
    /// Calls `f` with every live cell of the runtime, while the world is stopped. Not under a guard: other
    /// workers must come to their safepoints. Values it is shown may be another thread's alone: they must not be kept.
    pub fn each_cell(&mut self, mut f: impl FnMut(Value)) {
        while self.stop_world(|cx| cx.walk_heaps(&mut f)).is_none() {}
    }
    /// The live cells that `which` says yes to, for the running thread to keep: they are published.
    pub fn find_cells(&mut self, mut which: impl FnMut(Value) -> bool) -> Vec<Value> {
        loop {
            let found = self.stop_world(|cx| {
                let mut found = Vec::new();
                cx.walk_heaps(&mut |v| {
                    if which(v) {
                        found.push(v);
                    }
                });
                // At the stop: afterwards the thread that has it to itself may change it without a lock.
                for v in &found {
                    cx.heap.publish(*v);
                }
                found
            });
            if let Some(found) = found {
                return found;
            }
        }
    }
    /// Calls `f` with every live cell. The world is stopped.
    fn walk_heaps(&mut self, f: &mut dyn FnMut(Value)) {
        // SAFETY: the world is stopped: no other worker touches its context until this is over.
        let mut heaps: Vec<&mut Heap> = self.workers.iter().map(|w| unsafe { &mut (*w.cx).heap }).collect();
        Heap::each_cell_all(&mut heaps, f);
    }
    /// A node collection now. Only at safepoints: natives ask with `heap.request_gc()`.
    pub(crate) fn collect_garbage(&mut self) {
        let requested = self.heap.shared().stats.now_ns();
        let Some((full, slice)) = self.next_stop() else { return };
        if slice && let Some(s) = self.schedule() {
            s.slice_begins();
        }
        if !slice {
            self.record_collection();
        }
        let stopped = self.stop_world(|cx| {
            if cx.stop.is_ending() {
                // The main thread is over, and what it held no root any more.
                return None;
            }
            let _whole = Whole::begin();
            let (stopped, begun) = (cx.heap.shared().stats.now_ns(), process_ns());
            if slice {
                let last = cx.collect_slice();
                return Some((stopped, last, last.then_some(begun), true));
            }
            // SAFETY: the world is stopped: no other worker touches its context until this is over.
            let mut heaps: Vec<&mut Heap> = cx.workers.iter().map(|w| unsafe { &mut (*w.cx).heap }).collect();
            let rt = cx.runtime();
            let stress = cx.gc_stress > 0;
            rt.tasks.bury();
            // What was not remembered shows afterwards too; before, it shows by whom.
            if cx.verifies && cx.verify_pause == 0 && cx.heap.shared().stat().count.is_multiple_of(8) {
                cx.verify_heap(Moment::BeforeYoung, "before a node collection");
            }
            let met = Met::new(&rt);
            let mut roots = |m: &mut Marker| {
                if full && rt.outside.armed.load(Relaxed) || stress {
                    rt.tasks.each(|mut t| t.empty_dead_registers());
                }
                rt.mark_roots(if full { Stage::First } else { Stage::All }, m);
                rt.mark_tasks(!full, m);
            };
            let mut later = |marked: &dyn Fn(Value) -> bool, m: &mut Marker| rt.mark_apart(Stage::Later(marked), m);
            Heap::collect_rows(&mut heaps, full, full.then(|| met.begin()), &mut roots, &mut later);
            if full {
                cx.outside.whole_is_done();
                rt.sweep_tables(&met);
                rt.note_runners(cx.task.id != 0);
            }
            cx.end_collection();
            Some((stopped, true, full.then_some(begun), false))
        });
        let stopped = stopped.flatten();
        let over = stopped.is_some_and(|s| s.1);
        if let Some(s) = self.schedule().filter(|_| !over) {
            s.pauses();
        }
        if let Some((stopped, over, full, sliced)) = stopped {
            let stats = &self.heap.shared().stats;
            let now = stats.now_ns();
            if sliced {
                stats.sliced(requested, now, over);
            }
            if over {
                stats.resumed(self.worker, requested, stopped, now);
                if sliced {
                    self.record_collection();
                }
                self.record_collected();
            }
            if let Some(begun) = full {
                // On a busy machine the world may stand while nothing is done.
                let slices = if sliced { stats.last().map_or(0, |c| c.cycle.stopped_ns.saturating_sub(c.pause_ns)) } else { 0 };
                self.outside.collected(slices + now.saturating_sub(stopped).min(process_ns().saturating_sub(begun)));
            }
            if let Some(s) = self.schedule().filter(|_| over) {
                s.ended(self.heap.shared(), full.is_some());
            }
            if over && self.outside.armed.load(Relaxed) {
                self.sweep_everywhere();
            }
        }
        self.settle_sites(if over { NODE_TICKS } else { 1 });
        if self.heap.shared().has_pending_finalizers() {
            self.heap.poll.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        if over {
            self.give_back_in_time();
        }
    }
    /// What is next: a full collection or a young one, at one stop, or a slice of a full one. `None`: nothing is due.
    fn next_stop(&mut self) -> Option<(bool, bool)> {
        let shared = self.heap.shared().clone();
        let scheduled = self.schedule().is_some() && !shared.stats.is_stressed();
        // One that a program asks for, to go in slices, begins whatever the schedule says.
        if (!scheduled || shared.cycle_is_open() || shared.wants_cycle()) && shared.next_is_slice() {
            return Some((false, true));
        }
        let full = self.next_collection()?;
        // A schedule says when; whether it goes in slices is the heap's affair.
        let slice = full && scheduled && shared.may_go_in_slices();
        Some((full && !slice, slice))
    }
    /// All is marked that lives. The world is stopped.
    fn end_collection(&mut self) {
        let rt = self.runtime();
        rt.tasks.each_recent(|mut t| t.recent = 0);
        for w in &rt.workers {
            // SAFETY: as above.
            unsafe { (*w.cx).recent.clear() };
        }
        self.verify_now_and_then(Moment::Marked, "after a node collection");
    }
    /// After a collection or a slice of one, less often where a look takes long.
    fn verify_now_and_then(&mut self, moment: Moment, when: &str) {
        if self.verifies && self.verify_pause > 0 {
            self.verify_pause -= 1;
        } else if self.verifies {
            let t0 = std::time::Instant::now();
            self.verify_heap(moment, when);
            // It takes seven tenths of a millisecond of a collection.
            self.verify_pause = (t0.elapsed().as_micros() / 700).min(64) as u32;
        }
    }
    /// A slice of a full collection. The world is stopped. Was it the last?
    fn collect_slice(&mut self) -> bool {
        let rt = self.runtime();
        // SAFETY: the world is stopped: no other worker touches its context until this is over.
        let mut heaps: Vec<&mut Heap> = self.workers.iter().map(|w| unsafe { &mut (*w.cx).heap }).collect();
        rt.tasks.bury();
        let dead_too = self.gc_stress > 0 || rt.outside.armed.load(Relaxed);
        let over = Heap::collect_slice(&mut heaps, &mut |m, showing| {
            rt.mark_roots(Stage::Whole, m);
            rt.mark_changed_tasks(dead_too, showing, m)
        });
        if over {
            rt.note_runners(self.task.id != 0);
            self.end_collection();
            // What only others hold is told from the rest by full collections at one stop.
            let mut held = Held(false);
            rt.mark_apart(Stage::All, &mut Marker::new(&mut held));
            if held.0 && self.outside.whole_is_due() {
                self.heap.shared().stats.because(Cause::Outside);
                self.heap.request_full();
            }
        } else {
            self.verify_now_and_then(Moment::BeforeYoung, "after a slice of a collection");
        }
        over
    }
}

/// Is any cell shown?
struct Held(bool);

impl Visitor for Held {
    fn visit(&mut self, v: Value) {
        self.0 |= v.is_heap();
    }
}

/// Stacks above that many slots are looked at in parts.
const LONG: usize = 1024;

/// Shows the values of a worker that stand in no cell and no task of another thread.
struct Nursery<'a> {
    task: TaskPtr,
    root: TaskPtr,
    /// All is published afterwards.
    shared: bool,
    /// What is known of the running task's stack.
    known: Option<Fresh>,
    recent: &'a [u64],
    tasks: &'a TaskTable,
}

impl Nursery<'_> {
    /// The stack and fields of the running task and of the recent ones.
    fn stacks(&self, m: &mut Marker) {
        let mut task = self.task;
        task.show(self.shared, self.known, m);
        if self.root != self.task {
            // Fibers change it in their thread's first task.
            if let Some(f) = self.root.first() {
                m.mark(f.matched);
            }
            if self.shared {
                self.resumers(m);
            }
        }
        for id in self.recent {
            if let Some(mut t) = self.tasks.get(*id).filter(|t| *t != self.task) {
                t.show(self.shared, None, m);
            }
        }
    }
}

impl Nursery<'_> {
    /// The tasks that wait for the running fiber. They may have left the list, and go with their thread.
    fn resumers(&self, m: &mut Marker) {
        let resumer = |t: TaskPtr| t.as_fiber().and_then(|f| f.resumer);
        let mut at = resumer(self.task);
        let mut show = |mut t: TaskPtr| {
            if t.recent & recent::LISTED == 0 {
                t.show(true, None, m);
            }
        };
        while let Some(t) = at.and_then(|id| self.tasks.get(id)) {
            if t != self.root {
                show(t);
            }
            at = resumer(t);
        }
        show(self.root);
    }
}

/// Shows what a worker has pending between two bytecodes.
pub(crate) fn show_pending(pending: &Pending, switch_to: &Option<(u64, Result<Value, Value>)>, m: &mut Marker) {
    m.mark(pending.exc);
    m.mark(pending.keep);
    if let Some(c) = &pending.call {
        trace_call(c, m);
    }
    if let Some((_, v)) = switch_to {
        m.mark(v.unwrap_or_else(|e| e));
    }
}

impl Cx {
    // --- the running thread's private values -----------------------------------

    /// A task of the running thread is left, or is new: what it holds may be private.
    #[inline]
    pub fn note_recent(&mut self, mut t: TaskPtr) {
        if t.recent & recent::LISTED == 0 {
            self.recent.push(t.id);
        }
        if t.recent & recent::TOUCHED == 0 {
            self.tasks.note_recent(t);
        }
        t.recent = recent::LISTED | recent::RAN | recent::TOUCHED;
    }
    /// Empties the list of recent tasks.
    pub(crate) fn forget_recent(&mut self) {
        for id in std::mem::take(&mut self.recent) {
            if let Some(mut t) = self.tasks.get(id) {
                t.recent &= recent::TOUCHED;
            }
        }
    }
    /// The running thread is about to leave this worker: what its tasks hold is published. Its frame must stand in
    /// `task.base` (`park_state`).
    #[inline]
    pub(crate) fn publish_stacks(&mut self) {
        if self.recent.is_empty() && !self.heap.has_private() {
            return;
        }
        let Cx { heap, task, root, recent, rt, .. } = self;
        if heap.nurseries() {
            let w = Nursery { task: *task, root: *root, shared: true, known: None, recent, tasks: &rt.tasks };
            heap.publish_roots(|m| w.stacks(m));
            heap.all_shown();
        }
        self.forget_recent();
    }
    /// As [`Cx::publish_stacks`] at the end of a thread, whose own stack is empty: its fibers may outlive it.
    pub(crate) fn publish_fibers(&mut self) {
        if self.recent.is_empty() {
            return;
        }
        if self.heap.nurseries() {
            let Cx { heap, task, recent, rt, .. } = self;
            heap.publish_roots(|m| {
                for mut t in recent.iter().filter_map(|id| rt.tasks.get(*id)).filter(|t| t != task) {
                    t.show(true, None, m);
                }
            });
        }
        self.forget_recent();
    }
    /// Publishes the values of a call that another task will make.
    pub(crate) fn publish_call(&mut self, c: &Call) {
        self.heap.publish_roots(|m| trace_call(c, m));
    }
    /// Recent tasks that have not run since the last nursery collection leave the list: what they hold leaves the nursery.
    pub(crate) fn age_recent(&mut self) {
        if self.recent.is_empty() {
            return;
        }
        let mut old = Vec::new();
        let (running, tasks) = (self.task, &self.rt.tasks);
        self.recent.retain(|id| {
            let Some(mut t) = tasks.get(*id) else { return false };
            if t.recent & recent::RAN == 0 && t != running {
                t.recent &= recent::TOUCHED;
                old.push(t);
                return false;
            }
            t.recent &= !recent::RAN;
            true
        });
        if !old.is_empty() {
            self.heap.retire_roots(|m| old.iter_mut().for_each(|t| t.show(false, None, m)));
        }
    }
    /// A nursery collection, by this worker alone. Only at safepoints.
    pub(crate) fn collect_nursery(&mut self) {
        let _whole = Whole::begin();
        self.show_stack();
        self.age_recent();
        let Cx { heap, task, root, recent, rt, pending, switch_to, .. } = self;
        let mut known = None;
        if task.base > LONG {
            heap.retire_roots(|m| known = task.show_aged(m));
        }
        let w = Nursery { task: *task, root: *root, shared: false, known, recent, tasks: &rt.tasks };
        heap.collect_nursery(|m| {
            w.stacks(m);
            show_pending(pending, switch_to, m);
        });
        if self.verifies && self.verify_pause > 0 {
            self.verify_pause -= 1;
        } else if self.verifies {
            let t0 = std::time::Instant::now();
            self.stop_world(|cx| cx.verify_heap(Moment::BeforeYoung, "after a nursery collection"));
            // Where a look takes long, it is taken less often: five nursery collections are let pass for a millisecond.
            self.verify_pause = (t0.elapsed().as_micros() / 200).min(256) as u32;
        }
        self.settle_sites(1);
    }
}

impl Runtime {
    /// What the tables of the runtime hold, table by table.
    pub(crate) fn table_roots(&self, f: &mut dyn FnMut(&str, &mut dyn FnMut(&mut Marker))) {
        f("known classes", &mut |m| self.k.trace(m));
        f("methods", &mut |m| if m.rows() { self.pinned_rows(m) } else { self.methods.iter().for_each(|x| x.show(m)) });
        f("globals", &mut |m| {
            for g in &self.globals {
                m.mark(g.value());
            }
        });
        for c in crate::cx::runtime::lock(&self.codes).iter() {
            f("code", &mut |m| {
                if !m.rows() {
                    crate::world::tables::show_values(c, m);
                }
            });
        }
        f("kept values", &mut |m| m.mark_all(&self.kept()));
        f("work aside", &mut |m| self.aside.mark(m));
        f("enabled TracePoints", &mut |m| self.hooks.mark(m));
        f("locks that threads hold", &mut |m| self.lock_book.trace(m));
        f("time limits", &mut |m| self.limits.trace(m));
        f("main object and its place", &mut |m| m.mark_all(&[self.main_object, self.top_cref]));
        let Some(first) = self.workers.first() else { return };
        // SAFETY: as in `collect_garbage`.
        let cx = unsafe { &*first.cx };
        for (i, t) in self.tracers.iter().enumerate() {
            f(&format!("native crate's table {i}"), &mut |m| t(cx, m));
        }
    }
    /// Roots that are apart. Is any to be asked again?
    pub(crate) fn mark_apart(&self, stage: Stage, m: &mut Marker) -> bool {
        let Some(first) = self.workers.first() else { return false };
        // SAFETY: as in `collect_garbage`.
        let cx = unsafe { &*first.cx };
        let mut again = false;
        for show in &self.apart {
            again |= show(cx, stage, m);
        }
        again
    }
    /// Is the task kept by the table of tasks (not by a fiber's object)? `young` as for `mark_roots`.
    pub(crate) fn is_kept(t: TaskPtr, young: bool) -> bool {
        // A fiber that waits to be resumed lives as long as its object.
        let s = t.state();
        let held = s == State::New || s.is_suspended();
        s != State::Done && (t.is_root() || !held || young && t.recent & recent::TOUCHED != 0)
    }

    /// Everything that neither cells nor tasks hold. `apart`: how roots that are apart are shown.
    fn mark_roots(&self, apart: Stage, m: &mut Marker) {
        // A shape is found by its names.
        if let (true, Some(w)) = (m.rows(), self.workers.first()) {
            // SAFETY: as in `collect_garbage`.
            unsafe { (*w.cx).heap.shapes.each_name(|s| m.sym(s)) };
        }
        self.table_roots(&mut |_, show| show(m));
        self.mark_apart(apart, m);
        for w in &self.workers {
            // SAFETY: as in `collect_garbage`.
            let cx = unsafe { &*w.cx };
            show_pending(&cx.pending, &cx.switch_to, m);
        }
    }
    /// What tasks hold. `young`: the collection looks at old cells only where they were stored into since the last one; a fiber's stack
    /// changes without such a note.
    fn mark_tasks(&self, young: bool, m: &mut Marker) {
        self.tasks.each(|t| {
            if Runtime::is_kept(t, young) {
                t.trace(m);
            }
        });
    }
    /// What tasks hold that may have changed since a slice of this collection was shown them; as many of them as there is time for. True:
    /// that was all. A task changes while it runs, and where `TaskTable::get_changing` says so.
    fn mark_changed_tasks(&self, dead_too: bool, showing: &Showing, m: &mut Marker) -> bool {
        if showing.first {
            self.tasks.all_changed();
        }
        let mut shown = 0;
        let whole = self.tasks.each_changed(|mut t| {
            if dead_too {
                t.empty_dead_registers();
            }
            if Runtime::is_kept(t, true) {
                t.trace(m);
                shown += 1;
            }
            !showing.is_over(shown)
        });
        // Those that run go on; and what is private, of which those in the list may hold some, is marked by the last look alone.
        for w in &self.workers {
            // SAFETY: as in `collect_garbage`.
            let cx = unsafe { &*w.cx };
            for id in [cx.task.id, cx.root.id].iter().chain(&cx.recent) {
                self.tasks.get_changing(*id);
            }
        }
        whole
    }
}
