//! A node that goes: it begins nothing, and its segments go to other nodes.
//!
//! **Invariant.** A segment that is on its way to another node is here still, under a lease or in its [`Moving`]: it is gone once the
//! other has it, and comes back where that is not known.

use super::calls::{begin, strings, too_long};
use super::{Here, Remote};
use crate::cell::Cell;
use crate::clock;
use crate::keys::name_value;
use crate::leaf;
use crate::run;
use crate::state::{Clients, Local, Made, Replies, Shared, Woken, made};
use crate::wait::fail;
use kumi_segments::{Asked, Call, Hold, Input, KeyId, Kind, LeaseId, New, Node, Output, Put, Send, Store, Time};
use kumi_vm::*;
use parking_lot::Mutex;
use std::sync::Arc;

pub static TABLE: &[NativeDef] = &[
    leaf("__seg_drain", 0, drain),
    leaf("__seg_end_leases", 0, end_leases),
    leaf("__seg_open_calls", 0, open_calls),
    leaf("__seg_misplaced", 2, misplaced),
    leaf("__seg_turn_away", 2, turn_away),
    leaf("__seg_hand_over", 2, hand_over),
    leaf("__seg_handed", 2, handed),
];

/// A segment on its way to another node.
struct Moving {
    shared: Arc<Shared>,
    /// Nothing: it has arrived, or is back.
    what: Mutex<Option<What>>,
}
enum What {
    Leased(LeaseId),
    /// It was to enter its queue then.
    Delayed(KeyId, Time, Box<New<Cell>>),
}

impl Payload for Moving {
    fn trace(&self, m: &mut Marker) {
        if let Some(What::Delayed(_, _, new)) = &*self.what.lock() {
            new.value.mark(|v| m.mark(v));
        }
    }
    fn shares(&self) -> bool {
        true
    }
}
impl Drop for Moving {
    fn drop(&mut self) {
        // One that was to enter later is handed back by the library; nothing else knows its value.
        if let Some(What::Leased(lease)) = self.what.get_mut().take() {
            let (_, woken) = self.shared.lock().act(|m, w| m.undo(clock::now(), lease, w));
            woken.wake_outside();
        }
    }
}

/// Does something with the node and its clients.
fn serve<T>(
    cx: &mut Cx,
    made: &'static Made,
    f: impl FnOnce(&mut Node<Cell, Local>, &mut dyn FnMut(&Local), Send<Cell>) -> T,
) -> Option<T> {
    let remote = here(cx);
    let mut replies = Replies::default();
    let mut result = None;
    let woken = made.shared.lock().act_remote(|node, ring| {
        result = Some(f(node, ring, &mut |to, m| {
            if let Some(remote) = &remote {
                remote.add(&mut replies, to, m);
            }
        }));
    });
    if let Some(remote) = &remote {
        remote.send_answers(replies);
    }
    woken.wake(cx);
    if let Some(remote) = remote {
        remote.encode_held_by(cx);
    }
    result
}
fn here(cx: &mut Cx) -> Option<Arc<Remote>> {
    cx.shared_state::<Here>().0.lock().clone()
}

/// `__seg_drain()`: no code segment begins any more, and no call of another node; whoever waits there is told. The others hear that this
/// node goes.
fn drain(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let stopped: Woken = run::stop(&mut made.shared.lock());
    stopped.wake(cx);
    serve(cx, made, |node, ring, send| node.drain(clock::now(), ring, send));
    here(cx).iter().filter_map(|r| r.link()).for_each(kumi_link::Link::say_goodbye);
    Ok(Value::NIL)
}
/// `__seg_end_leases()`: what other nodes' runs hold comes back: how many segments.
fn end_leases(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let ended = serve(cx, made, |node, ring, send| node.end_leases(clock::now(), ring, send));
    Ok(Value::fix(ended.unwrap_or(0) as i64))
}
/// `__seg_open_calls()`: calls of other nodes that wait, or whose answers they have not confirmed.
fn open_calls(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let open = made.shared.lock().node.open_calls();
    Ok(Value::fix(open as i64))
}
/// `__seg_misplaced(nodes, me)`: [[key, node], ..] of keys under which something stands that are another's of these nodes.
fn misplaced(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let names = strings(cx, a[0])?;
    let me = cx.arg_str(a, 1)?.bytes().to_vec();
    let found: Vec<(Vec<u8>, &str)> = {
        let inner = made.shared.lock();
        let standing = inner.node.manager().standing().into_iter();
        let place = |key: &[u8]| kumi_membership::place(key, names.iter().map(String::as_str)).filter(|n| n.as_bytes() != me);
        standing.filter_map(|key| Some((key.to_vec(), place(key)?))).collect()
    };
    let mut all = Vec::new();
    for (key, node) in found {
        let pair = [name_value(cx, &key), cx.str(node)];
        all.push(cx.array(&pair));
    }
    Ok(cx.array_vec(all))
}
/// `__seg_turn_away(nodes, me)`: other nodes' calls that wait for keys that are another's of these nodes end.
fn turn_away(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let names = strings(cx, a[0])?;
    let me = cx.arg_str(a, 1)?.bytes().to_vec();
    let mine = |key: &[u8]| kumi_membership::place(key, names.iter().map(String::as_str)).is_none_or(|n| n.as_bytes() == me);
    serve(cx, made, |node, ring, send| node.turn_away(clock::now(), mine, ring, send));
    Ok(Value::NIL)
}
/// `__seg_hand_over(peer, key)`: the next segment that stands, or will, under a key goes to a node: [its put, what is told to
/// `__seg_handed`]; nil: there is none.
fn hand_over(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let name = cx.arg_str(a, 1)?.bytes().to_vec();
    let now = clock::now();
    let mut woken = Woken::default();
    let next = {
        let mut inner = made.shared.lock();
        let Some(key) = inner.node.manager().find_key(&name) else { return Ok(Value::NIL) };
        let input = Input { key, kind: Kind::Take, after: None };
        let (asked, w) = inner.act(|m, w| m.get(now, &[input], Hold::Open, None, w));
        woken.join(w);
        let answer = if let Ok(Asked::Here(answers)) = asked { answers.into_iter().next() } else { None };
        match answer.and_then(|a| Some((a.lease?, a.segment))) {
            Some((lease, s)) => {
                let ttl = inner.node.manager().leased(lease).and_then(|l| l.1).map(|at| at.saturating_sub(now).max(1));
                Some((What::Leased(lease), s.value, s.owned, None, ttl))
            }
            None => {
                let (pulled, w) = inner.act(|m, _| m.pull_delayed(key));
                woken.join(w);
                pulled.map(|(at, new)| {
                    let (cell, owned, ttl) = (new.value.clone(), new.owned, new.ttl);
                    (What::Delayed(key, at, Box::new(new)), cell, owned, Some(at.saturating_sub(now)), ttl)
                })
            }
        }
    };
    let Some((what, cell, owned, delay, ttl)) = next else {
        woken.wake(cx);
        return Ok(Value::NIL);
    };
    let moving = cx.data(cx.k.object, Moving { shared: made.shared.clone(), what: Mutex::new(Some(what)) });
    woken.wake(cx);
    let put = |cx: &mut Cx| -> R {
        let value = cell.encode(cx)?;
        if too_long(&value) {
            return Err(fail(cx, "Kumihimo::Segments::NotTransferable", "a value that is too long to travel"));
        }
        let store = Store { key: name, update: false, value, owned, delay, ttl };
        begin(cx, a[0], Call::Put(Put { store, wait: false }))
    };
    match put(cx) {
        Ok(call) => Ok(cx.array(&[call, moving])),
        Err(e) => {
            settle(cx, made, moving, false);
            Err(e)
        }
    }
}
/// `__seg_handed(segment, done)`: the other node has it, or it comes back.
fn handed(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    settle(cx, made, a[0], a[1].truthy());
    Ok(Value::NIL)
}
fn settle(cx: &mut Cx, made: &'static Made, moving: Value, done: bool) {
    let Some(what) = moving.as_data::<Moving>().and_then(|m| m.what.lock().take()) else { return };
    if let What::Delayed(key, _, new) = &what {
        let anchor = made.shared.lock().anchors.get(*key).map(|a| a.cell);
        if let Some(cell) = anchor {
            new.value.mark(|v| cx.heap.before_store(cell, v));
        }
    }
    let woken = {
        let mut inner = made.shared.lock();
        let now = clock::now();
        match what {
            What::Leased(lease) if done => inner.act(|m, w| m.commit(now, &[lease], [], w)).1,
            What::Leased(lease) => inner.act(|m, w| m.undo(now, lease, w)).1,
            What::Delayed(..) if done => Woken::default(),
            What::Delayed(key, at, new) => {
                let new = New { not_before: Some(at), ..*new };
                inner.act(|m, w| m.commit(now, &[], [Output { key, update: false, new }], w)).1
            }
        }
    };
    woken.wake(cx);
}
