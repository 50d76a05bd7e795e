//! Natives of code segments: they wait for their inputs, are handed to runners, and commit.

use crate::cell::Cell;
use crate::encode::Later;
use crate::hand::{Due, Ended, Runner};
use crate::keys::{Named, known, named};
use crate::plan::Plan;
use crate::put::{UPDATE, how, new_of, told, trace_value};
use crate::runs::{Given, Run, leases};
use crate::state::{Inner, Local, Made, Woken, made};
use crate::wait::{fail, not_shared, stale, unreadable};
use crate::{clock, leaf};
use kumi_segments::{Asked, Back, Hold, Input, LeaseId, New, Output, Waiter};
use kumi_vm::*;
use smallvec::SmallVec;
use std::sync::atomic::Ordering::Relaxed;

/// Runs are brief that take less, in nanoseconds.
const BRIEF: u64 = 2_000;
/// So many of them are ready when who starts more lets them be done.
const MANY: usize = 32;
/// How long a runner leaves them to who starts them, in nanoseconds.
const LEFT: u64 = 100_000;

pub static TABLE: &[NativeDef] = &[
    leaf("__seg_start", 2, start),
    leaf("__seg_expect", 0, expect),
    leaf("__seg_runner", 0, runner),
    leaf("__seg_alone", 0, alone),
    leaf("__seg_next", 1, next),
    leaf("__seg_input", 2, input),
    leaf("__seg_output", 6, output),
    leaf("__seg_forward", 4, forward),
    leaf("__seg_hand_on", 3, hand_on),
    leaf("__seg_commit", 3, commit),
    leaf("__seg_give_up", 2, give_up),
    leaf("__seg_cancel", 1, cancel),
    leaf("__seg_lives", 1, lives),
    leaf("__seg_join", 2, join),
    leaf("__seg_runs", 0, counts),
    leaf("__seg_runner_gone", 1, runner_gone),
    leaf("__seg_settled", 0, settled),
];

/// `CodeSegment.start` of a class whose plan is made and whose `new` calls nothing.
pub fn start_of_class(cx: &mut Cx, class: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let Some(plan) = made.plans.of(class) else { return Err(Exit::Miss) };
    let Some(object) = cx.new_plain(class) else { return Err(Exit::Miss) };
    let then = match begin(cx, made, object, plan)? {
        Begun::Served => return Ok(object),
        Begun::First => "__first_started",
        Begun::Many => "__many_started",
    };
    let then = cx.intern(then);
    Err(cx.call(class, then, &[object]))
}
/// `__seg_start(object, plan)`: its run begins when its inputs are there. True: the library starts the first runner.
fn start(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    Ok(Value::bool(begin(cx, made, a[0], a[1])? == Begun::First))
}
/// What is left to the library.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    Served,
    /// There is no runner yet.
    First,
    /// Many brief ones are ready: they are best done here and now.
    Many,
}
fn begin(cx: &mut Cx, made: &'static Made, object: Value, plan: Value) -> Result<Begun, Exit> {
    let Some(p) = plan.as_data::<Plan>() else { return Err(cx.type_error("no plan of a code segment")) };
    cx.heap.publish(object);
    cx.heap.publish(plan);
    let mut inputs: SmallVec<[Input; 2]> = SmallVec::new();
    loop {
        inputs.clear();
        for (cell, kind, after) in &p.inputs {
            inputs.push(Input { key: named(cx, made, *cell)?.id, kind: *kind, after: *after });
        }
        let mut woken = Woken::default();
        let mut inner = made.shared.lock();
        if inner.runs.lives(object, &mut woken) {
            drop(inner);
            return Err(fail(cx, "Kumihimo::Segments::Error", "the code segment is started already"));
        }
        if let Some(i) = inputs.iter().position(|i| !inner.node.manager().knows(i.key)) {
            drop(inner);
            // The manager has forgotten it.
            known(cx, made, Named { id: inputs[i].key, cell: p.inputs[i].0, exported: false })?;
            continue;
        }
        let mut run = Box::new(Run::new(object, plan));
        let stopped = inner.runs.is_stopped();
        let asked = match inputs.is_empty() || stopped {
            true => Ok(None),
            false => {
                let now = inner.now();
                // Where everything is there, nobody waits.
                let (asked, w) = inner.act(|m, w| m.get(now, &inputs, Hold::Open, None, w));
                woken.join(w);
                asked.map(|a| if let Asked::Here(answers) = a { Some(answers) } else { None })
            }
        };
        let complete = match asked {
            Ok(answers) => {
                let complete = answers.is_some() || inputs.is_empty();
                run.given(answers.into_iter().flatten());
                complete
            }
            Err(s) => {
                drop(inner);
                woken.wake(cx);
                return Err(stale(cx, inputs.get(s.input).and_then(|i| i.after).unwrap_or(0), s));
            }
        };
        let number = inner.runs.add(run);
        if complete {
            made.starter.store(cx.worker + 1, Relaxed);
            let w = inner.runs.is_ready(number);
            woken.add_runner(w);
        } else if !stopped {
            let now = inner.now();
            let (stood, w) = inner.act(|m, w| m.stand(now, &inputs, Hold::Open, Waiter::Local(Local::Code(number)), w));
            woken.join(w);
            if let Ok(id) = stood {
                inner.runs.waits_by(number, id);
            }
        }
        let served = inner.runs.is_served();
        let many = complete && inner.runs.ready() >= MANY && made.brief.load(Relaxed);
        drop(inner);
        woken.wake(cx);
        return Ok(match served {
            false => Begun::First,
            true if many => Begun::Many,
            true => Begun::Served,
        });
    }
}

/// `__seg_expect()`: a runner is about to be started, which nothing keeps from it any more.
fn expect(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    made(cx)?.shared.lock().runs.expect();
    Ok(Value::NIL)
}
/// `__seg_alone()`: the running thread has nothing of who has started it: no fiber storage, no Ractor. What it runs is everybody's.
fn alone(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    cx.task.stands_alone();
    Ok(Value::NIL)
}
/// `__seg_runner()`: the running thread is a runner from now on.
fn runner(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let (number, hand) = made.shared.lock().runs.seat();
    Ok(cx.data(cx.k.object, Runner { number, hand, dealt: Default::default(), left: Default::default() }))
}
/// `__seg_next(runner)`: a code segment that is ready, its inputs set; or it and why it can't run: an error, or true: an input is
/// owned and not taken. true: another runner is to be started first; nil: this one is not needed any more.
fn next(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(me) = a[0].as_data::<Runner>() else { return Ok(Value::NIL) };
    // Nothing of who has started it, nor of the run before.
    cx.task.stands_alone();
    let due = me.hand.lock().begin();
    if let Some(due) = due {
        return show(cx, made, due);
    }
    let mut named_wait = false;
    let brief = note_last_deal(cx, made, me);
    loop {
        let mut woken = Woken::default();
        let mut inner = made.shared.lock();
        inner.runs.come(me.number, &mut woken);
        if !inner.runs.has_work() {
            drop(inner);
            let waker = cx.waker();
            named_wait = true;
            inner = made.shared.lock();
            if !inner.runs.has_work() {
                let kept = inner.runs.idle(me.number, waker);
                let away = inner.clients.is_some();
                drop(inner);
                woken.wake(cx);
                if kept {
                    if away {
                        cx.expect_message();
                    }
                    return Err(cx.park(u64::MAX));
                }
                cx.no_wait();
                return Ok(Value::NIL);
            }
        }
        if brief && is_elsewhere(cx, made, me) {
            drop(inner);
            let waker = cx.waker();
            inner = made.shared.lock();
            if inner.runs.idle(me.number, waker) {
                drop(inner);
                woken.wake(cx);
                // Should nobody call it.
                return Err(cx.park(now_ns() + LEFT));
            }
            drop(inner);
            woken.wake(cx);
            cx.no_wait();
            return Ok(Value::NIL);
        }
        let alone = !inner.runs.has_spare();
        // This one came; nobody else does.
        let due = if alone { None } else { inner.deal(me.number, &mut woken) };
        drop(inner);
        woken.wake(cx);
        // What was due with another runner may have begun meanwhile.
        if alone || due.is_some() {
            if named_wait {
                cx.no_wait();
            }
            if let Some(due) = &due {
                me.note_deal(due.behind + 1, if cx.are_others_waiting() { now_ns() } else { 0 });
            }
            return due.map_or(Ok(Value::TRUE), |due| show(cx, made, due));
        }
    }
}
/// The runs that this runner was dealt last are over: are they brief, so that it costs more to hand them to another worker than to do
/// them?
fn note_last_deal(cx: &Cx, made: &'static Made, me: &Runner) -> bool {
    let (runs, since) = me.take_deal();
    if since != 0 && runs > 0 {
        let took = now_ns().saturating_sub(since) / runs;
        made.brief.store(cx.are_others_waiting() && took < BRIEF, Relaxed);
        let usual = made.usual.load(Relaxed);
        made.usual.store(usual - usual / 8 + took / 8, Relaxed);
    }
    made.brief.load(Relaxed)
}
/// Has another worker started a code segment meanwhile, which is about to see to it? That is believed once at a time.
fn is_elsewhere(cx: &Cx, made: &'static Made, me: &Runner) -> bool {
    let starter = made.starter.swap(0, Relaxed);
    let elsewhere = starter != 0 && starter != cx.worker + 1 && !me.left.load(Relaxed);
    me.left.store(elsewhere, Relaxed);
    elsewhere
}
/// The object of a run that begins, its inputs set.
fn show(cx: &mut Cx, made: &'static Made, mut due: Due) -> R {
    let object = due.object;
    let mut later = Later::default();
    if due.encoded {
        if let Err(e) = decode_inputs(cx, made, object, &mut due.values, &mut later) {
            // Who runs it finds out.
            let error = unreadable(cx, e);
            return Ok(cx.array(&[object, error]));
        }
    }
    let traced = due.traced.map(|t| (cx.intern("@__trace"), told(cx, &t)));
    if let Some(p) = due.plan.as_data::<Plan>() {
        let _l = cx.lock_objects(object, &[]);
        if let Some((y, v)) = traced {
            cx.ivar_set(object, y, v);
        }
        for (y, v) in p.names.iter().zip(&due.values) {
            cx.ivar_set(object, *y, *v);
        }
    }
    let result = if due.refused { cx.array(&[object, Value::TRUE]) } else { object };
    later.done(cx, "__decode_rehash_inputs", result)
}

/// Makes the values of inputs that came from elsewhere.
#[cold]
fn decode_inputs(cx: &mut Cx, made: &'static Made, object: Value, values: &mut [Value], later: &mut Later) -> Result<(), Exit> {
    let inputs =
        with_run(cx, made, object, |r| r.inputs.iter().map(|g| (g.value.clone(), g.owned, g.lease.is_some())).collect::<Vec<_>>())?;
    for (i, (cell, owned, taken)) in inputs.into_iter().enumerate() {
        if cell.value().is_some() || owned && !taken {
            continue;
        }
        let v = cell.hand_over(cx, owned, later)?;
        cx.heap.publish(v);
        if let Some(place) = values.get_mut(i) {
            *place = v;
        }
        with_run(cx, made, object, |r| {
            if let Some(g) = r.inputs.get_mut(i) {
                g.value = cell.made_of(v);
            }
        })?;
    }
    Ok(())
}
fn with_run<T>(cx: &mut Cx, made: &'static Made, object: Value, f: impl FnOnce(&mut Run) -> T) -> Result<T, Exit> {
    let mut inner = made.shared.lock();
    match inner.runs.running(object) {
        Some(r) => Ok(f(r)),
        None => {
            drop(inner);
            Err(fail(cx, "Kumihimo::Segments::NotRunning", "the code segment does not run"))
        }
    }
}
/// `__seg_input(object, i)`: [key, index, value, owned, changed, deliveries, taken, trace]; nil: it has no such input.
fn input(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let i = cx.arg_i64(a, 1)?;
    let got = with_run(cx, made, a[0], |r| {
        let g = usize::try_from(i).ok().and_then(|i| r.inputs.get(i))?;
        let cell = g.value.clone();
        Some((r.plan, g.index, cell, g.owned, g.changed, g.deliveries, g.lease.is_some()))
    })?;
    let Some((plan, index, cell, owned, changed, deliveries, taken)) = got else { return Ok(Value::NIL) };
    if owned && !taken {
        return Err(not_shared(cx));
    }
    let key = plan.as_data::<Plan>().and_then(|p| p.inputs.get(i as usize)).map_or(Value::NIL, |x| x.0);
    let deliveries = Value::fix(i64::from(deliveries));
    let (value, trace) = (cell.value().unwrap_or(Value::NIL), trace_value(cx, &cell));
    let parts = [key, cx.uint(index), value, Value::bool(owned), Value::bool(changed), deliveries, Value::bool(taken), trace];
    Ok(cx.array(&parts))
}
/// `__seg_output(object, key, value, bits, delay, ttl)`: put when the run commits.
fn output(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let key = named(cx, made, a[1])?;
    cx.heap.publish(a[2]);
    let (bits, trace) = how(a[3]);
    let cell = if key.exported { Cell::of(a[2]).encode(cx)? } else { Cell::of(a[2]) };
    let new = new_of(cell.traced(trace), bits, a[4], a[5]);
    with_run(cx, made, a[0], |r| r.outputs.push((key.cell, Output { key: key.id, update: bits & UPDATE != 0, new })))?;
    Ok(Value::NIL)
}
/// `__seg_forward(object, i, key, bits)`: an input's shared value is put as it came when the run commits.
fn forward(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let i = cx.arg_i64(a, 1)?;
    let key = named(cx, made, a[2])?;
    let (bits, trace) = how(a[3]);
    let cell = with_run(cx, made, a[0], |r| usize::try_from(i).ok().and_then(|i| r.inputs.get(i)).map(|g| g.value.clone()))?;
    let Some(cell) = cell else { return Ok(Value::NIL) };
    let cell = if key.exported { cell.encode(cx)? } else { cell };
    let new = new_of(cell.traced(trace), bits, Value::NIL, Value::NIL);
    with_run(cx, made, a[0], |r| r.outputs.push((key.cell, Output { key: key.id, update: bits & UPDATE != 0, new })))?;
    Ok(Value::NIL)
}
/// `__seg_hand_on(object, given, value)`: the input with the value `given` has another one from now on, which comes back if the run fails.
/// Its place; nil: it is no input's.
fn hand_on(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    cx.heap.publish(a[2]);
    let at = with_run(cx, made, a[0], |r| {
        let at = r.inputs.iter().position(|g| g.value.value() == Some(a[1]))?;
        let g = r.inputs.get_mut(at)?;
        g.value = Cell::of(a[2]).traced(g.value.trace().cloned());
        Some(at)
    })?;
    Ok(at.map_or(Value::NIL, |i| Value::fix(i as i64)))
}
/// `__seg_commit(object, runner, now)`: its outputs appear, its inputs are gone, in one step. Where nothing else is to be done, a
/// runner may note later that the run is over, unless it is to be `now`. False: the run is not this process's.
fn commit(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(me) = a[1].as_data::<Runner>() else { return Ok(Value::FALSE) };
    let ended = me.hand.lock().end(a[0], !a[2].truthy());
    let run = match ended {
        Ended::Noted => return Ok(Value::TRUE),
        Ended::Run(run) => run,
        Ended::NotHere => return Ok(Value::FALSE),
    };
    let mut inner = made.shared.lock();
    let Some(r) = inner.runs.end(run) else { return Ok(Value::FALSE) };
    let leases = leases(&r.inputs);
    let mut outputs: SmallVec<[Output<Cell>; 2]> = SmallVec::new();
    if !r.outputs.is_empty() {
        let all = std::mem::take(&mut r.outputs);
        drop(inner);
        for (cell, mut o) in all {
            o.new.value.mark(|v| cx.heap.before_store(cell, v));
            if !made.shared.lock().node.manager().knows(o.key) {
                o.key = known(cx, made, Named { id: o.key, cell, exported: false })?.id;
            }
            outputs.push(o);
        }
        inner = made.shared.lock();
    }
    let mut woken = Woken::default();
    finish(&mut inner, run, &leases, outputs, &mut woken);
    drop(inner);
    woken.wake(cx);
    Ok(Value::TRUE)
}
/// The outputs of a run appear, and it is over.
fn finish(inner: &mut Inner, run: u32, leases: &[LeaseId], outputs: SmallVec<[Output<Cell>; 2]>, woken: &mut Woken) {
    if !leases.is_empty() || !outputs.is_empty() {
        let timed = outputs.iter().any(|o| o.new.ttl.is_some() || o.new.not_before.is_some());
        let now = if timed { clock::now() } else { inner.now() };
        let (done, w) = inner.act(|m, w| m.commit(now, leases, outputs, w));
        debug_assert!(done.is_ok(), "leases of one's own node do not lapse");
        woken.join(w);
    }
    inner.runs.over(run, woken);
}
/// `__seg_give_up(object, dead)`: nothing is put; what it took comes back. `dead`: a key to which it goes instead, nil: none.
fn give_up(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    // A letter that can't be written leaves the run as it is.
    let dead = match crate::list(a[1])[..] {
        [key, letter, ..] => {
            let key = named(cx, made, key)?;
            let letter = if key.exported { Cell::of(letter).encode(cx)? } else { Cell::of(letter) };
            Some((key, letter))
        }
        _ => None,
    };
    let run = made.shared.lock().runs.give_up(a[0]);
    let Some(run) = run else { return Ok(Value::FALSE) };
    let mut woken = Woken::default();
    if let Some((key, letter)) = dead {
        letter.mark(|v| cx.heap.before_store(key.cell, v));
        let letter = Output { key: key.id, update: false, new: New::shared(letter) };
        finish(&mut made.shared.lock(), run.run, &leases(&run.inputs), SmallVec::from_iter([letter]), &mut woken);
    } else {
        give_back(cx, made, &run, &mut woken);
    }
    woken.wake(cx);
    Ok(Value::TRUE)
}
fn give_back(cx: &mut Cx, made: &'static Made, run: &Given, woken: &mut Woken) {
    let plan = run.plan.as_data::<Plan>();
    let mut left: SmallVec<[Option<Cell>; 2]> = SmallVec::new();
    for (i, g) in run.inputs.iter().enumerate() {
        // The run may have changed what it owned: an encoding is of no use any more.
        let mut value = g.value.value().filter(|_| g.owned).map(|v| Cell::of(v).traced(g.value.trace().cloned()));
        if let Some(cell) = plan.and_then(|p| p.inputs.get(i)).map(|x| x.0) {
            g.value.mark(|v| cx.heap.before_store(cell, v));
            if let (Some(v), Ok(Named { exported: true, .. })) = (&value, named(cx, made, cell)) {
                value = v.encode(cx).ok().or(value);
            }
        }
        left.push(value);
    }
    let mut inner = made.shared.lock();
    // The last first, so that takes that wait see the queue as it was.
    for (g, left) in run.inputs.iter().zip(left).rev() {
        let Some(lease) = g.lease else { continue };
        let now = inner.now();
        let (_, w) = inner.act(|m, w| m.give_back(now, lease, left.map_or(Back::Same, Back::Changed), w));
        woken.join(w);
    }
    inner.runs.over(run.run, woken);
}
/// `__seg_cancel(object)`: it waits no more. False: it is running, or over.
fn cancel(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let mut woken = Woken::default();
    {
        let mut inner = made.shared.lock();
        let Some(c) = inner.runs.cancel(a[0], &mut woken) else { return Ok(Value::FALSE) };
        let now = inner.now();
        if let Some(id) = c.request {
            let (_, w) = inner.act(|m, w| m.leave(now, id, w));
            woken.join(w);
        }
        // It was ready: the last first, so that takes that wait see the queue as it was.
        for lease in c.leases.into_iter().rev() {
            let (_, w) = inner.act(|m, w| m.undo(now, lease, w));
            woken.join(w);
        }
        inner.runs.wake_settling(&mut woken);
    }
    woken.wake(cx);
    Ok(Value::TRUE)
}
/// No run begins any more. What those that have not begun were given comes back; whoever waits for their end goes on waiting.
pub fn stop(inner: &mut Inner) -> Woken {
    let mut woken = Woken::default();
    let (requests, leases) = inner.runs.stop(&mut woken);
    let now = inner.now();
    for id in requests {
        woken.join(inner.act(|m, w| m.leave(now, id, w)).1);
    }
    // The last first, so that takes that wait see the queue as it was.
    for lease in leases.into_iter().rev() {
        woken.join(inner.act(|m, w| m.undo(now, lease, w)).1);
    }
    inner.runs.wake_settling(&mut woken);
    woken
}
/// `__seg_lives(object)`: does it wait or run?
fn lives(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let mut woken = Woken::default();
    let lives = made.shared.lock().runs.lives(a[0], &mut woken);
    woken.wake(cx);
    Ok(Value::bool(lives))
}
/// `__seg_join(object, deadline)`: waits until its run is over. False: not in time.
fn join(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let until = if a[1].is_nil() { u64::MAX } else { cx.arg_i64(a, 1)?.max(0) as u64 };
    let waker = cx.waker();
    let late = until != u64::MAX && now_ns() >= until;
    let mut woken = Woken::default();
    let lives = {
        let runs = &mut made.shared.lock().runs;
        if late { runs.lives(a[0], &mut woken) } else { runs.wait_for(a[0], waker, &mut woken) }
    };
    woken.wake(cx);
    if lives && !late {
        return Err(cx.park(until));
    }
    cx.no_wait();
    Ok(Value::bool(!lives))
}
/// `__seg_runs()`: [waiting, ready, running, idle runners]
fn counts(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let mut woken = Woken::default();
    let counts = made.shared.lock().runs.counts(&mut woken);
    woken.wake(cx);
    Ok(cx.array(&counts.map(|n| Value::fix(n as i64))))
}
/// `__seg_runner_gone(runner)`: the running thread is no runner any more; nil: one could not be started. True: another is needed.
fn runner_gone(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(me) = a[0].as_data::<Runner>() else {
        made.shared.lock().runs.give_up_hope();
        return Ok(Value::FALSE);
    };
    let mut woken = Woken::default();
    let needed = {
        let mut inner = made.shared.lock();
        let (needed, cut) = inner.runs.leave(me.number, &mut woken);
        if inner.runs.is_stopped() {
            // What it had not begun.
            woken.join(stop(&mut inner));
        }
        drop(inner);
        if let Some(cut) = cut {
            give_back(cx, made, &cut, &mut woken);
        }
        needed
    };
    woken.wake(cx);
    Ok(Value::bool(needed))
}
/// `__seg_settled()`: waits until no code segment is ready or running.
fn settled(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let waker = cx.waker();
    let mut woken = Woken::default();
    let waits = made.shared.lock().runs.wait_to_settle(waker, &mut woken);
    woken.wake(cx);
    if waits {
        return Err(cx.park(u64::MAX));
    }
    cx.no_wait();
    Ok(Value::NIL)
}
