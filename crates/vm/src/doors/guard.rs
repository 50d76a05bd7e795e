//! What is locked around a native while workers run in parallel, and how.
//!
//! **Invariant.** A native runs with its [`Guard`] held from before its first
//! instruction until it has returned, and natives return soon: they never call
//! Ruby. Locks are taken in the order leaf, objects (by address), classes, and
//! never across a safepoint. While one worker is active (`!cx.is_parallel()`) nothing is
//! locked; the change between the two happens at safepoints only.

use crate::Cx;
use crate::cx::runtime::Runtime;
use crate::doors::{Guard, NativeFn, R};
use kumi_heap::{Kind, LockSet, Value, deferred};
use std::sync::Arc;

impl Guard {
    /// The guard of a native whose table row names none: `class` as in the row (empty: intrinsic).
    /// State of native crates has locks of its own, so that only calls that must not overlap are `World`.
    pub fn of(class: &str) -> Guard {
        match class.trim_end_matches('.') {
            // Immediate or immutable receivers; what they make is new.
            "Integer" | "Float" | "Rational" | "Complex" | "NilClass" | "TrueClass" | "FalseClass" | "Numeric" | "Math" | "Comparable"
            // A fiber is its own thread's affair.
            | "Fiber" | "Range" | "Proc" | "Symbol" | "Encoding" | "Method" | "UnboundMethod" | "Process::Status" | "GC" => Guard::None,
            "Module" | "Class" | "Refinement" => Guard::Classes,
            _ => Guard::Objects,
        }
    }
}

/// The class lock, held until dropped. Reentrant: a worker that has it gets it again.
pub(crate) struct ClassLock {
    /// Null: nothing was locked, one worker runs alone.
    rt: *const Runtime,
}

impl Drop for ClassLock {
    fn drop(&mut self) {
        if !self.rt.is_null() {
            // SAFETY: taken by `lock_classes`, by this thread; a worker keeps its runtime.
            unsafe { (*self.rt).classes.force_unlock() };
        }
    }
}

impl Cx {
    /// Calls a native with what has to be locked around it.
    #[inline(always)]
    pub(crate) fn run_native(&mut self, f: NativeFn, g: Guard, recv: Value, args: &[Value]) -> R {
        if self.is_parallel() && g != Guard::None { self.run_locked(f, g, recv, args) } else { f(self, recv, args) }
    }
    #[inline(never)]
    fn run_locked(&mut self, f: NativeFn, g: Guard, recv: Value, args: &[Value]) -> R {
        match g {
            Guard::None => f(self, recv, args),
            Guard::Objects => match args {
                // Most calls lock one cell or two.
                [] => self.run_one(f, recv, recv, args),
                [a] if !a.needs_lock() || *a == recv => self.run_one(f, recv, recv, args),
                [a] if !recv.needs_lock() => self.run_one(f, *a, recv, args),
                [a] => {
                    let (first, second) = if recv.bits() < a.bits() { (recv, *a) } else { (*a, recv) };
                    let _first = first.locked();
                    let _second = second.locked();
                    f(self, recv, args)
                }
                _ => {
                    let mut cells = std::iter::once(recv).chain(args.iter().copied()).filter(|v| v.needs_lock());
                    match (cells.next(), cells.next()) {
                        (None, _) => self.run_private(f, recv, args),
                        (Some(cell), None) => self.run_one(f, cell, recv, args),
                        _ => {
                            let _l = LockSet::new(recv, args);
                            f(self, recv, args)
                        }
                    }
                }
            },
            Guard::World => {
                let rt: *const Runtime = Arc::as_ptr(&self.rt);
                // SAFETY: a worker keeps its runtime.
                let _w = unsafe { (*rt).leaf.lock() };
                let _l = LockSet::new(recv, args);
                f(self, recv, args)
            }
            Guard::Classes => {
                let _c = self.lock_classes();
                f(self, recv, args)
            }
        }
    }
    /// With the lock of one cell, if it has one.
    #[inline]
    fn run_one(&mut self, f: NativeFn, cell: Value, recv: Value, args: &[Value]) -> R {
        if !cell.needs_lock() {
            return self.run_private(f, recv, args);
        }
        let _l = cell.locked();
        f(self, recv, args)
    }
    /// Nothing has to be locked: what a plain container that nobody else reaches replaces is freed at once. Other
    /// receivers may change objects they hold, which more threads may know than them; what is frozen, others may look at.
    #[inline]
    fn run_private(&mut self, f: NativeFn, recv: Value, args: &[Value]) -> R {
        let changed = if recv.is_nil() { args.first().copied().unwrap_or(recv) } else { recv };
        match changed.kind() {
            Some(Kind::Str | Kind::Array | Kind::Hash) if !changed.is_shared() => deferred::alone(|| f(self, recv, args)),
            _ => f(self, recv, args),
        }
    }
    /// Takes the class lock: method tables, constants and caches do not change under its holder.
    #[inline]
    pub(crate) fn lock_classes(&self) -> ClassLock {
        if !self.is_parallel() {
            return ClassLock { rt: std::ptr::null() };
        }
        std::mem::forget(self.rt.classes.lock());
        ClassLock { rt: Arc::as_ptr(&self.rt) }
    }
}
