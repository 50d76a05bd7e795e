//! Thread objects: what is left of a thread when its tasks are gone.
//!
//! **Invariant.** A thread is new (no task), alive (`id` is its first task) or done
//! (`result` or `failed` tells how); it changes from one to the next once, under its
//! object's lock. Its number and which of the three it is are words that others read without.

use crate::native::*;
use crate::sched::now_ns;
use crate::sync::WaitList;
use crate::task::{State, TaskPtr, Waits};
use crate::{Cx, Ticket};
use kumi_heap::*;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::*};

/// `life` of a thread: no task yet; `id` is its first task; `result` or `failed` tells how it ended.
const NEW: u8 = 0;
const ALIVE: u8 = 1;
const DONE: u8 = 2;

/// Where a thread that is done keeps the locals of its first fiber.
const LOCALS: &str = "@__locals";

/// The payload of a Thread.
pub(crate) struct ThreadObj {
    /// Its first task.
    pub id: AtomicU64,
    life: AtomicU8,
    killed: bool,
    /// The death was reported.
    reported: bool,
    /// Its exception goes to the main thread.
    fatal: bool,
    result: Value,
    failed: Value,
    /// Its ThreadGroup; nil: the default one.
    group: Value,
    /// Code of its block, for `inspect`: address of an `ISeq`; 0: none.
    code: u64,
    /// Who joins it: mostly one, others in a list.
    joiner: Option<Ticket>,
    joiners: Option<Box<WaitList>>,
}

impl Payload for ThreadObj {
    fn trace(&self, m: &mut Marker) {
        for v in [self.result, self.failed, self.group] {
            m.mark(v);
        }
        m.code(self.code);
    }
    fn bytes(&self) -> usize {
        80
    }
}

impl ThreadObj {
    fn new() -> ThreadObj {
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

fn thread(cx: &mut Cx, v: Value) -> Result<&'static mut ThreadObj, Exit> {
    match v.as_data::<ThreadObj>() {
        Some(t) => Ok(t),
        None => Err(cx.type_error("wrong argument type (expected thread)")),
    }
}

impl Cx {
    /// The main thread's object.
    pub(crate) fn main_thread(&mut self) -> Value {
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
            if t.state.get() == State::Done && t.is_root() && t.id != main {
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
    pub(crate) fn thread_root(&self, v: Value) -> Option<TaskPtr> {
        let t = v.as_data::<ThreadObj>()?;
        (t.life.load(Acquire) == ALIVE).then(|| self.tasks.get(t.id.load(Relaxed)))?
    }
    /// The running thread ends with `failed`: what has to be called first, if anything.
    pub(crate) fn report_death(&mut self, failed: Value) -> Option<Call> {
        let v = self.task.thread;
        let result = self.task.result;
        let t = v.as_data::<ThreadObj>()?;
        if t.reported {
            return None;
        }
        t.reported = true;
        if failed.is_nil() {
            self.heap.before_store(v, result);
            t.result = result;
            return None;
        }
        if failed.is_kind(Kind::Unwind) {
            return None;
        }
        self.heap.before_store(v, failed);
        t.failed = failed;
        self.task.failed = Value::NIL;
        let c = self.call_helper("thread_died", &[v, failed]);
        debug_assert!(c == Exit::Call);
        self.pending.call.take()
    }
    /// The running thread's first task was left for good: those who join it go on.
    pub(crate) fn thread_ended(&mut self) {
        let v = self.task.thread;
        let parallel = self.parallel;
        if parallel {
            v.lock();
        }
        // Others ask for them, and make them, under the lock.
        let locals = self.task.locals;
        if !locals.is_nil() {
            let name = self.intern(LOCALS);
            self.ivar_set(v, name, locals);
        }
        let Some(t) = v.as_data::<ThreadObj>() else { return };
        t.life.store(DONE, Release);
        let (joiner, joiners) = (t.joiner.take(), t.joiners.take());
        let (failed, fatal) = (t.failed, t.fatal);
        if parallel {
            v.unlock();
        }
        if let Some(j) = joiner {
            self.wake(j);
        }
        if let Some(mut j) = joiners {
            j.wake_all(self);
        }
        if fatal && !failed.is_nil() {
            // abort_on_exception, SystemExit: the main thread gets it.
            if let Some(main) = self.tasks.get(self.tasks.main.load(Relaxed)) {
                self.send_interrupt(main, failed);
            }
        }
    }
    /// Starts a thread of object `v` that runs `block` with `args` and keywords (undef: none).
    pub(crate) fn thread_begin(&mut self, v: Value, block: Value, args: &[Value], kw: Value) -> Result<(), Exit> {
        self.main_thread();
        let me = self.current_thread();
        let group = me.as_data::<ThreadObj>().map_or(Value::NIL, |t| t.group);
        let t = thread(self, v)?;
        if t.life.load(Relaxed) != NEW {
            return Err(self.raise_msg(self.k.thread_error, "already initialized thread"));
        }
        if group.is_heap() && group.frozen() {
            return Err(self.raise_msg(self.k.thread_error, "can't start a new thread (frozen ThreadGroup)"));
        }
        let task = self.new_task(Call { kw, ..Call::of(block, args) }, Some(v))?;
        t.group = group;
        t.code = block.as_proc().map_or(0, |p| p.iseq);
        t.id.store(task.id, Relaxed);
        t.life.store(ALIVE, Release);
        self.heap.charge(task_bytes());
        let first = self.tasks.threads.fetch_add(1, Relaxed) == 0;
        task.state.set(State::New);
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
        let _l = self.parallel.then(|| v.locked());
        self.thread_begin(v, block, args, kw)?;
        Ok(v)
    }
}

fn task_bytes() -> usize {
    size_of::<crate::task::Task>() + 256
}

/// `__thread_alloc(class)`: a Thread object without a task.
fn alloc(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    Ok(cx.data(c, ThreadObj::new()))
}
/// `__thread_start(thread, proc, args, keywords)`
fn start(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let args: Vec<Value> = a[2].as_array().map_or(Vec::new(), |l| l.seen().to_vec());
    cx.thread_begin(a[0], a[1], &args, a[3])?;
    Ok(a[0])
}
/// `__threads()`: all threads that are alive, in the order they were made.
fn list(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    cx.main_thread();
    let mut v = Vec::new();
    {
        let table = cx.shared_tasks();
        let _order = table.lock();
        table.each(|t| {
            if t.is_root() && t.state.get() != State::Done && !t.thread.is_nil() {
                v.push((t.id != table.main.load(Relaxed), t.id as u32, t.thread));
            }
        });
    }
    v.sort_unstable_by_key(|x| (x.0, x.1));
    let v: Vec<Value> = v.into_iter().map(|x| x.2).collect();
    Ok(cx.array(&v))
}
/// `__thread_state(thread)`: :new, :run, :sleep, :done
fn state(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let life = thread(cx, a[0])?.life.load(Acquire);
    let s = match cx.thread_root(a[0]) {
        None if life == NEW => "new",
        None => "done",
        Some(t) if cx.active_of(t).state.get() == State::Waiting => "sleep",
        Some(_) => "run",
    };
    Ok(cx.sym(s))
}
/// `__thread_waits_forever(thread)`: has its wait no time limit?
fn waits_forever(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let t = cx.thread_root(a[0]).map(|t| cx.active_of(t));
    Ok(Value::bool(t.is_some_and(|t| !t.timed.load(Relaxed))))
}
/// `Thread#join(limit = nil)`; limits that are no Integer or Float, and errors, are the prelude's affair.
fn join(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let t = thread(cx, recv)?;
    if cx.task.waits != Waits::Join {
        cx.task.until = match a.first() {
            None => u64::MAX,
            Some(v) if v.is_nil() => u64::MAX,
            Some(v) => match limit_ns(*v) {
                Some(ns) => now_ns().saturating_add(ns),
                None => return Err(Exit::Miss),
            },
        };
        if recv == cx.current_thread() {
            return Err(cx.raise_msg(cx.k.thread_error, "Target thread must not be current thread"));
        }
        if recv == cx.main_thread() {
            return Err(cx.raise_msg(cx.k.thread_error, "Target thread must not be main thread"));
        }
        if t.life.load(Acquire) == NEW {
            return Err(cx.raise_msg(cx.k.thread_error, "uninitialized thread"));
        }
    }
    cx.task.waits = Waits::Nothing;
    if t.life.load(Acquire) == DONE {
        return if t.failed.is_nil() { Ok(recv) } else { Err(cx.raise(t.failed)) };
    }
    if cx.task.until != u64::MAX && now_ns() >= cx.task.until {
        return Ok(Value::NIL);
    }
    if cx.hooked() {
        let limit = a.first().copied().unwrap_or(Value::NIL);
        return Err(cx.call_helper("hooked_join", &[recv, limit]));
    }
    cx.task.waits = Waits::Join;
    let ticket = cx.ticket();
    match t.joiner {
        Some(j) if cx.waits(j) => t.joiners.get_or_insert_default().add(cx, ticket),
        _ => t.joiner = Some(ticket),
    }
    let until = cx.task.until;
    Err(cx.park(until))
}
/// A time limit in seconds as nanoseconds; negative ones are 0.
fn limit_ns(v: Value) -> Option<u64> {
    if let Some(i) = v.as_fix() {
        return Some(u64::try_from(i).unwrap_or(0).saturating_mul(1_000_000_000));
    }
    let f = v.as_float()?;
    Some(if f.is_nan() || f <= 0.0 { 0 } else { (f * 1e9).min(1.8e19) as u64 })
}
/// `__thread_result(thread)`
fn result(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(thread(cx, a[0])?.result)
}
/// `__thread_failed(thread)`: the exception that ended it, or nil.
fn failed(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let t = thread(cx, a[0])?;
    Ok(if t.life.load(Acquire) == DONE { t.failed } else { Value::NIL })
}
/// `__thread_fatal(thread)`: its exception is raised in the main thread when it has ended.
fn fatal(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    thread(cx, a[0])?.fatal = true;
    Ok(Value::NIL)
}
/// `__thread_killed(thread)`, `__thread_kill_mark(thread)`: was it told to end?
fn killed(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(thread(cx, a[0])?.killed))
}
fn kill_mark(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    thread(cx, a[0])?.killed = true;
    Ok(Value::NIL)
}
/// `__thread_group(thread)`, `__thread_set_group(thread, group)`
fn group(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(thread(cx, a[0])?.group)
}
fn set_group(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let t = thread(cx, a[0])?;
    cx.heap.before_store(a[0], a[1]);
    t.group = a[1];
    Ok(a[1])
}
/// `__thread_source(thread)`: [path, line] of its block, or nil.
fn source(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let code = thread(cx, a[0])?.code;
    Ok(cx.code_place(code))
}
/// `Kernel#sleep(duration)` of Integers and Floats, or without: the seconds slept, rounded.
fn sleep(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if cx.hooked() {
        let time = a.first().copied().unwrap_or(Value::NIL);
        return Err(cx.call_helper("hooked_sleep", &[time]));
    }
    if cx.task.waits != Waits::Sleep {
        let until = match a.first() {
            None => u64::MAX,
            Some(v) if v.is_nil() => u64::MAX,
            Some(v) if v.as_fix().is_some_and(|i| i < 0) || v.as_float().is_some_and(|f| f.is_nan() || f < 0.0) => return Err(Exit::Miss),
            Some(v) => match limit_ns(*v) {
                Some(ns) => now_ns().saturating_add(ns),
                None => return Err(Exit::Miss),
            },
        };
        cx.task.since = now_ns();
        cx.task.until = until;
        if cx.task.wake_token.swap(false, Relaxed) {
            return Ok(Value::fix(0));
        }
    } else if cx.task.woken.load(Relaxed) || now_ns() >= cx.task.until {
        cx.task.waits = Waits::Nothing;
        let ns = now_ns() - cx.task.since;
        return Ok(Value::fix(((ns + 500_000_000) / 1_000_000_000) as i64));
    }
    cx.task.waits = Waits::Sleep;
    let until = cx.task.until;
    // A signal may always come: sleeping without limit is no deadlock, unlike Thread.stop.
    cx.pending.forever = until == u64::MAX;
    Err(cx.park(until))
}
/// `__park(deadline_ns or nil)`: waits until woken or the time is over. True when woken. Called again on waking.
fn park(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if cx.task.waits == Waits::Park {
        cx.task.waits = Waits::Nothing;
        return Ok(Value::bool(cx.task.woken.load(Relaxed)));
    }
    if cx.task.wake_token.swap(false, Relaxed) {
        return Ok(Value::TRUE);
    }
    let deadline = if a[0].is_nil() { u64::MAX } else { u64::try_from(cx.arg_i64(a, 0)?).unwrap_or(0) };
    cx.task.waits = Waits::Park;
    Err(cx.park(deadline.max(1)))
}
/// `__park_clear()`: forgets a wake-up that came too early.
fn park_clear(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    cx.task.waits = Waits::Nothing;
    cx.task.wake_token.store(false, Relaxed);
    Ok(Value::NIL)
}
/// `__wake(thread)`: ends its wait; true when it was waiting.
fn wake(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(t) = cx.thread_root(a[0]) else { return Ok(Value::FALSE) };
    let id = cx.active_of(t).id;
    Ok(Value::bool(cx.wake_any(id, false)))
}
/// Calls of `Thread.pass` between two looks at what has come from outside: a microsecond or so of a thread that does
/// nothing else. The clock's ticks look too.
const PASSES_PER_LOOK: u32 = 16;
/// As many in vain until the processor is offered to other processes, some ten microseconds.
const PASSES_PER_YIELD: u32 = 512;

/// `Thread.pass`
fn pass(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    if cx.task.waits == Waits::Pass {
        cx.task.waits = Waits::Nothing;
        return Ok(Value::NIL);
    }
    if cx.tasks.threads.load(Relaxed) == 0 {
        return Ok(Value::NIL);
    }
    // Threads pass while they look whether something has come: the clock and the system are asked now and then.
    cx.turn.passes = cx.turn.passes.wrapping_add(1);
    if cx.turn.passes.is_multiple_of(PASSES_PER_LOOK) {
        cx.take_events();
    }
    let w = cx.worker;
    if !cx.sched().has_ready(w) {
        if cx.turn.passes.is_multiple_of(PASSES_PER_YIELD) {
            // Whom it waits for may be a worker to whom the system gives no processor.
            std::thread::yield_now();
        }
        return Ok(Value::NIL);
    }
    cx.task.waits = Waits::Pass;
    Err(cx.park(0))
}
/// `__task_locals()`: Hash of the running task's fiber-locals, made on first use. With a thread: its active task's.
fn task_locals(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let t = match a.first() {
        None => Some(cx.task),
        Some(v) if *v == cx.current_thread() => Some(cx.task),
        Some(v) => cx.thread_root(*v).map(|t| cx.active_of(t)),
    };
    let Some(mut t) = t else {
        // A thread that is done keeps its locals.
        let name = cx.intern(LOCALS);
        let kept = a.first().map_or(Value::UNDEF, |v| cx.ivar_get(*v, name));
        return Ok(if kept.is_undef() { cx.hash() } else { kept });
    };
    // Other threads may ask for it, and make it: all name the thread, which is locked.
    if t.locals.is_nil() {
        let h = cx.hash();
        cx.heap.publish(h);
        t.locals = h;
    }
    Ok(t.locals)
}

pub(crate) static TABLE: &[NativeDef] = &[
    n("Thread", "join", 0, 1, join).guard(Guard::Objects),
    private("Kernel", "sleep", 0, 1, sleep).guard(Guard::None),
    n("Kernel.", "sleep", 0, 1, sleep).guard(Guard::None),
    n("Thread.", "pass", 0, 0, pass).guard(Guard::None),
    intrinsic("__thread_main", 0, 0, |cx, _, _| Ok(cx.main_thread())).guard(Guard::World),
    intrinsic("__thread_current", 0, 0, |cx, _, _| Ok(cx.current_thread())).guard(Guard::None),
    intrinsic("__thread_alloc", 1, 1, alloc),
    intrinsic("__thread_start", 4, 4, start),
    intrinsic("__threads", 0, 0, list),
    intrinsic("__thread_state", 1, 1, state),
    intrinsic("__thread_waits_forever", 1, 1, waits_forever),
    intrinsic("__thread_result", 1, 1, result),
    intrinsic("__thread_failed", 1, 1, failed),
    intrinsic("__thread_fatal", 1, 1, fatal),
    intrinsic("__thread_killed", 1, 1, killed),
    intrinsic("__thread_kill_mark", 1, 1, kill_mark),
    intrinsic("__thread_group", 1, 1, group),
    intrinsic("__thread_set_group", 2, 2, set_group),
    intrinsic("__thread_source", 1, 1, source),
    intrinsic("__park", 1, 1, park).guard(Guard::None),
    intrinsic("__park_clear", 0, 0, park_clear).guard(Guard::None),
    intrinsic("__wake", 1, 1, wake).guard(Guard::None),
    intrinsic("__task_locals", 0, 1, task_locals).guard(Guard::Objects),
];
