//! GC: asking for collections and reading their counters.

use kumi_vm::task::Waits;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__gc_start", 0, 0, start).guard(Guard::None),
    n("GC.", "count", 0, 0, |cx, _, _| Ok(cx.uint(cx.heap.stat().count))),
    n("GC.", "enable", 0, 0, |cx, _, _| Ok(Value::bool(cx.heap.shared().set_disabled(false)))),
    n("GC.", "disable", 0, 0, |cx, _, _| Ok(Value::bool(cx.heap.shared().set_disabled(true)))),
    n("GC.", "stress", 0, 0, |cx, _, _| Ok(Value::bool(cx.gc_stress > 0))),
    n("GC.", "stress=", 1, 1, set_stress),
    n("GC.", "total_time", 0, 0, |cx, _, _| Ok(cx.uint(cx.heap.stat().time_ns))),
    intrinsic("__gc_stat", 0, 0, stat).guard(Guard::None),
];

/// Collects now: asks once, and is called again after the next safepoint.
fn start(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let again = std::mem::replace(&mut cx.task.waits, Waits::Nothing) == Waits::Collect;
    if !again && !cx.heap.shared().disabled() {
        cx.task.waits = Waits::Collect;
        cx.heap.request_gc();
        return Err(Exit::Again);
    }
    Ok(Value::NIL)
}
fn set_stress(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.gc_stress = a[0].truthy() as u32;
    if a[0].truthy() {
        cx.heap.request_gc();
    }
    Ok(a[0])
}
/// Counters as [name, value] pairs in the order `GC.stat` shows.
fn stat(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let s = cx.heap.stat();
    let page = 32 * 1024;
    let live = s.live_cells as u64;
    let rows: [(&str, u64); 16] = [
        ("count", s.count),
        ("time", s.time_ns / 1_000_000),
        ("marking_time", s.time_ns / 1_000_000),
        ("sweeping_time", 0),
        ("heap_allocated_pages", (s.heap_bytes / page) as u64),
        ("heap_live_slots", live),
        ("heap_free_slots", 0),
        ("heap_marked_slots", live),
        ("total_allocated_pages", (s.heap_bytes / page) as u64),
        ("total_allocated_objects", s.allocated_cells),
        ("total_freed_objects", s.allocated_cells.saturating_sub(live)),
        ("malloc_increase_bytes", 0),
        ("minor_gc_count", 0),
        ("major_gc_count", s.count),
        ("live_bytes", s.live_bytes as u64),
        ("heap_bytes", s.heap_bytes as u64),
    ];
    let mut v = Vec::with_capacity(rows.len());
    for (k, x) in rows {
        let (k, x) = (cx.sym(k), cx.uint(x));
        v.push(cx.array(&[k, x]));
    }
    Ok(cx.array_vec(v))
}
