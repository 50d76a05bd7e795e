//! Class variables by name.

use crate::ivars::variable_name;
use crate::module::this;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    n("Module", "class_variable_get", 1, 1, get),
    n("Module", "class_variable_set", 2, 2, set),
    n("Module", "class_variable_defined?", 1, 1, defined),
    n("Module", "class_variables", 0, 1, list),
    n("Module", "remove_class_variable", 1, 1, remove),
];

fn name(cx: &mut Cx, recv: Value, a: &[Value]) -> Result<Sym, Exit> {
    let s = cx.arg_name(a, 0)?;
    if variable_name(cx.syms.name(s), b"@@") {
        return Ok(s);
    }
    let msg = format!("'{}' is not allowed as a class variable name", cx.sym_name(s));
    Err(crate::ivars::refused(cx, &msg, recv, a[0]))
}
/// Where variables of `c` may live: its ancestors; for a singleton class the attached class's too.
fn places(c: Gc<ClassObj>) -> Vec<Gc<ClassObj>> {
    let mut v = c.data.mro.clone();
    if c.is_singleton() {
        if let Some(a) = c.data.attached.as_class() {
            v.splice(1..1, a.data.mro.iter().copied());
        }
    }
    v
}
fn holder(c: Gc<ClassObj>, s: Sym) -> Option<Gc<ClassObj>> {
    // The furthest definition wins: one in a superclass overtakes.
    places(c).into_iter().rev().find(|m| m.data.cvars.iter().any(|p| p.0 == s))
}
fn get(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let c = this(cx, recv)?;
    let s = name(cx, recv, a)?;
    if let (Some(top), Some(near)) = (holder(c, s), places(c).into_iter().find(|m| m.data.cvars.iter().any(|p| p.0 == s))) {
        if top != near && top.role != Role::Module {
            let (v, a, b) = (cx.sym_name(s), cx.class_name(near), cx.class_name(top));
            return Err(cx.runtime_error(&format!("class variable {v} of {a} is overtaken by {b}")));
        }
    }
    if let Some(v) = holder(c, s).and_then(|h| h.data.cvars.iter().find(|p| p.0 == s).map(|p| p.1)) {
        return Ok(v);
    }
    let (v, n) = (cx.sym_name(s), cx.class_name(c));
    Err(cx.name_error(&format!("uninitialized class variable {v} in {n}"), recv, s))
}
fn set(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let c = this(cx, recv)?;
    let s = name(cx, recv, a)?;
    let h = holder(c, s).unwrap_or(c);
    cx.check_frozen(h.val())?;
    cx.heap.before_store(h.val(), a[1]);
    match h.data.cvars.iter().position(|p| p.0 == s) {
        Some(i) => cx.heap.edit(h).data.cvars[i].1 = a[1],
        None => cx.heap.edit(h).data.cvars.push((s, a[1])),
    }
    Ok(a[1])
}
fn defined(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let c = this(cx, recv)?;
    let s = name(cx, recv, a)?;
    Ok(Value::bool(holder(c, s).is_some()))
}
fn list(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let c = this(cx, recv)?;
    let inherit = a.first().is_none_or(|v| v.truthy());
    let from = if inherit { places(c) } else { vec![c] };
    let mut out: Vec<Value> = Vec::new();
    for m in from {
        for (s, _) in &m.data.cvars {
            let v = Value::sym(*s);
            if !out.contains(&v) {
                out.push(v);
            }
        }
    }
    Ok(cx.array_vec(out))
}
fn remove(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let c = this(cx, recv)?;
    let s = name(cx, recv, a)?;
    cx.check_frozen(recv)?;
    if let Some(i) = c.data.cvars.iter().position(|p| p.0 == s) {
        return Ok(cx.heap.edit(c).data.cvars.remove(i).1);
    }
    let (v, n) = (cx.sym_name(s), cx.class_name(c));
    let msg = if holder(c, s).is_some() { format!("cannot remove {v} for {n}") } else { format!("class variable {v} not defined for {n}") };
    Err(cx.name_error(&msg, recv, s))
}
