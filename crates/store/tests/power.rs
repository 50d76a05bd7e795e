//! Power losses: what was written and not synced is there in part, torn or not at all, and what was answered is there whole.
//!
//! `KUMI_POWER_LOSSES` says how many there are; without it a short run.

mod common;

use common::book::*;
use common::*;
use kumi_segments::{Back, Call, Engine, Trouble};
use kumi_store::{Bug, Store, store};
use std::sync::Arc;
use std::sync::mpsc::channel;

enum Asked {
    Put(usize, u64),
    Take(usize),
    Lease,
}

/// Calls until the power fails. `Err`: a promise is broken.
fn drive(s: &Store, book: &mut Book, chance: &mut Chance) -> Result<(), String> {
    loop {
        let mut asked = Vec::new();
        for _ in 0..=chance.below(6) {
            let key = chance.below(3) as usize;
            let (what, call) = match chance.below(10) {
                0..5 => {
                    book.next += 1;
                    (Asked::Put(key, book.next), put(KEYS[key], text(book.next)))
                }
                5..7 => (Asked::Take(key % 2), take(KEYS[key % 2])),
                _ => (Asked::Lease, lease("in")),
            };
            let (to, from) = channel();
            let n = s.call(call, None, Box::new(move |r| drop(to.send(r))));
            asked.push((what, n, from));
        }
        let mut over = false;
        let mut leases = Vec::new();
        for (what, n, from) in asked {
            let r = from.recv().map_err(|_| "a call has no end")?;
            over |= r.is_err();
            match (what, r) {
                (Asked::Put(k, v), Ok(r)) => {
                    let index = stored(Ok(r));
                    book.keys[k].there.insert(v, index);
                    book.keys[k].last = book.keys[k].last.max(index);
                }
                (Asked::Put(k, v), Err(Trouble::Lost(_))) => drop(book.keys[k].perhaps.insert(v)),
                // Nothing was done.
                (Asked::Put(..), Err(_)) => {}
                (Asked::Take(k), Ok(r)) => {
                    s.used(n);
                    if let Some(v) = value(Ok(r)) {
                        let v = number(&v)?;
                        let key = &mut book.keys[k];
                        if key.there.remove(&v).is_none() && !key.perhaps.remove(&v) {
                            return Err(format!("{v} was taken twice"));
                        }
                        key.gone.insert(v);
                    }
                }
                (Asked::Take(k), Err(Trouble::Lost(_))) => book.keys[k].lost_takes += 1,
                (Asked::Lease, Ok(r)) => leases.extend(segment(Ok(r))),
                _ => {}
            }
        }
        for l in leases {
            let v = number(&String::from_utf8_lossy(&l.value))?;
            let known = book.deliveries.entry(v).or_default();
            if l.deliveries <= *known {
                return Err(format!("{v} was delivered {} times, and now {}", known, l.deliveries));
            }
            *known = l.deliveries;
            let outputs = vec![store("x", text(v)), store("y", text(v))];
            let lease = l.lease.unwrap();
            if chance.below(5) == 0 {
                over |= s.ask(Call::GiveBack { lease, left: Back::Same }).is_err();
                continue;
            }
            match s.ask(Call::Commit { leases: vec![lease], outputs }) {
                Ok(_) => {
                    let key = &mut book.keys[2];
                    key.there.remove(&v);
                    key.perhaps.remove(&v);
                    if !book.committed.insert(v) {
                        return Err(format!("{v} was committed twice"));
                    }
                }
                Err(e) => {
                    over = true;
                    if matches!(e, Trouble::Lost(_)) {
                        book.open.insert(v);
                    }
                }
            }
        }
        if over {
            return Ok(());
        }
    }
}

/// So many power losses of one machine; what went wrong.
fn machine(seed: u64, losses: usize, planted: Option<Bug>, lies: bool) -> Result<(), String> {
    let mut chance = Chance(seed);
    let mut book = Book::default();
    let mut disk = Memory::default();
    let mut fails = 0;
    // A file is made under another name: it is there whole.
    drop(Store::open_on(Arc::new(disk.clone()), "power.db"));
    while fails < losses {
        if lies {
            disk.lie(3);
        }
        // Now and then it fails while it opens.
        let long = if chance.below(4) == 0 { 40 } else { 400 };
        disk.fail_at(1 + chance.below(long));
        let opened = Store::open_planted(Arc::new(disk.clone()), "power.db", planted);
        if let Ok(s) = &opened {
            check(s, &mut book).or_else(|e| if e.contains("power") || e.contains("opened anew") { Ok(()) } else { Err(e) })?;
            drive(s, &mut book, &mut chance)?;
        }
        drop(opened);
        fails += 1;
        disk = disk.after_power_loss(&mut chance);
    }
    let s = Store::open_planted(Arc::new(disk.clone()), "power.db", planted).map_err(|e| format!("it does not open: {e}"))?;
    check(&s, &mut book)
}

fn losses() -> usize {
    std::env::var("KUMI_POWER_LOSSES").ok().and_then(|n| n.parse().ok()).unwrap_or(120)
}

#[test]
fn nothing_acknowledged_is_lost_with_the_power() {
    let each = 8;
    for seed in 0..(losses() / each) as u64 {
        if let Err(e) = machine(seed, each, None, false) {
            panic!("seed {seed}: {e}");
        }
    }
}

#[test]
fn planted_faults_are_found() {
    for (planted, lies) in [
        (Some(Bug::NoSync), false),
        (Some(Bug::AnswerFirst), false),
        (Some(Bug::LateTake), false),
        (Some(Bug::TwoSteps), false),
        (None, true),
    ] {
        let found = (1000..1060).find_map(|seed| machine(seed, 4, planted, lies).err());
        assert!(found.is_some(), "{planted:?} {lies} was not found");
        println!("{planted:?} {lies}: {}", found.unwrap());
    }
}
