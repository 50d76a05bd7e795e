//! The code buffer of one body: instructions, labels, registers and tables.
//!
//! Invariant: registers below `next` are live; temporaries are taken and given
//! back like a stack, so a register window on top never overlaps a live value.

pub(crate) mod births;
pub(crate) mod dry;
pub(crate) mod frame;

use crate::Compiler;
use crate::scope::{Name, ParamList, ScopeId};
use kumi_bytecode::{Body, CallSite, HEADER, Handler, ISeq, Insn, Kind, Lit, NO_REG, Op, Params};
use kumi_heap::Sym;
use ruby_prism::EnsureNode;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A place to jump to, bound once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(usize);

/// Where a value goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dst {
    /// Into this register, which the code being compiled does not read.
    Reg(u16),
    /// Nowhere: only the effect counts.
    Void,
    /// Out of the body: its result.
    Tail,
}

/// An active construct.
pub enum Ctl<'pr> {
    /// `while`, `until`; `break` puts its value into `dst`.
    Loop { brk: Label, next: Label, redo: Label, dst: Option<u16> },
    /// Code under a rescue handler.
    Region { gaps: Vec<(u32, u32)> },
    /// Inside a rescue clause.
    RescueBody { saved: u16, retry: Label },
    /// Code under an ensure handler.
    Ensure { node: Rc<EnsureNode<'pr>>, gaps: Vec<(u32, u32)> },
    /// Ensure code that runs while something unwinds.
    EnsureBody { saved: Option<u16> },
}

/// One body under construction.
pub struct Fun<'pr> {
    pub scope: ScopeId,
    pub kind: Kind,
    pub label: Arc<str>,
    pub block_depth: u16,
    pub line: u32,
    pub code: Vec<u64>,
    pub lines: Vec<(u32, u32)>,
    /// See `ISeq::starts`, with the line of the last statement.
    pub starts: Vec<u32>,
    pub start_line: u32,
    pub entry: u32,
    pub end_line: u32,
    /// In a `return`: what leaves the body is on its line, not on that of the end.
    pub returning: bool,
    pub cur_line: u32,
    pub syms: Vec<Sym>,
    sym_index: HashMap<Sym, u32>,
    pub lits: Vec<Lit>,
    sym_lits: HashMap<Sym, u32>,
    pub sites: Vec<CallSite>,
    pub children: Vec<Arc<ISeq>>,
    pub bodies: Vec<Body>,
    pub handlers: Vec<Handler>,
    pub once: u32,
    labels: Vec<Option<u32>>,
    fixups: Vec<(u32, Label)>,
    /// Registers of the locals that live in registers.
    pub regs: HashMap<Name, u16>,
    pub next: u32,
    pub max: u32,
    pub ctl: Vec<Ctl<'pr>>,
    pub params: Params,
    pub plist: ParamList,
    /// Where `redo` of a block goes.
    pub redo: Option<Label>,
    /// A block parameter that is only handed on and so never made into a Proc.
    pub raw_block: Option<Name>,
    /// The scope's environment is not made yet: its locals are in registers.
    pub dry: bool,
    /// See `ISeq::uses_block`.
    pub uses_block: bool,
}

impl Fun<'_> {
    /// Its text is evaluated in so many blocks.
    pub fn in_blocks(mut self, depth: u16) -> Self {
        self.block_depth = depth;
        self
    }
    pub fn new(scope: ScopeId, kind: Kind, label: Arc<str>, line: u32) -> Self {
        Fun {
            scope,
            kind,
            label,
            block_depth: 0,
            line,
            code: Vec::new(),
            lines: Vec::new(),
            starts: Vec::new(),
            start_line: 0,
            entry: 0,
            end_line: line,
            returning: false,
            cur_line: line,
            syms: Vec::new(),
            sym_index: HashMap::new(),
            lits: Vec::new(),
            sym_lits: HashMap::new(),
            sites: Vec::new(),
            children: Vec::new(),
            bodies: Vec::new(),
            handlers: Vec::new(),
            once: 0,
            labels: Vec::new(),
            fixups: Vec::new(),
            regs: HashMap::new(),
            next: 1,
            max: 1,
            ctl: Vec::new(),
            params: Params::default(),
            plist: ParamList::default(),
            redo: None,
            raw_block: None,
            dry: false,
            uses_block: false,
        }
    }
}

/// Most registers, literals, names or sites of one body.
const LIMIT: u32 = 65_000;

impl<'e, 'pr> Compiler<'e, 'pr> {
    /// The next instruction's pc.
    pub fn pc(&self) -> u32 {
        self.cur.code.len() as u32
    }
    fn push(&mut self, i: Insn) {
        let pc = self.pc();
        let line = self.cur.cur_line;
        if self.cur.lines.last().is_none_or(|l| l.1 != line) {
            self.cur.lines.push((pc, line));
        }
        self.cur.code.push(i.0);
        if i.op().cached() {
            self.cur.code.push(0);
        }
        if self.cur.code.len() > 20_000_000 {
            self.fail("program too large");
        }
    }
    pub fn emit(&mut self, op: Op, x: u8, a: u16, b: u16, c: u16) {
        self.push(Insn::new(op, x, a, b, c));
    }
    pub fn emit_wide(&mut self, op: Op, x: u8, a: u16, bc: u32) {
        self.push(Insn::wide(op, x, a, bc as i32));
    }
    /// R[a] = R[b], unless they are the same.
    pub fn mov(&mut self, a: u16, b: u16) {
        if a != b {
            self.emit(Op::Move, 0, a, b, 0);
        }
    }
    pub fn nil(&mut self, a: u16) {
        self.emit(Op::Nil, 0, a, 0, 0);
    }
    /// A statement begins here.
    pub fn statement(&mut self, n: &ruby_prism::Node<'pr>) {
        let line = self.cur.cur_line;
        let whole = n.as_begin_node().is_none() && n.as_parentheses_node().is_none();
        if whole && !self.opts.system && line != self.cur.start_line {
            self.cur.start_line = line;
            let pc = self.pc();
            if self.cur.starts.last() != Some(&pc) {
                self.cur.starts.push(pc);
            }
        }
    }
    /// A rescue clause begins here.
    pub fn clause(&mut self) {
        if !self.opts.system {
            let pc = self.pc();
            self.cur.starts.push(pc | kumi_bytecode::START_RESCUE);
        }
    }
    pub fn ret(&mut self, a: u16) {
        let x = self.cur.returning as u8;
        self.emit(Op::Ret, x, a, 0, 0);
    }

    pub fn label(&mut self) -> Label {
        self.cur.labels.push(None);
        Label(self.cur.labels.len() - 1)
    }
    pub fn bind(&mut self, l: Label) {
        let pc = self.pc();
        self.cur.labels[l.0] = Some(pc);
    }
    /// A label bound right here.
    pub fn here(&mut self) -> Label {
        let l = self.label();
        self.bind(l);
        l
    }
    /// A label's pc, once it is bound.
    pub fn label_pc(&self, l: Label) -> u32 {
        self.cur.labels[l.0].unwrap_or(0)
    }
    pub fn jump(&mut self, l: Label) {
        self.jump_on(Op::Jmp, 0, 0, 0, l);
    }
    /// A jumping instruction whose offset is filled in by [`Self::patch`].
    pub fn jump_on(&mut self, op: Op, x: u8, a: u16, b: u16, l: Label) {
        let pc = self.pc();
        self.cur.fixups.push((pc, l));
        self.emit(op, x, a, b, 0);
    }
    /// Fills in the offsets of all jumps.
    pub fn patch(&mut self) {
        for (pc, l) in std::mem::take(&mut self.cur.fixups) {
            let i = Insn(self.cur.code[pc as usize]);
            let target = self.cur.labels[l.0].unwrap_or(pc) as i64;
            let off = target - (pc as i64 + 1 + i.op().cached() as i64);
            let word = match i.op() {
                Op::Jmp | Op::JmpIf | Op::JmpUnless | Op::JmpNil | Op::JmpSet => Insn::wide(i.op(), i.x(), i.a() as u16, off as i32),
                op => {
                    if i16::try_from(off).is_err() {
                        self.need_far = true;
                    }
                    Insn::new(op, i.x(), i.a() as u16, i.b() as u16, off as i16 as u16)
                }
            };
            self.cur.code[pc as usize] = word.0;
        }
    }

    pub fn mark(&self) -> u32 {
        self.cur.next
    }
    pub fn release(&mut self, mark: u32) {
        self.cur.next = mark;
    }
    /// A fresh register on top.
    pub fn temp(&mut self) -> u16 {
        if self.cur.next >= LIMIT {
            self.fail("too many values at once for one method (65,000 registers)");
            return NO_REG - 1;
        }
        let r = self.cur.next as u16;
        self.cur.next += 1;
        self.cur.max = self.cur.max.max(self.cur.next);
        r
    }
    /// A fresh register window; returns its receiver register.
    pub fn window(&mut self) -> u16 {
        self.cur.next += HEADER as u32;
        self.temp()
    }

    /// Index of a symbol in the body's names.
    pub fn sym(&mut self, s: Sym) -> u32 {
        if let Some(&i) = self.cur.sym_index.get(&s) {
            return i;
        }
        let i = self.cur.syms.len() as u32;
        if i >= LIMIT {
            self.fail("too many names in one method");
            return 0;
        }
        self.cur.syms.push(s);
        self.cur.sym_index.insert(s, i);
        i
    }
    /// The same, from its bytes.
    pub fn name(&mut self, n: &[u8]) -> u32 {
        let s = self.own_name(n);
        self.sym(s)
    }
    /// A name's symbol. The helper module has another name than its texts say, which no program can write.
    pub fn own_name(&mut self, n: &[u8]) -> Sym {
        let own = n == kumi_bytecode::HELPERS.as_bytes() && (self.opts.system || self.opts.library);
        self.env.intern(if own { kumi_bytecode::HELPERS_KEY.as_bytes() } else { n })
    }
    /// Index of a literal.
    pub fn lit(&mut self, l: Lit) -> u32 {
        if let Lit::Sym(s) = l {
            if let Some(&i) = self.cur.sym_lits.get(&s) {
                return i;
            }
            self.cur.sym_lits.insert(s, self.cur.lits.len() as u32);
        }
        self.cur.lits.push(l);
        self.cur.lits.len() as u32 - 1
    }
    /// R[a] = a literal.
    pub fn load_lit(&mut self, a: u16, l: Lit) {
        match l {
            Lit::Nil => self.nil(a),
            Lit::True => self.emit(Op::True, 0, a, 0, 0),
            Lit::False => self.emit(Op::False, 0, a, 0, 0),
            Lit::Int(i) if i32::try_from(i).is_ok() => self.emit_wide(Op::Int, 0, a, i as i32 as u32),
            Lit::Str(..) => {
                let i = self.lit(l);
                self.emit_wide(Op::Str, 0, a, i);
            }
            _ => {
                let i = self.lit(l);
                self.emit_wide(Op::Lit, 0, a, i);
            }
        }
    }
    /// R[a] = a symbol.
    pub fn load_sym(&mut self, a: u16, name: &[u8]) {
        let s = self.env.intern(name);
        self.load_lit(a, Lit::Sym(s));
    }
    /// R[a] = a frozen ASCII string.
    pub fn load_text(&mut self, a: u16, text: &str) {
        self.load_lit(a, Lit::FrozenStr(text.as_bytes().into(), kumi_text::EncIndex::US_ASCII));
    }
    /// Adds a call site.
    pub fn site(&mut self, s: CallSite) -> u16 {
        if self.cur.sites.len() as u32 >= LIMIT {
            self.fail("too many calls in one method");
            return 0;
        }
        self.cur.sites.push(s);
        self.cur.sites.len() as u16 - 1
    }
    /// Adds a nested body.
    pub fn child(&mut self, c: Arc<ISeq>) -> u16 {
        if self.cur.children.len() as u32 >= LIMIT {
            self.fail("too many blocks or methods in one body");
            return 0;
        }
        self.cur.children.push(c);
        self.cur.children.len() as u16 - 1
    }
}
