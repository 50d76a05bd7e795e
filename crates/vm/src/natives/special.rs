//! Special methods: those that pass on keywords and blocks as they came (`send`, `Proc#call`, `Class#new`, ...).
//!
//! **Invariant.** A [`Special`] body gets the whole call from the loop and ends it like any other path of the call: it is no
//! native, and may therefore push frames.

use crate::doors::NO_METHOD;
use crate::doors::ResolvedCall;
use crate::doors::*;
use crate::interp::Missing;
use crate::tasks::outcome::Outcome;
use crate::world::method::{Body, Method, Special};
use crate::{Cx, MethodObj, sym};
use kumi_heap::*;

impl Cx {
    /// Enters the special methods.
    pub(crate) fn specials(&mut self) {
        use Special::*;
        let rows: &[(&str, &str, Special, Vis)] = &[
            ("BasicObject", "__send__", Send, Vis::Public),
            ("Kernel", "send", Send, Vis::Public),
            ("Kernel", "public_send", PublicSend, Vis::Public),
            ("BasicObject", "instance_exec", InstanceExec, Vis::Public),
            ("BasicObject", "instance_eval", InstanceEval, Vis::Public),
            ("Module", "class_exec", ClassExec, Vis::Public),
            ("Module", "module_exec", ClassExec, Vis::Public),
            ("Module", "class_eval", ClassEval, Vis::Public),
            ("Module", "module_eval", ClassEval, Vis::Public),
            ("Class", "new", New, Vis::Public),
            ("Proc", "call", ProcCall, Vis::Public),
            ("Proc", "()", ProcCall, Vis::Public),
            ("Proc", "yield", ProcCall, Vis::Public),
            ("Proc", "===", ProcCall, Vis::Public),
            ("Proc", "[]", ProcCall, Vis::Public),
            ("Method", "call", MethodCall, Vis::Public),
            ("Method", "()", MethodCall, Vis::Public),
            ("Method", "===", MethodCall, Vis::Public),
            ("Method", "[]", MethodCall, Vis::Public),
            ("Thread.", "new", ThreadNew, Vis::Public),
        ];
        for (class, name, s, vis) in rows {
            let Some(mut c) = self.own_path(class.trim_end_matches('.')).and_then(|v| v.as_class()) else { continue };
            if class.ends_with('.') {
                c = self.singleton_class(c.val()).unwrap_or(c);
            }
            let name = self.intern(name);
            let mut e = Method::new(c, name, Body::Special(*s));
            e.builtin = true;
            e.vis = *vis;
            self.add_method(c, name, e);
        }
    }
    /// Runs a special body.
    pub(crate) fn call_special(&mut self, s: Special, m: u32, mut r: ResolvedCall) -> Outcome {
        match s {
            Special::Send | Special::PublicSend => {
                let Some(first) = r.args.first().copied() else {
                    let x = self.arg_error("no method name given");
                    return self.native_exit_general(x, m, r);
                };
                let mid = match self.arg_name(&[first], 0) {
                    Ok(s) => s,
                    Err(_) => {
                        let x = self.convert_first(m, &r);
                        return self.leaf_exit_to(x, r.dst, r.flags);
                    }
                };
                r.args.remove(0);
                let class = self.class_of(r.recv);
                // The library's own calls see no refinements.
                let (found, _) = self.lookup_in(self.fp(), class, mid);
                if found == NO_METHOD {
                    return self.method_missing(mid, Missing::None, r);
                }
                let vis = self.methods[found as usize].vis;
                if s == Special::PublicSend && vis != Vis::Public {
                    return self.method_missing(mid, Missing::hidden(vis), r);
                }
                let found = self.method_to_call(class, found);
                self.dispatch(found, r)
            }
            Special::New => {
                let Some(c) = r.recv.as_class() else {
                    let x = self.type_error("class required");
                    return self.native_exit_general(x, m, r);
                };
                if c.is_singleton() {
                    let x = self.type_error("can't create instance of singleton class");
                    return self.native_exit_general(x, m, r);
                }
                if c == self.k.array && r.block.is_nil() && r.kw.is_undef() {
                    if let Some(a) = self.array_new_fast(&r.args) {
                        return self.deliver(a, r.dst, r.flags);
                    }
                }
                let meta = self.class_of(r.recv);
                let alloc = self.find_method(meta, sym::ALLOCATE);
                let plain = alloc != NO_METHOD && self.methods[alloc as usize].builtin;
                let mut obj = if plain { self.heap.instance(c) } else { None };
                if plain && obj.is_none() {
                    // A class whose instances have a payload brings its own native.
                    let (native, guard) = (self.methods[alloc as usize].native, self.methods[alloc as usize].guard);
                    obj = native.and_then(|f| self.run_native(f, guard, r.recv, &[]).ok());
                }
                let Some(obj) = obj else {
                    // allocate is the user's, or the class's own native one: the prelude makes both calls.
                    let name = self.intern("allocate_new");
                    let mut args = Args::new();
                    args.push(r.recv);
                    args.extend_from_slice(&r.args);
                    let call = Call { kw: r.kw, kw_own: r.kw_own, block: r.block, ..Call::new(Target::Helper(name), Value::NIL, args) };
                    return self.do_call(call, r.dst, r.flags);
                };
                let call = Call {
                    kw: r.kw,
                    kw_own: r.kw_own,
                    block: r.block,
                    result: obj,
                    ..Call::new(Target::Name(sym::INITIALIZE), obj, r.args)
                };
                self.do_call(call, r.dst, r.flags)
            }
            Special::ThreadNew => {
                let init = self.find_method(self.k.thread, sym::INITIALIZE);
                // A Ractor knows its threads, and a native that finds no room is called again: both are the prelude's affair.
                let plain = r.recv == self.k.thread.val()
                    && init != NO_METHOD
                    && self.methods[init as usize].builtin
                    && !self.task.is_isolated()
                    && !self.is_without_task_room();
                if plain && !r.block.is_nil() {
                    let b = self.block_value(r.block);
                    if b.as_proc().is_some() {
                        let kw = self.own_keywords(&r);
                        return match self.thread_new(self.k.thread, b, &r.args, kw) {
                            Ok(v) => self.deliver(v, r.dst, r.flags),
                            Err(x) => self.native_exit_general(x, m, r),
                        };
                    }
                }
                let name = self.intern("thread_new");
                let mut args = Args::new();
                args.push(r.recv);
                args.extend_from_slice(&r.args);
                let target = Target::Helper(name);
                let call = Call { kw: r.kw, kw_own: r.kw_own, block: r.block, ..Call::new(target, Value::NIL, args) };
                self.do_call(call, r.dst, r.flags)
            }
            Special::ProcCall => {
                let p = r.recv;
                self.call_block_word(p, None, r)
            }
            Special::InstanceExec | Special::InstanceEval | Special::ClassExec | Special::ClassEval => self.eval_special(s, m, r),
            Special::MethodCall => {
                let Some(o) = r.recv.as_data::<MethodObj>() else {
                    let x = self.type_error("uninitialized method");
                    return self.native_exit_general(x, m, r);
                };
                let (recv, index, name) = (o.recv, o.method, o.name);
                r.recv = recv;
                if index == NO_METHOD {
                    return self.method_missing(name, Missing::None, r);
                }
                self.dispatch(index, r)
            }
        }
    }
    /// The call's keywords for later: what happens to the Hash that they came in is not theirs.
    fn own_keywords(&mut self, r: &ResolvedCall) -> Value {
        match r.kw.as_hash() {
            Some(h) if !r.kw_own => self.hash_dup(h),
            _ => r.kw,
        }
    }
    /// Is Array#initialize still the runtime's own?
    /// `Array.new(n, v)` without a call.
    pub(crate) fn array_new_fast(&mut self, args: &[Value]) -> Option<Value> {
        let n = args.first().map_or(Some(0), |v| v.as_fix()).filter(|n| (0..1 << 20).contains(n))?;
        if args.len() > 2 || !self.array_init_plain() {
            return None;
        }
        let v = args.get(1).copied().unwrap_or(Value::NIL);
        Some(self.heap.array_buf(self.k.array.val(), RaceVec::from_elem(v, n as usize)).val())
    }
    fn array_init_plain(&mut self) -> bool {
        let m = self.find_method(self.k.array, sym::INITIALIZE);
        m != NO_METHOD && self.methods[m as usize].builtin
    }
    fn convert_first(&mut self, m: u32, r: &ResolvedCall) -> Exit {
        let a = self.array(&r.args);
        let kw = if r.kw.is_undef() { Value::NIL } else { r.kw };
        let mut x = self.call_helper("send_retry", &[Value::fix(m as i64), r.recv, a, kw]);
        if let Some(c) = &mut self.pending.call {
            c.block = r.block;
        } else {
            x = Exit::Raise;
        }
        x
    }
    fn eval_special(&mut self, s: Special, m: u32, r: ResolvedCall) -> Outcome {
        let class_form = matches!(s, Special::ClassExec | Special::ClassEval);
        let eval = matches!(s, Special::InstanceEval | Special::ClassEval);
        if r.block.is_nil() {
            if eval && !r.args.is_empty() && r.args.len() <= 3 {
                let name = if class_form { "class_eval_string" } else { "instance_eval_string" };
                let mut args = Args::new();
                args.push(r.recv);
                args.extend_from_slice(&r.args);
                let name = self.intern(name);
                let call = Call::new(Target::Helper(name), Value::NIL, args);
                return self.do_call(call, r.dst, r.flags);
            }
            let x = if eval {
                self.arg_error(if r.args.is_empty() {
                    "wrong number of arguments (given 0, expected 1..3)"
                } else {
                    "wrong number of arguments (given 4, expected 1..3)"
                })
            } else {
                let e = self.make_exc(self.k.local_jump_error, "no block given (yield)");
                self.raise(e)
            };
            return self.native_exit_general(x, m, r);
        }
        if eval && !r.args.is_empty() {
            let x = self.arity_error(r.args.len(), 0, Some(0));
            return self.native_exit_general(x, m, r);
        }
        // The block as it is: nobody asked for a Proc.
        let prc = r.block;
        let definee = r.recv;
        let mut args = r.args;
        if eval {
            args.push(r.recv);
        }
        let call = Call { kw: r.kw, kw_own: r.kw_own, ..Call::new(Target::ProcSelf { prc, definee, eval: class_form }, r.recv, args) };
        self.do_call(call, r.dst, r.flags)
    }
}
