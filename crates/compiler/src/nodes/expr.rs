//! The dispatch over nodes: each into a register, for its effect, or as the body's result.
//!
//! `value(n, dst)` may write `dst` before it is done, so `dst` must not be read by
//! `n`. A local's own register is only handed out as `dst` for nodes that write it
//! last (see [`Compiler::writes_last`]).

use crate::Compiler;
use crate::emit::Dst;
use crate::nodes::looks::Writes;
use crate::scope::locals::Var;
use kumi_bytecode::{CallSite, Lit, Op, site};
use ruby_prism::*;

/// `match` over node kinds, the concrete node bound to a name.
macro_rules! on {
    ($n:expr, { $($V:ident $as:ident |$x:pat_param| $e:expr;)* _ => $other:expr }) => {
        match $n {
            $(Node::$V { .. } => if let Some($x) = $n.$as() { $e },)*
            _ => $other,
        }
    };
}
pub(crate) use on;

impl<'e, 'pr> Compiler<'e, 'pr> {
    /// A sequence of statements; only the last one's value counts.
    pub fn stmts(&mut self, s: Option<StatementsNode<'pr>>, d: Dst) {
        let Some(s) = s else {
            self.nothing(d);
            return;
        };
        let list = s.body();
        let n = list.len();
        if n == 0 {
            self.nothing(d);
        }
        for (i, node) in list.iter().enumerate() {
            self.at(node.location().start());
            self.statement(&node);
            self.node(&node, if i + 1 == n { d } else { Dst::Void });
        }
    }

    /// nil as a value.
    pub fn nothing(&mut self, d: Dst) {
        match d {
            Dst::Reg(r) => self.nil(r),
            Dst::Void => {}
            Dst::Tail => self.nil_result(),
        }
    }

    /// Calls `f` with the register that the value goes to, if it goes anywhere.
    pub fn optional(&mut self, d: Dst, f: impl FnOnce(&mut Self, Option<u16>)) {
        match d {
            Dst::Reg(r) => f(self, Some(r)),
            Dst::Void => f(self, None),
            Dst::Tail => {
                let t = self.temp();
                f(self, Some(t));
                self.ret(t);
            }
        }
    }

    /// Calls `f` with a register for the value, wanted or not.
    fn into_reg(&mut self, d: Dst, f: impl FnOnce(&mut Self, u16)) {
        match d {
            Dst::Reg(r) => f(self, r),
            Dst::Void => {
                let t = self.temp();
                f(self, t);
            }
            Dst::Tail => {
                let t = self.temp();
                f(self, t);
                self.ret(t);
            }
        }
    }

    /// Any node, to any destination.
    pub fn node(&mut self, n: &Node<'pr>, d: Dst) {
        if !self.enter() {
            return;
        }
        let mark = self.mark();
        self.dispatch(n, d);
        self.release(mark);
        self.leave();
    }

    /// R[dst] = the node's value.
    pub fn value(&mut self, n: &Node<'pr>, dst: u16) {
        self.node(n, Dst::Reg(dst));
    }

    fn dispatch(&mut self, n: &Node<'pr>, d: Dst) {
        on!(n, {
            StatementsNode as_statements_node |n| self.stmts(Some(n), d);
            ParenthesesNode as_parentheses_node |n| match n.body() {
                Some(b) => self.node(&b, d),
                None => self.nothing(d),
            };
            IfNode as_if_node |n| self.if_node(&n, d);
            UnlessNode as_unless_node |n| self.unless_node(&n, d);
            ElseNode as_else_node |n| self.stmts(n.statements(), d);
            WhileNode as_while_node |n| {
                let (p, s, b) = (n.predicate(), n.statements(), n.is_begin_modifier());
                self.optional(d, |c, r| c.loop_node(&p, s, true, b, r));
            };
            UntilNode as_until_node |n| {
                let (p, s, b) = (n.predicate(), n.statements(), n.is_begin_modifier());
                self.optional(d, |c, r| c.loop_node(&p, s, false, b, r));
            };
            CaseNode as_case_node |n| self.case_node(&n, d);
            CaseMatchNode as_case_match_node |n| self.case_match_node(&n, d);
            BeginNode as_begin_node |n| self.begin_node(&n, d);
            RescueModifierNode as_rescue_modifier_node |n| self.optional(d, |c, r| c.rescue_modifier(&n, r));
            AndNode as_and_node |n| self.and_or(&n.left(), &n.right(), true, d);
            OrNode as_or_node |n| self.and_or(&n.left(), &n.right(), false, d);
            ReturnNode as_return_node |n| self.return_node(&n);
            BreakNode as_break_node |n| self.break_node(&n);
            NextNode as_next_node |n| self.next_node(&n);
            RedoNode as_redo_node |_| self.redo_node();
            RetryNode as_retry_node |_| self.retry_node();
            MatchRequiredNode as_match_required_node |n| {
                self.match_required(&n);
                self.nothing(d);
            };
            MatchPredicateNode as_match_predicate_node |n| self.into_reg(d, |c, r| c.match_predicate(&n, r));
            CallNode as_call_node |x| if d == Dst::Tail && writes_last(n) && !makes_object(n) {
                let t = self.temp();
                self.release(t as u32);
                self.call_node(&x, Some(t));
                self.ret(t);
            } else {
                self.optional(d, |c, r| c.call_node(&x, r));
            };
            PreExecutionNode as_pre_execution_node |_| self.nothing(d);
            LocalVariableReadNode as_local_variable_read_node |l| self.local_read(&l, d);
            SelfNode as_self_node |_| match d {
                Dst::Reg(r) => self.mov(r, 0),
                Dst::Void => {}
                Dst::Tail => self.ret(0),
            };
            _ => self.dispatch_write(n, d)
        })
    }

    fn local_read(&mut self, l: &LocalVariableReadNode<'pr>, d: Dst) {
        if d == Dst::Void {
            return;
        }
        let v = self.var(l.name().as_slice(), l.depth());
        match (v, d) {
            (Var::Reg(r), Dst::Tail) => self.ret(r),
            _ => self.optional(d, |c, r| {
                if let Some(r) = r {
                    c.load(v, r);
                }
            }),
        }
    }

    /// Assignments.
    #[inline(never)]
    fn dispatch_write(&mut self, n: &Node<'pr>, d: Dst) {
        on!(n, {
            LocalVariableWriteNode as_local_variable_write_node |n| {
                let v = self.var(n.name().as_slice(), n.depth());
                self.optional(d, |c, r| c.local_write(v, &n.value(), r));
            };
            InstanceVariableWriteNode as_instance_variable_write_node |n| self.optional(d, |c, r| {
                let v = c.write_operand(&n.value(), r);
                c.at(n.location().start());
                let s = c.name(n.name().as_slice());
                c.emit_wide(Op::IvarSet, 0, v, s);
            });
            ClassVariableWriteNode as_class_variable_write_node |n| self.optional(d, |c, r| {
                let v = c.write_operand(&n.value(), r);
                c.at(n.location().start());
                let s = c.name(n.name().as_slice());
                c.emit_wide(Op::CvarSet, 0, v, s);
            });
            GlobalVariableWriteNode as_global_variable_write_node |n| self.optional(d, |c, r| {
                let v = c.write_operand(&n.value(), r);
                c.at(n.location().start());
                c.global_set(n.name().as_slice(), v);
            });
            ConstantWriteNode as_constant_write_node |n| self.optional(d, |c, r| {
                let v = c.write_operand(&n.value(), r);
                c.at(n.location().start());
                let s = c.name(n.name().as_slice()) as u16;
                c.emit(Op::ConstSet, 0, v, kumi_bytecode::NO_REG, s);
            });
            ConstantPathWriteNode as_constant_path_write_node |n| self.optional(d, |c, r| {
                let (parent, s) = c.const_parent(&n.target());
                let v = c.write_operand(&n.value(), r);
                c.at(n.location().start());
                c.emit(Op::ConstSet, 0, v, parent, s);
            });
            ShareableConstantNode as_shareable_constant_node |n| self.node(&n.write(), d);
            MultiWriteNode as_multi_write_node |n| self.optional(d, |c, r| c.multi_write(&n, r));
            MatchWriteNode as_match_write_node |n| self.optional(d, |c, r| c.match_write(&n, r));
            _ => if d == Dst::Void && matches!(n, Node::DefinedNode { .. }) {
                // Looks and tells nobody.
            } else if self.is_op_write(n) {
                self.optional(d, |c, r| c.op_write(n, r));
            } else if d == Dst::Void && pure(n) {
                // A literal for its effect: nothing to do.
            } else {
                self.into_reg(d, |c, r| c.plain_value(n, r));
            }
        })
    }

    /// Everything else: a value into a register.
    #[inline(never)]
    fn plain_value(&mut self, n: &Node<'pr>, dst: u16) {
        on!(n, {
            NilNode as_nil_node |_| self.nil(dst);
            TrueNode as_true_node |_| self.emit(Op::True, 0, dst, 0, 0);
            FalseNode as_false_node |_| self.emit(Op::False, 0, dst, 0, 0);
            IntegerNode as_integer_node |n| { let l = self.integer(&n); self.load_lit(dst, l); };
            FloatNode as_float_node |n| self.load_lit(dst, Lit::Float(n.value()));
            RationalNode as_rational_node |n| { let l = self.rational(&n); self.load_lit(dst, l); };
            ImaginaryNode as_imaginary_node |n| { let l = self.imaginary(&n); self.load_lit(dst, l); };
            StringNode as_string_node |n| self.string_node(&n, dst);
            SymbolNode as_symbol_node |n| self.load_sym(dst, n.unescaped());
            XStringNode as_x_string_node |n| self.xstring_node(&n, dst);
            InterpolatedStringNode as_interpolated_string_node |n| self.interpolated_string(&n, dst);
            InterpolatedSymbolNode as_interpolated_symbol_node |n| self.interpolated_symbol(&n, dst);
            InterpolatedXStringNode as_interpolated_x_string_node |n| self.interpolated_xstring(&n, dst);
            RegularExpressionNode as_regular_expression_node |n| self.regex_node(&n, dst);
            InterpolatedRegularExpressionNode as_interpolated_regular_expression_node |n| self.interpolated_regex(&n, dst);
            MatchLastLineNode as_match_last_line_node |n| self.match_last_line(&n, dst);
            InterpolatedMatchLastLineNode as_interpolated_match_last_line_node |n| self.interpolated_match_last_line(&n, dst);
            ArrayNode as_array_node |n| { let l: Vec<_> = n.elements().iter().collect(); self.array(&l, dst, true); };
            HashNode as_hash_node |n| { let l: Vec<_> = n.elements().iter().collect(); self.hash(&l, dst); };
            KeywordHashNode as_keyword_hash_node |n| { let l: Vec<_> = n.elements().iter().collect(); self.hash(&l, dst); };
            RangeNode as_range_node |n| self.range_node(&n, dst);
            ImplicitNode as_implicit_node |n| self.value(&n.value(), dst);
            ItLocalVariableReadNode as_it_local_variable_read_node |_| { let v = self.it_var(); self.load(v, dst); };
            InstanceVariableReadNode as_instance_variable_read_node |n| {
                let s = self.name(n.name().as_slice());
                self.emit_wide(Op::IvarGet, 0, dst, s);
            };
            ClassVariableReadNode as_class_variable_read_node |n| {
                let s = self.name(n.name().as_slice());
                self.emit_wide(Op::CvarGet, 0, dst, s);
            };
            GlobalVariableReadNode as_global_variable_read_node |n| self.global_get(n.name().as_slice(), dst);
            BackReferenceReadNode as_back_reference_read_node |n| {
                self.emit(Op::BackRef, back_ref(n.name().as_slice()), dst, 0, 0);
            };
            NumberedReferenceReadNode as_numbered_reference_read_node |n| self.emit_wide(Op::NthRef, 0, dst, n.number());
            ConstantReadNode as_constant_read_node |n| {
                self.at(n.location().start());
                let s = self.name(n.name().as_slice());
                self.emit_wide(Op::ConstGet, 0, dst, s);
            };
            ConstantPathNode as_constant_path_node |n| self.const_path(&n, dst);
            FlipFlopNode as_flip_flop_node |n| self.flip_flop(&n, dst);
            DefinedNode as_defined_node |n| self.defined_node(&n.value(), dst);
            DefNode as_def_node |n| self.def_node(&n, dst);
            ClassNode as_class_node |n| self.class_node(&n, dst);
            ModuleNode as_module_node |n| self.module_node(&n, dst);
            SingletonClassNode as_singleton_class_node |n| self.singleton_class_node(&n, dst);
            LambdaNode as_lambda_node |n| self.lambda_node(&n, dst);
            ForNode as_for_node |n| self.for_node(&n, dst);
            PostExecutionNode as_post_execution_node |n| self.post_execution(&n, dst);
            YieldNode as_yield_node |n| self.yield_node(&n, dst);
            SuperNode as_super_node |n| self.super_node(&n, dst);
            ForwardingSuperNode as_forwarding_super_node |n| self.zsuper_node(&n, dst);
            AliasMethodNode as_alias_method_node |n| {
                let (a, b) = (self.temp(), self.temp());
                self.value(&n.new_name(), a);
                self.value(&n.old_name(), b);
                self.emit(Op::AliasMethod, 0, a, b, 0);
                self.nil(dst);
            };
            AliasGlobalVariableNode as_alias_global_variable_node |n| {
                let a = self.global_name(&n.new_name());
                let b = self.global_name(&n.old_name());
                let (a, b) = (self.name(&a) as u16, self.name(&b) as u16);
                self.emit(Op::AliasGlobal, 0, 0, a, b);
                self.nil(dst);
            };
            UndefNode as_undef_node |n| {
                for s in n.names().iter() {
                    let t = self.temp();
                    self.value(&s, t);
                    self.emit(Op::UndefMethod, 0, t, 0, 0);
                }
                self.nil(dst);
            };
            SourceFileNode as_source_file_node |n| {
                let frozen = n.is_frozen();
                let path = self.opts.path.as_bytes().into();
                self.load_lit(dst, if frozen { Lit::FrozenStr(path, kumi_text::EncIndex::UTF_8) } else { Lit::Str(path, kumi_text::EncIndex::UTF_8) });
            };
            SourceLineNode as_source_line_node |n| {
                let line = self.line_of(n.location().start());
                // A line number before 1 (`eval(s, b, f, -5)`) is a wrapped one.
                self.load_lit(dst, Lit::Int(line as i32 as i64));
            };
            SourceEncodingNode as_source_encoding_node |_| {
                let s = self.name(b"Encoding");
                self.emit_wide(Op::ConstTop, 0, dst, s);
                let name = self.enc.name().replace('-', "_").to_uppercase();
                let s = self.name(name.as_bytes()) as u16;
                self.emit(Op::ConstAt, 0, dst, dst, s);
            };
            EmbeddedStatementsNode as_embedded_statements_node |n| self.stmts(n.statements(), Dst::Reg(dst));
            EmbeddedVariableNode as_embedded_variable_node |n| self.value(&n.variable(), dst);
            SplatNode as_splat_node |n| {
                match n.expression() {
                    Some(e) => self.value(&e, dst),
                    None => self.load_anonymous(b"*", dst),
                }
                self.emit(Op::Splat, 1, dst, dst, 0);
            };
            BlockArgumentNode as_block_argument_node |n| match n.expression() {
                Some(e) => self.value(&e, dst),
                None => self.emit(Op::BlockRaw, 0, dst, 0, 0),
            };
            ArgumentsNode as_arguments_node |n| self.jump_value(Some(n), dst);
            _ => {
                self.nil(dst);
                self.fail("unexpected syntax");
            }
        })
    }

    fn global_name(&mut self, n: &Node<'pr>) -> Vec<u8> {
        match n {
            Node::GlobalVariableReadNode { .. } => {
                n.as_global_variable_read_node().map(|g| g.name().as_slice().to_vec()).unwrap_or_default()
            }
            other => other.location().as_slice().to_vec(),
        }
    }

    /// R[dst] = an anonymous parameter of the method.
    pub fn load_anonymous(&mut self, name: &[u8], dst: u16) {
        match self.anonymous(name) {
            Some(v) => self.load(v, dst),
            None => {
                self.nil(dst);
                self.fail("no anonymous parameter to pass on");
            }
        }
    }

    pub fn global_get(&mut self, name: &[u8], dst: u16) {
        match name {
            b"$~" => self.emit(Op::BackRef, 0, dst, 0, 0),
            b"$!" => self.emit(Op::ErrGet, 0, dst, 0, 0),
            _ => {
                let s = self.name(name);
                self.emit_wide(Op::GlobalGet, 0, dst, s);
            }
        }
    }
    pub fn global_set(&mut self, name: &[u8], src: u16) {
        if name == b"$~" {
            self.emit(Op::MatchSet, 0, src, 0, 0);
        } else {
            let s = self.name(name);
            self.emit_wide(Op::GlobalSet, 0, src, s);
        }
    }

    fn const_path(&mut self, n: &ConstantPathNode<'pr>, dst: u16) {
        let name = n.name().map(|c| c.as_slice()).unwrap_or_default();
        match n.parent() {
            None => {
                let s = self.name(name);
                self.at(n.location().start());
                self.emit_wide(Op::ConstTop, 0, dst, s);
            }
            Some(p) => {
                let b = self.operand(&p);
                let s = self.name(name) as u16;
                self.at(n.name_loc().start());
                self.emit(Op::ConstAt, 0, dst, b, s);
            }
        }
    }

    /// The module register and name of a constant path that is assigned.
    pub fn const_parent(&mut self, n: &ConstantPathNode<'pr>) -> (u16, u16) {
        let name = n.name().map(|c| c.as_slice()).unwrap_or_default();
        self.const_parent_of(n.parent().as_ref(), name)
    }
    pub fn const_parent_of(&mut self, parent: Option<&Node<'pr>>, name: &[u8]) -> (u16, u16) {
        let t = self.temp();
        match parent {
            Some(p) => self.value(p, t),
            None => {
                let s = self.name(b"Object");
                self.emit_wide(Op::ConstTop, 0, t, s);
            }
        }
        (t, self.name(name) as u16)
    }

    // ---- operands

    /// A register that holds the node's value: a local's own one or a temporary.
    pub fn operand(&mut self, n: &Node<'pr>) -> u16 {
        self.operand_before(n, &[])
    }

    /// The same, when the nodes in `rest` run before the value is used.
    pub fn operand_before(&mut self, n: &Node<'pr>, rest: &[&Node<'pr>]) -> u16 {
        match n {
            Node::SelfNode { .. } => return 0,
            Node::LocalVariableReadNode { .. } => {
                if let Some(l) = n.as_local_variable_read_node()
                    && let Var::Reg(r) = self.var(l.name().as_slice(), l.depth())
                    && !rest.iter().any(|r| writes(r, l.name().as_slice()))
                {
                    return r;
                }
            }
            Node::ItLocalVariableReadNode { .. } => {
                if let Var::Reg(r) = self.it_var() {
                    return r;
                }
            }
            Node::ParenthesesNode { .. } => {
                if let Some(inner) = single(n) {
                    return self.operand_before(&inner, rest);
                }
            }
            _ => {}
        }
        self.top_value(n)
    }

    /// A fresh register on top that holds the node's value. Where the value is written last, the
    /// code may use the register itself and those above it on the way.
    pub fn top_value(&mut self, n: &Node<'pr>) -> u16 {
        let t = self.temp();
        if writes_last(n) && !makes_object(n) {
            self.release(t as u32);
            self.value(n, t);
            return self.temp();
        }
        self.value(n, t);
        t
    }

    /// The value of an assignment's right side: in `dst` when it is wanted afterwards.
    pub fn write_operand(&mut self, n: &Node<'pr>, dst: Option<u16>) -> u16 {
        match dst {
            Some(r) => {
                self.value(n, r);
                r
            }
            None => self.operand(n),
        }
    }

    /// Assigns a node's value to a local.
    pub fn local_write(&mut self, v: Var, value: &Node<'pr>, dst: Option<u16>) {
        match v {
            Var::Reg(r) => {
                if writes_last(value) {
                    self.value(value, r);
                } else {
                    let t = self.temp();
                    self.value(value, t);
                    self.mov(r, t);
                }
                if let Some(d) = dst {
                    self.mov(d, r);
                }
            }
            Var::Env { .. } => {
                let t = self.write_operand(value, dst);
                self.store(v, t);
            }
        }
    }

    /// A plain call of `name` on R[recv] with argument registers, result in `dst`.
    pub fn send_simple(&mut self, dst: u16, recv: u16, name: &[u8], args: &[u16]) {
        self.send_flags(dst, recv, name, args, 0);
    }
    pub fn send_flags(&mut self, dst: u16, recv: u16, name: &[u8], args: &[u16], flags: u16) {
        let mark = self.mark();
        let b = self.window();
        self.mov(b, recv);
        for &a in args {
            let t = self.temp();
            self.mov(t, a);
        }
        let mid = self.env.intern(name);
        let s = self.site(CallSite { mid, argc: args.len() as u16, flags, kw: Box::new([]), block: None });
        self.emit(Op::Send, 0, dst, b, s);
        self.release(mark);
    }
    /// R[dst] = intrinsic `name` of copies of registers: what compiled code counts and asks by itself, past all methods.
    pub fn ask(&mut self, dst: u16, name: &str, args: &[u16]) {
        let Some(i) = self.env.intrinsic(name) else { return self.fail(name) };
        let mark = self.mark();
        let regs: Vec<u16> = args.iter().map(|_| self.temp()).collect();
        for (&r, &a) in regs.iter().zip(args) {
            self.mov(r, a);
        }
        self.emit(Op::Intrinsic, args.len() as u8, dst, regs.first().copied().unwrap_or(0), i);
        self.release(mark);
    }
    /// R[dst] = true when R[a] is nil or false, else false; no method is asked.
    pub fn negate(&mut self, dst: u16, a: u16) {
        let (yes, end) = (self.label(), self.label());
        self.jump_on(Op::JmpUnless, 0, a, 0, yes);
        self.emit(Op::False, 0, dst, 0, 0);
        self.jump(end);
        self.bind(yes);
        self.emit(Op::True, 0, dst, 0, 0);
        self.bind(end);
    }
    /// A private call on self.
    pub fn send_self(&mut self, dst: u16, name: &[u8], args: &[u16]) {
        self.send_flags(dst, 0, name, args, site::FCALL);
    }
}

/// The only statement inside parentheses.
pub fn single<'pr>(n: &Node<'pr>) -> Option<Node<'pr>> {
    let body = n.as_parentheses_node()?.body()?;
    match body.as_statements_node() {
        Some(s) if s.body().len() == 1 => s.body().first(),
        Some(_) => None,
        None => Some(body),
    }
}

/// Whether `n` may assign the local `name`.
pub fn writes(n: &Node<'_>, name: &[u8]) -> bool {
    if pure(n) || matches!(n, Node::LocalVariableReadNode { .. } | Node::InstanceVariableReadNode { .. }) {
        return false;
    }
    let mut v = Writes { name, found: false };
    v.visit(n);
    v.found
}

/// No effect and no cost.
pub fn pure(n: &Node<'_>) -> bool {
    matches!(
        n,
        Node::NilNode { .. }
            | Node::TrueNode { .. }
            | Node::FalseNode { .. }
            | Node::IntegerNode { .. }
            | Node::FloatNode { .. }
            | Node::RationalNode { .. }
            | Node::ImaginaryNode { .. }
            | Node::StringNode { .. }
            | Node::SymbolNode { .. }
            | Node::SelfNode { .. }
            | Node::LambdaNode { .. }
            | Node::SourceFileNode { .. }
            | Node::SourceLineNode { .. }
            | Node::SourceEncodingNode { .. }
            | Node::ItLocalVariableReadNode { .. }
            | Node::BackReferenceReadNode { .. }
            | Node::NumberedReferenceReadNode { .. }
    )
}

/// Whether the node's code writes its destination only as its very last step,
/// so that the destination may be a local that the node reads.
pub fn writes_last(n: &Node<'_>) -> bool {
    match n {
        Node::ParenthesesNode { .. } => single(n).is_some_and(|i| writes_last(&i)),
        Node::CallNode { .. } => {
            n.as_call_node().is_some_and(|c| !c.is_attribute_write() && (c.name().as_slice() != b"[]=") && !c.is_safe_navigation())
        }
        Node::ArrayNode { .. } => n
            .as_array_node()
            .is_some_and(|a| a.elements().len() <= 100 && !a.elements().iter().any(|e| matches!(e, Node::SplatNode { .. }))),
        Node::HashNode { .. } => n
            .as_hash_node()
            .is_some_and(|a| a.elements().len() <= 50 && !a.elements().iter().any(|e| matches!(e, Node::AssocSplatNode { .. }))),
        Node::IfNode { .. } => {
            n.as_if_node().is_some_and(|i| last_writes_last(i.statements()) && i.subsequent().is_none_or(|s| writes_last(&s)))
        }
        Node::ElseNode { .. } => n.as_else_node().is_some_and(|e| last_writes_last(e.statements())),
        Node::ConstantPathNode { .. }
        | Node::ConstantReadNode { .. }
        | Node::InstanceVariableReadNode { .. }
        | Node::GlobalVariableReadNode { .. }
        | Node::ClassVariableReadNode { .. }
        | Node::LocalVariableReadNode { .. }
        | Node::RangeNode { .. }
        | Node::YieldNode { .. }
        | Node::SuperNode { .. }
        | Node::ForwardingSuperNode { .. }
        | Node::InterpolatedStringNode { .. }
        | Node::InterpolatedSymbolNode { .. }
        | Node::RegularExpressionNode { .. } => true,
        Node::SourceEncodingNode { .. } => false,
        _ => pure(n),
    }
}

/// A call of `new`: the loop's short path wants its result below the register window.
pub fn makes_object(n: &Node<'_>) -> bool {
    n.as_call_node().is_some_and(|c| c.name().as_slice() == b"new")
}

fn last_writes_last(s: Option<StatementsNode<'_>>) -> bool {
    s.is_none_or(|s| s.body().last().is_none_or(|l| writes_last(&l)))
}

/// Number of a back reference (`$&` and friends) as `Op::BackRef` counts them.
pub fn back_ref(name: &[u8]) -> u8 {
    match name {
        b"$&" => 1,
        b"$`" => 2,
        b"$'" => 3,
        b"$+" => 4,
        _ => 0,
    }
}
