//! Work of natives that may take very long: done aside, on a thread of its own, while the task that wants it waits.
//!
//! As long as it goes on the task can be interrupted like any that waits: a signal, a time limit, `Thread#kill` end the
//! wait, not the work, which is told that nobody wants it ([`Stop`](AtomicBool)) and left to its end. So the thread's worker is free
//! meanwhile, for other threads and for collections.
//!
//! **Invariant.** The work is what `detach.rs` says of work: it has no [`Cx`] and changes no cell. Every cell that it reads, and
//! that its result names, is reached from its `roots`, which are marked until the work has ended and its result was taken
//! or given up. While it goes on it counts as a detached worker (`worker.rs`): replaced buffers are kept, whoever runs does
//! so in parallel mode, and a fork waits. A task has one piece of such work at a time. What a native finds when it is called again is
//! its own if the types agree; it looks whether it was made of what stands there now, as after any detour.

use crate::Cx;
use crate::cx::runtime::{Runtime, lock};
use crate::doors::Work;
use crate::tasks::task::Wait;
use crate::tasks::waker::Waker;
use kumi_heap::{Marker, Value};
use kumi_sched::Threads;
use std::any::{Any, TypeId};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, Mutex};

/// A result, or what the work panicked with.
type Outcome = std::thread::Result<Box<dyn Any>>;

#[derive(Default)]
struct State {
    done: Option<Outcome>,
    waker: Option<Waker>,
}

/// One piece of work.
struct Piece {
    /// The type of its result.
    kind: TypeId,
    roots: Vec<Value>,
    /// Nobody wants the result.
    stop: AtomicBool,
    runs: AtomicBool,
    state: Mutex<State>,
}

impl Piece {
    /// Is it read, or is its result going to be?
    fn is_of_use(&self) -> bool {
        self.runs.load(Acquire) || !self.stop.load(Acquire)
    }
}

// SAFETY: `roots` are published cells and are only marked; a result is made by one thread and then taken by one, both by the lock.
unsafe impl Send for Piece {}
// SAFETY: as above.
unsafe impl Sync for Piece {}

struct Sent(Work);
// SAFETY: the work owns what it reads, or reads published cells that the piece's roots keep (the module's invariant).
unsafe impl Send for Sent {}

/// What the task that wants the result has of it. Dropped: nobody wants it any more.
pub struct Wanted(Arc<Piece>);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.stop.store(true, Release);
    }
}

impl std::fmt::Debug for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Wanted(runs: {})", self.0.runs.load(Relaxed))
    }
}

/// The pieces of a runtime that may still be read by somebody, and the threads they are done on.
#[derive(Default)]
pub(crate) struct Pieces {
    list: Mutex<Vec<Arc<Piece>>>,
    threads: Arc<Threads>,
}

impl Pieces {
    pub(crate) fn mark(&self, m: &mut Marker) {
        for p in lock(&self.list).iter().filter(|p| p.is_of_use()) {
            p.roots.iter().for_each(|v| m.mark(*v));
        }
    }
    fn sort_out(&self) {
        lock(&self.list).retain(|p| p.is_of_use());
    }
    /// Nobody wants any of the results.
    pub(crate) fn call_off(&self) {
        lock(&self.list).iter().for_each(|p| p.stop.store(true, Release));
    }
    /// Waits for the end of what is under way.
    pub(crate) fn join(&self) {
        self.threads.join();
    }
    /// The child of a fork has none of the threads; none of them was in a piece.
    pub(crate) fn after_fork(&mut self) {
        std::mem::forget(std::mem::take(&mut self.threads));
    }
}

impl Cx {
    /// Ends the native: it is called again when `work` is done. If the same work is under way, since the wait for it was
    /// interrupted and goes on, that is waited for.
    pub(crate) fn go_aside(&mut self, kind: TypeId, roots: &[Value], work: Work) -> crate::Exit {
        let piece = match &self.task.wait {
            Wait::Aside(w) if w.0.kind == kind => w.0.clone(),
            _ => {
                roots.iter().for_each(|v| self.heap.publish(*v));
                let p = Piece {
                    kind,
                    roots: roots.to_vec(),
                    stop: AtomicBool::new(false),
                    runs: AtomicBool::new(true),
                    state: Mutex::default(),
                };
                let p = Arc::new(p);
                lock(&self.aside.list).push(p.clone());
                self.task.wait = Wait::Aside(Wanted(p.clone()));
                self.pending.aside = Some(work);
                p
            }
        };
        let waker = self.waker();
        // It is no deadlock, however long it lasts.
        self.from_outside();
        let mut s = lock(&piece.state);
        if s.done.is_some() {
            waker.wake();
        }
        s.waker = Some(waker);
        crate::Exit::Park
    }
    /// The result of that kind, if it is there.
    pub(crate) fn from_aside(&mut self, kind: TypeId) -> Option<Box<dyn Any>> {
        let Wait::Aside(w) = &self.task.wait else { return None };
        if w.0.kind != kind {
            return None;
        }
        let done = lock(&w.0.state).done.take()?;
        self.task.wait = Wait::Nothing;
        self.aside.sort_out();
        match done {
            Ok(v) => Some(v),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    /// Starts the work that the native has left behind; between two bytecodes.
    pub(crate) fn start_aside(&mut self, work: Work) {
        let Wait::Aside(w) = &self.task.wait else { return };
        let piece = w.0.clone();
        let (rt, heap) = (self.runtime(), self.heap.shared().clone());
        let Some(seen) = self.reader_aside_begins() else {
            // Somebody is about to fork.
            return end(&piece, outcome(work, &piece));
        };
        let sent = Sent(work);
        let job = move |rt: Arc<Runtime>, piece: Arc<Piece>| {
            let sent = sent;
            let Sent(work) = sent;
            let _charged = rt.account.charge();
            let done = outcome(work, &piece);
            if done.is_err() {
                // What was refused is tried again, or the program goes on: either needs what this thread has freed. No fork begins before
                // the reader ends.
                rt.give_back.give_own();
            }
            rt.reader_aside_ends(&heap, seen);
            end(&piece, done);
            rt.aside.sort_out();
        };
        // As `Builder::spawn` drops the work where the system gives no thread, it is handed over afterwards.
        let (give, take) = std::sync::mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let thread = std::thread::Builder::new().name("kumi-aside".into()).stack_size(crate::tasks::worker::NATIVE_STACK);
        let made = self.aside.threads.spawn(thread, move || {
            if let Ok(job) = take.recv() {
                job();
            }
        });
        let job: Box<dyn FnOnce() + Send> = Box::new(move || job(rt, piece));
        if made.is_err() {
            return job();
        }
        if let Err(e) = give.send(job) {
            (e.0)();
        }
    }
}

/// Does the work. A refusal of memory is caught here, and is its task's when that takes the result.
fn outcome(work: Work, piece: &Piece) -> Outcome {
    let _catcher = kumi_budget::Catcher::new();
    catch_unwind(AssertUnwindSafe(|| work(&piece.stop))).map_err(kumi_budget::told)
}

/// Hands the result over, or drops it where nobody wants it.
fn end(piece: &Piece, done: Outcome) {
    let mut s = lock(&piece.state);
    if !piece.stop.load(Acquire) {
        s.done = Some(done);
    }
    if let Some(w) = s.waker.take() {
        w.wake();
    }
    drop(s);
    piece.runs.store(false, Release);
}
