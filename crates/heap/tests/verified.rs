//! Random programs on the heaps of two workers, one step at a time, with nursery, young and full collections between;
//! the verifier looks after each collection.

use kumi_heap::{HashData, Heap, HeapConfig, Look, Marker, Moment, Rule, Sym, Value, verify};

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

/// What each worker's running thread holds, and what the runtime does.
struct World {
    heaps: Vec<Heap>,
    own: Vec<Vec<Value>>,
    table: Vec<Value>,
    r: Rng,
}

impl World {
    fn new(rule: Rule, stress: u64, seed: u64) -> World {
        let mut a = Heap::configured(HeapConfig { rule, nursery: 8 << 10, stress, ..HeapConfig::default() });
        let b = a.sibling();
        a.shared().set_gc_threads(1 + seed as usize % 3);
        let t = a.array(Value::FALSE, &[]).val();
        a.publish(t);
        World { heaps: vec![a, b], own: vec![Vec::new(), Vec::new()], table: vec![t], r: Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1) }
    }
    /// A value the worker can reach: a root, or a field of one.
    fn any(&mut self, w: usize) -> Value {
        let r = &mut self.r;
        let from = if r.below(4) == 0 { &self.table } else { &self.own[w] };
        let mut v = match from.get(r.below(from.len())) {
            Some(v) => *v,
            None => return Value::fix(r.below(100) as i64),
        };
        for _ in 0..r.below(4) {
            if let Some(a) = v.as_array() {
                v = a.get(r.below(a.len())).unwrap_or(v);
            } else if let Some(h) = v.as_hash() {
                v = h.h.iter().nth(r.below(h.h.len())).map_or(v, |e| e.val);
            } else if let Some(p) = v.as_range() {
                v = p.hi;
            }
        }
        v
    }
    fn make(&mut self, w: usize) -> Value {
        let n = if self.r.below(60) == 0 { self.r.below(600) } else { self.r.below(5) };
        let vs: Vec<Value> = (0..n).map(|_| self.any(w)).collect();
        let x = self.any(w);
        let h = &mut self.heaps[w];
        match self.r.below(7) {
            0 => h.str(Value::FALSE, &vec![b'x'; self.r.below(70)], 1).val(),
            1 => h.range(Value::FALSE, x, x, false),
            2 => {
                let e = h.env(x, n as u32);
                // A new cell is filled without a barrier, before the next safepoint.
                e.put(vs.iter().copied());
                e.val()
            }
            3 => {
                let mut t = HashData::default();
                vs.iter().enumerate().for_each(|(i, v)| t.push(i as u64, Value::fix(i as i64), *v));
                h.hash(Value::FALSE, t).val()
            }
            _ => h.array(Value::FALSE, &vs).val(),
        }
    }
    fn step(&mut self) {
        let w = self.r.below(2);
        match self.r.below(40) {
            0..=17 => {
                let v = self.make(w);
                self.own[w].push(v);
                if self.own[w].len() > 40 {
                    let i = self.r.below(40);
                    self.own[w].swap_remove(i);
                }
            }
            18..=27 => {
                let (a, v) = (self.any(w), self.any(w));
                if let Some(x) = a.as_array() {
                    self.heaps[w].before_store(a, v);
                    if x.len() < 50 {
                        self.heaps[w].edit(x).push(v);
                    } else {
                        self.heaps[w].edit(x).set(7, v);
                    }
                } else if let Some(x) = a.as_hash() {
                    let r = &mut self.r;
                    // Positions that a collection has seen change too, and tables take each other's place.
                    match r.below(8) {
                        0..=3 => {
                            self.heaps[w].before_store(a, v);
                            self.heaps[w].edit(x).h.push(r.below(1 << 20) as u64, Value::fix(5), v);
                        }
                        4 | 5 => {
                            self.heaps[w].before_store(a, v);
                            let at = r.below(x.h.slots());
                            self.heaps[w].edit(x).h.set_val(at, v);
                        }
                        6 => {
                            let at = r.below(x.h.slots());
                            self.heaps[w].edit(x).h.remove_at(at);
                        }
                        _ => {
                            let mut other = x.h.clone();
                            other.reserve(r.below(100));
                            self.heaps[w].before_store(a, v);
                            other.push(r.below(1 << 20) as u64, Value::fix(6), v);
                            self.heaps[w].edit(x).h.assign(other);
                        }
                    }
                }
            }
            28 => {
                let v = self.any(w);
                self.heaps[w].publish(v);
                self.table.push(v);
                if self.table.len() > 30 {
                    self.table.remove(1);
                }
            }
            29 => {
                let (v, x) = (self.any(w), self.any(w));
                self.heaps[w].set_side_ivar(v, Sym(self.r.below(4) as u32), x);
            }
            30 => {
                let v = self.any(w);
                if v.is_heap() {
                    self.heaps[w].object_id(v);
                }
            }
            31..=34 => {
                let own = &self.own[w];
                self.heaps[w].collect_nursery(|m| m.mark_all(own));
                self.check(Moment::BeforeYoung);
            }
            35 => {
                // The thread parks; the next one begins with nothing, or another worker takes it up.
                let own = std::mem::take(&mut self.own[w]);
                self.heaps[w].publish_roots(|m| m.mark_all(&own));
                if self.r.below(2) == 0 {
                    self.own[1 - w].extend(own);
                }
            }
            36 => {
                let own = &self.own[w];
                self.heaps[w].retire_roots(|m| m.mark_all(own));
            }
            37 => {
                self.check(Moment::BeforeYoung);
                let full = self.r.below(3) == 0;
                let shared = self.heaps[0].shared().clone();
                match full {
                    true if shared.is_interruptible() && self.r.below(4) > 0 => shared.request_cycle(),
                    true => shared.request_full(),
                    false => self.heaps[0].request_gc(),
                }
                let (a, b) = self.heaps.split_at_mut(1);
                let roots = (&self.table, &self.own);
                let show = |m: &mut Marker| {
                    m.mark_all(roots.0);
                    roots.1.iter().for_each(|o| m.mark_all(o));
                };
                let mut heaps = [&mut a[0], &mut b[0]];
                let over = if shared.next_is_slice() {
                    Heap::collect_slice(&mut heaps, &mut |m, _| {
                        show(m);
                        true
                    })
                } else {
                    Heap::collect_all(&mut heaps, &mut |_, m| show(m));
                    true
                };
                self.check(if over { Moment::Marked } else { Moment::BeforeYoung });
            }
            _ => self.own[w].truncate(5),
        }
    }
    fn check(&mut self, moment: Moment) {
        let (a, b) = self.heaps.split_at_mut(1);
        let (table, own) = (&self.table, &self.own);
        let r =
            verify(&mut [&mut a[0], &mut b[0]], &mut |m| m.mark_all(table), &mut |i, m| m.mark_all(&own[i]), moment, &|_| Look::default());
        if let Err(e) = r {
            panic!("{moment:?}: {e}");
        }
    }
}

fn run(rule: Rule, stress: bool) {
    for seed in 1..=24u64 {
        let mut w = World::new(rule, if stress { seed } else { 0 }, seed);
        if seed > 12 {
            // Full collections go in slices of few cells.
            w.heaps[0].shared().set_interruptible(true);
            w.heaps[0].shared().stress_slices(seed);
        }
        for _ in 0..4000 {
            w.step();
        }
    }
}

#[test]
fn the_closure_rule_keeps_the_heap_sound() {
    run(Rule::Closure, false);
}
#[test]
fn the_closure_rule_does_so_under_stress() {
    run(Rule::Closure, true);
}
#[test]
fn the_papers_rule_keeps_the_heap_sound() {
    run(Rule::Paper, false);
}
#[test]
fn the_papers_rule_does_so_under_stress() {
    run(Rule::Paper, true);
}
#[test]
fn a_heap_without_nurseries_is_sound() {
    run(Rule::Off, false);
}
