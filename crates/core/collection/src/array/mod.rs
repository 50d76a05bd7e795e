//! Array: reading, and the intrinsics the prelude's loops are made of.
//!
//! Every function reads the length anew when it needs it: a block may have
//! changed the array since.

pub(crate) mod combine;
pub(crate) mod compare;
pub(crate) mod edit;
pub(crate) mod order;
pub(crate) mod text;

use kumi_vm::*;

/// The receiver as an array.
#[inline(always)]
pub fn me(cx: &mut Cx, v: Value) -> Result<Gc<ArrayObj>, Exit> {
    match v.as_array() {
        Some(a) => Ok(a),
        None => Err(cx.type_error("wrong argument type (expected Array)")),
    }
}

/// The receiver as an array that may be changed.
#[inline(always)]
pub fn me_mut(cx: &mut Cx, v: Value) -> Result<Held, Exit> {
    let a = me_held(cx, v)?;
    cx.check_frozen(v)?;
    Ok(a)
}

/// The same, frozen or not.
#[inline(always)]
pub fn me_held(cx: &mut Cx, v: Value) -> Result<Held, Exit> {
    me(cx, v).map(Held::new)
}

/// Tells the heap what is about to be stored into an array, and accounts its buffer.
#[inline]
pub fn before_all(cx: &mut Cx, a: Held, vs: &[Value]) {
    cx.heap.before_store_all(a.val(), vs);
    cx.heap.charge(vs.len() * 8);
}

/// An index into `len` elements, negative ones counted from the end.
#[inline(always)]
pub fn position(i: i64, len: usize) -> Option<usize> {
    let k = if i < 0 { i.checked_add(len as i64)? } else { i };
    (k >= 0 && (k as usize) < len).then_some(k as usize)
}

/// Bounds of a range of integers: start, end (both as given), exclusive. Others miss.
fn int_bounds(r: Gc<RangeObj>) -> Result<(i64, i64, bool), Exit> {
    let bound = |v: Value, none: i64| -> Result<i64, Exit> {
        match v {
            Value::NIL => Ok(none),
            _ if v.is_fix() => Ok(v.fix_val()),
            _ => match v.as_float() {
                Some(f) if f.abs() < 4e18 => Ok(f as i64),
                // A bignum between the fixnums and 64 bits is only out of reach.
                _ => v.as_big().and_then(|b| b.n.to_i64()).ok_or(Exit::Miss),
            },
        }
    };
    Ok((bound(r.lo, 0)?, bound(r.hi, -1)?, r.exclusive() && !r.hi.is_nil()))
}

/// Start and length that a range means in `len` elements; `None` when it starts outside.
/// `clip`: the length is cut to what is there.
pub fn range_part(r: Gc<RangeObj>, len: usize, clip: bool) -> Result<Option<(usize, usize)>, Exit> {
    let (mut from, mut to, excl) = int_bounds(r)?;
    let n = len as i64;
    if from < 0 {
        from += n;
        if from < 0 {
            return Ok(None);
        }
    }
    if clip && from > n {
        return Ok(None);
    }
    if to < 0 {
        to += n;
    }
    if !excl {
        to = to.saturating_add(1);
    }
    if clip && to > n {
        to = n;
    }
    Ok(Some((from as usize, (to - from).max(0) as usize)))
}

/// `a[start, len]`
fn part(cx: &mut Cx, a: Seen<'_, Value>, start: i64, n: i64) -> Value {
    let len = a.len() as i64;
    let s = if start < 0 { start.saturating_add(len) } else { start };
    if s < 0 || s > len || n < 0 {
        return Value::NIL;
    }
    let n = n.min(len - s);
    cx.array_seen(a.part(s as usize..(s + n) as usize))
}

// Readers without a lock: they look once, and what they have looked at stays as it was.

fn aref(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    let a = a.seen();
    if args.len() == 2 {
        let (s, n) = (cx.arg_i64(args, 0)?, cx.arg_i64(args, 1)?);
        return Ok(part(cx, a, s, n));
    }
    if args[0].is_fix() {
        return Ok(position(args[0].fix_val(), a.len()).and_then(|i| a.get(i)).unwrap_or(Value::NIL));
    }
    if let Some(r) = args[0].as_range() {
        return Ok(match range_part(r, a.len(), true)? {
            Some((s, n)) => cx.array_seen(a.part(s..s + n)),
            None => Value::NIL,
        });
    }
    if cx.is_a(args[0], cx.k.arith_seq) {
        return Err(Exit::Miss);
    }
    let i = cx.arg_i64(args, 0)?;
    Ok(position(i, a.len()).and_then(|i| a.get(i)).unwrap_or(Value::NIL))
}

fn at(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    let i = cx.arg_i64(args, 0)?;
    Ok(position(i, a.len()).and_then(|i| a.get(i)).unwrap_or(Value::NIL))
}

/// A count argument: not negative.
fn count(cx: &mut Cx, args: &[Value], i: usize, msg: &str) -> Result<usize, Exit> {
    let n = cx.arg_i64(args, i)?;
    if n < 0 { Err(cx.arg_error(msg)) } else { Ok(n as usize) }
}

fn first(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    let a = a.seen();
    if args.is_empty() {
        return Ok(a.first().unwrap_or(Value::NIL));
    }
    let n = count(cx, args, 0, "negative array size")?.min(a.len());
    Ok(cx.array_seen(a.part(0..n)))
}

fn last(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    let a = a.seen();
    if args.is_empty() {
        return Ok(a.last().unwrap_or(Value::NIL));
    }
    let n = count(cx, args, 0, "negative array size")?.min(a.len());
    Ok(cx.array_seen(a.from(a.len() - n)))
}

fn take(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    let a = a.seen();
    let n = count(cx, args, 0, "attempt to take negative size")?.min(a.len());
    Ok(cx.array_seen(a.part(0..n)))
}

fn drop(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    let a = a.seen();
    let n = count(cx, args, 0, "attempt to drop negative size")?.min(a.len());
    Ok(cx.array_seen(a.from(n)))
}

fn length(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::fix(me(cx, recv)?.len() as i64))
}

fn is_empty(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(me(cx, recv)?.is_empty()))
}

fn to_a(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let a = me(cx, recv)?;
    if cx.real_class(recv) == cx.k.array {
        return Ok(recv);
    }
    Ok(cx.array_seen(a.seen()))
}

fn to_ary(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(recv)
}

fn values_at(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    let mut out = Vec::with_capacity(args.len());
    for (k, &v) in args.iter().enumerate() {
        match v.as_range() {
            Some(r) => {
                let Some((s, n)) = range_part(r, a.len(), false)? else {
                    let (lo, hi, excl) = int_bounds(r)?;
                    let dots = if excl { "..." } else { ".." };
                    let lo = if r.lo.is_nil() { String::new() } else { lo.to_string() };
                    let hi = if r.hi.is_nil() { String::new() } else { hi.to_string() };
                    return Err(cx.range_error(&format!("{lo}{dots}{hi} out of range")));
                };
                cx.check_size(n.saturating_mul(8))?;
                out.extend((s..s + n).map(|i| a.get(i).unwrap_or(Value::NIL)));
            }
            None => {
                let i = cx.arg_i64(args, k)?;
                out.push(position(i, a.len()).and_then(|i| a.get(i)).unwrap_or(Value::NIL));
            }
        }
    }
    Ok(cx.array_vec(out))
}

fn dig(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let v = at(cx, recv, &args[..1])?;
    if args.len() == 1 || v.is_nil() {
        return Ok(v);
    }
    let s = cx.intern("dig");
    if !cx.has_method(v, s) {
        let c = cx.describe_type(v);
        return Err(cx.type_error(&format!("{c} does not have #dig method")));
    }
    Err(cx.call(v, s, &args[1..]))
}

fn reverse(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let a = me(cx, recv)?;
    let v = Vec::gather(a.seen().iter().rev());
    Ok(cx.array_vec(v))
}

fn rotate(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    let k = if args.is_empty() { 1 } else { cx.arg_i64(args, 0)? };
    let mut v = a.seen().to_vec();
    if !v.is_empty() {
        let n = v.len() as i64;
        v.rotate_left(k.rem_euclid(n) as usize);
    }
    Ok(cx.array_vec(v))
}

fn compact(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let a = me(cx, recv)?;
    let v = Vec::gather(a.seen().iter().filter(|v| !v.is_nil()));
    Ok(cx.array_vec(v))
}

fn plus(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let (a, b) = (me(cx, recv)?, cx.arg_array(args, 0)?);
    let (a, b) = (a.seen(), b.seen());
    cx.check_size((a.len() + b.len()) * 8)?;
    let mut v = Vec::room(a.len() + b.len());
    a.append_to(&mut v);
    b.append_to(&mut v);
    Ok(cx.array_vec(v))
}

fn times(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    if !args[0].is_fix() && args[0].as_float().is_none() && args[0].as_big().is_none() {
        return Err(Exit::Miss);
    }
    let n = cx.arg_i64(args, 0)?;
    if n < 0 {
        return Err(cx.arg_error("negative argument"));
    }
    let a = a.seen();
    let Some(total) = a.len().checked_mul(n as usize).filter(|t| *t < 1 << 58) else {
        return Err(cx.arg_error("argument too big"));
    };
    cx.check_size(total * 8)?;
    let mut v = Vec::room(total);
    for _ in 0..n {
        if a.is_empty() {
            break;
        }
        a.append_to(&mut v);
    }
    Ok(cx.array_vec(v))
}

fn transpose(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let a = me(cx, recv)?;
    let a = a.seen();
    let Some(head) = a.get(0) else { return Ok(cx.array(&[])) };
    let n = head.as_array().ok_or(Exit::Miss)?.len();
    let m = a.len();
    cx.check_size(n.saturating_mul(m).saturating_mul(8))?;
    let mut columns = Vec::gather(std::iter::repeat_n(Value::NIL, n * m));
    let mut patience = cx.patience();
    for (i, r) in a.iter().enumerate() {
        patience.steps(cx, n)?;
        let r = r.as_array().ok_or(Exit::Miss)?;
        // One look at it: another thread may change a row.
        let r = r.seen();
        if r.len() != n {
            return Err(cx.index_error(&format!("element size differs ({} should be {})", r.len(), n)));
        }
        for (j, v) in r.iter().enumerate() {
            columns[j * m + i] = v;
        }
    }
    let mut out = Vec::room(n);
    for column in columns.chunks(m) {
        patience.step(cx)?;
        out.put(cx.array(column));
    }
    Ok(cx.array_vec(out))
}

// --- singleton methods -----------------------------------------------------------

fn s_make(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let Some(c) = recv.as_class() else { return Ok(Value::NIL) };
    if c == cx.k.array {
        return Ok(cx.array(args));
    }
    let Some(v) = cx.heap.instance(c) else { return Err(Exit::Miss) };
    let mut a = me_held(cx, v)?;
    before_all(cx, a, args);
    a.vec().extend_from_slice(args);
    Ok(v)
}

fn s_try_convert(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    if args[0].as_array().is_some() {
        return Ok(args[0]);
    }
    Err(cx.call_helper("try_ary", args))
}

// --- intrinsics ------------------------------------------------------------------

fn i_len(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(Value::fix(args[0].as_array().map_or(0, |a| a.len() as i64)))
}

fn i_at(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(args[0].as_array().and_then(|a| a.get(args[1].fix_val() as usize)).unwrap_or(Value::NIL))
}

/// `__ary_item(a, i)`: the element, undef beyond the end.
fn i_item(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(args[0].as_array().and_then(|a| a.get(args[1].fix_val() as usize)).unwrap_or(Value::UNDEF))
}

pub(crate) fn i_push(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    cx.check_frozen(args[0])?;
    if let Some(a) = args[0].as_array() {
        let n = a.len();
        if n >= 1 << 22 && n.is_power_of_two() {
            // About to double: refuse what would not fit.
            cx.check_size(n * 16)?;
        }
        cx.push(a, args[1]);
    }
    Ok(args[0])
}

fn i_new(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    // A capacity is a hint: absurd ones are ignored.
    let n = args.first().and_then(|v| v.as_fix()).unwrap_or(0).clamp(0, 1 << 20) as usize;
    cx.heap.charge(n * 8);
    Ok(cx.heap.array_buf(cx.k.array.val(), ArrayBuf::with_capacity(n)).val())
}

/// `__ary_filled(n, v)`: n times v.
fn i_filled(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let n = cx.arg_i64(args, 0)?;
    if n < 0 {
        return Err(cx.arg_error("negative array size"));
    }
    if n >= 1 << 60 {
        return Err(cx.arg_error("array size too big"));
    }
    cx.check_size(n as usize * 8)?;
    cx.heap.charge(n as usize * 8);
    Ok(cx.array_vec(Vec::gather(std::iter::repeat_n(args[1], n as usize))))
}

/// `__ary_set(a, i, v)` for an index that exists.
fn i_set(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    if let (Some(a), Some(i)) = (args[0].as_array(), args[1].as_fix()) {
        cx.check_frozen(args[0])?;
        cx.heap.before_store(args[0], args[2]);
        cx.heap.edit(a).set(i as usize, args[2]);
    }
    Ok(args[2])
}

fn i_swap(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut a = me_mut(cx, args[0])?;
    let (i, j) = (args[1].fix_val() as usize, args[2].fix_val() as usize);
    a.edit(|a| {
        if i < a.len() && j < a.len() {
            a.swap(i, j);
        }
    });
    Ok(args[0])
}

/// `__ary_shuffle(a, picks)`: swaps the last element with the one at the first pick, the one before it with the
/// second, and so on; false, and nothing done, when the picks are not those of an array of this length.
fn i_shuffle(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut a = me_mut(cx, args[0])?;
    let picks = me(cx, args[1])?.seen().to_vec();
    if picks.len() != a.len().saturating_sub(1) {
        return Ok(Value::FALSE);
    }
    let n = picks.len();
    a.edit(|all| {
        for (k, p) in picks.iter().enumerate() {
            let (i, j) = (n - k, p.as_fix().unwrap_or(0) as usize);
            if i < all.len() && j < all.len() {
                all.swap(i, j);
            }
        }
    });
    Ok(Value::TRUE)
}

/// `__ary_truncate(a, n)`
fn i_truncate(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut a = me_mut(cx, args[0])?;
    let n = args[1].fix_val().max(0) as usize;
    if n < a.len() {
        a.vec().truncate(n);
    }
    Ok(args[0])
}

/// `__ary_copy(a)`: a plain Array with the same elements.
fn i_copy(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    let a = a.seen();
    cx.heap.charge(a.len() * 8);
    Ok(cx.array_seen(a))
}

/// `__ary_part(a, i, n)`: up to n elements from i on as a new array.
fn i_part(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    let a = a.seen();
    let i = (args[1].fix_val().max(0) as usize).min(a.len());
    let n = args[2].as_fix().map_or(usize::MAX, |n| n.max(0) as usize).min(a.len() - i);
    cx.heap.charge(n * 8);
    Ok(cx.array_seen(a.part(i..i + n)))
}

/// `__ary_move(a, to, from)`: closes a gap after `reject!`: elements from `from` on move to `to`, the rest is cut off.
fn i_move(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut a = me_mut(cx, args[0])?;
    let (to, from) = (args[1].fix_val().max(0) as usize, args[2].fix_val().max(0) as usize);
    let v = a.vec();
    if to < from && from <= v.len() {
        v.drain(to..from);
    }
    Ok(args[0])
}

/// Natives and intrinsics.
pub static TABLE: &[NativeDef] = &[
    n("Array", "[]", 1, 2, aref).guard(Guard::None),
    n("Array", "at", 1, 1, at).guard(Guard::None),
    n("Array", "first", 0, 1, first).guard(Guard::None),
    n("Array", "last", 0, 1, last).guard(Guard::None),
    n("Array", "take", 1, 1, take).guard(Guard::None),
    n("Array", "drop", 1, 1, drop).guard(Guard::None),
    n("Array", "size", 0, 0, length).guard(Guard::None),
    n("Array", "empty?", 0, 0, is_empty).guard(Guard::None),
    n("Array", "to_a", 0, 0, to_a).guard(Guard::None),
    n("Array", "to_ary", 0, 0, to_ary).guard(Guard::None),
    n("Array", "deconstruct", 0, 0, to_ary).guard(Guard::None),
    n("Array", "values_at", 0, -1, values_at),
    n("Array", "dig", 1, -1, dig),
    n("Array", "reverse", 0, 0, reverse),
    n("Array", "rotate", 0, 1, rotate),
    n("Array", "compact", 0, 0, compact),
    n("Array", "+", 1, 1, plus),
    n("Array", "*", 1, 1, times),
    n("Array", "transpose", 0, 0, transpose),
    n("Array.", "[]", 0, -1, s_make),
    n("Array.", "try_convert", 1, 1, s_try_convert),
    intrinsic("__ary_len", 1, 1, i_len).guard(Guard::None),
    intrinsic("__ary_at", 2, 2, i_at).guard(Guard::None),
    intrinsic("__ary_item", 2, 2, i_item).guard(Guard::None),
    intrinsic("__ary_shuffle", 2, 2, i_shuffle),
    intrinsic("__ary_push", 2, 2, i_push),
    intrinsic("__ary_new", 0, 1, i_new).guard(Guard::None),
    intrinsic("__ary_filled", 2, 2, i_filled),
    intrinsic("__ary_set", 3, 3, i_set),
    intrinsic("__ary_swap", 3, 3, i_swap),
    intrinsic("__ary_truncate", 2, 2, i_truncate),
    intrinsic("__ary_copy", 1, 1, i_copy).guard(Guard::None),
    intrinsic("__ary_part", 3, 3, i_part).guard(Guard::None),
    intrinsic("__ary_move", 3, 3, i_move),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_from_both_ends() {
        for (i, len, want) in [
            (0, 3, Some(0)),
            (2, 3, Some(2)),
            (3, 3, None),
            (-1, 3, Some(2)),
            (-3, 3, Some(0)),
            (-4, 3, None),
            (0, 0, None),
            (-1, 0, None),
            (i64::MIN, 3, None),
            (i64::MAX, 3, None),
        ] {
            assert_eq!(position(i, len), want, "{i} of {len}");
        }
    }
}
