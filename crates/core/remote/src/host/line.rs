//! Calls and answers that wait for room on a connection.
//!
//! What is sent is in the link's hands: where much waits there for a peer that reads slowly, the connection ends, and all would be said
//! again on the next one, by a sender that is quicker than any peer. So only some of it is handed over at a time.
//!
//! **Invariant.** A lane takes [`STEP`] bytes, and is *full* then. Whoever sent the last of them asks the link, without the lock, and goes
//! on at once if there is room. If not, the link says when there is. A full lane is one that somebody goes on with, or whose connection
//! ends. Calls of a full lane are with the others that were not sent, in the order of their numbers. Of threads that wait to answer one is
//! woken at a time: it wakes the next, if that has room.

use super::{After, Inner, Peer};
use crate::talk::message::{Carried, How, Message};
use kumi_vm::Waker;
use kumi_wire::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of a lane between two questions.
const STEP: usize = 16 << 20;
/// Bytes of answers that wait here for one peer. Threads whose answers are large wait while there are more.
const ANSWERS: usize = 64 << 20;

/// On which way a message of so many bytes goes: the small ones', the large ones'.
pub fn lane(bytes: usize) -> usize {
    usize::from(bytes > kumi_link::SMALL)
}

/// See the module.
#[derive(Default)]
pub struct Line {
    lanes: [Lane; 2],
    /// Bytes of answers that wait.
    waiting: usize,
    threads: VecDeque<Waker>,
}

#[derive(Default)]
struct Lane {
    /// Bytes since the link was asked.
    sent: usize,
    full: bool,
    answers: VecDeque<Bytes>,
}

impl Line {
    /// The connection has ended, and what was to be said on it is void.
    pub fn ends(&mut self, after: &mut After) {
        after.wake.extend(std::mem::take(self).threads);
    }
    /// Whether an answer of so many bytes may be given. If not, this thread is woken when it may look again.
    pub fn has_room(&mut self, bytes: usize, w: Waker) -> bool {
        let task = w.ticket().task;
        self.threads.retain(|other| other.ticket().task != task);
        let room = lane(bytes) == 0 || self.waiting < ANSWERS;
        if !room {
            self.threads.push_back(w);
        }
        room
    }
    fn wake_one(&mut self, after: &mut After) {
        if self.waiting < ANSWERS {
            after.wake(self.threads.pop_front());
        }
    }
}

impl Peer {
    /// A message goes to the link.
    fn hand_over(&mut self, bytes: Bytes, call: Option<(Arc<str>, u64)>, after: &mut After) {
        let lane = lane(bytes.len());
        let l = &mut self.line.lanes[lane];
        l.sent += bytes.len();
        after.send.push((self.known.clone(), bytes, call));
        if l.sent >= STEP {
            (l.full, l.sent) = (true, 0);
            after.asks.push((self.known.clone(), lane));
        }
    }
    /// A call of this number, which is sent later if there is no connection, or no room.
    pub fn send_call(&mut self, number: u64, bytes: Bytes, after: &mut After) {
        if self.line.lanes[lane(bytes.len())].full {
            self.calls.not_sent(number);
        } else {
            let name = self.known.name().clone();
            self.hand_over(bytes, Some((name, number)), after);
        }
    }
    /// The answer to a call of its own, which waits where there is no room.
    pub fn send_answer(&mut self, number: u64, how: How, carried: Carried, after: &mut After) {
        let bytes = Message::Answer(number, how, carried).encode();
        let l = &mut self.line.lanes[lane(bytes.len())];
        if l.full {
            self.line.waiting += bytes.len();
            l.answers.push_back(bytes);
        } else {
            self.hand_over(bytes, None, after);
        }
        self.line.wake_one(after);
    }
    /// There is room again: what waits goes, as far as there is.
    fn go_on(&mut self, after: &mut After) {
        for lane in 0..2 {
            self.line.lanes[lane].full = false;
            while !self.line.lanes[lane].full {
                if let Some(bytes) = self.line.lanes[lane].answers.pop_front() {
                    self.line.waiting -= bytes.len();
                    self.hand_over(bytes, None, after);
                } else if let Some((number, bytes)) = self.calls.next_unsent(lane) {
                    self.send_call(number, bytes, after);
                } else {
                    break;
                }
            }
        }
        self.line.wake_one(after);
    }
}

impl Inner {
    /// There is room on the connection to this node: what waits for it goes.
    pub fn go_on(&mut self, name: &str, after: &mut After) {
        if let Some(p) = self.peers.get_mut(name) {
            p.go_on(after);
        }
    }
}
