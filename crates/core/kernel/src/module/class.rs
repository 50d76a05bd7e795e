//! Class: allocation, `new`, superclass and the tree below a class.

use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    n("Class", "allocate", 0, 0, allocate).guard(Guard::None),
    n("Class", "superclass", 0, 0, superclass).guard(Guard::None),
    n("Class", "subclasses", 0, 0, subclasses),
    n("Class", "attached_object", 0, 0, attached_object),
    private("Class", "inherited", 1, 1, crate::basic::nothing).guard(Guard::None),
    intrinsic("__allocate", 1, 1, |cx, _, a| {
        let c = cx.arg_class(a, 0)?;
        cx.allocate(c)
    })
    .guard(Guard::None),
    intrinsic("__class_link", 2, 2, class_link).guard(Guard::Classes),
    intrinsic("__class_linked", 1, 1, |cx, _, a| {
        let c = cx.arg_class(a, 0)?;
        Ok(Value::bool(c.data.superclass.is_some() || c == cx.k.basic_object))
    })
    .guard(Guard::Classes),
    intrinsic("__attached", 1, 1, |cx, _, a| {
        let c = cx.arg_class(a, 0)?;
        Ok(if c.is_singleton() { c.data.attached } else { Value::UNDEF })
    })
    .guard(Guard::Classes),
];

fn allocate(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let Some(c) = recv.as_class() else { return Err(cx.type_error("class required")) };
    cx.allocate(c)
}
fn superclass(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let Some(c) = recv.as_class() else { return Ok(Value::NIL) };
    match c.data.superclass {
        Some(s) => Ok(s.val()),
        None if c == cx.k.basic_object => Ok(Value::NIL),
        None => Err(cx.type_error("uninitialized class")),
    }
}
/// Direct subclasses, youngest first; singleton classes are not told.
fn subclasses(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let Some(c) = recv.as_class() else { return Ok(Value::NIL) };
    let mut v: Vec<Value> =
        c.data.dependents.iter().filter(|d| d.role == Role::Class && d.data.superclass == Some(c)).map(|d| d.val()).collect();
    v.reverse();
    Ok(cx.array_vec(v))
}
fn attached_object(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let Some(c) = recv.as_class() else { return Ok(Value::NIL) };
    if c.is_singleton() {
        return Ok(c.data.attached);
    }
    let n = cx.class_name(c);
    Err(cx.type_error(&format!("'{n}' is not a singleton class")))
}

/// Puts the fresh class `c` below `sup`.
pub fn link(cx: &mut Cx, c: Gc<ClassObj>, sup: Gc<ClassObj>) {
    let (c, sup) = (c, sup);
    cx.heap.before_store(c.val(), sup.val());
    cx.heap.edit(c).data.superclass = Some(sup);
    cx.heap.edit(c).data.instance = sup.data.instance;
    c.slots.set(sup.slots.get());
    cx.heap.edit(sup).data.dependents.push(c);
    cx.relink(c);
    let meta = cx.class_of(sup.val());
    if meta.is_singleton() {
        cx.singleton_class(c.val());
    }
}
/// `Class#initialize` without hook and block.
fn class_link(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    if c.data.superclass.is_some() || c == cx.k.basic_object {
        return Err(cx.type_error("already initialized class"));
    }
    let Some(s) = a[1].as_class().filter(|s| s.is_class()) else {
        let d = cx.describe(a[1]);
        return Err(cx.type_error(&format!("superclass must be an instance of Class (given {d})")));
    };
    if s.is_singleton() {
        return Err(cx.type_error("can't make subclass of singleton class"));
    }
    if s == cx.k.class {
        return Err(cx.type_error("can't make subclass of Class"));
    }
    if s.data.superclass.is_none() && s != cx.k.basic_object {
        return Err(cx.type_error("can't inherit uninitialized class"));
    }
    link(cx, c, s);
    Ok(a[0])
}
