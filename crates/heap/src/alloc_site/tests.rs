//! When a site is decided on, tried again and recorded: a worker's table and the runtime's book together.

use super::policy::{ENOUGH_IN_TRIAL, FIRST_TRIAL};
use super::*;

fn key(at: u64) -> AllocSiteKey {
    AllocSiteKey { at, ..AllocSiteKey::default() }
}
fn policy(ratio: u64) -> AllocSitePolicy {
    AllocSitePolicy { ratio, ..AllocSitePolicy::default() }
}
/// `n` cells of a site, of which one in `fails` is published (0: none).
fn live(t: &mut AllocSiteTable, k: AllocSiteKey, n: u32, fails: u32) {
    for i in 0..n {
        let id = t.id(k);
        let f = if fails > 0 && i % fails == 0 { Fate::Published } else { Fate::Freed };
        t.fate(id, f, 48);
    }
}

#[test]
fn a_site_is_decided_after_128_known_fates_by_its_ratio() {
    let book = AllocSiteBook::new(policy(8));
    let mut t = AllocSiteTable::new(book.policy);
    live(&mut t, key(8), 127, 4);
    assert!(!t.is_due() && t.settle(&book).is_empty());
    live(&mut t, key(8), 1, 4);
    assert!(t.is_due());
    assert_eq!(t.settle(&book), [(key(8), Strategy::Out)]);
    live(&mut t, key(16), 128, 16);
    assert_eq!(t.settle(&book), []);
    assert_eq!(book.counts(), (1, 1));
    // A site of the nursery kind stays watched, and goes out when it changes.
    for _ in 0..4 {
        live(&mut t, key(16), 128, 1);
    }
    assert_eq!(t.settle(&book), [(key(16), Strategy::Out)]);
    assert_eq!(book.counts(), (0, 2));
    assert_eq!(book.sites_out(), [key(8), key(16)]);
}

#[test]
fn thresholds_from_a_quarter_to_a_sixteenth() {
    for (ratio, out) in [(4, false), (8, true), (16, true)] {
        let book = AllocSiteBook::new(policy(ratio));
        let mut t = AllocSiteTable::new(book.policy);
        live(&mut t, key(8), 128, 8);
        assert_eq!(t.settle(&book).len(), out as usize, "1/{ratio}");
    }
}

#[test]
fn a_site_that_went_out_is_tried_again_and_waits_longer_after_each_failure() {
    let book = AllocSiteBook::new(policy(8));
    let mut t = AllocSiteTable::new(book.policy);
    live(&mut t, key(8), 128, 1);
    assert_eq!(t.settle(&book).len(), 1);
    assert!(book.trials(&mut t).is_empty());
    book.tick(FIRST_TRIAL);
    assert_eq!(book.trials(&mut t), [key(8)]);
    assert_eq!(book.counts(), (0, 0));
    live(&mut t, key(8), ENOUGH_IN_TRIAL, 1);
    assert_eq!(t.settle(&book), [(key(8), Strategy::Out)]);
    book.tick(FIRST_TRIAL);
    assert!(book.trials(&mut t).is_empty());
    book.tick(FIRST_TRIAL);
    assert_eq!(book.trials(&mut t), [key(8)]);
    // This time it does well.
    live(&mut t, key(8), ENOUGH_IN_TRIAL, 0);
    assert!(t.settle(&book).is_empty());
    assert_eq!(book.counts(), (1, 0));
}

#[test]
fn workers_add_up_in_the_book() {
    let book = AllocSiteBook::new(policy(8));
    let (mut a, mut b) = (AllocSiteTable::new(book.policy), AllocSiteTable::new(book.policy));
    live(&mut a, key(8), 128, 2);
    live(&mut b, key(8), 128, 2);
    assert_eq!(a.settle(&book).len(), 1);
    assert_eq!(b.settle(&book), []);
    live(&mut b, key(16), 5, 1);
    b.flush(&book);
    let r = book.report();
    let of = |k: u64| r.iter().find(|s| s.key == key(k)).unwrap();
    assert_eq!((of(8).fates.all(), of(8).fates.failed(), of(8).strategy), (256, 128, Some(Strategy::Out)));
    assert_eq!((of(16).fates.all(), of(16).fates.bytes, of(16).strategy), (5, 240, None));
}

#[test]
fn nurseries_record_while_there_is_something_to_learn() {
    let mut t = AllocSiteTable::new(policy(8));
    let book = AllocSiteBook::new(policy(8));
    assert!(t.begin_nursery());
    live(&mut t, key(8), 100, 0);
    assert!(t.begin_nursery());
    live(&mut t, key(8), 100, 0);
    t.settle(&book);
    // Undecided at its birth, decided by now: once more.
    assert!(t.begin_nursery());
    live(&mut t, key(8), 100, 0);
    let records = (0..64).filter(|_| {
        let r = t.begin_nursery();
        if r {
            live(&mut t, key(8), 100, 0);
        }
        r
    });
    assert_eq!(records.count(), 1);
    let mut none = AllocSiteTable::new(AllocSitePolicy { mode: AllocSiteMode::Static, ..AllocSitePolicy::default() });
    assert!(!none.begin_nursery());
    none.set_profile(true);
    assert!(none.begin_nursery());
}

#[test]
fn callers_tell_sites_of_the_library_apart() {
    let mut t = AllocSiteTable::new(policy(8));
    let (a, b) = (AllocSiteKey { at: 8, caller: 80, of: 0 }, AllocSiteKey { at: 8, caller: 88, of: 0 });
    assert_ne!(t.id(a), t.id(b));
    assert_eq!(t.id(a), t.id(a));
    t.fate(0, Fate::Freed, 16);
    t.fate(99, Fate::Freed, 16);
}
