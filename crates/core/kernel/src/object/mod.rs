//! Kernel's instance methods that every object has: class, identity, freezing, description.

pub(crate) mod copy;
pub(crate) mod objspace;
pub(crate) mod recursion;
pub(crate) mod weak;

use crate::basic::is_identity_eq;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    n("Kernel", "class", 0, 0, class).guard(Guard::None),
    n("Kernel", "singleton_class", 0, 0, singleton_class).guard(Guard::None),
    n("Kernel", "frozen?", 0, 0, frozen_p).guard(Guard::None),
    n("Kernel", "freeze", 0, 0, freeze),
    n("Kernel", "nil?", 0, 0, no).guard(Guard::None),
    n("NilClass", "nil?", 0, 0, yes),
    n("Kernel", "===", 1, 1, case_eq),
    n("Kernel", "<=>", 1, 1, cmp),
    n("Kernel", "eql?", 1, 1, eql).guard(Guard::None),
    n("Kernel", "hash", 0, 0, hash),
    n("Kernel", "is_a?", 1, 1, is_a).guard(Guard::None),
    n("Kernel", "kind_of?", 1, 1, is_a).guard(Guard::None),
    n("Kernel", "instance_of?", 1, 1, instance_of).guard(Guard::None),
    n("Kernel", "itself", 0, 0, itself).guard(Guard::None),
    n("Kernel", "to_s", 0, 0, to_s).guard(Guard::None),
    n("Kernel", "inspect", 0, 0, inspect),
    private("Kernel", "instance_variables_to_inspect", 0, 0, crate::basic::nothing).guard(Guard::None),
    private("Kernel", "respond_to_missing?", 2, 2, no).guard(Guard::None),
    n("Kernel", "respond_to?", 1, 2, respond_to).guard(Guard::None),
    intrinsic("__any_to_s", 1, 1, |cx, _, a| to_s(cx, a[0], &[])).guard(Guard::None),
    intrinsic("__describe_type", 1, 1, describe_type).guard(Guard::None),
    intrinsic("__long", 1, 1, long).guard(Guard::None),
    intrinsic("__cint", 1, 1, cint).guard(Guard::None),
    intrinsic("__describe_class", 1, 1, describe_class).guard(Guard::None),
    intrinsic("__describe", 1, 1, describe).guard(Guard::None),
    intrinsic("__class_of", 1, 1, |cx, _, a| Ok(cx.class_of(a[0]).val())).guard(Guard::None),
    intrinsic("__singleton?", 1, 1, has_singleton).guard(Guard::None),
    intrinsic("__special?", 1, 1, special).guard(Guard::None),
    intrinsic("__freeze", 1, 1, |cx, _, a| freeze(cx, a[0], &[])),
    intrinsic("__class_name", 1, 1, class_name).guard(Guard::None),
    n("NilClass", "to_s", 0, 0, nil_to_s),
    n("NilClass", "inspect", 0, 0, nil_inspect),
    n("NilClass", "to_a", 0, 0, |cx, _, _| Ok(cx.array(&[]))),
    n("NilClass", "to_h", 0, 0, |cx, _, _| Ok(cx.hash())),
    n("NilClass", "to_i", 0, 0, |_, _, _| Ok(Value::fix(0))),
    n("NilClass", "to_f", 0, 0, |cx, _, _| Ok(cx.float(0.0))),
    n("NilClass", "&", 1, 1, no1),
    n("NilClass", "|", 1, 1, truth),
    n("NilClass", "=~", 1, 1, |_, _, _| Ok(Value::NIL)),
    n("NilClass", "===", 1, 1, same),
    n("TrueClass", "to_s", 0, 0, true_to_s),
    n("TrueClass", "inspect", 0, 0, true_to_s),
    n("TrueClass", "&", 1, 1, truth),
    n("TrueClass", "|", 1, 1, yes),
    n("TrueClass", "^", 1, 1, |_, _, a| Ok(Value::bool(!a[0].truthy()))),
    n("TrueClass", "===", 1, 1, same),
    n("FalseClass", "to_s", 0, 0, false_to_s),
    n("FalseClass", "inspect", 0, 0, false_to_s),
    n("FalseClass", "&", 1, 1, no1),
    n("FalseClass", "|", 1, 1, truth),
    n("FalseClass", "^", 1, 1, truth),
    n("FalseClass", "===", 1, 1, same),
    n("NilClass", "^", 1, 1, truth),
];

fn class(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(cx.real_class(recv).val())
}
fn singleton_class(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    match cx.singleton_class(recv) {
        Some(c) => Ok(c.val()),
        None => Err(cx.type_error("can't define singleton")),
    }
}
fn frozen_p(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(recv.frozen()))
}
fn freeze(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    if let Some(h) = recv.header() {
        h.set(flag::FROZEN);
        // A frozen object takes no more singleton methods either.
        if let Some(s) = h.class().as_class() {
            if s.is_singleton() && s.data.attached == recv {
                s.hdr.set(flag::FROZEN);
            }
        }
    }
    let _ = cx;
    Ok(recv)
}
fn no(_: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::FALSE)
}
fn no1(_: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::FALSE)
}
fn yes(_: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::TRUE)
}
fn truth(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(a[0].truthy()))
}
fn same(_: &mut Cx, recv: Value, a: &[Value]) -> R {
    Ok(Value::bool(recv == a[0]))
}
fn case_eq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if recv == args[0] {
        return Ok(Value::TRUE);
    }
    if is_identity_eq(cx, recv) {
        return Ok(Value::FALSE);
    }
    cx.plain_eq(recv, args[0]).map(Value::bool).ok_or(Exit::Miss)
}
fn cmp(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if recv == args[0] {
        return Ok(Value::fix(0));
    }
    if is_identity_eq(cx, recv) {
        return Ok(Value::NIL);
    }
    match cx.plain_eq(recv, args[0]) {
        Some(b) => Ok(if b { Value::fix(0) } else { Value::NIL }),
        None => Err(Exit::Miss),
    }
}
fn eql(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let _ = cx;
    Ok(Value::bool(recv == args[0]))
}
/// Identity hash; equal to what hash tables compute for such a key.
fn hash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    match cx.plain_hash(recv) {
        Some(h) => Ok(Value::fix(h as i64)),
        None => {
            let h = cx.hash_start(recv.bits(), 0);
            Ok(cx.hash_end(h))
        }
    }
}
fn is_a(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let c = cx.arg_class(args, 0)?;
    Ok(Value::bool(cx.is_a(recv, c)))
}
fn instance_of(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let c = cx.arg_class(args, 0)?;
    Ok(Value::bool(cx.real_class(recv) == c))
}
fn itself(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(recv)
}
fn to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = cx.any_to_s(recv);
    Ok(cx.str(&s))
}
/// Objects without instance variables; the twin walks those that have some.
fn inspect(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let m = cx.intern("instance_variables_to_inspect");
    if cx.has_method(recv, m) && !cx.builtin(recv, m) {
        return Err(Exit::Miss);
    }
    if cx.ivars(recv).iter().any(|p| !cx.hidden_ivar(p.0)) {
        return Err(Exit::Miss);
    }
    to_s(cx, recv, args)
}
fn respond_to(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let name = cx.arg_name(args, 0)?;
    let all = args.get(1).is_some_and(|v| v.truthy());
    let class = cx.class_of(recv);
    let i = cx.find_method(class, name);
    if i != NO_METHOD {
        if all || cx.method(i).vis == Vis::Public {
            return Ok(Value::TRUE);
        }
    }
    if cx.refined_for_caller(class, name).is_some_and(|m| all || cx.method(m).vis == Vis::Public) {
        return Ok(Value::TRUE);
    }
    let missing = sym::RESPOND_TO_MISSING;
    if cx.builtin(recv, missing) { Ok(Value::FALSE) } else { Err(Exit::Miss) }
}
/// A number as one of 64 bits, or a RangeError; undef for what has to be asked for its to_int.
fn long(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match cx.arg_i64(a, 0) {
        Ok(i) => Ok(cx.int(i)),
        Err(Exit::Convert(..)) => Ok(Value::UNDEF),
        Err(e) => Err(e),
    }
}
/// The same as one of C's int.
fn cint(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match cx.arg_c_int(a, 0) {
        Ok(i) => Ok(Value::fix(i as i64)),
        Err(Exit::Convert(..)) => Ok(Value::UNDEF),
        Err(e) => Err(e),
    }
}
fn describe_type(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.describe_type(a[0]);
    Ok(cx.str(&s))
}
fn describe_class(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.real_class(a[0]);
    let s = cx.class_name(c);
    Ok(cx.str(&s))
}
fn describe(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.describe(a[0]);
    Ok(cx.str(&s))
}
fn class_name(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match a[0].as_class() {
        Some(c) => {
            let s = cx.class_name(c);
            Ok(cx.str(&s))
        }
        None => Ok(Value::NIL),
    }
}
fn has_singleton(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.class_of(a[0]);
    Ok(Value::bool(c.is_singleton() && c.data.attached == a[0]))
}
/// Values that are always the same object: no dup, no instance variables.
fn special(_: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = a[0];
    Ok(Value::bool(!v.is_heap() || matches!(v.kind(), Some(Kind::Float | Kind::Big | Kind::Pair))))
}

/// The frozen strings "", "true", "false" and "nil": the same object each time.
#[derive(Default)]
struct Words {
    made: Vec<(&'static str, Value)>,
}
fn word(cx: &mut Cx, w: &'static str, frozen: bool) -> R {
    if !frozen {
        return Ok(cx.str_ascii(w));
    }
    if let Some(p) = cx.state::<Words>().made.iter().find(|p| p.0 == w) {
        return Ok(p.1);
    }
    let s = cx.str_ascii(w);
    if let Some(h) = s.header() {
        h.set(flag::FROZEN);
    }
    cx.heap.publish(s);
    cx.keep(s);
    cx.state::<Words>().made.push((w, s));
    Ok(s)
}
fn nil_to_s(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    word(cx, "", true)
}
fn nil_inspect(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    word(cx, "nil", false)
}
fn true_to_s(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    word(cx, "true", true)
}
fn false_to_s(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    word(cx, "false", true)
}
