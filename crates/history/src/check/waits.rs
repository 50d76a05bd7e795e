//! Everybody gets an answer, and in time.

use super::book::{Book, Key};
use crate::history::{Call, Op, Outcome, Time, What};
use crate::report::{Report, Rule, seconds};
use std::collections::{BTreeMap, BTreeSet};

/// Each call has an end, unless its process was killed.
pub fn ends(book: &Book, report: &mut Report) {
    for (i, o) in book.history.ops.iter().enumerate() {
        if o.end.is_none() && book.killed(o).is_none() {
            let what = format!("{} still waits", book.name(o.process));
            report.add(Rule::NoEnd, what, vec![book.tell(i)]);
        }
    }
}

/// Nobody waits long while a segment stands there.
pub fn waited(book: &Book, key: &Key, report: &mut Report) {
    let (lease, patience) = (book.options.lease, book.options.recovery);
    let owner = book.history.node(key.name);
    let takers: Vec<usize> = key.ops.iter().copied().filter(|i| is_waiting(book, *i)).collect();
    if takers.is_empty() {
        return;
    }
    // What is held by who is gone is back a lease later.
    let gives_up = |o: &Op| book.killed(o).or(o.end).map_or(Time::MAX, |t| t.saturating_add(lease));
    // Times in which nothing is to be expected, for takers of any node.
    let mut dark: Vec<(Time, Time)> = Vec::new();
    for i in &key.unnamed {
        let o = book.op(*i);
        if book.outcome(*i) == Outcome::Unknown {
            dark.push((o.start, gives_up(o)));
        } else if o.end.is_some_and(|end| book.trouble_until(o, end).is_some()) {
            dark.push((o.start, book.released(*i)));
        }
    }
    for i in key.values.iter().flat_map(|v| &v.takes) {
        let o = book.op(*i);
        if book.trouble_until(o, o.done_by()).is_some() {
            dark.push((o.start, o.done_by()));
        }
    }
    let last = book.history.last();
    // What is not seen again may have been taken unseen.
    let unseen = key.unnamed.iter().any(|i| book.outcome(*i) == Outcome::Unknown);
    let until = if unseen { Time::MAX - 1 } else { Time::MAX };
    for v in &key.values {
        let seen = v.takes.iter().chain(&v.peeks).map(|i| book.op(*i).start).max().unwrap_or(0);
        let back = |i: usize| {
            let o = book.op(i);
            match book.outcome(i) {
                Outcome::Unknown if gives_up(o) < seen => gives_up(o),
                Outcome::Unknown => Time::MAX,
                _ => book.released(i),
            }
        };
        let stood = book.stood(key, v, back);
        for (from, to) in stood.into_iter().filter(|s| s.1 <= until).map(|(from, to)| (from, to.min(last))) {
            if to.saturating_sub(from) <= patience {
                continue;
            }
            // Times in which somebody waits, and by whom.
            let mut waits: Vec<(Time, Time, usize)> = Vec::new();
            for i in &takers {
                let o = book.op(*i);
                let taker = book.history.node(o.process);
                let troubles = book.troubles().filter(|m| book.concerns(m, taker, owner));
                let not = dark.iter().copied().chain(troubles.map(|m| (m.start, m.end.saturating_add(lease))));
                waits.extend(free(from.max(o.start), to.min(o.done_by()), not.collect()).into_iter().map(|(a, b)| (a, b, *i)));
            }
            // A call takes a while on its way; who gives up comes again.
            waits.retain(|w| w.1 - w.0 > WHILE);
            waits.sort_unstable();
            let mut run: Option<(Time, Time, usize)> = None;
            for (a, b, i) in waits {
                let begun = run.filter(|r| a <= r.1.saturating_add(WHILE));
                let now = begun.map_or((a, b, i), |r| (r.0, r.1.max(b), r.2));
                run = Some(now);
                if now.1 - now.0 > patience {
                    let what = format!(
                        "takers of {} waited for {} while value {} stood there",
                        book.name(key.name),
                        seconds(now.1 - now.0),
                        book.name(v.name)
                    );
                    let mut all: Vec<usize> = v.put.iter().chain(&v.takes).copied().chain([now.2, i]).collect();
                    all.sort_by_key(|i| book.op(*i).start);
                    all.dedup();
                    all.truncate(12);
                    return report.add(Rule::Waited, what, all.into_iter().map(|i| book.tell(i)).collect());
                }
            }
        }
    }
}

/// So long calls take on their way.
const WHILE: Time = 300_000_000;

fn is_waiting(book: &Book, i: usize) -> bool {
    let o = book.op(i);
    o.call == Call::Take && !o.joint && book.outcome(i) != Outcome::Empty && book.killed(o).is_none()
}

/// The stretches within that are free of these.
fn free(from: Time, to: Time, mut not: Vec<(Time, Time)>) -> Vec<(Time, Time)> {
    not.sort_unstable();
    let (mut at, mut out) = (from, Vec::new());
    for (a, b) in not {
        out.push((at, a.min(to)));
        at = at.max(b);
    }
    out.push((at, to));
    out.retain(|(a, b)| a < b);
    out
}

/// After each fault every two nodes that talked before do so again in time.
pub fn recoveries(book: &Book, report: &mut Report) {
    let h = book.history;
    // Calls that succeeded, by taker and owner, in the order of their starts.
    let mut pairs: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (i, o) in h.ops.iter().enumerate() {
        let (from, to) = (h.node(o.process), h.node(o.key));
        // Being told that nothing is there is an answer, too. Who waits for what nobody puts is no sign.
        let answered = matches!(book.outcome(i), Outcome::Ok | Outcome::Empty) && o.end.is_some();
        if from != to && answered && (o.call != Call::Take || book.outcome(i) == Outcome::Empty) {
            pairs.entry((from, to)).or_default().push(i);
        }
    }
    let last = h.last();
    for m in h.marked(What::Fault) {
        let bad = h.node(m.scope);
        let after = h.marked(What::Fault).map(|n| n.start).filter(|t| *t > m.end).min().unwrap_or(last);
        // A later one came too soon, or the end did: nothing can be said.
        let told = after.saturating_sub(m.end) > book.options.recovery;
        let mut longest = None;
        let mut late: BTreeSet<(&str, &str)> = BTreeSet::new();
        for (pair, ops) in &pairs {
            let concerned = bad.is_empty() || pair.0 == bad || pair.1 == bad;
            // A node that was stopped on purpose says so, too.
            let after = |s: &crate::Mark| s.start >= m.end && s.start <= m.end.saturating_add(book.options.recovery);
            let stalled = h.marked(What::Stalled).any(|s| after(s) && book.concerns(s, pair.0, pair.1));
            if !concerned || !told || stalled || book.op(ops[0]).start > m.start {
                continue;
            }
            let next = ops[ops.partition_point(|i| book.op(*i).start < m.end)..].iter();
            match next.filter_map(|i| book.op(*i).end).min() {
                Some(end) => {
                    longest = longest.max(Some(end.saturating_sub(m.end)));
                    if end.saturating_sub(m.end) > book.options.recovery {
                        late.insert(*pair);
                    }
                }
                None => drop(late.insert(*pair)),
            }
        }
        for (from, to) in &late {
            let what = format!("{from} reaches {to} not within {} of the end of a fault", seconds(book.options.recovery));
            let mut evidence = vec![h.tell_mark(m)];
            let next = pairs[&(*from, *to)].iter().find(|i| book.op(**i).start >= m.end);
            evidence.extend(next.map(|i| book.tell(*i)));
            report.add(Rule::Recovery, what, evidence);
        }
        if let Some(t) = longest {
            let text = format!("{} {}", h.name(m.scope), h.name(m.text));
            report.figures.recoveries.push((text.trim().to_owned(), t));
        }
    }
}
