//! FIFO admission among fast producers (the paper, section 3.2): of those that keep a worker busy only one fills its
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

/// The admission of one registry.
pub struct Admission {
    state: Mutex<State>,
}

impl Admission {
    /// No one runs, no one waits.
    pub fn new() -> Admission {
        Admission { state: Mutex::new(State { running: None, offered: None, queue: VecDeque::new() }) }
    }

    /// Asks for a turn. `None`: it is `key`'s now, until [`end`](Admission::end). Else the asker stands in the queue,
    /// will be told, and should ask again at that time at the latest.
    pub fn ask(&self, key: usize, who: Weak<dyn Candidate>, now: Instant) -> Option<Instant> {
        let mut state = self.state.lock();
        let mut next = None;
        if state.running.is_none() {
            // Those whose producers are gone step aside, and a head that was offered the turn and did not come.
            state.queue.retain(|(_, who)| who.strong_count() > 0);
            if state.offered.is_some_and(|since| now.saturating_duration_since(since) >= CLAIM) {
                if state.queue.front().is_some_and(|(head, _)| *head != key) {
                    state.queue.pop_front();
                }
                state.offered = None;
            }
            if state.queue.front().is_none_or(|(head, _)| *head == key) {
                state.queue.pop_front();
                state.running = Some(key);
                state.offered = None;
                return None;
            }
            if state.offered.is_none() {
                state.offered = Some(now);
                next = state.queue.front().and_then(|(_, who)| who.upgrade());
            }
        }
        if state.queue.iter().all(|(other, _)| *other != key) {
            state.queue.push_back((key, who));
        }
        drop(state);
        if let Some(next) = next {
            next.offered();
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

    /// How many wait for a turn.
    pub fn waiting(&self) -> usize {
        self.state.lock().queue.len()
    }
}

impl Default for Admission {
    fn default() -> Admission {
        Admission::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Asker(AtomicUsize);

    impl Candidate for Asker {
        fn offered(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn askers(n: usize) -> Vec<Arc<Asker>> {
        (0..n).map(|_| Arc::default()).collect()
    }

    fn ask(admission: &Admission, askers: &[Arc<Asker>], key: usize, now: Instant) -> bool {
        let who: Weak<dyn Candidate> = Arc::downgrade(&askers[key]) as Weak<dyn Candidate>;
        admission.ask(key, who, now).is_none()
    }

    #[test]
    fn turns_go_in_the_order_of_asking() {
        let (admission, all, now) = (Admission::new(), askers(3), Instant::now());
        assert!(ask(&admission, &all, 0, now));
        assert!(!ask(&admission, &all, 1, now));
        assert!(!ask(&admission, &all, 2, now));
        assert!(!ask(&admission, &all, 1, now), "asking again keeps the place");
        admission.end(0, now);
        assert_eq!(all[1].0.load(Ordering::Relaxed), 1);
        assert!(!ask(&admission, &all, 0, now), "the one who had it goes to the end");
        assert!(!ask(&admission, &all, 2, now));
        assert!(ask(&admission, &all, 1, now));
        admission.end(1, now);
        assert!(ask(&admission, &all, 2, now));
        admission.end(2, now);
        assert!(ask(&admission, &all, 0, now));
        assert_eq!(admission.waiting(), 0);
    }

    #[test]
    fn a_turn_that_is_not_taken_up_passes_on() {
        let (admission, all, now) = (Admission::new(), askers(3), Instant::now());
        assert!(ask(&admission, &all, 0, now));
        assert!(!ask(&admission, &all, 1, now));
        assert!(!ask(&admission, &all, 2, now));
        admission.end(0, now);
        assert!(!ask(&admission, &all, 2, now));
        assert!(ask(&admission, &all, 2, now + CLAIM));
    }

    #[test]
    fn those_who_are_gone_step_aside() {
        let (admission, mut all, now) = (Admission::new(), askers(3), Instant::now());
        assert!(ask(&admission, &all, 0, now));
        assert!(!ask(&admission, &all, 1, now));
        assert!(!ask(&admission, &all, 2, now));
        all[1] = Arc::default();
        admission.end(0, now);
        assert_eq!(all[2].0.load(Ordering::Relaxed), 1);
        assert!(ask(&admission, &all, 2, now));
    }
}
