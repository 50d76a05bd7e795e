//! Driving a producer: who fills the next batch and when. A reader that found nothing does it itself
//! ([`Producer::advance`]), one at a time, in turn where the policy says so; a pool thread may do it ahead of the demand.
//!
//! Invariant: between `begin` and `finish` the work is out and the document busy; `finish` puts it back, queues the
//! batch, and calls those who found the document busy. It calls others only when there is news, so that two readers
//! that both find nothing don't wake each other for ever.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Instant;

use kumi_xml::{Batch, Item, Limit};

use super::{FilledBatch, Producer, SPARE, State};
use crate::failure::Failure;
use crate::fill::{FILL_MOST, Filled, Work, patient};
use crate::policy::admission::Candidate;
use crate::policy::{AHEAD_BATCHES, Stop};
use crate::wait::{BlockingJob, Poll, Ticket, Wait};

/// What asking for progress came to.
pub(crate) enum Step {
    Progress,
    Wait(Wait, Ticket),
    Busy(Ticket),
    /// Nothing more comes; for what is still missing, this is why.
    Over(Arc<Failure>),
}

/// How long a reader has gone on for what is not there yet. A part that lies far behind may take a whole document, and
/// whoever reads may have to do something else meanwhile: between two calls others get their turn.
#[derive(Default)]
pub(crate) struct Stint(Option<Instant>);

impl Stint {
    /// After progress that did not bring it: what to answer when it has taken as long as one filling may.
    pub fn over<T>(&mut self, producer: &Producer) -> Option<Poll<T>> {
        let now = producer.shared.now();
        let since = *self.0.get_or_insert(now);
        if now.saturating_duration_since(since) < FILL_MOST {
            return None;
        }
        Some(Poll::Wait(Wait::Until(now), producer.lock().ticket()))
    }
}

impl Producer {
    /// Parses until the policy's buffer is full or the source has nothing, without routing: for callers that want
    /// to prefetch. Does nothing when enough is at hand. Says what to wait for when nothing could be done.
    pub fn prefetch(&self) -> Poll<()> {
        let seen = {
            let state = self.lock();
            if state.queue.len() >= AHEAD_BATCHES {
                return Poll::Ready(());
            }
            state.generation
        };
        match self.advance(seen) {
            Step::Progress | Step::Over(_) => Poll::Ready(()),
            Step::Wait(wait, ticket) => Poll::Wait(wait, ticket),
            Step::Busy(ticket) => Poll::Busy(ticket),
        }
    }

    /// Fills batches ahead of the demand until the policy's number of them is ready or the source has nothing. To be
    /// run by a pool thread; a registry's pool does so by itself.
    pub fn ahead(self: &Arc<Self>) {
        loop {
            let _inside = self.shared.gate.enter();
            let mut state = self.lock();
            let wanted = state.end.is_none() && !state.busy && !state.job_is_out() && state.queue.len() < state.pacer.ahead();
            let Some((mut work, mut batch, limit)) = wanted.then(|| self.begin(&mut state)).flatten() else {
                self.scheduled.store(0, Ordering::Release);
                return;
            };
            drop(state);
            let filled = self.fill(&mut work, &mut batch, limit);
            let full = matches!(filled.stop, Stop::Full);
            if !full {
                self.scheduled.store(0, Ordering::Release);
            }
            self.finish(work, batch, filled, true);
            if !full {
                return;
            }
        }
    }

    pub(super) fn spawn(&self) {
        let (Some(pool), Some(me)) = (&self.shared.pool, self.me.upgrade()) else { return };
        let generation = self.shared.gate.generation();
        if self.scheduled.swap(generation, Ordering::AcqRel) == generation {
            return;
        }
        if !pool(Box::new(move || me.ahead())) {
            self.scheduled.store(0, Ordering::Release);
        }
    }

    /// Routes what is at hand until `enough`, else parses.
    pub(crate) fn bring(&self, enough: impl Fn() -> bool) -> Step {
        let mut state = self.lock();
        let mut routed = false;
        loop {
            if enough() {
                if routed {
                    state.change();
                }
                return Step::Progress;
            }
            if !state.route() {
                break;
            }
            routed = true;
        }
        if routed {
            // Others may have waited for what went by.
            state.change();
        }
        let seen = state.generation;
        drop(state);
        self.advance(seen)
    }

    /// Parses, when nothing has changed since a reader found nothing.
    pub(crate) fn advance(&self, seen: u64) -> Step {
        let mut state = self.lock();
        if state.generation != seen {
            return Step::Progress;
        }
        if let Some(end) = state.end.clone() {
            if !state.queue.is_empty() {
                return Step::Progress;
            }
            if !state.over {
                state.over = true;
                if end.is_ok() {
                    state.router.finish();
                }
                state.change();
            }
            return Step::Over(end.err().unwrap_or_else(|| Arc::new(Failure::closed(&self.name))));
        }
        if state.busy || state.job_is_out() {
            state.busy_seen = true;
            return Step::Busy(state.ticket());
        }
        let turn = state.pacer.wants_turn();
        if turn {
            let me: Weak<dyn Candidate> = self.me.clone();
            if let Some(until) = self.shared.admission.ask(self.key(), me, self.shared.now()) {
                return Step::Wait(Wait::Until(until), state.ticket());
            }
        }
        let Some((mut work, mut batch, limit)) = self.begin(&mut state) else {
            state.busy_seen = true;
            let step = Step::Busy(state.ticket());
            drop(state);
            if turn {
                self.shared.admission.end(self.key(), self.shared.now());
            }
            return step;
        };
        drop(state);
        let filled = self.fill(&mut work, &mut batch, limit);
        if turn {
            self.shared.admission.end(self.key(), self.shared.now());
        }
        self.finish(work, batch, filled, false)
    }

    fn fill(&self, work: &mut Work, batch: &mut Batch, limit: Limit) -> Filled {
        let lost = Lost(self);
        let filled = work.fill(batch, limit, &self.closed);
        std::mem::forget(lost);
        filled
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Takes the work out.
    fn begin(&self, state: &mut State) -> Option<(Box<Work>, Batch, Limit)> {
        let mut work = state.work.take()?;
        state.busy = true;
        work.take_pushed(&mut state.pushed);
        let (rows, bytes) = state.pacer.limit();
        if let Some((depth, serial)) = state.prune.take() {
            work.prune(depth, serial);
        }
        state.pacer.start(self.shared.now());
        Some((work, state.spare.pop().unwrap_or_default(), Limit { rows, bytes }))
    }

    /// Puts the work back and queues what it brought.
    fn finish(&self, mut work: Box<Work>, batch: Batch, filled: Filled, ahead: bool) -> Step {
        let now = self.shared.now();
        let rows = batch.items.iter().filter(|item| !matches!(item, Item::Close)).count();
        let counters = &self.shared.counters;
        counters.rows.fetch_add(rows as u64, Ordering::Relaxed);
        counters.batches.fetch_add(1, Ordering::Relaxed);
        counters.fill_ns.fetch_add(filled.took.as_nanos() as u64, Ordering::Relaxed);
        counters.bytes.fetch_add(filled.received, Ordering::Relaxed);
        if ahead {
            counters.ahead.fetch_add(1, Ordering::Relaxed);
        }
        if filled.wait.is_some() {
            counters.waits.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(root) = work.root().filter(|_| self.root.get().is_none()) {
            self.root.get_or_init(|| root.into());
        }
        let mut state = self.lock();
        let before = state.pacer.switches();
        // One who parsed ahead and found nothing left nobody idle: a batch is being read.
        let hand = if ahead && matches!(filled.stop, Stop::Waits) { Stop::Pause } else { filled.stop };
        state.pacer.stop(now, rows, filled.received, hand);
        let after = state.pacer.switches();
        counters.to_slow.fetch_add(after.0 - before.0, Ordering::Relaxed);
        counters.to_fast.fetch_add(after.1 - before.1, Ordering::Relaxed);
        let m = &mut state.measures;
        m.rows += rows as u64;
        m.batches += 1;
        m.ahead += ahead as u64;
        m.fill_ns += filled.took.as_nanos() as u64;
        m.bytes = work.consumed;
        m.received = work.source.received();
        m.total = work.source.total();
        m.waits += filled.wait.is_some() as u64;
        state.busy = false;
        state.stalled = filled.wait.is_some();
        let got = !batch.is_empty() || filled.end.is_some();
        let mut garbage = None;
        let wait = if state.over {
            // Closed meanwhile.
            garbage = Some((work, batch));
            None
        } else {
            if !batch.is_empty() {
                state.queue.push_back(FilledBatch { batch, at: 0 });
            } else if state.spare.len() < SPARE {
                state.spare.push(batch);
            }
            match filled.end {
                Some(end) => {
                    state.end = Some(end);
                    garbage = Some((work, Batch::default()));
                    None
                }
                None => {
                    work.set_low_water(&state.pacer);
                    let wait = filled.wait.filter(|_| !got && !ahead).map(|wait| match wait {
                        kumi_source::Wait::Ready { fd, read, write, until } => {
                            kumi_source::Wait::Ready { fd, read, write, until: patient(work.low, now, until) }
                        }
                        other => other,
                    });
                    state.work = Some(work);
                    wait
                }
            }
        };
        if got || state.over || state.busy_seen || ahead {
            state.change();
        }
        if !ahead {
            state.look_ahead();
        }
        let step = match wait {
            Some(kumi_source::Wait::Job(job)) => match self.me.upgrade() {
                Some(me) => {
                    state.job = self.shared.gate.generation();
                    Step::Wait(Wait::Job(BlockingJob::new(job, me)), state.ticket())
                }
                None => Step::Progress,
            },
            Some(kumi_source::Wait::Ready { fd, read, write, until }) => Step::Wait(Wait::Ready { fd, read, write, until }, state.ticket()),
            Some(kumi_source::Wait::Until(until)) => Step::Wait(Wait::Until(until), state.ticket()),
            // Pushed meanwhile: read again.
            Some(kumi_source::Wait::Push) if !state.pushed.is_empty() => Step::Progress,
            Some(kumi_source::Wait::Push) => Step::Wait(Wait::Push, state.ticket()),
            None if matches!(filled.stop, Stop::Pause) && !got => Step::Wait(Wait::Until(now), state.ticket()),
            None => Step::Progress,
        };
        drop(state);
        drop(garbage);
        step
    }
}

/// Dropped only when filling panics: the document is over then, and nobody waits for it.
struct Lost<'a>(&'a Producer);

impl Drop for Lost<'_> {
    fn drop(&mut self) {
        self.0.shared.admission.end(self.0.key(), self.0.shared.now());
        self.0.lock().busy = false;
        self.0.close();
    }
}

impl Candidate for Producer {
    fn offered(&self) {
        // The one who calls has the lock of another document's state.
        self.offered.store(true, Ordering::Relaxed);
        self.poke();
    }
}
