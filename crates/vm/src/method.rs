//! The method table: entries are appended and never change, except that a lazily
//! compiled prelude body is filled in once.

use crate::iseq::ISeq;
use crate::native::{NativeFn, Vis};
use kumi_heap::{ClassObj, Gc, Sym, Value};
use std::sync::Arc;

/// What a method does when called.
#[derive(Clone)]
pub enum Body {
    /// Bytecode.
    Code(Arc<ISeq>),
    /// Prelude source not compiled yet: index into the prelude's method list.
    Lazy(u32),
    /// A native without a twin.
    Native,
    /// attr_reader / attr_writer of an instance variable.
    AttrGet(Sym),
    AttrSet(Sym),
    /// Struct members by index.
    MemberGet(u16),
    MemberSet(u16),
    /// define_method with a Proc.
    Proc(Value),
    /// Gets the whole call, keywords and block included (`send`, `Proc#call`, ...).
    Special(Special),
    /// undef: ends the search.
    Undef,
    /// Visibility change only: go on with the next definition up.
    Zsuper,
}

/// Methods the loop performs itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Special {
    Send,
    PublicSend,
    InstanceExec,
    InstanceEval,
    ClassExec,
    ClassEval,
    New,
    ProcCall,
    MethodCall,
    BindCall,
}

/// One entry.
#[derive(Clone)]
pub struct Method {
    /// Called by the loop before anything else; on `Exit::Miss` the body runs.
    pub native: Option<NativeFn>,
    pub min: u8,
    pub max: i8,
    pub vis: Vis,
    /// Defined by the runtime (native or prelude): redefinition by users is what `builtin` checks look for.
    pub builtin: bool,
    pub ruby2_keywords: bool,
    pub body: Body,
    /// Cref cell of the body's frames.
    pub cref: Value,
    /// Module it was defined in.
    pub owner: Gc<ClassObj>,
    /// Name it was first defined with.
    pub name: Sym,
    /// Name of this entry (differs for aliases).
    pub called: Sym,
}
