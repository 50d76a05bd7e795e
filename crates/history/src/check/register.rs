//! Keys on which there is nothing but `update` and `peek`: registers.
//!
//! The operations of one value happen together, in an order of values. Its *zone* reaches from the first end to the last start of them: where
//! the end comes first, the value was there all that time (a forward zone). Otherwise it was there at some moment between.

use super::book::{Book, Key, Value};
use crate::history::{Call, Outcome, Time, What};
use crate::report::{Report, Rule};

struct Zone<'a> {
    value: &'a Value,
    /// The operation that ended first, and that which began last.
    ended: usize,
    began: usize,
    from: Time,
    to: Time,
}

pub fn check(book: &Book, key: &Key, report: &mut Report) {
    let (mut forward, mut backward) = (Vec::new(), Vec::new());
    for value in &key.values {
        let Some(put) = value.put.filter(|p| book.outcome(*p) == Outcome::Ok || !value.peeks.is_empty()) else { continue };
        let ops = || value.peeks.iter().copied().chain([put]);
        let end = |i: usize| match book.outcome(i) {
            Outcome::Ok => book.op(i).end.unwrap_or(Time::MAX),
            _ => Time::MAX,
        };
        let (Some(ended), Some(began)) = (ops().min_by_key(|i| end(*i)), ops().max_by_key(|i| book.op(*i).start)) else { continue };
        let (first, last) = (end(ended), book.op(began).start);
        if first < last {
            forward.push(Zone { value, ended, began, from: first, to: last });
        } else {
            backward.push(Zone { value, ended, began, from: last, to: first });
        }
    }
    forward.sort_by_key(|z| z.from);
    for pair in forward.windows(2) {
        if pair[1].from < pair[0].to {
            collide(book, key, &pair[0], &pair[1], report);
        }
    }
    for b in &backward {
        // Those before it have ended before it begins, or collide themselves.
        let at = forward.partition_point(|f| f.from < b.from);
        if let Some(f) = at.checked_sub(1).map(|i| &forward[i]).filter(|f| b.to < f.to) {
            collide(book, key, f, b, report);
        }
    }
    empty(book, key, report);
}

fn collide(book: &Book, key: &Key, a: &Zone, b: &Zone, report: &mut Report) {
    let (x, y) = (book.name(a.value.name), book.name(b.value.name));
    let what = format!("under {} value {x} was there both before and after {y}", book.name(key.name));
    let mut ops = [a, b].map(|z| [z.value.put, Some(z.ended), Some(z.began)]).as_flattened().to_vec();
    ops.sort_by_key(|i| i.map(|i| book.op(i).start));
    ops.dedup();
    report.add(Rule::Linear, what, ops.into_iter().flatten().map(|i| book.tell(i)).collect());
}

/// Nothing is there only before the first update, or after the engine was lost.
fn empty(book: &Book, key: &Key, report: &mut Report) {
    let done = |i: &&usize| book.op(**i).call == Call::Update && book.outcome(**i) == Outcome::Ok;
    let mut updates: Vec<usize> = key.ops.iter().filter(done).copied().collect();
    updates.sort_by_key(|i| book.op(*i).end);
    for i in key.ops.iter().copied().filter(|i| book.outcome(*i) == Outcome::Empty) {
        let o = book.op(i);
        let before = updates.partition_point(|u| book.op(*u).end.is_some_and(|e| e < o.start));
        let Some(last) = before.checked_sub(1).map(|at| updates[at]) else { continue };
        let end = o.end.unwrap_or(Time::MAX);
        let lost = |m: &crate::Mark| m.end >= book.op(last).start && m.start <= end && book.history.within(m.scope, key.name);
        if !book.history.marked(What::Lost).any(lost) {
            let what = format!("{} was said to be empty, and was not", book.name(key.name));
            report.add(Rule::Empty, what, vec![book.tell(last), book.tell(i)]);
        }
    }
}
