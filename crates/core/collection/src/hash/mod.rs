//! Hash: the methods that read and write one entry.
//!
//! Every native here handles plain keys (see `kumi_vm::hash_key`); for others it
//! misses, and prelude/hash.rb looks for the key with the intrinsics of
//! `hash_walk`. A mutator checks frozenness before it looks at its arguments.

pub(crate) mod walk;

use kumi_vm::hash_key::spread;
use kumi_vm::*;

/// The receiver's cell. Methods of Hash only ever run on hashes; anything else is the prelude's to refuse.
pub(crate) fn cell(v: Value) -> Result<Gc<HashObj>, Exit> {
    v.as_hash().ok_or(Exit::Miss)
}

/// Tells the heap that `h` is about to take over these entries.
pub(crate) fn before_entries(cx: &mut Cx, h: Gc<HashObj>, es: impl Iterator<Item = Entry>) {
    for e in es {
        cx.heap.before_store(h.val(), e.key);
        cx.heap.before_store(h.val(), e.val);
    }
}

/// What `h[key]` is when the key is absent.
pub(crate) fn default_for(cx: &mut Cx, h: Gc<HashObj>, key: Value) -> R {
    if !cx.builtin(h.val(), sym::DEFAULT) {
        return Err(cx.call(h.val(), sym::DEFAULT, &[key]));
    }
    match h.h.missing() {
        Missing::Proc(p) => Err(cx.call(p, sym::CALL, &[h.val(), key])),
        Missing::Value(v) => Ok(v),
    }
}

/// What readers beside other workers find without a lock; they look again with it when that is nothing.
fn racing(cx: &mut Cx, h: Gc<HashObj>, key: Value) -> Option<Value> {
    if cx.is_parallel() { cx.hash_get_plain(h, key) } else { None }
}

/// The value of a key; `absent` is asked under the lock.
#[inline(always)]
fn get(cx: &mut Cx, recv: Value, args: &[Value], absent: impl FnOnce(&mut Cx, Gc<HashObj>, Value) -> R) -> R {
    let h = cell(recv)?;
    if let Some(v) = racing(cx, h, args[0]) {
        return Ok(v);
    }
    let _l = cx.lock_objects(recv, args);
    match cx.hash_find(h, args[0])? {
        Some(i) => Ok(h.h.at(i).map_or(Value::NIL, |e| e.val)),
        None => absent(cx, h, args[0]),
    }
}

fn aref(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    get(cx, recv, args, default_for)
}

fn dig(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if args.len() == 1 {
        return aref(cx, recv, args);
    }
    let h = cell(recv)?;
    let v = match racing(cx, h, args[0]) {
        Some(v) => v,
        None => {
            let _l = cx.lock_objects(recv, &args[..1]);
            match cx.hash_find(h, args[0])? {
                Some(i) => h.h.at(i).map_or(Value::NIL, |e| e.val),
                None if !cx.builtin(recv, sym::DEFAULT) => return Err(Exit::Miss),
                None => match h.h.missing() {
                    Missing::Value(v) => v,
                    Missing::Proc(_) => return Err(Exit::Miss),
                },
            }
        }
    };
    let name = cx.intern("dig");
    if v.is_nil() {
        Ok(v)
    } else if cx.has_method(v, name) && cx.builtin(v, sym::RESPOND_TO) {
        Err(cx.call(v, name, &args[1..]))
    } else {
        Err(Exit::Miss)
    }
}

fn aset(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let h = cell(recv)?;
    cx.hash_put(h, args[0], args[1])?;
    Ok(args[1])
}

fn fetch(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    // A block, a default or KeyError: only the prelude sees the block.
    get(cx, recv, args, |_, _, _| Err(Exit::Miss))
}

fn has_key(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let h = cell(recv)?;
    if racing(cx, h, args[0]).is_some() {
        return Ok(Value::TRUE);
    }
    let _l = cx.lock_objects(recv, args);
    Ok(Value::bool(cx.hash_find(h, args[0])?.is_some()))
}

fn delete(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let h = cell(recv)?;
    match cx.hash_find(h, args[0])? {
        Some(i) => Ok(cx.heap.edit(h).h.remove_at(i).val),
        None => Err(Exit::Miss),
    }
}

fn size(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::fix(cell(recv)?.h.len() as i64))
}
fn empty_p(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(cell(recv)?.h.len() == 0))
}

fn keys(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let v = Vec::gather(cell(recv)?.h.iter().map(|e| e.key));
    Ok(cx.array_vec(v))
}
fn values(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let v = Vec::gather(cell(recv)?.h.iter().map(|e| e.val));
    Ok(cx.array_vec(v))
}
fn to_a(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let es = Vec::gather(cell(recv)?.h.iter());
    let mut v = Vec::room(es.len());
    let mut patience = cx.patience();
    for e in es {
        patience.step(cx)?;
        v.put(cx.array(&[e.key, e.val]));
    }
    Ok(cx.array_vec(v))
}

fn values_at(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let h = cell(recv)?;
    let mut out = Vec::with_capacity(args.len());
    for &k in args {
        match (cx.hash_find(h, k)?, h.h.missing()) {
            (Some(i), _) => out.push(h.h.at(i).map_or(Value::NIL, |e| e.val)),
            (None, Missing::Value(v)) if cx.builtin(recv, sym::DEFAULT) => out.push(v),
            (None, _) => return Err(Exit::Miss),
        }
    }
    Ok(cx.array_vec(out))
}

fn clear(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let h = cell(recv)?;
    cx.heap.edit(h).h.clear();
    Ok(recv)
}

fn shift(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let h = cell(recv)?;
    match h.h.next_live(0) {
        Some(i) => {
            let e = cx.heap.edit(h).h.remove_at(i);
            Ok(cx.array(&[e.key, e.val]))
        }
        None => Ok(Value::NIL),
    }
}

fn default(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let h = cell(recv)?;
    match (h.h.missing(), args.first()) {
        (Missing::Proc(p), Some(&k)) => Err(cx.call(p, sym::CALL, &[recv, k])),
        (m, _) => Ok(m.value()),
    }
}
fn set_default(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let h = cell(recv)?;
    cx.heap.before_store(recv, args[0]);
    cx.heap.edit(h).h.set_missing(Missing::Value(args[0]));
    Ok(args[0])
}
fn default_proc(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    let h = cell(recv)?;
    Ok(if let Missing::Proc(p) = h.h.missing() { p } else { Value::NIL })
}

fn replace(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let h = cell(recv)?;
    let o = cx.arg_hash(args, 0)?;
    if h == o {
        return Ok(recv);
    }
    if h.h.iterating() > 0 {
        return Err(cx.runtime_error("can't replace hash during iteration"));
    }
    cx.check_size(o.h.bytes())?;
    let d = o.h.clone();
    cx.heap.charge(d.bytes());
    before_entries(cx, h, d.iter());
    cx.heap.before_store(recv, d.missing().either());
    cx.heap.edit(h).h.assign(d);
    Ok(recv)
}

fn by_identity(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let h = cell(recv)?;
    if h.h.by_identity() {
        return Ok(recv);
    }
    cx.check_frozen(recv)?;
    if h.h.iterating() > 0 {
        return Err(cx.runtime_error("compare_by_identity during iteration"));
    }
    let es = Vec::gather(h.h.iter().map(|e| Entry { hash: spread(cx.identity_hash(e.key)), ..e }));
    cx.heap.edit(h).h.set_by_identity(true);
    cx.heap.edit(h).h.replace_entries(es);
    Ok(recv)
}
fn by_identity_p(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(cell(recv)?.h.by_identity()))
}

pub(crate) fn eq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.plain_eq(recv, args[0]).map(Value::bool).ok_or(Exit::Miss)
}
pub(crate) fn eql(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.plain_eql(recv, args[0]).map(Value::bool).ok_or(Exit::Miss)
}
/// `hash` of anything in this crate.
pub(crate) fn hash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    cx.plain_hash(recv).map(|h| Value::fix(h as i64)).ok_or(Exit::Miss)
}

/// The first entry with such a value.
fn with_value(cx: &mut Cx, recv: Value, v: Value) -> Result<Option<Entry>, Exit> {
    let h = cell(recv)?;
    for i in 0..h.h.slots() {
        if let Some(e) = h.h.at(i) {
            if cx.plain_eq(e.val, v).ok_or(Exit::Miss)? {
                return Ok(Some(e));
            }
        }
    }
    Ok(None)
}
fn has_value(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    Ok(Value::bool(with_value(cx, recv, args[0])?.is_some()))
}
fn key_of(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    Ok(with_value(cx, recv, args[0])?.map_or(Value::NIL, |e| e.key))
}

/// Appends `name: ` or `key => `; `None` when the key's inspection needs Ruby.
fn inspect_key(cx: &mut Cx, key: Value, out: &mut Vec<u8>) -> Option<()> {
    match key.as_sym() {
        Some(s) => {
            let name = cx.syms.name(s);
            // A trailing `=` cannot stand before the colon.
            if !kumi_vm::plain::plain_symbol(name) || name.ends_with(b"=") {
                return None;
            }
            out.put_all(name);
            out.put_all(b": ");
        }
        None => {
            cx.plain_inspect(key, out, 1)?;
            out.put_all(b" => ");
        }
    }
    Some(())
}

fn inspect(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let h = cell(recv)?;
    if h.h.len() == 0 {
        return Ok(cx.str_enc(b"{}", EncIndex::US_ASCII));
    }
    let mut out = Vec::room(h.h.len() * 12);
    out.put(b'{');
    for i in 0..h.h.slots() {
        let Some(e) = h.h.at(i) else { continue };
        if out.len() > 1 {
            out.put_all(b", ");
        }
        inspect_key(cx, e.key, &mut out).ok_or(Exit::Miss)?;
        cx.plain_inspect(e.val, &mut out, 1).ok_or(Exit::Miss)?;
    }
    out.put(b'}');
    Ok(cx.str_vec(out, EncIndex::UTF_8))
}

fn invert(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let h = cell(recv)?;
    let r = cx.hash();
    let t = cell(r)?;
    for i in 0..h.h.slots() {
        if let Some(e) = h.h.at(i) {
            cx.hash_put(t, e.val, e.key)?;
        }
    }
    Ok(r)
}

fn compact(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let h = cell(recv)?;
    let es = Vec::gather(h.h.iter().filter(|e| !e.val.is_nil()));
    let mut d = HashData::comparing(h.h.by_identity());
    d.replace_entries(es);
    d.set_missing(h.h.missing());
    cx.heap.charge(d.bytes());
    Ok(cx.heap.hash(cx.k.hash.val(), d).val())
}
fn compact_bang(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let h = cell(recv)?;
    let before = h.h.len();
    for i in 0..h.h.slots() {
        if h.h.at(i).is_some_and(|e| e.val.is_nil()) {
            cx.heap.edit(h).h.remove_at(i);
        }
    }
    Ok(if h.h.len() == before { Value::NIL } else { recv })
}

fn slice(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let h = cell(recv)?;
    let r = cx.hash();
    let t = cell(r)?;
    cx.heap.edit(t).h.set_by_identity(h.h.by_identity());
    for &k in args {
        if let Some(i) = cx.hash_find(h, k)? {
            let v = h.h.at(i).map_or(Value::NIL, |e| e.val);
            cx.hash_put(t, k, v)?;
        }
    }
    Ok(r)
}

fn ruby2_keywords_hash(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let Some(h) = args[0].as_hash() else {
        let t = cx.describe_type(args[0]);
        return Err(cx.type_error(&format!("wrong argument type {t} (expected Hash)")));
    };
    let d = h.h.clone();
    let class = cx.real_class(args[0]).val();
    cx.heap.charge(d.bytes());
    let h = cx.heap.hash(class, d);
    h.set_keywords();
    let r = h.val();
    for (name, v) in cx.ivars(args[0]) {
        cx.ivar_set(r, name, v);
    }
    Ok(r)
}
fn ruby2_keywords_hash_p(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    if args[0].as_hash().is_none() {
        let t = cx.describe_type(args[0]);
        return Err(cx.type_error(&format!("wrong argument type {t} (expected Hash)")));
    }
    Ok(Value::bool(args[0].as_hash().is_some_and(|h| h.is_keywords())))
}

fn itself(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(recv)
}

/// Natives of Hash.
pub static TABLE: &[NativeDef] = &[
    n("Hash", "[]", 1, 1, aref).guard(Guard::None),
    n("Hash", "dig", 1, -1, dig).guard(Guard::None),
    n("Hash", "[]=", 2, 2, aset),
    n("Hash", "store", 2, 2, aset),
    n("Hash", "fetch", 1, 2, fetch).guard(Guard::None),
    n("Hash", "key?", 1, 1, has_key).guard(Guard::None),
    n("Hash", "has_key?", 1, 1, has_key).guard(Guard::None),
    n("Hash", "include?", 1, 1, has_key).guard(Guard::None),
    n("Hash", "member?", 1, 1, has_key).guard(Guard::None),
    n("Hash", "delete", 1, 1, delete),
    n("Hash", "size", 0, 0, size).guard(Guard::None),
    n("Hash", "length", 0, 0, size).guard(Guard::None),
    n("Hash", "empty?", 0, 0, empty_p).guard(Guard::None),
    n("Hash", "keys", 0, 0, keys),
    n("Hash", "values", 0, 0, values),
    n("Hash", "to_a", 0, 0, to_a),
    n("Hash", "to_hash", 0, 0, itself).guard(Guard::None),
    n("Hash", "values_at", 0, -1, values_at),
    n("Hash", "clear", 0, 0, clear),
    n("Hash", "shift", 0, 0, shift),
    n("Hash", "default", 0, 1, default),
    n("Hash", "default=", 1, 1, set_default),
    n("Hash", "default_proc", 0, 0, default_proc),
    n("Hash", "replace", 1, 1, replace),
    private("Hash", "initialize_copy", 1, 1, replace),
    n("Hash", "compare_by_identity", 0, 0, by_identity),
    n("Hash", "compare_by_identity?", 0, 0, by_identity_p).guard(Guard::None),
    n("Hash", "==", 1, 1, eq),
    n("Hash", "eql?", 1, 1, eql),
    n("Hash", "hash", 0, 0, hash),
    n("Hash", "value?", 1, 1, has_value),
    n("Hash", "has_value?", 1, 1, has_value),
    n("Hash", "key", 1, 1, key_of),
    n("Hash", "inspect", 0, 0, inspect),
    n("Hash", "to_s", 0, 0, inspect),
    n("Hash", "invert", 0, 0, invert),
    n("Hash", "compact", 0, 0, compact),
    n("Hash", "compact!", 0, 0, compact_bang),
    n("Hash", "slice", 0, -1, slice),
    n("Hash.", "ruby2_keywords_hash", 1, 1, ruby2_keywords_hash),
    n("Hash.", "ruby2_keywords_hash?", 1, 1, ruby2_keywords_hash_p),
];
