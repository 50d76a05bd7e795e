//! Range: its two ends, and what integers and strings allow without asking anybody.
//!
//! A range is frozen from birth, except an instance of a subclass.

use crate::array::compare::{eq, eql};
use crate::hash::hash;
use kumi_vm::plain::is_num;
use kumi_vm::*;

fn me(cx: &mut Cx, v: Value) -> Result<Gc<RangeObj>, Exit> {
    match v.as_range() {
        Some(r) => Ok(r),
        None => Err(cx.type_error("wrong argument type (expected Range)")),
    }
}

fn make(cx: &mut Cx, class: Gc<ClassObj>, lo: Value, hi: Value, excl: bool) -> Value {
    let v = cx.heap.range(class.val(), lo, hi, excl);
    if let Some(h) = v.header() {
        if class == cx.k.range {
            h.set(flag::FROZEN);
        } else {
            h.clear(flag::FROZEN);
        }
    }
    v
}

/// Can the two be ends of a range, as far as plain values tell?
fn ends_match(a: Value, b: Value) -> bool {
    let nan = |v: Value| v.as_float().is_some_and(f64::is_nan);
    a.is_nil() || b.is_nil() || (is_num(a) && is_num(b) && !nan(a) && !nan(b)) || (a.as_str().is_some() && b.as_str().is_some())
}

fn s_new(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let Some(c) = recv.as_class() else { return Err(Exit::Miss) };
    if c != cx.k.range || !ends_match(args[0], args[1]) {
        return Err(Exit::Miss);
    }
    Ok(make(cx, c, args[0], args[1], args.get(2).is_some_and(|v| v.truthy())))
}

fn s_allocate(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = recv.as_class().unwrap_or(cx.k.range);
    let v = cx.heap.range(c.val(), Value::NIL, Value::NIL, false);
    if let Some(h) = v.header() {
        h.clear(flag::FROZEN);
    }
    Ok(v)
}

fn lo(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(me(cx, recv)?.lo)
}
fn hi(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(me(cx, recv)?.hi)
}
fn excl(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(me(cx, recv)?.exclusive()))
}

/// Is `v` inside, for numbers; `None` for other ends.
fn covers(r: Gc<RangeObj>, v: Value) -> Option<bool> {
    if !is_num(v) {
        return None;
    }
    if !r.lo.is_nil() {
        if !is_num(r.lo) {
            return None;
        }
        match kumi_vm::plain::num_cmp(r.lo, v) {
            Some(o) if o.is_le() => {}
            _ => return Some(false),
        }
    } else if r.hi.is_nil() {
        return None;
    }
    if !r.hi.is_nil() {
        if !is_num(r.hi) {
            return None;
        }
        match kumi_vm::plain::num_cmp(v, r.hi) {
            Some(o) if o.is_lt() || (o.is_eq() && !r.exclusive()) => {}
            _ => return Some(false),
        }
    }
    Some(true)
}

fn cover(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let r = me(cx, recv)?;
    covers(r, args[0]).map(Value::bool).ok_or(Exit::Miss)
}

/// `__range_hash(hash of lo, hash of hi, exclusive)` for ends whose hash is Ruby.
fn i_hash(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let part = |v: Value| v.as_fix().map_or_else(|| v.as_big().map_or(0, |b| b.n.low_u64()), |i| i as u64);
    let mut h = cx.hash_start(3, args[2].truthy() as usize);
    for v in &args[..2] {
        h = cx.hash_step(h, part(*v));
    }
    Ok(cx.hash_end(h))
}

/// The integers of the range as fixnum bounds, both included.
fn fixnums(r: Gc<RangeObj>) -> Option<(i64, i64)> {
    let (a, b) = (r.lo.as_fix()?, r.hi.as_fix()?);
    Some((a, if r.exclusive() { b - 1 } else { b }))
}

fn to_a(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let r = me(cx, recv)?;
    let (a, b) = fixnums(r).ok_or(Exit::Miss)?;
    if !cx.builtin(recv, sym::EACH) {
        return Err(Exit::Miss);
    }
    if b < a {
        return Ok(cx.array(&[]));
    }
    let n = (b as i128 - a as i128 + 1) as u128;
    if n > 1 << 40 {
        return Err(cx.no_memory("failed to allocate memory"));
    }
    cx.check_size(n as usize * 8)?;
    cx.heap.charge(n as usize * 8);
    let v: Vec<Value> = (a..=b).map(Value::fix).collect();
    Ok(cx.array_vec(v))
}

fn show(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let r = me(cx, recv)?;
    let mut out = Vec::new();
    if !r.lo.is_nil() || r.hi.is_nil() {
        cx.plain_inspect(r.lo, &mut out, 0).ok_or(Exit::Miss)?;
    }
    out.extend_from_slice(if r.exclusive() { b"..." } else { b".." });
    if !r.hi.is_nil() || r.lo.is_nil() {
        cx.plain_inspect(r.hi, &mut out, 0).ok_or(Exit::Miss)?;
    }
    Ok(cx.str_vec(out, EncIndex::UTF_8))
}

// --- intrinsics ---------------------------------------------------------------------

fn i_lo(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(args[0].as_range().map_or(Value::NIL, |r| r.lo))
}
fn i_hi(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(args[0].as_range().map_or(Value::NIL, |r| r.hi))
}
fn i_excl(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(Value::bool(args[0].as_range().is_some_and(|r| r.exclusive())))
}
/// `__range_new(class, lo, hi, exclusive)`, unchecked.
fn i_new(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let c = args[0].as_class().unwrap_or(cx.k.range);
    Ok(make(cx, c, args[1], args[2], args[3].truthy()))
}
/// `__range_set(range, lo, hi, exclusive)`: initialize of a subclass's instance.
fn i_set(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let r = me(cx, args[0])?;
    cx.heap.before_store_all(args[0], &args[1..3]);
    (cx.heap.edit(r).lo, cx.heap.edit(r).hi) = (args[1], args[2]);
    r.hdr.x.set(args[3].truthy() as u16);
    Ok(args[0])
}
/// `__flo_key(f)`: floats as integers in the same order, and back: bsearch halves them.
fn i_flo_key(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let f = args[0].as_float().unwrap_or(0.0);
    let b = (if f == 0.0 { 0.0 } else { f }).to_bits() as i64;
    Ok(cx.int(if b < 0 { -(b & i64::MAX) } else { b }))
}
fn i_key_flo(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let k = match args[0].as_fix() {
        Some(k) => k,
        None => args[0].as_big().and_then(|b| b.n.to_i64()).unwrap_or(0),
    };
    let f = if k < 0 { -f64::from_bits(k.unsigned_abs()) } else { f64::from_bits(k as u64) };
    Ok(cx.float(f))
}
/// `__flo_steps(lo, hi, step, exclusive)`: how many steps of floats there are, as CRuby counts them.
fn i_flo_steps(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let get = |i: usize| args[i].as_float().unwrap_or(0.0);
    let (lo, hi, step, excl) = (get(0), get(1), get(2), args[3].truthy());
    let n = (hi - lo) / step;
    let err = (lo.abs() + hi.abs() + (hi - lo).abs()) / step.abs() * f64::EPSILON;
    if step == 0.0 {
        return Ok(cx.float(f64::INFINITY));
    }
    if step.is_infinite() {
        let one = if step > 0.0 { lo <= hi } else { lo >= hi };
        return Ok(Value::fix(one as i64));
    }
    let err = err.min(0.5);
    let count = if excl {
        if n <= 0.0 {
            0.0
        } else if n < 1.0 {
            1.0
        } else {
            let mut m = (n - err).floor();
            let d = (m + 1.0) * step + lo;
            if (lo < hi && d < hi) || (lo > hi && d > hi) {
                m += 1.0;
            }
            m + 1.0
        }
    } else if n < 0.0 {
        0.0
    } else {
        (n + err).floor() + 1.0
    };
    if count.is_finite() && count < 4e18 { Ok(cx.int(count as i64)) } else { Ok(cx.float(count)) }
}

/// `__ary_plain(x)`: an Array whose `each` is ours.
fn i_plain(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(Value::bool(args[0].as_array().is_some() && cx.builtin(args[0], sym::EACH)))
}
/// `__single(x)`: does `x.each` surely yield one value at a time? Built-in collections do.
fn i_single(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let v = args[0];
    let ours = matches!(v.kind(), Some(Kind::Array | Kind::Range | Kind::Struct | Kind::Hash)) || cx.is_a(v, cx.k.set);
    Ok(Value::bool(ours && cx.builtin(v, sym::EACH)))
}
/// `__ary_fold(a, init or undef, op)`: `inject(:+)` and `inject(:*)` of fixnums and floats, or undef.
fn i_fold(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (Some(a), Some(op)) = (args[0].as_array(), args[2].as_sym()) else { return Ok(Value::UNDEF) };
    let mul = op == sym::MUL;
    if !(mul || op == sym::PLUS) {
        return Ok(Value::UNDEF);
    }
    let one = cx.float(1.0);
    if !cx.builtin(Value::fix(1), op) || !cx.builtin(one, op) {
        return Ok(Value::UNDEF);
    }
    let mut vs = a.seen().iter();
    let first = if args[1].is_undef() { vs.next() } else { Some(args[1]) };
    let Some(mut acc) = first else { return Ok(Value::NIL) };
    for v in vs {
        acc = match (acc.as_fix(), v.as_fix()) {
            (Some(x), Some(y)) => {
                let r = if mul { x.checked_mul(y) } else { x.checked_add(y) };
                match r.and_then(Value::try_fix) {
                    Some(v) => v,
                    None => return Ok(Value::UNDEF),
                }
            }
            _ => {
                let num = |v: Value| v.as_float().or(v.as_fix().map(|i| i as f64));
                match (num(acc), num(v)) {
                    (Some(x), Some(y)) => cx.float(if mul { x * y } else { x + y }),
                    _ => return Ok(Value::UNDEF),
                }
            }
        };
    }
    Ok(acc)
}

/// `__arith_new`: an empty ArithmeticSequence, which nobody else can make.
fn i_arith_new(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.heap.object(cx.k.arith_seq))
}

/// Natives and intrinsics.
pub static TABLE: &[NativeDef] = &[
    n("Range.", "new", 2, 3, s_new),
    n("Range.", "allocate", 0, 0, s_allocate),
    n("Range", "begin", 0, 0, lo),
    n("Range", "end", 0, 0, hi),
    n("Range", "exclude_end?", 0, 0, excl),
    n("Range", "==", 1, 1, eq),
    n("Range", "eql?", 1, 1, eql),
    n("Range", "hash", 0, 0, hash),
    n("Range", "===", 1, 1, cover),
    n("Range", "cover?", 1, 1, cover),
    n("Range", "include?", 1, 1, cover),
    n("Range", "to_a", 0, 0, to_a),
    n("Range", "inspect", 0, 0, show),
    intrinsic("__range_lo", 1, 1, i_lo).guard(Guard::None),
    intrinsic("__range_hi", 1, 1, i_hi).guard(Guard::None),
    intrinsic("__range_excl", 1, 1, i_excl).guard(Guard::None),
    intrinsic("__range_new", 4, 4, i_new).guard(Guard::None),
    intrinsic("__range_set", 4, 4, i_set),
    intrinsic("__range_hash", 3, 3, i_hash),
    intrinsic("__flo_key", 1, 1, i_flo_key).guard(Guard::None),
    intrinsic("__key_flo", 1, 1, i_key_flo).guard(Guard::None),
    intrinsic("__flo_steps", 4, 4, i_flo_steps),
    intrinsic("__arith_new", 0, 0, i_arith_new).guard(Guard::None),
    intrinsic("__single", 1, 1, i_single),
    intrinsic("__ary_plain", 1, 1, i_plain),
    intrinsic("__ary_fold", 3, 3, i_fold),
];
