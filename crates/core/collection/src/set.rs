//! Set: the methods that touch one element. The table is a Hash in a hidden variable;
//! everything else is prelude/set.rb.

use kumi_vm::*;

/// The table of a set that was initialised, locked: the prelude gets at it without the set.
fn table(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<(Gc<HashObj>, Option<LockSet>), Exit> {
    let name = cx.intern("@__h");
    let h = cx.ivar_get(recv, name).as_hash().ok_or(Exit::Miss)?;
    Ok((h, cx.lock_objects(h.val(), args)))
}
fn include(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let (h, _l) = table(cx, recv, args)?;
    Ok(Value::bool(cx.hash_find(h, args[0])?.is_some()))
}
fn add(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let (h, _l) = table(cx, recv, args)?;
    let hv = cx.key_hash(h, args[0])?;
    if cx.hash_find_with(h, args[0], hv)?.is_none() {
        cx.hash_push(h, hv, args[0], Value::TRUE)?;
    }
    Ok(recv)
}
fn add_p(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let (h, _l) = table(cx, recv, args)?;
    let hv = cx.key_hash(h, args[0])?;
    if cx.hash_find_with(h, args[0], hv)?.is_some() {
        return Ok(Value::NIL);
    }
    cx.hash_push(h, hv, args[0], Value::TRUE)?;
    Ok(recv)
}
fn delete(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let (h, _l) = table(cx, recv, args)?;
    if let Some(i) = cx.hash_find(h, args[0])? {
        cx.heap.edit(h).h.remove_at(i);
    }
    Ok(recv)
}
fn size(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::fix(table(cx, recv, &[])?.0.h.len() as i64))
}
fn empty_p(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(table(cx, recv, &[])?.0.h.len() == 0))
}
fn to_a(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let (h, l) = table(cx, recv, &[])?;
    let v = Vec::gather(h.h.iter().map(|e| e.key));
    drop(l);
    Ok(cx.array_vec(v))
}

/// Natives of Set.
pub static TABLE: &[NativeDef] = &[
    n("Set", "include?", 1, 1, include).guard(Guard::None),
    n("Set", "member?", 1, 1, include).guard(Guard::None),
    n("Set", "===", 1, 1, include).guard(Guard::None),
    n("Set", "add", 1, 1, add).guard(Guard::None),
    n("Set", "<<", 1, 1, add).guard(Guard::None),
    n("Set", "add?", 1, 1, add_p).guard(Guard::None),
    n("Set", "delete", 1, 1, delete).guard(Guard::None),
    n("Set", "size", 0, 0, size).guard(Guard::None),
    n("Set", "length", 0, 0, size).guard(Guard::None),
    n("Set", "empty?", 0, 0, empty_p).guard(Guard::None),
    n("Set", "to_a", 0, 0, to_a).guard(Guard::None),
];
