//! Operations on Integers that may take long: how long about, and away with them
//! while the worker is detached.
//!
//! Invariant: only natives of Integer ask here, for one operation of their own receiver
//! and arguments; what other methods compute on the way stays where it is.

use crate::real::{big, is_int};
use kumi_num::big::is_refused_power;
use kumi_num::float::Rounding;
use kumi_num::{BigInt, TooLarge, cost};
use kumi_vm::*;

/// Words of an Integer; 1 for a fixnum.
fn words(v: Value) -> u64 {
    v.as_big().map_or(1, |b| b.n.magnitude_bits().div_ceil(64))
}

/// Both are big ones, so that the operation may be long.
#[inline]
fn both_big(a: Value, b: Value) -> bool {
    a.is_heap() && b.is_heap() && is_int(a) && is_int(b)
}

/// The product of two big Integers, when it is one to be detached.
#[inline]
pub fn mul(cx: &mut Cx, a: Value, b: Value) -> Result<Option<Value>, Exit> {
    if !both_big(a, b) {
        return Ok(None);
    }
    let ns = cost::product(words(a), words(b));
    if !cx.worth_detaching(ns) {
        return Ok(None);
    }
    let n = cx.detach_on_cells([a, b], ns, move || {
        let x = big(a);
        if a == b { x.mul(&x) } else { x.mul(&big(b)) }
    })?;
    Ok(Some(cx.big(n)))
}

/// Floored quotient and modulo, as above.
#[inline]
pub fn div_mod(cx: &mut Cx, a: Value, b: Value) -> Result<Option<(Value, Value)>, Exit> {
    if !both_big(a, b) {
        return Ok(None);
    }
    let (x, y) = (words(a), words(b));
    let ns = cost::quotient(x, y);
    if !cx.worth_detaching(ns) {
        return Ok(None);
    }
    match cx.detach_on_cells([a, b], ns, move || big(a).div_mod(&big(b)))? {
        Some((q, r)) => Ok(Some((cx.big(q), cx.big(r)))),
        None => Err(crate::real::zero_div(cx)),
    }
}

/// `a ** exp`, as above. The size of the result was looked at.
pub fn pow(cx: &mut Cx, a: Value, exp: u64) -> Result<Option<Value>, Exit> {
    let bits = kumi_num::big::pow_bits(big(a).magnitude_bits(), exp).unwrap_or(0);
    let ns = cost::product(bits / 128, bits / 128);
    if is_refused_power(big(a).magnitude_bits(), exp) || !cx.worth_detaching(ns) {
        return Ok(None);
    }
    match cx.detach_on_cells([a, Value::fix(exp as i64)], ns, move || big(a).pow(exp))? {
        Ok(n) => Ok(Some(cx.big(n))),
        Err(_) => Ok(None),
    }
}

/// `a ** e mod m`.
pub fn modpow(cx: &mut Cx, a: Value, e: Value, m: Value) -> Result<Option<BigInt>, Exit> {
    let k = words(m);
    let ns = cost::product(k, k).saturating_mul(big(e).magnitude_bits()).saturating_mul(3);
    cx.detach_on_cells([a, e, m], ns, move || big(a).modpow(&big(e), &big(m)))
}

/// Greatest common divisor of two big Integers.
pub fn gcd(cx: &mut Cx, a: Value, b: Value) -> Result<Option<Value>, Exit> {
    if !both_big(a, b) {
        return Ok(None);
    }
    let ns = cost::gcd(words(a), words(b));
    if !cx.worth_detaching(ns) {
        return Ok(None);
    }
    let n = cx.detach_on_cells([a, b], ns, move || big(a).gcd(&big(b)))?;
    Ok(Some(cx.big(n)))
}

/// Square root, rounded down; `None` for negatives.
pub fn isqrt(cx: &mut Cx, a: Value) -> Result<Option<BigInt>, Exit> {
    let k = words(a);
    cx.detach_on_cells([a], cost::product(k, k), move || big(a).isqrt())
}

/// Text of a big Integer.
pub fn to_text(cx: &mut Cx, a: Value, radix: u32) -> Result<String, Exit> {
    cx.detach_on_cells([a, Value::fix(radix as i64)], cost::text(words(a), radix), move || big(a).to_string_radix(radix))
}

/// Digits, the lowest first.
pub enum Digits {
    /// All of them fixnums.
    Small(Vec<i64>),
    Large(Vec<BigInt>),
}

impl Digits {
    pub fn of(v: Value, base: Value) -> Digits {
        match base.as_fix() {
            Some(b) => Digits::Small(big(v).small_digits(b.unsigned_abs())),
            None => Digits::Large(big(v).digits(&big(base)).unwrap_or_default()),
        }
    }
}

/// Digits of a big Integer.
pub fn digits(cx: &mut Cx, a: Value, base: Value) -> Result<Digits, Exit> {
    cx.detach_on_cells([a, base], cost::digits(words(a)), move || Digits::of(a, base))
}

/// An Integer rounded to ten to the power of `places`.
pub fn round(cx: &mut Cx, a: Value, places: u64, how: Rounding) -> Result<Result<BigInt, TooLarge>, Exit> {
    let k = words(a).max(places / 19);
    let of = [a, Value::fix(places as i64), Value::fix(how as i64)];
    cx.detach_on_cells(of, cost::product(k, k).saturating_mul(8), move || kumi_num::int::round_to_power(&big(a), places, how))
}

/// Greatest common divisor and least common multiple of two big Integers.
pub fn gcd_lcm(cx: &mut Cx, a: Value, b: Value) -> Result<Option<(Value, Value)>, Exit> {
    if !both_big(a, b) {
        return Ok(None);
    }
    let ns = cost::gcd(words(a), words(b)).saturating_mul(2);
    if !cx.worth_detaching(ns) {
        return Ok(None);
    }
    let (g, l) = cx.detach_on_cells([a, b], ns, move || (big(a).gcd(&big(b)), big(a).lcm(&big(b))))?;
    Ok(Some((cx.big(g), cx.big(l))))
}
