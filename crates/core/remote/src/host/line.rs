//! Calls and answers that wait for room on a connection.
//!
//! What is sent is in the link's hands: where much waits there for a peer that reads slowly, the connection ends, and all would be said
//! again on the next one, by a sender that is quicker than any peer. So only some of it is handed over at a time.
//!
//! **Invariant.** A lane takes [`STEP`] bytes, and is *full* then. Whoever sent the last of them asks the link, without the lock, and goes
//! on at once if there is room. If not, the link says when there is. A full lane is one that somebody goes on with, or whose connection
//! ends. Calls of a full lane are with the others that were not sent, in the order of their numbers. Of threads that wait to answer one is
//! woken at a time: it wakes the next, if that has room. While answers wait no call of that peer is begun.

use super::{After, Incoming, Inner, Peer, RunName};
use crate::talk::book::lane;
use crate::talk::message::{Carried, How, Message};
use kumi_vm::Waker;
use kumi_wire::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of a lane between two questions.
const STEP: usize = 16 << 20;
/// Bytes of answers that wait for room on a lane. Threads that have one more wait while there are so many.
const ANSWERS: usize = 64 << 20;

/// See the module.
#[derive(Default)]
pub struct Line {
    lanes: [Lane; 2],
    /// Calls of a peer that does not read the answers: nobody begins them.
    calls: VecDeque<Incoming>,
}

#[derive(Default)]
struct Lane {
    /// Bytes since the link was asked.
    sent: usize,
    full: bool,
    /// What waits for room, and how many bytes that is.
    answers: VecDeque<Bytes>,
    waiting: usize,
    /// Who has another one.
    threads: VecDeque<Waker>,
}

impl Line {
    /// The connection has ended, and what was to be said on it is void. What goes on are calls that nobody has begun.
    fn ends(&mut self, after: &mut After) -> VecDeque<Incoming> {
        let Line { lanes, calls } = std::mem::take(self);
        for lane in lanes {
            after.wake.extend(lane.threads);
        }
        calls
    }
    /// The lane that has no room for an answer of so many bytes, which has a head as well.
    fn crowded(&self, bytes: usize) -> Option<usize> {
        [lane(bytes), lane(bytes + 1024)].into_iter().find(|l| self.lanes[*l].waiting >= ANSWERS)
    }
    /// Does nothing wait?
    pub fn is_idle(&self) -> bool {
        self.calls.is_empty() && self.lanes.iter().all(|l| l.answers.is_empty() && l.threads.is_empty())
    }
    fn is_crowded(&self) -> bool {
        self.lanes.iter().any(|l| l.waiting >= ANSWERS)
    }
    /// Whether an answer of so many bytes may be given. If not, this thread is woken when it may look again.
    pub fn has_room_or_wakes(&mut self, bytes: usize, w: Waker) -> bool {
        let task = w.ticket().task;
        self.lanes.iter_mut().for_each(|l| l.threads.retain(|other| other.ticket().task != task));
        let crowded = self.crowded(bytes);
        if let Some(lane) = crowded {
            self.lanes[lane].threads.push_back(w);
        }
        crowded.is_none()
    }
}

impl Lane {
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
    fn send_answer(&mut self, number: u64, how: How, carried: Carried, after: &mut After) {
        let bytes = Message::Answer(number, how, carried).encode();
        let lane = lane(bytes.len());
        let l = &mut self.line.lanes[lane];
        if l.full {
            l.waiting += bytes.len();
            l.answers.push_back(bytes);
        } else {
            self.hand_over(bytes, None, after);
        }
        self.line.lanes[lane].wake_one(after);
    }
    /// There is room again: what waits goes, as far as there is.
    fn go_on(&mut self, after: &mut After) {
        for lane in 0..2 {
            self.line.lanes[lane].full = false;
            while !self.line.lanes[lane].full {
                if let Some(bytes) = self.line.lanes[lane].answers.pop_front() {
                    self.line.lanes[lane].waiting -= bytes.len();
                    self.hand_over(bytes, None, after);
                } else if let Some((number, bytes)) = self.calls.next_unsent(lane) {
                    self.send_call(number, bytes, after);
                } else {
                    break;
                }
            }
            self.line.lanes[lane].wake_one(after);
        }
    }
}

impl Inner {
    /// Whether a run's answer of so many bytes may be given now.
    pub fn has_room(&self, run: &RunName, bytes: usize) -> bool {
        let p = self.peers.get(&run.peer).filter(|p| p.incarnation == run.incarnation && !self.over);
        p.is_none_or(|p| p.line.crowded(bytes).is_none())
    }
    /// An answer is given to a run of this node's.
    pub fn send_answer(&mut self, run: &RunName, how: How, carried: Carried, after: &mut After) {
        let Some(p) = self.peers.get_mut(&run.peer) else { return };
        p.send_answer(run.number, how, carried, after);
        self.crowded |= p.line.is_crowded();
    }
    /// Calls of peers that do not read their answers are begun later.
    pub fn put_off(&mut self) {
        if !std::mem::take(&mut self.crowded) {
            return;
        }
        let crowded: Vec<Arc<str>> = self.peers.iter().filter(|(_, p)| p.line.is_crowded()).map(|(name, _)| name.clone()).collect();
        self.crowded = !crowded.is_empty();
        for call in std::mem::take(&mut self.servers.queue) {
            match self.peers.get_mut(&call.run.peer).filter(|_| crowded.contains(&call.run.peer)) {
                Some(p) => p.line.calls.push_back(call),
                None => self.servers.queue.push_back(call),
            }
        }
    }
    /// There is room on the connection to this node: what waits for it goes.
    pub fn go_on(&mut self, name: &str, after: &mut After) {
        let Some(p) = self.peers.get_mut(name) else { return };
        p.go_on(after);
        if !p.line.is_crowded() && !p.line.calls.is_empty() {
            let calls = std::mem::take(&mut p.line.calls);
            self.begin_all(calls, after);
        }
    }
    /// The connection to this node has ended.
    pub fn line_ends(&mut self, name: &str, after: &mut After) {
        if let Some(p) = self.peers.get_mut(name) {
            let calls = p.line.ends(after);
            self.begin_all(calls, after);
        }
    }
    fn begin_all(&mut self, calls: VecDeque<Incoming>, after: &mut After) {
        self.servers.queue.extend(calls);
        after.wake(self.servers.call_one());
    }
}
