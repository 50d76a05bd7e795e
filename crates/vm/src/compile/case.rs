//! `case … when`, and matching against lists of conditions.

use super::Compiler;
use super::emit::{Dst, Label};
use crate::bytecode::Op;
use crate::iseq::Lit;
use ruby_prism::*;

impl<'e, 'pr> Compiler<'e, 'pr> {
    pub fn case_node(&mut self, n: &CaseNode<'pr>, d: Dst) {
        let end = self.label();
        let subject = n.predicate().map(|p| {
            let t = self.temp();
            self.value(&p, t);
            t
        });
        let clauses: Vec<WhenNode<'pr>> = n.conditions().iter().filter_map(|c| c.as_when_node()).collect();
        for w in &clauses {
            let (hit, miss) = (self.label(), self.label());
            let conditions: Vec<Node<'pr>> = w.conditions().iter().collect();
            for c in &conditions {
                self.at(c.location().start());
                match subject {
                    Some(s) => self.match_any(c, s, Op::CaseEq, hit),
                    None => self.truth_any(c, hit),
                }
            }
            self.jump(miss);
            self.bind(hit);
            self.stmts(w.statements(), d);
            if d != Dst::Tail {
                self.jump(end);
            }
            self.bind(miss);
        }
        match n.else_clause() {
            Some(e) => self.stmts(e.statements(), d),
            None => self.nothing(d),
        }
        self.bind(end);
    }

    /// Jumps to `hit` when a condition (or one of a splat's elements) matches R[subject].
    pub fn match_any(&mut self, c: &Node<'pr>, subject: u16, op: Op, hit: Label) {
        let test = |s: &mut Self, t: u16, v: u16| match op {
            Op::RescueMatch => s.emit(op, 0, t, subject, v),
            _ => s.emit(op, 0, t, v, subject),
        };
        let mark = self.mark();
        if c.as_splat_node().is_some() {
            self.each_element(c, hit, test);
        } else {
            let v = self.operand(c);
            let t = self.temp();
            self.at(c.location().start());
            test(self, t, v);
            self.jump_on(Op::JmpIf, 0, t, 0, hit);
        }
        self.release(mark);
    }

    /// `when *list` without a subject: any truthy element.
    fn truth_any(&mut self, c: &Node<'pr>, hit: Label) {
        if c.as_splat_node().is_some() {
            let mark = self.mark();
            self.each_element(c, hit, |s, t, v| s.mov(t, v));
            self.release(mark);
        } else {
            self.cond(c, true, hit);
        }
    }

    /// Tests the elements of a splat one after the other.
    fn each_element(&mut self, splat: &Node<'pr>, hit: Label, test: impl FnOnce(&mut Self, u16, u16)) {
        let (list, len, i) = (self.temp(), self.temp(), self.temp());
        let (v, t) = (self.temp(), self.temp());
        let (next, more) = (self.label(), self.label());
        self.value(splat, list);
        self.send_simple(len, list, b"length", &[]);
        self.load_lit(i, Lit::Int(0));
        self.jump(next);
        self.bind(more);
        self.emit(Op::Aref, 0, v, list, i);
        self.emit(Op::AddI, 0, i, i, 1);
        test(self, t, v);
        self.jump_on(Op::JmpIf, 0, t, 0, hit);
        self.bind(next);
        self.emit(Op::Lt, 0, t, i, len);
        self.jump_on(Op::JmpIf, 0, t, 0, more);
    }
}
