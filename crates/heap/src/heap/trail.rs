//! The way from an object to a part of it that cannot be shared, for those who are told.
//!
//! **Invariant.** It only reads, by looks that are good beside writers, and comes to no safepoint. Each cell is looked at once, the
//! nearest first: the way is a shortest one.

use super::Heap;
use crate::cells::header::{Kind, flag};
use crate::cells::layout::*;
use crate::{HashObj, RecordObj, Value};
use kumi_budget::Grow;
use rustc_hash::FxHashSet;

/// From here on a step counts the variables that stand beside a cell.
const SIDE: usize = 1 << 62;

/// A cell, and how it was reached: from which of the cells, along which of its references.
struct Reached {
    cell: Value,
    from: usize,
    step: usize,
}

/// A search that goes on.
pub struct Trail {
    part: Value,
    /// It is never seen by itself: the object that has it in a variable is meant.
    hidden: bool,
    cells: Vec<Reached>,
    seen: FxHashSet<u64>,
    /// Which of the cells is looked at, and which of its references is next.
    now: usize,
    at: usize,
    found: bool,
}

impl Trail {
    pub(super) fn new(root: Value, part: Value, hidden: bool) -> Trail {
        let mut t = Trail { part, hidden, cells: Vec::new(), seen: FxHashSet::default(), now: 0, at: 0, found: false };
        t.reach(root, 0, 0);
        t
    }
    /// Takes some `steps`. True: it has come to its end.
    pub fn run(&mut self, heap: &mut Heap, steps: usize) -> bool {
        for _ in 0..steps {
            let Some(cell) = self.cells.get(self.now).map(|r| r.cell).filter(|_| !self.found) else { return true };
            match nth(heap, cell, self.at) {
                Some(v) => {
                    self.reach(v, self.now, self.at);
                    self.at += 1;
                }
                None => {
                    for (i, p) in heap.side_ivars(cell).into_iter().enumerate() {
                        self.reach(p.1, self.now, SIDE + i);
                    }
                    (self.now, self.at) = (self.now + 1, 0);
                }
            }
        }
        false
    }
    fn reach(&mut self, v: Value, from: usize, step: usize) {
        let shareable = v.header().is_none_or(|h| h.has(flag::SHAREABLE));
        if !self.found && !shareable && self.seen.insert(v.bits()) {
            self.cells.put(Reached { cell: v, from, step });
            self.found = v == self.part;
        }
    }
    /// The part to be named, and the way to it: each cell and the number of the reference that leads on. From
    /// [`beside`](Self::beside) on it counts variables beside the cell; of a Hash 0 is the default, odd numbers are keys and even ones values.
    pub fn end(self) -> (Value, Vec<(Value, usize)>) {
        let mut path = Vec::new();
        let mut at = if self.found { self.cells.len() - 1 } else { 0 };
        while at != 0 {
            let Reached { from, step, .. } = self.cells[at];
            path.push((self.cells[from].cell, step));
            at = from;
        }
        match path.first() {
            Some(&(owner, step)) if self.hidden && (step >= SIDE || owner.is_kind(Kind::Object)) => {
                path.remove(0);
                path.reverse();
                (owner, path)
            }
            _ => {
                path.reverse();
                (self.part, path)
            }
        }
    }
    /// The number of the variable beside a cell that a step of a path names, if it names one.
    pub fn beside(step: usize) -> Option<usize> {
        step.checked_sub(SIDE)
    }
}

/// What a cell refers to, one after the other.
fn nth(heap: &mut Heap, cell: Value, i: usize) -> Option<Value> {
    match cell.kind()? {
        Kind::Array => cell.as_array()?.get(i),
        Kind::Hash => {
            let h = &cell.cell::<HashObj>()?.h;
            let Some(k) = i.checked_sub(1) else { return Some(h.missing().either()) };
            (k / 2 < h.slots()).then(|| h.at(k / 2).map_or(Value::NIL, |e| if k % 2 == 0 { e.key } else { e.val }))
        }
        Kind::Object => {
            let o = cell.cell::<ObjectObj>()?;
            (i < heap.shapes.count(o.shape()) as usize).then(|| o.slot(i as u32))
        }
        Kind::Struct => cell.cell::<StructObj>()?.slots().get(i),
        Kind::Record => cell.cell::<RecordObj>().filter(|r| i < r.fields()).map(|r| r.slot(i)),
        Kind::Range => cell.cell::<RangeObj>().and_then(|r| [r.lo, r.hi].get(i).copied()),
        Kind::Pair => cell.cell::<PairObj>().and_then(|r| [r.a, r.b].get(i).copied()),
        _ => None,
    }
}
