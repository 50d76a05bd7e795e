//! Complex: a Pair cell of real and imaginary part.
//!
//! Natives compute with parts that are built-in reals; other parts are the prelude's business.

use crate::integer::{num_hash, or_miss};
use crate::real::{self, *};
use kumi_vm::*;

/// A Complex of any two real parts.
pub fn cpx_raw(cx: &mut Cx, re: Value, im: Value) -> Value {
    cx.heap.pair(cx.k.complex.val(), re, im)
}
fn parts(v: Value) -> (Value, Value) {
    v.cell::<PairObj>().map_or((Value::fix(0), Value::fix(0)), |p| (p.a, p.b))
}
fn cpx_real(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(parts(recv).0)
}
fn cpx_imag(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(parts(recv).1)
}
/// Is an operation on that part so long that it is the twin's, which makes one after the other?
fn is_huge(v: Value) -> bool {
    const BITS: u64 = 64 * 1024;
    match v.cell::<PairObj>() {
        Some(p) => is_huge(p.a) || is_huge(p.b),
        None => v.as_big().is_some_and(|b| b.n.magnitude_bits() > BITS),
    }
}
/// The parts of an operand: a Complex, or a built-in real with no imaginary part.
fn operand(cx: &Cx, v: Value) -> Option<(Value, Option<Value>)> {
    if v.is_heap() && is_huge(v) {
        return None;
    }
    if let Some(p) = as_cpx(cx, v) {
        return Some((p.a, Some(p.b)));
    }
    (!matches!(num(cx, v), Num::Other)).then_some((v, None))
}
/// The parts of the receiver, if it is not the twin that should look at them.
fn own_parts(recv: Value) -> Result<(Value, Value), Exit> {
    if is_huge(recv) { Err(Exit::Miss) } else { Ok(parts(recv)) }
}
fn cpx_add(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let (a, b) = own_parts(recv)?;
    let (c, d) = operand(cx, args[0]).ok_or(Exit::Miss)?;
    let re = or_miss(real::add(cx, a, c))?;
    let im = match d {
        Some(d) => or_miss(real::add(cx, b, d))?,
        None => b,
    };
    Ok(cpx_raw(cx, re, im))
}
fn cpx_sub(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let (a, b) = own_parts(recv)?;
    let (c, d) = operand(cx, args[0]).ok_or(Exit::Miss)?;
    let re = or_miss(real::sub(cx, a, c))?;
    let im = match d {
        Some(d) => or_miss(real::sub(cx, b, d))?,
        None => b,
    };
    Ok(cpx_raw(cx, re, im))
}
/// A product that treats infinities as CRuby does: an exact zero times infinity stays a signed zero.
fn part_mul(cx: &mut Cx, x: Value, y: Value) -> R {
    or_miss(real::mul(cx, x, y))
}
fn cpx_mul(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let (a, b) = own_parts(recv)?;
    let (c, d) = operand(cx, args[0]).ok_or(Exit::Miss)?;
    let Some(d) = d else {
        let re = part_mul(cx, a, c)?;
        let im = part_mul(cx, b, c)?;
        return Ok(cpx_raw(cx, re, im));
    };
    // Infinite parts need care: the twin sorts them out.
    for v in [a, b, c, d] {
        if v.as_float().is_some_and(|f| !f.is_finite()) {
            return Err(Exit::Miss);
        }
    }
    let (ac, bd) = (part_mul(cx, a, c)?, part_mul(cx, b, d)?);
    let (ad, bc) = (part_mul(cx, a, d)?, part_mul(cx, b, c)?);
    let re = or_miss(real::sub(cx, ac, bd))?;
    let im = or_miss(real::add(cx, ad, bc))?;
    Ok(cpx_raw(cx, re, im))
}
fn cpx_neg(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let (a, b) = parts(recv);
    let re = real::neg(cx, a).ok_or(Exit::Miss)?;
    let im = real::neg(cx, b).ok_or(Exit::Miss)?;
    Ok(cpx_raw(cx, re, im))
}
fn cpx_conj(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let (a, b) = parts(recv);
    let im = real::neg(cx, b).ok_or(Exit::Miss)?;
    Ok(cpx_raw(cx, a, im))
}
fn cpx_eq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let (a, b) = own_parts(recv)?;
    let (c, d) = operand(cx, args[0]).ok_or(Exit::Miss)?;
    let re = real::eq(cx, a, c).ok_or(Exit::Miss)?;
    let im = real::eq(cx, b, d.unwrap_or(Value::fix(0))).ok_or(Exit::Miss)?;
    Ok(Value::bool(re && im))
}
fn cpx_abs(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let (a, b) = parts(recv);
    let x = num(cx, a).f64().ok_or(Exit::Miss)?;
    let y = num(cx, b).f64().ok_or(Exit::Miss)?;
    // On an axis, the other part's absolute value, of its own kind.
    for (on, off, zero) in [(a, b, y == 0.0), (b, a, x == 0.0)] {
        if zero && on.as_float().is_none() && off.as_float().is_none() {
            return crate::integer::num_abs(cx, on, &[]);
        }
    }
    let r = if y == 0.0 && !y.is_nan() {
        x.abs()
    } else if x == 0.0 {
        y.abs()
    } else {
        x.hypot(y)
    };
    Ok(cx.float(r))
}
/// `__complex(re, im)`: a Complex of these very parts.
fn x_complex(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(cpx_raw(cx, args[0], args[1]))
}
/// `__real_kind(v)`: 1 Integer, 2 Float, 3 Rational, 4 Complex, 0 others.
fn x_real_kind(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(Value::fix(match num(cx, args[0]) {
        Num::Fix(_) | Num::Big(_) => 1,
        Num::Flo(_) => 2,
        Num::Rat(_) => 3,
        Num::Other if as_cpx(cx, args[0]).is_some() => 4,
        Num::Other => 0,
    }))
}

pub static TABLE: &[NativeDef] = &[
    n("Complex", "real", 0, 0, cpx_real),
    n("Complex", "imaginary", 0, 0, cpx_imag),
    n("Complex", "+", 1, 1, cpx_add),
    n("Complex", "-", 1, 1, cpx_sub),
    n("Complex", "*", 1, 1, cpx_mul),
    n("Complex", "-@", 0, 0, cpx_neg),
    n("Complex", "conjugate", 0, 0, cpx_conj),
    n("Complex", "==", 1, 1, cpx_eq),
    n("Complex", "hash", 0, 0, num_hash),
    n("Complex", "abs", 0, 0, cpx_abs),
    intrinsic("__complex", 2, 2, x_complex),
    intrinsic("__real_kind", 1, 1, x_real_kind),
];

/// Complex::I.
pub fn constants(cx: &mut Cx) {
    let i = cpx_raw(cx, Value::fix(0), Value::fix(1));
    let (s, c) = (cx.intern("I"), cx.k.complex);
    cx.set_const(c, s, i);
}
