//! Encoding objects: one for each row of the table, by name and alias, and the defaults.
//!
//! Invariant: the objects are made at boot, in table order, and live as long as the runtime;
//! `Encoding` values are equal only when identical.

pub(crate) mod transcode;

use crate::text::*;
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_vm::*;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The payload of an Encoding.
pub(crate) struct EncObj(pub EncIndex);
impl Payload for EncObj {
    fn shares(&self) -> bool {
        true
    }
}

/// The objects by row, and the defaults: a row's number and one, 0 for none.
#[derive(Default)]
struct EncState {
    /// Bits of the values.
    objects: OnceLock<Vec<u64>>,
    external: AtomicU32,
    internal: AtomicU32,
}
fn stored(e: &AtomicU32) -> Option<EncIndex> {
    match e.load(Relaxed) {
        0 => None,
        n => Some(EncIndex::from_u8((n - 1) as u8)),
    }
}
fn store(to: &AtomicU32, e: Option<EncIndex>) {
    to.store(e.map_or(0, |e| e.as_u8() as u32 + 1), Relaxed);
}
fn objects(cx: &mut Cx) -> &'static [u64] {
    cx.shared_state::<EncState>().objects.get().map_or(&[], |v| v)
}

/// The Encoding object of `e`.
pub fn value(cx: &mut Cx, e: EncIndex) -> Value {
    objects(cx).get(e.index()).map_or(Value::NIL, |b| Value::from_bits(*b))
}
/// Encoding.default_external
pub fn external(cx: &mut Cx) -> EncIndex {
    stored(&cx.shared_state::<EncState>().external).unwrap_or(EncIndex::UTF_8)
}
/// Encoding.default_internal
pub fn internal(cx: &mut Cx) -> Option<EncIndex> {
    stored(&cx.shared_state::<EncState>().internal)
}
/// The encoding that `inspect` writes in.
pub fn inspect_encoding(cx: &mut Cx) -> EncIndex {
    let e = internal(cx).unwrap_or(external(cx));
    if e.is_ascii_compatible() { e } else { EncIndex::US_ASCII }
}
/// An encoding by name, with the names that depend on the process.
pub(crate) fn find(cx: &mut Cx, name: &[u8]) -> Option<Option<EncIndex>> {
    match Vec::gather(name.iter().map(u8::to_ascii_lowercase)).as_slice() {
        b"external" | b"locale" | b"filesystem" => Some(Some(external(cx))),
        b"internal" => Some(internal(cx)),
        _ => EncIndex::find(name).map(Some),
    }
}
/// Argument `i` as an encoding: Encoding, or a String that names one.
pub fn arg_enc(cx: &mut Cx, args: &[Value], i: usize) -> Result<EncIndex, Exit> {
    if let Some(e) = args[i].as_data::<EncObj>() {
        return Ok(e.0);
    }
    let s = cx.arg_str(args, i)?;
    let name = Vec::copy(s.bytes());
    if !enc(s).is_ascii_compatible() {
        return Err(cx.arg_error("invalid encoding name (non ASCII)"));
    }
    match find(cx, &name) {
        Some(Some(e)) => Ok(e),
        _ => Err(unknown(cx, &name)),
    }
}
/// ArgumentError for an unknown name.
pub(crate) fn unknown(cx: &mut Cx, name: &[u8]) -> Exit {
    ask(3 * name.len());
    cx.arg_error(&format!("unknown encoding name - {}", String::from_utf8_lossy(name)))
}

/// Makes the objects and their constants.
pub(crate) fn boot(cx: &mut Cx) {
    let class = cx.k.encoding;
    let mut all = Vec::new();
    for e in EncIndex::all() {
        let v = cx.data(class, EncObj(e));
        if let Some(h) = v.header() {
            h.set(flag::FROZEN);
        }
        cx.keep(v);
        all.push(v.bits());
        for name in e.constant_names() {
            let Ok(y) = cx.sym_of(name.as_bytes()) else { continue };
            cx.set_const(class, y, v);
        }
    }
    cx.shared_state::<EncState>().objects.get_or_init(|| all);
}

fn this(cx: &mut Cx, v: Value) -> Result<EncIndex, Exit> {
    match v.as_data::<EncObj>() {
        Some(e) => Ok(e.0),
        None => Err(cx.type_error("wrong argument type (expected Encoding)")),
    }
}
fn to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let e = this(cx, recv)?;
    Ok(cx.str_ascii(e.name()))
}
fn inspect(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let e = this(cx, recv)?;
    Ok(cx.str_ascii(&e.inspect()))
}
fn dummy(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(this(cx, recv)?.is_dummy()))
}
fn ascii_compatible(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(this(cx, recv)?.is_ascii_compatible()))
}
fn names(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let e = this(cx, recv)?;
    let mut v = vec![cx.str_ascii(e.name())];
    for a in e.info().aliases {
        v.push(cx.str_ascii(a));
    }
    if e == external(cx) {
        for n in ["locale", "external", "filesystem"] {
            v.push(cx.str_ascii(n));
        }
    }
    if Some(e) == internal(cx) {
        v.push(cx.str_ascii("internal"));
    }
    Ok(cx.array_vec(v))
}
fn list(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let v = objects(cx).iter().map(|b| Value::from_bits(*b)).collect();
    Ok(cx.array_vec(v))
}
fn name_list(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let mut v = Vec::new();
    for e in EncIndex::all() {
        v.push(cx.str_ascii(e.name()));
        for a in e.info().aliases {
            v.push(cx.str_ascii(a));
        }
    }
    for n in ["locale", "external", "filesystem", "internal"] {
        v.push(cx.str_ascii(n));
    }
    Ok(cx.array_vec(v))
}
fn aliases(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for e in EncIndex::all() {
        for a in e.info().aliases {
            pairs.push((a, e.name()));
        }
    }
    let ext = external(cx).name();
    pairs.extend([("locale", ext), ("external", ext), ("filesystem", ext)]);
    if let Some(i) = internal(cx) {
        pairs.push(("internal", i.name()));
    }
    let h = cx.hash();
    for (a, e) in pairs {
        let (k, v) = (cx.str_ascii(a), cx.str_ascii(e));
        if let (Some(hd), Some(h)) = (k.header_mut(), h.as_hash()) {
            hd.set(flag::FROZEN);
            cx.hash_put_plain(h, k, v);
        }
    }
    Ok(h)
}
fn find_m(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    if args[0].as_data::<EncObj>().is_some() {
        return Ok(args[0]);
    }
    let name = cx.arg_str(args, 0)?.bytes().to_vec();
    match find(cx, &name) {
        Some(Some(e)) => Ok(value(cx, e)),
        Some(None) => Ok(Value::NIL),
        None => Err(unknown(cx, &name)),
    }
}
fn get_external(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let e = external(cx);
    Ok(value(cx, e))
}
fn get_internal(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(match internal(cx) {
        Some(e) => value(cx, e),
        None => Value::NIL,
    })
}
fn set_external(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    if args[0].is_nil() {
        return Err(cx.arg_error("default external can not be nil"));
    }
    let e = arg_enc(cx, args, 0)?;
    store(&cx.shared_state::<EncState>().external, Some(e));
    told(cx, "external", args[0])
}
/// With `-w` it is told that a default was set.
fn told(cx: &mut Cx, which: &str, v: Value) -> R {
    if cx.options.verbose.load(std::sync::atomic::Ordering::Relaxed) < 2 {
        return Ok(v);
    }
    let which = cx.str(which);
    Err(cx.call_helper("setting_encoding", &[which, v]))
}
fn set_internal(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let e = if args[0].is_nil() { None } else { Some(arg_enc(cx, args, 0)?) };
    store(&cx.shared_state::<EncState>().internal, e);
    told(cx, "internal", args[0])
}

fn str_encoding(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(value(cx, enc(s)))
}
fn force_encoding(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    let e = if args[0].as_str().is_some_and(|n| n.bytes().eq_ignore_ascii_case(b"internal")) {
        internal(cx).unwrap_or(EncIndex::BINARY)
    } else {
        arg_enc(cx, args, 0)?
    };
    if e != enc(s) {
        let keep = s.range() == CodeRange::SevenBit as u8 && e.is_ascii_compatible() && enc(s).is_ascii_compatible();
        s.set_enc(e.as_u8());
        if keep {
            s.set_range(CodeRange::SevenBit as u8);
        }
    }
    Ok(recv)
}
/// `__enc_find(name or Encoding)`: Encoding or nil.
fn enc_find(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    if args[0].as_data::<EncObj>().is_some() {
        return Ok(args[0]);
    }
    let name = Vec::copy(me(cx, args[0])?.bytes());
    Ok(match find(cx, &name) {
        Some(Some(e)) => value(cx, e),
        _ => Value::NIL,
    })
}

fn locale_charmap(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|k| std::env::var(k).ok().filter(|v| !v.is_empty()));
    let plain = set.is_some_and(|v| v == "C" || v == "POSIX");
    Ok(cx.str_ascii(if plain { "ANSI_X3.4-1968" } else { "UTF-8" }))
}

pub(crate) static TABLE: &[NativeDef] = &[
    n("Encoding", "to_s", 0, 0, to_s),
    n("Encoding", "name", 0, 0, to_s),
    n("Encoding", "inspect", 0, 0, inspect),
    n("Encoding", "dummy?", 0, 0, dummy),
    n("Encoding", "ascii_compatible?", 0, 0, ascii_compatible),
    n("Encoding", "names", 0, 0, names),
    n("Encoding.", "list", 0, 0, list),
    n("Encoding.", "locale_charmap", 0, 0, locale_charmap),
    n("Encoding.", "name_list", 0, 0, name_list),
    n("Encoding.", "aliases", 0, 0, aliases),
    n("Encoding.", "find", 1, 1, find_m),
    n("Encoding.", "default_external", 0, 0, get_external),
    n("Encoding.", "default_internal", 0, 0, get_internal),
    n("Encoding.", "default_external=", 1, 1, set_external),
    n("Encoding.", "default_internal=", 1, 1, set_internal),
    n("String", "encoding", 0, 0, str_encoding),
    n("String", "force_encoding", 1, 1, force_encoding),
    intrinsic("__enc_find", 1, 1, enc_find),
];
