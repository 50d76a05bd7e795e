//! What a collection keeps and frees, and what a heap that ends hands on.

use super::{Heap, HeapConfig, Rule};
use crate::{ArrayBuf, HashData, Value};

/// Young collections look at what came to an old Hash since the last one, wherever it was put.
#[test]
fn what_comes_to_an_old_hash_is_seen_by_the_next_young_collection() {
    type Change = fn(&mut HashData, Value);
    let changes: [(&str, Change); 9] = [
        ("push", |h, v| h.push(1000, Value::fix(1), v)),
        ("overwrite the first", |h, v| h.set_val(0, v)),
        ("overwrite one in the midst", |h, v| h.set_val(40, v)),
        ("overwrite, then push another", |h, v| {
            h.set_val(40, v);
            h.push(1000, Value::fix(1), Value::NIL);
        }),
        ("grow", |h, v| {
            h.reserve(1000);
            h.push(1000, Value::fix(1), v);
        }),
        ("grow after an overwrite", |h, v| {
            h.set_val(7, v);
            h.reserve(1000);
        }),
        ("close holes", |h, v| {
            for i in 0..5 {
                h.remove_at(i);
            }
            h.set_val(h.slots() - 1, v);
            h.reserve(1000);
        }),
        ("fill again", |h, v| {
            h.clear();
            h.push(1000, Value::fix(1), v);
        }),
        ("another's table", |h, v| {
            let mut other = h.clone();
            other.set_val(9, v);
            h.assign(other);
        }),
    ];
    for small in [false, true] {
        for (what, change) in changes {
            let mut h = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
            let mut t = HashData::default();
            (0..if small { 60 } else { 600 }).for_each(|i| t.push(i, Value::fix(i as i64), Value::NIL));
            let hash = h.hash(Value::FALSE, t);
            let kept = hash.val();
            let mut roots = |m: &mut crate::Marker| m.mark(kept);
            h.collect(&mut roots);
            for round in 0..3 {
                let v = h.array(Value::FALSE, &[Value::fix(7)]).val();
                h.before_store(kept, v);
                change(&mut h.edit(hash).h, v);
                Heap::collect_all(&mut [&mut h], &mut |full, m| {
                    assert!(!full);
                    roots(m);
                });
                assert!(crate::mark::is_marked(v), "{what}, round {round}");
                if round == 1 {
                    // A full one looks at all of it, and the next young one begins where that ended.
                    h.collect(&mut roots);
                    assert!(crate::mark::is_marked(v), "{what}, after a full collection");
                }
            }
        }
    }
}
#[test]
fn a_heap_that_ends_hands_on_each_block_once() {
    let mut h = Heap::configured(HeapConfig { rule: Rule::Closure, ..HeapConfig::default() });
    for i in 0..20_000 {
        h.array(Value::FALSE, &[Value::fix(i)]);
    }
    h.collect(&mut |_| ());
    h.array(Value::FALSE, &[]);
    assert!(h.lists.unswept.len() > 2, "empty blocks that nobody has swept yet");
    h.lists.pace = 2;
    // What lives in the nursery is charged as the heap ends, and pays by sweeping.
    h.budget = 0;
    let shared = h.shared.clone();
    drop(h);
    let mut all: Vec<_> = crate::shared::lock(&shared.spare).clone();
    assert!(!all.is_empty(), "something was swept");
    all.extend(crate::shared::lock(&shared.orphans).iter().flat_map(|o| o.blocks()));
    all.sort();
    assert!(all.windows(2).all(|w| w[0] != w[1]), "a block in two places");
}
/// What is reached only from what later stages show counts as dead until then, and as alive for all that is weak.
#[test]
fn stages_mark_one_after_the_other_and_what_is_weak_is_told_last() {
    struct Table(Value, std::sync::Arc<std::sync::Mutex<Option<bool>>>);
    impl crate::Payload for Table {
        fn weak(&mut self, alive: &dyn Fn(Value) -> bool) {
            *self.1.lock().unwrap() = Some(alive(self.0));
        }
        fn weakly(&self, m: &mut crate::Marker) {
            m.mark(self.0);
        }
    }
    for (threads, weakly) in [(1, false), (1, true), (4, false)] {
        let mut h = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
        h.shared().set_gc_threads(threads);
        let leaf = h.array(Value::FALSE, &[]).val();
        let own = h.array(Value::FALSE, &[]).val();
        let other = h.array(Value::FALSE, &[leaf]).val();
        let many: Vec<Value> = (0..30_000).map(|_| h.array(Value::FALSE, &[other]).val()).collect();
        let all = h.array(Value::FALSE, &many).val();
        let told = std::sync::Arc::default();
        let table = h.data(Value::FALSE, Table(leaf, std::sync::Arc::clone(&told)));
        h.add_weak(table);
        let shared = h.shared().clone();
        let mut stage = 0;
        Heap::collect_rows(&mut [&mut h], true, None, &mut |m| m.mark_all(&[own, table]), &mut |marked, m| {
            stage += 1;
            let seen = [own, leaf, other, all].map(marked);
            match stage {
                1 if weakly => {
                    assert_eq!(seen, [true, false, false, false]);
                    assert!(shared.show_weak(marked, m));
                }
                1 => m.mark(all),
                2 if weakly => {
                    assert_eq!(seen, [true, true, false, false]);
                    assert!(!shared.show_weak(marked, m));
                    m.mark(all);
                }
                _ => {
                    assert_eq!(seen, [true; 4]);
                    return false;
                }
            }
            true
        });
        assert_eq!((stage, *told.lock().unwrap()), (2 + usize::from(weakly), Some(true)));
        // A young collection has one stage, and none but the first may be all.
        Heap::collect_rows(&mut [&mut h], false, None, &mut |m| m.mark_all(&[own, table, all]), &mut |_, _| unreachable!());
        Heap::collect_rows(&mut [&mut h], true, None, &mut |m| m.mark_all(&[own, table]), &mut |_, _| false);
        assert_eq!((h.shared().stat().live_cells, *told.lock().unwrap()), (2, Some(false)));
    }
}
/// What is decided before the stop is done, and what is asked for between the two comes next.
#[test]
fn a_full_collection_that_is_asked_for_while_a_young_one_is_about_to_begin_comes_after_it() {
    let mut h = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
    let shared = h.shared().clone();
    h.request_gc();
    let mut collect = |asked: bool| {
        let full = shared.is_full_next();
        if asked {
            shared.request_full();
        }
        Heap::collect_rows(&mut [&mut h], full, None, &mut |_| (), &mut |_, _| false);
        (full, shared.wants_gc(), shared.is_full_next())
    };
    assert_eq!(collect(true), (false, true, true));
    // The one that begins serves whoever asks until then.
    assert_eq!(collect(true), (true, false, false));
    assert_eq!(collect(false), (false, false, false));
}
/// A worker that has nothing to do frees nothing: at the next collection another does.
#[test]
fn replaced_buffers_of_an_idle_worker_go_too() {
    for alone in [false, true] {
        let mut h = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
        let mut idle = h.sibling();
        idle.set_parallel(true);
        drop(ArrayBuf::from(vec![Value::NIL; 8000]));
        idle.set_parallel(false);
        h.set_parallel(!alone);
        Heap::collect_all(&mut [&mut idle, &mut h], &mut |_, _| ());
        assert_eq!((idle.retired.batches(), h.retired.batches()), (1, 0));
        Heap::collect_all(&mut [&mut idle, &mut h], &mut |_, _| ());
        assert_eq!((idle.retired.bytes(), idle.retired.batches(), h.retired.batches()), (0, 0, !alone as usize));
        h.sweep_all();
        assert_eq!((h.retired.bytes(), h.retired.batches()), (0, 0));
        h.set_parallel(false);
    }
}
/// Who reads while stops come may have found it before its worker went.
#[test]
fn replaced_buffers_of_a_worker_that_is_gone_stay_for_readers() {
    for absorbed in [false, true] {
        let mut h = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
        let mut other = h.sibling();
        let seen = h.shared.reader_begins();
        other.set_parallel(true);
        drop(ArrayBuf::from(vec![Value::NIL; 8]));
        other.set_parallel(false);
        if absorbed {
            h.absorb(&mut other);
            assert_eq!(other.retired.bytes(), 0);
        }
        drop(other);
        h.collect(&mut |_| ());
        h.sweep_all();
        assert!(h.retired.bytes() >= 64);
        h.shared.reader_ends(seen);
        h.collect(&mut |_| ());
        h.sweep_all();
        assert_eq!(h.retired.bytes(), 0);
    }
}
#[test]
fn keeps_what_roots_reach_and_reuses_the_rest() {
    let mut h = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
    let keep = h.array(Value::FALSE, &[]).val();
    for i in 0..10_000 {
        let s = h.str(Value::FALSE, format!("a string that is long enough {i}").as_bytes(), 1).val();
        if i % 10 == 0 {
            h.edit(keep.as_array().unwrap()).push(s);
        }
    }
    h.collect(&mut |m| m.mark(keep));
    assert_eq!(h.stat().live_cells, 1001);
    let mut n = 0;
    h.each_cell(|_| n += 1);
    assert_eq!(n, 1001);
    let before = h.stat().heap_bytes;
    for _ in 0..5_000 {
        h.array(Value::FALSE, &[]);
    }
    assert_eq!(h.stat().heap_bytes, before);
    let a = keep.as_array().unwrap();
    assert_eq!(a.get(1000 - 1).unwrap().as_str().unwrap().bytes(), b"a string that is long enough 9990");
}

#[test]
fn large_cells_and_cycles_die() {
    let mut h = Heap::new();
    let e = h.env(Value::NIL, 10_000);
    let e2 = e;
    e2.set(9_999, e.val());
    h.collect(&mut |m| m.mark(e.val()));
    assert_eq!(h.stat().live_cells, 1);
    h.collect(&mut |_| {});
    assert_eq!(h.stat().live_cells, 0);
}

#[test]
fn arrays_shift_without_moving_much() {
    let mut h = Heap::new();
    let a = h.array(Value::FALSE, &[]);
    for i in 0..1000 {
        h.edit(a).push(Value::fix(i));
    }
    for i in 0..900 {
        assert_eq!(crate::Held::new(a).shift(), Some(Value::fix(i)));
    }
    assert_eq!(a.len(), 100);
    assert_eq!(a.get(0).unwrap(), Value::fix(900));
}

/// Walks from `v`, telling all classes to be plain but `refused`.
fn shared(h: &mut Heap, v: Value, alone: bool, refused: Value) -> Result<(), super::share::Met> {
    use super::share::{Met, Sharing, Way};
    let mut walk = Sharing::new(v, alone);
    loop {
        match walk.run(h) {
            Met::End => break,
            Met::Breath => {}
            Met::Class(x) if x.header().is_some_and(|h| h.class() == refused) => walk.tell(x, Way::REFUSED),
            Met::Class(x) => walk.tell(x, Way::PLAIN),
            met => return Err(met),
        }
    }
    walk.finish(h);
    Ok(())
}
fn flags(v: Value) -> u8 {
    v.header().map_or(0, |h| h.flags.load(std::sync::atomic::Ordering::Relaxed))
}

#[test]
fn a_graph_is_shared_as_a_whole_or_not_at_all() {
    use super::share::Met;
    use crate::flag::*;
    let mut h = Heap::new();
    // Any values that differ do for classes here.
    let (class, bad) = (Value::fix(1), Value::fix(2));
    let text = h.str(class, b"text", 0).val();
    let inner = h.array(class, &[text, Value::fix(7), text]);
    let part = h.str(bad, b"bad", 0).val();
    let root = h.array(class, &[inner.val(), part, text]);
    h.edit(inner).push(root.val());
    let cells = [root.val(), inner.val(), text, part];
    let before = cells.map(flags);
    assert_eq!(shared(&mut h, root.val(), true, bad), Err(Met::Refused(part)));
    assert_eq!(cells.map(flags), before);
    h.edit(root).set(1, Value::NIL);
    // A walk that is given up changes nothing either.
    let mut walk = super::share::Sharing::new(root.val(), true);
    assert_eq!(walk.run(&mut h), Met::Class(root.val()));
    drop(walk);
    assert_eq!(cells.map(flags), before);
    assert_eq!(shared(&mut h, root.val(), false, bad), Ok(()));
    assert!(cells[..3].iter().all(|c| flags(*c) & (FROZEN | SHAREABLE | SHARED | OUT) == FROZEN | SHAREABLE | SHARED | OUT));
    assert_eq!(flags(part), before[3]);
    // What others reach is left alone where they run, and has to be looked at where it is frozen.
    let other = h.array(class, &[text]);
    h.publish(other.val());
    let outer = h.array(class, &[other.val()]).val();
    assert_eq!(shared(&mut h, outer, false, bad), Err(Met::Contended));
    other.hdr.set(FROZEN);
    assert_eq!(shared(&mut h, outer, false, bad), Err(Met::Frozen(other.val())));
    assert_eq!(flags(outer) & FROZEN, 0);
    assert_eq!(shared(&mut h, outer, true, bad), Ok(()));
}

#[test]
fn a_moved_cell_is_empty_and_its_buffer_another_s() {
    for rule in [Rule::Closure, Rule::Off, Rule::Paper] {
        for published in [false, true] {
            let mut h = Heap::configured(HeapConfig { rule, ..HeapConfig::default() });
            let gone = Value::FALSE;
            for n in [0, 2, 3, 4, 1000] {
                let held: Vec<Value> = (0..n).map(|_| h.str(Value::FALSE, b"x", 0).val()).collect();
                let a = h.array(Value::FALSE, &held).val();
                let s = h.str(Value::FALSE, &vec![b'x'; n], 3).val();
                let mut t = HashData::comparing(true);
                held.iter().enumerate().for_each(|(i, v)| t.push(i as u64, Value::fix(i as i64), *v));
                t.set_missing(crate::Missing::Value(Value::TRUE));
                let t = h.hash(Value::FALSE, t).val();
                if published {
                    [a, s, t].into_iter().for_each(|v| h.publish(v));
                }
                let [a2, s2, t2] = [a, s, t].map(|v| h.move_out(v, gone).unwrap());
                assert_eq!(a2.as_array().unwrap().seen().to_vec(), held);
                assert_eq!((s2.as_str().unwrap().bytes().len(), s2.as_str().unwrap().enc()), (n, 3));
                let d = t2.as_hash().unwrap();
                assert_eq!((d.h.len(), d.h.by_identity(), d.h.missing().either()), (n, true, Value::TRUE));
                assert_eq!(d.h.iter().map(|e| e.val).collect::<Vec<_>>(), held);
                assert!([a, s, t].iter().all(|v| v.frozen()) && ![a2, s2, t2].iter().any(|v| v.frozen()));
                assert_eq!((a.as_array().unwrap().len(), s.as_str().unwrap().bytes().len(), t.as_hash().unwrap().h.len()), (0, 0, 0));
                h.collect(&mut |m| [a2, s2, t2, a].into_iter().for_each(|v| m.mark(v)));
                assert_eq!(a2.as_array().unwrap().seen().to_vec(), held);
                let all = a2.as_array().unwrap();
                h.before_store(a2, s2);
                h.edit(all).push(s2);
                assert_eq!(all.len(), n + 1);
            }
        }
    }
}

/// The log of what was changed names cells of many blocks, in any order, and fills many pieces.
#[test]
fn a_large_graph_that_is_refused_is_as_it_was() {
    use super::share::{Met, Sharing, Way};
    let mut h = Heap::new();
    let (class, bad) = (Value::fix(1), Value::fix(2));
    let part = h.str(bad, b"bad", 0).val();
    let mut cells: Vec<Value> = (0..40_000).map(|i| h.array(class, &[Value::fix(i)]).val()).collect();
    for (i, c) in cells.iter().enumerate() {
        if i % 3 == 0 {
            c.header().unwrap().set(crate::flag::FROZEN);
        } else if i % 3 == 1 {
            h.publish(*c);
        }
    }
    let mut at = 1;
    for i in 0..cells.len() {
        at = at * 1_103_515_245 % 65_537;
        let j = at % cells.len();
        cells.swap(i, j);
    }
    // Few of them are looked at after the part, whichever end the walk begins at.
    let mut all = cells.clone();
    all.insert(20_000, part);
    let root = h.array(class, &all).val();
    let before: Vec<u8> = all.iter().map(|c| flags(*c)).collect();
    assert_eq!(shared(&mut h, root, true, bad), Err(Met::Refused(part)));
    assert!(all.iter().map(|c| flags(*c)).eq(before));
    let mut walk = Sharing::new(root, true);
    loop {
        match walk.run(&mut h) {
            Met::Class(x) => walk.tell(x, if x == part { Way::REFUSED } else { Way::PLAIN }),
            Met::Breath => {}
            met => break assert_eq!(met, Met::Refused(part)),
        }
    }
    let mut trail = walk.trail(part);
    while !trail.run(&mut h, 100) {}
    assert_eq!(trail.end(), (part, vec![(root, 20_000)]));
    let root = h.array(class, &cells).val();
    assert_eq!(shared(&mut h, root, true, bad), Ok(()));
    assert!(cells.iter().all(|c| flags(*c) & crate::flag::SHAREABLE != 0));
}

/// A large graph of cells that refer to each other in any way leaves as a whole, however large a part of it is walked at once, and nothing else does.
#[test]
fn a_large_graph_is_published_whole() {
    use crate::cells::trace::{Visitor, trace_cell};
    use std::collections::{HashMap, HashSet};
    struct All<'a>(&'a mut Vec<Value>);
    impl Visitor for All<'_> {
        fn visit(&mut self, v: Value) {
            if v.is_heap() {
                self.0.push(v);
            }
        }
    }
    let leave = crate::flag::OUT | crate::flag::SHARED;
    let mut x = 0x2545_f491_4f6c_dd1du64;
    let mut below = |n: usize| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x % n as u64) as usize
    };
    for (round, n) in [(0, 300), (1, 5_000), (2, 20_000), (3, 20_000), (4, 60_000)] {
        let mut h = Heap::new();
        let class = Value::FALSE;
        let mut cells: Vec<Value> = Vec::new();
        for i in 0..n {
            let mut some = |most: usize| -> Vec<Value> {
                if cells.is_empty() {
                    return Vec::new();
                }
                let all = &cells;
                (0..below(most))
                    .map(|_| {
                        if below(5) == 0 {
                            Value::fix(3)
                        } else {
                            all[all.len() - 1 - below(all.len().min(if round == 3 { 3 } else { n }))]
                        }
                    })
                    .collect()
            };
            let v = match i % 7 {
                0 => h.str(class, b"a short one", 0).val(),
                1 => h.str(class, &[b'x'; 200], 0).val(),
                2 => {
                    let mut t = HashData::default();
                    some(if i % 50 == 2 { 300 } else { 5 }).iter().enumerate().for_each(|(k, v)| t.push(k as u64, *v, *v));
                    h.hash(class, t).val()
                }
                3 => match some(3)[..] {
                    [a, b] => h.range(class, a, b, false),
                    _ => h.float(class, 1.5),
                },
                4 => {
                    let all = some(4);
                    let s = h.structure(class, all.len() as u16);
                    h.before_store_all(s.val(), &all);
                    s.put(all);
                    s.val()
                }
                5 => h.array(class, &some(if i % 700 == 5 { 10_000 } else { 20 })).val(),
                _ => h.array(class, &some(3)).val(),
            };
            cells.push(v);
        }
        // Some of them are everybody's already, and some have left the nursery.
        for _ in 0..n / 100 {
            h.publish(cells[below(n / 4)]);
        }
        let root =
            h.array(class, &(0..if round == 2 { n / 30 } else { n / 3 }).map(|_| cells[n / 2 + below(n / 2)]).collect::<Vec<_>>()).val();
        let before: HashMap<u64, u8> = cells.iter().map(|c| (c.bits(), flags(*c))).collect();
        let published = h.shared().stat().all.published_cells;
        h.publish(root);
        let (mut reached, mut grey) = (HashSet::from([root.bits()]), vec![root]);
        while let Some(v) = grey.pop() {
            let mut to = Vec::new();
            trace_cell(v, &mut All(&mut to));
            grey.extend(to.into_iter().filter(|v| reached.insert(v.bits())));
        }
        let mut left = 1;
        for c in &cells {
            let (was, is) = (before[&c.bits()], flags(*c));
            match reached.contains(&c.bits()) {
                true => assert_eq!(is & leave, leave, "round {round}: reached, and not published"),
                false => assert_eq!(is, was, "round {round}: published, and not reached"),
            }
            left += u64::from(is & !was & crate::flag::OUT != 0);
        }
        assert!(reached.len() > n / 20, "round {round}: {}", reached.len());
        assert_eq!(h.shared().stat().all.published_cells - published, left, "round {round}");
    }
}
