//! Cores that nodes share, as processes of one machine do. A *model* of a fair scheduler, of which only this is kept:
//!
//! - A node has two threads: its worker, and the one that handles messages. One of them runs at a time.
//! - Of threads that wait for a core the one comes first that has run for the least time. At each tick ([`Setting::share`](crate::Setting)) it gets
//!   the core of the one that has run most, where that is more.
//! - A thread that wakes counts as no more than a tick behind the one that has run least, however long it slept. It takes the core of one that has
//!   run more by a quarter of a tick.
//! - Nothing is lost by a switch; a thread may go to any core.
//!
//! **Invariant.** No more nodes than cores run. A node waits for a core, or has one, exactly while it is busy. Where the setting has no cores
//! each node has one of its own, and nothing here is done.

use super::event::What;
use super::machine::{Busy, Machine};
use crate::Time;
use crate::trace::Class;
use std::collections::BTreeSet;

/// A woken thread takes a core from one that has run more by this part of a tick.
const TAKES: Time = 4;

/// Who has a core, and who waits.
#[derive(Default)]
pub struct Cores {
    on: Vec<u32>,
    /// By how long their threads have run.
    waits: BTreeSet<(Time, u32)>,
    /// The least that a thread has run that runs or waits.
    floor: Time,
    /// A tick is foreseen.
    ticks: bool,
}

/// A node's part.
#[derive(Clone, Copy, Default)]
pub struct Share {
    /// What it is busy with takes so long, and what is left of it.
    whole: Time,
    left: Time,
    /// It has had a core since then.
    since: Option<Time>,
    /// How long its worker and its other thread have run, or are taken to have.
    ran: [Time; 2],
    /// Which of them it is.
    thread: usize,
}

impl Share {
    fn ran(&self) -> Time {
        self.ran[self.thread]
    }
}

impl Machine<'_> {
    /// What a node is busy with from now on takes so long on a core.
    pub fn takes(&mut self, n: u32, time: Time) {
        let h = &mut self.hosts[n as usize];
        h.turn = h.turn.wrapping_add(1);
        if self.s.cores == 0 {
            self.queue.push(self.now.saturating_add(time), What::Free { node: n, turn: h.turn });
            return;
        }
        self.settle(n);
        let handles = self.handles(n);
        let waits = self.cores.waits.remove(&(self.share(n).ran(), n));
        let s = &mut self.hosts[n as usize].share;
        (s.whole, s.left) = (time, time);
        if s.thread != handles as usize || s.since.is_none() && !waits {
            s.thread = handles as usize;
            s.ran[s.thread] = s.ran[s.thread].max(self.cores.floor.saturating_sub(self.s.share));
        }
        if s.since.is_some() {
            self.foresee(n);
            return;
        }
        if self.cores.on.len() < self.s.cores as usize {
            self.run_on(n);
            return;
        }
        let most = self.cores.on.iter().copied().max_by_key(|m| (self.ran_by_now(*m), *m));
        match most.filter(|m| self.ran_by_now(*m) > self.share(n).ran().saturating_add(self.s.share / TAKES)) {
            Some(other) => {
                self.put_off(other);
                self.run_on(n);
            }
            None => {
                self.cores.waits.insert((self.share(n).ran(), n));
            }
        }
        self.expect_share();
    }
    /// How much of what a node is busy with is done; it began then.
    pub fn done(&mut self, n: u32, since: Time) -> Time {
        if self.s.cores == 0 {
            return self.now - since;
        }
        self.settle(n);
        let s = self.share(n);
        s.whole - s.left
    }
    /// A node is idle.
    pub fn rests(&mut self, n: u32) {
        if self.s.cores == 0 {
            return;
        }
        self.settle(n);
        self.cores.waits.remove(&(self.share(n).ran(), n));
        if self.hosts[n as usize].share.since.take().is_some() {
            self.cores.on.retain(|m| *m != n);
            self.next_on();
        }
    }
    /// A tick: who has run least of those that wait takes the core of who has run most.
    pub fn shares(&mut self) {
        self.cores.ticks = false;
        for _ in 0..self.cores.on.len() {
            let most = self.cores.on.iter().copied().max_by_key(|m| (self.ran_by_now(*m), *m));
            let (Some(other), Some((ran, _))) = (most, self.cores.waits.first().copied()) else { break };
            if self.ran_by_now(other) <= ran {
                break;
            }
            self.put_off(other);
            self.next_on();
        }
        self.expect_share();
    }

    fn share(&self, n: u32) -> &Share {
        &self.hosts[n as usize].share
    }
    /// Is it its other thread that runs?
    fn handles(&self, n: u32) -> bool {
        let h = &self.hosts[n as usize];
        match h.busy {
            Busy::Overhead => true,
            Busy::Compute(_) => h.current.is_some_and(|j| self.class(j) == Class::Handler),
            _ => false,
        }
    }
    fn ran_by_now(&self, n: u32) -> Time {
        let s = self.share(n);
        s.ran().saturating_add(s.since.map_or(0, |t| self.now - t))
    }
    /// Counts what has run so far.
    fn settle(&mut self, n: u32) {
        let s = &mut self.hosts[n as usize].share;
        if let Some(since) = &mut s.since {
            let ran = self.now - *since;
            *since = self.now;
            s.left = s.left.saturating_sub(ran);
            s.ran[s.thread] = s.ran[s.thread].saturating_add(ran);
        }
    }
    fn run_on(&mut self, n: u32) {
        self.cores.on.push(n);
        self.hosts[n as usize].share.since = Some(self.now);
        let least = self.cores.on.iter().map(|m| self.ran_by_now(*m)).min();
        let least = least.into_iter().chain(self.cores.waits.first().map(|w| w.0)).min().unwrap_or(0);
        self.cores.floor = self.cores.floor.max(least);
        self.foresee(n);
    }
    fn next_on(&mut self) {
        if let Some((_, next)) = self.cores.waits.pop_first() {
            self.run_on(next);
        }
    }
    /// Takes its core away.
    fn put_off(&mut self, n: u32) {
        self.settle(n);
        self.cores.on.retain(|m| *m != n);
        let h = &mut self.hosts[n as usize];
        h.share.since = None;
        h.turn = h.turn.wrapping_add(1);
        self.cores.waits.insert((h.share.ran(), n));
    }
    /// It is done when what is left has run.
    fn foresee(&mut self, n: u32) {
        let h = &mut self.hosts[n as usize];
        h.turn = h.turn.wrapping_add(1);
        self.queue.push(self.now.saturating_add(h.share.left), What::Free { node: n, turn: h.turn });
    }
    fn expect_share(&mut self) {
        if !self.cores.waits.is_empty() && !self.cores.ticks {
            self.cores.ticks = true;
            let tick = self.s.share.max(1);
            self.queue.push((self.now / tick + 1).saturating_mul(tick), What::Share);
        }
    }
}
