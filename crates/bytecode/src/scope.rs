//! The names of a scope, for code that is compiled later inside it.

use kumi_heap::Sym;
use std::sync::Arc;

/// Names visible to code compiled later inside a scope (`eval`, `binding`): one entry an environment level.
#[derive(Debug)]
pub struct ScopeNames {
    /// Names by slot of this level's environment.
    pub names: Vec<Sym>,
    pub parent: Option<Arc<ScopeNames>>,
    /// Slot of this level that holds `$~`, when the level belongs to a method-like scope that keeps it.
    pub match_slot: Option<u16>,
    /// The parameters, when the level belongs to a method: what `super` and `foo(*)` in an eval pass on.
    pub params: Vec<ScopeParam>,
    /// The block's numbered parameters, or `it`, by name and slot; none for a level that text added to a binding.
    pub implicit: Option<Vec<(Sym, u16)>>,
}

impl ScopeNames {
    /// Shows all names, outer levels' too.
    pub fn each_sym(&self, f: &mut dyn FnMut(&Sym)) {
        let mut level = Some(self);
        while let Some(n) = level {
            n.names.iter().chain(n.implicit.iter().flatten().map(|(s, _)| s)).for_each(&mut *f);
            level = n.parent.as_deref();
        }
    }
}

/// A method's parameter in its environment.
#[derive(Debug)]
pub struct ScopeParam {
    pub kind: ParamKind,
    pub name: Vec<u8>,
    pub slot: u16,
}

/// A parameter's role, in the order of registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamKind {
    Req,
    Opt,
    Rest,
    Post,
    KwReq,
    KwOpt,
    KwRest,
    Block,
}
