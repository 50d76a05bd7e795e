//! Cells whose place the running instruction does not decide alone.
//!
//! One instruction may make cells for several inputs at once: a join's reader makes the rows that its table keeps and
//! those that are looked up and dropped. Who knows which is which makes them as a [`Series`], whose history is its own
//! ([`AllocSiteKey::of`](crate::AllocSiteKey)); its key and its present strategy stand in it, so that a cell costs a comparison. And what is stored into
//! one known holder as soon as it is made has no history at all: it is born *beside* its holder, outside the nursery when that is there
//! (colocation), for the store would take it out of the nursery anyway.
//!
//! Invariants: neither is nested, and no safepoint lies inside, as with [`Heap::begin_place`]. Instructions are never rewritten
//! for a series, nor for what is born beside its holder.

use crate::alloc_site::{AllocSiteKey, BirthPlace};
use crate::cells::header::flag;
use crate::cells::value::Value;
use crate::heap::Heap;
use std::sync::atomic::Ordering::*;

/// [`AllocSiteKey::of`] of what is born beside its holder: counted for profiles, never decided on.
pub(crate) const HELD: u32 = u32::MAX;

/// Who is born now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Subject {
    /// What the running instruction makes.
    #[default]
    Instruction,
    /// The next of a series.
    Series,
    /// What a holder will hold.
    Held,
}

/// Cells that meet one fate, as far as can be known: the elements of one input, say. Told apart by a number from the
/// other series that the same instruction makes for the same call in the user's code.
#[derive(Debug)]
pub struct Series {
    number: u32,
    /// Where the first of them was made; `of` is zero before.
    key: AllocSiteKey,
    /// The book's state that `out` was read from.
    epoch: u64,
    out: bool,
}

impl Series {
    /// Numbers are taken modulo 2^30.
    pub fn new(number: u32) -> Series {
        Series { number, key: AllocSiteKey::default(), epoch: 0, out: false }
    }
    /// What follows is another series, at the same place.
    pub fn renumber(&mut self, number: u32) {
        self.number = number;
        self.epoch = 0;
        if self.key.of != 0 {
            self.key.of = self.of();
        }
    }
    /// Neither zero nor [`HELD`].
    fn of(&self) -> u32 {
        (self.number & (u32::MAX >> 2)) + 1
    }
    /// Its site, once something of it was made.
    #[cfg(test)]
    pub(crate) fn key(&self) -> Option<AllocSiteKey> {
        (self.key.of != 0).then_some(self.key)
    }
}

/// What [`Heap::end_placed`] has to undo.
#[must_use]
#[derive(Debug)]
pub enum Placed {
    /// They are born where the instruction's are.
    Nothing,
    /// Outside, where the instruction's are not.
    Out,
    /// In the nursery, where the instruction's are not: those are born there.
    Nursery(BirthPlace),
}

impl Heap {
    /// Until [`Heap::end_placed`] cells are born as the next of a series.
    #[inline]
    pub fn begin_series(&mut self, s: &mut Series) -> Placed {
        // Zero is no state of the book's.
        let now = self.site_book().epoch() + 1;
        if s.epoch != now {
            self.look_up(s, now);
        }
        self.sites.series = s.key;
        self.place_by(Subject::Series, s.out)
    }
    #[inline(never)]
    fn look_up(&mut self, s: &mut Series, now: u64) {
        if s.key.of == 0 {
            s.key = AllocSiteKey { of: s.of(), ..self.sites.probe.users_key() };
        }
        s.epoch = now;
        s.out = self.site_is_out(&s.key);
    }
    /// Until [`Heap::end_placed`] what is made is stored into `holder`.
    #[inline]
    pub fn begin_beside(&mut self, holder: Value) -> Placed {
        let out = holder.header().is_some_and(|h| h.flags.load(Relaxed) & flag::OUT != 0);
        self.place_by(Subject::Held, out)
    }
    #[inline]
    fn place_by(&mut self, subject: Subject, out: bool) -> Placed {
        self.sites.subject = subject;
        match (self.sites.place != BirthPlace::Nursery, out) {
            (false, true) => {
                self.begin_place(BirthPlace::Out);
                Placed::Out
            }
            (true, false) => Placed::Nursery(self.suspend_place()),
            _ => Placed::Nothing,
        }
    }
    /// Cells are born as the running instruction's again.
    #[inline]
    pub fn end_placed(&mut self, was: Placed) {
        match was {
            Placed::Nothing => {}
            Placed::Out => self.end_place(),
            Placed::Nursery(place) => self.begin_place(place),
        }
        self.sites.subject = Subject::Instruction;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AllocSiteMode, AllocSitePolicy, AllocSiteProbe, CalledBy, Gc, HeapConfig, Rule, StrObj};

    /// The instruction that makes everything here.
    unsafe fn one_instruction(_: *const (), by: CalledBy) -> AllocSiteKey {
        AllocSiteKey { at: 0x1000, caller: if by == CalledBy::User { 0x2000 } else { 0 }, of: 0 }
    }
    fn heap(rule: Rule) -> Heap {
        let mut h = Heap::configured(HeapConfig { rule, ..HeapConfig::default() });
        // SAFETY: it looks at nothing.
        h.set_probe(unsafe { AllocSiteProbe::new(one_instruction, std::ptr::null()) });
        h
    }
    fn text(h: &mut Heap) -> Gc<StrObj> {
        h.str(Value::FALSE, b"a text that does not fit in its cell", 1)
    }
    fn next(h: &mut Heap, s: &mut Series) -> Value {
        let was = h.begin_series(s);
        let v = text(h).val();
        h.end_placed(was);
        v
    }
    fn out(v: Value) -> bool {
        v.header().is_some_and(|h| h.has(flag::OUT))
    }
    /// So many elements of each series: all of the first are published, none of the second is kept.
    fn live(h: &mut Heap, kept: &mut Series, dropped: &mut Series, n: usize) {
        for _ in 0..n {
            let v = next(h, kept);
            h.publish(v);
            next(h, dropped);
            if h.wants_nursery() {
                h.collect_nursery(|_| {});
                let news = h.settle_sites();
                assert!(news.out.is_empty() && news.back.is_empty(), "instructions are left alone: {news:?}");
            }
        }
    }

    #[test]
    fn series_of_one_instruction_have_histories_of_their_own() {
        let mut h = heap(Rule::Closure);
        if h.site_book().policy.mode != AllocSiteMode::History {
            return;
        }
        let (mut kept, mut dropped) = (Series::new(1), Series::new(2));
        assert_eq!(kept.key(), None);
        live(&mut h, &mut kept, &mut dropped, 4000);
        let (one, two) = (next(&mut h, &mut kept), next(&mut h, &mut dropped));
        assert!(out(one) && !out(two));
        assert_eq!(h.site_book().sites_out(), [kept.key().unwrap()]);
        assert_eq!(h.site_book().counts(), (1, 1));
        // What the instruction makes by itself has nothing to do with it.
        let own = text(&mut h).val();
        assert!(!out(own));
        // Another reading finds what is known; another phase of the same begins anew.
        let again = next(&mut h, &mut Series::new(1));
        assert!(out(again));
        kept.renumber(3);
        let v = next(&mut h, &mut kept);
        assert!(!out(v));
    }

    #[test]
    fn readings_without_end_make_no_sites_without_end() {
        let mut h = heap(Rule::Closure);
        for _ in 0..500 {
            live(&mut h, &mut Series::new(7), &mut Series::new(8), 16);
        }
        let table = h.site_book().report().len();
        assert!(table <= 2, "{table}");
        let (one, two) = (Series::new(7), Series::new(7 + (1 << 30)));
        assert_eq!(one.of(), two.of());
        assert!(Series::new(u32::MAX).of() != HELD && Series::new(u32::MAX).of() != 0);
    }

    #[test]
    fn a_series_that_went_out_gets_another_trial() {
        let mut h = heap(Rule::Closure);
        if h.site_book().policy != AllocSitePolicy::default() {
            return;
        }
        let (mut kept, mut dropped) = (Series::new(1), Series::new(2));
        live(&mut h, &mut kept, &mut dropped, 4000);
        let v = next(&mut h, &mut kept);
        assert!(out(v));
        h.site_book().tick(1 << 20);
        let news = h.settle_sites();
        assert!(news.back.is_empty());
        let v = next(&mut h, &mut kept);
        assert!(!out(v));
    }

    #[test]
    fn what_is_born_beside_its_holder_lies_where_that_does() {
        for rule in [Rule::Paper, Rule::Closure] {
            let mut h = heap(rule);
            let (private, shared) = (h.array(Value::FALSE, &[]).val(), h.array(Value::FALSE, &[]).val());
            h.publish(shared);
            let mut beside = |holder: Value| {
                let was = h.begin_beside(holder);
                let v = text(&mut h).val();
                h.end_placed(was);
                v
            };
            let (one, two) = (beside(private), beside(shared));
            assert!(!out(one) && out(two), "{rule:?}");
        }
        // It has no site, however much of it fails.
        let mut h = heap(Rule::Closure);
        let holder = h.array(Value::FALSE, &[]).val();
        for _ in 0..4000 {
            let was = h.begin_beside(holder);
            let v = text(&mut h).val();
            h.end_placed(was);
            h.publish(v);
            if h.wants_nursery() {
                h.collect_nursery(|m| m.mark(holder));
                h.settle_sites();
            }
        }
        assert_eq!(h.site_book().counts(), (0, 0));
    }

    #[test]
    fn the_instructions_own_place_goes_on_behind_it() {
        let mut h = heap(Rule::Closure);
        let holder = h.array(Value::FALSE, &[]).val();
        h.begin_place(BirthPlace::Out);
        let first = h.array(Value::FALSE, &[holder]);
        let was = h.begin_beside(holder);
        let v = text(&mut h).val();
        h.end_placed(was);
        let last = h.array(Value::FALSE, &[v]).val();
        assert!(out(first.val()) && !out(v) && out(last) && !out(holder));
        h.end_place();
        // All that the instruction made holds nothing private now.
        assert!(out(v) && out(holder));
        let private = text(&mut h).val();
        assert!(!out(private));
    }
}
