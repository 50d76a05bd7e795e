//! Answers whose values have no encoding yet. Whoever serves connections makes it where a value is deeply frozen and plain: so a node
//! that computes or collects answers no later. The rest is a task's of the library.
//!
//! **Invariant.** What waits here is seen by the collector, also while it is being encoded; it comes here under the manager's lock,
//! so that the collector finds it there or here.

use super::Remote;
use crate::cell::Cell;
use crate::encode::Aside;
use crate::state::Bell;
use kumi_segments::FromOwner;
use kumi_vm::*;
use kumi_wire::Bytes;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// See the module.
pub struct Encoder {
    waiting: Mutex<Waiting>,
    /// Something was added that nobody has looked at.
    news: AtomicBool,
    /// A message has come for a guest, and there is none.
    guest: AtomicBool,
    /// Keys that others have begun to ask for: what stands there is encoded.
    keys: Mutex<VecDeque<Box<[u8]>>>,
    bell: Bell,
    /// Encodes beside the workers; `None` once the runtime ends.
    aside: Mutex<Option<Aside>>,
}

#[derive(Default)]
struct Waiting {
    all: VecDeque<Answer>,
    /// The number of the next.
    next: u64,
}

/// One answer that waits.
struct Answer {
    number: u64,
    client: Box<[u8]>,
    m: FromOwner<Cell>,
    /// Who is at it.
    at: At,
    /// Nanoseconds of the clock when it came.
    since: u64,
}

/// Nanoseconds between two looks whether a node takes references, and until it is taken for one that never will.
const SOON: u64 = 20_000_000;
const STRANGE: u64 = 5_000_000_000;

impl Answer {
    /// It has references, for a node of which it is not known yet that it takes any.
    fn waits(&self) -> bool {
        std::str::from_utf8(&self.client).is_ok_and(|to| !super::may_go(to, |f| self.m.each_value(f))) && now_ns() < self.since + STRANGE
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    New,
    /// Somebody is encoding it.
    Work,
    /// It is the task's.
    Task,
}

impl Encoder {
    pub fn new(cx: &Cx) -> Encoder {
        let aside = Mutex::new(Some(Aside::new(cx)));
        Encoder {
            waiting: Mutex::default(),
            news: AtomicBool::new(false),
            guest: AtomicBool::new(false),
            keys: Mutex::default(),
            bell: Bell::default(),
            aside,
        }
    }
    /// Under the manager's lock, but for what has no value of Ruby's. Then somebody serves what is held ([`Remote::encode_held`]).
    pub fn add(&self, client: Box<[u8]>, m: FromOwner<Cell>) {
        let mut w = self.waiting.lock();
        let number = w.next;
        w.next += 1;
        w.all.push_back(Answer { number, client, m, at: At::New, since: now_ns() });
        self.news.store(true, Release);
    }
    /// The library is to load what uses the connections as well.
    pub fn call_guest(&self) {
        self.guest.store(true, Release);
        self.ring();
    }
    pub fn add_key(&self, name: &[u8]) {
        self.keys.lock().push_back(name.into());
        self.ring();
    }
    fn ring(&self) {
        if let Some(w) = self.bell.take() {
            w.wake();
        }
    }
    pub fn each_value(&self, mut f: impl FnMut(Value)) {
        for a in &self.waiting.lock().all {
            a.m.each_value(|c| c.mark(&mut f));
        }
    }
    /// The runtime ends: nobody reads its cells any more.
    pub fn close(&self) {
        *self.aside.lock() = None;
    }
    /// The first of these, which is somebody's from now on.
    fn first(&self, of: At, to: At) -> Option<(u64, Box<[u8]>, FromOwner<Cell>)> {
        let mut w = self.waiting.lock();
        let a = w.all.iter_mut().find(|a| a.at == of && (of == At::New || !a.waits()))?;
        a.at = to;
        Some((a.number, a.client.clone(), a.m.clone()))
    }
    /// Does an answer wait for its node to be one that takes references?
    fn waits_for_strangers(&self) -> bool {
        self.waiting.lock().all.iter().any(|a| a.at == At::Task && a.waits())
    }
    /// It waits no more.
    fn done(&self, number: u64) {
        let mut w = self.waiting.lock();
        if let Some(i) = w.all.iter().position(|a| a.number == number) {
            w.all.remove(i);
        }
    }
    /// The message with bytes only, if all its values are plain.
    fn by_hand(&self, m: &FromOwner<Cell>) -> Option<FromOwner<Cell>> {
        let mut aside = self.aside.lock();
        let aside = aside.as_mut()?;
        m.clone()
            .try_map(|c| match (c.bytes(), c.value()) {
                (Some(_), _) | (_, None) => Ok(c),
                // SAFETY: the message stands among those that wait, which the collector sees.
                (None, Some(v)) => match unsafe { aside.encode(v) } {
                    Some(bytes) => Ok(c.with_bytes(Bytes::from(bytes))),
                    None => Err(()),
                },
            })
            .ok()
    }
}

impl Remote {
    /// Encodes and sends what waits, beside the workers where that can be done. Not under the manager's lock.
    pub fn encode_held(&self) {
        if !self.encoder.news.swap(false, AcqRel) {
            return;
        }
        let mut rest = false;
        while let Some((number, client, m)) = self.encoder.first(At::New, At::Work) {
            match self.encoder.by_hand(&m).map(|ready| self.answer_at_once(&client, ready)) {
                Some(Ok(())) => self.encoder.done(number),
                // It is of another kind, or too long to be sent.
                _ => {
                    let mut w = self.encoder.waiting.lock();
                    if let Some(a) = w.all.iter_mut().find(|a| a.number == number) {
                        a.at = At::Task;
                    }
                    rest = true;
                }
            }
        }
        if rest {
            self.encoder.ring();
        }
    }
    /// As [`encode_held`](Self::encode_held), from a native, which encodes everything.
    pub fn encode_held_by(&self, cx: &mut Cx) {
        if !self.encoder.news.swap(false, AcqRel) {
            return;
        }
        while let Some((number, client, m)) = self.encoder.first(At::New, At::Work) {
            send(cx, self, &client, m);
            self.encoder.done(number);
        }
    }
}

/// Encodes and sends one answer. A value that can't travel, or is too long for it, is refused to whoever asked for it.
pub fn send(cx: &mut Cx, remote: &Remote, client: &[u8], m: FromOwner<Cell>) {
    let encoded = m.clone().try_map(|c| c.encode(cx)).map_err(|_| cx.pending.exc = Value::NIL);
    match encoded.and_then(|m| remote.answer_at_once(client, m).map_err(|_| ())) {
        Ok(()) => {}
        Err(()) => {
            let kumi_segments::Reply::Answer(call, _) = m.body else { return };
            let mut replies = Vec::new();
            let woken = {
                let mut inner = remote.shared().lock();
                inner.act_remote(|node, ring| {
                    node.refuse(crate::clock::now(), client, call, ring, &mut |to, m| replies.push((Box::from(to), m)));
                })
            };
            woken.wake(cx);
            for (client, m) in replies {
                let _ = remote.answer_at_once(&client, m);
            }
        }
    }
}

/// Encodes some of what stands under a key. Is there more?
fn encode_some(cx: &mut Cx, remote: &Arc<Remote>, name: &[u8]) -> Result<bool, Exit> {
    const SOME: usize = 64;
    let made = crate::state::made(cx)?;
    let mut found: Vec<(u64, Cell)> = Vec::new();
    let key = {
        let inner = remote.shared().lock();
        let Some(key) = inner.node.manager().find_key(name) else { return Ok(false) };
        inner.node.manager().each_segment(key, |index, c| {
            if c.bytes().is_none() && found.len() < SOME {
                found.push((index, c.clone()));
            }
        });
        key
    };
    let more = found.len() == SOME;
    for (index, cell) in found {
        // What can't travel stays as it is: who asks for it is told.
        let Ok(encoded) = cell.encode(cx) else {
            cx.pending.exc = Value::NIL;
            return Ok(false);
        };
        drop(made.shared.lock().act(|m, _| m.exchange(key, index, encoded)).1);
    }
    Ok(more)
}

/// `__seg_encoder()`: works as long as the program runs. False: what uses the connections as well is to be loaded.
pub fn run(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let remote = super::calls::remote(cx)?;
    if remote.encoder.guest.swap(false, AcqRel) {
        return Ok(Value::FALSE);
    }
    if let Some((number, client, m)) = remote.encoder.first(At::Task, At::Work) {
        send(cx, &remote, &client, m);
        remote.encoder.done(number);
        // Another task may want to run.
        return Ok(Value::TRUE);
    }
    let until = if remote.encoder.waits_for_strangers() { now_ns() + SOON } else { u64::MAX };
    let key = remote.encoder.keys.lock().pop_front();
    if let Some(name) = key {
        if encode_some(cx, &remote, &name)? {
            remote.encoder.keys.lock().push_back(name);
        }
        return Ok(Value::TRUE);
    }
    cx.from_outside();
    let waker = cx.waker();
    remote.encoder.bell.set(waker);
    let some = remote.encoder.waiting.lock().all.iter().any(|a| a.at == At::Task && !a.waits());
    if some || remote.encoder.guest.load(Acquire) || !remote.encoder.keys.lock().is_empty() {
        cx.no_wait();
        return Ok(Value::TRUE);
    }
    Err(cx.park(until))
}
