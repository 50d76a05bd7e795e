//! Stores of segments in files of this machine.
//!
//! **Invariant.** What a watch rings is set before its events are looked at a second time, so none is slept through.

use super::Owner;
use super::calls::proxy;
use crate::leaf;
use crate::state::Bells;
use crate::wait::fail;
use crate::watch::next_of_store;
use kumi_store::{Store, StoreError, Watch};
use kumi_vm::*;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

pub static TABLE: &[NativeDef] = &[
    leaf("__seg_store_open", 1, open),
    leaf("__seg_store_proxy", 1, proxy_of),
    leaf("__seg_store_counts", 1, counts),
    leaf("__seg_store_watch", 3, watch),
    leaf("__seg_store_watch_next", 2, next),
    leaf("__seg_store_unwatch", 1, unwatch),
];

/// The payload of an open store.
struct StoreData(Arc<Store>);
impl Payload for StoreData {
    fn shares(&self) -> bool {
        true
    }
    fn constant(&self) -> bool {
        true
    }
}

/// The payload of a watch.
struct WatchData {
    watch: Watch,
    bells: Arc<Bells>,
}
impl Payload for WatchData {
    fn shares(&self) -> bool {
        true
    }
}

/// `__seg_store_open(path)`: reads the file aside.
fn open(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    struct Opened(Result<Store, StoreError>);
    match cx.detached::<Opened>() {
        Some(Opened(Ok(s))) => Ok(cx.data(cx.k.object, StoreData(Arc::new(s)))),
        Some(Opened(Err(e))) => Err(fail(cx, "Kumihimo::Segments::StoreError", &e.to_string())),
        None => {
            let path = std::ffi::OsStr::from_bytes(cx.arg_str(a, 0)?.bytes()).to_owned();
            Err(cx.detach(VERY_LONG, a[0], move |_| Opened(Store::open(path.as_ref()))))
        }
    }
}
/// `__seg_store_proxy(store)`: what calls go by.
fn proxy_of(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match a[0].as_data::<StoreData>() {
        Some(StoreData(s)) => Ok(proxy(cx, Owner::Engine(s.clone()))),
        None => Err(cx.type_error("no store")),
    }
}
/// `__seg_store_counts(store)`: [groups, calls, syncs, bytes]
fn counts(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(StoreData(s)) = a[0].as_data::<StoreData>() else { return Err(cx.type_error("no store")) };
    let c = s.stats();
    let parts = [cx.uint(c.groups), cx.uint(c.calls), cx.uint(c.syncs), cx.uint(c.bytes)];
    Ok(cx.array(&parts))
}
/// `__seg_store_watch(store, key, most)`: keeps so many events at most.
fn watch(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(StoreData(s)) = a[0].as_data::<StoreData>() else { return Err(cx.type_error("no store")) };
    let key = cx.arg_str(a, 1)?.bytes().to_vec();
    let most = usize::try_from(cx.arg_i64(a, 2)?).unwrap_or(1);
    let bells: Arc<Bells> = Arc::default();
    let rung = bells.clone();
    let watch = s.watch(key, most, move || rung.take().iter().for_each(Waker::wake));
    Ok(cx.data(cx.k.object, WatchData { watch, bells }))
}
/// `__seg_store_watch_next(watch, deadline)`: as `__seg_watch_next`.
fn next(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(w) = a[0].as_data::<WatchData>() else { return Ok(Value::NIL) };
    next_of_store(cx, &w.bells, a[1], || match w.watch.next() {
        None if w.watch.is_over() => Err(()),
        found => Ok(found),
    })
}
/// `__seg_store_unwatch(watch)`
fn unwatch(_: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(w) = a[0].as_data::<WatchData>() {
        w.watch.close();
    }
    Ok(Value::NIL)
}
