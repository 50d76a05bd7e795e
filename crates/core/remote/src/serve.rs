//! Calls of other nodes, as they are answered: threads of the library ask for one after another.
//!
//! **Invariant.** A run is answered once. Dropped without, its caller hears that it was not ended. What a call's references bring is
//! taken by the thread that does the call.

use crate::allow::{is_idempotent, may_call};
use crate::call::{SOON, encoded};
use crate::host::arrivals::Arrivals;
use crate::host::moves::{Beginning, Callee};
use crate::host::servers::Turn;
use crate::host::{Doing, Host, Incoming, RunName};
use crate::leaf;
use crate::proxy::values;
use crate::state::{host, host_seen, made};
use crate::talk::message::{Carried, How, Target};
use kumi_core_segments::encode::{FILL, Later};
use kumi_remote::Error;
use kumi_vm::*;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// No run has longer: a year.
const LONG: u64 = 365 * 24 * 3600 * 1_000_000_000;

/// Who waits for room on a connection looks again after so long, though nobody has said that there is.
const LATE: u64 = 1_000_000_000;

/// The payload of a run.
pub struct Run {
    host: Arc<Host>,
    name: RunName,
    /// By which this node knows it. Serials are never given twice.
    serial: u64,
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
            self.host.act(|inner, now, after| {
                inner.threads.remove(&self.serial);
                inner.answer(now, &self.name, how, carried, after);
            });
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

/// The payload of what is called off: the serial of the run.
struct Off(u64, Arc<Host>);

impl Payload for Off {
    fn shares(&self) -> bool {
        true
    }
    fn constant(&self) -> bool {
        true
    }
}

/// Which run is this, or is called off by it?
fn serial_of(v: Value) -> Option<u64> {
    v.as_data::<Run>().map(|r| r.serial).or_else(|| v.as_data::<Off>().map(|o| o.0))
}

/// The name of a run.
pub fn run_of(v: Value) -> Option<RunName> {
    v.as_data::<Run>().map(|r| r.name.clone())
}

fn text(s: &str) -> Carried {
    Carried::plain(s.as_bytes().to_vec())
}

/// `__rem_next(most, how)`: the next call. A plain one: [run, object, method, arguments]. Another: [run, object, method, arguments, keywords,
/// has a block, end], whose object is nil: this node itself; true: a block's call. true: another thread is to be started first. nil:
/// this thread is not needed: `most` others wait, or this node is one no more. false: `__rem_forget` first. How: 1: this thread was started just now; 2: no other can
/// be.
fn next(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let most = a[0].as_fix().map_or(1, |n| n.max(1) as usize);
    let (new, alone) = (a[1] == Value::fix(1), a[1] == Value::fix(2));
    let host = host(cx)?;
    let me = cx.task.id();
    let mut new = new;
    if is_used(cx)? {
        return Ok(Value::FALSE);
    }
    loop {
        let turn = host.look(|inner| {
            if std::mem::take(&mut new) {
                inner.servers.has_started();
            }
            inner.put_off();
            inner.servers.turn(me, alone)
        });
        match turn {
            Turn::Call(incoming, other, elsewhere) => {
                match other {
                    Some(w) if elsewhere => w.wake(),
                    Some(w) => drop(cx.wake(w.ticket())),
                    None => {}
                }
                match begin(cx, &host, *incoming)? {
                    Some(row) => return Ok(row),
                    None => continue,
                }
            }
            Turn::Start => return Ok(Value::TRUE),
            Turn::None => {}
        }
        cx.from_outside();
        cx.expect_service();
        let waker = cx.waker();
        let wait = host.look(|inner| {
            if inner.over || inner.servers.idle() >= most {
                return None;
            }
            if !inner.servers.queue.is_empty() {
                return Some(false);
            }
            inner.servers.is_idle(waker);
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

/// The name of threads that do calls.
const NAME: &[u8] = b"remote calls";

/// Has a call left something on this thread that the next one would see?
fn is_used(cx: &mut Cx) -> Result<bool, Exit> {
    let [vars, name, priority, aborts, reports] = made(cx)?.of_threads;
    let thread = cx.current_thread();
    let named = cx.ivar_get(thread, name).as_str().is_some_and(|s| s.bytes() == NAME);
    let [has, priority, aborts, reports] =
        [vars, priority, aborts, reports].map(|n| Some(cx.ivar_get(thread, n)).filter(|v| !v.is_undef()));
    let plain = priority.is_none_or(|v| v.is_nil() || v == Value::fix(0))
        && !aborts.is_some_and(Value::truthy)
        && !reports.is_some_and(Value::truthy);
    Ok(!named || !plain || !cx.task.locals().is_nil() || has.is_some_and(|v| !v.is_nil()))
}

/// `__rem_forget(thread)`: the running one is as if it had just begun, but for its priority and what becomes of exceptions.
fn forget(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let [vars, name, ..] = made(cx)?.of_threads;
    if a[0] == cx.current_thread() {
        cx.task.set_locals(Value::NIL);
        let text = cx.str_vec(NAME.to_vec(), EncIndex::UTF_8);
        cx.ivar_set(a[0], name, text);
        cx.ivar_set(a[0], vars, Value::NIL);
    }
    Ok(Value::NIL)
}

/// `__rem_ends(started)`: this thread waits for calls no more. false: it was to be started, and was not.
fn ends(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(host) = host_seen(cx) {
        let me = cx.task.id();
        let started = a[0].truthy();
        host.act(|inner, _, after| {
            if !started {
                inner.servers.has_started();
            }
            after.wake(inner.servers.ends(me));
        });
    }
    Ok(Value::NIL)
}

/// Begins a call. None: it was answered, or is not wanted.
pub fn begin(cx: &mut Cx, host: &Arc<Host>, incoming: Incoming) -> Result<Option<Value>, Exit> {
    let Incoming { run, call, since, mark } = incoming;
    kumi_record::needs(mark);
    let bytes = call.len();
    let refuse = |how, why: &str| host.act(|inner, now, after| inner.answer(now, &run, how, text(why), after));
    let left = match call.left {
        Some(left) => match left.checked_sub(kumi_link::now().saturating_sub(since)) {
            Some(left) => Some(left),
            None => {
                let why = "its time was over before it began";
                host.act(|inner, now, after| inner.never_begins(now, &run, bytes, (How::Refused, why), after));
                return Ok(None);
            }
        },
        None => None,
    };
    // What is called is looked up where the collector can't come between.
    let begun = host.act(|inner, now, after| {
        let p = inner.peers.get_mut(&run.peer).filter(|p| p.incarnation == run.incarnation)?;
        if !p.runs.waits(run.number) {
            p.waiting -= bytes;
            p.runs.begins(run.number, 0);
            return None;
        }
        let (node, symbols) = (p.node, p.symbols.clone());
        let object = match &call.target {
            Target::Object(r) => match inner.callee(r) {
                Ok(Callee::Moving(bits)) => return Some(Err(bits)),
                found => found.map(Some),
            },
            _ => Ok(None),
        };
        inner.serial += 1;
        let serial = inner.serial;
        if let Some(p) = inner.peers.get_mut(&run.peer) {
            p.waiting -= bytes;
            p.runs.begins(run.number, serial);
        }
        if let (Ok(Some(Callee::Away(_) | Callee::Here(_, true))), Target::Object(r)) = (&object, &call.target) {
            inner.tell_moved(now, &run.peer, r, after);
        }
        let away = match &object {
            Ok(Some(Callee::Away(import))) => Some(Arrivals::again(host, inner, now, *import)),
            _ => None,
        };
        let block = match &call.target {
            Target::Block(of) => inner.peers.get(&run.peer).and_then(|p| p.calls.get(*of)).and_then(|o| o.who.call.block()),
            _ => None,
        };
        let arrivals = Arrivals::of(host, inner, now, node, &call.arguments);
        Some(Ok((object, away, block, arrivals, symbols, serial)))
    });
    let (object, away, block, arrivals, symbols, serial) = match begun {
        Some(Ok(begun)) => begun,
        Some(Err(bits)) => {
            host.act(|inner, _, after| inner.wait_for_move(bits, Incoming { run, call, since, mark: 0 }, after));
            return Ok(None);
        }
        None => return Ok(None),
    };
    let (object, mut beginning) = match object {
        Ok(Some(Callee::Here(bits, _))) => (Some(Value::from_bits(bits)), Some(Beginning::of(host, bits))),
        Ok(_) => (None, None),
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
    let elsewhere = match away {
        Some(away) => values(cx, host, away)?.pop(),
        None => None,
    };
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
    let target = match (call.target, object.or(elsewhere)) {
        (_, Some(object)) => object,
        (Target::Block(_), _) => Value::TRUE,
        (Target::Object(_), _) => {
            refuse(How::NoObject, "the object was collected");
            return Ok(None);
        }
        _ => Value::NIL,
    };
    // It may be interrupted from here on.
    let thread = cx.current_thread();
    let wanted = host.look(|inner| {
        let p = inner.peers.get(&run.peer).filter(|p| p.incarnation == run.incarnation);
        let wanted = p.is_some_and(|p| !p.runs.is_called_off(run.number));
        if wanted {
            let object = beginning.take().map_or(0, |b| b.has_begun(inner));
            inner
                .threads
                .insert(serial, Doing { thread, since: kumi_link::now(), object, interrupted: false, claimed: false, waits: None });
        }
        wanted
    });
    if !wanted {
        refuse(How::Refused, "it was called off");
        return Ok(None);
    }
    let end = left.map_or(Value::NIL, |left| cx.uint(now_ns().saturating_add(left.min(LONG))));
    let plain = object.is_some() && keywords.is_nil() && end.is_nil() && !call.block;
    let run = cx.data(cx.k.object, Run { host: host.clone(), name: run, serial, answered: AtomicBool::new(false), block });
    let row = [run, target, method, arguments, keywords, Value::bool(call.block), end];
    let row = cx.array(if plain { &row[..4] } else { &row });
    later.done(cx, FILL, row).map(Some)
}

/// `__rem_do([run, object, method, arguments])`: a plain call, in this native's place.
fn perform(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let row = a[0].as_array();
    let plain = row.and_then(|row| Some((row.get(1)?, row.get(2)?.as_sym()?, row.get(3)?.as_array()?)));
    let Some((object, method, arguments)) = plain else { return Err(cx.type_error("no plain call")) };
    let arguments: SmallVec<[Value; 8]> = arguments.seen().iter().collect();
    Err(cx.call(object, method, &arguments))
}
/// `__rem_done(run, value)`: it returned this, if nothing is left to do: nobody was to interrupt it, and the value holds no references.
/// nil: something is, and nothing was done.
fn done(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let Some(run) = a[0].as_data::<Run>() else { return Ok(Value::NIL) };
    // What can't travel raises when it is answered.
    let Ok((value, items)) = encoded(cx, made, a[1]) else {
        cx.pending.exc = Value::NIL;
        return Ok(Value::NIL);
    };
    if !items.is_empty() {
        return Ok(Value::NIL);
    }
    let answered = run.host.act(|inner, now, after| {
        match inner.threads.get(&run.serial) {
            Some(t) if !t.claimed && !t.interrupted && inner.has_room(&run.name, value.len()) => {
                inner.servers.took(now.saturating_sub(t.since));
            }
            _ => return false,
        }
        inner.threads.remove(&run.serial);
        if !run.answered.swap(true, AcqRel) {
            if !inner.servers.queue.is_empty() {
                after.among_others();
            }
            inner.answer(now, &run.name, How::Value, Carried::plain(value), after);
        }
        true
    });
    Ok(if answered { Value::TRUE } else { Value::NIL })
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
    let waits = run.host.look(|inner| match inner.threads.get_mut(&run.serial) {
        Some(t) if t.interrupted => {
            t.waits = Some(waker);
            None
        }
        _ => Some(inner.threads.remove(&run.serial).is_some_and(|t| t.claimed)),
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
    let same = serial_of(a[0]).zip(serial_of(a[1])).is_some_and(|(x, y)| x == y);
    Ok(Value::bool(same))
}
/// Whether an answer of so many bytes may be given now. If not, this thread is woken when it is to look again.
fn may_answer(cx: &mut Cx, run: &Run, bytes: usize) -> bool {
    let RunName { peer, incarnation, .. } = &run.name;
    if run.host.look(|inner| inner.has_room(&run.name, bytes)) {
        return true;
    }
    cx.from_outside();
    let waker = cx.waker();
    let room = run.host.look(|inner| {
        let p = inner.peers.get_mut(peer).filter(|p| p.incarnation == *incarnation && !inner.over);
        p.is_none_or(|p| p.line.has_room_or_wakes(bytes, waker))
    });
    if room {
        cx.no_wait();
    }
    room
}
fn respond(cx: &mut Cx, run: Value, v: Value, how: How) -> R {
    let made = made(cx)?;
    let Some(run) = run.as_data::<Run>() else { return Err(cx.type_error("no run")) };
    let (value, mut items) = encoded(cx, made, v)?;
    if !may_answer(cx, run, value.len()) {
        return Err(cx.park(now_ns() + LATE));
    }
    if items.is_empty() {
        run.answer(how, Carried::plain(value));
        return Ok(Value::NIL);
    }
    let sent = run.host.act(|inner, now, after| {
        if inner.over {
            return Ok(());
        }
        let known = inner.peers.get(&run.name.peer).filter(|p| p.incarnation == run.name.incarnation);
        let Some((node, beyond)) = known.map(|p| (p.node, p.beyond)) else { return Ok(()) };
        inner.items(&mut items);
        let parcel = inner.tables().send(now, node, &items).map_err(|e| if beyond && e == Error::Unknown { Error::Quota } else { e })?;
        if !run.answered.swap(true, AcqRel) {
            inner.answer(now, &run.name, how, Carried { parcel: Some(parcel), value }, after);
        }
        Ok(())
    });
    match sent {
        Ok(()) => Ok(Value::NIL),
        // Nobody is there to hear it.
        Err(Error::Unknown) if !run.host.node().is_some_and(|n| n.connect(&n.peer(&run.name.peer))) => {
            cx.no_wait();
            Ok(Value::NIL)
        }
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
        while let Some(serial) = inner.interrupts.pop_front() {
            if let Some(t) = inner.threads.get_mut(&serial) {
                (t.interrupted, t.claimed) = (true, true);
                return Some(Some((serial, t.thread)));
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
        Some(Some((serial, thread))) => {
            cx.no_wait();
            let run = cx.data(cx.k.object, Off(serial, host));
            Ok(cx.array(&[run, thread]))
        }
    }
}
/// `__rem_interrupted(run)`: its thread was.
fn interrupted(_: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(Off(serial, host)) = a[0].as_data::<Off>() {
        host.act(|inner, _, after| {
            if let Some(t) = inner.threads.get_mut(serial) {
                t.interrupted = false;
                after.wake(t.waits.take());
            }
        });
    }
    Ok(Value::NIL)
}

/// `__rem_mark`: what this thread does here is needed by what another one does later, a recording is told: a number for that, 0 where there is none.
fn mark(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.uint(kumi_record::mark()))
}
/// `__rem_needs(number)`: it goes on with that.
fn needs(_: &mut Cx, _: Value, a: &[Value]) -> R {
    kumi_record::needs(a[0].as_fix().and_then(|n| u64::try_from(n).ok()).unwrap_or(0));
    Ok(Value::NIL)
}

pub static TABLE: &[NativeDef] = &[
    leaf("__rem_next", 2, next),
    leaf("__rem_ends", 1, ends),
    intrinsic("__rem_forget", 1, 1, forget).guard(Guard::Objects),
    leaf("__rem_do", 1, perform),
    leaf("__rem_done", 2, done),
    leaf("__rem_answer", 2, answer),
    leaf("__rem_raised", 2, raised),
    leaf("__rem_not_done", 1, not_done),
    leaf("__rem_settle", 1, settle),
    leaf("__rem_same_run", 2, same_run),
    leaf("__rem_peer", 1, peer),
    leaf("__rem_block_of", 1, block_of),
    leaf("__rem_called_off", 0, called_off),
    leaf("__rem_interrupted", 1, interrupted),
    leaf("__rem_mark", 0, mark),
    leaf("__rem_needs", 1, needs),
];
