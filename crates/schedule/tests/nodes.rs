//! Nodes by hand: who is told what, and when.

use kumi_schedule::*;

const MS: Time = 1_000_000;
const S: Time = 1000 * MS;

struct Cluster {
    now: Time,
    members: Members,
    nodes: Vec<Node>,
    /// What each node sees.
    seen: Vec<Observed>,
    collects: Vec<u32>,
    said: Vec<(usize, Message)>,
}

fn seen(allocated: u64, idle_periods: u64, idle: Time, waits: u64, speculative: Time) -> Observed {
    let i = Interval { length: S, collection: S / 4, idle_periods, idle, waits, speculative, filled: 0 };
    Observed { heap: Heap { size: 900, allocated, limit: 1 << 20, wanted: 8 }, kinds: [i; 2] }
}

impl Cluster {
    fn new(n: u64, policy: Policy, o: Options) -> Cluster {
        let nodes = (0..n).map(|i| Node::new(0, NodeId(i), 1, policy, o)).collect();
        let mut c = Cluster {
            now: 0,
            members: Members::new((0..n).map(NodeId)),
            nodes,
            seen: vec![seen(400, 0, 0, 0, 0); n as usize],
            collects: vec![0; n as usize],
            said: Vec::new(),
        };
        c.tick();
        c
    }
    /// Everything that is said arrives at once.
    fn flow(&mut self) {
        while let Some((i, action)) = (0..self.nodes.len()).find_map(|i| self.nodes[i].poll().map(|a| (i, a))) {
            let to: Vec<NodeId> = match action {
                Action::Send(to, _) => vec![to],
                Action::All(_) => self.members.iter().filter(|n| n.0 != i as u64).collect(),
                Action::Collect(_) => {
                    self.collects[i] += 1;
                    vec![]
                }
                Action::InForce(..) | Action::Mark(_) => vec![],
            };
            let (Action::Send(_, m) | Action::All(m)) = action else { continue };
            self.said.push((i, m));
            for n in to {
                let seen = self.seen[n.0 as usize];
                self.nodes[n.0 as usize].message(self.now, &self.members, NodeId(i as u64), m.sent(), &seen);
            }
        }
    }
    fn tick(&mut self) {
        for i in 0..self.nodes.len() {
            let seen = self.seen[i];
            self.nodes[i].tick(self.now, &self.members, &seen);
        }
        self.flow();
    }
    /// Some time later, beats and all.
    fn pass(&mut self, t: Time) {
        let end = self.now + t;
        while self.now < end {
            self.now = (self.now + 500 * MS).min(end);
            self.tick();
        }
    }
    /// A node's heap overflows, and whoever collects has done so.
    fn overflow(&mut self, i: usize) -> Decision {
        let decision = self.nodes[i].overflow(self.now, &self.members, &self.seen[i]);
        self.flow();
        self.collects[i] += (decision == Decision::Collect) as u32;
        self.now += 250 * MS;
        for n in 0..self.nodes.len() {
            if self.nodes[n].busy() {
                self.nodes[n].collected(self.now, &self.members, Kind::Full, 900);
            }
        }
        self.flow();
        decision
    }
    fn round(&mut self, i: usize) -> Vec<u32> {
        self.collects.fill(0);
        self.pass(S);
        self.overflow(i);
        self.collects.clone()
    }
    fn mode(&self, i: usize) -> Mode {
        self.nodes[i].mode(self.now, &self.members, Kind::Full)
    }
}

#[test]
fn fixed_policies() {
    let mut c = Cluster::new(4, Policy::Independent, Options::default());
    assert_eq!(c.round(2), [0, 0, 1, 0]);
    let mut c = Cluster::new(4, Policy::Synchronised, Options::default());
    assert_eq!(c.round(2), [1, 1, 1, 1]);
    // Two orders at the same moment are one.
    c.collects.fill(0);
    c.pass(S);
    let before: Vec<Decision> = (0..2).map(|i| c.nodes[i].overflow(c.now, &c.members, &c.seen[i])).collect();
    c.flow();
    assert_eq!((before, &c.collects[..]), (vec![Decision::Collect; 2], &[0, 0, 1, 1][..]));
}

#[test]
fn adaptive_becomes_independent_after_two_verdicts_and_goes_back_at_once() {
    let mut c = Cluster::new(16, Policy::Adaptive(Mode::Synchronised), Options::default());
    assert_eq!(c.round(3), [1; 16]);
    assert_eq!(c.mode(5), Mode::Synchronised);
    assert_eq!(c.round(3), [1; 16]);
    assert!((0..16).all(|i| c.mode(i) == Mode::Independent));
    assert_eq!(c.round(3).iter().sum::<u32>(), 1);
    // One idle node is a sixteenth, two are more.
    c.seen[7] = seen(400, 9, S * 6 / 10, 9, 0);
    c.seen[9] = c.seen[7];
    c.round(7);
    assert_eq!(c.mode(1), Mode::Independent);
    c.round(9);
    assert!((0..16).all(|i| c.mode(i) == Mode::Synchronised));
}

#[test]
fn independence_holds_for_a_while_where_verdicts_are_not_clear() {
    // What AI begins with is not known to be good: until an eighth of the nodes have collected.
    let mut c = Cluster::new(16, Policy::Adaptive(Mode::Independent), Options::default());
    c.round(3);
    assert_eq!(c.mode(5), Mode::Independent);
    c.round(4);
    assert_eq!(c.mode(5), Mode::Synchronised);
    // Two nodes with a D of 0.2: it may be so for half a collection of each.
    c.seen[1] = seen(400, 10, S / 10, 10, 0);
    c.seen[2] = c.seen[1];
    (0..2).for_each(|_| assert_eq!(c.round(3), [1; 16]));
    for _ in 0..8 {
        assert_eq!(c.mode(5), Mode::Independent);
        c.round(5);
    }
    assert_eq!(c.mode(5), Mode::Synchronised);
    // Clear ones hold for good.
    c.seen[1] = c.seen[3];
    c.seen[2] = c.seen[3];
    (0..2).for_each(|_| assert_eq!(c.round(3), [1; 16]));
    (0..200).for_each(|_| drop(c.round(5)));
    assert_eq!(c.mode(5), Mode::Independent);
}

#[test]
fn a_notice_counts_for_two_intervals() {
    let mut c = Cluster::new(16, Policy::Adaptive(Mode::Synchronised), Options::default());
    (0..2).for_each(|_| drop(c.round(3)));
    c.seen[7] = seen(400, 9, S * 6 / 10, 9, 0);
    c.seen[9] = c.seen[7];
    c.round(7);
    c.pass(2 * S);
    c.round(9);
    assert_eq!(c.mode(1), Mode::Independent);
    c.round(7);
    assert_eq!(c.mode(1), Mode::Synchronised);
}

#[test]
fn harmed_nodes_keep_collections_in_step() {
    let mut c = Cluster::new(16, Policy::Adaptive(Mode::Synchronised), Options::default());
    // p = 1/5: D = n / 50.
    c.seen[1] = seen(400, 16, S / 10, 16, 0);
    c.seen[2] = c.seen[1];
    (0..6).for_each(|_| drop(c.round(3)));
    assert_eq!(c.mode(0), Mode::Synchronised, "two of sixteen are an eighth");
    c.seen[2] = seen(400, 15, S / 10, 15, 0);
    (0..3).for_each(|_| drop(c.round(3)));
    assert_eq!(c.mode(0), Mode::Independent);
    // Most are idle anyway.
    let mut c = Cluster::new(16, Policy::Adaptive(Mode::Synchronised), Options::default());
    c.seen = vec![seen(400, 1, S * 6 / 10, 1, 0); 16];
    (0..6).for_each(|_| drop(c.round(3)));
    assert_eq!(c.mode(0), Mode::Synchronised);
}

#[test]
fn speculative_work_hides_idle_periods_from_the_paper_and_not_from_us() {
    let busy = seen(400, 0, 0, 200, S * 7 / 10);
    let after = |policy| {
        let mut c = Cluster::new(8, policy, Options::default());
        c.seen = vec![busy; 8];
        (0..20).for_each(|_| drop(c.round(3)));
        c.mode(0)
    };
    assert_eq!(after(Policy::Adaptive(Mode::Synchronised)), Mode::Independent);
    assert_eq!(after(Policy::Measured), Mode::Synchronised);
}

#[test]
fn a_trial_that_costs_ends() {
    let mut c = Cluster::new(8, Policy::Measured, Options::default());
    (0..3).for_each(|_| drop(c.round(3)));
    assert_eq!(c.mode(0), Mode::Independent);
    // Now it has to wait: a prefetching program.
    c.seen[4] = seen(400, 30, S * 3 / 10, 30, 0);
    c.round(4);
    assert_eq!(c.mode(0), Mode::Synchronised);
    c.seen[4] = seen(400, 0, 0, 0, 0);
    (0..11).for_each(|_| drop(c.round(3)));
    assert_eq!(c.mode(0), Mode::Synchronised);
    c.round(3);
    assert_eq!(c.mode(0), Mode::Independent);
}

#[test]
fn who_is_not_half_way_lets_an_order_pass() {
    let mut c = Cluster::new(4, Policy::Forecast, Options::default());
    c.seen[1].heap.allocated = 149;
    c.seen[2].heap.allocated = 150;
    assert_eq!(c.round(3), [1, 0, 1, 1]);
}

#[test]
fn one_after_another() {
    let mut c = Cluster::new(4, Policy::Staggered, Options::default());
    c.pass(S);
    c.overflow(2);
    assert_eq!(c.collects, [0, 0, 1, 1]);
    c.overflow(1);
    c.seen[2].heap.allocated = 10;
    // The third has ended meanwhile, and it was the first one's turn.
    assert_eq!(c.collects, [1, 1, 2, 1]);
}

#[test]
fn the_largest_heap_is_published() {
    let mut c = Cluster::new(3, Policy::Independent, Options::default());
    c.seen[2].heap.allocated = 1;
    let Decision::Grow(to) = c.nodes[2].overflow(c.now, &c.members, &c.seen[2]) else { panic!() };
    c.flow();
    c.pass(S);
    assert!(to > 900 && c.nodes.iter().all(|n| n.largest() == to));
    // Nobody is made to grow without bound by what another says.
    c.nodes[1].message(
        c.now,
        &c.members,
        NodeId(0),
        Message::Force { life: 9, number: 9, modes: [Mode::Independent; 2], largest: u64::MAX },
        &c.seen[1],
    );
    let free = Observed { heap: Heap { limit: 0, ..c.seen[1].heap }, ..c.seen[1] };
    assert_eq!(c.nodes[1].overflow(c.now, &c.members, &free), Decision::Grow(900 * 64));
    assert_eq!(c.nodes[1].overflow(c.now, &c.members, &Observed { heap: Heap { limit: 1000, ..free.heap }, ..free }), Decision::Grow(1000));
}

#[test]
fn requests_fall_together_with_what_is_due() {
    let mut c = Cluster::new(3, Policy::Synchronised, Options::default());
    c.pass(S);
    for i in 0..3 {
        assert_eq!(c.nodes[i].request(c.now, &c.members, Request::Round, &c.seen[i]), Decision::Nothing);
    }
    c.flow();
    assert_eq!(c.collects, [0; 3]);
    // An order meanwhile serves all three.
    c.overflow(1);
    c.pass(3 * S);
    assert_eq!(c.collects, [1; 3]);
    // Nothing meanwhile: the first to lose patience orders all.
    c.nodes[2].request(c.now, &c.members, Request::Watch, &c.seen[2]);
    assert!(c.nodes[2].next() <= c.now + S);
    c.pass(S);
    assert_eq!(c.collects, [2; 3]);
    // What the program asks for is its own and at once.
    c.nodes.iter_mut().for_each(|n| n.collected(c.now, &c.members, Kind::Full, 900));
    assert_eq!(c.nodes[0].request(c.now, &c.members, Request::Start, &c.seen[0]), Decision::Collect);
    c.flow();
    assert_eq!(c.collects, [2; 3]);
}

#[test]
fn orders_that_flood_take_half_of_a_node_at_most() {
    let mut c = Cluster::new(2, Policy::Synchronised, Options::default());
    c.pass(S);
    let order = Message::Order(Kind::Full);
    c.nodes[1].message(c.now, &c.members, NodeId(0), order, &c.seen[1]);
    c.nodes[1].message(c.now, &c.members, NodeId(0), order, &c.seen[1]);
    c.flow();
    assert_eq!(c.collects[1], 1);
    c.now += 250 * MS;
    c.nodes[1].collected(c.now, &c.members, Kind::Full, 900);
    c.seen[1].kinds[1].length = 249 * MS;
    c.nodes[1].message(c.now + 249 * MS, &c.members, NodeId(0), order, &c.seen[1]);
    c.flow();
    assert_eq!(c.collects[1], 1);
    // Strangers order nothing.
    c.seen[1].kinds[1].length = S;
    c.nodes[1].message(c.now + S, &c.members, NodeId(7), order, &c.seen[1]);
    c.flow();
    assert_eq!(c.collects[1], 1);
    c.nodes[1].message(c.now + S, &c.members, NodeId(0), order, &c.seen[1]);
    c.flow();
    assert_eq!(c.collects[1], 2);
}

#[test]
fn requests_go_elsewhere() {
    let mut c = Cluster::new(3, Policy::Independent, Options { hints: true, ..Options::default() });
    let of = [NodeId(1), NodeId(2)];
    assert_eq!(c.nodes[0].prefer(c.now, &of), Some(NodeId(1)));
    // 280 of 300 are allocated in a second: 71 ms are left.
    c.seen[1].heap.allocated = 280;
    c.nodes[1].look(c.now, &c.members, &c.seen[1]);
    c.flow();
    assert!(!c.nodes[0].avoid(c.now + 70 * MS, NodeId(1)) && c.nodes[0].avoid(c.now + 72 * MS, NodeId(1)));
    assert_eq!(c.nodes[0].prefer(c.now + 72 * MS, &of), Some(NodeId(2)));
    assert_eq!(c.nodes[0].prefer(c.now + 72 * MS, &of[..1]), Some(NodeId(1)));
    assert!(!c.nodes[0].avoid(c.now + 330 * MS, NodeId(1)));
    assert_eq!(c.nodes[0].prefer(c.now, &[]), None);
}

#[test]
fn nobody_hears_the_coordinator() {
    let mut c = Cluster::new(3, Policy::Adaptive(Mode::Synchronised), Options::default());
    c.pass(S);
    assert_eq!((c.mode(1), c.nodes[1].next()), (Mode::Synchronised, c.now + 3500 * MS + 1));
    // It is silent for longer than the lease.
    c.now += 3600 * MS;
    let seen = c.seen[1];
    c.nodes[1].tick(c.now, &c.members, &seen);
    assert_eq!((c.mode(1), c.nodes[1].poll()), (Mode::Independent, Some(Action::InForce(Kind::Young, Mode::Independent))));
    // The members see that it is gone: the next one speaks.
    c.members.remove(NodeId(0));
    c.nodes[1].tick(c.now, &c.members, &seen);
    assert_eq!(c.mode(1), Mode::Synchronised);
    assert_eq!(c.mode(2), Mode::Independent);
    c.flow();
    assert_eq!(c.mode(2), Mode::Synchronised);
}

/// Whatever anybody says, nothing panics, and what is remembered is bounded.
#[test]
fn messages_of_all_kinds() {
    let mut chance = kumi_chance::Chance::new(3);
    for policy in Policy::all() {
        let mut c = Cluster::new(3, policy, Options { hints: true, ..Options::default() });
        for _ in 0..20_000 {
            let bits = chance.below(64);
            c.now = c.now.saturating_add(chance.below(1 << bits));
            let len = chance.below(16);
            let letter = chance.pick(b"ORNHFTA");
            let bytes: Vec<u8> = [VERSION, letter]
                .into_iter()
                .chain((0..len).map(|_| chance.next() as u8 & [1, 0x7F, 0xFF][chance.below(3) as usize]))
                .collect();
            let (to, from) = (chance.below(3) as usize, NodeId(chance.below(4)));
            if let Ok(m) = Message::decode(&bytes) {
                let seen = c.seen[to];
                c.nodes[to].message(c.now, &c.members, from, m, &seen);
            }
            while c.nodes[to].poll().is_some() {}
            let _ = (c.nodes[to].next(), c.nodes[to].avoid(c.now, from), c.mode(to));
            if chance.percent(10) {
                c.nodes[to].tick(c.now, &c.members, &c.seen[to]);
                assert!(c.nodes[to].next() > c.now || c.now > Time::MAX / 2);
                c.nodes[to].collected(c.now, &c.members, Kind::Full, chance.next());
            }
        }
    }
}

#[test]
fn marking_in_slices_is_begun_together() {
    let mut c = Cluster::new(3, Policy::Interruptible, Options::default());
    c.pass(S);
    c.seen[0].heap.allocated = 301;
    c.seen[1].heap.allocated = 200;
    c.seen[2].heap.allocated = 100;
    c.nodes[0].look(c.now, &c.members, &c.seen[0]);
    assert_eq!([c.nodes[0].poll(), c.nodes[0].poll()], [Some(Action::All(Message::Slices)), Some(Action::Mark(Kind::Full))]);
    for i in [1, 2] {
        c.nodes[i].message(c.now, &c.members, NodeId(0), Message::Order(Kind::Full), &c.seen[i]);
        assert_eq!(c.nodes[i].poll(), [None, Some(Action::Mark(Kind::Full)), None][i]);
        c.nodes[i].message(c.now, &c.members, NodeId(0), Message::Order(Kind::Full), &c.seen[i]);
        assert_eq!(c.nodes[i].poll(), None);
    }
    // A quarter more room while it marks, which is not told as its size; then it stops.
    let mut seen = c.seen[0];
    let mut grown = 0;
    while let Decision::Grow(to) = c.nodes[0].overflow(c.now, &c.members, &seen) {
        assert_eq!(c.nodes[0].poll(), None);
        (seen.heap.size, grown) = (to, grown + 1);
    }
    assert!(grown > 2 && seen.heap.size <= 1125 && c.nodes[0].busy());
    assert_eq!(c.nodes[0].poll(), Some(Action::All(Message::Order(Kind::Full))));
}
