//! Reading numbers from text: the leaves under `Integer()`, `Float()`, `Rational()`,
//! `Complex()` and String's `to_i`, `to_f`, `to_r`, `to_c`.

use crate::complex::cpx_raw;
use crate::real::*;
use kumi_num::int::Int;
use kumi_num::parse::{self, Component};
use kumi_vm::*;

/// A parsed Integer as a value.
pub fn int_value(cx: &mut Cx, n: Int) -> Value {
    match n {
        Int::Small(i) => cx.int(i),
        Int::Big(b) => cx.big(b),
    }
}
fn bytes(cx: &mut Cx, v: Value) -> Result<Gc<StrObj>, Exit> {
    match v.as_str() {
        Some(s) => Ok(s),
        None => Err(cx.type_error("not a string")),
    }
}
/// `__parse_int(str, base, strict)`: an Integer, or nil when a strict reader refuses.
fn x_parse_int(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = bytes(cx, args[0])?;
    let base = cx.arg_c_int(args, 1)? as i64;
    if !parse::valid_base(base) {
        return Err(cx.arg_error(&format!("invalid radix {base}")));
    }
    let strict = args[2].truthy();
    let ns = kumi_num::cost::reading(s.bytes().len());
    match cx.detach_on_bytes(s.bytes(), ns, move |b| parse::integer(b, base, strict))? {
        Some(n) => Ok(int_value(cx, n)),
        None => Ok(Value::NIL),
    }
}
/// `__parse_float(str, strict)`
fn x_parse_float(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = bytes(cx, args[0])?;
    let strict = args[1].truthy();
    match cx.detach_on_bytes(s.bytes(), s.bytes().len() as u64 * 4, move |b| parse::float(b, strict))? {
        Some(f) => cx.float_read(f, s.bytes()),
        None => Ok(Value::NIL),
    }
}
/// How long reading fractions takes: as long as reducing what is read of them.
fn reading_ratio(s: Gc<StrObj>) -> u64 {
    let words = s.bytes().len() as u64 / 16;
    kumi_num::cost::gcd(words, words)
}
/// `__parse_rational(str, strict)`
fn x_parse_rational(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = bytes(cx, args[0])?;
    let strict = args[1].truthy();
    match cx.detach_on_bytes(s.bytes(), reading_ratio(s), move |b| parse::rational(b, strict))? {
        Ok(Some((_, d))) if d.is_zero() => Err(zero_div(cx)),
        Ok(Some(r)) => Ok(rat_big(cx, r)),
        Ok(None) => Ok(Value::NIL),
        Err(_) => Err(refused_power(cx)),
    }
}
fn component(cx: &mut Cx, c: Component) -> R {
    match c {
        Component::Int(n) => Ok(int_value(cx, n)),
        Component::Float(f) => Ok(cx.float(f)),
        Component::Rational(_, d) if d.is_zero() => Err(zero_div(cx)),
        Component::Rational(n, d) => Ok(rat_big(cx, (n, d))),
    }
}
/// `__parse_complex(str, strict)`: a Complex, nil, or `[magnitude, angle]` of a polar one.
fn x_parse_complex(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = bytes(cx, args[0])?;
    let strict = args[1].truthy();
    match cx.detach_on_bytes(s.bytes(), reading_ratio(s), move |b| parse::complex(b, strict))? {
        Ok(Some(t)) => {
            let a = component(cx, t.first)?;
            let b = match t.second {
                Some(c) => component(cx, c)?,
                None => Value::fix(0),
            };
            Ok(if t.polar { cx.array(&[a, b]) } else { cpx_raw(cx, a, b) })
        }
        Ok(None) => Ok(Value::NIL),
        Err(_) => Err(refused_power(cx)),
    }
}
/// `Integer(x)` of one plain argument; everything else is the twin's.
fn k_integer(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    if args.len() == 1 {
        if is_int(args[0]) {
            return Ok(args[0]);
        }
        if let Some(f) = args[0].as_float() {
            return float_to_int(cx, f);
        }
        if let Some(s) = args[0].as_str() {
            let ns = kumi_num::cost::reading(s.bytes().len());
            if let Some(n) = cx.detach_on_bytes(s.bytes(), ns, |b| parse::integer(b, 0, true))? {
                return Ok(int_value(cx, n));
            }
        }
    }
    Err(Exit::Miss)
}
/// `Float(x)` of one plain argument; everything else is the twin's.
fn k_float(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    if args.len() == 1 {
        if args[0].as_float().is_some() {
            return Ok(args[0]);
        }
        if let Some(f) = num(cx, args[0]).f64() {
            return Ok(cx.float(f));
        }
        if let Some(s) = args[0].as_str() {
            if let Some(f) = cx.detach_on_bytes(s.bytes(), s.bytes().len() as u64 * 4, |b| parse::float(b, true))? {
                return cx.float_read(f, s.bytes());
            }
        }
    }
    Err(Exit::Miss)
}

pub static TABLE: &[NativeDef] = &[
    private("Kernel", "Integer", 1, 3, k_integer),
    private("Kernel", "Float", 1, 2, k_float),
    n("Kernel.", "Integer", 1, 3, k_integer),
    n("Kernel.", "Float", 1, 2, k_float),
    intrinsic("__parse_int", 3, 3, x_parse_int),
    intrinsic("__parse_float", 2, 2, x_parse_float),
    intrinsic("__parse_rational", 2, 2, x_parse_rational),
    intrinsic("__parse_complex", 2, 2, x_parse_complex),
];
