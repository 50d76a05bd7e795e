//! `Array#pack` and `String#unpack` on plain values.
//!
//! Invariant: parsing a template and encoding single values is kumi-text's; here values are
//! taken from and put into Ruby objects. `pack` needs converted values: what is no Integer,
//! Float or String makes the native answer with the need `[index, kind]` for the prelude.

use crate::text::*;
use kumi_num::BigInt;
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_text::pack::{self, Count, Directive, Kind, TemplateError};
use kumi_vm::*;

fn parse(cx: &mut Cx, t: Str, packing: bool) -> Result<Vec<Directive>, Exit> {
    match pack::parse(t.bytes(), packing) {
        Ok(d) => Ok(d),
        Err(TemplateError::Argument(m)) => Err(cx.arg_error(&m)),
        Err(TemplateError::Range(m)) => Err(cx.range_error(&m)),
    }
}
/// What a value has to become before it can be packed.
const NEED_INT: i64 = 0;
const NEED_FLOAT: i64 = 1;
const NEED_STR: i64 = 2;
const NEED_TO_S: i64 = 3;

/// Bytes of a text between two looks whether somebody waits.
const PIECE: usize = 64 * 1024;

/// Little-endian two's complement of an Integer.
fn le_bytes(v: Value) -> Option<(Vec<u8>, bool)> {
    if let Some(i) = v.as_fix() {
        return Some((i.to_le_bytes().to_vec(), i < 0));
    }
    v.as_big().map(|b| (b.n.to_le_bytes(), b.n.is_negative()))
}
/// `__ary_pack(array, template, buffer string)`: appends to the buffer; nil when done, else `[index, kind]` of a value to convert first.
fn pack_m(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let Some(list) = args[0].as_array() else { return Err(cx.type_error("Array expected")) };
    let template = me(cx, args[1])?;
    let buffer = me(cx, args[2])?;
    let items = list.seen().to_vec();
    let directives = parse(cx, template, true)?;
    let mut out: Vec<u8> = buffer.bytes().to_vec();
    let base = 0;
    let mut i = 0;
    // Encoding: ASCII until something else is written; U first makes it UTF-8.
    let mut e = 1u8;
    let mut patience = cx.patience();
    for (k, d) in directives.iter().enumerate() {
        patience.step(cx)?;
        match d.kind {
            Kind::Utf8 if k == 0 => e = 2,
            Kind::Base64 | Kind::QuotedPrintable | Kind::Uu => {}
            Kind::Utf8 => {}
            _ => {
                if e == 1 {
                    e = 0;
                }
            }
        }
        let left = items.len().saturating_sub(i);
        let mut next = |cx: &mut Cx| -> Result<(usize, Value), Exit> {
            match items.get(i) {
                Some(v) => {
                    i += 1;
                    Ok((i - 1, *v))
                }
                None => Err(cx.arg_error("too few arguments")),
            }
        };
        macro_rules! need {
            ($at:expr, $kind:expr) => {
                return Ok(cx.array(&[Value::fix($at as i64), Value::fix($kind)]))
            };
        }
        macro_rules! string {
            () => {{
                let (at, v) = next(cx)?;
                match v.as_str() {
                    Some(s) => s,
                    None => need!(at, NEED_STR),
                }
            }};
        }
        match d.kind {
            Kind::Bytes(_) | Kind::Bits { .. } | Kind::Hex { .. } => {
                let (at, v) = next(cx)?;
                let empty: &[u8] = b"";
                let cell;
                let s: &[u8] = if v.is_nil() {
                    empty
                } else {
                    match v.as_str() {
                        Some(x) => {
                            cell = x;
                            cell.bytes()
                        }
                        None => need!(at, NEED_STR),
                    }
                };
                if let Count::Times(n) = d.count {
                    cx.check_size(n)?;
                }
                match d.kind {
                    Kind::Bits { msb } => pack::put_bits(&mut out, msb, s, d.count),
                    Kind::Hex { high } => pack::put_hex(&mut out, high, s, d.count),
                    _ => pack::put_bytes(&mut out, d.letter, s, d.count),
                }
            }
            Kind::Int { .. } | Kind::Utf8 | Kind::Ber | Kind::Float { .. } => {
                for _ in 0..d.count.or(1, left) {
                    patience.step(cx)?;
                    let (at, v) = next(cx)?;
                    if let Kind::Float { double, big } = d.kind {
                        let f = match (v.as_float(), v.as_fix(), v.as_big()) {
                            (Some(f), _, _) => f,
                            (_, Some(i), _) => i as f64,
                            (_, _, Some(b)) => b.n.to_f64(),
                            _ => need!(at, NEED_FLOAT),
                        };
                        pack::put_float(&mut out, f, double, big);
                        continue;
                    }
                    let Some((le, negative)) = le_bytes(v) else { need!(at, NEED_INT) };
                    match d.kind {
                        Kind::Int { size, big, .. } => pack::put_int(&mut out, &le, negative, size as usize, big),
                        Kind::Utf8 => {
                            let c = v.as_fix().filter(|c| (0..=0x7fff_ffff).contains(c));
                            let Some(c) = c else { return Err(cx.range_error("pack(U): value out of range")) };
                            if let Err(m) = pack::put_utf8(&mut out, c as u32) {
                                return Err(cx.range_error(m));
                            }
                        }
                        _ => {
                            if negative {
                                return Err(cx.arg_error("can't compress negative numbers"));
                            }
                            pack::put_ber(&mut out, &le);
                        }
                    }
                }
            }
            Kind::Base64 => {
                let s = string!();
                pack::put_base64(&mut out, s.bytes(), d.count);
            }
            Kind::QuotedPrintable => {
                let (at, v) = next(cx)?;
                match v.as_str() {
                    Some(s) => {
                        let mut q = pack::Quoted::new(d.count);
                        for piece in s.bytes().chunks(PIECE) {
                            patience.steps(cx, piece.len() / 8)?;
                            q.put(&mut out, piece);
                        }
                        q.end(&mut out);
                    }
                    None => need!(at, NEED_TO_S),
                }
            }
            Kind::Uu => {
                let s = string!();
                pack::put_uu(&mut out, s.bytes(), d.count);
            }
            Kind::Null => {
                let n = d.count.or(1, 0);
                cx.check_size(n)?;
                out.resize(out.len() + n, 0);
            }
            Kind::Back => {
                let n = d.count.or(1, 0);
                if n > out.len() {
                    return Err(cx.arg_error("X outside of string"));
                }
                out.truncate(out.len() - n);
            }
            Kind::At => {
                let n = d.count.or(1, 0) + base;
                cx.check_size(n)?;
                out.resize(n, 0);
            }
            Kind::Offset => {}
            Kind::Pointer { .. } => {
                let (at, v) = next(cx)?;
                if !v.is_nil() && v.as_str().is_none() {
                    need!(at, NEED_STR);
                }
                // Addresses of movable buffers mean nothing outside: null pointers.
                out.put_all(&0u64.to_ne_bytes());
            }
        }
    }
    let enc = if args.get(3).is_some_and(|v| v.truthy()) {
        enc(buffer)
    } else {
        match e {
            1 => EncIndex::US_ASCII,
            2 => EncIndex::UTF_8,
            _ => EncIndex::BINARY,
        }
    };
    set(cx, buffer, &out, enc, CodeRange::Unknown);
    Ok(Value::NIL)
}

fn int_value(cx: &mut Cx, n: i128) -> Value {
    cx.int128(n)
}
/// `__unpack(s, template, offset, only_first)`
fn unpack(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let template = me(cx, args[1])?;
    let offset = cx.arg_i64(args, 2)?;
    let first = args[3].truthy();
    let b = s.bytes();
    if offset < 0 || offset as usize > b.len() {
        return Err(cx.arg_error(if offset < 0 { "offset can't be negative" } else { "offset outside of string" }));
    }
    let b = &b[offset as usize..];
    let base = offset;
    let directives = parse(cx, template, false)?;
    let mut at = 0usize;
    let mut out: Vec<Value> = Vec::new();
    let mut patience = cx.patience();
    for d in &directives {
        patience.step(cx)?;
        if first && !out.is_empty() {
            break;
        }
        let rest = &b[at.min(b.len())..];
        match d.kind {
            Kind::Bytes(_) => {
                let (v, used) = pack::get_bytes(d.letter, rest, d.count);
                let v = cx.str_enc(v, EncIndex::BINARY);
                out.put(v);
                at += used;
            }
            Kind::Bits { msb } => {
                let (v, used) = pack::get_bits(msb, rest, d.count);
                out.put(cx.str_vec(v, EncIndex::US_ASCII));
                at += used;
            }
            Kind::Hex { high } => {
                let (v, used) = pack::get_hex(high, rest, d.count);
                out.put(cx.str_vec(v, EncIndex::US_ASCII));
                at += used;
            }
            Kind::Int { .. } | Kind::Float { .. } => {
                let size = match d.kind {
                    Kind::Int { size, .. } => size as usize,
                    Kind::Float { double: true, .. } => 8,
                    _ => 4,
                };
                let n = d.count.or(1, usize::MAX);
                let have = rest.len() / size;
                for part in rest.chunks_exact(size).take(n) {
                    patience.step(cx)?;
                    let v = match d.kind {
                        Kind::Float { double, big } => cx.float(pack::get_float(part, double, big).unwrap_or(0.0)),
                        Kind::Int { signed, big, .. } => int_value(cx, pack::get_int(part, signed, big)),
                        _ => Value::NIL,
                    };
                    out.put(v);
                    at += size;
                    if first {
                        break;
                    }
                }
                if let Count::Times(_) | Count::None = d.count {
                    // What is missing reads as nil.
                    for _ in 0..n.saturating_sub(have).min(1 << 24) {
                        if first && !out.is_empty() {
                            break;
                        }
                        out.put(Value::NIL);
                    }
                }
            }
            Kind::Utf8 => {
                let n = d.count.or(1, usize::MAX);
                let mut k = 0;
                while k < n && at < b.len() {
                    patience.step(cx)?;
                    match pack::get_utf8(&b[at..]) {
                        Ok((c, used)) => {
                            out.put(Value::fix(c as i64));
                            at += used;
                        }
                        Err(m) => return Err(cx.arg_error(&m)),
                    }
                    k += 1;
                    if first {
                        break;
                    }
                }
            }
            Kind::Ber => {
                let n = d.count.or(1, usize::MAX);
                let mut k = 0;
                while k < n && at < b.len() {
                    patience.step(cx)?;
                    let Some((le, used)) = pack::get_ber(&b[at..]) else { break };
                    let v = BigInt::from_le_bytes(&le, false);
                    out.put(match v.to_i64() {
                        Some(i) => cx.int(i),
                        None => cx.big(v),
                    });
                    at += used;
                    k += 1;
                    if first {
                        break;
                    }
                }
            }
            Kind::Base64 => {
                match pack::get_base64(rest, d.count == Count::Times(0)) {
                    Ok(v) => out.put(cx.str_vec(v, EncIndex::BINARY)),
                    Err(m) => return Err(cx.arg_error(m)),
                }
                at = b.len();
            }
            Kind::QuotedPrintable => {
                let v = pack::get_quoted(rest);
                out.put(cx.str_vec(v, EncIndex::BINARY));
                at = b.len();
            }
            Kind::Uu => {
                let v = pack::get_uu(rest);
                out.put(cx.str_vec(v, EncIndex::BINARY));
                at = b.len();
            }
            Kind::Null => {
                let n = d.count.or(1, rest.len());
                if n > rest.len() {
                    return Err(cx.arg_error("x outside of string"));
                }
                at += n;
            }
            Kind::Back => {
                let n = d.count.or(1, 0);
                if n > at {
                    return Err(cx.arg_error("X outside of string"));
                }
                at -= n;
            }
            Kind::At => {
                let n = d.count.or(0, rest.len());
                if n > b.len() {
                    return Err(cx.arg_error("@ outside of string"));
                }
                at = n;
            }
            Kind::Offset => out.put(Value::fix(base + at as i64)),
            Kind::Pointer { .. } => {
                out.put(Value::NIL);
                at = (at + 8).min(b.len());
            }
        }
    }
    if first {
        return Ok(out.first().copied().unwrap_or(Value::NIL));
    }
    Ok(cx.array_vec(out))
}

pub static TABLE: &[NativeDef] = &[intrinsic("__ary_pack", 3, 4, pack_m), intrinsic("__unpack", 4, 4, unpack)];
