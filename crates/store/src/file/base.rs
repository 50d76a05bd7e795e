//! The database in the file: a manager made of it, and groups of changes written to it.
//!
//! **Invariant.** A transaction writes one group whole, and names its number. After a write that failed the database is opened again,
//! and the number says whether that group is in it.

use super::disk::{Backend, Disk};
use super::ledger::{Change, Ledger};
use super::row::{self, Row};
use super::value::{Large, Value};
use crate::planted::Bug;
use bytes::Bytes;
use kumi_segments::{KeyId, Manager, Place, Time, Trouble};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, TableHandle};
use slotmap::SecondaryMap;
use std::collections::HashMap;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const META: TableDefinition<&str, u64> = TableDefinition::new("segments");
const KEYS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("keys");
const PLACES: TableDefinition<(u64, u64), &[u8]> = TableDefinition::new("places");
const VALUES: TableDefinition<(u64, u64), &[u8]> = TableDefinition::new("values");

/// What the database keeps of the file in memory.
const CACHE: usize = 32 << 20;

/// Who waits: a call, or a watch, by its number.
#[derive(Clone, Copy, Debug)]
pub enum Waiter {
    Call(u64),
    Watch(u64),
}

pub type Machine = Manager<Value, Waiter, Ledger>;

pub struct Base {
    db: Option<Database>,
    backend: Backend,
    /// The last group that is in the file.
    group: u64,
    next_key: u64,
    /// Numbers and names of keys that are in the file.
    keys: SecondaryMap<KeyId, (u64, Arc<[u8]>)>,
    pub planted: Option<Bug>,
    /// What a planted fault keeps back.
    late: Vec<((KeyId, u64), Change)>,
}

/// Why a group is not in the file.
pub enum NotWritten {
    /// It is as if there had been no such group: here is the manager of before.
    Undone(Trouble, Box<Machine>),
    /// The store is at its end.
    Lost(Trouble),
}

/// Nanoseconds that go on while the machine sleeps.
pub fn now() -> Time {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    (t.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(t.tv_nsec as u64)
}

/// How times of the manager's clock are kept, which begins anew with each start of the machine.
#[derive(Clone, Copy)]
struct Clocks {
    wall: u64,
    now: Time,
}

impl Clocks {
    fn read() -> Clocks {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Clocks { wall: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX), now: now() }
    }
    fn to_wall(self, at: Time) -> u64 {
        if at >= self.now { self.wall.saturating_add(at - self.now) } else { self.wall.saturating_sub(self.now - at) }
    }
    fn from_wall(self, at: u64) -> Time {
        if at >= self.wall { self.now.saturating_add(at - self.wall) } else { self.now.saturating_sub(self.wall - at) }
    }
}

impl Base {
    /// Opens the database, and makes a manager of what it has.
    pub fn open(disk: Arc<dyn Disk>, planted: Option<Bug>) -> Result<(Base, Machine), String> {
        let backend = Backend::new(disk);
        let mut base = Base { db: None, backend, group: 0, next_key: 1, keys: SecondaryMap::new(), planted, late: Vec::new() };
        let machine = base.open_again()?;
        Ok((base, machine))
    }
    /// How many groups were ever written to the file.
    pub fn group(&self) -> u64 {
        self.group
    }
    pub fn syncs(&self) -> u64 {
        self.backend.0.syncs.load(Ordering::Relaxed)
    }
    pub fn bytes(&self) -> u64 {
        self.backend.len().unwrap_or(0)
    }
    fn error(&self, what: &str, e: &dyn Display) -> String {
        // The database tells little of what the system has said.
        let why = self.backend.0.failure.lock().take().unwrap_or_else(|| e.to_string());
        format!("{what}: {why}")
    }
    fn caught<T>(f: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, redb::Error> {
        // A library's fault ends a store, and not the program.
        catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| Err(redb::Error::Corrupted("the database has failed".into())))
    }
    fn open_again(&mut self) -> Result<Machine, String> {
        self.db = None;
        *self.backend.0.failure.lock() = None;
        self.check_head()?;
        let backend = self.backend.clone();
        let opened = Base::caught(|| {
            let mut b = Database::builder();
            Ok(b.set_cache_size(CACHE).set_check_integrity_on_open(true).create_with_backend(backend)?)
        });
        let db = opened.map_err(|e| {
            let system = self.backend.0.failure.lock().is_some();
            self.error(if system { "the file can't be opened" } else { "the file is damaged, or no store of segments" }, &e)
        })?;
        let machine = Base::caught(|| self.load(&db));
        match machine {
            Ok(Ok(m)) => {
                self.db = Some(db);
                Ok(m)
            }
            Ok(Err(why)) => Err(why),
            Err(e) => Err(self.error("the file is damaged", &e)),
        }
    }
    /// A file of something else is told before the database looks at it.
    fn check_head(&self) -> Result<(), String> {
        let cant = |e| self.error("the file can't be read", &e);
        let len = self.backend.len().map_err(cant)?;
        let mut head = [0; 4];
        let part = head.len().min(usize::try_from(len).unwrap_or(4));
        redb::StorageBackend::read(&self.backend, 0, &mut head[..part]).map_err(cant)?;
        if len == 0 || &head == b"redb" {
            return Ok(());
        }
        Err("this is a file of something else, and no store of segments".into())
    }
    /// Reads everything but large values; makes the tables of a new file.
    fn load(&mut self, db: &Database) -> Result<Result<Machine, String>, redb::Error> {
        let txn = db.begin_write()?;
        let tables = txn.list_tables()?.map(|t| t.name().to_owned()).collect::<Vec<_>>();
        if !tables.is_empty() && !tables.iter().any(|t| t == META.name()) {
            return Ok(Err("this is a database of something else, and no store of segments".into()));
        }
        let seed = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
        let mut machine = Machine::with_journal(seed, Ledger::default());
        self.keys.clear();
        {
            let mut meta = txn.open_table(META)?;
            let version = meta.get("version")?.map(|v| v.value());
            match version {
                None => drop(meta.insert("version", row::VERSION)?),
                Some(row::VERSION) => {}
                Some(v) => {
                    let ours = row::VERSION;
                    return Ok(Err(format!("this is a store of version {v}, and this program reads version {ours}")));
                }
            }
            let number = |name| Ok::<u64, redb::Error>(meta.get(name)?.map_or(0, |v| v.value()));
            self.group = number("group")?;
            self.next_key = number("next key")?.max(1);
            machine.restore_floor(number("floor")?);
            let (keys, places) = (txn.open_table(KEYS)?, txn.open_table(PLACES)?);
            txn.open_table(VALUES)?;
            match self.restore(&mut machine, &keys, &places)? {
                Some(()) => {}
                None => return Ok(Err("the file is damaged: its rows do not fit each other".into())),
            }
        }
        txn.commit()?;
        *machine.journal() = Ledger::default();
        Ok(Ok(machine))
    }
    fn restore(
        &mut self,
        m: &mut Machine,
        keys: &impl ReadableTable<&'static [u8], &'static [u8]>,
        places: &impl ReadableTable<(u64, u64), &'static [u8]>,
    ) -> Result<Option<()>, redb::Error> {
        let clocks = Clocks::read();
        let mut numbers = HashMap::new();
        for r in keys.iter()? {
            let (name, counts) = r?;
            let Some((number, counts)) = row::read_key(counts.value()).filter(|k| k.0 < self.next_key) else { return Ok(None) };
            let id = m.restore_key(name.value(), counts);
            self.keys.insert(id, (number, name.value().into()));
            if numbers.insert(number, id).is_some() {
                return Ok(None);
            }
        }
        for r in places.iter()? {
            let (at, bytes) = r?;
            let at = at.value();
            let (Some(key), Some(row)) = (numbers.get(&at.0), row::read(bytes.value(), at)) else { return Ok(None) };
            let place = Place(at.1);
            let fits = match row {
                Row::Stands(s, ends) => m.restore(*key, place, s, ends.map(|t| clocks.from_wall(t))),
                Row::Later(mut new) => {
                    new.not_before = new.not_before.map(|t| clocks.from_wall(t));
                    m.restore_later(*key, place, new)
                }
            };
            if !fits {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// Reads large values that are asked for, before the group is written that may remove them.
    pub fn fetch<'a>(&self, wanted: impl Iterator<Item = &'a Arc<Large>>) -> Result<(), Trouble> {
        let missing: Vec<&Arc<Large>> = wanted.filter(|l| l.held().is_none()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let read = || {
            let Some(db) = &self.db else { return Err(redb::Error::DatabaseClosed) };
            let values = db.begin_read()?.open_table(VALUES)?;
            let mut failed = Ok(());
            for l in &missing {
                // The others can be read, perhaps.
                let found = l.at().map_or(Ok(None), |at| values.get(at));
                match found {
                    Ok(Some(v)) if v.value().len() == l.len => l.hold(Bytes::copy_from_slice(v.value())),
                    Ok(_) => failed = Err(redb::Error::Corrupted("a value is missing".into())),
                    Err(e) => failed = Err(e.into()),
                }
            }
            failed
        };
        Base::caught(read).map_err(|e| Trouble::Store(self.error("a value can't be read", &e).into()))
    }

    /// Writes a group: all or nothing, and safe when this returns.
    pub fn write(&mut self, machine: &mut Machine) -> Result<(), NotWritten> {
        let ledger = std::mem::take(machine.journal());
        if ledger.is_empty() {
            return Ok(());
        }
        let ledger = self.spoilt(ledger, machine);
        // Values that change their place; others stay where they are.
        let moves = ledger.places.iter().filter_map(|((key, place), c)| {
            let l = large(c.value()?)?;
            let here = self.keys.get(*key).map(|k| (k.0, *place));
            (here.is_none() || l.at() != here).then_some(l)
        });
        let group = self.group + 1;
        let failed = match self.fetch(moves) {
            Ok(()) => match Base::caught(|| self.transact(group, machine, &ledger)) {
                Ok(()) => None,
                Err(e) => Some(self.error("it can't be written", &e)),
            },
            Err(Trouble::Store(why)) => Some(why.into()),
            Err(e) => Some(format!("{e:?}")),
        };
        let Some(why) = failed else {
            self.written(group, &ledger);
            return Ok(());
        };
        if self.backend.0.lost.load(Ordering::Relaxed) {
            self.db = None;
            return Err(NotWritten::Lost(Trouble::Lost(why.into())));
        }
        match self.open_again() {
            // It had been written, and what failed came after.
            Ok(_) if self.group == group => {
                let numbers = std::mem::take(&mut self.keys);
                for (number, name) in numbers.into_iter().map(|k| k.1) {
                    if let Some(id) = machine.find_key(&name) {
                        self.keys.insert(id, (number, name));
                    }
                }
                self.written(group, &ledger);
                Ok(())
            }
            Ok(before) => Err(NotWritten::Undone(Trouble::Store(why.into()), Box::new(before))),
            Err(e) => Err(NotWritten::Lost(Trouble::Lost(format!("{why}; then {e}").into()))),
        }
    }
    /// The changes as a planted fault leaves them.
    fn spoilt(&mut self, mut ledger: Ledger, machine: &Machine) -> Ledger {
        let gone = |l: &mut Ledger| l.places.extract_if(.., |_, c| matches!(c, Change::Gone)).collect::<Vec<_>>();
        match self.planted {
            Some(Bug::LateTake) => {
                let late = std::mem::replace(&mut self.late, gone(&mut ledger));
                for (at, c) in late {
                    ledger.places.entry(at).or_insert(c);
                }
            }
            Some(Bug::TwoSteps) => {
                let mut first = Ledger::default();
                first.places.extend(gone(&mut ledger));
                let _ = Base::caught(|| self.transact(self.group, machine, &first));
            }
            _ => {}
        }
        ledger
    }
    fn transact(&mut self, group: u64, machine: &Machine, ledger: &Ledger) -> Result<(), redb::Error> {
        let Some(db) = &self.db else { return Err(redb::Error::DatabaseClosed) };
        let mut txn = db.begin_write()?;
        if self.planted == Some(Bug::NoSync) && group.is_multiple_of(3) {
            let _ = txn.set_durability(redb::Durability::None);
        }
        let clocks = Clocks::read();
        let mut new = HashMap::new();
        {
            let (mut keys, mut places, mut values) = (txn.open_table(KEYS)?, txn.open_table(PLACES)?, txn.open_table(VALUES)?);
            for ((key, place), change) in &ledger.places {
                let known = self.keys.get(*key).map(|k| k.0);
                let number = match (known, change) {
                    (Some(n), _) => n,
                    // It came and went.
                    (None, Change::Gone) => continue,
                    (None, _) => *new.entry(*key).or_insert_with(|| {
                        self.next_key += 1;
                        self.next_key - 1
                    }),
                };
                let at = (number, *place);
                let (row, value) = match change {
                    Change::Stands(s, ends) => (row::of_segment(s, ends.map(|t| clocks.to_wall(t))), &s.value),
                    Change::Later(n) => {
                        let n = kumi_segments::New { not_before: n.not_before.map(|t| clocks.to_wall(t)), ..n.clone() };
                        (row::of_later(&n), &n.value.clone())
                    }
                    Change::Gone => {
                        let was_large = places.remove(at)?.is_some_and(|r| row::is_large(r.value()));
                        if was_large {
                            values.remove(at)?;
                        }
                        continue;
                    }
                };
                let was_large = places.insert(at, &*row)?.is_some_and(|r| row::is_large(r.value()));
                match large(value) {
                    Some(l) if l.at() == Some(at) => {}
                    Some(l) => {
                        let bytes = l.held().ok_or_else(|| redb::Error::Corrupted("a value is missing".into()))?;
                        values.insert(at, &*bytes)?;
                    }
                    None if was_large => drop(values.remove(at)?),
                    None => {}
                }
            }
            let mut meta = txn.open_table(META)?;
            for key in &ledger.forgotten {
                if let Some((_, name)) = self.keys.get(*key) {
                    keys.remove(&**name)?;
                }
            }
            if let Some(floor) = ledger.floor {
                meta.insert("floor", floor)?;
            }
            let mut last = None;
            for key in ledger.places.keys().map(|k| k.0).chain(ledger.keys.iter().copied()) {
                if last.replace(key) == Some(key) {
                    continue;
                }
                let (Some(name), Some(counts)) = (machine.name(key), machine.counts_of(key)) else { continue };
                let number = match self.keys.get(key) {
                    Some((n, _)) => *n,
                    None => *new.entry(key).or_insert_with(|| {
                        self.next_key += 1;
                        self.next_key - 1
                    }),
                };
                keys.insert(&**name, &row::of_key(number, &counts)[..])?;
            }
            meta.insert("next key", self.next_key)?;
            meta.insert("group", group)?;
        }
        txn.commit()?;
        for (key, number) in new {
            if let Some(name) = machine.name(key) {
                self.keys.insert(key, (number, name.clone()));
            }
        }
        Ok(())
    }
    /// Values that are in the file need not be in memory; those that were removed are nowhere else.
    fn written(&mut self, group: u64, ledger: &Ledger) {
        self.group = group;
        for ((key, place), change) in &ledger.places {
            if let (Some(l), Some((number, _))) = (change.value().and_then(large), self.keys.get(*key)) {
                l.stored((*number, *place));
            }
        }
        for key in &ledger.forgotten {
            self.keys.remove(*key);
        }
    }
    /// Closes the database.
    pub fn close(&mut self) {
        if let Some(db) = self.db.take() {
            let _ = Base::caught(|| Ok(db.close()?));
        }
    }
}

pub fn large(v: &Value) -> Option<&Arc<Large>> {
    match v {
        Value::Small(_) => None,
        Value::Large(l) => Some(l),
    }
}
