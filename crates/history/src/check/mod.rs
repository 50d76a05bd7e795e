//! The rules.
//!
//! **Invariant.** Each rule looks at one key at a time, in a time that grows with the number of its operations and the logarithm of it.
//! Where values are distinct, a queue has gone wrong only in the ways that the rules name (Bouajjani et al., ICALP 2015), and a register if
//! the zones of two values collide (Gibbons and Korach, SIAM J. Comput. 1997). Keys on which `update` meets `put` or `take` are searched.

mod book;
mod order;
mod register;
mod segments;
mod waits;

use crate::history::{Call, History, Outcome, Time, What};
use crate::report::{Report, Rule};
use crate::search::{self, Answer};
use book::{Book, Key};

const SECOND: Time = 1_000_000_000;

/// What the history's makers have promised each other.
#[derive(Clone, Debug)]
pub struct Options {
    /// The longest lease, in nanoseconds. What somebody held who is gone is back after so long.
    pub lease: Time,
    /// From a fault's end, or while a segment stands there, until calls succeed.
    pub recovery: Time,
    /// States that the search looks at for one key before it gives up.
    pub states: usize,
}

impl Default for Options {
    /// A lease of a second, and a second more; two million states.
    fn default() -> Options {
        Options { lease: SECOND, recovery: 2 * SECOND, states: 2_000_000 }
    }
}

/// Looks whether a history may have happened.
pub fn check(history: &History, options: &Options) -> Report {
    let mut report = Report::default();
    let book = Book::new(history, options);
    for key in &book.keys {
        segments::check(&book, key, &mut report);
        match (key.has(&book, Call::Update), key.has(&book, Call::Put) || key.has(&book, Call::Take)) {
            (false, _) => order::check(&book, key, &mut report),
            (true, false) => register::check(&book, key, &mut report),
            (true, true) => mixed(&book, key, &mut report),
        }
        order::indexes(&book, key, &mut report);
        waits::waited(&book, key, &mut report);
    }
    waits::ends(&book, &mut report);
    waits::recoveries(&book, &mut report);
    let n = &mut report.figures;
    n.ops = history.ops.len();
    n.stalls = history.marked(What::Stalled).count();
    for (i, o) in history.ops.iter().enumerate() {
        match (book.outcome(i), o.call) {
            (Outcome::Unknown, _) => n.unknown += 1,
            (Outcome::Ok, Call::Put | Call::Update) => n.puts += 1,
            (Outcome::Ok, Call::Take) => n.takes += 1,
            (Outcome::Ok, Call::Peek) => n.peeks += 1,
            _ => {}
        }
    }
    report.wrong.sort_by_key(|w| w.rule);
    report
}

/// A key on which `update` meets the rest.
fn mixed(book: &Book, key: &Key, report: &mut Report) {
    report.figures.searched.0 += 1;
    let Some(ops) = key.plain(book) else {
        report.figures.searched.1 += 1;
        return;
    };
    match search::linearizable(&ops, book.options.states) {
        Answer::Yes => {}
        Answer::TooMuch => report.figures.searched.1 += 1,
        Answer::No => {
            let last = search::shortest(&ops, book.options.states);
            let mut evidence: Vec<_> = last.iter().collect();
            evidence.sort_by_key(|o| o.start);
            let name = book.history.name(key.name);
            let what = format!("no order of these {} operations under {name} explains their answers", evidence.len());
            let skipped = evidence.len().saturating_sub(12);
            let mut lines: Vec<String> = evidence.into_iter().skip(skipped).map(|o| book.history.tell(o)).collect();
            if skipped > 0 {
                lines.insert(0, format!("{skipped} before these"));
            }
            report.add(Rule::Linear, what, lines);
        }
    }
}
