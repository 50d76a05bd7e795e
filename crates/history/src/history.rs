//! Operations and marks.

use rustc_hash::FxHashMap;

/// Nanoseconds of one clock that all processes read.
pub type Time = u64;

/// The name of a process, a key or a value, in [`History::name`].
pub type Name = u32;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Appends a value.
    Put,
    /// Replaces the head, or appends where there is none.
    Update,
    /// Takes the head away, for good or under a lease.
    Take,
    /// Reads the head.
    Peek,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Ok,
    /// It was not done, nor will be. A take: its time was over; or, where it has a value, it held that under a lease, and it was refused.
    Refused,
    /// A take held its value and gave it back, which had been done by its end.
    Back,
    /// Nothing was there, and it did not wait.
    Empty,
    /// Nobody knows.
    Unknown,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Op {
    /// Who asked: `node/..`.
    pub process: Name,
    /// Its number, unique in the process.
    pub number: u64,
    /// What it asked for.
    pub call: Call,
    /// Under which key: `owner/..`.
    pub key: Name,
    /// What was put, or found.
    pub value: Option<Name>,
    /// When it was asked for.
    pub start: Time,
    /// When a take had the segment, if that was before its end: it held it under a lease.
    pub held: Option<Time>,
    /// When it ended. None: it has not.
    pub end: Option<Time>,
    /// How it ended.
    pub outcome: Outcome,
    /// The segment's index.
    pub index: Option<u64>,
    /// A commit's number in the process: its takes and puts are one step. If one of an unknown commit is seen, all were done.
    pub commit: Option<u64>,
    /// It waits for something under another key as well: then it may wait though a segment stands under this one.
    pub joint: bool,
}

impl Op {
    /// When the segment was given to it, or put.
    pub fn done_by(&self) -> Time {
        self.held.or(self.end).unwrap_or(Time::MAX)
    }
    /// Was its segment under a lease that a commit ended?
    pub fn is_leased(&self) -> bool {
        self.held.is_some()
    }
}

/// What is noted by who makes the faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The processes of this scope were killed.
    Killed,
    /// What stood under the keys of this scope by the end of this is gone with its engine.
    Lost,
    /// A node stood still or was cut off: by its end all was well again.
    Fault,
    /// The members held a node for gone, rightly or not: what it had not confirmed came back.
    Gone,
    /// The machine did not run a node all that time: it stood still, though nobody had meant it to.
    Stalled,
    /// From its start on nothing of before is on its way or leased under the keys of this scope.
    Settled,
    /// From its start to its end the keys of this scope were found empty, with nothing leased.
    Drained,
}

/// A mark: what, to whom, from when to when.
#[derive(Clone, Debug)]
pub struct Mark {
    /// What it was.
    pub what: What,
    /// A node, a process or a key, or the first parts of the name of one; empty: all.
    pub scope: Name,
    /// From when.
    pub start: Time,
    /// Until when.
    pub end: Time,
    /// In words.
    pub text: Name,
}

/// A history.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// In the order of their starts.
    pub ops: Vec<Op>,
    /// In the order of their starts.
    pub marks: Vec<Mark>,
    names: Vec<Box<str>>,
    by_name: FxHashMap<Box<str>, Name>,
}

impl History {
    /// An empty one.
    pub fn new() -> History {
        History::default()
    }
    /// The number of a name.
    pub fn intern(&mut self, name: &str) -> Name {
        if let Some(n) = self.by_name.get(name) {
            return *n;
        }
        let n = self.names.len() as Name;
        self.names.push(name.into());
        self.by_name.insert(name.into(), n);
        n
    }
    /// A name.
    pub fn name(&self, n: Name) -> &str {
        self.names.get(n as usize).map_or("?", |s| s)
    }
    /// Puts operations and marks in order, as [`check`](crate::check) wants them.
    pub fn sort(&mut self) {
        self.ops.sort_by_key(|o| o.start);
        self.marks.sort_by_key(|m| m.start);
    }
    /// When the last thing happened.
    pub fn last(&self) -> Time {
        let ops = self.ops.iter().map(|o| o.end.unwrap_or(o.start));
        ops.chain(self.marks.iter().map(|m| m.end)).max().unwrap_or(0)
    }
    /// Is a name of this scope?
    pub fn within(&self, scope: Name, name: Name) -> bool {
        let (scope, name) = (self.name(scope), self.name(name));
        scope.is_empty() || name.strip_prefix(scope).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
    /// The first part of a name: a process's node, a key's owner.
    pub fn node(&self, name: Name) -> &str {
        self.name(name).split('/').next().unwrap_or("")
    }
    /// Marks of a kind.
    pub fn marked(&self, what: What) -> impl Iterator<Item = &Mark> {
        self.marks.iter().filter(move |m| m.what == what)
    }
}
