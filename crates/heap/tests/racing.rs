//! Several workers on the same cells: one changes them under their locks, others look
//! without. What is seen must always have been stored there, and nothing may crash.
//! Workers stop at a barrier for collections, as they do at safepoints.

use kumi_heap::{Gc, HashData, Heap, HeapConfig, Held, Layout, LockSet, Marker, Rule, Value, deferred};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::{Barrier, Mutex};

/// Small random numbers.
struct Rng(u64);

impl Rng {
    fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

/// A value in another thread's hands: the tests keep its cell alive.
#[derive(Clone, Copy)]
struct Shared(u64);

impl Shared {
    fn of(v: Value) -> Shared {
        Shared(v.bits())
    }
    fn get<T: Layout>(self) -> Gc<T> {
        Value::from_bits(self.0).cell().expect("kind")
    }
    fn val(self) -> Value {
        Value::from_bits(self.0)
    }
}

/// A fixnum that says by itself that it was stored by these tests.
fn token(n: usize) -> Value {
    Value::fix((n as i64) << 8 | 0x5a)
}
fn is_token(v: Value) -> bool {
    v.as_fix().is_some_and(|n| n & 0xff == 0x5a)
}

/// Runs `write` on one thread and `look` on two more, all in parallel mode, `rounds` times with a
/// collection between. `roots` are kept.
fn race(rounds: usize, roots: &[Shared], heap: &mut Heap, write: impl Fn(&mut Heap, usize) + Sync, look: impl Fn(usize) + Sync) {
    for round in 0..rounds {
        let done = AtomicBool::new(false);
        let start = Barrier::new(3);
        let mut others = [heap.sibling(), heap.sibling()];
        std::thread::scope(|s| {
            let (done, start, look) = (&done, &start, &look);
            let hands: Vec<_> = others
                .iter_mut()
                .map(|h| {
                    s.spawn(move || {
                        h.set_parallel(true);
                        start.wait();
                        while !done.load(Relaxed) {
                            look(round);
                        }
                        h.set_parallel(false);
                    })
                })
                .collect();
            heap.set_parallel(true);
            start.wait();
            write(heap, round);
            heap.set_parallel(false);
            done.store(true, Relaxed);
            for t in hands {
                t.join().expect("a reader saw what was never stored");
            }
        });
        let [a, b] = &mut others;
        heap.request_full();
        Heap::collect_all(&mut [heap, a, b], &mut |_, m: &mut Marker| roots.iter().for_each(|r| m.mark(r.val())));
    }
}

#[test]
fn readers_of_an_array_see_stored_elements() {
    let mut heap = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
    let a = Shared::of(heap.array(Value::FALSE, &[token(1), token(2)]).val());
    race(
        30,
        &[a],
        &mut heap,
        |_, round| {
            let mut r = Rng::new(round as u64 + 1);
            for n in 0..3_000 {
                a.val().lock();
                let mut a = Held::new(a.get());
                let len = a.len();
                let (i, k) = (r.below(len + 1), r.below(4));
                let some: Vec<Value> = (0..k).map(|j| token(n + j)).collect();
                match r.below(12) {
                    0 | 1 => a.vec().push(token(n)),
                    2 => drop(a.pop()),
                    3 => drop(a.shift()),
                    4 => a.unshift(&some),
                    5 => a.vec().splice(i, k.min(len - i), &some),
                    6 => a.vec().assign(&some),
                    7 => a.vec().extend_from_slice(&vec![token(n); k * 9]),
                    8 if len > 0 => assert!(a.set(i % len, token(n))),
                    9 => a.vec().retain(|v| v.fix_val() & 0x100 == 0),
                    10 => a.vec().shrink_to_fit(),
                    _ => a.vec().truncate(i),
                }
                a.val().unlock();
            }
        },
        |_| {
            let a = a.get::<kumi_heap::ArrayObj>();
            for v in a.seen() {
                assert!(is_token(v), "{v:?}");
            }
            let copy = a.seen().to_vec();
            assert!(copy.iter().all(|v| is_token(*v)));
        },
    );
}

/// Stores without the lock, each of a value of its own, beside whoever moves and removes elements. Whatever was stored is in
/// the array until it is overwritten or taken out, and nothing is there twice.
#[test]
fn stores_without_the_lock_are_made_once() {
    const LEN: usize = 40;
    let mut heap = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
    let first: Vec<Value> = (0..LEN).map(token).collect();
    let a = Shared::of(heap.array(Value::FALSE, &first).val());
    let mut others = [heap.sibling(), heap.sibling()];
    let (running, serial) = (AtomicUsize::new(2), AtomicUsize::new(LEN));
    let out = Mutex::new(Vec::new());
    std::thread::scope(|s| {
        for (t, h) in others.iter_mut().enumerate() {
            let (running, serial) = (&running, &serial);
            s.spawn(move || {
                h.set_parallel(true);
                let mut r = Rng::new(t as u64 + 31);
                for _ in 0..60_000 {
                    let v = token(serial.fetch_add(1, Relaxed));
                    // Here nobody else stores, so that what was stored stays until it is taken out.
                    let i = r.below(LEN / 2) * 2 + t;
                    match a.get::<kumi_heap::ArrayObj>().set_unlocked(i, v) {
                        Some(there) => assert!(there),
                        None => {}
                    }
                }
                h.set_parallel(false);
                running.fetch_sub(1, AcqRel);
            });
        }
        heap.set_parallel(true);
        let mut r = Rng::new(7);
        let mut new = 1 << 30;
        let mut taken = Vec::new();
        while running.load(Acquire) > 0 {
            a.val().lock();
            let mut x = Held::new(a.get());
            let before = x.seen().to_vec();
            match r.below(6) {
                0 => x.edit(|s| s.reverse()),
                1 => x.edit(|s| s.rotate_left(7)),
                2 => {
                    taken.extend(x.pop());
                    new += 1;
                    x.unshift(&[token(new)]);
                }
                3 => {
                    taken.extend(x.shift());
                    new += 1;
                    x.vec().push(token(new));
                }
                4 => {
                    taken.push(x.vec().remove(LEN / 3));
                    new += 1;
                    x.vec().insert(LEN / 2, token(new));
                }
                _ => x.vec().assign(&before),
            }
            // The holder's own view: nothing came or went but by its own hand.
            let mut now = x.seen().to_vec();
            assert_eq!(now.len(), LEN);
            now.retain(|v| !before.contains(v));
            assert!(now.len() <= 1, "a store between the look and the change");
            a.val().unlock();
        }
        taken.extend(a.get::<kumi_heap::ArrayObj>().seen());
        *out.lock().expect("out") = taken;
        heap.set_parallel(false);
    });
    let mut all: Vec<i64> = out.lock().expect("out").iter().map(|v| v.fix_val()).collect();
    let n = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), n, "a store was made twice");
    // Alone it meets no lock.
    heap.set_parallel(true);
    let x = a.get::<kumi_heap::ArrayObj>();
    assert_eq!([0, LEN - 1, LEN].map(|i| x.set_unlocked(i, token(i))), [Some(true), Some(true), Some(false)]);
    heap.set_parallel(false);
}

#[test]
fn readers_of_a_string_see_stored_bytes() {
    let mut heap = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
    let s = Shared::of(heap.str(Value::FALSE, b"aaa", 1).val());
    race(
        20,
        &[s],
        &mut heap,
        |_, round| {
            let mut r = Rng::new(round as u64 + 77);
            for _ in 0..3_000 {
                let s = s.get::<kumi_heap::StrObj>();
                s.val().lock();
                let n = s.bytes().len();
                let (i, k) = (r.below(n + 1), r.below(30));
                let more = vec![b'a' + r.below(26) as u8; k];
                match r.below(6) {
                    0 | 1 => locked(s).buf.extend_from_slice(&more),
                    2 => locked(s).buf.splice(i, k.min(n - i), &more),
                    3 => locked(s).buf.assign(&more),
                    4 => locked(s).buf.truncate(i),
                    _ => locked(s).buf.shrink_to_fit(),
                }
                s.set_range(1);
                s.val().unlock();
            }
        },
        |_| {
            let s = s.get::<kumi_heap::StrObj>();
            let state = s.state();
            assert!(s.bytes().iter().all(|b| b.is_ascii_lowercase()));
            s.cache_range(state, 1);
            assert!(s.range() < 2 && s.enc() <= 1);
        },
    );
}

/// A cell that the caller has locked, to be changed.
fn locked<T>(c: kumi_heap::Gc<T>) -> &'static mut T {
    // SAFETY: as the callers do; each uses the reference once.
    unsafe { c.alone() }
}

fn spread(k: usize) -> u64 {
    (k as u64 % 61).wrapping_mul(0x517c_c1b7_2722_0a95)
}

#[test]
fn readers_of_a_hash_see_stored_pairs_and_never_miss_what_stays() {
    let mut heap = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
    const STAY: usize = 40;
    let mut d = HashData::default();
    for k in 0..STAY {
        d.push(spread(k), token(k), token(k * 1000));
    }
    let h = Shared::of(heap.hash(Value::FALSE, d).val());
    let busy = AtomicUsize::new(0);
    race(
        25,
        &[h],
        &mut heap,
        |_, round| {
            let mut r = Rng::new(round as u64 + 5);
            for n in 0..3_000 {
                let h = h.get::<kumi_heap::HashObj>();
                h.val().lock();
                // Keys below STAY change their values only; the others come and go.
                let k = STAY + r.below(200);
                let at = h.h.find(spread(k), |x| x == token(k));
                match (at, r.below(9)) {
                    (Some(i), 0..=4) => assert_eq!(locked(h).h.remove_at(i).key, token(k)),
                    (Some(i), _) => locked(h).h.set_val(i, token(k * 1000 + n % 1000)),
                    (None, _) => locked(h).h.push(spread(k), token(k), token(k * 1000 + n % 1000)),
                }
                let k = r.below(STAY);
                let i = h.h.find(spread(k), |x| x == token(k)).expect("stays");
                locked(h).h.set_val(i, token(k * 1000 + n % 1000));
                match r.below(60) {
                    0 => locked(h).h.reserve(300),
                    1 => {
                        let es = h.h.iter().filter(|e| (e.key.fix_val() >> 8) < STAY as i64 + 30).collect();
                        locked(h).h.replace_entries(es);
                    }
                    2 => {
                        let c = h.h.clone();
                        locked(h).h.assign(c);
                    }
                    _ => {}
                }
                h.val().unlock();
            }
        },
        |round| {
            let h = h.get::<kumi_heap::HashObj>();
            let pair = |k: Value, v: Value| {
                assert!(is_token(k) && is_token(v), "{k:?} {v:?}");
                assert_eq!(k.fix_val() >> 8, (v.fix_val() >> 8) / 1000, "a value of another key");
            };
            let k = round % STAY;
            match h.h.find_racing(spread(k), |x| x == token(k)) {
                Ok(Some(e)) => pair(e.key, e.val),
                Ok(None) => panic!("key {k} was never removed"),
                Err(_) => drop(busy.fetch_add(1, Relaxed)),
            }
            assert!(!matches!(h.h.find_racing(spread(k), |x| x == token(9_999)), Ok(Some(_))));
            for e in h.h.iter() {
                pair(e.key, e.val);
            }
            if let Some(i) = h.h.next_live(3) {
                h.h.at(i).into_iter().for_each(|e| pair(e.key, e.val));
            }
            let c = h.h.clone();
            for e in c.iter() {
                pair(e.key, e.val);
                assert_eq!(c.find(e.hash, |x| x == e.key).and_then(|i| c.at(i)).map(|x| x.key), Some(e.key));
            }
            assert_eq!(c.iter().count(), c.len());
        },
    );
}

#[test]
fn lock_sets_keep_moves_between_arrays_whole() {
    let mut heap = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
    let arrays: Vec<Shared> = (0..5).map(|i| Shared::of(heap.array(Value::FALSE, &[token(i); 20]).val())).collect();
    let mut lists = [deferred::Deferred::default(), deferred::Deferred::default(), deferred::Deferred::default()];
    std::thread::scope(|s| {
        for (t, list) in lists.iter_mut().enumerate() {
            let arrays = &arrays;
            s.spawn(move || {
                // SAFETY: outlives the threads, and is this one's alone.
                unsafe { deferred::bind(Some(list)) };
                let mut r = Rng::new(t as u64 + 900);
                for _ in 0..20_000 {
                    let (x, y, z) = (arrays[r.below(5)], arrays[r.below(5)], arrays[r.below(5)]);
                    let set = LockSet::new(x.val(), &[y.val(), Value::NIL, z.val(), x.val(), token(1)]);
                    assert!(set.values().zip(set.values().skip(1)).all(|(a, b)| a.bits() < b.bits()));
                    assert!(!x.val().try_lock());
                    if let Some(v) = Held::new(x.get()).shift() {
                        locked(y.get::<kumi_heap::ArrayObj>()).push(v);
                    }
                    if let Some(v) = Held::new(y.get()).pop() {
                        Held::new(z.get()).unshift(&[v]);
                    }
                }
                // SAFETY: no binding is always sound.
                unsafe { deferred::bind(None) };
            });
        }
    });
    let mut left: Vec<i64> = arrays.iter().flat_map(|a| a.get::<kumi_heap::ArrayObj>().seen().to_vec()).map(|v| v.fix_val()).collect();
    left.sort_unstable();
    let all: Vec<i64> = (0..5).flat_map(|i| [token(i).fix_val(); 20]).collect();
    assert_eq!(left, all);
    assert!(arrays.iter().all(|a| a.val().try_lock()));
    arrays.iter().for_each(|a| a.val().unlock());
}

#[test]
fn worker_heaps_are_collected_together() {
    const WORKERS: usize = 3;
    let mut first = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
    let common = Shared::of(first.array(Value::FALSE, &[]).val());
    let mut heaps: Vec<Heap> = (0..WORKERS).map(|_| first.sibling()).collect();
    for round in 0..12usize {
        let ids = Mutex::new(Vec::new());
        std::thread::scope(|s| {
            for (w, h) in heaps.iter_mut().enumerate() {
                let ids = &ids;
                s.spawn(move || {
                    h.set_parallel(true);
                    for n in 0..400 {
                        let text = format!("round {round} worker {w} string number {n}");
                        let v = h.str(Value::FALSE, text.as_bytes(), 1).val();
                        if n % 4 == 0 {
                            common.val().lock();
                            locked(common.get::<kumi_heap::ArrayObj>()).push(v);
                            common.val().unlock();
                            h.set_side_ivar(v, kumi_heap::Sym(7), token(n));
                            ids.lock().expect("ids").push(h.object_id(v));
                        }
                        let seen = common.get::<kumi_heap::ArrayObj>();
                        if let Some(x) = seen.get(n) {
                            assert!(x.as_str().expect("string").bytes().starts_with(b"round "));
                        }
                        let shape = h.shapes.add(0, kumi_heap::Sym(n as u32 % 10));
                        assert_eq!(h.shapes.names(shape), [kumi_heap::Sym(n as u32 % 10)]);
                        assert_eq!((h.shapes.count(shape), h.shapes.slot(shape, kumi_heap::Sym(n as u32 % 10))), (1, Some(0)));
                    }
                    h.set_parallel(false);
                });
            }
        });
        let mut ids = ids.into_inner().expect("ids");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), WORKERS * 100, "ids are unique");
        let mut a = Held::new(common.get());
        if round % 5 == 4 {
            a.vec().clear();
        }
        // A worker goes now and then; its cells stay.
        if round % 3 == 1 {
            heaps.pop();
            heaps.push(first.sibling());
        }
        let mut all: Vec<&mut Heap> = std::iter::once(&mut first).chain(&mut heaps).collect();
        all[0].request_full();
        Heap::collect_all(&mut all, &mut |_, m| m.mark(common.val()));
        let kept = (round % 5 + 1) % 5 * WORKERS * 100;
        assert_eq!(all[0].stat().live_cells, 1 + kept, "round {round}");
        let mut n = 0;
        Heap::each_cell_all(&mut all, |_| n += 1);
        assert_eq!(n, 1 + kept);
        for v in a.seen() {
            assert!(v.as_str().expect("string").bytes().starts_with(b"round "));
            assert!(is_token(first.side_ivar(v, kumi_heap::Sym(7))));
        }
    }
    assert!(first.stat().allocated_cells > 0);
}
