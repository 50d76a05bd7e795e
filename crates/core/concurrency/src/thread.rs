//! Thread and Kernel#sleep.

use kumi_vm::task::{State, Wait};
use kumi_vm::thread::{DONE, LOCALS, NEW, ThreadObj, thread};
use kumi_vm::*;
use std::sync::atomic::Ordering::*;

/// `__thread_alloc(class)`: a Thread object without a task.
fn alloc(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    Ok(cx.data(c, ThreadObj::new()))
}
/// `__thread_start(thread, proc, args, keywords)`
fn start(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.look_for_task_room()?;
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
            if t.is_root() && t.state() != State::Done && !t.thread().is_nil() {
                v.push((t.id() != table.main.load(Relaxed), t.id() as u32, t.thread()));
            }
        });
    }
    v.sort_unstable_by_key(|x| (x.0, x.1));
    let v: Vec<Value> = v.into_iter().map(|x| x.2).collect();
    Ok(cx.array(&v))
}
fn change(cx: &mut Cx, v: Value, f: impl FnOnce(&mut ThreadObj)) -> Result<(), Exit> {
    thread(cx, &v)?;
    cx.heap.edit_data(v).map(f);
    Ok(())
}
/// `__thread_state(thread)`: :new, :run, :sleep, :done
fn state(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let life = thread(cx, &a[0])?.life.load(Acquire);
    let s = match cx.thread_root(a[0]) {
        None if life == NEW => "new",
        None => "done",
        Some(t) if cx.active_of(t).state() == State::Waiting => "sleep",
        Some(_) => "run",
    };
    Ok(cx.sym(s))
}
/// `__thread_waits_forever(thread)`: has its wait no time limit?
fn waits_forever(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let t = cx.thread_root(a[0]).map(|t| cx.active_of(t));
    Ok(Value::bool(t.is_some_and(|t| !t.is_timed())))
}
/// `Thread#join(limit = nil)`; limits that are no Integer or Float, and errors, are the prelude's affair.
fn join(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let t = thread(cx, &recv)?;
    let begun = match cx.task.take_wait() {
        Wait::Join { until } => Some(until),
        _ => None,
    };
    let until = match (begun, a.first()) {
        (Some(until), _) => until,
        (None, None | Some(&Value::NIL)) => u64::MAX,
        (None, Some(v)) => match limit_ns(*v) {
            Some(ns) => now_ns().saturating_add(ns),
            None => return Err(Exit::Miss),
        },
    };
    if begun.is_none() {
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
    if t.life.load(Acquire) == DONE {
        if t.fatal && cx.has_due_interrupt(true) {
            // What ended it is on its way to this thread, once.
            return Err(cx.park(0));
        }
        if let Some(r) = cx.recorder() {
            r.joins(t.id.load(Relaxed));
        }
        return if t.failed.is_nil() { Ok(recv) } else { Err(cx.raise(t.failed)) };
    }
    if until != u64::MAX && now_ns() >= until {
        return Ok(Value::NIL);
    }
    if cx.hooked() {
        let limit = a.first().copied().unwrap_or(Value::NIL);
        return Err(cx.call_helper("hooked_join", &[recv, limit]));
    }
    cx.task.set_wait(Wait::Join { until });
    let ticket = cx.ticket();
    match t.joiner {
        Some(j) if cx.waits(j) => {
            let mut all = cx.heap.edit_data::<ThreadObj>(recv).and_then(|t| t.joiners.take()).unwrap_or_default();
            all.add(cx, ticket);
            change(cx, recv, |t| t.joiners = Some(all))?;
        }
        _ => change(cx, recv, |t| t.joiner = Some(ticket))?,
    }
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
    Ok(thread(cx, &a[0])?.result)
}
/// `__thread_failed(thread)`: the exception that ended it, or nil.
fn failed(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let t = thread(cx, &a[0])?;
    Ok(if t.life.load(Acquire) == DONE { t.failed } else { Value::NIL })
}
/// `__thread_fatal(thread)`: its exception is raised in the main thread when it has ended.
fn fatal(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    change(cx, a[0], |t| t.fatal = true)?;
    Ok(Value::NIL)
}
/// `__thread_killed(thread)`, `__thread_kill_mark(thread)`: was it told to end?
fn killed(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(thread(cx, &a[0])?.killed))
}
fn kill_mark(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    change(cx, a[0], |t| t.killed = true)?;
    Ok(Value::NIL)
}
/// `__thread_group(thread)`, `__thread_set_group(thread, group)`
fn group(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(thread(cx, &a[0])?.group)
}
fn set_group(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    thread(cx, &a[0])?;
    cx.heap.before_store(a[0], a[1]);
    change(cx, a[0], |t| t.group = a[1])?;
    Ok(a[1])
}
/// `__thread_source(thread)`: [path, line] of its block, or nil.
fn source(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let code = thread(cx, &a[0])?.code;
    Ok(cx.code_place(code))
}
/// `Kernel#sleep(duration)` of Integers and Floats, or without: the seconds slept, rounded.
fn sleep(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if cx.hooked() {
        let time = a.first().copied().unwrap_or(Value::NIL);
        return Err(cx.call_helper("hooked_sleep", &[time]));
    }
    let (since, until) = match cx.task.take_wait() {
        Wait::Sleep { since, until } => {
            if cx.task.is_woken() || now_ns() >= until {
                let ns = now_ns() - since;
                return Ok(Value::fix(((ns + 500_000_000) / 1_000_000_000) as i64));
            }
            (since, until)
        }
        _ => {
            let until = match a.first() {
                None | Some(&Value::NIL) => u64::MAX,
                Some(v) if v.as_fix().is_some_and(|i| i < 0) || v.as_float().is_some_and(|f| f.is_nan() || f < 0.0) => {
                    return Err(Exit::Miss);
                }
                Some(v) => match limit_ns(*v) {
                    Some(ns) => now_ns().saturating_add(ns),
                    None => return Err(Exit::Miss),
                },
            };
            if cx.task.take_wake_token() {
                return Ok(Value::fix(0));
            }
            (now_ns(), until)
        }
    };
    cx.task.set_wait(Wait::Sleep { since, until });
    // A signal may always come: sleeping without limit is no deadlock, unlike Thread.stop.
    cx.pending.forever = until == u64::MAX;
    Err(cx.park(until))
}
/// `__park(deadline_ns or nil)`: waits until woken or the time is over. True when woken. Called again on waking.
fn park(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if matches!(cx.task.wait(), Wait::Park) {
        cx.task.set_wait(Wait::Nothing);
        return Ok(Value::bool(cx.task.is_woken()));
    }
    if cx.task.take_wake_token() {
        return Ok(Value::TRUE);
    }
    let deadline = if a[0].is_nil() { u64::MAX } else { u64::try_from(cx.arg_i64(a, 0)?).unwrap_or(0) };
    cx.task.set_wait(Wait::Park);
    Err(cx.park(deadline.max(1)))
}
/// `__park_clear()`: forgets a wake-up that came too early.
fn park_clear(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    cx.task.set_wait(Wait::Nothing);
    cx.task.take_wake_token();
    Ok(Value::NIL)
}
/// `__wake(thread)`: ends its wait; true when it was waiting.
fn wake(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(t) = cx.thread_root(a[0]) else { return Ok(Value::FALSE) };
    let id = cx.active_of(t).id();
    Ok(Value::bool(cx.wake_any(id, false)))
}
/// `Thread.pass`
fn pass(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    if matches!(cx.task.wait(), Wait::Pass) {
        cx.task.set_wait(Wait::Nothing);
        return Ok(Value::NIL);
    }
    if cx.tasks.threads.load(Relaxed) == 0 {
        return Ok(Value::NIL);
    }
    if !cx.may_pass() {
        return Ok(Value::NIL);
    }
    cx.task.set_wait(Wait::Pass);
    Err(cx.park(0))
}
/// `__task_locals()`: Hash of the running task's fiber-locals, made on first use. With a thread: its active task's.
fn task_locals(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let t = match a.first() {
        None => Some(cx.task),
        Some(v) if *v == cx.current_thread() => Some(cx.task),
        Some(v) => cx.thread_root(*v).map(|t| cx.active_of(t)),
    };
    let Some(t) = t else {
        // A thread that is done keeps its locals.
        let name = cx.intern(LOCALS);
        let kept = a.first().map_or(Value::UNDEF, |v| cx.ivar_get(*v, name));
        return Ok(if kept.is_undef() { cx.hash() } else { kept });
    };
    // Other threads may ask for it, and make it: all name the thread, which is locked.
    if t.locals().is_nil() {
        let h = cx.hash();
        cx.heap.publish(h);
        // A marking that goes on in slices is told that the task holds something else.
        if let Some(mut t) = cx.task_mut(t.id()) {
            t.set_locals(h);
        }
    }
    Ok(t.locals())
}

pub(crate) static TABLE: &[NativeDef] = &[
    n("Thread", "join", 0, 1, join).guard(Guard::Objects),
    private("Kernel", "sleep", 0, 1, sleep).guard(Guard::None),
    n("Kernel.", "sleep", 0, 1, sleep).guard(Guard::None),
    n("Thread.", "pass", 0, 0, pass).guard(Guard::None),
    intrinsic("__thread_speculative", 2, 2, |cx, _, a| {
        cx.set_speculative(a[0], a[1].truthy());
        Ok(Value::NIL)
    })
    .guard(Guard::None),
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
