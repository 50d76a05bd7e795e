//! Heaps.

use super::Failure;
use super::machine::{Busy, Machine, Marking};
use crate::Time;
use crate::outcome::{Collection, Doing};
use kumi_schedule::{Decision, Kind, Mode, Request};

impl Machine<'_> {
    fn view(&self, n: u32) -> usize {
        self.hosts[n as usize].view as usize
    }
    /// Makes room for so many bytes. False: it collects.
    pub fn room(&mut self, n: u32, bytes: u64) -> Result<bool, Failure> {
        if self.s.young.space > 0 {
            return self.room_of_generations(n, bytes);
        }
        loop {
            let h = &self.hosts[n as usize];
            let full = h.live.checked_add(h.allocated).and_then(|used| used.checked_add(bytes)).is_none_or(|used| used > h.size);
            if !full {
                return Ok(true);
            }
            let (seen, view, now) = (self.seen(n, bytes), self.view(n), self.now);
            let decision = self.hosts[n as usize].schedule.overflow(now, &self.views[view], &seen);
            match decision {
                Decision::Grow(to) => self.hosts[n as usize].size = to,
                Decision::Collect => {
                    let before = self.orders;
                    self.drain(n);
                    self.hosts[n as usize].wants = None;
                    self.collect(n, Kind::Full, false, self.orders > before);
                    return Ok(false);
                }
                Decision::Nothing | Decision::Full => return Err(Failure::OutOfMemory { node: n, at: now }),
            }
            self.drain(n);
        }
    }
    /// The same in a heap as today's: a young collection comes after each young space, which is as large as what lives, between two bounds;
    /// a full one instead where as much has grown old as lived after the last, and twice the least space.
    fn room_of_generations(&mut self, n: u32, bytes: u64) -> Result<bool, Failure> {
        let least = self.s.young.space;
        let twice = least.saturating_mul(2);
        let h = &mut self.hosts[n as usize];
        let used = h.live.checked_add(h.allocated).and_then(|used| used.checked_add(bytes)).filter(|used| *used <= self.s.limit);
        if h.born == 0 || used.is_some() && h.born.saturating_add(bytes) <= h.live.clamp(least, twice) {
            let Some(used) = used else { return Err(Failure::OutOfMemory { node: n, at: self.now }) };
            h.size = h.size.max(used);
            return Ok(true);
        }
        let kind = if used.is_none() || h.promoted >= h.old.max(twice) { Kind::Full } else { Kind::Young };
        let (seen, view, now, before) = (self.seen(n, bytes), self.view(n), self.now, self.orders);
        let h = &mut self.hosts[n as usize];
        match kind {
            Kind::Young => h.schedule.born(now, &self.views[view], &seen),
            Kind::Full => h.schedule.request(now, &self.views[view], Request::Short, &seen),
        };
        self.drain(n);
        self.hosts[n as usize].wants = None;
        self.collect(n, kind, false, self.orders > before);
        Ok(false)
    }
    /// The program asks for a collection.
    pub fn asked(&mut self, n: u32) {
        let (seen, view, now) = (self.seen(n, 0), self.view(n), self.now);
        self.hosts[n as usize].schedule.request(now, &self.views[view], Request::Start, &seen);
        self.drain(n);
        self.hosts[n as usize].wants = None;
        self.collect(n, Kind::Full, false, false);
    }
    pub fn collect(&mut self, n: u32, kind: Kind, ordered: bool, orders: bool) {
        let seen = self.seen(n, 0);
        let view = self.view(n);
        let h = &mut self.hosts[n as usize];
        let mode = h.schedule.mode(self.now, &self.views[view], kind);
        let took = match kind {
            Kind::Young => self.s.young_collection(h.born.saturating_sub(h.dies_young)),
            // What is left, where marking has begun.
            Kind::Full => h.marking.map_or(self.s.collection(h.live, h.size), |m| m.left),
        };
        h.busy = Busy::Collecting;
        h.kind = kind;
        match kind {
            Kind::Young => h.parts.young += 1,
            Kind::Full => h.parts.collections += h.marking.is_none() as u64,
        }
        h.parts.ordered += ordered as u64;
        self.timeline.collection(Collection { node: n, at: self.now, took, ordered, orders, sliced: false, mode, seen });
        self.enter(n, Doing::Collecting);
        self.takes(n, took);
    }
    /// The trace says that the node collects.
    pub fn pause(&mut self, n: u32, took: Time) {
        let (seen, view) = (self.seen(n, 0), self.view(n));
        let h = &mut self.hosts[n as usize];
        let mode = h.schedule.mode(self.now, &self.views[view], Kind::Full);
        (h.busy, h.kind) = (Busy::Collecting, Kind::Full);
        h.parts.collections += 1;
        self.timeline.collection(Collection { node: n, at: self.now, took, ordered: false, orders: false, sliced: false, mode, seen });
        self.enter(n, Doing::Collecting);
        self.takes(n, took);
    }
    /// Something was allocated.
    pub fn look_ahead(&mut self, n: u32) {
        if self.o.policy.slices(Mode::Synchronised) || self.o.nodes.hints {
            let (seen, view, now) = (self.seen(n, 0), self.view(n), self.now);
            self.hosts[n as usize].schedule.look(now, &self.views[view], &seen);
            self.drain(n);
        }
    }
    /// Marking in slices begins.
    pub fn mark(&mut self, n: u32) {
        let (seen, view) = (self.seen(n, 0), self.view(n));
        let h = &mut self.hosts[n as usize];
        let mode = h.schedule.mode(self.now, &self.views[view], Kind::Full);
        let left = self.s.marking(h.live, h.size);
        h.marking = Some(Marking { left, floats: 0, size: h.size });
        h.parts.collections += 1;
        self.timeline.collection(Collection { node: n, at: self.now, took: left, ordered: false, orders: false, sliced: true, mode, seen });
    }
    pub fn collected(&mut self, n: u32) -> Result<(), Failure> {
        let view = self.view(n);
        let now = self.now;
        let h = &mut self.hosts[n as usize];
        h.parts.peak = h.parts.peak.max(h.size);
        let (born_dead, kind) = (std::mem::take(&mut h.dies_young), h.kind);
        h.born = 0;
        h.busy = Busy::No;
        match kind {
            Kind::Young => {
                h.allocated = h.allocated.saturating_sub(born_dead);
            }
            Kind::Full => {
                let marking = h.marking.take();
                h.allocated = marking.map_or(0, |m| m.floats.min(h.allocated));
                h.size = marking.map_or(h.size, |m| m.size.max(h.live + h.allocated));
                (h.promoted, h.old) = (0, h.live);
            }
        }
        h.meter.collected(now, kind);
        h.schedule.collected(now, &self.views[view], kind, h.size);
        let held = std::mem::take(&mut h.held);
        h.owed = h.owed.saturating_add(self.s.receive.saturating_mul(held.len() as u64));
        for letter in held {
            self.take(letter);
        }
        self.drain(n);
        self.dispatch(n)
    }
}
