//! Many readers of one document on several threads, with a pool that parses ahead and readers that leave.

mod common;
use common::*;

use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use kumi_flow::{Policy, Registry};

/// A small generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

fn pooled() -> Registry {
    Registry::new(Some(Arc::new(|job| {
        thread::spawn(job);
        true
    })))
}

fn settled(registry: &Registry) {
    let until = Instant::now() + Duration::from_secs(60);
    while registry.live() != kumi_flow::Live::default() && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
    nothing_left(registry);
}

#[test]
fn several_threads_read_one_list_at_their_own_pace() {
    for seed in 1..=12u64 {
        let registry = pooled();
        let policy = [Policy::Small, Policy::Paper, Policy::Adaptive][seed as usize % 3];
        let (source, mut peer) = socket();
        let document = open(&registry, source, rows_schema(), policy);
        let text = rows_document(3000);
        let writer = thread::spawn(move || {
            let mut random = Random(seed * 77);
            let mut rest = text.as_bytes();
            while !rest.is_empty() {
                let n = (1 + random.below(4000) as usize).min(rest.len());
                // A reader that left early has closed the connection.
                if peer.write_all(&rest[..n]).is_err() {
                    return;
                }
                rest = &rest[n..];
                if random.below(8) == 0 {
                    thread::sleep(Duration::from_micros(200));
                }
            }
        });
        let list = list_of(&document);
        let cut = seed % 2 == 0;
        let cursors: Vec<_> = (0..4).map(|_| list.cursor(cut).unwrap()).collect();
        drop((list, document));
        let readers: Vec<_> = cursors
            .into_iter()
            .enumerate()
            .map(|(i, mut cursor)| {
                thread::spawn(move || {
                    let mut random = Random(seed * 31 + i as u64 + 1);
                    let leave = if i == 0 { random.below(3000) as usize } else { usize::MAX };
                    let mut at = 0;
                    while at < leave {
                        let want = 1 + random.below(20) as usize;
                        let mut got = Vec::new();
                        let n = block(|| {
                            cursor.next_batch(want, |entry| {
                                got.push(show(entry));
                                true
                            })
                        })
                        .unwrap();
                        if n == 0 {
                            break;
                        }
                        assert_eq!(got, numbers("", at..at + n));
                        at += n;
                    }
                    assert!(at >= leave || at == 3000);
                })
            })
            .collect();
        for reader in readers {
            reader.join().unwrap();
        }
        writer.join().unwrap();
        settled(&registry);
    }
}

#[test]
fn threads_read_different_parts_and_leave_at_any_moment() {
    for seed in 1..=20u64 {
        let registry = pooled();
        let document = open(&registry, bytes(&info_document(2000)), info_schema(), Policy::Adaptive);
        let info = node_of(&document);
        drop(document);
        let threads: Vec<_> = (0..4u64)
            .map(|i| {
                let info = info.clone();
                thread::spawn(move || {
                    let mut random = Random(seed * 101 + i + 1);
                    let (slot, prefix) = if i % 2 == 0 { (2, "a") } else { (3, "b") };
                    let stop = random.below(2500) as usize;
                    let Ok(list) = info.list(slot) else { return };
                    let Ok(mut cursor) = list.cursor(random.below(2) == 0) else { return };
                    drop(list);
                    if random.below(3) == 0 {
                        assert_eq!(field(&info, 1).unwrap().as_deref(), Some("T"));
                    }
                    drop(info);
                    for at in 0..stop.min(2000) {
                        assert_eq!(next(&mut cursor).unwrap(), Some(format!("{prefix}{at}")));
                    }
                })
            })
            .collect();
        drop(info);
        for thread in threads {
            thread.join().unwrap();
        }
        settled(&registry);
    }
}

#[test]
fn fast_inputs_take_turns_and_all_of_them_finish() {
    let registry = registry();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let registry = registry.clone();
            thread::spawn(move || {
                let document = open(&registry, bytes(&rows_document(20_000)), rows_schema(), Policy::Paper);
                let mut cursor = list_of(&document).cursor(true).unwrap();
                drop(document);
                assert_eq!(all(&mut cursor).len(), 20_000);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    settled(&registry);
}

/// A turn that is offered and not taken up in time passes on, whoever has which document's lock just then.
#[test]
fn turns_that_run_out_stop_nobody() {
    let registry = Registry::with_clock(None, ticking(Duration::from_millis(7)));
    let (done, finished) = std::sync::mpsc::channel();
    for _ in 0..6 {
        let (registry, done) = (registry.clone(), done.clone());
        thread::spawn(move || {
            for _ in 0..20 {
                let document = open(&registry, bytes(&rows_document(400)), rows_schema(), Policy::Paper);
                let mut cursor = list_of(&document).cursor(true).unwrap();
                drop(document);
                let mut got = 0;
                loop {
                    match cursor.next_batch(50, |_| true).unwrap() {
                        kumi_flow::Poll::Ready(0) => break,
                        kumi_flow::Poll::Ready(n) => got += n,
                        _ => {}
                    }
                }
                assert_eq!(got, 400);
            }
            done.send(()).unwrap();
        });
    }
    for _ in 0..6 {
        finished.recv_timeout(Duration::from_secs(60)).expect("they wait for each other");
    }
    settled(&registry);
}

/// Reads as a runtime does: sleeps until a subscription calls, and never looks without a reason.
fn parked<T>(
    producer: &Arc<kumi_flow::Producer>,
    mut read: impl FnMut() -> Result<kumi_flow::Poll<T>, kumi_flow::ReadError>,
) -> Result<T, kumi_flow::ReadError> {
    loop {
        let ticket = match read()? {
            kumi_flow::Poll::Ready(value) => return Ok(value),
            kumi_flow::Poll::Wait(kumi_flow::Wait::Until(time), _) => {
                thread::sleep(time.saturating_duration_since(Instant::now()));
                continue;
            }
            kumi_flow::Poll::Wait(_, ticket) | kumi_flow::Poll::Busy(ticket) => ticket,
        };
        let (sender, receiver) = std::sync::mpsc::channel();
        if let Some(subscription) = producer.subscribe(ticket, Box::new(move || sender.send(()).unwrap_or_default())) {
            receiver.recv_timeout(Duration::from_secs(60)).expect("a wakening was lost");
            drop(subscription);
        }
    }
}

#[test]
fn no_wakening_is_lost() {
    for seed in 1..=16u64 {
        let registry = pooled();
        let policy = [Policy::Rows(3), Policy::Paper, Policy::Adaptive][seed as usize % 3];
        let document = open(&registry, pushed(), info_schema(), policy);
        let producer = document.producer.clone();
        let info = node_of(&document);
        drop(document);
        let readers: Vec<_> = (0..4)
            .map(|i| {
                let (slot, prefix) = if i % 2 == 0 { (2, "a") } else { (3, "b") };
                let mut cursor = info.list(slot).unwrap().cursor(i >= 2).unwrap();
                let producer = producer.clone();
                thread::spawn(move || {
                    let mut got = Vec::new();
                    while parked(&producer, || {
                        cursor.next_batch(5, |entry| {
                            got.push(show(entry));
                            true
                        })
                    })
                    .unwrap()
                        > 0
                    {}
                    assert_eq!(got, numbers(prefix, 0..700));
                })
            })
            .collect();
        let last = {
            let (info, producer) = (info.clone(), producer.clone());
            thread::spawn(move || assert_eq!(parked(&producer, || info.field(4, text)).unwrap().as_deref(), Some("E")))
        };
        drop(info);
        let document = info_document(700);
        let (mut random, mut rest) = (Random(seed), document.as_bytes());
        while !rest.is_empty() {
            let n = (1 + random.below(600) as usize).min(rest.len());
            producer.push(&rest[..n]);
            rest = &rest[n..];
            if random.below(4) == 0 {
                thread::sleep(Duration::from_micros(50));
            }
        }
        producer.end();
        for reader in readers {
            reader.join().unwrap();
        }
        last.join().unwrap();
        settled(&registry);
    }
}
