//! A store, asked and awaited.

use bytes::Bytes;
use kumi_redis::{Settings, Store};
use kumi_segments::{Ask, Call, Done, Engine, Failure, KeyStats, Kind, Outcome, Put, Refusal, RemoteSegment, Trouble};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

pub const HANG: Duration = Duration::from_secs(60);
pub const MS: u64 = 1_000_000;

pub struct Client(pub Store);

/// A call that was begun.
pub struct Begun(pub u64, pub Receiver<Outcome<Bytes>>);

impl Begun {
    pub fn wait(&self) -> Outcome<Bytes> {
        self.1.recv_timeout(HANG).expect("the call hangs")
    }
    pub fn is_open(&self) -> bool {
        self.1.try_recv().is_err()
    }
}

pub fn store(key: &str, value: &str) -> kumi_segments::Store<Bytes> {
    let value = Bytes::copy_from_slice(value.as_bytes());
    kumi_segments::Store { key: key.into(), update: false, value, owned: false, delay: None, ttl: None }
}
pub fn put(key: &str, value: &str) -> Call<Bytes> {
    Call::Put(Put { store: store(key, value), wait: true })
}
pub fn get(inputs: &[(&str, Kind, Option<u64>)], lease: Option<u64>, wait: bool) -> Call<Bytes> {
    let inputs = inputs.iter().map(|(k, kind, after)| (k.as_bytes().to_vec(), *kind, *after)).collect();
    Call::Get(Ask { inputs, lease: lease.map(|ms| ms * MS), wait })
}
pub fn take(key: &str) -> Call<Bytes> {
    get(&[(key, Kind::Take, None)], None, true)
}
pub fn text(s: &RemoteSegment<Bytes>) -> String {
    String::from_utf8_lossy(&s.value).into_owned()
}

impl Client {
    /// As patient as the tests are: a Sentinel that stood still for two seconds does nothing for thirty, which is the default patience.
    pub fn new(address: &str) -> Client {
        Client::with(address, Settings { patience: Some(HANG), ..Settings::default() })
    }
    pub fn with(address: &str, settings: Settings) -> Client {
        let c = Client(Store::open(address, settings).unwrap());
        c.0.wait_ready(HANG).unwrap();
        c
    }
    pub fn begin(&self, call: Call<Bytes>) -> Begun {
        self.begin_within(call, None)
    }
    pub fn begin_within(&self, call: Call<Bytes>, within: Option<u64>) -> Begun {
        let (to, from) = channel();
        let n = self.0.call(call, within, Box::new(move |r| drop(to.send(r))));
        Begun(n, from)
    }
    pub fn call(&self, call: Call<Bytes>) -> Outcome<Bytes> {
        let b = self.begin(call);
        let r = b.wait();
        self.0.used(b.0);
        r
    }
    pub fn put(&self, key: &str, value: &str) -> u64 {
        self.store(store(key, value)).unwrap()
    }
    pub fn store(&self, store: kumi_segments::Store<Bytes>) -> Option<u64> {
        match self.call(Call::Put(Put { store, wait: true })) {
            Ok(Done::Stored(i)) => i,
            other => panic!("{other:?}"),
        }
    }
    pub fn get(&self, call: Call<Bytes>) -> Vec<RemoteSegment<Bytes>> {
        match self.call(call) {
            Ok(Done::Segments(s)) => s,
            Ok(Done::Nothing) => Vec::new(),
            other => panic!("{other:?}"),
        }
    }
    pub fn take(&self, key: &str) -> String {
        text(&self.get(take(key))[0])
    }
    /// All that stands there.
    pub fn drain(&self, key: &str) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(s) = self.get(get(&[(key, Kind::Take, None)], None, false)).first() {
            all.push(text(s));
        }
        all
    }
    pub fn lease(&self, key: &str, ms: u64) -> RemoteSegment<Bytes> {
        self.get(get(&[(key, Kind::Take, None)], Some(ms), true)).remove(0)
    }
    pub fn commit(&self, leases: &[u64], outputs: Vec<kumi_segments::Store<Bytes>>) -> Outcome<Bytes> {
        self.call(Call::Commit { leases: leases.to_vec(), outputs })
    }
    pub fn stats(&self, key: &str) -> KeyStats {
        match self.call(Call::Stats(key.into())) {
            Ok(Done::Stats(s)) => s,
            other => panic!("{other:?}"),
        }
    }
    pub fn size(&self, key: &str) -> usize {
        self.stats(key).segments
    }
    pub fn names(&self, prefix: &str) -> Vec<String> {
        match self.call(Call::Names { prefix: prefix.into(), after: None, most: 10_000 }) {
            Ok(Done::Names(n)) => n.into_iter().map(|n| String::from_utf8(n).unwrap()).collect(),
            other => panic!("{other:?}"),
        }
    }
    pub fn eventually(&self, what: &str, mut is: impl FnMut(&Client) -> bool) {
        let until = std::time::Instant::now() + HANG;
        while !is(self) {
            assert!(std::time::Instant::now() < until, "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Waits until a store says that it does not serve, and why, in words that contain these. All that it says.
pub fn trouble(address: &str, settings: Settings, expected: &str) -> String {
    let s = Store::open(address, settings).unwrap();
    let until = std::time::Instant::now() + HANG;
    loop {
        let said = s.state();
        match &said {
            Some(Err(why)) if why.text().contains(expected) => return why.text().to_owned(),
            Some(Ok(_)) => panic!("{address} serves instead of {expected:?}"),
            _ => assert!(std::time::Instant::now() < until, "{address}: {said:?} instead of {expected:?}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn refused(r: Refusal) -> Outcome<Bytes> {
    Err(Trouble::Failure(Failure::Refused(r)))
}
