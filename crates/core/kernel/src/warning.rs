//! Warning categories.

use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[intrinsic("__warning_get", 1, 1, get), intrinsic("__warning_set", 2, 2, set)];

/// Connects `$VERBOSE` and `$DEBUG` with the options.
pub fn hook(cx: &mut Cx) {
    fn verbose(cx: &mut Cx, _: Value, _: &[Value]) -> R {
        Ok([Value::NIL, Value::FALSE, Value::TRUE][cx.options.verbose.min(2) as usize])
    }
    fn set_verbose(cx: &mut Cx, _: Value, a: &[Value]) -> R {
        let v = a.last().copied().unwrap_or(Value::NIL);
        cx.options.verbose = if v.is_nil() { 0 } else { 1 + v.truthy() as u8 };
        Ok(v)
    }
    fn debug(cx: &mut Cx, _: Value, _: &[Value]) -> R {
        Ok(Value::bool(cx.options.debug))
    }
    fn set_debug(cx: &mut Cx, _: Value, a: &[Value]) -> R {
        let v = a.last().copied().unwrap_or(Value::NIL);
        cx.options.debug = v.truthy();
        Ok(v)
    }
    // $@ is the backtrace of $!.
    fn backtrace(cx: &mut Cx, _: Value, _: &[Value]) -> R {
        let e = cx.task.err;
        if e.is_nil() { Ok(Value::NIL) } else { Err(cx.call(e, sym::BACKTRACE, &[])) }
    }
    fn set_backtrace(cx: &mut Cx, _: Value, a: &[Value]) -> R {
        let e = cx.task.err;
        if e.is_nil() {
            return Err(cx.arg_error("$! not set"));
        }
        let v = a.last().copied().unwrap_or(Value::NIL);
        Err(cx.call(e, sym::SET_BACKTRACE, &[v]))
    }
    cx.hook_global("$@", Some(backtrace), Some(set_backtrace));
    for name in ["$VERBOSE", "$-v", "$-w"] {
        cx.hook_global(name, Some(verbose), Some(set_verbose));
    }
    for name in ["$DEBUG", "$-d"] {
        cx.hook_global(name, Some(debug), Some(set_debug));
    }
}

/// nil for a category that does not exist.
fn get(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 0)?;
    Ok(match cx.syms.name(s) {
        b"deprecated" => Value::bool(cx.options.warn_deprecated),
        b"experimental" => Value::bool(cx.options.warn_experimental),
        b"performance" => Value::bool(cx.options.warn_performance),
        b"strict_unused_block" => Value::FALSE,
        _ => Value::NIL,
    })
}
fn set(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 0)?;
    let on = a[1].truthy();
    match cx.syms.name(s) {
        b"deprecated" => cx.options.warn_deprecated = on,
        b"experimental" => cx.options.warn_experimental = on,
        b"performance" => cx.options.warn_performance = on,
        _ => {}
    }
    Ok(a[1])
}
