//! Integer: text, characters, digits, rounding, divisors, conversion.

use crate::integer::num_self;
use crate::long::{self, Digits};
use crate::real::*;
use kumi_num::float::Rounding;
use kumi_num::{BigInt, int};
use kumi_vm::*;

/// Rounding mode of a prelude call: 0 floor, 1 ceil, 2 truncate, 3 half up, 4 half down, 5 half even.
pub(crate) fn mode(v: Value) -> Rounding {
    match v.as_fix() {
        Some(0) => Rounding::Floor,
        Some(1) => Rounding::Ceil,
        Some(2) => Rounding::Truncate,
        Some(4) => Rounding::HalfDown,
        Some(5) => Rounding::HalfEven,
        _ => Rounding::HalfUp,
    }
}
/// The receiver is in the method's class, but `half:` came: the twin reads it.
pub(crate) fn has_keywords(args: &[Value]) -> bool {
    args.last().is_some_and(|v| v.is_kind(Kind::Hash))
}

/// Argument `i` as a C int: a digit count.
pub(crate) fn arg_digits(cx: &mut Cx, args: &[Value], i: usize) -> Result<i64, Exit> {
    Ok(cx.arg_c_int(args, i)? as i64)
}
/// Rounds an Integer to `10 ** -digits`.
pub(crate) fn round_int(cx: &mut Cx, v: Value, digits: i64, how: Rounding) -> R {
    if digits >= 0 {
        return Ok(v);
    }
    match long::round(cx, v, digits.unsigned_abs(), how)? {
        Ok(n) => Ok(cx.big(n)),
        Err(_) => Err(refused_power(cx)),
    }
}
fn rounded(cx: &mut Cx, recv: Value, args: &[Value], how: Rounding) -> R {
    if args.is_empty() {
        return Ok(recv);
    }
    if args.len() > 1 || has_keywords(args) {
        return Err(Exit::Miss);
    }
    let digits = arg_digits(cx, args, 0)?;
    round_int(cx, recv, digits, how)
}
fn int_round(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rounded(cx, recv, args, Rounding::HalfUp)
}
fn int_floor(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rounded(cx, recv, args, Rounding::Floor)
}
fn int_ceil(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rounded(cx, recv, args, Rounding::Ceil)
}
fn int_truncate(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rounded(cx, recv, args, Rounding::Truncate)
}
/// `__int_round(int, digits, mode)`
fn x_int_round(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let digits = arg_digits(cx, args, 1)?;
    round_int(cx, args[0], digits, mode(args[2]))
}

/// Text of an Integer value in a radix.
pub fn int_text(v: Value, radix: u32) -> String {
    match v.as_fix() {
        Some(i) => int::to_string_radix(i, radix),
        None => big(v).to_string_radix(radix),
    }
}
fn int_to_s(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let radix = if args.is_empty() { 10 } else { cx.arg_c_int(args, 0)? as i64 };
    if !(2..=36).contains(&radix) {
        return Err(cx.arg_error(&format!("invalid radix {radix}")));
    }
    let t = match recv.as_fix() {
        Some(i) => int::to_string_radix(i, radix as u32),
        None => long::to_text(cx, recv, radix as u32)?,
    };
    Ok(cx.str_ascii(&t))
}
fn out_of_char_range(cx: &mut Cx, v: Value) -> Exit {
    let t = match v.as_fix() {
        Some(_) => format!("{} out of char range", int_text(v, 10)),
        None => "bignum out of char range".into(),
    };
    cx.range_error(&t)
}
fn int_chr(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let Some(code) = recv.as_fix().and_then(|i| u32::try_from(i).ok()) else {
        return Err(out_of_char_range(cx, recv));
    };
    if args.is_empty() {
        return match code {
            0..=0x7f => Ok(cx.str_enc(&[code as u8], EncIndex::US_ASCII)),
            0x80..=0xff => Ok(cx.str_enc(&[code as u8], EncIndex::BINARY)),
            // A default internal encoding may know more: the twin looks.
            _ => Err(Exit::Miss),
        };
    }
    let Some(name) = args[0].as_str() else { return Err(Exit::Miss) };
    let Some(enc) = EncIndex::find(name.bytes()) else {
        let t = format!("unknown encoding name - {}", cx.text(args[0]));
        return Err(cx.arg_error(&t));
    };
    if enc == EncIndex::US_ASCII && (0x80..0x100).contains(&code) {
        return Err(out_of_char_range(cx, recv));
    }
    match enc.encode(code) {
        Some(b) => Ok(cx.str_enc(b.as_bytes(), enc)),
        None if enc.max_len() > 1 && (!enc.is_unicode() || code <= 0x10ffff) => {
            let t = format!("invalid codepoint 0x{code:X} in {}", enc.name());
            Err(cx.range_error(&t))
        }
        None => Err(out_of_char_range(cx, recv)),
    }
}
/// `__int_out_of_char_range(int)` raises.
fn x_char_range(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    Err(out_of_char_range(cx, args[0]))
}
fn int_size(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    match recv.as_fix() {
        Some(_) => Ok(Value::fix(8)),
        None => {
            let n = big(recv).byte_len().max(8);
            Ok(cx.uint(n as u64))
        }
    }
}
fn int_digits(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let base = if args.is_empty() { Value::fix(10) } else { cx.arg_int(args, 0)? };
    if isign(base) < 0 {
        return Err(cx.arg_error("negative radix"));
    }
    if let Some(b @ 0..=1) = base.as_fix() {
        return Err(cx.arg_error(&format!("invalid radix {b}")));
    }
    if isign(recv) < 0 {
        let c = cx.const_path("Math::DomainError").and_then(|v| v.as_class()).unwrap_or(cx.k.argument_error);
        return Err(cx.raise_msg(c, "out of domain"));
    }
    if let (Some(n), Some(b)) = (recv.as_fix(), base.as_fix()) {
        let out = int::digits(n, b).unwrap_or_default();
        return Ok(cx.array_vec(out.into_iter().map(Value::fix).collect()));
    }
    // A base that was converted is no argument: nobody would hold it.
    let out = if base == args.first().copied().unwrap_or(base) { long::digits(cx, recv, base)? } else { Digits::of(recv, base) };
    match out {
        Digits::Small(list) => Ok(cx.array_vec(list.into_iter().map(Value::fix).collect())),
        Digits::Large(list) => {
            let list = list.into_iter().map(|d| cx.big(d)).collect();
            Ok(cx.array_vec(list))
        }
    }
}

fn other_int(cx: &mut Cx, args: &[Value]) -> R {
    if is_int(args[0]) { Ok(args[0]) } else { Err(cx.type_error("not an integer")) }
}
fn int_gcd(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let o = other_int(cx, args)?;
    match long::gcd(cx, recv, o)? {
        Some(n) => Ok(n),
        None => Ok(igcd(cx, recv, o)),
    }
}
fn lcm(cx: &mut Cx, a: Value, b: Value) -> Value {
    if let (Some(x), Some(y)) = (a.as_fix(), b.as_fix()) {
        if let Some(n) = int::lcm(x, y) {
            return cx.uint(n);
        }
    }
    let n = big(a).lcm(&big(b));
    cx.big(n)
}
fn int_lcm(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let o = other_int(cx, args)?;
    match long::gcd_lcm(cx, recv, o)? {
        Some((_, l)) => Ok(l),
        None => Ok(lcm(cx, recv, o)),
    }
}
fn int_gcdlcm(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let o = other_int(cx, args)?;
    let (g, l) = match long::gcd_lcm(cx, recv, o)? {
        Some(made) => made,
        None => (igcd(cx, recv, o), lcm(cx, recv, o)),
    };
    Ok(cx.array(&[g, l]))
}
fn int_one(_: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::fix(1))
}
fn int_to_f(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(cx.float(int_f64(recv)))
}
fn int_to_r(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(rat_raw(cx, recv, Value::fix(1)))
}
fn int_ceildiv(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if !is_int(args[0]) {
        return Err(Exit::Miss);
    }
    // The quotient rounded up: there is a rest, or not.
    let (q, r) = match long::div_mod(cx, recv, args[0])? {
        Some(made) => made,
        None => idivmod(cx, recv, args[0])?,
    };
    Ok(if isign(r) == 0 { q } else { iadd(cx, q, Value::fix(1)) })
}
fn int_coerce(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match num(cx, args[0]) {
        Num::Fix(_) | Num::Big(_) => Ok(cx.array(&[args[0], recv])),
        Num::Flo(_) => {
            let f = cx.float(int_f64(recv));
            Ok(cx.array(&[args[0], f]))
        }
        _ => Err(Exit::Miss),
    }
}
fn int_sqrt(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let v = cx.arg_int(args, 0)?;
    let r = match v.as_fix() {
        Some(i) => int::isqrt(i).map(BigInt::from_i64),
        None if v == args[0] => long::isqrt(cx, v)?,
        None => big(v).isqrt(),
    };
    match r {
        Some(n) => Ok(cx.big(n)),
        None => Err(crate::math::domain_error(cx, "\"isqrt\"")),
    }
}
fn int_try_convert(_: &mut Cx, _: Value, args: &[Value]) -> R {
    if is_int(args[0]) { Ok(args[0]) } else { Err(Exit::Miss) }
}

pub static TABLE: &[NativeDef] = &[
    n("Integer", "to_s", 0, 1, int_to_s),
    n("Integer", "chr", 0, 1, int_chr),
    n("Integer", "ord", 0, 0, num_self),
    n("Integer", "size", 0, 0, int_size),
    n("Integer", "digits", 0, 1, int_digits),
    n("Integer", "round", 0, 2, int_round),
    n("Integer", "floor", 0, 1, int_floor),
    n("Integer", "ceil", 0, 1, int_ceil),
    n("Integer", "truncate", 0, 1, int_truncate),
    n("Integer", "gcd", 1, 1, int_gcd),
    n("Integer", "lcm", 1, 1, int_lcm),
    n("Integer", "gcdlcm", 1, 1, int_gcdlcm),
    n("Integer", "denominator", 0, 0, int_one),
    n("Integer", "to_f", 0, 0, int_to_f),
    n("Integer", "to_r", 0, 0, int_to_r),
    n("Integer", "ceildiv", 1, 1, int_ceildiv),
    n("Integer", "coerce", 1, 1, int_coerce),
    n("Integer.", "sqrt", 1, 1, int_sqrt),
    n("Integer.", "try_convert", 1, 1, int_try_convert),
    intrinsic("__int_round", 3, 3, x_int_round),
    intrinsic("__int_out_of_char_range", 1, 1, x_char_range),
];
