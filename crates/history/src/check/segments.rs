//! What becomes of each segment.

use super::book::{Book, Key, Value};
use crate::history::{Call, Outcome, Time, What};
use crate::report::{Report, Rule};

pub fn check(book: &Book, key: &Key, report: &mut Report) {
    distinct(book, key, report);
    for v in &key.values {
        put_before(book, key, v, report);
        once(book, key, v, report);
    }
    lost(book, key, report);
}

fn under(book: &Book, key: &Key, v: &Value) -> String {
    format!("value {} under {}", book.name(v.name), book.name(key.name))
}

fn distinct(book: &Book, key: &Key, report: &mut Report) {
    for i in &key.ops {
        let o = book.op(*i);
        let Some(v) = o.value.filter(|_| matches!(o.call, Call::Put | Call::Update)).and_then(|v| key.value(v)) else { continue };
        if let Some(first) = v.put.filter(|p| p != i) {
            let what = format!("{} was put by two: the history's values are to be distinct", under(book, key, v));
            report.add(Rule::Distinct, what, vec![book.tell(first), book.tell(*i)]);
        }
    }
}

/// Whatever is seen was put before, and not refused.
fn put_before(book: &Book, key: &Key, v: &Value, report: &mut Report) {
    let seen = v.takes.iter().chain(&v.peeks).min_by_key(|i| book.op(**i).done_by());
    let Some(seen) = seen else { return };
    match v.put {
        None => report.add(Rule::Invented, format!("{} was never put", under(book, key, v)), vec![book.tell(*seen)]),
        Some(put) => {
            let evidence = || vec![book.tell(put), book.tell(*seen)];
            if book.outcome(put) == Outcome::Refused {
                report.add(Rule::Refused, format!("the put of {} was refused", under(book, key, v)), evidence());
            } else if book.op(*seen).done_by() < book.op(put).start {
                report.add(Rule::Invented, format!("{} was seen before it was put", under(book, key, v)), evidence());
            }
        }
    }
}

/// One committed taker, and nobody has it after that one.
fn once(book: &Book, key: &Key, v: &Value, report: &mut Report) {
    let mut committed = v.takes.iter().filter(|i| book.is_committed(**i));
    if v.takes.iter().filter(|i| book.outcome(**i) == Outcome::Ok).count() > 1 {
        report.figures.doubles += 1;
    }
    let Some(first) = committed.next() else { return };
    if let Some(second) = committed.next() {
        let what = format!("{} was taken for good by two", under(book, key, v));
        return report.add(Rule::Twice, what, vec![book.tell(*first), book.tell(*second)]);
    }
    let gone = book.op(*first).done_by();
    if let Some(after) = v.takes.iter().find(|i| *i != first && book.op(**i).start > gone) {
        let what = format!("{} was given out after somebody had taken it for good", under(book, key, v));
        report.add(Rule::Twice, what, vec![book.tell(*first), book.tell(*after)]);
    }
    if let Some(after) = v.peeks.iter().find(|i| book.op(**i).start > gone) {
        let what = format!("{} was read after it had been taken", under(book, key, v));
        report.add(Rule::Stale, what, vec![book.tell(*first), book.tell(*after)]);
    }
}

/// Where the key was found empty, each acknowledged put has a taker; but for those that somebody may have taken of whom nobody knows, and
/// those that an update may have replaced.
fn lost(book: &Book, key: &Key, report: &mut Report) {
    if !key.has(book, Call::Put) && !key.has(book, Call::Take) {
        return;
    }
    let Some(drained) = book.history.marked(What::Drained).filter(|m| book.history.within(m.scope, key.name)).last() else { return };
    let mut missing = Vec::new();
    let gone = |v: &&Value| v.takes.iter().any(|i| matches!(book.outcome(*i), Outcome::Ok | Outcome::Unknown));
    for v in key.values.iter().filter(|v| !gone(v)) {
        let Some(put) = v.put.filter(|p| book.outcome(*p) == Outcome::Ok) else { continue };
        let stored = book.op(put).end.unwrap_or(Time::MAX) <= drained.start;
        if stored && book.lost_at(key.name, book.op(put)).is_none_or(|t| t > drained.start) {
            missing.push(put);
        }
    }
    let replacing = |i: &&usize| book.op(**i).call == Call::Update && book.outcome(**i) != Outcome::Refused;
    let excused = key.unnamed.iter().filter(|i| book.outcome(**i) == Outcome::Unknown).count() + key.ops.iter().filter(replacing).count();
    if missing.len() > excused {
        let name = book.name(key.name);
        let what = match (missing.len(), excused) {
            (1, _) => format!("value {} under {name} was acknowledged, and is nowhere", value_of(book, missing[0])),
            (n, 0) => format!("{n} values under {name} were acknowledged, and are nowhere"),
            (n, m) => {
                format!("{n} values under {name} were acknowledged, and are nowhere; only {m} may have been taken or replaced unseen")
            }
        };
        let mut evidence: Vec<String> = missing.iter().take(4).map(|i| book.tell(*i)).collect();
        evidence.push(book.history.tell_mark(drained));
        report.add(Rule::Lost, what, evidence);
    }
}

fn value_of<'a>(book: &'a Book, put: usize) -> &'a str {
    book.op(put).value.map_or("?", |v| book.name(v))
}
