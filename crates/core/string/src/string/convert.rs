//! Strings read as numbers: `to_i`, `to_f`, `to_r`, `to_c`, `hex`, `oct`.

use crate::away::away;
use crate::text::*;
use kumi_num::int::Int;
use kumi_num::parse::{self, ComplexText, Component};
use kumi_num::{BigInt, TooLarge};
use kumi_vm::*;

fn int(cx: &mut Cx, n: Int) -> Value {
    match n {
        Int::Small(i) => cx.int(i),
        Int::Big(b) => match b.to_i64() {
            Some(i) => cx.int(i),
            None => cx.big(b),
        },
    }
}
fn big(cx: &mut Cx, n: BigInt) -> Value {
    int(cx, Int::from(n))
}
fn ascii_checked(cx: &mut Cx, s: Str) -> Result<(), Exit> {
    if enc(s).is_ascii_compatible() {
        return Ok(());
    }
    let m = format!("ASCII incompatible encoding: {}", enc(s).name());
    Err(cx.raise_msg(cx.k.compatibility_error, &m))
}
fn to_i(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let base = if args.is_empty() { 10 } else { cx.arg_c_int(args, 0)? as i64 };
    if base < 0 || base == 1 || base > 36 {
        return Err(cx.arg_error(&format!("invalid radix {base}")));
    }
    ascii_checked(cx, s)?;
    read(cx, s, base)
}
/// The Integer that the string begins with, 0 if it does not.
fn read(cx: &mut Cx, s: Str, base: i64) -> R {
    let ns = kumi_num::cost::reading(s.bytes().len());
    let n = cx.detach_on_bytes(s.bytes(), ns, move |b| parse::integer(b, base, false))?;
    Ok(n.map_or(Value::fix(0), |n| int(cx, n)))
}
fn hex(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    ascii_checked(cx, s)?;
    read(cx, s, 16)
}
fn oct(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    ascii_checked(cx, s)?;
    read(cx, s, -8)
}
fn to_f(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    ascii_checked(cx, s)?;
    let f = away(cx, s, s.bytes().len() as u64 * 4, |b| parse::float(b, false).unwrap_or(0.0))?;
    cx.float_read(f, s.bytes())
}
fn too_big(cx: &mut Cx, _: TooLarge) -> Exit {
    cx.raise_msg(cx.k.float_domain_error, "Infinity")
}
fn rational(cx: &mut Cx, n: BigInt, d: BigInt) -> R {
    if d.is_zero() {
        return Err(cx.raise_msg(cx.k.zero_division_error, "divided by 0"));
    }
    let (a, b) = (big(cx, n), big(cx, d));
    Ok(cx.heap.pair(cx.k.rational.val(), a, b))
}
/// How long reading fractions takes: as long as reducing what is read of them.
fn reading_ratio(s: Str) -> u64 {
    let words = s.bytes().len() as u64 / 16;
    kumi_num::cost::gcd(words, words)
}
fn to_r(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    ascii_checked(cx, s)?;
    match away(cx, s, reading_ratio(s), |b| parse::rational(b, false))? {
        Ok(Some((n, d))) => rational(cx, n, d),
        Ok(None) => rational(cx, BigInt::ZERO, BigInt::ONE),
        Err(e) => Err(too_big(cx, e)),
    }
}
fn component(cx: &mut Cx, c: Component) -> R {
    match c {
        Component::Int(n) => Ok(int(cx, n)),
        Component::Float(f) => Ok(cx.float(f)),
        Component::Rational(n, d) => rational(cx, n, d),
    }
}
fn complex(cx: &mut Cx, c: ComplexText) -> R {
    let a = component(cx, c.first)?;
    let b = match c.second {
        Some(x) => component(cx, x)?,
        None => Value::fix(0),
    };
    if c.polar {
        let k = cx.k.complex.val();
        let polar = cx.intern("polar");
        return Err(cx.call(k, polar, &[a, b]));
    }
    Ok(cx.heap.pair(cx.k.complex.val(), a, b))
}
fn to_c(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    ascii_checked(cx, s)?;
    // Reading stops at a null byte.
    let read = away(cx, s, reading_ratio(s), |b| parse::complex(&b[..memchr::memchr(0, b).unwrap_or(b.len())], false))?;
    match read {
        Ok(Some(c)) => complex(cx, c),
        Ok(None) => Ok(cx.heap.pair(cx.k.complex.val(), Value::fix(0), Value::fix(0))),
        Err(e) => Err(too_big(cx, e)),
    }
}

pub static TABLE: &[NativeDef] = &[
    n("String", "to_i", 0, 1, to_i),
    n("String", "hex", 0, 0, hex),
    n("String", "oct", 0, 0, oct),
    n("String", "to_f", 0, 0, to_f),
    n("String", "to_r", 0, 0, to_r),
    n("String", "to_c", 0, 0, to_c),
];
