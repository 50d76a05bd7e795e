//! Method resolution orders: what is searched, in which order, and who is told when it changes.
//!
//! **Invariant.** An order is replaced as a whole and never changed. `dependents` lists all whose own order has this class in
//! it, so that a change here gives each of them a new order (`relink`) or at least a fresh serial (`touch`). A module that a class
//! has included stays in its part of the order, also when it comes to stand further up or before the class as well.

use crate::Cx;
use kumi_heap::{ClassData, ClassObj, Gc};
use rustc_hash::FxHashSet;
use std::sync::atomic::Ordering::*;

/// Which modules stand in a part of an order.
enum Members {
    Few(Vec<Gc<ClassObj>>),
    /// By their values' bits.
    Many(FxHashSet<u64>),
}

impl Members {
    /// Beyond so many a set is quicker.
    const FEW: usize = 16;

    fn of(list: &[Gc<ClassObj>]) -> Members {
        if list.len() <= Members::FEW { Members::Few(list.to_vec()) } else { Members::many(list) }
    }
    fn many(list: &[Gc<ClassObj>]) -> Members {
        Members::Many(list.iter().map(|m| m.val().bits()).collect())
    }
    fn has(&self, m: &Gc<ClassObj>) -> bool {
        match self {
            Members::Few(list) => list.contains(m),
            Members::Many(set) => set.contains(&m.val().bits()),
        }
    }
    fn add(&mut self, m: Gc<ClassObj>) {
        match self {
            Members::Few(list) => {
                list.push(m);
                if list.len() > Members::FEW {
                    *self = Members::many(list);
                }
            }
            Members::Many(set) => drop(set.insert(m.val().bits())),
        }
    }
}

impl Cx {
    /// Computes the mro of a new class and registers it with its parents.
    pub(super) fn link_class(&mut self, c: Gc<ClassObj>) {
        let _classes = self.lock_classes();
        if let Some(s) = c.data.superclass {
            self.heap.edit(s).data.dependents.push(c);
        }
        self.order(c);
        c.serial.set(self.next_serial());
    }
    /// Sets the method resolution order of `c`.
    fn order(&mut self, c: Gc<ClassObj>) {
        let (mro, own) = Self::linearise(c);
        for m in &mro {
            self.heap.before_store(c.val(), m.val());
        }
        c.data.mro.set(mro);
        self.heap.edit(c).data.own_places = own;
    }
    fn next_serial(&mut self) -> u32 {
        let n = self.serial.fetch_add(1, Relaxed) + 1;
        if n > crate::world::tables::MOST_SERIALS && n & 0xffff == 0 {
            self.heap.request_full();
        }
        n
    }
    /// The order of `c`, and how much of it is not the superclass's.
    fn linearise(c: Gc<ClassObj>) -> (Vec<Gc<ClassObj>>, usize) {
        let before: &[Gc<ClassObj>] = &c.data.mro;
        let before = &before[..c.data.own_places.min(before.len())];
        let at = before.iter().position(|m| *m == c);
        let (ahead, included) = at.map_or((&[][..], &[][..]), |p| (&before[..p], &before[p + 1..]));
        let upper: Vec<Gc<ClassObj>> = c.data.superclass.map(|s| s.data.mro.clone()).unwrap_or_default();
        let mut out: Vec<Gc<ClassObj>> = Vec::with_capacity(upper.len() + 4);
        if !(c.data.prepends.is_empty() && c.data.includes.is_empty()) {
            let (ahead, included, above) = (Members::of(ahead), Members::of(included), Members::of(&upper));
            let mut prepended = Members::Few(Vec::new());
            for p in c.data.prepends.iter() {
                // What it includes comes with it, later only if it does not stand further up. What is there keeps its place.
                let new = !ahead.has(p);
                let mut at = 0;
                for m in p.data.mro.iter() {
                    if prepended.has(m) {
                        at = out.iter().position(|x| x == m).map_or(at, |there| there + 1);
                    } else if new || ahead.has(m) || !above.has(m) {
                        out.insert(at, *m);
                        prepended.add(*m);
                        at += 1;
                    }
                }
            }
            out.push(c);
            let mut below = Members::Few(vec![c]);
            for i in c.data.includes.iter().rev() {
                let new = !included.has(i);
                for m in i.data.mro.iter() {
                    let stays = included.has(m) || !above.has(m) && !(new && prepended.has(m));
                    if stays && !below.has(m) {
                        out.push(*m);
                        below.add(*m);
                    }
                }
            }
        } else {
            out.push(c);
        }
        let own = out.len();
        out.extend(upper);
        (out, own)
    }
    /// After an include, prepend or superclass change: new mro and serials for `c` and all that depend on it.
    pub fn relink(&mut self, c: Gc<ClassObj>) {
        let _classes = self.lock_classes();
        self.order(c);
        c.serial.set(self.next_serial());
        // The last first: what it gets then, those below it need not.
        for d in c.data.dependents.clone().into_iter().rev() {
            if d != c {
                self.relink(d);
            }
        }
    }
    /// After a method change in `c`: fresh serials for it and all that inherit from it.
    pub fn touch(&mut self, c: Gc<ClassObj>) {
        let _classes = self.lock_classes();
        c.serial.set(self.next_serial());
        for d in c.data.dependents.clone() {
            if d != c {
                self.touch(d);
            }
        }
    }
    /// `c.include(m)` without hooks.
    pub fn include_module(&mut self, c: Gc<ClassObj>, m: Gc<ClassObj>) {
        if self.mix_module(c, m, |d| &mut d.includes) && self.booted {
            self.check_included_ops(c, m);
        }
    }
    /// `c.prepend(m)` without hooks.
    pub fn prepend_module(&mut self, c: Gc<ClassObj>, m: Gc<ClassObj>) {
        let _classes = self.lock_classes();
        if self.mix_module(c, m, |d| &mut d.prepends) && self.booted {
            self.check_basic_ops(c, None);
        }
    }
    /// Adds `m` to one of the lists of `c`. False: it is there.
    fn mix_module(&mut self, c: Gc<ClassObj>, m: Gc<ClassObj>, list: fn(&mut ClassData) -> &mut Vec<Gc<ClassObj>>) -> bool {
        let _classes = self.lock_classes();
        let (c, m) = (c, m);
        if list(&mut self.heap.edit(c).data).contains(&m) {
            return false;
        }
        self.heap.before_store(c.val(), m.val());
        list(&mut self.heap.edit(c).data).push(m);
        self.heap.edit(m).data.dependents.push(c);
        self.relink(c);
        self.consts_moved(m);
        true
    }
    /// A module was mixed in somewhere: its constants may now be what a cached lookup should find.
    fn consts_moved(&mut self, m: Gc<ClassObj>) {
        for a in m.data.mro.clone() {
            for name in a.data.const_order.clone() {
                self.const_changed(name);
            }
        }
    }
}
