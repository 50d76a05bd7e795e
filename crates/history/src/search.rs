//! Is there an order of operations that explains their answers? A search (Wing and Gong, J. Parallel Distrib. Comput. 1993; Lowe 2017), for
//! short histories of one key.
//!
//! **Invariant.** A state that was visited is not visited again: operations done, and the queue that they have left.

use crate::history::{Call, Name, Op, Outcome, Time};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// What the search has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is an order.
    Yes,
    /// There is none.
    No,
    /// Nobody knows: it was given up.
    TooMuch,
}

/// Operations of one key without leases, in the order of their starts. Those of unknown outcome may be done at any time after their start.
/// Looks at so many states at most.
pub fn linearizable(ops: &[Op], states: usize) -> Answer {
    let steps: Vec<&Op> = ops.iter().filter(|o| counts(o)).collect();
    if steps.len() > DEEPEST {
        return Answer::TooMuch;
    }
    let mut search = Search { steps: &steps, seen: FxHashSet::default(), left: states, done: vec![0; steps.len().div_ceil(64)], first: 0 };
    match search.go(&mut VecDeque::new()) {
        true => Answer::Yes,
        false if search.left == 0 => Answer::TooMuch,
        false => Answer::No,
    }
}

/// The shortest beginning of a history that has no order.
pub fn shortest(ops: &[Op], states: usize) -> Vec<Op> {
    let mut ends: Vec<Time> = ops.iter().filter_map(|o| o.end).collect();
    ends.sort_unstable();
    let (mut low, mut high) = (0, ends.len());
    while low < high {
        let at = (low + high) / 2;
        if linearizable(&until(ops, ends[at]), states) == Answer::No { high = at } else { low = at + 1 }
    }
    match ends.get(low) {
        Some(end) => until(ops, *end),
        None => ops.to_vec(),
    }
}

/// A history as it stood then.
fn until(ops: &[Op], then: Time) -> Vec<Op> {
    let mut out = Vec::new();
    for o in ops.iter().filter(|o| o.start <= then) {
        let mut o = o.clone();
        if o.end.is_none_or(|e| e > then) {
            (o.end, o.outcome) = (None, Outcome::Unknown);
            if matches!(o.call, Call::Take | Call::Peek) {
                o.value = None;
            }
        }
        out.push(o);
    }
    out
}

/// Can it have changed or shown anything?
fn counts(o: &Op) -> bool {
    match o.outcome {
        Outcome::Ok | Outcome::Empty => true,
        Outcome::Unknown => o.call != Call::Peek,
        Outcome::Refused | Outcome::Back => false,
    }
}

/// Each operation is a call within the search.
const DEEPEST: usize = 4096;

/// The operations done, and the queue that they have left.
type State = (Box<[u64]>, Box<[Name]>);

struct Search<'a> {
    steps: &'a [&'a Op],
    seen: FxHashSet<State>,
    left: usize,
    done: Vec<u64>,
    /// All before this one are done.
    first: usize,
}

impl Search<'_> {
    fn is_done(&self, i: usize) -> bool {
        self.done[i / 64] >> (i % 64) & 1 == 1
    }
    /// Can all that is left be done from here?
    fn go(&mut self, queue: &mut VecDeque<Name>) -> bool {
        let from = self.first;
        while self.first < self.steps.len() && self.is_done(self.first) {
            self.first += 1;
        }
        // Whatever is done next begins before each of the others has ended.
        let mut bound = Time::MAX;
        let mut more = false;
        for i in self.first..self.steps.len() {
            let o = self.steps[i];
            if o.start > bound {
                break;
            }
            if !self.is_done(i) && o.outcome != Outcome::Unknown {
                more = true;
                bound = bound.min(o.end.unwrap_or(Time::MAX));
            }
        }
        if !more {
            return true;
        }
        for i in self.first..self.steps.len() {
            let o = self.steps[i];
            if o.start > bound {
                break;
            }
            if self.is_done(i) {
                continue;
            }
            let Some(undo) = apply(o, queue) else { continue };
            self.done[i / 64] |= 1 << (i % 64);
            let state = (self.done.clone().into(), queue.iter().copied().collect());
            if self.left > 0 && self.seen.insert(state) {
                self.left -= 1;
                if self.go(queue) {
                    return true;
                }
            }
            self.done[i / 64] &= !(1 << (i % 64));
            restore(undo, queue);
            if self.left == 0 {
                break;
            }
        }
        self.first = from;
        false
    }
}

enum Undo {
    Nothing,
    Pop,
    Push(Name),
    Replace(Name),
}

/// Does it, if it can have been done on this queue.
fn apply(o: &Op, queue: &mut VecDeque<Name>) -> Option<Undo> {
    match (o.call, o.outcome, o.value) {
        (_, Outcome::Empty, _) => queue.is_empty().then_some(Undo::Nothing),
        (Call::Put, _, Some(v)) => {
            queue.push_back(v);
            Some(Undo::Pop)
        }
        (Call::Update, _, Some(v)) => match queue.front_mut() {
            Some(head) => Some(Undo::Replace(std::mem::replace(head, v))),
            None => {
                queue.push_back(v);
                Some(Undo::Pop)
            }
        },
        (Call::Take, _, v) => {
            let head = queue.front().copied().filter(|h| v.is_none_or(|v| v == *h))?;
            queue.pop_front();
            Some(Undo::Push(head))
        }
        (Call::Peek, _, v) => (queue.front().copied() == v).then_some(Undo::Nothing),
        _ => None,
    }
}
fn restore(undo: Undo, queue: &mut VecDeque<Name>) {
    match undo {
        Undo::Nothing => {}
        Undo::Pop => drop(queue.pop_back()),
        Undo::Push(v) => queue.push_front(v),
        Undo::Replace(v) => queue.front_mut().into_iter().for_each(|head| *head = v),
    }
}
