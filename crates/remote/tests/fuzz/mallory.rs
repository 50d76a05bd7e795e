//! A peer that knows how to speak, and says what it likes.

use kumi_chance::Chance;
use kumi_remote::{Life, NodeId, Parcel, Ref};
use kumi_wire::{Decoder, Encoder};

/// The head of a packet, as crates/remote/src/message/codec.rs writes it.
#[derive(Clone, Copy, Default, Debug)]
struct Head {
    incarnation: u64,
    epoch: u64,
    to_incarnation: u64,
    to_epoch: u64,
    ask: bool,
    over: u64,
    number: u64,
    ack: u64,
    settled: u64,
    seq: u64,
}

pub struct Mallory {
    c: Chance,
    pub me: Life,
    victim: Life,
    honest: Life,
    /// References that it was given.
    pub knows: Vec<Ref>,
    head: Head,
    parcels: u64,
    round: u64,
    /// A packet that it said.
    before: Vec<u8>,
    /// How often heads are wrong, and how often it hears what comes, of a hundred.
    wrong: u64,
    hears: u64,
}

impl Mallory {
    pub fn new(me: Life, victim: Life, honest: Life, mut c: Chance) -> Mallory {
        let head = Head { incarnation: me.incarnation, epoch: 1, to_incarnation: victim.incarnation, ack: 1, seq: 1, ..Head::default() };
        let (wrong, hears) = (c.pick(&[0, 1, 5]), c.pick(&[0, 30, 90]));
        Mallory { c, me, victim, honest, knows: Vec::new(), head, parcels: 0, round: 0, before: Vec::new(), wrong, hears }
    }
    /// A packet of the victim's: which session it is in.
    pub fn hears(&mut self, bytes: &[u8]) {
        let mut d = Decoder::new(bytes);
        let (_, _) = (d.byte().unwrap(), d.number().unwrap());
        let (epoch, incarnation, mine) = (d.number().unwrap(), d.number().unwrap(), d.number().unwrap());
        let (_, over, _) = (d.flag().unwrap(), d.number().unwrap(), d.number().unwrap());
        let (ack, _, seq) = (d.number().unwrap(), d.number().unwrap(), d.number().unwrap());
        // Packets that are none, and operations that are not heard, leave a gap.
        self.head.seq = ack;
        // It is taken for another life, or its session is over: it begins one.
        if incarnation > self.head.incarnation {
            self.head.incarnation = incarnation;
        }
        if over >= self.head.epoch || mine > self.head.epoch {
            self.head.epoch = over.max(mine).max(self.head.epoch) + 1;
            (self.head.seq, self.head.number, self.parcels) = (1, 0, 0);
        }
        if epoch != self.head.to_epoch {
            (self.head.to_epoch, self.head.ack) = (epoch, 1);
            (self.head.seq, self.head.number, self.parcels) = (1, 0, 0);
        }
        if self.c.percent(self.hears) {
            self.head.ack = self.head.ack.max(seq + self.c.below(3));
        }
        if self.knows.len() > 500 {
            self.knows.drain(..250);
        }
    }
    fn small(&mut self) -> u64 {
        match self.c.below(8) {
            0 => self.c.next(),
            1 => u64::MAX - self.c.below(3),
            2 => u64::from(u32::MAX) - self.c.below(3),
            3 => 1 << self.c.below(64),
            _ => self.c.below(200),
        }
    }
    fn life(&mut self) -> Life {
        let life = self.c.pick(&[self.me, self.victim, self.victim, self.honest]);
        match self.c.below(12) {
            0 => Life { incarnation: self.small(), ..life },
            1 => Life { node: NodeId(self.small()), ..life },
            _ => life,
        }
    }
    /// One that it was given, one that differs from it in something, or one of its own.
    pub fn reference(&mut self) -> Ref {
        let known = (!self.knows.is_empty()).then(|| self.c.pick(&self.knows));
        let made = Ref { life: self.life(), slot: self.c.below(60) as u32, generation: self.c.below(4) as u32, seal: self.c.next() };
        let Some(r) = known else { return made };
        match self.c.below(9) {
            0 => Ref { seal: r.seal ^ 1 << self.c.below(64), ..r },
            1 => Ref { slot: self.c.below(60) as u32, ..r },
            2 => Ref { generation: r.generation.wrapping_add(self.c.pick(&[1, u32::MAX])), ..r },
            3 => Ref { life: self.life(), ..r },
            4 => made,
            5 => Ref { life: self.me, ..made },
            _ => r,
        }
    }
    /// References in a message of its host's.
    pub fn parcel(&mut self) -> Option<(Parcel, Vec<Ref>)> {
        let mut h = self.head;
        if self.c.percent(2 * self.wrong) {
            h = self.wrong(h);
        }
        let number = if self.c.percent(85) { self.parcels } else { self.small() >> 2 };
        self.parcels += u64::from(number == self.parcels);
        let settled = if self.c.percent(90) { number.min(10) } else { self.c.below(number.saturating_add(1)) };
        let mut bytes = Vec::new();
        let mut e = Encoder::new(&mut bytes);
        e.number(h.incarnation).number(h.to_incarnation).number(h.epoch).number(h.to_epoch).number(number).number(settled);
        let round = self.c.pick(&[0, self.round, u64::MAX]);
        e.number(round);
        if round > 0 {
            e.fixed(self.life().node.0);
        }
        let n = if self.c.percent(5) { self.c.below(60) } else { 1 + self.c.below(5) };
        let one = self.reference();
        let same = self.c.percent(20);
        let refs = (0..n).map(|_| if same { one } else { self.reference() }).collect();
        Some((Parcel::read(&mut Decoder::new(&bytes)).ok()?, refs))
    }
    fn wrong(&mut self, mut h: Head) -> Head {
        match self.c.below(10) {
            0 => h.incarnation = self.c.pick(&[h.incarnation + 1, h.incarnation - 1, 0]),
            1 => h.epoch = h.epoch.wrapping_add(self.c.pick(&[1, u64::MAX, 1 << 40])),
            2 => h.to_incarnation = self.small(),
            3 => h.to_epoch = self.small(),
            4 => h.over = self.c.pick(&[h.to_epoch, h.to_epoch + 1, 1 << 62]),
            5 => h.number = self.small(),
            6 => h.ack = self.small(),
            7 => h.settled = self.small(),
            8 => h.seq = self.c.pick(&[h.seq.saturating_sub(3).max(1), h.seq + 1, 1 << 61]),
            _ => h.ask = true,
        }
        h
    }
    fn op(&mut self, e: &mut Encoder, kind: u8) {
        match kind {
            1 => {
                let r = self.reference();
                e.number(r.slot.into()).number(r.generation.into()).fixed(r.seal);
            }
            3 | 15 => drop(e.byte(self.c.below(9) as u8)),
            4 | 8 => {
                let r = self.reference();
                e.number(r.slot.into()).number(r.generation.into());
            }
            5..=7 => {
                let n = self.small();
                e.number(n);
            }
            9 => {
                let n = self.c.below(5);
                e.number(n);
                for _ in 0..n {
                    let l = self.life();
                    e.fixed(l.node.0).number(l.incarnation);
                }
            }
            10 => drop(e.number(self.c.below(4))),
            11 => {
                e.number(self.c.below(4)).byte(self.c.below(4) as u8);
                for _ in 0..3 {
                    e.number(self.c.below(3));
                }
            }
            _ => {}
        }
    }
    /// A packet that is right but for what it says, and now and then for a field or a byte.
    pub fn packet(&mut self) -> Vec<u8> {
        if self.c.percent(self.wrong) && !self.before.is_empty() {
            return self.damaged();
        }
        let mut h = self.head;
        if self.c.percent(self.wrong) {
            h = self.wrong(h);
        }
        let mut bytes = Vec::new();
        let mut e = Encoder::new(&mut bytes);
        e.byte(kumi_remote::VERSION).number(h.incarnation).number(h.epoch).number(h.to_incarnation).number(h.to_epoch).flag(h.ask);
        e.number(h.over).number(h.number).number(h.ack).number(h.settled).number(h.seq);
        let mut said = 0;
        for _ in 0..self.c.below(4) {
            let kind = if self.c.percent(60) { self.c.pick(&[1, 4, 7, 8]) } else { self.c.between(0, 16) as u8 };
            let n = if self.c.percent(3) { self.c.below(300) } else { 1 + self.c.below(4) };
            e.byte(kind).number(n);
            if (8..=13).contains(&kind) {
                self.round += u64::from(self.c.percent(10));
                let number = if self.c.percent(95) { self.round + self.c.below(2) } else { self.small() };
                let leader = if self.c.percent(80) { self.me } else { self.life() };
                e.number(number).fixed(leader.node.0);
            }
            (0..n).for_each(|_| self.op(&mut e, kind));
            said += n;
        }
        self.head.seq += said;
        self.head.number += 1;
        self.before = bytes.clone();
        if self.c.percent(self.wrong) { self.damaged() } else { bytes }
    }
    fn damaged(&mut self) -> Vec<u8> {
        let mut bytes = self.before.clone();
        for _ in 0..1 + self.c.below(3) {
            let at = self.c.below(bytes.len() as u64) as usize;
            match self.c.below(5) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] ^= 1 << self.c.below(8),
                2 => bytes[at] = self.c.pick(&[0, 1, 0x7f, 0x80, 0xff]),
                3 => bytes.insert(at, self.c.next() as u8),
                _ => {
                    let part = bytes[at..(at + 9).min(bytes.len())].to_vec();
                    bytes.splice(at..at, part);
                }
            }
        }
        bytes
    }
}
