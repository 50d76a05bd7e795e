//! Rational: a Pair cell of two Integers in lowest terms, the denominator positive.

use crate::int_convert::{has_keywords, mode};
use crate::integer::*;
use crate::ratio::{self, Op};
use crate::real::*;
use kumi_num::BigInt;
use kumi_num::float::{Rounding, simplest_between};
use kumi_vm::*;

/// The parts of the receiver, which is a Rational.
fn parts(v: Value) -> (Value, Value) {
    v.cell::<PairObj>().map_or((Value::fix(0), Value::fix(1)), |p| (p.a, p.b))
}
fn rat_numerator(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(parts(recv).0)
}
fn rat_denominator(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(parts(recv).1)
}
fn rat_to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let t = ratio::text(cx, recv)?;
    Ok(cx.str_ascii(&t))
}
fn rat_inspect(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let t = ratio::text(cx, recv)?;
    Ok(cx.str_ascii(&format!("({t})")))
}
fn rat_to_f(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let (n, d) = parts(recv);
    Ok(cx.float(ifdiv(n, d)))
}
/// Rounds `n/d` to an Integer.
fn whole(cx: &mut Cx, n: Value, d: Value, how: Rounding) -> R {
    let one = Value::fix(1);
    Ok(match how {
        Rounding::Floor => idiv(cx, n, d)?,
        Rounding::Ceil => {
            let (q, r) = idivmod(cx, n, d)?;
            if isign(r) == 0 { q } else { iadd(cx, q, one) }
        }
        Rounding::Truncate => {
            let (q, r) = idivmod(cx, n, d)?;
            if isign(r) != 0 && isign(n) < 0 { iadd(cx, q, one) } else { q }
        }
        _ => {
            let (q, r) = idivmod(cx, n, d)?;
            let twice = iadd(cx, r, r);
            let odd = q.as_fix().map_or_else(|| !big(q).is_even(), |i| i & 1 == 1);
            let tie = match how {
                Rounding::HalfUp => isign(n) >= 0,
                Rounding::HalfDown => isign(n) < 0,
                _ => odd,
            };
            let o = icmp(twice, d);
            if o.is_gt() || (o.is_eq() && tie) { iadd(cx, q, one) } else { q }
        }
    })
}
/// Rounds to digits: an Integer for none, a Rational for others.
fn to_digits(cx: &mut Cx, v: Value, digits: i64, how: Rounding) -> R {
    if let Some(r) = ratio::rounded(cx, v, digits, how)? {
        return Ok(r);
    }
    let (n, d) = parts(v);
    let s = ipow(cx, Value::fix(10), digits.unsigned_abs())?;
    let (n, d) = if digits >= 0 { (imul(cx, n, s), d) } else { (n, imul(cx, d, s)) };
    let w = whole(cx, n, d, how)?;
    if digits > 0 { rat_new(cx, w, s) } else { Ok(imul(cx, w, s)) }
}
fn rounded(cx: &mut Cx, recv: Value, args: &[Value], how: Rounding) -> R {
    if args.is_empty() {
        if let Some(r) = ratio::rounded(cx, recv, 0, how)? {
            return Ok(r);
        }
        let (n, d) = parts(recv);
        return whole(cx, n, d, how);
    }
    if args.len() > 1 || has_keywords(args) {
        return Err(Exit::Miss);
    }
    if !is_int(args[0]) {
        return Err(cx.type_error("not an integer"));
    }
    let digits = cx.arg_i64(args, 0)?;
    to_digits(cx, recv, digits, how)
}
fn rat_round(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rounded(cx, recv, args, Rounding::HalfUp)
}
fn rat_floor(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rounded(cx, recv, args, Rounding::Floor)
}
fn rat_ceil(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rounded(cx, recv, args, Rounding::Ceil)
}
fn rat_truncate(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rounded(cx, recv, args, Rounding::Truncate)
}
/// `__rat_round(rational, digits, mode)`
fn x_rat_round(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    if !is_int(args[1]) {
        return Err(cx.type_error("not an integer"));
    }
    let digits = cx.arg_i64(args, 1)?;
    to_digits(cx, args[0], digits, mode(args[2]))
}
/// `__rat(n, d)`: a Rational of two Integers, reduced.
fn x_rat(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    if !is_int(args[0]) || !is_int(args[1]) {
        return Err(cx.type_error("not an integer"));
    }
    match ratio::of(cx, args[0], args[1])? {
        Some(r) => Ok(r),
        None => rat_new(cx, args[0], args[1]),
    }
}
/// `__rat_simplest(a, b)`: the simplest Rational from a to b (Rationals, a <= b).
fn x_rat_simplest(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let ((an, ad), (bn, bd)) = (parts(args[0]), parts(args[1]));
    let (sa, sb) = (isign(an), isign(bn));
    let own = |v: Value| -> BigInt { (*big(v)).clone() };
    if sa <= 0 && sb >= 0 {
        return Ok(rat_raw(cx, Value::fix(0), Value::fix(1)));
    }
    let r = if sa > 0 {
        simplest_between((&big(an), &big(ad)), (&big(bn), &big(bd)))
    } else {
        let (p, q) = simplest_between((&own(bn).neg(), &big(bd)), (&own(an).neg(), &big(ad)));
        (p.neg(), q)
    };
    Ok(rat_big(cx, r))
}
fn rat_to_r(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(recv)
}
fn rat_coerce(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match num(cx, args[0]) {
        Num::Fix(_) | Num::Big(_) => {
            let o = rat_raw(cx, args[0], Value::fix(1));
            Ok(cx.array(&[o, recv]))
        }
        Num::Flo(_) => {
            let (n, d) = parts(recv);
            let f = cx.float(ifdiv(n, d));
            Ok(cx.array(&[args[0], f]))
        }
        Num::Rat(_) => Ok(cx.array(&[args[0], recv])),
        Num::Other => Err(Exit::Miss),
    }
}
/// An operator of two Rationals, or of one and an Integer: huge ones by themselves, others as all numbers.
fn operator(cx: &mut Cx, op: Op, recv: Value, args: &[Value], plain: NativeFn) -> R {
    match huge(cx, op, recv, args)? {
        Some((_, r)) => Ok(r),
        None => plain(cx, recv, args),
    }
}
fn huge(cx: &mut Cx, op: Op, recv: Value, args: &[Value]) -> Result<Option<(Value, Value)>, Exit> {
    let large = ratio::are_large(recv, args[0]);
    if large && (as_rat(cx, args[0]).is_some() || is_int(args[0])) { ratio::operation(cx, op, recv, args[0]) } else { Ok(None) }
}
fn rat_plus(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    operator(cx, Op::Add, recv, args, num_add)
}
fn rat_minus(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    operator(cx, Op::Sub, recv, args, num_sub)
}
fn rat_times(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    operator(cx, Op::Mul, recv, args, num_mul)
}
fn rat_over(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    operator(cx, Op::Div, recv, args, num_div)
}
fn rat_modulo(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    operator(cx, Op::DivMod, recv, args, num_mod)
}
fn rat_remainder(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    operator(cx, Op::Remainder, recv, args, num_remainder)
}
fn rat_idiv(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match huge(cx, Op::DivMod, recv, args)? {
        Some((q, _)) => Ok(q),
        None => num_idiv(cx, recv, args),
    }
}
fn rat_divmod(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match huge(cx, Op::DivMod, recv, args)? {
        Some((q, r)) => Ok(cx.array(&[q, r])),
        None => num_divmod(cx, recv, args),
    }
}
fn rat_fdiv(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if isign(parts_of(args[0]).0) != 0 {
        if let Some((_, r)) = huge(cx, Op::Div, recv, args)? {
            return rat_to_f(cx, r, &[]);
        }
    }
    num_fdiv(cx, recv, args)
}
/// The parts of an operand; 0 is that of no Integer or Rational.
fn parts_of(v: Value) -> (Value, Value) {
    if is_int(v) { (v, Value::fix(1)) } else { v.cell::<PairObj>().map_or((Value::fix(0), Value::fix(1)), |p| (p.a, p.b)) }
}
fn rat_eq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    // Both are in lowest terms.
    if as_rat(cx, args[0]).is_some() {
        let ((a, b), (c, d)) = (parts(recv), parts(args[0]));
        return Ok(Value::bool(icmp(a, c).is_eq() && icmp(b, d).is_eq()));
    }
    num_eq(cx, recv, args)
}
/// The order of two huge ones.
fn order(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<Option<std::cmp::Ordering>, Exit> {
    let large = ratio::are_large(recv, args[0]);
    if large && (as_rat(cx, args[0]).is_some() || is_int(args[0])) { ratio::order(cx, recv, args[0]) } else { Ok(None) }
}
fn rat_cmp(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match order(cx, recv, args)? {
        Some(o) => Ok(Value::fix(o as i64)),
        None => num_cmp(cx, recv, args),
    }
}
/// What `told` says of the order of two huge ones; `general` compares all others.
#[inline(always)]
fn compared(cx: &mut Cx, recv: Value, args: &[Value], told: fn(std::cmp::Ordering) -> bool, general: NativeFn) -> R {
    match order(cx, recv, args)? {
        Some(o) => Ok(Value::bool(told(o))),
        None => general(cx, recv, args),
    }
}
fn rat_lt(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    compared(cx, recv, args, std::cmp::Ordering::is_lt, num_lt)
}
fn rat_le(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    compared(cx, recv, args, std::cmp::Ordering::is_le, num_le)
}
fn rat_gt(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    compared(cx, recv, args, std::cmp::Ordering::is_gt, num_gt)
}
fn rat_ge(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    compared(cx, recv, args, std::cmp::Ordering::is_ge, num_ge)
}
fn rat_pow(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if let Some(e) = args[0].as_fix() {
        if isign(parts(recv).0) != 0 && parts(recv) != (Value::fix(1), Value::fix(1)) && parts(recv) != (Value::fix(-1), Value::fix(1)) {
            if let Some(r) = ratio::pow(cx, recv, e)? {
                return Ok(r);
            }
        }
    }
    num_pow(cx, recv, args)
}
/// `__rat_decimals(v, places)`: what `format` shows of `|v|`, without its point.
fn x_rat_decimals(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let places = cx.arg_i64(args, 1)?;
    match ratio::decimals(cx, args[0], places.unsigned_abs())? {
        Some(t) => Ok(cx.str_ascii(&t)),
        None => Err(cx.arg_error("precision too big")),
    }
}

pub static TABLE: &[NativeDef] = &[
    n("Rational", "+", 1, 1, rat_plus),
    n("Rational", "-", 1, 1, rat_minus),
    n("Rational", "*", 1, 1, rat_times),
    n("Rational", "/", 1, 1, rat_over),
    n("Rational", "%", 1, 1, rat_modulo),
    n("Rational", "div", 1, 1, rat_idiv),
    n("Rational", "divmod", 1, 1, rat_divmod),
    n("Rational", "remainder", 1, 1, rat_remainder),
    n("Rational", "fdiv", 1, 1, rat_fdiv),
    n("Rational", "**", 1, 1, rat_pow),
    n("Rational", "pow", 1, 1, rat_pow),
    n("Rational", "-@", 0, 0, num_neg),
    n("Rational", "==", 1, 1, rat_eq),
    n("Rational", "<=>", 1, 1, rat_cmp),
    n("Rational", "<", 1, 1, rat_lt),
    n("Rational", "<=", 1, 1, rat_le),
    n("Rational", ">", 1, 1, rat_gt),
    n("Rational", ">=", 1, 1, rat_ge),
    n("Rational", "hash", 0, 0, num_hash),
    n("Rational", "abs", 0, 0, num_abs),
    n("Rational", "positive?", 0, 0, num_positive_p),
    n("Rational", "negative?", 0, 0, num_negative_p),
    n("Rational", "numerator", 0, 0, rat_numerator),
    n("Rational", "denominator", 0, 0, rat_denominator),
    n("Rational", "to_s", 0, 0, rat_to_s),
    n("Rational", "inspect", 0, 0, rat_inspect),
    n("Rational", "to_f", 0, 0, rat_to_f),
    n("Rational", "to_i", 0, 0, rat_truncate),
    n("Rational", "to_r", 0, 0, rat_to_r),
    n("Rational", "round", 0, 2, rat_round),
    n("Rational", "floor", 0, 1, rat_floor),
    n("Rational", "ceil", 0, 1, rat_ceil),
    n("Rational", "truncate", 0, 1, rat_truncate),
    n("Rational", "coerce", 1, 1, rat_coerce),
    intrinsic("__rat", 2, 2, x_rat),
    intrinsic("__rat_decimals", 2, 2, x_rat_decimals),
    intrinsic("__rat_round", 3, 3, x_rat_round),
    intrinsic("__rat_simplest", 2, 2, x_rat_simplest),
];
