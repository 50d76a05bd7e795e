//! Heaps with one broken edge each: the verifier says which.

use super::*;
use crate::heap::{HeapConfig, Rule};

fn heap() -> Heap {
    Heap::configured(HeapConfig { rule: Rule::Closure, ..HeapConfig::default() })
}
fn text(h: &mut Heap, s: &str) -> Value {
    h.str(Value::FALSE, s.as_bytes(), 1).val()
}
fn array(h: &mut Heap, vs: &[Value]) -> Value {
    h.array(Value::FALSE, vs).val()
}
fn push(h: &mut Heap, a: Value, v: Value) {
    h.edit(a.as_array().unwrap()).push(v);
}

/// Verifies heaps with the runtime's roots and each worker's own.
fn check(heaps: &mut [&mut Heap], roots: &[Value], own: &[&[Value]], moment: Moment) -> Result<(), String> {
    verify(heaps, &mut |m| m.mark_all(roots), &mut |i, m| m.mark_all(own[i]), moment, &|_| Look::default())
}
#[track_caller]
fn faulty(r: Result<(), String>, parts: &[&str]) {
    let text = r.expect_err("the fault was not seen");
    for p in parts {
        assert!(text.contains(p), "{p:?} is not in: {text}");
    }
}

#[test]
fn a_sound_heap_passes() {
    let (mut h, mut o) = (heap(), None::<Heap>);
    let other = o.insert(h.sibling());
    let table = array(&mut h, &[]);
    h.publish(table);
    let mut mine = array(&mut h, &[]);
    for i in 0..3000i64 {
        let s = text(&mut h, &format!("text number {i}"));
        let p = h.pair(Value::FALSE, s, mine);
        if i % 7 == 0 {
            h.before_store(table, p);
            push(&mut h, table, p);
        }
        if i % 3 == 0 {
            let a = array(&mut h, &[p, Value::fix(i)]);
            h.before_store(mine, a);
            push(&mut h, mine, a);
        }
        if i % 50 == 0 {
            mine = array(&mut h, &[s]);
            h.set_side_ivar(mine, crate::Sym(3), p);
        }
        if i % 200 == 0 {
            h.collect_nursery(|m| m.mark(mine));
        }
        if i % 100 == 0 {
            check(&mut [&mut h, other], &[table], &[&[mine], &[]], Moment::BeforeYoung).unwrap();
        }
        if i % 900 == 0 {
            let mut hs = [&mut h, &mut *other];
            Heap::collect_all(&mut hs, &mut |_, m| m.mark_all(&[table, mine]));
            check(&mut hs, &[table], &[&[mine], &[]], Moment::Marked).unwrap();
        }
    }
}

#[test]
fn a_store_without_barrier_is_seen_with_its_path() {
    let mut h = heap();
    let inner = array(&mut h, &[]);
    let outer = h.range(Value::FALSE, Value::NIL, inner, false);
    h.publish(outer);
    check(&mut [&mut h], &[outer], &[&[]], Moment::Anytime).unwrap();
    let s = text(&mut h, "private");
    push(&mut h, inner, Value::fix(0));
    push(&mut h, inner, s);
    let r = check(&mut [&mut h], &[outer], &[&[]], Moment::Anytime);
    faulty(r, &["a cell outside the nursery refers to a private one", "the runtime's root 0 -> Range", ".end -> Array", "[1] -> Str"]);
}

#[test]
fn a_shared_cell_does_not_hold_a_confined_one() {
    let mut h = heap();
    let a = array(&mut h, &[]);
    h.publish(a);
    let s = text(&mut h, "confined");
    h.retire_roots(|m| m.mark(s));
    check(&mut [&mut h], &[a], &[&[s]], Moment::Anytime).unwrap();
    push(&mut h, a, s);
    faulty(check(&mut [&mut h], &[a], &[&[]], Moment::Anytime), &["a shared cell refers to a confined one", "(confined"]);
}

#[test]
fn the_runtime_holds_shared_cells_only() {
    let mut h = heap();
    let s = text(&mut h, "private");
    faulty(
        check(&mut [&mut h], &[Value::NIL, s], &[&[]], Moment::Anytime),
        &["the runtime holds a cell that is not shared: the runtime's root 1 -> Str"],
    );
}

#[test]
fn what_is_private_is_its_own_workers() {
    let mut h = heap();
    let mut o = h.sibling();
    let s = text(&mut h, "private");
    check(&mut [&mut h, &mut o], &[], &[&[s], &[]], Moment::Anytime).unwrap();
    faulty(
        check(&mut [&mut h, &mut o], &[], &[&[], &[s]], Moment::Anytime),
        &["a private cell lies in the nursery of worker 0: root 0 of worker 1"],
    );
    h.retire_roots(|m| m.mark(s));
    let a = array(&mut o, &[s]);
    check(&mut [&mut h, &mut o], &[], &[&[], &[a]], Moment::Anytime).unwrap();
    faulty(
        check(&mut [&mut h, &mut o], &[], &[&[s], &[a]], Moment::Anytime),
        &["two workers reach a cell that is not shared: root 0 of worker 1 -> Array", "and root 0 of worker 0 -> Str"],
    );
}

#[test]
fn freed_cells_and_wild_addresses_are_seen() {
    let mut h = heap();
    let keep = array(&mut h, &[]);
    let dead = text(&mut h, "dead soon");
    let after = text(&mut h, "kept");
    push(&mut h, keep, after);
    h.collect_nursery(|m| m.mark(keep));
    check(&mut [&mut h], &[], &[&[keep]], Moment::Anytime).unwrap();
    push(&mut h, keep, dead);
    faulty(check(&mut [&mut h], &[], &[&[keep]], Moment::Anytime), &["Array", "[1] refers to free space or the inside of a cell"]);
    crate::Held::new(keep.as_array().unwrap()).pop();
    push(&mut h, keep, Value::from_bits(after.bits() + 16));
    faulty(check(&mut [&mut h], &[], &[&[keep]], Moment::Anytime), &["[1] refers to free space or the inside of a cell"]);
    crate::Held::new(keep.as_array().unwrap()).pop();
    push(&mut h, keep, Value::from_bits(0x1000));
    faulty(check(&mut [&mut h], &[], &[&[keep]], Moment::Anytime), &["[1] refers to no block of this runtime: 1000"]);
}

#[test]
fn old_cells_that_refer_to_young_ones_are_remembered() {
    let mut h = heap();
    let a = array(&mut h, &[]);
    h.publish(a);
    h.collect(&mut |m| m.mark(a));
    check(&mut [&mut h], &[a], &[&[]], Moment::Marked).unwrap();
    let s = text(&mut h, "young");
    h.before_store(a, s);
    push(&mut h, a, s);
    check(&mut [&mut h], &[a], &[&[]], Moment::BeforeYoung).unwrap();
    faulty(check(&mut [&mut h], &[a], &[&[]], Moment::Marked), &["a reachable cell is not marked", "[0] -> Str", "young"]);
    // Without the note of the barrier.
    // SAFETY: a live block.
    unsafe { (*Block::of(a.bits())).unlog(a.bits()) };
    faulty(check(&mut [&mut h], &[a], &[&[]], Moment::BeforeYoung), &["an old cell that is not remembered refers to a young one"]);
}

/// The bug that loses objects: a store between two slices that nothing remembers.
#[test]
fn a_store_between_slices_that_is_not_remembered_is_seen() {
    let mut h = heap();
    let boxes: Vec<Value> = (0..400).map(|_| array(&mut h, &[])).collect();
    let all = array(&mut h, &boxes);
    h.publish(all);
    h.collect(&mut |m| m.mark(all));
    h.shared().set_interruptible(true);
    let slice = |h: &mut Heap, seed| {
        h.shared().stress_slices(seed);
        Heap::collect_slice(&mut [h], &mut |m, _| {
            m.mark(all);
            true
        })
    };
    h.shared().request_cycle();
    while boxes.iter().all(|b| !is_marked(*b)) || boxes.iter().all(|b| is_marked(*b)) {
        // Slices of a cell.
        assert!(!slice(&mut h, 0));
    }
    let marked = boxes.iter().copied().find(|b| is_marked(*b)).unwrap();
    let s = text(&mut h, "lost");
    h.before_store(marked, s);
    push(&mut h, marked, s);
    check(&mut [&mut h], &[all], &[&[]], Moment::BeforeYoung).unwrap();
    // SAFETY: a live block.
    unsafe { (*Block::of(marked.bits())).unlog(marked.bits()) };
    h.remembered.clear();
    faulty(
        check(&mut [&mut h], &[all], &[&[]], Moment::BeforeYoung),
        &["an old cell that is not remembered refers to a young one", "[0] -> Str", "young"],
    );
    while !slice(&mut h, 0) {}
    faulty(check(&mut [&mut h], &[all], &[&[]], Moment::Marked), &["a reachable cell is not marked", "[0] -> Str"]);
}

#[test]
fn marks_stand_on_cells_only() {
    let mut h = heap();
    let a = array(&mut h, &[]);
    let (w, bit) = Block::mark_word(a.bits() + 4096);
    // SAFETY: a word of that block's bitmap.
    unsafe { *w |= bit };
    faulty(check(&mut [&mut h], &[], &[&[a]], Moment::Anytime), &["a mark at", "on free space"]);
}

#[test]
fn large_cells_and_unknown_kinds() {
    let mut h = heap();
    let e = h.env(Value::NIL, 9000).val();
    check(&mut [&mut h], &[], &[&[e]], Moment::Anytime).unwrap();
    let s = text(&mut h, "private");
    e.cell::<crate::EnvObj>().unwrap().set(8999, s);
    faulty(
        check(&mut [&mut h], &[], &[&[e]], Moment::Anytime),
        &["a cell outside the nursery refers to a private one", "Env", "[8999] -> Str"],
    );
    // SAFETY: a cell of this test's; its kind byte is put back before anybody else looks.
    unsafe {
        let k = (s.bits() + offset_of!(Header, kind) as u64) as *mut u8;
        let old = k.replace(0x77);
        faulty(check(&mut [&mut h], &[], &[&[]], Moment::Anytime), &["cannot be walked: no cell and no gap at"]);
        k.write(old);
    }
}

/// A payload whose values change without a barrier, as a task's stack does.
struct Holder(Value);

impl crate::Payload for Holder {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.0);
    }
}

#[test]
fn what_a_task_holds_is_its_threads() {
    let mut h = heap();
    let d = h.data(Value::FALSE, Holder(Value::NIL));
    h.collect(&mut |m| m.mark(d));
    let s = text(&mut h, "private");
    h.edit_data::<Holder>(d).unwrap().0 = s;
    let mut look = |l: Look| verify(&mut [&mut h], &mut |m| m.mark(d), &mut |_, _| (), Moment::BeforeYoung, &|_| l);
    faulty(look(Look::default()), &["a cell outside the nursery refers to a private one"]);
    faulty(
        look(Look { of: Some(0), nursery: true, shown: false, ..Look::default() }),
        &["an old cell that is not remembered refers to a young one"],
    );
    faulty(
        look(Look { of: Some(0), nursery: false, shown: true, ..Look::default() }),
        &["a task that no nursery collection looks at holds a private cell"],
    );
    look(Look { of: Some(0), nursery: true, shown: true, ..Look::default() }).unwrap();
}
