//! Watching a key.
//!
//! **Invariant.** Several tasks may wait for the next event of one watch. Each adds its bell before it looks; what comes, and the watch's end,
//! wakes all of them.

use crate::cell::Cell;
use crate::encode::{FILL, Later};
use crate::keys::with_key;
use crate::leaf;
use crate::state::{Bells, Local, Shared, made};
use kumi_segments::{Event, Waiter, WatchId, What};
use kumi_vm::*;
use kumi_wire::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;

pub static TABLE: &[NativeDef] = &[leaf("__seg_watch", 2, watch), leaf("__seg_watch_next", 2, next), leaf("__seg_unwatch", 1, unwatch)];

struct Watch {
    shared: Arc<Shared>,
    bells: Arc<Bells>,
    id: Mutex<Option<WatchId>>,
}
impl Payload for Watch {
    fn shares(&self) -> bool {
        true
    }
}
impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(id) = self.id.get_mut().take() {
            drop(self.shared.lock().act(|m, _| m.unwatch(id)).1);
        }
    }
}

/// `__seg_watch(key, most)`: keeps so many events at most.
fn watch(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let most = usize::try_from(cx.arg_i64(a, 1)?).unwrap_or(1);
    let v = cx.data(cx.k.object, Watch { shared: made.shared.clone(), bells: Arc::default(), id: Mutex::new(None) });
    let id = with_key(cx, made, a[0], Value::NIL, |inner, key| inner.act(|m, _| m.watch(key, most)).0)?;
    if let Some(w) = v.as_data::<Watch>() {
        *w.id.lock() = id;
    }
    Ok(v)
}
/// `__seg_watch_next(watch, deadline)`: [what, index, value, missed]; the object that stands for nothing: none came in time; nil: the
/// watch is over.
fn next(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(w) = a[0].as_data::<Watch>() else { return Ok(Value::NIL) };
    let until = if a[1].is_nil() { u64::MAX } else { cx.arg_i64(a, 1)?.max(0) as u64 };
    let waker = cx.waker();
    let found = {
        let mut inner = made.shared.lock();
        let Some(id) = *w.id.lock() else {
            drop(inner);
            cx.no_wait();
            return Ok(Value::NIL);
        };
        let waiter = Waiter::Local(Local::Watch(w.bells.clone()));
        let (event, _) = inner.act(|m, _| m.next_event(id, Some(waiter)));
        if event.is_none() {
            w.bells.add(waker);
        }
        event
    };
    let Some(e) = found else {
        if until != u64::MAX && now_ns() >= until {
            cx.no_wait();
            return Ok(made.none);
        }
        return Err(cx.park(until));
    };
    cx.no_wait();
    let mut later = Later::default();
    let parts = event(cx, &e, &mut later)?;
    later.done(cx, FILL, parts)
}
/// [what, index, value, missed]
pub fn event(cx: &mut Cx, e: &Event<Cell>, later: &mut Later) -> R {
    let what = cx.sym(match e.what {
        What::Put => "put",
        What::Update => "update",
        What::Taken => "take",
        What::Back => "back",
        What::Ended => "end",
    });
    let value = match &e.value {
        Some(c) => c.hand_over(cx, false, later)?,
        None => Value::NIL,
    };
    let parts = [what, cx.uint(e.index), value, cx.uint(e.missed)];
    Ok(cx.array(&parts))
}
/// The same of a store's watch, when there is one: `look` says what there is now, or that the watch is over. What rings is set before
/// it looks, so that no event is slept through.
pub fn next_of_store(cx: &mut Cx, bells: &Bells, deadline: Value, look: impl FnOnce() -> Result<Option<Event<Bytes>>, ()>) -> R {
    let none = made(cx)?.none;
    let until = match deadline.as_fix() {
        Some(n) => u64::try_from(n).unwrap_or(0),
        None => u64::MAX,
    };
    cx.from_outside();
    let waker = cx.waker();
    bells.add(waker);
    let found = match look() {
        Ok(None) if until == u64::MAX || now_ns() < until => return Err(cx.park(until)),
        found => found,
    };
    cx.no_wait();
    match found {
        Ok(Some(Event { what, index, value, missed })) => {
            let mut later = Later::default();
            let value = value.map(|bytes| Cell::encoded(bytes, None));
            let parts = event(cx, &Event { what, index, value, missed }, &mut later)?;
            later.done(cx, FILL, parts)
        }
        Ok(None) => Ok(none),
        Err(()) => Ok(Value::NIL),
    }
}
/// `__seg_unwatch(watch)`
fn unwatch(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    if let Some(w) = a[0].as_data::<Watch>() {
        let id = w.id.lock().take();
        if let Some(id) = id {
            drop(made.shared.lock().act(|m, _| m.unwatch(id)).1);
        }
        for waiting in w.bells.take() {
            cx.wake(waiting.ticket());
        }
    }
    Ok(Value::NIL)
}
