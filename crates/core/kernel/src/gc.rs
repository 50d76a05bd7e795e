//! GC: asking for collections and reading what is counted of them.

use kumi_heap::{Cause, Collected, Collection, GcStat, Histogram, WorkerStat};
use kumi_vm::task::Wait;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__gc_start", 2, 2, start).guard(Guard::None),
    intrinsic("__gc_begin", 0, 0, begin).guard(Guard::None),
    n("GC.", "count", 0, 0, |cx, _, _| Ok(cx.uint(cx.heap.stat().count))).guard(Guard::None),
    n("GC.", "enable", 0, 0, |cx, _, _| Ok(Value::bool(cx.heap.shared().set_disabled(false)))),
    n("GC.", "disable", 0, 0, |cx, _, _| Ok(Value::bool(cx.heap.shared().set_disabled(true)))),
    n("GC.", "stress", 0, 0, |cx, _, _| Ok(Value::bool(cx.gc_stress > 0))),
    n("GC.", "stress=", 1, 1, set_stress),
    n("GC.", "total_time", 0, 0, |cx, _, _| Ok(cx.uint(cx.heap.shared().stats.measured_ns()))).guard(Guard::None),
    n("GC.", "measure_total_time", 0, 0, |cx, _, _| Ok(Value::bool(cx.heap.shared().stats.measuring()))).guard(Guard::None),
    n("GC.", "measure_total_time=", 1, 1, |cx, _, a| {
        cx.heap.shared().stats.set_measuring(a[0].truthy());
        Ok(a[0])
    })
    .guard(Guard::None),
    intrinsic("__gc_young_only", 1, 1, |cx, _, a| {
        if !a[0].is_nil() {
            cx.heap.shared().set_young_only(a[0].truthy());
        }
        Ok(Value::bool(cx.heap.shared().young_only()))
    })
    .guard(Guard::None),
    intrinsic("__gc_stat", 1, 1, stat).guard(Guard::None),
    intrinsic("__gc_workers", 0, 0, workers).guard(Guard::None),
    intrinsic("__gc_last", 0, 0, last).guard(Guard::None),
    intrinsic("__gc_sizes", 0, 0, sizes).guard(Guard::None),
    intrinsic("__gc_profile", 1, 1, profile).guard(Guard::None),
    intrinsic("__gc_profiled", 0, 0, profiled).guard(Guard::None),
];

/// Freed bytes for which it is worth to give memory back at once.
const MUCH: u64 = 4 << 20;
/// Blocks that are swept between two looks whether others wait: some tenths of a millisecond.
const PIECE: usize = 16;

/// `__gc_start(full, sweep)`: collects now: asks once, and is called again after the next safepoint. Then, the world
/// going on, it sweeps what is this worker's and gives memory back to the system.
fn start(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(Left(n)) = cx.detached() {
        return sweep(cx, n);
    }
    let again = matches!(cx.task.take_wait(), Wait::Collect);
    if !again && !cx.heap.shared().disabled() {
        cx.task.set_wait(Wait::Collect);
        cx.heap.shared().stats.because(Cause::Request);
        if a[0].truthy() {
            cx.heap.request_full();
        } else {
            cx.heap.request_gc();
        }
        return Err(Exit::Again);
    }
    if again && a[1].truthy() {
        let n = cx.heap.to_sweep();
        return sweep(cx, n);
    }
    Ok(Value::NIL)
}
/// `__gc_begin`: a full collection in slices begins, if such there are here, and goes on beside the program.
fn begin(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let shared = cx.heap.shared();
    let goes = shared.is_interruptible() && !shared.disabled();
    if goes {
        shared.stats.because(Cause::Request);
        shared.request_cycle();
        cx.heap.request_gc();
    }
    Ok(Value::bool(goes))
}
/// Sweeps `left` blocks, but lets others stop in between. What they find dead then is not this one's to wait for.
fn sweep(cx: &mut Cx, mut left: usize) -> R {
    while left > 0 && cx.heap.sweep_some(left.min(PIECE)) {
        left -= left.min(PIECE);
        if left > 0 && cx.others_wait() {
            return Err(cx.pause(Value::NIL, Left(left)));
        }
    }
    if cx.heap.shared().stats.last().is_some_and(|c| c.freed_bytes() >= MUCH) {
        cx.give_back_soon();
    }
    Ok(Value::NIL)
}
/// Blocks that `GC.start` has yet to sweep.
struct Left(usize);
fn set_stress(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.gc_stress = a[0].truthy() as u32;
    if a[0].truthy() {
        cx.heap.request_gc();
    }
    Ok(a[0])
}

/// What a page is in `GC.stat`: blocks are counted in units of this many bytes.
const PAGE: u64 = 32 * 1024;

/// The whole numbers of `GC.stat`, in the order it shows: CRuby's keys, then ours.
fn rows(cx: &mut Cx) -> Vec<(&'static str, u64)> {
    // What stands in other workers' nurseries is told when it leaves them.
    let (cells, bytes) = cx.heap.private_now();
    let shared = cx.heap.shared();
    let (mut s, stats): (GcStat, _) = (shared.stat(), &shared.stats);
    s.allocated_cells += cells;
    s.all.allocated_cells += cells;
    s.all.allocated_bytes += bytes;
    let pages = s.heap_bytes as u64 / PAGE;
    let live = s.allocated_cells.saturating_sub(s.freed_cells);
    let ms = |ns: u64| ns / 1_000_000;
    let (shapes, sites) = (cx.heap.shapes.total(), cx.heap.site_book().len());
    let mut v = vec![
        ("count", s.count),
        ("time", ms(stats.measured_ns())),
        ("marking_time", ms(s.mark_ns)),
        ("sweeping_time", ms(s.time_ns.saturating_sub(s.mark_ns))),
        ("heap_allocated_pages", pages),
        ("heap_empty_pages", 0),
        ("heap_allocatable_slots", 0),
        ("heap_available_slots", live),
        ("heap_live_slots", live),
        ("heap_free_slots", 0),
        ("heap_final_slots", 0),
        ("heap_marked_slots", s.live_cells as u64),
        ("heap_eden_pages", pages),
        ("total_allocated_pages", pages + s.released_bytes / PAGE),
        ("total_freed_pages", s.released_bytes / PAGE),
        ("total_allocated_objects", s.allocated_cells),
        ("total_freed_objects", s.freed_cells),
        ("malloc_increase_bytes", s.since_bytes),
        ("malloc_increase_bytes_limit", s.since_bytes + shared.left()),
        ("minor_gc_count", s.young_count),
        ("major_gc_count", s.full_count),
        ("compact_count", 0),
        ("read_barrier_faults", 0),
        ("total_moved_objects", 0),
        ("remembered_wb_unprotected_objects", 0),
        ("remembered_wb_unprotected_objects_limit", 0),
        ("old_objects", s.old_cells as u64),
        ("old_objects_limit", 2 * s.old_cells as u64),
        ("oldmalloc_increase_bytes", s.since_bytes),
        ("oldmalloc_increase_bytes_limit", s.since_bytes + shared.left()),
        ("young_count", s.young_count),
        ("young_ns", s.young_ns),
        ("full_count", s.full_count),
        ("full_ns", s.full_ns),
        ("cycle_count", s.cycle_count),
        ("cycle_hurried_count", shared.hurried_cycles()),
        ("slice_count", s.slice_count),
        ("marking_ns", s.mark_ns),
        ("time_to_safepoint_ns", stats.to_safepoint.total_ns()),
        ("live_bytes", s.live_bytes as u64),
        ("heap_bytes", s.heap_bytes as u64),
        ("shapes", shapes as u64),
        ("sites", sites as u64),
        ("heap_max", shared.max() as u64),
        ("sites_window", s.sites_nursery),
        ("sites_shared", s.sites_shared),
    ];
    v.extend(cx.table_sizes().map(|(k, n)| (k, n as u64)));
    v.extend(worker_rows(&s.all));
    for (name, h) in pauses(cx) {
        v.extend([(name.1, h.percentile(0.5)), (name.2, h.percentile(0.99)), (name.3, h.longest_ns())]);
    }
    v
}
/// What is counted by worker.
fn worker_rows(w: &WorkerStat) -> [(&'static str, u64); 14] {
    [
        ("allocated_cells", w.allocated_cells),
        ("allocated_bytes", w.allocated_bytes),
        ("private_bytes", w.private_bytes),
        ("shared_bytes", w.shared_bytes),
        ("published_bytes", w.published_bytes),
        ("published_cells", w.published_cells),
        ("retired_bytes", w.retired_bytes),
        ("retired_cells", w.retired_cells),
        ("misspeculated_bytes", w.misspeculated_bytes()),
        ("retirements", w.retirements),
        ("window_count", w.nursery_count),
        ("window_ns", w.nursery_ns),
        ("window_freed_cells", w.nursery_freed_cells),
        ("window_freed_bytes", w.nursery_freed_bytes),
    ]
}
/// A histogram's key, and those of its median, 99th percentile and maximum in nanoseconds.
type PauseKeys = (&'static str, &'static str, &'static str, &'static str);

/// The histograms of pauses with their keys.
fn pauses(cx: &Cx) -> [(PauseKeys, Histogram); 5] {
    let stats = &cx.heap.shared().stats;
    let copy = |h: &Histogram| {
        let c = Histogram::default();
        c.merge(h);
        c
    };
    [
        (("pause_young", "pause_young_p50_ns", "pause_young_p99_ns", "pause_young_max_ns"), copy(&stats.young.pauses)),
        (("pause_full", "pause_full_p50_ns", "pause_full_p99_ns", "pause_full_max_ns"), copy(&stats.full.pauses)),
        (("pause_slice", "pause_slice_p50_ns", "pause_slice_p99_ns", "pause_slice_max_ns"), copy(&stats.slices)),
        (("pause_window", "pause_window_p50_ns", "pause_window_p99_ns", "pause_window_max_ns"), stats.nursery_pauses()),
        (
            ("time_to_safepoint", "time_to_safepoint_p50_ns", "time_to_safepoint_p99_ns", "time_to_safepoint_max_ns"),
            copy(&stats.to_safepoint),
        ),
    ]
}
fn put(cx: &mut Cx, h: Value, key: &'static str, v: Value) {
    let key = cx.sym(key);
    if let Some(h) = h.as_hash() {
        cx.hash_put_plain(h, key, v);
    }
}
fn put_rows(cx: &mut Cx, h: Value, rows: &[(&'static str, u64)]) {
    for (k, x) in rows {
        let x = cx.uint(*x);
        put(cx, h, k, x);
    }
}
/// `__gc_stat(what)`: nil: all whole numbers as a Hash; a Symbol: that number or histogram, undef when there is none.
fn stat(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(key) = a[0].as_sym() else {
        let h = cx.hash();
        let rows = rows(cx);
        put_rows(cx, h, &rows);
        return Ok(h);
    };
    let key = cx.sym_name(key);
    if let Some((_, h)) = pauses(cx).iter().find(|p| p.0.0 == key) {
        let out = cx.hash();
        for (upper, n) in h.filled() {
            let (k, n) = (cx.float(upper as f64 / 1000.0), cx.uint(n));
            if let Some(h) = out.as_hash() {
                cx.hash_put_plain(h, k, n);
            }
        }
        return Ok(out);
    }
    let found = rows(cx).into_iter().find(|r| r.0 == key);
    Ok(found.map_or(Value::UNDEF, |r| cx.uint(r.1)))
}
/// Each worker's counters.
fn workers(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let all = cx.heap.shared().stats.workers();
    let mut out = Vec::with_capacity(all.len());
    for w in &all {
        let h = cx.hash();
        put_rows(cx, h, &[("worker", w.worker as u64)]);
        put_rows(cx, h, &worker_rows(w));
        out.push(h);
    }
    Ok(cx.array_vec(out))
}

/// [why it was a full one, what asked for it, ours...] of the last node collection, as a Hash; nil when there was none.
fn last(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(c) = cx.heap.shared().stats.last() else { return Ok(Value::NIL) };
    let full = c.what == Collected::Full;
    let (major, by) = match c.cause {
        Cause::Request => ("force", "method"),
        Cause::Outside => ("force", "outside"),
        Cause::Order => ("force", "order"),
        Cause::Stress => ("force", "stress"),
        Cause::Limit => ("oldmalloc", "malloc"),
        Cause::Promoted => ("oldgen", "newobj"),
        Cause::Budget => ("nofree", "newobj"),
    };
    let h = cx.hash();
    let major = if full { cx.sym(major) } else { Value::NIL };
    let by = cx.sym(by);
    put(cx, h, "major_by", major);
    if cx.heap.shared().full_due() {
        let need = cx.sym("oldgen");
        put(cx, h, "need_major_by", need);
    }
    put(cx, h, "gc_by", by);
    collection_rows(cx, h, &c);
    Ok(h)
}
fn collection_rows(cx: &mut Cx, h: Value, c: &Collection) {
    put_rows(
        cx,
        h,
        &[
            ("pause_ns", c.pause_ns),
            ("time_to_safepoint_ns", c.to_safepoint_ns),
            ("marking_ns", c.mark_ns),
            ("before_bytes", c.before_bytes),
            ("after_bytes", c.after_bytes),
            ("freed_cells", c.freed_cells),
        ],
    );
}

/// Live cells by their size in bytes, as [size, cells] pairs.
fn sizes(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let mut by = std::collections::BTreeMap::<usize, u64>::new();
    cx.each_cell(|v| {
        let size = kumi_heap::slot_size(v);
        let size = kumi_heap::SLOT_SIZES.into_iter().find(|s| *s >= size).unwrap_or(size);
        *by.entry(size).or_default() += 1;
    });
    for s in kumi_heap::SLOT_SIZES {
        by.entry(s).or_default();
    }
    let mut out = Vec::with_capacity(by.len());
    for (size, n) in by {
        let n = cx.uint(n);
        out.push(cx.array(&[Value::fix(size as i64), n]));
    }
    Ok(cx.array_vec(out))
}

/// `__gc_profile(true | false)`: has collections kept for the profiler, or not; nil: forgets them. Whether it was on.
fn profile(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let stats = &cx.heap.shared().stats;
    if a[0].is_nil() {
        stats.clear_profiled();
        return Ok(Value::bool(stats.profiling()));
    }
    Ok(Value::bool(stats.set_profiling(a[0].truthy())))
}
/// The profiler's collections: [seconds since the start, pause, bytes before, after, live cells, freed cells, full?, marking].
fn profiled(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let all = cx.heap.shared().stats.profiled();
    let mut out = Vec::with_capacity(all.len());
    for c in all {
        let secs = |cx: &mut Cx, ns: u64| cx.float(ns as f64 / 1e9);
        let row = [
            secs(cx, c.start_ns),
            secs(cx, c.pause_ns),
            cx.uint(c.before_bytes),
            cx.uint(c.after_bytes),
            cx.uint(c.live_cells),
            cx.uint(c.freed_cells),
            Value::bool(c.what == Collected::Full),
            secs(cx, c.mark_ns),
        ];
        out.push(cx.array(&row));
    }
    Ok(cx.array_vec(out))
}
