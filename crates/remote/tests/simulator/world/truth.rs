//! What is reachable, as nobody in the cluster knows it, and what nodes may therefore not do.
//!
//! An object is reachable from the programs that run, through proxies whose lease was never over, and from references on their way. What a
//! node was handed by another is protected by the latter's lease until the owner knows of it.

use super::*;

impl World {
    /// Marks all that is reachable, in `self.seen`.
    pub(super) fn reach(&mut self) {
        self.seen.begin(self.objects.len(), self.proxies.len());
        let mut stack: Vec<Edge> = self.procs.iter().filter(|p| p.alive).map(|p| Edge::Local(p.heap.main)).collect();
        for t in self.transits.iter().filter(|t| t.open) {
            if self.procs[t.from].alive && self.procs[t.to].alive {
                stack.extend(&t.items);
            }
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
                        } else if !x.void && self.procs[x.owner].alive {
                            stack.push(Edge::Local(x.gid));
                        }
                    }
                }
            }
        }
    }
    fn confirmed(&self, p: &Proxy) -> bool {
        self.procs[p.at].alive && self.procs[p.at].remote.is_confirmed(p.import)
    }
    /// Proc `p` has lost a life.
    pub(super) fn lost(&mut self, p: usize, life: Life, why: Error) {
        self.say(|_| format!("proc {p} loses {life:?}: {why:?}"));
        let Some(q) = self.proc_of(life) else { return self.complain(|| format!("proc {p} loses {life:?}, which never was")) };
        let silent = self.now - self.procs[p].heard.get(&q).map_or(0, |h| h.1);
        let [mine, its] = [(p, q), (q, p)].map(|(a, b)| self.procs[a].lost.get(&b).copied().unwrap_or((0, 0)));
        // What the other end said of its losses may come late, and in several packets.
        let late = why == Error::OtherIncarnation && its.0 > 0 && self.now - its.1 < 5000 * MS;
        let answers = its.0 > mine.0 || its.1 > mine.1 || late;
        if self.procs[q].alive && silent < LEASE && !answers {
            self.complain(|| format!("proc {p} loses proc {q}, which it has heard {} ms ago: {why:?}", silent / MS));
        }
        self.procs[p].lost.insert(q, (mine.0 + 1, self.now));
        self.end.lost |= self.now > self.end.quiet && self.end.quiet > 0;
        for t in &mut self.transits {
            let between = (t.from, t.to) == (p, q) || (t.from, t.to) == (q, p);
            t.open &= !between;
            t.lost |= between;
        }
        for i in 0..self.proxies.len() {
            let x = &self.proxies[i];
            let void = if x.at == q && x.owner == p || x.at == p && x.owner == q {
                true
            } else if x.lenders.contains(&q) && x.owner == p || x.at == q && x.lenders.contains(&p) || x.at == p && x.lenders.contains(&q) {
                // Whoever lent it holds it no more for whoever has it.
                let gone = if x.owner == p {
                    q
                } else if x.at == q {
                    p
                } else {
                    q
                };
                if self.confirmed(x) {
                    false
                } else {
                    let x = &mut self.proxies[i];
                    x.lenders.retain(|l| *l != gone);
                    x.lenders.is_empty()
                }
            } else {
                // A lender that its owner is lost to does not hold it any more.
                x.owner == q && x.lenders.contains(&p) && !self.confirmed(x)
            };
            self.proxies[i].void |= void;
        }
        self.follow_lenders();
    }
    /// Whoever had something from a lender whose own hold is void has nothing of it, unless the owner knows.
    fn follow_lenders(&mut self) {
        let mut held: std::collections::BTreeSet<(usize, Gid)> =
            self.proxies.iter().filter(|x| self.confirmed(x)).map(|x| (x.at, x.gid)).collect();
        let open: Vec<usize> = (0..self.proxies.len())
            .filter(|i| !self.proxies[*i].void && !held.contains(&(self.proxies[*i].at, self.proxies[*i].gid)))
            .collect();
        loop {
            let before = held.len();
            for i in &open {
                let x = &self.proxies[*i];
                if x.lenders.iter().any(|l| held.contains(&(*l, x.gid))) {
                    held.insert((x.at, x.gid));
                }
            }
            if held.len() == before {
                break;
            }
        }
        for i in open {
            let x = &mut self.proxies[i];
            x.void |= !held.contains(&(x.at, x.gid));
        }
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
        let (void, gid, owner) = (proxy.void, proxy.gid, proxy.owner);
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
                x.owner == to && !x.void && self.procs[from].alive
            }
        }
    }
    /// Is a proxy's object certainly to be called?
    pub(super) fn must_answer(&self, p: u32) -> bool {
        let x = &self.proxies[p as usize];
        !x.void && !x.gone && self.procs[x.owner].alive && self.procs[x.at].alive
    }
}
