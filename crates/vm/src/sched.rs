//! Which task runs: fibers switched by name, threads in turn on one worker.
//!
//! A task that does not run has its frame and next instruction in `task.base` and
//! `task.pc`, and in `task.dst` the slot that takes the value it is resumed with.
//! Threads change only at safepoints and where a native parks; a parked native is
//! called again when its task runs again.

use crate::Cx;
use crate::interp::Flow;
use crate::interp::frame::ff;
use crate::native::*;
use crate::task::{State, Task, Ticket};
use kumi_heap::*;
use std::sync::atomic::Ordering::Relaxed;

/// Turn length of a thread while others are ready, in safepoint ticks of the timer.
const TURN_NS: u64 = 10_000_000;

/// Monotonic nanoseconds.
pub fn now_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: plain out-parameter.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

impl Cx {
    /// What waits for a moment between two bytecodes.
    #[cold]
    #[inline(never)]
    pub(crate) fn safepoint(&mut self) -> Flow {
        self.heap.poll.store(false, Relaxed);
        self.shrink_stack();
        if self.gc_stress > 0 {
            self.heap.poll.store(true, Relaxed);
            self.gc_tick += 1;
            if self.gc_tick >= self.gc_stress {
                self.gc_tick = 0;
                self.collect_garbage();
                self.heap.poll.store(true, Relaxed);
            }
        }
        if self.heap.wants_gc() {
            self.collect_garbage();
            if self.heap.over_limit() {
                let e = self.make_exc(self.k.no_memory_error, "failed to allocate memory");
                return self.raise_exc(e);
            }
        }
        if self.heap.shared().has_pending_finalizers() {
            let all = self.heap.shared().take_pending_finalizers();
            let mut list = Vec::new();
            for (procs, id) in all {
                let p = self.array(&procs);
                let pair = [p, Value::fix(id as i64)];
                list.push(self.array(&pair));
            }
            let a = self.array(&list);
            let x = self.call_helper("run_finalizers", &[a]);
            return self.leaf_exit_drop(x);
        }
        if let Some(h) = self.signal_hook {
            if let Some(c) = h(self) {
                let main = self.tasks.main_id;
                let here = self.task.id == main
                    || self.task.thread == self.tasks.main_thread
                    || self.tasks.all.get(&main).is_none_or(|t| !matches!(t.state, State::Ready | State::Waiting));
                if here {
                    return self.do_call(c, 0, ff::DISCARD);
                }
                // Handlers run on the main thread.
                self.park_state(0, ff::DISCARD);
                self.task.state = State::Ready;
                let id = self.task.id;
                self.tasks.ready.push_back(id);
                self.signal_wakes_main(c);
                return self.run_next();
            }
        }
        if !self.task.interrupts.is_empty() && self.due_interrupt(&self.task, false).is_some() {
            return self.take_interrupt(false);
        }
        if self.tasks.ticking() && now_ns() >= self.tasks.turn_ends {
            // The turn is over: whoever is ready by now, waiters included, comes first.
            self.tasks.turn_ends = now_ns() + TURN_NS;
            self.wake_due();
            if !self.tasks.ready.is_empty() {
                return self.preempt();
            }
        }
        Flow::Go
    }

    // --- switching ------------------------------------------------------------

    fn park_state(&mut self, dst: usize, flags: u64) {
        let fp = self.fp();
        self.task.base = self.slot_of(fp);
        self.task.pc = self.pc as usize;
        self.task.dst = if flags & (ff::DISCARD | ff::JUMP) != 0 { usize::MAX } else { self.task.base + dst };
        self.task.jump = flags & ff::JUMP != 0;
    }
    /// Makes `id` the running task.
    fn make_current(&mut self, id: u64) {
        if self.task.id == id {
            return;
        }
        let Some(t) = self.tasks.all.remove(&id) else { return };
        let old = std::mem::replace(&mut self.task, t);
        self.tasks.all.insert(old.id, old);
        self.stack_end = self.task.stack.resume();
    }
    /// The thread goes on in another of its tasks; what was sent to the thread goes along.
    fn switch_fiber(&mut self, id: u64) {
        let masks = self.task.masks;
        let sent = std::mem::take(&mut self.task.interrupts);
        self.make_current(id);
        self.task.masks = masks;
        if !sent.is_empty() {
            self.task.interrupts.extend(sent);
        }
    }
    /// Continues the (now current) task with a value or an exception.
    fn continue_current(&mut self, v: Result<Value, Value>) -> Flow {
        if self.task.state == State::New {
            let q = self.bottom_code();
            let (me, cref) = (self.main_object, self.top_cref);
            let start = self.task.start.take();
            self.enter_bottom(&q, me, cref);
            return match (v, start) {
                (Err(e), _) => self.raise_exc(e),
                (Ok(_), Some(c)) => self.do_call(c, 1, 0),
                (Ok(_), None) => Flow::Go,
            };
        }
        self.task.state = State::Ready;
        self.fp = self.frame_at(self.task.base).0;
        self.pc = self.task.pc as *const _;
        if std::mem::take(&mut self.task.killed) {
            let u = self.fiber_kill_unwind();
            return self.unwind(u);
        }
        match v {
            Ok(v) => {
                if self.task.jump {
                    self.fused_jump(v);
                } else if self.task.dst != usize::MAX {
                    let slot = self.task.dst;
                    self.frame_at(slot).set_r(0, v);
                }
                if !self.task.interrupts.is_empty() && self.due_interrupt(&self.task, false).is_some() {
                    return self.take_interrupt(false);
                }
                Flow::Go
            }
            Err(e) => self.raise_exc(e),
        }
    }
    /// A native asked to go on with another task (`cx.switch_to`).
    pub(crate) fn switch_now(&mut self, dst: usize, flags: u64) -> Flow {
        self.park_state(dst, flags);
        let Some((id, v)) = self.switch_to.take() else { return Flow::Go };
        self.switch_fiber(id);
        self.continue_current(v)
    }

    /// A native waits: it is called again when the task is woken.
    pub(crate) fn suspend_with(&mut self, x: Exit, again: Call, dst: usize, flags: u64) -> Flow {
        if x == Exit::Again {
            let f = self.safepoint();
            if !matches!(f, Flow::Go) {
                return f;
            }
            return self.do_call(again, dst, flags);
        }
        self.park_state(dst, flags);
        self.task.again = Some((again, dst, flags));
        self.wait_and_run()
    }
    /// As above for an instruction that is executed again: `pc` stands before it.
    pub(crate) fn suspend_here(&mut self, x: Exit) -> Flow {
        if x == Exit::Again {
            return self.safepoint();
        }
        self.park_state(0, ff::DISCARD);
        self.wait_and_run()
    }

    /// The running task parks with what `pending` says; something else runs.
    fn wait_and_run(&mut self) -> Flow {
        self.task.state = State::Waiting;
        self.task.deadline = std::mem::replace(&mut self.pending.deadline, u64::MAX);
        self.task.io = self.pending.io.take();
        self.task.woken = false;
        self.run_next()
    }
    /// Puts the running thread at the end of the queue.
    fn preempt(&mut self) -> Flow {
        self.park_state(0, ff::DISCARD);
        // It did not wait: see `due_interrupt`.
        self.task.deadline = 0;
        self.task.state = State::Ready;
        let id = self.task.id;
        self.tasks.ready.push_back(id);
        self.run_next()
    }

    /// Finds a task that may run and goes on with it; sleeps while there is none.
    fn run_next(&mut self) -> Flow {
        loop {
            self.wake_due();
            if let Some(id) = self.tasks.ready.pop_front() {
                let known = id == self.task.id || self.tasks.all.contains_key(&id);
                if !known {
                    continue;
                }
                self.make_current(id);
                self.start_turn();
                if self.task.state == State::New {
                    return self.continue_current(Ok(Value::NIL));
                }
                self.task.state = State::Ready;
                self.fp = self.frame_at(self.task.base).0;
                self.pc = self.task.pc as *const _;
                self.stack_end = self.task.stack.resume();
                let woken = self.task.woken && self.task.again.is_some();
                let waited = self.task.deadline != 0;
                if !woken && !self.task.interrupts.is_empty() && self.due_interrupt(&self.task, waited).is_some() {
                    self.task.wait_seq += 1;
                    self.task.again = None;
                    self.task.parked = false;
                    return self.take_interrupt(waited);
                }
                return match self.task.again.take() {
                    Some((c, dst, flags)) => self.do_call(c, dst, flags),
                    None => Flow::Go,
                };
            }
            if let Some(h) = self.signal_hook {
                if let Some(c) = h(self) {
                    // Handlers run on the main task, which is woken for it.
                    self.signal_wakes_main(c);
                    continue;
                }
            }
            if !self.sleep_until_event() {
                self.deadlock();
            }
        }
    }
    fn signal_wakes_main(&mut self, c: Call) {
        let main = self.tasks.main_id;
        self.make_current(main);
        self.fp = self.frame_at(self.task.base).0;
        self.pc = self.task.pc as *const _;
        self.task.state = State::Ready;
        // A native that waits runs again after the handler, and what it gives goes where it would have gone.
        let mut c = c;
        match self.task.again.take() {
            Some((call, dst, flags)) => {
                c.target = Target::Helper(self.intern("signal_came_again"));
                self.task.after_signal.push(call);
                self.task.again = Some((c, dst, flags));
            }
            None => self.task.again = Some((c, 0, ff::DISCARD)),
        }
        self.tasks.ready.retain(|t| *t != main);
        self.tasks.ready.push_front(main);
    }
    fn start_turn(&mut self) {
        self.tasks.turn_ends = now_ns() + TURN_NS;
    }
    /// Makes tasks ready whose time has come or whose descriptors are.
    fn wake_due(&mut self) {
        let now = now_ns();
        let mut due: Vec<(u64, u64)> = Vec::new();
        for t in self.tasks.all.values().map(|t| &**t).chain(std::iter::once(&*self.task)) {
            if t.state == State::Waiting
                && (t.woken
                    || t.deadline <= now
                    || !t.interrupts.is_empty() && self.due_interrupt(t, true).is_some()
                    || t.io.is_some_and(|(fd, r, w)| poll_fd(fd, r, w)))
            {
                due.push((t.deadline, t.id));
            }
        }
        due.sort_unstable();
        for (_, id) in due {
            self.task_mut(id).into_iter().for_each(|t| t.state = State::Ready);
            self.tasks.ready.push_back(id);
        }
    }
    /// Any task by number.
    pub(crate) fn task_mut(&mut self, id: u64) -> Option<&mut Task> {
        if self.task.id == id { Some(&mut self.task) } else { self.tasks.all.get_mut(&id).map(|t| &mut **t) }
    }
    /// Sleeps until a deadline or descriptor. False: nothing to wait for.
    fn sleep_until_event(&mut self) -> bool {
        let mut first = u64::MAX;
        let mut fds: Vec<libc::pollfd> = Vec::new();
        let mut waiting_external = self.tasks.ignore_deadlock;
        for t in self.tasks.all.values().map(|t| &**t).chain(std::iter::once(&*self.task)) {
            if t.state != State::Waiting {
                continue;
            }
            first = first.min(t.deadline);
            if let Some((fd, r, w)) = t.io {
                fds.push(libc::pollfd { fd, events: if r { libc::POLLIN } else { 0 } | if w { libc::POLLOUT } else { 0 }, revents: 0 });
            }
            waiting_external |= t.forever;
        }
        if first == u64::MAX && fds.is_empty() && !waiting_external {
            return false;
        }
        let now = now_ns();
        if now >= self.tasks.next_trim {
            // Tasks that have waited since the last time are small from now on.
            let mut all = std::mem::take(&mut self.tasks.all);
            self.trim_pass(all.values_mut().map(|t| &mut **t));
            self.tasks.all = all;
            self.tasks.next_trim = now + 1_000_000_000;
        }
        let ms = if first == u64::MAX { 1000 } else { (first.saturating_sub(now)).div_ceil(1_000_000).min(1000) as i32 };
        if fds.is_empty() && first != u64::MAX && first.saturating_sub(now) < 2_000_000 {
            let ns = first.saturating_sub(now);
            let t = libc::timespec { tv_sec: 0, tv_nsec: ns as i64 };
            // SAFETY: plain parameters.
            unsafe { libc::nanosleep(&t, std::ptr::null_mut()) };
            return true;
        }
        // SAFETY: the vector holds as many entries as is said.
        unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, ms) };
        true
    }
    /// No thread can ever run again: the main thread gets `fatal`, which tells where each of them waits.
    fn deadlock(&mut self) {
        let main = self.tasks.main_id;
        let threads = self.tasks.threads.clone();
        let mut list = Vec::new();
        for t in threads {
            let id = self.active_task(t);
            if self.task_mut(id).is_some_and(|t| t.state == State::Waiting) {
                // The running task counts among those that wait: its frames are its own.
                let entries = self.capture_task(id);
                let Ok(rows) = self.location_rows(&entries, 0, usize::MAX) else { continue };
                list.push(self.array(&[t, rows]));
            }
        }
        let list = self.array_vec(list);
        if let Some(mut c) = self.const_path("KumiSys::Fatal").and_then(|v| v.as_class()) {
            c.data.name = Some(b"fatal".as_slice().into());
        }
        let name = self.intern("deadlock");
        let main_thread = self.tasks.main_thread;
        let id = if main_thread.is_nil() { main } else { self.active_task(main_thread) };
        if let Some(t) = self.task_mut(id) {
            t.masks = Value::NIL;
            t.held = false;
            t.parked = false;
            t.wait_seq += 1;
            t.woken = true;
            t.again = Some((
                Call {
                    target: Target::Helper(name),
                    recv: Value::NIL,
                    args: Args::from_slice(&[list]),
                    kw: Value::UNDEF,
                    block: Value::NIL,
                    fcall: true,
                    result: Value::UNDEF,
                },
                0,
                ff::DISCARD,
            ));
            t.state = State::Ready;
            self.tasks.ready.push_back(id);
        }
    }

    /// A task's first frame was left.
    pub(crate) fn finish_task(&mut self) -> Flow {
        if self.task.id == self.tasks.main_id {
            return Flow::Done;
        }
        self.task.state = State::Done;
        self.task.homes.clear();
        self.free_locks_of(self.task.id);
        self.task.stack.release();
        let failed = self.task.failed;
        if !self.task.root {
            // A fiber: back to whoever resumed it.
            let to = self.fiber_returns_to();
            let killed = failed.cell::<UnwindObj>().is_some_and(|u| u.hdr.x == crate::interp::KILL && u.target == crate::fiber::KILL_FIBER);
            let v = if failed.is_nil() || killed { Ok(self.task.result) } else { Err(failed) };
            self.switch_fiber(to);
            self.task.child = None;
            return self.continue_current(v);
        }
        // A thread: wake those who join it.
        let thread = self.task.thread;
        self.wake_joiners(thread);
        self.thread_ended(thread, failed);
        self.run_next()
    }
    fn wake_joiners(&mut self, _thread: Value) {
        for t in self.tasks.all.values_mut() {
            if t.state == State::Waiting && t.joining {
                t.woken = true;
            }
        }
    }
    /// The first task of the running thread.
    pub(crate) fn root_of_thread(&self) -> u64 {
        match self.task.thread.as_data::<TaskRef>() {
            Some(t) => t.id,
            None => self.tasks.main_id,
        }
    }
    /// Keeps result and exception of a finished thread in its object, reports its death.
    fn thread_ended(&mut self, thread: Value, failed: Value) {
        let result = self.task.result;
        let (iv_r, iv_f, iv_s) = (self.intern("@__result"), self.intern("@__failed"), self.intern("@__done"));
        self.ivar_set(thread, iv_r, result);
        let f = if failed.is_kind(Kind::Unwind) { Value::NIL } else { failed };
        self.ivar_set(thread, iv_f, f);
        self.ivar_set(thread, iv_s, Value::TRUE);
        if !f.is_nil() {
            let iv = self.intern("@__on_death");
            let hook = self.ivar_get(thread, iv);
            if hook.truthy() && !hook.is_undef() {
                // abort_on_exception, SystemExit: the main thread gets it.
                let main = self.tasks.main_id;
                if let Some(t) = self.task_mut(main) {
                    t.interrupts.push(f);
                    self.heap.poll.store(true, Relaxed);
                }
            }
        }
    }

    /// A new task that will run `start`.
    pub(crate) fn new_task(&mut self, start: Call, root: bool, thread: Value) -> u64 {
        self.tasks.next += 1;
        let id = self.tasks.next;
        let mut t = Box::new(Task::new(id));
        t.start = Some(start);
        t.root = root;
        t.thread = thread;
        t.storage = self.task.storage;
        t.isolated = self.task.isolated;
        self.tasks.all.insert(id, t);
        id
    }
}

fn poll_fd(fd: i32, r: bool, w: bool) -> bool {
    let mut p = libc::pollfd { fd, events: if r { libc::POLLIN } else { 0 } | if w { libc::POLLOUT } else { 0 }, revents: 0 };
    // SAFETY: one entry.
    unsafe { libc::poll(&mut p, 1, 0) > 0 }
}

/// The task of a Fiber or Thread object.
pub struct TaskRef {
    pub id: u64,
    /// Code of a fiber's block, for `inspect`: address of its `ISeq`, which is never freed; 0: none.
    pub code: u64,
}
impl Payload for TaskRef {}

pub(crate) fn proc_call(prc: Value, args: &[Value]) -> Call {
    Call {
        target: Target::Proc(prc),
        recv: Value::NIL,
        args: Args::from_slice(args),
        kw: Value::UNDEF,
        block: Value::NIL,
        fcall: true,
        result: Value::UNDEF,
    }
}

// --- threads --------------------------------------------------------------------

fn main_thread(cx: &mut Cx) -> Value {
    if cx.tasks.main_thread.is_nil() {
        let id = cx.tasks.main_id;
        let c = cx.k.thread;
        let v = cx.data(c, TaskRef { id, code: 0 });
        cx.tasks.main_thread = v;
        cx.keep(v);
        cx.tasks.threads.push(v);
        let main = cx.tasks.main_id;
        let others: Vec<u64> = cx.tasks.all.keys().copied().collect();
        for i in others.into_iter().chain([main]) {
            if let Some(t) = cx.task_mut(i) {
                if t.thread.is_nil() {
                    t.thread = v;
                }
            }
        }
        if cx.task.thread.is_nil() {
            cx.task.thread = v;
        }
    }
    cx.tasks.main_thread
}
/// `__thread_main()`, `__thread_current()`
fn thread_main(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(main_thread(cx))
}
fn thread_current(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    main_thread(cx);
    Ok(cx.task.thread)
}
/// `__thread_alloc(class)`: a Thread object without a task.
fn thread_alloc(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    main_thread(cx);
    let c = cx.arg_class(a, 0)?;
    Ok(cx.data(c, TaskRef { id: u64::MAX, code: 0 }))
}
/// `__thread_start(thread, proc, args)`
fn thread_start(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    main_thread(cx);
    let args: Vec<Value> = a[2].as_array().map_or(Vec::new(), |l| l.as_slice().to_vec());
    let id = cx.new_task(proc_call(a[1], &args), true, a[0]);
    if let Some(t) = a[0].as_data::<TaskRef>() {
        t.id = id;
    }
    cx.tasks.threads.push(a[0]);
    cx.tasks.ready.push_back(id);
    let poll = &cx.heap.poll as *const _;
    cx.tasks.arm_timer(poll);
    Ok(a[0])
}
/// `__threads()`: all threads that are alive.
fn threads(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    main_thread(cx);
    let all = cx.tasks.threads.clone();
    let live: Vec<Value> = all.into_iter().filter(|t| t.as_data::<TaskRef>().is_some_and(|r| alive(cx, r.id))).collect();
    cx.tasks.threads = live.clone();
    Ok(cx.array(&live))
}
fn alive(cx: &mut Cx, id: u64) -> bool {
    cx.task_mut(id).is_some_and(|t| t.state != State::Done)
}
fn thread_id(a: Value) -> u64 {
    a.as_data::<TaskRef>().map_or(u64::MAX, |t| t.id)
}
/// `__thread_state(thread)`: :run, :sleep, :done
fn thread_state(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = cx.active_task(a[0]);
    let s = match cx.task_mut(id).map(|t| t.state) {
        None if thread_id(a[0]) == u64::MAX => "new",
        None | Some(State::Done) => "done",
        Some(State::Waiting) => "sleep",
        Some(_) => "run",
    };
    Ok(cx.sym(s))
}
/// `__park(deadline_ns or nil)`: waits until woken or the time is over. True when woken. Called again on waking.
fn park(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if cx.task.parked {
        cx.task.parked = false;
        cx.task.joining = false;
        cx.task.forever = false;
        let woken = std::mem::replace(&mut cx.task.woken, false);
        return Ok(Value::bool(woken));
    }
    if std::mem::replace(&mut cx.task.wake_token, false) {
        return Ok(Value::TRUE);
    }
    cx.task.parked = true;
    cx.pending.deadline = if a[0].is_nil() { u64::MAX } else { u64::try_from(cx.arg_i64(a, 0)?).unwrap_or(0) };
    Err(Exit::Park)
}
/// `__park_join(deadline, thread)`: as `__park`, woken by the end of any thread.
fn park_join(cx: &mut Cx, r: Value, a: &[Value]) -> R {
    if !cx.task.parked {
        // It may have ended since the caller looked.
        let id = thread_id(a[1]);
        if id != u64::MAX && !alive(cx, id) {
            return Ok(Value::TRUE);
        }
        cx.task.joining = true;
    }
    park(cx, r, a)
}
/// `__park_forever()`: sleep without a time: no deadlock report while signals may come (main thread only).
fn park_clear(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    cx.task.parked = false;
    cx.task.joining = false;
    cx.task.woken = false;
    cx.task.wake_token = false;
    Ok(Value::NIL)
}
/// `__wake(thread)`: ends its wait; true when it was waiting.
fn wake(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = cx.active_task(a[0]);
    if let Some(t) = cx.task_mut(id) {
        if t.state == State::Waiting {
            t.woken = true;
            return Ok(Value::TRUE);
        }
    }
    Ok(Value::FALSE)
}
/// `__wake_task(id)` / `__task_id()`: the same by task number, for queues and locks.
fn wake_task(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = a[0].as_fix().unwrap_or(-1) as u64;
    if let Some(t) = cx.task_mut(id) {
        if t.state == State::Waiting {
            t.woken = true;
            return Ok(Value::TRUE);
        }
        if t.state != State::Done {
            t.wake_token = true;
        }
    }
    Ok(Value::FALSE)
}
fn task_id(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::fix(cx.task.id as i64))
}
/// `__thread_pass()`
fn thread_pass(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    if cx.tasks.ready.is_empty() && cx.tasks.all.len() < 2 {
        return Ok(Value::NIL);
    }
    if cx.task.parked {
        cx.task.parked = false;
        return Ok(Value::NIL);
    }
    cx.task.parked = true;
    cx.pending.deadline = 0;
    Err(Exit::Park)
}
/// `__now_ns()`: monotonic nanoseconds.
fn now(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.uint(now_ns()))
}
/// `__task_locals()`: Hash of the running task's fiber-locals, made on first use. With a thread: its first task's.
fn task_locals(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = if a.is_empty() { cx.task.id } else { cx.active_task(a[0]) };
    let Some(t) = cx.task_mut(id) else { return Ok(cx.hash()) };
    if t.locals.is_nil() {
        let h = cx.hash();
        if let Some(t) = cx.task_mut(id) {
            t.locals = h;
        }
        return Ok(h);
    }
    Ok(t.locals)
}

impl Cx {
    /// The task of a thread that runs now: its first one, or one of its fibers.
    pub(crate) fn active_task(&mut self, thread: Value) -> u64 {
        if self.task.thread == thread {
            return self.task.id;
        }
        let root = thread_id(thread);
        if self.task_mut(root).is_some_and(|t| t.state == State::Resuming) {
            if let Some(t) = self.tasks.all.values().find(|t| t.thread == thread && matches!(t.state, State::Ready | State::Waiting)) {
                return t.id;
            }
        }
        root
    }
    /// Parks the running native until `fd` is ready; it is called again then. With one thread a plain blocking call does as well.
    pub fn park_io(&mut self, fd: i32, read: bool, write: bool) -> Exit {
        self.pending.io = Some((fd, read, write));
        Exit::Park
    }
    /// Threads that wait for this descriptor.
    pub fn waiting_for(&self, fd: i32) -> Vec<Value> {
        self.tasks.all.values().filter(|t| t.io.is_some_and(|io| io.0 == fd)).map(|t| t.thread).filter(|t| !t.is_nil()).collect()
    }
    /// The child of a fork goes on with the running thread alone.
    pub fn after_fork(&mut self) {
        let thread = self.current_thread();
        let id = self.task.id;
        self.tasks.after_fork(id, thread);
    }
    /// Are there other tasks that could run while this one waits?
    pub fn others_alive(&self) -> bool {
        self.tasks.all.values().any(|t| t.root && t.state != State::Done)
    }
    /// Names the wait that the running native is about to begin.
    pub fn ticket(&mut self) -> Ticket {
        self.task.wait_seq += 1;
        Ticket { task: self.task.id, seq: self.task.wait_seq }
    }
    /// Parks the running native until woken by its ticket or until a monotonic time (`u64::MAX`: none);
    /// it is then called again from its start.
    pub fn park(&mut self, deadline: u64) -> Exit {
        self.pending.deadline = deadline;
        Exit::Park
    }
    /// Ends the wait that `t` names. False when that wait is over already.
    pub fn wake(&mut self, t: Ticket) -> bool {
        match self.task_mut(t.task) {
            Some(w) if w.wait_seq == t.seq && w.state == State::Waiting => {
                w.wait_seq += 1;
                w.woken = true;
                true
            }
            _ => false,
        }
    }
    /// Parks the running native until a monotonic time.
    pub fn park_until(&mut self, deadline: u64) -> Exit {
        self.pending.deadline = deadline;
        Exit::Park
    }
    /// The running thread's object.
    pub fn current_thread(&mut self) -> Value {
        main_thread(self);
        self.task.thread
    }
    /// `$!`
    pub fn errinfo(&self) -> Value {
        self.task.err
    }
    pub fn set_errinfo(&mut self, v: Value) {
        self.task.err = v;
    }
}

pub(crate) static TABLE: &[NativeDef] = &[
    intrinsic("__after_signal", 0, 0, |cx, _, _| match cx.task.after_signal.pop() {
        Some(call) => {
            cx.pending.call = Some(call);
            Err(Exit::Call)
        }
        None => Ok(Value::NIL),
    }),
    intrinsic("__after_signal_drop", 0, 0, |cx, _, _| {
        cx.task.after_signal.pop();
        Ok(Value::NIL)
    }),
    intrinsic("__thread_main", 0, 0, thread_main),
    intrinsic("__thread_current", 0, 0, thread_current),
    intrinsic("__thread_alloc", 1, 1, thread_alloc),
    intrinsic("__thread_start", 3, 3, thread_start),
    intrinsic("__threads", 0, 0, threads),
    intrinsic("__thread_state", 1, 1, thread_state),
    intrinsic("__park", 1, 1, park),
    intrinsic("__park_join", 2, 2, park_join),
    intrinsic("__park_clear", 0, 0, park_clear),
    intrinsic("__wake", 1, 1, wake),
    intrinsic("__wake_task", 1, 1, wake_task),
    intrinsic("__task_id", 0, 0, task_id),
    intrinsic("__thread_pass", 0, 0, thread_pass),
    intrinsic("__now_ns", 0, 0, now),
    intrinsic("__task_locals", 0, 1, task_locals),
];
