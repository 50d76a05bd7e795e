//! The history by keys and values, with what can be concluded before any rule is asked.

use super::Options;
use crate::history::{Call, History, Mark, Name, Op, Outcome, Time, What};
use rustc_hash::{FxHashMap, FxHashSet};

/// See the module.
pub struct Book<'a> {
    pub history: &'a History,
    pub options: &'a Options,
    pub keys: Vec<Key>,
    outcomes: Vec<Outcome>,
    /// Takes whose segments may have come back, since they could not say in time that they have them.
    weak: Vec<bool>,
}

/// A key. Operations are named by their place in the history.
pub struct Key {
    pub name: Name,
    pub ops: Vec<usize>,
    pub values: Vec<Value>,
    by_name: FxHashMap<Name, usize>,
    /// Takes of which nobody knows what they took, or whether.
    pub unnamed: Vec<usize>,
}

/// A value under a key.
pub struct Value {
    pub name: Name,
    /// Its put or update.
    pub put: Option<usize>,
    /// Takes that had it, in the order of their starts.
    pub takes: Vec<usize>,
    pub peeks: Vec<usize>,
}

impl<'a> Book<'a> {
    pub fn new(history: &'a History, options: &'a Options) -> Book<'a> {
        let mut book = Book { history, options, keys: Vec::new(), outcomes: Vec::new(), weak: Vec::new() };
        book.outcomes = history.ops.iter().map(|o| o.outcome).collect();
        let mut places: FxHashMap<Name, usize> = FxHashMap::default();
        for (i, o) in history.ops.iter().enumerate() {
            let at = *places.entry(o.key).or_insert(book.keys.len());
            if at == book.keys.len() {
                let key = Key { name: o.key, ops: vec![], values: vec![], by_name: FxHashMap::default(), unnamed: vec![] };
                book.keys.push(key);
            }
            book.keys[at].add(i, o);
        }
        book.conclude();
        book.weak = (0..history.ops.len()).map(|i| book.may_have_come_back(i)).collect();
        book
    }
    pub fn op(&self, i: usize) -> &'a Op {
        &self.history.ops[i]
    }
    /// How an operation ended, as far as anybody can know.
    pub fn outcome(&self, i: usize) -> Outcome {
        self.outcomes[i]
    }
    /// Commits of unknown outcome of which an output is seen were done.
    fn conclude(&mut self) {
        let mut done = FxHashSet::default();
        for key in &self.keys {
            for v in key.values.iter().filter(|v| !v.takes.is_empty() || !v.peeks.is_empty()) {
                let put = v.put.map(|p| self.op(p));
                done.extend(put.filter(|o| o.outcome == Outcome::Unknown).and_then(|o| Some((o.process, o.commit?))));
            }
        }
        for (i, o) in self.history.ops.iter().enumerate() {
            if o.outcome == Outcome::Unknown && o.commit.is_some_and(|c| done.contains(&(o.process, c))) {
                self.outcomes[i] = Outcome::Ok;
            }
        }
    }
    /// A plain take on its way from another node, around a fault of either.
    fn may_have_come_back(&self, i: usize) -> bool {
        let o = self.op(i);
        let (taker, owner) = (self.history.node(o.process), self.history.node(o.key));
        if o.call != Call::Take || o.is_leased() || taker == owner {
            return false;
        }
        let (from, to) = (o.start.saturating_sub(self.options.lease), o.done_by().saturating_add(self.options.lease));
        self.troubles().any(|m| m.start <= to && m.end >= from && self.concerns(m, taker, owner))
    }
    /// Marks of faults and kills, and of what the members took for such.
    pub fn troubles(&self) -> impl Iterator<Item = &Mark> {
        self.history.marks.iter().filter(|m| matches!(m.what, What::Fault | What::Killed | What::Gone | What::Stalled))
    }
    /// Is the mark about either node?
    pub fn concerns(&self, m: &Mark, one: &str, other: &str) -> bool {
        let node = self.history.node(m.scope);
        node.is_empty() || node == one || node == other
    }
    /// Until when a fault of either node lasted that an operation met which ended then.
    pub fn trouble_until(&self, o: &Op, end: Time) -> Option<Time> {
        let (taker, owner) = (self.history.node(o.process), self.history.node(o.key));
        let lease = self.options.lease;
        let met = |m: &&Mark| m.start <= end.saturating_add(lease) && m.end.saturating_add(lease) >= o.start;
        self.troubles().filter(met).filter(|m| self.concerns(m, taker, owner)).map(|m| m.end).max()
    }
    /// A take that was done for good, and whose segment did not come back.
    pub fn is_committed(&self, i: usize) -> bool {
        self.op(i).call == Call::Take && self.outcomes[i] == Outcome::Ok && !self.weak[i]
    }
    /// The first mark of this kind that is about the key and begins then or later.
    pub fn mark_after(&self, what: What, key: Name, from: Time) -> Option<&Mark> {
        self.history.marked(what).find(|m| m.start >= from && self.history.within(m.scope, key))
    }
    /// From when on the segment of a take that was not committed certainly stands in its queue again.
    pub fn released(&self, i: usize) -> Time {
        let o = self.op(i);
        let lease = self.options.lease;
        match (self.outcomes[i], o.end) {
            (Outcome::Back | Outcome::Empty | Outcome::Refused, Some(end)) => match self.trouble_until(o, end) {
                // The owner may not have heard, and may have given it something then.
                Some(until) => until.max(end).saturating_add(2 * lease),
                None if self.outcomes[i] == Outcome::Refused => end.saturating_add(lease),
                None => end,
            },
            (Outcome::Ok, _) => Time::MAX,
            _ => self.mark_after(What::Settled, o.key, o.start).map_or(Time::MAX, |m| m.start),
        }
    }
    /// When its process was killed, at its start or later.
    pub fn killed(&self, o: &Op) -> Option<Time> {
        self.history.marked(What::Killed).find(|m| m.end >= o.start && self.history.within(m.scope, o.process)).map(|m| m.end)
    }
    /// When what was put then was lost with its engine.
    pub fn lost_at(&self, key: Name, put: &Op) -> Option<Time> {
        self.history.marked(What::Lost).find(|m| m.end >= put.start && self.history.within(m.scope, key)).map(|m| m.start)
    }
    /// How often the key's engine was lost before; none: it was lost while the value was put.
    pub fn life(&self, key: Name, v: &Value) -> Option<usize> {
        let from = self.op(v.put?).start;
        let to = self.visible(v);
        let mut life = 0;
        for m in self.history.marked(What::Lost).filter(|m| self.history.within(m.scope, key)) {
            if m.end < from {
                life += 1;
            } else if m.start <= to {
                return None;
            }
        }
        Some(life)
    }
    /// Since when it certainly was put. One of an unknown outcome that was done may have been so after its end.
    pub fn visible(&self, v: &Value) -> Time {
        let put = v.put.filter(|p| self.op(*p).outcome == Outcome::Ok).and_then(|p| self.op(p).end);
        let seen = v.takes.iter().chain(&v.peeks).map(|i| self.op(*i).done_by());
        seen.chain(put).min().unwrap_or(Time::MAX)
    }
    /// When the value certainly stood in its queue: after the first and before the second.
    pub fn stood(&self, key: &Key, v: &Value, released: impl Fn(usize) -> Time) -> Vec<(Time, Time)> {
        let (Some(put), mut from) = (v.put, self.visible(v)) else { return Vec::new() };
        let mut out = Vec::new();
        let until = self.lost_at(key.name, self.op(put)).unwrap_or(Time::MAX);
        for i in &v.takes {
            let start = self.op(*i).start.min(until);
            if from < start {
                out.push((from, start));
            }
            from = from.max(released(*i));
        }
        if from < until {
            out.push((from, until));
        }
        out
    }
    pub fn tell(&self, i: usize) -> String {
        self.history.tell(self.op(i))
    }
    pub fn name(&self, n: Name) -> &str {
        self.history.name(n)
    }
}

impl Key {
    fn add(&mut self, i: usize, o: &Op) {
        self.ops.push(i);
        let Some(name) = o.value else {
            if o.call == Call::Take && matches!(o.outcome, Outcome::Refused | Outcome::Unknown) {
                self.unnamed.push(i);
            }
            return;
        };
        let next = self.values.len();
        let at = *self.by_name.entry(name).or_insert(next);
        if at == next {
            self.values.push(Value { name, put: None, takes: Vec::new(), peeks: Vec::new() });
        }
        let v = &mut self.values[at];
        match o.call {
            Call::Put | Call::Update => v.put = v.put.or(Some(i)),
            Call::Take => v.takes.push(i),
            Call::Peek => v.peeks.push(i),
        }
    }
    pub fn value(&self, name: Name) -> Option<&Value> {
        self.by_name.get(&name).map(|i| &self.values[*i])
    }
    /// Is a call made under this key?
    pub fn has(&self, book: &Book, call: Call) -> bool {
        self.ops.iter().any(|i| book.op(*i).call == call)
    }
    /// Its operations, if no lease, no lost engine and no fault's doubt has to do with it.
    pub fn plain(&self, book: &Book) -> Option<Vec<Op>> {
        if book.history.marked(What::Lost).any(|m| book.history.within(m.scope, self.name)) {
            return None;
        }
        let mut ops = Vec::new();
        for i in &self.ops {
            let o = book.op(*i);
            let doubtful = match (o.call, book.outcome(*i)) {
                (Call::Take, Outcome::Ok) => !book.is_committed(*i),
                (Call::Take, Outcome::Empty) => false,
                (Call::Take, _) => o.value.is_some(),
                _ => false,
            };
            if doubtful {
                return None;
            }
            ops.push(Op { outcome: book.outcome(*i), end: o.held.or(o.end), ..o.clone() });
        }
        Some(ops)
    }
}
