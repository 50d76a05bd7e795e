//! What is reachable, as nobody in the cluster knows it, and what nodes may therefore not do.
//!
//! An object is reachable from the programs that run, through their proxies, and from references on their way. A proxy counts until one
//! of the two, its owner and the node that has it, has lost the other, which is right only where nothing was heard for a lease. As long
//! as the owner does not know of it, it counts by whoever lent it, whose own has to count. Of the machines nothing is believed but that an
//! import is confirmed.

use super::*;

impl World {
    /// Marks all that is reachable, in `self.seen`.
    pub(super) fn reach(&mut self) {
        self.seen.begin(self.objects.len(), self.proxies.len());
        let mut stack: Vec<Edge> = self.procs.iter().filter(|p| p.alive).map(|p| Edge::Local(p.heap.main)).collect();
        stack.extend((0..self.procs.len()).filter(|p| self.procs[*p].alive).flat_map(|p| self.open_calls(p)));
        for t in self.transits.iter().filter(|t| t.open) {
            // What a dead node lent is held until it is lost; its own objects are not there any more.
            let alive = self.procs[t.from].alive;
            stack.extend(t.items.iter().filter(|e| alive || matches!(e, Edge::Far(_))));
        }
        while let Some(e) = stack.pop() {
            match e {
                Edge::Local(g) => {
                    if self.seen.object(g) {
                        stack.extend(&self.objects[g as usize].fields);
                        stack.extend(self.objects[g as usize].moved.map(Edge::Far));
                    }
                }
                Edge::Far(p) => {
                    if self.seen.proxy(p) {
                        let x = &self.proxies[p as usize];
                        if let Some(to) = x.moved {
                            stack.push(Edge::Far(to));
                        } else if !self.is_void(x) && self.procs[x.owner].alive {
                            stack.push(Edge::Local(x.gid));
                        }
                    }
                }
            }
        }
    }
    /// Does its owner know of it? What a dead node held is held until it is lost.
    fn confirmed(&self, p: &Proxy) -> bool {
        self.procs[p.at].remote.is_confirmed(p.import)
    }
    /// May its node be told that it is of no use?
    pub(super) fn is_void(&self, p: &Proxy) -> bool {
        p.void || p.adrift && !self.confirmed(p)
    }
    /// Proc `p` has lost a life.
    pub(super) fn lost(&mut self, p: usize, life: Life, why: Error) {
        self.say(|_| format!("proc {p} loses {life:?}: {why:?}"));
        let Some(q) = self.proc_of(life) else { return self.complain(|| format!("proc {p} loses {life:?}, which never was")) };
        let heard = self.procs[p].heard.get(&q).copied().unwrap_or_default();
        let (silent, last_sent) = (self.now - heard.at, heard.sent);
        // The other has lost this one, and it learns of that just now.
        let its = self.procs[q].lost.get(&p).copied().unwrap_or(0);
        let answers = last_sent <= its && its > 0;
        if self.procs[q].alive && silent < LEASE && !answers {
            self.complain(|| format!("proc {p} loses proc {q}, which it has heard {} ms ago: {why:?}", silent / MS));
        }
        self.procs[p].lost.insert(q, self.now);
        self.end.lost |= self.now > self.end.quiet && self.end.quiet > 0;
        if let Some(s) = self.stamps_at(p) {
            s.letters.retain(|_, l| l.to != q);
        }
        for t in &mut self.transits {
            let between = (t.from, t.to) == (p, q) || (t.from, t.to) == (q, p);
            t.open &= !between;
            t.lost |= between;
        }
        for x in &mut self.proxies {
            // What the other has got since it lost the owner belongs to the next session, of which the owner knows nothing.
            let next = (answers || !heard.any) && x.born >= its;
            x.void |= (x.at, x.owner) == (p, q) || (x.at, x.owner) == (q, p) && !next;
            let at = x.at;
            x.lenders.retain(|(l, _)| (at, *l) != (p, q) && (at, *l) != (q, p));
        }
        self.drift();
    }
    /// What only lenders protected, of which none is left that its owner knows or others protect, and whose owner does not know it.
    fn drift(&mut self) {
        let mut held: Vec<bool> = self.proxies.iter().map(|x| !x.void && self.confirmed(x)).collect();
        let mut open: Vec<usize> = (0..held.len()).filter(|i| !held[*i] && !self.proxies[*i].void && !self.proxies[*i].adrift).collect();
        loop {
            let before = open.len();
            open.retain(|i| {
                held[*i] = self.proxies[*i].lenders.iter().any(|l| held[l.1 as usize]);
                !held[*i]
            });
            if open.len() == before {
                break;
            }
        }
        open.into_iter().for_each(|i| self.proxies[i].adrift = true);
    }
    /// Does nobody protect it?
    pub(super) fn drifts(&self, x: &Proxy) -> bool {
        let held = |l: &(usize, u32)| !self.is_void(&self.proxies[l.1 as usize]);
        !x.void && !x.adrift && !self.confirmed(x) && !x.lenders.iter().any(held)
    }
    /// All that is known of an object, for the log.
    pub(super) fn tell_of(&mut self, g: Gid) {
        let mut all: Vec<String> = self.proxies.iter().filter(|x| x.gid == g).map(|x| format!("{x:?}")).collect();
        for t in self.transits.iter().filter(|t| t.open && t.truths.contains(&g)) {
            all.push(format!("on its way from {} to {}", t.from, t.to));
        }
        let holders =
            |(i, o): (usize, &Object)| (o.fields.contains(&Edge::Local(g)) && self.seen.has_object(i as Gid)).then_some((i, o.exported));
        all.push(format!("in {:?}", self.objects.iter().enumerate().filter_map(holders).collect::<Vec<_>>()));
        let newer = |x: &Proxy| x.moved.is_some_and(|n| self.proxies[self.newest_proxy(n) as usize].gid == g);
        all.extend(self.proxies.iter().filter(|x| newer(x)).map(|x| format!("moved to it: {x:?}")));
        all.extend(
            self.objects
                .iter()
                .filter(|o| o.moved.is_some_and(|n| self.proxies[self.newest_proxy(n) as usize].gid == g))
                .map(|o| format!("moved to it: {o:?}")),
        );
        for line in all {
            self.say(|_| format!("object {g}: {line}"));
        }
    }
    /// An owner refuses a claim.
    pub(super) fn refused(&mut self, p: usize, i: Import, why: Error) {
        let Some(x) = self.procs[p].heap.proxies.get(&i).copied() else { return };
        let proxy = &self.proxies[x as usize];
        let (void, gid, owner) = (self.is_void(proxy), proxy.gid, proxy.owner);
        if !void && self.procs[owner].alive {
            let what = format!("{proxy:?}");
            self.complain(|| format!("proc {p} is refused object {gid} of proc {owner}: {why:?}: {what}"));
        }
    }
    /// Must a reference that has come be of use?
    pub(super) fn must_arrive(&self, from: usize, to: usize, e: Edge) -> bool {
        match e {
            Edge::Local(_) => self.procs[from].alive,
            Edge::Far(p) => {
                let x = &self.proxies[self.newest_proxy(p) as usize];
                // Whether the receiver has heard of the owner is the membership's affair.
                let life = self.procs[x.owner].life;
                let knows = x.owner == to || self.procs[to].remote.met(life.node) == Some(life);
                knows && !self.is_void(x) && self.procs[x.owner].alive
            }
        }
    }
    /// Is a proxy's object certainly to be called?
    pub(super) fn must_answer(&self, p: u32) -> bool {
        let x = &self.proxies[p as usize];
        !self.is_void(x) && !x.gone && self.procs[x.owner].alive && self.procs[x.at].alive
    }
}
