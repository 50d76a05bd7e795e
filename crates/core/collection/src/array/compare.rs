//! Array: everything that compares elements (equality, sets), for plain elements. Their order: `array_order`.
//!
//! Methods with a native miss when an element needs Ruby; intrinsics answer undef
//! then, before anything has changed, and the prelude goes the long way.

use crate::array::order::{made, ours};
use crate::array::{before_all, me, me_held, me_mut};
use crate::hash::hash;
use kumi_heap::HashData;
use kumi_vm::plain::PIECE;
use kumi_vm::*;
use rustc_hash::{FxHashMap, FxHashSet};

const MISS: R = Ok(Value::UNDEF);

// --- equality ----------------------------------------------------------------------

pub(crate) fn eq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.plain_eq_deep(recv, args[0], 0).map(Value::bool).ok_or(Exit::Miss)
}

pub(crate) fn eql(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.plain_eql_deep(recv, args[0], 0).map(Value::bool).ok_or(Exit::Miss)
}

/// `__ary_hash(hashes)`: the hash of an array whose elements have these hashes.
fn i_hash(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    let a = a.seen();
    let mut h = cx.hash_start(1, a.len());
    for v in a {
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

/// The first that is equal to `v`. Outer `None`: the answer needs Ruby.
#[inline]
fn first_equal(cx: &mut Cx, all: Seen<'_, Value>, v: Value) -> Option<Option<usize>> {
    let mut from = 0;
    while from < all.len() {
        let piece = all.part(from..from + PIECE);
        cx.walk_by(piece.len())?;
        for (i, x) in piece.iter().enumerate() {
            if cx.plain_eq(x, v)? {
                return Some(Some(from + i));
            }
        }
        from += PIECE;
    }
    Some(None)
}
fn include(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    let found = first_equal(cx, a.seen(), args[0]).ok_or(Exit::Miss)?;
    Ok(Value::bool(found.is_some()))
}

/// `[a, b].include?(v)` (a compiled call): `v` comes last.
fn list_include(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let Some((v, list)) = args.split_last() else { return Ok(Value::FALSE) };
    if ours(cx, "include?") {
        let mut found = Some(false);
        for x in list {
            found = match cx.plain_eq(*x, *v) {
                Some(false) => continue,
                other => other,
            };
            break;
        }
        if let Some(f) = found {
            return Ok(Value::bool(f));
        }
    }
    Err(made(cx, list, "include?", &[*v]))
}
/// `[a, b].hash` (a compiled call).
fn list_hash(cx: &mut Cx, _: Value, list: &[Value]) -> R {
    if ours(cx, "hash") {
        let mut h = Some(cx.hash_start(1, list.len()));
        for v in list {
            h = match (h, cx.plain_hash(*v)) {
                (Some(h), Some(part)) => Some(cx.hash_step(h, part as i64 as u64)),
                _ => None,
            };
        }
        if let Some(h) = h {
            return Ok(cx.hash_end(h));
        }
    }
    Err(made(cx, list, "hash", &[]))
}

/// `__ary_index(a, v)`: first index, nil, or undef.
fn i_index(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    match first_equal(cx, a.seen(), args[1]) {
        Some(found) => Ok(found.map_or(Value::NIL, |i| Value::fix(i as i64))),
        None => MISS,
    }
}

/// `__ary_rindex(a, v)`: last index, nil, or undef.
fn i_rindex(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    for (i, v) in a.seen().iter().enumerate().rev() {
        if cx.walk().is_none() {
            return MISS;
        }
        match cx.plain_eq(v, args[1]) {
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
    let (all, mut c, mut from) = (a.seen(), 0, 0);
    while from < all.len() {
        let piece = all.part(from..from + PIECE);
        if cx.walk_by(piece.len()).is_none() {
            return MISS;
        }
        for v in piece {
            match cx.plain_eq(v, args[1]) {
                Some(e) => c += e as i64,
                None => return MISS,
            }
        }
        from += PIECE;
    }
    Ok(Value::fix(c))
}

/// `__ary_delete(a, v)`: removes what is equal; the last one removed in an array, nil when none, or undef.
fn i_delete(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut a = me_held(cx, args[0])?;
    let mut keep = Vec::room(a.len());
    let mut last = None;
    // Ruby's loop is not one step: whoever is called away from plain values begins anew.
    let mut patience = cx.patience();
    for v in a.seen() {
        patience.step(cx)?;
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
    fn of(cx: &mut Cx, all: Seen<'_, Value>) -> Option<PlainSet> {
        let mut s = PlainSet::default();
        for v in all {
            cx.walk()?;
            s.add(cx, v)?;
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
        for v in a.seen() {
            cx.walk()?;
            if s.add(cx, v)? {
                out.put(v);
            }
        }
    }
    Some(out)
}

/// Elements of `a` that are (`keep`) or are not in every one of `others`.
fn sift(cx: &mut Cx, a: Gc<ArrayObj>, b: Gc<ArrayObj>, keep: bool) -> Option<Vec<Value>> {
    let mut out = Vec::new();
    let (a, b) = (a.seen(), b.seen());
    if b.len() <= 8 {
        for v in a {
            cx.walk()?;
            let mut found = false;
            for w in b {
                if cx.plain_eql(v, w)? {
                    found = true;
                    break;
                }
            }
            if found == keep {
                out.put(v);
            }
        }
        return Some(out);
    }
    let set = PlainSet::of(cx, b)?;
    for v in a {
        cx.walk()?;
        if set.has(cx, v)? == keep {
            out.put(v);
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
    if let Some((_, b)) = long_uniq(cx, a)? {
        return Ok(cx.heap.array_buf(cx.k.array.val(), b).val());
    }
    match distinct(cx, &[a]) {
        Some(v) => Ok(cx.array_vec(v)),
        None => MISS,
    }
}

/// What came out of the elements that `of` had, the array `copy`; `None`: not all are of a kind that can be told apart
/// without the worker.
struct Distinct {
    of: Value,
    copy: Value,
    out: Option<ArrayBuf>,
}

/// Nanoseconds to look an element up.
const LOOK_UP: u64 = 60;

/// For an array so long that the work is detached: a copy and its different elements.
fn long_uniq(cx: &mut Cx, a: Gc<ArrayObj>) -> Result<Option<(Value, ArrayBuf)>, Exit> {
    let all = a.seen();
    if !cx.worth_detaching(all.len() as u64 * LOOK_UP) {
        return Ok(None);
    }
    match cx.detached::<Distinct>() {
        Some(d) if d.of == a.val() => Ok(d.out.map(|b| (d.copy, b))),
        Some(_) => Ok(None),
        None => {
            let (of, string, seed) = (a.val(), cx.k.string.val(), cx.hash_seed);
            // Others may change the array meanwhile: the copy keeps its elements.
            let copy = cx.array_seen(all);
            Err(cx.detach(all.len() as u64 * LOOK_UP, copy, move |_| Distinct { of, copy, out: distinct_alone(copy, string, seed) }))
        }
    }
}

/// [`distinct`] without the worker: for immediates but floats, and for Strings of one encoding.
fn distinct_alone(copy: Value, string: Value, seed: u64) -> Option<ArrayBuf> {
    let all = copy.as_array()?;
    let all = all.seen();
    let mut out: Vec<Value> = Vec::new();
    // By hash the first element that has it, and for each the next one.
    let mut first: FxHashMap<u64, usize> = FxHashMap::default();
    let mut next: Vec<usize> = Vec::new();
    // The bytes of those that are Strings, as they were when they were looked at.
    let mut texts: Vec<Option<Text>> = Vec::new();
    let enc = all.iter().find_map(|v| v.as_str()).map(|s| s.enc());
    for v in all {
        let text = match v.as_str() {
            Some(s) if s.hdr.class() == string && Some(s.enc()) == enc => Some(s.text()),
            None if !v.is_heap() && !v.is_flo() => None,
            _ => return None,
        };
        let hash = text.map_or(v.bits(), |s| kumi_text::hash_bytes(seed, s.bytes()));
        let head = first.entry(hash).or_insert(usize::MAX);
        let mut at = *head;
        while let Some(&k) = out.get(at) {
            if k == v || text.is_some_and(|s| texts[at].is_some_and(|t| t.bytes() == s.bytes())) {
                break;
            }
            at = next[at];
        }
        if at == usize::MAX {
            next.push(*head);
            *head = out.len();
            out.push(v);
            texts.push(text);
        }
    }
    Some(ArrayBuf::from_slice(&out))
}

/// Where all elements are plain, in one step: as in `sort!`.
fn uniq_bang(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let mut a = me_mut(cx, recv)?;
    let old = |copy: Value| copy.as_array().is_some_and(|c| c.seen().same(a.seen()));
    if let Some((_, b)) = long_uniq(cx, a.gc())?.filter(|d| old(d.0)) {
        if b.len() == a.len() {
            return Ok(Value::NIL);
        }
        a.vec().replace(b);
        return Ok(recv);
    }
    let Some(v) = distinct(cx, &[a.gc()]) else { return Err(Exit::Miss) };
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
    let Some(h) = out.as_hash() else { return Ok(Value::NIL) };
    for v in a.seen() {
        if cx.walk().is_none() {
            return Ok(Value::NIL);
        }
        let v = cx.still_key(v);
        let Ok(hv) = cx.key_hash(h, v) else { return Ok(Value::NIL) };
        match cx.hash_find_with(h, v, hv) {
            Ok(Some(at)) => {
                let n = h.h.at(at).and_then(|e| e.val.as_fix()).unwrap_or(0);
                cx.heap.edit(h).h.set_val(at, Value::fix(n + 1));
            }
            Ok(None) => cx.hash_push(h, hv, v, Value::fix(1))?,
            Err(_) => return Ok(Value::NIL),
        }
    }
    Ok(out)
}

// --- flattening ------------------------------------------------------------------------

/// Why it was left.
enum Flat {
    Recursive,
    /// It needs Ruby, or is called away and begins anew.
    Left(Exit),
}

/// A flattening under way.
struct Flattened {
    /// The Arrays it is within, and where in each.
    path: Vec<(Gc<ArrayObj>, usize)>,
    /// The same where there are many.
    within: FxHashSet<u64>,
    out: Vec<Value>,
    changed: bool,
    patience: Patience,
}

/// So many are looked through one by one.
const FEW: usize = 32;

impl Flattened {
    fn is_within(&self, v: Value) -> bool {
        if self.path.len() > FEW { self.within.contains(&v.bits()) } else { self.path.iter().any(|(a, _)| a.val() == v) }
    }
    fn enter(&mut self, a: Gc<ArrayObj>) {
        self.path.push((a, 0));
        match self.path.len() {
            0..=FEW => {}
            n if n == FEW + 1 => self.within = self.path.iter().map(|(a, _)| a.val().bits()).collect(),
            _ => drop(self.within.insert(a.val().bits())),
        }
    }
    fn leave(&mut self) {
        if let Some((a, _)) = self.path.pop() {
            self.within.remove(&a.val().bits());
        }
    }
}

/// Of the Array that `f` has entered.
fn flatten_into(cx: &mut Cx, depth: i64, f: &mut Flattened) -> Result<(), Flat> {
    while let Some((a, i)) = f.path.last_mut() {
        let Some(v) = a.get(*i) else {
            f.leave();
            continue;
        };
        *i += 1;
        f.patience.step(cx).map_err(Flat::Left)?;
        if depth < 0 || f.path.len() as i64 <= depth {
            if let Some(inner) = v.as_array() {
                f.changed = true;
                if depth < 0 && f.is_within(v) {
                    return Err(Flat::Recursive);
                }
                f.enter(inner);
                continue;
            }
            if !never_array(cx, v) {
                return Err(Flat::Left(Exit::Miss));
            }
        }
        f.out.put(v);
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
    let depth = if args.is_empty() || args[0].is_nil() { -1 } else { cx.arg_c_int(args, 0)? as i64 };
    let mut f =
        Flattened { path: Vec::new(), within: FxHashSet::default(), out: Vec::room(a.len()), changed: false, patience: cx.patience() };
    f.enter(a);
    match flatten_into(cx, depth, &mut f) {
        Ok(()) => Ok((f.out, f.changed)),
        Err(Flat::Left(e)) => Err(e),
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

/// Natives and intrinsics.
pub static TABLE: &[NativeDef] = &[
    n("Array", "==", 1, 1, eq),
    n("Array", "eql?", 1, 1, eql),
    n("Array", "hash", 0, 0, hash),
    n("Array", "<=>", 1, 1, cmp),
    n("Array", "include?", 1, 1, include),
    intrinsic("__list_hash", 0, -1, list_hash),
    intrinsic("__list_include", 1, -1, list_include),
    n("Array", "-", 1, 1, difference),
    n("Array", "&", 1, 1, intersection),
    n("Array", "|", 1, 1, union),
    n("Array", "flatten", 0, 1, flatten),
    n("Array", "flatten!", 0, 1, flatten_bang),
    n("Array", "uniq!", 0, 0, uniq_bang),
    intrinsic("__ary_hash", 1, 1, i_hash),
    intrinsic("__ary_index", 2, 2, i_index),
    intrinsic("__ary_rindex", 2, 2, i_rindex),
    intrinsic("__ary_count", 2, 2, i_count),
    intrinsic("__ary_delete", 2, 2, i_delete),
    intrinsic("__ary_tally", 1, 1, i_tally),
    intrinsic("__ary_uniq", 1, 1, i_uniq),
];
