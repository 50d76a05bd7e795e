//! How a native answers that has no value: it raises, or names what is to be called in its place.
//!
//! **Invariant.** Each of these fills `pending` and gives the [`Exit`] that tells the loop to take it: return it at once.

use crate::Cx;
use crate::doors::*;
use crate::names::symbols::sym;
use kumi_heap::*;
use std::sync::atomic::Ordering::Relaxed;

impl Cx {
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
    /// The same with a message that is a value.
    pub(crate) fn make_exc_val(&mut self, class: Gc<ClassObj>, msg: Value) -> Value {
        let e = self.heap.object(class);
        self.ivar_set(e, sym::IV_MESSAGE, msg);
        e
    }
    /// Raises a new exception of a built-in class.
    pub fn raise_msg(&mut self, class: Gc<ClassObj>, msg: &str) -> Exit {
        let e = self.make_exc(class, msg);
        self.raise(e)
    }
    /// Raises TypeError.
    pub fn type_error(&mut self, msg: &str) -> Exit {
        self.raise_msg(self.k.type_error, msg)
    }
    /// Raises ArgumentError.
    pub fn arg_error(&mut self, msg: &str) -> Exit {
        self.raise_msg(self.k.argument_error, msg)
    }
    /// Raises RangeError.
    pub fn range_error(&mut self, msg: &str) -> Exit {
        self.raise_msg(self.k.range_error, msg)
    }
    /// Raises IndexError.
    pub fn index_error(&mut self, msg: &str) -> Exit {
        self.raise_msg(self.k.index_error, msg)
    }
    /// Raises RuntimeError.
    pub fn runtime_error(&mut self, msg: &str) -> Exit {
        self.raise_msg(self.k.runtime_error, msg)
    }
    /// Raises NoMemoryError at once. Who has changed nothing yet asks [`Cx::check_size`] instead, which collects first.
    pub fn no_memory(&mut self, what: &str) -> Exit {
        self.raise_msg(self.k.no_memory_error, what)
    }
    /// Raises NameError; `recv` and `name` are what `NameError#receiver` and `#name` give.
    pub fn name_error(&mut self, msg: &str, recv: Value, name: Sym) -> Exit {
        let e = self.make_exc(self.k.name_error, msg);
        self.ivar_set(e, sym::IV_NAME, Value::sym(name));
        self.ivar_set(e, sym::IV_RECEIVER, recv);
        self.raise(e)
    }
    /// "can't modify frozen String: \"abc\"": the inspected receiver is added by the prelude.
    pub(crate) fn frozen_error(&mut self, recv: Value) -> Exit {
        let call = Call::new(Target::Helper(self.intern("raise_frozen")), recv, Args::from_slice(&[recv]));
        self.pending.call = Some(call);
        Exit::Call
    }
    /// Raises FrozenError when `v` is frozen.
    #[inline(always)]
    pub fn check_frozen(&mut self, v: Value) -> Result<(), Exit> {
        if v.frozen() { Err(self.frozen_error(v)) } else { Ok(()) }
    }
    /// Raises FrozenError when the methods or ancestors of `class` may not change: who is named is the object whose
    /// singleton class it is, if it is one.
    pub fn check_modifiable(&mut self, class: Gc<ClassObj>) -> Result<(), Exit> {
        let attached = if class.is_singleton() { class.data.attached } else { Value::NIL };
        if class.val().frozen() || (attached.is_heap() && attached.frozen()) {
            return Err(self.call_helper("raise_frozen_class", &[class.val(), attached]));
        }
        Ok(())
    }
    /// Is there room for `bytes` more? If not, the native is called again from its start after a collection: it has changed nothing
    /// so far.
    ///
    /// # Errors
    /// Even then there is none: NoMemoryError.
    #[inline]
    pub fn check_size(&mut self, bytes: usize) -> Result<(), Exit> {
        if bytes < kumi_budget::LARGE { Ok(()) } else { self.check_large(bytes) }
    }
    /// SystemCallError of an errno (`Errno::ENOENT`), `detail` as in "No such file or directory @ rb_sysopen - x".
    pub fn errno_error(&mut self, errno: i32, detail: &str) -> Exit {
        let d = self.str(detail);
        self.call_helper("raise_errno", &[Value::fix(errno as i64), d])
    }
    /// A Float that was read from a text; with `-w` one that is beyond all Floats is told of.
    pub fn float_read(&mut self, f: f64, text: &[u8]) -> R {
        let v = self.float(f);
        if !f.is_infinite() || self.options.verbose.load(Relaxed) < 2 {
            return Ok(v);
        }
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.' | b'_');
        let number: Vec<u8> = text.trim_ascii_start().iter().take_while(|b| part(b)).filter(|b| **b != b'_').take(32).copied().collect();
        let hex = number.iter().take(3).any(|b| matches!(b, b'x' | b'X'));
        let stray = |b: &u8| !hex && b.is_ascii_alphabetic() && !matches!(b, b'e' | b'E');
        let end = number.iter().position(stray).unwrap_or(number.len());
        let token = self.str(&String::from_utf8_lossy(&number[..end]));
        Err(self.call_helper("float_out_of_range", &[token, v]))
    }
    /// Ends the native by calling `recv.mid(args)`; private methods are allowed.
    pub fn call(&mut self, recv: Value, mid: Sym, args: &[Value]) -> Exit {
        self.call_block(recv, mid, args, Value::NIL)
    }
    /// The same for public methods alone, as with a receiver in front of a dot.
    pub fn call_public(&mut self, recv: Value, mid: Sym, args: &[Value]) -> Exit {
        self.pending.call = Some(Call { fcall: false, ..Call::new(Target::Name(mid), recv, Args::from_slice(args)) });
        Exit::Call
    }
    /// As [`Cx::call`], with a block word.
    pub(crate) fn call_block(&mut self, recv: Value, mid: Sym, args: &[Value], block: Value) -> Exit {
        self.pending.call = Some(Call { block, ..Call::new(Target::Name(mid), recv, Args::from_slice(args)) });
        Exit::Call
    }
    /// Ends the native by calling a method of the prelude's helper module (`KumiSys`).
    pub fn call_helper(&mut self, name: &'static str, args: &[Value]) -> Exit {
        let s = self.intern(name);
        self.pending.call = Some(Call::new(Target::Helper(s), self.k.helpers.val(), Args::from_slice(args)));
        Exit::Call
    }
}
