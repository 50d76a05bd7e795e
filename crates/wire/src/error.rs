//! What was wrong with bytes from outside, for the log and for the peer.

use std::fmt;

/// Numbers of reasons to end a connection. From [`code::OWN`] on they belong to the crate's user.
pub mod code {
    /// Nothing is wrong: the node stops, or needs the connection no longer.
    pub const DONE: u16 = 0;
    /// No version that both speak.
    pub const VERSION: u16 = 1;
    /// A handshake that says impossible things.
    pub const HELLO: u16 = 2;
    /// Bytes that are no frame.
    pub const FRAME: u16 = 3;
    /// More than was allowed: a length, a number of streams.
    pub const LIMIT: u16 = 4;
    /// More was sent than the window allows, or more granted than was taken.
    pub const FLOW: u16 = 5;
    /// A payload that is no value, or no request.
    pub const VALUE: u16 = 6;
    /// The first code of the crate's user.
    pub const OWN: u16 = 1024;
}

/// Why a connection ended, as a `Goodbye` frame says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// One of [`code`], or a number from [`code::OWN`] on.
    pub code: u16,
    /// For a person: what was wrong, where, what to do. At most 1 KB travels.
    pub text: String,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.text, self.code)
    }
}

/// What was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireError {
    /// The first bytes are not those of a node: another protocol's client, or a port that belongs to something else.
    NotANode {
        /// The first bytes that came, eight at most.
        got: Vec<u8>,
    },
    /// No version that both speak.
    NoCommonVersion {
        /// The oldest and the newest version here.
        ours: (u16, u16),
        /// Those of the peer.
        theirs: (u16, u16),
    },
    /// A handshake that says impossible things: which.
    BadHello(&'static str),
    /// Limits that contradict each other, or a name that can't be one: which. This one is about the caller's own arguments.
    BadSetup(&'static str),
    /// Bytes that are no frame: why, and the frame's head.
    BadFrame {
        /// Why.
        what: &'static str,
        /// The kind that the head names.
        kind: u8,
        /// The stream that the head names.
        stream: u32,
    },
    /// A length beyond what is allowed.
    TooLong {
        /// What is too long.
        what: &'static str,
        /// How long it says that it is.
        length: u64,
        /// How long it may be.
        most: u64,
    },
    /// More streams in use at once than were allowed.
    TooManyStreams {
        /// How many may be in use.
        most: u32,
    },
    /// The peer sent on, though the stream's window was used up.
    WindowOverrun {
        /// The stream.
        stream: u32,
    },
    /// The peer granted what was never sent.
    GrantOverrun {
        /// The stream.
        stream: u32,
    },
    /// The connection has ended; nothing is read any more.
    Ended,
    /// Bytes that are no value, or no request.
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Where: the offset of the first byte of what is wrong.
        at: usize,
    },
}

impl WireError {
    /// The number under which the peer is told.
    pub fn code(&self) -> u16 {
        match self {
            WireError::NotANode { .. } | WireError::BadFrame { .. } | WireError::Ended => code::FRAME,
            WireError::NoCommonVersion { .. } => code::VERSION,
            WireError::BadHello(_) | WireError::BadSetup(_) => code::HELLO,
            WireError::TooLong { .. } | WireError::TooManyStreams { .. } => code::LIMIT,
            WireError::WindowOverrun { .. } | WireError::GrantOverrun { .. } => code::FLOW,
            WireError::Malformed { .. } => code::VALUE,
        }
    }

    /// What the peer is told.
    pub fn reason(&self) -> Reason {
        Reason { code: self.code(), text: self.to_string() }
    }

    pub(crate) fn malformed(what: &'static str, at: usize) -> WireError {
        WireError::Malformed { what, at }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::NotANode { got } => {
                write!(
                    f,
                    "the peer is no Kumihimo node: it began with \"{}\"; is this the right port, and TLS on both sides?",
                    got.escape_ascii()
                )
            }
            WireError::NoCommonVersion { ours, theirs } => write!(
                f,
                "no version of the protocol in common: {} to {} here, {} to {} there; update the older node first",
                ours.0, ours.1, theirs.0, theirs.1
            ),
            WireError::BadHello(what) => write!(f, "a handshake that can't be: {what}"),
            WireError::BadSetup(what) => write!(f, "{what}"),
            WireError::BadFrame { what, kind, stream } => write!(f, "{what} (a frame of kind {kind} on stream {stream})"),
            WireError::TooLong { what, length, most } => write!(f, "{what} of {length} bytes, where {most} are allowed"),
            WireError::TooManyStreams { most } => write!(f, "more than {most} streams in use at once"),
            WireError::WindowOverrun { stream } => write!(f, "more was sent on stream {stream} than its window allows"),
            WireError::GrantOverrun { stream } => write!(f, "more was granted to stream {stream} than was sent on it"),
            WireError::Ended => write!(f, "the connection has ended"),
            WireError::Malformed { what, at } => write!(f, "{what}, at byte {at}"),
        }
    }
}

impl std::error::Error for WireError {}
