//! Warning categories.

use kumi_vm::*;
use std::sync::atomic::Ordering::Relaxed;

pub static TABLE: &[NativeDef] =
    &[intrinsic("__warning_get", 1, 1, get).guard(Guard::None), intrinsic("__warning_set", 2, 2, set).guard(Guard::None)];

/// Connects `$VERBOSE` and `$DEBUG` with the options.
pub fn hook(cx: &mut Cx) {
    fn verbose(cx: &mut Cx, _: Value, _: &[Value]) -> R {
        Ok([Value::NIL, Value::FALSE, Value::TRUE][cx.options.verbose.load(Relaxed).min(2) as usize])
    }
    fn set_verbose(cx: &mut Cx, _: Value, a: &[Value]) -> R {
        let v = a.last().copied().unwrap_or(Value::NIL);
        cx.options.verbose.store(if v.is_nil() { 0 } else { 1 + v.truthy() as u8 }, Relaxed);
        Ok(v)
    }
    fn debug(cx: &mut Cx, _: Value, _: &[Value]) -> R {
        Ok(Value::bool(cx.options.debug.load(Relaxed)))
    }
    fn set_debug(cx: &mut Cx, _: Value, a: &[Value]) -> R {
        let v = a.last().copied().unwrap_or(Value::NIL);
        cx.options.debug.store(v.truthy(), Relaxed);
        Ok(v)
    }
    // $@ is the backtrace of $!.
    fn backtrace(cx: &mut Cx, _: Value, _: &[Value]) -> R {
        let e = cx.task.err();
        if e.is_nil() { Ok(Value::NIL) } else { Err(cx.call(e, sym::BACKTRACE, &[])) }
    }
    fn set_backtrace(cx: &mut Cx, _: Value, a: &[Value]) -> R {
        let e = cx.task.err();
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
        b"deprecated" => Value::bool(cx.options.warn_deprecated.load(Relaxed)),
        b"experimental" => Value::bool(cx.options.warn_experimental.load(Relaxed)),
        b"performance" => Value::bool(cx.options.warn_performance.load(Relaxed)),
        b"strict_unused_block" => Value::bool(cx.options.warn_unused_block.load(Relaxed)),
        _ => Value::NIL,
    })
}
fn set(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 0)?;
    let on = a[1].truthy();
    match cx.syms.name(s) {
        b"deprecated" => cx.options.warn_deprecated.store(on, Relaxed),
        b"experimental" => cx.options.warn_experimental.store(on, Relaxed),
        b"performance" => cx.options.warn_performance.store(on, Relaxed),
        b"strict_unused_block" => cx.options.warn_unused_block.store(on, Relaxed),
        _ => {}
    }
    Ok(a[1])
}
