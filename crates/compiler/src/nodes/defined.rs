//! `defined?`: what an expression is, without doing more of it than needed.

use crate::Compiler;
use crate::emit::Label;
use crate::nodes::expr::back_ref;
use kumi_bytecode::{Defined, Op};
use ruby_prism::*;

/// What a check found out at compile time.
enum Found {
    /// This word, once the checks emitted so far have passed.
    Word(&'static str),
    /// The test just emitted left the word (or nil) in this register.
    Register(u16),
}

impl<'e, 'pr> Compiler<'e, 'pr> {
    /// R[dst] = the word for `n`, or nil.
    pub fn defined_node(&mut self, n: &Node<'pr>, dst: u16) {
        let (none, end, end2) = (self.label(), self.label(), self.label());
        if !needs_handler(n) {
            match self.check(n, none) {
                Found::Word(w) => self.load_text(dst, w),
                Found::Register(r) => self.mov(dst, r),
            }
            return self.bind(none);
        }
        // Evaluating a receiver may raise: then nothing is defined.
        let (_, saved, _) = self.protected(
            |c| match c.check(n, none) {
                Found::Word(w) => c.load_text(dst, w),
                Found::Register(r) => c.mov(dst, r),
            },
            end,
        );
        self.emit(Op::ErrSet, 0, saved, 0, 0);
        self.bind(none);
        self.nil(dst);
        self.jump(end2);
        self.bind(end);
        self.bind(end2);
    }

    fn test(&mut self, kind: Defined, b: u16, c: u16) -> Found {
        let t = self.temp();
        self.emit(Op::Defined, kind as u8, t, b, c);
        Found::Register(t)
    }

    /// The same as `check`, but leaves through `none` when the value is not defined.
    fn require(&mut self, n: &Node<'pr>, none: Label) {
        if let Found::Register(r) = self.check(n, none) {
            self.jump_on(Op::JmpUnless, 0, r, 0, none);
        }
    }

    fn check(&mut self, n: &Node<'pr>, none: Label) -> Found {
        if !self.enter() {
            return Found::Word("expression");
        }
        let f = self.check_inner(n, none);
        self.leave();
        f
    }

    fn check_inner(&mut self, n: &Node<'pr>, none: Label) -> Found {
        use Found::Word;
        match n {
            Node::NilNode { .. } => Word("nil"),
            Node::SelfNode { .. } => Word("self"),
            Node::TrueNode { .. } => Word("true"),
            Node::FalseNode { .. } => Word("false"),
            Node::LocalVariableReadNode { .. } | Node::ItLocalVariableReadNode { .. } => Word("local-variable"),
            Node::InstanceVariableReadNode { .. } => {
                let s = n.as_instance_variable_read_node().map_or(0, |v| self.name(v.name().as_slice()));
                self.test(Defined::Ivar, 0, s as u16)
            }
            Node::GlobalVariableReadNode { .. } => {
                let s = n.as_global_variable_read_node().map_or(0, |v| self.name(v.name().as_slice()));
                self.test(Defined::Global, 0, s as u16)
            }
            Node::ClassVariableReadNode { .. } => {
                let s = n.as_class_variable_read_node().map_or(0, |v| self.name(v.name().as_slice()));
                self.test(Defined::Cvar, 0, s as u16)
            }
            Node::ConstantReadNode { .. } => {
                let s = n.as_constant_read_node().map_or(0, |v| self.name(v.name().as_slice()));
                self.test(Defined::Const, 0, s as u16)
            }
            Node::NumberedReferenceReadNode { .. } => {
                let i = n.as_numbered_reference_read_node().map_or(0, |v| v.number().min(65_535));
                self.test(Defined::NthRef, 0, i as u16)
            }
            Node::BackReferenceReadNode { .. } => {
                let i = n.as_back_reference_read_node().map_or(0, |v| back_ref(v.name().as_slice()));
                self.test(Defined::BackRef, 0, i as u16)
            }
            Node::YieldNode { .. } => self.test(Defined::Yield, 0, 0),
            Node::SuperNode { .. } | Node::ForwardingSuperNode { .. } => {
                let mid = match self.method_fun() {
                    Some((f, _)) => f.label.to_string(),
                    None => String::new(),
                };
                let s = self.name(mid.as_bytes());
                self.test(Defined::Super, 0, s as u16)
            }
            Node::ConstantPathNode { .. } => match n.as_constant_path_node() {
                Some(p) => self.check_const_path(&p, none),
                None => Word("expression"),
            },
            Node::CallNode { .. } => match n.as_call_node() {
                Some(c) => self.check_call(&c, none),
                None => Word("expression"),
            },
            Node::ArrayNode { .. } => {
                if let Some(a) = n.as_array_node() {
                    for e in a.elements().iter() {
                        self.require(&e, none);
                    }
                }
                Word("expression")
            }
            Node::SplatNode { .. } => {
                if let Some(e) = n.as_splat_node().and_then(|s| s.expression()) {
                    self.require(&e, none);
                }
                Word("expression")
            }
            Node::ParenthesesNode { .. } => match n.as_parentheses_node().and_then(|p| p.body()) {
                None => Word("nil"),
                Some(b) => match b.as_statements_node() {
                    Some(s) if s.body().len() == 1 => match s.body().first() {
                        Some(one) => self.check(&one, none),
                        None => Word("nil"),
                    },
                    Some(_) => Word("expression"),
                    None => self.check(&b, none),
                },
            },
            Node::LocalVariableWriteNode { .. }
            | Node::InstanceVariableWriteNode { .. }
            | Node::ClassVariableWriteNode { .. }
            | Node::GlobalVariableWriteNode { .. }
            | Node::ConstantWriteNode { .. }
            | Node::ConstantPathWriteNode { .. }
            | Node::MultiWriteNode { .. } => Word("assignment"),
            other if self.is_op_write(other) => Word("assignment"),
            _ => Word("expression"),
        }
    }

    fn check_const_path(&mut self, p: &ConstantPathNode<'pr>, none: Label) -> Found {
        let name = p.name().map(|c| c.as_slice()).unwrap_or_default();
        match p.parent() {
            None => {
                let s = self.name(name);
                self.test(Defined::ConstTop, 0, s as u16)
            }
            Some(parent) => {
                self.require(&parent, none);
                let t = self.temp();
                self.value(&parent, t);
                let s = self.name(name);
                self.test(Defined::ConstAt, t, s as u16)
            }
        }
    }

    fn check_call(&mut self, c: &CallNode<'pr>, none: Label) -> Found {
        if c.is_safe_navigation() || matches!(c.block(), Some(Node::BlockNode { .. })) {
            return Found::Word("expression");
        }
        if let Some(args) = c.arguments() {
            for a in args.arguments().iter() {
                self.require(&a, none);
            }
        }
        let name = c.name().as_slice();
        match c.receiver() {
            None => {
                let s = self.name(name);
                self.test(Defined::Fcall, 0, s as u16)
            }
            Some(r) => {
                self.require(&r, none);
                let t = self.temp();
                self.value(&r, t);
                let s = self.name(name);
                let kind = if matches!(r, Node::SelfNode { .. }) { Defined::Fcall } else { Defined::Method };
                self.test(kind, t, s as u16)
            }
        }
    }
}

/// Whether a receiver or a scope must be evaluated.
fn needs_handler(n: &Node<'_>) -> bool {
    match n {
        Node::CallNode { .. } => n.as_call_node().is_some_and(|c| c.receiver().is_some() || c.arguments().is_some()),
        Node::ConstantPathNode { .. } => n.as_constant_path_node().is_some_and(|c| c.parent().is_some()),
        Node::ArrayNode { .. } => n.as_array_node().is_some_and(|a| !a.elements().is_empty()),
        Node::ParenthesesNode { .. } | Node::SplatNode { .. } => true,
        _ => false,
    }
}
