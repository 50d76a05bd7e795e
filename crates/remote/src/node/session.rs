//! Sessions: who is there, what comes in, what is due.
//!
//! **Invariant.** What stands between two nodes belongs to one session. When that ends, everything of it ends at once, here; the other end
//! learns of it by the first packet that it gets.

use super::peer::{Peer, Pinned};
use super::{Action, Remote};
use crate::Time;
use crate::message::Packet;
use crate::name::{Error, Life, NodeId};
use crate::planted::{Bug, planted};
use crate::table::State;
use kumi_wire::WireError;

impl Remote {
    /// A node is there, says whoever knows (the membership). Nodes that were not named are not listened to.
    pub fn up(&mut self, now: Time, life: Life) -> Result<(), Error> {
        if life.node == self.me.node || life.incarnation == 0 {
            return Err(Error::Unknown);
        }
        let full = self.peers.len() >= self.o.peers;
        match self.peers.get_mut(&life.node) {
            Some(p) if p.life.incarnation >= life.incarnation => p.up |= p.life == life,
            Some(_) => self.succeed(now, life),
            None if full => return Err(Error::Quota),
            None => {
                self.epochs += 1;
                self.peers.insert(life.node, Peer::new(life, self.epochs, self.seed, now));
            }
        }
        Ok(())
    }
    /// A later life of a known node.
    fn succeed(&mut self, now: Time, life: Life) {
        self.lose(now, life.node, Error::OtherIncarnation);
        let p = self.peers.get_mut(&life.node).expect("it was lost just now");
        (p.life, p.over, p.up) = (life, 0, true);
    }
    /// This life is over for certain: its node left, or was replaced. One that only does not answer is lost when its lease is over.
    pub fn gone(&mut self, now: Time, life: Life) {
        if self.peers.get(&life.node).is_some_and(|p| p.life == life) {
            self.lose(now, life.node, Error::NodeLost);
            self.peers.get_mut(&life.node).expect("it was there").up = false;
        }
    }
    /// The membership has forgotten this node.
    pub fn forget(&mut self, now: Time, node: NodeId) {
        if self.peers.contains_key(&node) {
            self.lose(now, node, Error::NodeLost);
            self.peers.remove(&node);
        }
    }

    /// The session with a node is over.
    pub(super) fn lose(&mut self, now: Time, node: NodeId, why: Error) {
        self.epochs += 1;
        self.lose_to(now, node, why, self.epochs);
    }
    /// The same where this node's own epoch is to be that one.
    fn lose_to(&mut self, now: Time, node: NodeId, why: Error, epoch: u64) {
        let Some(p) = self.peers.get_mut(&node) else { return };
        let life = p.life;
        let had = p.related() || p.theirs != 0;
        p.silent = true;
        let holdings = std::mem::replace(&mut p.holdings, crate::table::map(self.seed));
        let parcels = std::mem::take(&mut p.parcels);
        let claims = std::mem::take(&mut p.claims);
        let arrived = std::mem::take(&mut p.arrived);
        p.reset(epoch);
        // First of all, so that nothing below gives back what is lost.
        let dead: Vec<_> = self.imports.each().filter(|(_, e)| e.r.life == life).map(|(i, _)| i).collect();
        for i in dead {
            let Some(e) = self.imports.get_mut(i) else { continue };
            let owed = e.owed.take().is_some();
            if matches!(e.state, State::Live | State::Claiming(_)) {
                e.state = State::Dead(why);
                self.imports.forget(i);
            } else if owed {
                self.imports.forget(i);
            }
            self.drop_if_unused(now, i);
        }
        for slot in holdings.into_keys() {
            self.let_go(now, slot);
        }
        for pinned in parcels.into_values().flat_map(|s| s.pinned) {
            if let Pinned::Lent(i) = pinned {
                self.unpin(now, i);
            }
        }
        for i in arrived.into_values().flat_map(|a| a.pinned) {
            self.unpin(now, i);
        }
        // What was claimed of it need not be waited for.
        for waiting in claims.into_iter().flat_map(|c| c.waiting) {
            self.answered(now, waiting);
        }
        if had {
            self.stats.lost += 1;
            self.actions.push_back(Action::Lost { life, why });
        }
        // Marks may have been on their way to it, member or not.
        self.void_round(now, if had { None } else { Some(life) });
    }
    /// One holder of an export less.
    pub(super) fn let_go(&mut self, now: Time, slot: u32) {
        let before = self.exports.len();
        let moved = self.exports.let_go(slot);
        self.stats.released += (before - self.exports.len()) as u64;
        if let Some(to) = moved {
            self.unpin(now, to);
        }
    }
    /// A claim that this parcel waits for is answered.
    pub(super) fn answered(&mut self, now: Time, (lender, epoch, number): (NodeId, u64, u64)) {
        let Some(p) = self.peers.get_mut(&lender).filter(|p| p.theirs == epoch) else { return };
        let Some(arrival) = p.arrived.get_mut(&number).filter(|a| a.left > 0) else { return };
        arrival.left -= 1;
        if arrival.left == 0 {
            let (pinned, refs) = (std::mem::take(&mut arrival.pinned), std::mem::take(&mut arrival.refs));
            p.waits -= refs;
            p.push(now, &self.o, crate::message::Op::Settled(number));
            pinned.into_iter().for_each(|i| self.unpin(now, i));
        }
    }

    /// A packet has come from that node, as its connection shows: bytes of an [`Action::Send`] there.
    pub fn packet(&mut self, now: Time, from: NodeId, bytes: &[u8]) -> Result<(), WireError> {
        let packet = Packet::decode(bytes)?;
        self.stats.received += 1;
        if !self.begin(now, from, &packet) {
            return Ok(());
        }
        let p = self.peers.get_mut(&from).expect("it has a session");
        if packet.number > p.number {
            (p.number, p.heard) = (packet.number, now);
        }
        if !p.acknowledged(now, packet.ack) {
            self.nonsense(now, from, Error::Forged);
            return Ok(());
        }
        p.go_on(now);
        p.settle(packet.settled).into_iter().for_each(|i| self.unpin(now, i));
        let p = self.peers.get_mut(&from).expect("it has a session");
        if !packet.ops.is_empty() {
            p.owe_ack(now, &self.o);
        }
        for (i, op) in packet.ops.into_iter().enumerate() {
            let Some(p) = self.peers.get_mut(&from) else { break };
            let seq = packet.seq + i as u64;
            if seq > p.expect {
                break;
            }
            if op.asks() && p.is_deaf(&self.o) {
                break;
            }
            if seq == p.expect || planted(Bug::NoDeduplication) {
                p.expect = p.expect.max(seq + 1);
                self.op(now, from, op);
            }
        }
        self.go_on(now);
        Ok(())
    }
    /// Does a packet belong to the session? One of a later session ends the running one.
    fn begin(&mut self, now: Time, from: NodeId, packet: &Packet) -> bool {
        let Some(p) = self.peers.get(&from) else { return false };
        if packet.incarnation < p.life.incarnation || packet.to_incarnation > self.me.incarnation {
            return false;
        }
        // Epochs that this node never had, and a life that is over for certain.
        if packet.over > self.epochs || !p.up && packet.incarnation == p.life.incarnation {
            return false;
        }
        if packet.incarnation > p.life.incarnation {
            self.succeed(now, Life { node: from, incarnation: packet.incarnation });
        }
        let p = self.peers.get_mut(&from).expect("it was there");
        if packet.to_epoch > p.epoch {
            return false;
        }
        // Whoever speaks to an earlier life, or in a session that is over, is told by any packet.
        let stale = packet.to_incarnation < self.me.incarnation || packet.epoch <= p.over;
        if !stale && packet.over >= p.epoch {
            self.lose(now, from, Error::OtherIncarnation);
        }
        let adopted = !stale && self.adopt(now, from, packet.epoch);
        let p = self.peers.get_mut(&from).expect("it was there");
        let in_session = adopted && packet.to_epoch == p.epoch;
        if !in_session || packet.ask {
            p.owe_ack(now, &self.o);
        }
        if in_session && p.silent {
            p.silent = false;
            let life = p.life;
            self.actions.push_back(Action::Met(life));
        }
        in_session
    }
    /// A peer shows which epoch it is in. `false`: one that is over.
    ///
    /// A later one than before means that whatever stood between the two is gone at its end. Had it known this node's epoch it would say
    /// that that is over; so it has none of what this node sent in it, which therefore stays good.
    pub(super) fn adopt(&mut self, now: Time, from: NodeId, epoch: u64) -> bool {
        let Some(p) = self.peers.get(&from) else { return false };
        if epoch <= p.over || epoch < p.theirs {
            return false;
        }
        if p.theirs != 0 && epoch > p.theirs {
            let same = p.epoch;
            self.lose_to(now, from, Error::OtherIncarnation, same);
        }
        let p = self.peers.get_mut(&from).expect("it was there");
        if p.theirs != epoch {
            // It lives: what is about to be claimed of it has a whole lease.
            (p.theirs, p.heard) = (epoch, p.heard.max(now));
        }
        true
    }

    pub(super) fn nonsense(&mut self, now: Time, from: NodeId, what: Error) {
        self.stats.nonsense += 1;
        // At most so many actions wait for a host that is slow.
        if self.actions.len() < 1 << 16 {
            self.actions.push_back(Action::Nonsense(from, what));
        }
        if let Some(p) = self.peers.get_mut(&from)
            && p.waiting() < 1 << 10
        {
            p.push(now, &self.o, crate::message::Op::Complain(what));
        }
    }

    /// When [`Remote::tick`] is to be called next.
    pub fn next_deadline(&self) -> Option<Time> {
        self.peers.soonest(&self.o).into_iter().chain(self.round_deadline()).min()
    }
    /// Time goes on: what is due is done.
    pub fn tick(&mut self, now: Time) {
        let expired: Vec<_> = self.peers.iter().filter(|(_, p)| p.expired(now, &self.o)).map(|(n, _)| *n).collect();
        for node in expired {
            self.lose(now, node, Error::NodeLost);
        }
        self.lead_on(now);
        self.go_on(now);
        for (to, p) in self.peers.iter_mut() {
            p.transmit(now, &self.o, self.me, |packet| {
                self.stats.packets += 1;
                self.stats.ops += packet.ops.len() as u64;
                let bytes = packet.encode();
                self.stats.bytes += bytes.len() as u64;
                self.actions.push_back(Action::Send { to: *to, bytes });
            });
        }
    }
}
