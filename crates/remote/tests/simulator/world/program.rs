//! What programs do.

use super::*;

impl World {
    /// The graph with which a run begins: local references at once, others by messages.
    pub(super) fn populate(&mut self) {
        let n = self.plan.nodes;
        let each = self.plan.references / n;
        for p in 0..n {
            let main = self.procs[p].heap.main;
            let mut mine = vec![main];
            for i in 0..each / 2 {
                let g = self.new_object(p);
                // A tree that is rather deep, and some references across it.
                let above = if i % 8 == 0 { main } else { mine[self.think.below(mine.len() as u64) as usize] };
                self.objects[above as usize].fields.push(Edge::Local(g));
                mine.push(g);
            }
            for _ in 0..each / 8 {
                let (a, b) = (self.think.pick(&mine), self.think.pick(&mine));
                self.objects[a as usize].fields.push(Edge::Local(b));
            }
            // The others lead elsewhere, and never to where a program begins: who calls that takes away what it begins with.
            let (parcel, mine) = (40, &mine[1..]);
            for _ in 0..each * 3 / 8 / parcel {
                let q = (p + 1 + self.think.below(n as u64 - 1) as usize) % n;
                let items: Vec<Edge> = (0..parcel).map(|_| Edge::Local(self.think.pick(mine))).collect();
                let at = self.now;
                self.now = at + self.think.below(200) * MS;
                self.post(p, q, App::Attach(None), &items);
                self.now = at;
            }
        }
        self.list();
        for _ in 0..self.plan.rings {
            let long = self.think.between(2, n as u64) as usize;
            let first = self.think.below(n as u64) as usize;
            let ring: Vec<Gid> = (0..long).map(|i| self.new_object((first + i) % n)).collect();
            // One of them holds it all, until the program lets it go.
            let desk = self.procs[first].heap.desk;
            self.objects[desk as usize].fields.push(Edge::Local(ring[0]));
            for i in 0..long {
                let (from, to) = (ring[i], ring[(i + 1) % long]);
                let (p, q) = (self.objects[from as usize].home, self.objects[to as usize].home);
                // Each is on its way to the next before it is looked for.
                // `from` is held by `to`: the ring runs backwards.
                self.post(p, q, App::Attach(Some(to)), &[Edge::Local(from)]);
            }
        }
    }
    /// A live list of which each link leads to another node.
    fn list(&mut self) {
        let n = self.plan.nodes;
        let links: Vec<Gid> = (0..self.plan.list).map(|i| self.new_object(i % n)).collect();
        let Some(first) = links.first() else { return };
        let main = self.procs[0].heap.main;
        self.objects[main as usize].fields.push(Edge::Local(*first));
        for (i, pair) in links.windows(2).enumerate() {
            self.post((i + 1) % n, i % n, App::Attach(Some(pair[0])), &[Edge::Local(pair[1])]);
        }
    }
    /// Something that a program reaches from an object: a walk along fields.
    fn walk(&mut self, from: Gid) -> Edge {
        let mut at = from;
        for _ in 0..self.think.between(1, 7) {
            let fields = &self.objects[at as usize].fields;
            if fields.is_empty() {
                break;
            }
            match fields[self.think.below(fields.len() as u64) as usize] {
                Edge::Local(g) => at = g,
                far => return far,
            }
        }
        Edge::Local(at)
    }
    /// Where a program begins to look: often at its desk.
    fn start_of(&mut self, p: usize) -> Gid {
        let heap = &self.procs[p].heap;
        let (main, desk) = (heap.main, heap.desk);
        if self.think.percent(50) { desk } else { main }
    }
    pub(super) fn some_object(&mut self, p: usize) -> Gid {
        let (main, from) = (self.procs[p].heap.main, self.start_of(p));
        match self.walk(from) {
            // What has moved keeps nothing but the way to where it is.
            Edge::Local(g) if self.objects[g as usize].moved.is_none() => g,
            _ => main,
        }
    }
    pub(super) fn step(&mut self, p: usize) {
        if !self.procs[p].alive || self.now >= ACTIVE {
            return;
        }
        if self.plan.idle {
            let desk = self.procs[p].heap.desk;
            if self.now < 1000 * MS {
                self.push(1000 * MS, Event::Step(p));
            } else {
                self.objects[desk as usize].fields.clear();
            }
            return;
        }
        for _ in 0..self.think.between(1, 3) {
            self.act(p);
        }
        let at = self.now + self.think.between(4, 20) * MS;
        self.push(at, Event::Step(p));
    }
    fn other(&mut self, p: usize) -> usize {
        let n = self.plan.nodes;
        let name = (self.procs[p].name + 1 + self.think.below(n as u64 - 1) as usize) % n;
        self.newest[name]
    }
    fn act(&mut self, p: usize) {
        let (main, desk) = (self.procs[p].heap.main, self.procs[p].heap.desk);
        let from = self.start_of(p);
        match self.think.below(120) {
            // New objects; some are soon forgotten.
            0..12 => {
                let (at, new) = (self.some_object(p), self.new_object(p));
                self.objects[at as usize].fields.push(Edge::Local(new));
            }
            12..27 => {
                let (at, e) = (self.some_object(p), self.walk(from));
                self.objects[at as usize].fields.push(e);
            }
            27..35 => {
                let n = self.objects[main as usize].fields.len() as u64;
                if n > 4 {
                    // Its desk is the first.
                    let i = self.think.between(1, n - 1) as usize;
                    self.objects[main as usize].fields.swap_remove(i);
                }
            }
            35..55 => {
                let at = self.some_object(p);
                let n = self.objects[at as usize].fields.len() as u64;
                if n > 0 && at != main && at != desk {
                    let i = self.think.below(n) as usize;
                    self.objects[at as usize].fields.swap_remove(i);
                }
            }
            // Hands something over, and often drops it at once.
            55..75 => {
                let q = self.other(p);
                let items: Vec<Edge> = (0..self.think.between(1, 3)).map(|_| self.walk(from)).collect();
                let items: Vec<Edge> = items.into_iter().filter(|e| *e != Edge::Local(main) && *e != Edge::Local(desk)).collect();
                if items.is_empty() {
                    return;
                }
                self.post(p, q, App::Attach(None), &items);
                if self.think.percent(50) {
                    self.drop_everywhere(p, items[0]);
                }
            }
            75..92 => {
                if let Edge::Far(x) = self.walk(from) {
                    self.call(p, x);
                }
            }
            92..96 => self.use_stale(p),
            // A chain grows: what was at hand is held by a new object, which another node gets, and this one forgets.
            100..112 => {
                let n = self.objects[desk as usize].fields.len() as u64;
                if n > 0 {
                    let i = self.think.below(n) as usize;
                    let e = self.objects[desk as usize].fields.swap_remove(i);
                    let new = self.new_object(p);
                    self.objects[new as usize].fields.push(e);
                    let q = self.other(p);
                    let at = self.procs[q].heap.desk;
                    self.post(p, q, App::Attach(Some(at)), &[Edge::Local(new)]);
                }
            }
            // Something else is at hand, and not too much.
            112.. => {
                let e = self.walk(from);
                let fields = &mut self.objects[desk as usize].fields;
                if e != Edge::Local(main) && e != Edge::Local(desk) {
                    fields.push(e);
                }
                if fields.len() > 6 {
                    fields.remove(0);
                }
            }
            _ if self.plan.moves => {
                if let Edge::Local(g) = self.walk(from)
                    && g != main
                    && g != desk
                    && self.objects[g as usize].exported
                    && self.objects[g as usize].moved.is_none()
                {
                    let q = self.other(p);
                    self.post(p, q, App::Make(g), &[]);
                }
            }
            _ => {}
        }
    }
    /// No object of this node's program has it any more.
    fn drop_everywhere(&mut self, p: usize, e: Edge) {
        let cells: Vec<Gid> = self.procs[p].heap.cells.iter().flatten().copied().collect();
        for g in cells {
            if self.objects[g as usize].moved.is_none() {
                self.objects[g as usize].fields.retain(|x| *x != e);
            }
        }
    }
    fn call(&mut self, p: usize, x: u32) {
        let import = self.proxies[x as usize].import;
        match self.procs[p].remote.target(import) {
            Ok(r) => {
                let q = self.newest[(r.life.node.0 / 1000) as usize];
                // Whoever waits for an answer holds what it called, and gives up some time.
                let until = self.now + self.think.between(50, 500) * MS;
                let calls = &mut self.procs[p].heap.calls;
                calls.retain(|c| c.1 > self.now);
                calls.push((x, until));
                self.post(p, q, App::Call { r, proxy: x, until }, &[]);
            }
            Err(why) => {
                let last = self.newest_proxy(x);
                if self.must_answer(last) {
                    self.complain(|| format!("proc {p} can't use proxy {x}, which is good: {why:?}"));
                }
                self.drop_everywhere(p, Edge::Far(x));
            }
        }
    }
    /// The proxies of calls that a program waits for.
    pub(super) fn open_calls(&self, p: usize) -> Vec<Edge> {
        self.procs[p].heap.calls.iter().filter(|c| c.1 > self.now).map(|c| Edge::Far(c.0)).collect()
    }
    /// A call has come.
    pub(super) fn called(&mut self, from: usize, to: usize, r: Ref, proxy: u32, until: u64) {
        let target = self.newest_proxy(proxy);
        // What the caller meant: it may have been told of a move since.
        let meant = |w: &World, g: Gid| {
            let mut x = proxy;
            loop {
                if w.proxies[x as usize].gid == g {
                    return true;
                }
                match w.proxies[x as usize].moved {
                    Some(next) => x = next,
                    None => return false,
                }
            }
        };
        match self.at(to, |m, _| Some(m.resolve(&r))) {
            Some(Ok(handle)) => {
                let Some(g) = self.procs[to].heap.at(handle) else {
                    return self.complain(|| format!("proc {to} answers a call of {r:?}, where nothing is"));
                };
                if !meant(self, g) {
                    let (x, y) = (format!("{:?}", self.proxies[proxy as usize]), format!("{:?}", self.objects[g as usize]));
                    return self.complain(|| format!("a call of {r:?} by proxy {proxy} meets object {g}: {x} {y}"));
                }
                if let Some(s) = self.stamps_at(to) {
                    s.touch(handle);
                }
                // One that was given up finds its object, or not: nobody holds that for it. Its host leaves it alone.
                if self.now < until && self.must_answer(proxy) {
                    self.work(from, to, g);
                }
            }
            Some(Err(Error::Moved)) => {
                let import = self.at(to, |m, _| m.moved_to(&r));
                let there = import.and_then(|i| {
                    self.objects.iter().find_map(|o| o.moved.filter(|x| self.proxies[*x as usize].import == i && o.home == to))
                });
                match there {
                    Some(x) => self.post(to, from, App::Redirect(proxy), &[Edge::Far(x)]),
                    None => self.complain(|| format!("{r:?} has moved nowhere")),
                }
            }
            Some(Err(why)) => {
                if r.life == self.procs[to].life && self.must_answer(proxy) && target == proxy {
                    let x = format!("{:?}", self.proxies[proxy as usize]);
                    self.complain(|| format!("a call of {r:?} by proxy {proxy} fails: {why:?}: {x}"));
                }
            }
            None => {}
        }
    }
    /// What a called object does: it moves what it has elsewhere, and answers with something.
    fn work(&mut self, from: usize, to: usize, g: Gid) {
        self.say(|w| format!("proc {from} calls object {g} of proc {to}, which has {:?}", w.objects[g as usize].fields));
        let n = self.objects[g as usize].fields.len() as u64;
        if n > 0 && self.think.percent(50) && self.objects[g as usize].moved.is_none() {
            let i = self.think.below(n) as usize;
            let e = self.objects[g as usize].fields.swap_remove(i);
            let at = self.some_object(to);
            self.objects[at as usize].fields.push(e);
        }
        if self.think.percent(60) && self.procs[from].alive {
            let e = self.walk(g);
            if e != Edge::Local(self.procs[to].heap.main) && e != Edge::Local(self.procs[to].heap.desk) {
                self.post(to, from, App::Attach(None), &[e]);
            }
        }
    }
    /// A reference that nobody holds for certain: it may be of no use, but is never another object's.
    fn use_stale(&mut self, p: usize) {
        if self.stale.is_empty() {
            return;
        }
        let (mut r, g) = self.think.pick(&self.stale);
        let forged = self.think.percent(20);
        if forged {
            match self.think.below(4) {
                0 => r.seal ^= 1 << self.think.below(64),
                1 => r.generation = r.generation.wrapping_add(1),
                2 => r.slot = r.slot.wrapping_add(1),
                _ => r.life.incarnation += 1,
            }
        }
        let Some(q) = self.newest.iter().copied().find(|q| self.procs[*q].life.node == r.life.node) else { return };
        if q == p || !self.procs[q].alive || self.procs[q].paused > self.now {
            return;
        }
        if let Some(Ok(handle)) = self.at(q, |m, _| Some(m.resolve(&r))) {
            let found = self.procs[q].heap.at(handle);
            if forged || found.is_none() || found != Some(g) {
                self.complain(|| format!("a stale use of {r:?}, object {g}, meets {found:?}"));
            }
        }
    }

    pub(super) fn moved(&mut self, p: usize, g: Gid, to: u32) {
        let o = &self.objects[g as usize];
        if o.freed || o.home != p || o.moved.is_some() {
            return;
        }
        let (handle, import) = (self.handle(g), self.proxies[to as usize].import);
        if !self.procs[p].remote.is_exported(handle) {
            return;
        }
        if self.at(p, |r, now| r.moved(now, handle, import).is_ok()) {
            self.say(|w| format!("proc {p} moves object {g} to {}, by proxy {to}", w.proxies[to as usize].gid));
            self.objects[g as usize].moved = Some(to);
            self.objects[g as usize].fields = vec![Edge::Far(to)];
        }
    }
    pub(super) fn redirect(&mut self, p: usize, old: u32, new: u32) {
        let x = &self.proxies[old as usize];
        if x.gone || old == new {
            return;
        }
        if x.moved.is_some() {
            return;
        }
        let (a, b) = (x.import, self.proxies[new as usize].import);
        if self.newest_proxy(new) == old {
            return;
        }
        self.say(|w| {
            format!("proc {p} is told that proxy {old} ({}) is {new} ({})", w.proxies[old as usize].gid, w.proxies[new as usize].gid)
        });
        self.at(p, |r, now| r.redirect(now, a, b));
        self.proxies[old as usize].moved = Some(new);
        let (a, b) = (self.procs[p].remote.target(a), self.procs[p].remote.target(b));
        if a != b {
            self.complain(|| format!("proc {p} is told that {a:?} is {b:?}, and goes on with the old one"));
        }
    }
}
