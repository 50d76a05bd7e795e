//! What is wrong with a history, in words.

use crate::history::{Call, History, Mark, Op, Outcome, Time, What};
use std::fmt;

/// What a history has broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A value was put twice by the history itself: it says nothing.
    Distinct,
    /// Something is there that was never put, or not yet.
    Invented,
    /// Something is there whose put was refused.
    Refused,
    /// A segment has two committed takers.
    Twice,
    /// An acknowledged put is gone.
    Lost,
    /// A segment was given out before one that stood in front of it.
    Order,
    /// Indexes do not grow with the puts, or one has two segments, or a segment two.
    Index,
    /// Nothing was found where something stood.
    Empty,
    /// A segment was read after it was taken.
    Stale,
    /// Reads and updates have no order that explains them.
    Linear,
    /// A call has no end.
    NoEnd,
    /// A take waited while a segment stood there.
    Waited,
    /// After a fault calls do not succeed in time.
    Recovery,
}

impl Rule {
    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Rule::Distinct => "not distinct",
            Rule::Invented => "invented",
            Rule::Refused => "refused, and there",
            Rule::Twice => "twice",
            Rule::Lost => "lost",
            Rule::Order => "out of order",
            Rule::Index => "index",
            Rule::Empty => "not empty",
            Rule::Stale => "stale",
            Rule::Linear => "not linearizable",
            Rule::NoEnd => "no end",
            Rule::Waited => "waited",
            Rule::Recovery => "not recovered",
        }
    }
}

/// Something wrong, with the operations and marks that show it.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// What was broken.
    pub rule: Rule,
    /// A sentence.
    pub what: String,
    /// A line each.
    pub evidence: Vec<String>,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.word(), self.what)?;
        self.evidence.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Operations in all.
    pub ops: usize,
    /// Puts and updates that were acknowledged.
    pub puts: usize,
    /// Segments that were taken for good.
    pub takes: usize,
    /// Peeks that found something.
    pub peeks: usize,
    /// Operations with an unknown outcome.
    pub unknown: usize,
    /// Segments that were seen by two who could not say so in time: allowed, and only around faults.
    pub doubles: usize,
    /// How often a node stood still since the machine had no time for it.
    pub stalls: usize,
    /// From the end of a fault until calls between two nodes succeeded again, the longest, for each fault.
    pub recoveries: Vec<(String, Time)>,
    /// Keys that were searched, and for which the search was given up.
    pub searched: (usize, usize),
}

/// What [`check`](crate::check) has found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Nothing here: all is well.
    pub wrong: Vec<Wrong>,
    /// What was counted.
    pub figures: Figures,
}

/// No more is told of one rule.
const MOST: usize = 5;

impl Report {
    pub(crate) fn add(&mut self, rule: Rule, what: String, evidence: Vec<String>) {
        if self.wrong.iter().filter(|w| w.rule == rule).count() < MOST {
            self.wrong.push(Wrong { rule, what, evidence });
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = &self.figures;
        writeln!(
            f,
            "{} operations: {} puts, {} takes, {} peeks, {} unknown outcomes, {} seen twice around a fault",
            n.ops, n.puts, n.takes, n.peeks, n.unknown, n.doubles
        )?;
        if let Some((fault, longest)) = n.recoveries.iter().max_by_key(|r| r.1) {
            writeln!(f, "{} recoveries, the longest in {} after {fault}", n.recoveries.len(), seconds(*longest))?;
        }
        if n.searched.1 > 0 {
            writeln!(f, "{} of {} keys were too much for the search", n.searched.1, n.searched.0)?;
        }
        self.wrong.iter().try_for_each(|w| writeln!(f, "{w}"))?;
        match self.wrong.len() {
            0 => write!(f, "nothing is wrong"),
            n => write!(f, "{n} things are wrong"),
        }
    }
}

pub(crate) fn seconds(t: Time) -> String {
    format!("{}.{:03} s", t / 1_000_000_000, t / 1_000_000 % 1000)
}

impl History {
    /// An operation in words. Times begin with the history.
    pub fn tell(&self, o: &Op) -> String {
        let zero = self.ops.first().map_or(0, |o| o.start).min(self.marks.first().map_or(Time::MAX, |m| m.start));
        let at = |t: Time| seconds(t.saturating_sub(zero));
        let call = match o.call {
            Call::Put => "put",
            Call::Update => "update",
            Call::Take => "take",
            Call::Peek => "peek",
        };
        let mut text = format!("{} #{} {call} {}", self.name(o.process), o.number, self.name(o.key));
        if let Some(v) = o.value {
            text.push_str(&format!(", value {}", self.name(v)));
        }
        if let Some(i) = o.index {
            text.push_str(&format!(", index {i}"));
        }
        text.push_str(&format!(": {}", at(o.start)));
        if let Some(t) = o.held {
            text.push_str(&format!(", had it at {}", at(t)));
        }
        if let Some(t) = o.end {
            text.push_str(&format!(" to {}", at(t)));
        }
        text.push_str(match (o.outcome, o.end) {
            (Outcome::Ok, _) => ", done",
            (Outcome::Refused, _) => ", refused",
            (Outcome::Back, _) => ", given back",
            (Outcome::Empty, _) => ", nothing there",
            (Outcome::Unknown, Some(_)) => ", unknown",
            (Outcome::Unknown, None) => ", no end",
        });
        text
    }
    /// A mark in words.
    pub fn tell_mark(&self, m: &Mark) -> String {
        let zero = self.ops.first().map_or(0, |o| o.start).min(self.marks.first().map_or(Time::MAX, |m| m.start));
        let at = |t: Time| seconds(t.saturating_sub(zero));
        let what = match m.what {
            What::Killed => "killed",
            What::Lost => "engine lost",
            What::Fault => "fault",
            What::Gone => "held for gone",
            What::Stalled => "stalled",
            What::Settled => "settled",
            What::Drained => "drained",
        };
        let (scope, text) = (self.name(m.scope), self.name(m.text));
        let space = if text.is_empty() { "" } else { " " };
        format!("{what} {scope}{space}{text}: {} to {}", at(m.start), at(m.end))
    }
}
