//! Moving an object of this node to another one, as lib/kumihimo/remote/move.rb does it.
//!
//! **Invariant.** An object moves while no thread is in one of its methods. From the moment when that is seen its cell is a reference, so that
//! nobody enters one; calls wait until it has moved, and are made there, or stays, and is what it was.

use crate::host::Host;
use crate::leaf;
use crate::proxy::{Proxy, dead, reference};
use crate::state::{Made, host, host_seen, made};
use kumi_remote::Arrived;
use kumi_vm::*;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// The payload of a move. Dropped, it is over. The object refers to it while it moves.
pub struct Move {
    host: Arc<Host>,
    object: Value,
    /// What it was, once it is a reference: its class, and was it frozen?
    was: Mutex<Option<(Value, bool)>>,
    over: AtomicBool,
}

// SAFETY: the object and its class are published, and marked with the cell.
unsafe impl Send for Move {}
// SAFETY: as above.
unsafe impl Sync for Move {}

impl Move {
    fn end(&self) {
        if !self.over.swap(true, AcqRel) {
            let bits = self.object.bits();
            self.host.act(|inner, _, after| inner.end_move(bits, after));
        }
    }
    /// Is it going on? Then the waker is called when it is over.
    pub fn goes_on(&self, waker: Waker) -> bool {
        self.host.look(|inner| inner.wait_for_end(self.object.bits(), waker))
    }
}

impl Payload for Move {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.object);
        self.was.lock().iter().for_each(|w| m.mark(w.0));
    }
    fn shares(&self) -> bool {
        true
    }
}

impl Drop for Move {
    fn drop(&mut self) {
        self.end();
    }
}

/// The seal by which others know an object that came from another node.
pub fn brought(cx: &mut Cx, v: Value) -> Option<u64> {
    if !v.is_kind(Kind::Object) {
        return None;
    }
    let name = made(cx).ok()?.seal;
    let seal = cx.ivar_get(v, name);
    match seal.as_fix() {
        Some(n) => u64::try_from(n).ok(),
        None => seal.as_big().and_then(|b| b.n.to_u64()),
    }
}

fn stands(cx: &mut Cx, why: &str) -> Exit {
    crate::fail(cx, "Kumihimo::Segments::NotTransferable", why)
}

/// `__rem_move_begin(object)`: nobody begins a call of it from now on. nil: it is a reference by now. Waits while somebody else moves it.
/// This thread is one of its movers until `__rem_move_leave`.
fn begin(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (made, host) = (made(cx)?, host(cx)?);
    let object = a[0];
    let Some(h) = object.header().filter(|h| h.kind == Kind::Object) else {
        let what = cx.describe_type(object);
        return Err(stands(cx, &format!("{what} does not move: an object with instance variables does")));
    };
    if h.class() == made.reference.val() {
        return Ok(Value::NIL);
    }
    cx.heap.publish(object);
    cx.from_outside();
    let (thread, waker) = (cx.current_thread(), cx.waker());
    if !host.act(|inner, _, after| inner.begin_move(object.bits(), thread, waker, after)) {
        return Err(cx.park(u64::MAX));
    }
    cx.no_wait();
    Ok(cx.data(cx.k.object, Move { host, object, was: Mutex::new(None), over: AtomicBool::new(false) }))
}

/// `__rem_move_seize(move, end)`: once no other thread is in a method of the object, a copy of it, with its variables; it is a reference from now
/// on. nil: not in time, or not just now.
fn seize(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(m) = a[0].as_data::<Move>() else { return Err(cx.type_error("no move")) };
    let (object, until) = (m.object, a[1].as_fix().map_or(u64::MAX, |t| u64::try_from(t).unwrap_or(0)));
    let Some(class) = object.header().and_then(|h| h.class().as_class()) else { return Ok(Value::NIL) };
    if class.is_singleton() && (!class.data.methods.is_empty() || !class.data.includes.is_empty() || !class.data.prepends.is_empty()) {
        return Err(stands(cx, "an object with methods of its own does not move"));
    }
    let class = cx.real_class(object);
    for (variable, _) in cx.ivars(object) {
        let known = variable == made.seal || cx.syms.name(variable) == kumi_core_segments::encode::STAYS.as_bytes();
        if cx.hidden_ivar(variable) && !known {
            let name = cx.class_name(class);
            return Err(stands(cx, &format!("a {name} does not move: it has a state that is not in instance variables")));
        }
    }
    cx.from_outside();
    let (thread, waker) = (cx.current_thread(), cx.waker());
    if !m.host.look(|inner| inner.may_move(object.bits(), thread, Some(waker))) {
        if until != u64::MAX && now_ns() >= until {
            cx.no_wait();
            return Ok(Value::NIL);
        }
        return Err(cx.park(until));
    }
    cx.no_wait();
    let mv = a[0];
    let seized = loop {
        let seen = cx.stop_world(|cx| {
            let movers = m.host.look(|inner| inner.may_move(object.bits(), thread, None).then(|| inner.movers(object.bits())))?;
            if cx.others_are_in(object, &movers) {
                return None;
            }
            let variables = cx.ivars(object);
            let frozen = object.frozen();
            cx.heap.before_store(mv, class.val());
            *m.was.lock() = Some((class.val(), frozen));
            change(cx, made, object, made.reference.val(), mv, true);
            Some(variables)
        });
        if let Some(seen) = seen {
            break seen;
        }
    };
    let Some(variables) = seized else { return Ok(Value::NIL) };
    let copy = cx.heap.object(class);
    for (variable, v) in variables {
        cx.ivar_set(copy, variable, v);
    }
    let frozen = m.was.lock().is_some_and(|w| w.1);
    if let Some(h) = copy.header().filter(|_| frozen) {
        h.set(flag::FROZEN);
    }
    Ok(copy)
}

/// The cell is one of that class from now on, with this as its hidden variable. While the world is stopped.
fn change(cx: &mut Cx, made: &Made, object: Value, class: Value, to: Value, frozen: bool) {
    let Some(h) = object.header() else { return };
    cx.heap.before_store(object, class);
    h.set_class(class);
    h.clear(flag::SINGLETON);
    cx.ivar_set(object, made.to, to);
    if frozen { h.set(flag::FROZEN) } else { h.clear(flag::FROZEN) }
}

/// `__rem_move_class(move)`: the name of its class.
fn class(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let was = a[0].as_data::<Move>().and_then(|m| m.was.lock().as_ref().and_then(|w| w.0.as_class()));
    let name = was.map_or(String::new(), |c| cx.class_name(c));
    Ok(cx.str(&name))
}

/// `__rem_move_variables(copy)`: names and values in turn.
fn variables(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut row = Vec::new();
    for (variable, v) in cx.ivars(a[0]) {
        if !cx.hidden_ivar(variable) {
            row.extend([Value::sym(variable), v]);
        }
    }
    Ok(cx.array_vec(row))
}

/// `__rem_move_stay(move)`: it has not moved: it is what it was.
fn stay(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    if let Some(m) = a[0].as_data::<Move>() {
        let was = m.was.lock().take();
        if let Some((class, frozen)) = was {
            while cx.stop_world(|cx| change(cx, made, m.object, class, Value::UNDEF, frozen)).is_none() {}
        }
    }
    Ok(Value::NIL)
}

/// `__rem_move_end(move)`: calls go on, whether it has moved or not.
fn end(_: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(m) = a[0].as_data::<Move>() {
        m.end();
    }
    Ok(Value::NIL)
}

/// `__rem_move_leave(object)`: the running thread wants to move it no more.
fn leave(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(host) = host_seen(cx) {
        let thread = cx.current_thread();
        host.look(|inner| inner.is_no_mover(a[0].bits(), thread));
    }
    Ok(Value::NIL)
}

/// `__rem_become(move, reference)`: the object has moved: it is this one now.
fn become_reference(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(m) = a[0].as_data::<Move>() else { return Err(cx.type_error("no move")) };
    let to = reference(cx, a[1]);
    let Some(p) = to.as_data::<Proxy>() else {
        return Err(crate::fail(cx, "Kumihimo::Remote::Refused", "the node that was to take the object has made none"));
    };
    let (import, seal, object) = (p.import, p.seal(), m.object);
    if let Err(why) = m.host.act(|inner, now, after| inner.has_moved(now, object.bits(), import, (object, seal), after)) {
        return Err(dead(cx, why));
    }
    cx.heap.publish(to);
    let settle = |cx: &mut Cx| {
        let Some(o) = object.cell::<ObjectObj>() else { return };
        for i in 0..cx.heap.shapes.count(o.shape()) {
            cx.heap.edit(o).set_slot(i, Value::UNDEF);
        }
        o.set_shape(ROOT_SHAPE);
        change(cx, made, object, made.reference.val(), to, true);
    };
    while cx.stop_world(settle).is_none() {}
    *m.was.lock() = None;
    Ok(Value::TRUE)
}

/// `__rem_adopted(object, reference)`: it is what the reference names, once that has moved.
fn adopted(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let name = made(cx)?.seal;
    // It may be what an object left behind here a moment ago, and comes back to.
    let from = once_moved(cx, a[1])?;
    let Some(p) = from.as_data::<Proxy>() else {
        if let Some(d) = from.as_data::<crate::proxy::Dead>() {
            let why = d.why;
            return Err(dead(cx, why));
        }
        return Err(crate::fail(cx, "Kumihimo::Remote::Refused", "an object moves from another node"));
    };
    let seal = p.seal();
    let seal = cx.uint(seal);
    cx.ivar_set(a[0], name, seal);
    Ok(a[0])
}

/// `__rem_follow(reference, now)`: its object is this one, says its node.
fn follow(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (old, new) = (once_moved(cx, a[0])?, once_moved(cx, a[1])?);
    let Some(p) = old.as_data::<Proxy>() else { return Ok(Value::NIL) };
    let now = match new.as_data::<Proxy>() {
        Some(n) => Arrived::Import { import: n.import, version: 0 },
        None if made(cx)?.staying.has(cx, new) => Arrived::Home(new.bits()),
        None => return Ok(Value::NIL),
    };
    cx.heap.publish(new);
    p.host.act(|inner, time, _| inner.follow(time, p.import, &now));
    Ok(Value::NIL)
}

/// The cell of a reference, as [`reference`]; parks while its object moves from here.
fn once_moved(cx: &mut Cx, v: Value) -> R {
    let mut cell = reference(cx, v);
    // The next one may have begun when one is over.
    while let Some(m) = cell.as_data::<Move>() {
        cx.from_outside();
        let waker = cx.waker();
        if m.goes_on(waker) {
            return Err(cx.park(u64::MAX));
        }
        cx.no_wait();
        cell = reference(cx, v);
    }
    Ok(cell)
}

/// `__rem_home(reference)`: the object, where it is this node's by now; nil. Waits while it moves from here.
fn home(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = once_moved(cx, a[0])?;
    if let Some(p) = v.as_data::<Proxy>() {
        let bits = p.host.look(|inner| inner.home_of(p.import));
        return Ok(bits.map_or(Value::NIL, Value::from_bits));
    }
    // It has stayed.
    Ok(if v.is_kind(Kind::Object) { v } else { Value::NIL })
}

pub static TABLE: &[NativeDef] = &[
    leaf("__rem_move_begin", 1, begin),
    leaf("__rem_move_seize", 2, seize),
    leaf("__rem_move_variables", 1, variables),
    leaf("__rem_move_class", 1, class),
    leaf("__rem_move_stay", 1, stay),
    leaf("__rem_move_end", 1, end),
    leaf("__rem_move_leave", 1, leave),
    leaf("__rem_become", 2, become_reference),
    leaf("__rem_adopted", 2, adopted),
    leaf("__rem_follow", 2, follow),
    leaf("__rem_home", 1, home),
];
