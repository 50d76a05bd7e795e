//! Array: order. Sorting, least and greatest, for plain elements.
//!
//! Intrinsics answer undef when Ruby must compare, before anything has changed, and
//! the prelude goes the long way. Long arrays of numbers or Strings are sorted while
//! the worker is detached, but for integers that lie evenly ([`SPREAD`]); what is read then is
//! an array that nobody else has, or a copy, so that its elements live. Integers in their words need nobody for that.
//! A sort that leaves equal ones in their order takes memory by itself: who calls it asks for that before.
//!
//! **Invariant.** What is compared never changes under a sort: numbers cannot, and of each String the bytes are looked at
//! once, before ([`Keyed`]). Nested arrays can; their sort ends whatever the comparisons say (`merge_sort`).

use crate::array::{me, me_mut};
use kumi_vm::plain::{is_num, num_cmp};
use kumi_vm::*;
use std::cmp::Ordering;

const MISS: R = Ok(Value::UNDEF);

/// How all of these values can be compared without Ruby.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Fixnums,
    Numbers,
    Strings,
    General,
}

/// Are these integers in their words? Some at a time, without a branch for each.
fn are_fixnums(vs: &[Value]) -> bool {
    vs.chunks(64).all(|c| c.iter().fold(true, |all, v| all & v.is_fix()))
}

fn sorted_fixnums(vs: &[Value]) -> Vec<Value> {
    match Spread::of(vs, Value::fix_val) {
        Some(s) => s.to_vec(vs, Value::fix_val),
        None => {
            let mut out = Vec::copy(vs);
            sort_fixnums(&mut out);
            out
        }
    }
}
fn sort_fixnums(vs: &mut [Value]) {
    vs.sort_unstable_by_key(|v| v.fix_val());
}

/// Shorter lists are sorted whatever they look like.
const SHORT: usize = 64;
/// The longest list that is merged by the worker itself: as copies are, it takes less than a millisecond.
const MERGED: usize = 1 << 18;

/// The longest list that it sorts by itself as well, if its integers lie evenly.
const SPREAD: usize = 1 << 17;

/// Where the second run begins of integers in their words that are in order but for that place, as two sorted lists in a row are.
fn second_run(vs: Seen<'_, Value>) -> Option<usize> {
    let (mut last, mut at) = (Value::fix(FIXNUM_MIN), None);
    for (i, v) in vs.iter().enumerate() {
        if !v.is_fix() {
            return None;
        }
        if v.fix_val() < last.fix_val() && at.replace(i).is_some() {
            return None;
        }
        last = v;
    }
    Some(at.unwrap_or(vs.len()))
}

fn order_of(cx: &mut Cx, vs: &[Value]) -> Option<Order> {
    let head = *vs.first()?;
    if are_fixnums(vs) {
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
            if s.hdr.class() != class {
                class = s.hdr.class();
                if !cx.builtin(*v, sym::CMP) {
                    return None;
                }
            }
        }
        return Some(Order::Strings);
    }
    Some(Order::General)
}

/// An element of Strings as it was when it was looked at, and what decides most of its comparisons.
#[derive(Clone, Copy)]
struct Keyed {
    head: u64,
    text: Text,
    at: usize,
}

impl Keyed {
    /// Values that are not all Strings, though they were: `None`.
    fn all(vs: &[Value]) -> Option<Vec<Keyed>> {
        let mut all = Vec::room(vs.len());
        for (at, v) in vs.iter().enumerate() {
            all.put(Keyed::new(v.as_str()?.text(), at));
        }
        Some(all)
    }
    fn new(text: Text, at: usize) -> Keyed {
        let mut head = [0; 8];
        let b = text.bytes();
        let n = b.len().min(8);
        head[..n].copy_from_slice(&b[..n]);
        Keyed { head: u64::from_be_bytes(head), text, at }
    }
    fn cmp(&self, o: &Keyed) -> Ordering {
        self.head.cmp(&o.head).then_with(|| self.text.bytes().cmp(o.text.bytes()))
    }
    /// Positions in order.
    fn sorted(vs: &[Value]) -> Option<impl Iterator<Item = usize> + use<>> {
        let mut all = Keyed::all(vs)?;
        // Equal ones stay in their order, and nothing is taken for that.
        all.sort_unstable_by(|a, b| a.cmp(b).then(a.at.cmp(&b.at)));
        Some(all.into_iter().map(|k| k.at))
    }
}

/// Compares numbers of which none is NaN, and what else is plain.
fn compare(cx: &mut Cx, o: Order, a: Value, b: Value) -> Option<Ordering> {
    match o {
        Order::Fixnums => Some(a.fix_val().cmp(&b.fix_val())),
        Order::Numbers => num_cmp(a, b),
        Order::Strings | Order::General => cx.plain_cmp(a, b),
    }
}

/// Sorts positions by a comparison that may give up.
fn merge_sort(n: usize, mut less_eq: impl FnMut(usize, usize) -> Option<bool>) -> Option<Vec<usize>> {
    let mut a = Vec::gather(0..n);
    let mut b = Vec::copy(&a);
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
    let order = order_of(cx, vs)?;
    if order == Order::Fixnums {
        return Some(sorted_fixnums(vs));
    }
    let mut out = Vec::copy(vs);
    match order {
        // It does not fail: NaN was excluded.
        Order::Numbers => {
            ask(size_of_val(vs));
            out.sort_by(|a, b| num_cmp(*a, *b).unwrap_or(Ordering::Equal));
        }
        Order::Strings => out = Vec::gather(Keyed::sorted(vs)?.map(|i| vs[i])),
        o => {
            let at = merge_sort(vs.len(), |i, j| Some(compare(cx, o, vs[i], vs[j])? != Ordering::Greater))?;
            out = Vec::gather(at.into_iter().map(|i| vs[i]));
        }
    }
    Some(out)
}

/// `__ary_sort(a)`: a sorted copy, or undef. `a` is the caller's own.
fn i_sort(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    if let Some(v) = long_sort(cx, a, None)? {
        return Ok(v);
    }
    match sorted(cx, &a.seen().to_vec()) {
        Some(v) => Ok(cx.array_vec(v)),
        None => MISS,
    }
}

/// Where all elements are plain, in one step: a long array is sorted as a copy, which takes its place if nobody has
/// changed it meanwhile.
fn sort_bang(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let mut a = me_mut(cx, recv)?;
    let ints = a.get(0).is_some_and(|head| head.is_fix() && cx.builtin(head, sym::CMP));
    if ints && a.len() >= SHORT {
        let spreads = a.len() <= SPREAD || !cx.worth_detaching(sort_ns(a.len()));
        if cx.on_long(a.len(), [a], |_, [mut a]| merge_runs(a) || spreads && a.spread(are_fixnums, Value::fix_val)) {
            cx.heap.mind_replaced();
            return Ok(recv);
        }
    }
    if cx.worth_detaching(sort_ns(a.len())) {
        if let Some(b) = sort_bang_alone(cx, a)? {
            a.vec().replace(b);
            cx.heap.mind_replaced();
            return Ok(recv);
        }
    }
    if ints && a.seen().iter().all(|v| v.is_fix()) {
        cx.on_long(a.len(), [a], |_, [mut a]| a.edit(sort_fixnums));
        cx.heap.mind_replaced();
        return Ok(recv);
    }
    let Some(v) = sorted(cx, &a.seen().to_vec()) else { return Err(Exit::Miss) };
    a.vec().assign(&v);
    cx.heap.mind_replaced();
    Ok(recv)
}

/// Merges `a` if it is two sorted lists in a row.
fn merge_runs(mut a: Held) -> bool {
    let mid = if a.len() <= MERGED { second_run(a.seen()) } else { None };
    if let Some(mid) = mid {
        a.merge(mid, Value::fix_val);
    }
    mid.is_some()
}

/// The elements of `a` in order, which still are those that were sorted while the worker was detached; `None`: it needs the worker.
fn sort_bang_alone(cx: &mut Cx, a: Held) -> Result<Option<ArrayBuf>, Exit> {
    if let Some(s) = cx.detached::<SortedFixnums>() {
        let print = cx.on_long(a.len(), [a], |_, [a]| Print::of_seen(a.seen()));
        return Ok((print == s.print).then_some(s.out));
    }
    if let Some(s) = cx.detached::<SortedCopy>() {
        return Ok(s.out.filter(|_| s.copy.as_array().is_some_and(|c| c.seen().same(a.seen()))));
    }
    let Some(head) = a.get(0) else { return Ok(None) };
    let Some(own) = Own::of(cx, head) else { return Ok(None) };
    let ns = sort_ns(a.len());
    if own.ints && head.is_fix() {
        let (mut copy, print) = cx.on_long(a.len(), [a], |_, [a]| {
            let mut copy = ArrayBuf::unseen(a.seen());
            let print = Print::of_slice(copy.slice());
            (copy, print)
        });
        if print.fixnums {
            return Err(cx.detach(ns, Value::NIL, move |_| {
                sort_fixnums(copy.slice());
                SortedFixnums { print, out: copy.done() }
            }));
        }
    }
    let copy = cx.array_vec(a.seen().to_vec());
    Err(cx.detach(ns, copy, move |_| SortedCopy { copy, out: sort_alone(own, copy, None) }))
}

/// `__ary_sort_by(keys, values)`: the values in the order of their keys, or undef. Both are the caller's own.
fn i_sort_by(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (keys, values) = (me(cx, args[0])?, me(cx, args[1])?);
    let (k, v) = (keys.seen(), values.seen());
    if k.len() == v.len() {
        if let Some(v) = long_sort(cx, keys, Some(values))? {
            return Ok(v);
        }
    }
    let (k, v) = (k.to_vec(), v.to_vec());
    if k.len() != v.len() {
        return MISS;
    }
    if k.len() < 2 {
        return Ok(cx.array_vec(v));
    }
    let Some(o) = order_of(cx, &k) else { return MISS };
    let at = match o {
        Order::General => merge_sort(k.len(), |i, j| Some(compare(cx, o, k[i], k[j])? != Ordering::Greater)),
        Order::Strings => Keyed::sorted(&k).map(Vec::gather),
        _ => {
            let mut at = Vec::gather(0..k.len());
            ask(size_of_val(&*at));
            at.sort_by(|&i, &j| compare(cx, o, k[i], k[j]).unwrap_or(Ordering::Equal));
            Some(at)
        }
    };
    match at {
        Some(at) => Ok(cx.array_vec(Vec::gather(at.into_iter().map(|i| v[i])))),
        None => MISS,
    }
}

/// Position of the first that is before (`want` Less) or behind all others.
fn first_extreme<T>(all: impl Iterator<Item = T>, want: Ordering, mut cmp: impl FnMut(&T, &T) -> Option<Ordering>) -> Option<usize> {
    let mut best: Option<(usize, T)> = None;
    for (i, x) in all.enumerate() {
        if best.as_ref().map_or(Some(want), |b| cmp(&x, &b.1))? == want {
            best = Some((i, x));
        }
    }
    best.map(|b| b.0)
}

/// The least or greatest value: position; `None` when Ruby must compare.
fn extreme(cx: &mut Cx, vs: &[Value], want: Ordering) -> Option<usize> {
    match order_of(cx, vs)? {
        Order::Strings => first_extreme(Keyed::all(vs)?.into_iter(), want, |a, b| Some(a.cmp(b))),
        o => first_extreme(vs.iter(), want, |a, b| compare(cx, o, **a, **b)),
    }
}

/// As above for the elements of `a`, which others may change: the value, and where it stood.
fn extreme_of(cx: &mut Cx, a: Gc<ArrayObj>, want: Ordering) -> Result<Option<(Value, usize)>, Exit> {
    if let Some((copy, at)) = long_extreme(cx, a, want)? {
        return Ok(copy.as_array().and_then(|c| c.get(at)).map(|v| (v, at)));
    }
    let vs = a.seen().to_vec();
    Ok(extreme(cx, &vs, want).map(|i| (vs[i], i)))
}

/// `__ary_min(a)`, `__ary_max(a)` of at least one element; undef otherwise.
fn i_min(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    Ok(extreme_of(cx, a, Ordering::Less)?.map_or(Value::UNDEF, |x| x.0))
}
fn i_max(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    Ok(extreme_of(cx, a, Ordering::Greater)?.map_or(Value::UNDEF, |x| x.0))
}

/// `__ary_min_at(keys)`, `__ary_max_at(keys)`: where the extreme of at least one key is, or undef.
fn i_min_at(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    Ok(extreme_of(cx, a, Ordering::Less)?.map_or(Value::UNDEF, |x| Value::fix(x.1 as i64)))
}
fn i_max_at(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    Ok(extreme_of(cx, a, Ordering::Greater)?.map_or(Value::UNDEF, |x| Value::fix(x.1 as i64)))
}

// --- long arrays, while the worker is detached ---------------------------------------------

/// Nanoseconds to sort so many elements, roughly.
fn sort_ns(n: usize) -> u64 {
    n as u64 * (n.max(2).ilog2() as u64) * 4
}

/// Which comparisons are Ruby's own.
#[derive(Clone, Copy)]
struct Own {
    ints: bool,
    floats: bool,
    /// The class of the first element, a String, whose `<=>` is; else nil.
    text: Value,
    enc: u8,
}

impl Own {
    /// For an array that begins with `head`, if there is a chance.
    fn of(cx: &mut Cx, head: Value) -> Option<Own> {
        if !is_num(head) && head.as_str().is_none() {
            return None;
        }
        let (i, f) = (Value::fix(0), cx.float(1.0));
        let (ints, floats) = (cx.builtin(i, sym::CMP), cx.builtin(f, sym::CMP));
        Some(match head.as_str() {
            Some(s) if cx.builtin(head, sym::CMP) => Own { ints, floats, text: s.hdr.class(), enc: s.enc() },
            _ => Own { ints, floats, text: Value::NIL, enc: 0 },
        })
    }
    /// How these can be compared without the worker.
    fn order(&self, vs: &[Value]) -> Option<Order> {
        let head = *vs.first()?;
        if are_fixnums(vs) {
            return self.ints.then_some(Order::Fixnums);
        }
        if is_num(head) {
            let all = vs.iter().all(|v| is_num(*v) && !v.as_float().is_some_and(f64::is_nan));
            return (all && self.ints && self.floats).then_some(Order::Numbers);
        }
        let text = |v: &Value| v.as_str().is_some_and(|s| s.hdr.class() == self.text && s.enc() == self.enc);
        (!self.text.is_nil() && vs.iter().all(text)).then_some(Order::Strings)
    }
}

/// `values` (or the keys themselves) in the order of `keys`, without the worker.
fn sort_alone(own: Own, keys: Value, values: Option<Value>) -> Option<ArrayBuf> {
    let keys = keys.as_array()?;
    let mut ks = keys.seen().to_vec();
    let order = own.order(&ks)?;
    let Some(values) = values else {
        match order {
            Order::Fixnums => ks = sorted_fixnums(&ks),
            Order::Strings => ks = Vec::gather(Keyed::sorted(&ks)?.map(|i| ks[i])),
            // Numbers never change, and none is NaN.
            _ => {
                ask(size_of_val(&*ks));
                ks.sort_by(|a, b| num_cmp(*a, *b).unwrap_or(Ordering::Equal));
            }
        }
        return Some(ArrayBuf::from_slice(&ks));
    };
    let values = values.as_array()?;
    let vs = values.seen().to_vec();
    if vs.len() != ks.len() {
        return None;
    }
    let out: Vec<Value> = match order {
        Order::Strings => Vec::gather(Keyed::sorted(&ks)?.map(|i| vs[i])),
        Order::Fixnums => {
            let mut all = Vec::gather(ks.iter().zip(vs).map(|(k, v)| (k.fix_val(), v)));
            ask(size_of_val(&*all));
            all.sort_by_key(|p| p.0);
            Vec::gather(all.into_iter().map(|p| p.1))
        }
        _ => {
            let mut all = Vec::gather(ks.iter().copied().zip(vs));
            ask(size_of_val(&*all));
            all.sort_by(|a, b| num_cmp(a.0, b.0).unwrap_or(Ordering::Equal));
            Vec::gather(all.into_iter().map(|p| p.1))
        }
    };
    Some(ArrayBuf::from_slice(&out))
}

/// What sorting integers gave, and the [`Print`] of them as they stood.
struct SortedFixnums {
    print: Print,
    out: ArrayBuf,
}

/// Tells an array's words and their order: how many, and a hash. Equal ones of unequal words are met by chance only, once in 2^64, and only where
/// threads change an Array that is being sorted.
///
/// Four chains, of which each takes two words with a multiplication: that goes as fast as the words come from the cache. The second factor is odd for
/// integers in their words, so that no product forgets the first.
#[derive(Clone, Copy, PartialEq)]
struct Print {
    chains: [u64; 4],
    words: usize,
    /// All are integers in their words.
    fixnums: bool,
}

impl Print {
    /// Of so many words: eight at a time, and less than eight.
    fn of(words: usize, eights: impl Iterator<Item = [Value; 8]>, rest: impl Iterator<Item = Value>) -> Print {
        let mut p = Print { chains: [1, 2, 3, 4], words, fixnums: true };
        eights.for_each(|e| p.take(e));
        let mut last = [Value::fix(0); 8];
        last.iter_mut().zip(rest).for_each(|(l, v)| *l = v);
        p.take(last);
        p
    }
    fn of_slice(vs: &[Value]) -> Print {
        let (eights, rest) = vs.as_chunks::<8>();
        Print::of(vs.len(), eights.iter().copied(), rest.iter().copied())
    }
    fn of_seen(vs: Seen<'_, Value>) -> Print {
        let (eights, rest) = vs.arrays::<8>();
        Print::of(vs.len(), eights, rest.iter())
    }
    #[inline(always)]
    fn take(&mut self, e: [Value; 8]) {
        for (chain, two) in self.chains.iter_mut().zip(e.as_chunks::<2>().0) {
            let product = u128::from(*chain ^ two[0].bits() ^ 0x9e37_79b9_7f4a_7c15) * u128::from(two[1].bits() ^ 0xd6e8_feb8_6659_fd92);
            *chain = product as u64 ^ (product >> 64) as u64;
        }
        self.fixnums &= e.iter().fold(true, |all, v| all & v.is_fix());
    }
}

/// What sorting a copy gave.
struct SortedCopy {
    copy: Value,
    out: Option<ArrayBuf>,
}

/// What sorting gave; `None`: it needs the worker.
struct Sorted {
    of: Value,
    out: Option<ArrayBuf>,
}

/// Sorts arrays of the calling method's own, which nobody else changes, when they are long.
fn long_sort(cx: &mut Cx, keys: Gc<ArrayObj>, values: Option<Gc<ArrayObj>>) -> Result<Option<Value>, Exit> {
    if !cx.worth_detaching(sort_ns(keys.len())) {
        return Ok(None);
    }
    match cx.detached::<Sorted>() {
        Some(s) if s.of == keys.val() => Ok(s.out.map(|b| cx.heap.array_buf(cx.k.array.val(), b).val())),
        Some(_) => Ok(None),
        None => {
            let Some(own) = keys.get(0).and_then(|head| Own::of(cx, head)) else { return Ok(None) };
            let (of, values, ns) = (keys.val(), values.map(|v| v.val()), sort_ns(keys.len()));
            let keep = cx.array(&[of, values.unwrap_or(Value::NIL)]);
            Err(cx.detach(ns, keep, move |_| Sorted { of, out: sort_alone(own, of, values) }))
        }
    }
}

/// The extreme of a copy; `None`: it needs the worker.
struct Extreme {
    of: Value,
    copy: Value,
    at: Option<usize>,
}

fn extreme_alone(own: Own, copy: Value, want: Ordering) -> Option<usize> {
    let all = copy.as_array()?;
    let vs = all.seen().to_vec();
    match own.order(&vs)? {
        Order::Fixnums => first_extreme(vs.iter(), want, |a, b| Some(a.fix_val().cmp(&b.fix_val()))),
        Order::Strings => first_extreme(Keyed::all(&vs)?.into_iter(), want, |a, b| Some(a.cmp(b))),
        _ => first_extreme(vs.iter(), want, |a, b| num_cmp(**a, **b)),
    }
}

/// The least or greatest element of a long array: a copy of the array and a place in it.
fn long_extreme(cx: &mut Cx, a: Gc<ArrayObj>, want: Ordering) -> Result<Option<(Value, usize)>, Exit> {
    let all = a.seen();
    if !cx.worth_detaching(all.len() as u64 * 4) {
        return Ok(None);
    }
    match cx.detached::<Extreme>() {
        Some(x) if x.of == a.val() => Ok(x.at.map(|i| (x.copy, i))),
        Some(_) => Ok(None),
        None => {
            let Some(own) = all.first().and_then(|head| Own::of(cx, head)) else { return Ok(None) };
            let of = a.val();
            // Others may change the array meanwhile: the copy keeps its elements.
            let copy = cx.array_seen(all);
            Err(cx.detach(all.len() as u64 * 4, copy, move |_| Extreme { of, copy, at: extreme_alone(own, copy, want) }))
        }
    }
}

// --- lists that are no Array yet ----------------------------------------------------------

/// Where the quick answer is none: the Array after all, and its method.
pub(crate) fn made(cx: &mut Cx, list: &[Value], name: &'static str, args: &[Value]) -> Exit {
    let a = cx.array(list);
    let s = cx.intern(name);
    cx.call_public(a, s, args)
}
/// Is `name` our own method of Arrays, and is nobody told of calls?
pub(crate) fn ours(cx: &mut Cx, name: &'static str) -> bool {
    if cx.is_traced() {
        return false;
    }
    let (c, s) = (cx.k.array, cx.intern(name));
    cx.builtin_in(c, s)
}
fn list_extreme(cx: &mut Cx, list: &[Value], name: &'static str, want: Ordering) -> R {
    if list.is_empty() || !ours(cx, name) {
        return Err(made(cx, list, name, &[]));
    }
    if let [x] = list {
        return Ok(*x);
    }
    if let Some(i) = extreme(cx, list, want) {
        return Ok(list[i]);
    }
    let a = cx.array(list);
    Err(cx.call_helper(if want.is_lt() { "list_min" } else { "list_max" }, &[a]))
}
/// `[a, b].min`, `[a, b].max` (compiled calls).
fn list_min(cx: &mut Cx, _: Value, list: &[Value]) -> R {
    list_extreme(cx, list, "min", Ordering::Less)
}
fn list_max(cx: &mut Cx, _: Value, list: &[Value]) -> R {
    list_extreme(cx, list, "max", Ordering::Greater)
}

pub static TABLE: &[NativeDef] = &[
    intrinsic("__list_min", 0, -1, list_min),
    intrinsic("__list_max", 0, -1, list_max),
    n("Array", "sort!", 0, 0, sort_bang),
    intrinsic("__ary_sort", 1, 1, i_sort),
    intrinsic("__ary_sort_by", 2, 2, i_sort_by),
    intrinsic("__ary_min", 1, 1, i_min),
    intrinsic("__ary_max", 1, 1, i_max),
    intrinsic("__ary_min_at", 1, 1, i_min_at),
    intrinsic("__ary_max_at", 1, 1, i_max_at),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_keeps_the_order_of_equals_and_may_give_up() {
        for n in [0, 1, 2, 3, 7, 8, 9, 100] {
            let keys: Vec<usize> = (0..n).map(|i| i * 7 % 5).collect();
            let mut want: Vec<usize> = (0..n).collect();
            want.sort_by_key(|&i| keys[i]);
            assert_eq!(merge_sort(n, |i, j| Some(keys[i] <= keys[j])), Some(want));
        }
        assert_eq!(merge_sort(3, |i, _| (i != 1).then_some(true)), None);
    }

    #[test]
    fn two_runs_of_integers_are_known() {
        let ints = |of: &[i64]| -> ArrayBuf { of.iter().map(|i| Value::fix(*i)).collect() };
        let known: [(&[i64], _); 7] = [
            (&[1, 2, 2], Some(3)),
            (&[2, 1], Some(1)),
            (&[1, 3, 5, 2, 4, 9], Some(3)),
            (&[FIXNUM_MAX, FIXNUM_MIN], Some(1)),
            (&[FIXNUM_MIN, FIXNUM_MAX], Some(2)),
            (&[3, 2, 1], None),
            (&[1, 5, 2, 4, 3], None),
        ];
        for (of, mid) in known {
            assert_eq!(second_run(ints(of).seen()), mid, "{of:?}");
        }
        let mixed: ArrayBuf = [Value::fix(1), Value::NIL].into_iter().collect();
        assert_eq!(second_run(mixed.seen()), None);
    }

    #[test]
    fn a_print_tells_each_word_and_its_place() {
        for n in [0, 1, 7, 8, 9, 24, 100] {
            let ints: Vec<Value> = (0..n).map(|i| Value::fix(i * 3)).collect();
            let print = |vs: &[Value]| {
                let p = Print::of_slice(vs);
                let buf: ArrayBuf = vs.iter().copied().collect();
                assert!(Print::of_seen(buf.seen()) == p && p.words == vs.len());
                p
            };
            let whole = print(&ints);
            assert!(whole.fixnums);
            for i in 0..n as usize {
                let mut other = ints.clone();
                other[i] = Value::fix(-1);
                assert!(print(&other) != whole && print(&other).fixnums, "{n}, {i}");
                other[i] = Value::NIL;
                assert!(print(&other) != whole && !print(&other).fixnums, "{n}, {i}");
                let mut other = ints.clone();
                other.swap(i, 0);
                assert!((print(&other) == whole) == (i == 0), "{n}, {i}");
            }
            let longer: Vec<Value> = ints.iter().copied().chain([Value::fix(0)]).collect();
            assert!(print(&longer) != whole);
        }
    }

    #[test]
    fn the_first_of_equal_extremes_is_found() {
        let find = |all: &[i32], want| first_extreme(all.iter(), want, |a, b| Some(a.cmp(b)));
        assert_eq!(find(&[3, 1, 2, 1, 3], Ordering::Less), Some(1));
        assert_eq!(find(&[3, 1, 2, 1, 3], Ordering::Greater), Some(0));
        assert_eq!(find(&[], Ordering::Less), None);
        assert_eq!(first_extreme([1.0, f64::NAN].iter(), Ordering::Less, |a, b| a.partial_cmp(b)), None);
    }
}
