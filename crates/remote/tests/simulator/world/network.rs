//! Packets and messages: what is lost, repeated, reordered, cut.

use super::*;
use std::rc::Rc;

impl World {
    fn cut(&self, a: usize, b: usize) -> bool {
        self.cuts.iter().any(|c| c.0 == a && c.1 == b && c.2 > self.now)
    }
    /// When something arrives, if it does, and again, if it does.
    pub(super) fn ways(&mut self, from: usize, to: usize) -> [Option<u64>; 2] {
        let delay = self.net.between(50_000, self.plan.delay);
        let lost = self.net.percent(self.plan.lost);
        let again = self.net.percent(self.plan.repeated);
        let long = if self.net.percent(30) { 3000 * MS } else { 3 * self.plan.delay };
        let later = self.net.below(long);
        if self.cut(self.procs[from].name, self.procs[to].name) {
            return [None; 2];
        }
        [(!lost).then_some(self.now + delay), again.then_some(self.now + delay + later)]
    }
    pub(super) fn send_packet(&mut self, p: usize, to: NodeId, bytes: Vec<u8>) {
        self.trace = self.trace.wrapping_mul(31).wrapping_add(bytes.len() as u64 ^ self.now);
        // The address is the node's: whichever proc of it runs gets it.
        let name = (to.0 / 1000) as usize;
        let q = self.newest[name];
        let number = self.procs[p].sent.entry(q).or_insert(0);
        *number += 1;
        let (number, bytes) = ((*number, self.now), Rc::new(bytes));
        for at in self.ways(p, q).into_iter().flatten() {
            self.push(at, Event::Packet { from: p, to: q, number, bytes: bytes.clone() });
        }
    }
    pub(super) fn packet(&mut self, from: usize, to: usize, (number, sent): (u64, u64), bytes: &[u8]) {
        if !self.procs[to].alive {
            return;
        }
        let now = self.now;
        let heard = self.procs[to].heard.entry(from).or_insert(Heard { at: now, ..Heard::default() });
        if number > heard.number {
            *heard = Heard { number, at: now, ..*heard };
        }
        let node = self.procs[from].life.node;
        if let Err(e) = self.at(to, |r, now| r.packet(now, node, bytes).err()).map_or(Ok(()), Err) {
            self.complain(|| format!("proc {to} refuses a packet of proc {from}: {e}"));
        }
        // What it made of it was for the packets before.
        if let Some(heard) = self.procs[to].heard.get_mut(&from).filter(|h| h.number == number) {
            (heard.any, heard.sent) = (true, sent.max(heard.sent));
        }
    }

    /// A message of the host's, with what is handed over.
    pub(super) fn post(&mut self, from: usize, to: usize, kind: App, items: &[Edge]) {
        let (me, node) = (from, self.procs[to].life.node);
        let mut parcel = None;
        if !items.is_empty() {
            let list: Vec<Item> = items.iter().map(|e| self.item(*e)).collect();
            // A node of another life than is known there takes nothing.
            let open = self.procs[from].remote.met(node) == Some(self.procs[to].life);
            let sent = self.at(me, |r, now| Some(r.send(now, node, &list)));
            let Some(Ok((number, refs))) = sent else { return };
            for (e, r) in items.iter().zip(&refs) {
                if let Edge::Local(g) = e {
                    self.names.insert(*r, *g);
                    self.objects[*g as usize].exported = true;
                    let handle = self.handle(*g);
                    if let Some(s) = self.stamps_at(from) {
                        s.touch(handle);
                    }
                }
            }
            let transit = self.transits.len();
            let truths = items.iter().map(|e| self.gid(*e)).collect();
            self.transits.push(Transit { from, to, items: items.to_vec(), truths, open, sent: self.now, arrived: false, lost: false });
            let at = self.now + self.think.between(400, 700) * MS;
            self.push(at, Event::Done { from, to: node, parcel: number, transit });
            // Now and then somebody remembers a reference.
            if self.think.percent(10) {
                let g = self.gid(items[0]);
                self.stale.push((refs[0], g));
            }
            self.say(|w| format!("proc {from} sends {:?} to proc {to}: {items:?}", w.transits[transit].truths));
            parcel = Some((number, refs, transit));
        }
        let m = Rc::new(Message { kind, taken: false.into(), sent: self.now, from, to, parcel });
        for at in self.ways(from, to).into_iter().flatten() {
            self.push(at, Event::Message(m.clone()));
        }
    }
    fn item(&self, e: Edge) -> Item {
        match e {
            Edge::Local(g) => Item::Own(self.handle(g)),
            Edge::Far(p) => Item::Import(self.proxies[p as usize].import),
        }
    }
    /// What an edge leads to, as far as its program knows.
    pub(super) fn gid(&self, e: Edge) -> Gid {
        match e {
            Edge::Local(g) => g,
            Edge::Far(p) => self.proxies[self.newest_proxy(p) as usize].gid,
        }
    }
    pub(super) fn newest_proxy(&self, mut p: u32) -> u32 {
        while let Some(to) = self.proxies[p as usize].moved {
            p = to;
        }
        p
    }

    pub(super) fn message(&mut self, m: &Message) {
        let to = m.to;
        if !self.procs[to].alive {
            return;
        }
        let mut edges = Vec::new();
        if let Some((parcel, refs, transit)) = &m.parcel {
            let node = self.procs[m.from].life.node;
            let arrived = self.at(to, |r, now| Some(r.arrive(now, node, *parcel, refs)));
            let arrived = match arrived {
                Some(Ok(arrived)) => arrived,
                // Given up, or of a session that is over: the sender's call has failed.
                _ => return,
            };
            let heard = self.procs[to].heard.entry(m.from).or_default();
            (heard.any, heard.sent) = (true, m.sent.max(heard.sent));
            for (i, (arrived, r)) in arrived.into_iter().zip(refs).enumerate() {
                let t = &self.transits[*transit];
                let (e, truth, lost) = (t.items[i], t.truths[i], t.lost);
                let edge = self.received(m.from, to, (e, truth, lost), arrived, r);
                edges.push(edge);
            }
            let t = &mut self.transits[*transit];
            (t.open, t.arrived) = (false, true);
            let (from, truths) = (m.from, self.transits[*transit].truths.clone());
            self.say(|_| format!("proc {to} has {truths:?} from proc {from}: {edges:?}"));
        }
        match m.kind {
            App::Attach(at) => {
                let is_there = |o: &Object| !o.freed && o.home == to && o.moved.is_none();
                let at = at.filter(|g| is_there(&self.objects[*g as usize]));
                for e in edges.into_iter().flatten() {
                    let at = match at {
                        Some(g) => g,
                        None => self.some_object(to),
                    };
                    self.objects[at as usize].fields.push(e);
                }
            }
            App::Call { r, proxy, until } => {
                if !m.taken.replace(true) {
                    self.called(m.from, to, r, proxy, until);
                }
            }
            App::Redirect(old) => {
                if let Some(Some(Edge::Far(new))) = edges.first().copied() {
                    self.redirect(to, old, new);
                }
                // Home again: the old proxy goes on asking.
            }
            App::Make(g) => {
                let made = self.new_object(to);
                self.post(to, m.from, App::Made(g), &[Edge::Local(made)]);
            }
            App::Made(g) => {
                if let Some(Some(Edge::Far(p))) = edges.first().copied() {
                    self.moved(to, g, p);
                }
            }
        }
    }
    /// A reference that has come: is it what was sent?
    fn received(&mut self, from: usize, to: usize, (e, truth, lost): (Edge, Gid, bool), arrived: Arrived, r: &Ref) -> Option<Edge> {
        match arrived {
            Arrived::Home(handle) => {
                let found = self.procs[to].heap.at(handle);
                if found != Some(truth) {
                    self.complain(|| format!("{r:?} comes home as object {found:?}, not {truth}"));
                }
                if let Some(s) = self.stamps_at(to) {
                    s.touch(handle);
                }
                Some(Edge::Local(truth))
            }
            Arrived::Import { import, version } => {
                // One of this node that has moved: what comes is what it has become.
                let own = self.objects[truth as usize].moved.filter(|_| self.objects[truth as usize].home == to);
                let truth = own.map_or(truth, |x| self.proxies[self.newest_proxy(x) as usize].gid);
                let lender = match (own, e) {
                    (Some(x), _) => Some((to, self.newest_proxy(x))),
                    (None, Edge::Far(x)) if !lost => Some((from, self.newest_proxy(x))),
                    _ => None,
                };
                let x = self.proxy(lender, to, truth, import, version);
                // The sender's own, which is lost to it: the receiver will hear of that.
                self.proxies[x as usize].void |= lost && self.proxies[x as usize].owner == from;
                let named = self.procs[to].remote.target(import);
                let owner = self.proxies[x as usize].owner;
                if let (Ok(named), Some(s)) = (named, self.stamps_at(to)) {
                    let clock = s.clock;
                    s.tell([(owner, import, named, clock)].into_iter(), true);
                }
                Some(Edge::Far(x))
            }
            Arrived::Dead(why) => {
                if !lost && self.must_arrive(from, to, e) {
                    self.complain(|| format!("proc {to} can't use {r:?} (object {truth}) that proc {from} hands it: {why:?}"));
                }
                None
            }
        }
    }
    fn proxy(&mut self, lender: Option<(usize, u32)>, to: usize, truth: Gid, import: Import, version: u32) -> u32 {
        let known = self.procs[to].heap.proxies.get(&import).copied();
        // Where it has moved, the reference is the new object's.
        let truth = known.map_or(truth, |p| self.proxies[p as usize].gid);
        if let Some(p) = known {
            let proxy = &mut self.proxies[p as usize];
            proxy.version = version;
            proxy.lenders.extend(lender);
            return p;
        }
        let remote = &self.procs[to].remote;
        let reference = remote.target(import).ok().or_else(|| remote.imports().find(|(i, _)| *i == import).map(|(_, r)| r));
        let owner = reference.and_then(|r| self.proc_of(r.life)).unwrap_or(self.objects[truth as usize].home);
        // It may have moved, and be another here.
        let truth = reference.and_then(|r| self.names.get(&r).copied()).unwrap_or(truth);
        let p = self.proxies.len() as u32;
        // The program has lost it before, and its node has not.
        let before = self.latest.insert((to, import), p);
        self.proxies.push(Proxy {
            at: to,
            owner,
            gid: truth,
            import,
            version,
            born: self.now,
            void: false,
            adrift: false,
            gone: false,
            lenders: lender.into_iter().collect(),
            moved: None,
        });
        self.procs[to].heap.proxies.insert(import, p);
        if let Some(before) = before {
            let before = &self.proxies[before as usize];
            let (void, adrift, born, lenders) = (before.void, before.adrift, before.born, before.lenders.clone());
            let x = &mut self.proxies[p as usize];
            (x.void, x.adrift, x.born) = (void, adrift, born);
            x.lenders.extend(lenders);
        }
        self.proxies[p as usize].adrift |= self.drifts(&self.proxies[p as usize]);
        p
    }
}
