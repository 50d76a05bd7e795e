//! ObjectSpace: walking the heap, ids, finalizers.

use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__each_object", 1, 1, each_object).guard(Guard::None),
    intrinsic("__count_objects", 0, 0, count_objects).guard(Guard::None),
    intrinsic("__add_finalizer", 2, 2, add_finalizer),
    intrinsic("__remove_finalizers", 1, 1, |cx, _, a| {
        cx.heap.remove_finalizers(a[0]);
        Ok(a[0])
    }),
    intrinsic("__id2ref", 1, 1, id2ref),
    intrinsic("__take_finalizers", 0, 0, take_finalizers),
];

/// Can Ruby code hold such a cell?
fn visible(v: Value) -> bool {
    !matches!(v.kind(), None | Some(Kind::Free | Kind::Env | Kind::Cref | Kind::Home | Kind::Unwind))
}
/// All live objects of a class or module (nil: all), as an Array.
fn each_object(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let want = a[0].as_class();
    let wants_singleton = want.is_some_and(|w| w.is_singleton());
    let found = cx.find_cells(|v| {
        let class = if visible(v) { v.header().and_then(|h| h.class.as_class()) } else { None };
        let hidden = v.as_class().is_some_and(|c| c.is_singleton() && !wants_singleton);
        class.is_some_and(|c| !hidden && want.is_none_or(|w| c.inherits(w)))
    });
    Ok(cx.array_vec(found))
}
/// [total, objects, strings, arrays, hashes, classes, data, others]
fn count_objects(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let mut c = [0i64; 8];
    cx.each_cell(|v| {
        c[0] += 1;
        let k = match v.kind() {
            Some(Kind::Object | Kind::Struct) => 1,
            Some(Kind::Str) => 2,
            Some(Kind::Array) => 3,
            Some(Kind::Hash) => 4,
            Some(Kind::Class) => 5,
            Some(Kind::Data) => 6,
            _ => 7,
        };
        c[k] += 1;
    });
    let v: Vec<Value> = c.iter().map(|x| Value::fix(*x)).collect();
    Ok(cx.array_vec(v))
}
fn add_finalizer(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    // The same callable counts once, and the id must be known when the object is gone.
    crate::basic::id_of(cx, a[0]);
    if let Some(old) = cx.heap.finalizers_of(a[0]).iter().find(|f| cx.plain_eq(**f, a[1]) == Some(true) || **f == a[1]).copied() {
        return Ok(old);
    }
    // Any worker may come to run it.
    cx.heap.publish(a[1]);
    cx.heap.add_finalizer(a[0], a[1]);
    Ok(a[1])
}
/// All finalizers that have not run, as [[callables], heap id].
fn take_finalizers(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let all = cx.heap.take_finalizers();
    let mut out = Vec::with_capacity(all.len());
    for (procs, id) in all {
        let p = cx.array_vec(procs);
        out.push(cx.array(&[p, Value::fix(id as i64)]));
    }
    Ok(cx.array_vec(out))
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
    if (v.is_sym() && (v.as_sym().is_some_and(|s| (s.0 as usize) < cx.syms.count()))) || v.is_flo() {
        return Ok(v);
    }
    let n = bits.wrapping_sub(8);
    match cx.heap.by_object_id(n) {
        Some(v) => Ok(v),
        None if cx.heap.id_was_used(n) => Ok(Value::NIL),
        None => Ok(Value::UNDEF),
    }
}
