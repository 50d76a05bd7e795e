//! Array: changing. Every mutator checks frozenness, then arguments, and only then changes.

use crate::array::{before_all, me, me_mut, position, range_part};
use kumi_vm::*;

/// The longest array: what an address space could hold.
const MAX_LEN: i64 = 1 << 60;

/// Makes `a` at least `n` long.
fn grow(cx: &mut Cx, mut a: Held, n: usize) -> Result<(), Exit> {
    if n > a.len() {
        cx.check_size(n.saturating_mul(8))?;
        cx.heap.charge((n - a.len()) * 8);
        a.vec().resize(n, Value::NIL);
    }
    Ok(())
}

/// Replaces `n` elements from `start` by `vs`; nil fills a gap before `start`.
pub fn splice(cx: &mut Cx, mut a: Held, start: usize, n: usize, vs: &[Value]) -> Result<(), Exit> {
    if start as i64 > MAX_LEN {
        return Err(cx.index_error(&format!("index {start} too big")));
    }
    before_all(cx, a, vs);
    if start >= a.len() {
        grow(cx, a, start)?;
        a.vec().extend_from_slice(vs);
    } else {
        let n = n.min(a.len() - start);
        a.vec().splice(start, n, vs);
    }
    Ok(())
}

/// What a value spliced in stands for: its elements, or itself. Objects that may convert miss.
fn spliced(cx: &mut Cx, v: Value) -> Result<Vec<Value>, Exit> {
    if let Some(a) = v.as_array() {
        return Ok(a.seen().to_vec());
    }
    match v.kind() {
        None | Some(Kind::Str | Kind::Hash | Kind::Range | Kind::Float | Kind::Big | Kind::Pair | Kind::Class) => Ok(vec![v]),
        _ if cx.has_method(v, sym::TO_ARY) || !cx.builtin(v, sym::METHOD_MISSING) => Err(Exit::Miss),
        _ => Ok(vec![v]),
    }
}

fn aset(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let mut a = me_mut(cx, recv)?;
    if args.len() == 2 && args[0].is_fix() {
        let i = args[0].fix_val();
        if let Some(k) = position(i, a.len()) {
            cx.heap.before_store(recv, args[1]);
            a.set(k, args[1]);
            return Ok(args[1]);
        }
        if i == a.len() as i64 {
            cx.push(a.gc(), args[1]);
            return Ok(args[1]);
        }
        return set_at(cx, a, i, args[1]);
    }
    let v = args[args.len() - 1];
    if args.len() == 3 {
        let (start, n) = (cx.arg_i64(args, 0)?, cx.arg_i64(args, 1)?);
        let vs = spliced(cx, v)?;
        if n < 0 {
            return Err(cx.index_error(&format!("negative length ({n})")));
        }
        let len = a.len() as i64;
        let s = if start < 0 { start.saturating_add(len) } else { start };
        if s < 0 {
            return Err(cx.index_error(&format!("index {start} too small for array; minimum: -{len}")));
        }
        splice(cx, a, s as usize, n as usize, &vs)?;
        return Ok(v);
    }
    if let Some(r) = args[0].as_range() {
        let at = range_part(r, a.len(), false)?;
        let vs = spliced(cx, v)?;
        let Some((s, n)) = at else {
            let show = |v: Value| if v.is_fix() { v.fix_val().to_string() } else { String::new() };
            let text = format!("{}{}{}", show(r.lo), if r.exclusive() { "..." } else { ".." }, show(r.hi));
            return Err(cx.range_error(&format!("{text} out of range")));
        };
        splice(cx, a, s, n, &vs)?;
        return Ok(v);
    }
    let i = cx.arg_i64(args, 0)?;
    set_at(cx, a, i, v)
}

fn set_at(cx: &mut Cx, mut a: Held, i: i64, v: Value) -> R {
    let len = a.len() as i64;
    let k = if i < 0 { i.saturating_add(len) } else { i };
    if k < 0 {
        return Err(cx.index_error(&format!("index {i} too small for array; minimum: -{len}")));
    }
    if k >= MAX_LEN {
        return Err(cx.index_error(&format!("index {i} too big")));
    }
    grow(cx, a, k as usize + 1)?;
    cx.heap.before_store(a.val(), v);
    a.set(k as usize, v);
    Ok(v)
}

fn shl(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me_mut(cx, recv)?;
    cx.push(a.gc(), args[0]);
    Ok(recv)
}

fn push(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me_mut(cx, recv)?;
    for &v in args {
        cx.push(a.gc(), v);
    }
    Ok(recv)
}

fn size_arg(cx: &mut Cx, args: &[Value]) -> Result<usize, Exit> {
    let n = cx.arg_i64(args, 0)?;
    if n < 0 { Err(cx.arg_error("negative array size")) } else { Ok(n as usize) }
}

fn pop(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let mut a = me_mut(cx, recv)?;
    if args.is_empty() {
        return Ok(a.pop().unwrap_or(Value::NIL));
    }
    let n = size_arg(cx, args)?.min(a.len());
    let at = a.len() - n;
    let out = cx.array_seen(a.seen().from(at));
    a.vec().truncate(at);
    Ok(out)
}

fn shift(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let mut a = me_mut(cx, recv)?;
    if args.is_empty() {
        return Ok(a.shift().unwrap_or(Value::NIL));
    }
    let n = size_arg(cx, args)?.min(a.len());
    let out = cx.array_seen(a.seen().part(0..n));
    if n == 1 {
        a.shift();
    } else {
        a.vec().drain(..n);
    }
    Ok(out)
}

fn unshift(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let mut a = me_mut(cx, recv)?;
    before_all(cx, a, args);
    if args.len() < 1 << 20 {
        a.unshift(args);
    } else {
        a.vec().insert_from_slice(0, args);
    }
    Ok(recv)
}

fn insert(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me_mut(cx, recv)?;
    let i = cx.arg_i64(args, 0)?;
    if args.len() == 1 {
        return Ok(recv);
    }
    let len = a.len() as i64;
    let k = if i < 0 { i.saturating_add(len).saturating_add(1) } else { i };
    if k < 0 {
        return Err(cx.index_error(&format!("index {i} too small for array; minimum: -{}", len + 1)));
    }
    if k >= MAX_LEN {
        return Err(cx.index_error(&format!("index {i} too big")));
    }
    splice(cx, a, k as usize, 0, &args[1..])?;
    Ok(recv)
}

/// Appends the elements of `b`: each is told to the heap as it is stored, by one look at it.
fn append(cx: &mut Cx, mut a: Held, b: Gc<ArrayObj>) {
    let (holder, had) = (a.val(), a.vec().capacity());
    let (of, more) = ([a, Held::new(b)], b.seen());
    let grows = a.len() + more.len() > had;
    cx.on_long(more.len() + if grows { a.len() } else { 0 }, of, |cx, [mut a, _]| {
        a.vec().extend_seen(more, |vs| cx.heap.before_store_all(holder, vs))
    });
    cx.heap.charge((a.vec().capacity() - had) * 8);
    cx.heap.mind_replaced();
}

fn concat(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let mut a = me_mut(cx, recv)?;
    if args.len() == 1 {
        let b = cx.arg_array(args, 0)?;
        cx.check_size((a.len() + b.len()) * 8)?;
        append(cx, a, b);
        return Ok(recv);
    }
    let mut all = Vec::new();
    for i in 0..args.len() {
        cx.arg_array(args, i)?.seen().append_to(&mut all);
    }
    cx.check_size((a.len() + all.len()) * 8)?;
    before_all(cx, a, &all);
    a.vec().extend_from_slice(&all);
    Ok(recv)
}

fn clear(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let mut a = me_mut(cx, recv)?;
    let v = a.vec();
    v.clear();
    v.shrink_to_fit();
    Ok(recv)
}

fn take_over(cx: &mut Cx, mut a: Held, b: Gc<ArrayObj>) {
    if a.gc() != b {
        let (holder, had) = (a.val(), a.vec().capacity());
        let (of, all) = ([a, Held::new(b)], b.seen());
        cx.on_long(all.len(), of, |cx, [mut a, _]| a.vec().assign_seen(all, |vs| cx.heap.before_store_all(holder, vs)));
        // The buffer that was replaced is gone, or will be counted when it stays.
        cx.heap.charge(a.vec().capacity().saturating_sub(had) * 8);
        cx.heap.mind_replaced();
    }
}

fn replace(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me_mut(cx, recv)?;
    let b = cx.arg_array(args, 0)?;
    take_over(cx, a, b);
    Ok(recv)
}

fn delete_at(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let i = cx.arg_i64(args, 0)?;
    let mut a = me_mut(cx, recv)?;
    Ok(match position(i, a.len()) {
        Some(k) => a.vec().remove(k),
        None => Value::NIL,
    })
}

fn cut(cx: &mut Cx, a: Held, s: usize, n: usize) -> Value {
    let n = n.min(a.len() - s);
    let moved = if s == 0 || s + n == a.len() { n } else { a.len() };
    cx.on_long(moved, [a], |cx, [mut a]| {
        let out = cx.array_seen(a.seen().part(s..s + n));
        a.vec().drain(s..s + n);
        out
    })
}

fn slice_bang(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me_mut(cx, recv)?;
    if args.len() == 2 {
        let (start, n) = (cx.arg_i64(args, 0)?, cx.arg_i64(args, 1)?);
        let len = a.len() as i64;
        let s = if start < 0 { start.saturating_add(len) } else { start };
        if s < 0 || s > len || n < 0 {
            return Ok(Value::NIL);
        }
        return Ok(cut(cx, a, s as usize, n as usize));
    }
    if let Some(r) = args[0].as_range() {
        return Ok(match range_part(r, a.len(), true)? {
            Some((s, n)) => cut(cx, a, s, n),
            None => Value::NIL,
        });
    }
    delete_at(cx, recv, args)
}

fn reverse_bang(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let a = me_mut(cx, recv)?;
    cx.on_long(a.len(), [a], |_, [mut a]| a.edit(|s| s.reverse()));
    Ok(recv)
}

fn rotate_bang(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me_mut(cx, recv)?;
    let k = if args.is_empty() { 1 } else { cx.arg_i64(args, 0)? };
    let n = a.len() as i64;
    if n > 0 {
        cx.on_long(a.len(), [a], |_, [mut a]| a.edit(|s| s.rotate_left(k.rem_euclid(n) as usize)));
    }
    Ok(recv)
}

fn compact_bang(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let mut a = me_mut(cx, recv)?;
    let before = a.len();
    a.vec().retain(|v| !v.is_nil());
    Ok(if a.len() == before { Value::NIL } else { recv })
}

/// `__ary_splice(a, start, n, array)`: replaces elements.
fn i_splice(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me_mut(cx, args[0])?;
    if let Some(b) = args[3].as_array() {
        let (s, n) = (args[1].fix_val().max(0) as usize, args[2].fix_val().max(0) as usize);
        splice(cx, a, s, n, &b.seen().to_vec())?;
    }
    Ok(args[0])
}

/// `__ary_become(a, b)`: a takes over b's elements.
fn i_become(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me_mut(cx, args[0])?;
    let b = me(cx, args[1])?;
    take_over(cx, a, b);
    Ok(args[0])
}

/// `__ary_replace_if(a, was, b)`: a takes over b's elements if it holds those of `was`: whether it did.
fn i_replace_if(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut a = me_mut(cx, args[0])?;
    let (was, b) = (me(cx, args[1])?, me(cx, args[2])?);
    let vs = b.seen().to_vec();
    before_all(cx, a, &vs);
    if !a.seen().same(was.seen()) {
        return Ok(Value::FALSE);
    }
    a.vec().assign(&vs);
    Ok(Value::TRUE)
}

/// `__ary_cat(a, b)`: appends the elements of b to an array of ours.
fn i_cat(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me_mut(cx, args[0])?;
    let b = me(cx, args[1])?;
    if a.gc() != b {
        append(cx, a, b);
    }
    Ok(args[0])
}

/// `__ary_fill(a, v, from, n)` with a start and length that were checked.
fn i_fill(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut a = me_mut(cx, args[0])?;
    let (s, n) = (args[2].fix_val(), args[3].fix_val());
    if s < 0 || n <= 0 {
        return Ok(args[0]);
    }
    let end = s.saturating_add(n);
    if end >= MAX_LEN {
        return Err(cx.arg_error("argument too big"));
    }
    grow(cx, a, end as usize)?;
    cx.heap.before_store(args[0], args[1]);
    a.vec().fill(s as usize, n as usize, args[1]);
    Ok(args[0])
}

/// Natives and intrinsics.
pub static TABLE: &[NativeDef] = &[
    n("Array", "[]=", 2, 3, aset),
    n("Array", "<<", 1, 1, shl),
    n("Array", "push", 0, -1, push),
    n("Array", "pop", 0, 1, pop),
    n("Array", "shift", 0, 1, shift),
    n("Array", "unshift", 0, -1, unshift),
    n("Array", "insert", 1, -1, insert),
    n("Array", "concat", 0, -1, concat),
    n("Array", "clear", 0, 0, clear),
    n("Array", "replace", 1, 1, replace),
    private("Array", "initialize_copy", 1, 1, replace),
    n("Array", "delete_at", 1, 1, delete_at),
    n("Array", "slice!", 1, 2, slice_bang),
    n("Array", "reverse!", 0, 0, reverse_bang),
    n("Array", "rotate!", 0, 1, rotate_bang),
    n("Array", "compact!", 0, 0, compact_bang),
    intrinsic("__ary_splice", 4, 4, i_splice),
    intrinsic("__ary_become", 2, 2, i_become),
    intrinsic("__ary_replace_if", 3, 3, i_replace_if),
    intrinsic("__ary_cat", 2, 2, i_cat),
    intrinsic("__ary_fill", 4, 4, i_fill),
];
