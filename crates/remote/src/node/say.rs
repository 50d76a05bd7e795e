//! What peers say, one operation after another.
//!
//! **Invariant.** A peer changes what it holds itself, and nothing else: what it says of objects that it does not hold is told it as
//! nonsense, and frees nothing.

use super::{Action, Remote, State};
use crate::Time;
use crate::message::Op;
use crate::name::{Error, NodeId};

impl Remote {
    pub(super) fn op(&mut self, now: Time, from: NodeId, op: Op) {
        match op {
            Op::Claim { slot, generation, seal } => {
                let answer = self.claim(from, slot, generation, seal);
                let p = self.peers.get_mut(&from).expect("it has a session");
                match answer {
                    Ok(()) => p.push(now, &self.o, Op::Granted),
                    Err(why) => p.push(now, &self.o, Op::Refused(why)),
                }
                if answer == Err(Error::Forged) {
                    self.nonsense(now, from, Error::Forged);
                }
            }
            Op::Granted => self.claimed(now, from, Ok(())),
            Op::Refused(why) => self.claimed(now, from, Err(why)),
            Op::Release { slot, generation } => self.release(now, from, slot, generation),
            Op::Settled(number) => self.settled(now, from, number, true),
            Op::Fenced(number) => self.settled(now, from, number, false),
            Op::Revoke(number) => {
                let most = 2 * self.o.parcels as u64;
                let p = self.peers.get_mut(&from).expect("it has a session");
                // One that came is settled as soon as its claims are.
                if number >= p.settled && number - p.settled < most && !p.arrived.contains_key(&number) {
                    p.arrived.insert(number, super::peer::Arrival::default());
                    p.push(now, &self.o, Op::Fenced(number));
                }
            }
            Op::Complain(what) => {
                if self.actions.len() < 1 << 16 {
                    self.actions.push_back(Action::Complaint(from, what));
                }
            }
            op => self.round_op(now, from, op),
        }
    }

    fn claim(&mut self, from: NodeId, slot: u32, generation: u32, seal: u64) -> Result<(), Error> {
        self.exports.check(self.me, slot, generation, seal)?;
        let p = self.peers.get_mut(&from).expect("it has a session");
        if let Some(n) = p.holdings.get_mut(&slot) {
            *n |= 1;
            return Ok(());
        }
        if p.holdings.len() >= self.o.exports {
            return Err(Error::Quota);
        }
        p.holdings.insert(slot, 1);
        self.exports.hold(slot);
        Ok(())
    }
    /// The oldest claim at that node is answered.
    fn claimed(&mut self, now: Time, from: NodeId, answer: Result<(), Error>) {
        let p = self.peers.get_mut(&from).expect("it has a session");
        let Some(claim) = p.claims.pop_front() else { return self.nonsense(now, from, Error::Forged) };
        p.first_claim += 1;
        let i = claim.import;
        if let Some(e) = self.imports.get_mut(i) {
            match (e.state, answer) {
                (State::Claiming(_), Ok(())) => e.state = State::Live,
                (State::Claiming(_), Err(why)) => {
                    e.state = State::Dead(why);
                    self.imports.forget(i);
                    p.imports = p.imports.saturating_sub(1);
                    self.actions.push_back(Action::Refused(i, why));
                }
                // It has moved meanwhile.
                (State::Moved(_), Ok(())) if e.owed.is_some() => e.owed = Some(State::Live),
                (State::Moved(_), Err(_)) if e.owed.take().is_some() => {
                    p.imports = p.imports.saturating_sub(1);
                    self.imports.forget(i);
                }
                _ => {}
            }
            self.drop_if_unused(now, i);
        }
        for waiting in claim.waiting {
            self.answered(now, waiting);
        }
    }
    fn release(&mut self, now: Time, from: NodeId, slot: u32, generation: u32) {
        match self.exports.known(slot, generation) {
            // A round has found it to be garbage before.
            Err(Error::Collected) => return,
            Err(_) => return self.nonsense(now, from, Error::Forged),
            Ok(_) => {}
        }
        let p = self.peers.get_mut(&from).expect("it has a session");
        match p.holdings.get_mut(&slot) {
            Some(n) if *n & 1 == 1 => {
                *n &= !1;
                if *n == 0 {
                    p.holdings.remove(&slot);
                    self.let_go(now, slot);
                }
            }
            // Less than nothing.
            _ => self.nonsense(now, from, Error::Forged),
        }
    }

    /// An export goes, whoever holds it.
    pub(super) fn sweep_one(&mut self, now: Time, slot: u32) {
        for p in self.peers.values_mut() {
            p.holdings.remove(&slot);
        }
        if let Some(to) = self.exports.remove(slot) {
            self.unpin(now, to);
        }
        self.stats.swept += 1;
    }
}
