//! Each node's own collections, and traces between them.

use super::*;

impl World {
    /// What a round asks of this host.
    pub(super) fn wishes(&mut self, p: usize) {
        let proc = &self.procs[p];
        if !proc.alive || proc.collecting.is_some() || proc.tracing {
            return;
        }
        match proc.remote.want() {
            Want::Nothing => {}
            Want::Collect => {
                self.cost.asked += 1;
                self.collect(p, true);
            }
            Want::Trace => {
                // The host comes to it some time later.
                self.procs[p].tracing = true;
                let at = self.now + self.think.below(4 * MS);
                self.push(at, Event::Trace(p));
            }
        }
    }
    /// A trace with the second bitmap, beside the program.
    pub(super) fn trace(&mut self, p: usize) {
        if !self.procs[p].alive {
            return;
        }
        let grey = self.procs[p].remote.grey();
        let starts: Vec<Gid> = grey.iter().filter_map(|h| self.procs[p].heap.at(*h)).collect();
        let mut reached = Vec::new();
        let mut stack: Vec<Edge> = starts.into_iter().map(Edge::Local).collect();
        while let Some(e) = stack.pop() {
            match e {
                Edge::Local(g) => {
                    let o = &self.objects[g as usize];
                    let second = &mut self.procs[p].heap.second;
                    second.resize(second.len().max(o.cell as usize + 1), false);
                    if !std::mem::replace(&mut second[o.cell as usize], true) {
                        self.cost.traced += 1;
                        stack.extend(&o.fields);
                    }
                }
                Edge::Far(x) => reached.push(self.proxies[x as usize].import),
            }
        }
        let at = self.now + self.think.below(2 * MS);
        self.push(at, Event::Traced(p, reached));
    }
    pub(super) fn mark(&mut self, p: usize, mut stack: Vec<Edge>) {
        while let Some(e) = stack.pop() {
            match e {
                Edge::Local(g) => {
                    if self.seen.object(g) {
                        let o = &self.objects[g as usize];
                        if o.freed || o.home != p {
                            let (home, freed) = (o.home, o.freed);
                            self.tell_of(g);
                            return self.complain(|| format!("proc {p} meets object {g} of proc {home}, freed: {freed}"));
                        }
                        self.cost.marked += 1;
                        stack.extend(&o.fields);
                    }
                }
                Edge::Far(x) => {
                    self.seen.proxy(x);
                }
            }
        }
    }
    /// A full collection begins; what is found is so until it ends.
    pub(super) fn collect(&mut self, p: usize, asked: bool) {
        if !self.procs[p].alive || self.procs[p].collecting.is_some() {
            return;
        }
        self.cost.collections += 1;
        let marking = self.procs[p].remote.marking();
        self.seen.begin(self.objects.len(), self.proxies.len());
        let heap = &self.procs[p].heap;
        let of = |handles: &[u64]| handles.iter().filter_map(|h| heap.at(*h)).map(Edge::Local).collect::<Vec<_>>();
        let (mut first, rest) = (of(&marking.first), of(&marking.rest));
        if first.len() + rest.len() != marking.first.len() + marking.rest.len() {
            return self.complain(|| format!("proc {p} exports what is not there"));
        }
        if self.plan.stamps {
            first.clear();
        }
        first.push(Edge::Local(heap.main));
        first.extend(self.open_calls(p));
        let stamps = if self.plan.stamps {
            self.mark_by_stamps(p, first)
        } else {
            self.mark(p, first);
            Vec::new()
        };
        let proxies: Vec<u32> = self.procs[p].heap.proxies.values().copied().collect();
        let reached = proxies.iter().filter(|x| self.seen.has_proxy(**x)).map(|x| self.proxies[*x as usize].import).collect();
        let heap = &mut self.procs[p].heap;
        heap.second = heap.cells.iter().map(|c| c.is_some_and(|g| self.seen.has_object(g))).collect();
        let mut unmet: Vec<u32> = proxies.into_iter().filter(|x| !self.seen.has_proxy(*x)).collect();
        let condemned = std::mem::take(&mut self.condemned);
        self.mark(p, if self.plan.stamps { condemned } else { rest });
        let cells = &self.procs[p].heap.cells;
        let objects = cells.iter().flatten().filter(|g| !self.seen.has_object(**g)).copied().collect();
        // What only garbage holds that others hold still is not held by it.
        unmet.retain(|x| self.plan.stamps || !self.seen.has_proxy(*x));
        self.procs[p].collecting = Some(Collecting { marking, reached, objects, proxies: unmet, stamps });
        let long = if asked { self.think.below(6 * MS) } else { self.think.below(12 * MS) };
        self.say(|_| format!("proc {p} collects{}", if asked { ", for a round" } else { "" }));
        self.push(self.now + long, Event::Collected(p));
    }
    pub(super) fn collected(&mut self, p: usize) {
        let Some(c) = self.procs[p].collecting.take() else { return };
        if !self.procs[p].alive {
            return;
        }
        if self.plan.stamps && !c.proxies.is_empty() {
            self.reach();
            if let Some(x) = c.proxies.iter().copied().find(|x| self.seen.has_proxy(*x)) {
                return self.complain(|| format!("proc {p} drops proxy {x}, which is reachable"));
            }
        }
        if c.objects.iter().any(|g| self.objects[*g as usize].exported) {
            self.reach();
            let mut wrong: Vec<Gid> = c.objects.iter().copied().filter(|g| self.seen.has_object(*g)).collect();
            wrong.retain(|g| self.objects[*g as usize].moved.is_none());
            // Rather one that others hold than what that holds.
            let wrong = wrong.iter().find(|g| self.objects[**g as usize].exported).or(wrong.first());
            if let Some(g) = wrong.copied() {
                self.tell_of(g);
                return self.complain(|| format!("proc {p} frees object {g}, which is reachable"));
            }
        }
        if self.keep > 0 {
            let far: Vec<Gid> = c.objects.iter().copied().filter(|g| self.objects[*g as usize].exported).collect();
            self.say(|_| format!("proc {p} frees {far:?} among {} objects, and proxies {:?}", c.objects.len(), c.proxies));
        }
        for g in c.objects {
            let o = &mut self.objects[g as usize];
            o.freed = true;
            o.fields = Vec::new();
            self.procs[p].heap.free(o.cell);
        }
        let dead: Vec<(Import, u32)> =
            c.proxies.iter().map(|x| (self.proxies[*x as usize].import, self.proxies[*x as usize].version)).collect();
        for x in c.proxies {
            self.proxies[x as usize].gone = true;
            self.procs[p].heap.proxies.remove(&self.proxies[x as usize].import);
        }
        self.at(p, |r, now| r.collected(now, &c.marking, c.reached));
        if let Some(s) = self.stamps_at(p) {
            s.tell(c.stamps.into_iter(), false);
            s.settle(false);
        }
        // The host hears of its proxies' ends some time later, and of new ones meanwhile.
        let at = self.now + self.think.below(30 * MS);
        self.push(at, Event::Dropped(p, dead));
    }
}
