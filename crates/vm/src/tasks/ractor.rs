//! What Ractors need of the runtime: which objects may be shared, what a block takes from around it,
//! objects that have been moved away, and what code outside the main Ractor may not touch.
//!
//! **Invariant.** A Ractor is a thread whose tasks are `isolated`. Only shareable objects are reachable
//! from two Ractors through messages; constants, globals and variables of classes that hold others are
//! refused to isolated tasks (prelude and library code excepted: it is the runtime's own).

use crate::Cx;
use crate::doors::*;
use crate::tasks::frame::Fp;
use kumi_heap::*;
use rustc_hash::FxHashSet;
use std::sync::atomic::Ordering::*;

/// `ProcObj` flag: made by `Ractor.shareable_proc` or `make_shareable`.
pub const SHAREABLE_PROC: u16 = 16;

impl Cx {
    /// May the object be reached from several Ractors: it and all it refers to can never change?
    pub fn shareable(&self, v: Value) -> bool {
        let mut seen = FxHashSet::default();
        let mut todo = vec![v];
        while let Some(v) = todo.pop() {
            if !v.is_heap() || !seen.insert(v.bits()) {
                continue;
            }
            if self.is_a(v, self.k.ractor) || self.is_a(v, self.k.ractor_port) {
                continue;
            }
            match v.kind() {
                Some(Kind::Float | Kind::Big | Kind::Class | Kind::Pair) => continue,
                Some(Kind::Proc) => {
                    if v.as_proc().is_some_and(|p| p.hdr.x.get() & (SHAREABLE_PROC | ProcObj::FROM_SYMBOL) == 0) {
                        return false;
                    }
                    continue;
                }
                _ if !v.frozen() => return false,
                Some(Kind::Data) if !self.plain_data(v) => return false,
                _ => {}
            }
            self.referred(v, &mut todo);
        }
        true
    }
    /// Is it, or what it hides behind its methods, data that may change although its cell is frozen?
    pub fn held_outside(&self, v: Value) -> bool {
        let outside = |v: Value| v.is_kind(Kind::Data) && !self.plain_data(v);
        let hidden = |v: Value| outside(v) && self.real_class(v).val() == self.k.object.val();
        v.is_heap() && (outside(v) || !v.is_kind(Kind::Class) && self.ivars(v).into_iter().any(|(_, held)| hidden(held)))
    }
    /// Data whose payload refers to nothing that could change.
    fn plain_data(&self, v: Value) -> bool {
        [self.k.regexp, self.k.match_data, self.k.time, self.k.encoding, self.k.process_status, self.k.file_stat]
            .iter()
            .any(|c| self.is_a(v, *c))
            || v.cell::<DataObj>().is_some_and(|d| d.payload.constant())
    }
    /// What an object refers to: elements and instance variables.
    pub fn referred(&self, v: Value, out: &mut Vec<Value>) {
        match v.kind() {
            Some(Kind::Array) => out.extend(v.as_array().iter().flat_map(|a| a.seen().to_vec())),
            Some(Kind::Hash) => {
                if let Some(h) = v.as_hash() {
                    for e in h.h.iter() {
                        out.push(e.key);
                        out.push(e.val);
                    }
                    out.push(h.h.missing().either());
                }
            }
            Some(Kind::Range) => out.extend(v.cell::<RangeObj>().iter().flat_map(|r| [r.lo, r.hi])),
            Some(Kind::Struct) => out.extend(v.cell::<StructObj>().iter().flat_map(|s| s.slots().to_vec())),
            Some(Kind::Record) => out.extend(v.as_record().iter().flat_map(|r| (0..r.fields()).map(|i| r.slot(i)))),
            _ => {}
        }
        if !matches!(v.kind(), Some(Kind::Class)) {
            out.extend(self.ivars(v).into_iter().map(|p| p.1));
        }
    }
    /// Does code of a Ractor that is not the main one run, and is it a user's?
    #[inline]
    pub(crate) fn isolated_code(&self, fp: Fp) -> bool {
        self.task.isolated && {
            let q = fp.iseq();
            !q.system && !self.options.is_own(&q.path)
        }
    }
    #[cold]
    pub(crate) fn isolation_error(&mut self, msg: &str) -> Exit {
        let c = self.const_path("Ractor::IsolationError").and_then(|v| v.as_class()).unwrap_or(self.k.standard_error);
        self.raise_msg(c, msg)
    }
    /// May a constant's value be kept in a cache that all Ractors read?
    pub(crate) fn const_cacheable(&self, v: Value) -> bool {
        !self.ractors.load(Relaxed) || self.shareable(v)
    }
    /// Refuses a constant that only the main Ractor may read.
    pub(crate) fn check_const(&mut self, fp: Fp, owner: Gc<ClassObj>, name: Sym, v: Value) -> Result<(), Exit> {
        if !self.isolated_code(fp) || self.shareable(v) {
            return Ok(());
        }
        let (on, n) = (self.class_name(owner), self.sym_name(name));
        Err(self.isolation_error(&format!("can not access non-shareable objects in constant {on}::{n} by non-main Ractor.")))
    }
    /// Refuses a global variable outside the main Ractor, unless the runtime keeps it for each.
    pub(crate) fn check_global(&mut self, name: Sym, hooked: bool) -> Result<(), Exit> {
        if hooked || !self.task.isolated || !self.isolated_code(self.fp()) {
            return Ok(());
        }
        let n = self.sym_name(name);
        Err(self.isolation_error(&format!("can not access global variables {n} from non-main Ractors")))
    }
    pub(crate) fn check_cvar(&mut self) -> Result<(), Exit> {
        if !self.task.isolated || !self.isolated_code(self.fp()) {
            return Ok(());
        }
        Err(self.isolation_error("can not access class variables from non-main Ractors"))
    }
}
