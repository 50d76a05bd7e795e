//! Other nodes: the proxies of their managers, and this node as others' owner.
//!
//! **Invariant.** A proxy's lock is never held with the manager's. Whoever ends a call puts its result there before it rings; whoever
//! waits sets the bell before it looks. Messages are sent while the proxy's lock is held, so that they leave in order.
//!
//! Connections are served by a thread of the link's (crate kumi-link), which never makes a cell: it stores bytes and hands out bytes.
//! A value that was put before anybody elsewhere asked for its key has none; a task of the library's makes them ([`encoder`]).

pub mod calls;
pub mod encoder;
mod host;
pub mod member;

use crate::cell::Cell;
use crate::clock;
use crate::state::{Bell, Clients, Shared};
use host::Serving;
use kumi_link::{Link, Message};
use kumi_segments::{Client, ClientOptions, Done, Failure, FromClient, FromOwner, Outbox};
use kumi_vm::*;
use kumi_wire::Bytes;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// This node among others.
pub struct Remote {
    pub name: Box<str>,
    pub incarnation: u64,
    shared: Arc<Shared>,
    link: OnceLock<Link>,
    peers: Mutex<HashMap<Box<str>, Arc<Peer>>>,
    pub encoder: encoder::Encoder,
    pub news: member::News,
}

/// Another node's manager, as this one knows it.
pub struct Peer {
    pub name: Box<str>,
    client: Mutex<Client<Cell, Arc<Call>>>,
}

/// What a call has come to.
pub type Ended = Result<Done<Cell>, Failure>;

/// A call that Ruby waits for.
#[derive(Default)]
pub struct Call {
    pub bell: Bell,
    result: Mutex<Option<Ended>>,
}

impl Call {
    fn end(&self, r: Ended) {
        *self.result.lock() = Some(r);
        if let Some(w) = self.bell.take() {
            w.wake();
        }
    }
    pub fn take(&self) -> Option<Ended> {
        self.result.lock().take()
    }
}

/// What a proxy hands out: messages go at once, ends of calls when its lock is free again.
struct Out<'a> {
    remote: &'a Remote,
    peer: &'a str,
    ended: Vec<(Arc<Call>, Ended)>,
}

impl Outbox<Cell, Arc<Call>> for Out<'_> {
    fn send(&mut self, m: FromClient<Cell>) {
        // Whatever is called for another node was encoded before.
        let bytes = |c: Cell| c.bytes().map(|b| Bytes::clone(b)).ok_or(());
        if let Ok(m) = m.try_map(bytes) {
            self.remote.send(self.peer, m);
        }
    }
    fn ended(&mut self, call: Arc<Call>, result: Ended) {
        self.ended.push((call, result));
    }
}

impl Remote {
    /// Starts to listen and to join.
    ///
    /// # Errors
    /// What is wrong with the addresses or certificates, in words.
    pub fn start(shared: &Arc<Shared>, options: kumi_link::Options) -> Result<Arc<Remote>, String> {
        let incarnation = shared.lock().node.incarnation();
        let remote = Arc::new(Remote {
            name: options.name.as_str().into(),
            incarnation,
            shared: shared.clone(),
            link: OnceLock::new(),
            peers: Mutex::default(),
            encoder: Default::default(),
            news: Default::default(),
        });
        let link = Link::start(options, Arc::new(Serving(Arc::downgrade(&remote)))).map_err(|e| e.to_string())?;
        let _ = remote.link.set(link);
        Ok(remote)
    }
    /// The proxy of a node, which need not be there yet.
    pub fn peer(&self, name: &str) -> Arc<Peer> {
        let mut peers = self.peers.lock();
        if let Some(p) = peers.get(name) {
            return p.clone();
        }
        let client = Mutex::new(Client::new(self.incarnation, ClientOptions::default()));
        let p = Arc::new(Peer { name: name.into(), client });
        peers.insert(name.into(), p.clone());
        p
    }
    fn all(&self) -> Vec<Arc<Peer>> {
        self.peers.lock().values().cloned().collect()
    }
    /// Does something with a proxy, and tells of the calls that ended by it.
    fn with<T>(&self, peer: &Peer, f: impl FnOnce(&mut Client<Cell, Arc<Call>>, &mut Out) -> T) -> T {
        let mut out = Out { remote: self, peer: &peer.name, ended: Vec::new() };
        let done = f(&mut peer.client.lock(), &mut out);
        for (call, r) in out.ended {
            call.end(r);
        }
        done
    }
    /// Makes a call.
    pub fn call(&self, peer: &Peer, what: kumi_segments::Call<Cell>, call: &Arc<Call>) -> u64 {
        self.connect(&peer.name);
        self.with(peer, |c, out| c.call(clock::now(), what, call.clone(), None, out))
    }
    /// Sees to it that there is a connection. False: no such member is known.
    pub fn connect(&self, name: &str) -> bool {
        match self.link.get().and_then(|l| Some((l, l.peer(name)?))) {
            Some((link, peer)) => {
                if !peer.is_connected() {
                    link.connect(&peer);
                }
                true
            }
            None => false,
        }
    }
    /// A message that can't be sent is lost: its call is repeated on the next connection.
    fn send(&self, to: &str, m: impl Into<Message>) {
        if let Some((link, peer)) = self.link.get().and_then(|l| Some((l, l.peer(to)?))) {
            let _ = link.send(&peer, m);
        }
    }
    /// The proxy of a node is to be reached again, if anybody waits for it.
    fn reach(&self, name: &str) {
        let waits = self.peers.lock().get(name).is_some_and(|p| p.client.lock().open_calls() > 0);
        if waits {
            self.connect(name);
        }
    }
    /// Nobody waits for a call any more.
    pub fn leave(&self, peer: &Peer, number: u64) {
        self.with(peer, |c, out| c.leave(clock::now(), number, out));
    }
    /// The message comes back where a value has no bytes.
    pub fn answer_at_once(&self, client: &[u8], m: FromOwner<Cell>) -> Result<(), FromOwner<Cell>> {
        let ready = m.clone().try_map(|c| c.bytes().map(|b| Bytes::clone(b)).ok_or(()));
        match (ready, std::str::from_utf8(client)) {
            (Ok(m), Ok(client)) => {
                self.send(client, m);
                Ok(())
            }
            (Ok(_), Err(_)) => Ok(()),
            (Err(()), _) => Err(m),
        }
    }
    /// The connections.
    pub fn link(&self) -> Option<&Link> {
        self.link.get()
    }
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Drop for Remote {
    /// The end of its runtime: the others are told.
    fn drop(&mut self) {
        if let Some(l) = self.link.get() {
            l.stop();
        }
    }
}

impl Clients for Remote {
    /// Those whose values have no bytes yet go by the encoder.
    fn answer(&self, answers: Vec<(Box<[u8]>, FromOwner<Cell>)>) {
        for (client, m) in answers {
            if let Err(m) = self.answer_at_once(&client, m) {
                self.encoder.add(client, m);
            }
        }
    }
    fn answer_from(&self, cx: &mut Cx, client: &[u8], m: FromOwner<Cell>) {
        if let Err(m) = self.answer_at_once(client, m) {
            encoder::send(cx, self, client, m);
        }
    }
    fn encode_key(&self, name: &[u8]) {
        self.encoder.add_key(name);
    }
    fn each_value(&self, f: &mut dyn FnMut(Value)) {
        self.encoder.each_value(f);
    }
}

/// This node among others, if it is.
#[derive(Default)]
pub struct Here(pub Mutex<Option<Arc<Remote>>>);
