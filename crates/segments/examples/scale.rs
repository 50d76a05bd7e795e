//! What a call takes, in nanoseconds, beside few and many others. To be run with `--release`; it judges nothing.

use kumi_segments::{Asked, Back, Hold, Input, Kind, LeaseId, Manager, New};
use std::time::Instant;

type M = Manager<u64, u64>;

fn time(name: &str, n: u64, mut f: impl FnMut(u64)) {
    for i in 0..n / 10 {
        f(i);
    }
    let start = Instant::now();
    for i in 0..n {
        f(i);
    }
    println!("{name:<60} {:>9.1} ns", start.elapsed().as_nanos() as f64 / n as f64);
}

fn main() {
    let wake = &mut |_: &u64| {};
    let take = |key| Input { key, kind: Kind::Take, after: None };
    for waiters in [0u64, 10, 100_000] {
        let mut m = M::new(1);
        for i in 0..waiters {
            let key = m.key(format!("other{i}").as_bytes());
            let _ = m.get(0, &[take(key)], Hold::Never, Some(i), wake);
        }
        let k = m.key(b"k");
        time(&format!("put and take, {waiters} wait under other keys"), 1_000_000, |i| {
            let _ = m.put(i, k, New::shared(i), wake);
            let _ = m.get(i, &[take(k)], Hold::Never, None, wake);
        });
        time(&format!("take that waits, put, claim, {waiters} wait elsewhere"), 1_000_000, |i| {
            let Ok(Asked::Waits(id)) = m.get(i, &[take(k)], Hold::Never, Some(0), wake) else { panic!() };
            let _ = m.put(i, k, New::shared(i), wake);
            m.claim(id);
        });
        println!("  bytes for a waiter: {}", m.bytes() as u64 / waiters.max(1));
    }
    for standing in [10u64, 1000, 100_000] {
        let mut m = M::new(1);
        let k = m.key(b"k");
        for i in 0..standing {
            let _ = m.put(0, k, New::shared(i), wake);
        }
        time(&format!("put and take, {standing} stand there"), 300_000, |i| {
            let _ = m.put(i, k, New::shared(i), wake);
            let _ = m.get(i, &[take(k)], Hold::Never, None, wake);
        });
        time(&format!("peek, {standing} stand there"), 300_000, |i| {
            let _ = m.get(i, &[Input { kind: Kind::Peek, ..take(k) }], Hold::Never, None, wake);
        });
        let first = m.stats(k).last_index - standing;
        time(&format!("peek after the middle, {standing} stand there"), 300_000, |i| {
            let _ = m.get(i, &[Input { kind: Kind::Peek, after: Some(first + standing / 2), ..take(k) }], Hold::Never, None, wake);
        });
        time(&format!("take after the middle and back, {standing} stand there"), 3_000, |i| {
            let input = Input { after: Some(first + standing / 2), ..take(k) };
            let Ok(Asked::Here(a)) = m.get(i, &[input], Hold::Open, None, wake) else { panic!() };
            let _ = m.give_back(i, a[0].lease.unwrap(), Back::Same, wake);
        });
        time(&format!("take under a lease and commit, {standing} stand there"), 300_000, |i| {
            let _ = m.put(i, k, New::shared(i), wake);
            let Ok(Asked::Here(a)) = m.get(i, &[take(k)], Hold::For(1_000_000), None, wake) else { panic!() };
            let leases: Vec<LeaseId> = a.iter().filter_map(|a| a.lease).collect();
            let _ = m.commit(i, &leases, [], wake);
        });
    }
    for waiters in [10u64, 1000, 10_000] {
        let mut m = M::new(1);
        let k = m.key(b"k");
        for i in 0..10 {
            let _ = m.put(0, k, New::shared(i), wake);
        }
        let last = m.stats(k).last_index;
        for i in 0..waiters {
            let _ = m.get(0, &[Input { after: Some(last), ..take(k) }], Hold::Never, Some(i), wake);
        }
        time(&format!("put for one of {waiters} who look behind those that stand"), 3_000, |i| {
            let _ = m.put(0, k, New::shared(i), wake);
            let last = m.stats(k).last_index;
            let _ = m.get(0, &[Input { after: Some(last), ..take(k) }], Hold::Never, Some(i), wake);
        });
    }
}
