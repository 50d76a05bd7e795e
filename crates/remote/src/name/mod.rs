//! How nodes, their lives and their objects are named between nodes.
//!
//! **Invariant.** A [`Ref`] names one object, for ever: a slot is given to another object under a later generation only, and a node that
//! starts again has another incarnation. Its seal follows from both by a key that only its node knows, so none can be made up.

mod seal;

use kumi_wire::{Decoder, Encoder, WireError};
use std::fmt;

pub(crate) use seal::seal;

/// A node, whichever of its lives. The host makes it of the node's name, so that no two names of a cluster share it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u64);

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:x}", self.0)
    }
}

/// A node that runs once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Life {
    /// The node.
    pub node: NodeId,
    /// Grows whenever a node of this name starts. Never 0.
    pub incarnation: u64,
}

/// An object of some node, as other nodes know it. It says nothing of where the object is in its node's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref {
    /// Whose object it is.
    pub life: Life,
    /// Its place in the export table.
    pub slot: u32,
    /// How often that place was given to another object before.
    pub generation: u32,
    /// Shows that the owner made this reference.
    pub seal: u64,
}

impl Ref {
    /// Appends it: at most 36 bytes, 28 of a usual one.
    pub fn write(&self, out: &mut Encoder) {
        out.fixed(self.life.node.0).number(self.life.incarnation).number(self.slot.into()).number(self.generation.into()).fixed(self.seal);
    }
    /// Reads what [`Ref::write`] wrote.
    pub fn read(from: &mut Decoder) -> Result<Ref, WireError> {
        Ok(Ref {
            life: Life { node: NodeId(from.fixed()?), incarnation: from.number()? },
            slot: from.number_to(u32::MAX.into())? as u32,
            generation: from.number_to(u32::MAX.into())? as u32,
            seal: from.fixed()?,
        })
    }
}

/// Why a reference is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Its node is gone, or was cut off for longer than its lease.
    NodeLost,
    /// Its node lives, but in another life, or has meanwhile taken this node for gone.
    OtherIncarnation,
    /// The object was collected: nobody held it any more.
    Collected,
    /// Nobody ever made this reference.
    Forged,
    /// The object has moved. The host looks up where to ([`Remote::moved_to`](crate::Remote::moved_to)) and tells the caller.
    Moved,
    /// More than one peer may have: exports, imports, messages on their way.
    Quota,
    /// The message that carries it was given up by its sender before it came, or came before.
    Revoked,
    /// Its node is not known here.
    Unknown,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::NodeLost => "the object's node is gone, or was cut off for longer than its lease",
            Error::OtherIncarnation => "the object belongs to an earlier life of its node",
            Error::Collected => "the object was collected: nobody held it any more",
            Error::Forged => "no such reference was ever made",
            Error::Moved => "the object has moved to another node",
            Error::Quota => "this node keeps account of no more nodes, or of no more references to that one",
            Error::Revoked => "the message that carries the reference was given up, or came before",
            Error::Unknown => "the object's node is not known here",
        })
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_travel() {
        let most = Ref { life: Life { node: NodeId(u64::MAX), incarnation: u64::MAX }, slot: u32::MAX, generation: u32::MAX, seal: 9 };
        let usual = Ref { life: Life { node: NodeId(77), incarnation: 1_790_000_000_000_000_000 }, slot: 9000, generation: 3, seal: 1 };
        for (r, long) in [(most, 36), (usual, 28)] {
            let mut bytes = Vec::new();
            r.write(&mut Encoder::new(&mut bytes));
            assert_eq!(bytes.len(), long);
            assert_eq!(Ref::read(&mut Decoder::new(&bytes)), Ok(r));
            for n in 0..bytes.len() {
                assert!(Ref::read(&mut Decoder::new(&bytes[..n])).is_err());
            }
        }
    }
}
