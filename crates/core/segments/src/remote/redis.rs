//! Stores on Redis or Valkey (crate kumi-redis), from Ruby.

use super::Owner;
use super::calls::{name_of, proxy};
use crate::leaf;
use crate::state::Bells;
use crate::wait::fail;
use crate::watch::next_of_store;
use kumi_redis::names::Namespace;
use kumi_redis::{Certificates, Settings, Store};
use kumi_vm::*;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub static TABLE: &[NativeDef] = &[
    leaf("__seg_redis", 9, open),
    leaf("__seg_redis_ready", 2, ready),
    leaf("__seg_redis_rest", 1, rest),
    leaf("__seg_redis_watch", 3, watch),
    leaf("__seg_redis_watch_begun", 1, has_begun),
    leaf("__seg_redis_watch_next", 2, next_event),
    leaf("__seg_redis_unwatch", 1, unwatch),
];

/// The payload of a store that may not be there yet.
struct StoreData(Arc<Store>, Option<Arc<dyn Service>>);
impl Payload for StoreData {
    fn shares(&self) -> bool {
        true
    }
    fn constant(&self) -> bool {
        true
    }
}

fn text(v: Value) -> Option<String> {
    v.as_str().map(|s| String::from_utf8_lossy(s.bytes()).into_owned())
}
fn duration(v: Value) -> Option<Duration> {
    v.as_fix().and_then(|n| u64::try_from(n).ok()).map(Duration::from_nanos)
}
/// `__seg_redis(address, user, password, namespace, authority, certificate, key, lease, patience)`: certificates are paths, times
/// nanoseconds; nil is what was not given. Gives the proxy, and what to ask whether it is there.
fn open(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let address = text(a[0]).unwrap_or_default();
    let path = |v: Value| text(v).map(PathBuf::from);
    let namespace = match text(a[3]).map(|n| Namespace::new(&n)) {
        Some(None) => {
            return Err(cx.arg_error("a namespace has letters, digits, -, _ and ., from 1 to 64 of them"));
        }
        found => found.flatten(),
    };
    let login = match (text(a[1]), text(a[2])) {
        (None, None) => None,
        (user, password) => Some((user.unwrap_or_else(|| "default".into()), password.unwrap_or_default())),
    };
    let settings = Settings {
        certificates: Certificates { authority: path(a[4]), own: path(a[5]).zip(path(a[6])) },
        login,
        namespace,
        lease: duration(a[7]),
        patience: duration(a[8]),
    };
    match Store::open(&address, settings) {
        Ok(store) => {
            let store = Arc::new(store);
            // Without it the store's thread does all by itself.
            let service = super::service::of_store(&store).filter(|s| cx.add_service(s.clone()).is_ok());
            let there = cx.data(cx.k.object, StoreData(store.clone(), service));
            let peer = proxy(cx, Owner::Engine(store));
            Ok(cx.array(&[peer, there]))
        }
        Err(kumi_redis::OpenError::Address(e)) => Err(cx.arg_error(&e.to_string())),
        Err(e) => Err(fail(cx, "Kumihimo::Segments::LinkError", &e.to_string())),
    }
}
/// `__seg_redis_ready(there, last)`: false: not yet; true: it serves; a String: it does, and what its settings may lose. With `last`
/// it is now or never.
fn ready(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(StoreData(store, _)) = a[0].as_data::<StoreData>() else { return Ok(Value::NIL) };
    match store.state() {
        Some(Ok(None)) => Ok(Value::TRUE),
        Some(Ok(Some(worries))) => Ok(cx.str(&worries)),
        Some(Err(broken)) if broken.lasts() || a[1].truthy() => {
            let msg = format!("{}: {}", kumi_segments::Engine::name(&**store), broken.text());
            Err(fail(cx, "Kumihimo::Segments::NotConnected", &msg))
        }
        None if a[1].truthy() => {
            let msg = format!("{} does not answer", kumi_segments::Engine::name(&**store));
            Err(fail(cx, "Kumihimo::Segments::NotConnected", &msg))
        }
        _ => Ok(Value::FALSE),
    }
}
/// `__seg_redis_rest(there)`: workers serve it no more.
fn rest(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(StoreData(_, Some(service))) = a[0].as_data::<StoreData>() {
        cx.remove_service(service);
    }
    Ok(Value::NIL)
}

/// The payload of a watch.
struct WatchData {
    store: Arc<Store>,
    bells: Arc<Bells>,
    number: Mutex<Option<u64>>,
}
impl Payload for WatchData {
    fn shares(&self) -> bool {
        true
    }
}
impl Drop for WatchData {
    fn drop(&mut self) {
        if let Some(n) = self.number.get_mut().take() {
            self.store.unwatch(n);
        }
    }
}
/// `__seg_redis_watch(there, key, most)`
fn watch(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(StoreData(store, _)) = a[0].as_data::<StoreData>() else { return Ok(Value::NIL) };
    let store = store.clone();
    let key = name_of(cx, a[1])?;
    let most = usize::try_from(cx.arg_i64(a, 2)?).unwrap_or(1);
    let bells: Arc<Bells> = Arc::default();
    let v = cx.data(cx.k.object, WatchData { store: store.clone(), bells: bells.clone(), number: Mutex::default() });
    let ring = move || bells.take().iter().for_each(Waker::wake);
    if let Some(w) = v.as_data::<WatchData>() {
        *w.number.lock() = Some(store.watch(&key, most, Arc::new(ring)));
    }
    Ok(v)
}
/// `__seg_redis_watch_begun(watch)`: waits until what happens is told.
fn has_begun(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(w) = a[0].as_data::<WatchData>() else { return Ok(Value::NIL) };
    let number = *w.number.lock();
    cx.from_outside();
    w.bells.add(cx.waker());
    if number.is_some_and(|n| !w.store.has_begun(n)) {
        return Err(cx.park(u64::MAX));
    }
    cx.no_wait();
    Ok(Value::NIL)
}
/// `__seg_redis_watch_next(watch, deadline)`: [what, index, value, missed]; the object that stands for nothing: none came in time; nil:
/// the watch is over.
fn next_event(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(w) = a[0].as_data::<WatchData>() else { return Ok(Value::NIL) };
    let number = *w.number.lock();
    next_of_store(cx, &w.bells, a[1], || number.map_or(Err(()), |n| w.store.next_event(n)))
}
/// `__seg_redis_unwatch(watch)`
fn unwatch(_: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(w) = a[0].as_data::<WatchData>() {
        let number = w.number.lock().take();
        if let Some(n) = number {
            w.store.unwatch(n);
        }
        w.bells.take().iter().for_each(Waker::wake);
    }
    Ok(Value::NIL)
}
