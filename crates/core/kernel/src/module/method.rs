//! Method and UnboundMethod: what can be asked of them. Calling them is the loop's.

use crate::module::methods::undefined;
use kumi_vm::method::Body;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    n("Method", "arity", 0, 0, arity),
    n("UnboundMethod", "arity", 0, 0, arity),
    n("Method", "name", 0, 0, name),
    n("UnboundMethod", "name", 0, 0, name),
    n("Method", "original_name", 0, 0, original_name),
    n("UnboundMethod", "original_name", 0, 0, original_name),
    n("Method", "owner", 0, 0, owner),
    n("UnboundMethod", "owner", 0, 0, owner),
    n("Method", "receiver", 0, 0, receiver),
    n("Method", "parameters", 0, 0, parameters),
    n("UnboundMethod", "parameters", 0, 0, parameters),
    n("Method", "source_location", 0, 0, source_location),
    n("UnboundMethod", "source_location", 0, 0, source_location),
    n("Method", "unbind", 0, 0, unbind),
    n("UnboundMethod", "bind", 1, 1, bind),
    n("Method", "super_method", 0, 0, super_method),
    n("UnboundMethod", "super_method", 0, 0, super_method),
    n("Method", "==", 1, 1, equal),
    n("Method", "eql?", 1, 1, equal),
    n("UnboundMethod", "==", 1, 1, equal),
    n("UnboundMethod", "eql?", 1, 1, equal),
    n("Method", "hash", 0, 0, hash),
    n("UnboundMethod", "hash", 0, 0, hash),
    n("Module", "instance_method", 1, 1, |cx, r, a| instance_method(cx, r, a, false)),
    n("Module", "public_instance_method", 1, 1, |cx, r, a| instance_method(cx, r, a, true)),
    intrinsic("__method_of", 3, 3, method_of).guard(Guard::Classes),
    intrinsic("__method_missing_of", 2, 2, method_missing_of).guard(Guard::Classes),
    intrinsic("__singleton_method_of", 2, 2, singleton_method_of).guard(Guard::Classes),
    intrinsic("__method_arity", 2, 2, arity_by_name),
    intrinsic("__method_class", 1, 1, |_, _, a| Ok(a[0].as_data::<MethodObj>().map_or(Value::NIL, |m| m.class.val()))),
];

fn this(cx: &mut Cx, v: Value) -> Result<MethodObj, Exit> {
    match v.as_data::<MethodObj>() {
        Some(m) => Ok(m.clone()),
        None => Err(cx.type_error("uninitialized method")),
    }
}
fn arity(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = this(cx, recv)?;
    Ok(Value::fix(cx.method_arity(m.method)? as i64))
}
fn name(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::sym(this(cx, recv)?.name))
}
fn original_name(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = this(cx, recv)?;
    Ok(Value::sym(if m.method == NO_METHOD { m.name } else { cx.method(m.method).name }))
}
fn owner(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(this(cx, recv)?.owner.val())
}
fn receiver(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(this(cx, recv)?.recv)
}
fn parameters(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = this(cx, recv)?;
    let list = cx.method_parameters(m.method)?;
    let mut out = Vec::with_capacity(list.len());
    for (kind, name) in list {
        let k = cx.sym(kind.name());
        out.push(match name {
            Some(n) => cx.array(&[k, Value::sym(n)]),
            None => cx.array(&[k]),
        });
    }
    Ok(cx.array_vec(out))
}
fn source_location(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = this(cx, recv)?;
    match cx.method_code(m.method)? {
        Some(c) if !c.system => {
            let f = cx.str(&c.path);
            Ok(cx.array(&[f, Value::fix(c.line as i64)]))
        }
        _ => Ok(Value::NIL),
    }
}
fn unbind(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let mut m = this(cx, recv)?;
    m.recv = Value::UNDEF;
    let c = cx.k.unbound_method;
    Ok(cx.data(c, m))
}
fn bind(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let mut m = this(cx, recv)?;
    if m.owner.role != Role::Module && !cx.is_a(a[0], m.owner) {
        if m.owner.is_singleton() {
            return Err(cx.type_error("singleton method called for a different object"));
        }
        let n = cx.class_name(m.owner);
        return Err(cx.type_error(&format!("bind argument must be an instance of {n}")));
    }
    m.recv = a[0];
    m.class = cx.class_of(a[0]);
    let c = cx.k.method;
    Ok(cx.data(c, m))
}
fn super_method(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = this(cx, recv)?;
    if m.method == NO_METHOD {
        return Ok(Value::NIL);
    }
    let name = cx.method(m.method).name;
    let i = cx.next_method(m.class, m.method, name);
    if i == NO_METHOD {
        return Ok(Value::NIL);
    }
    Ok(cx.method_object(m.recv, m.class, name, i))
}
/// Do two entries run the same definition?
fn same_definition(cx: &Cx, a: u32, b: u32) -> bool {
    if a == b {
        return true;
    }
    if a == NO_METHOD || b == NO_METHOD {
        return false;
    }
    let (x, y) = (cx.method(a), cx.method(b));
    // Natives are told apart by their function, whatever their prelude twins are.
    if let (Some(f), Some(g)) = (x.native, y.native) {
        return std::ptr::fn_addr_eq(f, g);
    }
    match (&x.body, &y.body) {
        (Body::Code(p), Body::Code(q)) => std::sync::Arc::ptr_eq(p, q),
        (Body::Lazy(p), Body::Lazy(q)) => p == q,
        (Body::Native, Body::Native) => x.native.map(|f| f as usize) == y.native.map(|f| f as usize),
        (Body::AttrGet(p), Body::AttrGet(q)) | (Body::AttrSet(p), Body::AttrSet(q)) => p == q,
        (Body::Proc(p), Body::Proc(q)) => p == q,
        (Body::Indexed(p), Body::Indexed(q)) => p == q,
        (Body::Special(p), Body::Special(q)) => p == q,
        _ => false,
    }
}
fn equal(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let x = this(cx, recv)?;
    let Some(y) = a[0].as_data::<MethodObj>().cloned() else { return Ok(Value::FALSE) };
    if cx.real_class(recv) != cx.real_class(a[0]) {
        return Ok(Value::FALSE);
    }
    let mut same = same_definition(cx, x.method, y.method);
    if !same {
        // An alias whose body was not called yet has the same code once it is compiled.
        let lazy = |cx: &Cx, m: u32| m != NO_METHOD && matches!(cx.method(m).body, Body::Lazy(_));
        if lazy(cx, x.method) || lazy(cx, y.method) {
            same = match (cx.method_code(x.method)?, cx.method_code(y.method)?) {
                (Some(p), Some(q)) => std::sync::Arc::ptr_eq(&p, &q),
                _ => false,
            };
        }
    }
    Ok(Value::bool(
        x.recv == y.recv
            && (x.owner == y.owner || origin(cx, x.method) == origin(cx, y.method))
            && same
            && (x.method != NO_METHOD || x.name == y.name),
    ))
}
/// Where the definition itself stands, whatever aliases it has.
fn origin(cx: &Cx, i: u32) -> Option<Gc<ClassObj>> {
    (i != NO_METHOD).then(|| cx.method(i).owner)
}
fn hash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = this(cx, recv)?;
    let what = if m.method == NO_METHOD {
        m.name.0 as u64
    } else {
        match &cx.method(m.method).body {
            Body::Code(c) => std::sync::Arc::as_ptr(c) as u64,
            Body::Native => cx.method(m.method).native.map_or(0, |f| f as usize as u64),
            Body::Lazy(i) => *i as u64,
            _ => cx.method(m.method).name.0 as u64,
        }
    };
    let h = cx.hash_start(what, m.recv.bits() as usize);
    Ok(cx.hash_end(h))
}
fn instance_method(cx: &mut Cx, recv: Value, a: &[Value], public: bool) -> R {
    let c = crate::module::this(cx, recv)?;
    let s = cx.arg_name(a, 0)?;
    let i = cx.refined_for_caller(c, s).unwrap_or_else(|| cx.find_method(c, s));
    if i == NO_METHOD {
        return Err(undefined(cx, c, s));
    }
    if public && cx.method(i).vis != Vis::Public {
        return Err(not_public(cx, c, s, i));
    }
    Ok(cx.method_object(Value::UNDEF, c, s, i))
}
fn not_public(cx: &mut Cx, c: Gc<ClassObj>, s: Sym, i: u32) -> Exit {
    let vis = if cx.method(i).vis == Vis::Private { "private" } else { "protected" };
    let kind = if c.role == Role::Module { "module" } else { "class" };
    let (m, n) = (cx.sym_name(s), cx.class_name(c));
    cx.name_error(&format!("method '{m}' for {kind} '{n}' is {vis}"), c.val(), s)
}
/// `__method_of(object, name, public only)`: a Method, or nil when there is none.
fn method_of(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    let c = cx.class_of(a[0]);
    let i = cx.refined_for_caller(c, s).unwrap_or_else(|| cx.find_method(c, s));
    if i == NO_METHOD {
        return Ok(Value::NIL);
    }
    if a[2].truthy() && cx.method(i).vis != Vis::Public {
        let c = cx.real_class(a[0]);
        return Err(not_public(cx, c, s, i));
    }
    Ok(cx.method_object(a[0], c, s, i))
}
/// A Method that calls method_missing: for names only respond_to_missing? knows.
fn method_missing_of(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    let c = cx.real_class(a[0]);
    Ok(cx.method_object(a[0], c, s, NO_METHOD))
}
fn singleton_method_of(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    let c = cx.class_of(a[0]);
    if c.is_singleton() && c.data.attached == a[0] {
        for m in c.data.mro.clone() {
            if m.role == Role::Class || (m.is_singleton() && m != c) {
                break;
            }
            if let Some(&i) = m.data.methods.get(&s) {
                if matches!(cx.method(i).body, Body::Undef) {
                    break;
                }
                return Ok(cx.method_object(a[0], c, s, i));
            }
        }
    }
    Ok(Value::NIL)
}
/// Arity of `object.name`; nil when it has no such method.
fn arity_by_name(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    let c = cx.class_of(a[0]);
    let i = cx.find_method(c, s);
    if i == NO_METHOD {
        return Ok(Value::NIL);
    }
    let i = cx.real_method(c, i);
    Ok(Value::fix(cx.method_arity(i)? as i64))
}
