//! Natives in front of methods of the library: what most calls are, without a frame. Anything else is the method's affair.

use crate::cell::Cell;
use crate::keys::named;
use crate::state::made;
use crate::wait::not_shared;
use kumi_segments::{KeyId, Segment};
use kumi_vm::*;
use std::sync::atomic::Ordering::Relaxed;

/// Class, method, number of arguments, native.
static TABLE: &[(&str, &str, u8, NativeFn)] = &[
    ("Kumihimo::Segments::Manager", "put", 2, |cx, _, a| put(cx, a[0], a[1])),
    ("Kumihimo::Segments::Manager", "take", 1, |cx, _, a| take(cx, a[0])),
    ("Kumihimo::Segments::Manager", "peek", 1, |cx, _, a| peek(cx, a[0])),
    ("Kumihimo::CodeSegment.", "start", 0, crate::run::start_of_class),
    ("Kumihimo::Segments::Key", "put", 1, |cx, key, a| put(cx, key, a[0])),
    ("Kumihimo::Segments::Key", "take", 0, |cx, key, _| take(cx, key)),
    ("Kumihimo::Segments::Key", "peek", 0, |cx, key, _| peek(cx, key)),
];

/// Puts the natives in front of the library's methods, which are defined by now.
pub fn front(cx: &mut Cx) {
    for (class, name, args, f) in TABLE {
        let (path, single) = class.strip_suffix('.').map_or((*class, false), |p| (p, true));
        let Some(c) = cx.const_path(path).and_then(|v| v.as_class()) else { continue };
        let c = if single { cx.singleton_class(c.val()).unwrap_or(c) } else { c };
        let name = cx.intern(name);
        let Some(i) = c.data.methods.get(&name).copied() else { continue };
        let m = method::Method { native: Some(*f), guard: Guard::None, min: *args, max: *args as i8, ..cx.method(i).settled() };
        cx.add_method(c, name, m);
    }
}

/// Does something under a key at once, if the manager still knows it.
#[inline]
fn at_once<T>(cx: &mut Cx, key: Value, value: Value, f: impl FnOnce(&mut crate::state::Keeper, KeyId) -> Option<T>) -> Result<T, Exit> {
    if cx.native_keywords {
        return Err(Exit::Miss);
    }
    let made = made(cx)?;
    let n = named(cx, made, key)?;
    if n.exported || made.traces.load(Relaxed) {
        return Err(Exit::Miss);
    }
    cx.heap.before_store(n.cell, value);
    made.shared.lock().node.with(|_| {}, |m, _| f(m, n.id)).ok_or(Exit::Miss)
}
fn put(cx: &mut Cx, key: Value, value: Value) -> R {
    if !cx.shareable(value) && !matches!(cx.make_shareable(value)?, share::Shared::Done) {
        return Err(Exit::Miss);
    }
    let index = at_once(cx, key, value, |m, id| m.quick_put(id, Cell::of(value), false))?;
    Ok(cx.uint(index))
}
fn take(cx: &mut Cx, key: Value) -> R {
    let Segment { value, owned, .. } = at_once(cx, key, Value::NIL, |m, id| m.quick_take(id))?;
    value.hand_over_last(cx, owned)
}
fn peek(cx: &mut Cx, key: Value) -> R {
    let (value, owned) = at_once(cx, key, Value::NIL, |m, id| Some((m.quick_peek(id)?.value.value()?, m.quick_peek(id)?.owned)))?;
    if owned { Err(not_shared(cx)) } else { Ok(value) }
}
