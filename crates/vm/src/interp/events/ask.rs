//! What `prelude/trace_point.rb` asks: hooks are set and taken away, blocks are called one by one, events are told of.

use crate::Cx;
use crate::doors::NO_METHOD;
use crate::doors::*;
use crate::tasks::frame::{Fp, ff};
use crate::trace::{Aim, Entry, Happened, Hook, NAMES, ev};
use crate::world::method_obj::MethodObj;
use kumi_bytecode::ISeq;
use kumi_heap::*;
use std::sync::Arc;

fn same_point(h: &Hook, point: Value) -> bool {
    h.point == point
}

/// `__trace_mask(name)`: the bit of an event; nil: there is none of that name.
fn mask(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let name = cx.arg_name(a, 0)?;
    let text = cx.syms.name(name).to_vec();
    let of = |n: &str| NAMES.iter().position(|x| *x == n).map_or(0, |i| 1 << i);
    let bits: u32 = match &text[..] {
        b"a_call" => ev::CALL | ev::B_CALL | ev::C_CALL,
        b"a_return" => ev::RETURNS,
        t => std::str::from_utf8(t).map_or(0, of),
    };
    Ok(if bits == 0 { Value::NIL } else { Value::fix(bits as i64) })
}

/// `__trace_enable(point, block, mask, thread, target, line)`: thread, target and line may be nil. What is wrong with
/// them as a Symbol, or nil.
fn enable(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mask = a[2].as_fix().unwrap_or(0) as u32;
    let thread = if a[3].is_nil() { None } else { cx.thread_root(a[3]).map(|t| t.id) };
    let line = a[5].as_fix().map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX));
    let mut target = None;
    if !a[4].is_nil() {
        let (code, bound) = if let Some(p) = a[4].as_proc() {
            (cx.code_at(p.iseq), false)
        } else if let Some(o) = a[4].as_data::<MethodObj>() {
            let n = o.method;
            let bound = n != NO_METHOD && matches!(cx.methods[n as usize].body, crate::world::method::Body::Proc(_));
            (cx.method_code(n)?, bound)
        } else {
            return Ok(cx.sym("unsupported"));
        };
        let Some(q) = code.filter(|q| !q.system) else { return Ok(cx.sym("unsupported")) };
        let own = if bound { ev::CALL | ev::RETURN } else { 0 };
        let wanted = if line == 0 { mask } else { mask & ev::LINE };
        if (super::point::events_of(&q, line) | own) & wanted == 0 {
            return Ok(cx.sym("nothing"));
        }
        let mut codes = Vec::new();
        let mut todo: Vec<&ISeq> = vec![&q];
        while let Some(c) = todo.pop() {
            codes.push(c as *const ISeq as u64);
            todo.extend(c.children.iter().map(|c| &**c));
        }
        codes.sort_unstable();
        target = Some(Aim { codes, line, _kept: q.clone() });
    }
    // All workers and all threads see it.
    cx.heap.publish(a[0]);
    cx.heap.publish(a[1]);
    let hook = Arc::new(Hook { point: a[0], block: a[1], mask, thread, target });
    cx.hooks.change(|all| {
        all.retain(|h| !same_point(h, a[0]));
        // Those for all code come first; of either kind the latest.
        let at = if hook.target.is_none() { 0 } else { all.iter().position(|h| h.target.is_some()).unwrap_or(all.len()) };
        all.insert(at, hook);
    });
    cx.poll_all();
    Ok(Value::NIL)
}
/// `__trace_disable(point)`: was it enabled?
fn disable(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let was = state_of(cx, a[0]).is_some();
    if was {
        cx.hooks.change(|all| all.retain(|h| !same_point(h, a[0])));
        cx.poll_all();
    }
    Ok(Value::bool(was))
}
fn state_of(cx: &Cx, point: Value) -> Option<Arc<Hook>> {
    cx.hooks.snapshot().1.iter().find(|h| same_point(h, point)).cloned()
}
/// `__trace_state(point)`: nil, or [thread's limit?, aimed at code?] of an enabled one.
fn state(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match state_of(cx, a[0]) {
        None => Ok(Value::NIL),
        Some(h) => Ok(cx.array(&[Value::bool(h.thread.is_some()), Value::bool(h.target.is_some())])),
    }
}
/// `__trace_stat()`: number of enabled ones for all code, and for some.
fn stat(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let hooks = cx.hooks.snapshot().1;
    let aimed = hooks.iter().filter(|h| h.target.is_some()).count();
    Ok(cx.array(&[Value::fix((hooks.len() - aimed) as i64), Value::fix(aimed as i64)]))
}

/// `__trace_next()`: the next block to call, with its TracePoint; nil: all were.
fn next(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let root = cx.root.id;
    loop {
        let Some(e) = cx.task.tracing.as_mut().and_then(|t| t.entries.last_mut()) else { return Ok(Value::NIL) };
        let Some(x) = e.events.get(e.event).copied() else { return Ok(Value::NIL) };
        let Some(h) = e.hooks.get(e.hook).cloned() else {
            (e.event, e.hook) = (e.event + 1, 0);
            continue;
        };
        e.hook += 1;
        e.current = e.event;
        let code = if x.frame == 0 { 0 } else { cx.frame_at(x.frame).iseq() as *const ISeq as u64 };
        if !h.hears(x.kind, root, code, x.line) {
            continue;
        }
        // A block before may have disabled it.
        if !cx.hooks.snapshot().1.iter().any(|g| Arc::ptr_eq(g, &h)) {
            continue;
        }
        return Ok(cx.array(&[h.block, h.point]));
    }
}

/// The event that the running task is told of.
fn current(cx: &mut Cx) -> Result<Happened, Exit> {
    let e = cx.task.tracing.as_ref().and_then(|t| t.entries.last()).filter(|e: &&Entry| e.event < e.events.len() || e.hook > 0);
    match e.and_then(|e| e.events.get(e.current)) {
        Some(x) => Ok(*x),
        None => Err(cx.runtime_error("access from outside")),
    }
}
fn not_for(cx: &mut Cx) -> R {
    Err(cx.runtime_error("not supported by this event"))
}

/// `__trace_event()`: the event's name; undef outside.
fn event(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let x = current(cx)?;
    Ok(cx.sym(NAMES[x.kind.trailing_zeros() as usize]))
}
/// `__trace_told()`: is the running task told of an event?
fn told(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::bool(cx.task.tracing.as_ref().is_some_and(|t| t.entries.last().is_some_and(|e| !e.open))))
}
/// `__trace_place()`: [path, line].
fn place(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let x = current(cx)?;
    let path = if x.frame == 0 { Value::NIL } else { cx.str(&cx.frame_at(x.frame).iseq().path.clone()) };
    Ok(cx.array(&[path, Value::fix(x.line as i64)]))
}
/// `__trace_method()`: [method_id, callee_id, defined_class], nil where there is none.
fn method(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let x = current(cx)?;
    if x.method == NO_METHOD {
        return Ok(cx.array(&[Value::NIL; 3]));
    }
    let e = &cx.methods[x.method as usize];
    let all = [Value::sym(e.name), Value::sym(e.called), e.owner.val()];
    Ok(cx.array(&all))
}
/// `__trace_self()`
fn me(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(current(cx)?.me)
}
/// `__trace_value(kind)`: 0 the value returned, 1 the exception, 2 the text of a script.
fn value(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let x = current(cx)?;
    let fits = match a[0].as_fix() {
        Some(0) => ev::RETURNS | ev::END,
        Some(1) => ev::RAISE | ev::RESCUE,
        _ => ev::SCRIPT_COMPILED,
    };
    if x.kind & fits & !ev::END == 0 { not_for(cx) } else { Ok(x.value) }
}
/// `__trace_binding()`: nil where no user's frame is.
fn binding(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let x = current(cx)?;
    if x.frame == 0 || x.kind & (ev::C_CALL | ev::C_RETURN) != 0 {
        return Ok(Value::NIL);
    }
    let f = cx.frame_at(x.frame);
    Ok(cx.binding_with_registers(f))
}
/// `__trace_parameters()`: of the method or block.
fn parameters(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let x = current(cx)?;
    let list = match x.kind {
        ev::C_CALL | ev::C_RETURN => cx.method_parameters(x.method)?,
        ev::CALL | ev::RETURN | ev::B_CALL | ev::B_RETURN => {
            let f: Fp = cx.frame_at(x.frame);
            let lambda = f.flags() & ff::BLOCK == 0 || f.flags() & ff::LAMBDA != 0;
            cx.parameters(&f.iseq().params, lambda)
        }
        _ => return not_for(cx),
    };
    Ok(cx.parameter_list(&list))
}
/// `__trace_open(flag)`: do events come while a block is called? Answers whether they did; nil: no block is being called.
fn open(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match cx.task.tracing.as_mut().and_then(|t| t.entries.last_mut()) {
        Some(e) => Ok(Value::bool(std::mem::replace(&mut e.open, a[0].truthy()))),
        None => Ok(Value::NIL),
    }
}

impl Cx {
    /// A Binding of frame `f`, with copies of the locals that stand in registers.
    fn binding_with_registers(&mut self, f: Fp) -> Value {
        let b = self.binding_of(f);
        let q = f.iseq();
        let (mut names, mut values) = (Vec::new(), Vec::new());
        let mut next = 1 + q.params.names.len();
        for n in &q.local_names {
            let reg = match q.params.names.iter().position(|p| *p == Some(*n)) {
                Some(i) => i + 1,
                None if q.env_names.contains(n) => continue,
                None => {
                    next += 1;
                    next - 1
                }
            };
            if q.env_names.contains(n) || reg >= q.nregs as usize {
                continue;
            }
            let v = f.r(reg);
            names.push(*n);
            values.push(if v.is_undef() { Value::NIL } else { v });
        }
        if names.is_empty() {
            return b;
        }
        self.add_locals(b, names, &values);
        b
    }
}

pub(crate) static TABLE: &[NativeDef] = &[
    intrinsic("__trace_mask", 1, 1, mask).guard(Guard::None),
    intrinsic("__trace_enable", 6, 6, enable).guard(Guard::None),
    intrinsic("__trace_disable", 1, 1, disable).guard(Guard::None),
    intrinsic("__trace_state", 1, 1, state).guard(Guard::None),
    intrinsic("__trace_stat", 0, 0, stat).guard(Guard::None),
    intrinsic("__trace_next", 0, 0, next).guard(Guard::None),
    intrinsic("__trace_event", 0, 0, event).guard(Guard::None),
    intrinsic("__trace_told", 0, 0, told).guard(Guard::None),
    intrinsic("__trace_place", 0, 0, place).guard(Guard::None),
    intrinsic("__trace_method", 0, 0, method).guard(Guard::None),
    intrinsic("__trace_self", 0, 0, me).guard(Guard::None),
    intrinsic("__trace_value", 1, 1, value).guard(Guard::None),
    intrinsic("__trace_binding", 0, 0, binding).guard(Guard::None),
    intrinsic("__trace_parameters", 0, 0, parameters).guard(Guard::None),
    intrinsic("__trace_open", 1, 1, open).guard(Guard::None),
];
