//! What a client and an owner say to each other. How it is written is the affair of `kumi-link`; values are whatever the two
//! sides of a connection make of them.

use crate::manager::{Back, Event, KeyStats, Kind, Stored, Time};

/// The most inputs that one call asks for, and so the most leases that one ends.
pub const INPUTS: usize = 256;
/// The most outputs of one call: what a run puts at one owner.
pub const OUTPUTS: usize = 1 << 16;

/// A client's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FromClient<V> {
    /// The client's incarnation: grows whenever a node of this name starts.
    pub incarnation: u64,
    /// The owner's incarnation as the client knows it; 0: it does not know it yet.
    pub owner: u64,
    /// The session that the owner has welcomed it to; 0: none yet.
    pub session: u64,
    /// Calls whose answers the client has, since the last message.
    pub got: Vec<u64>,
    /// The rest.
    pub body: Body<V>,
}

/// What a client's message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body<V> {
    /// The client begins, begins again after a lost connection, or makes sure: calls up to `upto` that are not among
    /// `outstanding` are done with.
    Sync {
        /// Rises with each of them; the welcome names it.
        number: u64,
        /// The last call's number.
        upto: u64,
        /// Calls without an answer.
        outstanding: Vec<u64>,
    },
    /// A call.
    Call(u64, Call<V>),
    /// Nothing but what `got` says.
    Receipts,
}

/// An owner's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FromOwner<V> {
    /// The owner's incarnation.
    pub incarnation: u64,
    /// The client's incarnation that it is for.
    pub client: u64,
    /// The owner's clock when it was sent, by which a client knows answers that were long on their way.
    pub sent: Time,
    /// The rest.
    pub body: Reply<V>,
}

/// What an owner's message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<V> {
    /// To `Sync`, and to other messages of a client that the owner does not know.
    Welcome {
        /// The number of the `Sync`; `None`: the client is to send one.
        sync: Option<u64>,
        /// The client's session; 0: it has none. One that it does not know is new: what it said in another is lost.
        session: u64,
    },
    /// A later incarnation of this client was here: this one is served no more.
    Fenced,
    /// To a call.
    Answer(u64, Result<Done<V>, Refusal>),
}

/// What a client asks of an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call<V> {
    /// Put or update.
    Put(Put<V>),
    /// Peeks and takes, all in one step.
    Get(Ask),
    /// Ends leases and puts outputs, all or nothing.
    Commit {
        /// The leases.
        leases: Vec<u64>,
        /// What is put.
        outputs: Vec<Store<V>>,
    },
    /// Gives a segment back.
    GiveBack {
        /// Its lease.
        lease: u64,
        /// How. An older owner takes what nobody has seen for what is as it was.
        left: Back<V>,
    },
    /// Leases last so long from now on.
    Extend {
        /// The leases.
        leases: Vec<u64>,
        /// Nanoseconds.
        long: Time,
    },
    /// The client does not want the answer of an earlier call any more.
    Leave(u64),
    /// Names of keys.
    Names {
        /// They begin so.
        prefix: Vec<u8>,
        /// And are above this one.
        after: Option<Vec<u8>>,
        /// At most so many.
        most: u32,
    },
    /// How a key stands.
    Stats(Vec<u8>),
    /// Limits a key's queue; 0: not at all.
    Limit(Vec<u8>, u64),
    /// What happens under a key.
    Watch(Watch),
}

/// A watch is its client's, who gives it a number, and ends with the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watch {
    /// It begins. At most so many events are kept until the client asks for them; of more the oldest are missed.
    Begin {
        /// Its number.
        watch: u64,
        /// The key.
        key: Vec<u8>,
        /// Events.
        most: u64,
    },
    /// The events since the last call, some at a time; without any it waits. Whoever does not ask is told nothing: at most one such
    /// call of a watch is under way.
    Next(u64),
    /// It ends. A call that waits for its events is answered with none.
    End(u64),
}

/// A value and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store<V> {
    /// The key.
    pub key: Vec<u8>,
    /// Update rather than put?
    pub update: bool,
    /// The value.
    pub value: V,
    /// Is it its taker's alone?
    pub owned: bool,
    /// It enters so much later, in nanoseconds.
    pub delay: Option<Time>,
    /// It ends so long after it entered, in nanoseconds.
    pub ttl: Option<Time>,
}

/// A put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put<V> {
    /// What, and where.
    pub store: Store<V>,
    /// Does it wait for room?
    pub wait: bool,
}

/// Peeks and takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Key, kind, index to look behind.
    pub inputs: Vec<(Vec<u8>, Kind, Option<u64>)>,
    /// A lease's length for what is taken; `None`: it is the client's as soon as it has it.
    pub lease: Option<Time>,
    /// Does it wait?
    pub wait: bool,
}

/// A segment that a client gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSegment<V> {
    /// See [`Segment`](crate::Segment).
    pub index: u64,
    /// The value.
    pub value: V,
    /// See [`Segment`](crate::Segment).
    pub owned: bool,
    /// See [`Segment`](crate::Segment).
    pub changed: bool,
    /// See [`Segment`](crate::Segment).
    pub deliveries: u32,
    /// Of what was taken to be held.
    pub lease: Option<u64>,
}

/// A call was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done<V> {
    /// A put, with the index; `None`: it enters later.
    Stored(Option<u64>),
    /// A segment for each input.
    Segments(Vec<RemoteSegment<V>>),
    /// Something was not there, and nobody waits.
    Nothing,
    /// Commit, give back, extend, limit.
    Ok,
    /// The earlier call is left. A put that had found room says where.
    Left(Option<Stored>),
    /// Names of keys.
    Names(Vec<Vec<u8>>),
    /// How a key stands.
    Stats(KeyStats),
    /// What has happened under a key. None: the watch is over.
    Events(Vec<Event<V>>),
}

/// A call was not done, and has changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The key's queue is full.
    Full,
    /// One of the leases is over. To `Get`: what was taken for it came back before the client had it; it is to ask anew.
    LeaseOver,
    /// An index that was not given out yet.
    Stale {
        /// The key's last one.
        last: u64,
    },
    /// The owner keeps no more for this client: keys, segments or waiting calls.
    Quota,
    /// The call makes no sense.
    Bad,
    /// The owner is about to go, and begins nothing.
    Leaving,
    /// The key is another node's now: it may be asked for there.
    Moved,
    /// This client may not do that with this key.
    NotAllowed,
}
