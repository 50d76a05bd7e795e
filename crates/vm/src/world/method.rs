//! The method table: entries do not change while something names them, except that the code of a lazily
//! compiled prelude body is put beside it once.

use crate::doors::{Guard, IndexedFn, NativeFn, Vis};
use kumi_bytecode::ISeq;
use kumi_heap::{ClassObj, Gc, Sym, Value};
use std::sync::{Arc, OnceLock};

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
    /// attr_reader of an instance variable.
    AttrGet(Sym),
    /// attr_writer of an instance variable.
    AttrSet(Sym),
    /// Struct members by index.
    /// Reads a Struct's member, by index.
    MemberGet(u16),
    /// Sets a Struct's member, by index.
    MemberSet(u16),
    /// A native that is told which method it is.
    Indexed(Indexed),
    /// define_method with a Proc.
    Proc(Value),
    /// Gets the whole call, keywords and block included (`send`, `Proc#call`, ...).
    Special(Special),
    /// undef: ends the search.
    Undef,
    /// Visibility change only: go on with the next definition up.
    Zsuper,
}

/// What [`Body::Indexed`] runs.
#[derive(Clone, Copy)]
pub struct Indexed {
    /// The native.
    pub f: IndexedFn,
    /// The number that it is told.
    pub index: u32,
    /// A record whose field `index` is decoded answers with it, without a call of `f`.
    pub field: bool,
}

impl PartialEq for Indexed {
    fn eq(&self, o: &Indexed) -> bool {
        std::ptr::fn_addr_eq(self.f, o.f) && self.index == o.index
    }
}

/// Methods the loop performs itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Special {
    /// `send`, `__send__`
    Send,
    /// `public_send`
    PublicSend,
    /// `instance_exec`
    InstanceExec,
    /// `instance_eval`
    InstanceEval,
    /// `class_exec`, `module_exec`
    ClassExec,
    /// `class_eval`, `module_eval`
    ClassEval,
    /// `Class#new`
    New,
    /// `Proc#call` and its other names.
    ProcCall,
    /// `Method#call` and its other names.
    MethodCall,
    /// `Thread.new`
    ThreadNew,
}

/// One entry.
#[derive(Clone)]
pub struct Method {
    /// Called by the loop before anything else; on `Exit::Miss` the body runs.
    pub native: Option<NativeFn>,
    /// What is locked around the native.
    pub guard: Guard,
    /// Fewest arguments that the native takes.
    pub min: u8,
    /// Most arguments that the native takes; -1: any number.
    pub max: i8,
    /// Who may call it.
    pub vis: Vis,
    /// Defined by the runtime (native or prelude): redefinition by users is what `builtin` checks look for.
    pub builtin: bool,
    /// `ruby2_keywords`: a Hash of keywords is marked, so that a splat makes keywords of it again.
    pub ruby2_keywords: bool,
    /// What is run where the native is not, or gives up.
    pub body: Body,
    /// Cref cell of the body's frames.
    pub cref: Value,
    /// Module it was defined in.
    pub owner: Gc<ClassObj>,
    /// Name it was first defined with.
    pub name: Sym,
    /// Name of this entry (differs for aliases).
    pub called: Sym,
    /// It has another name as well: a definition in its place discards nothing.
    pub aliased: OnceLock<()>,
    /// A lazy body's code and place, once it was called.
    pub forced: OnceLock<(Arc<ISeq>, Value)>,
    /// Which of its owner's places in an order it runs at.
    pub place: MroPlace,
}

/// A module may stand in an order several times, and `super` goes on from the place where the method runs: the entry in its
/// module runs at the first, a row of its own at each further one.
#[derive(Default)]
pub struct MroPlace {
    /// How often the owner stands before this place.
    pub nth: u32,
    /// The row for the next place, once it was needed.
    pub(crate) next: OnceLock<u32>,
}

impl Clone for MroPlace {
    /// Another definition has further rows of its own.
    fn clone(&self) -> MroPlace {
        MroPlace { nth: self.nth, next: OnceLock::new() }
    }
}

impl Method {
    /// A public one without code of its own, for any number of arguments.
    pub fn new(owner: Gc<ClassObj>, name: Sym, body: Body) -> Method {
        Method {
            native: None,
            guard: Guard::None,
            min: 0,
            max: -1,
            vis: Vis::Public,
            builtin: false,
            ruby2_keywords: false,
            body,
            cref: Value::NIL,
            owner,
            name,
            called: name,
            aliased: Default::default(),
            forced: Default::default(),
            place: Default::default(),
        }
    }
    /// Is it a native with a Ruby body that runs where the native does not?
    pub(crate) fn has_twin(&self) -> bool {
        self.native.is_some() && matches!(self.body, Body::Lazy(_) | Body::Code(_))
    }
    /// The bytecode and the place its frames run in, when it has been compiled.
    pub fn code(&self) -> Option<(&Arc<ISeq>, Value)> {
        match &self.body {
            Body::Code(q) => Some((q, self.cref)),
            Body::Lazy(_) => self.forced.get().map(|f| (&f.0, f.1)),
            _ => None,
        }
    }
    /// A copy whose body is the code itself where that is known.
    pub fn settled(&self) -> Method {
        let mut m = self.clone();
        if let Some((q, cref)) = m.forced.take() {
            m.body = Body::Code(q);
            m.cref = cref;
        }
        m
    }
}
