//! Collections across nodes, step by step: what chance seldom brings about. Each scenario is played as it should go, and with the fault
//! that it is there for.

use kumi_remote::{Action, Arrived, Bug, Import, Item, Life, NodeId, Options, Ref, Remote, Want};
use std::collections::{BTreeMap, BTreeSet};

const MS: u64 = 1_000_000;

#[derive(Default)]
struct Host {
    /// Imports that the program reaches, and that objects hold, by handle.
    roots: BTreeSet<Import>,
    fields: BTreeMap<u64, BTreeSet<Import>>,
    /// It does nothing for a round.
    late: bool,
    collections: u32,
}

struct Cluster {
    nodes: Vec<Remote>,
    hosts: Vec<Host>,
    /// Links on which packets wait, and those.
    shut: BTreeSet<(usize, usize)>,
    waiting: Vec<(usize, usize, Vec<u8>)>,
    now: u64,
    swept: usize,
}

impl Cluster {
    /// So many nodes, of which these pairs know each other.
    fn new(n: usize, pairs: &[(usize, usize)]) -> Cluster {
        let life = |n| Life { node: NodeId(n as u64), incarnation: 1 };
        let o = Options { round_every: 1 << 60, ..Options::default() };
        let mut nodes: Vec<Remote> = (0..n).map(|i| Remote::new(life(i), o.clone(), [i as u64 + 1, 77])).collect();
        for (a, b) in pairs {
            nodes[*a].up(0, life(*b)).unwrap();
            nodes[*b].up(0, life(*a)).unwrap();
        }
        let hosts = (0..n).map(|_| Host::default()).collect();
        let mut all = Cluster { nodes, hosts, shut: BTreeSet::new(), waiting: Vec::new(), now: 0, swept: 0 };
        all.pass(1000);
        all
    }
    fn pass(&mut self, ms: u64) {
        for _ in 0..ms {
            self.now += MS;
            let (wait, go) = std::mem::take(&mut self.waiting).into_iter().partition(|w| self.shut.contains(&(w.0, w.1)));
            self.waiting = wait;
            for (from, to, bytes) in go {
                self.nodes[to].packet(self.now, NodeId(from as u64), &bytes).unwrap();
            }
            for i in 0..self.nodes.len() {
                self.nodes[i].tick(self.now);
                self.serve(i);
                while let Some(action) = self.nodes[i].poll() {
                    match action {
                        Action::Send { to, bytes } => self.waiting.push((i, to.0 as usize, bytes)),
                        Action::Swept { .. } => self.swept += 1,
                        Action::Met(_) => {}
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
    }
    fn held(&self, i: usize, handles: &[u64]) -> BTreeSet<Import> {
        handles.iter().filter_map(|h| self.hosts[i].fields.get(h)).flatten().copied().collect()
    }
    fn serve(&mut self, i: usize) {
        if self.hosts[i].late {
            return;
        }
        match self.nodes[i].want() {
            Want::Nothing => {}
            Want::Trace => {
                let grey = self.nodes[i].grey();
                let reached = self.held(i, &grey);
                self.nodes[i].traced(self.now, reached);
            }
            Want::Collect => {
                let marking = self.nodes[i].marking();
                let mut reached = self.held(i, &marking.first);
                reached.extend(&self.hosts[i].roots);
                self.hosts[i].collections += 1;
                self.nodes[i].collected(self.now, &marking, reached);
            }
        }
    }
    /// One node's object comes to another, which knows it by this import.
    fn hand(&mut self, from: usize, handle: u64, to: usize) -> (Import, Ref) {
        let (parcel, refs) = self.nodes[from].send(self.now, NodeId(to as u64), &[Item::Own(handle)]).unwrap();
        let arrived = self.nodes[to].arrive(self.now, NodeId(from as u64), parcel, &refs).unwrap();
        let Arrived::Import { import, .. } = arrived[0] else { panic!("{arrived:?}") };
        self.pass(30);
        (import, refs[0])
    }
    fn begin(&mut self) {
        self.nodes[0].want_round(self.now);
    }
    fn until(&mut self, what: impl Fn(&Cluster) -> bool) {
        for _ in 0..5000 {
            if what(self) {
                return;
            }
            self.pass(1);
        }
        panic!("it never comes to that");
    }
    /// Is the object there, when all is said?
    fn keeps(mut self, i: usize, r: Ref) -> bool {
        self.shut.clear();
        self.pass(3000);
        self.nodes[i].resolve(&r).is_ok()
    }
}

/// Object 1 of the first node and 2 of the second hold each other. A call of 1 is on its way while a round finds both to be garbage;
/// it has 2 stored where the program reaches it.
fn a_call_comes_late() -> bool {
    let mut all = Cluster::new(2, &[(0, 1)]);
    let (at_second, one) = all.hand(0, 1, 1);
    let (at_first, two) = all.hand(1, 2, 0);
    all.hosts[1].fields.insert(2, [at_second].into());
    all.hosts[0].fields.insert(1, [at_first].into());
    all.begin();
    all.until(|c| c.hosts.iter().all(|h| h.collections > 0));
    assert_eq!((all.swept, all.nodes[0].resolve(&one)), (0, Ok(1)));
    all.hosts[0].roots.insert(at_first);
    all.keeps(1, two)
}

/// The third node's program holds 1 of the second, which holds 2 of the first and 3 of the third. Marks go round behind the questions of
/// one wave, so that sums are in balance while the last mark is on its way.
fn marks_go_round_behind_a_wave() -> bool {
    let mut all = Cluster::new(3, &[(0, 1), (0, 2), (1, 2)]);
    let (one, _) = all.hand(1, 1, 2);
    let (two, _) = all.hand(0, 2, 1);
    let (three, last) = all.hand(2, 3, 1);
    all.hosts[2].roots.insert(one);
    all.hosts[1].fields.insert(1, [two, three].into());
    all.hosts[0].late = true;
    all.shut.insert((2, 1));
    all.begin();
    // The second and the third have collected and answered the first wave.
    all.until(|c| c.hosts[1].collections > 0 && c.hosts[2].collections > 0);
    all.pass(60);
    all.shut = [(1, 2)].into();
    all.pass(60);
    all.hosts[0].late = false;
    all.pass(25);
    all.keeps(2, last)
}

/// The third node holds 1 of the second. The first, which leads, knows nothing of the third.
fn somebody_takes_no_part() -> bool {
    let mut all = Cluster::new(3, &[(0, 1), (1, 2)]);
    let (one, r) = all.hand(1, 1, 2);
    all.hosts[2].roots.insert(one);
    all.begin();
    all.keeps(1, r)
}

/// The first node's program holds 1 of the second, which holds 2 of the first. While the second collects a mark of 1 comes; then its
/// program moves 2 from there to where it has been already.
fn a_mark_comes_while_a_node_collects() -> bool {
    let mut all = Cluster::new(2, &[(0, 1)]);
    let (one, called) = all.hand(1, 1, 0);
    let (two, r) = all.hand(0, 2, 1);
    all.hosts[0].roots.insert(one);
    all.hosts[1].fields.insert(1, [two].into());
    (all.hosts[0].late, all.hosts[1].late) = (true, true);
    all.begin();
    all.until(|c| c.nodes[1].round().is_some());
    let marking = all.nodes[1].marking();
    assert!(marking.first.is_empty(), "the mark has come before");
    all.hosts[0].late = false;
    all.pass(30);
    all.nodes[1].collected(all.now, &marking, []);
    assert_eq!(all.nodes[1].resolve(&called), Ok(1));
    all.hosts[1].fields.clear();
    all.hosts[1].roots.insert(two);
    all.hosts[1].late = false;
    all.keeps(0, r)
}

fn play(scenario: fn() -> bool, bug: Bug) {
    assert!(scenario(), "what is reachable is dropped");
    if cfg!(debug_assertions) {
        kumi_remote::plant(Some(bug));
        let kept = scenario();
        kumi_remote::plant(None);
        assert!(!kept, "{bug:?} is not found");
    }
}

#[test]
fn what_is_called_is_marked() {
    play(a_call_comes_late, Bug::CalledUnmarked);
}
#[test]
fn one_wave_in_balance_is_not_enough() {
    play(marks_go_round_behind_a_wave, Bug::OneWave);
}
#[test]
fn a_node_that_is_known_to_some_voids_a_round() {
    play(somebody_takes_no_part, Bug::StrangersIgnored);
}
#[test]
fn a_collection_knows_nothing_of_marks_that_come_meanwhile() {
    play(a_mark_comes_while_a_node_collects, Bug::VersionIgnored);
}
