//! Compiled code: what the compiler hands to the loop.
//!
//! An `ISeq` is made once and never changes, except for its instruction and
//! cache words (atomics), its materialised literals and its once-slots.

use crate::{CallSite, ConstEntry, Insn, Lit, Op, Params, ScopeNames};
use kumi_heap::Sym;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock};

/// What a piece of code is the body of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A file, `-e`, or the prelude's top.
    Top,
    /// The body of a `def`.
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
    /// The pc at which the handler begins.
    pub target: u32,
    /// The register that gets what was caught.
    pub reg: u16,
    /// What it catches.
    pub catch: Catch,
}

/// A class, module or singleton class body.
#[derive(Debug)]
pub struct Body {
    /// The constant's last name; empty for a singleton class.
    pub name: Sym,
    /// Index of the body's code in [`ISeq::children`].
    pub child: u16,
}

/// Something that code makes and then certainly stores where it has to leave the nursery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Birth {
    /// The instruction that makes it.
    pub made: u32,
    /// The one that stores it.
    pub stored: u32,
    /// What kind of place it is stored into.
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
    /// What it is the body of.
    pub kind: Kind,
    /// Method name, `<main>`, `<class:Foo>`; blocks carry their method's and a depth in `block_depth`.
    pub label: Arc<str>,
    /// How many blocks of the method or class around it its text lies in, its own among them.
    pub block_depth: u16,
    /// `__FILE__`, as backtraces show it.
    pub path: Arc<str>,
    /// Where the file really was when it was loaded; nothing for evaluated text, `-e` and standard input.
    pub real_path: Option<Arc<str>>,
    /// Line of the definition.
    pub line: u32,
    /// Instruction words and inline caches. Words are replaced where they stand (`rewrite.rs`), others run them meanwhile.
    pub code: Box<[AtomicU64]>,
    /// Registers of a frame, self and all register windows included.
    pub nregs: u16,
    /// Its parameters.
    pub params: Params,
    /// `params.is_simple()`, precomputed.
    pub simple: bool,
    /// Names that instructions give by index.
    pub syms: Box<[Sym]>,
    /// Literals as the compiler wrote them; their values are in [`ISeq::values`].
    pub lits: Box<[Lit]>,
    /// Call sites that instructions give by index.
    pub sites: Box<[CallSite]>,
    /// Code of the methods, blocks and class bodies in it.
    pub children: Box<[Arc<ISeq>]>,
    /// Class and module bodies in it, for `Op::ClassDef`.
    pub bodies: Box<[Body]>,
    /// Where exceptions and other exits are caught. Inner regions come first.
    pub handlers: Box<[Handler]>,
    /// (first pc, line), ascending.
    pub lines: Box<[(u32, u32)]>,
    /// Where statements begin, each on another line than the one before, and rescue clauses (with [`START_RESCUE`]).
    pub starts: Box<[u32]>,
    /// First instruction of the body: parameters have their values.
    pub entry: u32,
    /// Line of its end.
    pub end_line: u32,
    /// What may happen at each word, found when it is first asked for ([`ISeq::marks`](ISeq::marks())).
    pub marks: OnceLock<Box<[u8]>>,
    /// Names of the environment's slots when this scope makes one (`EnvNew`), hidden ones empty-named `Sym(0)`.
    pub env_names: Box<[Sym]>,
    /// Does this scope make an environment of its own?
    pub has_env: bool,
    /// Are all its locals there, for a Binding that the text asks for?
    pub shows_locals: bool,
    /// Names of all local variables of the scope, for `local_variables` in a frame without environment.
    pub local_names: Box<[Sym]>,
    /// Where `$~` of the method or file around it is kept; `None`: nothing in the text can ask for it.
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
    /// The running full collection has met it, or the last one has.
    pub met: AtomicBool,
    /// Names in it that can die, which it keeps.
    pub weak_syms: OnceLock<Box<[Sym]>>,
}

/// Where `$~` of a scope lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchSlot {
    /// Register of this very frame.
    Reg(u16),
    /// Slot of an environment.
    Env {
        /// How many levels up the environment is: 0 is the frame's own.
        depth: u16,
        /// Which of its slots.
        slot: u16,
    },
}

// SAFETY: what changes in it is atomic or behind its lock; values in it are roots, looked at by workers of one runtime.
unsafe impl Sync for ISeq {}
// SAFETY: as above.
unsafe impl Send for ISeq {}

impl ISeq {
    /// Is the word at `at` a `Yield`, and not the cache of the instruction before it?
    pub fn yields_at(&self, at: usize) -> bool {
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
    pub fn has_its_env(&self) {
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
    /// The instruction word at `pc`.
    pub fn insn(&self, pc: usize) -> Insn {
        Insn(self.code[pc].load(std::sync::atomic::Ordering::Relaxed))
    }
    /// Index of the word that a program counter points to.
    pub fn index_of(&self, pc: u64) -> usize {
        (pc.wrapping_sub(self.code.as_ptr() as u64) / 8) as usize
    }
}
