//! FIFO turns among fast producers (the paper, section 3.2): of those that keep a worker busy only one fills its
//! buffer at a time, in the order in which they asked.
//!
//! Invariant: at most one key is `running`, and a key stands in the queue at most once. A turn that was offered
//! and not taken up within [`CLAIM`] passes on: whoever asked may be gone (a task that was killed, a list that
//! was dropped), and nobody may wait for it for ever.

use std::collections::VecDeque;
use std::sync::Weak;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How long a turn that was offered stays reserved. One large buffer's filling time.
pub const CLAIM: Duration = Duration::from_millis(10);

/// Somebody who wants a turn: told when it is offered.
pub trait Candidate: Send + Sync {
    /// A turn is offered; ask again.
    fn offered(&self);
}

struct State {
    running: Option<usize>,
    /// The head has been offered the turn since then.
    offered: Option<Instant>,
    queue: VecDeque<(usize, Weak<dyn Candidate>)>,
}

/// The turns of one registry.
pub struct Turns {
    state: Mutex<State>,
}

impl Turns {
    /// No one runs, no one waits.
    pub fn new() -> Turns {
        Turns { state: Mutex::new(State { running: None, offered: None, queue: VecDeque::new() }) }
    }

    /// Asks for a turn. `None`: it is `key`'s now, until [`end`](Turns::end). Else the asker stands in the queue,
    /// will be told, and should ask again at that time at the latest.
    pub fn ask(&self, key: usize, who: Weak<dyn Candidate>, now: Instant) -> Option<Instant> {
        let mut state = self.state.lock();
        if state.running.is_none() {
            // Those whose producers are gone, and a head that was offered the turn and did not come, step aside.
            state.queue.retain(|(_, who)| who.strong_count() > 0);
            let expired = state.offered.is_some_and(|since| now.saturating_duration_since(since) >= CLAIM);
            let free = match state.queue.front() {
                None => true,
                Some((head, _)) => *head == key || expired,
            };
            if free {
                if expired && state.queue.front().is_some_and(|(head, _)| *head != key) {
                    state.queue.pop_front();
                }
                state.queue.retain(|(other, _)| *other != key);
                state.running = Some(key);
                state.offered = None;
                return None;
            }
        }
        if state.queue.iter().all(|(other, _)| *other != key) {
            state.queue.push_back((key, who));
        }
        if state.running.is_none() && state.offered.is_none() {
            state.offered = Some(now);
        }
        Some(now + CLAIM)
    }

    /// The turn of `key` is over; the next in the queue is offered it.
    pub fn end(&self, key: usize, now: Instant) {
        let next = {
            let mut state = self.state.lock();
            if state.running != Some(key) {
                return;
            }
            state.running = None;
            state.queue.retain(|(_, who)| who.strong_count() > 0);
            state.offered = state.queue.front().map(|_| now);
            state.queue.front().and_then(|(_, who)| who.upgrade())
        };
        if let Some(next) = next {
            next.offered();
        }
    }

    /// `key` asks no more.
    pub fn leave(&self, key: usize, now: Instant) {
        let mut state = self.state.lock();
        state.queue.retain(|(other, _)| *other != key);
        drop(state);
        self.end(key, now);
    }

    /// How many wait for a turn.
    pub fn waiting(&self) -> usize {
        self.state.lock().queue.len()
    }
}

impl Default for Turns {
    fn default() -> Turns {
        Turns::new()
    }
}
