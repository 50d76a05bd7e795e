//! Leaf natives: how Rust code is called from Ruby, and how it answers.
//!
//! **A native never calls Ruby** (rule 1). It returns a value, or an [`Exit`]:
//! it raises, hands over to its prelude twin (`Miss`), asks for a conversion of an
//! argument, asks the loop to call something in its place, or parks the task.
//! `Miss`, `Again` and `Convert` promise that nothing has changed yet.
//!
//! A native may hold raw [`Value`]s freely: collections happen only between
//! bytecodes (rule 2).

use crate::Cx;
use kumi_heap::{Marker, Sym, Value};
use kumi_sched::Watch;
use smallvec::SmallVec;

/// What a native returns.
pub type R = Result<Value, Exit>;

/// Why a native did not return a value. Made only by methods of [`Cx`], which
/// leave the details in `cx.pending`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// `cx.pending.exc` is raised.
    Raise,
    /// Run the prelude method of the same name with the same arguments.
    Miss,
    /// Poll, or do the work I gave to [`Cx::detach`], then run me once more.
    Again,
    /// Convert argument `i` by protocol and run me once more.
    Convert(u8, Proto),
    /// Call `cx.pending.call`; its result is mine.
    Call,
    /// The task waits (`cx.pending.park`); when it is woken I run once more.
    Park,
    /// Another task was made current (fibers): the loop goes on there.
    Switch,
    /// Unwind: `cx.pending.exc` is an Unwind cell (throw, thread kill).
    Unwind,
}

/// Conversion protocols of arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Proto {
    /// to_int
    Int,
    /// to_str
    Str,
    /// to_ary
    Ary,
    /// to_hash
    Hash,
    /// to_path, to_str
    Path,
    /// Float(): to_f of Numerics
    Float,
    /// Symbol, or to_str to a String (method names)
    Name,
}

/// A native: context, receiver, positional arguments. Keywords arrive as a trailing Hash;
/// a native never sees a block (methods with blocks are prelude Ruby).
pub type NativeFn = fn(&mut Cx, Value, &[Value]) -> R;

/// A native of many methods that differ by a number alone (the fields of records): context, receiver, number. It takes no
/// arguments, runs without a lock, and has no twin: instead of `Miss` and `Convert` it returns
/// [`Cx::call_helper`](crate::Cx::call_helper).
pub type IndexedFn = fn(&mut Cx, Value, u32) -> R;

/// One row of a native table.
pub struct NativeDef {
    /// `"Array"`, `"File::Stat"`; with a trailing dot the singleton class (`"File."`); empty: an intrinsic.
    pub class: &'static str,
    /// The method's name; an intrinsic's begins with two underscores.
    pub name: &'static str,
    /// Fewest and most arguments; `max` -1: any number.
    pub min: u8,
    /// See `min`.
    pub max: i8,
    /// What is called.
    pub f: NativeFn,
    /// The method's visibility.
    pub vis: Vis,
    /// What the dispatcher locks around it; `None`: by its class (see [`Guard::of`]).
    pub guard: Option<Guard>,
}

impl NativeDef {
    /// Sets what is locked around this native.
    pub const fn guard(mut self, g: Guard) -> NativeDef {
        self.guard = Some(g);
        self
    }
}

/// What the dispatcher locks around a native while several workers are active, so that one
/// call is one atomic operation. Nothing is locked while one worker runs alone.
///
/// Under a guard a native neither blocks (it parks, or gives the call to the pool) nor stops the world nor takes an
/// object's lock by itself: that is for [`Guard::None`], by [`Cx::lock_objects`](crate::Cx::lock_objects). State of
/// native crates ([`Cx::state`](crate::Cx::state)) has locks of its own and needs no guard. Readers may be `None` when
/// they look at a buffer once (`as_slice`, `bytes`) and use only what they saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Guard {
    /// Nothing: it reads, makes new objects, or is atomic by itself.
    None,
    /// The receiver and its mutable arguments.
    Objects,
    /// The runtime's leaf lock, then as `Objects`: for the few calls of the whole process that must not overlap.
    World,
    /// The class lock: it reads or changes method tables, constants, modules.
    Classes,
}

/// Method visibility.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Vis {
    /// Anybody calls it.
    Public,
    /// It is called without a receiver, or with `self`.
    Private,
    /// It is called where `self` is an object of the method's class.
    Protected,
}

/// A public method of exactly or from `min` to `max` arguments (-1: any).
pub const fn n(class: &'static str, name: &'static str, min: u8, max: i8, f: NativeFn) -> NativeDef {
    NativeDef { class, name, min, max, f, vis: Vis::Public, guard: None }
}
/// A private method.
pub const fn private(class: &'static str, name: &'static str, min: u8, max: i8, f: NativeFn) -> NativeDef {
    NativeDef { class, name, min, max, f, vis: Vis::Private, guard: None }
}
/// An intrinsic for prelude code: `__name(a, b)`. It gets nil as receiver.
pub const fn intrinsic(name: &'static str, min: u8, max: i8, f: NativeFn) -> NativeDef {
    NativeDef { class: "", name, min, max, f, vis: Vis::Public, guard: None }
}

/// Positional arguments on their way.
pub type Args = SmallVec<[Value; 6]>;

/// A call the loop makes in a native's place.
#[derive(Clone)]
pub struct Call {
    /// What is called.
    pub(crate) target: Target,
    /// The receiver: `self` in the callee, but for a Proc's own.
    pub(crate) recv: Value,
    /// Positional arguments.
    pub args: Args,
    /// Keywords: a Hash, or undef.
    pub kw: Value,
    /// The Hash was made for this call.
    pub(crate) kw_own: bool,
    /// Block word: nil, Proc, Symbol, Method.
    pub(crate) block: Value,
    /// Private methods may be called.
    pub(crate) fcall: bool,
    /// The result of the native is this value, the call's own is dropped (Class#new); undef: the call's.
    pub(crate) result: Value,
}

impl Call {
    /// The plain call: no keywords, no block, private methods too, and its value is the native's.
    #[inline]
    pub(crate) fn new(target: Target, recv: Value, args: Args) -> Call {
        Call { target, recv, args, kw: Value::UNDEF, kw_own: false, block: Value::NIL, fcall: true, result: Value::UNDEF }
    }
    /// The call of a Proc.
    pub fn of(prc: Value, args: &[Value]) -> Call {
        Call::new(Target::Proc(prc), Value::NIL, Args::from_slice(args))
    }
}

/// What is called.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// A method by name on `recv`.
    Name(Sym),
    /// That very method (index in the method table) on `recv`.
    Method(u32),
    /// A Proc, with its own self; `recv` is not used.
    Proc(Value),
    /// A Proc whose one argument is not taken apart by to_ary.
    ProcPlain(Value),
    /// A Proc with `recv` as self; definitions go to the class or module `definee` (instance_eval, class_eval, define_method).
    ProcSelf {
        /// The Proc.
        prc: Value,
        /// Where its `def` goes.
        definee: Value,
        /// `definee` is the module around the block too, as for `class_eval`; else only where `def` goes.
        eval: bool,
    },
    /// A method of the prelude's hidden helper module.
    Helper(Sym),
    /// Compiled code as the body of a file or eval: self = recv.
    Code {
        /// Address of the code, which is registered.
        iseq: u64,
        /// The cref it runs in.
        cref: Value,
        /// The environment around it, or nil.
        env: Value,
        /// Its block word, or nil.
        block: Value,
    },
}

/// Details of an [`Exit`], valid until the loop has taken them.
pub struct Pending {
    /// What is raised, or the Unwind cell.
    pub exc: Value,
    /// The call of [`Exit::Call`].
    pub call: Option<Call>,
    /// What work that was given to [`Cx::detach`] reads, until its native has the result.
    pub(crate) keep: Value,
    /// Wake-up time (monotonic nanoseconds) of a parked task, `u64::MAX` for none.
    pub deadline: u64,
    /// Descriptors that a parked task waits for.
    pub io: Watches,
    /// The wait was named by [`Cx::ticket`] already.
    pub(crate) ticketed: bool,
    /// It is no deadlock however long it lasts.
    pub forever: bool,
    /// What is raised was raised before the first instruction of the frame: its line is that of the definition.
    pub(crate) unbegun: bool,
    /// It is for what another node sends.
    pub(crate) awaits: bool,
    /// What a thread of its own is to do meanwhile.
    pub(crate) aside: Option<Work>,
    /// What the pool is to do meanwhile.
    pub(crate) job: Option<Job>,
}

/// Descriptors to wait for.
pub type Watches = SmallVec<[Watch; 2]>;

/// Work for the pool.
pub(crate) type Job = Box<dyn FnOnce() -> Box<dyn std::any::Any + Send> + Send>;

impl Default for Pending {
    fn default() -> Self {
        Pending {
            exc: Value::NIL,
            call: None,
            keep: Value::NIL,
            deadline: u64::MAX,
            io: Watches::new(),
            ticketed: false,
            forever: false,
            unbegun: false,
            awaits: false,
            aside: None,
            job: None,
        }
    }
}

/// Marks the values of a pending call.
pub(crate) fn trace_call(c: &Call, m: &mut Marker) {
    for v in [c.recv, c.kw, c.block, c.result] {
        m.mark(v);
    }
    m.mark_all(&c.args);
    match c.target {
        Target::Proc(p) | Target::ProcPlain(p) => m.mark(p),
        Target::ProcSelf { prc, definee, .. } => {
            m.mark(prc);
            m.mark(definee);
        }
        Target::Code { iseq, cref, env, block } => {
            m.mark(cref);
            m.mark(env);
            m.mark(block);
            m.code(iseq);
        }
        Target::Method(n) => m.method(n),
        Target::Name(s) | Target::Helper(s) => m.sym(s),
    }
}

/// A call on its way to its callee.
pub(crate) struct ResolvedCall {
    pub recv: Value,
    pub args: Args,
    pub kw: Value,
    /// Nobody else has that Hash: whoever keeps it takes it as it is, else a copy.
    pub kw_own: bool,
    /// Block word for the callee's frame: what `yield` in it calls.
    pub block: Value,
    /// Block given to the call of a block: its `&blk` parameter.
    pub own: Value,
    pub dst: usize,
    pub flags: u64,
}

impl ResolvedCall {
    pub fn new(recv: Value, args: Args, dst: usize, flags: u64) -> ResolvedCall {
        ResolvedCall { recv, args, kw: Value::UNDEF, kw_own: false, block: Value::NIL, own: Value::NIL, dst, flags }
    }
}

/// No such method.
pub const NO_METHOD: u32 = u32::MAX;

/// What goes to the other thread.
pub(crate) type Work = Box<dyn FnOnce(&std::sync::atomic::AtomicBool) -> Box<dyn std::any::Any>>;
