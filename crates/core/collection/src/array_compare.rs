//! Array: everything that compares elements (equality, sets, order), for plain elements.
//!
//! Methods with a native miss when an element needs Ruby; intrinsics answer undef
//! then, before anything has changed, and the prelude goes the long way.

use crate::array::{before_all, me, me_mut};
use kumi_heap::HashData;
use kumi_vm::plain::{is_num, num_cmp};
use kumi_vm::*;
use std::cmp::Ordering;

const MISS: R = Ok(Value::UNDEF);

// --- equality ----------------------------------------------------------------------

fn eq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.plain_eq_deep(recv, args[0], 0).map(Value::bool).ok_or(Exit::Miss)
}

fn eql(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.plain_eql_deep(recv, args[0], 0).map(Value::bool).ok_or(Exit::Miss)
}

fn hash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    match cx.plain_hash(recv) {
        Some(h) => Ok(Value::fix(h as i64)),
        None => Err(Exit::Miss),
    }
}

/// `__ary_hash(hashes)`: the hash of an array whose elements have these hashes.
fn i_hash(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    let mut h = cx.hash_start(1, a.len());
    for &v in a.as_slice() {
        let part = match v.as_fix() {
            Some(i) => i as u64,
            None => v.as_big().map_or(0, |b| b.n.low_u64()),
        };
        h = cx.hash_step(h, part);
    }
    Ok(cx.hash_end(h))
}

fn cmp(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if args[0].as_array().is_none() {
        return Err(Exit::Miss);
    }
    cx.plain_cmp(recv, args[0]).map(|o| Value::fix(o as i64)).ok_or(Exit::Miss)
}

fn include(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    for i in 0..a.len() {
        let Some(v) = a.get(i) else { break };
        match cx.plain_eq(v, args[0]) {
            Some(true) => return Ok(Value::TRUE),
            Some(false) => {}
            None => return Err(Exit::Miss),
        }
    }
    Ok(Value::FALSE)
}

/// `__ary_index(a, v)`: first index, nil, or undef.
fn i_index(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    for i in 0..a.len() {
        match cx.plain_eq(a.as_slice()[i], args[1]) {
            Some(true) => return Ok(Value::fix(i as i64)),
            Some(false) => {}
            None => return MISS,
        }
    }
    Ok(Value::NIL)
}

/// `__ary_rindex(a, v)`: last index, nil, or undef.
fn i_rindex(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    for i in (0..a.len()).rev() {
        match cx.plain_eq(a.as_slice()[i], args[1]) {
            Some(true) => return Ok(Value::fix(i as i64)),
            Some(false) => {}
            None => return MISS,
        }
    }
    Ok(Value::NIL)
}

/// `__ary_count(a, v)`: how many are equal, or undef.
fn i_count(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    let mut c = 0;
    for i in 0..a.len() {
        match cx.plain_eq(a.as_slice()[i], args[1]) {
            Some(e) => c += e as i64,
            None => return MISS,
        }
    }
    Ok(Value::fix(c))
}

/// `__ary_delete(a, v)`: removes what is equal; the last one removed in an array, nil when none, or undef.
fn i_delete(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut a = me(cx, args[0])?;
    let mut keep = Vec::with_capacity(a.len());
    let mut last = None;
    for i in 0..a.len() {
        let v = a.as_slice()[i];
        match cx.plain_eq(v, args[1]) {
            Some(true) => last = Some(v),
            Some(false) => keep.push(v),
            None => return MISS,
        }
    }
    let Some(last) = last else { return Ok(Value::NIL) };
    cx.check_frozen(args[0])?;
    a.vec().assign(&keep);
    Ok(cx.array(&[last]))
}

// --- sets of elements ----------------------------------------------------------------

/// A set of plain values in the order they came.
#[derive(Default)]
struct PlainSet {
    h: HashData,
}

impl PlainSet {
    fn find(&self, cx: &mut Cx, v: Value) -> Option<(u64, Option<usize>)> {
        let hash = cx.plain_hash(v)?;
        let mut at = self.h.candidate(hash, None);
        while let Some(i) = at {
            if cx.plain_eql(self.h.at(i)?.key, v)? {
                return Some((hash, Some(i)));
            }
            at = self.h.candidate(hash, Some(i));
        }
        Some((hash, None))
    }
    /// Adds; whether it was new.
    fn add(&mut self, cx: &mut Cx, v: Value) -> Option<bool> {
        let (hash, at) = self.find(cx, v)?;
        if at.is_none() {
            self.h.push(hash, v, Value::NIL);
        }
        Some(at.is_none())
    }
    fn of(cx: &mut Cx, a: Gc<ArrayObj>) -> Option<PlainSet> {
        let mut s = PlainSet::default();
        for i in 0..a.len() {
            s.add(cx, a.as_slice()[i])?;
        }
        Some(s)
    }
    fn has(&self, cx: &mut Cx, v: Value) -> Option<bool> {
        Some(self.find(cx, v)?.1.is_some())
    }
}

fn distinct(cx: &mut Cx, arrays: &[Gc<ArrayObj>]) -> Option<Vec<Value>> {
    let mut s = PlainSet::default();
    let mut out = Vec::new();
    for a in arrays {
        for i in 0..a.len() {
            let v = a.as_slice()[i];
            if s.add(cx, v)? {
                out.push(v);
            }
        }
    }
    Some(out)
}

/// Elements of `a` that are (`keep`) or are not in every one of `others`.
fn sift(cx: &mut Cx, a: Gc<ArrayObj>, b: Gc<ArrayObj>, keep: bool) -> Option<Vec<Value>> {
    let mut out = Vec::new();
    if b.len() <= 8 {
        for i in 0..a.len() {
            let v = a.as_slice()[i];
            let mut found = false;
            for k in 0..b.len() {
                if cx.plain_eql(v, b.as_slice()[k])? {
                    found = true;
                    break;
                }
            }
            if found == keep {
                out.push(v);
            }
        }
        return Some(out);
    }
    let set = PlainSet::of(cx, b)?;
    for i in 0..a.len() {
        let v = a.as_slice()[i];
        if set.has(cx, v)? == keep {
            out.push(v);
        }
    }
    Some(out)
}

fn difference(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let (a, b) = (me(cx, recv)?, cx.arg_array(args, 0)?);
    match sift(cx, a, b, false) {
        Some(v) => Ok(cx.array_vec(v)),
        None => Err(Exit::Miss),
    }
}

fn intersection(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let (a, b) = (me(cx, recv)?, cx.arg_array(args, 0)?);
    let v = sift(cx, a, b, true).ok_or(Exit::Miss)?;
    let all = cx.array_vec(v);
    let all = me(cx, all)?;
    match distinct(cx, &[all]) {
        Some(v) => Ok(cx.array_vec(v)),
        None => Err(Exit::Miss),
    }
}

fn union(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let (a, b) = (me(cx, recv)?, cx.arg_array(args, 0)?);
    match distinct(cx, &[a, b]) {
        Some(v) => Ok(cx.array_vec(v)),
        None => Err(Exit::Miss),
    }
}

/// `__ary_uniq(a)`: a new array, or undef.
fn i_uniq(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    match distinct(cx, &[a]) {
        Some(v) => Ok(cx.array_vec(v)),
        None => MISS,
    }
}

/// Where all elements are plain, in one step.
fn uniq_bang(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let mut a = me_mut(cx, recv)?;
    let Some(v) = distinct(cx, &[a]) else { return Err(Exit::Miss) };
    if v.len() == a.len() {
        return Ok(Value::NIL);
    }
    a.vec().assign(&v);
    Ok(recv)
}

/// `__ary_tally(a)`: how often each element is there, as a Hash; nil when an element is not plain.
fn i_tally(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    let out = cx.hash();
    let Some(mut h) = out.as_hash() else { return Ok(Value::NIL) };
    for i in 0..a.len() {
        let v = a.as_slice()[i];
        let Ok(hv) = cx.key_hash(h, v) else { return Ok(Value::NIL) };
        match cx.hash_find_with(h, v, hv) {
            Ok(Some(at)) => {
                let n = h.h.at(at).and_then(|e| e.val.as_fix()).unwrap_or(0);
                h.h.set_val(at, Value::fix(n + 1));
            }
            Ok(None) => cx.hash_push(h, hv, v, Value::fix(1))?,
            Err(_) => return Ok(Value::NIL),
        }
    }
    Ok(out)
}

// --- flattening ------------------------------------------------------------------------

enum Flat {
    Miss,
    Recursive,
}

fn flatten_into(
    cx: &mut Cx,
    a: Gc<ArrayObj>,
    depth: i64,
    level: u32,
    path: &mut Vec<Value>,
    out: &mut Vec<Value>,
    changed: &mut bool,
) -> Result<(), Flat> {
    for i in 0..a.len() {
        let v = a.as_slice()[i];
        if let Some(inner) = v.as_array() {
            if depth != 0 {
                *changed = true;
                if depth < 0 && path.contains(&v) {
                    return Err(Flat::Recursive);
                }
                if level > 90 {
                    return Err(Flat::Miss);
                }
                path.push(v);
                flatten_into(cx, inner, depth - 1, level + 1, path, out, changed)?;
                path.pop();
                continue;
            }
        } else if depth != 0 && !never_array(cx, v) {
            return Err(Flat::Miss);
        }
        out.push(v);
    }
    Ok(())
}

/// Has `v` surely no `to_ary`?
fn never_array(cx: &mut Cx, v: Value) -> bool {
    match v.kind() {
        None | Some(Kind::Str | Kind::Hash | Kind::Range | Kind::Float | Kind::Big | Kind::Pair | Kind::Class) => true,
        _ => {
            !cx.has_method(v, sym::TO_ARY)
                && cx.builtin(v, sym::METHOD_MISSING)
                && cx.builtin(v, sym::RESPOND_TO)
                && cx.builtin(v, sym::RESPOND_TO_MISSING)
        }
    }
}

fn flat(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<(Vec<Value>, bool), Exit> {
    let a = me(cx, recv)?;
    let depth = if args.is_empty() || args[0].is_nil() { -1 } else { cx.arg_i64(args, 0)? };
    let (mut out, mut changed) = (Vec::with_capacity(a.len()), false);
    match flatten_into(cx, a, depth, 0, &mut vec![recv], &mut out, &mut changed) {
        Ok(()) => Ok((out, changed)),
        Err(Flat::Miss) => Err(Exit::Miss),
        Err(Flat::Recursive) => Err(cx.arg_error("tried to flatten recursive array")),
    }
}

fn flatten(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let (v, _) = flat(cx, recv, args)?;
    Ok(cx.array_vec(v))
}

fn flatten_bang(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let mut a = me_mut(cx, recv)?;
    let (vs, changed) = flat(cx, recv, args)?;
    if !changed {
        return Ok(Value::NIL);
    }
    before_all(cx, a, &vs);
    a.vec().assign(&vs);
    Ok(recv)
}

// --- order -------------------------------------------------------------------------------

/// How all of these values can be compared without Ruby.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Fixnums,
    Numbers,
    Strings,
    General,
}

fn order_of(cx: &mut Cx, vs: &[Value]) -> Option<Order> {
    let head = *vs.first()?;
    if vs.iter().all(|v| v.is_fix()) {
        return cx.builtin(head, sym::CMP).then_some(Order::Fixnums);
    }
    if vs.iter().all(|v| is_num(*v)) {
        let nan = vs.iter().any(|v| v.as_float().is_some_and(f64::is_nan));
        let (i, f) = (Value::fix(0), cx.float(1.0));
        return (!nan && cx.builtin(i, sym::CMP) && cx.builtin(f, sym::CMP)).then_some(Order::Numbers);
    }
    if let Some(s) = head.as_str() {
        let enc = s.enc();
        let mut class = Value::NIL;
        for v in vs {
            let s = v.as_str().filter(|s| s.enc() == enc)?;
            if s.hdr.class != class {
                class = s.hdr.class;
                if !cx.builtin(*v, sym::CMP) {
                    return None;
                }
            }
        }
        return Some(Order::Strings);
    }
    Some(Order::General)
}

fn compare(cx: &mut Cx, o: Order, a: Value, b: Value) -> Option<Ordering> {
    match o {
        Order::Fixnums => Some(a.fix_val().cmp(&b.fix_val())),
        Order::Numbers => num_cmp(a, b),
        Order::Strings => Some(a.as_str()?.bytes().cmp(b.as_str()?.bytes())),
        Order::General => cx.plain_cmp(a, b),
    }
}

/// Sorts positions by a comparison that may give up.
fn merge_sort(n: usize, mut less_eq: impl FnMut(usize, usize) -> Option<bool>) -> Option<Vec<usize>> {
    let mut a: Vec<usize> = (0..n).collect();
    let mut b = a.clone();
    let mut width = 1;
    while width < n {
        let mut lo = 0;
        while lo < n {
            let (mid, hi) = ((lo + width).min(n), (lo + 2 * width).min(n));
            let (mut i, mut j) = (lo, mid);
            for slot in b[lo..hi].iter_mut() {
                let left = i < mid && (j >= hi || less_eq(a[i], a[j])?);
                *slot = if left { a[i] } else { a[j] };
                if left { i += 1 } else { j += 1 }
            }
            lo = hi;
        }
        std::mem::swap(&mut a, &mut b);
        width *= 2;
    }
    Some(a)
}

/// The values in order; `None` when Ruby must compare.
fn sorted(cx: &mut Cx, vs: &[Value]) -> Option<Vec<Value>> {
    if vs.len() < 2 {
        return Some(vs.to_vec());
    }
    let mut out = vs.to_vec();
    match order_of(cx, vs)? {
        Order::Fixnums => out.sort_unstable_by_key(|v| v.fix_val()),
        // Neither fails: NaN was excluded and every value is a string.
        o @ (Order::Numbers | Order::Strings) => out.sort_by(|a, b| compare(cx, o, *a, *b).unwrap_or(Ordering::Equal)),
        o => {
            let at = merge_sort(vs.len(), |i, j| Some(compare(cx, o, vs[i], vs[j])? != Ordering::Greater))?;
            out = at.into_iter().map(|i| vs[i]).collect();
        }
    }
    Some(out)
}

/// `__ary_sort(a)`: a sorted copy, or undef.
fn i_sort(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    match sorted(cx, a.as_slice()) {
        Some(v) => Ok(cx.array_vec(v)),
        None => MISS,
    }
}

/// Where all elements are plain, in one step.
fn sort_bang(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let mut a = me_mut(cx, recv)?;
    let Some(v) = sorted(cx, a.as_slice()) else { return Err(Exit::Miss) };
    a.vec().assign(&v);
    Ok(recv)
}

/// `__ary_sort_by(keys, values)`: the values in the order of their keys, or undef.
fn i_sort_by(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (k, v) = (me(cx, args[0])?, me(cx, args[1])?);
    let (k, v) = (k.as_slice().to_vec(), v.as_slice().to_vec());
    if k.len() != v.len() {
        return MISS;
    }
    if k.len() < 2 {
        return Ok(cx.array_vec(v));
    }
    let Some(o) = order_of(cx, &k) else { return MISS };
    let at = match o {
        Order::General => merge_sort(k.len(), |i, j| Some(compare(cx, o, k[i], k[j])? != Ordering::Greater)),
        _ => {
            let mut at: Vec<usize> = (0..k.len()).collect();
            at.sort_by(|&i, &j| compare(cx, o, k[i], k[j]).unwrap_or(Ordering::Equal));
            Some(at)
        }
    };
    match at {
        Some(at) => Ok(cx.array_vec(at.into_iter().map(|i| v[i]).collect())),
        None => MISS,
    }
}

/// The least (`want` Less) or greatest value: position; `None` when Ruby must compare.
fn extreme(cx: &mut Cx, vs: &[Value], want: Ordering) -> Option<usize> {
    let o = order_of(cx, vs)?;
    let mut best = 0;
    for i in 1..vs.len() {
        if compare(cx, o, vs[i], vs[best])? == want {
            best = i;
        }
    }
    Some(best)
}

/// `__ary_min(a)`, `__ary_max(a)` of at least one element; undef otherwise.
fn i_min(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    Ok(extreme(cx, a.as_slice(), Ordering::Less).map_or(Value::UNDEF, |i| a.as_slice()[i]))
}
fn i_max(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    Ok(extreme(cx, a.as_slice(), Ordering::Greater).map_or(Value::UNDEF, |i| a.as_slice()[i]))
}

/// `__ary_min_at(keys)`, `__ary_max_at(keys)`: where the extreme of at least one key is, or undef.
fn i_min_at(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    Ok(extreme(cx, a.as_slice(), Ordering::Less).map_or(Value::UNDEF, |i| Value::fix(i as i64)))
}
fn i_max_at(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    Ok(extreme(cx, a.as_slice(), Ordering::Greater).map_or(Value::UNDEF, |i| Value::fix(i as i64)))
}

/// Natives and intrinsics.
pub static TABLE: &[NativeDef] = &[
    n("Array", "==", 1, 1, eq),
    n("Array", "eql?", 1, 1, eql),
    n("Array", "hash", 0, 0, hash),
    n("Array", "<=>", 1, 1, cmp),
    n("Array", "include?", 1, 1, include),
    n("Array", "-", 1, 1, difference),
    n("Array", "&", 1, 1, intersection),
    n("Array", "|", 1, 1, union),
    n("Array", "flatten", 0, 1, flatten),
    n("Array", "flatten!", 0, 1, flatten_bang),
    n("Array", "sort!", 0, 0, sort_bang),
    n("Array", "uniq!", 0, 0, uniq_bang),
    intrinsic("__ary_hash", 1, 1, i_hash),
    intrinsic("__ary_index", 2, 2, i_index),
    intrinsic("__ary_rindex", 2, 2, i_rindex),
    intrinsic("__ary_count", 2, 2, i_count),
    intrinsic("__ary_delete", 2, 2, i_delete),
    intrinsic("__ary_tally", 1, 1, i_tally),
    intrinsic("__ary_uniq", 1, 1, i_uniq),
    intrinsic("__ary_sort", 1, 1, i_sort),
    intrinsic("__ary_sort_by", 2, 2, i_sort_by),
    intrinsic("__ary_min", 1, 1, i_min),
    intrinsic("__ary_max", 1, 1, i_max),
    intrinsic("__ary_min_at", 1, 1, i_min_at),
    intrinsic("__ary_max_at", 1, 1, i_max_at),
];
