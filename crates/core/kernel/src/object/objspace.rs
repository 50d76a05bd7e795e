//! ObjectSpace: walking the heap, sizes, ids, finalizers.

use kumi_heap::Role;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__each_object", 1, 1, each_object).guard(Guard::None),
    intrinsic("__count_objects", 1, 1, count_objects).guard(Guard::None),
    intrinsic("__memsize_of", 1, 1, |cx, _, a| Ok(cx.uint(kumi_heap::memory_of(a[0]) as u64))),
    intrinsic("__memsize_of_all", 1, 1, memsize_of_all).guard(Guard::None),
    intrinsic("__reachable_from", 1, 1, reachable_from),
    intrinsic("__trace_births", 1, 1, |cx, _, a| {
        cx.trace_births(a[0].truthy());
        Ok(Value::NIL)
    })
    .guard(Guard::None),
    intrinsic("__forget_births", 0, 0, |cx, _, _| {
        cx.forget_births();
        Ok(Value::NIL)
    })
    .guard(Guard::None),
    intrinsic("__birth", 1, 1, birth).guard(Guard::None),
    intrinsic("__add_finalizer", 2, 2, add_finalizer),
    intrinsic("__finalizers", 1, 1, |cx, _, a| {
        let all = cx.heap.finalizers_of(a[0]);
        Ok(cx.array_vec(all))
    }),
    intrinsic("__remove_finalizers", 1, 1, |cx, _, a| {
        cx.heap.remove_finalizers(a[0]);
        Ok(a[0])
    }),
    intrinsic("__id2ref", 1, 1, id2ref),
    intrinsic("__take_finalizers", 0, 0, take_finalizers),
];

/// Is it the runtime's own, of which no program may get hold?
fn internal(cx: &Cx, v: Value) -> bool {
    let helpers = cx.k.helpers;
    v == helpers.val() || v.as_class().is_some_and(|c| c.is_singleton() && c.data.attached == helpers.val())
}
/// Can Ruby code hold such a cell?
fn visible(v: Value) -> bool {
    !matches!(v.kind(), None | Some(Kind::Free | Kind::Env | Kind::Cref | Kind::Home | Kind::Unwind))
        && v.header().is_some_and(|h| h.class().as_class().is_some())
}
/// Is it an object of a class or module (`None`: any), as `each_object` understands it?
fn wanted(v: Value, want: Option<Gc<ClassObj>>) -> bool {
    let wants_singleton = want.is_some_and(|w| w.is_singleton());
    let hidden = v.as_class().is_some_and(|c| c.is_singleton() && !wants_singleton);
    visible(v) && !hidden && want.is_none_or(|w| under(v, w))
}
/// Is the cell an object of a class or module?
fn under(v: Value, k: Gc<ClassObj>) -> bool {
    v.header().and_then(|h| h.class().as_class()).is_some_and(|c| c == k || c.inherits(k))
}
/// All live objects of a class or module (nil: all), as an Array.
fn each_object(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let want = a[0].as_class();
    let mut found = cx.find_cells(|v| wanted(v, want));
    found.retain(|v| !internal(cx, *v));
    Ok(cx.array_vec(found))
}

/// The names of sorts of cells, as CRuby calls them; the last are hidden ones.
const TYPES: [&str; 17] = [
    "T_OBJECT",
    "T_CLASS",
    "T_MODULE",
    "T_FLOAT",
    "T_STRING",
    "T_REGEXP",
    "T_ARRAY",
    "T_HASH",
    "T_STRUCT",
    "T_BIGNUM",
    "T_FILE",
    "T_DATA",
    "T_MATCH",
    "T_COMPLEX",
    "T_RATIONAL",
    "T_ICLASS",
    "T_IMEMO",
];

/// Which of [`TYPES`] a cell is of.
fn type_of(v: Value, [regexp, io, match_data, complex]: [Gc<ClassObj>; 4]) -> usize {
    match v.kind() {
        Some(Kind::Object) => 0,
        Some(Kind::Class) => 1 + v.as_class().is_some_and(|c| c.role == Role::Module) as usize,
        Some(Kind::Float) => 3,
        Some(Kind::Str) => 4,
        Some(Kind::Array) => 6,
        Some(Kind::Hash) => 7,
        Some(Kind::Struct | Kind::Range) => 8,
        Some(Kind::Big) => 9,
        Some(Kind::Data) if under(v, regexp) => 5,
        Some(Kind::Data) if under(v, io) => 10,
        Some(Kind::Data) if under(v, match_data) => 12,
        Some(Kind::Data | Kind::Proc | Kind::Record) => 11,
        Some(Kind::Pair) if under(v, complex) => 13,
        Some(Kind::Pair) => 14,
        _ => 16,
    }
}
/// Live cells by sort: number, or with a true argument bytes, as a Hash with `:TOTAL`.
fn count_objects(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let bytes = a[0].truthy();
    let mut counts = [0u64; TYPES.len()];
    let classes = [cx.k.regexp, cx.k.io, cx.k.match_data, cx.k.complex];
    cx.each_cell(|v| counts[type_of(v, classes)] += if bytes { kumi_heap::memory_of(v) as u64 } else { 1 });
    let out = cx.hash();
    let mut rows = vec![("TOTAL", counts.iter().sum())];
    rows.extend(TYPES.into_iter().zip(counts).filter(|r| r.1 > 0));
    for (name, n) in rows {
        let (k, n) = (cx.sym(name), cx.uint(n));
        if let Some(h) = out.as_hash() {
            cx.hash_put_plain(h, k, n);
        }
    }
    Ok(out)
}
/// Bytes of all live objects of a class or module; nil: of all cells.
fn memsize_of_all(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let want = a[0].as_class();
    let mut sum = 0u64;
    cx.each_cell(|v| {
        if want.is_none() || wanted(v, want) {
            sum += kumi_heap::memory_of(v) as u64;
        }
    });
    Ok(cx.uint(sum))
}
/// What an object refers to, each once, its class first; nil for values that are no cells. Hidden cells (a proc's
/// variables) are looked through.
fn reachable_from(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if !a[0].is_heap() || a[0].as_float().is_some() || a[0].as_big().is_some() {
        return Ok(Value::NIL);
    }
    let (mut out, mut work) = (Vec::new(), vec![a[0]]);
    let mut seen = std::collections::HashSet::from([a[0].bits()]);
    while let Some(v) = work.pop() {
        kumi_heap::each_child(v, &mut |c| {
            if seen.insert(c.bits()) {
                if internal(cx, c) {
                } else if visible(c) {
                    out.push(c)
                } else {
                    work.push(c)
                }
            }
        });
    }
    Ok(cx.array_vec(out))
}
/// [path, line, method, node collections before] of an object's allocation; nil when it is not known.
fn birth(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if !a[0].is_heap() {
        return Ok(Value::NIL);
    }
    let Some((l, generation)) = cx.birth_line(a[0]) else { return Ok(Value::NIL) };
    let row = [cx.str(&l.path), Value::fix(l.line as i64), cx.str(&l.method), cx.uint(generation)];
    Ok(cx.array(&row))
}
fn add_finalizer(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    // The id must be known when the object is gone; any worker may come to run it.
    crate::basic::id_of(cx, a[0]);
    cx.heap.publish(a[1]);
    cx.heap.add_finalizer(a[0], a[1]);
    Ok(a[1])
}
/// All finalizers that have not run, as [[callable, heap id], ..].
fn take_finalizers(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let mut all = cx.heap.shared().take_pending_finalizers();
    all.extend(cx.heap.take_finalizers());
    Ok(cx.finalizer_list(all))
}
/// The object with that id; nil when it is gone; undef when there never was one.
fn id2ref(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = cx.arg_i64(a, 0)?;
    if id & 1 == 1 {
        return Ok(Value::fix(id >> 1));
    }
    match id {
        8 => return Ok(Value::NIL),
        20 => return Ok(Value::TRUE),
        0 => return Ok(Value::FALSE),
        _ => {}
    }
    let bits = id as u64;
    let v = Value::from_bits(bits);
    if (v.is_sym() && (v.as_sym().is_some_and(|s| cx.syms.is_there(s)))) || v.is_flo() {
        return Ok(v);
    }
    let n = bits.wrapping_sub(8);
    match cx.heap.by_object_id(n) {
        Some(v) => Ok(v),
        None if cx.heap.id_was_used(n) => Ok(Value::NIL),
        None => Ok(Value::UNDEF),
    }
}
