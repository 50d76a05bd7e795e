//! What the prelude's Ractor asks of the runtime: what a block takes from around it, objects that are shared or moved away, the
//! isolation of a task.

use kumi_bytecode::{ISeq, Op, ScopeNames};
use kumi_vm::share::Shared;
use kumi_vm::*;
use std::sync::Arc;
use std::sync::atomic::Ordering::*;

/// Finds what a block's code takes from the scopes around it.
struct Outer<'a> {
    /// Static scopes around the block, innermost first.
    around: Option<&'a Arc<ScopeNames>>,
    read: Vec<Sym>,
    written: Vec<Sym>,
    yields: bool,
}

impl Outer<'_> {
    fn name(&self, up: usize, slot: usize) -> Option<Sym> {
        let mut s = self.around?;
        for _ in 0..up {
            s = s.parent.as_ref()?;
        }
        s.names.get(slot).copied()
    }
    /// `own`: environments between the running code and the block's surroundings.
    fn walk(&mut self, q: &ISeq, own: usize, depth: u32) {
        if depth > 100 {
            return;
        }
        let own = own + q.has_env as usize;
        let mut made = !q.has_env;
        let mut pc = 0;
        while pc < q.code.len() {
            let i = q.insn(pc).original();
            pc += 1 + i.op().cached() as usize;
            match i.op() {
                Op::EnvNew => made = true,
                Op::Yield => self.yields = true,
                Op::EnvGet | Op::EnvSet => {
                    // Before its own environment is made, a scope counts one less.
                    let own = own - !made as usize;
                    if i.c() >= own {
                        if let Some(n) = self.name(i.c() - own, i.b()) {
                            let list = if i.op() == Op::EnvGet { &mut self.read } else { &mut self.written };
                            if !list.contains(&n) {
                                list.push(n);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        for c in q.children.iter().filter(|c| c.kind == kumi_bytecode::Kind::Block) {
            self.walk(c, own, depth + 1);
        }
    }
}

fn code_of(v: Value) -> Option<&'static ISeq> {
    let p = v.as_proc()?;
    // SAFETY: a Proc keeps its code (see `tables`).
    unsafe { (p.iseq as *const ISeq).as_ref() }
}
/// `__proc_outer(proc)`: [names it reads, names it writes, does it yield] of outer variables, or nil for a
/// Proc without code.
fn proc_outer(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(q) = code_of(a[0]) else { return Ok(Value::NIL) };
    let mut o = Outer { around: q.parent_names.as_ref(), read: Vec::new(), written: Vec::new(), yields: false };
    o.walk(q, 0, 0);
    let mut lists = [Value::NIL; 2];
    for (i, names) in [&o.read, &o.written].into_iter().enumerate() {
        let shown: Vec<Value> = names
            .iter()
            .filter(|s| cx.syms.name(**s).first().is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_' || *c >= 0x80))
            .map(|s| Value::sym(*s))
            .collect();
        lists[i] = cx.array(&shown);
    }
    Ok(cx.array(&[lists[0], lists[1], Value::bool(o.yields)]))
}
/// `__proc_outer_value(proc, name)`: a variable around the block; undef when there is none.
fn proc_outer_value(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (Some(p), Some(q)) = (a[0].as_proc(), code_of(a[0])) else { return Ok(Value::UNDEF) };
    let name = cx.arg_name(a, 1)?;
    let (mut names, mut env) = (q.parent_names.as_ref(), p.env);
    while let (Some(n), Some(e)) = (names, env.cell::<EnvObj>()) {
        if let Some(i) = n.names.iter().position(|s| *s == name) {
            return Ok(e.slots().get(i).filter(|v| !v.is_undef()).unwrap_or(Value::NIL));
        }
        names = n.parent.as_ref();
        env = e.parent;
    }
    Ok(Value::UNDEF)
}
/// The environments around a Proc, copied.
fn copied_env(cx: &mut Cx, p: Gc<ProcObj>) -> Value {
    let mut chain = Vec::new();
    let mut e = p.env;
    while let Some(x) = e.cell::<EnvObj>() {
        chain.push(x);
        e = x.parent;
    }
    let mut env = Value::NIL;
    for x in chain.into_iter().rev() {
        let c = cx.heap.env(env, x.hdr.aux.get());
        let vs = x.slots().to_vec();
        cx.heap.before_store_all(c.val(), &vs);
        c.put(vs);
        env = c.val();
    }
    env
}
/// `__proc_share(proc)`: makes it shareable, with its own copy of the variables around it.
fn proc_share(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(p) = a[0].as_proc() else { return Ok(a[0]) };
    let env = copied_env(cx, p);
    cx.heap.before_store(a[0], env);
    cx.heap.edit(p).env = env;
    cx.heap.edit(p).block = Value::NIL;
    p.hdr.x.set(p.hdr.x.get() | ProcObj::SHAREABLE);
    if let Some(h) = a[0].header() {
        h.set(flag::FROZEN);
    }
    Ok(a[0])
}
/// `__proc_detach(proc, self, lambda)`: a shareable copy with its own copy of the variables around it.
fn proc_detach(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(p) = a[0].as_proc() else { return Ok(a[0]) };
    let env = copied_env(cx, p);
    let mut hdr = Header::new(cx.k.proc_class.val(), Kind::Proc);
    hdr.x.put(p.hdr.x.get() & ProcObj::RUBY2_KEYWORDS | ProcObj::SHAREABLE);
    if p.is_lambda() || a[2].truthy() {
        hdr.x.put(hdr.x.get() | ProcObj::LAMBDA);
    }
    hdr.aux.put(u32::MAX);
    let new = ProcObj { hdr, iseq: p.iseq, self_val: a[1], env, cref: p.cref, block: Value::NIL, home: Value::NIL };
    let v = cx.heap.proc(new).val();
    if let Some(h) = v.header() {
        h.set(flag::FROZEN);
    }
    Ok(v)
}
/// `__share(object)`: makes it shareable, with all that it refers to: nil; or an Array of what must be made so first, in Ruby.
fn share(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match cx.make_shareable(a[0])? {
        Shared::Done => Ok(Value::NIL),
        Shared::Own(list) => Ok(cx.array_vec(list)),
        Shared::Refused(e) => Err(cx.call_helper("raise_not_shareable", &[e.part])),
    }
}
/// `__become_moved(object)`: all its methods raise from now on.
fn become_moved(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(h) = a[0].header_mut() {
        h.set_class(cx.k.ractor_moved.val());
    }
    Ok(Value::NIL)
}

/// `__isolate(thread, ractor)`: the running task belongs to a Ractor that is not the main one.
fn isolate(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    cx.task.isolate();
    Ok(Value::NIL)
}
/// `__stand_alone()`: the running thread is the main Ractor's, and has nothing of the one that made it.
fn stand_alone(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    cx.task.stands_alone();
    Ok(Value::NIL)
}
/// `__ractors_begin()`: from now on constants are cached only when all Ractors may read them. True the first time.
fn begin(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    if cx.ractors.swap(true, AcqRel) {
        return Ok(Value::FALSE);
    }
    for e in cx.const_epochs.iter() {
        e.fetch_add(1, Release);
    }
    Ok(Value::TRUE)
}
/// `__current_ractor()`: the Ractor of the running thread; nil: the main one.
fn current(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    if !cx.task.is_isolated() {
        return Ok(Value::NIL);
    }
    let (t, s) = (cx.task.thread(), cx.intern("@__ractor"));
    let v = cx.ivar_get(t, s);
    Ok(if v.is_undef() { Value::NIL } else { v })
}
pub(crate) static TABLE: &[NativeDef] = &[
    intrinsic("__shareable", 1, 1, |cx, _, a| Ok(Value::bool(cx.shareable(a[0])))).guard(Guard::None),
    intrinsic("__share", 1, 1, share).guard(Guard::None),
    intrinsic("__move_root", 1, 1, |cx, _, a| cx.move_root(a[0])).guard(Guard::None),
    intrinsic("__proc_outer", 1, 1, proc_outer),
    intrinsic("__proc_outer_value", 2, 2, proc_outer_value),
    intrinsic("__proc_detach", 3, 3, proc_detach),
    intrinsic("__proc_share", 1, 1, proc_share),
    intrinsic("__become_moved", 1, 1, become_moved),
    intrinsic("__isolate", 0, 0, isolate),
    intrinsic("__stand_alone", 0, 0, stand_alone),
    intrinsic("__ractors_begin", 0, 0, begin),
    intrinsic("__current_ractor", 0, 0, current).guard(Guard::None),
];
