//! Another node, as its users name it.

use super::Channel;
use kumi_membership::Name;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Another node: its name, and the connection to it while there is one. Cheap to clone, and resolved once for many messages.
#[derive(Clone)]
pub struct Peer(Arc<Inner>);

struct Inner {
    name: Name,
    /// Of the present connection, or of the last one; 0: there was none.
    incarnation: AtomicU64,
    channel: Mutex<Option<Arc<Channel>>>,
    /// A connection to it is made again when it breaks.
    wanted: AtomicBool,
}

impl Peer {
    pub(crate) fn new(name: Name) -> Peer {
        let (incarnation, channel, wanted) = (AtomicU64::new(0), Mutex::new(None), AtomicBool::new(false));
        Peer(Arc::new(Inner { name, incarnation, channel, wanted }))
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.0.name
    }

    /// Which life of it the connection is to, or the last one was; 0: there was none yet.
    pub fn incarnation(&self) -> u64 {
        self.0.incarnation.load(Ordering::Acquire)
    }

    /// Whether there is a connection.
    pub fn is_connected(&self) -> bool {
        self.0.channel.lock().is_some()
    }

    /// Bytes that wait to be sent to it. Who sends much should wait while this is high, for [`Host::drained`](crate::Host::drained).
    pub fn backlog(&self) -> usize {
        self.channel().map_or(0, |c| c.backlog())
    }

    pub(crate) fn channel(&self) -> Option<Arc<Channel>> {
        self.0.channel.lock().clone()
    }

    pub(crate) fn set_channel(&self, channel: Option<Arc<Channel>>, incarnation: u64) {
        let mut slot = self.0.channel.lock();
        if channel.is_some() {
            self.0.incarnation.store(incarnation, Ordering::Release);
        }
        *slot = channel;
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.0.wanted.load(Ordering::Relaxed)
    }

    /// Whether that is new.
    pub(crate) fn want(&self, wanted: bool) -> bool {
        self.0.wanted.swap(wanted, Ordering::Relaxed) != wanted
    }

    /// Whether nobody but the link's table has it.
    pub(crate) fn is_alone(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

impl PartialEq for Peer {
    fn eq(&self, other: &Peer) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Peer {}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.0.name, self.incarnation())
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}
