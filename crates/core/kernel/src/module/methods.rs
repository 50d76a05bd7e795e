//! A module's method table as Ruby sees it: lists, visibility, alias, remove, undef, attributes.
//!
//! Natives here change the table; the prelude calls the hooks (`method_added`, ...) afterwards.

use crate::module::this;
use kumi_vm::method::{Body, Method};
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__method_list", 3, 3, method_list).guard(Guard::Classes),
    intrinsic("__singleton_list", 2, 2, singleton_list).guard(Guard::Classes),
    intrinsic("__undefined_list", 1, 1, undefined_list).guard(Guard::Classes),
    intrinsic("__method_vis", 3, 3, method_vis).guard(Guard::Classes),
    intrinsic("__alias", 3, 3, alias).guard(Guard::Classes),
    intrinsic("__remove_method", 2, 2, remove).guard(Guard::Classes),
    intrinsic("__undef_method", 2, 2, undef).guard(Guard::Classes),
    intrinsic("__set_vis", 3, 3, set_vis).guard(Guard::Classes),
    intrinsic("__module_function", 2, 2, module_function).guard(Guard::Classes),
    intrinsic("__attr", 4, 4, attr).guard(Guard::Classes),
    intrinsic("__discards", 2, 2, discards).guard(Guard::Classes),
    intrinsic("__refined_vis", 2, 2, refined_vis).guard(Guard::Classes),
    intrinsic("__ruby2_keywords", 2, 2, ruby2_keywords).guard(Guard::Classes),
];

/// Bits of the visibilities a list wants.
const PUBLIC: i64 = 1;
const PRIVATE: i64 = 2;
const PROTECTED: i64 = 4;

fn bit(v: Vis) -> i64 {
    match v {
        Vis::Public => PUBLIC,
        Vis::Private => PRIVATE,
        Vis::Protected => PROTECTED,
    }
}

/// Names of the methods in `classes`, nearest definition first; one that is undefined or of another
/// visibility hides those behind it.
fn collect(cx: &Cx, classes: &[Gc<ClassObj>], want: i64, seen: &mut Vec<Sym>, out: &mut Vec<Value>) {
    let mut known: std::collections::HashSet<u32> = seen.iter().map(|s| s.0).collect();
    for c in classes {
        for name in &c.data.method_order {
            let Some(&i) = c.data.methods.get(name) else { continue };
            if !known.insert(name.0) {
                continue;
            }
            seen.push(*name);
            let m = cx.method(i);
            if !matches!(m.body, Body::Undef) && want & bit(m.vis) != 0 {
                out.push(Value::sym(*name));
            }
        }
    }
}

/// `__method_list(class, visibility bits, scope)`; scope: 0 own methods, 1 all inherited
/// ones, 2 those of the singleton class and the class.
fn method_list(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let (want, scope) = (cx.arg_i64(a, 1)?, cx.arg_i64(a, 2)?);
    let classes: Vec<_> = match scope {
        0 => vec![c],
        1 => {
            // A refinement stands in front of what it refines.
            let behind = c.data.refined.map_or(Vec::new(), |r| r.data.mro.clone());
            c.data.mro.iter().copied().chain(behind).collect()
        }
        _ => {
            let stop = c.data.mro.iter().position(|m| m.role == Role::Class).map_or(c.data.mro.len(), |p| p + 1);
            c.data.mro[..stop].to_vec()
        }
    };
    let (mut seen, mut out) = (Vec::new(), Vec::new());
    collect(cx, &classes, want, &mut seen, &mut out);
    Ok(cx.array_vec(out))
}
/// `__discards(module, name)`: [warnings, those of performance] that a definition of this name there is worth; nil when there are none.
fn discards(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    let told = cx.discarding(c, name);
    Ok(cx.discards_value(told))
}
/// `__refined_vis(object, name)`: 1, 2 or 4 (public, private, protected) of what a refinement in force at the nearest user
/// frame makes of this name; nil when none does.
fn refined_vis(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.class_of(a[0]);
    let name = cx.arg_name(a, 1)?;
    Ok(cx.refined_for_caller(c, name).map_or(Value::NIL, |m| Value::fix(bit(cx.method(m).vis))))
}
/// The class itself and what is prepended to it.
fn own_part(c: Gc<ClassObj>) -> Vec<Gc<ClassObj>> {
    match c.data.mro.iter().position(|m| *m == c) {
        Some(p) => c.data.mro[..=p].to_vec(),
        None => vec![c],
    }
}
/// `__singleton_list(object, all)`: public and protected singleton methods; `all`: of modules it was
/// extended by and, for classes, of the superclasses' singleton classes too.
fn singleton_list(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.class_of(a[0]);
    let all = a[1].truthy();
    let (mut seen, mut out) = (Vec::new(), Vec::new());
    let own = c.is_singleton() && c.data.attached == a[0];
    if own && !all {
        collect(cx, &own_part(c), PUBLIC | PROTECTED, &mut seen, &mut out);
    } else if c.is_singleton() && (own || a[0].as_class().is_some_and(|k| k.is_class()) && all) {
        // Everything that the first ordinary class up the chain does not have.
        let mut up = c;
        while let Some(s) = up.data.superclass.filter(|_| up.is_singleton()) {
            up = s;
        }
        let classes: Vec<_> = c.data.mro.iter().filter(|m| !up.data.mro.contains(m)).copied().collect();
        collect(cx, &classes, PUBLIC | PROTECTED, &mut seen, &mut out);
    }
    Ok(cx.array_vec(out))
}
fn undefined_list(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let mut out = Vec::new();
    for name in &c.data.method_order {
        if let Some(&i) = c.data.methods.get(name) {
            if matches!(cx.method(i).body, Body::Undef) {
                out.push(Value::sym(*name));
            }
        }
    }
    Ok(cx.array_vec(out))
}
/// `__method_vis(class, name, inherit)`: 1, 2 or 4 (public, private, protected); nil when there is none.
fn method_vis(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    let i = if a[2].truthy() { cx.find_method(c, name) } else { own_entry(cx, c, name) };
    Ok(if i == NO_METHOD { Value::NIL } else { Value::fix(bit(cx.method(i).vis)) })
}
/// The entry in the class itself or what is prepended to it; undefined ones are none.
fn own_entry(cx: &Cx, c: Gc<ClassObj>, name: Sym) -> u32 {
    own_part(c)
        .iter()
        .find_map(|m| m.data.methods.get(&name).copied())
        .filter(|i| !matches!(cx.method(*i).body, Body::Undef))
        .unwrap_or(NO_METHOD)
}
/// Finds a method for alias, undef and visibility changes: modules look into Object too.
fn lookup(cx: &mut Cx, c: Gc<ClassObj>, name: Sym) -> u32 {
    let i = cx.find_method(c, name);
    if let Some(r) = c.data.refined.filter(|_| i == NO_METHOD) {
        // A refinement stands in front of what it refines.
        let i = cx.find_method(r, name);
        return if i == NO_METHOD { i } else { cx.real_method(r, i) };
    }
    if i == NO_METHOD && c.role == Role::Module {
        let o = cx.k.object;
        return cx.find_method(o, name);
    }
    i
}
/// Names whose methods are private whatever is in force.
fn special_name(cx: &Cx, name: Sym) -> bool {
    matches!(cx.syms.name(name), b"initialize" | b"initialize_copy" | b"initialize_clone" | b"initialize_dup" | b"respond_to_missing?")
}
/// "undefined method 'foo' for class 'Foo'"
pub fn undefined(cx: &mut Cx, c: Gc<ClassObj>, name: Sym) -> Exit {
    let (m, n) = (cx.sym_name(name), cx.class_name(c));
    let kind = if c.role == Role::Module { "module" } else { "class" };
    cx.name_error(&format!("undefined method '{m}' for {kind} '{n}'"), c.val(), name)
}

/// `__alias(module, new, old)`
fn alias(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let (new, old) = (cx.arg_name(a, 1)?, cx.arg_name(a, 2)?);
    cx.check_modifiable(c)?;
    cx.alias_method(c, new, old)?;
    if special_name(cx, new) {
        change_vis(cx, c, new, Vis::Private)?;
    }
    Ok(Value::sym(new))
}
fn remove(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    cx.check_modifiable(c)?;
    let defined = c.data.methods.get(&name).is_some_and(|i| !matches!(cx.method(*i).body, Body::Undef));
    if !defined {
        let (m, n) = (cx.sym_name(name), cx.class_name(c));
        return Err(cx.name_error(&format!("method '{m}' not defined in {n}"), c.val(), name));
    }
    cx.heap.edit(c).data.methods.remove(&name);
    cx.heap.edit(c).data.method_order.retain(|s| *s != name);
    cx.touch(c);
    Ok(a[0])
}
fn undef(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    cx.check_modifiable(c)?;
    let i = lookup(cx, c, name);
    if i == NO_METHOD {
        let named = c.data.attached.as_class().filter(|_| c.is_singleton()).unwrap_or(c);
        return Err(undefined(cx, named, name));
    }
    let m = Method { body: Body::Undef, native: None, owner: c, vis: Vis::Public, builtin: false, ..cx.method(i).clone() };
    cx.add_method(c, name, m);
    Ok(a[0])
}
fn vis_of(cx: &mut Cx, a: &[Value], i: usize) -> Result<Vis, Exit> {
    Ok(match cx.arg_i64(a, i)? {
        PRIVATE => Vis::Private,
        PROTECTED => Vis::Protected,
        _ => Vis::Public,
    })
}
/// `__set_vis(module, name, visibility bit)`
fn set_vis(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    let vis = vis_of(cx, a, 2)?;
    cx.check_frozen(c.val())?;
    Ok(Value::bool(change_vis(cx, c, name, vis)?))
}
/// True when the module got an entry of its own by that.
fn change_vis(cx: &mut Cx, c: Gc<ClassObj>, name: Sym, vis: Vis) -> Result<bool, Exit> {
    let i = lookup(cx, c, name);
    if i == NO_METHOD {
        return Err(undefined(cx, c, name));
    }
    if cx.method(i).vis == vis {
        return Ok(false);
    }
    let old = cx.method(i).clone();
    let own = c.data.methods.get(&name).copied().filter(|k| !matches!(cx.method(*k).body, Body::Undef));
    let m = match own {
        Some(k) => Method { vis, ..cx.method(k).clone() },
        // The definition stands further up: only the visibility is this module's.
        None => Method { vis, body: Body::Zsuper, native: None, owner: c, called: name, builtin: old.builtin, ..old },
    };
    cx.add_method(c, name, m);
    Ok(own.is_none())
}
/// `__module_function(module, name)`: a public copy on the singleton class, the instance method private.
fn module_function(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    cx.check_frozen(c.val())?;
    let i = lookup(cx, c, name);
    if i == NO_METHOD {
        return Err(undefined(cx, c, name));
    }
    let real = cx.real_method(c, i);
    let mut m = cx.method(if real == NO_METHOD { i } else { real }).clone();
    m.vis = Vis::Public;
    let Some(s) = cx.singleton_class(c.val()) else { return Ok(Value::NIL) };
    m.owner = s;
    cx.add_method(s, name, m);
    change_vis(cx, c, name, Vis::Private)?;
    Ok(Value::NIL)
}
/// `__attr(module, name, writer?, visibility bit)`: defines a reader or writer; its name.
fn attr(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = this(cx, a[0])?;
    let name = cx.arg_name(a, 1)?;
    let vis = vis_of(cx, a, 3)?;
    let text = cx.syms.name(name).to_vec();
    if !crate::ivars::variable_name(&text, b"") {
        let t = String::from_utf8_lossy(&text).into_owned();
        return Err(cx.name_error(&format!("invalid attribute name '{t}'"), c.val(), name));
    }
    cx.check_modifiable(c)?;
    cx.check_method_room()?;
    let iv = cx.sym_of(&[&b"@"[..], &text].concat())?;
    let writer = a[2].truthy();
    let mid = if writer { cx.sym_of(&[&text[..], b"="].concat())? } else { name };
    let body = if writer { Body::AttrSet(iv) } else { Body::AttrGet(iv) };
    let m = Method { min: writer as u8, max: writer as i8, vis, ..Method::new(c, mid, body) };
    cx.add_method(c, mid, m);
    Ok(Value::sym(mid))
}
/// `__ruby2_keywords(module, name)`: nil, or why the method cannot have the flag.
fn ruby2_keywords(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    cx.check_modifiable(c)?;
    match c.data.methods.get(&name).copied() {
        Some(i) => {
            if let Some(code) = cx.method_code(i)? {
                let p = &code.params;
                if !p.rest || !p.kw.is_empty() || p.kwrest || p.post > 0 {
                    return Ok(cx.str("method accepts keywords or post arguments or method does not accept argument splat"));
                }
            }
            let mut m = cx.method(i).clone();
            m.ruby2_keywords = true;
            cx.add_method(c, name, m);
            Ok(Value::NIL)
        }
        None if lookup(cx, c, name) != NO_METHOD => Err(cx.name_error("method accessor is not ruby2_keywords", c.val(), name)),
        None => Err(undefined(cx, c, name)),
    }
}
