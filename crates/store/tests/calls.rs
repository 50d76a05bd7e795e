//! What a store does while it is open, and what is there when it is opened again.

mod common;

use bytes::Bytes;
use common::*;
use kumi_segments::{Ask, Back, Call, Done, Engine, Failure, Kind, Put, Refusal, Trouble, What};
use kumi_store::{Disk, Store, store};
use std::sync::mpsc::channel;
use std::sync::{Arc, mpsc::Receiver};
use std::time::Duration;

fn open(disk: &Memory) -> Store {
    Store::open_on(Arc::new(disk.clone()), "test.db").unwrap()
}
fn begin(s: &Store, call: Call<Bytes>) -> (u64, Receiver<kumi_segments::Outcome<Bytes>>) {
    let (to, from) = channel();
    (s.call(call, None, Box::new(move |r| drop(to.send(r)))), from)
}
fn stats(s: &Store, key: &str) -> kumi_segments::KeyStats {
    let Ok(Done::Stats(st)) = s.ask(Call::Stats(key.into())) else { panic!() };
    st
}

#[test]
fn segments_outlive_the_store() {
    let disk = Memory::default();
    let s = open(&disk);
    assert_eq!(stored(s.ask(put("a", "1"))), 1);
    assert_eq!(stored(s.ask(put("a", "2"))), 2);
    assert_eq!(stored(s.ask(update("a", "1b"))), 3);
    assert_eq!(stored(s.ask(put("b", "x"))), 1);
    assert_eq!(value(s.ask(take("b"))), Some("x".into()));
    s.ask(Call::Limit(b"a".to_vec(), 2)).unwrap();
    drop(s);

    let s = open(&disk);
    assert_eq!(s.ask(Call::Names { prefix: vec![], after: None, most: 9 }), Ok(Done::Names(vec![b"a".to_vec()])));
    // Counters go on, also of a key without segments.
    assert_eq!(stats(&s, "b").last_index, 1);
    assert_eq!(s.ask(put("a", "3")), Err(Trouble::Failure(Failure::Refused(Refusal::Full))));
    assert_eq!(segment(s.ask(get("a", Kind::Take, Some(2), false, false))).unwrap().index, 3);
    assert_eq!(all(&s, "a"), ["2"]);
    let stale = s.ask(get("a", Kind::Take, Some(9), false, false));
    assert_eq!(stale, Err(Trouble::Failure(Failure::Refused(Refusal::Stale { last: 3 }))));
    assert_eq!(stored(s.ask(put("a", "4"))), 4);
}

#[test]
fn what_was_leased_comes_back_in_its_place_with_one_more_delivery() {
    let disk = Memory::default();
    let s = open(&disk);
    for v in ["1", "2", "3"] {
        s.ask(put("k", v)).unwrap();
    }
    let held = segment(s.ask(lease("k"))).unwrap();
    assert_eq!((held.deliveries, stats(&s, "k").leased), (1, 1));
    drop(s);

    let s = open(&disk);
    let again = segment(s.ask(lease("k"))).unwrap();
    assert_eq!((again.index, again.deliveries), (1, 2));
    // A commit is one step: the input ends, the outputs appear.
    let outputs = vec![store("done", "1!"), store("done", "1?")];
    s.ask(Call::Commit { leases: vec![again.lease.unwrap()], outputs }).unwrap();
    let over = s.ask(Call::Commit { leases: vec![again.lease.unwrap()], outputs: vec![store("done", "twice")] });
    assert_eq!(over, Err(Trouble::Failure(Failure::Refused(Refusal::LeaseOver))));
    // What comes back regains its place, as it was left.
    let two = segment(s.ask(lease("k"))).unwrap();
    s.ask(Call::GiveBack { lease: two.lease.unwrap(), left: Back::Changed("2 left".into()) }).unwrap();
    drop(s);

    let s = open(&disk);
    let two = segment(s.ask(take("k"))).unwrap();
    assert_eq!((&two.value[..], two.deliveries, two.changed), (&b"2 left"[..], 2, true));
    assert_eq!(all(&s, "k"), ["3"]);
    assert_eq!(all(&s, "done"), ["1!", "1?"]);
}

#[test]
fn an_answer_that_nobody_used_comes_back() {
    let disk = Memory::default();
    let s = open(&disk);
    let big = "x".repeat(5000);
    for v in ["1", &big, "3"] {
        s.ask(put("k", v.to_owned())).unwrap();
    }
    for expected in ["1", &big] {
        let (number, answer) = begin(&s, take("k"));
        assert_eq!(value(answer.recv().unwrap()), Some(expected.into()));
        s.leave(number);
        // It regains its place, and has not been delivered.
        let again = segment(s.ask(take("k"))).unwrap();
        assert_eq!((&again.value[..], again.deliveries), (expected.as_bytes(), 1));
    }
    let (number, answer) = begin(&s, lease("k"));
    answer.recv().unwrap().unwrap();
    s.leave(number);
    assert_eq!(stats(&s, "k").leased, 0);
    // One who waits and leaves takes nothing.
    let (number, answer) = begin(&s, get("w", Kind::Take, None, false, true));
    s.leave(number);
    assert_eq!(answer.recv().unwrap(), Err(Trouble::Failure(Failure::TimedOut)));
    s.ask(put("w", "there")).unwrap();
    drop(s);
    let s = open(&disk);
    assert_eq!((all(&s, "k"), all(&s, "w")), (vec!["3".into()], vec!["there".into()]));
}

#[test]
fn large_values_stay_on_disk() {
    let disk = Memory::default();
    let s = open(&disk);
    let of = |n: usize| format!("{n}-").repeat(700 + n);
    for n in 0..20 {
        s.ask(put("k", of(n))).unwrap();
    }
    s.ask(update("k", of(100))).unwrap();
    let watch = s.watch(b"k".to_vec(), 10, || {});
    assert_eq!(value(s.ask(peek("k"))), Some(of(100)));
    s.ask(update("k", of(101))).unwrap();
    let e = watch.next().unwrap();
    assert_eq!((e.what, e.value.as_deref()), (What::Update, Some(of(101).as_bytes())));
    s.ask(update("k", "small")).unwrap();
    s.ask(update("k", of(102))).unwrap();
    let held = segment(s.ask(lease("k"))).unwrap();
    assert_eq!(held.value, of(102));
    s.ask(Call::GiveBack { lease: held.lease.unwrap(), left: Back::Same }).unwrap();
    // Later ones get their place when they are due.
    let soon = kumi_segments::Store { delay: Some(30_000_000), ..store("later", of(7)) };
    s.ask(Call::Put(Put { store: soon, wait: false })).unwrap();
    drop(s);
    let s = open(&disk);
    assert_eq!(value(s.ask(get("later", Kind::Take, None, false, true))), Some(of(7)));
    let expected: Vec<String> = std::iter::once(102).chain(1..20).map(of).collect();
    assert_eq!(all(&s, "k"), expected);
}

#[test]
fn who_waits_is_answered_by_a_put_a_time_or_the_end() {
    let disk = Memory::default();
    let s = open(&disk);
    let (_, taker) = begin(&s, get("k", Kind::Take, None, false, true));
    let (_, both) = begin(
        &s,
        Call::Get(Ask { inputs: vec![(b"k".to_vec(), Kind::Take, None), (b"l".to_vec(), Kind::Peek, None)], lease: None, wait: true }),
    );
    s.ask(put("k", "1")).unwrap();
    assert_eq!(value(taker.recv().unwrap()), Some("1".into()));
    s.ask(put("k", "2")).unwrap();
    s.ask(put("l", "there")).unwrap();
    let Done::Segments(l) = both.recv().unwrap().unwrap() else { panic!() };
    assert_eq!((&l[0].value[..], &l[1].value[..]), (&b"2"[..], &b"there"[..]));
    // Time.
    let (to, from) = channel();
    s.call(get("none", Kind::Take, None, false, true), Some(5_000_000), Box::new(move |r| drop(to.send(r))));
    assert_eq!(from.recv().unwrap(), Err(Trouble::Failure(Failure::TimedOut)));
    // Room.
    s.ask(Call::Limit(b"full".to_vec(), 1)).unwrap();
    s.ask(put("full", "1")).unwrap();
    let (_, room) = begin(&s, Call::Put(Put { store: store("full", "2"), wait: true }));
    assert_eq!(value(s.ask(take("full"))), Some("1".into()));
    assert_eq!(stored(room.recv().unwrap()), 2);
    // The end.
    let (_, end) = begin(&s, get("none", Kind::Take, None, false, true));
    let (_, end_room) = begin(&s, Call::Put(Put { store: store("full", "3"), wait: true }));
    let watch = s.watch(b"none".to_vec(), 10, || {});
    s.close();
    for r in [end, end_room] {
        assert_eq!(r.recv().unwrap(), Err(Trouble::NotConnected("it was closed".into())));
    }
    assert_eq!(s.ask(put("k", "late")), Err(Trouble::NotConnected("it was closed".into())));
    assert!(watch.is_over());
    assert_eq!(all(&open(&disk), "full"), ["2"]);
}

#[test]
fn ends_and_beginnings_are_kept() {
    let disk = Memory::default();
    let s = open(&disk);
    let with = |key: &str, value: &str, delay: Option<u64>, ttl: Option<u64>| {
        Call::Put(Put { store: kumi_segments::Store { delay, ttl, ..store(key.to_owned(), value.to_owned()) }, wait: false })
    };
    s.ask(with("short", "1", None, Some(20_000_000))).unwrap();
    s.ask(with("long", "1", None, Some(3_600_000_000_000))).unwrap();
    s.ask(with("later", "1", Some(40_000_000), None)).unwrap();
    s.ask(with("never", "1", Some(3_600_000_000_000), Some(5))).unwrap();
    drop(s);
    std::thread::sleep(Duration::from_millis(25));
    let s = open(&disk);
    assert_eq!(value(s.ask(take("short"))), None);
    assert_eq!(value(s.ask(peek("long"))), Some("1".into()));
    assert_eq!(segment(s.ask(get("later", Kind::Take, None, false, true))).unwrap().index, 1);
    assert_eq!((stats(&s, "never").delayed, stats(&s, "never").segments), (1, 0));
}

#[test]
fn many_callers_share_a_write() {
    let disk = Memory::default();
    let s = Arc::new(open(&disk));
    let threads: Vec<_> = (0..16)
        .map(|t| {
            let s = s.clone();
            std::thread::spawn(move || (0..50).for_each(|i| drop(s.ask(put("k", format!("{t}.{i}"))).unwrap())))
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(stats(&s, "k").segments, 800);
    let st = s.stats();
    assert_eq!(st.calls, 801);
    assert!(st.groups <= 800 && st.syncs >= st.groups);
    drop(s);
    // Those of one caller stand in the order of its calls.
    let found = all(&open(&disk), "k");
    for t in 0..16 {
        let of: Vec<&String> = found.iter().filter(|v| v.starts_with(&format!("{t}."))).collect();
        assert_eq!(of, (0..50).map(|i| format!("{t}.{i}")).collect::<Vec<_>>().iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_watch_hears_what_is_in_the_file() {
    let disk = Memory::default();
    let s = open(&disk);
    let (to, rung) = channel();
    let watch = s.watch(b"k".to_vec(), 2, move || to.send(()).unwrap_or_default());
    s.ask(put("k", "1")).unwrap();
    rung.recv().unwrap();
    s.ask(put("k", "2")).unwrap();
    s.ask(take("k")).unwrap();
    let e = watch.next().unwrap();
    assert_eq!((e.what, e.index, e.missed), (What::Put, 2, 1));
    assert_eq!(watch.next().map(|e| e.what), Some(What::Taken));
    assert_eq!(watch.next().map(|e| e.what), None);
    watch.close();
    assert!(watch.is_over());
}

#[test]
fn a_full_disk_is_told_and_service_goes_on_when_there_is_room() {
    let disk = Memory::default();
    let s = open(&disk);
    s.ask(put("held", "h")).unwrap();
    let held = segment(s.ask(lease("held"))).unwrap();
    let (_, waits) = begin(&s, get("wanted", Kind::Take, None, false, true));
    disk.room(Some(disk.len().unwrap() as usize + 4096));
    let mut there = 0;
    let refused = loop {
        match s.ask(put("k", format!("{there}-").repeat(2000))) {
            Ok(_) => there += 1,
            Err(e) => break e,
        }
        assert!(there < 10_000);
    };
    assert!(matches!(&refused, Trouble::Store(why) if why.contains("full") || why.contains("space")), "{refused:?}");
    // What was acknowledged is there, and is read.
    assert_eq!(stats(&s, "k").segments, there);
    assert_eq!(value(s.ask(peek("k"))), Some("0-".repeat(2000)));
    assert!(matches!(s.ask(put("k", "no")), Err(Trouble::Store(_))));
    assert_eq!(s.ask(Call::GiveBack { lease: held.lease.unwrap(), left: Back::Same }), Ok(Done::Ok));
    disk.room(None);
    // A while after the last try it is tried again: the while is as long as that try took.
    let stored = (0..3000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(20));
        s.ask(put("k", "again")).ok()
    });
    assert!(stored.is_some());
    s.ask(put("wanted", "w")).unwrap();
    assert_eq!(value(waits.recv().unwrap()), Some("w".into()));
    assert_eq!(segment(s.ask(take("held"))).unwrap().deliveries, 2);
    drop(s);
    assert_eq!(stats(&open(&disk), "k").segments, there + 1);
}

#[test]
fn a_disk_that_fails_to_sync_ends_the_store() {
    let disk = Memory::default();
    let s = open(&disk);
    s.ask(put("k", "1")).unwrap();
    disk.fail_at(1);
    assert!(matches!(s.ask(put("k", "2")), Err(Trouble::Lost(_) | Trouble::Store(_))));
    let (_, waits) = begin(&s, get("none", Kind::Take, None, false, true));
    assert!(waits.recv_timeout(Duration::from_secs(20)).is_ok() || s.ask(put("k", "3")).is_err());
}
