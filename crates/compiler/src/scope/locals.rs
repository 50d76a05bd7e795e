//! How the running frame reaches a local: a register of its own, or a slot some environments up.

use crate::Compiler;
use crate::scope::{self, ScopeId, ScopeKind};
use kumi_bytecode::{MatchSlot, Op, ParamKind, ScopeNames, ScopeParam};
use kumi_heap::Sym;
use std::collections::HashSet;
use std::sync::Arc;

/// How the running frame reaches a local.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Var {
    Reg(u16),
    Env { depth: u16, slot: u16 },
}

impl<'e, 'pr> Compiler<'e, 'pr> {
    /// Environments between the running frame and scope `to`, which is around it or the same.
    pub(crate) fn env_distance(&self, to: ScopeId) -> u16 {
        let mut s = self.cur.scope;
        let mut d = 0u16;
        while s != to {
            d += self.an.scopes[s].has_env() as u16;
            match self.an.scopes[s].parent {
                Some(p) => s = p,
                None => break,
            }
        }
        d
    }

    /// The scope `depth` levels up as Prism counts them; beyond the text: the eval level.
    pub(crate) fn scope_up(&self, mut depth: u32) -> Result<ScopeId, u32> {
        let mut s = self.cur.scope;
        loop {
            let scope = &self.an.scopes[s];
            if scope.kind != ScopeKind::For {
                if depth == 0 {
                    return Ok(s);
                }
                depth -= 1;
            }
            match scope.parent {
                Some(p) => s = p,
                None => return Err(depth),
            }
        }
    }

    /// Where a local of scope `s` is.
    pub(crate) fn var_in(&mut self, s: ScopeId, name: &[u8]) -> Var {
        let dry = self.cur.dry && s == self.cur.scope;
        if let Some(&slot) = self.an.scopes[s].slots.get(name).filter(|_| !dry) {
            return Var::Env { depth: self.env_distance(s), slot };
        }
        match self.cur.regs.get(name) {
            Some(&r) if s == self.cur.scope => Var::Reg(r),
            _ => {
                self.fail(&format!("local variable {} is out of reach", String::from_utf8_lossy(name)));
                Var::Reg(0)
            }
        }
    }

    /// Where the local `name`, `depth` scopes up, is.
    pub fn var(&mut self, name: &[u8], depth: u32) -> Var {
        match self.scope_up(depth) {
            Ok(s) => self.var_in(s, name),
            Err(level) => {
                let root = self.an.home(self.cur.scope);
                let base = self.env_distance(root) + self.an.scopes[root].has_env() as u16;
                let mut chain = self.opts.scope.clone();
                let mut depth = 0;
                let wanted = self.env.intern(name);
                while let Some(l) = chain {
                    if depth >= level
                        && let Some(slot) = l.names.iter().position(|&n| n == wanted)
                    {
                        return Var::Env { depth: base + depth as u16, slot: slot as u16 };
                    }
                    depth += 1;
                    chain = l.parent.clone();
                }
                self.fail(&format!("local variable {} is out of reach", String::from_utf8_lossy(name)));
                Var::Reg(0)
            }
        }
    }

    /// A hidden local of the method-like scope (flip-flop state).
    pub fn home_var(&mut self, name: &[u8]) -> Var {
        let home = self.an.home(self.cur.scope);
        self.var_in(home, name)
    }

    /// The scope that has this anonymous parameter.
    pub fn anonymous_scope(&self, name: &[u8]) -> Option<ScopeId> {
        let mut s = self.cur.scope;
        while !self.an.scopes[s].param_names.contains(name) {
            s = self.an.scopes[s].parent?;
        }
        Some(s)
    }

    /// An anonymous parameter (`*`, `**`, `&`); that of a method's block has no register of its own.
    pub fn anonymous(&mut self, name: &[u8]) -> Option<Var> {
        let mut s = self.cur.scope;
        loop {
            if self.an.scopes[s].param_names.contains(name) {
                if name == b"&" && self.an.scopes[s].kind == ScopeKind::Method {
                    return None;
                }
                return Some(self.var_in(s, name));
            }
            match self.an.scopes[s].parent {
                Some(p) => s = p,
                None if name == b"&" => return None,
                None => break,
            }
        }
        self.eval_params().into_iter().find(|p| p.1 == name).map(|p| p.2)
    }

    /// `eval`: the parameters of the method around it, and where they are.
    pub fn eval_params(&mut self) -> Vec<(ParamKind, Vec<u8>, Var)> {
        let root = self.an.home(self.cur.scope);
        if self.an.scopes[root].kind != ScopeKind::Eval {
            return Vec::new();
        }
        let mut depth = self.env_distance(root) + self.an.scopes[root].has_env() as u16;
        let mut chain = self.opts.scope.as_ref();
        while let Some(l) = chain {
            if !l.params.is_empty() {
                return l.params.iter().map(|p| (p.kind, p.name.clone(), Var::Env { depth, slot: p.slot })).collect();
            }
            depth += 1;
            chain = l.parent.as_ref();
        }
        Vec::new()
    }

    /// The parameters that `super` without parentheses passes on, and where they are.
    pub fn passed_params(&mut self) -> Vec<(ParamKind, Vec<u8>, Var)> {
        let home = self.an.home(self.cur.scope);
        let an = self.an;
        if an.scopes[home].kind == ScopeKind::Eval {
            return self.eval_params();
        }
        let list = &an.scopes[home].params.list;
        let mut out = Vec::with_capacity(list.len());
        let mut seen: HashSet<&[u8]> = HashSet::new();
        for (i, p) in list.iter().enumerate() {
            let again = !seen.insert(&p.name);
            if p.kind == ParamKind::Block {
                continue;
            }
            // A repeated `_` is a parameter of its own that no name reaches: its register has it.
            let hidden = home == self.cur.scope && again;
            let v = if hidden { Var::Reg(i as u16 + 1) } else { self.home_var(&p.name) };
            out.push((p.kind, p.name.clone(), v));
        }
        out
    }

    /// The `it` of this block.
    pub fn it_var(&mut self) -> Var {
        self.var(scope::IT, 0)
    }

    pub fn load(&mut self, v: Var, dst: u16) {
        match v {
            Var::Reg(r) => self.mov(dst, r),
            Var::Env { depth, slot } => self.emit(Op::EnvGet, 0, dst, slot, depth),
        }
    }
    pub fn store(&mut self, v: Var, src: u16) {
        match v {
            Var::Reg(r) => self.mov(r, src),
            Var::Env { depth, slot } => self.emit(Op::EnvSet, 0, src, slot, depth),
        }
    }

    pub(crate) fn match_slot(&mut self) -> Option<MatchSlot> {
        let home = self.an.home(self.cur.scope);
        if self.an.scopes[home].kind == ScopeKind::Eval {
            let base = self.env_distance(home) + self.an.scopes[home].has_env() as u16;
            let mut chain = self.opts.scope.clone();
            let mut depth = 0;
            while let Some(l) = chain {
                if let Some(slot) = l.match_slot {
                    return Some(MatchSlot::Env { depth: base + depth, slot });
                }
                depth += 1;
                chain = l.parent.clone();
            }
        }
        if !self.an.scopes[home].hides(scope::MATCH) {
            return None;
        }
        Some(match self.var_in(home, scope::MATCH) {
            Var::Reg(r) => MatchSlot::Reg(r),
            Var::Env { depth, slot } => MatchSlot::Env { depth, slot },
        })
    }

    /// The names chain as seen from scope `s`.
    pub(crate) fn chain(&mut self, s: ScopeId) -> Option<Arc<ScopeNames>> {
        if let Some(c) = &self.chains[s] {
            return c.clone();
        }
        let scope = &self.an.scopes[s];
        let parent = match scope.parent {
            Some(p) => self.chain(p),
            None if scope.kind == ScopeKind::Eval => self.opts.scope.clone(),
            None => None,
        };
        let made = if scope.has_env() {
            let names = self.env_names(s);
            let match_slot = self.an.scopes[s].slots.get(scope::MATCH).copied();
            let scope = &self.an.scopes[s];
            let params = match scope.kind {
                ScopeKind::Method if scope.all => scope
                    .params
                    .list
                    .iter()
                    .filter_map(|p| {
                        let slot = *scope.slots.get(&p.name)?;
                        Some(ScopeParam { kind: p.kind, name: p.name.clone(), slot })
                    })
                    .collect(),
                _ => Vec::new(),
            };
            let implicit: Vec<(Vec<u8>, u16)> = (scope.params.list.iter())
                .filter(|_| scope.params.numbered > 0 || scope.params.it)
                .filter_map(|p| Some((scope::shown(&p.name), *scope.slots.get(&p.name)?)))
                .collect();
            let implicit = Some(implicit.into_iter().map(|(n, slot)| (self.env.intern(&n), slot)).collect());
            Some(Arc::new(ScopeNames { names, parent, match_slot, params, implicit }))
        } else {
            parent
        };
        self.chains[s] = Some(made.clone());
        made
    }

    pub(crate) fn env_names(&mut self, s: ScopeId) -> Vec<Sym> {
        let an = self.an;
        an.scopes[s].env.iter().map(|n| if scope::visible(n) { self.env.intern(n) } else { Sym(0) }).collect()
    }
}
