//! An owner and a client, whose messages are carried by hand.

use kumi_segments::{Ask, Call, Client, ClientOptions, Done, Failure, FromClient, FromOwner, Kind, Node, NodeOptions, Outbox, Put, Store};
use std::collections::BTreeMap;

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1000 * MS;

pub type Result = std::result::Result<Done<u64>, Failure>;

#[derive(Default)]
pub struct Out {
    pub sent: Vec<FromClient<u64>>,
    pub ended: BTreeMap<u64, Result>,
    /// Those of them that have not been looked at.
    news: Vec<u64>,
}

impl Outbox<u64, u64> for Out {
    fn send(&mut self, m: FromClient<u64>) {
        self.sent.push(m);
    }
    fn ended(&mut self, token: u64, result: Result) {
        self.news.push(token);
        assert!(self.ended.insert(token, result).is_none(), "call {token} ends twice");
    }
}

/// An owner and a client. Messages are carried by hand.
pub struct Pair {
    pub now: u64,
    /// The client's clock runs so many parts in a million faster.
    pub drift: u64,
    pub node: Node<u64, u64>,
    pub client: Client<u64, u64>,
    pub out: Out,
    /// Answers on their way.
    pub back: Vec<FromOwner<u64>>,
    pub woken: Vec<u64>,
    pub tokens: u64,
    /// Calls by their tokens.
    pub names: BTreeMap<u64, u64>,
    /// Askers use what they are given at once.
    pub uses: bool,
}

impl Pair {
    pub fn new() -> Pair {
        Pair::of(ClientOptions::default(), 1)
    }
    pub fn of(options: ClientOptions, incarnation: u64) -> Pair {
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
    pub fn connect(&mut self) {
        let now = self.local();
        self.client.connected(now, &mut self.out);
        self.carry();
    }
    pub fn local(&self) -> u64 {
        self.now + self.now / 1_000_000 * self.drift
    }
    /// Messages to the owner arrive.
    pub fn there(&mut self) {
        for m in std::mem::take(&mut self.out.sent) {
            self.to_owner(m);
        }
    }
    pub fn to_owner(&mut self, m: FromClient<u64>) {
        self.node.receive(self.now, b"client", m, |w| self.woken.push(*w), &mut |_, m| self.back.push(m));
    }
    /// Its answers arrive.
    pub fn here(&mut self) {
        for m in std::mem::take(&mut self.back) {
            self.to_client(m);
        }
    }
    pub fn to_client(&mut self, m: FromOwner<u64>) {
        let now = self.local();
        self.client.receive(now, m, &mut self.out);
        let segments = |t: &u64| matches!(self.out.ended.get(t), Some(Ok(Done::Segments(_))));
        let news = std::mem::take(&mut self.out.news);
        let given: Vec<_> = news.into_iter().filter(|t| self.uses && segments(t)).filter_map(|t| self.names.remove_entry(&t)).collect();
        for (token, name) in given {
            assert!(self.client.used(now, name, token, &mut self.out));
        }
    }
    pub fn carry(&mut self) {
        while !self.out.sent.is_empty() || !self.back.is_empty() {
            self.there();
            self.here();
        }
    }
    pub fn tick(&mut self) {
        let now = self.local();
        self.client.tick(now, &mut self.out);
        self.node.tick(self.now, |w| self.woken.push(*w), &mut |_, m| self.back.push(m));
    }
    /// Time passes, and messages arrive at once.
    pub fn pass(&mut self, long: u64) {
        let until = self.now + long;
        while self.now < until {
            self.now = (self.now + 100 * MS).min(until);
            self.tick();
            self.carry();
        }
    }
    pub fn ask(&mut self, call: Call<u64>, deadline: Option<u64>) -> (u64, u64) {
        self.tokens += 1;
        let now = self.local();
        let takes = matches!(&call, Call::Get(a) if a.lease.is_none() && a.inputs.iter().any(|i| i.1 == Kind::Take));
        let name = self.client.call(now, call, self.tokens, deadline.map(|d| now + d), &mut self.out);
        if takes {
            self.names.insert(self.tokens, name);
        }
        (self.tokens, name)
    }
    pub fn call(&mut self, call: Call<u64>) -> Result {
        let (token, _) = self.ask(call, None);
        self.carry();
        self.out.ended[&token].clone()
    }
    pub fn values(&self, token: u64) -> Vec<u64> {
        match &self.out.ended[&token] {
            Ok(Done::Segments(s)) => s.iter().map(|s| s.value).collect(),
            other => panic!("{other:?}"),
        }
    }
    pub fn lease(&self, token: u64) -> u64 {
        match &self.out.ended[&token] {
            Ok(Done::Segments(s)) => s[0].lease.unwrap(),
            other => panic!("{other:?}"),
        }
    }
    pub fn len(&self, key: &[u8]) -> usize {
        self.node.manager().find_key(key).map_or(0, |k| self.node.manager().len(k))
    }
}

pub fn store(key: &[u8], value: u64) -> Store<u64> {
    Store { key: key.to_vec(), update: false, value, owned: false, delay: None, ttl: None }
}
pub fn put(key: &[u8], value: u64) -> Call<u64> {
    Call::Put(Put { store: store(key, value), wait: false })
}
pub fn take(key: &[u8], lease: Option<u64>) -> Call<u64> {
    Call::Get(Ask { inputs: vec![(key.to_vec(), Kind::Take, None)], lease, wait: true })
}
