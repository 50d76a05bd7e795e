//! The history of a run, and what must hold of it.
//!
//! Values are distinct numbers, so that each segment is known wherever it turns up. An *incarnation* is a number that no other
//! node of the run has.

use crate::plan::LEASE;
use kumi_segments::{Call, Done, Failure, Kind};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of how a value was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nobody has heard yet.
    Open,
    /// An owner of this incarnation has said so.
    Stored(u64),
    /// It was refused, or its time was over: it must be nowhere.
    Nothing,
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub struct Taken {
    pub at: u64,
    pub by: usize,
    /// The owner's name and incarnation.
    pub owner: usize,
    pub incarnation: u64,
    pub how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By a taker at the owner's own node.
    Local,
    /// By a taker elsewhere, that had it as soon as the answer came.
    Plain,
    /// By a commit.
    Commit,
}

pub struct Value {
    pub key: usize,
    /// It may end by itself, or be replaced.
    pub mortal: bool,
    /// The commit whose output it is.
    pub output_of: Option<usize>,
    pub status: Status,
    /// The incarnation where it was seen, and its index.
    pub seen: Option<(u64, u64)>,
    pub taken: Vec<Taken>,
}

pub struct Op {
    pub proc: usize,
    pub actor: usize,
    pub owner: usize,
    pub call: Call<u64>,
    /// What a commit ends.
    pub inputs: Vec<u64>,
    /// The values that it puts.
    pub outputs: Vec<u64>,
    /// Its name at the client; none: it is done at the actor's own node.
    pub handle: Option<u64>,
    pub left: bool,
    pub ended: Option<Result<Done<u64>, Failure>>,
    /// The owner of this incarnation has done the commit.
    pub committed: Option<u64>,
    /// A commit of leases that its maker holds, as far as it knows.
    pub honest: bool,
    /// Updates that were acknowledged before it was made, by the owner's incarnation: the highest index.
    pub updated: BTreeMap<u64, u64>,
    /// What it was given, and does not use yet.
    pub given: Option<Result<Done<u64>, Failure>>,
}

impl Op {
    pub fn asks_for(&self, key: usize) -> bool {
        matches!(&self.call, Call::Get(a) if a.inputs.iter().any(|i| i.0 == KEYS[key]))
    }
    /// Does it take something without a lease?
    pub fn takes(&self) -> bool {
        matches!(&self.call, Call::Get(a) if a.lease.is_none() && a.inputs.iter().any(|i| i.1 == Kind::Take))
    }
}

/// Somebody stood still, or messages could not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    At(usize),
    From(usize, usize),
}

#[derive(Default)]
pub struct Book {
    pub values: Vec<Value>,
    pub ops: Vec<Op>,
    pub troubles: Vec<(u64, u64, Trouble)>,
    /// The last acknowledged index: of an actor's puts under a key.
    acknowledged: BTreeMap<(usize, usize, usize, u64), u64>,
    /// The last index that the one taker of a key has taken.
    in_order: BTreeMap<(usize, u64), u64>,
    /// The highest index of an update that was acknowledged, by the owner's incarnation.
    pub updated: BTreeMap<u64, u64>,
    /// Indexes that a peeker has seen.
    pub peeked: BTreeMap<(usize, usize, u64), BTreeSet<u64>>,
    /// Segments that two takers had, since the first was cut off or stood still.
    pub doubles: u64,
    pub wrong: Option<String>,
}

/// The key that has one taker.
pub const FIFO: usize = 6;
/// The key that nothing is taken from.
pub const LOG: usize = 4;
pub const STATE: usize = 5;
pub const LIMITED: usize = 7;
pub const KEYS: [&[u8]; 8] = [b"q", b"out", b"a", b"b", b"log", b"state", b"fifo", b"limited"];

impl Book {
    pub fn wrong(&mut self, what: String) {
        self.wrong.get_or_insert(what);
    }
    pub fn new_value(&mut self, key: usize, mortal: bool, output_of: Option<usize>) -> u64 {
        self.values.push(Value { key, mortal, output_of, status: Status::Open, seen: None, taken: Vec::new() });
        self.values.len() as u64
    }
    pub fn value(&mut self, v: u64) -> &mut Value {
        &mut self.values[v as usize - 1]
    }
    /// A segment is somewhere, with this index.
    pub fn seen(&mut self, v: u64, incarnation: u64, index: u64) {
        let Some(value) = v.checked_sub(1).and_then(|i| self.values.get_mut(i as usize)) else {
            return self.wrong(format!("value {v} was never put"));
        };
        let seen = *value.seen.get_or_insert((incarnation, index));
        let (status, output_of) = (value.status, value.output_of);
        if seen != (incarnation, index) {
            self.wrong(format!("value {v} is there twice: {seen:?} and {:?}", (incarnation, index)));
        }
        if status == Status::Nothing {
            self.wrong(format!("value {v} is there though its put was refused or over"));
        }
        if output_of.is_some_and(|op| self.ops[op].committed.is_none()) {
            self.wrong(format!("value {v} is there though its commit was not done"));
        }
    }
    /// A put or commit has ended for whoever made it.
    pub fn stored(&mut self, v: u64, status: Status) {
        let value = self.value(v);
        value.status = status;
        if status == Status::Nothing && value.seen.is_some() {
            self.wrong(format!("value {v} was there though its put was refused or over"));
        }
    }
    /// An actor's put was acknowledged.
    pub fn acknowledged(&mut self, op: usize, incarnation: u64, v: u64, index: Option<u64>) {
        self.stored(v, Status::Stored(incarnation));
        let Some(index) = index else { return };
        self.seen(v, incarnation, index);
        let (key, o) = (self.values[v as usize - 1].key, &self.ops[op]);
        if key == STATE {
            let last = self.updated.entry(incarnation).or_insert(0);
            *last = index.max(*last);
        }
        let last = self.acknowledged.entry((o.proc, o.actor, key, incarnation)).or_insert(0);
        if index <= *last {
            let what = format!("value {v} has index {index}, and the put before it had {last}");
            self.wrong(what);
        } else {
            *last = index;
        }
    }
    pub fn taken(&mut self, v: u64, taken: Taken, index: Option<u64>) {
        let value = self.value(v);
        let key = value.key;
        let before = value.taken.last().copied();
        value.taken.push(taken);
        if let Some(first) = before {
            // Or was the second one's answer on its way when it was taken for dead?
            let excused = |t: Taken| t.how == How::Plain && self.was_cut_off(t);
            if excused(first) || excused(taken) {
                self.doubles += 1;
            } else {
                self.wrong(format!("value {v} was taken twice: {first:?}, {taken:?}"));
            }
        } else if let (FIFO, Some(index)) = (key, index) {
            let last = self.in_order.entry((key, taken.incarnation)).or_insert(0);
            if index < *last {
                let what = format!("value {v} with index {index} was taken after {last}");
                self.wrong(what);
            } else {
                *last = index;
            }
        }
    }
    /// Could whoever has this segment not say so to its owner while the lease was on?
    fn was_cut_off(&self, t: Taken) -> bool {
        let (from, to) = (t.at.saturating_sub(LEASE / 2), t.at + LEASE + LEASE / 10);
        self.troubles.iter().any(|(a, b, what)| {
            let there = *what == Trouble::At(t.by) || *what == Trouble::At(t.owner) || *what == Trouble::From(t.by, t.owner);
            there && *a <= to && *b >= from
        })
    }
    /// An owner has done a commit.
    pub fn committed(&mut self, op: usize, at: u64, incarnation: u64) {
        if self.ops[op].committed.replace(incarnation).is_some() {
            return;
        }
        let (inputs, by, owner) = (self.ops[op].inputs.clone(), self.ops[op].proc, self.ops[op].owner);
        for v in inputs {
            self.taken(v, Taken { at, by, owner, incarnation, how: How::Commit }, None);
        }
    }
    /// An owner answers a take with a segment.
    pub fn given(&mut self, v: u64) {
        let gone = |t: &Taken| matches!(t.how, How::Local | How::Commit);
        if self.values.get(v as usize - 1).is_some_and(|x| x.taken.iter().any(gone)) {
            self.wrong(format!("value {v} is given out though it was taken"));
        }
    }
}
