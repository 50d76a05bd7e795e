//! What the serving thread knows of a connection.

use super::dial::Failures;
use crate::channel::{Channel, Peer};
use kumi_segments::Time;
use kumi_wire::Message;
use std::net::IpAddr;
use std::sync::Arc;

/// How far a connection is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// The socket is not connected yet.
    Connecting,
    /// Who is there is not known yet.
    Shaking,
    /// Another life of the same name is connected, or it has this node's name: gossip only, until it is known which one stays.
    Aside,
    /// In use.
    Open,
    /// The second one of a peer that has one in use: for large messages of the node that made it.
    Bulk,
}

pub struct Line {
    pub channel: Arc<Channel>,
    pub phase: Phase,
    pub since: Time,
    /// When something came.
    pub heard: Time,
    /// It was asked whether it is there, and has until then.
    pub deadline: Option<Time>,
    /// When it was last needed.
    pub used: Time,
    /// Since when more waits for it than may, and what had gone by then.
    pub behind: Option<(Time, u64)>,
    /// Who connected; `None`: this node, or a Unix socket.
    pub source: Option<IpAddr>,
    /// The address that was called.
    pub dialed: Option<Arc<str>>,
    /// How often that had failed before.
    pub failures: Failures,
    /// Who it says it is.
    pub hello: Option<kumi_wire::Hello>,
    pub peer: Option<Peer>,
    /// Where it says it is reached.
    pub address: Option<Arc<str>>,
    /// It was made as the second one of this peer.
    pub second_of: Option<Peer>,
    /// Messages that came while it stood aside.
    pub held: Vec<Message>,
}

impl Line {
    pub fn name(&self) -> &str {
        self.hello.as_ref().map_or("", |h| &h.name)
    }

    pub fn incarnation(&self) -> u64 {
        self.hello.as_ref().map_or(0, |h| h.incarnation)
    }

    /// For people.
    pub fn whom(&self) -> String {
        match (&self.dialed, &self.source, self.name()) {
            (_, _, name) if !name.is_empty() => name.to_owned(),
            (Some(address), _, _) => address.to_string(),
            (None, Some(ip), _) => ip.to_string(),
            (None, None, _) => "a Unix socket".to_owned(),
        }
    }
}
