//! BasicObject: identity, negation, and what happens when a method is missing.

use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    private("BasicObject", "initialize", 0, 0, nothing).guard(Guard::None),
    n("BasicObject", "==", 1, 1, equal).guard(Guard::None),
    n("BasicObject", "equal?", 1, 1, equal).guard(Guard::None),
    n("BasicObject", "!", 0, 0, not).guard(Guard::None),
    n("BasicObject", "!=", 1, 1, not_equal),
    n("BasicObject", "__id__", 0, 0, object_id).guard(Guard::None),
    n("Kernel", "object_id", 0, 0, object_id).guard(Guard::None),
    private("BasicObject", "singleton_method_added", 1, 1, nothing).guard(Guard::None),
    private("BasicObject", "singleton_method_removed", 1, 1, nothing).guard(Guard::None),
    private("BasicObject", "singleton_method_undefined", 1, 1, nothing).guard(Guard::None),
];

/// A hook that does nothing.
pub fn nothing(_: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::NIL)
}
fn equal(_: &mut Cx, recv: Value, args: &[Value]) -> R {
    Ok(Value::bool(recv == args[0]))
}
fn not(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(!recv.truthy()))
}
fn not_equal(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if is_identity_eq(cx, recv) {
        return Ok(Value::bool(recv != args[0]));
    }
    if recv == args[0] {
        // What is the same need not be equal to itself: NaN is not, and a `==` of the program's may say anything.
        let always = matches!(recv.kind(), None | Some(Kind::Str | Kind::Array | Kind::Hash | Kind::Range | Kind::Big));
        return if always && cx.builtin(recv, sym::EQ) { Ok(Value::FALSE) } else { Err(Exit::Miss) };
    }
    if !recv.is_heap() && !cx.builtin(recv, sym::EQ) {
        return Err(Exit::Miss);
    }
    match cx.plain_eq(recv, args[0]) {
        Some(b) => Ok(Value::bool(!b)),
        None => Err(Exit::Miss),
    }
}
/// Is `recv.==` still BasicObject's?
pub fn is_identity_eq(cx: &mut Cx, recv: Value) -> bool {
    let c = cx.class_of(recv);
    let m = cx.find_method(c, sym::EQ);
    m != NO_METHOD && cx.method(m).owner == cx.k.basic_object && cx.method(m).builtin
}

/// CRuby's numbers: 2n + 1 for small integers, 8 for nil, 20 for true, 0 for false; running numbers for the rest.
pub fn id_of(cx: &mut Cx, v: Value) -> Value {
    match v {
        Value::NIL => Value::fix(8),
        Value::TRUE => Value::fix(20),
        Value::FALSE => Value::fix(0),
        _ if v.is_fix() => cx.int128(v.fix_val() as i128 * 2 + 1),
        _ if v.is_heap() => {
            let id = cx.heap.object_id(v);
            cx.uint(id + 8)
        }
        _ => cx.uint(v.bits()),
    }
}
fn object_id(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(id_of(cx, recv))
}
