//! Marking against a plain walk, with one thread and several.

use super::crew::Crew;
use super::*;
use crate::cells::trace::trace_cell;
use crate::{HashData, Heap, Marker};
use rustc_hash::FxHashSet;
use std::sync::Mutex;

/// Small random numbers.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

/// What a plain walk reaches.
struct Walk {
    seen: FxHashSet<u64>,
    todo: Vec<Value>,
}

impl Visitor for Walk {
    fn visit(&mut self, v: Value) {
        if v.is_heap() && self.seen.insert(v.bits()) {
            self.todo.push(v);
        }
    }
}

fn reachable(roots: &[Value], h: &Heap) -> FxHashSet<u64> {
    let mut w = Walk { seen: FxHashSet::default(), todo: Vec::new() };
    w.visit_all(roots);
    while let Some(v) = w.todo.pop() {
        trace_cell(v, &mut w);
        h.shared().side_ivars_of(v, &mut w);
    }
    w.seen
}

/// Cells of many kinds that refer to each other at random.
fn graph(h: &mut Heap, r: &mut Rng, n: usize) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for i in 0..n {
        let any = |r: &mut Rng| if all.is_empty() || r.below(4) == 0 { Value::fix(i as i64) } else { all[r.below(all.len())] };
        let v = match r.below(9) {
            0 => h.str(Value::FALSE, &vec![b'x'; r.below(60)], 1).val(),
            1 => h.range(Value::FALSE, any(r), any(r), false),
            2 => h.pair(Value::FALSE, any(r), any(r)),
            3 => {
                let parent = any(r);
                let size = if r.below(40) == 0 { r.below(3000) } else { r.below(6) };
                let e = h.env(parent, size as u32);
                for k in 0..size {
                    e.set(k, any(r));
                }
                e.val()
            }
            4 => {
                let mut t = HashData::default();
                let size = if r.below(40) == 0 { r.below(2000) } else { r.below(12) };
                for k in 0..size {
                    t.push(k as u64, any(r), any(r));
                }
                h.hash(Value::FALSE, t).val()
            }
            _ => {
                let size = if r.below(40) == 0 { r.below(3000) } else { r.below(6) };
                let es: Vec<Value> = (0..size).map(|_| any(r)).collect();
                h.array(Value::FALSE, &es).val()
            }
        };
        if i % 50 == 0 {
            let x = any(r);
            h.set_side_ivar(v, crate::Sym(1), x);
        }
        all.push(v);
    }
    // Edges forward and back, cycles among them.
    for _ in 0..n {
        let (a, b) = (all[r.below(n)], all[r.below(n)]);
        if let Some(a) = a.as_array() {
            h.edit(a).push(b);
        }
    }
    all
}

#[test]
fn the_marked_cells_are_those_a_walk_reaches() {
    for round in 0..24u64 {
        let mut r = Rng((round + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut h = Heap::new();
        h.shared().set_gc_threads(1 + round as usize % 4);
        let all = graph(&mut h, &mut r, 3000);
        let roots: Vec<Value> = (0..1 + r.below(40)).map(|_| all[r.below(all.len())]).collect();
        let want = reachable(&roots, &h);
        h.shared().set_interruptible(true);
        for slices in [false, true, false, true, true] {
            if slices {
                h.shared().stress_slices(r.below(1000) as u64);
                h.shared().request_cycle();
                while !Heap::collect_slice(&mut [&mut h], &mut |m: &mut Marker, _: &crate::Showing| {
                    m.mark_all(&roots);
                    true
                }) {}
            } else {
                h.collect(&mut |m: &mut Marker| m.mark_all(&roots));
            }
            let mut have = FxHashSet::default();
            h.each_cell(|v| {
                have.insert(v.bits());
            });
            assert!(have == want, "round {round}: {} cells are left, {} are reached", have.len(), want.len());
            assert_eq!(h.stat().live_cells, want.len());
            let bytes = |v: Value| v.header().map_or(0, |h| cell_bytes(h) + outside_bytes(v));
            assert_eq!(h.stat().live_bytes, want.iter().map(|b| bytes(Value::from_bits(*b))).sum::<usize>());
        }
    }
}

#[test]
fn bytes_do_not_depend_on_the_number_of_threads() {
    let mut h = Heap::new();
    let all = graph(&mut h, &mut Rng(77), 4000);
    let roots = &all[3900..];
    let mut seen = FxHashSet::default();
    for threads in [1, 2, 3, 4, 1] {
        h.shared().set_gc_threads(threads);
        h.collect(&mut |m: &mut Marker| m.mark_all(roots));
        seen.insert((h.stat().live_cells, h.stat().live_bytes));
    }
    assert_eq!(seen.len(), 1, "{seen:?}");
}

#[test]
fn one_long_array_and_many_lists_are_shared_out() {
    let mut h = Heap::new();
    h.shared().set_gc_threads(3);
    let strs: Vec<Value> = (0..20_000).map(|_| h.str(Value::FALSE, b"a string beyond what a cell holds", 1).val()).collect();
    let long = h.array(Value::FALSE, &strs).val();
    let mut lists = Vec::new();
    for _ in 0..5 {
        let mut l = Value::NIL;
        for i in 0..3000 {
            l = h.array(Value::FALSE, &[Value::fix(i), l]).val();
        }
        lists.push(l);
    }
    for _ in 0..10 {
        h.collect(&mut |m: &mut Marker| {
            m.mark(long);
            m.mark_all(&lists);
        });
        assert_eq!(h.stat().live_cells, 35_001);
    }
    assert_eq!(h.shared().helpers.started(), 2);
}

/// A thread that is lent does the job in the stead of one of the crew's; one more than wanted is let go at once.
#[test]
fn who_is_lent_takes_the_place_of_a_thread() {
    let (crew, looks, over) = (Crew::new(), AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|s| {
        let lent = s.spawn(|| {
            crew.lend(1, || {
                std::thread::sleep(std::time::Duration::from_millis(1));
                looks.fetch_add(1, SeqCst);
                !over.load(SeqCst)
            });
        });
        while looks.load(SeqCst) == 0 {
            std::thread::yield_now();
        }
        crew.lend(1, || panic!("nobody asks whether it stays"));
        let who = Mutex::new(None);
        let job = || *who.lock().unwrap() = Some(std::thread::current().id());
        Crew::run(&crew, 1, 1, &job, || {
            while who.lock().unwrap().is_none() {
                std::thread::yield_now();
            }
        });
        assert_eq!(*who.lock().unwrap(), Some(lent.thread().id()));
        assert_eq!(crew.threads(), 0);
        over.store(true, SeqCst);
    });
}

/// Who is lent leaves when no job comes, so that it may sleep.
#[test]
fn who_is_lent_for_nothing_leaves() {
    Crew::new().lend(1, || true);
}

/// With the other core taken by work that goes on beside the stop, a thread is called for long work only.
#[test]
fn nobody_is_called_to_a_core_that_is_taken() {
    let mut h = Heap::new();
    h.shared().set_gc_threads(2);
    h.shared().set_taken_cores(1);
    let some = graph(&mut h, &mut Rng(7), 5_000);
    let mut mark = |all: &[Value], taken: usize| {
        h.shared().set_taken_cores(taken);
        h.collect(&mut |m: &mut Marker| m.mark_all(all));
        (h.stat().live_cells, h.shared().helpers.started())
    };
    assert_eq!([mark(&some, 1), mark(&some, 1)], [(5_000, 0); 2]);
    assert_eq!(mark(&some, 0), (5_000, 1));
    let mut h = Heap::new();
    h.shared().set_gc_threads(2);
    let many = graph(&mut h, &mut Rng(8), 20_000);
    h.shared().set_taken_cores(1);
    for started in [0, 1] {
        h.collect(&mut |m: &mut Marker| m.mark_all(&many));
        assert_eq!((h.stat().live_cells, h.shared().helpers.started()), (20_000, started), "what is to be marked is known the second time");
    }
}

/// Whoever gives its core away now and then marks the same cells, alone or with others.
#[test]
fn a_collection_that_gives_way_marks_the_same() {
    for threads in [1, 2] {
        let mut h = Heap::new();
        h.shared().set_gc_threads(threads);
        h.shared().set_gives_way(true);
        let some = graph(&mut h, &mut Rng(9), 20_000);
        for _ in 0..2 {
            h.collect(&mut |m: &mut Marker| m.mark_all(&some));
            assert_eq!(h.stat().live_cells, 20_000);
        }
    }
}

#[test]
fn a_small_heap_starts_no_thread() {
    let mut h = Heap::new();
    h.shared().set_gc_threads(4);
    let a = h.array(Value::FALSE, &[]).val();
    h.collect(&mut |m: &mut Marker| m.mark(a));
    assert_eq!(h.shared().helpers.started(), 0);
}

/// A marked cell is not entered, unless it is named for a second look.
#[test]
fn marks_are_sticky() {
    let mut h = Heap::new();
    let old = h.array(Value::FALSE, &[]).val();
    h.collect(&mut |m: &mut Marker| m.mark(old));
    let young = h.str(Value::FALSE, b"young", 1).val();
    h.edit(old.as_array().unwrap()).push(young);
    let shared = h.shared().clone();
    let mut m = Marking::new(&shared.helpers, Fresh::all(None));
    m.run(0, |r| r.visit(old), &|_, _| ());
    assert!(is_marked(old) && !is_marked(young) && m.cells == 0);
    m.run(0, |r| r.rescan(old), &|_, _| ());
    assert!(is_marked(young) && m.cells == 1);
    assert_eq!(m.bytes, cell_bytes(young.header().unwrap()));
}

#[test]
fn the_child_of_a_fork_marks_with_threads_of_its_own() {
    let mut h = Heap::new();
    h.shared().set_gc_threads(3);
    let all = graph(&mut h, &mut Rng(5), 2000);
    let mark = |h: &mut Heap| {
        h.collect(&mut |m: &mut Marker| m.mark_all(&all));
        h.stat().live_cells
    };
    assert_eq!(mark(&mut h), 2000);
    // SAFETY: the child only marks, and leaves without running anything of the test's.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let fine = (0..5).all(|_| mark(&mut h) == 2000);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(if fine { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: waits for that child.
    unsafe { libc::waitpid(pid, &mut status, 0) };
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
    assert_eq!(mark(&mut h), 2000);
}
