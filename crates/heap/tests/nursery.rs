//! Private cells: what keeps them, what lets them leave, what frees them.

use kumi_heap::*;
use std::sync::atomic::Ordering::Relaxed;

fn flags(v: Value) -> (bool, bool) {
    let f = v.header().map_or(0, |h| h.flags.load(Relaxed));
    (f & flag::OUT != 0, f & flag::SHARED != 0)
}
fn text(h: &mut Heap, s: &str) -> Value {
    h.str(Value::FALSE, s.as_bytes(), 1).val()
}

#[test]
fn private_cells_hold_private_cells_and_die_in_a_nursery_collection() {
    let mut h = Heap::new();
    let keep = h.array(Value::FALSE, &[]);
    for i in 0..50 {
        let s = text(&mut h, &format!("number {i} of many, longer than fits into the cell"));
        if i % 10 == 0 {
            h.before_store(keep.val(), s);
            let k = keep;
            h.edit(k).push(s);
        }
    }
    h.collect_nursery(|m| m.mark(keep.val()));
    let st = h.stat().all;
    assert_eq!((st.nursery_freed_cells, st.published_cells, st.retired_cells), (45, 0, 0));
    assert_eq!(flags(keep.val()), (false, false));
    assert_eq!(keep.get(4).and_then(|v| v.as_str()).map(|s| s.bytes()[..9].to_vec()), Some(b"number 40".to_vec()));
    h.collect_nursery(|_| {});
    assert_eq!(h.stat().all.nursery_freed_cells, 51);
}

#[test]
fn storing_into_what_left_publishes_the_closure() {
    let mut h = Heap::new();
    let global = h.array(Value::FALSE, &[]);
    h.publish(global.val());
    let leaf = text(&mut h, "leaf");
    let inner = h.array(Value::FALSE, &[leaf]).val();
    let outer = h.array(Value::FALSE, &[inner, inner]).val();
    let other = text(&mut h, "stays");
    h.before_store(global.val(), outer);
    h.edit(global).push(outer);
    for v in [leaf, inner, outer, global.val()] {
        assert_eq!(flags(v), (true, true));
    }
    assert_eq!(flags(other), (false, false));
    h.collect_nursery(|m| m.mark(other));
    assert_eq!(leaf.as_str().map(|s| s.bytes().to_vec()), Some(b"leaf".to_vec()));
    assert_eq!(h.stat().all.nursery_freed_cells, 0);
}

#[test]
fn what_is_confined_leaves_without_being_shared() {
    let mut h = Heap::new();
    let a = h.array(Value::FALSE, &[]);
    h.retire_roots(|m| m.mark(a.val()));
    let s = text(&mut h, "x");
    h.before_store(a.val(), s);
    assert_eq!((flags(a.val()), flags(s)), ((true, false), (true, false)));
    h.publish(a.val());
    let b = a;
    h.edit(b).push(s);
    h.publish(b.val());
    assert_eq!(flags(a.val()), (true, true));
}

#[test]
fn a_full_nursery_retires_in_place_and_a_node_collection_frees_it() {
    let mut h = Heap::new();
    let mut keep = Vec::new();
    let mut nurseries = 0;
    for i in 0..20_000u64 {
        keep.push(text(&mut h, &format!("kept {i}")));
        if h.wants_nursery() {
            nurseries += 1;
            let k = keep.clone();
            h.collect_nursery(|m| m.mark_all(&k));
        }
    }
    let st = h.stat().all;
    assert!(nurseries > 5 && st.retirements > 5, "{nurseries} {st:?}");
    for (i, v) in keep.iter().enumerate() {
        assert_eq!(v.as_str().map(|s| s.bytes().to_vec()), Some(format!("kept {i}").into_bytes()));
    }
    let k: Vec<Value> = keep.iter().copied().step_by(100).collect();
    h.collect(&mut |m| m.mark_all(&k));
    assert_eq!(h.stat().live_cells, 200);
    let mut n = 0;
    h.each_cell(|_| n += 1);
    assert_eq!(n, 200);
}

#[test]
fn what_dies_in_its_nursery_at_a_node_collection_was_allocated_and_is_freed() {
    let mut h = Heap::new();
    let kept = text(&mut h, "kept");
    for i in 0..100 {
        text(&mut h, &format!("garbage {i}"));
    }
    h.collect(&mut |m| m.mark(kept));
    assert_eq!((h.stat().allocated_cells, h.stat().freed_cells), (101, 100));
    for i in 0..10 {
        text(&mut h, &format!("garbage {i}"));
    }
    h.collect_nursery(|m| m.mark(kept));
    for i in 0..5 {
        text(&mut h, &format!("garbage {i}"));
    }
    h.request_gc();
    Heap::collect_all(&mut [&mut h], &mut |_, m| m.mark(kept));
    assert_eq!((h.stat().allocated_cells, h.stat().freed_cells, h.stat().live_cells), (116, 115, 1));
}

#[test]
fn young_collections_keep_what_old_cells_were_given() {
    let mut h = Heap::new();
    let old = h.array(Value::FALSE, &[]);
    h.collect(&mut |m| m.mark(old.val()));
    for round in 0..10 {
        let s = text(&mut h, &format!("round {round}"));
        h.before_store(old.val(), s);
        h.edit(old).push(s);
        for i in 0..2_000 {
            text(&mut h, &format!("garbage {i}"));
        }
        h.request_gc();
        Heap::collect_all(&mut [&mut h], &mut |_, m| m.mark(old.val()));
        assert_eq!(h.stat().live_cells, round + 2);
    }
    assert_eq!((h.stat().young_count, h.stat().full_count), (0, 0), "counted when resumed");
    assert_eq!(old.get(3).and_then(|v| v.as_str()).map(|s| s.bytes().to_vec()), Some(b"round 3".to_vec()));
}

/// Tables of classes change without a note at the class's cell: the class itself says that they did.
#[test]
fn young_collections_keep_what_old_classes_were_given() {
    let mut h = Heap::new();
    let c = h.class(Value::FALSE, Role::Class, ClassData::new(None, Instance::Object));
    h.collect(&mut |m| m.mark(c.val()));
    let root = c.val();
    let young = |h: &mut Heap| {
        h.request_gc();
        Heap::collect_all(&mut [h], &mut |_, m| m.mark(root));
        h.stat().live_cells
    };
    assert_eq!(young(&mut h), 1);
    let s = text(&mut h, "stays");
    h.edit(c).data.ivars.push((Sym(1), s));
    assert_eq!(young(&mut h), 2);
    // It has grown old with its class, whatever else comes and goes.
    text(&mut h, "goes");
    assert_eq!(young(&mut h), 2);
    h.edit(c).data.ivars[0].1 = text(&mut h, "comes later");
    assert_eq!(young(&mut h), 3, "an old one waits for the next full collection");
    h.collect(&mut |m| m.mark(c.val()));
    assert_eq!(h.stat().live_cells, 2);
    // A class that dies young leaves no trace, and those that stay are looked at as before.
    let gone = h.class(Value::FALSE, Role::Class, ClassData::new(None, Instance::Object));
    let sub = h.class(Value::FALSE, Role::Class, ClassData::new(Some(c), Instance::Object));
    assert!(gone != sub);
    h.edit(c).data.dependents.extend([gone, sub]);
    h.edit(c).data.ivars.push((Sym(2), sub.val()));
    assert_eq!(young(&mut h), 3);
    assert_eq!(c.data.dependents, [sub]);
    let below = text(&mut h, "of the class below");
    h.edit(sub).data.cvars.push((Sym(3), below));
    assert_eq!(young(&mut h), 4);
}

#[test]
fn under_the_papers_rule_a_stored_cell_leaves_whatever_holds_it() {
    let mut h = Heap::configured(HeapConfig { rule: Rule::Paper, ..HeapConfig::default() });
    let s = text(&mut h, "s");
    let a = h.array(Value::FALSE, &[s]).val();
    assert_eq!((flags(a), flags(s)), ((false, false), (true, true)));
    let t = text(&mut h, "t");
    h.before_store(a, t);
    assert_eq!(flags(t), (true, true));
}

#[test]
fn without_nurseries_everything_is_born_shared() {
    let mut h = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
    let s = text(&mut h, "s");
    assert_eq!(flags(s), (true, true));
    h.collect_nursery(|_| {});
    assert_eq!(s.as_str().map(|s| s.bytes().to_vec()), Some(b"s".to_vec()));
}

#[test]
fn cells_of_every_size_find_room() {
    let mut h = Heap::new();
    let mut kept = Vec::new();
    let mut r = 12345u64;
    for i in 0..30_000u32 {
        r = r.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let n = (r >> 33) % 300;
        let e = h.env(Value::NIL, n as u32);
        let e2 = e;
        e2.put((0..n as i64).map(|k| Value::fix((i as i64) << 10 | k)));
        if r >> 40 & 7 == 0 {
            kept.push((i, n, e));
        }
        h.seal_born();
        if h.wants_nursery() {
            let k: Vec<Value> = kept.iter().map(|e| e.2.val()).collect();
            h.collect_nursery(|m| m.mark_all(&k));
        }
        if h.wants_gc() {
            let k: Vec<Value> = kept.iter().map(|e| e.2.val()).collect();
            if i % 2 == 0 {
                kept.retain(|e| e.0 % 3 != 0);
            }
            Heap::collect_all(&mut [&mut h], &mut |_, m| m.mark_all(&k));
        }
    }
    for (i, n, e) in kept {
        assert_eq!(e.slots().len() as u64, n);
        for (k, s) in e.slots().iter().enumerate() {
            assert_eq!(s, Value::fix((i as i64) << 10 | k as i64));
        }
    }
}
