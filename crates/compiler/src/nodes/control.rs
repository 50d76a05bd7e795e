//! Loops, jumps, and `begin … rescue … else … ensure`.
//!
//! Each active construct has an entry on the body's `ctl` stack. A jump that
//! leaves entries runs their `ensure` code inline, innermost first; from the
//! moment an entry is left its handler no longer covers the code (a *gap* in its
//! region), so an `ensure` never covers itself. A `rescue` clause that is left
//! puts `$!` back to what it was before the protected code.

use crate::Compiler;
use crate::emit::{Ctl, Dst, Label};
use crate::nodes::looks::Jumps;
use kumi_bytecode::{Catch, Handler, Kind, Op};
use ruby_prism::*;
use std::rc::Rc;

/// Entries left by a jump, and from which pc on.
type Left = Vec<(usize, u32)>;

impl<'e, 'pr> Compiler<'e, 'pr> {
    // ---- loops

    pub fn loop_node(&mut self, predicate: &Node<'pr>, body: Option<StatementsNode<'pr>>, sense: bool, do_while: bool, dst: Option<u16>) {
        let (brk, next, redo) = (self.label(), self.label(), self.label());
        if !do_while {
            self.jump(next);
        }
        self.bind(redo);
        self.cur.ctl.push(Ctl::Loop { brk, next, redo, dst });
        self.stmts(body, Dst::Void);
        self.bind(next);
        self.at(predicate.location().start());
        self.cond(predicate, sense, redo);
        self.cur.ctl.pop();
        if let Some(d) = dst {
            self.nil(d);
        }
        self.bind(brk);
    }

    /// The value that `return`, `break` and `next` carry.
    pub fn jump_value(&mut self, args: Option<ArgumentsNode<'pr>>, dst: u16) {
        let list: Vec<Node<'pr>> = args.map(|a| a.arguments().iter().collect()).unwrap_or_default();
        match &list[..] {
            [] => self.nil(dst),
            [one] if !matches!(one, Node::SplatNode { .. }) => self.value(one, dst),
            _ => self.array(&list, dst, true),
        }
    }

    fn innermost_loop(&self) -> Option<usize> {
        self.cur.ctl.iter().rposition(|c| matches!(c, Ctl::Loop { .. }))
    }

    pub fn return_node(&mut self, n: &ReturnNode<'pr>) {
        if self.dry_return(n) {
            return;
        }
        if self.returns_locally() {
            if self.unprotected() {
                let list: Vec<Node<'pr>> = n.arguments().map(|a| a.arguments().iter().collect()).unwrap_or_default();
                if let [one] = &list[..]
                    && !matches!(one, Node::SplatNode { .. })
                {
                    let was = std::mem::replace(&mut self.cur.returning, true);
                    self.node(one, Dst::Tail);
                    self.cur.returning = was;
                    return;
                }
            }
            let t = self.temp();
            self.jump_value(n.arguments(), t);
            self.leave_with(t);
        } else {
            let t = self.temp();
            self.jump_value(n.arguments(), t);
            self.emit(Op::RetHome, 0, t, 0, 0);
        }
    }

    pub fn break_node(&mut self, n: &BreakNode<'pr>) {
        if let Some(i) = self.innermost_loop() {
            let Ctl::Loop { brk, dst, .. } = self.cur.ctl[i] else { return };
            // The value waits in a temporary while ensure code runs.
            let t = self.temp();
            match dst {
                Some(_) => self.jump_value(n.arguments(), t),
                None => {
                    for a in n.arguments().map(|a| a.arguments().iter().collect::<Vec<_>>()).unwrap_or_default() {
                        self.node(&a, Dst::Void);
                    }
                }
            }
            let left = self.unwind(i + 1);
            if let Some(d) = dst {
                self.mov(d, t);
            }
            self.jump(brk);
            self.close_gaps(left);
            return;
        }
        if !matches!(self.cur.kind, Kind::Block | Kind::Lambda) {
            return self.no_way("break");
        }
        let t = self.temp();
        self.jump_value(n.arguments(), t);
        self.emit(Op::Break, 0, t, 0, 0);
    }

    pub fn next_node(&mut self, n: &NextNode<'pr>) {
        if let Some(i) = self.innermost_loop() {
            let Ctl::Loop { next, .. } = self.cur.ctl[i] else { return };
            for a in n.arguments().map(|a| a.arguments().iter().collect::<Vec<_>>()).unwrap_or_default() {
                self.node(&a, Dst::Void);
            }
            let left = self.unwind(i + 1);
            self.jump(next);
            self.close_gaps(left);
            return;
        }
        if !matches!(self.cur.kind, Kind::Block | Kind::Lambda) {
            return self.no_way("next");
        }
        let t = self.temp();
        self.jump_value(n.arguments(), t);
        self.leave_with(t);
    }

    pub fn redo_node(&mut self) {
        let (to, depth) = match self.innermost_loop() {
            Some(i) => match self.cur.ctl[i] {
                Ctl::Loop { redo, .. } => (Some(redo), i + 1),
                _ => (None, 0),
            },
            None => (self.cur.redo, 0),
        };
        let Some(to) = to else {
            return self.no_way("redo");
        };
        let left = self.unwind(depth);
        self.jump(to);
        self.close_gaps(left);
    }

    pub fn retry_node(&mut self) {
        let found = self.cur.ctl.iter().enumerate().rev().find_map(|(i, c)| match c {
            Ctl::RescueBody { retry: l, .. } => Some((i, *l)),
            _ => None,
        });
        let Some((i, to)) = found else {
            return self.fail("Invalid retry without rescue");
        };
        let left = self.unwind(i);
        self.jump(to);
        self.close_gaps(left);
    }

    /// Returns R[t] from here, past what has an ensure.
    fn leave_with(&mut self, t: u16) {
        let left = self.unwind(0);
        let was = std::mem::replace(&mut self.cur.returning, true);
        self.ret(t);
        self.cur.returning = was;
        self.close_gaps(left);
    }

    fn no_way(&mut self, word: &str) {
        let what = if self.cur.kind == Kind::Eval { "Can't escape from eval with" } else { "Invalid" };
        self.fail(&format!("{what} {word}"));
    }

    /// Leaves all entries from index `down_to` up, innermost first.
    fn unwind(&mut self, down_to: usize) -> Left {
        let mut left = Left::new();
        let mut i = self.cur.ctl.len();
        while i > down_to {
            i -= 1;
            left.push((i, self.pc()));
            match &self.cur.ctl[i] {
                Ctl::Ensure { node, .. } => {
                    let node = node.clone();
                    let above = self.cur.ctl.split_off(i);
                    let line = self.cur.cur_line;
                    self.cur.start_line = 0;
                    self.stmts(node.statements(), Dst::Void);
                    self.cur.cur_line = line;
                    self.cur.ctl.extend(above);
                }
                Ctl::RescueBody { saved, .. } | Ctl::EnsureBody { saved: Some(saved) } => {
                    let saved = *saved;
                    self.emit(Op::ErrSet, 0, saved, 0, 0);
                }
                _ => {}
            }
        }
        left
    }

    /// The jump that left these entries has been made: their handlers cover again from here.
    fn close_gaps(&mut self, left: Left) {
        let pc = self.pc();
        for (i, from) in left {
            match self.cur.ctl.get_mut(i) {
                Some(Ctl::Region { gaps } | Ctl::Ensure { gaps, .. }) => gaps.push((from, pc)),
                _ => {}
            }
        }
    }

    /// Enters a region into the handler table, without its gaps.
    fn cover(&mut self, from: u32, to: u32, mut gaps: Vec<(u32, u32)>, target: u32, reg: u16, catch: Catch) {
        gaps.sort_unstable();
        let mut at = from;
        for (a, b) in gaps {
            if a > at {
                self.cur.handlers.push(Handler { from: at, to: a, target, reg, catch });
            }
            at = at.max(b);
        }
        if to > at {
            self.cur.handlers.push(Handler { from: at, to, target, reg, catch });
        }
    }

    // ---- begin

    pub fn begin_node(&mut self, n: &BeginNode<'pr>, d: Dst) {
        if n.rescue_clause().is_none() && n.ensure_clause().is_none() && n.else_clause().is_none() {
            return self.stmts(n.statements(), d);
        }
        self.optional(d, |c, dst| match n.ensure_clause() {
            Some(e) => c.begin_ensure(n, e, dst),
            None => c.begin_rescue(n, dst),
        });
    }

    fn begin_ensure(&mut self, n: &BeginNode<'pr>, e: EnsureNode<'pr>, dst: Option<u16>) {
        let unwinding = self.temp();
        let mut jumps = Jumps::default();
        if let Some(s) = e.statements() {
            jumps.visit_statements_node(&s);
        }
        let saved = jumps.found.then(|| {
            let s = self.temp();
            self.emit(Op::ErrGet, 0, s, 0, 0);
            s
        });
        let done = self.label();
        let from = self.pc();
        let e = Rc::new(e);
        self.cur.ctl.push(Ctl::Ensure { node: e.clone(), gaps: Vec::new() });
        self.begin_rescue(n, dst);
        let gaps = match self.cur.ctl.pop() {
            Some(Ctl::Ensure { gaps, .. }) => gaps,
            _ => Vec::new(),
        };
        let to = self.pc();
        self.stmts(e.statements(), Dst::Void);
        self.jump(done);
        let target = self.pc();
        self.cur.ctl.push(Ctl::EnsureBody { saved });
        self.cur.start_line = 0;
        self.stmts(e.statements(), Dst::Void);
        self.cur.ctl.pop();
        self.emit(Op::Raise, 0, unwinding, 0, 0);
        self.bind(done);
        self.cover(from, to, gaps, target, unwinding, Catch::Ensure);
    }

    fn begin_rescue(&mut self, n: &BeginNode<'pr>, dst: Option<u16>) {
        let value = dst.map_or(Dst::Void, Dst::Reg);
        let Some(first) = n.rescue_clause() else {
            self.stmts(n.statements(), value);
            return;
        };
        let (saved, exc, unwinding) = (self.temp(), self.temp(), self.temp());
        let (retry, done) = (self.label(), self.label());
        self.emit(Op::ErrGet, 0, saved, 0, 0);
        self.bind(retry);
        let from = self.pc();
        self.cur.ctl.push(Ctl::Region { gaps: Vec::new() });
        let other = n.else_clause();
        self.stmts(n.statements(), if other.is_some() { Dst::Void } else { value });
        let gaps = self.pop_region();
        let to = self.pc();
        if let Some(o) = other {
            self.stmts(o.statements(), value);
        }
        self.jump(done);
        let target = self.pc();
        let mut bodies = Vec::new();
        let mut clause = Some(first);
        while let Some(r) = clause {
            let (hit, miss) = (self.label(), self.label());
            self.at(r.location().start());
            let list: Vec<Node<'pr>> = r.exceptions().iter().collect();
            if list.is_empty() {
                self.rescue_standard(exc, miss);
            } else {
                self.match_list(&list, Some(exc), Op::RescueMatch, hit, miss);
            }
            self.bind(hit);
            let clause_from = self.pc();
            self.clause();
            self.cur.ctl.push(Ctl::RescueBody { saved, retry });
            if let Some(t) = r.reference() {
                let mark = self.mark();
                let t = self.prepare_target(&t);
                self.assign(&t, exc);
                self.release(mark);
            }
            self.stmts(r.statements(), value);
            self.cur.ctl.pop();
            bodies.push((clause_from, self.pc()));
            self.emit(Op::ErrSet, 0, saved, 0, 0);
            self.jump(done);
            self.bind(miss);
            clause = r.subsequent();
        }
        self.emit(Op::Raise, 0, exc, 0, 0);
        self.leave_clauses(bodies, saved, unwinding);
        self.bind(done);
        self.cover(from, to, gaps, target, exc, Catch::Rescue);
    }

    /// Whatever unwinds out of a rescue clause leaves `$!` as it was before.
    fn leave_clauses(&mut self, bodies: Vec<(u32, u32)>, saved: u16, unwinding: u16) {
        if bodies.iter().all(|(from, to)| from == to) {
            return;
        }
        let target = self.pc();
        self.emit(Op::ErrSet, 0, saved, 0, 0);
        self.emit(Op::Raise, 0, unwinding, 0, 0);
        for (from, to) in bodies {
            self.cover(from, to, Vec::new(), target, unwinding, Catch::Ensure);
        }
    }

    fn pop_region(&mut self) -> Vec<(u32, u32)> {
        match self.cur.ctl.pop() {
            Some(Ctl::Region { gaps }) => gaps,
            _ => Vec::new(),
        }
    }

    /// Goes on with a StandardError, else to `miss`.
    fn rescue_standard(&mut self, exc: u16, miss: Label) {
        let t = self.temp();
        let s = self.name(b"StandardError");
        self.emit_wide(Op::ConstTop, 0, t, s);
        self.emit(Op::RescueMatch, 0, t, exc, t);
        self.jump_on(Op::JmpUnless, 0, t, 0, miss);
    }

    /// `a rescue b`
    pub fn rescue_modifier(&mut self, n: &RescueModifierNode<'pr>, dst: Option<u16>) {
        let value = dst.map_or(Dst::Void, Dst::Reg);
        let (done, miss) = (self.label(), self.label());
        let (exc, saved, retry) = self.protected(|c| c.node(&n.expression(), value), done);
        self.rescue_standard(exc, miss);
        self.cur.ctl.push(Ctl::RescueBody { saved, retry });
        let (from, unwinding) = (self.pc(), self.temp());
        self.clause();
        self.node(&n.rescue_expression(), value);
        self.cur.ctl.pop();
        let to = self.pc();
        self.emit(Op::ErrSet, 0, saved, 0, 0);
        self.jump(done);
        self.bind(miss);
        self.emit(Op::Raise, 0, exc, 0, 0);
        self.leave_clauses(vec![(from, to)], saved, unwinding);
        self.bind(done);
    }

    /// Runs `body` under a rescue handler; behind it follows a jump to `done`, then the handler's code.
    /// Returns the registers of the exception and of the earlier `$!`, and where `retry` goes.
    pub fn protected(&mut self, body: impl FnOnce(&mut Self), done: Label) -> (u16, u16, Label) {
        let (saved, exc, retry) = (self.temp(), self.temp(), self.label());
        self.emit(Op::ErrGet, 0, saved, 0, 0);
        self.bind(retry);
        let from = self.pc();
        self.cur.ctl.push(Ctl::Region { gaps: Vec::new() });
        body(self);
        let gaps = self.pop_region();
        let to = self.pc();
        self.jump(done);
        let target = self.pc();
        self.cover(from, to, gaps, target, exc, Catch::Rescue);
        (exc, saved, retry)
    }
}
