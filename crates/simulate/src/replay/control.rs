//! What nodes say about collections, and what goes wrong with that.

use super::Failure;
use super::event::What;
use super::machine::{Busy, Machine};
use crate::Time;
use crate::outcome::Doing;
use kumi_schedule::{Action, Kind, Message, NodeId};

impl Machine<'_> {
    /// Does what a node's schedule wants done. A collection is begun by whoever looks at `wants`.
    pub fn drain(&mut self, n: u32) {
        while let Some(action) = self.hosts[n as usize].schedule.poll() {
            match action {
                Action::Send(to, message) => self.say(n, to.0 as u32, message),
                Action::All(message) => {
                    self.orders += matches!(message, Message::Order(_) | Message::Slices) as u64;
                    let view = self.hosts[n as usize].view as usize;
                    for i in 0..self.views[view].len() {
                        let to = self.views[view].iter().nth(i);
                        if let Some(to) = to.filter(|to| to.0 != n as u64) {
                            self.say(n, to.0 as u32, message);
                        }
                    }
                }
                Action::Collect(kind) => {
                    let h = &mut self.hosts[n as usize];
                    h.wants = h.wants.max(Some(kind));
                }
                Action::Mark(_) => self.mark(n),
                Action::InForce(Kind::Full, mode) => self.switches.push((self.now, n, mode)),
                Action::InForce(Kind::Young, _) => {}
            }
        }
        let h = &mut self.hosts[n as usize];
        let next = h.schedule.next().max(self.now + 1);
        if next < h.tick {
            h.tick = next;
            self.queue.push(next, What::Tick(n));
        }
    }
    fn say(&mut self, from: u32, to: u32, message: Message) {
        for (i, fault) in self.o.faults.iter().enumerate().filter(|(_, f)| f.message == self.control) {
            let i = i as u32;
            self.faulty.push((i, fault.stopped));
            self.queue.push(self.now.saturating_add(self.o.detect), What::Noticed { fault: i, over: false });
            if fault.lasts < Time::MAX {
                self.queue.push(self.now.saturating_add(fault.lasts), What::Over(i));
            }
        }
        self.control += 1;
        let h = &mut self.hosts[from as usize];
        // A worker that is idle loses nothing by it.
        if h.doing != Doing::Idle {
            h.owed = h.owed.saturating_add(self.s.control);
        }
        if self.fault(from).is_none() {
            let bytes = message.encode().len() as u64;
            let way = [self.s.latency, self.s.send, self.s.receive, self.s.transfer(bytes)];
            let arrives = way.into_iter().fold(self.now, Time::saturating_add);
            self.queue.push(arrives, What::Said { from, to, message: message.sent() });
        }
    }
    /// Does a fault have this node, and is it stopped?
    fn fault(&self, n: u32) -> Option<bool> {
        self.faulty.iter().find(|f| self.o.faults[f.0 as usize].node == n).map(|f| f.1)
    }
    pub fn said(&mut self, from: u32, to: u32, message: Message) -> Result<(), Failure> {
        match (self.fault(from), self.fault(to)) {
            (_, Some(true)) => {
                self.unheard.push(What::Said { from, to, message });
                return Ok(());
            }
            (Some(false), _) | (_, Some(false)) => return Ok(()),
            _ => {}
        }
        let seen = self.seen(to, 0);
        let h = &mut self.hosts[to as usize];
        if h.doing != Doing::Idle {
            h.owed = h.owed.saturating_add(self.s.control);
        }
        h.schedule.message(self.now, &self.views[h.view as usize], NodeId(from as u64), message, &seen);
        self.drain(to);
        self.obey(to)
    }
    pub fn tick(&mut self, n: u32) -> Result<(), Failure> {
        if self.fault(n) == Some(true) {
            self.unheard.push(What::Tick(n));
            return Ok(());
        }
        let seen = self.seen(n, 0);
        let h = &mut self.hosts[n as usize];
        h.schedule.tick(self.now, &self.views[h.view as usize], &seen);
        self.drain(n);
        self.obey(n)
    }
    /// Collects, where that was ordered.
    fn obey(&mut self, n: u32) -> Result<(), Failure> {
        let h = &mut self.hosts[n as usize];
        if h.wants.is_some() && h.busy != Busy::Collecting { self.interrupt(n) } else { Ok(()) }
    }

    /// The members see that a node is gone, or there again; those of them that can.
    pub fn noticed(&mut self, fault: u32, over: bool) -> Result<(), Failure> {
        let f = self.o.faults[fault as usize];
        if over == self.faulty.iter().any(|x| x.0 == fault) {
            return Ok(());
        }
        let (node, own) = (NodeId(f.node as u64), fault as usize + 1);
        if over {
            self.views[0].add(node);
            self.hosts[f.node as usize].view = 0;
        } else {
            self.views[own] = if f.stopped { self.views[0].clone() } else { kumi_schedule::Members::new([node]) };
            self.views[0].remove(node);
            self.hosts[f.node as usize].view = own as u32;
        }
        (0..self.p.nodes).try_for_each(|n| self.tick(n))
    }
    pub fn over(&mut self, fault: u32) {
        self.faulty.retain(|f| f.0 != fault);
        self.queue.push(self.now.saturating_add(self.o.detect), What::Noticed { fault, over: true });
        for what in std::mem::take(&mut self.unheard) {
            self.queue.push(self.now, what);
        }
    }
}
