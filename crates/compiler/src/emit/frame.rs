//! Opening and closing bodies: registers, environment, parameters and their defaults.

use crate::Compiler;
use crate::emit::{Dst, Fun, Label};
use crate::scope::{self, ParamList, ScopeId};
use kumi_bytecode::{ISeq, Kind, Op, ParamKind, Params};
use kumi_heap::Sym;
use ruby_prism::*;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

impl<'e, 'pr> Compiler<'e, 'pr> {
    pub(crate) fn open(&mut self, scope: ScopeId, kind: Kind, label: Arc<str>, span: (u32, u32)) {
        let line = self.line_of(span.0);
        let mut f = Fun::new(scope, kind, label, line);
        f.end_line = self.line_of(span.1.saturating_sub(1));
        if matches!(kind, Kind::Block | Kind::Lambda) {
            f.block_depth = self.cur.block_depth.saturating_add(1);
        }
        self.outer.push(std::mem::replace(&mut self.cur, f));
    }

    pub(crate) fn close(&mut self) -> Arc<ISeq> {
        let iseq = self.build();
        if let Some(o) = self.outer.pop() {
            self.cur = o;
        }
        iseq
    }

    pub(crate) fn build(&mut self) -> Arc<ISeq> {
        self.patch();
        let s = self.cur.scope;
        let env_names: Box<[Sym]> = self.env_names(s).into();
        let an = self.an;
        let local_names: Box<[Sym]> = an.scopes[s].locals.iter().filter(|n| scope::visible(n)).map(|n| self.env.intern(n)).collect();
        let match_slot = self.match_slot();
        let parent_names = self.chain(s);
        let worth = crate::emit::births::worth_it(&self.cur.code);
        let new = if worth { self.env.intern(b"new") } else { Sym(0) };
        let f = &mut self.cur;
        let params = std::mem::take(&mut f.params);
        let births = if worth {
            let names: Vec<Sym> = f.sites.iter().map(|s| s.mid).collect();
            crate::emit::births::certain(&f.code, &f.handlers, &params.opt, &names, new)
        } else {
            Vec::new()
        };
        let nlits = f.lits.len();
        let params_block = params.block || params.forward;
        Arc::new(ISeq {
            kind: f.kind,
            label: f.label.clone(),
            block_depth: f.block_depth,
            path: self.opts.path.clone(),
            real_path: self.opts.real_path.clone(),
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
            starts: std::mem::take(&mut f.starts).into(),
            entry: f.entry,
            end_line: f.end_line,
            marks: Default::default(),
            has_env: !env_names.is_empty(),
            shows_locals: an.scopes[s].all,
            env_names,
            local_names,
            match_slot,
            parent_names,
            system: self.opts.system,
            uses_block: f.uses_block || params_block,
            told_unused: Default::default(),
            births: births.into(),
            once: ISeq::undef_cells(f.once as usize),
            values: ISeq::undef_cells(nlits),
            const_cache: Default::default(),
            met: Default::default(),
            weak_syms: Default::default(),
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
            if (self.cur.dry || !s.slots.contains_key(n)) && !self.cur.regs.contains_key(n) {
                self.cur.regs.insert(n.clone(), next);
                next += 1;
            }
        }
        self.cur.next = next as u32;
        self.cur.max = next as u32;
    }

    /// Makes the scope's environment and copies captured parameters into it.
    pub(crate) fn enter_env(&mut self, list: &ParamList) {
        let an = self.an;
        let s = &an.scopes[self.cur.scope];
        if !s.has_env() || self.cur.dry {
            return;
        }
        if s.env.len() > 60_000 {
            self.fail("too many local variables");
        }
        self.emit(Op::EnvNew, 0, s.env.len() as u16, 0, 0);
        for (i, p) in list.list.iter().enumerate() {
            let reg = i as u16 + 1;
            let bound = !matches!(p.kind, ParamKind::KwOpt | ParamKind::Block);
            if bound
                && self.cur.regs.get(&p.name) == Some(&reg)
                && let Some(&slot) = s.slots.get(&p.name)
            {
                self.emit(Op::EnvSet, 0, reg, slot, 0);
            }
        }
    }

    /// Registers, environment, defaults and destructuring: everything before the body proper.
    pub(crate) fn prologue(&mut self, node: Option<&ParametersNode<'pr>>) {
        self.cur.dry = self.may_wait(node);
        self.allocate();
        let an = self.an;
        let list = &an.scopes[self.cur.scope].params;
        if list.list.len() > 30_000 {
            return self.fail("too many parameters");
        }
        self.cur.plist = list.clone();
        let mut params = Params { excess_comma: list.excess_comma, no_kw: list.no_kw, forward: list.forward, ..Params::default() };
        let mut names = Vec::new();
        let mut kw = Vec::new();
        let mut opts = 0usize;
        for p in &list.list {
            let anonymous = p.name.first() == Some(&0);
            names.push(if anonymous { None } else { Some(self.env.intern(&p.name)) });
            match p.kind {
                ParamKind::Req => params.req += 1,
                ParamKind::Opt => opts += 1,
                ParamKind::Rest => {
                    let passes = self.opts.system && an.scopes[self.cur.scope].passes(&p.name);
                    (params.rest, params.passes) = (true, passes);
                }
                ParamKind::Post => params.post += 1,
                ParamKind::KwReq => kw.push((self.env.intern(&p.name), true)),
                ParamKind::KwOpt => kw.push((self.env.intern(&p.name), false)),
                ParamKind::KwRest => {
                    let passes = self.opts.system && an.scopes[self.cur.scope].passes(&p.name);
                    (params.kwrest, params.kwrest_anonymous) = (true, p.name == b"**" || passes);
                }
                ParamKind::Block => params.block = true,
            }
        }
        params.names = names.into();
        params.kw = kw.into();

        if opts == 0 {
            self.enter_env(list);
        } else {
            let entries: Vec<Label> = (0..=opts).map(|_| self.label()).collect();
            let mut table = Vec::with_capacity(opts + 1);
            if an.scopes[self.cur.scope].has_env() && !self.cur.dry {
                for &e in &entries {
                    table.push(self.pc());
                    self.enter_env(list);
                    self.jump(e);
                }
            }
            let mut k = 0;
            for (i, p) in list.list.iter().enumerate() {
                if p.kind != ParamKind::Opt {
                    continue;
                }
                self.bind(entries[k]);
                if let Some(o) = node.and_then(|n| n.optionals().iter().nth(k)).and_then(|o| o.as_optional_parameter_node()) {
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
            if !matches!(p.kind, ParamKind::KwReq | ParamKind::KwOpt) {
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
                if let Some(&slot) = an.scopes[self.cur.scope].slots.get(&p.name).filter(|_| !self.cur.dry) {
                    self.emit(Op::EnvSet, 0, reg, slot, 0);
                }
            }
        }
        if let Some((i, p)) = list.list.iter().enumerate().find(|p| p.1.kind == ParamKind::Block) {
            let reg = i as u16 + 1;
            let s = &an.scopes[self.cur.scope];
            let slot = s.slots.get(&p.name).copied();
            let method = self.cur.kind == Kind::Method;
            if method && p.name == b"&" {
                // Handed on as it is.
            } else if !method || slot.is_some() || s.plain_use.contains(&p.name) {
                self.emit(Op::BlockProc, 0, reg, 0, 0);
                if let Some(slot) = slot.filter(|_| !self.cur.dry) {
                    self.emit(Op::EnvSet, 0, reg, slot, 0);
                }
            } else {
                self.cur.raw_block = Some(p.name.clone());
            }
        }
        self.cur.params = params;
        if let Some(n) = node {
            let posts = list.list.iter().position(|p| p.kind == ParamKind::Post).unwrap_or(0);
            for (i, m) in n.requireds().iter().enumerate() {
                self.take_apart(i as u16 + 1, &m);
            }
            for (i, m) in n.posts().iter().enumerate() {
                self.take_apart((posts + i) as u16 + 1, &m);
            }
        }
        self.cur.entry = self.pc();
    }

    fn default_value(&mut self, reg: u16, name: &[u8], value: &Node<'pr>) {
        self.value(value, reg);
        if let Some(&slot) = self.an.scopes[self.cur.scope].slots.get(name).filter(|_| !self.cur.dry) {
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

    pub(crate) fn body(&mut self, n: Option<&Node<'pr>>) {
        match n {
            Some(b) if self.cur.dry => self.dry_body(b),
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
}
