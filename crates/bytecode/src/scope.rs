//! The names of a scope, for code that is compiled later inside it.

use kumi_heap::Sym;
use std::sync::Arc;

/// Names visible to code compiled later inside a scope (`eval`, `binding`): one entry an environment level.
#[derive(Debug)]
pub struct ScopeNames {
    /// Names by slot of this level's environment.
    pub names: Vec<Sym>,
    /// The level around it.
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
    /// Its role.
    pub kind: ParamKind,
    /// Its name; `*`, `**` and `&` for those without one.
    pub name: Vec<u8>,
    /// Where it is in the method's environment.
    pub slot: u16,
}

/// A parameter's role, in the order of registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamKind {
    /// Required, before the optional ones.
    Req,
    /// Optional: it has a default.
    Opt,
    /// `*rest`
    Rest,
    /// Required, behind the optional ones and the rest.
    Post,
    /// `key:`, required.
    KwReq,
    /// `key: default`
    KwOpt,
    /// `**opts`
    KwRest,
    /// `&blk`
    Block,
}
