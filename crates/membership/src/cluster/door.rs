//! The door: each packet is looked at before SWIM sees it.
//!
//! SWIM by itself lets whoever comes with a higher incarnation take a name, has two nodes with one name declare each other down for
//! ever, passes messages on to any address, and keeps whatever it is told.
//!
//! **Invariant.** What SWIM is given is about members of one name and one order of lives, comes from a sender who may have its name,
//! leads to addresses of members only, and fits into the bounds.

use super::budget::Spent;
use super::clock::Due;
use super::desk::ns;
use super::table::Challenge;
use super::{Membership, Phase};
use crate::action::Reject;
use crate::member::Member;
use crate::packet::{MAX_PACKET, News, Packet, Refusal};
use foca::{Header, Message, State};
use rand::RngExt;

/// How many news a sender is told at once that its own are outdated by.
const CORRECTIONS: usize = 8;
/// How many probe periods a challenge stands.
const CHALLENGE_PERIODS: u32 = 3;

impl Membership {
    /// Takes a packet in, or says why not.
    pub(super) fn admit(&mut self, from: &str, bytes: &[u8]) -> Result<(), Reject> {
        match self.budget.spend(self.desk.clock.now(), from) {
            Spent::Fine => {}
            Spent::Over => return Err(Reject::TooMuch),
            Spent::Silent => return Ok(()),
        }
        if bytes.len() > MAX_PACKET {
            return Err(Reject::TooLong);
        }
        match Packet::decode(bytes).map_err(Reject::Malformed)? {
            Packet::Refused { from, to, why } => self.refused(&from, &to, why),
            Packet::Swim { header, news } => self.swim(header, news),
        }
    }

    fn swim(&mut self, mut header: Header<Member>, mut news: Vec<News>) -> Result<(), Reject> {
        if header.src == self.me {
            // A node that joins by its own address, or an echo.
            return Ok(());
        }
        if header.src.name() == self.me.name() {
            let announces = header.message == Message::Announce;
            return self.namesake(header.src, true, announces);
        }
        if let Message::Ack(number) = header.message {
            // Even if it is for an earlier life of this node.
            let challenge = self.table.get_mut(header.src.name()).filter(|k| k.member == header.src).and_then(|k| k.challenge.as_mut());
            challenge.filter(|c| c.number == number).into_iter().for_each(|c| c.answered = true);
        }
        if !self.meant_for_me(&mut header) {
            return Ok(());
        }
        if let Err(reason) = self.may_speak(&header) {
            return reason.map_or(Ok(()), Err);
        }
        let other = match &header.message {
            Message::PingReq { target: m, .. } | Message::IndirectPing { origin: m, .. } => Some(m),
            Message::IndirectAck { target: m, .. } | Message::ForwardedAck { origin: m, .. } => Some(m),
            _ => None,
        };
        if other.is_some_and(|m| self.table.get(m.name()).is_none_or(|k| k.member.address() != m.address())) {
            // Its news are as good as others; what it wants done is not.
            header.message = Message::Gossip;
        }
        self.tell_suspect(&header);
        let new = self.table.get(header.src.name()).is_none_or(|k| !k.is_up());
        self.sift(&header.src, &mut news, usize::from(new));
        if self.phase != Phase::Open {
            return Ok(());
        }
        let (src, undead) = (header.src.clone(), header.message == Message::TurnUndead);
        if header.message == Message::Announce {
            // SWIM takes none with an announcement.
            news.clear();
        }
        self.desk.touched.extend(news.iter().map(|n| n.id().name().clone()));
        if !news.is_empty() || self.table.get(src.name()).is_none_or(|k| !k.is_just(&header)) {
            self.desk.touched.push(src.name().clone());
        }
        let before = self.foca.identity().clone();
        if before != self.me && undead {
            // The news had this node begin its next life; the message was for the one before.
            return Ok(());
        }
        header.dst = before.clone();
        let bytes = (Packet::Swim { header, news }).encode().map_err(Reject::Malformed)?;
        self.foca.handle_data(&bytes, &mut self.desk).map_err(|_| Reject::Senseless)?;
        if undead && *self.foca.identity() != before {
            // Whoever took this node for down hears of its new life first.
            drop(self.foca.announce(src, &mut self.desk));
        }
        Ok(())
    }

    /// Whether the packet is for this life of this node; who knows an earlier one only hears of this one.
    fn meant_for_me(&mut self, header: &mut Header<Member>) -> bool {
        let dst = &header.dst;
        let announced = header.message == Message::Announce && (dst.is_anyone() || dst.name() == self.me.name());
        if announced || *dst == self.me {
            return true;
        }
        if dst.name() == self.me.name() && dst.address() == self.me.address() {
            if dst.incarnation() > self.me.incarnation() {
                let dst = dst.clone();
                self.outlive(dst.incarnation(), dst);
            } else if self.may_correct() {
                let src = header.src.clone();
                self.say(&src, Message::Gossip, &[]);
            }
        }
        false
    }

    /// Whether the sender may have its name and its incarnation; if not, what there is to say of it.
    fn may_speak(&mut self, header: &Header<Member>) -> Result<(), Option<Reject>> {
        let src = &header.src;
        let Some(known) = self.table.get(src.name()) else {
            if self.table.up() >= self.config.max_members || self.is_flooded() {
                self.refuse(src, Refusal::Full);
                return Err(Some(Reject::Full));
            }
            return Ok(());
        };
        if known.member == *src {
            return Ok(());
        }
        #[cfg(test)]
        {
            if crate::planted::is(crate::planted::Bug::NamesUnguarded) {
                return Ok(());
            }
        }
        let later = src.rank(&known.member).is_gt();
        let elsewhere = src.address() != known.member.address();
        if elsewhere && known.is_up() && (!later || header.message == Message::Announce) {
            let (holder, challenge) = (known.member.clone(), known.challenge);
            let heard = header.message != Message::Announce || self.challenge(&holder, challenge);
            self.refuse(src, Refusal::Taken { holder, heard });
            return Err(Some(Reject::NameTaken(src.name().clone())));
        }
        if !later {
            let why = Refusal::Stale { known: known.member.incarnation() };
            self.refuse(src, why);
            // From the same place it is mostly late, which is nobody's news.
            return if elsewhere { Err(Some(Reject::Stale(src.name().clone()))) } else { Err(None) };
        }
        if !known.is_up() && self.table.up() >= self.config.max_members {
            self.refuse(src, Refusal::Full);
            return Err(Some(Reject::Full));
        }
        Ok(())
    }

    /// Asks the holder of a name that another node wants. Whether it has answered.
    fn challenge(&mut self, holder: &Member, challenge: Option<Challenge>) -> bool {
        let now = self.desk.clock.now();
        let fresh = ns(self.config.probe_period * CHALLENGE_PERIODS);
        if let Some(c) = challenge.filter(|c| now.saturating_sub(c.at) < fresh) {
            if !c.answered {
                self.say(holder, Message::Ping(c.number), &[]);
            }
            return c.answered;
        }
        let number = self.rng.random();
        self.say(holder, Message::Ping(number), &[]);
        if let Some(known) = self.table.get_mut(holder.name()) {
            known.challenge = Some(Challenge { number, at: now, answered: false });
        }
        self.desk.clock.after(ns(self.config.probe_period), Due::Challenged(holder.name().clone()));
        false
    }

    /// Takes out of the news what is about this node's name, or has no room beside `fresh` members more.
    fn sift(&mut self, src: &Member, news: &mut Vec<News>, mut fresh: usize) {
        let mut ask = Vec::new();
        let mut tell = Vec::new();
        let now = self.desk.clock.now();
        let mut own = Vec::new();
        #[cfg(test)]
        {
            use crate::planted::{Bug, is};
            if is(Bug::GossipLost) {
                news.clear();
            }
            if is(Bug::NeverRefuted) {
                news.retain(|n| *n.id() != self.me || n.state() != State::Suspect);
            }
        }
        let (full, flooded) = (self.config.max_members, self.is_flooded());
        news.retain(|n| {
            if n.id().name() == self.me.name() {
                if *n.id() != self.me {
                    own.push((n.id().clone(), n.state() != State::Down));
                }
                return *n.id() == self.me;
            }
            let up = n.state() != State::Down;
            match self.table.get_mut(n.id().name()) {
                None => {
                    fresh += 1;
                    !flooded && fresh + if up { self.table.up() } else { self.table.down() } <= full
                }
                Some(k) if !k.is_up() && k.member != *n.id() && up => {
                    fresh += 1;
                    fresh + self.table.up() <= full
                }
                Some(k) => {
                    // It is down here and lives elsewhere, or lives here in a later life. The sender is told; and who is down without
                    // having said so is asked, and comes back in a new life if it can.
                    let old = n.id().rank(&k.member);
                    let again = k.asked_at.is_none_or(|t| now.saturating_sub(t) >= ns(self.config.heal_period));
                    if up && again && (old.is_lt() || old.is_eq() && !k.is_up()) {
                        k.asked_at = Some(now);
                        if tell.len() < CORRECTIONS {
                            tell.push(News::new(k.member.clone(), k.incarnation, k.state));
                        }
                        if !k.is_up() && !k.has_left() {
                            ask.push(k.member.clone());
                        }
                    }
                    true
                }
            }
        });
        for (member, up) in own {
            if self.phase == Phase::Open {
                drop(self.namesake(member, up, false));
            }
        }
        if !tell.is_empty() {
            self.say(src, Message::Gossip, &tell);
        }
        for member in ask {
            drop(self.foca.announce(member, &mut self.desk));
        }
    }

    /// The sender is suspected and does not know it, as it seems: nobody need have told it.
    fn tell_suspect(&mut self, header: &Header<Member>) {
        let (now, often) = (self.desk.clock.now(), ns(self.config.heal_period));
        let Some(known) = self.table.get_mut(header.src.name()).filter(|k| k.member == header.src) else { return };
        let unaware = known.state == State::Suspect && header.src_incarnation <= known.incarnation;
        if unaware && known.asked_at.is_none_or(|t| now.saturating_sub(t) >= often) {
            known.asked_at = Some(now);
            let news = News::new(known.member.clone(), known.incarnation, State::Suspect);
            self.say(&header.src, Message::Gossip, &[news]);
        }
    }

    /// Too much is waiting to be passed on.
    fn is_flooded(&self) -> bool {
        self.foca.updates_backlog() > 2 * self.config.max_members
    }

    /// There is, or was, another life or another node of this one's name.
    fn namesake(&mut self, other: Member, up: bool, announces: bool) -> Result<(), Reject> {
        let me = self.foca.identity().clone();
        let later = other.rank(&me).is_gt();
        if other == me {
            return Ok(());
        }
        if other.address() == me.address() {
            // An own life: an earlier one is known to be over. A later one means that the clock went back between two starts.
            if later {
                self.outlive(other.incarnation(), other);
            }
            return Ok(());
        }
        if announces || up && !later {
            // It wants in, or was let in by others than this node's.
            if announces || self.may_correct() {
                self.refuse(&other, Refusal::Taken { holder: me.clone(), heard: true });
            }
            return Err(Reject::NameTaken(me.name().clone()));
        }
        if later {
            if up { self.conflict(other) } else { self.outlive(other.incarnation(), other) }
        }
        Ok(())
    }

    /// Not more often than an answer takes.
    fn may_correct(&mut self) -> bool {
        let now = self.desk.clock.now();
        let may = self.corrected_at.is_none_or(|t| now.saturating_sub(t) >= ns(self.config.probe_rtt));
        if may {
            self.corrected_at = Some(now);
        }
        may
    }

    /// This node, or an earlier life of it, was refused.
    fn refused(&mut self, from: &Member, to: &Member, why: Refusal) -> Result<(), Reject> {
        if *to != self.me {
            return Ok(());
        }
        match why {
            Refusal::Full => Err(Reject::Full),
            Refusal::Stale { known } => {
                if known >= self.me.incarnation() {
                    self.outlive(known, from.clone());
                }
                Ok(())
            }
            Refusal::Taken { holder, heard } => {
                if holder.name() != self.me.name() || holder.address() == self.me.address() {
                    return Err(Reject::Senseless);
                }
                let later = holder.rank(&self.me).is_gt();
                if self.has_joined() && !later {
                    // This node was let in while the other was down: it is the other's turn to go.
                    if self.may_correct() {
                        let why = Refusal::Taken { holder: self.me.clone(), heard: true };
                        self.refuse(&holder, why);
                    }
                } else if self.has_joined() || heard {
                    self.conflict(holder);
                }
                Ok(())
            }
        }
    }
}
