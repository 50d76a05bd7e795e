//! Calls of other nodes' objects.
//!
//! **Invariant.** A call's object holds it until Ruby has its result. Dropped before, or left, the call is called off.

use crate::host::arrivals::Arrivals;
use crate::host::pending::{Ended, Outcome, Pending};
use crate::host::{Host, Inner, Waiter, no_node};
use crate::leaf;
use crate::proxy::{Dead, Proxy, dead, item, reference, values};
use crate::state::{Made, host, made};
use crate::talk::message::{Call, Carried, How, Message, NAME, Target};
use kumi_core_segments::encode::{FILL, Later, Symbols, encode_with};
use kumi_remote::{Error, Import, Item, Time};
use kumi_vm::*;
use kumi_wire::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

/// So long a call waits at most between two looks whether its node may be handed references.
pub const SOON: u64 = 20_000_000;
/// So long at most somebody has taken what a call has come to and has not put it where others find it, but for the collector.
const BRIEF: u64 = 50_000;
/// The longest message.
const MESSAGE_BYTES: usize = 64 << 20;

/// The payload of a call.
pub struct CallData {
    host: Arc<Host>,
    pending: Arc<Pending>,
    /// Of which node, which; none: it is over, or was left.
    name: Mutex<Option<(Arc<str>, u64)>>,
    /// What it calls, which is held until its node has answered.
    target: Value,
    /// What it was given.
    block: Value,
    /// What it calls, for messages.
    method: Sym,
    /// When it is over: nanoseconds of the clock, or nil.
    over: Value,
    /// The bits of what it returned, once a future was asked for it.
    value: AtomicU64,
    /// How many threads may be about to put that there; they pass no safepoint before. Counted before the call's answer is taken and its
    /// name is gone, until after the value is there: who has missed the answer looks here first, then for the value.
    decoding: AtomicU32,
}

// SAFETY: the values are published and marked with the cell.
unsafe impl Send for CallData {}
// SAFETY: as above; what changes is behind locks.
unsafe impl Sync for CallData {}

/// What another thread has found an answer to be.
enum Found {
    Value(Value),
    Soon,
    Nothing,
}

impl CallData {
    fn value(&self) -> Option<Value> {
        let v = Value::from_bits(self.value.load(Acquire));
        (!v.is_undef()).then_some(v)
    }
    /// What others have found. To be asked after the answer was missed, or the name.
    fn found(&self) -> Found {
        if self.decoding.load(SeqCst) > 0 {
            return Found::Soon;
        }
        self.value().map_or(Found::Nothing, Found::Value)
    }
    fn leave(&self) {
        let name = self.name.lock().take();
        name.into_iter().for_each(|(peer, number)| self.call_off(&peer, number));
        // Calls of its block that came before it was over; none comes any more.
        while let Some(late) = self.pending.take_back() {
            self.host.act(|inner, now, after| inner.has_no_block(now, &late, after));
        }
    }
    fn call_off(&self, peer: &str, number: u64) {
        // It may have come meanwhile, and another thread may wait for it.
        let bell = self.pending.leave();
        let waiter = self.host.act(|inner, now, after| {
            let waiter = inner.end_call(now, peer, number)?;
            if let Some(p) = inner.peers.get(peer) {
                after.send(p, &Message::Cancel(number));
            }
            Some(waiter)
        });
        drop(waiter);
        if let Some(bell) = bell.filter(|_| self.pending.is_future()) {
            bell.wake();
        }
    }
}

impl Payload for CallData {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.target);
        m.mark(self.block);
        m.mark(Value::from_bits(self.value.load(Acquire)));
    }
    fn shares(&self) -> bool {
        true
    }
}

impl Drop for CallData {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Raises `Kumihimo::NodeLostError`.
#[cold]
pub fn lost(cx: &mut Cx, outcome: Outcome, why: &str) -> Exit {
    let (text, outcome) = match outcome {
        Outcome::NotSent => (format!("{why}; nothing was sent"), "not_sent"),
        Outcome::PerhapsDone => (format!("{why}; the call may have been done or not"), "perhaps_done"),
        Outcome::Done => (format!("{why}; the call was done"), "done"),
    };
    let Ok(made) = made(cx) else { return cx.runtime_error(&text) };
    let (raise, outcome) = (cx.intern("__lost"), cx.intern(outcome));
    let text = cx.str(&text);
    cx.call(made.module, raise, &[text, Value::sym(outcome)])
}

/// A value as it travels, with what stays of it.
pub fn encoded(cx: &mut Cx, made: &Made, v: Value) -> Result<(Bytes, Vec<Item>), Exit> {
    let (bytes, stays) = encode_with(cx, v, &made.staying)?;
    if bytes.len() > MESSAGE_BYTES {
        let msg = format!("arguments or a result of more than {MESSAGE_BYTES} bytes do not travel: call several times, or use a segment");
        return Err(crate::fail(cx, "Kumihimo::Segments::NotTransferable", &msg));
    }
    Ok((Bytes::from(bytes), items(cx, stays)?))
}

/// What is handed over for objects that stay.
pub fn items(cx: &mut Cx, stays: Vec<Value>) -> Result<Vec<Item>, Exit> {
    let mut items = Vec::with_capacity(stays.len());
    for v in stays {
        items.push(item(cx, v)?);
    }
    Ok(items)
}

/// Why a call can't begin.
enum Not {
    Tables(Error),
    /// It is not known yet whether that node takes references.
    Later(Arc<str>),
    /// The call that the block was given to is over.
    Over,
    /// It is an object of this node by now.
    Home(u64),
    Text(String),
}

/// What is called, and where.
enum To {
    Import(Import),
    Desk(Arc<str>),
    Block(crate::host::RunName),
}

/// `__rem_call(target, method, arguments, keywords, block, end, future)`: begins a call. The target: a reference; the name of a node;
/// the run whose caller has a block. The end: nanoseconds of the clock, or nil. The future: the class of what is made; nil: the caller
/// waits.
fn call(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let host = host(cx)?;
    let Some(method) = a[1].as_sym() else { return Err(cx.type_error("a method's name is a Symbol")) };
    let name = Bytes::copy_from_slice(cx.syms.name(method));
    if name.len() > NAME {
        return Err(cx.arg_error("a method of another node with so long a name"));
    }
    let mut called = reference(cx, a[0]);
    while let Some(m) = called.as_data::<crate::moving::Move>() {
        cx.from_outside();
        let waker = cx.waker();
        if m.goes_on(waker) {
            let until = a[5].as_fix().map_or(u64::MAX, |t| u64::try_from(t).unwrap_or(0));
            if until != u64::MAX && now_ns() >= until {
                cx.no_wait();
                return Err(crate::fail(cx, "Kumihimo::Remote::TimeoutError", "the object was being moved until the time was over"));
            }
            return Err(cx.park(until));
        }
        cx.no_wait();
        called = reference(cx, a[0]);
    }
    if called.is_kind(Kind::Object) && made.staying.has(cx, called) {
        // It has stayed.
        return Err(here(cx, made, called, a));
    }
    let to = if let Some(p) = called.as_data::<Proxy>() {
        To::Import(p.import)
    } else if let Some(d) = called.as_data::<Dead>() {
        let why = d.why;
        return Err(dead(cx, why));
    } else if let Some(run) = crate::serve::run_of(a[0]) {
        To::Block(run)
    } else {
        To::Desk(String::from_utf8_lossy(cx.arg_str(a, 0)?.bytes()).into_owned().into())
    };
    let left = match a[5].as_fix() {
        Some(end) => match u64::try_from(end).unwrap_or(0).checked_sub(now_ns()) {
            Some(left) if left > 0 => Some(left),
            _ => return Err(crate::fail(cx, "Kumihimo::Remote::TimeoutError", "the time was over before the call")),
        },
        None => None,
    };
    let keywords = a[3].as_hash().is_some_and(|h| h.h.len() > 0);
    let arguments = if keywords {
        let mut all = a[2].as_array().map_or(Vec::new(), |l| l.seen().to_vec());
        all.push(a[3]);
        cx.array_vec(all)
    } else {
        a[2]
    };
    let (value, items) = encoded(cx, made, arguments)?;
    let block = a[4].truthy();
    let future = a[6].as_class();
    let pending = Pending::new(block.then_some(a[4]), future.is_some());
    cx.heap.publish(a[0]);
    cx.heap.publish(a[4]);
    let begun = begin(
        &host,
        &to,
        &pending,
        |target| Call {
            over: 0,
            keywords,
            block,
            again: false,
            left,
            target,
            name: name.clone(),
            arguments: Carried::plain(value.clone()),
        },
        &items,
    );
    match begun {
        Ok((peer, number)) => {
            let name = Mutex::new(Some((peer, number)));
            let (value, decoding) = (AtomicU64::new(Value::UNDEF.bits()), AtomicU32::new(0));
            let call = CallData { host, pending, name, target: a[0], block: a[4], method, over: a[5], value, decoding };
            Ok(cx.data(future.unwrap_or(cx.k.object), call))
        }
        // Only who can be reached comes to be known. One that has gone is not waited for.
        Err(Not::Later(name)) if !host.node().is_some_and(|n| n.connect(&n.peer(&name))) => {
            cx.no_wait();
            Err(lost(cx, Outcome::NotSent, &no_node(&name)))
        }
        Err(Not::Later(_)) => {
            cx.from_outside();
            cx.expect_message();
            let waker = cx.waker();
            let until = left.map_or(u64::MAX, |l| now_ns().saturating_add(l));
            host.look(|inner| inner.is_stranger(waker));
            // It may have been met meanwhile: then it is noticed soon.
            Err(cx.park(until.min(now_ns() + SOON)))
        }
        Err(Not::Tables(why)) => Err(dead(cx, why)),
        Err(Not::Home(bits)) => Err(here(cx, made, Value::from_bits(bits), a)),
        Err(Not::Over) => Err(crate::fail(cx, "Kumihimo::Remote::NoObject", "the call that the block was given to is over")),
        Err(Not::Text(why)) => Err(lost(cx, Outcome::NotSent, &why)),
    }
}

/// Why nothing is called from here any more.
const LEFT: &str = "this node has left the cluster";

/// A call of an object that is here, by a reference: Ruby makes it.
fn here(cx: &mut Cx, made: &Made, object: Value, a: &[Value]) -> Exit {
    let here = cx.intern("__here");
    cx.call(made.module, here, &[object, a[1], a[2], a[3], a[4], a[5], a[6]])
}

/// Where to, and what is called there.
fn place(host: &Arc<Host>, inner: &mut Inner, to: &To) -> Result<(Arc<str>, Target), Not> {
    if inner.over {
        return Err(Not::Text(LEFT.into()));
    }
    match to {
        To::Import(i) => {
            if let Some(bits) = inner.home_of(*i) {
                return Err(Not::Home(bits));
            }
            let r = inner.seen.target(*i).map_err(Not::Tables)?;
            let name = inner.name_of(r.life.node).cloned().ok_or(Not::Tables(Error::Unknown))?;
            if inner.peers.get(&name).is_some_and(|p| p.incarnation != r.life.incarnation) {
                return Err(Not::Tables(Error::OtherIncarnation));
            }
            Ok((name, Target::Object(r)))
        }
        To::Block(run) => match inner.peers.get(&run.peer) {
            Some(p) if p.incarnation == run.incarnation && p.runs.is_under_way(run.number) => {
                Ok((run.peer.clone(), Target::Block(run.number)))
            }
            _ => Err(Not::Over),
        },
        To::Desk(name) => {
            if !inner.peers.contains_key(name) {
                let node = host.node().ok_or_else(|| Not::Text(LEFT.into()))?;
                let known = node.link().and_then(|l| l.peer(name));
                match known {
                    Some(known) => drop(inner.peer(&known)),
                    None => return Err(Not::Text(no_node(name))),
                }
            }
            Ok((name.clone(), Target::Desk))
        }
    }
}

fn begin(host: &Arc<Host>, to: &To, pending: &Arc<Pending>, make: impl Fn(Target) -> Call, items: &[Item]) -> Result<(Arc<str>, u64), Not> {
    host.act(|inner, now, after| {
        let (name, target) = place(host, inner, to)?;
        let mut call = make(target);
        let mut parcel = None;
        if !items.is_empty() {
            let (sent, refs) = hand_over(inner, now, &name, items)?;
            parcel = Some(sent);
            call.arguments.parcel = Some((sent, refs));
        }
        let Some(p) = inner.peers.get_mut(&name) else { return Err(Not::Tables(Error::Unknown)) };
        let (number, over) = p.calls.next();
        call.over = over;
        let bytes = Message::Call(number, call).encode();
        let import = match to {
            To::Import(i) => Some(inner.seen.used(*i)),
            _ => None,
        };
        let number = p.calls.begin(Waiter { call: pending.clone(), parcel, import }, bytes.clone(), true);
        p.send_call(number, bytes, after);
        if pending.is_future() {
            after.among_others();
        }
        Ok((name, number))
    })
}

/// References for a message to that node.
fn hand_over(inner: &mut Inner, now: Time, name: &str, items: &[Item]) -> Result<(kumi_remote::Parcel, Vec<kumi_remote::Ref>), Not> {
    let (node, beyond) = (inner.peers[name].node, inner.peers[name].beyond);
    let mut items = items.to_vec();
    inner.items(&mut items);
    match inner.tables().send(now, node, &items) {
        Ok(sent) => Ok(sent),
        Err(Error::Unknown) if beyond => Err(Not::Tables(Error::Quota)),
        Err(Error::Unknown) if inner.seen.met(node).is_none() => Err(Not::Later(name.into())),
        Err(e) => Err(Not::Tables(e)),
    }
}

/// `__rem_wait(call, end)`: what it comes to; the object that stands for nothing: not in time.
fn wait(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let none = made(cx)?.none;
    let Some(d) = a[0].as_data::<CallData>() else {
        // It was a call of an object that is here.
        return Ok(a[0].as_array().and_then(|value| value.get(0)).unwrap_or(none));
    };
    let until = a[1].as_fix().map_or(u64::MAX, |t| u64::try_from(t).unwrap_or(0));
    if let Some(e) = d.pending.take() {
        return ended(cx, d, e);
    }
    let is_over = d.name.lock().is_none();
    match d.found() {
        Found::Value(v) => return Ok(v),
        Found::Soon => return Err(cx.park(now_ns() + BRIEF)),
        Found::Nothing if !is_over && d.host.is_forked() => {
            return Err(crate::fail(cx, "Kumihimo::Segments::NotConnected", kumi_core_segments::FORKED));
        }
        Found::Nothing if is_over || until != u64::MAX && now_ns() >= until => return Ok(none),
        Found::Nothing => {}
    }
    cx.from_outside();
    cx.expect_message();
    let waker = cx.waker();
    d.pending.set_bell(waker);
    match d.pending.take() {
        Some(e) => {
            cx.no_wait();
            ended(cx, d, e)
        }
        // Somebody else has found it meanwhile.
        None if !matches!(d.found(), Found::Nothing) => Err(cx.park(now_ns() + BRIEF)),
        None => {
            if d.pending.is_future() {
                d.host.let_go();
            }
            Err(cx.park(until))
        }
    }
}

/// `__rem_value(future)`: what it returned, where that is known and easily told; otherwise the object that stands for nothing, and
/// nothing has changed.
fn value(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let none = made(cx)?.none;
    let Some(d) = a[0].as_data::<CallData>() else { return Ok(none) };
    if let Some(v) = d.value() {
        return Ok(v);
    }
    d.decoding.fetch_add(1, SeqCst);
    let found = d.pending.take_plain().and_then(|(bytes, symbols)| {
        let mut later = Later::default();
        match later.decode_with(cx, &bytes, false, &symbols, &[]) {
            Ok(v) if later.is_done() => {
                *d.name.lock() = None;
                cx.heap.before_store(a[0], v);
                d.value.store(v.bits(), Release);
                Some(v)
            }
            failed => {
                if failed.is_err() {
                    cx.pending.exc = Value::NIL;
                }
                d.pending.end(Ended::Answer(How::Value, bytes, Arrivals::default(), symbols));
                None
            }
        }
    });
    d.decoding.fetch_sub(1, SeqCst);
    Ok(found.unwrap_or(none))
}

/// `__rem_event(call, end)`: waits until its block is called, which a future's is elsewhere: true; nil: it has ended, or is over time.
fn event(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(d) = a[0].as_data::<CallData>() else { return Ok(Value::NIL) };
    let until = a[1].as_fix().map_or(u64::MAX, |t| u64::try_from(t).unwrap_or(0));
    let mut waits = false;
    loop {
        // What has ended is called back no more: so this is looked at first.
        let has_ended = has_ended_now(d);
        let called = d.pending.is_called_back();
        if called || has_ended || until != u64::MAX && now_ns() >= until {
            if waits {
                cx.no_wait();
            }
            return Ok(if called { Value::TRUE } else { Value::NIL });
        }
        if waits {
            if d.pending.is_future() {
                d.host.let_go();
            }
            return Err(cx.park(until));
        }
        waits = true;
        cx.from_outside();
        cx.expect_message();
        let waker = cx.waker();
        d.pending.set_bell(waker);
    }
}
/// `__rem_back(call)`: the next call of its block, as `__rem_next` gives it; nil: there is none.
fn back(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(d) = a[0].as_data::<CallData>() else { return Ok(Value::NIL) };
    while let Some(incoming) = d.pending.take_back() {
        if let Some(row) = crate::serve::begin(cx, &d.host.clone(), incoming)? {
            return Ok(row);
        }
    }
    Ok(Value::NIL)
}

/// The value of bytes that came, with what their references are here. As the last thing that a native does.
pub fn decoded(cx: &mut Cx, host: &Arc<Host>, bytes: &[u8], arrivals: Arrivals, symbols: &Symbols) -> R {
    let references = values(cx, host, arrivals)?;
    let mut later = Later::default();
    let v = later.decode_with(cx, bytes, false, symbols, &references)?;
    later.done(cx, FILL, v)
}

fn ended(cx: &mut Cx, d: &CallData, e: Ended) -> R {
    *d.name.lock() = None;
    match e {
        Ended::Lost(outcome, why) => Err(lost(cx, outcome, &why)),
        Ended::Answer(How::Value, bytes, arrivals, symbols) => decoded(cx, &d.host, &bytes, arrivals, &symbols),
        Ended::Answer(How::Raised, bytes, arrivals, symbols) => {
            let made = made(cx)?;
            let references = values(cx, &d.host, arrivals)?;
            let mut later = Later::default();
            let v = later.decode_with(cx, &bytes, false, &symbols, &references)?;
            let raise = cx.intern("__raised");
            Err(cx.call(made.module, raise, &[v]))
        }
        Ended::Answer(how, bytes, ..) => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            match how {
                How::NoMethod => {
                    let made = made(cx)?;
                    let (raise, text) = (cx.intern("__no_method"), cx.str(&text));
                    Err(cx.call(made.module, raise, &[text, Value::sym(d.method)]))
                }
                How::NoObject => Err(crate::fail(cx, "Kumihimo::Remote::NoObject", &text)),
                _ => Err(crate::fail(cx, "Kumihimo::Remote::Refused", &text)),
            }
        }
    }
}

/// `__rem_leave(call)`: what it comes to is not wanted any more.
fn leave(_: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(d) = a[0].as_data::<CallData>() {
        d.leave();
    }
    Ok(Value::NIL)
}
/// `__rem_block(call)`: what it was given.
fn block(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(a[0].as_data::<CallData>().map_or(Value::NIL, |d| d.block))
}
/// `__rem_ended(call)`: has it?
fn has_ended(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(a[0].as_data::<CallData>().is_none_or(has_ended_now)))
}
fn has_ended_now(d: &CallData) -> bool {
    d.pending.has_ended() || d.name.lock().is_none() || d.host.is_forked()
}
/// `__rem_over(call)`: when it is.
fn over(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(a[0].as_data::<CallData>().map_or(Value::NIL, |d| d.over))
}
/// `__rem_method(call)`: the name of what it calls.
fn method(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(a[0].as_data::<CallData>().map_or(Value::NIL, |d| Value::sym(d.method)))
}
/// `__rem_locals()`: has this thread any thread-locals?
fn locals(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::bool(!cx.task.locals().is_nil()))
}

pub static TABLE: &[NativeDef] = &[
    leaf("__rem_call", 7, call),
    leaf("__rem_wait", 2, wait),
    leaf("__rem_value", 1, value),
    leaf("__rem_over", 1, over),
    leaf("__rem_method", 1, method),
    leaf("__rem_locals", 0, locals),
    leaf("__rem_event", 2, event),
    leaf("__rem_back", 1, back),
    leaf("__rem_leave", 1, leave),
    leaf("__rem_block", 1, block),
    leaf("__rem_ended", 1, has_ended),
];
