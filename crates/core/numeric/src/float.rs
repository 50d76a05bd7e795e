//! Float: arithmetic, comparison, text, rounding, neighbours.

use crate::int_convert::{arg_digits, has_keywords, mode};
use crate::integer::*;
use crate::real::*;
use kumi_num::float::{self as nf, Rounding};
use kumi_num::round;
use kumi_vm::*;

fn f(v: Value) -> f64 {
    v.as_float().unwrap_or(0.0)
}
fn flo_to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let t = nf::to_s(f(recv));
    Ok(cx.str_ascii(&t))
}
fn flo_to_i(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    float_to_int(cx, f(recv))
}
fn flo_nan_p(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(f(recv).is_nan()))
}
fn flo_infinite_p(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    let x = f(recv);
    Ok(if x.is_infinite() { Value::fix(if x > 0.0 { 1 } else { -1 }) } else { Value::NIL })
}
fn flo_finite_p(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(f(recv).is_finite()))
}
fn flo_next(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(cx.float(nf::next_float(f(recv))))
}
fn flo_prev(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(cx.float(nf::prev_float(f(recv))))
}
fn flo_to_r(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let x = f(recv);
    match nf::to_rational(x) {
        Some(p) => Ok(rat_big(cx, p)),
        None => Err(cx.raise_msg(cx.k.float_domain_error, &nf::to_s(x))),
    }
}
fn flo_rationalize(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if !args.is_empty() {
        return Err(Exit::Miss);
    }
    let x = f(recv);
    match nf::rationalize(x) {
        Some(p) => Ok(rat_big(cx, p)),
        None => Err(cx.raise_msg(cx.k.float_domain_error, &nf::to_s(x))),
    }
}
fn flo_numerator(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    match nf::to_rational(f(recv)) {
        Some(p) => Ok(cx.big(p.0)),
        None => Ok(recv),
    }
}
fn flo_denominator(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    match nf::to_rational(f(recv)) {
        Some(p) => Ok(cx.big(p.1)),
        None => Ok(Value::fix(1)),
    }
}
fn flo_coerce(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match num(cx, args[0]).f64() {
        Some(x) => {
            let x = cx.float(x);
            Ok(cx.array(&[x, recv]))
        }
        None => Err(Exit::Miss),
    }
}

/// Rounds a float: an Integer for `digits` of none or at most zero, else a Float.
pub(crate) fn round_float(cx: &mut Cx, x: f64, digits: i64, how: Rounding) -> R {
    if digits > 0 {
        return Ok(cx.float(round::to_places(x, digits, how)));
    }
    if digits == 0 && x.abs() < 4e18 {
        return Ok(cx.int(round::whole(x, how) as i64));
    }
    match round::to_power(x, digits.unsigned_abs(), how) {
        Some(Ok(n)) => Ok(cx.big(n)),
        Some(Err(_)) => Err(refused_power(cx)),
        None => Err(cx.raise_msg(cx.k.float_domain_error, &nf::to_s(x))),
    }
}
fn rounded(cx: &mut Cx, recv: Value, args: &[Value], how: Rounding) -> R {
    let digits = if args.is_empty() {
        0
    } else if args.len() > 1 || has_keywords(args) {
        return Err(Exit::Miss);
    } else {
        arg_digits(cx, args, 0)?
    };
    round_float(cx, f(recv), digits, how)
}
fn flo_round(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rounded(cx, recv, args, Rounding::HalfUp)
}
fn flo_floor(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rounded(cx, recv, args, Rounding::Floor)
}
fn flo_ceil(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rounded(cx, recv, args, Rounding::Ceil)
}
fn flo_truncate(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rounded(cx, recv, args, Rounding::Truncate)
}
/// `__float_round(float, digits, mode)`
fn x_float_round(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let digits = arg_digits(cx, args, 1)?;
    round_float(cx, f(args[0]), digits, mode(args[2]))
}
/// `__float_sign_bit(float)`: is it negative, -0.0 included?
fn x_sign_bit(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(Value::bool(f(args[0]).is_sign_negative()))
}
/// `__float_steps(first, last, step, exclude_end)`: how many steps a float range has (Float when infinite).
fn x_float_steps(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (first, last, step) = (f(args[0]), f(args[1]), f(args[2]));
    let n = float_steps(first, last, step, args[3].truthy());
    if n.is_finite() { float_to_int(cx, n) } else { Ok(cx.float(n)) }
}
/// The number of elements of a float progression, allowing for the rounding of its division.
pub fn float_steps(first: f64, last: f64, step: f64, exclude: bool) -> f64 {
    let n = (last - first) / step;
    let err = (first.abs() + last.abs() + (last - first).abs()) / step.abs() * f64::EPSILON;
    if step == 0.0 {
        return f64::INFINITY;
    }
    if step.is_infinite() {
        let one = if step > 0.0 { first <= last } else { first >= last };
        return if one { 1.0 } else { 0.0 };
    }
    if n.is_infinite() {
        return if n > 0.0 { n } else { 0.0 };
    }
    let err = err.min(0.5);
    if exclude {
        if n <= 0.0 {
            return 0.0;
        }
        let whole = if n < 1.0 { 0.0 } else { (n - err).floor() };
        let d = whole * step + first;
        let more = if first < last { d < last } else { d > last };
        return if more { whole + 1.0 } else { whole };
    }
    if n < 0.0 {
        return 0.0;
    }
    (n + err).floor() + 1.0
}

pub static TABLE: &[NativeDef] = &[
    n("Float", "+", 1, 1, num_add),
    n("Float", "-", 1, 1, num_sub),
    n("Float", "*", 1, 1, num_mul),
    n("Float", "/", 1, 1, num_div),
    n("Float", "%", 1, 1, num_mod),
    n("Float", "quo", 1, 1, num_quo),
    n("Float", "divmod", 1, 1, num_divmod),
    n("Float", "div", 1, 1, num_idiv),
    n("Float", "remainder", 1, 1, num_remainder),
    n("Float", "**", 1, 1, num_pow),
    n("Float", "pow", 1, 1, num_pow),
    n("Float", "-@", 0, 0, num_neg),
    n("Float", "==", 1, 1, num_eq),
    n("Float", "<=>", 1, 1, num_cmp),
    n("Float", "<", 1, 1, num_lt),
    n("Float", "<=", 1, 1, num_le),
    n("Float", ">", 1, 1, num_gt),
    n("Float", ">=", 1, 1, num_ge),
    n("Float", "eql?", 1, 1, num_eql),
    n("Float", "hash", 0, 0, num_hash),
    n("Float", "abs", 0, 0, num_abs),
    n("Float", "zero?", 0, 0, num_zero_p),
    n("Float", "positive?", 0, 0, num_positive_p),
    n("Float", "negative?", 0, 0, num_negative_p),
    n("Float", "to_s", 0, 0, flo_to_s),
    n("Float", "to_i", 0, 0, flo_to_i),
    n("Float", "to_f", 0, 0, num_self),
    n("Float", "to_r", 0, 0, flo_to_r),
    n("Float", "rationalize", 0, 1, flo_rationalize),
    n("Float", "numerator", 0, 0, flo_numerator),
    n("Float", "denominator", 0, 0, flo_denominator),
    n("Float", "coerce", 1, 1, flo_coerce),
    n("Float", "nan?", 0, 0, flo_nan_p),
    n("Float", "infinite?", 0, 0, flo_infinite_p),
    n("Float", "finite?", 0, 0, flo_finite_p),
    n("Float", "next_float", 0, 0, flo_next),
    n("Float", "prev_float", 0, 0, flo_prev),
    n("Float", "round", 0, 2, flo_round),
    n("Float", "floor", 0, 1, flo_floor),
    n("Float", "ceil", 0, 1, flo_ceil),
    n("Float", "truncate", 0, 1, flo_truncate),
    intrinsic("__float_round", 3, 3, x_float_round),
    intrinsic("__float_sign_bit", 1, 1, x_sign_bit),
    intrinsic("__float_steps", 4, 4, x_float_steps),
];

/// Float's constants.
pub fn constants(cx: &mut Cx) {
    let float = cx.k.float;
    let values = [("INFINITY", f64::INFINITY), ("NAN", f64::NAN), ("EPSILON", f64::EPSILON), ("MAX", f64::MAX), ("MIN", f64::MIN_POSITIVE)];
    for (name, x) in values {
        let (s, v) = (cx.intern(name), cx.float(x));
        cx.set_const(float, s, v);
    }
    let ints =
        [("RADIX", 2), ("MANT_DIG", 53), ("DIG", 15), ("MIN_EXP", -1021), ("MAX_EXP", 1024), ("MIN_10_EXP", -307), ("MAX_10_EXP", 308)];
    for (name, i) in ints {
        let s = cx.intern(name);
        cx.set_const(float, s, Value::fix(i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of `(first..last).step(step)` and of `(first...last).step(step)`.
    #[test]
    fn steps_allow_for_rounding() {
        for (first, last, step, exclude, want) in [
            (1.0, 2.0, 0.1, false, 11.0),
            (1.0, 2.0, 0.1, true, 10.0),
            (0.0, 1.0, 0.3, false, 4.0),
            (0.0, 1.0, 0.3, true, 4.0),
            (1.0, 0.0, -0.25, false, 5.0),
            (1.0, 0.0, -0.25, true, 4.0),
            (1.0, 0.0, 0.1, false, 0.0),
            (1.0, 1.0, 0.1, false, 1.0),
            (1.0, 1.0, 0.1, true, 0.0),
            (1.0, 1.1, 0.1, false, 2.0),
            (0.0, 0.3, 0.1, true, 3.0),
            (1.0, 1e300, 1e299, false, 11.0),
            (1.0, 2.0, f64::INFINITY, false, 1.0),
            (3.0, 2.0, f64::INFINITY, false, 0.0),
            (1.0, f64::INFINITY, 1.0, false, f64::INFINITY),
            (1.0, 2.0, 0.0, false, f64::INFINITY),
        ] {
            assert_eq!(float_steps(first, last, step, exclude), want, "{first} to {last} by {step}, {exclude}");
        }
    }
}
