//! Conditions: branches without a truth value in between.

use crate::Compiler;
use crate::emit::{Dst, Label};
use crate::nodes::expr::single;
use crate::scope;
use kumi_bytecode::Op;
use ruby_prism::*;

/// The fused jumps of a comparison: with a register and with a small integer.
fn fused(name: &[u8]) -> Option<(Op, Op, Op)> {
    Some(match name {
        b"<" => (Op::JLt, Op::JLtI, Op::Lt),
        b"<=" => (Op::JLe, Op::JLeI, Op::Le),
        b">" => (Op::JGt, Op::JGtI, Op::Gt),
        b">=" => (Op::JGe, Op::JGeI, Op::Ge),
        b"==" => (Op::JEq, Op::JEqI, Op::Eq),
        _ => return None,
    })
}

impl<'e, 'pr> Compiler<'e, 'pr> {
    /// Jumps to `to` when the node's truth is `sense`; falls through otherwise.
    pub fn cond(&mut self, n: &Node<'pr>, sense: bool, to: Label) {
        if !self.enter() {
            return;
        }
        let mark = self.mark();
        self.cond_inner(n, sense, to);
        self.release(mark);
        self.leave();
    }

    fn cond_inner(&mut self, n: &Node<'pr>, sense: bool, to: Label) {
        match n {
            Node::TrueNode { .. } | Node::IntegerNode { .. } | Node::SymbolNode { .. } | Node::StringNode { .. } => {
                if sense {
                    self.jump(to);
                }
                return;
            }
            Node::FalseNode { .. } | Node::NilNode { .. } => {
                if !sense {
                    self.jump(to);
                }
                return;
            }
            Node::ParenthesesNode { .. } => {
                if let Some(inner) = single(n) {
                    return self.cond(&inner, sense, to);
                }
            }
            Node::AndNode { .. } => {
                if let Some(a) = n.as_and_node() {
                    return self.cond_pair(&a.left(), &a.right(), false, sense, to);
                }
            }
            Node::OrNode { .. } => {
                if let Some(a) = n.as_or_node() {
                    return self.cond_pair(&a.left(), &a.right(), true, sense, to);
                }
            }
            Node::MatchPredicateNode { .. } => {
                if let Some(m) = n.as_match_predicate_node() {
                    return self.match_branch(&m, sense, to);
                }
            }
            Node::CallNode { .. } => {
                if let Some(c) = n.as_call_node()
                    && self.cond_call(&c, sense, to)
                {
                    return;
                }
            }
            _ => {}
        }
        let r = self.operand(n);
        self.jump_on(if sense { Op::JmpIf } else { Op::JmpUnless }, 0, r, 0, to);
    }

    /// `a || b` (`either`) or `a && b` as a condition.
    fn cond_pair(&mut self, l: &Node<'pr>, r: &Node<'pr>, either: bool, sense: bool, to: Label) {
        if either == sense {
            self.cond(l, sense, to);
            self.cond(r, sense, to);
        } else {
            let skip = self.label();
            self.cond(l, either, skip);
            self.cond(r, sense, to);
            self.bind(skip);
        }
    }

    /// Comparisons and `!`; `false` when the call is none of these.
    fn cond_call(&mut self, c: &CallNode<'pr>, sense: bool, to: Label) -> bool {
        let Some(recv) = c.receiver() else { return false };
        if c.is_safe_navigation() || c.block().is_some() || self.refined() || self.dotted(c) {
            return false;
        }
        let name = c.name().as_slice();
        let args: Vec<Node<'pr>> = c.arguments().map(|a| a.arguments().iter().collect()).unwrap_or_default();
        if name == b"!" && args.is_empty() {
            // Anything may have a `!` of its own, a comparison's answer too; for the library nothing has.
            if self.opts.system {
                self.cond(&single(&recv).unwrap_or(recv), !sense, to);
            }
            return self.opts.system;
        }
        let [arg] = &args[..] else { return false };
        if matches!(arg, Node::SplatNode { .. } | Node::KeywordHashNode { .. } | Node::ForwardingArgumentsNode { .. }) {
            return false;
        }
        let small = self.small_int(arg);
        let (jump, jump_imm, op) = match fused(name) {
            Some(of) => of,
            None if name == b"!=" && small.is_some() => (Op::Nop, Op::JNeI, Op::Neq),
            None => return false,
        };
        let a = self.operand_before(&recv, &[arg]);
        if self.far {
            let b = self.operand(arg);
            let t = self.temp();
            self.at_call(c);
            self.emit(op, 0, t, a, b);
            self.jump_on(if sense { Op::JmpIf } else { Op::JmpUnless }, 0, t, 0, to);
        } else if let Some(i) = small {
            self.at_call(c);
            self.jump_on(jump_imm, sense as u8, a, i as u16, to);
        } else {
            let b = self.operand(arg);
            self.at_call(c);
            self.jump_on(jump, sense as u8, a, b, to);
        }
        true
    }

    pub fn if_node(&mut self, n: &IfNode<'pr>, d: Dst) {
        let subsequent = n.subsequent();
        self.branch(&n.predicate(), true, n.statements(), subsequent.as_ref(), d);
    }

    pub fn unless_node(&mut self, n: &UnlessNode<'pr>, d: Dst) {
        let other = n.else_clause().map(|e| e.as_node());
        self.branch(&n.predicate(), false, n.statements(), other.as_ref(), d);
    }

    fn branch(&mut self, predicate: &Node<'pr>, sense: bool, then: Option<StatementsNode<'pr>>, other: Option<&Node<'pr>>, d: Dst) {
        let (no, end) = (self.label(), self.label());
        self.cond(predicate, !sense, no);
        self.stmts(then, d);
        let nothing_else = other.is_none() && d == Dst::Void;
        if !nothing_else && d != Dst::Tail {
            self.jump(end);
        }
        self.bind(no);
        match other {
            Some(o) => self.node(o, d),
            None => self.nothing(d),
        }
        self.bind(end);
    }

    /// `a && b`, `a || b` as a value.
    pub fn and_or(&mut self, l: &Node<'pr>, r: &Node<'pr>, and: bool, d: Dst) {
        if d == Dst::Void {
            let end = self.label();
            self.cond(l, !and, end);
            self.node(r, Dst::Void);
            self.bind(end);
            return;
        }
        self.optional(d, |c, t| {
            let Some(t) = t else { return };
            let end = c.label();
            c.value(l, t);
            c.jump_on(if and { Op::JmpUnless } else { Op::JmpIf }, 0, t, 0, end);
            c.value(r, t);
            c.bind(end);
        });
    }

    /// Jumps unless the bound holds. An Integer literal means that line of the input.
    fn flip_flop_bound(&mut self, n: &Node<'pr>, unless: Label) {
        if n.as_integer_node().is_none() {
            return self.cond(n, false, unless);
        }
        let t = self.temp();
        self.global_get(b"$.", t);
        self.binary(b"==", t, t, n);
        self.jump_on(Op::JmpUnless, 0, t, 0, unless);
    }

    /// `a..b` as a condition: on from the moment `a` holds until `b` does.
    pub fn flip_flop(&mut self, n: &FlipFlopNode<'pr>, dst: u16) {
        let v = self.home_var(&scope::flip_flop(n.location().start()));
        let state = self.temp();
        let (on, check, off, end) = (self.label(), self.label(), self.label(), self.label());
        self.load(v, state);
        self.jump_on(Op::JmpIf, 0, state, 0, check);
        match n.left() {
            Some(l) => self.flip_flop_bound(&l, off),
            None => self.jump(off),
        }
        self.emit(Op::True, 0, state, 0, 0);
        self.store(v, state);
        if n.is_exclude_end() {
            // `...` looks at its end only from the next time on.
            self.jump(on);
        }
        self.bind(check);
        if let Some(r) = n.right() {
            self.flip_flop_bound(&r, on);
            self.emit(Op::False, 0, state, 0, 0);
            self.store(v, state);
        }
        self.bind(on);
        self.emit(Op::True, 0, dst, 0, 0);
        self.jump(end);
        self.bind(off);
        self.emit(Op::False, 0, dst, 0, 0);
        self.bind(end);
    }
}
