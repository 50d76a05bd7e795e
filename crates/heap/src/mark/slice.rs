//! Marking in slices: the world goes on in between, and what is yet to be looked at stays.
//!
//! **Invariant.** Between two slices every marked cell was traced whole, or stands among the grey ones to be traced again; the grey ones are
//! cells outside nurseries, which are not freed before the marking has ended. Nothing of a cell's own memory is
//! named: it may be replaced meanwhile. What is left of a long list is told by its cell (`grey.rs`).

use super::{ALONE, Grey, Ivars, Marking, STEPS, Tracer};
use crate::cells::header::flag;
use crate::cells::trace::Visitor;
use crate::{ShapeId, Sym, Value};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// When a slice ends.
#[derive(Clone, Copy)]
pub(crate) struct Until {
    at: Option<Instant>,
    /// By one thread.
    cells: usize,
}

impl Until {
    /// When all is marked.
    pub const NEVER: Until = Until { at: None, cells: usize::MAX };
    pub fn time(at: Instant) -> Until {
        Until { at: Some(at), ..Until::NEVER }
    }
    /// When a thread has marked so many.
    pub fn cells(cells: usize) -> Until {
        Until { cells, ..Until::NEVER }
    }
    pub fn is_never(&self) -> bool {
        self.at.is_none() && self.cells == usize::MAX
    }
    /// For what comes before the marking of a slice: so long from now on.
    pub fn with_time(&self, time: Duration) -> Until {
        Until { at: self.at.map(|_| Instant::now() + time), ..*self }
    }
    /// Does it count cells?
    pub fn counts(&self) -> bool {
        self.cells != usize::MAX
    }
    /// Is it over for a thread that has marked so many cells? Costs a look at the clock.
    #[inline]
    pub fn is_over(&self, cells: usize) -> bool {
        cells >= self.cells || self.at.is_some_and(|at| Instant::now() >= at)
    }
}

/// The cells of nurseries that a payload holds are left out: the roots of those nurseries show them.
pub(super) struct Outside<'t, 'a, const MANY: bool>(pub &'t mut Tracer<'a, MANY>);

impl<const MANY: bool> Visitor for Outside<'_, '_, MANY> {
    fn visit(&mut self, v: Value) {
        if v.header().is_none_or(|h| h.flags.load(Relaxed) & flag::OUT != 0) {
            self.0.visit(v);
        }
    }
    fn rows(&self) -> bool {
        self.0.rows()
    }
    fn sym(&mut self, s: Sym) {
        self.0.sym(s);
    }
    fn shape(&mut self, s: ShapeId) {
        self.0.shape(s);
    }
    fn method(&mut self, n: u32) {
        self.0.method(n);
    }
    fn code(&mut self, at: u64) {
        self.0.code(at);
    }
}

impl Marking<'_> {
    /// Marks what `grey` leads to, for one slice; what is left stands in it.
    pub fn slice(&mut self, grey: &mut Grey, until: &Until, ivars: Ivars) {
        let many = self.helpers.are_there(false);
        let copies = grey.take_copies();
        grey.take_up();
        let mut t = Tracer::<false>::new(std::mem::take(grey), &self.fresh, ivars);
        let mut steps = 0;
        let call = loop {
            let n = STEPS.min(until.cells.saturating_sub(t.cells)).max(1);
            if t.run(n) || until.is_over(t.cells) {
                break false;
            }
            steps += n;
            if many && steps > ALONE {
                break true;
            }
        };
        if call {
            t.put_back();
        } else {
            t.leave();
        }
        self.cells += t.cells;
        self.bytes += t.bytes;
        let rest = t.grey;
        *grey = if call { self.together(false, |r| r.grey = rest, ivars, until) } else { rest };
        grey.keep_copies(copies);
    }
}

impl<const MANY: bool> Tracer<'_, MANY> {
    /// All that it has to look at stands among its grey cells.
    pub(super) fn leave(&mut self) {
        self.put_back();
        self.grey.leave_memory(self.fresh);
    }
}
