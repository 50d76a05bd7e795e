//! A peer that says what it likes of calls: messages that are nearly right, and any order of them. `KUMI_FRAMES` says how many messages.

use super::book::{Asked, Calls, Came, Kept, RUNNING, Runs};
use super::message::{Call, Carried, How, Message, Packed, Target};
use kumi_chance::Chance;
use kumi_chance::simulate::{number, seeds};
use kumi_remote::{Life, NodeId, Parcel, Ref};
use kumi_wire::{Bytes, Decoder};
use std::collections::BTreeMap;

fn frames() -> u64 {
    number("KUMI_FRAMES").unwrap_or(200_000)
}
/// So many runs of that many frames, by seeds; one that fails says its own.
fn runs(each: u64, run: impl Fn(&mut Chance) + std::panic::RefUnwindSafe) {
    for seed in seeds(frames().div_ceil(each)) {
        let ok = std::panic::catch_unwind(|| run(&mut Chance::new(seed)));
        assert!(ok.is_ok(), "KUMI_SEED={seed} shows it");
    }
}
/// Small, or at an edge.
fn any(c: &mut Chance) -> u64 {
    match c.below(8) {
        0 => c.next(),
        1 => u64::MAX - c.below(3),
        2 => 1 << c.below(64),
        _ => c.below(300),
    }
}
fn parcel(c: &mut Chance) -> Option<(Parcel, Vec<Ref>)> {
    let parcel = Parcel::read(&mut Decoder::new(&[1, 2, 3, 4, 9, 2, 0])).unwrap();
    let r = Ref { life: Life { node: NodeId(3), incarnation: 9 }, slot: 1, generation: 2, seal: 3 };
    c.percent(30).then(|| (parcel, vec![r; 1 + c.below(4) as usize]))
}
fn message(c: &mut Chance) -> Message {
    let r = Ref { life: Life { node: NodeId(any(c)), incarnation: any(c) }, slot: any(c) as u32, generation: any(c) as u32, seal: any(c) };
    let carried = Carried { parcel: parcel(c), value: Bytes::from(vec![c.next() as u8; c.below(20) as usize]) };
    match c.below(8) {
        0 => Message::Cancel(any(c)),
        1 => Message::InDoubt((0..c.below(20)).map(|_| any(c)).collect()),
        2 => Message::Never(any(c)),
        3 => Message::Over(any(c)),
        4 => Message::Answer(any(c), How::Value, carried),
        _ => Message::Call(
            any(c),
            Call {
                over: any(c),
                keywords: c.percent(50),
                block: c.percent(50),
                again: c.percent(50),
                left: c.percent(50).then(|| any(c)),
                target: [Target::Object(r), Target::Desk, Target::Block(any(c))][c.below(3) as usize],
                name: vec![b'x'; c.below(12) as usize].into(),
                arguments: carried,
            },
        ),
    }
}

#[test]
fn changed_messages_are_taken_whole_or_refused() {
    runs(10_000, |c| {
        for _ in 0..10_000 {
            let mut bytes = message(c).encode().to_vec();
            for _ in 0..c.below(4) {
                c.spoil(&mut bytes);
            }
            let bytes = Bytes::from(bytes);
            let Ok(m) = Message::decode(&bytes) else { continue };
            let held = match &m {
                Message::Call(_, call) => call.len() - size_of::<Call>(),
                Message::Answer(_, _, carried) => carried.len(),
                Message::InDoubt(numbers) => {
                    assert!(numbers.is_sorted_by(|a, b| a < b));
                    8 * numbers.len()
                }
                _ => 0,
            };
            assert!(held <= 8 * bytes.len(), "{held} for {bytes:?}");
            let again = m.encode();
            let Ok(twice) = Message::decode(&again) else { panic!("{bytes:?}") };
            assert_eq!(twice.encode(), again, "{bytes:?}");
        }
    });
}

#[test]
fn changed_references_of_segments_are_taken_whole_or_refused() {
    use kumi_remote::Error::*;
    let all = [NodeLost, OtherIncarnation, Collected, Forged, Moved, Quota, Revoked, Unknown];
    runs(10_000, |c| {
        for _ in 0..10_000 {
            let dead = (0..c.below(4)).map(|_| (c.below(1 << 16) as usize, all[c.below(8) as usize])).collect();
            let packed = Packed { dead, carried: Carried { parcel: parcel(c), value: Bytes::new() } };
            let mut bytes = packed.encode();
            assert!(Packed::decode(&bytes.clone().into()).is_ok_and(|p| p.dead == packed.dead));
            for _ in 0..c.below(4) {
                c.spoil(&mut bytes);
            }
            let bytes = Bytes::from(bytes);
            let Ok(p) = Packed::decode(&bytes) else { continue };
            let held = p.carried.len() + size_of_val(&p.dead[..]);
            assert!(held <= 16 * bytes.len(), "{held} for {bytes:?}");
            let again = p.encode();
            assert_eq!(Packed::decode(&again.clone().into()).map(|p| p.encode()).ok(), Some(again), "{bytes:?}");
        }
    });
}

/// A peer's calls, whatever it says of them, beside what is known of each.
#[test]
fn whatever_is_said_of_calls_each_is_done_once_and_no_more_is_kept_than_may_be() {
    let zeros = Bytes::from(vec![0; 8 << 20]);
    runs(2000, |c| {
        let mut runs = Runs::default();
        // What was begun and has not ended; how often each number was begun though nobody said that it may be done again.
        let (mut under_way, mut done): (Vec<u64>, BTreeMap<u64, u32>) = Default::default();
        let mut handed = 0;
        let over = |gone: Vec<Kept>, handed: &mut u64| *handed -= gone.iter().filter(|k| k.1.parcel.is_some()).count() as u64;
        let wide = c.percent(50);
        for i in 0..2000 {
            let n = if wide { any(c) } else { 1 + i / 10 + c.below(30) };
            match c.below(12) {
                0..=4 => match runs.came(n) {
                    Came::New => {
                        if runs.begins(n, n) {
                            under_way.push(n);
                            *done.entry(n).or_default() += 1;
                        }
                    }
                    Came::Perhaps(_) if c.percent(50) => {
                        if runs.again(n) && runs.begins(n, n) {
                            under_way.push(n);
                        }
                    }
                    Came::Answer(how, _) => assert_eq!(how, How::Value),
                    _ => {}
                },
                5..=7 if !under_way.is_empty() => {
                    let n = under_way.swap_remove(c.below(under_way.len() as u64) as usize);
                    let long = if c.percent(10) { c.below(8 << 20) } else { c.below(200) };
                    let carried = Carried { parcel: parcel(c), value: zeros.slice(..long as usize) };
                    let wanted = runs.ends(n, How::Value, &carried);
                    // One that is not wanted is given up by whoever asked; so is one whose caller has said that it is over.
                    handed += u64::from(wanted && carried.parcel.is_some() && runs.keeps(n));
                    over(runs.shed(), &mut handed);
                }
                8 => {
                    // Whoever has called it off does not say it again; if it does, that is its own affair.
                    done.remove(&n);
                    runs.call_off(n);
                }
                9 => drop(matches!(runs.asked(n), Some(Asked::Answer(How::Value, _)))),
                10 if c.percent(20) => over(runs.over(n), &mut handed),
                _ => drop((runs.is_called_off(n), runs.is_under_way(n))),
            }
            let (running, called_off, bytes) = runs.held();
            assert!(running <= RUNNING && called_off <= 1 << 12 && bytes <= 4 << 20, "{running} {called_off} {bytes}");
            assert!(running <= under_way.len() + 1, "{running}");
        }
        over(runs.over(u64::MAX), &mut handed);
        over(runs.shed(), &mut handed);
        assert!(done.values().all(|n| *n == 1), "{:?}", done.iter().find(|d| *d.1 > 1));
        assert!(handed <= u64::from(runs.keeps(u64::MAX)), "{handed} answers with references were forgotten");
    });
}

/// This node's calls of a peer that answers what it was not asked.
#[test]
fn calls_end_once_whatever_is_answered() {
    runs(2000, |c| {
        let mut calls: Calls<u64> = Calls::default();
        let mut open: BTreeMap<u64, u64> = BTreeMap::new();
        for i in 0..2000 {
            let n = if c.percent(70) { 1 + c.below(i + 1) } else { any(c) };
            match c.below(8) {
                0..=2 => {
                    let number = calls.begin(i, Bytes::from_static(b"\x02call"), c.percent(80));
                    open.insert(number, i);
                }
                3 => assert_eq!(calls.end(n).map(|o| o.who), open.remove(&n)),
                4 => assert!(!calls.never(n) || open.contains_key(&n)),
                5 => assert!(!calls.doubted(n) || open.contains_key(&n)),
                6 => {
                    let unsent = std::iter::from_fn(|| calls.next_unsent(0)).map(|u| u.0).collect::<Vec<_>>();
                    assert!(unsent.is_sorted() && unsent.iter().all(|n| open.contains_key(n)));
                    assert_eq!(calls.connected().len(), open.len());
                }
                _ => assert!(calls.says_over().is_none_or(|over| open.keys().all(|n| *n >= over))),
            }
            assert_eq!(calls.len(), open.len());
        }
    });
}
