//! Integer: arithmetic, comparison, bits.
//!
//! The loop has fast paths for fixnums; these run on overflow, for big integers and
//! for mixed kinds. What is no built-in real number goes to the prelude twin, which
//! coerces.

use crate::long;
use crate::real::{self, *};
use kumi_num::{BigInt, int};
use kumi_vm::*;
use std::cmp::Ordering;

/// A value, or the prelude twin.
pub(crate) fn or_miss(r: Result<Option<Value>, Exit>) -> R {
    r?.ok_or(Exit::Miss)
}

macro_rules! binary {
    ($($name:ident $f:path),*) => { $(
        pub(crate) fn $name(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
            or_miss($f(cx, recv, args[0]))
        }
    )* };
}
binary!(
    num_add real::add, num_sub real::sub, num_mul real::mul, num_div real::div, num_mod real::modulo, num_quo real::quo,
    num_idiv real::idiv_any, num_remainder real::remainder, num_fdiv real::fdiv, num_pow real::pow
);

pub(crate) fn num_divmod(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match real::divmod(cx, recv, args[0])? {
        Some((q, r)) => Ok(cx.array(&[q, r])),
        None => Err(Exit::Miss),
    }
}
fn int_mul(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match long::mul(cx, recv, args[0])? {
        Some(n) => Ok(n),
        None => num_mul(cx, recv, args),
    }
}
fn int_div(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match long::div_mod(cx, recv, args[0])? {
        Some((q, _)) => Ok(q),
        None => num_div(cx, recv, args),
    }
}
fn int_mod(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match long::div_mod(cx, recv, args[0])? {
        Some((_, r)) => Ok(r),
        None => num_mod(cx, recv, args),
    }
}
fn int_idiv(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match long::div_mod(cx, recv, args[0])? {
        Some((q, _)) => Ok(q),
        None => num_idiv(cx, recv, args),
    }
}
fn int_divmod(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match long::div_mod(cx, recv, args[0])? {
        Some((q, r)) => Ok(cx.array(&[q, r])),
        None => num_divmod(cx, recv, args),
    }
}
fn int_power(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if let Some(e @ 3..) = args[0].as_fix() {
        if let Some(n) = long::pow(cx, recv, e as u64)? {
            return Ok(n);
        }
    }
    num_pow(cx, recv, args)
}
fn order(cx: &mut Cx, recv: Value, args: &[Value], f: fn(Ordering) -> bool) -> R {
    match real::cmp(cx, recv, args[0]) {
        Some(Some(o)) => Ok(Value::bool(f(o))),
        // Rational has Comparable's operators: NaN can't be compared.
        Some(None) if recv.is_kind(Kind::Pair) => Err(Exit::Miss),
        Some(None) => Ok(Value::FALSE),
        None => Err(Exit::Miss),
    }
}
pub(crate) fn num_lt(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    order(cx, recv, args, Ordering::is_lt)
}
pub(crate) fn num_le(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    order(cx, recv, args, Ordering::is_le)
}
pub(crate) fn num_gt(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    order(cx, recv, args, Ordering::is_gt)
}
pub(crate) fn num_ge(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    order(cx, recv, args, Ordering::is_ge)
}
pub(crate) fn num_cmp(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match real::cmp(cx, recv, args[0]) {
        Some(Some(o)) => Ok(Value::fix(o as i64)),
        Some(None) => Ok(Value::NIL),
        None => match args[0] {
            Value::NIL | Value::TRUE | Value::FALSE => Ok(Value::NIL),
            v if v.is_sym() || v.is_kind(Kind::Str) && !cx.has_method(v, sym::COERCE) => Ok(Value::NIL),
            _ => Err(Exit::Miss),
        },
    }
}
pub(crate) fn num_eq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match real::eq(cx, recv, args[0]) {
        Some(b) => Ok(Value::bool(b)),
        None => {
            let v = args[0];
            let plain = matches!(v, Value::NIL | Value::TRUE | Value::FALSE)
                || v.is_sym()
                || matches!(v.kind(), Some(Kind::Str | Kind::Array | Kind::Hash | Kind::Range | Kind::Class));
            if plain && cx.builtin(v, sym::EQ) { Ok(Value::FALSE) } else { Err(Exit::Miss) }
        }
    }
}
pub(crate) fn num_eql(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if matches!(num(cx, recv), Num::Other) {
        return Err(Exit::Miss);
    }
    Ok(Value::bool(real::eql(cx, recv, args[0])))
}
pub(crate) fn num_neg(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    real::neg(cx, recv).ok_or(Exit::Miss)
}
pub(crate) fn num_abs(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    match real::sign_bit(cx, recv) {
        Some(true) => real::neg(cx, recv).ok_or(Exit::Miss),
        Some(false) => Ok(recv),
        None => Err(Exit::Miss),
    }
}
pub(crate) fn num_hash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    // Hash tables compute the same for their keys.
    let h = cx.plain_hash(recv).ok_or(Exit::Miss)?;
    Ok(cx.int(h as i64))
}
pub(crate) fn num_self(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(recv)
}
fn int_true(_: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::TRUE)
}
/// `-1`, `0`, `1` or nothing for NaN.
fn sign(cx: &Cx, v: Value) -> Option<i64> {
    match num(cx, v) {
        Num::Flo(f) => Some(if f > 0.0 {
            1
        } else if f < 0.0 {
            -1
        } else {
            0
        }),
        Num::Rat(p) => Some(isign(p.a)),
        Num::Other => None,
        _ => Some(isign(v)),
    }
}
pub(crate) fn num_zero_p(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    match num(cx, recv) {
        Num::Flo(f) => Ok(Value::bool(f == 0.0)),
        _ => Ok(Value::bool(sign(cx, recv).ok_or(Exit::Miss)? == 0)),
    }
}
pub(crate) fn num_positive_p(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(sign(cx, recv).ok_or(Exit::Miss)? > 0))
}
pub(crate) fn num_negative_p(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(sign(cx, recv).ok_or(Exit::Miss)? < 0))
}
pub(crate) fn num_nonzero_p(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let zero = match num(cx, recv) {
        Num::Flo(f) => f == 0.0,
        _ => sign(cx, recv).ok_or(Exit::Miss)? == 0,
    };
    Ok(if zero { Value::NIL } else { recv })
}

fn int_pow(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if args.len() == 1 {
        return int_power(cx, recv, args);
    }
    let (e, m) = (args[0], args[1]);
    if !is_int(e) {
        return Err(cx.type_error("Integer#pow() 2nd argument not allowed unless a 1st argument is integer"));
    }
    if isign(e) < 0 {
        return Err(cx.range_error("Integer#pow() 1st argument cannot be negative when 2nd argument specified"));
    }
    if !is_int(m) {
        return Err(cx.type_error("Integer#pow() 2nd argument not allowed unless all arguments are integers"));
    }
    if isign(m) == 0 {
        return Err(zero_div(cx));
    }
    if let (Some(b), Some(e), Some(m)) = (recv.as_fix(), e.as_fix(), m.as_fix()) {
        if let Some(r) = int::modpow(b, e as u64, m) {
            return Ok(cx.int(r));
        }
    }
    match long::modpow(cx, recv, e, m)? {
        Some(n) => Ok(cx.big(n)),
        None => Err(zero_div(cx)),
    }
}

// --- bits -------------------------------------------------------------------------

fn int_not(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    match recv.as_fix() {
        Some(i) => Ok(Value::fix(!i)),
        None => {
            let n = big(recv).not();
            Ok(cx.big(n))
        }
    }
}
fn bits(cx: &mut Cx, a: Value, b: Value, small: fn(i64, i64) -> i64, large: fn(&BigInt, &BigInt) -> BigInt) -> R {
    if let (Some(x), Some(y)) = (a.as_fix(), b.as_fix()) {
        return Ok(Value::fix(small(x, y)));
    }
    if !is_int(b) {
        return Err(Exit::Miss);
    }
    let n = large(&big(a), &big(b));
    Ok(cx.big(n))
}
fn int_and(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    bits(cx, recv, args[0], |x, y| x & y, BigInt::and)
}
fn int_or(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    bits(cx, recv, args[0], |x, y| x | y, BigInt::or)
}
fn int_xor(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    bits(cx, recv, args[0], |x, y| x ^ y, BigInt::xor)
}
/// `v << by` for any Integer `by`, negative ones shifting right.
pub(crate) fn shift(cx: &mut Cx, v: Value, by: Value, left: bool) -> R {
    let towards_left = (isign(by) >= 0) == left;
    let count = by.as_fix().map(i64::unsigned_abs);
    if !towards_left {
        let Some(n) = count else { return Ok(Value::fix(if isign(v) < 0 { -1 } else { 0 })) };
        return match v.as_fix() {
            Some(i) => Ok(Value::fix(int::shr(i, n))),
            None => {
                let n = big(v).shr(n);
                Ok(cx.big(n))
            }
        };
    }
    if isign(v) == 0 {
        return Ok(v);
    }
    let Some(n) = count else { return Err(cx.range_error("shift width too big")) };
    if let Some(r) = v.as_fix().and_then(|i| int::shl(i, n)) {
        return Ok(cx.int(r));
    }
    if n > i32::MAX as u64 {
        return Err(cx.range_error("shift width too big"));
    }
    cx.check_size(n as usize / 8)?;
    match big(v).shl(n) {
        Ok(r) => Ok(cx.big(r)),
        Err(_) => Err(cx.range_error("shift width too big")),
    }
}
fn int_shl(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let by = cx.arg_int(args, 0)?;
    shift(cx, recv, by, true)
}
fn int_shr(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let by = cx.arg_int(args, 0)?;
    shift(cx, recv, by, false)
}
fn int_aref(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if args.len() == 1 && args[0].is_kind(Kind::Range) {
        return Err(Exit::Miss);
    }
    let i = cx.arg_int(args, 0)?;
    if args.len() == 2 {
        let len = cx.arg_int(args, 1)?;
        let moved = shift(cx, recv, i, false)?;
        if isign(len) < 0 {
            return Ok(moved);
        }
        let top = shift(cx, Value::fix(1), len, true)?;
        let mask = isub(cx, top, Value::fix(1));
        return bits(cx, moved, mask, |x, y| x & y, BigInt::and);
    }
    let set = match (recv.as_fix(), i.as_fix()) {
        (_, Some(..0)) => false,
        (Some(n), Some(i)) => int::shr(n, i as u64) & 1 == 1,
        (None, Some(i)) => big(recv).bit(i as u64),
        (_, None) => isign(i) > 0 && isign(recv) < 0,
    };
    Ok(Value::fix(set as i64))
}
fn masked(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<(Value, Value), Exit> {
    let mask = cx.arg_int(args, 0)?;
    let both = bits(cx, recv, mask, |x, y| x & y, BigInt::and)?;
    Ok((mask, both))
}
fn int_allbits(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let (mask, both) = masked(cx, recv, args)?;
    Ok(Value::bool(icmp(mask, both).is_eq()))
}
fn int_anybits(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    Ok(Value::bool(isign(masked(cx, recv, args)?.1) != 0))
}
fn int_nobits(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    Ok(Value::bool(isign(masked(cx, recv, args)?.1) == 0))
}
fn int_bit_length(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    match recv.as_fix() {
        Some(i) => Ok(Value::fix(int::bit_length(i) as i64)),
        None => {
            let n = big(recv).bit_length();
            Ok(cx.uint(n))
        }
    }
}
fn int_even(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(recv.as_fix().map_or_else(|| big(recv).is_even(), |i| i & 1 == 0)))
}
fn int_odd(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(recv.as_fix().map_or_else(|| !big(recv).is_even(), |i| i & 1 == 1)))
}
fn int_succ(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(iadd(cx, recv, Value::fix(1)))
}
fn int_pred(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(isub(cx, recv, Value::fix(1)))
}

pub static TABLE: &[NativeDef] = &[
    n("Integer", "+", 1, 1, num_add),
    n("Integer", "-", 1, 1, num_sub),
    n("Integer", "*", 1, 1, int_mul),
    n("Integer", "/", 1, 1, int_div),
    n("Integer", "%", 1, 1, int_mod),
    n("Integer", "div", 1, 1, int_idiv),
    n("Integer", "divmod", 1, 1, int_divmod),
    n("Integer", "remainder", 1, 1, num_remainder),
    n("Integer", "fdiv", 1, 1, num_fdiv),
    n("Integer", "**", 1, 1, int_power),
    n("Integer", "pow", 1, 2, int_pow),
    n("Integer", "-@", 0, 0, num_neg),
    n("Integer", "~", 0, 0, int_not),
    n("Integer", "&", 1, 1, int_and),
    n("Integer", "|", 1, 1, int_or),
    n("Integer", "^", 1, 1, int_xor),
    n("Integer", "<<", 1, 1, int_shl),
    n("Integer", ">>", 1, 1, int_shr),
    n("Integer", "[]", 1, 2, int_aref),
    n("Integer", "==", 1, 1, num_eq),
    n("Integer", "<=>", 1, 1, num_cmp),
    n("Integer", "<", 1, 1, num_lt),
    n("Integer", "<=", 1, 1, num_le),
    n("Integer", ">", 1, 1, num_gt),
    n("Integer", ">=", 1, 1, num_ge),
    n("Integer", "hash", 0, 0, num_hash),
    n("Numeric", "eql?", 1, 1, num_eql),
    n("Integer", "abs", 0, 0, num_abs),
    n("Integer", "zero?", 0, 0, num_zero_p),
    n("Integer", "even?", 0, 0, int_even),
    n("Integer", "odd?", 0, 0, int_odd),
    n("Integer", "allbits?", 1, 1, int_allbits),
    n("Integer", "anybits?", 1, 1, int_anybits),
    n("Integer", "nobits?", 1, 1, int_nobits),
    n("Integer", "bit_length", 0, 0, int_bit_length),
    n("Integer", "succ", 0, 0, int_succ),
    n("Integer", "pred", 0, 0, int_pred),
    n("Integer", "integer?", 0, 0, int_true),
    n("Integer", "to_i", 0, 0, num_self),
    n("Integer", "to_int", 0, 0, num_self),
    n("Integer", "numerator", 0, 0, num_self),
    n("Numeric", "positive?", 0, 0, num_positive_p),
    n("Numeric", "negative?", 0, 0, num_negative_p),
    n("Numeric", "zero?", 0, 0, num_zero_p),
    n("Numeric", "nonzero?", 0, 0, num_nonzero_p),
    n("Numeric", "+@", 0, 0, num_self),
];
