//! References to objects of other nodes, as Ruby has them.
//!
//! **Invariant.** An import has one proxy that is handed out. Each proxy that was made is counted until its cell is swept; with the last
//! one its owner hears that it is not held any more. What an object leaves behind that has moved is a reference as well, around a proxy.

use crate::host::Host;
use crate::host::arrivals::Arrivals;
use crate::leaf;
use crate::state::{host_seen, made};
use kumi_remote::{Arrived, Import, Item, Ref};
use kumi_vm::*;
use std::sync::Arc;

/// The payload of a reference.
pub struct Proxy {
    pub host: Arc<Host>,
    pub import: Import,
    r: Ref,
    node: Arc<str>,
}

impl Proxy {
    /// What its object is known by, wherever it goes.
    pub fn seal(&self) -> u64 {
        self.r.seal
    }
}

impl Payload for Proxy {
    fn shares(&self) -> bool {
        true
    }
    fn constant(&self) -> bool {
        true
    }
    fn leaf(&self) -> bool {
        true
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let import = self.import;
        self.host.act(|inner, now, _| inner.proxy_less(now, import));
    }
}

/// Stands for an object that is of no use: why.
pub struct Dead {
    pub why: kumi_remote::Error,
}

impl Payload for Dead {
    fn shares(&self) -> bool {
        true
    }
}

/// The values that references in a message stand for.
pub fn values(cx: &mut Cx, host: &Arc<Host>, arrivals: Arrivals) -> Result<Vec<Value>, Exit> {
    if arrivals.all().is_empty() {
        return Ok(Vec::new());
    }
    let class = made(cx)?.reference;
    let mut values = Vec::with_capacity(arrivals.all().len());
    for a in arrivals.all() {
        values.push(match *a {
            Arrived::Home(bits) => Value::from_bits(bits),
            Arrived::Dead(why) => cx.data(class, Dead { why }),
            Arrived::Import { import, .. } => match host.look(|inner| inner.home_of(import)) {
                Some(bits) => {
                    host.act(|inner, now, _| inner.proxy_less(now, import));
                    Value::from_bits(bits)
                }
                None => proxy(cx, host, class, import),
            },
        });
    }
    arrivals.are_made();
    Ok(values)
}

/// The proxy of an import that came just now, and was counted for it.
pub fn proxy(cx: &mut Cx, host: &Arc<Host>, class: Gc<ClassObj>, import: Import) -> Value {
    let known = host.act(|inner, now, _| {
        // What this node's own object has become since it left is the one reference to it here.
        let left = inner.moves.left(&inner.seen, import);
        let found = left.or_else(|| inner.proxies.get(&import).and_then(|h| h.proxy));
        if found.is_some() {
            inner.proxy_less(now, import);
        }
        found
    });
    if let Some(v) = known {
        return v;
    }
    let found = host.look(|inner| {
        let r = inner.seen.target(import)?;
        Ok((r, inner.name_of(r.life.node).ok_or(kumi_remote::Error::NodeLost)?.clone()))
    });
    let (r, node) = match found {
        Ok(found) => found,
        Err(why) => {
            host.act(|inner, now, _| inner.proxy_less(now, import));
            return cx.data(class, Dead { why });
        }
    };
    let v = cx.data(class, Proxy { host: host.clone(), import, r, node });
    // Nothing of it ever changes: Ractors and shared segments may have it.
    v.header().inspect(|h| h.set(flag::FROZEN));
    cx.heap.publish(v);
    crate::state::watch(cx);
    // Another thread may have been quicker: then its one is handed out, and this one dies.
    host.look(|inner| inner.hand_out(import, v))
}

/// What is handed over for a value that stays.
pub fn item(cx: &mut Cx, v: Value) -> Result<Item, Exit> {
    let named = reference(cx, v);
    if let Some(p) = named.as_data::<Proxy>() {
        return Ok(match p.host.look(|inner| inner.home_of(p.import)) {
            Some(bits) => own(cx, Value::from_bits(bits)),
            None => Item::Import(p.import),
        });
    }
    if let Some(d) = named.as_data::<Dead>() {
        let why = d.why;
        return Err(dead(cx, why));
    }
    Ok(own(cx, v))
}

fn own(cx: &mut Cx, v: Value) -> Item {
    cx.heap.publish(v);
    match crate::moving::brought(cx, v) {
        Some(seal) => Item::Came { handle: v.bits(), seal },
        None => Item::Own(v.bits()),
    }
}

/// The cell of a reference that is what an object has left behind.
pub fn reference(cx: &mut Cx, v: Value) -> Value {
    let Ok(made) = made(cx) else { return v };
    if v.is_kind(Kind::Object) && v.header().is_some_and(|h| h.class() == made.reference.val()) {
        return cx.ivar_get(v, made.to);
    }
    v
}

/// Raises what a reference that is of no use raises.
pub fn dead(cx: &mut Cx, why: kumi_remote::Error) -> Exit {
    use kumi_remote::Error::*;
    match why {
        NodeLost | OtherIncarnation | Unknown => crate::call::lost(cx, crate::host::pending::Outcome::NotSent, &why.to_string()),
        Quota => crate::fail(cx, "Kumihimo::RemoteError", &why.to_string()),
        _ => crate::fail(cx, "Kumihimo::Remote::NoObject", &why.to_string()),
    }
}

/// `__rem_node(reference)`: the name of the object's node.
fn node(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = reference(cx, a[0]);
    let Some(p) = v.as_data::<Proxy>() else {
        // It has not moved yet, or stays.
        let here = if v.as_data::<Dead>().is_none() { host_seen(cx) } else { None };
        return Ok(here.map_or(Value::NIL, |h| cx.str(&h.name)));
    };
    let host = p.host.clone();
    let now = host.look(|inner| match inner.home_of(p.import) {
        Some(_) => Some(Arc::from(&*host.name)),
        None => inner.name_of(inner.seen.target(p.import).ok()?.life.node).cloned(),
    });
    Ok(cx.str(&now.unwrap_or_else(|| p.node.clone())))
}
/// `__rem_same(reference, other)`: do both name one object? The seal is the object's, wherever it went.
fn same(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (x, y) = (reference(cx, a[0]), reference(cx, a[1]));
    let same = match (x.as_data::<Proxy>(), y.as_data::<Proxy>()) {
        (Some(x), Some(y)) => x.r.seal == y.r.seal,
        _ => x == y,
    };
    Ok(Value::bool(same))
}
/// `__rem_hash(reference)`
fn hash(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = reference(cx, a[0]);
    Ok(match v.as_data::<Proxy>() {
        Some(p) => Value::fix((p.r.seal >> 2) as i64),
        None => Value::fix((a[0].bits() >> 4) as i64),
    })
}
/// `__rem_number(reference)`: for people: which of its node's objects.
fn number(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = reference(cx, a[0]);
    match v.as_data::<Proxy>() {
        Some(p) => {
            let text = format!("{}.{}", p.r.slot, p.r.generation);
            Ok(cx.str(&text))
        }
        None => Ok(Value::NIL),
    }
}
pub static TABLE: &[NativeDef] =
    &[leaf("__rem_node", 1, node), leaf("__rem_same", 2, same), leaf("__rem_hash", 1, hash), leaf("__rem_number", 1, number)];
