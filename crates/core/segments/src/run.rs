//! Code segments: they wait for their inputs, are handed to runners, and commit.
//!
//! **Invariant.** A run is waiting, ready, or in the hands of a runner. What it took stands under open leases until it commits or
//! is given up; its outputs are kept here until then. Before a runner gets a run there is a spare one, idle or coming: so a run
//! that blocks holds up nobody, and whoever completes a run need not start a runner.

use crate::cell::Cell;
use crate::encode::Later;
use crate::keys::{Named, known, named};
use crate::put::{UPDATE, how, new_of, trace_value};
use crate::state::{Inner, Local, Made, Woken, made};
use crate::wait::{fail, kind, not_shared, stale};
use crate::{clock, leaf};
use kumi_segments::{Answer, Asked, Claimed, Hold, Input, Kind, LeaseId, New, Output, RequestId, Waiter};
use kumi_vm::*;
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

pub static TABLE: &[NativeDef] = &[
    leaf("__seg_plan", 5, plan),
    leaf("__seg_start", 2, start),
    leaf("__seg_next", 0, next),
    leaf("__seg_input", 2, input),
    leaf("__seg_output", 6, output),
    leaf("__seg_forward", 4, forward),
    leaf("__seg_take_over", 3, take_over),
    leaf("__seg_commit", 1, commit),
    leaf("__seg_give_up", 2, give_up),
    leaf("__seg_cancel", 1, cancel),
    leaf("__seg_lives", 1, lives),
    leaf("__seg_join", 2, join),
    leaf("__seg_runs", 0, counts),
    leaf("__seg_runner_gone", 0, runner_gone),
    leaf("__seg_settled", 0, settled),
];

/// How many idle runners are kept.
const IDLE: usize = 8;

/// The runs of a node.
#[derive(Default)]
pub struct Runs {
    runs: Vec<Option<Box<Run>>>,
    free: Vec<u32>,
    /// The runs of objects, which are their bits: cells do not move.
    by_object: HashMap<u64, u32, BuildHasherDefault<FxHasher>>,
    ready: VecDeque<u32>,
    idle: Vec<Waker>,
    /// Runners that were started or woken and have not come for a run yet.
    coming: usize,
    /// Runners that have a run.
    busy: usize,
    /// Tasks that wait until nothing is ready or running.
    settling: Vec<Waker>,
    /// The node is about to go: none begins any more.
    stopped: bool,
    /// How classes start their objects, by their bits. Neither is kept alive: a class has its plan, and the plan its class.
    plans: HashMap<u64, Value, BuildHasherDefault<FxHasher>>,
}

/// One code segment.
struct Run {
    /// The object.
    object: Value,
    /// The plan by which it was started.
    plan: Value,
    request: Option<RequestId>,
    inputs: SmallVec<[Got; 1]>,
    outputs: Vec<(Value, Output<Cell>)>,
    stage: Stage,
    /// Tasks that wait for its end.
    joiners: Vec<Waker>,
}

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It waits for inputs, or is ready.
    Waits,
    /// A runner has it.
    Runs,
    /// What it did is about to appear, or what it took to come back. Until then nobody takes it for ended.
    Ends,
}

/// What a run was given.
struct Got {
    index: u64,
    value: Cell,
    lease: Option<LeaseId>,
    owned: bool,
    changed: bool,
    deliveries: u32,
}

impl Run {
    fn new(object: Value, plan: Value) -> Run {
        let (inputs, outputs, joiners) = (SmallVec::new(), Vec::new(), Vec::new());
        Run { object, plan, request: None, inputs, outputs, stage: Stage::Waits, joiners }
    }
    fn given(&mut self, answers: impl Iterator<Item = Answer<Cell>>) {
        for a in answers {
            let s = a.segment;
            let (owned, changed) = (s.owned, s.changed);
            self.inputs.push(Got { index: s.index, value: s.value, lease: a.lease, owned, changed, deliveries: s.deliveries });
        }
    }
}

impl Runs {
    /// The run of this number is complete: whom to wake.
    pub fn is_ready(&mut self, run: u32) -> Option<Waker> {
        self.runs.get(run as usize)?.as_ref()?;
        if self.stopped {
            return None;
        }
        self.ready.push_back(run);
        self.wake_idle()
    }
    fn wake_idle(&mut self) -> Option<Waker> {
        while let Some(w) = self.idle.pop() {
            if !w.is_spent() {
                self.coming += 1;
                return Some(w);
            }
        }
        None
    }
    fn add(&mut self, run: Box<Run>) -> u32 {
        let object = run.object.bits();
        let i = match self.free.pop() {
            Some(i) => {
                if let Some(slot) = self.runs.get_mut(i as usize) {
                    *slot = Some(run);
                }
                i
            }
            None => {
                self.runs.push(Some(run));
                (self.runs.len() - 1) as u32
            }
        };
        self.by_object.insert(object, i);
        i
    }
    fn remove(&mut self, run: u32) -> Option<Box<Run>> {
        let r = self.runs.get_mut(run as usize)?.take()?;
        self.free.push(run);
        self.by_object.remove(&r.object.bits());
        Some(r)
    }
    /// The run of an object.
    fn of(&mut self, object: Value) -> Option<(u32, &mut Run)> {
        let i = *self.by_object.get(&object.bits())?;
        Some((i, self.runs.get_mut(i as usize)?.as_deref_mut()?))
    }
    /// Everything is a root: runs are few, or they wait.
    pub fn each_value(&self, mut f: impl FnMut(Value)) {
        for r in self.runs.iter().flatten() {
            f(r.object);
            f(r.plan);
            r.inputs.iter().for_each(|g| g.value.mark(&mut f));
            r.outputs.iter().for_each(|(key, o)| {
                f(*key);
                o.new.value.mark(&mut f);
            });
        }
    }
    /// Forgets the plans of classes that are no more.
    pub fn sift(&mut self, alive: &dyn Fn(Value) -> bool) {
        self.plans.retain(|_, plan| alive(*plan));
    }
    /// The child of a fork has none of its parent's threads: what it runs is its own affair.
    pub fn forked(&mut self) {
        let plans = std::mem::take(&mut self.plans);
        *self = Runs { plans, ..Runs::default() };
    }
    /// The task does not wait for a run any more: did it?
    #[inline]
    fn leave_idle(&mut self, task: u64) -> bool {
        if self.idle.is_empty() {
            return false;
        }
        let n = self.idle.len();
        self.idle.retain(|w| w.ticket().task != task);
        self.idle.len() < n
    }
    fn is_settled(&self) -> bool {
        self.ready.is_empty() && self.busy == 0
    }
    /// The run of this object has ended: what it did is there. Its runner comes for the next one.
    fn over(&mut self, object: Value, woken: &mut Woken) {
        if let Some(i) = self.of(object).map(|r| r.0) {
            self.busy = self.busy.saturating_sub(1);
            self.coming += 1;
            for w in self.remove(i).into_iter().flat_map(|r| r.joiners) {
                woken.add(Some(w));
            }
        }
        self.wake_settling(woken);
    }
    fn wake_settling(&mut self, woken: &mut Woken) {
        if self.is_settled() {
            self.settling.drain(..).for_each(|w| woken.add(Some(w)));
        }
    }
}

/// How the objects of a class are started: inputs, and the instance variables that show their values.
struct Plan {
    /// Of a class, which lives as long as its plan does.
    class: Value,
    inputs: SmallVec<[(Value, Kind, Option<u64>); 1]>,
    names: SmallVec<[Sym; 2]>,
}
impl Payload for Plan {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.class);
        self.inputs.iter().for_each(|i| m.mark(i.0));
        self.names.iter().for_each(|y| m.mark(Value::sym(*y)));
    }
    fn shares(&self) -> bool {
        true
    }
}

/// `__seg_plan(names, keys, kinds, afters, class)`: of a class, or of an object alone (nil).
fn plan(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let list = |i: usize| crate::list(a[i]);
    let (names, keys, kinds, afters) = (list(0), list(1), list(2), list(3));
    let mut p = Plan { class: a[4], inputs: SmallVec::new(), names: SmallVec::new() };
    for (i, key) in keys.iter().enumerate() {
        let n = named(cx, made, *key)?;
        let at = |l: &[Value]| l.get(i).copied().unwrap_or(Value::NIL);
        p.inputs.push((n.cell, kind(at(&kinds)), at(&afters).as_fix().and_then(|x| u64::try_from(x).ok())));
        if let Some(y) = at(&names).as_sym() {
            p.names.push(y);
        }
    }
    let mut cells: Vec<Value> = p.inputs.iter().map(|i| i.0).collect();
    cells.push(a[4]);
    let v = cx.data(cx.k.object, p);
    cx.heap.before_store_all(v, &cells);
    if a[4].is_heap() {
        cx.heap.publish(v);
        made.shared.lock().runs.plans.insert(a[4].bits(), v);
    }
    Ok(v)
}
/// `CodeSegment.start` of a class whose plan is made and whose `new` calls nothing.
pub fn start_of_class(cx: &mut Cx, class: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let plan = made.shared.lock().runs.plans.get(&class.bits()).copied();
    let Some(plan) = plan else { return Err(Exit::Miss) };
    let Some(object) = cx.new_plain(class) else { return Err(Exit::Miss) };
    match begin(cx, made, object, plan)? {
        false => Ok(object),
        true => {
            let first = cx.intern("__first_started");
            Err(cx.call(class, first, &[object]))
        }
    }
}
/// `__seg_start(object, plan)`: its run begins when its inputs are there. True: the library starts the first runner.
fn start(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    Ok(Value::bool(begin(cx, made, a[0], a[1])?))
}
fn begin(cx: &mut Cx, made: &'static Made, object: Value, plan: Value) -> Result<bool, Exit> {
    let Some(p) = plan.as_data::<Plan>() else { return Err(cx.type_error("no plan of a code segment")) };
    cx.heap.publish(object);
    cx.heap.publish(plan);
    let mut inputs: SmallVec<[Input; 2]> = SmallVec::new();
    loop {
        inputs.clear();
        for (cell, kind, after) in &p.inputs {
            inputs.push(Input { key: named(cx, made, *cell)?.id, kind: *kind, after: *after });
        }
        let mut inner = made.shared.lock();
        if inner.runs.of(object).is_some() {
            drop(inner);
            return Err(fail(cx, "Kumihimo::Segments::Error", "the code segment is started already"));
        }
        if let Some(i) = inputs.iter().position(|i| !inner.node.manager().knows(i.key)) {
            drop(inner);
            // The manager has forgotten it.
            known(cx, made, Named { id: inputs[i].key, cell: p.inputs[i].0, exported: false })?;
            continue;
        }
        let mut woken = Woken::default();
        let mut run = Box::new(Run::new(object, plan));
        let stopped = inner.runs.stopped;
        let asked = match inputs.is_empty() || stopped {
            true => Ok(None),
            false => {
                let now = inner.now();
                // Where everything is there, nobody waits.
                let (asked, w) = inner.act(|m, w| m.get(now, &inputs, Hold::Open, None, w));
                woken = w;
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
            let w = inner.runs.is_ready(number);
            woken.add(w);
        } else if !stopped {
            let now = inner.now();
            let (stood, w) = inner.act(|m, w| m.stand(now, &inputs, Hold::Open, Waiter::Local(Local::Code(number)), w));
            woken.join(w);
            if let (Ok(id), Some((_, r))) = (stood, inner.runs.of(object)) {
                r.request = Some(id);
            }
        }
        let spare = inner.runs.coming > 0 || !inner.runs.idle.is_empty() || inner.runs.busy > 0;
        if !spare {
            inner.runs.coming += 1;
        }
        drop(inner);
        woken.wake(cx);
        return Ok(!spare);
    }
}

/// `__seg_next()`: a code segment that is ready, its inputs set; true: another runner is to be started first; nil: the runner is
/// not needed any more.
fn next(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let me = cx.task.id();
    let mut inner = made.shared.lock();
    if inner.runs.leave_idle(me) {
        // Something else has ended its wait.
        inner.runs.coming += 1;
    }
    let mut named_wait = false;
    if inner.runs.ready.is_empty() {
        drop(inner);
        let waker = cx.waker();
        named_wait = true;
        inner = made.shared.lock();
        let runs = &mut inner.runs;
        if runs.ready.is_empty() {
            runs.coming = runs.coming.saturating_sub(1);
            let kept = runs.idle.len() < IDLE;
            if kept {
                runs.idle.push(waker);
            }
            let away = inner.clients.is_some();
            drop(inner);
            if kept {
                if away {
                    cx.expect_service();
                }
                return Err(cx.park(u64::MAX));
            }
            cx.no_wait();
            return Ok(Value::NIL);
        }
    }
    let runs = &mut inner.runs;
    let run = match runs.coming <= 1 && runs.idle.is_empty() {
        // This one came; nobody else does.
        true => None,
        false => runs.ready.pop_front(),
    };
    let Some(run) = run else {
        runs.coming += 1;
        drop(inner);
        if named_wait {
            cx.no_wait();
        }
        return Ok(Value::TRUE);
    };
    runs.coming = runs.coming.saturating_sub(1);
    runs.busy += 1;
    let request = runs.runs.get_mut(run as usize).and_then(|r| r.as_mut()).and_then(|r| {
        r.stage = Stage::Runs;
        r.request.take()
    });
    let claimed = request.and_then(|id| inner.act(|m, _| m.claim(id)).0);
    let Some(r) = inner.runs.runs.get_mut(run as usize).and_then(|r| r.as_mut()) else { unreachable!("ready runs are there") };
    if let Some(Claimed::Answers(answers)) = claimed {
        r.given(answers.into_iter());
    }
    let (object, plan) = (r.object, r.plan);
    let mut values: SmallVec<[Value; 4]> = SmallVec::new();
    let mut encoded = false;
    let mut refused = false;
    let mut traced = None;
    for g in &r.inputs {
        if traced.is_none() && g.lease.is_some() && g.value.trace().is_some() {
            traced = Some(g.value.clone());
        }
        encoded |= g.value.value().is_none();
        // What is owned and was not taken is not shown: the run is refused.
        let hidden = g.owned && g.lease.is_none();
        refused |= hidden;
        values.push(if hidden { Value::NIL } else { g.value.value().unwrap_or(Value::NIL) });
    }
    drop(inner);
    if named_wait {
        cx.no_wait();
    }
    let mut later = Later::default();
    if encoded {
        if let Err(e) = decode_inputs(cx, made, object, &mut values, &mut later) {
            // Who runs it finds out.
            let error = match e {
                Exit::Raise => std::mem::replace(&mut cx.pending.exc, Value::NIL),
                _ => cx.make_exc(cx.k.runtime_error, "a segment that came from another node can not be read"),
            };
            return Ok(cx.array(&[object, error]));
        }
    }
    let refused = if refused { Some(cx.intern("@__refused")) } else { None };
    let traced = traced.map(|c| (cx.intern("@__trace"), trace_value(cx, &c)));
    if let Some(p) = plan.as_data::<Plan>() {
        let _l = cx.lock_objects(object, &[]);
        if let Some(y) = refused {
            cx.ivar_set(object, y, Value::TRUE);
        }
        if let Some(y) = traced {
            cx.ivar_set(object, y.0, y.1);
        }
        for (y, v) in p.names.iter().zip(&values) {
            cx.ivar_set(object, *y, *v);
        }
    }
    later.done(cx, "__decode_rehash_inputs", object)
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
    match inner.runs.of(object).filter(|r| r.1.stage == Stage::Runs) {
        Some((_, r)) => Ok(f(r)),
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
/// `__seg_take_over(object, i, value)`: the input's value is another object from now on, which comes back if the run fails.
fn take_over(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let i = cx.arg_i64(a, 1)?;
    cx.heap.publish(a[2]);
    with_run(cx, made, a[0], |r| {
        if let Some(g) = usize::try_from(i).ok().and_then(|i| r.inputs.get_mut(i)) {
            g.value = Cell::of(a[2]).traced(g.value.trace().cloned());
        }
    })?;
    Ok(Value::NIL)
}
/// What a run that ends was given and puts.
struct Work {
    plan: Value,
    inputs: SmallVec<[Got; 1]>,
    outputs: Vec<(Value, Output<Cell>)>,
}

/// Takes a run's work out of its runner's hands; [`Runs::over`] follows, with what becomes of it.
fn end(made: &'static Made, object: Value) -> Option<Work> {
    let mut inner = made.shared.lock();
    let (_, r) = inner.runs.of(object).filter(|r| r.1.stage == Stage::Runs)?;
    r.stage = Stage::Ends;
    Some(Work { plan: r.plan, inputs: std::mem::take(&mut r.inputs), outputs: std::mem::take(&mut r.outputs) })
}
/// `__seg_commit(object)`: its outputs appear, its inputs are gone, in one step.
fn commit(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(run) = end(made, a[0]) else { return Ok(Value::FALSE) };
    let leases: SmallVec<[LeaseId; 2]> = run.inputs.iter().filter_map(|g| g.lease).collect();
    let mut outputs: SmallVec<[Output<Cell>; 2]> = SmallVec::new();
    for (cell, mut o) in run.outputs {
        o.new.value.mark(|v| cx.heap.before_store(cell, v));
        if !made.shared.lock().node.manager().knows(o.key) {
            o.key = known(cx, made, Named { id: o.key, cell, exported: false })?.id;
        }
        outputs.push(o);
    }
    let mut woken = Woken::default();
    {
        let mut inner = made.shared.lock();
        if !leases.is_empty() || !outputs.is_empty() {
            let timed = outputs.iter().any(|o| o.new.ttl.is_some() || o.new.not_before.is_some());
            let now = if timed { clock::now() } else { inner.now() };
            let (done, w) = inner.act(|m, w| m.commit(now, &leases, outputs, w));
            debug_assert!(done.is_ok(), "leases of one's own node do not lapse");
            woken.join(w);
        }
        inner.runs.over(a[0], &mut woken);
    }
    woken.wake(cx);
    Ok(Value::TRUE)
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
    let Some(run) = end(made, a[0]) else { return Ok(Value::FALSE) };
    let mut woken = Woken::default();
    if let Some((key, letter)) = dead {
        letter.mark(|v| cx.heap.before_store(key.cell, v));
        let leases: SmallVec<[LeaseId; 2]> = run.inputs.iter().filter_map(|g| g.lease).collect();
        let mut inner = made.shared.lock();
        let now = inner.now();
        let new = New::shared(letter);
        let (done, w) = inner.act(|m, w| m.commit(now, &leases, [Output { key: key.id, update: false, new }], w));
        debug_assert!(done.is_ok(), "leases of one's own node do not lapse");
        woken.join(w);
        inner.runs.over(a[0], &mut woken);
    } else {
        give_back(cx, made, a[0], &run, &mut woken);
    }
    woken.wake(cx);
    Ok(Value::TRUE)
}
fn give_back(cx: &mut Cx, made: &'static Made, object: Value, run: &Work, woken: &mut Woken) {
    let plan = run.plan.as_data::<Plan>();
    let mut left: SmallVec<[Option<Cell>; 2]> = SmallVec::new();
    for (i, g) in run.inputs.iter().enumerate() {
        // The run may have changed what it owned: an encoding is of no use any more.
        let mut value = g.value.value().filter(|_| g.owned).map(Cell::of);
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
        let (_, w) = inner.act(|m, w| m.give_back(now, lease, left, w));
        woken.join(w);
    }
    inner.runs.over(object, woken);
}
/// `__seg_cancel(object)`: it waits no more. False: it is running, or over.
fn cancel(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let mut woken = Woken::default();
    {
        let mut inner = made.shared.lock();
        let Some((run, r)) = inner.runs.of(a[0]).filter(|r| r.1.stage == Stage::Waits) else { return Ok(Value::FALSE) };
        let request = r.request;
        inner.runs.ready.retain(|x| *x != run);
        if let Some(id) = request {
            let now = inner.now();
            let (_, w) = inner.act(|m, w| m.leave(now, id, w));
            woken = w;
        }
        if let Some(r) = inner.runs.remove(run) {
            // It was ready: the last first, so that takes that wait see the queue as it was.
            for lease in r.inputs.iter().rev().filter_map(|g| g.lease) {
                let now = inner.now();
                let (_, w) = inner.act(|m, w| m.undo(now, lease, w));
                woken.join(w);
            }
            r.joiners.into_iter().for_each(|w| woken.add(Some(w)));
        }
        inner.runs.wake_settling(&mut woken);
    }
    woken.wake(cx);
    Ok(Value::TRUE)
}
/// No run begins any more. What those that have not begun were given comes back; whoever waits for their end goes on waiting.
pub fn stop(inner: &mut Inner) -> Woken {
    let mut woken = Woken::default();
    inner.runs.stopped = true;
    inner.runs.ready.clear();
    let (mut requests, mut leases) = (Vec::new(), Vec::new());
    for r in inner.runs.runs.iter_mut().flatten().filter(|r| r.stage == Stage::Waits) {
        requests.extend(r.request.take());
        leases.extend(r.inputs.drain(..).filter_map(|g| g.lease));
    }
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
    Ok(Value::bool(made.shared.lock().runs.of(a[0]).is_some()))
}
/// `__seg_join(object, deadline)`: waits until its run is over. False: not in time.
fn join(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let until = if a[1].is_nil() { u64::MAX } else { cx.arg_i64(a, 1)?.max(0) as u64 };
    let waker = cx.waker();
    let late = until != u64::MAX && now_ns() >= until;
    let waits = {
        let mut inner = made.shared.lock();
        match inner.runs.of(a[0]) {
            Some((_, r)) if !late => {
                r.joiners.retain(|w| !w.is_spent());
                r.joiners.push(waker);
                None
            }
            Some(_) => Some(Value::FALSE),
            None => Some(Value::TRUE),
        }
    };
    match waits {
        None => Err(cx.park(until)),
        Some(v) => {
            cx.no_wait();
            Ok(v)
        }
    }
}
/// `__seg_runs()`: [waiting, ready, running, idle runners]
fn counts(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let (all, ready, busy, idle) = {
        let inner = made.shared.lock();
        let r = &inner.runs;
        (r.runs.len() - r.free.len(), r.ready.len(), r.busy, r.idle.len())
    };
    let n = |n: usize| Value::fix(n as i64);
    Ok(cx.array(&[n(all.saturating_sub(ready + busy)), n(ready), n(busy), n(idle)]))
}
/// `__seg_runner_gone()`: the running task is no runner any more, or one could not be started. True: another is needed.
fn runner_gone(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let me = cx.task.id();
    let mut inner = made.shared.lock();
    let runs = &mut inner.runs;
    if !runs.leave_idle(me) {
        runs.coming = runs.coming.saturating_sub(1);
    }
    let needed = runs.coming == 0 && runs.idle.is_empty() && (!runs.ready.is_empty() || runs.busy > 0);
    if needed {
        runs.coming += 1;
    }
    Ok(Value::bool(needed))
}
/// `__seg_settled()`: waits until no code segment is ready or running.
fn settled(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let waker = cx.waker();
    {
        let mut inner = made.shared.lock();
        if !inner.runs.is_settled() {
            inner.runs.settling.retain(|w| !w.is_spent());
            inner.runs.settling.push(waker);
            drop(inner);
            return Err(cx.park(u64::MAX));
        }
    }
    cx.no_wait();
    Ok(Value::NIL)
}
