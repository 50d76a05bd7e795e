//! Nothing to run: `method_missing`, the user's or the default one.
//!
//! **Invariant.** `Cx::missing` says why from here until the default one has made its message.

use crate::doors::NO_METHOD;
use crate::doors::ResolvedCall;
use crate::doors::*;
use crate::tasks::outcome::Outcome;
use crate::{Cx, sym};
use kumi_heap::*;

/// Why a call found nothing to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Missing {
    #[default]
    None,
    Private,
    Protected,
    VCall,
    Super,
}

impl Missing {
    /// Why a method that is not public is none for this call.
    pub(crate) fn hidden(vis: Vis) -> Missing {
        if vis == Vis::Private { Missing::Private } else { Missing::Protected }
    }
}

impl Cx {
    /// Nothing to run: method_missing, the user's or the default one.
    pub(crate) fn method_missing(&mut self, mid: Sym, why: Missing, mut r: ResolvedCall) -> Outcome {
        let class = self.class_of(r.recv);
        let m = self.find_method(class, sym::METHOD_MISSING);
        self.missing = why;
        r.args.insert(0, Value::sym(mid));
        if m == NO_METHOD || mid == sym::METHOD_MISSING {
            let x = self.missing_error(r.recv, mid, &r.args[1..]);
            return self.leaf_exit_to(x, r.dst, r.flags);
        }
        self.dispatch(m, r)
    }
    /// The NoMethodError or NameError of the default method_missing.
    pub(crate) fn missing_error(&mut self, recv: Value, mid: Sym, args: &[Value]) -> Exit {
        let why = std::mem::take(&mut self.missing);
        let named = match recv.as_class() {
            Some(_) => recv,
            None => self.real_class(recv).val(),
        };
        if !self.builtin(named, sym::NAME) && self.has_method(named, sym::NAME) {
            // The class has a name of its own making: the prelude asks for it.
            let kind = Value::fix(match why {
                Missing::VCall => 1,
                Missing::Private => 2,
                Missing::Protected => 3,
                Missing::Super => 4,
                Missing::None => 0,
            });
            let a = self.array(args);
            return self.call_helper("raise_missing", &[recv, Value::sym(mid), a, kind]);
        }
        let on = self.describe(recv);
        let name = self.sym_name(mid);
        let (class, msg) = match why {
            Missing::VCall => (self.k.name_error, format!("undefined local variable or method '{name}' for {on}")),
            Missing::Private => (self.k.no_method_error, format!("private method '{name}' called for {on}")),
            Missing::Protected => (self.k.no_method_error, format!("protected method '{name}' called for {on}")),
            Missing::Super => (self.k.no_method_error, format!("super: no superclass method '{name}' for {on}")),
            Missing::None => (self.k.no_method_error, format!("undefined method '{name}' for {on}")),
        };
        let e = self.make_exc(class, &msg);
        self.ivar_set(e, sym::IV_NAME, Value::sym(mid));
        self.ivar_set(e, sym::IV_RECEIVER, recv);
        let a = self.array(args);
        self.ivar_set(e, sym::IV_ARGS, a);
        self.raise(e)
    }
}
