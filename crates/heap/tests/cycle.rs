//! Full collections in slices: the program goes on in between, what lives stays, and what was dead when it began goes.

use kumi_heap::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const MB: usize = 1 << 20;

/// A heap whose slices mark few cells each.
fn heap(seed: u64) -> Heap {
    let h = Heap::configured(HeapConfig { young: (4 * MB, 4 * MB), ..HeapConfig::default() });
    h.shared().set_interruptible(true);
    h.shared().set_gc_threads(1 + seed as usize % 3);
    h.shared().stress_slices(seed);
    h
}
fn text(h: &mut Heap, s: &str) -> Value {
    h.str(Value::FALSE, s.as_bytes(), 1).val()
}
fn array(h: &mut Heap, vs: &[Value]) -> Value {
    h.array(Value::FALSE, vs).val()
}
fn push(h: &mut Heap, a: Value, v: Value) {
    h.before_store(a, v);
    h.edit(a.as_array().expect("an array")).push(v);
}
/// The slice that is due. Was it the last?
fn slice(h: &mut Heap, roots: &[Value]) -> bool {
    assert!(h.shared().next_is_slice());
    Heap::collect_slice(&mut [h], &mut |m, _| {
        m.mark_all(roots);
        true
    })
}
fn sound(h: &mut Heap, roots: &[Value], moment: Moment) {
    verify(&mut [h], &mut |_| (), &mut |_, m| m.mark_all(roots), moment, &|_| Look::default()).unwrap();
}
fn words(a: Value) -> Vec<String> {
    let a = a.as_array().expect("an array");
    (0..a.len()).filter_map(|i| a.get(i)).map(|v| String::from_utf8_lossy(v.as_str().expect("a string").bytes()).into_owned()).collect()
}

#[test]
fn what_lives_stays_whatever_moves_between_slices() {
    for seed in 1..=8 {
        let mut h = heap(seed);
        // Texts hang on boxes. Between slices they go from box to box, and new ones come.
        let boxes: Vec<Value> = (0..200).map(|_| array(&mut h, &[])).collect();
        let all = array(&mut h, &boxes);
        for i in 0..4000 {
            let t = text(&mut h, &format!("text {i:05}"));
            push(&mut h, boxes[i % 200], t);
        }
        h.collect(&mut |m| m.mark(all));
        h.shared().request_cycle();
        let (mut slices, mut made) = (0, 4000);
        while !slice(&mut h, &[all]) {
            slices += 1;
            sound(&mut h, &[all], Moment::BeforeYoung);
            for i in 0..50 {
                let (from, to) = ((slices * 7 + i * 13) % 200, (slices * 31 + i * 5) % 200);
                let moved = Held::new(boxes[from].as_array().unwrap()).pop();
                let t = moved.unwrap_or_else(|| {
                    made += 1;
                    text(&mut h, &format!("text {:05}", made - 1))
                });
                push(&mut h, boxes[to], t);
            }
            if slices % 5 == 0 {
                h.collect_nursery(|m| m.mark(all));
                sound(&mut h, &[all], Moment::BeforeYoung);
            }
        }
        sound(&mut h, &[all], Moment::Marked);
        h.sweep_some(usize::MAX);
        let mut found: Vec<String> = boxes.iter().flat_map(|b| words(*b)).collect();
        found.sort();
        assert_eq!(found, (0..made).map(|i| format!("text {i:05}")).collect::<Vec<_>>(), "seed {seed}, {slices} slices");
    }
}

#[test]
fn elements_of_a_long_array_may_change_places_between_slices() {
    for seed in 1..=6 {
        let mut h = heap(seed);
        let long = array(&mut h, &[]);
        for i in 0..20_000 {
            let t = text(&mut h, &format!("{i:05}"));
            push(&mut h, long, t);
        }
        h.collect(&mut |m| m.mark(long));
        h.shared().request_cycle();
        while !slice(&mut h, &[long]) {
            // A native that moves elements calls no barrier.
            Held::new(long.as_array().unwrap()).edit(|all| all.rotate_left(4999));
        }
        sound(&mut h, &[long], Moment::Marked);
        h.sweep_some(usize::MAX);
        let mut found = words(long);
        found.sort();
        assert_eq!(found, (0..20_000).map(|i| format!("{i:05}")).collect::<Vec<_>>());
    }
}

/// What natives do to a list. What stays in it moves without a barrier.
fn change(h: &mut Heap, list: Value, other: Value, what: usize, made: &mut usize) {
    let mut a = Held::new(list.as_array().unwrap());
    let n = a.len();
    match what {
        0 => a.edit(|all| all.rotate_left(n * 2 / 5)),
        1 => a.edit(|all| all.reverse()),
        2 => a.edit(|all| all.sort_by_key(|v| v.bits().wrapping_mul(0x9E37_79B9_7F4A_7C15))),
        3 => a.merge(n / 3, |v| v.bits().wrapping_mul(0x517c_c1b7_2722_0a95)),
        4 => (0..n.min(700)).for_each(|_| {
            a.shift();
        }),
        5 => (0..n.min(300)).for_each(|_| {
            a.pop();
        }),
        6 => a.vec().drain(n / 4..n / 4 + n.min(100)),
        7 => a.vec().shrink_to_fit(),
        // The elements of another list, in a buffer that was made for them.
        8 => {
            let all: Vec<Value> = other.as_array().unwrap().seen().to_vec();
            h.before_store_all(list, &all);
            a.vec().replace(ArrayBuf::from_slice(&all));
        }
        9 => a.vec().clear(),
        // New ones in front, in the middle and behind.
        _ => {
            for i in 0..400 {
                *made += 1;
                let t = text(h, &format!("new {made}"));
                h.before_store(list, t);
                match i % 3 {
                    0 => a.unshift(&[t]),
                    1 => {
                        let half = a.len() / 2;
                        a.vec().insert(half, t);
                    }
                    _ => a.vec().push(t),
                }
            }
        }
    }
}

#[test]
fn long_lists_may_be_changed_in_every_way_while_they_are_half_marked() {
    for seed in 1..=24 {
        let mut h = heap(seed);
        let mut chance = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut below = |n: u64| {
            chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((chance >> 33) % n) as usize
        };
        let lists: Vec<Value> = (0..3).map(|_| array(&mut h, &[])).collect();
        let all = array(&mut h, &lists);
        let mut made = 0;
        for i in 0..45_000 {
            made += 1;
            let t = text(&mut h, &format!("new {made}"));
            push(&mut h, lists[i % 3], t);
        }
        h.collect(&mut |m| m.mark(all));
        for _ in 0..3 {
            h.shared().request_cycle();
            while !slice(&mut h, &[all]) {
                sound(&mut h, &[all], Moment::BeforeYoung);
                // Those that leave nothing of a list are rare.
                let what = if below(20) == 0 { 8 + below(2) } else { [0, 1, 2, 3, 4, 5, 6, 7, 10, 10][below(10)] };
                // Now and then nothing is done for a while.
                if below(3) == 0 {
                    change(&mut h, lists[below(3)], lists[below(3)], what, &mut made);
                }
            }
            sound(&mut h, &[all], Moment::Marked);
            h.sweep_some(usize::MAX);
            for l in &lists {
                assert!(words(*l).iter().all(|w| w.starts_with("new ")), "seed {seed}");
            }
        }
    }
}

#[test]
fn long_hashes_may_be_changed_while_they_are_half_marked() {
    for seed in 1..=12 {
        let mut h = heap(seed);
        let hash = h.hash(Value::FALSE, HashData::default()).val();
        let all = array(&mut h, &[hash]);
        let put = |h: &mut Heap, i: u64| {
            let (k, v) = (text(h, &format!("key {i}")), text(h, &format!("value {i}")));
            h.before_store_all(hash, &[k, v]);
            h.edit(hash.cell::<HashObj>().unwrap()).h.push(i.wrapping_mul(0x517c_c1b7_2722_0a95), k, v);
        };
        (0..20_000).for_each(|i| put(&mut h, i));
        h.collect(&mut |m| m.mark(all));
        h.shared().request_cycle();
        let mut slices = 0;
        while !slice(&mut h, &[all]) {
            sound(&mut h, &[all], Moment::BeforeYoung);
            slices += 1;
            let i = slices as usize * 7919 % 20_000;
            match (slices + seed) % 5 {
                0 => (0..200).for_each(|k| put(&mut h, 20_000 + slices * 200 + k)),
                1 => {
                    let v = text(&mut h, &format!("value, the other {slices}"));
                    h.before_store(hash, v);
                    h.edit(hash.cell::<HashObj>().unwrap()).h.set_val(i, v);
                }
                2 => drop(h.edit(hash.cell::<HashObj>().unwrap()).h.remove_at(i)),
                // All entries are closed up in another table, in the opposite order.
                3 if slices % 9 == 0 => {
                    let mut es: Vec<_> = hash.cell::<HashObj>().unwrap().h.iter().collect();
                    es.reverse();
                    h.edit(hash.cell::<HashObj>().unwrap()).h.replace_entries(es);
                }
                _ => {}
            }
        }
        sound(&mut h, &[all], Moment::Marked);
        h.sweep_some(usize::MAX);
        let h = &hash.cell::<HashObj>().unwrap().h;
        let read = |v: Value| String::from_utf8_lossy(v.as_str().expect("a string").bytes()).into_owned();
        assert!(h.iter().all(|e| read(e.key).starts_with("key ") && read(e.val).starts_with("value")), "seed {seed}");
    }
}

#[test]
fn what_was_dead_when_it_began_goes() {
    let mut h = heap(3);
    let kept = array(&mut h, &[]);
    let gone = array(&mut h, &[]);
    for i in 0..3000 {
        let t = text(&mut h, &format!("a text that is longer than what fits into a cell, number {i}"));
        push(&mut h, if i % 3 == 0 { kept } else { gone }, t);
    }
    h.collect(&mut |m| m.mark_all(&[kept, gone]));
    let before = h.stat();
    assert_eq!(before.live_cells, 3002);
    h.shared().request_cycle();
    while !slice(&mut h, &[kept]) {}
    let after = h.stat();
    assert_eq!(after.live_cells, 1001);
    assert!(after.live_bytes < before.live_bytes / 2);
    assert!(!h.shared().next_is_slice() && !h.shared().cycle_is_open());
    h.sweep_some(usize::MAX);
    assert_eq!(words(kept).len(), 1000);
}

/// Tells whether a cell that it holds weakly was alive.
struct Weak(Value, Arc<AtomicBool>);

impl Payload for Weak {
    fn weak(&mut self, alive: &dyn Fn(Value) -> bool) {
        self.1.store(alive(self.0), Relaxed);
    }
}

#[test]
fn what_is_weak_and_finalizers_hear_of_the_dead_at_the_last_slice() {
    let mut h = heap(5);
    let dead = text(&mut h, "dead soon");
    let alive = Arc::new(AtomicBool::new(true));
    let weak = h.data(Value::FALSE, Weak(dead, alive.clone()));
    h.publish(dead);
    h.add_weak(weak);
    let f = text(&mut h, "stands for a Proc");
    h.add_finalizer(dead, f);
    let id = h.object_id(dead);
    h.collect(&mut |m| m.mark_all(&[weak, dead]));
    assert!(alive.load(Relaxed));
    h.shared().request_cycle();
    loop {
        let last = slice(&mut h, &[weak]);
        assert_eq!((alive.load(Relaxed), h.shared().has_pending_finalizers()), (!last, last));
        if last {
            break;
        }
    }
    assert_eq!(h.by_object_id(id), None);
    sound(&mut h, &[weak, f], Moment::Marked);
    assert_eq!(h.shared().take_pending_finalizers().len(), 1);
}

#[test]
fn an_open_collection_is_given_up_for_one_at_a_stop() {
    let mut h = heap(2);
    let kept = array(&mut h, &[]);
    for i in 0..5000 {
        let t = text(&mut h, &format!("{i}"));
        push(&mut h, kept, t);
    }
    h.collect(&mut |m| m.mark(kept));
    for seed in [1, 9, 11] {
        h.shared().stress_slices(seed);
        h.shared().request_cycle();
        for _ in 0..3 {
            if slice(&mut h, &[kept]) {
                break;
            }
        }
        let dead = text(&mut h, "dies while marks are made");
        push(&mut h, kept, dead);
        Held::new(kept.as_array().unwrap()).pop();
        h.request_full();
        assert!(!h.shared().next_is_slice());
        h.collect(&mut |m| m.mark(kept));
        assert!(!h.shared().cycle_is_open());
        assert_eq!(h.stat().live_cells, 5001);
        sound(&mut h, &[kept], Moment::Marked);
        h.sweep_some(usize::MAX);
    }
    // The next one begins anew, and ends.
    h.shared().request_cycle();
    while !slice(&mut h, &[kept]) {}
    assert_eq!(h.stat().live_cells, 5001);
}

#[test]
fn where_memory_runs_short_the_next_slice_is_the_last() {
    for by_limit in [true, false] {
        let mut h = heap(7);
        let kept = array(&mut h, &[]);
        let keep = |h: &mut Heap, n: usize| {
            for _ in 0..n {
                let a = array(h, &[Value::NIL; 100]);
                push(h, kept, a);
            }
        };
        keep(&mut h, 10_000);
        h.collect(&mut |m| m.mark(kept));
        let live = h.stat().live_bytes;
        assert!(live > 8 * MB);
        // Each slice marks a cell.
        h.shared().stress_slices(0);
        h.shared().request_cycle();
        let mut slices = 0;
        while !h.shared().cycle_is_open() || slices == 0 {
            assert!(!slice(&mut h, &[kept]), "all is marked by one slice");
            slices += 1;
        }
        if by_limit {
            h.shared().set_max(live + 4 * MB);
            keep(&mut h, 3000);
        } else {
            keep(&mut h, 30_000);
        }
        assert!(h.wants_gc());
        assert!(slice(&mut h, &[kept]));
        assert_eq!(h.shared().hurried_cycles(), 1);
        sound(&mut h, &[kept], Moment::Marked);
        assert_eq!(h.stat().live_cells, if by_limit { 13_001 } else { 40_001 });
    }
}

#[test]
fn full_collections_that_come_by_themselves_go_in_slices() {
    let mut h = heap(4);
    let kept = array(&mut h, &[]);
    h.publish(kept);
    let (mut slices, mut cycles) = (0, 0);
    for i in 0..300_000 {
        let a = array(&mut h, &[Value::NIL; 30]);
        push(&mut h, kept, a);
        if i % 60_000 == 0 {
            Held::new(kept.as_array().unwrap()).vec().clear();
        }
        if h.wants_gc() {
            if h.shared().next_is_slice() {
                slices += 1;
                cycles += slice(&mut h, &[kept]) as usize;
            } else {
                Heap::collect_all(&mut [&mut h], &mut |full, m| {
                    assert!(!full);
                    m.mark(kept);
                });
            }
        }
    }
    assert!(cycles > 1 && slices > cycles, "{cycles} in {slices}");
}
