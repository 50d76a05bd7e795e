//! Module: names, ancestry, comparison, mixing in.

pub(crate) mod class;
pub(crate) mod consts;
pub(crate) mod cvars;
pub(crate) mod method;
pub(crate) mod methods;

use kumi_vm::method::Body;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    n("Module", "name", 0, 0, name),
    n("Module", "to_s", 0, 0, to_s),
    n("Module", "inspect", 0, 0, to_s),
    n("Module", "ancestors", 0, 0, ancestors),
    n("Module", "included_modules", 0, 0, included_modules),
    n("Module", "include?", 1, 1, include_p),
    n("Module", "===", 1, 1, case_eq).guard(Guard::None),
    n("Module", "==", 1, 1, |_, r, a| Ok(Value::bool(r == a[0]))).guard(Guard::None),
    n("Module", "<", 1, 1, lt).guard(Guard::None),
    n("Module", "<=", 1, 1, le).guard(Guard::None),
    n("Module", ">", 1, 1, gt).guard(Guard::None),
    n("Module", ">=", 1, 1, ge).guard(Guard::None),
    n("Module", "<=>", 1, 1, cmp).guard(Guard::None),
    n("Module", "singleton_class?", 0, 0, singleton_p).guard(Guard::None),
    private("Module", "append_features", 1, 1, append_features),
    private("Module", "prepend_features", 1, 1, prepend_features),
    private("Module", "extend_object", 1, 1, extend_object),
    private("Module", "included", 1, 1, crate::basic::nothing).guard(Guard::None),
    private("Module", "extended", 1, 1, crate::basic::nothing).guard(Guard::None),
    private("Module", "prepended", 1, 1, crate::basic::nothing).guard(Guard::None),
    private("Module", "method_added", 1, 1, crate::basic::nothing).guard(Guard::None),
    private("Module", "method_removed", 1, 1, crate::basic::nothing).guard(Guard::None),
    private("Module", "method_undefined", 1, 1, crate::basic::nothing).guard(Guard::None),
    private("Module", "const_added", 1, 1, crate::basic::nothing).guard(Guard::None),
    intrinsic("__set_name", 2, 2, set_name).guard(Guard::Classes),
    intrinsic("__name_permanent", 1, 1, |cx, _, a| {
        let c = cx.arg_class(a, 0)?;
        Ok(Value::bool(c.data.name.is_some() && !c.data.temporary))
    })
    .guard(Guard::Classes),
    intrinsic("__module_p", 1, 1, |_, _, a| Ok(Value::bool(a[0].as_class().is_some_and(|c| c.role == Role::Module)))).guard(Guard::None),
    intrinsic("__refine", 2, 2, refine).guard(Guard::Classes),
    intrinsic("__refinements", 1, 1, refinements).guard(Guard::Classes),
    intrinsic("__refined", 1, 1, |cx, _, a| {
        let c = cx.arg_class(a, 0)?;
        Ok(c.data.refined.map_or(Value::NIL, |r| r.val()))
    })
    .guard(Guard::Classes),
    intrinsic("__refinement_owner", 1, 1, |cx, _, a| Ok(cx.arg_class(a, 0)?.data.attached)).guard(Guard::Classes),
    intrinsic("__import_methods", 2, 2, import_methods).guard(Guard::Classes),
];

/// The receiver, which the method table guarantees to be a class cell.
pub fn this(cx: &mut Cx, v: Value) -> Result<Gc<ClassObj>, Exit> {
    match v.as_class() {
        Some(c) => Ok(c),
        None => Err(cx.type_error("class or module required")),
    }
}

fn name(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = this(cx, recv)?;
    match &c.data.name {
        Some(n) => {
            let text = n.clone();
            // The same String each time.
            let kept = cx.ivar_get(recv, sym::IV_NAME);
            if kept.as_str().is_some_and(|s| s.bytes() == &*text) {
                return Ok(kept);
            }
            let v = cx.str_enc(&text, EncIndex::UTF_8);
            if let Some(h) = v.header() {
                h.set(flag::FROZEN);
            }
            cx.ivar_set(recv, sym::IV_NAME, v);
            Ok(v)
        }
        None => Ok(Value::NIL),
    }
}
fn to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = this(cx, recv)?;
    let s = cx.class_name(c);
    Ok(cx.str(&s))
}
fn ancestors(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = this(cx, recv)?;
    let v: Vec<Value> = c.data.mro.iter().map(|m| m.val()).collect();
    Ok(cx.array_vec(v))
}
fn included_modules(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = this(cx, recv)?;
    let v: Vec<Value> = c.data.mro.iter().filter(|m| **m != c && m.role == Role::Module).map(|m| m.val()).collect();
    Ok(cx.array_vec(v))
}
fn module_arg(cx: &mut Cx, v: Value) -> Result<Gc<ClassObj>, Exit> {
    match v.as_class() {
        Some(c) if c.role == Role::Module => Ok(c),
        _ => {
            let c = cx.real_class(v);
            let n = cx.class_name(c);
            Err(cx.type_error(&format!("wrong argument type {n} (expected Module)")))
        }
    }
}
fn include_p(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let c = this(cx, recv)?;
    let m = module_arg(cx, a[0])?;
    Ok(Value::bool(c != m && c.inherits(m)))
}
fn case_eq(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let c = this(cx, recv)?;
    Ok(Value::bool(cx.is_a(a[0], c)))
}
/// Some(true): `a` is below `b`, Some(false): above, None: unrelated.
fn order(cx: &mut Cx, a: Value, b: Value) -> Result<Option<bool>, Exit> {
    let x = this(cx, a)?;
    let Some(y) = b.as_class() else { return Err(cx.type_error("compared with non class/module")) };
    Ok(if x.inherits(y) {
        Some(true)
    } else if y.inherits(x) {
        Some(false)
    } else {
        None
    })
}
fn tri(o: Option<bool>, when: bool) -> Value {
    o.map_or(Value::NIL, |x| Value::bool(x == when))
}
fn lt(cx: &mut Cx, r: Value, a: &[Value]) -> R {
    let o = order(cx, r, a[0])?;
    Ok(if r == a[0] { Value::FALSE } else { tri(o, true) })
}
fn le(cx: &mut Cx, r: Value, a: &[Value]) -> R {
    let o = order(cx, r, a[0])?;
    Ok(if r == a[0] { Value::TRUE } else { tri(o, true) })
}
fn gt(cx: &mut Cx, r: Value, a: &[Value]) -> R {
    let o = order(cx, r, a[0])?;
    Ok(if r == a[0] { Value::FALSE } else { tri(o, false) })
}
fn ge(cx: &mut Cx, r: Value, a: &[Value]) -> R {
    let o = order(cx, r, a[0])?;
    Ok(if r == a[0] { Value::TRUE } else { tri(o, false) })
}
fn cmp(cx: &mut Cx, r: Value, a: &[Value]) -> R {
    if r == a[0] {
        return Ok(Value::fix(0));
    }
    if a[0].as_class().is_none() {
        return Ok(Value::NIL);
    }
    Ok(match order(cx, r, a[0])? {
        Some(true) => Value::fix(-1),
        Some(false) => Value::fix(1),
        None => Value::NIL,
    })
}
fn singleton_p(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = this(cx, recv)?;
    Ok(Value::bool(c.is_singleton()))
}

/// What include and prepend check before anything changes.
fn mixable(cx: &mut Cx, recv: Value, a: &[Value], what: &str) -> Result<(Gc<ClassObj>, Gc<ClassObj>), Exit> {
    let m = this(cx, recv)?;
    let c = cx.arg_class(a, 0)?;
    if m.role != Role::Module {
        return Err(cx.type_error("wrong argument type Class (expected Module)"));
    }
    if m.data.refined.is_some() {
        return Err(cx.type_error("wrong argument type refinement (expected Module)"));
    }
    cx.check_modifiable(c)?;
    if c.role == Role::Module && (m == c || m.inherits(c)) {
        return Err(cx.arg_error(&format!("cyclic {what} detected")));
    }
    Ok((m, c))
}
fn append_features(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let (m, c) = mixable(cx, recv, a, "include")?;
    if !c.inherits(m) {
        cx.include_module(c, m);
    }
    Ok(recv)
}
fn prepend_features(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let (m, c) = mixable(cx, recv, a, "prepend")?;
    cx.prepend_module(c, m);
    Ok(recv)
}
fn extend_object(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let m = this(cx, recv)?;
    if m.role != Role::Module {
        return Err(cx.type_error("wrong argument type Class (expected Module)"));
    }
    let Some(s) = cx.singleton_class(a[0]) else { return Err(cx.type_error("can't define singleton")) };
    cx.check_modifiable(s)?;
    let own: Vec<_> = match s.data.superclass {
        Some(up) => s.data.mro.iter().filter(|x| !up.data.mro.contains(x)).copied().collect(),
        None => s.data.mro.clone(),
    };
    if !own.contains(&m) {
        cx.include_module(s, m);
    }
    Ok(a[0])
}

/// A temporary name (nil: none).
fn set_name(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    match a[1].as_str() {
        Some(s) => {
            cx.heap.edit(c).data.name = Some(s.bytes().into());
            cx.heap.edit(c).data.temporary = true;
            rename_nested(cx, c, 0);
        }
        None => {
            cx.heap.edit(c).data.name = None;
            cx.heap.edit(c).data.temporary = false;
            let inner: Vec<Value> = c.data.consts.values().map(|k| k.value).collect();
            for m in inner.into_iter().filter_map(|v| v.as_class()).filter(|m| m.data.temporary) {
                cx.heap.edit(m).data.name = None;
                cx.heap.edit(m).data.temporary = false;
            }
        }
    }
    Ok(a[0])
}

/// Modules below a temporarily named one carry its name.
fn rename_nested(cx: &mut Cx, outer: Gc<ClassObj>, depth: u32) {
    let prefix = cx.class_name(outer);
    let inner: Vec<(Sym, Value)> = outer.data.consts.iter().map(|(s, k)| (*s, k.value)).collect();
    for (s, v) in inner {
        if let Some(m) = v.as_class().filter(|m| m.data.temporary && depth < 100) {
            cx.heap.edit(m).data.name = Some(format!("{prefix}::{}", cx.sym_name(s)).into_bytes().into());
            rename_nested(cx, m, depth + 1);
        }
    }
}

/// The refinement of class `args[1]` in module `args[0]`, made when missing.
fn refine(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (m, c) = (cx.arg_class(a, 0)?, cx.arg_class(a, 1)?);
    if let Some(p) = m.data.refinements.iter().find(|p| p.0 == c) {
        return Ok(p.1.val());
    }
    let r = cx.new_module();
    r.hdr.set_class(cx.k.refinement.val());
    cx.heap.edit(r).data.refined = Some(c);
    cx.heap.edit(r).data.attached = m.val();
    cx.heap.before_store_all(m.val(), &[c.val(), r.val()]);
    cx.heap.edit(m).data.refinements.push((c, r));
    Ok(r.val())
}
fn refinements(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let v: Vec<Value> = c.data.refinements.iter().map(|p| p.1.val()).collect();
    Ok(cx.array_vec(v))
}
/// Copies the methods of a module that were written with `def` into a refinement; any other is an ArgumentError.
fn import_methods(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (to, from) = (cx.arg_class(a, 0)?, cx.arg_class(a, 1)?);
    for name in from.data.method_order.clone() {
        let Some(&i) = from.data.methods.get(&name) else { continue };
        let mut m = cx.method(i).clone();
        if m.builtin || !matches!(m.body, Body::Code(_)) || m.called != m.name {
            let (n, f) = (cx.sym_name(name), cx.class_name(from));
            return Err(cx.arg_error(&format!("Can't import method which is not defined with Ruby code: {f}#{n}")));
        }
        m.owner = from;
        if let Some(place) = cx.copy_method(from, to, name, &m) {
            // The copies see each other, as if they had been written in the refinement.
            if let Some(refined) = to.data.refined {
                let pair = cx.array(&[refined.val(), to.val()]);
                let mut all = vec![pair];
                if let Some(old) = place.refinements.as_array() {
                    all.extend(old.seen());
                }
                let all = cx.array_vec(all);
                // Such a cell is never private, new as it is.
                cx.heap.before_store(place.val(), all);
                cx.heap.edit(place).refinements = all;
            }
        }
    }
    Ok(a[0])
}
