//! Compiled code: what the compiler hands to the loop.
//!
//! An `ISeq` is made once and never changes, except for its instruction and
//! cache words (atomics), its materialised literals and its once-slots.

use crate::bytecode::{Insn, Op};
use kumi_heap::{Sym, Value};
use kumi_num::BigInt;
use kumi_text::encoding::EncIndex;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock};

/// What a piece of code is the body of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A file, `-e`, or the prelude's top.
    Top,
    Method,
    /// A literal block; also the body of `define_method` and `lambda { }`.
    Block,
    /// `-> { }`
    Lambda,
    /// A class, module or singleton class body.
    Class,
    /// Text given to `eval`; runs as a block of the binding's scope.
    Eval,
}

/// A literal, independent of any heap. The loop turns it into a value once.
#[derive(Clone, Debug, PartialEq)]
pub enum Lit {
    Int(i64),
    Big(BigInt),
    Float(f64),
    /// Numerator and denominator, as they were written.
    Rational(BigInt, BigInt),
    /// The imaginary part.
    Imaginary(Box<Lit>),
    Str(Box<[u8]>, EncIndex),
    /// The same string object each time (`# frozen_string_literal: true`, hash keys, `defined?`).
    FrozenStr(Box<[u8]>, EncIndex),
    Sym(Sym),
    /// Source, options (`RE_*`).
    Regex(Box<[u8]>, u8, EncIndex),
    /// Both ends literal: begin, end (nil allowed), exclusive.
    Range(Box<Lit>, Box<Lit>, bool),
    Nil,
    True,
    False,
}

impl Lit {
    pub(crate) fn each_sym(&self, f: &mut dyn FnMut(&Sym)) {
        if let Lit::Sym(s) = self {
            f(s);
        } else if let Lit::Range(a, b, _) = self {
            a.each_sym(f);
            b.each_sym(f);
        }
    }
}

/// Regexp option bits: CRuby's numbers for the first three.
pub const RE_I: u8 = 1;
pub const RE_X: u8 = 2;
pub const RE_M: u8 = 4;
/// `/e`, `/s`, `/u`: fixed encoding.
pub const RE_FIXED: u8 = 16;
/// `/n`
pub const RE_NONE: u8 = 32;
/// `/e` and `/s` (with RE_FIXED); neither: UTF-8.
pub const RE_EUC: u8 = 64;
pub const RE_SJIS: u8 = 128;

/// Flags of a call site.
pub mod site {
    /// The receiver is an implicit self: private methods may be called.
    pub const FCALL: u16 = 1;
    /// A bare name (`foo`): NameError instead of NoMethodError when missing.
    pub const VCALL: u16 = 2;
    /// `self.foo`: private allowed (setters and others, since Ruby 2.7).
    pub const SELF: u16 = 4;
    /// One argument register follows the receiver: an Array that holds all positional arguments.
    pub const SPLAT: u16 = 8;
    /// After the positional arguments stands one Hash register: keywords made at run time (`**h` or mixed).
    pub const KWSPLAT: u16 = 16;
    /// After all that stands a register with a block value (`&blk`; nil, Proc, Symbol, Method, raw block word).
    pub const BLOCK_ARG: u16 = 32;
    /// Assignment form (`a.b = c`, `a[b] = c`): the method's value is dropped by the compiler.
    pub const ASSIGN: u16 = 64;
    /// super without parentheses (the compiler passes the arguments explicitly; error messages differ).
    pub const ZSUPER: u16 = 128;
    /// The Hash given by KWSPLAT may be somebody's (`**opts` alone): copied by callees that keep it.
    pub const KW_ANON: u16 = 256;
    /// `super` inside a method made by define_method is not allowed in implicit form; set with ZSUPER there.
    pub const IN_BLOCK: u16 = 512;
    /// The BLOCK_ARG may be a raw block word, which looks like an Integer: it came from the frame's own block.
    pub const RAW_BLOCK: u16 = 1024;
    /// The SPLAT register holds a rest parameter that is only passed on ([`Params::passes`](super::Params::passes)).
    pub const PASSED: u16 = 2048;
}

/// A call site. Argument registers from `R[b + 1]`: `argc` positional values (or one Array with SPLAT),
/// then one value for each of `kw`, or the KWSPLAT hash, then the BLOCK_ARG.
#[derive(Debug)]
pub struct Site {
    pub mid: Sym,
    pub argc: u16,
    pub flags: u16,
    /// Static keyword names.
    pub kw: Box<[Sym]>,
    /// A literal block: index into `children`.
    pub block: Option<u16>,
}

/// Parameters in the order of their registers, from `R[1]`: required, optional, rest, post,
/// keywords, keyword rest, block. A parameter that blocks capture is copied into its environment
/// slot by the first instructions.
#[derive(Debug, Default, Clone)]
pub struct Params {
    pub req: u16,
    /// Entry points: `opt[k]` is the pc to start at when k optional arguments were given
    /// (length: optional parameters + 1; empty when there are none). The default of each
    /// unset parameter is computed from there on.
    pub opt: Box<[u32]>,
    /// `*rest` has a register.
    pub rest: bool,
    /// A trailing comma in block parameters (`|a,|`): takes apart one array without a rest register.
    pub excess_comma: bool,
    pub post: u16,
    /// Keyword names; required ones raise when missing, optional ones are left undef and set by code (`JmpSet`).
    pub kw: Box<[(Sym, bool)]>,
    /// `**opts` has a register.
    pub kwrest: bool,
    /// `**` without a name: nil instead of an empty Hash, for it can only be passed on.
    pub kwrest_anonymous: bool,
    /// The library's rest parameter is only counted and passed on: its register is undef for no value, the value itself for
    /// one, else an Array with [`flag::LIST`](kumi_heap::flag::LIST). One value that is such an Array is put into another.
    pub passes: bool,
    /// `**nil`
    pub no_kw: bool,
    /// `&blk` has a register, filled by code with BlockProc (in a block called with a block the binder has put it
    /// there, and BlockProc gives that).
    pub block: bool,
    /// `...`: ruby2_keywords-like forwarding is done with rest, kwrest and block.
    pub forward: bool,
    /// Names for `Method#parameters`, in register order; `None` for destructuring and anonymous ones.
    pub names: Box<[Option<Sym>]>,
    /// Block with numbered parameters or `it` (arity and parameters differ).
    pub numbered: u8,
    pub it: bool,
}

impl Params {
    /// Number of optional parameters.
    pub fn opt_count(&self) -> u16 {
        self.opt.len().saturating_sub(1) as u16
    }
    /// Register of `&blk` (when `block` is set).
    pub fn block_register(&self) -> usize {
        1 + (self.req + self.opt_count() + self.post) as usize + self.rest as usize + self.kw.len() + self.kwrest as usize
    }
    /// Only required parameters: arguments stay where the caller put them.
    pub fn is_simple(&self) -> bool {
        self.opt.is_empty() && !self.rest && self.post == 0 && self.kw.is_empty() && !self.kwrest && !self.no_kw && !self.excess_comma
    }
    /// Required parameters and then optional ones: those that are given stay where the caller put them.
    pub fn is_optional(&self) -> bool {
        !self.opt.is_empty() && !self.rest && self.post == 0 && self.kw.is_empty() && !self.kwrest && !self.no_kw && !self.excess_comma
    }
    /// `Proc#arity` / `Method#arity`.
    pub fn arity(&self, lambda: bool) -> i32 {
        let kwreq = self.kw.iter().any(|k| k.1);
        let min = (self.req + self.post) as i32 + kwreq as i32;
        let keywords = !self.kw.is_empty() || self.kwrest;
        let max = (self.req + self.post + self.opt_count()) as i32 + keywords as i32;
        // A proc is variadic only with a rest; a method or lambda whenever the count may vary.
        if self.rest || lambda && min != max { -min - 1 } else { min }
    }
}

/// What a handler catches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Catch {
    /// Exceptions (`rescue`): `R[reg]` = the exception, `$!` is set to it.
    Rescue,
    /// Everything that unwinds (`ensure`): `R[reg]` = an opaque word to be given to `Op::Raise`.
    Ensure,
}

/// One entry of the handler table. Inner regions come first.
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    /// First pc covered.
    pub from: u32,
    /// First pc no longer covered.
    pub to: u32,
    pub target: u32,
    pub reg: u16,
    pub catch: Catch,
}

/// A class, module or singleton class body.
#[derive(Debug)]
pub struct Body {
    pub name: Sym,
    pub child: u16,
}

/// Something that code makes and then certainly stores where it has to leave the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Birth {
    /// The instruction that makes it.
    pub made: u32,
    /// The one that stores it.
    pub stored: u32,
    pub place: Stored,
}

/// Where something is certainly stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored {
    /// A field, element or captured variable.
    Field,
    /// A constant, global or class variable: all threads see it.
    Shared,
}

/// Bit of an entry of [`ISeq::starts`]: a rescue clause.
pub const START_RESCUE: u32 = 1 << 31;

/// Compiled code.
pub struct ISeq {
    pub kind: Kind,
    /// Method name, `<main>`, `<class:Foo>`; blocks carry their method's and a depth in `block_depth`.
    pub label: Arc<str>,
    pub block_depth: u16,
    pub path: Arc<str>,
    /// Where the file really was when it was loaded; nothing for evaluated text, `-e` and standard input.
    pub real_path: Option<Arc<str>>,
    /// Line and column of the definition.
    pub line: u32,
    pub code: Box<[AtomicU64]>,
    /// Registers of a frame, self and all call windows included.
    pub nregs: u16,
    pub params: Params,
    /// `params.is_simple()`, precomputed.
    pub simple: bool,
    pub syms: Box<[Sym]>,
    pub lits: Box<[Lit]>,
    pub sites: Box<[Site]>,
    pub children: Box<[Arc<ISeq>]>,
    pub bodies: Box<[Body]>,
    pub handlers: Box<[Handler]>,
    /// (first pc, line), ascending.
    pub lines: Box<[(u32, u32)]>,
    /// Where statements begin, each on another line than the one before, and rescue clauses (with [`START_RESCUE`]).
    pub starts: Box<[u32]>,
    /// First instruction of the body: parameters have their values.
    pub entry: u32,
    /// Line of its end.
    pub end_line: u32,
    /// What may happen at each word: see `trace`.
    pub(crate) marks: OnceLock<Box<[u8]>>,
    /// Names of the environment's slots when this scope makes one (`EnvNew`), hidden ones empty-named `Sym(0)`.
    pub env_names: Box<[Sym]>,
    /// Does this scope make an environment of its own?
    pub has_env: bool,
    /// Are all its locals there, for a Binding that the text asks for?
    pub shows_locals: bool,
    /// Names of all local variables of the scope, for `local_variables` in a frame without environment.
    pub local_names: Box<[Sym]>,
    /// Where this scope keeps `$~` (the method scope's hidden local): register (depth None) or env slot.
    pub match_slot: Option<MatchSlot>,
    /// The scope's static parent, for eval and binding.
    pub parent_names: Option<Arc<ScopeNames>>,
    /// Prelude code: invisible in backtraces, system semantics.
    pub system: bool,
    /// A method's: has it a use for a block (`yield`, `super` that hands its own on, `&blk`, `...`)?
    pub uses_block: bool,
    /// It was told that blocks given to it may be ignored.
    pub told_unused: AtomicBool,
    /// Certain births, by the instruction that makes them.
    pub births: Box<[Birth]>,
    /// Number of once-slots.
    pub once: Box<[AtomicU64]>,
    /// Materialised `lits`, filled by the loop (roots while the ISeq is registered).
    pub values: Box<[AtomicU64]>,
    /// Entries that the cache words of `ConstGet` and `ConstTop` point to. An entry never changes; full collections
    /// drop them all.
    pub const_cache: Mutex<Vec<Box<ConstEntry>>>,
    /// The last full collection has met it (see `tables`).
    pub met: AtomicBool,
    /// Names in it that can die, which it keeps.
    pub weak_syms: OnceLock<Box<[Sym]>>,
    /// Ruby source range (offset, length) for `Proc#source_location`-like tools.
    pub span: (u32, u32),
}

/// A cached constant: valid while the name's epoch and the lexical scope are the same.
pub struct ConstEntry {
    pub epoch: u32,
    pub scope: u64,
    pub value: Value,
    /// The cache word that was made to point to it.
    pub word: *const AtomicU64,
}

/// Where `$~` of a scope lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchSlot {
    /// Register of this very frame.
    Reg(u16),
    /// Environment slot, that many levels up.
    Env { depth: u16, slot: u16 },
}

/// Names visible to code compiled later inside a scope (`eval`, `binding`): one entry an environment level.
#[derive(Debug)]
pub struct ScopeNames {
    /// Names by slot of this level's environment.
    pub names: Vec<Sym>,
    pub parent: Option<Arc<ScopeNames>>,
    /// Slot of this level that holds `$~`, when the level belongs to a method-like scope that keeps it.
    pub match_slot: Option<u16>,
    /// The parameters, when the level belongs to a method: what `super` and `foo(*)` in an eval pass on.
    pub params: Vec<ScopeParam>,
    /// The block's numbered parameters, or `it`, by name and slot; none for a level that text added to a binding.
    pub implicit: Option<Vec<(Sym, u16)>>,
}

impl ScopeNames {
    /// Shows all names, outer levels' too.
    pub(crate) fn each_sym(&self, f: &mut dyn FnMut(&Sym)) {
        let mut level = Some(self);
        while let Some(n) = level {
            n.names.iter().chain(n.implicit.iter().flatten().map(|(s, _)| s)).for_each(&mut *f);
            level = n.parent.as_deref();
        }
    }
}

/// A method's parameter in its environment.
#[derive(Debug)]
pub struct ScopeParam {
    pub kind: crate::compile::ParamKind,
    pub name: Vec<u8>,
    pub slot: u16,
}

// SAFETY: what changes in it is atomic or behind its lock; values in it are roots, looked at by workers of one runtime.
unsafe impl Sync for ISeq {}
// SAFETY: as above.
unsafe impl Send for ISeq {}

impl ISeq {
    /// Is the word at `at` a `Yield`, and not the cache of the instruction before it?
    pub(crate) fn yields_at(&self, at: usize) -> bool {
        if at >= self.code.len() || self.insn(at).0 as u8 != Op::Yield as u8 {
            return false;
        }
        let mut k = 0;
        while k < at {
            k += 1 + self.insn(k).original().op().cached() as usize;
        }
        k == at
    }
    /// Its first environment was made before it runs: the instruction that would make it does nothing.
    pub(crate) fn has_its_env(&self) {
        if let Some(k) = (0..self.code.len()).find(|k| self.insn(*k).original().op() == Op::EnvNew) {
            self.code[k].store(Insn::new(Op::Nop, 0, 0, 0, 0).0, std::sync::atomic::Ordering::Relaxed);
        }
    }
    /// The source line of the instruction at or before `pc`.
    pub fn line_at(&self, pc: u32) -> u32 {
        match self.lines.partition_point(|l| l.0 <= pc) {
            0 => self.line,
            n => self.lines[n - 1].1,
        }
    }
    /// Literal `k` as a value; undef before it is made.
    #[inline(always)]
    pub fn value(&self, k: usize) -> Value {
        Value::from_bits(self.values[k].load(std::sync::atomic::Ordering::Acquire))
    }
    /// Gives literal `k` its value unless another worker was first; the value it has now.
    pub fn set_value(&self, k: usize, v: Value) -> Value {
        use std::sync::atomic::Ordering::*;
        match self.values[k].compare_exchange(Value::UNDEF.bits(), v.bits(), AcqRel, Acquire) {
            Ok(_) => v,
            Err(b) => Value::from_bits(b),
        }
    }
    /// Once-slot `k`; undef before its code ran.
    pub fn once(&self, k: usize) -> Value {
        Value::from_bits(self.once[k].load(std::sync::atomic::Ordering::Acquire))
    }
    pub fn set_once(&self, k: usize, v: Value) {
        self.once[k].store(v.bits(), std::sync::atomic::Ordering::Release)
    }
    /// Cells for `n` values not yet made.
    pub fn undef_cells(n: usize) -> Box<[AtomicU64]> {
        (0..n).map(|_| AtomicU64::new(Value::UNDEF.bits())).collect()
    }
    /// The instruction word at `pc`.
    pub fn insn(&self, pc: usize) -> Insn {
        Insn(self.code[pc].load(std::sync::atomic::Ordering::Relaxed))
    }
}
