//! The handle by which a node's connections are used.

use crate::channel::{Channel, Left, Manner, Order, Peer, Waiting, Way, Writer, kind};
use crate::codec::{self, Out};
use crate::error::{LinkError, SendError};
use crate::options::Limits;
use crate::recorded;
use crate::serving::Serving;
use crate::tls::Tls;
use bytes::Bytes;
use kumi_membership::{Member, Name};
use kumi_segments::{FromClient, FromOwner, Time};
use kumi_wire::Trace;
use mio::{Registry, Waker};
use parking_lot::{Mutex, RwLock};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

thread_local! {
    /// Which link this thread serves; 0: none.
    static SERVES: Cell<usize> = const { Cell::new(0) };
    static SCRATCH: RefCell<Out> = RefCell::new(Out::default());
}

/// A node's connections: cheap to clone, used from any thread. It serves until [`stop`](Link::stop).
#[derive(Clone)]
pub struct Link {
    pub(crate) shared: Arc<Shared>,
}

/// What the handles and the serving thread share. Each lock is held for a few instructions.
pub struct Shared {
    pub me: Mutex<Member>,
    /// By name, this node among them.
    pub members: Mutex<Arc<[Member]>>,
    pub peers: RwLock<HashMap<Name, Peer>>,
    pub told: Mutex<Told>,
    /// Something is there. It may be late: the serving thread looks at `told` itself before it sleeps.
    pub has_told: AtomicBool,
    /// `told.held` is not empty.
    pub has_held: AtomicBool,
    /// Who serves sleeps, or is about to, and was not woken yet.
    pub sleeping: AtomicBool,
    pub waker: Waker,
    pub serving: Serving,
    pub registry: Registry,
    pub tls: Mutex<Option<Tls>>,
    pub limits: Limits,
    /// How many times longer than usual others may take.
    pub patience: u32,
    pub recorder: Option<Arc<kumi_record::Recorder>>,
    pub thread: Mutex<Option<JoinHandle<()>>>,
    /// Names that are being looked up.
    pub lookups: AtomicUsize,
    pub listening: Vec<String>,
}

/// What the serving thread was told.
#[derive(Default)]
pub struct Told {
    /// Connections that it is to write to, and those for large messages.
    pub dirty: Vec<Arc<Channel>>,
    pub bulk: Vec<Arc<Channel>>,
    /// Connections that may hold something back.
    pub held: Vec<Arc<Channel>>,
    pub commands: Vec<Command>,
}

/// What the serving thread is asked for.
pub enum Command {
    /// A connection to this node is wanted.
    Connect(Peer),
    /// A second one is, for large messages.
    Bulk(Peer),
    /// The node leaves the cluster.
    Leave,
    /// A name was looked up.
    Found(Arc<str>, std::io::Result<Vec<SocketAddr>>),
}

/// A message to another node.
#[derive(Clone, Debug)]
pub enum Message {
    /// Of this node as a client.
    FromClient(FromClient<Bytes>),
    /// Of this node as an owner.
    FromOwner(FromOwner<Bytes>),
    /// Of the host's own: the peer's [`Host::other`](crate::Host::other) gets these bytes.
    Other(Bytes),
}

impl From<Bytes> for Message {
    fn from(bytes: Bytes) -> Self {
        Message::Other(bytes)
    }
}

impl From<FromClient<Bytes>> for Message {
    fn from(m: FromClient<Bytes>) -> Self {
        Message::FromClient(m)
    }
}

impl From<FromOwner<Bytes>> for Message {
    fn from(m: FromOwner<Bytes>) -> Self {
        Message::FromOwner(m)
    }
}

impl Link {
    /// May a node have this name? Otherwise [`LinkError::Member`].
    pub fn check_name(name: &str) -> Result<(), LinkError> {
        kumi_membership::Member::check_name(name).map_err(LinkError::Member)
    }

    /// This node.
    pub fn node(&self) -> Member {
        self.shared.me.lock().clone()
    }

    /// All members of the cluster by name, this node among them.
    pub fn members(&self) -> Arc<[Member]> {
        self.shared.members.lock().clone()
    }

    /// Where it listens, with ports.
    pub fn listening(&self) -> &[String] {
        &self.shared.listening
    }

    /// A node by name: a member, or one that there is a connection to.
    pub fn peer(&self, name: &str) -> Option<Peer> {
        if let Some(peer) = self.shared.peers.read().get(name) {
            return Some(peer.clone());
        }
        let found = self.members().binary_search_by(|m| (**m.name()).cmp(name)).is_ok();
        (found && name != &**self.node().name()).then(|| self.shared.peer(name))
    }

    /// Has a connection made, if there is none. It is made again when it breaks, as long as that node is a member.
    pub fn connect(&self, peer: &Peer) {
        if peer.want(true) || !peer.is_connected() {
            self.shared.command(Command::Connect(peer.clone()));
        }
    }

    /// Sends a message. It does not wait: what the socket does not take is sent later, in order within its size's lane.
    ///
    /// A message that was taken arrives, or the connection ends, and [`Host::disconnected`](crate::Host::disconnected) is called.
    ///
    /// # Errors
    /// Why it will not arrive.
    pub fn send(&self, peer: &Peer, message: impl Into<Message>) -> Result<(), SendError> {
        self.send_traced(peer, message, None)
    }

    /// As [`send`](Self::send), with the trace context of what is in it.
    ///
    /// # Errors
    /// Why it will not arrive.
    pub fn send_traced(&self, peer: &Peer, message: impl Into<Message>, trace: Option<&Trace>) -> Result<(), SendError> {
        self.send_by(peer, message.into(), trace, Manner { writer: Writer::Sender, order: Order::Any })
    }

    /// As [`send_traced`](Self::send_traced) for one of many: where they come quickly, it goes with the next of them, and at once when
    /// [`let_go`](Self::let_go) is called. Otherwise it is a millisecond late at most.
    ///
    /// # Errors
    /// Why it will not arrive.
    pub fn send_among(&self, peer: &Peer, message: impl Into<Message>, trace: Option<&Trace>) -> Result<(), SendError> {
        self.send_by(peer, message.into(), trace, Manner { writer: Writer::More, order: Order::Any })
    }

    /// As [`send_traced`](Self::send_traced), or with `more` as [`send_among`](Self::send_among). All that are said to be `large` arrive in
    /// their order, and so do all that are not; there is none between these and those. Small ones are up to [`SMALL`](crate::SMALL) bytes,
    /// and somewhat more where what is sent about them needs it.
    ///
    /// # Errors
    /// Why it will not arrive.
    pub fn send_in_order(
        &self,
        peer: &Peer,
        message: impl Into<Message>,
        trace: Option<&Trace>,
        large: bool,
        more: bool,
    ) -> Result<(), SendError> {
        let writer = if more { Writer::More } else { Writer::Sender };
        let order = if large { Order::Large } else { Order::Small };
        self.send_by(peer, message.into(), trace, Manner { writer, order })
    }

    /// Whether so many large messages wait for this peer, or small ones, that the next should wait where it is: then
    /// [`Host::drained`](crate::Host::drained) is called once fewer do, unless the connection ends before.
    pub fn when_drained(&self, peer: &Peer, large: bool) -> bool {
        peer.when_drained(large, self.shared.limits.backlog)
    }

    /// Nothing follows what was held back: it goes.
    pub fn let_go(&self) {
        if self.shared.has_held.load(Ordering::Relaxed) {
            self.shared.let_go();
        }
    }

    fn send_by(&self, peer: &Peer, message: Message, trace: Option<&Trace>, manner: Manner) -> Result<(), SendError> {
        let Some(mut channel) = peer.channel() else {
            if self.shared.serving.stopping.load(Ordering::Relaxed) {
                return Err(SendError::Stopped);
            }
            self.connect(peer);
            return Err(SendError::NotConnected);
        };
        SCRATCH.with_borrow_mut(|out| {
            out.clear();
            let kind = match &message {
                Message::FromClient(m) => {
                    let needed = codec::features::needed(m);
                    if needed != 0 && peer.knows(needed) == Some(false) {
                        return Err(SendError::TooOld);
                    }
                    codec::encode_client(m, out);
                    kind::CLIENT
                }
                Message::FromOwner(m) => {
                    codec::encode_owner(m, out);
                    kind::OWNER
                }
                Message::Other(bytes) => {
                    if peer.knows(codec::features::OTHER) == Some(false) {
                        return Err(SendError::TooOld);
                    }
                    out.other(bytes);
                    kind::OTHER
                }
            };
            let numbered = self.shared.recorder.as_ref().and_then(|r| recorded::numbered(r, peer.name(), out.len(), trace));
            let trace = numbered.as_ref().or(trace);
            let most = self.shared.limits.backlog;
            if manner.order.is_large(out.len()) {
                if out.len() > self.shared.limits.longest() {
                    return Err(SendError::TooLong { most: self.shared.limits.longest() });
                }
                let order = manner.order;
                let waiting = || Waiting::new(kind, out, trace, order);
                match peer.way(channel, most, order == Order::Large, waiting) {
                    Way::Channel(way) => channel = way,
                    Way::Waits(new) => {
                        if new {
                            self.shared.command(Command::Bulk(peer.clone()));
                        }
                        return Ok(());
                    }
                }
            }
            let writer = if self.shared.is_served_here() { Writer::Server } else { manner.writer };
            let sent = channel.send(kind, out, trace, Manner { writer, ..manner }, &self.shared.registry, most);
            match sent {
                Ok(Left::Tell) | Err(SendError::Slow) => self.shared.tell(&channel),
                Ok(Left::Hold) => self.shared.hold(channel),
                Ok(Left::Nothing) | Err(_) => {}
            }
            sent.map(|_| ())
        })
    }

    /// New certificates: connections that are made from now on use them.
    ///
    /// # Errors
    /// Why they can't be used; the old ones stay.
    pub fn set_tls(&self, tls: Tls) -> Result<(), LinkError> {
        let mut now = self.shared.tls.lock();
        if now.is_none() {
            return Err(LinkError::Options("a node that was started without TLS goes on without it".to_owned()));
        }
        tls.check_own(self.node().name()).and_then(|()| tls.check_signed())?;
        *now = Some(tls);
        Ok(())
    }

    /// The host's deadline is another: it is asked anew.
    pub fn nudge(&self) {
        self.shared.wake();
    }

    /// Says to the others that this node goes: from then on it is no member of theirs. Its connections stay until [`stop`](Link::stop),
    /// and [`members`](Link::members) is what was known then.
    pub fn say_goodbye(&self) {
        self.shared.command(Command::Leave);
    }

    /// What a thread waits at that attends: the descriptor can be read when there is something to serve. `None`: not on this system.
    pub fn descriptor(&self) -> Option<RawFd> {
        cfg!(any(target_os = "linux", target_os = "android")).then(|| self.shared.serving.descriptor())
    }

    /// The calling thread waits at the [`descriptor`](Link::descriptor) from here on, and serves: the link's own thread sleeps meanwhile.
    /// One thread at a time attends. False: the link has ended, and nothing comes there.
    pub fn attend(&self) -> bool {
        self.shared.serving.attend()
    }

    /// Serves what is there, on the calling thread, which calls the [`Host`](crate::Host). False: there was nothing.
    pub fn serve(&self) -> bool {
        if self.shared.is_served_here() {
            return false;
        }
        self.shared.serve_here();
        let some = self.shared.serving.serve_some();
        self.shared.serve_elsewhere();
        some
    }

    /// The calling thread is about to sleep at the descriptor, and will be woken by what comes. False: something is there already.
    pub fn may_sleep(&self) -> bool {
        self.shared.serving.may_sleep()
    }

    /// The calling thread attends no more: the link's own thread serves what comes.
    pub fn leave(&self) {
        if !self.shared.serving.leave() {
            let _ = self.shared.waker.wake();
        }
    }

    /// Says goodbye to all, closes everything, and waits until the thread has ended; called by the host itself, it does not wait. The
    /// caller holds no lock that the host's calls take.
    pub fn stop(&self) {
        self.shared.serving.stopping.store(true, Ordering::SeqCst);
        self.shared.serving.wake_own();
        if self.shared.is_served_here() {
            return;
        }
        let thread = self.shared.thread.lock().take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// How long that is where others may take longer than usual.
    pub fn patient(&self, usual: Time) -> Time {
        usual.saturating_mul(self.patience.into())
    }

    /// The node of this name, in the table.
    pub fn peer(&self, name: &str) -> Peer {
        let name: Name = name.into();
        self.peers.write().entry(name.clone()).or_insert_with(|| Peer::new(name)).clone()
    }

    /// The serving thread is to write what waits there.
    pub fn tell(&self, channel: &Arc<Channel>) {
        let mut told = self.told.lock();
        if channel.bulk.load(Ordering::Relaxed) { &mut told.bulk } else { &mut told.dirty }.push(channel.clone());
        drop(told);
        self.has_told.store(true, Ordering::Release);
        if !self.is_served_here() {
            self.wake();
        }
    }

    /// The connection holds something back: who looks after what is due sees to it, should nobody do so before.
    fn hold(&self, channel: Arc<Channel>) {
        let mut told = self.told.lock();
        if !told.held.iter().any(|c| c.token == channel.token) {
            told.held.push(channel);
        }
        drop(told);
        self.has_held.store(true, Ordering::SeqCst);
        self.serving.look_soon();
    }

    /// What was held back goes.
    pub fn let_go(&self) {
        if !self.has_held.swap(false, Ordering::SeqCst) {
            return;
        }
        let held = std::mem::take(&mut self.told.lock().held);
        for channel in held {
            if channel.let_go(&self.registry) == Left::Tell {
                self.tell(&channel);
            }
        }
    }

    pub fn command(&self, command: Command) {
        self.told.lock().commands.push(command);
        self.has_told.store(true, Ordering::Release);
        self.wake();
    }

    /// Wakes who serves, if nobody is at it. What it is to find there was put there before.
    pub fn wake(&self) {
        if self.sleeping.swap(false, Ordering::SeqCst) {
            let _ = self.waker.wake();
        }
    }

    /// Whether the calling thread is the one that serves.
    pub fn is_served_here(&self) -> bool {
        SERVES.get() == std::ptr::from_ref(self) as usize
    }

    /// The calling thread serves this link.
    pub fn serve_here(&self) {
        SERVES.set(std::ptr::from_ref(self) as usize);
    }

    /// It serves none any more.
    pub fn serve_elsewhere(&self) {
        SERVES.set(0);
    }
}
