//! A peer that says what it likes, in frames that are nearly right: no panic, memory within the quotas, nothing that another node holds is
//! freed, and no reference that was not given means anything.
//!
//! `KUMI_FRAMES=10000000 cargo test --release -p kumi-remote --test fuzz` makes ten million; `KUMI_SEED` names a run to look at.

mod mallory;

use kumi_chance::simulate::{number, seeds};
use kumi_chance::{Chance, held};
use kumi_remote::{Action, Arrived, Error, Import, Item, Life, NodeId, Options, Ref, Remote};
use mallory::Mallory;
use std::collections::{BTreeMap, BTreeSet};

#[global_allocator]
static ALLOCATOR: held::Counting = held::Counting;

const MS: u64 = 1_000_000;
/// Frames of one run.
const RUN: u64 = 20_000;
/// What both honest nodes and the lists here may take, with the quotas below.
const BYTES: usize = 3 << 20;

fn options() -> Options {
    Options { lease: 2000 * MS, exports: 100, imports: 100, parcels: 50, refs: 40, ..Options::default() }
}

/// What its host knows of an honest node.
struct Host {
    remote: Remote,
    proxies: Vec<(Import, u32)>,
}

impl Host {
    fn new(life: Life, secret: u64) -> Host {
        Host { remote: Remote::new(life, options(), [secret, 77]), proxies: Vec::new() }
    }
    fn keep(&mut self, arrived: &[Arrived]) {
        for a in arrived {
            if let Arrived::Import { import, version } = a {
                self.proxies.retain(|p| p.0 != *import);
                self.proxies.push((*import, *version));
            }
        }
    }
    fn drop_some(&mut self, now: u64, c: &mut Chance) {
        let all = std::mem::take(&mut self.proxies);
        for (import, version) in all {
            if c.percent(50) { self.remote.dropped(now, import, version) } else { self.proxies.push((import, version)) }
        }
    }
}

/// The victim, an honest peer of it, and one that is not.
struct World {
    c: Chance,
    now: u64,
    victim: Host,
    honest: Host,
    mallory: Mallory,
    /// What the honest peer holds of the victim.
    held: BTreeMap<u64, (Ref, Import, u32)>,
    /// Handles of the victim that were ever handed to Mallory.
    given: BTreeSet<u64>,
}

impl World {
    fn new(seed: u64) -> World {
        let mut c = Chance::new(seed);
        // Below or above all others: who leads rounds follows from that.
        let bad = Life { node: NodeId(c.pick(&[1, 9])), incarnation: 5 };
        let (a, b) = (Life { node: NodeId(4), incarnation: 7 }, Life { node: NodeId(6), incarnation: 3 });
        let (mut victim, mut honest) = (Host::new(a, c.next()), Host::new(b, c.next()));
        victim.remote.up(0, b).unwrap();
        victim.remote.up(0, bad).unwrap();
        honest.remote.up(0, a).unwrap();
        honest.remote.up(0, bad).unwrap();
        let mallory = Mallory::new(bad, a, b, c.fork());
        let mut w = World { c, now: 0, victim, honest, mallory, held: BTreeMap::new(), given: BTreeSet::new() };
        w.pass(1000);
        w
    }
    /// Both honest nodes say what they have to. Mallory hears it.
    fn carry(&mut self) {
        let (a, b, m) = (self.victim.remote.me().node, self.honest.remote.me().node, self.mallory.me.node);
        for _ in 0..4 {
            self.victim.remote.tick(self.now);
            self.honest.remote.tick(self.now);
            while let Some(action) = self.victim.remote.poll() {
                match action {
                    Action::Send { to, bytes } if to == b => self.honest.remote.packet(self.now, a, &bytes).unwrap(),
                    Action::Send { to, bytes } if to == m => self.mallory.hears(&bytes),
                    _ => {}
                }
            }
            while let Some(action) = self.honest.remote.poll() {
                match action {
                    Action::Send { to, bytes } if to == a => self.victim.remote.packet(self.now, b, &bytes).unwrap(),
                    _ => {}
                }
            }
        }
    }
    fn pass(&mut self, ms: u64) {
        for _ in 0..ms {
            self.now += MS;
            self.carry();
        }
    }
    /// The victim hands the honest peer an object, or takes one back.
    fn honest_work(&mut self) {
        let handle = self.c.below(40);
        if let Some((_, import, version)) = self.held.remove(&handle) {
            self.honest.remote.dropped(self.now, import, version);
            return;
        }
        let (a, b) = (self.victim.remote.me().node, self.honest.remote.me().node);
        let Ok((parcel, refs)) = self.victim.remote.send(self.now, b, &[Item::Own(handle)]) else { return };
        let Arrived::Import { import, version } = self.honest.remote.arrive(self.now, a, parcel, &refs).unwrap()[0] else { panic!() };
        self.held.insert(handle, (refs[0], import, version));
        // And what came from Mallory.
        if self.c.percent(20)
            && let Some((import, _)) = self.victim.proxies.first().copied()
            && let Ok((parcel, refs)) = self.victim.remote.send(self.now, b, &[Item::Import(import)])
            && let Ok(arrived) = self.honest.remote.arrive(self.now, a, parcel, &refs)
        {
            self.honest.keep(&arrived);
        }
    }
    /// The victim answers a call of Mallory's with some of its objects; few of them are the honest peer's as well.
    fn give(&mut self) {
        let items: Vec<Item> = (0..1 + self.c.below(4)).map(|_| Item::Own(30 + self.c.below(60))).collect();
        if let Ok((parcel, refs)) = self.victim.remote.send(self.now, self.mallory.me.node, &items) {
            for (item, r) in items.iter().zip(&refs) {
                let Item::Own(handle) = item else { continue };
                self.given.insert(*handle);
                self.mallory.knows.push(*r);
            }
            if self.c.percent(50) {
                self.victim.remote.done(self.now, self.mallory.me.node, parcel);
            }
        }
    }
    /// One thing that Mallory says.
    fn frame(&mut self) {
        let from = self.mallory.me.node;
        match self.c.below(10) {
            0 => {
                let r = self.mallory.reference();
                match self.victim.remote.resolve(&r) {
                    Ok(handle) => assert!(self.given.contains(&handle), "object {handle} by {r:?}"),
                    Err(Error::Forged | Error::Collected | Error::Unknown | Error::OtherIncarnation) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
            1 | 2 => {
                let Some((parcel, refs)) = self.mallory.parcel() else { return };
                if let Ok(arrived) = self.victim.remote.arrive(self.now, from, parcel, &refs) {
                    assert_eq!(arrived.len(), refs.len());
                    for a in &arrived {
                        if let Arrived::Home(handle) = a {
                            assert!(self.given.contains(handle), "object {handle}");
                        }
                    }
                    self.victim.keep(&arrived);
                }
            }
            _ => {
                let bytes = self.mallory.packet();
                let _ = self.victim.remote.packet(self.now, from, &bytes);
            }
        }
    }
    fn look(&mut self) {
        for (handle, (r, ..)) in &self.held {
            assert_eq!(self.victim.remote.resolve(r), Ok(*handle));
        }
        let bad = self.mallory.me;
        let exported: Vec<u64> = self.victim.remote.exports().map(|e| e.0).collect();
        for handle in exported {
            let holders = self.victim.remote.holders(handle);
            assert!(self.given.contains(&handle) || !holders.contains(&bad), "object {handle} was never given");
        }
        let s = self.victim.remote.stats();
        // Two peers, and objects of Mallory's and the honest peer's.
        assert!(s.exports <= 200 && s.imports <= 200 + self.victim.proxies.len() && s.parcels <= 100, "{s:?}");
        // Answers that nobody hears, and what follows from entries.
        assert!(s.waiting <= 2 * (100 + 4 * 50) + 2 * 300 + 1024, "{s:?}");
    }
    /// Mallory leaves, and all of it is gone.
    fn end(&mut self) {
        let bad = self.mallory.me;
        self.victim.remote.forget(self.now, bad.node);
        self.honest.remote.forget(self.now, bad.node);
        self.look();
        self.pass(500);
        for host in [&mut self.victim, &mut self.honest] {
            for (import, version) in std::mem::take(&mut host.proxies) {
                host.remote.dropped(self.now, import, version);
            }
        }
        self.pass(500);
        self.look();
        assert_eq!(self.victim.remote.exports().count(), self.held.len());
        for (_, (_, import, version)) in std::mem::take(&mut self.held) {
            self.honest.remote.dropped(self.now, import, version);
        }
        self.pass(500);
        let [a, b] = [&self.victim, &self.honest].map(|h| h.remote.stats());
        assert_eq!([a.exports, a.imports, a.parcels, a.waiting, b.exports, b.imports, b.parcels, b.waiting], [0; 8], "{a:?} {b:?}");
    }
    fn run(&mut self, frames: u64) {
        for i in 0..frames {
            self.frame();
            if self.c.percent(4) {
                self.give();
            }
            if self.c.percent(4) {
                self.honest_work();
            }
            if self.c.percent(2) {
                self.now += self.c.below(20) * MS;
            }
            if i % 16 == 0 {
                self.now += self.c.below(200_000);
                self.carry();
            }
            if i % 64 == 0 {
                self.look();
                let now = self.now;
                self.victim.drop_some(now, &mut self.c);
            }
        }
        self.end();
    }
}

#[test]
fn frames_that_are_nearly_right() {
    let frames = number("KUMI_FRAMES").unwrap_or(400_000);
    let seeds = seeds(frames.div_ceil(RUN));
    let (mut worst, mut nonsense, mut lost) = (0, 0, 0);
    for seed in seeds.clone() {
        let run = std::panic::catch_unwind(|| {
            held::peak(|| {
                let mut w = World::new(seed);
                w.run(RUN);
                w.victim.remote.stats()
            })
        });
        let Ok((stats, most)) = run else { panic!("KUMI_SEED={seed} shows it") };
        assert!(most < BYTES, "KUMI_SEED={seed}: {most} bytes");
        worst = worst.max(most);
        nonsense += stats.nonsense;
        lost += stats.lost;
    }
    println!("{} frames, {nonsense} operations that can't be, {lost} sessions lost, {worst} bytes at most", seeds.count() as u64 * RUN);
}
