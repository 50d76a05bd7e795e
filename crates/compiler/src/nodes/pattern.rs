//! Pattern matching: `case … in`, `=>`, `in`.
//!
//! `pattern` falls through when R[value] matches and jumps to `fail` otherwise.
//! What `deconstruct` of the subject returned is kept for the later clauses of the
//! same `case`.

use crate::Compiler;
use crate::emit::{Dst, Label};
use kumi_bytecode::{Lit, Op};
use ruby_prism::*;

/// The cached result of the subject's `deconstruct`: nil not asked yet, false none, else the Array.
#[derive(Clone, Copy)]
struct Cache(Option<u16>);

/// Registers that say why a lone pattern did not match.
#[derive(Clone, Copy)]
pub struct Reason {
    /// The key that was missing, or nil.
    key: u16,
    /// An Array of a text and the values it shows, or nil.
    why: u16,
}

impl<'e, 'pr> Compiler<'e, 'pr> {
    fn reason(&mut self) -> Reason {
        let (key, why) = (self.temp(), self.temp());
        self.nil(key);
        self.nil(why);
        Reason { key, why }
    }

    /// Leaves through `fail` unless R[t] is truthy; the reason is kept where it is asked for.
    fn unless_fail(&mut self, t: u16, fail: Label, text: &str, shown: &[u16]) {
        let Some(e) = self.pattern_err else {
            return self.jump_on(Op::JmpUnless, 0, t, 0, fail);
        };
        let good = self.label();
        self.jump_on(Op::JmpIf, 0, t, 0, good);
        let mark = self.mark();
        let first = self.temp();
        self.load_text(first, text);
        for &r in shown {
            let x = self.temp();
            self.mov(x, r);
        }
        self.emit(Op::Array, 0, e.why, first, shown.len() as u16 + 1);
        self.nil(e.key);
        self.release(mark);
        self.jump(fail);
        self.bind(good);
    }

    pub fn case_match_node(&mut self, n: &CaseMatchNode<'pr>, d: Dst) {
        let end = self.label();
        let subject = self.temp();
        if let Some(p) = n.predicate() {
            self.value(&p, subject);
        }
        let cache = self.temp();
        self.nil(cache);
        let clauses: Vec<InNode<'pr>> = n.conditions().iter().filter_map(|c| c.as_in_node()).collect();
        let single = clauses.len() == 1 && n.else_clause().is_none();
        let reason = single.then(|| self.reason());
        let outer = std::mem::replace(&mut self.pattern_err, reason);
        for c in &clauses {
            let miss = self.label();
            self.at(c.location().start());
            let mark = self.mark();
            self.top_pattern(&c.pattern(), subject, miss, Cache(Some(cache)));
            self.release(mark);
            let inner = self.pattern_err.take();
            self.stmts(c.statements(), d);
            self.pattern_err = inner;
            if d != Dst::Tail {
                self.jump(end);
            }
            self.bind(miss);
        }
        self.pattern_err = outer;
        match n.else_clause() {
            Some(e) => self.stmts(e.statements(), d),
            None => {
                self.at(n.location().start());
                self.no_match(subject, reason);
                self.nothing(d);
            }
        }
        self.bind(end);
    }

    /// Raises NoMatchingPatternError, or its Key variant when a key was found missing.
    fn no_match(&mut self, subject: u16, reason: Option<Reason>) {
        let t = self.temp();
        let Some(r) = reason else {
            self.nil(t);
            return self.ask(t, "__no_pattern", &[subject, t]);
        };
        let plain = self.label();
        self.jump_on(Op::JmpNil, 0, r.key, 0, plain);
        self.ask(t, "__no_pattern_key", &[subject, r.key]);
        self.bind(plain);
        self.ask(t, "__no_pattern", &[subject, r.why]);
    }

    /// `value => pattern`
    pub fn match_required(&mut self, n: &MatchRequiredNode<'pr>) {
        let subject = self.temp();
        self.value(&n.value(), subject);
        let reason = self.reason();
        let (miss, end) = (self.label(), self.label());
        let outer = self.pattern_err.replace(reason);
        self.top_pattern(&n.pattern(), subject, miss, Cache(None));
        self.pattern_err = outer;
        self.jump(end);
        self.bind(miss);
        self.at(n.location().start());
        self.no_match(subject, Some(reason));
        self.bind(end);
    }

    /// `value in pattern` as a value.
    pub fn match_predicate(&mut self, n: &MatchPredicateNode<'pr>, dst: u16) {
        let (miss, end) = (self.label(), self.label());
        self.match_branch(n, false, miss);
        self.emit(Op::True, 0, dst, 0, 0);
        self.jump(end);
        self.bind(miss);
        self.emit(Op::False, 0, dst, 0, 0);
        self.bind(end);
    }

    /// `value in pattern` as a condition.
    pub fn match_branch(&mut self, n: &MatchPredicateNode<'pr>, sense: bool, to: Label) {
        let mark = self.mark();
        let subject = self.temp();
        self.value(&n.value(), subject);
        let outer = self.pattern_err.take();
        if sense {
            let miss = self.label();
            self.top_pattern(&n.pattern(), subject, miss, Cache(None));
            self.jump(to);
            self.bind(miss);
        } else {
            self.top_pattern(&n.pattern(), subject, to, Cache(None));
        }
        self.pattern_err = outer;
        self.release(mark);
    }

    /// A clause's pattern with its guard.
    fn top_pattern(&mut self, n: &Node<'pr>, value: u16, fail: Label, cache: Cache) {
        let guarded = |c: &mut Self, s: Option<StatementsNode<'pr>>, guard: &Node<'pr>, sense: bool| {
            if let Some(p) = s.and_then(|s| s.body().first()) {
                c.pattern(&p, value, fail, cache);
            }
            let key = c.pattern_err.take();
            if key.is_some() {
                let t = c.temp();
                c.value(guard, t);
                if sense {
                    c.negate(t, t);
                }
                c.pattern_err = key;
                c.unless_fail(t, fail, "guard clause does not return true", &[]);
            } else {
                c.cond(guard, sense, fail);
            }
        };
        if let Some(i) = n.as_if_node() {
            return guarded(self, i.statements(), &i.predicate(), false);
        }
        if let Some(u) = n.as_unless_node() {
            return guarded(self, u.statements(), &u.predicate(), true);
        }
        self.pattern(n, value, fail, cache);
    }

    fn pattern(&mut self, n: &Node<'pr>, value: u16, fail: Label, cache: Cache) {
        if !self.enter() {
            return;
        }
        let mark = self.mark();
        self.at(n.location().start());
        self.pattern_inner(n, value, fail, cache);
        self.release(mark);
        self.leave();
    }

    fn pattern_inner(&mut self, n: &Node<'pr>, value: u16, fail: Label, cache: Cache) {
        if let Some(a) = n.as_array_pattern_node() {
            self.array_pattern(&a, value, fail, cache);
        } else if let Some(f) = n.as_find_pattern_node() {
            self.find_pattern(&f, value, fail, cache);
        } else if let Some(h) = n.as_hash_pattern_node() {
            self.hash_pattern(&h, value, fail);
        } else if let Some(a) = n.as_alternation_pattern_node() {
            let (other, hit) = (self.label(), self.label());
            self.pattern(&a.left(), value, other, cache);
            self.jump(hit);
            self.bind(other);
            self.pattern(&a.right(), value, fail, cache);
            self.bind(hit);
        } else if let Some(c) = n.as_capture_pattern_node() {
            self.pattern(&c.value(), value, fail, cache);
            let t = self.prepare_target(&c.target().as_node());
            self.assign(&t, value);
        } else if n.as_local_variable_target_node().is_some() {
            let t = self.prepare_target(n);
            self.assign(&t, value);
        } else if let Some(p) = n.as_parentheses_node() {
            if let Some(b) = p.body() {
                let inner = b.as_statements_node().and_then(|s| s.body().first());
                self.pattern(inner.as_ref().unwrap_or(&b), value, fail, cache);
            }
        } else if let Some(i) = n.as_implicit_node() {
            self.pattern(&i.value(), value, fail, cache);
        } else if let Some(p) = n.as_pinned_variable_node() {
            self.case_eq(&p.variable(), value, fail);
        } else if let Some(p) = n.as_pinned_expression_node() {
            self.case_eq(&p.expression(), value, fail);
        } else {
            self.case_eq(n, value, fail);
        }
    }

    /// Fails unless pattern === R[value].
    fn case_eq(&mut self, n: &Node<'pr>, value: u16, fail: Label) {
        let key = self.pattern_err.take();
        let p = self.operand(n);
        self.pattern_err = key;
        let t = self.temp();
        self.case_equal(t, p, value);
        self.unless_fail(t, fail, "%p === %p does not return true", &[p, value]);
    }

    /// Fails unless R[value].respond_to?(name).
    fn responds(&mut self, value: u16, name: &[u8], fail: Label) {
        let (s, t) = (self.temp(), self.temp());
        self.load_sym(s, name);
        self.send_simple(t, value, b"respond_to?", &[s]);
        let text = format!("%p does not respond to #{}", String::from_utf8_lossy(name));
        self.unless_fail(t, fail, &text, &[value]);
    }

    /// R[dst] = R[value].deconstruct
    fn deconstruct(&mut self, dst: u16, value: u16, fail: Label, cache: Cache) {
        let have = self.label();
        if let Cache(Some(c)) = cache {
            let ask = self.label();
            self.mov(dst, c);
            self.jump_on(Op::JmpIf, 0, dst, 0, have);
            self.jump_on(Op::JmpNil, 0, dst, 0, ask);
            self.jump(fail);
            self.bind(ask);
            // Until proven otherwise it has none.
            self.emit(Op::False, 0, c, 0, 0);
        }
        self.responds(value, b"deconstruct", fail);
        self.send_simple(dst, value, b"deconstruct", &[]);
        self.ask(dst, "__walk_array", &[dst]);
        if let Cache(Some(c)) = cache {
            self.mov(c, dst);
        }
        self.bind(have);
    }

    /// Fails unless R[list], whose length is R[len], has `n` (or at least `n`) elements.
    fn check_length(&mut self, list: u16, len: u16, n: usize, at_least: bool, fail: Label) {
        let (t, c) = (self.temp(), self.temp());
        self.load_lit(c, Lit::Int(n as i64));
        self.ask(t, if at_least { "__walk_least" } else { "__walk_exact" }, &[len, c]);
        let plus = if at_least { "+" } else { "" };
        let text = format!("%p length mismatch (given %p, expected %p{plus})");
        self.unless_fail(t, fail, &text, &[list, len, c]);
    }

    fn array_pattern(&mut self, n: &ArrayPatternNode<'pr>, value: u16, fail: Label, cache: Cache) {
        if let Some(c) = n.constant() {
            self.case_eq(&c, value, fail);
        }
        let list = self.temp();
        self.deconstruct(list, value, fail, cache);
        let (pre, post) = (n.requireds(), n.posts());
        let (before, after) = (pre.len(), post.len());
        if before > 255 || after > 255 {
            return self.fail("too many elements in an array pattern");
        }
        let rest = n.rest();
        let len = self.temp();
        self.ask(len, "__walk_len", &[list]);
        self.check_length(list, len, before + after, rest.is_some(), fail);
        let v = self.temp();
        for (i, p) in pre.iter().enumerate() {
            self.emit(Op::ArrAt, 0, v, list, i as u16);
            self.pattern(&p, v, fail, Cache(None));
        }
        if let Some(e) = rest.and_then(|r| r.as_splat_node()).and_then(|s| s.expression()) {
            self.emit(Op::ArrRest, after as u8, v, list, before as u16);
            self.pattern(&e, v, fail, Cache(None));
        }
        for (i, p) in post.iter().enumerate() {
            self.emit(Op::ArrPost, i as u8, v, list, (before as u16) << 8 | after as u16);
            self.pattern(&p, v, fail, Cache(None));
        }
    }

    fn find_pattern(&mut self, n: &FindPatternNode<'pr>, value: u16, fail: Label, cache: Cache) {
        if let Some(c) = n.constant() {
            self.case_eq(&c, value, fail);
        }
        let list = self.temp();
        self.deconstruct(list, value, fail, cache);
        let wanted: Vec<Node<'pr>> = n.requireds().iter().collect();
        let (len, n_wanted, i, t) = (self.temp(), self.temp(), self.temp(), self.temp());
        self.ask(len, "__walk_len", &[list]);
        self.load_lit(n_wanted, Lit::Int(wanted.len() as i64));
        self.check_length(list, len, wanted.len(), true, fail);
        self.load_lit(i, Lit::Int(0));
        let (again, next, hit) = (self.label(), self.label(), self.label());
        self.bind(again);
        self.ask(t, "__walk_fits", &[len, i, n_wanted]);
        self.unless_fail(t, fail, "%p does not match to find pattern", &[list]);
        let outer = self.pattern_err.take();
        let v = self.temp();
        for (j, p) in wanted.iter().enumerate() {
            self.load_lit(t, Lit::Int(j as i64));
            self.ask(v, "__walk_at", &[list, i, t]);
            self.pattern(p, v, next, Cache(None));
        }
        self.pattern_err = outer;
        self.jump(hit);
        self.bind(next);
        self.ask(i, "__walk_next", &[i]);
        self.jump(again);
        self.bind(hit);
        if let Some(e) = n.left().expression() {
            self.ask(v, "__walk_before", &[list, i]);
            self.pattern(&e, v, fail, Cache(None));
        }
        if let Some(e) = n.right().expression() {
            self.ask(v, "__walk_behind", &[list, i, n_wanted]);
            self.pattern(&e, v, fail, Cache(None));
        }
    }

    fn hash_pattern(&mut self, n: &HashPatternNode<'pr>, value: u16, fail: Label) {
        if let Some(c) = n.constant() {
            self.case_eq(&c, value, fail);
        }
        self.responds(value, b"deconstruct_keys", fail);
        let elements: Vec<AssocNode<'pr>> = n.elements().iter().filter_map(|e| e.as_assoc_node()).collect();
        let keys: Vec<Vec<u8>> =
            elements.iter().map(|e| e.key().as_symbol_node().map(|s| s.unescaped().to_vec()).unwrap_or_default()).collect();
        let rest = n.rest();
        let no_rest = matches!(rest, Some(Node::NoKeywordsParameterNode { .. }));
        let rest_target = rest.as_ref().and_then(|r| r.as_assoc_splat_node()).and_then(|s| s.value());
        let (h, k) = (self.temp(), self.temp());
        if rest_target.is_some() {
            self.nil(k);
        } else {
            self.emit(Op::Array, 0, k, k, 0);
            let s = self.temp();
            for key in &keys {
                self.load_sym(s, key);
                self.emit(Op::ArrPush, 0, k, s, 0);
            }
        }
        self.send_simple(h, value, b"deconstruct_keys", &[k]);
        self.ask(h, "__walk_hash", &[h]);
        let takes = rest_target.is_some() || no_rest;
        if takes {
            self.send_simple(h, h, b"dup", &[]);
        }
        let (v, t) = (self.temp(), self.temp());
        for (e, key) in elements.iter().zip(&keys) {
            self.load_sym(k, key);
            self.send_simple(t, h, b"key?", &[k]);
            match self.pattern_err {
                Some(missing) => {
                    let found = self.label();
                    self.jump_on(Op::JmpIf, 0, t, 0, found);
                    self.mov(missing.key, k);
                    self.jump(fail);
                    self.bind(found);
                }
                None => self.jump_on(Op::JmpUnless, 0, t, 0, fail),
            }
            self.send_simple(v, h, if takes { b"delete" } else { b"[]" }, &[k]);
            self.pattern(&e.value(), v, fail, Cache(None));
        }
        if no_rest || keys.is_empty() && rest.is_none() {
            self.send_simple(t, h, b"empty?", &[]);
            let text = if no_rest && !keys.is_empty() { "rest of %p is not empty" } else { "%p is not empty" };
            self.unless_fail(t, fail, text, &[h]);
        }
        if let Some(r) = rest_target {
            self.pattern(&r, h, fail, Cache(None));
        }
    }
}
