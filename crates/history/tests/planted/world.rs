//! Clients of the owner, and a network that delays, loses and repeats; and the history that they write.

use crate::owner::{Answers, Ask, Bug, LEASE, Ms, Owner, Reply};
use kumi_history::{Call, History, Mark, Op, Outcome, What};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Numbers that look like chance and follow from a seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn percent(&mut self, p: u64) -> bool {
        self.below(100) < p
    }
}

const NS: u64 = 1_000_000;
/// Puts and takes; outputs; a register; puts, takes and updates.
const KEYS: [&str; 4] = ["o/q", "o/out", "o/state", "o/mixed"];
const CLIENTS: usize = 5;
const LONG: Ms = 4000;
const RETRY: Ms = 60;
const TRIES: u32 = 2;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Begin(usize, u32),
    /// A client's call comes to the owner.
    Asked(usize, u64),
    Answered(usize, u64, u64),
    /// It is sent again.
    Retry(usize, u64, u32),
    /// A take's time is over.
    Over(usize, u64),
    /// A run under this lease has ended.
    Ran(usize, u64),
    Crash,
    Kill(usize),
    Tick,
}

struct Client {
    process: u32,
    lives: u32,
    /// The call under way, and the operation in the history that it is for.
    call: Option<(u64, Ask)>,
    ops: Vec<usize>,
    /// The lease of a run.
    held: Option<u64>,
}

struct World {
    chance: Chance,
    now: Ms,
    events: BinaryHeap<Reverse<(Ms, u64, Event)>>,
    count: u64,
    owner: Owner,
    clients: Vec<Client>,
    replies: Vec<Reply>,
    history: History,
    value: u64,
    number: u64,
    over: bool,
}

/// A run with this seed.
pub fn run(seed: u64, bug: Option<Bug>) -> History {
    let mut w = World {
        chance: Chance(seed),
        now: 0,
        events: BinaryHeap::new(),
        count: 0,
        owner: Owner::new(KEYS.len(), bug),
        clients: Vec::new(),
        replies: Vec::new(),
        history: History::new(),
        value: 0,
        number: 0,
        over: false,
    };
    for c in 0..CLIENTS {
        let process = w.history.intern(&format!("n{c}/0"));
        w.clients.push(Client { process, lives: 0, call: None, ops: Vec::new(), held: None });
        w.at(c as u64, Event::Begin(c, 0));
    }
    for t in 1..4 {
        w.at(t * 1000, Event::Crash);
    }
    let (at, who) = (w.chance.below(LONG), w.chance.below(CLIENTS as u64));
    w.at(at, Event::Kill(who as usize));
    w.at(50, Event::Tick);
    while let Some(Reverse((t, _, e))) = w.events.pop() {
        w.now = t;
        w.over = t > LONG;
        if t > LONG + 20 * LEASE {
            break;
        }
        w.happen(e);
    }
    w.end();
    w.history.sort();
    w.history
}

impl World {
    fn at(&mut self, later: Ms, e: Event) {
        self.count += 1;
        self.events.push(Reverse((self.now + later, self.count, e)));
    }
    fn ns(&mut self) -> u64 {
        // Within a millisecond things have an order, too.
        self.count += 1;
        self.now * NS + self.count % NS
    }
    fn happen(&mut self, e: Event) {
        let mut out: Answers = Vec::new();
        match e {
            Event::Begin(c, life) if !self.over && life == self.clients[c].lives => self.begin(c),
            Event::Begin(..) => {}
            Event::Asked(c, n) => {
                let Some((number, ask)) = self.clients[c].call.clone() else { return };
                // What it does not wait for any more may still arrive.
                if number == n {
                    self.owner.receive(self.now, c, n, ask, &mut out);
                }
            }
            Event::Answered(c, n, at) => self.answered(c, n, self.replies[at as usize]),
            Event::Retry(c, n, tries) => self.retry(c, n, tries),
            Event::Over(c, n) => {
                if self.clients[c].call.as_ref().is_some_and(|x| x.0 == n) {
                    self.ask(c, Ask::Leave(n));
                }
            }
            Event::Ran(c, lease) => self.ran(c, lease),
            Event::Crash => self.owner.crash(self.now),
            Event::Kill(c) => {
                // Rather one that holds something.
                let holds = (0..CLIENTS).find(|c| self.clients[*c].held.is_some());
                self.kill(holds.unwrap_or(c));
            }
            Event::Tick => {
                self.owner.tick(self.now, &mut out);
                if self.now < LONG + 15 * LEASE {
                    self.at(50, Event::Tick);
                }
            }
        }
        for (c, n, r) in out {
            if !self.chance.percent(8) {
                self.replies.push(r);
                let delay = 1 + self.chance.below(15);
                self.at(delay, Event::Answered(c, n, self.replies.len() as u64 - 1));
            }
        }
    }
    fn note(&mut self, c: usize, call: Call, key: usize, value: Option<u64>) -> usize {
        let (process, key) = (self.clients[c].process, self.history.intern(KEYS[key]));
        let value = value.map(|v| self.history.intern(&v.to_string()));
        let start = self.ns();
        let number = self.history.ops.len() as u64;
        let outcome = Outcome::Unknown;
        self.history.ops.push(Op {
            process,
            number,
            call,
            key,
            value,
            start,
            held: None,
            end: None,
            outcome,
            index: None,
            commit: None,
            joint: false,
        });
        self.clients[c].ops.push(number as usize);
        number as usize
    }
    fn new_value(&mut self) -> u64 {
        self.value += 1;
        self.value
    }
    fn begin(&mut self, c: usize) {
        self.clients[c].ops.clear();
        self.clients[c].held = None;
        let key = [0, 0, 3][self.chance.below(3) as usize];
        match self.chance.below(100) {
            0..34 => {
                let v = self.new_value();
                self.note(c, Call::Put, key, Some(v));
                self.ask(c, Ask::Put(key, v));
            }
            34..52 => {
                self.note(c, Call::Take, key, None);
                self.ask(c, Ask::Take { key, leased: false, wait: true });
                let long = 100 + self.chance.below(400);
                let n = self.number;
                self.at(long, Event::Over(c, n));
            }
            52..60 => {
                self.note(c, Call::Take, key, None);
                self.ask(c, Ask::Take { key, leased: false, wait: false });
            }
            60..76 => {
                self.note(c, Call::Take, 0, None);
                self.ask(c, Ask::Take { key: 0, leased: true, wait: true });
                if self.chance.percent(80) {
                    let (long, n) = (100 + self.chance.below(900), self.number);
                    self.at(long, Event::Over(c, n));
                }
            }
            76..86 => {
                let key = if self.chance.percent(70) { 2 } else { 3 };
                let v = self.new_value();
                self.note(c, Call::Update, key, Some(v));
                self.ask(c, Ask::Update(key, v));
            }
            _ => {
                let key = [0, 2, 2, 3][self.chance.below(4) as usize];
                self.note(c, Call::Peek, key, None);
                self.ask(c, Ask::Peek(key));
            }
        }
    }
    fn ask(&mut self, c: usize, ask: Ask) {
        self.number += 1;
        self.clients[c].call = Some((self.number, ask));
        self.send(c, self.number, 1);
    }
    fn send(&mut self, c: usize, n: u64, tries: u32) {
        if !self.chance.percent(8) {
            let delay = 1 + self.chance.below(15);
            self.at(delay, Event::Asked(c, n));
            if self.chance.percent(10) {
                let delay = 1 + self.chance.below(60);
                self.at(delay, Event::Asked(c, n));
            }
        }
        self.at(RETRY, Event::Retry(c, n, tries));
    }
    fn retry(&mut self, c: usize, n: u64, tries: u32) {
        let Some((number, ask)) = &self.clients[c].call else { return };
        if *number != n {
            return;
        }
        // Who waits goes on waiting.
        let waits = matches!(ask, Ask::Take { wait: true, .. } | Ask::Leave(_) | Ask::Back(_));
        if tries < TRIES || waits {
            return self.send(c, n, tries + 1);
        }
        self.finish(c, Outcome::Unknown, None);
    }
    /// The operation under way has ended; another follows.
    fn finish(&mut self, c: usize, outcome: Outcome, found: Option<(u64, u64)>) {
        let end = self.ns();
        let found = found.map(|(v, i)| (self.history.intern(&v.to_string()), i));
        for i in self.clients[c].ops.clone() {
            let o = &mut self.history.ops[i];
            (o.end, o.outcome) = (Some(end), outcome);
            if let Some((v, index)) = found.filter(|_| matches!(o.call, Call::Take | Call::Peek)) {
                (o.value, o.index) = (Some(v), Some(index));
            }
        }
        self.clients[c].call = None;
        let (pause, life) = (self.chance.below(30), self.clients[c].lives);
        self.at(pause, Event::Begin(c, life));
    }
    fn answered(&mut self, c: usize, n: u64, r: Reply) {
        let Some((number, ask)) = self.clients[c].call.clone() else { return };
        if number != n {
            return;
        }
        match (ask, r) {
            (Ask::Put(..) | Ask::Update(..), Reply::Stored(index)) => {
                let i = self.clients[c].ops[0];
                self.history.ops[i].index = Some(index);
                self.finish(c, Outcome::Ok, None);
            }
            (_, Reply::Segment { value, index, lease: Some(lease) }) => {
                let i = self.clients[c].ops[0];
                let held = self.ns();
                let value = self.history.intern(&value.to_string());
                let o = &mut self.history.ops[i];
                (o.value, o.index, o.held) = (Some(value), Some(index), Some(held));
                self.clients[c].call = None;
                self.clients[c].held = Some(lease);
                let long = if self.chance.percent(15) { LEASE + 300 } else { self.chance.below(200) };
                self.at(long, Event::Ran(c, lease));
            }
            (_, Reply::Segment { value, index, .. }) => self.finish(c, Outcome::Ok, Some((value, index))),
            (Ask::Leave(_), _) => self.finish(c, Outcome::Refused, None),
            (Ask::Commit(..), Reply::Stored(index)) => {
                if let Some(put) = self.clients[c].ops.get(1).copied().filter(|_| index > 0) {
                    self.history.ops[put].index = Some(index);
                }
                self.finish(c, Outcome::Ok, None);
            }
            (Ask::Commit(..), _) => self.finish(c, Outcome::Refused, None),
            (Ask::Back(_), _) => self.finish(c, Outcome::Back, None),
            (_, _) => self.finish(c, Outcome::Empty, None),
        }
    }
    /// A run ends with a commit, or gives back what it took.
    fn ran(&mut self, c: usize, lease: u64) {
        if self.clients[c].held.take_if(|l| *l == lease).is_none() {
            return;
        }
        if self.chance.percent(30) {
            return self.ask(c, Ask::Back(lease));
        }
        let v = self.new_value();
        let put = self.note(c, Call::Put, 1, Some(v));
        let take = self.clients[c].ops[0];
        self.history.ops[put].commit = Some(lease);
        self.history.ops[take].commit = Some(lease);
        self.ask(c, Ask::Commit(lease, 1, v));
    }
    /// The client ends, and another has its place.
    fn kill(&mut self, c: usize) {
        let now = self.ns();
        let (scope, text) = (self.clients[c].process, self.history.intern(""));
        self.history.marks.push(Mark { what: What::Killed, scope, start: now, end: now, text });
        self.clients[c].lives += 1;
        let lives = self.clients[c].lives;
        self.clients[c].process = self.history.intern(&format!("n{c}/{lives}"));
        self.clients[c].call = None;
        self.clients[c].ops.clear();
        self.clients[c].held = None;
        self.at(100, Event::Begin(c, lives));
    }
    /// Nothing is on its way any more. What is left is taken.
    fn end(&mut self) {
        // Those that wait for ever are told to end.
        for c in 0..CLIENTS {
            let waits = matches!(self.clients[c].call, Some((_, Ask::Take { leased: true, .. })));
            if waits && self.owner.bug != Some(Bug::LostWaiter) {
                self.now += 1;
                self.finish(c, Outcome::Refused, None);
            }
        }
        self.now += 2 * LEASE;
        let text = self.history.intern("");
        let start = self.ns();
        self.history.marks.push(Mark { what: What::Settled, scope: text, start, end: start, text });
        let drain = self.history.intern("drain/1");
        self.clients[0].process = drain;
        // A register is read, not taken.
        for key in [0, 1, 3] {
            self.now += 1;
            while let Some((value, index)) = self.owner.drain(key) {
                let i = self.note(0, Call::Take, key, Some(value));
                let end = self.ns();
                let o = &mut self.history.ops[i];
                (o.index, o.end, o.outcome) = (Some(index), Some(end), Outcome::Ok);
            }
        }
        self.now += 1;
        let start = self.ns();
        self.history.marks.push(Mark { what: What::Drained, scope: text, start, end: start, text });
    }
}

/// A short history of one queue that may be right or wrong.
pub fn nonsense(seed: u64) -> History {
    let mut c = Chance(seed ^ 0xABCD);
    let mut h = History::new();
    let key = h.intern("o/q");
    let values = 2 + c.below(4);
    let doubtful = seed % 2 == 1;
    for n in 0..values * 2 + c.below(3) {
        let process = h.intern(&format!("n{n}/0"));
        let value = h.intern(&(n % values).to_string());
        let start = (c.below(60) + if n < values { 0 } else { 25 }) * 100 + n;
        let end = start + (1 + c.below(20)) * 100;
        let (call, outcome) = match n {
            n if n < values => (Call::Put, Outcome::Ok),
            n if n < values * 2 => (if c.percent(80) { Call::Take } else { Call::Peek }, Outcome::Ok),
            _ => (Call::Take, Outcome::Empty),
        };
        let open = doubtful && c.percent(15);
        let outcome = if open { Outcome::Unknown } else { outcome };
        let found = outcome != Outcome::Empty && (call == Call::Put || !open);
        h.ops.push(Op {
            process,
            number: n,
            call,
            key,
            value: found.then_some(value),
            start,
            held: None,
            end: Some(end),
            outcome,
            index: None,
            commit: None,
            joint: false,
        });
    }
    h.sort();
    h
}

/// A short history of one register that may be right or wrong.
pub fn register(seed: u64) -> History {
    let mut c = Chance(seed ^ 0x1234);
    let mut h = History::new();
    let key = h.intern("o/r");
    let values = 2 + c.below(3);
    for n in 0..values + 2 + c.below(5) {
        let process = h.intern(&format!("n{n}/0"));
        let value = if n < values { n } else { c.below(values) };
        let start = c.below(40) * 100 + value * 900 + if n < values { 0 } else { 300 } + n;
        let end = start + (1 + c.below(20)) * 100;
        let open = n < values && c.percent(15);
        let value = h.intern(&value.to_string());
        h.ops.push(Op {
            process,
            number: n,
            call: if n < values { Call::Update } else { Call::Peek },
            key,
            value: Some(value),
            start,
            held: None,
            end: Some(end),
            outcome: if open { Outcome::Unknown } else { Outcome::Ok },
            index: None,
            commit: None,
            joint: false,
        });
    }
    h.sort();
    h
}
