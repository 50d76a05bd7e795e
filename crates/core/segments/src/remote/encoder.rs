//! Answers whose values have no encoding yet: a task of the library's makes it.

use super::Remote;
use crate::cell::Cell;
use crate::state::Bell;
use kumi_segments::FromOwner;
use kumi_vm::*;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// See the module.
#[derive(Default)]
pub struct Encoder {
    waiting: Mutex<VecDeque<(Box<[u8]>, FromOwner<Cell>)>>,
    /// Keys that others have begun to ask for: what stands there is encoded.
    keys: Mutex<VecDeque<Box<[u8]>>>,
    bell: Bell,
}

impl Encoder {
    pub fn add(&self, client: Box<[u8]>, m: FromOwner<Cell>) {
        self.waiting.lock().push_back((client, m));
        if let Some(w) = self.bell.take() {
            w.wake();
        }
    }
    pub fn add_key(&self, name: &[u8]) {
        self.keys.lock().push_back(name.into());
        if let Some(w) = self.bell.take() {
            w.wake();
        }
    }
    pub fn each_value(&self, mut f: impl FnMut(Value)) {
        for (_, m) in self.waiting.lock().iter() {
            let _ = m.clone().try_map(|c| {
                c.mark(&mut f);
                Ok::<_, ()>(())
            });
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

/// `__seg_encoder()`: works as long as the program runs.
pub fn run(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let remote = super::calls::remote(cx)?;
    let next = remote.encoder.waiting.lock().pop_front();
    if let Some((client, m)) = next {
        send(cx, &remote, &client, m);
        // Another task may want to run.
        return Ok(Value::TRUE);
    }
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
    if !remote.encoder.waiting.lock().is_empty() || !remote.encoder.keys.lock().is_empty() {
        cx.no_wait();
        return Ok(Value::TRUE);
    }
    Err(cx.park(u64::MAX))
}
