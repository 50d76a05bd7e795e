//! What a client must not be able to do to others, nor an owner to its clients.

use crate::pair::{MS, Out, Pair, SECOND, put, take};
use kumi_chance::Chance;
use kumi_segments::{
    Ask, Back, Body, Call, Client, ClientOptions, Done, FromClient, FromOwner, Kind, Node, NodeOptions, Put, Refusal, Reply, Store,
};

/// Small, huge, or anything.
fn number(c: &mut Chance) -> u64 {
    match c.below(4) {
        0 => c.next(),
        1 => u64::MAX - c.below(3),
        2 => c.below(1000),
        _ => c.below(8),
    }
}
fn numbers(c: &mut Chance) -> Vec<u64> {
    let n = if c.below(50) == 0 { c.below(3000) } else { c.below(6) };
    (0..n).map(|_| number(c)).collect()
}
fn key(c: &mut Chance) -> Vec<u8> {
    match c.below(10) {
        0 => vec![7; c.below(3000) as usize],
        1 => c.next().to_le_bytes().to_vec(),
        _ => format!("k{}", c.below(5)).into_bytes(),
    }
}
fn any_store(c: &mut Chance) -> Store<u64> {
    let time = |c: &mut Chance| (c.below(3) == 0).then(|| number(c));
    Store { key: key(c), update: c.below(3) == 0, value: c.next(), owned: c.below(4) == 0, delay: time(c), ttl: time(c) }
}
fn any_call(c: &mut Chance) -> Call<u64> {
    match c.below(12) {
        0..=2 => Call::Put(Put { store: any_store(c), wait: c.below(2) == 0 }),
        3..=5 => {
            let inputs = (0..c.below(7))
                .map(|_| {
                    let kind = if c.below(2) == 0 { Kind::Take } else { Kind::Peek };
                    (key(c), kind, (c.below(3) == 0).then(|| number(c)))
                })
                .collect();
            Call::Get(Ask { inputs, lease: (c.below(2) == 0).then(|| number(c)), wait: c.below(3) > 0 })
        }
        6 => Call::Commit { leases: numbers(c), outputs: (0..c.below(6)).map(|_| any_store(c)).collect() },
        7 => Call::GiveBack { lease: number(c), left: Back::Same },
        8 => Call::Extend { leases: numbers(c), long: number(c) },
        9 => Call::Leave(number(c)),
        10 => Call::Limit(key(c), number(c)),
        _ if c.below(2) == 0 => Call::Names { prefix: key(c), after: Some(key(c)), most: c.next() as u32 },
        _ => Call::Stats(key(c)),
    }
}

#[test]
fn hostile_clients_disturb_nobody() {
    for seed in 0..40 {
        let mut c = Chance::new(seed);
        let options = NodeOptions { calls: 16, keys: 64, inputs: 4, outputs: 4, clients: 4, ..NodeOptions::default() };
        let mut node: Node<u64, u64> = Node::new(seed, 3, options);
        let mut client: Client<u64, u64> = Client::new(1, ClientOptions { calls: 16, ..ClientOptions::default() });
        let (mut out, mut now, mut most) = (Out::default(), SECOND, 0);
        let mut sessions = [0u64; 8];
        client.connected(now, &mut out);
        let mut token = 0;
        for round in 0..3000 {
            now += c.below(2 * MS);
            if c.below(500) == 0 {
                now += c.below(5 * SECOND);
            }
            let name = c.below(8);
            let mut answers: Vec<FromOwner<u64>> = Vec::new();
            let body = match c.below(8) {
                0 => Body::Sync { number: number(&mut c), upto: number(&mut c), outstanding: numbers(&mut c) },
                1 => Body::Receipts,
                _ => Body::Call(if c.below(2) == 0 { round } else { number(&mut c) }, any_call(&mut c)),
            };
            let incarnation = if c.below(100) == 0 { number(&mut c) } else { 5 };
            let m = FromClient {
                incarnation,
                owner: if c.below(20) == 0 { number(&mut c) } else { 3 },
                session: sessions[name as usize],
                got: numbers(&mut c),
                body,
            };
            node.receive(now, &[name as u8], m, |_| {}, &mut |_, m| answers.push(m));
            for m in answers {
                if let Reply::Welcome { session, .. } = m.body {
                    sessions[name as usize] = session;
                }
            }
            node.tick(now, |_| {}, &mut |_, _| {});
            most = most.max(node.bytes());
            assert!(node.open_calls() <= 32 * 4 && node.sessions() <= 4, "{}", node.open_calls());
            // An honest client among them, which has a key for itself.
            if round % 10 == 0 {
                client.tick(now, &mut out);
                let (a, b) = (token + 1, token + 2);
                token += 2;
                client.call(now, put(b"mine", a), a, None, &mut out);
                let name = client.call(now, take(b"mine", None), b, None, &mut out);
                for _ in 0..6 {
                    let mut answers: Vec<FromOwner<u64>> = Vec::new();
                    for m in std::mem::take(&mut out.sent) {
                        node.receive(now, b"honest", m, |_| {}, &mut |to, m| {
                            if to == b"honest" {
                                answers.push(m);
                            }
                        });
                    }
                    answers.into_iter().for_each(|m| client.receive(now, m, &mut out));
                }
                if client.owner() != 0 {
                    assert!(client.used(now, name, b, &mut out), "seed {seed}");
                    assert!(matches!(&out.ended[&b], Ok(Done::Segments(s)) if s[0].value == a), "seed {seed}: {:?}", out.ended[&b]);
                }
            }
        }
        assert!(most < 4 << 20, "seed {seed}: {most} bytes");
        // All of it ends by itself.
        node.with(|_: &u64| {}, |m, wake| m.tick(now, wake));
        now += 40 * SECOND;
        node.tick(now, |_| {}, &mut |_, _| {});
        assert_eq!((node.sessions(), node.open_calls(), node.manager().requests()), (0, 0, 0));
    }
}

#[test]
fn an_owner_that_makes_no_sense_ends_calls_all_the_same() {
    for seed in 0..200 {
        let mut c = Chance::new(seed);
        let repeat = (seed % 2 == 0).then_some(50 * MS);
        let mut client: Client<u64, u64> = Client::new(5, ClientOptions { calls: 64, repeat, ..ClientOptions::default() });
        let (mut out, mut now, mut names, mut made) = (Out::default(), SECOND, Vec::new(), 0);
        client.connected(now, &mut out);
        for _ in 0..400 {
            now += c.below(30 * MS);
            let sync = out.sent.iter().rev().find_map(|m| if let Body::Sync { number, .. } = m.body { Some(number) } else { None });
            out.sent.clear();
            made += 1;
            names.push(client.call(now, any_call(&mut c), made, (c.below(2) == 0).then(|| now + c.below(SECOND)), &mut out));
            let segment = |c: &mut Chance| kumi_segments::RemoteSegment {
                index: number(c),
                value: c.next(),
                owned: false,
                changed: false,
                deliveries: 1,
                lease: (c.below(2) == 0).then(|| number(c)),
            };
            let done = match c.below(8) {
                0 | 1 => Done::Segments((0..c.below(4)).map(|_| segment(&mut c)).collect()),
                2 => Done::Stored(Some(number(&mut c))),
                3 => Done::Left(None),
                4 => Done::Nothing,
                5 => Done::Names(Vec::new()),
                _ => Done::Ok,
            };
            let refusal = [Refusal::LeaseOver, Refusal::Quota, Refusal::Bad, Refusal::Full][c.below(4) as usize];
            let body = match c.below(12) {
                0 => Reply::Welcome { sync: c.below(2).checked_sub(1).and(sync).or(Some(number(&mut c))), session: number(&mut c) },
                1 => Reply::Welcome { sync, session: 1 + c.below(2) },
                2 => Reply::Welcome { sync: None, session: number(&mut c) },
                _ => Reply::Answer(c.below(made + 2), if c.below(4) == 0 { Err(refusal) } else { Ok(done) }),
            };
            let incarnation = 1 + c.below(2) * c.below(2);
            client.receive(
                now,
                FromOwner { incarnation, client: 5, sent: if c.below(5) == 0 { number(&mut c) } else { now }, body },
                &mut out,
            );
            client.tick(now, &mut out);
            if c.below(10) == 0 {
                let name = names[c.below(names.len() as u64) as usize];
                client.leave(now, name, &mut out);
            }
            assert!(client.open_calls() <= 64 + 200 && out.sent.len() < 2000, "seed {seed}: {}", client.open_calls());
        }
        client.gone(&mut out);
        assert_eq!((client.open_calls(), client.leases()), (0, 0));
    }
}

#[test]
fn numbers_that_were_never_used_take_no_room() {
    let mut p = Pair::new();
    let bytes = p.node.bytes();
    let of = |got, body| FromClient { incarnation: 7, owner: 1, session: 1, got, body };
    for n in 0..100 {
        p.to_owner(of((0..10_000).map(|i| n * 100_000 + i * 3).collect(), Body::Receipts));
    }
    assert!(p.node.bytes() <= bytes + 1000);
    for n in 0..300_000u64 {
        p.to_owner(of(Vec::new(), Body::Call(u64::MAX - n * 2, Call::Leave(n * 3))));
        p.back.clear();
    }
    assert!(p.node.bytes() < bytes + (32 << 20), "{}", p.node.bytes());
}
