//! Fiber: `resume`, `transfer`, `Fiber.yield`, storage.
//!
//! **Invariant** (of the runtime's `fiber`). Each task that resumed another is `Resuming` until it goes on; a
//! fiber that was resumed and not left since has its resumer.

use kumi_vm::task::{State, TaskRef};
use kumi_vm::*;

fn fiber_error(cx: &mut Cx, msg: &str) -> Exit {
    cx.raise_msg(cx.k.fiber_error, msg)
}
fn task_of(cx: &mut Cx, f: Value) -> Result<u64, Exit> {
    match f.as_data::<TaskRef>() {
        Some(t) => Ok(t.id),
        None => Err(fiber_error(cx, "uninitialized fiber")),
    }
}
/// What several values are as one.
fn one_of(list: &[Value], cx: &mut Cx) -> Value {
    match list {
        [] => Value::NIL,
        [v] => *v,
        _ => cx.array(list),
    }
}

/// `__fiber_new(class, proc)`
fn new(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    cx.look_for_task_room()?;
    cx.current_thread();
    let mut t = cx.new_fiber(Call::of(a[1], &[]))?;
    let code = a[1].as_proc().map_or(0, |p| p.iseq);
    let v = cx.data(c, TaskRef { id: t.id(), code, own: None });
    t.set_fiber(v);
    // What the task holds is private as long as its thread runs here: the cell is made without it, and nothing published.
    let tasks = cx.shared_tasks();
    if let Some(r) = cx.heap.edit_data::<TaskRef>(v) {
        r.own = Some((t, tasks));
    }
    cx.note_recent(t);
    Ok(v)
}

/// `Fiber#resume(*args)`
fn resume(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    // The common case in one look: a fiber of this thread that yielded, and one value or none.
    let id = task_of(cx, recv)?;
    if a.len() <= 1 {
        if let Some(t) = cx.tasks.get(id) {
            if t.state() == State::Yielded && t.thread() == cx.task.thread() {
                cx.resumes(t);
                return Err(cx.hand_over(id, Ok(a.first().copied().unwrap_or(Value::NIL))));
            }
        }
    }
    resume_with(cx, id, Ok(a))
}
/// Resumes with arguments, or with an exception to be raised there.
fn resume_with(cx: &mut Cx, id: u64, with: Result<&[Value], Value>) -> R {
    let (me, thread, deepest) = (cx.task.id(), cx.task.thread(), cx.is_deepest());
    let t = cx.task_mut(id);
    let problem = match t {
        None => Some("attempt to resume a terminated fiber"),
        Some(t) => match t.state() {
            State::New if with.is_err() => Some("cannot raise exception on unborn fiber"),
            State::Done if with.is_err() => Some("dead fiber called"),
            State::Done => Some("attempt to resume a terminated fiber"),
            _ if id == me => Some("attempt to resume the current fiber"),
            _ if t.thread() != thread => Some("fiber called across threads"),
            _ if t.is_resumed() && t.resumed_fiber().is_none() => Some("attempt to resume a resumed fiber (double resume)"),
            _ if t.resumed_fiber().is_some() => Some("attempt to resume a resuming fiber"),
            State::New if deepest => Some("can't resume: too many fibers have resumed each other"),
            State::New | State::Yielded => None,
            _ => Some("attempt to resume a transferring fiber"),
        },
    };
    if let Some(m) = problem {
        return Err(fiber_error(cx, m));
    }
    if let Some(t) = t {
        cx.resumes(t);
    }
    enter(cx, id, with)
}
/// `Fiber#transfer(*args)`
fn transfer(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let id = task_of(cx, recv)?;
    transfer_with(cx, id, Ok(a))
}
fn transfer_with(cx: &mut Cx, id: u64, with: Result<&[Value], Value>) -> R {
    let (me, thread) = (cx.task.id(), cx.task.thread());
    if id == me {
        return match with {
            Ok(a) => Ok(one_of(a, cx)),
            Err(e) => Err(cx.raise(e)),
        };
    }
    let problem = match cx.task_mut(id) {
        None => Some("attempt to transfer to a terminated fiber"),
        Some(t) => match t.state() {
            _ if t.resumed_fiber().is_some() => Some("attempt to transfer to a resuming fiber"),
            State::Yielded => Some("attempt to transfer to a yielding fiber"),
            State::Done => Some("attempt to transfer to a terminated fiber"),
            _ if t.thread() != thread => Some("fiber called across threads"),
            _ => None,
        },
    };
    if let Some(m) = problem {
        return Err(fiber_error(cx, m));
    }
    cx.transfers();
    enter(cx, id, with)
}
/// Goes on in a fiber; a new one gets the arguments as its block's.
fn enter(cx: &mut Cx, id: u64, with: Result<&[Value], Value>) -> R {
    let keywords = cx.native_keywords;
    let v = match with {
        Err(e) => Err(e),
        Ok(a) => match cx.task_mut(id) {
            Some(mut t) if t.state() == State::New => {
                if let Some(c) = t.start_mut() {
                    c.args = Args::from_slice(a);
                    if keywords {
                        c.kw = c.args.pop().unwrap_or(Value::UNDEF);
                    }
                }
                Ok(Value::NIL)
            }
            _ => Ok(one_of(a, cx)),
        },
    };
    Err(cx.hand_over(id, v))
}
/// `Fiber.yield(*args)`
fn fiber_yield(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = one_of(a, cx);
    if !cx.task.is_resumed() {
        let m = if cx.task.is_root() { "can't yield from root fiber" } else { "attempt to yield on a not resumed fiber" };
        return Err(fiber_error(cx, m));
    }
    let to = cx.yields();
    Err(cx.hand_over(to, Ok(v)))
}
/// `__fiber_raise(fiber, exception)`: raises in the fiber, or in the innermost one it resumed.
fn fiber_raise(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut id = task_of(cx, a[0])?;
    while let Some(c) = cx.task_mut(id).and_then(|t| t.resumed_fiber()) {
        id = c;
    }
    if id == cx.task.id() {
        return Err(cx.raise(a[1]));
    }
    let transferred = cx.task_mut(id).is_some_and(|t| t.state() == State::Transferred);
    if transferred { transfer_with(cx, id, Err(a[1])) } else { resume_with(cx, id, Err(a[1])) }
}
/// `__fiber_kill(fiber)`: ends it through its ensure clauses: at once, or when control comes back to it.
fn fiber_kill(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = task_of(cx, a[0])?;
    let (me, thread) = (cx.task.id(), cx.task.thread());
    let u = cx.fiber_kill_unwind();
    if id == me {
        cx.pending.exc = u;
        return Err(Exit::Unwind);
    }
    let Some(mut t) = cx.task_mut(id) else { return Ok(Value::NIL) };
    match t.state() {
        State::Done => Ok(Value::NIL),
        _ if t.thread() != thread => Err(fiber_error(cx, "attempt to kill a different thread's fiber")),
        State::Yielded => resume_with(cx, id, Err(u)),
        State::Transferred => transfer_with(cx, id, Err(u)),
        _ => {
            t.kill();
            Ok(Value::NIL)
        }
    }
}
/// `__fiber_current()`: the running Fiber's object (made for a thread's first task when asked for).
fn current(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    if cx.task.fiber().is_nil() {
        let id = cx.task.id();
        let c = cx.k.fiber;
        let f = cx.data(c, TaskRef { id, code: 0, own: None });
        cx.task.set_fiber(f);
    }
    Ok(cx.task.fiber())
}
/// `__fiber_state(fiber)`: :created, :resumed, :suspended, :terminated
fn state(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = task_of(cx, a[0])?;
    let s = match cx.task_mut(id).map(|t| t.state()) {
        None | Some(State::Done) => "terminated",
        Some(State::New) => "created",
        Some(State::Yielded | State::Transferred) => "suspended",
        _ => "resumed",
    };
    Ok(cx.sym(s))
}
/// `__task_storage()` / `__task_set_storage(hash)`: the running fiber's storage. The Hash is never changed in
/// place: fibers and threads made later share it.
fn storage(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.task.storage())
}
fn set_storage(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.task.set_storage(a[0]);
    Ok(a[0])
}
/// `__fiber_set_storage(fiber, hash)`
fn fiber_set_storage(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = task_of(cx, a[0])?;
    if let Some(mut t) = cx.task_mut(id) {
        // It may be another thread's fiber.
        cx.heap.publish(a[1]);
        t.set_storage(a[1]);
    }
    Ok(a[1])
}
/// `__fiber_rows(fiber)`: the frames it is in, as `__caller` gives them; nil when it is over.
fn rows(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = task_of(cx, a[0])?;
    loop {
        if !cx.task_lives(id) {
            return Ok(Value::NIL);
        }
        // Another worker may run it: nobody runs its frames while the world is stopped.
        if let Some(e) = cx.stop_world(|cx| cx.capture_task(id)) {
            return cx.location_rows(&e, 0, usize::MAX);
        }
    }
}
/// `__fiber_source(fiber)`: [path, line] of its block, or nil.
fn source(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let code = a[0].as_data::<TaskRef>().map_or(0, |t| t.code);
    Ok(cx.code_place(code))
}
/// `__set_scheduled(flag)`: has the running thread a fiber scheduler?
fn set_scheduled(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.set_scheduled(a[0].truthy());
    Ok(Value::NIL)
}
/// `__fiber_blocking(fiber, flag)`: sets (nil: asks) whether its waits block the thread, or go to the fiber scheduler.
fn blocking(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = task_of(cx, a[0])?;
    let Some(mut t) = cx.tasks.get(id) else { return Ok(Value::FALSE) };
    if !a[1].is_nil() {
        t.set_nonblocking(!a[1].truthy());
    }
    Ok(Value::bool(!t.is_nonblocking()))
}
/// `__fiber_root()`: does a thread's first task run?
fn root(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::bool(cx.task.is_root()))
}

pub(crate) static TABLE: &[NativeDef] = &[
    n("Fiber", "resume", 0, -1, resume),
    n("Fiber", "transfer", 0, -1, transfer),
    n("Fiber.", "yield", 0, -1, fiber_yield),
    intrinsic("__fiber_new", 2, 2, new),
    intrinsic("__fiber_raise", 2, 2, fiber_raise),
    intrinsic("__fiber_kill", 1, 1, fiber_kill),
    intrinsic("__fiber_current", 0, 0, current).guard(Guard::None),
    intrinsic("__fiber_state", 1, 1, state).guard(Guard::None),
    intrinsic("__fiber_rows", 1, 1, rows).guard(Guard::None),
    intrinsic("__fiber_source", 1, 1, source).guard(Guard::None),
    intrinsic("__set_scheduled", 1, 1, set_scheduled),
    intrinsic("__hooked", 0, 0, |cx, _, _| Ok(Value::bool(cx.hooked()))).guard(Guard::None),
    intrinsic("__fiber_blocking", 2, 2, blocking),
    intrinsic("__fiber_root", 0, 0, root).guard(Guard::None),
    intrinsic("__task_storage", 0, 0, storage).guard(Guard::None),
    intrinsic("__task_set_storage", 1, 1, set_storage).guard(Guard::None),
    intrinsic("__fiber_set_storage", 2, 2, fiber_set_storage),
];
