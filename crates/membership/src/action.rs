//! What a cluster's member has its owner do, or know.

use crate::member::{Member, Name};
use crate::packet::Malformed;
use std::fmt;
use std::sync::Arc;

/// Something to be done or known. They come in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Send these bytes to whoever listens there. They may be lost, late, repeated or out of order.
    Send {
        /// `host:port`, or the path of a Unix socket.
        to: Arc<str>,
        /// At most [`crate::MAX_PACKET`] of them.
        bytes: Vec<u8>,
    },
    /// A member is there.
    Up(Member),
    /// A member may be gone. It counts as there until it is down.
    Suspect(Member),
    /// A suspected member has shown that it lives.
    Refuted(Member),
    /// This life of a member is over, whatever its node thinks.
    Down(Member, Why),
    /// The others took this node for down, or know a later life of it: its own incarnation is now this one. What it held under an
    /// earlier one is no longer its own.
    Rejoined(Member),
    /// Another node has this one's name, and keeps it. This node is out, and does nothing any more.
    Conflict {
        /// The name of both.
        name: Name,
        /// Who keeps it.
        holder: Member,
    },
    /// Bytes were refused, or this node was.
    Rejected {
        /// Who sent them, as the receiver was told.
        from: Box<str>,
        /// What was wrong.
        reason: Reject,
    },
}

/// Why a member is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It did not refute a suspicion in time.
    Failed,
    /// It said that it goes.
    Left,
    /// A later life of the same node is there.
    Replaced,
}

/// Why bytes were refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reject {
    /// They are no packet.
    Malformed(Malformed),
    /// They are more than a packet may have.
    TooLong,
    /// The sender sends more than it may; told once a second.
    TooMuch,
    /// They make no sense where they came.
    Senseless,
    /// The sender's name is another node's.
    NameTaken(Name),
    /// A life of the sender is known that is no earlier than the one it has.
    Stale(Name),
    /// There are as many members as may be: here, or where this node wanted to join.
    Full,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Send { to, bytes } => write!(f, "send {} bytes to {to}", bytes.len()),
            Action::Up(m) => write!(f, "node {} at {} is up", m.name(), m.address()),
            Action::Suspect(m) => write!(f, "node {} at {} may be gone", m.name(), m.address()),
            Action::Refuted(m) => write!(f, "node {} at {} lives", m.name(), m.address()),
            Action::Down(m, Why::Failed) => write!(f, "node {} at {} does not answer any more", m.name(), m.address()),
            Action::Down(m, Why::Left) => write!(f, "node {} at {} has left", m.name(), m.address()),
            Action::Down(m, Why::Replaced) => write!(f, "node {} at {} was started again", m.name(), m.address()),
            Action::Rejoined(m) => write!(f, "node {} was taken for gone and is back with incarnation {}", m.name(), m.incarnation()),
            Action::Conflict { name, holder } => {
                write!(f, "another node named {name} is in the cluster, at {}: choose another name", holder.address())
            }
            Action::Rejected { from, reason } => write!(f, "refused bytes from {from}: {reason}"),
        }
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reject::Malformed(m) => m.fmt(f),
            Reject::TooLong => f.write_str("more than a packet may have"),
            Reject::TooMuch => f.write_str("more packets a second than one sender may send"),
            Reject::Senseless => f.write_str("a message that makes no sense here"),
            Reject::NameTaken(n) => write!(f, "the name {n} is another node's"),
            Reject::Stale(n) => write!(f, "a later life of {n} is known"),
            Reject::Full => f.write_str("the cluster has as many members as it may"),
        }
    }
}
