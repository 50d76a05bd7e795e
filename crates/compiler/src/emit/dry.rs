//! Environments that wait: a method of the library keeps captured locals in registers until it makes its first closure.
//!
//! Most of these methods return before they need one (`return to_enum(:x) { .. } unless block_given?`, a quick way through plain
//! arrays). Invariant: while `Fun::dry` no closure exists, so that registers are the only place of every local, and
//! statements are in a row: nothing jumps back over the place where the environment is made. Only in the library, into whose
//! frames no binding looks.

use crate::Compiler;
use crate::emit::Dst;
use crate::scope;
use kumi_bytecode::{Kind, Op};
use ruby_prism::*;

impl<'e, 'pr> Compiler<'e, 'pr> {
    /// May the environment wait? Not when a default value makes a closure.
    pub(crate) fn may_wait(&self, node: Option<&ParametersNode<'pr>>) -> bool {
        let s = &self.an.scopes[self.cur.scope];
        let end = node.map_or(0, |n| n.location().end());
        self.opts.system
            && self.cur.kind == Kind::Method
            && s.has_env()
            && !s.all
            && !s.hides(scope::MATCH)
            && s.inner.first().is_some_and(|at| *at >= end)
    }

    /// Does this code make a closure?
    fn makes_closure(&self, n: &Location<'_>) -> bool {
        self.an.scopes[self.cur.scope].inner.iter().any(|at| (n.start()..n.end()).contains(at))
    }

    /// Makes the environment: all locals move there.
    fn end_wait(&mut self) {
        let s = &self.an.scopes[self.cur.scope];
        self.cur.dry = false;
        self.emit(Op::EnvNew, 0, s.env.len() as u16, 0, 0);
        for (slot, name) in s.env.iter().enumerate() {
            if let Some(&reg) = self.cur.regs.get(name) {
                self.emit(Op::EnvSet, 0, reg, slot as u16, 0);
            }
        }
    }

    /// A body whose environment waits: until the first statement that makes a closure, a `return` excepted.
    pub(crate) fn dry_body(&mut self, n: &Node<'pr>) {
        let Some(s) = n.as_statements_node() else {
            self.end_wait();
            return self.node(n, Dst::Tail);
        };
        let list = s.body();
        let last = list.len().saturating_sub(1);
        for (i, node) in list.iter().enumerate() {
            if self.cur.dry && self.makes_closure(&node.location()) && !self.closures_leave(&node) {
                self.end_wait();
            }
            self.at(node.location().start());
            self.statement(&node);
            self.node(&node, if i == last { Dst::Tail } else { Dst::Void });
        }
    }

    /// Are all closures of this statement those of a `return` that ends it or a branch of it?
    fn closures_leave(&self, n: &Node<'pr>) -> bool {
        let branch = |p: Node<'pr>, s: Option<StatementsNode<'pr>>, other: bool| {
            let Some(s) = s.filter(|_| !other && !self.makes_closure(&p.location())) else { return false };
            let list: Vec<Node<'pr>> = s.body().iter().collect();
            let last = list.len().saturating_sub(1);
            list.iter().enumerate().all(|(i, n)| !self.makes_closure(&n.location()) || i == last && self.closures_leave(n))
        };
        match n {
            Node::ReturnNode { .. } => true,
            Node::IfNode { .. } => n.as_if_node().is_some_and(|n| branch(n.predicate(), n.statements(), n.subsequent().is_some())),
            Node::UnlessNode { .. } => n.as_unless_node().is_some_and(|n| branch(n.predicate(), n.statements(), n.else_clause().is_some())),
            _ => false,
        }
    }

    /// A `return` that makes closures while the environment waits has one of its own, since nothing comes after it. `false`:
    /// it is one like any other.
    pub(crate) fn dry_return(&mut self, n: &ReturnNode<'pr>) -> bool {
        if !self.cur.dry || !self.makes_closure(&n.location()) {
            return false;
        }
        self.end_wait();
        self.return_node(n);
        self.cur.dry = true;
        true
    }
}
