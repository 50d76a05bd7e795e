//! What two nodes' tables say to each other, beside the host's own messages.
//!
//! **Invariant.** Operations between two nodes form one stream each way, numbered from 1 on in each session. A packet has some of them
//! in a row, and which ones of the other way have come. So a lost packet is sent again, a repeated one changes nothing, and of those out
//! of order the early ones are left for their repetition.
//!
//! A *session* is (incarnation, epoch) at both ends. It is over when one end has not heard the other for a lease; the epochs after it
//! are higher, and packets of the old ones change nothing. Operations and parcels are taken from whoever names both epochs as they are;
//! a packet that does not is answered, which tells its sender.

mod codec;

use crate::name::{Error, Life, NodeId};

pub(crate) use codec::MAX_MEMBERS;
pub use codec::{MAX_OPS, MAX_PACKET, VERSION};

/// Some operations, and the state of the session that they belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// The sender's incarnation and epoch.
    pub incarnation: u64,
    pub epoch: u64,
    /// The receiver's, as the sender knows them. Epoch 0: not known yet.
    pub to_incarnation: u64,
    pub to_epoch: u64,
    /// The receiver is to answer, whether there is anything to say or not.
    pub ask: bool,
    /// The receiver's sessions up to this epoch are over at the sender's.
    pub over: u64,
    /// Rises with each packet of a session: an old one that comes late is no sign of life.
    pub number: u64,
    /// All operations of the other way that are below have come.
    pub ack: u64,
    /// All parcels of the sender that are below are settled.
    pub settled: u64,
    /// The first operation's number.
    pub seq: u64,
    pub ops: Vec<Op>,
}

/// A collection across nodes. The later one is the greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoundId {
    /// Rises with each round.
    pub number: u64,
    /// The [`NodeId`] of the node that leads it.
    pub leader: u64,
}

impl RoundId {
    pub(crate) fn leader(self) -> NodeId {
        NodeId(self.leader)
    }
}

/// One thing said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// I hold this object of yours, which another node handed me.
    Claim {
        slot: u32,
        generation: u32,
        seal: u64,
    },
    /// To the oldest claim without an answer.
    Granted,
    Refused(Error),
    /// I hold this object of yours no more.
    Release {
        slot: u32,
        generation: u32,
    },
    /// Your parcel has come, and what it brought is mine.
    Settled(u64),
    /// Your parcel has not come, or was refused; it will be refused from now on.
    Fenced(u64),
    /// My parcel is settled, or will not come any more: is it?
    Revoke(u64),
    /// Something reachable holds this object of yours.
    Mark {
        round: RoundId,
        slot: u32,
        generation: u32,
    },
    /// A round begins among these.
    Begin {
        round: RoundId,
        members: Vec<Life>,
    },
    /// Say how you stand, once nothing is left to be traced.
    Probe {
        round: RoundId,
        wave: u64,
    },
    Report {
        round: RoundId,
        wave: u64,
        report: Report,
    },
    /// Collect fully once more.
    Verify {
        round: RoundId,
    },
    /// What is not marked is garbage.
    Sweep {
        round: RoundId,
    },
    /// I may have cycles across nodes.
    Want,
    /// What you said can't be: why.
    Complain(Error),
}

/// How a node stands in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// It takes no part any more, or knows nodes that take none.
    pub void: bool,
    /// Nothing has become reachable from elsewhere since its last full collection.
    pub verified: bool,
    /// How often something became so.
    pub version: u64,
    /// Marks.
    pub sent: u64,
    pub received: u64,
}
