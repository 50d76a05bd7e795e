//! Watches of other nodes' keys.
//!
//! **Invariant.** The owner keeps a watch as long as its object lives here, and the session. It tells of events when it is asked, so what
//! nobody reads is missed there.

use super::calls::{OwnerData, begin};
use super::{Call as Pending, Owner};
use crate::leaf;
use crate::wait::fail;
use kumi_segments::{Call, Watch};
use kumi_vm::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

pub static TABLE: &[NativeDef] = &[
    leaf("__seg_watch_away", 1, watch),
    leaf("__seg_watch_known", 1, known),
    leaf("__seg_watch_begin", 4, begin_watch),
    leaf("__seg_watch_events", 2, events),
    leaf("__seg_watch_end", 1, end),
];

/// A watch of another owner's key.
struct Away {
    owner: Owner,
    number: u64,
    over: AtomicBool,
}
impl Away {
    fn end(&self) {
        if !self.over.swap(true, Relaxed) {
            self.owner.call(Call::Watch(Watch::End(self.number)), &Arc::<Pending>::default(), None, false);
        }
    }
}
impl Payload for Away {
    fn shares(&self) -> bool {
        true
    }
}
impl Drop for Away {
    fn drop(&mut self) {
        self.end();
    }
}

/// Watches are told apart by their numbers.
#[derive(Default)]
struct Numbers(AtomicU64);

/// `__seg_watch_away(peer)`: a watch that has not begun.
fn watch(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(OwnerData(owner)) = a[0].as_data::<OwnerData>() else { return Err(cx.type_error("no node")) };
    let owner = owner.clone();
    let number = cx.shared_state::<Numbers>().0.fetch_add(1, Relaxed);
    Ok(cx.data(cx.k.object, Away { owner, number, over: AtomicBool::new(true) }))
}
/// `__seg_watch_known(watch)`: is it known whether its owner has watches? It says so as soon as it is connected.
fn known(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match a[0].as_data::<Away>() {
        Some(w) => Ok(Value::bool(w.owner.knows_watches().is_some())),
        None => Err(cx.type_error("no watch")),
    }
}
/// `__seg_watch_begin(peer, watch, key, most)`: a call.
fn begin_watch(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(w) = a[1].as_data::<Away>() else { return Err(cx.type_error("no watch")) };
    if w.owner.knows_watches() == Some(false) {
        let msg = format!("{} runs an older version of kumi, which has no watches for other nodes: bring it up to date", w.owner);
        return Err(fail(cx, "Kumihimo::Segments::Error", &msg));
    }
    let key = super::calls::name_of(cx, a[2])?;
    let most = u64::try_from(cx.arg_i64(a, 3)?).unwrap_or(1);
    let call = begin(cx, a[0], Call::Watch(Watch::Begin { watch: w.number, key, most }))?;
    w.over.store(false, Relaxed);
    Ok(call)
}
/// `__seg_watch_events(peer, watch)`: a call that comes to events, or to none: then the watch is over.
fn events(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(w) = a[1].as_data::<Away>() else { return Err(cx.type_error("no watch")) };
    begin(cx, a[0], Call::Watch(Watch::Next(w.number)))
}
/// `__seg_watch_end(watch)`
fn end(_: &mut Cx, _: Value, a: &[Value]) -> R {
    a[0].as_data::<Away>().inspect(|w| w.end());
    Ok(Value::NIL)
}
