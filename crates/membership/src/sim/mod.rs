//! Whole clusters under a seeded simulator.
//!
//! A seed makes a cluster of 3 to 32 nodes, a network and a list of faults. When the faults are over, the nodes must agree within a
//! bound, and a crash must be noticed. `KUMI_FUZZ_ROUNDS=10000 cargo test -p kumi-membership sim` runs more seeds;
//! `KUMI_TEST_SEED=17 KUMI_FUZZ_ROUNDS=1 cargo test -p kumi-membership agree -- --nocapture` runs one and says what happened.

mod hostile;
mod names;
mod world;

use crate::planted::{Bug, plant};
use crate::{Action, Config, Why};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use world::{End, MS, Network, SECOND, START, World};

/// By when all agree after the last fault, and by when a crash has been noticed everywhere.
const AGREE: u64 = 8 * SECOND;
const NOTICE: u64 = 4 * SECOND;

/// What came of a seed.
struct Outcome {
    trace: u64,
    packets: u64,
    agreed: u64,
    noticed: u64,
}

/// One of the nodes that take part.
fn pick(w: &mut World) -> usize {
    let live = w.live();
    live[w.below(live.len() as u64) as usize]
}

fn address(i: usize) -> String {
    format!("10.0.0.{i}:7000")
}

fn fault(w: &mut World, seeds: &[Arc<str>]) {
    let some = w.live().len() > 2;
    let i = pick(w);
    // The node by which the others join lives on.
    let some = some && i > 0;
    match w.below(9) {
        0 if some => w.crash(i),
        1 if some => w.leave(i),
        2 => {
            let by = 100 * MS + w.below(5_000 * MS);
            w.pause(i, by);
        }
        3 => {
            // The others see a part of the cluster only, and so does it.
            for n in 0..w.nodes.len() {
                let side = w.below(2) as u8;
                w.nodes[n].side = side;
                w.nodes[n].touched = true;
            }
        }
        4 => w.nodes.iter_mut().for_each(|n| n.side = 0),
        5 => {
            for _ in 0..8 {
                let by = w.below(7_200 * SECOND) as i64 - 3_600 * SECOND as i64;
                w.jump(i, by);
                let until = w.now + w.below(50 * MS);
                w.run(until, |_| false);
            }
        }
        6 if some => {
            // Killed and started again, at the same address or another, with a clock that may have gone back.
            w.crash(i);
            let (name, n) = (w.nodes[i].name.clone(), w.nodes.len());
            let at = if w.below(3) == 0 { address(100 + n) } else { w.nodes[i].address.to_string() };
            let clock = if w.below(3) == 0 { -(w.below(900 * SECOND) as i64) } else { 0 };
            let side = w.nodes[i].side;
            let new = w.start(&name, &at, clock, seeds);
            w.nodes[new].side = side;
            w.nodes[new].touched = true;
        }
        7 => {
            let other = pick(w);
            let name = w.nodes[other].name.clone();
            w.hint(i, &name);
        }
        8 if some => {
            let (name, n) = (w.nodes[i].name.clone(), w.nodes.len());
            let new = w.start(&name, &address(200 + n), 0, seeds);
            w.nodes[new].touched = true;
        }
        _ => {}
    }
}

/// What all were told, in order.
fn history(w: &World) -> String {
    let mut all: Vec<_> = w.nodes.iter().enumerate().flat_map(|(i, n)| n.told.iter().map(move |t| (t.0, i, &n.name, &t.1))).collect();
    all.sort_by_key(|a| (a.0, a.1));
    all.iter().map(|(t, i, name, a)| format!("{:>8.1} ms, process {i}, {name}: {a:?}\n", (t - START) as f64 / MS as f64)).collect()
}

/// A cluster's life.
fn life(seed: u64) -> Result<Outcome, String> {
    let mut w = World::new(seed, Network { loss: 0, repeats: 0, delay: MS }, Config::local());
    let outcome = live(&mut w);
    if number("KUMI_FUZZ_ROUNDS") == Some(1) {
        print!("{}", history(&w));
    }
    outcome
}

fn live(w: &mut World) -> Result<Outcome, String> {
    w.network.loss = [0, 0, 20, 50, 100, 200, 300][w.below(7) as usize];
    w.network.repeats = [0, 50, 200][w.below(3) as usize];
    w.network.delay = MS << w.below(5);
    let size = if w.below(10) == 0 { 3 + w.below(30) } else { 3 + w.below(6) } as usize;
    let seeds: Vec<Arc<str>> = [address(0).into(), address(1).into()].into();
    for i in 0..size {
        w.start(&format!("n{i:02}"), &address(i), 0, &seeds);
        let until = w.now + w.below(100 * MS);
        w.run(until, |_| false);
    }
    let calm = w.below(4) == 0;
    let until = w.now + 2 * SECOND;
    w.run(until, |_| false);
    if !calm {
        for _ in 0..2 + w.below(6) {
            fault(w, &seeds);
            let until = w.now + w.below(2 * SECOND);
            w.run(until, |_| false);
        }
        w.nodes.iter_mut().for_each(|n| n.side = 0);
    }
    // The longest pause may still be on.
    let resumed = w.live().iter().map(|i| w.nodes[*i].resumes()).max().unwrap_or(0).max(w.now);
    w.run(resumed, |_| false);
    w.network.loss = 0;
    let agreed = agree(w, AGREE)?;
    let victim = pick(w);
    w.crash(victim);
    let noticed = agree(w, NOTICE)?;
    steady(w)?;
    names_are_held_once(w)?;
    match w.faults.first() {
        Some(f) => Err(f.clone()),
        None => Ok(Outcome { trace: w.trace, packets: w.packets, agreed, noticed }),
    }
}

/// How long it takes until all agree.
fn agree(w: &mut World, bound: u64) -> Result<u64, String> {
    let (start, mut next) = (w.now, 0);
    let done = w.run(start + bound, |w| {
        if w.now < next {
            return false;
        }
        next = w.now + 10 * MS;
        w.agrees()
    });
    if done { Ok(w.now - start) } else { Err(format!("no agreement: {}", w.odd_one().unwrap_or_default())) }
}

/// Who agrees goes on agreeing while nothing happens, once suspicions of before are refuted.
fn steady(w: &mut World) -> Result<(), String> {
    w.run(w.now + SECOND, |_| false);
    let told: Vec<usize> = w.nodes.iter().map(|n| n.told.len()).collect();
    w.run(w.now + SECOND, |_| false);
    let changed = w.nodes.iter().zip(told).find_map(|(n, t)| n.told.get(t).map(|a| format!("{}: {:?}", n.name, a.1)));
    match (w.odd_one(), changed) {
        (Some(odd), _) => Err(format!("the agreement did not last: {odd}")),
        (_, Some(change)) => Err(format!("news in peace: {change}")),
        _ => Ok(()),
    }
}

/// Of the nodes of a name one at most takes part.
fn names_are_held_once(w: &World) -> Result<(), String> {
    let mut names: Vec<&str> = w.live().iter().map(|i| w.nodes[*i].name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|n| n[0] == n[1]) {
        Some(n) => Err(format!("two nodes are named {}", n[0])),
        None => Ok(()),
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|v| v.parse().unwrap_or_else(|_| panic!("{name} takes a number, not {v:?}")))
}

#[test]
fn clusters_agree_after_faults() {
    let first = number("KUMI_TEST_SEED").unwrap_or(0);
    let seeds = number("KUMI_FUZZ_ROUNDS").unwrap_or(300);
    let next = AtomicU64::new(0);
    let run = || {
        let (mut wrong, mut most, mut packets) = (Vec::new(), [0, 0], 0);
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= seeds {
                return (wrong, most, packets);
            }
            let seed = first + n;
            match life(seed) {
                Ok(o) => {
                    most = [most[0].max(o.agreed), most[1].max(o.noticed)];
                    packets += o.packets;
                }
                Err(e) => wrong.push(format!("seed {seed}: {e}")),
            }
        }
    };
    let (wrong, most, packets) = std::thread::scope(|s| {
        let other = s.spawn(run);
        let (mut wrong, most, packets) = run();
        let (w, m, p) = other.join().unwrap();
        wrong.extend(w);
        (wrong, [most[0].max(m[0]), most[1].max(m[1])], packets + p)
    });
    println!("{packets} packets; agreed after at most {} ms, noticed after at most {} ms", most[0] / MS, most[1] / MS);
    assert!(wrong.is_empty(), "{} of {seeds} seeds:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_thread_may_serve_it() {
    fn moves<T: Send>() {}
    moves::<crate::Membership>();
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in [3, 17, 40] {
        let (a, b) = (life(seed).map(|o| (o.trace, o.packets)), life(seed).map(|o| (o.trace, o.packets)));
        assert_eq!(a, b);
    }
    assert_ne!(life(3).map(|o| o.trace), life(4).map(|o| o.trace));
}

#[test]
fn planted_bugs_are_found() {
    for bug in [Bug::IncarnationIgnored, Bug::NeverRefuted, Bug::GossipLost, Bug::ClockTrusted, Bug::NamesUnguarded] {
        plant(bug);
        let found = (0..400).find_map(|seed| life(seed).err().map(|e| (seed, e)));
        plant(Bug::None);
        let (seed, e) = found.unwrap_or_else(|| panic!("{bug:?} was not found"));
        println!("{bug:?}: seed {seed}: {e}");
    }
}

/// A cluster of `n` that has come together.
fn cluster(n: usize, seed: u64, config: Config) -> World {
    let mut w = World::new(seed, Network { loss: 0, repeats: 0, delay: 2 * MS }, config);
    let seeds: Vec<Arc<str>> = [address(0).into()].into();
    for i in 0..n {
        w.start(&format!("n{i:02}"), &address(i), 0, &seeds);
    }
    agree(&mut w, 10 * SECOND).unwrap();
    w
}

/// When all others were told that the node of that name is down, and why.
fn downs(w: &World, name: &str) -> Vec<(u64, Why)> {
    let told = w.live().into_iter().filter_map(|i| {
        w.nodes[i].told.iter().find_map(|(at, a)| match a {
            Action::Down(m, why) if &**m.name() == name => Some((*at, *why)),
            _ => None,
        })
    });
    told.collect()
}

#[test]
fn a_crash_is_noticed_within_two_seconds_locally() {
    let mut all = Vec::new();
    for (seed, n) in (0..20).flat_map(|s| [(s, 3), (s, 8), (s, 32)]) {
        let mut w = cluster(n, seed, Config::local());
        let until = w.now + w.below(SECOND);
        w.run(until, |_| false);
        w.crash(1);
        let took = agree(&mut w, NOTICE).unwrap();
        assert!(downs(&w, "n01").iter().all(|d| d.1 == Why::Failed));
        assert!(took < 2_500 * MS, "{n} nodes, seed {seed}: {took}");
        all.push(took / MS);
    }
    all.sort_unstable();
    println!("median {} ms, most {} ms", all[all.len() / 2], all[all.len() - 1]);
}

#[test]
fn a_broken_connection_is_a_hint() {
    let mut w = cluster(5, 1, Config::local());
    w.hint(0, "n01");
    w.run(w.now + 2 * SECOND, |_| false);
    let mut told = w.nodes[0].told.iter().map(|t| &t.1).skip_while(|a| !matches!(a, Action::Suspect(_)));
    assert!(matches!(told.next(), Some(Action::Suspect(m)) if &**m.name() == "n01"));
    assert!(matches!(told.next(), Some(Action::Refuted(m)) if &**m.name() == "n01"), "it lives, and says so");
    assert!(w.agrees() && w.faults.is_empty(), "{:?}", w.faults);
    w.crash(1);
    w.hint(0, "n01");
    let took = agree(&mut w, NOTICE).unwrap();
    assert!(took < 500 * MS, "{took}");
}

#[test]
fn who_leaves_is_gone_at_once() {
    let mut w = cluster(12, 1, Config::local());
    w.leave(3);
    let took = agree(&mut w, NOTICE).unwrap();
    assert!(took < 50 * MS, "{took}");
    assert_eq!(downs(&w, "n03").iter().filter(|d| d.1 == Why::Left).count(), 11);
    assert_eq!(w.nodes[3].membership.next_deadline(), None);
}

#[test]
fn who_stood_still_comes_back_in_a_new_life() {
    let mut w = cluster(5, 1, Config::local());
    let before = w.nodes[2].membership.me().clone();
    w.pause(2, 4 * SECOND);
    w.run(w.now + 3_900 * MS, |_| false);
    assert_eq!(downs(&w, "n02").len(), 4);
    agree(&mut w, NOTICE).unwrap();
    let after = w.nodes[2].membership.me().clone();
    assert!(after.incarnation() > before.incarnation());
    assert!(w.nodes[2].told.iter().any(|t| t.1 == Action::Rejoined(after.clone())));
    assert!(!w.nodes[2].told.iter().any(|t| matches!(t.1, Action::Down(..))), "it blames nobody for its own pause");
}

#[test]
fn the_last_two_find_each_other_again() {
    let mut w = cluster(2, 1, Config::local());
    w.nodes[1].side = 1;
    w.nodes.iter_mut().for_each(|n| n.touched = true);
    w.run(w.now + 10 * SECOND, |_| false);
    assert!(w.nodes.iter().all(|n| !n.membership.has_joined()));
    w.nodes[1].side = 0;
    let took = agree(&mut w, 5 * SECOND).unwrap();
    assert!(took < 2 * SECOND, "{took}");
}

/// As nodes do that share a core with many others.
#[test]
fn who_stands_still_for_seconds_is_not_down_where_all_are_patient() {
    let mut w = cluster(5, 1, Config::local().patient(16));
    for i in 0..5 {
        w.pause(i, 4 * SECOND);
        w.run(w.now + 5 * SECOND, |_| false);
    }
    assert!(w.nodes.iter().all(|n| !n.told.iter().any(|t| matches!(t.1, Action::Down(..)))) && w.agrees());
    w.crash(4);
    assert!(agree(&mut w, 16 * NOTICE).unwrap() > 4 * SECOND);
}

#[test]
fn patience_on_a_network() {
    let mut w = cluster(16, 1, Config::lan());
    w.crash(5);
    let took = agree(&mut w, 15 * SECOND).unwrap();
    assert!((4 * SECOND..12 * SECOND).contains(&took), "{took}");
}

/// Nodes that have not ended, by name.
fn holders(w: &World, name: &str) -> Vec<usize> {
    w.live().into_iter().filter(|i| w.nodes[*i].name == name).collect()
}

fn ended(w: &World, i: usize) -> Option<&End> {
    w.nodes[i].end.as_ref()
}
