//! First in, first out; indexes that grow; and nothing empty where something stands.

use super::book::{Book, Key, Value};
use crate::history::{Call, Outcome, Time};
use crate::report::{Report, Rule};
use std::collections::{BTreeMap, BinaryHeap};

/// A stretch of time in which a value certainly stood in its queue, after `from` and before `to`.
struct Stay<'a> {
    value: &'a Value,
    from: Time,
    to: Time,
}

pub fn check(book: &Book, key: &Key, report: &mut Report) {
    // What is not there at the end is lost, or was taken unseen at some time.
    let drained = book.mark_after(crate::What::Drained, key.name, 0).is_some();
    let mut stays: Vec<Stay> = Vec::new();
    for value in &key.values {
        let stood = book.stood(key, value, |i| book.released(i));
        stays.extend(stood.into_iter().filter(|s| !drained || s.1 < Time::MAX).map(|(from, to)| Stay { value, from, to }));
    }
    stays.sort_by_key(|s| s.from);
    let unseen = Unseen::new(book, key);
    in_order(book, key, &stays, &unseen, report);
    empty(book, key, &stays, &unseen, report);
}

/// Takes that may hold a segment unseen, by when they begin and end to.
struct Unseen {
    starts: Vec<Time>,
    ends: Vec<Time>,
}

impl Unseen {
    fn new(book: &Book, key: &Key) -> Unseen {
        let lease = book.options.lease;
        let mut u = Unseen { starts: Vec::new(), ends: Vec::new() };
        for i in &key.unnamed {
            let o = book.op(*i);
            // One whose time was over could have had something on its way only at its end, if nothing kept that from arriving.
            let quiet = |end: &Time| o.outcome == Outcome::Refused && book.trouble_until(o, *end).is_none();
            let late = o.end.filter(quiet).map(|end| end.saturating_sub(lease));
            u.starts.push(o.start.max(late.unwrap_or(0)));
            u.ends.push(book.released(*i));
        }
        // A call that met a fault may have been given something else before, which came back when it was asked anew.
        for i in &key.ops {
            let o = book.op(*i);
            let known = o.value.is_some() || book.outcome(*i) == Outcome::Empty;
            if o.call == Call::Take && known && book.trouble_until(o, o.done_by()).is_some() {
                u.starts.push(o.start);
                u.ends.push(o.done_by());
            }
        }
        u.starts.sort_unstable();
        u.ends.sort_unstable();
        u
    }
    /// How many segments may have been held unseen at some time within these.
    fn within(&self, from: Time, to: Time) -> usize {
        self.starts.partition_point(|t| *t <= to).saturating_sub(self.ends.partition_point(|t| *t < from))
    }
}

fn index(book: &Book, v: &Value) -> Option<u64> {
    v.put.iter().chain(&v.takes).chain(&v.peeks).find_map(|i| book.op(*i).index)
}

/// What is taken or read while others certainly stand in front of it is out of order.
fn in_order<'a>(book: &Book, key: &'a Key, stays: &[Stay<'a>], unseen: &Unseen, report: &mut Report) {
    // By their indexes, if these are known; else by the times of their puts.
    let indexed = key.values.iter().all(|v| v.put.is_none() || index(book, v).is_some() || book.visible(v) == Time::MAX);
    let place = |v: &Value| if indexed { index(book, v).unwrap_or(u64::MAX) } else { book.visible(v) };
    let mut given: Vec<(Time, usize, &Value)> = Vec::new();
    for v in &key.values {
        let Some(put) = v.put.map(|p| book.op(p).start) else { continue };
        given.extend(v.takes.iter().chain(&v.peeks).map(|i| (book.op(*i).start.max(put), *i, v)));
    }
    given.sort_by_key(|g| g.0);
    let mut next = stays.iter().peekable();
    let mut there: BTreeMap<(u64, Time), &Stay> = BTreeMap::new();
    let mut ends: BinaryHeap<(std::cmp::Reverse<Time>, u64, Time)> = BinaryHeap::new();
    for (from, i, v) in given {
        while let Some(s) = next.next_if(|s| s.from < from) {
            there.insert((place(s.value), s.from), s);
            ends.push((std::cmp::Reverse(s.to), place(s.value), s.from));
        }
        while let Some((_, p, f)) = ends.peek().copied().filter(|e| e.0.0 <= from) {
            ends.pop();
            there.remove(&(p, f));
        }
        let to = book.op(i).done_by();
        let bound = if indexed { index(book, v).unwrap_or(0) } else { book.op(v.put.unwrap_or(i)).start };
        let hidden = unseen.within(from, to);
        let mut front = there.range(..(bound, 0)).map(|x| *x.1).filter(|s| s.to > to);
        if let Some(s) = front.nth(hidden) {
            let (a, b) = (book.name(v.name), book.name(s.value.name));
            let how = if book.op(i).call == Call::Take { "given to a taker" } else { "read" };
            let mut what = format!("value {a} under {} was {how} while {b} stood in front of it", book.name(key.name));
            if hidden > 0 {
                what.push_str(&format!(", and {hidden} others, as many as may have been held unseen"));
            }
            let mut ops: Vec<usize> = s.value.put.iter().chain(&s.value.takes).copied().collect();
            ops.extend(v.put);
            ops.push(i);
            ops.sort_by_key(|i| book.op(*i).start);
            ops.dedup();
            report.add(Rule::Order, what, ops.into_iter().map(|i| book.tell(i)).collect());
        }
    }
}

/// What says that nothing is there is wrong if at each moment of it something stood there.
fn empty(book: &Book, key: &Key, stays: &[Stay], unseen: &Unseen, report: &mut Report) {
    // How many stood there at each change, and after it. The stretches are open.
    let mut changes: BTreeMap<Time, (i64, i64)> = BTreeMap::new();
    for s in stays {
        changes.entry(s.from).or_default().1 += 1;
        changes.entry(s.to).or_default().0 += 1;
    }
    let mut steps: Vec<(Time, usize, usize)> = Vec::with_capacity(changes.len());
    let mut depth = 0;
    for (t, (ended, begun)) in changes {
        let at = depth - ended;
        depth = at + begun;
        steps.push((t, at.max(0) as usize, depth.max(0) as usize));
    }
    for i in key.ops.iter().copied().filter(|i| book.outcome(*i) == Outcome::Empty) {
        let (from, to) = (book.op(i).start, book.op(i).end.unwrap_or(Time::MAX));
        let first = steps.partition_point(|s| s.0 < from);
        let before = if first == 0 { 0 } else { steps[first - 1].2 };
        let mut least = if steps.get(first).is_some_and(|s| s.0 == from) { usize::MAX } else { before };
        for s in steps[first..].iter().take_while(|s| s.0 <= to) {
            least = least.min(s.1);
            if s.0 < to {
                least = least.min(s.2);
            }
        }
        if least != usize::MAX && least > unseen.within(from, to) {
            let what = format!("{} was said to be empty, and was not", book.name(key.name));
            let mut evidence = vec![book.tell(i)];
            let stood = stays.iter().filter(|s| s.from < to && s.to > from).take(3);
            evidence.extend(stood.flat_map(|s| s.value.put.iter().chain(&s.value.takes)).map(|i| book.tell(*i)));
            report.add(Rule::Empty, what, evidence);
        }
    }
}

/// Each segment has one index, each index one segment, and later puts have higher ones.
pub fn indexes(book: &Book, key: &Key, report: &mut Report) {
    let mut all: Vec<(usize, u64, usize, Time)> = Vec::new();
    for v in &key.values {
        let mut seen = v.put.iter().chain(&v.takes).chain(&v.peeks).filter_map(|i| Some((*i, book.op(*i).index?)));
        let Some((first, index)) = seen.next() else { continue };
        if let Some((other, _)) = seen.find(|s| s.1 != index) {
            let what = format!("value {} under {} has two indexes", book.name(v.name), book.name(key.name));
            report.add(Rule::Index, what, vec![book.tell(first), book.tell(other)]);
        }
        if let (Some(put), Some(life)) = (v.put, book.life(key.name, v)) {
            all.push((life, index, put, book.visible(v)));
        }
    }
    all.sort_unstable();
    // The one that began last of those with lower indexes.
    let mut last: Option<(usize, usize)> = None;
    for pair in all.windows(2) {
        if (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1) {
            let what = format!("index {} under {} has two segments", pair[0].1, book.name(key.name));
            report.add(Rule::Index, what, vec![book.tell(pair[0].2), book.tell(pair[1].2)]);
        }
    }
    for (life, _, put, visible) in all {
        if let Some((_, before)) = last.filter(|l| l.0 == life && book.op(l.1).start > visible) {
            let what = format!("what was put later under {} has the lower index", book.name(key.name));
            report.add(Rule::Index, what, vec![book.tell(put), book.tell(before)]);
        }
        if last.is_none_or(|l| l.0 != life || book.op(l.1).start < book.op(put).start) {
            last = Some((life, put));
        }
    }
}
