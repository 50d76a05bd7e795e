//! Takes and puts under one key, of one client, of which several are under way at a time: what others do there falls between any two of
//! them, what is told of it comes at any time, and connections are lost.

use crate::words::{say, text};
use bytes::Bytes;
use kumi_chance::Chance;
use kumi_redis::machine::{Broken, Machine, News, Options, Side};
use kumi_redis::names::Namespace;
use kumi_redis::resp::{Decoder, Reply};
use kumi_segments::{Ask, Call, Done, Failure, Kind, Put, Refusal, Store, Time, Trouble};
use std::collections::{HashMap, HashSet, VecDeque};

const KEY: &[u8] = b"k";
/// Another, which takes of both need too.
const OTHER: &[u8] = b"{k}2";
/// Tokens from here on are of calls that do not wait; from there on, of takes of both.
const PASSING: u64 = 1_000_000;
const OF_BOTH: u64 = 2_000_000;
const MS: Time = 1_000_000;

/// A server with two keys, and the two wires to it. Each command, each reply and each message is on its way for a while.
struct Server {
    chance: Chance,
    machine: Machine<u64>,
    now: Time,
    /// Commands that the server has not read, by wire; and what it has said that the machine has not.
    unread: [VecDeque<Vec<Reply>>; 2],
    unheard: [VecDeque<Reply>; 2],
    decoders: [Decoder; 2],
    queue: VecDeque<u64>,
    other: VecDeque<u64>,
    /// What was taken under leases, by their names; of the other key?
    held: HashMap<Bytes, (bool, u64)>,
    put: u64,
    /// So many may stand there.
    limit: usize,
    /// What each line of the client's table has come to: a number, and its result unless there was no room.
    rows: HashMap<Bytes, (u64, Option<i64>)>,
    /// Tokens of puts, in the order in which they have entered.
    entered: Vec<u64>,
    leases: bool,
    connected: bool,
    /// Channels that are heard on this connection.
    heard: HashSet<Bytes>,
    /// Somebody has waited, and wants to be told.
    tells: bool,
    /// Calls that have ended, in that order, and what they were given.
    served: Vec<(u64, Option<u64>)>,
}

impl Server {
    fn new(seed: u64) -> Server {
        let options = Options::new(Namespace::new("kumi").unwrap(), "client".into());
        let machine = Machine::new(0, options);
        let mut chance = Chance::new(seed);
        let mut server = Server {
            connected: false,
            heard: HashSet::new(),
            leases: chance.percent(30),
            chance,
            machine,
            now: 0,
            unread: Default::default(),
            unheard: Default::default(),
            decoders: Default::default(),
            queue: VecDeque::new(),
            other: VecDeque::new(),
            held: HashMap::new(),
            put: 0,
            limit: usize::MAX,
            rows: HashMap::new(),
            entered: Vec::new(),
            tells: false,
            served: Vec::new(),
        };
        server.connect();
        server
    }
    /// Of tokens that are odd, under a lease if there are some.
    fn take(&mut self, token: u64, wait: bool) -> u64 {
        let lease = (self.leases && token % 2 == 1).then_some(3_600_000 * MS);
        let ask = Ask { inputs: vec![(KEY.to_vec(), Kind::Take, None)], lease, wait };
        self.machine.call(self.now, Call::Get(ask), token, None)
    }
    fn take_both(&mut self, token: u64) {
        let inputs = vec![(KEY.to_vec(), Kind::Take, None), (OTHER.to_vec(), Kind::Take, None)];
        self.machine.call(self.now, Call::Get(Ask { inputs, lease: None, wait: true }), token, None);
    }
    /// Whoever waits for this call leaves soon, or does not.
    fn leaves(&mut self, token: u64, name: u64) -> bool {
        let waits = self.chance.percent(50) && {
            let _ = (0..self.chance.below(20)).all(|_| self.step());
            !self.served.iter().any(|(t, _)| *t == token)
        };
        if waits {
            self.machine.leave(self.now, name);
        }
        waits
    }
    /// The connections are lost, and what is on its way with them. There are new ones at once, or later.
    fn lose(&mut self) {
        self.unread.iter_mut().for_each(VecDeque::clear);
        self.unheard.iter_mut().for_each(VecDeque::clear);
        self.decoders = Default::default();
        self.heard.clear();
        self.connected = false;
        self.machine.disconnected(0, self.now, &Broken::Passing("lost".into()));
        self.collect();
        if self.chance.percent(70) {
            self.connect();
        }
    }
    fn connect(&mut self) {
        Side::ALL.into_iter().for_each(|side| self.machine.connected(0, side, self.now));
        self.connected = true;
    }
    /// What is put is the token.
    fn puts(&mut self, token: u64, wait: bool) -> u64 {
        let value = Bytes::from(token.to_string());
        let store = Store { key: KEY.to_vec(), update: false, value, owned: false, delay: None, ttl: None };
        self.machine.call(self.now, Call::Put(Put { store, wait }), token, None)
    }
    /// Another client puts something.
    fn put(&mut self) {
        self.put += 1;
        self.queue.push_back(self.put);
        self.tell();
    }
    /// Another client takes something.
    fn take_away(&mut self) {
        if self.queue.pop_front().is_some() && self.limit < usize::MAX {
            self.say(KEY, "r");
        }
    }
    fn put_other(&mut self) {
        self.put += 1;
        self.other.push_back(self.put);
        self.say(OTHER, &self.other.len().to_string());
    }
    fn tell(&mut self) {
        if self.tells || self.limit < usize::MAX {
            self.say(KEY, &self.queue.len().to_string());
        }
    }
    fn say(&mut self, key: &[u8], message: &str) {
        let channel = Namespace::new("kumi").unwrap().channel(key);
        if !self.heard.contains(&channel) {
            return;
        }
        self.unheard[1].push_back(Reply::Push(vec![text("message"), Reply::Text(channel), text(message)]));
    }
    /// As `put.lua` does it.
    fn enters(&mut self, row: Bytes, number: u64, before: Option<(Bytes, u64)>, token: u64) -> Reply {
        match self.rows.get(&row) {
            Some((last, Some(result))) if *last == number => return Reply::Number(*result),
            Some((last, _)) if *last > number => return Reply::Error("LATE".into()),
            _ => {}
        }
        if let Some((row_before, number_before)) = before {
            match self.rows.get(&row_before) {
                Some((last, result)) if *last > number_before || *last == number_before && result.is_some() => {}
                Some((last, _)) if *last == number_before => {
                    self.rows.insert(row, (number, None));
                    return Reply::Number(-2);
                }
                _ => return Reply::Error("TRYAGAIN".into()),
            }
        }
        if self.queue.len() >= self.limit {
            self.rows.insert(row, (number, None));
            return Reply::Number(-1);
        }
        self.put();
        self.entered.push(token);
        self.rows.insert(row, (number, Some(self.put as i64)));
        Reply::Number(self.put as i64)
    }
    /// What was taken stands in its place again.
    fn comes_back(&mut self, (other, index): (bool, u64)) {
        let queue = if other { &mut self.other } else { &mut self.queue };
        let at = queue.iter().position(|i| *i > index).unwrap_or(queue.len());
        queue.insert(at, index);
        if other { self.say(OTHER, &self.other.len().to_string()) } else { self.tell() }
    }
    /// `None`: it was said on its channel.
    fn answer(&mut self, command: &[Reply]) -> Option<Reply> {
        let word = |at: usize| command.get(at).and_then(Reply::bytes).cloned().unwrap_or_default();
        let number = |at: usize| String::from_utf8_lossy(&word(at)).parse().unwrap_or(0);
        Some(match (&word(0)[..], &word(2)[..]) {
            (b"HELLO", _) => {
                let all = ["server", "redis", "version", "7.2.1", "mode", "standalone", "role", "master"];
                Reply::List(all.map(text).to_vec())
            }
            (b"SUBSCRIBE" | b"UNSUBSCRIBE", _) => {
                for channel in command[1..].iter().filter_map(Reply::bytes) {
                    match &word(0)[..] {
                        b"SUBSCRIBE" => _ = self.heard.insert(channel.clone()),
                        _ => _ = self.heard.remove(channel),
                    }
                    let kind = text(word(0).to_ascii_lowercase());
                    self.unheard[1].push_back(Reply::Push(vec![kind, Reply::Text(channel.clone()), Reply::Number(1)]));
                }
                return None;
            }
            (b"SCRIPT", _) => text("0123456789012345678901234567890123456789"),
            // It gives back.
            (b"EVALSHA", b"2") if word(4).ends_with(b"m") => {
                let back = match &word(9)[..] {
                    b"entry" => Some((false, u64::from_be_bytes(word(10)[8..16].try_into().expect("an entry")))),
                    _ => self.held.remove(&word(8)),
                };
                if let Some((_, Some(result))) = self.rows.get(&word(5)).filter(|r| r.0 == number(6)) {
                    return Some(Reply::Number(*result));
                }
                if let Some(back) = back {
                    self.rows.insert(word(5), (number(6), Some(1)));
                    self.comes_back(back);
                }
                Reply::Number(back.is_some().into())
            }
            // It confirms once more that its leases end.
            (b"EVALSHA", _) if word(3).ends_with(b"h") => {
                let keys = number(2) as usize;
                (0..number(3 + keys) as usize).for_each(|n| _ = self.held.remove(&word(9 + keys + n)));
                Reply::Number(1)
            }
            // Of inputs, and the registry.
            (b"EVALSHA", _) if word(2)[..] != *b"4" && word(3).ends_with(b"i") => {
                let keys = number(2) as usize;
                for name in String::from_utf8_lossy(&word(6 + keys)).split_whitespace() {
                    for n in 1..keys {
                        let back = self.held.remove(format!("{name}.{n}").as_bytes());
                        back.into_iter().for_each(|back| self.comes_back(back));
                    }
                }
                let other = |n: usize| word(9 + keys + 3 * n)[..] == *OTHER;
                let missing = (0..keys - 1).find(|n| if other(*n) { self.other.is_empty() } else { self.queue.is_empty() });
                if let Some(n) = missing {
                    self.tells |= word(5 + keys)[..] == *b"1";
                    return Some(Reply::List(vec![Reply::Number(1), Reply::Number(n as i64 + 1), Reply::Number(-1)]));
                }
                let mut all = vec![Reply::Number(0)];
                for n in 0..keys - 1 {
                    let queue = if other(n) { &mut self.other } else { &mut self.queue };
                    let index = queue.pop_front().expect("it is there");
                    let mut entry = vec![0; 29];
                    entry[8..16].copy_from_slice(&index.to_be_bytes());
                    self.held.insert(format!("{}.{}", String::from_utf8_lossy(&word(4 + keys)), n + 1).into(), (other(n), index));
                    all.push(text(entry));
                }
                Reply::List(all)
            }
            (b"EVALSHA", b"4") if word(4).ends_with(b"q") => {
                let before = (command.len() > 13).then(|| (word(13), number(14)));
                let token = String::from_utf8_lossy(&word(12)[13..]).parse().expect("a token");
                self.enters(word(7), number(8), before, token)
            }
            (b"HDEL", _) => Reply::Number(self.held.remove(&word(2)).is_some().into()),
            _ => Reply::Number(1),
        })
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
            self.unheard[at].extend(reply);
        } else {
            let Some(reply) = self.unheard[at].pop_front() else { return false };
            let mut said = Vec::new();
            say(&reply, &mut said);
            let mut news: Vec<News> = Vec::new();
            self.machine.received(0, Side::ALL[at], self.now, &said, &mut news).expect("it makes sense");
        }
        self.machine.tick(self.now);
        self.collect();
        true
    }
    fn collect(&mut self) {
        for (token, outcome) in self.machine.take_ended() {
            self.served.push(match outcome {
                Ok(Done::Segments(s)) => (token, Some(s[0].index)),
                Ok(Done::Stored(index)) => (token, index),
                Ok(Done::Nothing) | Err(Trouble::Failure(Failure::Refused(Refusal::Full))) => (token, None),
                other => panic!("{other:?}"),
            });
        }
    }
    fn rest(&mut self) {
        if !self.connected {
            self.connect();
        }
        while self.step() {}
    }
}

#[test]
fn the_oldest_that_waits_is_served_first() {
    let mut between = 0;
    for seed in 0..3000 {
        let mut s = Server::new(seed);
        s.rest();
        // The key is one for which somebody has waited, or is not.
        let mut known = s.chance.percent(80);
        if known {
            s.take(0, true);
            s.rest();
            s.put();
            s.rest();
            assert_eq!(std::mem::take(&mut s.served), [(0, Some(1))], "seed {seed}");
        }
        let (loses, both) = (s.chance.percent(30), s.chance.percent(30));
        let mut of_both = 0;
        // Those that do not wait are served or are not, and are in nobody's way.
        let (mut asked, mut passing, mut left) = (0, 0, Vec::new());
        let leaves = s.chance.percent(30);
        for _ in 0..s.chance.between(10, 120) {
            match s.chance.below(8) {
                0 | 1 => {
                    asked += 1;
                    let name = s.take(asked, true);
                    if leaves && s.leaves(asked, name) {
                        left.push(asked);
                    }
                }
                2 if s.chance.percent(30) => {
                    passing += 1;
                    s.take(PASSING + passing, false);
                }
                3 | 4 => s.put(),
                5 if both && s.chance.percent(50) => {
                    of_both += 1;
                    s.take_both(OF_BOTH + of_both);
                }
                5 if both => s.put_other(),
                6 if loses && s.chance.percent(20) => s.lose(),
                6 if !s.connected => s.connect(),
                7 if loses && s.chance.percent(10) => {
                    // Nobody is asked about what he has asked long ago. By then the key may be heard no more.
                    s.rest();
                    s.now += 25 * 60_000 * MS;
                    known = false;
                }
                _ => _ = s.step(),
            }
            s.now += s.chance.below(2) * MS / 100;
        }
        s.rest();
        loop {
            let ended = |t: u64| s.served.iter().any(|(token, _)| *token == t);
            let one = (1..=asked).filter(|t| !left.contains(t) && !ended(*t)).count();
            let two = (1..=of_both).filter(|t| !ended(OF_BOTH + t)).count();
            if one + two == 0 {
                break;
            }
            let here = (s.queue.len(), s.other.len());
            assert!(here.0 == 0 || one == 0 && here.1 == 0, "seed {seed}: {here:?} stand, and {one} and {two} wait");
            let before = s.served.len();
            s.put();
            if two > 0 {
                s.put_other();
            }
            s.rest();
            assert!(s.served.len() > before, "seed {seed}: one was put, and {one} and {two} wait");
        }
        let waiters: Vec<(u64, u64)> = s.served.iter().filter_map(|(t, i)| Some((*t, (*i)?))).filter(|(t, _)| *t < PASSING).collect();
        // Some end with what they are given, others when that is confirmed. What comes back is older than what was taken meanwhile.
        for odd in [0, 1] {
            let one: Vec<(u64, u64)> = waiters.iter().filter(|w| !s.leases || w.0 % 2 == odd).copied().collect();
            let in_order = one.is_sorted_by_key(|w| w.0) && (leaves || loses || one.is_sorted_by_key(|w| w.1));
            assert!(in_order || !known, "seed {seed}: {waiters:?}");
        }
        let mut indexes: Vec<u64> = waiters.iter().map(|w| w.1).collect();
        indexes.sort_unstable();
        indexes.dedup();
        assert_eq!(indexes.len(), waiters.len(), "seed {seed}: two have the same: {waiters:?}");
        between += s.served.iter().filter(|(t, i)| *t >= PASSING && i.is_none()).count();
    }
    assert!(between > 100, "{between}");
}

#[test]
fn the_oldest_put_that_waits_enters_first() {
    let mut refused = 0;
    for seed in 0..3000 {
        let mut s = Server::new(seed);
        s.rest();
        s.limit = s.chance.between(1, 6) as usize;
        let (mut asked, mut passing, mut left) = (0, 0, Vec::new());
        let (leaves, loses) = (s.chance.percent(30), s.chance.percent(30));
        for _ in 0..s.chance.between(10, 120) {
            match s.chance.below(8) {
                0 | 1 => {
                    asked += 1;
                    let name = s.puts(asked, true);
                    if leaves && s.leaves(asked, name) {
                        left.push(asked);
                    }
                }
                2 if s.chance.percent(30) => {
                    passing += 1;
                    s.puts(PASSING + passing, false);
                }
                3 => s.take_away(),
                6 if loses && s.chance.percent(20) => s.lose(),
                6 if !s.connected => s.connect(),
                _ => _ = s.step(),
            }
            s.now += s.chance.below(2) * MS / 100;
        }
        s.rest();
        loop {
            let missing = (1..=asked).filter(|t| !left.contains(t) && !s.entered.contains(t)).count();
            if missing == 0 {
                break;
            }
            assert_eq!(s.queue.len(), s.limit, "seed {seed}: there is room, and {missing} wait");
            let before = s.entered.len();
            s.take_away();
            s.rest();
            assert_eq!(s.entered.len(), before + 1, "seed {seed}: {missing} wait");
        }
        let waited: Vec<u64> = s.entered.iter().copied().filter(|t| *t < PASSING).collect();
        assert!(waited.is_sorted(), "seed {seed}: {waited:?}");
        let mut told: Vec<u64> = s.served.iter().filter(|(_, i)| i.is_some()).map(|(t, _)| *t).collect();
        let mut entered: Vec<u64> = s.entered.iter().copied().filter(|t| !left.contains(t)).collect();
        told.sort_unstable();
        entered.sort_unstable();
        assert_eq!(told, entered, "seed {seed}");
        refused += s.served.iter().filter(|(_, i)| i.is_none()).count();
    }
    assert!(refused > 100, "{refused}");
}
