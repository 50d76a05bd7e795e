//! A node's part in it all.

mod arrive;
mod lend;
mod options;
mod peer;
mod peers;
mod round;
mod say;
mod session;
mod stats;

use crate::Time;
use crate::message::RoundId;
use crate::name::{Error, Life, NodeId, Ref};
use crate::planted::{Bug, planted};
use crate::table::{Exports, Import, Imports, State};
use peer::Peer;
use peers::Peers;
use round::{Lead, Round};
use std::collections::VecDeque;

pub use arrive::Arrived;
pub use lend::{Item, Parcel};
pub use options::Options;
pub use round::{Cause, Marking, Want};
pub use stats::Stats;

/// Something for the host. They come in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send these bytes to that node. They may be lost, late, repeated or out of order.
    Send {
        /// To whom.
        to: NodeId,
        /// A packet, for its [`Remote::packet`].
        bytes: Vec<u8>,
    },
    /// A node answers: references can be handed to it.
    Met(Life),
    /// Nothing that stood between the two is left: this node's imports of it are of no use, and it holds nothing of this node.
    Lost {
        /// Whose life, as far as this node is concerned.
        life: Life,
        /// [`Error::NodeLost`], or [`Error::OtherIncarnation`] where it was this node that was taken for gone.
        why: Error,
    },
    /// An import is of no use: its owner does not let this node have it.
    Refused(Import, Error),
    /// A peer said what can't be. Nothing has changed for it, and it was told.
    Nonsense(NodeId, Error),
    /// A peer says that this node said what can't be.
    Complaint(NodeId, Error),
    /// A collection across nodes has ended. So many exports were garbage; a full collection frees them.
    Swept {
        /// Which.
        round: RoundId,
        /// Exports of this node.
        dropped: usize,
    },
}

/// One node: what it has given out and been given. See the crate's head for what a host does.
pub struct Remote {
    me: Life,
    o: Options,
    seed: u64,
    /// Grows with each session, so that none has the epoch of an earlier one.
    epochs: u64,
    exports: Exports,
    imports: Imports,
    peers: Peers,
    actions: VecDeque<Action>,
    stats: Stats,
    /// Rounds that this node took part in.
    turn: u32,
    last_round: RoundId,
    round: Option<Round>,
    lead: Option<Lead>,
    /// No round begins before.
    next_round: Time,
    wanted: Option<Cause>,
    /// Rounds one after another that this node led in vain.
    failed: u32,
    /// Imports that only exports reach, at the last full collection in no round and when a round was last wanted.
    suspects: [usize; 2],
    next_want: Time,
}

impl Remote {
    /// A node that begins. `secret` is chance that no other node can guess: references are sealed by it.
    pub fn new(me: Life, o: Options, secret: [u64; 2]) -> Remote {
        let o = Options { peers: o.peers.min(crate::message::MAX_MEMBERS - 1), ..o };
        Remote {
            me,
            exports: Exports::new(secret),
            imports: Imports::new(secret[1]),
            seed: secret[0] ^ secret[1],
            o,
            epochs: 0,
            peers: Peers::default(),
            actions: VecDeque::new(),
            stats: Stats::default(),
            turn: 0,
            last_round: RoundId::default(),
            round: None,
            lead: None,
            next_round: 0,
            wanted: None,
            failed: 0,
            suspects: [0; 2],
            next_want: 0,
        }
    }
    /// Which life this is.
    pub fn me(&self) -> Life {
        self.me
    }
    /// What is to be done, oldest first.
    pub fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Whose object a reference names, for a call of it: the host's handle. The object counts as reachable from now on until the
    /// next round.
    ///
    /// The caller holds its import until it has the answer. A call that it has given up, and that comes all the same, may meet an object
    /// that is garbage: it is that one, but what it holds of other nodes may be gone.
    pub fn resolve(&mut self, r: &Ref) -> Result<u64, Error> {
        if r.life != self.me {
            return Err(if r.life.node == self.me.node { Error::OtherIncarnation } else { Error::Unknown });
        }
        let e = self.exports.check(self.me, r.slot, r.generation, r.seal)?;
        let moved = e.moved;
        let handle = self.exports.handle(r.slot);
        // One that has moved is not met here: what it became is marked where its caller is told.
        if moved.is_none() && !planted(Bug::CalledUnmarked) {
            self.mark(r.slot);
        }
        if moved.is_some() { Err(Error::Moved) } else { Ok(handle) }
    }
    /// The object has moved to another node, where this import names it. Its entry stays as long as somebody has the old reference; each
    /// such caller learns of the new one by [`Error::Moved`].
    pub fn moved(&mut self, now: Time, handle: u64, to: Import) -> Result<(), Error> {
        self.target(to)?;
        let Some(slot) = self.exports.slot_of(handle) else { return Ok(()) };
        let to = self.imports.follow(to);
        self.pin(to);
        self.exports.move_to(slot, to);
        if self.exports.at(slot).is_some_and(|e| e.marked == self.turn) && self.round.is_some() {
            self.tell(now, to);
        }
        Ok(())
    }
    /// Where to, for [`Remote::send`] to the caller.
    pub fn moved_to(&mut self, r: &Ref) -> Option<Import> {
        (r.life == self.me).then_some(())?;
        self.exports.check(self.me, r.slot, r.generation, r.seal).ok()?.moved
    }

    /// A call of this object was found by other means than a reference of this node: it counts as reachable, as by [`Remote::resolve`].
    pub fn called(&mut self, handle: u64) {
        if let Some(slot) = self.exports.slot_of(handle) {
            self.mark(slot);
        }
    }
    /// The import of this reference, if there is one.
    pub fn import_of(&self, r: &Ref) -> Option<Import> {
        self.imports.find(r)
    }
    /// What became of an import that has moved, as far as it is known here; of another one, itself.
    pub fn current(&self, i: Import) -> Import {
        self.imports.follow(i)
    }
    /// The host makes a proxy of an import that it has none of, while something here holds it: its number, as of one that
    /// [arrived](Remote::arrive).
    pub fn again(&mut self, now: Time, i: Import) -> Option<u32> {
        match self.give(now, self.imports.follow(i), false) {
            Arrived::Import { version, .. } => Some(version),
            _ => None,
        }
    }

    /// What to put in a call of this import: where it is to be sent, directly.
    pub fn target(&self, i: Import) -> Result<Ref, Error> {
        let e = self.imports.get(self.imports.follow(i)).ok_or(Error::Collected)?;
        match e.state {
            State::Dead(Error::NodeLost)
                if self.peers.get(&e.r.life.node).is_some_and(|p| p.up && (p.theirs > 0 || p.life != e.r.life)) =>
            {
                Err(Error::OtherIncarnation)
            }
            State::Dead(why) => Err(why),
            _ => Ok(e.r),
        }
    }
    /// The owner says that `old` is `new` now. Calls of either go to `new`; the old reference is given back.
    pub fn redirect(&mut self, now: Time, old: Import, new: Import) {
        let (old, new) = (self.imports.follow(old), self.imports.follow(new));
        if old == new || self.imports.get(old).is_none() || self.imports.get(new).is_none() || planted(Bug::MoveUntold) {
            return;
        }
        self.pin(new);
        let e = self.imports.get_mut(old).expect("seen above");
        // A parcel that lends it needs it still; until then whoever hands it over again finds this entry.
        e.owed = Some(std::mem::replace(&mut e.state, State::Moved(new)));
        let told = e.told;
        if self.round.is_some() && told == self.turn {
            self.tell(now, new);
        }
        self.drop_if_unused(now, old);
    }
    /// A call names this import, or what it has moved to: that one is not given back before [`unused`](Self::unused), whatever becomes of its
    /// object. The call may be looked at long after its object went on, and is to find where to.
    pub fn used(&mut self, i: Import) -> Import {
        let i = self.imports.follow(i);
        self.pin(i);
        i
    }
    /// The call of this import is over. True: peers are told something.
    pub fn unused(&mut self, now: Time, i: Import) -> bool {
        let Some(e) = self.imports.get_mut(i) else { return false };
        if e.pins > 1 || e.given && e.owed.is_none() {
            e.pins = e.pins.saturating_sub(1);
            return false;
        }
        self.unpin(now, i);
        true
    }
    /// The host's proxy of this number is gone. One that was replaced meanwhile is not missed.
    pub fn dropped(&mut self, now: Time, i: Import, version: u32) {
        let Some(e) = self.imports.get_mut(i) else { return };
        if e.version == version || planted(Bug::OldProxy) {
            e.given = false;
            self.drop_if_unused(now, i);
        }
    }

    fn pin(&mut self, i: Import) {
        if let Some(e) = self.imports.get_mut(i) {
            e.pins += 1;
        }
    }
    fn unpin(&mut self, now: Time, i: Import) {
        if let Some(e) = self.imports.get_mut(i) {
            e.pins = e.pins.saturating_sub(1);
            self.drop_if_unused(now, i);
        }
    }
    fn drop_if_unused(&mut self, now: Time, i: Import) {
        let Some(e) = self.imports.get_mut(i) else { return };
        if e.pins == 0 && matches!(e.owed, Some(State::Live | State::Dead(_) | State::Moved(_))) {
            let (owed, r) = (e.owed.take().expect("it is owed"), e.r);
            self.imports.forget(i);
            self.give_back(now, owed, r);
        }
        let Some(e) = self.imports.get(i) else { return };
        // Whether its owner has it down is not known before the claim is answered.
        if e.given || e.pins > 0 || e.owed.is_some() || matches!(e.state, State::Claiming(_)) {
            return;
        }
        let e = self.imports.remove(i).expect("it was there");
        match e.state {
            State::Moved(to) => self.unpin(now, to),
            state => self.give_back(now, state, e.r),
        }
    }
    /// Its owner hears that this node does not hold it any more.
    fn give_back(&mut self, now: Time, state: State, r: Ref) {
        let Some(p) = self.peers.get_mut(&r.life.node).filter(|p| p.life == r.life) else { return };
        match state {
            State::Live => {
                p.imports = p.imports.saturating_sub(1);
                if !planted(Bug::ReleaseLost) || !r.slot.is_multiple_of(8) {
                    p.push(now, &self.o, crate::message::Op::Release { slot: r.slot, generation: r.generation });
                }
            }
            State::Claiming(_) | State::Dead(_) | State::Moved(_) => {}
        }
    }

    /// Which life of a node answers: to it [`Remote::send`] hands over.
    pub fn met(&self, node: NodeId) -> Option<Life> {
        self.peers.get(&node).filter(|p| p.up && p.theirs != 0).map(|p| p.life)
    }
    /// Objects that others hold: the host's handle, how many nodes hold it. They are roots of every collection. Objects that have moved
    /// are not among them.
    pub fn exports(&self) -> impl Iterator<Item = (u64, u32)> {
        self.exports.each().filter(|(_, e)| e.moved.is_none()).map(|(slot, e)| (self.exports.handle(slot), e.holders))
    }
    /// Is this object exported?
    pub fn is_exported(&self, handle: u64) -> bool {
        self.exports.slot_of(handle).is_some()
    }
    /// Who holds an object.
    pub fn holders(&self, handle: u64) -> Vec<Life> {
        let Some(slot) = self.exports.slot_of(handle) else { return Vec::new() };
        self.peers.values().filter(|p| p.holdings.contains_key(&slot)).map(|p| p.life).collect()
    }
    /// The reference by which others know an object, if any does.
    pub fn reference_to(&self, handle: u64) -> Option<Ref> {
        self.exports.slot_of(handle).map(|slot| self.exports.reference(self.me, slot))
    }
    /// What stands between this node and another that was met: objects of this one that it holds or is about to, objects of it that this
    /// one holds.
    pub fn between(&self, node: NodeId) -> Option<(usize, usize)> {
        self.peers.get(&node).filter(|p| p.up && p.theirs != 0).map(|p| (p.holdings.len(), p.imports))
    }
    /// Does its owner know that this node holds it? Until then the lease of whoever handed it over protects it.
    pub fn is_confirmed(&self, i: Import) -> bool {
        self.imports.get(i).is_some_and(|e| e.state == State::Live)
    }
    /// All imports, with their references.
    pub fn imports(&self) -> impl Iterator<Item = (Import, Ref)> {
        self.imports.each().map(|(i, e)| (i, e.r))
    }
    /// Objects that nobody else holds any more, since the beginning.
    pub fn given_back(&self) -> u64 {
        self.stats.released + self.stats.swept
    }
    /// What was counted.
    pub fn stats(&self) -> Stats {
        let peers = self.peers.values();
        Stats {
            exports: self.exports.len(),
            imports: self.imports.len(),
            parcels: peers.clone().map(|p| p.parcels.len()).sum(),
            waiting: peers.map(|p| p.waiting()).sum(),
            suspects: self.suspects[0],
            ..self.stats
        }
    }
}
