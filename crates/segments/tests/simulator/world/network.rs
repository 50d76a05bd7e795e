//! Nodes, clients and the network between them: what is posted, lost, repeated and late.

use super::*;

impl World {
    pub(super) fn at_node(
        &mut self,
        p: usize,
        f: impl FnOnce(&mut Node<u64, u64>, u64, &mut dyn FnMut(&u64), &mut dyn FnMut(&[u8], FromOwner<u64>)),
    ) {
        let (mut woken, mut sent) = (Vec::new(), Vec::new());
        let (live, now) = self.live(p);
        f(&mut live.node, now, &mut |w| woken.push(*w as usize), &mut |to, m| sent.push((to[0] as usize, m)));
        for (to, m) in sent {
            self.answer(p, to, m);
        }
        for op in woken {
            let at = self.now + self.think.below(3) * MS;
            self.push(at, Event::Claim(op));
        }
        self.plan_timer(p);
    }
    pub(super) fn at_client(&mut self, p: usize, name: usize, f: impl FnOnce(&mut Client<u64, u64>, u64, &mut Out)) {
        let (mut sent, mut ended) = (Vec::new(), Vec::new());
        let (live, now) = self.live(p);
        f(&mut live.clients[name], now, &mut Out(&mut sent, &mut ended));
        for m in sent {
            self.ask(p, name, m);
        }
        for (op, result) in ended {
            if matches!(result, Ok(Done::Segments(_))) && self.book.ops[op].takes() {
                self.book.ops[op].given = Some(result);
                let at = self.now + self.think.below(3) * MS;
                // Now and then the asker goes before it looks. What it was given regains its place, so not where order is checked.
                let gone = self.think.below(16) == 0 && !self.book.ops[op].asks_for(FIFO);
                self.push(at, if gone { Event::Leave(op) } else { Event::Use(op) });
            } else {
                self.ended(op, result);
            }
        }
        self.plan_timer(p);
    }
    pub(super) fn plan_timer(&mut self, p: usize) {
        let proc = &mut self.procs[p];
        let Some(live) = &proc.live else { return };
        let next = live.clients.iter().filter_map(|c| c.next_deadline()).chain(live.node.next_deadline()).min();
        if let Some(next) = next {
            let at = proc.clock.when(next).max(self.now);
            if proc.timer.is_none_or(|t| t > at) {
                proc.timer = Some(at);
                self.push(at, Event::Timer(p));
            }
        }
    }
    pub(super) fn ask(&mut self, p: usize, name: usize, m: FromClient<u64>) {
        if let Body::Call(n, call) = &m.body {
            let seen = match call {
                Call::Commit { outputs, .. } => self.book.values[outputs[0].value as usize - 1].output_of.map_or(Seen::Other, Seen::Commit),
                Call::Get(a) if a.inputs.iter().all(|i| i.1 == Kind::Take) => Seen::Take,
                _ => Seen::Other,
            };
            self.seen.insert((p, name, *n), seen);
        }
        let epoch = self.procs[p].live.as_ref().map_or(0, |l| l.conns[name].epoch);
        let from = self.procs[p].name;
        self.post(p, name, from, name, 0, |_| Event::ToOwner { from: p, name, epoch, m: m.clone() });
    }
    pub(super) fn answer(&mut self, q: usize, name: usize, m: FromOwner<u64>) {
        let Some(p) = self.procs.iter().rposition(|x| x.name == name && x.incarnation == m.client) else { return };
        let owner = self.procs[q].name;
        let incarnation = self.procs[q].incarnation;
        if matches!(m.body, Reply::Welcome { sync: Some(_), .. } | Reply::Answer(..)) {
            let last = self.served.entry((q, name)).or_insert(0);
            if m.client < *last {
                self.book.wrong(format!("node {owner} serves incarnation {} of node {name}", m.client));
            } else {
                *last = m.client;
            }
        }
        if let Reply::Answer(n, Ok(done)) = &m.body {
            match (self.seen.get(&(p, owner, *n)), done) {
                (Some(Seen::Commit(op)), Done::Ok) => self.book.committed(*op, self.now, incarnation),
                (Some(Seen::Take), Done::Segments(all)) => all.iter().for_each(|s| self.book.given(s.value)),
                _ => {}
            }
        }
        let Some(epoch) = self.procs[p].live.as_ref().map(|l| l.conns[owner].epoch) else { return };
        self.post(p, owner, owner, name, 1, |_| Event::ToClient { to: p, from: q, epoch, m: m.clone() });
    }
    /// Puts a message on its way: of the connection of `p` to `owner`, from one name to another.
    pub(super) fn post(&mut self, p: usize, owner: usize, from: usize, to: usize, way: usize, e: impl Fn(()) -> Event) {
        let now = self.now;
        self.cuts.retain(|c| c.2 > now);
        self.slow.retain(|c| c.3 > now);
        let cut = self.cuts.iter().filter(|c| c.0 == from && c.1 == to).map(|c| c.2).max();
        let slow = self.slow.iter().filter(|c| c.0 == from && c.1 == to).map(|c| c.2).max().unwrap_or(0);
        let mut delay = self.net.between(50_000, self.plan.delay) + slow;
        let lost = self.net.percent(self.plan.lost);
        let again = self.net.percent(self.plan.repeated);
        let long = if self.net.percent(30) { 5000 * MS } else { 3 * self.plan.delay };
        let later = self.net.below(long);
        if self.plan.lossy {
            if cut.is_none() && !lost {
                self.push(now + delay, e(()));
            }
            if cut.is_none() && again {
                self.push(now + delay + later, e(()));
            }
            return;
        }
        if let Some(until) = cut {
            delay += until - now;
        }
        let Some(live) = &mut self.procs[p].live else { return };
        let conn = &mut live.conns[owner];
        if conn.up {
            conn.last[way] = (now + delay).max(conn.last[way]);
            let at = conn.last[way];
            self.push(at, e(()));
        }
    }
    pub(super) fn connect(&mut self, p: usize, name: usize) {
        let there = self.procs[self.newest[name]].live.is_some();
        let me = self.procs[p].name;
        let cut = self.cuts.iter().any(|c| c.2 > self.now && (c.0 == me && c.1 == name || c.0 == name && c.1 == me));
        if !self.plan.lossy && (!there || cut) {
            return self.push(self.now + 100 * MS, Event::Connect(p, name));
        }
        let conn = &mut self.live(p).0.conns[name];
        if !conn.up {
            *conn = Conn { epoch: conn.epoch + 1, up: true, last: [0; 2] };
            self.at_client(p, name, |c, now, out| c.connected(now, out));
        }
    }
    pub(super) fn disconnect(&mut self, p: usize, name: usize, long: u64) {
        let Some(live) = &mut self.procs[p].live else { return };
        if live.conns[name].up {
            live.conns[name].up = false;
            live.clients[name].disconnected();
            self.push(self.now + long, Event::Connect(p, name));
        }
    }
}
