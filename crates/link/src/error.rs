//! What goes wrong, for the person who started the node.

use kumi_wire::{Reason, WireError};
use std::fmt;
use std::io;

/// Codes of `Goodbye` beside those of `kumi-wire`.
pub mod code {
    use kumi_wire::code::OWN;

    /// Another connection between the same two nodes is kept.
    pub const DUPLICATE: u16 = OWN;
    /// The peer's certificate does not name it.
    pub const CERTIFICATE: u16 = OWN + 1;
    /// A later life of the peer is known.
    pub const STALE: u16 = OWN + 2;
    /// It does not read what it is sent.
    pub const SLOW: u16 = OWN + 3;
    /// There are as many connections as may be.
    pub const BUSY: u16 = OWN + 4;
    /// Nothing came for too long.
    pub const SILENT: u16 = OWN + 5;
    /// The connection for large messages ended, and this one with it.
    pub const SECOND: u16 = OWN + 7;
    /// It called itself.
    pub const ITSELF: u16 = OWN + 6;
    /// Nothing that is sent arrives.
    pub const UNHEARD: u16 = OWN + 8;
}

/// Why a node was not started, or its certificates not changed.
#[derive(Debug)]
pub enum LinkError {
    /// An address that can't be one, or that nobody may listen at: which, and why.
    Address(String, &'static str),
    /// The system refused an address.
    Listen(String, io::Error),
    /// A live node has this Unix socket.
    InUse(String),
    /// Only TLS may be listened with there.
    Insecure(String),
    /// The node's name or address is none.
    Member(kumi_membership::BadMember),
    /// A file of certificates or keys that can't be read.
    File(String, io::Error),
    /// Certificates or a key that can't be used: why.
    Certificate(String),
    /// Options that contradict each other.
    Options(String),
    /// The system has no thread or no readiness for the node.
    System(io::Error),
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkError::Address(address, why) => write!(f, "{address}: {why}"),
            LinkError::Listen(address, e) => write!(f, "can't listen at {address}: {e}"),
            LinkError::InUse(address) => write!(f, "can't listen at {address}: another node does"),
            LinkError::Insecure(address) => write!(
                f,
                "without TLS a node listens on loopback and Unix sockets only, and {address} is neither: \
                 give certificates, or say that it may be insecure (--insecure)"
            ),
            LinkError::Member(e) => e.fmt(f),
            LinkError::File(file, e) => write!(f, "{file}: {e}"),
            LinkError::Certificate(why) => f.write_str(why),
            LinkError::Options(why) => f.write_str(why),
            LinkError::System(e) => write!(f, "can't serve connections: {e}"),
        }
    }
}

impl std::error::Error for LinkError {}

/// Why a message was not sent, and will not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// There is no connection. One is being made; [`Host::connected`](crate::Host::connected) says when it is there.
    NotConnected,
    /// No member has this name.
    Unknown,
    /// It is longer than a message may be.
    TooLong {
        /// How long it may be.
        most: usize,
    },
    /// The peer reads more slowly than it is sent to, and the connection was ended for it.
    Slow,
    /// The link was stopped.
    Stopped,
    /// The peer is of an older version, which does not know this.
    TooOld,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::NotConnected => f.write_str("there is no connection to that node"),
            SendError::Unknown => f.write_str("no member of the cluster has that name"),
            SendError::TooLong { most } => write!(f, "a message longer than the {most} bytes that are allowed"),
            SendError::Slow => f.write_str("the node reads more slowly than it is sent to, and was disconnected"),
            SendError::Stopped => f.write_str("this node has stopped"),
            SendError::TooOld => f.write_str("the node runs an older version of kumi, which does not know this"),
        }
    }
}

impl std::error::Error for SendError {}

/// Why a connection ended, or was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// This node ended it: for this reason.
    Here(Reason),
    /// The peer did.
    There(Reason),
    /// The peer broke the rules.
    Fault(WireError),
    /// TLS failed: why.
    Tls(String),
    /// The system says so.
    Socket(io::ErrorKind, String),
    /// It was closed without a word.
    Closed,
    /// Another connection to the same node takes its place.
    Replaced,
}

impl Why {
    pub(crate) fn socket(e: &io::Error) -> Why {
        Why::Socket(e.kind(), e.to_string())
    }

    /// Whether both sides meant it: then nothing is wrong with the peer.
    pub fn is_orderly(&self) -> bool {
        let done = |r: &Reason| r.code == kumi_wire::code::DONE || r.code == code::DUPLICATE || r.code == code::ITSELF;
        match self {
            Why::Here(r) | Why::There(r) => done(r),
            Why::Replaced => true,
            _ => false,
        }
    }

    /// Whether it says that the peer may be gone, beyond what the absence of its answers does.
    pub(crate) fn is_hint(&self) -> bool {
        !self.is_orderly() && !matches!(self, Why::Here(r) if r.code == code::UNHEARD)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Here(r) => write!(f, "ended here: {r}"),
            Why::There(r) => write!(f, "ended by the peer: {r}"),
            Why::Fault(e) => e.fmt(f),
            Why::Tls(e) => f.write_str(e),
            Why::Socket(_, e) => f.write_str(e),
            Why::Closed => f.write_str("the connection was closed without a word"),
            Why::Replaced => f.write_str("another connection to the same node takes its place"),
        }
    }
}
