//! Takes under one key, of one client, of which several look at a time: puts of others fall between any two of them, and what is told of
//! them comes at any time.

use crate::words::{say, text};
use bytes::Bytes;
use kumi_chance::Chance;
use kumi_redis::machine::{Machine, News, Options, Side};
use kumi_redis::names::Namespace;
use kumi_redis::resp::{Decoder, Reply};
use kumi_segments::{Ask, Call, Done, Kind, Time};
use std::collections::{HashMap, VecDeque};

const KEY: &[u8] = b"k";
const MS: Time = 1_000_000;

/// A server with one key, and the two wires to it. Each command, each reply and each message is on its way for a while.
struct Server {
    chance: Chance,
    machine: Machine<u64>,
    now: Time,
    /// Commands that the server has not read, by wire; and what it has said that the machine has not.
    unread: [VecDeque<Vec<Reply>>; 2],
    unheard: [VecDeque<Reply>; 2],
    decoders: [Decoder; 2],
    queue: VecDeque<u64>,
    /// What was taken under leases, by their names.
    held: HashMap<Bytes, u64>,
    put: u64,
    leases: bool,
    /// Somebody has waited, and wants to be told.
    tells: bool,
    /// Calls that have ended, in that order, and what they were given.
    served: Vec<(u64, Option<u64>)>,
}

impl Server {
    fn new(seed: u64) -> Server {
        let options = Options::new(Namespace::new("kumi").unwrap(), "client".into());
        let mut machine = Machine::new(0, options);
        Side::ALL.into_iter().for_each(|side| machine.connected(0, side, 0));
        let mut chance = Chance::new(seed);
        Server {
            leases: chance.percent(30),
            chance,
            machine,
            now: 0,
            unread: Default::default(),
            unheard: Default::default(),
            decoders: Default::default(),
            queue: VecDeque::new(),
            held: HashMap::new(),
            put: 0,
            tells: false,
            served: Vec::new(),
        }
    }
    /// Of tokens that are odd, under a lease if there are some.
    fn take(&mut self, token: u64, wait: bool) -> u64 {
        let lease = (self.leases && token % 2 == 1).then_some(3_600_000 * MS);
        let ask = Ask { inputs: vec![(KEY.to_vec(), Kind::Take, None)], lease, wait };
        self.machine.call(self.now, Call::Get(ask), token, None)
    }
    /// Another client puts something.
    fn put(&mut self) {
        self.put += 1;
        self.queue.push_back(self.put);
        self.tell();
    }
    fn tell(&mut self) {
        if self.tells {
            let channel = Namespace::new("kumi").unwrap().channel(KEY);
            let message = Reply::Push(vec![text("message"), Reply::Text(channel), text(self.queue.len().to_string())]);
            self.unheard[1].push_back(message);
        }
    }
    fn answer(&mut self, command: &[Reply]) -> Reply {
        let word = |at: usize| command.get(at).and_then(Reply::bytes).cloned().unwrap_or_default();
        match (&word(0)[..], &word(2)[..]) {
            (b"HELLO", _) => {
                let all = ["server", "redis", "version", "7.2.1", "mode", "standalone", "role", "master"];
                Reply::List(all.map(text).to_vec())
            }
            (b"SUBSCRIBE" | b"UNSUBSCRIBE", _) => Reply::Push(vec![text(word(0).to_ascii_lowercase()), text(word(1)), Reply::Number(1)]),
            (b"SCRIPT", _) => text("0123456789012345678901234567890123456789"),
            // It gives back.
            (b"EVALSHA", b"2") if word(4).ends_with(b"m") => {
                let index = match &word(9)[..] {
                    b"entry" => Some(u64::from_be_bytes(word(10)[8..16].try_into().expect("an entry"))),
                    _ => self.held.remove(&word(8)),
                };
                let Some(index) = index else { return Reply::Number(0) };
                let at = self.queue.iter().position(|i| *i > index).unwrap_or(self.queue.len());
                self.queue.insert(at, index);
                self.tell();
                Reply::Number(1)
            }
            // Of an input, and the registry.
            (b"EVALSHA", b"2") => match self.queue.pop_front() {
                Some(index) => {
                    let mut entry = vec![0; 29];
                    entry[8..16].copy_from_slice(&index.to_be_bytes());
                    self.held.insert([&word(6), &b".1"[..]].concat().into(), index);
                    Reply::List(vec![Reply::Number(0), text(entry)])
                }
                None => {
                    self.tells |= word(7)[..] == *b"1";
                    Reply::List(vec![Reply::Number(1), Reply::Number(1), Reply::Number(-1)])
                }
            },
            (b"HDEL", _) => Reply::Number(self.held.remove(&word(2)).is_some().into()),
            _ => Reply::Number(1),
        }
    }
    /// One thing goes on. False: nothing is on its way.
    fn step(&mut self) -> bool {
        for (at, side) in Side::ALL.into_iter().enumerate() {
            let out = std::mem::take(self.machine.output(0, side));
            self.decoders[at].feed(&out);
            while let Ok(Some(command)) = self.decoders[at].next() {
                self.unread[at].push_back(command.list().to_vec());
            }
        }
        let ways: Vec<usize> =
            (0..4).filter(|w| if *w < 2 { !self.unread[*w].is_empty() } else { !self.unheard[w - 2].is_empty() }).collect();
        if ways.is_empty() {
            return false;
        }
        let way = self.chance.pick(&ways);
        let at = way % 2;
        if way < 2 {
            let Some(command) = self.unread[at].pop_front() else { return false };
            let reply = self.answer(&command);
            self.unheard[at].push_back(reply);
        } else {
            let Some(reply) = self.unheard[at].pop_front() else { return false };
            let mut said = Vec::new();
            say(&reply, &mut said);
            let mut news: Vec<News> = Vec::new();
            self.machine.received(0, Side::ALL[at], self.now, &said, &mut news).expect("it makes sense");
        }
        self.machine.tick(self.now);
        for (token, outcome) in self.machine.take_ended() {
            self.served.push(match outcome {
                Ok(Done::Segments(s)) => (token, Some(s[0].index)),
                Ok(Done::Nothing) => (token, None),
                other => panic!("{other:?}"),
            });
        }
        true
    }
    fn rest(&mut self) {
        while self.step() {}
    }
}

#[test]
fn the_oldest_that_waits_is_served_first() {
    let mut between = 0;
    for seed in 0..3000 {
        let mut s = Server::new(seed);
        s.rest();
        // The key is one for which somebody has waited.
        s.take(0, true);
        s.rest();
        s.put();
        s.rest();
        assert_eq!(std::mem::take(&mut s.served), [(0, Some(1))], "seed {seed}");
        // Those that do not wait are served or are not, and are in nobody's way.
        let (mut asked, mut passing, mut left) = (0, 0, Vec::new());
        let leaves = s.chance.percent(30);
        for _ in 0..s.chance.between(10, 120) {
            match s.chance.below(8) {
                0 | 1 => {
                    asked += 1;
                    let name = s.take(asked, true);
                    if s.chance.percent(50) && leaves {
                        let _ = (0..s.chance.below(20)).all(|_| s.step());
                        if !s.served.iter().any(|(t, _)| *t == asked) {
                            s.machine.leave(s.now, name);
                            left.push(asked);
                        }
                    }
                }
                2 if s.chance.percent(30) => {
                    passing += 1;
                    s.take(1_000_000 + passing, false);
                }
                3 | 4 => s.put(),
                _ => _ = s.step(),
            }
            s.now += s.chance.below(2) * MS / 100;
        }
        let waited = |s: &Server| s.served.iter().filter(|(t, _)| *t < 1_000_000).count() as u64;
        s.rest();
        let mut before = waited(&s);
        while before + (left.len() as u64) < asked {
            s.put();
            s.rest();
            let now = waited(&s);
            assert_eq!(now, before + 1, "seed {seed}: one was put, and {} were served", now - before);
            before = now;
        }
        let waiters: Vec<(u64, u64)> = s.served.iter().filter_map(|(t, i)| Some((*t, (*i)?))).filter(|(t, _)| *t < 1_000_000).collect();
        // Some end with what they are given, others when that is confirmed. What comes back is older than what was taken meanwhile.
        for odd in [0, 1] {
            let one: Vec<(u64, u64)> = waiters.iter().filter(|w| !s.leases || w.0 % 2 == odd).copied().collect();
            let in_order = one.is_sorted_by_key(|w| w.0) && (leaves || one.is_sorted_by_key(|w| w.1));
            assert!(in_order, "seed {seed}: {waiters:?}");
        }
        let mut indexes: Vec<u64> = waiters.iter().map(|w| w.1).collect();
        indexes.sort_unstable();
        indexes.dedup();
        assert_eq!(indexes.len(), waiters.len(), "seed {seed}: two have the same: {waiters:?}");
        between += s.served.iter().filter(|(t, i)| *t >= 1_000_000 && i.is_none()).count();
    }
    assert!(between > 100, "{between}");
}
