//! How fast a heap is marked: full markings of heaps of several shapes, best of several, by one thread and more.
//!
//! `cargo run --release -p kumi-heap --example mark_speed [MB] [threads...]`
//!
//! A time here is that of a whole collection call without the sweep, which is lazy.

use kumi_heap::{Heap, Marker, Value};

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

fn text(h: &mut Heap, n: usize) -> Value {
    h.str(Value::FALSE, &b"some text of a length that varies between one cell and a buffer of its own"[..n], 1).val()
}

/// Arrays of ten, of short strings, longer strings and small arrays.
fn strings_and_arrays(h: &mut Heap, bytes: usize) -> Value {
    let root = h.array(Value::FALSE, &[]).val();
    let mut r = Rng(7);
    let mut made = 0;
    while made < bytes {
        let es: Vec<Value> = (0..10)
            .map(|i| match i % 3 {
                0 => text(h, 8 + r.below(16)),
                1 => text(h, 30 + r.below(30)),
                _ => h.array(Value::FALSE, &[Value::fix(1), Value::fix(2)]).val(),
            })
            .collect();
        let a = h.array(Value::FALSE, &es).val();
        made += 10 * 48 + 10 * 40;
        root.as_array().into_iter().for_each(|x| h.edit(x).push(a));
    }
    root
}

/// Binary trees of pairs and small environments, made in random order so that neighbours lie apart.
fn trees(h: &mut Heap, bytes: usize) -> Value {
    let mut r = Rng(9);
    let mut pool: Vec<Value> = (0..10_000).map(Value::fix).collect();
    let mut made = 0;
    while made < bytes {
        let (i, j) = (r.below(pool.len()), r.below(pool.len()));
        let e = h.env(Value::NIL, 3);
        e.set(0, pool[i]);
        e.set(1, if i == j { Value::NIL } else { pool[j] });
        pool[i] = e.val();
        pool[j] = Value::fix(j as i64);
        made += 48;
    }
    h.array(Value::FALSE, &pool).val()
}

/// One list of pairs: no two cells of it can be marked at the same time.
fn list(h: &mut Heap, bytes: usize) -> Value {
    (0..bytes / 32).fold(Value::NIL, |l, i| h.pair(Value::FALSE, Value::fix(i as i64), l))
}

/// One array of short strings, every other a plain integer.
fn long_array(h: &mut Heap, bytes: usize) -> Value {
    let es: Vec<Value> = (0..bytes / 32).map(|i| if i % 2 == 0 { text(h, 12) } else { Value::fix(i as i64) }).collect();
    h.array(Value::FALSE, &es).val()
}

fn main() {
    let mut args = std::env::args().skip(1).filter_map(|a| a.parse::<usize>().ok());
    let mb = args.next().unwrap_or(200);
    let mut threads: Vec<usize> = args.collect();
    if threads.is_empty() {
        threads = vec![1, 2];
    }
    let shapes: [(&str, fn(&mut Heap, usize) -> Value); 4] =
        [("strings and arrays", strings_and_arrays), ("trees", trees), ("one list", list), ("one long array", long_array)];
    println!(
        "{:<20} {:>7} {:>8} {:>9} {:>9} {:>8} {:>12} {:>9}",
        "heap", "threads", "live MB", "Mcells", "ms", "ns/cell", "MB/s", "a thread"
    );
    for (name, make) in shapes {
        let mut h = Heap::new();
        let root = make(&mut h, mb << 20);
        for &n in &threads {
            h.shared().set_gc_threads(n);
            let mut best = u64::MAX;
            for _ in 0..7 {
                h.sweep_all();
                let t0 = std::time::Instant::now();
                h.collect(&mut |m: &mut Marker| m.mark(root));
                best = best.min(t0.elapsed().as_nanos() as u64);
            }
            let s = h.stat();
            let (ms, live) = (best as f64 / 1e6, s.live_bytes as f64 / 1e6);
            let rate = live / ms * 1e3;
            println!(
                "{name:<20} {n:>7} {live:>8.0} {:>9.2} {ms:>9.1} {:>8.1} {rate:>12.0} {:>9.0}",
                s.live_cells as f64 / 1e6,
                best as f64 / s.live_cells as f64,
                rate / n as f64
            );
        }
    }
}
