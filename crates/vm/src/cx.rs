//! The context natives receive: one worker's view of a runtime.
//!
//! Nothing is global (rule 4): a process may hold several. Helper methods that
//! every native file needs are here; keep them small and free of policy.

use crate::native::*;
use crate::runtime::{Runtime, StateCell, StateRef};
use crate::symbols::sym;
use crate::task::{Task, TaskPtr, TaskTable};
use crate::world::CacheEntry;
use kumi_heap::*;
use kumi_num::BigInt;
use kumi_text::encoding::EncIndex;
use smallvec::SmallVec;
use std::any::TypeId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8};

/// One worker of a runtime: what natives receive. Derefs to the [`Runtime`] that all workers share.
pub struct Cx {
    pub heap: Heap,
    pub(crate) rt: Arc<Runtime>,
    /// Its number; 0 is the process's first thread.
    pub worker: usize,
    /// Other workers are active: natives run with their guards.
    pub(crate) parallel: bool,
    pub(crate) cache: Box<[CacheEntry]>,
    pub pending: Pending,
    /// The running frame and the next instruction, valid while a native or slow path runs.
    pub(crate) fp: *mut Value,
    pub(crate) pc: *const std::sync::atomic::AtomicU64,
    pub(crate) stack_end: *mut Value,
    /// Sites of library code that went out, as this worker knows them.
    pub(crate) asked: crate::sites::Asked,
    /// The runtime's, copied.
    pub stack_sizes: crate::stack::StackSizes,
    /// The native that raises just now, for the backtrace.
    pub(crate) raising_native: u32,
    /// Where a suspended native goes on; see `sched`.
    pub(crate) switch_to: Option<(u64, Result<Value, Value>)>,
    /// Why the default method_missing is about to run.
    pub(crate) missing: crate::interp::Missing,
    /// `KUMI_GC_STRESS`: collect at every k-th safepoint.
    pub gc_stress: u32,
    /// The heap is verified at collections: see `verify`.
    pub(crate) verifies: bool,
    /// Window collections until the next look.
    pub(crate) verify_pause: u32,
    pub(crate) gc_tick: u32,
    /// The running task. Its stack bounds and base are mirrored in the loop's locals.
    pub task: TaskPtr,
    /// The first task of its thread.
    pub(crate) root: TaskPtr,
    /// Stands where no task runs.
    pub(crate) nobody: Box<Task>,
    /// When the running thread has had its turn.
    pub(crate) turn_ends: u64,
    /// The task that the running one woke first in its turn: it is queued at the front and goes on with that turn. 0: none.
    pub(crate) front: u64,
    /// `KUMI_SCHED_STRESS`: state of the dice; 0: off.
    pub(crate) stress: u64,
    pub(crate) events: Vec<kumi_sched::Event>,
    /// Tasks of the running thread that may hold private values and do not run now: see `gc`.
    pub(crate) recent: Vec<u64>,
    /// Long work of the running task's native.
    pub(crate) detour: crate::detach::Detour,
    /// Where states of native crates are, by type.
    states: rustc_hash::FxHashMap<TypeId, *const ()>,
}

impl std::ops::Deref for Cx {
    type Target = Runtime;
    #[inline(always)]
    fn deref(&self) -> &Runtime {
        &self.rt
    }
}

impl Cx {
    /// A worker of `rt`.
    pub(crate) fn worker(rt: Arc<Runtime>, heap: Heap, worker: usize) -> Box<Cx> {
        let mut nobody = Box::new(Task::new());
        let task = TaskPtr::of(&mut nobody);
        let stress = std::env::var("KUMI_SCHED_STRESS").ok().and_then(|v| v.trim().parse::<u64>().ok());
        let mut cx = Box::new(Cx {
            worker,
            parallel: false,
            turn_ends: 0,
            front: 0,
            stress: stress.map_or(0, |s| s.wrapping_mul(2).wrapping_add(2 * worker as u64 + 1)),
            events: Vec::new(),
            recent: Vec::new(),
            detour: Default::default(),
            states: Default::default(),
            root: task,
            task,
            nobody,
            heap,
            stack_sizes: rt.stack_sizes,
            rt,
            cache: crate::world::empty_cache(),
            pending: Pending::default(),
            fp: std::ptr::null_mut(),
            pc: std::ptr::null(),
            stack_end: std::ptr::null_mut(),
            raising_native: crate::world::NO_METHOD,
            switch_to: None,
            missing: Default::default(),
            gc_stress: 0,
            verifies: false,
            verify_pause: 0,
            gc_tick: 0,
            asked: Default::default(),
        });
        cx.tell_heap_where();
        cx
    }
    pub(crate) fn shared_tasks(&self) -> Arc<TaskTable> {
        self.rt.tasks.clone()
    }
    pub(crate) fn sched_cell(&self) -> &std::sync::OnceLock<Arc<kumi_sched::Sched>> {
        &self.rt.sched
    }
    /// The runtime for writing, at boot: while this is its only worker.
    pub fn boot(&mut self) -> &mut Runtime {
        // SAFETY: other workers are started by the first `Thread.new`, after boot; until then nobody
        // else holds a reference into the runtime.
        unsafe { &mut *(Arc::as_ptr(&self.rt) as *mut Runtime) }
    }
}

/// What the command line set, and `$VERBOSE` and its kin change.
#[derive(Debug)]
pub struct Options {
    /// -w: nil, false, true as 0, 1, 2.
    pub verbose: AtomicU8,
    pub debug: AtomicBool,
    pub dump_insns: bool,
    pub script: String,
    /// The real folder that stands for the library in the binary; empty: none does.
    pub library: String,
    pub frozen_strings: bool,
    pub backtrace_limit: i64,
    pub warn_deprecated: AtomicBool,
    pub warn_experimental: AtomicBool,
    pub warn_performance: AtomicBool,
}

impl Options {
    /// Is the file one of the runtime's own, in the binary or in the folder that stands for it?
    pub fn is_own(&self, path: &str) -> bool {
        path.starts_with("<internal:")
            || !self.library.is_empty() && path.strip_prefix(&*self.library).is_some_and(|rest| rest.starts_with('/'))
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            verbose: AtomicU8::new(1),
            debug: AtomicBool::new(false),
            dump_insns: false,
            script: "-".into(),
            library: String::new(),
            frozen_strings: false,
            backtrace_limit: -1,
            warn_deprecated: AtomicBool::new(false),
            warn_experimental: AtomicBool::new(true),
            warn_performance: AtomicBool::new(false),
        }
    }
}

impl Cx {
    // --- names ---------------------------------------------------------------

    pub fn intern(&mut self, s: &str) -> Sym {
        self.syms.intern(s.as_bytes())
    }
    pub fn sym(&mut self, s: &str) -> Value {
        Value::sym(self.intern(s))
    }
    pub fn sym_name(&self, s: Sym) -> String {
        String::from_utf8_lossy(self.syms.name(s)).into_owned()
    }

    // --- making values ---------------------------------------------------------

    /// A UTF-8 string.
    pub fn str(&mut self, s: &str) -> Value {
        self.heap.str(self.k.string.val(), s.as_bytes(), EncIndex::UTF_8.as_u8()).val()
    }
    /// A string of bytes in an encoding.
    pub fn str_enc(&mut self, b: &[u8], enc: EncIndex) -> Value {
        self.heap.str(self.k.string.val(), b, enc.as_u8()).val()
    }
    /// A string that takes over a vector.
    pub fn str_vec(&mut self, b: Vec<u8>, enc: EncIndex) -> Value {
        self.heap.str(self.k.string.val(), &b, enc.as_u8()).val()
    }
    /// A US-ASCII string (what Integer#to_s and the like give).
    pub fn str_ascii(&mut self, s: &str) -> Value {
        self.heap.str(self.k.string.val(), s.as_bytes(), EncIndex::US_ASCII.as_u8()).val()
    }
    pub fn array(&mut self, v: &[Value]) -> Value {
        self.heap.array(self.k.array.val(), v).val()
    }
    pub fn array_vec(&mut self, v: Vec<Value>) -> Value {
        self.heap.array(self.k.array.val(), &v).val()
    }
    pub fn hash(&mut self) -> Value {
        self.heap.hash(self.k.hash.val(), HashData::default()).val()
    }
    pub fn range(&mut self, lo: Value, hi: Value, exclusive: bool) -> Value {
        self.heap.range(self.k.range.val(), lo, hi, exclusive)
    }
    #[inline(always)]
    pub fn float(&mut self, f: f64) -> Value {
        match Value::try_flo(f) {
            Some(v) => v,
            None => self.heap.float(self.k.float.val(), f),
        }
    }
    /// An Integer.
    #[inline(always)]
    pub fn int(&mut self, i: i64) -> Value {
        match Value::try_fix(i) {
            Some(v) => v,
            None => self.heap.big(self.k.integer.val(), BigInt::from_i64(i)),
        }
    }
    pub fn uint(&mut self, i: u64) -> Value {
        if i <= FIXNUM_MAX as u64 { Value::fix(i as i64) } else { self.heap.big(self.k.integer.val(), BigInt::from_u64(i)) }
    }
    pub fn int128(&mut self, i: i128) -> Value {
        if i >= FIXNUM_MIN as i128 && i <= FIXNUM_MAX as i128 {
            Value::fix(i as i64)
        } else {
            self.heap.big(self.k.integer.val(), BigInt::from_i128(i))
        }
    }
    pub fn big(&mut self, n: BigInt) -> Value {
        self.heap.big(self.k.integer.val(), n)
    }
    pub fn data<T: Payload>(&mut self, class: Gc<ClassObj>, payload: T) -> Value {
        self.heap.data(class.val(), payload)
    }
    /// Keeps a value alive for the runtime's life.
    pub fn keep(&mut self, v: Value) {
        self.heap.publish(v);
        self.rt.keep(v);
    }
    /// Adds to an array, with the barrier.
    #[inline]
    pub fn push(&mut self, mut a: Gc<ArrayObj>, v: Value) {
        self.heap.before_store(a.val(), v);
        a.push(v);
        self.heap.charge(8);
    }

    // --- reading arguments -------------------------------------------------------

    /// Argument `i` as an i64: fixnums as they are, bignums are a RangeError, others are converted by to_int.
    pub fn arg_i64(&mut self, args: &[Value], i: usize) -> Result<i64, Exit> {
        let v = args[i];
        if v.is_fix() {
            return Ok(v.fix_val());
        }
        if let Some(f) = v.as_float() {
            if f.is_finite() && (-9223372036854775808.0..9223372036854775808.0).contains(&f) {
                return Ok(f as i64);
            }
            if !f.is_finite() {
                let t = if f.is_nan() {
                    "NaN".to_string()
                } else if f > 0.0 {
                    "Infinity".into()
                } else {
                    "-Infinity".into()
                };
                return Err(self.raise_msg(self.k.float_domain_error, &t));
            }
            return Err(self.range_error(&format!("float {} out of range of integer", f)));
        }
        if let Some(b) = v.as_big() {
            return match b.n.to_i64() {
                Some(i) => Ok(i),
                None => Err(self.range_error("bignum too big to convert into 'long'")),
            };
        }
        self.no_implicit_unless(v, i, Proto::Int)
    }
    fn no_implicit_unless<T>(&mut self, v: Value, i: usize, p: Proto) -> Result<T, Exit> {
        // nil, true, false never convert: the message names them as they are.
        if p == Proto::Int && v.is_nil() {
            return Err(self.type_error("no implicit conversion of nil into Integer"));
        }
        Err(Exit::Convert(i as u8, p))
    }
    /// Argument `i` as an Integer value (fixnum or bignum), converted by to_int.
    pub fn arg_int(&mut self, args: &[Value], i: usize) -> Result<Value, Exit> {
        let v = args[i];
        if v.is_fix() || v.as_big().is_some() {
            return Ok(v);
        }
        if let Some(f) = v.as_float() {
            if f.is_finite() {
                if let Some(n) = BigInt::from_f64(f) {
                    return Ok(self.big(n));
                }
            }
        }
        self.no_implicit_unless(v, i, Proto::Int)
    }
    /// Argument `i` as a String, converted by to_str.
    #[inline]
    pub fn arg_str(&mut self, args: &[Value], i: usize) -> Result<Gc<StrObj>, Exit> {
        args[i].as_str().ok_or(Exit::Convert(i as u8, Proto::Str))
    }
    /// Argument `i` as an Array, converted by to_ary.
    #[inline]
    pub fn arg_array(&mut self, args: &[Value], i: usize) -> Result<Gc<ArrayObj>, Exit> {
        args[i].as_array().ok_or(Exit::Convert(i as u8, Proto::Ary))
    }
    pub fn arg_hash(&mut self, args: &[Value], i: usize) -> Result<Gc<HashObj>, Exit> {
        args[i].as_hash().ok_or(Exit::Convert(i as u8, Proto::Hash))
    }
    /// Argument `i` as a path: to_path, then to_str; no NUL inside.
    pub fn arg_path(&mut self, args: &[Value], i: usize) -> Result<Gc<StrObj>, Exit> {
        let s = args[i].as_str().ok_or(Exit::Convert(i as u8, Proto::Path))?;
        if s.bytes().contains(&0) {
            return Err(self.arg_error("string contains null byte"));
        }
        Ok(s)
    }
    /// Argument `i` as a double: Integer, Float, Rational; other Numerics by to_f; strings are a TypeError.
    pub fn arg_f64(&mut self, args: &[Value], i: usize) -> Result<f64, Exit> {
        let v = args[i];
        if v.is_fix() {
            return Ok(v.fix_val() as f64);
        }
        if let Some(f) = v.as_float() {
            return Ok(f);
        }
        if let Some(b) = v.as_big() {
            return Ok(b.n.to_f64());
        }
        Err(Exit::Convert(i as u8, Proto::Float))
    }
    /// Argument `i` as a name: Symbol, String, to_str.
    pub fn arg_name(&mut self, args: &[Value], i: usize) -> Result<Sym, Exit> {
        let v = args[i];
        if let Some(s) = v.as_sym() {
            return Ok(s);
        }
        if let Some(s) = v.as_str() {
            return Ok(self.syms.intern(s.bytes()));
        }
        Err(Exit::Convert(i as u8, Proto::Name))
    }
    /// Argument `i` as a class or module.
    pub fn arg_class(&mut self, args: &[Value], i: usize) -> Result<Gc<ClassObj>, Exit> {
        match args[i].as_class() {
            Some(c) => Ok(c),
            None => Err(self.type_error("class or module required")),
        }
    }
    /// Encoding of a string cell.
    pub fn enc_of(&self, s: Gc<StrObj>) -> EncIndex {
        EncIndex::from_u8(s.enc())
    }

    // --- raising -------------------------------------------------------------------

    /// Raises an exception object.
    pub fn raise(&mut self, exc: Value) -> Exit {
        self.pending.exc = exc;
        Exit::Raise
    }
    /// A new exception of a built-in class with a message (no user `initialize` runs).
    pub fn make_exc(&mut self, class: Gc<ClassObj>, msg: &str) -> Value {
        let m = self.str(msg);
        self.make_exc_val(class, m)
    }
    pub fn make_exc_val(&mut self, class: Gc<ClassObj>, msg: Value) -> Value {
        let e = self.heap.object(class);
        self.ivar_set(e, sym::IV_MESSAGE, msg);
        e
    }
    pub fn raise_msg(&mut self, class: Gc<ClassObj>, msg: &str) -> Exit {
        let e = self.make_exc(class, msg);
        self.raise(e)
    }
    pub fn type_error(&mut self, msg: &str) -> Exit {
        self.raise_msg(self.k.type_error, msg)
    }
    pub fn arg_error(&mut self, msg: &str) -> Exit {
        self.raise_msg(self.k.argument_error, msg)
    }
    pub fn range_error(&mut self, msg: &str) -> Exit {
        self.raise_msg(self.k.range_error, msg)
    }
    pub fn index_error(&mut self, msg: &str) -> Exit {
        self.raise_msg(self.k.index_error, msg)
    }
    pub fn runtime_error(&mut self, msg: &str) -> Exit {
        self.raise_msg(self.k.runtime_error, msg)
    }
    pub fn no_memory(&mut self, what: &str) -> Exit {
        self.raise_msg(self.k.no_memory_error, what)
    }
    pub fn name_error(&mut self, msg: &str, recv: Value, name: Sym) -> Exit {
        let e = self.make_exc(self.k.name_error, msg);
        self.ivar_set(e, sym::IV_NAME, Value::sym(name));
        self.ivar_set(e, sym::IV_RECEIVER, recv);
        self.raise(e)
    }
    /// "can't modify frozen String: \"abc\"": the inspected receiver is added by the prelude.
    pub fn frozen_error(&mut self, recv: Value) -> Exit {
        let call = Call {
            target: Target::Helper(self.intern("raise_frozen")),
            recv,
            args: SmallVec::from_slice(&[recv]),
            kw: Value::UNDEF,
            block: Value::NIL,
            fcall: true,
            result: Value::UNDEF,
        };
        self.pending.call = Some(call);
        Exit::Call
    }
    /// Raises FrozenError when `v` is frozen.
    #[inline(always)]
    pub fn check_frozen(&mut self, v: Value) -> Result<(), Exit> {
        if v.frozen() { Err(self.frozen_error(v)) } else { Ok(()) }
    }
    /// Refuses absurd sizes before they are allocated.
    pub fn check_size(&mut self, bytes: usize) -> Result<(), Exit> {
        if self.heap.can_allocate(bytes) { Ok(()) } else { Err(self.no_memory("failed to allocate memory")) }
    }
    /// SystemCallError of an errno (`Errno::ENOENT`), `detail` as in "No such file or directory @ rb_sysopen - x".
    pub fn errno_error(&mut self, errno: i32, detail: &str) -> Exit {
        let d = self.str(detail);
        self.call_helper("raise_errno", &[Value::fix(errno as i64), d])
    }

    // --- calling in my place -------------------------------------------------------

    /// Ends the native by calling `recv.mid(args)`; private methods are allowed.
    pub fn call(&mut self, recv: Value, mid: Sym, args: &[Value]) -> Exit {
        self.call_block(recv, mid, args, Value::NIL)
    }
    pub fn call_block(&mut self, recv: Value, mid: Sym, args: &[Value], block: Value) -> Exit {
        self.pending.call = Some(Call {
            target: Target::Name(mid),
            recv,
            args: SmallVec::from_slice(args),
            kw: Value::UNDEF,
            block,
            fcall: true,
            result: Value::UNDEF,
        });
        Exit::Call
    }
    /// Ends the native by calling a method of the prelude's helper module (`module __Kumi`).
    pub fn call_helper(&mut self, name: &str, args: &[Value]) -> Exit {
        let s = self.intern(name);
        self.pending.call = Some(Call {
            target: Target::Helper(s),
            recv: self.k.helpers.val(),
            args: SmallVec::from_slice(args),
            kw: Value::UNDEF,
            block: Value::NIL,
            fcall: true,
            result: Value::UNDEF,
        });
        Exit::Call
    }

    // --- instance variables ----------------------------------------------------------

    /// Instance variable of any object; undef when not set.
    pub fn ivar_get(&mut self, v: Value, name: Sym) -> Value {
        match v.kind() {
            Some(Kind::Object) => {
                let Some(o) = v.cell::<ObjectObj>() else { return Value::UNDEF };
                match self.heap.shapes.slot(o.hdr.aux, name) {
                    Some(i) => o.slot(i),
                    None => Value::UNDEF,
                }
            }
            Some(Kind::Class) => {
                let _classes = self.lock_classes();
                v.as_class().and_then(|c| c.data.ivars.iter().find(|p| p.0 == name).map(|p| p.1)).unwrap_or(Value::UNDEF)
            }
            Some(_) => self.heap.side_ivar(v, name),
            None => Value::UNDEF,
        }
    }
    /// Sets an instance variable (the caller has checked frozenness).
    pub fn ivar_set(&mut self, v: Value, name: Sym, val: Value) {
        match v.kind() {
            Some(Kind::Object) => {
                let Some(mut o) = v.cell::<ObjectObj>() else { return };
                self.heap.before_store(v, val);
                match self.heap.shapes.slot(o.hdr.aux, name) {
                    Some(i) => o.set_slot(i, val),
                    None => {
                        let i = self.heap.shapes.count(o.hdr.aux);
                        // The value before the shape that tells of it.
                        o.set_slot(i, val);
                        let shape = self.heap.shapes.add(o.hdr.aux, name);
                        o.set_shape(shape);
                        if let Some(mut c) = o.hdr.class.as_class() {
                            if c.slots <= i as u16 && i < 60 {
                                c.slots = i as u16 + 1;
                            }
                        }
                    }
                }
            }
            Some(Kind::Class) => {
                self.heap.before_store(v, val);
                let _classes = self.lock_classes();
                if let Some(mut c) = v.as_class() {
                    match c.data.ivars.iter().position(|p| p.0 == name) {
                        Some(i) => c.data.ivars[i].1 = val,
                        None => c.data.ivars.push((name, val)),
                    }
                }
            }
            Some(_) => self.heap.set_side_ivar(v, name, val),
            None => {}
        }
    }
    /// Names and values of all set instance variables, hidden ones (`@__x`) included.
    pub fn ivars(&self, v: Value) -> Vec<(Sym, Value)> {
        match v.kind() {
            Some(Kind::Object) => {
                let Some(o) = v.cell::<ObjectObj>() else { return Vec::new() };
                let names = self.heap.shapes.names(o.hdr.aux);
                names.into_iter().enumerate().map(|(i, s)| (s, o.slot(i as u32))).filter(|p| !p.1.is_undef()).collect()
            }
            Some(Kind::Class) => {
                let _classes = self.lock_classes();
                v.as_class().map_or(Vec::new(), |c| c.data.ivars.clone())
            }
            Some(_) => self.heap.side_ivars(v),
            None => Vec::new(),
        }
    }
    /// Is the name of an instance variable hidden from Ruby?
    pub fn hidden_ivar(&self, s: Sym) -> bool {
        self.syms.name(s).starts_with(b"@__")
    }
    /// Removes an instance variable; its old value.
    pub fn ivar_remove(&mut self, v: Value, name: Sym) -> Option<Value> {
        let old = self.ivar_get(v, name);
        if old.is_undef() {
            return None;
        }
        match v.kind() {
            Some(Kind::Object) if self.parallel && v.needs_lock() => {
                // Its place stays, so that who stores into another slot just now is not in the wrong one.
                let mut o = v.cell::<ObjectObj>()?;
                let i = self.heap.shapes.slot(o.hdr.aux, name)?;
                o.set_slot(i, Value::UNDEF);
            }
            Some(Kind::Object) => {
                let all = self.ivars(v);
                let mut o = v.cell::<ObjectObj>()?;
                let n = self.heap.shapes.count(o.hdr.aux);
                for i in 0..n {
                    o.set_slot(i, Value::UNDEF);
                }
                o.hdr.aux = ROOT_SHAPE;
                for (s, x) in all {
                    if s != name {
                        self.ivar_set(v, s, x);
                    }
                }
            }
            Some(Kind::Class) => {
                let _classes = self.lock_classes();
                v.as_class()?.data.ivars.retain(|p| p.0 != name)
            }
            _ => self.heap.set_side_ivar(v, name, Value::UNDEF),
        }
        Some(old)
    }

    // --- describing ---------------------------------------------------------------------

    /// Full name of a class or module as `inspect` shows it.
    pub fn class_name(&mut self, c: Gc<ClassObj>) -> String {
        let _classes = self.lock_classes();
        if let Some(r) = c.data.refined {
            let owner = c.data.attached.as_class().map(|m| format!("@{}", self.class_name(m)));
            return format!("#<refinement:{}{}>", self.class_name(r), owner.unwrap_or_default());
        }
        if let Some(n) = &c.data.name {
            return String::from_utf8_lossy(n).into_owned();
        }
        if c.is_singleton() {
            let a = c.data.attached;
            let inner = match a.as_class() {
                Some(k) => self.class_name(k),
                None => self.any_to_s(a),
            };
            return format!("#<Class:{inner}>");
        }
        let kind = self.real_class(c.val());
        let kind = self.class_name(kind);
        format!("#<{}:0x{:016x}>", kind, self.heap.object_id(c.val()) * 8)
    }
    /// `#<Foo>` as Kernel#to_s gives it.
    pub fn any_to_s(&mut self, v: Value) -> String {
        let c = self.real_class(v);
        let n = self.class_name(c);
        let id = if v.is_heap() { self.heap.object_id(v) } else { v.bits() };
        format!("#<{n}:0x{:016x}>", id * 8)
    }
    /// How error messages name a value: "nil", "true", "an instance of Foo", "class Foo", "module Foo", "main".
    pub fn describe(&mut self, v: Value) -> String {
        match v {
            Value::NIL => "nil".into(),
            Value::TRUE => "true".into(),
            Value::FALSE => "false".into(),
            _ if v == self.main_object => "main".into(),
            _ => match v.as_class() {
                Some(c) => format!("{} {}", if c.is_class() { "class" } else { "module" }, self.class_name(c)),
                // An object with methods of its own is told apart by its identity.
                None if self.class_of(v).is_singleton() => self.any_to_s(v),
                None => {
                    let c = self.real_class(v);
                    format!("an instance of {}", self.class_name(c))
                }
            },
        }
    }
    /// How conversion errors name a value: "nil", "true", "false" or its class.
    pub fn describe_type(&mut self, v: Value) -> String {
        match v {
            Value::NIL => "nil".into(),
            Value::TRUE => "true".into(),
            Value::FALSE => "false".into(),
            _ => {
                let c = self.real_class(v);
                self.class_name(c)
            }
        }
    }
    /// Text of a String value, lossy, for messages.
    pub fn text(&self, v: Value) -> String {
        v.as_str().map_or(String::new(), |s| String::from_utf8_lossy(s.bytes()).into_owned())
    }
    /// State of a native crate, made on first use; locked until dropped, so keep it for a statement.
    pub fn state<T: Default + 'static>(&mut self) -> StateRef<'_, T> {
        let cell = self.state_place::<T>();
        // SAFETY: cells live as long as the runtime, which this worker keeps.
        unsafe { (*cell).borrow(self.parallel) }
    }
    fn state_place<T: Default + 'static>(&mut self) -> *const StateCell<T> {
        match self.states.get(&TypeId::of::<T>()) {
            Some(p) => *p as *const StateCell<T>,
            None => {
                let p = self.rt.state_cell::<T>();
                self.states.insert(TypeId::of::<T>(), p as *const ());
                p
            }
        }
    }
    /// State of a native crate that is safe to share by itself.
    pub fn shared_state<T: Default + Sync + 'static>(&mut self) -> &'static T {
        let cell = self.state_place::<T>();
        // SAFETY: as in `state`; workers end before their runtime, and nobody borrows a `Sync` state for writing.
        unsafe { (*cell).shared() }
    }
    /// Locks an object that is neither receiver nor argument, for a native of [`Guard::None`]; it must not hold other objects.
    #[inline]
    pub fn lock_objects(&self, recv: Value, args: &[Value]) -> Option<LockSet> {
        self.parallel.then(|| LockSet::new(recv, args))
    }
    /// Do other workers run just now?
    #[inline]
    pub fn is_parallel(&self) -> bool {
        self.parallel
    }
}
