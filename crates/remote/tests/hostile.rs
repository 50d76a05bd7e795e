//! A peer that says what can't be, and one that says too much.

use kumi_chance::Chance;
use kumi_remote::{Action, Arrived, Error, Import, Item, Life, NodeId, Options, Parcel, Ref, Remote};
use kumi_wire::{Decoder, Encoder};

const MS: u64 = 1_000_000;

fn options() -> Options {
    Options { lease: 2000 * MS, exports: 100, imports: 100, parcels: 50, refs: 40, ..Options::default() }
}
fn life(n: u64) -> Life {
    Life { node: NodeId(n), incarnation: 1 }
}
/// So many nodes that know each other.
fn nodes(n: u64) -> (Vec<Remote>, u64) {
    meet((0..n).map(|_| options()).collect())
}
fn meet(options: Vec<Options>) -> (Vec<Remote>, u64) {
    let n = options.len() as u64;
    let mut all: Vec<Remote> = (0..n).zip(options).map(|(i, o)| Remote::new(life(i), o, [i + 1, 77])).collect();
    for (i, x) in all.iter_mut().enumerate() {
        (0..n).filter(|j| *j != i as u64).for_each(|j| x.up(0, life(j)).unwrap());
    }
    let now = pass(&mut all, 0, 1000, &mut |_| true);
    (all, now)
}
/// Time goes on; each packet may be looked at, changed, and held back.
fn pass(all: &mut [Remote], from: u64, ms: u64, on_way: &mut dyn FnMut(&mut Vec<u8>) -> bool) -> u64 {
    for t in 0..ms {
        let now = from + t * MS;
        for i in 0..all.len() {
            all[i].tick(now);
            let mut told = Vec::new();
            while let Some(action) = all[i].poll() {
                if let Action::Send { to, mut bytes } = action {
                    let me = all[i].me().node;
                    if on_way(&mut bytes) {
                        let _ = all[to.0 as usize].packet(now, me, &bytes);
                    }
                } else {
                    told.push(action);
                }
            }
        }
    }
    from + ms * MS
}
fn hand(all: &mut [Remote], now: u64, from: usize, to: usize, item: Item) -> (Import, u32, Ref) {
    let (parcel, refs) = all[from].send(now, NodeId(to as u64), &[item]).unwrap();
    match all[to].arrive(now, NodeId(from as u64), parcel, &refs).unwrap()[0] {
        Arrived::Import { import, version } => (import, version, refs[0]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn forged_foreign_and_dead_references_say_so() {
    let (mut all, now) = nodes(3);
    let (import, version, r) = hand(&mut all, now, 0, 1, Item::Own(42));
    assert_eq!(all[0].resolve(&r), Ok(42));
    for forged in [Ref { seal: r.seal ^ 1, ..r }, Ref { generation: 1, ..r }, Ref { slot: 9, ..r }] {
        assert_eq!(all[0].resolve(&forged), Err(Error::Forged));
    }
    assert_eq!(all[1].resolve(&r), Err(Error::Unknown));
    assert_eq!(all[0].resolve(&Ref { life: Life { incarnation: 2, ..r.life }, ..r }), Err(Error::OtherIncarnation));
    let now = pass(&mut all, now, 100, &mut |_| true);
    all[1].dropped(now, import, version);
    let now = pass(&mut all, now, 100, &mut |_| true);
    assert_eq!((all[0].resolve(&r), all[0].stats().exports), (Err(Error::Collected), 0));
    // The next object in its place is another's.
    let (_, _, next) = hand(&mut all, now, 0, 2, Item::Own(43));
    assert_eq!((next.slot, all[0].resolve(&r)), (r.slot, Err(Error::Collected)));
}

#[test]
fn what_b_hands_c_and_drops_at_once_stays() {
    let (mut all, now) = nodes(3);
    let (import, version, r) = hand(&mut all, now, 0, 1, Item::Own(42));
    let now = pass(&mut all, now, 50, &mut |_| true);
    let (parcel, refs) = all[1].send(now, NodeId(2), &[Item::Import(import)]).unwrap();
    all[1].dropped(now, import, version);
    // The message is on its way for long.
    let now = pass(&mut all, now, 1500, &mut |_| true);
    assert_eq!(all[0].holders(42), [life(1)]);
    all[2].arrive(now, NodeId(1), parcel, &refs).unwrap();
    pass(&mut all, now, 50, &mut |_| true);
    assert_eq!((all[0].holders(42), all[0].resolve(&r)), (vec![life(2)], Ok(42)));
    // The same message once more.
    assert_eq!(all[2].arrive(now, NodeId(1), parcel, &refs), Err(Error::Revoked));
}

#[test]
fn a_message_that_was_given_up_is_refused() {
    let (mut all, now) = nodes(2);
    let (parcel, refs) = all[0].send(now, NodeId(1), &[Item::Own(42)]).unwrap();
    all[0].done(now, NodeId(1), parcel);
    let now = pass(&mut all, now, 50, &mut |_| true);
    assert_eq!(all[0].stats().exports, 0);
    assert_eq!(all[1].arrive(now, NodeId(0), parcel, &refs), Err(Error::Revoked));
}

#[test]
fn quotas_hold_and_refusals_change_nothing() {
    let (mut all, now) = nodes(2);
    for i in 0..100 {
        hand(&mut all, now, 0, 1, Item::Own(i));
        pass(&mut all, now, 12, &mut |_| true);
    }
    assert_eq!(all[0].send(now, NodeId(1), &[Item::Own(100)]), Err(Error::Quota));
    assert_eq!(all[0].send(now, NodeId(1), &[Item::Own(1); 41]), Err(Error::Quota));
    assert_eq!(all[0].stats().exports, 100);
    // Messages that are not settled.
    for _ in 0..50 {
        all[0].send(now, NodeId(1), &[Item::Own(1)]).unwrap();
    }
    assert_eq!(all[0].send(now, NodeId(1), &[Item::Own(1)]), Err(Error::Quota));
    // A peer whose quotas are larger floods with references that it makes up.
    let mut big = Remote::new(Life { node: NodeId(0), incarnation: 2 }, Options { exports: 1 << 20, ..options() }, [9, 9]);
    big.up(now, life(1)).unwrap();
    let mut two = vec![big, all.pop().unwrap()];
    let mut now = pass(&mut two, now, 2000, &mut |_| true);
    let mut refused = 0;
    for i in 0..300 {
        let items: Vec<Item> = (0..10).map(|k| Item::Own(i * 10 + k)).collect();
        let Ok((parcel, refs)) = two[0].send(now, NodeId(1), &items) else { continue };
        refused += u64::from(two[1].arrive(now, NodeId(0), parcel, &refs) == Err(Error::Quota));
        now = pass(&mut two, now, 12, &mut |_| true);
    }
    assert!(refused > 200, "{refused}");
    assert!(two[1].stats().imports <= 200, "{:?}", two[1].stats());
}

/// Packets that are changed on their way: no panic, memory within bounds, and whatever the third node holds stays.
#[test]
fn changed_packets_free_nothing_of_others() {
    for seed in 0..40 {
        let mut c = Chance::new(seed);
        let (mut all, mut now) = nodes(3);
        let (_, _, r) = hand(&mut all, now, 0, 2, Item::Own(1));
        now = pass(&mut all, now, 50, &mut |_| true);
        for round in 0..30 {
            let item = Item::Own(c.below(20) + 2);
            if let Ok((parcel, refs)) = all[0].send(now, NodeId(1), &[item]) {
                let _ = all[1].arrive(now, NodeId(0), parcel, &refs).map(|got| {
                    if let (Arrived::Import { import, version }, true) = (got[0], c.percent(70)) {
                        all[1].dropped(now, import, version);
                    }
                });
            }
            if round == 10 {
                all[1].want_round(now);
            }
            // The node in the middle says what it likes to the first.
            for _ in 0..20 {
                now += MS;
                all.iter_mut().for_each(|x| x.tick(now));
                for i in 0..3 {
                    while let Some(action) = all[i].poll() {
                        let Action::Send { to, mut bytes } = action else { continue };
                        if (i, to.0) == (1, 0) {
                            for _ in 0..c.below(3) {
                                let at = c.below(bytes.len() as u64) as usize;
                                // Not the head: a peer may well end its session.
                                if at > 12 {
                                    bytes[at] = c.pick(&[0, 1, 2, 4, 8, 13, 0x7f, 0xff, bytes[at].wrapping_add(1)]);
                                }
                            }
                        }
                        let me = all[i].me().node;
                        let _ = all[to.0 as usize].packet(now, me, &bytes);
                    }
                }
            }
            assert_eq!(all[0].resolve(&r), Ok(1), "seed {seed}");
            let s = all[0].stats();
            assert!(s.exports <= 200 && s.imports <= 200 && s.waiting < 2000, "{s:?}");
        }
    }
}

#[test]
fn random_bytes_are_refused() {
    let (mut all, now) = nodes(2);
    let (_, _, r) = hand(&mut all, now, 0, 1, Item::Own(1));
    let mut c = Chance::new(1);
    for _ in 0..20_000 {
        let mut bytes: Vec<u8> = (0..c.below(60)).map(|_| c.next() as u8 & c.pick(&[0xff, 0x7f, 3])).collect();
        bytes.insert(0, kumi_remote::VERSION);
        let _ = all[0].packet(now, NodeId(c.below(3)), &bytes);
        while all[0].poll().is_some() {}
    }
    assert_eq!(all[0].resolve(&r), Ok(1));
}

#[test]
fn parcels_travel() {
    let (mut all, now) = nodes(2);
    let (parcel, _) = all[0].send(now, NodeId(1), &[Item::Own(1)]).unwrap();
    let mut bytes = Vec::new();
    parcel.write(&mut Encoder::new(&mut bytes));
    assert_eq!(Parcel::read(&mut Decoder::new(&bytes)), Ok(parcel));
    assert!((0..bytes.len()).all(|n| Parcel::read(&mut Decoder::new(&bytes[..n])).is_err()));
}

/// Where nobody asks: exports that hold each other on two nodes go by themselves, rounds being the policy's.
#[test]
fn a_cycle_is_found_by_the_policy() {
    let o = Options { round_every: 500 * MS, ..options() };
    let mut all: Vec<Remote> = (0..2).map(|i| Remote::new(life(i), o.clone(), [i + 1, 77])).collect();
    all[0].up(0, life(1)).unwrap();
    all[1].up(0, life(0)).unwrap();
    let mut now = pass(&mut all, 0, 1000, &mut |_| true);
    // Object 1 of each holds the proxy of the other's, and no root holds either.
    let held: Vec<Import> = vec![hand(&mut all, now, 1, 0, Item::Own(1)).0, hand(&mut all, now, 0, 1, Item::Own(1)).0];
    for _ in 0..40 {
        now = pass(&mut all, now, 50, &mut |_| true);
        for i in 0..2 {
            let marking = all[i].marking();
            let reached = marking.first.contains(&1).then_some(held[i]);
            all[i].collected(now, &marking, reached);
        }
    }
    assert_eq!([0, 1].map(|i| (all[i].stats().exports, all[i].stats().swept)), [(0, 1); 2]);
}

/// An owner is slow to say whether a reference is good; meanwhile others hand over more and more of its.
#[test]
fn references_that_wait_are_counted() {
    let (mut all, now) = meet(vec![options(), Options { exports: 1 << 20, ..options() }, options()]);
    let (import, ..) = hand(&mut all, now, 2, 1, Item::Own(1));
    let now = pass(&mut all, now, 50, &mut |_| true);
    let mut refused = 0;
    for _ in 0..50 {
        let Ok((parcel, refs)) = all[1].send(now, NodeId(0), &[Item::Import(import); 40]) else { continue };
        refused += u64::from(all[0].arrive(now, NodeId(1), parcel, &refs) == Err(Error::Quota));
    }
    assert!((1..=48).contains(&refused), "{refused}");
    // What was refused is known to be, and what waited is settled.
    let now = pass(&mut all, now, 100, &mut |_| true);
    assert_eq!([0, 1].map(|i| all[i].stats().parcels), [0; 2]);
    let (parcel, refs) = all[1].send(now, NodeId(0), &[Item::Import(import); 40]).unwrap();
    assert!(all[0].arrive(now, NodeId(1), parcel, &refs).is_ok());
}

/// Objects on their way are counted, however few they are.
#[test]
fn references_on_their_way_are_counted() {
    let (mut all, now) = nodes(2);
    let sent = (0..50).take_while(|_| all[0].send(now, NodeId(1), &[Item::Own(1); 40]).is_ok()).count();
    assert_eq!(sent, 2);
}
