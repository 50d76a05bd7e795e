//! The built-in real numbers (Integer, Float, Rational) as one family: arithmetic
//! between any two of them.
//!
//! Invariant: every function answers `None` when an operand is outside the family
//! (then the caller hands over to its prelude twin, which coerces), and never
//! panics; results too large for memory raise before they are computed.

use kumi_num::{BigInt, float as nf, int};
use kumi_vm::*;
use std::cmp::Ordering;

/// A built-in real number.
#[derive(Clone, Copy)]
pub enum Num {
    /// An Integer of one word.
    Fix(i64),
    /// Any larger Integer.
    Big(Gc<BigObj>),
    /// A Float.
    Flo(f64),
    /// A Rational: numerator and denominator.
    Rat(Gc<PairObj>),
    /// Anything else.
    Other,
}

/// An Integer as a big one: borrowed from its cell, or made from a fixnum.
pub enum AsBig {
    /// Made from a fixnum.
    Own(BigInt),
    /// The number in its cell.
    Cell(Gc<BigObj>),
}

impl std::ops::Deref for AsBig {
    type Target = BigInt;
    fn deref(&self) -> &BigInt {
        match self {
            AsBig::Own(n) => n,
            AsBig::Cell(c) => &c.n,
        }
    }
}

/// Classifies a value.
#[inline(always)]
pub fn num(cx: &Cx, v: Value) -> Num {
    if v.is_fix() {
        return Num::Fix(v.fix_val());
    }
    if v.is_flo() {
        return Num::Flo(v.flo_val());
    }
    num_cell(cx, v)
}

fn num_cell(cx: &Cx, v: Value) -> Num {
    match v.kind() {
        Some(Kind::Float) => Num::Flo(v.as_float().unwrap_or(0.0)),
        Some(Kind::Big) => v.as_big().map_or(Num::Other, Num::Big),
        Some(Kind::Pair) => as_rat(cx, v).map_or(Num::Other, Num::Rat),
        _ => Num::Other,
    }
}

/// The cell of a Rational.
#[inline]
pub fn as_rat(cx: &Cx, v: Value) -> Option<Gc<PairObj>> {
    v.cell::<PairObj>().filter(|_| cx.is_a(v, cx.k.rational))
}

/// The cell of a Complex.
#[inline]
pub(crate) fn as_cpx(cx: &Cx, v: Value) -> Option<Gc<PairObj>> {
    v.cell::<PairObj>().filter(|_| cx.is_a(v, cx.k.complex))
}

/// Is it an Integer?
#[inline(always)]
pub fn is_int(v: Value) -> bool {
    v.is_fix() || v.is_kind(Kind::Big)
}

/// An Integer value as a big one (zero for other values: callers have looked).
pub fn big(v: Value) -> AsBig {
    match v.as_big() {
        Some(c) => AsBig::Cell(c),
        None => AsBig::Own(BigInt::from_i64(v.as_fix().unwrap_or(0))),
    }
}

/// An Integer value as a double.
pub(crate) fn int_f64(v: Value) -> f64 {
    if v.is_fix() { v.fix_val() as f64 } else { big(v).to_f64() }
}

/// "divided by 0"
pub fn zero_div(cx: &mut Cx) -> Exit {
    cx.raise_msg(cx.k.zero_division_error, "divided by 0")
}

/// A float made an Integer by truncation; FloatDomainError for NaN and infinities.
pub(crate) fn float_to_int(cx: &mut Cx, f: f64) -> R {
    if f.abs() < 4e18 {
        return Ok(cx.int(f as i64));
    }
    match BigInt::from_f64(f) {
        Some(n) => Ok(cx.big(n)),
        None => Err(cx.raise_msg(cx.k.float_domain_error, &nf::to_s(f))),
    }
}

// --- integers -----------------------------------------------------------------

/// `a + b` of two Integers.
pub(crate) fn iadd(cx: &mut Cx, a: Value, b: Value) -> Value {
    if a.is_fix() && b.is_fix() {
        return cx.int(a.fix_val() + b.fix_val());
    }
    let n = big(a).add(&big(b));
    cx.big(n)
}
/// `a - b` of two Integers.
pub(crate) fn isub(cx: &mut Cx, a: Value, b: Value) -> Value {
    if a.is_fix() && b.is_fix() {
        return cx.int(a.fix_val() - b.fix_val());
    }
    let n = big(a).sub(&big(b));
    cx.big(n)
}
/// `a * b` of two Integers.
pub(crate) fn imul(cx: &mut Cx, a: Value, b: Value) -> Value {
    if a.is_fix() && b.is_fix() {
        return cx.int128(a.fix_val() as i128 * b.fix_val() as i128);
    }
    let n = match (a.as_fix(), b.as_fix()) {
        (Some(i), _) => big(b).mul_i64(i),
        (_, Some(i)) => big(a).mul_i64(i),
        _ if a == b => {
            let a = big(a);
            a.mul(&a)
        }
        _ => big(a).mul(&big(b)),
    };
    cx.big(n)
}
/// Floored quotient and modulo of two Integers; ZeroDivisionError.
pub(crate) fn idivmod(cx: &mut Cx, a: Value, b: Value) -> Result<(Value, Value), Exit> {
    if let (Some(x), Some(y)) = (a.as_fix(), b.as_fix()) {
        return match int::div_mod(x, y) {
            Some((q, r)) => Ok((cx.int(q), cx.int(r))),
            None => Err(zero_div(cx)),
        };
    }
    let r = big(a).div_mod(&big(b));
    match r {
        Some((q, r)) => Ok((cx.big(q), cx.big(r))),
        None => Err(zero_div(cx)),
    }
}
/// Floored quotient of two Integers; ZeroDivisionError.
pub(crate) fn idiv(cx: &mut Cx, a: Value, b: Value) -> R {
    if let (Some(x), Some(y)) = (a.as_fix(), b.as_fix()) {
        return match int::div_floor(x, y) {
            Some(q) => Ok(cx.int(q)),
            None => Err(zero_div(cx)),
        };
    }
    Ok(idivmod(cx, a, b)?.0)
}
/// Modulo of two Integers; ZeroDivisionError.
pub(crate) fn imod(cx: &mut Cx, a: Value, b: Value) -> R {
    if let (Some(x), Some(y)) = (a.as_fix(), b.as_fix()) {
        return match int::modulo(x, y) {
            Some(q) => Ok(cx.int(q)),
            None => Err(zero_div(cx)),
        };
    }
    let r = big(a).modulo(&big(b));
    match r {
        Some(r) => Ok(cx.big(r)),
        None => Err(zero_div(cx)),
    }
}
/// Order of two Integers.
pub(crate) fn icmp(a: Value, b: Value) -> Ordering {
    match (a.as_fix(), b.as_fix()) {
        (Some(x), Some(y)) => x.cmp(&y),
        _ => big(a).cmp(&big(b)),
    }
}
/// -1, 0 or 1.
pub(crate) fn isign(v: Value) -> i64 {
    match v.as_fix() {
        Some(i) => i.signum(),
        None => big(v).sign() as i64,
    }
}
/// `-v`
pub(crate) fn ineg(cx: &mut Cx, v: Value) -> Value {
    match v.as_fix() {
        Some(i) => cx.int(-i),
        None => {
            let n = big(v).neg();
            cx.big(n)
        }
    }
}
/// Greatest common divisor.
pub(crate) fn igcd(cx: &mut Cx, a: Value, b: Value) -> Value {
    if let (Some(x), Some(y)) = (a.as_fix(), b.as_fix()) {
        return cx.uint(int::gcd(x, y));
    }
    let n = big(a).gcd(&big(b));
    cx.big(n)
}
/// A power is too large to be computed.
pub(crate) fn refused_power(cx: &mut Cx) -> Exit {
    cx.arg_error("exponent is too large")
}
/// `base ** exp` of an Integer and a count, refused when absurd.
pub(crate) fn ipow(cx: &mut Cx, base: Value, exp: u64) -> R {
    if let Some(b) = base.as_fix() {
        if let Some(r) = int::pow(b, exp) {
            return Ok(cx.int(r));
        }
    }
    match big(base).pow(exp) {
        Ok(n) => Ok(cx.big(n)),
        Err(_) => Err(refused_power(cx)),
    }
}
/// `base ** exp` of two Integers; a Rational for negative exponents.
pub(crate) fn ipow_int(cx: &mut Cx, base: Value, exp: Value) -> R {
    if let (Some(b @ (1 | -1)), Some(e)) = (base.as_fix(), exp.as_fix()) {
        return Ok(Value::fix(if e & 1 == 0 { 1 } else { b }));
    }
    if isign(exp) < 0 {
        return rat_pow_int(cx, base, Value::fix(1), exp);
    }
    match exp.as_fix() {
        Some(e) => ipow(cx, base, e as u64),
        None => match base.as_fix() {
            Some(0) => Ok(Value::fix(0)),
            Some(1) => Ok(Value::fix(1)),
            Some(-1) => Ok(Value::fix(if big(exp).is_even() { 1 } else { -1 })),
            _ => Err(refused_power(cx)),
        },
    }
}
/// `a.fdiv(b)` of two Integers.
pub(crate) fn ifdiv(a: Value, b: Value) -> f64 {
    match (a.as_fix(), b.as_fix()) {
        (Some(x), Some(y)) => int::fdiv(x, y),
        _ => big(a).fdiv(&big(b)),
    }
}

// --- rationals ------------------------------------------------------------------

/// A Rational of parts that are in lowest terms, the denominator positive.
pub fn rat_raw(cx: &mut Cx, n: Value, d: Value) -> Value {
    cx.heap.pair(cx.k.rational.val(), n, d)
}
/// A Rational of any two Integers; ZeroDivisionError.
pub fn rat_new(cx: &mut Cx, n: Value, d: Value) -> R {
    let (mut n, mut d) = (n, d);
    match isign(d) {
        0 => return Err(zero_div(cx)),
        -1 => {
            n = ineg(cx, n);
            d = ineg(cx, d);
        }
        _ => {}
    }
    if d != Value::fix(1) {
        let g = igcd(cx, n, d);
        if g != Value::fix(1) {
            n = idiv(cx, n, g)?;
            d = idiv(cx, d, g)?;
        }
    }
    Ok(rat_raw(cx, n, d))
}
/// A Rational of two big integers in lowest terms.
pub(crate) fn rat_big(cx: &mut Cx, (n, d): (BigInt, BigInt)) -> Value {
    let (n, d) = (cx.big(n), cx.big(d));
    rat_raw(cx, n, d)
}
/// Parts of an Integer or Rational as a fraction.
fn parts(v: Value) -> (Value, Value) {
    match v.cell::<PairObj>() {
        Some(p) => (p.a, p.b),
        None => (v, Value::fix(1)),
    }
}
/// A Rational as a double, correctly rounded.
pub(crate) fn rat_f64(p: Gc<PairObj>) -> f64 {
    ifdiv(p.a, p.b)
}
fn rat_add(cx: &mut Cx, a: Value, b: Value, minus: bool) -> R {
    let ((an, ad), (bn, bd)) = (parts(a), parts(b));
    let x = imul(cx, an, bd);
    let y = imul(cx, bn, ad);
    let n = if minus { isub(cx, x, y) } else { iadd(cx, x, y) };
    let d = imul(cx, ad, bd);
    rat_new(cx, n, d)
}
fn rat_mul(cx: &mut Cx, a: Value, b: Value) -> R {
    let ((an, ad), (bn, bd)) = (parts(a), parts(b));
    let n = imul(cx, an, bn);
    let d = imul(cx, ad, bd);
    rat_new(cx, n, d)
}
/// Quotient of two Integers or Rationals as a Rational.
pub(crate) fn rat_div(cx: &mut Cx, a: Value, b: Value) -> R {
    let ((an, ad), (bn, bd)) = (parts(a), parts(b));
    let n = imul(cx, an, bd);
    let d = imul(cx, ad, bn);
    rat_new(cx, n, d)
}
/// Floored quotient and the rest.
fn rat_divmod(cx: &mut Cx, a: Value, b: Value) -> Result<(Value, Value), Exit> {
    let q = rat_div(cx, a, b)?;
    let (n, d) = parts(q);
    let q = idiv(cx, n, d)?;
    let whole = rat_mul(cx, q, b)?;
    let r = rat_add(cx, a, whole, true)?;
    Ok((q, r))
}
/// Order of two Integers or Rationals.
fn rat_cmp(cx: &mut Cx, a: Value, b: Value) -> Ordering {
    let ((an, ad), (bn, bd)) = (parts(a), parts(b));
    let x = imul(cx, an, bd);
    let y = imul(cx, bn, ad);
    icmp(x, y)
}
/// `(n/d) ** exp` for an Integer exponent.
pub(crate) fn rat_pow_int(cx: &mut Cx, n: Value, d: Value, exp: Value) -> R {
    let one = Value::fix(1);
    if d == one && (n == one || n == Value::fix(-1)) {
        let even = exp.as_fix().map_or_else(|| big(exp).is_even(), |e| e & 1 == 0);
        let r = if n == one || even { one } else { n };
        return Ok(rat_raw(cx, r, one));
    }
    if n == Value::fix(0) {
        return match isign(exp) {
            -1 => Err(zero_div(cx)),
            0 => Ok(rat_raw(cx, one, one)),
            _ => Ok(rat_raw(cx, n, one)),
        };
    }
    let Some(e) = exp.as_fix() else {
        return Err(refused_power(cx));
    };
    let a = ipow(cx, n, e.unsigned_abs())?;
    let b = ipow(cx, d, e.unsigned_abs())?;
    if e >= 0 {
        return Ok(rat_raw(cx, a, b));
    }
    if isign(a) < 0 {
        let (a, b) = (ineg(cx, a), ineg(cx, b));
        return Ok(rat_raw(cx, b, a));
    }
    Ok(rat_raw(cx, b, a))
}

// --- the family -------------------------------------------------------------------

impl Num {
    /// As a double, when it is in the family.
    pub fn f64(self) -> Option<f64> {
        match self {
            Num::Fix(i) => Some(i as f64),
            Num::Big(b) => Some(b.n.to_f64()),
            Num::Flo(f) => Some(f),
            Num::Rat(p) => Some(rat_f64(p)),
            Num::Other => None,
        }
    }
    /// An Integer or a Rational.
    fn exact(self) -> bool {
        matches!(self, Num::Fix(_) | Num::Big(_) | Num::Rat(_))
    }
    fn int(self) -> bool {
        matches!(self, Num::Fix(_) | Num::Big(_))
    }
}

/// How a pair of operands is computed.
enum Pair {
    Ints,
    Floats(f64, f64),
    Ratios,
    No,
}

#[inline]
fn pair(cx: &Cx, a: Value, b: Value) -> Pair {
    let (x, y) = (num(cx, a), num(cx, b));
    if x.int() && y.int() {
        return Pair::Ints;
    }
    match (x, y) {
        (Num::Flo(f), _) => y.f64().map_or(Pair::No, |g| Pair::Floats(f, g)),
        (_, Num::Flo(g)) => x.f64().map_or(Pair::No, |f| Pair::Floats(f, g)),
        _ if x.exact() && y.exact() => Pair::Ratios,
        _ => Pair::No,
    }
}

type Opt = Result<Option<Value>, Exit>;

/// `a + b`
#[inline]
pub fn add(cx: &mut Cx, a: Value, b: Value) -> Opt {
    Ok(Some(match pair(cx, a, b) {
        Pair::Ints => iadd(cx, a, b),
        Pair::Floats(x, y) => cx.float(x + y),
        Pair::Ratios => rat_add(cx, a, b, false)?,
        Pair::No => return Ok(None),
    }))
}
/// `a - b`
#[inline]
pub fn sub(cx: &mut Cx, a: Value, b: Value) -> Opt {
    Ok(Some(match pair(cx, a, b) {
        Pair::Ints => isub(cx, a, b),
        Pair::Floats(x, y) => cx.float(x - y),
        Pair::Ratios => rat_add(cx, a, b, true)?,
        Pair::No => return Ok(None),
    }))
}
/// `a * b`
#[inline]
pub(crate) fn mul(cx: &mut Cx, a: Value, b: Value) -> Opt {
    Ok(Some(match pair(cx, a, b) {
        Pair::Ints => imul(cx, a, b),
        Pair::Floats(x, y) => cx.float(x * y),
        Pair::Ratios => rat_mul(cx, a, b)?,
        Pair::No => return Ok(None),
    }))
}
/// `a / b`: floored for Integers.
#[inline]
pub(crate) fn div(cx: &mut Cx, a: Value, b: Value) -> Opt {
    Ok(Some(match pair(cx, a, b) {
        Pair::Ints => idiv(cx, a, b)?,
        Pair::Floats(x, y) => cx.float(x / y),
        Pair::Ratios => rat_div(cx, a, b)?,
        Pair::No => return Ok(None),
    }))
}
/// `a.quo(b)`: exact where it can be.
pub fn quo(cx: &mut Cx, a: Value, b: Value) -> Opt {
    Ok(Some(match pair(cx, a, b) {
        Pair::Ints | Pair::Ratios => rat_div(cx, a, b)?,
        Pair::Floats(x, y) => cx.float(x / y),
        Pair::No => return Ok(None),
    }))
}
/// `a % b`
#[inline]
pub(crate) fn modulo(cx: &mut Cx, a: Value, b: Value) -> Opt {
    Ok(Some(match pair(cx, a, b) {
        Pair::Ints => imod(cx, a, b)?,
        Pair::Floats(_, 0.0) => return Err(zero_div(cx)),
        // Rational has Numeric's modulo: by the floored quotient.
        Pair::Floats(x, y) if as_rat(cx, a).is_some() => {
            let q = float_to_int(cx, (x / y).floor())?;
            cx.float(x - y * int_f64(q))
        }
        Pair::Floats(x, y) => cx.float(nf::modulo(x, y)),
        Pair::Ratios => rat_divmod(cx, a, b)?.1,
        Pair::No => return Ok(None),
    }))
}
/// `a.divmod(b)`: the quotient an Integer.
pub(crate) fn divmod(cx: &mut Cx, a: Value, b: Value) -> Result<Option<(Value, Value)>, Exit> {
    Ok(Some(match pair(cx, a, b) {
        Pair::Ints => idivmod(cx, a, b)?,
        Pair::Floats(x, y) => match nf::div_mod(x, y) {
            Some((q, r)) => {
                let q = float_to_int(cx, q)?;
                (q, cx.float(r))
            }
            None => return Err(zero_div(cx)),
        },
        Pair::Ratios => rat_divmod(cx, a, b)?,
        Pair::No => return Ok(None),
    }))
}
/// `a.div(b)`: floored quotient, an Integer.
pub(crate) fn idiv_any(cx: &mut Cx, a: Value, b: Value) -> Opt {
    Ok(Some(match pair(cx, a, b) {
        Pair::Ints => idiv(cx, a, b)?,
        Pair::Floats(_, 0.0) => return Err(zero_div(cx)),
        Pair::Floats(x, y) => float_to_int(cx, (x / y).floor())?,
        Pair::Ratios => rat_divmod(cx, a, b)?.0,
        Pair::No => return Ok(None),
    }))
}
/// `a.remainder(b)`: the sign is the dividend's.
pub(crate) fn remainder(cx: &mut Cx, a: Value, b: Value) -> Opt {
    Ok(Some(match pair(cx, a, b) {
        Pair::Ints => {
            let r = imod(cx, a, b)?;
            if isign(r) != 0 && isign(a) != isign(b) { isub(cx, r, b) } else { r }
        }
        Pair::Floats(x, y) => {
            if y == 0.0 {
                return Err(zero_div(cx));
            }
            let r = modulo(cx, a, b)?.unwrap_or(a);
            let z = num(cx, r).f64().unwrap_or(0.0);
            if z != 0.0 && ((x < 0.0 && y > 0.0) || (x > 0.0 && y < 0.0)) { if y.is_infinite() { a } else { cx.float(z - y) } } else { r }
        }
        Pair::Ratios => {
            let (_, r) = rat_divmod(cx, a, b)?;
            let (sr, sa, sb) = (isign(parts(r).0), isign(parts(a).0), isign(parts(b).0));
            if sr != 0 && sa != sb { rat_add(cx, r, b, true)? } else { r }
        }
        Pair::No => return Ok(None),
    }))
}
/// `a.fdiv(b)`
pub(crate) fn fdiv(cx: &mut Cx, a: Value, b: Value) -> Opt {
    Ok(Some(match pair(cx, a, b) {
        Pair::Ints => cx.float(ifdiv(a, b)),
        // Rational knows no negative zero.
        Pair::Floats(x, 0.0) if as_rat(cx, a).is_some() => cx.float(x / 0.0),
        Pair::Floats(x, y) => cx.float(x / y),
        Pair::Ratios => {
            let (x, y) = (num(cx, a).f64().unwrap_or(0.0), num(cx, b).f64().unwrap_or(0.0));
            if y == 0.0 {
                cx.float(x / y)
            } else {
                let q = rat_div(cx, a, b)?;
                let (n, d) = parts(q);
                cx.float(ifdiv(n, d))
            }
        }
        Pair::No => return Ok(None),
    }))
}
/// `a ** b`; `None` also when the result is not real.
pub(crate) fn pow(cx: &mut Cx, a: Value, b: Value) -> Opt {
    let (x, y) = (num(cx, a), num(cx, b));
    let one = Value::fix(1);
    match (x, y) {
        (Num::Other, _) | (_, Num::Other) => Ok(None),
        _ if x.int() && y.int() => ipow_int(cx, a, b).map(Some),
        (Num::Rat(p), _) if y.int() => rat_pow_int(cx, p.a, p.b, b).map(Some),
        (_, Num::Rat(e)) if x.exact() && e.b == one => {
            let (n, d) = parts(a);
            rat_pow_int(cx, n, d, e.a).map(Some)
        }
        _ => {
            let (Some(f), Some(g)) = (x.f64(), y.f64()) else { return Ok(None) };
            if x.exact() && y.exact() && f == 0.0 && g < 0.0 {
                return Err(zero_div(cx));
            }
            if x.exact() && y.exact() && f == 1.0 && parts(a) == (one, one) {
                return Ok(Some(rat_raw(cx, one, one)));
            }
            if f < 0.0 && g != g.round() {
                return Ok(None);
            }
            if matches!((x, y), (Num::Fix(1), _)) {
                return Ok(Some(cx.float(1.0)));
            }
            Ok(Some(cx.float(f.powf(g))))
        }
    }
}
/// Order of two reals: outer `None` outside the family, inner `None` for NaN.
#[inline]
pub fn cmp(cx: &mut Cx, a: Value, b: Value) -> Option<Option<Ordering>> {
    Some(match (num(cx, a), num(cx, b)) {
        (Num::Fix(x), Num::Fix(y)) => Some(x.cmp(&y)),
        (Num::Flo(x), Num::Flo(y)) => x.partial_cmp(&y),
        (Num::Fix(x), Num::Flo(y)) => int::cmp_f64(x, y),
        (Num::Flo(x), Num::Fix(y)) => int::cmp_f64(y, x).map(Ordering::reverse),
        (Num::Big(x), Num::Flo(y)) => x.n.cmp_f64(y),
        (Num::Flo(x), Num::Big(y)) => y.n.cmp_f64(x).map(Ordering::reverse),
        (Num::Rat(x), Num::Flo(y)) => rat_f64(x).partial_cmp(&y),
        (Num::Flo(x), Num::Rat(y)) => x.partial_cmp(&rat_f64(y)),
        (Num::Other, _) | (_, Num::Other) => return None,
        (Num::Rat(_), _) | (_, Num::Rat(_)) => Some(rat_cmp(cx, a, b)),
        _ => Some(icmp(a, b)),
    })
}
/// `a == b` of two reals; `None` outside the family.
#[inline]
pub fn eq(cx: &mut Cx, a: Value, b: Value) -> Option<bool> {
    cmp(cx, a, b).map(|o| o == Some(Ordering::Equal))
}
/// `a.eql?(b)`: the same class and value.
pub(crate) fn eql(cx: &mut Cx, a: Value, b: Value) -> bool {
    match (num(cx, a), num(cx, b)) {
        (Num::Flo(x), Num::Flo(y)) => x == y,
        (Num::Rat(x), Num::Rat(y)) => icmp(x.a, y.a).is_eq() && icmp(x.b, y.b).is_eq(),
        (x, y) if x.int() && y.int() => icmp(a, b).is_eq(),
        _ => false,
    }
}
/// `-a`
pub fn neg(cx: &mut Cx, a: Value) -> Option<Value> {
    Some(match num(cx, a) {
        Num::Flo(f) => cx.float(-f),
        Num::Rat(p) => {
            let n = ineg(cx, p.a);
            rat_raw(cx, n, p.b)
        }
        Num::Other => return None,
        _ => ineg(cx, a),
    })
}
/// Is it below zero, the sign of -0.0 included?
pub(crate) fn sign_bit(cx: &Cx, a: Value) -> Option<bool> {
    Some(match num(cx, a) {
        Num::Flo(f) => f.is_sign_negative(),
        Num::Rat(p) => isign(p.a) < 0,
        Num::Other => return None,
        _ => isign(a) < 0,
    })
}
