//! Bindings, and text that is run: `eval` in its forms, and files.
//!
//! **Invariant.** The names of a binding and its environments have the same shape: name `i` of a level is slot `i` of that
//! level's environment. A variable that text adds gets a level of its own.

use super::procs::proc_of;
use crate::Cx;
use crate::doors::*;
use crate::interp::EvalScope;
use kumi_heap::*;

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
        label: q.label.clone(),
        depth: q.block_depth,
    };
    let c = cx.k.binding;
    Ok(cx.data(c, scope))
}

fn scope_of<'v>(cx: &mut Cx, v: &'v Value) -> Result<&'v EvalScope, Exit> {
    v.as_data::<EvalScope>().ok_or_else(|| cx.type_error("wrong argument type (expected binding)"))
}

fn binding_receiver(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(scope_of(cx, &recv)?.self_val)
}

fn binding_source(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = scope_of(cx, &recv)?;
    let p = cx.str(&s.path);
    Ok(cx.array(&[p, Value::fix(s.line as i64)]))
}

/// `__binding_dup(binding)`
fn binding_dup(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = scope_of(cx, &a[0])?;
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
        label: s.label.clone(),
        depth: s.depth,
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
    let s = scope_of(cx, &a[0])?;
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

/// The block's implicit parameters and the environment they lie in.
fn implicit_of(s: &EvalScope) -> Option<(Gc<EnvObj>, std::sync::Arc<kumi_bytecode::ScopeNames>)> {
    let (mut names, mut env) = (s.names.clone(), s.env.cell::<EnvObj>());
    while let (Some(n), Some(e)) = (names, env) {
        if n.implicit.is_some() {
            return Some((e, n));
        }
        names = n.parent.clone();
        env = e.parent.cell::<EnvObj>();
    }
    None
}

/// `__binding_implicit(binding)`: names of the implicit parameters of its block.
fn binding_implicit(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = scope_of(cx, &a[0])?;
    let names: Vec<Value> = match implicit_of(s) {
        Some((_, n)) => n.implicit.iter().flatten().map(|(name, _)| Value::sym(*name)).collect(),
        None => Vec::new(),
    };
    Ok(cx.array(&names))
}

/// `__binding_implicit_get(binding, name)`: undef when there is none.
fn binding_implicit_get(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = scope_of(cx, &a[0])?;
    let name = cx.arg_name(a, 1)?;
    let Some((e, n)) = implicit_of(s) else { return Ok(Value::UNDEF) };
    let slot = n.implicit.iter().flatten().find(|(x, _)| *x == name).map(|(_, slot)| *slot as usize);
    Ok(slot.and_then(|i| e.slots().get(i)).unwrap_or(Value::UNDEF))
}

/// `__binding_get(binding, name)`: undef when there is none.
fn binding_get(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = scope_of(cx, &a[0])?;
    let name = cx.arg_name(a, 1)?;
    Ok(find_local(cx, s, name).map_or(Value::UNDEF, |(e, i)| e.slots().get(i).filter(|v| !v.is_undef()).unwrap_or(Value::NIL)))
}

/// `__binding_set(binding, name, value)`: adds the variable when it is new.
fn binding_set(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = scope_of(cx, &a[0])?;
    let name = cx.arg_name(a, 1)?;
    if let Some((e, i)) = find_local(cx, s, name) {
        cx.heap.before_store(e.val(), a[2]);
        e.set(i, a[2]);
        return Ok(a[2]);
    }
    cx.add_locals(a[0], vec![name], &a[2..3]);
    Ok(a[2])
}

/// `__load_text(text, path, wrap_module, self)`: runs a file's text; without a module around it, self is the main object.
fn load_text(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let src = cx.arg_str(a, 0)?.bytes().to_vec();
    let path = cx.arg_str(a, 1)?;
    let path = String::from_utf8_lossy(path.bytes()).into_owned();
    let cref = cx.file_cref();
    let me = if a[3].is_nil() { cx.main_object } else { a[3] };
    if let Some(m) = a[2].as_class() {
        let inner = cx.new_cref(m.val(), cref, CrefObj::NO_METHOD, CrefObj::PRIVATE).val();
        return Err(cx.load_text(&src, &path, me, inner));
    }
    Err(cx.load_text(&src, &path, me, cref))
}

/// `__run_top(proc)`: runs a file's code, which that Proc keeps with its self and its place.
fn run_top(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(p) = a[0].as_proc().filter(|p| p.iseq != 0) else { return Err(cx.type_error("wrong argument type (expected code)")) };
    cx.script_compiled(Value::NIL);
    Err(cx.run_file_code(p.iseq, p.cref, p.self_val))
}

pub(super) static TABLE: &[NativeDef] = &[
    intrinsic("__proc_binding", 1, 1, proc_binding),
    intrinsic("__binding", 0, 0, binding).guard(Guard::None),
    intrinsic("__binding_dup", 1, 1, binding_dup),
    intrinsic("__binding_locals", 1, 1, binding_locals),
    intrinsic("__binding_implicit", 1, 1, binding_implicit),
    intrinsic("__binding_implicit_get", 2, 2, binding_implicit_get),
    intrinsic("__binding_get", 2, 2, binding_get),
    intrinsic("__binding_set", 3, 3, binding_set),
    intrinsic("__eval", 4, 4, eval).guard(Guard::None),
    intrinsic("__eval_self", 6, 6, eval_self).guard(Guard::None),
    intrinsic("__load_text", 4, 4, load_text).guard(Guard::None),
    intrinsic("__run_top", 1, 1, run_top).guard(Guard::None),
    n("Binding", "receiver", 0, 0, binding_receiver).guard(Guard::None),
    n("Binding", "source_location", 0, 0, binding_source).guard(Guard::None),
];
