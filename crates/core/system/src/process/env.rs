//! The process environment, for prelude/env.rb.
//!
//! Names and values are bytes; a value read is a copy in the locale encoding, UTF-8 here, or
//! in the internal one. Invariant: natives that touch the environment exclude each
//! other, and the standard library's own lock keeps starting programs out.

use kumi_core_string::encoding;
use kumi_text::transcode;
use kumi_vm::*;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

fn name_of(cx: &mut Cx, v: Value, what: &str) -> Result<Vec<u8>, Exit> {
    let Some(s) = v.as_str() else { return Err(cx.type_error("no implicit conversion into String")) };
    if !EncIndex::from_u8(s.enc()).is_ascii_compatible() {
        let e = EncIndex::from_u8(s.enc()).name();
        return Err(cx.arg_error(&format!("bad environment variable {what}: ASCII incompatible encoding: {e}")));
    }
    if s.bytes().contains(&0) {
        return Err(cx.arg_error(&format!("bad environment variable {what}: contains null byte")));
    }
    Ok(s.bytes().to_vec())
}
/// Text of the environment, in the internal encoding where there is one and the text has a form in it.
fn frozen_str(cx: &mut Cx, b: &[u8]) -> Value {
    let made = match encoding::internal(cx) {
        None | Some(EncIndex::UTF_8) => None,
        Some(to) => transcode::encode(b, EncIndex::UTF_8, to, Default::default()).ok().map(|b| (b, to)),
    };
    let v = match made {
        Some((b, to)) => cx.str_vec(b, to),
        None => cx.str_enc(b, EncIndex::UTF_8),
    };
    if let Some(h) = v.header() {
        h.set(flag::FROZEN);
    }
    v
}

/// `__env_get(name)`: a frozen String or nil.
fn get(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let n = name_of(cx, args[0], "name")?;
    if n.is_empty() || n.contains(&b'=') {
        return Ok(Value::NIL);
    }
    match std::env::var_os(OsStr::from_bytes(&n)) {
        Some(v) => Ok(frozen_str(cx, v.as_bytes())),
        None => Ok(Value::NIL),
    }
}
/// `__env_set(name, value)`: value nil removes. False when the name is no name (EINVAL).
fn set(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let n = name_of(cx, args[0], "name")?;
    let v = if args[1].is_nil() { None } else { Some(name_of(cx, args[1], "value")?) };
    if n.is_empty() || n.contains(&b'=') {
        return Ok(Value::FALSE);
    }
    // SAFETY: one native at a time gets here (`Guard::World`); Rust code elsewhere asks through std, which
    // locks. C code that asks on its own (name look-ups) reads entries that glibc never frees.
    unsafe {
        match v {
            Some(v) => std::env::set_var(OsStr::from_bytes(&n), OsStr::from_bytes(&v)),
            None => std::env::remove_var(OsStr::from_bytes(&n)),
        }
    }
    if n == b"TZ" || n == b"TZDIR" {
        kumi_text::timezone::changed();
    }
    Ok(Value::TRUE)
}
/// `__env_keys()`: names in the order of the environment, as `__env_get` and `__env_set` take them.
fn keys(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let all: Vec<Vec<u8>> = std::env::vars_os().map(|p| p.0.into_vec()).collect();
    let v = all.iter().map(|n| cx.str_enc(n, EncIndex::UTF_8)).collect();
    Ok(cx.array_vec(v))
}

/// `__env_key(value)`: the first name with these bytes, or nil.
fn key(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let value = name_of(cx, args[0], "value")?;
    match std::env::vars_os().find(|p| p.1.as_bytes() == value) {
        Some((n, _)) => Ok(frozen_str(cx, n.as_bytes())),
        None => Ok(Value::NIL),
    }
}

/// `__env_pairs()`: names and values, as they are at one time.
fn pairs(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let mut v = Vec::new();
    for (n, x) in std::env::vars_os() {
        let (n, x) = (frozen_str(cx, n.as_bytes()), frozen_str(cx, x.as_bytes()));
        v.push(cx.array(&[n, x]));
    }
    Ok(cx.array_vec(v))
}

/// Intrinsics of ENV.
pub static TABLE: &[NativeDef] = &[
    intrinsic("__env_get", 1, 1, get).guard(Guard::World),
    intrinsic("__env_set", 2, 2, set).guard(Guard::World),
    intrinsic("__env_pairs", 0, 0, pairs).guard(Guard::World),
    intrinsic("__env_key", 1, 1, key).guard(Guard::World),
    intrinsic("__env_keys", 0, 0, keys).guard(Guard::World),
];
