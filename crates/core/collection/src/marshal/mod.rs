//! Marshal's numbers and facts about objects; the walks themselves are prelude/marshal_writer.rb and marshal_reader.rb.

pub(crate) mod fast;

use kumi_num::BigInt;
use kumi_vm::*;

fn out(cx: &mut Cx, v: Value) -> Result<Gc<StrObj>, Exit> {
    match v.as_str() {
        Some(s) => Ok(s),
        None => Err(cx.type_error("marshal buffer is no String")),
    }
}

/// Appends a length or small integer as Marshal packs it.
pub(crate) fn push_long(b: &mut Vec<u8>, n: i64) {
    match n {
        0 => b.push(0),
        1..=122 => b.push(n as u8 + 5),
        -123..=-1 => b.push((n - 5) as u8),
        _ => {
            let mut x = n;
            let at = b.len();
            b.push(0);
            let mut len = 0i8;
            for _ in 0..4 {
                b.push(x as u8);
                x >>= 8;
                len += 1;
                if x == 0 {
                    b[at] = len as u8;
                    return;
                }
                if x == -1 {
                    b[at] = (-len) as u8;
                    return;
                }
            }
            b[at] = 4;
        }
    }
}

fn append(cx: &mut Cx, s: Gc<StrObj>, b: &[u8]) {
    cx.heap.edit(s).buf.extend_from_slice(b);
    s.changed();
    cx.heap.charge(b.len());
}

fn long(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = out(cx, args[0])?;
    let n = args[1].as_fix().unwrap_or(0);
    if !(-(1 << 31)..1 << 31).contains(&n) {
        return Err(cx.arg_error("long too big to dump"));
    }
    let mut b = Vec::with_capacity(5);
    push_long(&mut b, n);
    append(cx, s, &b);
    Ok(args[0])
}
/// Appends the bytes of a String, whatever its encoding.
fn raw(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (s, t) = (out(cx, args[0])?, out(cx, args[1])?);
    let b = t.bytes().to_vec();
    append(cx, s, &b);
    Ok(args[0])
}

/// A Float in the shortest digits that read back.
pub(crate) fn float_text(f: f64) -> String {
    if f.is_nan() {
        return "nan".into();
    }
    if f.is_infinite() {
        return if f > 0.0 { "inf".into() } else { "-inf".into() };
    }
    if f == 0.0 {
        return if f.is_sign_negative() { "-0".into() } else { "0".into() };
    }
    let e = format!("{:e}", f.abs());
    let (mant, exp) = e.split_once('e').unwrap_or((&e, "0"));
    let digits: String = mant.chars().filter(|c| *c != '.').collect();
    let point = exp.parse::<i32>().unwrap_or(0) + 1;
    let n = digits.len() as i32;
    let body = if point < -3 || point > n {
        let rest = &digits[1..];
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{}{dot}{rest}e{}", &digits[..1], point - 1)
    } else if point > 0 {
        let (a, b) = digits.split_at(point as usize);
        if b.is_empty() { a.to_string() } else { format!("{a}.{b}") }
    } else {
        format!("0.{}{digits}", "0".repeat((-point) as usize))
    };
    if f < 0.0 { format!("-{body}") } else { body }
}
fn float(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let t = float_text(args[0].as_float().unwrap_or(0.0));
    Ok(cx.str_enc(t.as_bytes(), EncIndex::BINARY))
}

/// Sign, length in 16-bit words and bytes of an Integer.
pub(crate) fn push_big(out: &mut Vec<u8>, n: &BigInt) {
    let hex = n.abs().to_string_radix(16);
    let mut bytes: Vec<u8> = Vec::with_capacity(hex.len() / 2 + 2);
    let h = hex.as_bytes();
    let mut end = h.len();
    while end > 0 {
        let start = end.saturating_sub(2);
        let t = std::str::from_utf8(&h[start..end]).unwrap_or("0");
        bytes.push(u8::from_str_radix(t, 16).unwrap_or(0));
        end = start;
    }
    if bytes.len() % 2 == 1 {
        bytes.push(0);
    }
    out.push(if n.is_negative() { b'-' } else { b'+' });
    push_long(out, (bytes.len() / 2) as i64);
    out.extend_from_slice(&bytes);
}
fn big(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = out(cx, args[0])?;
    let n = match args[1].as_fix() {
        Some(i) => BigInt::from_i64(i),
        None => match args[1].as_big() {
            Some(b) => b.n.clone(),
            None => return Err(cx.type_error("Integer expected")),
        },
    };
    let mut b = Vec::new();
    push_big(&mut b, &n);
    append(cx, s, &b);
    Ok(args[0])
}
/// `__marshal_big_value(bytes, negative)`
fn big_value(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = out(cx, args[0])?;
    let mut hex = String::with_capacity(s.bytes().len() * 2);
    for b in s.bytes().iter().rev() {
        hex.push_str(&format!("{b:02x}"));
    }
    if hex.is_empty() {
        return Ok(Value::fix(0));
    }
    let Some(n) = BigInt::from_str_radix(hex.as_bytes(), 16) else { return Ok(Value::fix(0)) };
    let n = if args[1].truthy() { n.neg() } else { n };
    Ok(match n.to_i64() {
        Some(i) => cx.int(i),
        None => cx.big(n),
    })
}

/// `[singleton that cannot be dumped?, extending modules...]`
fn extended(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let c = cx.class_of(args[0]);
    let mut v = vec![Value::FALSE];
    if c.is_singleton() && args[0].as_class().is_none() {
        if !c.data.methods.is_empty() || !c.data.consts.is_empty() || c.data.ivars.iter().any(|p| !cx.hidden_ivar(p.0)) {
            v[0] = Value::TRUE;
        }
        v.extend(c.data.includes.iter().rev().map(|m| m.val()));
    }
    Ok(cx.array_vec(v))
}

fn ivars(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut v = Vec::new();
    for (s, x) in cx.ivars(args[0]) {
        if !cx.hidden_ivar(s) {
            v.push(Value::sym(s));
            v.push(x);
        }
    }
    Ok(cx.array_vec(v))
}

fn kind(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let v = args[0];
    let k = match v.kind() {
        Some(Kind::Object) => "object",
        Some(Kind::Str) => "string",
        Some(Kind::Array) => "array",
        Some(Kind::Hash) => "hash",
        Some(Kind::Struct) => "struct",
        Some(Kind::Range) => "range",
        Some(Kind::Big) => "big",
        Some(Kind::Pair) if cx.is_a(v, cx.k.rational) => "rational",
        Some(Kind::Pair) => "complex",
        Some(Kind::Data) if cx.is_a(v, cx.k.regexp) => "regexp",
        _ if v.as_float().is_some() => "float",
        _ if v.is_fix() => "big",
        _ => "other",
    };
    Ok(cx.sym(k))
}
/// What instances of a class are: `:object`, `:struct`, `:range`, `:other`.
fn instance(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let c = cx.arg_class(args, 0)?;
    let k = if c == cx.k.range || c.inherits(cx.k.range) {
        "range"
    } else {
        match c.data.instance {
            Instance::Object => "object",
            Instance::Struct(_) => "struct",
            _ => "other",
        }
    };
    Ok(cx.sym(k))
}

/// Makes a fresh core object an instance of a subclass of its class.
fn set_class(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let c = cx.arg_class(args, 1)?;
    let own = cx.real_class(args[0]);
    let fits = (c == own || c.inherits(own)) && matches!(args[0].kind(), Some(Kind::Str | Kind::Array | Kind::Hash | Kind::Data));
    if fits {
        if let Some(h) = args[0].header_mut() {
            cx.heap.before_store(args[0], c.val());
            h.set_class(c.val());
        }
    }
    Ok(Value::bool(fits))
}
/// `__marshal_range(class, begin, end, exclusive)`
fn new_range(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let c = cx.arg_class(args, 0)?;
    let r = cx.heap.range(c.val(), args[1], args[2], args[3].truthy());
    if let Some(h) = r.header() {
        h.set(flag::FROZEN);
    }
    Ok(r)
}
/// Name of a class or module that has a permanent one, else nil.
fn class_path(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let c = cx.arg_class(args, 0)?;
    if c.data.temporary {
        return Ok(Value::NIL);
    }
    match c.data.name.clone() {
        Some(n) => Ok(cx.str_enc(&n, EncIndex::UTF_8)),
        None => Ok(Value::NIL),
    }
}
/// Default value of a hash, the proc left aside.
fn hash_default(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(args[0].as_hash().map_or(Value::NIL, |h| h.h.missing().value()))
}

/// Intrinsics of Marshal.
pub static TABLE: &[NativeDef] = &[
    intrinsic("__marshal_long", 2, 2, long),
    intrinsic("__marshal_raw", 2, 2, raw),
    intrinsic("__marshal_float", 1, 1, float),
    intrinsic("__marshal_big", 2, 2, big),
    intrinsic("__marshal_big_value", 2, 2, big_value),
    intrinsic("__marshal_extended", 1, 1, extended).guard(Guard::Classes),
    intrinsic("__marshal_ivars", 1, 1, ivars),
    intrinsic("__marshal_kind", 1, 1, kind),
    intrinsic("__marshal_instance", 1, 1, instance),
    intrinsic("__marshal_set_class", 2, 2, set_class),
    intrinsic("__marshal_range", 4, 4, new_range),
    intrinsic("__class_path", 1, 1, class_path).guard(Guard::Classes),
    intrinsic("__hash_default", 1, 1, hash_default),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// What CRuby's `Marshal.dump` writes behind the type's letter.
    #[test]
    fn small_numbers_are_packed() {
        for (n, want) in [
            (0, &b"\x00"[..]),
            (1, b"\x06"),
            (122, b"\x7f"),
            (123, b"\x01{"),
            (255, b"\x01\xff"),
            (256, b"\x02\x00\x01"),
            (65535, b"\x02\xff\xff"),
            (65536, b"\x03\x00\x00\x01"),
            (16777215, b"\x03\xff\xff\xff"),
            (16777216, b"\x04\x00\x00\x00\x01"),
            (1073741823, b"\x04\xff\xff\xff?"),
            (-1, b"\xfa"),
            (-123, b"\x80"),
            (-124, b"\xff\x84"),
            (-256, b"\xff\x00"),
            (-257, b"\xfe\xff\xfe"),
            (-65536, b"\xfe\x00\x00"),
            (-65537, b"\xfd\xff\xff\xfe"),
            (-16777216, b"\xfd\x00\x00\x00"),
            (-16777217, b"\xfc\xff\xff\xff\xfe"),
            (-1073741824, b"\xfc\x00\x00\x00\xc0"),
        ] {
            let mut out = Vec::new();
            push_long(&mut out, n);
            assert_eq!(out, want, "{n}");
        }
    }

    #[test]
    fn large_numbers_are_packed() {
        for (n, want) in [
            ("1073741824", &b"+\x07\x00\x00\x00@"[..]),
            ("-1073741825", b"-\x07\x01\x00\x00@"),
            ("2147483648", b"+\x07\x00\x00\x00\x80"),
            ("1099511627776", b"+\x08\x00\x00\x00\x00\x00\x01"),
            ("-9223372036854775808", b"-\x09\x00\x00\x00\x00\x00\x00\x00\x80"),
            ("18446744073709551616", b"+\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00"),
            ("-18446744073709551616", b"-\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00"),
            ("2361183241434822606847", b"+\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00"),
            ("4722366482869645213696", b"+\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"),
        ] {
            let mut out = Vec::new();
            push_big(&mut out, &BigInt::from_str_radix(n.as_bytes(), 10).unwrap());
            assert_eq!(out, want, "{n}");
        }
    }

    #[test]
    fn floats_are_written_as_cruby_writes_them() {
        for (f, want) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (100.0, "1e2"),
            (1e15, "1e15"),
            (1.2345678901234568e17, "1.2345678901234568e17"),
            (1e22, "1e22"),
            (0.001, "0.001"),
            (0.0001, "0.0001"),
            (0.00012, "0.00012"),
            (1e-5, "1e-5"),
            (1.5e-10, "1.5e-10"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e308"),
            (3.25, "3.25"),
            (1234567.0, "1234567"),
            (9007199254740992.0, "9007199254740992"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(float_text(f), want, "{f:?}");
        }
    }
}
