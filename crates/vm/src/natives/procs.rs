//! Procs, and methods that are made of them.
//!
//! **Invariant.** A Proc without code (`iseq` 0) was made from a Symbol or a Method, which stands in its `self_val`.

use crate::doors::NO_METHOD;
use crate::doors::*;
use crate::world::method::Body;
use crate::{Cx, MethodObj};
use kumi_heap::*;

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
    if let Some(p) = a[0].as_proc() {
        p.hdr.x.set(p.hdr.x.get() | ProcObj::LAMBDA);
    }
    Ok(a[0])
}

pub(super) fn proc_of(cx: &mut Cx, v: Value) -> Result<Gc<ProcObj>, Exit> {
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
    hdr.x.put(p.hdr.x.get());
    hdr.aux.put(p.hdr.aux.get());
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
    Ok(cx.code_place(p.iseq))
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
    let p = proc_of(cx, a[0])?;
    p.hdr.x.set(p.hdr.x.get() | ProcObj::RUBY2_KEYWORDS);
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
        cx.check_modifiable(c)?;
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

impl Cx {
    /// `Proc#arity`
    pub(crate) fn proc_arity(&mut self, v: Value) -> i32 {
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
    pub(crate) fn proc_code(&self, p: Gc<ProcObj>) -> Option<&'static crate::ISeq> {
        // SAFETY: a Proc keeps its code, a thread and a fiber that of their block (see `tables`).
        (p.iseq != 0).then(|| unsafe { &*(p.iseq as *const crate::ISeq) })
    }
    /// Where the code of a Proc stands: [path, line]; nil for the runtime's own, and for a Proc without code (0).
    pub fn code_place(&mut self, code: u64) -> Value {
        // SAFETY: a Proc keeps its code, a thread and a fiber that of their block (see `tables`).
        let Some(q) = (unsafe { (code as *const crate::ISeq).as_ref() }).filter(|q| !q.system) else { return Value::NIL };
        let path = self.str(&q.path);
        self.array(&[path, Value::fix(q.line as i64)])
    }
    pub(crate) fn parameter_list(&mut self, list: &[(crate::Param, Option<Sym>)]) -> Value {
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
}

pub(super) static TABLE: &[NativeDef] = &[
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
    intrinsic("__method_proc", 1, 1, method_proc).guard(Guard::None),
    intrinsic("__define_method", 3, 4, define_method).guard(Guard::Classes),
    n("Method", "to_proc", 0, 0, method_to_proc),
    n("Proc", "lambda?", 0, 0, proc_lambda),
    n("Proc", "arity", 0, 0, proc_arity),
    n("Proc", "==", 1, 1, proc_eq),
    n("Proc", "eql?", 1, 1, proc_eq),
    n("Proc", "hash", 0, 0, proc_hash),
];
