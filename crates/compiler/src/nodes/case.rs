//! `case … when`, and matching against lists of conditions.

use crate::Compiler;
use crate::emit::{Dst, Label};
use kumi_bytecode::{Lit, Op};
use ruby_prism::*;

impl<'e, 'pr> Compiler<'e, 'pr> {
    pub fn case_node(&mut self, n: &CaseNode<'pr>, d: Dst) {
        let end = self.label();
        let clauses: Vec<WhenNode<'pr>> = n.conditions().iter().filter_map(|c| c.as_when_node()).collect();
        let subject = n.predicate().map(|p| {
            let tests: Vec<Node<'pr>> = clauses.iter().flat_map(|w| w.conditions().iter().collect::<Vec<_>>()).collect();
            self.operand_before(&p, &tests.iter().collect::<Vec<_>>())
        });
        for w in &clauses {
            let (hit, miss) = (self.label(), self.label());
            let conditions: Vec<Node<'pr>> = w.conditions().iter().collect();
            self.match_list(&conditions, subject, Op::CaseEq, hit, miss);
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

    /// Jumps to `miss` unless a condition (or one of a splat's elements) holds; `hit` must be bound right behind.
    pub fn match_list(&mut self, list: &[Node<'pr>], subject: Option<u16>, op: Op, hit: Label, miss: Label) {
        for (i, c) in list.iter().enumerate() {
            let last = i + 1 == list.len();
            self.at(c.location().start());
            let mark = self.mark();
            if c.as_splat_node().is_some() {
                self.each_element(c, hit, |s, t, v| match subject {
                    Some(x) => s.match_one(op, t, x, v),
                    None => s.mov(t, v),
                });
                if last {
                    self.jump(miss);
                }
            } else if let Some(x) = subject {
                let v = match c.as_string_node() {
                    Some(s) => {
                        let v = self.temp();
                        let l = self.frozen_string(&s);
                        self.load_lit(v, l);
                        v
                    }
                    None => self.operand(c),
                };
                let t = self.temp();
                self.at(c.location().start());
                self.match_one(op, t, x, v);
                let (jump, to) = if last { (Op::JmpUnless, miss) } else { (Op::JmpIf, hit) };
                self.jump_on(jump, 0, t, 0, to);
            } else if last {
                self.cond(c, false, miss);
            } else {
                self.cond(c, true, hit);
            }
            self.release(mark);
        }
    }

    fn match_one(&mut self, op: Op, t: u16, subject: u16, v: u16) {
        match op {
            Op::RescueMatch => self.emit(op, 0, t, subject, v),
            _ => self.case_equal(t, v, subject),
        }
    }

    /// Tests the elements of a splat one after the other.
    fn each_element(&mut self, splat: &Node<'pr>, hit: Label, test: impl FnOnce(&mut Self, u16, u16)) {
        let (list, i) = (self.temp(), self.temp());
        let (v, t) = (self.temp(), self.temp());
        let (next, more) = (self.label(), self.label());
        self.value(splat, list);
        self.load_lit(i, Lit::Int(0));
        self.jump(next);
        self.bind(more);
        self.ask(i, "__walk_next", &[i]);
        test(self, t, v);
        self.jump_on(Op::JmpIf, 0, t, 0, hit);
        self.bind(next);
        self.ask(v, "__walk_item", &[list, i]);
        self.jump_on(Op::JmpSet, 0, v, 0, more);
    }
}
