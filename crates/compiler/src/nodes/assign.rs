//! Targets of assignment, single and multiple.
//!
//! A target is prepared first (its receiver and index arguments are evaluated into
//! registers, left to right) and assigned when the value is known.

use crate::Compiler;
use crate::nodes::expr::writes_last;
use crate::scope::locals::Var;
use kumi_bytecode::{CallSite, NO_REG, Op, site};
use kumi_heap::Sym;
use ruby_prism::*;

/// A prepared target.
pub enum Target {
    Var(Var),
    Ivar(u32),
    Cvar(u32),
    Global(Vec<u8>),
    Const {
        parent: u16,
        name: u16,
    },
    Attr {
        recv: u16,
        mid: Sym,
        flags: u16,
        safe: bool,
    },
    /// `recv[args] = value` with one plain argument.
    Index {
        recv: u16,
        index: u16,
    },
    /// `recv[args] = value` with any arguments: an Array of them.
    IndexList {
        recv: u16,
        list: u16,
        flags: u16,
    },
    Multi(Multi),
    /// `*` without a name.
    Skip,
}

/// A nested list of targets.
pub struct Multi {
    lefts: Vec<Target>,
    rest: Option<Box<Target>>,
    rights: Vec<Target>,
}

impl<'e, 'pr> Compiler<'e, 'pr> {
    /// Evaluates what a target needs before its value is there.
    pub fn prepare_target(&mut self, n: &Node<'pr>) -> Target {
        if !self.enter() {
            return Target::Skip;
        }
        let t = self.prepare_inner(n);
        self.leave();
        t
    }

    fn prepare_inner(&mut self, n: &Node<'pr>) -> Target {
        if let Some(l) = n.as_local_variable_target_node() {
            return Target::Var(self.var(l.name().as_slice(), l.depth()));
        }
        if let Some(p) = n.as_required_parameter_node() {
            return Target::Var(self.var(p.name().as_slice(), 0));
        }
        if let Some(v) = n.as_instance_variable_target_node() {
            return Target::Ivar(self.name(v.name().as_slice()));
        }
        if let Some(v) = n.as_class_variable_target_node() {
            return Target::Cvar(self.name(v.name().as_slice()));
        }
        if let Some(v) = n.as_global_variable_target_node() {
            return Target::Global(v.name().as_slice().to_vec());
        }
        if let Some(v) = n.as_constant_target_node() {
            return Target::Const { parent: NO_REG, name: self.name(v.name().as_slice()) as u16 };
        }
        if let Some(v) = n.as_constant_path_target_node() {
            let name = v.name().map(|c| c.as_slice()).unwrap_or_default();
            let (parent, name) = self.const_parent_of(v.parent().as_ref(), name);
            return Target::Const { parent, name };
        }
        if let Some(c) = n.as_call_target_node() {
            let recv = self.temp();
            self.value(&c.receiver(), recv);
            let mid = self.env.intern(c.name().as_slice());
            let flags = self.self_flag(Some(&c.receiver())) | site::ASSIGN;
            return Target::Attr { recv, mid, flags, safe: c.is_safe_navigation() };
        }
        if let Some(i) = n.as_index_target_node() {
            let recv = self.temp();
            self.value(&i.receiver(), recv);
            let args: Vec<Node<'pr>> = i.arguments().map(|a| a.arguments().iter().collect()).unwrap_or_default();
            if let [one] = &args[..]
                && !matches!(one, Node::SplatNode { .. } | Node::KeywordHashNode { .. })
            {
                let index = self.temp();
                self.value(one, index);
                return Target::Index { recv, index };
            }
            let list = self.temp();
            self.array(&args, list, true);
            let flags = self.self_flag(Some(&i.receiver())) | site::ASSIGN | site::SPLAT;
            return Target::IndexList { recv, list, flags };
        }
        if let Some(m) = n.as_multi_target_node() {
            return Target::Multi(self.prepare_multi(m.lefts(), m.rest(), m.rights()));
        }
        if let Some(s) = n.as_splat_node() {
            return match s.expression() {
                Some(e) => self.prepare_target(&e),
                None => Target::Skip,
            };
        }
        Target::Skip
    }

    fn prepare_multi(&mut self, lefts: NodeList<'pr>, rest: Option<Node<'pr>>, rights: NodeList<'pr>) -> Multi {
        let lefts = lefts.iter().map(|n| self.prepare_target(&n)).collect();
        let rest = match rest {
            Some(Node::ImplicitRestNode { .. }) => Some(Box::new(Target::Skip)),
            Some(ref r) => Some(Box::new(match r.as_splat_node() {
                Some(_) => self.prepare_target(r),
                None => Target::Skip,
            })),
            None => None,
        };
        let rights = rights.iter().map(|n| self.prepare_target(&n)).collect();
        Multi { lefts, rest, rights }
    }

    /// Assigns R[src] to a prepared target.
    pub fn assign(&mut self, t: &Target, src: u16) {
        match t {
            Target::Skip => {}
            Target::Var(v) => self.store(*v, src),
            Target::Ivar(s) => self.emit_wide(Op::IvarSet, 0, src, *s),
            Target::Cvar(s) => self.emit_wide(Op::CvarSet, 0, src, *s),
            Target::Global(name) => self.global_set(name, src),
            Target::Const { parent, name } => self.emit(Op::ConstSet, 0, src, *parent, *name),
            Target::Attr { recv, mid, flags, safe } => {
                let mark = self.mark();
                let b = self.window();
                let arg = self.temp();
                let end = self.label();
                self.mov(b, *recv);
                if *safe {
                    self.jump_on(Op::JmpNil, 0, b, 0, end);
                }
                self.mov(arg, src);
                let s = self.site(CallSite { mid: *mid, argc: 1, flags: *flags, kw: Box::new([]), block: None });
                self.emit(Op::Send, 0, b, b, s);
                self.bind(end);
                self.release(mark);
            }
            Target::Index { recv, index } => self.index_set(*recv, *index, src),
            Target::IndexList { recv, list, flags } => {
                let mark = self.mark();
                let b = self.window();
                let arg = self.temp();
                self.mov(b, *recv);
                self.emit(Op::Splat, 1, arg, *list, 0);
                self.emit(Op::ArrPush, 0, arg, src, 0);
                let mid = self.env.intern(b"[]=");
                let s = self.site(CallSite { mid, argc: 1, flags: *flags, kw: Box::new([]), block: None });
                self.emit(Op::Send, 0, b, b, s);
                self.release(mark);
            }
            Target::Multi(m) => {
                let mark = self.mark();
                let arr = self.temp();
                self.emit(Op::ToAry, 0, arr, src, 0);
                self.assign_multi(m, arr);
                self.release(mark);
            }
        }
    }

    /// Takes the Array R[arr] apart.
    fn assign_multi(&mut self, m: &Multi, arr: u16) {
        let (before, after) = (m.lefts.len(), m.rights.len());
        if before > 255 && m.rest.is_some() || after > 255 || before > 60_000 {
            return self.fail("too many targets in multiple assignment");
        }
        let mark = self.mark();
        for (i, t) in m.lefts.iter().enumerate() {
            self.take(t, |c, r| c.emit(Op::ArrAt, 0, r, arr, i as u16));
        }
        if let Some(r) = &m.rest {
            self.take(r, |c, r| c.emit(Op::ArrRest, after as u8, r, arr, before as u16));
        }
        for (i, t) in m.rights.iter().enumerate() {
            let split = (before as u16) << 8 | after as u16;
            self.take(t, |c, r| c.emit(Op::ArrPost, i as u8, r, arr, split));
        }
        self.release(mark);
    }

    /// Fetches one element, straight into a local's register where the target is one.
    fn take(&mut self, t: &Target, fetch: impl FnOnce(&mut Self, u16)) {
        match t {
            Target::Skip => {}
            Target::Var(Var::Reg(r)) => fetch(self, *r),
            _ => {
                let mark = self.mark();
                let v = self.temp();
                fetch(self, v);
                self.assign(t, v);
                self.release(mark);
            }
        }
    }

    /// A destructuring parameter: takes the value in R[src] apart.
    pub fn assign_multi_target(&mut self, m: &MultiTargetNode<'pr>, src: u16) {
        let t = self.prepare_multi(m.lefts(), m.rest(), m.rights());
        self.assign(&Target::Multi(t), src);
    }

    /// `a, b = …`
    pub fn multi_write(&mut self, n: &MultiWriteNode<'pr>, dst: Option<u16>) {
        let m = self.prepare_multi(n.lefts(), n.rest(), n.rights());
        let value = n.value();
        if let Some(list) = value.as_array_node() {
            let list: Vec<Node<'pr>> = list.elements().iter().collect();
            let plain = !list.iter().any(|e| matches!(e, Node::SplatNode { .. } | Node::KeywordHashNode { .. }));
            if plain && m.rest.is_none() && m.lefts.len() == list.len() && list.len() <= 64 {
                // As many values as targets: no Array unless it is asked for.
                if dst.is_none()
                    && let Some(targets) = registers(&m.lefts)
                    && let Some((last, before)) = list.split_last()
                    && writes_last(last)
                {
                    // Nobody sees in which order locals are assigned: the last value goes to its place at once.
                    let temps: Vec<u16> = before.iter().map(|_| self.temp()).collect();
                    for (e, &r) in before.iter().zip(&temps) {
                        self.value(e, r);
                    }
                    self.value(last, targets[before.len()]);
                    for (&r, &t) in targets.iter().zip(&temps) {
                        self.mov(r, t);
                    }
                    return;
                }
                let regs: Vec<u16> = list.iter().map(|_| self.temp()).collect();
                for (e, &r) in list.iter().zip(&regs) {
                    self.value(e, r);
                }
                if let (Some(d), Some(&first)) = (dst, regs.first()) {
                    self.emit(Op::Array, 0, d, first, regs.len() as u16);
                }
                for (t, &r) in m.lefts.iter().zip(&regs) {
                    self.assign(t, r);
                }
                return;
            }
            let arr = self.temp();
            self.array(&list, arr, true);
            if let Some(d) = dst {
                self.mov(d, arr);
            }
            self.assign_multi(&m, arr);
            return;
        }
        let src = self.temp();
        self.value(&value, src);
        let arr = self.temp();
        self.emit(Op::ToAry, 0, arr, src, 0);
        self.assign_multi(&m, arr);
        if let Some(d) = dst {
            self.mov(d, src);
        }
    }

    /// `/(?<name>…)/ =~ s`: the groups become locals.
    pub fn match_write(&mut self, n: &MatchWriteNode<'pr>, dst: Option<u16>) {
        let r = dst.unwrap_or_else(|| self.temp());
        self.call_node(&n.call(), Some(r));
        let data = self.temp();
        let key = self.temp();
        let (none, end) = (self.label(), self.label());
        self.emit(Op::BackRef, 0, data, 0, 0);
        let targets: Vec<LocalVariableTargetNode<'pr>> = n.targets().iter().filter_map(|t| t.as_local_variable_target_node()).collect();
        self.jump_on(Op::JmpNil, 0, data, 0, none);
        for t in &targets {
            let name = t.name().as_slice();
            let v = self.var(name, t.depth());
            self.load_sym(key, name);
            self.emit(Op::Aref, 0, key, data, key);
            self.store(v, key);
        }
        self.jump(end);
        self.bind(none);
        self.nil(key);
        for t in &targets {
            let v = self.var(t.name().as_slice(), t.depth());
            self.store(v, key);
        }
        self.bind(end);
    }

    /// The call flag of an explicit `self` receiver.
    pub fn self_flag(&self, recv: Option<&Node<'pr>>) -> u16 {
        match recv {
            None => site::FCALL,
            Some(Node::SelfNode { .. }) => site::SELF,
            Some(_) => 0,
        }
    }
}

/// The registers of targets that are locals, each another one, of this frame alone.
fn registers(targets: &[Target]) -> Option<Vec<u16>> {
    let mut all = Vec::with_capacity(targets.len());
    for t in targets {
        match t {
            Target::Var(Var::Reg(r)) if !all.contains(r) => all.push(*r),
            _ => return None,
        }
    }
    Some(all)
}
