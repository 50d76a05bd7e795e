//! Rationals of huge parts: arithmetic without a heap, done away from the worker.
//!
//! Invariant: a native asks here once, for its whole operation on its own receiver and arguments; what it would compute
//! on the way from what came out is part of the operation.

use crate::real::{big, is_int, rat_big, zero_div};
use kumi_num::big::is_refused_power;
use kumi_num::float::Rounding;
use kumi_num::int::pow10;
use kumi_num::{BigInt, cost};
use kumi_vm::*;

/// A fraction in lowest terms, the denominator positive.
type Ratio = (BigInt, BigInt);

/// What is computed of two fractions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    /// Floored quotient and rest.
    DivMod,
    /// As `DivMod`, the rest with the sign of the dividend.
    Remainder,
}

fn own(v: Value) -> BigInt {
    (*big(v)).clone()
}
fn parts(v: Value) -> (Value, Value) {
    v.cell::<PairObj>().filter(|_| !is_int(v)).map_or((v, Value::fix(1)), |p| (p.a, p.b))
}
fn ratio(v: Value) -> Ratio {
    let (n, d) = parts(v);
    (own(n), own(d))
}
/// Words of both parts.
#[inline]
fn words(v: Value) -> u64 {
    let of = |v: Value| v.as_big().map_or(0, |b| b.n.magnitude_bits().div_ceil(64));
    let (n, d) = parts(v);
    of(n) + of(d)
}
fn reduced(n: BigInt, d: BigInt) -> Option<Ratio> {
    if d.is_zero() {
        return None;
    }
    let (n, d) = if d.is_negative() { (n.neg(), d.neg()) } else { (n, d) };
    let g = n.gcd(&d);
    if g == BigInt::ONE { Some((n, d)) } else { Some((n.div_floor(&g)?, d.div_floor(&g)?)) }
}
fn sub(a: &Ratio, b: &Ratio) -> Option<Ratio> {
    reduced(a.0.mul(&b.1).sub(&b.0.mul(&a.1)), a.1.mul(&b.1))
}
/// The result, before it the quotient of those that have one; `None`: a division by zero.
fn compute(op: Op, a: &Ratio, b: &Ratio) -> Option<(BigInt, Ratio)> {
    let none = |r: Ratio| (BigInt::ZERO, r);
    match op {
        Op::Add => reduced(a.0.mul(&b.1).add(&b.0.mul(&a.1)), a.1.mul(&b.1)).map(none),
        Op::Sub => sub(a, b).map(none),
        Op::Mul => reduced(a.0.mul(&b.0), a.1.mul(&b.1)).map(none),
        Op::Div => reduced(a.0.mul(&b.1), a.1.mul(&b.0)).map(none),
        Op::DivMod | Op::Remainder => {
            // What is left, a - q * b, has the product of the denominators below it.
            let (q, r) = a.0.mul(&b.1).div_mod(&a.1.mul(&b.0))?;
            let rest = reduced(r, a.1.mul(&b.1))?;
            let turned = op == Op::Remainder && !rest.0.is_zero() && a.0.is_negative() != b.0.is_negative();
            let rest = if turned { sub(&rest, b)? } else { rest };
            Some((q, rest))
        }
    }
}

/// May an operation on the two be long? Plain ones are told apart before anything else is asked.
#[inline]
pub fn are_large(a: Value, b: Value) -> bool {
    words(a) + words(b) >= 64
}

/// What operations on that many words take, the divisor of what comes out included.
fn ns(words: u64) -> u64 {
    cost::gcd(words, words)
}

/// The operation, if it is one to be detached.
pub fn operation(cx: &mut Cx, op: Op, a: Value, b: Value) -> Result<Option<(Value, Value)>, Exit> {
    let w = words(a) + words(b);
    if w < 64 || !cx.worth_detaching(ns(w)) {
        return Ok(None);
    }
    match cx.detach_on_cells([a, b, Value::fix(op as i64)], ns(w), move || compute(op, &ratio(a), &ratio(b)))? {
        Some((q, r)) => Ok(Some((cx.big(q), rat_big(cx, r)))),
        None => Err(zero_div(cx)),
    }
}
/// `n / d` in lowest terms.
pub fn of(cx: &mut Cx, n: Value, d: Value) -> Result<Option<Value>, Exit> {
    Ok(operation(cx, Op::Div, n, d)?.map(|(_, r)| r))
}
/// The order of two, if finding it is to be detached.
pub fn order(cx: &mut Cx, a: Value, b: Value) -> Result<Option<std::cmp::Ordering>, Exit> {
    let w = words(a) + words(b);
    let ns = cost::product(w, w).saturating_mul(2);
    if w < 64 || !cx.worth_detaching(ns) {
        return Ok(None);
    }
    let work = move || {
        let (a, b) = (ratio(a), ratio(b));
        a.0.mul(&b.1).cmp(&b.0.mul(&a.1))
    };
    cx.detach_on_cells([a, b], ns, work).map(Some)
}
fn to_whole(n: &BigInt, d: &BigInt, how: Rounding) -> Option<BigInt> {
    let (q, r) = n.div_mod(d)?;
    let up = match how {
        Rounding::Floor => false,
        Rounding::Ceil => !r.is_zero(),
        Rounding::Truncate => !r.is_zero() && n.is_negative(),
        _ => {
            let tie = match how {
                Rounding::HalfUp => !n.is_negative(),
                Rounding::HalfDown => n.is_negative(),
                _ => !q.is_even(),
            };
            let o = r.add(&r).cmp(d);
            o.is_gt() || o.is_eq() && tie
        }
    };
    Some(if up { q.add_i64(1) } else { q })
}
/// `v` rounded to digits: a Rational where they are more than none, else an Integer. A power of ten that is refused is left to the
/// general way, which raises.
pub fn rounded(cx: &mut Cx, v: Value, digits: i64, how: Rounding) -> Result<Option<Value>, Exit> {
    let w = words(v) + digits.unsigned_abs() / 19;
    if w < 64 || is_refused_power(4, digits.unsigned_abs()) || !cx.worth_detaching(ns(w)) {
        return Ok(None);
    }
    let work = move || {
        let ((n, d), s) = (ratio(v), pow10(digits.unsigned_abs()).ok()?);
        if digits >= 0 {
            return reduced(to_whole(&n.mul(&s), &d, how)?, s);
        }
        Some((to_whole(&n, &d.mul(&s), how)?.mul(&s), BigInt::ONE))
    };
    let of = [v, Value::fix(digits), Value::fix(how as i64)];
    match cx.detach_on_cells(of, ns(w), work)? {
        Some(r) if digits > 0 => Ok(Some(rat_big(cx, r))),
        Some((n, _)) => Ok(Some(cx.big(n))),
        None => Err(cx.no_memory("failed to allocate memory")),
    }
}
/// `v ** exp` of a Rational that is not zero.
pub fn pow(cx: &mut Cx, v: Value, exp: i64) -> Result<Option<Value>, Exit> {
    let each = words(v).max(1).saturating_mul(64);
    let bits = each.saturating_mul(exp.unsigned_abs());
    if is_refused_power(each, exp.unsigned_abs()) || !cx.worth_detaching(cost::product(bits / 128, bits / 128)) {
        return Ok(None);
    }
    let work = move || {
        let (n, d) = ratio(v);
        let (n, d) = (n.pow(exp.unsigned_abs()).ok()?, d.pow(exp.unsigned_abs()).ok()?);
        match (exp >= 0, n.is_negative()) {
            (true, _) => Some((n, d)),
            (false, true) => Some((d.neg(), n.neg())),
            (false, false) => Some((d, n)),
        }
    };
    let made = cx.detach_on_cells([v, Value::fix(exp)], cost::product(bits / 128, bits / 128), work)?;
    Ok(made.map(|r| rat_big(cx, r)))
}
/// `n/d`
pub fn text(cx: &mut Cx, v: Value) -> Result<String, Exit> {
    let (n, d) = parts(v);
    let ns = cost::text(words(v), 10);
    if n.is_fix() && d.is_fix() || !cx.worth_detaching(ns) {
        return Ok(format!("{}/{}", &*big(n), &*big(d)));
    }
    cx.detach_on_cells([n, d], ns, move || format!("{}/{}", &*big(n), &*big(d)))
}
/// The digits of `|v|` times ten to the power of `places`, rounded: what `format` shows, and the Integer or Rational has.
pub fn decimals(cx: &mut Cx, v: Value, places: u64) -> Result<Option<String>, Exit> {
    let w = words(v) + places / 19;
    let ns = cost::product(w, w).saturating_mul(12);
    cx.detach_on_cells([v, Value::fix(places as i64)], ns, move || {
        let (n, d) = ratio(v);
        kumi_num::format::ratio_digits(&n, &d, places as usize).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r(n: i64, d: i64) -> Ratio {
        (BigInt::from_i64(n), BigInt::from_i64(d))
    }

    /// Sum, difference, product, quotient, and the rests of `divmod` and `remainder` with the floored quotient.
    #[test]
    fn fractions_are_computed_in_lowest_terms() {
        for (a, b, want, q) in [
            ((7, 2), (2, 3), [(25, 6), (17, 6), (7, 3), (21, 4), (1, 6), (1, 6)], 5),
            ((-7, 2), (2, 3), [(-17, 6), (-25, 6), (-7, 3), (-21, 4), (1, 2), (-1, 6)], -6),
            ((7, 2), (-2, 3), [(17, 6), (25, 6), (-7, 3), (-21, 4), (-1, 2), (1, 6)], -6),
            ((-7, 2), (-2, 3), [(-25, 6), (-17, 6), (7, 3), (21, 4), (-1, 6), (-1, 6)], 5),
            ((4, 1), (2, 1), [(6, 1), (2, 1), (8, 1), (2, 1), (0, 1), (0, 1)], 2),
            ((1, 3), (1, 6), [(1, 2), (1, 6), (1, 18), (2, 1), (0, 1), (0, 1)], 2),
        ] {
            let (x, y) = (r(a.0, a.1), r(b.0, b.1));
            let all = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::DivMod, Op::Remainder].map(|op| compute(op, &x, &y).unwrap());
            assert_eq!(all.clone().map(|(_, v)| v), want.map(|(n, d)| r(n, d)), "{a:?} and {b:?}");
            assert_eq!(all[4].0, BigInt::from_i64(q));
        }
        assert_eq!(compute(Op::Div, &r(1, 2), &r(0, 1)), None);
        assert_eq!(compute(Op::DivMod, &r(1, 2), &r(0, 1)), None);
    }

    /// Floor, ceil, truncate, and round with half up, down and even.
    #[test]
    fn fractions_are_rounded() {
        use Rounding::*;
        for (n, d, want) in [
            (7, 3, [2, 3, 2, 2, 2, 2]),
            (-7, 3, [-3, -2, -2, -2, -2, -2]),
            (1, 2, [0, 1, 0, 1, 0, 0]),
            (-1, 2, [-1, 0, 0, -1, 0, 0]),
            (5, 2, [2, 3, 2, 3, 2, 2]),
            (-5, 2, [-3, -2, -2, -3, -2, -2]),
            (3, 1, [3; 6]),
            (0, 1, [0; 6]),
            (3, 2, [1, 2, 1, 2, 1, 2]),
        ] {
            let (n, d) = r(n, d);
            let got = [Floor, Ceil, Truncate, HalfUp, HalfDown, HalfEven].map(|how| to_whole(&n, &d, how).unwrap());
            assert_eq!(got, want.map(BigInt::from_i64), "{n}/{d}");
        }
    }
}
