//! What the compiler writes and the loop runs.
//!
//! - `insn`: the instruction set, one table, and the 64-bit word of an instruction.
//! - `iseq`: a piece of compiled code; `params`, `call_site`, `literal`, `scope`: what is in it.
//! - `values`: what the loop has put into it; `rewrite`: its instructions replaced where they stand; `marks`: where a
//!   trace may have something to tell.
//! - `disasm`: listings.
//!
//! Nothing here runs code, and nothing knows of classes, methods or tasks.
#![allow(rustdoc::broken_intra_doc_links, reason = "R[a] is a register, and no link")]
#![deny(missing_docs)]

mod call_site;
mod disasm;
mod insn;
mod iseq;
mod literal;
mod marks;
mod params;
mod rewrite;
mod scope;
mod values;

pub use call_site::{CallSite, site};
pub use disasm::disassemble;
pub use insn::{Defined, HEADER, Insn, NO_REG, Op};
pub use iseq::{Birth, Body, Catch, Handler, ISeq, Kind, MatchSlot, START_RESCUE, Stored};
pub use literal::{Lit, RE_EUC, RE_FIXED, RE_I, RE_M, RE_NONE, RE_SJIS, RE_X};
pub use marks::mark;
pub use params::Params;
pub use scope::{ParamKind, ScopeNames, ScopeParam};
pub use values::ConstEntry;

/// The module in which the runtime keeps its helpers, as its own code names it, and the name that it really has: one that
/// no program can write.
pub const HELPERS: &str = "KumiSys";
/// The name of the constant that holds [`HELPERS`].
pub const HELPERS_KEY: &str = "<KumiSys>";
