//! What a definition discards, said with `-w`.
//!
//! What the library discards of its own is nobody's business.
//!
//! **Invariant.** Nothing here runs unless `$VERBOSE` is true or a name is one of the few that are warned of always; the texts are
//! made before the definition and told after it, before its hook.

use super::Outcome;
use crate::world::method::{Body, Method};
use crate::{Cx, sym};
use kumi_heap::*;
use std::sync::atomic::Ordering::Relaxed;

/// What is to be told of a definition.
#[derive(Default)]
pub struct Discards {
    /// Warnings, a line each.
    lines: String,
    /// One of the category `performance`.
    slow: String,
}

impl Cx {
    /// What a definition of `name` in `owner` is worth telling, if anything.
    pub fn discarding(&mut self, owner: Gc<ClassObj>, name: Sym) -> Option<Discards> {
        let (verbose, slow) = (self.options.verbose.load(Relaxed), self.options.warn_performance.load(Relaxed));
        if verbose == 0 || verbose < 2 && !slow {
            return None;
        }
        let mut told = Discards::default();
        if slow && self.basic_operator(owner, name) {
            let (class, name) = (self.class_name(owner), self.sym_name(name));
            told.slow = format!("{}warning: Redefining '{class}#{name}' disables interpreter and JIT optimizations\n", self.place());
        }
        if verbose == 2 {
            told.lines = self.discarded(owner, name);
        }
        (told.slow.len() + told.lines.len() > 0).then_some(told)
    }
    fn discarded(&mut self, owner: Gc<ClassObj>, name: Sym) -> String {
        let Some(&old) = owner.data.methods.get(&name) else { return String::new() };
        if self.user_frame().is_some_and(|f| self.options.is_own(&f.iseq().path)) {
            return String::new();
        }
        let e = &self.methods[old as usize];
        // An alias, and what has one, is still to be had by another name.
        if e.builtin && matches!(name, sym::METHOD_MISSING)
            || matches!(e.body, Body::Undef | Body::Zsuper)
            || e.aliased.get().is_some()
            || e.called != e.name
        {
            return String::new();
        }
        let before = self.written_at(e);
        let name = self.sym_name(name);
        let mut text = format!("{}warning: method redefined; discarding old {name}\n", self.place());
        if let Some((path, line)) = before {
            text.push_str(&format!("{path}:{line}: warning: previous definition of {name} was here\n"));
        }
        text
    }
    /// File and line of a method that a program wrote.
    fn written_at(&self, e: &Method) -> Option<(String, u32)> {
        let q = match &e.body {
            Body::Code(q) => &**q,
            // SAFETY: a Proc cell keeps its code, and the method keeps the cell.
            Body::Proc(p) => unsafe { &*(p.as_proc()?.iseq as *const crate::ISeq) },
            _ => return None,
        };
        (!q.system).then(|| (q.path.to_string(), q.line))
    }
    /// "file:line: " of the running user code.
    pub(super) fn place(&self) -> String {
        let Some(f) = self.user_frame() else { return String::new() };
        format!("{}:{}: ", f.iseq().path, f.iseq().line_at(self.user_pc(f)))
    }
    /// The same of a `def` under `module_function`, which goes to the singleton class too.
    pub(super) fn discarding_both(&mut self, told: Option<Discards>, module: Gc<ClassObj>, name: Sym) -> Option<Discards> {
        let Some(single) = self.singleton_class(module.val()) else { return told };
        let Some(second) = self.discarding(single, name) else { return told };
        let mut told = told.unwrap_or_default();
        told.lines.push_str(&second.lines);
        Some(told)
    }
    /// What `def` is worth telling: also the names that the runtime itself relies on.
    pub(super) fn discarding_def(&mut self, owner: Gc<ClassObj>, name: Sym) -> Option<Discards> {
        let told = self.discarding(owner, name);
        let risk = match self.syms.name(name) {
            b"initialize" | b"method_missing" | b"respond_to?" | b"respond_to_missing?" if owner == self.k.object => {
                "redefining Object#{} may cause infinite loop"
            }
            b"object_id" | b"__id__" | b"__send__" if owner.data.refined.is_none() => "redefining '{}' may cause serious problems",
            _ => return told,
        };
        if self.options.verbose.load(Relaxed) == 0 {
            return told;
        }
        let risk = risk.replace("{}", &self.sym_name(name));
        let mut told = told.unwrap_or_default();
        told.lines.push_str(&format!("{}warning: {risk}\n", self.place()));
        Some(told)
    }
    /// The same as the prelude wants it: [lines, performance's lines], or nil.
    pub fn discards_value(&mut self, told: Option<Discards>) -> Value {
        let Some(t) = told else { return Value::NIL };
        let both = [self.str(&t.lines), self.str(&t.slow)];
        self.array(&both)
    }
    /// After a definition: what it discarded is told, then its hook is called.
    pub(super) fn defined_over(&mut self, told: Option<Discards>, owner: Gc<ClassObj>, name: Sym) -> Outcome {
        if told.is_none() {
            return self.added_hook(owner, name);
        }
        let told = self.discards_value(told);
        let x = self.call_helper("defined_over", &[told, owner.val(), Value::sym(name)]);
        self.leaf_exit_drop(x)
    }
    /// After `undef`: the same where it was a name that the runtime itself relies on.
    pub(super) fn undefined_over(&mut self, owner: Gc<ClassObj>, name: Sym) -> Outcome {
        let risky = matches!(self.syms.name(name), b"initialize" | b"object_id" | b"__id__" | b"__send__");
        if !risky || self.options.verbose.load(Relaxed) == 0 {
            return self.method_hook(owner, name, sym::METHOD_UNDEFINED, sym::SINGLETON_METHOD_UNDEFINED);
        }
        let x = self.call_helper("undefined_over", &[owner.val(), Value::sym(name)]);
        self.leaf_exit_drop(x)
    }
}
