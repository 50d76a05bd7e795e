//! What code outside the main Ractor may not touch. Which objects it may: `share.rs`; objects that are moved to it: `hand_over.rs`.
//!
//! **Invariant.** A Ractor is a thread whose tasks are `isolated`. Only shareable objects are reachable
//! from two Ractors through messages; constants, globals and variables of classes that hold others are
//! refused to isolated tasks (prelude and library code excepted: it is the runtime's own).

use crate::Cx;
use crate::doors::*;
use crate::tasks::frame::Fp;
use kumi_heap::*;
use std::sync::atomic::Ordering::*;

impl Cx {
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
