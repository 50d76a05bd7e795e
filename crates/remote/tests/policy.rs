//! When a round begins: what the nodes' full collections find decides.

use kumi_remote::{Action, Arrived, Cause, Import, Item, Life, NodeId, Options, Remote, Want};

const MS: u64 = 1_000_000;
const EVERY: u64 = 100 * MS;

/// Two nodes, and a network that loses nothing.
struct Pair {
    nodes: [Remote; 2],
    /// Imports that programs reach, and that exports hold.
    roots: [Vec<Import>; 2],
    held: [Vec<(u64, Import)>; 2],
    waiting: Vec<(usize, Vec<u8>)>,
    now: u64,
    swept: Vec<(usize, usize)>,
    /// Why the round that was seen last was begun, as each node has it.
    causes: [Option<Cause>; 2],
}

impl Pair {
    fn new() -> Pair {
        let life = |n| Life { node: NodeId(n), incarnation: 1 };
        let o = Options { round_every: EVERY, incremental: false, ..Options::default() };
        let mut nodes = [0, 1].map(|n| Remote::new(life(n), o.clone(), [n + 1, 7]));
        nodes[0].up(0, life(1)).unwrap();
        nodes[1].up(0, life(0)).unwrap();
        let (roots, held) = Default::default();
        let mut pair = Pair { nodes, roots, held, waiting: Vec::new(), now: 0, swept: Vec::new(), causes: [None; 2] };
        pair.pass(1000);
        pair
    }
    fn pass(&mut self, ms: u64) {
        for _ in 0..ms {
            self.now += MS;
            for (to, bytes) in std::mem::take(&mut self.waiting) {
                self.nodes[to].packet(self.now, NodeId(1 - to as u64), &bytes).unwrap();
            }
            for i in 0..2 {
                self.nodes[i].tick(self.now);
                if self.nodes[i].round().is_some() {
                    assert_eq!(self.nodes[i].round_of().0, 2);
                    self.causes[i] = Some(self.nodes[i].round_of().1);
                }
                if self.nodes[i].want() == Want::Collect {
                    self.collect(i);
                }
                while let Some(action) = self.nodes[i].poll() {
                    match action {
                        Action::Send { to, bytes } => self.waiting.push((to.0 as usize, bytes)),
                        Action::Swept { dropped, .. } => self.swept.push((i, dropped)),
                        Action::Met(_) => {}
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
    }
    fn collect(&mut self, i: usize) {
        let marking = self.nodes[i].marking();
        let of = |all: &[u64]| self.held[i].iter().filter(|(h, _)| all.contains(h)).map(|(_, import)| *import).collect::<Vec<_>>();
        let (first, rest) = (of(&marking.first), of(&marking.rest));
        self.nodes[i].collected(self.now, &marking, first.into_iter().chain(self.roots[i].iter().copied()));
        if self.nodes[i].round().is_none() {
            self.nodes[i].suspect(self.now, rest.len());
        }
    }
    fn hand(&mut self, from: usize, handle: u64) -> Import {
        let (parcel, refs) = self.nodes[from].send(self.now, NodeId(1 - from as u64), &[Item::Own(handle)]).unwrap();
        let arrived = self.nodes[1 - from].arrive(self.now, NodeId(from as u64), parcel, &refs).unwrap();
        let Arrived::Import { import, .. } = arrived[0] else { panic!("{arrived:?}") };
        self.pass(20);
        import
    }
    fn rounds(&self) -> u64 {
        assert_eq!(self.nodes[0].stats().rounds, self.nodes[1].stats().rounds);
        self.nodes[0].stats().rounds
    }
}

#[test]
fn a_round_begins_where_only_exports_reach_more_imports_than_before() {
    let mut p = Pair::new();
    p.pass(2000);
    assert_eq!(p.rounds(), 0, "nothing is exported");
    p.roots[1] = (0..8).map(|h| p.hand(0, h)).collect();
    p.collect(1);
    p.pass(2000);
    assert_eq!(p.rounds(), 0, "the program reaches all of them");
    // Each holds what the other has: four cycles. The first node leads.
    p.held[0] = (0..4).map(|h| (h, p.hand(1, h))).collect();
    p.held[1] = (0..4).map(|h| (h, p.roots[1].remove(0))).collect();
    p.collect(1);
    p.pass(300);
    assert_eq!((p.rounds(), p.causes), (1, [Some(Cause::Peer), Some(Cause::Unknown)]));
    assert_eq!(p.swept, [(0, 4), (1, 4)]);
    (p.held, p.swept) = Default::default();
    p.held[1] = vec![(10, p.roots[1].remove(0))];
    p.held[0] = vec![(4, p.hand(1, 10))];
    p.collect(0);
    p.pass(300);
    assert_eq!((p.rounds(), p.causes[0]), (2, Some(Cause::Imports)));
    assert_eq!(p.swept, [(0, 1), (1, 1)]);
}

#[test]
fn what_rounds_find_to_live_is_looked_at_again_in_a_while_or_when_it_grows() {
    let mut p = Pair::new();
    // The program of the first node reaches one object of the second, and that holds eight of the first.
    p.roots[0] = vec![p.hand(1, 1)];
    p.held[1] = (0..8).map(|h| (1, p.hand(0, h))).collect();
    p.collect(1);
    p.pass(300);
    assert_eq!(p.rounds(), 1);
    for _ in 0..4 {
        p.collect(1);
        p.pass(100);
    }
    assert_eq!(p.rounds(), 1, "as many as before");
    p.pass(500);
    assert_eq!(p.rounds(), 2, "after eight times the shortest time");
    let more = |p: &mut Pair, n: u64| {
        let from = p.held[1].len() as u64;
        (from..from + n).for_each(|h| {
            let import = p.hand(0, h);
            p.held[1].push((1, import));
        });
        p.collect(1);
        p.pass(200);
    };
    more(&mut p, 2);
    assert_eq!(p.rounds(), 2, "a quarter more");
    more(&mut p, 1);
    assert_eq!(p.rounds(), 3);
    assert_eq!((p.nodes[0].stats().swept, p.nodes[1].stats().swept), (0, 0));
    assert!(p.swept.iter().all(|s| s.1 == 0));
}
