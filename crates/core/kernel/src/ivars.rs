//! Instance variables by name. Names that begin with `@__` belong to the runtime and are not listed.

use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    n("Kernel", "instance_variables", 0, 0, list),
    n("Kernel", "instance_variable_get", 1, 1, get).guard(Guard::None),
    n("Kernel", "instance_variable_set", 2, 2, set),
    n("Kernel", "instance_variable_defined?", 1, 1, defined).guard(Guard::None),
    n("Kernel", "remove_instance_variable", 1, 1, remove),
    intrinsic("__ivars_hidden", 1, 1, hidden),
    intrinsic("__ivar_names", 1, 1, |cx, _, a| list(cx, a[0], &[])),
    intrinsic("__ivar_remove", 2, 2, raw_remove),
    // __ivar_init(object, name, value): the variable's value, which is set to `value` when it had none, in one step.
    intrinsic("__ivar_init", 3, 3, |cx, _, a| {
        let s = cx.arg_name(a, 1)?;
        let old = cx.ivar_get(a[0], s);
        if old.truthy() && !old.is_undef() {
            return Ok(old);
        }
        cx.ivar_set(a[0], s, a[2]);
        Ok(a[2])
    })
    .guard(Guard::World),
    intrinsic("__ivar_raw", 2, 2, |cx, _, a| {
        let s = cx.arg_name(a, 1)?;
        Ok(cx.ivar_get(a[0], s))
    })
    .guard(Guard::None),
];

/// Is this a variable name after `sigil` (`@`, `@@`)?
pub fn variable_name(name: &[u8], sigil: &[u8]) -> bool {
    match name.strip_prefix(sigil) {
        Some([first, rest @ ..]) => {
            (first.is_ascii_alphabetic() || *first == b'_' || *first >= 128)
                && rest.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 128)
        }
        _ => false,
    }
}

fn name(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<Sym, Exit> {
    let s = cx.arg_name(args, 0)?;
    if variable_name(cx.syms.name(s), b"@") {
        return Ok(s);
    }
    let msg = format!("'{}' is not allowed as an instance variable name", cx.sym_name(s));
    Err(refused(cx, &msg, recv, args[0]))
}
/// NameError whose `name` is the object that was given.
pub fn refused(cx: &mut Cx, msg: &str, recv: Value, given: Value) -> Exit {
    let e = cx.make_exc(cx.k.name_error, msg);
    cx.ivar_set(e, sym::IV_NAME, given);
    cx.ivar_set(e, sym::IV_RECEIVER, recv);
    cx.raise(e)
}
fn list(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let v: Vec<Value> = cx.ivars(recv).into_iter().filter(|p| !cx.hidden_ivar(p.0)).map(|p| Value::sym(p.0)).collect();
    Ok(cx.array_vec(v))
}
fn hidden(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v: Vec<Value> = cx.ivars(a[0]).into_iter().map(|p| Value::sym(p.0)).collect();
    Ok(cx.array_vec(v))
}
fn raw_remove(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    Ok(cx.ivar_remove(a[0], s).unwrap_or(Value::NIL))
}
fn get(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = name(cx, recv, args)?;
    let v = cx.ivar_get(recv, s);
    Ok(if v.is_undef() { Value::NIL } else { v })
}
fn set(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = name(cx, recv, args)?;
    cx.check_frozen(recv)?;
    cx.ivar_set(recv, s, args[1]);
    Ok(args[1])
}
fn defined(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = name(cx, recv, args)?;
    Ok(Value::bool(!cx.ivar_get(recv, s).is_undef()))
}
fn remove(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = name(cx, recv, args)?;
    cx.check_frozen(recv)?;
    match cx.ivar_remove(recv, s) {
        Some(v) => Ok(v),
        None => {
            let msg = format!("instance variable {} not defined for {}", cx.sym_name(s), cx.describe_ivar_owner(recv));
            Err(cx.name_error(&msg, recv, s))
        }
    }
}

/// How "not defined for" names the object: by its plain description.
trait Owner {
    fn describe_ivar_owner(&mut self, v: Value) -> String;
}
impl Owner for Cx {
    fn describe_ivar_owner(&mut self, v: Value) -> String {
        match v.as_class() {
            Some(c) => self.class_name(c),
            None => self.any_to_s(v),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_their_sigil_and_a_name() {
        for (name, instance, class) in [
            ("@a", true, false),
            ("@A", true, false),
            ("@_", true, false),
            ("@a1", true, false),
            ("@\u{e9}", true, false),
            ("@1", false, false),
            ("@", false, false),
            ("a", false, false),
            ("$a", false, false),
            ("@a-b", false, false),
            ("@a?", false, false),
            ("", false, false),
            ("@@a", false, true),
            ("@@_b", false, true),
            ("@@1", false, false),
            ("@@", false, false),
        ] {
            let b = name.as_bytes();
            assert_eq!((variable_name(b, b"@"), variable_name(b, b"@@")), (instance, class), "{name}");
        }
    }
}
