//! Objects that move while a collection across nodes goes on.

use kumi_remote::{Action, Arrived, Error, Import, Item, Life, NodeId, Options, Parcel, Ref, Remote, Want};
use std::collections::BTreeSet;

const MS: u64 = 1_000_000;

/// Two nodes, their programs' proxies, and packets, of which some are held back.
struct Two {
    nodes: [Remote; 2],
    /// Imports that each one's program reaches.
    reached: [BTreeSet<Import>; 2],
    held: Vec<(usize, Vec<u8>)>,
    hold: bool,
    /// The first one's collection is late.
    busy: bool,
    now: u64,
    swept: usize,
}

impl Two {
    fn new() -> Two {
        let life = |n| Life { node: NodeId(n), incarnation: 1 };
        let o = Options { round_every: 0, ..Options::default() };
        let mut nodes = [0, 1].map(|n| Remote::new(life(n), o.clone(), [n + 1, 77]));
        nodes[0].up(0, life(1)).unwrap();
        nodes[1].up(0, life(0)).unwrap();
        let mut two = Two { nodes, reached: Default::default(), held: Vec::new(), hold: false, busy: false, now: 0, swept: 0 };
        two.pass(1000);
        two
    }
    fn pass(&mut self, ms: u64) {
        for _ in 0..ms {
            self.now += MS;
            for i in 0..2 {
                self.nodes[i].tick(self.now);
                self.collect(i);
                while let Some(action) = self.nodes[i].poll() {
                    match action {
                        Action::Send { bytes, .. } if self.hold => self.held.push((i, bytes)),
                        Action::Send { bytes, .. } => self.packet(i, &bytes),
                        Action::Swept { .. } => self.swept += 1,
                        Action::Met(_) => {}
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
    }
    fn packet(&mut self, from: usize, bytes: &[u8]) {
        self.nodes[1 - from].packet(self.now, NodeId(from as u64), bytes).unwrap();
    }
    /// What a round asks for: objects here have no fields.
    fn collect(&mut self, i: usize) {
        match self.nodes[i].want() {
            Want::Nothing => {}
            _ if self.busy && i == 0 => {}
            Want::Trace => {
                self.nodes[i].grey();
                self.nodes[i].traced(self.now, []);
            }
            Want::Collect => {
                let marking = self.nodes[i].marking();
                self.nodes[i].collected(self.now, &marking, self.reached[i].clone());
            }
        }
    }
    fn send(&mut self, from: usize, item: Item) -> (Parcel, Vec<Ref>) {
        self.nodes[from].send(self.now, NodeId(1 - from as u64), &[item]).unwrap()
    }
    fn arrive(&mut self, at: usize, (parcel, refs): &(Parcel, Vec<Ref>)) -> (Import, u32) {
        match self.nodes[at].arrive(self.now, NodeId(1 - at as u64), *parcel, refs).unwrap()[0] {
            Arrived::Import { import, version } => (import, version),
            other => panic!("{other:?}"),
        }
    }
    fn round(&mut self) {
        self.swept = 0;
        self.nodes[0].want_round(self.now);
        self.pass(2000);
        assert_eq!(self.swept, 2, "no round has ended");
    }
}

/// Object 9 of the second node, for which a message is on its way, becomes object 7 of the first.
#[test]
fn what_became_of_an_object_on_its_way_stays() {
    let mut two = Two::new();
    let seven = two.send(0, Item::Own(7));
    let (import, version) = two.arrive(1, &seven);
    two.pass(50);
    let nine = two.send(1, Item::Own(9));
    two.nodes[1].moved(two.now, 9, import).unwrap();
    two.nodes[1].dropped(two.now, import, version);
    two.round();
    assert_eq!(two.nodes[0].resolve(&seven.1[0]), Ok(7));
    // The old reference says where it is.
    let (old, _) = two.arrive(0, &nine);
    let named = two.nodes[0].target(old).unwrap();
    assert_eq!(two.nodes[1].resolve(&named), Err(Error::Moved));
    assert_eq!(two.nodes[1].moved_to(&named), Some(import));
}

/// The second node's object 9 has become 7 of the first, which hands it the old reference while the mark is on its way.
#[test]
fn what_comes_home_and_has_moved_is_marked_where_it_is() {
    let mut two = Two::new();
    let seven = two.send(0, Item::Own(7));
    let (import, version) = two.arrive(1, &seven);
    let nine = two.send(1, Item::Own(9));
    let (old, old_version) = two.arrive(0, &nine);
    two.pass(50);
    two.nodes[1].moved(two.now, 9, import).unwrap();
    two.nodes[1].dropped(two.now, import, version);
    // Both take part in a round, whose marks are not there yet.
    two.busy = true;
    two.nodes[0].want_round(two.now);
    while two.nodes[1].round().is_none() {
        two.pass(1);
    }
    two.hold = true;
    let again = two.send(0, Item::Import(old));
    two.nodes[0].dropped(two.now, old, old_version);
    two.busy = false;
    two.pass(20);
    let (new, _) = two.arrive(1, &again);
    assert_eq!(new, import);
    two.reached[1].insert(new);
    two.hold = false;
    for (from, bytes) in std::mem::take(&mut two.held) {
        two.packet(from, &bytes);
    }
    two.pass(2000);
    assert_eq!(two.swept, 2, "no round has ended");
    assert_eq!(two.nodes[0].resolve(&seven.1[0]), Ok(7));
}

/// A call may be looked at long after it came: what it names is there until then, though its caller knows better meanwhile.
#[test]
fn what_a_call_names_is_given_back_after_its_end() {
    let mut two = Two::new();
    let (old, new) = (two.send(0, Item::Own(1)), two.send(0, Item::Own(2)));
    let (named, to) = (two.arrive(1, &old).0, two.arrive(1, &new).0);
    two.pass(1000);
    let now = two.now;
    let call = two.nodes[1].used(named);
    assert_eq!(call, named);
    two.nodes[1].redirect(now, named, to);
    two.pass(1000);
    assert_eq!(two.nodes[0].resolve(&old.1[0]), Ok(1));
    // One that begins now goes to the new place, and that one is held as it was.
    let next = two.nodes[1].used(named);
    assert_eq!(next, to);
    assert!(!two.nodes[1].unused(now, next));
    assert!(two.nodes[1].unused(now, call));
    two.pass(1000);
    assert_eq!((two.nodes[0].resolve(&old.1[0]), two.nodes[0].resolve(&new.1[0])), (Err(Error::Collected), Ok(2)));
}
