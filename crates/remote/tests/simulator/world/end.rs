//! The end of a run: faults are healed, programs have ended, and garbage is to go in its time.

use super::*;

#[derive(Default)]
pub struct End {
    /// Beats that got lost one after another: a lease was over after all.
    pub lost: bool,
    pub quiet: u64,
    pub over: bool,
    /// What no count can free, and by when the others are to be gone.
    due: Vec<(u64, Gid)>,
    garbage: Vec<Gid>,
    rounds: u32,
    /// When the round that goes on began; what each node had ended before.
    began: u64,
    before: Vec<u64>,
    levels: u64,
    last: u64,
    /// When the first round was wanted, what had been spent by then, and what it took until all garbage was gone.
    first: u64,
    spent: Spent,
    pub took: Option<(u64, Spent)>,
}

/// Packets, bytes, collections that were asked for, objects marked and traced.
pub type Spent = [u64; 4];

impl World {
    fn running(&self) -> Vec<usize> {
        self.newest.iter().copied().filter(|p| self.procs[*p].alive).collect()
    }
    /// Faults are healed, and programs have ended. What neither the dead nor the lost hold is to go now.
    pub(super) fn healed(&mut self) {
        self.push(self.now + 50 * MS, Event::Check);
        if self.transits.iter().any(|t| t.open) || !self.in_time() {
            return;
        }
        self.find_garbage();
        let levels = self.peel(true);
        let n = levels.len();
        self.say(|_| format!("healed: counts free {n} objects"));
        self.end.due = levels.into_iter().map(|(g, l)| (self.now + (l + 1) * 1000 * MS, g)).collect();
    }
    /// Leases of the dead are over, too.
    pub(super) fn quiet(&mut self) {
        if self.transits.iter().any(|t| t.open) {
            return self.complain(|| "a message is still on its way".into());
        }
        self.end.quiet = self.now;
        // Whoever has lost something knows by now.
        let knows = |x: &Proxy| x.gone || !self.procs[x.at].alive || self.procs[x.at].remote.target(x.import).is_err();
        if let Some(x) = self.proxies.iter().find(|x| x.void && x.moved.is_none() && !knows(x)) {
            let what = format!("{x:?}");
            return self.complain(|| format!("a node holds for good what it has lost: {what}"));
        }
        self.find_garbage();
        let levels = if self.in_time() { self.peel(false) } else { Vec::new() };
        self.end.levels = levels.iter().map(|l| l.1).max().unwrap_or(0);
        self.end.due.extend(levels.into_iter().map(|(g, l)| (self.now + (l + 1) * 1000 * MS, g)));
        let (n, m) = (self.end.garbage.len(), self.end.due.len());
        self.say(|_| format!("quiet: {n} objects are garbage, of which counts free {m}"));
    }
    /// What moved is found by three rounds, and stamps hold for long what may be on its way.
    fn in_time(&self) -> bool {
        !self.plan.moves && !self.plan.stamps
    }
    fn find_garbage(&mut self) {
        self.reach();
        let is = |g: &Gid| {
            let o = &self.objects[*g as usize];
            !self.seen.has_object(*g) && !o.freed && self.procs[o.home].alive
        };
        self.end.garbage = (0..self.objects.len() as Gid).filter(is).collect();
    }
    /// Garbage that counts free: after how many hops. Do those hold what they held that are dead, or lost?
    fn peel(&mut self, lost_hold: bool) -> Vec<(Gid, u64)> {
        let mut holders = vec![0u32; self.objects.len()];
        let lost = |x: &Proxy| self.is_void(x) || !self.procs[x.at].alive;
        let mut stays: Vec<bool> = self.proxies.iter().map(|x| lost_hold && lost(x)).collect();
        // What was lent to a dead node is held for it, as long as its lease goes on.
        let lent = self.transits.iter().filter(|t| lost_hold && (t.lost || !self.procs[t.to].alive));
        for e in lent.flat_map(|t| &t.items) {
            match e {
                Edge::Far(x) => stays[self.newest_proxy(*x) as usize] = true,
                Edge::Local(g) => holders[*g as usize] += 1,
            }
        }
        let mut held: Vec<bool> =
            self.proxies.iter().map(|x| !x.gone && !self.is_void(x) && self.procs[x.at].alive && self.procs[x.owner].alive).collect();
        for (i, x) in self.proxies.iter().enumerate() {
            holders[x.gid as usize] += u32::from(held[i] || stays[i]);
        }
        let mut left = self.end.garbage.clone();
        let mut out = Vec::new();
        for level in 0.. {
            self.seen.begin(self.objects.len(), self.proxies.len());
            let mut stack: Vec<Edge> = left.iter().filter(|g| holders[**g as usize] > 0).map(|g| Edge::Local(*g)).collect();
            // Proxies that live programs have, too.
            stack.extend(self.procs.iter().filter(|p| p.alive).map(|p| Edge::Local(p.heap.main)));
            let exported: Vec<Edge> = (0..self.objects.len()).filter(|g| holders[*g] > 0).map(|g| Edge::Local(g as Gid)).collect();
            stack.extend(exported);
            while let Some(e) = stack.pop() {
                match e {
                    Edge::Local(g) => {
                        if self.seen.object(g) {
                            stack.extend(&self.objects[g as usize].fields);
                        }
                    }
                    Edge::Far(x) => {
                        self.seen.proxy(x);
                    }
                }
            }
            let mut changed = false;
            for (i, x) in self.proxies.iter().enumerate() {
                if held[i] && !self.seen.has_proxy(i as u32) {
                    held[i] = false;
                    holders[x.gid as usize] -= 1;
                    changed = true;
                }
            }
            let (stay, go): (Vec<Gid>, Vec<Gid>) = left.iter().partition(|g| self.seen.has_object(**g));
            out.extend(go.iter().map(|g| (*g, level)));
            left = stay;
            if !changed {
                break;
            }
        }
        out
    }
    pub(super) fn check(&mut self) {
        let late = self.end.due.iter().find(|(at, g)| *at < self.now && !self.objects[*g as usize].freed).copied();
        if let Some((at, g)) = late {
            return self.complain(|| format!("object {g} is garbage that counts free, and was due at {} ms", at / MS));
        }
        self.end.due.retain(|(at, _)| *at >= self.now);
        self.push(self.now + 50 * MS, Event::Check);
        if !self.end.due.is_empty() || self.end.quiet == 0 {
            return;
        }
        if self.end.first > 0 && self.end.took.is_none() && self.end.garbage.iter().all(|g| self.objects[*g as usize].freed) {
            let (spent, before) = (self.spent(), self.end.spent);
            self.end.took = Some((self.now - self.end.first, std::array::from_fn(|i| spent[i] - before[i])));
        }
        if self.plan.stamps {
            return self.check_stamps();
        }
        let running = self.running();
        let ended = self.end.rounds > 0 && running.iter().zip(&self.end.before).all(|(p, n)| self.procs[*p].swept > *n);
        if self.end.rounds == 0 || ended && self.now > self.end.began + 1000 * MS {
            if self.end.rounds == 3 {
                if self.end.last == 0 {
                    self.end.last = self.now + (self.end.levels + 2) * 1000 * MS;
                } else if self.now >= self.end.last {
                    self.finish();
                }
                return;
            }
            self.begin_end();
            self.end.rounds += 1;
            self.end.began = self.now;
            self.end.before = running.iter().map(|p| self.procs[*p].swept).collect();
            let p = running[self.think.below(running.len() as u64) as usize];
            self.say(|_| format!("a round is wanted at proc {p}"));
            self.wish(p);
        } else if self.now > self.end.began + (5000 + 50 * self.plan.list as u64) * MS && !ended {
            let n = self.end.rounds;
            self.complain(|| format!("round {n} of the end does not end"));
        }
    }
    /// The first round of the end begins.
    fn begin_end(&mut self) {
        if self.end.first > 0 {
            return;
        }
        (self.end.first, self.end.spent) = (self.now, self.spent());
        if self.plan.last_crash {
            self.fault(Fault { at: self.now, kind: F::Crash(self.plan.nodes - 1, None, false) });
            self.find_garbage();
        }
    }
    fn spent(&self) -> Spent {
        let stats = self.procs.iter().map(|p| p.remote.stats());
        let (packets, bytes) = stats.fold((0, 0), |s, x| (s.0 + x.packets, s.1 + x.bytes));
        [packets + self.cost.packets, bytes + self.cost.bytes, self.cost.asked, self.cost.marked + self.cost.traced]
    }
    /// Stamps go on until all garbage is gone.
    fn check_stamps(&mut self) {
        if self.end.took.is_some() {
            self.end.over = true;
            return;
        }
        self.begin_end();
        self.wish(0);
        if self.now > self.end.first + 60_000 * MS {
            self.complain(|| "garbage is there, a minute after the first stamp of the end".into());
        }
    }
    fn finish(&mut self) {
        if let Some(g) = self.end.garbage.iter().find(|g| !self.objects[**g as usize].freed).copied() {
            return self.complain(|| format!("object {g} is garbage, and there after three rounds"));
        }
        self.reach();
        for p in self.running() {
            let s = self.procs[p].remote.stats();
            let exports: std::collections::BTreeSet<Gid> = self
                .proxies
                .iter()
                .filter(|x| !x.gone && self.procs[x.at].alive && x.owner == p && self.procs[x.at].remote.target(x.import).is_ok())
                .map(|x| x.gid)
                .collect();
            if (s.exports != exports.len() && !self.plan.moves && !self.end.lost) || s.parcels > 0 || s.waiting > 0 {
                let n = exports.len();
                self.complain(|| format!("at the end proc {p} has {s:?}, where {n} exports are held"));
            }
            let imports = self.procs[p].heap.proxies.len();
            if s.imports != imports && !self.plan.moves && !self.end.lost {
                self.complain(|| format!("at the end proc {p} has {s:?}, where there are {imports} proxies"));
            }
        }
        self.end.over = true;
    }
}
