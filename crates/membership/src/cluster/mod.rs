//! A node's view of its cluster: SWIM by `foca`, and what SWIM leaves open.
//!
//! `foca` has the list of members, probes them, suspects and refutes, and passes news on. Around it stand: a [`door`] that looks at each
//! packet before `foca` does; a [`clock`] whose time nobody can make jump; a [`table`] from which changes are told; and here the ways
//! back, for a node that was cut off, restarted or paused.
//!
//! **Invariants.** A member that is down stays down in that life: it comes back as a later one. A later life is never replaced by an
//! earlier one. A node takes its name from another only after that one is down. When [`Action::Conflict`] or [`Membership::leave`] ended
//! it, it says nothing more.
//!
//! **What is trusted.** A member can lie about others: declare them down, or wear out their incarnations. Who may send packets at all is
//! for the connection's certificates to say. Nobody, member or not, can make a node panic, keep more than its bounds, or send to an
//! address that is neither a seed's, nor a member's, nor the sender's own.

mod budget;
mod clock;
mod desk;
mod door;
mod table;

use crate::action::Action;
use crate::config::{Config, bits};
use crate::member::{BadMember, Member, Name, check_address};
use crate::packet::{Codec, LEFT, News, Packet, Refusal};
use budget::Budget;
use clock::{Clock, Due};
use desk::{Desk, ns};
use foca::{Foca, Header, Message, NoCustomBroadcast, State, Timer};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;
use table::Table;

/// The most addresses that are tried to join by.
const MAX_SEEDS: usize = 64;
/// How many members that are down are tried again at once.
const HEAL_AT_ONCE: usize = 2;
/// Of how many members what is known is compared one by one; else of all.
const TOUCHED: usize = 8;
/// So many are told by a node itself that it leaves; others hear it of them, unless all leave together.
const TOLD: usize = 256;
/// How often a suspected member is told so.
const TELL: u8 = 3;

/// Health of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// It is there.
    Alive,
    /// It may be gone. It counts as there.
    Suspect,
    /// That life of it is over.
    Down,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Open,
    Left,
    Refused,
}

/// One node's part in a cluster: events in, [`Action`]s out.
///
/// After each event the owner takes all actions by [`poll`](Membership::poll), and calls [`tick`](Membership::tick) when
/// [`next_deadline`](Membership::next_deadline) has come. Times are nanoseconds of any clock; where that one may jump, the owner waits
/// for as long as the deadline is away, and not for the clock to show it.
pub struct Membership {
    foca: Foca<Member, Codec, Xoshiro256PlusPlus, NoCustomBroadcast>,
    me: Member,
    config: Config,
    desk: Desk,
    table: Table,
    budget: Budget,
    seeds: Vec<Arc<str>>,
    rng: Xoshiro256PlusPlus,
    phase: Phase,
    /// Whether a [`Due::Heal`] is set.
    heals: bool,
    /// Whether a [`Due::Forget`] is set.
    forgets: bool,
    /// The size SWIM's patience was last set for, in bits.
    scaled: u32,
    /// When somebody was last told that it has this node's name, or knows an earlier life of it.
    corrected_at: Option<u64>,
}

impl Membership {
    /// A node that is alone. `seed` is for its random choices: the same events give the same actions.
    pub fn new(me: Member, config: Config, seed: u64, now: u64) -> Membership {
        let config = config.sane();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let foca = Foca::new(me.clone(), config.foca(1), Xoshiro256PlusPlus::seed_from_u64(rng.random()), Codec);
        let desk = Desk::new(Clock::new(now, ns(config.probe_rtt)));
        Membership {
            foca,
            me,
            desk,
            table: Table::default(),
            budget: Budget::new(config.max_packets),
            config,
            seeds: Vec::new(),
            rng,
            phase: Phase::Open,
            heals: false,
            forgets: false,
            scaled: bits(1),
            corrected_at: None,
        }
    }

    /// This node, in its present life.
    pub fn me(&self) -> &Member {
        &self.me
    }

    /// All members that are there, by name, this node among them.
    pub fn members(&self) -> Vec<Member> {
        let mut all: Vec<Member> = self.table.iter().filter(|k| k.is_up()).map(|k| k.member.clone()).collect();
        let at = all.partition_point(|m| m.name() < self.me.name());
        all.insert(at, self.me.clone());
        all
    }

    /// Names of all members that are there, sorted: what placement and topologies take.
    pub fn names(&self) -> Vec<Name> {
        self.members().iter().map(|m| m.name().clone()).collect()
    }

    /// What is known of another node's present life.
    pub fn health(&self, name: &str) -> Option<Health> {
        self.table.get(name).map(|k| match k.state {
            State::Alive => Health::Alive,
            State::Suspect => Health::Suspect,
            State::Down => Health::Down,
        })
    }

    /// Whether another member is there.
    pub fn has_joined(&self) -> bool {
        self.table.up() > 0
    }

    /// The next thing to be done or known.
    pub fn poll(&mut self) -> Option<Action> {
        self.desk.out.pop_front()
    }

    /// When `tick` is to be called.
    pub fn next_deadline(&self) -> Option<u64> {
        if self.phase == Phase::Open { self.desk.clock.next() } else { None }
    }

    /// Joins by whoever listens at `address`, and tries it again until somebody is there, then and whenever everybody else is gone.
    /// An own address does no harm. At most 64 are kept.
    pub fn join(&mut self, now: u64, address: &str) -> Result<(), BadMember> {
        check_address(address)?;
        if self.begin(now) {
            if !self.seeds.iter().any(|s| &**s == address) && self.seeds.len() < MAX_SEEDS {
                self.seeds.push(address.into());
            }
            self.announce_at(address);
            self.settle();
        }
        Ok(())
    }

    /// Another patience from now on: that of `config`. Members are probed as often as before, and bounds stay. What is timed already goes
    /// on as it was.
    pub fn set_patience(&mut self, now: u64, config: Config) {
        if self.begin(now) {
            let Config { suspicion, hinted_suspicion, gossip_period, exchange_period, heal_period, .. } = config.sane();
            self.config = Config { suspicion, hinted_suspicion, gossip_period, exchange_period, heal_period, ..self.config.clone() };
            let set = self.foca.set_config(self.config.foca(self.table.up() + 1));
            debug_assert!(set.is_ok(), "what SWIM lets change is all that does");
            self.settle();
        }
    }

    /// Does what is due.
    pub fn tick(&mut self, now: u64) {
        if !self.begin(now) {
            return;
        }
        while let Some(due) = self.desk.clock.pop() {
            match due {
                // foca calls a member that has refuted a suspicion undead when the time for it is over.
                Due::Swim(Timer::ChangeSuspectToDown { member_id, incarnation, .. }) if !self.suspects(&member_id, incarnation) => {}
                Due::Swim(timer) => {
                    self.desk.changed |= matches!(timer, Timer::ProbeRandomMember(_) | Timer::ChangeSuspectToDown { .. });
                    drop(self.foca.handle_timer(timer, &mut self.desk));
                }
                Due::Heal => self.heal(),
                Due::Tell { member, incarnation, left, hinted } => self.tell(member, incarnation, left, hinted),
                Due::Challenged(name) => {
                    if self.table.get(&name).is_some_and(|k| k.challenge.is_some_and(|c| !c.answered)) {
                        self.suspect(&name);
                    }
                }
                Due::Forget => self.forget(),
            }
            self.settle();
            if self.phase != Phase::Open {
                return;
            }
        }
    }

    /// A connection to that node has broken: it is suspected at once, and has less time for its refutation.
    pub fn connection_lost(&mut self, now: u64, name: &str) {
        if self.begin(now) {
            self.suspect(name);
            self.settle();
        }
    }

    /// Says to the others that this node goes. It does nothing more afterwards.
    pub fn leave(&mut self, now: u64) {
        if !self.begin(now) {
            return;
        }
        let mut up: Vec<Member> = self.table.iter().filter(|k| k.is_up()).map(|k| k.member.clone()).collect();
        let news = [News::new(self.me.clone(), LEFT, State::Down)];
        for _ in 0..TOLD.min(up.len()) {
            let to = up.swap_remove(self.rng.random_range(0..up.len()));
            self.say(&to, Message::Gossip, &news);
        }
        self.phase = Phase::Left;
    }

    /// Bytes have come. `from` is how the receiver calls their sender: a bound on packets is kept for it, and refusals name it.
    pub fn receive(&mut self, now: u64, from: &str, bytes: &[u8]) {
        if !self.begin(now) {
            return;
        }
        if let Err(reason) = self.admit(from, bytes) {
            self.desk.out.push_back(Action::Rejected { from: from.into(), reason });
        }
        self.settle();
    }

    /// Takes the time; whether the node still takes part.
    fn begin(&mut self, now: u64) -> bool {
        self.desk.clock.advance(now);
        self.phase == Phase::Open
    }

    /// Tells what an event changed, and keeps SWIM's state in order.
    fn settle(&mut self) {
        if self.phase != Phase::Open {
            return;
        }
        // An own life that has just begun takes part at once.
        drop(self.foca.apply_many(std::iter::empty(), true, &mut self.desk));
        if *self.foca.identity() != self.me {
            self.me = self.foca.identity().clone();
            self.desk.out.push_back(Action::Rejoined(self.me.clone()));
            self.table.drop_challenges();
            self.reach_out();
        }
        let (touched, mut all) = (std::mem::take(&mut self.desk.touched), std::mem::take(&mut self.desk.changed));
        all |= touched.len() > TOUCHED;
        if all || !touched.is_empty() {
            let now = self.desk.clock.now();
            for news in self.foca.iter_membership_state().filter(|n| all || touched.contains(n.id().name())) {
                self.table.take_over(news, now, &mut self.desk.out);
            }
        }
        for (member, incarnation) in std::mem::take(&mut self.desk.suspected) {
            self.tell(member, incarnation, TELL, false);
        }
        while self.table.down() > self.config.max_members {
            let oldest = self.table.oldest_down().expect("some are down").member.clone();
            self.forget_one(oldest);
        }
        if !self.heals && (!self.seeds.is_empty() || self.table.up() + self.table.down() > 0) {
            self.heals = true;
            let heal = self.config.heal_period;
            let wait = if self.has_joined() { heal } else { self.config.probe_period.min(heal) };
            self.desk.clock.after(ns(wait), Due::Heal);
        }
        if !self.forgets && self.table.down() > 0 {
            self.forgets = true;
            self.desk.clock.after(ns(self.config.forget_after / 4), Due::Forget);
        }
        let size = self.table.up() + 1;
        if bits(size) != self.scaled {
            self.scaled = bits(size);
            drop(self.foca.set_config(self.config.foca(size)));
        }
    }

    /// A packet of this node's own making.
    fn say(&mut self, to: &Member, message: Message<Member>, news: &[News]) {
        let header = Header { src: self.me.clone(), src_incarnation: self.desk.incarnation, dst: to.clone(), message };
        if let Ok(bytes) = (Packet::Swim { header, news: news.into() }).encode() {
            self.desk.send(to, bytes);
        }
    }

    fn refuse(&mut self, to: &Member, why: Refusal) {
        if let Ok(bytes) = (Packet::Refused { from: self.me.clone(), to: to.clone(), why }).encode() {
            self.desk.send(to, bytes);
        }
    }

    fn announce_at(&mut self, address: &str) {
        if address != &**self.me.address() {
            let to = Member::anyone(address).expect("a seed's address was looked at");
            self.say(&to, Message::Announce, &[]);
        }
    }

    /// Tries seeds and members that are down: a partition may have healed, or a node come back.
    fn heal(&mut self) {
        self.heals = false;
        self.reach_out();
    }

    fn reach_out(&mut self) {
        let mut seeds = self.seeds.clone();
        if self.has_joined() {
            seeds.retain(|s| !self.table.iter().any(|k| k.is_up() && k.member.address() == s));
            if !seeds.is_empty() {
                let one = seeds.swap_remove(self.rng.random_range(0..seeds.len()));
                seeds = vec![one];
            }
        }
        for seed in seeds {
            self.announce_at(&seed);
        }
        let mut down: Vec<Member> = self.table.iter().filter(|k| !k.is_up() && !k.has_left()).map(|k| k.member.clone()).collect();
        for _ in 0..HEAL_AT_ONCE.min(down.len()) {
            let one = down.swap_remove(self.rng.random_range(0..down.len()));
            drop(self.foca.announce(one, &mut self.desk));
        }
    }

    /// Suspects a member because of a hint.
    fn suspect(&mut self, name: &str) {
        let Some(known) = self.table.get(name).filter(|k| k.is_up()) else { return };
        let (member, incarnation) = (known.member.clone(), known.incarnation);
        let news = News::new(member.clone(), incarnation, State::Suspect);
        self.desk.changed = true;
        drop(self.foca.apply_many(std::iter::once(news), true, &mut self.desk));
        self.tell(member, incarnation, TELL, true);
    }

    /// Whether a suspicion still stands.
    fn suspects(&self, member: &Member, incarnation: u16) -> bool {
        // Not the table: it is made like SWIM's list at the end of an event only.
        self.foca.iter_members().any(|m| m.id() == member && m.incarnation() == incarnation && m.state() == State::Suspect)
    }

    /// Tells a suspected member that it is: the sooner it knows, the sooner it refutes.
    fn tell(&mut self, member: Member, incarnation: u16, left: u8, hinted: bool) {
        if !self.suspects(&member, incarnation) {
            return;
        }
        if left > 0 {
            let number = self.rng.random();
            self.say(&member, Message::Ping(number), &[News::new(member.clone(), incarnation, State::Suspect)]);
            let whole = if hinted { self.config.hinted_suspicion } else { self.config.suspicion_of(self.table.up() + 1) };
            self.desk.clock.after(ns(whole / u32::from(TELL)), Due::Tell { member, incarnation, left: left - 1, hinted });
        } else if hinted {
            let timer = Timer::ChangeSuspectToDown { member_id: member, incarnation, token: self.desk.token };
            drop(self.foca.handle_timer(timer, &mut self.desk));
        }
    }

    /// Forgets who has been down for long.
    fn forget(&mut self) {
        self.forgets = false;
        let now = self.desk.clock.now();
        let old = ns(self.config.forget_after);
        let gone: Vec<Member> =
            self.table.iter().filter(|k| !k.is_up() && now.saturating_sub(k.down_at) >= old).map(|k| k.member.clone()).collect();
        for member in gone {
            self.forget_one(member);
        }
    }

    fn forget_one(&mut self, member: Member) {
        self.table.remove(member.name());
        drop(self.foca.handle_timer(Timer::RemoveDown(member), &mut self.desk));
    }

    /// Another node has this one's name, and keeps it.
    fn conflict(&mut self, holder: Member) {
        self.phase = Phase::Refused;
        self.desk.out.push_back(Action::Conflict { name: self.me.name().clone(), holder });
    }

    /// The others know a life of this node that is no earlier: the next one begins.
    fn outlive(&mut self, known: u64, holder: Member) {
        match known.checked_add(1) {
            Some(next) => drop(self.foca.change_identity(self.me.reborn(next), &mut self.desk)),
            None => self.conflict(holder),
        }
    }

    #[cfg(test)]
    pub(crate) fn weight(&self) -> [usize; 4] {
        [self.table.up(), self.table.down(), self.desk.clock.len(), self.foca.updates_backlog()]
    }
}
