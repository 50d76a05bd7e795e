//! Set: the methods that touch one element. The table is a Hash in a hidden variable;
//! everything else is prelude/set.rb.

use kumi_vm::*;

/// The table of a set that was initialised.
fn table(cx: &mut Cx, recv: Value) -> Result<Gc<HashObj>, Exit> {
    let name = cx.intern("@__h");
    cx.ivar_get(recv, name).as_hash().ok_or(Exit::Miss)
}
fn include(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let h = table(cx, recv)?;
    Ok(Value::bool(cx.hash_find(h, args[0])?.is_some()))
}
fn add(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let h = table(cx, recv)?;
    let hv = cx.key_hash(h, args[0])?;
    if cx.hash_find_with(h, args[0], hv)?.is_none() {
        cx.hash_push(h, hv, args[0], Value::TRUE)?;
    }
    Ok(recv)
}
fn add_p(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let h = table(cx, recv)?;
    let hv = cx.key_hash(h, args[0])?;
    if cx.hash_find_with(h, args[0], hv)?.is_some() {
        return Ok(Value::NIL);
    }
    cx.hash_push(h, hv, args[0], Value::TRUE)?;
    Ok(recv)
}
fn delete(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let mut h = table(cx, recv)?;
    if let Some(i) = cx.hash_find(h, args[0])? {
        h.h.remove_at(i);
    }
    Ok(recv)
}
fn size(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::fix(table(cx, recv)?.h.len() as i64))
}
fn empty_p(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(table(cx, recv)?.h.len() == 0))
}
fn to_a(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let v: Vec<Value> = table(cx, recv)?.h.iter().map(|e| e.key).collect();
    Ok(cx.array_vec(v))
}

/// Natives of Set.
pub static TABLE: &[NativeDef] = &[
    n("Set", "include?", 1, 1, include),
    n("Set", "member?", 1, 1, include),
    n("Set", "===", 1, 1, include),
    n("Set", "add", 1, 1, add),
    n("Set", "<<", 1, 1, add),
    n("Set", "add?", 1, 1, add_p),
    n("Set", "delete", 1, 1, delete),
    n("Set", "size", 0, 0, size),
    n("Set", "length", 0, 0, size),
    n("Set", "empty?", 0, 0, empty_p),
    n("Set", "to_a", 0, 0, to_a),
];
