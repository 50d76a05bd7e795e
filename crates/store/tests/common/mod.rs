//! A disk in memory that loses what was not synced, and calls in short.
#![allow(dead_code)]

pub mod book;

use bytes::Bytes;
use kumi_segments::{Ask, Call, Done, Kind, Outcome, Put, RemoteSegment};
use kumi_store::{Disk, Store, store};
use std::io;
use std::sync::{Arc, Mutex};

pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
}

#[derive(Clone, Debug)]
enum Op {
    Write(usize, Vec<u8>),
    Len(usize),
}

#[derive(Debug, Default)]
struct State {
    /// What a reader sees.
    now: Vec<u8>,
    /// What is safe.
    safe: Vec<u8>,
    /// What was done since the last sync, in order.
    since: Vec<Op>,
    ops: u64,
    /// The power fails at this operation.
    fails_at: Option<u64>,
    /// No more bytes than these fit.
    room: Option<usize>,
    syncs: u64,
    /// Every so many syncs do nothing: a fault.
    lies: Option<u64>,
}

/// A disk of a machine whose power may fail.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<State>>);

impl Memory {
    pub fn of(bytes: Vec<u8>) -> Memory {
        let s = State { now: bytes.clone(), safe: bytes, ..State::default() };
        Memory(Arc::new(Mutex::new(s)))
    }
    pub fn fail_at(&self, op: u64) {
        let mut s = self.0.lock().unwrap();
        s.fails_at = Some(s.ops + op);
    }
    pub fn room(&self, bytes: Option<usize>) {
        self.0.lock().unwrap().room = bytes;
    }
    pub fn lie(&self, every: u64) {
        self.0.lock().unwrap().lies = Some(every);
    }
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().now.clone()
    }
    pub fn ops(&self) -> u64 {
        self.0.lock().unwrap().ops
    }
    /// What is there when the power is back: all that was synced, and of the rest any sectors, in any order, whole or in part.
    pub fn after_power_loss(&self, chance: &mut Chance) -> Memory {
        let s = self.0.lock().unwrap();
        let mut bytes = s.safe.clone();
        // Now and then everything has come through, or nothing.
        let mood = chance.below(8);
        let mut since = s.since.clone();
        if mood > 4 {
            for i in (1..since.len()).rev() {
                since.swap(i, chance.below(i as u64 + 1) as usize);
            }
        }
        for op in since {
            match op {
                Op::Len(n) if mood == 0 || mood > 1 && chance.below(2) == 0 => bytes.resize(n, 0),
                Op::Len(_) => {}
                Op::Write(at, data) => {
                    for (i, sector) in data.chunks(512).enumerate() {
                        if mood == 1 || mood > 1 && chance.below(3) == 0 {
                            continue;
                        }
                        let at = at + i * 512;
                        let mut part = sector;
                        if mood > 1 && chance.below(12) == 0 {
                            part = &sector[..chance.below(sector.len() as u64) as usize];
                        }
                        if bytes.len() < at + part.len() {
                            bytes.resize(at + part.len(), 0);
                        }
                        bytes[at..at + part.len()].copy_from_slice(part);
                    }
                }
            }
        }
        Memory::of(bytes)
    }
    fn step(s: &mut State) -> io::Result<()> {
        s.ops += 1;
        match s.fails_at {
            Some(at) if s.ops >= at => Err(io::Error::other("the power has failed")),
            _ => Ok(()),
        }
    }
}

impl Disk for Memory {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().now.len() as u64)
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let s = self.0.lock().unwrap();
        let at = offset as usize;
        let part = s.now.get(at..at + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(part);
        Ok(())
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut s = self.0.lock().unwrap();
        Memory::step(&mut s)?;
        if s.room.is_some_and(|r| len as usize > r) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        s.now.resize(len as usize, 0);
        s.since.push(Op::Len(len as usize));
        Ok(())
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut s = self.0.lock().unwrap();
        Memory::step(&mut s)?;
        let (at, end) = (offset as usize, offset as usize + data.len());
        if end > s.now.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        s.now[at..end].copy_from_slice(data);
        s.since.push(Op::Write(at, data.to_vec()));
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        let mut s = self.0.lock().unwrap();
        Memory::step(&mut s)?;
        s.syncs += 1;
        if s.lies.is_none_or(|n| !s.syncs.is_multiple_of(n)) {
            let State { safe, since, .. } = &mut *s;
            for op in since.drain(..) {
                match op {
                    Op::Len(n) => safe.resize(n, 0),
                    Op::Write(at, data) => safe[at..at + data.len()].copy_from_slice(&data),
                }
            }
        }
        Ok(())
    }
}

/// A directory of one test's own.
pub fn folder(name: &str) -> std::path::PathBuf {
    let dir = std::env::temp_dir().join(format!("kumi-store-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

pub fn put(key: &str, value: impl Into<Bytes>) -> Call<Bytes> {
    Call::Put(Put { store: store(key, value), wait: false })
}
pub fn update(key: &str, value: impl Into<Bytes>) -> Call<Bytes> {
    Call::Put(Put { store: kumi_segments::Store { update: true, ..store(key, value) }, wait: false })
}
pub fn get(key: &str, kind: Kind, after: Option<u64>, lease: bool, wait: bool) -> Call<Bytes> {
    Call::Get(Ask { inputs: vec![(key.into(), kind, after)], lease: lease.then_some(1), wait })
}
pub fn take(key: &str) -> Call<Bytes> {
    get(key, Kind::Take, None, false, false)
}
pub fn lease(key: &str) -> Call<Bytes> {
    get(key, Kind::Take, None, true, false)
}
pub fn peek(key: &str) -> Call<Bytes> {
    get(key, Kind::Peek, None, false, false)
}
pub fn segment(r: Outcome<Bytes>) -> Option<RemoteSegment<Bytes>> {
    match r.unwrap() {
        Done::Segments(mut l) => l.pop(),
        Done::Nothing => None,
        other => panic!("{other:?}"),
    }
}
pub fn value(r: Outcome<Bytes>) -> Option<String> {
    segment(r).map(|s| String::from_utf8_lossy(&s.value).into_owned())
}
pub fn stored(r: Outcome<Bytes>) -> u64 {
    match r.unwrap() {
        Done::Stored(Some(i)) => i,
        other => panic!("{other:?}"),
    }
}
/// What stands under a key, in order; it is taken.
pub fn all(s: &Store, key: &str) -> Vec<String> {
    std::iter::from_fn(|| value(s.ask(take(key)))).collect()
}
