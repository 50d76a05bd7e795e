//! Methods: adding them, and finding what a name means for a class.
//!
//! **Invariant.** Methods have numbers; a definition is a new number, and one that nothing names any more is used again
//! (see `tables`). An entry of the method
//! cache answers for the serial it was searched with, no other.

use crate::Cx;
use crate::doors::NO_METHOD;
use crate::doors::Vis;
use crate::names::symbols::sym;
use crate::world::method::{Body, Method};
use kumi_heap::{ClassObj, Gc, Sym, Value};
use std::sync::Arc;
use std::sync::atomic::Ordering::*;

/// One entry of a worker's method cache.
#[derive(Clone, Copy)]
pub(crate) struct CacheEntry {
    serial: u32,
    /// A name, or [`AFTER`] and the method whose `super` it is.
    key: u32,
    method: u32,
}

/// Above all symbols' and methods' numbers.
const AFTER: u32 = 1 << 31;

/// Where an answer for a class of that serial is kept.
fn cache_slot(serial: u32, key: u32) -> usize {
    (serial.wrapping_mul(0x9e37_79b1) ^ key.wrapping_mul(0x85eb_ca6b)) as usize % CACHE_SIZE
}

pub(crate) const CACHE_SIZE: usize = 4096;

pub(crate) fn empty_cache() -> Box<[CacheEntry]> {
    vec![CacheEntry { serial: 0, key: 0, method: NO_METHOD }; CACHE_SIZE].into_boxed_slice()
}

impl Cx {
    /// Adds a method entry to `class` without hooks.
    pub fn add_method(&mut self, class: Gc<ClassObj>, mid: Sym, m: Method) -> u32 {
        let _classes = self.lock_classes();
        if let Body::Proc(p) = m.body {
            self.heap.publish(p);
        }
        let user = !m.builtin;
        let Some(i) = self.new_method(m) else { return NO_METHOD };
        if self.heap.edit(class).data.methods.insert(mid, i).is_none() {
            self.heap.edit(class).data.method_order.push(mid);
        }
        self.touch(class);
        if user && mid == sym::NOT {
            self.not_redefined.store(true, Relaxed);
        }
        if user && self.booted {
            self.check_basic_ops(class, Some(mid));
        }
        i
    }
    /// Is `name` an operator that the loop has built in?
    fn operator_name(&self, name: Sym) -> bool {
        matches!(
            self.syms.name(name),
            b"+" | b"-"
                | b"*"
                | b"/"
                | b"%"
                | b"<"
                | b"<="
                | b">"
                | b">="
                | b"=="
                | b"!="
                | b"!"
                | b"<<"
                | b">>"
                | b"&"
                | b"|"
                | b"^"
                | b"-@"
                | b"[]"
                | b"[]="
                | b"==="
        )
    }
    /// The classes whose operators the loop has built in.
    fn direct(&self) -> [Gc<ClassObj>; 9] {
        let k = &self.k;
        [k.integer, k.float, k.string, k.array, k.hash, k.symbol, k.nil, k.true_class, k.false_class]
    }
    /// Does the loop work out `name` of `class` by itself, unless it is defined anew?
    pub(crate) fn basic_operator(&self, class: Gc<ClassObj>, name: Sym) -> bool {
        self.direct().contains(&class) && class.data.methods.contains_key(&name) && self.operator_name(name)
    }
    /// A user changed `class`: if that may redefine an operator the loop has built in, take the fast paths back. Without a
    /// name, a module went in front of its methods.
    pub(super) fn check_basic_ops(&mut self, class: Gc<ClassObj>, mid: Option<Sym>) {
        let direct = self.direct();
        let redefined = match mid {
            None => direct.contains(&class) || self.basic_above(class),
            // These two are inherited: what is defined further up shadows them. Of the others each class has its own.
            Some(sym::NOT | sym::NEQ) => self.basic_above(class),
            Some(m) => direct.contains(&class) && self.operator_name(m),
        };
        if redefined {
            self.ops_redefined.store(true, Relaxed);
            self.dequicken_all();
        }
    }
    /// The same after `m` was included in `class`.
    pub(super) fn check_included_ops(&mut self, class: Gc<ClassObj>, m: Gc<ClassObj>) {
        let has = |o: Sym| m.data.mro.iter().any(|c| c.data.methods.contains_key(&o));
        if has(sym::NOT) || has(sym::NEQ) {
            self.check_basic_ops(class, Some(sym::NEQ));
        }
    }
    /// Is `class` among the ancestors of one whose operators are built in?
    fn basic_above(&self, class: Gc<ClassObj>) -> bool {
        self.direct().iter().any(|d| d.data.mro.contains(&class))
    }
    /// Index of the method `mid` found from `class`, `NO_METHOD` when there is none or it is undefined.
    #[inline]
    pub fn find_method(&mut self, class: Gc<ClassObj>, mid: Sym) -> u32 {
        // Read once and before the search: what changes meanwhile makes the entry stale, not wrong.
        let serial = class.serial.get();
        let slot = cache_slot(serial, mid.0);
        let e = self.cache[slot];
        if e.serial == serial && e.key == mid.0 {
            return e.method;
        }
        let _classes = self.lock_classes();
        let (_, method) = self.search(&class.data.mro, mid);
        self.cache[slot] = CacheEntry { serial, key: mid.0, method };
        method
    }
    /// Where `mid` is found, and its entry. A visibility-only entry is found as it is, if there is a method further up, where the
    /// call looks with [`Cx::next_method`].
    fn search(&self, mro: &[Gc<ClassObj>], mid: Sym) -> (usize, u32) {
        let mut visible = None;
        for (at, c) in mro.iter().enumerate() {
            if let Some(&i) = c.data.methods.get(&mid) {
                match self.methods[i as usize].body {
                    Body::Undef => break,
                    Body::Zsuper => visible = visible.or(Some((at, i))),
                    _ => return visible.unwrap_or((at, i)),
                }
            }
        }
        (mro.len(), NO_METHOD)
    }
    /// The method that `super` in entry `from` finds: after its owner's place in the order of `class`.
    pub fn next_method(&mut self, class: Gc<ClassObj>, from: u32, mid: Sym) -> u32 {
        let e = &self.methods[from as usize];
        let (owner, nth, own_name) = (e.owner, e.place.nth as usize, e.name == mid);
        // Read once and before the search, as in `find_method`.
        let serial = class.serial.get();
        let key = AFTER | from;
        let slot = cache_slot(serial, key);
        let e = self.cache[slot];
        if own_name && e.serial == serial && e.key == key {
            return e.method;
        }
        let method = self.search_from(class, owner, nth, |_, p| p + 1, mid);
        if own_name {
            self.cache[slot] = CacheEntry { serial, key, method };
        }
        method
    }
    /// The method that `super` in a refinement finds: from what is prepended to the refined class on in the order of `class`.
    pub(crate) fn refined_class_method(&mut self, class: Gc<ClassObj>, refined: Gc<ClassObj>, mid: Sym) -> u32 {
        let first = |mro: &[Gc<ClassObj>], p| if refined.is_class() { Self::section(mro, p) } else { p };
        self.search_from(class, refined, 0, first, mid)
    }
    /// Where the section of `mro[at]` begins: at the first module that is prepended to it.
    pub(crate) fn section(mro: &[Gc<ClassObj>], at: usize) -> usize {
        let own = &mro[at].data.mro;
        let ahead = own.iter().take_while(|c| **c != mro[at]).count();
        let same = own[..ahead].iter().rev().zip(mro[..at].iter().rev()).take_while(|(a, b)| a == b).count();
        at - same
    }
    /// Method `mid` looked up in the order of `class`, from the place that `first` gives for where `at` stands the `nth` time.
    fn search_from(
        &mut self,
        class: Gc<ClassObj>,
        at: Gc<ClassObj>,
        nth: usize,
        first: impl Fn(&[Gc<ClassObj>], usize) -> usize,
        mid: Sym,
    ) -> u32 {
        let _classes = self.lock_classes();
        let mro = class.data.mro.clone();
        let places = mro.iter().enumerate().filter(|(_, c)| **c == at);
        let Some((p, _)) = places.take(nth + 1).last() else { return NO_METHOD };
        let first = first(&mro, p);
        let (found, i) = self.search(&mro[first..], mid);
        if i == NO_METHOD {
            return i;
        }
        let owner = self.methods[i as usize].owner;
        let before = mro[..=first + found].iter().filter(|c| **c == owner).count();
        (1..before).fold(i, |row, _| self.at_next_place(row))
    }
    /// The row that runs what `i` runs at the next place of its owner. When the table is full, `i` itself.
    fn at_next_place(&mut self, i: u32) -> u32 {
        let from = &self.methods[i as usize];
        if let Some(n) = from.place.next.get() {
            return *n;
        }
        let mut e = from.clone();
        e.place.nth += 1;
        let place = self.own_place(&mut e, None);
        let Some(n) = self.new_method(e) else { return i };
        if let Some(c) = place {
            c.hdr.aux.set(n);
        }
        // The class lock is held: nobody else made one.
        let _ = self.methods[i as usize].place.next.set(n);
        n
    }
    /// Follows visibility-only entries to the code.
    pub fn real_method(&mut self, class: Gc<ClassObj>, i: u32) -> u32 {
        let mut i = i;
        while i != NO_METHOD && matches!(self.methods[i as usize].body, Body::Zsuper) {
            let (o, n) = (self.methods[i as usize].owner, self.methods[i as usize].called);
            i = match o.data.refined {
                // A refinement is in no class's order: what it makes visible is the refined class's.
                Some(refined) => self.refined_class_method(class, refined, n),
                None => self.next_method(class, i, n),
            };
        }
        i
    }
    /// The same for a call: where the code is gone the entry itself, whose dispatch ends in `method_missing`.
    pub(crate) fn method_to_call(&mut self, class: Gc<ClassObj>, i: u32) -> u32 {
        match self.real_method(class, i) {
            NO_METHOD => i,
            m => m,
        }
    }
    /// Would `v.mid` run the runtime's own definition?
    #[inline]
    pub fn builtin(&mut self, v: Value, mid: Sym) -> bool {
        let c = self.class_of(v);
        let m = self.find_method(c, mid);
        m != NO_METHOD && self.methods[m as usize].builtin
    }
    /// Is method `mid` of class `c` the runtime's own, and anybody's to call?
    pub fn builtin_in(&mut self, c: Gc<ClassObj>, mid: Sym) -> bool {
        let m = self.find_method(c, mid);
        m != NO_METHOD && self.methods[m as usize].builtin && self.methods[m as usize].vis == Vis::Public
    }
    /// Does `v` have a method `mid` (any visibility)?
    pub fn has_method(&mut self, v: Value, mid: Sym) -> bool {
        let c = self.class_of(v);
        self.find_method(c, mid) != NO_METHOD
    }
    /// The entry at `i`.
    #[inline(always)]
    pub fn method(&self, i: u32) -> &Method {
        &self.methods[i as usize]
    }
    /// A method that runs bytecode.
    pub(crate) fn code_method(&mut self, owner: Gc<ClassObj>, name: Sym, iseq: Arc<crate::ISeq>, cref: Value, vis: Vis) -> Method {
        Method { vis, builtin: iseq.system, cref, ..Method::new(owner, name, Body::Code(iseq)) }
    }
}
