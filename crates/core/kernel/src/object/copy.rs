//! Shallow copies by layout, for `dup` and `clone`.
//!
//! Invariant: a copy starts unfrozen, without singleton class, and shares no mutable buffer.

use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    n("Kernel", "dup", 0, 0, dup),
    intrinsic("__copy", 1, 1, |cx, _, a| copy(cx, a[0])),
    intrinsic("__copy_singleton", 2, 2, copy_singleton).guard(Guard::Classes),
    intrinsic("__copy_ivars", 2, 2, |cx, _, a| {
        copy_ivars(cx, a[0], a[1]);
        Ok(a[1])
    }),
    intrinsic("__copy_module", 2, 2, copy_module).guard(Guard::Classes),
];

/// Plain kinds whose copying no user code has a say in; the twin does the rest.
fn dup(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    if !recv.is_heap() || matches!(recv.kind(), Some(Kind::Float | Kind::Big | Kind::Pair)) {
        return Ok(recv);
    }
    for m in [sym::INITIALIZE_COPY, sym::INITIALIZE_DUP] {
        if !cx.builtin(recv, m) {
            return Err(Exit::Miss);
        }
    }
    let plain = match recv.kind() {
        Some(Kind::Str | Kind::Array | Kind::Hash) => true,
        // Nothing can be done to it that would need it unfrozen.
        Some(Kind::Record) => {
            let new = copy(cx, recv)?;
            if let Some(h) = new.header() {
                h.set(flag::FROZEN);
            }
            return Ok(new);
        }
        // initialize_copy of a built-in class over plain objects (Set, Enumerator, ...) has work to do.
        Some(Kind::Object) => {
            let c = cx.class_of(recv);
            let m = cx.find_method(c, sym::INITIALIZE_COPY);
            m != NO_METHOD && cx.method(m).owner == cx.k.kernel
        }
        _ => false,
    };
    if plain { copy(cx, recv) } else { Err(Exit::Miss) }
}

/// The copy, or undef for kinds that only their class can copy (Rust payloads).
fn copy(cx: &mut Cx, v: Value) -> R {
    let class = cx.real_class(v);
    let cv = class.val();
    let new = match v.kind() {
        Some(Kind::Object) => {
            let Some(o) = v.cell::<ObjectObj>() else { return Ok(Value::UNDEF) };
            let new = cx.heap.object(class);
            if let Some(c) = new.cell::<ObjectObj>() {
                // One look: others may give it variables meanwhile.
                let shape = o.shape();
                for i in 0..cx.heap.shapes.count(shape) {
                    cx.heap.edit(c).set_slot(i, o.slot(i));
                }
                c.set_shape(shape);
            }
            return Ok(new);
        }
        Some(Kind::Str) => {
            let Some(s) = v.as_str() else { return Ok(Value::UNDEF) };
            let n = cx.heap.str(cv, s.bytes(), s.enc());
            n.set_range(s.range());
            n.val()
        }
        Some(Kind::Array) => {
            let Some(a) = v.as_array() else { return Ok(Value::UNDEF) };
            cx.heap.array_seen(cv, a.seen()).val()
        }
        Some(Kind::Hash) => {
            let Some(h) = v.as_hash() else { return Ok(Value::UNDEF) };
            let d = h.h.clone();
            let bytes = d.bytes();
            cx.heap.charge(bytes);
            cx.heap.hash(cv, d).val()
        }
        Some(Kind::Range) => {
            let Some(r) = v.as_range() else { return Ok(Value::UNDEF) };
            let n = cx.heap.range(cv, r.lo, r.hi, r.exclusive());
            if let Some(h) = n.header() {
                h.clear(flag::FROZEN);
            }
            n
        }
        Some(Kind::Struct) => {
            let Some(s) = v.cell::<StructObj>() else { return Ok(Value::UNDEF) };
            let n = cx.heap.structure(cv, s.hdr.x.get());
            // A large cell is not born private.
            let vs = s.slots().to_vec();
            cx.heap.before_store_all(n.val(), &vs);
            n.put(vs);
            n.val()
        }
        Some(Kind::Record) => {
            let Some(r) = v.as_record() else { return Ok(Value::UNDEF) };
            let new = cx.heap.copy_record(class, r);
            new.hdr.clear(flag::FROZEN);
            new.val()
        }
        Some(Kind::Proc) => {
            let Some(p) = v.as_proc() else { return Ok(Value::UNDEF) };
            let mut hdr = Header::new(cv, Kind::Proc);
            hdr.x.put(p.hdr.x.get());
            hdr.aux.put(p.hdr.aux.get());
            let new = ProcObj { hdr, iseq: p.iseq, self_val: p.self_val, env: p.env, cref: p.cref, block: p.block, home: p.home };
            cx.heap.proc(new).val()
        }
        Some(Kind::Data) => match v.as_data::<MethodObj>() {
            Some(m) => {
                let m = m.clone();
                cx.data(class, m)
            }
            None => return Ok(Value::UNDEF),
        },
        _ => return Ok(Value::UNDEF),
    };
    copy_ivars(cx, v, new);
    Ok(new)
}

/// Copies instance variables, hidden ones included, and finalizers.
pub fn copy_ivars(cx: &mut Cx, from: Value, to: Value) {
    if from.header().is_some_and(|h| h.has(flag::SIDE)) && to.is_heap() {
        for f in cx.heap.finalizers_of(from) {
            // The table of finalizers is everybody's.
            cx.heap.publish(to);
            cx.heap.add_finalizer(to, f);
        }
    }
    for (s, v) in cx.ivars(from) {
        cx.ivar_set(to, s, v);
    }
}

/// Gives `to` a singleton class like that of `from`, when that has one.
fn copy_singleton(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (from, to) = (a[0], a[1]);
    let c = cx.class_of(from);
    // That of a class is copied with the class: it needs the superclass first.
    if !c.is_singleton() || c.data.attached != from || from.as_class().is_some() {
        return Ok(Value::NIL);
    }
    if let Some(s) = cx.singleton_class(to) {
        copy_members(cx, c, s);
    }
    Ok(Value::NIL)
}

/// Methods, constants, variables and mixins of one class or module into another.
fn copy_members(cx: &mut Cx, from: Gc<ClassObj>, to: Gc<ClassObj>) {
    for name in from.data.method_order.clone() {
        let Some(&i) = from.data.methods.get(&name) else { continue };
        let m = cx.method(i).clone();
        cx.copy_method(from, to, name, &m);
    }
    for v in from.data.consts.values().map(|k| k.value) {
        cx.heap.before_store(to.val(), v);
    }
    for p in from.data.cvars.iter().chain(&from.data.ivars) {
        cx.heap.before_store(to.val(), p.1);
    }
    cx.heap.edit(to).data.consts = from.data.consts.clone();
    cx.heap.edit(to).data.const_order = from.data.const_order.clone();
    cx.heap.edit(to).data.cvars = from.data.cvars.clone();
    cx.heap.edit(to).data.ivars = from.data.ivars.clone();
    for m in from.data.includes.clone() {
        cx.include_module(to, m);
    }
    for m in from.data.prepends.clone() {
        cx.prepend_module(to, m);
    }
}

/// Makes the fresh class or module `args[0]` a copy of `args[1]` (initialize_copy).
fn copy_module(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (to, from) = (cx.arg_class(a, 0)?, cx.arg_class(a, 1)?);
    if to.role == Role::Class {
        if to.data.superclass.is_some() || to == cx.k.basic_object {
            return Err(cx.type_error("already initialized class"));
        }
        if from.role == Role::Singleton {
            return Err(cx.type_error("can't copy singleton class"));
        }
        let Some(s) = from.data.superclass else { return Err(cx.type_error("can't copy the root class")) };
        crate::module::class::link(cx, to, s);
        cx.heap.edit(to).data.instance = from.data.instance;
        cx.heap.edit(to).data.members = from.data.members.clone();
        to.slots.set(from.slots.get());
    }
    copy_members(cx, from, to);
    if from.role != Role::Singleton {
        let meta = cx.class_of(from.val());
        if meta.is_singleton() && meta.data.attached == from.val() {
            if let Some(s) = cx.singleton_class(to.val()) {
                copy_members(cx, meta, s);
            }
        }
    }
    Ok(to.val())
}
