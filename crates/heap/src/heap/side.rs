//! Tables beside cells: instance variables of cells that are neither Object nor Class, object ids, weak cells,
//! finalizers.
//!
//! Invariant: all workers have these tables in common, so they know shared cells only: what enters one is published
//! first. A cell without the flag (`IVARS`, `SIDE`) has no variables, id or finalizers there: nobody needs to look.

use super::Heap;
use crate::cells::header::flag;
use crate::shared::{HeapShared, lock};
use crate::{DataObj, Marker, Sym, Value, Visitor};
use std::sync::PoisonError;

impl Heap {
    // --- instance variables of cells that are neither Object nor Class --------

    /// Side-table variables of `v`, copied.
    pub fn side_ivars(&self, v: Value) -> Vec<(Sym, Value)> {
        if !v.header().is_some_and(|h| h.has(flag::IVARS)) {
            return Vec::new();
        }
        self.shared.ivars.read().unwrap_or_else(PoisonError::into_inner).get(&v.bits()).cloned().unwrap_or_default()
    }
    /// Has `v` side-table variables?
    pub fn has_side_ivars(&self, v: Value) -> bool {
        v.header().is_some_and(|h| h.has(flag::IVARS))
            && self.shared.ivars.read().unwrap_or_else(PoisonError::into_inner).get(&v.bits()).is_some_and(|e| !e.is_empty())
    }
    /// The side-table variable `name` of `v`; undef when never set.
    pub fn side_ivar(&self, v: Value, name: Sym) -> Value {
        if !v.header().is_some_and(|h| h.has(flag::IVARS)) {
            return Value::UNDEF;
        }
        let t = self.shared.ivars.read().unwrap_or_else(PoisonError::into_inner);
        t.get(&v.bits()).and_then(|e| e.iter().find(|p| p.0 == name)).map_or(Value::UNDEF, |p| p.1)
    }
    /// Sets a side-table variable; an undef value removes it.
    pub fn set_side_ivar(&mut self, v: Value, name: Sym, val: Value) {
        let Some(h) = v.header() else { return };
        // Tables know shared cells only.
        self.publish(v);
        self.publish(val);
        let mut t = self.shared.ivars.write().unwrap_or_else(PoisonError::into_inner);
        let e = t.entry(v.bits());
        let at = e.iter().position(|p| p.0 == name);
        match (at, val.is_undef()) {
            (Some(i), true) => {
                e.remove(i);
            }
            (Some(i), false) => e[i].1 = val,
            (None, false) => e.push((name, val)),
            (None, true) => {}
        }
        drop(t);
        h.set(flag::IVARS);
        self.remember(v);
    }

    // --- identity, weakness, finalizers --------------------------------------

    /// `object_id` of a heap cell: a running number, given when first asked for.
    pub fn object_id(&mut self, v: Value) -> u64 {
        self.publish(v);
        let (id, new) = self.shared.id_of(v);
        if new && let Some(h) = v.header() {
            h.set(flag::SIDE);
        }
        id
    }
    /// The live cell with that object id.
    pub fn by_object_id(&self, id: u64) -> Option<Value> {
        self.shared.by_object_id(id)
    }
    /// Was that id ever given out?
    pub fn id_was_used(&self, id: u64) -> bool {
        self.shared.id_was_used(id)
    }
    /// Registers a Data cell whose payload's `weak` is called at each collection it survives.
    pub fn add_weak(&mut self, v: Value) {
        self.publish(v);
        lock(&self.shared.weak).push(v);
    }
    /// Has `f` (a Proc) run after the cell `v` has died.
    pub fn add_finalizer(&mut self, v: Value, f: Value) {
        self.publish(v);
        self.publish(f);
        if let Some(h) = v.header() {
            lock(&self.shared.finalizers).entry(v.bits()).or_default().push(f);
            h.set(flag::SIDE);
        }
    }
    /// Finalizers of a cell.
    pub fn finalizers_of(&self, v: Value) -> Vec<Value> {
        self.shared.finalizers_of(v)
    }
    /// Forgets a cell's finalizers.
    pub fn remove_finalizers(&mut self, v: Value) {
        self.shared.remove_finalizers(v)
    }
    /// All finalizers that have not run, for process exit.
    pub fn take_finalizers(&mut self) -> Vec<(Vec<Value>, u64)> {
        self.shared.take_finalizers()
    }
}

impl HeapShared {
    /// For one stage of a full collection ([`Heap::collect_rows`]): shows what a program can still get from weak tables that are marked,
    /// though it holds it by nothing else. Was there anything that is not marked yet?
    pub fn show_weak(&self, marked: &dyn Fn(Value) -> bool, m: &mut Marker) -> bool {
        let mut new = Unmarked { marked, to: m, any: false };
        for v in lock(&self.weak).iter().filter(|v| marked(**v)) {
            if let Some(d) = v.cell::<DataObj>() {
                d.payload.weakly(&mut Marker::new(&mut new));
            }
        }
        new.any
    }
}

/// Hands on what is not marked.
struct Unmarked<'a, 'm> {
    marked: &'a dyn Fn(Value) -> bool,
    to: &'a mut Marker<'m>,
    any: bool,
}

impl Visitor for Unmarked<'_, '_> {
    fn visit(&mut self, v: Value) {
        if v.is_heap() && !(self.marked)(v) {
            self.any = true;
            self.to.mark(v);
        }
    }
}
