//! Peeks and takes, at once and waiting.
//!
//! **Invariant.** A request that waits is an object of Ruby's. Whoever is done with it, or drops it, leaves the line; what was
//! taken for it and not handed over comes back then.

use crate::cell::Cell;
use crate::encode::{FILL, Later};
use crate::keys::{known, named, with_key};
use crate::put::{UPDATE, cell_for, how, moved, new_of, stored_value, trace_value};
use crate::state::{Bell, Local, Made, Shared, made};
use crate::{clock, leaf};
use kumi_segments::{Answer, Asked, Back, Claimed, Hold, Input, Kind, LeaseId, Output, RequestId, Segment, Stale, Waiter};
use kumi_vm::*;
use parking_lot::Mutex;
use slotmap::{Key as _, KeyData};
use std::sync::Arc;

pub static TABLE: &[NativeDef] = &[
    leaf("__seg_get", 3, get),
    leaf("__seg_segment", 3, segment),
    leaf("__seg_get_item", 1, get_item),
    leaf("__seg_ask", 4, ask),
    leaf("__seg_ask_item", 1, ask_item),
    leaf("__seg_room", 5, room),
    leaf("__seg_fill", 5, fill),
    leaf("__seg_hold", 1, hold),
    leaf("__seg_commit_held", 2, commit_held),
    leaf("__seg_give_back_held", 3, give_back_held),
    leaf("__seg_wait", 2, wait),
    leaf("__seg_leave", 1, leave),
    leaf("__seg_made", 3, made_segment),
];

/// What Ruby holds of a request that waits.
struct Request {
    shared: Arc<Shared>,
    bell: Arc<Bell>,
    /// Nothing: it is over.
    id: Mutex<Option<RequestId>>,
    /// Whole segments are wanted, not just values.
    whole: bool,
    peeks: bool,
    /// The end of a key stays where it is.
    spares: bool,
    /// Of a run's inputs: which of them are only looked at.
    held: Box<[bool]>,
}

impl Payload for Request {
    fn shares(&self) -> bool {
        true
    }
}
impl Drop for Request {
    fn drop(&mut self) {
        if let Some(id) = self.id.get_mut().take() {
            let mut inner = self.shared.lock();
            let now = inner.now();
            let (_, woken) = inner.act(|m, w| m.leave(now, id, w));
            drop(inner);
            woken.wake_outside();
        }
    }
}

/// An index to look behind.
pub fn after(cx: &mut Cx, v: Value) -> Result<Option<u64>, Exit> {
    if v.is_nil() {
        return Ok(None);
    }
    match v.as_fix().and_then(|i| u64::try_from(i).ok()) {
        Some(i) => Ok(Some(i)),
        None => {
            let found = cx.describe_type(v);
            Err(cx.type_error(&format!("after: is a segment's index, an Integer of 0 and more, not {found}")))
        }
    }
}
pub fn kind(v: Value) -> Kind {
    if v.truthy() { Kind::Take } else { Kind::Peek }
}
/// Raises a class of the library's.
#[cold]
pub fn fail(cx: &mut Cx, class: &'static str, msg: &str) -> Exit {
    let c = cx.const_path(class).and_then(|v| v.as_class()).unwrap_or(cx.k.runtime_error);
    cx.raise_msg(c, msg)
}
#[cold]
pub fn stale(cx: &mut Cx, after: u64, s: Stale) -> Exit {
    let msg = format!("index {after} was not given out here: the last one of this key is {}. It may be of an earlier incarnation", s.last);
    fail(cx, "Kumihimo::Segments::StaleIndex", &msg)
}
#[cold]
pub fn not_shared(cx: &mut Cx) -> Exit {
    fail(cx, "Kumihimo::Segments::NotShared", "the segment is owned: it can be taken, not peeked at")
}

/// A segment as Ruby gets it, of this node's manager or another's.
pub struct Shown<'a> {
    pub index: u64,
    pub value: &'a Cell,
    pub owned: bool,
    pub changed: bool,
    pub deliveries: u32,
    pub lease: Option<u64>,
}

impl Shown<'_> {
    /// [index, value, owned, changed, deliveries, trace, lease]
    ///
    /// # Errors
    /// The value can't be made of its bytes.
    pub fn parts(&self, cx: &mut Cx, later: &mut Later) -> R {
        let value = self.value.hand_over(cx, self.owned, later)?;
        Ok(self.with(cx, value, &[]))
    }
    /// The same of an input of a run, and what is the matter with it: it can't be read, or is owned and only looked at. Who runs it
    /// finds out.
    pub fn input(&self, cx: &mut Cx, peeked: bool, later: &mut Later) -> Value {
        let value = if peeked && self.owned { Err(not_shared(cx)) } else { self.value.hand_over(cx, self.owned, later) };
        match value {
            Ok(v) => self.with(cx, v, &[Value::NIL]),
            Err(e) => {
                let e = unreadable(cx, e);
                self.with(cx, Value::NIL, &[e])
            }
        }
    }
    fn with(&self, cx: &mut Cx, value: Value, more: &[Value]) -> Value {
        let lease = self.lease.map_or(Value::NIL, |l| cx.str(&l.to_string()));
        let deliveries = Value::fix(i64::from(self.deliveries));
        let (owned, changed, trace) = (Value::bool(self.owned), Value::bool(self.changed), trace_value(cx, self.value));
        let mut all = vec![cx.uint(self.index), value, owned, changed, deliveries, trace, lease];
        all.extend_from_slice(more);
        cx.array_vec(all)
    }
}
/// Why a segment can't be read, as an exception that is told later.
pub fn unreadable(cx: &mut Cx, e: Exit) -> Value {
    match e {
        Exit::Raise => std::mem::replace(&mut cx.pending.exc, Value::NIL),
        _ => cx.make_exc(cx.k.runtime_error, "a segment that came from another node can not be read"),
    }
}
/// Called with the inputs of a run.
pub const FILL_HELD: &str = "__decode_rehash_held";

/// What is handed to Ruby.
fn handed(cx: &mut Cx, s: Segment<Cell>, peeked: bool, whole: bool) -> R {
    if peeked && s.owned {
        return Err(not_shared(cx));
    }
    if !whole {
        return s.value.hand_over_last(cx, s.owned);
    }
    let mut later = Later::default();
    let value = s.value.hand_over(cx, s.owned, &mut later)?;
    let trace = trace_value(cx, &s.value);
    let parts = [cx.uint(s.index), value, Value::bool(s.owned), Value::bool(s.changed), Value::fix(i64::from(s.deliveries)), trace];
    let parts = cx.array(&parts);
    later.done(cx, FILL, parts)
}
/// `__seg_get(key, take, after)`: a value that is there, or the object that says that none is.
fn get(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    look(cx, a, false)
}
/// `__seg_segment(key, take, after)`: the same, as [index, value, owned, changed, deliveries, trace].
fn segment(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    look(cx, a, true)
}
#[inline]
fn look(cx: &mut Cx, a: &[Value], whole: bool) -> R {
    let made = made(cx)?;
    let (kind, after) = (kind(a[1]), after(cx, a[2])?);
    let (asked, woken) = with_key(cx, made, a[0], Value::NIL, |inner, key| {
        let now = inner.now();
        inner.act(|m, w| m.get(now, &[Input { key, kind, after }], Hold::Never, None, w))
    })?;
    woken.wake(cx);
    match asked {
        Ok(Asked::Here(answers)) => match answers.into_iter().next() {
            Some(Answer { segment, .. }) if kind == Kind::Peek && segment.value.value().is_none() && !segment.owned => {
                let mut later = Later::default();
                let decoded = decode_in_place(cx, made, a[0], segment, &mut later)?;
                let v = handed(cx, decoded, true, whole)?;
                later.done(cx, FILL, v)
            }
            Some(Answer { segment, .. }) => handed(cx, segment, kind == Kind::Peek, whole),
            None => Ok(made.none),
        },
        Ok(_) => Ok(made.none),
        Err(s) => Err(stale(cx, after.unwrap_or(0), s)),
    }
}
/// The value of a segment that came from elsewhere is made once, however often it is peeked at; one that Ruby has to do something to,
/// each time: nobody else sees it before that.
#[cold]
fn decode_in_place(cx: &mut Cx, made: &'static Made, key: Value, s: Segment<Cell>, later: &mut Later) -> Result<Segment<Cell>, Exit> {
    let v = s.value.hand_over(cx, false, later)?;
    let both = s.value.made_of(v);
    if !later.is_done() {
        return Ok(Segment { value: both, ..s });
    }
    let stays = both.clone();
    with_key(cx, made, key, v, |inner, id| drop(inner.act(|m, _| m.exchange(id, s.index, stays)).1))?;
    Ok(Segment { value: both, ..s })
}
/// `__seg_get_item(key)`: the head's value, taken, if anything is there. The end of the key is given, and stays.
fn get_item(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let (found, woken) = with_key(cx, made, a[0], Value::NIL, |inner, key| {
        let now = inner.now();
        inner.act(|m, w| {
            m.tick(now, w);
            if m.head(key).is_some_and(|s| made.is_end(&s.value)) {
                return Err(());
            }
            Ok(m.get(now, &[Input { key, kind: Kind::Take, after: None }], Hold::Never, None, w))
        })
    })?;
    woken.wake(cx);
    match found {
        Err(()) => Ok(made.end),
        Ok(Ok(Asked::Here(mut answers))) if !answers.is_empty() => handed(cx, answers.remove(0).segment, false, false),
        Ok(_) => Ok(made.none),
    }
}
/// `__seg_ask_item(key)`: the same, as a request that waits.
fn ask_item(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let request = Request::new(made(cx)?, false, false, true);
    wait_for(cx, a[0], Kind::Take, None, request)
}
/// `__seg_ask(key, take, after, whole)`: a request that waits, or is answered already. `__seg_wait` says what came of it.
fn ask(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (kind, after) = (kind(a[1]), after(cx, a[2])?);
    let request = Request::new(made(cx)?, a[3].truthy(), kind == Kind::Peek, false);
    wait_for(cx, a[0], kind, after, request)
}
fn wait_for(cx: &mut Cx, key: Value, kind: Kind, after: Option<u64>, request: Request) -> R {
    let made = made(cx)?;
    let waiter = Waiter::Local(Local::Task(request.bell.clone()));
    // What may have to stay is held until it is looked at.
    let hold = if request.spares { Hold::Open } else { Hold::Never };
    // The object is made first: no cell is made once something is taken.
    let v = cx.data(cx.k.object, request);
    let asked = with_key(cx, made, key, Value::NIL, |inner, key| {
        let now = inner.now();
        let input = Input { key, kind, after };
        let (asked, woken) = inner.act(|m, w| m.stand(now, &[input], hold, waiter, w));
        if let (Ok(id), Some(r)) = (&asked, v.as_data::<Request>()) {
            *r.id.lock() = Some(*id);
        }
        (asked, woken)
    })?;
    let (asked, woken) = asked;
    woken.wake(cx);
    match asked {
        Ok(_) => Ok(v),
        Err(s) => Err(stale(cx, after.unwrap_or(0), s)),
    }
}
impl Request {
    fn new(made: &Made, whole: bool, peeks: bool, spares: bool) -> Request {
        Request { shared: made.shared.clone(), bell: Arc::default(), id: Mutex::new(None), whole, peeks, spares, held: Box::default() }
    }
}
/// `__seg_room(key, value, bits, delay, ttl)`: a put that waits for room. bits nil: just room, which `__seg_fill` puts into.
fn room(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let request = Request::new(made, false, false, false);
    let waiter = Waiter::Local(Local::Task(request.bell.clone()));
    let v = cx.data(cx.k.object, request);
    let cell = cell_for(cx, made, a[0], a[1])?;
    let (bits, trace) = how(a[2]);
    let new = (!a[2].is_nil()).then(|| new_of(cell.traced(trace), bits, a[3], a[4]));
    let timed = new.as_ref().is_some_and(|n| n.ttl.is_some() || n.not_before.is_some());
    let woken = with_key(cx, made, a[0], a[1], |inner, key| {
        inner.timed |= timed;
        let now = inner.now();
        let (id, woken) = inner.act(|m, w| m.stand_for_room(now, key, new, waiter, w));
        if let Some(r) = v.as_data::<Request>() {
            *r.id.lock() = Some(id);
        }
        woken
    })?;
    woken.wake(cx);
    Ok(v)
}
/// `__seg_fill(request, deadline, key, value, [bits, delay, ttl])`: waits until there is room, and hands the value over, which does not move
/// before. Its index, or true, or the object that says that there was none in time.
fn fill(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(r) = a[0].as_data::<Request>() else { return Ok(made.none) };
    let until = if a[1].is_nil() { u64::MAX } else { cx.arg_i64(a, 1)?.max(0) as u64 };
    let waker = cx.waker();
    let (has, woken, away) = {
        let mut inner = made.shared.lock();
        let now = inner.now();
        let ((), woken) = inner.act(|m, w| m.tick(now, w));
        let has = r.id.lock().filter(|id| inner.node.manager().has_room(*id));
        if has.is_none() {
            r.bell.set(waker);
        }
        (has, woken, inner.clients.is_some())
    };
    woken.wake(cx);
    let Some(id) = has else { return goes_on(cx, made, r, until, away) };
    cx.no_wait();
    let parts = crate::list(a[4]);
    let at = |i: usize| parts.get(i).copied().unwrap_or(Value::NIL);
    let (bits, trace) = how(at(0));
    let (root, cell) = moved(cx, made, a[2], a[3])?;
    let new = new_of(cell.traced(trace), bits, at(1), at(2));
    let timed = new.not_before.is_some() || new.ttl.is_some();
    let (stored, woken) = with_key(cx, made, a[2], root, |inner, key| {
        inner.timed |= timed;
        let now = inner.now();
        // Only a key whose limit was taken away meanwhile can be another one by now.
        inner.act(|m, w| m.fill(now, id, new, w).unwrap_or_else(|new| m.put_anyway(now, key, new, w)))
    })?;
    *r.id.lock() = None;
    woken.wake(cx);
    Ok(stored_value(cx, stored))
}
/// `__seg_hold([[key, take, after], ..])`: a request for several segments in one step, held under leases. Its result is an Array of
/// [index, value, owned, changed, deliveries, trace, lease, error].
fn hold(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let mut named_inputs = Vec::new();
    for v in crate::list(a[0]) {
        let parts = crate::list(v);
        let at = |i: usize| parts.get(i).copied().unwrap_or(Value::NIL);
        named_inputs.push((named(cx, made, at(0))?, kind(at(1)), after(cx, at(2))?));
    }
    let held = named_inputs.iter().map(|n| n.1 == Kind::Peek).collect();
    let mut request = Request::new(made, true, false, false);
    request.held = held;
    let waiter = Waiter::Local(Local::Task(request.bell.clone()));
    let v = cx.data(cx.k.object, request);
    let (stood, woken) = loop {
        let mut inner = made.shared.lock();
        if let Some(n) = named_inputs.iter_mut().find(|n| !inner.node.manager().knows(n.0.id)) {
            drop(inner);
            n.0 = known(cx, made, n.0)?;
            continue;
        }
        let now = inner.now();
        let inputs: Vec<Input> = named_inputs.iter().map(|(n, kind, after)| Input { key: n.id, kind: *kind, after: *after }).collect();
        let (stood, woken) = inner.act(|m, w| m.stand(now, &inputs, Hold::Open, waiter, w));
        if let (Ok(id), Some(r)) = (&stood, v.as_data::<Request>()) {
            *r.id.lock() = Some(*id);
        }
        break (stood, woken);
    };
    woken.wake(cx);
    match stood {
        Ok(_) => Ok(v),
        Err(s) => Err(stale(cx, named_inputs.get(s.input).and_then(|n| n.2).unwrap_or(0), s)),
    }
}
fn lease_of(v: Value) -> Option<LeaseId> {
    let n: u64 = std::str::from_utf8(v.as_str()?.bytes()).ok()?.parse().ok()?;
    Some(LeaseId::from(KeyData::from_ffi(n)))
}
/// `__seg_commit_held(leases, [[key, value, bits, delay, ttl], ..])`: false: one of the leases is over.
fn commit_held(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    use crate::list;
    let Some(leases) = list(a[0]).into_iter().map(lease_of).collect::<Option<Vec<_>>>() else { return Ok(Value::FALSE) };
    let mut outputs = Vec::new();
    for v in list(a[1]) {
        let parts = list(v);
        let at = |i: usize| parts.get(i).copied().unwrap_or(Value::NIL);
        let mut key = named(cx, made, at(0))?;
        let cell = cell_for(cx, made, at(0), at(1))?;
        cx.heap.before_store(key.cell, at(1));
        if !made.shared.lock().node.manager().knows(key.id) {
            key = known(cx, made, key)?;
        }
        let (bits, trace) = how(at(2));
        outputs.push(Output { key: key.id, update: bits & UPDATE != 0, new: new_of(cell.traced(trace), bits, at(3), at(4)) });
    }
    let (done, woken) = made.shared.lock().act(|m, w| m.commit(clock::now(), &leases, outputs, w));
    woken.wake(cx);
    Ok(Value::bool(done.is_ok()))
}
/// `__seg_give_back_held(lease, value, seen)`: the object that stands for nothing: as it was.
fn give_back_held(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(lease) = lease_of(a[0]) else { return Ok(Value::FALSE) };
    let left = match (a[2].truthy(), a[1] == made.none) {
        (false, _) => Back::Unseen,
        (true, true) => Back::Same,
        (true, false) => Back::Changed(Cell::of(a[1])),
    };
    // It may come to stand in any queue of the manager's: the root marks it until its key's cell does.
    cx.heap.publish(a[1]);
    let key = made.shared.lock().node.manager().key_of(lease);
    if let Some(anchor) = key.and_then(|k| made.shared.lock().anchors.get(k).map(|a| a.cell)) {
        cx.heap.before_store(anchor, a[1]);
    }
    let (done, woken) = made.shared.lock().act(|m, w| m.give_back(clock::now(), lease, left, w));
    woken.wake(cx);
    Ok(Value::bool(done.is_ok()))
}
/// `__seg_wait(request, deadline)`: what the request comes to: a value, a segment, an index, true (it enters later); or the object that
/// says that nothing came in time. `deadline`: as the library's (nil: none).
fn wait(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(r) = a[0].as_data::<Request>() else { return Ok(made.none) };
    let until = if a[1].is_nil() { u64::MAX } else { cx.arg_i64(a, 1)?.max(0) as u64 };
    let waker = cx.waker();
    let (claimed, woken, away) = {
        let mut inner = made.shared.lock();
        let now = inner.now();
        let ((), mut woken) = inner.act(|m, w| m.tick(now, w));
        let mut held = r.id.lock();
        let claimed = held.and_then(|id| inner.act(|m, _| m.claim(id)).0);
        if let (true, Some(Claimed::Answers(answers))) = (r.spares, &claimed) {
            let end = answers.iter().any(|a| made.is_end(&a.segment.value));
            for lease in answers.iter().filter_map(|a| a.lease) {
                let (_, w) = inner.act(|m, w| if end { m.undo(now, lease, w) } else { m.commit(now, &[lease], [], w) });
                woken.join(w);
            }
            if end {
                *held = None;
                drop(held);
                drop(inner);
                woken.wake(cx);
                cx.no_wait();
                return Ok(made.end);
            }
        }
        if claimed.is_some() {
            *held = None;
        } else {
            r.bell.set(waker);
        }
        (claimed, woken, inner.clients.is_some())
    };
    woken.wake(cx);
    match claimed {
        None => goes_on(cx, made, r, until, away),
        Some(c) => {
            cx.no_wait();
            match c {
                Claimed::Answers(answers) if !r.held.is_empty() => {
                    let (mut all, mut later) = (Vec::new(), Later::default());
                    for (Answer { segment: s, lease, .. }, peeked) in answers.iter().zip(&r.held) {
                        let lease = lease.map(|l| l.data().as_ffi());
                        let Segment { index, value, owned, changed, deliveries } = s;
                        let shown = Shown { index: *index, value, owned: *owned, changed: *changed, deliveries: *deliveries, lease };
                        all.push(shown.input(cx, *peeked, &mut later));
                    }
                    let all = cx.array_vec(all);
                    later.done(cx, FILL_HELD, all)
                }
                Claimed::Answers(answers) => match answers.into_iter().next() {
                    Some(Answer { segment, .. }) => handed(cx, segment, r.peeks, r.whole),
                    None => Ok(made.none),
                },
                Claimed::Stored(stored) => Ok(stored_value(cx, stored)),
            }
        }
    }
}
/// It has come to nothing yet: its waiter is parked, unless the time is over. `away`: there are other nodes.
fn goes_on(cx: &mut Cx, made: &'static Made, r: &Request, until: u64, away: bool) -> R {
    if away {
        // Another node may bring what is waited for.
        cx.expect_message();
    }
    if until != u64::MAX && now_ns() >= until || r.id.lock().is_none() {
        cx.no_wait();
        return Ok(made.none);
    }
    Err(cx.park(until))
}
/// `__seg_made(class, key, [index, value, owned, changed, deliveries, trace])`: the Segment of that class. What has taken it is not
/// interrupted before it has it, as it could be on the way into a method of Ruby's.
fn made_segment(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let class = cx.arg_class(a, 0)?;
    let segment = cx.heap.object(class);
    let parts = crate::list(a[2]);
    let names = ["@key", "@index", "@value", "@owned", "@changed", "@deliveries", "@trace"];
    for (name, v) in names.into_iter().zip(std::iter::once(a[1]).chain(parts)) {
        let name = cx.intern(name);
        cx.ivar_set(segment, name, v);
    }
    Ok(segment)
}
/// `__seg_leave(request)`: its waiter waits no more. The index of a put that had found room, else nil.
fn leave(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(r) = a[0].as_data::<Request>() else { return Ok(Value::NIL) };
    let Some(id) = r.id.lock().take() else { return Ok(Value::NIL) };
    let (stored, woken) = {
        let mut inner = made.shared.lock();
        let now = inner.now();
        inner.act(|m, w| m.leave(now, id, w))
    };
    woken.wake(cx);
    Ok(stored.map_or(Value::NIL, |s| stored_value(cx, s)))
}
