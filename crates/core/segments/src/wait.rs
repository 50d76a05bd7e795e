//! Peeks and takes, at once and waiting.
//!
//! **Invariant.** A request that waits is an object of Ruby's. Whoever is done with it, or drops it, leaves the line; what was
//! taken for it and not handed over comes back then.

use crate::keys::with_key;
use crate::leaf;
use crate::put::new_of;
use crate::state::{Bell, Cell, Local, Made, Shared, made};
use kumi_segments::{Answer, Asked, Claimed, Hold, Input, Kind, RequestId, Segment, Stale, Stored, Waiter};
use kumi_vm::*;
use parking_lot::Mutex;
use std::sync::Arc;

pub static TABLE: &[NativeDef] = &[
    leaf("__seg_get", 3, get),
    leaf("__seg_segment", 3, segment),
    leaf("__seg_ask", 4, ask),
    leaf("__seg_room", 5, room),
    leaf("__seg_wait", 2, wait),
    leaf("__seg_leave", 1, leave),
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
fn after(cx: &mut Cx, v: Value) -> Result<Option<u64>, Exit> {
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

/// What is handed to Ruby.
fn handed(cx: &mut Cx, s: Segment<Cell>, peeked: bool, whole: bool) -> R {
    if peeked && s.owned {
        return Err(not_shared(cx));
    }
    if !whole {
        return Ok(s.value.0);
    }
    let parts = [cx.uint(s.index), s.value.0, Value::bool(s.owned), Value::bool(s.changed), Value::fix(i64::from(s.deliveries))];
    Ok(cx.array(&parts))
}
/// `__seg_get(key, take, after)`: a value that is there, or the object that says that none is.
fn get(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    look(cx, a, false)
}
/// `__seg_segment(key, take, after)`: the same, as [index, value, owned, changed, deliveries].
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
            Some(Answer { segment, .. }) => handed(cx, segment, kind == Kind::Peek, whole),
            None => Ok(made.none),
        },
        Ok(_) => Ok(made.none),
        Err(s) => Err(stale(cx, after.unwrap_or(0), s)),
    }
}
/// `__seg_ask(key, take, after, whole)`: a request that waits, or is answered already. `__seg_wait` says what came of it.
fn ask(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let (kind, after) = (kind(a[1]), after(cx, a[2])?);
    let bell: Arc<Bell> = Arc::default();
    let waiter = Waiter::Local(Local::Task(bell.clone()));
    // The object is made first: no cell is made once something is taken.
    let v = request(cx, made, bell, a[3].truthy(), kind == Kind::Peek);
    let asked = with_key(cx, made, a[0], Value::NIL, |inner, key| {
        let now = inner.now();
        let input = Input { key, kind, after };
        let (asked, woken) = inner.act(|m, w| m.stand(now, &[input], Hold::Never, waiter, w));
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
fn request(cx: &mut Cx, made: &Made, bell: Arc<Bell>, whole: bool, peeks: bool) -> Value {
    let r = Request { shared: made.shared.clone(), bell, id: Mutex::new(None), whole, peeks };
    cx.data(cx.k.object, r)
}
/// `__seg_room(key, value, bits, delay, ttl)`: a put that waits for room. bits nil: just room.
fn room(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let bell: Arc<Bell> = Arc::default();
    let waiter = Waiter::Local(Local::Task(bell.clone()));
    let v = request(cx, made, bell, false, false);
    let new = a[2].as_fix().map(|bits| new_of(a[1], bits, a[3], a[4]));
    let woken = with_key(cx, made, a[0], a[1], |inner, key| {
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
/// `__seg_wait(request, deadline)`: what the request comes to: a value, a segment, an index, true (it enters later, or there is
/// room); or the object that says that nothing came in time. `deadline`: as the library's (nil: none).
fn wait(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(r) = a[0].as_data::<Request>() else { return Ok(made.none) };
    let until = if a[1].is_nil() { u64::MAX } else { cx.arg_i64(a, 1)?.max(0) as u64 };
    let waker = cx.waker();
    let (claimed, woken) = {
        let mut inner = made.shared.lock();
        let now = inner.now();
        let ((), woken) = inner.act(|m, w| m.tick(now, w));
        let mut held = r.id.lock();
        let claimed = held.and_then(|id| inner.act(|m, _| m.claim(id)).0);
        if claimed.is_some() {
            *held = None;
        } else {
            r.bell.set(waker);
        }
        (claimed, woken)
    };
    woken.wake(cx);
    match claimed {
        None => {
            if until != u64::MAX && now_ns() >= until || r.id.lock().is_none() {
                cx.no_wait();
                return Ok(made.none);
            }
            Err(cx.park(until))
        }
        Some(c) => {
            cx.no_wait();
            match c {
                Claimed::Answers(answers) => match answers.into_iter().next() {
                    Some(Answer { segment, .. }) => handed(cx, segment, r.peeks, r.whole),
                    None => Ok(made.none),
                },
                Claimed::Stored(Some(Stored::At(index))) => Ok(cx.uint(index)),
                Claimed::Stored(_) => Ok(Value::TRUE),
            }
        }
    }
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
    Ok(match stored {
        Some(Stored::At(i)) => cx.uint(i),
        Some(Stored::Later) => Value::TRUE,
        None => Value::NIL,
    })
}
