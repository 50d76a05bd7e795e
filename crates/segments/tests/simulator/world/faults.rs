//! Faults: what breaks, and what is so long troubled by it.

use super::*;

impl World {
    pub(super) fn trouble(&mut self, long: u64, what: Trouble) {
        self.book.troubles.push((self.now, self.now + long, what));
    }
    pub(super) fn fault(&mut self, f: Fault) {
        if self.tell {
            self.say(format!("{f:?}"));
        }
        match f.kind {
            F::Pause(name, long) => {
                let p = self.newest[name];
                self.procs[p].paused = self.procs[p].paused.max(self.now + long);
                self.trouble(long, Trouble::At(name));
            }
            F::Crash(name, long) => {
                let p = self.newest[name];
                if self.procs[p].live.is_none() || self.starts(name) {
                    return;
                }
                self.end_proc(p, long);
                self.push(self.now + long, Event::Start(name));
                self.trouble(long, Trouble::At(name));
            }
            F::Double(name, long) => {
                let p = self.newest[name];
                if self.procs[p].live.is_none() || self.starts(name) {
                    return;
                }
                self.procs[p].paused = self.procs[p].paused.max(self.now + long);
                self.push(self.now + long / 2, Event::Start(name));
                self.trouble(long + LEASE, Trouble::At(name));
                self.lose_owner(name, long);
            }
            F::Cut(a, b, long) => {
                self.cuts.push((a, b, self.now + long));
                self.trouble(long, Trouble::From(a, b));
                if self.now.is_multiple_of(2) {
                    self.cuts.push((b, a, self.now + long));
                    self.trouble(long, Trouble::From(b, a));
                }
            }
            F::Slow(a, b, more, long) => {
                self.slow.push((a, b, more, self.now + long));
                self.trouble(long + more, Trouble::From(a, b));
            }
            F::Break(a, b, long) if a != b => {
                self.disconnect(self.newest[a], b, long);
                self.trouble(long + 100 * MS, Trouble::From(a, b));
            }
            F::Break(..) => {}
            F::Gone(a, b, long) => {
                let p = self.newest[a];
                self.trouble(long + 100 * MS, Trouble::From(a, b));
                if self.procs[p].live.is_some() && self.procs[p].paused <= self.now {
                    self.disconnect(p, b, long);
                    self.at_client(p, b, |c, _, out| c.gone(out));
                }
            }
            F::Left(a, b) => {
                let q = self.newest[b];
                self.trouble(MS, Trouble::From(a, b));
                if self.procs[q].live.is_some() && self.procs[q].paused <= self.now {
                    self.at_node(q, |node, now, wake, send| node.gone(now, &[a as u8], wake, send));
                }
            }
        }
    }
    /// Is a node of this name about to start?
    pub(super) fn starts(&self, name: usize) -> bool {
        self.queue.values().any(|e| matches!(e, Event::Start(n) if *n == name))
    }
    pub(super) fn end_proc(&mut self, p: usize, long: u64) {
        if self.procs[p].live.take().is_none() {
            return;
        }
        for op in &mut self.book.ops {
            if op.proc == p && op.ended.is_none() {
                op.ended = Some(Err(Failure::Unknown));
                op.left = true;
            }
        }
        self.lose_owner(self.procs[p].name, long);
    }
    /// Connections to a node that ended break.
    pub(super) fn lose_owner(&mut self, name: usize, long: u64) {
        if !self.plan.lossy {
            for p in 0..self.procs.len() {
                let long = long / 2 + self.think.below(100) * MS;
                self.disconnect(p, name, long);
            }
        }
    }
}
