//! Who has come and gone, for Ruby.

use crate::state::Bell;
use kumi_vm::*;
use parking_lot::Mutex;
use std::collections::VecDeque;

/// What has happened to a member.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Join,
    Leave,
    /// Another node has this one's name.
    Conflict,
    /// A connection was not made, or refused: with whom, and why.
    Refused,
}

/// Of so many failed connections Ruby hears at a time.
const REFUSALS: usize = 16;

/// What Ruby has not heard yet.
#[derive(Default)]
pub struct News {
    waiting: Mutex<VecDeque<(Change, Box<str>)>>,
    bell: Bell,
}

impl News {
    pub fn add(&self, change: Change, name: &str) {
        {
            let mut waiting = self.waiting.lock();
            // Strangers make as many of them as they like.
            if change == Change::Refused && waiting.len() >= REFUSALS {
                return;
            }
            waiting.push_back((change, name.into()));
        }
        if let Some(w) = self.bell.take() {
            w.wake();
        }
    }
}

/// `__seg_news()`: [:join, :leave or :conflict, name of a node], or [:refused, with whom and why]; waits for it.
pub fn next(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let remote = super::calls::remote(cx)?;
    cx.from_outside();
    let waker = cx.waker();
    remote.news.bell.set(waker);
    let next = remote.news.waiting.lock().pop_front();
    let Some((change, name)) = next else { return Err(cx.park(u64::MAX)) };
    cx.no_wait();
    let change = cx.sym(match change {
        Change::Join => "join",
        Change::Leave => "leave",
        Change::Conflict => "conflict",
        Change::Refused => "refused",
    });
    let name = cx.str(&name);
    Ok(cx.array(&[change, name]))
}
