//! Bodies: opening and closing them, parameters, environments, and how a local is reached.

use super::control::Ctl;
use super::emit::{Dst, Fun, Label};
use super::scope::{self, Opens, PKind, ParamList, ScopeId, ScopeKind};
use super::Compiler;
use crate::bytecode::{NO_REG, Op};
use crate::iseq::{Body, ISeq, Kind, MatchSlot, Params, ScopeNames, ScopeParam, Site, site};
use kumi_heap::{Sym, Value};
use ruby_prism::*;
use std::cell::{Cell, UnsafeCell};
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

/// How the running frame reaches a local.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Var {
    Reg(u16),
    Env { depth: u16, slot: u16 },
}

impl<'e, 'pr> Compiler<'e, 'pr> {
    // ---- reaching locals

    /// Environments between the running frame and scope `to`, which is around it or the same.
    fn env_distance(&self, to: ScopeId) -> u16 {
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
    fn scope_up(&self, mut depth: u32) -> Result<ScopeId, u32> {
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
    fn var_in(&mut self, s: ScopeId, name: &[u8]) -> Var {
        if let Some(&slot) = self.an.scopes[s].slots.get(name) {
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
                while let Some(l) = chain {
                    if depth >= level
                        && let Some(slot) = l.names.iter().position(|&n| n.0 != 0 && self.env.name(n) == name)
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

    /// An anonymous parameter (`*`, `**`, `&`); that of a method's block has no register of its own.
    pub fn anonymous(&mut self, name: &[u8]) -> Option<Var> {
        let mut s = self.cur.scope;
        loop {
            if self.an.scopes[s].params.list.iter().any(|p| p.name == name) {
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
    pub fn eval_params(&mut self) -> Vec<(PKind, Vec<u8>, Var)> {
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
    pub fn passed_params(&mut self) -> Vec<(PKind, Vec<u8>, Var)> {
        let home = self.an.home(self.cur.scope);
        let an = self.an;
        if an.scopes[home].kind == ScopeKind::Eval {
            return self.eval_params();
        }
        let list = &an.scopes[home].params.list;
        let mut out = Vec::with_capacity(list.len());
        for (i, p) in list.iter().enumerate() {
            if p.kind == PKind::Block {
                continue;
            }
            // A repeated `_` is a parameter of its own that no name reaches: its register has it.
            let hidden = home == self.cur.scope && list[..i].iter().any(|q| q.name == p.name);
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

    fn match_slot(&mut self) -> Option<MatchSlot> {
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
        if !self.an.scopes[home].hidden.iter().any(|h| h == scope::MATCH) {
            return None;
        }
        Some(match self.var_in(home, scope::MATCH) {
            Var::Reg(r) => MatchSlot::Reg(r),
            Var::Env { depth, slot } => MatchSlot::Env { depth, slot },
        })
    }

    /// The names chain as seen from scope `s`.
    fn chain(&mut self, s: ScopeId) -> Option<Rc<ScopeNames>> {
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
            Some(Rc::new(ScopeNames { names, parent, match_slot, params }))
        } else {
            parent
        };
        self.chains[s] = Some(made.clone());
        made
    }

    fn env_names(&mut self, s: ScopeId) -> Vec<Sym> {
        let an = self.an;
        an.scopes[s].env.iter().map(|n| if scope::visible(n) { self.env.intern(n) } else { Sym(0) }).collect()
    }

    // ---- opening and closing bodies

    fn open(&mut self, scope: ScopeId, kind: Kind, label: Rc<str>, span: (u32, u32)) {
        let line = self.line_of(span.0);
        let mut f = Fun::new(scope, kind, label, line);
        f.span = (span.0, span.1 - span.0);
        if matches!(kind, Kind::Block | Kind::Lambda) {
            f.block_depth = self.cur.block_depth.saturating_add(1);
        }
        self.outer.push(std::mem::replace(&mut self.cur, f));
    }

    fn close(&mut self) -> Rc<ISeq> {
        let iseq = self.build();
        if let Some(o) = self.outer.pop() {
            self.cur = o;
        }
        iseq
    }

    fn build(&mut self) -> Rc<ISeq> {
        self.patch();
        let s = self.cur.scope;
        let env_names: Box<[Sym]> = self.env_names(s).into();
        let an = self.an;
        let local_names: Box<[Sym]> =
            an.scopes[s].locals.iter().filter(|n| scope::visible(n)).map(|n| self.env.intern(n)).collect();
        let match_slot = self.match_slot();
        let parent_names = self.chain(s);
        let f = &mut self.cur;
        let params = std::mem::take(&mut f.params);
        let nlits = f.lits.len();
        Rc::new(ISeq {
            kind: f.kind,
            label: f.label.clone(),
            block_depth: f.block_depth,
            path: self.opts.path.clone(),
            line: f.line,
            code: f.code.iter().map(|&w| AtomicU64::new(w)).collect(),
            nregs: f.max.min(65_535) as u16,
            simple: params.is_simple(),
            params,
            syms: std::mem::take(&mut f.syms).into(),
            lits: std::mem::take(&mut f.lits).into(),
            sites: std::mem::take(&mut f.sites).into(),
            children: std::mem::take(&mut f.children).into(),
            bodies: std::mem::take(&mut f.bodies).into(),
            handlers: std::mem::take(&mut f.handlers).into(),
            lines: std::mem::take(&mut f.lines).into(),
            has_env: !env_names.is_empty(),
            env_names,
            local_names,
            match_slot,
            parent_names,
            system: self.opts.system,
            once: (0..f.once).map(|_| Cell::new(Value::UNDEF)).collect(),
            values: UnsafeCell::new(vec![Value::UNDEF; nlits].into()),
            const_cache: UnsafeCell::new(Vec::new()),
            span: f.span,
        })
    }

    /// Gives registers to parameters and to the locals that live in registers.
    fn allocate(&mut self) {
        let an = self.an;
        let s = &an.scopes[self.cur.scope];
        let mut next = 1u16;
        for p in &s.params.list {
            self.cur.regs.entry(p.name.clone()).or_insert(next);
            next = next.saturating_add(1);
        }
        if s.locals.len() + s.hidden.len() + next as usize > 60_000 {
            self.fail("too many local variables");
            return;
        }
        for n in s.locals.iter().chain(s.hidden.iter()) {
            if !s.slots.contains_key(n) && !self.cur.regs.contains_key(n) {
                self.cur.regs.insert(n.clone(), next);
                next += 1;
            }
        }
        self.cur.next = next as u32;
        self.cur.max = next as u32;
    }

    /// Makes the scope's environment and copies captured parameters into it.
    fn enter_env(&mut self, list: &ParamList) {
        let an = self.an;
        let s = &an.scopes[self.cur.scope];
        if !s.has_env() {
            return;
        }
        if s.env.len() > 60_000 {
            self.fail("too many local variables");
        }
        self.emit(Op::EnvNew, 0, s.env.len() as u16, 0, 0);
        for (i, p) in list.list.iter().enumerate() {
            let reg = i as u16 + 1;
            let bound = !matches!(p.kind, PKind::KwOpt | PKind::Block);
            if bound
                && self.cur.regs.get(&p.name) == Some(&reg)
                && let Some(&slot) = s.slots.get(&p.name)
            {
                self.emit(Op::EnvSet, 0, reg, slot, 0);
            }
        }
    }

    /// Registers, environment, defaults and destructuring: everything before the body proper.
    fn prologue(&mut self, node: Option<&ParametersNode<'pr>>) {
        self.allocate();
        let an = self.an;
        let list = &an.scopes[self.cur.scope].params;
        self.cur.plist = list.clone();
        let mut params = Params {
            excess_comma: list.excess_comma,
            no_kw: list.no_kw,
            forward: list.forward,
            numbered: list.numbered,
            it: list.it,
            ..Params::default()
        };
        let mut names = Vec::new();
        let mut kw = Vec::new();
        let mut opts = 0usize;
        for p in &list.list {
            let anonymous = p.name.first() == Some(&0);
            names.push(if anonymous { None } else { Some(self.env.intern(&p.name)) });
            match p.kind {
                PKind::Req => params.req += 1,
                PKind::Opt => opts += 1,
                PKind::Rest => params.rest = true,
                PKind::Post => params.post += 1,
                PKind::KwReq => kw.push((self.env.intern(&p.name), true)),
                PKind::KwOpt => kw.push((self.env.intern(&p.name), false)),
                PKind::KwRest => params.kwrest = true,
                PKind::Block => params.block = true,
            }
        }
        params.names = names.into();
        params.kw = kw.into();

        if opts == 0 {
            self.enter_env(list);
        } else {
            let entries: Vec<Label> = (0..=opts).map(|_| self.label()).collect();
            let mut table = Vec::with_capacity(opts + 1);
            if an.scopes[self.cur.scope].has_env() {
                for &e in &entries {
                    table.push(self.pc());
                    self.enter_env(list);
                    self.jump(e);
                }
            }
            let mut k = 0;
            for (i, p) in list.list.iter().enumerate() {
                if p.kind != PKind::Opt {
                    continue;
                }
                self.bind(entries[k]);
                if let Some(o) = node.and_then(|n| n.optionals().iter().nth(k)).and_then(|o| o.as_optional_parameter_node())
                {
                    self.default_value(i as u16 + 1, &p.name, &o.value());
                }
                k += 1;
            }
            self.bind(entries[opts]);
            if table.is_empty() {
                table = entries.iter().map(|&e| self.label_pc(e)).collect();
            }
            params.opt = table.into();
        }
        let mut k = 0;
        for (i, p) in list.list.iter().enumerate() {
            if !matches!(p.kind, PKind::KwReq | PKind::KwOpt) {
                continue;
            }
            let n = node.and_then(|n| n.keywords().iter().nth(k));
            k += 1;
            if let Some(o) = n.and_then(|n| n.as_optional_keyword_parameter_node()) {
                let reg = i as u16 + 1;
                let set = self.label();
                self.jump_on(Op::JmpSet, 0, reg, 0, set);
                self.value(&o.value(), reg);
                self.bind(set);
                if let Some(&slot) = an.scopes[self.cur.scope].slots.get(&p.name) {
                    self.emit(Op::EnvSet, 0, reg, slot, 0);
                }
            }
        }
        if let Some((i, p)) = list.list.iter().enumerate().find(|p| p.1.kind == PKind::Block) {
            let reg = i as u16 + 1;
            let s = &an.scopes[self.cur.scope];
            let slot = s.slots.get(&p.name).copied();
            let method = self.cur.kind == Kind::Method;
            if method && p.name == b"&" {
                // Handed on as it is.
            } else if !method || slot.is_some() || s.plain_use.contains(&p.name) {
                self.emit(Op::BlockProc, 0, reg, 0, 0);
                if let Some(slot) = slot {
                    self.emit(Op::EnvSet, 0, reg, slot, 0);
                }
            } else {
                self.cur.raw_block = Some(p.name.clone());
            }
        }
        self.cur.params = params;
        if let Some(n) = node {
            let posts = list.list.iter().position(|p| p.kind == PKind::Post).unwrap_or(0);
            for (i, m) in n.requireds().iter().enumerate() {
                self.take_apart(i as u16 + 1, &m);
            }
            for (i, m) in n.posts().iter().enumerate() {
                self.take_apart((posts + i) as u16 + 1, &m);
            }
        }
    }

    fn default_value(&mut self, reg: u16, name: &[u8], value: &Node<'pr>) {
        self.value(value, reg);
        if let Some(&slot) = self.an.scopes[self.cur.scope].slots.get(name) {
            self.emit(Op::EnvSet, 0, reg, slot, 0);
        }
    }

    fn take_apart(&mut self, reg: u16, n: &Node<'pr>) {
        if let Some(m) = n.as_multi_target_node() {
            let mark = self.mark();
            self.assign_multi_target(&m, reg);
            self.release(mark);
        }
    }

    fn body(&mut self, n: Option<&Node<'pr>>) {
        match n {
            Some(b) => self.node(b, Dst::Tail),
            None => self.nil_result(),
        }
    }

    /// Returns nil from the body.
    pub fn nil_result(&mut self) {
        let mark = self.mark();
        let t = self.temp();
        self.nil(t);
        self.ret(t);
        self.release(mark);
    }

    // ---- the kinds of bodies

    /// A whole text.
    pub fn program(&mut self, root: &Node<'pr>) -> Rc<ISeq> {
        let loc = root.location();
        self.cur.line = self.opts.line;
        self.cur.span = (loc.start(), loc.end() - loc.start());
        self.prologue(None);
        if let Some(p) = root.as_program_node() {
            for n in p.statements().body().iter() {
                if let Some(b) = n.as_pre_execution_node() {
                    self.stmts(b.statements(), Dst::Void);
                }
            }
            self.stmts(Some(p.statements()), Dst::Tail);
        } else {
            self.nil_result();
        }
        self.build()
    }

    /// The one `def` of a text.
    pub fn single_method(&mut self, root: &Node<'pr>) -> Option<Rc<ISeq>> {
        let p = root.as_program_node()?;
        let d = p.statements().body().iter().find_map(|n| n.as_def_node())?;
        Some(self.method_body(&d))
    }

    fn method_body(&mut self, n: &DefNode<'pr>) -> Rc<ISeq> {
        let loc = n.location();
        let scope = self.an.scope_of(loc.start(), Opens::Def);
        let label: Rc<str> = String::from_utf8_lossy(n.name().as_slice()).as_ref().into();
        self.open(scope, Kind::Method, label, (loc.start(), loc.end()));
        self.prologue(n.parameters().as_ref());
        self.body(n.body().as_ref());
        self.close()
    }

    /// `def`
    pub fn def_node(&mut self, n: &DefNode<'pr>, dst: u16) {
        if n.receiver().is_none() {
            let iseq = self.method_body(n);
            let c = self.child(iseq);
            let s = self.name(n.name().as_slice()) as u16;
            self.emit(Op::DefMethod, 0, dst, c, s);
            return;
        }
        let t = self.temp();
        if let Some(r) = n.receiver() {
            self.value(&r, t);
        }
        let iseq = self.method_body(n);
        let c = self.child(iseq);
        let s = self.name(n.name().as_slice()) as u16;
        self.emit(Op::DefSingleton, 0, t, c, s);
        self.mov(dst, t);
    }

    /// A literal block; returns its child index.
    pub fn block_child(&mut self, n: &BlockNode<'pr>) -> u16 {
        let loc = n.location();
        let scope = self.an.scope_of(loc.start(), Opens::Block);
        self.block_like(scope, Kind::Block, (loc.start(), loc.end()), n.parameters().as_ref(), n.body().as_ref())
    }

    fn block_like(
        &mut self,
        scope: ScopeId,
        kind: Kind,
        span: (u32, u32),
        params: Option<&Node<'pr>>,
        body: Option<&Node<'pr>>,
    ) -> u16 {
        let label = self.cur.label.clone();
        self.open(scope, kind, label, span);
        let ps = params.and_then(|p| p.as_block_parameters_node()).and_then(|b| b.parameters());
        self.prologue(ps.as_ref());
        self.cur.redo = Some(self.here());
        self.body(body);
        let iseq = self.close();
        self.child(iseq)
    }

    /// `-> { }`
    pub fn lambda_node(&mut self, n: &LambdaNode<'pr>, dst: u16) {
        let loc = n.location();
        let scope = self.an.scope_of(loc.start(), Opens::Lambda);
        let c =
            self.block_like(scope, Kind::Lambda, (loc.start(), loc.end()), n.parameters().as_ref(), n.body().as_ref());
        self.emit(Op::Closure, 1, dst, c, 0);
    }

    /// `for`: `each` with a block whose locals are those of the scope around it.
    pub fn for_node(&mut self, n: &ForNode<'pr>, dst: u16) {
        let b = self.window();
        self.value(&n.collection(), b);
        let loc = n.location();
        let scope = self.an.scope_of(loc.start(), Opens::For);
        let label = self.cur.label.clone();
        self.open(scope, Kind::Block, label, (loc.start(), loc.end()));
        self.for_parameters(&n.index());
        self.cur.redo = Some(self.here());
        match n.statements() {
            Some(s) => self.stmts(Some(s), Dst::Tail),
            None => self.nil_result(),
        }
        let iseq = self.close();
        let c = self.child(iseq);
        self.at(loc.start());
        let mid = self.env.intern(b"each");
        let s = self.site(Site { mid, argc: 0, flags: 0, kw: Box::new([]), block: Some(c) });
        self.emit(Op::Send, 0, dst, b, s);
    }

    /// Binds what `each` yields to the targets of a `for`.
    fn for_parameters(&mut self, index: &Node<'pr>) {
        let mut params = Params::default();
        let Some(m) = index.as_multi_target_node() else {
            params.req = 1;
            params.names = Box::new([None]);
            self.cur.params = params;
            self.cur.next = 2;
            self.cur.max = 2;
            self.enter_env(&ParamList::default());
            let t = self.prepare_target(index);
            self.assign(&t, 1);
            self.cur.next = 2;
            return;
        };
        let (lefts, rights) = (m.lefts().len(), m.rights().len());
        if lefts + rights > 250 {
            self.fail("too many variables in for");
            return;
        }
        let has_rest = matches!(m.rest(), Some(Node::SplatNode { .. }));
        let total = lefts + rights + has_rest as usize;
        params.req = lefts as u16;
        params.post = rights as u16;
        params.rest = has_rest;
        params.excess_comma = !has_rest && lefts == 1;
        params.names = vec![None; total].into();
        self.cur.params = params;
        self.cur.next = total as u32 + 1;
        self.cur.max = self.cur.next;
        self.enter_env(&ParamList::default());
        let keep = self.mark();
        if has_rest && lefts == 0 && rights == 0 {
            // `for *a in x`: one value that is an Array is taken apart, unlike in a block.
            let (len, one, many) = (self.temp(), self.temp(), self.label());
            self.send_simple(len, 1, b"length", &[]);
            self.load_lit(one, crate::iseq::Lit::Int(1));
            self.emit(Op::Eq, 0, len, len, one);
            self.jump_on(Op::JmpUnless, 0, len, 0, many);
            self.emit(Op::ArrAt, 0, one, 1, 0);
            self.emit(Op::ToAry, 0, 1, one, 0);
            self.bind(many);
        }
        let mut reg = 1;
        for n in m.lefts().iter() {
            let t = self.prepare_target(&n);
            self.assign(&t, reg);
            reg += 1;
        }
        if has_rest {
            if let Some(e) = m.rest().and_then(|r| r.as_splat_node()).and_then(|s| s.expression()) {
                let t = self.prepare_target(&e);
                self.assign(&t, reg);
            }
            reg += 1;
        }
        for n in m.rights().iter() {
            let t = self.prepare_target(&n);
            self.assign(&t, reg);
            reg += 1;
        }
        self.release(keep);
    }

    /// `END { }`: registers its block with `at_exit`, once.
    pub fn post_execution(&mut self, n: &PostExecutionNode<'pr>, dst: u16) {
        let slot = self.once_slot();
        let (hit, done, make) = (self.label(), self.label(), self.label());
        self.emit(Op::OnceGet, 0, dst, slot, 1);
        self.jump(make);
        self.bind(hit);
        self.jump(done);
        self.bind(make);
        let loc = n.location();
        let scope = self.an.scope_of(loc.start(), Opens::For);
        let label = self.cur.label.clone();
        self.open(scope, Kind::Block, label, (loc.start(), loc.end()));
        self.enter_env(&ParamList::default());
        self.stmts(n.statements(), Dst::Tail);
        let iseq = self.close();
        let c = self.child(iseq);
        let b = self.window();
        self.mov(b, 0);
        let mid = self.env.intern(b"at_exit");
        let s = self.site(Site { mid, argc: 0, flags: site::FCALL, kw: Box::new([]), block: Some(c) });
        self.emit(Op::Send, 0, dst, b, s);
        self.emit(Op::OnceSet, 0, dst, slot, 0);
        self.nil(dst);
        self.bind(done);
    }

    /// A fresh once-slot.
    pub fn once_slot(&mut self) -> u16 {
        self.cur.once += 1;
        if self.cur.once > 60_000 {
            self.fail("too many once-literals");
        }
        (self.cur.once - 1) as u16
    }

    /// `class`
    pub fn class_node(&mut self, n: &ClassNode<'pr>, dst: u16) {
        let b = self.window();
        let sup = self.temp();
        self.scope_module(&n.constant_path(), b);
        match n.superclass() {
            Some(s) => self.value(&s, sup),
            None => self.emit(Op::Undef, 0, sup, 0, 0),
        }
        let loc = n.location();
        let scope = self.an.scope_of(loc.start(), Opens::Class);
        let name = n.name().as_slice();
        let label = format!("<class:{}>", String::from_utf8_lossy(name));
        self.module_body(scope, &label, (loc.start(), loc.end()), n.body().as_ref(), name, 0, b, dst);
    }

    /// `module`
    pub fn module_node(&mut self, n: &ModuleNode<'pr>, dst: u16) {
        let b = self.window();
        let sup = self.temp();
        self.scope_module(&n.constant_path(), b);
        self.emit(Op::Undef, 0, sup, 0, 0);
        let loc = n.location();
        let scope = self.an.scope_of(loc.start(), Opens::Module);
        let name = n.name().as_slice();
        let label = format!("<module:{}>", String::from_utf8_lossy(name));
        self.module_body(scope, &label, (loc.start(), loc.end()), n.body().as_ref(), name, 1, b, dst);
    }

    /// `class << x`
    pub fn singleton_class_node(&mut self, n: &SingletonClassNode<'pr>, dst: u16) {
        let b = self.window();
        let sup = self.temp();
        self.value(&n.expression(), b);
        self.emit(Op::Undef, 0, sup, 0, 0);
        let loc = n.location();
        let scope = self.an.scope_of(loc.start(), Opens::Singleton);
        self.module_body(scope, "singleton class", (loc.start(), loc.end()), n.body().as_ref(), b"", 2, b, dst);
    }

    #[allow(clippy::too_many_arguments)]
    fn module_body(
        &mut self,
        scope: ScopeId,
        label: &str,
        span: (u32, u32),
        body: Option<&Node<'pr>>,
        name: &[u8],
        kind: u8,
        b: u16,
        dst: u16,
    ) {
        self.open(scope, Kind::Class, label.into(), span);
        self.prologue(None);
        self.body(body);
        let iseq = self.close();
        let child = self.child(iseq);
        self.at(span.0);
        let name = self.env.intern(name);
        if self.cur.bodies.len() >= NO_REG as usize {
            self.fail("too many classes in one body");
            return;
        }
        self.cur.bodies.push(Body { name, child });
        let c = self.cur.bodies.len() as u16 - 1;
        self.emit(Op::ClassDef, kind, dst, b, c);
    }

    /// R[b] = the module that `class A::B` names, undef for a bare name.
    fn scope_module(&mut self, path: &Node<'pr>, b: u16) {
        match path.as_constant_path_node() {
            Some(p) => match p.parent() {
                Some(parent) => self.value(&parent, b),
                None => {
                    let s = self.name(b"Object");
                    self.emit_wide(Op::ConstTop, 0, b, s);
                }
            },
            None => self.emit(Op::Undef, 0, b, 0, 0),
        }
    }

    /// The innermost method body that is being compiled, and whether blocks lie between.
    pub fn method_fun(&self) -> Option<(&Fun<'pr>, bool)> {
        let mut inside = false;
        for f in std::iter::once(&self.cur).chain(self.outer.iter().rev()) {
            match f.kind {
                Kind::Method => return Some((f, inside)),
                Kind::Block | Kind::Lambda => inside = true,
                _ => return None,
            }
        }
        None
    }

    /// Whether a `return` here ends this very frame.
    pub fn returns_locally(&self) -> bool {
        matches!(self.cur.kind, Kind::Method | Kind::Lambda | Kind::Top)
    }

    /// No handler of this body is active, so that a value may leave it directly.
    pub fn unprotected(&self) -> bool {
        self.cur.ctl.iter().all(|c| matches!(c, Ctl::Loop { .. }))
    }
}
