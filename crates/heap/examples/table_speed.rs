//! Time of a million insertions into hash tables of several sizes, and of a million finds:
//! `cargo run --release -p kumi-heap --example table_speed`.

use kumi_heap::{HashData, Value};

fn key(i: u64) -> Value {
    Value::fix(i as i64)
}
fn hash(i: u64) -> u64 {
    i.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn main() {
    for n in [8u64, 1000, 1_000_000] {
        let t = std::time::Instant::now();
        let rounds = 4_000_000 / n;
        for _ in 0..rounds {
            let mut d = HashData::default();
            for i in 0..n {
                if d.find(hash(i), |k| k == key(i)).is_none() {
                    d.push(hash(i), key(i), key(i));
                }
            }
            assert_eq!(d.len() as u64, n);
        }
        let insert = t.elapsed() / 4;
        let mut d = HashData::default();
        for i in 0..n {
            d.push(hash(i), key(i), key(i));
        }
        let t = std::time::Instant::now();
        let mut sum = 0;
        for r in 0..rounds * n {
            let i = r.wrapping_mul(7919) % n;
            sum += d.find(hash(i), |k| k == key(i)).unwrap_or(0);
        }
        println!("{n} entries: insert {insert:?}, find {:?} a million ({sum})", t.elapsed() / 4);
    }
}
