//! A node and its clients, message by message: what the simulator meets only now and then, and what a client must not be able to
//! do to others.

use kumi_segments::{
    Act, Ask, Asked, Body, Call, Client, ClientOptions, Done, Failure, FromClient, FromOwner, Hold, Input, Kind, Node, NodeOptions, Outbox,
    Put, Refusal, Reply, Rule, Rules, Store, Waiter, Watch, What,
};
#[cfg(debug_assertions)]
use kumi_segments::{Bug, plant};
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

type Result = std::result::Result<Done<u64>, Failure>;

#[derive(Default)]
struct Out {
    sent: Vec<FromClient<u64>>,
    ended: BTreeMap<u64, Result>,
}

impl Outbox<u64, u64> for Out {
    fn send(&mut self, m: FromClient<u64>) {
        self.sent.push(m);
    }
    fn ended(&mut self, token: u64, result: Result) {
        assert!(self.ended.insert(token, result).is_none(), "call {token} ends twice");
    }
}

/// An owner and a client. Messages are carried by hand.
struct Pair {
    now: u64,
    /// The client's clock runs so many parts in a million faster.
    drift: u64,
    node: Node<u64, u64>,
    client: Client<u64, u64>,
    out: Out,
    /// Answers on their way.
    back: Vec<FromOwner<u64>>,
    woken: Vec<u64>,
    tokens: u64,
    /// Calls by their tokens.
    names: BTreeMap<u64, u64>,
    /// Askers use what they are given at once.
    uses: bool,
}

impl Pair {
    fn new() -> Pair {
        Pair::of(ClientOptions::default(), 1)
    }
    fn of(options: ClientOptions, incarnation: u64) -> Pair {
        let (node, client) = (Node::new(1, incarnation, NodeOptions::default()), Client::new(7, options));
        let mut p = Pair {
            now: SECOND,
            drift: 0,
            node,
            client,
            out: Out::default(),
            back: Vec::new(),
            woken: Vec::new(),
            tokens: 0,
            names: BTreeMap::new(),
            uses: true,
        };
        p.connect();
        p
    }
    fn connect(&mut self) {
        let now = self.local();
        self.client.connected(now, &mut self.out);
        self.carry();
    }
    fn local(&self) -> u64 {
        self.now + self.now / 1_000_000 * self.drift
    }
    /// Messages to the owner arrive.
    fn there(&mut self) {
        for m in std::mem::take(&mut self.out.sent) {
            self.to_owner(m);
        }
    }
    fn to_owner(&mut self, m: FromClient<u64>) {
        self.node.receive(self.now, b"client", m, |w| self.woken.push(*w), &mut |_, m| self.back.push(m));
    }
    /// Its answers arrive.
    fn here(&mut self) {
        for m in std::mem::take(&mut self.back) {
            self.to_client(m);
        }
    }
    fn to_client(&mut self, m: FromOwner<u64>) {
        let now = self.local();
        self.client.receive(now, m, &mut self.out);
        let segments = |t: &u64| matches!(self.out.ended.get(t), Some(Ok(Done::Segments(_))));
        let given: Vec<(u64, u64)> = self.names.iter().filter(|(t, _)| self.uses && segments(t)).map(|(t, n)| (*t, *n)).collect();
        for (token, name) in given {
            self.names.remove(&token);
            assert!(self.client.used(now, name, token, &mut self.out));
        }
    }
    fn carry(&mut self) {
        while !self.out.sent.is_empty() || !self.back.is_empty() {
            self.there();
            self.here();
        }
    }
    fn tick(&mut self) {
        let now = self.local();
        self.client.tick(now, &mut self.out);
        self.node.tick(self.now, |w| self.woken.push(*w), &mut |_, m| self.back.push(m));
    }
    /// Time passes, and messages arrive at once.
    fn pass(&mut self, long: u64) {
        let until = self.now + long;
        while self.now < until {
            self.now = (self.now + 100 * MS).min(until);
            self.tick();
            self.carry();
        }
    }
    fn ask(&mut self, call: Call<u64>, deadline: Option<u64>) -> (u64, u64) {
        self.tokens += 1;
        let now = self.local();
        let takes = matches!(&call, Call::Get(a) if a.lease.is_none() && a.inputs.iter().any(|i| i.1 == Kind::Take));
        let name = self.client.call(now, call, self.tokens, deadline.map(|d| now + d), &mut self.out);
        if takes {
            self.names.insert(self.tokens, name);
        }
        (self.tokens, name)
    }
    fn call(&mut self, call: Call<u64>) -> Result {
        let (token, _) = self.ask(call, None);
        self.carry();
        self.out.ended[&token].clone()
    }
    fn values(&self, token: u64) -> Vec<u64> {
        match &self.out.ended[&token] {
            Ok(Done::Segments(s)) => s.iter().map(|s| s.value).collect(),
            other => panic!("{other:?}"),
        }
    }
    fn lease(&self, token: u64) -> u64 {
        match &self.out.ended[&token] {
            Ok(Done::Segments(s)) => s[0].lease.unwrap(),
            other => panic!("{other:?}"),
        }
    }
    fn len(&self, key: &[u8]) -> usize {
        self.node.manager().find_key(key).map_or(0, |k| self.node.manager().len(k))
    }
}

fn store(key: &[u8], value: u64) -> Store<u64> {
    Store { key: key.to_vec(), update: false, value, owned: false, delay: None, ttl: None }
}
fn put(key: &[u8], value: u64) -> Call<u64> {
    Call::Put(Put { store: store(key, value), wait: false })
}
fn take(key: &[u8], lease: Option<u64>) -> Call<u64> {
    Call::Get(Ask { inputs: vec![(key.to_vec(), Kind::Take, None)], lease, wait: true })
}

#[test]
fn a_node_s_own_waiter_hears_of_a_client_s_put() {
    let mut p = Pair::new();
    let asked = p.node.with(
        |_: &u64| {},
        |m, wake| {
            let input = Input { key: m.key(b"k"), kind: Kind::Take, after: None };
            m.get(0, &[input], Hold::Never, Some(Waiter::Local(5)), wake)
        },
    );
    assert!(matches!(asked, Ok(Asked::Waits(_))));
    assert_eq!(p.call(put(b"k", 1)), Ok(Done::Stored(Some(1))));
    assert_eq!(p.woken, [5]);
}

#[test]
fn a_welcome_that_comes_again_changes_nothing() {
    let mut p = Pair::new();
    let now = p.local();
    p.client.connected(now, &mut p.out);
    let sync = p.out.sent[0].clone();
    p.carry();
    let (token, _) = p.ask(take(b"k", None), None);
    p.there();
    p.to_owner(sync);
    p.here();
    assert_eq!(p.call(put(b"k", 1)), Ok(Done::Stored(Some(1))));
    assert_eq!(p.values(token), [1]);
}

#[test]
fn what_a_client_had_not_received_comes_back_when_it_thinks_the_owner_gone() {
    let mut p = Pair::new();
    p.call(put(b"k", 1)).unwrap();
    let (token, _) = p.ask(take(b"k", None), None);
    p.there();
    p.client.gone(&mut p.out);
    assert_eq!(p.out.ended[&token], Err(Failure::Unknown));
    p.back.clear();
    p.connect();
    assert_eq!(p.len(b"k"), 1);
}

#[test]
fn a_new_session_is_asked_all_again() {
    let mut p = Pair::new();
    let (token, _) = p.ask(take(b"k", None), None);
    p.carry();
    p.node.gone(p.now, b"client", |_| {}, &mut |_, _| {});
    p.pass(6 * SECOND);
    p.call(put(b"k", 1)).unwrap();
    assert_eq!(p.values(token), [1]);
}

#[test]
fn clocks_that_drift_for_days_are_no_matter() {
    let mut p = Pair::new();
    p.drift = 200;
    for day in 0..4 {
        p.now += 86_400 * SECOND;
        // The session ended; the client is told at its next message.
        p.pass(10 * SECOND);
        p.call(put(b"k", day)).unwrap();
        let (token, _) = p.ask(take(b"k", None), None);
        p.carry();
        assert_eq!(p.values(token), [day]);
        p.pass(SECOND);
    }
    // And without a pause: a hundred hours of greetings.
    for _ in 0..72_000 {
        p.now += 5 * SECOND;
        p.tick();
        p.carry();
    }
    p.call(put(b"k", 9)).unwrap();
    let (token, _) = p.ask(take(b"k", None), None);
    p.carry();
    assert_eq!(p.values(token), [9]);
}

#[test]
fn a_segment_that_was_long_on_its_way_is_asked_for_again() {
    let mut p = Pair::new();
    p.call(put(b"k", 1)).unwrap();
    let (token, _) = p.ask(take(b"k", None), None);
    p.there();
    p.now += 9 * SECOND;
    p.here();
    assert!(!p.out.ended.contains_key(&token), "its lease is nearly over");
    p.carry();
    assert_eq!((p.values(token), p.len(b"k")), (vec![1], 0));
    p.pass(SECOND);
    assert_eq!((p.node.open_calls(), p.node.manager().leases()), (0, 0));
}

#[test]
fn a_put_that_enters_later_was_not_left() {
    let mut p = Pair::new();
    p.call(Call::Limit(b"k".to_vec(), 1)).unwrap();
    p.call(put(b"k", 1)).unwrap();
    let later = Store { delay: Some(5 * SECOND), ..store(b"k", 2) };
    let (token, _) = p.ask(Call::Put(Put { store: later, wait: true }), Some(2 * SECOND));
    p.there();
    p.now += 1900 * MS;
    p.node.with(
        |_: &u64| {},
        |m, wake| {
            let k = m.key(b"k");
            m.set_limit(p.now, k, None, wake);
        },
    );
    p.node.flush(p.now, &mut |_, _| {});
    p.now += 200 * MS;
    p.tick();
    p.carry();
    assert_eq!(p.out.ended[&token], Ok(Done::Stored(None)));
}

#[test]
fn a_node_that_leaves_says_first_what_it_has() {
    for used in [true, false] {
        let mut p = Pair::new();
        p.uses = used;
        p.call(put(b"k", 1)).unwrap();
        let (token, name) = p.ask(take(b"k", None), None);
        p.carry();
        let now = p.local();
        p.client.farewell(&mut p.out);
        p.there();
        p.node.gone(p.now, b"client", |_| {}, &mut |_, _| {});
        assert_eq!((p.len(b"k"), p.node.manager().leases()), (usize::from(!used), 0));
        // It is too late for that, and no later answer is heard.
        p.out.ended.clear();
        assert!(used || !p.client.used(now, name, token, &mut p.out));
        p.here();
        assert_eq!(p.out.ended.get(&token), if used { None } else { Some(&Err(Failure::Unknown)) });
    }
}

/// Whatever happens meanwhile, a put that may wait ends by its time and the grace.
#[test]
fn a_put_ends_in_time_whatever_its_owner_does() {
    type Meanwhile = fn(&mut Pair);
    let meanwhile: [Meanwhile; 7] = [
        |_| {},
        |p| p.client.disconnected(),
        |p| {
            p.client.disconnected();
            let now = p.local();
            p.client.connected(now, &mut p.out);
        },
        |p| {
            // The owner hears it, and its answer is lost.
            p.there();
            p.back.clear();
        },
        |p| {
            // Another session.
            p.node.gone(p.now, b"client", |_| {}, &mut |_, _| {});
            let now = p.local();
            p.client.disconnected();
            p.client.connected(now, &mut p.out);
        },
        |p| p.client.gone(&mut p.out),
        |p| {
            p.client.disconnected();
            p.client.gone(&mut p.out);
            let now = p.local();
            p.client.connected(now, &mut p.out);
        },
    ];
    for connected in [true, false] {
        for (i, first) in meanwhile.iter().enumerate() {
            for (j, second) in meanwhile.iter().enumerate() {
                let mut p = Pair::new();
                p.call(Call::Limit(b"k".to_vec(), 1)).unwrap();
                p.call(put(b"k", 1)).unwrap();
                if !connected {
                    p.client.disconnected();
                }
                let (token, _) = p.ask(Call::Put(Put { store: store(b"k", 2), wait: true }), Some(SECOND));
                // Nothing arrives from now on but what a step carries.
                for step in 0..25 {
                    p.now += 100 * MS;
                    match step {
                        3 => first(&mut p),
                        12 => second(&mut p),
                        _ => {}
                    }
                    p.out.sent.clear();
                    let now = p.local();
                    p.client.tick(now, &mut p.out);
                }
                assert!(p.out.ended.contains_key(&token), "{connected} {i} {j}");
            }
        }
    }
}

#[test]
fn one_lease_that_is_over_does_not_end_the_renewal_of_others() {
    let mut p = Pair::new();
    let mut leases = Vec::new();
    for v in 0..3 {
        p.call(put(b"k", v)).unwrap();
        let (token, _) = p.ask(take(b"k", Some(3 * SECOND)), None);
        p.carry();
        leases.push(p.lease(token));
    }
    // One of them ends at the owner, by a message that this client does not know of.
    let session = match p.call(Call::Stats(b"k".to_vec())) {
        Ok(_) => 1,
        other => panic!("{other:?}"),
    };
    let commit = Call::Commit { leases: vec![leases[1]], outputs: Vec::new() };
    p.to_owner(FromClient { incarnation: 7, owner: 1, session, got: Vec::new(), body: Body::Call(1000, commit) });
    p.pass(10 * SECOND);
    assert_eq!((p.node.manager().leases(), p.client.leases()), (2, 2));
    assert_eq!(p.call(Call::Commit { leases: vec![leases[0], leases[2]], outputs: Vec::new() }), Ok(Done::Ok));
}

#[test]
fn an_earlier_incarnation_is_not_served_when_the_later_one_has_left() {
    let mut p = Pair::new();
    let sync = |incarnation, number| FromClient {
        incarnation,
        owner: 0,
        session: 0,
        got: Vec::new(),
        body: Body::Sync { number, upto: 0, outstanding: Vec::new() },
    };
    p.to_owner(sync(8, 1));
    p.node.gone(p.now, b"client", |_| {}, &mut |_, _| {});
    p.back.clear();
    p.to_owner(sync(7, 100));
    assert!(matches!(p.back[0].body, Reply::Fenced));
    p.here();
    assert_eq!(p.call(put(b"k", 1)), Err(Failure::Fenced));
}

/// A worker goes on with a lease of an owner that has started again meanwhile and given out as many as before.
fn old_lease_at_a_new_owner() -> bool {
    let mut p = Pair::new();
    p.call(put(b"k", 1)).unwrap();
    let (token, _) = p.ask(take(b"k", Some(5 * SECOND)), None);
    p.carry();
    let old = p.lease(token);
    p.node = Node::new(1, 2, NodeOptions::default());
    p.client.disconnected();
    p.connect();
    p.call(put(b"k", 2)).unwrap();
    let (token, _) = p.ask(take(b"k", Some(5 * SECOND)), None);
    p.carry();
    let new = p.lease(token);
    let refused = p.call(Call::Commit { leases: vec![old], outputs: vec![store(b"out", 3)] }) == Err(Failure::Refused(Refusal::LeaseOver));
    let kept = p.call(Call::Commit { leases: vec![new], outputs: Vec::new() }) == Ok(Done::Ok);
    refused && kept && p.len(b"out") == 0
}

/// A receipt comes late, after a repeat of its call that came later still.
fn receipt_after_repeat() -> bool {
    let mut p = Pair::new();
    p.call(put(b"k", 1)).unwrap();
    p.call(put(b"k", 2)).unwrap();
    let (token, _) = p.ask(take(b"k", None), None);
    let repeat = p.out.sent[0].clone();
    p.there();
    p.here();
    assert_eq!(p.values(token), [1]);
    // The lease is over before the owner hears that it was received: the segment came back, and another takes it.
    p.now += 11 * SECOND;
    let now = p.now;
    p.node.with(
        |_: &u64| {},
        |m, wake| {
            let input = Input { key: m.key(b"k"), kind: Kind::Take, after: None };
            assert!(matches!(m.get(now, &[input], Hold::Never, None, wake), Ok(Asked::Here(a)) if a[0].segment.value == 1));
        },
    );
    p.to_owner(repeat);
    p.back.clear();
    p.tick();
    p.carry();
    p.pass(12 * SECOND);
    p.len(b"k") == 1
}

#[test]
fn a_lease_is_of_one_incarnation_of_its_owner() {
    assert!(old_lease_at_a_new_owner());
}
#[test]
fn a_receipt_is_for_one_take() {
    assert!(receipt_after_repeat());
}
#[test]
#[cfg(debug_assertions)]
fn planted_bugs_are_found() {
    plant(Some(Bug::LeaseNumbersAgain));
    let found = !old_lease_at_a_new_owner();
    plant(Some(Bug::OneNumberTwoTakes));
    let both = found && !receipt_after_repeat();
    plant(None);
    assert!(both);
}

// Hostile clients.

struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
    /// Small, huge, or anything.
    fn number(&mut self) -> u64 {
        match self.below(4) {
            0 => self.next(),
            1 => u64::MAX - self.below(3),
            2 => self.below(1000),
            _ => self.below(8),
        }
    }
    fn numbers(&mut self) -> Vec<u64> {
        let n = if self.below(50) == 0 { self.below(3000) } else { self.below(6) };
        (0..n).map(|_| self.number()).collect()
    }
    fn key(&mut self) -> Vec<u8> {
        match self.below(10) {
            0 => vec![7; self.below(3000) as usize],
            1 => self.next().to_le_bytes().to_vec(),
            _ => format!("k{}", self.below(5)).into_bytes(),
        }
    }
    fn store(&mut self) -> Store<u64> {
        let time = |c: &mut Chance| (c.below(3) == 0).then(|| c.number());
        Store {
            key: self.key(),
            update: self.below(3) == 0,
            value: self.next(),
            owned: self.below(4) == 0,
            delay: time(self),
            ttl: time(self),
        }
    }
    fn call(&mut self) -> Call<u64> {
        match self.below(12) {
            0..=2 => Call::Put(Put { store: self.store(), wait: self.below(2) == 0 }),
            3..=5 => {
                let inputs = (0..self.below(7))
                    .map(|_| {
                        let kind = if self.below(2) == 0 { Kind::Take } else { Kind::Peek };
                        (self.key(), kind, (self.below(3) == 0).then(|| self.number()))
                    })
                    .collect();
                Call::Get(Ask { inputs, lease: (self.below(2) == 0).then(|| self.number()), wait: self.below(3) > 0 })
            }
            6 => Call::Commit { leases: self.numbers(), outputs: (0..self.below(6)).map(|_| self.store()).collect() },
            7 => Call::GiveBack { lease: self.number(), left: None },
            8 => Call::Extend { leases: self.numbers(), long: self.number() },
            9 => Call::Leave(self.number()),
            10 => Call::Limit(self.key(), self.number()),
            _ if self.below(2) == 0 => Call::Names { prefix: self.key(), after: Some(self.key()), most: self.next() as u32 },
            _ => Call::Stats(self.key()),
        }
    }
}

#[test]
fn hostile_clients_disturb_nobody() {
    for seed in 0..40 {
        let mut c = Chance(seed);
        let options = NodeOptions { calls: 16, keys: 64, parts: 4, clients: 4, ..NodeOptions::default() };
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
                0 => Body::Sync { number: c.number(), upto: c.number(), outstanding: c.numbers() },
                1 => Body::Receipts,
                _ => Body::Call(if c.below(2) == 0 { round } else { c.number() }, c.call()),
            };
            let incarnation = if c.below(100) == 0 { c.number() } else { 5 };
            let m = FromClient {
                incarnation,
                owner: if c.below(20) == 0 { c.number() } else { 3 },
                session: sessions[name as usize],
                got: c.numbers(),
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
fn what_nobody_used_comes_back() {
    let mut p = Pair::new();
    p.uses = false;
    p.call(put(b"k", 1)).unwrap();
    let (token, name) = p.ask(take(b"k", None), None);
    p.carry();
    assert_eq!((p.values(token), p.len(b"k")), (vec![1], 0));
    // The asker is killed before it looks.
    let now = p.local();
    p.client.leave(now, name, &mut p.out);
    p.carry();
    assert_eq!((p.len(b"k"), p.client.open_calls()), (1, 0));
    // It was there all the time.
    let (again, name) = p.ask(take(b"k", None), None);
    p.carry();
    assert_eq!(p.values(again), [1]);
    let now = p.local();
    assert!(p.client.used(now, name, again, &mut p.out));
    p.pass(20 * SECOND);
    assert_eq!((p.len(b"k"), p.client.open_calls(), p.node.open_calls()), (0, 0, 0));
}

#[test]
fn what_is_looked_at_too_late_is_asked_for_again() {
    let mut p = Pair::new();
    p.uses = false;
    p.call(put(b"k", 1)).unwrap();
    let (token, name) = p.ask(take(b"k", None), None);
    p.carry();
    // The program stands still, and another takes what has come back.
    p.now += 12 * SECOND;
    p.node.tick(p.now, |_| {}, &mut |_, _| {});
    assert_eq!(p.len(b"k"), 1);
    p.call(put(b"k", 2)).unwrap();
    let (other, second) = p.ask(take(b"k", None), None);
    p.carry();
    assert_eq!(p.values(other), [1]);
    let now = p.local();
    assert!(p.client.used(now, second, other, &mut p.out));
    p.out.ended.remove(&token);
    assert!(!p.client.used(now, name, token, &mut p.out));
    p.carry();
    assert_eq!(p.values(token), [2]);
    let now = p.local();
    assert!(p.client.used(now, name, token, &mut p.out));
    p.pass(SECOND);
    assert_eq!((p.len(b"k"), p.client.open_calls()), (0, 0));
}

#[test]
fn what_was_given_by_a_lost_session_is_not_used() {
    let mut p = Pair::new();
    p.uses = false;
    p.call(put(b"k", 1)).unwrap();
    let (token, name) = p.ask(take(b"k", None), None);
    p.carry();
    p.out.ended.remove(&token);
    // Each takes the other for gone.
    let now = p.local();
    p.node.gone(p.now, b"client", |_| {}, &mut |_, _| {});
    p.client.gone(&mut p.out);
    assert_eq!(p.len(b"k"), 1);
    assert!(!p.client.used(now, name, token, &mut p.out));
    assert_eq!(p.out.ended[&token], Err(Failure::Unknown));
}

#[test]
fn values_that_wait_for_room_are_weighed() {
    let mut p = Pair::new();
    p.node = Node::new(1, 1, NodeOptions { bytes: 100, ..NodeOptions::default() });
    p.node.weigh(|v| *v as usize);
    p.connect();
    p.call(Call::Limit(b"k".to_vec(), 1)).unwrap();
    p.call(put(b"k", 1)).unwrap();
    let wait = |v| Call::Put(Put { store: store(b"k", v), wait: true });
    let (first, name) = p.ask(wait(60), None);
    p.carry();
    assert_eq!(p.call(wait(41)), Err(Failure::Refused(Refusal::Quota)));
    let (second, _) = p.ask(wait(40), None);
    p.carry();
    assert!(!p.out.ended.contains_key(&first) && !p.out.ended.contains_key(&second));
    let now = p.local();
    p.client.leave(now, name, &mut p.out);
    p.carry();
    let (third, _) = p.ask(wait(55), None);
    p.carry();
    for _ in 0..2 {
        p.ask(take(b"k", None), None);
        p.carry();
    }
    assert_eq!((&p.out.ended[&second], &p.out.ended[&third]), (&Ok(Done::Stored(Some(2))), &Ok(Done::Stored(Some(3)))));
    assert!(!p.out.ended.contains_key(&first));
}

#[test]
fn an_owner_that_makes_no_sense_ends_calls_all_the_same() {
    for seed in 0..200 {
        let mut c = Chance(seed);
        let repeat = (seed % 2 == 0).then_some(50 * MS);
        let mut client: Client<u64, u64> = Client::new(5, ClientOptions { calls: 64, repeat, ..ClientOptions::default() });
        let (mut out, mut now, mut names, mut made) = (Out::default(), SECOND, Vec::new(), 0);
        client.connected(now, &mut out);
        for _ in 0..400 {
            now += c.below(30 * MS);
            let sync = out.sent.iter().rev().find_map(|m| if let Body::Sync { number, .. } = m.body { Some(number) } else { None });
            out.sent.clear();
            made += 1;
            names.push(client.call(now, c.call(), made, (c.below(2) == 0).then(|| now + c.below(SECOND)), &mut out));
            let segment = |c: &mut Chance| kumi_segments::RemoteSegment {
                index: c.number(),
                value: c.next(),
                owned: false,
                changed: false,
                deliveries: 1,
                lease: (c.below(2) == 0).then(|| c.number()),
            };
            let done = match c.below(8) {
                0 | 1 => Done::Segments((0..c.below(4)).map(|_| segment(&mut c)).collect()),
                2 => Done::Stored(Some(c.number())),
                3 => Done::Left(None),
                4 => Done::Nothing,
                5 => Done::Names(Vec::new()),
                _ => Done::Ok,
            };
            let refusal = [Refusal::LeaseOver, Refusal::Quota, Refusal::Bad, Refusal::Full][c.below(4) as usize];
            let body = match c.below(12) {
                0 => Reply::Welcome { sync: c.below(2).checked_sub(1).and(sync).or(Some(c.number())), session: c.number() },
                1 => Reply::Welcome { sync, session: 1 + c.below(2) },
                2 => Reply::Welcome { sync: None, session: c.number() },
                _ => Reply::Answer(c.below(made + 2), if c.below(4) == 0 { Err(refusal) } else { Ok(done) }),
            };
            let incarnation = 1 + c.below(2) * c.below(2);
            client.receive(now, FromOwner { incarnation, client: 5, sent: if c.below(5) == 0 { c.number() } else { now }, body }, &mut out);
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

fn watch(number: u64, most: u64) -> Call<u64> {
    Call::Watch(Watch::Begin { watch: number, key: b"k".to_vec(), most })
}
fn events(r: &Result) -> Vec<(What, u64, Option<u64>, u64)> {
    match r {
        Ok(Done::Events(all)) => all.iter().map(|e| (e.what, e.index, e.value, e.missed)).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_key_is_watched_from_elsewhere() {
    let mut p = Pair::new();
    p.call(put(b"k", 1)).unwrap();
    assert_eq!(p.call(watch(7, 3)), Ok(Done::Ok));
    // It waits for what happens next.
    let (token, _) = p.ask(Call::Watch(Watch::Next(7)), None);
    p.carry();
    assert!(!p.out.ended.contains_key(&token));
    p.call(put(b"k", 2)).unwrap();
    p.carry();
    assert_eq!(events(&p.out.ended[&token]), [(What::Put, 2, Some(2), 0)]);
    // Nobody asks: the oldest are missed.
    for n in 3..9 {
        p.call(put(b"k", n)).unwrap();
    }
    let more = p.call(Call::Watch(Watch::Next(7)));
    assert_eq!(events(&more), [(What::Put, 6, Some(6), 3), (What::Put, 7, Some(7), 0), (What::Put, 8, Some(8), 0)]);
    // Its end answers whoever waits.
    let (token, _) = p.ask(Call::Watch(Watch::Next(7)), None);
    p.carry();
    assert_eq!(p.call(Call::Watch(Watch::End(7))), Ok(Done::Ok));
    p.carry();
    assert_eq!(events(&p.out.ended[&token]), []);
    assert_eq!(events(&p.call(Call::Watch(Watch::Next(7)))), []);
    p.pass(SECOND);
    assert_eq!(p.node.open_calls(), 0);
}

#[test]
fn events_that_got_lost_come_again_and_none_is_told_twice() {
    let mut p = Pair::new();
    p.call(watch(1, 10)).unwrap();
    p.call(put(b"k", 1)).unwrap();
    let (token, _) = p.ask(Call::Watch(Watch::Next(1)), None);
    p.there();
    p.back.clear();
    p.call(put(b"k", 2)).unwrap();
    let now = p.local();
    p.client.disconnected();
    p.client.connected(now, &mut p.out);
    p.carry();
    assert_eq!(events(&p.out.ended[&token]), [(What::Put, 1, Some(1), 0)]);
    assert_eq!(events(&p.call(Call::Watch(Watch::Next(1)))), [(What::Put, 2, Some(2), 0)]);
}

#[test]
fn watches_end_with_their_session_and_take_no_more_than_their_bounds() {
    let mut p = Pair::new();
    let most = NodeOptions::default().watches as u64;
    for n in 0..most {
        assert_eq!(p.call(watch(n, u64::MAX)), Ok(Done::Ok));
    }
    let full = Err(Failure::Refused(Refusal::Quota));
    assert_eq!((p.call(watch(most, 1)), p.call(watch(0, 1))), (full.clone(), full.clone()));
    p.call(Call::Watch(Watch::End(0))).unwrap();
    assert_eq!(p.call(watch(0, u64::MAX)), Ok(Done::Ok));
    // Events are kept up to a bound, whatever was asked for, and one answer at a time is.
    for n in 0..30_000 {
        p.node.with(|_: &u64| {}, |m, wake| m.put(p.now, m.find_key(b"k").unwrap(), kumi_segments::New::shared(n), wake)).unwrap();
    }
    let (first, _) = p.ask(Call::Watch(Watch::Next(0)), None);
    let (second, _) = p.ask(Call::Watch(Watch::Next(0)), None);
    p.carry();
    assert_eq!(events(&p.out.ended[&first])[0], (What::Put, 20_001, Some(20_000), 20_000));
    assert_eq!(p.out.ended[&second], full);
    let mut seen = events(&p.out.ended[&first]).len();
    while seen < 10_000 {
        seen += events(&p.call(Call::Watch(Watch::Next(0)))).len();
    }
    assert_eq!(seen, 10_000);
    // Who is gone watches nothing.
    let (token, _) = p.ask(Call::Watch(Watch::Next(0)), None);
    p.carry();
    p.node.gone(p.now, b"client", |_| {}, &mut |_, _| {});
    let mut told = 0;
    let key = p.node.manager().find_key(b"k").unwrap();
    p.node.manager().each_value_under(key, |_| told += 1);
    assert_eq!(told, 30_000, "those that stand there, and none in a watch");
    p.pass(6 * SECOND);
    assert_eq!(p.out.ended[&token], Err(Failure::Unknown));
    assert_eq!(events(&p.call(Call::Watch(Watch::Next(0)))), []);
}

#[test]
fn who_waits_at_a_node_that_goes_is_told_and_what_it_holds_may_end() {
    let mut p = Pair::new();
    p.call(put(b"job", 1)).unwrap();
    p.call(put(b"job", 2)).unwrap();
    let (held, _) = p.ask(take(b"job", Some(10 * SECOND)), None);
    let (late, _) = p.ask(take(b"job", Some(10 * SECOND)), None);
    p.carry();
    let waits: Vec<u64> = (0..10_000).map(|_| p.ask(take(b"none", None), None).0).collect();
    p.carry();
    p.node.drain(p.now, |w| p.woken.push(*w), &mut |_, m| p.back.push(m));
    assert!(p.node.is_draining());
    p.carry();
    assert!(waits.iter().all(|w| p.out.ended[w] == Err(Failure::Refused(Refusal::Leaving))));
    assert_eq!(p.node.manager().requests(), 0);
    for call in [put(b"job", 3), take(b"job", None), Call::Commit { leases: vec![], outputs: vec![store(b"out", 1)] }] {
        assert_eq!(p.call(call), Err(Failure::Refused(Refusal::Leaving)));
    }
    // A run that has its inputs may end, outputs and all.
    let commit = |p: &Pair, token| Call::Commit { leases: vec![p.lease(token)], outputs: vec![store(b"out", 9)] };
    let first = commit(&p, held);
    assert_eq!(p.call(first), Ok(Done::Ok));
    let ended = p.node.end_leases(p.now, |_| {}, &mut |_, _| {});
    assert_eq!((ended, p.len(b"job"), p.len(b"out")), (1, 1, 1));
    let second = commit(&p, late);
    assert_eq!(p.call(second), Err(Failure::Refused(Refusal::LeaseOver)));
    assert_eq!(p.len(b"job"), 1);
}

#[test]
fn a_put_that_has_found_room_before_its_node_goes_is_done() {
    let mut p = Pair::new();
    p.call(Call::Limit(b"k".to_vec(), 1)).unwrap();
    p.call(put(b"k", 1)).unwrap();
    let (waits, _) = p.ask(Call::Put(Put { store: store(b"k", 2), wait: true }), None);
    let (waits_still, _) = p.ask(Call::Put(Put { store: store(b"k", 3), wait: true }), None);
    p.carry();
    let k = p.node.manager().find_key(b"k").unwrap();
    let input = Input { key: k, kind: Kind::Take, after: None };
    let took = p.node.with(|_: &u64| {}, |m, wake| m.get(0, &[input], Hold::Never, None, wake));
    assert!(matches!(took, Ok(Asked::Here(_))));
    p.node.drain(p.now, |_| {}, &mut |_, m| p.back.push(m));
    p.carry();
    assert_eq!(p.out.ended[&waits], Ok(Done::Stored(Some(2))));
    assert_eq!(p.out.ended[&waits_still], Err(Failure::Refused(Refusal::Leaving)));
    assert_eq!(p.len(b"k"), 1);
}

#[test]
fn who_waits_for_a_key_that_is_another_node_s_now_is_turned_away() {
    let mut p = Pair::new();
    let (mine, _) = p.ask(take(b"mine", None), None);
    let (other, _) = p.ask(take(b"other", None), None);
    p.carry();
    p.node.turn_away(p.now, |key| key == b"mine", |_| {}, &mut |_, m| p.back.push(m));
    p.carry();
    assert_eq!(p.out.ended[&other], Err(Failure::Refused(Refusal::Moved)));
    assert_eq!(p.call(put(b"mine", 1)), Ok(Done::Stored(Some(1))));
    assert_eq!(p.values(mine), [1]);
}

#[test]
fn segments_are_taken_out_with_their_times() {
    let mut p = Pair::new();
    let timed = |delay, ttl| Call::Put(Put { store: Store { delay, ttl, ..store(b"k", 1) }, wait: false });
    p.call(timed(None, Some(5 * SECOND))).unwrap();
    p.call(timed(Some(9 * SECOND), None)).unwrap();
    let now = p.now;
    let (ends, enters) = p.node.with(
        |_: &u64| {},
        |m, wake| {
            assert_eq!(m.standing(), [b"k"]);
            let key = m.find_key(b"k").unwrap();
            let input = Input { key, kind: Kind::Take, after: None };
            let Ok(Asked::Here(a)) = m.get(now, &[input], Hold::Open, None, wake) else { panic!() };
            let ends = m.leased(a[0].lease.unwrap()).unwrap().1;
            (ends, m.pull_delayed(key).map(|d| d.0))
        },
    );
    assert_eq!((ends, enters), (Some(now + 5 * SECOND), Some(now + 9 * SECOND)));
    assert!(p.node.manager().standing().is_empty());
}

#[test]
fn a_client_does_what_it_is_allowed_to_and_nothing_else() {
    let mut p = Pair::new();
    p.call(put(b"job.1", 1)).unwrap();
    p.call(put(b"pay", 1)).unwrap();
    p.node.set_rules(Rules::new(vec![Rule { node: "cl*".into(), keys: "job.*".into(), acts: vec![Act::Put, Act::Take, Act::Stat] }]));
    let no = Err(Failure::Refused(Refusal::NotAllowed));
    assert_eq!(p.call(put(b"job.1", 2)), Ok(Done::Stored(Some(2))));
    assert_eq!(p.call(put(b"pay", 2)), no);
    assert_eq!(p.call(take(b"pay", None)), no);
    let (held, _) = p.ask(take(b"job.1", Some(SECOND)), None);
    p.carry();
    let commit = |outputs| Call::Commit { leases: vec![p.lease(held)], outputs };
    let (wrong, right) = (commit(vec![store(b"pay", 1)]), commit(vec![store(b"job.2", 1)]));
    assert_eq!(p.call(wrong), no);
    assert_eq!(p.call(right), Ok(Done::Ok));
    assert_eq!(p.call(Call::Limit(b"job.1".to_vec(), 1)), no);
    let names = Call::Names { prefix: vec![], after: None, most: 10 };
    assert_eq!(p.call(names), Ok(Done::Names(vec![b"job.1".to_vec(), b"job.2".to_vec()])));
    assert_eq!(p.len(b"pay"), 1);
}
