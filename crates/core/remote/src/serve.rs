//! Calls of other nodes, as they are answered: threads of the library ask for one after another.
//!
//! **Invariant.** A run is answered once. Dropped without, its caller hears that it was not ended. What a call's references bring is
//! taken by the thread that does the call.

use crate::allow::{is_idempotent, may_call};
use crate::call::{SOON, encoded};
use crate::host::arrivals::Arrivals;
use crate::host::{Doing, Host, Incoming, RunName};
use crate::leaf;
use crate::proxy::values;
use crate::state::{host, host_seen, made};
use crate::talk::message::{Carried, How, Target};
use kumi_core_segments::encode::{FILL, Later};
use kumi_remote::Error;
use kumi_vm::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// No run has longer: a year.
const LONG: u64 = 365 * 24 * 3600 * 1_000_000_000;

/// The payload of a run.
pub struct Run {
    host: Arc<Host>,
    name: RunName,
    answered: AtomicBool,
    /// What it calls, where that is the block of a call whose future nobody waits for yet.
    block: Option<Value>,
}

// SAFETY: the block is published, and marked with the cell.
unsafe impl Send for Run {}
// SAFETY: as above.
unsafe impl Sync for Run {}

impl Run {
    fn answer(&self, how: How, carried: Carried) {
        if !self.answered.swap(true, AcqRel) {
            self.host.act(|inner, now, after| inner.answer(now, &self.name, how, carried, after));
        }
    }
}

impl Payload for Run {
    fn trace(&self, m: &mut Marker) {
        self.block.iter().for_each(|b| m.mark(*b));
    }
    fn shares(&self) -> bool {
        true
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !*self.answered.get_mut() {
            self.answer(How::Refused, text("the thread that did it has ended before it was done"));
        }
    }
}

/// The name of a run.
pub fn run_of(v: Value) -> Option<RunName> {
    v.as_data::<Run>().map(|r| r.name.clone())
}

fn text(s: &str) -> Carried {
    Carried::plain(s.as_bytes().to_vec())
}

/// `__rem_next(most)`: the next call: [run, object, method, arguments, keywords, has a block, end, alone]. The object: nil: this node
/// itself; a block's call otherwise. alone: nobody else waits for calls. nil: there are `most` others that wait.
fn next(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let most = a[0].as_fix().map_or(1, |n| n.max(1) as usize);
    let host = host(cx)?;
    loop {
        if let Some(incoming) = host.look(|inner| inner.queue.pop_front()) {
            match begin(cx, &host, incoming)? {
                Some(row) => return Ok(row),
                None => continue,
            }
        }
        cx.from_outside();
        cx.expect_service();
        let waker = cx.waker();
        let wait = host.look(|inner| {
            if inner.over || inner.idle.len() >= most {
                return None;
            }
            if !inner.queue.is_empty() {
                return Some(false);
            }
            inner.is_idle(waker);
            Some(true)
        });
        match wait {
            Some(true) => return Err(cx.park(u64::MAX)),
            Some(false) => cx.no_wait(),
            None => {
                cx.no_wait();
                return Ok(Value::NIL);
            }
        }
    }
}

/// `__rem_ends()`: this thread waits for calls no more.
fn ends(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    if let Some(host) = host_seen(cx) {
        let me = cx.ticket();
        cx.no_wait();
        host.act(|inner, _, after| {
            inner.idle.retain(|other| other.ticket().task != me.task);
            if !inner.queue.is_empty() {
                after.wake(inner.idle.pop());
            }
        });
    }
    Ok(Value::NIL)
}

/// Begins a call. None: it was answered, or is not wanted.
pub fn begin(cx: &mut Cx, host: &Arc<Host>, incoming: Incoming) -> Result<Option<Value>, Exit> {
    let Incoming { run, call, since } = incoming;
    let bytes = call.arguments.value.len();
    let refuse = |how, why: &str| host.act(|inner, now, after| inner.answer(now, &run, how, text(why), after));
    let left = match call.left {
        Some(left) => match left.checked_sub(kumi_link::now().saturating_sub(since)) {
            Some(left) => Some(left),
            None => {
                refuse(How::Refused, "its time was over before it began");
                return Ok(None);
            }
        },
        None => None,
    };
    // What is called is looked up where the collector can't come between.
    let begun = host.act(|inner, now, _| {
        let p = inner.peers.get_mut(&run.peer).filter(|p| p.incarnation == run.incarnation)?;
        p.waiting -= bytes;
        if !p.runs.begins(run.number) {
            return None;
        }
        let (node, symbols) = (p.node, p.symbols.clone());
        let object = match &call.target {
            Target::Object(r) => inner.seen.resolve(r).map(|bits| Some(Value::from_bits(bits))),
            _ => Ok(None),
        };
        let block = match &call.target {
            Target::Block(of) => p.calls.get(*of).and_then(|o| o.who.call.block()),
            _ => None,
        };
        let arrivals = Arrivals::of(host, inner, now, node, &call.arguments);
        Some((object, block, arrivals, symbols, inner.idle.is_empty()))
    });
    let Some((object, block, arrivals, symbols, alone)) = begun else { return Ok(None) };
    let object = match object {
        Ok(v) => v,
        Err(Error::NodeLost | Error::OtherIncarnation) => {
            refuse(How::NoObject, "the object is of an earlier life of its node");
            return Ok(None);
        }
        Err(why) => {
            refuse(How::NoObject, &why.to_string());
            return Ok(None);
        }
    };
    let arrivals = match arrivals {
        Ok(a) => a,
        Err(why) => {
            refuse(How::Refused, &format!("what its arguments refer to can't be taken: {why}"));
            return Ok(None);
        }
    };
    let made = made(cx)?;
    let named = std::str::from_utf8(&call.name).ok().and_then(|_| cx.syms.find(&call.name));
    let has = |cx: &mut Cx, object, name: Option<Sym>| name.is_some_and(|name| may_call(cx, &made.allowed, object, name));
    let asks = &*call.name == b"respond_to?";
    if let Some(object) = object
        && !asks
        && !has(cx, object, named)
    {
        let class = cx.real_class(object);
        let class = cx.class_name(class);
        refuse(How::NoMethod, &format!("{class} has no method {} that other nodes may call", String::from_utf8_lossy(&call.name)));
        return Ok(None);
    }
    if call.again && !object.zip(named).is_some_and(|(o, n)| is_idempotent(cx, o, n)) {
        refuse(How::Done, "");
        return Ok(None);
    }
    let references = values(cx, host, arrivals)?;
    let mut later = Later::default();
    let arguments = match later.decode_with(cx, &call.arguments.value, false, &symbols, &references) {
        Ok(v) if v.as_array().is_some() => v,
        failed => {
            if failed.is_err() {
                cx.pending.exc = Value::NIL;
            }
            refuse(How::Refused, "its arguments are no value of a node, or name more symbols than are allowed");
            return Ok(None);
        }
    };
    let mut listed = match arguments.as_array().filter(|_| asks || call.keywords) {
        Some(list) => list.seen().to_vec(),
        None => Vec::new(),
    };
    if asks && let Some(object) = object {
        let asked = listed.first().and_then(|v| v.as_sym());
        let answer = has(cx, object, asked);
        let bytes = kumi_core_segments::encode::encode(cx, Value::bool(answer))?;
        host.act(|inner, now, after| inner.answer(now, &run, How::Value, Carried::plain(bytes), after));
        return Ok(None);
    }
    let (arguments, keywords) = if call.keywords {
        let last = listed.pop().filter(|v| v.as_hash().is_some());
        let Some(keywords) = last else {
            refuse(How::Refused, "its keywords are no Hash");
            return Ok(None);
        };
        (cx.array_vec(listed), keywords)
    } else {
        (arguments, Value::NIL)
    };
    let method = match named {
        Some(name) => Value::sym(name),
        None => Value::NIL,
    };
    let target = match (call.target, object) {
        (_, Some(object)) => object,
        (Target::Block(_), _) => Value::TRUE,
        _ => Value::NIL,
    };
    // It may be interrupted from here on.
    let thread = cx.current_thread();
    let wanted = host.look(|inner| {
        let p = inner.peers.get(&run.peer).filter(|p| p.incarnation == run.incarnation);
        let wanted = p.is_some_and(|p| !p.runs.is_called_off(run.number));
        if wanted {
            inner.threads.insert(run.clone(), Doing { thread, interrupted: false, claimed: false, waits: None });
        }
        wanted
    });
    if !wanted {
        refuse(How::Refused, "it was called off");
        return Ok(None);
    }
    let end = left.map_or(Value::NIL, |left| cx.uint(now_ns().saturating_add(left.min(LONG))));
    let run = cx.data(cx.k.object, Run { host: host.clone(), name: run, answered: AtomicBool::new(false), block });
    let row = [run, target, method, arguments, keywords, Value::bool(call.block), end, Value::bool(alone)];
    let row = cx.array(&row);
    later.done(cx, FILL, row).map(Some)
}

/// `__rem_answer(run, value)`: it returned this. Raises where that can't travel.
fn answer(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    respond(cx, a[0], a[1], How::Value)
}
/// `__rem_raised(run, [class, message, backtrace])`
fn raised(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    respond(cx, a[0], a[1], How::Raised)
}
/// `__rem_settle(run)`: nobody interrupts its thread for it from now on. Waits while somebody is about to. true: somebody did.
fn settle(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(run) = a[0].as_data::<Run>() else { return Ok(Value::NIL) };
    cx.from_outside();
    let waker = cx.waker();
    let waits = run.host.look(|inner| match inner.threads.get_mut(&run.name) {
        Some(t) if t.interrupted => {
            t.waits = Some(waker);
            None
        }
        _ => Some(inner.threads.remove(&run.name).is_some_and(|t| t.claimed)),
    });
    match waits {
        None => Err(cx.park(u64::MAX)),
        Some(claimed) => {
            cx.no_wait();
            Ok(Value::bool(claimed))
        }
    }
}
/// `__rem_same_run(run, other)`
fn same_run(_: &mut Cx, _: Value, a: &[Value]) -> R {
    let same = a[0].as_data::<Run>().zip(a[1].as_data::<Run>()).is_some_and(|(x, y)| x.name == y.name);
    Ok(Value::bool(same))
}
fn respond(cx: &mut Cx, run: Value, v: Value, how: How) -> R {
    let made = made(cx)?;
    let Some(run) = run.as_data::<Run>() else { return Err(cx.type_error("no run")) };
    let (value, items) = encoded(cx, made, v)?;
    if items.is_empty() {
        run.answer(how, Carried::plain(value));
        return Ok(Value::NIL);
    }
    let sent = run.host.act(|inner, now, after| {
        if inner.over {
            return Ok(());
        }
        let known = inner.peers.get(&run.name.peer).filter(|p| p.incarnation == run.name.incarnation);
        let Some(node) = known.map(|p| p.node) else { return Ok(()) };
        let parcel = inner.tables().send(now, node, &items)?;
        if !run.answered.swap(true, AcqRel) {
            inner.answer(now, &run.name, how, Carried { parcel: Some(parcel), value }, after);
        }
        Ok(())
    });
    match sent {
        Ok(()) => Ok(Value::NIL),
        Err(Error::Unknown) => {
            // It is not known yet whether the caller's node hears of references.
            cx.from_outside();
            let waker = cx.waker();
            run.host.look(|inner| inner.is_stranger(waker));
            Err(cx.park(now_ns() + SOON))
        }
        Err(why) => Err(crate::proxy::dead(cx, why)),
    }
}
/// `__rem_not_done(run)`: whoever did it has given it up.
fn not_done(_: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(run) = a[0].as_data::<Run>() {
        run.answer(How::Refused, text("the thread that did it was ended"));
    }
    Ok(Value::NIL)
}
/// `__rem_peer(run)`: whose call it is.
fn peer(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match run_of(a[0]) {
        Some(name) => Ok(cx.str(&name.peer)),
        None => Ok(Value::NIL),
    }
}
/// `__rem_block_of(run)`: the block that it calls.
fn block_of(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let block = a[0].as_data::<Run>().and_then(|r| r.block);
    block.ok_or_else(|| crate::fail(cx, "Kumihimo::Remote::NoObject", "the call that the block was given to is over"))
}
/// `__rem_called_off()`: the next run that nobody wants any more, and the thread that does it, which is to be interrupted; nil: this node
/// is in no cluster.
fn called_off(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let host = host(cx)?;
    cx.from_outside();
    let waker = cx.waker();
    let found = host.look(|inner| {
        while let Some(name) = inner.interrupts.pop_front() {
            if let Some(t) = inner.threads.get_mut(&name) {
                (t.interrupted, t.claimed) = (true, true);
                return Some(Some((name, t.thread)));
            }
        }
        if inner.over {
            return Some(None);
        }
        inner.interrupter = Some(waker);
        None
    });
    match found {
        None => Err(cx.park(u64::MAX)),
        Some(None) => {
            cx.no_wait();
            Ok(Value::NIL)
        }
        Some(Some((name, thread))) => {
            cx.no_wait();
            // It answers nothing: the run's own object does.
            let run = cx.data(cx.k.object, Run { host, name, answered: AtomicBool::new(true), block: None });
            Ok(cx.array(&[run, thread]))
        }
    }
}
/// `__rem_interrupted(run)`: its thread was.
fn interrupted(_: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(run) = a[0].as_data::<Run>() {
        run.host.act(|inner, _, after| {
            if let Some(t) = inner.threads.get_mut(&run.name) {
                t.interrupted = false;
                after.wake(t.waits.take());
            }
        });
    }
    Ok(Value::NIL)
}

pub static TABLE: &[NativeDef] = &[
    leaf("__rem_next", 1, next),
    leaf("__rem_ends", 0, ends),
    leaf("__rem_answer", 2, answer),
    leaf("__rem_raised", 2, raised),
    leaf("__rem_not_done", 1, not_done),
    leaf("__rem_settle", 1, settle),
    leaf("__rem_same_run", 2, same_run),
    leaf("__rem_peer", 1, peer),
    leaf("__rem_block_of", 1, block_of),
    leaf("__rem_called_off", 0, called_off),
    leaf("__rem_interrupted", 1, interrupted),
];
