//! Calls: windows, arguments, blocks, operators, `yield`, `super`, intrinsics.

use crate::Compiler;
use crate::scope::locals::Var;
use kumi_bytecode::{CallSite, Kind, Lit, Op, ParamKind, site};
use ruby_prism::*;

/// Arguments that have been put into a window.
#[derive(Default, Clone)]
pub struct Args {
    argc: u16,
    flags: u16,
    kw: Vec<kumi_heap::Sym>,
    block: Option<u16>,
}

/// Most arguments passed in registers of their own.
const MAX_DIRECT: usize = 100;

/// Can making the block argument change nothing? What stands before it may then be passed without a copy.
fn is_still(block: Option<&Node<'_>>) -> bool {
    let Some(arg) = block.and_then(|b| b.as_block_argument_node()) else { return true };
    arg.expression().is_none_or(|e| {
        matches!(
            e,
            Node::LocalVariableReadNode { .. } | Node::SymbolNode { .. } | Node::InstanceVariableReadNode { .. } | Node::NilNode { .. }
        )
    })
}

/// The instruction of a binary operator.
fn binary_op(name: &[u8]) -> Option<Op> {
    Some(match name {
        b"+" => Op::Add,
        b"-" => Op::Sub,
        b"*" => Op::Mul,
        b"/" => Op::Div,
        b"%" => Op::Mod,
        b"<" => Op::Lt,
        b"<=" => Op::Le,
        b">" => Op::Gt,
        b">=" => Op::Ge,
        b"==" => Op::Eq,
        b"!=" => Op::Neq,
        b"<<" => Op::Shl,
        b">>" => Op::Shr,
        b"&" => Op::And,
        b"|" => Op::Or,
        b"^" => Op::Xor,
        b"[]" => Op::Aref,
        _ => return None,
    })
}

impl<'e, 'pr> Compiler<'e, 'pr> {
    /// Sets the line that a backtrace names for this call.
    pub fn at_call(&mut self, n: &CallNode<'pr>) {
        let offset = n.message_loc().map_or(n.location().start(), |l| l.start());
        self.at(offset);
    }

    /// R[dst] = R[left] op value
    pub fn binary(&mut self, op: &[u8], dst: u16, left: u16, value: &Node<'pr>) {
        let mark = self.mark();
        let line = self.cur.cur_line;
        match (op, self.small_int(value).filter(|_| !self.refined())) {
            (b"+", Some(i)) => self.emit(Op::AddI, 0, dst, left, i as u16),
            (b"-", Some(i)) => self.emit(Op::SubI, 0, dst, left, i as u16),
            (b"[]", None) if !self.refined() && value.as_string_node().is_some() => {
                // A literal key: Hashes are asked with one String for all times, who else has a `[]` gets a copy.
                let Some(s) = value.as_string_node() else { return };
                let l = self.frozen_string(&s);
                let r = self.temp();
                self.load_lit(r, l);
                self.cur.cur_line = line;
                self.emit(Op::Aref, !s.is_frozen() as u8, dst, left, r);
            }
            _ => {
                let r = self.operand(value);
                self.cur.cur_line = line;
                match binary_op(op).filter(|_| !self.refined()) {
                    Some(o) => self.emit(o, 0, dst, left, r),
                    None => self.send_simple(dst, left, op, &[r]),
                }
            }
        }
        self.release(mark);
    }

    /// May refinements be in force? Then no operator has an instruction of its own, which would not look for them.
    pub fn refined(&self) -> bool {
        self.an.refined || self.opts.refined
    }
    /// R[t] = R[pattern] === R[value]
    pub fn case_equal(&mut self, t: u16, pattern: u16, value: u16) {
        if self.refined() { self.send_simple(t, pattern, b"===", &[value]) } else { self.emit(Op::CaseEq, 0, t, pattern, value) }
    }
    /// R[t] = R[recv][R[index]]
    pub fn index_get(&mut self, t: u16, recv: u16, index: u16) {
        if self.refined() { self.send_simple(t, recv, b"[]", &[index]) } else { self.emit(Op::Aref, 0, t, recv, index) }
    }
    /// R[recv][R[index]] = R[value]
    pub fn index_set(&mut self, recv: u16, index: u16, value: u16) {
        if !self.refined() {
            return self.emit(Op::Aset, 0, recv, index, value);
        }
        let mark = self.mark();
        let t = self.temp();
        self.send_flags(t, recv, b"[]=", &[index, value], site::ASSIGN);
        self.release(mark);
    }

    /// A literal integer of 16 bits.
    pub fn small_int(&self, n: &Node<'pr>) -> Option<i16> {
        let i: i32 = n.as_integer_node()?.value().try_into().ok()?;
        i16::try_from(i).ok()
    }

    /// In the library's code an operator behind a dot is a call, never the loop's short cut: a program's definition counts.
    pub fn dotted(&self, n: &CallNode<'pr>) -> bool {
        self.opts.system && n.call_operator_loc().is_some() && binary_op(n.name().as_slice()).is_some()
    }
    /// Any call; without `dst` only for its effect.
    pub fn call_node(&mut self, n: &CallNode<'pr>, dst: Option<u16>) {
        let name = n.name().as_slice();
        let recv = n.receiver();
        let mut args: Vec<Node<'pr>> = n.arguments().map(|a| a.arguments().iter().collect()).unwrap_or_default();
        if recv.is_none() && self.bare_call(n, name, &args, dst) {
            return;
        }
        if n.is_attribute_write() {
            return self.attribute_write(n, args, dst);
        }
        let plain = n.block().is_none() && !n.is_safe_navigation() && !self.refined();
        if plain && self.listed(n, name, &args, dst) || self.own_block_call(n, &mut args, dst) {
            return;
        }
        let plain = plain && !self.dotted(n);
        if let (Some(r), true) = (&recv, plain) {
            match (&args[..], name) {
                ([], b"!") => {
                    let a = self.operand(r);
                    let d = dst.unwrap_or_else(|| self.temp());
                    self.at_call(n);
                    // The library's own tests are no calls of what a program makes of `!`.
                    return if self.opts.system { self.negate(d, a) } else { self.emit(Op::Not, 0, d, a, 0) };
                }
                ([], b"-@") => {
                    let a = self.operand(r);
                    let d = dst.unwrap_or_else(|| self.temp());
                    self.at_call(n);
                    return self.emit(Op::Neg, 0, d, a, 0);
                }
                ([], b"freeze") if matches!(r, Node::StringNode { .. }) => {
                    if let Some(s) = r.as_string_node() {
                        let d = dst.unwrap_or_else(|| self.temp());
                        let l = self.frozen_string(&s);
                        return self.load_lit(d, l);
                    }
                }
                ([arg], _)
                    if binary_op(name).is_some()
                        && !matches!(arg, Node::SplatNode { .. } | Node::KeywordHashNode { .. } | Node::ForwardingArgumentsNode { .. }) =>
                {
                    let a = self.operand_before(r, &[arg]);
                    let d = dst.unwrap_or_else(|| self.temp());
                    self.at_call(n);
                    return self.binary(name, d, a, arg);
                }
                _ => {}
            }
        }
        let made = match &recv {
            Some(r) if crate::nodes::expr::makes_object(r) => Some(self.top_value(r)),
            _ => None,
        };
        let mark = self.mark();
        let b = self.window();
        let mut flags = 0;
        match &recv {
            Some(_) if made.is_some() => self.mov(b, made.unwrap_or(0)),
            Some(r) => {
                // The window's header is free while the receiver is computed: chained calls share it.
                if crate::nodes::expr::writes_last(r) {
                    self.release(mark);
                    self.value(r, b);
                    self.cur.next = b as u32 + 1;
                } else {
                    self.value(r, b);
                }
                flags |= self.self_flag(Some(r));
            }
            None => {
                self.mov(b, 0);
                flags |= site::FCALL;
            }
        }
        if n.is_variable_call() {
            flags |= site::VCALL | site::FCALL;
        }
        let (nil, end) = (self.label(), self.label());
        if n.is_safe_navigation() {
            self.jump_on(Op::JmpNil, 0, b, 0, nil);
        }
        let a = self.arguments(&mut args, n.block());
        self.at_call(n);
        let d = dst.unwrap_or(b);
        let mid = self.env.intern(name);
        self.send(Op::Send, d, b, mid, a, flags);
        if n.is_safe_navigation() {
            if let Some(d) = dst {
                self.jump(end);
                self.bind(nil);
                self.nil(d);
            } else {
                self.bind(nil);
            }
            self.bind(end);
        }
    }

    /// `[a, b].max` and the like: an intrinsic finds the answer among the registers; where it does not, it makes the Array and calls
    /// the method. `false`: no such call.
    fn listed(&mut self, n: &CallNode<'pr>, name: &[u8], args: &[Node<'pr>], dst: Option<u16>) -> bool {
        let Some(list) = n.receiver().and_then(|r| r.as_array_node()) else { return false };
        let native = match (name, args.len()) {
            (b"max", 0) => "__list_max",
            (b"min", 0) => "__list_min",
            (b"hash", 0) => "__list_hash",
            (b"include?", 1) => "__list_include",
            _ => return false,
        };
        let parts: Vec<Node<'pr>> = list.elements().iter().collect();
        let odd = |n: &Node<'pr>| matches!(n, Node::SplatNode { .. } | Node::KeywordHashNode { .. } | Node::ForwardingArgumentsNode { .. });
        // What would be one constant Array is asked as an Array: its method compares in another order.
        let fixed = |n: &Node<'pr>| {
            matches!(
                n,
                Node::IntegerNode { .. }
                    | Node::FloatNode { .. }
                    | Node::SymbolNode { .. }
                    | Node::NilNode { .. }
                    | Node::TrueNode { .. }
                    | Node::FalseNode { .. }
            )
        };
        if matches!(name, b"max" | b"min") && parts.iter().all(fixed) {
            return false;
        }
        if parts.len() + args.len() > MAX_DIRECT || parts.iter().any(odd) || args.iter().any(odd) {
            return false;
        }
        let Some(i) = self.env.intrinsic(native) else { return false };
        let first = self.mark() as u16;
        for n in parts.iter().chain(args) {
            let t = self.temp();
            self.value(n, t);
        }
        let count = parts.len() + args.len();
        let d = match dst {
            Some(d) => d,
            None if count > 0 => first,
            None => self.temp(),
        };
        self.at_call(n);
        self.emit(Op::Intrinsic, count as u8, d, first, i);
        true
    }

    /// `block.call(..)` of the method's own block, which is otherwise only handed on: a `yield`, without a Proc, where the block was
    /// written at the call and `Proc#call` is the runtime's. `false`: no such call.
    fn own_block_call(&mut self, n: &CallNode<'pr>, args: &mut Vec<Node<'pr>>, dst: Option<u16>) -> bool {
        let Some(l) = crate::scope::called_local(n) else { return false };
        if l.depth() != 0 || self.cur.raw_block.as_deref() != Some(l.name().as_slice()) {
            return false;
        }
        self.uses_block();
        let b = self.window();
        let a = self.arguments(args, None);
        let d = dst.unwrap_or(b);
        let t = self.temp();
        let (make, end) = (self.label(), self.label());
        self.at_call(n);
        if !self.refined() {
            self.emit(Op::BlockGiven, 1, t, 0, 0);
            self.jump_on(Op::JmpUnless, 0, t, 0, make);
            let of_yield = self.env.intern(b"yield");
            self.send(Op::Yield, d, b, of_yield, a.clone(), 0);
            self.jump(end);
        }
        self.bind(make);
        self.emit(Op::BlockProc, 0, b, 0, 0);
        let of_call = self.env.intern(b"call");
        self.send(Op::Send, d, b, of_call, a, 0);
        self.bind(end);
        true
    }

    /// Emits the call itself.
    fn send(&mut self, op: Op, dst: u16, b: u16, mid: kumi_heap::Sym, a: Args, flags: u16) {
        let s = self.site(CallSite { mid, argc: a.argc, flags: a.flags | flags, kw: a.kw.into(), block: a.block });
        self.emit(op, 0, dst, b, s);
    }

    /// Calls without receiver that are instructions; `false` when it is none.
    fn bare_call(&mut self, n: &CallNode<'pr>, name: &[u8], args: &[Node<'pr>], dst: Option<u16>) -> bool {
        if name == b"block_given?" && args.is_empty() && n.block().is_none() {
            let d = dst.unwrap_or_else(|| self.temp());
            self.emit(Op::BlockGiven, 0, d, 0, 0);
            return true;
        }
        if !name.starts_with(b"__") || !(self.opts.system || self.opts.library) {
            return false;
        }
        // What reads a rest parameter that may stand for itself is not what reads an Array.
        let passed = args.first().and_then(|n| n.as_local_variable_read_node()).is_some_and(|l| self.passes(&l));
        let name = match name {
            b"__ary_len" if passed => b"__rest_len".as_slice(),
            b"__ary_at" if passed => b"__rest_at",
            b"__pack" if passed => b"__rest_pack",
            b"__rest" if passed => b"__rest_list",
            _ => name,
        };
        let Some(i) = std::str::from_utf8(name).ok().and_then(|s| self.env.intrinsic(s)) else { return false };
        let odd = |a: &Node<'pr>| matches!(a, Node::SplatNode { .. } | Node::KeywordHashNode { .. } | Node::ForwardingArgumentsNode { .. });
        if n.block().is_some() || args.iter().any(odd) || args.len() > 255 {
            self.at_call(n);
            let m = format!("intrinsic {} takes plain arguments only", String::from_utf8_lossy(name));
            self.fail(&m);
            return true;
        }
        let regs: Vec<u16> = args.iter().map(|_| self.temp()).collect();
        for (a, &r) in args.iter().zip(&regs) {
            self.value(a, r);
        }
        let d = dst.unwrap_or_else(|| self.temp());
        self.at_call(n);
        self.emit(Op::Intrinsic, args.len() as u8, d, regs.first().copied().unwrap_or(0), i);
        true
    }

    /// `a.b = c`, `a[b] = c`: the value is that of the right side.
    fn attribute_write(&mut self, n: &CallNode<'pr>, mut args: Vec<Node<'pr>>, dst: Option<u16>) {
        let name = n.name().as_slice();
        let recv = n.receiver();
        let safe = n.is_safe_navigation();
        let odd = args.iter().any(|a| matches!(a, Node::SplatNode { .. } | Node::KeywordHashNode { .. }));
        let special = safe || odd || self.refined();
        if let (Some(r), b"[]=", [index, value], false, None) = (&recv, name, &args[..], special, n.block()) {
            let a = self.operand_before(r, &[index, value]);
            let b = self.operand_before(index, &[value]);
            let c = self.write_operand(value, dst);
            self.at_call(n);
            return self.emit(Op::Aset, 0, a, b, c);
        }
        let b = self.window();
        match &recv {
            Some(r) => self.value(r, b),
            None => self.mov(b, 0),
        }
        let (nil, end) = (self.label(), self.label());
        if safe {
            self.jump_on(Op::JmpNil, 0, b, 0, nil);
        }
        let flags = self.self_flag(recv.as_ref()) | site::ASSIGN;
        let a = if odd {
            let value = args.pop();
            let list = self.temp();
            self.array(&args, list, true);
            let mark = self.mark();
            let v = dst.unwrap_or_else(|| self.temp());
            match value {
                Some(ref v_node) => self.value(v_node, v),
                None => self.nil(v),
            }
            self.emit(Op::ArrPush, 0, list, v, 0);
            self.release(mark);
            let mut none = Vec::new();
            let mut a = self.arguments(&mut none, n.block());
            a.argc = 1;
            a.flags |= site::SPLAT;
            a
        } else {
            let last = b + args.len() as u16;
            let a = self.arguments(&mut args, n.block());
            if let Some(d) = dst {
                if a.flags & site::SPLAT != 0 {
                    self.nil(d);
                    self.fail("too many arguments of an index assignment");
                } else {
                    self.mov(d, last);
                }
            }
            a
        };
        self.at_call(n);
        let mid = self.env.intern(name);
        self.send(Op::Send, b, b, mid, a, flags);
        if safe {
            self.jump(end);
            self.bind(nil);
            if let Some(d) = dst {
                self.nil(d);
            }
            self.bind(end);
        }
    }

    /// Puts arguments and block into the window whose receiver register is on top.
    pub fn arguments(&mut self, args: &mut Vec<Node<'pr>>, block: Option<Node<'pr>>) -> Args {
        let mut a = Args::default();
        let forwards = matches!(args.last(), Some(Node::ForwardingArgumentsNode { .. }));
        if forwards {
            args.pop();
        }
        let keywords = match args.last() {
            Some(n @ Node::KeywordHashNode { .. }) => {
                let k = n.as_keyword_hash_node();
                args.pop();
                k
            }
            _ => None,
        };
        let splat = forwards || args.len() > MAX_DIRECT || args.iter().any(|n| matches!(n, Node::SplatNode { .. }));
        if splat {
            let list = self.temp();
            let last_of_all = keywords.is_none() && is_still(block.as_ref());
            if forwards && args.is_empty() {
                self.load_anonymous(b"*", list);
            } else if let Some(v) = self.passed_rest(args) {
                self.load(v, list);
                a.flags |= site::PASSED;
            } else {
                self.array(args, list, !last_of_all);
                if forwards {
                    let mark = self.mark();
                    let t = self.temp();
                    self.load_anonymous(b"*", t);
                    self.emit(Op::ArrCat, 0, list, t, 0);
                    self.release(mark);
                }
            }
            a.argc = 1;
            a.flags |= site::SPLAT;
        } else {
            for n in args.iter() {
                self.top_value(n);
            }
            a.argc = args.len() as u16;
        }
        if let (Some(k), true) = (&keywords, forwards) {
            let t = self.temp();
            let elements: Vec<Node<'pr>> = k.elements().iter().collect();
            self.hash(&elements, t);
            let mark = self.mark();
            let rest = self.temp();
            self.load_anonymous(b"**", rest);
            self.emit(Op::HashMerge, 0, t, rest, 0);
            self.release(mark);
            a.flags |= site::KWSPLAT;
        } else if let Some(k) = keywords {
            self.keywords(&k, block.as_ref(), &mut a);
        } else if forwards {
            let t = self.temp();
            self.load_anonymous(b"**", t);
            a.flags |= site::KWSPLAT | site::KW_ANON;
        }
        match block {
            Some(ref n @ Node::BlockNode { .. }) => {
                if let Some(bl) = n.as_block_node() {
                    a.block = Some(self.block_child(&bl));
                }
            }
            Some(ref n) => {
                if let Some(ba) = n.as_block_argument_node() {
                    let t = self.temp();
                    a.flags |= site::BLOCK_ARG | self.block_argument(&ba, t);
                }
            }
            None if forwards => {
                let t = self.temp();
                self.emit(Op::BlockRaw, 0, t, 0, 0);
                a.flags |= site::BLOCK_ARG | site::RAW_BLOCK;
            }
            None => {}
        }
        a
    }

    /// `*rest` alone, where `rest` is a parameter that is only passed on (`Params::passes`).
    fn passed_rest(&mut self, args: &[Node<'pr>]) -> Option<Var> {
        let [only] = args else { return None };
        let Some(e) = only.as_splat_node()?.expression() else {
            let scope = &self.an.scopes[self.anonymous_scope(b"*")?];
            return if self.opts.system && scope.passes(b"*") { self.anonymous(b"*") } else { None };
        };
        let l = e.as_local_variable_read_node()?;
        self.passes(&l).then(|| self.var(l.name().as_slice(), l.depth()))
    }

    /// Is the local a rest parameter that is only passed on?
    fn passes(&self, l: &LocalVariableReadNode<'pr>) -> bool {
        let (name, depth) = (l.name().as_slice(), l.depth());
        let Ok(s) = self.scope_up(depth) else { return false };
        let scope = &self.an.scopes[s];
        let rest = scope.params.list.iter().any(|p| p.kind == ParamKind::Rest && p.name == name);
        self.opts.system && rest && scope.passes(name)
    }

    /// The value of `&e`; the flag of the site when it is the frame's own block.
    fn block_argument(&mut self, n: &BlockArgumentNode<'pr>, t: u16) -> u16 {
        let Some(e) = n.expression() else {
            if let Some(v) = self.anonymous(b"&") {
                self.load(v, t);
                return 0;
            }
            self.emit(Op::BlockRaw, 0, t, 0, 0);
            return site::RAW_BLOCK;
        };
        if let Some(l) = e.as_local_variable_read_node()
            && l.depth() == 0
            && self.cur.raw_block.as_deref() == Some(l.name().as_slice())
        {
            self.emit(Op::BlockRaw, 0, t, 0, 0);
            return site::RAW_BLOCK;
        }
        self.value(&e, t);
        0
    }

    fn keywords(&mut self, k: &KeywordHashNode<'pr>, block: Option<&Node<'pr>>, a: &mut Args) {
        let elements: Vec<Node<'pr>> = k.elements().iter().collect();
        let key = |n: &Node<'pr>| -> Option<Vec<u8>> { Some(n.as_assoc_node()?.key().as_symbol_node()?.unescaped().to_vec()) };
        let keys: Vec<Option<Vec<u8>>> = elements.iter().map(key).collect();
        if elements.len() <= MAX_DIRECT && keys.iter().all(|k| k.is_some()) {
            for (i, n) in elements.iter().enumerate() {
                let Some(v) = n.as_assoc_node().map(|n| n.value()) else { continue };
                if keys[i + 1..].contains(&keys[i]) {
                    // A later value of the same key wins.
                    self.node(&v, crate::emit::Dst::Void);
                    continue;
                }
                let t = self.temp();
                self.value(&v, t);
                let name = self.env.intern(keys[i].as_deref().unwrap_or_default());
                a.kw.push(name);
            }
            return;
        }
        let t = self.temp();
        a.flags |= site::KWSPLAT;
        if let [one] = &elements[..]
            && one.as_assoc_splat_node().is_some_and(|s| s.value().is_none())
        {
            self.load_anonymous(b"**", t);
            a.flags |= site::KW_ANON;
            return;
        }
        if let [one] = &elements[..]
            && let Some(v) = one.as_assoc_splat_node().and_then(|s| s.value())
            && is_still(block)
        {
            let mark = self.mark();
            let r = self.operand(&v);
            self.emit(Op::HashMerge, 1, t, r, 0);
            self.release(mark);
            a.flags |= site::KW_ANON;
            return;
        }
        self.hash(&elements, t);
    }

    /// Whether a `yield` here has a method to belong to.
    fn can_yield(&self) -> bool {
        for f in std::iter::once(&self.cur).chain(self.outer.iter().rev()) {
            match f.kind {
                Kind::Method | Kind::Top => return true,
                Kind::Class => return false,
                Kind::Eval => return self.opts.eval_in_method,
                Kind::Block | Kind::Lambda => {}
            }
        }
        true
    }

    pub fn yield_node(&mut self, n: &YieldNode<'pr>, dst: u16) {
        if !self.can_yield() {
            self.at(n.location().start());
            self.fail("Invalid yield");
        }
        self.uses_block();
        let b = self.window();
        let mut args: Vec<Node<'pr>> = n.arguments().map(|a| a.arguments().iter().collect()).unwrap_or_default();
        let a = self.arguments(&mut args, None);
        self.at(n.location().start());
        let mid = self.env.intern(b"yield");
        self.send(Op::Yield, dst, b, mid, a, 0);
    }

    /// The name of the method that a `super` here continues.
    fn super_name(&mut self) -> (kumi_heap::Sym, bool) {
        let (name, inside) = match self.method_fun() {
            Some((f, inside)) => (f.label.to_string(), inside),
            None => (String::new(), self.cur.block_depth > self.opts.block_depth),
        };
        (self.env.intern(name.as_bytes()), inside)
    }

    /// The frame's own block goes on to the next method unless another one is given.
    fn own_block(&mut self, a: &mut Args) {
        if a.block.is_none() && a.flags & site::BLOCK_ARG == 0 {
            self.uses_block();
            let t = self.temp();
            self.emit(Op::BlockRaw, 0, t, 0, 0);
            a.flags |= site::BLOCK_ARG | site::RAW_BLOCK;
        }
    }

    pub fn super_node(&mut self, n: &SuperNode<'pr>, dst: u16) {
        let b = self.window();
        self.mov(b, 0);
        let mut args: Vec<Node<'pr>> = n.arguments().map(|a| a.arguments().iter().collect()).unwrap_or_default();
        let mut a = self.arguments(&mut args, n.block());
        self.own_block(&mut a);
        let (mid, _) = self.super_name();
        self.at(n.location().start());
        self.send(Op::Super, dst, b, mid, a, site::FCALL);
    }

    /// `super` without parentheses: the current values of the method's parameters.
    pub fn zsuper_node(&mut self, n: &ForwardingSuperNode<'pr>, dst: u16) {
        let b = self.window();
        self.mov(b, 0);
        let list = self.passed_params();
        let mut a = Args::default();
        let positional: Vec<_> =
            list.iter().filter(|p| matches!(p.0, ParamKind::Req | ParamKind::Opt | ParamKind::Rest | ParamKind::Post)).collect();
        if let [(ParamKind::Rest, _, v)] = positional[..] {
            // The callee's rest is a copy; nothing comes between that could change this one.
            let t = self.temp();
            self.load(*v, t);
            self.emit(Op::Splat, 0, t, t, 0);
            a.argc = 1;
            a.flags |= site::SPLAT;
        } else if positional.iter().any(|p| p.0 == ParamKind::Rest) || positional.len() > MAX_DIRECT {
            let arr = self.temp();
            self.emit(Op::Array, 0, arr, arr, 0);
            let t = self.temp();
            for (kind, _, v) in positional {
                self.load(*v, t);
                if *kind == ParamKind::Rest {
                    self.emit(Op::Splat, 0, t, t, 0);
                    self.emit(Op::ArrCat, 0, arr, t, 0);
                } else {
                    self.emit(Op::ArrPush, 0, arr, t, 0);
                }
            }
            self.release(t as u32);
            a.argc = 1;
            a.flags |= site::SPLAT;
        } else {
            a.argc = positional.len() as u16;
            for (_, _, v) in positional {
                let t = self.temp();
                self.load(*v, t);
            }
        }
        let kws: Vec<_> = list.iter().filter(|p| matches!(p.0, ParamKind::KwReq | ParamKind::KwOpt)).collect();
        let kwrest = list.iter().find(|p| p.0 == ParamKind::KwRest);
        if let (Some((_, _, v)), true) = (kwrest, kws.is_empty()) {
            let (t, r) = (self.temp(), self.temp());
            self.load(*v, r);
            self.emit(Op::HashMerge, 1, t, r, 0);
            self.release(r as u32);
            a.flags |= site::KWSPLAT | site::KW_ANON;
        } else if kwrest.is_some() || kws.len() > MAX_DIRECT {
            let h = self.temp();
            self.emit(Op::Hash, 0, h, h, 0);
            let (k, v) = (self.temp(), self.temp());
            if let Some((_, _, var)) = kwrest {
                self.load(*var, v);
                self.emit(Op::HashMerge, 0, h, v, 0);
            }
            for (_, name, var) in kws {
                self.load_sym(k, name);
                self.load(*var, v);
                self.emit(Op::HashPut, 0, h, k, v);
            }
            self.release(k as u32);
            a.flags |= site::KWSPLAT;
        } else {
            for (_, name, var) in kws {
                let t = self.temp();
                self.load(*var, t);
                let s = self.env.intern(name);
                a.kw.push(s);
            }
        }
        if let Some(bl) = n.block() {
            a.block = Some(self.block_child(&bl));
        }
        self.own_block(&mut a);
        let (mid, inside) = self.super_name();
        self.at(n.location().start());
        let flags = site::FCALL | site::ZSUPER | if inside { site::IN_BLOCK } else { 0 };
        self.send(Op::Super, dst, b, mid, a, flags);
    }

    /// A string literal as the same frozen object each time.
    pub fn frozen_string(&mut self, n: &StringNode<'pr>) -> Lit {
        let enc = self.string_encoding(n);
        Lit::FrozenStr(n.unescaped().into(), enc)
    }
}
