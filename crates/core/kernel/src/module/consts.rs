//! Constants by name, seen from a module.

use crate::module::this;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    n("Module", "const_get", 1, 2, const_get),
    n("Module", "const_defined?", 1, 2, const_defined),
    n("Module", "constants", 0, 1, constants),
    intrinsic("__const_names", 2, 2, const_names).guard(Guard::Classes),
    intrinsic("__const_find", 4, 4, const_find).guard(Guard::Classes),
    intrinsic("__const_own", 2, 2, const_own).guard(Guard::Classes),
    intrinsic("__const_put", 3, 3, const_put).guard(Guard::Classes),
    intrinsic("__const_remove", 2, 2, const_remove).guard(Guard::Classes),
    intrinsic("__const_flag", 4, 4, const_flag).guard(Guard::Classes),
    intrinsic("__const_place", 3, 3, const_place).guard(Guard::Classes),
];

/// Is it a constant's name: an upper-case letter, then identifier characters?
pub fn constant_name(name: &[u8]) -> bool {
    let Ok(s) = std::str::from_utf8(name) else {
        // Another encoding: what is no ASCII counts as letters.
        return name.first().is_some_and(u8::is_ascii_uppercase)
            && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 128);
    };
    let mut it = s.chars();
    it.next().is_some_and(|c| c.is_uppercase() || ('\u{1c5}'..='\u{1f2}').contains(&c) && !c.is_lowercase())
        && it.all(|c| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii())
}
fn wrong(cx: &mut Cx, recv: Value, name: &[u8]) -> Exit {
    let s = match cx.sym_of(name) {
        Ok(s) => s,
        Err(x) => return x,
    };
    let msg = format!("wrong constant name {}", String::from_utf8_lossy(name));
    cx.name_error(&msg, recv, s)
}

/// One plain name that is there: its value. Paths, autoload, missing and deprecated constants are the twin's.
fn const_get(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let c = this(cx, recv)?;
    let Some(name) = a[0].as_sym() else { return Err(Exit::Miss) };
    if !constant_name(cx.syms.name(name)) {
        let t = cx.syms.name(name).to_vec();
        return Err(wrong(cx, recv, &t));
    }
    let inherit = a.get(1).is_none_or(|v| v.truthy());
    let found = if inherit { cx.find_const(c, name, true).map(|p| p.1) } else { c.data.consts.get(&name).cloned() };
    match found {
        Some(k) if !k.value.is_undef() && !k.deprecated && !cx.loads_elsewhere(&k) => Ok(k.value),
        _ => Err(Exit::Miss),
    }
}
fn const_defined(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let c = this(cx, recv)?;
    let Some(name) = a[0].as_sym() else { return Err(Exit::Miss) };
    let t = cx.syms.name(name).to_vec();
    if !constant_name(&t) {
        return Err(wrong(cx, recv, &t));
    }
    let inherit = a.get(1).is_none_or(|v| v.truthy());
    Ok(Value::bool(if inherit { cx.find_const(c, name, true).is_some() } else { c.data.consts.contains_key(&name) }))
}
/// Public constants of the module and (unless told otherwise) its ancestors below Object.
fn constants(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let c = this(cx, recv)?;
    let inherit = a.first().is_none_or(|v| v.truthy());
    let mut out: Vec<Value> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for m in c.data.mro.iter() {
        if *m == cx.k.object && c != cx.k.object {
            break;
        }
        if !inherit && *m != c {
            continue;
        }
        for s in &m.data.const_order {
            let Some(k) = m.data.consts.get(s) else { continue };
            let name = cx.syms.name(*s);
            if seen.insert(s.0) && !k.private && constant_name(name) {
                out.push(Value::sym(*s));
            }
        }
    }
    Ok(cx.array_vec(out))
}

/// `__const_names(name, receiver)`: the steps of a path as symbols, `nil` first when it starts at Object.
fn const_names(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let name = cx.arg_name(a, 0)?;
    let text = cx.syms.name(name).to_vec();
    if a[0].is_sym() {
        if !constant_name(&text) {
            return Err(wrong(cx, a[1], &text));
        }
        return Ok(cx.array(&[Value::sym(name)]));
    }
    let Ok(s) = std::str::from_utf8(&text) else {
        return if constant_name(&text) { Ok(cx.array(&[Value::sym(name)])) } else { Err(wrong(cx, a[1], &text)) };
    };
    let mut out = Vec::new();
    let mut rest = s;
    if let Some(r) = s.strip_prefix("::") {
        out.push(Value::NIL);
        rest = r;
    }
    for part in rest.split("::") {
        if !constant_name(part.as_bytes()) {
            return Err(wrong(cx, a[1], &text));
        }
        out.push(Value::sym(cx.sym_of(part.as_bytes())?));
    }
    Ok(cx.array_vec(out))
}

/// `__const_find(module, name, inherit, Object too)`: nil, or [owner, value (undef: autoload), private, deprecated, autoload path].
fn const_find(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    let object = cx.k.object;
    let found = if a[2].truthy() {
        cx.find_const(c, name, a[3].truthy()).map(|(o, k)| (o, k.clone()))
    } else {
        c.data.consts.get(&name).map(|k| (c, k.clone()))
    };
    let Some((owner, k)) = found else { return Ok(Value::NIL) };
    if owner == object && c != object && !a[3].truthy() {
        return Ok(Value::NIL);
    }
    let path = match &k.autoload {
        Some(p) => cx.str_enc(p, EncIndex::UTF_8),
        None => Value::NIL,
    };
    let value = if cx.loads_elsewhere(&k) { Value::UNDEF } else { k.value };
    Ok(cx.array(&[owner.val(), value, Value::bool(k.private), Value::bool(k.deprecated), path]))
}
/// Own value, undef when not there or only to be autoloaded.
fn const_own(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    Ok(c.data.consts.get(&name).map_or(Value::UNDEF, |k| k.value))
}
fn const_put(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    cx.check_frozen(c.val())?;
    let private = c.data.consts.get(&name).is_some_and(|k| k.private);
    cx.set_const(c, name, a[2]);
    if let Some(k) = cx.heap.edit(c).data.consts.get_mut(&name) {
        k.private = private;
    }
    Ok(a[2])
}
/// Removes an own constant; its value, nil for an autoload entry, undef when there was none.
fn const_remove(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    cx.check_frozen(c.val())?;
    match cx.heap.edit(c).data.consts.remove(&name) {
        Some(k) => {
            cx.heap.edit(c).data.const_order.retain(|s| *s != name);
            cx.const_changed(name);
            Ok(if k.value.is_undef() { Value::NIL } else { k.value })
        }
        None => Ok(Value::UNDEF),
    }
}
/// `__const_flag(module, name, :private / :deprecated, value)`
fn const_flag(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    cx.check_frozen(c.val())?;
    let which = cx.arg_name(a, 2)?;
    let private = cx.syms.name(which) == b"private";
    let on = a[3].truthy();
    let Some(k) = cx.heap.edit(c).data.consts.get_mut(&name) else {
        let (m, s) = (cx.class_name(c), cx.sym_name(name));
        let full = if c == cx.k.object { s } else { format!("{m}::{s}") };
        return Err(cx.name_error(&format!("constant {full} not defined"), c.val(), name));
    };
    if private {
        k.private = on;
    } else {
        k.deprecated = on;
    }
    cx.const_changed(name);
    Ok(Value::NIL)
}
/// `__const_place(module, name, [file, line] or nil)`: with nil reads the place of the definition.
fn const_place(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    if let Some(p) = a[2].as_array() {
        let file = p.get(0).map(|f| cx.text(f)).unwrap_or_default();
        let line = p.get(1).and_then(|l| l.as_fix()).unwrap_or(0);
        if let Some(k) = cx.heap.edit(c).data.consts.get_mut(&name) {
            k.file = Some(file.into());
            k.line = line.clamp(0, u32::MAX as i64) as u32;
        }
        return Ok(Value::NIL);
    }
    let place = c.data.consts.get(&name).map(|k| (k.file.clone(), k.line));
    match place {
        Some((Some(f), line)) => {
            let f = cx.str(&f);
            Ok(cx.array(&[f, Value::fix(line as i64)]))
        }
        Some((None, _)) => Ok(cx.array(&[])),
        None => Ok(Value::NIL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_begin_with_an_upper_case_letter() {
        let good = ["A", "Aa", "A1", "A_b", "\u{c9}a", "\u{1c5}x"];
        let bad = ["a", "_A", "A-b", "A?", "\u{e9}a", "", "A B", "1A", "A::B"];
        good.iter().for_each(|n| assert!(constant_name(n.as_bytes()), "{n}"));
        bad.iter().for_each(|n| assert!(!constant_name(n.as_bytes()), "{n}"));
        // What is no UTF-8 is in another encoding.
        assert!(constant_name(b"A\xE9") && !constant_name(b"\xC9a"));
    }
}
