//! Warning categories.

use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__warning_get", 1, 1, get),
    intrinsic("__warning_set", 2, 2, set),
    intrinsic("__verbose", 0, 0, |cx, _, _| {
        Ok(match cx.options.verbose {
            0 => Value::NIL,
            1 => Value::FALSE,
            _ => Value::TRUE,
        })
    }),
];

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
