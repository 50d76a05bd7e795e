//! Places of birth: where the next cell is born, which flags it gets there, and what it is made with.
//!
//! Invariant: a new cell's flags say where it was born, and what it is made with is raised to them
//! before anybody sees it ([`Heap::born`]). What is filled later without a barrier is noted, and looked at when
//! the place ends or at the next safepoint.

use super::{Heap, Rule};
use crate::Value;
use crate::alloc_site::BirthPlace;
use crate::cells::header::{Gc, Header, flag};
use crate::cells::trace::{Visitor, trace_cell, trace_fields};
use crate::nursery::LEAVE;
use crate::space::block::MAX_CELL;
use crate::space::{IN, OUTSIDE};
use std::sync::atomic::Ordering::*;

/// Does this cell, which nobody else knows, hold only cells with these flags? (Its class is shared.)
#[inline]
fn holds_its_like(v: Value, need: u8) -> bool {
    struct Lacks(u8, bool);
    impl Visitor for Lacks {
        #[inline(always)]
        fn visit(&mut self, v: Value) {
            self.1 |= v.header().is_some_and(|h| h.flags.load(Relaxed) & self.0 != self.0);
        }
    }
    if v.header().is_none_or(|h| h.has(flag::SHARED)) {
        return false;
    }
    let mut lacks = Lacks(need, false);
    trace_fields(v, &mut lacks);
    !lacks.1
}

impl Heap {
    /// Cells are born at `p` until [`Heap::end_place`]. In between the caller comes to no safepoint.
    ///
    /// They get `OUT` alone and are noted in `born`, whatever `p` is: were they `SHARED` already, a publication
    /// would stop at them before what they hold is published.
    #[inline]
    pub fn begin_place(&mut self, p: BirthPlace) {
        if self.rule != Rule::Off && p != BirthPlace::Nursery {
            self.sites.place = p;
            (self.birth, self.place, self.attend) = (flag::OUT, OUTSIDE, true);
        }
    }
    /// Cells are born in the nursery again. Those born since [`Heap::begin_place`] were filled like any new
    /// cell, without a barrier: what they hold now gets their flags.
    #[inline]
    pub fn end_place(&mut self) {
        if self.sites.place != BirthPlace::Nursery {
            let shared = self.suspend_place() == BirthPlace::Shared || self.rule == Rule::Paper;
            match self.sites.born[..] {
                [] => {}
                // The commonest: one cell, which has its flags, and holds what has them, too, or no cell at all.
                [one] if !shared && holds_its_like(one, flag::OUT | self.always) && !self.sites.table.profiles() => {
                    self.sites.born.clear();
                    self.confined_born();
                }
                _ => self.raise_born(shared),
            }
        }
    }
    /// Cells are born in the nursery until the place that is given back begins anew. What was born there remains to be
    /// looked at when it ends.
    #[inline]
    pub(crate) fn suspend_place(&mut self) -> BirthPlace {
        (self.birth, self.place, self.attend) = (0, IN, self.rule == Rule::Paper || self.nursery.stress() != 0);
        std::mem::take(&mut self.sites.place)
    }
    /// As [`Heap::end_place`] where one cell was born, which is empty yet: later stores have their barriers.
    #[inline]
    pub fn end_place_empty(&mut self) {
        let place = self.sites.place;
        if place == BirthPlace::Out && self.rule == Rule::Closure && self.sites.born.len() == 1 && !self.sites.table.profiles() {
            self.sites.born.clear();
            self.confined_born();
        }
        self.end_place();
    }
    /// Large cells, which are born outside and filled like any new one, get their flags to all they hold. At safepoints.
    #[inline]
    pub fn seal_born(&mut self) {
        if !self.sites.born.is_empty() {
            self.raise_born(self.rule == Rule::Paper);
        }
    }

    /// Is a birth outside the nursery, while no place has begun, nothing but the cell and its flag?
    #[inline(always)]
    pub(super) fn plain_outside(&self) -> bool {
        self.plain && !self.attend
    }
    /// What a cell holds that was just born outside the nursery leaves it, too.
    #[inline(always)]
    pub(super) fn raise_out(&mut self, v: Value) {
        if let Some(h) = v.header()
            && h.flags.load(Relaxed) & flag::OUT == 0
        {
            self.raise(v, flag::OUT);
        }
    }

    /// Raises what a new cell was made with to the cell's own flags.
    #[inline(always)]
    pub(super) fn born(&mut self, v: Value) -> Value {
        if self.attend {
            self.born_slow(v, true);
        }
        v
    }
    #[inline(never)]
    fn born_slow(&mut self, v: Value, filled_later: bool) {
        struct Children(Vec<Value>);
        impl Visitor for Children {
            fn visit(&mut self, v: Value) {
                if v.header().is_some_and(|h| h.flags.load(Relaxed) & LEAVE != LEAVE) {
                    self.0.push(v);
                }
            }
        }
        if self.sites.place != BirthPlace::Nursery && filled_later {
            // All it will hold is looked at when this place ends.
            self.sites.born.push(v);
            return;
        }
        let Some(h) = v.header() else { return };
        self.stress_publish(v);
        let own = h.flags.load(Relaxed) & LEAVE;
        let need = own | self.always;
        if need != 0 {
            let mut c = Children(Vec::new());
            trace_cell(v, &mut c);
            for x in c.0 {
                if x.header().is_some_and(|h| h.flags.load(Relaxed) & need != need) {
                    self.raise(x, need);
                }
            }
        }
        if filled_later && own != 0 && self.rule != Rule::Off {
            // It may yet be filled without a barrier, as new cells are.
            self.sites.born.push(v);
        }
    }

    #[inline(always)]
    pub(super) fn put<T>(&mut self, v: T) -> Gc<T> {
        let p = self.raw(std::mem::size_of::<T>(), self.place) as *mut T;
        // SAFETY: fresh cell of T's size, which starts with a Header.
        unsafe {
            p.write(v);
            *(*(p as *mut Header)).flags.get_mut() |= self.birth;
        }
        Gc::from_ptr(p)
    }
    /// A cell that others than this worker know from the start.
    pub(super) fn put_shared<T>(&mut self, v: T) -> Gc<T> {
        let p = self.raw(std::mem::size_of::<T>(), OUTSIDE) as *mut T;
        // SAFETY: as in `put`.
        unsafe {
            p.write(v);
            *(*(p as *mut Header)).flags.get_mut() |= LEAVE;
        }
        self.born_slow(Value::from_bits(p as u64), false);
        Gc::from_ptr(p)
    }

    #[inline(always)]
    pub(super) fn put_slots<T>(&mut self, v: T, n: usize, fill: Value) -> Gc<T> {
        let head = std::mem::size_of::<T>();
        let p = self.raw(head + n * 8, self.place);
        // SAFETY: fresh cell of head and n words; T starts with a Header.
        unsafe {
            (p as *mut T).write(v);
            *(*(p as *mut Header)).flags.get_mut() |= self.birth;
            let s = p.add(head) as *mut Value;
            for i in 0..n {
                s.add(i).write(fill);
            }
        }
        if self.attend || head + n * 8 > MAX_CELL {
            self.slots_born(p, head + n * 8);
        }
        Gc::from_ptr(p as *mut T)
    }
    /// A cell with slots was made, that is large (so it lies outside the nursery), or must be looked at.
    #[cold]
    #[inline(never)]
    pub(crate) fn slots_born(&mut self, p: *mut u8, bytes: usize) {
        if bytes > MAX_CELL {
            // SAFETY: a cell that was just written.
            unsafe { *(*(p as *mut Header)).flags.get_mut() |= flag::OUT };
            self.poll.store(true, Relaxed);
            self.confined_born();
        }
        self.born_slow(Value::from_bits(p as u64), true);
    }
}
