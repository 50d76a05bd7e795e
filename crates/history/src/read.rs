//! Histories as lines of JSON.

use crate::history::{Call, History, Mark, Name, Op, Outcome, Time, What};
use crate::json::{Json, object};
use rustc_hash::FxHashMap;
use std::fmt;
use std::io::BufRead;

/// A line that is none of a history.
#[derive(Debug)]
pub struct BadLine {
    /// Its number, from 1 on.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for BadLine {}

/// A longer line is none.
const LONGEST: u64 = 1 << 16;

/// What lines have said of an operation so far.
#[derive(Clone, Default)]
struct Said {
    call: Option<Call>,
    key: Option<Name>,
    value: Option<Name>,
    start: Option<Time>,
    held: Option<Time>,
    end: Option<Time>,
    outcome: Option<Outcome>,
    index: Option<u64>,
    commit: Option<u64>,
    joint: bool,
}

/// Reads histories of which each process has written its own part.
///
/// Each line is an object of JSON. An operation has `process` and `op`, its number there, and `call`: `put`, `update`, `take` or `peek`;
/// `key`, `value`, `start`, `held`, `end`, `outcome` (`ok`, `refused`, `back`, `empty`, `unknown`), `index`, `commit`, `joint`, as [`Op`] says. Times
/// are nanoseconds. Several lines may tell of one operation, as it goes on; what a later one says counts. One without an outcome is unknown,
/// and has no end where none is given.
///
/// A mark has `mark`: `killed`, `lost`, `fault`, `gone`, `stalled`, `settled` or `drained`; `scope`, `start`, `end`, `text`, as [`What`] says.
#[derive(Default)]
pub struct Reader {
    history: History,
    said: Vec<((Name, u64), usize, Said)>,
    places: FxHashMap<(Name, u64), usize>,
}

impl Reader {
    /// Reads a part. Its last line may be cut short where its writer was killed; it is passed over then.
    ///
    /// # Errors
    /// A line that tells of no operation and no mark.
    pub fn read(&mut self, mut from: impl BufRead) -> Result<(), BadLine> {
        let mut bytes = Vec::new();
        for line in 1.. {
            let bad = |why: String| BadLine { line, why };
            bytes.clear();
            let n = std::io::Read::take(&mut from, LONGEST).read_until(b'\n', &mut bytes).map_err(|e| bad(e.to_string()))?;
            if n == 0 {
                break;
            }
            let whole = bytes.ends_with(b"\n");
            let text = String::from_utf8_lossy(&bytes);
            if text.trim().is_empty() {
                continue;
            }
            if !whole && n as u64 == LONGEST {
                return Err(bad(format!("it is longer than {LONGEST} bytes")));
            }
            let members = match object(text.trim()) {
                Ok(m) => m,
                Err(_) if !whole => continue,
                Err(why) => return Err(bad(why)),
            };
            if members.iter().any(|m| m.0 == "mark") {
                let mark = self.history.mark(members).map_err(bad)?;
                self.history.marks.push(mark);
                continue;
            }
            let (name, new) = self.history.said(members).map_err(bad)?;
            let place = *self.places.entry(name).or_insert(self.said.len());
            if place == self.said.len() {
                self.said.push((name, line, Said::default()));
            }
            self.said[place].2.add(new);
        }
        Ok(())
    }
    /// The history.
    ///
    /// # Errors
    /// An operation without a call, a key or a start.
    pub fn finish(mut self) -> Result<History, BadLine> {
        for ((process, number), line, s) in self.said {
            let missing = |what: &str| BadLine { line, why: format!("operation {number} has no {what}") };
            if s.held.or(s.end).is_some_and(|t| Some(t) < s.start) || s.end.is_some_and(|t| t < s.held.unwrap_or(0)) {
                return Err(BadLine { line, why: format!("operation {number} ends before it begins") });
            }
            self.history.ops.push(Op {
                process,
                number,
                call: s.call.ok_or_else(|| missing("call"))?,
                key: s.key.ok_or_else(|| missing("key"))?,
                value: s.value,
                start: s.start.ok_or_else(|| missing("start"))?,
                held: s.held,
                end: s.end,
                outcome: s.outcome.unwrap_or(Outcome::Unknown),
                index: s.index,
                commit: s.commit,
                joint: s.joint,
            });
        }
        self.history.sort();
        Ok(self.history)
    }
}

impl History {
    /// Reads a history of one part, see [`Reader`].
    ///
    /// # Errors
    /// As those of [`Reader::read`] and [`Reader::finish`].
    pub fn read(from: impl BufRead) -> Result<History, BadLine> {
        let mut reader = Reader::default();
        reader.read(from)?;
        reader.finish()
    }

    fn said(&mut self, members: Vec<(String, Json)>) -> Result<((Name, u64), Said), String> {
        let (mut process, mut number, mut s) = (None, None, Said::default());
        for (name, value) in members {
            match &*name {
                "process" => process = self.text(value),
                "op" => number = count(&value),
                "call" => {
                    s.call = Some(match text(&value) {
                        "put" => Call::Put,
                        "update" => Call::Update,
                        "take" => Call::Take,
                        "peek" => Call::Peek,
                        other => return Err(format!("no call is {other:?}")),
                    });
                }
                "outcome" => {
                    s.outcome = Some(match text(&value) {
                        "ok" => Outcome::Ok,
                        "refused" => Outcome::Refused,
                        "back" => Outcome::Back,
                        "empty" => Outcome::Empty,
                        "unknown" => Outcome::Unknown,
                        other => return Err(format!("no outcome is {other:?}")),
                    });
                }
                "key" => s.key = self.text(value),
                "value" => s.value = self.text(value),
                "start" => s.start = count(&value),
                "held" => s.held = count(&value),
                "end" => s.end = count(&value),
                "index" => s.index = count(&value),
                "commit" => s.commit = count(&value),
                "joint" => s.joint = value == Json::True,
                // Whoever writes may note more.
                _ => {}
            }
        }
        match (process, number) {
            (Some(p), Some(n)) => Ok(((p, n), s)),
            _ => Err("an operation has a process and a number, \"op\"; a mark has \"mark\"".into()),
        }
    }

    fn mark(&mut self, members: Vec<(String, Json)>) -> Result<Mark, String> {
        let empty = self.intern("");
        let (mut what, mut scope, mut words, mut start, mut end) = (None, empty, empty, None, None);
        for (name, value) in members {
            match &*name {
                "mark" => {
                    what = Some(match text(&value) {
                        "killed" => What::Killed,
                        "lost" => What::Lost,
                        "fault" => What::Fault,
                        "gone" => What::Gone,
                        "stalled" => What::Stalled,
                        "settled" => What::Settled,
                        "drained" => What::Drained,
                        other => return Err(format!("no mark is {other:?}")),
                    });
                }
                "scope" => scope = self.text(value).unwrap_or(empty),
                "text" => words = self.text(value).unwrap_or(empty),
                "start" => start = count(&value),
                "end" => end = count(&value),
                _ => {}
            }
        }
        let start = start.ok_or("a mark has a start")?;
        if end.is_some_and(|t| t < start) {
            return Err("a mark ends before it begins".into());
        }
        Ok(Mark { what: what.ok_or("a mark has \"mark\"")?, scope, start, end: end.unwrap_or(start), text: words })
    }

    fn text(&mut self, value: Json) -> Option<Name> {
        match value {
            Json::Text(s) => Some(self.intern(&s)),
            Json::Number(n) => Some(self.intern(&n.to_string())),
            Json::True | Json::False => None,
        }
    }
}

impl Said {
    fn add(&mut self, new: Said) {
        self.call = new.call.or(self.call);
        self.key = new.key.or(self.key);
        self.value = new.value.or(self.value);
        self.start = new.start.or(self.start);
        self.held = new.held.or(self.held);
        self.end = new.end.or(self.end);
        self.outcome = new.outcome.or(self.outcome);
        self.index = new.index.or(self.index);
        self.commit = new.commit.or(self.commit);
        self.joint |= new.joint;
    }
}

fn text(value: &Json) -> &str {
    match value {
        Json::Text(s) => s,
        _ => "",
    }
}
fn count(value: &Json) -> Option<u64> {
    match value {
        Json::Number(n) => Some(*n),
        _ => None,
    }
}
