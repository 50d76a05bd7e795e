//! Global variables.
//!
//! **Invariant.** A variable has one index for the runtime's life, and aliases share it. Its value is one atomic word, published
//! before it is stored.

use crate::Cx;
use crate::doors::{Exit, NativeFn};
use kumi_heap::{Sym, Value};
use std::collections::hash_map::Entry;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

/// A global variable.
#[derive(Default)]
pub struct Global {
    /// The value's bits, such that zero is nil.
    value: AtomicU64,
    defined: AtomicBool,
    /// Hooked: reads and writes call these natives (recv nil; args: name symbol, value). Set once.
    hooks: OnceLock<(Option<NativeFn>, Option<NativeFn>)>,
    /// `trace_var`: after each assignment the loop calls the prelude's `traced_global`.
    traced: AtomicBool,
}

impl Global {
    pub fn value(&self) -> Value {
        Value::from_bits(self.value.load(Acquire) ^ Value::NIL.bits())
    }
    /// Sets it to a published value.
    pub(crate) fn set(&self, v: Value) {
        self.value.store(v.bits() ^ Value::NIL.bits(), Release);
        self.defined.store(true, Relaxed);
    }
    pub fn defined(&self) -> bool {
        self.defined.load(Relaxed)
    }
    pub(crate) fn traced(&self) -> bool {
        self.traced.load(Relaxed)
    }
    pub(crate) fn set_traced(&self, on: bool) {
        self.traced.store(on, Relaxed);
    }
    pub fn hooks(&self) -> (Option<NativeFn>, Option<NativeFn>) {
        self.hooks.get().copied().unwrap_or((None, None))
    }
    fn hook(&self, get: Option<NativeFn>, set: Option<NativeFn>) {
        let _ = self.hooks.set((get, set));
        self.defined.store(true, Relaxed);
    }
}

impl Cx {
    /// Index of a global variable, made when missing.
    ///
    /// # Errors
    /// NoMemoryError: there are too many.
    pub(crate) fn global_index(&mut self, name: Sym) -> Result<usize, Exit> {
        if let Some(&i) = self.global_ids.read().unwrap_or_else(|e| e.into_inner()).get(&name) {
            return Ok(i);
        }
        let made = match self.global_ids.write().unwrap_or_else(|e| e.into_inner()).entry(name) {
            Entry::Occupied(e) => Some(*e.get()),
            Entry::Vacant(e) => self.globals.push(Global::default()).map(|i| *e.insert(i)),
        };
        made.ok_or_else(|| self.no_memory("too many global variables"))
    }
    /// Sets a plain global from native code.
    pub fn set_global(&mut self, name: &'static str, v: Value) {
        let s = self.intern(name);
        self.set_global_of(s, v);
    }
    /// The same of any name.
    pub fn set_global_of(&mut self, s: Sym, v: Value) {
        let i = self.global_index(s);
        self.heap.publish(v);
        if let Ok(i) = i {
            self.globals[i].set(v);
        }
    }
    /// The value that Ruby code sees: hooks are asked.
    pub fn get_global(&mut self, name: &'static str) -> Value {
        let s = self.intern(name);
        let i = self.global_index(s);
        let Ok(i) = i else { return Value::NIL };
        match self.globals[i].hooks().0 {
            Some(f) => f(self, Value::NIL, &[Value::sym(s)]).unwrap_or(Value::NIL),
            None => self.globals[i].value(),
        }
    }
    /// A global whose reads and writes are natives (arguments: name symbol, value).
    pub fn hook_global(&mut self, name: &'static str, get: Option<NativeFn>, set: Option<NativeFn>) {
        let s = self.intern(name);
        let i = self.global_index(s);
        if let Ok(i) = i {
            self.globals[i].hook(get, set);
        }
    }
    /// `alias $new $old`: both names mean one variable.
    #[inline(never)]
    pub fn alias_global(&mut self, new: Sym, old: Sym) {
        let Ok(i) = self.global_index(old) else { return };
        self.global_ids.write().unwrap_or_else(|e| e.into_inner()).insert(new, i);
    }
}
