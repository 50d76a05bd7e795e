//! What a node's worker does.

use super::Failure;
use super::event::What;
use super::machine::{Busy, Machine, SPENT, URGENCY, queue};
use crate::Time;
use crate::outcome::Doing;
use crate::trace::{Class, Op};
use kumi_chance::Chance;
use kumi_schedule::{Doing as Instead, Kind};

/// Ticks of a slice.
const SLICE: u32 = 5;

/// What became of a step.
enum Step {
    /// The worker goes on.
    On,
    /// The worker is busy.
    Busy,
}

/// A twentieth more or less.
fn about(time: Time, chance: &mut Chance) -> Time {
    time - time / 20 + chance.below(time / 10 + 1)
}

impl Machine<'_> {
    /// Finds something for a worker that has nothing that lasts.
    pub fn dispatch(&mut self, n: u32) -> Result<(), Failure> {
        loop {
            let h = &mut self.hosts[n as usize];
            if h.busy != Busy::No {
                return Ok(());
            }
            if let Some(kind) = h.wants.take() {
                self.collect(n, kind, true, false);
                return Ok(());
            }
            if h.owed > 0 {
                let lasts = std::mem::take(&mut h.owed);
                h.busy = Busy::Overhead;
                self.enter(n, Doing::Overhead);
                self.takes(n, lasts);
                return Ok(());
            }
            let best = h.best();
            // Speculative work can wait.
            let idle = best.is_none_or(|b| URGENCY[b] == Class::Speculative as usize)
                && h.current.is_none_or(|j| self.p.jobs[j as usize].class == Class::Speculative);
            let turn = self.s.collecting.slice.max(1).saturating_mul(self.s.collecting.between.max(1));
            if idle && h.marking.is_none() && h.allocated > 0 && self.o.policy.fills() {
                self.rest(n, best.is_none());
            }
            let h = &mut self.hosts[n as usize];
            if let Some(m) = h.marking.filter(|_| idle || (h.must_mark() && h.had >= turn && best != Some(queue(Class::Handler)))) {
                let slice = m.left.min(self.s.collecting.slice.max(1));
                (h.busy, h.had) = (Busy::Marking { slice, since: self.now, fills: idle }, 0);
                if idle {
                    let speculates = h.current.is_some() || best.is_some();
                    h.meter.change(self.now, if speculates { Instead::Speculative } else { Instead::Idle });
                }
                self.enter(n, Doing::Collecting);
                self.takes(n, slice);
                return Ok(());
            }
            let current = h.current.map(|j| (j, self.p.jobs[j as usize].class));
            match (current, best) {
                (Some((_, class)), best) if best.is_none_or(|b| URGENCY[b] >= class as usize) => {}
                (None, None) => {
                    h.slice = 0;
                    self.enter(n, Doing::Idle);
                    self.rests(n);
                    return Ok(());
                }
                (current, best) => {
                    if let Some((j, class)) = current {
                        h.ready[queue(class)].push_front(j);
                    }
                    h.begin_slice(best);
                    h.current = best.and_then(|b| h.ready[b].pop_front());
                    h.owed = h.owed.saturating_add(self.s.switch);
                    continue;
                }
            }
            if let Some((job, _)) = current
                && let Step::Busy = self.step(n, job)?
            {
                return Ok(());
            }
        }
    }
    fn step(&mut self, n: u32, job: u32) -> Result<Step, Failure> {
        let Some(op) = self.op(job) else {
            self.ended(n, job);
            return Ok(Step::On);
        };
        let h = &mut self.hosts[n as usize];
        let j = &mut self.jobs[job as usize];
        match op {
            Op::Compute(t) | Op::Overhead(t) => {
                if j.left == 0 {
                    j.left = t;
                }
                if j.left > 0 {
                    let turn = self.s.collecting.slice.max(1).saturating_mul(self.s.collecting.between.max(1));
                    let left = if h.must_mark() { j.left.min(turn - h.had.min(turn - 1)) } else { j.left };
                    h.busy = Busy::Compute(self.now);
                    let doing = match (op, self.class(job)) {
                        (Op::Overhead(_), _) => Doing::Overhead,
                        (_, Class::Speculative) => Doing::Speculative,
                        _ => Doing::Active,
                    };
                    self.enter(n, doing);
                    self.takes(n, left);
                    self.expect_turn(n);
                    return Ok(Step::Busy);
                }
            }
            Op::Allocate(b) | Op::Keep(b) => {
                if !self.room(n, b)? {
                    return Ok(Step::Busy);
                }
                let h = &mut self.hosts[n as usize];
                h.born = h.born.saturating_add(b);
                match op {
                    Op::Keep(_) => {
                        h.live += b;
                        h.promoted = h.promoted.saturating_add(b);
                    }
                    _ => {
                        h.allocated += b;
                        h.dies_young = h.dies_young.saturating_add(b);
                    }
                }
                self.look_ahead(n);
            }
            // Garbage from now on.
            Op::Release(b) => {
                let b = b.min(h.live);
                h.live -= b;
                h.allocated += b;
                if let Some(m) = &mut h.marking {
                    m.floats += b;
                }
            }
            Op::Send(letter) => self.send(n, letter),
            Op::Await(letter) => {
                let l = &mut self.letters[letter as usize];
                if !l.arrived {
                    l.waiter = job + 1;
                    h.current = None;
                    return Ok(Step::On);
                }
            }
            Op::At(t) => {
                if t > self.now {
                    self.queue.push(t, What::Wake(job));
                    h.current = None;
                    return Ok(Step::On);
                }
            }
            Op::Sleep(t) => {
                self.queue.push(self.now.saturating_add(t), What::Wake(job));
                h.current = None;
                return Ok(Step::On);
            }
            Op::Pause(t) => {
                j.at += 1;
                self.pause(n, t);
                return Ok(Step::Busy);
            }
            Op::Collect => {
                self.jobs[job as usize].at += 1;
                self.asked(n);
                return Ok(Step::Busy);
            }
        }
        self.jobs[job as usize].at += 1;
        Ok(Step::On)
    }
    fn ended(&mut self, n: u32, job: u32) {
        self.hosts[n as usize].current = None;
        let task = &self.p.jobs[job as usize];
        if task.class == Class::Speculative {
            return;
        }
        self.left -= 1;
        if let Some(Op::At(t)) = task.ops.first() {
            self.latencies.push(self.now.saturating_sub(*t));
        }
    }
    fn send(&mut self, n: u32, letter: u32) {
        self.messages += 1;
        let to = self.p.letters[letter as usize];
        if to.to == n {
            self.take(letter);
            return;
        }
        let h = &mut self.hosts[n as usize];
        h.owed = h.owed.saturating_add(self.s.send);
        let leaves = h.sent.max(self.now.saturating_add(h.owed));
        h.sent = leaves.saturating_add(self.s.transfer(to.bytes as u64));
        let way = self.chance.as_mut().map_or(self.s.latency, |c| about(self.s.latency, c));
        let arrives = h.sent.saturating_add(way);
        self.timeline.message(n, self.now, to.to, arrives);
        self.queue.push(arrives, What::Arrives(letter));
    }
    /// A message is there: who waits for it can go on.
    pub fn take(&mut self, letter: u32) {
        let l = &mut self.letters[letter as usize];
        l.arrived = true;
        if let Some(job) = std::mem::take(&mut l.waiter).checked_sub(1) {
            self.ready(job);
        }
    }
    fn ready(&mut self, job: u32) {
        let task = &self.p.jobs[job as usize];
        self.hosts[task.node as usize].ready[queue(task.class)].push_back(job);
    }

    /// What a worker was busy with has ended.
    pub fn free(&mut self, n: u32, turn: u32) -> Result<(), Failure> {
        let h = &mut self.hosts[n as usize];
        if h.turn != turn {
            return Ok(());
        }
        match h.busy {
            Busy::Collecting => self.collected(n),
            Busy::Marking { slice, .. } => {
                h.busy = Busy::No;
                let left = h.marking.as_mut().map_or(0, |m| {
                    m.left -= slice;
                    m.left
                });
                if left == 0 {
                    self.hosts[n as usize].kind = Kind::Full;
                    self.collected(n)
                } else {
                    self.dispatch(n)
                }
            }
            Busy::Compute(_) => self.interrupt(n),
            _ => {
                h.busy = Busy::No;
                self.dispatch(n)
            }
        }
    }
    /// Whatever a worker computes waits: something may be more urgent.
    pub fn interrupt(&mut self, n: u32) -> Result<(), Failure> {
        self.account(n);
        self.dispatch(n)
    }
    /// What a worker has computed so far is done.
    fn account(&mut self, n: u32) {
        let h = &self.hosts[n as usize];
        if let (Busy::Compute(since), Some(job)) = (h.busy, h.current) {
            let done = self.done(n, since);
            let (h, j) = (&mut self.hosts[n as usize], &mut self.jobs[job as usize]);
            j.left -= done;
            h.had = h.had.saturating_add(done);
            if j.left == 0 {
                j.at += 1;
            }
            h.busy = Busy::No;
            h.turn = h.turn.wrapping_add(1);
        }
    }
    pub fn arrives(&mut self, letter: u32) -> Result<(), Failure> {
        let n = self.p.letters[letter as usize].to;
        let h = &mut self.hosts[n as usize];
        if h.busy == Busy::Collecting {
            h.held.push(letter);
            return Ok(());
        }
        h.owed = h.owed.saturating_add(self.s.receive);
        self.take(letter);
        self.look(n)
    }
    pub fn wake(&mut self, job: u32) -> Result<(), Failure> {
        self.jobs[job as usize].at += 1;
        self.ready(job);
        self.look(self.p.jobs[job as usize].node)
    }
    /// Something may have become ready: goes there where the worker has nothing as urgent.
    fn look(&mut self, n: u32) -> Result<(), Failure> {
        if let Busy::Marking { since, slice, fills: true } = self.hosts[n as usize].busy {
            self.cut(n, since, slice);
            return Ok(());
        }
        let h = &self.hosts[n as usize];
        let best = h.best();
        match (h.busy, h.current) {
            (Busy::Compute(_), Some(job)) if best.is_none_or(|b| URGENCY[b] >= self.class(job) as usize) => {
                self.expect_turn(n);
                Ok(())
            }
            _ => self.interrupt(n),
        }
    }
    /// A slice that fills idle time ends early where there is something to do again.
    fn cut(&mut self, n: u32, since: Time, slice: Time) {
        let h = &mut self.hosts[n as usize];
        let comes = h.owed > 0 || h.best().is_some_and(|b| URGENCY[b] != Class::Speculative as usize);
        let ends = self.now.saturating_add(self.s.collecting.yields);
        if comes && ends < since.saturating_add(slice) {
            h.busy = Busy::Marking { since, slice: ends - since, fills: false };
            self.takes(n, self.s.collecting.yields);
        }
    }
    /// Nothing can run but what is speculative: the node may begin to mark.
    fn rest(&mut self, n: u32, idle: bool) {
        if idle && self.hosts[n as usize].current.is_none() {
            self.enter(n, Doing::Idle);
        }
        let (seen, view, now) = (self.seen(n, 0), self.hosts[n as usize].view as usize, self.now);
        self.hosts[n as usize].schedule.rests(now, &self.views[view], &seen);
        self.drain(n);
    }
    /// Somebody waits for the worker who is as urgent: he may get it at a tick of the node's clock.
    fn expect_turn(&mut self, n: u32) {
        let h = &mut self.hosts[n as usize];
        let tick = self.s.tick;
        let normal = h.current.is_some_and(|j| self.p.jobs[j as usize].class == Class::Normal);
        let waits = normal && !(h.ready[queue(Class::Normal)].is_empty() && h.ready[SPENT].is_empty());
        if tick > 0 && waits && !h.ticks {
            h.ticks = true;
            self.queue.push((self.now / tick + 1).saturating_mul(tick), What::Turn(n));
        }
    }
    /// A tick, as the runtime's scheduler has it. Tasks that have come share a slice; one that a slice's end put behind them is cut short by
    /// whoever comes, and has a slice of its own otherwise.
    pub fn turn(&mut self, n: u32) -> Result<(), Failure> {
        let h = &mut self.hosts[n as usize];
        h.ticks = false;
        h.slice += 1;
        let (comes, waits) = (!h.ready[queue(Class::Normal)].is_empty(), !h.ready[SPENT].is_empty());
        let over = h.slice >= SLICE;
        let normal = h.current.is_some_and(|j| self.p.jobs[j as usize].class == Class::Normal);
        if matches!(h.busy, Busy::Compute(_)) && normal && (h.spent && comes || over && (comes || waits)) {
            self.account(n);
            let h = &mut self.hosts[n as usize];
            h.owed_slice = over && !h.spent && waits;
            match h.current.take() {
                Some(job) if over => h.ready[SPENT].push_back(job),
                Some(job) => h.ready[SPENT].push_front(job),
                None => {}
            }
            self.dispatch(n)?;
        }
        self.expect_turn(n);
        Ok(())
    }
}
