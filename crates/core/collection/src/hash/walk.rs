//! Intrinsics that let the prelude walk, probe and change a hash by position.
//!
//! A position stays valid while the hash is entered (`__hash_enter`); outside an
//! iteration the prelude compares versions and starts again (optimistic commit).
//! "Plain" results: a position, nil for an absent key, false when user code must
//! look for the key.

use crate::hash::{before_entries, cell};
use kumi_vm::hash_key::spread;
use kumi_vm::*;

fn pos(args: &[Value], i: usize) -> usize {
    args[i].as_fix().filter(|p| *p >= 0).map_or(usize::MAX, |p| p as usize)
}
/// The number that a `hash` method gave, as the table wants it.
fn table_hash(v: Value) -> u64 {
    let n = match v.as_fix() {
        Some(i) => i as u64,
        None => v.as_big().map_or(0, |b| b.n.low_u64()),
    };
    spread(n)
}

fn len(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(Value::fix(if args[0].is_nil() { 0 } else { cell(args[0])?.h.len() as i64 }))
}
/// First live position after args[1] (-1 to start), nil at the end.
fn next(_: &mut Cx, _: Value, args: &[Value]) -> R {
    let from = args[1].as_fix().map_or(0, |p| (p + 1).max(0) as usize);
    Ok(cell(args[0])?.h.next_live(from).map_or(Value::NIL, |i| Value::fix(i as i64)))
}
// Undef where another thread removed the entry meanwhile; while the hash is entered, a key that was there
// and a value that is there belong together.
fn key(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(cell(args[0])?.h.at(pos(args, 1)).map_or(Value::UNDEF, |e| e.key))
}
fn val(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(cell(args[0])?.h.at(pos(args, 1)).map_or(Value::UNDEF, |e| e.val))
}
/// `__hash_get(h, key)`: the value, undef when it is absent or user code must look for it.
fn get(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let h = cell(args[0])?;
    if let Some(v) = if cx.is_parallel() { cx.hash_get_plain(h, args[1]) } else { None } {
        return Ok(v);
    }
    let _l = cx.lock_objects(args[0], &args[1..]);
    Ok(match cx.hash_find(h, args[1]) {
        Ok(Some(i)) => h.h.at(i).map_or(Value::UNDEF, |e| e.val),
        _ => Value::UNDEF,
    })
}
/// `__hash_view(h)`: what to walk without entering it: itself, or a copy while there are threads that might change it.
fn view(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    // What needs no lock is frozen, or out of other threads' reach.
    if !cx.others_alive() || !args[0].needs_lock() {
        return Ok(args[0]);
    }
    copy(cx, Value::NIL, args)
}
/// `__hash_commit(h, hash, key, value, position or nil, version)`: stores where user code has found the key, or adds
/// it; false when the table has changed since it had that version.
fn commit(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let h = cell(args[0])?;
    cx.check_frozen(args[0])?;
    if args[5].as_fix() != Some(h.h.version() as i64) {
        return Ok(Value::FALSE);
    }
    if args[4].is_nil() {
        cx.hash_push(h, table_hash(args[1]), args[2], args[3])?;
    } else {
        cx.heap.before_store(args[0], args[3]);
        cx.heap.edit(h).h.set_val(pos(args, 4), args[3]);
    }
    Ok(Value::TRUE)
}
/// `__hash_cut(h, position, version)`: removes an entry: its value, undef when the table has changed since.
fn cut(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (h, i) = (cell(args[0])?, pos(args, 1));
    if args[2].as_fix() != Some(h.h.version() as i64) || h.h.at(i).is_none() {
        return Ok(Value::UNDEF);
    }
    cx.check_frozen(args[0])?;
    Ok(cx.heap.edit(h).h.remove_at(i).val)
}
fn pair(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    match cell(args[0])?.h.at(pos(args, 1)) {
        Some(e) => Ok(cx.array(&[e.key, e.val])),
        None => Ok(Value::NIL),
    }
}
fn set_val(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    cx.check_frozen(args[0])?;
    let (h, i) = (cell(args[0])?, pos(args, 1));
    if h.h.at(i).is_some() {
        cx.heap.before_store(args[0], args[2]);
        cx.heap.edit(h).h.set_val(i, args[2]);
    }
    Ok(args[2])
}
fn remove_at(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    cx.check_frozen(args[0])?;
    let (h, i) = (cell(args[0])?, pos(args, 1));
    Ok(if h.h.at(i).is_some() { cx.heap.edit(h).h.remove_at(i).val } else { Value::NIL })
}
fn version(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(Value::fix(cell(args[0])?.h.version() as i64))
}
/// `__hash_candidate(h, hash, from)`: the next position after `from` (nil to start) whose key has that hash.
fn candidate(_: &mut Cx, _: Value, args: &[Value]) -> R {
    let from = args[2].as_fix().map(|p| p as usize);
    Ok(cell(args[0])?.h.candidate(table_hash(args[1]), from).map_or(Value::NIL, |i| Value::fix(i as i64)))
}
/// `__hash_group(h, key, value)`: adds the value to the list under a plain key, in one step; false when it is not plain.
fn group(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let Some(h) = args[0].as_hash() else { return Ok(Value::FALSE) };
    let key = if h.h.by_identity() { args[1] } else { cx.still_key(args[1]) };
    let Ok(hv) = cx.key_hash(h, key) else { return Ok(Value::FALSE) };
    match cx.hash_find_with(h, key, hv) {
        Ok(Some(at)) => match h.h.at(at).and_then(|e| e.val.as_array()) {
            Some(list) => cx.push(list, args[2]),
            None => return Ok(Value::FALSE),
        },
        Ok(None) => {
            let list = cx.array(&args[2..3]);
            cx.hash_push(h, hv, key, list)?;
        }
        Err(_) => return Ok(Value::FALSE),
    }
    Ok(Value::TRUE)
}
/// `__hash_push(h, hash, key, value)`: adds a key that is known to be absent.
fn push(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let h = cell(args[0])?;
    cx.check_frozen(args[0])?;
    cx.hash_push(h, table_hash(args[1]), args[2], args[3])?;
    Ok(args[3])
}
fn find(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    match cx.hash_find(cell(args[0])?, args[1]) {
        Ok(Some(i)) => Ok(Value::fix(i as i64)),
        Ok(None) => Ok(Value::NIL),
        Err(_) => Ok(Value::FALSE),
    }
}
/// Stores under a plain key: true; false when user code must find the place.
fn put(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let h = cell(args[0])?;
    cx.check_frozen(args[0])?;
    match cx.hash_put(h, args[1], args[2]) {
        Ok(()) => Ok(Value::TRUE),
        Err(Exit::Miss) => Ok(Value::FALSE),
        Err(e) => Err(e),
    }
}
fn enter(_: &mut Cx, _: Value, args: &[Value]) -> R {
    cell(args[0])?.h.enter();
    Ok(args[0])
}
fn leave(_: &mut Cx, _: Value, args: &[Value]) -> R {
    cell(args[0])?.h.leave();
    Ok(args[0])
}
fn iterating(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(Value::bool(cell(args[0])?.h.iterating() > 0))
}
/// `__hash_update(dst, src, from)`: copies entries from position `from` on; the position
/// of the first entry that needs user code, nil when all are copied.
fn update(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (dst, src) = (cell(args[0])?, cell(args[1])?);
    cx.check_frozen(args[0])?;
    let mut i = pos(args, 2);
    // Tables that hash alike pass their hashes on.
    let same = dst.h.by_identity() == src.h.by_identity();
    while let Some(p) = src.h.next_live(i) {
        let Some(e) = src.h.at(p) else { break };
        let hv = if same { Ok(e.hash) } else { cx.key_hash(dst, e.key) };
        let done = match hv {
            Ok(hv) if dst.h.len() == 0 => cx.hash_push(dst, hv, e.key, e.val).map(|_| true),
            Ok(hv) => match cx.hash_find_with(dst, e.key, hv) {
                Ok(Some(at)) => {
                    let d = dst;
                    cx.heap.before_store(args[0], e.val);
                    cx.heap.edit(d).h.set_val(at, e.val);
                    Ok(true)
                }
                Ok(None) => cx.hash_push(dst, hv, e.key, e.val).map(|_| true),
                Err(x) => Err(x),
            },
            Err(x) => Err(x),
        };
        match done {
            Ok(_) => i = p + 1,
            Err(Exit::Miss) => return Ok(Value::fix(p as i64)),
            Err(x) => return Err(x),
        }
    }
    Ok(Value::NIL)
}
/// A copy with the entries and the comparison, as a plain Hash without default: `__hash_copy(h)`.
fn copy(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let h = cell(args[0])?;
    cx.check_size(h.h.bytes())?;
    let mut d = h.h.clone();
    d.set_missing(Missing::NIL);
    cx.heap.charge(d.bytes());
    Ok(cx.heap.hash(cx.k.hash.val(), d).val())
}
/// An empty plain Hash that compares keys as `h` does.
fn like(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let h = cell(args[0])?;
    let d = HashData::comparing(h.h.by_identity());
    Ok(cx.heap.hash(cx.k.hash.val(), d).val())
}
/// Where keys hash without user code, in one step.
fn rehash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let h = cell(recv)?;
    if h.h.iterating() > 0 {
        return Err(cx.runtime_error("rehash during iteration"));
    }
    cx.check_frozen(recv)?;
    if h.h.by_identity() {
        return Ok(recv);
    }
    let fresh = like(cx, Value::NIL, &[recv])?;
    let d = cell(fresh)?;
    let all = Vec::gather(h.h.iter());
    for e in &all {
        let hv = cx.key_hash(d, e.key)?;
        match cx.hash_find_with(d, e.key, hv)? {
            Some(at) => cx.heap.edit(d).h.set_val(at, e.val),
            None => cx.hash_push(d, hv, e.key, e.val)?,
        }
    }
    // Own entries, but for copies of keys.
    before_entries(cx, h, d.h.iter());
    cx.heap.edit(h).h.replace_entries(Vec::gather(d.h.iter()));
    Ok(recv)
}
/// `__hash_become(h, other, version)`: takes over the other's entries; false when h has changed since that version.
fn become_if(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (h, o) = (cell(args[0])?, cell(args[1])?);
    cx.check_frozen(args[0])?;
    if args[2].as_fix() != Some(h.h.version() as i64) || h.h.iterating() > 0 {
        return Ok(Value::FALSE);
    }
    let es = Vec::gather(o.h.iter());
    before_entries(cx, h, es.iter().copied());
    cx.heap.edit(h).h.replace_entries(es);
    Ok(Value::TRUE)
}
fn set_default_proc(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    cx.check_frozen(args[0])?;
    let h = cell(args[0])?;
    cx.heap.before_store(args[0], args[1]);
    cx.heap.edit(h).h.set_missing(if args[1].is_nil() { Missing::NIL } else { Missing::Proc(args[1]) });
    Ok(args[1])
}
fn reserve(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    cx.check_frozen(args[0])?;
    let h = cell(args[0])?;
    let n = args[1].as_fix().unwrap_or(0).clamp(0, 1 << 40) as usize;
    cx.check_size(n.saturating_mul(32))?;
    // A wish, not a demand: what is never filled should not be paid for.
    cx.heap.edit(h).h.reserve(n.min(1 << 20));
    Ok(args[0])
}
/// Combines two hash values.
fn mix(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let n = |v: Value| v.as_fix().map_or_else(|| v.as_big().map_or(0, |b| b.n.low_u64()), |i| i as u64);
    let h = cx.hash_step(n(args[0]), n(args[1]));
    Ok(cx.hash_end(h))
}
/// Adds two hash values, wrapping.
fn add(_: &mut Cx, _: Value, args: &[Value]) -> R {
    let n = |v: Value| v.as_fix().unwrap_or(0);
    Ok(Value::fix(n(args[0]).wrapping_add(n(args[1])) << 2 >> 2))
}
fn start(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let h = cx.hash_start(args[0].as_fix().unwrap_or(0) as u64, args[1].as_fix().unwrap_or(0) as usize);
    Ok(cx.hash_end(h))
}
fn id_hash(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(Value::fix(cx.identity_hash(args[0]) as i64))
}

/// Intrinsics of the prelude's Hash.
pub static TABLE: &[NativeDef] = &[
    n("Hash", "rehash", 0, 0, rehash),
    intrinsic("__hash_become", 3, 3, become_if),
    intrinsic("__hash_len", 1, 1, len).guard(Guard::None),
    intrinsic("__hash_next", 2, 2, next),
    intrinsic("__hash_key", 2, 2, key),
    intrinsic("__hash_val", 2, 2, val),
    intrinsic("__hash_pair", 2, 2, pair),
    intrinsic("__hash_get", 2, 2, get).guard(Guard::None),
    intrinsic("__hash_view", 1, 1, view),
    intrinsic("__hash_commit", 6, 6, commit),
    intrinsic("__hash_cut", 3, 3, cut),
    intrinsic("__hash_set_val", 3, 3, set_val),
    intrinsic("__hash_remove_at", 2, 2, remove_at),
    intrinsic("__hash_version", 1, 1, version),
    intrinsic("__hash_candidate", 3, 3, candidate),
    intrinsic("__hash_group", 3, 3, group),
    intrinsic("__hash_push", 4, 4, push),
    intrinsic("__hash_find", 2, 2, find),
    intrinsic("__hash_put", 3, 3, put),
    intrinsic("__hash_enter", 1, 1, enter),
    intrinsic("__hash_leave", 1, 1, leave),
    intrinsic("__hash_iterating", 1, 1, iterating),
    intrinsic("__hash_update", 3, 3, update),
    intrinsic("__hash_copy", 1, 1, copy),
    intrinsic("__hash_like", 1, 1, like),
    intrinsic("__hash_set_default_proc", 2, 2, set_default_proc),
    intrinsic("__hash_reserve", 2, 2, reserve),
    intrinsic("__hash_mix", 2, 2, mix).guard(Guard::None),
    intrinsic("__hash_add", 2, 2, add),
    intrinsic("__hash_start", 2, 2, start).guard(Guard::None),
    intrinsic("__hash_id", 1, 1, id_hash).guard(Guard::None),
];
