//! Keys as Ruby has them.
//!
//! **Invariant.** A key's cell marks what stands under the key. As long as anything does, it is anchored: there is one cell for a key.

use crate::leaf;
use crate::state::{Made, Shared, made};
use kumi_segments::KeyId;
use kumi_vm::*;
use slotmap::{Key as _, KeyData};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

pub static TABLE: &[NativeDef] = &[leaf("__seg_key", 1, key), leaf("__seg_key_name", 1, key_name)];

/// The payload of a key.
pub struct Key {
    shared: Arc<Shared>,
    name: Arc<[u8]>,
    /// Its [`KeyId`]; another one when the manager had forgotten it.
    id: AtomicU64,
    /// Others ask for its segments: they are encoded when they are put.
    exported: AtomicBool,
}

impl Payload for Key {
    fn trace(&self, m: &mut Marker) {
        let id = KeyId::from(KeyData::from_ffi(self.id.load(Acquire)));
        self.shared.lock().node.manager().each_value_under(id, |v| v.mark(|v| m.mark(v)));
    }
    fn bytes(&self) -> usize {
        64 + self.name.len()
    }
    fn shares(&self) -> bool {
        true
    }
    fn constant(&self) -> bool {
        true
    }
}

/// A key, and the cell that marks what stands under it.
#[derive(Clone, Copy)]
pub struct Named {
    pub id: KeyId,
    pub cell: Value,
    pub exported: bool,
}

/// What marks the values under a key.
pub struct Anchor {
    pub cell: Value,
}

impl Anchor {
    /// From now on segments are encoded when they are put. For any thread that has the manager's lock: an anchored cell lives.
    pub fn export(&self) {
        if let Some(k) = self.cell.as_data::<Key>() {
            k.exported.store(true, Relaxed);
        }
    }
    fn named(&self, id: KeyId) -> Named {
        let exported = self.cell.as_data::<Key>().is_some_and(|k| k.exported.load(Relaxed));
        Named { id, cell: self.cell, exported }
    }
}

/// The key that an argument names: a key, a String or a Symbol. One that the manager has forgotten since is told by
/// [`with_key`] only.
#[inline]
pub fn named(cx: &mut Cx, made: &'static Made, v: Value) -> Result<Named, Exit> {
    if let Some(k) = v.as_data::<Key>() {
        let id = KeyId::from(KeyData::from_ffi(k.id.load(Acquire)));
        return Ok(Named { id, cell: v, exported: k.exported.load(Relaxed) });
    }
    let found = match (v.as_str(), v.as_sym()) {
        (Some(s), _) => find(made, s.bytes()),
        (_, Some(y)) => find(made, cx.syms.name(y)),
        _ => None,
    };
    match found {
        Some(n) => Ok(n),
        None => new_key(cx, made, v),
    }
}
/// Does something under the key that `v` names, with the manager locked; `value` may be stored there.
#[inline]
pub fn with_key<T>(
    cx: &mut Cx,
    made: &'static Made,
    v: Value,
    value: Value,
    f: impl FnOnce(&mut crate::state::Inner, KeyId) -> T,
) -> Result<T, Exit> {
    let mut n = named(cx, made, v)?;
    loop {
        cx.heap.before_store(n.cell, value);
        {
            let mut inner = made.shared.lock();
            if inner.node.manager().knows(n.id) {
                return Ok(f(&mut inner, n.id));
            }
        }
        n = known(cx, made, n)?;
    }
}
/// The key again, which the manager may have forgotten.
#[cold]
pub fn known(cx: &mut Cx, made: &'static Made, n: Named) -> Result<Named, Exit> {
    match n.cell.as_data::<Key>() {
        Some(k) => anchor(cx, made, &k.name, Some(n.cell)),
        None => Ok(n),
    }
}
#[inline]
fn find(made: &Made, name: &[u8]) -> Option<Named> {
    let inner = made.shared.lock();
    let id = inner.node.manager().find_key(name)?;
    Some(inner.anchors.get(id)?.named(id))
}
#[cold]
fn new_key(cx: &mut Cx, made: &'static Made, v: Value) -> Result<Named, Exit> {
    let name: Box<[u8]> = match (v.as_str(), v.as_sym()) {
        (Some(s), _) => s.bytes().into(),
        (_, Some(y)) => cx.syms.name(y).into(),
        _ => {
            let found = cx.describe_type(v);
            return Err(cx.type_error(&format!("{found} is no key: give a String, a Symbol or a key of Segments.local")));
        }
    };
    anchor(cx, made, &name, None)
}
/// Makes a key's cell the one that marks what stands there, unless another is.
fn anchor(cx: &mut Cx, made: &'static Made, name: &[u8], cell: Option<Value>) -> Result<Named, Exit> {
    let cell = cell.unwrap_or_else(|| {
        // One copy of the name for all who have it.
        let shared = made.shared.clone();
        let name = {
            let mut inner = shared.lock();
            let id = inner.act(|m, _| m.key(name)).0;
            inner.node.manager().name(id).cloned().unwrap_or_else(|| name.into())
        };
        let key = Key { shared, name, id: AtomicU64::new(0), exported: AtomicBool::new(false) };
        let v = cx.data(made.key_class, key);
        if let Some(h) = v.header() {
            h.set(kumi_vm::flag::FROZEN);
        }
        v
    });
    cx.heap.before_store(made.root, cell);
    let mut inner = made.shared.lock();
    let (id, _) = inner.act(|m, _| m.key(name));
    if let Some(other) = inner.anchors.get(id) {
        return Ok(other.named(id));
    }
    if let Some(k) = cell.as_data::<Key>() {
        k.id.store(id.data().as_ffi(), Release);
    }
    if inner.anchors.len() > 1024 + inner.node.manager().known_keys() * 2 {
        let crate::state::Inner { anchors, node, .. } = &mut *inner;
        anchors.retain(|k, _| node.manager().knows(k));
    }
    let anchor = Anchor { cell };
    if inner.exports.contains(name) {
        anchor.export();
    }
    let named = anchor.named(id);
    inner.anchors.insert(id, anchor);
    Ok(named)
}

/// `__seg_key(name)`
fn key(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    Ok(named(cx, made, a[0])?.cell)
}
/// `__seg_key_name(key)`
fn key_name(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(k) = a[0].as_data::<Key>() else { return Ok(Value::NIL) };
    Ok(name_value(cx, &k.name))
}
/// A key's name as a String.
pub fn name_value(cx: &mut Cx, name: &[u8]) -> Value {
    match std::str::from_utf8(name) {
        Ok(s) => cx.str(s),
        Err(_) => cx.str_enc(name, EncIndex::BINARY),
    }
}
