//! Rational: a Pair cell of two Integers in lowest terms, the denominator positive.

use crate::int_convert::{has_keywords, int_text, mode};
use crate::integer::*;
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
fn text(v: Value) -> String {
    let (n, d) = parts(v);
    format!("{}/{}", int_text(n, 10), int_text(d, 10))
}
fn rat_to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(cx.str_ascii(&text(recv)))
}
fn rat_inspect(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(cx.str_ascii(&format!("({})", text(recv))))
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
    let (n, d) = parts(v);
    let s = ipow(cx, Value::fix(10), digits.unsigned_abs())?;
    let (n, d) = if digits >= 0 { (imul(cx, n, s), d) } else { (n, imul(cx, d, s)) };
    let w = whole(cx, n, d, how)?;
    if digits > 0 { rat_new(cx, w, s) } else { Ok(imul(cx, w, s)) }
}
fn rounded(cx: &mut Cx, recv: Value, args: &[Value], how: Rounding) -> R {
    let (n, d) = parts(recv);
    if args.is_empty() {
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
    rat_new(cx, args[0], args[1])
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
fn rat_div(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    num_div(cx, recv, args)
}

pub static TABLE: &[NativeDef] = &[
    n("Rational", "+", 1, 1, num_add),
    n("Rational", "-", 1, 1, num_sub),
    n("Rational", "*", 1, 1, num_mul),
    n("Rational", "/", 1, 1, rat_div),
    n("Rational", "%", 1, 1, num_mod),
    n("Rational", "div", 1, 1, num_idiv),
    n("Rational", "divmod", 1, 1, num_divmod),
    n("Rational", "remainder", 1, 1, num_remainder),
    n("Rational", "fdiv", 1, 1, num_fdiv),
    n("Rational", "**", 1, 1, num_pow),
    n("Rational", "pow", 1, 1, num_pow),
    n("Rational", "-@", 0, 0, num_neg),
    n("Rational", "==", 1, 1, num_eq),
    n("Rational", "<=>", 1, 1, num_cmp),
    n("Rational", "<", 1, 1, num_lt),
    n("Rational", "<=", 1, 1, num_le),
    n("Rational", ">", 1, 1, num_gt),
    n("Rational", ">=", 1, 1, num_ge),
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
    intrinsic("__rat_round", 3, 3, x_rat_round),
    intrinsic("__rat_simplest", 2, 2, x_rat_simplest),
];
