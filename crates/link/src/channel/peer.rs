//! Another node, as its users name it.

use super::{Channel, Waiting};
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
    /// What the other side of the present connection, or the last one, said it knows.
    features: AtomicU64,
    channel: Mutex<Option<Arc<Channel>>>,
    /// The connection for what is large: a small message never waits behind it, not in the system's buffers either.
    bulk: Mutex<Bulk>,
    /// A connection to it is made again when it breaks.
    wanted: AtomicBool,
}

/// The connection of a node's large messages to a peer. It belongs to the connection of the small ones, and ends with it.
enum Bulk {
    /// None was wanted yet.
    Not,
    /// It is being made; what waits for it, and of that the bytes that nobody else holds.
    Made(Vec<Waiting>, usize),
    Here(Arc<Channel>),
    /// There is no way: large messages go with the small ones.
    Never,
}

/// Which way a large message goes.
pub enum Way {
    /// On this connection; of a pair it is the second.
    Channel(Arc<Channel>),
    /// It waits for the second connection. Is that to be asked for?
    Waits(bool),
}

impl Peer {
    pub(crate) fn new(name: Name) -> Peer {
        let (incarnation, features) = (AtomicU64::new(0), AtomicU64::new(0));
        let (channel, wanted) = (Mutex::new(None), AtomicBool::new(false));
        Peer(Arc::new(Inner { name, incarnation, features, channel, bulk: Mutex::new(Bulk::Not), wanted }))
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.0.name
    }

    /// Which life of it the connection is to, or the last one was; 0: there was none yet.
    pub fn incarnation(&self) -> u64 {
        self.0.incarnation.load(Ordering::Acquire)
    }

    /// Whether it knows what has this name in [`features`](crate::features). `None`: there was no connection yet to hear it on.
    pub fn knows(&self, feature: u64) -> Option<bool> {
        (self.incarnation() != 0).then(|| self.0.features.load(Ordering::Relaxed) & feature == feature)
    }

    /// Whether there is a connection.
    pub fn is_connected(&self) -> bool {
        self.0.channel.lock().is_some()
    }

    /// Whether there is a connection that takes messages. One that does not is about to end, which its host is told of.
    pub fn is_open(&self) -> bool {
        self.channel().is_some_and(|c| c.is_open())
    }

    /// Bytes that wait to be sent to it. Who sends much should wait while this is high, for [`Host::drained`](crate::Host::drained).
    pub fn backlog(&self) -> usize {
        let main = self.channel().map_or(0, |c| c.backlog());
        let (channel, bytes) = match &*self.0.bulk.lock() {
            Bulk::Here(c) => (Some(c.clone()), 0),
            Bulk::Made(waiting, _) => (None, waiting.iter().map(|w| w.payload.len()).sum()),
            Bulk::Not | Bulk::Never => (None, 0),
        };
        main + bytes + channel.map_or(0, |c| c.backlog())
    }

    pub(crate) fn channel(&self) -> Option<Arc<Channel>> {
        self.0.channel.lock().clone()
    }

    /// The connection is there, to a peer of this incarnation that knows so much.
    pub(crate) fn set_channel(&self, channel: Arc<Channel>, incarnation: u64, features: u64) {
        let mut slot = self.0.channel.lock();
        *self.0.bulk.lock() = Bulk::Not;
        self.0.features.store(features, Ordering::Relaxed);
        self.0.incarnation.store(incarnation, Ordering::Release);
        *slot = Some(channel);
    }

    /// It is there no more.
    pub(crate) fn no_channel(&self) {
        let mut slot = self.0.channel.lock();
        *self.0.bulk.lock() = Bulk::Not;
        *slot = None;
    }

    /// Which way a large message goes, if there is a connection at all (`main`). `most`: bytes that may wait for the second one; one that
    /// keeps its order waits in any case.
    pub(crate) fn way(&self, main: Arc<Channel>, most: usize, in_order: bool, message: impl FnOnce() -> Waiting) -> Way {
        let mut bulk = self.0.bulk.lock();
        let new = matches!(*bulk, Bulk::Not);
        if new {
            *bulk = Bulk::Made(Vec::new(), 0);
        }
        match &mut *bulk {
            Bulk::Made(waiting, bytes) if in_order || *bytes < most => {
                let message = message();
                *bytes += message.own;
                waiting.push(message);
                Way::Waits(new)
            }
            Bulk::Here(channel) => Way::Channel(channel.clone()),
            Bulk::Made(..) | Bulk::Not | Bulk::Never => Way::Channel(main),
        }
    }

    /// The second connection is there, or will not be: what waits for it is sent by `send`, before anything else finds it. Whether any did.
    pub(crate) fn set_bulk(&self, channel: Option<Arc<Channel>>, send: impl FnMut(Waiting)) -> bool {
        let now = channel.map_or(Bulk::Never, Bulk::Here);
        let mut bulk = self.0.bulk.lock();
        match std::mem::replace(&mut *bulk, now) {
            Bulk::Made(waiting, _) => {
                waiting.into_iter().for_each(send);
                true
            }
            _ => false,
        }
    }

    /// See [`Link::when_drained`](crate::Link::when_drained). `most`: bytes that may wait.
    pub(crate) fn when_drained(&self, large: bool, most: usize) -> bool {
        let Some(main) = self.channel() else { return true };
        if large {
            match &*self.0.bulk.lock() {
                // Who settles that tells it.
                Bulk::Made(..) => return true,
                Bulk::Here(channel) => return channel.when_drained(most),
                Bulk::Not | Bulk::Never => {}
            }
        }
        main.when_drained(most)
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
