//! References to objects of other nodes, as Ruby has them.
//!
//! **Invariant.** An import has one proxy that is handed out. Each proxy that was made is counted until its cell is swept; with the last
//! one its owner hears that it is not held any more.

use crate::host::Host;
use crate::host::arrivals::Arrivals;
use crate::leaf;
use crate::state::{host, made};
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

impl Payload for Proxy {
    fn shares(&self) -> bool {
        true
    }
    fn constant(&self) -> bool {
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
            Arrived::Import { import, .. } => proxy(cx, host, class, import),
        });
    }
    arrivals.are_made();
    Ok(values)
}

/// The proxy of an import that came just now, and was counted for it.
fn proxy(cx: &mut Cx, host: &Arc<Host>, class: Gc<ClassObj>, import: Import) -> Value {
    let known = host.act(|inner, now, _| {
        let found = inner.proxies.get(&import).and_then(|h| h.proxy);
        if found.is_some() {
            inner.proxy_less(now, import);
        }
        found
    });
    if let Some(v) = known {
        return v;
    }
    let found = host.look(|inner| {
        let r = inner.seen.target(import).ok()?;
        Some((r, inner.name_of(r.life.node)?.clone()))
    });
    let Some((r, node)) = found else {
        host.act(|inner, now, _| inner.proxy_less(now, import));
        return cx.data(class, Dead { why: kumi_remote::Error::NodeLost });
    };
    let v = cx.data(class, Proxy { host: host.clone(), import, r, node });
    cx.heap.publish(v);
    crate::state::watch(cx);
    host.look(|inner| {
        if let Some(held) = inner.proxies.get_mut(&import) {
            // Another thread may have been quicker: then there are two for a while.
            held.proxy = held.proxy.or(Some(v));
        }
    });
    v
}

/// What is handed over for a value that stays.
pub fn item(cx: &mut Cx, v: Value) -> Result<Item, Exit> {
    if let Some(p) = v.as_data::<Proxy>() {
        return Ok(Item::Import(p.import));
    }
    if let Some(d) = v.as_data::<Dead>() {
        let why = d.why;
        return Err(dead(cx, why));
    }
    cx.heap.publish(v);
    Ok(Item::Own(v.bits()))
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
    match a[0].as_data::<Proxy>() {
        Some(p) => Ok(cx.str(&p.node.clone())),
        None => Ok(Value::NIL),
    }
}
/// `__rem_same(reference, other)`: do both name one object?
fn same(_: &mut Cx, _: Value, a: &[Value]) -> R {
    let same = match (a[0].as_data::<Proxy>(), a[1].as_data::<Proxy>()) {
        (Some(x), Some(y)) => x.r == y.r,
        _ => a[0] == a[1],
    };
    Ok(Value::bool(same))
}
/// `__rem_hash(reference)`
fn hash(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(match a[0].as_data::<Proxy>() {
        Some(p) => {
            let h = p.r.seal ^ u64::from(p.r.slot) << 32 ^ p.r.life.incarnation;
            Value::fix((h >> 2) as i64)
        }
        None => Value::fix((a[0].bits() >> 4) as i64),
    })
}
/// `__rem_number(reference)`: for people: which of its node's objects.
fn number(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match a[0].as_data::<Proxy>() {
        Some(p) => {
            let text = format!("{}.{}", p.r.slot, p.r.generation);
            Ok(cx.str(&text))
        }
        None => Ok(Value::NIL),
    }
}
/// `__rem_exports()`: [[object, [names of nodes]], ..] of all that others hold.
fn exports(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let host = host(cx)?;
    let all: Vec<(u64, Vec<String>)> = host.look(|inner| {
        let handles: Vec<u64> = inner.seen.exports().map(|x| x.0).collect();
        let name = |l: kumi_remote::Life| inner.name_of(l.node).map_or(String::new(), |n| n.to_string());
        handles.into_iter().map(|h| (h, inner.seen.holders(h).into_iter().map(name).collect())).collect()
    });
    let mut rows = Vec::new();
    for (bits, names) in all {
        let names: Vec<Value> = names.iter().map(|n| cx.str(n)).collect();
        let row = [Value::from_bits(bits), cx.array_vec(names)];
        rows.push(cx.array(&row));
    }
    Ok(cx.array_vec(rows))
}
/// `__rem_stat()`: exports, imports, parcels, operations that wait, packets, bytes, released, swept, rounds, peers lost.
fn stat(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let host = host(cx)?;
    let s = host.look(|inner| inner.seen.stats());
    let n = |n: usize| Value::fix(n as i64);
    let u = |n: u64| Value::fix(n.min(i64::MAX as u64 / 4) as i64);
    let row = [
        n(s.exports),
        n(s.imports),
        n(s.parcels),
        n(s.waiting),
        u(s.packets),
        u(s.bytes),
        u(s.released),
        u(s.swept),
        u(s.rounds),
        u(s.lost),
    ];
    Ok(cx.array(&row))
}

pub static TABLE: &[NativeDef] = &[
    leaf("__rem_node", 1, node),
    leaf("__rem_same", 2, same),
    leaf("__rem_hash", 1, hash),
    leaf("__rem_number", 1, number),
    leaf("__rem_exports", 0, exports),
    leaf("__rem_stat", 0, stat),
];
