//! Method lookup where refinements are in force.
//!
//! **Invariant.** A place's refinements are a list of pairs (refined class, module), innermost first, in its cref. What is
//! found where the list is not empty is never cached.

use crate::Cx;
use crate::doors::NO_METHOD;
use crate::tasks::frame::Fp;
use crate::world::method::Body;
use kumi_heap::*;

impl Cx {
    /// Method for a call in `fp`'s place: refinements first. The flag says whether the answer may be cached.
    pub(crate) fn lookup_in(&mut self, fp: Fp, class: Gc<ClassObj>, mid: Sym) -> (u32, bool) {
        let refs = fp.cref().cell::<CrefObj>().map_or(Value::NIL, |c| c.refinements);
        if let Some(list) = refs.as_array() {
            if let Some(m) = self.refined_method(list, class, mid) {
                return (m, false);
            }
            return (self.find_method(class, mid), false);
        }
        (self.find_method(class, mid), true)
    }
    /// Looks through active refinements (pairs refined class, module; innermost first) in resolution order.
    pub(crate) fn refined_method(&mut self, list: Gc<ArrayObj>, class: Gc<ClassObj>, mid: Sym) -> Option<u32> {
        self.refined_from(list, class, 0, None, mid)
    }
    /// The refined method that `super` in `from` finds where refinements are in force, when there is one.
    pub(super) fn refined_super(&mut self, fp: Fp, class: Gc<ClassObj>, from: u32, mid: Sym) -> Option<u32> {
        let list = fp.cref().cell::<CrefObj>()?.refinements.as_array()?;
        let e = &self.methods[from as usize];
        let (owner, nth) = (e.owner, e.place.nth as usize);
        let (at, _) = class.data.mro.iter().enumerate().filter(|(_, c)| **c == owner).nth(nth)?;
        self.refined_from(list, class, at + 1, None, mid).filter(|m| *m != NO_METHOD)
    }
    /// The same in a refinement of `refined`, whose refinements `super` passes over.
    pub(super) fn refined_beyond(&mut self, fp: Fp, class: Gc<ClassObj>, refined: Gc<ClassObj>, mid: Sym) -> Option<u32> {
        let list = fp.cref().cell::<CrefObj>()?.refinements.as_array()?;
        let at = class.data.mro.iter().position(|c| *c == refined)?;
        let from = Self::section(&class.data.mro, at);
        self.refined_from(list, class, from, Some(refined), mid).filter(|m| *m != NO_METHOD)
    }
    /// The same from a place in the order of `class` on, without the refinements of `but`.
    fn refined_from(&mut self, list: Gc<ArrayObj>, class: Gc<ClassObj>, from: usize, but: Option<Gc<ClassObj>>, mid: Sym) -> Option<u32> {
        let _classes = self.lock_classes();
        let mro = class.data.mro.clone();
        // A class's refinements come before what is prepended to it.
        let pairs: Vec<_> = list.seen().iter().filter_map(|p| Self::refinement_at(&mro, p, but)).collect();
        for (at, c) in mro.iter().enumerate().skip(from) {
            for (_, r) in pairs.iter().filter(|(first, _)| *first == at) {
                for a in r.data.mro.clone() {
                    if let Some(&m) = a.data.methods.get(&mid) {
                        if !matches!(self.methods[m as usize].body, Body::Undef) {
                            return Some(m);
                        }
                    }
                }
            }
            if let Some(&m) = c.data.methods.get(&mid) {
                if matches!(self.methods[m as usize].body, Body::Undef) {
                    return Some(NO_METHOD);
                }
                return None;
            }
        }
        None
    }
    /// Where a pair (refined class, module) comes in an order, if it does, and the module.
    fn refinement_at(mro: &[Gc<ClassObj>], pair: Value, but: Option<Gc<ClassObj>>) -> Option<(usize, Gc<ClassObj>)> {
        let pair = pair.as_array()?;
        let (class, module) = (pair.get(0)?.as_class()?, pair.get(1)?.as_class()?);
        let at = mro.iter().position(|c| *c == class && but != Some(class))?;
        Some((Self::section(mro, at), module))
    }
    /// The refined method that a call in the nearest user frame would find, when there is one.
    pub fn refined_for_caller(&mut self, class: Gc<ClassObj>, mid: Sym) -> Option<u32> {
        let f = self.user_frame()?;
        let list = f.cref().cell::<CrefObj>()?.refinements.as_array()?;
        self.refined_method(list, class, mid).filter(|m| *m != NO_METHOD)
    }
    /// What is in force inside `refine`: all refinements of the same module, also those that
    /// come later, so the list is one object that grows.
    pub(super) fn refinements_inside(&mut self, refined: Gc<ClassObj>, r: Gc<ClassObj>, old: Value) -> Value {
        let pair = self.array(&[refined.val(), r.val()]);
        let name = self.intern("@__refinement_pairs");
        let owner = r.data.attached;
        let kept = if owner.as_class().is_some() { self.ivar_get(owner, name) } else { Value::UNDEF };
        let shared = match kept.as_array() {
            Some(a) => a,
            None => {
                let v = self.array(&[]);
                if owner.as_class().is_some() {
                    self.ivar_set(owner, name, v);
                }
                let Some(a) = v.as_array() else { return v };
                a
            }
        };
        let there = shared.seen().iter().any(|p| p.as_array().and_then(|p| p.get(1)) == Some(r.val()));
        if !there {
            self.push(shared, pair);
        }
        match old.as_array().filter(|o| !o.is_empty() && *o != shared) {
            Some(o) => {
                let ours = shared.seen().to_vec();
                let mut all = ours.clone();
                all.extend(o.seen().iter().filter(|p| !ours.contains(p)));
                self.array(&all)
            }
            None => shared.val(),
        }
    }
}
