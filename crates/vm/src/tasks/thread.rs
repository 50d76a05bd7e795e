//! Thread objects: what is left of a thread when its tasks are gone.
//!
//! **Invariant.** A thread is new (no task), alive (`id` is its first task) or done
//! (`result` or `failed` tells how); it changes from one to the next once, under its
//! object's lock. Its number and which of the three it is are words that others read without.

use crate::doors::*;
use crate::tasks::lock_book::WaitList;
use crate::tasks::task::{State, TaskPtr};
use crate::{Cx, Ticket};
use kumi_heap::*;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::*};

/// `life` of a thread: no task yet; `id` is its first task; `result` or `failed` tells how it ended.
pub const NEW: u8 = 0;
pub const ALIVE: u8 = 1;
pub const DONE: u8 = 2;

/// Where a thread that is done keeps the locals of its first fiber.
pub const LOCALS: &str = "@__locals";

/// The payload of a Thread.
pub struct ThreadObj {
    /// Its first task.
    pub id: AtomicU64,
    pub life: AtomicU8,
    pub killed: bool,
    /// The death was reported.
    pub reported: bool,
    /// Its exception goes to the main thread.
    pub fatal: bool,
    pub result: Value,
    pub failed: Value,
    /// Its ThreadGroup; nil: the default one.
    pub group: Value,
    /// Code of its block, for `inspect`: address of an `ISeq`; 0: none.
    pub code: u64,
    /// Who joins it: mostly one, others in a list.
    pub joiner: Option<Ticket>,
    pub joiners: Option<Box<WaitList>>,
}

impl Payload for ThreadObj {
    fn trace(&self, m: &mut Marker) {
        for v in [self.result, self.failed, self.group] {
            m.mark(v);
        }
        m.code(self.code);
    }
    fn bytes(&self) -> usize {
        80 + if self.life.load(Relaxed) == ALIVE { task_bytes() } else { 0 }
    }
}

impl ThreadObj {
    pub fn new() -> ThreadObj {
        ThreadObj {
            id: AtomicU64::new(0),
            life: AtomicU8::new(NEW),
            killed: false,
            reported: false,
            fatal: false,
            result: Value::NIL,
            failed: Value::NIL,
            group: Value::NIL,
            code: 0,
            joiner: None,
            joiners: None,
        }
    }
}

/// The Thread that `v` is.
///
/// # Errors
/// A TypeError, when it is none.
pub fn thread<'v>(cx: &mut Cx, v: &'v Value) -> Result<&'v ThreadObj, Exit> {
    v.as_data::<ThreadObj>().ok_or_else(|| cx.type_error("wrong argument type (expected thread)"))
}

impl Cx {
    /// The main thread's object.
    pub fn main_thread(&mut self) -> Value {
        let Some(mut t) = self.tasks.get(self.tasks.main.load(Relaxed)) else { return Value::NIL };
        if t.thread.is_nil() {
            let v = self.data(self.k.thread, ThreadObj { id: AtomicU64::new(t.id), life: AtomicU8::new(ALIVE), ..ThreadObj::new() });
            t.thread = v;
            self.keep(v);
        }
        t.thread
    }
    /// After a fork `v` is the main thread.
    pub(crate) fn thread_is_main(&mut self, v: Value) {
        if !v.is_nil() {
            self.keep(v);
        }
        let main = self.tasks.main.load(Relaxed);
        let mut fibers = Vec::new();
        self.tasks.each(|t| fibers.push(t));
        for t in fibers {
            if t.state() == State::Done && t.is_root() && t.id != main {
                if let Some(o) = t.thread.as_data::<ThreadObj>() {
                    o.life.store(DONE, Release);
                }
                self.tasks.remove(t.id);
            }
        }
    }
    /// The running thread's object.
    pub fn current_thread(&mut self) -> Value {
        if self.task.thread.is_nil() {
            let v = self.main_thread();
            self.task.thread = v;
        }
        self.task.thread
    }
    /// The first task of a thread that is alive.
    pub fn thread_root(&self, v: Value) -> Option<TaskPtr> {
        let t = v.as_data::<ThreadObj>()?;
        (t.life.load(Acquire) == ALIVE).then(|| self.tasks.get(t.id.load(Relaxed)))?
    }
    /// The running thread ends with a value, or with what ended it: what has to be called first, if anything.
    pub(crate) fn report_death(&mut self, left: Result<Value, Value>) -> Option<Call> {
        let v = self.task.thread;
        let t = self.heap.edit_data::<ThreadObj>(v)?;
        if std::mem::replace(&mut t.reported, true) {
            return None;
        }
        let failed = match left {
            Ok(result) => {
                self.heap.before_store(v, result);
                self.heap.edit_data::<ThreadObj>(v)?.result = result;
                return None;
            }
            Err(e) => e,
        };
        if failed.is_kind(Kind::Unwind) {
            return None;
        }
        self.heap.before_store(v, failed);
        self.heap.edit_data::<ThreadObj>(v)?.failed = failed;
        let c = self.call_helper("thread_died", &[v, failed]);
        debug_assert!(c == Exit::Call);
        self.pending.call.take()
    }
    /// The running thread's first task was left for good: those who join it go on.
    pub(crate) fn thread_ended(&mut self) {
        let v = self.task.thread;
        let lock = self.lock_cell(v);
        // Others ask for them, and make them, under the lock.
        let locals = self.task.locals;
        if !locals.is_nil() {
            let name = self.intern(LOCALS);
            self.ivar_set(v, name, locals);
        }
        let Some(t) = v.as_data::<ThreadObj>() else { return };
        if t.fatal && !t.failed.is_nil() {
            // abort_on_exception, SystemExit: the main thread gets it, before it could get it by joining.
            if let Some(main) = self.tasks.get(self.tasks.main.load(Relaxed)) {
                self.send_interrupt(main, t.failed);
            }
        }
        let Some(t) = self.heap.edit_data::<ThreadObj>(v) else { return };
        t.life.store(DONE, Release);
        let (joiner, joiners) = (t.joiner.take(), t.joiners.take());
        drop(lock);
        if let Some(j) = joiner {
            self.wake(j);
        }
        if let Some(mut j) = joiners {
            j.wake_all(self);
        }
    }
    /// Starts a thread of object `v` that runs `block` with `args` and keywords (undef: none).
    pub fn thread_begin(&mut self, v: Value, block: Value, args: &[Value], kw: Value) -> Result<(), Exit> {
        self.main_thread();
        let me = self.current_thread();
        let group = me.as_data::<ThreadObj>().map_or(Value::NIL, |t| t.group);
        let t = thread(self, &v)?;
        if t.life.load(Relaxed) != NEW {
            return Err(self.raise_msg(self.k.thread_error, "already initialized thread"));
        }
        if group.is_heap() && group.frozen() {
            return Err(self.raise_msg(self.k.thread_error, "can't start a new thread (frozen ThreadGroup)"));
        }
        if let Err(e) = self.begin_sched() {
            return Err(self.raise_msg(self.k.thread_error, &format!("can't create Thread: {e}")));
        }
        let task = self.new_thread_task(Call { kw, ..Call::of(block, args) }, v)?;
        if let Some(t) = self.heap.edit_data::<ThreadObj>(v) {
            t.group = group;
            t.code = block.as_proc().map_or(0, |p| p.iseq);
            t.id.store(task.id, Relaxed);
            t.life.store(ALIVE, Release);
        }
        self.heap.spend(task_bytes());
        let first = self.tasks.threads.fetch_add(1, Relaxed) == 0;
        self.sched().push(self.worker, task.id, false);
        self.start_workers();
        if first {
            self.start_ticker();
        }
        let w = self.worker;
        self.sched().nudge(w);
        Ok(())
    }
    /// `Thread.new` of a plain Thread: the object and its task in one go.
    pub(crate) fn thread_new(&mut self, class: Gc<ClassObj>, block: Value, args: &[Value], kw: Value) -> R {
        let v = self.data(class, ThreadObj::new());
        // From the moment that it has a task others find it.
        let _l = self.lock_cell(v);
        self.thread_begin(v, block, args, kw)?;
        Ok(v)
    }
}

/// Bytes of a task whose stack is small.
pub(crate) fn task_bytes() -> usize {
    size_of::<crate::tasks::task::Task>() + 256
}
