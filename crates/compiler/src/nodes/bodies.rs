//! The kinds of bodies: files, methods, blocks, lambdas, `for`, `END`, classes.

use crate::Compiler;
use crate::emit::{Ctl, Dst, Fun};
use crate::scope::{Opens, ParamList, ScopeId};
use kumi_bytecode::{Body, CallSite, ISeq, Kind, NO_REG, Op, Params, site};
use ruby_prism::*;
use std::sync::Arc;

impl<'e, 'pr> Compiler<'e, 'pr> {
    /// A whole text.
    pub fn program(&mut self, root: &Node<'pr>) -> Arc<ISeq> {
        self.cur.line = self.opts.line;
        self.prologue(None);
        if let Some(p) = root.as_program_node() {
            for n in p.statements().body().iter() {
                if let Some(b) = n.as_pre_execution_node() {
                    self.stmts(b.statements(), Dst::Void);
                }
                // The loop that `-n` and `-p` put around the program.
                let inner = n.as_while_node().filter(|_| !self.opts.loop_mode.is_empty()).and_then(|w| w.statements());
                for n in inner.iter().flat_map(|s| s.body().iter()) {
                    if let Some(b) = n.as_pre_execution_node() {
                        self.stmts(b.statements(), Dst::Void);
                    }
                }
            }
            self.stmts(Some(p.statements()), Dst::Tail);
        } else {
            self.nil_result();
        }
        self.build()
    }

    /// The one `def` of a text.
    pub fn single_method(&mut self, root: &Node<'pr>) -> Option<Arc<ISeq>> {
        let p = root.as_program_node()?;
        let d = p.statements().body().iter().find_map(|n| n.as_def_node())?;
        Some(self.method_body(&d))
    }

    fn method_body(&mut self, n: &DefNode<'pr>) -> Arc<ISeq> {
        let loc = n.location();
        let scope = self.an.scope_of(loc.start(), Opens::Def);
        let label: Arc<str> = String::from_utf8_lossy(n.name().as_slice()).as_ref().into();
        self.open(scope, Kind::Method, label, (loc.start(), loc.end()));
        self.prologue(n.parameters().as_ref());
        self.body(n.body().as_ref());
        let iseq = self.close();
        if iseq.uses_block && !self.opts.system {
            let name = self.env.intern(n.name().as_slice());
            self.env.takes_block(name);
        }
        iseq
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

    fn block_like(&mut self, scope: ScopeId, kind: Kind, span: (u32, u32), params: Option<&Node<'pr>>, body: Option<&Node<'pr>>) -> u16 {
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
        let c = self.block_like(scope, Kind::Lambda, (loc.start(), loc.end()), n.parameters().as_ref(), n.body().as_ref());
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
        self.cur.entry = self.pc();
        self.cur.redo = Some(self.here());
        match n.statements() {
            Some(s) => self.stmts(Some(s), Dst::Tail),
            None => self.nil_result(),
        }
        let iseq = self.close();
        let c = self.child(iseq);
        self.at(loc.start());
        let mid = self.env.intern(b"each");
        let s = self.site(CallSite { mid, argc: 0, flags: 0, kw: Box::new([]), block: Some(c) });
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
            self.ask(len, "__walk_len", &[1]);
            self.load_lit(one, kumi_bytecode::Lit::Int(1));
            self.ask(len, "__walk_exact", &[len, one]);
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
        let s = self.site(CallSite { mid, argc: 0, flags: site::FCALL, kw: Box::new([]), block: Some(c) });
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
        let name = self.own_name(name);
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

    /// The method that is being compiled, if one is, has a use for its block.
    pub fn uses_block(&mut self) {
        for f in std::iter::once(&mut self.cur).chain(self.outer.iter_mut().rev()) {
            match f.kind {
                Kind::Method => return f.uses_block = true,
                Kind::Block | Kind::Lambda => {}
                _ => return,
            }
        }
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
