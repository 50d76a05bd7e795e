//! A machine whose servers say anything: it does not panic, and each call ends once.

use crate::words::{say, text};
use bytes::Bytes;
use kumi_chance::Chance;
use kumi_redis::machine::{Broken, ClusterMap, Happened, Machine, News, Options, Side};
use kumi_redis::names::Namespace;
use kumi_redis::resp::{Decoder, Reply};
use kumi_segments::{Ask, Back, Call, Done, Kind, Put, Store, Time};
use std::collections::BTreeMap;

const MS: Time = 1_000_000;
const KEYS: [&[u8]; 4] = [b"a", b"b", b"{a}c", b""];

struct World {
    chance: Chance,
    now: Time,
    machine: Machine<u64>,
    /// What comes of the commands of each connection, and whether there is one.
    wires: BTreeMap<(usize, usize), (Decoder, bool)>,
    cluster: bool,
    /// In so many cases of a hundred they say what servers say.
    honest: u64,
    calls: Vec<u64>,
    begun: u64,
    ended: BTreeMap<u64, usize>,
    leases: Vec<u64>,
    /// Calls that were done, and events.
    done: [u64; 2],
}

impl World {
    fn new(seed: u64) -> World {
        let mut chance = Chance::new(seed);
        let mut options = Options::new(Namespace::new("kumi").unwrap(), "client".into());
        let cluster = chance.percent(40);
        options.cluster = cluster;
        options.replicas = chance.below(2) as u32;
        options.patience = 2_000 * MS;
        World {
            machine: Machine::new(0, options),
            honest: chance.between(80, 99),
            chance,
            now: 1,
            wires: BTreeMap::new(),
            cluster,
            calls: Vec::new(),
            begun: 0,
            ended: BTreeMap::new(),
            leases: Vec::new(),
            done: [0; 2],
        }
    }
    fn key(&mut self) -> Vec<u8> {
        self.chance.pick(&KEYS).to_vec()
    }
    fn call(&mut self) {
        let key = self.key();
        let store = |key: Vec<u8>, n: u64| Store {
            key,
            update: n & 1 == 0,
            value: Bytes::from(vec![b'v'; n as usize]),
            owned: n & 2 == 0,
            delay: (n & 12 == 0).then_some(MS),
            ttl: (n & 24 == 0).then_some(MS),
        };
        let n = self.chance.below(64);
        let lease = if self.leases.is_empty() { n } else { self.leases[n as usize % self.leases.len()] };
        let call = match self.chance.below(10) {
            0 | 1 => Call::Put(Put { store: store(key, n), wait: n & 4 == 0 }),
            2..=5 => {
                let kind = |n: u64| if n & 1 == 0 { Kind::Take } else { Kind::Peek };
                let mut inputs = vec![(key, kind(n), (n & 6 == 0).then_some(n))];
                if self.chance.percent(20) {
                    inputs.push((self.key(), kind(n >> 1), None));
                }
                Call::Get(Ask { inputs, lease: (n & 8 == 0).then_some(1000 * MS), wait: n & 16 == 0 })
            }
            6 => Call::Commit { leases: vec![lease], outputs: vec![store(key, n)] },
            7 => Call::GiveBack { lease, left: if n & 1 == 0 { Back::Same } else { Back::Unseen } },
            8 => Call::Names { prefix: Vec::new(), after: None, most: 10 },
            _ if n & 1 == 0 => Call::Stats(key),
            _ => Call::Limit(key, n & 3),
        };
        self.begun += 1;
        let deadline = self.chance.percent(30).then(|| self.now + self.chance.below(500) * MS);
        let name = self.machine.call(self.now, call, self.begun, deadline);
        self.calls.push(name);
    }
    /// What a server would say, more or less.
    fn reply(&mut self, command: &[Reply]) -> Option<Reply> {
        let word = |at: usize| command.get(at).and_then(Reply::bytes).cloned().unwrap_or_default();
        let honest = self.chance.percent(self.honest);
        if honest {
            match &word(0)[..] {
                b"HELLO" => {
                    let mode = if self.cluster { "cluster" } else { "standalone" };
                    let all = ["server", "redis", "version", "7.2.1", "mode", mode, "role", "master"];
                    return Some(Reply::List(all.map(text).to_vec()));
                }
                b"SUBSCRIBE" | b"UNSUBSCRIBE" => {
                    let kind = word(0).to_ascii_lowercase();
                    return Some(Reply::Push(vec![text(kind), text(word(1)), Reply::Number(1)]));
                }
                b"SCRIPT" => return Some(text("0123456789012345678901234567890123456789")),
                b"CLUSTER" => {
                    let node = |port| Reply::List(vec![text("h"), Reply::Number(port), text("id")]);
                    let range = |a, b, port| Reply::List(vec![Reply::Number(a), Reply::Number(b), node(port)]);
                    let middle = self.chance.below(16_382) as i64;
                    return Some(Reply::List(vec![range(0, middle, 1), range(middle + 1, 16_383, 2)]));
                }
                b"EVALSHA" if self.chance.percent(60) => {
                    let mut entry = vec![0; 29 + self.chance.below(9) as usize];
                    entry[15] = 1;
                    return Some(match self.chance.below(4) {
                        0 => Reply::Number(1),
                        1 => Reply::List(vec![Reply::Number(0), text(entry)]),
                        2 => Reply::List(vec![Reply::Number(1), Reply::Number(1), Reply::Number(-1)]),
                        _ => Reply::Number(self.chance.below(4) as i64 - 2),
                    });
                }
                b"PING" | b"SELECT" | b"WAIT" | b"HDEL" | b"ZREM" | b"SET" => return Some(Reply::Number(1)),
                _ => {}
            }
        }
        Some(self.anything(0))
    }
    fn anything(&mut self, deep: u64) -> Reply {
        let n = self.chance.next();
        let errors = [
            "ERR x",
            "MOVED 1 h:1",
            "ASK 1 h:2",
            "NOSCRIPT",
            "TRYAGAIN",
            "LATE",
            "OOM",
            "READONLY",
            "LOADING",
            "WRONGPASS x",
            "CLUSTERDOWN",
            "NOAUTH",
            "",
            "ERR unknown command",
        ];
        match self.chance.below(if deep > 2 { 5 } else { 7 }) {
            0 => Reply::Line("OK".into()),
            1 => Reply::Error(Bytes::from_static(self.chance.pick(&errors).as_bytes())),
            2 => Reply::Number(n as i64 >> self.chance.below(64)),
            3 => Reply::Null,
            4 => text(&n.to_be_bytes().repeat(5)[..self.chance.below(41) as usize]),
            _ => Reply::List((0..self.chance.below(4)).map(|_| self.anything(deep + 1)).collect()),
        }
    }
    /// What comes on channels by itself.
    fn push(&mut self) -> Reply {
        let ns = Namespace::new("kumi").unwrap();
        let key = self.key();
        let channel = if self.chance.percent(50) { ns.channel(&key) } else { ns.watch_channel(&key) };
        let payload = match self.chance.below(4) {
            0 => text("r"),
            1 => text(self.chance.below(5).to_string()),
            2 => text([1 + self.chance.below(6) as u8, 0, 0, 0, 0, 0, 0, 0, 9, 0, b'v']),
            _ => self.anything(0),
        };
        match self.chance.below(8) {
            0 => Reply::Push(vec![]),
            1 => Reply::Push(vec![text("subscribe"), Reply::Text(channel), Reply::Number(1)]),
            2 => Reply::Push(vec![text("unsubscribe"), Reply::Text(channel)]),
            _ => Reply::Push(vec![text("message"), Reply::Text(channel), payload]),
        }
    }
    /// The machine's connections are where it has lines.
    fn connect(&mut self) {
        for line in 0..self.machine.lines() {
            if self.cluster && self.machine.node(line).is_none() {
                continue;
            }
            for (at, side) in Side::ALL.into_iter().enumerate() {
                let wire = self.wires.entry((line, at)).or_default();
                if !wire.1 && self.chance.percent(50) {
                    *wire = (Decoder::default(), true);
                    self.machine.connected(line, side, self.now);
                } else if !wire.1 {
                    // The one for calls comes first.
                    break;
                }
            }
        }
        if self.machine.is_lost() && self.chance.percent(50) {
            let command = [text("CLUSTER"), text("SLOTS")];
            let reply = self.reply(&command).unwrap();
            match ClusterMap::read(&reply, "h") {
                Ok(map) => self.machine.told_map(self.now, &map, &mut Vec::new()),
                Err(why) => self.machine.no_map(self.now, &why),
            }
        }
    }
    fn lose(&mut self, line: usize, why: &Broken) {
        (0..2).for_each(|at| drop(self.wires.remove(&(line, at))));
        self.machine.disconnected(line, self.now, why);
    }
    fn serve(&mut self) {
        let up: Vec<(usize, usize)> = self.wires.iter().filter(|(_, w)| w.1).map(|(at, _)| *at).collect();
        for (line, at) in up {
            let side = Side::ALL[at];
            if self.machine.lines() <= line || !self.wires.get(&(line, at)).is_some_and(|w| w.1) {
                continue;
            }
            let out = std::mem::take(self.machine.output(line, side));
            let mut said = Vec::new();
            let mut commands = Vec::new();
            if let Some(wire) = self.wires.get_mut(&(line, at)) {
                wire.0.feed(&out);
                while let Ok(Some(command)) = wire.0.next() {
                    commands.push(command);
                }
            }
            for command in commands {
                if let Some(reply) = self.reply(command.list()) {
                    say(&reply, &mut said);
                }
            }
            if self.chance.percent(20) {
                let push = self.push();
                say(&push, &mut said);
            }
            if !said.is_empty() && self.chance.percent(100 - self.honest) && self.chance.percent(10) {
                self.chance.spoil(&mut said);
            }
            let mut news: Vec<News> = Vec::new();
            let received = self.machine.received(line, side, self.now, &said, &mut news);
            if let Err(why) = received {
                self.lose(line, &why);
            } else if self.chance.percent(1) || self.machine.is_dead(line, self.now) {
                self.lose(line, &Broken::Passing("lost".into()));
            }
        }
    }
    fn collect(&mut self) {
        for (token, outcome) in self.machine.take_ended() {
            *self.ended.entry(token).or_default() += 1;
            self.done[0] += u64::from(outcome.is_ok());
            if let Ok(Done::Segments(all)) = outcome {
                self.leases.extend(all.iter().filter_map(|s| s.lease));
            }
        }
        self.done[1] += self.machine.take_happened().iter().filter(|h| matches!(h.1, Happened::Event(_))).count() as u64;
    }
}

#[test]
fn whatever_servers_say_each_call_ends_once() {
    let (mut begun, mut done) = (0, [0; 2]);
    for seed in 0..400 {
        let mut w = World::new(seed);
        let mut left = Vec::new();
        for _ in 0..60 {
            w.connect();
            match w.chance.below(8) {
                0..=3 => w.call(),
                4 => {
                    if let Some(at) = (!w.calls.is_empty()).then(|| w.chance.below(w.calls.len() as u64) as usize) {
                        left.push(w.calls[at]);
                        w.machine.leave(w.now, w.calls[at]);
                    }
                }
                5 => {
                    let key = Bytes::from(w.key());
                    w.machine.watch(w.now, &key);
                    if w.chance.percent(50) {
                        w.machine.unwatch(w.now, &key);
                    }
                }
                _ => {
                    if let Some(at) = (!w.calls.is_empty()).then(|| w.chance.below(w.calls.len() as u64) as usize) {
                        w.machine.used(w.calls[at]);
                    }
                }
            }
            w.serve();
            w.now += w.chance.below(300) * MS;
            w.machine.tick(w.now);
            w.collect();
        }
        assert!(w.machine.open_calls() == 0 || w.machine.next_deadline().is_some(), "seed {seed}: it sleeps for ever");
        w.machine.close(w.now);
        w.collect();
        for token in 1..=w.begun {
            let times = w.ended.get(&token).copied().unwrap_or(0);
            let was_left = left.contains(&w.calls[token as usize - 1]);
            assert!(times == 1 || was_left && times == 0, "seed {seed}: call {token} has ended {times} times");
        }
        begun += w.begun;
        done = [done[0] + w.done[0], done[1] + w.done[1]];
    }
    // It comes to something now and then.
    assert!(done[0] > begun / 20 && done[1] > 20, "{done:?} of {begun}");
}
