//! Faults: what breaks.

use super::*;

impl Fault {
    pub fn long(&self) -> u64 {
        match self.kind {
            F::Crash(_, again, _) => again.unwrap_or(0) + 100 * MS,
            F::Pause(_, long) | F::Cut(_, _, long) | F::Split(_, long) => long,
        }
    }
}

impl World {
    pub(super) fn fault(&mut self, f: Fault) {
        self.say(|_| format!("{f:?}"));
        match f.kind {
            F::Crash(name, again, told) => {
                let p = self.newest[name];
                let others = self.procs.iter().filter(|x| x.alive).count();
                if !self.procs[p].alive || again.is_none() && others < 3 {
                    return;
                }
                self.procs[p].alive = false;
                for t in &mut self.transits {
                    t.open &= t.to != p;
                }
                let life = self.procs[p].life;
                for q in 0..self.procs.len() {
                    if self.procs[q].alive && told {
                        let at = self.now + self.think.between(50, 600) * MS;
                        self.push(at, Event::Gone(q, life));
                    }
                }
                if let Some(again) = again {
                    self.push(self.now + again, Event::Start(name));
                }
            }
            F::Pause(name, long) => {
                let p = self.newest[name];
                self.procs[p].paused = self.procs[p].paused.max(self.now + long);
            }
            F::Cut(a, b, long) => {
                self.cuts.push((a, b, self.now + long));
                if self.now.is_multiple_of(2) {
                    self.cuts.push((b, a, self.now + long));
                }
            }
            F::Split(bits, long) => {
                for a in 0..self.plan.nodes {
                    for b in (0..self.plan.nodes).filter(|b| (bits >> a ^ bits >> b) & 1 == 1) {
                        self.cuts.push((a, b, self.now + long));
                    }
                }
            }
        }
    }
}
