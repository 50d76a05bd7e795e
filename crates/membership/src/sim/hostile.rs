//! Bytes of any kind.

use super::*;
use crate::packet::{LEFT, News, Packet, Refusal};
use crate::{Member, Membership, Reject};
use foca::{Header, Message, State};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

struct Hand {
    rng: Xoshiro256PlusPlus,
}

impl Hand {
    fn n(&mut self, n: u64) -> u64 {
        self.rng.random_range(0..n)
    }

    fn member(&mut self) -> Member {
        let name = format!("n{:02}", self.n(6));
        let address = if self.n(4) == 0 { "10.6.6.6:6".into() } else { address(self.n(6) as usize) };
        let incarnation = [0, START, START + self.n(50) * MS, u64::MAX, u64::MAX - 1, self.n(u64::MAX)][self.n(6) as usize];
        Member::new(&name, &address, incarnation).unwrap()
    }

    /// A packet that is well formed and otherwise anything, often about members that exist.
    fn packet(&mut self, w: &World) -> Vec<u8> {
        let some = |h: &mut Hand| {
            if h.n(2) == 0 { w.nodes[h.n(w.nodes.len() as u64) as usize].membership.me().clone() } else { h.member() }
        };
        let (src, dst, target, origin) = (some(self), some(self), some(self), some(self));
        let probe_number = self.n(256) as u8;
        if self.n(12) == 0 {
            let why = match self.n(3) {
                0 => Refusal::Full,
                1 => Refusal::Stale { known: [0, u64::MAX, self.n(u64::MAX)][self.n(3) as usize] },
                _ => Refusal::Taken { holder: target, heard: self.n(2) == 0 },
            };
            return Packet::Refused { from: src, to: dst, why }.encode().unwrap();
        }
        let message = match self.n(10) {
            0 => Message::Ping(probe_number),
            1 => Message::Ack(probe_number),
            2 => Message::PingReq { target, probe_number },
            3 => Message::IndirectPing { origin, probe_number },
            4 => Message::IndirectAck { target, probe_number },
            5 => Message::ForwardedAck { origin, probe_number },
            6 => Message::Announce,
            7 => Message::Feed,
            8 => Message::Gossip,
            _ => Message::TurnUndead,
        };
        let news = (0..self.n(8)).map(|_| {
            let state = [State::Alive, State::Suspect, State::Down][self.n(3) as usize];
            let incarnation = [0, 1, LEFT, self.n(65536) as u16][self.n(4) as usize];
            News::new(some(self), incarnation, state)
        });
        let news = news.collect();
        let header = Header { src, src_incarnation: [0, 1, LEFT][self.n(3) as usize], dst, message };
        Packet::Swim { header, news }.encode().unwrap()
    }
}

#[test]
fn no_bytes_make_a_node_panic() {
    let first = number("KUMI_TEST_SEED").unwrap_or(0);
    for seed in first..first + number("KUMI_FUZZ_ROUNDS").unwrap_or(60) {
        let mut w = World::new(seed, Network { loss: 50, repeats: 50, delay: 5 * MS }, Config { max_members: 8, ..Config::local() });
        let seeds: Vec<Arc<str>> = [address(0).into()].into();
        for i in 0..4 {
            w.start(&format!("n{i:02}"), &address(i), 0, &seeds);
        }
        let mut hand = Hand { rng: Xoshiro256PlusPlus::seed_from_u64(seed) };
        for _ in 0..400 {
            let mut bytes = hand.packet(&w);
            match hand.n(6) {
                0 => bytes = (0..hand.n(300)).map(|_| hand.n(256) as u8).collect(),
                1 => bytes.truncate(hand.n(bytes.len() as u64) as usize),
                2 => {
                    let at = hand.n(bytes.len() as u64) as usize;
                    bytes[at] = hand.n(256) as u8;
                }
                _ => {}
            }
            let to = hand.n(4) as usize;
            w.inject(to, "10.6.6.6:6", &bytes);
            let [up, down, timers, news] = w.nodes[to].membership.weight();
            assert!(up <= 8 && down <= 8 && timers < 200 && news <= 40, "{up} {down} {timers} {news}");
            let until = w.now + hand.n(20 * MS);
            w.run(until, |_| false);
        }
    }
}

/// Takes all actions, and counts what was sent.
fn drain(m: &mut Membership) -> usize {
    std::iter::from_fn(|| m.poll()).filter(|a| matches!(a, Action::Send { .. })).count()
}

#[test]
fn a_flood_of_members_is_bounded() {
    let config = Config { max_members: 100, max_packets: u16::MAX, ..Config::local() };
    let me = Member::new("me", "h:1", 5).unwrap();
    let mut m = Membership::new(me.clone(), config, 1, 0);
    let mut full = 0;
    for i in 0..20_000u64 {
        let other = |n: u64| Member::new(&format!("x{n}"), "h:2", n).unwrap();
        let state = [State::Alive, State::Suspect, State::Down][(i % 3) as usize];
        let header = Header { src: other(i), src_incarnation: 0, dst: me.clone(), message: Message::Gossip };
        let news = (0..20).map(|k| News::new(other(1_000_000 + 20 * i + k), 0, state)).collect();
        m.receive(i * MS, "peer", &Packet::Swim { header, news }.encode().unwrap());
        m.tick(i * MS);
        full += std::iter::from_fn(|| m.poll()).filter(|a| matches!(a, Action::Rejected { reason: Reject::Full, .. })).count();
        let [up, down, timers, news] = m.weight();
        assert!(up <= 100 && down <= 101 && timers <= 500 && news <= 400, "{up} {down} {timers} {news}");
    }
    assert!(full > 10_000, "{full}");
}

#[test]
fn lives_without_end_are_bounded() {
    let me = Member::new("me", "h:1", 5).unwrap();
    let mut m = Membership::new(me.clone(), Config { max_packets: u16::MAX, ..Config::local() }, 1, 0);
    for i in 0..20_000 {
        let other = Member::new("x", "h:2", i).unwrap();
        let header = Header { src: other.clone(), src_incarnation: 0, dst: me.clone(), message: Message::Gossip };
        let news = vec![News::new(other, LEFT - 1, State::Down)];
        m.receive(i * MS, "peer", &Packet::Swim { header, news }.encode().unwrap());
        m.tick(i * MS);
        drain(&mut m);
        let [up, down, timers, news] = m.weight();
        assert!(up + down <= 1 && timers <= 50 && news <= 2, "{up} {down} {timers} {news}");
    }
}

#[test]
fn nobody_is_made_to_talk_to_strangers() {
    let mut w = cluster(3, 1, Config::local());
    let (src, dst) = (w.nodes[1].membership.me().clone(), w.nodes[0].membership.me().clone());
    for target in [Member::new("victim", "10.6.6.6:80", 1).unwrap(), Member::new("n02", "10.6.6.6:80", 1).unwrap()] {
        let header =
            Header { src: src.clone(), src_incarnation: 0, dst: dst.clone(), message: Message::PingReq { target, probe_number: 1 } };
        let bytes = Packet::Swim { header, news: vec![] }.encode().unwrap();
        w.nodes[0].membership.receive(w.now, "n01", &bytes);
        assert_eq!(drain(&mut w.nodes[0].membership), 0);
    }
}

#[test]
fn a_sender_has_a_bound() {
    let me = Member::new("me", "h:1", 5).unwrap();
    let mut m = Membership::new(me, Config::local(), 1, 0);
    let mut told = Vec::new();
    for _ in 0..10_000 {
        m.receive(1, "noise", b"garbage");
        told.extend(std::iter::from_fn(|| m.poll()));
    }
    let too_much = Action::Rejected { from: "noise".into(), reason: Reject::TooMuch };
    assert_eq!((told.len(), told.last()), (2001, Some(&too_much)));
    assert_eq!(told[0].to_string(), "refused bytes from noise: the packet has version 103, and this node speaks 1");
    m.receive(1, "another", &[0; 9000]);
    assert_eq!(m.poll(), Some(Action::Rejected { from: "another".into(), reason: Reject::TooLong }));
}
