//! ObjectSpace::WeakMap and WeakKeyMap: tables that keep nothing alive (values of a WeakKeyMap excepted).
//!
//! Invariant: after each collection no entry holds a cell that died: the heap calls
//! `Payload::weak` between marking and sweeping.

use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    n("ObjectSpace::WeakMap.", "allocate", 0, 0, map_new),
    n("ObjectSpace::WeakKeyMap.", "allocate", 0, 0, key_map_new),
    n("ObjectSpace::WeakMap", "[]", 1, 1, |_, r, a| Ok(map_find(r, a[0]).unwrap_or(Value::NIL))),
    n("ObjectSpace::WeakMap", "[]=", 2, 2, map_set),
    n("ObjectSpace::WeakMap", "key?", 1, 1, |_, r, a| Ok(Value::bool(map_find(r, a[0]).is_some()))),
    n("ObjectSpace::WeakMap", "size", 0, 0, |_, r, _| Ok(Value::fix(r.as_data::<WeakMap>().map_or(0, |m| m.pairs.len() as i64)))),
    intrinsic("__weak_delete", 2, 2, map_delete),
    intrinsic("__weak_pairs", 1, 1, map_pairs),
    intrinsic("__wkm_candidates", 2, 2, candidates),
    intrinsic("__wkm_value", 2, 2, value_at),
    intrinsic("__wkm_store", 5, 5, store),
    intrinsic("__wkm_version", 1, 1, |_, _, a| Ok(Value::fix(a[0].as_data::<WeakKeyMap>().map_or(0, |m| m.version as i64)))),
    intrinsic("__wkm_delete", 2, 2, delete_at),
    intrinsic("__wkm_size", 1, 1, |_, _, a| Ok(Value::fix(a[0].as_data::<WeakKeyMap>().map_or(0, |m| m.entries.len() as i64)))),
    intrinsic("__wkm_clear", 1, 1, |cx, _, a| {
        if let Some(m) = cx.heap.edit_data::<WeakKeyMap>(a[0]) {
            m.entries.clear();
        }
        Ok(a[0])
    }),
];

/// Pairs by identity of the key, in insertion order.
struct WeakMap {
    pairs: Vec<(Value, Value)>,
}
impl Payload for WeakMap {
    fn bytes(&self) -> usize {
        self.pairs.capacity() * 16
    }
    fn weak(&mut self, alive: &dyn Fn(Value) -> bool) {
        self.pairs.retain(|p| alive(p.0) && alive(p.1));
    }
    fn weakly(&self, m: &mut Marker) {
        self.pairs.iter().for_each(|p| m.mark_all(&[p.0, p.1]));
    }
}

/// Hash of the key, key (weak), value (strong).
struct WeakKeyMap {
    entries: Vec<(i64, Value, Value)>,
    /// Counts new keys: who looked before one came looks again.
    version: u32,
}
impl Payload for WeakKeyMap {
    fn trace(&self, m: &mut Marker) {
        for e in &self.entries {
            m.mark(e.2);
        }
    }
    fn bytes(&self) -> usize {
        self.entries.capacity() * 24
    }
    fn weak(&mut self, alive: &dyn Fn(Value) -> bool) {
        self.entries.retain(|e| alive(e.1));
    }
    fn weakly(&self, m: &mut Marker) {
        self.entries.iter().for_each(|e| m.mark(e.1));
    }
}

fn class(cx: &mut Cx, recv: Value) -> Result<Gc<ClassObj>, Exit> {
    crate::module::this(cx, recv)
}
fn map_new(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = class(cx, recv)?;
    let v = cx.data(c, WeakMap { pairs: Vec::new() });
    cx.heap.add_weak(v);
    Ok(v)
}
fn key_map_new(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = class(cx, recv)?;
    let v = cx.data(c, WeakKeyMap { entries: Vec::new(), version: 0 });
    cx.heap.add_weak(v);
    Ok(v)
}
fn map_find(recv: Value, key: Value) -> Option<Value> {
    recv.as_data::<WeakMap>()?.pairs.iter().find(|p| p.0 == key).map(|p| p.1)
}
fn map_set(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    cx.check_frozen(recv)?;
    // Collections of one worker do not look into such tables: neither may be its alone.
    cx.heap.publish(a[0]);
    cx.heap.publish(a[1]);
    if let Some(m) = cx.heap.edit_data::<WeakMap>(recv) {
        match m.pairs.iter_mut().find(|p| p.0 == a[0]) {
            Some(p) => p.1 = a[1],
            None => m.pairs.push((a[0], a[1])),
        }
    }
    Ok(a[1])
}
/// The removed value, or undef.
fn map_delete(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(m) = cx.heap.edit_data::<WeakMap>(a[0]) else { return Ok(Value::UNDEF) };
    match m.pairs.iter().position(|p| p.0 == a[1]) {
        Some(i) => Ok(m.pairs.remove(i).1),
        None => Ok(Value::UNDEF),
    }
}
fn map_pairs(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let pairs = a[0].as_data::<WeakMap>().map_or(Vec::new(), |m| m.pairs.clone());
    let mut v = Vec::with_capacity(pairs.len());
    for (k, x) in pairs {
        v.push(cx.array(&[k, x]));
    }
    Ok(cx.array_vec(v))
}
/// `__wkm_candidates(map, hash)`: keys with that hash.
fn candidates(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let h = cx.arg_i64(a, 1)?;
    let v: Vec<Value> = a[0].as_data::<WeakKeyMap>().map_or(Vec::new(), |m| m.entries.iter().filter(|e| e.0 == h).map(|e| e.1).collect());
    Ok(cx.array_vec(v))
}
/// `__wkm_value(map, key object)`: by identity.
fn value_at(_: &mut Cx, _: Value, a: &[Value]) -> R {
    let m = a[0].as_data::<WeakKeyMap>();
    Ok(m.and_then(|m| m.entries.iter().find(|e| e.1 == a[1]).map(|e| e.2)).unwrap_or(Value::NIL))
}
/// `__wkm_store(map, hash, key object, value, version)`: by identity; false when keys came since that version.
fn store(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let h = cx.arg_i64(a, 1)?;
    cx.check_frozen(a[0])?;
    if a[0].as_data::<WeakKeyMap>().is_some_and(|m| a[4].as_fix() != Some(m.version as i64)) {
        return Ok(Value::FALSE);
    }
    cx.heap.publish(a[2]);
    cx.heap.before_store(a[0], a[3]);
    if let Some(m) = cx.heap.edit_data::<WeakKeyMap>(a[0]) {
        match m.entries.iter_mut().find(|e| e.1 == a[2]) {
            Some(e) => e.2 = a[3],
            None => {
                m.entries.push((h, a[2], a[3]));
                m.version = m.version.wrapping_add(1);
            }
        }
    }
    Ok(Value::TRUE)
}
/// `__wkm_delete(map, key object)`
fn delete_at(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(m) = cx.heap.edit_data::<WeakKeyMap>(a[0]) {
        m.entries.retain(|e| e.1 != a[1]);
    }
    Ok(Value::NIL)
}
