//! `a += 1`, `a ||= b`, `a &&= b` for every kind of variable, attribute and index.

use crate::Compiler;
use crate::nodes::expr::on;
use crate::scope::locals::Var;
use kumi_bytecode::{Defined, NO_REG, Op, site};
use ruby_prism::*;

/// What stands before the `=`.
#[derive(Clone, Copy)]
enum Kind<'pr> {
    And,
    Or,
    Binary(&'pr [u8]),
}

/// A constant that may be missing.
#[derive(Clone, Copy)]
enum Check {
    No,
    /// `Op::Defined` test with this register and name first.
    Defined(Defined, u16, u16),
}

impl<'e, 'pr> Compiler<'e, 'pr> {
    pub fn is_op_write(&self, n: &Node<'pr>) -> bool {
        matches!(
            n,
            Node::LocalVariableAndWriteNode { .. }
                | Node::LocalVariableOrWriteNode { .. }
                | Node::LocalVariableOperatorWriteNode { .. }
                | Node::InstanceVariableAndWriteNode { .. }
                | Node::InstanceVariableOrWriteNode { .. }
                | Node::InstanceVariableOperatorWriteNode { .. }
                | Node::ClassVariableAndWriteNode { .. }
                | Node::ClassVariableOrWriteNode { .. }
                | Node::ClassVariableOperatorWriteNode { .. }
                | Node::GlobalVariableAndWriteNode { .. }
                | Node::GlobalVariableOrWriteNode { .. }
                | Node::GlobalVariableOperatorWriteNode { .. }
                | Node::ConstantAndWriteNode { .. }
                | Node::ConstantOrWriteNode { .. }
                | Node::ConstantOperatorWriteNode { .. }
                | Node::ConstantPathAndWriteNode { .. }
                | Node::ConstantPathOrWriteNode { .. }
                | Node::ConstantPathOperatorWriteNode { .. }
                | Node::CallAndWriteNode { .. }
                | Node::CallOrWriteNode { .. }
                | Node::CallOperatorWriteNode { .. }
                | Node::IndexAndWriteNode { .. }
                | Node::IndexOrWriteNode { .. }
                | Node::IndexOperatorWriteNode { .. }
        )
    }

    /// Any of the nodes above.
    pub fn op_write(&mut self, n: &Node<'pr>, o: Option<u16>) {
        use Kind::*;
        on!(n, {
            LocalVariableAndWriteNode as_local_variable_and_write_node |x| {
                let v = self.var(x.name().as_slice(), x.depth());
                self.op_local(v, And, &x.value(), o);
            };
            LocalVariableOrWriteNode as_local_variable_or_write_node |x| {
                let v = self.var(x.name().as_slice(), x.depth());
                self.op_local(v, Or, &x.value(), o);
            };
            LocalVariableOperatorWriteNode as_local_variable_operator_write_node |x| {
                let v = self.var(x.name().as_slice(), x.depth());
                self.op_local(v, Binary(x.binary_operator().as_slice()), &x.value(), o);
            };
            InstanceVariableAndWriteNode as_instance_variable_and_write_node |x| {
                self.op_ivar(x.name().as_slice(), And, &x.value(), o);
            };
            InstanceVariableOrWriteNode as_instance_variable_or_write_node |x| {
                self.op_ivar(x.name().as_slice(), Or, &x.value(), o);
            };
            InstanceVariableOperatorWriteNode as_instance_variable_operator_write_node |x| {
                self.op_ivar(x.name().as_slice(), Binary(x.binary_operator().as_slice()), &x.value(), o);
            };
            ClassVariableAndWriteNode as_class_variable_and_write_node |x| {
                self.op_cvar(x.name().as_slice(), And, &x.value(), o);
            };
            ClassVariableOrWriteNode as_class_variable_or_write_node |x| {
                self.op_cvar(x.name().as_slice(), Or, &x.value(), o);
            };
            ClassVariableOperatorWriteNode as_class_variable_operator_write_node |x| {
                self.op_cvar(x.name().as_slice(), Binary(x.binary_operator().as_slice()), &x.value(), o);
            };
            GlobalVariableAndWriteNode as_global_variable_and_write_node |x| {
                self.op_global(x.name().as_slice(), And, &x.value(), o);
            };
            GlobalVariableOrWriteNode as_global_variable_or_write_node |x| {
                self.op_global(x.name().as_slice(), Or, &x.value(), o);
            };
            GlobalVariableOperatorWriteNode as_global_variable_operator_write_node |x| {
                self.op_global(x.name().as_slice(), Binary(x.binary_operator().as_slice()), &x.value(), o);
            };
            ConstantAndWriteNode as_constant_and_write_node |x| {
                self.op_const(x.name().as_slice(), And, &x.value(), o);
            };
            ConstantOrWriteNode as_constant_or_write_node |x| {
                self.op_const(x.name().as_slice(), Or, &x.value(), o);
            };
            ConstantOperatorWriteNode as_constant_operator_write_node |x| {
                self.op_const(x.name().as_slice(), Binary(x.binary_operator().as_slice()), &x.value(), o);
            };
            ConstantPathAndWriteNode as_constant_path_and_write_node |x| {
                self.op_const_path(&x.target(), And, &x.value(), o);
            };
            ConstantPathOrWriteNode as_constant_path_or_write_node |x| {
                self.op_const_path(&x.target(), Or, &x.value(), o);
            };
            ConstantPathOperatorWriteNode as_constant_path_operator_write_node |x| {
                self.op_const_path(&x.target(), Binary(x.binary_operator().as_slice()), &x.value(), o);
            };
            CallAndWriteNode as_call_and_write_node |x| {
                self.at(x.location().start());
                self.op_call(x.receiver(), x.is_safe_navigation(), x.read_name().as_slice(), x.write_name().as_slice(), And, &x.value(), o);
            };
            CallOrWriteNode as_call_or_write_node |x| {
                self.at(x.location().start());
                self.op_call(x.receiver(), x.is_safe_navigation(), x.read_name().as_slice(), x.write_name().as_slice(), Or, &x.value(), o);
            };
            CallOperatorWriteNode as_call_operator_write_node |x| {
                self.at(x.location().start());
                let k = Binary(x.binary_operator().as_slice());
                self.op_call(x.receiver(), x.is_safe_navigation(), x.read_name().as_slice(), x.write_name().as_slice(), k, &x.value(), o);
            };
            IndexAndWriteNode as_index_and_write_node |x| self.op_index(x.receiver(), x.arguments(), And, &x.value(), o);
            IndexOrWriteNode as_index_or_write_node |x| self.op_index(x.receiver(), x.arguments(), Or, &x.value(), o);
            IndexOperatorWriteNode as_index_operator_write_node |x| {
                self.op_index(x.receiver(), x.arguments(), Binary(x.binary_operator().as_slice()), &x.value(), o);
            };
            _ => {}
        });
    }

    /// Reads, combines, writes; the result stays in the returned register.
    fn op_assign(
        &mut self,
        kind: Kind<'pr>,
        value: &Node<'pr>,
        o: Option<u16>,
        check: Check,
        get: impl FnOnce(&mut Self, u16),
        set: impl FnOnce(&mut Self, u16),
    ) {
        let t = o.unwrap_or_else(|| self.temp());
        let (assign, end) = (self.label(), self.label());
        let line = self.cur.cur_line;
        if let (Kind::Or, Check::Defined(d, b, c)) = (kind, check) {
            self.emit(Op::Defined, d as u8, t, b, c);
            self.jump_on(Op::JmpUnless, 0, t, 0, assign);
        }
        get(self, t);
        match kind {
            Kind::And => {
                self.jump_on(Op::JmpUnless, 0, t, 0, end);
                self.value(value, t);
            }
            Kind::Or => {
                self.jump_on(Op::JmpIf, 0, t, 0, end);
                self.bind(assign);
                self.value(value, t);
            }
            Kind::Binary(op) => self.binary(op, t, t, value),
        }
        self.cur.cur_line = line;
        set(self, t);
        self.bind(end);
    }

    fn op_local(&mut self, v: Var, kind: Kind<'pr>, value: &Node<'pr>, o: Option<u16>) {
        let Var::Reg(r) = v else {
            return self.op_assign(kind, value, o, Check::No, |c, t| c.load(v, t), |c, t| c.store(v, t));
        };
        let end = self.label();
        match kind {
            Kind::And | Kind::Or => {
                let op = if matches!(kind, Kind::And) { Op::JmpUnless } else { Op::JmpIf };
                self.jump_on(op, 0, r, 0, end);
                self.local_write(v, value, None);
            }
            Kind::Binary(op) => {
                // The old value is read before the right side runs.
                let left = if crate::nodes::expr::writes(value, self.local_name(r).as_slice()) {
                    let t = self.temp();
                    self.mov(t, r);
                    t
                } else {
                    r
                };
                self.binary(op, r, left, value);
            }
        }
        self.bind(end);
        if let Some(d) = o {
            self.mov(d, r);
        }
    }

    /// The name of the local in a register.
    fn local_name(&self, r: u16) -> Vec<u8> {
        self.cur.regs.iter().find(|e| *e.1 == r).map(|e| e.0.clone()).unwrap_or_default()
    }

    fn op_ivar(&mut self, name: &'pr [u8], kind: Kind<'pr>, value: &Node<'pr>, o: Option<u16>) {
        let s = self.name(name);
        let get = |c: &mut Self, t| c.emit_wide(Op::IvarGet, 0, t, s);
        self.op_assign(kind, value, o, Check::No, get, |c, t| c.emit_wide(Op::IvarSet, 0, t, s));
    }
    fn op_cvar(&mut self, name: &'pr [u8], kind: Kind<'pr>, value: &Node<'pr>, o: Option<u16>) {
        let s = self.name(name);
        let check = Check::Defined(Defined::Cvar, 0, s as u16);
        let get = |c: &mut Self, t| c.emit_wide(Op::CvarGet, 0, t, s);
        self.op_assign(kind, value, o, check, get, |c, t| c.emit_wide(Op::CvarSet, 0, t, s));
    }
    fn op_global(&mut self, name: &'pr [u8], kind: Kind<'pr>, value: &Node<'pr>, o: Option<u16>) {
        let s = self.name(name) as u16;
        let check = Check::Defined(Defined::Global, 0, s);
        self.op_assign(kind, value, o, check, |c, t| c.global_get(name, t), |c, t| c.global_set(name, t));
    }
    fn op_const(&mut self, name: &'pr [u8], kind: Kind<'pr>, value: &Node<'pr>, o: Option<u16>) {
        let s = self.name(name);
        let check = Check::Defined(Defined::Const, 0, s as u16);
        let get = |c: &mut Self, t| c.emit_wide(Op::ConstGet, 0, t, s);
        self.op_assign(kind, value, o, check, get, |c, t| c.emit(Op::ConstSet, 0, t, NO_REG, s as u16));
    }
    fn op_const_path(&mut self, target: &ConstantPathNode<'pr>, kind: Kind<'pr>, value: &Node<'pr>, o: Option<u16>) {
        let (parent, s) = self.const_parent(target);
        let check = Check::Defined(Defined::ConstAt, parent, s);
        let get = |c: &mut Self, t| c.emit(Op::ConstAt, 0, t, parent, s);
        self.op_assign(kind, value, o, check, get, |c, t| c.emit(Op::ConstSet, 0, t, parent, s));
    }

    #[allow(clippy::too_many_arguments)]
    fn op_call(
        &mut self,
        receiver: Option<Node<'pr>>,
        safe: bool,
        read: &'pr [u8],
        write: &'pr [u8],
        kind: Kind<'pr>,
        value: &Node<'pr>,
        o: Option<u16>,
    ) {
        let recv = self.temp();
        let (nil, end) = (self.label(), self.label());
        match &receiver {
            Some(r) => self.value(r, recv),
            None => self.mov(recv, 0),
        }
        if safe {
            self.jump_on(Op::JmpNil, 0, recv, 0, nil);
        }
        let flag = self.self_flag(receiver.as_ref());
        let get = |c: &mut Self, t| c.send_flags(t, recv, read, &[], flag);
        self.op_assign(kind, value, o, Check::No, get, |c, t| {
            let scratch = c.temp();
            c.send_flags(scratch, recv, write, &[t], flag | site::ASSIGN);
        });
        if safe {
            self.jump(end);
            self.bind(nil);
            if let Some(d) = o {
                self.nil(d);
            }
            self.bind(end);
        }
    }

    fn op_index(
        &mut self,
        receiver: Option<Node<'pr>>,
        args: Option<ArgumentsNode<'pr>>,
        kind: Kind<'pr>,
        value: &Node<'pr>,
        o: Option<u16>,
    ) {
        let recv = self.temp();
        match &receiver {
            Some(r) => self.value(r, recv),
            None => self.mov(recv, 0),
        }
        let args: Vec<Node<'pr>> = args.map(|a| a.arguments().iter().collect()).unwrap_or_default();
        let flag = self.self_flag(receiver.as_ref());
        if let [one] = &args[..]
            && !matches!(one, Node::SplatNode { .. } | Node::KeywordHashNode { .. })
        {
            let index = self.temp();
            self.value(one, index);
            let get = |c: &mut Self, t| c.index_get(t, recv, index);
            return self.op_assign(kind, value, o, Check::No, get, |c, t| c.index_set(recv, index, t));
        }
        let list = self.temp();
        self.array(&args, list, true);
        let get = |c: &mut Self, t| c.send_flags(t, recv, b"[]", &[list], flag | site::SPLAT);
        self.op_assign(kind, value, o, Check::No, get, |c, t| {
            let all = c.temp();
            c.emit(Op::Splat, 1, all, list, 0);
            c.emit(Op::ArrPush, 0, all, t, 0);
            let scratch = c.temp();
            c.send_flags(scratch, recv, b"[]=", &[all], flag | site::SPLAT | site::ASSIGN);
        });
    }
}
