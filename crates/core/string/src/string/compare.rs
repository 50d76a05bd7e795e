//! Which strings are equal, and which comes first.

use crate::text::*;

use kumi_vm::*;

fn eq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if recv == args[0] {
        return Ok(Value::TRUE);
    }
    let s = me(cx, recv)?;
    match args[0].as_str() {
        Some(o) => Ok(Value::bool(equal(s, o))),
        None if args[0].is_heap() && (args[0].is_kind(Kind::Object) || cx.has_method(args[0], sym::TO_STR)) => Err(Exit::Miss),
        None => Ok(Value::FALSE),
    }
}
fn eql(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(Value::bool(args[0].as_str().is_some_and(|o| equal(s, o))))
}
fn hash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(str_hash(cx, s))
}
fn cmp(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    match args[0].as_str() {
        Some(o) => Ok(Value::fix(compare(s, o) as i64)),
        None if args[0].is_heap() => Err(Exit::Miss),
        None => Ok(Value::NIL),
    }
}
fn casecmp(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let Some(o) = args[0].as_str() else { return Err(Exit::Miss) };
    if compatible(s, o).is_none() {
        return Ok(Value::NIL);
    }
    let key = |b: &u8| b.to_ascii_lowercase();
    let ord = s.bytes().iter().map(key).cmp(o.bytes().iter().map(key));
    Ok(Value::fix(ord as i64))
}

pub static TABLE: &[NativeDef] = &[
    n("String", "==", 1, 1, eq).guard(Guard::None),
    n("String", "eql?", 1, 1, eql).guard(Guard::None),
    n("String", "hash", 0, 0, hash).guard(Guard::None),
    n("String", "<=>", 1, 1, cmp),
    n("String", "casecmp", 1, 1, casecmp),
];
