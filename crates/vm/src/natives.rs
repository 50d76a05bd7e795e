//! Natives that need the loop itself: sending, evaluating, procs, catch and throw.
//!
//! Methods that pass on keywords and blocks as they came (`send`, `Proc#call`,
//! `Class#new`, ...) are [`Special`] bodies: the loop gives them the whole call.

use crate::interp::{Backtrace, EvalScope, Flow, Missing, Ready};
use crate::method::{Body, Special};
use crate::native::*;
use crate::world::NO_METHOD;
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
            ("UnboundMethod", "bind_call", BindCall, Vis::Public),
            ("Thread.", "new", ThreadNew, Vis::Public),
        ];
        for (class, name, s, vis) in rows {
            let Some(mut c) = self.const_path(class.trim_end_matches('.')).and_then(|v| v.as_class()) else { continue };
            if class.ends_with('.') {
                c = self.singleton_class(c.val()).unwrap_or(c);
            }
            let name = self.intern(name);
            let mut e = self.plain_entry(c, name, Body::Special(*s));
            e.builtin = true;
            e.vis = *vis;
            self.add_method(c, name, e);
        }
    }

    /// Runs a special body.
    pub(crate) fn call_special(&mut self, s: Special, m: u32, mut r: Ready) -> Flow {
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
                let (found, _) = match self.user_frame() {
                    Some(f) => self.lookup_in(f, class, mid),
                    None => (self.find_method(class, mid), false),
                };
                if found == NO_METHOD {
                    return self.method_missing(mid, Missing::None, r);
                }
                if s == Special::PublicSend && self.methods[found as usize].vis != Vis::Public {
                    let why = if self.methods[found as usize].vis == Vis::Private { Missing::Private } else { Missing::Protected };
                    return self.method_missing(mid, why, r);
                }
                let found = self.real_method(class, found);
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
                    // Array.new(n, v) without a call.
                    let n = match r.args.first() {
                        None => Some(0),
                        Some(v) => v.as_fix().filter(|n| (0..1 << 20).contains(n)),
                    };
                    if let Some(n) = n.filter(|_| r.args.len() <= 2 && self.array_init_plain()) {
                        let v = r.args.get(1).copied().unwrap_or(Value::NIL);
                        let a = self.heap.array_buf(self.k.array.val(), RaceVec::from_elem(v, n as usize)).val();
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
                    let call = Call {
                        target: Target::Helper(name),
                        recv: Value::NIL,
                        args,
                        kw: r.kw,
                        block: r.block,
                        fcall: true,
                        result: Value::UNDEF,
                    };
                    return self.do_call(call, r.dst, r.flags);
                };
                let call = Call {
                    target: Target::Name(sym::INITIALIZE),
                    recv: obj,
                    args: r.args,
                    kw: r.kw,
                    block: r.block,
                    fcall: true,
                    result: obj,
                };
                self.do_call(call, r.dst, r.flags)
            }
            Special::ThreadNew => {
                let init = self.find_method(self.k.thread, sym::INITIALIZE);
                let plain = r.recv == self.k.thread.val() && init != NO_METHOD && self.methods[init as usize].builtin;
                if plain && !r.block.is_nil() && r.kw.is_undef() {
                    let b = self.block_value(r.block);
                    if b.as_proc().is_some() {
                        return match self.thread_new(self.k.thread, b, &r.args) {
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
                let call = Call { target, recv: Value::NIL, args, kw: r.kw, block: r.block, fcall: true, result: Value::UNDEF };
                self.do_call(call, r.dst, r.flags)
            }
            Special::ProcCall => {
                let p = r.recv;
                self.call_block_word(p, None, r)
            }
            Special::InstanceExec | Special::InstanceEval | Special::ClassExec | Special::ClassEval => self.eval_special(s, m, r),
            Special::MethodCall | Special::BindCall => {
                let Some(o) = r.recv.as_data::<MethodObj>() else {
                    let x = self.type_error("uninitialized method");
                    return self.native_exit_general(x, m, r);
                };
                let (mut recv, index, name, owner) = (o.recv, o.method, o.name, o.owner);
                if s == Special::BindCall {
                    if r.args.is_empty() {
                        let x = self.arity_error(0, 1, None);
                        return self.native_exit_general(x, m, r);
                    }
                    recv = r.args.remove(0);
                    if owner.role != Role::Module && !self.is_a(recv, owner) {
                        let on = self.class_name(owner);
                        let x = if owner.is_singleton() {
                            self.type_error("singleton method called for a different object")
                        } else {
                            self.type_error(&format!("bind argument must be an instance of {on}"))
                        };
                        return self.native_exit_general(x, m, r);
                    }
                }
                r.recv = recv;
                if index == NO_METHOD {
                    return self.method_missing(name, Missing::None, r);
                }
                self.dispatch(index, r)
            }
        }
    }
    /// Is Array#initialize still the runtime's own?
    fn array_init_plain(&mut self) -> bool {
        let m = self.find_method(self.k.array, sym::INITIALIZE);
        m != NO_METHOD && self.methods[m as usize].builtin
    }
    fn convert_first(&mut self, m: u32, r: &Ready) -> Exit {
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

    fn eval_special(&mut self, s: Special, m: u32, r: Ready) -> Flow {
        let class_form = matches!(s, Special::ClassExec | Special::ClassEval);
        let eval = matches!(s, Special::InstanceEval | Special::ClassEval);
        if r.block.is_nil() {
            if eval && !r.args.is_empty() && r.args.len() <= 3 {
                let name = if class_form { "class_eval_string" } else { "instance_eval_string" };
                let mut args = Args::new();
                args.push(r.recv);
                args.extend_from_slice(&r.args);
                let name = self.intern(name);
                let call = Call {
                    target: Target::Helper(name),
                    recv: Value::NIL,
                    args,
                    kw: Value::UNDEF,
                    block: Value::NIL,
                    fcall: true,
                    result: Value::UNDEF,
                };
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
        let prc = self.block_value(r.block);
        let definee = r.recv;
        let mut args = r.args;
        if eval {
            args.push(r.recv);
        }
        let call = Call {
            target: Target::ProcSelf { prc, definee, eval: class_form },
            recv: r.recv,
            args,
            kw: r.kw,
            block: Value::NIL,
            fcall: true,
            result: Value::UNDEF,
        };
        self.do_call(call, r.dst, r.flags)
    }
}

// --- small intrinsics ----------------------------------------------------------

fn class_i(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(cx.real_class(a[0]).val())
}
fn is_a(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(c) = a[1].as_class() else { return Ok(Value::FALSE) };
    Ok(Value::bool(cx.is_a(a[0], c)))
}
fn builtin(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    Ok(Value::bool(cx.builtin(a[0], s)))
}
fn responds(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    Ok(Value::bool(cx.has_method(a[0], s)))
}
fn same(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(a[0] == a[1]))
}
fn undef(_: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::UNDEF)
}
fn is_undef(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(a[0].is_undef()))
}
fn frozen(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(a[0].frozen()))
}
fn ivar_get(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    let v = cx.ivar_get(a[0], s);
    Ok(if v.is_undef() { Value::NIL } else { v })
}
fn ivar_set(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    cx.ivar_set(a[0], s, a[2]);
    Ok(a[2])
}
fn raise_i(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Err(cx.raise(a[0]))
}
fn check_frozen(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.check_frozen(a[0])?;
    Ok(Value::NIL)
}
fn allocate(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    match cx.heap.instance(c) {
        Some(v) => Ok(v),
        None => {
            let n = cx.class_name(c);
            Err(cx.type_error(&format!("allocator undefined for {n}")))
        }
    }
}
fn call_native(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let args = a[2].as_array().map_or(Args::new(), |l| Args::from_slice(l.as_slice()));
    cx.pending.call = Some(Call {
        target: Target::Method(a[0].as_fix().unwrap_or(0) as u32),
        recv: a[1],
        args,
        kw: a.get(3).copied().filter(|k| !k.is_nil()).unwrap_or(Value::UNDEF),
        block: a.get(4).copied().unwrap_or(Value::NIL),
        fcall: true,
        result: Value::UNDEF,
    });
    Err(Exit::Call)
}

/// `__call_plain(proc, arg)`: the argument is not taken apart.
fn call_plain(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.pending.call = Some(Call {
        target: Target::ProcPlain(a[0]),
        recv: Value::NIL,
        args: Args::from_slice(&[a[1]]),
        kw: Value::UNDEF,
        block: Value::NIL,
        fcall: true,
        result: Value::UNDEF,
    });
    Err(Exit::Call)
}

// --- procs -----------------------------------------------------------------------

fn method_to_proc(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(cx.method_proc(recv))
}

/// `__block_literal()`: was the running prelude method given a literal block?
fn block_literal(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::bool(cx.own_block().is_fix()))
}
/// `__block_pairs()`: does the block take two values and more, so that a pair may be yielded as two values?
fn block_pairs(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::bool(cx.own_block_pairs()))
}
fn block_proc(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.own_block_proc())
}
fn make_lambda(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let _ = cx;
    if let Some(mut p) = a[0].as_proc() {
        p.hdr.x |= ProcObj::LAMBDA;
    }
    Ok(a[0])
}
fn proc_of(cx: &mut Cx, v: Value) -> Result<Gc<ProcObj>, Exit> {
    match v.as_proc() {
        Some(p) => Ok(p),
        None => Err(cx.type_error("wrong argument type (expected Proc)")),
    }
}
fn proc_lambda(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(proc_of(cx, recv)?.is_lambda()))
}
fn proc_arity(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::fix(cx.proc_arity(recv) as i64))
}
/// `__proc_dup(proc, class)`
fn proc_dup(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = proc_of(cx, a[0])?;
    let c = cx.arg_class(a, 1)?;
    let mut hdr = Header::new(c.val(), Kind::Proc);
    hdr.x = p.hdr.x;
    hdr.aux = p.hdr.aux;
    let q = ProcObj { hdr, iseq: p.iseq, self_val: p.self_val, env: p.env, cref: p.cref, block: p.block, home: p.home };
    Ok(cx.heap.proc(q).val())
}
fn proc_eq(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let p = proc_of(cx, recv)?;
    Ok(Value::bool(a[0].as_proc().is_some_and(|q| {
        p == q
            || p.iseq == q.iseq
                && p.iseq != 0
                && p.self_val == q.self_val
                && p.env == q.env
                && p.is_lambda() == q.is_lambda()
                && p.home == q.home
            || p.iseq == 0 && q.iseq == 0 && p.self_val == q.self_val
    })))
}
fn proc_hash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let p = proc_of(cx, recv)?;
    let h = p.iseq.wrapping_mul(31) ^ p.self_val.bits().wrapping_mul(0x9e37_79b9) ^ p.env.bits();
    Ok(Value::fix((h >> 2) as i64 & 0x3fff_ffff_ffff))
}
/// `__proc_source(proc)`: [path, line] or nil.
fn proc_source(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = proc_of(cx, a[0])?;
    let Some(q) = cx.proc_code(p) else { return Ok(Value::NIL) };
    if q.system {
        return Ok(Value::NIL);
    }
    let s = cx.str(&q.path);
    Ok(cx.array(&[s, Value::fix(q.line as i64)]))
}
/// `__proc_parameters(proc, lambda)`: [[:req, :x], ...]
fn proc_parameters(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = proc_of(cx, a[0])?;
    let lambda = if a[1].is_nil() { p.is_lambda() } else { a[1].truthy() };
    let Some(q) = cx.proc_code(p) else {
        if let Some(o) = p.self_val.as_data::<MethodObj>() {
            let list = cx.method_parameters(o.method)?;
            return Ok(cx.parameter_list(&list));
        }
        let (req, rest) = (cx.sym("req"), cx.sym("rest"));
        let (x, y) = (cx.array(&[req]), cx.array(&[rest]));
        return Ok(cx.array(&[x, y]));
    };
    let mut list = cx.parameters(&q.params, lambda);
    if q.system {
        // Procs of the runtime tell their arity and no names.
        list = if q.params.arity(true) < 0 { vec![(crate::Param::Rest, None)] } else { list.into_iter().map(|p| (p.0, None)).collect() };
    }
    Ok(cx.parameter_list(&list))
}
/// `__proc_kind(proc)`: 0 code, 1 from a Symbol, 2 from a Method; and what it was made from.
fn proc_kind(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = proc_of(cx, a[0])?;
    let k = if p.iseq != 0 {
        0
    } else if p.self_val.is_sym() {
        1
    } else {
        2
    };
    Ok(cx.array(&[Value::fix(k), if k == 0 { Value::NIL } else { p.self_val }]))
}
fn proc_self(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(proc_of(cx, a[0])?.self_val)
}
fn proc_ruby2(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut p = proc_of(cx, a[0])?;
    p.hdr.x |= ProcObj::RUBY2_KEYWORDS;
    Ok(a[0])
}
fn method_proc(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(cx.method_proc(a[0]))
}
/// `__define_method(module, name, body, visibility or nil)`: body a Proc or a Method.
fn define_method(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    let (v, _) = cx.default_visibility();
    let mut vis = if a.get(3).is_some_and(|v| v.truthy()) { v } else { Vis::Public };
    if matches!(cx.syms.name(name), b"initialize" | b"initialize_copy" | b"initialize_clone" | b"initialize_dup" | b"respond_to_missing?") {
        vis = Vis::Private;
    }
    if let Some(o) = a[2].as_data::<MethodObj>() {
        let index = o.method;
        cx.check_frozen(c.val())?;
        if index == NO_METHOD {
            return Err(cx.type_error("bind argument must be a subclass of the method's owner"));
        }
        cx.force_lazy(index)?;
        let mut e = cx.methods[index as usize].settled();
        e.vis = vis;
        e.builtin = false;
        e.called = name;
        let original = e.name;
        {
            // The copy belongs to its new module: super goes on from there.
            if let (Body::Code(q), Some(k)) = (&e.body, e.cref.cell::<CrefObj>()) {
                let q = q.clone();
                let i = cx.install_code(c, name, q, k.parent, vis);
                // SAFETY: made just now; no cache names it yet.
                unsafe { cx.methods.row_mut(i as usize).name = original };
                return Ok(Value::sym(name));
            }
            e.owner = c;
        }
        cx.add_method(c, name, e);
        return Ok(Value::sym(name));
    }
    cx.define_proc_method(c, name, a[2], vis)?;
    Ok(Value::sym(name))
}

// --- eval ----------------------------------------------------------------------------

fn binding(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.capture_binding())
}
/// `__eval(text, binding, path, line)`
fn eval(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let src = cx.arg_str(a, 0)?;
    let (path, line) = eval_place(cx, a, 2)?;
    let text = src.bytes().to_vec();
    let enc = crate::EncIndex::from_u8(src.enc());
    Err(cx.eval_in(a[1], (&text, enc), &path, line, None, None))
}
fn eval_place(cx: &mut Cx, a: &[Value], at: usize) -> Result<(String, u32), Exit> {
    let path = cx.arg_str(a, at)?;
    let path = String::from_utf8_lossy(path.bytes()).into_owned();
    let line = cx.arg_i64(a, at + 1)?;
    // A line before the first one is meant: templates number their own preamble so.
    Ok((path, line.clamp(i32::MIN as i64, i32::MAX as i64) as i32 as u32))
}
/// `__eval_self(text, binding, path, line, self, module or nil)`: instance_eval and class_eval of text.
fn eval_self(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let src = cx.arg_str(a, 0)?;
    let (path, line) = eval_place(cx, a, 2)?;
    let text = src.bytes().to_vec();
    let Some(s) = a[1].as_data::<EvalScope>() else { return Err(cx.type_error("binding required")) };
    let parent = s.cref;
    let module = match a[5].as_class() {
        Some(c) => c.val(),
        None => match cx.singleton_class(a[4]) {
            Some(c) => c.val(),
            None => cx.real_class(a[4]).val(),
        },
    };
    let cref = cx.new_cref(module, parent, CrefObj::NO_METHOD, CrefObj::PUBLIC).val();
    Err(cx.eval_in(a[1], (&text, crate::EncIndex::from_u8(src.enc())), &path, line, Some(a[4]), Some(cref)))
}
/// `__proc_binding(proc)`
fn proc_binding(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = proc_of(cx, a[0])?;
    let Some(q) = cx.proc_code(p).filter(|q| !q.system) else {
        return Err(cx.arg_error("Can't create Binding from C level Proc"));
    };
    // The closure's environment is the one of the scope around the block.
    let names = match (&q.parent_names, q.has_env) {
        (Some(n), true) => n.parent.clone(),
        (Some(n), false) => Some(n.clone()),
        (None, _) => None,
    };
    let scope = EvalScope {
        self_val: p.self_val,
        env: p.env,
        names,
        cref: p.cref,
        block: p.block,
        home: p.home,
        path: q.path.clone(),
        line: q.line,
        in_method: true,
    };
    let c = cx.k.binding;
    Ok(cx.data(c, scope))
}
fn scope_of(cx: &mut Cx, v: Value) -> Result<&'static mut EvalScope, Exit> {
    match v.as_data::<EvalScope>() {
        Some(s) => Ok(s),
        None => Err(cx.type_error("wrong argument type (expected binding)")),
    }
}
fn binding_receiver(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(scope_of(cx, recv)?.self_val)
}
fn binding_source(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = scope_of(cx, recv)?;
    let p = cx.str(&s.path);
    Ok(cx.array(&[p, Value::fix(s.line as i64)]))
}
/// `__binding_dup(binding)`
fn binding_dup(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = scope_of(cx, a[0])?;
    let t = EvalScope {
        self_val: s.self_val,
        env: s.env,
        names: s.names.clone(),
        cref: s.cref,
        block: s.block,
        home: s.home,
        path: s.path.clone(),
        line: s.line,
        in_method: s.in_method,
    };
    let c = cx.k.binding;
    Ok(cx.data(c, t))
}
/// Environment cell and slot of a name in a binding.
fn find_local(cx: &mut Cx, s: &EvalScope, name: Sym) -> Option<(Gc<EnvObj>, usize)> {
    let _ = cx;
    let mut names = s.names.clone();
    let mut env = s.env.cell::<EnvObj>();
    while let (Some(n), Some(e)) = (names, env) {
        if let Some(i) = n.names.iter().position(|x| *x == name) {
            if i < e.slots().len() {
                return Some((e, i));
            }
        }
        names = n.parent.clone();
        env = e.parent.cell::<EnvObj>();
    }
    None
}
/// `__binding_locals(binding)`: names, innermost scope first.
fn binding_locals(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = scope_of(cx, a[0])?;
    let mut out: Vec<Value> = Vec::new();
    let mut names = s.names.clone();
    while let Some(n) = names {
        for x in &n.names {
            let v = Value::sym(*x);
            let text = cx.syms.name(*x);
            let ok = text.first().is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_' || *c >= 0x80);
            if ok && !out.contains(&v) {
                out.push(v);
            }
        }
        names = n.parent.clone();
    }
    Ok(cx.array(&out))
}
/// `__binding_get(binding, name)`: undef when there is none.
fn binding_get(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = scope_of(cx, a[0])?;
    let name = cx.arg_name(a, 1)?;
    Ok(find_local(cx, s, name).map_or(Value::UNDEF, |(e, i)| {
        let v = e.slots()[i];
        if v.is_undef() { Value::NIL } else { v }
    }))
}
/// `__binding_set(binding, name, value)`: adds the variable when it is new.
fn binding_set(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = scope_of(cx, a[0])?;
    let name = cx.arg_name(a, 1)?;
    if let Some((e, i)) = find_local(cx, s, name) {
        let mut e = e;
        cx.heap.before_store(e.val(), a[2]);
        e.slots_mut()[i] = a[2];
        return Ok(a[2]);
    }
    let mut e = cx.heap.env(s.env, 1);
    cx.heap.before_store(e.val(), a[2]);
    e.slots_mut()[0] = a[2];
    cx.heap.before_store(a[0], e.val());
    s.env = e.val();
    s.names = Some(std::sync::Arc::new(crate::iseq::ScopeNames {
        names: vec![name],
        parent: s.names.clone(),
        match_slot: None,
        params: Vec::new(),
    }));
    Ok(a[2])
}
/// `__load_text(text, path, wrap_module or nil)`: runs a file's text.
fn load_text(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let src = cx.arg_str(a, 0)?.bytes().to_vec();
    let path = cx.arg_str(a, 1)?;
    let path = String::from_utf8_lossy(path.bytes()).into_owned();
    let cref = cx.file_cref();
    let me = cx.main_object;
    if let Some(m) = a[2].as_class() {
        let inner = cx.new_cref(m.val(), cref, CrefObj::NO_METHOD, CrefObj::PRIVATE).val();
        return Err(cx.load_text(&src, &path, me, inner));
    }
    Err(cx.load_text(&src, &path, me, cref))
}

// --- frames ------------------------------------------------------------------------------

/// `__caller(skip, max or nil)`: frames of user code as [path, line, label, base_label], innermost first.
fn caller(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let entries = cx.capture_trace(NO_METHOD);
    let skip = a[0].as_fix().unwrap_or(0).max(0) as usize;
    let max = a[1].as_fix().map_or(usize::MAX, |n| n.max(0) as usize);
    cx.location_rows(&entries, skip, max)
}
/// `__exc_frames(exception)`: the rows of its captured backtrace, or nil.
fn exc_frames(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let t = cx.ivar_get(a[0], sym::IV_LOCATIONS);
    match t.as_data::<Backtrace>() {
        Some(b) => {
            let e = b.entries.clone();
            cx.location_rows(&e, 0, usize::MAX)
        }
        None => Ok(Value::NIL),
    }
}
/// `__frame_method()`: [name, called name] of the method the nearest user frame runs, or nil.
fn frame_method(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(f) = cx.user_frame() else { return Ok(Value::NIL) };
    match cx.current_method(f) {
        Some(m) => {
            let (n, c) = (cx.methods[m as usize].name, cx.methods[m as usize].called);
            Ok(cx.array(&[Value::sym(n), Value::sym(c)]))
        }
        None => Ok(Value::NIL),
    }
}
/// `__frame_block_given()`: has the nearest user frame a block?
fn frame_block_given(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::bool(cx.user_frame().is_some_and(|f| !f.block().is_nil())))
}
/// `__frame_self()`, `__frame_nesting()`: self and lexical modules of the nearest user frame.
fn frame_self(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.user_frame().map_or(cx.main_object, |f| f.r(0)))
}
fn frame_nesting(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(f) = cx.user_frame() else { return Ok(cx.array(&[])) };
    let v: Vec<Value> = cx.lexical_modules(f.cref()).into_iter().map(|c| c.val()).collect();
    Ok(cx.array(&v))
}
/// `__frame_const(name)`: a constant as the nearest user frame sees it; undef when there is none.
fn frame_const(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let n = cx.arg_name(a, 0)?;
    let Some(f) = cx.user_frame() else { return Ok(Value::UNDEF) };
    Ok(cx.lookup_const(f.cref(), n).map_or(Value::UNDEF, |(_, k)| k.value))
}
/// `__frame_path()`: file of the nearest user frame; `__frame_line()`.
fn frame_path(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    match cx.user_frame() {
        Some(f) => Ok(cx.str(&f.iseq().path)),
        None => Ok(Value::NIL),
    }
}
fn frame_line(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(f) = cx.user_frame() else { return Ok(Value::NIL) };
    let pc = cx.user_pc(f);
    Ok(Value::fix(f.iseq().line_at(pc) as i64))
}
/// `__frame_locals()`: local variable names of the nearest user frame (all are in its binding when it asks).
fn frame_use_refinements(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    // `__using(pairs)`: activates [refined class, module] pairs in the nearest user frame's place.
    let Some(f) = cx.user_frame() else { return Ok(Value::NIL) };
    let Some(mut c) = f.cref().cell::<CrefObj>() else { return Ok(Value::NIL) };
    let mut all: Vec<Value> = a[0].as_array().map_or(Vec::new(), |l| l.as_slice().to_vec());
    if let Some(old) = c.refinements.as_array() {
        all.extend_from_slice(old.as_slice());
    }
    let v = cx.array(&all);
    cx.heap.before_store(f.cref(), v);
    c.refinements = v;
    // Cached constants and calls were made without them.
    cx.touch(cx.k.basic_object);
    Ok(Value::NIL)
}
/// `__used_refinements()`
fn used_refinements(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.user_frame().and_then(|f| f.cref().cell::<CrefObj>()).map_or(Value::NIL, |c| c.refinements))
}
/// `__set_visibility(n, module_func)`: default visibility of the nearest user frame (0 public, 1 private, 2 protected).
fn set_visibility(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = match a[0].as_fix() {
        Some(1) => Vis::Private,
        Some(2) => Vis::Protected,
        _ => Vis::Public,
    };
    cx.set_default_visibility(v, a[1].truthy());
    Ok(Value::NIL)
}

/// `__default_visibility(module)`: 0 public, 1 private, 2 protected, 3 module_function, as in force where user
/// code runs in that module's body; public elsewhere.
fn default_visibility(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if !user_definee(cx, a[0]) {
        return Ok(Value::fix(0));
    }
    let (v, f) = cx.default_visibility();
    Ok(Value::fix(if f { 3 } else { v as i64 }))
}
fn user_definee(cx: &mut Cx, m: Value) -> bool {
    cx.user_frame().is_some_and(|f| cx.definee(f).is_ok_and(|c| c.val() == m))
}
/// `__frame_defines(module)`: does `def` in the nearest user frame go there?
fn frame_defines(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(user_definee(cx, a[0])))
}
/// `__address(x)`: the 16 digits of `#<Foo:0x...>`.
fn address(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = if a[0].is_heap() { cx.heap.object_id(a[0]) } else { a[0].bits() };
    Ok(cx.str_ascii(&format!("0x{:016x}", id * 8)))
}

// --- catch and throw ------------------------------------------------------------------------

/// `__catch_begin(tag)`: the running prelude frame returns what is thrown to the tag.
fn catch_begin(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let slot = cx.running_slot();
    let err = cx.task.err;
    cx.task.catches.push((a[0], slot, err));
    Ok(Value::NIL)
}
fn catch_end(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let slot = cx.running_slot();
    cx.task.catches.retain(|c| c.1 < slot);
    Ok(Value::NIL)
}
/// `__throw(tag, value)`: undef when nobody catches it.
fn throw(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match cx.task.catches.iter().rev().find(|c| c.0 == a[0]).copied() {
        Some((_, slot, err)) => {
            cx.task.err = err;
            cx.pending.exc = cx.return_from(slot, a[1]);
            Err(Exit::Unwind)
        }
        None => Ok(Value::UNDEF),
    }
}
/// `__errinfo()`: `$!`; `__set_errinfo(e)`.
fn errinfo(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.task.err)
}
fn set_errinfo(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.task.err = a[0];
    Ok(a[0])
}
fn mm(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let Some(name) = args.first().and_then(|v| v.as_sym()) else {
        return Err(cx.arg_error("no method name given"));
    };
    Err(cx.missing_error(recv, name, &args[1..]))
}
/// `__not_frozen_main()`: the main object.
fn main_object(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.main_object)
}
fn global_names(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let v: Vec<Value> = cx.global_names().into_iter().map(Value::sym).collect();
    Ok(cx.array(&v))
}
fn get_errinfo_hook(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.task.err)
}
fn last_match_hook(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.last_match())
}
fn set_last_match_hook(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.real_class(a[1]);
    if !a[1].is_nil() && c != cx.k.match_data {
        let n = cx.class_name(c);
        return Err(cx.type_error(&format!("wrong argument type {n} (expected MatchData)")));
    }
    cx.set_last_match(a[1]);
    Ok(a[1])
}
fn read_only(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(s) = a[0].as_sym() else { return Ok(Value::NIL) };
    let n = cx.sym_name(s);
    if cx.in_system() {
        cx.set_global(&n, a[1]);
        return Ok(a[1]);
    }
    Err(cx.name_error(&format!("{n} is a read-only variable"), Value::NIL, s))
}
fn match_part(cx: &mut Cx, x: u8) -> R {
    cx.back_ref(x)
}
/// `__set_autoload(module, name, path)`, `__autoload_path(module, name)`
fn set_autoload(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    let p = cx.arg_str(a, 2)?;
    let path: Box<[u8]> = p.bytes().into();
    if c.data.consts.get(&n).is_some_and(|k| !k.value.is_undef()) {
        return Ok(Value::NIL);
    }
    cx.set_const(c, n, Value::UNDEF);
    if let Some(k) = c.data.consts.get_mut(&n) {
        k.autoload = Some(path);
    }
    Ok(Value::NIL)
}
fn autoload_path(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    let p = c.data.consts.get(&n).filter(|k| k.value.is_undef()).and_then(|k| k.autoload.clone());
    Ok(match p {
        Some(p) => cx.str_enc(&p, crate::EncIndex::UTF_8),
        None => Value::NIL,
    })
}
/// `__const_own(module, name)`: the module's own constant, undef when missing or not loaded.
fn const_own(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    Ok(c.data.consts.get(&n).map_or(Value::UNDEF, |k| k.value))
}
/// `__autoload_begin(module, name)`: this thread loads the constant's file: true; false when another one does it;
/// nil when this one is at it already, or there is nothing to load.
fn autoload_begin(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    let me = cx.task.root;
    Ok(match c.data.consts.get_mut(&n) {
        Some(k) if k.autoload.is_none() || k.loading == me => Value::NIL,
        Some(k) if k.loading != 0 => Value::FALSE,
        Some(k) => {
            k.loading = me;
            Value::TRUE
        }
        None => Value::NIL,
    })
}
/// `__autoload_take(module, name)`: this thread loads the constant's file, whoever began.
fn autoload_take(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    let me = cx.task.root;
    if let Some(k) = c.data.consts.get_mut(&n).filter(|k| k.loading != 0) {
        k.loading = me;
        cx.const_changed(n);
    }
    Ok(Value::NIL)
}
/// `__autoload_end(module, name)`: what was loaded is for all to see.
fn autoload_end(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    if let Some(k) = c.data.consts.get_mut(&n) {
        k.loading = 0;
        if !k.value.is_undef() {
            k.autoload = None;
        }
        cx.const_changed(n);
    }
    Ok(Value::NIL)
}
fn drop_autoload(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    if c.data.consts.get(&n).is_some_and(|k| k.value.is_undef() && k.loading == 0) {
        c.data.consts.remove(&n);
        c.data.const_order.retain(|s| *s != n);
        cx.const_changed(n);
    }
    Ok(Value::NIL)
}

impl Cx {
    /// `Proc#arity`
    pub fn proc_arity(&mut self, v: Value) -> i32 {
        let Some(p) = v.as_proc() else { return if v.is_sym() { -2 } else { -1 } };
        match self.proc_code(p) {
            Some(q) => q.params.arity(p.is_lambda()),
            None if p.self_val.is_sym() => -2,
            None => match p.self_val.as_data::<MethodObj>() {
                Some(o) => {
                    let m = o.method;
                    self.method_arity(m).unwrap_or(-1)
                }
                None => -1,
            },
        }
    }
    /// The code of a Proc made from a block.
    pub fn proc_code(&self, p: Gc<ProcObj>) -> Option<&'static crate::ISeq> {
        // SAFETY: a Proc's code is registered and never freed.
        (p.iseq != 0).then(|| unsafe { &*(p.iseq as *const crate::ISeq) })
    }
    fn parameter_list(&mut self, list: &[(crate::Param, Option<Sym>)]) -> Value {
        let mut out = Vec::new();
        for (k, n) in list {
            let kind = self.sym(k.name());
            let row = match n {
                Some(n) => self.array(&[kind, Value::sym(*n)]),
                None => self.array(&[kind]),
            };
            out.push(row);
        }
        self.array(&out)
    }
    pub(crate) fn location_rows(&mut self, entries: &[crate::interp::TraceEntry], skip: usize, max: usize) -> R {
        let mut rows = Vec::new();
        for e in entries.iter().skip(skip).take(max) {
            let (path, line, label, base) = self.describe_entry(*e);
            let (p, l, b) = (self.str(&path), self.str(&label), self.str(&base));
            rows.push(self.array(&[p, Value::fix(line as i64), l, b]));
        }
        Ok(self.array(&rows))
    }
}

pub(crate) static TABLE: &[NativeDef] = &[
    intrinsic("__class", 1, 1, class_i).guard(Guard::None),
    intrinsic("__is_a", 2, 2, is_a).guard(Guard::None),
    intrinsic("__builtin", 2, 2, builtin).guard(Guard::None),
    intrinsic("__responds", 2, 2, responds).guard(Guard::None),
    intrinsic("__same", 2, 2, same).guard(Guard::None),
    intrinsic("__undef", 0, 0, undef).guard(Guard::None),
    intrinsic("__undef?", 1, 1, is_undef).guard(Guard::None),
    intrinsic("__frozen", 1, 1, frozen).guard(Guard::None),
    intrinsic("__ivar_get", 2, 2, ivar_get).guard(Guard::None),
    intrinsic("__ivar_set", 3, 3, ivar_set),
    intrinsic("__raise", 1, 1, raise_i).guard(Guard::None),
    intrinsic("__check_frozen", 1, 1, check_frozen).guard(Guard::None),
    intrinsic("__allocate", 1, 1, allocate).guard(Guard::None),
    intrinsic("__call_native", 3, 5, call_native),
    intrinsic("__call_plain", 2, 2, call_plain).guard(Guard::None),
    intrinsic("__block_literal", 0, 0, block_literal).guard(Guard::None),
    intrinsic("__block_pairs", 0, 0, block_pairs).guard(Guard::None),
    intrinsic("__block_proc", 0, 0, block_proc).guard(Guard::None),
    intrinsic("__make_lambda", 1, 1, make_lambda),
    intrinsic("__proc_dup", 2, 2, proc_dup),
    intrinsic("__proc_source", 1, 1, proc_source).guard(Guard::None),
    intrinsic("__proc_parameters", 2, 2, proc_parameters).guard(Guard::None),
    intrinsic("__proc_kind", 1, 1, proc_kind).guard(Guard::None),
    intrinsic("__proc_self", 1, 1, proc_self).guard(Guard::None),
    intrinsic("__proc_ruby2", 1, 1, proc_ruby2),
    intrinsic("__proc_binding", 1, 1, proc_binding),
    intrinsic("__method_proc", 1, 1, method_proc).guard(Guard::None),
    intrinsic("__define_method", 3, 4, define_method).guard(Guard::Classes),
    intrinsic("__binding", 0, 0, binding).guard(Guard::None),
    intrinsic("__binding_dup", 1, 1, binding_dup),
    intrinsic("__binding_locals", 1, 1, binding_locals),
    intrinsic("__binding_get", 2, 2, binding_get),
    intrinsic("__binding_set", 3, 3, binding_set),
    intrinsic("__eval", 4, 4, eval).guard(Guard::None),
    intrinsic("__eval_self", 6, 6, eval_self).guard(Guard::None),
    intrinsic("__load_text", 3, 3, load_text).guard(Guard::None),
    intrinsic("__caller", 2, 2, caller).guard(Guard::None),
    intrinsic("__exc_frames", 1, 1, exc_frames).guard(Guard::None),
    intrinsic("__frame_method", 0, 0, frame_method).guard(Guard::None),
    intrinsic("__frame_block_given", 0, 0, frame_block_given).guard(Guard::None),
    intrinsic("__frame_self", 0, 0, frame_self).guard(Guard::None),
    intrinsic("__frame_nesting", 0, 0, frame_nesting).guard(Guard::None),
    intrinsic("__frame_const", 1, 1, frame_const).guard(Guard::None),
    intrinsic("__frame_path", 0, 0, frame_path).guard(Guard::None),
    intrinsic("__frame_line", 0, 0, frame_line).guard(Guard::None),
    intrinsic("__using", 1, 1, frame_use_refinements).guard(Guard::Classes),
    intrinsic("__used_refinements", 0, 0, used_refinements).guard(Guard::None),
    intrinsic("__set_visibility", 2, 2, set_visibility).guard(Guard::Classes),
    intrinsic("__default_visibility", 1, 1, default_visibility).guard(Guard::None),
    intrinsic("__frame_defines", 1, 1, frame_defines).guard(Guard::None),
    intrinsic("__address", 1, 1, address),
    intrinsic("__catch_begin", 1, 1, catch_begin).guard(Guard::None),
    intrinsic("__catch_end", 0, 0, catch_end).guard(Guard::None),
    intrinsic("__throw", 2, 2, throw).guard(Guard::None),
    intrinsic("__errinfo", 0, 0, errinfo).guard(Guard::None),
    intrinsic("__set_errinfo", 1, 1, set_errinfo).guard(Guard::None),
    intrinsic("__main_object", 0, 0, main_object).guard(Guard::None),
    intrinsic("__global_names", 0, 0, global_names).guard(Guard::None),
    intrinsic("__set_autoload", 3, 3, set_autoload).guard(Guard::Classes),
    intrinsic("__autoload_path", 2, 2, autoload_path).guard(Guard::Classes),
    intrinsic("__const_own", 2, 2, const_own).guard(Guard::Classes),
    intrinsic("__autoload_begin", 2, 2, autoload_begin).guard(Guard::Classes),
    intrinsic("__autoload_end", 2, 2, autoload_end).guard(Guard::Classes),
    intrinsic("__autoload_take", 2, 2, autoload_take).guard(Guard::Classes),
    intrinsic("__drop_autoload", 2, 2, drop_autoload).guard(Guard::Classes),
    n("Method", "to_proc", 0, 0, method_to_proc),
    n("Proc", "lambda?", 0, 0, proc_lambda),
    n("Proc", "arity", 0, 0, proc_arity),
    n("Proc", "==", 1, 1, proc_eq),
    n("Proc", "eql?", 1, 1, proc_eq),
    n("Proc", "hash", 0, 0, proc_hash),
    n("Binding", "receiver", 0, 0, binding_receiver).guard(Guard::None),
    n("Binding", "source_location", 0, 0, binding_source).guard(Guard::None),
    private("BasicObject", "method_missing", 0, -1, mm).guard(Guard::None),
];

impl Cx {
    /// Globals the loop itself keeps.
    pub(crate) fn hook_globals(&mut self) {
        self.hook_global("$!", Some(get_errinfo_hook), Some(read_only));
        self.hook_global("$&", Some(|cx, _, _| match_part(cx, 1)), Some(read_only));
        self.hook_global("$`", Some(|cx, _, _| match_part(cx, 2)), Some(read_only));
        self.hook_global("$'", Some(|cx, _, _| match_part(cx, 3)), Some(read_only));
        self.hook_global("$+", Some(|cx, _, _| match_part(cx, 4)), Some(read_only));
        for name in ["$:", "$\"", "$-I", "$LOAD_PATH", "$LOADED_FEATURES", "$<", "$-a", "$-l", "$-p"] {
            self.hook_global(name, None, Some(read_only));
        }
        self.hook_global("$~", Some(last_match_hook), Some(set_last_match_hook));
    }
}
